"""Whether the transcript ledger covers analysts who overfit on purpose, by simulation.

Run ``python benchmarks/adversaries.py`` (``--runs 200`` for a rough look, ``--jobs 2`` for two
processes). The exit status is 1 if a target is missed. A Markdown copy goes to
``benchmarks/out/adversaries.md``, a picture to ``benchmarks/out/adversaries.png``.

Four attacks ask their questions of independent rows, of a lazy random walk and of rows that come
ten times each, and are told what a ledger charges for. A run *misses* if any one of all queries
asked, not the last alone, is further from the truth than its half-width, or if the interval of the
query that came closest to it does not hold the truth.

* *Covered*: of the runs of each attack on each kind of rows, rightly declared, at most beta miss.
* *Visible*: of the runs on tenfold rows that are declared independent, nine in ten miss.
* *Tight*: the last half-width is at most 2.5 times the error of the last query of the pairs attack.

What a linear aim can be made of is signs alone: k bits buy the signs of k differences, which is
0.40 sqrt(k/n) of error, and the theorem allows 0.59 sqrt(k/n). Finer levels only cost more.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.ledger.dependence import Blocks, Dependence, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.results import figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from sourdine.adaptive.ledger.transaction import Spent, Turn

    Floats: TypeAlias = NDArray[np.float64]
    Rng: TypeAlias = np.random.Generator
    Found: TypeAlias = "dict[Cell, list[tuple[Verdict, Verdict]]]"

UNIVERSE = 1 << 14
LAW = np.full(UNIVERSE, 1 / UNIVERSE)
BETA = 0.05
COPIES = 10
LEVELS = 4
VISIBLE = 0.9
RATIO = 2.5
SIZES = ((2_000, 100), (5_000, 200), (10_000, 300), (10_000, 1_000))
"""Rows and questions of the runs, one pair after the other."""
TIGHT = tuple(product((10_000, 100_000), (100, 1_000, 5_000)))
BATCH = 20
OUT = Path(__file__).parent / "out"


@dataclass(frozen=True)
class Rows:
    """A kind of rows: how they are drawn, and what is true of them."""

    name: str
    draw: Callable[[int, Rng], NDArray[np.int64]]
    dependence: Dependence


def independent(n: int, rng: Rng) -> NDArray[np.int64]:
    """Return rows each of which is fresh."""
    return rng.choice(UNIVERSE, size=n, p=LAW)


def lazy_walk(n: int, rng: Rng) -> NDArray[np.int64]:
    """Return rows that stay as the one before half of the time."""
    fresh, stays = independent(n, rng), rng.random(n) < 0.5
    return fresh[np.maximum.accumulate(np.where(stays, 0, np.arange(n)))]


def tenfold(n: int, rng: Rng) -> NDArray[np.int64]:
    """Return rows each of which is there ten times."""
    return np.repeat(independent(-(-n // COPIES), rng), COPIES)[:n]


ROWS = (
    Rows("independent", independent, Iid()),
    Rows("lazy walk", lazy_walk, Markov(0.5)),
    Rows("tenfold", tenfold, Blocks(COPIES)),
)


@dataclass(frozen=True)
class Play:
    """All queries of one analyst, the overfitted one last, and what it was told before that."""

    averages: Floats
    truths: Floats
    answers: NDArray[np.bool_]
    levels: int = 2


def cells(number: int, rng: Rng) -> NDArray[np.int64]:
    """Return a random cell for each code, all of a size."""
    return rng.permutation(UNIVERSE) * number // UNIVERSE


def shares(cell: NDArray[np.int64], rows: NDArray[np.int64], number: int) -> Floats:
    """Return the share of the rows in each cell, and of the law in each, as two lines."""
    counts = np.bincount(cell[rows], minlength=number) / len(rows)
    return np.stack([counts, np.bincount(cell, minlength=number) / UNIVERSE])


def pairs(rows: NDArray[np.int64], k: int, rng: Rng) -> Play:
    """Ask of k pairs of cells which is the fuller, then for all the fuller ones."""
    both = shares(cells(2 * k, rng), rows, 2 * k)
    averages, truths = 0.5 + (both[:, ::2] - both[:, 1::2]) / 2
    answers = averages > truths
    signs = np.where(answers, 1.0, -1.0)
    last = [0.5 + signs @ (asked - 0.5) for asked in (averages, truths)]
    return Play(np.append(averages, last[0]), np.append(truths, last[1]), answers)


def random_queries(rows: NDArray[np.int64], k: int, rng: Rng) -> Play:
    """Ask whether k random queries are above their truth, then for what leans their way."""
    return _dense(rows, k, rng, levels=2)


def random_values(rows: NDArray[np.int64], k: int, rng: Rng) -> Play:
    """Ask for the values of k random queries, then for what leans their way, by how much."""
    return _dense(rows, k, rng, levels=LEVELS)


def _dense(rows: NDArray[np.int64], k: int, rng: Rng, *, levels: int) -> Play:
    both = shares(np.arange(UNIVERSE), rows, UNIVERSE).astype(np.float32)
    asked, lean = [], np.zeros(UNIVERSE, np.float32)
    answers = []
    for size in _parts(k, 500):
        bits = np.frombuffer(rng.bytes(size * UNIVERSE // 8), np.uint8)
        queries = np.unpackbits(bits).reshape(size, UNIVERSE).astype(np.float32)
        averages, truths = both @ queries.T
        told = _rounded(averages - truths, len(rows), levels)
        lean += told @ queries - told.sum() / 2
        asked.append(np.stack([averages, truths]))
        answers.append(told > 0)
    last = both.astype(np.float64) @ (lean > 0)
    averages, truths = np.hstack([*asked, last[:, None]]).astype(np.float64)
    return Play(averages, truths, np.hstack(answers), levels)


def _parts(k: int, size: int) -> Iterator[int]:
    yield from (min(size, k - i) for i in range(0, k, size))


def _rounded(gaps: NDArray[np.float32], n: int, levels: int) -> NDArray[np.float32]:
    """Return gaps as the middles of so many even levels, the outer ones open."""
    step = 1.0 / np.sqrt(n) if levels > 2 else 1.0
    index = np.clip(np.ceil(gaps / step - 1e-12), 1 - levels // 2, levels // 2)
    return np.asarray((index - 0.5) * step, np.float32)


def hill_climbing(rows: NDArray[np.int64], k: int, rng: Rng) -> Play:
    """Flip one of k cells after the other, and keep what is said to be better than the best."""
    both = shares(cells(k, rng), rows, k)
    start = rng.choice([-1.0, 1.0], k)
    first = 0.5 + (start * both).sum(axis=1, keepdims=True) / 2
    flips = -start * both
    better = flips[0] > flips[1]
    best = np.hstack([first, first + np.cumsum(flips * better, axis=1)])
    averages, truths = np.hstack([best[:, :-1] + flips, best[:, -1:]])
    return Play(averages, truths, better)


ATTACKS: dict[str, Callable[[NDArray[np.int64], int, Rng], Play]] = {
    "one bit, pairs": pairs,
    "one bit, random queries": random_queries,
    "values, random queries": random_values,
    "hill-climbing": hill_climbing,
}


@dataclass(frozen=True)
class Verdict:
    """How one run ended."""

    missed: bool
    worst: float
    """The largest error of any query, by its half-width."""
    error: float
    width: float
    """Of the last query."""


def charged(play: Play, ledger: TranscriptLedger) -> list[Spent]:
    """Charge all that was told, and return what was spent before each query."""

    def told(turn: Turn) -> list[Spent]:
        spent = []
        for answer in play.answers.tolist():
            spent.append(turn.spent)
            if play.levels == 2:
                turn.bit(answer)
            else:
                turn.value(play.levels)
        return [*spent, turn.spent]

    return ledger.turn(told)


def judged(play: Play, spent: list[Spent], ledger: TranscriptLedger) -> Verdict:
    """Compare every query with its half-width, and the closest one with its interval."""
    widths = np.array([ledger.halfwidth_after(s) for s in spent])
    errors = np.abs(play.averages - play.truths)
    ratios = errors / widths
    closest = int(np.argmax(ratios))
    low, high = ledger.interval_after(spent[closest], float(play.averages[closest]))
    inside = low <= play.truths[closest] <= high
    missed = bool((ratios > 1).any()) or not inside
    return Verdict(missed, float(ratios.max()), float(errors[-1]), float(widths[-1]))


@dataclass(frozen=True)
class Cell:
    """Runs of one attack on one kind of rows."""

    attack: str
    rows: int
    sizes: tuple[tuple[int, int], ...]
    seed: tuple[int, ...]

    def run(self) -> list[tuple[Verdict, Verdict]]:
        """Return for each run the verdict, and that of rows declared independent."""
        rng, kind, found = np.random.default_rng(self.seed), ROWS[self.rows], []
        for n, k in self.sizes:
            play = ATTACKS[self.attack](kind.draw(n, rng), k, rng)
            ledger = TranscriptLedger(n, confidence=1 - BETA, dependence=kind.dependence)
            spent = charged(play, ledger)
            right = judged(play, spent, ledger)
            wrong = (
                judged(play, spent, TranscriptLedger(n, confidence=1 - BETA))
                if self.rows
                else right
            )
            found.append((right, wrong))
        return found


def batches(runs: int) -> Iterator[Cell]:
    """Yield all runs of the coverage table, a few at a time."""
    sizes = list(islice(cycle(SIZES), runs))
    for i, (attack, rows) in enumerate(product(ATTACKS, range(len(ROWS)))):
        for j in range(0, runs, BATCH):
            yield Cell(attack, rows, tuple(sizes[j : j + BATCH]), (2026, i, j))


def tight_batches(runs: int) -> Iterator[Cell]:
    """Yield the runs that compare half-widths with what attacks achieve."""
    for i, (attack, size) in enumerate(product(list(ATTACKS)[:2], TIGHT)):
        for j in range(runs):
            yield Cell(attack, 0, (size,), (2027, i, j))


def most_likely(missed: int, runs: int) -> float:
    """Return the rate that so few misses refute at the level 0.001 (Clopper and Pearson)."""
    from scipy.special import betaincinv

    return float(betaincinv(missed + 1, runs - missed, 0.999)) if missed < runs else 1.0


def coverage(found: Found) -> tuple[Table, bool]:
    """Return the table of misses and whether it is as it should be."""
    table = Table(title=f"Runs with any miss among all queries; beta {BETA}")
    for word in ("attack", "rows", "runs", "missed", "at most", "worst", "declared iid", ""):
        table.add_column(word)
    fine = True
    for attack, rows in product(ATTACKS, range(len(ROWS))):
        right, wrong = columns(found, attack, rows)
        missed, runs = sum(v.missed for v in right), len(right)
        lost = sum(v.missed for v in wrong) / runs
        good = missed <= BETA * runs and (rows != 2 or lost >= VISIBLE)
        fine &= good
        table.add_row(
            attack, ROWS[rows].name, str(runs), str(missed), f"{most_likely(missed, runs):.4f}",
            f"{max(v.worst for v in right):.2f}", f"{lost:.1%} miss" if rows else "",
            "" if good else "BROKEN",
        )  # fmt: skip
    return table, fine


def columns(found: Found, attack: str, rows: int) -> tuple[list[Verdict], list[Verdict]]:
    """Return the verdicts of one attack on one kind of rows, right and wrong."""
    both = [v for c, vs in found.items() if (c.attack, c.rows) == (attack, rows) for v in vs]
    return [right for right, _ in both], [wrong for _, wrong in both]


def tightness(found: Found) -> tuple[Table, bool]:
    """Return the table of half-widths against attacks and whether they are close."""
    table = Table(title="Half-width of the last query, and its error; independent rows, medians")
    for word in ("attack", "n", "k", "error", "half-width", "ratio", ""):
        table.add_column(word)
    fine = True
    for attack, size in product(list(ATTACKS)[:2], TIGHT):
        runs = [right for c, vs in found.items() for right, _ in vs
                if (c.attack, c.sizes) == (attack, (size,))]  # fmt: skip
        error, width, ratio = (
            float(np.median(x))
            for x in zip(*((v.error, v.width, v.width / v.error) for v in runs), strict=True)
        )
        good = ratio <= RATIO
        fine &= good
        table.add_row(
            attack, f"{size[0]}", f"{size[1]}", f"{error:.4f}", f"{width:.4f}", f"{ratio:.2f}",
            "" if good else "BROKEN",
        )  # fmt: skip
    return table, fine


def drawn(found: Found, path: Path) -> None:
    """Draw the largest error of each run by its half-width, right and wrong."""
    figure, axes = figures.canvas(8.0, 4.6)
    axes.axvline(1, color=figures.GREY, lw=0.8, zorder=1)
    labels = [(a, r) for r in range(len(ROWS)) for a in ATTACKS]
    for y, (attack, rows) in enumerate(reversed(labels)):
        right, wrong = columns(found, attack, rows)
        strips = [(right, figures.BLUE, 0.12)] + [(wrong, figures.RED, -0.12)] * (rows > 0)
        for verdicts, colour, shift in strips:
            worst = np.sort([v.worst for v in verdicts])
            middle = np.quantile(worst, [0.05, 0.5, 0.95])
            axes.plot(worst[[0, -1]], [y + shift] * 2, color=colour, lw=1, alpha=0.5)
            axes.plot(middle[[0, 2]], [y + shift] * 2, color=colour, lw=4, solid_capstyle="butt")
            axes.plot(middle[1], y + shift, "o", color="white", mec=colour, ms=5)
    axes.set_yticks(range(len(labels)), [f"{ROWS[r].name}: {a}" for a, r in reversed(labels)])
    axes.set_xlim(0, None)
    axes.set_xlabel(
        "largest error of all queries of a run, in certified half-widths", color=figures.INK
    )
    for colour, label in ((figures.BLUE, "rightly declared"), (figures.RED, "declared iid")):
        axes.plot([], [], color=colour, lw=4, label=label)
    title = "Adversaries against the ledger"
    axes.set_title(title, loc="left", color=figures.INK, fontsize=11, pad=22)
    axes.annotate(
        f"{len(right)} runs each: median, 5% to 95%, all", (0, 1), (0, 6), fontsize=8,
        xycoords="axes fraction", textcoords="offset points", color=figures.GREY, va="bottom",
    )  # fmt: skip
    figures.legend(axes)
    figure.savefig(path)


def computed(jobs: int, work: list[Cell]) -> Found:
    """Run all batches, with a bar."""
    found: Found = {}
    with Progress(console=Console(stderr=True)) as bar, ProcessPoolExecutor(jobs) as pool:
        task = bar.add_task("attacking", total=len(work))
        futures = {pool.submit(cell.run): cell for cell in work}
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            bar.advance(task)
    return {cell: found[cell] for cell in work}


def main() -> int:
    """Run, print, draw, and say whether all targets hold."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--runs", type=int, default=2000, help="of each attack on each kind")
    reader.add_argument("--tight", type=int, default=20, help="runs of each size for the ratio")
    reader.add_argument("--jobs", type=int, default=2)
    reader.add_argument("--out", type=Path, default=OUT)
    given = reader.parse_args()
    covered = computed(given.jobs, list(batches(given.runs)))
    close = computed(given.jobs, list(tight_batches(given.tight)))
    tables = [coverage(covered), tightness(close)]
    console = Console(width=110, record=True)
    for table, _ in tables:
        console.print(table)
    given.out.mkdir(exist_ok=True)
    text = f"# Adversaries against the ledger\n\n```\n{console.export_text()}```\n"
    (given.out / "adversaries.md").write_text(text)
    drawn(covered, given.out / "adversaries.png")
    return 0 if all(fine for _, fine in tables) else 1


if __name__ == "__main__":
    sys.exit(main())
