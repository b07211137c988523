"""What figures 11 to 17 share: the algorithms for several quantiles, and their risks on [0, 1].

The report's data lie in [0, 1) and its algorithms draw real numbers; here all of them draw from
:math:`2^{20}` ticks. Neighbours replace a record, so n is public, unless ``relation`` says other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.independent import IndExp, RecExp
from sourdine.central.quantiles.joint import JointExp
from sourdine.central.quantiles.methods import chosen
from sourdine.central.quantiles.methods import made as made_by
from sourdine.central.quantiles.points import Points
from sourdine_lab.experiments.audibert.recexp_unscaled import RecExpUnscaled
from sourdine_lab.settings import DataLaw, Setting, integer, law, word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row

    Real = NDArray[np.float64]

__all__ = [
    "AS_DRAWN", "CELLS", "NORMS", "N", "algorithm", "common", "data_sets", "largest", "on_grid",
    "orders", "risks", "squares", "values",
]  # fmt: skip

N = 100
"""The records of the report's data sets."""
CELLS = 1 << 20
AS_DRAWN = "indexp as drawn"
"""IndExp's quantiles left in the order in which they were drawn, not sorted."""


def common(of: str) -> tuple[Setting, ...]:
    """Return the settings that figures 11 to 14 share."""
    return (
        Setting("n", N, integer(least=2), "records in a data set"),
        Setting("law", of, law(0, 1), "the law of the records"),
        Setting("relation", "substitute", word("substitute", "add_remove"),
                "what neighbours are; the report does not say"),
        Setting("cells", CELLS, integer(least=2), "possible answers between 0 and 1"),
    )  # fmt: skip


def algorithm(
    method: str,
    q: Sequence[float],
    epsilon: float,
    *,
    n: int = N,
    cells: int = CELLS,
    relation: str = "substitute",
) -> QuantileMechanism:
    """Return an algorithm; ``today`` is the one that Sourdine chooses."""
    options: dict[str, Any] = {
        "epsilon": epsilon, "q": q, "cells": cells, "relation": relation, "rows": 1
    }  # fmt: skip
    replaced = relation == "substitute"
    if method == "today":
        name = chosen(len(q), cells, epsilon / 2 if replaced else epsilon, n, substitutes=replaced)
        return made_by(name, options, delta=0, records=n)  # type: ignore[arg-type]
    kinds: dict[str, type[QuantileMechanism]] = {
        "indexp": IndExp, AS_DRAWN: IndExp, "jointexp": JointExp, "recexp": RecExp,
        "recexp unscaled": RecExpUnscaled,
    }  # fmt: skip
    return kinds[method](**options)


def orders(m: int) -> list[float]:
    """Return the m - 1 orders 1/m, 2/m and so on."""
    return [j / m for j in range(1, m)]


def on_grid(data: Real, cells: int = CELLS) -> Points:
    """Return records of [0, 1] on the grid."""
    return Points.of(np.minimum((data * cells).astype(np.int64), cells - 1), cells)


def values(method: str, mechanism: QuantileMechanism, points: Points, source: Source) -> Real:
    """Draw the quantiles once."""
    drawn = mechanism.one(points, source)
    ticks = np.asarray(drawn) if method == AS_DRAWN else mechanism.published(drawn)
    return (ticks + 0.5) / mechanism.cells


def squares(apart: Real) -> float:
    r"""Return :math:`\|d\|_2^2`."""
    return float(apart @ apart)


def largest(apart: Real) -> float:
    r"""Return :math:`\|d\|_\infty`."""
    return float(np.abs(apart).max())


NORMS = {"squares": squares, "largest": largest}


def data_sets(part: Part) -> Callable[[], Real]:
    """Return what gives the records of a run.

    Fixed records are those of ``data_seed``, the same in all parts; fresh ones are the part's own.
    """
    of, n = DataLaw.read(part["law"]), part["n"]
    if part["data"] == "fixed":
        kept = of.draw(np.random.default_rng(part["data_seed"]), n)
        return lambda: kept
    rng = part.rng
    return lambda: of.draw(rng, n)


def risks(part: Part, q: Sequence[float], norm: Callable[[Real], float]) -> Iterator[Row]:
    """Yield each method's mean distance from the quantiles of the law, all on the same data.

    ``no privacy`` is the sample's own quantiles.
    """
    runs, source, data, cells = part["runs"], part.source, data_sets(part), part["cells"]
    truth = DataLaw.read(part["law"]).quantile(q)
    made_of = {
        name: algorithm(
            name, q, part["epsilon"], n=part["n"], cells=cells, relation=part["relation"]
        )
        for name in part["methods"]
    }
    found: dict[str, list[float]] = {name: [] for name in ("no privacy", *made_of)}
    for _ in range(runs):
        x = data()
        points = on_grid(x, cells)
        found["no privacy"].append(norm(np.quantile(x, q) - truth))
        for name, mechanism in made_of.items():
            found[name].append(norm(values(name, mechanism, points, source) - truth))
    for name, each in found.items():
        deviation = float(np.std(each, ddof=1)) / runs**0.5
        yield {"method": name, "risk": float(np.mean(each)), "deviation": deviation, "runs": runs}
