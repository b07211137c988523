"""A data set of a server may be a table of Spark's."""

from __future__ import annotations

import pytest

from sourdine.errors import ParameterError
from sourdine.frames.cells import Ticks
from sourdine.grid import Grid
from sourdine.server.sources import opened


def test_a_table_is_data_of_a_server(sparks):
    rows = [(f"{i % 50},5",) for i in range(200)]
    sparks.classic.createDataFrame(rows, "age string").createOrReplaceTempView("served")
    frame = opened("spark:served", {"decimal": ","})
    halves = [2 * (i % 50) + 1 for i in range(200)]
    assert frame.total(Ticks("age", Grid(0, 100, step=0.5))) == sum(halves)
    with pytest.raises(ParameterError):
        opened("spark:nothing_of_that_name")
