"""Rows C5 to C8: the histogram method on uniform and on normal samples."""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, ndtr

from sourdine.errors import ParameterError
from sourdine_lab import bounds as b
from sourdine_lab.bounds.order_statistics import Rank

CALLS = 9


def below_edges(n, shares, rng):
    """Return the counts below the edges of cells with these shares."""
    return np.cumsum(rng.multinomial(n, shares))


def first_above(counts, threshold, epsilon, rng):
    """Return the 1-based cell that AboveThreshold names, the last if none."""
    noisy = counts + rng.laplace(0, 4 / epsilon, len(counts))
    over = noisy > threshold + rng.laplace(0, 2 / epsilon)
    return int(over.argmax()) + 1 if over.any() else len(counts)


def uniform_answers(n, q, epsilon, runs, seed=0):
    rng = np.random.default_rng(seed)
    k = b.histogram_steps(n)
    shares = np.full(k, 1 / k)
    each = epsilon / CALLS
    return np.array(
        [first_above(below_edges(n, shares, rng), q * n, each, rng) / k for _ in range(runs)]
    )


def normal_answers(n, q, epsilon, *, steps, runs, ends=(-5, 5), seed=0):
    rng = np.random.default_rng(seed)
    edges = np.linspace(*ends, steps + 1)
    shares = np.diff(ndtr(edges))
    shares[0] += ndtr(edges[0])
    beyond = max(0.0, 1 - shares.sum())
    cells = np.append(shares, beyond)  # values at the upper bound lie below no edge
    each = epsilon / CALLS
    return np.array(
        [edges[first_above(below_edges(n, cells, rng)[:-1], q * n, each, rng)] for _ in range(runs)]
    )


def surely_at_least(share, runs):
    """Return the share minus six standard errors."""
    return share - 6 * sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("m", [1, 7, 20, -2, 25])
def test_rank_moments_are_integrals(m):
    t = np.linspace(0, 1, 20_001)
    held = np.array([Rank(m, 20).at_most(x) for x in t])
    for x in (0.1, 0.37, 0.9):
        left, right = t <= x + 1e-12, t >= x - 1e-12
        assert Rank(m, 20).below(x) == pytest.approx(np.trapezoid(held[left], t[left]), abs=1e-4)
        above = np.trapezoid(1 - held[right], t[right])
        assert Rank(m, 20).above(x) == pytest.approx(above, abs=1e-4)


# C5 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "q", "epsilon", "gamma"),
    [
        (20_000, 0.5, 3, 0.025),
        (20_000, 0.1, 3, 0.021),
        (20_000, 0.9, 3, 0.022),
        (3000, 0.3, 9, 0.04),
    ],
)
def test_uniform_accuracy_holds(n, q, epsilon, gamma):
    runs = 400
    for beta in (0.5, 0.2, 0.05):
        claimed = b.histogram_accuracy(n, q, gamma, epsilon=epsilon, beta=beta)
        answers = uniform_answers(n, q, epsilon, runs)
        held = (np.abs(answers - q) <= gamma + 1 / b.histogram_steps(n)).mean()
        assert surely_at_least(claimed, runs) <= held
    assert b.histogram_accuracy(n, q, gamma, epsilon=epsilon, beta=0.5) > 0.4  # it says something


def test_uniform_accuracy_is_loose_by_less_than_a_factor_of_four():
    """The half width that 95% of the answers keep, against the one that is promised."""
    n, epsilon = 20_000, 3
    reached = np.quantile(np.abs(uniform_answers(n, 0.5, epsilon, 400) - 0.5), 0.95)
    assert b.histogram_accuracy(n, 0.5, reached, epsilon=epsilon) == 0
    assert b.histogram_accuracy(n, 0.5, 4 * reached, epsilon=epsilon, beta=0.04) > 0.95


def test_printed_uniform_accuracy_is_refuted():
    setting = {"epsilon": 0.05, "beta": 0.05}
    n, gamma = 100_000, 0.0265
    claimed = b.histogram_accuracy_printed(n, 0.5, gamma, **setting)
    assert claimed == pytest.approx(0.949, abs=0.001)
    answers = uniform_answers(n, 0.5, 0.05, runs=200)
    held = (np.abs(answers - 0.5) <= gamma + 1 / b.histogram_steps(n)).mean()
    assert held == pytest.approx(0.33, abs=0.1)
    assert b.histogram_accuracy(n, 0.5, gamma, **setting) <= held


