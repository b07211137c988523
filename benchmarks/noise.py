"""How fast the exact samplers are: against NumPy (insecure), OpenDP and diffprivlib.

Run ``python benchmarks/noise.py`` (``--quick`` for a rough look) where the peers are installed. All
candidates of a row take turns in one process; the figures are medians of process CPU time. The exit
status is 1 if a target is missed. A Markdown copy goes to ``benchmarks/out/noise.md``.

Figures are per draw. Where a peer is slow it makes fewer draws than ours (OpenDP vectors of 20,000
against a million, diffprivlib some hundreds of calls), and where it lacks the same job it does its
nearest: for diffprivlib's Laplace that is Geometric, its discrete Gaussian has the sigma that its
own epsilon and delta give, its bounded Laplace is on floats, and both rows of choices show the same
selection. NumPy's draws are floats from a generator that is not cryptographic.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from platform import machine, python_version
from statistics import median
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from record import Beside, write
from sourdine import noise
from sourdine.audit.checks import repeats_after_fork, timing_leak
from sourdine.exact import exp_neg
from sourdine.mechanisms import Gaussian, Laplace

Draw = Callable[[], object]
OURS, NUMPY, OPENDP, DIFFPRIVLIB = "Sourdine", "NumPy (insecure)", "OpenDP", "diffprivlib"
PEERS = (OURS, NUMPY, OPENDP, DIFFPRIVLIB)
MILLION = 10**6


@dataclass
class Row:
    """One job: for each library how to do it, and how many draws one call makes."""

    name: str
    calls: dict[str, tuple[Draw, int]]
    nanoseconds: dict[str, float] = field(default_factory=dict)

    def ratio(self, peer: str) -> float | None:
        """How many times slower than ours a peer is."""
        if peer not in self.nanoseconds or OURS not in self.nanoseconds:
            return None
        return self.nanoseconds[peer] / self.nanoseconds[OURS]

    def measure(self, rounds: int) -> None:
        """Let the libraries take turns; keep the median CPU time of a draw."""
        times: dict[str, list[float]] = {peer: [] for peer in self.calls}
        for draw, _ in self.calls.values():
            draw()
        for _ in range(rounds):
            for peer, (draw, count) in self.calls.items():
                start = process_time()
                draw()
                times[peer].append((process_time() - start) / count * 1e9)
        self.nanoseconds = {peer: median(seen) for peer, seen in times.items()}


def repeat(draw: Draw, count: int) -> Draw:
    """Call a scalar sampler many times."""

    def run() -> None:
        for _ in range(count):
            draw()

    return run


def opendp_calls(*, quick: bool) -> dict[str, tuple[Draw, int]]:
    """OpenDP's noise, if it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")
    count = 2_000 if quick else 20_000
    zeros = np.zeros(count, np.int64)
    vector = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    plane = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    calls: dict[str, tuple[Draw, int]] = {}
    for scale in (1, 100, MILLION):
        mechanism = dp.m.make_laplace(*vector, scale=float(scale))
        calls[f"laplace {scale}"] = (lambda m=mechanism: m(zeros)), count
    for scale in (1, 100, 10**4):
        mechanism = dp.m.make_gaussian(*plane, scale=float(scale))
        calls[f"gaussian {scale}"] = (lambda m=mechanism: m(zeros)), count
    one = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=20.0)
    calls["laplace scalar"] = repeat(lambda: one(0), 200), 200
    try:
        flat = dp.vector_domain(dp.atom_domain(T="i64"))
        best = dp.m.make_noisy_max(flat, dp.linf_distance(T="i64"), dp.max_divergence(), scale=20.0)
        scores = np.arange(10**4) % 1000
        calls["choice 10000"] = (lambda: best(scores)), 10**4
    except Exception as error:  # noqa: BLE001  # the constructor changes between versions
        print(f"OpenDP noisy_max not measured: {error}", file=sys.stderr)
    return calls


