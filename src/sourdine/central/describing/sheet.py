"""A description as text: a few columns side by side, the next below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Numbers = Mapping[str, tuple[Any, Any, Any]]

__all__ = ["TOP", "cells", "cut", "leaves_many_out"]

CELL, BESIDE = 20, 3
"""How many letters a column takes, so that three fit beside each other in 80 letters."""
TOP = 5
"""How many categories are printed."""
OWN = ("count", "missing", "lowest", "highest", "beyond")


def cells(
    found: Mapping[str, Numbers], kinds: Mapping[str, str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads and lines; columns of one kind stand together."""
    kinds = {
        name: "number" if "mean" in numbers else kinds[name] for name, numbers in found.items()
    }
    names = sorted(found, key=lambda name: kinds[name], reverse=True)
    blocks = [
        [name for name in names if kinds[name] == kind][i : i + BESIDE]
        for kind in dict.fromkeys(kinds[name] for name in names)
        for i in range(0, sum(kinds[name] == kind for name in names), BESIDE)
    ]
    (first, *lines), *rest = (_block(block, found, kinds) for block in blocks)
    for block in rest:
        lines += [("",) * len(first), *block]
    return first, lines


def _block(
    names: Sequence[str], found: Mapping[str, Numbers], kinds: Mapping[str, str]
) -> list[tuple[str, ...]]:
    columns = [_column(found[name], kinds[name]) for name in names]
    sides = max(columns, key=len)
    blank = [""] * (BESIDE - len(names))
    lines = [(side, *(column.get(side, "") for column in columns), *blank) for side in sides]
    return [("", *map(cut, names), *blank), *lines]


def _column(numbers: Numbers, kind: str) -> dict[str, str]:
    texts = {"count": _within(*numbers["count"]), "missing": _percent(*numbers["missing"])}
    if kind == "number":
        low, high = numbers["lowest"][0], numbers["highest"][0]
        width = (high - low) / 50
        if low == int(low) and high == int(high):
            low, high = int(low), int(high)
        within = f"{shown(low, width)} to {shown(high, width)}"
        texts["within"] = within if len(within) <= CELL else f"{low:.2g} to {high:.2g}"
        texts["beyond"] = f"some {numbers['beyond'][0]} each"
        return texts | {what: _within(*x) for what, x in numbers.items() if what not in OWN}
    named = [(what[2:], x) for what, x in numbers.items() if what not in OWN]
    for i, (name, x) in enumerate(named[:TOP], 1):
        share = _percent(*x)
        texts[f"top {i}"] = f"{cut(name, CELL - len(share) - 1)} {share}"
    return texts


def leaves_many_out(numbers: Mapping[str, Any]) -> bool:
    """Return whether more than a tenth of the records may lie beyond each bound.

    Examples
    --------
    >>> leaves_many_out({"count": 768, "beyond": 500})
    True
    """
    return bool(10 * numbers.get("beyond", 0) > numbers["count"])


def cut(name: str, most: int = CELL) -> str:
    """Return a name that takes no more letters than there is room for."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _within(value: float, low: float, high: float) -> str:
    """Return a number and how far off it may be."""
    half = max(high - value, value - low, 0)
    text = f"{shown(value, half)} ±{shown(half, half)}" if half else f"{value:g} ±0"
    return text if len(text) <= CELL else f"{value:.3g} ±{half:.2g}"


def _percent(value: float, low: float, high: float) -> str:
    half = 100 * max(high - value, value - low, 0)
    digits = 0 if half >= 1 else 1
    return f"{100 * value:.{digits}f} ±{max(half, 10.0**-digits):.{digits}f} %"
