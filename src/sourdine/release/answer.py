"""What every answer can do: print, be a number, an array, a frame or JSON."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import spelled
from sourdine.errors import ParameterError, SourdineError
from sourdine.presentation.dates import is_date, is_duration
from sourdine.presentation.texts import json_text, printable
from sourdine.release.arithmetic import OneNumber
from sourdine.release.columns import label, with_ends
from sourdine.release.sheet import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from sourdine.release.columns import Columns

__all__ = ["Answer", "brief", "plain"]

FEW = 4
"""How many numbers a plain repr shows."""
UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What is raised by a text that is no answer."""


class Answer(OneNumber, Shown):
    """A number, or several, that say how far they can be from the truth and what they cost.

    A kind of answer says only what is its own: `columns` (its numbers, with labels and ends),
    `notes` (what stands below the table), `to_dict` and `from_dict`, and `plot` where there is a
    picture.
    """

    __slots__ = ()

    @abstractmethod
    def columns(self) -> Columns:
        """Return the numbers, with labels and the ends of their intervals."""

    @abstractmethod
    def notes(self) -> Sequence[tuple[str, str]]:
        """Return what stands below the table: cost, mechanism, caveats."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything public as what JSON knows."""

    @classmethod
    @abstractmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the answer that `to_dict` wrote; what it lacks raises a KeyError."""

    def sheet(self) -> Sheet:
        """Return what is printed."""
        heads, rows = self.columns().cells()
        return Sheet(heads=heads, lines=rows, notes=self.notes())

    def to_json(self) -> str:
        """Return everything public as JSON; `from_json` reads it back."""
        return json_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read an answer back; its intervals and tables are those of the first."""
        try:
            return cls.from_dict(json.loads(text))
        except UNREADABLE as error:
            if isinstance(error, SourdineError):
                raise
            raise ParameterError(
                "the JSON",
                f"be what {cls.__name__}.to_json() wrote",
                "something else",
                "Pass that text, all of it.",
            ) from None

    def to_frame(self, library: str = "pandas") -> Any:  # noqa: ANN401
        """Return labels, values and ends as a frame of ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        The intervals are those that are printed.
        """
        return self.columns().to_frame(library)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_frame("pyarrow").__arrow_c_stream__(requested_schema)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401, FBT001
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
        """Return the first numbers with their intervals, and what they cost."""
        columns = self.columns()
        few = columns.picked(range(min(len(columns.values), FEW)))
        names = [
            " ".join(filter(None, map(label, own)))
            for own in zip(*few.labels.values(), strict=True)
        ]
        texts = columns.texts()[:FEW] if columns.even else few.texts()
        told = [with_ends(*own) for own in texts]
        if names:
            told = [f"{name}: {number}" for name, number in zip(names, told, strict=True)]
        left = len(columns.values) - len(told)
        listed = "; ".join([*told, *([f"and {left} more"] if left else [])])
        cost = next((f", {text}" for word, text in self.notes() if word == "cost"), "")
        return printable(f"<{type(self).__name__}: {columns.name} {listed}{cost}>")

    def __eq__(self, other: object) -> bool:
        """Return whether everything public is the same."""
        if not isinstance(other, Answer):
            return NotImplemented
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())


def brief(answer: Answer) -> str:
    """Return an answer in a few words: its only number, or how many there are.

    Examples
    --------
    >>> import sourdine as sd
    >>> brief(sd.histogram([1, 2, 3], bins=4, bounds=(0, 4), epsilon=1))
    '4 numbers'
    """
    columns = answer.columns()
    if len(columns.values) != 1:
        return f"{len(columns.values)} numbers"
    return columns.texts()[0][0]


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a value as JSON knows it."""
    if isinstance(value, Mapping):
        return dict(zip(_names(list(value)), map(plain, value.values()), strict=True))
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist()) if value.dtype.kind == "M" else value.tolist()
    if is_duration(value):
        return spelled(value)
    return value.isoformat() if is_date(value) else value


def _names(keys: Sequence[object]) -> list[str]:
    """Return keys as JSON knows them; one of several values has commas between them.

    Where values have commas of their own and two keys would read alike, each is a list in JSON.

    Examples
    --------
    >>> _names([("f", 30), ("m", 30)]), _names([("a, b", "c"), ("a", "b, c")])
    (['f, 30', 'm, 30'], ['["a, b", "c"]', '["a", "b, c"]'])
    """
    parts = [tuple(map(str, key)) if isinstance(key, tuple) else (str(key),) for key in keys]
    names = [", ".join(part) for part in parts]
    return names if len(set(names)) == len(names) else [json_text(list(part)) for part in parts]
