"""RecExp as section 4.3 prints it: a slice looks for the orders of the whole data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen

from sourdine.central.quantiles.exponential import decay
from sourdine.central.quantiles.independent import RecExp

if TYPE_CHECKING:
    from sourdine.central.quantiles.independent import Node

__all__ = ["RecExpUnscaled"]


@frozen(kw_only=True)
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

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The draws, parents before children."""
        share = self.epsilon / self.depth
        first, *others = self._nodes(0, len(self.orders), Fraction(0), Fraction(1))
        aimed = ((node, self.orders[node.middle]) for node in others)
        return (
            first,
            *(
                replace(node, order=q, c=decay(share, self.rows * self._moves(q)))
                for node, q in aimed
            ),
        )

    def _moves(self, q: Fraction) -> Fraction:
        """Return by how much rank errors move in the slices of a level, one record changed."""
        return max(q, 1 - q) * (2 if self.substitutes else 1)
