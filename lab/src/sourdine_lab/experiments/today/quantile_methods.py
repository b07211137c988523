"""The quantile methods of the documents and today's, called alike.

Neighbours differ by one record replaced, as in Canesse 2022, so n is public; epsilon is the total
of a call. The histogram has the 1.5 n/ln n cells of the document. What Sourdine chooses by itself
is called *Sourdine*.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]
    Drawn = Callable[[np.random.Generator, int], Floats]

__all__ = [
    "DECILES", "METHODS", "SOURDINE", "colour_name", "deciles_against_n", "draw_against_n",
    "rank_errors", "released", "sample_quantiles", "spread",
]  # fmt: skip

DECILES = tuple(i / 10 for i in range(1, 10))
SOURDINE = "Sourdine"
METHODS = {
    "histogram": "histogram",
    "inverse sensitivity": "inverse_sensitivity",
    "IndExp": "exponential",
    "JointExp": "jointexp",
    "RecExp": "recursive",
    SOURDINE: "auto",
}
"""What a figure calls a method, and what the library does."""


def colour_name(method: str) -> str:
    """Return the name under which a method has its colour."""
    return "today" if method == SOURDINE else method.lower()


def sample_quantiles(x: Floats, q: Sequence[float]) -> Floats:
    """Return the records of numbers ceil(qn) in order."""
    return np.quantile(x, q, method="inverted_cdf")


def spread(m: int) -> tuple[float, ...]:
    """Return m equally spaced orders."""
    return tuple(i / (m + 1) for i in range(1, m + 1))


def released(
    method: str,
    x: Floats,
    q: Sequence[float],
    *,
    bounds: tuple[float, float],
    step: float,
    epsilon: float,
    source: Source,
) -> Floats:
    """Release the quantiles by one of `METHODS`."""
    from sourdine import quantiles
    from sourdine.central.quantiles.naive import HistogramMethod
    from sourdine.grid import Grid

    if method == "histogram":
        grid, steps = Grid(*bounds, step=step), round(1.5 * len(x) / log(len(x)))
        search = HistogramMethod(
            epsilon=epsilon, q=q, cells=grid.size, steps=min(steps, grid.size),
            relation="substitute",
        )  # fmt: skip
        return np.asarray(grid.values(search.release(grid.ticks(x), source=source).value), float)
    release = quantiles(
        x, list(q), bounds=bounds, step=step, epsilon=epsilon, relation="substitute", n=len(x),
        method=METHODS.get(method, method), interval=None, source=source,
    )  # fmt: skip
    return np.asarray(release.value, float)


def rank_errors(x: Floats, values: Floats, q: Sequence[float]) -> Floats:
    """Return how far the ranks of the values are from qn: 0 where qn is among those of a tie."""
    ordered, goal = np.sort(x), np.array(q) * len(x)
    below, up_to = ordered.searchsorted(values, "left"), ordered.searchsorted(values, "right")
    return np.asarray(np.maximum(np.maximum(below - goal, goal - up_to), 0.0))


def deciles_against_n(
    part: Part, drawn: Drawn, truth: Floats, *, bounds: tuple[float, float], step: float
) -> Iterator[Row]:
    """Yield, for each method, the root mean square error of the nine deciles at epsilon 1.

    The mean is over the deciles, then errors are averaged over fresh samples; from the sample's
    deciles and from the law's.
    """
    n, rng, source = part["n"], part.rng, part.source
    errors: dict[str, list[tuple[float, float]]] = {m: [] for m in (*METHODS, "no privacy")}
    for _ in range(part["runs"]):
        x = drawn(rng, n)
        own = sample_quantiles(x, DECILES)
        for method, seen in errors.items():
            told = own if method == "no privacy" else released(
                method, x, DECILES, bounds=bounds, step=step, epsilon=1, source=source
            )  # fmt: skip
            seen.append((_distance(told, own), _distance(told, truth)))
    for method, seen in errors.items():
        sample, population = (mean_and_error(column) for column in zip(*seen, strict=True))
        yield {"n": n, "method": method, "runs": part["runs"], "error": sample[0],
               "deviation": sample[1], "law_error": population[0],
               "law_deviation": population[1]}  # fmt: skip


def _distance(a: Floats, b: Floats) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def draw_against_n(table: Table, law: str, fits: Callable[[Any], None]) -> Any:
    """Draw both errors against n, side by side; ``fits`` adds what the document states."""
    from sourdine_lab import look

    figure, axes = look.panels(2, width=11.5, height=4.6)
    columns = (("error", "deviation"), ("law_error", "law_deviation"))
    for one, (error, deviation) in zip(axes, columns, strict=True):
        for method, rows in table.by("method"):
            if error == "law_error" or method != "no privacy":
                look.band(
                    one, rows["n"], rows[error], uncertainty(rows, error, deviation),
                    method=colour_name(method), label=method, dashed=method == "IndExp",
                )  # fmt: skip
    fits(axes[0])
    for one, words in zip(axes, ("sample's own", "law's"), strict=True):
        look.titled(one, f"{law}: from the {words} deciles", x="records n", y="")
    axes[0].set_ylabel("root mean square error of nine deciles, ε = 1 in all")
    for one in axes:
        look.logarithmic(one)
    for one in axes:
        look.name_lines(one)
    return figure