def diffprivlib_calls() -> dict[str, tuple[Draw, int]]:
    """Diffprivlib's noise, if it is installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from diffprivlib import mechanisms as dpl
    except ImportError:
        return {}
    calls: dict[str, tuple[Draw, int]] = {}
    for scale in (1, 100, MILLION):
        laplace = dpl.Geometric(epsilon=1.0, sensitivity=scale)
        calls[f"laplace {scale}"] = repeat(lambda m=laplace: m.randomise(0), 500), 500
    gauss = dpl.GaussianDiscrete(epsilon=1.0, delta=1e-3, sensitivity=1)
    calls["gaussian 1"] = repeat(lambda: gauss.randomise(0), 200), 200
    binary = dpl.Binary(epsilon=1.0, value0="0", value1="1")
    calls["coin"] = repeat(lambda: binary.randomise("1"), 500), 500
    one = dpl.Geometric(epsilon=1.0, sensitivity=20)
    calls["laplace scalar"] = repeat(lambda: one.randomise(0), 500), 500
    bounded = dpl.LaplaceBoundedDomain(epsilon=1.0, sensitivity=100, lower=0, upper=1000)
    calls["bounded"] = repeat(lambda: bounded.randomise(300.0), 500), 500
    choice = dpl.Exponential(
        epsilon=0.1, sensitivity=1.0, utility=[float(i % 1000) for i in range(10**4)]
    )
    calls["choice 10000"] = (choice.randomise), 10**4
    return calls


@dataclass
class Peers:
    """What the other libraries can do, by the name of the job."""

    opendp: dict[str, tuple[Draw, int]]
    diffprivlib: dict[str, tuple[Draw, int]]

    def row(self, name: str, key: str, ours: Draw, numpy: Draw | None, count: int) -> Row:
        """Return the row of a job."""
        calls = {OURS: (ours, count)}
        if numpy is not None:
            calls[NUMPY] = numpy, count
        for peer, jobs in ((OPENDP, self.opendp), (DIFFPRIVLIB, self.diffprivlib)):
            if key in jobs:
                calls[peer] = jobs[key]
        return Row(name, calls)


def vector_rows(peers: Peers) -> list[Row]:
    """Return the jobs of a million draws and more."""
    rng = np.random.default_rng()
    laplace = [
        peers.row(
            f"Laplace, scale {scale:,}",
            f"laplace {scale}",
            lambda s=scale: noise.discrete_laplace(s, MILLION),
            lambda s=scale: rng.laplace(scale=s, size=MILLION),
            MILLION,
        )
        for scale in (1, 100, MILLION)
    ]
    gaussian = [
        peers.row(
            f"Gaussian, sigma {scale:,}",
            f"gaussian {scale}",
            lambda s=scale: noise.discrete_gaussian(s * s, MILLION),
            lambda s=scale: rng.normal(scale=s, size=MILLION),
            MILLION,
        )
        for scale in (1, 100, 10**4)
    ]
    p, many = exp_neg(1) / (1 + exp_neg(1)), 10 * MILLION
    truth = rng.random(many) < 0.3
    coins = peers.row(
        "Randomised response, 10^7",
        "coin",
        lambda: np.logical_xor(truth, lies := noise.bernoulli(p, many), out=lies),
        lambda: rng.random(many) < 0.2689414213699951,
        many,
    )
    centres = rng.integers(0, 1001, MILLION)
    bounded = peers.row(
        "Bounded Laplace, 0..1000",
        "bounded",
        lambda: noise.bounded_laplace(centres, 1000, 0.01),
        None,
        MILLION,
    )
    return [*laplace, *gaussian, coins, bounded]


def choice_rows(peers: Peers, count: int, times: int) -> list[Row]:
    """Return the jobs that choose one of ``count`` candidates."""
    rng, scores = np.random.default_rng(), np.arange(count) % 1000
    exponential = peers.row(
        f"Exponential choice of {count:,}",
        f"choice {count}",
        repeat(lambda: noise.choose(scores, 0.05), times),
        repeat(lambda: np.argmax(0.05 * scores + rng.gumbel(size=count)), times),
        count * times,
    )
    flip = peers.row(
        f"Permute-and-flip of {count:,}",
        f"choice {count}",
        repeat(lambda: noise.permute_and_flip(scores, 0.05), times),
        None,
        count * times,
    )
    return [exponential, flip]


def releases() -> tuple[Callable[[], int], Callable[[], int]]:
    """Return whole releases of one number: read, drawn, wrapped with their cost."""
    laplace = Laplace(epsilon=1, sensitivity=20)
    gaussian = Gaussian(epsilon=1, delta=1e-6, sensitivity=20)
    return (lambda: laplace.release(0).value), (lambda: gaussian.release(0).value)


FAR = 123_456


def timed_releases() -> dict[str, tuple[Callable[[], int], int]]:
    """Return the releases whose time must not follow their noise, and the number they hide.

    Around 0 some answers are numbers that Python keeps ready made; around the other none is.
    """
    laplace = {f"Laplace, epsilon {e:g}": Laplace(epsilon=e) for e in (0.001, 0.01, 0.1, 1)}
    gaussian = {f"Gaussian, epsilon {e:g}": Gaussian(epsilon=e, delta=1e-6) for e in (0.01, 0.1, 1)}
    return {
        f"{name}, around {centre}": (partial(_value, mechanism, centre), centre)
        for name, mechanism in (laplace | gaussian).items()
        for centre in (0, FAR)
    }


def _value(mechanism: Laplace | Gaussian, x: int) -> int:
    return int(mechanism.release(x).value)


def small_rows(peers: Peers) -> list[Row]:
    """Return the jobs of one call, and the random bytes under all of them."""
    rng = np.random.default_rng()
    laplace, gaussian = releases()
    one = peers.row(
        "Laplace, one release",
        "laplace scalar",
        repeat(laplace, 2000),
        repeat(lambda: rng.laplace(scale=20.0), 2000),
        2000,
    )
    gauss = repeat(gaussian, 2000)
    thousand = repeat(lambda: noise.discrete_laplace(20, 1000), 50)
    return [
        one,
        Row("Gaussian, one release", {OURS: (gauss, 2000)}),
        Row("Laplace, 1000 in a call", {OURS: (thousand, 50_000)}),
        Row("Random byte (the limit)", {OURS: (lambda: noise.SYSTEM.bytes(1 << 24), 1 << 24)}),
    ]


def rows(*, quick: bool) -> list[Row]:
    """Return all jobs."""
    peers = Peers(opendp_calls(quick=quick), diffprivlib_calls())
    choices = [*choice_rows(peers, 10**4, 10), *choice_rows(peers, MILLION, 1)]
    return [*vector_rows(peers), *choices, *small_rows(peers)]


@dataclass
class Target:
    """A promise, and what was measured: a ratio, or None where the peer is not installed."""

    promise: str
    measured: float | bool | None
    met: bool | None


def targets(table: list[Row]) -> list[Target]:
    """Return what the package promises, with what was measured."""
    by_name = {row.name: row for row in table}
    out = []

    def at_least(promise: str, name: str, peer: str, least: float) -> None:
        ratio = by_name[name].ratio(peer)
        out.append(Target(promise, ratio, None if ratio is None else ratio >= least))

    for scale in ("1", "100", "1,000,000"):
        name = f"Laplace, scale {scale}"
        at_least(f"{name}: as fast as NumPy", name, NUMPY, 1)
        at_least(f"{name}: 300 times OpenDP", name, OPENDP, 300)
    for scale in ("1", "100", "10,000"):
        name = f"Gaussian, sigma {scale}"
        at_least(f"{name}: at most twice NumPy's time", name, NUMPY, 0.5)
    name = "Randomised response, 10^7"
    at_least(f"{name}: 5 times NumPy", name, NUMPY, 5)
    name = "Bounded Laplace, 0..1000"
    at_least(f"{name}: 300 times diffprivlib", name, DIFFPRIVLIB, 300)
    name = "Laplace, one release"
    at_least(f"{name}: twice OpenDP", name, OPENDP, 2)
    microseconds = by_name[name].nanoseconds[OURS] / 1000
    out.append(Target(f"{name}: below 20 us", microseconds, microseconds < 20))
    for label, (release, centre) in timed_releases().items():
        rho = timing_leak(release, centre, calls=20_000)
        promise = f"{label}, 20,000 releases: |Spearman(time, |noise|)| < 0.03"
        out.append(Target(promise, rho, abs(rho) < 0.03))
    fresh = not repeats_after_fork(lambda: noise.discrete_laplace(MILLION, 16).tobytes())
    out.append(Target("Fork: parent and child differ", fresh, fresh))
    return out


def cells(row: Row) -> list[str]:
    """Return the texts of a row: name, nanoseconds, ratios."""
    out = [row.name]
    for peer in PEERS:
        if peer in row.nanoseconds:
            out.append(f"{row.nanoseconds[peer]:,.2f}")
        else:
            out.append("-" if peer in (OURS, NUMPY) or peer in INSTALLED else "not installed")
    ratios = (row.ratio(peer) for peer in PEERS[1:])
    return out + ["-" if r is None else f"{r:,.1f}x" for r in ratios]


def beside(row: Row) -> list[Beside]:
    """Return a job beside each peer that does it."""
    seen = row.nanoseconds
    return [
        Beside("noise", row.name, peer, seen[OURS], seen[peer], "ns a draw")
        for peer in PEERS[1:]
        if peer in seen
    ]


INSTALLED: set[str] = set()
HEADER = ["ns per draw", *PEERS, *(f"vs {peer}" for peer in PEERS[1:])]


def target_cells(target: Target) -> list[str]:
    """Return the texts of a target."""
    verdict = {True: "met", False: "MISSED", None: "not measured"}[target.met]
    measured = "-" if target.measured is None else f"{target.measured:,.3g}"
    return [target.promise, measured, verdict]


def markdown(header: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    escaped = [[text.replace("|", "\\|") for text in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *escaped))


def show(console: Console, title: str, header: list[str], lines: list[list[str]]) -> None:
    """Print a table."""
    table = Table(title=title)
    for i, name in enumerate(header):
        table.add_column(name, justify="right" if i else "left")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def main() -> int:
    """Measure, print, write, and judge."""
    quick = "--quick" in sys.argv[1:]
    console = Console(width=None if sys.stdout.isatty() else 150)
    jobs = rows(quick=quick)
    INSTALLED.update(peer for job in jobs for peer in job.calls)
    with Progress(console=console) as progress:
        for job in progress.track(jobs, description="samplers"):
            job.measure(3 if quick else 9)
    promised = targets(jobs)
    lines, verdicts = [cells(job) for job in jobs], [target_cells(t) for t in promised]
    platform = f"{machine()}, Python {python_version()}, NumPy {np.__version__}, CPU time, median"
    show(console, f"Noise ({platform})", HEADER, lines)
    show(console, "Targets", ["target", "measured", "verdict"], verdicts)
    out = Path(__file__).parent / "out" / "noise.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text(
        f"# Noise\n\n{platform}\n\n{markdown(HEADER, lines)}\n\n## Targets\n\n"
        f"{markdown(['target', 'measured', 'verdict'], verdicts)}\n",
        encoding="utf-8",
    )
    write("noise", [row for job in jobs for row in beside(job)], quick=quick)
    return 1 if any(t.met is False for t in promised) else 0


if __name__ == "__main__":
    sys.exit(main())
