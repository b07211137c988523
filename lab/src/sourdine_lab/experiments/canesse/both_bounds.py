"""Section 5.1: the bounds of the two methods on one picture, as printed and as corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab import look
from sourdine_lab.bounds import histogram_error, histogram_error_printed
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import figure_3, uniform
from sourdine_lab.settings import Setting, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = {"histogram": "histogram", "inverse": "inverse sensitivity"}


def parts(settings: Settings) -> list[Settings]:
    """One part for all sizes."""
    return [{"sizes": settings["sizes"]}]


def compute(part: Part) -> Iterator[Row]:
    """Yield the four bounds of the quantile's expected error."""
    q, epsilon = part["order"], part["epsilon"]
    smoothed = {"order": q, "epsilon": epsilon, "quantiles": part["quantiles"],
                "powers": [part["power"]]}  # fmt: skip
    for n in part["sizes"]:
        inverse = figure_3.bounds(n, smoothed)
        yield {
            "n": n,
            "histogram_printed": histogram_error_printed(n, q, epsilon=epsilon),
            "histogram": histogram_error(n, q, epsilon=epsilon, calls=part["quantiles"]),
            "inverse_printed": inverse["printed"],
            "inverse": inverse["corrected"],
        }


def draw(table: Table, settings: Settings) -> Any:
    """Draw what is printed beside what holds."""
    figure, axes = look.panels(2, width=11.5, height=4.4)
    for one, ending in zip(axes, ("_printed", ""), strict=True):
        for column, method in METHODS.items():
            look.band(
                one, table["n"], table[f"{column}{ending}"], method=method,
                dashed=bool(ending),
            )  # fmt: skip
        look.logarithmic(one)
        title = "The bounds as printed" if ending else "The bounds that hold"
        look.titled(one, f"{title}: {uniform.what(settings)}", x="records n", y="")
    axes[0].set_ylabel(f"bound of the mean distance from the law's {uniform.quantile(settings)}")
    shared = uniform.note(settings).partition("\n")[0]
    power = figure_3.power_of_n(settings["power"])
    rho = "1/√n" if settings["power"] == -0.5 else f"${power}$"
    look.note(axes[1], f"{shared}\nrho = {rho} for inverse sensitivity", 0.98)
    for one in axes:
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="canesse-bounds",
    ids=("C6", "C10"),
    title="Both bounds on one picture",
    question="Which of the two methods has the better bound of its expected error?",
    stated="section 5.1 is to compare the bounds and is left empty; as printed, that of the "
    "histogram method is the lower one from n = 1500 or so on, as corrected from 60,000 on",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        *uniform.settings(),
        Setting("power", -0.5, number(most=0), "rho as a power of n"),
        uniform.sizes(1000, 10**7, 60, quick=(1000, 10**6, 20), even=True),
    ),
    figures=(),
)
