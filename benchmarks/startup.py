"""How long ``import sourdine`` takes beside ``import numpy``: CPU time of fresh interpreters.

The two take turns; the figures are medians. The exit status is 1 if the target is missed.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median

from rich.console import Console
from rich.progress import track
from rich.table import Table

from record import Beside, write

CANDIDATES = ("numpy", "sourdine", "sourdine.mechanisms", "sourdine.cli")
ROUNDS = 15
MOST = 1.2


def import_time(module: str) -> float:
    """Return the CPU seconds of a fresh interpreter that imports one module."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure, print, and say whether the target is met."""
    seen: dict[str, list[float]] = {module: [] for module in CANDIDATES}
    for _ in track(range(ROUNDS), "imports", transient=True):
        for module, times in seen.items():
            times.append(import_time(module))
    numpy = median(seen["numpy"])
    table = Table(title="Start-up, CPU time of a fresh interpreter", title_justify="left")
    for name in ("import", "milliseconds", "times numpy"):
        table.add_column(name, justify="left" if name == "import" else "right")
    for module, times in seen.items():
        table.add_row(module, f"{1000 * median(times):.0f}", f"{median(times) / numpy:.2f}")
    ratio = median(seen["sourdine"]) / numpy
    console = Console()
    console.print(table)
    console.print(
        f"import sourdine within {MOST} times numpy: {'met' if ratio <= MOST else 'MISSED'}"
    )
    ours = 1000 * median(seen["sourdine"])
    row = Beside("start", "import", "NumPy", ours, 1000 * numpy, "ms", ratio <= MOST)
    write("startup", [row], quick=False)
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
