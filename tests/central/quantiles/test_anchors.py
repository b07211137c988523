from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.central.quantiles.levels import Anchors, anchors_for
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

NINE = [Fraction(j, 10) for j in range(1, 10)]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_anchors_law_keeps_the_claim(relation, holds):
    holds(Anchors(epsilon=1, q=NINE, cells=5, anchors=2, relation=relation), 3)


def test_anchors_constant_cannot_be_raised(rejects):
    rejects(lambda e: Anchors(epsilon=e, q=NINE, cells=6, anchors=2), 1, [0], [])


@pytest.mark.slow
def test_anchors_draws_follow_the_law(fits):
    fits(Anchors(epsilon=2, q=NINE, cells=5, anchors=2), [0, 1, 1, 4], draws=1_500)


def test_anchors_are_published_where_they_were_drawn():
    made = Anchors(epsilon=1, q=NINE, cells=101, anchors=3)
    assert [float(q) for q in made.drawn.orders] == [0.2, 0.5, 0.8] or len(made.drawn.orders) == 3
    at = [made.orders.index(q) for q in made.drawn.orders]
    for ticks in ([20, 50, 80], [0, 0, 100], [7, 7, 7], [0, 0, 0], [100, 100, 100]):
        value = made.published([5, *ticks])
        assert value[at].tolist() == ticks
        assert (np.diff(value) >= 0).all()
        assert value.min() >= 0
        assert value.max() <= 100


def test_straight_lines_between_anchors():
    made = Anchors(epsilon=1, q=NINE, cells=101, anchors=3)
    known = [float(q) for q in made.drawn.orders]
    value = made.published([5, *(round(100 * q) for q in known)])
    inside = [(q, v) for q, v in zip(NINE, value, strict=True) if known[0] <= q <= known[-1]]
    assert all(abs(v - 100 * q) <= 1 for q, v in inside)


def test_beyond_the_anchors_the_milder_continuation():
    """On wide bounds the tail is exponential, not the line to a bound that is far off."""
    made = Anchors(epsilon=1, q=NINE, cells=10**6, anchors=3)
    value = made.published([5, 499_900, 500_000, 500_100])
    assert value[0] > 499_000
    assert value[-1] < 501_000


@pytest.mark.parametrize(
    ("m", "records", "epsilon", "expected"),
    [(99, 1000, 0.1, 3), (99, 1000, 1, 30), (9, 1000, 1, 9), (999, 10**6, 1, 40), (99, 0, 1, 3)],
)
def test_how_many_anchors(m, records, epsilon, expected):
    assert anchors_for(m, records, epsilon) == expected


def test_the_loss_is_of_all_that_is_published():
    made = Anchors(epsilon=1, q=NINE, cells=6, anchors=2)
    x = made.read([2] * 10)
    losses = made.loss(x, np.arange(len(made.support())))
    rows = made.support()
    for i in (0, 7, 20):
        errors = []
        for q, v in zip(NINE, made.published(rows[i]), strict=True):
            below, up_to = 10 * (v > 2), 10 * (v >= 2)
            errors.append(max(below - 10 * q, 10 * q - up_to, 0))
        assert losses[i] == pytest.approx(float(max(errors)))


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_anchors_survive(relation, survives):
    survives(Anchors(epsilon=1, q=NINE, cells=6, anchors=4, relation=relation), seeds=3)


def test_totals_and_errors():
    made = Anchors(epsilon=1, q=NINE, cells=1000, anchors=3)
    release = made.release(made.read(np.arange(1000)), source=SeededSource(1))
    assert abs(made.total(release.drawn["drawn"]) - 1000) < 200
    assert made.error() == float("inf")


@pytest.mark.parametrize("anchors", [1, 10])
def test_bad_numbers_are_refused(anchors):
    with pytest.raises(ParameterError, match="anchors must be from 2"):
        Anchors(epsilon=1, q=NINE, cells=10, anchors=anchors)
