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
from sourdine_lab.settings import DataLaw, Setting, integer, integers, number, words
from sourdine_lab.settings import bounds as bounds_kind
from sourdine_lab.settings import law as law_kind
from sourdine_lab.settings import orders as orders_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

__all__ = [
    "DECILES", "METHODS", "SOURDINE", "against_n", "against_n_settings", "colour_name",
    "draw_against_n", "how_many", "parts_of_sizes", "quantile_settings", "rank_errors", "released",
    "sample_quantiles", "spread",
]  # fmt: skip

DECILES = tuple(i / 10 for i in range(1, 10))
SOURDINE, BARE = "Sourdine", "no privacy"
METHODS = {
    "histogram": "histogram",
    "inverse sensitivity": "inverse_sensitivity",
    "IndExp": "exponential",
    "JointExp": "jointexp",
    "RecExp": "recursive",
    SOURDINE: "auto",
}
"""What a figure calls a method, and what the library does."""
MOST_SIZES = (12, 5)
"""Sizes of a sample between 100 and 5000, of a full and of a quick run."""


def quantile_settings(bounds: tuple[float, float], step: float) -> tuple[Setting, ...]:
    """Return the settings of the quantiles themselves, nine deciles by default."""
    return (
        Setting("orders", list(DECILES), orders_kind(), "orders of the quantiles"),
        Setting("bounds", list(bounds), bounds_kind(), "public bounds of the records"),
        Setting("step", step, number(above=0), "step of the grid of answers"),
        Setting("methods", list(METHODS), words(*METHODS), "the methods that are compared"),
    )


def against_n_settings(law: str, bounds: tuple[float, float], step: float) -> tuple[Setting, ...]:
    """Return the settings of errors against n."""
    full, quick = (
        np.unique(np.geomspace(100, 5000, count).astype(int)).tolist() for count in MOST_SIZES
    )
    return (
        Setting("epsilon", 1, number(above=0), "privacy loss of all quantiles together"),
        Setting("law", law, law_kind(), "the law of the records"),
        Setting("sizes", full, integers(least=10), "records in a sample", quick=quick, split=True),
        Setting("runs", 150, integer(least=2), "samples for each size", quick=20, split=True),
        *quantile_settings(bounds, step),
    )


def parts_of_sizes(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    return [{"n": n, "runs": settings["runs"]} for n in settings["sizes"]]


def how_many(orders: Sequence[float]) -> str:
    """Return what the quantiles are called on a figure.

    Examples
    --------
    >>> how_many(DECILES), how_many([0.5, 0.9])
    ('nine deciles', '2 quantiles')
    """
    if tuple(orders) == DECILES:
        return "nine deciles"
    return f"{len(orders)} quantiles" if len(orders) > 1 else "one quantile"


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
    bounds: Sequence[float],
    step: float,
    epsilon: float,
    source: Source,
) -> Floats:
    """Release the quantiles by one of `METHODS`."""
    from sourdine import quantiles
    from sourdine.central.quantiles.naive import HistogramMethod
    from sourdine.grid import Grid

    if method == "histogram":
        low, high = bounds
        grid, steps = Grid(low, high, step=step), round(1.5 * len(x) / log(len(x)))
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


def against_n(part: Part) -> Iterator[Row]:
    """Yield, for each method, the root mean square error of the quantiles.

    The mean is over the quantiles, then errors are averaged over fresh samples; from the sample's
    quantiles and from the law's.
    """
    n, rng, source = part["n"], part.rng, part.source
    law, orders = DataLaw.read(part["law"]), part["orders"]
    truth = law.quantile(orders)
    errors: dict[str, list[tuple[float, float]]] = {m: [] for m in (*part["methods"], BARE)}
    for _ in range(part["runs"]):
        x = law.draw(rng, n)
        own = sample_quantiles(x, orders)
        for method, seen in errors.items():
            told = own if method == BARE else released(
                method, x, orders, bounds=part["bounds"], step=part["step"],
                epsilon=part["epsilon"], source=source,
            )  # fmt: skip
            seen.append((_distance(told, own), _distance(told, truth)))
    for method, seen in errors.items():
        sample, population = (mean_and_error(column) for column in zip(*seen, strict=True))
        yield {"n": n, "method": method, "runs": part["runs"], "error": sample[0],
               "deviation": sample[1], "law_error": population[0],
               "law_deviation": population[1]}  # fmt: skip


def _distance(a: Floats, b: Floats) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def draw_against_n(
    table: Table, settings: Settings, fits: Callable[[Any], None] = lambda _: None
) -> Any:
    """Draw both errors against n, side by side; ``fits`` adds what the document states."""
    from sourdine_lab import look

    figure, axes = look.panels(2, width=11.5, height=4.6)
    columns = (("error", "deviation"), ("law_error", "law_deviation"))
    for one, (error, deviation) in zip(axes, columns, strict=True):
        for method, rows in table.by("method"):
            if error == "law_error" or method != BARE:
                look.band(
                    one, rows["n"], rows[error], uncertainty(rows, error, deviation),
                    method=colour_name(method), label=method, dashed=method == "IndExp",
                )  # fmt: skip
    fits(axes[0])
    what = how_many(settings["orders"])
    low, high = settings["bounds"]
    law = f"{settings['law']} in [{low:g}, {high:g}]"
    for one, whose in zip(axes, ("sample's own", "law's"), strict=True):
        look.titled(one, f"{law}: from the {whose} {what.split()[-1]}", x="records n", y="")
    axes[0].set_ylabel(f"root mean square error of {what}, ε = {settings['epsilon']:g} in all")
    for one in axes:
        look.logarithmic(one)
    for one in axes:
        look.name_lines(one)
    return figure
