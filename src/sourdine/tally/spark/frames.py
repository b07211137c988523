"""A data frame of Spark's: its functions, the kinds of its columns, whether it can be used."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.tally.column import DATES, NUMBERS, WORDS
from sourdine.tally.engine import require_different
from sourdine.tally.types import NESTED, OTHER, Declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "STATED",
    "condition_of",
    "declared",
    "functions",
    "guarded",
    "in_full",
    "in_large_batches",
    "is_remote",
    "kind_of",
    "require_usable",
    "unlogged",
    "windows",
]

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
"""How kinds are called outside, where that differs."""
_ROWS, _MANY = "spark.sql.execution.arrow.maxRecordsPerBatch", "65536"
_BYTES, _ANY = "spark.sql.execution.arrow.maxBytesPerBatch", "2147483647"
"""What limits a batch, and its limits while we work."""
_WRITTEN = ("spark.sql.debug.maxToStringFields", "spark.sql.maxPlanStringLength")
"""After how many fields, and after how many letters, Spark cuts off the text of a plan."""
_LONGEST = str((1 << 31) - 16)
_RETAINED = "spark.sql.retainGroupColumns"


def functions(frame: Any) -> Any:  # noqa: ANN401
    """Return the functions that make columns for a frame: those of Connect are others."""
    return import_module(f"pyspark.sql{'.connect' if is_remote(frame) else ''}.functions")


def windows(frame: Any) -> Any:  # noqa: ANN401
    """Return what makes windows over this frame's rows."""
    return import_module(
        f"pyspark.sql.{'connect' if is_remote(frame) else 'classic'}.window"
    ).Window


def is_remote(frame: Any) -> bool:  # noqa: ANN401
    """Return whether a frame or a session is one of Connect."""
    return type(frame).__module__.startswith("pyspark.sql.connect")


def kind_of(dtype: Any) -> str:  # noqa: ANN401
    """Return how a type is read: `listed` are those that only Python reads, by Arrow."""
    written = dtype.simpleString()
    if written.startswith(("string", "char", "varchar")):
        return "text"
    if written.startswith("decimal"):
        return "decimal"
    if written in _KINDS:
        return _KINDS[written]
    return "listed" if written.startswith(_BY_ARROW) else "other"


def declared(dtype: Any) -> Declared | None:  # noqa: ANN401
    """Return what a type says; None for that of nothing at all."""
    written = dtype.simpleString()
    if written == "void":
        return None
    if written.startswith(("array", "struct", "map", "variant")):
        return Declared(NESTED, written)
    return Declared(_HOLDS.get(kind_of(dtype), OTHER), written)


def guarded(work: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Let Spark work; if it fails, say so without what it says, which may hold data."""
    with unlogged():
        return _told_without_data(work)


def condition_of(error: Exception) -> str | None:
    """Return what Spark calls an error."""
    told = getattr(error, "getCondition", None)
    return told() if callable(told) else None


def _told_without_data(work: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return work()
    except ParameterError:
        raise
    except Exception:  # noqa: BLE001 - Spark has many kinds of errors
        raise ParameterError(
            "data",
            "be readable to the end",
            "a Spark frame whose query failed",
            "Spark's log says why: an expression in the frame may fail on a value.",
        ) from None


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep PySpark from logging errors, with the values that they name.

    The loggers must be of its own kind: it calls them as no other can be called.
    """
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    loggers = [
        PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")
    ]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def in_full(session: Any) -> Iterator[None]:  # noqa: ANN401
    """Let Spark write plans to their end. The settings are put back.

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
def in_large_batches(session: Any, *, narrow: bool = False) -> Iterator[None]:  # noqa: ANN401
    """Let Spark hand small rows to Python in larger batches, unless somebody chose their size.

    Each costs Java and Python some milliseconds, whatever it holds. What is computed must not
    depend on where batches end. The session's settings are put back.

    Parameters
    ----------
    session
        Spark's.
    narrow
        Whether a row is a few numbers: its bytes, which Spark counts row by row, need no limit.
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


def require_usable(frame: Any) -> list[str]:  # noqa: ANN401
    """Return the names of the columns; a stream, and a name that stands twice, are refused.

    So is a setting under which Spark leaves out what it grouped by.
    """
    if frame.isStreaming:
        raise ParameterError(
            "data", "be at rest", "a stream", "Write it to a table, and pass that."
        )
    if frame.sparkSession.conf.get(_RETAINED).lower() != "true":
        raise ParameterError(
            _RETAINED, "be true", "false", f'Type spark.conf.set("{_RETAINED}", "true").'
        )
    names = list(frame.columns)
    require_different(names)
    return names
