"""One bit a person: a random level, a random sign pattern, and a randomised sign."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import log, sqrt, tanh
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.exact import exp_neg, integer, positive
from sourdine.laws import Law
from sourdine.local.densities.density import DensityProtocol
from sourdine.local.densities.dubois import WaveletReport, paper_levels, people, rebuilt
from sourdine.local.densities.wavelets import UNIT, Level, Wavelet
from sourdine.mechanisms.mechanism import Specimen, read_beta, register

if TYPE_CHECKING:
    from sourdine.exact import Number
    from sourdine.local.densities.density import Floats, Ints
    from sourdine.noise import Source


SPAN = 2  # by default the levels reach so far below the finest


@frozen(kw_only=True)
class SignedLevel(WaveletReport):
    r"""Draw a level and a row of a Hadamard matrix; report them and one randomised bit.

    Of the :math:`J` levels one is drawn evenly, and one of the :math:`K` rows :math:`h` of the
    Hadamard matrix that has a column for each function of the level. With
    :math:`z = \sum_k h_k g(2^j x - k)`, of which :math:`|z| \le s` is known, the bit is 1 with
    probability

    .. math:: \frac12 + \frac{z}{2s} \tanh\frac{\varepsilon}{2}.

    Notes
    -----
    Level and row do not depend on the person; :math:`z` and :math:`s` are whole numbers of ticks.
    The bit is drawn in two exact steps: the sign rounded at random with probability
    :math:`(s + z)/2s`, then flipped with probability :math:`1/(1 + e^\varepsilon)`. *Claim*:
    :math:`\varepsilon`-LDP, tight where :math:`|z| = s` occurs with both signs. *Checked by*
    ``test_exact_worst_case[density.one-bit]`` and, for other wavelets, by
    ``test_one_bit_worst_case_of_all_pairs``. *Claim*: the estimated coefficients are unbiased.
    *Checked by* ``test_one_bit_coefficients_are_unbiased``.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally
       private estimation", JASA 113, 2018.
    .. [2] T. Kulkarni, G. Cormode, D. Srivastava, "Answering range queries under local differential
       privacy", VLDB 2019 (Haar coefficients by Hadamard response).

    Examples
    --------
    >>> SignedLevel(epsilon=1, bits_of_input=4, first=1, last=2).codes
    16
    """

    @cached_property
    def rows(self) -> tuple[int, ...]:
        return tuple(1 << (self.basis.size(v) - 1).bit_length() for v in self.basis.levels)

    @cached_property
    def starts(self) -> Ints:
        """The first code of each level, and the number of codes."""
        return np.append(0, np.cumsum(2 * np.array(self.rows)))

    @property
    def codes(self) -> int:
        return int(self.starts[-1])

    @property
    def block(self) -> int:
        return 1

    def signs(self, level: Level, ticks: Ints, row: Ints) -> Ints:
        whole, column = self.basis.places(level, ticks)
        table = self.basis.table(level)
        z = np.zeros(ticks.size, np.int64)
        for m, values in enumerate(table):
            odd = np.bitwise_count(row & (whole - m + len(table) - 1)) & 1
            z += np.where(odd, -values[column], values[column])
        return z

    def reports(self, codes: Ints, source: Source) -> Ints:
        """Draw level and row, round the sign at random, then flip it."""
        which = noise.uniform_below(len(self.rows), codes.size, source=source)
        drawn = np.empty(codes.size, np.int64)
        for r, level in enumerate(self.basis.levels):
            (mine,) = np.nonzero(which == r)
            row = noise.uniform_below(self.rows[r], mine.size, source=source)
            s = self.basis.reach(level)
            point = noise.uniform_below(2 * s, mine.size, source=source)
            up = point < s + self.signs(level, codes[mine], row)
            drawn[mine] = self.starts[r] + 2 * row + up
        b = exp_neg(self.epsilon)
        return drawn ^ noise.bernoulli(b / (1 + b), codes.size, source=source)

    def law(self, x: int) -> Law:
        slope = tanh(float(self.epsilon) / 2)
        parts = []
        for level, count in zip(self.basis.levels, self.rows, strict=True):
            z = self.signs(level, np.full(count, x), np.arange(count))
            tilt = slope * z / self.basis.reach(level)
            each = np.stack([1 - tilt, 1 + tilt], axis=1).ravel()
            parts.append(each / (2 * count * len(self.rows)))
        return Law.finite(np.log(np.concatenate(parts)))

    def loss(self, x: int, y: Ints) -> Floats:
        """Return 1 for a bit that is against the sign of z, 0 for one that is not."""
        wrong = np.zeros(self.codes)
        for r, (level, count) in enumerate(zip(self.basis.levels, self.rows, strict=True)):
            z = self.signs(level, np.full(count, x), np.arange(count))
            wrong[self.starts[r] : self.starts[r + 1]] = np.stack([z > 0, z < 0], axis=1).ravel()
        return np.asarray(wrong[y])

    def error(self, beta: Number = 0.05) -> float:
        """Return 1, unless ``beta`` is a half or more: a bit is never more often wrong."""
        return float(read_beta(beta) < 0.5)

    def averages(self, tally: Ints) -> tuple[list[Floats], list[float]]:
        r"""Return the coefficients of each level and their standard deviation.

        .. math:: \hat\beta_k = \frac{2^{j/2} s}{n_r \tanh(\varepsilon/2)} \sum_h h_k
                  \big(\#1_h - \#0_h\big)

        by the fast Walsh-Hadamard transform, from the :math:`n_r` people who drew the level.
        """
        means, deviations = [], []
        for r, level in enumerate(self.basis.levels):
            counts = np.asarray(tally[self.starts[r] : self.starts[r + 1]], np.float64)
            n = max(counts.sum(), 1.0)
            slope = tanh(float(self.epsilon) / 2)
            unit = self.basis.reach(level) / UNIT * level.height / slope
            turned = _walsh_hadamard(counts[1::2] - counts[::2])
            means.append(turned[: self.basis.size(level)] * (unit / n))
            deviations.append(unit / sqrt(n))
        return means, deviations


def _factor(x: Number) -> Fraction:
    return positive(x, "factor")


@frozen(kw_only=True, eq=False)
class OneBit(DensityProtocol):
    r"""A density from one bit a person, by wavelet coefficients.

    Parameters
    ----------
    bounds, epsilon
        The public bounds, and the privacy loss of one report.
    n
        How many people will answer, about: it sets the levels.
    wavelet
        A compactly supported orthogonal wavelet of PyWavelets.
    first, last
        The levels; if left out, the last is one below the paper's :math:`j_1`.
    factor
        The threshold in units of :math:`\sqrt{2 \ln N_j}` standard deviations.

    Examples
    --------
    >>> protocol = OneBit(bounds=(0, 1), epsilon=1, n=100_000)
    >>> protocol.report.first, protocol.report.last, protocol.report.bits
    (3, 5, 7)
    """

    n: int = field(converter=people)
    wavelet: str = "haar"
    first: int | None = None
    last: int | None = None
    factor: Fraction = field(default=Fraction(11, 10), converter=_factor)

    @cached_property
    def report(self) -> SignedLevel:
        finest = max(0, paper_levels(self.n, self.epsilon, Wavelet(self.wavelet))[1] - 1)
        last = finest if self.last is None else self.last
        first = max(0, integer(last, "last") - SPAN) if self.first is None else self.first
        return SignedLevel(
            epsilon=self.epsilon, wavelet=self.wavelet, bits_of_input=self.bits,
            first=first, last=last,
        )  # fmt: skip

    @property
    def method(self) -> str:
        return f"one bit a person on {self.wavelet} coefficients, thresholded"

    def read(self, tally: Ints, n: int) -> tuple[Floats, Floats]:
        means, deviations = self.report.averages(tally)
        basis = self.report.basis
        thresholds = [
            float(self.factor) * sqrt(2 * log(basis.size(level))) * sd * (level.kind == "psi")
            for level, sd in zip(basis.levels, deviations, strict=True)
        ]
        return rebuilt(basis, means, deviations, thresholds, cap=True)


def _walsh_hadamard(a: Floats) -> Floats:
    """Multiply by the Hadamard matrix whose signs are the parities of common bits."""
    half = 1
    while half < a.size:
        pairs = a.reshape(-1, 2, half)
        a = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return a


register(
    Specimen(
        "density.one-bit", lambda e: SignedLevel(epsilon=e, bits_of_input=4, first=1, last=2),
        range(0, 16, 2),
    ),
)  # fmt: skip
