"""What several promises are worth together."""

from __future__ import annotations

from fractions import Fraction

from sourdine.errors import ParameterError
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.relation import ADD_REMOVE, SUBSTITUTE, Relation

__all__ = ["compose", "group", "parallel"]


def compose(*guarantees: Guarantee) -> Guarantee:
    r"""Return what holds when all are spent on the same data, each chosen after seeing the others.

    .. math:: \left(\sum_i \varepsilon_i,\ \min\Bigl(1, \sum_i \delta_i\Bigr)\right)

    Notes
    -----
    The sums are exact, so the order never matters. *Checked by*
    ``test_compose_is_associative_and_commutative``; *tight* for randomised response, by
    ``test_compose_is_tight``.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014,
       theorem 3.16 and appendix B.

    Examples
    --------
    >>> print(compose(*[Guarantee(0.1)] * 10))
    epsilon 1, one record added or removed
    """
    relation = _one_relation(guarantees, "compose")
    if not all(g.is_finite for g in guarantees):
        return Guarantee.none(relation)
    return Guarantee(
        sum((g.exact_epsilon() for g in guarantees), Fraction(0)),
        min(sum((g.delta for g in guarantees), Fraction(0)), Fraction(1)),
        relation,
    )


def parallel(*guarantees: Guarantee, relation: Relation | None = None) -> Guarantee:
    r"""Return what holds when each is spent on its own group of records, the groups disjoint.

    A record added or removed touches one group, so the largest epsilon and the largest delta hold.
    A record replaced may stay in group :math:`i`, which is two steps there, or leave :math:`i` for
    :math:`j`, one step in each:

    .. math::
        \max_i\,(2\varepsilon_i,\ (1 + e^{\varepsilon_i})\delta_i)
        \quad\text{and}\quad
        \max_{i \ne j}\,(\varepsilon_i + \varepsilon_j,\ \delta_i + \delta_j)

    The first is never the smaller, so it is the answer. *Checked by*
    ``test_parallel_covers_every_move``.

    Parameters
    ----------
    *guarantees
        One for each group, under ADD_REMOVE, or all under LOCAL with groups that are public.
    relation
        ``None`` for the relation of the guarantees, or SUBSTITUTE for what they are worth there.

    References
    ----------
    .. [1] F. McSherry, "Privacy integrated queries", SIGMOD 2009, theorem 4.

    Examples
    --------
    >>> print(parallel(Guarantee(1, relation=ADD_REMOVE), Guarantee(0.5, relation=ADD_REMOVE)))
    epsilon 1, one record added or removed
    >>> print(parallel(Guarantee(1, relation=ADD_REMOVE), relation=SUBSTITUTE))
    epsilon 2, one record replaced
    """
    given = _one_relation(guarantees, "parallel")
    if given is SUBSTITUTE:
        raise ParameterError(
            "guarantees",
            "be for one record added or removed",
            "SUBSTITUTE",
            "A replaced record may change group, and so the size of two groups. Type "
            "Guarantee(1, relation=ADD_REMOVE) for each group, then parallel(..., "
            "relation=SUBSTITUTE).",
        )
    moved = [g.under(given if relation is None else relation) for g in guarantees]
    if not all(g.is_finite for g in moved):
        return Guarantee.none(moved[0].relation)
    return Guarantee(
        max(g.exact_epsilon() for g in moved), max(g.delta for g in moved), moved[0].relation
    )


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """Return what holds for ``size`` records at once, such as those of a household.

    Examples
    --------
    >>> print(group(Guarantee(0.5), 4))
    epsilon 2, one record added or removed
    """
    return Guarantee.read(guarantee).group(size)


def _one_relation(guarantees: tuple[Guarantee, ...], name: str) -> Relation:
    if not guarantees:
        raise ParameterError(
            "guarantees", "include at least one", "none", f"Type {name}(Guarantee(1))."
        )
    relations = {Guarantee.read(g).relation for g in guarantees}
    if len(relations) > 1:
        names = " and ".join(sorted(r.name for r in relations))
        hint = (
            "Type guarantee.under(SUBSTITUTE) for those under ADD_REMOVE."
            if relations == {ADD_REMOVE, SUBSTITUTE}
            else "Account for local and central promises apart."
        )
        raise ParameterError("guarantees", "share one relation", names, hint)
    return relations.pop()
