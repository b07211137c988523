"""Scans of DuckDB: floats are clamped by one comparison, added up as floats, counted by NumPy."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.frames import duck
from sourdine.frames.cells import Codes, Ticks, inside, joined
from sourdine.frames.duck import Duck
from sourdine.frames.files import open_file
from sourdine.frames.memory import Column
from sourdine.grid import MISSING, Grid

GRIDS = {
    "from 0": Grid(0, 100),
    "not a whole number of steps": Grid(-3, 0.7),
    "tenths": Grid(0.1, 0.7, step=0.1),
    "whole": Grid(-50, 50, step=1),
    "fine": Grid(0, 100, step=Fraction(1, 10**6)),
    "far": Grid(10**9, 10**9 + 1),
    "wide": Grid(-(10**12), 10**12, step=Fraction(1, 64)),
    "two points": Grid(0, 1, step=1),
}
HOSTILE = [0.0, -0.0, 5e-324, -5e-324, -1e-17, 1e308, -1e308, np.inf, -np.inf, np.nan]
WAYS = ["streamed", "grouped"]


def values(grid):
    """Return floats at points, ties and ends of blocks, and the floats next to them."""
    rng = np.random.default_rng(0)
    some = {*rng.integers(0, grid.last + 1, 60).tolist(), 0, 1, grid.last - 1, grid.last}
    some |= {b * k for b in (3, 26, 64) for k in (1, 2, 5, grid.last // b)}
    halves = [Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1)]
    at = np.array([float(grid.lower + grid.step * (t + half)) for t in some for half in halves])
    ends = [float(grid.upper), float(grid.lower)]
    every = [*HOSTILE, *at, *ends, *(grid.last * 1.5 * rng.normal(size=50))]
    return np.concatenate([every, np.nextafter(every, np.inf), np.nextafter(every, -np.inf)])


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    if request.param == "grouped":
        monkeypatch.setattr(duck, "find_spec", lambda _: None)
    return request.param


@pytest.fixture
def written(tmp_path):
    def write(x):
        path = str(tmp_path / "x.parquet")
        table = duckdb.Value([None, *x.tolist(), None], "DOUBLE[]")
        scan = "SELECT unnest($v) AS x, unnest(range($n)) % 3 AS g"
        duckdb.sql(scan, params={"v": table, "n": len(x) + 2}).write_parquet(path)
        return path

    return write


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("block", [1, 3, 26, 64])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
def test_scans_count_what_the_grid_counts(grid, block, written):
    x = values(grid)
    cell = Ticks("x", grid, block)
    expected = Counter(cell.slots(Column(x)).tolist())
    expected[MISSING] += 2
    found: Counter[int] = Counter()
    for (slots,), counts in open_file(written(x)).groups([("x", cell)]):
        for slot, n in zip(slots.tolist(), counts.tolist(), strict=True):
            found[slot] += n
    assert +found == expected


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
def test_scans_select_what_ranges_hold(grid, written):
    x = values(grid)
    ticks = Ticks("x", grid).slots(Column(x))
    last = grid.last
    for wanted in ([(0, 1)], [(last, last + 1)], [(0, 1), (last // 2, last // 2 + 2)]):
        ranges = joined(wanted, grid.size)
        found, counts = open_file(written(x)).between("x", Ticks("x", grid), ranges)
        expected = sorted(ticks[inside(ticks, ranges)].tolist())
        assert np.repeat(found, counts).tolist() == expected


@pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
def test_scans_add_up_exactly(grid, written):
    x = values(grid)
    engine, cell = open_file(written(x)), Ticks("x", grid)
    ticks = [t for t in cell.slots(Column(x)).tolist() if t >= 0]
    for most in (1, 2):
        assert engine.moments("x", cell, most) == [
            sum(t**p for t in ticks) for p in range(most + 1)
        ]


SHORT = ["from 0", "tenths", "whole", "two points"]
"""Lattices of few enough ticks for sums of floats."""


@pytest.fixture
def clamped(monkeypatch):
    """Tell how often ticks were clamped by comparisons."""
    summed, times = Duck._summed, []

    def noted(self, *given, folded=None, **options):
        if folded is None:
            times.append(given)
        return summed(self, *given, folded=folded, **options)

    monkeypatch.setattr(Duck, "_summed", noted)
    return times


@pytest.mark.grid
@pytest.mark.parametrize("axes", [[], [("g", Codes("g", [0, 1, 2]))]])
@pytest.mark.parametrize("name", SHORT)
def test_folded_sums_are_exact_or_not_finite(name, axes, written, clamped):
    grid = GRIDS[name]
    cell, near = Ticks("x", grid), float(grid.step) * 2.0**52
    x = values(grid)
    x = np.append(x[np.abs(x) < near], [near, -near])
    codes = np.append(np.arange(1, len(x) + 1), 0) % 3
    ticks = np.append(cell.slots(Column(x)), MISSING)

    def added(far):
        every = np.append(ticks, cell.slots(Column(np.array(far))))
        group = np.append(codes, (len(x) + 1 + np.arange(len(far))) % 3) * bool(axes)
        held = [every[(group == g) & (every >= 0)].tolist() for g in range(3 if axes else 1)]
        return sorted([len(own), sum(own)] for own in held)

    def found(far):
        sums = open_file(written(np.append(x, far))).sums(axes, ("x", cell), 1)
        return sorted(own[1:] for own in sums[1])

    assert found([]) == added([])
    assert not clamped
    too_far = [np.nan, np.inf, -np.inf, 1e308, -1e308, 4 * near, -4 * near]
    for i, far in enumerate(too_far, 1):
        assert found([far]) == added([far])
        assert len(clamped) == i, far


def test_a_value_too_far_away_is_found_after_the_first_rows(written, clamped, monkeypatch):
    monkeypatch.setattr(duck, "_SAMPLE", 2)
    x, cell = np.append(np.ones(5), 1e300), Ticks("x", GRIDS["two points"])
    assert open_file(written(x)).moments("x", cell, 1) == [6, 6]
    assert len(clamped) == 1


@pytest.mark.parametrize("rare", [duck._RARE, 10**9])
def test_a_table_holds_what_sorted_ticks_hold(rare, written, monkeypatch):
    monkeypatch.setattr(duck, "_RARE", rare)
    grid = GRIDS["from 0"]
    x = values(grid)
    engine, cell = open_file(written(x)), Ticks("x", grid)
    assert engine.in_one_pass("x", cell)
    assert not engine.in_one_pass("x", Ticks("x", GRIDS["fine"]))
    tally = engine.tally([("x", cell)])
    expected = np.unique(cell.slots(Column(x)), return_counts=True)
    assert tally.ticks.tolist() == expected[0][1:].tolist()
    assert tally.tallied.tolist() == expected[1][1:].tolist()
    assert tally.missing == expected[1][0] + 2
    assert tally.present == len(x) + 2 - tally.missing


def test_counts_that_32_bits_cannot_hold_are_added_in_64():
    table = np.array([2**32 - 1, 5], np.uint32)
    assert duck._added(table, np.array([0, 0, 1]), 2, duck._WIDE).tolist() == [2**32 + 1, 6]


@pytest.mark.parametrize("axes", [[], [("g", Codes("g", [0, 1, 2]))]])
def test_sums_that_floats_cannot_hold_are_added_as_integers(axes, written, monkeypatch):
    grid = GRIDS["from 0"]
    x = values(grid)
    engine, of = open_file(written(x)), ("x", Ticks("x", grid))
    expected = engine.sums(axes, of, 1)
    summed, asked = Duck._summed, []

    def noted(self, *given, floats=True, folded=None):
        found = summed(self, *given, floats=floats, folded=folded)
        if folded is not None:
            return found
        asked.append(floats)
        # what floats cannot hold is lost
        return [(*row[:-1], row[-1] + 1) for row in found] if floats else found

    monkeypatch.setattr(Duck, "_summed", noted)
    monkeypatch.setattr(duck, "_EXACT", grid.last * (len(x) + 2))
    lost = engine.sums(axes, of, 1)
    assert asked == [True]
    assert lost[1] != expected[1]
    monkeypatch.setattr(duck, "_EXACT", grid.last * (len(x) + 2) - 1)
    found = engine.sums(axes, of, 1)
    assert asked == [True, True, False]
    rows = [sorted(zip(*map(np.ndarray.tolist, s), v, strict=True)) for s, v in (found, expected)]
    assert rows[0] == rows[1]


def test_many_rows_are_counted_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(duck, "_STREAMED", 1 << 11)
    path = str(tmp_path / "many.parquet")
    column = (
        "CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN CAST('nan' AS DOUBLE) ELSE i % 1000 END"
    )
    rows = duckdb.sql("SELECT i FROM range(200000) AS t(i)")
    rows = rows.project(f"CAST({column} AS DOUBLE) AS x")
    rows.write_parquet(path)
    cell = Ticks("x", Grid(0, 500, step=1))
    expected = Counter(cell.slots(Column.of_array(rows.fetchnumpy()["x"])).tolist())
    (((slots,), counts),) = open_file(path).groups([("x", cell)])
    assert +Counter(dict(zip(slots.tolist(), counts.tolist(), strict=True))) == expected


def test_a_broken_file_is_refused_without_its_content(tmp_path):
    path = tmp_path / "broken.parquet"
    rows = "SELECT random() AS x FROM range(1000000)"
    duckdb.sql(rows).write_parquet(str(path), row_group_size=10_000)
    content = bytearray(path.read_bytes())
    content[4_000_000:4_400_000] = bytes(400_000)
    path.write_bytes(content)
    with pytest.raises(ParameterError, match="readable to the end"):
        list(open_file(str(path)).groups([("x", Ticks("x", Grid(0, 1)))]))
