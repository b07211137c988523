"""Designs: their variances beside those of other channels, and errors of distribution functions.

``python benchmarks/designs.py``
    n times the variance of a point of the distribution function at epsilon 1, with bounds.
``python benchmarks/designs.py draws --runs 8``
    Kolmogorov-Smirnov distance, area between the functions (W1) and rank error of deciles of
    100,000 numbers from six laws at epsilon 1, beside this library's other methods.
``python benchmarks/designs.py intervals --runs 12``
    Widths of the 95% intervals of an age at epsilon 1 over those by Square Wave, and up to how many
    people intervals of quantiles by a design are the shorter ones.
``python benchmarks/designs.py make``
    The tables of designs that the library holds, ``make designs``: half an hour of one processor,
    and a minute or several for each of 121 nodes.
    What it found is kept in ``benchmarks/out/designs``, so that it can be stopped and started.
``python benchmarks/designs.py picture``
    The heat maps of the guide.
"""

from __future__ import annotations

import argparse
import pickle
from fractions import Fraction
from math import expm1
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sourdine import local
from sourdine.grid import Grid
from sourdine.local.designs.channels import COARSE, NUMBERS, TABLE, UNIT, reversed_subset, rounded
from sourdine.local.designs.design import value_of, workload
from sourdine.local.designs.numbers import designed
from sourdine.local.designs.solver import Solution, bound, solve
from sourdine.local.estimators.distribution import QuantileEstimate
from sourdine.local.estimators.means import mean
from sourdine.local.numeric.sliding import UnbiasedReport, square_wave
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
WHERE = HERE.parent / "src" / "sourdine" / "local" / "designs"
SIZES = {
    TABLE: (*range(2, 17), 20, 24, 32, 48, 64),
    NUMBERS: (*range(2, 17), 20, 24, 32, 48, 121),
}
EPSILONS = tuple(Fraction(e) for e in ("1", "0.25", "0.5", "2", "3", "4"))


# ---- The tables that the library holds -----------------------------------------------------------


def asked(table: str, k: int) -> Floats:
    """Return what the designs of a table are for.

    Those for numbers also know the mean: a row so heavy that its variance counts about as much as
    the whole distribution function's.
    """
    rows = workload("distribution", k)
    if table == TABLE:
        return rows
    weight = k / np.sqrt(3) * min(1, 48 / k) ** 0.25
    return np.vstack([rows, np.arange(k) / (k - 1) * weight])


