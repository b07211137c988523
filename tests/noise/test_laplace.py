from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SYSTEM, SeededSource, discrete_laplace, geometric, laplace_around
from sourdine.noise.laplace import FEW, BlockTable, LaplaceBits, _LaplaceLaw, block_shift

HIGHEST = 2**63 - 1
SCALES = [Fraction(3, 10), 1, 5, Fraction(75, 2), 127, 128, Fraction(10007, 10)]


def binned(draws, t, laplace):
    """Draws and law in bins a fortieth of the scale wide."""
    width = max(1, int(float(t) / 40))
    reach = width * (int(11 * float(t)) // width + 12)
    edges = np.arange(-reach, reach + 1, width)
    law = laplace(t, reach)
    cells = np.add.reduceat(law[:-1], np.arange(0, 2 * reach, width))
    cells[-1] += law[-1]
    places = np.clip(np.searchsorted(edges, draws, side="right") - 1, 0, cells.size - 1)
    return places, cells


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("t", SCALES)
def test_law_of_many(t, fits, laplace, source):
    places, cells = binned(discrete_laplace(t, 10**6, source=source), t, laplace)
    assert fits(places, cells)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("t", SCALES)
def test_law_of_few(t, fits, laplace, source):
    draws = np.concatenate([discrete_laplace(t, FEW - 1, source=source) for _ in range(10)])
    places, cells = binned(draws, t, laplace)
    assert fits(places, cells)


@pytest.mark.slow
@pytest.mark.parametrize("t", [1, 20, 300])
def test_law_of_one(t, fits, laplace, source):
    draws = np.array([discrete_laplace(t, source=source) for _ in range(20_000)])
    places, cells = binned(draws, t, laplace)
    assert fits(places, cells)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("error", [0.7, 0.97, 1.03, 1.3])
@pytest.mark.parametrize("t", [1, 1000])
def test_the_test_of_fit_rejects_a_wrong_scale(t, error, fits, laplace, source):
    wrong = Fraction(str(error)) * t
    for count in (10**6, FEW - 1):
        if count < FEW and abs(error - 1) < 0.1:
            continue
        draws = discrete_laplace(wrong, count, source=source)
        places, cells = binned(draws, t, laplace)
        assert not fits(places, cells)


def residues(t, modulus):
    q = np.exp(-1 / float(t))
    r = np.arange(modulus)
    law = (1 - q) / (1 + q) * (q**r + q ** (modulus - r)) / (1 - q**modulus)
    law[0] = (1 - q) / (1 + q) * (1 + 2 * q**modulus / (1 - q**modulus))
    return law


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("t", [128, 1000, 10**6, 2**40])
def test_low_digits_of_large_scales(t, fits, source):
    draws = discrete_laplace(t, 10**6, source=source)
    assert fits(np.mod(draws, 64), residues(t, 64))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("t", [3 * 10**6, 2**30, 2**52])
def test_law_of_large_scales(t, fits, source):
    draws = discrete_laplace(t, 10**6, source=source)
    edges = np.linspace(-12, 12, 481) * t
    below = np.where(edges < 0, np.exp(edges / t) / 2, 1 - np.exp(-np.abs(edges) / t) / 2)
    cells = np.diff(np.concatenate([[0], below, [1]]))
    assert fits(np.searchsorted(edges, draws), cells)


def forced(law, count, source):
    """Every lane open, so that every coin goes through the second look."""
    blocks = BlockTable(law)
    blocks._sure = np.zeros((), blocks._word)
    out = np.empty(count, np.int64)
    blocks.fill(out, source)
    return out


def test_law_when_every_coin_takes_the_second_look(fits, laplace, source):
    places, cells = binned(forced(_LaplaceLaw(Fraction(150), 1), 10**5, source), 150, laplace)
    assert fits(places, cells)


def test_law_when_every_coin_is_decided_with_integers(fits, laplace, source, monkeypatch):
    monkeypatch.setattr("sourdine.noise.coins.SLACK", 2.0)
    places, cells = binned(forced(_LaplaceLaw(Fraction(150), 1), 5000, source), 150, laplace)
    assert fits(places, cells)


def test_law_when_every_block_is_searched(fits, laplace, source):
    law = _LaplaceLaw(Fraction(1000), block_shift(1000))
    blocks = BlockTable(law)
    blocks._steps.table[:] = blocks._steps.undecided
    out = np.empty(2 * 10**5, np.int64)
    blocks.fill(out, source)
    places, cells = binned(out, 1000, laplace)
    assert fits(places, cells)


def test_law_when_no_table_decides(fits, laplace, source):
    blocks = BlockTable(_LaplaceLaw(Fraction(3), 0))
    blocks._steps.table[:] = blocks._steps.undecided
    out = np.empty(10**6, np.int64)
    blocks.fill(out, source)
    assert fits(out, laplace(3, 60), -60)
    blocks._steps._low[:] = 0
    out = np.empty(5000, np.int64)
    blocks.fill(out, source)
    assert fits(out, laplace(3, 60), -60)


def coin_chances(t, digits, exp_oracle):
    """sign, digits, tail, filling: the chances as rationals good to 100 digits."""
    powers = [exp_oracle(Fraction(1 << j) / t) for j in range(digits + 1)]
    coins = [p / (1 + p) for p in powers]
    filling = [Fraction(0)] * (63 - digits if digits < 64 else -(digits + 1) % 8)
    return [coins[0], *coins[:-1], powers[-1], *filling]


@pytest.mark.parametrize("t", [Fraction(1, 3), Fraction(20), Fraction(10**6), Fraction(10**30)])
def test_coins_of_few(t, exp_oracle):
    bits = LaplaceBits(t)
    chances = coin_chances(t, bits.digits, exp_oracle)
    assert len(chances) % 8 == 1
    assert float(chances[bits.digits + 1]) < 2**-64
    assert bits._floors.tolist() == [int(c * 2**32) for c in chances]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("t", [Fraction(1, 3), Fraction(20), Fraction(10**6)])
def test_ties_of_few_are_decided_by_more_bits(t, many, scripted, exp_oracle):
    bits = LaplaceBits(t)
    chances = coin_chances(t, bits.digits, exp_oracle)
    for step in (-1, 1):
        for i, chance in enumerate(chances):
            if chance == 0 or i == bits.digits + 1:
                continue
            head = int(chance * 2**32)
            tie = int((chance * 2**32 - head) * 2**64) + step
            words = [2**32 - 1 if j != i else head for j in range(len(chances))]
            words = words[: bits._columns] if many else words
            script = b"".join(w.to_bytes(4, "little") for w in words) + scripted.words(tie)
            source = scripted(script)
            got = int(bits.many(1, source)[0]) if many else bits.one(source)
            heads_up = step < 0
            assert got == ((-1 if i == 0 else 1 << i - 1) if heads_up else 0)
            assert source.beyond == 0


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_the_tail_is_drawn_on(many, negative, scripted):
    bits = LaplaceBits(Fraction(1))
    words = [2**32 - 1] * (bits._columns if many else len(bits._chances))
    words[1] = words[bits.digits + 1] = 0
    words[0] = 0 if negative else 2**32 - 1
    tail = scripted.words(0, 5)  # the tail's word drawn on, then how far it goes
    source = scripted(b"".join(w.to_bytes(4, "little") for w in words) + tail)
    got = int(bits.many(1, source)[0]) if many else bits.one(source)
    magnitude = 1 + (1 << bits.digits)
    assert got == (-1 - magnitude if negative else magnitude)


@pytest.mark.parametrize("t", [10**20, 1e30, Fraction(2**53)])
def test_values_beyond_64_bits_saturate(t, source):
    draws = discrete_laplace(t, 30_000, source=source)
    assert draws.dtype == np.int64
    beyond = np.exp(-(2.0**63) / float(t))
    ends = np.abs(draws.astype(float)) >= 2.0**63
    assert abs(ends.mean() - beyond) < 6 * np.sqrt(0.25 / 30_000)
    assert LaplaceBits(Fraction(10**30)).one(source).bit_length() > 64
    assert abs(discrete_laplace(10**30, source=source)) in (HIGHEST, 2**63)


def test_blocks_saturate_too():
    blocks = BlockTable(_LaplaceLaw(Fraction(2**52), block_shift(2**52)))
    far = np.array([2**40, -(2**40)])
    values = blocks._values(far, np.array([5, 5]))
    assert values.tolist() == [HIGHEST, -(2**63)]
    assert blocks._values(np.array([1, -1]), np.array([5, 5])).tolist() == [
        2**46 + 5,
        5 - 2**46,
    ]


def test_tiny_and_decimal_scales(source):
    assert not discrete_laplace(0.001, 50_000, source=source).any()
    assert discrete_laplace(0.001, source=source) == 0
    tenth = [discrete_laplace(t, 1000, source=SeededSource(1)) for t in (0.1, Fraction(1, 10))]
    assert np.array_equal(*tenth)


def test_geometric_law(fits, source):
    for r in (Fraction(1, 3), 0.01):
        k = np.arange(int(14 / float(r)))
        law = -np.expm1(-float(r)) * np.exp(-float(r) * k)
        law[-1] = np.exp(-float(r) * k[-1])
        assert fits(geometric(r, 10**6, source=source), law)
        assert not fits(geometric(float(r) * 1.03, 10**6, source=source), law)
        few = np.array([geometric(r, source=source) for _ in range(3000)])
        assert fits(few, law)


def test_geometric_saturates(source):
    assert (geometric(1e-40, 100, source=source) == HIGHEST).all()
    assert geometric(1e-40, source=source) == HIGHEST


def test_sizes():
    assert type(discrete_laplace(3)) is int
    assert discrete_laplace(3, 0).shape == (0,)
    assert discrete_laplace(3, (2, 5)).shape == (2, 5)
    assert discrete_laplace(3, (200, 300)).shape == (200, 300)
    assert type(geometric(3)) is int
    assert geometric(3, (2, 5)).dtype == np.int64


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (
            0,
            ParameterError,
            "scale must be above 0, got 0. Use a positive number, such as scale=1.",
        ),
        (-2, ParameterError, "scale must be above 0, got -2"),
        (float("nan"), ParameterError, "scale must be finite, got nan"),
        (float("inf"), ParameterError, "scale must be finite, got inf"),
        ("1", ParameterTypeError, "scale must be a number, got '1'"),
        ([1], ParameterTypeError, "scale must be a number, got"),
        (None, ParameterTypeError, "scale must be a number, got None"),
        (True, ParameterTypeError, "scale must be a number, got True"),
    ],
)
@pytest.mark.parametrize("size", [None, 10, 50_000])
def test_scale_errors(value, error, text, size):
    with pytest.raises(error, match=text) as caught:
        discrete_laplace(value, size)
    assert caught.value.__context__ is None


