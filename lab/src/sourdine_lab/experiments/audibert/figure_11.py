"""Figure 11: the risks of JointExp and RecExp for the three quartiles, against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.many_quantiles import (
    AS_DRAWN,
    common,
    orders,
    risks,
    squares,
)
from sourdine_lab.settings import Setting, integer, numbers, word, words
from sourdine_lab.settings import orders as orders_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = ("jointexp", "recexp", "recexp unscaled", "today")
NAMES = {
    "no privacy": "the sample's own",
    "jointexp": "JointExp",
    "recexp": "RecExp",
    "recexp unscaled": "RecExp as printed",
    "today": "Sourdine",
    "indexp": "IndExp, sorted",
    AS_DRAWN: "IndExp as drawn",
}


def _epsilons(count: int) -> list[float]:
    return [float(e) for e in np.geomspace(0.1, 20, count).round(3)]


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon."""
    return [{"epsilon": e, "runs": settings["runs"]} for e in settings["epsilons"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    for row in risks(part, part["orders"], squares):
        yield {"epsilon": part["epsilon"], **row}


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risks against epsilon."""
    figure, (axes,) = look.panels(1)
    count = len(settings["orders"])
    what = "three quartiles" if settings["orders"] == orders(4) else f"{count} quantiles"
    for method, rows in table.by("method"):
        look.band(
            axes, rows["epsilon"], rows["risk"], rows["deviation"],
            method="indexp" if method == AS_DRAWN else method, label=NAMES[method],
            dashed=method in ("no privacy", AS_DRAWN),
        )  # fmt: skip
    look.logarithmic(axes)
    look.titled(
        axes, f"Risk of {what}, {settings['law']}, n = {settings['n']}", x="ε of all together",
        y="mean squared distance, summed over the quantiles",
    )  # fmt: skip
    if settings["data"] == "fixed":
        look.note(axes, "one data set for all ε", 0.02, 0.06)
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="audibert-11",
    ids=("A9", "A10", "A11"),
    title="Quartiles by JointExp and by RecExp, against epsilon",
    question="Which algorithm is nearer to the quartiles of the law, at which epsilon?",
    stated="two curves that fall with epsilon, without numbers; RecExp 'of a precision that beats "
    "all records'. Its orders are not rescaled in the text, so the first quartile aims at 1/8",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", _epsilons(13), numbers(above=0), "of all quantiles together",
                quick=_epsilons(6), split=True),
        Setting("orders", orders(4), orders_kind(), "ascending orders of quantiles"),
        Setting("data", "fresh", word("fresh", "fixed"),
                "fresh records in each run, or one data set; the report has one for each epsilon"),
        Setting("data_seed", 1, integer(least=0), "seed of the data set that is kept"),
        Setting("runs", 1000, integer(least=2), "runs for each epsilon; the report has 50",
                quick=100, split=True),
        Setting("methods", list(METHODS), words(*METHODS, "indexp", AS_DRAWN),
                "the methods that are compared"),
        *common("uniform(0,1)"),
    ),
)  # fmt: skip
