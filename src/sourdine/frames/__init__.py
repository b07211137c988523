"""Any dataframe or file to exact integer counts over public cells.

`Frame` wraps the data, `Ticks`, `Codes`, `Edges` and `Ticked` say how a column's values fall into
public cells, and `Tally` holds the counts. `Reading` declares how text is read. An engine counts;
noise never runs in it.
"""

from sourdine.frames.cells import Codes, Edges, Ticked, Ticks
from sourdine.frames.engine import Tally
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading

__all__ = ["Codes", "Edges", "Frame", "Reading", "Tally", "Ticked", "Ticks"]
