"""How much less a report says among others, and what it may say in return."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, number, positive
from sourdine.local.categorical.oracle import Oracle
from sourdine.local.numeric import Duchi, HybridReport, SlidingWindow
from sourdine.local.shuffling.binary import Ones, others
from sourdine.local.shuffling.blanket import Blanket
from sourdine.mechanisms import BoundedStaircase, RandomizedResponse, Warner
from sourdine.mechanisms.mechanism import Report
from sourdine.privacy import LOCAL, SUBSTITUTE, Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.exact.parameters import Number

__all__ = ["shuffled", "shuffled_allowance"]

LEAST_DELTA = Fraction(1, 10**12)
MOST_PEOPLE = 10**10
LARGEST = 30
"""Local epsilons above are not helped: the others who could hide a person are too rare."""
CLOSE = 1e-6
"""Epsilon is rounded up by this much of itself at most."""


def shuffled(report: Report | Guarantee, n: int, *, delta: Number) -> Guarantee:
    r"""Return what the shuffled reports of n people promise each of them.

    Parameters
    ----------
    report
        The randomiser that every person uses once; or a pure local guarantee, if all that is known
        of the randomiser is its epsilon.
    n
        How many people report, honestly and once each. If some may collude, do not count them.
    delta
        The delta of the promise, from 1e-12 to below 1; choose it well below 1/n.

    Returns
    -------
    Guarantee
        Epsilon, rounded up, and delta, for one record replaced; never above the report's epsilon.

    Notes
    -----
    Two answers (`Warner`, `RandomizedResponse` of two categories, `Duchi`): the exact trade between
    epsilon and delta in the worst population, up to the people left out of a block: none up to 64
    people, about 0.8 % of epsilon beyond, 3 % beyond ten million. *Checked by*
    ``test_binary_is_exact``. Randomisers of two levels: the privacy blanket [1]_. Every other: the
    clones of [2]_, in the form that is proved (see `Blanket.general`). All sums are rounded up:
    ``test_blanket_is_above_truth``.

    References
    ----------
    .. [1] B. Balle, J. Bell, A. Gascon, K. Nissim, "The privacy blanket of the shuffle model",
       CRYPTO 2019.
    .. [2] V. Feldman, A. McMillan, K. Talwar, "Stronger privacy amplification by shuffling for
       Renyi and approximate differential privacy", SODA 2023.

    Examples
    --------
    >>> print(shuffled(RandomizedResponse(epsilon=1, categories=2), 100_000, delta=1e-6))
    epsilon 0.0102304, delta 1e-06, one record replaced
    >>> print(shuffled(RandomizedResponse(epsilon=2, categories=50), 100_000, delta=1e-6))
    epsilon 0.011839, delta 1e-06, one record replaced
    >>> print(shuffled(Guarantee(1, 0, LOCAL), 100_000, delta=1e-6))
    epsilon 0.0152871, delta 1e-06, one record replaced
    """
    own, people, loose = _own(report), _people(n), _delta(delta)
    if not 0 < own <= LARGEST:
        return Guarantee(own, loose, SUBSTITUTE)
    blanket = _blanket(report, float(own))
    epsilon = _smallest(lambda e: blanket.delta(e, people), loose, float(own))
    if coins := _coins(report):
        exact = 0.0
        for ones in _everyone(coins, people):
            exact = _smallest(ones.delta, loose, epsilon, exact)
        epsilon = exact
    return Guarantee(min(Fraction(epsilon), own), loose, SUBSTITUTE)


def shuffled_allowance(
    guarantee: Guarantee, n: int, *, make: Callable[[Fraction], Report | Guarantee] | None = None
) -> Guarantee:
    r"""Return what each of n reports may spend so that ``guarantee`` holds once they are shuffled.

    The inverse of `shuffled`, rounded down. *Checked by* ``test_shuffled_allowance_is_within``.

    Parameters
    ----------
    guarantee
        The wanted epsilon, and a delta from 1e-12 to below 1, for one record replaced.
    n
        How many people report.
    make
        The randomiser for a given epsilon; without it, whatever holds for all of them.

    Examples
    --------
    >>> survey = lambda epsilon: RandomizedResponse(epsilon=epsilon, categories=10)
    >>> print(shuffled_allowance(Guarantee(0.1, 1e-6, "substitute"), 100_000, make=survey))
    epsilon 3.84663, any two inputs of one person
    """
    total, people, loose = _wanted(guarantee), _people(n), _delta(guarantee.delta)
    build = make or _of_epsilon
    low, high = total, Fraction(LARGEST)
    while high - low > low / (1 << 12):
        middle = Fraction(float((low + high) / 2))
        if _keeps(build(middle), people, float(total) * (1 - CLOSE), loose):
            low = middle
        else:
            high = middle
    return Guarantee(low, 0, LOCAL)


def _of_epsilon(epsilon: Fraction) -> Report | Guarantee:
    return Guarantee(epsilon, 0, LOCAL)


def _keeps(report: Report | Guarantee, n: int, epsilon: float, delta: Fraction) -> bool:
    """Return whether shuffled reports surely keep the promise."""
    if _blanket(report, float(_own(report))).delta(epsilon, n) <= _most(delta):
        return True
    coins = _coins(report)
    return bool(coins) and all(ones.delta(epsilon) <= _most(delta) for ones in _everyone(coins, n))


def _everyone(coins: list[tuple[float, float]], n: int) -> Iterator[Ones]:
    """Yield the laws of the others' ones, for each side to protect."""
    for a, b in coins:
        yield from others(a, b, n)


