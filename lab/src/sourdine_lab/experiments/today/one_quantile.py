"""One quartile: noise on the value, the exponential mechanism and today's choice."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.experiments.today.quantile_methods import sample_quantiles
from sourdine_lab.settings import DataLaw, Setting, integer, integers, number, numbers, words
from sourdine_lab.settings import law as law_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = {
    "Laplace noise": ("laplace", "laplace"),
    "Gaussian noise": ("gaussian", "gaussian"),
    "QExp": ("exponential", "qexp"),
    "piecewise Laplace": ("piecewise_laplace", "recexp"),
    "Sourdine": ("auto", "today"),
}
"""What the figure calls a method, what the library does, and the name of its colour."""
STATED = {"n": 100.0, "range": 90.0}
AXES = {"n": "records n", "range": "range Λ", "epsilon": "ε"}


def _sizes(count: int) -> list[int]:
    return [int(n) for n in np.geomspace(50, 5000, count)]


def _ranges(count: int) -> list[int]:
    return [int(r) for r in np.geomspace(20, 2000, count)]


def _epsilons(count: int) -> list[float]:
    return [round(float(e), 3) for e in np.geomspace(0.1, 20, count)]


SETTINGS = (
    Setting("order", 0.25, number(above=0, below=1), "order of the quantile"),
    Setting("epsilon", 0.2, number(above=0), "privacy loss where n or the range varies",
            split=True),
    Setting("n", 1000, integer(least=2), "records where the range varies", split=True),
    Setting("small_n", 10, integer(least=2), "records where epsilon varies", split=True),
    Setting("range", 200, number(above=0), "range where n or epsilon varies", split=True),
    Setting("sizes", _sizes(9), integers(least=2), "records n along the first panel",
            quick=_sizes(4), split=True),
    Setting("ranges", _ranges(9), numbers(above=0), "ranges along the second panel",
            quick=_ranges(4), split=True),
    Setting("epsilons", _epsilons(9), numbers(above=0), "privacy losses along the third panel",
            quick=_epsilons(4), split=True),
    Setting("law", "uniform(0,1)", law_kind(0, 1), "the law of the records, as parts of the range"),
    Setting("runs", 300, integer(least=2), "samples for each point", quick=60, split=True),
    Setting("delta_times_n", 0.01, number(above=0, below=1), "n times delta of the Gaussian noise"),
    Setting("cells", 1 << 14, integer(least=2), "steps of the range, for answers"),
    Setting("coarse_cells", 100, integer(least=2), "steps of the range, for noise on the value"),
    Setting("methods", list(METHODS), words(*METHODS), "the methods that are compared"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a point of an axis: the document's figures 8, 9 and 10."""
    common = {name: settings[name] for name in ("n", "range", "epsilon", "runs")}
    small = {**common, "n": settings["small_n"]}
    return [
        *({**common, "axis": "n", "n": n} for n in settings["sizes"]),
        *({**common, "axis": "range", "range": r} for r in settings["ranges"]),
        *({**small, "axis": "epsilon", "epsilon": float(e)} for e in settings["epsilons"]),
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield each method's squared distance from the sample's quantile.

    Noise on the value itself is about as large as the range: it is drawn on a coarse lattice,
    which makes no difference that could be seen and saves the Gaussian's calibration much time.
    """
    from sourdine import quantiles

    n, top, rng, source = part["n"], part["range"], part.rng, part.source
    common = {"bounds": (0, top), "epsilon": part["epsilon"], "relation": "substitute", "n": n}
    law, order = DataLaw.read(part["law"]), part["order"]
    samples = [top * law.draw(rng, n) for _ in range(part["runs"])]
    for method in part["methods"]:
        name, _ = METHODS[method]
        delta = part["delta_times_n"] / n if name == "gaussian" else 0
        cells = part["coarse_cells" if name in ("laplace", "gaussian") else "cells"]
        risks = []
        for x in samples:
            told = quantiles(
                x, order, **common, step=Fraction(str(top)) / cells, delta=delta, method=name,
                interval=None, source=source,
            ).value  # fmt: skip
            off = float(told) - float(sample_quantiles(x, [order])[0])
            risks.append(off**2)
        risk, deviation = mean_and_error(risks)
        yield {"axis": part["axis"], "n": n, "range": top, "epsilon": part["epsilon"],
               "method": method, "runs": part["runs"], "risk": risk,
               "deviation": deviation}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risk against n, the range and epsilon."""
    figure, axes = look.panels(3, width=13.5, height=4.6)
    for one, (axis, rows) in zip(axes, table.by("axis"), strict=True):
        for method, own in rows.by("method"):
            look.band(
                one, own[axis], own["risk"], uncertainty(own, "risk"), method=METHODS[method][1],
                label=method, dashed=method == "piecewise Laplace",
            )  # fmt: skip
        look.titled(one, _title(axis, settings), x=AXES[axis], y="")
    name = _called(settings["order"]).split()[0]
    axes[0].set_ylabel(f"mean squared distance from the sample's {name}")
    for one in axes:
        look.logarithmic(one)
    fixed = ("order", "epsilon", "n", "range", "law")
    theirs = all(settings[one.name] == one.default for one in SETTINGS if one.name in fixed)
    for one, height in zip(axes, STATED.values() if theirs else (), strict=False):
        look.said(one, height, "stated for QExp: of this order")
    for one in axes:
        look.name_lines(one)
    return figure


def _called(order: float) -> str:
    return "quartile" if order == 0.25 else f"quantile of order {order:g}"


def _title(axis: str, settings: Settings) -> str:
    """Return what stays the same along an axis."""
    n, small, top, epsilon = (settings[k] for k in ("n", "small_n", "range", "epsilon"))
    if axis == "range":
        return f"{n} records, ε = {epsilon:g}"
    if axis == "epsilon":
        return f"{small} records, Λ = {top:g}"
    what, law = _called(settings["order"]), settings["law"]
    what = "First quartile" if what == "quartile" else what.capitalize()
    drawn = f"U(0, {top:g})" if law == "uniform(0,1)" else f"{top:g} {law}"
    return f"{what} of {drawn}, ε = {epsilon:g}"


EXPERIMENT = Experiment(
    name="today-one-quantile",
    ids=("A5", "A7", "C2"),
    title="One quartile, by today's methods",
    question="Once QExp's exponent is halved, as privacy needs, what is still to be gained for "
    "one quantile?",
    stated="QExp's risk is of the order of 100 as n varies and of 90 as the range varies, Laplace "
    "and Gaussian noise lie far above",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
