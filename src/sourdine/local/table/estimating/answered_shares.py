r"""The share of each category among those who answered, where *no answer* is a category.

With the shares :math:`f_v` of all people and :math:`f_0` of those without an answer it is
:math:`f_v/(1 - f_0)`. Its interval follows from those of :math:`f_v` and :math:`f_0`, each of which
may miss with half the probability: both hold together with at least the probability stated, for
every number of people and however the two estimates are correlated. *Checked by*
``test_shares_of_those_who_answered_are_covered``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.local.estimators.estimate import Estimate
from sourdine.local.estimators.frequencies import MANY, Frequencies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["AnsweredShares", "share_answered", "shares_of_answers"]


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
        randomiser=of_all.randomiser,
        p=(1 - q, p),
        q=(1 - p, q),
        categories=2,
        reports=n,
        names=labels,
    )
    support = np.array([n - none, none])
    raw = both.shares(support)
    drawn = {"raw": raw, "variance": both.variance(raw), "support": support, "reports": n}
    return both.release(found.cost, drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredShares(Estimate):
    """The shares of categories among those who answered.

    Parameters
    ----------
    of_all
        The shares of all people; the last category is no answer.
    """

    kind: ClassVar[str] = "shares of answers"
    head: ClassVar[str] = "share"
    even: ClassVar[bool] = True
    most: ClassVar[int | None] = MANY

    of_all: Frequencies

    @property
    def categories(self) -> int:
        """How many categories there are, without no answer."""
        return self.of_all.categories - 1

    @property
    def reports(self) -> int:
        """How many people reported, those without an answer among them."""
        return self.of_all.reports

    @property
    def caveats(self) -> tuple[str, ...]:
        """Whom the shares are of, and what holds for those of all people."""
        return ("Of the people who answered.", *self.of_all.caveats[-1:])

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        """Return the ratios, within [0, 1]; equal ones if the estimated number of answers is 0."""
        shares = self.of_all.value(drawn)
        there = 1 - float(shares[-1])
        if there <= 0:
            return np.full(self.categories, 1 / self.categories)
        return np.clip(shares[:-1] / there, 0, 1)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every category's share among those who answered."""
        each = beta / (self.categories if self.of_all.together else 1)
        low, high = replace(self.of_all, together=False).limits(release, each / 2, of)
        most, least = 1 - low[-1], 1 - high[-1]
        lower = low[:-1] / most if most > 0 else np.zeros(self.categories)
        upper = high[:-1] / least if least > 0 else np.ones(self.categories)
        return np.minimum(lower, 1), np.minimum(upper, 1)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return the name of each category, without no answer."""
        return {"category": self.of_all.labels(release)["category"][:-1]}

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a dot with its interval for each category."""
        from sourdine.local.estimators import figures  # noqa: PLC0415 - matplotlib, late

        survey: Any = self
        return figures.shares(survey, release, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the public facts as JSON knows them."""
        return {"statistic": self.kind, "of_all": self.of_all.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> AnsweredShares:
        """Return what wrote these facts."""
        return cls(of_all=Frequencies.from_dict(facts["of_all"]))

    def __str__(self) -> str:
        return f"shares of those who answered, {self.of_all}"
