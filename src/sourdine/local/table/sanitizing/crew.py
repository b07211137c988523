"""Blocks of records randomised by several processes.

Much of the work holds the interpreter's lock, so threads gain nothing. Each worker is a fresh
interpreter, not a fork, so no state of random numbers or of threads is shared and a script needs
no guard. It gets the schema once, as JSON, then slots as raw whole numbers, and gives back
reports; both ends know the sizes from the schema. The main process reads and writes meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import chain, islice
from queue import SimpleQueue
from signal import SIG_IGN, SIGINT, signal
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from sourdine.local.table.sanitizing.blocks import shown_block
from sourdine.local.table.schema_files import facts, from_facts
from sourdine.mechanisms.transcript import CURRENT
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source

__all__ = ["shown_blocks", "work"]

LONG = 16
"""From this many blocks on, workers are started: they take a second to come."""

Slots = list["NDArray[np.int64]"]
Shown = list["NDArray[Any]"]


def shown_blocks(
    schema: Schema, blocks: Iterable[Slots], source: Source, workers: int | None = None
) -> Iterator[Shown]:
    """Yield the reports of all blocks in order, as a table shows them.

    Draws that must repeat (a seeded source, an audit) stay in this process.
    """
    here = source is not SYSTEM or CURRENT.get() is not None
    crew = 1 if here else (_cores() if workers is None else workers)
    desk, rest = Desk(schema), iter(blocks)
    for slots in rest if crew == 1 else islice(rest, LONG):
        yield desk.run(slots, source)
    for slots in rest:
        yield from _by_crew(schema, chain([slots], rest), crew)


def _by_crew(schema: Schema, blocks: Iterator[Slots], crew: int) -> Iterator[Shown]:
    with ExitStack() as stack:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(crew):
            idle.put(stack.enter_context(Worker(schema)))
        threads = stack.enter_context(ThreadPoolExecutor(crew))

        def run(slots: Slots) -> Shown:
            worker = idle.get()
            try:
                return worker.run(slots)
            finally:
                idle.put(worker)

        waiting: deque[Any] = deque()
        for slots in blocks:
            waiting.append(threads.submit(run, slots))
            if len(waiting) > 2 * crew:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Desk:
    """Where blocks are done in this process."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.parts = schema, schema.parts()
        self.taken = [_smallest(part.cell.size) for part in self.parts.values()]
        self.given = [_smallest(part.mechanism.codes) for part in self.parts.values()]

    def run(self, slots: Slots, source: Source = SYSTEM) -> Shown:
        """Return the reports of a block."""
        return _narrowed(shown_block(self.schema, self.parts, slots, source), self.given)


class Worker:
    """One other interpreter; if it cannot be started or dies, the work is done here."""

    def __init__(self, schema: Schema) -> None:
        self._desk = Desk(schema)
        self._process: Popen[bytes] | None = None

    def __enter__(self) -> Self:
        start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import work; work()"
        try:
            self._process = Popen(  # noqa: S603 - this interpreter, our own code
                [sys.executable, "-c", start], stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            self._pipe(0).write(json.dumps(facts(self._desk.schema)).encode() + b"\n")
        except (OSError, TypeError):
            self._process = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def run(self, slots: Slots) -> Shown:
        """Return the reports of a block."""
        answer = None
        if self._process is not None:
            with suppress(OSError):
                _send(self._pipe(0), _narrowed(slots, self._desk.taken))
                answer = _receive(self._pipe(1), self._desk.given)
        if answer is None:
            self.__exit__()
            return self._desk.run(slots)
        return answer

    def _pipe(self, which: int) -> IO[bytes]:
        process: Any = self._process
        pipe: IO[bytes] = (process.stdin, process.stdout)[which]
        return pipe


def work() -> None:
    """Be a worker: read the schema, then blocks until there are no more."""
    signal(SIGINT, SIG_IGN)  # the main process ends its workers
    told, said = sys.stdin.buffer, sys.stdout.buffer
    desk = Desk(from_facts(json.loads(told.readline())))
    while (slots := _receive(told, desk.taken)) is not None:
        _send(said, desk.run([s.astype(np.int64) for s in slots]))


def _send(pipe: IO[bytes], columns: Sequence[NDArray[Any]]) -> None:
    pipe.write(len(columns[0]).to_bytes(8, "little"))
    for column in columns:
        pipe.write(column.data)
    pipe.flush()


def _receive(pipe: IO[bytes], kinds: Sequence[np.dtype[Any]]) -> list[NDArray[Any]] | None:
    head = pipe.read(8)
    rows = int.from_bytes(head, "little")
    columns = []
    for kind in kinds if len(head) == 8 else ():
        column = np.empty(rows, kind)
        if pipe.readinto(column.data) != column.nbytes:  # type: ignore[attr-defined]
            return None
        columns.append(column)
    return columns if len(head) == 8 else None


def _smallest(most: int) -> np.dtype[Any]:
    """Return the smallest type of whole numbers that holds -1 and up to ``most``."""
    return np.min_scalar_type(-most - 1)


def _narrowed(columns: Slots, kinds: Sequence[np.dtype[Any]]) -> Shown:
    return [column.astype(kind) for column, kind in zip(columns, kinds, strict=True)]


def _cores() -> int:
    """Return how many cores nobody else uses; where that is not known, how many there are."""
    try:
        mine, busy = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    except (AttributeError, OSError):
        return os.cpu_count() or 1
    return min(mine, max(1, mine + 1 - round(busy)))
