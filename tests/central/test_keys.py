from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sourdine.central import NamedCounts
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

KEYS = "xyz"


def outcome_laws(mechanism: NamedCounts, count: int) -> tuple[list[object], np.ndarray]:
    """Return what may be seen of one key, and how likely: nothing, or a count."""
    seen = np.arange(mechanism.threshold, mechanism.threshold + 24)
    if count == 0:
        return [None, *seen.tolist()], np.append(1.0, np.zeros(len(seen)))
    q = np.exp(-1 / float(mechanism.scale))
    p = (1 - q) / (1 + q) * q ** np.abs(seen - count)
    return [None, *seen.tolist()], np.append(1 - p.sum(), p)  # what is left out hides in None


def hockey_stick(mechanism: NamedCounts, a: dict, b: dict, epsilon: float) -> float:
    """Return the mass by which the law for ``a`` exceeds e^epsilon times that for ``b``."""
    p, q = np.ones(1), np.ones(1)
    for key in KEYS:
        p = np.multiply.outer(p, outcome_laws(mechanism, a.get(key, 0))[1]).ravel()
        q = np.multiply.outer(q, outcome_laws(mechanism, b.get(key, 0))[1]).ravel()
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum())


def counts(most: int):
    for c in product(range(most + 1), repeat=len(KEYS)):
        yield {k: v for k, v in zip(KEYS, c, strict=True) if v}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize(("rows", "most", "loose"), [(1, 2, 0), (2, 2, 1)])
def test_named_counts_keep_their_claim(relation, rows, most, loose):
    """Every pair of small inputs that one person may separate; a lower threshold breaks it.

    For replaced records the proof gives away some steps of the threshold, never the promise.
    """
    loose = 3 * loose + 1 if relation == "substitute" else loose
    mechanism = NamedCounts(epsilon=4, delta=0.02, rows=rows, relation=relation)
    pairs = [(a, b) for a in counts(most) for b in counts(most) if mechanism.adjacent(a, b)]
    worst = max(hockey_stick(mechanism, a, b, 4.0) for a, b in pairs)
    assert worst <= 0.02 + 1e-9
    lower = NamedCounts(epsilon=4, delta=0.02, rows=rows, relation=relation)
    object.__setattr__(lower, "threshold", mechanism.threshold - 1 - loose)
    assert max(hockey_stick(lower, a, b, 4.0) for a, b in pairs) > 0.02


def test_no_count_below_the_threshold_is_seen():
    mechanism = NamedCounts(epsilon=1, delta=0.01)
    near = {f"{i:03}": mechanism.threshold - 1 for i in range(300)}
    seen = mechanism.release(near).value
    assert 0 < len(seen) < 300
    assert min(seen.values()) >= mechanism.threshold


def test_named_keys_are_in_an_order_of_their_own():
    mechanism = NamedCounts(epsilon=1, delta=0.01)
    seen = mechanism.release(dict.fromkeys("cabed", 10**6)).value
    assert list(seen) == list("abcde")


def test_adjacency():
    add = NamedCounts(epsilon=1, delta=0.1, rows=2)
    swap = NamedCounts(epsilon=1, delta=0.1, rows=2, relation="substitute")
    assert add.adjacent({"x": 1}, {"x": 2, "y": 1})
    assert not add.adjacent({"x": 1}, {"y": 1})
    assert not add.adjacent({"x": 1}, {"x": 4})
    assert swap.adjacent({"x": 2}, {"y": 2})
    assert not swap.adjacent({"x": 3}, {"y": 3})


@pytest.mark.parametrize("count", [1, 8, 11, 14, 30])
def test_intervals_of_named_keys_hold_given_that_they_are_named(count):
    mechanism, beta = NamedCounts(epsilon=1, delta=1e-4), 0.1
    seen, p = outcome_laws(mechanism, count)
    half, named = mechanism.half(beta), p[1:] / p[1:].sum()
    v = np.array(seen[1:])
    low = np.where(v - half > mechanism.threshold, v - half, 1)
    assert named[(count < low) | (count > v + half)].sum() <= beta


def test_rare_keys_stay_unnamed():
    mechanism = NamedCounts(epsilon=1, delta=1e-6)
    found = mechanism.release({"common": 1000, "rare": 1}, source=SeededSource(1)).value
    assert list(found) == ["common"]


def test_thresholds_at_large_epsilon_and_many_rows():
    assert NamedCounts(epsilon=10**5, delta=1e-9).threshold == 2
    assert NamedCounts(epsilon=1, delta=1e-6, rows=1000).threshold > 1000
    assert NamedCounts(epsilon=1, delta=1e-6).threshold == 15
    with pytest.raises(ParameterError, match="delta must be below 1, got 1"):
        NamedCounts(epsilon=1, delta=1)
    with pytest.raises(ParameterError, match="rows must be at most 1000, got 1001"):
        NamedCounts(epsilon=1, delta=1e-6, rows=1001)
