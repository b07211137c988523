"""Queries that follow from answers: how wide the certified ends become as they grow many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, integers, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

LEDGER, SERVER = "Sourdine's ledger alone", "Sourdine's server"
SEEN = "its largest error, seen"
COLOURS = {
    "fixed beforehand": ("no privacy", True),
    "splitting": ("splitting", False),
    "Gaussian noise, published": ("gaussian", True),
    "Gaussian noise, sharp": ("gaussian", False),
    "median mechanism": ("median mechanism", False),
    LEDGER: ("ledger", False),
    SERVER: ("today", False),
    SEEN: ("truth", True),
}
"""The colour of each way, and whether its line is dashed."""


def _queries(most: int, count: int) -> list[int]:
    return [int(k) for k in np.unique(np.geomspace(2, most, count).astype(int))]


SETTINGS = (
    Setting("n", 100_000, integer(least=100), "rows of the sample"),
    Setting("cells", 1 << 13, integer(least=2), "values that a row may have"),
    Setting("beta", 0.05, number(above=0, below=1), "chance that some answer is off by more"),
    Setting("error", 0.05, number(above=0, below=1), "error from which on an answer is a surprise"
            " to the server"),
    Setting("queries", _queries(20_000, 25), integers(least=2), "numbers of queries",
            quick=_queries(2_000, 12), split=True),
    Setting("exponent", 0.8, number(least=0), "the i-th value's share is in proportion to i to"
            " minus this"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part for the formulas, one for the server under attack."""
    return [{"kind": kind, "numbers": settings["queries"]} for kind in ("formulas", "server")]


def compute(part: Part) -> Iterator[Row]:
    """Yield the certified half-width of every way at every number of queries.

    The ledger alone answers with the sample's average rounded to so many bits as are best: all of
    them are charged. The server is charged for surprises.
    """
    return _formulas(part) if part["kind"] == "formulas" else _attacked(part)


def _formulas(part: Part) -> Iterator[Row]:
    from sourdine_lab.answering import widths
    from sourdine_lab.answering.compression import concentrated_accuracy

    n, beta = part["n"], part["beta"]
    for k in part["numbers"]:
        found = {
            "fixed beforehand": widths.non_adaptive(n, k, beta),
            "splitting": widths.splitting(n, k, beta),
            "Gaussian noise, published": widths.gaussian_information(n, k, beta),
            "Gaussian noise, sharp": widths.gaussian_sharp(n, k, beta),
            "median mechanism": concentrated_accuracy(n, k, part["cells"], beta, sharp=True).total,
            LEDGER: min(widths.told(n, k, beta, b) + 2.0 ** -(b + 1) for b in range(1, 12)),
        }
        for way, width in found.items():
            yield {"way": way, "queries": k, "width": min(float(width), 1.0)}


def _attacked(part: Part) -> Iterator[Row]:
    """Let the overfitting analyst question the server, whose surprises set its width."""
    from sourdine.adaptive.query_server.server import QueryServer
    from sourdine_lab.game import Exchange, Overfitting, Transcript
    from sourdine_lab.samples import iid

    rng, numbers, cells = part.rng, set(part["numbers"]), part["cells"]
    law = zipf(cells, rng, part["exponent"])
    server = QueryServer(
        iid(law, part["n"], rng=rng), universe=cells, error=part["error"],
        confidence=round(1 - part["beta"], 12),
    )  # fmt: skip
    heard: list[Exchange] = []
    analyst, transcript = Overfitting(law, max(numbers), rng=rng), Transcript(heard)
    largest = 0.0
    for k in range(1, max(numbers) + 1):
        query: Any = analyst.ask(transcript)
        answer = server.ask(query)
        largest = max(largest, abs(answer.value - float(query @ law)))
        heard.append(Exchange(query, answer.value))
        if k in numbers:
            yield {"way": SERVER, "queries": k, "width": server.certificate().halfwidth}
            yield {"way": SEEN, "queries": k, "width": largest}


def zipf(size: int, rng: np.random.Generator, exponent: float = 0.8) -> NDArray[np.float64]:
    """Return a law in which few cells are common and most are rare, in any order."""
    law = 1 / np.arange(1, size + 1) ** exponent
    return rng.permutation(law / law.sum())


def draw(table: Table, settings: Settings) -> Any:
    """Draw the widths against the number of queries."""
    figure, (axes,) = look.panels(1, width=8.5, height=5.0)
    for way, rows in table.by("way"):
        colour, dashed = COLOURS[way]
        told = rows["width"] < 1
        last = np.flatnonzero(told)[-1] + 1 if np.any(told) else 0
        if last:
            x, y = rows["queries"][:last], rows["width"][:last]
            look.band(axes, x, y, method=colour, label=way, dashed=dashed)
    look.logarithmic(axes)
    look.titled(
        axes, f"{settings['n']:,} rows, {settings['cells']:,} cells: all answers within the width,"
        f" probability {1 - settings['beta']:g}",
        x="adaptive queries k", y="certified half-width",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="today-adaptive",
    ids=("S5", "S7", "S8", "S9"),
    title="Adaptive queries: certified widths of all ways to answer",
    question="Which way certifies the shortest ends for many queries that follow from answers?",
    stated="the median mechanism is within (ln(4k)/2n)^(1/4) of the sample, and its transcripts "
    "take O~(sqrt n log|X| log^(3/2) k) bits",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
