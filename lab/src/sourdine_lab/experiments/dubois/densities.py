"""What is left of a density: the paper's noise, exact sensitivities, and what Sourdine does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.densities.call import best_protocol
from sourdine.local.densities.dubois import Dubois, rebuilt
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.risks import CELLS, X, noisy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

WAYS = {
    "paper": ("wavelets", "The paper's scales, thresholded"),
    "exact": ("linear", "Exact sensitivities, thresholded"),
    "today": ("today", "What Sourdine chooses"),
}
SHOWN = 256
"""Places that are drawn."""


def truth() -> NDArray[np.float64]:
    """Return the heights of a density with two modes."""
    bumps = [np.exp(-0.5 * ((X - at) / wide) ** 2) / wide for at, wide in ((0.3, 0.07), (0.7, 0.1))]
    f = np.sum(bumps, axis=0)
    return np.asarray(f / f.mean())


def parts(settings: Settings) -> list[Settings]:
    """One part a way."""
    return [{"way": way, **settings} for way in WAYS]


def compute(part: Part) -> Iterator[Row]:
    """Yield the first of some estimates at alpha 1, the truth, and the mean squared error."""
    n, way, runs, rng, source = part["n"], part["way"], part["runs"], part.rng, part.source
    f = truth()
    found = [
        _chosen(n, f, rng, source) if way == "today" else _thresholded(n, f, rng, way)
        for _ in range(runs)
    ]
    errors = [((one - f) ** 2).mean() for one in found]
    for i in range(0, CELLS, CELLS // SHOWN):
        yield {
            "way": way, "n": n, "runs": runs, "x": X[i], "found": found[0][i], "truth": f[i],
            "risk": np.mean(errors), "error": np.std(errors, ddof=1) / runs**0.5,
        }  # fmt: skip


def _thresholded(
    n: int, f: NDArray[np.float64], rng: np.random.Generator, constants: str
) -> NDArray[np.float64]:
    rule = Dubois(bounds=(0, 1), epsilon=1, n=n, constants=constants)  # type: ignore[arg-type]
    averages = noisy(rule, n, f, rng)
    return rebuilt(rule.basis, averages, [0.0] * len(averages), rule.thresholds(n), cap=True)[0]


def _chosen(
    n: int, f: NDArray[np.float64], rng: np.random.Generator, source: Source
) -> NDArray[np.float64]:
    protocol = best_protocol(bounds=(0, 1), epsilon=1, n=n)
    people = np.repeat(np.arange(CELLS), rng.multinomial(n, f / f.sum()))
    chunks = np.array_split(people, -(-n // protocol.chunk))
    tally: Any = sum(protocol.tally(protocol.reports(chunk, source)) for chunk in chunks)
    heights = protocol.estimate(tally, n).heights
    return np.repeat(heights, CELLS // heights.size)


def draw(table: Table) -> Any:
    """Draw the estimates side by side."""
    figure, panels = look.panels(3, width=12.5, height=4)
    for axes, (way, rows) in zip(panels, table.by("way"), strict=True):
        method, title = WAYS[way]
        look.stated(axes, rows["x"], rows["truth"], "_truth")
        look.band(axes, rows["x"], rows["found"], method=method)
        risk, error = float(rows["risk"][0]), float(rows["error"][0])
        look.note(axes, f"squared error {risk:.3g} ± {error:.2g}, mean of {rows['runs'][0]} runs")
        look.titled(axes, title, x="x", y="")
    panels[0].set_ylabel("density (dotted: the truth)")
    panels[0].set_ylim(-0.9, 4.4)
    people = f"{int(table['n'][0]):,}"
    figure.suptitle(rf"{people} people, $\alpha$ = 1", x=0.01, ha="left", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="dubois-densities",
    ids=("W2", "W3"),
    title="A density from noisy wavelets",
    question="What do the paper's constants leave of a density, and what does better calibration?",
    stated="Laplace noise, suitably scaled, on all wavelet coefficients, then thresholds; no"
    " simulation is shown",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"n": 1_000_000, "runs": 6},
    quick={"n": 1_000_000, "runs": 2},
    figures=(),
)
