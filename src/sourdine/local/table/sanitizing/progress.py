"""A bar that shows how many records are done. Their number is public."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from sourdine.tally.duck import Duck
from sourdine.tally.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.tally import Frame

__all__ = ["counted_rows"]

PATIENCE = 1.0
"""Seconds before a bar appears."""


@contextmanager
def counted_rows(frame: Frame, progress: bool | None) -> Iterator[Callable[[int], None]]:  # noqa: FBT001
    """Give a function to call with the number of records done since the last call.

    Parameters
    ----------
    frame
        What is read.
    progress
        True and False; None: on a terminal, if it takes longer than a second.
    """
    wanted = sys.stderr.isatty() if progress is None else progress
    since = monotonic()
    total = _known_rows(frame) if wanted else None
    bar: Any = None
    task, done = None, 0

    def count(rows: int) -> None:
        nonlocal bar, task, done
        done += rows
        if wanted and bar is None and (progress or monotonic() - since > PATIENCE):
            bar = _bar()
            task = bar.add_task("sanitising", total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield count
    finally:
        if bar is not None:
            bar.stop()


def _known_rows(frame: Frame) -> int | None:
    """Return the number of records where it is known without reading them."""
    quick = isinstance(frame.engine, Memory) or (
        isinstance(frame.engine, Duck) and frame.engine.is_file and not frame.parsed
    )
    return len(frame) if quick else None


def _bar() -> Any:  # noqa: ANN401
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} records"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
