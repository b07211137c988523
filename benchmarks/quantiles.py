"""How fast and how right quantiles are, beside np.sort, np.quantile, OpenDP and diffprivlib.

Run ``python benchmarks/quantiles.py`` (``--quick`` for a rough look) where the peers are installed.
All candidates take turns in one process; times are medians of process CPU time, end to end from a
NumPy array of uniform records. The exit status is 1 if a target is missed. A Markdown copy goes to
``benchmarks/out/quantiles.md``.

The rank error of a released tick is the distance of qn from the ranks of its cell: 0 between the
number of records below the cell and the number up to it. Epsilon is the total of a call. The peers
release one quantile a call, so they make m calls with an m-th of epsilon each: OpenDP
``make_private_quantile`` over 1000 evenly spaced candidates, diffprivlib ``tools.quantile``.
A call that takes seconds (diffprivlib on a million records) is made only once. Differences of a few
percent, and lower bounds for every mechanism, are measured by ``benchmarks/quantile_bounds.py``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from platform import machine, python_version
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import sourdine as sd
from record import Beside, write

Floats = NDArray[np.float64]
Call = Callable[[], object]
OURS, SORT, NUMPY, OPENDP, DIFFPRIVLIB = (
    "Sourdine", "np.sort", "np.quantile", "OpenDP", "diffprivlib",
)  # fmt: skip
CANDIDATES = 1000
SLOW = 2.0
"""A call that takes more seconds is made only once."""


def orders(m: int) -> list[float]:
    """Return m equally spaced orders."""
    return [i / (m + 1) for i in range(1, m + 1)]


@dataclass(frozen=True)
class Line:
    """A row of the table: what was measured, of whom, and whether it is as promised."""

    what: str
    ours: str
    peer: str
    ratio: float | None
    target: str
    met: bool | None
    beside: Beside | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the row."""
        ratio = "-" if self.ratio is None else f"{self.ratio:,.3g}"
        verdict = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        return (self.what, self.ours, self.peer, ratio, self.target, verdict)


HEADER = ("what", "Sourdine", "peer", "ratio", "target", "verdict")


@dataclass(frozen=True)
class Ranked:
    """Data whose rank errors are measured, and what is promised of them."""

    name: str
    m: int
    most: float
    n: int = 200_000
    epsilon: float = 1.0
    relation: str = "add_remove"
    bounds: tuple[int, int] = (0, 1)
    step: int | None = None
    law: str = "uniform"

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return fresh records."""
        if self.law == "salaries":
            return np.round(rng.lognormal(10.5, 0.6, self.n), -2)
        if self.law == "normal":
            return rng.normal(size=self.n)
        return rng.uniform(size=self.n)

    def errors(self, x: Floats) -> Floats:
        """Release once and return the rank error of every quantile."""
        release = sd.quantiles(
            x, orders(self.m), bounds=self.bounds, step=self.step,
            epsilon=self.epsilon, relation=self.relation, interval=None,
        )  # fmt: skip
        grid = release.grid
        ticks, drawn = np.sort(grid.ticks(x)), grid.ticks(np.atleast_1d(release.value))
        below, up_to = ticks.searchsorted(drawn, "left"), ticks.searchsorted(drawn, "right")
        goal = np.array(orders(self.m)) * len(x)
        return np.maximum(np.maximum(below - goal, goal - up_to), 0)

    def measure(self, rounds: int) -> Line:
        """Return the mean rank error over all quantiles and rounds, on a few data sets."""
        rng = np.random.default_rng(1)
        seen = []
        for _ in range(5):
            x = self.draw(rng)
            seen += [self.errors(x).mean() for _ in range(rounds // 5)]
        scale = self.epsilon if self.law != "normal" else 1
        mean = float(np.mean(seen)) * scale
        unit = "rank MAE" if scale == 1 and self.law == "normal" else "rank MAE x epsilon"
        ours = f"{mean:.2f} ± {float(np.std(seen)) * scale / len(seen) ** 0.5:.2f}"
        return Line(f"{unit}, {self.name}", ours, "-", None, f"<= {self.most}", mean <= self.most)


RANKS = (
    Ranked("uniform, m = 1", 1, 1.05),
    Ranked("uniform, m = 9", 9, 3.2),
    Ranked("uniform, m = 31", 31, 5.9),
    Ranked("uniform, m = 99", 99, 8.2),
    Ranked("uniform, m = 9, substitution", 9, 6.5, relation="substitute"),
    Ranked("salaries, m = 9", 9, 1.0, bounds=(0, 500_000), step=100, law="salaries"),
    Ranked("salaries, m = 99", 99, 1.0, bounds=(0, 500_000), step=100, law="salaries"),
    Ranked(
        "normal, n = 1000, m = 99, epsilon 0.1", 99, 40, 1000, 0.1,
        bounds=(-10, 10), law="normal",
    ),
)  # fmt: skip


def timed(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Let all take turns; return the median CPU seconds of each."""
    seen: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            if seen[name] and seen[name][0] > SLOW:
                continue
            start = process_time()
            call()
            seen[name].append(process_time() - start)
    return {name: median(times[1:] or times) for name, times in seen.items()}


