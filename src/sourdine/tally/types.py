"""Declared types of columns: what a column can hold, by its type alone.

Types are public: they stand in a schema, not in the rows. So a column whose type cannot hold what
is asked for is refused before anything is charged, and no value is looked at for that. Lists, text
files and pandas columns of type ``object`` declare no type, and are read value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.tally.column import DATES, NUMBERS, WORDS

if TYPE_CHECKING:
    import numpy as np

    from sourdine.tally.reading import Reading

__all__ = [
    "ANYTHING",
    "NESTED",
    "OTHER",
    "TEXTS",
    "Declared",
    "declared_by_numpy",
    "declared_by_series",
    "declared_by_type",
]

NESTED, OTHER = "nested", "other"
"""Lists, structs and maps; and what is neither numbers nor text nor dates, such as durations."""
TEXTS, ANYTHING = "texts", "anything"
"""What a statistic may need besides `NUMBERS` and `DATES`: values that have a text, or any."""
_BY_LETTER = dict.fromkeys("biuf", NUMBERS) | dict.fromkeys("UST", WORDS) | {"M": DATES}
_BY_LETTER |= {"m": OTHER, "c": OTHER, "V": NESTED}


@dataclass(frozen=True, slots=True)
class Declared:
    """What the type of a column says.

    Parameters
    ----------
    holds
        `NUMBERS` (true and false among them), `WORDS`, `DATES`, `NESTED` or `OTHER`.
    dtype
        The type as its library writes it.

    Examples
    --------
    >>> from sourdine.tally.reading import Reading
    >>> Declared(WORDS, "VARCHAR").fits(NUMBERS, Reading())
    False
    >>> Declared(WORDS, "VARCHAR").fits(NUMBERS, Reading(decimal=","))
    True
    """

    holds: str
    dtype: str

    def fits(self, need: str, reading: Reading) -> bool:
        """Return whether a column of this type can be read as what a statistic needs.

        Text is read as numbers or dates where it is declared how they are written.

        Parameters
        ----------
        need
            `NUMBERS`, `DATES`, `TEXTS` or `ANYTHING`.
        reading
            How text is read.
        """
        if need == ANYTHING:
            return True
        if need == TEXTS:
            return self.holds != NESTED
        if self.holds == WORDS:
            return reading.writes_numbers if need == NUMBERS else reading.date_format is not None
        return self.holds == need


def declared_by_numpy(dtype: np.dtype[Any]) -> Declared | None:
    """Return what the type of a NumPy array says; objects may be anything.

    Examples
    --------
    >>> import numpy as np
    >>> declared_by_numpy(np.dtype("datetime64[D]"))
    Declared(holds='dates', dtype='datetime64[D]')
    """
    holds = _BY_LETTER.get(dtype.kind)
    return None if holds is None else Declared(holds, str(dtype))


def declared_by_series(series: Any) -> Declared | None:  # noqa: ANN401
    """Return what the type of a narwhals series says; objects may be anything."""
    import narwhals as nw  # noqa: PLC0415

    native = str(getattr(nw.to_native(series), "dtype", ""))
    if native == "object":  # narwhals looks at the values of these
        return None
    if native.startswith("datetime64"):  # also those with a zone that narwhals does not know
        return Declared(DATES, native)
    if native.startswith(("period", "interval")):
        return Declared(OTHER, native)
    return declared_by_type(series.dtype, native)


def declared_by_type(dtype: Any, written: str = "") -> Declared | None:  # noqa: ANN401
    """Return what a type of narwhals says; None for types that it does not know."""
    import narwhals as nw  # noqa: PLC0415

    written = written or str(dtype)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return Declared(NUMBERS, written)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return Declared(WORDS, written)
    if dtype in (nw.Date, nw.Datetime):
        return Declared(DATES, written)
    if dtype.is_nested():
        return Declared(NESTED, written)
    return Declared(OTHER, written) if dtype in (nw.Duration, nw.Time, nw.Binary) else None
