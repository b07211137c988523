"""The min-cut of a changing graph, against whoever chooses the changes."""

from sourdine.adaptive.graphs.mincut import ExactMinCut, SkeletonMinCut, mincut
from sourdine.adaptive.graphs.robust import Phase, RobustMinCut, balanced, lazy_mincut

__all__ = [
    "ExactMinCut",
    "Phase",
    "RobustMinCut",
    "SkeletonMinCut",
    "balanced",
    "lazy_mincut",
    "mincut",
]
