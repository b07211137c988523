"""How long it takes to find bounds and to describe columns, beside NumPy and pandas.

Run ``python benchmarks/unknowns.py``. Times are of the processor, medians of several rounds in
turn with the other's. A mean with found bounds is compared with a sort of the values, a description
of one column of numbers and one of text with that of pandas, which does not protect anyone. The
exit status is 1 if one of a million rows takes more than its multiple in `MOST`.
"""

from __future__ import annotations

import sys
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import sourdine as sd

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 9
SIZES = (1000, 1_000_000)
MOST = {"mean, found bounds": 6.0, "describe": 5.0, "histogram, unknown categories": 3.0}


def in_turn(*works: Callable[[], object]) -> list[float]:
    """Return the milliseconds that each of some works takes."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, own in zip(works, times, strict=True):
            start = process_time()
            work()
            own.append(1000 * (process_time() - start))
    return [median(own) for own in times]


def main() -> int:
    """Measure, print, and return 1 if something takes too long."""
    rng, late = np.random.default_rng(1), 0
    table = Table("rows", "what", "milliseconds", "beside", "milliseconds ", "ratio")
    for n in SIZES:
        x, words = rng.normal(50, 15, n), np.array(list("abcde"))[rng.integers(0, 5, n)]
        both = pd.DataFrame({"x": x, "g": words})

        def described(both: pd.DataFrame = both) -> None:
            both[["x"]].describe(), both["g"].describe()

        pairs: dict[str, tuple[Callable[[], object], str, Callable[[], object]]] = {
            "mean, found bounds": (
                lambda x=x: sd.mean(x, bounds="find", epsilon=1),
                "np.sort",
                lambda x=x: np.sort(x),
            ),
            "describe": (
                lambda both=both: sd.describe(both, epsilon=1),
                "pandas describe",
                described,
            ),
            "histogram, unknown categories": (
                lambda both=both: sd.histogram(
                    both, column="g", categories="unknown", epsilon=1, delta=1e-6
                ),
                "pandas value_counts",
                lambda both=both: both["g"].value_counts(),
            ),
        }
        for what, (own, other, its) in pairs.items():
            ours, theirs = in_turn(own, its)
            bad = n == max(SIZES) and ours > MOST[what] * theirs
            late += bad
            table.add_row(
                f"{n:,}", what, f"{ours:.1f}", other, f"{theirs:.1f}", f"{ours / theirs:.1f}",
                style="red" if bad else None,
            )  # fmt: skip
    Console(width=100).print(table)
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main())
