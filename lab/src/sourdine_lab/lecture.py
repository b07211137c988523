r"""What Stemmer's lecture 9 says a robust algorithm costs: orders, without their constants.

The library counts with the constants: `sourdine.adaptive.robust.proof.copies_needed` and ``cost``.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from sourdine.exact import at_least, integer

if TYPE_CHECKING:
    from sourdine.exact import Number

__all__ = ["Phase", "balanced", "lecture_copies", "lecture_cost"]


def lecture_copies(steps: int) -> int:
    r"""Return :math:`\sqrt T`, as the lecture has it without constants."""
    return round(sqrt(integer(steps, "steps", least=1)))


def lecture_cost(steps: int, *, t_init: Number, t_update: Number, t_query: Number) -> float:
    r"""Return :math:`t_i/\sqrt T + \sqrt T\,t_u + t_q`, as the lecture has it without constants.

    Examples
    --------
    >>> round(lecture_cost(10_000, t_init=1.0, t_update=1e-6, t_query=1e-6), 9)
    0.010101
    """
    times = {"t_init": t_init, "t_update": t_update, "t_query": t_query}
    t_i, t_u, t_q = (float(at_least(t, name, 0)) for name, t in times.items())
    root = sqrt(integer(steps, "steps", least=1))
    return t_i / root + root * t_u + t_q


class Phase(NamedTuple):
    """A phase's length and what a step of it costs, up to logarithms and constants."""

    steps: float
    cost: float


def balanced(vertices: int, edges: int) -> Phase:
    r"""Return the lecture's best phase for the min-cut, and its cost per step.

    With :math:`t_{init} = |E|`, :math:`t_{update} = \sqrt{|V|}` and :math:`t_{query} = 1` for an
    oblivious algorithm, :math:`t_{init}/\sqrt T + \sqrt T\, t_{update} + t_{query}` is least at
    :math:`T = |E| / \sqrt{|V|}` and of order :math:`\sqrt{|E|}\,|V|^{1/4}`, where computing anew
    costs :math:`|E|`. That counts :math:`k = \sqrt T` copies; a proof takes about a hundred times
    as many (`sourdine.adaptive.robust.proof.copies_needed`).

    The lecture adds that nothing better is known. By now it is: deterministic, hence robust, exact
    algorithms take :math:`n^{o(1)}` for an update while the cut is small, up to
    :math:`(\log n)^{o(1)}` [1]_ and :math:`2^{\Theta(\log^{3/4 - c} n)}` [2]_; and an oblivious
    :math:`1 + o(1)` estimate in :math:`n^{o(1)}` [3]_ makes this construction cost
    :math:`\sqrt{|E|}\,n^{o(1)}`.

    References
    ----------
    .. [1] W. Jin, X. Sun, M. Thorup, "Fully dynamic min-cut of superconstant size in subpolynomial
       time", SODA 2024.
    .. [2] A. El-Hayek, M. Henzinger, J. Li, "Deterministic and exact fully-dynamic minimum cut of
       superpolylogarithmic size in subpolynomial time", arXiv:2512.13105, 2025.
    .. [3] A. El-Hayek, M. Henzinger, J. Li, "Fully dynamic approximate minimum cut in subpolynomial
       time per operation", SODA 2025.

    Examples
    --------
    >>> balanced(10_000, 1_000_000)
    Phase(steps=10000.0, cost=10000.0)
    """
    size = integer(vertices, "vertices", least=1), integer(edges, "edges", least=1)
    return Phase(size[1] / sqrt(size[0]), sqrt(size[1]) * size[0] ** 0.25)
