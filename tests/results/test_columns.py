"""Numbers with labels and ends, as cells of a table and as frames."""

from __future__ import annotations

import re
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.results.tables import Columns

MEANS = Columns(
    labels={"sex": ["f", "m"]},
    name="mean",
    values=[41.2345, 39.9],
    lower=[41.0, 39.0],
    upper=[41.5, 40.8],
)
SHARES = Columns(
    labels={"vote": list("abcd")},
    name="share",
    values=[0.5, 0.2, 0.25, 0.05],
    lower=[0.49, 0.1, 0.2, 0.0],
    upper=[0.51, 0.3, 0.3, 0.1],
    even=True,
    most=2,
)


def test_numbers_have_the_digits_that_their_interval_supports():
    heads, rows = MEANS.cells()
    assert heads == ("sex", "mean", "95% CI")
    assert rows == [("f", "41.23", "[41.00, 41.50]"), ("m", "39.90", "[39.0, 40.8]")]


def test_a_number_without_labels_and_ends_is_one_cell():
    assert Columns(labels={}, name="count", values=[7]).cells() == (("count",), [("7",)])


def test_shares_are_printed_alike_and_the_smallest_left_out():
    heads, rows = SHARES.cells()
    assert [row[0] for row in rows] == ["a", "c", "and 2 smaller"]
    assert {len(row) for row in rows} == {len(heads)}
    numbers = [number for row in rows[:2] for number in re.findall(r"[\d.]+", " ".join(row[1:]))]
    assert len(numbers) == 6
    digits = {len(number.partition(".")[2]) for number in numbers}
    assert len(digits) == 1
    assert len(SHARES.to_dict()["share"]) == 4


@pytest.mark.parametrize(
    ("library", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_frames_of_every_library(library, kind):
    frame = MEANS.to_frame(library)
    assert isinstance(frame, kind)
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert names == ["sex", "mean", "lower", "upper"]
    assert [float(x) for x in frame["mean"].to_numpy()] == [41.2345, 39.9]


def test_labels_of_several_types_are_texts_in_a_frame():
    mixed = Columns(labels={"key": [1, "a"]}, name="count", values=[2, 3])
    assert mixed.to_frame("polars")["key"].to_list() == ["1", "a"]


def test_an_unknown_library_is_named():
    with pytest.raises(ParameterError, match="library must be 'pandas', 'polars' or 'pyarrow'"):
        MEANS.to_frame("excel")


ABSENT = """
import sys
from sourdine.results.tables import Columns
sys.modules["polars"] = None
Columns(labels={}, name="mean", values=[1.0]).to_frame("polars")
"""


@pytest.mark.slow
def test_a_missing_library_is_named():
    """In a process of its own: narwhals remembers what it has once imported."""
    told = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", ABSENT], capture_output=True, text=True, check=False
    )
    assert "ParameterError: library must be an installed library" in told.stderr
    assert "pip install polars" in told.stderr


@pytest.mark.parametrize("name", ["mean", "lower", "upper", "mean_"])
def test_a_label_that_is_called_like_a_number_keeps_its_column(name):
    columns = Columns(
        labels={name: ["f", "m"], f"{name}_": [1, 2]},
        name="mean",
        values=[4.5, 3.5],
        lower=[4.0, 3.0],
        upper=[5.0, 4.0],
    )
    found = columns.to_dict()
    assert list(found.values()) == [["f", "m"], [1, 2], [4.5, 3.5], [4.0, 3.0], [5.0, 4.0]]
    assert list(found)[2:] == ["mean", "lower", "upper"]


def test_bins_have_their_edges_as_numbers():
    ages = {"age": [5, 25, 45], "sex": ["f", "m", "f"]}
    asked = {"column": "age", "bins": [0, 18, 65], "epsilon": 1, "missing": "count"}
    frame = sd.histogram(ages, **asked).to_frame("polars")
    assert frame["bin_from"].to_list() == [0.0, 18.0, None]
    assert frame["bin_to"].to_list() == [18.0, 65.0, None]
    assert frame.columns == ["bin", "bin_from", "bin_to", "count", "lower", "upper"]
    both = sd.histogram(ages, by="sex", keys=["f", "m"], **asked).to_frame("polars")
    assert both["bin_to"].to_list() == [18.0, 65.0, None] * 2
    dates = sd.histogram(
        ["2024-02-29"], bins=2, bounds=("2024-01-01", "2024-03-01"), epsilon=1
    ).to_frame("polars")
    assert str(dates["bin_from"].dtype) == "Date"
    found = sd.histogram(ages["age"] * 999, bins=3, bounds="find", epsilon=1).to_frame("polars")
    assert found["bin_from"][0] < found["bin_to"][0] == found["bin_from"][1]
