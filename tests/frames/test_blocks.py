"""Several neighbouring ticks in one slot, the same on every engine."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from sourdine import Grid
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame

VALUES = [0.0, 1.4, 1.6, 2.5, 9.49, 9.5, 10.0, 55.0, -3.0, float("nan"), float("inf"), None]
WHOLE = [0, 1, 2, 3, 9, 10, 55, -3, None, 2**53 + 1]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    pl.DataFrame({"x": VALUES}, strict=False).write_parquet(folder / "x.parquet")
    pd.DataFrame({"x": VALUES}).to_csv(folder / "x.csv", index=False)
    return folder


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
def test_blocks_are_the_same_on_every_engine(files, block):
    cell = Ticks("x", Grid(0, 20, step=0.5), block=block)
    array = np.array([np.nan if v is None else v for v in VALUES])
    ticks = cell.grid.ticks(array[~np.isnan(array)]) // block
    expected = np.append(np.bincount(ticks, minlength=cell.size), 2)
    relation = duckdb.read_parquet(str(files / "x.parquet"))
    for data in (
        pd.DataFrame({"x": VALUES}),
        pl.DataFrame({"x": VALUES}, strict=False),
        pl.LazyFrame({"x": VALUES}, strict=False),
        files / "x.parquet",
        files / "x.csv",
        relation,
    ):
        assert Frame(data).tally(cell).counts.tolist() == expected.tolist(), type(data)


@pytest.mark.parametrize("block", [1, 3])
def test_blocks_of_whole_numbers(block):
    cell = Ticks("x", Grid(0, 20, step=1), block=block)
    present = [min(max(v, 0), 20) // block for v in WHOLE if v is not None]
    expected = [*np.bincount(present, minlength=cell.size).tolist(), 1]
    frame = pl.DataFrame({"x": pl.Series(WHOLE, dtype=pl.Int64)})
    for data in (frame, frame.lazy(), duckdb.sql("SELECT * FROM frame")):
        assert Frame(data).tally(cell).counts.tolist() == expected
