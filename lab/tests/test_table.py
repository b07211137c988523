from __future__ import annotations

import numpy as np
import pytest

from sourdine_lab.table import Table

ROWS = [
    {"n": 10, "way": "a", "error": 0.1},
    {"n": 20, "way": "b", "error": 1e-300},
    {"n": 10, "way": 'b, c\n"d" é', "error": -0.30000000000000004},
]  # fmt: skip


def test_what_is_saved_is_read_again(tmp_path):
    Table(ROWS).save(tmp_path / "t.csv")
    found = Table.read(tmp_path / "t.csv")
    assert found == Table(ROWS)
    assert [type(v) for v in found.rows[0].values()] == [int, str, float]


def test_infinity_is_read_again(tmp_path):
    Table([{"x": float("inf")}]).save(tmp_path / "t.csv")
    assert Table.read(tmp_path / "t.csv")["x"].tolist() == [float("inf")]


def test_rows_may_lack_columns(tmp_path):
    Table([{"a": 1}, {"b": 2}]).save(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines() == ["a,b", "1,", ",2"]


def test_an_empty_table_is_saved(tmp_path):
    Table([]).save(tmp_path / "t.csv")
    assert len(Table.read(tmp_path / "t.csv")) == 0


def test_columns_and_groups():
    table = Table(ROWS)
    assert table["n"].tolist() == [10, 20, 10]
    assert [(value, len(rows)) for value, rows in table.by("n")] == [(10, 2), (20, 1)]
    assert table.where(n=10, way="a").rows == ROWS[:1]
    assert len(table.where(n=30)) == 0
    assert np.isclose(table["error"].sum(), -0.2)


def test_a_column_that_no_row_has():
    with pytest.raises(KeyError):
        Table(ROWS)["m"]
