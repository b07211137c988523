"""One column in memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import NOWHERE, instants_of
from sourdine.tally.number_or_text import as_float, float_text, read_text
from sourdine.tally.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sourdine.tally.reading import Reading

__all__ = ["DATES", "HOLDS", "NUMBERS", "WORDS", "Column", "Moments"]

NUMBERS, WORDS, DATES = "numbers", "words", "dates"
HOLDS = (NUMBERS, WORDS, DATES)
_HOLDS = dict.fromkeys("biuf", NUMBERS) | dict.fromkeys("UST", WORDS) | {"M": DATES}
"""What arrays hold, by the letter of their type."""
_INT64 = 1 << 63


class Column:
    """Values side by side, each read on its own.

    Parameters
    ----------
    data
        Booleans, whole numbers, floats, or objects of any kind.
    gone
        Which booleans or whole numbers are missing; None if none are.
    holds
        What it holds by its declared type: `NUMBERS`, `WORDS` or `DATES`; None where no type says
        so, as in a list. Values are not looked at.
    reading
        How numbers are written in texts.
    """

    def __init__(
        self,
        data: NDArray[Any],
        gone: NDArray[np.bool_] | None = None,
        *,
        holds: str | None = None,
        reading: Reading = STANDARD,
    ) -> None:
        self.data = data
        self.gone = gone if gone is not None and gone.any() else None
        self.holds = holds
        self.reading = reading

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, rows: Any) -> Column:  # noqa: ANN401
        gone = None if self.gone is None else self.gone[rows]
        part = Column(self.data[rows], gone, holds=self.holds, reading=self.reading)
        for read in ("numbers", "texts", "instants"):
            if read in vars(self):
                vars(part)[read] = vars(self)[read][rows]
        return part

    def read_as(self, *, numbers: bool, dates: bool) -> Column:
        """Read all values once, so that parts of the column need not."""
        if dates:
            _ = self.instants
        elif self.data.dtype.kind == "O" or self.data.dtype == np.uint64:
            _ = self.numbers if numbers else self.texts
        return self

    @classmethod
    def of(
        cls, values: Sequence[Any], *, holds: str | None = None, reading: Reading = STANDARD
    ) -> Column:
        """Read Python values, one by one: none of them changes how another is read."""
        kinds = set(map(type, values))
        if kinds == {float}:
            return cls(np.array(values, np.float64), holds=holds)
        if kinds == {bool}:
            return cls(np.array(values, bool), holds=holds)
        if kinds == {int} and all(-_INT64 <= v < _INT64 for v in (min(values), max(values))):
            return cls(np.array(values, np.int64), holds=holds)
        return cls(_objects(values), holds=holds, reading=reading)

    @classmethod
    def of_array(cls, array: NDArray[Any]) -> Column:
        """Read a NumPy array; masked values are missing."""
        gone = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
        data = np.asarray(array)
        holds = _HOLDS.get(data.dtype.kind)
        if data.dtype.kind == "f":
            data = data if data.dtype.itemsize <= 8 else data.astype(np.float64)
            return cls(data if gone is None else np.where(gone, np.nan, data), holds=holds)
        if data.dtype.kind in "biu":
            return cls(data, gone, holds=holds)
        if data.dtype.kind == "M":
            there = data if gone is None else np.where(gone, np.datetime64("NaT"), data)
            return Moments(instants_of(there), lambda: _objects(list(there)))
        objects = _objects(list(data) if data.dtype.kind == "m" else data.tolist())
        if gone is not None:
            objects[gone] = None
        return cls(objects, holds=holds)

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """Whole numbers (see `gone`), floats with NaN, or objects: int, float or None each."""
        if self.data.dtype.kind == "b":
            x = self.data.astype(np.float64)
            return x if self.gone is None else np.where(self.gone, np.nan, x)
        if self.data.dtype == np.uint64 and not (self.data >> np.uint64(63)).any():
            return self.data.astype(np.int64)
        if self.data.dtype.kind == "O":
            return _objects([self.reading.number(v) for v in self.data])
        return self.data

    @cached_property
    def instants(self) -> NDArray[np.int64]:
        """Microseconds from 1970 to each date or time; `NOWHERE` for what is none."""
        if self.data.dtype.kind != "O":
            return np.full(len(self), NOWHERE)
        known: dict[str, int | None] = {}
        found = np.full(len(self), NOWHERE)
        for i, v in enumerate(self.data):
            if type(v) is not str:
                instant = self.reading.instant(v)
            elif v in known:
                instant = known[v]
            else:
                instant = known[v] = self.reading.instant(v)
            if instant is not None:
                found[i] = instant
        return found

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
            return np.asarray(~np.isnan(self.data), np.bool_)
        if kind == "O":
            there = (v != "" if type(v) is str else read_text(v) is not None for v in self.data)
            return np.fromiter(there, np.bool_, len(self))
        return np.ones(len(self), np.bool_) if self.gone is None else ~self.gone

    @property
    def floats(self) -> NDArray[np.float64]:
        """The numbers as floats, NaN for what is missing."""
        x = self.numbers
        if x.dtype.kind == "O":
            return np.array([np.nan if v is None else as_float(v) for v in x], np.float64)
        floats = x.astype(np.float64)
        return floats if self.gone is None else np.where(self.gone, np.nan, floats)

    @property
    def values(self) -> NDArray[Any]:
        """The values as they are: NaN or None for what is missing."""
        if self.gone is None:
            return self.data
        if (x := self.array) is not None:
            return x
        objects = self.data.astype(object)
        objects[self.gone] = None
        return objects

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


class Moments(Column):
    """Dates or times by their type: single values are made when they are asked for.

    Parameters
    ----------
    instants
        Microseconds from 1970.
    values
        Makes the values.
    """

    def __init__(self, instants: NDArray[np.int64], values: Callable[[], NDArray[Any]]) -> None:
        self.gone, self.holds, self.reading = None, DATES, STANDARD
        self._values = values
        vars(self)["instants"] = instants

    def __len__(self) -> int:
        return len(self.instants)

    @cached_property
    def data(self) -> NDArray[Any]:  # type: ignore[override]
        """The values, each an object."""
        return self._values()

    @cached_property
    def numbers(self) -> NDArray[Any]:
        """None each."""
        return np.full(len(self), None)

    def __getitem__(self, rows: Any) -> Column:  # noqa: ANN401
        part = Moments(self.instants[rows], lambda: self.data[rows])
        part.reading = self.reading
        return part


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(values, object, len(values))
