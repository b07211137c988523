"""The share of records that say yes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.central.bernoulli import BernoulliMean
from sourdine.central.ratio import Ratio
from sourdine.central.statistic import Statistic, charged, public_n
from sourdine.errors import ParameterError
from sourdine.exact import integer
from sourdine.grid import Grid
from sourdine.mechanisms.mechanism import read_beta
from sourdine.noise import SYSTEM
from sourdine.release import Release, read_confidence
from sourdine.tally import Codes, Ticks

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["Proportion"]

COIN = Grid(0, 1, step=1)
POLICIES = ("auto", "exclude", "no")


@dataclass(frozen=True, kw_only=True)
class Proportion(Statistic):
    r"""The share of ones in a column of zeros and ones, or of records in a category.

    Where the number of records is public, inverse sensitivity (`BernoulliMean`); elsewhere a
    noisy sum over a noisy count (`sourdine.central.ratio`).

    Parameters
    ----------
    category
        Count the records of this category; without it the values are numbers, and one is yes.
    n
        The public number of records, where they are added or removed; the share is of these.
    missing
        ``"exclude"``: the share among values that are not missing, whose number is private.
        ``"no"``: the share among all records, whose number is public. ``"auto"``: ``"no"`` under
        substitution or with a public n.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence. *Checked by*
    ``test_proportion_intervals_cover``.

    Examples
    --------
    >>> Proportion(epsilon=1, relation="substitute").error(0.05, n=1000)
    0.004
    """

    kind: ClassVar[str] = "proportion"

    category: Any = None
    n: int | None = None
    missing: str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta:
            raise ParameterError(
                f"delta must be 0 for a proportion, got {float(self.delta):g}. Leave it out."
            )
        if self.n is not None:
            object.__setattr__(self, "n", integer(self.n, "n", least=1))
        if self.missing not in POLICIES:
            raise ParameterError(
                f"missing must be 'auto', 'exclude' or 'no', got {self.missing!r}. "
                f"Leave it out, or type missing='exclude'."
            )
        public = self.substitutes or self.n is not None
        if self.missing == "no" and not public:
            raise ParameterError(
                "missing must be 'exclude' where the number of records is private, got 'no'. "
                "Leave it out, or type the public number of records, as n=1000."
            )
        if self.missing == "exclude" and self.n is not None:
            raise ParameterError(
                "missing must be 'no' where n is given, got 'exclude'. Leave one of them out."
            )
        if self.missing == "auto":
            object.__setattr__(self, "missing", "no" if public else "exclude")
        if self.category is not None:
            Codes(self.column, [self.category])
        _ = self.ratio.mechanism  # refuses early

    @property
    def known(self) -> bool:
        """Whether the number of records is public."""
        return self.missing == "no"

    @cached_property
    def ratio(self) -> Ratio:
        """The noisy sum over the noisy count."""
        return Ratio(
            last=1,
            epsilon=Fraction(self.epsilon),
            relation=self.relation,
            rows=self.rows,
        )

    def mechanism(self, n: int) -> BernoulliMean:
        """Return what draws the number of ones among a public n."""
        return BernoulliMean(epsilon=self.epsilon, n=n, rows=self.rows, relation=self.relation)

    @property
    def how(self) -> str:
        """What draws it."""
        noisy = "discrete Laplace noise on a sum and a count"
        return "inverse sensitivity" if self.known else noisy

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        yes = (
            "A value counts as yes from 0.5 on." if self.category is None
            else "What is not the category counts as no, missing values too."
        )  # fmt: skip
        if self.category is not None:
            return (yes, *self.person)
        gone = "Missing values count as no." if self.known else "Missing values are left out."
        return (yes, gone, *self.person)

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Count the ones and draw."""
        if self.category is None:
            cell = Ticks(self.column, COIN)
            ones, n = data.total(cell, 1), data.total(cell, 0)
        else:
            ones = int(data.tally(Codes(self.column, [self.category])).counts[0])
            n = len(data)
        if self.known:
            records = len(data) if self.n is None else self.n
            answer = self.mechanism(records).release(ones, source=source)
            drawn = {"ones": int(answer), "records": records}
            value = drawn["ones"] / records if records else 0.5
        else:
            pair = self.ratio.draw(n, ones, source)
            drawn = dict(zip(self.ratio.names, pair, strict=True))
            value = self.ratio.fraction(pair)
        return Release(
            value=value,
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn=drawn,
        )

    def between(self, release: Release, confidence: Number, of: str) -> tuple[float, float]:
        """Return the ends of the sample's share, or of that of the law it was drawn from."""
        beta, population = read_confidence(confidence), of == "population"
        if not self.known:
            first, second = self.ratio.names
            pair = release.drawn[first], release.drawn[second]
            limits = self.ratio.population if population else self.ratio.limits
            return limits(pair, beta)
        n, ones = release.drawn["records"], release.drawn["ones"]
        if not n:
            return 0.0, 1.0
        half = int(self.mechanism(n).error(0.1 * beta if population else beta))
        low, high = max(ones - half, 0), min(ones + half, n)
        return _binomial(low, high, n, 0.9 * beta) if population else (low / n, high / n)

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return the error among ``n`` records; for a private n, of a share of 15 %."""
        n, beta = public_n(self.n if n is None else n, "proportion"), read_beta(beta)
        return self.mechanism(n).error(beta) / n if self.known else self.ratio.error(beta, n)


def _binomial(low: int, high: int, n: int, beta: float) -> tuple[float, float]:
    """Return Clopper and Pearson's ends, for a number of successes between two."""
    from scipy.special import betaincinv  # noqa: PLC0415 - costs time to import, needed here only

    first = float(betaincinv(low, n - low + 1, beta / 2)) if low else 0.0
    last = float(betaincinv(high + 1, n - high, 1 - beta / 2)) if high < n else 1.0
    return first, last
