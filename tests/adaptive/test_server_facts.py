"""Facts that a query server tells unasked: their code, their charge, and what follows from them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import log, log2

import numpy as np
import pytest

from sourdine import plan
from sourdine.adaptive.ledger.dependence import Iid
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.query_server.evidence import Universe
from sourdine.adaptive.query_server.facts import KINDS, LEAST, RATIO, Disclosed, Fact
from sourdine.adaptive.query_server.server import QueryServer
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import SUBSTITUTE, Guarantee

SIZES = {"a": 6, "b": 4, "c": 3, "d": 2}
UNIVERSE = {name: list(range(size)) for name, size in SIZES.items()}
CELLS = 144
ROUNDED = 1e-12


def joined(seed=0):
    """Return a law in which neighbouring columns depend on each other."""
    rng = np.random.default_rng(seed)
    a, b, c, d = np.meshgrid(*map(range, SIZES.values()), indexing="ij")
    steep = (
        1.5 * (a / 5 - 0.5) * (b / 3 - 0.5) * 4 + (b / 3 - 0.5) * (c - 1) * 2 + (c - 1) * (d - 0.5)
    )
    law = np.exp(steep + 0.1 * rng.standard_normal(steep.shape)).ravel()
    return law / law.sum()


def drawn(law, n, seed=0):
    counts = np.random.default_rng(seed).multinomial(n, law)
    places = np.unravel_index(np.repeat(np.arange(len(law)), counts), tuple(SIZES.values()))
    return dict(zip(SIZES, places, strict=True))


def conjunction(rng):
    """Return a query for random sets of categories of one to three columns."""
    inside = np.ones(tuple(SIZES.values()), bool)
    for axis in rng.choice(4, rng.integers(1, 4), replace=False):
        size = inside.shape[axis]
        shape = [size if i == axis else 1 for i in range(4)]
        inside = inside & rng.integers(0, 2, size).astype(bool).reshape(shape)
    return inside.ravel().astype(float)


def attack(server, law, rounds, rng):
    """Ask conjunctions, then for what the answers say is too common in the sample."""
    lean, told = np.zeros(len(law)), []
    for i in range(rounds):
        query = conjunction(rng) if i < rounds - 1 else (lean > 0).astype(float)
        answer = server.ask(query)
        told.append((answer, float(query @ law)))
        lean += (answer.value - query @ law) * (query - 0.5)
    return told


def misses(told):
    """Return how many intervals do not hold the truth, which is rounded where it is 0 or 1."""
    return sum(not a.lower - ROUNDED <= truth <= a.upper + ROUNDED for a, truth in told)


# --- the code


def possible(told, units):
    """Yield every fact that may come next, steps up to 7."""
    if (column := told.next_shares) is not None:
        size = told.sizes[column]
        for value in product(range(units + size + 1), repeat=size):
            if abs(sum(value) - units) <= size / 2:
                yield Fact("shares", (column,), (), value, 0.0, "")
    for columns in told.dictionary():
        kind = "set" if len(columns) == 1 else "two sets"
        for places in product(*(range(len(told.sets(c))) for c in columns)):
            for steps in (*range(-7, 0), *range(1, 8)):
                yield Fact(kind, columns, places, (steps,), 0.0, "")


def test_facts_are_a_code():
    universe = Universe.read({"a": [1, 2, 3], "b": ["x", "y"], "c": range(40)})
    told = Disclosed(universe, np.full(3 * 3 * 40, 1 / 360), 0.5)
    rng = np.random.default_rng(0)
    for _ in range(2):
        facts = list(possible(told, told.units))
        total = sum((1 / told.levels(fact) for fact in [None, *facts]), Fraction(0))
        by_kind = {kind: sum(fact.kind == kind for fact in facts) for kind in KINDS}
        assert Fraction(1, 2) < total <= 1
        assert by_kind["set"] == 39 * 14
        assert by_kind["two sets"] > 1000
        told.tell(next(fact for fact in facts if fact.kind == "shares"))
        told.tell(facts[-int(rng.integers(1, 100))])


def test_cells_are_a_code():
    told = Disclosed(Universe.read(40), np.full(40, 1 / 40), 0.1)
    masses = 37
    assert LEAST * RATIO >= RATIO ** -(masses - 1) >= LEAST / RATIO
    kraft = sum(
        len(list(combinations(range(40), m))) * Fraction(masses) ** m / told.cells_levels(m)
        for m in range(1, 4)
    )
    assert kraft == Fraction(1, 8) + Fraction(1, 8) + Fraction(1, 32)  # of 1/2, 1/8, 1/8, 1/32 ...


# --- what follows from facts alone


def test_the_hypothesis_is_a_function_of_the_facts():
    law = joined()
    server = QueryServer(drawn(law, 20_000), universe=UNIVERSE, volunteer=400)
    again = Disclosed(Universe.read(UNIVERSE), np.full(CELLS, 1 / CELLS), server.error)
    for fact in server.facts:
        again.tell(Fact(fact.kind, fact.columns, fact.places, fact.value, 0.0, ""))
    assert {fact.kind for fact in server.facts} == {"shares", "two sets"}
    assert np.array_equal(again.law, server.hypothesis)
    assert server.hypothesis.sum() == pytest.approx(1)
    assert server.hypothesis.min() > 0


def test_a_server_that_volunteers_says_nothing_else():
    """Two samples of which the same facts are told lead to the same everything."""
    law, queries = joined(), [conjunction(np.random.default_rng(i)) for i in range(100)]
    rows = drawn(law, 20_000)
    one = QueryServer(rows, universe=UNIVERSE, error=0.1, volunteer=300)
    other = {name: column.copy() for name, column in rows.items()}
    other["a"][0] = (other["a"][0] + 1) % 6
    two = QueryServer(other, universe=UNIVERSE, error=0.1, volunteer=300)
    assert one.facts == two.facts
    assert len(one.facts) > 4
    assert [one.ask(query) for query in queries] == [two.ask(query) for query in queries]
    assert str(one.certificate()) == str(two.certificate())
    assert one.ledger.spent == two.ledger.spent


def test_facts_are_near_the_sample():
    """No set of the dictionary is further from the hypothesis than the threshold."""
    rows = drawn(joined(), 20_000)
    server = QueryServer(rows, universe=UNIVERSE, volunteer=1000)
    told = Disclosed(Universe.read(UNIVERSE), server.hypothesis, server.error)
    share = np.bincount(Universe.read(UNIVERSE).codes(rows), minlength=CELLS) / 20_000
    for columns in told.dictionary():
        for places in product(*(range(len(told.sets(c))) for c in columns)):
            inside = told.query(columns, places)
            assert abs(share[inside].sum() - server.hypothesis[inside].sum()) <= server.error


# --- what is charged


def test_volunteered_bits_are_charged_before_the_first_question():
    rows = drawn(joined(), 20_000)
    server = QueryServer(rows, universe=UNIVERSE, volunteer=400)
    told = Disclosed(Universe.read(UNIVERSE), np.full(CELLS, 1 / CELLS), server.error)
    bits = 0.0
    for fact in server.facts:
        bits += log2(told.levels(fact))
        assert fact.bits == pytest.approx(log2(told.levels(fact)))
        told.tell(fact)
    bits += log2(told.levels(None))
    assert bits > 60
    assert server.volunteered == server.bits == pytest.approx(bits)
    assert server.ledger.spent.answers == len(server.facts) + 1
    assert f"at most {bits:.3g} bits were told" in server.certificate().grounds
    claims = server.ledger.spent.claims
    nats = log((claims + 1) * (claims + 2) / 0.05) + bits * log(2)
    answer = server.ask([1.0] * 72 + [0.0] * 72, guess=0.5)
    width = Iid().width(20_000, nats)
    known = (answer.lower + width, answer.upper - width)
    share = np.mean(rows["a"] < 3)
    assert known[0] - 1e-9 <= share <= known[1] + 1e-9
    assert known[1] - known[0] == pytest.approx(2 * server.error)
    assert f"{server.volunteered:.3g} of them unasked" in server.certificate().grounds


@pytest.mark.parametrize(
    ("most", "limit", "told_to"), [(10.3, None, 10), (1000, None, 75), (1000, 1.3, 10)]
)
def test_what_is_charged_is_a_code_of_all_samples(most, limit, told_to):
    """Of all samples of four rows, also where the bits or the ledger's room are used up.

    The chances charged for all that can be told sum to 1 at most. In the first and the last case
    some samples have no fact that fits: were it free to say so, that alone would have chance 1.
    """
    told = {}
    for rows in combinations(range(6 + 3), 4):
        places = np.array(rows) - np.arange(4)  # every multiset of the six cells
        data = {"a": places // 2, "b": places % 2}
        ledger = None if limit is None else TranscriptLedger(4, error=limit)
        server = QueryServer(
            data, universe={"a": range(3), "b": range(2)}, error=0.5, volunteer=most, ledger=ledger
        )
        assert server.volunteered == server.bits
        assert told.setdefault(server.facts, server.bits) == server.bits
    assert sum(2**-bits for bits in told.values()) <= 1
    assert len(told) == told_to


@pytest.mark.parametrize("most", [5, 60, 200])
def test_no_more_bits_are_spent_than_allowed(most):
    server = QueryServer(drawn(joined(), 20_000), universe=UNIVERSE, error=0.02, volunteer=most)
    assert server.volunteered <= most
    assert (len(server.facts) > 0) == (most > 5)
    more = QueryServer(drawn(joined(), 20_000), universe=UNIVERSE, error=0.02, volunteer=900)
    assert more.volunteered > server.volunteered
    assert more.facts[: len(server.facts)] == server.facts


def test_a_limited_ledger_keeps_its_limit():
    ledger = TranscriptLedger(20_000, error=0.045)
    server = QueryServer(drawn(joined(), 20_000), universe=UNIVERSE, ledger=ledger, volunteer=900)
    assert 0 < ledger.halfwidth() <= 0.045
    assert 0 < len(server.facts) < 10


@pytest.mark.parametrize("error", [0.02, 0.03, 0.035, 0.04, 0.045])
def test_that_there_are_no_more_facts_is_always_paid(error):
    ledger = TranscriptLedger(20_000, error=error)
    server = QueryServer(drawn(joined(), 20_000), universe=UNIVERSE, ledger=ledger, volunteer=900)
    told = Disclosed(Universe.read(UNIVERSE), np.full(CELLS, 1 / CELLS), server.error)
    for fact in server.facts:
        told.tell(fact)
    stop = log2(told.levels(None))
    paid = sum(fact.bits for fact in server.facts) + stop
    fits = bool(server.facts) or ledger.halfwidth() > 0
    assert server.volunteered == pytest.approx(paid if fits else 0)
    assert ledger.halfwidth() <= error


# --- what it is good for


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_all_ends_hold_after_facts(seed):
    law = joined(seed)
    server = QueryServer(drawn(law, 4000, seed), universe=UNIVERSE, volunteer=150)
    told = attack(server, law, 500, np.random.default_rng(seed))
    assert len(server.facts) > 4
    assert not misses(told)
    assert max(abs(a.value - truth) for a, truth in told) <= server.certificate().halfwidth


@pytest.mark.simulation
def test_ends_hold_after_facts_in_many_runs():
    """Of 300 runs at a confidence of 0.8, far fewer than a fifth have any miss."""
    missed = 0
    for seed in range(300):
        law = joined(seed)
        server = QueryServer(
            drawn(law, 1000, seed), universe=UNIVERSE, volunteer=120, confidence=0.8
        )
        told = attack(server, law, 200, np.random.default_rng(seed))
        missed += misses(told) > 0
    assert missed <= 30


def test_facts_save_more_bits_than_they_cost():
    law, rng = joined(), np.random.default_rng
    rows = drawn(law, 100_000)
    quiet = QueryServer(rows, universe=UNIVERSE, error=0.03)
    open_ = QueryServer(rows, universe=UNIVERSE, error=0.03, volunteer=600)
    for server in (quiet, open_):
        attack(server, law, 300, rng(5))
    assert open_.hard < quiet.hard / 4
    assert open_.certificate().halfwidth < 0.9 * quiet.certificate().halfwidth


def test_cells_are_told_of_codes():
    law = 1 / np.arange(1, 513) ** 1.2
    law /= law.sum()
    rows = np.repeat(np.arange(512), np.random.default_rng(0).multinomial(50_000, law))
    server = QueryServer(rows, universe=512, error=0.05, volunteer=400)
    (fact,) = server.facts
    assert fact.kind == "cells"
    assert {0, 1, 2} <= set(fact.places)
    assert np.allclose(server.hypothesis[:3], law[:3], rtol=0.2)


@pytest.mark.parametrize("size", [33, 40])
def test_one_cell_is_left_where_all_are_worth_telling(size):
    """Found by division by zero: whether all cells are worth their bits depends on the rows."""
    law = 1 / np.arange(1, size + 1) ** 0.3
    rows = np.repeat(
        np.arange(size), np.random.default_rng(0).multinomial(100_000, law / law.sum())
    )
    server = QueryServer(rows, universe=size, error=0.0005, volunteer=5000)
    (fact,) = server.facts
    assert len(fact.places) == size - 1
    assert server.hypothesis.sum() == pytest.approx(1)
    assert server.ask([1.0] + [0.0] * (size - 1)).value == pytest.approx(
        np.mean(rows == 0), abs=0.0005
    )


def test_surprises_stay_within_the_bound_after_facts():
    rows = drawn(joined(), 5000)
    codes = Universe.read(UNIVERSE).codes(rows)
    share = np.bincount(codes, minlength=CELLS) / 5000
    server = QueryServer(rows, universe=UNIVERSE, error=0.1, volunteer=200)
    rng = np.random.default_rng(1)
    for _ in range(100):
        server.ask((share > server.hypothesis).astype(float))
        server.ask(rng.integers(0, 2, CELLS).astype(float))
    assert server.most_hard == int(log(CELLS) / 0.02)
    assert server.hard <= server.most_hard


# --- what is planned


def test_nothing_is_wider_than_planned():
    law = joined()
    server = QueryServer(drawn(law, 20_000), universe=UNIVERSE, error=0.04, volunteer=300)
    attack(server, law, 300, np.random.default_rng(2))
    planned = plan.queries(20_000, queries=300, surprises=server.hard, volunteer=300, error=0.04)
    widest = server.certificate().halfwidth
    assert widest <= planned.error <= widest + 0.02
    assert planned.error > plan.queries(20_000, queries=300, surprises=0, error=0.04).error


def test_ten_thousand_conjunctions_are_planned_within_the_target():
    planned = plan.queries(100_000, queries=10_000, surprises=10, volunteer=500, error=0.03)
    assert planned.error <= 0.085


# --- what is refused


def test_only_a_hypothesis_volunteers():
    with pytest.raises(ParameterError, match="volunteer must be omitted unless the guess"):
        QueryServer([0, 1] * 50, guess="split", volunteer=100)
    with pytest.raises(ParameterError, match="volunteer must be omitted if privacy is given"):
        QueryServer(
            [0] * 99_999,
            universe=2,
            error=0.1,
            volunteer=100,
            privacy=Guarantee(1, relation=SUBSTITUTE),
        )
    with pytest.raises(ParameterError, match="volunteer must be above 0"):
        QueryServer([0, 1], universe=2, volunteer=0)
    with pytest.raises(ParameterError, match="error must be at least 1e-06"):
        QueryServer([0, 1], universe=2, error=1e-9)
    with pytest.raises(ParameterError, match="error must be at least 1e-06"):
        plan.queries(100, queries=10, surprises=1, error=1e-9)
    with pytest.raises(ParameterTypeError, match="such as volunteer=500"):
        QueryServer([0, 1], universe=2, volunteer=True)
