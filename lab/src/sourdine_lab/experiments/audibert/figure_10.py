"""Figure 10: the risk of one private quartile of ten values against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.one_quantile import LARGE, common, curves, risks, who
from sourdine_lab.settings import Setting, integer, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def _epsilons(count: int) -> list[float]:
    near = [float(f"{e:.3g}") for e in np.geomspace(0.05, 64, count)]
    return sorted({*near, LARGE})


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon."""
    own = {name: settings[name] for name in ("n", "top", "runs")}
    return [{"epsilon": e, **own} for e in settings["epsilons"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    yield from risks(part)


def draw(table: Table, settings: Settings) -> Any:
    """Draw all risks against epsilon."""
    figure, (left, right) = look.panels(2, width=10, height=4.8)
    curves(left, table, "epsilon", settings)
    curves(right, table, "epsilon", settings, of="sample_")
    short = who(settings).replace("first quartile", "quartile")
    for axes, whose in ((left, "law's"), (right, "sample's")):
        look.logarithmic(axes)
        look.titled(axes, f"Distance to the {whose} {short}", x="ε", y="")
    data = f"{settings['n']} values, {settings['top']:g} times {settings['law']}"
    left.set_ylabel(f"mean squared distance, {data}", color=look.BLACK)
    if "today" in table["method"]:
        large = LARGE if settings["relation"] == "substitute" else LARGE / 2
        look.note(
            right, f"Sourdine: QExp itself below ε = {large:g},\npiecewise Laplace from there on",
            0.98,
        )  # fmt: skip
    look.name_lines(right)
    own = table.where(method="no privacy")
    if len(own):
        left.annotate(
            f"the sample's {short}", (own["epsilon"][0], own["risk"].min()), (0, -8),
            textcoords="offset points", color=look.colour("no privacy"), fontsize=9, va="top",
        )  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="audibert-10",
    ids=("A7",),
    title="Risk of one private quantile of ten values against epsilon",
    question=(
        "What does epsilon buy for ten values, and from which epsilon on is noise on the quartile "
        "itself nearer than QExp, which answers anywhere between two values?"
    ),
    stated="a comparison of QExp, Laplace and Gaussian noise; the range of epsilon is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", _epsilons(16), numbers(above=0), "the report's range is not given",
                quick=_epsilons(6), split=True),
        Setting("n", 10, integer(least=1), "values in a data set", split=True),
        Setting("top", 200, number(above=0), "Λ: values lie between 0 and it", split=True),
        *common(8000, 300),
    ),
)  # fmt: skip
