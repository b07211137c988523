"""A bar for a person who waits while a large file is read."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from sourdine.cli.streams import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["patience"]

LARGE = 20_000_000
"""A bar is drawn for files of at least this many bytes."""
EVERY = 0.2
"""Seconds between two looks at what is done."""


@contextmanager
def patience(file: str, *, spark: bool = False) -> Iterator[None]:
    """Draw which part of a large file has been read, or of Spark's work, if a person watches."""
    terminal = Terminal(stderr=True)
    size = sum(Path(path).stat().st_size for path in glob(file))  # noqa: PTH207 - it may be absolute
    if not terminal.is_terminal or (size < LARGE and not spark):
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=terminal, transient=True) as bar:
        stop = Event()
        reading = "Spark" if spark else f"reading {size / 1e6:,.0f} MB"
        watcher = Thread(target=_watch, args=(bar, reading, stop))
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


def _watch(bar: Progress, text: str, stop: Event) -> None:
    from sourdine.tally.duck import progress  # noqa: PLC0415 - commands load what they need

    task = bar.add_task(text, total=None)
    while not stop.wait(EVERY):
        spark = sys.modules.get("sourdine.tally.spark.opening")
        seen = None if spark is None else spark.progress()
        part = progress() if seen is None else seen[1]
        if part is not None:
            said = text if seen is None else f"Spark: {seen[0]}"
            bar.update(task, total=1.0, completed=part, description=said)
