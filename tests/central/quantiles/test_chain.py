from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit import p_value
from sourdine.audit.exhaustive import ALPHA
from sourdine.central.quantiles.algorithm import FreeTotal, OfRecords
from sourdine.central.quantiles.chain import (
    LONGEST,
    Chain,
    LongChain,
    Targets,
    TooWideError,
    _Flagged,
    _sliding,
)
from sourdine.central.quantiles.points import Points
from sourdine.laws import Law
from sourdine.noise import SeededSource

getcontext().prec = 50
DATA = np.random.default_rng(7).integers(0, 200, 60).tolist() + [90] * 25


def exact_mass(x, cells):
    mass = [Fraction(0)] * (len(x) + 1)
    for v in range(cells):
        below, f = sum(u < v for u in x), x.count(v)
        for r in range(below, below + f + 1):
            mass[r] += Fraction(1, f + 1)
    return [Decimal(m.numerator) / Decimal(m.denominator) for m in mass]


def exact_total(mass, row, c, half):
    """The chain's sum in fifty digits, kernel by kernel."""
    n, shift = len(mass) - 1, np.zeros(row.m + 1) if row.shift is None else row.shift
    t = [
        Decimal(int(g)) + Decimal(float(s))
        for g, s in zip(np.diff(row.T[0], prepend=0), shift, strict=True)
    ]
    power = {}

    def kernel(d):
        if d not in power:
            power[d] = (-Decimal(c) * d).exp()
        return power[d]

    message = {0: Decimal(1)}
    for j in range(row.m):
        start = int(row.T[0, j] + row.S[0])
        ranks = range(max(start - half, 0), min(start + half, n) + 1)
        message = {
            r: mass[r] * sum(w * kernel(abs(r - b - t[j])) for b, w in message.items())
            for r in ranks
        }
    return sum(w * kernel(abs(n - r - t[-1])) for r, w in message.items())


def off(chain, row, exact):
    return abs(float(Decimal(float(chain.logs[row])) - exact.ln()))


@pytest.mark.quick_cases(9)
@pytest.mark.parametrize("c", [0.05, 0.31, 1.7])
@pytest.mark.parametrize("half", [12, 30])
@pytest.mark.parametrize("kind", [Chain, LongChain])
def test_sums_are_right_to_the_claim(kind, c, half):
    n, mass = len(DATA), exact_mass(DATA, 200)
    points, q = Points.of(DATA, 200), (Fraction(1, 5), Fraction(1, 2), Fraction(4, 5))
    step = 3 * (2 * half + 1 + 2 * c * half + 20) * 2.0**-53
    for lattice, ks in ((FreeTotal(q, 10), (7, 8, 9)), (OfRecords(q), (0,))):
        chain = kind(points, lattice.targets(n, ks), c, half)
        for i, k in enumerate(ks):
            exact = exact_total(mass, lattice.targets(n, [k]), c, half)
            logs = 4 * abs(float(exact.ln())) * 2.0**-53  # a logarithm's own rounding
            assert off(chain, i, exact) <= 3 * step + logs


@pytest.mark.parametrize("kind", [Chain, LongChain])
def test_blocks_are_within_their_bound(kind):
    points, q = Points.of(DATA, 200), (Fraction(1, 5), Fraction(1, 2), Fraction(4, 5))
    rows = FreeTotal(q, 10).targets(len(DATA), range(4, 12))
    for c in (0.02, 0.1):
        wide = kind(points, rows, c, 200).logs
        for block in (2, 3, 7, 8):
            rough = kind(points, rows, c, 200, block).logs
            assert np.abs(rough - wide).max() <= c * 3 * (block - 1) + 1e-9
            assert np.abs(rough - wide).max() > 0


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("cells", [10**3, 10**9, 1 << 60])
@pytest.mark.parametrize("records", [1, 1000])
@pytest.mark.parametrize("c", [0.01, 0.8, 3.0])
@pytest.mark.parametrize("kind", [Chain, LongChain])
def test_wide_windows_are_right_or_refused(kind, c, records, cells):
    """Up to the threshold masses of any ratio are summed right."""
    x = [0] * records + [cells // 2, cells - 1] * 40 + [cells // 2 + 1] * records
    points = Points.of(x, cells)
    lattice, refused = FreeTotal((Fraction(1, 4), Fraction(1, 3), Fraction(3, 4)), 40), False
    row = lattice.targets(points.n, [points.n // 40 + 1])
    for reach in (20, 60, 100, 120, 130, 150, 200, 270, 300, 330, 340):
        half = int(reach / c)
        try:
            chain = kind(points, row, c, half)
        except TooWideError:
            refused = True
            continue
        assert not refused
        everything = _Flagged(points, row, c, -1).log_total
        left_out = np.exp(_Flagged(points, row, c, half).log_total - everything)
        expected = everything + np.log1p(-left_out) if left_out < 1 - 1e-9 else None
        if expected is not None:
            assert chain.logs[0] == pytest.approx(expected, abs=1e-9)
    assert refused


def test_what_fits_in_blocks_fits_rank_by_rank():
    x = [0] * 3000 + [1 << 40] * 3000
    points, lattice = Points.of(x, 1 << 41), FreeTotal((Fraction(1, 3), Fraction(2, 3)), 500)
    rows = lattice.targets(points.n, range(10, 15))
    for half in range(3000, 3100, 3):
        c = (LONGEST - 44) / Chain.DEPTH / 3050
        try:
            Chain(points, rows, c, half, 40)
        except TooWideError:
            continue
        for r in range(5):
            Chain(points, rows.row(r), c, half)


def test_masses_far_apart_are_refused():
    points = Points.of([0] * 1000 + [1 << 60], (1 << 60) + 1)
    rows = Targets(1001, np.array([[500, 1001]]))
    with pytest.raises(TooWideError):
        Chain(points, rows, 0.3, 501)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lattice",
    [FreeTotal((Fraction(1, 4), Fraction(2, 3)), 3), OfRecords((Fraction(1, 3), Fraction(4, 5)))],
)
@pytest.mark.parametrize("kind", [Chain, LongChain])
def test_draws_are_by_the_chain(kind, lattice):
    x, c = [0, 0, 3, 4, 4], 0.4
    points, row = Points.of(x, 6), lattice.targets(5, [2])
    t = np.diff(row.T[0], prepend=0) + (0 if row.shift is None else row.shift)
    pairs = [(i, j) for i in range(6) for j in range(6)]
    mass = points.masses(0, 6)
    logs = [
        np.log(mass[i] * mass[j]) - c * np.abs(np.diff([0, i, j, 5]) - t).sum() for i, j in pairs
    ]
    chain, source = kind(points, row, c, 12), SeededSource(3)
    drawn = [pairs.index(tuple(chain.draw(0, source))) for _ in range(6_000)]
    assert p_value(drawn, Law.finite(logs)) >= ALPHA


def test_sliding_sums():
    x = np.random.default_rng(1).random(100)
    for width in (1, 2, 3, 7, 8, 31, 100):
        expected = np.convolve(x, np.ones(width), "valid")
        assert _sliding(x, width)[: len(expected)] == pytest.approx(expected, rel=1e-14)
