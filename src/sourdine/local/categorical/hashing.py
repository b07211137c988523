"""Local hashing and Hadamard response."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, expm1
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sourdine import noise
from sourdine.local.categorical.oracle import Oracle, share
from sourdine.mechanisms.mechanism import Specimen, register, settle
from sourdine.mechanisms.randomized_response import RandomizedResponse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.noise import Source


# ---- Local hashing: a random hash of the category, then randomised response on its few values ----


CELLS = 1 << 24
CHUNK = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalHashing(Oracle):
    r"""Report a random hash :math:`a` and the hashed category, the latter by randomised response.

    Let :math:`g` be prime and write a category in :math:`d` digits of base :math:`g`, with
    :math:`g^d \ge k`. The hash with key :math:`a`, uniform on :math:`\{0, \ldots, g-1\}^d`, is

    .. math:: h_a(x) = a_1 x_1 + \dots + a_d x_d \bmod g.

    The report is :math:`(a, y)` as one number of :math:`d + 1` digits, :math:`y = h_a(x)` with
    probability :math:`p` and each other value alike. It supports the :math:`v` with
    :math:`h_a(v) = y`:

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + g - 1}, \qquad q = \frac1g, \qquad
              \frac{q(1-q)}{(p-q)^2} =
              \frac{(e^\varepsilon + g - 1)^2}{(g - 1)(e^\varepsilon - 1)^2}

    :math:`g` is the prime of least variance, near :math:`e^\varepsilon + 1`, among those whose
    :math:`g^{d+1}` reports can be tallied (at most :math:`2^{24}`; so :math:`k \le 2^{23}`).

    Notes
    -----
    *Universal, exactly*: for :math:`x \ne v` some digit differs, and whatever the other digits of
    :math:`a`, the difference :math:`h_a(v) - h_a(x)` runs through all of the field as that digit of
    :math:`a` does: it is uniform. The error :math:`y - h_a(x)` of the response is independent of
    the key, so the two agree with chance exactly :math:`q = 1/g`, where hashes of a general-purpose
    library only come near. *Checked by*
    ``test_hashes_are_universal`` and ``test_supports_have_their_chances``. The key is drawn before
    the category is looked at. *Claim*: :math:`\varepsilon`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.hashing]``.

    The supports of all categories come from one Fourier transform of the tally: the cost does not
    depend on how many reports there are. *Checked by* ``test_supports_are_those_of_every_report``
    and ``test_supports_of_many_reports_are_exact``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017 (OLH).
    .. [2] J. L. Carter, M. N. Wegman, "Universal classes of hash functions", J. Computer and
       System Sciences 18(2), 1979.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> survey = LocalHashing(epsilon=1, categories=1000)
    >>> survey.values, survey.digits, survey.bits
    (3, 7, 13)
    >>> tally = survey.tally(survey.randomise([700] * 1000, source=SeededSource(1)))
    >>> bool(survey.support(tally).argmax() == 700)
    True
    """

    most: ClassVar[int] = CELLS // 2

    values: int = field(init=False, repr=False, compare=False)
    digits: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        k = self.categories
        g = min(primes_for(k), key=lambda g: _noise_variance(float(self.epsilon), g))
        settle(self, values=g, digits=digits_in(k, g))

    @property
    def codes(self) -> int:
        return int(self.values ** (self.digits + 1))

    @property
    def response(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=self.epsilon, categories=self.values)

    @property
    def miss(self) -> Real:
        """The chance of another value than the hash, to any precision."""
        return share(self.values - 1, 1, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        """The chances p of the hashed category, and q = 1/g of a collision."""
        return self.response.chances[0], 1 / self.values

    @property
    def noise_variance(self) -> float:
        return _noise_variance(float(self.epsilon), self.values)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        drawn, response = np.empty(codes.size, np.int64), self.response
        for start in range(0, codes.size, CHUNK):
            part = codes[start : start + CHUNK]
            key = noise.uniform_below(self.values**self.digits, part.size, source=source)
            hashed = self.hashed(key, part)
            said = response.reports(hashed, source)
            drawn[start : start + CHUNK] = key * self.values + said
        return drawn

    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        g = np.int32(self.values)
        a, b = np.asarray(key, np.int32), np.asarray(x, np.int32)
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int64)
        for _ in range(self.digits):
            (a, left), (b, right) = _divided(a, g), _divided(b, g)
            total += left * right
        return total % self.values

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        key, said = np.divmod(np.asarray(y), self.values)
        return np.equal(self.hashed(key, np.asarray(x)), said)

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        r"""Return the supports, :math:`\sum_a t(a, h_a(v))` for each category :math:`v`.

        With :math:`\omega = e^{2\pi i/g}` the sum picks :math:`y = h_a(v)` by
        :math:`\frac1g \sum_u \omega^{u(h_a(v) - y)}`, and :math:`u\,h_a(v)` is linear in the key:

        .. math:: \frac1g \sum_{u=0}^{g-1} \hat t(-u v_1, \ldots, -u v_d, u)

        of the Fourier transform :math:`\hat t` over all :math:`d + 1` digits. It is a whole number,
        and rounding finds it for up to :math:`10^{12}` reports.
        """
        g, d = self.values, self.digits
        transform = np.fft.rfftn(np.asarray(tally, np.float64).reshape((g,) * (d + 1)))
        rows = transform.reshape(g**d, -1)
        v, total = np.arange(self.categories), np.zeros(self.categories)
        for u in range(rows.shape[1]):
            at = np.zeros_like(v)  # the number of (-u v_1, ..., -u v_d) in the field
            for place in (g**i for i in range(d)):
                at += v // place % g * -u % g * place
            twice = 1 if u in (0, g - u) else 2  # u and -u are conjugates, and are taken at once
            total += twice * rows[at, u].real
        return np.rint(total / g).astype(np.int64)


def _divided(x: NDArray[np.int32], g: np.int32) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the digits of x before the last, and the last."""
    quotient = x // g
    return quotient, (x - quotient * g).astype(np.int64)


