"""A survey of one number: the error of the people's mean against epsilon, exactly."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, numbers, spaced, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

LAPLACE, REDRAWN = "bounded Laplace, averaged", "staircase redrawn, averaged"
COLOURS = {
    LAPLACE: ("bounded laplace", False),
    "bounded Laplace, corrected": ("bounded laplace", True),
    REDRAWN: ("staircase", False),
    "Duchi": ("duchi", False),
    "piecewise": ("piecewise", False),
    "hybrid": ("hybrid", False),
    "square wave (Sourdine)": ("today", False),
}
"""The colour of each method, and whether its line is dashed."""


SETTINGS = (
    Setting("epsilons", spaced(0.1, 10, 24), numbers(above=0), "privacy loss of a report",
            quick=spaced(0.1, 10, 8), split=True),
    Setting("n", 10_000, integer(least=1), "people"),
    Setting("last", 100, integer(least=2), "the greatest age; 0 is the least"),
    Setting("hump", [35, 22], numbers(count=2), "ages x have weights exp(-((x - c)/w)^2): c, w"),
    Setting("methods", list(COLOURS), words(*COLOURS), "the methods that are compared"),
)  # fmt: skip


def ages(last: int = 100, hump: Sequence[float] = (35, 22)) -> Floats:
    """Return the shares of the ages among the people: a hump, to the left by default."""
    centre, width = hump
    weights = np.exp(-(((np.arange(last + 1) - centre) / width) ** 2))
    return np.asarray(weights / weights.sum())


def parts(settings: Settings) -> list[Settings]:
    """One part for some neighbouring values of epsilon."""
    epsilons = [float(e) for e in settings["epsilons"]]
    return [{"epsilons": epsilons[i : i + 4]} for i in range(0, len(epsilons), 4)]


def compute(part: Part) -> Iterator[Row]:
    """Yield bias and standard deviation of each method's mean, from the laws of its reports.

    The slides' staircase, redrawn until it falls inside, spends eps + ln(2 - e^(-eps/2)): its
    level is chosen so that this is the epsilon of the others.
    """
    n, last = part["n"], part["last"]
    share = ages(last, part["hump"])
    for epsilon in part["epsilons"]:
        made = _made(epsilon, last)
        for method in part["methods"]:
            report, averaged = made[method]()
            bias, deviation = errors_of_mean(report, share, n, averaged=averaged)
            yield {"epsilon": epsilon, "method": method, "people": n, "bias": bias,
                   "deviation": deviation, "error": float(np.hypot(bias, deviation))}  # fmt: skip


def _made(epsilon: float, last: int) -> dict[str, Callable[[], tuple[Any, bool]]]:
    """Return the randomiser of each method, and whether its reports are simply averaged."""
    from sourdine.local.numeric.duchi import Duchi, HybridReport
    from sourdine.local.numeric.sliding import piecewise, square_wave
    from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
    from sourdine.mechanisms.mechanism import settle

    def redrawn() -> tuple[Any, bool]:
        report = BoundedStaircase(epsilon=nominal(epsilon), last=last)
        settle(report, method="truncated")
        return report, True

    laplace = BoundedLaplace(epsilon=epsilon, last=last)
    return {
        LAPLACE: lambda: (laplace, True),
        "bounded Laplace, corrected": lambda: (laplace, False),
        REDRAWN: redrawn,
        "Duchi": lambda: (Duchi(epsilon=epsilon, last=last), False),
        "piecewise": lambda: (piecewise(epsilon, last), False),
        "hybrid": lambda: (HybridReport(epsilon=epsilon, last=last), False),
        "square wave (Sourdine)": lambda: (square_wave(epsilon, last), False),
    }


def nominal(epsilon: float) -> float:
    """Return the nominal level at which redrawing a staircase spends epsilon.

    Examples
    --------
    >>> round(nominal(1.3318), 4)
    1.0
    """
    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        spent = middle + log(2 - exp(-middle / 2))
        low, high = (middle, high) if spent < epsilon else (low, middle)
    return low


def errors_of_mean(
    report: Any, share: Floats, people: int, *, averaged: bool
) -> tuple[float, float]:
    """Return bias and standard deviation of the mean of the people's ages.

    Between the channel's nodes the law of a report is a mixture of theirs, so moments are linear.
    """
    from sourdine.local.estimators.means import channel, scores_of_share

    way, last = channel(report), len(share) - 1
    score = (
        way.first.astype(float)
        if averaged
        else last * np.asarray(scores_of_share(report, people)[0].g)
    )
    ticks = np.arange(last + 1)
    mean, square = (np.interp(ticks, way.nodes, way.rows @ s) for s in (score, score**2))
    variance = float(share @ (square - mean**2))
    return float(share @ (mean - ticks)), (variance / people) ** 0.5


def draw(table: Table, settings: Settings) -> Any:
    """Draw the error against epsilon."""
    figure, (axes,) = look.panels(1, width=8.5, height=5.0)
    for method, rows in table.by("method"):
        colour, dashed = COLOURS[method]
        look.band(axes, rows["epsilon"], rows["error"], method=colour, label=method, dashed=dashed)
    look.logarithmic(axes)
    look.titled(
        axes, f"Mean age of {settings['n']:,} people, each report ε-locally private",
        x="ε", y="root mean square error, years",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="today-numbers",
    ids=("L4", "L5", "L6"),
    title="The mean of a number that everybody randomised",
    question="What is lost by averaging noise that was redrawn until it fell inside the bounds?",
    stated="bounded Laplace and the staircase are redrawn until they fall inside; no errors of "
    "means are given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
