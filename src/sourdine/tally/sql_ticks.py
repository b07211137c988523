"""Ticks and bins as DuckDB expressions: from a number that is there to where it falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.tally.octaves import HIGHEST, Octaves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.grid import Grid

__all__ = ["binned", "double", "float_tick", "integer", "integer_tick", "narrow"]


def double(x: float) -> str:
    """Write a float so that the engine reads the same one."""
    return f"CAST('{x!r}' AS DOUBLE)"


def integer(v: int) -> str:
    """Write a whole number of up to 128 bits."""
    return f"CAST('{v}' AS HUGEINT)"


def float_tick(grid: Grid, x: str) -> str:
    """Return the tick of a float, computed as the grid does it."""
    if isinstance(grid, Octaves):
        return _octave_tick(grid, x)
    lower, upper = float(grid.lower), float(grid.upper)
    near = f"greatest(least({x}, {double(upper)}), {double(lower)})"
    t = f"floor(({near} - {double(lower)}) / {double(float(grid.step))} + {double(0.5)})"
    return f"least(TRY_CAST({t} AS BIGINT), CAST({grid.last} AS BIGINT))"


def _octave_tick(grid: Octaves, x: str) -> str:
    """Return the tick of a lattice of octaves: dividing by a power of two is exact."""
    size, bits = f"least(abs({x}), {double(grid.top)})", grid.bits

    def number(e: int) -> str:
        within = f"floor(({size} / {double(2.0**e)} - {double(1.0)}) * {double(2.0**bits)})"
        return f"CAST({within} AS BIGINT) + {((e - grid.lowest) << bits) + 1}"

    def chosen(first: int, end: int) -> str:
        if end - first == 1:
            return number(first)
        half = (first + end) // 2
        below, above = chosen(first, half), chosen(half, end)
        return f"CASE WHEN {size} < {double(2.0**half)} THEN {below} ELSE {above} END"

    least = f"{size} < {double(2.0**grid.lowest)}"
    signed = f"(CASE WHEN {least} THEN 0 ELSE {chosen(grid.lowest, HIGHEST)} END)"
    signed = f"(CASE WHEN {x} < 0 THEN -1 ELSE 1 END) * {signed}"
    first, last = grid.first, grid.first + grid.last
    return f"(greatest(least({signed}, {last}), {first}) - ({first}))"


def integer_tick(grid: Grid, v: str, kind: str = "HUGEINT") -> str:
    """Return the tick of a whole number; a wider one is clamped before it is narrowed."""
    lower, step = int(grid.lower), int(grid.step)
    top = lower + grid.last * step
    ends = [f"CAST('{x}' AS {kind})" for x in (top, lower, step // 2, step)]
    near = f"CAST(greatest(least({v}, {ends[0]}), {ends[1]}) AS {kind}) - {ends[1]}"
    tick = near if step == 1 else f"({near} + {ends[2]}) // {ends[3]}"
    return f"CAST({tick} AS BIGINT)"


def narrow(grid: Grid) -> bool:
    """Return whether whole numbers snap to whole points with nothing beyond 64 bits."""
    return grid.integral and max(abs(grid.lower), abs(grid.upper)) < 1 << 61


def binned(x: str, inner: Sequence[Any], literal: Callable[[Any], str], first: int = 0) -> str:
    """Return how many inner edges are ``x`` or less, by halving."""
    if not inner:
        return f"CAST({first} AS BIGINT)"
    half = len(inner) // 2
    below = binned(x, inner[:half], literal, first)
    above = binned(x, inner[half + 1 :], literal, first + half + 1)
    return f"CASE WHEN {x} < {literal(inner[half])} THEN {below} ELSE {above} END"
