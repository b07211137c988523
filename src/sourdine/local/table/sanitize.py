"""`sanitize`: a frame to a frame, a file to a file, by several processes."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from glob import glob
from itertools import chain, count, islice
from os import PathLike, fspath
from pathlib import Path
from queue import SimpleQueue
from signal import SIG_IGN, SIGINT, signal
from subprocess import DEVNULL, PIPE, Popen
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from sourdine.errors import ExistingFileError, ParameterError
from sourdine.exact import flag, kind
from sourdine.frames.duck import Duck
from sourdine.frames.frame import Frame, is_spark
from sourdine.frames.memory import Memory
from sourdine.local.table.blocks import (
    ROWS,
    assembled,
    demand_missing,
    excluding,
    prepared,
    shown_block,
    sink,
)
from sourdine.mechanisms.mechanism import CURRENT
from sourdine.noise import SYSTEM
from sourdine.parameters import converters

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell
    from sourdine.frames.reading import Reading
    from sourdine.local.table.blocks import Column
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


# ---- A bar that shows how many records are done. Their number is public --------------------------


PATIENCE = 1.0
"""Seconds before a bar appears."""


@contextmanager
def counted_rows(frame: Frame, *, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """Give a function to call with the number of records done since the last call.

    Where ``progress`` is None a bar appears on a terminal, if it takes longer than a second.
    """
    wanted = sys.stderr.isatty() if progress is None else progress
    since, engine = monotonic(), frame.engine
    quick = isinstance(engine, Memory) or (
        isinstance(engine, Duck) and engine.is_file and not frame.parsed
    )
    total = len(frame) if wanted and quick else None  # where it is known without reading
    bar: Any = None
    task, done = None, 0

    def count(rows: int) -> None:
        nonlocal bar, task, done
        done += rows
        if wanted and bar is None and (progress or monotonic() - since > PATIENCE):
            from rich import progress as rich
            from rich.console import Console

            text, seen = "{task.description}", "{task.completed:,} records"
            columns = (rich.TextColumn(text), rich.BarColumn(), rich.TextColumn(seen))
            times = (rich.TimeElapsedColumn(), rich.TimeRemainingColumn())
            bar = rich.Progress(*columns, *times, console=Console(stderr=True))
            task = bar.add_task("sanitising", total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield count
    finally:
        if bar is not None:
            bar.stop()


# ---- Blocks of records randomised by several processes -------------------------------------------
#
# Much of the work holds the interpreter's lock, so threads gain nothing. Each worker is a fresh
# interpreter, not a fork, so no state of random numbers or of threads is shared and a script needs
# no guard. It gets the schema once, as JSON, then slots as raw whole numbers, and gives back
# reports; both ends know the sizes from the schema. The main process reads and writes meanwhile.


LONG = 16
"""From this many blocks on, workers are started: they take a second to come."""

Slots = list["NDArray[np.int64]"]
SanitizedColumns = list["NDArray[Any]"]


def shown_blocks(
    schema: Schema, blocks: Iterable[Slots], source: Source, workers: int | None = None
) -> Iterator[SanitizedColumns]:
    """Yield the reports of all blocks in order, as a table shows them.

    Draws that must repeat (a seeded source, an audit) stay in this process.
    """
    processes = _cores() if workers is None else workers
    if source is not SYSTEM or CURRENT.get() is not None:
        processes = 1
    desk, rest = Desk(schema), iter(blocks)
    for slots in rest if processes == 1 else islice(rest, LONG):
        yield desk.run(slots, source)
    for slots in rest:
        yield from _by_workers(schema, chain([slots], rest), processes)


def _by_workers(
    schema: Schema, blocks: Iterator[Slots], processes: int
) -> Iterator[SanitizedColumns]:
    with ExitStack() as stack:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(Worker(schema)))
        threads = stack.enter_context(ThreadPoolExecutor(processes))

        def run(slots: Slots) -> SanitizedColumns:
            worker = idle.get()
            try:
                return worker.run(slots)
            finally:
                idle.put(worker)

        waiting: deque[Any] = deque()
        for slots in blocks:
            waiting.append(threads.submit(run, slots))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Desk:
    """Where blocks are done in this process."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.parts = schema, schema.parts()
        # the smallest types that hold -1 and all slots, and all reports
        each = self.parts.values()
        self.taken = [np.min_scalar_type(-part.cell.size - 1) for part in each]
        self.given = [np.min_scalar_type(-part.mechanism.codes - 1) for part in each]

    def run(self, slots: Slots, source: Source = SYSTEM) -> SanitizedColumns:
        """Return the reports of a block."""
        return _narrowed(shown_block(self.schema, self.parts, slots, source), self.given)


