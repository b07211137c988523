"""OneFromMany: small samplers fall to whoever deletes what they name, and must."""

from __future__ import annotations

from itertools import combinations
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine_lab.attacks.samplers import delete_what_you_output
from sourdine_lab.one_from_many import (
    Bitset,
    CoordinateSampler,
    L0Sampler,
    code_size_bits,
    contests,
    decode,
    gilbert_varshamov_bits,
    greedy_code,
    memory_lower_bound,
    one_from_many,
    plot,
)
from sourdine_lab.one_from_many.lower_bound import deletions

UPDATES = st.lists(st.integers(0, 63), max_size=40)


@given(UPDATES, st.integers(0, 2**70))
def test_l0_sampler_names_what_is_there(inserted, seed):
    sampler, counts = L0Sampler(64, 2, 8, seed), {}
    for i, x in enumerate(inserted):
        delta = -1 if counts.get(x, 0) > 0 and i % 3 == 0 else 1
        counts[x] = counts.get(x, 0) + delta
        sampler.update(x, delta)
    present = {x for x, count in counts.items() if count > 0}
    named = sampler.query()
    assert named is None or named in present
    if len(present) == 1:
        assert named in present


def test_l0_sampler_is_linear():
    one, two = (L0Sampler(256, 3, 8, seed=5) for _ in range(2))
    xs = list(range(200))
    one.update_many(xs, len(xs) * [1])
    for x in xs:
        two.update(x, 2)
        two.update(x, -1)
    assert (one._fields == two._fields).all()
    one.update_many(xs, len(xs) * [-1])
    assert not one._fields.any()
    assert one.query() is None


def test_levels_halve():
    sampler = L0Sampler(4096, 1, 8, seed=2)
    depth = sampler._depth(np.arange(4096, dtype=np.uint64))
    shares = [(depth >= level).mean() for level in range(5)]
    assert shares[0] == 1
    assert np.allclose(shares[1:], 0.5 ** np.arange(1, 5), atol=6 * 0.5 / 64)
    assert (sampler.levels, sampler.words) == (13, 13 * 8 * 3)


def test_bitset_is_a_set():
    bits, rng, kept = Bitset(100), np.random.default_rng(1), set()
    for x in rng.integers(100, size=500).tolist():
        kept ^= {x}
        bits.update(x, 1 if x in kept else -1)
        assert bits.query() == (min(kept) if kept else None)
    assert bits.words == 2


def test_small_samplers_fall_to_an_adaptive_adversary_only():
    universe, rng = 4096, np.random.default_rng(7)
    for rows, columns, words, low, high in ((2, 8, 624, 5, 60), (4, 16, 2496, 35, 150)):
        fixed = one_from_many(
            L0Sampler(universe, rows, columns, 3), universe, rng=rng, adaptive=False
        )
        assert (fixed.failed, fixed.deletions, fixed.of) == (False, 2007, 2007)
        sampler = L0Sampler(universe, rows, columns, 3)
        fell = one_from_many(sampler, universe, rng=rng)
        assert fell.failed
        assert low < fell.deletions < high
        assert sampler.words == words > 9 * Bitset(universe).words
        assert "failed after" in str(fell)


