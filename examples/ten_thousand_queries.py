"""Ten thousand questions to one sample, each after the last answer, with ends that hold for all.

Run ``python examples/ten_thousand_queries.py`` (needs ``pip install '.[plot]'``). An
attacker who knows the population, but not the sample, asks ten thousand queries to find out what is
special about the sample, and ends with a query that fits it. The picture goes to
``examples/out/ten_thousand_queries.png``.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourdine.adaptive.query_server.server import QueryServer, report
from sourdine.results.charts import BLUE, GREY, INK, PALE, RED, RULE, canvas, gaps
from sourdine.results.tables import shown
from sourdine_lab.answering import widths
from sourdine_lab.game import Exchange, Overfitting, Transcript
from sourdine_lab.samples import iid

if TYPE_CHECKING:
    from sourdine.adaptive.answers import AdaptiveAnswer

PICTURE = Path(__file__).parent / "out" / "ten_thousand_queries.png"
ROWS, QUERIES, CELLS = 100_000, 10_000, 2**13
FLOOR = 1e-3
"""Nearer than this is not drawn."""
SPLITTING = widths.splitting(ROWS, QUERIES)
GAUSSIAN = widths.gaussian_sharp(ROWS, QUERIES)
"""By the sharpest account there is; the published one says more."""
PUBLISHED = widths.gaussian_information(ROWS, QUERIES)


def population(rng: np.random.Generator) -> np.ndarray:
    """Return a law in which few cells are common and most are rare."""
    law = 1 / np.arange(1, CELLS + 1) ** 0.8
    return rng.permutation(law / law.sum())


def attack(
    server: QueryServer, law: np.ndarray, rng: np.random.Generator
) -> tuple[list[AdaptiveAnswer], np.ndarray]:
    """Return all answers, and the truth of each query."""
    analyst, exchanges = Overfitting(law, QUERIES, rng=rng), []
    heard, answers, truths = Transcript(exchanges), [], []
    for _ in track(range(QUERIES), "queries"):
        query: Any = analyst.ask(heard)
        answers.append(server.ask(query))
        truths.append(float(query @ law))
        exchanges.append(Exchange(query, answers[-1].value))
    return answers, np.array(truths)


def table(server: QueryServer, errors: np.ndarray, seconds: float) -> Table:
    """Return what was proved and what was seen."""
    grid = Table(title=f"{many(QUERIES)} queries to {many(ROWS)} rows of {many(CELLS)} cells")
    grid.add_column("of all answers")
    grid.add_column("figure", justify="right")
    for name, figure in {
        "certified half-width": f"{server.certificate().halfwidth:.4f}",
        "the same by Gaussian noise": f"{GAUSSIAN:.4f}",
        "the same by Gaussian noise, as published": f"{PUBLISHED:.4f}",
        "the same by splitting the sample": f"{SPLITTING:.4f}",
        "largest error": f"{np.abs(errors).max():.4f}",
        "error of the query that fits the sample": f"{errors[-1]:+.4f}",
        "surprises": many(server.hard),
        "surprises there could be": many(server.most_hard),
        "bits told": many(round(server.bits)),
        "seconds, the attacker's included": f"{seconds:.1f}",
    }.items():
        grid.add_row(name, figure)
    return grid


def many(number: int | None) -> str:
    """Return a number with gaps between the thousands."""
    return shown(number or 0, 1)


def draw(answers: list[AdaptiveAnswer], errors: np.ndarray) -> None:
    """Draw how far each answer is off, and how far it may be."""
    figure, axes = canvas(8.0, 4.6)
    x, off = np.arange(1, len(answers) + 1), np.abs(errors)
    most = np.array([max(a.value - a.lower, a.upper - a.value) for a in answers])
    hard = np.array([answer.source == "data" for answer in answers])
    axes.fill_between(x, FLOOR, most, color=PALE, linewidth=0)
    axes.plot(x[~hard], off[~hard], ".", color=BLUE, markersize=1.6, alpha=0.5)
    axes.plot(x[hard], off[hard], "o", color=RED, markersize=3.5)
    for width, name, colour in (
        (SPLITTING, "splitting the sample", GREY),
        (GAUSSIAN, "Gaussian noise", GREY),
        (most.max(), "the query server", INK),
    ):
        axes.axhline(width, color=colour, linewidth=1, linestyle="--" if colour == GREY else "-")
        axes.annotate(
            f"certified for all by {name}: {width:.2f}", (len(x), width), (-4, 3),
            textcoords="offset points", color=INK, ha="right", fontsize=8,
        )  # fmt: skip
    axes.annotate(
        "red: answered from the data", (0, most.max()), (5, 5), textcoords="offset points",
        color=RED, fontsize=8,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(FLOOR, 1.2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlim(0, len(x))
    gaps(axes.xaxis)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.set_xlabel("query", color=INK)
    axes.set_ylabel("distance of the answer from the truth", color=INK)
    axes.set_title(
        f"{many(len(x))} adaptive queries to {many(ROWS)} rows", loc="left", color=INK, pad=10
    )
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE)


def main() -> None:
    """Ask, show and draw."""
    rng, console = np.random.default_rng(7), Console()
    law = population(rng)
    sample = iid(law, ROWS, rng=rng)
    start = perf_counter()
    server = QueryServer(sample, universe=CELLS)
    answers, truths = attack(server, law, rng)
    errors = np.array([answer.value for answer in answers]) - truths
    console.print(table(server, errors, perf_counter() - start))
    console.print(report(server, {"overfitting, largest error": float(np.abs(errors).max())}))
    draw(answers, errors)
    console.print(f"picture: {PICTURE.relative_to(Path(__file__).parent.parent)}")


if __name__ == "__main__":
    main()