class Worker:
    """One other interpreter; if it cannot be started or dies, the work is done here."""

    def __init__(self, schema: Schema) -> None:
        self._desk = Desk(schema)
        self._process: Any = None

    def __enter__(self) -> Self:
        start = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import work; "
            "from sourdine.local.table.schema import Schema; work(Schema.from_facts)"
        )
        try:
            self._process = Popen(  # noqa: S603 - this interpreter, our own code
                [sys.executable, "-c", start], stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            self._process.stdin.write(json.dumps(self._desk.schema.facts()).encode() + b"\n")
        except (OSError, TypeError):
            self._process = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def run(self, slots: Slots) -> SanitizedColumns:
        """Return the reports of a block."""
        answer = None
        if self._process is not None:
            with suppress(OSError):
                _send(self._process.stdin, _narrowed(slots, self._desk.taken))
                answer = _receive(self._process.stdout, self._desk.given)
        if answer is None:
            self.__exit__()
            return self._desk.run(slots)
        return answer


def work(make: Callable[[object], Schema]) -> None:
    """Be a worker: read the schema, then blocks until there are no more."""
    signal(SIGINT, SIG_IGN)  # the main process ends its workers
    told, said = sys.stdin.buffer, sys.stdout.buffer
    desk = Desk(make(json.loads(told.readline())))
    while (slots := _receive(told, desk.taken)) is not None:
        _send(said, desk.run([s.astype(np.int64) for s in slots]))


def _send(pipe: IO[bytes], columns: Sequence[NDArray[Any]]) -> None:
    pipe.write(len(columns[0]).to_bytes(8, "little"))
    for column in columns:
        pipe.write(column.data)
    pipe.flush()


def _receive(pipe: IO[bytes], kinds: Sequence[np.dtype[Any]]) -> list[NDArray[Any]] | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    columns = [np.empty(int.from_bytes(head, "little"), dtype) for dtype in kinds]
    for column in columns:
        if pipe.readinto(column.data) != column.nbytes:  # type: ignore[attr-defined]
            return None
    return columns


def _narrowed(columns: Slots, kinds: Sequence[np.dtype[Any]]) -> SanitizedColumns:
    return [column.astype(kind) for column, kind in zip(columns, kinds, strict=True)]


def _cores() -> int:
    """Return how many cores nobody else uses; where that is not known, how many there are."""
    try:
        mine, busy = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    except (AttributeError, OSError):
        return os.cpu_count() or 1
    return min(mine, max(1, mine + 1 - round(busy)))


# ---- Sanitise a whole table: a frame to a frame, a file to a file --------------------------------


def sanitize(
    schema: Schema, frame: Any, *,
    to: str | PathLike[str] | None, drop: Iterable[str], where: str | None = None,
    read: Reading | Mapping[str, Any] | None = None, overwrite: bool = False,
    source: Source, progress: bool | None,
) -> Any:  # fmt: skip
    """Randomise every record of a table.

    Types, number formats and where blanks can stand follow from the schema alone; no value
    raises, and nothing of a value that does not fit appears anywhere
    (``test_a_dirty_csv_leaves_no_trace``).

    Parameters
    ----------
    schema
        The columns and what a record may cost; a column that the table does not have may be a
        formula of columns that it has (`sourdine.frames.formulas`). It says for every column what
        becomes of a cell that is empty, unreadable or not listed: ``missing`` of the column, or of
        the schema.
    frame
        A frame of pandas, Polars or Arrow, a dict of columns, a DuckDB relation, or the path of a
        CSV or Parquet file, which is read and written as a stream; or a Spark frame, which is
        randomised where it is (`sourdine.local.spark`). A column is refused if its declared type,
        which is public, cannot hold what the schema says, such as text for a `Number`.
    to
        The file to write; needed if ``frame`` is one. For a Spark frame a folder, which is new.
    drop
        Columns that are left out. Every other column must be in the schema.
    where
        A condition on one record, as in :doc:`/guides/formulas`. No record is left out, which would
        tell that it does not meet the condition: those for which it is not true are randomised as
        records in which everything is missing, so each column must declare ``missing``.
    read
        How text is read, a `sourdine.Reading` or a dict of its parameters.
    overwrite
        Whether ``to`` may be a file that exists. Two sanitised tables of the same records tell
        more than one: each costs epsilon.
    source
        Where the random bits come from; a seeded one protects nobody.
    progress
        Whether to show a bar; by default if it takes longer than a second, on a terminal.

    Returns
    -------
    frame or Path
        Columns in the order of the frame, in the same kind of frame (of a lazy one, the eager
        kind; of a relation, an Arrow table); or the path of the file; of a Spark frame, the one
        that reads the folder. It carries the schema where it has a place for it
        (`sourdine.local.table.schema_files`).
    """
    where = converters.where(where)
    shown = progress if progress is None else flag(progress, "progress")
    replaced = flag(overwrite, "overwrite")
    demand_missing(schema)
    if is_spark(frame):
        from sourdine.local.spark.sanitizing import sanitize_frame

        _demand_table(schema)
        own: dict[str, Any] = {"drop": drop, "where": where, "read": read, "source": source}
        return sanitize_frame(schema, frame, to=to, overwrite=replaced, **own)
    path = _target(frame, to, overwrite=replaced)
    data, cells = prepared(schema, Frame(frame, read=read), drop=drop, where=where)
    _demand_table(schema)
    names = [name for name in data.columns if name in schema.columns]
    stream = _stream(schema, data, cells, names, source, progress=shown)
    parts, sampled = schema.parts(), schema.method == "sample"

    empty = dict.fromkeys(names, np.zeros(0, np.int8))

    def written(block: dict[str, NDArray[Any]]) -> dict[str, Column]:
        own = ((name, parts[name], block[name]) for name in names)
        return {
            n: (part.written, codes, sampled or part.none is not None) for n, part, codes in own
        }

    if path is None:
        blocks = [empty, *stream]
        whole = {name: np.concatenate([block[name] for block in blocks]) for name in names}
        return assembled(frame, written(whole), schema)
    with closing(stream), sink(path, names, schema) as write:
        for block in chain([next(stream, empty)], stream):
            write(written(block))
    return path


def _stream(
    schema: Schema, data: Frame, cells: list[Cell], names: list[str], source: Source,
    *, progress: bool | None,
) -> Generator[dict[str, NDArray[Any]]]:  # fmt: skip
    """Yield the reports of all records as the table shows them, column by column."""
    read = data.codes(*cells, chunk=ROWS)
    blocks = (excluding(slots, len(schema.columns)) for slots in read)
    with counted_rows(data, progress=progress) as count:
        for shown in shown_blocks(schema, blocks, source):
            by_name = dict(zip(schema.columns, shown, strict=True))
            yield {name: by_name[name] for name in names}
            count(len(shown[0]))


def _target(frame: object, to: object, *, overwrite: bool) -> Path | None:
    """Return the file to write, if any; one that exists only under ``overwrite``."""
    if to is not None and not isinstance(to, (str, PathLike)):
        raise ParameterError("to", "be a path", kind(to), "Use {to}.", to="clean.csv")
    path = None if to is None else Path(fspath(to))
    if isinstance(frame, (str, PathLike)):
        if path is None:
            must = "name the output file if a file is read"
            raise ParameterError("to", must, "", "Use {to}.", to="clean.csv")
        read = [fspath(frame), *glob(fspath(frame), recursive=True)]  # noqa: PTH207
        if path.exists() and any(path.samefile(file) for file in read if Path(file).exists()):
            other = str(path.with_name(f"clean-{path.name}"))
            must = "differ from the file that is read"
            raise ParameterError("to", must, "", "Use {to}.", to=other)
    if path is not None and path.exists() and not overwrite:
        names = (path.with_name(f"{i}-{path.name}") for i in count(2))
        raise ExistingFileError(
            "to", "be a new file", str(path),
            "Two tables of the same records reveal more than one epsilon allows. Use {to}, or "
            "{overwrite} if the old table was not shared.",
            to=str(next(name for name in names if not name.exists())), overwrite=True,
        )  # fmt: skip
    return path


def _demand_table(schema: Schema) -> None:
    """Refuse what a table cannot show."""
    for name, part in schema.parts().items():
        if schema.method == "sample" and part.none is not None:
            raise ParameterError(
                "missing", "be False in a table with the method 'sample'", f"True for {name!r}",
                "A blank would be ambiguous. Send reports, use {method}, or omit it from the "
                "column and use {missing} in the schema.", method="split", missing="random",
            )  # fmt: skip
        method = part.column.method
        if part.column.kind != "number" and method not in {None, "auto", "response"}:
            must, got = "be 'response' in a table", f"{method!r} for {name!r}"
            hint = "The other methods do not report categories. Send reports, or use {method}."
            raise ParameterError("method", must, got, hint, method="response")
