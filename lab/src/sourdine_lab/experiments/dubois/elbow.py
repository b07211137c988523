"""The elbow: the dense and the sparse zone, and densities that show both exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.hardest import Hidden, dense, sparse
from sourdine_lab.experiments.dubois.risks import slope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

S, R = 2.0, 6.0
ELBOW = R / (S + 1)
SHOWN = ((1.0, "one"), (4.0, "many"))
"""The two balls whose risks are drawn, each with its hardest density."""
KINDS = {"many": ("linear", "many bumps"), "one": ("wavelets", "one bump")}


def parts(settings: Settings) -> list[Settings]:
    """One part a norm p and a kind of density."""
    return [
        {"p": p, "kind": kind, "runs": settings["runs"]}
        for p in settings["norms"]
        for kind in KINDS
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the loss of the thresholded estimator on the density of each level."""
    p, rng = part["p"], part.rng
    for j in range(4, 11):
        made = Hidden(S, p, R, j, part["kind"] == "many")
        losses = [made.loss(rng) for _ in range(part["runs"])]
        yield {
            "p": p, "kind": part["kind"], "j": j, "n": made.n, "runs": part["runs"],
            "size": made.n / j, "risk": float(np.mean(losses)),
            "error": float(np.std(losses, ddof=1)) / part["runs"] ** 0.5,
        }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw exponents against p, and two of the risks that they come from."""
    figure, (left, right) = look.panels(2, width=12, height=4.8, sharey=False)
    _exponents(left, table)
    _risks(right, table)
    return figure


def _exponents(axes: Any, table: Table) -> None:
    p = np.linspace(1, 6, 101)
    many, one = np.full(p.size, dense(S, R)), sparse(S, p, R)
    for kind, theory in (("many", many), ("one", one)):
        method, name = KINDS[kind]
        look.band(axes, p, theory, method=method, label=f"{name}, theory", dashed=True)
        for at, rows in table.where(kind=kind).by("p"):
            found, error = slope(rows["size"], rows["risk"])
            axes.errorbar(
                at, -found, 2 * error, fmt="o", color=look.colour(method), markersize=5,
                label="_simulation",
            )  # fmt: skip
    look.stated(axes, p, np.minimum(many, one), "_the rate")
    axes.axvline(ELBOW, color=look.colour("stated"), linewidth=0.8)
    axes.set_ylim(1.65, 2.2)
    axes.annotate(f"elbow p = r/(s+1) = {ELBOW:g}", (ELBOW, 1.67), (5, 0), fontsize=9,
                  textcoords="offset points", color=look.colour("stated"))  # fmt: skip
    look.note(axes, "sparse zone", 0.02, 0.16)
    look.note(axes, "dense zone", 0.98, 0.16)
    look.note(
        axes, "dotted: the stated rate, the lower of the two\ndots: slopes of simulations", 0.98
    )
    look.titled(
        axes, rf"Exponent of the risk in $n\alpha^2$/log, s = {S:g}, r = {R:g}",
        x="p, the norm of the ball", y="exponent",
    )  # fmt: skip
    look.name_lines(axes)


def _risks(axes: Any, table: Table) -> None:
    for p, kind in SHOWN:
        rows = table.where(p=p, kind=kind)
        n, risk = rows["size"], rows["risk"]
        theory = sparse(S, p, R) if kind == "one" else dense(S, R)
        method, name = KINDS[kind]
        label = f"{name}, p = {p:g}: {slope(n, risk)[0]:.2f} ({-theory:.2f})"
        look.band(axes, n, risk, rows["error"], method=method, label=label)
        middle = np.exp(np.log(n).mean()), np.exp(np.log(risk).mean())
        look.stated(axes, n, middle[1] * (n / middle[0]) ** -theory, "_theory")
    look.logarithmic(axes)
    look.titled(
        axes, "The hardest density on each side of the elbow", x=r"$n\alpha^2$ / log, $\alpha$ = 1",
        y="mean of the loss in L6, to the 6th",
    )  # fmt: skip
    look.name_lines(axes)


EXPERIMENT = Experiment(
    name="dubois-elbow",
    ids=("W4",),
    title="The elbow between the dense and the sparse zone",
    question="Does the exponent of the risk change at p = r/(s+1), and do densities show it?",
    stated="(n alpha^2)^(-rs/(2s+2)) if p > r/(s+1), else"
    " (n alpha^2/log)^(-r(s-1/p+1/r)/(2(s-1/p)+2))",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"norms": [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0], "runs": 60},
    quick={"norms": [1.0, 2.0, 4.0], "runs": 6},
)
