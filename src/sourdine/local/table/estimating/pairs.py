r"""How two columns go together, from reports of both.

Columns of one person are randomised independently, so with the scores of `sourdine.local.table.
scores` the share of people in part :math:`i` of one column and :math:`j` of the other is estimated
by the mean of :math:`\phi = a_i(y) b_j(z)`. As a mean of independent people it has the variance
:math:`(E\phi^2 - (E\phi)^2)/n` about the share of the population. Given who answered,
:math:`E\phi` is 1 or 0, so the variance about their share is :math:`(E\phi^2 - E\phi)/n`: it is
estimated from the same products, or from the known laws of the scores if these say more.
*Claim*: intervals cover from 200 reports on. *Checked by* ``test_pairs_are_unbiased_and_cover``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.laws.normal import student_quantile
from sourdine.local.table.estimating.crossed import Crossed
from sourdine.local.table.estimating.within import WithinTable, moments, ratio_ends, ratios
from sourdine.release import read_confidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.table.estimating.scores import Axis
    from sourdine.privacy import Guarantee
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["PairTable", "pair"]


def pair(
    first: Axis,
    second: Axis,
    tally: NDArray[np.int64],
    cost: Guarantee,
    *,
    within: bool = False,
) -> Release:
    """Estimate the share of people in each part of one column and each of another.

    Parameters
    ----------
    first, second
        The columns, cut into parts.
    tally
        How many people have each pair of cells of the two columns' tallies.
    cost
        What one person's reports of both columns cost.
    within
        Whether shares are of the people in a part of the first column, not of all.
    """
    n = int(tally.sum())
    a, b = first.scores, second.scores
    share = a.T @ tally @ b / max(n, 1)
    square = np.maximum((a * a).T @ tally @ (b * b) / max(n, 1), _known(first, second, tally))
    noise, sampled = (np.maximum(square - less, 0) for less in (np.clip(share, 0, 1), share**2))
    seen = moments(first, second, tally)
    row = np.maximum(seen["square"] - np.clip(seen["row"], 0, 1), 0)
    drawn = {
        "estimate": share,
        "sample": np.sqrt(noise / max(n, 1)),
        "population": np.sqrt(sampled / max(n, 1)),
        "bias": np.outer(first.bias, 1 + second.bias) + second.bias,
        "both": square,
        "row_sample": np.sqrt(row / max(n, 1)),
        "row_bias": first.bias,
        **seen,
        "reports": n,
    }
    kind = WithinTable if within else PairTable
    table = kind(names=(first.name, second.name), parts=(first.labels, second.labels), reports=n)
    return table.release(cost, drawn)


def _known(first: Axis, second: Axis, tally: NDArray[np.int64]) -> Floats:
    r"""Return the mean square of the products by the known laws, at the shares of single columns.

    Of few people hardly anybody draws a pair of rare reports, and the squares seen say too little.
    """
    n = max(int(tally.sum()), 1)
    f, g = (
        np.clip(x.scores.T @ tally.sum(axis=i) / n, 0, 1)[:, None]
        for i, x in ((1, first), (0, second))
    )
    inside = first.own[:, None] * f + first.other[:, None] * (1 - f)
    return np.asarray(inside * (second.own[:, None] * g + second.other[:, None] * (1 - g)).T)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable(Crossed):
    """Public facts of the shares of people in each part of one column and each of another."""

    kind: ClassVar[str] = "pair of columns"
    head: ClassVar[str] = "share"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the number of reports."""
        each = "Each interval holds on its own, by the normal law; unbiased shares may be negative."
        return (each,) if self.reports else ("Nobody reported: nothing is known.",)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every share, in [0, 1], each on its own."""
        return self._ends(release, beta, ("estimate", of, "bias"))

    def _ends(
        self, release: Release, beta: float, names: tuple[str, str, str]
    ) -> tuple[Floats, Floats]:
        raw, deviation, bias = (np.asarray(release.drawn[name], float) for name in names)
        if self.reports < 2:
            return np.zeros(raw.shape), np.ones(raw.shape)
        half = student_quantile(beta, self.reports - 1) * deviation + bias
        return np.clip(raw - half, 0, 1), np.clip(raw + half, 0, 1)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table: of each row the shares of all people, and those within the row."""
        if self.wide:
            return release.columns().cells()
        beta = read_confidence(self.shown)
        whole = ("of all", np.asarray(release.value), *release.interval(self.shown))
        within = ("of the row", ratios(release.drawn), *ratio_ends(release.drawn, beta, "sample"))
        row = ("row", np.asarray(release.drawn["row"], float), *self._rows(release, beta))
        return self.crossed([whole, within], row)

    def _rows(self, release: Release, beta: float) -> tuple[Floats, Floats]:
        return self._ends(release, beta, ("row", "row_sample", "row_bias"))

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the shares of all people as squares, and those within a row beside them."""
        from sourdine.local.table.estimating.cross_figure import crossed  # noqa: PLC0415 - matplotlib, late

        return crossed(self, release, **options)

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return f"{self.names[0]} and {self.names[1]}"

    def __str__(self) -> str:
        return f"{self.names[0]} and {self.names[1]} together, {self.reports} reports"
