"""The lazy random walk as a Markov chain: its arrows, a sample path, and what its averages do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

SAMPLES = {"walk": ("unprotected", "lazy walk"), "independent": ("protected", "independent rows")}


def parts(settings: Settings) -> list[Settings]:
    """One part a kind of rows."""
    own = {name: settings[name] for name in ("n", "runs", "path")}
    return [{**own, "rows": rows} for rows in SAMPLES]


def compute(part: Part) -> Iterator[Row]:
    """Yield a path, then how often the average of n coins is farther than alpha from its mean."""
    rng, n, heads = part.rng, part["n"], part["heads"]
    stay = part["stay"] if part["rows"] == "walk" else 0.0
    for i, x in enumerate(_walk(rng, stay, part["path"], 1, heads)[0].tolist()):
        yield {"panel": "path", "rows": part["rows"], "x": i, "y": x, "runs": 1}
    away = np.abs(_walk(rng, stay, n, part["runs"], heads).mean(axis=1) - heads)
    for alpha in np.linspace(0, 4 / n**0.5, 41).tolist():
        yield {"panel": "away", "rows": part["rows"], "x": alpha, "y": float((away > alpha).mean()),
               "runs": part["runs"], "n": n}  # fmt: skip


def _walk(
    rng: np.random.Generator, stay: float, n: int, runs: int, heads: float = 0.5
) -> NDArray[np.int64]:
    """Return walks over two states, D being a coin, a row each."""
    fresh = (
        rng.integers(0, 2, (runs, n))
        if heads == 0.5
        else (rng.random((runs, n)) < heads).astype(np.int64)
    )
    moved = rng.random((runs, n)) >= stay
    moved[:, 0] = True
    last = np.maximum.accumulate(np.where(moved, np.arange(n), 0), axis=1)
    return np.asarray(np.take_along_axis(fresh, last, axis=1))


def draw(table: Table, settings: Settings) -> Any:
    """Draw the chain, the paths, and the deviations."""
    figure, (chain, path, away) = look.panels(3, width=13.5, height=4.0, sharey=False)
    stay, heads = settings["stay"], settings["heads"]
    _draw_chain(chain, stay, heads)
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
    title = rf"Average of n = {n} rows, farther than $\alpha$ from {_half(heads)}"
    look.titled(away, title, x=r"$\alpha$", y="chance")
    away.legend(*away.get_legend_handles_labels(), frameon=False, fontsize=9, loc="upper right")
    times = (1 + stay) / (1 - stay)
    often = "three times" if stay == 0.5 else f"{times:.3g} times"
    share = _half(stay)
    look.note(
        away, f"the walk's average varies {often}\nas much: (1 + {share})/(1 - {share})", 0.98, 0.6
    )
    return figure


def _half(share: float) -> str:
    return "1/2" if share == 0.5 else f"{share:g}"


def _draw_chain(axes: Any, stay: float, heads: float) -> None:
    """Draw the two states and the four arrows with their chances."""
    ink = look.colour("truth")
    up, down = (1 - stay) * heads, (1 - stay) * (1 - heads)
    for x, name, leave in ((0.25, "0", up), (0.75, "1", down)):
        axes.plot([x], [0.5], "o", markersize=38, markerfacecolor="white", color=ink)
        axes.annotate(name, (x, 0.5), ha="center", va="center", fontsize=13, color=ink)
        loop = {"arrowstyle": "->", "connectionstyle": "arc3,rad=-1.9", "color": ink}
        axes.annotate("", (x + 0.05, 0.63), (x - 0.05, 0.63), arrowprops=loop)
        axes.annotate(f"{1 - leave:.3g}", (x, 0.87), ha="center", fontsize=11, color=ink)
    for begin, end, y, text, go in (
        (0.36, 0.64, 0.56, 0.66, up), (0.64, 0.36, 0.44, 0.3, down)
    ):  # fmt: skip
        arrow = {"arrowstyle": "->", "connectionstyle": "arc3,rad=-0.25", "color": ink}
        axes.annotate("", (end, y), (begin, y), arrowprops=arrow)
        axes.annotate(f"{go:.3g}", (0.5, text), ha="center", fontsize=11, color=ink)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_axis_off()
    axes.set_title("The lazy walk, D a fair coin" if heads == 0.5
                   else f"The lazy walk, D a coin of {heads:g}", loc="left",
                   fontsize=11, color=ink)  # fmt: skip
    look.note(
        axes,
        f"with chance {_half(stay)} the row before again,\nwith chance {_half(1 - stay)} a "
        "fresh row of D",
        y=0.14,
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
    settings=(
        Setting("stay", 0.5, number(least=0, below=1), "chance of the row before again"),
        Setting("heads", 0.5, number(above=0, below=1), "chance of a 1 in D"),
        Setting("n", 1000, integer(least=1), "rows of a sample", split=True),
        Setting("runs", 20_000, integer(least=2), "samples", quick=2000, split=True),
        Setting("path", 60, integer(least=2), "rows of the paths that are shown", split=True),
    ),
    figures=(),
)
