"""Intervals for a population: how often they hold, and how wide they are beside the usual ones.

Run ``python benchmarks/populations.py`` (``--runs 1000 --widths 2`` for a rough look). For each
law, number of records and epsilon: the part of runs in which the interval holds the law's mean, and
its width over that of the usual interval, which needs no privacy and is computed from the law
itself. The truth is held exactly if the line is within reach there, so no interval has to be
searched for. Noise is drawn by the library's own mechanisms. The exit status is 1 if a target is
missed: normal intervals hold in at least 94.5% of runs (less four standard errors), the others in
at least 95%.
"""

from __future__ import annotations

import argparse
import sys
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sourdine.central import Mean, Proportion
from sourdine.central.intervals import (
    MomentEvidence,
    ShareEvidence,
    SumEvidence,
    normal_reach,
    proved_reach,
)
from sourdine.data import wages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Floats = NDArray[np.float64]
BETA, Z = 0.05, 1.959964
LAST = 400
"""Values are rounded to so many steps, so that a sample is a table of counts."""
RELATIONS = ("add_remove", "substitute")
RARE = (0.5, 1, 2, 4, 6, 10, 20, 50)
REACHES: tuple[Callable[..., tuple[Floats, Floats]], ...] = (normal_reach, proved_reach)
Cell = tuple[str, str, int, float, float, float, float, float]


def laws() -> dict[str, Floats]:
    """Return the probability of each tick, by name."""
    rng = np.random.default_rng(3)
    values = {
        "wages": np.asarray(wages(), float) / 200_000,
        "normal": (rng.normal(0, 1, 400_000) + 5) / 10,
        "lognormal": rng.lognormal(0, 1, 400_000) / 50,
    }
    for path in Path(__file__).resolve().parents[2].glob("*/data/adult_all.csv.gz"):
        import pandas as pd

        values["capital gain"] = pd.read_csv(path)["capital-gain"].to_numpy(float) / 100_000
    ticks = {name: np.rint(np.clip(u, 0, 1) * LAST).astype(int) for name, u in values.items()}
    return {name: np.bincount(t, minlength=LAST + 1) / len(t) for name, t in ticks.items()}


def together(parts: Sequence[SumEvidence]) -> SumEvidence:
    """Return the evidence of all runs side by side."""
    first: Any = parts[0]
    ends: dict[str, Any] = {
        name: np.array([getattr(p, name) for p in parts]) for name in ("at_0", "at_1")
    }
    if isinstance(first, MomentEvidence):
        every: Any = [p.square for p in parts if isinstance(p, MomentEvidence)]
        return MomentEvidence(
            square=tuple(np.array(every).T),
            scale=first.scale,
            weights=first.weights,
            n=first.n,
            **ends,
        )
    n: Any = np.array([p.n for p in parts if isinstance(p, ShareEvidence)])
    return ShareEvidence(n=n, scales=first.scales, noises=first.noises, **ends)


def held(evidence: SumEvidence, mu: float, reach: Callable[..., tuple[Floats, Floats]]) -> float:
    """Return the part of runs in which the truth is within reach of the line."""
    at = np.full(len(np.asarray(evidence.at_0)), mu)
    z = evidence.line(at)
    down, up = reach(evidence, at, at, BETA)
    return float(((-down <= z) & (z <= up)).mean())


def width(ends: Sequence[tuple[float, float]], usual: float) -> float:
    """Return the mean width, over the usual one."""
    return float(np.mean([high - low for low, high in ends])) / usual


def means(runs: int, widths: int, rng: np.random.Generator) -> Iterator[Cell]:
    """Yield coverage and width for means."""
    u = np.arange(LAST + 1)
    for name, law in laws().items():
        mu = float(u @ law) / LAST
        sd = sqrt(float((u * u) @ law) / LAST**2 - mu * mu)
        for relation in RELATIONS:
            for n in (200, 2000, 100_000):
                for eps in (0.1, 1.0):
                    made = Mean(
                        bounds=(0, LAST), step=1, epsilon=eps, relation=relation, population=True
                    )
                    spread = made.with_spread
                    sums = rng.multinomial(n, law, runs) @ np.stack((u, u * u), -1)
                    drawn = [spread.draw(n, (n, *s), made.source) for s in sums.tolist()]
                    every = together([e for d in drawn if (e := spread.evidence(d)) is not None])
                    covers = [held(every, mu, reach) for reach in REACHES]
                    usual = 2 * Z * sd / sqrt(n)
                    wide = [
                        width([spread.limits(d, BETA, of) for d in drawn[:widths]], usual)
                        for of in ("normal", "population")
                    ]
                    yield name, relation, n, eps, covers[0], covers[1], wide[0], wide[1]


def shares(runs: int, widths: int, rng: np.random.Generator) -> Iterator[Cell]:
    """Yield coverage and width for shares, rare ones included."""
    cells = [(n, p, e) for n in (200, 2000, 100_000) for p in (0.01, 0.1, 0.5) for e in (0.1, 1.0)]
    cells += [(2000, lam / 2000, e) for lam in RARE for e in (1.0, 10.0)]
    for n, p, eps in cells:
        usual, ones = 2 * Z * sqrt(p * (1 - p) / n), rng.binomial(n, p, runs).tolist()
        yield _private(Proportion(epsilon=eps), n, p, ones, usual, widths)
        yield _public(Proportion(epsilon=eps, relation="substitute"), n, p, ones, usual)


def _private(
    made: Proportion, n: int, p: float, ones: list[int], usual: float, widths: int
) -> Cell:
    drawn = made.ratio.draw_all([(n, k) for k in ones], made.source)
    first, second = made.ratio.names
    pairs = [(one[first], one[second]) for one in drawn]
    every = together([made.ratio.evidence(pair) for pair in pairs])
    covers = [held(every, p, reach) for reach in REACHES]
    wide = [
        width([made.of_population(d, BETA, of) for d in drawn[:widths]], usual)
        for of in ("normal", "population")
    ]
    eps = float(made.epsilon)
    return f"share {p:g}", "add_remove", n, eps, covers[0], covers[1], wide[0], wide[1]


def _public(made: Proportion, n: int, p: float, ones: list[int], usual: float) -> Cell:
    noisy = [int(made.mechanism.release(k).value) for k in ones]
    ends = {
        k: made.of_population({"ones": k, "records": n}, BETA, "population") for k in set(noisy)
    }
    covers = float(np.mean([ends[k][0] <= p <= ends[k][1] for k in noisy]))
    wide = width([ends[k] for k in noisy], usual)
    return f"share {p:g}", "substitute", n, float(made.epsilon), 1.0, covers, np.nan, wide


def main() -> None:
    """Print the table; fail if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--widths", type=int, default=20, help="of so many the width is looked at")
    given = parser.parse_args()
    runs = given.runs
    rng = np.random.default_rng(11)
    heads = ("law", "relation", "n", "epsilon", "normal holds", "any law holds", "width", "width")
    table, missed = Table(*heads), 0
    for cells in (shares, means):
        for *what, usual, always, narrow, wide in cells(runs, given.widths, rng):
            slack = 4 * sqrt(0.05 * 0.95 / runs)
            bad = usual < 0.945 - slack or always < 0.95 - slack
            missed += bad
            own = ("", "") if np.isnan(narrow) else (f"{usual:.4f}", f"{narrow:.2f}")
            shown = (own[0], f"{always:.4f}", own[1], f"{wide:.2f}")
            table.add_row(*map(str, what), *shown, style="red" if bad else None)
            print(*what, *shown, flush=True)
    Console(width=110).print(table)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
