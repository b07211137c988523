"""Several rounds: exact laws of whole histories, the whole public call, memories, refusals."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from sourdine.audit.exhaustive import ALPHA, p_value, replay, worst_case
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
from sourdine.local.categorical.hashing import LocalHashing
from sourdine.local.reports.records import to_lines
from sourdine.local.rounds.histories import Histories, alike, any_two, pattern, stays
from sourdine.local.rounds.memoised import MemoisedHashing, PermanentResponse
from sourdine.local.rounds.respondent import Panel, Respondent
from sourdine.local.rounds.series import Series, plan
from sourdine.mechanisms.randomized_response import RandomizedResponse
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee
from sourdine.privacy.guarantee import ALIKE

YES_NO = Schema(vote=Choice("yes", "no"), epsilon=2, rounds=5, missing="random")
HOURS = Schema(hour=Choice(*range(5), method="hashing"), epsilon=3, rounds=4, missing="random")


def hashing(epsilon=Fraction(2, 5), permanent=1, categories=3, values=2):
    return MemoisedHashing(
        epsilon=epsilon, permanent=permanent, categories=categories, values=values
    )


def response(epsilon=Fraction(2, 5), permanent=1, categories=2):
    return PermanentResponse(epsilon=epsilon, permanent=permanent, categories=categories)


def every(oracle, rounds):
    return list(product(range(oracle.categories), repeat=rounds))


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("make", "rounds", "between"),
    [
        *((hashing, 3, between) for between in ("stays", "any")),
        *((response, 5, between) for between in ("stays", "alike", "any")),
        *((lambda **own: response(categories=3, **own), 3, b) for b in ("stays", "alike")),
    ],
)
def test_all_pairs_of_histories(make, rounds, between):
    """The exact law of all reports, for all pairs: the claim is reached, a weaker copy caught."""
    claimed = Histories(oracle=make(), rounds=rounds, between=between)
    still = [(code,) * rounds for code in range(claimed.oracle.categories)]
    inputs = still if between == "stays" else every(claimed.oracle, rounds)
    worst = worst_case(claimed, inputs)
    assert worst.within(claimed.guarantee)
    assert worst.epsilon >= float(claimed.guarantee.epsilon) - 1e-9
    factor = Fraction(21, 20)
    weak = Histories(
        oracle=make(epsilon=factor * Fraction(2, 5), permanent=factor),
        rounds=rounds,
        between=between,
    )
    assert not worst_case(weak, inputs, claimed.guarantee).within(claimed.guarantee)


def test_more_than_two_values_are_bounded():
    for oracle in (response(categories=3), hashing(values=3, categories=4)):
        histories = Histories(oracle=oracle, rounds=2, between="any")
        assert worst_case(histories, every(oracle, 2)).within(histories.guarantee)


@pytest.mark.parametrize("oracle", [hashing(), hashing(values=3, categories=4), response()])
def test_the_law_of_a_history_is_one(oracle):
    histories = Histories(oracle=oracle, rounds=3)
    for x in every(oracle, 3):
        assert histories.chances(x).sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("oracle", [hashing(), hashing(values=3, categories=4)])
def test_hashed_histories_that_change_alike(oracle):
    """Given the hash, all pairs of histories of answers whose hashed ones change alike."""
    histories, g, worst = Histories(oracle=oracle, rounds=3), oracle.answers, 0.0
    logs = {x: np.log(histories.chances(x)).reshape(oracle.hashes, g**3) for x in every(oracle, 3)}
    for key in range(oracle.hashes):
        said = {x: tuple(oracle.hashed(np.full(3, key), np.array(x)).tolist()) for x in logs}
        for x, y in product(logs, repeat=2):
            if pattern(said[x]) == pattern(said[y]):
                worst = max(worst, (logs[x][key] - logs[y][key]).max())
    assert worst == pytest.approx(float(alike(oracle, 3)), abs=1e-9)


def test_what_rounds_cost():
    hours = hashing(categories=96)
    for t in (2, 3, 10, 260):
        assert Fraction(2, 5) < stays(hours, t) <= 1
        assert stays(hours, t) < alike(hours, t) <= 2 == hours.total
        assert stays(hours, t) >= stays(hours, t - 1)
    assert stays(hours, 1) == alike(hours, 1) == any_two(hours, 1) == Fraction(2, 5)
    assert float(stays(hours, 260)) == pytest.approx(1, abs=1e-12)
    assert float(alike(hours, 260)) == pytest.approx(2, abs=1e-9)


def test_the_budget_of_the_paper_does_not_hide_when_an_answer_changes():
    """Six rounds tell 2.4 between some two histories, more than the budget of 2."""
    six = Histories(oracle=response(), rounds=6, between="any")
    found = worst_case(six, [(0, 1, 1, 1, 0, 0)])
    assert found.epsilon > 2.39 > 2 * six.oracle.permanent
    assert pattern(found.x) != pattern(found.y)
    assert any_two(hashing(categories=96), 260) > 100


@pytest.mark.parametrize("g", [2, 3, 5])
def test_the_second_response_of_the_paper(g):
    """It is ours for two values; for more, one report of the paper's tells less than allowed."""
    one, lasting = 0.4, 1.0
    ours = MemoisedHashing(epsilon=one, permanent=1, categories=9, values=g)
    fresh = log((exp(lasting + one) - 1) / (exp(lasting) - exp(one)))
    p2 = exp(fresh) / (exp(fresh) + g - 1)
    told = (p2 - 1 / g) / (1 - 1 / g)
    assert told == pytest.approx(float(ours.told)) if g == 2 else told < float(ours.told) - 0.01


