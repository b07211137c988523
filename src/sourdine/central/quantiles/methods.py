r"""Every algorithm by name, and the choice among them from public quantities alone.

==========================  ====================================================================
``"joint"``                 `JointFree`: a joint draw with a free total; 2 to 40 quantiles
``"hybrid"``                `Hybrid`: two levels of it; hundreds of quantiles
``"levels"``                `ThreeLevels`: three levels of it; thousands, on a wide grid
``"anchors"``               `Anchors`: few joint draws, the rest interpolated; little data
``"tree"``                  `Tree`: noisy counts of nested cells, a leaf for each tick; thousands
``"exponential"``           `QExp` for one quantile, `IndExp` for several
``"piecewise_laplace"``     `PiecewiseLaplace`: one quantile at a large epsilon
``"jointexp"``              `JointExp`, as published; best where a record is replaced
``"recursive"``             `RecExp`
``"inverse_sensitivity"``   `InverseSensitivity`
``"histogram"``             `HistogramMethod`, by AboveThreshold
``"laplace"``, ``"gaussian"``  noise on the quantile itself: shown for how badly it does
==========================  ====================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.central.quantiles.anchors import KAPPA, MOST_JOINT, Anchors, anchors_for
from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.histogram import HistogramMethod
from sourdine.central.quantiles.hybrid import Hybrid
from sourdine.central.quantiles.independent import IndExp
from sourdine.central.quantiles.inverse_sensitivity import InverseSensitivity
from sourdine.central.quantiles.joint import JointExp, JointFree
from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace
from sourdine.central.quantiles.piecewise_laplace import PiecewiseLaplace
from sourdine.central.quantiles.recursive import RecExp
from sourdine.central.quantiles.three_levels import ThreeLevels
from sourdine.central.quantiles.tree import Tree
from sourdine.central.quantiles.tree_reach import MOST_TICKS, tick_shape
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.central.quantiles.algorithm import QuantileMechanism

__all__ = ["METHODS", "chosen", "made", "needs_count"]

METHODS = (
    "auto", "joint", "hybrid", "levels", "anchors", "tree", "exponential", "piecewise_laplace",
    "jointexp", "recursive", "inverse_sensitivity", "histogram", "laplace", "gaussian",
)  # fmt: skip
MANY, FEW_TICKS = 200, 1 << 18
"""From so many quantiles on a tree of so few ticks errs less than two levels, where records tie."""
MORE, MOST = 400, 1000
"""Two levels take so many quantiles; and so many, if there are too many ticks for a tree."""
COARSE = 128
"""On so few ticks records tie: where they are few, a tree errs less than what is interpolated."""
LARGE = 2.0
"""From this decay per rank on the piecewise Laplace law is ahead for one quantile."""
STEPS = 1000


def needs_count(method: str, m: int, *, substitutes: bool) -> bool:
    """Return whether the choice gains from knowing about how many records there are.

    A free total is drawn with the quantiles; `JointExp`, which has none, needs a count for its
    intervals.
    """
    return method == "anchors" or (method == "auto" and m > (1 if substitutes else 3))


def chosen(m: int, cells: int, epsilon: float, records: float | None, *, substitutes: bool) -> str:
    r"""Return the name of the algorithm for m quantiles at an epsilon per added record.

    Parameters
    ----------
    m, cells
        How many quantiles and how many cells of the grid.
    epsilon
        The privacy loss per record added or removed: half under substitution, less where a person
        owns several rows.
    records
        About how many records there are, if that is public or was paid for.
    substitutes
        Whether a record is replaced, not added or removed. Then the targets of `JointExp` cost no
        more than a free total's, and are not rounded to one.
    """
    if m == 1:
        return "piecewise_laplace" if epsilon >= LARGE else "exponential"
    if cells < 4 * m and cells <= MOST_TICKS:
        return "tree"
    if records is not None and m > 3 and records * epsilon < 2 * KAPPA * (min(m, MOST_JOINT) + 1):
        return "tree" if cells <= COARSE else "anchors"
    if m <= MOST_JOINT:
        return "jointexp" if substitutes else "joint"
    if m <= (MANY if cells <= FEW_TICKS else MORE if cells <= MOST_TICKS else MOST):
        return "hybrid"
    return "tree" if cells <= MOST_TICKS else "levels"


def made(
    method: str, common: dict[str, Any], *, delta: Fraction, records: float | None
) -> QuantileMechanism:
    """Build an algorithm.

    Parameters
    ----------
    method
        A name, not ``"auto"``.
    common
        What all algorithms take.
    delta
        For the Gaussian.
    records
        About how many records there are, where it matters.
    """
    m, cells = len(common["q"]), common["cells"]
    if method == "anchors":
        epsilon = float(common["epsilon"]) / common["rows"] / (2 if _substitutes(common) else 1)
        return Anchors(anchors=min(m, anchors_for(m, records or 0.0, epsilon)), **common)
    if method == "exponential":
        return QExp(**common) if m == 1 else IndExp(**common)
    if method == "histogram":
        return HistogramMethod(steps=min(cells, STEPS), **common)
    if method == "gaussian":
        return NaiveGaussian(delta=delta, **common)
    if method == "tree":
        return _tree(common)
    simple: dict[str, type[QuantileMechanism]] = {
        "joint": JointFree, "hybrid": Hybrid, "levels": ThreeLevels,
        "piecewise_laplace": PiecewiseLaplace, "jointexp": JointExp,
        "recursive": RecExp, "inverse_sensitivity": InverseSensitivity,
        "laplace": NaiveLaplace,
    }  # fmt: skip
    return simple[method](**common)


def _tree(common: dict[str, Any]) -> Tree:
    """Build a tree with a leaf for each tick: in a wider one records that lie apart are mixed."""
    if common["cells"] > MOST_TICKS:
        raise ParameterError(
            "method",
            f"be another for more than {MOST_TICKS} ticks: a tree has a leaf for each",
            "'tree'",
            "Type {method}, or a larger step.",
            method="auto",
        )
    branching, height = tick_shape(common["cells"])
    return Tree(branching=branching, height=height, **common)


def _substitutes(common: dict[str, Any]) -> bool:
    return bool(getattr(common["relation"], "value", common["relation"]) == "substitute")
