"""Figures 4 and 5 are one experiment on two laws: the error of all deciles against n."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.noise import SeededSource
from sourdine_lab import look
from sourdine_lab.experiments.canesse import deciles
from sourdine_lab.settings import DataLaw, Setting, integer, integers, number, words
from sourdine_lab.settings import bounds as bounds_kind
from sourdine_lab.settings import law as law_kind
from sourdine_lab.settings import orders as orders_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = deciles.Floats

__all__ = [
    "DRAWN",
    "METHODS",
    "TRUTHS",
    "draw_panels",
    "errors",
    "fit",
    "fractions",
    "parts",
    "settings",
]

METHODS = ("laplace", "histogram as listed", "histogram", "inverse sensitivity")
DRAWN = "histogram of figure 4"
"""With half of the listing's noise, Lap(1/epsilon) and Lap(2/epsilon): what figure 4 shows."""
TRUTHS = ("sample", "law")
COMPARED = ("histogram", DRAWN, "inverse sensitivity")


def settings(
    law: str, bounds: tuple[float, float], meaning: str, methods: Sequence[str] = METHODS
) -> tuple[Setting, ...]:
    """Return the settings of figure 4 or 5, which differ in the law and in the public bounds."""
    sizes = list(range(100, 5001, 100))
    return (
        Setting("epsilon", 1, number(above=0), "privacy loss of all quantiles together"),
        Setting("law", law, law_kind(), "the law of the records"),
        Setting("bounds", list(bounds), bounds_kind(), meaning),
        Setting("orders", [k / 10 for k in range(1, 10)], orders_kind(),
                "orders of the quantiles"),
        Setting("sizes", sizes, integers(least=10), "records in a data set",
                quick=[100, 200, 500, 1000, 2000, 5000], split=True),
        Setting("runs", 50, integer(least=2), "data sets for each size", quick=20, split=True),
        Setting("methods", list(methods), words(*METHODS, DRAWN), "the methods that are compared"),
    )  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    return [{"n": n, "sets": settings["runs"]} for n in settings["sizes"]]


def errors(part: Part) -> Iterator[Row]:
    """Yield each method's mean error over the data sets, to both truths."""
    rng, source, further = part.rng, part.source, SeededSource(part.key ^ 1)
    law, orders = DataLaw.read(part["law"]), [Fraction(str(q)) for q in part["orders"]]
    low, high = part["bounds"]
    population = fractions(law.quantile([float(q) for q in orders]), part["bounds"])
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(part["sets"]):
        x = fractions(law.draw(rng, part["n"]), part["bounds"])
        truths = dict(zip(TRUTHS, (deciles.sample_deciles(x, orders), population), strict=True))
        for method in part["methods"]:
            chance = further if method == DRAWN else source
            answers = _answers(method, x, chance, epsilon=part["epsilon"], orders=orders)
            for name, truth in truths.items():
                away = (high - low) * deciles.error(answers, truth)
                found.setdefault((method, name), []).append(away)
    for (method, name), values in found.items():
        yield {"n": part["n"], "method": method, "truth": name, **_summary(np.array(values))}


def fractions(x: Floats, bounds: Sequence[float]) -> Floats:
    """Return values as fractions of the public range, cut off at its ends."""
    low, high = bounds
    return np.clip((x - low) / (high - low), 0, np.nextafter(1, 0))


def _answers(
    method: str, x: Floats, source: Source, *, epsilon: float, orders: Sequence[Fraction]
) -> Floats:
    if method == DRAWN:
        return deciles.histogram(x, source, epsilon=2 * epsilon, monotone=False, orders=orders)
    if method.startswith("histogram"):
        return deciles.histogram(
            x, source, epsilon=epsilon, monotone=method == "histogram", orders=orders
        )
    draw = deciles.naive if method == "laplace" else deciles.inverse_sensitivity
    return draw(x, source, epsilon=epsilon, orders=orders)


def _summary(values: Floats) -> Row:
    """Return mean and standard error, and the deviation of one data set's logarithm."""
    return {
        "sets": len(values),
        "error": float(values.mean()),
        "standard_error": float(np.std(values, ddof=1)) / len(values) ** 0.5,
        "log_deviation": float(np.std(np.log(values), ddof=1)),
    }


def fit(table: Table) -> deciles.Fit:
    """Return the power of n through the mean errors, with the standard error of its exponent."""
    return deciles.Fit(table["n"], table["error"], table["standard_error"] / table["error"])


def draw_panels(table: Table, settings: Settings, *, unit: str = "") -> tuple[Any, list[Any]]:
    """Draw the methods against n, a panel for each truth, and write their powers of n."""
    figure, axes = look.panels(2, width=11, height=4.6)
    for one, truth in zip(axes, TRUTHS, strict=True):
        rows = table.where(truth=truth)
        for method, line in rows.by("method"):
            look.band(
                one, line["n"], line["error"], line["standard_error"],
                method="histogram" if method.startswith("histogram") else method,
                label=_name(method), dashed=method in ("histogram as listed", DRAWN),
            )  # fmt: skip
        label = f"root mean square error{unit}" if one is axes[0] else ""
        look.titled(
            one, f"{settings['law']}, ε = {settings['epsilon']:g}: against the quantiles of the "
            f"{truth}", x="records n", y=label,
        )  # fmt: skip
        fitted = [method for method in COMPARED if method in settings["methods"]]
        if fitted and len(settings["sizes"]) > 1:
            powers = [f"{method}: {fit(rows.where(method=method)).words()}" for method in fitted]
            look.note(one, "\n".join(["our fits", *powers]), 0.02, 0.16)
    return figure, axes


def _name(method: str) -> str:
    names = {
        "laplace": "Laplace noise on the decile",
        "histogram": "histogram, Lap(2/ε)",
        "histogram as listed": "histogram, Lap(4/ε) as listed",
        DRAWN: "histogram, Lap(1/ε) and Lap(2/ε)",
    }
    return names.get(method, method)
