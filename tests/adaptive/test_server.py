"""The query server: what it tells, what it charges, and that its ends hold."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from math import log

import numpy as np
import pytest

from sourdine.adaptive.attacks import holdouts as attacks
from sourdine.adaptive.ledger import Blocks, Custom, Iid, Markov, TranscriptLedger
from sourdine.adaptive.server import QueryServer, Universe, report
from sourdine.adaptive.server.gaps import Cell, Gaps, Tally
from sourdine.adaptive.server.splits import halves
from sourdine.adaptive.server.weights import Weights
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError
from sourdine.noise import SeededSource


def zipf(size, power=0.8, seed=7):
    law = 1 / np.arange(1, size + 1) ** power
    return np.random.default_rng(seed).permutation(law / law.sum())


def sample(law, n, seed=0):
    return np.repeat(np.arange(len(law)), np.random.default_rng(seed).multinomial(n, law))


def divergence(p, q):
    there = p > 0
    return float(p[there] @ (np.log(p[there]) - np.log(q[there])))


def overfit(server, law, rounds, rng):
    """Ask random queries, then the one that fits; return (answer, truth) of each."""
    weights, told = np.zeros(len(law)), []
    for i in range(rounds):
        query = rng.random(len(law)) < 0.5 if i < rounds - 1 else weights > 0
        answer = server.ask(query)
        told.append((answer, float(query @ law)))
        weights += (answer.value - query @ law) * (query - 0.5)
    return told


# --- the hypothesis


@pytest.mark.parametrize("binary", [True, False])
def test_a_tilt_brings_the_sample_nearer(binary):
    rng = np.random.default_rng(3)
    for _ in range(60):
        size = int(rng.integers(2, 40))
        weights, truth = Weights(size, rng.dirichlet(np.ones(size))), rng.dirichlet(np.ones(size))
        query = (rng.random(size) < 0.5).astype(float) if binary else rng.random(size)
        guess, average = weights.guess(query), float(query @ truth)
        target = guess + rng.random() * (average - guess)
        before, prior = divergence(truth, weights.law), weights.law
        tilt = weights.tilt(query, target)
        weights.move(tilt)
        drop = before - divergence(truth, weights.law)
        assert weights.guess(query) == pytest.approx(target, abs=1e-9)
        assert weights.law.sum() == pytest.approx(1)
        assert drop == pytest.approx(tilt.gain(average), abs=1e-9)
        assert drop >= divergence(weights.law, prior) - 1e-9
        assert divergence(weights.law, prior) >= 2 * (target - guess) ** 2 - 1e-9


def test_tilts_of_far_targets_end_where_they_should():
    weights = Weights(3, [1e-12, 1.0, 1.0])
    query = np.array([1.0, 0.5, 0.0])
    for target in (0.999, 0.001, 0.75):
        weights.move(weights.tilt(query, target))
        assert weights.guess(query) == pytest.approx(target, abs=1e-9)


@pytest.mark.parametrize("prior", [[1, 2], [1, 0, 1], [1, np.nan, 1], [1, -1, 2]])
def test_a_prior_must_be_positive(prior):
    with pytest.raises(ParameterError, match="prior must be 3 positive weights"):
        QueryServer([0, 1, 2], universe=3, prior=prior)


# --- the code of surprises


def test_levels_of_the_cells_are_a_code():
    rng = np.random.default_rng(5)
    told = Tally()
    for _ in range(300):
        gaps = Gaps(rng.random(), 0.05, 0.0, 1.0)
        cells = [Cell(s, short) for s in gaps.steps() for short in (False, True)]
        levels = [told.levels(cell, cells) for cell in cells]
        assert sum(Fraction(1, each) for each in levels) <= 1
        assert max(levels) == told.dearest(cells)
        told.add(cells[rng.integers(min(len(cells), 4))])


def test_every_surprise_has_its_cell():
    rng = np.random.default_rng(6)
    for _ in range(2000):
        low, high = sorted(rng.choice([0.0, 0.2, 0.7, 1.0], 2, replace=False))
        guess = rng.uniform(low, high)
        tolerance = rng.choice([0.01, 0.05, 0.3])
        average = rng.choice([low, high, rng.uniform(low, high)])
        gaps = Gaps(guess, tolerance, low, high)
        if abs(average - guess) <= tolerance:
            continue
        steps = gaps.cell(average)
        near, far = gaps.ends(steps)
        assert steps in gaps.steps()
        assert near - 1e-12 <= average <= far + 1e-12
        assert far - near <= 2 * tolerance + 1e-12
        assert min(abs(near - guess), abs(far - guess)) >= tolerance - 1e-12


# --- the bound on surprises


def adversary(server, rows, size, rounds):
    """Ask, knowing the sample, for the largest gap there is."""
    law = np.bincount(rows, minlength=size) / len(rows)
    for _ in range(rounds):
        server.ask(law > server.hypothesis)


@pytest.mark.parametrize("kind", ["point", "half", "zipf", "dirichlet", "lopsided"])
@pytest.mark.parametrize("threshold", [0.1, 0.2])
def test_surprises_stay_within_the_bound(kind, threshold):
    size, n, rng = 256, 4096, np.random.default_rng(8)
    laws = {
        "point": np.eye(size)[0],
        "half": np.repeat([2 / size, 0.0], size // 2),
        "zipf": zipf(size, 1.2),
        "dirichlet": rng.dirichlet(np.full(size, 0.05)),
        "lopsided": np.append(np.full(size - 1, 0.5 / (size - 1)), 0.5),
    }
    rows = sample(laws[kind], n)
    server = QueryServer(rows, universe=size, threshold=threshold)
    adversary(server, rows, size, 60)
    for _ in range(300):
        server.ask(rng.random(size) < rng.random())
    assert server.most_hard == int(log(size) / (2 * threshold**2))
    assert 0 < server.hard <= server.most_hard


def test_single_cells_one_by_one_stay_within_the_bound():
    size, threshold = 64, 0.1
    server = QueryServer(np.zeros(1000, int), universe=size, threshold=threshold)
    for cell in [*range(size), *range(size)]:
        server.ask(np.arange(size) == cell)
    adversary(server, np.zeros(1000, int), size, 500)
    assert server.hard <= server.most_hard


def test_short_steps_keep_the_bound_where_slack_is_gone():
    """A point mass has no entropy, and the average is just beyond the threshold.

    A step to the middle of the cell would gain a twentieth of what the bound needs.
    """
    size, threshold = 1024, 0.1
    rng = np.random.default_rng(9)
    server = QueryServer(np.zeros(500, int), universe=size, threshold=threshold)
    for _ in range(1200):
        law = server.hypothesis
        query = (rng.random(size) < 0.5).astype(float)
        query[0] = min(1.0, (query[1:] @ law[1:] + 1.01 * threshold) / (1 - law[0]))
        server.ask(query)
    assert server.most_hard / 2 < server.hard <= server.most_hard == 346


def test_a_question_asked_again_is_not_hard_again():
    law = zipf(512)
    server = QueryServer(sample(law, 10_000), universe=512, threshold=0.05)
    for query in np.random.default_rng(1).random((50, 512)) < 0.3:
        first = server.ask(query)
        again = server.ask(query)
        assert again.source == "hypothesis"
        assert again.value == pytest.approx(first.value, abs=1e-9)


# --- the answers


def test_answers_are_within_the_threshold_of_the_sample():
    law, rng = zipf(128, 1.5), np.random.default_rng(2)
    rows = sample(law, 5000)
    share = np.bincount(rows, minlength=128) / 5000
    server = QueryServer(rows, universe=128, threshold=0.03)
    for _ in range(300):
        query = rng.random(128) ** rng.choice([1, 10])
        answer = server.ask(query)
        assert abs(answer.value - query @ share) <= 0.03 + 1e-12
        assert query.min() <= answer.lower <= answer.value <= answer.upper <= query.max()


@pytest.mark.parametrize("seed", range(4))
def test_all_answers_hold_their_ends(seed):
    law, rng = zipf(256), np.random.default_rng(seed)
    server = QueryServer(sample(law, 2000, seed), universe=256, threshold=0.05)
    told = overfit(server, law, 600, rng)
    assert all(answer.lower <= truth <= answer.upper for answer, truth in told)
    certificate = server.certificate()
    widest = max(max(a.value - a.lower, a.upper - a.value) for a, _ in told)
    assert certificate.halfwidth == pytest.approx(widest)
    assert certificate.answers == 600
    assert certificate.beta == 0.05


def test_ends_are_those_of_the_ledger_before_the_answer():
    server = QueryServer([0] * 600 + [1] * 400, universe=2, threshold=0.05)
    width = server.ledger.halfwidth()
    easy = server.ask([1.0, 0.0], guess=0.6)
    assert easy.lower == pytest.approx(0.55 - width)
    assert easy.upper == pytest.approx(0.65 + width)
    width = server.ledger.halfwidth()
    hard = server.ask([1.0, 0.0], guess=0.5)
    assert hard.value == pytest.approx(0.6)
    assert hard.lower == pytest.approx(0.55 - width)
    nats = server.ledger.nats_after(server.ledger.spent)
    rare = server.ask([0.0, 0.1], guess=0.04)
    assert rare.lower == pytest.approx(Iid().interval(0.0, 1000, nats)[0])
    assert rare.upper == pytest.approx(min(0.1, Iid().interval(0.09, 1000, nats)[1]))


def test_ledger_is_charged_for_every_answer():
    law = zipf(64, 1.5)
    server = QueryServer(sample(law, 3000), universe=64)
    told = overfit(server, law, 200, np.random.default_rng(4))
    assert server.bits == pytest.approx(sum(answer.bits for answer, _ in told), abs=1e-6)
    assert server.ledger.spent.yes == server.hard == sum(a.source == "data" for a, _ in told)
    assert server.ledger.spent.no == 200 - server.hard
    assert server.hard > 0


def test_a_surprise_is_charged_for_its_cell():
    """Five cells above the guess and five below, of 16 shares, and as many short ones of 1."""
    server = QueryServer([0] * 900 + [1] * 100, universe=2, threshold=0.05)
    answer = server.ask([1.0, 0.0], guess=0.5)
    assert answer.bits == pytest.approx(1 + np.log2(11))
    assert server.ledger.spent.value_bits == pytest.approx(np.log2(11))
    again = server.ask([1.0, 0.0], guess=0.5)
    assert again.bits == pytest.approx(-np.log2(3 / 4) + np.log2(5))  # 170 + 32 shares, 48 its own


def test_a_query_that_cannot_surprise_is_free():
    server = QueryServer([0, 1, 2], universe=3)
    answer = server.ask(np.full(3, 0.25))
    assert (answer.value, answer.lower, answer.upper, answer.bits) == (0.25, 0.25, 0.25, 0.0)
    assert server.bits == 0


def test_certified_at_a_hundred_thousand_rows():
    """A tenth of the ten thousand queries; ``benchmarks/queries.py`` asks all of them."""
    law = zipf(2**13)
    server = QueryServer(sample(law, 100_000), universe=2**13)
    told = overfit(server, law, 1000, np.random.default_rng(100))
    assert server.certificate().halfwidth <= 0.12
    assert all(answer.lower <= truth <= answer.upper for answer, truth in told)
    assert server.hard <= server.most_hard


def test_server_plays_the_game():
    law, rng = zipf(256), np.random.default_rng(5)
    result = attacks.overfit(
        lambda rows: QueryServer(rows, universe=256), law, 100_000, 400, rng=rng
    )
    assert abs(result.error) <= result.mechanism.certificate().halfwidth <= 0.12


def test_server_says_nothing_but_its_answers():
    """Two samples that lead to the same answers lead to the same everything."""
    law, rng = zipf(64), np.random.default_rng(0)
    queries = [rng.random(64) < 0.5 for _ in range(200)]
    one = QueryServer(sample(law, 4000), universe=64, threshold=0.1)
    first = [one.ask(query) for query in queries]
    rows = sample(law, 4000)
    rows[0] = (rows[0] + 1) % 64
    two = QueryServer(rows, universe=64, threshold=0.1)
    second = [two.ask(query) for query in queries]
    assert one.hard > 0
    assert first == second
    assert np.array_equal(one.hypothesis, two.hypothesis)
    assert str(one.certificate()) == str(two.certificate())


# --- rows and universes


class Hostile:
    def __float__(self):
        raise RuntimeError("no number")

    def __hash__(self):
        raise RuntimeError("no hash")


@pytest.mark.parametrize(
    ("value", "code"),
    [(2, 2), (-5, 0), (99, 3), (1.4, 1), (1.5, 1), (np.nan, 0), (None, 0), (np.inf, 3),
     ("2", 2), ("x", 0), ([1, 2], 0), ({}, 0), (1j, 0), (Hostile(), 0), (True, 1), (10**400, 0)],
)  # fmt: skip
def test_every_value_has_a_cell(value, code):
    assert Universe.read(4).codes([value]).tolist() == [code]
    column = Universe.read({"a": [0, 1, 2, 3]})
    assert column.codes({"a": [value]}).tolist() == [code]


@pytest.mark.parametrize(
    ("value", "code"), [("b", 1), ("a", 0), ("c", 0), (None, 0), (1, 0), ([], 0), (Hostile(), 0)]
)
def test_every_word_has_a_cell(value, code):
    assert Universe.read({"a": ["a", "b"]}).codes({"a": [value]}).tolist() == [code]


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "pyarrow"])
def test_frames(kind):
    columns = {"age": [30.0, 41.0, 65.0, None], "sex": ["f", "m", "f", "?"]}
    rows = columns
    if kind == "pandas":
        rows = pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        rows = pytest.importorskip("polars").DataFrame(columns)
    if kind == "pyarrow":
        rows = pytest.importorskip("pyarrow").table(columns)
    universe = {"age": range(100), "sex": ["f", "m"]}
    assert Universe.read(universe).codes(rows).tolist() == [60, 83, 130, 0]
    server = QueryServer(rows, universe=universe, threshold=0.001)
    assert server.ask(lambda d: d["age"] > 40).value == pytest.approx(0.5, abs=0.001)
    assert server.ask(lambda d: (d["sex"] == "m") & (d["age"] > 40)).value == pytest.approx(
        0.25, abs=0.001
    )


def test_queries_see_the_universe_only():
    seen = []
    server = QueryServer([3] * 10, universe=8)
    server.ask(lambda codes: seen.append(codes.copy()) or codes > 2)
    assert np.array_equal(seen[0], np.arange(8))
    with pytest.raises(ValueError, match="read-only"):
        server.ask(lambda codes: codes.sort())


@pytest.mark.parametrize(
    ("universe", "error", "text"),
    [
        (2**16 + 1, ParameterError, "from 1 to 65536 cells"),
        ({"a": range(300), "b": range(300)}, ParameterError, "from 1 to 65536 cells"),
        ({"a": []}, ParameterError, "at least one"),
        ({"a": [1, 1]}, ParameterError, "must be different"),
        ({"a": "words"}, ParameterTypeError, "must list the categories"),
        (0, ParameterError, "universe must be at least 1"),
        ("all", ParameterTypeError, "universe must be a whole number"),
        (None, ParameterError, "universe must be given"),
        ({"b": [1]}, ParameterError, "must have the universe's column 'b'"),
    ],
)
def test_bad_universes(universe, error, text):
    with pytest.raises(error, match=text):
        QueryServer({"a": [1, 2]}, universe=universe)


def test_bad_parameters():
    with pytest.raises(ParameterTypeError, match="dependence must be Iid"):
        QueryServer([0], universe=2, dependence="iid")
    with pytest.raises(ParameterError, match="training must have at least one row"):
        QueryServer([0], guess="split", training=[])
    with pytest.raises(ParameterError, match="from 1 to 65536 cells"):
        QueryServer({"a": [0]}, universe={})
    with pytest.raises(ParameterError, match="guess must be"):
        QueryServer([0], universe=2, guess="best")
    with pytest.raises(ParameterError, match="prior must be left out"):
        QueryServer([0, 1], guess="split", prior=[1, 2])
    with pytest.raises(ParameterError, match="training and groups must be left out"):
        QueryServer([0], universe=2, training=[1])
    with pytest.raises(ParameterError, match="threshold must be above 0"):
        QueryServer([0], universe=2, threshold=0)
    with pytest.raises(ParameterError, match="one value for each of 2 rows"):
        QueryServer([0], universe=2).ask([1.0, 0.0, 1.0])
    with pytest.raises(ParameterError, match="guess must be finite"):
        QueryServer([0], universe=2).ask([1.0, 0.0], guess=np.nan)
    with pytest.raises(ParameterTypeError, match="guess must be a number"):
        QueryServer([0], universe=2).ask([1.0, 0.0], guess="much")
    with pytest.raises(ParameterError, match="equally long"):
        QueryServer({"a": [1], "b": [1, 2]}, universe={"a": [1], "b": [1]})
    with pytest.raises(ParameterError, match="guess must be 'weights'"):
        _ = QueryServer([0, 1], guess="split").hypothesis


# --- ledgers


def test_a_ledger_in_a_file_is_shared(tmp_path):
    ledger = TranscriptLedger(1000, beta=0.01, path=tmp_path / "rows.ledger")
    rows = [0] * 700 + [1] * 300
    first = QueryServer(rows, universe=2, ledger=ledger)
    first.ask([1.0, 0.0])
    bits = first.bits
    second = QueryServer(rows, universe=2, ledger=TranscriptLedger.open(tmp_path / "rows.ledger"))
    assert second.bits == bits > 0
    assert second.certificate().beta == 0.01
    second.ask([1.0, 0.0])
    assert first.bits == second.bits > bits


def test_a_ledger_must_be_of_these_rows():
    with pytest.raises(ParameterError, match="ledger must be of the 2 rows"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(3))
    with pytest.raises(ParameterError, match="beta must be the ledger's"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(2), beta=0.1)
    with pytest.raises(ParameterError, match="dependence must be the ledger's"):
        QueryServer([0, 1], universe=2, ledger=TranscriptLedger(2), dependence=Blocks(2))


def until_refused(server, guess):
    """Ask the same until it is refused; return how often it was answered."""
    for asked in range(10_000):
        try:
            server.ask([0.0, 1.0], guess=guess)
        except BudgetExceededError:
            return asked
    return None


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_refusal_does_not_depend_on_the_rows(share):
    """Nothing is answered where a surprise would not fit, surprise or not."""
    rows = np.random.default_rng(0).random(3000) < share
    ledger = TranscriptLedger(3000, target=0.06)
    server = QueryServer(rows, universe=2, ledger=ledger)
    assert until_refused(server, share) > 5
    before = ledger.spent
    assert server.hard == 0
    assert ledger.halfwidth() <= 0.06
    with pytest.raises(BudgetExceededError, match=r"must stay at most 0\.06"):
        server.ask([0.0, 1.0], guess=0.2)
    assert ledger.spent == before


def test_refusals_come_at_the_same_question():
    counts = []
    for share in (0.5, 0.52):
        rows = np.arange(3000) < 3000 * share
        server = QueryServer(rows, universe=2, ledger=TranscriptLedger(3000, target=0.06))
        counts.append(until_refused(server, 0.5))
    assert counts[0] == counts[1] > 5


def test_a_surprise_that_fits_is_answered_at_any_question():
    """Whether it is a surprise is never told by a refusal: the last question may be one too."""

    def fresh():
        ledger = TranscriptLedger(3000, target=0.06)
        return QueryServer(np.arange(3000) < 1500, universe=2, ledger=ledger)

    answered = until_refused(fresh(), 0.5)
    for nods in (0, answered // 2, answered - 1):
        server = fresh()
        for _ in range(nods):
            server.ask([0.0, 1.0], guess=0.5)
        assert server.ask([0.0, 1.0], guess=0.3).source == "data"


# --- guess and check


def test_split_answers_within_its_ends():
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 100, 20_000)
    server = QueryServer(ages, guess="split", source=SeededSource(1))
    for limit in range(100):
        answer = server.ask(lambda rows, limit=limit: rows < limit)
        assert answer.lower <= limit / 100 <= answer.upper
        assert answer.source == "hypothesis"
    assert server.ledger.n == 10_000
    assert server.certificate().halfwidth < 0.08


def test_split_corrects_what_is_fitted_to_the_training_rows():
    rng = np.random.default_rng(2)
    train, check = rng.integers(0, 10**9, (2, 2000))
    server = QueryServer(check, guess="split", training=train)
    answer = server.ask(lambda rows: np.isin(rows, train))
    assert server.guess(lambda rows: np.isin(rows, train)) == 1
    assert answer.source == "data"
    assert answer.value <= 0.05
    assert answer.lower == 0


@pytest.mark.parametrize("seed", range(5))
def test_blocks_stay_whole(seed):
    train, check = halves(1000, Blocks(10), source=SeededSource(seed))
    assert not set(train // 10) & set(check // 10)
    assert len(train) == len(check) == 500
    assert sorted([*train, *check]) == list(range(1000))
    labels = np.random.default_rng(seed).integers(0, 50, 1000)
    train, check = halves(1000, Blocks(40), groups=labels, source=SeededSource(seed))
    assert not set(labels[train]) & set(labels[check])
    assert sorted([*train, *check]) == list(range(1000))


def test_splits_are_drawn_by_chance():
    counts = np.zeros(6)
    for seed in range(2000):
        counts[halves(6, Iid(), source=SeededSource(seed))[0]] += 1
    assert np.abs(counts / 2000 - 0.5).max() < 6.2 * 0.5 / 2000**0.5


@pytest.mark.parametrize("dependence", [Markov(0.5), Custom("own", lambda n, t: (t + 1) / n)])
def test_dependent_rows_are_not_split(dependence):
    rows = np.arange(100)
    with pytest.raises(ParameterError, match="training must be given"):
        QueryServer(rows, guess="split", dependence=dependence)
    server = QueryServer(rows, guess="split", dependence=dependence, training=rows)
    assert server.ask(lambda x: x < 50).value == pytest.approx(0.5)
    with pytest.raises(ParameterError, match="at least 2 independent blocks"):
        QueryServer(rows, guess="split", dependence=Blocks(100))


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_split_of_frames(kind):
    columns = {"age": np.arange(100), "sex": np.array(["f", "m"] * 50)}
    rows = columns
    if kind == "pandas":
        rows = pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        rows = pytest.importorskip("polars").DataFrame(columns)
    server = QueryServer(rows, guess="split", threshold=0.5)
    assert server.ledger.n == 50
    assert 0.2 < server.ask(lambda d: d["age"] > 49).value < 0.8


def test_split_over_a_universe():
    server = QueryServer(np.arange(1000) % 4, universe=4, guess="split")
    assert server.ask(lambda code: code == 0).value == pytest.approx(0.25, abs=0.1)


def test_a_query_that_fails_on_private_rows_says_nothing(capsys, recwarn):
    rows = np.array([1.0, 2.0, 0.0])
    failing = [
        lambda x: 1 / 0 if (x == 0).any() else x,
        lambda x: x[x > 0],
        lambda x: np.full(len(x), "no"),
        lambda x: np.full(len(x), np.nan),
    ]
    for query in failing:
        server = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
        assert server.ask(query).value <= 0.1
    dividing = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
    assert dividing.ask(lambda x: 1 / x).value > 0.5
    assert dividing.ask(lambda x: warnings.warn("zero", stacklevel=1) or x >= 0).value > 0.5
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_queries_cannot_write_to_the_rows():
    rows = np.array([3, 1, 2])
    server = QueryServer(rows, guess=lambda query: 0.5)  # noqa: ARG005
    server.ask(lambda x: x.sort() or x > 1)
    server.ask(lambda x: x.__setitem__(0, 9) or x > 1)
    assert rows.tolist() == [3, 1, 2]
    assert server.ask(lambda x: x > 1).value == pytest.approx(2 / 3, abs=0.05)


def test_public_rows_may_fail_loudly():
    server = QueryServer([1, 2, 3], guess="split", training=[1, 2])
    with pytest.raises(ZeroDivisionError):
        server.ask(lambda rows: 1 / 0)  # noqa: ARG005
    with pytest.raises(ParameterError, match="one value for each of 2 rows"):
        server.ask(lambda rows: rows[:1])
    with pytest.raises(ParameterTypeError, match="query must be a function"):
        server.ask([0.0, 1.0])
    assert server.answers == 0


def test_guesses_of_your_own():
    server = QueryServer([0] * 600 + [1] * 400, universe=2)
    law = server.hypothesis
    assert server.ask([1.0, 0.0], guess=0.58).source == "hypothesis"
    assert server.ask([1.0, 0.0], guess=0.9).source == "data"
    assert np.array_equal(server.hypothesis, law)
    told = QueryServer([0] * 500 + [1] * 500, universe=2, guess=lambda query: query[0])
    assert told.ask([0.5, 0.5]).bits == 0
    assert told.ask([0.9, 0.0]).value == pytest.approx(0.45, abs=0.05)
    assert told.most_hard is None


# --- what is said


def test_report_keeps_proof_and_attacks_apart():
    server = QueryServer([0, 1], universe=2)
    server.ask([1.0, 0.0])
    proved, tried = report(server, {"overfitting": 0.01}).splitlines()
    assert proved.startswith("proved: all 1 answers within")
    assert "overfitting" not in proved
    assert tried == "tried, which proves nothing: overfitting 0.01"
    assert report(server).count("\n") == 0


def test_certificate_names_its_grounds():
    server = QueryServer(np.zeros(100, int), universe=2, dependence=Blocks(5))
    assert server.certificate().halfwidth == 0
    server.ask([1.0, 0.0])
    text = server.certificate().grounds
    assert "union bound over transcripts" in text
    assert "rows blocks" in text
    assert json.dumps(text)