@pytest.mark.parametrize("oracle", [hashing(categories=7, values=3), response(categories=4)])
def test_one_report_is_that_of_the_plain_oracle(oracle):
    plain = {MemoisedHashing: LocalHashing, PermanentResponse: RandomizedResponse}[type(oracle)]
    alone = plain(epsilon=oracle.epsilon, categories=oracle.categories)
    if isinstance(alone, LocalHashing):
        object.__setattr__(alone, "values", 3)
        object.__setattr__(alone, "digits", oracle.digits)
    for x in range(oracle.categories):
        law = oracle.law(x).pmf(range(oracle.codes))
        assert np.array_equal(law, alone.law(x).pmf(range(alone.codes)))
        assert Histories(oracle=oracle, rounds=1).chances((x,)) == pytest.approx(law, abs=1e-14)
    assert oracle.chances == alone.chances


def sequence(panel, columns, histories, source):
    """Let a panel answer, send lines, and read them: the reports of all rounds, from JSON alone."""
    seen = []
    for answers in histories:
        sent = panel.reports(
            {name: [answer] * panel.people for name, answer in zip(columns, answers, strict=True)},
            source=source,
        )
        seen.append([json.loads(line)["a"] for line in to_lines(sent)])
    return np.array(seen)


def outcomes(oracle, reports):
    """Return rounds of reports as the numbers of `Histories`."""
    keys = reports // oracle.answers
    assert (keys == keys[0]).all()
    total = keys[0]
    for said in reports % oracle.answers:
        total = total * oracle.answers + said
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "name", "answers", "codes"),
    [
        (YES_NO, "vote", ["yes", "no", "no", "yes", "yes"], (0, 1, 1, 0, 0)),
        (HOURS, "hour", ["3", "3", "4", "0"], (3, 3, 4, 0)),
    ],
)
def test_the_whole_call_follows_the_law(schema, name, answers, codes):
    """From answers to lines of JSON, in all rounds; noise 30% off is found."""
    source = SeededSource(5)
    panel = Panel(schema, 25_000, source=source)
    reports = sequence(panel, [name], [[answer] for answer in answers], source)[:, :, 0]
    oracle = schema.parts("report")[name].memoised
    drawn = outcomes(oracle, reports)
    law = Histories(oracle=oracle, rounds=len(codes)).law(codes)
    assert p_value(drawn, law) >= ALPHA
    for factor in (Fraction(13, 10), Fraction(10, 13)):
        own = {"epsilon": factor * oracle.epsilon, "permanent": factor * oracle.permanent}
        other = type(oracle)(**own, categories=oracle.categories)
        assert p_value(drawn, Histories(oracle=other, rounds=len(codes)).law(codes)) < ALPHA
    fresh = type(oracle)(
        epsilon=oracle.epsilon, permanent=20 * oracle.permanent, categories=oracle.categories
    )
    assert p_value(drawn, Histories(oracle=fresh, rounds=len(codes)).law(codes)) < ALPHA


