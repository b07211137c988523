"""Figure 8: the risk of one private quartile against the number of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.one_quantile import common, curves, risks, who
from sourdine_lab.settings import Setting, integers, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

STATED = 100.0


def _sizes(count: int) -> list[int]:
    return [round(n) for n in np.geomspace(10, 10_000, count)]


def parts(settings: Settings) -> list[Settings]:
    """One part a number of values."""
    own = {name: settings[name] for name in ("top", "epsilon", "runs")}
    return [{"n": n, **own} for n in settings["sizes"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table, settings: Settings) -> Any:
    """Draw all risks against n."""
    figure, (axes,) = look.panels(1, width=8.2, height=5)
    curves(axes, table, "n", settings)
    look.logarithmic(axes)
    if not EXPERIMENT.other(settings, quick=True).keys() - {"sizes", "runs", "data", "methods"}:
        look.said(axes, STATED, "stated for QExp: of this order; for which n is not said")
    look.titled(
        axes, f"Risk of a private {who(settings)}, Λ = {settings['top']:g} times "
        f"{settings['law']}, ε = {settings['epsilon']:g}", x="values n",
        y="mean squared distance to the law's quantile",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-8",
    ids=("A7",),
    title="Risk of one private quantile against the number of values",
    question=(
        "How far is a private first quartile from the truth as values are added, and for how many "
        "is the risk of QExp of the order of 100?"
    ),
    stated="the values of the curve of QExp are of the order of 10²; the range of n is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilon", 0.2, number(above=0), "privacy loss of the quantile", split=True),
        Setting("sizes", _sizes(16), integers(least=1), "values n; the report's range is not given",
                quick=_sizes(7), split=True),
        Setting("top", 200, number(above=0), "Λ: values lie between 0 and it", split=True),
        *common(4000, 300),
    ),
)  # fmt: skip
