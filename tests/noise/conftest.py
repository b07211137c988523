"""What the tests of the samplers share: a test of fit, and a source that says what it is told."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammaincc

from sourdine.noise import SeededSource

ALPHA = 1e-9


def fit(observed, probabilities):
    """p-value of the chi-square test; neighbouring bins are merged up to 25 expected draws."""
    observed = np.asarray(observed, float)
    expected = np.asarray(probabilities, float) * observed.sum()
    assert observed.shape == expected.shape
    assert abs(expected.sum() / observed.sum() - 1) < 1e-9
    if observed[expected == 0].any():
        return 0.0
    observed, expected = observed[expected > 0], expected[expected > 0]
    bins, filled = [], 0.0
    for i, e in enumerate(expected):
        if filled == 0.0:
            bins.append(i)
        filled = 0.0 if filled + e >= 25 else filled + e
    if len(bins) > 1 and expected[bins[-1] :].sum() < 25:
        bins.pop()
    if len(bins) == 1:
        return 1.0
    o, e = np.add.reduceat(observed, bins), np.add.reduceat(expected, bins)
    return float(gammaincc((len(bins) - 1) / 2, ((o - e) ** 2 / e).sum() / 2))


class ScriptedSource:
    """Gives the bytes it was told, then those of a seeded source."""

    private = False

    def __init__(self, script=b"", seed=0):
        self.script = bytes(script)
        self.rest = SeededSource(seed)
        self.beyond = 0

    def bytes(self, count):
        head, self.script = self.script[:count], self.script[count:]
        missing = count - len(head)
        self.beyond += missing
        return head + (self.rest.bytes(missing) if missing else b"")

    @staticmethod
    def words(*words):
        return b"".join(int(w).to_bytes(8, "little") for w in words)


@pytest.fixture
def fits():
    """Whether draws follow a law given on ``first, first + 1, ...`` (tails go to the ends)."""

    def check(draws, probabilities, first=0):
        last = first + len(probabilities) - 1
        counts = np.bincount(np.clip(draws, first, last) - first, minlength=len(probabilities))
        return fit(counts, probabilities) > ALPHA

    return check


@pytest.fixture
def scripted():
    return ScriptedSource


@pytest.fixture
def source():
    return SeededSource(20260101)


def exp_decimal(r: Fraction, digits: int = 140) -> Decimal:
    """e^-r, by the standard library's decimal arithmetic."""
    with localcontext(Context(prec=digits, Emin=-(10**9), Emax=10**9)):
        return (-Decimal(r.numerator) / Decimal(r.denominator)).exp()


@pytest.fixture
def exp_oracle():
    return lambda r: Fraction(exp_decimal(Fraction(r)))


def laplace_law(t, reach):
    """Probabilities on -reach..reach, the tails at the ends."""
    q = np.exp(-1 / float(t))
    k = np.abs(np.arange(-reach, reach + 1)).astype(float)
    law = (1 - q) / (1 + q) * np.exp(-k / float(t))
    law[0] = law[-1] = np.exp(-reach / float(t)) / (1 + q)
    return law


@pytest.fixture
def laplace():
    return laplace_law


def gaussian_law(variance, reach):
    k = np.arange(-reach, reach + 1).astype(float)
    law = np.exp(-k * k / (2 * float(variance)))
    return law / law.sum()


@pytest.fixture
def gaussian():
    return gaussian_law
