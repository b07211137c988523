"""Two coins and many categories: bias, variance, other coins, the optimum."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.mechanisms import RandomizedResponse, Warner
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, integers, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

FORMS = ("estimate", "coins", "categories")
COLOURS = ("today", "histogram", "laplace", "inverse sensitivity", "qexp", "gaussian")
SIZES = ("laplace", "histogram", "today", "inverse sensitivity", "qexp", "gaussian")
FAIR = 0.5
SETTINGS = (
    Setting("n", 1000, integer(least=1), "people who answer"),
    Setting("truth", FAIR, number(above=0, most=1), "chance that the first coin asks the truth"),
    Setting("yes", FAIR, number(least=0, most=1), "chance that the second coin says yes"),
    Setting("shares", [round(i / 20, 2) for i in range(21)], numbers(least=0, most=1),
            "shares of cheats"),
    Setting("second", [0.5, 0.25, 0.1], numbers(above=0, below=1),
            "chances of yes of the second coins that are compared"),
    Setting("truths", [round(float(t), 6) for t in np.linspace(0.2, 0.95, 60)],
            numbers(above=0, below=1), "chances of the first coin along those lines"),
    Setting("categories", [2, 4, 16], integers(least=2), "numbers k of categories"),
    Setting("share", 0.1, number(least=0, most=1), "share of the category that is estimated"),
    Setting("epsilons", [round(2 ** (i / 2), 4) for i in range(-4, 5)], numbers(above=0, most=50),
            "privacy loss of a report of one of k categories"),
    Setting("runs", 20_000, integer(least=2), "simulated surveys", quick=2_000, split=True),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a panel."""
    return [{"panel": panel, "runs": settings["runs"]} for panel in FORMS]


def compute(part: Part) -> Iterator[Row]:
    """Yield the rows of a panel."""
    yield from {"estimate": _estimate, "coins": _coins, "categories": _categories}[part["panel"]](
        part
    )


def _estimate(part: Part) -> Iterator[Row]:
    """Yield bias and variance of the estimate, for the people who answered and for a sample.

    It is 2r - 1/2 for two fair coins, (r - b)/(a - b) for any, with their chances a and b of yes.
    """
    rng, runs, n = part.rng, part["runs"], part["n"]
    coins = Warner(truth=part["truth"], yes=part["yes"])
    a, b = map(float, coins.channel)
    for share in part["shares"]:
        for population in ("fixed", "sampled"):
            cheats = np.full(runs, round(share * n))
            if population == "sampled":
                cheats = rng.binomial(n, share, runs)
            yes = rng.binomial(cheats, a) + rng.binomial(n - cheats, b)
            found = (yes / n - b) / (a - b)
            drawn = population == "sampled"
            of: Literal["population", "sample"] = "population" if drawn else "sample"
            theory = coins.variance(share, n, of)
            yield {
                "panel": "estimate", "population": population, "x": share, "runs": runs,
                "theory": n * float(theory), "found": n * found.var(ddof=1),
                "error": n * found.var(ddof=1) * (2 / (runs - 1)) ** 0.5,
                "bias": found.mean() - (share if drawn else round(share * n) / n),
                "bias_error": found.std(ddof=1) / runs**0.5,
            }  # fmt: skip


def _coins(part: Part) -> Iterator[Row]:
    """Yield the variance at worst against epsilon, for some second coins, exactly."""
    for second in part["second"]:
        for truth in part["truths"]:
            coins = Warner(truth=truth, yes=second)
            worst = max(float(coins.variance(f, 1)) for f in (0, 1))
            yield {
                "panel": "coins", "second": second, "x": float(coins.guarantee.epsilon),
                "theory": worst, "runs": 0,
            }  # fmt: skip


def _categories(part: Part) -> Iterator[Row]:
    """Yield the variance of a category's frequency against epsilon."""
    rng, runs, n, f = part.rng, part["runs"], part["n"], part["share"]
    for k in part["categories"]:
        for epsilon in part["epsilons"]:
            made = RandomizedResponse(epsilon=epsilon, categories=k)
            p, q = made.channel
            cases = round(f * n)
            count = rng.binomial(cases, p, runs) + rng.binomial(n - cases, q, runs)
            found = (count / n - q) / (p - q)
            yield {
                "panel": "categories", "k": k, "x": epsilon, "runs": runs,
                "theory": n * made.variance(f, n), "found": n * found.var(ddof=1),
                "error": n * found.var(ddof=1) * (2 / (runs - 1)) ** 0.5,
            }  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the three panels."""
    figure, panels = look.panels(3, width=13.5, height=4.2, sharey=False)
    panes = dict(table.by("panel"))
    _draw_estimate(panels[0], panes["estimate"], settings)
    _draw_coins(panels[1], panes["coins"], settings)
    _draw_categories(panels[2], panes["categories"], settings)
    return figure


def _draw_estimate(axes: Any, table: Table, settings: Settings) -> None:
    fair = settings["truth"] == settings["yes"] == FAIR
    names = {
        "fixed": ("today", "who answered: 3/4" if fair else "who answered"),
        "sampled": ("histogram", "a sample"),
    }
    for population, rows in table.by("population"):
        method, name = names[population]
        look.band(axes, rows["x"], rows["theory"], method=method, label=name)
        _dots(axes, rows, method)
    bias, error = table["bias"].mean(), np.sqrt((table["bias_error"] ** 2).sum()) / len(table)
    look.note(axes, f"no bias: the mean error is {bias:.5f} ± {error:.5f}\n"
              "stated: hopefully no bias; the variance is left open")  # fmt: skip
    low, high = table["theory"].min(), table["theory"].max()
    axes.set_ylim(0.8 * low, 1.2 * high)
    title = "Two fair coins, estimate 2r - 1/2" if fair else (
        f"First coin {settings['truth']:g}, second coin {settings['yes']:g}"
    )  # fmt: skip
    look.titled(axes, title, x="share f of cheats", y="n times the variance")
    look.name_lines(axes)


def _draw_coins(axes: Any, table: Table, settings: Settings) -> None:
    for i, second in enumerate(settings["second"]):
        rows = table.where(second=second)
        rows = type(table)([row for row in rows.rows if float(row["x"]) < 4])
        name = "best: 1/2" if second == FAIR else f"{second:g}"
        method = COLOURS[i % len(COLOURS)]
        if len(rows):
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


def _draw_categories(axes: Any, table: Table, settings: Settings) -> None:
    for i, (k, rows) in enumerate(table.by("k")):
        method = SIZES[i % len(SIZES)]
        look.band(axes, rows["x"], rows["theory"], method=method, label=f"k = {k}")
        _dots(axes, rows, method)
    look.logarithmic(axes, "xy")
    title = f"k categories, one of frequency {settings['share']:g}"
    look.titled(axes, title, x="ε", y="n times the variance")
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
    settings=SETTINGS,
    figures=(),
)
