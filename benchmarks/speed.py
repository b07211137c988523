"""Time of whole calls on data in memory, beside the same question without privacy and with peers.

Run ``python benchmarks/speed.py`` (``--quick`` for a rough look) where the peers are installed. All
candidates of a row take turns in one process; times are medians of process CPU time in
milliseconds, with bounds given and floats in memory unless the row says otherwise. The exit status
is 1 if a target is missed. A Markdown copy goes to ``benchmarks/out/speed.md``.

NumPy and pandas answer the same question without privacy. Peers: diffprivlib's ``tools`` and
``Geometric``, its noise on whole numbers; OpenDP's clamp, resize and mean, find_bin and
count_by_categories, and Laplace noise on a whole number. The rows with ``interval=None`` release
quantiles without their intervals, as peers do. The last rows are the share of one thread's time
that all of them take, on the clock and in processor time of the longest, which other programs
disturb least; before them what threads of NumPy's own arithmetic take, since processors that are
two halves of one core are not twice as fast; and how many counts a session answers in a second.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from platform import machine, python_version
from statistics import median
from threading import Thread
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import sourdine as sd
from record import Beside, write
from sourdine.frames.memory import Memory
from sourdine.mechanisms import Laplace

Call = Callable[[], object]
OURS, NUMPY, PANDAS, OPENDP, DIFFPRIVLIB = "Sourdine", "NumPy", "pandas", "OpenDP", "diffprivlib"
PEERS = (NUMPY, PANDAS, OPENDP, DIFFPRIVLIB)
DECILES = [i / 10 for i in range(1, 10)]
PERCENTILES = [i / 100 for i in range(1, 100)]
BETWEEN: dict[str, Any] = {"bounds": (0, 100), "epsilon": 1}
LONG = 0.2
"""A call that takes more seconds is not repeated as often."""


@dataclass
class Row:
    """One question: how each library answers it, and what is asked of ours."""

    name: str
    calls: dict[str, Call]
    most: float | None = None
    """Milliseconds that ours may take."""
    times: tuple[str, float] | None = None
    """A peer, and how many times its time ours may take."""
    found: dict[str, float] = field(default_factory=dict)

    def measure(self, rounds: int) -> None:
        """Let the libraries take turns; keep the median of each, in milliseconds."""
        taken: dict[str, list[float]] = {name: [] for name in self.calls}
        often = {name: max(1, min(200, int(0.02 / max(_once(call), 1e-6))))
                 for name, call in self.calls.items()}  # fmt: skip
        for turn in range(rounds):
            for name, call in self.calls.items():
                if turn > 2 and taken[name][0] > 1e3 * LONG:
                    continue
                start = process_time()
                for _ in range(often[name]):
                    call()
                taken[name].append(1e3 * (process_time() - start) / often[name])
        self.found = {name: median(own) for name, own in taken.items()}

    @property
    def targets(self) -> str:
        """What was asked, in words."""
        said = [] if self.most is None else [f"<= {self.most:g} ms"]
        said += [] if self.times is None else [f"<= {self.times[1]:g} x {self.times[0]}"]
        return ", ".join(said)

    @property
    def met(self) -> bool | None:
        """Whether all that was asked is so; None if nothing was."""
        ours, kept = self.found[OURS], []
        if self.most is not None:
            kept.append(ours <= self.most)
        if self.times is not None and self.times[0] in self.found:
            kept.append(ours <= self.times[1] * self.found[self.times[0]])
        return all(kept) if kept else None


def _once(call: Call) -> float:
    call()
    start = process_time()
    call()
    return process_time() - start


def rows(*, quick: bool) -> Iterator[Row]:
    """Yield the questions."""
    rng = np.random.default_rng(1)
    million, hundred, few = (rng.normal(50, 15, n) for n in (10**6, 10**5, 1000))
    dpl, opendp = _diffprivlib(), _opendp()
    yield Row(
        "mean of 1,000,000",
        {
            OURS: lambda: sd.mean(million, **BETWEEN),
            NUMPY: lambda: np.mean(million),
            **opendp("mean", million),
            **dpl("mean", million),
        },
        most=5,
        times=(NUMPY, 8),
    )
    calls = {OURS: lambda: sd.mean(few, **BETWEEN), NUMPY: lambda: np.mean(few)}
    yield Row("mean of 1,000", {**calls, **opendp("mean", few), **dpl("mean", few)}, most=0.12)
    calls = {OURS: lambda: sd.count(few, epsilon=1)}
    yield Row("count of 1,000", {**calls, **opendp("count", few)}, most=0.06)
    session = sd.Session(few, epsilon=10**6)
    calls = {OURS: lambda: session.count(epsilon=1)}
    yield Row("count of 1,000 in a session", {**calls, **opendp("count", few)})
    yield Row(
        "histogram of 1,000,000, 20 bins",
        {
            OURS: lambda: sd.histogram(million, bins=20, **BETWEEN),
            NUMPY: lambda: np.histogram(million, 20, (0, 100)),
            **opendp("histogram", million),
            **dpl("histogram", million),
        },
        times=(NUMPY, 1),
    )
    for x, most in ((million, 60), (few, 4)):
        found = {OURS: lambda x=x: sd.mean(x, bounds="find", epsilon=1)}
        yield Row(f"mean of {len(x):,}, bounds found", found, most=most)
    for x, most in ((few, 10), (hundred, 30), (million, 60)):
        calls = {OURS: lambda x=x: sd.cdf(x, **BETWEEN), NUMPY: lambda x=x: np.sort(x)}
        yield Row(f"cdf of {len(x):,}", calls, most=most)
    for name, orders, sizes in (
        ("9 quantiles", DECILES, ((few, 1.5), (hundred, 4), (million, None))),
        ("99 quantiles", PERCENTILES, ((hundred, 12), (million, 40))),
    ):
        for x, most in sizes:
            calls = {
                OURS: lambda x=x, q=orders: sd.quantiles(x, q, interval=None, **BETWEEN),
                NUMPY: lambda x=x, q=orders: np.quantile(x, q),
            }
            if len(x) < 10**6 and not quick:
                calls |= dpl("quantiles", x, orders)
            yield Row(f"{name} of {len(x):,}, interval=None", calls, most=most)
            calls = {
                OURS: lambda x=x, q=orders: sd.quantiles(x, q, **BETWEEN),
                NUMPY: lambda x=x, q=orders: np.quantile(x, q),
            }
            yield Row(f"{name} of {len(x):,}, with intervals", calls)
    yield from _frames(rng)
    one = Laplace(epsilon=1)
    yield Row(
        "one number, Laplace noise",
        {
            OURS: lambda: one.release(5),
            NUMPY: lambda: rng.laplace(5),
            **opendp("one", few),
            **dpl("one", few),
        },
        times=(DIFFPRIVLIB, 1),
    )


def _frames(rng: np.random.Generator) -> Iterator[Row]:
    """Yield the questions to a pandas frame, if pandas is installed."""
    try:
        import pandas as pd
    except ImportError:
        return
    words = np.array(["north", "east", "south", "west", "centre"])
    frame = pd.DataFrame(
        {"x": rng.normal(50, 15, 10**6), "place": words[rng.integers(0, 5, 10**6)]}
    )
    groups: dict[str, Any] = {"column": "x", "by": "place", "keys": words.tolist()}
    yield Row(
        "describe 1,000,000 rows, a number and a text",
        {
            OURS: lambda: sd.describe(frame, epsilon=1),
            PANDAS: lambda: (frame[["x"]].describe(), frame["place"].describe()),
        },
        times=(PANDAS, 4),
    )
    yield Row(
        "mean of 1,000,000 by 5 groups",
        {
            OURS: lambda: sd.mean(frame, **groups, **BETWEEN),
            PANDAS: lambda: frame.groupby("place").mean(),
        },
        times=(PANDAS, 1.2),
    )


def _diffprivlib() -> Callable[..., dict[str, Call]]:
    """Return what makes diffprivlib's calls, none if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from diffprivlib import mechanisms, tools
    except ImportError:
        return lambda *_: {}

    def calls(name: str, x: Any, q: Any = None) -> dict[str, Call]:
        one = mechanisms.Geometric(epsilon=1.0, sensitivity=1)
        return {
            DIFFPRIVLIB: {
                "mean": lambda: tools.mean(x, epsilon=1, bounds=(0, 100)),
                "histogram": lambda: tools.histogram(x, epsilon=1, bins=20, range=(0, 100)),
                "quantiles": lambda: tools.quantile(x, q, epsilon=1, bounds=(0, 100)),
                "one": lambda: one.randomise(5),
            }[name]
        }

    return calls


