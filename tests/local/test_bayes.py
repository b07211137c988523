from __future__ import annotations

import numpy as np
import pytest

from sourdine.local.estimators.distribution import em

RNG = np.random.default_rng(4)
MATRIX = RNG.dirichlet(np.ones(7), 4).T
"""P(y | x) for 7 reports of 4 inputs."""


def likelihood(f, counts):
    return counts @ np.log(MATRIX @ f)


def test_em_finds_the_most_likely_frequencies():
    counts = RNG.multinomial(500, MATRIX @ [0.6, 0.0, 0.3, 0.1])
    f = em(MATRIX, counts, change=1e-12)
    gain = MATRIX.T @ (counts / 500 / (MATRIX @ f))
    assert f.sum() == pytest.approx(1)
    assert f.min() >= 0
    assert np.all(gain < 1 + 1e-4), "no frequency could grow and raise the likelihood"
    assert np.allclose(gain[f > 1e-3], 1, atol=1e-4)
    steps = [likelihood(em(MATRIX, counts, change=0, most=m), counts) for m in range(1, 30)]
    assert np.all(np.diff(steps) >= -1e-9), "it never falls"


def test_em_inverts_where_the_inverse_is_a_distribution():
    f = np.array([0.4, 0.3, 0.2, 0.1])
    assert np.allclose(em(MATRIX, 1e6 * (MATRIX @ f), change=1e-9), f, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("smooth", [False, True])
def test_em_takes_any_counts(smooth):
    impossible = np.vstack([MATRIX, np.zeros(4)])
    only = np.zeros(8)
    only[-1] = 9
    assert em(impossible, only, smooth=smooth).tolist() == [0.25] * 4
    assert em(MATRIX, np.zeros(7), smooth=smooth).tolist() == [0.25] * 4
    for counts in np.eye(7):
        f = em(MATRIX, 1e9 * counts, smooth=smooth, change=0, most=2000)
        assert np.isfinite(f).all()
        assert f.min() >= 0
        assert f.sum() == pytest.approx(1)
    sure = em(np.eye(4), [5, 0, 0, 5], smooth=smooth)
    assert sure.sum() == pytest.approx(1)


def test_smoothing_averages_neighbours():
    assert em(np.eye(5), [0, 0, 8, 0, 0], smooth=True, most=1).tolist() == [0, 0.25, 0.5, 0.25, 0]
    assert em(np.eye(3), [8, 0, 0], smooth=True, most=1).tolist() == [0.75, 0.25, 0]


def test_smoothing_follows_a_smooth_law_better():
    x, y = np.linspace(0, 1, 64), np.linspace(-0.25, 1.25, 96)
    wave = np.where(abs(y[:, None] - x) < 0.25, np.e, 1.0)
    wave /= wave.sum(axis=0)
    truth = np.exp(-(((x - 0.4) / 0.15) ** 2))
    truth /= truth.sum()
    counts = np.random.default_rng(1).multinomial(20_000, wave @ truth)
    rough, smooth = em(wave, counts), em(wave, counts, smooth=True)
    assert np.square(smooth - truth).sum() < 0.3 * np.square(rough - truth).sum()
