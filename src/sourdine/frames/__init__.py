"""Exact integer counts over public cells, from any data frame or file.

`Frame` wraps the data, `Ticks`, `Codes`, `Edges` and `Ticked` say how the values of a column fall
into public cells, and `Tally` holds the counts. `Reading` declares how text is read. Engines only
count; noise is never added inside them.

===============  ===================================================================================
``batches``      data that comes in batches: Arrow datasets, Dask frames and files, one batch in
                 memory at a time
``cells``        cells: how the values of a column fall into public slots
``databases``    tables of databases by their addresses; those of PostgreSQL are counted there
``duck``         the DuckDB engine, with unit bounding and Arrow streams
``engine``       the interface of an engine: the queries it gets, and the exact counts it returns
``expressions``  the slot of a present value, written once for all engines
``files``        files by their paths, and folders of them: CSV, Parquet, values by line, arrays
``formats``      files of other programs: Excel, SPSS, SAS, Stata, JSON Lines and Arrow
``formulas``     filters and derived columns, of which each row gives one value
``frame``        `Frame`: any data, opened by the right engine, as exact counts over public cells
``grouped``      counts by group, in one pass for any number of groups; and counts with weights
``lazy``         lazy frames that narwhals supports: they stay lazy
``memory``       data in memory: NumPy columns, their declared types, and frames of any library
``paths``        paths of files and addresses of tables, as texts
``people``       one value for each person: their rows are reduced to one, exactly and in any order
``reading``      how text is read as numbers, categories and dates
``spark``        data in Spark: only integers come to the driver, never rows
``sql``          cells as DuckDB expressions
``text_files``   text files of separated fields, with arbitrary bytes
``units``        which rows of a person are kept: systematic sampling from a secret random start
===============  ===================================================================================
"""

from sourdine.frames.cells import Codes, Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading

__all__ = ["Codes", "Edges", "Frame", "Reading", "Ticks"]
