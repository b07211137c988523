"""The difference between two groups, from what was released of them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from math import ceil, floor, hypot, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sourdine.central.intervals import LAMBDAS, each, passed, proved
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.results.release import Display, Estimator, Release, read_estimator
from sourdine.results.tables import key_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.groups import ByGroup
    from sourdine.central.intervals import SumEvidence

    Fractions = tuple[float, float]


# ---- How far the means of two laws are apart, from independent noisy sums of records of each -----
#
# With :math:`z_j = \sum_i(u_{ij} - \mu_j) + \text{noise}_j` and the noisy numbers :math:`N_j`,
#
# .. math:: \frac{M_1}{N_1} - \frac{M_2}{N_2} - (\mu_1 - \mu_2)
#           = \frac{z_1}{n_1} - \frac{z_2}{n_2}
#           + \frac{z_1}{n_1}\Bigl(\frac{n_1}{N_1} - 1\Bigr)
#           - \frac{z_2}{n_2}\Bigl(\frac{n_2}{N_2} - 1\Bigr).
#
# The first two terms are one sum of independent, centred numbers: at the true means, numbers and
# variances :math:`V_j` it passes t with probability :math:`\beta'` at most, t the less of
# Chernoff's bound and of Berry and Esseen's for unequal laws (0.56 times the largest summand over
# the standard deviation). The rest is of second order, and is bounded by what is known of each
# group alone. All that is known holds at once but for the parts of :math:`\beta` below: an interval
# of each mean, the ends of each V over it, and those of each n. At the true values t is a number,
# and it only grows when these are replaced by their ends.
#
# References: I. Shevtsova, "An improvement of convergence rate estimates in the Lyapunov theorem",
# Doklady Mathematics 82, 2010 (0.5600 for unequal laws).


OWN, ABOVE, BELOW, NUMBER = 0.025, 0.05, 0.025, 0.025
"""The parts of the risk for each group's own interval, the ends of its V, and its number."""
REST = 1 - 2 * (OWN + ABOVE + BELOW + NUMBER)
UNEQUAL = 0.56


class _Known:
    """What is known of one group, all of it at once but for its parts of the risk."""

    def __init__(self, evidence: SumEvidence, beta: float) -> None:
        self.seen = evidence.at_0 - evidence.at_1
        self.estimate = evidence.at_0 / self.seen
        self.low, self.high = proved(evidence, OWN * beta)
        low, high = np.array([self.low]), np.array([self.high])
        upper, lower = evidence.spread(low, high, ABOVE * beta, BELOW * beta)
        self.upper, self.lower = float(upper[0]), float(lower[0])
        self.least, self.most = evidence.number(NUMBER * beta)
        self.noise = evidence.noise(low, high)[0]
        self.furthest = max(self.high, 1 - self.low)  # of a record from the mean

    @property
    def second_order(self) -> float:
        """The mean's error times that of the number."""
        error = max(abs(self.estimate - self.low), abs(self.estimate - self.high))
        return error * max(self.most - self.seen, self.seen - self.least) / self.least


def proved_apart(first: SumEvidence, second: SumEvidence, beta: float) -> Fractions:
    """Return the ends of the first law's mean minus the second's, whatever the laws."""
    a, b = _Known(first, beta), _Known(second, beta)
    outer = a.low - b.high, a.high - b.low
    if min(a.least, b.least) <= 0:
        return outer
    d, more = a.estimate - b.estimate, a.second_order + b.second_order
    low = d - _reach((a, b), (1 - a.low, b.high), beta) - more
    high = d + _reach((a, b), (a.high, 1 - b.low), beta) + more
    return max(outer[0], low), min(outer[1], high)


def _reach(groups: Sequence[_Known], far: Fractions, beta: float) -> float:
    r"""Return what the sum of both passes, towards records at most ``far`` away in each group.

    The lower end is as far away as the sum passes upwards: with large records of the first group,
    :math:`1 - \mu_1` above their mean, and small ones of the second, :math:`\mu_2` below it.
    """
    risk = REST * beta / 2
    scales = np.concatenate([g.noise / g.least for g in groups])
    v = sum(g.upper / g.least**2 for g in groups)
    sides = zip(groups, far, strict=True)
    spreads = [(g.upper / g.least**2, max(r, 1e-9) / g.least) for g, r in sides]
    largest = max(r for _, r in spreads)
    rate = LAMBDAS * min(1 / scales.max(), 8 / largest)
    chance = sum(v / (r * r) * (np.expm1(rate * r) - rate * r) for v, r in spreads)
    noise = -np.log1p(-((rate[:, None] * scales) ** 2)).sum(-1)
    chernoff = float(((chance + noise - np.log(risk)) / rate).min())
    sd = sqrt(max(sum(g.lower / g.most**2 for g in groups), 1e-300))
    room = risk - UNEQUAL * max(g.furthest / g.least for g in groups) / sd
    near = passed(np.array([v]), scales[None, :], np.array([room]))
    return min(chernoff, float(near[0]))


