"""Privacy of a sample: what is printed, what the proof gives, what is true."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.laws import Law
from sourdine_lab import look
from sourdine_lab.amplification import comparison
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number

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
    epsilon = part["epsilon"]
    for row in comparison(rates, epsilon):
        yield {"rate": row.rate, "printed": row.printed, "proof": row.proof, "tight": row.tight,
               "exact": row.exact, "other": row.other_exact,
               "delta": needed_delta(row.rate, row.printed, whole=epsilon)}  # fmt: skip


def needed_delta(rate: float, epsilon: float, *, whole: float = 1) -> float:
    """Return the least delta of sampled randomised response at an epsilon, by its laws.

    ``whole`` is the epsilon of the response itself.

    Examples
    --------
    >>> round(needed_delta(0.5, 0.5), 4), needed_delta(0.5, 0.6202)
    (0.0566, 0.0)
    """
    lie = 1 / (1 + exp(whole))
    no, yes = (Law.finite(np.log(p)) for p in ([1 - lie, lie], [lie, 1 - lie]))
    holding = Law.mixture([1 - rate, rate], [no, yes]) if rate < 1 else yes
    return max(holding.hockey_stick(no, epsilon).value, no.hockey_stick(holding, epsilon).value)


def draw(table: Table, settings: Settings) -> Any:
    """Draw the epsilons, and the missing delta."""
    whole = settings["epsilon"]
    own = whole == 1
    printed, power = ("q", "e") if own else (f"{whole:g} q", f"e^{whole:g}")
    figure, (left, right) = look.panels(2, width=12.0, height=4.4, sharey=False)
    q = table["rate"]
    look.stated(
        left, q, table["printed"], "printed: q" if own else f"as printed, times ε: {printed}"
    )
    look.band(left, q, table["tight"], method="today", label=f"true: ln(1 + q({power} - 1))")
    proof = "its proof: 2q" if own else f"twice that: {2 * whole:g} q"
    look.band(left, q, table["proof"], method="unprotected", label=proof, dashed=True)
    shown = table["rate"] * 20 % 1 < 1e-6
    left.plot(q[shown], table["exact"][shown], "o", color=look.colour("truth"), markersize=4,
              label="_exact")  # fmt: skip
    left.set_xlim(0, 1)
    left.set_ylim(0, 2.05 * whole)
    look.note(left, "dots: randomised response on the sample, exactly,\nover all neighbours")
    look.name_lines(left)
    look.titled(left, f"ε of a mechanism of ε = {whole:g} on a sample",
                x="rate of the sample, q" + (" (the lecture's ε)" if own else ""),
                y="ε on all records")  # fmt: skip
    look.band(right, q, table["delta"], method="unprotected", label="_delta")
    right.set_xlim(0, 1)
    right.set_ylim(0, None)
    said = "The lecture states (q, q δ)" if own else f"As printed: ({printed}, q δ)"
    worst = int(np.argmax(table["delta"]))
    right.plot(q[worst], table["delta"][worst], "o", color=look.colour("unprotected"))
    look.note(right, f"{said}; with δ = 0 nothing may be left.\n"
              f"Most is left at q = {q[worst]:.2f}: δ = {table['delta'][worst]:.4f}",
              x=0.18, y=0.22)  # fmt: skip
    look.titled(right, f"δ that is left at the printed ε = {printed}",
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
    settings=(
        Setting("epsilon", 1, number(above=0, most=20), "privacy loss of the mechanism itself"),
        Setting("rates", 100, integer(least=2), "how many rates from 0 to 1", quick=20, split=True),
    ),
)
