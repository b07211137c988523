"""What the loss of every question is made of: it makes the cost, and whole calls stay within it."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import chain, combinations

import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.audit.curves import over
from sourdine.central import Describe, Quantiles
from sourdine.laws.compare import Losses
from sourdine.noise import SeededSource
from sourdine.privacy.accounting import Part, compose
from sourdine.privacy.accounting.parts import plain
from sourdine.questions import read

B = {"bounds": (0, 10), "step": 1}
GROUPS = {"by": "town", "keys": ["a", "b"]}
ASKS = {
    "count": {},
    "sum": {"bounds": (-3, 10), "step": 0.5},
    "mean": B,
    "mean-public": {"missing": "auto", **B},
    "mean-grid": {"method": "exponential", **B},
    "variance": B,
    "histogram": {"bins": [0, 4, 10]},
    "mode": {"categories": [3, 7, 10]},
    "median": B,
    "quantiles": {"q": [0.25, 0.75], "bounds": (0, 10), "step": 2},  # a law of many outcomes
    "quantiles-one-by-one": {"q": [0.25, 0.75], "method": "exponential", **B},
    "quantiles-tree": {"q": [0.25, 0.75], "method": "tree", **B},
}
"""Calls whose steps do not follow from one another: their whole law is a product."""


def question(name, **typed):
    asked = {"column": "v", "epsilon": 1, **ASKS[name], **typed}
    return read({"statistic": name.partition("-")[0], **asked})


def whole(steps):
    """Return the losses of all that a call draws."""
    one = np.ones(1)
    nothing = Losses(np.zeros(1), one, one, 0.0, 0.0)
    moved = [(a, b) for a, b in steps if not np.array_equal(a.x, b.x)]
    laws = [(a.mechanism.law(a.x), b.mechanism.law(b.x)) for a, b in moved]
    return reduce(Losses.beside, (p.losses(q) for p, q in laws), nothing)


PEOPLE = [("x", "a", 3), ("y", "a", 7), ("y", "b", 1), ("z", "b", 10), ("z", "b", 9), ("w", "a", 0)]
OTHERS = [[("p", "a", 0), ("p", "b", 10)], [("p", "a", 10), ("p", "a", 10)], [("p", "b", 5)]]


def frame(people):
    columns = zip(*people, strict=True)
    return dict(zip(("who", "town", "v"), map(list, columns), strict=True))


def neighbours(relation):
    """Yield pairs of tables of people with one or two rows each."""
    if relation == "add_remove":
        yield from ((PEOPLE, [*PEOPLE, *rows]) for rows in OTHERS)
        return
    for one, two in combinations(OTHERS[:2], 2):
        yield [*PEOPLE, *one], [*PEOPLE, *two]


@pytest.mark.grid(quick=0, slow=1)
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ASKS)
def test_whole_curves_of_groups_keep_the_claim(name, relation):
    """Persons of two rows, in one group or in two: the curves of whole calls, exactly.

    In one group or none the noise of a copy that spends 5% more is caught where a claim is
    reached, that of a count.
    """
    for groups in ({}, GROUPS):
        asked = question(name, relation=relation, unit="who", rows=2, **groups)
        for one, two in neighbours(relation):
            found = replay(asked.release, frame(one), frame(two))
            assert all("cost" in fault for fault in found.faults)  # it knows no persons
            assert over(asked.parts, whole(found.steps)) <= 1e-9
            if name == "count" and relation == "add_remove" and len(two) == len(one) + 2:
                assert over(asked.at(Fraction(20, 21)).parts, whole(found.steps)) > 1e-3


SEARCHES = [
    {"statistic": "count", "unit": "who", "rows": "find"},
    {"statistic": "mean", "bounds": (0, 10), "unit": "who", "rows": "find"},
    {"statistic": "mean", "bounds": "find"},
    {"statistic": "mean", "bounds": "find", "relation": "substitute"},
    {"statistic": "mean", "bounds": "find", "n": 10_000},
    {"statistic": "mean", "bounds": "find", "n": 10_000, "method": "exponential"},
    {"statistic": "mean", "bounds": "find", "method": "gaussian", "delta": 1e-6},
    {"statistic": "mean", "bounds": "find", "unit": "who", "rows": "find", **GROUPS},
    {"statistic": "sum", "bounds": (0, None)},
    {"statistic": "cdf", "bounds": "find", "n": 10_000},
    {"statistic": "cdf", "bounds": (0, 10)},
    {"statistic": "quantiles", "q": [k / 10 for k in range(1, 10)], "bounds": (0, 10_000)},
    {"statistic": "quantiles", "q": [k / 99 for k in range(1, 99)], "bounds": (0, 10_000)},
    {"statistic": "quantiles", "q": [k / 20 for k in range(1, 20)], "bounds": (0, 10_000),
     "interval": 0.9},
    {"statistic": "mean", "bounds": (0, 10), **GROUPS, "keys": "unknown", "delta": 1e-6,
     "method": "gaussian", "relation": "substitute"},
]  # fmt: skip


def own(asked):
    """Check that the parts of a question make what it costs, and return them."""
    parts, cost = asked.parts, asked.cost
    epsilon, delta = plain(parts)
    if epsilon is None:
        assert compose(parts).delta(cost.exact_epsilon()).upper <= 1.0001 * cost.delta
    elif asked.kind == "table":
        assert 0.995 * cost.epsilon < epsilon <= cost.epsilon
        assert delta == cost.delta
    else:
        assert (epsilon, delta) == (cost.epsilon, cost.delta)
    return parts


@pytest.mark.slow
@pytest.mark.parametrize("typed", SEARCHES, ids=str)
def test_whatever_is_found_the_parts_make_the_cost(typed):
    own(read({"epsilon": 1, **typed}))


@pytest.mark.parametrize("columns", [None, ["v"], ["v", "w", "x"]])
def test_the_parts_of_a_description_make_its_cost(columns):
    own(Describe(epsilon=1, columns=columns))


def test_what_is_chosen_on_the_way_is_covered():
    plain = {"bounds": (0, 10_000), "epsilon": 1, "interval": None}
    deciles = Quantiles([k / 10 for k in range(1, 10)], **plain)
    assert deciles.parts == (Part.laplace(1, 50), Part.range(0.98))
    many = Quantiles([k / 100 for k in range(1, 100)], **plain)
    # Anchors, or two levels: counted for half as much, as there are more records.
    assert many.parts == (Part.laplace(1, 100), Part.pure(0.99))
    known = Quantiles([k / 100 for k in range(1, 100)], **plain, n=10**6)
    assert known.parts == (Part.range(0.5, times=2),)
    bracketed = Quantiles([0.5], bounds=(0, 10_000), epsilon=1, interval=0.9)
    assert bracketed.parts == (Part.range(0.625), Part.laplace(1, Fraction(8, 3)))
    assert Describe(epsilon=1, columns=["v", "w"]).parts[1] == Part.pure(0.49, times=2)


@pytest.mark.parametrize("rows", [1, 3])
def test_found_rows_are_covered(rows):
    """The parts before rows are found are no less than those of any number of rows."""
    asked = read({"statistic": "mean", "bounds": (0, 10), "epsilon": 1, "unit": "w",
                  "rows": "find"})  # fmt: skip
    settled = read({"statistic": "mean", "bounds": (0, 10), "epsilon": 0.7, "unit": "w",
                    "rows": rows})  # fmt: skip
    ((before,), (after,)) = (parts[-1:] for parts in (asked.parts, settled.parts))
    assert after.epsilon == before.epsilon
    assert after.count % before.count == 0


def test_a_file_of_texts_is_covered():
    """A number of records that is public in a frame may be private in a file: both are covered."""
    mean = question("mean", relation="substitute")
    public, private = mean.own_parts, mean.of_private_number.own_parts
    assert public != private
    assert mean.parts == public  # its shift divides the other
    grid = question("mean-grid", relation="substitute")
    assert grid.parts == (Part.pure(1),)  # a choice, or a count and a choice


def test_a_seeded_question_has_no_parts():
    with pytest.raises(sd.SourdineError, match="seeded"):
        _ = sd.central.Count(epsilon=1, source=SeededSource(1)).parts


def test_parts_of_groups():
    counts = {"epsilon": 1, "by": "town", "keys": ["a", "b"]}
    added = read({"statistic": "count", **counts})
    assert added.parts == (Part.laplace(1, 1),)
    replaced = read({"statistic": "count", "relation": "substitute", **counts})
    assert replaced.parts == (Part.laplace(1, 2, times=2),)
    found = read({"statistic": "count", **counts, "keys": "unknown", "delta": 1e-6})
    assert found.parts == (Part.laplace(1, 4), Part.delta(1e-6), Part.laplace(1, Fraction(4, 3)))
    both = list(chain(*(own(asked) for asked in (added, replaced, found))))
    assert {part.kind for part in both} == {"laplace", "delta"}
