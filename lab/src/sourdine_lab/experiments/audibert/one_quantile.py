"""The quadratic risk of one private quantile, for the methods of figures 8, 9 and 10.

Each run draws n values between 0 and Λ, and one estimate of their first quartile by every method;
the risk is the mean square of its distance to the law's quartile, or to the sample's. The report
draws values "for each n": once or in each of its runs, it does not say. Both can be had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.methods import chosen
from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace, order_statistic
from sourdine.central.quantiles.piecewise_laplace import PiecewiseLaplace
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.settings import DataLaw, Setting, integer, law, number, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

__all__ = ["CELLS", "DEFAULTS", "LARGE", "ORDER", "common", "curves", "made", "risks", "who"]

ORDER = 0.25
CELLS = (1 << 12) + 1
DELTA = 1e-5
LARGE = 4.0
"""From this epsilon on Sourdine itself draws one quantile by another law, under substitution."""
SHOWN = {
    "gaussian": ("gaussian", "Gaussian", False),
    "laplace": ("laplace", "Laplace", False),
    "gaussian clamped": ("gaussian", "Gaussian, clamped", True),
    "laplace clamped": ("laplace", "Laplace, clamped", True),
    "qexp": ("qexp", "QExp", False),
    "qexp as printed": ("qexp", "QExp as printed", True),
    "today": ("today", "Sourdine", False),
    "no privacy": ("no privacy", "the sample's quantile", False),
}
"""The colour of each method, its name on the figure, and whether its line is dashed."""
DEFAULTS: dict[str, Any] = {
    "order": ORDER, "delta": DELTA, "law": "uniform(0,1)", "cells": CELLS,
    "relation": "substitute", "data": "fresh", "methods": list(SHOWN),
}  # fmt: skip


def common(runs: int, quick: int) -> tuple[Setting, ...]:
    """Return the settings that figures 8, 9 and 10 share."""
    default = DEFAULTS
    return (
        Setting("order", default["order"], number(above=0, below=1), "order of the quantile"),
        Setting("law", default["law"], law(0, 1), "the law of the values, as fractions of Λ"),
        Setting("delta", default["delta"], number(above=0, below=1), "of Gaussian noise"),
        Setting("runs", runs, integer(least=2), "runs a point; the report has 150", quick=quick,
                split=True),
        Setting("data", default["data"], word("fresh", "fixed"),
                "fresh values in each run, or the same in all runs of a point"),
        Setting("relation", default["relation"], word("substitute", "add_remove"),
                "what neighbours are"),
        Setting("methods", default["methods"], words(*SHOWN), "the methods that are compared"),
        Setting("cells", default["cells"], integer(least=2), "possible answers between 0 and Λ"),
    )  # fmt: skip


def made(
    epsilon: float,
    *,
    order: float = ORDER,
    delta: float = DELTA,
    cells: int = CELLS,
    relation: str = "substitute",
) -> dict[str, QuantileMechanism]:
    """Return what draws, by method.

    The printed weight, with epsilon in the exponent, is that of twice the epsilon where a record is
    replaced, and of 2 max(p, 1 - p) epsilon where it is added or removed.
    """
    options: dict[str, Any] = {"q": [order], "cells": cells, "relation": relation}
    replaced = relation == "substitute"
    printed = 2 if replaced else 2 * max(order, 1 - order)
    methods: dict[str, QuantileMechanism] = {
        "qexp": QExp(epsilon=epsilon, **options),
        "qexp as printed": QExp(epsilon=printed * epsilon, **options),
        "laplace clamped": NaiveLaplace(epsilon=epsilon, **options),
        "gaussian clamped": NaiveGaussian(epsilon=epsilon, delta=delta, **options),
    }
    per_record = epsilon / 2 if replaced else epsilon
    if chosen(1, cells, per_record, None, substitutes=replaced) == "piecewise_laplace":
        methods["today"] = PiecewiseLaplace(epsilon=epsilon, **options)
    return methods


def risks(part: Part) -> Iterator[Row]:
    """Yield the risk of each method at one n, one Λ (``top``) and one epsilon."""
    n, top, epsilon, runs = part["n"], part["top"], part["epsilon"], part["runs"]
    cells, order, law = part["cells"], part["order"], DataLaw.read(part["law"])
    methods = made(
        epsilon, order=order, delta=part["delta"], cells=cells, relation=part["relation"]
    )
    noise = {
        "laplace": 2 * float(methods["laplace clamped"].scale) ** 2,  # type: ignore[attr-defined]
        "gaussian": float(methods["gaussian clamped"].variance),  # type: ignore[attr-defined]
    }
    asked = set(part["methods"])
    methods = {name: mechanism for name, mechanism in methods.items() if name in asked}
    drawn = _drawn(part, methods, law)
    tick = top / (cells - 1)
    sample, truth = tick * drawn["no privacy"], float(law.quantile(order)) * top
    for name in (*drawn, *noise):
        if name not in asked:
            continue
        variance = noise.get(name, 0.0) * tick**2
        estimate = tick * drawn[name] if name in drawn else sample
        to_law, own = ((estimate - true) ** 2 + variance for true in (truth, sample))
        yield {
            "n": n, "top": top, "epsilon": epsilon, "method": name, "runs": runs,
            "risk": to_law.mean(), "error": to_law.std(ddof=1) / runs**0.5,
            "sample_risk": own.mean(), "sample_error": own.std(ddof=1) / runs**0.5,
        }  # fmt: skip


def _drawn(part: Part, methods: dict[str, QuantileMechanism], law: DataLaw) -> dict[str, Any]:
    """Return each method's estimates, in ticks, and the sample's own quantile."""
    n, runs, cells, rng, source = part["n"], part["runs"], part["cells"], part.rng, part.source
    drawn = {name: np.empty(runs) for name in ("no privacy", *methods)}
    for i in range(runs):
        if i == 0 or part["data"] == "fresh":
            ticks = np.floor(law.draw(rng, n) * cells)
            points = Points.of(np.minimum(ticks, cells - 1), cells)
        drawn["no privacy"][i] = order_statistic(points, int(np.ceil(part["order"] * n)))
        for name, mechanism in methods.items():
            drawn[name][i] = mechanism.published(mechanism.one(points, source))[0]
    return drawn


def who(settings: Settings) -> str:
    """Return what is estimated, as ``first quartile``."""
    names = {0.25: "first quartile", 0.5: "median", 0.75: "third quartile"}
    return names.get(settings["order"], f"quantile of order {settings['order']:g}")


def curves(axes: Any, table: Table, x: str, settings: Settings, *, of: str = "") -> None:
    """Draw the risk of every method against a column; ``of="sample_"`` to the sample's quantile."""
    for name, (tint, label, dashed) in SHOWN.items():
        rows = table.where(method=name)
        if len(rows) and rows[f"{of}risk"].any():
            own = f"the sample's {who(settings)}".replace("first quartile", "quartile")
            look.band(
                axes, rows[x], rows[f"{of}risk"], rows[f"{of}error"], method=tint,
                label=own if name == "no privacy" else label, dashed=dashed,
            )  # fmt: skip
    if settings["data"] == "fixed":
        look.note(axes, "one data set a point", 0.02, 0.06)
