"""Intervals for a population: how often they hold, and how wide they are beside the usual ones.

For each law, number of records and epsilon: the share of runs in which the interval holds the law's
mean (the truth is kept exactly if the line is within its reach there, so no interval has to be
searched for), and the width over that of the interval that needs no privacy. Noise is drawn by the
library's own mechanisms.

Usage: python benchmarks/populations.py [RUNS]
"""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path

import numpy as np
from sourdine.central.mean import Mean
from sourdine.central.population import Moments, Share, normal_reach, proved_reach
from sourdine.central.proportion import Proportion
from sourdine.data import wages

BETA, Z = 0.05, 1.959964
WIDTHS = 24
LAST = 400
"""Values are rounded to so many steps, so that a sample is a table of counts."""


def laws():
    """Return the share of each tick, by name."""
    rng = np.random.default_rng(3)
    values = {
        "wages": np.clip(np.asarray(wages(), float) / 200_000, 0, 1),
        "normal": np.clip((rng.normal(0, 1, 400_000) + 5) / 10, 0, 1),
        "lognormal": np.clip(rng.lognormal(0, 1, 400_000) / 50, 0, 1),
    }
    gain = capital_gain()
    if gain is not None:
        values["capital gain"] = np.clip(gain / 100_000, 0, 1)
    return {
        name: np.bincount(np.rint(u * LAST).astype(int), minlength=LAST + 1) / len(u)
        for name, u in values.items()
    }


def capital_gain():
    """Return the Adult data's capital gains, if they lie beside the repository."""
    for path in Path(__file__).resolve().parents[1].parent.glob("*/data/adult_all.csv.gz"):
        import pandas as pd  # noqa: PLC0415 - for this table alone

        return pd.read_csv(path)["capital-gain"].to_numpy(float)
    return None


def drawn(statistic, counts, n, runs, rng):
    """Return what was drawn of each sample: moments or numbers of ones, with the library's noise."""
    ticks = np.arange(LAST + 1)
    samples = rng.multinomial(n, counts, runs)
    sums = zip((samples @ ticks).tolist(), (samples @ ticks**2).tolist(), strict=True)
    made = statistic.with_spread
    return [made.draw(n, (n, t, s), statistic.source) for t, s in sums], samples


def together(parts):
    """Return the evidence of all runs side by side."""
    first = parts[0]
    column = {
        "at_0": np.array([p.at_0 for p in parts]),
        "at_1": np.array([p.at_1 for p in parts]),
    }
    if isinstance(first, Moments):
        square = tuple(np.array(x) for x in zip(*[p.square for p in parts], strict=True))
        return Moments(
            square=square, scale=first.scale, weights=first.weights, n=first.n, **column
        )
    n = np.array([p.n for p in parts])
    return Share(n=n, scales=first.scales, noises=first.noises, **column)


def held(evidence, mu, reach):
    """Return in which runs the truth is within reach of the line."""
    at = np.full(len(evidence.at_0), mu)
    z = evidence.line(at)
    up, down = (reach(evidence, at, at, far, BETA) for far in (1 - at, at))
    return (-down <= z) & (z <= up)


def mean_cells(runs, rng):
    """Print coverage and width for means."""
    print("mean            relation    n       eps   covers: normal any law   width: normal any law")
    for name, counts in laws().items():
        u = np.arange(LAST + 1) / LAST
        mu = float(u @ counts)
        sd = sqrt(float((u * u) @ counts) - mu * mu)
        for relation in ("add_remove", "substitute"):
            for n in (200, 2000, 100_000):
                for eps in (0.1, 1.0):
                    mean = Mean(bounds=(0, LAST), step=1, epsilon=eps, relation=relation, population=True)
                    out, _ = drawn(mean, counts, n, runs, rng)
                    made = mean.with_spread
                    seen = [e for d in out if (e := made.evidence(d)) is not None]
                    every = together(seen)
                    covers = [held(every, mu, r).mean() for r in (normal_reach, proved_reach)]
                    usual = 2 * Z * sd / sqrt(n)
                    widths = []
                    for of in ("normal", "population"):
                        ends = [made.limits(d, BETA, of) for d in out[:WIDTHS]]
                        widths.append(np.mean([b - a for a, b in ends]) / usual)
                    print(
                        f"{name:<15} {relation:<11} {n:<7} {eps:<5} "
                        f"{covers[0]:14.4f} {covers[1]:.4f} {widths[0]:14.2f} {widths[1]:.2f}",
                        flush=True,
                    )


def share_cells(runs, rng):
    """Print coverage and width for shares, rare ones included."""
    print("share           relation    n       eps   covers: normal any law   width: normal any law")
    rare = [lam / 2000 for lam in (0.5, 1, 2, 4, 6, 10, 20, 50)]
    cells = [(n, p, e) for n in (200, 2000, 100_000) for p in (0.01, 0.1, 0.5) for e in (0.1, 1.0)]
    cells += [(2000, p, e) for p in rare for e in (1.0, 10.0)]
    for relation in ("add_remove", "substitute"):
        for n, p, eps in cells:
            share = Proportion(epsilon=eps, relation=relation, population=True)
            ones = rng.binomial(n, p, runs).tolist()
            usual = 2 * Z * sqrt(p * (1 - p) / n)
            if share.known:
                noisy = [share.mechanism.release(k).value for k in ones]
                facts = [{"ones": int(k), "records": n} for k in noisy]
                seen = [Share.of_public(k, n, float(share.mechanism.scale)) for k in noisy]
                tries = sorted(set(noisy))
                ends = {k: share._of_population({"ones": int(k), "records": n}, BETA, "population") for k in tries}
                proved = np.mean([ends[k][0] <= p <= ends[k][1] for k in noisy])
            else:
                pairs = [share.ratio.draw(n, k, share.source) for k in ones]
                facts = [dict(zip(share.ratio.names, pair, strict=True)) for pair in pairs]
                seen = [share.ratio.evidence(pair) for pair in pairs]
                proved = held(together(seen), p, proved_reach).mean()
            every = together(seen)
            covers = [held(every, p, normal_reach).mean(), proved]
            widths = [
                np.mean([b - a for a, b in (share._of_population(d, BETA, of) for d in facts[:WIDTHS])])
                / usual
                for of in ("normal", "population")
            ]
            print(
                f"{p:<15.5f} {relation:<11} {n:<7} {eps:<5} "
                f"{covers[0]:14.4f} {covers[1]:.4f} {widths[0]:14.2f} {widths[1]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    how_many = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    generator = np.random.default_rng(11)
    share_cells(how_many, generator)
    mean_cells(how_many, generator)
