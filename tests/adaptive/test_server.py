"""The query server: what it tells, what it charges, and that its ends hold."""

from __future__ import annotations

import json
from fractions import Fraction
from math import log

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import Blocks, Iid
from sourdine.adaptive.query_server.guesses import Weights
from sourdine.adaptive.query_server.looks import Cell, Gaps, ToldCells
from sourdine.adaptive.query_server.server import QueryServer, report
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.privacy import SUBSTITUTE, Guarantee


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
    told = ToldCells()
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


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["point", "half", "zipf", "dirichlet", "lopsided"])
@pytest.mark.parametrize("error", [0.1, 0.2])
def test_surprises_stay_within_the_bound(kind, error):
    size, n, rng = 256, 4096, np.random.default_rng(8)
    laws = {
        "point": np.eye(size)[0],
        "half": np.repeat([2 / size, 0.0], size // 2),
        "zipf": zipf(size, 1.2),
        "dirichlet": rng.dirichlet(np.full(size, 0.05)),
        "lopsided": np.append(np.full(size - 1, 0.5 / (size - 1)), 0.5),
    }
    rows = sample(laws[kind], n)
    server = QueryServer(rows, universe=size, error=error)
    adversary(server, rows, size, 60)
    for _ in range(300):
        server.ask(rng.random(size) < rng.random())
    assert server.most_hard == int(log(size) / (2 * error**2))
    assert 0 < server.hard <= server.most_hard


def test_single_cells_one_by_one_stay_within_the_bound():
    size, error = 64, 0.1
    server = QueryServer(np.zeros(1000, int), universe=size, error=error)
    for cell in [*range(size), *range(size)]:
        server.ask(np.arange(size) == cell)
    adversary(server, np.zeros(1000, int), size, 500)
    assert server.hard <= server.most_hard


@pytest.mark.slow
def test_short_steps_keep_the_bound_where_slack_is_gone():
    """A point mass has no entropy, and the average is just beyond the threshold.

    A step to the middle of the cell would gain a twentieth of what the bound needs.
    """
    size, error = 1024, 0.1
    rng = np.random.default_rng(9)
    server = QueryServer(np.zeros(500, int), universe=size, error=error)
    for _ in range(1200):
        law = server.hypothesis
        query = (rng.random(size) < 0.5).astype(float)
        query[0] = min(1.0, (query[1:] @ law[1:] + 1.01 * error) / (1 - law[0]))
        server.ask(query)
    assert server.most_hard / 2 < server.hard <= server.most_hard == 346


def test_a_question_asked_again_is_not_hard_again():
    law = zipf(512)
    server = QueryServer(sample(law, 10_000), universe=512, error=0.05)
    for query in np.random.default_rng(1).random((50, 512)) < 0.3:
        first = server.ask(query)
        again = server.ask(query)
        assert again.source == "hypothesis"
        assert again.value == pytest.approx(first.value, abs=1e-9)


# --- the answers


def test_answers_are_within_the_error_of_the_sample():
    law, rng = zipf(128, 1.5), np.random.default_rng(2)
    rows = sample(law, 5000)
    share = np.bincount(rows, minlength=128) / 5000
    server = QueryServer(rows, universe=128, error=0.03)
    for _ in range(300):
        query = rng.random(128) ** rng.choice([1, 10])
        answer = server.ask(query)
        assert abs(answer.value - query @ share) <= 0.03 + 1e-12
        assert query.min() <= answer.lower <= answer.value <= answer.upper <= query.max()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("seed", range(4))
def test_all_answers_hold_their_ends(seed):
    law, rng = zipf(256), np.random.default_rng(seed)
    server = QueryServer(sample(law, 2000, seed), universe=256, error=0.05)
    told = overfit(server, law, 600, rng)
    assert all(answer.lower <= truth <= answer.upper for answer, truth in told)
    certificate = server.certificate()
    widest = max(max(a.value - a.lower, a.upper - a.value) for a, _ in told)
    assert certificate.halfwidth == pytest.approx(widest)
    assert certificate.answers == 600
    assert certificate.beta == 0.05


def test_ends_are_those_of_the_ledger_before_the_answer():
    server = QueryServer([0] * 600 + [1] * 400, universe=2, error=0.05)
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
    server = QueryServer([0] * 900 + [1] * 100, universe=2, error=0.05)
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


@pytest.mark.slow
def test_certified_at_a_hundred_thousand_rows():
    """A tenth of the ten thousand queries; ``benchmarks/queries.py`` asks all of them."""
    law = zipf(2**13)
    server = QueryServer(sample(law, 100_000), universe=2**13)
    told = overfit(server, law, 1000, np.random.default_rng(100))
    assert server.certificate().halfwidth <= 0.12
    assert all(answer.lower <= truth <= answer.upper for answer, truth in told)
    assert server.hard <= server.most_hard


def test_server_says_nothing_but_its_answers():
    """Two samples that lead to the same answers lead to the same everything."""
    law, rng = zipf(64), np.random.default_rng(0)
    queries = [rng.random(64) < 0.5 for _ in range(200)]
    one = QueryServer(sample(law, 4000), universe=64, error=0.1)
    first = [one.ask(query) for query in queries]
    rows = sample(law, 4000)
    rows[0] = (rows[0] + 1) % 64
    two = QueryServer(rows, universe=64, error=0.1)
    second = [two.ask(query) for query in queries]
    assert one.hard > 0
    assert first == second
    assert np.array_equal(one.hypothesis, two.hypothesis)
    assert str(one.certificate()) == str(two.certificate())


# --- what is refused


def test_bad_parameters():
    with pytest.raises(ParameterTypeError, match="dependence must be Iid"):
        QueryServer([0], universe=2, dependence="iid")
    with pytest.raises(ParameterError, match="training must have at least one row"):
        QueryServer([0], guess="split", training=[])
    with pytest.raises(ParameterError, match="from 1 to 65536 cells"):
        QueryServer({"a": [0]}, universe={})
    with pytest.raises(ParameterError, match="guess must be"):
        QueryServer([0], universe=2, guess="best")
    with pytest.raises(ParameterError, match="prior must be omitted"):
        QueryServer([0, 1], guess="split", prior=[1, 2])
    with pytest.raises(ParameterError, match="training must be omitted"):
        QueryServer([0], universe=2, training=[1])
    with pytest.raises(ParameterError, match="error must be above 0"):
        QueryServer([0], universe=2, error=0)
    with pytest.raises(ParameterError, match="one value for each of 2 rows"):
        QueryServer([0], universe=2).ask([1.0, 0.0, 1.0])
    for guess in (np.nan, 5, -0.1):
        with pytest.raises(ParameterError, match="guess must be between 0 and 1"):
            QueryServer([0], universe=2).ask([1.0, 0.0], guess=guess)
    with pytest.raises(ParameterError, match="guess must be between 0 and 1"):
        QueryServer([0], universe=2, guess=lambda query: 40).ask([1.0, 0.0])  # noqa: ARG005
    with pytest.raises(ParameterTypeError, match="guess must be a number"):
        QueryServer([0], universe=2).ask([1.0, 0.0], guess="much")
    with pytest.raises(ParameterError, match="columns of equal length"):
        QueryServer({"a": [1], "b": [1, 2]}, universe={"a": [1], "b": [1]})
    with pytest.raises(ParameterError, match="guess must be 'weights'"):
        _ = QueryServer([0, 1], guess="split").hypothesis
    for privacy in (None, Guarantee(1, 0, SUBSTITUTE)):
        with pytest.raises(
            ParameterTypeError,
            match="source must be a source of random bytes, got 3",
        ):
            QueryServer([0] * 9999, universe=2, error=0.1, privacy=privacy, source=3)


# --- what is said


def test_report_keeps_proof_and_attacks_apart():
    server = QueryServer([0, 1], universe=2)
    server.ask([1.0, 0.0])
    *proved, tried = str(report(server, {"overfitting": 0.01})).splitlines()
    assert proved[0].startswith("proved   all 1 answers within")
    assert not any("overfitting" in line for line in proved)
    assert tried == "tried    overfitting 0.01; this proves nothing"
    assert str(report(server)).splitlines() == proved
    assert "<th>tried</th>" in report(server, {"overfitting": 0.01})._repr_html_()


def test_certificate_names_its_grounds():
    server = QueryServer(np.zeros(100, int), universe=2, dependence=Blocks(5))
    assert server.certificate().halfwidth == 0
    server.ask([1.0, 0.0])
    text = server.certificate().grounds
    assert "union bound over transcripts" in text
    assert "rows blocks" in text
    assert json.dumps(text)


def test_report_demands_a_server_and_errors_by_name():
    server = QueryServer([0, 1], universe=2)
    for tried in (0.02, [0.02], {"overfitting": "much"}):
        with pytest.raises(
            ParameterTypeError, match="attacks must be a dict of the largest error by name"
        ):
            report(server, tried)
    with pytest.raises(
        ParameterTypeError, match="server must be a QueryServer, got a value of type dict"
    ):
        report({"overfitting": 0.01})


def test_a_server_shows_public_facts():
    server = QueryServer([0] * 700 + [1] * 300, universe=2)
    server.ask([1.0, 0.0])
    facts = f"n=1000, error=0.05, answers=1, surprises=1, bits={server.bits:.4g}"
    assert repr(server) == f"QueryServer({facts})"


@pytest.mark.parametrize("least", [1e-26, 1e-60, 1e-100, 1e-300])
def test_surprises_are_bounded_however_small_a_prior_is(least):
    rows = np.array([0, 1] * 500)
    server = QueryServer(rows, universe=2, error=0.2, prior=[1, least])
    query, asked = np.array([0.0, 1.0]), 0
    while server.ask(query).source == "data":
        asked += 1
        assert asked <= server.most_hard
    assert abs(server.hypothesis[1] - 0.5) <= 0.2
