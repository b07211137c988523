"""Besov norms by closed forms, densities of a ball, and risks over it."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from sourdine.errors import ParameterError
from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.wavelets import Basis, Level
from sourdine_lab.besov import (
    Ball,
    Expansion,
    besov_norm,
    expansion,
    risk_over,
    thresholded_risk,
    worst_risk,
)
from sourdine_lab.experiments.dubois.risks import kept, noisy

SPACES = [(0.75, 1, 1), (0.75, 2, inf), (1.5, 1, 2), (1.25, inf, inf), (1, 4, 3)]


def bumps(heights, j, wavelet="db8"):
    """Return psi of level j with these heights, from the first within [0, 1] on, on cells."""
    basis = Basis(wavelet, 14, 0, 11)
    c = np.zeros(basis.size(Level("psi", j)))
    c[basis.wavelet.length :][: len(heights)] = heights
    return basis.rebuild(Level("psi", j), c)


@pytest.mark.parametrize(("s", "p", "q"), SPACES)
@pytest.mark.parametrize("j", [5, 8])
def test_besov_norm_of_basis_functions(s, p, q, j):
    weight = 2 ** (j * (s + 0.5 - 1 / p))
    assert besov_norm(bumps([1.0], j), s, p, q) == pytest.approx(weight, rel=2e-3)
    three = bumps([0.3, -0.4, 1.2], j)
    closed = weight * np.linalg.norm([0.3, 0.4, 1.2], p)
    assert besov_norm(three, s, p, q) == pytest.approx(closed, rel=2e-3)
    both = three + bumps([2.0], j + 1)
    other = 2 * 2 ** ((j + 1) * (s + 0.5 - 1 / p))
    closed = np.linalg.norm([closed, other], q)
    assert besov_norm(both, s, p, q) == pytest.approx(closed, rel=5e-3)


@pytest.mark.parametrize(("s", "p", "q"), SPACES)
def test_besov_norm_is_a_norm(s, p, q):
    rng = np.random.default_rng(1)
    f, g = (np.repeat(rng.normal(size=64), 64) for _ in range(2))
    assert besov_norm(-3 * f, s, p, q) == pytest.approx(3 * besov_norm(f, s, p, q))
    total = besov_norm(f, s, p, q) + besov_norm(g, s, p, q)
    assert besov_norm(f + g, s, p, q) <= total * (1 + 1e-12)
    assert besov_norm(0 * f, s, p, q) == 0


@pytest.mark.parametrize("seed", range(4))
def test_besov_spaces_are_embedded(seed):
    rng = np.random.default_rng(seed)
    f = Expansion(0, rng.normal(size=15), tuple(rng.normal(size=15 + 2**j) for j in range(9)))
    for s, p, q in SPACES[:3]:
        larger = f.norm(s, p, q)
        for u in (p, 2 * p, inf):
            assert f.norm(s - 1 / p + 1 / u, u, q) <= larger * (1 + 1e-12)
        assert f.norm(s - 0.25, p, q) <= larger
        assert f.norm(s, p, q + 1) <= larger * (1 + 1e-12)


def test_besov_norms_tell_smooth_from_rough():
    def step(x):
        return np.where(x < 0.3, 2.0, 0.5)

    for s, p, bounded in ((0.4, 2, True), (0.75, 2, False), (0.75, 1, True)):
        coarse, fine = (besov_norm(step, s, p, inf, bits=bits) for bits in (10, 15))
        assert (fine < 1.1 * coarse) is bounded


def test_l2_norm_is_that_of_the_coefficients():
    x = (np.arange(4096) + 0.5) / 4096
    f = np.sin(np.pi * x) ** 4
    found = expansion(f)
    total = (found.alpha**2).sum() + sum((beta**2).sum() for beta in found.beta)
    assert total == pytest.approx((f**2).mean() + 0.0, rel=1e-5)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"s": 2}, "s must be above 0 and below N . 1 = 2 of db8"),
        ({"s": 0.5, "wavelet": "haar"}, "below N . 1 = 0 of haar"),
        ({"p": 0.5}, "p and q must be at least 1"),
        ({"f": np.ones(5)}, "f must be a function, or heights"),
    ],
)
def test_what_is_no_norm_is_refused(wrong, said):
    with pytest.raises(ParameterError, match=said):
        besov_norm(**{"f": np.ones(64), "s": 1, "p": 2, "q": 2, **wrong})


@pytest.mark.parametrize(("s", "p", "q"), [(0.75, 2, inf), (0.75, 2, 2), (1.5, 1, 2), (0.6, 4, 1)])
def test_members_of_a_ball_are_densities_of_the_class(s, p, q):
    ball, rng = Ball(s, p, q, radius=9), np.random.default_rng(2)
    drawn = [ball.draw(rng) for _ in range(12)] + [ball.hardest(6, m) for m in (1, 5, 18)]
    for f in drawn:
        assert f.min() >= 0
        assert f.mean() == pytest.approx(1, abs=1e-6)
        assert ball.norm(f) <= 9
        assert ball.contains(f)
        assert ball.norm(f) > ball.norm(ball.centre)
    assert np.std([np.ptp(f) for f in drawn]) > 0
    assert max(ball.norm(f) for f in drawn) > 0.5 * 9


def test_what_is_not_in_a_ball():
    ball = Ball(0.75, 2, inf, radius=4)
    assert ball.contains(ball.centre)
    assert not ball.contains(2 * ball.centre)
    assert not ball.contains(ball.centre - 0.5 + 0.5 * (np.arange(4096) < 2048) * 2)
    with pytest.raises(ParameterError, match="radius must be above"):
        Ball(0.75, 2, inf, radius=0.5)


@pytest.mark.parametrize("r", [1, 2, 6])
def test_thresholded_risk_is_that_of_draws(r):
    z = np.random.default_rng(3).normal(size=400_000)
    for beta in (0.0, 1.0, 2.5, 4.0):
        for least in (0.0, 2.0):
            drawn = beta + 0.7 * z
            off = np.abs(np.where(np.abs(drawn) >= least, drawn, 0) - beta) ** r
            found = thresholded_risk(beta, 0.7, least, r)
            assert found == pytest.approx(off.mean(), abs=5 * off.std() / len(z) ** 0.5 + 1e-12)


def test_risk_over_the_line_is_that_of_simulations():
    """The line is [0, 1] and some noise beyond."""
    n, rng = 10**9, np.random.default_rng(4)
    rule, f = Dubois.printed(n, 1), Ball(0.75, 2, inf, radius=6).draw(rng)
    within = [((kept(rule.basis, noisy(rule, n, f, rng), rule.thresholds(n)) - f) ** 2).mean()
              for _ in range(30)]  # fmt: skip
    phi = rule.basis.size(rule.basis.levels[0])
    share = 2**rule.first / phi  # of the noise, the part within the bounds
    assert share * risk_over(rule, n, f) < np.mean(within) < risk_over(rule, n, f)


def test_worst_risk_is_above_that_of_every_member_and_falls_as_the_theorem_says():
    n = 10**9
    rule, ball = Dubois.printed(n, 1), Ball(0.75, 2, inf, radius=6)
    rng = np.random.default_rng(5)
    members = [ball.draw(rng) for _ in range(10)] + [ball.hardest(j, 8) for j in ball.levels]
    worst = worst_risk(n, s=0.75, p=2, radius=6)
    assert max(risk_over(rule, n, f) for f in members) < worst
    sizes = np.logspace(40, 100, 5)
    found = [worst_risk(n, s=1, p=2, wavelet="db20", gamma=4) for n in sizes]
    slope = np.polyfit(np.log(sizes / np.log(sizes) ** 4), np.log(found), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.02)


def test_linear_worst_risk_is_bias_and_variance():
    fine, coarse = (worst_risk(1e12, s=1, p=2, level=j) for j in (14, 2))
    best = min(worst_risk(1e12, s=1, p=2, level=j) for j in range(2, 14))
    assert best < fine
    assert best < coarse
