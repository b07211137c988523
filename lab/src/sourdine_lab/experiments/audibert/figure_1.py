"""Figures 1 to 3: private means of 1000 values, with Laplace and with Gaussian noise.

Values are whole numbers from 0 to 1000, so the noise is drawn on their sum, in whole numbers, and
the mean is what is drawn over 1000.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.mechanisms.gaussian import gaussian_law, tight_variance
from sourdine.mechanisms.laplace import laplace_law
from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.laws import Law
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

N, TOP = 1000, 1000
C = 5
DELTA = Fraction(1, 100 * N)
HALF_WIDTH, BINS = 20.25, 81
"""At epsilon 0.8 bins are 0.5 wide, as in the document; at 0.1 eight times as wide."""
DATA = 1
COARSER = 20
"""The tight variance is found on a grid so many times as coarse: the same to some millionths."""
PANELS = {
    ("laplace", 0.8): "Figure 1: Laplace, ε = 0.8",
    ("laplace", 0.1): "Laplace, ε = 0.1",
    ("gaussian", 0.8): "Figure 3: Gaussian, ε = 0.8",
    ("gaussian", 0.1): "Figure 2: Gaussian, ε = 0.1",
}


def parts(settings: Settings) -> list[Settings]:
    """One part a panel."""
    return [{"kind": kind, "epsilon": e, "runs": settings["runs"]} for kind, e in PANELS]


def compute(part: Part) -> Iterator[Row]:
    """Yield, for each bin, how many means fell there and how many the law expects."""
    epsilon, runs = Fraction(str(part["epsilon"])), part["runs"]
    total = int(np.random.default_rng(DATA).integers(0, TOP, N, endpoint=True).sum())
    law, tight = _laws(part["kind"], total, epsilon)
    drawn = total + _noise(part["kind"], epsilon, runs, part.source)
    edges = total / N + np.linspace(-1, 1, BINS + 1) * HALF_WIDTH * 0.8 / part["epsilon"]
    counts, _ = np.histogram(drawn / N, edges)
    expected, tightly = (runs * _between(one, edges) for one in (law, tight))
    deviation, least = (one.variance() ** 0.5 / N for one in (law, tight))
    for i in range(BINS):
        yield {
            "kind": part["kind"], "epsilon": part["epsilon"], "runs": runs,
            "low": edges[i], "high": edges[i + 1], "estimates": counts[i],
            "expected": expected[i], "tight": tightly[i], "mean": total / N,
            "deviation": deviation, "tight_deviation": least,
        }  # fmt: skip


def _variance(epsilon: Fraction) -> Fraction:
    """Return the document's variance of the sum's noise, with c = 5."""
    return (C * TOP / epsilon) ** 2


def _laws(kind: str, total: int, epsilon: Fraction) -> tuple[Law, Law]:
    """Return the law of the noisy sum, and the one with no more noise than it takes."""
    if kind == "laplace":
        law = laplace_law(total, TOP / epsilon)
        return law, law
    tight = tight_variance(epsilon, DELTA, TOP // COARSER) * COARSER**2
    return gaussian_law(total, _variance(epsilon)), gaussian_law(total, tight)


def _noise(kind: str, epsilon: Fraction, runs: int, source: Source) -> NDArray[np.int64]:
    if kind == "laplace":
        return noise.discrete_laplace(TOP / epsilon, runs, source=source)
    return noise.discrete_gaussian(_variance(epsilon), runs, source=source)


def _between(law: Law, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of a mean from each edge up to the next."""
    return np.diff(law.cdf(np.ceil(edges * N).astype(np.int64) - 1))


def draw(table: Table) -> Any:
    """Draw the four histograms, Laplace above Gaussian."""
    figure, panels = look.panels(4, rows=2, width=9.5, height=6)
    for axes, ((kind, epsilon), title) in zip(panels, PANELS.items(), strict=True):
        _histogram(axes, table.where(kind=kind, epsilon=epsilon))
        look.titled(axes, title, x="private mean" if kind == "gaussian" else "", y="")
    for axes in panels[::2]:
        axes.set_ylabel(f"estimates of {table['runs'][0]} per bin", color=look.BLACK)
    look.note(panels[2], "the document:\n“a finer and higher peak”\nthan Laplace's", x=0.98)
    look.note(panels[3], "the document:\n“much more blurred”\nthan Laplace's", x=0.98)
    return figure


def _histogram(axes: Any, rows: Table) -> None:
    """Draw the estimates, their law, and the law with no more noise than it takes."""
    tint = look.colour(rows["kind"][0])
    edges = np.append(rows["low"], rows["high"][-1])
    x = (edges[:-1] + edges[1:]) / 2
    axes.axvline(rows["mean"][0], color=look.colour("truth"), linewidth=0.8)
    axes.stairs(rows["estimates"], edges, fill=True, color=tint, alpha=0.35)
    axes.plot(x, rows["expected"], color=tint, linewidth=1.6)
    words = f"standard deviation {rows['deviation'][0]:.2f}"
    if rows["kind"][0] == "gaussian":
        axes.plot(x, rows["tight"], "--", color=look.colour("today"), linewidth=1.3)
        words += f"\ntight calibration {rows['tight_deviation'][0]:.2f} (dashed)"
    look.note(axes, words)
    axes.set_xlim(edges[0], edges[-1])


EXPERIMENT = Experiment(
    name="audibert-1",
    ids=("A1", "A2", "A4"),
    title="A private mean with Laplace and with Gaussian noise",
    question=(
        "How do 2000 private means of the same 1000 values spread, and does lowering epsilon by a "
        "factor of 8 hurt Gaussian noise more than Laplace noise?"
    ),
    stated=(
        "the Gaussian peak at epsilon 0.8 is finer and higher than the Laplace peak, and lowering "
        "epsilon blurs it much more"
    ),
    parts=parts,
    compute=compute,
    draw=draw,
    full={"runs": 2000},
    quick={"runs": 2000},
    figures=("audibert-1", "audibert-2", "audibert-3"),
)
