"""How fast local randomisers are, beside pure-ldp, multi-freq-ldpy and diffprivlib's loops.

Run ``python benchmarks/local.py`` (``--quick`` for a rough look) where the peers are installed.
All candidates take turns in one process, and the best CPU time of the repeats counts for both
sides. Categories are measured from answers to estimates, client and server; numbers from ticks to
reports. The peers randomise one person a call, in time proportional to the people, so they are
given fewer: what counts is the time of these less that of a tenth of them, so that nothing which
is done once is charged to few people. The limit is the time that OpenSSL's generator takes for the
random bytes that our reports draw. The exit status is 1 if a target is missed. A Markdown copy
goes to ``benchmarks/out/local.md``.

What is compared is not the same thing. Ours draws the stated law exactly, from a cryptographic
generator; pure-ldp and multi-freq-ldpy draw floats from generators that can be foreseen, and
diffprivlib's staircase is redrawn until it falls inside the bounds, as in the slides (which costs
more privacy than it says).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from platform import machine, python_version
from time import process_time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from record import Beside, write
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.mechanisms.randomized_response import FrequencyOracle
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from sourdine.mechanisms.mechanism import Report

Ticks = NDArray[np.int64]
Job = Callable[[Ticks], object]
PURE, MULTI, DIFFPRIVLIB = "pure-ldp", "multi-freq-ldpy", "diffprivlib"
EPSILON = 1.0
LAST = 1000
SECONDS = 2.0
"""A job that takes longer is not repeated."""


class Counting:
    """The system's generator, with a count of the bytes it gave."""

    private = True

    def __init__(self) -> None:
        self.given = 0

    def bytes(self, count: int, /) -> bytes:
        """Return random bytes."""
        self.given += count
        return SYSTEM.bytes(count)


