"""How many adaptive steps are proved, how many copies that takes, what a step costs."""

from __future__ import annotations

from itertools import combinations, product
from math import ceil, comb, exp, expm1, log, log1p, log10

import numpy as np
import pytest

from sourdine.adaptive.ledger.dependence import coin_divergence
from sourdine.adaptive.robust.proof import (
    ENDLESS,
    Proof,
    _holds,
    certified_steps,
    copies_needed,
    cost,
    crossover,
    plan_copies,
    step_divergence,
    stray,
)
from sourdine.adaptive.robust.wrapper import PrivateMedian, Robust
from sourdine.errors import ParameterError
from sourdine.mechanisms import Exponential
from sourdine.noise import SeededSource


def divergence(p, q):
    return float(np.sum(p * np.log(p / q)))


def law_of_a_step(values, sample, epsilon0, window):
    """The exact law of the cell, over all samples."""
    median = PrivateMedian(
        epsilon0=epsilon0, error=1.0, window=window, least=1.0, start=1.2 ** (window + 1)
    )
    mechanism = Exponential(epsilon=epsilon0, candidates=2 * window + 1, sensitivity=2)
    cells = range(2 * window + 1)
    laws = [
        mechanism.law(mechanism.read(median.scores(np.array(part)))).pmf(cells)
        for part in combinations(values, sample)
    ]
    return np.mean(laws, axis=0)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("epsilon0", [0.2, 1.0, 3.0])
@pytest.mark.parametrize(("copies", "sample"), [(1, 1), (3, 3), (3, 1), (4, 2), (5, 2)])
def test_one_step_says_no_more_than_the_bound(copies, sample, epsilon0):
    levels = (1.01, 1.3, 5.0)
    worst = 0.0
    for others in {tuple(sorted(v)) for v in product(levels, repeat=copies - 1)}:
        laws = [law_of_a_step((*others, y), sample, epsilon0, 1) for y in levels]
        worst = max(worst, *(divergence(p, q) for p in laws for q in laws))
    bound = step_divergence(sample, copies, epsilon0)
    assert worst <= bound
    assert bound <= 40 * worst * exp(epsilon0)  # and says something


@pytest.mark.slow
def test_any_three_neighbouring_choices_stay_within_the_bound():
    # the mixture of the proof, over scores that move by 1 at most, not only those of medians
    rng = np.random.default_rng(1)
    close = 0.0
    for _ in range(5000):
        m, q, eps = int(rng.integers(2, 6)), rng.uniform(0.01, 1), rng.uniform(0.1, 4)
        base = rng.choice([0.0, 1, 5, 50], m)
        three = base + rng.choice([-0.5, 0.5, 0], (3, m))
        a, b, c = (w / w.sum() for w in np.exp(eps / 2 * three))
        got = divergence((1 - q) * a + q * b, (1 - q) * a + q * c)
        copies = 10**6
        bound = step_divergence(max(1, round(q * copies)), copies, eps)
        assert got <= bound * (1 + 1e-4)
        close = max(close, got / bound)
    assert close > 0.4


def test_the_bounds_are_the_known_ones_at_their_ends():
    assert step_divergence(400, 400, 0.1) == pytest.approx(0.1**2 / 8)
    for sample, eps in ((1, 2.0), (25, 2.0), (100, 0.5)):
        amplified = log1p(sample / 200 * expm1(eps))
        assert step_divergence(sample, 200, eps) <= amplified**2 / 2


def test_coin_divergence():
    for a, b in ((0.3, 0.01), (0.5, 0.2), (0.01, 0.4)):
        expected = divergence(np.array([a, 1 - a]), np.array([b, 1 - b]))
        assert coin_divergence(a, b) == pytest.approx(expected)
    assert coin_divergence(0, 0.5) == coin_divergence(1, 0.5) == pytest.approx(log(2))


@pytest.mark.parametrize(("k", "w", "s"), [(20, 4, 7), (20, 15, 9), (10, 3, 10), (9, 0, 4)])
def test_stray_is_the_hypergeometric_mean(k, w, s):
    eps, cells = 1.5, 25
    expected = sum(
        comb(w, d) * comb(k - w, s - d) / comb(k, s) * min(1, 24 * exp(-eps * (s / 2 - d) / 2))
        for d in range(max(0, s - k + w), min(s, w) + 1)
    )
    assert stray(s, k, w, eps, cells=cells) == pytest.approx(expected, rel=2e-6)
    assert stray(s, k, w, eps, cells=cells) >= expected