# ---- How far two groups are apart, from what was released of them: nothing more is paid ----------
#
# The groups' answers are independent. *Sample*: the interval from :math:`l_1 - u_2` to :math:`u_1 -
# l_2`, with half of the risk for each group. *Population*, any law, of means and shares:
# `sourdine.central.differences`. *Normal*: the distances of each group's own ends from its
# value are added as standard errors are,
#
# .. math:: d - \sqrt{(v_1 - l_1)^2 + (u_2 - v_2)^2}
#           \quad\text{to}\quad d + \sqrt{(u_1 - v_1)^2 + (v_2 - l_2)^2},
#
# each at the whole risk: G. Y. Zou, A. Donner, "Construction of confidence limits about effect
# measures: a general approach", Statistics in Medicine 27, 2008.


MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Difference(Estimator):
    """One group's number minus another's.

    Parameters
    ----------
    groups
        What drew the groups' numbers.
    pair
        The keys of the two.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence, the normal ones about. *Checked by*
    ``test_intervals_of_differences_cover``.
    """

    kind: ClassVar[str] = "difference"

    groups: ByGroup
    pair: tuple[Any, Any]

    def __str__(self) -> str:
        return f"{self.groups.question.name}, {' minus '.join(map(key_text, self.pair))}"

    @property
    def display(self) -> Display:
        title = str(self)[0].upper() + str(self)[1:]
        groups = self.groups.display
        return Display(
            head=self.kind, title=title, protected=groups.protected, confidence=groups.confidence,
            populations=groups.populations, extra_intervals=groups.extra_intervals,
        )  # fmt: skip

    def value(self, drawn: Mapping[str, Any]) -> Any:
        first, second = map(self.groups.part.value, drawn["groups"])
        return first - second

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        """Return the ends of the difference; that of dates is a duration."""
        part = self.groups.part
        parts = [
            replace(release, value=part.value(drawn), mechanism=part, drawn=drawn)
            for drawn in release.drawn["groups"]
        ]
        first, second = (part.evidence(one.drawn) for one in parts)
        if of == "population" and first is not None and second is not None:
            width = getattr(part, "width", 1.0)
            low, high = (end * width for end in proved_apart(first, second, beta))
            if part.is_datetime:
                return floor(low) * MICROSECOND, ceil(high) * MICROSECOND
            return low, high
        if of != "normal":
            (low, high), (low_2, high_2) = (part.limits(one, each(beta, 2), of) for one in parts)
            return low - high_2, high - low_2
        (low, high), (low_2, high_2) = (part.widened_limits(one, beta, of) for one in parts)
        v, w = (one.value for one in parts)
        d = v - w
        return d - _hypot(v - low, high_2 - w), d + _hypot(high - v, w - low_2)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        first, second = self.pair
        return {
            " and ".join(self.groups.columns_of): [f"{key_text(first)} minus {key_text(second)}"]
        }

    def to_dict(self) -> dict[str, Any]:
        return {"statistic": self.kind, "of": self.groups.to_dict(), "pair": list(self.pair)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        groups: Any = read_estimator(facts["of"])
        if not hasattr(groups, "columns_of"):  # not by groups
            raise TypeError(facts["of"])
        first, second = (tuple(key) if isinstance(key, list) else key for key in facts["pair"])
        return cls(groups=groups, pair=(first, second))


def _hypot(a: Any, b: Any) -> Any:
    if isinstance(a, dt.timedelta):
        return ceil(hypot(a / MICROSECOND, b / MICROSECOND)) * MICROSECOND
    return hypot(a, b)


def difference(groups: ByGroup, release: Release, first: object, second: object) -> Release:
    """Return how far the first group is above the second, with an interval; it costs nothing.

    Parameters
    ----------
    groups, release
        A release by groups, of one number each (means, shares, counts, sums), and what drew it.
    first, second
        Two keys of it.

    Examples
    --------
    >>> from sourdine.central import Mean
    >>> ages = Mean(column="age", bounds=(0, 100), epsilon=8, by="sex", keys=["f", "m"])
    >>> data = {"age": [60] * 500 + [40] * 500, "sex": ["f"] * 500 + ["m"] * 500}
    >>> apart = ages.release(data).difference("f", "m")
    >>> low, high = apart.interval()
    >>> low < 20 < high < 22
    True
    """
    several = groups.part.wide or any(getattr(v, "shape", ()) for v in release.value.values())
    if not groups.display.numeric or several:
        must = "difference() needs one number for each group."
        hint = "Ask for a single statistic by group."
        raise ParameterTypeError("difference", must, str(groups), hint)
    keys = groups.keys(release.drawn)
    drawn = dict(zip(keys, release.drawn["groups"], strict=True))
    for key in (first, second):
        if key not in drawn:
            hint = f"The groups are {keys}."
            raise ParameterError("the key", "be one of the groups", given(key), hint)
    made = Difference(groups=groups, pair=(first, second))
    parts = {"groups": [drawn[first], drawn[second]]}
    note = "The difference follows from the release and costs nothing more."
    return replace(
        release, value=made.value(parts), mechanism=made, drawn=parts,
        caveats=(*groups.part.caveats, note),
    )  # fmt: skip
