"""Whether rows come in the same order each time they are read."""

from __future__ import annotations

import re
from typing import Any

from sourdine.tally.spark.frames import guarded

__all__ = ["is_ordered"]

_STILL = {
    *("FileScan", "Range", "LocalTableScan", "Project", "Filter", "Union", "ColumnarToRow"),
    "AdaptiveSparkPlan",
}
"""What reads, keeps and computes rows one by one, in one order."""
_NODE = re.compile(r"[\s:+\-*]*(?:\(\d+\) )?(\w+)")


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
