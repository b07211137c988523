"""Risks against the number of people, with privacy and without, beside the rates of the theory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.dubois.risks import (
    NOISE,
    SMOOTHNESS,
    heights,
    linear,
    open_hard,
    printed_hard,
    private_hard,
    slope,
    wavelet,
)
from sourdine_lab.settings import Setting, integer, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


class Way(NamedTuple):
    """An estimator: how it looks, its settings of n, and from which n its slope is read."""

    label: str
    method: str
    decades: str
    start: str


WAYS = {
    "private hard": Way("ours, thresholded", "wavelets", "decades", "hard_from"),
    "private linear": Way("ours, linear", "linear", "decades", "linear_from"),
    "printed hard": Way("printed", "one bit", "decades_printed", "printed_from"),
    "open hard": Way("thresholded", "wavelets", "decades_open", "open_from"),
    "open linear": Way("linear", "linear", "decades_open", "open_from"),
}
OPEN = ("open hard", "open linear")
OF_STEP: dict[str, float] = {"private hard": -1 / 2, "open hard": -1}
"""A thresholded estimator pays only for the few coefficients at the step's jump, so that without
privacy nothing but logarithms keeps it from 1/n. A linear one meets smoothness 1/2."""


def theory(way: str, density: str, settings: Settings) -> float:
    """Return the slope in theory; the theorem promises none faster than that of s = N."""
    if way == "printed hard":
        s = min(1.0 if density == "step" else SMOOTHNESS[density], _derivatives(settings))
        return -s / (s + 1)
    if density == "step" and way in OF_STEP:
        return OF_STEP[way]
    s = SMOOTHNESS[density]
    return -2 * s / (2 * s + (2 if way.startswith("private") else 1))


def _derivatives(settings: Settings) -> int:
    from sourdine.local.densities.wavelets import Wavelet

    return Wavelet(settings["printed_wavelet"]).smoothness


def parts(settings: Settings) -> list[Settings]:
    """One part a density and an estimator."""
    return [
        {"density": density, "way": way, "sizes": settings["points"], "runs": settings["runs"]}
        for density in settings["densities"]
        for way in WAYS
        if way in settings["methods"]
    ]


def estimator(way: str, density: str, part: Part | Settings) -> Callable[..., NDArray[np.float64]]:
    """Return the function that estimates."""
    alpha, name = part["epsilon"], part["wavelet"]
    if way == "printed hard":
        return partial(printed_hard, alpha=alpha, name=part["printed_wavelet"], nu=part["nu"],
                       gamma=part["gamma"])  # fmt: skip
    if way == "private hard":
        return partial(private_hard, alpha=alpha, name=name)
    if way == "open hard":
        return partial(open_hard, name=name)
    return partial(linear, s=SMOOTHNESS[density], private=way.startswith("private"), alpha=alpha,
                   name=name, noise=part["noise"])  # fmt: skip


def compute(part: Part) -> Iterator[Row]:
    """Yield the integrated squared error against n."""
    way, density, rng = part["way"], part["density"], part.rng
    truth, estimate = heights(density), estimator(way, density, part)
    low, high = part[WAYS[way].decades]
    for n in np.logspace(low, high, part["sizes"]):
        errors = [((estimate(int(n), truth, rng) - truth) ** 2).mean() for _ in range(part["runs"])]
        yield {
            "density": density, "way": way, "n": int(n), "runs": part["runs"],
            "risk": np.mean(errors), "error": np.std(errors, ddof=1) / part["runs"] ** 0.5,
            "theory": theory(way, density, part.shared),
        }  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risks of each density, each with a dotted line of the theory's slope."""
    densities, methods = settings["densities"], settings["methods"]
    titles = {"triangle": "triangle, smoothness 3/2", "step": "a step", "smooth": "a smooth bump"}
    rows = {
        "With privacy": [way for way in methods if way not in OPEN],
        "Without": [way for way in methods if way in OPEN],
    }
    rows = {name: ways for name, ways in rows.items() if ways}
    figure, panels = look.panels(
        len(rows) * len(densities), rows=len(rows), width=5.5 * len(densities) + 0.5,
        height=3.8 * len(rows), sharey=False,
    )  # fmt: skip
    cells = [(name, density) for name in rows for density in densities]
    for axes, (name, density) in zip(panels, cells, strict=True):
        private = name == "With privacy"
        spent = settings["epsilon"] if private else 1
        for way in rows[name]:
            _line(axes, way, table.where(density=density, way=way), settings, spent)
        if private:
            zero = float((heights(density) ** 2).mean())
            look.said(axes, zero, f"the estimate 0: {zero:.2g}")
        look.logarithmic(axes)
        low, high = (round(np.log10(end)) for end in axes.get_xlim())
        powers = range(low + low % 2, high + 1, 2) if high - low > 6 else range(low, high + 1)
        axes.set_xticks([10.0**k for k in powers], [f"$10^{{{k}}}$" for k in powers])
        people = rf"$n\alpha^2$, $\alpha$ = {spent:g}" if private else "n"
        look.titled(axes, f"{name}: {titles[density]}", x=people, y="")
        look.name_lines(axes)
    for axes in panels[:: len(densities)]:
        axes.set_ylabel("mean integrated squared error")
    said = "dotted: the theory's slope, in brackets"
    if "printed hard" in methods:
        said = f"printed: estimator (5), {settings['printed_wavelet']}; jumps: j0 grows\n{said}"
    look.note(panels[0], said, 0.02, 0.12)
    return figure