def ours(x: Floats, m: int, epsilon: float) -> Call:
    """Return a whole call."""
    return lambda: sd.quantiles(x, orders(m), bounds=(0, 1), epsilon=epsilon, interval=None)


def opendp(x: Floats, m: int, epsilon: float) -> Call | None:
    """Return m calls of OpenDP, if it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    candidates = [i / (CANDIDATES - 1) for i in range(CANDIDATES)]
    made = []
    for q in orders(m):
        scale = dp.binary_search_param(
            lambda s, q=q: dp.m.make_private_quantile(
                *space, dp.max_divergence(), candidates, q, s
            ),
            d_in=1,
            d_out=epsilon / m,
            T=float,
        )
        made.append(dp.m.make_private_quantile(*space, dp.max_divergence(), candidates, q, scale))
    return lambda: [mechanism(x) for mechanism in made]


def diffprivlib(x: Floats, m: int, epsilon: float) -> Call | None:
    """Return m calls of diffprivlib, if it is installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from diffprivlib import tools
    except ImportError:
        return None

    def call() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for q in orders(m):
                tools.quantile(x, q, epsilon=epsilon / m, bounds=(0.0, 1.0))

    return call


@dataclass(frozen=True)
class Timed:
    """A job, the peers it is timed beside, and by what factor each must be slower."""

    n: int
    m: int
    epsilon: float
    slower: dict[str, float]

    def calls(self) -> dict[str, Call]:
        """Return what takes turns."""
        x = np.random.default_rng(2).uniform(size=self.n)
        known: dict[str, Call | None] = {OURS: ours(x, self.m, self.epsilon)}
        for peer in self.slower:
            if peer == SORT:
                known[peer] = lambda: np.sort(x)
            elif peer == NUMPY:
                known[peer] = lambda: np.quantile(x, orders(self.m))
            else:
                known[peer] = {OPENDP: opendp, DIFFPRIVLIB: diffprivlib}[peer](
                    x, self.m, self.epsilon
                )
        return {name: call for name, call in known.items() if call is not None}

    def measure(self, rounds: int) -> list[Line]:
        """Return a row for each peer."""
        seconds = timed(self.calls(), rounds)
        return [self._line(peer, seconds) for peer in self.slower]

    def _line(self, peer: str, seconds: dict[str, float]) -> Line:
        what = f"time, n = {self.n:,}, m = {self.m}, epsilon {self.epsilon:g}: {peer}"
        mine, factor = f"{seconds[OURS] * 1e3:.2f} ms", self.slower[peer]
        part = peer in (SORT, NUMPY)
        target = f"<= {1 / factor:g} of its time" if part else f">= {factor:g} times faster"
        if peer not in seconds:
            return Line(what, mine, "not installed", None, target, None)
        ratio = seconds[peer] / seconds[OURS]
        shown = 1 / ratio if part else ratio
        theirs, met = f"{seconds[peer] * 1e3:,.2f} ms", ratio >= factor
        job = f"{self.m} of {self.n:,} records"
        times = Beside(
            "quantiles", job, peer, seconds[OURS] * 1e3, seconds[peer] * 1e3, "ms a call", met
        )
        return Line(what, mine, theirs, shown, target, met, times)


MILLION = 10**6
TIMES = (
    Timed(MILLION, 1, 1, {SORT: 1 / 0.2, NUMPY: 1}),
    Timed(MILLION, 9, 1, {SORT: 1 / 0.4, NUMPY: 1, OPENDP: 15, DIFFPRIVLIB: 400}),
    Timed(MILLION, 99, 1, {SORT: 1 / 0.8, NUMPY: 1}),
    Timed(100_000, 9, 0.1, {SORT: 1 / 4}),
    Timed(1000, 9, 1, {OPENDP: 3, DIFFPRIVLIB: 3}),
)


def markdown(lines: list[Line]) -> str:
    """Return the table as Markdown."""
    rows = [HEADER, ("---", *("---:",) * 5), *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> int:
    """Measure, print, write, and judge."""
    quick = "--quick" in sys.argv[1:]
    console = Console(width=None if sys.stdout.isatty() else 150)
    lines: list[Line] = []
    with Progress(console=console) as progress:
        for timing in progress.track(TIMES, description="time"):
            lines += timing.measure(5 if quick else 15)
        for ranked in progress.track(RANKS, description="rank errors"):
            lines.append(ranked.measure(20 if quick else 200))
    platform = f"{machine()}, Python {python_version()}, NumPy {np.__version__}, CPU time, median"
    table = Table(*HEADER, title=f"Quantiles ({platform})")
    for line in lines:
        table.add_row(*line.cells())
    console.print(table)
    out = Path(__file__).parent / "out" / "quantiles.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text(f"# Quantiles\n\n{platform}\n\n{markdown(lines)}\n", encoding="utf-8")
    write("quantiles", [line.beside for line in lines if line.beside], quick=quick)
    return 1 if any(line.met is False for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
