"""What the tests of the quantile algorithms share: small inputs, windows, and the audits."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from sourdine.audit import p_value, worst_case
from sourdine.audit.exhaustive import ALPHA, TOLERANCE
from sourdine.central.quantiles import chain
from sourdine.central.quantiles.points import Points, Window
from sourdine.noise import SeededSource

CELLS, MOST = 6, 4


def all_inputs(cells=CELLS, most=MOST):
    """Every multiset of up to ``most`` points on the grid."""
    sizes = range(most + 1)
    return [list(x) for k in sizes for x in combinations_with_replacement(range(cells), k)]


@pytest.fixture(scope="session")
def inputs():
    return all_inputs


@pytest.fixture
def holds():
    """The exact worst case over all small inputs is within the claim; returns it."""

    def check(mechanism, most=MOST):
        worst = worst_case(mechanism, all_inputs(mechanism.cells, most))
        assert worst.within(mechanism.guarantee), f"{worst.upper} between {worst.pair()}"
        return worst

    return check


@pytest.fixture
def rejects():
    """The pair tells a copy 10% too weak from its claim, but not the mechanism itself."""

    def check(make, epsilon, x, y):
        def loss(mechanism):
            a, b = mechanism.read(x), mechanism.read(y)
            assert mechanism.adjacent(a, b)
            return mechanism.law(a).divergence(mechanism.law(b))

        claim = float(make(epsilon).guarantee.epsilon)
        assert loss(make(epsilon)).upper <= claim + TOLERANCE
        found = loss(make(epsilon * 1.1))
        assert found.value > claim * 1.001, f"{found.value} is within {claim}: {x} | {y}"

    return check


@pytest.fixture
def fits():
    """Draws, as rows of the support, follow the law."""

    def check(mechanism, x, draws=20_000, seed=20260101):
        drawn = mechanism.simulate(x, draws, source=SeededSource(seed))
        assert p_value(drawn, mechanism.law(mechanism.read(x))) >= ALPHA

    return check


@pytest.fixture
def bounded():
    """The exact probability that the loss passes the bound is at most beta."""

    def check(mechanism, x, beta, error="error", **known):
        points = mechanism.read(x)
        rows = np.arange(len(mechanism.support()))
        bound = getattr(mechanism, error)(beta, **known)
        passed = mechanism.law(points).pmf(rows)[mechanism.loss(points, rows) > bound].sum()
        assert passed <= beta, f"{passed} > {beta} at {bound}"
        return bound

    return check


@pytest.fixture
def windowed():
    """Points that hold the records around some ranks only, and say when they read the rest."""

    def cut(ticks, cells, ranges):
        whole, reads, merged = Points.of(ticks, cells), [], []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        atoms, parts = whole.windows[0], []
        for low, high in merged:
            i = int(atoms.ends.searchsorted(low, side="left")) if low else 0
            j = int(atoms.ends.searchsorted(high, side="right")) + 1
            start = int(atoms.ends[i - 1]) if i else 0
            parts.append(Window(atoms.ticks[i:j], atoms.counts[i:j], start))

        def reload():
            reads.append(1)
            return whole

        return Points(whole.n, cells, parts, reload=reload), reads

    return cut


DEGENERATE = {
    "none": [],
    "one": [3],
    "two": [0, 5],
    "all equal": [2] * 50,
    "zeros and a one": [0] * 2990 + [1],
    "ends": [0] * 20 + [5] * 20,
}


@pytest.fixture(params=DEGENERATE.values(), ids=DEGENERATE)
def degenerate(request):
    return request.param


@pytest.fixture
def survives(degenerate):
    """Releases on degenerate data are ascending ticks of the grid."""

    def check(mechanism, seeds=20):
        points = mechanism.read(degenerate)
        for seed in range(seeds):
            value = mechanism.release(points, source=SeededSource(seed)).value
            assert value.shape == (len(mechanism.orders),)
            assert (np.diff(value) >= 0).all()
            assert value.min() >= 0
            assert value.max() < mechanism.cells
        return points

    return check


@pytest.fixture
def all_outside():
    """The log weight of everything that a window leaves out, summed over all totals and ranks."""

    def weigh(points, lattice, c, reach):
        first, last, half = reach
        stop = lattice.beyond(points.n, last)
        logs = []
        for k in range(stop + 1):
            row = lattice.targets(points.n, [k])
            logs.append(
                chain._Flagged(points, row, c, half if first <= k <= last else -1).log_total
            )
        logs[stop] += lattice.log_tail(c)
        return float(np.logaddexp.reduce(logs))

    return weigh


@pytest.fixture
def rows_once(monkeypatch):
    """The rows outside are summed once for all draws from the same points."""
    known, flagged = {}, chain._Flagged

    def remembered(points, row, c, half):
        key = (row.T.tobytes(), half)
        if key not in known:
            known[key] = flagged(points, row, c, half)
        return known[key]

    monkeypatch.setattr(chain, "_Flagged", remembered)