def _most(delta: Fraction) -> float:
    return float(delta) * (1 - 1e-12)


def _smallest(
    delta_at: Callable[[float], float], delta: Fraction, high: float, low: float = 0.0
) -> float:
    """Return an epsilon from ``low`` to ``high`` at which delta is kept, close to the smallest."""
    most = _most(delta)
    if delta_at(low) <= most:
        return low
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if delta_at(middle) <= most:
            high = middle
        else:
            low = middle
    return high


def _blanket(report: Report | Guarantee, own: float) -> Blanket:
    """Return what is known of the people who hide one."""
    if isinstance(report, (RandomizedResponse, Oracle)):
        p, q = report.chances
        return Blanket.two_levels(own, float(p), float(q))
    if isinstance(report, SlidingWindow):
        return Blanket.two_levels(own, report.width * report.chances[0])
    if isinstance(report, BoundedStaircase) and report.method == "window":
        width = report.near(0)[1]
        return Blanket.two_levels(own, width / (width + (report.last + 1 - width) * exp(-own)))
    return Blanket.general(own)


def _coins(report: Report | Guarantee) -> list[tuple[float, float]]:
    """Return the chances of a one for either answer if there are two, for each side to protect."""
    if isinstance(report, Warner):
        a, b = (float(chance) for chance in report.channel)
        return [(a, b)] if sum(report.channel) == 1 else [(a, b), (1 - b, 1 - a)]
    two = isinstance(report, RandomizedResponse) and report.categories == 2
    if two or isinstance(report, Duchi) or (isinstance(report, HybridReport) and report.always_bit):
        b = 1 / (1 + exp(float(_own(report))))
        return [(1 - b, b)]
    return []


def _own(report: object) -> Fraction:
    """Return the epsilon of one report."""
    if not isinstance(report, (Report, Guarantee)):
        raise ParameterTypeError(
            "report",
            "be a local randomiser",
            kind(report),
            "Type {report}, or RandomizedResponse(epsilon=1, categories=4).",
            report=Guarantee(1, relation=LOCAL),
        )
    guarantee = report.guarantee if isinstance(report, Report) else report
    if guarantee.relation is not LOCAL or guarantee.delta:
        raise ParameterError(
            "report",
            "promise pure local privacy",
            str(guarantee),
            "Type {report}.",
            report=Guarantee(1, relation=LOCAL),
        )
    return guarantee.exact_epsilon()


def _wanted(guarantee: object) -> Fraction:
    wanted = Guarantee.read(guarantee, relation=SUBSTITUTE)
    if wanted.relation is not SUBSTITUTE:
        raise ParameterError(
            "guarantee",
            f"be for {SUBSTITUTE.description}",
            wanted.relation.name,
            "Type {guarantee}.",
            guarantee=Guarantee(1, 1e-6, SUBSTITUTE),
        )
    return positive(wanted.exact_epsilon(), "epsilon")


def _people(n: object) -> int:
    people = integer(n, "n", least=1)
    if people > MOST_PEOPLE:
        raise ParameterError(
            "n",
            f"be at most {MOST_PEOPLE}",
            given(people),
            "Type {n}: fewer people hide less.",
            n=MOST_PEOPLE,
        )
    return people


def _delta(delta: object) -> Fraction:
    value = number(delta, "delta", above=0, most=1)
    if not LEAST_DELTA <= value < 1:
        raise ParameterError(
            "delta", "be from 1e-12 to below 1", given(delta), "Type {delta}, or 1e-9.", delta=1e-6
        )
    return value
