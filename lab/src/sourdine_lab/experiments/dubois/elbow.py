"""The elbow: the dense and the sparse zone, and densities that show both exponents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.hardest import GAMMA, RADIUS, Hidden, dense, sparse
from sourdine_lab.experiments.dubois.risks import slope, wavelet
from sourdine_lab.settings import Setting, integer, integers, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

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
    terms = {name: part[name] for name in ("wavelet", "gamma", "radius")}
    for j in part["levels"]:
        made = Hidden(part["s"], p, part["r"], j, part["kind"] == "many", part["epsilon"], **terms)
        losses = [made.loss(rng) for _ in range(part["runs"])]
        yield {
            "p": p, "kind": part["kind"], "j": j, "n": made.n, "runs": part["runs"],
            "size": made.n * part["epsilon"] ** 2 / j, "risk": float(np.mean(losses)),
            "error": float(np.std(losses, ddof=1)) / part["runs"] ** 0.5,
        }  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw exponents against p, and two of the risks that they come from."""
    figure, (left, right) = look.panels(2, width=12, height=4.8, sharey=False)
    _exponents(left, table, settings)
    _risks(right, table, settings)
    return figure


def _exponents(axes: Any, table: Table, settings: Settings) -> None:
    s, r, norms = settings["s"], settings["r"], settings["norms"]
    elbow = r / (s + 1)
    p = np.linspace(min(norms), max(*norms, elbow + 1), 101)
    many, one = np.full(p.size, dense(s, r)), sparse(s, p, r)
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
    axes.axvline(elbow, color=look.colour("stated"), linewidth=0.8)
    low, high = min(one.min(), dense(s, r)), max(one.max(), dense(s, r))
    axes.set_ylim(low - 0.3 * (high - low), high + 0.5 * (high - low))
    axes.annotate(f"elbow p = r/(s+1) = {elbow:g}", (elbow, low - 0.25 * (high - low)), (5, 0),
                  fontsize=9, textcoords="offset points",
                  color=look.colour("stated"))  # fmt: skip
    look.note(axes, "sparse zone", 0.02, 0.11)
    look.note(axes, "dense zone", 0.98, 0.11)
    look.note(
        axes,
        "dotted: the stated rate, the lower of the two\ndots: slopes of simulations; n is chosen"
        " so that\nthe bumps are half as high as the threshold",
        0.98,
    )
    look.titled(
        axes, rf"Exponent of the risk in $n\alpha^2$/log, s = {s:g}, r = {r:g}",
        x="p, the norm of the ball", y="exponent",
    )  # fmt: skip
    look.name_lines(axes)


def _risks(axes: Any, table: Table, settings: Settings) -> None:
    s, r, norms = settings["s"], settings["r"], settings["norms"]
    # Of the balls on each side of the elbow, the smallest norm and one in the middle.
    above = [p for p in norms if p > r / (s + 1)]
    shown = [(p, "one") for p in norms[:1] if p not in above]
    shown += [(p, "many") for p in above[len(above) // 2 - (len(above) % 2 == 0) :][:1]]
    for p, kind in shown:
        rows = table.where(p=p, kind=kind)
        n, risk = rows["size"], rows["risk"]
        theory = sparse(s, p, r) if kind == "one" else dense(s, r)
        method, name = KINDS[kind]
        label = f"{name}, p = {p:g}: {slope(n, risk)[0]:.2f} ({-theory:.2f})"
        look.band(axes, n, risk, rows["error"], method=method, label=label)
        middle = np.exp(np.log(n).mean()), np.exp(np.log(risk).mean())
        look.stated(axes, n, middle[1] * (n / middle[0]) ** -theory, "_theory")
    look.logarithmic(axes)
    look.titled(
        axes, "The hardest density on each side of the elbow",
        x=rf"$n\alpha^2$ / log, $\alpha$ = {settings['epsilon']:g}",
        y=f"mean of the loss in L{r:g}, to the power {r:g}",
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
    settings=(
        Setting("epsilon", 1, number(above=0), "the paper's alpha, what each person spends"),
        Setting("s", 2.0, number(above=0), "the smoothness of the balls"),
        Setting("r", 6.0, number(least=1), "the norm of the loss"),
        Setting("norms", [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0], numbers(least=1),
                "the norms p of the balls", quick=[1.0, 2.0, 4.0], split=True),
        Setting("runs", 60, integer(least=2), "estimates of each density", quick=6, split=True),
        Setting("levels", list(range(4, 11)), integers(least=4, most=10), "levels of the bumps"),
        Setting("radius", RADIUS, number(above=0), "the radius L of the balls"),
        Setting("gamma", GAMMA, number(above=0), "the paper's gamma, large enough"),
        Setting("wavelet", "db4", wavelet(), "the wavelet"),
    ),
)  # fmt: skip
