"""The transcript ledger: lengths are a code, widths are the theorem's, nothing told is lost."""

from __future__ import annotations

import copy
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import exp, inf, isclose, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.adaptive.answers import Certificate
from sourdine.adaptive.ledger.dependence import Blocks, Custom, Iid, Markov
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import Spent, kt_bits
from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)

REFUSALS = (ParameterError, ParameterTypeError)
SLOW = Custom("slow", lambda n, t: ((t + 1) / n) ** 0.25)


@pytest.fixture(params=["memory", "file"])
def make(request, tmp_path):
    def ledger(n=1000, **terms):
        if request.param == "file":
            terms["path"] = tmp_path / "a ledger #1?.ledger"
        return TranscriptLedger(n, **terms)

    return ledger


# Lengths.


@pytest.mark.parametrize("answers", [1, 2, 5, 11])
def test_lengths_of_all_sequences_are_a_code(answers):
    total = 0.0
    for sequence in itertools.product([True, False], repeat=answers):
        spent = Spent()
        for answer in sequence:
            spent = spent.bit(answer)
        total += 2**-spent.bits
    assert total == pytest.approx(1, abs=1e-9)


def test_lengths_of_all_adaptive_transcripts_are_a_code():
    """Whether a bit or a value comes next, and of how many levels, depends on all answers."""

    def kraft(spent, told):
        if len(told) == 5:
            return 2**-spent.bits
        choice = sum((i + 2) * x for i, x in enumerate(told)) % 4
        if choice == 0:
            levels = 1 + sum(told) % 3
            return sum(kraft(spent.value(levels), (*told, x)) for x in range(levels))
        return sum(kraft(spent.bit(bool(x)), (*told, x)) for x in (0, 1))

    total = kraft(Spent(), ())
    assert 1 - 1e-9 <= total <= 1 + 1e-9


