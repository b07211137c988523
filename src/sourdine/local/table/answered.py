"""Estimates among those who answered, where answers may be absent."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.exact import fraction, probability
from sourdine.laws.law import student_quantile
from sourdine.local.estimators.distribution import em, ramps
from sourdine.local.estimators.frequencies import MANY, Frequencies
from sourdine.local.estimators.means import Estimate, MeanEstimate, channel, scores_of_share
from sourdine.local.table.crossed import flagged, flagged_rows
from sourdine.local.table.part import PaidFlag
from sourdine.mechanisms import RandomizedResponse
from sourdine.results import charts
from sourdine.results.answer import plain
from sourdine.results.release import Display

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.grid import Grid
    from sourdine.results.charts import Chart
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]


# ---- The share of each category among those who answered, where *no answer* is a category --------
#
# With the shares :math:`f_v` of all people and :math:`f_0` of those without an answer it is
# :math:`f_v/(1 - f_0)`. Its interval follows from those of :math:`f_v` and :math:`f_0`, each of
# which may miss with half the probability: both hold together with at least the probability stated,
# for every number of people and however the two estimates are correlated. *Checked by*
# ``test_shares_of_those_who_answered_are_covered``.


OF_ANSWERS = "Estimates are for the people who answered."


def shares_of_answers(found: Release) -> Release:
    """Return shares of those who answered from those of all, whose last category is no answer."""
    of_all: Any = found.mechanism
    return AnsweredShares(of_all=of_all).release(found.cost, found.drawn)


def share_answered(found: Release, labels: Sequence[str]) -> Release:
    """Return the share of people who answered, and its rest, from the shares of all."""
    of_all: Any = found.mechanism
    p, q = (float(np.ravel(chance)[-1]) for chance in (of_all.p, of_all.q))
    n, none = of_all.reports, int(found.drawn["support"][-1])
    both = Frequencies(
        randomiser=of_all.randomiser, p=(1 - q, p), q=(1 - p, q), categories=2,
        reports=n, names=labels,
    )  # fmt: skip
    support = np.array([n - none, none])
    raw = both.shares(support)
    drawn = {"raw": raw, "variance": both.variance(raw), "support": support, "reports": n}
    return both.release(found.cost, drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredShares(Estimate):
    """The shares of categories among those who answered; no answer is the last of ``of_all``."""

    kind: ClassVar[str] = "shares of answers"

    of_all: Frequencies

    @property
    def display(self) -> Display:
        return Display(head="share", even=True, most=MANY)

    @property
    def categories(self) -> int:
        return self.of_all.categories - 1

    @property
    def reports(self) -> int:
        """How many people reported, those without an answer among them."""
        return self.of_all.reports

    @property
    def caveats(self) -> tuple[str, ...]:
        return (OF_ANSWERS, *self.of_all.caveats[-1:])

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        """Return the ratios, within [0, 1]; equal ones if the estimated number of answers is 0."""
        shares = self.of_all.value(drawn)
        there = 1 - float(shares[-1])
        if there <= 0:
            return np.full(self.categories, 1 / self.categories)
        return np.clip(shares[:-1] / there, 0, 1)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        each = beta / (self.categories if self.of_all.together else 1)
        low, high = replace(self.of_all, together=False).limits(release, each / 2, of)
        most, least = 1 - low[-1], 1 - high[-1]
        lower = low[:-1] / most if most > 0 else np.zeros(self.categories)
        upper = high[:-1] / least if least > 0 else np.ones(self.categories)
        return np.minimum(lower, 1), np.minimum(upper, 1)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        return {"category": self.of_all.labels(release)["category"][:-1]}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return charts.shares(release.columns(), self.reports, truth)

    def to_dict(self) -> dict[str, Any]:
        return {"statistic": self.kind, "of_all": self.of_all.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> AnsweredShares:
        return cls(of_all=Frequencies.from_dict(facts["of_all"]))

    def __str__(self) -> str:
        return f"shares of those who answered, {self.of_all}"


# ---- The mean and the quantiles of those who answered, where answers may be absent at a price ----
#
# A candidate :math:`c` for the mean is possible if the scores of :math:`x - c`, which average to
# :math:`\sum_{\text{answered}} (x_i - c)/n`, do not differ from 0 by more than their noise allows
# (E. C. Fieller's interval for a ratio). A node is possible for a quantile of order :math:`q` if
# the ramps about it (`sourdine.local.estimators.distribution`) do not differ from :math:`q` in the
# direction that would exclude it. If hardly anybody answered, everything is possible.


FINE = 1 << 10
"""How many candidates for a mean are tried."""


def mean_of_answers(mechanism: PaidFlag, tally: NDArray[np.int64], grid: Grid) -> Release:
    """Estimate the mean of those who answered from the tally of what ``mechanism`` drew."""
    return AnsweredMean(mechanism=mechanism, grid=grid).counted(tally)


def quantiles_of_answers(
    mechanism: PaidFlag, tally: NDArray[np.int64], grid: Grid, q: Sequence[Number]
) -> Release:
    """Estimate quantiles of those who answered; the parameters are those of `mean_of_answers`."""
    read = tuple(float(probability(order, "q")) for order in q)
    return AnsweredQuantiles(mechanism=mechanism, grid=grid, q=read).counted(tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Estimate):
    """What those who answered say of numbers of a lattice, by what drew the reports."""

    mechanism: PaidFlag
    grid: Grid

    @property
    def caveats(self) -> tuple[str, ...]:
        return (OF_ANSWERS,)

    @abstractmethod
    def estimate(self, counts: Floats) -> Any:
        """Return the estimate from the counts of groups of reports."""

    def counted(self, tally: NDArray[np.int64]) -> Release:
        """Return the release of the estimate from a tally."""
        found = self.estimate(_grouped(self.mechanism, tally))
        drawn = {"tally": tally, "reports": int(tally.sum()), "estimate": found}
        return self.release(self.mechanism.guarantee, drawn, self.grid)

    def to_dict(self) -> dict[str, Any]:
        value: Any = self.mechanism.answer
        answers = MeanEstimate(report=value, grid=self.grid).to_dict()
        own = plain({f.name: getattr(self, f.name) for f in fields(self)[2:]})
        flag = str(self.mechanism.flag.epsilon)
        return {"statistic": self.kind, **own, "answers": answers, "flag": flag}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        known = MeanEstimate.from_dict(facts["answers"])
        flag = RandomizedResponse(epsilon=fraction(facts["flag"]), categories=2)
        mechanism = PaidFlag(answer=known.report, flag=flag)
        own = {f.name: tuple(facts[f.name]) for f in fields(cls)[2:]}
        return cls(mechanism=mechanism, grid=known.grid, **own)

    def __str__(self) -> str:
        return f"{self.kind}, {self.mechanism}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredMean(Answered):
    """The mean of those who answered; the parameters are those of `Answered`."""

    kind: ClassVar[str] = "mean of answers"

    @property
    def display(self) -> Display:
        return Display(head="mean")

    def estimate(self, counts: Floats) -> float:
        """Return the ratio of the two estimates, within the bounds; of nobody, their middle."""
        share, _ = scores_of_share(self.mechanism.answer, int(counts.sum()))
        total = _mean(flagged(self.mechanism, share.g[:, None], np.array([0.5])), counts)[0]
        there = _mean(flagged(self.mechanism, np.ones((len(share.g), 1)), np.ones(1)), counts)[0]
        found = total / there if there > 0 else 0.5
        return _number(self.grid, float(np.clip(found, 0, 1)))

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
        counts = _grouped(self.mechanism, np.asarray(release.drawn["tally"], np.int64))
        share, _ = scores_of_share(self.mechanism.answer, int(counts.sum()))
        tried = np.linspace(0, 1, FINE + 1)
        phi = flagged(self.mechanism, share.g[:, None] - tried, 0.5 - tried)
        off, half = _test(self.mechanism, phi, counts, float(share.bias), beta)
        (inside,) = np.nonzero(np.abs(off) <= half)
        if not inside.size:
            inside = np.argmin(np.abs(off) - half, keepdims=True)
        low, high = tried[max(inside[0] - 1, 0)], tried[min(inside[-1] + 1, FINE)]
        return _number(self.grid, float(low)), _number(self.grid, float(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredQuantiles(Answered):
    """Quantiles of the orders ``q`` of those who answered."""

    kind: ClassVar[str] = "quantiles of answers"

    q: tuple[float, ...]

    @property
    def display(self) -> Display:
        return Display(head="quantile")

    def estimate(self, counts: Floats) -> NDArray[Any]:
        """Return the quantiles of the most likely distribution of the answers."""
        c = channel(self.mechanism.answer)
        f = em(flagged_rows(self.mechanism, c.rows).T, counts)[:-1]
        cumulative = np.cumsum(f) / max(f.sum(), 1e-300)
        node = np.searchsorted(cumulative, np.array(self.q) * (1 - 1e-12))
        ticks = np.rint(c.nodes[np.minimum(node, len(c.nodes) - 1)]).astype(np.int64)
        return np.asarray(self.grid.values(ticks))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        counts = _grouped(self.mechanism, np.asarray(release.drawn["tally"], np.int64))
        ends = [self._possible(counts, q, beta / len(self.q)) for q in self.q]
        low, high = np.array(ends, np.int64).reshape(-1, 2).T
        return self.grid.values(low), self.grid.values(high)

    def _possible(self, counts: Floats, q: float, beta: float) -> tuple[int, int]:
        c = channel(self.mechanism.answer)
        found = ramps(self.mechanism.answer, int(counts.sum()))
        d = len(c.nodes) - 1
        k = np.arange(1 - found.length, d)
        weight = c.rows @ np.ones(c.rows.shape[1])
        heights = np.clip((k + found.length - np.arange(d + 1)[:, None]) / found.length, 0, 1)
        mean = (weight @ heights) / weight.sum()
        bias = float(np.max(found.score.bias)) + (0.0 if c.every else 1 / d)
        phi = flagged(self.mechanism, found.score.g - q, mean - q)
        off, half = _test(self.mechanism, phi, counts, bias, beta)
        upper = np.append((off + half)[found.length - 1 :], 1.0)
        lower = np.concatenate(([-1.0], (off - half)[: d + found.length - 1]))[: d + 1]
        first = int(np.argmax(upper >= 0))
        last = d - int(np.argmax((lower <= 0)[::-1]))
        if not c.every:
            first, last = max(first - 1, 0), min(last + 1, d)
        first, last = min(first, last), max(first, last)
        return int(np.floor(c.nodes[first])), int(np.ceil(c.nodes[last]))

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        return {"q": self.q}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return charts.quantiles(release.columns(), truth)


def _grouped(mechanism: PaidFlag, tally: NDArray[np.int64]) -> Floats:
    """Return the counts of the channel's groups of reports, and that of none."""
    return np.append(channel(mechanism.answer).counts(tally[:-1]), tally[-1])


