"""Figure 12: the squared risks of IndExp and RecExp against the number of quantiles."""

from __future__ import annotations

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.against_m import compute, draw, parts, settings

EXPERIMENT = Experiment(
    name="audibert-12",
    ids=("A8", "A10", "A11"),
    title="Many quantiles by IndExp and by RecExp, squared risk",
    question="Does IndExp beat RecExp in the squared norm, as the report says?",
    stated="RecExp's curve lies above IndExp's, for m from 10 on, on one data set, at an epsilon "
    "that is not given; the norm is said to be the reason",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=settings("uniform(0,1)", "squares"),
)
