"""Spark data frames: the types of their columns, and whether reading them is repeatable."""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.frames import engine
from sourdine.frames.engine import require_different
from sourdine.frames.memory import DATES, NESTED, NUMBERS, OTHER, WORDS, Declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# ---- Functions, types of columns, and settings ---------------------------------------------------


_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    "boolean": "boolean", "date": "date", "timestamp_ntz": "time", "timestamp": "zoned",
}  # fmt: skip
_HOLDS = {
    **dict.fromkeys(("integer", "float", "boolean", "decimal"), NUMBERS),
    "text": WORDS, **dict.fromkeys(("date", "time", "zoned"), DATES),
}  # fmt: skip
_BY_ARROW = ("binary", "array", "struct", "interval day", "interval second", "time(")
STATED = {"time": "timestamp", "zoned": "timestamp", "listed": None, "other": None}
"""Public names of kinds, where they differ."""
_ROWS, _MANY = "spark.sql.execution.arrow.maxRecordsPerBatch", "65536"
_BYTES, _ANY = "spark.sql.execution.arrow.maxBytesPerBatch", "2147483647"
"""The settings that limit a batch, and their temporary values."""
_WRITTEN = ("spark.sql.debug.maxToStringFields", "spark.sql.maxPlanStringLength")
"""The settings after how many fields, and characters, Spark truncates the text of a plan."""
_LONGEST = str((1 << 31) - 16)
_RETAINED = "spark.sql.retainGroupColumns"


def functions(frame: Any) -> Any:
    """Return the module that makes columns for a frame, which differs for Connect."""
    return import_module(f"pyspark.sql{'.connect' if is_remote(frame) else ''}.functions")


def windows(frame: Any) -> Any:
    package = "connect" if is_remote(frame) else "classic"
    return import_module(f"pyspark.sql.{package}.window").Window


