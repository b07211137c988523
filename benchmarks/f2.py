"""Sketches of the second moment under attack: plain and robust, of the same memory.

Run ``python benchmarks/f2.py`` (``--seeds 2 --largest 3000`` for a rough look). The exit status is
1 if a target is missed. A Markdown copy and a picture go to ``benchmarks/out``.

* *Attacked*: estimate over truth, median and range over sketches, after so many probes of
  `sourdine.adaptive.attacks.probe`, downward; and the share of single answers within 25%.
* *Declared*: at the declared number of steps, downward and upward, with even and climbing probes,
  at least 95% of the robust sketch's answers are within 25%, and none of the plain one's.
* *Honest*: on a stream that does not react, growing, shrinking and leaping, the 95% quantile of
  the relative error is within the declared accuracy.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from sourdine.adaptive.attacks import CLIMB, F2Attack, insertion, probe
from sourdine.adaptive.sketches.f2 import AmsSketch, F2Sketch, RobustF2
from sourdine.results.figures import BLUE, GREY, INK, PALE, RED, RULE, SOFT, canvas, gaps, saved
from sourdine.results.tables import shown

OUT = Path(__file__).parent / "out"
ERRORS = Console(stderr=True)
ROWS = 20_000
ALPHA = 0.25
SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)

Make = Callable[[int], F2Sketch]


def plain(seed: int, rows: int = ROWS) -> AmsSketch:
    """Return a plain sketch."""
    return AmsSketch(rows, seed=seed)


def robust(_seed: int, rows: int = ROWS) -> RobustF2:
    """Return a robust sketch, with a key and noise of its own."""
    return RobustF2(rows)


VICTIMS: dict[str, Make] = {"plain": plain, "robust": robust}


COLOURS = (RED, BLUE, GREY, SOFT)


def draw(
    curves: Mapping[str, Sequence[Sequence[F2Attack]]],
    *,
    alpha: float = 0.25,
    steps: int | None = None,
    title: str = "The second moment under attack",
    path: str | None = None,
) -> Any:
    """Draw estimate over truth against the number of questions, one line for each of four sketches.

    The band is of relative errors up to ``alpha``, the line down the declared number of answers.
    """
    figure, axes = canvas(7.0, 4.2)
    axes.axhspan(1 - alpha, 1 + alpha, color=PALE, alpha=0.5, linewidth=0)
    axes.axhline(1, color=GREY, linewidth=0.8)
    for colour, (name, sizes) in zip(COLOURS, curves.items(), strict=False):
        _line(axes, sizes, colour, name)
    axes.set_xscale("log")
    if steps is not None:
        axes.axvline(steps, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.annotate(
            f"declared: {shown(steps, 1.0)}", (steps, 0), (-4, 6),
            xycoords=("data", "axes fraction"), textcoords="offset points",
            color=INK, fontsize=8, ha="right",
        )  # fmt: skip
    axes.set_ylim(0, None)
    gaps(axes.xaxis)
    axes.set_xlabel("questions asked by the attacker", color=INK, fontsize=9)
    axes.set_ylabel("estimate / truth", color=INK, fontsize=9)
    axes.set_title(title, loc="left", color=INK, fontsize=11, pad=22)
    axes.annotate(
        f"band: within {100 * alpha:g}% of the truth · line: median sketch · shade: all of them",
        (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color=GREY,
        fontsize=8, va="bottom",
    )  # fmt: skip
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return saved(figure, path)


def _line(axes: Any, sizes: Sequence[Sequence[F2Attack]], colour: str, name: str) -> None:
    asked = [np.median([done.queries for done in row]) for row in sizes]
    ratios = [[done.ratio for done in row] for row in sizes]
    axes.fill_between(
        asked, [min(row) for row in ratios], [max(row) for row in ratios],
        color=colour, alpha=0.2, linewidth=0,
    )  # fmt: skip
    middle = [float(np.median(row)) for row in ratios]
    axes.plot(asked, middle, "o-", color=colour, markersize=4, linewidth=1.6)
    axes.annotate(
        name, (asked[-1], middle[-1]), (6, 0), textcoords="offset points", color=colour,
        fontsize=9, va="center", annotation_clip=False,
    )  # fmt: skip


def attacked(sizes: list[int], seeds: int) -> dict[str, list[list[F2Attack]]]:
    """Attack every kind of sketch at every size."""
    jobs = [(name, i, seed) for name in VICTIMS for i in range(len(sizes)) for seed in range(seeds)]
    found: dict[str, list[list[F2Attack]]] = {name: [[] for _ in sizes] for name in VICTIMS}
    for name, i, seed in track(jobs, "attacking", console=ERRORS, transient=True):
        rng = np.random.default_rng(seed)
        found[name][i].append(probe(VICTIMS[name](seed), sizes[i], rng=rng))
    return found


def attack_lines(found: dict[str, list[list[F2Attack]]], sizes: list[int]) -> Iterator[str]:
    """Yield the table of estimates over truth."""
    yield "| sketch | " + " | ".join(f"{size} probes" for size in sizes) + " |"
    yield "|---" * (len(sizes) + 1) + "|"
    for name, rows in found.items():
        cells = []
        for row in rows:
            ratios = [done.ratio for done in row]
            share = np.mean([done.within(ALPHA) for done in row])
            cells.append(
                f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {share:.0%}"
            )
        yield f"| {name} | " + " | ".join(cells) + " |"


def declared(seeds: int, missed: list[str]) -> Iterator[str]:
    """Yield what is left at the declared number of steps."""
    steps = RobustF2().steps
    kinds = [(w, u) for w in ("even", "climbing") for u in (False, True)]
    yield f"| {steps} probes | plain | robust | robust within {ALPHA:.0%} |"
    yield "|---|---|---|---|"
    for name, upward in track(kinds, "declared", console=ERRORS, transient=True):
        swing = CLIMB if name == "climbing" else (1.0,)
        both = [
            [
                probe(make(s), steps, rng=np.random.default_rng(s), swing=swing, upward=upward)
                for s in range(seeds)
            ]
            for make in (plain, robust)
        ]
        beaten, held = ([done.ratio for done in row] for row in both)
        share = float(np.mean([done.within(ALPHA) for done in both[1]]))
        if share < 0.95 or any(done.within(ALPHA) > 0 for done in both[0]):
            missed.append(f"{name}, upward={upward}")
        yield (
            f"| {name}, {'up' if upward else 'down'} | {min(beaten):.2f} to {max(beaten):.2f} "
            f"| {min(held):.2f} to {max(held):.2f} | {share:.1%} |"
        )


def inserted(seeds: int) -> Iterator[str]:
    """Yield what an attack that only inserts does."""
    yield "| 20000 insertions, 3600 rows | estimate / truth |"
    yield "|---|---|"
    for name, make in (
        ("plain", partial(plain, rows=3600)),
        ("robust", partial(robust, rows=3600)),
    ):
        ratios = [
            insertion(make(seed), 20_000, rng=np.random.default_rng(seed)).ratio
            for seed in track(range(seeds), f"inserting, {name}", console=ERRORS, transient=True)
        ]
        yield f"| {name} | {min(ratios):.2f} to {max(ratios):.2f} |"


def honest(missed: list[str], answers: int = 3000) -> Iterator[str]:
    """Yield the error on streams that do not react."""
    yield "| stream | 95% quantile of the error | declared | looks an answer |"
    yield "|---|---|---|---|"
    changes = {"the same": 1.0, "grows 20%": 1.2, "shrinks 30%": 0.7, "leaps": 1e4, "falls": 1e-4}
    for name, change in track(changes.items(), "honest", console=ERRORS, transient=True):
        sketch = RobustF2()
        errors = np.array([_turn(sketch, change) for _ in range(answers)])
        quantile = float(np.quantile(errors, 0.95))
        if quantile > sketch.honest_error:
            missed.append(f"honest, {name}")
        looks = sketch.looks / (2 * answers)
        yield f"| {name} | {quantile:.3f} | {sketch.honest_error:.3f} | {looks:.2f} |"


def _turn(sketch: RobustF2, change: float, width: int = 3, height: int = 10**6) -> float:
    """Ask about one vector, then about another, and return the error of the second answer."""
    length = round(sqrt(change) * height)
    sketch.update_many(range(width), height)
    sketch.query()
    sketch.update_many(range(width), length - height)
    error = abs(sketch.query() / (width * length**2) - 1)
    sketch.update_many(range(width), -length)
    return error


def main() -> int:
    """Run everything and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    given = parser.parse_args()
    sizes = [size for size in SIZES if size <= given.largest]
    missed: list[str] = []
    start = process_time()
    found = attacked(sizes, given.seeds)
    lines = [
        f"# F2 sketches of {ROWS} rows under attack, {given.seeds} each", "",
        *attack_lines(found, sizes), "",
        *declared(given.seeds, missed), "",
        *inserted(given.seeds), "",
        *honest(missed), "",
        f"{process_time() - start:.0f} s of processor time. "
        + ("Missed: " + "; ".join(missed) if missed else "All targets met."),
    ]  # fmt: skip
    OUT.mkdir(exist_ok=True)
    text = "\n".join(lines)
    (OUT / "f2.md").write_text(text + "\n")
    draw(found, alpha=ALPHA, steps=RobustF2().steps, path=str(OUT / "f2.png"))
    print(text)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
