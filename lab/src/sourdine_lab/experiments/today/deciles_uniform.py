"""Nine deciles of uniform records: the document's two methods and today's, as n grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.quantile_methods import (
    against_n,
    against_n_settings,
    draw_against_n,
    parts_of_sizes,
)

if TYPE_CHECKING:
    from sourdine_lab.experiment import Settings
    from sourdine_lab.table import Table

FITS = {"35 n⁻¹·⁰¹⁵": (35.0, -1.015), "21.5 n⁻⁰·⁹⁹⁵": (21.5, -0.995)}
"""The document's fits: of the histogram method and of inverse sensitivity."""
SETTINGS = against_n_settings("uniform(0,1)", (0, 1), 2**-20)


def draw(table: Table, settings: Settings) -> Any:
    """Draw the errors, with the document's fits where they belong: to its epsilon, law, orders."""
    n = np.unique(table["n"])
    theirs = all(
        settings[one.name] == one.default
        for one in SETTINGS
        if one.name in {"epsilon", "law", "orders", "bounds"}
    )

    def fits(axes: Any) -> None:
        for name, (factor, power) in FITS.items() if theirs else ():
            look.stated(axes, n, factor * n**power, f"stated: {name}")

    return draw_against_n(table, settings, fits)


EXPERIMENT = Experiment(
    name="today-deciles",
    ids=("C11", "C12", "A9", "A10"),
    title="Nine deciles of uniform records, by today's methods",
    question="How much nearer than the document's two methods do today's come to the deciles, at "
    "the same epsilon?",
    stated="35 n^-1.015 for the histogram method, 21.5 n^-0.995 for inverse sensitivity, from the "
    "sample's deciles",
    parts=parts_of_sizes,
    compute=against_n,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
