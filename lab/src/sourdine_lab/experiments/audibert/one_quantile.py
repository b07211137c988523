"""The quadratic risk of one private quantile, for the methods of figures 8, 9 and 10.

Each run draws n values, uniform on [0, Λ), and one estimate of their first quartile by every
method; the risk is the mean square of its distance to the law's quartile, Λ/4, or to the sample's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace, order_statistic
from sourdine.central.quantiles.piecewise_laplace import PiecewiseLaplace
from sourdine.central.quantiles.points import Points
from sourdine_lab import look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table

__all__ = ["CELLS", "LARGE", "ORDER", "curves", "made", "risks"]

ORDER = 0.25
CELLS = (1 << 12) + 1
DELTA = 1e-5
LARGE = 4.0
"""From this epsilon on Sourdine itself draws one quantile by another law."""
SHOWN = {
    "gaussian": ("gaussian", "Gaussian", False),
    "laplace": ("laplace", "Laplace", False),
    "gaussian clamped": ("gaussian", "Gaussian, clamped", True),
    "laplace clamped": ("laplace", "Laplace, clamped", True),
    "qexp": ("qexp", "QExp", False),
    "qexp as printed": ("qexp", "QExp as printed", True),
    "today": ("today", "Sourdine", False),
    "no privacy": ("no privacy", "the sample's quartile", False),
}
"""The colour of each method, its name on the figure, and whether its line is dashed."""


def made(epsilon: float) -> dict[str, QuantileMechanism]:
    """Return what draws, by method; the printed weight is that of twice the epsilon."""
    common: dict[str, Any] = {"q": [ORDER], "cells": CELLS, "relation": "substitute"}
    methods: dict[str, QuantileMechanism] = {
        "qexp": QExp(epsilon=epsilon, **common),
        "qexp as printed": QExp(epsilon=2 * epsilon, **common),
        "laplace clamped": NaiveLaplace(epsilon=epsilon, **common),
        "gaussian clamped": NaiveGaussian(epsilon=epsilon, delta=DELTA, **common),
    }
    if epsilon >= LARGE:
        methods["today"] = PiecewiseLaplace(epsilon=epsilon, **common)
    return methods


def risks(part: Part) -> Iterator[Row]:
    """Yield the risk of each method at one n, one Λ (``top``) and one epsilon."""
    n, top, epsilon, runs = part["n"], part["top"], part["epsilon"], part["runs"]
    rng, source, methods = part.rng, part.source, made(epsilon)
    drawn = {name: np.empty(runs) for name in ("no privacy", *methods)}
    for i in range(runs):
        points = Points.of(np.floor(rng.random(n) * CELLS), CELLS)
        drawn["no privacy"][i] = order_statistic(points, int(np.ceil(ORDER * n)))
        for name, mechanism in methods.items():
            drawn[name][i] = mechanism.published(mechanism.one(points, source))[0]
    tick = top / (CELLS - 1)
    noise = {
        "laplace": 2 * float(methods["laplace clamped"].scale) ** 2,  # type: ignore[attr-defined]
        "gaussian": float(methods["gaussian clamped"].variance),  # type: ignore[attr-defined]
    }
    sample = tick * drawn["no privacy"]
    for name in (*drawn, *noise):
        variance = noise.get(name, 0.0) * tick**2
        estimate = tick * drawn[name] if name in drawn else sample
        law, own = ((estimate - truth) ** 2 + variance for truth in (ORDER * top, sample))
        yield {
            "n": n, "top": top, "epsilon": epsilon, "method": name, "runs": runs,
            "risk": law.mean(), "error": law.std(ddof=1) / runs**0.5,
            "sample_risk": own.mean(), "sample_error": own.std(ddof=1) / runs**0.5,
        }  # fmt: skip


def curves(axes: Any, table: Table, x: str, *, of: str = "") -> None:
    """Draw the risk of every method against a column; ``of="sample_"`` to the sample's quartile."""
    for name, (tint, label, dashed) in SHOWN.items():
        rows = table.where(method=name)
        if len(rows) and rows[f"{of}risk"].any():
            look.band(
                axes, rows[x], rows[f"{of}risk"], rows[f"{of}error"], method=tint, label=label,
                dashed=dashed,
            )  # fmt: skip
