"""Data in Spark: only integers come to the driver, never rows.

Two ways compute the slot of `Cell.slots`:

* *by Spark itself* (`cells`), for integers, floats, booleans, texts, dates and times, by
  expressions that cannot raise under any settings of the session;
* *by Python on the executors* (`executors`), for everything else (texts read as numbers, decimals,
  very wide lattices, many edges): `mapInArrow` runs the engine for data in memory on each batch, so
  the counts agree with it by construction. `executors` also checks that their Python can run it.

Columns are renamed by position before anything else, so neither case nor dots nor quotes in their
names matter. Nothing depends on the order of rows, on partitions, on the session's time zone, on
ANSI mode or on how often a task runs. PySpark is imported where it is needed.

=============  =====================================================================================
``cells``      cells as Spark expressions
``dataframe``  Spark data frames: the types of their columns, and whether reading them is repeatable
``engine``     the Spark engine: counts, exact sums and unit bounding inside Spark
``executors``  Python functions on Spark executors, and the interpreter that runs them
``formulas``   formulas as Spark expressions, where these are exact
``opening``    opening a Spark session, and a folder or table in it, where there is no data frame
               yet
=============  =====================================================================================
"""
