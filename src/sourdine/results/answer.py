"""The base class of answers: printing, arithmetic, arrays, frames, JSON, and a history."""

from __future__ import annotations

import datetime as dt
import json
import operator
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from math import isinf
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sourdine.calendar import spelled
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.privacy.guarantee import shown as spent
from sourdine.results.tables import (
    Displayable,
    JsonDisplayable,
    Sheet,
    framed,
    is_date,
    is_duration,
    json_text,
    label,
    printable,
    with_ends,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from sourdine.results.tables import Columns


# ---- Arithmetic of answers with one number -------------------------------------------------------


def _forward(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: OneNumber, other: object) -> Any:
        if isinstance(other, OneNumber):
            return act(self._alone(), other._alone())  # noqa: SLF001 - of its own class
        known = isinstance(other, (Real, np.ndarray, dt.date, dt.timedelta))
        return act(self._alone(), other) if known else NotImplemented

    return method


def _reflected(act: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return _forward(lambda own, other: act(other, own))


class OneNumber:
    """Comparisons, arithmetic and rounding of an answer's only number; refused for several.

    The result is a plain number: the interval and the cost stay with the answer. ``==`` compares
    two answers, so compare a number by ``answer.value == 3``.

    Examples
    --------
    >>> import sourdine as sd
    >>> r = sd.count(range(1000), epsilon=1)
    >>> r > 500, r - r.value, round(r / 1000, 1), abs(-r) == r.value
    (True, 0, 1.0, True)
    """

    __slots__ = ()

    @abstractmethod
    def _numbers(self) -> Sequence[Any]:
        """Return all numbers of the answer."""

    def _alone(self) -> Any:
        """Return the only number, date or duration, or raise."""
        values = self._numbers()
        if len(values) != 1:
            raise ParameterTypeError(
                "the answer", "An answer of several numbers cannot be converted to one.",
                f"{len(values)} numbers", "Use .value, or numpy.asarray(answer).",
            )  # fmt: skip
        return values[0]

    def _number(self) -> Any:
        """Return the only number; a date is refused."""
        value = self._alone()
        if is_date(value) or is_duration(value):
            kind = "a date" if is_date(value) else "a duration"
            raise ParameterTypeError(
                "the answer", f"An answer that is {kind} cannot be converted to a number.", kind,
                "Use .value, or numpy.asarray(answer).",
            )  # fmt: skip
        return value

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._number(), digits)

    def __abs__(self) -> Any:
        return abs(self._alone())

    def __neg__(self) -> Any:
        return -self._alone()

    def __pos__(self) -> Any:
        return +self._alone()

    __lt__, __le__ = _forward(operator.lt), _forward(operator.le)
    __gt__, __ge__ = _forward(operator.gt), _forward(operator.ge)
    __add__, __radd__ = _forward(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _forward(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _forward(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _forward(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _forward(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _forward(operator.mod), _reflected(operator.mod)
    __pow__, __rpow__ = _forward(operator.pow), _reflected(operator.pow)


# ---- Answers: printing, numbers, arrays, frames and JSON -----------------------------------------


FEW = 4
"""How many numbers a plain repr shows."""
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions raised by a text that is not an answer."""


class Answer(OneNumber, JsonDisplayable):
    """A number, or several, with their accuracy and their cost.

    A subclass defines only what is its own: `columns` (its numbers, with labels and ends),
    `notes` (the lines below the table), `to_dict` and `from_dict`, and `plot` if there is a
    chart.
    """

    __slots__ = ()

    @abstractmethod
    def columns(self) -> Columns:
        """Return the numbers, with labels and the ends of their intervals."""

    @abstractmethod
    def notes(self) -> Sequence[tuple[str, str]]:
        """Return the notes below the table: cost, mechanism, caveats."""

    @classmethod
    @abstractmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the answer that `to_dict` wrote; a missing key raises a KeyError."""

    def sheet(self) -> Sheet:
        heads, rows = self.columns().cells()
        return Sheet(heads=heads, lines=rows, notes=self.notes())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what `to_json` returned; its intervals and tables are those of the original."""
        try:
            return cls.from_dict(json.loads(text))
        except UNREADABLE as error:
            if isinstance(error, SourdineError):
                raise
            raise ParameterError(
                "the JSON", f"be the output of {cls.__name__}.to_json()", "",
                "Pass that text, unchanged.",
            ) from None  # fmt: skip

    def to_frame(self, library: str = "pandas") -> Any:
        """Return labels, values and ends as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        The intervals are those of the printed table.
        """
        return self.columns().to_frame(library)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_frame("pyarrow").__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        del copy
        values = self.columns().values
        if dtype is None and values and all(map(is_date, values)):
            dtype = "datetime64"
        if dtype is None and values and all(map(is_duration, values)):
            dtype = "timedelta64"
        return np.array(values, dtype)

    def _numbers(self) -> Sequence[Any]:
        return self.columns().values

    def __format__(self, spec: str) -> str:
        return format(self._alone(), spec) if spec else str(self)

    def __repr__(self) -> str:
        """Return the first numbers with their intervals, and their cost."""
        columns = self.columns()
        few = columns.picked(range(min(len(columns.values), FEW)))
        texts = columns.texts()[:FEW] if columns.even else few.texts()
        told = [with_ends(*own) for own in texts]
        if few.labels:
            rows = zip(*few.labels.values(), strict=True)
            names = (" ".join(filter(None, map(label, own))) for own in rows)
            told = [f"{name}: {number}" for name, number in zip(names, told, strict=True)]
        left = len(columns.values) - len(told)
        listed = "; ".join([*told, *([f"and {left} more"] if left else [])])
        cost = next((f", {text}" for word, text in self.notes() if word == "cost"), "")
        return printable(f"<{type(self).__name__}: {columns.name} {listed}{cost}>")

    def __eq__(self, other: object) -> bool:
        """Return whether everything public is equal."""
        if not isinstance(other, Answer):
            return NotImplemented
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())


def brief(answer: Answer) -> str:
    """Return an answer in a few words: its only number, or how many there are."""
    columns = answer.columns()
    if len(columns.values) != 1:
        return f"{len(columns.values)} numbers"
    return columns.texts()[0][0]


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(zip(_names(list(value)), map(plain, value.values()), strict=True))
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist()) if value.dtype.kind == "M" else value.tolist()
    if isinstance(value, float) and isinf(value):
        return None  # an interval without an end: JSON has no infinity
    if is_duration(value):
        return spelled(value)
    return value.isoformat() if is_date(value) else value


def _names(keys: Sequence[object]) -> list[str]:
    """Return keys as JSON strings; the values of a tuple are joined by commas.

    If values contain commas and two keys would be equal, each is written as a JSON list.
    """
    parts = [tuple(map(str, key)) if isinstance(key, tuple) else (str(key),) for key in keys]
    names = [", ".join(part) for part in parts]
    return names if len(set(names)) == len(names) else [json_text(list(part)) for part in parts]


# ---- History -------------------------------------------------------------------------------------


Line = TypeVar("Line")


class History(Displayable, list[Line]):
    """A list of entries, oldest first, that prints as a table and becomes a frame.

    Parameters
    ----------
    lines
        The entries, one per line.
    heads
        The attributes of a line that are shown, and the title of each.

    Examples
    --------
    >>> from fractions import Fraction
    >>> halves = History([Fraction(1, 2), Fraction(3, 2)], {"numerator": "above", "real": "value"})
    >>> print(halves)
    above  value
        1    0.5
        3    1.5
    >>> halves[0], halves.to_frame("polars")["real"].to_list()
    (Fraction(1, 2), [0.5, 1.5])
    """

    __slots__ = ("_heads",)

    def __init__(self, lines: Iterable[Line], heads: Mapping[str, str]) -> None:
        super().__init__(lines)
        self._heads = dict(heads)

    def sheet(self) -> Sheet:
        cells = ([getattr(line, name) for name in self._heads] for line in self)
        rows = [  # spent budget is never rounded down
            tuple(spent(cell) if isinstance(cell, Fraction) else label(cell) for cell in line)
            for line in cells
        ]
        return Sheet(heads=list(self._heads.values()), lines=rows)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return the lines as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``."""
        cells = {name: [getattr(line, name) for line in self] for name in self._heads}
        columns = {
            name: [float(cell) if isinstance(cell, Fraction) else cell for cell in column]
            for name, column in cells.items()
        }
        return framed(columns, library)

    def __repr__(self) -> str:
        return f"<History: {len(self)} {'line' if len(self) == 1 else 'lines'}>"