@pytest.mark.slow
def test_a_step_strays_no_more_often_than_stated():
    rng = np.random.default_rng(2)
    worst = 0.0
    for _ in range(20):
        k, s, eps = 9, int(rng.integers(3, 8)), rng.uniform(1, 4)
        w = int(rng.integers(0, 4))
        f, alpha, window = 100.0, 0.5, 9
        right = f * (1 + rng.uniform(-0.37, 0.37, k - w))
        values = np.concatenate([right, f * rng.choice([0.2, 4.0], w)])
        median = PrivateMedian(
            epsilon0=eps, error=alpha, window=window, least=1.0, start=f * rng.uniform(0.8, 1.2)
        )
        mechanism = Exponential(epsilon=eps, candidates=2 * window + 1, sensitivity=2)
        answers = np.array([median.middle(median.first + i) for i in range(2 * window + 1)])
        bad = np.abs(answers / f - 1) > alpha
        chance = np.mean(
            [
                mechanism.law(mechanism.read(median.scores(np.array(part))))
                .pmf(range(2 * window + 1))[bad]
                .sum()
                for part in combinations(values, s)
            ]
        )
        bound = stray(s, k, w, eps, cells=2 * window + 1)
        assert chance <= bound
        worst = max(worst, chance / bound)
    assert worst > 0.1


# --- the certificate ----------------------------------------------------------------------------


