"""RecExp as section 4.3 prints it: a slice looks for the orders of the whole data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sourdine.central.quantiles import RecExp
from sourdine.central.quantiles.exponential import decay
from sourdine.mechanisms.mechanism import settle

__all__ = ["RecExpUnscaled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecExpUnscaled(RecExp):
    r"""`RecExp` whose orders are not rescaled inside a slice: the quartiles aim at 1/8 and 7/8.

    The decay of a draw is `RecExp`'s for the order that it looks for, so the privacy is the same
    and the aim alone is another.

    Examples
    --------
    >>> quartiles = RecExpUnscaled(epsilon=1, q=[0.25, 0.5, 0.75], cells=100)
    >>> [str(node.order) for node in quartiles.nodes]
    ['1/2', '1/4', '3/4']
    """

    def __post_init__(self) -> None:
        RecExp.__post_init__(self)
        share = Fraction(self.epsilon) / self.depth
        first, *others = self.nodes
        settle(
            self,
            nodes=(
                first,
                *(
                    replace(node, order=q, c=decay(share, self.rows * self._moves(q)))
                    for node in others
                    for q in (self.orders[node.middle],)
                ),
            ),
        )

    def _moves(self, q: Fraction) -> Fraction:
        """Return by how much rank errors move in the slices of a level, one record changed."""
        return max(q, 1 - q) * (2 if self.substitutes else 1)
