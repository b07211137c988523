from __future__ import annotations

from dataclasses import replace

import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.errors import ParameterTypeError
from sourdine.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Staircase,
    Subsample,
)
from sourdine.privacy import ADD_REMOVE, Guarantee, compose

GAUSSIAN = Gaussian(epsilon=1, delta=0.01, sensitivity=4, method="zcdp")
COUNT = Laplace(epsilon=1, relation=ADD_REMOVE)
DATA, NEIGHBOUR = [1, 2, 3, 4], [1, 2, 3]


def test_a_correct_call_holds():
    result = replay(lambda x: COUNT.release(len(x)), DATA, NEIGHBOUR)
    assert result.holds
    assert [(a.x, b.x) for a, b in result.steps] == [(4, 3)]
    assert result.steps[0][0].answer == result.steps[0][1].answer


def test_an_adaptive_call_takes_the_same_path():
    def call(x):
        first = COUNT.release(len(x))
        score = [
            len(x) * (int(first) % 2),
            0,
        ]  # depends on the answer, not on the noise of this run
        choice = Exponential(epsilon=1, candidates=2, relation=ADD_REMOVE).release(score)
        return replace(choice, cost=compose(first.cost, choice.cost))

    assert all(replay(call, DATA, NEIGHBOUR).holds for _ in range(20))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (
            lambda x: COUNT.release(sum(x)),
            "step 1: the input moves further than Laplace(epsilon=1, sensitivity=1) covers",
        ),
        (
            lambda x: Laplace(epsilon=1, sensitivity=len(x), relation=ADD_REMOVE).release(sum(x)),
            "step 1: the mechanism depends on the data: Laplace(epsilon=1, sensitivity=4) "
            "and Laplace(epsilon=1, sensitivity=3)",
        ),
        (
            lambda x: [COUNT.release(0) for _ in x][-1],
            "the number of steps depends on the data: 4 and 3",
        ),
        (
            lambda x: replace(COUNT.release(len(x)), value=len(x)),
            "the value depends on the data beyond the mechanisms' answers",
        ),
        (
            lambda x: replace(COUNT.release(len(x)), caveats=(f"{len(x)} rows",)),
            "the caveats depends on the data beyond the mechanisms' answers",
        ),
        (
            lambda x: replace(COUNT.release(len(x)), cost=Guarantee(0.5, relation=ADD_REMOVE)),
            "the steps cost epsilon 1, one record added or removed, "
            "the call says epsilon 0.5, one record added or removed",
        ),
        (
            lambda x: (COUNT.release(len(x)), 1 // (len(x) - 3))[0],
            "the call ends differently: Release and ZeroDivisionError",
        ),
    ],
    ids=["sensitivity", "scale", "steps", "value", "caveat", "cost", "failure"],
)
def test_each_fault_is_named(call, fault):
    assert fault in replay(call, DATA, NEIGHBOUR).faults


def test_two_steps_cost_two():
    def call(x):
        COUNT.release(len(x))
        return COUNT.release(len(x))

    assert "the steps cost epsilon 2" in replay(call, DATA, NEIGHBOUR).faults[0]


def test_a_call_that_always_fails_is_an_error():
    def call(x):
        del x
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        replay(call, DATA, NEIGHBOUR)


def test_local_reports_are_adjacent_to_all():
    survey = RandomizedResponse(epsilon=1, categories=3)
    assert replay(survey.release, 0, 2).holds


def test_records_are_compared_in_any_order():
    part = Subsample(mechanism=COUNT, values=(1, 2, 3), rate=0.5)
    assert replay(part.release, [1, 2, 3], [2, 3]).holds
    assert replay(part.release, [2, 3], [1, 2, 3]).holds
    assert not part.adjacent(part.read([1, 1]), part.read([2, 2]))
    assert not part.adjacent(part.read([1]), part.read([2]))
    count = Laplace(epsilon=1, relation="substitute")
    fixed = Subsample(mechanism=count, values=(1, 2), sample=1, n=2)
    assert fixed.adjacent(fixed.read([1, 2]), fixed.read([1, 1]))
    assert not fixed.adjacent(fixed.read([2, 2]), fixed.read([1, 1]))


@pytest.mark.parametrize(
    ("mechanism", "x", "near", "far"),
    [
        (Exponential(epsilon=1, candidates=2), [0, 5], [1, 4], [2, 5]),
        (Exponential(epsilon=1, candidates=2, monotone=True), [0, 5], [1, 6], [1, 4]),
        (AboveThreshold(epsilon=1, queries=2), [0, 5], [1, 4], [0, 7]),
        (AboveThreshold(epsilon=1, queries=2, monotone=True), [0, 5], [1, 6], [1, 4]),
        (Staircase(epsilon=1, sensitivity=4), 0, 4, 5),
        (
            Gaussian(epsilon=1, delta=0.01, sensitivity=4, method="zcdp"),
            [0, 0],
            [2, 3],
            [3, 3],
        ),
        (Laplace(epsilon=1, sensitivity=4), [0, 0], [2, 2], [2, 3]),
    ],
)
def test_inputs_too_far_apart_are_a_fault(mechanism, x, near, far):
    assert replay(mechanism.release, x, near).holds
    assert not replay(mechanism.release, x, far).holds


def test_a_call_must_return_a_release():
    with pytest.raises(
        ParameterTypeError, match="call must return a Release, got a value of type float"
    ):
        replay(lambda x: float(len(x)), DATA, NEIGHBOUR)


@pytest.mark.parametrize("rows", [2, "find"])
def test_both_runs_keep_the_same_rows_of_people(rows):
    """Other rows of everybody would move the sum further than one person may."""
    owned = [2] * 300 + [51] * 8
    people = [(who, value) for who, n in enumerate(owned) for value in range(n)]
    new = [(999, 50)] * 5000

    def call(records):
        who, values = map(list, zip(*records, strict=True))
        return sd.sum(
            {"who": who, "value": values}, column="value", bounds=(0, 50), step=1,
            unit="who", rows=rows, epsilon=1,
        )  # fmt: skip

    result = replay(call, people, people + new)
    assert result.holds, result.faults
    one, two = (step.x for step in result.steps[-1])
    assert two - one == result.steps[-1][0].mechanism.sensitivity


def test_each_replay_has_keys_of_its_own():
    people = {"who": [1] * 60_000, "value": list(range(60_000))}

    def call(records):
        return sd.sum(
            records, column="value", bounds=(0, 60_000), step=1, unit="who", rows=1, epsilon=1
        )

    assert len({replay(call, people, people).steps[0][0].x for _ in range(4)}) > 1
