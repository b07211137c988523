"""One quartile: noise on the value, the exponential mechanism and today's choice."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.experiments.today.quantile_methods import sample_quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

FIRST_QUARTILE = 0.25
METHODS = {
    "Laplace noise": ("laplace", "laplace"),
    "Gaussian noise": ("gaussian", "gaussian"),
    "QExp": ("exponential", "qexp"),
    "piecewise Laplace": ("piecewise_laplace", "recexp"),
    "Sourdine": ("auto", "today"),
}
"""What the figure calls a method, what the library does, and the name of its colour."""
COARSE, FINE = 100, 1 << 14
STATED = {"n": 100.0, "range": 90.0}
AXES = {"n": "records n", "range": "range Λ", "epsilon": "ε"}
TITLES = {
    "n": "First quartile of U(0, 200), ε = 0.2",
    "range": "1000 records, ε = 0.2",
    "epsilon": "10 records, Λ = 200",
}


def parts(settings: Settings) -> list[Settings]:
    """One part a point of an axis: the document's figures 8, 9 and 10."""
    points = settings["points"]
    common = {"n": 1000, "range": 200, "epsilon": 0.2, "runs": settings["runs"]}
    small = {**common, "n": 10}
    return [
        *({**common, "axis": "n", "n": int(n)} for n in np.geomspace(50, 5000, points)),
        *({**common, "axis": "range", "range": int(r)} for r in np.geomspace(20, 2000, points)),
        *(
            {**small, "axis": "epsilon", "epsilon": round(float(e), 3)}
            for e in np.geomspace(0.1, 20, points)
        ),
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield each method's squared distance from the sample's quartile.

    Noise on the value itself is about as large as the range: it is drawn on a coarse lattice,
    which makes no difference that could be seen and saves the Gaussian's calibration much time.
    """
    from sourdine import quantiles

    n, top, rng, source = part["n"], part["range"], part.rng, part.source
    common = {"bounds": (0, top), "epsilon": part["epsilon"], "relation": "substitute", "n": n}
    samples = [rng.uniform(0, top, n) for _ in range(part["runs"])]
    for method, (name, _) in METHODS.items():
        delta = 1 / (100 * n) if name == "gaussian" else 0
        cells = COARSE if name in ("laplace", "gaussian") else FINE
        risks = []
        for x in samples:
            told = quantiles(
                x, FIRST_QUARTILE, **common, step=Fraction(top, cells), delta=delta, method=name,
                interval=None, source=source,
            ).value  # fmt: skip
            off = float(told) - float(sample_quantiles(x, [FIRST_QUARTILE])[0])
            risks.append(off**2)
        risk, deviation = mean_and_error(risks)
        yield {"axis": part["axis"], "n": n, "range": top, "epsilon": part["epsilon"],
               "method": method, "runs": part["runs"], "risk": risk,
               "deviation": deviation}  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the risk against n, the range and epsilon."""
    figure, axes = look.panels(3, width=13.5, height=4.6)
    for one, (axis, rows) in zip(axes, table.by("axis"), strict=True):
        for method, own in rows.by("method"):
            look.band(
                one, own[axis], own["risk"], uncertainty(own, "risk"), method=METHODS[method][1],
                label=method, dashed=method == "piecewise Laplace",
            )  # fmt: skip
        look.titled(one, TITLES[axis], x=AXES[axis], y="")
    axes[0].set_ylabel("mean squared distance from the sample's quartile")
    for one in axes:
        look.logarithmic(one)
    for one, height in zip(axes, STATED.values(), strict=False):
        look.said(one, height, "stated for QExp: of this order")
    for one in axes:
        look.name_lines(one)
    return figure


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
    full={"points": 9, "runs": 300},
    quick={"points": 4, "runs": 60},
    figures=(),
)
