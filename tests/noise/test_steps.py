"""The thresholds against an independent computation, and the three stages against the ideal."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import accumulate

import numpy as np
import pytest

from sourdine.exact import Real, exp_neg
from sourdine.noise.gaussian import _GaussianLaw
from sourdine.noise.laplace import _LaplaceLaw, block_shift
from sourdine.noise.selection import _ladder
from sourdine.noise.source import LazyUniform, SeededSource
from sourdine.noise.steps import Steps, alternating, identity

LAPLACE = [Fraction(1, 1000), Fraction(3, 10), 1, Fraction(75, 2), 127, 1000, 10**6 + 1, 2**45]
GAUSS = [Fraction(1, 10**6), Fraction(1, 4), 1, 30, 16000, 10**6, 10**9, 2**80]


def laplace_law(t):
    return _LaplaceLaw(Fraction(t), block_shift(int(t)))


def gaussian_law(variance):
    return _GaussianLaw(Fraction(variance), block_shift(int(Fraction(variance) ** Fraction(1, 2))))


def block_weights(loss, shift, count):
    """Weights of the blocks 0, -1, 1, -2, ... by decimal arithmetic; ``loss`` is phi."""
    for i in range(count):
        nearest = (i >> 1 << shift) + (i & 1)
        yield (-Decimal(loss(nearest).numerator) / Decimal(loss(nearest).denominator)).exp()


def cumulative(loss, shift, count):
    """The first ``count`` thresholds as rationals good to 100 digits."""
    with localcontext(Context(prec=120, Emin=-(10**9), Emax=10**9)):
        # so far beyond the last threshold asked for, the weights vanish
        sums = list(accumulate(block_weights(loss, shift, 4 * count + 600)))
        return [Fraction(s / sums[-1]) for s in sums[:count]]


@pytest.mark.parametrize("t", LAPLACE)
def test_laplace_thresholds(t):
    law = laplace_law(t)
    low, high = law.ladder(64)
    stride = max(1, len(low) // 150)
    for i in range(0, len(low), stride):
        with localcontext(Context(prec=120, Emin=-(10**9), Emax=10**9)):
            q = (-1 / Decimal(Fraction(t).numerator) * Fraction(t).denominator).exp()
            b = (-Decimal(1 << law.shift) / Fraction(t).numerator * Fraction(t).denominator).exp()
            rest = b ** (i >> 1) * (b if i & 1 else (q + b) / (1 + q))
            exact = (1 - Fraction(rest)) * 2**64
        assert low[i] == int(exact)
        assert high[i] == int(exact) + 1


@pytest.mark.slow
@pytest.mark.parametrize("t", [Fraction(3, 10), 1, 10])
def test_laplace_thresholds_sum_the_law(t):
    low, high = laplace_law(t).ladder(64)
    exact = cumulative(lambda x: x / Fraction(t), 0, len(low))
    assert all(a <= e * 2**64 <= b for a, e, b in zip(low, exact, high, strict=True))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("variance", GAUSS)
def test_gaussian_thresholds(variance):
    law = gaussian_law(variance)
    low, high = law.ladder(64)
    with localcontext(Context(prec=120, Emin=-(10**9), Emax=10**9)):
        count = len(low) + 64
        weights = list(block_weights(lambda x: Fraction(x * x, 2) / variance, law.shift, count))
        total, partial = sum(weights), Decimal(0)
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            partial += weights[i]
            exact = Fraction(partial / total) * 2**64
            assert a <= exact <= b
            assert b - a <= 1 or 2**64 - exact < 1


@pytest.mark.parametrize("bits", [64, 128, 192])
@pytest.mark.parametrize("law", [laplace_law(5), gaussian_law(30)], ids=["laplace", "gaussian"])
def test_finer_bounds_lie_within_coarser(law, bits):
    coarse, fine = law.ladder(bits), law.ladder(bits + 64)
    for a, b, c, d in zip(*coarse, *fine, strict=False):
        assert a << 64 <= d
        assert c <= b << 64


def ideal(thresholds, w: Fraction) -> int:
    return sum(1 for t in thresholds if t <= w)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("law", "loss"),
    [
        (laplace_law(2), lambda x: Fraction(x, 2)),
        (gaussian_law(3), lambda x: Fraction(x * x, 6)),
    ],
    ids=["laplace", "gaussian"],
)
def test_words_at_every_threshold_and_their_continuations_decide_as_the_ideal(law, loss, scripted):
    steps = Steps(law.ladder, alternating)
    thresholds = cumulative(loss, 0, 60)
    for exact in thresholds[:30]:
        tie = int(exact * 2**64)
        rest = int((exact * 2**64 - tie) * 2**64)
        words = [(tie + d, 0) for d in (-1, 1)] + [(tie, rest + d) for d in (-1, 1)]
        for word, following in words:
            if not (0 <= word < 2**64 and 0 <= following < 2**64):
                continue
            w = Fraction(word << 64 | following, 1 << 128)
            source = scripted(scripted.words((word % 2**48) << 16, following))
            got = steps.resolve(np.array([word >> 48], np.uint16), source)[0]
            assert got == alternating(ideal(thresholds, w))


@pytest.mark.parametrize("law", [laplace_law(2), gaussian_law(3), laplace_law(100)])
def test_the_three_stages_agree(law, source):
    steps = Steps(law.ladder, alternating)
    decided = np.flatnonzero(steps.table != steps.undecided)[::97].astype(np.uint16)
    assert np.array_equal(steps.resolve(decided, source), steps.table[decided])
    words = [int.from_bytes(source.bytes(8), "little") for _ in range(300)]
    for word in words:
        first = steps.table[word >> 48]
        exact = alternating(steps.exact(LazyUniform(source, word, 64)))
        assert first in (steps.undecided, exact)
        codes, sure = steps._search(*[np.array([word], np.uint64)] * 2)
        assert not sure[0] or alternating(int(codes[0])) == exact


def test_a_cell_with_a_threshold_is_undecided():
    steps = Steps(laplace_law(2).ladder, alternating)
    for exact in cumulative(lambda x: Fraction(x, 2), 0, 40):
        assert steps.table[min(int(exact * 65536), 65535)] == steps.undecided


def test_finite_ladder_closes_and_zero_weights_never_come():
    ladder = partial(_ladder, [Real.of(0), exp_neg(1), Real.of(0), exp_neg(2), Real.of(0)])
    steps = Steps(ladder, identity, finite=True)
    assert set(steps.table.tolist()) == {1, 3, steps.undecided}
    assert np.count_nonzero(steps.table == steps.undecided) <= 3


def test_a_seeded_draw_does_not_depend_on_earlier_draws():
    """A table made for many draws is not used for few, so that few consume the same bytes."""
    steps = Steps(laplace_law(30).ladder, alternating)

    def few():
        out, source = np.empty(50, np.int64), SeededSource(7)
        steps.fill(out, source)
        return out.tolist(), source.bytes(8)

    before = few()
    steps.fill(np.empty(10_000, np.int64), SeededSource(8))
    assert few() == before
