"""The way of a value: how many files of the library one call enters, and how often it changes.

Second calls on an array of 30,000 floats, with all imports done. A reader who follows a number from
what was typed to what is published opens these files. The exit status is 1 if a target is missed.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

import sourdine as sd

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

LIBRARY = Path(sd.__file__).parent
X = np.random.default_rng(1).uniform(0, 100, 30_000)
DECILES = [k / 10 for k in range(1, 10)]
CALLS: dict[str, tuple[Callable[[], object], int | None]] = {
    "count": (lambda: sd.count(X, epsilon=1), 10),
    "mean": (lambda: sd.mean(X, bounds=(0, 100), epsilon=1), 12),
    "median": (lambda: sd.median(X, bounds=(0, 100), epsilon=1), None),
    "deciles": (lambda: sd.quantiles(X, DECILES, bounds=(0, 100), epsilon=1), 20),
}
"""What is called, and how many files it may enter."""


def walked(call: Callable[[], object]) -> list[str]:
    """Return the files of the library in the order in which a call enters them."""
    steps: list[str] = []

    def enter(frame: FrameType, event: str, arg: object) -> None:
        del arg
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(LIBRARY)):
            steps.append(str(Path(path).relative_to(LIBRARY)))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return steps


def main() -> int:
    """Walk, print, and say whether the targets are met."""
    console, missed = Console(), False
    table = Table(title="Files entered by a second call on 30,000 floats", title_justify="left")
    for head in ("call", "files", "at most", "switches", "calls"):
        table.add_column(head, justify="left" if head == "call" else "right")
    ways = {}
    for name, (call, most) in CALLS.items():
        call()
        steps = walked(call)
        ways[name] = list(dict.fromkeys(steps))
        switches = sum(a != b for a, b in pairwise(steps))
        table.add_row(name, str(len(ways[name])), str(most or ""), str(switches), str(len(steps)))
        missed |= most is not None and len(ways[name]) > most
    console.print(table)
    for name, files in ways.items():
        console.print(f"{name}: {', '.join(files)}", highlight=False)
    console.print(f"targets {'MISSED' if missed else 'met'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
