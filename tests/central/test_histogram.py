"""Histograms: intervals for all bins together, categories known and unknown, what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from sourdine import histogram
from sourdine.central import Histogram
from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource


@pytest.mark.slow
def test_histogram_intervals_hold_together(relation):
    x = np.random.default_rng(1).integers(0, 20, 500)
    asked = Histogram(bins=20, bounds=(0, 20), epsilon=1, relation=relation, source=SeededSource(6))
    truth = np.bincount(x, minlength=20)
    data = Frame(x)
    worst, hits = [], 0
    for _ in range(1000):
        release = asked.release(data)
        low, high = release.interval()
        worst.append(np.abs(release.value - truth).max())
        hits += bool(((low <= truth) & (truth <= high)).all())
    assert hits / 1000 >= 0.95 - 6 * sqrt(0.0475 / 1000)
    assert 0.95 <= asked.error(0.05) / np.quantile(worst, 0.95) <= 1.2


def test_unknown_categories_are_named_if_many_have_them():
    x = ["oak"] * 500 + ["elm"] * 300 + [f"tree {i}" for i in range(200)]
    release = histogram(x, categories="unknown", epsilon=1, delta=1e-6)
    assert set(release.value) == {"oak", "elm"}
    low, high = release.interval(1 - 1e-9)["oak"]
    assert low <= 500 <= high
    assert "oak" in str(release)


def test_listed_categories_are_counted_and_the_rest_if_that_is_asked():
    x = ["oak"] * 500 + ["elm"] * 300 + ["ash", None] * 100
    listed = histogram(x, categories=["oak", "elm", "fir"], epsilon=5)
    assert np.abs(listed.value - [500, 300, 0]).max() < 20
    more = histogram(x, categories=["oak", "elm", "fir"], missing="count", epsilon=5)
    assert np.abs(more.value - [500, 300, 0, 200]).max() < 20
    assert "missing" in str(more)


def test_edges_are_bins():
    x = [1, 20, 30, 70, 200] * 100
    release = histogram(x, bins=[0, 18, 65, 120], epsilon=5)
    assert np.abs(release.value - [100, 200, 200]).max() < 20
    assert "18 to 65" in str(release)


WRONG = [
    (lambda: histogram([1], epsilon=1), "bins must be given, or categories= instead"),
    (lambda: histogram([1], epsilon=1, bins=2, bounds=(0, 1), categories=["a"]), "got both"),
    (lambda: histogram([1], epsilon=1, bins=3), "bounds must be given if bins="),
    (lambda: histogram([1], epsilon=1, bins="x"), "bins must be a whole number, or a list"),
    (lambda: histogram([1], epsilon=1, bins=["a", "b"]), "bins must be finite numbers, got 'a'"),
    (lambda: histogram([1], epsilon=1, bins=0, bounds=(0, 1)), "bins must be at least 1"),
    (lambda: histogram([1], epsilon=1, bins=10**7, bounds=(0, 1)), "bins must be below"),
    (lambda: histogram([1], epsilon=1, bins=[0, 1], bounds=(0, 1)), "bounds must be omitted"),
    (lambda: histogram([1], epsilon=1, bins=[3, 1]), "bins must be at least two edges"),
    (lambda: histogram([1], epsilon=1, categories=3), "categories must be a list"),
    (lambda: histogram([1], epsilon=1, categories=[]), "categories must hold at least one"),
    (lambda: histogram([1], epsilon=1, keys=["a"], categories=["b"]), "by must name the column"),
    (
        lambda: histogram([1], epsilon=1, categories=[1], missing=1),
        "missing must be 'exclude' or 'count'",
    ),
    (
        lambda: histogram([1], epsilon=1, categories=[1], delta=0.1),
        "delta must be omitted where categories are known",
    ),
    (lambda: histogram([1], epsilon=1, categories="unknown"), "would reveal that person"),
    (
        lambda: histogram([1], epsilon=1, categories="unknown", delta=0.1, missing="count"),
        "must be omitted where categories are unknown",
    ),
    (
        lambda: histogram(
            {"a": [1], "b": [1]},
            epsilon=1, categories="unknown", delta=0.1, column="a", by="b", keys=[1],
        ),
        "categories must be listed for a histogram by group",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)


def test_parameters_are_read_before_the_data():
    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError(name)

    with pytest.raises(ParameterError, match="epsilon must be above 0"):
        histogram(Untouchable(), epsilon=-1, bins=2, bounds=(0, 1))
