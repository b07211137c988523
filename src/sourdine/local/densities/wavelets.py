r"""Orthogonal wavelets on a public dyadic grid, in whole numbers.

People's values lie at the middles of :math:`2^b` cells of [0, 1]. There
:math:`2^j x` is a dyadic number, so the wavelets' values follow from those at whole numbers by the
refinement equation. They are rounded once to multiples of :math:`2^{-16}`, and everything a person
computes is done on these whole numbers: a bound on them is a maximum over finitely many, exact,
whatever the rounding was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import accumulate
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import MissingExtraError, ParameterError
from sourdine.exact import given, integer

if TYPE_CHECKING:
    from types import ModuleType

    from sourdine.local.densities.density import Floats, Ints


UNIT = 1 << 16  # values of wavelets are whole multiples of 1/UNIT
LONGEST = 40
ROUNDS = 14
DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Level:
    r"""The functions :math:`2^{j/2} g(2^j x - k)` of one :math:`j`; :math:`g` is phi or psi."""

    kind: str
    j: int

    @property
    def height(self) -> float:
        return float(2 ** (self.j / 2))


@dataclass(frozen=True)
class Wavelet:
    r"""A compactly supported orthogonal wavelet, by its name in PyWavelets.

    Parameters
    ----------
    name
        Any of ``pywt.wavelist("haar")``, ``"db"``, ``"sym"``, ``"coif"`` with a filter of at most
        40 coefficients.

    Notes
    -----
    With the filter :math:`h_0, \ldots, h_L` the functions live on :math:`[0, L]` and obey

    .. math:: \varphi(x) = \sqrt 2 \sum_k h_k \varphi(2x - k), \qquad
              \psi(x) = \sqrt 2 \sum_k g_k \varphi(2x - k).

    *Claim*: at dyadic points the values obey these equations, the translates of phi add up to 1 and
    those of phi and psi are orthogonal. *Checked by* ``test_wavelets_at_dyadic_points``.

    References
    ----------
    .. [1] I. Daubechies, J. C. Lagarias, "Two-scale difference equations II", SIAM J. Math. Anal.
       23, 1992.
    .. [2] O. Rioul, "Simple regularity criteria for subdivision schemes", SIAM J. Math. Anal. 23,
       1992.

    Examples
    --------
    >>> Wavelet("db8").length, Wavelet("db8").moments, Wavelet("db8").smoothness
    (15, 8, 1)
    """

    name: str

    def __post_init__(self) -> None:
        pywt = _pywt()
        known = isinstance(self.name, str) and self.name in pywt.wavelist(kind="discrete")
        fits = known and self.name != "dmey" and pywt.Wavelet(self.name).orthogonal
        if not fits or pywt.Wavelet(self.name).rec_len > LONGEST:
            must = f"be an orthogonal wavelet of PyWavelets with at most {LONGEST} coefficients"
            raise ParameterError("wavelet", must, given(self.name), "Use {wavelet}.", wavelet="db4")

    @cached_property
    def filters(self) -> tuple[Floats, Floats]:
        wavelet = _pywt().Wavelet(self.name)
        return np.array(wavelet.rec_lo), np.array(wavelet.rec_hi)

    @property
    def length(self) -> int:
        """The length L of the support, a whole number."""
        return len(self.filters[0]) - 1

    @property
    def moments(self) -> int:
        return int(_pywt().Wavelet(self.name).vanishing_moments_psi)

    @cached_property
    def holder(self) -> float:
        r"""A lower bound of the order to which phi is Hölder continuous.

        With :math:`\sqrt 2 \sum_k h_k z^k = (1 + z)^p c(z)` and p vanishing moments, the p-th
        differences of phi on a grid of :math:`2^{-i}` are at most the norm

        .. math:: \max_n \sum_k |c^{(i)}_{n + 2^i k}|, \qquad
                  c^{(i)}(z) = \prod_{l < i} c(z^{2^l}),

        which is submultiplicative in i, so :math:`-\log_2(\text{norm})/i` is a bound for every i
        [2]_. *Checked by* ``test_smoothness_is_that_of_the_literature``.
        """
        taps = sqrt(2) * self.filters[0]
        for _ in range(self.moments):  # divide by 1 + z
            quotients = accumulate(taps[:-1].tolist(), lambda carry, tap: tap - carry, initial=0.0)
            taps = np.array([*quotients][1:])
        made, best = np.ones(1), 0.0
        for i in range(1, ROUNDS + 1):
            spread = np.zeros(2 * made.size - 1)
            spread[::2] = made
            made = np.convolve(spread, taps)
            rows = np.zeros((-(-made.size >> i), 1 << i))
            rows.ravel()[: made.size] = np.abs(made)
            best = max(best, -float(np.log2(rows.sum(axis=0).max())) / i)
        return best

    @property
    def smoothness(self) -> int:
        """The paper's N: phi has N + 1 bounded weak derivatives (-1 for none)."""
        return floor(self.holder) - 1

    @property
    def touching(self) -> int:
        r"""The paper's :math:`c_A = 2\lceil A \rceil + 1`, the support centred in [-A, A]."""
        return 2 * ceil(self.length / 2) + 1

    def values(self, kind: str, bits: int) -> Floats:
        """Return the values at ``m + t / 2**bits``, a row for each m below the length."""
        return _values(self, bits)[kind]

    def ticks(self, kind: str, bits: int) -> Ints:
        return np.rint(self.values(kind, bits) * UNIT).astype(np.int64)

    def peak(self, kind: str) -> float:
        """Return the largest absolute value on a grid of 2**-12, the paper's sup norm."""
        return float(np.abs(self.values(kind, 12)).max())


