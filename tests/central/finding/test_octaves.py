"""A mean from sums of octaves: what a record moves, what is drawn, what is believed."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.central.finding.octaves import UNIT, Believed, OctaveTable
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.mechanisms import Laplace
from sourdine.noise import SeededSource
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

NAN, INF = float("nan"), float("inf")
VALUES = (2.5, 2.5 + 2.0**-18, 3.0, 3.5, -1.0, 1e9, -INF, INF, 1e-300, 2.0**70, NAN)
TABLE = OctaveTable(centre=2.5, epsilon=Fraction(1), relation=ADD_REMOVE)
HOSTILE = ([], [None] * 9, [NAN] * 9, [5], [0] * 9, [INF, -INF, 1.0], [10**40, 3], ["a", "1", ""])


def _table(values):
    return TABLE.read(Frame(np.array(values, float)), "value", None)


def test_a_record_moves_the_table_by_one_unit():
    for size in range(3):
        for records in combinations_with_replacement(VALUES, size):
            here = _table(records)
            for v in VALUES:
                moved = np.abs(_table([*records, v]) - here).sum()
                assert moved == (0 if np.isnan(v) else UNIT)
            for w in VALUES if size else ():
                assert np.abs(_table([*records[:-1], w]) - here).sum() <= 2 * UNIT


def test_the_noise_covers_every_neighbour_and_no_less():
    """The loss between two vectors with Laplace noise is their L1 distance over the scale."""
    for relation, moves in ((ADD_REMOVE, 1), (SUBSTITUTE, 2)):
        for rows in (1, 3):
            table = OctaveTable(centre=2.5, epsilon=Fraction(1, 2), relation=relation, rows=rows)
            scale = table.mechanism.scale
            records = [3.0] * 4
            other = [1e9] * rows + records[rows:] if moves == 2 else records + [1e9] * rows
            moved = int(np.abs(_table(records) - _table(other)).sum())
            assert moved / scale == Fraction(1, 2)
            weak = Laplace(epsilon=Fraction(1, 2), sensitivity=moves * rows * UNIT * 95 // 100)
            assert moved / weak.scale > Fraction(1, 2)


def test_sorted_values_give_the_table_of_the_cells():
    x = np.random.default_rng(3).standard_cauchy(2000) * 10
    x = np.sort(np.concatenate((x, [v for v in VALUES if not np.isnan(v)])))
    for centre in (0.0, 2.5, 1e6, -0.3):
        table = OctaveTable(centre=centre, epsilon=Fraction(1))
        ticks, counts = Frame(x).between(Ticks("value", table.grid), [(0, table.grid.size)])
        by_cell = table.sums(ticks + table.grid.first, counts)
        assert table.of_sorted(x).tolist() == by_cell.tolist()
        assert by_cell.sum() == len(x) * UNIT


def test_the_whole_call_holds_on_neighbours(relation):
    def asked(data, **more):
        return sd.mean(
            data, bounds="find", method="octaves", epsilon=1, n=1600, relation=relation, **more
        )

    near = [1.0, 2.0, 2.0, 3.5, 80.0]
    others = [[*near[:-1], v] for v in (0, 10, -1e9, NAN, INF)]
    if relation == "add_remove":
        others = [near[1:], *([*near, v] for v in (5, -99, NAN))]
    for other in others:
        result = replay(asked, near, other)
        assert result.holds, (other, result.faults)


def test_a_table_with_too_little_noise_is_rejected(monkeypatch):
    weak = property(lambda self: Laplace(epsilon=self.epsilon, sensitivity=UNIT * 95 // 100))
    monkeypatch.setattr(OctaveTable, "mechanism", weak)

    def asked(data):
        return sd.mean(data, bounds="find", method="octaves", epsilon=1, n=600)

    assert not replay(asked, [1.0, 2.0], [1.0, 2.0, 7.0]).holds


@pytest.mark.parametrize("data", HOSTILE, ids=str)
def test_nothing_in_the_data_raises(data, relation):
    release = sd.mean(data, bounds="find", method="octaves", epsilon=1, relation=relation, n=1600)
    assert np.isfinite(release.value)
    low, high = release.interval(0.95)
    assert low <= release.value <= high
    assert sd.Release.from_json(release.to_json()) == release


def test_values_far_away_are_believed_where_there_are_enough():
    x = np.concatenate((np.full(980, 50.0), np.full(20, 1000.0)))
    table = OctaveTable(centre=50.0, epsilon=Fraction(1), relation=ADD_REMOVE)
    exact = Believed(table, tuple(table.of_sorted(np.sort(x)).tolist()))
    assert exact.value == pytest.approx(x.mean(), rel=1e-6)
    assert exact.count == 1000
    few = np.concatenate((np.full(996, 50.0), np.full(4, 1e9)))
    left_out = Believed(table, tuple(table.of_sorted(np.sort(few)).tolist()))
    assert left_out.value == pytest.approx(50, abs=0.1)


@pytest.mark.parametrize("value", [0.0, 10.0])
def test_noise_far_away_does_not_move_records_that_are_all_alike(value):
    """Found by errors of up to 1e16: the fullest octave is anywhere, and holds only noise."""
    for seed in range(20):
        release = sd.mean(
            [value] * 300, bounds="find", method="octaves", epsilon=1, source=SeededSource(seed)
        )
        assert release.value == pytest.approx(value, abs=1)
    low, high = release.interval()
    assert low <= release.value <= high
    assert low < high


def test_octaves_beside_a_full_centre_are_believed():
    """A tenth of the records are spread over several octaves; none of these is full."""
    x = np.concatenate((np.zeros(1800), np.random.default_rng(8).lognormal(8, 1, 200)))
    for seed in range(10):
        asked = {"bounds": "find", "method": "octaves", "source": SeededSource(seed)}
        assert abs(sd.mean(x, epsilon=0.3, **asked).value - x.mean()) < x.mean() / 2


def test_the_variance_is_bounded_from_above_by_an_eighth():
    x = np.sort(np.random.default_rng(2).normal(30, 5, 20_000))
    table = OctaveTable(centre=30.0, epsilon=Fraction(1))
    variance = Believed(table, tuple(table.of_sorted(x).tolist())).variance
    assert x.var() <= variance * (1 + 1e-6) <= 1.13 * x.var()


def test_intervals_hold_and_parts_add_up(relation):
    x, misses = np.random.default_rng(5).normal(100, 7, 3000), [0, 0]
    for seed in range(60):
        release = sd.mean(
            x, bounds="find", method="octaves", epsilon=1, relation=relation, population=True,
            source=SeededSource(seed),
        )  # fmt: skip
        assert sum(Fraction(str(e)) for e in release.drawn["spent"].values()) == 1
        low, high = release.interval(0.9)
        misses[0] += not low <= x.mean() <= high
        low, high = release.interval(0.9, of="population", assume="normal")
        misses[1] += not low <= 100 <= high
    assert max(misses) <= 17  # P(Binomial(60, 0.1) > 17) < 1e-4


def test_groups_and_persons():
    x = np.random.default_rng(6).lognormal(3, 1, 6000)
    data = {"x": x, "g": ["a", "b"] * 3000, "who": np.arange(6000) // 2}
    asked = {"column": "x", "bounds": "find", "method": "octaves"}
    found = sd.mean(data, by="g", keys="unknown", epsilon=3, delta=1e-6, **asked)
    assert set(found.value) == {"a", "b"}
    by = sd.mean(data, by="g", keys=["a", "b"], epsilon=2, **asked)
    assert set(by.value) == {"a", "b"}
    assert sd.Release.from_json(by.to_json()) == by
    assert all(abs(v - x.mean()) < 5 for v in by.value.values())
    assert abs(sd.mean(data, unit="who", rows=2, epsilon=2, **asked).value - x.mean()) < 5


@pytest.mark.slow
def test_engines_find_the_same(tmp_path):
    pl, pq, pa = (pytest.importorskip(n) for n in ("polars", "pyarrow.parquet", "pyarrow"))
    x = np.round(np.random.default_rng(7).lognormal(10, 1, 2000), 2)
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"value": x}), path)
    found = {
        sd.mean(data, bounds="find", method="octaves", epsilon=1, source=SeededSource(3)).to_json()
        for data in (x, x.tolist(), pl.DataFrame({"value": x}).lazy(), path, Frame(x))
    }
    assert len(found) == 1


def test_what_does_not_go_with_it_is_refused(refused):
    asked = {"method": "octaves", "epsilon": 1}
    refused(lambda: sd.mean([1.0], bounds=(0, 1), **asked), "bounds must be 'find'")
    refused(lambda: sd.mean([1.0], bounds="find", delta=1e-6, **asked), "delta must be")
    weighed = {"weights": "w", "weight_bounds": (0, 1)}
    for bounds in ((0, 1), "find"):  # to omit the method, as is said, would not let them be found
        said = "weights must be omitted for method" if bounds == (0, 1) else "bounds must be given"
        refused(lambda b=bounds: sd.mean({"w": [1]}, bounds=b, **asked, **weighed), said)
    plan = sd.plan.mean(bounds="find", n=10_000, method="octaves", epsilon=1)
    assert plan.units == "found widths"
    assert plan.error > 0


def test_missing_values_are_said_to_be_left_out(relation):
    x = [10.0] * 500 + [None] * 500
    release = sd.mean(x, bounds="find", method="octaves", epsilon=5, relation=relation)
    assert release.value == pytest.approx(10, abs=0.01)
    assert "Missing values are excluded from the mean." in release.caveats
    assert not any("middle" in caveat for caveat in release.caveats)