def test_geometric_errors():
    with pytest.raises(ParameterError, match="r must be above 0, got 0"):
        geometric(0)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("scale", [Fraction(1, 3), 1, 20, 10**6, 2**50, 2**57, 2**70])
def test_around_is_the_same_draw_moved(scale):
    """Bit for bit, on both sides of the ends of 64-bit arithmetic."""
    for centre in (0, 1, -1000, 2**62 - 1, 2**62, -(2**62), -(2**62) - 1, 2**63 - 1, 10**30):
        for seed in range(60):
            alone = discrete_laplace(scale, source=SeededSource(seed))
            moved = laplace_around(centre, scale, source=SeededSource(seed))
            assert moved == centre + alone
            assert type(moved) is int


@pytest.mark.slow
def test_around_follows_the_law(fits, laplace, source):
    draws = np.array([laplace_around(100, 3, source=source) for _ in range(60_000)]) - 100
    law = laplace(3, 40)
    assert fits(draws, law, first=-40)
    for wrong in (Fraction(33, 10), Fraction(27, 10)):
        assert not fits(draws, laplace(wrong, 40), first=-40)


@pytest.mark.parametrize("centre", [0.5, "1", None, True])
def test_around_needs_a_whole_number(centre):
    with pytest.raises(ParameterTypeError, match="centre must be a whole number, got"):
        laplace_around(centre, 1)


