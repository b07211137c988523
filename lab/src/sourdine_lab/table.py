"""Rows of numbers, read by column."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Row

__all__ = ["Table"]


@dataclass(frozen=True, slots=True)
class Table:
    """What an experiment computed.

    Examples
    --------
    >>> table = Table([{"n": 10, "way": "a", "error": 0.5}, {"n": 20, "way": "a", "error": 0.4}])
    >>> table["error"].tolist(), [part["n"].tolist() for _, part in table.by("way")]
    ([0.5, 0.4], [[10, 20]])
    """

    rows: list[Row]

    def __getitem__(self, column: str) -> NDArray[Any]:
        return np.array([row[column] for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, **given: Any) -> Table:
        """Return the rows with these values."""
        return Table([row for row in self.rows if all(row[k] == v for k, v in given.items())])

    def by(self, column: str) -> Iterator[tuple[Any, Table]]:
        """Yield each value of a column and its rows, in the order in which they come."""
        for value in dict.fromkeys(row[column] for row in self.rows):
            yield value, self.where(**{column: value})

    @classmethod
    def read(cls, path: Path) -> Table:
        """Return what `save` wrote."""
        with path.open(encoding="utf-8", newline="") as file:
            return cls(
                [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]
            )

    def save(self, path: Path) -> None:
        """Write a CSV file."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(self.rows)


def _value(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
