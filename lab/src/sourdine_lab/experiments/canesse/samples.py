"""Figures 4 and 5 are one experiment on two laws: the error of all deciles against n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiments.canesse import deciles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = deciles.Floats

__all__ = ["FULL", "METHODS", "QUICK", "TRUTHS", "draw_panels", "errors", "fit", "parts"]

METHODS = ("laplace", "histogram as listed", "histogram", "inverse sensitivity")
TRUTHS = ("sample", "law")
COMPARED = ("histogram", "inverse sensitivity")
FULL = {"sizes": list(range(100, 5001, 100)), "sets": 50}
"""The report's sizes and its number of data sets."""
QUICK = {"sizes": [100, 200, 500, 1000, 2000, 5000], "sets": 20}


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    return [{"n": n, "sets": settings["sets"]} for n in settings["sizes"]]


def errors(
    part: Part, draw: Callable[[np.random.Generator, int], Floats], law: Floats, width: float
) -> Iterator[Row]:
    """Yield each method's mean error over the data sets, to both truths.

    Parameters
    ----------
    part
        Its size ``n`` and its number of data sets, ``sets``.
    draw
        From chance and a size to a data set, as fractions of the public range.
    law
        The deciles of the law, as fractions too.
    width
        The range's width, in the unit in which the error is given.
    """
    rng, source = part.rng, part.source
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(part["sets"]):
        x = draw(rng, part["n"])
        truths = dict(zip(TRUTHS, (deciles.sample_deciles(x), law), strict=True))
        for method in METHODS:
            answers = _answers(method, x, source)
            for name, truth in truths.items():
                away = width * deciles.error(answers, truth)
                found.setdefault((method, name), []).append(away)
    for (method, name), values in found.items():
        yield {"n": part["n"], "method": method, "truth": name, **_summary(np.array(values))}


def _answers(method: str, x: Floats, source: Source) -> Floats:
    if method.startswith("histogram"):
        return deciles.histogram(x, source, monotone=method == "histogram")
    return (deciles.naive if method == "laplace" else deciles.inverse_sensitivity)(x, source)


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


def draw_panels(table: Table, *, law: str, unit: str) -> tuple[Any, list[Any]]:
    """Draw the methods against n, a panel for each truth, and write their powers of n."""
    figure, axes = look.panels(2, width=11, height=4.6)
    for one, truth in zip(axes, TRUTHS, strict=True):
        rows = table.where(truth=truth)
        for method, line in rows.by("method"):
            listed = method == "histogram as listed"
            look.band(
                one, line["n"], line["error"], line["standard_error"], dashed=listed,
                method="histogram" if listed else method, label=_name(method),
            )  # fmt: skip
        label = f"root mean square error{unit}" if one is axes[0] else ""
        look.titled(
            one, f"{law}, ε = 1: against the deciles of the {truth}", x="records n", y=label
        )  # fmt: skip
        powers = [f"{method}: {fit(rows.where(method=method)).words()}" for method in COMPARED]
        look.note(one, "\n".join(["our fits", *powers]), 0.02, 0.16)
    return figure, axes


def _name(method: str) -> str:
    names = {
        "laplace": "Laplace noise on the decile",
        "histogram": "histogram, Lap(2/ε)",
        "histogram as listed": "histogram, Lap(4/ε) as listed",
    }
    return names.get(method, method)
