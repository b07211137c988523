"""What figures 11 to 17 share: the algorithms for several quantiles, and their risks on [0, 1].

The report's data lie in [0, 1) and its algorithms draw real numbers; here all of them draw from
:math:`2^{20}` ticks. Neighbours replace a record, so n is public. The risk of the report keeps one
data set; here every run draws data of its own, so that a curve does not depend on one sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.independent import IndExp, RecExp
from sourdine.central.quantiles.joint import JointExp
from sourdine.central.quantiles.methods import chosen, made
from sourdine.central.quantiles.points import Points
from sourdine_lab.experiments.audibert.recexp_unscaled import RecExpUnscaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.noise import Source
    from sourdine_lab.experiment import Row

    Real = NDArray[np.float64]

__all__ = [
    "AS_DRAWN", "CELLS", "N", "algorithm", "largest", "on_grid", "orders", "risks", "squares",
    "values",
]  # fmt: skip

N = 100
"""The records of the report's data sets."""
CELLS = 1 << 20
AS_DRAWN = "indexp as drawn"
"""IndExp's quantiles left in the order in which they were drawn, not sorted."""


def algorithm(method: str, q: Sequence[float], epsilon: float) -> QuantileMechanism:
    """Return an algorithm under substitution; ``today`` is the one that Sourdine chooses."""
    common = {"epsilon": epsilon, "q": q, "cells": CELLS, "relation": "substitute", "rows": 1}
    if method == "today":
        name = chosen(len(q), CELLS, epsilon / 2, N, substitutes=True)
        return made(name, common, delta=0, records=N)  # type: ignore[arg-type]
    kinds: dict[str, type[QuantileMechanism]] = {
        "indexp": IndExp, AS_DRAWN: IndExp, "jointexp": JointExp, "recexp": RecExp,
        "recexp unscaled": RecExpUnscaled,
    }  # fmt: skip
    return kinds[method](**common)  # type: ignore[arg-type]


def orders(m: int) -> list[float]:
    """Return the m - 1 orders 1/m, 2/m and so on."""
    return [j / m for j in range(1, m)]


def on_grid(data: Real) -> Points:
    """Return records of [0, 1) on the grid."""
    return Points.of((data * CELLS).astype(np.int64), CELLS)


def values(method: str, mechanism: QuantileMechanism, points: Points, source: Source) -> Real:
    """Draw the quantiles once."""
    drawn = mechanism.one(points, source)
    ticks = np.asarray(drawn) if method == AS_DRAWN else mechanism.published(drawn)
    return (ticks + 0.5) / CELLS


def squares(apart: Real) -> float:
    r"""Return :math:`\|d\|_2^2`."""
    return float(apart @ apart)


def largest(apart: Real) -> float:
    r"""Return :math:`\|d\|_\infty`."""
    return float(np.abs(apart).max())


def risks(
    methods: Sequence[str],
    q: Sequence[float],
    epsilon: float,
    *,
    truth: Real,
    data: Callable[[], Real],
    norm: Callable[[Real], float],
    runs: int,
    source: Source,
) -> Iterator[Row]:
    """Yield each method's mean distance from the quantiles of the law, all on the same data.

    ``no privacy`` is the sample's own quantiles.
    """
    made_of = {name: algorithm(name, q, epsilon) for name in methods}
    found: dict[str, list[float]] = {name: [] for name in ("no privacy", *methods)}
    for _ in range(runs):
        x = data()
        points = on_grid(x)
        found["no privacy"].append(norm(np.quantile(x, q) - truth))
        for name, mechanism in made_of.items():
            found[name].append(norm(values(name, mechanism, points, source) - truth))
    for name, each in found.items():
        deviation = float(np.std(each, ddof=1)) / runs**0.5
        yield {"method": name, "risk": float(np.mean(each)), "deviation": deviation, "runs": runs}