def test_the_two_forms_agree_but_for_the_calls_and_whole_ranks():
    n, q, gamma = 50_000, 0.4, 0.01
    one = b.histogram_accuracy(n, q, gamma, epsilon=1, calls=1)
    printed = b.histogram_accuracy_printed(n, q, gamma, epsilon=1)
    assert one == pytest.approx(printed, abs=0.005)
    assert b.histogram_accuracy(n, q, gamma, epsilon=9) == one


def test_monotone_counts_need_half_of_alpha():
    n, q, gamma = 50_000, 0.4, 0.03
    doubled = b.histogram_accuracy(n, q, gamma, epsilon=2)
    assert b.histogram_accuracy(n, q, gamma, epsilon=1, monotone=True) == pytest.approx(doubled)
    assert doubled > b.histogram_accuracy(n, q, gamma, epsilon=1)


def test_the_report_s_number_of_cells():
    assert [b.histogram_steps(n) for n in (3, 100, 5000, 10**6)] == [4, 32, 880, 108_573]


def test_least_n():
    assert b.histogram_least_n(1, share=10) == 10_824
    assert b.histogram_least_n(1, share=20) == 23_304
    assert b.histogram_least_n_printed(1, share=10) == 905
    assert b.histogram_least_n_printed(1, share=20) == 2000


# C6 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "q", "epsilon"), [(5000, 0.5, 1), (5000, 0.1, 3), (20_000, 0.8, 3), (20_000, 0.5, 30)]
)
def test_uniform_error_holds(n, q, epsilon):
    errors = np.abs(uniform_answers(n, q, epsilon, 300) - q)
    bound = b.histogram_error(n, q, epsilon=epsilon)
    assert errors.mean() + 6 * errors.std() / sqrt(300) < bound
    assert bound < 20 * errors.mean()
    assert bound < max(q, 1 - q)


def test_uniform_error_is_the_integral_of_the_accuracy():
    n, q, epsilon, beta = 20_000, 0.3, 3, 0.01
    setting = {"epsilon": epsilon, "beta": beta, "steps": 40}
    t = np.linspace(0, 0.7, 4001)
    missed = [1 - b.histogram_accuracy(n, q, g, **setting) for g in t]
    integral = 1 / 40 + np.trapezoid(missed, t)
    assert b.histogram_error(n, q, **setting) == pytest.approx(integral, rel=0.01)


def test_printed_uniform_error_is_not_exceeded():
    for q in (0.1, 0.5, 0.9):
        assert b.histogram_error_printed(5000, q, epsilon=1) == pytest.approx(0.047, abs=5e-4)
    errors = np.abs(uniform_answers(5000, 0.5, 1, 300) - 0.5)
    assert errors.mean() == pytest.approx(0.015, abs=0.003)
    assert b.histogram_error(5000, 0.5, epsilon=9) < 0.047  # its proof is right for one call


@pytest.mark.parametrize("given", [None, 0.02, 0.3])
def test_printed_uniform_error_is_the_printed_formula(given):
    from scipy.special import betainc

    n, q, epsilon = 300, 0.1, 4
    k = 1.5 * n / log(n)
    beta = given or 1 / (sqrt(n) * log(n))
    alpha = 8 * log(3 * n / (beta * log(n))) / epsilon
    t = np.linspace(0, q, 20_001)
    plus, minus = n * q + alpha, n * q - alpha
    right = np.trapezoid(1 - betainc(plus, n - plus + 1, q + t), t)
    left = np.trapezoid(betainc(minus, n - minus + 1, q - t), t)
    last = (1 - q - 1 / k) * (1 + beta - betainc(plus, n - plus + 1, 2 * q))
    printed = 1 / k + q * beta + right + left + last
    bound = b.histogram_error_printed(n, q, epsilon=epsilon, beta=given)
    assert bound == pytest.approx(printed, rel=1e-5)


