"""How far off answers are, beside OpenDP, diffprivlib, pure-ldp and multi-freq-ldpy.

Run ``python benchmarks/accuracy.py`` (``--quick`` for a rough look) where the peers are installed.
Everybody answers the same question about the same data at the same total epsilon and under the same
notion of neighbours, with bounds that are public. Of the ways that a peer has the best counts: for
deciles one call each with its share of epsilon or, in OpenDP, a tree of counts; for shares any of
its oracles. Ours is what the library picks by itself. Errors are root mean squares over fresh
releases. A Markdown
copy goes to ``benchmarks/out/accuracy.md``; the exit status is 1 if a peer's error is smaller than
ours by more than four standard errors.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import sourdine as sd
from local import multi_freq, pure_ldp
from record import OUT, Beside, machine_facts, write
from sourdine.local.categorical.choosing import best_oracle
from sourdine.local.estimators.frequencies import frequencies

Floats = NDArray[np.float64]
Answer = Callable[[], Floats | float]
OURS, OPENDP, DIFFPRIVLIB = "Sourdine", "OpenDP", "diffprivlib"
PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
DECILES = [i / 10 for i in range(1, 10)]
TOP = 200_000
EDGES = list(range(0, TOP + 1, 20_000))
CANDIDATES, LEAVES, BRANCHES = TOP + 1, 16**4, 16
"""OpenDP's places for a quantile: as many as dollars, or the leaves of its tree."""


@dataclass(frozen=True)
class Job:
    """A question, its unit, how each library answers it, and how far off an answer is."""

    name: str
    unit: str
    answers: dict[str, Answer]
    error: Callable[[Floats | float], float]
    runs: int

    def measure(self) -> dict[str, tuple[float, float]]:
        """Return the root mean square error of each library and its standard error."""
        out = {}
        for library, answer in self.answers.items():
            squares = np.array([self.error(answer()) ** 2 for _ in range(self.runs)])
            root = float(np.sqrt(squares.mean()))
            out[library] = root, float(squares.std(ddof=1)) / (2 * root * self.runs**0.5)
        return out


def opendp_space(size: int | None = None) -> tuple[object, object]:
    """Return OpenDP's vectors of floats, of a public size if one is given."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    floats = dp.atom_domain(T=float, nan=False)
    return dp.vector_domain(floats, size=size), dp.symmetric_distance()


def opendp_one_by_one(x: Floats, top: float) -> Answer:
    """Return OpenDP's quantile once for each decile, with a ninth of epsilon."""
    import opendp.prelude as dp

    space, candidates = opendp_space(), np.linspace(0, top, CANDIDATES).tolist()

    def made(q: float, scale: float, places: list[float]) -> Callable[[Floats], float]:
        return dp.m.make_private_quantile(*space, dp.max_divergence(), places, q, scale)

    few = candidates[:: CANDIDATES // 2]
    scales = [
        dp.binary_search_param(lambda s, q=q: made(q, s, few), d_in=1, d_out=1 / 9, T=float)
        for q in DECILES
    ]
    each = [made(q, scale, candidates) for q, scale in zip(DECILES, scales, strict=True)]
    assert all(mechanism.check(1, 1 / 9) for mechanism in each)  # noqa: S101 - few tell the scale
    return lambda: np.array([mechanism(x) for mechanism in each])


def opendp_tree(x: Floats, top: float) -> Answer:
    """Return OpenDP's noisy tree of counts, made consistent, and all deciles read off it."""
    import opendp.prelude as dp

    edges = np.linspace(0, top, LEAVES + 1).tolist()
    leaves = opendp_space() >> dp.t.then_find_bin(edges=edges[1:-1])
    counts = leaves >> dp.t.then_count_by_categories(
        categories=list(range(LEAVES - 1)), null_category=True, MO=dp.L1Distance[int]
    )
    tree = counts >> dp.t.then_b_ary_tree(leaf_count=LEAVES, branching_factor=BRANCHES)
    noisy = dp.binary_search_chain(lambda s: tree >> dp.m.then_laplace(s), d_in=1, d_out=1.0)
    consistent = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=BRANCHES)
    read = consistent >> dp.t.make_quantiles_from_counts(edges, alphas=DECILES)
    return lambda: np.array(read(x))


