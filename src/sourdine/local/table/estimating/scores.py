r"""What a report tells of a cell, as numbers that average to the truth.

For a column cut into parts (its categories, or bins of numbers, and *no answer*) each report
:math:`y` has a score :math:`a_i(y)` for each part :math:`i`, with

.. math:: E[a_i(Y) \mid x] = 1[x \in i]

exactly for categories, and for bins up to a bias that is known. So the mean score over all people
is the share of a part, and since columns are randomised independently the mean of a product of
scores of two columns is the share of people in both parts.

With a paid flag (`PaidFlag`), a report says *none* with probability :math:`q` if there is an
answer and :math:`p` if there is none; an absent answer that is reported is any one. If
:math:`g` scores reports of answers and :math:`\bar h` is its mean over all answers alike,

.. math:: a(y) = \frac{g(y)}{p} + b, \quad a(\text{none}) = d, \qquad
          d = -\frac{q\bar h}{p^2 - q^2}, \quad b = -\frac{qd}{p}

has the mean :math:`h(x)` for an answer, since :math:`bp + dq = 0`, and 0 for none, since
:math:`q\bar h/p + bq + dp = 0`. *Checked by* ``test_scores_have_the_stated_means``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, kind
from sourdine.local.categorical.flipped import bits_of
from sourdine.local.estimators.channel import channel, solve
from sourdine.local.table.absence import PaidFlag
from sourdine.local.table.columns import NO_ANSWER, Choice, Flag, Number
from sourdine.local.table.several import Choices
from sourdine.mechanisms import RandomizedResponse
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.local.table.part import ColumnPart

    Floats = NDArray[np.float64]

__all__ = ["BINS", "Axis", "axis", "flagged", "flagged_rows", "names"]

BINS = 5
"""A column of numbers is cut into this many bins unless the call says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """A column cut into parts.

    Parameters
    ----------
    name
        The column.
    labels
        The parts.
    scores
        For each cell of the column's tally a score of each part.
    bias
        How far the mean score of a part can be from the truth, at most.
    own, other
        The mean square of the score of a part for people in it, and for others, at most.
    """

    name: str
    labels: tuple[str, ...]
    scores: Floats
    bias: Floats
    own: Floats
    other: Floats


def axis(part: ColumnPart, n: int, bins: int | Sequence[float] = BINS) -> Axis:
    """Return a column cut into parts, with scores fitted to ``n`` reports.

    Parameters
    ----------
    part
        The column.
    n
        The number of reports, which decides how much bias is worth less noise.
    bins
        For numbers: how many bins of one width, or their inner edges. On lattices of more than
        500 points an edge is sharp to a 500th of the bounds.
    """
    column = part.column
    if isinstance(column, (Choice, Flag)):
        return _of_categories(part, column)
    if isinstance(column, Choices):
        return _of_choices(part, column)
    if isinstance(column, Number):
        return _of_bins(part, column, n, bins)
    raise ParameterTypeError(
        "column",
        "be a Number, Choice, Choices or Flag",
        kind(column),
        "Declare it as one of these.",
    )


def flagged(mechanism: PaidFlag, g: Floats, mean: Floats) -> Floats:
    """Return scores of answers as scores of answers that may be absent; none is the last cell.

    Parameters
    ----------
    g
        A row for each cell of the answers' tally.
    mean
        The mean of what is scored over all answers alike.
    """
    p, q = mechanism.flag.channel
    d = -q * mean / (p * p - q * q)
    return np.vstack((g / p - q * d / p, np.atleast_2d(d)))


def _of_categories(part: ColumnPart, column: Choice | Flag) -> Axis:
    oracle: Any = part.answer
    if not isinstance(oracle, RandomizedResponse):
        raise ParameterTypeError(
            "pairs",
            "be of columns reported by randomised response",
            f"{type(oracle).__name__} for {part.name!r}",
            "Declare the column with {method}.",
            method="response",
        )
    p, q = oracle.channel
    k = oracle.categories
    truth = np.eye(k)
    rows = q + (p - q) * truth
    scores = (truth - q) / (p - q)
    return _axis(part.name, names(column), scores, np.zeros(k), rows, truth)


