from __future__ import annotations

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product
from math import exp, factorial, log

import numpy as np
import pytest

from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.central.quantiles import joint
from sourdine.central.quantiles.algorithm import (
    FLOATS,
    Fixed,
    FreeTotal,
    OfRecords,
    joint_error,
)
from sourdine.central.quantiles.chain import LONGEST, LongChain
from sourdine.central.quantiles.joint import (
    JointExp,
    JointFree,
    JointNearest,
    JointSampler,
    by_ranks,
    free_law,
    joint_log_weights,
)
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")
QUARTERS = [0.25, 0.5, 0.75]


def even(m):
    return [Fraction(j, m + 1) for j in range(1, m + 1)]


# The law


def brute_force(x, cells, t, c):
    """The weights by the definition: every interleaving of quantiles and records, cell by cell."""
    logs = []
    for o in combinations_with_replacement(range(cells), len(t) - 1):
        ways = []
        for v in range(cells):
            f, k = x.count(v), o.count(v)
            below = sum(u < v for u in x)
            places = combinations(range(f + k), k)
            ways.append([[below + p - i for i, p in enumerate(chosen)] for chosen in places])
        weight = 0.0
        for cut in product(*ways):
            ends = [0, *(r for ranks in cut for r in ranks), len(x)]
            weight += exp(
                -c * sum(abs(b - a - g) for (a, b), g in zip(pairwise(ends), t, strict=True))
            )
        for v, found in enumerate(ways):
            weight /= len(found) * factorial(o.count(v))
        logs.append(log(weight))
    return logs


@pytest.mark.parametrize("x", [[], [2], [1, 1, 1], [0, 0, 3, 3], [0, 1, 2, 3, 3]])
@pytest.mark.parametrize("q", [[0.4], [0.3, 0.5], [0.2, 0.25, 0.9]])
def test_weights_are_the_definition(x, q):
    for lattice in (FreeTotal(tuple(Fraction(str(p)) for p in q), 3), OfRecords(tuple(q))):
        rows = lattice.targets(len(x), range(3))
        found = joint_log_weights(Points.of(x, 4), rows, 0.7)
        shift = 0 if rows.shift is None else rows.shift
        for row, logs in zip(rows.T, found, strict=True):
            expected = brute_force(x, 4, np.diff(row, prepend=0) + shift, 0.7)
            assert logs == pytest.approx(expected, abs=1e-12)


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("make", [JointFree, JointNearest, JointExp])
@pytest.mark.parametrize(
    ("epsilon", "q", "most"),
    [(1, [0.5], 4), (8, [0.9], 4), (1, [0.1, 0.9], 4), (8, [0.25, 0.5], 3), (1, QUARTERS, 4)],
)
def test_joint_laws_keep_the_claim(make, relation, epsilon, q, most, holds):
    holds(make(epsilon=epsilon, q=q, cells=6, relation=relation), most)


@pytest.mark.slow
def test_joint_laws_keep_the_claim_for_several_rows(inputs):
    for make in (JointFree, JointNearest, JointExp):
        made = make(epsilon=2, q=[0.3, 0.6], cells=4, rows=2)
        for x in inputs(4, 2):
            law = made.law(made.read(x))
            for more in combinations_with_replacement(range(4), 2):
                other = made.law(made.read([*x, *more]))
                apart = max(law.divergence(other).upper, other.divergence(law).upper)
                assert apart <= 2 + 1e-9, (x, more)


WIDE = 2000


@pytest.mark.parametrize(
    ("make", "relation", "epsilon", "cells", "x", "y"),
    [
        (JointFree, "add_remove", 1, 6, [0], []),
        (JointNearest, "add_remove", 1, 100, [99, 99, 99], [1, 99, 99, 99]),
        (JointNearest, "substitute", 0.95, 200, [0, 0, 0, 2, 199, 199], [0, 0, 2, 199, 199, 199]),
        (JointExp, "add_remove", 30, 6, [1, 4, 4], [0, 1, 4, 4]),
        (
            JointFree,
            "substitute",
            1,
            WIDE,
            [0] * 7 + [WIDE - 3] * 8 + [WIDE - 1],
            [0] * 8 + [WIDE - 3] * 8,
        ),
        (
            JointExp,
            "substitute",
            1,
            WIDE,
            [0] + [WIDE - 3] * 2 + [WIDE - 1],
            [0] * 2 + [WIDE - 3] * 2,
        ),
    ],
)
def test_joint_constants_cannot_be_raised(make, relation, epsilon, cells, x, y, rejects):
    """A run of empty cells at its target loses it, one beyond comes nearer."""
    q = [Fraction(1, 2)]

    def made(e):
        return make(epsilon=e, q=q, cells=cells, relation=relation)

    rejects(made, epsilon, x, y)


