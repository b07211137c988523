r"""Shares within a row: of the people in one part of a column, how many are in each of another.

With the scores of `sourdine.local.table.estimating.scores` the share :math:`r` of part :math:`j`
within part :math:`i` makes the mean of :math:`\phi_r = a_i(y)(b_j(z) - r)` vanish. A candidate is
possible if that mean does not differ from 0 by more than its noise allows (E. C. Fieller's interval
for a ratio). With

.. math:: E\phi_r^2 = E a_i^2 b_j^2 - 2r\,E a_i^2 b_j + r^2\,E a_i^2

the variance of :math:`\phi_r` about the people who answered is :math:`E\phi_r^2 - f_{ij}(1-r)^2 -
(f_i - f_{ij})r^2`, since what a report says of a person is right on average, and about the
population :math:`E\phi_r^2 - (E\phi_r)^2`. If hardly anybody is in the row, everything is possible.
*Claim*: intervals cover from 500 reports on. *Checked by* ``test_shares_within_a_row_cover``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.laws.normal import student_quantile
from sourdine.local.table.estimating.crossed import Crossed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sourdine.local.table.estimating.scores import Axis
    from sourdine.release import Release

    Floats = NDArray[np.float64]

__all__ = ["WithinTable", "moments", "ratio_ends", "ratios"]

TRIED = 1000
"""How many candidates for a share are tried."""


def moments(first: Axis, second: Axis, tally: NDArray[np.int64]) -> dict[str, Floats]:
    """Return the means of products of scores that ratios and their intervals need."""
    n = max(int(tally.sum()), 1)
    a, b = first.scores, second.scores
    return {
        "row": a.T @ tally.sum(axis=1) / n,
        "mixed": (a * a).T @ tally @ b / n,
        "square": (a * a).T @ tally.sum(axis=1) / n,
    }


def ratios(drawn: Mapping[str, Any]) -> Floats:
    """Return the shares within the rows, in [0, 1]; one half where a row seems empty."""
    share, row = np.asarray(drawn["estimate"], float), np.asarray(drawn["row"], float)[:, None]
    there = np.broadcast_to(row > 0, share.shape)
    found = np.divide(share, row, out=np.full(share.shape, 0.5), where=there)
    return np.asarray(np.clip(found, 0, 1))


def ratio_ends(drawn: Mapping[str, Any], beta: float, of: str) -> tuple[Floats, Floats]:
    """Return the least and the greatest share within a row that is possible, each on its own."""
    u = np.asarray(drawn["estimate"], float)[..., None]
    n = int(drawn["reports"])
    if n < 2:
        return np.zeros(u.shape[:2]), np.ones(u.shape[:2])
    w, square = (np.asarray(drawn[k], float)[:, None, None] for k in ("row", "square"))
    both, mixed = (np.asarray(drawn[k], float)[..., None] for k in ("both", "mixed"))
    bias, own = np.asarray(drawn["bias"], float)[..., None], np.asarray(drawn["row_bias"], float)
    r = np.linspace(0, 1, TRIED + 1)
    off = u - r * w
    if of == "population":
        known = off**2
    else:
        joint = np.clip(u, 0, 1)
        known = joint * (1 - r) ** 2 + (np.clip(w, joint, 1) - joint) * r**2
    variance = np.maximum(both - 2 * r * mixed + r**2 * square - known, 0)
    half = student_quantile(beta, n - 1) * np.sqrt(variance / n) + bias + r * own[:, None, None]
    beyond = np.abs(off) - half
    possible = beyond <= 0
    possible |= ~possible.any(axis=2, keepdims=True) & (beyond == beyond.min(axis=2, keepdims=True))
    first = possible.argmax(axis=2)
    last = TRIED - possible[..., ::-1].argmax(axis=2)
    return r[np.maximum(first - 1, 0)], r[np.minimum(last + 1, TRIED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinTable(Crossed):
    """Public facts of the shares of one column within the parts of another."""

    kind: ClassVar[str] = "shares within rows"
    head: ClassVar[str] = "share of the row"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the number of reports."""
        each = "Ratios of estimates, cut to [0, 1]; each interval holds on its own."
        return (each,) if self.reports else ("Nobody reported: nothing is known.",)

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        """Return the shares within the rows."""
        return ratios(drawn)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        """Return the ends of every share, each on its own."""
        return ratio_ends(release.drawn, beta, of)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table, a line for each row."""
        low, high = release.interval(self.shown)
        return self.crossed([(None, np.asarray(release.value), low, high)])

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw each share on a line from 0 to 100 %."""
        from sourdine.local.table.estimating.cross_figure import within  # noqa: PLC0415 - matplotlib, late

        return within(self, release, **options)

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return f"{self.names[1]} within {self.names[0]}"

    def __str__(self) -> str:
        return f"{self.names[1]} within {self.names[0]}, {self.reports} reports"
