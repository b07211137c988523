"""Rank errors of quantiles by paired draws, beside lower bounds for every mechanism.

Run ``python benchmarks/quantile_bounds.py`` (``--quick`` for a rough look, ``--bounds`` to solve
the linear programs again). A Markdown table goes to ``benchmarks/out/quantile_bounds.md``.

The average rank error of m evenly spaced quantiles of uniform records, ``interval=None``, epsilon 1
under add/remove, is measured for ``method="auto"`` and for the joint draw with a free total, or two
levels, with the count at the price that it had before. Both draw from the same data sets, so their
ratio is known much better than either; a data set has 200,000 to 204,095 records, because the error
depends on the number of records modulo the distance of two totals.

*Lower bounds.* Take records that lie densely at places that the mechanism does not know, so that it
can hardly publish one of them, and add ``k_i`` of them between the quantiles. That moves the goals
by ``F k``, so quantiles tell the numbers ``F k``, and the best error of any private estimate of
these for all ``k`` bounds that of any private quantiles from below. Averaged over all ``k`` and all
places such an estimate has one law of errors, whose probabilities at errors one record apart differ
by the factor e at most: the least average error is a linear program. Errors beyond R ranks are
counted as R and cut off. For more than three quantiles that is too large; the average over parts of
them is a lower bound still.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import sourdine as sd
from sourdine.central.quantiles.joint import JointFree
from sourdine.central.quantiles.levels import Hybrid
from sourdine.central.quantiles.methods import COUNTING
from sourdine.central.quantiles.points import Points
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from sourdine.central.quantiles.algorithm import QuantileMechanism

Floats = NDArray[np.float64]
OUT = Path(__file__).parent / "out" / "quantile_bounds.md"
CELLS = 1 << 40
PARTS: dict[tuple[str, ...], float] = {
    ("1/2",): 0.541,
    ("1/4", "1/2", "3/4"): 0.851,
    ("1/3", "2/3"): 0.748,
    ("1/10", "2/5", "7/10"): 0.853,
    ("1/5", "1/2", "4/5"): 0.824,
}
"""Orders, and the least average error that the linear program has found for them."""


REACH = {("1/2",): 12, ("1/3", "2/3"): 6, ("1/4", "1/2", "3/4"): 6}
"""How many ranks the linear programs go; 4 where there is nothing else."""


def least_error(orders: tuple[str, ...], reach: int) -> float:
    """Return a lower bound on the average rank error of these quantiles at epsilon 1."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix, vstack

    q = [Fraction(order) for order in orders]
    m, unit = len(q), int(np.lcm.reduce([order.denominator for order in q]))
    goal = np.array([int(order * unit) for order in q])  # all in units of 1/unit ranks
    moves = [[(unit if i <= j else 0) - goal[j] for j in range(m)] for i in range(m + 1)]
    points, rest = [], []
    for t in range(unit):  # how many records there are, modulo the unit
        begin = (-t * goal) % unit - reach * unit
        some = list(product(*(np.arange(a, reach * unit + 1, unit) for a in begin)))
        points += some
        rest += [t] * len(some)
    at = {point: i for i, point in enumerate(points)}
    pairs = [
        (i, at[other])
        for i, point in enumerate(points)
        for move in moves
        if (other := tuple(a + b for a, b in zip(point, move, strict=True))) in at
    ]
    pairs += [(j, i) for i, j in pairs]
    rows = np.repeat(np.arange(len(pairs)), 2)
    columns, values = np.array(pairs).ravel(), np.tile([1.0, -np.e], len(pairs))
    private = coo_matrix((values, (rows, columns)), shape=(len(pairs), len(points)))
    whole = coo_matrix((np.ones(len(points)), (rest, np.arange(len(points)))))
    far = reach / m
    cost = (np.abs(np.array(points)).mean(axis=1) / unit - far) / unit
    most = np.concatenate((np.zeros(len(pairs)), np.ones(unit)))
    found = linprog(cost, A_ub=vstack((private, whole)).tocsr(), b_ub=most, method="highs-ipm")
    return float(found.fun) + far


