r"""The share of each category among those who answered, where *no answer* is a category.

With the shares :math:`f_v` of all people and :math:`f_0` of those without an answer it is the ratio
:math:`r = f_v/(1 - f_0)`. A candidate is possible if :math:`\hat f_v - r(1 - \hat f_0)` does not
differ from 0 by more than its noise allows (E. C. Fieller's interval for a ratio). A report that
supports one category never makes support of another more likely, in no randomiser of this library
(``test_supports_of_two_categories_are_not_positively_correlated``), so its variance is at most
:math:`\mathrm{Var} \hat f_v + r^2 \mathrm{Var} \hat f_0`. Where supporters are too few for the normal
law, the ends follow from exact ones of :math:`f_v` and :math:`f_0`, each at half the level.
*Checked by* ``test_shares_of_those_who_answered_are_covered``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.laws.normal import student_quantile
from sourdine.local.estimators.estimate import Estimate
from sourdine.local.estimators.frequencies import MANY, Frequencies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["AnsweredShares", "share_answered", "shares_of_answers"]

FEW = 25.0
"""From this variance of the number of supporters on, it is held for normal."""
HALVINGS = 40
"""How often the place of an end is halved."""


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
        """Return the ratios, within [0, 1]; equal ones if nobody seems to have answered."""
        shares = self.of_all.value(drawn)
        there = 1 - float(shares[-1])
        if there <= 0:
            return np.full(self.categories, 1 / self.categories)
        return np.clip(shares[:-1] / there, 0, 1)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every category's share among those who answered."""
        each = beta / (self.categories if self.of_all.together else 1)
        low, high = self._exact(release, each, of)
        raw = np.asarray(release.drawn["raw"], np.float64)
        there = 1 - float(raw[-1])
        if not self.reports or there <= 0:
            return low, high
        none, supporters = self._variance(slice(-1, None), np.array([1 - there]), of)
        quantile = student_quantile(each, max(self.reports - 1, 1))

        def possible(r: Floats) -> NDArray[np.bool_]:
            """Return whether a share may be the truth, under which its variance is taken."""
            own, _ = self._variance(slice(None, -1), r * there, of)
            half = quantile * np.sqrt(own + r**2 * none) + self._one() / 2
            return np.asarray(np.abs(raw[:-1] - r * there) <= half)

        middle = self.value({"raw": raw, "consistent": raw})
        _, often = self._variance(slice(None, -1), np.zeros(self.categories), of)
        many = (often >= FEW) & (supporters[0] >= FEW)
        ends = (_farthest(possible, middle, np.full(self.categories, x)) for x in (0.0, 1.0))
        lower, upper = (np.where(many, *pair) for pair in zip(ends, (low, high), strict=True))
        return lower, upper

    def _exact(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return ends that hold whenever those of the two shares do."""
        apart = Frequencies(**{f: getattr(self.of_all, f) for f in SHARED})
        low, high = apart.limits(release, beta / 2, of)
        most, least = 1 - low[-1], 1 - high[-1]
        lower = low[:-1] / most if most > 0 else np.zeros(self.categories)
        upper = high[:-1] / least if least > 0 else np.ones(self.categories)
        return np.minimum(lower, 1), np.minimum(upper, 1)

    def _variance(self, which: slice, share: Floats, of: str) -> tuple[Floats, Floats]:
        """Return the variance of an estimated share, and that of the number of its supporters."""
        share = np.clip(share, 0, 1)
        p, q = (np.broadcast_to(x, self.of_all.categories)[which] for x in self._chances)
        chance = share * p + (1 - share) * q
        noise = share * p * (1 - p) + (1 - share) * q * (1 - q)
        count = self.reports * (chance * (1 - chance) if of == "population" else noise)
        return count / (self.reports * (p - q)) ** 2, count

    def _one(self) -> Floats:
        """Return by how much one supporter moves a share: supporters are whole numbers."""
        p, q = (np.broadcast_to(x, self.of_all.categories)[:-1] for x in self._chances)
        return np.asarray(1 / (self.reports * (p - q)))

    @property
    def _chances(self) -> tuple[Floats, Floats]:
        return np.asarray(self.of_all.p, np.float64), np.asarray(self.of_all.q, np.float64)

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


def _farthest(
    possible: Callable[[Floats], NDArray[np.bool_]], start: Floats, end: Floats
) -> Floats:
    """Return how far towards an end shares are possible, by bisection."""
    out = np.where(possible(end), start, end)
    inside = np.where(possible(end), end, start)
    for _ in range(HALVINGS):
        middle = (inside + out) / 2
        held = possible(middle)
        inside, out = np.where(held, middle, inside), np.where(held, out, middle)
    return np.where(possible(end), end, inside)


SHARED = ("randomiser", "p", "q", "categories", "reports")
"""What intervals of single shares need."""
