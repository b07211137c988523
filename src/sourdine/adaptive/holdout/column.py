"""Labels and predictions: one value for each row, all numbers or all texts."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from math import isnan
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NUMBER", "TEXT", "Column", "same"]

NUMBER, TEXT = "number", "text"
_WHOLE = 2.0**63


@dataclass(frozen=True, slots=True)
class Column:
    """One value for each row. What it holds is never printed.

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
    def read(cls, given: object, name: str) -> Column:
        """Return the column that a list, an array or a series holds.

        Examples
        --------
        >>> Column.read(["cat", None, "dog"], "labels")
        Column(kind='text')
        >>> Column.read([True, 2, 0.5], "labels").values.tolist()
        [1.0, 2.0, 0.5]
        >>> Column.read([1, "1"], "labels")
        Traceback (most recent call last):
        sourdine.errors.ParameterTypeError: labels must be all numbers or all texts, got a mixture. Type a list such as [0, 1, 1] or ['cat', 'dog'].
        """  # noqa: E501
        array = _array(given, name)
        if array.dtype.kind in "biu" and array.dtype != np.uint64:
            return cls(NUMBER, array.astype(np.int64))
        if array.dtype.kind == "f":
            return cls(NUMBER, array.astype(np.float64))
        if array.dtype.kind in "UTOu":
            return _of_objects(array.tolist(), name)
        raise ParameterTypeError(
            f"{name} must be numbers or texts, got an array of {array.dtype}. {_HINT}"
        )

    @property
    def fractional(self) -> bool:
        """Whether a number is there that is not whole.

        Examples
        --------
        >>> Column.read([1.0, None], "labels").fractional, Column.read([0.5], "labels").fractional
        (False, True)
        """
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

    def packed(self) -> bytes:
        """Return it as bytes that `unpacked` reads; nothing in them can run."""
        facts = {"kind": self.kind, "type": self.values.dtype.str, "values": self.values.tolist()}
        return zlib.compress(json.dumps(facts, ensure_ascii=False).encode(), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> Column:
        """Return what was packed.

        Examples
        --------
        >>> Column.unpacked(Column.read([3, 1, 2**60], "labels").packed()).values.tolist()
        [3, 1, 1152921504606846976]
        """
        facts = json.loads(zlib.decompress(packed))
        kind = str(facts["kind"])
        return cls(kind, np.array(facts["values"], object if kind == TEXT else facts["type"]))


_HINT = "Type a list such as [0, 1, 1] or ['cat', 'dog']."


def same(a: Column, b: Column) -> NDArray[np.bool_]:
    """Return where two columns agree; what is missing agrees with nothing.

    Examples
    --------
    >>> same(Column.read([1, 2**60 + 1], "a"), Column.read([1.0, 2.0**60], "b")).tolist()
    [True, False]
    >>> same(Column.read(["1"], "a"), Column.read([1], "b")).tolist()
    [False]
    """
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


def _array(given: object, name: str) -> NDArray[Any]:
    if isinstance(given, (list, tuple)):
        array = np.empty(len(given), object)
        array[:] = given
    elif isinstance(given, (str, bytes, dict, set)) or not hasattr(given, "__len__"):
        raise ParameterTypeError(
            f"{name} must be a list, an array or a series, got {type(given).__name__}. {_HINT}"
        )
    else:
        array = np.asarray(given)
    if array.ndim != 1:
        raise ParameterError(
            f"{name} must be one value for each row, got the shape {array.shape}. {_HINT}"
        )
    return array


def _of_objects(values: list[Any], name: str) -> Column:
    there = [value for value in values if not _missing(value)]
    if there and all(isinstance(value, str) for value in there):
        texts = np.empty(len(values), object)
        texts[:] = [None if _missing(value) else str(value) for value in values]
        return Column(TEXT, _written(texts, name))
    if not all(isinstance(value, (Real, np.bool_)) for value in there):
        raise ParameterTypeError(
            f"{name} must be all numbers or all texts, got a mixture. {_HINT}"
            if any(isinstance(value, str) for value in there)
            else f"{name} must be numbers or texts, got something else. {_HINT}"
        )
    whole = all(isinstance(value, (Integral, np.bool_)) for value in there)
    try:
        if whole and len(there) == len(values):
            return Column(NUMBER, np.array([int(value) for value in values], np.int64))
        floats = [float("nan") if _missing(value) else float(value) for value in values]
        return Column(NUMBER, np.array(floats, np.float64))
    except OverflowError:
        raise ParameterError(
            f"{name} must be numbers of 64 bits, got longer ones. Type them as texts."
        ) from None


def _written(texts: NDArray[Any], name: str) -> NDArray[Any]:
    """Return texts that a file can hold, all of them."""
    try:
        "".join(text for text in texts.tolist() if text is not None).encode()
    except UnicodeEncodeError:
        raise ParameterError(
            f"{name} must be texts that UTF-8 can write, got half of a pair of surrogates. "
            "Decode the bytes they came from again."
        ) from None
    return texts


def _missing(value: object) -> bool:
    """Return whether it is None, NaN, or what pandas writes for them."""
    if isinstance(value, (float, np.floating)):
        return isnan(value)
    return value is None or type(value).__name__ in {"NAType", "NaTType"}
