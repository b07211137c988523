"""A session with delta: hundreds of answers, at prices that stand in its ledger."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

from session_calls import charged
from sourdine import central, plan
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Concentrated, Guarantee, Part
from sourdine.privacy.accounting import Filter, compose
from sourdine.privacy.accounting import parts as prices
from sourdine.privacy.accounting.parts import plain
from sourdine.privacy.guarantee import percent
from sourdine.session import Call, Session, Terms
from sourdine.session import charges as lines
from sourdine.session.charges import FilterAccount, RemainingBudget
from sourdine.session.ledger import FileLedger, MemoryLedger

F = Fraction
AGES = {"age": [20, 30, 40] * 200, "sex": ["f", "m", "f"] * 200}
AGE = {"column": "age", "bounds": (0, 120), "step": 1}
DECILES = {**AGE, "q": [k / 10 for k in range(1, 10)]}
FORMAT_2 = Path(__file__).with_name("format_2.ledger")


def session(**changed):
    return Session(AGES, **{"epsilon": 3, "delta": 1e-6} | changed)


def asked(s, kind, times, **parameters):
    """Ask as often as it fits, at most so many times; return how often it did."""
    for i in range(times):
        try:
            getattr(s, kind)(**parameters)
        except BudgetExceededError:
            return i
    return times


# How many fit.


def test_far_more_fit_than_by_the_sum():
    s = session()
    assert asked(s, "count", 200, epsilon=0.06) >= 107
    assert not s.can_release("count", epsilon=0.06)
    assert asked(s, "count", 1, epsilon=s.plan.count().epsilon) == 1
    assert asked(session(delta=0), "count", 200, epsilon=0.06) == 50


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "times", "each"), [(5.08, 100, 0.1), (1.47, 1000, 0.01)])
def test_so_many_counts_fit(epsilon, times, each):
    s = session(epsilon=epsilon)
    assert asked(s, "count", times, epsilon=each) == times
    assert s.spent.epsilon == 10
    assert s.spent.share <= 1


def test_one_large_question_fits_by_the_sum():
    s = session()
    s.count(epsilon=3)
    assert s.remaining.share == 0
    assert s.remaining.epsilon == 0
    with pytest.raises(BudgetExceededError, match="The budget is used up"):
        s.count(epsilon=0.1)


def test_a_total_of_rho():
    s = Session(AGES, rho=0.5)
    assert s.total == Concentrated(0.5)
    assert asked(s, "count", 200, epsilon=0.1) == 100
    assert s.remaining.share == 0
    assert s.terms.account == "rho"
    for name in ("epsilon", "delta", "reserve"):
        with pytest.raises(ParameterError, match=f"{name} must be omitted if the total is rho"):
            Session(AGES, rho=0.5, **{name: F(1, 10)})


# Prices.


def random_part(chance):
    size = F(chance.randrange(1, 40), 200)
    return chance.choice(
        [
            lambda: Part.pure(size),
            lambda: Part.range(size),
            lambda: Part.laplace(chance.choice([1, 7, 100]), 1 / size),
            lambda: Part.gaussian(1, 1 / size),
            lambda: Part.delta(F(1, 10**9)),
        ]
    )()


def adaptive(chance, terms):
    """Charge a ledger as an analyst would who sizes the next charge by what came before."""
    ledger, heads = MemoryLedger(terms), 1
    for _ in range(chance.randrange(1, 16)):
        parts = tuple(random_part(chance).repeated(heads) for _ in range(chance.randrange(1, 3)))
        try:
            cost = Guarantee(plain(parts)[0] or 1, min(plain(parts)[1], F(1)))
            charged(ledger, cost, parts=parts, what="q")
        except BudgetExceededError:
            heads = 1
        else:
            heads = 1 + chance.randrange(2) * chance.randrange(4)
    return ledger.history


@pytest.mark.slow
def test_every_price_is_what_recomputing_gives():
    """1000 adaptive sessions, through the lines of a file: the same to the last digit."""
    chance = random.Random(7)  # noqa: S311 - no secret
    kinds = [
        Terms(total=Guarantee(e, d), filter=Filter.of(e, d, d / 4))
        for e, d in ((F(1), F(1, 10**6)), (F(3), F(1, 10**5)), (F(1, 4), F(1, 100)))
    ]
    kinds.append(Terms(total=Concentrated(0.5), filter=Filter.of_rho(0.5)))
    refused = charged = 0
    for i in range(1000):
        terms = kinds[i % len(kinds)]
        history = adaptive(chance, terms)
        read = lines.read_terms(json.loads(json.dumps(lines.terms_row(terms))))
        rows = json.loads(json.dumps([lines.charge_row(charge, 3) for charge in history]))
        again = [lines.read_charge(row, read) for row in rows]
        lines.require_sound(read, again)
        assert again == history
        order = terms.filter.order
        parts = [part for charge in history for part in charge.parts]
        exact = sum((p.rho if order is None else p.price(order) for p in parts), F(0))
        if history:
            assert history[-1].account.filter.price == exact
            assert history[-1].share <= 1
        charged += len(history)
        refused += len(history) < 3
    assert charged > 2000
    assert refused > 10


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "change",
    [
        {"price": "1/1000"},
        {"price_so_far": "1/1000"},
        {"sum_so_far": "1/1000"},
        {"own_delta_so_far": "1"},
        {"parts": [{"kind": "pure", "epsilon": "1/10000"}]},
        {"parts": [{"kind": "unheard", "epsilon": "1/10"}]},
        {"parts": None},
        {"declared": True},
        {"spent_epsilon": "1/10"},
        {"sum_so_far": None},
        {"number": 3},
    ],
)
def test_a_line_that_does_not_add_up_is_refused(tmp_path, change):
    path = tmp_path / "p.ledger"
    s = session(ledger=path)
    s.count(epsilon=0.1)
    ledger = FileLedger(path, None)
    charge = charged(ledger, Guarantee(0.1), what="w")
    assert len(Session(AGES, ledger=path).history) == 2
    right = lines.charge_row(charge, 3) | {"number": 3}
    right |= {name: str(3 * F(right[name]) / 2) for name in ("price_so_far", "sum_so_far")}
    right["spent_epsilon"] = "3/10"
    copy = path.read_bytes()
    FileLedger(path, None).journal.turn(lambda page: page.write("charges", right))
    assert len(Session(AGES, ledger=path).history) == 3
    path.write_bytes(copy)
    wrong = right | change if "number" not in change else right | {"number": 7}
    FileLedger(path, None).journal.turn(lambda page: page.write("charges", wrong))
    with pytest.raises(ParameterError, match="written by Sourdine"):
        Session(AGES, ledger=path)


@pytest.mark.parametrize(
    "change",
    [
        {"order": "1"},
        {"order": "10"},
        {"allowance": "2"},
        {"reserve": "1"},
        {"account": "other"},
        {"account": "rho"},
        {"order": None},
    ],
)
def test_terms_that_cannot_be_are_refused(change):
    terms = session().terms
    row = lines.terms_row(terms)
    assert lines.read_terms(row) == terms
    with pytest.raises(lines.UnreadableError):
        lines.read_terms(row | change)


def test_the_allowance_in_the_file_is_rounded_down():
    decides = session().terms.filter
    row = lines.terms_row(session().terms)
    allowed = prices.allowance(F(3), F(999, 10**9), decides.order)
    assert F(row["allowance"]) == allowed == decides.allowance
    assert F(row["reserve"]) == F(1, 10**9)


# Files.


def test_old_files_open_and_stay_as_they_are(tmp_path):
    path = tmp_path / "old.ledger"
    path.write_bytes(FORMAT_2.read_bytes())
    people = {"age": [20, 30, 40] * 100, "sex": ["f", "m", "f"] * 100}
    for given in ({}, {"epsilon": 1, "delta": 1e-6}, {"reserve": 1e-6}):
        s = Session(people, ledger=path, name="people.csv", **given)
        assert s.terms.account == "sum"
        assert s.remaining == Guarantee(0.25, 6e-7)
    s.count(epsilon=0.125)
    assert path.read_bytes().startswith(b"sourdine ledger 0002 lines 000000000006 ")
    assert b"parts" not in path.read_bytes()
    assert Session(people, ledger=path).remaining.epsilon == F(1, 8)
    with pytest.raises(
        BudgetExceededError, match=r"requested epsilon=0\.25, 0\.125 of 1 remaining"
    ):
        s.count(epsilon=0.25)
    with pytest.raises(ParameterError, match=r"reserve must be 1e-6, as the ledger old"):
        Session(people, ledger=path, reserve=0)


def test_how_a_file_counts_is_fixed(tmp_path):
    path = tmp_path / "p.ledger"
    session(ledger=path).count(epsilon=0.1)
    assert session(ledger=path).terms.account == "renyi"
    assert session(ledger=path, reserve=1e-9).terms.reserve == F(1, 10**9)
    for given, text in (
        ({"reserve": 1e-6}, "reserve must be 1e-9, as"),
        ({"delta": 0}, "delta must be 1e-6, as"),
        ({"epsilon": None, "delta": None, "rho": 1}, "epsilon must be 3, as|rho must be none, as"),
    ):
        with pytest.raises(ParameterError, match=text):
            session(ledger=path, **given)
    sums = tmp_path / "sum.ledger"
    session(ledger=sums, reserve=1e-6)
    assert session(ledger=sums).terms.account == "sum"
    rho = tmp_path / "rho.ledger"
    Session(AGES, ledger=rho, rho=0.5).count(epsilon=0.5)
    again = Session(AGES, ledger=rho)
    assert again.remaining.share == F(3, 4)
    with pytest.raises(ParameterError, match=r"rho must be 0\.5, as the ledger"):
        Session(AGES, ledger=rho, rho=1)


def test_a_filter_outlives_the_process(tmp_path):
    path, whole = tmp_path / "p.ledger", session(reserve=1e-8)
    s = session(ledger=path, reserve=1e-8)
    for i in range(12):
        s = s if i % 3 else session(ledger=path)
        for each in (s, whole):
            each.mean(**AGE, epsilon=0.1)
            each.count(by="sex", keys="unknown", epsilon=0.05, delta=5e-10)
    assert [c.account for c in s.history] == [c.account for c in whole.history]
    assert s.remaining == whole.remaining
    with pytest.raises(BudgetExceededError, match="requested delta=5e-09, 4e-09 of the reserve of"):
        s.count(by="sex", keys="unknown", epsilon=0.05, delta=5e-9)


def test_add_remove_enters_a_substitute_total_at_twice():
    s = session(relation="substitute")
    ledger, promise = MemoryLedger(s.terms), Guarantee(0.1, 0, ADD_REMOVE)
    charge = charged(ledger, promise, parts=(Part.range(0.1), Part.laplace(1, 10)), what="w")
    assert charge.cost == Guarantee(0.2, 0, SUBSTITUTE)
    assert charge.parts == (Part.range(0.2), Part.laplace(2, 10))
    other = MemoryLedger(session().terms)
    with pytest.raises(ParameterError, match="relation must be"):
        charged(other, Guarantee(0.1, 0, SUBSTITUTE), what="w")
    with pytest.raises(BudgetExceededError, match="not a seeded one"):
        charged(other, Guarantee.none(), what="w")


# What is left.


def test_could_says_whether_and_what_would_be_left():
    s = session()
    s.mean(**AGE, epsilon=2)
    could = s.can_release("mean", **AGE, epsilon=0.5)
    assert could
    assert s.can_release(central.Mean(**AGE, epsilon=0.5)).reason == could.reason
    assert f"{percent(could.after.filter.remaining)} of epsilon 3" in could.reason
    s.mean(**AGE, epsilon=0.5)
    assert s.remaining.share == could.after.filter.remaining
    no = s.can_release("mean", **AGE, epsilon=1.5)
    assert not no
    assert "no" in str(no)
    assert "Budget exceeded: requested epsilon=1.5, at most 0.5 fits" in no.reason
    assert s.can_release("mean", **AGE, epsilon=no.largest)
    assert not s.can_release("mean", **AGE, epsilon=no.largest * F(100001, 100000))
    assert len(s.history) == 2
    with pytest.raises(ParameterError, match="statistic must be one of"):
        s.can_release("average", epsilon=1)
    with pytest.raises(ParameterError, match="relation must be omitted: the session"):
        s.can_release("count", epsilon=1, relation="substitute")
    pure = Session(AGES, epsilon=1).can_release("count", epsilon=2)
    assert not pure
    assert "1 of 1 remaining" in str(pure)
    told = str(Session(AGES, epsilon=1).can_release("count", epsilon=0.5))
    assert " ".join(told.split()).endswith("would remain")


@pytest.mark.parametrize("kind", ["pure", "laplace", "range"])
def test_the_largest_epsilon_by_kind_fits(kind):
    s = session()
    s.mean(**AGE, epsilon=0.9)
    room = s.remaining
    assert isinstance(room, RemainingBudget)
    make = {
        "pure": Part.pure,
        "laplace": lambda e: Part.laplace(1000, 1000 / e),
        "range": Part.range,
    }
    assert room.filter.admits(make[kind](room.largest(kind)))
    assert not room.filter.admits(make[kind](room.largest(kind) * F(100001, 100000)))
    assert room.epsilon == room.exact_epsilon() == room.largest()
    assert kind in str(room)
    assert f"<td>{kind}</td>" in room._repr_html_()
    with pytest.raises(ParameterError, match="kind must be"):
        room.largest("other")


@pytest.mark.slow
def test_a_refusal_names_what_fits_for_this_very_question():
    s = session()
    s.mean(**AGE, epsilon=2)
    s.mean(**AGE, epsilon=0.4)
    for kind, parameters in (("count", {}), ("quantiles", DECILES), ("median", AGE)):
        with pytest.raises(BudgetExceededError) as refusal:
            getattr(s, kind)(**parameters, epsilon=2.5)
        (largest,) = refusal.value.tries.values()
        assert f"at most {float(largest):g} fits into the " in str(refusal.value)
        assert s.can_release(kind, **parameters, epsilon=largest)
        assert not s.can_release(kind, **parameters, epsilon=largest * F(1001, 1000))
    with pytest.raises(BudgetExceededError, match="That is what the error needs"):
        s.count(error=1)


def test_nothing_is_found_where_nothing_is_left():
    s = Session(AGES, rho=0.5)
    s.mean(**AGE, epsilon=1)
    with pytest.raises(BudgetExceededError, match=r"at most 0 fits .* The budget is used up"):
        s.mean(**AGE, epsilon=1)


def test_spent_is_a_share_and_promises_no_epsilon_so_far():
    s = session()
    s.count(epsilon=0.5)
    s.count(epsilon=0.5)
    assert s.spent.epsilon == s.spent.exact_epsilon() == 1
    assert s.spent.share == 1 - s.remaining.share
    assert "no smaller epsilon is guaranteed" in str(s.spent)
    assert json.loads(json.dumps(s.spent.to_dict()))["epsilons"] == "1"
    assert json.loads(json.dumps(s.remaining.to_dict()))["relation"] == "add_remove"
    assert "the epsilons add up to 1" in " ".join(str(s).split())
    assert repr(s).endswith("% of epsilon 3, delta 1e-06, one record added or removed remaining>")


def test_plans_mean_the_largest_epsilon_that_fits():
    s = session()
    s.mean(**AGE, epsilon=2)
    for planned in (s.plan.count(), s.plan.median(**AGE, n=600)):
        assert planned.fits
        assert s.can_release(planned.question)
        assert not s.can_release(planned.question.at(planned.epsilon * F(1001, 1000)))
        assert "after this" in str(planned)
    too_much = s.plan.count(epsilon=2.9)
    assert not too_much.fits
    assert "too little for this" in str(too_much)


# Batches.


def test_what_a_declared_batch_costs():
    counts = plan.together([plan.count(epsilon=0.1)] * 100, delta=1e-6)
    assert counts.epsilon == 10
    assert 4.7745 < counts.certified.lower <= counts.certified.upper <= 4.775
    assert "epsilon 4.77457 at delta 1e-06, if declared ahead; 10 by the sum" in str(counts)
    assert "4.77457" in counts._repr_html_()
    assert counts.to_dict()["certified"][1] == counts.certified.upper


@pytest.mark.slow
def test_a_total_with_delta_is_shared_by_the_certified_curve():
    wanted = [plan.count(error=20), plan.sum(**AGE, error=2000)] * 12
    by_sum = plan.together(wanted, epsilon=1)
    by_curve = plan.together(wanted, epsilon=1, delta=1e-6)
    assert 0.99 < by_curve.certified.upper <= 1
    assert by_curve.epsilon > 1.2 * by_sum.epsilon
    assert by_curve.factor < by_sum.factor
    assert compose(by_curve.parts).delta(1).upper <= 1e-6


@pytest.mark.slow
def test_a_session_shares_what_is_left_by_prices(tmp_path):
    s = session(ledger=tmp_path / "p.ledger")
    s.mean(**AGE, epsilon=1)
    batch = s.plan.together([s.plan.count(error=20), s.plan.mean(**AGE, n=600, error=1)] * 10)
    assert batch.fits
    assert float(s.remaining.filter.after(batch.parts).remaining) < 0.01
    assert "after this" in str(batch)
    releases = s.ask_all(batch)
    assert [r.cost.epsilon for r in releases] == [p.epsilon for p in batch]
    assert len(Session(AGES, ledger=s._ledger.path).history) == 21
    assert not any(charge.declared for charge in s.history)
    kept = s.plan.together([plan.count(epsilon=5)], delta=1e-6)
    assert kept.epsilon == 5
    assert not kept.fits


@pytest.mark.slow
def test_a_batch_that_is_the_whole_session(tmp_path):
    path = tmp_path / "p.ledger"
    batch = plan.together([plan.count(epsilon=0.1)] * 60, delta=1e-6)
    total = F(str(round(batch.certified.upper + 0.0005, 3)))
    s = session(epsilon=total, ledger=path)
    assert not s._ledger.account.filter.admits(batch.parts)
    with pytest.raises(BudgetExceededError):
        s.ask_all([*batch, plan.count(epsilon=0.5)])
    assert s.history == []
    assert len(s.ask_all(batch)) == 60
    assert s.remaining.share == s.remaining.epsilon == s.remaining.delta == 0
    again = Session(AGES, ledger=path)
    assert all(charge.declared for charge in again.history)
    assert again.remaining == s.remaining
    for refused in (lambda: again.count(epsilon=0.001), lambda: again.ask_all(batch)):
        with pytest.raises(BudgetExceededError):
            refused()
    other = session(epsilon=total)
    other.count(epsilon=0.01)
    with pytest.raises(BudgetExceededError, match="the batch costs"):
        other.ask_all(batch)


def test_a_batch_cut_short_by_a_kill_is_still_the_whole(tmp_path, monkeypatch):
    path = tmp_path / "p.ledger"
    batch = plan.together([plan.count(epsilon=0.1)] * 60, delta=1e-6)
    s = session(epsilon=F(str(round(batch.certified.upper + 0.0005, 3))), ledger=path)
    written = []

    def dying(charge, version, real=lines.charge_row):
        written.append(charge)
        if len(written) > 20:
            raise KeyboardInterrupt
        return real(charge, version)

    monkeypatch.setattr(lines, "charge_row", dying)
    with pytest.raises(KeyboardInterrupt):
        s.ask_all(batch)
    monkeypatch.undo()
    again = Session(AGES, ledger=path)
    assert len(again.history) == 20
    assert again.remaining.share == 0


def test_a_forged_whole_is_refused(tmp_path):
    path = tmp_path / "p.ledger"
    s = session(ledger=path)
    call = Call(cost=Guarantee(9), what="w", mechanism="m", parameters="{}")
    forged = call.line(s.terms.start, 1, declared=True)
    assert isinstance(forged.account, FilterAccount)
    row = lines.charge_row(forged, 3)
    FileLedger(path, None).journal.turn(lambda page: page.write("charges", row))
    with pytest.raises(ParameterError, match="not the whole of the total"):
        Session(AGES, ledger=path)


def test_what_cannot_be_charged_together_is_not_charged_at_all(tmp_path):
    s = session(ledger=tmp_path / "p.ledger")
    with pytest.raises(ParameterError, match="column"):
        s.ask_all([plan.count(epsilon=0.1), central.Mean(column="agge", bounds=(0, 9), epsilon=1)])
    with pytest.raises(BudgetExceededError):
        s.ask_all([plan.count(epsilon=0.1), plan.count(epsilon=4)])
    assert s.history == []
    pure = Session(AGES, epsilon=1)
    with pytest.raises(
        BudgetExceededError, match=r"the batch costs epsilon 1.2, epsilon 1 remaining"
    ):
        pure.ask_all([plan.count(epsilon=0.6), plan.count(epsilon=0.6)])
    assert pure.history == []


@pytest.mark.slow
def test_the_curve_of_a_batch_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    batch = plan.together([plan.count(epsilon=0.1)] * 20, delta=1e-6)
    figure = batch.plot(path=str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.png").stat().st_size > 5000
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert any("the sum, 2" in text.get_text() for text in axes.texts)


def test_a_batch_is_the_whole_only_if_nothing_came_between(tmp_path, monkeypatch):
    path = tmp_path / "p.ledger"
    batch = plan.together([plan.count(epsilon=0.1)] * 60, delta=1e-6)
    total = F(str(round(batch.certified.upper + 0.0005, 3)))
    s, other = (session(epsilon=total, ledger=path) for _ in range(2))

    def meanwhile(*_):
        other.count(epsilon=0.01)
        return True

    monkeypatch.setattr(FilterAccount, "is_whole", meanwhile)
    with pytest.raises(BudgetExceededError):
        s.ask_all(batch)
    assert len(s.history) == 1
