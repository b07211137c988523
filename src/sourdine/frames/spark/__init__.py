"""Data in Spark: whole numbers come to the driver, rows never do.

Two ways give the slot of `Cell.slots`:

* *by Spark itself* (`cells`), for whole numbers, floats, truth values, texts, dates and times, on
  expressions that cannot raise, whatever the settings of the session are;
* *by Python on the executors* (`executors`), for everything else (texts read as numbers, decimals,
  very wide lattices, many edges): `mapInArrow` runs the engine for data in memory on each batch, so
  it counts what is counted there, by construction. `environment` sees that their Python can.

Columns are renamed by position before anything else, so neither case nor dots nor quotes in their
names matter. Nothing depends on the order of rows, on partitions, on the session's time zone, on
ANSI mode or on how often a task runs. PySpark is imported where it is needed.

=============  =====================================================================================
``cells``      cells as Spark's expressions
``dataframe``  Spark data frames: the types of their columns, and whether reading them is repeatable
``engine``     the Spark engine: counts, exact sums and unit bounding where the rows are
``executors``  Python functions on Spark executors, and the interpreter that runs them
``opening``    a session of Spark's, and a folder or table in it: for those who have no data frame
               yet
=============  =====================================================================================
"""
