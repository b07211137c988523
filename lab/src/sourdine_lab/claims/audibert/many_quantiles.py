"""Rows A8 and A9: the privacy of independent and of joint draws, and the work of a joint one."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import log2
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sourdine.audit import worst_case
from sourdine.central.quantiles.independent import IndExp
from sourdine.central.quantiles.joint import JointExp
from sourdine_lab.claims.audibert.joint_passes import all_tuples, passes
from sourdine_lab.claims.claim import Claim, Finding, Instead

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import QuantileMechanism

Passes: TypeAlias = "Callable[[NDArray[np.float64], NDArray[np.float64], float], tuple[float, int]]"
"""From the gaps' widths, the targets and the decay to the sum of all weights and the work."""


def most_lost(small: QuantileMechanism, large: QuantileMechanism, x: list[int]) -> float:
    """Return the worst loss of exact laws: over all small inputs, and beside one telling input."""
    inputs = [list(t) for k in range(3) for t in combinations_with_replacement(range(4), k)]
    return max(worst_case(small, inputs).epsilon, worst_case(large, [x]).epsilon)


def independent(part: Callable[[int], float]) -> Finding:
    """Draw each of two quantiles with a part of epsilon = 1."""
    small, large = (
        IndExp(epsilon=2 * part(2), q=[0.5, 0.51], cells=cells, relation="substitute")
        for cells in (4, 60)
    )
    loss = most_lost(small, large, [0, 0, 2, 59])
    return Finding(loss <= 1, loss, words=f"{part(2):.2f} a quantile: loss {loss:.3f}, claimed 1")


def joint(factor: float) -> Finding:
    """Draw the median jointly, with an exponent so many times the printed one."""
    small, large = (
        JointExp(epsilon=factor, q=[0.5], cells=cells, relation="substitute") for cells in (4, 200)
    )
    loss = most_lost(small, large, [0, 197, 197, 199])
    return Finding(loss <= 1, loss, words=f"exponent times {factor:g}: loss {loss:.3f}, claimed 1")


def work(way: Passes) -> Finding:
    """Sum the weights of all triples, for 20 and for 40 records; the work must keep its order."""
    m, counted, right = 3, [], True
    for n in (20, 40):
        edges = np.sort(np.random.default_rng(n).random(n))
        widths = np.diff(edges, prepend=0.0, append=1.0)
        t = np.full(m + 1, n / (m + 1))
        total, operations = way(widths, t, 0.25)
        right &= abs(total / all_tuples(widths, t, 0.25)[0] - 1) < 1e-9
        counted.append(operations / (m * n * log2(n) + m * m * n))
    growth = counted[1] / counted[0]
    words = (
        f"sums agree: {right}; from n = 20 to 40 the work grows {growth:.2f} times as much as "
        f"mn log n + m²n"
    )
    return Finding(right and growth < 1.25, growth, words=words)


CLAIMS = (
    Claim(
        id="A8",
        statement="IndExp, which the report runs and does not write down, read as m draws at "
        "epsilon/m each by a QExp that is as private as it says (the printed one spends twice "
        "that, A5), is epsilon-private (rival: a tenth more a draw)",
        printed=lambda m: 1 / m,
        instead=lambda m: 1.1 / m,
        other=Instead.RIVAL,
        check=independent,
        ours=True,
    ),
    Claim(
        id="A9",
        statement="JointExp sums over all m-tuples in O(mn log n + m²n) steps, not O(n^m)",
        printed=passes,
        instead=all_tuples,
        other=Instead.RIVAL,
        check=work,
    ),
    Claim(
        id="A9b",
        statement="the joint draw is epsilon-private",
        printed=1.0,
        instead=1.1,
        other=Instead.RIVAL,
        check=joint,
    ),
)
