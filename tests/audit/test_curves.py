"""Ranges and whole curves: claims that are a little too small are caught, at every epsilon."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine import audit
from sourdine.audit.curves import over
from sourdine.central.mean_methods import BernoulliMean
from sourdine.central.quantiles.independent import RecExp
from sourdine.errors import ParameterError
from sourdine.laws import Law, Product
from sourdine.mechanisms import (
    AboveThreshold,
    Exponential,
    Laplace,
    PermuteAndFlip,
    RandomizedResponse,
)
from sourdine.privacy.accounting import Part, compose
from sourdine.privacy.accounting.parts import of_promise

HALF = Fraction(1, 2)
VOTES = ([0, 0, 0], [0, 60, 60])
CLAIMED = [
    (Laplace(epsilon=1, sensitivity=3), (0,), Part.laplace(3, Fraction(63, 20))),
    (Laplace(epsilon=1), (0,), Part.laplace(1000, 1000)),
    (Laplace(epsilon=1, sensitivity=2), (0,), Part.laplace(4, 4)),
    (Laplace(epsilon=1, sensitivity=2), ([0, 0],), Part.pure(HALF, 2)),
    (Exponential(epsilon=1, candidates=3), VOTES, Part.range(Fraction(19, 20))),
    (Exponential(epsilon=1, candidates=3), VOTES, Part.range(HALF, 2)),
    (PermuteAndFlip(epsilon=1, candidates=3), VOTES, Part.range(1)),
    (RandomizedResponse(epsilon=1, categories=4), (0, 1), Part.response(1, 5)),
    (BernoulliMean(epsilon=1, n=12), (0, 5, 12), Part.range(1)),
]
"""Mechanisms with parts that are too small for them; most have their own epsilon all the same."""


@pytest.mark.parametrize(("mechanism", "inputs", "part"), CLAIMED, ids=str)
def test_parts_that_say_too_little_are_caught(mechanism, inputs, part):
    assert audit.curve(mechanism, inputs).holds
    assert audit.range(mechanism, inputs).holds
    assert not audit.curve(mechanism, inputs, (part,)).holds


@pytest.mark.slow
def test_levels_are_no_single_range():
    levels = RecExp(epsilon=4, q=[0.25, 0.5, 0.75], cells=8, dither=1)
    inputs = ([], [1, 1, 1, 6, 6, 7])
    found = audit.range(levels, inputs, (Part.range(4),))
    assert found.range > 1.05 * 4
    assert not found.holds
    assert audit.curve(levels, inputs).holds


def test_the_printed_constant_has_a_range():
    printed = BernoulliMean(epsilon=1, n=12, method="printed")
    assert printed.parts == (Part.range(1),)
    assert audit.range(printed, (0, 5, 12)).holds
    assert audit.curve(printed, (0, 5, 12)).holds
    assert BernoulliMean(epsilon=1, n=12).parts == (Part.pure(1),)


def test_a_fractional_sensitivity_is_a_promise():
    assert Laplace(epsilon=1, sensitivity=2.5).parts == (Part.pure(1),)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        (Part.pure(1),),
        (Part.laplace(3, 3),),
        (Part.laplace(1, 2, times=2), Part.delta(0.01)),
        (Part.range(1),),
        (Part.range(1), Part.delta(0.01)),
        (Part.range(HALF, times=2),),
        (Part.response(1, 5), Part.range(HALF)),
    ],
    ids=lambda parts: " ".join(map(str, parts)),
)
def test_a_claimed_curve_is_that_of_the_composition(parts):
    """A pair of laws that touches it passes; not one that is a hundredth above there."""
    batch = compose(parts)

    def delta(y):
        return batch.delta(float(np.log(y))).upper

    for epsilon in (0.13, 0.41, 0.73):
        y = float(np.exp(epsilon))
        slope = (delta(y - 1e-4) - delta(y + 1e-4)) / 2e-4
        for above, passes in ((-0.01, True), (0.01, False)):
            one = (1 + above) * delta(y) + y * slope
            p, q = (Law.finite(np.log([x, 1 - x])) for x in (one, max(slope, 1e-12)))
            assert (over(parts, p.losses(q)) <= 1e-9) is passes


def at(p, q, epsilon):
    """Return delta at an epsilon, of all losses."""
    found = p.losses(q)
    return float((found.p - np.exp(epsilon) * found.q)[found.loss > epsilon].sum())


def laplace(x, scale):
    return Laplace(epsilon=1, sensitivity=scale).law(x)


def test_losses_make_the_hockey_stick():
    pairs = [
        (laplace(0, 3), laplace(3, 3)),
        (Law.finite([0.0, -1.0, -5.0]), Law.finite([-1.0, -1.0, 0.0])),
        (Law.finite([0.0, 0.0]), Law.finite([0.0, 1.0, 0.0], start=1)),
        (Product((laplace(0, 3), laplace(5, 3))), Product((laplace(2, 3), laplace(4, 3)))),
    ]
    for p, q in pairs:
        for epsilon in (0.0, 0.3, 0.9, 1.5):
            assert abs(at(p, q, epsilon) - p.hockey_stick(q, epsilon).value) < 1e-12
            found = p.losses(q).swapped
            back = (found.p - np.exp(epsilon) * found.q)[found.loss > epsilon].sum()
            assert abs(back - q.hockey_stick(p, epsilon).value) < 1e-12


def test_fewer_losses_are_no_less():
    p, q = laplace(0, 5000), laplace(5000, 5000)
    whole, few = p.losses(q), p.losses(q).fewer(100)
    assert len(few.loss) <= 100 < len(whole.loss)
    assert abs(few.p.sum() - 1) < 1e-12
    assert abs(few.q.sum() - 1) < 1e-12
    for epsilon in np.linspace(0, 0.99, 23):
        more, less = ((x.p - np.exp(epsilon) * x.q)[x.loss > epsilon].sum() for x in (few, whole))
        assert less - 1e-13 <= more <= less + 1e-3


def test_a_search_keeps_its_promise_and_no_range():
    search = AboveThreshold(epsilon=1, queries=6, monotone=True)
    assert search.parts == of_promise(search.guarantee)
    inputs = ([40, 40, 40, 40, 40, 0], [0, 0, 0, 0, 0, 0])
    assert not audit.range(search, inputs, (Part.range(1),)).holds


def test_inputs_without_neighbours_are_refused():
    with pytest.raises(ParameterError, match="neighbours"):
        audit.curve(Laplace(epsilon=1), ())


def test_over_counts_both_directions():
    p, q = Law.finite(np.log([0.5, 0.5])), Law.finite(np.log([0.9, 0.1]))
    assert over((Part.pure(2),), p.losses(q)) <= 1e-9
    assert over((Part.pure(1),), p.losses(q)) > 0.1
    assert over((Part.pure(1),), q.losses(p)) > 0.1
