"""Data that is not in memory is read in two passes, and to the same points."""

import numpy as np
import polars as pl
import pytest

from sourdine import Grid
from sourdine.central.quantiles import points
from sourdine.central.quantiles.algorithm import draw_from
from sourdine.central.quantiles.joint import JointFree
from sourdine.central.quantiles.points import NotReadError, Reader
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

GRID = Grid(0, 1000, step=1)


@pytest.fixture
def small_outline(monkeypatch):
    monkeypatch.setattr(points, "OUTLINE", 50)


@pytest.mark.quick_cases(5)
@pytest.mark.usefixtures("small_outline")
@pytest.mark.parametrize("seed", range(6))
def test_windows_out_of_core_hold_what_the_whole_holds(seed):
    rng = np.random.default_rng(seed)
    values = np.minimum(rng.geometric(0.01, 3000) * rng.choice([1, 1, 5]), 1000)
    ranks = sorted(rng.integers(0, 3000, 2).tolist())
    reader = Reader(Frame(pl.LazyFrame({"x": values})), "x", GRID)
    whole = Reader(Frame(values), "value", GRID).points(None)
    part = reader.points(lambda n: [(max(a - 20, 0), min(a + 20, n)) for a in ranks])
    assert reader.n == part.n == whole.n == 3000
    for rank in ranks:
        low, high = max(rank - 10, 0), min(rank + 10, 3001)
        assert np.array_equal(part.masses(low, high), whole.masses(low, high))
        assert part.around(rank) == whole.around(rank)
        low, high = np.array([low]), np.array([high])
        assert part.span(low, high)[0] >= whole.masses(int(low[0]), int(high[0])).sum()
    assert part.complete().whole


@pytest.mark.usefixtures("small_outline")
def test_the_answer_does_not_depend_on_what_was_read():
    rng = np.random.default_rng(2)
    values = np.minimum(rng.geometric(0.01, 5000), 1000)
    mechanism = JointFree(epsilon=4, q=[0.25, 0.5, 0.75], cells=GRID.size)
    answers = [
        mechanism.published(
            draw_from(Reader(Frame(data), column, GRID), mechanism, SeededSource(8))
        ).tolist()
        for data, column in ((values, "value"), (pl.LazyFrame({"x": values}), "x"))
    ]
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("small_outline")
@pytest.mark.parametrize("values", [[], [None, None]])
def test_no_records_out_of_core(values):
    mechanism = JointFree(epsilon=4, q=[0.25, 0.75], cells=GRID.size)
    frame = pl.LazyFrame({"x": values}, schema={"x": pl.Float64})
    answers = [
        mechanism.published(
            draw_from(Reader(Frame(data), "x", GRID), mechanism, SeededSource(8))
        ).tolist()
        for data in (frame, frame.collect())
    ]
    assert answers[0] == answers[1]


def test_a_narrow_reading_is_widened_before_anything_is_drawn(monkeypatch):
    rng = np.random.default_rng(4)
    values = rng.random(200_000) * 1000
    mechanism = JointFree(epsilon=1, q=[0.25, 0.5, 0.75], cells=Grid(0, 1000).size)
    reader = Reader(Frame(values), "value", Grid(0, 1000))
    expected = mechanism.published(draw_from(reader, mechanism, SeededSource(1)))
    tried = []

    def narrow(self, n):
        tried.append(n)
        return [(round(q * n / 9) - 3, round(q * n / 9) + 3) for q in self.orders]

    monkeypatch.setattr(JointFree, "windows", narrow)
    assert np.array_equal(
        mechanism.published(draw_from(reader, mechanism, SeededSource(1))), expected
    )
    assert len(tried) == 2
    elsewhere = reader.points(lambda n: narrow(mechanism, n))
    with pytest.raises(NotReadError):
        mechanism.one(elsewhere, Forbidden())


class Forbidden:
    """A source that must not be asked."""

    private = False

    def bytes(self, count):
        raise AssertionError(count)
