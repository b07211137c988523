"""The share of ones among a public number of records: its claim, and the constant it needs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sourdine.audit import worst_case
from sourdine.audit.checks import all_checks
from sourdine.central import BernoulliMean
from sourdine.mechanisms import Specimen


def specimens():
    for n, rows in [(1, 1), (2, 1), (9, 1), (40, 1), (9, 3), (12, 6)]:
        yield pytest.param(
            Specimen(
                name=f"bernoulli-{n}-{rows}",
                make=lambda epsilon, n=n, rows=rows: BernoulliMean(epsilon=epsilon, n=n, rows=rows),
                inputs=tuple(range(n + 1)),
                tight=False,
            ),
            id=f"{n}-{rows}",
        )


@pytest.mark.parametrize("check", all_checks()[:5])
@pytest.mark.parametrize("specimen", list(specimens()))
def test_bernoulli_conformance(check, specimen):
    check(specimen)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_the_printed_constant_is_not_tight(n, epsilon):
    every = range(n + 1)
    tight = BernoulliMean(epsilon=epsilon, n=n)
    printed = BernoulliMean(epsilon=epsilon, n=n, method="printed")
    assert tight.decay >= printed.decay
    worst = worst_case(tight, every)
    assert worst.within(tight.guarantee)
    assert worst.epsilon > epsilon * (1 - 1e-9)
    assert worst_case(printed, every).epsilon < 0.995 * epsilon
    bold = BernoulliMean(epsilon=Fraction(11, 10) * Fraction(str(epsilon)), n=n)
    assert not worst_case(bold, every).within(tight.guarantee)
