"""Any mechanism on a random part of the records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sourdine.audit import p_value, worst_case
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.mechanisms import (
    Exponential,
    Laplace,
    Subsample,
)
from sourdine.noise import SYSTEM
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

COUNT = Laplace(epsilon=1, relation=ADD_REMOVE)


def test_subsample_of_a_fixed_size_takes_each_record_equally_often():
    count = Laplace(epsilon=1, relation=SUBSTITUTE)
    part = Subsample(mechanism=count, values=(0, 1), sample=2, n=5)
    kept = part._kept(5, 50_000, SYSTEM)
    assert (kept.sum(axis=1) == 2).all()
    pairs = np.unique(kept, axis=0, return_counts=True)[1]
    assert len(pairs) == 10
    assert np.abs(pairs - 5000).max() < 6 * 5000**0.5


def test_subsample_relation_must_fit_the_sampling():
    with pytest.raises(ParameterError, match="must hold for one record added or removed, got SUBS"):
        Subsample(mechanism=Laplace(epsilon=1, relation=SUBSTITUTE), values=(0, 1), rate=0.5)
    with pytest.raises(ParameterError, match="must hold for one record replaced, got ADD_REMOVE"):
        Subsample(mechanism=Laplace(epsilon=1, relation=ADD_REMOVE), values=(0, 1), sample=1, n=2)


def test_subsample_of_everything_is_the_mechanism():
    whole = Subsample(mechanism=Laplace(epsilon=1, relation=ADD_REMOVE), values=(0, 1), rate=1)
    assert float(whole.guarantee.epsilon) == pytest.approx(1, abs=1e-15)
    assert whole.law(whole.read([1, 1, 0])).mean() == pytest.approx(2)


def test_subsample_reads_the_nearest_value():
    part = Subsample(mechanism=COUNT, values=(-10, 0, 7), rate=0.5)
    assert part.read([-99, -6, -4, 2, 4, 99]).tolist() == [-10, -10, 0, 0, 7, 7]
    assert part.read([]).tolist() == []
    wide = Subsample(mechanism=COUNT, values=range(1001), rate=0.5)
    assert len(wide.read(np.arange(10**6))) == 10**6


def test_subsample_interval_and_text_are_the_mechanism_s():
    part = Subsample(mechanism=COUNT, values=(0, 1), rate=0.5)
    release = part.release([1, 1])
    assert release.interval(0.95) == COUNT.interval(release.value, 0.95)
    assert "statistic=total" in str(part)


def test_any_mechanism_can_be_sampled():
    """A choice among three by the counts of a sample: the worst case keeps the promise."""
    vote = Exponential(epsilon=1, candidates=3, monotone=True, relation=ADD_REMOVE)
    part = Subsample(
        mechanism=vote,
        values=(0, 1, 2),
        statistic=lambda records: np.bincount(records, minlength=3),
        rate=Fraction(1, 2),
    )
    worst = worst_case(part, [[], [0], [0, 1, 2], [2, 2, 2, 2]])
    assert worst.within(part.guarantee)
    assert worst.epsilon > 0.3
    assert p_value(part.simulate([0, 0, 2], 50_000), part.law(part.read([0, 0, 2]))) > 1e-9
    assert int(part.release([0, 1, 2])) in (0, 1, 2)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: Subsample(mechanism=COUNT, values=(), rate=0.5),
            ParameterError,
            "values must be a list of at least one whole number, got an empty list. Use",
        ),
        (
            lambda: Subsample(mechanism=COUNT, values=(0, 1)),
            ParameterTypeError,
            "rate must be given, or else sample and n, got rate=None",
        ),
        (
            lambda: Subsample(mechanism=COUNT, values=(0, 1), rate=0),
            ParameterError,
            "rate must be above 0 and at most 1, got 0",
        ),
        (
            lambda: Subsample(
                mechanism=Laplace(epsilon=1, relation=SUBSTITUTE),
                values=(0, 1),
                sample=1,
                n=3,
            ).release([1, 0]),
            ParameterTypeError,
            "the input must hold the public number of 3 records, got 2",
        ),
    ],
)
def test_bad_parameters_say_what_to_type(make, kind, text):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(text)
