"""Figure 13: the risks of IndExp and RecExp in the greatest norm, on Beta(2, 2)."""

from __future__ import annotations

from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.audibert.against_m import compute, draw, parts, settings

EXPERIMENT = Experiment(
    name="audibert-13",
    ids=("A8", "A10", "A11"),
    title="Many quantiles by IndExp and by RecExp, greatest error",
    question="Does RecExp beat IndExp in the greatest norm on Beta(2, 2), as the report says?",
    stated="RecExp's curve lies below IndExp's, for m from 10 on, on one data set, at an epsilon "
    "that is not given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=settings("beta(2,2)", "largest"),
)