@pytest.mark.parametrize("x", [[], [2], [1, 1, 1], [0, 0, 3, 3], [0, 1, 2, 3, 3]])
@pytest.mark.parametrize("epsilon", [0.5, 4])
def test_the_nearest_total_is_the_definition(x, epsilon):
    """One weight for each tuple of ranks: that of the nearest of all totals, far ones included."""
    made = JointNearest(epsilon=epsilon, q=[0.3, 0.5], cells=4)
    totals = made.lattice.targets(len(x), range(40)).T
    weights = np.zeros(10)
    for k, o in enumerate(combinations_with_replacement(range(4), 2)):
        ways = [[*combinations(range(x.count(v) + o.count(v)), o.count(v))] for v in range(4)]
        below = [sum(u < v for u in x) for v in range(4)]
        for cut in product(*ways):
            ranks = [below[v] + p - i for v, own in enumerate(cut) for i, p in enumerate(own)]
            gaps = np.diff([0, *ranks, len(x)])
            weights[k] += exp(
                -made.c * min(abs(gaps - np.diff(t, prepend=0)).sum() for t in totals)
            )
        for v, own in enumerate(ways):
            weights[k] /= len(own) * factorial(o.count(v))
    found = made.law(made.read(x)).pmf(np.arange(10))
    assert found == pytest.approx(weights / weights.sum(), rel=1e-9)


@pytest.mark.parametrize("h", [1, 3, 7])
def test_one_total_is_the_nearest(h):
    """The first of the least distances, looked for among all totals that are not far away."""
    rng, lattice = np.random.default_rng(h), FreeTotal((Fraction(1, 5), Fraction(1, 2)), h)
    for _ in range(60):
        n = int(rng.integers(0, 40))
        ranks = sorted(rng.integers(0, n + 1, 2).tolist())
        targets = np.diff(lattice.targets(n, range(100)).T, axis=1, prepend=0)
        distances = np.abs(np.diff([0, *ranks, n]) - targets).sum(axis=1)
        nearest = [k for k in range(30) if lattice.is_nearest(k, n, ranks)]
        first = int(distances.argmin())
        assert nearest == ([first] if first < 30 else [])


def test_the_nearest_total_errs_less():
    """In theory, where records lie densely; the mean error of quartiles is 11% less."""
    for m, most in ((2, 0.93), (3, 0.95), (9, 1.0)):
        free, nearest = (
            joint_error(tuple(even(m)), 0.05),
            joint_error(tuple(even(m)), 0.05, nearest=True),
        )
        assert nearest < most * free


def test_the_law_reaches_all_totals(monkeypatch):
    made = JointFree(epsilon=2, q=[0.2, 0.7], cells=4)
    x = made.read([0, 0, 1, 3])
    law, few = made.law(x), made.totals
    monkeypatch.setattr(JointFree, "totals", property(lambda _: 2 * few))
    rows = np.arange((few - 1) * 10)
    assert law.log_pmf(rows) == pytest.approx(made.law(x).log_pmf(rows), abs=1e-11)
    last = (few - 1) * 10 + np.arange(10)
    rest = np.add.reduce(made.law(x).pmf(np.arange((few - 1) * 10, 2 * few * 10)).reshape(-1, 10))
    assert law.log_pmf(last) == pytest.approx(np.log(rest), abs=1e-9)


def test_the_law_counts_what_it_leaves_out():
    made = JointFree(epsilon=100, q=[0.5], cells=2)
    assert made.law(made.read([0] * 20)).beyond == 0
    assert made.law(made.read([0] * 60)).beyond > 0
    assert made.law(made.read([0] * 60)).beyond < 1e-30
    assert made.law(made.read([0] * 500)).beyond == 1


# Draws against the law


