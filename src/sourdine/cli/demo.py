"""``sourdine demo``: mean, deciles and histogram of real wages under one total epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.table import Table

from sourdine.cli.output import Terminal, using
from sourdine.data import wages
from sourdine.results import figures
from sourdine.results.tables import interval_head, interval_text, row, shown
from sourdine.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from sourdine.results.release import Release


BOUNDS = (0, 200_000)
HIGHEST = 2_000_000
"""The highest wage the survey can hold; clamping at 200,000 would change the mean."""
BIN = 5_000
DECILES = [i / 10 for i in range(1, 10)]


class Answers(NamedTuple):
    """The three releases, and what they cost together."""

    mean: Release
    deciles: Release
    histogram: Release
    spent: str


def run(out: Path) -> None:
    """Release, print the table and draw the plot."""
    console = Terminal()
    data = wages()
    answers = _ask(data)
    console.print(_table(answers, data))
    console.print(
        f"{shown(len(data), 1.0)} wages (Current Population Survey). The table and the plot cost "
        f"{answers.spent} in total: adding or removing one person changes the odds of any output "
        f"by a factor of at most e. The true values are shown only because these data are public."
    )
    picture = out / "wages.png"
    with using(picture):
        out.mkdir(parents=True, exist_ok=True)
        _draw(answers, data, picture)
    console.print(f"Plot: [bold]{picture}[/]")


def _ask(data: NDArray[np.int64]) -> Answers:
    session = Session(data, epsilon=1)
    mean = session.mean(bounds=(0, HIGHEST), step=1, epsilon=0.1)
    deciles = session.quantiles(q=DECILES, bounds=BOUNDS, step=1, epsilon=0.5)
    edges = list(range(0, BOUNDS[1] + 1, BIN))
    histogram = session.histogram(bins=edges, epsilon=0.4)
    return Answers(mean, deciles, histogram, f"epsilon {float(session.spent.epsilon):g}")


def _table(answers: Answers, data: NDArray[np.int64]) -> Table:
    table = Table(title="Wages, dollars per year", title_justify="left")
    for name in ("", "released", interval_head(0.95), "truth", "error"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    lows, highs = answers.deciles.interval()
    truths = np.quantile(data, DECILES, method="inverted_cdf")
    deciles = (column.tolist() for column in (answers.deciles.value, lows, highs, truths))
    numbers = [
        (answers.mean.value, *answers.mean.interval(), float(data.mean())),
        *zip(*deciles, strict=True),
    ]
    for i, (released, low, high, truth) in enumerate(numbers):
        name = {0: "mean", 5: "median"}.get(i, f"decile {i}")
        value, *ends = row(released, (low, high))
        off = f"{released - truth:+.0f}"
        table.add_row(name, value, interval_text(*ends), shown(round(truth), 1.0), off)
    return table


def _draw(answers: Answers, data: NDArray[np.int64], path: Path) -> None:
    figure, axes = figures.canvas(10.5, 4.8)
    edges = np.arange(0, BOUNDS[1] + 1, BIN)
    released = np.asarray(answers.histogram.value, float)
    truth = np.histogram(np.clip(data, *BOUNDS), edges)[0]
    axes.bar(
        edges[:-1], released, width=BIN * 0.94, align="edge", color=figures.PALE, label="released"
    )
    axes.stairs(truth, edges, color=figures.RED, lw=0.9, label="truth")
    figures.legend(axes)
    _deciles(axes, answers, released.max())
    _mean(axes, answers.mean.value)
    _differences(axes.inset_axes([0.62, 0.33, 0.36, 0.3]), answers, truth)
    axes.set_xlim(0, 160_000)
    axes.set_ylim(0, released.max() * 1.22)
    for axis in (axes.xaxis, axes.yaxis):
        figures.gaps(axis)
    axes.set_xlabel("dollars per year", color=figures.INK)
    axes.set_ylabel("people", color=figures.INK)
    axes.set_title(
        "247,696 wages: histogram, deciles and mean, all for epsilon 1",
        loc="left", color=figures.INK, fontsize=12, weight="bold", pad=10,
    )  # fmt: skip
    figure.savefig(path)


def _deciles(axes: Any, answers: Answers, top: float) -> None:
    for i, value in enumerate(answers.deciles.value, 1):
        axes.plot([value, value], [0, top * 1.07], color=figures.INK, lw=0.8, ls=":")
        name = "median" if i == 5 else f"{i}0%"
        axes.annotate(
            f"{name}\n{value / 1000:,.1f}k", (value, top * 1.08), ha="center", va="bottom",
            color=figures.INK, fontsize=7.5,
        )  # fmt: skip


def _mean(axes: Any, mean: float) -> None:
    axes.plot(mean, 0, "^", color=figures.BLUE, ms=9, clip_on=False, zorder=5)
    axes.annotate(
        f"mean {shown(round(mean), 1.0)}", (mean, 0), (7, 7), textcoords="offset points",
        color=figures.BLUE, fontsize=8.5, weight="bold",
    )  # fmt: skip


def _differences(inset: Any, answers: Answers, truth: NDArray[np.int64]) -> None:
    """Draw what the bars are off by, too little to be seen on them, and what they may be off by."""
    released = np.asarray(answers.histogram.value)
    low, high = (np.asarray(end) for end in answers.histogram.interval())
    half = float((high - low).max() / 2)
    inset.axhspan(-half, half, color=figures.PALE, alpha=0.6, lw=0)
    inset.vlines(np.arange(len(truth)), 0, released - truth, color=figures.BLUE, lw=2)
    inset.axhline(0, color=figures.RED, lw=0.9)
    inset.set_ylim(-half * 1.5, half * 1.5)
    inset.set_xticks([])
    inset.tick_params(labelsize=7.5, colors=figures.INK, length=2)
    for side in ("top", "right", "bottom"):
        inset.spines[side].set_visible(False)
    inset.set_title(
        f"released minus true counts (95% CI for all: ±{half:.0f})",
        loc="left", fontsize=8, color=figures.INK,
    )  # fmt: skip
