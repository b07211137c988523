"""What is left of a density: the theorem's estimator, exact sensitivities, what Sourdine does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.densities.call import best_protocol
from sourdine.local.densities.dubois import Dubois, rebuilt
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.risks import CELLS, X, noisy, printed_hard, wavelet
from sourdine_lab.settings import Setting, integer, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

WAYS = {
    "printed": ("one bit", "The theorem's estimator"),
    "exact": ("wavelets", "Ours: exact sensitivities"),
    "today": ("today", "What Sourdine chooses"),
}
SHOWN = 256
"""Places that are drawn."""


def truth(
    places: Sequence[float] = (0.3, 0.7), widths: Sequence[float] = (0.07, 0.1)
) -> NDArray[np.float64]:
    """Return the heights of a density with bumps."""
    pairs = zip(places, widths, strict=True)
    f = np.sum([np.exp(-0.5 * ((X - at) / wide) ** 2) / wide for at, wide in pairs], axis=0)
    return np.asarray(f / f.mean())


def parts(settings: Settings) -> list[Settings]:
    """One part a way."""
    return [
        {"way": way, "n": settings["n"], "runs": settings["runs"]} for way in settings["methods"]
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the first of some estimates, the truth, and the mean squared error."""
    n, way, runs, rng, source = part["n"], part["way"], part["runs"], part.rng, part.source
    f = truth(part["places"], part["widths"])
    found = []
    for _ in range(runs):
        if way == "printed":
            made = printed_hard(n, f, rng, alpha=part["epsilon"], name=part["printed_wavelet"],
                                nu=part["nu"], gamma=part["gamma"])  # fmt: skip
        elif way == "exact":
            made = _exact(n, f, rng, part["epsilon"], part["wavelet"])
        else:
            made = _chosen(n, f, rng, part["epsilon"], source)
        found.append(made)
    errors = [((one - f) ** 2).mean() for one in found]
    for i in range(0, CELLS, CELLS // SHOWN):
        yield {
            "way": way, "n": n, "runs": runs, "x": X[i], "found": found[0][i], "truth": f[i],
            "risk": np.mean(errors), "error": np.std(errors, ddof=1) / runs**0.5,
        }  # fmt: skip


def _exact(
    n: int, f: NDArray[np.float64], rng: np.random.Generator, alpha: float, name: str
) -> NDArray[np.float64]:
    rule = Dubois(bounds=(0, 1), epsilon=alpha, n=n, wavelet=name)
    averages = noisy(rule, n, f, rng)
    return rebuilt(rule.basis, averages, [0.0] * len(averages), rule.thresholds(n), cap=True)[0]


def _chosen(
    n: int, f: NDArray[np.float64], rng: np.random.Generator, alpha: float, source: Source
) -> NDArray[np.float64]:
    protocol = best_protocol(bounds=(0, 1), epsilon=alpha, n=n)
    people = np.repeat(np.arange(CELLS), rng.multinomial(n, f / f.sum()))
    chunks = np.array_split(people, -(-n // protocol.chunk))
    tally: Any = sum(protocol.tally(protocol.reports(chunk, source)) for chunk in chunks)
    heights = protocol.estimate(tally, n).heights
    return np.repeat(heights, CELLS // heights.size)


def draw(table: Table, settings: Settings) -> Any:
    """Draw the estimates side by side; the theorem's has a scale of its own."""
    ways = list(table.by("way"))
    figure, panels = look.panels(len(ways), width=4.2 * len(ways), height=4, sharey=False)
    for axes, (way, rows) in zip(panels, ways, strict=True):
        method, title = WAYS[way]
        look.band(axes, rows["x"], rows["found"], method=method)
        look.stated(axes, rows["x"], rows["truth"], "_truth")
        risk, error = float(rows["risk"][0]), float(rows["error"][0])
        said = f"squared error {risk:.3g} ± {error:.2g}, mean of {rows['runs'][0]} runs"
        if way == "printed":
            said = f"{_levels(settings)}\n{said}"
        look.titled(axes, title, x="x", y="")
        top = max(rows["found"].max(), rows["truth"].max())
        low = min(rows["found"].min(), 0.0)
        axes.set_ylim(low - 0.05 * (top - low), top + 0.3 * (top - low))
        look.note(axes, said)
    panels[0].set_ylabel("density (dotted: the truth)")
    f = truth(settings["places"], settings["widths"])
    people = f"{settings['n']:,} people, $\\alpha$ = {settings['epsilon']:g}"
    zero = f"the estimate 0 has a squared error of {(f**2).mean():.2g}"
    figure.suptitle(f"{people}; {zero}", x=0.01, ha="left", fontsize=10)
    return figure


def _levels(settings: Settings) -> str:
    name = settings["printed_wavelet"]
    rule = Dubois.printed(settings["n"], settings["epsilon"], wavelet=name)
    return f"{name}, levels {rule.first} to {rule.last}, printed noise and thresholds"


EXPERIMENT = Experiment(
    name="dubois-densities",
    ids=("W2", "W3"),
    title="A density from noisy wavelets",
    question="What does the theorem's estimator leave of a density, and what do better constants?",
    stated="Laplace noise, suitably scaled, on all wavelet coefficients, then thresholds; no"
    " simulation is shown",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilon", 1, number(above=0), "the paper's alpha, what each person spends"),
        Setting("n", 1_000_000, integer(least=1000), "people", split=True),
        Setting("runs", 6, integer(least=2), "estimates whose error is averaged", quick=2,
                split=True),
        Setting("methods", list(WAYS), words(*WAYS), "the estimators", split=True),
        Setting("places", [0.3, 0.7], numbers(), "where the bumps of the density are"),
        Setting("widths", [0.07, 0.1], numbers(above=0), "their standard deviations, as many"),
        Setting("wavelet", "db4", wavelet(), "the wavelet of our thresholded estimator"),
        Setting("printed_wavelet", "db8", wavelet(derivatives=1),
                "the wavelet of the theorem's estimator, with N > 0"),
        Setting("nu", 1.5, number(above=1), "the paper's nu, of the theorem's estimator"),
        Setting("gamma", 4, number(above=0), "the paper's gamma, of the theorem's estimator"),
    ),
    figures=(),
)  # fmt: skip