def _pywt() -> ModuleType:
    try:
        return import_module("pywt")
    except ImportError as error:
        hint = "In the checkout, run pip install '.[density]', or use {method}."
        tries = {"method": "square-wave"}
        raise MissingExtraError("density", "be installed", "", hint, **tries) from error


@lru_cache(32)
def _values(wavelet: Wavelet, bits: int) -> dict[str, Floats]:
    (h, g), length = wavelet.filters, wavelet.length
    # The refinement equation at 0, 1, ..., L - 1; the values add up to 1.
    m = np.arange(length)
    lag = 2 * m[:, None] - m[None, :]
    inside = (lag >= 0) & (lag <= length)
    matrix = sqrt(2) * np.where(inside, h[np.clip(lag, 0, length)], 0)
    equations = np.vstack([matrix - np.eye(length), np.ones(length)])
    phi = np.linalg.lstsq(equations, np.append(np.zeros(length), 1), rcond=None)[0]
    for level in range(bits - 1):
        phi = _refined(phi, h, 1 << level, length)
    finest = {"phi": h, "psi": g}.items()
    last = 1 << (bits - 1)
    return {kind: _refined(phi, taps, last, length).reshape(length, -1) for kind, taps in finest}


def _refined(phi: Floats, taps: Floats, step: int, length: int) -> Floats:
    """Return the two-scale sum on a grid twice as fine as that of phi, which has ``step``."""
    out = np.zeros(2 * step * length)
    for k, tap in enumerate(taps):
        start = k * step
        end = min(start + phi.size, out.size)
        out[start:end] += sqrt(2) * tap * phi[: end - start]
    return out


@dataclass(frozen=True)
class Basis:
    r"""The levels :math:`\varphi_{j_0}, \psi_{j_0}, \ldots, \psi_{j_1}` at the cells of [0, 1].

    Parameters
    ----------
    wavelet
        Its name.
    bits
        b: there are 2**b cells.
    first, last
        j0 and j1, with ``first <= last < bits``.

    Examples
    --------
    >>> basis = Basis("haar", bits=4, first=1, last=2)
    >>> [(level.kind, level.j, basis.size(level)) for level in basis.levels]
    [('phi', 1, 2), ('psi', 1, 2), ('psi', 2, 4)]
    >>> (basis.coefficients(basis.levels[1], np.array([0, 4, 15])) // UNIT).tolist()
    [[1, 0], [-1, 0], [0, -1]]
    """

    name: str
    bits: int
    first: int
    last: int

    def __post_init__(self) -> None:
        _ = self.wavelet
        bits = integer(self.bits, "bits", least=1, most=DEEPEST, example=DEEPEST)
        first, last = integer(self.first, "first", least=0), integer(self.last, "last", least=0)
        if not first <= last < bits:
            must = f"be at most last, and last below the number of bits ({bits})"
            got, hint = f"first {given(first)} and last {given(last)}", "Use {first} and {last}."
            raise ParameterError("first", must, got, hint, first=0, last=bits - 1)

    @cached_property
    def wavelet(self) -> Wavelet:
        return Wavelet(self.name)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        fine = (Level("psi", j) for j in range(self.first, self.last + 1))
        return (Level("phi", self.first), *fine)

    def size(self, level: Level) -> int:
        """Return how many functions of a level touch [0, 1]."""
        return (1 << level.j) + self.wavelet.length - 1

    def table(self, level: Level) -> Ints:
        """Return all values that people's coefficients of a level can take: a column a place."""
        step = 1 << level.j
        return np.asarray(self.wavelet.ticks(level.kind, self.bits + 1)[:, step :: 2 * step])

    def reach(self, level: Level) -> int:
        r"""Return :math:`\max_x \sum_k |g(2^j x - k)|` over all cells, in ticks: exact."""
        return int(np.abs(self.table(level)).sum(axis=0).max())

    def places(self, level: Level, ticks: Ints) -> tuple[Ints, Ints]:
        """Return, for each cell, the whole part of 2**j x and its column of `table`."""
        cells = self.bits - level.j
        return ticks >> cells, ticks & ((1 << cells) - 1)

    def coefficients(self, level: Level, ticks: Ints) -> Ints:
        """Return each person's values of the functions of a level, in ticks, a row a person."""
        whole, column = self.places(level, ticks)
        out = np.zeros((ticks.size, self.size(level)), np.int64)
        rows, table = np.arange(ticks.size), self.table(level)
        for m, values in enumerate(table):
            out[rows, whole - m + len(table) - 1] = values[column]
        return out

    def rebuild(self, level: Level, coefficients: Floats, power: int = 1) -> Floats:
        """Return the sum of the level's functions with these coefficients, at all cells.

        That of their squares, ``power=2``, is its variance for independent coefficients.
        """
        table = (self.table(level) * (level.height / UNIT)) ** power
        whole, column = self.places(level, np.arange(1 << self.bits))
        total = np.zeros(1 << self.bits)
        for m, values in enumerate(table):
            total += coefficients[whole - m + len(table) - 1] * values[column]
        return total
