"""From a schema or a table to records, and the places that reports come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from io import BytesIO
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.local.reports.records import (
    ID,
    ROWS,
    VERSION,
    Form,
    Reason,
    Records,
    Sieve,
    longest,
    read_lines,
)
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


# ---- Records as an Arrow table, a row for each person, and as Arrow or Parquet bytes -------------


VERSION_KEY, MARK_KEY = b"sourdine.version", b"sourdine.schema"

Read = tuple[Records, Counter[Reason]]


def to_arrow(records: Records) -> Any:
    import pyarrow as pa

    form = records.form
    columns = {"id": _binary(records.id_bytes())}
    if records.asked is not None:
        columns["c"] = pa.array(records.asked, _whole((len(form.names) - 1).bit_length()))
    for i, (reports, mechanism) in enumerate(zip(records.answers, form.mechanisms, strict=True)):
        given = pa.array(reports, _whole(mechanism.bits)) if reports.ndim == 1 else _binary(reports)
        if records.asked is not None:
            asked = records.asked == i
            given = given.take(pa.array(np.cumsum(asked) - 1, mask=~asked))
        columns[f"a{i}"] = given
    marks = {VERSION_KEY: str(VERSION), MARK_KEY: form.mark}
    return pa.table(columns).replace_schema_metadata(marks)


def to_ipc(records: Records) -> bytes:
    """Return records as the bytes of an Arrow file."""
    import pyarrow as pa

    table, out = to_arrow(records), BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def to_parquet(records: Records) -> bytes:
    """Return records as the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    out = BytesIO()
    pq.write_table(to_arrow(records), out)
    return out.getvalue()


def from_batches(form: Form, batches: Iterable[Any]) -> Iterator[Read]:
    """Read record batches one after the other.

    What cannot be read counts as one malformed report, and ends the reading.
    """
    import pyarrow as pa

    try:
        for batch in batches:
            yield from_arrow(form, batch)
    except (pa.ArrowException, ValueError, OSError, MemoryError):
        yield Records.none(form), Counter({Reason.MALFORMED: 1})


