"""Sketches that keep their promise when the stream reacts to their answers."""

from sourdine.adaptive.sketches.ams import AmsSketch, F2Sketch
from sourdine.adaptive.sketches.f2 import RobustF2
from sourdine.adaptive.sketches.f2_steps import proved_looks, survived_answers, width_to_prove
from sourdine.adaptive.sketches.keyed import Keyed
from sourdine.adaptive.sketches.signs import Signs
from sourdine.adaptive.sketches.subsets import SubsetCount

__all__ = [
    "AmsSketch",
    "F2Sketch",
    "Keyed",
    "RobustF2",
    "Signs",
    "SubsetCount",
    "proved_looks",
    "survived_answers",
    "width_to_prove",
]
