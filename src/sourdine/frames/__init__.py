"""Any dataframe or file to exact integer counts over public cells.

`Frame` wraps the data, `Ticks`, `Codes`, `Edges` and `Ticked` say how a column's values fall into
public cells, and `Tally` holds the counts. `Reading` declares how text is read. An engine counts;
noise never runs in it.

==============  ====================================================================================
``batches``     data that comes in batches: Arrow datasets and Dask frames, one batch in memory at a
                time
``cells``       cells: how the values of a column fall into public slots
``duck``        the DuckDB engine, with unit bounding and Arrow streams
``engine``      the interface of an engine: what it is asked, and the exact counts it returns
``files``       CSV and Parquet files, and folders of them
``frame``       `Frame`: any data, opened by the right engine, as exact counts over public cells
``grouped``     counts by group: one pass over the data, however many groups
``lazy``        lazy frames that narwhals knows: they stay lazy
``memory``      data in memory: NumPy columns, their declared types, and frames of any library
``postgres``    a table of PostgreSQL, counted there: what comes out are values and how often they
                occur
``reading``     how text is read as numbers, categories and dates
``spark``       data in Spark: whole numbers come to the driver, rows never do
``sql``         cells as DuckDB expressions
``text_files``  text files of separated fields, whatever their bytes
``units``       which rows of a person are kept: every so-manieth, from a start that a secret key
                decides
==============  ====================================================================================
"""

from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.engine import Tally
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading

__all__ = ["Codes", "Edges", "Frame", "Reading", "Tally", "Ticks"]
