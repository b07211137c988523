"""Two coins and many categories: bias, variance, other coins, the optimum."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.mechanisms import RandomizedResponse, Warner
from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

PEOPLE = 1000
SECOND = (0.5, 0.25, 0.1)
"""Chances of yes of the second coin."""
SIZES = (2, 4, 16)
METHODS = dict(zip(SIZES, ("laplace", "histogram", "today"), strict=True))
FORMS = ("estimate", "coins", "categories")


def parts(settings: Settings) -> list[Settings]:
    """One part a panel."""
    return [{"panel": panel, "runs": settings["runs"]} for panel in FORMS]


def compute(part: Part) -> Iterator[Row]:
    """Yield the rows of a panel."""
    yield from {"estimate": _estimate, "coins": _coins, "categories": _categories}[part["panel"]](
        part
    )


def _estimate(part: Part) -> Iterator[Row]:
    """Yield bias and variance of 2r - 1/2, for the people who answered and for a sample."""
    coins, rng, runs = Warner(truth=0.5, yes=0.5), part.rng, part["runs"]
    a, b = map(float, coins.channel)
    for share in np.linspace(0, 1, 21):
        for population in ("fixed", "sampled"):
            cheats = np.full(runs, round(share * PEOPLE))
            if population == "sampled":
                cheats = rng.binomial(PEOPLE, share, runs)
            yes = rng.binomial(cheats, a) + rng.binomial(PEOPLE - cheats, b)
            found = 2 * yes / PEOPLE - 0.5
            drawn = population == "sampled"
            of: Literal["population", "sample"] = "population" if drawn else "sample"
            theory = coins.variance(round(float(share), 2), PEOPLE, of)
            yield {
                "panel": "estimate", "population": population, "x": share, "runs": runs,
                "theory": PEOPLE * float(theory), "found": PEOPLE * found.var(ddof=1),
                "error": PEOPLE * found.var(ddof=1) * (2 / (runs - 1)) ** 0.5,
                "bias": found.mean() - share, "bias_error": found.std(ddof=1) / runs**0.5,
            }  # fmt: skip


def _coins(_: Part) -> Iterator[Row]:
    """Yield the variance at worst against epsilon, for three second coins, exactly."""
    for second in SECOND:
        for truth in np.linspace(0.2, 0.95, 60):
            coins = Warner(truth=round(float(truth), 6), yes=second)
            worst = max(float(coins.variance(f, 1)) for f in (0, 1))
            yield {
                "panel": "coins", "second": second, "x": float(coins.guarantee.epsilon),
                "theory": worst, "runs": 0,
            }  # fmt: skip


def _categories(part: Part) -> Iterator[Row]:
    """Yield the variance of a rare category's frequency against epsilon."""
    rng, runs, f = part.rng, part["runs"], 0.1
    for k in SIZES:
        for epsilon in np.geomspace(0.25, 4, 9):
            made = RandomizedResponse(epsilon=round(float(epsilon), 4), categories=k)
            p, q = made.channel
            cases = round(f * PEOPLE)
            count = rng.binomial(cases, p, runs) + rng.binomial(PEOPLE - cases, q, runs)
            found = (count / PEOPLE - q) / (p - q)
            yield {
                "panel": "categories", "k": k, "x": epsilon, "runs": runs,
                "theory": PEOPLE * made.variance(f, PEOPLE), "found": PEOPLE * found.var(ddof=1),
                "error": PEOPLE * found.var(ddof=1) * (2 / (runs - 1)) ** 0.5,
            }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the three panels."""
    figure, panels = look.panels(3, width=13.5, height=4.2, sharey=False)
    panes = dict(table.by("panel"))
    _draw_estimate(panels[0], panes["estimate"])
    _draw_coins(panels[1], panes["coins"])
    _draw_categories(panels[2], panes["categories"])
    return figure


def _draw_estimate(axes: Any, table: Table) -> None:
    names = {"fixed": ("today", "who answered: 3/4"), "sampled": ("histogram", "a sample")}
    for population, rows in table.by("population"):
        method, name = names[population]
        look.band(axes, rows["x"], rows["theory"], method=method, label=name)
        _dots(axes, rows, method)
    bias, error = table["bias"].mean(), np.sqrt((table["bias_error"] ** 2).sum()) / len(table)
    look.note(axes, f"no bias: the mean error is {bias:.5f} ± {error:.5f}\n"
              "stated: hopefully no bias; the variance is left open")  # fmt: skip
    axes.set_ylim(0.6, 1.2)
    look.titled(axes, "Two fair coins, estimate 2r - 1/2", x="share f of cheats",
                y="n times the variance")  # fmt: skip
    look.name_lines(axes)


def _draw_coins(axes: Any, table: Table) -> None:
    for second, method in zip(SECOND, ("today", "histogram", "laplace"), strict=True):
        rows = table.where(second=second)
        rows = type(table)([row for row in rows.rows if float(row["x"]) < 4])
        name = "best: 1/2" if second == 0.5 else f"{second:g}"
        look.band(axes, rows["x"], rows["theory"], method=method, label=name)
    axes.plot([log(3)], [0.75], "o", color=look.colour("stated"), markersize=6)
    axes.annotate("the slides'\ncoins: ln 3", (log(3), 0.75), (-8, -4), fontsize=9, ha="right",
                  va="top", textcoords="offset points", color=look.colour("stated"))  # fmt: skip
    axes.set_xlim(0, 4)
    look.logarithmic(axes, "y")
    look.titled(
        axes, "Other coins: second coin says yes with ...", x="ε", y="n times the variance at worst"
    )
    look.name_lines(axes)


def _draw_categories(axes: Any, table: Table) -> None:
    for k, rows in table.by("k"):
        look.band(axes, rows["x"], rows["theory"], method=METHODS[k], label=f"k = {k}")
        _dots(axes, rows, METHODS[k])
    look.logarithmic(axes, "xy")
    look.titled(axes, "k categories, one of frequency 0.1", x="ε", y="n times the variance")
    look.name_lines(axes)


def _dots(axes: Any, rows: Table, method: str) -> None:
    axes.errorbar(
        rows["x"], rows["found"], 2 * rows["error"], fmt="o", color=look.colour(method),
        markersize=3.5, linewidth=1, label="_simulation",
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="couchot-coins",
    ids=("L2", "L3"),
    title="Two coins, other coins, many categories",
    question="Is the estimate biased, what is its variance, and would other coins be better?",
    stated="two fair coins are ln 3 private with the estimate 2r - 1/2; bias, variance and other"
    " coins are left as questions",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"runs": 20_000},
    quick={"runs": 2_000},
    figures=(),
)