class Counting(SeededSource):
    """A seeded source that counts what it gave."""

    def __init__(self, seed):
        super().__init__(seed)
        self.given = 0

    def bytes(self, n):
        self.given += n
        return super().bytes(n)


@pytest.mark.parametrize("method", ["split", "sample"])
def test_only_the_reports_depend_on_the_answers(method):
    """The same coins for two histories: ids, hashes, columns, memories and sizes are the same."""
    schema = Schema(
        hour=Choice(*range(9), method="hashing"),
        smokes=Flag(),
        epsilon=4,
        rounds=3,
        method=method,
        missing="random",
    )
    seen = []
    for rows in (
        [{"hour": [3, 4, None, 8], "smokes": [True, False, None, "?"]}] * 3,
        [{"hour": [code] * 4, "smokes": [None] * 4} for code in (1, 2, 7)],
    ):
        source = Counting(3)
        panel = Panel(schema, 4, source=source)
        public = [sorted(panel.memories), panel.asked is None or panel.asked.tolist()]
        for row in rows:
            records = panel.reports(row, source=source)
            for line in to_lines(records):
                record = json.loads(line)
                hour = record["a"][0] // 2 if record.get("c", 0) == 0 else None
                public.append([record["s"], record["i"], record.get("c"), hour, len(record["a"])])
        kept = [memory.kept.tolist() for memory in panel.memories.values()]
        seen.append((public, kept, source.given))
    assert seen[0] == seen[1]


def test_replay_of_all_rounds():
    still = Histories(oracle=hashing(), rounds=3, between="stays")
    assert replay(still.release, (0, 0, 0), (2, 2, 2)).holds
    assert not replay(still.release, (0, 0, 0), (0, 2, 2)).holds
    anyone = Histories(oracle=response(), rounds=3, between="any")
    assert replay(anyone.release, (0, 0, 0), (0, 1, 0)).holds


@pytest.mark.slow
@pytest.mark.parametrize("schema", [YES_NO, HOURS])
def test_an_absent_answer_is_one_that_stays(schema):
    """It is taken for the same category in all rounds, so that it costs no more than one."""
    source = SeededSource(2)
    panel = Panel(schema, 15_000, source=source)
    name = next(iter(schema.columns))
    reports = sequence(panel, [name], [[None]] * schema.rounds, source)[:, :, 0]
    oracle = schema.parts("report")[name].memoised
    histories = Histories(oracle=oracle, rounds=schema.rounds)
    still = [histories.law((code,) * schema.rounds) for code in range(oracle.categories)]
    mixed = type(still[0]).mixture([1.0] * len(still), still)
    assert p_value(outcomes(oracle, reports), mixed) >= ALPHA
    assert p_value(outcomes(oracle, reports), still[0]) < ALPHA


@pytest.mark.slow
def test_each_round_is_unbiased():
    """Shares of every round have the closed form's variance, and intervals hold."""
    schema = Schema(
        hour=Choice(*range(8), method="hashing"), epsilon=4, rounds=3, once=1, missing="random"
    )
    oracle, n, runs = schema.parts("report")["hour"].memoised, 400, 60
    rng, source = np.random.default_rng(1), SeededSource(1)
    errors, held = [], []
    for _ in range(runs):
        panel, series = Panel(schema, n, source=source), Series(schema)
        for number in (1, 2, 3):
            codes = np.minimum(rng.geometric(0.35, n) - 1, 7)
            series.add(number, panel.reports({"hour": codes}, source=source))
            release = series.estimate(number)["hour"]
            truth = np.bincount(codes, minlength=8) / n
            errors.append(release.value - truth)
            if number == 2:
                low, high = release.interval(0.95)
                held.append((low <= truth) & (truth <= high))
    p, q = oracle.chances
    variance = oracle.noise_variance / n
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(oracle.noise_variance)
    mean = np.mean(errors, axis=0)
    assert np.abs(mean).max() < 6 * np.sqrt(variance / runs)
    assert np.mean(np.square(errors)) == pytest.approx(variance, rel=0.2)
    assert np.mean(held) > 0.94


