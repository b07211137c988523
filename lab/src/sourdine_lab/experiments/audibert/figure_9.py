"""Figure 9: the risk of one private quartile against the bound of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.one_quantile import common, curves, risks, who
from sourdine_lab.settings import Setting, integer, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

STATED = 90.0


def _tops(count: int) -> list[float]:
    return [round(float(top), 3) for top in np.geomspace(10, 2000, count)]


def parts(settings: Settings) -> list[Settings]:
    """One part a bound."""
    own = {name: settings[name] for name in ("n", "epsilon", "runs")}
    return [{"top": top, **own} for top in settings["tops"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table, settings: Settings) -> Any:
    """Draw all risks against the bound."""
    figure, (axes,) = look.panels(1, width=8.2, height=5)
    curves(axes, table, "top", settings)
    look.logarithmic(axes)
    if not EXPERIMENT.other(settings, quick=True).keys() - {"tops", "runs", "data", "methods"}:
        look.said(axes, STATED, "stated for QExp: of this order; for which Λ is not said")
    look.titled(
        axes, f"Risk of a private {who(settings)}, {settings['n']} values, Λ times "
        f"{settings['law']}, ε = {settings['epsilon']:g}",
        x="bound Λ of the data", y="mean squared distance to the law's quantile",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-9",
    ids=("A7",),
    title="Risk of one private quantile against the bound of the data",
    question=(
        "How does the risk of a private first quartile grow with the range of the data, and is any "
        "one number the order of such a curve?"
    ),
    stated="the values of the curve of QExp are of the order of 90; the range of Λ is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilon", 0.2, number(above=0), "privacy loss of the quantile", split=True),
        Setting("tops", _tops(10), numbers(above=0), "bounds Λ; the report's range is not given",
                quick=_tops(5), split=True),
        Setting("n", 1000, integer(least=1), "values in a data set", split=True),
        *common(4000, 300),
    ),
)  # fmt: skip
