"""Rows in the same order each time they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sourdine.tally.spark.bounding import sortable
from sourdine.tally.spark.cells import Expressions
from sourdine.tally.spark.frames import functions, guarded, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_ordered", "plain_columns", "settled_columns"]

_STILL = {
    *("FileScan", "Range", "LocalTableScan", "Project", "Filter", "Union", "ColumnarToRow"),
    "AdaptiveSparkPlan",
}
"""What reads, keeps and computes rows one by one, in one order."""
_NODE = re.compile(r"[\s:+\-*]*(?:\(\d+\) )?(\w+)")


def plain_columns(frame: Any, names: Sequence[str]) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """Return some columns as Python reads them, and what sorts them by what they hold.

    They are called c0, c1, ..., whatever their names are.
    """
    e = Expressions(functions(frame))
    fields = [frame.columns.index(name) for name in names]
    kinds = [kind_of(frame.schema.fields[i].dataType) for i in fields]
    renamed = frame.toDF(*(f"x{i}" for i in range(len(frame.columns))))
    titles = [f"c{j}" for j in range(len(names))]
    plain = [
        e.plain(f"x{i}", own).alias(title)
        for i, own, title in zip(fields, kinds, titles, strict=True)
    ]
    order = [sortable(e, e.functions.col(t), own) for t, own in zip(titles, kinds, strict=True)]
    return renamed.select(*plain), order


def settled_columns(frame: Any, names: Sequence[str]) -> tuple[Any, bool]:  # noqa: ANN401
    """Return some columns, rows in one order whenever they are read, and whether they were sorted.

    Rows that are sorted stand where they do for what they hold: what is drawn from them must be
    placed anew.
    """
    rows, order = plain_columns(frame, names)
    ordered = is_ordered(frame)
    return (rows if ordered else rows.sortWithinPartitions(*order)), not ordered


def is_ordered(frame: Any) -> bool:  # noqa: ANN401
    """Return whether a task that runs again sees its rows in the same order, for certain.

    After a shuffle rows stand in the order in which they arrived; a database may give them in any.
    """
    return _still(guarded(lambda: _physical(frame)))


def _physical(frame: Any) -> str:  # noqa: ANN401
    """Return the plan that Spark would run."""
    if hasattr(frame, "_jdf"):
        return str(frame._jdf.queryExecution().executedPlan().toString())  # noqa: SLF001
    _, _, plan = frame._explain_string().partition("== Physical Plan ==")  # noqa: SLF001
    return str(plan)


def _still(plan: str) -> bool:
    r"""Return whether nothing in a plan changes the order of rows.

    Examples
    --------
    >>> _still("*(1) Project [a#1 AS b#2]\n+- *(1) ColumnarToRow\n   +- FileScan parquet [a#1]")
    True
    >>> _still("Exchange hashpartitioning(a#1, 4)\n+- FileScan parquet [a#1]")
    False
    """
    lines = [line for line in plan.splitlines() if line.strip()]
    found = [_NODE.match(line) for line in lines]
    return bool(lines) and all(node is not None and node[1] in _STILL for node in found)
