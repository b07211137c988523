"""One column in memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.reading import float_text, read_number, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Column"]

_INT64 = 1 << 63


class Column:
    """Values side by side, each read on its own.

    Parameters
    ----------
    data
        Booleans, whole numbers, floats, or objects of any kind.
    gone
        Which booleans or whole numbers are missing; None if none are.
    """

    def __init__(self, data: NDArray[Any], gone: NDArray[np.bool_] | None = None) -> None:
        self.data = data
        self.gone = gone if gone is not None and gone.any() else None

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, rows: Any) -> Column:  # noqa: ANN401
        part = Column(self.data[rows], None if self.gone is None else self.gone[rows])
        for read in ("numbers", "texts"):
            if read in vars(self):
                vars(part)[read] = vars(self)[read][rows]
        return part

    def read_as(self, *, numbers: bool) -> Column:
        """Read all values once, so that parts of the column need not."""
        if self.data.dtype.kind == "O" or self.data.dtype == np.uint64:
            _ = self.numbers if numbers else self.texts
        return self

    @classmethod
    def of(cls, values: Sequence[Any]) -> Column:
        """Read Python values, one by one: none of them changes how another is read."""
        kinds = set(map(type, values))
        if kinds == {float}:
            return cls(np.array(values, np.float64))
        if kinds == {bool}:
            return cls(np.array(values, bool))
        if kinds == {int} and all(-_INT64 <= v < _INT64 for v in (min(values), max(values))):
            return cls(np.array(values, np.int64))
        return cls(_objects(values))

    @classmethod
    def of_array(cls, array: NDArray[Any]) -> Column:
        """Read a NumPy array; masked values are missing."""
        gone = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        data = np.asarray(array)
        if data.dtype.kind == "f":
            data = data if data.dtype.itemsize <= 8 else data.astype(np.float64)
            return cls(data if gone is None else np.where(gone, np.nan, data))
        if data.dtype.kind in "biu":
            return cls(data, gone)
        objects = _objects(list(data) if data.dtype.kind in "mM" else data.tolist())
        if gone is not None:
            objects[gone] = None
        return cls(objects)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """Whole numbers (see `gone`), floats with NaN, or objects: int, float or None each."""
        if self.data.dtype.kind == "b":
            x = self.data.astype(np.float64)
            return x if self.gone is None else np.where(self.gone, np.nan, x)
        if self.data.dtype == np.uint64 and not (self.data >> np.uint64(63)).any():
            return self.data.astype(np.int64)
        if self.data.dtype.kind == "O":
            return _objects([read_number(v) for v in self.data])
        return self.data

    @cached_property
    def texts(self) -> NDArray[Any]:
        """A text each, or None."""
        kind = self.data.dtype.kind
        if kind == "O":
            return _objects([read_text(v) for v in self.data])
        distinct, which = np.unique(self.data, return_inverse=True)
        if kind == "f":
            written = [None if v != v else float_text(v) for v in distinct.tolist()]  # noqa: PLR0124
        else:
            written = [read_text(v) for v in distinct.tolist()]
        texts = _objects(written)[which]
        if self.gone is not None:
            texts[self.gone] = None
        return texts

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which values have a text; none is written to find out."""
        kind = self.data.dtype.kind
        if kind == "f":
            return ~np.isnan(self.data)
        if kind == "O":
            there = (v != "" if type(v) is str else read_text(v) is not None for v in self.data)
            return np.fromiter(there, np.bool_, len(self))
        return np.ones(len(self), np.bool_) if self.gone is None else ~self.gone

    @property
    def array(self) -> NDArray[Any] | None:
        """The values as one NumPy array of numbers; None if floats would lose digits."""
        x = self.numbers
        gone = self.gone
        if x.dtype.kind == "O":
            lossy = any(type(v) is int and abs(v) > 1 << 53 for v in x)
            return None if lossy else np.array([np.nan if v is None else v for v in x], np.float64)
        if gone is None or x.dtype.kind == "f":
            return x
        present = x[~gone]
        if present.size and max(-int(present.min()), int(present.max())) > 1 << 53:
            return None
        return np.where(gone, np.nan, x.astype(np.float64))


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, object, len(values))
