"""Exact integer counts over public cells, from any data frame or file.

`Frame` wraps the data, `Ticks`, `Codes`, `Edges` and `Ticked` say how the values of a column fall
into public cells, and `Tally` holds the counts. `Reading` declares how text is read. Engines only
count; noise is never added inside them.
"""

from sourdine.frames.cells import Codes, Edges, Ticked, Ticks
from sourdine.frames.engine import Tally
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading

__all__ = ["Codes", "Edges", "Frame", "Reading", "Tally", "Ticked", "Ticks"]
