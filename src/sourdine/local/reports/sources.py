"""Where reports come from: records, lines, Arrow data, or a file of either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.local.reports.arrow import from_batches, from_file
from sourdine.local.reports.json_lines import longest, read_lines
from sourdine.local.reports.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.local.reports.form import Form
    from sourdine.local.reports.reasons import Reason

__all__ = ["lines_of", "read"]

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
            "be a file that exists, if they are a text",
            "a text that names none",
            "Pass what people sent as bytes, or as a list of lines.",
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


def _stream(form: Form, data: Any) -> Iterator[tuple[Records, Counter[Reason]]]:  # noqa: ANN401
    """Read Arrow data.

    pyarrow's own are taken as they are: a stream of another library does not say how large its
    buffers are, so that lies about them could not be found.
    """
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(data, pa.Table):
        return from_batches(form, data.to_batches())
    if isinstance(data, pa.RecordBatch):
        return from_batches(form, [data])
    own = isinstance(data, pa.RecordBatchReader)
    return from_batches(form, data if own else pa.RecordBatchReader.from_stream(data))
