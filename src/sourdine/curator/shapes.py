"""Shapes of cells that are no numbers, and what to declare so that they are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from sourdine.tally import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ColumnTexts", "best_reading", "options", "read_differently", "shape"]

_LONGEST = 24
_MARKS = "+-.,'\N{RIGHT SINGLE QUOTATION MARK}_"
_BEFORE, _AFTER = rf"[^\w\s{_MARKS}]{{1,3}}|[A-Z]{{3}}", rf"[^\d\s{_MARKS}]{{1,8}}"
_BESIDE = re.compile(rf"\s*({_BEFORE})?\s*[+-]?\d[\d\s{_MARKS}]*({_AFTER})?\s*")
"""A number between symbols; letters before it are a currency in capitals, else it is a name."""
_WAYS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"))
"""Decimal marks and marks between thousands, the most common first."""
_OFTEN = 0.01
"""A symbol is declared if it stands beside this part of a column's cells, at least."""
_ZERO = re.compile(r"\D*0+\D")
"""How no number begins whose next three digits are thousands."""
_MOST = 0.5
"""A column is meant to hold numbers if this part of its cells are some."""


def shape(value: str) -> str:
    r"""Return a text with 9 for digits and a for letters, cut short.

    Examples
    --------
    >>> shape("1,234.50"), shape("€12"), shape("170 cm"), shape("\x1b[2J")
    ('9,999.99', '€99', '999 aa', '?[9a')
    """
    cut = value[:_LONGEST]
    letters = ("9" if c.isdecimal() else "a" if c.isalpha() else c for c in cut)
    text = "".join(c if c.isprintable() else "?" for c in letters)
    return text + ("..." if len(value) > _LONGEST else "")


@dataclass(frozen=True, slots=True)
class ColumnTexts:
    """The texts of a column, and how many cells are numbers by their type."""

    texts: Counter[str]
    typed: int

    @property
    def filled(self) -> int:
        """How many cells hold anything."""
        return self.typed + self.texts.total()

    def numbers(self, reading: Reading) -> int:
        """Return how many cells a reading reads as numbers."""
        read = (k for text, k in self.texts.items() if reading.number(text) is not None)
        return self.typed + sum(read)

    def symbols(self) -> set[str]:
        """Return what often stands beside numbers."""
        beside: Counter[str] = Counter()
        for text, k in self.texts.items():
            if (found := _BESIDE.fullmatch(text)) is not None:
                beside.update(dict.fromkeys(filter(None, found.groups()), k))
        least = max(2, _OFTEN * self.filled)
        return {symbol for symbol, k in beside.items() if k >= least}

    def mixed(self) -> list[str]:
        """Return the symbols of a column that has several: units that are not to be added up.

        Examples
        --------
        >>> ColumnTexts(Counter({"170 cm": 40, "1.80 m": 30, "165": 9}), 0).mixed()
        ['cm', 'm']
        >>> ColumnTexts(Counter({"170 cm": 40, "165 CM": 30}), 0).mixed()
        []
        """
        symbols = sorted(self.symbols())
        return symbols if len(set(map(str.casefold, symbols))) > 1 else []


def best_reading(
    declared: Reading, columns: Iterable[ColumnTexts]
) -> tuple[Reading, Reading | None]:
    """Return the reading that makes numbers of most cells, and another that reads as many.

    Columns that hold words under a reading do not count for it, and what was declared stays. The
    symbols of a column that has several are not declared.
    """
    kept = [cells for cells in columns if cells.texts]
    of_one_unit = (cells.symbols() for cells in kept if not cells.mixed())
    beside = set(declared.symbols).union(*of_one_unit)
    symbols = _declarable(sorted(beside))
    ways = [
        replace(declared, decimal=declared.decimal if d == "." else d, thousands=t, symbols=each)
        for (d, t), each in product(_WAYS, (declared.symbols, symbols))
        if declared.decimal in {None, d} and declared.thousands in {"", t}
    ]
    score = {way: sum(_read(cells, way) for cells in kept) for way in (declared, *ways)}
    best = [way for way, read in score.items() if read == max(score.values())]
    first = best[0]
    for way in best[1:]:
        changed = [text for cells in kept for text in read_differently(cells, first, way)]
        if changed and way.symbols == first.symbols and not any(map(_ZERO.match, changed)):
            return first, way
    return first, None


def read_differently(cells: ColumnTexts, one: Reading, other: Reading) -> list[str]:
    """Return the texts that are other numbers under another reading.

    Examples
    --------
    >>> cells = ColumnTexts(Counter(["1.234", "12"]), 0)
    >>> read_differently(cells, Reading(), Reading(decimal=",", thousands="."))
    ['1.234']
    """
    pairs = ((text, one.number(text), other.number(text)) for text in cells.texts)
    return [text for text, x, y in pairs if x is not None and y is not None and x != y]


def _declarable(symbols: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols that a reading takes."""

    def taken(symbol: str) -> bool:
        try:
            Reading(symbols=(symbol,))
        except ValueError:
            return False
        return True

    return tuple(filter(taken, symbols))


def _read(cells: ColumnTexts, reading: Reading) -> int:
    """Return how many cells a reading reads, of a column that it makes one of numbers."""
    numbers = cells.numbers(reading)
    return numbers if numbers >= _MOST * cells.filled else 0


def options(reading: Reading) -> dict[str, Any]:
    """Return what to declare, as a command line takes it."""
    said = reading.to_dict()
    return {name: ",".join(x) if isinstance(x, list) else x for name, x in said.items()}
