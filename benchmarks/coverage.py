"""Whether intervals cover and planned errors come true, by simulation.

Run ``python benchmarks/coverage.py`` (``--runs 400`` for a rough look, ``--jobs 2`` for two
processes, ``--only deciles`` for the rows whose name holds a word). The exit status is 1 if a
target is missed. A Markdown copy goes to ``benchmarks/out/coverage.md``.

* *Cover*: of the 95% intervals at least 95% hold the truth, less six standard errors. Several
  numbers count as covered if all are. The truth of a q-quantile is record number ceil(qn) of the
  clamped and snapped records.
* *Width*: the median width is at most 1.6 times (quantiles: 2.5 times) that of the shortest
  interval [value - a, value + b], a and b fixed, that would have covered 95% of these runs.
  Several numbers share one tail probability, and the ratio is the geometric mean of theirs: that
  of the boxes' volumes, per side. Quantiles lie on a lattice: their intervals are measured in
  lattice points.
* *Plan*: the planned error is 1 to 1.3 times the 95% quantile of the simulated ones, as it comes
  out, no allowance being made for the runs; with the epsilon planned for an error at most 5% pass
  that, with 0.7 of it more. Data is fresh in every run, and the number of records varies by a
  tenth.

A cell that takes longer than ``--seconds`` ends with fewer runs, and is judged by as many.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, sqrt
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import sourdine as sd
from sourdine.central import Count, Histogram, Mean, Statistic, Sum, Variance
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

Floats = NDArray[np.float64]
LEVEL, MISS = 0.95, 0.05
DECILES = tuple(Fraction(i, 10) for i in range(1, 10))
RELATIONS = ("add_remove", "substitute")
NUMBERS = (200, 100_000)


@dataclass(frozen=True)
class Data:
    """A law to draw records from, with public bounds and step."""

    name: str
    draw: Callable[[np.random.Generator, int], Floats]
    bounds: tuple[int, int]
    step: int | None = None


def uniform(rng: np.random.Generator, n: int) -> Floats:
    """Return records spread evenly over 0 to 1000."""
    return rng.uniform(0, 1000, n)


def salaries(rng: np.random.Generator, n: int) -> Floats:
    """Return lognormal records rounded to hundreds."""
    return np.round(rng.lognormal(10.5, 0.6, n), -2)


def one_value(rng: np.random.Generator, n: int) -> Floats:
    """Return records of which nine in ten are 300, the others spread evenly."""
    return np.where(rng.uniform(size=n) < 0.9, 300.0, rng.uniform(0, 1000, n))


DATA = (
    Data("uniform", uniform, (0, 1000)),
    Data("salaries", salaries, (0, 500_000), 100),
    Data("one value", one_value, (0, 1000)),
)


def snapped(statistic: Statistic, x: Floats) -> Floats:
    """Return the records as the lattice knows them."""
    grid = statistic.grid  # type: ignore[attr-defined]
    return np.asarray(grid.values(grid.ticks(x)), float)


def order_statistics(statistic: Quantiles, x: Floats) -> Floats:
    """Return the sample's quantiles."""
    ranked = np.sort(snapped(statistic, x))
    return np.array([ranked[ceil(q * len(x)) - 1] for q in statistic.orders])


def asked(name: str, data: Data, relation: str) -> tuple[Statistic, Callable[[Floats], object]]:
    """Return a statistic by its name, and what gives its truth."""
    common: dict[str, Any] = {"epsilon": 1, "relation": relation}
    on_grid: dict[str, Any] = {**common, "bounds": data.bounds, "step": data.step}
    if name == "count":
        return Count(**common), len
    if name in ("mean", "sum", "variance"):
        kinds: dict[str, type[Statistic]] = {"mean": Mean, "sum": Sum, "variance": Variance}
        statistic = kinds[name](**on_grid)
        reduce: Callable[[Floats], object] = {"mean": np.mean, "sum": np.sum, "variance": np.var}[
            name
        ]
        return statistic, lambda x: reduce(snapped(statistic, x))
    if name == "histogram":
        edges = np.linspace(*data.bounds, 11)
        histogram = Histogram(bins=10, bounds=data.bounds, **common)
        return histogram, lambda x: np.histogram(x, edges)[0]
    orders = (Fraction(1, 2),) if name == "median" else DECILES
    quantiles = Quantiles(q=orders, interval=LEVEL, **on_grid)
    return quantiles, lambda x: order_statistics(quantiles, x)


STATISTICS = ("mean", "count", "sum", "variance", "histogram", "median", "deciles")


@dataclass(frozen=True)
class Limits:
    """How long a cell runs, and with what seed."""

    runs: int
    seconds: float
    seed: int

    def turns(self) -> Iterator[int]:
        """Count the runs until there are enough, or the time is over."""
        end = monotonic() + self.seconds
        for i in range(self.runs):
            if i >= 20 and monotonic() > end:
                return
            yield i


@dataclass(frozen=True)
class Verdict:
    """A row of the table."""

    name: str
    runs: int
    measured: str
    target: str
    met: bool


def six_errors(runs: int) -> float:
    """Return six standard errors of a share of 5%."""
    return 6 * sqrt(LEVEL * MISS / runs)


