r"""Joint tallies of two columns that the same people answered for.

A report :math:`r` of a mechanism adds 1 to some cells of its tally, :math:`t(r)`; the joint tally
of two columns is :math:`\sum_i t(r_i)\,t(s_i)^\top` over the people. An estimator that is a linear
function of each tally is then one of the joint tally.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.local.reports.form import Form
    from sourdine.mechanisms.mechanism import Report

__all__ = ["joint_tally", "read_pairs"]

LARGEST = 1 << 24
"""A joint tally has at most this many cells."""

FINEST = 1 << 20
"""The first column has at most this many different reports."""


def read_pairs(form: Form, pairs: Sequence[tuple[str, str]]) -> tuple[tuple[int, int], ...]:
    """Return the numbers of the columns of each pair."""
    pairs = listed(pairs, "pairs", pairs=[(form.names[0], form.names[-1])])
    if pairs and form.sampled:
        raise ParameterError(
            "pairs",
            "be left out under the method 'sample', where nobody answers for two columns",
            f"{len(pairs)}",
            "Leave {pairs} out, or make the schema with the method 'split'.",
            pairs=LEFT_OUT,
        )
    for names in pairs:
        if not _are_two(names, form.randomisers):
            raise ParameterError(
                "pairs",
                "be of two different columns of the schema",
                repr(names) if isinstance(names, tuple) else given(names),
                "Type {pairs}.",
                pairs=[(form.names[0], form.names[-1])],
            )
        one, other = (form.randomisers[name] for name in names)
        finest = 0 if form.widths[form.names.index(names[0])] else one.codes
        if one.cells * other.cells > LARGEST or finest > FINEST:
            raise ParameterError(
                "pairs",
                "have at most 2**24 cells, and the first column 2**20 reports",
                f"{names!r} with {one.cells} x {other.cells} cells",
                "Type a coarser step, or fewer categories.",
            )
    return tuple((form.names.index(a), form.names.index(b)) for a, b in pairs)


def _are_two(names: object, known: Mapping[str, object]) -> bool:
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        return False
    one, other = names
    return one != other and all(isinstance(x, str) and x in known for x in names)


def joint_tally(
    one: Report, reports: NDArray[Any], other: Report, others: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the joint tally of two columns, a row for each cell of the first."""
    counts = np.zeros((one.cells, other.cells), np.int64)
    for cell, rows in _members(one, reports):
        counts[cell] += other.tally(others[rows])
    return counts


def _members(mechanism: Report, reports: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each cell that some of the reports count in, with the rows of those."""
    if reports.ndim > 1:
        for cell in range(mechanism.cells):
            rows = np.flatnonzero(reports[:, cell >> 3] & (1 << (cell & 7)))
            if rows.size:
                yield cell, rows
        return
    sizes = mechanism.tally(np.arange(mechanism.codes))
    cells = np.searchsorted(np.cumsum(sizes), reports, side="right")
    order = np.argsort(cells, kind="stable")
    found, starts = np.unique(cells[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)