def _line(axes: Any, name: str, rows: Table, settings: Settings, spent: float) -> None:
    way = WAYS[name]
    n, risk = rows["n"].astype(float) * spent**2, rows["risk"]
    far, label = n >= settings[way.start], way.label
    if far.sum() > 1:
        found, said = slope(n[far], risk[far])[0], float(rows["theory"][0])
        label = f"{way.label}: {found:.2f} ({said:.2f})"
        middle = np.exp(np.log(n[far]).mean()), np.exp(np.log(risk[far]).mean())
        look.stated(axes, n[far], middle[1] * (n[far] / middle[0]) ** said, "_theory")
    look.band(axes, n, risk, rows["error"], method=way.method, label=label)


EXPERIMENT = Experiment(
    name="dubois-rates",
    ids=("W3", "W4"),
    title="Rates with privacy and without",
    question="Do risks fall as (n alpha^2)^(-2s/(2s+2)) with privacy and n^(-2s/(2s+1)) without?",
    stated="the lower bound (n alpha^2)^(-rs/(2s+2)), which the thresholded estimator meets but for"
    " logarithms for s < N, against n^(-rs/(2s+1)) without privacy",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilon", 1, number(above=0), "the paper's alpha, what each person spends"),
        Setting("densities", ["triangle", "step"], words(*SMOOTHNESS), "the densities",
                split=True),
        Setting("methods", list(WAYS), words(*WAYS), "the estimators that are compared",
                split=True),
        Setting("points", 17, integer(least=3), "numbers of people for each estimator", quick=9,
                split=True),
        Setting("runs", 60, integer(least=2), "estimates for each number of people", quick=8,
                split=True),
        Setting("decades", [4, 12], numbers(count=2, least=2, most=15),
                "powers of 10 between which n is, ours with privacy"),
        Setting("decades_printed", [6, 12], numbers(count=2, least=2, most=15),
                "the same for the theorem's estimator"),
        Setting("decades_open", [2.5, 7.5], numbers(count=2, least=1, most=15),
                "the same without privacy"),
        Setting("wavelet", "db4", wavelet(), "the wavelet of our estimators"),
        Setting("printed_wavelet", "db8", wavelet(derivatives=1),
                "the wavelet of the theorem's estimator, with N > 0"),
        Setting("nu", 1.5, number(above=1), "the paper's nu, of the theorem's estimator"),
        Setting("gamma", 4, number(above=0), "the paper's gamma, of the theorem's estimator"),
        Setting("noise", NOISE, number(above=0),
                "what n alpha^2 is divided by for the level of the linear estimator"),
        Setting("hard_from", 1e7, number(above=0),
                "from this n alpha^2 on the slope of our thresholded estimator is read"),
        Setting("linear_from", 1e5, number(above=0), "the same for our linear estimator"),
        Setting("printed_from", 1e9, number(above=0), "the same for the theorem's estimator"),
        Setting("open_from", 1e3, number(above=0), "the same without privacy"),
    ),
)  # fmt: skip
