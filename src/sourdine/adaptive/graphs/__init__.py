"""The min-cut of a changing graph, against whoever chooses the changes."""

from sourdine.adaptive.graphs.mincut import ExactMinCut, SkeletonMinCut, mincut
from sourdine.adaptive.graphs.robust import RobustMinCut, lazy_mincut

__all__ = [
    "ExactMinCut",
    "RobustMinCut",
    "SkeletonMinCut",
    "lazy_mincut",
    "mincut",
]
