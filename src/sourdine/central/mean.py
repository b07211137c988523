"""The mean of a column, of the records and of the population behind them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
from attrs import field, frozen

from sourdine.central.intervals import (
    ASKED,
    FINE,
    KNOTS,
    MomentEvidence,
    accepted,
    laplace_quantile,
    least_fixed,
    lower_risks,
    normal,
    proved,
    sampled,
)
from sourdine.central.mean_methods import GridMean
from sourdine.central.ratio import PLANNED, Ratio, UnitSums
from sourdine.central.statistic import Numeric, Statistic
from sourdine.central.variance import ThreeSums, mean_table
from sourdine.central.weights import Stratified
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import one_of
from sourdine.mechanisms import Gaussian, Laplace
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import WHAT, param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.finding.octaves import OctaveMean
    from sourdine.central.finding.two_stage import TwoStage
    from sourdine.central.intervals import SumEvidence
    from sourdine.frames.frame import Frame
    from sourdine.noise import Source
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release

    Floats = NDArray[np.float64]
    Fractions = tuple[float, float]


# ---- A mean with its variance beside it, for intervals about the law that the records come from --
#
# *The number of records is private*: `ThreeSums`, whose line is :math:`M - \mu N` with
# :math:`M = B/2 + C`, and :math:`\mu^2A - \mu(1-\mu)B + (1-\mu)^2C = \sum(u_i - \mu)^2`. Its noise
# has the variance of a sum and a count (`sourdine.central.ratio`) times
# :math:`1 + (\frac12-\mu)^2/(\mu^2 + (1-\mu)^2)`: 1 in the middle of the range, 1.25 at its ends.
#
# *It is public*: :math:`T = \sum u` and :math:`W = \sum u(1-u)`. If a record moves by
# :math:`d = |u - u'|`, the two move by :math:`d + d|1 - u - u'| \le d(2 - d) \le 1`, so noise of
# scale :math:`1/\varepsilon` on each covers both: the variance costs nothing. A missing value is
# :math:`u = 1/2`. Here :math:`\sum(u_i-\mu)^2 = T - W - 2\mu T + n\mu^2`.


class PopulationMean(ABC):
    """A mean as a fraction of the range, with what is known of its law."""

    @abstractmethod
    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        """Return what was drawn, a record being 1; None if there seem to be no records."""

    @abstractmethod
    def quantiles(self, beta: float) -> Floats:
        """Return what the line's noise passes at `KNOTS`."""

    def fraction(self, drawn: Mapping[str, Any]) -> float:
        """Return the mean; the middle, if nothing seems to be there."""
        seen = self.evidence(drawn)
        return 0.5 if seen is None else min(max(seen.at_0 / (seen.at_0 - seen.at_1), 0.0), 1.0)

    def limits(self, drawn: Mapping[str, Any], beta: float, of: str) -> Fractions:
        seen = self.evidence(drawn)
        if seen is None:
            return 0.0, 1.0
        p, inside = self.fraction(drawn), None
        if of != "sample":
            inside = proved(seen, beta) if of == "population" else normal(seen, beta)
        for risk in lower_risks(beta):
            inside = inside or accepted(seen.at_0, seen.at_1, self.quantiles(risk))
        low, high = inside or (0.0, 1.0)
        return min(low, p), max(high, p)


@frozen(kw_only=True, slots=False)
class OfPrivateNumber(ThreeSums, PopulationMean):
    """Three sums, from which mean, variance and number follow."""

    def draw(self, records: int, moments: Sequence[int], source: Source) -> dict[str, Any]:
        """Return every number drawn, from the sums of powers of ticks."""
        return self.draw_all([moments], source)[0]

    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        a, b, c = self.in_records(drawn).tolist()
        n = a + b + c
        if n <= 0:
            return None
        m = b / 2 + c
        return MomentEvidence(
            at_0=m, at_1=m - n, square=(c, -(b + 2 * c), n), scale=self.scale,
            weights=_three_weights, counted=(1.0, 1.0, 1.0),
        )  # fmt: skip

    def quantiles(self, beta: float) -> Floats:
        return mean_table(beta) * self.scale * (1 + 3 / FINE)

    def error(self, beta: float, n: int) -> float:
        """Return the error of a mean `PLANNED` inside the bounds, as a fraction of the range."""

        def noisy(e: float) -> float:
            p = max(PLANNED - e, 0.0)
            weights = np.array([p, abs(0.5 - p), 1 - p])
            return float(laplace_quantile(weights, beta)) * self.scale * (1 + 3 / FINE) / n

        return least_fixed(noisy, 1.0)


