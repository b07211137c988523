from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.central.quantiles.algorithm import Fixed, FreeTotal, OfRecords
from sourdine.central.quantiles.chain import _Flagged, draw_outside
from sourdine.central.quantiles.joint import SHELLS, JointSampler
from sourdine.central.quantiles.points import Points
from sourdine.laws import Law
from sourdine.noise import SeededSource

HALF = Fraction(1, 2)
TIED = [0, 0, 0, 2, 2, 5]
LATTICES = {
    "free": FreeTotal((Fraction(1, 4), HALF), 3),
    "exp": OfRecords((Fraction(1, 3), Fraction(4, 5))),
    "fixed": Fixed.of([1, 7, 11]),
    "brackets": FreeTotal((HALF, HALF), 3, (-1, 1)),
    "brackets of two": FreeTotal((Fraction(1, 3), HALF), 3, (2, -2)),
}


def weights(points, row, c, half):
    """The weight of every rank tuple, in order or not, and whether it lies outside."""
    n, mass = points.n, points.masses(0, points.n + 1)
    shift = np.zeros(row.m + 1) if row.shift is None else row.shift
    t, start = np.diff(row.T[0], prepend=0) + shift, row.T[0, :-1] + row.S[0]
    for i in product(range(n + 1), repeat=row.m):
        gaps = np.diff([0, *i, n])
        outside = (np.abs(np.array(i) - start) > half).any()
        yield i, np.prod(mass[list(i)]) * np.exp(-c * np.abs(gaps - t).sum()), outside


@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("half", [-1, 0, 1, 3])
def test_outside_weighs_what_all_its_tuples_weigh(lattice, half):
    points = Points.of(TIED, 6)
    for k in (0, 2, 5):
        row = lattice.targets(6, [k])
        expected = sum(w for _, w, outside in weights(points, row, 0.6, half) if outside)
        found = _Flagged(points, row, 0.6, half).log_total
        assert np.exp(found) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
def test_totals_are_geometric_beyond(lattice):
    points, c = Points.of(TIED, 6), 0.6
    stop = lattice.beyond(6, -1)
    if isinstance(lattice, FreeTotal):
        rows = [_Flagged(points, lattice.targets(6, [stop + i]), c, -1) for i in range(5)]
        logs = np.array([row.log_total for row in rows])
        assert np.diff(logs) == pytest.approx(-c * lattice.h, abs=1e-12)
        ratio = np.exp(-c * lattice.h)
        assert np.exp(lattice.log_tail(c)) == pytest.approx(sum(ratio**i for i in range(99)))
        further = [lattice.further(c, SeededSource(i)) for i in range(2000)]
        law = Law.finite(-c * lattice.h * np.arange(30))
        assert p_value(further, law) >= ALPHA
    else:
        assert stop == 0
        assert lattice.log_tail(c) == -np.inf


@pytest.mark.slow
@pytest.mark.parametrize("lattice", LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("reach", [(0, -1, -1), (1, 2, 1)], ids=["all", "some"])
@pytest.mark.usefixtures("rows_once")
def test_draws_are_by_weight(lattice, reach):
    """All totals and tuples outside, and the part of the bound that is not filled."""
    points, c = Points.of([0, 0, 4], 5), 1.1
    free = isinstance(lattice, FreeTotal)
    reach = reach if free else (0, 0, reach[2])
    first, last, half = reach
    index, logs = {}, []
    for k in range(14) if free else [0]:
        window = half if first <= k <= last else -1
        for i, w, outside in weights(points, lattice.targets(3, [k]), c, window):
            if outside:
                index[k, i] = len(logs)
                logs.append(np.log(w))
    bound = np.logaddexp.reduce(logs) + 0.2
    index[None] = len(logs)
    logs.append(bound + np.log(-np.expm1(-0.2)))
    drawn, source = [], SeededSource(5)
    for _ in range(800):
        found = draw_outside(points, lattice, c, reach, bound, source)
        drawn.append(index[found and (found[0], tuple(found[1]))])
    assert p_value(drawn, Law.finite(logs)) >= ALPHA


# The certificate


DATA = {
    "none": [],
    "tied": [3] * 60,
    "clustered": [*range(500, 540), *range(9_000, 9_040)],
    "spread": list(range(0, 10_000, 130)),
    "heavy": [0] * 50 + [9_999] * 3,
}


@pytest.mark.grid
@pytest.mark.parametrize("x", DATA.values(), ids=DATA)
@pytest.mark.parametrize("c", [0.2, 2.0])
@pytest.mark.parametrize("name", LATTICES)
def test_the_rest_bounds_what_lies_outside(name, c, x, all_outside):
    points, lattice = Points.of(x, 10_000), LATTICES[name]
    if name == "fixed":
        lattice = Fixed.of([30, 50, 80])
    elif name.startswith("brackets"):
        lattice = FreeTotal(lattice.orders, round(6 / c), (25, -25) if "two" in name else (-25, 25))
    elif name == "free":
        lattice = FreeTotal(lattice.orders, round(6 / c))
    sampler = JointSampler(points, lattice, c)
    for i in (0, 4, 12):
        if lattice.away(points.n) > SHELLS[i] / c:
            continue
        sampler._open(float(SHELLS[i]), ordered=False)
        true = all_outside(points, lattice, c, (*sampler._inside, sampler._half))
        assert true <= sampler._bounds[i]


def test_the_bound_needs_the_offsets(all_outside):
    """Dense in the middle, wide gaps at the ranks that the offsets aim at."""
    points = Points.of([0] * 5 + [*range(5_000, 5_050)] + [9_999] * 5, 10_000)
    lattice = FreeTotal((HALF, HALF), 1, (-25, 25))
    sampler = JointSampler(points, lattice, 4.0)
    sampler._open(float(SHELLS[0]), ordered=False)
    true = all_outside(points, lattice, 4.0, (*sampler._inside, sampler._half))
    assert true <= sampler._bounds[0]


@pytest.mark.slow
@pytest.mark.usefixtures("rows_once")
def test_totals_far_out_are_told_apart():
    """Without records the totals are geometric from the third on, and drawn so."""
    lattice, c, source = FreeTotal((HALF,), 1), 0.3, SeededSource(8)
    logs = -c * np.arange(60)
    bound = float(np.logaddexp.reduce(logs)) + 1e-9
    drawn = [
        draw_outside(Points.of([], 1), lattice, c, (0, -1, -1), bound, source) for _ in range(1500)
    ]
    assert p_value([k for k, _ in drawn], Law.finite(logs)) >= ALPHA
    assert lattice.beyond(0, -1) == 2


@pytest.mark.parametrize("total", [80, 400, 3000])
@pytest.mark.parametrize("n", [0, 3])
def test_targets_far_from_the_records(n, total):
    """The first window reaches as far as the total is from the number of records."""
    for c in (0.5, 2.0, 10.0):
        lattice = Fixed.of([total // 3, total // 2, total])
        drawn = JointSampler(Points.of([5] * n, 10_000), lattice, c).draw(SeededSource(1))
        assert len(drawn[1]) == 2