@pytest.mark.slow
def test_rounds_err_together():
    schema = Schema(vote=Choice("yes", "no"), epsilon=4, rounds=2, once=1.9, missing="random")
    source, pairs = SeededSource(4), []
    for _ in range(60):
        panel, series = Panel(schema, 300, source=source), Series(schema)
        for number in (1, 2):
            series.add(number, panel.reports({"vote": ["yes"] * 300}, source=source))
        pairs.append([release.value[0] for release in series.shares("vote").values()])
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.3


def test_a_memory_is_kept():
    me = Respondent(HOURS)
    first = json.loads(me.answer(hour=3))
    again = HOURS.respondent(me.to_json())
    second = json.loads(again.answer({"hour": 3}))
    kept = json.loads(me.to_json())
    assert second["a"][0] // 2 == first["a"][0] // 2 == kept["columns"]["hour"]["hash"]
    assert again.to_json() == me.to_json().replace('"answered": 1', '"answered": 2')
    assert "never send" in kept["secret"]
    assert first["i"] != second["i"]
    assert first["s"] == HOURS.round(1).fingerprint[:16] != second["s"]


def test_a_person_is_asked_for_one_column_in_all_rounds():
    schema = Schema(a=Flag(), b=Flag(), epsilon=2, rounds=9, method="sample", missing="random")
    for seed in range(4):
        source = SeededSource(seed)
        me = Respondent(schema, source=source)
        columns = {json.loads(me.answer(a=True, b=False))["c"] for _ in range(4)}
        columns |= {json.loads(Respondent(schema, me.to_json()).answer(a=True))["c"]}
        assert len(columns) == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda facts: facts.pop("columns"),
        lambda facts: facts.update(answered=-1),
        lambda facts: facts.update(answered=5),
        lambda facts: facts.update(answered=True),
        lambda facts: facts.update(sourdine=2),
        lambda facts: facts.update(asked="hour"),
        lambda facts: facts["columns"].update(other={}),
        lambda facts: facts["columns"]["hour"].update(hash=8),
        lambda facts: facts["columns"]["hour"].update(hash="7"),
        lambda facts: facts["columns"]["hour"].update(kept=[0]),
        lambda facts: facts["columns"]["hour"].update(kept=[0, 2]),
        lambda facts: facts["columns"]["hour"].update(kept=None),
        lambda facts: facts["columns"]["hour"].update(absent=5),
        lambda facts: facts["columns"].update(hour=[]),
    ],
)
def test_a_damaged_memory_is_refused(harm):
    facts = json.loads(Respondent(HOURS).to_json())
    harm(facts)
    with pytest.raises(ParameterError, match=r"memory must be what Respondent\.to_json wrote"):
        HOURS.respondent(json.dumps(facts))


def test_memories_of_others_are_refused():
    memory = Respondent(HOURS).to_json()
    with pytest.raises(ParameterError, match="memory must belong to this schema"):
        YES_NO.respondent(memory)
    longer = Schema(hour=Choice(*range(5), method="hashing"), epsilon=3, rounds=5, missing="random")
    with pytest.raises(ParameterError, match="memory must belong to this schema"):
        longer.respondent(memory)
    with pytest.raises(ParameterTypeError, match="memory must be a string"):
        HOURS.respondent(3)
    for text in ("", "[]", "{", "[" * 10_000, "3"):
        with pytest.raises(ParameterError, match="damaged data"):
            HOURS.respondent(text)


