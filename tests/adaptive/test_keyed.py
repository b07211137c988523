"""Keyed sketches count what comes, whoever chooses it."""

from __future__ import annotations

import pickle
from enum import IntEnum
from math import nan

import numpy as np
import pytest

from sourdine.adaptive.attacks import offline
from sourdine.adaptive.robust.proof import ENDLESS
from sourdine.adaptive.sketches.f2 import encoded
from sourdine.adaptive.sketches.keyed import Keyed, siphash, siphash_many
from sourdine.errors import MissingExtraError, ParameterError, ParameterTypeError
from sourdine.noise import SeededSource

ds = pytest.importorskip("datasketches")

KINDS = {
    "hll": lambda: ds.hll_sketch(12),
    "hll_4": lambda: ds.hll_sketch(12, ds.tgt_hll_type.HLL_4),
    "cpc": lambda: ds.cpc_sketch(12),
    "theta": lambda: ds.update_theta_sketch(12),
}
DEVIATION = 1.04 / 64
"""Of an estimate of 2^12 registers, relative; the largest of the kinds."""

KEY = bytes(range(32))


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def make(request):
    return request.param


def keyed(make, seed=0):
    return Keyed(make(), source=SeededSource(seed))


def test_siphash_gives_the_designers_vector():
    key, message = bytes(range(16)), int.from_bytes(bytes(range(8)), "little")
    assert siphash(message, key) == 0x93F5F5799A932462
    assert int(siphash_many(np.array([message], np.uint64), key)[0]) == 0x93F5F5799A932462


def test_siphash_of_many_is_siphash_of_each():
    rng = np.random.default_rng(1)
    words = np.concatenate(
        [rng.integers(0, 1 << 64, 300, np.uint64), np.array([0, 1, (1 << 64) - 1], np.uint64)]
    )
    key = rng.bytes(16)
    assert siphash_many(words, key).tolist() == [siphash(w, key) for w in words.tolist()]
    assert siphash_many(words[:0], key).tolist() == []
    many = np.arange(10_000, dtype=np.uint64)
    assert np.unique(siphash_many(many, key)).size == many.size
    assert siphash_many(many, key)[9_999] == siphash(9_999, key)


def test_siphash_refuses_a_short_key():
    with pytest.raises(ParameterError, match="must be 16 bytes"):
        siphash(1, b"short")


def test_different_items_have_different_bytes():
    items = [
        0, 1, -1, 255, 256, -256, 1 << 80, True, False, None, 1.0, 0.0, nan, 1e300, "", "1", "a",
        b"", b"1", b"a", (), ("as", "b"), ("a", "sb"), (("a",), "b"), (("a", "b"),),
        (1,), (1.0,), ((1,),), ("",), "\ud800",
    ]  # fmt: skip
    assert len({encoded(item) for item in items}) == len(items)


def test_equal_items_have_equal_bytes():
    assert encoded(0.0) == encoded(-0.0)
    assert encoded(nan) == encoded(-nan) == encoded(np.float64("nan"))
    assert encoded(np.int8(-3)) == encoded(-3)
    assert encoded(np.float32(0.5)) == encoded(0.5)
    assert encoded(np.str_("a")) == encoded("a")
    assert encoded(np.bool_(True)) == encoded(True)  # noqa: FBT003
    assert encoded(bytearray(b"x")) == encoded(b"x")


@pytest.mark.parametrize("item", [object(), [1], {1}, np.datetime64("2020-01-01"), 1j])
def test_other_kinds_are_refused(item):
    with pytest.raises(ParameterTypeError, match="an item must be"):
        Keyed(ds.hll_sketch(8)).update(item)


def test_one_item_counts_once_however_it_comes(make):
    class Level(IntEnum):
        SEVEN = 7

    counter = keyed(make)
    for item in (7, np.int64(7), np.uint8(7), Level.SEVEN):
        counter.update(item)
    for dtype in (np.int8, np.uint16, np.int64, np.uint64, object):
        counter.update_many(np.array([[7, 7]], dtype))
    counter.update_many([7, 7])
    counter.update_many(iter([7]))
    assert round(counter.query()) == 1


def test_kinds_of_one_print_count_apart(make):
    counter = keyed(make)
    counter.update_many([1, 1.0, "1", b"1", True, None, (1,), 1 << 63, -(1 << 63)])
    assert round(counter.query()) == 9


def test_large_unsigned_numbers_are_not_negative_ones(make):
    counter = keyed(make)
    counter.update_many(np.array([(1 << 64) - 1], np.uint64))
    counter.update((1 << 64) - 1)
    assert round(counter.query()) == 1
    counter.update_many(np.array([-1]))
    counter.update(-1)
    assert round(counter.query()) == 2


