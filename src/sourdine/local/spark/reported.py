"""Reports on their way to a table of Spark's: small numbers, then what they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.spark.packing import AT_ONCE, Packing
from sourdine.local.table.sanitizing.outputs import arrow
from sourdine.local.table.sanitizing.writing import Lattice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.local.table.part import ColumnPart
    from sourdine.local.table.sanitizing.writing import Written
    from sourdine.local.table.schema import Schema
    from sourdine.tally.spark.cells import Expressions

__all__ = ["Reported"]

_TYPES = {"whole": "bigint", "float": "double", "text": "string", "flag": "boolean"}
_LISTED = 1 << 14
"""Up to this many values of a column are listed in the query."""
_BETWEEN = "\r"
"""What no category may hold."""


@dataclass(frozen=True)
class Reported:
    """How reports leave Python: packed where Spark can list what they stand for, else as values.

    Parameters
    ----------
    schema
        What was randomised.
    """

    schema: Schema

    @cached_property
    def _parts(self) -> list[ColumnPart]:
        return list(self.schema.parts().values())

    @cached_property
    def _written(self) -> list[Written]:
        return [part.written for part in self._parts]

    @cached_property
    def _few(self) -> list[int]:
        return [i for i, w in enumerate(self._written) if _length(w) <= _LISTED][:AT_ONCE]

    @cached_property
    def packing(self) -> Packing:
        """Where reports stand that are packed."""
        return Packing(tuple(_length(self._written[i]) for i in self._few))

    @property
    def types(self) -> list[str]:
        """The columns that leave, and their types."""
        words = [f"{word} bigint" for word in self.packing.words]
        return words + [f"v{i} {_type(self._written[i])}" for i in self._many]

    @property
    def _many(self) -> list[int]:
        return [i for i in range(len(self._written)) if i not in self._few]

    def _blank(self, i: int) -> bool:
        """Return whether there can be blanks in a column."""
        return self.schema.method == "sample" or self._parts[i].column.blank

    def columns(self, shown: Sequence[NDArray[np.int64]]) -> dict[str, Any]:
        """Return what leaves for the reports of all columns, -1 for a blank."""
        words = self.packing.packed([shown[i] for i in self._few])
        values = {f"v{i}": arrow(self._written[i], shown[i], self._blank(i)) for i in self._many}
        return {**dict(zip(self.packing.words, words, strict=True)), **values}

    def values(self, e: Expressions) -> dict[str, Any]:
        """Return what Spark makes of what left, by the names of the schema's columns."""
        packed = dict(zip(self._few, self.packing.unpacked_there(e), strict=True))
        return {
            name: _listed(e, self._written[i], packed[i], self._blank(i))
            if i in packed
            else e.functions.col(f"v{i}")
            for i, name in enumerate(self.schema.columns)
        }


def _length(written: Written) -> int:
    return len(written.ticks if isinstance(written, Lattice) else written.listed)


def _type(written: Written) -> str:
    """Return Spark's type; whole numbers beyond 64 bits are floats."""
    floats = written.values(np.zeros(1, np.int64)).dtype == np.float64
    return "double" if floats else _TYPES[written.kind]


def _listed(e: Expressions, written: Written, code: Any, blank: bool) -> Any:  # noqa: ANN401, FBT001
    """Return the value of each code, nothing for -1.

    One text lists all values: Spark reads it once, before it begins. Python writes a float so that
    Java reads the same. A column without blanks says so: Spark writes it faster.
    """
    f = e.functions
    values = written.values(np.arange(_length(written))).tolist()
    text = _BETWEEN.join(v if isinstance(v, str) else str(v).lower() for v in values)
    listed = f.split(f.collate(f.lit(text), "UTF8_BINARY"), _BETWEEN)
    value = f.get(listed.cast(f"array<{_type(written)}>"), code.cast("int"))
    return value if blank else f.coalesce(value, f.lit(values[0]))