def test_closed_form_is_the_product_of_sequential_chances():
    for answers in itertools.product([True, False], repeat=9):
        yes = no = bits = 0
        for answer in answers:
            bits -= log2(((yes if answer else no) + 0.5) / (yes + no + 1))
            yes, no = yes + answer, no + (not answer)
        assert kt_bits(yes, no) == pytest.approx(bits, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_lengths_are_symmetric_and_near_the_entropy(yes, no):
    bits, total = kt_bits(yes, no), yes + no
    assert bits == kt_bits(no, yes)
    entropy = sum(x * log2(total / x) for x in (yes, no) if x)
    slack = 1e-8 * max(total, 1) ** 0.5
    assert entropy - slack <= bits <= entropy + 0.5 * log2(total + 1) + 1 + slack


def test_rare_answers_are_cheap_and_surprises_dear():
    assert kt_bits(10, 490) == pytest.approx(75.5, abs=0.05)
    assert kt_bits(0, 500) < 6
    assert kt_bits(250, 250) > 500
    lopsided = Spent(answers=100, no=100)
    assert lopsided.bit(answer=True).bits - lopsided.bits == pytest.approx(log2(101 / 0.5))
    assert lopsided.bit(answer=False).bits - lopsided.bits == pytest.approx(-log2(100.5 / 101))


def test_values_cost_the_logarithm_of_their_levels():
    assert Spent().value(1) == Spent(answers=1, claims=1)
    assert Spent().value(64).bits == pytest.approx(6)
    spent = Spent()
    for _ in range(1000):
        spent = spent.value(3)
    assert Fraction(spent.value_bits) >= Fraction(1584962500721156, 10**12)
    assert spent.value_bits == pytest.approx(1000 * log2(3), rel=1e-12)
    assert Spent().value(2**5000).bits >= 5000


# Widths.


def probability_of(answers):
    """Return a transcript's chance under the code: a product, no logarithms."""
    yes = no = 0
    chance = Fraction(1)
    for answer in answers:
        if isinstance(answer, bool):
            chance *= Fraction(2 * (yes if answer else no) + 1, 2 * (yes + no + 1))
            yes, no = yes + answer, no + (not answer)
        else:
            chance /= answer
    return chance


TRANSCRIPTS = st.lists(st.one_of(st.booleans(), st.integers(1, 100)), max_size=40)


@pytest.mark.slow
@given(TRANSCRIPTS, st.integers(1, 10**6), st.fractions("1/1000", 1))
def test_halfwidth_is_the_theorems(answers, n, beta):
    ledger = TranscriptLedger(n, confidence=1 - beta)
    for answer in answers:
        if isinstance(answer, bool):
            ledger.charge_bit(answer)
        else:
            ledger.charge_value(answer)
    i = len(answers) + 1
    failure = beta / (i * (i + 1)) * probability_of(answers)
    hoeffding = sqrt(log(2 / failure) / (2 * n))
    assert ledger.halfwidth() == pytest.approx(hoeffding, rel=1e-9)
    assert ledger.bits == pytest.approx(-log2(probability_of(answers)), abs=1e-9)


def test_failures_of_all_queries_sum_to_beta():
    """Over all lists of one-bit transcripts and all their queries: e^-t sums to beta at most."""
    ledger, total = TranscriptLedger(10, confidence=1 - Fraction(1, 20)), 0.0
    for i in range(1, 13):
        for sequence in itertools.product([True, False], repeat=i - 1):
            spent = Spent()
            for answer in sequence:
                spent = spent.bit(answer)
            total += exp(-ledger.nats_after(spent))
    assert total == pytest.approx(0.05 * (1 - 1 / 13), abs=1e-9)


@pytest.mark.parametrize(
    "dependence", [None, Markov(0.5), Blocks(10), SLOW], ids=["iid", "markov", "blocks", "custom"]
)
def test_widths_and_intervals_are_those_of_the_dependence(make, dependence):
    ledger = make(4000, dependence=dependence)
    for answer in (True, False, False):
        ledger.charge_bit(answer)
    ledger.charge_value(8)
    nats = log(5 * 6 / 0.05) + 7 * log(2)
    nats += log(16 / 2**4)  # KT of one yes in three: 1/16
    law = dependence or Iid()
    assert ledger.halfwidth() == pytest.approx(law.width(4000, nats), rel=1e-12)
    averages = (0.0, 0.01, 0.5, 1.0)

    def charged(turn):
        assert turn.halfwidth() == pytest.approx(law.width(4000, nats))
        assert turn.spent == Spent(4, 1, 2, turn.spent.value_bits, 4)
        turn.value(9)
        return [turn.interval(average) for average in averages]

    for average, ends in zip(averages, ledger.turn(charged), strict=True):
        assert ends == pytest.approx(law.interval(average, 4000, nats), rel=1e-9)
        assert ledger.interval(average, answer=5) == ends


def test_intervals_do_not_fail_because_of_an_average():
    ledger = TranscriptLedger(100)
    ledger.charge_value(7)
    assert ledger.interval(float("nan"), 1) == (0.0, 1.0)
    assert ledger.interval(1 + 1e-9, 1) == ledger.interval(1.0, 1)
    assert ledger.interval(-inf, 1) == ledger.interval(0.0, 1)


def test_there_is_no_interval_without_an_answer(make):
    ledger = make()
    for answer in (0, 1, 2.5):
        with pytest.raises(REFUSALS, match="answer must be"):
            ledger.interval(0.5, answer)
    with pytest.raises(
        ParameterError, match=r"interval\(\) needs an answer charged in this transaction"
    ):
        ledger.turn(lambda turn: turn.interval(0.5))
    ledger.turn(lambda turn: turn.bit(answer=True, claim=False))
    with pytest.raises(ParameterError, match="answer must have an interval"):
        ledger.interval(0.5, answer=1)
    ledger.charge_bit(answer=True)
    low, high = ledger.interval(0.5, answer=2)
    assert 0 < low < 0.5 < high < 1
    with pytest.raises(
        ParameterError, match="answer must be the number of an answer that was charged"
    ):
        ledger.interval(0.5, answer=3)


def test_an_interval_is_that_of_its_answer(make):
    """Later answers do not widen it, and it is as wide as was said before the answer."""
    ledger = make(2000)
    said = []
    for i in range(6):
        said.append(ledger.halfwidth())
        ledger.charge_value(10 + i)
    for number, width in enumerate(said, 1):
        low, high = ledger.interval(0.5, answer=number)
        assert (high - low) / 2 == pytest.approx(width, rel=0.02)
        assert (high - low) / 2 <= width


def test_mere_answers_do_not_count_as_claims():
    ledger, quiet = TranscriptLedger(1000), TranscriptLedger(1000)
    for answer in (True, False, False, False):
        ledger.charge_bit(answer)
        quiet.turn(lambda turn, answer=answer: turn.bit(answer, claim=False))
    assert ledger.bits == quiet.bits
    assert ledger.spent.claims == 4
    assert quiet.spent.claims == 0
    t = log(2 / 0.05) + quiet.bits * log(2)
    assert quiet.halfwidth() == pytest.approx(sqrt((t + log(2)) / 2000))
    assert ledger.until(0.08, claims=False).answers > ledger.until(0.08).answers


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_transcripts_before_a_claim_are_a_code(depth):
    """Bits, claimed or not, and values, as an analyst chooses: the sum over all is at most 1."""

    def kraft(spent, told):
        if spent.claims == depth or len(told) == 7:
            return 2**-spent.bits
        choice = sum((i + 3) * x for i, x in enumerate(told)) % 5
        if choice == 4:
            return sum(kraft(spent.value(3), (*told, x)) for x in range(3))
        claim = choice == 3
        return sum(kraft(spent.bit(bool(x), claim=claim), (*told, x)) for x in (0, 1))

    assert kraft(Spent(), ()) <= 1 + 1e-9


def test_the_smallest_beta_has_a_width():
    ledger = TranscriptLedger(10**6, confidence=1 - Fraction(1, 10**400))
    assert ledger.halfwidth() == pytest.approx(sqrt((log(4) + 400 * log(10)) / 2e6))


def test_charge_returns_its_bits():
    def charged(turn):
        assert turn.bit(answer=True) == pytest.approx(1)
        assert turn.bit(answer=True) == pytest.approx(-log2(0.75))
        assert turn.value(5) == pytest.approx(log2(5))
        assert turn.unlikely(Fraction(2, 7)) == pytest.approx(log2(3.5))

    TranscriptLedger(10).turn(charged)


# What is left.


def told(ledger, answers):
    spent = ledger.spent
    for answer in answers:
        spent = spent.bit(answer)
    return ledger.halfwidth_after(spent)


@pytest.mark.parametrize("before", ["", "n", "nnnnnn", "ynyn", "yyyyynv", "vv"])
@pytest.mark.parametrize("error", [0.25, 0.28, 0.29, 0.3])
def test_remaining_answers_by_brute_force(before, error):
    ledger = TranscriptLedger(100)
    for letter in before:
        ledger.charge_value(4) if letter == "v" else ledger.charge_bit(letter == "y")
    left = ledger.until(error)

    def all_fit(more):
        return all(told(ledger, a) <= error for a in itertools.product([True, False], repeat=more))

    most = max((m for m in range(1, 13) if all_fit(m)), default=0)
    assert left.answers == most < 12


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("error", [0.05, 0.06, 0.2])
@pytest.mark.parametrize(
    "kind", [Iid(), Markov(0.5), Blocks(3), SLOW], ids=["iid", "markov", "blocks", "custom"]
)
def test_what_remains_is_what_a_ledger_with_that_error_answers(kind, error):
    free = TranscriptLedger(10_000, dependence=kind)
    for worst in (True, False):
        ledger = TranscriptLedger(10_000, dependence=kind, error=error)
        left, answers = ledger.remaining, 0
        assert left == free.until(error)
        try:
            while answers < 3000:
                yes = worst and ledger.spent.yes <= ledger.spent.no
                ledger.charge_bit(yes)
                answers += 1
        except BudgetExceededError:
            assert ledger.remaining.answers == 0
            assert ledger.halfwidth() <= max(error, free.halfwidth())
        assert answers == min(3000, left.answers if worst else left.noes)


@pytest.mark.parametrize("error", [0.05, 0.06, 0.08, 0.3])
def test_remaining_bits_are_those_of_one_more_value(error):
    ledger = TranscriptLedger(5000, error=error)
    ledger.charge_bit(answer=True)
    bits = ledger.remaining.bits
    levels = int(Fraction(2) ** int(bits) * Fraction(2 ** (bits % 1)))
    with pytest.raises(BudgetExceededError):
        ledger.charge_value(levels * 1001 // 1000 + 1)
    ledger.charge_value(levels * 999 // 1000)
    assert ledger.halfwidth() <= error
    assert ledger.remaining.bits == 0


def test_nothing_remains_where_the_width_is_passed():
    left = TranscriptLedger(100).until(0.01)
    assert (left.bits, left.answers, left.noes) == (0.0, 0, 0)
    assert TranscriptLedger(100).remaining is None
    with pytest.raises(ParameterError, match="error must be above 0"):
        TranscriptLedger(100).until(0)


def test_remaining_noes_of_a_long_run_are_many():
    left = TranscriptLedger(10_000).until(0.05)
    assert left.noes > 100 * left.answers
    flat = TranscriptLedger(5, dependence=Custom("flat", lambda _n, _t: 0.1))
    assert flat.until(0.2).answers > 10**11


# The error.


def copy_of(ledger):
    """Return a ledger in memory of which the same was told."""
    other = TranscriptLedger(ledger.n, error=ledger.error)
    other._memory.tables["answers"] = ledger.turn(lambda turn: turn.transaction.rows("answers"))
    return other


def test_refusal_never_depends_on_the_answer(make):
    ledger = make(300, error=Fraction(1, 10))
    pattern = itertools.cycle([False, False, False, True])
    while True:
        refused = []
        for answer in (True, False):
            try:
                copy_of(ledger).charge_bit(answer)
                refused.append(None)
            except BudgetExceededError as error:
                refused.append(str(error))
        assert refused[0] == refused[1]
        if refused[0]:
            break
        ledger.charge_bit(next(pattern))
    assert "Budget exceeded: the half-width after this answer would be" in refused[0]
    assert "Nothing was answered" in refused[0]
    before = ledger.history
    for refuse in (lambda: ledger.charge_bit(answer=False), lambda: ledger.charge_value(2**40)):
        with pytest.raises(BudgetExceededError):
            refuse()
    assert ledger.history == before
    assert ledger.halfwidth() <= 0.1


def test_a_target_is_compared_exactly():
    at = TranscriptLedger(50, dependence=Custom("flat", lambda _n, _t: 0.1))
    at.charge_bit(answer=True)
    exact = Fraction(0.1)
    for error, fits in ((exact, True), (exact - Fraction(1, 10**30), False), (0.1, False)):
        ledger = TranscriptLedger(50, dependence=at.dependence, error=error)
        assert (ledger.remaining.answers > 0) == fits
        if fits:
            ledger.charge_bit(answer=True)
        else:
            with pytest.raises(BudgetExceededError):
                ledger.charge_bit(answer=True)


# Turns.


def test_a_turn_reads_decides_and_charges(make):
    ledger = make()

    def asked(turn):
        turn.bit(answer=True, what="confirm tree")
        turn.value(9, "score")
        return [line.what for line in turn.history()]

    assert ledger.turn(asked) == ["confirm tree", "score"]
    lines = ledger.history
    assert [line.number for line in lines] == [1, 2]
    assert lines[-1].spent == ledger.spent == Spent(2, 1, 0, ledger.spent.value_bits, 2)
    assert all(line.when.endswith("+00:00") for line in lines)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_was_charged_stays_whatever_raises(make, error):
    """An answer may have been seen by then, as by who stored it and failed."""
    ledger = make()
    ledger.charge_bit(answer=True)

    def fails(turn, *, charging):
        if charging:
            turn.bit(answer=False)
            turn.value(100)
        raise error

    with pytest.raises(error):
        ledger.turn(lambda turn: fails(turn, charging=True))
    assert [line.what for line in ledger.history] == ["bit", "bit", "value"]
    with pytest.raises(error):
        ledger.turn(lambda turn: fails(turn, charging=False))
    assert ledger.spent.answers == 3


def test_a_turn_that_is_over_charges_nothing(make):
    ledger = make()
    turn = ledger.turn(lambda turn: (turn.bit(answer=True), turn)[1])
    for charge in (lambda: turn.bit(answer=True), lambda: turn.value(2)):
        with pytest.raises(SourdineError, match="This transaction has ended"):
            charge()
    assert ledger.spent.answers == 1


def test_a_turn_inside_a_turn_is_refused_and_does_not_hang(make):
    ledger = make()

    def inside(turn):
        for nested in (
            ledger.halfwidth,
            lambda: ledger.until(0.05),
            lambda: ledger.charge_bit(answer=True),
        ):
            with pytest.raises(SourdineError, match="Transactions cannot be nested"):
                nested()
        turn.bit(answer=True)

    ledger.turn(inside)
    assert ledger.spent.answers == 1


@pytest.mark.parametrize("answer", ["yes", 1, None, 0.0])
def test_answers_are_true_or_false(make, answer):
    with pytest.raises(ParameterTypeError, match="answer must be True or False"):
        make().charge_bit(answer)


@pytest.mark.parametrize(
    "terms",
    [{"n": 0}, {"n": 2.5}, {"confidence": 1}, {"confidence": -0.1}, {"error": 0}, {"error": "x"}],
)
def test_bad_terms_are_refused(terms):
    with pytest.raises(REFUSALS, match=f"^{next(iter(terms))} must be"):
        TranscriptLedger(**({"n": 10} | terms))


@pytest.mark.parametrize("levels", [0, -1, 2.5, "x", True])
def test_levels_are_a_whole_number(make, levels):
    ledger = make()
    with pytest.raises(REFUSALS, match=r"^levels must be"):
        ledger.charge_value(levels)
    assert ledger.history == []


def test_threads_share_exactly(make):
    ledger = make(2000, error=0.1)
    fits = ledger.remaining.noes

    def attempt(_):
        try:
            ledger.charge_bit(answer=False)
        except BudgetExceededError:
            return False
        return True

    ledger.charge_value(2 ** int(ledger.remaining.bits - 12))
    fits = ledger.remaining.noes
    assert 5 < fits < 60
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(80))) == fits
    assert ledger.spent.no == fits


def test_a_ledger_in_memory_cannot_be_doubled():
    ledger = TranscriptLedger(100)
    for double in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            double(ledger)


# Long transcripts.


@pytest.mark.slow
def test_a_hundred_thousand_bits_do_not_underflow():
    ledger = TranscriptLedger(10**9)
    ledger.turn(lambda turn: [turn.bit(i % 2 == 0) for i in range(100_000)])
    assert ledger.bits == pytest.approx(100_000 + 0.5 * log2(100_000), abs=1)
    assert isclose(ledger.halfwidth(), sqrt(log(2) * 1e5 / 2e9), rel_tol=2e-3)


def test_a_ledger_says_what_it_is(tmp_path):
    ledger = TranscriptLedger(100, dependence=Blocks(10), path=tmp_path / "a.ledger")
    ledger.charge_value(8)
    assert repr(ledger) == "<TranscriptLedger of 100 rows, blocks 10, in a.ledger: 3 bits told>"
    assert "in memory" in repr(TranscriptLedger(5))


def test_a_certificate_of_one_or_more_says_that_nothing_is_proved():
    text = str(Certificate(1.2, 0.05, 9, "few rows"))
    assert text == "proved   nothing of 9 answers\ngrounds  few rows"


def test_a_statistic_costs_a_value_and_has_the_theorems_width(make):
    ledger = make(n=10_000)
    for _ in range(3):
        ledger.charge_bit(True)  # noqa: FBT003
    before, halfwidth = ledger.spent, ledger.halfwidth()
    found = ledger.charge_statistic(levels=64, sensitivity=Fraction(3, 10_000), what="gap")
    assert found == pytest.approx(3 * halfwidth)
    assert ledger.spent == before.value(64)
    assert ledger.history[-1].what == "gap"
    with pytest.raises(ParameterError, match="sensitivity must be"):
        ledger.charge_statistic(levels=64, sensitivity=0)


def test_statistics_of_an_analyst_who_overfits_are_within_their_widths():
    """The last statistic is made of the answers before it: the larger of two averages."""
    rng, n, k, missed, naive = np.random.default_rng(8), 400, 60, 0, 0
    for _ in range(40):
        rows = rng.integers(0, 2, (n, k))
        ledger = TranscriptLedger(n, confidence=0.95)
        signs, wide = [], []
        for j in range(k - 1):
            wide.append(ledger.charge_statistic(levels=2, sensitivity=1 / n))
            signs.append(1 if rows[:, j].mean() > 0.5 else -1)
        score = (rows[:, : k - 1] - 0.5) @ np.array(signs)
        last = ledger.charge_statistic(levels=64, sensitivity=1 / n)
        value = max((score > 0).mean(), (score < 0).mean())
        missed += value - 0.5 > last + 0.02
        naive += value - 0.5 > wide[0] + 0.02
    assert missed == 0
    assert naive > 30
