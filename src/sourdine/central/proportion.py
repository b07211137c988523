"""The share of records in a category."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import exp, log1p
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
from attrs import field, frozen

from sourdine.central.intervals import ASKED, ShareEvidence, lower_risks, normal, proved
from sourdine.central.ratio import Ratio
from sourdine.central.weights import Stratified
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import one_of
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.memory import NUMBERS, TEXTS
from sourdine.grid import Grid
from sourdine.mechanisms import Laplace
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.kinds import WHAT, param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.intervals import SumEvidence
    from sourdine.frames.frame import Frame
    from sourdine.privacy import Part
    from sourdine.results.release import Display, Release

    Floats = NDArray[np.float64]


# ---- What a noisy number of ones among n says of the share of ones in a population, exactly ------
#
# The number f of ones is binomial; released is :math:`K = f + X` with discrete Laplace noise of
# scale a, so :math:`P_p(K \ge k) = \sum_f \binom nf p^f(1-p)^{n-f} P(X \ge k - f)`, which rises
# with p. The interval holds all p at which neither :math:`P_p(K \ge k)` nor :math:`P_p(K \le k)` is
# below :math:`\beta/2`: C. J. Clopper, E. S. Pearson, Biometrika 26, 1934, with noise.


WIDE = 14.0
"""Numbers of ones this many standard deviations and more away are left out: below 1e-40."""
HALVINGS = 50


def exact_ends(ones: int, n: int, scale: float, beta: float) -> tuple[float, float]:
    """Return the ends of the share in the population, of a noisy number of ones among n."""
    if not n:
        return 0.0, 1.0
    for risk in lower_risks(beta):
        low = _least(ones, n, scale, risk / 2)
        high = 1 - _least(n - ones, n, scale, risk / 2)
        if low < high:
            return low, high
    return 0.0, 1.0


def _least(k: int, n: int, scale: float, beta: float) -> float:
    """Return the largest p at which k or more ones have a probability of ``beta`` at most."""
    low, high = 0.0, 1.0
    if _reached(k, n, 0.0, scale) > beta:
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _reached(k, n, middle, scale) > beta else (middle, high)
    return low


def _reached(k: int, n: int, p: float, scale: float) -> float:
    """Return the probability that a noisy binomial is ``k`` or more."""
    from scipy.special import betaln

    reach = WIDE * (np.sqrt(n * p * (1 - p)) + 1) + WIDE
    f = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1) + 1)
    if p in (0.0, 1.0):
        binomial = np.where(f == round(n * p), 1.0, 0.0)
    else:
        chosen = -betaln(f + 1, n - f + 1) - np.log(n + 1)
        binomial = np.exp(chosen + f * np.log(p) + (n - f) * log1p(-p))
    missing = k - f  # the noise has to be this or more
    far = np.exp(-np.abs(np.where(missing > 0, missing, 1 - missing)) / scale)
    far = far / (1 + exp(-1 / scale))
    return float((binomial * np.where(missing > 0, far, 1 - far)).sum())


# ---- The share of records that say yes -----------------------------------------------------------


COIN = Grid(0, 1, step=1)
POLICIES = ("auto", "exclude", "no")
EXACT = 10**6
"""Up to this many records the law of a noisy number of ones is summed up exactly."""


def read_missing(x: str) -> str:
    return one_of(x, "missing", *POLICIES)


def read_category(x: object) -> Any:
    return read.label(x, "category", "yes")


@frozen(kw_only=True, slots=False)
class Proportion(Stratified):
    r"""The share of ones in a column of zeros and ones, or of records in a category.

    Where the number of records is public, discrete Laplace noise of scale
    :math:`1/\varepsilon` on the number of ones, which is then moved to 0 or n if it lies beyond:
    nearer to the truth than a law that is cut off there and scaled up (`BernoulliMean`), whose
    scale is up to :math:`2/\varepsilon`. Elsewhere a noisy sum over a noisy count
    (`sourdine.central.ratio`).

    Notes
    -----
    *Claim*: intervals hold with at least their confidence. *Checked by*
    ``test_proportion_intervals_cover``.

    Examples
    --------
    >>> Proportion(epsilon=1, relation="substitute").error(0.05, n=1000)
    0.003
    """

    kind: ClassVar[str] = "proportion"
    widest = 1.0
    span = 0.0, 1.0
    text: ClassVar[str] = "Estimate the proportion of ones, or of records in a category."
    examples: ClassVar[tuple[str, str]] = (
        "survey.csv -c vote --category yes --epsilon 0.2",
        "--n 5000 --error 0.01",
    )

    category: Any = field(default=None, converter=read_category, metadata=param(
        kinds.VALUE, "The category whose proportion is estimated. Without it the column must hold "
        "zeros and ones.", group=WHAT,
    ))  # fmt: skip
    missing: str = field(default="auto", converter=read_missing, metadata=param(
        kinds.one_of(*POLICIES), "How missing values are treated. exclude: the proportion among "
        "values that are not missing, whose number is private. no: the proportion among all "
        "records, whose number is public (under add_remove it is n). auto: no under substitute, "
        "otherwise exclude.", group=WHAT,
    ))  # fmt: skip

    population: bool = field(default=False, converter=read.population, metadata=param(
        kinds.FLAG, "Also print confidence intervals about the population.", group=WHAT,
    ))  # fmt: skip

    def check(self) -> None:
        if self.missing == "no" and not self.known:
            raise ParameterError(
                "missing", "be 'exclude' if the number of records is private: with {unit}, with "
                "{where}, with {by}, and if records are added or removed and {n} is not given",
                "'no'", "Omit {missing}.", missing=LEFT_OUT,
            )  # fmt: skip
        _ = self.mechanism if self.known else self.ratio.mechanism  # refuses early

    @property
    def needed(self) -> str:
        return NUMBERS if self.category is None else TEXTS

    @cached_property
    def cell(self) -> Ticks | Codes:
        if self.category is None:
            return Ticks(self.column, COIN)
        return Codes(self.column, [self.category])

    @property
    def known(self) -> bool:
        fixed = (self.substitutes or self.stated) and self.weights is None
        return fixed and self.alone and self.missing != "exclude"

    @property
    def stated(self) -> bool:
        """Whether the share is among n records, because the question says so."""
        return self.missing == "no" and self.n is not None

    @cached_property
    def of_private_number(self) -> Self:
        if self.stated and self.alone:
            return self
        return attrs.evolve(self, missing="exclude", error=None)

    @cached_property
    def ratio(self) -> Ratio:
        return Ratio(
            last=1, epsilon=self.epsilon_of_answer, relation=self.relation, rows=self.copies
        )

    @cached_property
    def mechanism(self) -> Laplace:
        """What draws the number of ones among a public n."""
        return Laplace(epsilon=self.epsilon, sensitivity=self.rows, relation=self.relation)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        drawn = self.mechanism if self.known else self.ratio.mechanism
        return (*drawn.parts, *self.design_parts)

    def evidence(self, drawn: Mapping[str, Any]) -> SumEvidence | None:
        if self.known or self.weights is not None:
            return None
        seen = self.ratio.evidence(self.ratio.pair(drawn))
        return seen if seen.at_0 > seen.at_1 else None

    @property
    def display(self) -> Display:
        extra: tuple[str, ...] = ()
        if self.population and not self.known:
            extra = ("normal", "population")
        elif self.population or self.strata:
            extra = ("population",)
        return replace(
            super().display,
            extra_intervals=extra,
            populations=self.weights is None or self.strata is not None,
        )

    @property
    def how(self) -> str:
        noisy = "the number of ones" if self.known else "a sum and a count"
        return f"discrete Laplace noise on {noisy}"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        asked = (*([ASKED] if self.population else []), *self.weighing, *self.person)
        if self.category is not None:
            return ("Other and missing values count as no.", *asked)
        gone = "Missing values count as no." if self.known else "Missing values are excluded."
        return ("Values of 0.5 or more count as yes.", gone, *asked)

    def prefetch(self, data: Frame) -> None:
        if self.category is not None:
            data.prefetch(self.cell)
        else:
            data.prefetch(self.cell, most=1)
        if self.category is not None or (self.known and not self.stated):
            data.prefetch()

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        for data in frames:
            self.prefetch(data)
        moments = self._moments(frames)
        if not self.known:
            drawn, designs = self.ratio.draw_all(moments, self.source), self.draw_design(frames)
            return [{**own, **design} for own, design in zip(drawn, designs, strict=True)]
        stated = self.n if self.stated else None
        records = [len(data) if stated is None else stated for data in frames]
        ones = [min(own, n) for (_, own), n in zip(moments, records, strict=True)]
        noisy = self.mechanism.release_all(ones, source=self.source)
        return [{"ones": x, "records": n} for x, n in zip(noisy, records, strict=True)]

    def _moments(self, frames: Sequence[Frame]) -> list[Sequence[int]]:
        cell = self.cell
        if isinstance(cell, Ticks):
            return [data.moments(cell, 1) for data in frames]
        return [(len(data), int(data.tally(cell).counts[0])) for data in frames]

    def value(self, drawn: Mapping[str, Any]) -> float:
        if self.known:
            n = drawn["records"]
            return min(max(drawn["ones"], 0), n) / n if n else 0.5
        return self.ratio.fraction(self.ratio.pair(drawn))

    def limits(self, release: Release, beta: float, of: str) -> tuple[float, float]:
        if of == "sample":
            return self._of_sample(release.drawn, beta)
        if self.strata is not None:
            return self.ends_of_ratio(self.ratio, release.drawn, beta)
        return self.of_population(release.drawn, beta, of)

    def of_population(self, drawn: Mapping[str, Any], beta: float, of: str) -> tuple[float, float]:
        """Return the ends of the share in the population."""
        if not self.known:
            ends = normal if of == "normal" else proved
            return ends(self.ratio.evidence(self.ratio.pair(drawn)), beta)
        n, ones, scale = drawn["records"], drawn["ones"], self.mechanism.scale
        if n <= EXACT:
            return exact_ends(ones, n, float(scale), beta)
        return proved(ShareEvidence.of_public(ones, n, float(scale)), beta)

    def _of_sample(self, drawn: Mapping[str, Any], beta: float) -> tuple[float, float]:
        if not self.known:
            return self.ratio.limits(self.ratio.pair(drawn), beta)
        n, ones = drawn["records"], drawn["ones"]
        if not n:
            return 0.0, 1.0
        for risk in lower_risks(beta):
            half = int(self.mechanism.error(risk))
            low, high = max(ones - half, 0), min(ones + half, n)
            if low <= high:
                return low / n, high / n
        return 0.0, 1.0

    def planned(self, beta: float, n: int | None) -> float:
        """Return the error among ``n`` records; for a private n, of a share of 15%."""
        n = self.public_n(n)
        if not self.known:
            return self.ratio.error(beta, self.in_units(n))
        return min(self.mechanism.error(beta) / n, 1.0)
