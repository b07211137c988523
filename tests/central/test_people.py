"""Statistics of one value for each person: what a person moves, what is refused, what is said."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import attrs
import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.audit.exhaustive import p_value, worst_of
from sourdine.central.groups import ByGroup
from sourdine.errors import ParameterError
from sourdine.frames.frame import Frame
from sourdine.mechanisms.mechanism import recording
from sourdine.noise import SYSTEM, SeededSource
from sourdine.parameters.question import parameters
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE
from sourdine.questions import STATISTICS, read

B = {"bounds": (0, 2), "step": 1}
ASKED = {
    "count": {},
    "sum": {"bounds": (-1, 2), "step": 1},
    "mean": B,
    "variance": B,
    "proportion": {},
    "histogram": {"bins": [0, 1, 2]},
    "mode": {"categories": [0, 1, 2]},
    "quantiles": {"q": [0.25, 0.75], **B},
    "cdf": B,
}
WORST = ("count", "sum", "mean", "variance", "proportion", "histogram")
"""Those drawn by additive noise, whose laws are those of the vectors that are drawn."""
ROWS = [None, 0, 1, -7, 1e300]
OWN = [own for n in (1, 2) for own in itertools.combinations_with_replacement(ROWS, n)]


def asked(name, **more):
    said = {"statistic": name, "column": "x", "unit": "who", "per_person": "sum", "epsilon": 1}
    return read({**said, **ASKED[name], **more})


def table(people):
    rows = [(who, x) for who, own in people.items() for x in own]
    return {"who": [who for who, _ in rows], "x": [x for _, x in rows]}


def neighbours(relation):
    """Pairs of data sets that differ in all rows of one person."""
    for rest in ({}, {"p": (1, 1)}, {"p": (None,), "q": (0, 1, 1)}):
        for own in OWN:
            if relation is ADD_REMOVE:
                yield rest, {**rest, "r": own}
                continue
            for other in OWN:
                if own < other if None not in own + other else own != other:
                    yield {**rest, "r": own}, {**rest, "s": other}


def inputs(question, data):
    """The private input of each mechanism of a whole call."""
    with recording() as transcript:
        question.release(table(data) if data else {"who": [], "x": []})
    return [(step.mechanism, step.x) for step in transcript.steps]


@pytest.mark.grid
@pytest.mark.parametrize("relation", [ADD_REMOVE, SUBSTITUTE])
@pytest.mark.parametrize("name", WORST)
def test_the_exact_worst_case_of_a_person(name, relation):
    """All rows that a person may own, added, removed or replaced: the loss is epsilon, no more."""
    question = asked(name, relation=relation)
    pairs, laws = {}, {}
    for one, two in neighbours(relation):
        ((mechanism, x),), ((_, y),) = inputs(question, one), inputs(question, two)
        keys = [tuple(np.ravel(np.array(v, object)).tolist()) for v in (x, y)]
        if keys[0] == keys[1]:
            continue
        for key, v in zip(keys, (x, y), strict=True):
            if key not in laws:
                laws[key] = mechanism.law(mechanism.read(v))
        pairs[tuple(sorted(keys))] = (*keys, *(laws[key] for key in keys))
    worst = worst_of(pairs.values(), question.cost)
    assert worst.within(question.cost), worst.pair()
    assert worst.epsilon >= 0.99, "the noise is no larger than it must be"


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ASKED)
def test_a_whole_call_is_replayed_on_its_neighbours(name, relation):
    people = {"p": (1, 1), "q": (0, None, 2), "r": (None,)}
    changed = [(1e300,) * 3, (None, None), (0, 2, 2, 1)]
    question = asked(name, relation=relation, by=None)

    def call(data):
        seeded = attrs.evolve(question, source=SeededSource(1), error=None)
        return replace(seeded.release(table(data)), cost=question.cost)

    for own in changed:
        other = {**people, "new": own}
        if relation == "substitute":
            del other["q"]
        result = replay(call, people, other)
        assert result.holds, (own, result.faults)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("name", ["count", "mean", "histogram", "quantiles"])
def test_groups_of_people_cost_what_they_say(name, relation):
    """A person whose rows name one group, two or none moves one group, or two if replaced."""
    base = [("p", "a", 1), ("p", "a", 1), ("q", "b", 0), ("q", "b", 2), ("r", None, 2)]
    moved = [[("s", "a", 9), ("s", "a", 9)], [("s", "a", 1), ("s", "b", 1)], [("s", None, 1)]]
    question = asked(name, relation=relation, by="g", keys=["a", "b"], other=True)

    def frame(rows):
        return dict(zip(("who", "g", "x"), map(list, zip(*rows, strict=True)), strict=True))

    def call(rows):
        seeded = attrs.evolve(question, source=SeededSource(1), error=None)
        release = seeded.release(frame(rows))
        return replace(release, cost=attrs.evolve(seeded, source=SYSTEM, error=None).cost)

    for rows in moved:
        other = [row for row in base if relation == "add_remove" or row[0] != "q"] + rows
        result = replay(call, base, other)
        assert result.holds, (rows, result.faults)


def test_a_row_of_a_person_is_no_record():
    """The same noise for what is no record would be too small: a person has many rows."""
    pair = table({"p": (1, 1)}), table({"p": (1, 1), "q": (2, 2, 2)})
    rows = read({"statistic": "sum", "column": "x", "epsilon": 1, **ASKED["sum"]})
    assert not replay(rows.release, *pair).holds
    assert replay(asked("sum").release, *pair).holds


def test_the_number_of_a_drawn_sum_follows_its_law():
    """Sampling with power: the law of the sum over people, and not that of one record more."""
    question = asked("sum")
    data = Frame(table({"p": (1, 1), "q": (1, -7), "r": (None,)}))
    ((mechanism, x),) = inputs(question, {"p": (1, 1), "q": (1, -7), "r": (None,)})
    assert x == 2 - 1
    seeded = attrs.evolve(question, source=SeededSource(3), error=None)
    people = data.reduced(question.reduction)
    drawn = np.array([seeded.draw(people)["units"] for _ in range(4000)])
    assert p_value(drawn, mechanism.law(x)) > 1e-9
    assert p_value(drawn, mechanism.law(x + 1)) < 1e-9


TOTALS = {"p": 30.0, "q": 7.0, "r": 1.0}
VISITS = {"who": ["p", "q", "p", "r", "p"], "x": [10, 7, 15, 1, 5], "day": [1, 1, 3, 1, 2]}


@pytest.mark.parametrize(
    ("how", "want"),
    [("sum", 38), ("mean", 18), ("min", 13), ("max", 23), ("count", 5), ("last by day", 23)],
)
def test_the_statistic_is_of_the_values_of_people(how, want):
    said = {"bounds": (0, 40), "step": 1, "epsilon": 10**6, "unit": "who", "per_person": how}
    assert sd.sum(VISITS, column="x", **said).value == want
    mean = sd.mean(VISITS, column="x", **said).value
    assert mean == pytest.approx(want / 3, abs=1e-3)


def test_people_are_counted_without_a_column():
    assert sd.count(VISITS, unit="who", per_person="count", epsilon=10**6).value == 3
    visits = sd.mean(VISITS, unit="who", per_person="count", bounds=(0, 10), step=1, epsilon=10**6)
    assert visits.value == pytest.approx(5 / 3, abs=1e-3)


def test_totals_are_clamped_after_rows_are_added_up():
    said = {"bounds": (0, 20), "step": 1, "epsilon": 10**6, "unit": "who", "column": "x"}
    assert sd.sum(VISITS, per_person="sum", **said).value == 20 + 7 + 1
    back = {"who": ["a", "a"], "x": [100, -90]}
    assert sd.sum(back, per_person="sum", **said).value == 10, "rows are not clamped"


def test_dates_have_a_first_and_a_last():
    days = np.array(["2024-01-01", "2024-03-01", "2024-02-01"], "datetime64[D]")
    data = {"who": ["a", "a", "b"], "day": days, "wave": [2, 1, 1]}
    months = ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"]
    said = {"column": "day", "unit": "who", "epsilon": 10**4}
    for how, want in (("min", [1, 1, 0]), ("max", [0, 1, 1]), ("last by wave", [1, 1, 0])):
        assert sd.histogram(data, bins=months, per_person=how, **said).value.tolist() == want


REFUSED = [
    ({"unit": None}, "unit must name the column that identifies a person"),
    ({"rows": 2}, "none has to be dropped"),
    ({"rows": "find"}, "none has to be dropped"),
    ({"per_person": "total"}, "per_person must be 'sum', 'mean', 'min', 'max', 'count'"),
    ({"per_person": "last"}, "Use per_person='last by date'."),
    ({"by": "x", "keys": [1, 2]}, "be no column of groups"),
    ({"bounds": ("2020-01-01", "2021-01-01"), "step": None}, "'min', 'max' or 'last by'"),
]


@pytest.mark.parametrize(("typed", "told"), REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_go_together_is_refused(typed, told):
    said = {"bounds": (0, 20), "step": 1, "epsilon": 1, "unit": "who", "column": "x"}
    said = {**said, "per_person": "sum", **typed}
    with pytest.raises(ParameterError) as caught:
        sd.mean(VISITS, **said)
    assert told in str(caught.value)


@pytest.mark.parametrize("name", ["table", "describe"])
def test_questions_of_several_columns_are_refused(name):
    said = {"of": {"x": ["mean"]}, "bounds": {"x": (0, 1)}} if name == "table" else {}
    with pytest.raises(ParameterError, match="per_person must be omitted"):
        getattr(sd, name)(VISITS, unit="who", per_person="sum", epsilon=1, **said)


def test_columns_are_refused_before_anything_is_read():
    words = {"who": np.array(["a"]), "x": np.array(["b"]), "t": np.array([1.0])}
    said = {"bounds": (0, 1), "unit": "who", "epsilon": 1}
    with pytest.raises(ParameterError, match="column must hold numbers"):
        sd.mean(words, column="x", per_person="sum", **said)
    with pytest.raises(ParameterError, match="per_person must be one of the columns"):
        sd.mean(words, column="t", per_person="last by when", **said)
    assert sd.count(words, column="x", unit="who", per_person="count", epsilon=1).cost


OF_ONE_COLUMN = [
    name for name, cls in STATISTICS.items() if "column" in {p.name for p in parameters(cls)}
]


@pytest.mark.parametrize("name", OF_ONE_COLUMN)
def test_every_statistic_of_one_column_takes_people(name):
    """A question is written, read again and drawn, also from groups of people."""
    said = {**ASKED, "median": B, "std": B, "quantile": {"q": 0.5, **B}}[name]
    question = read(
        {"statistic": name, "column": "x", "unit": "who", "per_person": "sum", "epsilon": 1, **said}
    )
    assert read(json.loads(json.dumps(question.to_dict()))) == question
    release = question.release(VISITS)
    assert any("Each who counts once" in caveat for caveat in release.caveats)
    assert "who with all their rows" in str(release)
    by = read({**question.to_dict(), "by": "g", "keys": ["u", "v"]})
    assert isinstance(by.estimator, ByGroup)
    assert set(by.release({**VISITS, "g": [*"uvuuu"]}).value) == {"u", "v"}


def test_bounds_and_groups_are_found_of_people():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(3000), 3)
    data = {"who": who, "x": rng.uniform(0, 10, 9000).round(2), "g": np.where(who % 3, "u", "v")}
    said = {"column": "x", "unit": "who", "per_person": "sum", "epsilon": 2}
    assert sd.mean(data, bounds="find", **said).value == pytest.approx(15, abs=2)
    by = sd.mean(data, bounds=(0, 30), by="g", keys="unknown", delta=1e-6, **said)
    assert set(by.value) == {"u", "v"}


def test_a_session_of_rows_takes_people_too():
    session = sd.Session(VISITS, epsilon=3, unit="who", rows=2)
    release = session.sum(column="x", bounds=(0, 40), step=1, per_person="sum", epsilon=1)
    assert release.cost.epsilon == 1
    assert session.plan.sum(bounds=(0, 40), per_person="sum", epsilon=1).question.rows == 1
    with pytest.raises(ParameterError, match="rows must be omitted"):
        session.sum(column="x", bounds=(0, 40), per_person="sum", rows=1, epsilon=1)
    planned = session.plan.mean(column="x", bounds=(0, 40), per_person="sum", n=100, epsilon=1)
    assert session.ask(planned).cost.epsilon == 1