# C7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [23_304, 10**6, 10**9])
def test_asymptotic_bounds_hold(n, q):
    """They are above the finite one, which is checked by simulation, and have the rate."""
    finite = b.histogram_error(n, q, epsilon=1)
    sharp = b.histogram_asymptotic_sharp(n, q, epsilon=1)
    assert finite <= sharp < b.histogram_asymptotic(n, q, epsilon=1)
    assert sharp < 4 * finite


@pytest.mark.parametrize("n", [100, 2000, 10_000])
def test_the_sharp_asymptotic_bound_needs_no_large_sample(n):
    assert b.histogram_error(n, 0.5, epsilon=20) <= b.histogram_asymptotic_sharp(n, 0.5, epsilon=20)


def test_asymptotic_rate_is_one_over_the_root():
    n = 10**14
    assert sqrt(n) * b.histogram_asymptotic(n, 0.5, epsilon=1) == pytest.approx(
        2 * sqrt(pi / 2), rel=0.02
    )
    assert sqrt(n) * b.histogram_asymptotic_sharp(n, 0.5, epsilon=1) == pytest.approx(
        sqrt(pi / 2), rel=0.02
    )


def test_the_printed_asymptotic_bound_has_a_ninth_of_the_noise():
    n = 10**6
    apart = b.histogram_asymptotic(n, 0.5, epsilon=1) - b.histogram_asymptotic_printed(
        n, 0.5, epsilon=1
    )
    assert apart == pytest.approx(24 * 8 / n * log(3 ** (2 / 3) * n))
    assert b.histogram_asymptotic_printed(2000, 0.5, epsilon=1) > 0
    with pytest.raises(ParameterError, match="n must be at least 2000 for this epsilon, got 1999"):
        b.histogram_asymptotic_printed(1999, 0.5, epsilon=1)
    with pytest.raises(ParameterError, match="n must be at least 23304"):
        b.histogram_asymptotic(23_303, 0.5, epsilon=1)


# C8 ------------------------------------------------------------------------------------------


def true_eta(n, q, gamma):
    """Return how often fewer than qn values lie below d + gamma/2, or more below d - gamma/2."""
    d = b.normal_quantile(q)
    high = bdtr(np.ceil(q * n) - 1, n, ndtr(d + gamma / 2))
    low = bdtrc(np.ceil(q * n) - 1, n, ndtr(d - gamma / 2))
    return high + low


def true_mu(n, q, gamma, alpha):
    """Return the chances of fewer than alpha values in one and in the other interval, added."""
    d = b.normal_quantile(q)
    inner = ndtr(d + gamma / 2), ndtr(d - gamma / 2)
    outer = ndtr(d + gamma), ndtr(d - gamma)
    left, right = inner[1] - outer[1], outer[0] - inner[0]
    most = np.ceil(alpha) - 1
    return min(1.0, bdtr(most, n, left) + bdtr(most, n, right)) if most >= 0 else 0.0


