"""Labels, true or predicted, and whether rows are the same."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from math import isnan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.frames.frame import Frame
from sourdine.frames.memory import DATES, NUMBERS
from sourdine.frames.paths import is_path
from sourdine.frames.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.frames.memory import Column


# ---- Labels as people write them in text files: numbers, names and gaps --------------------------


WRITTEN = re.compile(
    r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?", re.ASCII
)
"""A number as people write it; 007 is a name."""

TOO_LONG = 1 << 63
"""What is written with more digits is a name, not a number."""

GAPS = frozenset({"", "na", "nan", "null", "none", "n/a"})


def is_written(text: str) -> bool:
    """Return whether a text is a number as people write it."""
    return WRITTEN.fullmatch(text) is not None and abs(read_written(text)) < TOO_LONG


def read_written(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def is_gap(text: str) -> bool:
    """Return whether a text says that nothing is there."""
    return text.lower() in GAPS


# ---- Labels, true or predicted: one value for each row, all numbers or all texts -----------------


NUMBER, TEXT = "number", "text"
_WHOLE = 2.0**63


@dataclass(frozen=True, slots=True)
class Labels:
    """One value for each row. What they are is never printed.

    Parameters
    ----------
    kind
        ``"number"`` or ``"text"``: 1 and ``"1"`` are never the same.
    values
        Whole numbers of 64 bits, floats with NaN for what is missing, or texts with None.
    """

    kind: str
    values: NDArray[Any] = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def read(cls, given: object, name: str, kind: str | None = None) -> Labels:
        """Return the labels that one column of any data holds."""
        if isinstance(given, cls):
            return given
        frame = _one_column(given, name)
        column = frame.column(strict=True)
        if frame.parsed:
            return _of_texts(column.data.tolist(), name, kind, frame.reading)
        if column.data.dtype.kind in "biuf":
            return cls(NUMBER, _numbers(column, name))
        if column.holds == DATES:
            raise ParameterTypeError(name, "be numbers or strings", "dates", _HINT)
        values = column.numbers if column.holds == NUMBERS else column.data
        return _of_objects(values.tolist(), name)

    @classmethod
    def written(cls, cells: Sequence[str], name: str, kind: str) -> Labels:
        """Return the labels that people wrote, a text for each row."""
        return _of_texts(list(cells), name, kind, Reading())

    @classmethod
    def hidden(cls, kind: str, n: int) -> Labels:
        """Return a number of missing labels of one kind."""
        gap = np.array(None if kind == TEXT else np.nan, object if kind == TEXT else np.float64)
        return cls(kind, np.broadcast_to(gap, (n,)))

    @property
    def fractional(self) -> bool:
        """Whether a number is there that is not whole."""
        if self.values.dtype.kind != "f":
            return False
        there = self.values[np.isfinite(self.values)]
        return bool((np.floor(there) != there).any())

    @property
    def complete(self) -> bool:
        """Whether a value is there for every row, and no infinite one."""
        if self.kind == TEXT:
            return all(value is not None for value in self.values.tolist())
        return bool(np.isfinite(self.values).all())

    def joined(self, more: Labels) -> Labels:
        """Return these rows and others of the same kind after them."""
        return Labels(self.kind, np.concatenate([self.values, more.values]))

    def packed(self) -> bytes:
        """Return it as bytes that `unpacked` reads; nothing in them can run."""
        return zlib.compress(self.spelled(), 1)

    def spelled(self) -> bytes:
        facts = {"kind": self.kind, "type": self.values.dtype.str, "values": self.values.tolist()}
        return json.dumps(facts, ensure_ascii=False).encode()

    @classmethod
    def unpacked(cls, packed: bytes) -> Labels:
        """Return what was packed."""
        facts = json.loads(zlib.decompress(packed))
        kind = str(facts["kind"])
        return cls(kind, np.array(facts["values"], object if kind == TEXT else facts["type"]))


_HINT = "Use a list such as [0, 1, 1] or ['cat', 'dog']."


def same(a: Labels, b: Labels) -> NDArray[np.bool_]:
    """Return where two columns agree; what is missing agrees with nothing."""
    if a.kind != b.kind:
        return np.zeros(len(a), np.bool_)
    if a.kind == TEXT:
        there = np.array([value is not None for value in a.values.tolist()], np.bool_)
        return there & np.asarray(a.values == b.values, np.bool_)
    if a.values.dtype == b.values.dtype:
        return np.asarray(a.values == b.values, np.bool_)
    floats, ints = (a, b) if a.values.dtype.kind == "f" else (b, a)
    x = floats.values
    fits = (np.floor(x) == x) & (np.abs(x) < _WHOLE)
    return np.asarray(fits & (np.where(fits, x, 0.0).astype(np.int64) == ints.values), np.bool_)


def _one_column(labels: object, name: str) -> Frame:
    if isinstance(labels, str) and not is_path(labels):
        must = "be a list, an array, a series or the path of a file"
        raise ParameterTypeError(name, must, "a string", _HINT)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        must = "hold one value for each row"
        raise ParameterError(name, must, f"an array of shape {labels.shape}", _HINT)
    try:
        frame = Frame(labels)
    except ParameterTypeError as error:
        raise error.renamed(data=name) from None
    if len(frame.columns) != 1:
        hint = "Use Frame(data)['y'] for the column named y."
        raise ParameterError(name, "be a single column", f"{len(frame.columns)} columns", hint)
    return frame


def _numbers(column: Column, name: str) -> NDArray[Any]:
    x = column.data
    if x.dtype.kind == "f" or column.gone is not None:
        return column.floats
    if x.dtype == np.uint64 and (x >> np.uint64(63)).any():
        raise _too_long(name)
    return x.astype(np.int64)


def _too_long(name: str) -> ParameterError:
    return ParameterError(name, "be 64-bit numbers", "", "Pass them as strings.")


def _of_texts(cells: Sequence[str | None], name: str, kind: str | None, reading: Reading) -> Labels:
    texts = ["" if cell is None else cell.strip() for cell in cells]
    written = texts
    if not reading.is_standard:  # numbers as Python writes them, where marks were declared for them
        numbers = map(reading.number, texts)
        written = [t if x is None else repr(x) for t, x in zip(texts, numbers, strict=True)]
    if kind == NUMBER:
        row = next((i for i, text in enumerate(written, start=1) if not is_written(text)), None)
        if row is not None:
            must, hint = "be numbers, like the labels", "Write a number in each row."
            raise ParameterError(name, must, f"another value in row {row} of the file", hint)
        return _of_objects([read_written(text) for text in written], name)
    there = [text for text in written if not is_gap(text)]
    if kind is None and there and all(map(is_written, there)):
        gap = float("nan")
        read = [read_written(text) if is_written(text) else gap for text in written]
        return _of_objects(read, name)
    words = np.empty(len(texts), object)
    words[:] = [text or None for text in texts]
    return Labels(TEXT, words)


def _of_objects(values: list[Any], name: str) -> Labels:
    there = [value for value in values if not _missing(value)]
    if there and all(isinstance(value, str) for value in there):
        texts = np.empty(len(values), object)
        texts[:] = [None if _missing(value) else str(value) for value in values]
        try:
            "".join(map(str, there)).encode()  # a file can hold them
        except UnicodeEncodeError:
            must, hint = "be valid Unicode strings", "Decode the original bytes again."
            raise ParameterError(name, must, "an unpaired surrogate", hint) from None
        return Labels(TEXT, texts)
    if not all(isinstance(value, (Real, np.bool_)) for value in there):
        mixed = any(isinstance(value, str) for value in there)
        got = "a mixture" if mixed else "other values"
        raise ParameterTypeError(name, "be all numbers or all strings", got, _HINT)
    whole = all(isinstance(value, (Integral, np.bool_)) for value in there)
    try:
        if whole and len(there) == len(values):
            return Labels(NUMBER, np.array([int(value) for value in values], np.int64))
        floats = [float("nan") if _missing(value) else float(value) for value in values]
        return Labels(NUMBER, np.array(floats, np.float64))
    except OverflowError:
        raise _too_long(name) from None


def _missing(value: object) -> bool:
    """Return whether it is None, NaN, or what pandas writes for them."""
    if isinstance(value, (float, np.floating)):
        return isnan(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}


# ---- Whether two sets of features are the same rows in the same order ----------------------------


def same_rows(a: Any, b: Any) -> bool:
    """Return whether both hold the same values; what is missing is like what is missing."""
    if a is b:
        return True
    if hasattr(a, "nnz") and hasattr(b, "nnz"):
        return bool(a.shape == b.shape and (a != b).nnz == 0)
    one, two = _array(a), _array(b)
    if one.shape != two.shape:
        return False
    kinds = {one.dtype.kind, two.dtype.kind}
    if kinds <= set("biuf") or kinds in ({"M"}, {"m"}):
        return bool(np.array_equal(one, two, equal_nan=True))
    return all(map(_alike, one.ravel().tolist(), two.ravel().tolist()))


def _array(rows: Any) -> np.ndarray[Any, np.dtype[Any]]:
    try:
        return np.asarray(rows)
    except ValueError:  # rows of several lengths
        array = np.empty(len(rows), object)
        array[:] = rows
        return array


def _alike(x: Any, y: Any) -> bool:
    try:
        return bool(x is y or x == y or (x != x and y != y))  # noqa: PLR0124 - not a number
    except (TypeError, ValueError):  # pandas' NA, which is neither like nor unlike
        return False
