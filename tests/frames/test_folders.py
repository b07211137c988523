"""Folders of files, with and without columns in the names of folders."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

X = Ticks("x", Grid(0, 10, step=1))


@pytest.fixture
def sales(tmp_path):
    """A folder as Spark writes it: a column in the names of folders, and files that are none."""
    folder = tmp_path / "sales"
    rows = {"2023": [1, 2], "2024": [3], "__HIVE_DEFAULT_PARTITION__": [4, 5], "a%2Fb c": [6]}
    for year, values in rows.items():
        (folder / f"year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"x": values}), folder / f"year={year}" / "part-0.snappy.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.crc").touch()
    (folder / "_temporary").mkdir()
    pq.write_table(pa.table({"y": [9]}), folder / "_temporary" / "x.parquet")
    return folder


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "as_path", [lambda p: p, str, lambda p: f"{p}/", lambda p: f"{p}/year=*/*.parquet"]
)
def test_folders_name_columns(sales, as_path):
    frame = Frame(as_path(sales))
    assert frame.columns == ("x", "year")
    assert frame.distinct("year")[0] == ["2023", "2024", "a/b c"]
    assert len(frame) == 6
    assert frame.tally(X, Codes("year", [2023, "2024"])).counts[1:7].tolist() == [
        *([1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1])
    ]
    years = Ticks("year", Grid(2000, 2030, step=1))
    assert frame.moments(years, 1) == [3, 23 + 23 + 24]
    assert [len(part) for part in frame.split("year", [2023, 2024])] == [2, 1]
    means = sd.mean(as_path(sales), column="x", bounds=(0, 10), by="year", keys=[2023], epsilon=99)
    assert list(means.value) == [2023]


def test_a_folder_above_names_nothing(tmp_path):
    folder = tmp_path / "env=test" / "rows"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
    assert Frame(folder).columns == ("x",)
    assert Frame(folder / "a.parquet").columns == ("x",)
    assert Frame(folder / "*.parquet").columns == ("x",)


def test_a_folder_takes_the_place_of_a_column(tmp_path):
    (tmp_path / "rows" / "x=7").mkdir(parents=True)
    pq.write_table(pa.table({"x": [1], "y": [2]}), tmp_path / "rows" / "x=7" / "a.parquet")
    frame = Frame(tmp_path / "rows")
    assert frame.columns == ("y", "x")
    assert frame.distinct("x")[0] == ["7"]


@pytest.mark.parametrize("name", ["rows", "rows.parquet", "rows.d"])
def test_folders_without_columns_in_their_names(name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    for i in range(3):
        pq.write_table(pa.table({"x": [i, i]}), folder / f"{i}.parquet")
    assert Frame(folder).tally(X).counts.tolist()[:4] == [2, 2, 2, 0]


def test_folders_of_text(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "deep" / "er" / "b.csv.gz").write_bytes(b"")
    with pytest.raises(ParameterError):
        Frame(tmp_path / "deep")
    (tmp_path / "deep" / "er" / "b.csv.gz").unlink()
    (tmp_path / "deep" / "er" / "b.csv").write_text("x\n3\n")
    assert Frame(tmp_path / "deep").tally(X).counts.tolist()[:5] == [0, 1, 1, 1, 0]


def test_what_folders_must_hold(tmp_path):
    with pytest.raises(ParameterError, match="the folder must hold files of one kind only"):
        Frame(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ParameterError, match="with files of several types"):
        Frame(tmp_path)
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "year=1").mkdir()
    (tmp_path / "year=1" / "c.csv").write_text("x\n1\n")
    with pytest.raises(ParameterError, match="the folders must give the same columns"):
        Frame(tmp_path)
    (tmp_path / "a.csv").unlink()
    with pytest.raises(ParameterError, match="hold Parquet files if folder names"):
        Frame(tmp_path)


def test_datasets_are_streamed(sales, monkeypatch):
    """A batch at a time, with the columns that are asked for."""
    read = []
    kinds = pa.schema([("x", pa.int64()), ("year", pa.string())])
    data = ds.dataset(
        [str(p) for p in sorted(sales.glob("year*/*.parquet"))],
        schema=kinds,
        partitioning=ds.partitioning(pa.schema([("year", pa.string())]), flavor="hive"),
        partition_base_dir=str(sales),
    )

    from sourdine.frames import batches

    whole = batches.Batches._memory
    monkeypatch.setattr(
        batches.Batches,
        "_memory",
        lambda self, frame: read.append((frame.column_names, len(frame))) or whole(self, frame),
    )
    frame = Frame(data)
    assert frame.columns == ("x", "year")
    assert len(frame) == 6
    assert frame.tally(X).counts.tolist()[:8] == [0, 1, 1, 1, 1, 1, 1, 0]
    assert {tuple(names) for names, _ in read} == {("x",)}
    assert max(n for _, n in read) < 6
    assert frame.distinct("year")[0] == ["2023", "2024", "a/b c"]


def test_datasets_that_break_say_nothing_of_their_data(tmp_path):
    pq.write_table(pa.table({"x": np.arange(9)}), tmp_path / "a.parquet")
    frame = Frame(ds.dataset(tmp_path))
    (tmp_path / "a.parquet").write_bytes(b"secret")
    with pytest.raises(ParameterError, match="be readable to the end") as caught:
        frame.tally(X)
    assert "secret" not in str(caught.value)
