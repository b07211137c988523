"""The attacks succeed on what is naive and fail on ours."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from sourdine import noise
from sourdine.audit import precision_attack
from sourdine.audit.checks import rank_correlation, repeats_after_fork, timing_leak
from sourdine.mechanisms import Laplace


def test_precision_attack_breaks_float_laplace():
    naive = precision_attack(lambda x, n: x + np.random.default_rng(0).laplace(size=n))
    assert naive.succeeds
    assert naive.at_zero > 0.2
    assert naive.at_one == 0


def test_precision_attack_fails_on_the_grid():
    mechanism = Laplace(epsilon=1, sensitivity=2**40)  # ticks of 2**-40

    def release(x, n):
        return np.ldexp(mechanism.simulate(int(x * 2**40), n).astype(float), -40)

    ours = precision_attack(release)
    assert not ours.succeeds
    assert ours == (0.0, 0.0)
    assert (
        (release(0.0, 1000) > 0.25) & (release(0.0, 1000) < 0.5)
    ).any()  # the attack had targets


class Buffered:
    """A source that keeps bytes in the process, as a library did: fork copies them."""

    def __init__(self) -> None:
        self.store = b""

    def bytes(self, n: int) -> bytes:
        if len(self.store) < n:
            self.store = noise.SYSTEM.bytes(4096)
        taken, self.store = self.store[:n], self.store[n:]
        return taken


def test_noise_reused_after_fork_is_caught():
    source = Buffered()
    assert repeats_after_fork(lambda: source.bytes(16))


def test_our_noise_is_fresh_after_fork():
    mechanism = Laplace(epsilon=1, sensitivity=10**6)
    assert not repeats_after_fork(lambda: mechanism.simulate(0, 8).tobytes())
    assert not repeats_after_fork(lambda: noise.SYSTEM.bytes(16))
    single = [mechanism.release(0).value for _ in range(10)]
    assert mechanism.sampler._ahead, "values are drawn ahead"
    assert len(set(single)) == 10
    assert not repeats_after_fork(lambda: str(mechanism.release(0).value).encode())


def test_a_sampler_that_counts_up_to_its_noise_leaks_time():
    rng = np.random.default_rng(1)

    def linear():
        k = 0
        while rng.random() < 0.98:
            k += 1
        return k

    assert timing_leak(linear, calls=2000) > 0.9


def test_rank_correlation_is_spearman_s():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 9, 500), rng.integers(0, 9, 500)
    assert abs(rank_correlation(a, b) - spearmanr(a, b).statistic) < 1e-12
    assert rank_correlation(a, -a) < -0.999999
