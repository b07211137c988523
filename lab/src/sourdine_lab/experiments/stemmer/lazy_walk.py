"""The lazy random walk as a Markov chain: its arrows, a sample path, and what its averages do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

STAY = 0.5
"""The chance to repeat the row before; else a fresh row of D is drawn."""
SAMPLES = {"walk": ("unprotected", "lazy walk"), "independent": ("protected", "independent rows")}


def parts(settings: Settings) -> list[Settings]:
    """One part a kind of rows."""
    return [{**settings, "rows": rows} for rows in SAMPLES]


def compute(part: Part) -> Iterator[Row]:
    """Yield a path, then how often the average of n coins is farther than alpha from 1/2."""
    rng, n = part.rng, part["n"]
    stay = STAY if part["rows"] == "walk" else 0.0
    for i, x in enumerate(_walk(rng, stay, part["path"], 1)[0].tolist()):
        yield {"panel": "path", "rows": part["rows"], "x": i, "y": x, "runs": 1}
    away = np.abs(_walk(rng, stay, n, part["runs"]).mean(axis=1) - 0.5)
    for alpha in np.linspace(0, 4 / n**0.5, 41).tolist():
        yield {"panel": "away", "rows": part["rows"], "x": alpha, "y": float((away > alpha).mean()),
               "runs": part["runs"], "n": n}  # fmt: skip


def _walk(rng: np.random.Generator, stay: float, n: int, runs: int) -> NDArray[np.int64]:
    """Return walks over two states, D being a fair coin, a row each."""
    fresh = rng.integers(0, 2, (runs, n))
    moved = rng.random((runs, n)) >= stay
    moved[:, 0] = True
    last = np.maximum.accumulate(np.where(moved, np.arange(n), 0), axis=1)
    return np.asarray(np.take_along_axis(fresh, last, axis=1))


def draw(table: Table) -> Any:
    """Draw the chain, the paths, and the deviations."""
    figure, (chain, path, away) = look.panels(3, width=13.5, height=4.0, sharey=False)
    _draw_chain(chain)
    for height, (rows, (method, name)) in zip((1.5, 0), SAMPLES.items(), strict=True):
        own = table.where(panel="path", rows=rows)
        path.step(own["x"], own["y"] + height, where="mid", color=look.colour(method))
        path.annotate(name, (0, height + 1.08), color=look.colour(method), fontsize=9)
    path.set_yticks([0, 1, 1.5, 2.5], ["0", "1", "0", "1"])
    look.titled(path, "A sample of each", x="row", y="")
    own = table.where(panel="away")
    for rows, (method, name) in SAMPLES.items():
        line = own.where(rows=rows)
        look.band(away, line["x"], line["y"], method=method, label=name)
    n, alpha = int(own["n"][0]), np.unique(own["x"])
    bound = np.minimum(1, 2 * np.exp(-2 * n * alpha**2))
    look.stated(away, alpha, bound, "Hoeffding, independent")
    away.set_ylim(-0.02, 1.02)
    away.set_xlim(0, alpha.max())
    title = rf"Average of n = {n} rows, farther than $\alpha$ from 1/2"
    look.titled(away, title, x=r"$\alpha$", y="chance")
    away.legend(*away.get_legend_handles_labels(), frameon=False, fontsize=9, loc="upper right")
    look.note(
        away, "the walk's average varies three times\nas much: (1 + 1/2)/(1 - 1/2)", 0.98, 0.6
    )
    return figure


def _draw_chain(axes: Any) -> None:
    """Draw the two states and the four arrows with their chances."""
    ink = look.colour("truth")
    go = (1 - STAY) / 2
    for x, name in ((0.25, "0"), (0.75, "1")):
        axes.plot([x], [0.5], "o", markersize=38, markerfacecolor="white", color=ink)
        axes.annotate(name, (x, 0.5), ha="center", va="center", fontsize=13, color=ink)
        loop = {"arrowstyle": "->", "connectionstyle": "arc3,rad=-1.9", "color": ink}
        axes.annotate("", (x + 0.05, 0.63), (x - 0.05, 0.63), arrowprops=loop)
        axes.annotate(f"{1 - go:g}", (x, 0.87), ha="center", fontsize=11, color=ink)
    for begin, end, y, text in ((0.36, 0.64, 0.56, 0.66), (0.64, 0.36, 0.44, 0.3)):
        arrow = {"arrowstyle": "->", "connectionstyle": "arc3,rad=-0.25", "color": ink}
        axes.annotate("", (end, y), (begin, y), arrowprops=arrow)
        axes.annotate(f"{go:g}", (0.5, text), ha="center", fontsize=11, color=ink)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()
    axes.set_title("The lazy walk, D a fair coin", loc="left", fontsize=11, color=ink)
    look.note(
        axes, "with chance 1/2 the row before again,\nwith chance 1/2 a fresh row of D", y=0.14
    )


EXPERIMENT = Experiment(
    name="stemmer-walk",
    ids=("S6",),
    title="The lazy random walk",
    question="What is the walk of the lecture, and how far is an average over it from the truth?",
    stated="x1 is drawn from D; then with probability 1/2 the row before again, with 1/2 a fresh "
    "one of D: every statistical query is concentrated",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"n": 1000, "runs": 20_000, "path": 60},
    quick={"n": 1000, "runs": 2000, "path": 60},
    figures=(),
)
