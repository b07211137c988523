"""Private quantiles: one file an algorithm, and `Quantiles`, which chooses among them.

`methods` lists the algorithms by name. They all draw ticks of a public grid from `points`, the
order statistics, which `reading` and `selection` get out of a frame without sorting it.
"""

from sourdine.central.quantiles.anchors import Anchors
from sourdine.central.quantiles.brackets import Brackets
from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.histogram import HistogramMethod
from sourdine.central.quantiles.hybrid import Hybrid
from sourdine.central.quantiles.independent import IndExp
from sourdine.central.quantiles.inverse_sensitivity import InverseSensitivity
from sourdine.central.quantiles.joint import JointExp, JointFree
from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace
from sourdine.central.quantiles.piecewise_laplace import PiecewiseLaplace
from sourdine.central.quantiles.points import Points
from sourdine.central.quantiles.recursive import RecExp
from sourdine.central.quantiles.single import Median, Quantile
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.central.quantiles.three_levels import ThreeLevels
from sourdine.central.quantiles.tree import Tree

__all__ = [
    "Anchors",
    "Brackets",
    "HistogramMethod",
    "Hybrid",
    "IndExp",
    "InverseSensitivity",
    "JointExp",
    "JointFree",
    "Median",
    "NaiveGaussian",
    "NaiveLaplace",
    "PiecewiseLaplace",
    "Points",
    "QExp",
    "Quantile",
    "Quantiles",
    "RecExp",
    "ThreeLevels",
    "Tree",
]
