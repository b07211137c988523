"""A total as a person says it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import at_least, given, positive
from sourdine.privacy import Concentrated
from sourdine.privacy.accounting import Filter
from sourdine.privacy.budget import read_total

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number
    from sourdine.privacy import Relation
    from sourdine.session.accounts import Total

__all__ = ["RESERVED", "read_budget"]

RESERVED = Fraction(1, 1000)
"""The share of delta that is kept for answers with a delta of their own, if nobody says."""


def read_budget(
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    reserve: Number | None,
    relation: Relation,
) -> tuple[Total, Filter | None]:
    r"""Return a total that may be spent, and the filter that decides; None where epsilons add up.

    Parameters
    ----------
    epsilon, delta, rho
        Epsilon with or without delta, or rho.
    reserve
        How much of delta is kept for answers with a delta of their own. A thousandth if left out:
        at order :math:`a` that costs :math:`0.001/(a - 1)` of what prices may sum to, and a
        threshold for unknown keys grows by :math:`\ln(1000)/\varepsilon`, as both depend on the
        logarithm of delta.
    relation
        Which inputs are neighbours.

    Examples
    --------
    >>> from sourdine.privacy import ADD_REMOVE
    >>> total, decides = read_budget(3, 1e-6, None, None, ADD_REMOVE)
    >>> print(total, "|", decides)
    epsilon 3, delta 1e-06, one record added or removed | epsilon 3, delta 1e-06: 100 % left
    """
    if rho is not None:
        for name, other in (("epsilon", epsilon), ("delta", delta), ("reserve", reserve)):
            if other is not None:
                raise ParameterError(
                    name,
                    "be left out where rho is the total",
                    given(other),
                    f"Leave {{{name}}} out, or leave out rho.",
                    **{name: LEFT_OUT},
                )
        exact = positive(rho, "rho")
        return Concentrated(exact, relation), Filter.of_rho(exact)
    total = read_total(0 if epsilon is None else epsilon, 0 if delta is None else delta, relation)
    kept = total.delta * RESERVED if reserve is None else at_least(reserve, "reserve", 0)
    if kept == total.delta:
        return total, None
    return total, Filter.of(total.exact_epsilon(), total.delta, kept)