def _noise_variance(epsilon: float, g: int) -> float:
    return ((1 + (g - 1) * exp(-epsilon)) / expm1(-epsilon)) ** 2 / (g - 1)


def digits_in(categories: int, g: int) -> int:
    """Return how many digits of base g write a number of categories."""
    d = 1
    while g**d < categories:
        d += 1
    return d


def primes_for(categories: int) -> list[int]:
    """Return the primes whose reports can be tallied for a number of categories."""
    sieve = np.ones(int(CELLS**0.5) + 1, np.bool_)
    sieve[:2] = False
    for i in range(2, int(len(sieve) ** 0.5) + 1):
        sieve[i * i :: i] &= not sieve[i]
    primes = np.flatnonzero(sieve).tolist()
    return [g for g in primes if g ** (digits_in(categories, g) + 1) <= CELLS]


# ---- Hadamard response: a report of log k bits, read back by a fast transform --------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HadamardResponse(Oracle):
    r"""Report any :math:`y` of :math:`K` words with :math:`\langle x + 1, y\rangle` mostly even.

    :math:`K` is the least power of two above :math:`k`, and :math:`\langle a, b \rangle` the number
    of bits that are 1 in both. A report supports the categories :math:`v` for which
    :math:`\langle v + 1, y\rangle` is even:

    .. math:: p = \frac{e^\varepsilon}{e^\varepsilon + 1}, \qquad q = \frac12, \qquad
              \frac{q(1-q)}{(p-q)^2} = \left(\frac{e^\varepsilon + 1}{e^\varepsilon - 1}\right)^2

    Its variance is fine for small :math:`\varepsilon` only, but a report is short and a survey of
    many categories quickly read: the supports are one Walsh-Hadamard transform, in integers.

    Notes
    -----
    :math:`v + 1` is never 0, so the words are even for half of all :math:`y`. For
    :math:`v \ne x` the two parities are different linear forms, neither 0: within the even, and
    within the odd words of :math:`x`, half are even for :math:`v`. Hence :math:`q = 1/2` exactly.
    *Checked by* ``test_supports_have_their_chances``. *Claim*: :math:`\varepsilon`-LDP, no less.
    *Checked by* ``test_exact_worst_case[category.hadamard]``.

    References
    ----------
    .. [1] J. Acharya, Z. Sun, H. Zhang, "Hadamard response: estimating distributions privately,
       efficiently, and with little communication", AISTATS 2019.

    Examples
    --------
    >>> from sourdine.noise import SeededSource
    >>> survey = HadamardResponse(epsilon=1, categories=12)
    >>> survey.bits
    4
    >>> tally = survey.tally(survey.randomise([3] * 1000, source=SeededSource(1)))
    >>> bool(survey.support(tally).argmax() == 3)
    True
    """

    @property
    def codes(self) -> int:
        return 1 << self.categories.bit_length()

    @property
    def miss(self) -> Real:
        return share(1, 1, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        return 1 / (1 + exp(-float(self.epsilon))), 0.5

    @property
    def noise_variance(self) -> float:
        return ((1 + exp(-float(self.epsilon))) / expm1(-float(self.epsilon))) ** 2

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Decide the parity, take any word, and flip a bit of it if its parity is the other."""
        drawn, miss = np.empty(codes.size, np.int64), self.miss
        for start in range(0, codes.size, CHUNK):
            row = codes[start : start + CHUNK] + 1
            odd = noise.bernoulli(miss, row.size, source=source)
            word = noise.uniform_below(self.codes, row.size, source=source)
            wrong = np.bitwise_count(row & word) & 1 ^ odd
            drawn[start : start + CHUNK] = word ^ (row & -row) * wrong
        return drawn

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        return np.asarray(np.bitwise_count(np.asarray(y) & (x + 1)) & 1 == 0)

    def support(self, tally: NDArray[np.int64]) -> NDArray[np.int64]:
        r"""Return :math:`(n + \hat t_{v+1})/2`, from the Walsh-Hadamard transform of the tally."""
        t = np.array(tally, np.int64)
        for half in (1 << i for i in range(self.bits)):
            pairs = t.reshape(-1, 2, half)
            pairs[:, 0], pairs[:, 1] = pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1]
        return np.asarray((t[0] + t[1 : self.categories + 1]) // 2)


register(
    Specimen("category.hashing", lambda e: LocalHashing(epsilon=e, categories=7), range(7)),
    Specimen("category.hadamard", lambda e: HadamardResponse(epsilon=e, categories=6), range(6)),
)