def _opendp() -> Callable[..., dict[str, Call]]:
    """Return what makes OpenDP's calls, none if it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return lambda *_: {}
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    edges = [float(edge) for edge in range(0, 101, 5)]

    def made(name: str, n: int) -> Any:
        if name == "one":
            number = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
            return dp.m.make_laplace(*number, scale=1.0)
        if name == "count":
            return space >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
        if name == "histogram":
            binned = space >> dp.t.then_find_bin(edges=edges)
            counted = binned >> dp.t.then_count_by_categories(categories=list(range(21)))
            return counted >> dp.m.then_laplace(scale=1.0)
        clamped = space >> dp.t.then_clamp((0.0, 100.0))
        sized = clamped >> dp.t.then_resize(size=n, constant=50.0) >> dp.t.then_mean()
        return sized >> dp.m.then_laplace(scale=100.0 / n)

    def calls(name: str, x: Any) -> dict[str, Call]:
        mechanism = made(name, len(x))
        return {OPENDP: lambda: mechanism(5 if name == "one" else x)}

    return calls


@contextmanager
def _parts() -> Iterator[list[float]]:
    """Collect the processor time that each thread takes to count its rows."""
    found: list[float] = []
    counted = Memory._in_parts  # noqa: SLF001

    def timed(self: Memory, count: Callable[[range], Any]) -> list[Any]:
        def one(rows: range) -> Any:
            start = thread_time()
            part = count(rows)
            found.append(thread_time() - start)
            return part

        return counted(self, one)

    Memory._in_parts = timed  # type: ignore[method-assign]  # noqa: SLF001
    try:
        yield found
    finally:
        Memory._in_parts = counted  # type: ignore[method-assign]  # noqa: SLF001


def _limit(rounds: int) -> float:
    """Return the share of one thread's time that threads take which need nothing but processors."""
    cores = os.cpu_count() or 1
    block = np.random.default_rng(3).uniform(0, 100, 1 << 16)

    def work(blocks: int) -> None:
        out = np.empty_like(block)
        for _ in range(blocks):  # as when ticks are counted: scaled, rounded, clamped
            np.multiply(block, 1.7, out=out)
            np.floor(out, out=out)
            np.minimum(out, 99, out=out)

    taken: dict[int, list[float]] = {1: [], cores: []}
    for _ in range(rounds):
        for k, times in taken.items():
            threads = [Thread(target=work, args=(2400 // k,)) for _ in range(k)]
            start = perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            times.append(perf_counter() - start)
    return min(taken[cores]) / min(taken[1])


def shares(*, quick: bool) -> list[tuple[str, str, float, str, bool | None]]:
    """Return what is measured on the clock: threads, and counts a second."""
    many = np.random.default_rng(2).normal(50, 15, (4 if quick else 20) * 10**6)
    cores = os.cpu_count() or 1
    lines: list[tuple[str, str, float, str, bool | None]] = [
        (f"arithmetic of NumPy on {cores} cores", "of one thread's time", _limit(7), "", None)
    ]
    for name, call in (
        ("mean", lambda: sd.mean(many, **BETWEEN)),
        ("histogram", lambda: sd.histogram(many, bins=20, **BETWEEN)),
    ):
        taken: dict[str, list[float]] = {"1": [], "": []}
        longest: dict[str, list[float]] = {"1": [], "": []}
        for threads in ("1", "") * 7:
            os.environ["SOURDINE_THREADS"] = threads
            with _parts() as parts:
                start = perf_counter()
                call()
                taken[threads].append(perf_counter() - start)
            longest[threads].append(max(parts))
        for unit, of in (("of one thread's time", taken), ("the longest thread's share", longest)):
            share = min(of[""]) / min(of["1"])
            kept = share <= 0.6 if cores > 1 else None
            lines.append((f"{name} of {len(many):,} on {cores} cores", unit, share, "<= 0.6", kept))
    os.environ.pop("SOURDINE_THREADS")
    session = sd.Session(many[:1000], epsilon=10**6)
    start = perf_counter()
    for _ in range(500):
        session.count(epsilon=1)
    lines.append(("counts in a session", "a second", 500 / (perf_counter() - start), "", None))
    return lines


def _times(row: Row) -> Iterator[str]:
    for name in (OURS, *PEERS):
        took = row.found.get(name)
        yield "" if took is None else f"{took:,.3g}" if took < 100 else f"{took:,.0f}"


def main() -> int:
    """Measure all rows, print the table, keep it."""
    quick = "--quick" in sys.argv
    measured = []
    with Progress(transient=True) as progress:
        task = progress.add_task("Measuring", total=None)
        for row in rows(quick=quick):
            progress.update(task, description=row.name)
            row.measure(3 if quick else 9)
            measured.append(row)
    clock = shares(quick=quick)
    header = ("question", OURS, *PEERS, "asked", "")
    words = {True: "met", False: "missed", None: ""}
    lines = [(row.name, *_times(row), row.targets, words[row.met]) for row in measured]
    lines += [
        (f"{name}, {unit}", f"{value:,.3g}", "", "", "", "", asked, words[kept])
        for name, unit, value, asked, kept in clock
    ]
    where = f"{machine()}, Python {python_version()}, NumPy {np.__version__}"
    table = Table(*header, title=f"CPU milliseconds of a call ({where})")
    for line in lines:
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    beside = [
        Beside("speed", row.name, peer, row.found[OURS], theirs, "ms", None if i else row.met)
        for row in measured
        for i, (peer, theirs) in enumerate((p, t) for p, t in row.found.items() if p != OURS)
    ]
    write("speed", beside, quick=quick)
    text = "\n".join("| " + " | ".join(line) + " |" for line in (header, ("---",) * 8, *lines))
    (Path(__file__).parent / "out" / "speed.md").write_text(f"{where}\n\n{text}\n", "utf-8")
    return int(any(line[-1] == "missed" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