def _mean(phi: Floats, counts: Floats) -> Floats:
    return np.asarray(counts @ phi / max(counts.sum(), 1))


def _test(
    mechanism: PaidFlag, phi: Floats, counts: Floats, bias: float, beta: float
) -> tuple[Floats, Floats]:
    """Return the mean of scores, and how far it may be from the truth.

    The variance is that seen, but at least what the known laws give with the share of absent
    answers that is likely: of few people hardly anybody reports what is rare.
    """
    n = counts.sum()
    off = _mean(phi, counts)
    if n < 2:
        return off, np.full(off.shape, np.inf)
    p, q = mechanism.flag.channel
    rows = flagged_rows(mechanism, channel(mechanism.answer).rows)
    variance = rows @ (phi * phi) - (rows @ phi) ** 2
    absent = min(max((counts[-1] / n - q) / (p - q), 0.0), 1.0)
    known = absent * variance[-1] + (1 - absent) * variance[:-1].min(axis=0)
    seen = _mean(phi * phi, counts) - off**2
    deviation = np.sqrt(np.maximum(seen, known) / n)
    quantile = student_quantile(beta, int(n) - 1)
    return off, quantile * deviation + bias * (1 + q / p)


def _number(grid: Grid, share: float) -> float:
    return float(grid.lower) + share * float(grid.step * grid.last)
