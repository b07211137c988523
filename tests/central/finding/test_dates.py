"""Columns of dates: bounds are not found, and whoever asks is told what to type."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sourdine as sd

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=k) for k in range(900)]
CALLS = {
    "mean": sd.mean,
    "median": sd.median,
    "cdf": sd.cdf,
    "histogram": lambda x, **k: sd.histogram(x, bins=5, **k),
    "table": lambda x, **k: sd.table(x, of={"day": ["mean"]}, **k),
}
TYPED = {
    "pandas": pd.DataFrame({"day": pd.to_datetime(DAYS)}),
    "polars": pl.DataFrame({"day": DAYS}),
    "arrow": pa.table({"day": DAYS}),
    "numpy": {"day": np.array(DAYS, "datetime64[D]")},
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("data", TYPED.values(), ids=TYPED)
def test_bounds_of_typed_dates_are_not_found(call, data, refused):
    refused(lambda: call(data, bounds="find", epsilon=1), "bounds must be two dates")


def test_a_parquet_file_states_its_dates(tmp_path, refused):
    path = tmp_path / "days.parquet"
    pq.write_table(TYPED["arrow"], path)
    refused(lambda: sd.mean(path, bounds="find", epsilon=1), "bounds must be two dates")
    refused(lambda: sd.mean(path, bounds=(0, None), epsilon=1), "bounds must be two dates")


@pytest.mark.parametrize("data", [DAYS, [str(day) for day in DAYS]], ids=["objects", "texts"])
def test_values_that_no_type_calls_dates_are_missing_and_what_to_type_is_said(data):
    """Whether texts are dates is private: nothing is refused, and the noisy count decides."""

    def said(call, x):
        return " ".join(str(call(x, bounds="find", epsilon=1)).split())

    hint = "For dates type bounds=('2020-01-01', '2024-12-31')"
    # In about one of 40 draws the search finds bounds where there is nothing.
    assert any(hint in said(sd.mean, data) for _ in range(5))
    assert "For dates type" not in said(sd.mean, list(range(900)))
    assert "such as a date" in said(sd.median, data)