def test_values_drawn_ahead_are_used_once():
    bits = LaplaceBits(Fraction(10**15))
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: bits.one(SYSTEM), range(4_000)))
    assert len(set(drawn)) == 4_000


def test_copies_hold_nothing_drawn_ahead():
    for clip in (False, True):
        bits = LaplaceBits(Fraction(7, 2), clip=clip)
        for _ in range(20):
            bits.one(SYSTEM)
        assert bits._ahead
        for other in (copy(bits), deepcopy(bits), pickle.loads(pickle.dumps(bits))):  # noqa: S301
            assert other is not bits
            assert not other._ahead
            assert (other._scale, other._clip) == (bits._scale, bits._clip)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(10**6), Fraction(10**25)])
def test_values_drawn_ahead_follow_the_law(scale):
    bits = LaplaceBits(scale)
    draws = 20_000
    drawn = [bits.one(SYSTEM, 3) - 3 for _ in range(draws)]
    for multiple in (0, Fraction(1, 2), 1, 3):
        edge = int(multiple * scale)
        q = exp(-float(1 / scale))
        above = exp(-float((edge + 1) / scale)) / (1 + q)
        seen = sum(x > edge for x in drawn)
        assert abs(seen - draws * above) < 6 * sqrt(draws * above * (1 - above)) + 1
        assert abs(sum(x < -edge for x in drawn) - draws * above) < 6 * sqrt(draws * above) + 1
