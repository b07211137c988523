"""Blocks far coarser than those in use, where every mistake of the rejection would show."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.exact import exp_neg
from sourdine.noise.gaussian import _GaussianLaw, _Weights
from sourdine.noise.laplace import BlockTable, _LaplaceLaw, block_shift

LAWS = {
    "laplace": (_LaplaceLaw, lambda x, t: Fraction(abs(x)) / t),
    "gaussian": (_GaussianLaw, lambda x, v: Fraction(x * x) / (2 * v)),
}


def draw(blocks, count, source):
    out = np.empty(count, np.int64)
    blocks.fill(out, source)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1, 2, 3, 4])
def test_laplace_by_coarse_blocks(shift, fits, laplace, source):
    blocks = BlockTable(_LaplaceLaw(Fraction(5), shift))
    assert fits(draw(blocks, 10**6, source), laplace(5, 90), -90)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1, 2, 3, 4])
def test_gaussian_by_coarse_blocks(shift, fits, gaussian, source):
    blocks = BlockTable(_GaussianLaw(Fraction(25), shift))
    assert fits(draw(blocks, 10**6, source), gaussian(25, 60), -60)


@pytest.mark.slow
def test_coarse_blocks_in_words_of_64_bits(fits, source):
    blocks = BlockTable(_LaplaceLaw(Fraction(2**16), 17))
    draws = draw(blocks, 10**6, source) / 2.0**16
    edges = np.linspace(-10, 10, 321)
    below = np.where(edges < 0, np.exp(edges) / 2, 1 - np.exp(-np.abs(edges)) / 2)
    cells = np.diff(np.concatenate([[0], below, [1]]))
    # the edges are off by half a step of 2**-16, a relative error of 2**-17 of each cell
    assert fits(np.searchsorted(edges - 2.0**-17, draws), cells)


@pytest.mark.parametrize("name", LAWS)
def test_coins_decide_as_the_ideal(name, scripted, exp_oracle):
    make, loss = LAWS[name]
    scale, shift = Fraction(25 if name == "laplace" else 400), 3
    blocks = BlockTable(make(scale, shift))
    for block in (0, -1, 1, -2, 3):
        (cells,) = (blocks._steps.table == block << shift).nonzero()
        inside = range(block << shift, (block + 1) << shift)
        nearest = min(inside, key=abs)
        for x in inside:
            if x == nearest:
                continue
            chance = exp_oracle(loss(x, scale) - loss(nearest, scale))
            tie = int(chance * 2**64)
            rest = int((chance * 2**64 - tie) * 2**64)
            for coin, following in [(tie - 1, 0), (tie + 1, 0), (tie, rest - 1), (tie, rest + 1)]:
                word = (coin >> 48) << 16 | (x - inside[0])
                source = scripted(scripted.words((coin % 2**48) << 16, following))
                values, kept = blocks._settle(
                    cells[:1].astype(np.uint16), np.array([word], "<u4"), source
                )
                assert values[0] == x
                assert kept[0] == (Fraction(coin << 64 | following, 1 << 128) < chance)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("shift", [3, 17])
def test_what_is_surely_kept_is(name, shift):
    make, loss = LAWS[name]
    sigma = Fraction(25) if shift == 3 else Fraction(2**20)
    scale = sigma if name == "laplace" else sigma**2
    blocks = BlockTable(make(scale, shift))
    table, length = blocks._steps.table, 1 << shift
    sure = np.broadcast_to(blocks._sure, table.shape) >> (8 * blocks._word.itemsize - 16)
    known = table != blocks._steps.undecided
    for start in np.unique(table[known]).tolist()[::7]:
        nearest = start if start >= 0 else -start - length + 1
        furthest = nearest + length - 1
        low, _ = exp_neg(loss(furthest, scale) - loss(nearest, scale)).bounds(80)
        bound = int(sure[table == start].max())
        assert bound << 64 <= low
        assert low < bound + 4 << 64


def test_shift_leaves_64_to_128_blocks_to_a_scale():
    for scale in (128, 129, 1000, 2**20 - 1, 2**20, 2**52):
        assert 64 <= scale / (1 << block_shift(scale)) < 128
    assert block_shift(127) == 0


@pytest.mark.parametrize("first", [0, 1])
def test_tail_bounds_what_follows(first, exp_oracle):
    law = _GaussianLaw(Fraction(9), 1)
    weights = _Weights(law, first, 200)
    for k in range(8):
        points = [first + 2 * (k + j) for j in range(40)]
        rest = sum(exp_oracle(law.loss(0, x)) for x in points)
        assert rest * 2**200 <= weights.tail() < 3 * rest * 2**200
        assert weights.low <= exp_oracle(law.loss(0, points[0])) * 2**200 <= weights.high
        weights.step()