def is_remote(frame: Any) -> bool:
    """Return whether a frame or a session is one of Connect."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


def kind_of(dtype: Any) -> str:
    """Return how a type is read; `listed` are types that only Python reads, through Arrow."""
    written = dtype.simpleString()
    if written.startswith(("string", "char", "varchar")):
        return "text"
    if written.startswith("decimal"):
        return "decimal"
    if written in _KINDS:
        return _KINDS[written]
    return "listed" if written.startswith(_BY_ARROW) else "other"


def declared(dtype: Any) -> Declared | None:
    """Return the declared type; None for that of NULL."""
    written = dtype.simpleString()
    if written == "void":
        return None
    if written.startswith(("array", "struct", "map", "variant")):
        return Declared(NESTED, written)
    return Declared(_HOLDS.get(kind_of(dtype), OTHER), written)


def guarded(work: Callable[[], Any]) -> Any:
    """Run Spark; on failure, raise an error without its message, which may hold data."""
    with unlogged():
        return engine.guarded(
            work, "a Spark frame whose query failed",
            "See Spark's log: an expression in the frame may fail on a value.",
        )  # fmt: skip


def condition_of(error: Exception) -> str | None:
    """Return Spark's name of an error condition."""
    told = getattr(error, "getCondition", None)
    return told() if callable(told) else None


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep PySpark from logging errors with the values that they name.

    The loggers must be PySpark's own class: it calls them in a way that others do not support.
    """
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    loggers = [PySparkLogger.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def in_full(session: Any) -> Iterator[None]:
    """Let Spark write plans in full, and restore the settings.

    A frame of another session is written by the settings of the active one.
    """
    active = type(session).getActiveSession()
    confs = [one.conf for one in (session, active) if one is not None]
    before = [(conf, name, conf.get(name)) for conf in confs for name in _WRITTEN]
    for conf, name, _ in before:
        conf.set(name, _LONGEST)
    try:
        yield
    finally:
        for conf, name, value in before:
            conf.set(name, value)


@contextmanager
def in_large_batches(session: Any, *, narrow: bool = False) -> Iterator[None]:
    """Let Spark pass small rows to Python in larger batches, unless their size was configured.

    Each batch costs Java and Python some milliseconds. The result must not depend on where batches
    end. The session's settings are restored. A ``narrow`` row is a few numbers: its bytes, which
    Spark counts row by row, need no limit.
    """
    limits = {_ROWS: _MANY, _BYTES: _ANY} if narrow else {_ROWS: _MANY}
    free = guarded(lambda: [name for name in limits if session.conf.get(name, None) is None])
    for name in free:
        session.conf.set(name, limits[name])
    try:
        yield
    finally:
        for name in free:
            session.conf.unset(name)


def require_usable(frame: Any) -> list[str]:
    """Return the names of the columns; refuse streams and duplicate names.

    Also refuse a setting under which Spark leaves out the grouping columns.
    """
    if frame.isStreaming:
        raise ParameterError("data", "not be a stream", "", "Write it to a table, and pass that.")
    if frame.sparkSession.conf.get(_RETAINED).lower() != "true":
        raise ParameterError(
            _RETAINED, "be true", "false", f'Call spark.conf.set("{_RETAINED}", "true").'
        )
    names = list(frame.columns)
    require_different(names)
    return names


# ---- Whether a frame has the same rows each time it is read --------------------------------------


_DRAWN = (
    *("rand", "randn", "random", "randstr", "uniform", "uuid", "shuffle", "sample"),
    *("monotonically_increasing_id", "spark_partition_id", "first", "last", "any_value"),
)
_CALL = re.compile(rf"(?<![\w.`])({'|'.join(_DRAWN)})\(")
_BRACKET = re.compile(r"[()]")
_KEEPING_ORDER = {
    "LocalLimit", "GlobalLimit", "Offset", "Project", "Filter", "SubqueryAlias"
}  # fmt: skip
_SECTION = re.compile(r"^== (.*) ==$", re.MULTILINE)


def require_determined(frame: Any) -> None:
    """Refuse a frame that draws rows or values anew each time it is read.

    An answer may need two passes, which must see the same rows. A nondeterministic user function is
    noticed only if it is declared so, and only by classic Spark.
    """
    found = _drawn(frame)
    if found is not None:
        raise ParameterError(
            "data", "be the same each time they are read", f"a Spark frame with {found}",
            "Write it to a table or a folder, and pass that.",
        )  # fmt: skip


def _drawn(frame: Any) -> str | None:
    """Return what differs from one read to the next, or None."""
    for plan in guarded(lambda: _plans(frame)):
        if found := _in_plan(plan):
            return found
    if hasattr(frame, "_jdf"):
        query = frame._jdf.queryExecution()  # noqa: SLF001
        if not (query.analyzed().deterministic() and query.optimizedPlan().deterministic()):
            return "an expression that is not deterministic"
    return None


def _plans(frame: Any) -> list[str]:
    """Return the analyzed and the optimised plan, in full."""
    with in_full(frame.sparkSession):
        if hasattr(frame, "_jdf"):
            query = frame._jdf.queryExecution()  # noqa: SLF001
            return [query.analyzed().treeString(), query.optimizedPlan().treeString()]
        pieces = _SECTION.split(frame._explain_string(extended=True))  # noqa: SLF001
        named = dict(zip(pieces[1::2], pieces[2::2], strict=True))
        _, _, analyzed = named["Analyzed Logical Plan"].strip().partition("\n")  # after the schema
        return [analyzed, named["Optimized Logical Plan"]]


def _in_plan(text: str) -> str | None:
    r"""Return the part of a plan that is nondeterministic.

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
    """Return whether an apparent call is the name of a column: a number follows it."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return text.startswith("#", bracket.end())
    return False


def _ordered(below: list[tuple[str, str, str]]) -> bool:
    """Return whether rows are sorted before any other operation."""
    for name, _, rest in below:
        if name == "Sort":
            return ", true" in rest
        if name not in _KEEPING_ORDER:
            return False
    return False