def _of_choices(part: ColumnPart, column: Choices) -> Axis:
    """Return an axis whose parts overlap: a person is in the part of each choice that they have."""
    p, q = part.answer.chances
    k = len(column.choices)
    scores = (bits_of(k) - q) / (p - q)
    yes, no = ((1 - q) / (p - q)) ** 2, (q / (p - q)) ** 2
    own, other = (np.full(k, chance * yes + (1 - chance) * no) for chance in (p, q))
    return Axis(
        name=part.name, labels=column.choices, scores=scores, bias=np.zeros(k), own=own, other=other
    )


def names(column: Choice | Choices | Flag) -> tuple[str, ...]:
    """Return the names of the categories, as texts."""
    if isinstance(column, Flag):
        return ("false", "true", NO_ANSWER) if column.missing else ("false", "true")
    return tuple(map(str, column.listed))


def _of_bins(part: ColumnPart, column: Number, n: int, bins: int | Sequence[float]) -> Axis:
    grid, report, mechanism = column.grid, part.answer, part.mechanism
    inner = _inner(column, bins)
    c = channel(report)
    where = np.searchsorted(inner, c.nodes, side="right")
    truth = np.eye(len(inner) + 1)[where]
    solved = [solve(c, truth[:, i], n, steep=0.0)[0] for i in range(truth.shape[1])]
    scores = np.stack([score.g for score in solved], axis=1)
    bias = np.array([float(score.bias) for score in solved])
    edges = [0, *np.ceil(inner).astype(int).tolist(), grid.last + 1]
    labels = tuple(_range(column, a, b - 1) for a, b in pairwise(edges))
    rows, spread = c.rows, np.diff(np.append(c.first, report.cells))
    if isinstance(mechanism, PaidFlag):
        p, q = mechanism.flag.channel
        none = np.append(np.zeros(len(scores)), 1.0)
        answered = flagged(mechanism, scores, np.diff(edges) / grid.size)
        scores = np.column_stack((answered, (none - q) / (p - q)))
        rows = flagged_rows(mechanism, rows)
        truth = np.eye(truth.shape[1] + 1)[np.append(where, truth.shape[1])]
        bias, labels = np.append(bias * (1 + q / p), 0.0), (*labels, NO_ANSWER)
        spread = np.append(spread, 1)
    made = _axis(part.name, labels, scores, bias, rows, truth)
    return replace(made, scores=np.repeat(scores, spread, axis=0))


def _axis(  # noqa: PLR0913, PLR0917 - the parts of an axis
    name: str, labels: tuple[str, ...], scores: Floats, bias: Floats, rows: Floats, truth: Floats
) -> Axis:
    """Return an axis with the mean squares of its scores, from the laws of all inputs."""
    square = rows @ scores**2
    own = np.where(truth > 0, square, 0).max(axis=0)
    other = np.where(truth > 0, 0, square).max(axis=0)
    return Axis(name=name, labels=labels, scores=scores, bias=bias, own=own, other=other)


def flagged_rows(mechanism: PaidFlag, rows: Floats) -> Floats:
    """Return the laws of answers, a row each, with that of an absent answer as the last."""
    p, q = mechanism.flag.channel
    there = np.column_stack((p * rows, np.full(len(rows), q)))
    return np.vstack((there, np.append(q * rows.mean(axis=0), p)))


def _inner(column: Number, bins: int | Sequence[float]) -> Floats:
    """Return the inner edges of the bins, in ticks: a bin holds the ticks from an edge on."""
    grid = column.grid
    if isinstance(bins, int):
        count = min(integer(bins, "bins", least=1), grid.size)
        return np.ceil(np.arange(1, count) * grid.size / count)
    edges = np.asarray(bins, float)
    ticks = np.ceil((edges - float(grid.lower)) / float(grid.step) - 1e-9)
    if not (np.diff(ticks, prepend=0, append=grid.last + 1) > 0).all():
        raise ParameterError(
            "bins",
            "be inner edges, rising and within the bounds",
            "other edges",
            "Type how many bins there should be, such as {bins}.",
            bins=5,
        )
    return ticks


def _range(column: Number, first: int, last: int) -> str:
    low, high = (float(column.grid.value(t)) for t in (first, last))
    width = float(column.grid.step)
    a, b = (shown(round(x) if x == round(x) else x, width) for x in (low, high))
    return a if first == last else f"{a} to {b}"
