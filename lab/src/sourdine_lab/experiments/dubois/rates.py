"""Risks against the number of people, with privacy and without, beside the rates of the theory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.risks import heights, linear, open_hard, private_hard, slope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


class Way(NamedTuple):
    """An estimator: how it looks, the decades of n that are drawn, its slope in theory."""

    label: str
    method: str
    decades: tuple[float, float]
    theory: dict[str, float]


WAYS = {
    "private hard": Way("thresholded", "wavelets", (4, 12), {"triangle": -3 / 5, "step": -1 / 2}),
    "private linear": Way("linear", "linear", (4, 12), {"triangle": -3 / 5, "step": -1 / 3}),
    "open hard": Way("thresholded", "wavelets", (2.5, 7.5), {"triangle": -3 / 4, "step": -1}),
    "open linear": Way("linear", "linear", (2.5, 7.5), {"triangle": -3 / 4, "step": -1 / 2}),
}
"""The triangle has smoothness 3/2. The step has 1/2 in the squared mean, which a linear estimator
meets; a thresholded one pays only for the few coefficients at the jump, so that without privacy
nothing but logarithms keeps it from 1/n."""
SMOOTHNESS = {"triangle": 1.5, "step": 0.5}
TICKS = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12)
ASYMPTOTIC = {"private hard": 1e7, "private linear": 1e5, "open hard": 1e3, "open linear": 1e3}
"""Slopes are read from here on: below, thresholds kill everything."""


def parts(settings: Settings) -> list[Settings]:
    """One part a density and an estimator."""
    return [
        {"density": density, "way": way, "sizes": settings["sizes"], "runs": settings["runs"]}
        for density in SMOOTHNESS
        for way in WAYS
    ]


def estimator(way: str, density: str) -> Callable[..., NDArray[np.float64]]:
    """Return the function that estimates."""
    if way.endswith("hard"):
        return private_hard if way.startswith("private") else open_hard
    return partial(linear, s=SMOOTHNESS[density], private=way.startswith("private"))


def compute(part: Part) -> Iterator[Row]:
    """Yield the integrated squared error against n, at epsilon 1."""
    way, density, rng = part["way"], part["density"], part.rng
    truth, estimate = heights(density), estimator(way, density)
    for n in np.logspace(*WAYS[way].decades, part["sizes"]):
        errors = [((estimate(int(n), truth, rng) - truth) ** 2).mean() for _ in range(part["runs"])]
        yield {
            "density": density, "way": way, "n": int(n), "runs": part["runs"],
            "risk": np.mean(errors), "error": np.std(errors, ddof=1) / part["runs"] ** 0.5,
            "theory": WAYS[way].theory[density],
        }  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the risks of each density, each with a dotted line of the theory's slope."""
    figure, panels = look.panels(4, rows=2, width=11, height=7.4, sharey=False)
    titles = {"triangle": "triangle, smoothness 3/2", "step": "a step"}
    words = {"private": "With privacy", "open": "Without"}
    cells = [(privacy, density) for privacy in words for density in SMOOTHNESS]
    for axes, (privacy, density) in zip(panels, cells, strict=True):
        for way in (f"{privacy} linear", f"{privacy} hard"):
            _line(axes, WAYS[way], table.where(density=density, way=way), ASYMPTOTIC[way])
        look.logarithmic(axes)
        axes.set_xticks(TICKS, [f"$10^{{{round(np.log10(t))}}}$" for t in TICKS])
        axes.set_xlim(*(10.0**d for d in WAYS[f"{privacy} hard"].decades))
        people = r"$n\alpha^2$, $\alpha$ = 1" if privacy == "private" else "n"
        look.titled(axes, f"{words[privacy]}: {titles[density]}", x=people, y="")
        look.name_lines(axes)
    for axes in panels[::2]:
        axes.set_ylabel("mean integrated squared error")
    look.note(panels[0], "dotted: the theory's slope, in brackets", 0.02, 0.07)
    return figure


def _line(axes: Any, way: Way, rows: Table, start: float) -> None:
    n, risk, theory = rows["n"].astype(float), rows["risk"], float(rows["theory"][0])
    far = n >= start
    found, _ = slope(n[far], risk[far])
    label = f"{way.label}: {found:.2f} ({theory:.2f})"
    look.band(axes, n, risk, rows["error"], method=way.method, label=label)
    middle = np.exp(np.log(n[far]).mean()), np.exp(np.log(risk[far]).mean())
    look.stated(axes, n[far], middle[1] * (n[far] / middle[0]) ** theory, "_theory")


EXPERIMENT = Experiment(
    name="dubois-rates",
    ids=("W3", "W4"),
    title="Rates with privacy and without",
    question="Do risks fall as (n alpha^2)^(-2s/(2s+2)) with privacy and n^(-2s/(2s+1)) without?",
    stated="the lower bound (n alpha^2)^(-rs/(2s+2)), which the thresholded estimator meets but for"
    " logarithms, against n^(-rs/(2s+1)) without privacy",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"sizes": 17, "runs": 60},
    quick={"sizes": 9, "runs": 8},
)
