"""The mode: how far one person moves the counts, how common the winner is, what is refused."""

from __future__ import annotations

from itertools import product

import attrs
import numpy as np
import pytest

from sourdine import mode
from sourdine.audit import replay
from sourdine.central import Mode
from sourdine.frames.frame import Frame
from sourdine.mechanisms.exponential import PermuteAndFlip
from sourdine.noise import SeededSource
from sourdine.results.release import Release

TRAVEL = ["bus", "car", "foot"]
WAYS = ["bus"] * 40 + ["car"] * 36 + ["foot"] * 8 + [None, "rocket"]


def counts(x):
    return np.array([x.count(way) for way in TRAVEL])


@pytest.mark.parametrize("rows", [1, 2])
def test_a_mode_moves_no_further_than_it_says(relation, rows):
    """All that a person of few records can do is a neighbour of what is drawn from."""
    asked = Mode(categories=TRAVEL, epsilon=1, relation=relation, rows=rows)
    base = ["bus", "car", "car"]
    own = [list(r) for k in range(rows + 1) for r in product([*TRAVEL, None], repeat=k)]
    before = own if relation == "substitute" else [[]]
    for mine, theirs in product(before, own):
        if relation == "substitute" and len(mine) != len(theirs):
            continue
        x, y = counts(base + mine), counts(base + theirs)
        assert asked.mechanism.adjacent(x, y), (mine, theirs)
    further = counts(base + ["bus"] * (rows + 1))
    assert not asked.mechanism.adjacent(counts(base), further)


def test_neighbours_see_the_same(relation):
    near = [[*WAYS[1:]], [*WAYS, "car"]] if relation == "add_remove" else [["foot", *WAYS[1:]]]
    for other in near:
        found = replay(
            lambda x: mode(x, categories=TRAVEL, epsilon=1, relation=relation), WAYS, other
        )
        assert found.holds, found.faults


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_the_mode_is_as_common_as_planned(relation, epsilon):
    asked = Mode(categories=TRAVEL, epsilon=epsilon, relation=relation)
    seeded = attrs.evolve(asked, source=SeededSource(4))
    data, tally = Frame(WAYS), dict(zip(TRAVEL, counts(WAYS), strict=True))
    short = [40 - tally[seeded.release(data).value] for _ in range(600)]
    for beta in (0.5, 0.05):
        assert np.mean(np.array(short) > asked.error(beta)) <= beta


@pytest.mark.slow
def test_draws_follow_the_law_of_permute_and_flip():
    asked = Mode(categories=TRAVEL, epsilon=0.1, source=SeededSource(9))
    law = PermuteAndFlip(epsilon=0.1, candidates=3, monotone=True).law(counts(WAYS))
    data, runs = Frame(WAYS), 4000
    seen = [asked.release(data).value for _ in range(runs)]
    expected = law.pmf([0, 1, 2])
    for way, chance in zip(TRAVEL, expected, strict=True):
        spread = 6 * np.sqrt(chance * (1 - chance) / runs)
        assert abs(seen.count(way) / runs - chance) <= spread


def test_groups_have_a_mode_each():
    x = {"way": ["bus", "car"] * 300 + ["car"] * 200, "city": ["a", "b"] * 300 + ["b"] * 200}
    found = mode(x, column="way", categories=TRAVEL, by="city", keys=["a", "b"], epsilon=5)
    assert found.value == {"a": "bus", "b": "car"}
    assert found.to_frame("polars").columns == ["city", "mode"]
    assert not any("interval" in caveat for caveat in found.caveats)


def test_a_mode_is_read_back_and_shown():
    found = mode(WAYS, categories=TRAVEL, epsilon=5)
    assert Release.from_json(found.to_json()) == found
    assert str(found).splitlines()[:2] == ["mode", found.value]
    assert f"<td>{found.value}</td>" in found._repr_html_()
    assert found.to_frame("polars").rows() == [(found.value,)]


WRONG = [
    (lambda: mode(WAYS, epsilon=1), "mode() missing a required argument: 'categories'"),
    (lambda: mode(WAYS, epsilon=1, categories=[]), "categories must hold at least one"),
    (
        lambda: mode(WAYS, epsilon=1, categories=["a", "a"]),
        "categories must hold distinct strings, numbers or dates",
    ),
    (
        lambda: mode(WAYS, epsilon=1, categories=TRAVEL).interval(),
        "interval() is not available for a mode",
    ),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_parameters_say_what_to_type(call, text, refused):
    refused(call, text)
