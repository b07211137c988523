"""A table under one total, beside every split of epsilon that a person could choose by hand.

Run ``python benchmarks/splits.py adult.csv`` on the Adult data (48,842 people; a header is needed).
Asked are the count, the mean of age and the deciles of hours for each sex and education. Each
statistic is drawn many times at each share of epsilon, from a hundredth on, in all groups. Its
error is relative (counts over n, means over the width of the bounds, quantiles in ranks over n)
and multiplied by the size of the group, so that groups of all sizes count alike; of an error the
95% point of runs and groups is taken. The search then looks at all splits in steps of a hundredth.
Shown are the worst errors of the table's shares and of the best split, once as planned from public
numbers alone and once as measured. The exit status is 1 if either is more than 5% above the best.
A Markdown copy goes to ``benchmarks/out/splits.md``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from rich.console import Console
from rich.table import Table as Printed

from sourdine.central import Table
from sourdine.central.groups import ByGroup
from sourdine.central.table import NOMINAL, relative_error
from sourdine.frames.cells import Ticks
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central import Statistic

MOST = 1.05
STEPS = 100
SAMPLED = (1, 2, 4, 7, 10, 14, 20, 28, 40, 55, 75, 98)
"""Shares, in hundredths, at which errors are measured; between them they are interpolated."""


def asked(path: Path, data: Frame) -> Table:
    """Return the question."""
    del path
    places, _ = data.distinct("education")
    return Table(
        of={"*": ["count"], "age": ["mean"], "hours-per-week": ["deciles"]},
        bounds={"age": (0, 120), "hours-per-week": (0, 100)},
        steps={"age": 1, "hours-per-week": 1},
        by=["sex", "education"],
        keys={"sex": ["Female", "Male"], "education": places},
        epsilon=1,
    )


def errors(part: Statistic, groups: list[Frame], share: float, runs: int) -> NDArray[np.float64]:
    """Return relative errors times the size of the group, of many draws."""
    drawn = attrs.evolve(part, epsilon=share, error=None, source=SeededSource(7))
    found = []
    for rows in groups:
        n = len(rows)
        for _ in range(runs):
            value = drawn.value(drawn.draw(rows))
            found.append(_off(part, rows, value, n))
    return np.array(found)


def _off(part: Statistic, rows: Frame, value: Any, n: int) -> float:
    if part.kind == "count":
        return float(abs(value - n))
    cell = Ticks(part.column, part.grid)  # type: ignore[attr-defined]
    counts = rows.tally(cell).counts[:-1]
    if part.kind == "mean":
        mean = float((counts * np.arange(len(counts))).sum() / max(n, 1))
        return n * abs(value - mean) / part.width  # type: ignore[attr-defined]
    below = np.concatenate(([0], np.cumsum(counts)))
    at = np.asarray(value, int)
    wanted = np.array([float(q) * n for q in part.orders])  # type: ignore[attr-defined]
    return float(np.maximum(below[at] - wanted, wanted - below[at + 1]).max(initial=0))


def best(curves: list[NDArray[np.float64]]) -> tuple[float, tuple[int, ...]]:
    """Return the smallest worst error of all splits into three, and that split in hundredths."""
    splits = ((i, j, STEPS - i - j) for i in range(1, STEPS - 1) for j in range(1, STEPS - i))
    return min((max(c[k] for c, k in zip(curves, split, strict=True)), split) for split in splits)


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    data = Frame(str(given.file))
    question = asked(given.file, data)
    groups = ByGroup(question=question).groups(data, {})
    parts = list(question.statistics.values())
    at = np.arange(STEPS + 1) / STEPS
    planned, measured = [], []
    for part in parts:
        relative = relative_error(part, NOMINAL)
        planned.append(np.array([np.inf, *(relative(float(e)) for e in at[1:])]))
        points = [
            float(np.quantile(errors(part, groups, k / STEPS, given.runs), 0.95)) for k in SAMPLED
        ]
        logs = np.interp(np.log(at[1:]), np.log(np.array(SAMPLED) / STEPS), np.log(points))
        measured.append(np.array([np.inf, *np.exp(logs)]))
    shares = [float(share) for share in question.shares]
    lines, late = [], False
    for name, curves in (("planned", planned), ("measured", measured)):
        ours = max(float(np.interp(e, at[1:], c[1:])) for e, c in zip(shares, curves, strict=True))
        least, split = best(curves)
        even = max(float(np.interp(1 / 3, at[1:], c[1:])) for c in curves)
        late |= ours > MOST * least
        by_hand = " ".join(f"{k / STEPS:g}" for k in split)
        lines.append((
            name, " ".join(f"{e:.3f}" for e in shares), by_hand, f"{ours / least:.3f}",
            f"{even / least:.3f}",
        ))  # fmt: skip
    heads = ("errors", "shares", "best split", "ours over best", "even split over best")
    table = Printed(title="count, mean of age, deciles of hours; by sex and education")
    for head in heads:
        table.add_column(head)
    for line in lines:
        table.add_row(*line)
    Console().print(table)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    text = ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *lines)]
    (out / "splits.md").write_text("\n".join(text) + "\n")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