def shortest(errors: Floats) -> Floats:
    """Return the widths of the shortest fixed intervals that cover 95% of the runs together."""
    if errors.shape[1] == 1:
        ranked = np.sort(errors[:, 0])
        held = ceil(LEVEL * len(ranked))
        return np.array([np.min(ranked[held - 1 :] - ranked[: len(ranked) - held + 1])])
    few, many = 0.0, MISS / 2
    for _ in range(30):
        tail = (few + many) / 2
        low, high = _box(errors, tail)
        inside = ((low <= errors) & (errors <= high)).all(axis=1).mean()
        few, many = (tail, many) if inside >= LEVEL else (few, tail)
    low, high = _box(errors, few)
    return high - low


def _box(errors: Floats, tail: float) -> tuple[Floats, Floats]:
    low = np.quantile(errors, tail, axis=0, method="lower")
    return low, np.quantile(errors, 1 - tail, axis=0, method="higher")


def width_ratio(widths: Floats, least: Floats, point: float) -> float:
    """Return how many times wider than the shortest intervals are; a lattice point counts."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (widths + point) / (least + point)
        ratios = np.where((widths == 0) & (least == 0), 1.0, ratios)
        return float(np.median(np.exp(np.log(ratios).mean(axis=1))))


def covered(name: str, data: Data, n: int, relation: str, limits: Limits) -> Verdict:
    """Simulate the intervals of one statistic on one data set."""
    statistic, truth_of = asked(name, data, relation)
    x = data.draw(np.random.default_rng(limits.seed), n)
    truth, frame = np.atleast_1d(np.asarray(truth_of(x), float)), Frame(x)
    source = SeededSource(limits.seed)
    values, lows, highs = [], [], []
    for _ in limits.turns():
        release = statistic.release(frame, source=source)
        low, high = release.interval(LEVEL)
        for column, new in ((values, release.value), (lows, low), (highs, high)):
            column.append(np.atleast_1d(np.asarray(new, float)))
    value, low, high = np.array(values), np.array(lows), np.array(highs)
    slack = 1e-9 * np.maximum(np.abs(truth), 1)
    hits = ((low <= truth + slack) & (truth - slack <= high)).all(axis=1).mean()
    quantiles = isinstance(statistic, Quantiles)
    point = float(statistic.grid.step) if quantiles else 0.0
    ratio = width_ratio(high - low, shortest(value - truth), point)
    most, least = (2.5 if quantiles else 1.6), LEVEL - six_errors(len(value))
    return Verdict(
        f"{name}, {data.name}, n = {n:,}, {relation}",
        len(value),
        f"covers {hits:.4f}, width {ratio:.2f}",
        f"{least:.4f}, {most}",
        bool(hits >= least and ratio <= most),
    )


def population(n: int, relation: str, limits: Limits) -> Verdict:
    """Simulate intervals for the mean of the law that fresh records are drawn from."""
    statistic = Mean(bounds=(0, 1000), epsilon=1, relation=relation)
    rng, source, hits = np.random.default_rng(limits.seed), SeededSource(limits.seed), []
    for _ in limits.turns():
        release = statistic.release(Frame(uniform(rng, n)), source=source)
        low, high = release.interval(LEVEL, of="population")
        hits.append(low <= 500 <= high)
    least = LEVEL - six_errors(len(hits))
    name = f"mean of the population, uniform, n = {n:,}, {relation}"
    return Verdict(
        name, len(hits), f"covers {np.mean(hits):.4f}", f"{least:.4f}", bool(np.mean(hits) >= least)
    )


def planned(kind: str, relation: str, n: int, **sizes: object) -> sd.plan.Plan:
    """Plan a statistic of uniform records, for an epsilon or an error."""
    common: dict[str, Any] = {"relation": relation, **sizes}
    if kind == "count":
        return sd.plan.count(**common)
    common["bounds"] = (0, 1000)
    if kind == "histogram":
        return sd.plan.histogram(bins=10, **common)
    if kind == "mean":
        return sd.plan.mean(n=n, **common)
    m = int(kind.split(maxsplit=1)[0])
    return sd.plan.quantiles([Fraction(i, m + 1) for i in range(1, m + 1)], n=n, **common)


def error_of(statistic: Statistic, x: Floats, source: SeededSource) -> float:
    """Release once and return the error, of the kind that is planned."""
    release = statistic.release(Frame(x), source=source)
    if isinstance(statistic, Count):
        return abs(float(release.value) - len(x))
    if isinstance(statistic, Mean):
        return abs(float(release.value) - snapped(statistic, x).mean())
    if isinstance(statistic, Histogram):
        return float(np.abs(release.value - np.histogram(x, np.linspace(0, 1000, 11))[0]).max())
    ticks = np.sort(statistic.grid.ticks(x))  # type: ignore[attr-defined]
    drawn = statistic.grid.ticks(np.atleast_1d(release.value))  # type: ignore[attr-defined]
    below, up_to = ticks.searchsorted(drawn, "left"), ticks.searchsorted(drawn, "right")
    goal = np.array([float(q) for q in statistic.q]) * len(x)  # type: ignore[attr-defined]
    return float(np.maximum(np.maximum(below - goal, goal - up_to), 0).max()) / len(x)


def errors_of(statistic: Statistic, n: int, limits: Limits) -> Floats:
    """Release many times, on fresh records each time."""
    rng, source = np.random.default_rng(limits.seed), SeededSource(limits.seed)
    numbers = (int(rng.integers(n - n // 20, n + n // 20)) for _ in limits.turns())
    return np.array([error_of(statistic, uniform(rng, number), source) for number in numbers])


def planned_error(kind: str, relation: str, n: int, limits: Limits) -> Verdict:
    """Compare the planned error with simulated ones."""
    plan = planned(kind, relation, n, epsilon=1)
    errors = errors_of(plan.statistic, n, limits)
    passed, near = (errors > plan.error).mean(), (errors >= plan.error / 1.3).mean()
    ratio = plan.error / float(np.quantile(errors, LEVEL)) if errors.any() else inf
    return Verdict(
        f"planned error, {kind}, n = {n:,}, {relation}",
        len(errors),
        f"{ratio:.3f} times; {passed:.3f} pass it, {near:.3f} pass it / 1.3",
        "1 to 1.3 times",
        bool(1 <= ratio <= 1.3),
    )


TARGETS = {"count": 10, "mean": 5, "histogram": 20, "1": 0.002, "9": 0.004, "99": 0.01}


def planned_epsilon(kind: str, relation: str, n: int, limits: Limits) -> Verdict:
    """See whether the planned epsilon reaches its target, and 0.7 of it does not."""
    target = TARGETS[kind.split(maxsplit=1)[0]]
    plan = planned(kind, relation, n, error=target)
    enough = errors_of(plan.statistic, n, limits)
    less = errors_of(plan.statistic_at(plan.epsilon * Fraction(7, 10)), n, limits)
    passed, short = (enough > target).mean(), (less > target).mean()
    return Verdict(
        f"planned epsilon, {kind}, n = {n:,}, {relation}",
        len(enough),
        f"epsilon {float(plan.epsilon):.4g}: {passed:.3f} pass the target, {short:.3f} at 0.7",
        f"at most {MISS:.3f}, above it",
        bool(passed <= MISS < short),
    )


KINDS = ("mean", "count", "histogram", "1 quantile", "9 quantiles", "99 quantiles")
Job = tuple[str, Callable[..., Verdict], tuple[object, ...]]


def jobs() -> list[Job]:
    """Return every cell: its name, the function and the arguments before the limits."""
    out: list[Job] = []
    for n in NUMBERS:
        for relation in RELATIONS:
            for data in DATA:
                for name in STATISTICS:
                    label = f"{name} {data.name} {n} {relation}"
                    out.append((label, covered, (name, data, n, relation)))
    out += [
        (f"population {n} {relation}", population, (n, relation))
        for n in (200, 10_000)
        for relation in RELATIONS
    ]
    for kind in KINDS:
        for relation in RELATIONS:
            out.append(
                (f"planned error {kind} {relation}", planned_error, (kind, relation, 20_000))
            )
            out.append(
                (f"planned epsilon {kind} {relation}", planned_epsilon, (kind, relation, 20_000))
            )
    return out


def run(wanted: list[Job], limits: Limits, processes: int, console: Console) -> list[Verdict]:
    """Simulate all cells, in the order given."""
    with Progress(console=console) as progress:
        if processes == 1:
            tracked = progress.track(wanted, description="cells")
            verdicts = []
            for _, call, arguments in tracked:
                verdicts.append(call(*arguments, limits))
                progress.console.print("  ".join(lines(verdicts[-1:])[0]))
            return verdicts
        task = progress.add_task("cells", total=len(wanted))
        with ProcessPoolExecutor(processes) as pool:
            futures = [pool.submit(call, *arguments, limits) for _, call, arguments in wanted]
            for _ in as_completed(futures):
                progress.advance(task)
        return [future.result() for future in futures]


HEADER = ("what", "runs", "measured", "target", "verdict")


def lines(verdicts: list[Verdict]) -> list[tuple[str, ...]]:
    """Return the texts of the table."""
    return [
        (v.name, f"{v.runs:,}", v.measured, v.target, "met" if v.met else "MISSED")
        for v in verdicts
    ]


def main() -> int:
    """Simulate, print, write, and judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 170)
    wanted = [job for job in jobs() if options.only in job[0]]
    limits = Limits(options.runs, options.seconds, options.seed)
    verdicts = run(wanted, limits, options.jobs, console)
    table = Table(*HEADER, title="Coverage and plans")
    for line in lines(verdicts):
        table.add_row(*line)
    console.print(table)
    if not options.only:
        out = Path(__file__).parent / "out" / "coverage.md"
        out.parent.mkdir(exist_ok=True)
        rows = "\n".join("| " + " | ".join(line) + " |" for line in (HEADER, ("---",) * 5))
        rows += "\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines(verdicts))
        out.write_text(f"# Coverage and plans\n\n{rows}\n", encoding="utf-8")
    return 0 if all(v.met for v in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