def bound(m: int) -> float:
    """Return the best lower bound known here for m evenly spaced quantiles."""
    if m == 1:
        return PARTS["1/2",]
    if m == 2:
        return PARTS["1/3", "2/3"]
    if m == 3:
        return PARTS["1/4", "1/2", "3/4"]
    if m == 9:  # in threes: 1 4 7, 2 5 8 and 3 6 9, which is the first read backwards
        first, second = PARTS["1/10", "2/5", "7/10"], PARTS["1/5", "1/2", "4/5"]
        return (2 * first + second) / 3
    return least_alone(m)


def least_alone(m: int) -> float:
    """Return the average of what each quantile must err on its own."""
    orders = [Fraction(j, m + 1) for j in range(1, m // 2 + 2)]
    alone = [least_error((str(q),), 12) for q in orders]
    return (2 * sum(alone[:-1]) + alone[-1]) / m


@dataclass(frozen=True)
class Compared:
    """A number of quantiles, and what is asked of their average rank error."""

    m: int
    asked: float | None
    sets: int
    draws: int = 20

    def mechanisms(self) -> tuple[QuantileMechanism, QuantileMechanism]:
        """Return what is drawn from now, and what was before."""
        q = [Fraction(j, self.m + 1) for j in range(1, self.m + 1)]
        asked = {"bounds": (0, CELLS - 1), "step": 1, "epsilon": 1, "interval": None}
        now = sd.central.Quantiles(q=q, **asked).mechanism(200_000)
        if self.m == 1:
            return now, now
        kind = JointFree if self.m <= 40 else Hybrid
        share = 1 - COUNTING if self.m > 3 else 1
        return now, kind(epsilon=share, q=q, cells=CELLS)

    def measure(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the average errors in each data set, now and before."""
        found: list[list[float]] = []
        mechanisms = self.mechanisms()
        q = np.array([float(order) for order in mechanisms[0].orders])
        for _ in track(range(self.sets), description=f"m = {self.m}"):
            n = 200_000 + int(rng.integers(0, 4096))
            ticks = np.sort(rng.integers(0, CELLS, n))
            x, goals = Points.of(ticks, CELLS), q * n
            errors = []
            for mechanism in dict.fromkeys(mechanisms):
                drawn = mechanism.many(x, self.draws, SYSTEM)
                v = np.array([mechanism.published(one) for one in drawn])
                low, high = ticks.searchsorted(v, "left"), ticks.searchsorted(v, "right")
                errors.append(float(np.maximum(np.maximum(low - goals, goals - high), 0).mean()))
            found.append([errors[0], errors[-1]])
        now, before = np.array(found).T
        return now, before


def main() -> int:
    """Measure, print and write."""
    arguments = sys.argv[1:]
    if "--bounds" in arguments:
        for orders, kept in PARTS.items():
            again = least_error(orders, REACH.get(orders, 4))
            print(orders, kept, again)
    fewer = 10 if "--quick" in arguments else 1
    rows = []
    for compared in (
        Compared(1, 0.93, 600),
        Compared(2, None, 400),
        Compared(3, None, 400),
        Compared(9, 2.8, 600),
        Compared(31, 5.0, 200),
        Compared(99, 7.0, 100),
    ):
        some = Compared(compared.m, compared.asked, max(compared.sets // fewer, 10))
        now, before = some.measure(np.random.default_rng(compared.m))
        least, runs = bound(some.m), len(now) ** 0.5
        ratio = now.mean() / before.mean()
        apart = np.std(now - ratio * before) / before.mean() / runs
        rows.append((
            f"{some.m}", f"{before.mean():.3f} ± {before.std() / runs:.3f}",
            f"{now.mean():.3f} ± {now.std() / runs:.3f}", f"{ratio:.3f} ± {apart:.3f}",
            "-" if some.asked is None else f"{some.asked:g}", f"{least:.2f}",
            f"{now.mean() / least:.1f}",
        ))  # fmt: skip
    heads = ("quantiles", "before", "now", "ratio", "target", "no mechanism below", "now over it")
    table = Table(*heads, title="Average rank error, epsilon 1, add/remove")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    OUT.parent.mkdir(exist_ok=True)
    lines = [heads, ("---:",) * len(heads), *rows]
    OUT.write_text("".join("| " + " | ".join(row) + " |\n" for row in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