def test_many_at_once_and_one_by_one_are_the_same(make):
    items = np.arange(-5_000, 5_000)
    one, many = Keyed(make(), key=KEY), Keyed(make(), key=KEY)
    many.update_many(items)
    for item in items.tolist():
        one.update(item)
    assert one.query() == many.query()
    few = Keyed(make(), key=KEY)
    for item in items[:100].tolist():
        few.update(item)
        few.query()
    rest = Keyed(make(), key=KEY)
    rest.update_many(items[:100])
    assert few.query() == rest.query()


def test_questions_do_not_wait(make):
    counter = keyed(make)
    for i in range(40):
        counter.update(i)
        assert round(counter.query()) == i + 1


def test_repeated_items_change_nothing(make):
    counter = keyed(make)
    items = np.arange(30_000)
    counter.update_many(items)
    counter.update_many([str(i) for i in range(500)])
    before = counter.query()
    counter.update_many(items[::-1])
    counter.update_many([str(i) for i in range(500)])
    for item in items[:300].tolist():
        counter.update(item)
    assert counter.query() == before


@pytest.mark.slow
def test_offline_items_do_not_fool_a_keyed_sketch(make):
    items = offline(make, base=20_000, extra=100_000)
    victim, counter = make(), keyed(make)
    for item in items.tolist():
        victim.update(item)
    counter.update_many(items)
    truth = len(np.unique(items))
    assert truth == 120_000
    assert victim.get_estimate() < 0.2 * truth
    assert abs(counter.query() / truth - 1) < 4 * DEVIATION


def stubborn(counter, steps):
    """Insert the neighbours of items that left the estimate alone, and these again and again."""
    seen, quiet, item, last = set(), [], 0, counter.query()
    for step in range(steps):
        counter.update(item)
        seen.add(item)
        now = counter.query()
        if now == last:
            quiet.append(item)
        if step % 3 == 2 and quiet:
            counter.update(quiet[step % len(quiet)])
        item = quiet[-1] + 1 if quiet and now == last else (item * 2_654_435_761 + 1) % (1 << 40)
        last = now
    return len(seen)


@pytest.mark.slow
def test_an_adaptive_stream_is_counted_as_a_fixed_one():
    ratios = []
    for seed in range(12):
        counter = Keyed(ds.hll_sketch(8), source=SeededSource(seed))
        truth = stubborn(counter, 3_000)
        ratios.append(counter.query() / truth)
    deviation = 1.04 / 16
    assert max(abs(r - 1) for r in ratios) < 4 * deviation
    assert abs(np.mean(ratios) - 1) < 4 * deviation / np.sqrt(len(ratios))


@pytest.mark.slow
def test_one_key_two_visible_sketches_is_fooled():
    first, second = (Keyed(ds.hll_sketch(8), key=KEY) for _ in range(2))
    first.update_many(np.arange(4_000))
    hidden, last = 0, first.query()
    for item in range(10_000, 30_000):
        first.update(item)
        now = first.query()
        if now == last:
            second.update(item)
            hidden += 1
        last = now
    assert hidden > 15_000
    assert second.query() / hidden < 1 - 4 * 1.04 / 16


@pytest.mark.slow
def test_the_worst_moment_of_a_stream_is_a_few_deviations_off():
    worst = []
    for seed in range(20):
        counter = Keyed(ds.hll_sketch(8), source=SeededSource(seed))
        moments = np.unique(np.geomspace(10, 50_000, 200).astype(int))
        errors = []
        for start, stop in zip([0, *moments], moments, strict=False):
            counter.update_many(np.arange(start, stop))
            errors.append(abs(counter.query() / stop - 1))
        worst.append(max(errors) * 16 / 1.04)
    assert max(worst) < 5


def test_keys_are_fresh_and_secret():
    one, two = Keyed(ds.hll_sketch(8)), Keyed(ds.hll_sketch(8))
    assert len(one.key) == 32
    assert one.key != two.key
    assert one.key.hex() not in repr(one)
    assert repr(one.key) not in repr(one)


def test_the_key_decides_what_the_sketch_sees():
    estimates = set()
    for key in (KEY, KEY[:31], b"\0" * 16, b"\0" * 17):
        for items in (np.arange(10_000), [str(i) for i in range(10_000)]):
            counter = Keyed(ds.hll_sketch(8), key=key)
            counter.update_many(items)
            estimates.add(counter.query())
    assert len(estimates) == 8


def test_a_keyed_sketch_is_not_pickled():
    with pytest.raises(ParameterTypeError, match="cannot be pickled with its key"):
        pickle.dumps(Keyed(ds.hll_sketch(8)))


