"""Attacks on distinct counts work on real sketches, and fail where they should."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.adaptive.attacks import offline, subset_queries
from sourdine.adaptive.robust.wrapper import Robust
from sourdine.adaptive.sketches.keyed import Keyed, SubsetCount
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource

ds = pytest.importorskip("datasketches")

KEYS = np.random.default_rng(5).integers(1, 1 << 62, 2560)


def small():
    return ds.hll_sketch(7)


def rates(answer, found):
    return tuple(answer(keys) / len(keys) for keys in found)


@pytest.mark.slow
def test_offline_items_are_hidden_from_the_default_sketch():
    items = offline(lambda: ds.hll_sketch(12))
    victim = ds.hll_sketch(12)
    for item in items.tolist():
        victim.update(item)
    assert len(set(items.tolist())) == 320_000
    assert 19_000 < victim.get_estimate() < 21_000
    counter = Keyed(ds.hll_sketch(12), source=SeededSource(1))
    counter.update_many(items)
    assert abs(counter.query() / 320_000 - 1) < 4 / np.sqrt(1 << 12)


@pytest.mark.parametrize(
    "make",
    [lambda: ds.cpc_sketch(11), lambda: ds.update_theta_sketch(11), lambda: ds.hll_sketch(11)],
    ids=["cpc", "theta", "hll"],
)
def test_offline_works_on_every_kind_with_a_public_hash(make):
    items = offline(make, base=10_000, extra=50_000)
    victim = make()
    for item in items.tolist():
        victim.update(item)
    assert victim.get_estimate() < 0.2 * len(items)


def test_offline_fails_on_another_hash():
    items = offline(lambda: ds.cpc_sketch(11), base=10_000, extra=50_000)
    victim = ds.cpc_sketch(11, seed=12_345)
    for item in items.tolist():
        victim.update(item)
    assert abs(victim.get_estimate() / len(items) - 1) < 4 / np.sqrt(1 << 11)


def test_offline_refuses_what_cannot_be_wound_back():
    class Opaque:
        def update(self, item):
            pass

        def get_estimate(self):
            return 0.0

    with pytest.raises(ParameterTypeError, match="can be copied"):
        offline(Opaque, base=1, extra=1)
    with pytest.raises(ParameterError, match="base must be at least 1"):
        offline(small, base=0)
    with pytest.raises(ParameterError, match="base must be large enough"):
        offline(lambda: ds.hll_sketch(12), base=1, extra=10)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "low", "high"), [(512, 0.8, 1.3), (2048, 0.7, 1.6)])
def test_subset_queries_find_what_a_sketch_overlooks(rounds, low, high):
    victim = SubsetCount(KEYS, small, seed=7)
    found = subset_queries(victim.count, KEYS, rounds, rng=np.random.default_rng(rounds))
    assert sorted(np.concatenate(found).tolist()) == sorted(KEYS.tolist())
    lower, higher = rates(victim.count, found)
    assert lower < low
    assert higher > high
    other = SubsetCount(KEYS, small, seed=8)
    assert all(abs(r - 1) < 4 * 1.04 / np.sqrt(128) for r in rates(other.count, found))


def test_a_seed_is_no_generator():
    with pytest.raises(ParameterTypeError, match="rng must be a NumPy generator"):
        subset_queries(len, np.arange(10), 3, rng=1)


def test_subset_queries_learn_nothing_from_an_exact_count():
    victim = SubsetCount(KEYS, small, seed=7)
    found = subset_queries(len, KEYS, 512, rng=np.random.default_rng(1))
    assert all(abs(r - 1) < 4 * 1.04 / np.sqrt(128) for r in rates(victim.count, found))


@pytest.mark.slow
def test_a_private_median_of_keyed_copies_withstands_subset_queries():
    rounds = 512
    robust = Robust(
        lambda seed: SubsetCount(KEYS, small, seed=seed),
        copies=16,
        epsilon0=3,
        steps=rounds + 50,
        start=len(KEYS) / 2,
        source=SeededSource(3),
    )

    def answer(keys):
        robust.update(keys)
        return robust.query()

    found = subset_queries(answer, KEYS, rounds, rng=np.random.default_rng(2))
    lower, higher = (float(np.median([answer(keys) for _ in range(9)])) for keys in found)
    assert abs(lower / 1280 - 1) < 0.25
    assert abs(higher / 1280 - 1) < 0.25


def test_subset_counts_of_one_seed_agree():
    one, two = (SubsetCount(KEYS, small, seed=(1 << 127) + 3) for _ in range(2))
    assert one.count(KEYS[::2]) == two.count(KEYS[::2])
    one.update(KEYS[:100])
    assert one.query() == two.count(KEYS[:100])
    assert abs(one.query() / 100 - 1) < 4 * 1.04 / np.sqrt(128)
    turned = SubsetCount(KEYS[::-1].copy(), small, seed=(1 << 127) + 3)
    assert turned.count(KEYS[:100]) == one.query()
    assert SubsetCount(KEYS, small, seed=4).query() == 0
