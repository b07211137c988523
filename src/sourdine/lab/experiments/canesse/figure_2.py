"""Figure 2: the bound on the expected error of the histogram method, and the error itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.bounds import histogram_error, histogram_error_printed, histogram_least_n
from sourdine.lab import look
from sourdine.lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.lab.experiment import Part, Row, Settings
    from sourdine.lab.table import Table

MEDIAN = 0.5


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    sizes = np.unique(np.geomspace(2_000, settings["largest"], settings["sizes"]).astype(int))
    return [{"n": int(n), "runs": settings["runs"]} for n in sizes]


def compute(part: Part) -> Iterator[Row]:
    """Yield the printed bound, the corrected one and the error in simulation."""
    from sourdine import median  # noqa: PLC0415 - the public call, as a person types it

    n, rng = part["n"], part.rng
    errors = [
        abs(
            float(
                median(
                    rng.random(n), bounds=(0, 1), step=2**-20, epsilon=1 / 9, method="histogram",
                    relation="substitute", source=part.source,
                ).value
            )
            - MEDIAN
        )
        for _ in range(part["runs"])
    ]  # fmt: skip
    printed = histogram_error_printed(n, MEDIAN, epsilon=1)
    valid = n >= histogram_least_n(1)
    corrected = histogram_error(n, MEDIAN, epsilon=1) if valid else 1.0
    deviation = float(np.std(errors, ddof=1)) / len(errors) ** 0.5
    yield {"n": n, "printed": printed, "corrected": corrected, "error": float(np.mean(errors)),
           "deviation": deviation}  # fmt: skip


def draw(table: Table) -> Any:  # noqa: ANN401 - a figure
    """Draw the three against n."""
    figure, (axes,) = look.panels(1)
    n = table["n"]
    look.stated(axes, n, table["printed"], "as printed")
    look.band(axes, n, table["corrected"], 0.0, method="histogram", label="corrected")
    look.band(axes, n, table["error"], table["deviation"], method="today", label="in simulation")
    look.logarithmic(axes)
    look.name_lines(axes)
    look.titled(
        axes, "Expected error of the private median, U(0, 1), ε = 1 for nine deciles",
        x="records n", y="mean distance from the law's median",
    )  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="canesse-2",
    ids=("C6",),
    title="Expected error of the histogram method",
    question="How does the bound of corollary 3.4.1.1 compare with the error itself?",
    stated="a bound at epsilon 1 that falls with n, 0.047 at n = 5000",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"largest": 200_000, "sizes": 16, "runs": 200},
    quick={"largest": 50_000, "sizes": 6, "runs": 20},
)