def printed(k, s, eps, w, steps):  # the form of the research
    p0, beta, cells = 0.01, 0.05, 25
    said = k * steps * step_divergence(s, k, eps)
    apart = k * coin_divergence(w / k, p0) - log(steps)
    lost = steps * stray(s, k, w - 1, eps, cells=cells)
    return apart > 0 and (said + log(2)) / apart + lost <= beta


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("k", "s", "eps"), [(3000, 3000, 0.03), (3000, 300, 0.27), (900, 900, 0.1)]
)
def test_the_sharper_form_implies_the_printed_one(k, s, eps):
    best = certified_steps(k, sample=s, epsilon0=eps)
    wide = [
        t
        for t in range(1, 300)
        if any(printed(k, s, eps, w, t) for w in range(k // 50, k // 2, k // 50))
    ]
    assert max(wide, default=0) <= best
    assert best <= 1.6 * max(wide, default=0)


def test_all_steps_count_for_the_chance_of_many_wrong_copies():
    # nothing is told, and one step has many wrong copies with probability e^{-8}
    assert _holds(140, 0.05, 0.0, 8.0)
    assert not _holds(150, 0.05, 0.0, 8.0)  # 150 e^{-8} > 0.05
    assert not _holds(1, 0.0, 0.0, 8.0)


def test_a_hundred_copies_prove_nothing():
    for sample in (1, 10, 25, 50, 100):
        for eps in np.geomspace(0.02, 8, 13).tolist():
            assert certified_steps(100, sample=sample, epsilon0=eps) == 0
    r = Robust(AtHand, copies=100, sample=25, epsilon0=2, steps=10_000)
    assert r.certificate() == 0
    assert "100 copies are too few" in r.proof().grounds
    assert not r.proof()


def test_more_copies_prove_more_and_more_noise_costs():
    proved = [certified_steps(k, sample=k, epsilon0=60 / k) for k in (500, 1000, 2000, 4000, 8000)]
    assert proved == sorted(proved)
    assert proved[-1] > 10 * proved[0] > 0
    assert certified_steps(3000, sample=3000, epsilon0=0.0005) == 0  # all noise
    assert certified_steps(3000, sample=3000, epsilon0=3) == 0  # all told
    assert certified_steps(3000, sample=30, epsilon0=100_000) == 0
    loose = certified_steps(3000, sample=3000, epsilon0=0.03, beta=0.2)
    assert loose > certified_steps(3000, sample=3000, epsilon0=0.03) == 169
    assert certified_steps(3000, sample=3000, epsilon0=0.03, limit=50) == 50
    assert certified_steps(3000, sample=3000, epsilon0=0.03, wrong=0.6) == 0


@pytest.mark.parametrize("steps", [10, 100, 1000, 100_000])
def test_the_certificate_confirms_the_plan(steps):
    plan = plan_copies(steps, method="exponential")
    k = plan.copies
    assert certified_steps(k, sample=k, epsilon0=plan.noise) >= steps
    assert certified_steps(k // 2, sample=k // 2, epsilon0=2 * plan.noise) < steps


class AtHand:
    """A copy that is wrong on its own hundredth of the inputs, far off, and right on the rest."""

    def __init__(self, seed):
        self.seed, self.item = seed, 0

    def update(self, item):
        self.item = item

    def query(self):
        unlucky = (self.seed >> 7 * (self.item % 16)) % 100 == 0
        return 1e9 if unlucky else 1000.0


@pytest.mark.slow
def test_certified_answers_are_right():
    plan = plan_copies(10, method="exponential")
    rng, missed, runs = np.random.default_rng(3), 0, 60
    for run in range(runs):
        r = Robust(
            AtHand,
            copies=plan.copies,
            epsilon0=round(plan.noise, 6),
            steps=10,
            start=1000,
            source=SeededSource(run),
        )
        item, wrong = 0, False
        for _ in range(10):
            r.update(item)
            answer = r.query()
            wrong |= abs(answer / 1000 - 1) > 0.25
            item += answer <= 1000 or int(rng.integers(3))  # stay where it read high
        missed += wrong
    # proved at most 0.05 each; 15 of 60 would have a chance below 1e-9
    assert missed < 15


class Leaping(AtHand):
    """The same, about a value that goes where it is sent."""

    def update(self, item, value):
        self.item, self.value = item, value

    def query(self):
        return super().query() * self.value / 1000


@pytest.mark.slow
def test_certified_answers_after_leaps_are_right():
    plan = plan_copies(40, method="exponential")
    rng, missed, runs = np.random.default_rng(4), 0, 12
    for run in range(runs):
        r = Robust(
            Leaping,
            copies=plan.copies,
            epsilon0=round(plan.noise, 6),
            steps=40,
            source=SeededSource(run),
        )
        wrong, value, item = False, 1000.0, 0
        while r.looks < 25:  # what is left is enough for one more leap
            r.update(item, value)
            answer = r.query()
            wrong |= abs(answer / value - 1) > 0.25
            item += answer <= value or int(rng.integers(3))
            value = float(np.exp(rng.uniform(2, 9)))
        missed += wrong
    # proved at most 0.05 each; 9 of 12 would have a chance below 1e-9
    assert missed < 9


def test_the_certificate_of_a_wrapper_is_that_of_its_phase():
    terms = {"copies": 3000, "epsilon0": 0.03, "start": 1000}
    assert Robust(AtHand, steps=100, **terms).certificate() == 100
    long = Robust(AtHand, steps=100_000, **terms)
    assert int(long.proof()) == long.certificate() == 169
    assert "169 adaptive steps right with probability 0.95" in str(long.proof())
    assert "off by more than 0.1875 with probability 0.01" in long.proof().grounds
    assert "a step is a look" in long.proof().grounds
    assert "from answer to answer" not in long.proof().grounds  # nothing is assumed of the value
    assert Robust(AtHand, steps=100, source=SeededSource(1), **terms).certificate() == 0
    narrow = Robust(AtHand, steps=100, window=3, **terms)
    assert narrow.certificate() == 0
    assert "may never settle" in narrow.proof().grounds
    assert Robust(AtHand, steps=100, error=1, **terms).certificate() == 100


def test_switching_is_certified_by_flips():
    unsure = Robust(AtHand, method="switching", copies=200)
    assert unsure.certificate() == 0
    assert "take copies with wrong=0.00025" in unsure.proof().grounds
    sure = Robust(AtHand, method="switching", copies=200, wrong=0.0002)
    assert sure.certificate() == ENDLESS
    assert sure.proof().beta == pytest.approx(0.04)
    assert "any number of adaptive steps" in str(sure.proof())
    assert "changes 200 times at most" in sure.proof().grounds
    assert Robust(AtHand, method="switching", copies=5, steps=77).certificate() == 77


def test_a_proof_is_a_number():
    assert int(Proof(3, 0.05, "why")) == 3
    assert str(Proof(3, 0.05, "why")) == (
        "proved   3 adaptive steps right with probability 0.95\ngrounds  why"
    )


# --- planning -----------------------------------------------------------------------------------

RESEARCH = [
    *[
        (0.01, 10**i, k)
        for i, k in zip(range(2, 7), (832, 2951, 10471, 36308, 125893), strict=True)
    ],
    *[(0.001, 10**i, k) for i, k in zip(range(2, 6), (575, 2089, 7413, 25704), strict=True)],
]


@pytest.mark.parametrize(("wrong", "steps", "figure"), RESEARCH)
def test_copies_needed_are_those_of_the_research(wrong, steps, figure):
    # the figures stand on a grid of a hundredth of a decade, rounded up
    k = copies_needed(steps, wrong=wrong)
    assert round(10 ** (ceil(100 * log10(k)) / 100)) == figure
    assert 0.975 * figure < k <= figure
    assert 3.1 < copies_needed(steps, wrong=wrong, method="exponential") / k < 3.8


@pytest.mark.slow
def test_privacy_pays_from_eleven_thousand_changes_on():
    assert crossover() == pytest.approx(11_300, rel=0.04)
    assert copies_needed(10_000) > 10_000
    assert copies_needed(12_000) < 12_000


def test_cost_of_a_step():
    times = {"t_init": 5.0, "t_update": 0.25, "t_query": 0.5}
    assert cost(100, copies=30, sample=7, **times) == 30 * 5 / 100 + 30 * 0.25 + 7 * 0.5


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: copies_needed(0), "steps must be at least 1"),
        (lambda: copies_needed(10, method="laplace"), "method must be 'gaussian'"),
        (lambda: copies_needed(10, wrong=0.6), "wrong must be well below 1/2"),
        (
            lambda: certified_steps(10, sample=11, epsilon0=1),
            r"sample must be at most the number of copies \(10\)",
        ),
        (lambda: certified_steps(10, sample=1, epsilon0=0), "epsilon0 must be above 0"),
        (
            lambda: cost(10, t_init=-1, t_update=1, t_query=1, copies=1, sample=1),
            "t_init must be at least 0",
        ),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