def _batches(file: IO[bytes]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    parquet = file.read(4) == b"PAR1"
    file.seek(0)
    if parquet:
        opened = pq.ParquetFile(file)
        kinds = [opened.schema.column(i).physical_type for i in range(len(opened.schema))]
        if "BYTE_ARRAY" in kinds:  # a small file could hold a cell of any length
            raise ValueError
        yield from opened.iter_batches(batch_size=ROWS)
    else:
        reader = pa.ipc.open_file(file)
        yield from map(reader.get_batch, range(reader.num_record_batches))


def from_arrow(form: Form, table: Any) -> Read:
    """Read a table or a record batch: the records, and how many rows were dropped and why.

    Where the table as a whole is wrong, say in its metadata or its columns, every row is dropped
    for that reason; a table that contradicts itself counts as one malformed report.
    """
    import pyarrow as pa

    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        return Records.none(form), Counter({Reason.MALFORMED: 1})
    if wrong := _wrong(form, table.schema):
        return Records.none(form), Counter({wrong: table.num_rows})
    sieve = Sieve(table.num_rows)
    columns = {name: table.column(name) for name in _names(form)}
    for name, column in columns.items():
        if isinstance(column, pa.ChunkedArray):
            columns[name] = column.combine_chunks()
    ids, sized = _rows(columns["id"], ID.itemsize)
    sieve.drop(~sized, Reason.MALFORMED)
    asked = None
    if form.sampled:
        asked, read = _numbers(columns["c"])
        sieve.drop(~read | (asked < 0) | (asked >= len(form.names)), Reason.COLUMNS)
    answers = []
    for i, width in enumerate(form.widths):
        column = columns[f"a{i}"]
        here = np.ones(len(column), np.bool_) if asked is None else asked == i
        sieve.drop(np.asarray(column.is_valid()) != here, Reason.COLUMNS)
        reports, read = _rows(column, width) if width else _numbers(column)
        sieve.drop(here & ~read, Reason.KIND)
        answers.append(reports[here])
    records = Records(form, np.ascontiguousarray(ids).view(ID)[:, 0], tuple(answers), asked)
    return records.keep(sieve.kept), sieve.dropped


def _names(form: Form) -> list[str]:
    return ["id", *["c"] * form.sampled, *(f"a{i}" for i in range(len(form.names)))]


def _wrong(form: Form, schema: Any) -> Reason | None:
    """Return what is wrong with a table as a whole, before anything of its length is made.

    A column of ids needs memory for each row, so a sender of one cannot claim rows for nothing.
    """
    marks = schema.metadata or {}
    if not {VERSION_KEY, MARK_KEY} <= marks.keys():
        return Reason.MALFORMED
    if marks[VERSION_KEY] != str(VERSION).encode():
        return Reason.VERSION
    if marks[MARK_KEY] != form.mark.encode():
        return Reason.FOREIGN
    if sorted(schema.names) != sorted(_names(form)):
        return Reason.COLUMNS
    return None if _holds(schema.field("id").type, ID.itemsize) else Reason.MALFORMED


def _holds(kind: Any, width: int) -> bool:
    """Return whether a type can hold ``width`` bytes a row."""
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(kind):
        return bool(kind.byte_width == width)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _whole(bits: int) -> Any:
    """Return the smallest type that holds whole numbers of ``bits`` bits."""
    import pyarrow as pa

    sizes = ((8, pa.uint8()), (16, pa.uint16()), (32, pa.uint32()))
    return next((kind for size, kind in sizes if bits <= size), pa.int64())


def _binary(rows: NDArray[np.uint8]) -> Any:
    import pyarrow as pa

    n, width = rows.shape
    buffer = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.Array.from_buffers(pa.binary(width), n, [None, buffer])


def _numbers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return whole numbers, and which could be read; beyond 63 bits they become negative."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
    return numbers.astype(np.int64), np.asarray(column.is_valid())


def _rows(column: Any, width: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return rows of ``width`` bytes, and which could be read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _holds(column.type, width):
        return np.zeros((len(column), width), np.uint8), np.zeros(len(column), np.bool_)
    plain = column.cast(pa.large_binary())
    fits = pc.fill_null(pc.equal(pc.binary_length(plain), width), False)  # noqa: FBT003
    whole = pc.if_else(fits, plain, pa.scalar(bytes(width), pa.large_binary()))
    data = np.frombuffer(b"".join(whole.to_pylist()), np.uint8)
    return data.reshape(len(column), width), np.asarray(fits)


# ---- From a schema to the form of its records, and from a table to records -----------------------


def form_of(schema: Schema | Form) -> Form:
    """Return the form of a schema's records.

    Columns stand in the order of their names: two schemas that list the same columns in another
    order have one fingerprint, so their records must mean the same
    (``test_the_order_of_columns_does_not_matter``).
    """
    if isinstance(schema, Form):
        return schema
    if not callable(getattr(schema, "parts", None)):
        hint = "Use Schema(age=Number(0, 120, step=1), epsilon=1)."
        raise ParameterTypeError("schema", "be a Schema or a Form", kind(schema), hint)
    return _form(schema)


@lru_cache(64)
def _form(schema: Schema) -> Form:
    parts = schema.parts("report")
    return Form(
        randomisers={name: parts[name].mechanism for name in sorted(parts)},
        fingerprint=schema.fingerprint,
        method=schema.method,
        guarantee=schema.guarantee,
    )


def records(schema: Schema, frame: object, *, source: Source = SYSTEM) -> Iterator[Records]:
    """Randomise a table, block by block, and yield the records to be sent.

    Parameters
    ----------
    schema
        The columns and what a record costs. To randomise the same people again costs it again.
    frame
        Anything that `sourdine.frames.frame.Frame` takes; on a person's own device, their answers
        by name. A table needs a schema that says what becomes of absent answers; a person is
        refused an absent answer to a column that does not declare ``missing``.
    source
        Where the random bits come from, those of the ids among them.

    Examples
    --------
    >>> from sourdine.local.reports.records import to_lines
    >>> from sourdine.local.table.columns import Flag
    >>> from sourdine.local.table.schema import Schema
    >>> schema = Schema(smokes=Flag(), epsilon=1)
    >>> [mine] = records(schema, {"smokes": True})
    >>> line = to_lines(mine)[0]
    >>> line.startswith('{"v":1,"s":"' + schema.fingerprint[:16])
    True
    """
    form = form_of(schema)
    places = np.array([form.names.index(name) for name in schema.columns])
    for block in schema.randomised(frame, use="report", source=source):
        asked = None if block.asked is None else places[block.asked]
        yield Records.stamped(form, block.reports, asked=asked, source=source)


# ---- Where reports come from: records, lines, Arrow data, or a file of either --------------------


ARROW = (b"ARROW1", b"PAR1")
SKIPPED = 1 << 20


def read(form: Form, data: object) -> Iterator[Read]:
    """Yield records in blocks, each with how many were dropped on the way and why.

    The data are those that `Aggregator.add` takes; what is not of the form is dropped.
    """
    if isinstance(data, Records):
        return iter([(data, Counter())])
    if isinstance(data, (str, PathLike)):
        return _opened(form, Path(fspath(data)))
    if isinstance(data, (bytes, bytearray, memoryview)):
        return _file(form, BytesIO(data))
    if hasattr(data, "__arrow_c_stream__"):
        return _stream(form, data)
    if isinstance(data, Iterable):
        return _each(form, iter(data))
    must = "be records, lines, Arrow data or a path"
    hint = "Pass a list of lines, or the path of a file."
    raise ParameterTypeError("reports", must, kind(data), hint)


def _each(form: Form, data: Iterator[Any]) -> Iterator[Read]:
    """Read records one by one, or lines; the first says which."""
    first = next(data, None)
    if not isinstance(first, Records):
        yield from read_lines(form, data if first is None else chain([first], data))
        return
    for part in chain([first], data):
        yield from read(form, part)


def _opened(form: Form, path: Path) -> Iterator[Read]:
    if not path.is_file():
        must = "name an existing file if they are a string"
        hint = "Pass received data as bytes, or as a list of lines."
        raise ParameterError("reports", must, "", hint)
    with path.open("rb") as file:
        yield from _file(form, file)


def _file(form: Form, file: IO[bytes]) -> Iterator[Read]:
    arrow = file.read(6).startswith(ARROW)
    file.seek(0)
    if arrow:
        return from_batches(form, _batches(file))
    return read_lines(form, lines_of(file, form))


def lines_of(file: IO[bytes], form: Form) -> Iterator[bytes]:
    """Yield the lines of a stream; of one that is too long its beginning, the rest is not kept."""
    most = longest(form)
    while line := file.readline(most + 2):
        if len(line) == most + 2 and not line.endswith(b"\n"):
            while (rest := file.readline(SKIPPED)) and not rest.endswith(b"\n"):
                pass
        yield line.removesuffix(b"\n")


def _stream(form: Form, data: Any) -> Iterator[Read]:
    """Read Arrow data.

    pyarrow's own are taken as they are: a stream of another library does not say how large its
    buffers are, so that lies about them could not be found.
    """
    import pyarrow as pa

    if isinstance(data, pa.Table):
        data = data.to_batches()
    elif isinstance(data, pa.RecordBatch):
        data = [data]
    elif not isinstance(data, pa.RecordBatchReader):
        data = pa.RecordBatchReader.from_stream(data)
    return from_batches(form, data)
