"""Nine deciles of normal records: the document's two methods and today's, as n grows."""

from __future__ import annotations

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.quantile_methods import (
    against_n,
    against_n_settings,
    draw_against_n,
    parts_of_sizes,
)

BOUNDS = (-5, 5)
"""The document does not name its own."""


EXPERIMENT = Experiment(
    name="today-normal",
    ids=("C11", "C12", "C8"),
    title="Nine deciles of normal records, by today's methods",
    question="Does the order of the methods stay the same for a law with tails, in wide bounds?",
    stated="results like those of the uniform law, the histogram method behind inverse "
    "sensitivity; no figures are given",
    parts=parts_of_sizes,
    compute=against_n,
    draw=draw_against_n,
    settings=against_n_settings("normal(0,1)", BOUNDS, 2**-16),
    figures=(),
)
