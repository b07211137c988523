"""Filters: how many charges fit, and the worst that an adaptive analyst can do."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from time import perf_counter

import mpmath
import numpy as np
import pytest

from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import Concentrated
from sourdine.privacy.accounting import Filter, Part, compose
from sourdine.privacy.accounting.filter import best_order
from sourdine.privacy.accounting.parts import allowance

F = Fraction
DELTA = F(1, 10**6)


def admitted(session, part):
    """Return how many equal charges fit, by both accounts."""
    by_price = session.allowance // session.price_of(part)
    by_sum = session.epsilon // part.epsilon
    most = max(by_price, by_sum)
    assert session.admits(part.repeated(most))
    assert not session.admits(part.repeated(most + 1))
    return most


@pytest.mark.parametrize(
    ("epsilon", "delta", "pure", "ranged"),
    [(1, 1e-6, 125, 487), (3, 1e-6, 107, 412), (3, 1e-9, 73, 267), (8, 1e-6, 87, 329)],
)
def test_a_session_admits_so_many_charges(epsilon, delta, pure, ranged):
    session, each = Filter.of(epsilon, delta), F(epsilon, 50)
    assert admitted(session, Part.pure(each)) >= pure
    assert admitted(session, Part.range(each)) >= ranged


def least_epsilon(*parts):
    """Return the least total, to four digits, whose filter admits the parts."""
    low, high = 0, 10**5
    while high - low > 1:
        middle = (low + high) // 2
        fits = Filter.of(F(middle, 10**4), DELTA).admits(parts)
        low, high = (low, middle) if fits else (middle, high)
    return high / 10**4


def test_batches_fit_into_what_was_measured():
    mean, count = Part.laplace(1000, 10**4), Part.laplace(1, 10)
    quantiles = [Part.pure(F(1, 500)), Part.range(F(49, 500))]
    assert least_epsilon(count.repeated(100)) <= 5.08
    assert least_epsilon(mean.repeated(100)) <= 4.99
    assert least_epsilon(*(part.repeated(100) for part in quantiles)) <= 2.36
    mix = [mean.repeated(50), count.repeated(20), *(part.repeated(50) for part in quantiles)]
    assert least_epsilon(*mix) <= 4.49
    assert least_epsilon(Part.laplace(1, 100, times=1000)) <= 1.47


def worst(sizes, epsilon, admits, most):
    """Return the delta of an analyst who sizes the next pure charge by the running loss.

    The state is how many charges of each size were made, and the loss on the lattice of the
    smaller size: the analyst maximises E(1 - e^(epsilon - L))_+ by dynamic programming.
    """
    small, _ = sizes
    steps = [round(size / small) for size in sizes]
    above = [1 / (1 + np.exp(-float(size))) for size in sizes]
    reach = sum(n * step for n, step in zip(most, steps, strict=True))
    loss = np.arange(-reach, reach + 1) * float(small)
    stop = np.maximum(-np.expm1(np.minimum(float(epsilon) - loss, 0)), 0.0)
    value = {}
    for a in range(most[0], -1, -1):
        for b in range(most[1], -1, -1):
            if not admits(a, b):
                continue
            best = stop
            for after, step, p in (
                ((a + 1, b), steps[0], above[0]),
                ((a, b + 1), steps[1], above[1]),
            ):
                if after in value:
                    v = value[after]
                    up = np.append(v[step:], np.full(step, v[-1]))
                    down = np.append(np.full(step, v[0]), v[:-step])
                    best = np.maximum(best, p * up + (1 - p) * down)
            value[a, b] = best
    return float(value[0, 0][reach])


SIZES = [(1, F(1, 20), F(1, 2)), (1, F(1, 10), F(2, 5)), (2, F(1, 10), F(1))]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "small", "large"), SIZES)
def test_the_worst_analyst_stays_within_delta(epsilon, small, large):
    delta, sizes = F(1, 1000), (small, large)
    session = Filter.of(epsilon, delta)

    @cache
    def admits(a, b):
        parts = [Part.pure(size, n) for size, n in zip(sizes, (a, b), strict=True) if n]
        return session.admits(parts)

    @cache
    def natural(a, b):
        """Compose the curves of the sizes so far: false, for the sizes were chosen on the way."""
        parts = [Part.pure(size, n) for size, n in zip(sizes, (a, b), strict=True) if n]
        return not parts or compose(parts).delta(epsilon).upper <= delta

    def most(rule):
        return (
            next(n for n in range(1, 4000) if not rule(n, 0)),
            next(n for n in range(1, 4000) if not rule(0, n)),
        )

    reached = worst(sizes, epsilon, admits, most(admits))
    assert 0.1 * delta < reached <= delta
    assert worst(sizes, epsilon, natural, most(natural)) > 1.05 * float(delta)


def test_the_order_is_chosen_from_the_total_alone_and_is_near_the_best():
    for epsilon, delta in ((F(1), DELTA), (F(3), F(1, 10**9)), (F(8), DELTA), (F(1, 100), DELTA)):
        order = best_order(epsilon, delta)
        part = Part.pure(epsilon / 50)
        chosen = Filter.of(epsilon, delta).allowance / part.price(order)
        for factor in (F(1, 2), F(9, 10), F(11, 10), F(2)):
            from_one = 1 + factor * (order - 1)
            allowed = allowance(epsilon, delta, from_one)
            assert allowed / part.price(from_one) <= chosen * F(101, 100)


def test_the_allowance_is_rounded_down():
    with mpmath.workdps(60):
        for epsilon, delta in ((3, "1e-6"), (F(1, 100), "1e-9"), (5, "0.9")):
            session = Filter.of(epsilon, F(delta))
            a = mpmath.mpf(session.order.numerator) / session.order.denominator
            e = mpmath.mpf(F(epsilon).numerator) / F(epsilon).denominator
            exact = e + mpmath.log(a / (a - 1)) + mpmath.log(mpmath.mpf(delta) * a) / (a - 1)
            got = mpmath.mpf(session.allowance.numerator) / session.allowance.denominator
            assert exact - mpmath.mpf(2) ** -60 < got <= exact


def test_the_plain_sum_admits_beside_it():
    session = Filter.of(3, DELTA)
    assert session.admits(Part.pure(3))
    assert session.price_of(Part.pure(3)) > session.allowance
    half = session.charge(Part.pure(F(3, 2)))
    assert half.admits(Part.pure(F(3, 2)))
    assert half.remaining == F(1, 2)
    assert not session.charge(Part.gaussian(1, 1000)).admits(Part.pure(3))


def test_without_delta_epsilons_add_up():
    session = Filter.of(1)
    for _ in range(10):
        session = session.charge(Part.range(0.1))
    assert session.remaining == 0
    assert not session.admits(Part.pure(F(1, 10**9)))
    assert not Filter.of(1).admits(Part.gaussian(1, 10**6))


def test_a_rho_adds_up_rho():
    session = Filter.of_rho(0.5)
    charged = session.charge([Part.pure(0.1, times=50), Part.range(0.2, times=40)])
    assert charged.price == F(9, 20)
    assert charged.admits(Part.gaussian(1, 10))
    assert not charged.admits(Part.gaussian(1, 9))
    assert Concentrated(charged.price).at(1e-6).epsilon < 5


def test_own_deltas_come_from_the_reserve():
    session = Filter.of(3, DELTA, reserve=DELTA / 2)
    assert session.allowance == Filter.of(3, DELTA / 2).allowance
    session = session.charge([Part.pure(0.1), Part.delta(DELTA / 4)])
    with pytest.raises(
        BudgetExceededError,
        match=r"requested delta=5e-07, 2\.5e-07 of the reserve of 5e-07 remaining",
    ):
        session.charge([Part.pure(0.1), Part.delta(DELTA / 2)])
    assert not Filter.of(3, DELTA).admits(Part.delta(DELTA / 100))
    with pytest.raises(ParameterError, match="reserve must be at most delta"):
        Filter.of(3, DELTA, reserve=1)


def test_a_refused_charge_changes_nothing_and_says_why():
    session = Filter.of(1, DELTA).charge(Part.pure(F(9, 10)))
    with pytest.raises(
        BudgetExceededError, match="exceeded by 'mean': requested 50% of the total, 10% remaining"
    ):
        session.charge(Part.pure(F(1, 2)), "mean")


def test_the_largest_that_fits():
    session = Filter.of(3, DELTA).charge(Part.laplace(1, 10, times=20))
    for make in (Part.pure, Part.range, lambda e: Part.laplace(100, 100 / e)):
        size = session.largest(make)
        assert session.admits(make(size))
        assert not session.admits(make(size * F(100001, 100000)))
    full = Filter.of(1).charge(Part.pure(1))
    assert full.largest(Part.pure) == 0


def test_a_filter_is_written_and_read():
    session = Filter.of(3, DELTA, reserve=DELTA / 10).charge(Part.gaussian(1, 100, times=3))
    assert Filter.from_dict(json.loads(json.dumps(session.to_dict()))) == session
    assert session.total is None


def test_charges_are_quick():
    session, started = Filter.of(3, DELTA), perf_counter()
    for i in range(1000):
        session = session.charge(Part.pure(F(1 + i % 97, 10**5 + i)))
    assert perf_counter() - started < 6  # a second on an idle machine
    started = perf_counter()
    session.admits(Part.laplace(12345, 10**7))
    assert perf_counter() - started < 0.3
    assert session.price.denominator <= 2**256


@pytest.mark.slow
def test_prices_bound_the_declared_curve():
    """What a filter admits is private as a batch too: the certified curve stays below delta."""
    parts = [Part.range(F(3, 50), times=412)]
    assert Filter.of(3, DELTA).admits(parts)
    assert compose(parts).delta(3).upper <= DELTA