def test_normal_deciles():
    assert [round(b.normal_quantile(i / 10), 3) for i in range(5, 10)] == [
        0.0, 0.253, 0.524, 0.842, 1.282,
    ]  # fmt: skip
    assert ndtr(b.normal_quantile(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize("n", [10, 100, 1000, 10_000])
def test_eta_holds(n):
    useful = 0
    for i in range(1, 10):
        for gamma in np.linspace(0.05, 2, 20):
            eta = b.normal_eta(n, i / 10, gamma)
            assert true_eta(n, i / 10, gamma) <= eta + 1e-12
            assert eta == pytest.approx(b.normal_eta(n, 1 - i / 10, gamma))  # by symmetry
            useful += eta < 0.1
    assert useful > 20 or n < 1000


@pytest.mark.parametrize("i", [6, 7, 8, 9])
def test_printed_eta_survives(i):
    d = b.normal_quantile(i / 10)
    for n in (10, 100, 1000, 10_000):
        for gamma in np.linspace(0.02 * d, 0.999 * d, 25):
            printed = b.normal_eta_printed(n, i / 10, gamma)
            assert true_eta(n, i / 10, gamma) <= printed + 1e-12
            assert b.normal_eta(n, i / 10, gamma) <= printed


def test_the_constants_of_the_printed_proof_are_wrong():
    assert 25 / (6 * pi) == pytest.approx(1.33, abs=0.005)  # claimed: at least 5


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_mu_holds(q):
    useful = 0
    for n in (1000, 10_000):
        for gamma in (0.1, 0.3, 1.0):
            for alpha in (0, 3, 20.5, 100):
                mu = b.normal_mu(n, q, gamma, alpha)
                assert true_mu(n, q, gamma, alpha) <= mu
                useful += mu < 0.1
    assert useful >= 3


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_normal_accuracy_holds(q):
    n, runs, gamma = 100_000, 300, 0.12
    setting = {"epsilon": 3, "steps": 500, "bounds": (-5, 5)}
    answers = normal_answers(n, q, 3, steps=500, runs=runs)
    held = (np.abs(answers - b.normal_quantile(q)) <= gamma + 10 / 500).mean()
    for beta in (0.5, 0.2, 0.05):
        lemmas = b.normal_accuracy(n, q, gamma, beta=beta, **setting)
        exact = b.normal_accuracy_exact(n, q, gamma, beta=beta, **setting)
        assert lemmas <= exact + 1e-12
        assert surely_at_least(exact, runs) <= held
    assert exact > 0.9
    assert b.normal_accuracy(n, q, 0.2, beta=0.05, **setting) > 0.9


def test_normal_accuracy_is_what_three_events_leave():
    n, q, gamma, beta = 20_000, 0.7, 0.1, 0.01
    alpha = 9 * 8 * log(2 * 50 / beta) / 3
    eta, mu = b.normal_eta(n, q, gamma), b.normal_mu(n, q, gamma, alpha)
    assert min(eta, mu) > 1e-6
    setting = {"epsilon": 3, "steps": 50, "bounds": (-5, 5), "beta": beta}
    assert b.normal_accuracy(n, q, gamma, **setting) == pytest.approx(1 - beta - eta - mu)


def test_normal_accuracy_needs_the_cell_width():
    """With 10 cells of width 1 an interval of half width gamma alone is missed."""
    n, q, gamma = 100_000, 0.9, 0.1
    setting = {"epsilon": 3, "steps": 10, "bounds": (-5, 5)}
    claimed = b.normal_accuracy_exact(n, q, gamma, **setting)
    answers = normal_answers(n, q, 3, steps=10, runs=300)
    away = np.abs(answers - b.normal_quantile(q))
    assert (away <= gamma + 1).mean() >= claimed > 0.9
    assert (away <= gamma).mean() < 0.1


def test_printed_normal_accuracy_is_refuted():
    n, q, gamma = 10**6, 0.9, 0.5
    assert b.normal_accuracy_printed(n, q, gamma, epsilon=1, steps=1) == pytest.approx(0.95)
    answers = normal_answers(n, q, 1, steps=1, runs=100)
    assert (np.abs(answers - b.normal_quantile(q)) <= gamma).mean() == 0
    corrected = b.normal_accuracy(n, q, gamma, epsilon=1, steps=1, bounds=(-5, 5))
    assert corrected > 0.9  # of |A - d| <= gamma + 10: true, and worth nothing


def test_the_printed_normal_theorem_is_empty_up_to_the_median():
    for q in (0.1, 0.5):
        with pytest.raises(ParameterError, match=r"q must be above 0\.5 in the printed form"):
            b.normal_accuracy_printed(10**6, q, 0.1, epsilon=1, steps=100)
    with pytest.raises(ParameterError, match=r"gamma must be above 0 and at most 1\.28"):
        b.normal_eta_printed(100, 0.9, 1.3)


def test_refusals():
    with pytest.raises(ParameterError, match="bounds must hold the quantile"):
        b.normal_accuracy(10**6, 0.9, 0.1, epsilon=1, steps=10, bounds=(0, 1))
    with pytest.raises(ParameterError, match="bounds must be in order"):
        b.normal_accuracy(10**6, 0.9, 0.1, epsilon=1, steps=10, bounds=(1, 0))
    with pytest.raises(ParameterError, match="q must be above 0 and below 1, got 1"):
        b.histogram_error(100, 1, epsilon=1)