def test_sketch_and_key_stored_apart_go_on():
    counter = Keyed(ds.hll_sketch(10))
    counter.update_many(np.arange(5_000))
    image = counter.sketch.serialize_updatable()
    again = Keyed(ds.hll_sketch.deserialize(image), key=counter.key)
    for each in (counter, again):
        each.update_many(np.arange(4_000, 9_000))
    assert again.query() == counter.query()


@pytest.mark.quick_cases(2)
def test_intervals_hold_the_truth(make):
    inside = 0
    for seed in range(20):
        counter = keyed(make, seed)
        counter.update_many(np.arange(20_000))
        low, high = counter.interval(3)
        assert low < counter.query() < high
        inside += low <= 20_000 <= high
    assert inside >= 19
    with pytest.raises(ParameterError, match="deviations must be"):
        counter.interval(4)


def test_merges_count_the_union(make):
    one = keyed(make)
    two = Keyed(make(), key=one.key)
    one.update_many(np.arange(30_000))
    two.update_many(np.arange(20_000, 50_000))
    both = one.merge(two)
    assert abs(both.query() / 50_000 - 1) < 4 * DEVIATION
    assert abs(one.query() / 30_000 - 1) < 4 * DEVIATION
    assert both.merge(one).query() == pytest.approx(both.query(), rel=1e-2)


def test_a_union_of_theta_sketches_is_closed():
    one = Keyed(ds.update_theta_sketch(12))
    both = one.merge(Keyed(ds.update_theta_sketch(12), key=one.key))
    for item in ("ada", 7):
        with pytest.raises(ParameterTypeError, match="closed and accepts no items"):
            both.update(item)
    assert both.query() == 0


def test_merges_need_one_key_and_one_kind():
    one = Keyed(ds.hll_sketch(8))
    with pytest.raises(ParameterError, match="same key"):
        one.merge(Keyed(ds.hll_sketch(8)))
    with pytest.raises(ParameterTypeError, match="of the same type"):
        one.merge(Keyed(ds.cpc_sketch(8), key=one.key))


def test_bad_parameters_are_refused():
    used = ds.hll_sketch(8)
    used.update(1)
    with pytest.raises(ParameterError, match="must be empty"):
        Keyed(used)
    with pytest.raises(ParameterTypeError, match="get_estimate"):
        Keyed({})
    with pytest.raises(ParameterError, match="16 to 64 bytes long, got 3"):
        Keyed(ds.hll_sketch(8), key=b"abc")
    with pytest.raises(ParameterTypeError, match="must be bytes"):
        Keyed(ds.hll_sketch(8), key="a" * 32)
    with pytest.raises(ParameterTypeError, match="a list or an array"):
        Keyed(ds.hll_sketch(8)).update_many("ada")


def test_a_class_is_no_sketch():
    with pytest.raises(ParameterTypeError, match=r"got the class hll_sketch. Use Keyed\(hll"):
        Keyed(ds.hll_sketch)
    with pytest.raises(ParameterTypeError, match="got the class hll_sketch"):
        Keyed(ds.hll_sketch, key=bytes(32))


def test_any_sketch_with_two_methods_will_do():
    class Exact:
        def __init__(self):
            self.words = set()

        def update(self, word):
            self.words.add(word)

        def get_estimate(self):
            return len(self.words)

    counter = Keyed(Exact())
    counter.update_many(["ada", "grace", "ada"])
    assert counter.query() == 2
    assert all(-(1 << 63) <= word < 1 << 63 for word in counter.sketch.words)
    with pytest.raises(
        ParameterTypeError, match="is not available for a sketch without get_lower_bound"
    ):
        counter.interval()


def test_the_certificate_says_what_is_not_proved():
    counter = Keyed(ds.hll_sketch(8))
    text = str(counter.proof())
    assert counter.certificate() == ENDLESS
    assert "any number" in text
    assert "not proved  answers about subsets, merges" in text


def test_a_key_that_can_be_foreseen_proves_nothing():
    counter = Keyed(ds.hll_sketch(8), source=SeededSource(1))
    assert counter.certificate() == 0
    assert counter.proof().proved.startswith("nothing")
    assert counter.merge(Keyed(ds.hll_sketch(8), key=counter.key)).certificate() == 0


def test_without_the_extra_a_person_learns_what_to_type(monkeypatch):
    from sourdine.adaptive.sketches.keyed import datasketches

    monkeypatch.setitem(__import__("sys").modules, "datasketches", None)
    with pytest.raises(
        MissingExtraError, match=r"In the checkout, run pip install '\.\[sketches\]'"
    ):
        datasketches()
