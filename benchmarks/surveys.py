"""Whether surveys are unbiased and their intervals cover and are short, by simulation.

Run ``python benchmarks/surveys.py`` (``--runs 400`` for a rough look, ``--only subset`` for the
rows whose name holds a word). The exit status is 1 if a target is missed. A Markdown copy of a
full run goes to ``benchmarks/out/surveys.md``.

Every row is one randomiser, one epsilon and one number of people. In each run fresh people are
drawn from a law, they report, and shares, a mean or quartiles are estimated with 95% intervals.
The truth is that of the people at hand (*sample*) or of the law (*population*). Of several numbers
the worst counts.

* *Bias*: the mean error is at most 5 standard errors.
* *Cover*: at least 95% of the intervals hold the truth, less 5 standard errors.
* *Width*: the median width is at most 1.4 times that of the shortest interval estimate - c to
  estimate + c, c fixed, that would have covered 95% of these runs.

Quartiles are judged by their cover alone, all three together: no claim is made for their bias, and
their intervals assume nothing of the law.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.grid import Grid
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.estimators.distribution import quantiles
from sourdine.local.estimators.frequencies import frequencies
from sourdine.local.estimators.means import mean
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import piecewise, square_wave
from sourdine.mechanisms.randomized_response import RandomizedResponse, Warner
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.results.release import Release

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
OF = ("sample", "population")
LEVEL, MISS, ERRORS, WIDEST = 0.95, 0.05, 5.0, 1.4
EPSILONS, PEOPLE = (0.2, 1.0, 4.0), (50, 200)
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.04, 0.03, 0.02, 0.01])
YES = np.array([0.95, 0.05])
GRID = Grid(0, 100, step=1)
AGES = np.exp(-(((np.arange(101) - 35) / 22) ** 2))
"""A law of ages, up to a factor: a hump to the left."""
COARSE = Grid(0, 20, step=1)
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Surveys:
    """Many surveys: estimates, truths and the ends of intervals, a row for each run."""

    value: Floats
    truth: dict[str, Floats]
    ends: dict[str, tuple[Floats, Floats]]
    joint: bool = False


@dataclass(frozen=True)
class Question:
    """A number that people are asked for, and what is estimated."""

    law: Floats
    estimate: Callable[[Any, Ints], Release]
    truth: Callable[[Floats], Floats]
    joint: bool = False


@dataclass(frozen=True)
class Verdict:
    """A row of the table."""

    name: str
    texts: tuple[str, ...]
    met: bool


def answers(law: Floats, n: int, runs: int, seed: int) -> Ints:
    """Draw the people of every run."""
    rng = np.random.default_rng(seed)
    return rng.choice(len(law), (runs, n), p=law / law.sum())


def tallies(randomiser: Any, codes: Ints, seed: int) -> list[Ints]:
    """Let everybody report, and tally each run."""
    reports = randomiser.randomise(codes.ravel(), source=SeededSource(seed))
    return [randomiser.tally(part) for part in np.split(reports, len(codes))]


def counts(codes: Ints, k: int) -> Floats:
    """Return how many people of each run gave each answer."""
    return np.array([np.bincount(row, minlength=k) for row in codes], float)


def of_shares(law: Floats, oracle: Any, n: int, runs: int, seed: int) -> Surveys:
    """Survey a category."""
    codes = answers(law, n, runs, seed)
    releases = [frequencies(oracle, t, n) for t in tallies(oracle, codes, seed)]
    every = replace(releases[0], drawn={"support": [r.drawn["support"] for r in releases]})
    held = counts(codes, len(law)) / n
    return Surveys(
        value=np.array([r.value for r in releases]),
        truth={"sample": held, "population": np.broadcast_to(law, held.shape)},
        ends={of: every.interval(LEVEL, of=of) for of in OF},
    )


def of_numbers(asked: Question, report: Any, n: int, runs: int, seed: int) -> Surveys:
    """Survey a number."""
    codes = answers(asked.law, n, runs, seed)
    releases = [asked.estimate(report, t) for t in tallies(report, codes, seed)]
    held = np.array([asked.truth(row) for row in counts(codes, len(asked.law))])
    ends = {
        of: np.array([np.reshape(r.interval(LEVEL, of=of), (2, -1)) for r in releases]) for of in OF
    }
    return Surveys(
        value=np.array([np.atleast_1d(r.value) for r in releases], float),
        truth={"sample": held, "population": np.broadcast_to(asked.truth(asked.law), held.shape)},
        ends={of: (pairs[:, 0], pairs[:, 1]) for of, pairs in ends.items()},
        joint=asked.joint,
    )


def mean_of(weights: Floats) -> Floats:
    """Return the mean of 0, 1, 2 ... with these weights."""
    return np.atleast_1d(weights @ np.arange(len(weights)) / weights.sum())


def quartiles_of(weights: Floats) -> Floats:
    """Return the least of 0, 1, 2 ... with a quarter, a half ... of the weight at or below."""
    return np.searchsorted(np.cumsum(weights), np.array(QUARTILES) * weights.sum()).astype(float)


def cover(surveys: Surveys, of: str) -> float:
    """Return how often intervals hold their truths, the worst; or all of a run together."""
    (low, high), truth = surveys.ends[of], surveys.truth[of]
    held = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    return float(held.all(axis=1).mean() if surveys.joint else held.mean(axis=0).min())


def width(surveys: Surveys, of: str) -> float:
    """Return the worst median width, in shortest intervals about the estimate."""
    low, high = surveys.ends[of]
    off = np.abs(surveys.value - surveys.truth[of])
    shortest = 2 * np.quantile(off, LEVEL, axis=0, method="higher")
    return float((np.median(high - low, axis=0) / shortest).max())


def judged(name: str, surveys: Surveys) -> Verdict:
    """Compare with the targets."""
    runs = len(surveys.value)
    off = surveys.value - surveys.truth["sample"]
    bias = float((np.abs(off.mean(axis=0)) / (off.std(axis=0) / sqrt(runs))).max())
    covers, widths = [cover(surveys, of) for of in OF], [width(surveys, of) for of in OF]
    met = min(covers) >= LEVEL - ERRORS * sqrt(LEVEL * MISS / runs)
    if not surveys.joint:
        met = met and bias <= ERRORS and max(widths) <= WIDEST
    texts = (f"{bias:.2f}", *(f"{c:.4f}" for c in covers), *(f"{w:.2f}" for w in widths))
    return Verdict(name, texts, met)


ORACLES: dict[str, Callable[..., Any]] = {
    "response": RandomizedResponse,
    "unary": UnaryEncoding,
    "symmetric unary": partial(UnaryEncoding, method="symmetric"),
    "hashing": LocalHashing,
    "hadamard": HadamardResponse,
    "subset": SubsetSelection,
}
NUMBERS: dict[str, Callable[[float], Any]] = {
    "duchi": lambda e: Duchi(epsilon=e, last=GRID.last),
    "piecewise": lambda e: piecewise(e, GRID.last),
    "hybrid": lambda e: HybridReport(epsilon=e, last=GRID.last),
    "square wave": lambda e: square_wave(e, GRID.last),
}
MEAN = Question(AGES, lambda report, tally: mean(report, tally, GRID), mean_of)
DIVIDED = Question(
    AGES[::5],
    lambda report, tally: quantiles(report, tally, COARSE, QUARTILES),
    quartiles_of,
    joint=True,
)


def jobs() -> dict[str, Callable[[int, int], Surveys]]:
    """Return every row: its name, and what simulates it for a number of runs and a seed."""
    out: dict[str, Callable[[int, int], Surveys]] = {}
    for n, e in product(PEOPLE, EPSILONS):
        at = f"epsilon {e:g}, n = {n}"
        out[f"share by warner, {at}"] = partial(of_shares, YES, Warner.optimum(e), n)
        for name, make in ORACLES.items():
            oracle = make(epsilon=e, categories=len(SHARES))
            out[f"shares by {name}, {at}"] = partial(of_shares, SHARES, oracle, n)
        for name, build in NUMBERS.items():
            out[f"mean by {name}, {at}"] = partial(of_numbers, MEAN, build(e), n)
    for e in EPSILONS[1:]:
        wave = partial(of_numbers, DIVIDED, square_wave(e, COARSE.last), 200)
        out[f"quartiles by square wave, epsilon {e:g}, n = 200"] = wave
    return out


HEADER = ("survey", "bias / s.e.", "cover", "of population", "width", "of population", "verdict")


def lines(verdicts: list[Verdict]) -> list[tuple[str, ...]]:
    """Return the texts of the table."""
    return [(v.name, *v.texts, "met" if v.met else "MISSED") for v in verdicts]


def main() -> int:
    """Simulate, print, write, and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    verdicts = []
    with Progress(console=console) as progress:
        wanted = [job for job in jobs().items() if options.only in job[0]]
        for name, simulate in progress.track(wanted, description="surveys"):
            verdicts.append(judged(name, simulate(options.runs, options.seed)))
            progress.console.print("  ".join(lines(verdicts[-1:])[0]))
    table = Table(*HEADER, title=f"{options.runs} surveys a row")
    for line in lines(verdicts):
        table.add_row(*line)
    console.print(table)
    if not options.only:
        out = Path(__file__).parent / "out" / "surveys.md"
        rows = [HEADER, ("---",) * len(HEADER), *lines(verdicts)]
        text = "\n".join("| " + " | ".join(line) + " |" for line in rows)
        out.write_text(f"# {options.runs} surveys a row\n\n{text}\n", encoding="utf-8")
    return 0 if all(v.met for v in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
