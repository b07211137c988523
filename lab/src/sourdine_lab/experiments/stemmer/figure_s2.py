"""Privacy of a sample: what is printed, what the proof gives, what is true."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.laws import Law
from sourdine_lab import look
from sourdine_lab.amplification import comparison
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part for all rates."""
    return [{"rates": settings["rates"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the epsilons of each rate, and what delta the printed one would need."""
    rates = [round((i + 1) / part["rates"], 6) for i in range(part["rates"])]
    for row in comparison(rates):
        yield {"rate": row.rate, "printed": row.printed, "proof": row.proof, "tight": row.tight,
               "exact": row.exact, "other": row.other_exact,
               "delta": needed_delta(row.rate, row.printed)}  # fmt: skip


def needed_delta(rate: float, epsilon: float) -> float:
    """Return the least delta of sampled randomised response at an epsilon, by its laws.

    Examples
    --------
    >>> round(needed_delta(0.5, 0.5), 4), needed_delta(0.5, 0.6202)
    (0.0566, 0.0)
    """
    lie = 1 / (1 + exp(1))
    no, yes = (Law.finite(np.log(p)) for p in ([1 - lie, lie], [lie, 1 - lie]))
    holding = Law.mixture([1 - rate, rate], [no, yes]) if rate < 1 else yes
    return max(holding.hockey_stick(no, epsilon).value, no.hockey_stick(holding, epsilon).value)


def draw(table: Table) -> Any:
    """Draw the epsilons, and the missing delta."""
    figure, (left, right) = look.panels(2, width=12.0, height=4.4, sharey=False)
    q = table["rate"]
    look.stated(left, q, table["printed"], "printed: q")
    look.band(left, q, table["tight"], method="today", label="true: ln(1 + q(e - 1))")
    look.band(left, q, table["proof"], method="unprotected", label="its proof: 2q", dashed=True)
    shown = table["rate"] * 20 % 1 < 1e-6
    left.plot(q[shown], table["exact"][shown], "o", color=look.colour("truth"), markersize=4,
              label="_exact")  # fmt: skip
    left.set_xlim(0, 1)
    left.set_ylim(0, 2.05)
    look.note(left, "dots: randomised response on the sample, exactly,\nover all neighbours")
    look.name_lines(left)
    look.titled(left, "ε of a mechanism of ε = 1 on a sample",
                x="rate of the sample, q (the lecture's ε)", y="ε on all records")  # fmt: skip
    look.band(right, q, table["delta"], method="unprotected", label="_delta")
    right.set_xlim(0, 1)
    right.set_ylim(0, None)
    worst = int(np.argmax(table["delta"]))
    right.plot(q[worst], table["delta"][worst], "o", color=look.colour("unprotected"))
    look.note(right, "The lecture states (q, q δ); with δ = 0 nothing may be left.\n"
              f"Most is left at q = {q[worst]:.2f}: δ = {table['delta'][worst]:.4f}",
              x=0.18, y=0.22)  # fmt: skip
    look.titled(right, "δ that is left at the printed ε = q",
                x="rate of the sample, q", y="least δ")  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="stemmer-s2",
    ids=("S2",),
    title="Privacy of a sample",
    question="What does running a mechanism on a sample do to its epsilon?",
    stated="a (1, delta)-private mechanism on a sample of rate eps is (eps, eps delta)-private",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"rates": 100},
    quick={"rates": 20},
)