def test_rounds_are_answered_once_and_in_order():
    me = Respondent(HOURS)
    me.answer(hour=1, round=2)
    with pytest.raises(ParameterError, match=r"round must be from 3 to 4, got 2. Use round=3"):
        me.answer(hour=1, round=2)
    with pytest.raises(ParameterError, match="from 3 to 4, got 5"):
        me.answer(hour=1, round=5)
    me.answer(hour=1)
    me.answer(hour=1)
    assert me.answered == 4
    with pytest.raises(ParameterError, match="The total is spent"):
        me.answer(hour=1)
    with pytest.raises(ParameterError, match="name questions of the schema, got 'our'"):
        Respondent(HOURS).answer(our=1)


def test_an_answer_that_cannot_be_read_raises_nothing():
    for answer in ("?", None, float("nan"), 10**30, b"\xff"):
        assert Respondent(HOURS).answer(hour=answer).startswith('{"v":1')


def test_reports_of_another_round_are_foreign():
    me = Respondent(YES_NO)
    first, second = me.answer(vote="yes"), me.answer(vote="no")
    series = Series(YES_NO)
    assert str(series.add(1, [first, second])) == "1 accepted, 1 dropped (1 foreign schema)"
    assert str(series.add(2, [first, second])) == "1 accepted, 1 dropped (1 foreign schema)"
    assert Aggregator(YES_NO.round(3)).add([first]).accepted == 0
    with pytest.raises(ParameterError, match=r"round must be a round that was counted, got 3"):
        series.estimate(3)


@pytest.mark.slow
def test_a_series_is_shown(tmp_path):
    source, series = SeededSource(1), Series(YES_NO)
    assert "column  category" in str(series)
    assert series.to_frame().empty
    panel = Panel(YES_NO, 500, source=source)
    for number in (1, 3):
        series.add(number, panel.reports({"vote": ["yes"] * 500}, round=number, source=source))
    text = str(series)
    assert "averaging rounds is no more precise" in " ".join(text.split())
    assert "epsilon 2, any two histories of one person that change alike" in text
    frame = series.to_frame()
    assert frame["round"].tolist() == [1, 3, 1, 3]
    assert (frame["lower"] <= frame["share"].clip(0, 1)).all()
    series.plot(truth={"yes": [1, 1]}, path=str(tmp_path / "series.png"))
    assert (tmp_path / "series.png").stat().st_size > 5000


def test_costs_of_a_schema():
    schema = Schema(
        vote=Choice("yes", "no"), smokes=Flag(), epsilon=4, rounds=52, once=0.8, missing="random"
    )
    spent = schema.costs()
    assert spent.one == schema.round(7).guarantee == Guarantee(Fraction(4, 5), 0, LOCAL)
    assert schema.guarantee == Guarantee(4, 0, ALIKE)
    assert schema.cost(times=1).epsilon == Fraction(4, 5)
    assert spent.stays.epsilon <= 2
    assert spent.alike.epsilon <= 4 < spent.any.epsilon
    assert spent.any.relation is LOCAL
    text = " ".join(str(schema).split())
    assert "any two histories of one person that change alike" in text
    assert "not hidden" in text
    assert "in secret" in text
    one = Schema(
        vote=Choice("yes", "no"),
        smokes=Flag(),
        epsilon=4,
        rounds=52,
        method="sample",
        missing="random",
    )
    assert one.costs().one.epsilon == 1
    assert "drawn at random, in every round" in str(one)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), 100, 3000])
@pytest.mark.parametrize("column", [Flag(), Choice("a", "b", "c"), Choice(*range(20))])
def test_extreme_budgets(epsilon, column):
    schema = Schema(a=column, epsilon=epsilon, rounds=4, missing="random")
    spent = schema.costs()
    assert spent.one.epsilon <= spent.stays.epsilon <= spent.alike.epsilon <= epsilon
    assert spent.one.epsilon <= spent.any.epsilon
    assert schema.respondent().answer(a="b").startswith('{"v":1')


