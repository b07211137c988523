"""Any dataframe or file to exact integer counts over public cells.

`Frame` wraps the data, `Ticks`, `Codes`, `Edges` and `Ticked` say how a column's values fall into
public cells, and `Tally` holds the counts. `Reading` declares how text is read. An engine counts;
noise never runs in it.
"""

from sourdine.tally.cells import Codes, Edges, Ticks
from sourdine.tally.counts import Tally
from sourdine.tally.frame import Frame
from sourdine.tally.reading import Reading
from sourdine.tally.ticked import Ticked

__all__ = ["Codes", "Edges", "Frame", "Reading", "Tally", "Ticked", "Ticks"]