@frozen(kw_only=True, slots=False)
class OfPublicNumber(UnitSums, PopulationMean):
    """The sums T and W of ticks from 0 to ``last``, a missing value being in the middle.

    Notes
    -----
    *Claim*: the two sums move by at most 1 in all. *Checked by*
    ``test_two_sums_move_together``.
    """

    last: int

    @property
    def whole(self) -> int:
        """What a record at the upper bound adds to T: in quarters of squared ticks."""
        return 4 * self.last**2

    @cached_property
    def moves(self) -> int:
        return self.rows * self.filled

    def sums(self, records: int, n: int, total: int, squares: int) -> tuple[int, int]:
        """Return the two sums beneath the noise."""
        k, last, gone = self.boost, self.last, records - n
        crossed = last * total - squares
        return k * 2 * last * (2 * total + last * gone), k * (4 * crossed + last * last * gone)

    def draw(self, records: int, moments: Sequence[int], source: Source) -> dict[str, Any]:
        first, second = self.mechanism.release(self.sums(records, *moments), source=source).value
        return {"total": int(first), "crossed": int(second), "records": records}

    def evidence(self, drawn: Mapping[str, Any]) -> MomentEvidence | None:
        n = drawn["records"]
        if not n:
            return None
        t, w = drawn["total"] / self.filled, drawn["crossed"] / self.filled
        return MomentEvidence(
            at_0=t, at_1=t - n, square=(t - w, -2 * t, float(n)), scale=self.scale,
            weights=_two_weights, n=n,
        )  # fmt: skip

    def quantiles(self, beta: float) -> Floats:
        return np.full(len(KNOTS), self._quantile(beta))

    def error(self, beta: float, n: int) -> float:
        return min(self._quantile(beta) / n, 1.0)

    def _quantile(self, beta: float) -> float:
        return float(laplace_quantile([1.0], beta)) * (self.scale * (1 + 1 / FINE))