def deciles(x: Floats, name: str, top: float, runs: int) -> Job:
    """Nine deciles at epsilon 1, one record added or removed; errors in ranks."""
    from diffprivlib import tools

    ordered, step = np.sort(x), None if top == 1 else 1

    def far(values: Floats | float) -> float:
        low, high = ordered.searchsorted(values), ordered.searchsorted(values, "right")
        goal = np.array(DECILES) * len(x)
        return float(np.sqrt(np.mean(np.maximum(np.maximum(low - goal, goal - high), 0) ** 2)))

    answers: dict[str, Answer] = {
        OURS: lambda: np.asarray(
            sd.quantiles(x, DECILES, bounds=(0, top), step=step, epsilon=1, interval=None).value,
            float,
        ),
        f"{OPENDP} one by one": opendp_one_by_one(x, top),
        f"{OPENDP} tree": opendp_tree(x, top),
        DIFFPRIVLIB: lambda: np.array(
            [tools.quantile(x, q, epsilon=1 / 9, bounds=(0.0, float(top))) for q in DECILES]
        ),
    }
    return Job(f"nine deciles, {name}", "ranks", answers, far, runs)


def mean(x: Floats, runs: int) -> Job:
    """Return the mean at epsilon 0.1, one record replaced; errors in dollars."""
    import opendp.prelude as dp
    from diffprivlib import tools

    space = opendp_space(len(x))
    exact = space >> dp.t.then_clamp((0.0, float(TOP))) >> dp.t.then_mean()
    private = dp.binary_search_chain(lambda s: exact >> dp.m.then_laplace(s), d_in=2, d_out=0.1)
    truth = float(np.clip(x, 0, TOP).mean())
    answers: dict[str, Answer] = {
        OURS: lambda: float(
            sd.mean(x, bounds=(0, TOP), step=1, epsilon=0.1, relation="substitute").value
        ),
        OPENDP: lambda: private(x),
        DIFFPRIVLIB: lambda: tools.mean(x, epsilon=0.1, bounds=(0.0, float(TOP))),
    }
    return Job("mean of wages", "dollars", answers, lambda v: abs(float(v) - truth), runs)


def histogram(x: Floats, runs: int) -> Job:
    """Ten counts at epsilon 1, one record added or removed; errors in records."""
    import opendp.prelude as dp
    from diffprivlib import tools

    inside = np.clip(x, 0, TOP - 1)
    truth = np.histogram(inside, EDGES)[0]
    bins = opendp_space() >> dp.t.then_find_bin(edges=[float(e) for e in EDGES[1:-1]])
    counts = bins >> dp.t.then_count_by_categories(
        categories=list(range(len(EDGES) - 2)), null_category=True
    )
    private = dp.binary_search_chain(lambda s: counts >> dp.m.then_laplace(s), d_in=1, d_out=1.0)
    cells = [(low, high) for low, high in pairwise(EDGES)]
    answers: dict[str, Answer] = {
        OURS: lambda: np.array(sd.histogram(inside, bins=EDGES, epsilon=1).value, float),
        OPENDP: lambda: np.array(private(inside), float)[: len(cells)],
        DIFFPRIVLIB: lambda: np.asarray(
            tools.histogram(inside, epsilon=1.0, bins=EDGES, range=(0, TOP))[0], float
        ),
    }
    return Job(
        "histogram of ten cells", "records", answers,
        lambda v: float(np.sqrt(np.mean((np.asarray(v) - truth) ** 2))), runs,
    )  # fmt: skip


