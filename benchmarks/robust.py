"""How far an attack drives `Robust` around tug-of-war sketches of the second moment.

Run ``python benchmarks/robust.py`` (``--most 3000`` for a rough look). A Markdown copy goes to
``benchmarks/out/robust.md``.

Every victim has 40,000 counters but the small one. *Honest*: the 95% quantile of the relative
error on streams that do not react. The other columns: after so many probes of
`sourdine.adaptive.attacks.probe`, the answer over the truth, the worst of three ways to probe
(level, climbing, in one round on the edge of a cell), as the median over the seeds with the worst
seed in brackets. *Proved* is the certificate: what withstands these attacks is not thereby proved.

A row of a tug-of-war sketch is independent of the others, so the copies here are parts of one
large sketch, which is quicker to update and has the same law.

The exit status is 1 unless the two private medians stay within the accuracy, honest and attacked,
and everything else is driven out of it, for which a rough look is too short.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.attacks import CLIMB, probe
from sourdine.adaptive.robust.proof import certified_steps
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.f2 import AmsSketch
from sourdine.noise import SeededSource
from sourdine_lab.experiments.stemmer.copies import Bank

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1000, 3000, 10_000, 30_000)
ALPHA = 0.25
NOISELESS = 1000
OUT = Path(__file__).parent / "out" / "robust.md"


@dataclass(frozen=True)
class Victim:
    """A sketch by name: how to make it, and what is proved of it."""

    name: str
    make: Callable[[int], Any]
    proved: int
    holds: bool = False


def plain(rows: int) -> Victim:
    """Return a sketch as it is."""
    return Victim(f"plain, {rows} rows", lambda seed: AmsSketch(rows, seed), 0)


def median(copies: int, rows: int, sample: int, epsilon0: float) -> Victim:
    """Return the private median of copies."""

    def make(seed: int) -> Robust:
        return Robust(
            Bank(copies, rows).factory,
            copies=copies,
            sample=sample,
            epsilon0=epsilon0,
            steps=10**9,
            error=ALPHA,
            start=10**6,
            source=SeededSource(seed),
        )

    name = f"{copies} x {rows}, sample {sample}, epsilon0 {epsilon0:g}"
    proved = certified_steps(copies, sample=sample, epsilon0=epsilon0)
    return Victim(name, make, proved, holds=epsilon0 < NOISELESS)


VICTIMS = (
    median(200, 200, 25, 2),
    median(400, 100, 400, 0.1),
    plain(200),
    plain(40_000),
    median(200, 200, 200, NOISELESS),  # noise so small that it is an exact, rounded median
)


def honest(victim: Victim, seeds: int) -> float:
    """Return the 95% quantile of the relative error where nobody reacts."""
    errors = []
    for seed in range(seeds):
        rng, sketch = np.random.default_rng(seed), victim.make(1000 + seed)
        sketch.update(0, 1000)
        true = 10**6
        for item in range(1, 300):
            weight = int(rng.integers(50, 250))
            sketch.update(item, weight)
            true += weight**2
            errors.append(abs(sketch.query() / true - 1))
    return float(np.quantile(errors, 0.95))


def attacked(victim: Victim, steps: int, seed: int) -> float:
    """Return the worst of the ratios that three ways of probing reach."""
    ratio, least = 1 + ALPHA / 4, 1 - 0.75 * ALPHA
    edge = least * ratio ** round(log(2 * 10**6 / least) / log(ratio))
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"swing": CLIMB},
        {"rounds": 1, "height": round(sqrt(edge / 2))},
    )
    ratios = [
        probe(victim.make(seed), steps, rng=np.random.default_rng(seed), **way).ratio
        for way in ways
    ]
    return max(ratios, key=lambda ratio: abs(ratio - 1))


def row(
    victim: Victim, sizes: list[int], seeds: int, tick: Callable[[], None]
) -> tuple[list[str], bool]:
    """Measure one victim, and say whether it fared as it should.

    What is broken already is not attacked any longer.
    """
    error, middle = honest(victim, seeds), 1.0
    cells, within = [victim.name, f"{error:.3f}"], error <= ALPHA
    for steps in sizes:
        tick()
        if abs(middle - 1) > 0.6:
            cells.append("")
            continue
        ratios = [attacked(victim, steps, seed) for seed in range(seeds)]
        middle = float(np.median(ratios))
        within = within and abs(middle - 1) <= ALPHA
        cells.append(f"{middle:.2f} ({max(ratios, key=lambda ratio: abs(ratio - 1)):.2f})")
    return [*cells, str(victim.proved)], within == victim.holds


def main() -> int:
    """Measure all victims and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--most", type=int, default=SIZES[-1], help="the most probes")
    arguments.add_argument("--seeds", type=int, default=3)
    given = arguments.parse_args()
    sizes = [steps for steps in SIZES if steps <= given.most]
    heads = ["copies x rows", "honest", *(f"{steps} probes" for steps in sizes), "proved"]
    table = Table(*heads)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    console, began, fine = Console(), monotonic(), True
    with Progress(console=console) as progress:
        task = progress.add_task("attacks", total=len(VICTIMS) * len(sizes))
        for victim in VICTIMS:
            cells, fared = row(victim, sizes, given.seeds, lambda: progress.advance(task))
            fine = fine and fared
            table.add_row(*cells)
            lines.append("| " + " | ".join(cells) + " |")
            progress.console.print(lines[-1])
    console.print(table)
    note = f"Seeds: {given.seeds}, accuracy {ALPHA}, {monotonic() - began:.0f} s in all."
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(["# Robust around AMS", "", note, "", *lines]) + "\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
