"""Two columns crossed: a table with a row for each part of one, a column for each of the other."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.local.estimators.estimate import Estimate
from sourdine.presentation.numbers import decimals
from sourdine.release.answer import plain
from sourdine.release.columns import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from sourdine.release import Release

    Floats = NDArray[np.float64]
    Block = tuple[str | None, Floats, Floats, Floats]

__all__ = ["Crossed"]

MOST_ACROSS = 6
"""Of more parts of the second column, a list is printed: no terminal is as wide as the table."""
FUZZ = 1e-9
"""So near a decimal, an end is that decimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed(Estimate):
    """Public facts of a table of two columns.

    Parameters
    ----------
    names
        Their names.
    parts
        The parts of each.
    reports
        How many people reported both.
    """

    even: ClassVar[bool] = True

    names: Sequence[str]
    parts: Sequence[Sequence[str]]
    reports: int

    def labels(self, release: Release) -> dict[str, Sequence[str]]:
        """Return the part of either column for each share."""
        del release
        every = zip(*product(*self.parts), strict=True)
        return {name: list(parts) for name, parts in zip(self.names, every, strict=True)}

    @property
    def wide(self) -> bool:
        """Whether the table is too wide to be printed as one."""
        return len(self.parts[1]) > MOST_ACROSS

    def crossed(
        self, blocks: Sequence[Block], total: Block | None = None
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and lines, in per cent: for each row a line of each block.

        Intervals stand in brackets, rounded outwards, with a digit of their width.

        Parameters
        ----------
        blocks
            What a line is called, and values, lower and upper ends as rows and columns.
        total
            What stands at the end of the first block's lines.
        """
        named = [block for block in blocks if block[0] is not None]
        first = f"{self.names[0]} \\ {self.names[1]}, %"
        heads = (first, *(["share"] if named else []), *map(label, self.parts[1]))
        lines: list[tuple[str, ...]] = []
        for i, part in enumerate(self.parts[0]):
            for at, (name, *numbers) in enumerate(blocks):
                row = zip(*(z[i] for z in numbers), strict=True)
                texts = [_per_cent(x, _places(numbers)) for x in row]
                end = [] if total is None else [_end(total, i) if at == 0 else ""]
                lines.append((label(part), *([name] if name else []), *texts, *end))
        return (heads if total is None else (*heads, "all")), lines

    def to_dict(self) -> dict[str, Any]:
        """Return the public facts as JSON knows them."""
        public = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"statistic": self.kind, **plain(public)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return what wrote these facts."""
        return cls(**{name: x for name, x in facts.items() if name != "statistic"})


def _places(numbers: Sequence[Floats]) -> int:
    """Return how many decimals of a per cent a table deserves: by its narrower intervals."""
    widths = 100 * np.ravel(numbers[2] - numbers[1])
    there = widths[widths > 0]
    return max(decimals(float(np.quantile(there, 0.25))) - 1, 0) if there.size else 0


def _per_cent(numbers: Sequence[float], places: int) -> str:
    (value, low, high), unit = numbers, 10.0**places
    ends = floor(100 * low * unit + FUZZ) / unit, ceil(100 * high * unit - FUZZ) / unit
    return "{:.{d}f} [{:.{d}f}, {:.{d}f}]".format(100 * value + 0.0, *ends, d=places)


def _end(total: Block, i: int) -> str:
    _, *numbers = total
    return _per_cent([float(x[i]) for x in numbers], _places(numbers))
