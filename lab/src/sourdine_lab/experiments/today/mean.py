"""The mean of bounded records: the risk of four kinds of noise, exactly, against epsilon."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import Setting, integer, number, numbers, spaced, words
from sourdine_lab.settings import bounds as bounds_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

CLASSIC, TIGHT = "Gaussian, classic", "Gaussian, tight"
METHODS = ("Laplace", "staircase", CLASSIC, TIGHT)


SETTINGS = (
    Setting("epsilons", spaced(0.05, 10, 40), numbers(above=0), "privacy loss of the mean",
            quick=spaced(0.05, 10, 12), split=True),
    Setting("n", 1000, integer(least=1), "records, uniform between the bounds"),
    Setting("bounds", [0, 1000], bounds_kind(), "public bounds of the records"),
    Setting("step", 10, number(above=0), "step of the lattice of records"),
    Setting("delta", 1e-5, number(above=0, below=1), "delta of both Gaussians"),
    Setting("methods", list(METHODS), words(*METHODS), "the kinds of noise that are compared"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part for some neighbouring values of epsilon."""
    epsilons = [float(e) for e in settings["epsilons"]]
    return [{"epsilons": epsilons[i : i + 8]} for i in range(0, len(epsilons), 8)]


def sampling(settings: Settings | Part) -> float:
    """Return the variance of the mean of records that are uniform between the bounds."""
    low, high = settings["bounds"]
    return float((high - low) ** 2 / 12 / settings["n"])


def compute(part: Part) -> Iterator[Row]:
    """Yield the variance of the noise, from each mechanism's own law, and the whole risk.

    The sum of the records moves by at most the range when one is replaced: 100 steps of 10. The
    classic Gaussian is left out where the library refuses it, its delta being too small a promise
    there.
    """
    from sourdine.mechanisms import Gaussian, Laplace, Staircase

    (low, high), step, n, delta = part["bounds"], part["step"], part["n"], part["delta"]
    made: dict[str, Callable[..., Any]] = {
        "Laplace": Laplace,
        "staircase": partial(Staircase, minimise="l2"),
        CLASSIC: partial(Gaussian, delta=delta, method="classic"),
        TIGHT: partial(Gaussian, delta=delta),
    }
    for epsilon in part["epsilons"]:
        for method in part["methods"]:
            try:
                mechanism = made[method](epsilon=epsilon, sensitivity=ceil((high - low) / step))
            except ParameterError:
                continue
            noise = mechanism.law(0).variance() * (step / n) ** 2
            yield {"epsilon": epsilon, "method": method, "noise": noise,
                   "risk": noise + sampling(part)}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risk of the noise against epsilon, beside the risk of sampling."""
    figure, (axes,) = look.panels(1, width=8.0, height=4.6)
    for method, rows in table.by("method"):
        look.band(
            axes, rows["epsilon"], rows["noise"], method=method.split(",")[0].lower(),
            label=method, dashed=method == CLASSIC,
        )  # fmt: skip
    ends = np.array([table["epsilon"].min(), table["epsilon"].max()])
    look.band(
        axes, ends, [sampling(settings)] * 2, method="no privacy", label="sampling alone",
        dashed=True,
    )  # fmt: skip
    (low, high), n = settings["bounds"], settings["n"]
    look.stated(axes, ends, 2 * ((high - low) / (n * ends)) ** 2, "stated: 2 (Λ/nε)²")
    look.logarithmic(axes)
    noisy = any(method.startswith("Gaussian") for method in settings["methods"])
    delta = f"; δ = {settings['delta']:g} of the Gaussian noise" if noisy else ""
    look.titled(
        axes, f"Mean of {n} records in [{low:g}, {high:g}]{delta}",
        x="ε", y="mean squared error of the noise",
    )  # fmt: skip
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="today-mean",
    ids=("A1", "A2", "A4"),
    title="The mean, by four kinds of noise",
    question="How much noise does the mean need at the same epsilon, and is it more than sampling "
    "costs anyway?",
    stated="risks 2 (b-a)^2/(n eps)^2 for Laplace and c^2 (b-a)^2/(n eps)^2 for Gaussian noise, "
    "with c about 5",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
