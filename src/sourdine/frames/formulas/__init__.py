"""Formulas: filters and derived columns, a small language of which each row gives one value.

A formula is parsed once (`parsing`), given types by the columns that it names (`types`), and
computed by a back end: NumPy, which defines the result (`arrays`), SQL (`sql`) or Polars
(`polars`).
What a back end cannot compute bit for bit it leaves to NumPy, which then computes it of the values
that occur (`engine`).

=============  =====================================================================================
``arrays``     the values of a formula by NumPy
``engine``     rows with a filter and derived columns, on any engine
``lookup``     public tables whose columns are looked up by a key
``parsing``    the functions; a text to a tree without types; what is no formula is refused by name
``polars``     formulas as expressions of Polars
``sql``        formulas as SQL: of DuckDB, and of PostgreSQL
``tree``       the typed tree of a formula
``types``      the types of columns, and of every step of a formula
=============  =====================================================================================
"""