def test_a_coordinate_sampler_falls_with_the_last_it_watches():
    universe, rng = 4096, np.random.default_rng(8)
    sampler = CoordinateSampler(universe, 256, seed=4)
    state = rng.bit_generator.state
    chosen = set(rng.permutation(universe)[: universe // 2].tolist())
    rng.bit_generator.state = state
    outcome = one_from_many(sampler, universe, rng=rng)
    assert outcome.deletions == len(chosen & sampler.watched)
    assert abs(outcome.deletions - 128) < 6 * 8


def test_the_bitset_survives():
    for universe in (200, 4096):
        outcome = one_from_many(Bitset(universe), universe, rng=np.random.default_rng(9))
        assert str(outcome) == f"survived all {deletions(universe)} deletions"
    assert Bitset(4096).words == 64


class Liar:
    """Names the same element for ever."""

    words = 0

    def update(self, x, delta):
        pass

    def query(self):
        return 3


def test_a_wrong_name_is_a_failure():
    assert len(delete_what_you_output(Liar(), 10).named) == 1
    assert delete_what_you_output(Liar(), 10, {4, 5}).named == frozenset()
    fixed = one_from_many(Liar(), 100, rng=np.random.default_rng(1), adaptive=False)
    assert fixed.failed


def test_greedy_code_is_as_large_as_promised():
    for universe in (8, 12, 14):
        code = greedy_code(universe)
        assert all(len(y) == universe // 2 for y in code)
        assert all(len(y & z) < deletions(universe) for y, z in combinations(code, 2))
        assert log2(len(code)) >= gilbert_varshamov_bits(universe) >= code_size_bits(universe)


def test_survivors_hold_the_whole_set():
    universe = 14
    code = greedy_code(universe)
    assert all(decode(Bitset(universe), y, code, universe) == y for y in code)
    tiny = [
        decode(CoordinateSampler(universe, 4, s), y, code, universe) for s, y in enumerate(code)
    ]
    assert set(tiny) == {None}


def test_gilbert_varshamov_by_counting():
    universe = 200
    half, t = 100, 98
    near = sum(comb(half, common) * comb(half, half - common) for common in range(t, half + 1))
    assert gilbert_varshamov_bits(universe) == pytest.approx(log2(comb(universe, half) / near))
    assert round(gilbert_varshamov_bits(universe) / universe, 3) == 0.857
    assert round(gilbert_varshamov_bits(10**5) / 10**5, 3) == 0.859
    low, high = (gilbert_varshamov_bits(n) / n for n in (20_000, 20_100))
    assert high == pytest.approx(low, abs=1e-5), "exact and by logarithms"


def test_memory_lower_bound_is_linear_and_below_the_bitset():
    for universe in (100, 200, 1000, 4096, 100_000):
        bound = memory_lower_bound(universe)
        assert 0.82 * universe < bound < universe
        assert bound == gilbert_varshamov_bits(universe) - 2
        assert code_size_bits(universe) < bound
    assert code_size_bits(1000) == pytest.approx(log2(2**200 / 2000**0.5))
    assert memory_lower_bound(4) == 0


def test_contests_and_their_picture(tmp_path):
    rows = contests(256, rng=np.random.default_rng(2), games=1)
    assert [row.name for row in rows][-1] == "bitset"
    by_name = {row.name: row for row in rows}
    assert by_name["bitset"].survived == deletions(256)
    assert by_name["bitset"].failures == 0
    assert by_name["l0, 2 x 8"].survived < by_name["l0, 4 x 16"].survived < deletions(256)
    assert by_name["l0, 4 x 64"].failures == 0
    plot(rows, 256, path=str(tmp_path / "one.png"))
    assert (tmp_path / "one.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: L0Sampler(0, 1, 1, 1),
        lambda: L0Sampler(10, 0, 1, 1),
        lambda: L0Sampler(10, 1, 1, -1),
        lambda: CoordinateSampler(10, 11, 1),
        lambda: greedy_code(22),
        lambda: deletions(7),
        lambda: memory_lower_bound(2),
    ],
)
def test_bad_parameters_are_told(wrong):
    with pytest.raises(ParameterError, match=r"must be .*, got .*\. Use"):
        wrong()


@pytest.mark.parametrize(
    "make",
    [Bitset, lambda n: CoordinateSampler(n, 5, seed=1), lambda n: L0Sampler(n, 2, 8, seed=1)],
)
def test_elements_outside_the_universe_are_refused(make):
    for x in (100, -1, 10**6):
        with pytest.raises(ParameterError, match=rf"x must be from 0 to 99, got {x}\."):
            make(100).update(x, 1)
    with pytest.raises(ParameterTypeError, match="x must be a whole number"):
        make(100).update("a", 1)
    rng = np.random.default_rng(1)
    for adaptive in (True, False):
        with pytest.raises(ParameterError, match="universe of the game, 1000, got one for 100"):
            one_from_many(make(100), 1000, rng=rng, adaptive=adaptive)


def test_a_seed_is_no_generator():
    with pytest.raises(ParameterTypeError, match="rng must be a NumPy generator"):
        one_from_many(Bitset(100), 100, rng=1)
    with pytest.raises(ParameterTypeError, match="rng must be a NumPy generator"):
        contests(100, rng=1)