def near(folder: Path, table: str, k: int, epsilon: Fraction) -> NDArray[np.bool_] | None:
    """Return subsets to begin with: of a coarser design, and of one for a like epsilon."""
    found = []
    for coarse in (c for c in reversed(SIZES[table]) if k > 16 and c <= max(k // 2, 16)):
        path = place(folder, table, coarse, epsilon)
        if path.exists():
            half = pickle.loads(path.read_bytes())  # noqa: S301 - written below
            found.append(half.subsets[:, np.arange(k) * coarse // k])
            break
    spans = sorted(EPSILONS)
    for other in spans:
        path = place(folder, table, k, other)
        if k > 32 and abs(spans.index(other) - spans.index(epsilon)) == 1 and path.exists():
            like = pickle.loads(path.read_bytes())  # noqa: S301
            found.append(like.subsets[np.argsort(-like.theta)[:400]])
    return np.vstack(found) if found else None


def place(folder: Path, table: str, k: int, epsilon: Fraction) -> Path:
    return folder / f"{table[0]}_{k}_{float(epsilon)}.pkl"


def make(folder: Path) -> None:
    """Compute what is not there yet, the smallest first, and write the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, sizes in SIZES.items():
        for k in sizes:
            for epsilon in EPSILONS:
                path = place(folder, table, k, epsilon)
                if path.exists():
                    continue
                began = process_time()
                first = near(folder, table, k, epsilon)
                solution = solve(asked(table, k), float(epsilon), near=first)
                path.write_bytes(pickle.dumps(solution))
                print(
                    f"{table} {k} at {float(epsilon):g}: {solution.value:.4f}, bound "
                    f"{solution.bound:.4f}, {process_time() - began:.0f} s",
                    flush=True,
                )
    collect(folder)


def write_table(path: str, solutions: Mapping[tuple[int, Fraction], Solution]) -> None:
    """Write designs for distribution functions, one of each pair of reversed subsets."""
    index, subsets, lows = [], list[int](), list[int]()
    for (k, epsilon), solution in sorted(solutions.items()):
        found = dict(zip(*rounded(solution, epsilon), strict=True))
        kept = {s: low for s, low in found.items() if s <= reversed_subset(s, k)}
        index.append((k, epsilon.numerator, epsilon.denominator, len(kept)))
        subsets += kept
        lows += [low >> COARSE for low in kept.values()]
    words = np.array([divmod(s, 1 << 64)[::-1] for s in subsets], np.uint64)
    lower = np.array(lows, np.uint32)
    np.savez_compressed(path, index=np.array(index, np.int64), subsets=words, lows=lower)


def collect(folder: Path) -> None:
    """Write the tables of what has been computed so far."""
    for table, sizes in SIZES.items():
        places = {(k, e): place(folder, table, k, e) for k in sizes for e in EPSILONS}
        found = {
            key: pickle.loads(path.read_bytes())  # noqa: S301
            for key, path in places.items()
            if path.exists()
        }
        write_table(str(WHERE / table), found)
        print(f"{table}: {len(found)} designs, {(WHERE / table).stat().st_size} bytes")


# ---- Variances -----------------------------------------------------------------------------------


def haar(k: int, e: float) -> Floats:
    """Return Haar coefficients by Hadamard response: a random level, a random row, one bit.

    G. Cormode, T. Kulkarni, D. Srivastava, "Answering range queries under local differential
    privacy", VLDB 2019.
    """
    outputs = []
    levels = k.bit_length() - 1
    for level in range(levels):
        n = 1 << level
        node, side = np.arange(k) * n // k, 1 - 2 * (np.arange(k) * 2 * n // k % 2)
        for row in range(n):
            sign = 1 - 2 * (np.bitwise_count(row & node) & 1).astype(int)
            outputs += [np.where(sign * side == b, e, 1) / (1 + e) / n / levels for b in (1, -1)]
    return np.array(outputs).T


def subset_selection(k: int, e: float, w: Floats) -> float:
    """Return the variance of subset selection, whose information has two eigenvalues."""
    size = max(1, round(k / (1 + e)))
    mean = 1 + (e - 1) * size / k
    both = size * (size - 1) / (k * (k - 1))
    one = 2 * size * (k - size) / (k * (k - 1))
    own = (size * e * e + k - size) / k
    other = both * e * e + one * e + 1 - both - one
    information = ((own - other) * np.eye(k) + other) / mean / mean
    noise = np.trace(np.linalg.solve(information, w.T @ w))
    return float((noise - (w**2).sum() / k) / len(w))


def certificate(d: local.Design) -> float:
    """Return the lower bound that goes with a design."""
    inside = np.array([[s >> u & 1 for u in range(d.categories)] for s in d.subsets], np.bool_)
    theta = np.array(d.lows) / UNIT
    own = Solution(subsets=inside, theta=theta, value=0.0, bound=0.0, every=True)
    return bound(workload(d.question, d.categories), float(d.epsilon), own)


def variances(epsilon: float, sizes: list[int]) -> None:
    e = expm1(epsilon) + 1
    print(f"n times the variance of a point of the distribution function, epsilon {epsilon:g}")
    print("| k | design | bound | Haar + Hadamard | subset selection | square wave | response |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for k in sizes:
        w = workload("distribution", k)
        d = local.design("distribution", epsilon, categories=k)
        response = (np.ones((k, k)) + (e - 1) * np.eye(k)) / (k - 1 + e)
        tree = f"{value_of(haar(k, e), w):.2f}" if k & (k - 1) == 0 else "-"
        wave = value_of(square_wave(epsilon, k - 1).rows(), w)
        print(
            f"| {k} | {d.value():.2f} | {certificate(d):.2f} | {tree} "
            f"| {subset_selection(k, e, w):.2f} | {wave:.2f} | {value_of(response, w):.1f} |",
            flush=True,
        )


# ---- Errors of distribution functions ------------------------------------------------------------


def laws() -> dict[str, Any]:
    """Return how to draw numbers from 0 to 1 by six laws."""

    def spike(rng: np.random.Generator, n: int) -> Floats:
        x = rng.beta(2, 3, n)
        x[rng.random(n) < 0.2] = 0.37
        return x

    def two(rng: np.random.Generator, n: int) -> Floats:
        left = rng.random(n) < 0.4
        return np.clip(np.where(left, rng.normal(0.25, 0.05, n), rng.normal(0.7, 0.1, n)), 0, 1)

    def blocks(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random(n) < 0.5, rng.uniform(0.1, 0.2, n), rng.uniform(0.55, 0.95, n))

    return {
        "beta": lambda rng, n: rng.beta(2, 5, n),
        "bimodal": two,
        "exponential": lambda rng, n: np.clip(rng.exponential(0.12, n), 0, 1),
        "uniform": lambda rng, n: rng.random(n),
        "blocks": blocks,
        "20% spike": spike,
    }


def by_density(x: Floats, rng: np.random.Generator, **asked: str) -> tuple[Floats, Floats]:
    """Return edges and the distribution function there, from randomised reports."""
    source = SeededSource(int(rng.integers(1 << 30)))
    found = local.density(x, bounds=(0, 1), epsilon=1, source=source, **asked)
    edges = np.linspace(0, 1, 2049)
    return edges, np.asarray(found.cdf(edges))


def errors(x: Floats, edges: Floats, f: Floats) -> tuple[float, float, float]:
    """Return the Kolmogorov-Smirnov distance, W1 and the mean rank error of the deciles."""
    n, at, orders = len(x), np.linspace(0, 1, 2049), np.arange(1, 10) / 10
    ordered = np.sort(x)
    true, found = np.searchsorted(ordered, at, "right") / n, np.interp(at, edges, f)
    deciles = np.interp(orders, f + 1e-12 * np.arange(len(f)), edges)
    ranks = np.searchsorted(ordered, deciles) / n
    off = np.abs(found - true)
    return float(off.max()), float(off.mean()), float(np.abs(ranks - orders).mean())


METHODS = {
    "square wave": {"method": "square-wave"},
    "bins": {"method": "auto", "loss": "l2"},
    "design": {"method": "design"},
}


def draws(runs: int, n: int) -> None:
    print(f"{n} numbers, epsilon 1, {runs} runs: KS, W1, rank error of deciles")
    print("in brackets the errors of the design over those of the best other method")
    for name, draw in laws().items():
        means = {}
        for method, asked in METHODS.items():
            out = []
            for run in range(runs):
                rng = np.random.default_rng([run, len(name)])
                x = draw(rng, n)
                out.append(errors(x, *by_density(x, rng, **asked)))
            means[method] = np.mean(out, axis=0)
        best = np.minimum(means["square wave"], means["bins"])
        for method, own in means.items():
            ratio = f" ({', '.join(f'{r:.2f}' for r in own / best)})" if method == "design" else ""
            print(
                f"{name:12} {method:12} {own[0]:.4f} {own[1]:.4f} {own[2]:.4f}{ratio}",
                flush=True,
            )


# ---- Widths of intervals -------------------------------------------------------------------------


AGES, QUARTILES = Grid(0, 120, 1), (0.25, 0.5, 0.75)


def widths(report: UnbiasedReport, grid: Grid, tally: NDArray[np.int64]) -> Floats:
    """Return the widths of the intervals of the mean and of the quartiles."""
    low, high = QuantileEstimate(report=report, grid=grid, q=QUARTILES).ends(tally, 0.05, "sample")
    ends = mean(report, tally, grid).interval(0.95)
    return np.array([ends[1] - ends[0], *(high - low)])


def intervals(runs: int) -> None:
    print("widths by a design over those by Square Wave, ages around 42, epsilon 1")
    print("| people | mean | lower quartile | median | upper quartile |")
    print("|--:|--:|--:|--:|--:|")
    reports = designed(1, AGES.last), square_wave(1, AGES.last)
    for n in (1_000, 5_000, 20_000, 100_000, 1_000_000):
        sums = np.zeros((2, 4))
        for run in range(runs):
            rng, source = np.random.default_rng([run, n]), SeededSource(run)
            ages = rng.normal(42, 19, n).clip(0, 105).round().astype(np.int64)
            for i, report in enumerate(reports):
                tally = report.tally(report.randomise(ages, source=source))
                sums[i] += widths(report, AGES, tally)
        ratios = " | ".join(f"{ratio:.2f}" for ratio in sums[0] / sums[1])
        print(f"| {n:,} | {ratios} |", flush=True)
    print("up to how many people a design has the shorter intervals, even answers")
    for last in (120, 1_000):
        for epsilon in (1, 2, 4):
            print(f"0 to {last}, epsilon {epsilon}: {crossing(last, epsilon)}", flush=True)


def crossing(last: int, epsilon: int) -> str:
    """Return up to how many people intervals of quartiles by a design are the shorter ones."""
    pair, grid = (designed(epsilon, last), square_wave(epsilon, last)), Grid(0, last, 1)
    for n in np.geomspace(1e9, 1e3, 37).astype(np.int64).tolist():
        even = [np.rint(n * r.rows().mean(axis=0)).astype(np.int64) for r in pair]
        ours, other = (widths(r, grid, t)[1:].sum() for r, t in zip(pair, even, strict=True))
        if ours <= other:
            return f"{n:,} people"
    return "none"


# ---- The picture of the guide --------------------------------------------------------------------


def picture(path: Path, sizes: list[int]) -> None:
    """Draw the channels: cells across, an output a row, as tall as it is likely."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(sizes), figsize=(3.3 * len(sizes), 5.2))
    for axes, k in zip(panels, sizes, strict=True):
        d = local.design("distribution", 1, categories=k)
        weights = d.weights[:-1]
        mean = weights.mean(axis=1)
        high = weights == weights.max(axis=1, keepdims=True)
        centre = (high * np.arange(k)).sum(axis=1) / high.sum(axis=1)
        order = np.lexsort((high.sum(axis=1), centre))
        edges = np.concatenate([[0.0], np.cumsum(mean[order])]) / mean.sum()
        lift = weights[order] / mean[order][:, None]
        mesh = axes.pcolormesh(np.arange(k + 1), edges, lift, cmap="magma", vmin=0.4, vmax=2.2)
        axes.set_title(f"{k} cells, {d.codes} outputs", fontsize=11)
        axes.set_xticks([0, k // 2, k])
        axes.set_yticks([])
        axes.invert_yaxis()
        for side in axes.spines.values():
            side.set_visible(False)
    figure.supxlabel("cell of the person's answer", fontsize=10)
    panels[0].set_ylabel("outputs, each as tall as it is likely")
    bar = figure.colorbar(mesh, ax=panels, fraction=0.02, pad=0.015)
    bar.set_label("probability over its mean")
    bar.outline.set_visible(False)
    figure.savefig(path, dpi=130, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    choices = ["variances", "draws", "intervals", "make", "collect", "picture"]
    parser.add_argument("what", nargs="?", default="variances", choices=choices)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--folder", type=Path, default=OUT / "designs")
    given = parser.parse_args()
    if given.what == "variances":
        variances(given.epsilon, given.sizes or [10, 16, 32, 64])
    elif given.what == "draws":
        draws(given.runs, given.people)
    elif given.what == "intervals":
        intervals(given.runs)
    elif given.what == "picture":
        picture(HERE.parent / "docs" / "images" / "designs.png", given.sizes or [8, 16, 32, 64])
    else:
        {"make": make, "collect": collect}[given.what](given.folder)


if __name__ == "__main__":
    main()