@dataclass
class Peer:
    """How another package does a job, for how many people, and the ratio promised."""

    name: str
    job: Job
    people: int
    target: float | None = None
    all: float = float("inf")
    tenth: float = float("inf")

    def measure(self, answers: Ticks) -> None:
        """Time all the people and a tenth of them, unless that takes too long to be repeated."""
        if SECONDS < self.all < float("inf"):
            return
        self.all = min(self.all, timed(self.job, answers[: self.people]))
        self.tenth = min(self.tenth, timed(self.job, answers[: self.people // 10]))

    @property
    def nanoseconds(self) -> float:
        """The CPU time of a person more."""
        return (self.all - self.tenth) / (self.people - self.people // 10) * 1e9


@dataclass
class Row:
    """One job: ours for many people, the peers' for fewer."""

    name: str
    report: Report
    people: int
    peers: list[Peer]
    nanoseconds: float = float("inf")
    limit: float = field(default=0.0)

    def measure(self, rounds: int, byte: float) -> None:
        """Let the packages take turns; keep the best CPU time a person."""
        top = self.report.top
        answers = np.random.default_rng(1).integers(0, top + 1, self.people)
        source = Counting()
        self.report.randomise(answers, source=source)
        self.limit = source.given / self.people * byte
        for _ in range(rounds):
            took = timed(self.ours, answers) / self.people * 1e9
            self.nanoseconds = min(self.nanoseconds, took)
            for peer in self.peers:
                peer.measure(answers)

    def ours(self, answers: Ticks) -> object:
        """Randomise, tally, estimate; of numbers, randomise."""
        reports = self.report.randomise(answers)
        if not isinstance(self.report, FrequencyOracle):
            return reports
        p, q = self.report.chances
        support = self.report.support(self.report.tally(reports))
        return (support / answers.size - q) / (p - q)


def timed(job: Job, answers: Ticks) -> float:
    """Return the CPU seconds of a job."""
    start = process_time()
    job(answers)
    return process_time() - start


def one_by_one(client: Callable[[int], object], server: object, categories: int) -> Job:
    """Return pure-ldp's way: each report goes to the server, which estimates in the end."""

    def run(answers: Ticks) -> object:
        server.reset()  # type: ignore[attr-defined]
        for answer in answers.tolist():
            server.aggregate(client(answer + 1))  # type: ignore[attr-defined]
        everyone = range(1, categories + 1)
        return server.estimate_all(everyone, suppress_warnings=True)  # type: ignore[attr-defined]

    return run


def pure_ldp(kind: str, k: int) -> Job:
    """Return a job of pure-ldp."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response import (
        HadamardResponseClient,
        HadamardResponseServer,
    )
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    if kind == "HR":
        server = HadamardResponseServer(EPSILON, k)
        client = HadamardResponseClient(EPSILON, k, server.get_hash_funcs())
    elif kind == "OUE":
        server, client = UEServer(EPSILON, k, use_oue=True), UEClient(EPSILON, k, use_oue=True)
    elif kind == "OLH":
        server, client = LHServer(EPSILON, k, use_olh=True), LHClient(EPSILON, k, use_olh=True)
    else:
        server, client = DEServer(EPSILON, k), DEClient(EPSILON, k)
    return one_by_one(client.privatise, server, k)


def multi_freq(kind: str, k: int) -> Job:
    """Return a job of multi-freq-ldpy; its numba would take our coverage.py for the package."""
    here = str(Path(__file__).parent)
    sys.path[:] = [path for path in sys.path if path != here]
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    def run(answers: Ticks) -> object:
        people = answers.tolist()
        if kind == "GRR":
            reports = [GRR.GRR_Client(x, k, EPSILON) for x in people]
            return GRR.GRR_Aggregator_MI(reports, k, EPSILON)
        if kind == "OUE":
            reports = [UE.UE_Client(x, k, EPSILON) for x in people]
            return UE.UE_Aggregator_MI(reports, EPSILON)
        if kind == "OLH":
            reports = [LH.LH_Client(x, k, EPSILON) for x in people]
            return LH.LH_Aggregator_MI(reports, k, EPSILON)
        reports = [SS.SS_Client(x, k, EPSILON) for x in people]
        return SS.SS_Aggregator_MI(reports, k, EPSILON)

    return run


def diffprivlib(kind: str) -> Job:
    """Return a loop over diffprivlib's mechanism."""
    from diffprivlib import mechanisms as dpl

    laplace = dpl.LaplaceBoundedDomain(epsilon=EPSILON, sensitivity=LAST, lower=0, upper=LAST)
    staircase = dpl.Staircase(epsilon=EPSILON, sensitivity=LAST)

    def inside(x: float) -> float:
        drawn = staircase.randomise(x)
        while not 0 <= drawn <= LAST:
            drawn = staircase.randomise(x)
        return float(drawn)

    draw = laplace.randomise if kind == "laplace" else inside
    return lambda answers: [draw(float(x)) for x in answers.tolist()]


def peer(
    name: str, make: Callable[[], Job], people: int, target: float | None = None
) -> list[Peer]:
    """Return the peer, or nothing and a printed reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            job = make()
            job(np.zeros(20, np.int64))
    except Exception as error:  # noqa: BLE001  # a peer that fails is not measured
        print(f"{name} not measured: {type(error).__name__}: {error}", file=sys.stderr)
        return []
    return [Peer(name, job, people, target)]


def promised(people: int, few: int) -> list[Row]:
    """Return the jobs with targets."""
    out = []
    for k in (10, 100, 1000):
        grr = RandomizedResponse(epsilon=1, categories=k)
        peers = peer(PURE, lambda k=k: pure_ldp("GRR", k), few, 50)
        peers += peer(MULTI, lambda k=k: multi_freq("GRR", k), few, 50)
        out.append(Row(f"GRR, k = {k}", grr, people, peers))
    peers = peer(PURE, lambda: pure_ldp("OUE", 100), few // 4, 12)
    peers += peer(MULTI, lambda: multi_freq("OUE", 100), few // 2, 12)
    out.append(Row("OUE, k = 100", UnaryEncoding(epsilon=1, categories=100), people // 4, peers))
    bounded = BoundedLaplace(epsilon=1, last=LAST)
    peers = peer(DIFFPRIVLIB, lambda: diffprivlib("laplace"), few // 4, 300)
    out.append(Row("Bounded Laplace, 0..1000", bounded, people, peers))
    stairs = BoundedStaircase(epsilon=1, last=LAST)
    peers = peer(DIFFPRIVLIB, lambda: diffprivlib("staircase"), few // 2, 300)
    out.append(Row("Bounded staircase, 0..1000", stairs, people, peers))
    return out


def informative(people: int, few: int) -> list[Row]:
    """Return the jobs without targets."""
    out = []
    for k in (10, 100):
        olh, less = LocalHashing(epsilon=1, categories=k), few // 10
        peers = peer(PURE, lambda k=k: pure_ldp("OLH", k), less)
        peers += peer(MULTI, lambda k=k: multi_freq("OLH", k), less)
        out.append(Row(f"OLH, k = {k}", olh, people // 4, peers))
        hadamard = HadamardResponse(epsilon=1, categories=k)
        peers = peer(PURE, lambda k=k: pure_ldp("HR", k), few)
        out.append(Row(f"Hadamard, k = {k}", hadamard, people, peers))
        subset = SubsetSelection(epsilon=1, categories=k)
        peers = peer(MULTI, lambda k=k: multi_freq("SS", k), less)
        out.append(Row(f"Subset selection, k = {k}", subset, people // 4, peers))
    return out


def byte_time() -> float:
    """Return the nanoseconds of a random byte, asked for in blocks as large as the samplers'."""
    size, blocks = 1 << 17, 64

    def some() -> float:
        start = process_time()
        for _ in range(blocks):
            SYSTEM.bytes(size)
        return (process_time() - start) / size / blocks * 1e9

    return min(some() for _ in range(5))


HEADER = ["job", "ours", "CSPRNG limit", "peer", "peer's", "ratio", "target", "verdict"]


def cells(row: Row) -> list[list[str]]:
    """Return a line for each peer of a row."""
    ours = [row.name, f"{row.nanoseconds:,.2f}", f"{row.limit:,.2f}"]
    lines = []
    for peer in row.peers:
        if peer.nanoseconds <= 0:
            lines.append([*ours, peer.name, "-", "-", "-", "not measured"])
            continue
        ratio = peer.nanoseconds / row.nanoseconds
        met = peer.target is None or ratio >= peer.target
        target = "-" if peer.target is None else f"{peer.target:g}x"
        verdict = "-" if peer.target is None else "met" if met else "MISSED"
        lines.append(
            [*ours, peer.name, f"{peer.nanoseconds:,.0f}", f"{ratio:,.0f}x", target, verdict]
        )
    return lines or [[*ours, "not installed", "-", "-", "-", "not measured"]]


def beside(row: Row) -> list[Beside]:
    """Return a job beside each peer that does it."""
    return [
        Beside(
            "local privacy",
            row.name,
            peer.name,
            row.nanoseconds,
            peer.nanoseconds,
            "ns a person",
            None if peer.target is None else peer.nanoseconds >= peer.target * row.nanoseconds,
        )
        for peer in row.peers
        if peer.nanoseconds > 0
    ]


def main() -> int:
    """Measure, print, write, and judge."""
    quick = "--quick" in sys.argv[1:]
    warnings.simplefilter("ignore")
    console = Console(width=None if sys.stdout.isatty() else 140)
    people, few = (200_000, 2_000) if quick else (1_000_000, 10_000)
    jobs = [*promised(people, few), *informative(people, few)]
    byte = byte_time()
    with Progress(console=console) as progress:
        for job in progress.track(jobs, description="randomisers"):
            job.measure(3 if quick else 7, byte)
    lines = [line for job in jobs for line in cells(job)]
    platform = f"{machine()}, Python {python_version()}, NumPy {np.__version__}"
    title = f"Local randomisers: CPU ns a person, best of repeats ({platform})"
    table = Table(title=title)
    for i, name in enumerate(HEADER):
        table.add_column(name, justify="left" if i in {0, 3} else "right")
    for line in lines:
        table.add_row(*line)
    console.print(table)
    out = Path(__file__).parent / "out" / "local.md"
    out.parent.mkdir(exist_ok=True)
    rule = ["---"] * len(HEADER)
    text = "\n".join("| " + " | ".join(line) + " |" for line in (HEADER, rule, *lines))
    out.write_text(f"# Local randomisers\n\n{title}\n\n{text}\n", encoding="utf-8")
    write("local", [row for job in jobs for row in beside(job)], quick=quick)
    return 1 if any(line[-1] == "MISSED" for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
