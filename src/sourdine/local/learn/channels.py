r"""A randomised number as a channel: how likely each report is, given the truth.

The truth is a number of the column's lattice, of which up to 128 evenly spaced *nodes* stand for
all; reports are put into up to 1024 *groups* of neighbours. A classifier needs no more of the noise
than the matrix of these :math:`P(y \mid x)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import alone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.local.table import Schema
    from sourdine.local.table.part import ColumnPart
    from sourdine.mechanisms.mechanism import Report

    Floats = NDArray[np.float64]

__all__ = ["BLANK", "GROUPS", "Feature", "Label", "features", "matrix"]

NODES, GROUPS = 128, 1024
BLANK = -1
"""The group of a blank cell."""


@lru_cache(64)
def matrix(report: Report) -> Floats:
    """Return the probabilities of the groups of reports, a row for each node.

    Examples
    --------
    >>> from sourdine.mechanisms import BoundedLaplace
    >>> matrix(BoundedLaplace(epsilon=1, last=2000)).shape
    (128, 1001)
    """
    codes, width = report.codes, _width(report.codes)
    ends = np.minimum(np.arange(width, codes + width, width), codes) - 1
    rows = np.array([alone(report.law(x)).cdf(ends) for x in _nodes(report.top).tolist()])
    found = np.maximum(np.diff(rows, axis=1, prepend=0.0), 0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _nodes(top: int) -> NDArray[np.int64]:
    size = min(top + 1, NODES)
    return np.array([(2 * i * top + size - 1) // (2 * (size - 1)) for i in range(size)], np.int64)


def _width(codes: int) -> int:
    return -(-codes // GROUPS)


@dataclass(frozen=True)
class Feature:
    """A randomised column of numbers.

    Parameters
    ----------
    part
        The column with its mechanism.
    """

    part: ColumnPart

    @cached_property
    def nodes(self) -> Floats:
        """The nodes, from 0 at the lower bound to 1 at the upper."""
        return np.asarray(_nodes(self.part.answer.top) / self.part.answer.top)

    @property
    def matrix(self) -> Floats:
        """The probabilities of the groups of reports, a row for each node."""
        return matrix(self.part.answer)

    @property
    def lower(self) -> float:
        """The lower bound."""
        return float(self._grid.lower)

    @property
    def range(self) -> float:
        """The distance of the bounds."""
        return float(self._grid.step * self._grid.last)

    @property
    def _grid(self) -> Any:  # noqa: ANN401
        column: Any = self.part.column
        return column.grid

    @cached_property
    def _shown(self) -> tuple[Floats, NDArray[np.intp]]:
        """Return the numbers that stand for the reports, rising, and which they stand for."""
        shown = np.asarray(self.part.written.values(np.arange(self.part.answer.codes)), np.float64)
        order = np.argsort(shown, kind="stable")
        return shown[order], order

    def groups(self, values: Floats) -> NDArray[np.int64]:
        """Return the group of the report that stands nearest to each number; `BLANK` for none."""
        width = _width(self.part.answer.codes)
        if isinstance(getattr(self.part.written, "ticks", None), range):  # a report is a tick
            ticks: NDArray[np.int64] = self._grid.ticks(values, missing=BLANK)
            return np.where(ticks == BLANK, BLANK, ticks // width)
        shown, order = self._shown
        at = np.clip(np.searchsorted(shown, values), 1, len(shown) - 1)
        below = values - shown[at - 1] < shown[at] - values
        codes = order[np.where(below, at - 1, at)]
        return np.where(np.isnan(values), BLANK, codes // width)


@dataclass(frozen=True)
class Label:
    """A randomised column of categories.

    Parameters
    ----------
    part
        The column with its mechanism.
    """

    part: ColumnPart

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The categories, sorted."""
        listed = self.part.written.values(np.arange(self.part.answer.top + 1))
        return np.unique(listed.astype(str) if listed.dtype == object else listed)

    @property
    def chances(self) -> tuple[float, float]:
        """The chances of the true category, and of each other one."""
        answer: Any = self.part.answer
        p, q = answer.chances
        return p, q


def features(schema: Schema, label: str | None) -> dict[str, Feature]:
    """Return the columns of a schema that are not the label; they must be numbers."""
    if schema.method != "split":
        raise ParameterError(
            "method",
            "be 'split' to learn how columns depend on each other",
            "'sample'",
            "Nobody reported two of them. Type {method}.",
            method="split",
        )
    parts = {name: part for name, part in schema.parts().items() if name != label}
    for name, part in parts.items():
        if part.column.kind != "number":
            raise ParameterError(
                f"column {name!r}",
                "be a Number, as all but the label are",
                f"a {part.column.kind}",
                "Type {label}, or leave the column out of the schema.",
                label=name,
            )
    return {name: Feature(part) for name, part in parts.items()}
