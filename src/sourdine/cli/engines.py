"""Which engine reads the file of a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.tally import Frame, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["SPARK", "TABLE", "by_spark", "name_of", "opened", "records"]

SPARK = "spark"
TABLE = "spark:"


def opened(file: str, asked: Mapping[str, Any], read: Reading | None) -> str | Frame:
    """Return the data: the path itself, or a frame in Spark where that was asked for."""
    if not by_spark(file, asked):
        return file
    from sourdine.tally.spark.opening import open_stored  # noqa: PLC0415 - commands load late

    return Frame(open_stored(file, asked.get("master"), read or Reading()))


def records(
    file: str, asked: Mapping[str, Any], read: Reading | None
) -> tuple[Any, Reading | None]:
    """Return the path itself, or the data frame of Spark's; and how its text is read."""
    if not by_spark(file, asked):
        return file, read
    from sourdine.tally.spark.opening import is_text, stored_frame  # noqa: PLC0415 - late

    reading = read or Reading()
    frame = stored_frame(file, asked.get("master"), reading)
    if is_text(file):  # its types are Spark's, not the file's: any text may be a number
        reading = replace(reading, decimal=reading.point)
    return frame, reading


def by_spark(file: str, asked: Mapping[str, Any]) -> bool:
    """Return whether Spark shall read a file."""
    engine, master = asked.get("engine"), asked.get("master")
    if engine not in {None, SPARK}:
        raise ParameterError("engine", "be spark", given(engine), "Type {engine}.", engine=SPARK)
    if engine is None and not file.startswith(TABLE):
        if master is not None:
            raise ParameterError(
                "master",
                "be left out without {engine}",
                given(master),
                "Leave {master} out, or type {engine}.",
                master=LEFT_OUT,
                engine=SPARK,
            )
        return False
    return True


def name_of(file: str) -> str:
    """Return what a ledger calls the data."""
    return PurePath(file.removeprefix(TABLE)).name