def shares(k: int, people: int, runs: int) -> list[Job]:
    """Shares of k answers at epsilon 1, randomised by each person; errors of a share.

    pure-ldp gives unbiased shares, multi-freq-ldpy such as are not negative and sum to 1: ours
    stand beside each as what they are.
    """
    rng = np.random.default_rng(k)
    answers = rng.choice(k, people, p=(law := 1 / np.arange(1, k + 1)) / law.sum())
    truth = np.bincount(answers, minlength=k) / people
    oracle = best_oracle(1, k)

    def ours(consistent: str | None) -> Floats:
        tally = oracle.tally(oracle.randomise(answers))
        return np.asarray(frequencies(oracle, tally, people, consistent=consistent).value, float)

    def error(v: Floats | float) -> float:
        return float(np.sqrt(np.mean((np.asarray(v) - truth) ** 2)))

    def theirs(job: Callable[[Floats], object], scale: int) -> Answer:
        return lambda: np.asarray(job(answers), float) / scale

    unbiased: dict[str, Answer] = {OURS: lambda: ours(None)}
    unbiased |= {
        f"{PURE} {kind}": theirs(pure_ldp(kind, k), people) for kind in ("GRR", "OUE", "OLH", "HR")
    }
    whole: dict[str, Answer] = {OURS: lambda: ours("norm-sub")}
    whole |= {
        f"{MULTI} {kind}": theirs(multi_freq(kind, k), 1) for kind in ("GRR", "OUE", "OLH", "SS")
    }
    name = f"shares of {k} answers"
    return [
        Job(f"{name}, unbiased", "of a share", unbiased, error, runs),
        Job(f"{name}, consistent", "of a share", whole, error, runs),
    ]


def best(found: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the best method of each library."""
    out: dict[str, tuple[float, float]] = {}
    for name, (error, spread) in found.items():
        library = name.partition(" ")[0]
        if library not in out or error < out[library][0]:
            out[library] = error, spread
    return out


def judged(less: float, spread: float) -> str:
    """Return what four standard errors allow to say of ours."""
    if abs(less) <= 4 * spread:
        return "no difference seen"
    return "better" if less > 0 else "WORSE"


def jobs(*, quick: bool) -> list[Job]:
    """Return all questions."""
    runs = 20 if quick else 100
    wages = np.asarray(sd.data.wages(), float)[:20_000]
    uniform = np.random.default_rng(1).random(20_000)
    return [
        deciles(uniform, "uniform", 1, runs // 2),
        deciles(wages, "wages", TOP, runs // 2),
        mean(wages, 5 * runs),
        histogram(wages, 5 * runs),
        *shares(10, 2_000, runs // 4),
        *shares(100, 2_000, runs // 4),
    ]


def main() -> int:
    """Measure, print, write, and judge."""
    quick = "--quick" in sys.argv[1:]
    warnings.simplefilter("ignore")
    rows, lines = [], []
    with Progress() as progress:
        for job in progress.track(jobs(quick=quick), description="errors"):
            found = best(job.measure())
            ours, spread = found.pop(OURS)
            for peer, (theirs, width) in found.items():
                met = theirs >= ours - 4 * float(np.hypot(spread, width))
                rows.append(Beside("error", job.name, peer, ours, theirs, job.unit, met))
                said = [f"{e:.4g} ± {s:.2g}" for e, s in ((ours, spread), (theirs, width))]
                verdict = judged(theirs - ours, float(np.hypot(spread, width)))
                lines.append([job.name, job.unit, said[0], peer, said[1], verdict])
    header = ["question", "error in", OURS, "peer", "its error", "ours is"]
    table = Table(*header, title="Errors at the same epsilon")
    for line in lines:
        table.add_row(*line)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    facts = ", ".join(f"{name} {fact}" for name, fact in machine_facts().items())
    OUT.mkdir(exist_ok=True)
    text = "\n".join("| " + " | ".join(line) + " |" for line in (header, ["---"] * 6, *lines))
    (OUT / "accuracy.md").write_text(f"# Errors\n\n{facts}\n\n{text}\n", "utf-8")
    write("accuracy", rows, quick=quick)
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
