"""Exact sums of powers of ticks in Spark, and ranges of ticks as ranges of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.tally.cells import Ticks
from sourdine.tally.column import Column
from sourdine.tally.ranges import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.tally.spark.cells import Expressions

    Range = tuple[int, int]

__all__ = ["fits", "limbs", "within"]

LIMB = 21
"""Sums are added up in parts of so many bits: none of 2**42 rows overflows."""
_HALF, _PRODUCT = 31, 1 << 62
_INT64 = 1 << 63


def fits(last: int, most: int) -> bool:
    """Return whether Spark can add up these powers in 64 bits."""
    return last < _PRODUCT and (most <= 2 or last**most < _PRODUCT)


def limbs(e: Expressions, tick: Any, power: int, last: int) -> list[tuple[Any, int]]:  # noqa: ANN401
    """Return expressions whose sums, shifted, add up to the sum of a power of ticks."""
    if power == 0:
        return [(e.whole(1), 0)]
    if last**power < _PRODUCT:
        product = tick
        for _ in range(power - 1):
            product = product * tick
        return _cut(e, product, last**power)
    high = e.functions.shiftright(tick, _HALF)
    low = tick.bitwiseAND(e.whole((1 << _HALF) - 1))
    parts = ((high * high, 2 * _HALF), (high * low, _HALF + 1), (low * low, 0))
    return [(c, s + shift) for part, shift in parts for c, s in _cut(e, part, _PRODUCT)]


def _cut(e: Expressions, v: Any, most: int) -> list[tuple[Any, int]]:  # noqa: ANN401
    if most < 1 << LIMB:
        return [(v, 0)]
    mask = e.whole((1 << LIMB) - 1)
    return [
        (e.functions.shiftright(v, shift).bitwiseAND(mask), shift)
        for shift in range(0, most.bit_length(), LIMB)
    ]


def within(  # noqa: PLR0913, PLR0917
    e: Expressions,
    cell: Ticks,
    place: str,
    kind: str,
    slot: Any,  # noqa: ANN401
    ranges: Sequence[Range],
) -> Any:  # noqa: ANN401
    """Return a condition that holds for the ticks of some ranges, on the values where that can be.

    Snapping never decreases, so the values of a range of ticks are an interval; its ends are found
    by halving the numbers there are, and the place of a value among them by halving too. Spark does
    not hand that on to Parquet, which for each comparison would look through every word of the
    dictionary of every file: that takes several times as long as to read the values.
    """
    f, ranges = e.functions, joined(ranges, cell.size)
    numbers = kind in {"integer", "float"} and not cell.dated
    if not numbers:
        return _any(f, [slot.between(e.whole(a), e.whole(b - 1)) for a, b in ranges])
    if kind == "integer" and cell.grid.integral:
        lower, step = int(cell.grid.lower), int(cell.grid.step)
        x, there = f.col(place).cast("bigint"), f.col(place).isNotNull()
        ends = _ends(cell, ranges, lambda tick: lower + tick * step - step // 2)
        literal: Callable[[Any], Any] = e.whole
    else:
        x, none = e.number(f.col(place), kind)
        there, literal = ~none, f.lit
        ends = _ends(cell, ranges, lambda tick: _least_float(cell, tick))
    starts_inside = int(ends[0][0] is None)
    edges = [end for both in ends for end in both if end is not None]
    passed = e.halved(x, edges, literal, starts_inside)
    return there & (passed.bitwiseAND(e.whole(1)) == e.whole(1))


def _any(f: Any, conditions: Sequence[Any]) -> Any:  # noqa: ANN401
    found = f.lit(False)  # noqa: FBT003
    for condition in conditions:
        found = found | condition
    return found


def _ends(
    cell: Ticks, ranges: Sequence[Range], least: Callable[[int], Any]
) -> list[tuple[Any, Any]]:
    """Return the least value of each range and of what follows it; None where it has no end."""
    return [
        (None if a <= 0 else least(a), None if b > cell.grid.last else least(b)) for a, b in ranges
    ]


def _least_float(cell: Ticks, tick: int) -> float:
    """Return the least float that is snapped to a tick or beyond."""
    plain = Ticks(None, cell.grid)
    low, high = _rank(float("-inf")), _rank(float("inf"))
    while high - low > 1:
        middle = (low + high) // 2
        reached = plain.slots(Column(np.array([_unrank(middle)])))[0] >= tick
        low, high = (low, middle) if reached else (middle, high)
    return _unrank(high)


def _rank(x: float) -> int:
    """Return the number of a float in their order."""
    bits = int(np.array([x]).view(np.int64)[0])
    return bits if bits >= 0 else -(bits & (_INT64 - 1))


def _unrank(rank: int) -> float:
    bits = rank if rank >= 0 else (-rank) | _INT64
    return float(np.array([bits], np.uint64).view(np.float64)[0])