def follow(points, lattice, c, draws=20_000, prepare=lambda drawer: drawer):
    """The p-value of draws from the sampler, held against the definition."""
    tuples = list(combinations_with_replacement(range(points.cells), lattice.m))
    row = {o: i for i, o in enumerate(tuples)}
    free = isinstance(lattice, FreeTotal)
    totals = int((30 / c + 2 * points.n + 4) / lattice.h) + 12 if free else 1
    logs = joint_log_weights(points, lattice.targets(points.n, range(totals)), c)
    law = free_law(logs, points.n, lattice, c) if free else Law.finite(logs[0])
    drawer, source = prepare(JointSampler(points, lattice, c)), SeededSource(20260101)
    drawn = np.empty(draws, np.int64)
    for i in range(draws):
        k, ticks, ranks = drawer.draw(source)
        drawn[i] = min(k, totals - 1) * len(tuples) + row[tuple(ticks)]
        assert all(b >= a for a, b in pairwise(ranks))
    return p_value(drawn, law)


TIED = [0, 0, 0, 2, 2, 5]
CASES = {
    "free": (TIED, FreeTotal((Fraction(1, 4), Fraction(1, 2)), 4), 0.5),
    "exp": (TIED, OfRecords((Fraction(1, 3), Fraction(4, 5))), 0.3),
    "fixed": (TIED, Fixed.of([1, 7, 11]), 0.5),
    "fixed at nothing": ([3, 3], Fixed.of([0, 0, 0]), 0.5),
    "none": ([], FreeTotal((Fraction(1, 4), Fraction(1, 2)), 4), 0.5),
    "one": ([2], FreeTotal((Fraction(1, 4), Fraction(3, 4)), 4), 1.0),
    "two": ([0, 5], FreeTotal((Fraction(1, 4), Fraction(3, 4)), 4), 1.0),
    "an atom": ([3] * 9, FreeTotal((Fraction(1, 4), Fraction(1, 2)), 5), 1.0),
    "three of one": (
        [1, 1, 4],
        FreeTotal((Fraction(1, 4), Fraction(1, 3), Fraction(2, 5)), 6),
        0.8,
    ),
    "brackets": (TIED, FreeTotal((Fraction(1, 2),) * 3, 4, (-2, 0, 2)), 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize(("x", "lattice", "c"), CASES.values(), ids=CASES)
def test_quick_draws_follow_the_law(x, lattice, c):
    assert follow(Points.of(x, 6), lattice, c, 3_000) >= ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("name", ["free", "exp", "three of one", "brackets", "an atom", "none"])
def test_ordered_draws_follow_the_law(name, monkeypatch):
    monkeypatch.setattr(joint, "PATIENCE", 1)
    x, lattice, c = CASES[name]
    assert follow(Points.of(x, 6), lattice, c, 2_500) >= ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("name", ["free", "exp", "brackets"])
def test_long_draws_follow_the_law(name, monkeypatch):
    monkeypatch.setattr(joint, "Chain", LongChain)
    x, lattice, c = CASES[name]
    assert follow(Points.of(x, 6), lattice, c, 2_000) >= ALPHA


@pytest.mark.slow
@pytest.mark.parametrize("patience", [1, 100])
def test_draws_by_the_nearest_total_follow_the_law(patience, monkeypatch):
    """By both chains; draws by all totals do not follow it."""
    monkeypatch.setattr(joint, "PATIENCE", patience)
    made = JointNearest(epsilon=2, q=[0.3, 0.6], cells=4)
    x = made.read([0] * 5 + [2, 2, 3])
    law = made.law(x)
    assert p_value(made.simulate(x, 2500, source=SeededSource(1)), law) >= ALPHA
    monkeypatch.setattr(FreeTotal, "is_nearest", lambda *_: True)
    assert p_value(made.simulate(x, 2500, source=SeededSource(1)), law) < ALPHA


@pytest.mark.slow
def test_draws_of_heavy_atoms_follow_the_law(monkeypatch):
    """Both kinds of atoms at once: 9 records and more are heavy for three quantiles."""
    x, lattice = [1] * 10 + [2] * 3, FreeTotal((Fraction(1, 4), Fraction(1, 3), Fraction(3, 4)), 6)
    assert follow(Points.of(x, 4), lattice, 0.3, 2_500) >= ALPHA
    monkeypatch.setattr(joint, "PATIENCE", 1)
    assert follow(Points.of(x, 4), lattice, 0.3, 2_500) >= ALPHA


@pytest.mark.slow
def test_draws_by_blocks_follow_the_law(monkeypatch):
    blocks, kept = [], []
    chain, coin = joint.Chain, joint._coin

    def tossed(p, source):
        kept.append(p)
        return coin(p, source)

    def seen(*args):
        blocks.append(args[4] if len(args) > 4 else 1)
        return chain(*args)

    monkeypatch.setattr(joint, "Chain", seen)
    monkeypatch.setattr(joint, "_coin", tossed)
    x, lattice = TIED * 2, FreeTotal((Fraction(1, 4), Fraction(1, 2)), 8)
    assert follow(Points.of(x, 6), lattice, 0.15, 6_000) >= ALPHA
    assert max(blocks) == 5
    assert max(kept) <= 1


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("name", ["free", "exp", "fixed", "an atom", "three of one", "brackets"])
@pytest.mark.parametrize("patience", [1, 100])
@pytest.mark.usefixtures("rows_once")
def test_draws_from_outside_follow_the_law(name, patience, monkeypatch, all_outside):
    """The smallest window, and the rest bounded closely: much is drawn from outside."""
    calls, draw = [], joint.draw_outside

    def counted(*args):
        drawn = draw(*args)
        calls.append(drawn is not None)
        return drawn

    def closely(drawer):
        args = drawer._points, drawer._lattice, drawer._c, (*drawer._inside, drawer._half)
        drawer._bounds = np.full_like(drawer._bounds, all_outside(*args) + 0.3)
        return drawer

    monkeypatch.setattr(joint, "draw_outside", counted)
    monkeypatch.setattr(joint, "SHELLS", 0.4 * 1.3 ** np.arange(30))
    monkeypatch.setattr(joint, "REST", -1e9)
    monkeypatch.setattr(joint, "PATIENCE", patience)
    x, lattice, c = CASES[name]
    draws = 800
    assert follow(Points.of(x * 3, 6), lattice, c, draws, closely) >= ALPHA
    assert sum(calls) > 0.05 * draws
    assert not all(calls)


@pytest.mark.slow
@pytest.mark.parametrize("make", [JointFree, JointNearest, JointExp])
def test_mechanisms_draw_what_the_law_says(make, fits):
    fits(make(epsilon=2, q=[0.3, 0.6], cells=5), [0, 0, 1, 4], draws=500)
    fits(make(epsilon=0.3, q=[0.3, 0.6], cells=5, relation="substitute"), [2] * 6, draws=500)


# Claims beside privacy


@pytest.mark.parametrize("make", [JointFree, JointNearest, JointExp])
@pytest.mark.parametrize("x", [[], [3], [0] * 4 + [5] * 4, list(range(6)) * 2])
def test_error_bounds_the_loss(make, x, bounded):
    made = make(epsilon=4, q=[0.3, 0.6], cells=6)
    bounded(made, x, 0.05, n=len(x))
    bounded(made, x, 0.5, n=len(x))


def test_the_loss_is_of_the_ticks_alone():
    made = JointFree(epsilon=1, q=[0.5], cells=6)
    x = made.read([1, 1, 1, 1])
    losses = made.loss(x, np.arange(len(made.support())))
    assert losses.reshape(-1, 6).tolist() == [[2, 0, 2, 2, 2, 2]] * made.totals


def test_rounding_is_paid_for():
    """Twice, for two laws, what m steps there and back can be off in the widest window."""
    for epsilon in (0.002, 0.01, 1, 50):
        for m in (1, 9, 40):
            made = JointFree(epsilon=epsilon, q=even(m), cells=100)
            half = LONGEST / LongChain.DEPTH / made.c + 1
            step = 3 * (2 * half + 1 + 2 * made.c * half + 20) * 2.0**-53
            assert 4 * m * step <= float(FLOATS) * epsilon
    with pytest.raises(ParameterError, match="epsilon must be large enough for the rounding"):
        JointFree(epsilon=0.00001, q=even(40), cells=100)


EXTREMES = [(40, n, cells) for n in (0, 1, 5) for cells in (161, 1 << 40)]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("m", "n", "cells"), [*EXTREMES, (9, 1, 1), (9, 5, 2), (9, 0, 1)])
def test_more_quantiles_than_records(m, n, cells):
    ticks = np.random.default_rng(n).integers(0, cells, n)
    for make in (JointFree, JointNearest, JointExp):
        made = make(epsilon=1, q=even(m), cells=cells)
        _ascending(made, ticks)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("epsilon", [0.01, 1, 100])
@pytest.mark.parametrize("x", [[160] * 5, [0] * 3000 + [1], [160] * 100], ids=len)
def test_one_cell_holds_nearly_all(epsilon, x):
    _ascending(JointFree(epsilon=epsilon, q=even(9), cells=161), x)


@pytest.mark.slow
def test_many_quantiles_in_a_light_atom():
    """Where the quick chain would be refused 10^23 times."""
    _ascending(JointFree(epsilon=100, q=even(40), cells=161), [160] * 5)


@pytest.mark.slow
def test_many_quantiles_on_wide_bounds():
    """Here the windows are too wide for the first chain, not for the second."""
    made = JointFree(epsilon=0.1, q=even(40), cells=1 << 40)
    ticks = (1 << 39) + np.random.default_rng(1).integers(0, 10_000, 100_000)
    drawer = JointSampler(made.read(ticks), made.lattice, made.c)
    assert isinstance(drawer._rows._coarse, LongChain)
    _ascending(made, ticks)


def test_orders_closer_than_the_noise():
    close = [Fraction(1, 2) + Fraction(j, 10**5) for j in range(9)]
    ticks = np.random.default_rng(1).integers(0, 1 << 20, 100_000)
    _ascending(JointFree(epsilon=1, q=close, cells=1 << 20), ticks)
    _ascending(JointExp(epsilon=1, q=close, cells=1 << 20), ticks)


def test_more_quantiles_than_a_factorial_holds():
    drawn = joint._ordered_pieces(Points.of([], 50), [0] * 180, SeededSource(1))
    assert drawn is None


def _ascending(made, ticks):
    value = made.release(made.read(ticks), source=SeededSource(1)).value
    assert value.shape == (len(made.orders),)
    assert (np.diff(value) >= 0).all()
    assert value.min() >= 0
    assert value.max() < made.cells


@pytest.mark.parametrize("relation", RELATIONS)
def test_joint_survives(relation, survives):
    survives(JointFree(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation), seeds=3)
    survives(JointNearest(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation), seeds=3)
    survives(JointExp(epsilon=1, q=[0.1, 0.5], cells=6, relation=relation), seeds=3)


def test_free_totals_are_near_the_number_of_records():
    made = JointFree(epsilon=1, q=even(3), cells=1 << 20)
    ticks = np.random.default_rng(2).integers(0, 1 << 20, 5000)
    release = made.release(made.read(ticks), source=SeededSource(3))
    assert abs(made.total(release.drawn["drawn"]) - 5000) < 100


@pytest.mark.parametrize("q", [[0.5], [0.5, 0.75], [0.25, 0.5, 0.75]])
@pytest.mark.parametrize("epsilon", [3, 6, 20])
def test_joint_far_tuples_weigh_no_more(q, epsilon):
    """Of the volume B^m/m! of all ascending tuples, records in one cell or another."""
    made = JointFree(epsilon=epsilon, q=q, cells=8 if len(q) < 3 else 4)
    m, h, c, cells = len(q), made.lattice.h, made.c, made.cells
    most = 0.0
    for n, cell in product((0, 1, 3, 4), (0, cells // 2, cells - 1)):
        rows = made.lattice.targets(n, range(int((n + 60 / c) / h) + 2))
        ranks, logs = by_ranks(Points.of([cell] * n, cells), rows, c)
        gaps = np.diff(np.array(ranks), axis=1, prepend=0, append=n)
        distance = np.abs(gaps - np.diff(rows.T, prepend=0)[:, None, :]).sum(axis=-1)
        for x in (0, 0.5, 1, 2, 4):
            far = distance >= x + h / 2 + m
            weight = float((np.exp(logs) * far[:, None, :]).sum()) * factorial(m) / cells**m
            counted = weight / exp(-c * (x + h / 2 + m))
            assert counted <= made.far(x)
            most = max(most, counted - (2 * x / h + 3))
    if (q, epsilon) == ([0.5, 0.75], 6):
        assert most > 0.5  # fewer totals than `far` counts would not do
