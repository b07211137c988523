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
from sourdine.local.reports.arrow import from_batches, from_file
from sourdine.local.reports.records import Form, Records, longest, read_lines
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.local.reports.records import Reason
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


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
        raise ParameterTypeError(
            "schema",
            "be a Schema or a Form",
            kind(schema),
            "Use Schema(age=Number(0, 120, step=1), epsilon=1).",
        )
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


def read(form: Form, data: object) -> Iterator[tuple[Records, Counter[Reason]]]:
    """Yield records in blocks, each with how many were dropped on the way and why.

    Parameters
    ----------
    form
        What is read; all else is dropped.
    data
        `Records`, or several of them; lines of JSON as an iterable of texts or bytes; bytes, of
        lines or of an Arrow or Parquet file; an Arrow table, record batch or stream; the path of
        a file of any of these. A text is always a path: pass what people sent as bytes, or as a
        list of lines.
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
    raise ParameterTypeError(
        "reports",
        "be records, lines, Arrow data or a path",
        kind(data),
        "Pass a list of lines, or the path of a file.",
    )


def _each(form: Form, data: Iterator[Any]) -> Iterator[tuple[Records, Counter[Reason]]]:
    """Read records one by one, or lines; the first says which."""
    first = next(data, None)
    if not isinstance(first, Records):
        yield from read_lines(form, data if first is None else chain([first], data))
        return
    for part in chain([first], data):
        yield from read(form, part)


def _opened(form: Form, path: Path) -> Iterator[tuple[Records, Counter[Reason]]]:
    if not path.is_file():
        raise ParameterError(
            "reports",
            "name an existing file if they are a string",
            "",
            "Pass received data as bytes, or as a list of lines.",
        )
    with path.open("rb") as file:
        yield from _file(form, file)


def _file(form: Form, file: IO[bytes]) -> Iterator[tuple[Records, Counter[Reason]]]:
    arrow = file.read(6).startswith(ARROW)
    file.seek(0)
    return from_file(form, file) if arrow else read_lines(form, lines_of(file, form))


def lines_of(file: IO[bytes], form: Form) -> Iterator[bytes]:
    """Yield the lines of a stream; of one that is too long its beginning, the rest is not kept."""
    most = longest(form)
    while line := file.readline(most + 2):
        if len(line) == most + 2 and not line.endswith(b"\n"):
            while (rest := file.readline(SKIPPED)) and not rest.endswith(b"\n"):
                pass
        yield line.removesuffix(b"\n")


def _stream(form: Form, data: Any) -> Iterator[tuple[Records, Counter[Reason]]]:
    """Read Arrow data.

    pyarrow's own are taken as they are: a stream of another library does not say how large its
    buffers are, so that lies about them could not be found.
    """
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return from_batches(form, data.to_batches())
    if isinstance(data, pa.RecordBatch):
        return from_batches(form, [data])
    own = isinstance(data, pa.RecordBatchReader)
    return from_batches(form, data if own else pa.RecordBatchReader.from_stream(data))