def test_schemas_of_rounds_are_kept(tmp_path):
    schema = Schema(
        vote=Choice("yes", "no", missing="none"),
        epsilon=1,
        rounds=9,
        once=Fraction(1, 9),
        missing="random",
    )
    for ending in ("toml", "json"):
        schema.write(tmp_path / f"s.{ending}")
        assert Schema.read(tmp_path / f"s.{ending}") == schema
    assert pickle.loads(pickle.dumps(schema.round(3))) == schema.round(3)  # noqa: S301
    assert len({schema.fingerprint, schema.round(1).fingerprint, schema.round(2).fingerprint}) == 3
    assert "rounds=9" in repr(schema)
    plain = Schema(age=Number(0, 120, step=1), vote=Choice("yes", "no"), epsilon=2)
    assert plain.fingerprint.startswith("13f65405556760ca")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Schema(a=Number(0, 9, 1), epsilon=1, rounds=3, missing="random"),
            "'a' must be a Choice or a Flag",
        ),
        (
            lambda: Schema(a=Choices("x", "y"), epsilon=1, rounds=3, missing="random"),
            "got a column of choices",
        ),
        (
            lambda: Schema(a=Flag(method="unary"), epsilon=1, rounds=3, missing="random"),
            "'response' or 'hashing'",
        ),
        (
            lambda: Schema(a=Flag(), epsilon=1, rounds=3, once=0.5, missing="random"),
            "costs .0.5., got 0.5",
        ),
        (lambda: Schema(a=Flag(), epsilon=1, once=0.5, missing="random"), "once must be omitted"),
        (
            lambda: Schema(a=Flag(), epsilon=1, rounds=1, missing="random"),
            "rounds must be at least 2",
        ),
        (
            lambda: Schema(a=Flag(), epsilon=1, rounds=3, once=0, missing="random"),
            "once must be above 0",
        ),
        (
            lambda: Schema(a=Flag(), epsilon=1, missing="random").round(1),
            "round must be of a survey of several",
        ),
        (
            lambda: Schema(a=Flag(), epsilon=1, missing="random").costs(),
            "schema must have several rounds",
        ),
        (lambda: YES_NO.round(6), "round must be from 1 to 5, got 6"),
        (lambda: YES_NO.sanitize({"vote": ["yes"]}), "rounds needs a memory for"),
        (lambda: list(YES_NO.reports({"vote": ["yes"]})), "rounds needs a memory for"),
        (lambda: Panel(YES_NO, 2).reports({"vote": ["yes"]}), "have a row for each of the 2"),
        (lambda: hashing(permanent=0.4), "permanent must be above epsilon"),
        (lambda: hashing(values=4), "values must be a prime"),
        (lambda: Histories(oracle=hashing(), rounds=19), "rounds must be small enough"),
        (lambda: Histories(oracle=hashing(), rounds=2, between="alike"), "'stays' or 'any'"),
        (lambda: Histories(oracle=response(), rounds=2).law((0,)), "hold 2 categories"),
        (lambda: plan(YES_NO), "n must be given, or error instead, got neither"),
    ],
)
def test_refusals(make, text):
    with pytest.raises(ParameterError, match=text):
        make()


def test_the_best_randomiser_is_taken():
    made = {k: Schema(a=Choice(*range(k)), epsilon=2, rounds=9).parts("report")["a"].memoised
            for k in (2, 3, 4, 300)}  # fmt: skip
    assert [type(made[k]).__name__ for k in made] == [
        "PermanentResponse", "PermanentResponse", "MemoisedHashing", "MemoisedHashing",
    ]  # fmt: skip
    assert all(oracle.total == 2 for oracle in made.values())


def test_the_plan_is_kept():
    planned = plan(YES_NO, error=0.05)
    rare, half = planned.halves["vote"]
    assert max(rare, half) <= 0.05
    source, series = SeededSource(1), Series(YES_NO)
    panel, answers = Panel(YES_NO, planned.n, source=source), ["yes", "no"] * planned.n
    series.add(1, panel.reports({"vote": answers[: planned.n]}, source=source))
    low, high = series.shares("vote")[1].interval(0.95)
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)
    assert "invented" in str(planned)
    asked = plan(
        Schema(a=Flag(), b=Flag(), epsilon=2, rounds=5, method="sample", missing="random"), n=1000
    )
    alone = plan(Schema(a=Flag(), epsilon=2, rounds=5, missing="random"), n=500)
    assert asked.halves["a"] == pytest.approx(alone.halves["a"])
