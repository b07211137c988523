"""Whether a frame holds the same rows each time it is read."""

from __future__ import annotations

import re
from typing import Any

from sourdine.errors import ParameterError
from sourdine.tally.spark.frames import guarded, in_full

__all__ = ["require_determined"]

_DRAWN = (
    *("rand", "randn", "random", "randstr", "uniform", "uuid", "shuffle", "sample"),
    *("monotonically_increasing_id", "spark_partition_id", "first", "last", "any_value"),
)
_CALL = re.compile(rf"(?<![\w.`])({'|'.join(_DRAWN)})\(")
_BRACKET = re.compile(r"[()]")
_SECTION = re.compile(r"^== (.*) ==$", re.MULTILINE)


def require_determined(frame: Any) -> None:  # noqa: ANN401
    """Refuse a frame that draws rows or values anew each time it is read.

    An answer may need two passes, which must see the same rows. What a user's own function does is
    seen only if it says so, and only by classic Spark.
    """
    found = _drawn(frame)
    if found is not None:
        raise ParameterError(
            "data",
            "be the same each time they are read",
            f"a Spark frame with {found}",
            "Write it to a table or a folder, and pass what that holds.",
        )


def _drawn(frame: Any) -> str | None:  # noqa: ANN401
    """Return what differs from reading to reading, if anything does."""
    for plan in guarded(lambda: _plans(frame)):
        if found := _in_plan(plan):
            return found
    if hasattr(frame, "_jdf"):
        query = frame._jdf.queryExecution()  # noqa: SLF001
        if not (query.analyzed().deterministic() and query.optimizedPlan().deterministic()):
            return "an expression that is not deterministic"
    return None


def _plans(frame: Any) -> list[str]:  # noqa: ANN401
    """Return the plan as it is understood and as it is optimised, in full."""
    with in_full(frame.sparkSession):
        if hasattr(frame, "_jdf"):
            query = frame._jdf.queryExecution()  # noqa: SLF001
            return [query.analyzed().treeString(), query.optimizedPlan().treeString()]
        pieces = _SECTION.split(frame._explain_string(extended=True))  # noqa: SLF001
        named = dict(zip(pieces[1::2], pieces[2::2], strict=True))
        _, _, analyzed = named["Analyzed Logical Plan"].strip().partition("\n")  # after the schema
        return [analyzed, named["Optimized Logical Plan"]]


def _in_plan(text: str) -> str | None:
    r"""Return what in a plan draws anew.

    Examples
    --------
    >>> _in_plan("GlobalLimit 3\n+- LocalLimit 3\n   +- Relation [a#1]")
    'limit without order'
    >>> _in_plan("GlobalLimit 3\n+- LocalLimit 3\n   +- Sort [a#1 ASC], true\n      +- Relation")
    >>> _in_plan("Project [rand(7) AS b#2]")
    'rand()'
    >>> _in_plan("Project [a#1 AS rand(7)#2]")
    >>> _in_plan("Aggregate [b#2], [first(coalesce(cast(a#1 as int), 0), false) AS c#3]")
    'first()'
    """
    nodes = [line.lstrip(" :+-").partition(" ") for line in text.splitlines()]
    for i, (name, _, rest) in enumerate(nodes):
        if name == "Sample":
            return "a sample"
        if name in {"GlobalLimit", "Limit", "Tail", "Offset"} and not _ordered(nodes[i + 1 :]):
            return "limit without order"
        for call in _CALL.finditer(rest):
            if not _named(rest, call.end()):
                return f"{call[1]}()"
    return None


def _named(text: str, start: int) -> bool:
    """Return whether what looks like a call is the name of a column: a number follows it."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return text.startswith("#", bracket.end())
    return False


def _ordered(below: list[tuple[str, str, str]]) -> bool:
    """Return whether rows are put in order before anything else happens to them."""
    for name, _, rest in below:
        if name == "Sort":
            return ", true" in rest
        if name not in {
            "LocalLimit",
            "GlobalLimit",
            "Offset",
            "Project",
            "Filter",
            "SubqueryAlias",
        }:
            return False
    return False