def _three_weights(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return what the noises on A, B and C weigh in the line and in the sum of squares."""
    rest = 1 - low
    middle = np.maximum(np.abs(0.5 - low), np.abs(0.5 - high))
    squares = high * high, high * rest, rest * rest
    return np.stack((high, middle, rest), -1), np.stack(squares, -1)


def _two_weights(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return what the noises on T and W weigh in the line and in the sum of squares."""
    one = np.ones_like(low)
    tilted = np.maximum(np.abs(1 - 2 * low), np.abs(1 - 2 * high))
    return one[..., None], np.stack((tilted, one), -1)


# ---- The mean of a column ------------------------------------------------------------------------


METHODS = ("laplace", "gaussian", "exponential", "octaves")
POLICIES = ("auto", "exclude", "middle")
COUNTING = Fraction(1, 8)
"""The part of epsilon that pays for the count beside a mean chosen from the grid."""


def read_method(x: str) -> str:
    return one_of(x, "method", *METHODS)


def read_missing(x: str) -> str:
    return one_of(x, "missing", *POLICIES)


@frozen(kw_only=True, slots=False)
class Mean(Stratified, Numeric):
    r"""The mean of a column, by one of four mechanisms.

    ===============  ==============================================================================
    ``laplace``      a noisy sum over a noisy count (`sourdine.central.ratio`); where the number of
                     records is public, :math:`\bar x` plus noise of scale
                     :math:`(b-a)/(n\varepsilon)`
    ``gaussian``     the same with Gaussian noise, for a delta above 0
    ``exponential``  a point of the grid, by `GridMean`; an eighth of epsilon pays for a count,
                     where that is private, so that there is an interval
    ``octaves``      sums of all octaves around a private centre, for bounds that nobody knows
                     (`sourdine.central.finding.octaves`)
    ===============  ==============================================================================

    Notes
    -----
    *Claim*: intervals hold with at least their confidence, whatever the data. *Checked by*
    ``test_mean_intervals_cover``. *Claim*: the planned error, where the number of records is
    private, is that of a mean 15% of the range inside the bounds. For any mean further inside it
    is no smaller than the true error and at most 1.3 times it; with the mean at a bound the true
    error is up to 1.2 times the planned one. *Checked by*
    ``test_planned_errors_of_ratios_by_their_laws``. The quadratic risks with Laplace and with
    Gaussian noise are compared in [1]_.

    References
    ----------
    .. [1] Audibert 2024, section 3.

    Examples
    --------
    >>> fixed = Mean(bounds=(0, 100), epsilon=1, relation="substitute")
    >>> round(fixed.error(0.05, n=1000), 3)  # ln 20 times 100/1000
    0.3
    """

    kind: ClassVar[str] = "mean"
    of_dates: ClassVar[bool] = True
    text: ClassVar[str] = "Compute the mean of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --epsilon 0.5",
        "--bounds 0 500000 --n 100000 --error 100",
    )

    method: str = field(default="laplace", converter=read_method, metadata=param(
        kinds.one_of(*METHODS), "The mechanism: laplace, gaussian (needs delta), exponential "
        "(selects a point of the grid) or octaves (unknown bounds: sums of all octaves at once).",
        group=WHAT,
    ))  # fmt: skip
    missing: str = field(default="auto", converter=read_missing, metadata=param(
        kinds.one_of(*POLICIES), "How missing values are treated. exclude: the mean of the values "
        "that are not missing, whose number is private. middle (only under substitute): a missing "
        "value counts as the middle of the bounds. auto: middle if possible, otherwise exclude.",
        group=WHAT,
    ))  # fmt: skip

    population: bool = field(default=False, converter=converters.population, metadata=param(
        kinds.FLAG, "Also release the spread of the values, for short confidence intervals about "
        "the population.", group=WHAT,
    ))  # fmt: skip

    def first(self) -> TwoStage | None:
        return Statistic.first(self) if self.method == "octaves" else super().first()

    @cached_property
    def octaves(self) -> OctaveMean:
        from sourdine.central.finding.octaves import OctaveMean

        return OctaveMean(question=self)

    def _check_octaves(self) -> None:
        hint = "Omit {method} for the mean within bounds."
        if self.weights is not None or self.missing == "middle":
            name = "missing" if self.weights is None else "weights"
            raise ParameterError(name, "be omitted for method 'octaves'", "", hint, method=LEFT_OUT)
        if not converters.is_unknown(self.bounds) or converters.ends(self.bounds) != (None, None):
            must = "be 'find' for method 'octaves', which needs none"
            hint = "Use {bounds}, or omit {method} for the mean within bounds."
            raise ParameterError("bounds", must, "", hint, bounds="find", method=LEFT_OUT)
        self.check_delta(self.method)
        converters.check_step(self.step, self.bounds)
        _ = self.octaves.table(0.0, self.epsilon).mechanism

    def check(self) -> None:
        if self.method == "octaves":
            self._check_octaves()
            return
        self.check_delta(self.method)
        if self.population and self.method != "laplace":
            must, hint = f"be omitted for method {self.method!r}", "Omit {method}, or {population}."
            tries = dict.fromkeys(("method", "population"), LEFT_OUT)
            raise ParameterError("population", must, "", hint, **tries)
        if self.missing == "middle" and not (self.substitutes and self.alone):
            raise ParameterError(
                "missing", "be 'exclude' if the number of records is private, which it is unless "
                "{relation} is 'substitute' and {unit}, {where} and {by} are omitted", "'middle'",
                "Omit {missing}.", missing=LEFT_OUT,
            )  # fmt: skip
        if self.population:
            _ = self.with_spread.mechanism
        else:
            _ = self.mechanism if self.known else self.ratio.mechanism  # refuses early

    @property
    def known(self) -> bool:
        fixed = self.substitutes and self.alone and self.weights is None
        return fixed and self.missing != "exclude"

    @cached_property
    def of_private_number(self) -> Self:
        if self.method == "octaves":
            return self
        return attrs.evolve(self, missing="exclude", error=None)

    @cached_property
    def ratio(self) -> Ratio:
        return Ratio(
            last=self.last, epsilon=self.epsilon_of_answer, delta=self.delta,
            relation=self.relation, rows=self.copies,
        )  # fmt: skip

    @cached_property
    def with_spread(self) -> OfPublicNumber | OfPrivateNumber:
        """The mean with its variance beside it."""
        kind = OfPublicNumber if self.known else OfPrivateNumber
        return kind(last=self.last, epsilon=self.epsilon, relation=self.relation, rows=self.rows)

    def evidence(self, drawn: Mapping[str, Any]) -> SumEvidence | None:
        spread = self.population and self.method != "octaves"
        return self.with_spread.evidence(drawn) if spread else None

    @property
    def display(self) -> Display:
        extra: tuple[str, ...] = ("normal", "population") if self.population else ()
        if self.strata is not None:
            extra = ("population",)
        populations = self.weights is None or self.strata is not None
        return replace(super().display, extra_intervals=extra, populations=populations)

    @cached_property
    def mechanism(self) -> Laplace | Gaussian | GridMean:
        """What draws the mean where the number of records is public, or from the grid."""
        span = 2 * self.last * self.rows
        if self.method == "gaussian":
            return Gaussian(
                epsilon=self.epsilon, delta=self.delta, sensitivity=span, relation=self.relation
            )
        if self.method == "laplace":
            return Laplace(epsilon=self.epsilon, sensitivity=span, relation=self.relation)
        share = 1 if self.known else 1 - COUNTING
        return GridMean(
            epsilon=self.epsilon * share, last=self.last, relation=self.relation, rows=self.rows
        )

    @cached_property
    def counting(self) -> Laplace:
        epsilon = self.epsilon * COUNTING
        return Laplace(epsilon=epsilon, sensitivity=self.rows, relation=self.relation)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        if self.method == "octaves":
            return super().own_parts
        if self.population:
            return self.with_spread.mechanism.parts
        if self.known:
            return self.mechanism.parts
        if self.method == "exponential":
            return (*self.counting.parts, *self.mechanism.parts)
        return (*self.ratio.mechanism.parts, *self.design_parts)

    @property
    def designed(self) -> bool:
        return self.weights is not None and self.method == "laplace"

    @property
    def how(self) -> str:
        if self.method == "octaves":
            return "discrete Laplace noise on sums of octaves around a private centre"
        if self.method == "exponential":
            return "a point of the grid by the exponential mechanism"
        noisy = "the sum" if self.known else "a sum and a count"
        if self.population:
            noisy = "two sums" if self.known else "three sums"
        return f"discrete {self.method.title()} noise on {noisy}"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        missing = "Missing values are excluded from the mean."
        if self.method == "octaves":
            from sourdine.central.finding.octaves import CAVEAT

            return (CAVEAT, missing, *self.person)
        if self.known:
            missing = "A missing value counts as the middle of the bounds."
        asked = [ASKED] if self.population else []
        return (self.clipping, missing, *asked, *self.weighing, *self.person)

    def findings(self, release: Release) -> list[tuple[str, str]]:
        alone = self.method == "octaves" and "table" in release.drawn
        return self.octaves.found(release.drawn) if alone else []

    def prefetch(self, data: Frame) -> None:
        if self.method == "octaves":
            return
        data.prefetch(self.cell, most=2 if self.population else 1)
        if self.population or self.known:
            data.prefetch()

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        if self.method == "octaves":
            return [self.octaves.draw(data) for data in frames]
        for data in frames:
            self.prefetch(data)
        if self.population:
            draw = self.with_spread.draw
            return [draw(len(x), x.moments(self.cell, 2), self.source) for x in frames]
        moments = [data.moments(self.cell, 1) for data in frames]
        if self.known or self.method == "exponential":
            records = [len(data) if self.known else 0 for data in frames]
            both = zip(records, moments, strict=True)
            return [self._draw_one(size, n, total) for size, (n, total) in both]
        drawn = self.ratio.draw_all(moments, self.source)
        if self.strata is None:
            return drawn
        designs = self.draw_design(frames)
        return [{**own, **design} for own, design in zip(drawn, designs, strict=True)]

    def _draw_one(self, records: int, n: int, total: int) -> dict[str, int]:
        """Draw a mean of a public number of records, or from the grid."""

        def drawn(name: str, x: Any) -> dict[str, int]:
            return {name: int(self.mechanism.release(x, source=self.source).value)}

        if not self.known:
            count = self.counting.release(n, source=self.source).value
            return drawn("tick", (2 * total, n)) | {"count": count}
        if self.method == "exponential":
            own = drawn("tick", (2 * total + self.last * (records - n), records))
        else:
            own = drawn("centred", 2 * total - self.last * n)
        return own | {"records": records}

    def _fraction(self, drawn: Mapping[str, int]) -> float:
        """Return the mean as a fraction of the range."""
        if self.population:
            return self.with_spread.fraction(drawn)
        if "tick" in drawn:
            return drawn["tick"] / self.last
        if self.known:
            if not drawn["records"]:
                return 0.5
            p = 0.5 + drawn["centred"] / (2 * self.last * drawn["records"])
            return min(max(p, 0.0), 1.0)
        return self.ratio.fraction(self.ratio.pair(drawn))

    def value(self, drawn: Mapping[str, Any]) -> Any:
        """Return the noisy mean; that of dates is a time, for it falls between them."""
        if self.method == "octaves":
            return self.octaves.believed(drawn).value
        return self.place(self._fraction(drawn))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        if self.method == "octaves":
            return self.octaves.limits(release.drawn, beta, of)
        if self.population:
            low, high = self.with_spread.limits(release.drawn, beta, of)
        elif self.strata is not None and of == "population":
            low, high = self.ends_of_ratio(self.ratio, release.drawn, beta)
        else:
            low, high = self._limits(release.drawn, beta, population=of == "population")
        return self.place(low), self.place(high, ceil)

    def _limits(self, drawn: Mapping[str, int], beta: float, *, population: bool) -> Fractions:
        if not self.known and self.method != "exponential":
            ends = self.ratio.population if population else self.ratio.limits
            return ends(self.ratio.pair(drawn), beta)
        if population:
            low, high = self._limits(drawn, 0.15 * beta, population=False)
            return sampled(low, high, self._least(drawn, 0.05 * beta), 0.8 * beta)
        n = self._least(drawn, 0.1 * beta)
        if n <= 0:
            return 0.0, 1.0
        p, half = self._fraction(drawn), self._half(beta if self.known else 0.9 * beta, n)
        return max(p - half, 0.0), min(p + half, 1.0)

    def _least(self, drawn: Mapping[str, int], beta: float) -> float:
        """Return at least how many records there are, with probability ``1 - beta``."""
        if self.known:
            return drawn["records"]
        return max(drawn["count"] - self.counting.error(min(2 * beta, 1)), 0)

    def _half(self, beta: float, n: float) -> float:
        """Return how far the noise takes a mean of ``n`` records, as a fraction of the range."""
        if isinstance(self.mechanism, GridMean):
            return self.mechanism.ticks(beta, n) / self.last
        return self.mechanism.error(beta) / (2 * self.last * n)

    @property
    def span(self) -> tuple[Any, Any] | None:
        if self.method == "octaves":
            return None
        return self.place(0.0), self.place(1.0, ceil)

    @property
    def error_lasts(self) -> bool:
        return self.is_datetime

    @property
    def widest(self) -> float:
        return inf if self.method == "octaves" else self.width

    def planned(self, beta: float, n: int | None) -> float:
        """Return the error; where n is private, of a mean 15% of the range inside the bounds."""
        n = self.public_n(n)
        if self.method == "octaves":
            return self.octaves.error(beta, n)
        if self.population:
            return self.with_spread.error(beta, n) * self.width
        chosen = self.known or self.method == "exponential"
        p = min(self._half(beta, n), 1.0) if chosen else self.ratio.error(beta, self.in_units(n))
        return p * self.width
