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


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import (
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
    here = source is not SYSTEM or CURRENT.get() is not None
    processes = 1 if here else (_cores() if workers is None else workers)
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
        self.taken = [_smallest(part.cell.size) for part in self.parts.values()]
        self.given = [_smallest(part.mechanism.codes) for part in self.parts.values()]

    def run(self, slots: Slots, source: Source = SYSTEM) -> SanitizedColumns:
        """Return the reports of a block."""
        return _narrowed(shown_block(self.schema, self.parts, slots, source), self.given)


class Worker:
    """One other interpreter; if it cannot be started or dies, the work is done here."""

    def __init__(self, schema: Schema) -> None:
        self._desk = Desk(schema)
        self._process: Popen[bytes] | None = None

    def __enter__(self) -> Self:
        start = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import work; "
            "from sourdine.local.table.schema import Schema; work(Schema.from_facts)"
        )
        try:
            self._process = Popen(  # noqa: S603 - this interpreter, our own code
                [sys.executable, "-c", start], stdin=PIPE, stdout=PIPE, stderr=DEVNULL
            )
            self._pipe(0).write(json.dumps(self._desk.schema.facts()).encode() + b"\n")
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
    rows = int.from_bytes(head, "little")
    columns = []
    for dtype in kinds if len(head) == 8 else ():
        column = np.empty(rows, dtype)
        if pipe.readinto(column.data) != column.nbytes:  # type: ignore[attr-defined]
            return None
        columns.append(column)
    return columns if len(head) == 8 else None


def _smallest(most: int) -> np.dtype[Any]:
    """Return the smallest type of whole numbers that holds -1 and up to ``most``."""
    return np.min_scalar_type(-most - 1)


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
    schema: Schema,
    frame: Any,
    *,
    to: str | PathLike[str] | None,
    drop: Iterable[str],
    where: str | None = None,
    read: Reading | Mapping[str, Any] | None = None,
    overwrite: bool = False,
    source: Source,
    progress: bool | None,
) -> Any:
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
    if is_spark(frame):
        from sourdine.local.spark.sanitizing import sanitize_frame

        demand_missing(schema)
        _demand_table(schema)
        own: dict[str, Any] = {"drop": drop, "where": where, "read": read, "source": source}
        return sanitize_frame(schema, frame, to=to, overwrite=replaced, **own)
    demand_missing(schema)
    path = _target(frame, to, overwrite=replaced)
    rows = Frame(frame, read=read)
    data, cells = prepared(schema, rows, drop=drop, where=where)
    _demand_table(schema)
    names = [name for name in data.columns if name in schema.columns]
    parts = schema.parts()
    sampled = schema.method == "sample"
    stream = _stream(schema, data, cells, names, source, progress=shown)

    def written(name: str, codes: NDArray[Any]) -> Column:
        return parts[name].written, codes, sampled or parts[name].none is not None

    if path is None:
        whole = _joined(stream, names)
        columns = {name: written(name, whole[name]) for name in names}
        return assembled(frame, columns, schema)
    with closing(stream), sink(path, names, schema) as write:
        wrote = False
        for block in stream:
            write({name: written(name, block[name]) for name in names})
            wrote = True
        if not wrote:
            write({name: written(name, np.zeros(0, np.int64)) for name in names})
    return path


def _stream(
    schema: Schema,
    data: Frame,
    cells: list[Cell],
    names: list[str],
    source: Source,
    *,
    progress: bool | None,
) -> Generator[dict[str, NDArray[Any]]]:
    """Yield the reports of all records as the table shows them, column by column."""
    read = data.codes(*cells, chunk=ROWS)
    blocks = (excluding(slots, len(schema.columns)) for slots in read)
    with counted_rows(data, progress=progress) as count:
        for shown in shown_blocks(schema, blocks, source):
            by_name = dict(zip(schema.columns, shown, strict=True))
            yield {name: by_name[name] for name in names}
            count(len(shown[0]))


def _joined(stream: Iterator[dict[str, NDArray[Any]]], names: list[str]) -> dict[str, NDArray[Any]]:
    found: dict[str, list[NDArray[Any]]] = {name: [np.zeros(0, np.int8)] for name in names}
    for block in stream:
        for name, codes in block.items():
            found[name].append(codes)
    return {name: np.concatenate(codes) for name, codes in found.items()}


def _target(frame: object, to: object, *, overwrite: bool) -> Path | None:
    """Return the file to write, if any."""
    if to is not None and not isinstance(to, (str, PathLike)):
        raise ParameterError("to", "be a path", kind(to), "Use {to}.", to="clean.csv")
    path = None if to is None else Path(fspath(to))
    if not isinstance(frame, (str, PathLike)):
        return _new(path, overwrite=overwrite)
    if path is None:
        raise ParameterError(
            "to", "name the output file if a file is read", "", "Use {to}.", to="clean.csv"
        )
    read = [fspath(frame), *glob(fspath(frame), recursive=True)]  # noqa: PTH207
    if path.exists() and any(path.samefile(file) for file in read if Path(file).exists()):
        other = str(path.with_name(f"clean-{path.name}"))
        must = "differ from the file that is read"
        raise ParameterError("to", must, "", "Use {to}.", to=other)
    return _new(path, overwrite=overwrite)


def _new(path: Path | None, *, overwrite: bool) -> Path | None:
    """Return a path if nothing is there, or if that does not matter."""
    if path is not None and path.exists() and not overwrite:
        raise ExistingFileError(
            "to",
            "be a new file",
            str(path),
            "Two tables of the same records reveal more than one epsilon allows. Use "
            "{to}, or {overwrite} if the old table was not shared.",
            to=str(_free(path)),
            overwrite=True,
        )
    return path


def _free(path: Path) -> Path:
    """Return a name beside a path that no file has."""
    names = (path.with_name(f"{i}-{path.name}") for i in count(2))
    return next(name for name in names if not name.exists())


def _demand_table(schema: Schema) -> None:
    """Refuse what a table cannot show."""
    for name, column in schema.columns.items():
        if schema.method == "sample" and schema.parts()[name].none is not None:
            raise ParameterError(
                "missing",
                "be False in a table with the method 'sample'",
                f"True for {name!r}",
                "A blank would be ambiguous. Send reports, use {method}, or omit it from the "
                "column and use {missing} in the schema.",
                method="split",
                missing="random",
            )
        if column.kind != "number" and column.method not in {None, "auto", "response"}:
            raise ParameterError(
                "method",
                "be 'response' in a table",
                f"{column.method!r} for {name!r}",
                "The other methods do not report categories. Send reports, or use {method}.",
                method="response",
            )
