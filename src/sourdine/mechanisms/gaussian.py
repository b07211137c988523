"""The Gaussian mechanism on integers, with three calibrations."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, expm1, log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, one_of
from sourdine.laws import Law, Product
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import (
    Additive,
    Specimen,
    add,
    read_beta,
    read_scale,
    read_ticks,
    register,
    within,
)
from sourdine.privacy import ADD_REMOVE, Concentrated, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source


Calibration = Literal["tight", "classic", "zcdp"]

REACH = 100.0  # the law describes the noise at least to weight e^-100 of its peak
WIDEST_SIGMA = 32  # in units of sensitivity / epsilon, for every delta from 1e-100 on
FINE = Fraction(1, 1 << 26)  # the precision of the tight variance
CHORD = 1e-8  # blocks of cells replace the parabola of the log weights by chords this close


def _method(x: Calibration) -> Calibration:
    return one_of(x, "method", "tight", "classic", "zcdp")


@frozen(kw_only=True)
class Gaussian(Additive["Value"]):
    r"""Add discrete Gaussian noise, :math:`P(x + k) \propto e^{-k^2/(2\sigma^2)}`.

    Parameters
    ----------
    epsilon, delta
        The guarantee; both above 0, delta below 1. The mechanism is not private for delta = 0.
    sensitivity
        :math:`\Delta`, the number of ticks by which the input can change; an integer.
    method
        How :math:`\sigma^2` is found:

        ===========  ==========================================================================
        ``tight``    the least :math:`\sigma^2` at which the hockey stick of the discrete law
                     itself is certainly at most delta, rounded up (by parts in a million; by
                     some percent for epsilon below 1e-4, where the law's slack weighs)
        ``classic``  :math:`2 \ln(1.25/\delta)\,\Delta^2/\varepsilon^2`; refused where the law
                     shows that it does not hold (it is proved for :math:`\varepsilon < 1` only)
        ``zcdp``     :math:`\Delta^2/(2\rho)`, :math:`\rho` converted from (epsilon, delta); the
                     one that holds for vectors, :math:`\Delta` being their L2 sensitivity
        ===========  ==========================================================================
    relation
        Which data sets are neighbours.

    Notes
    -----
    *Claim*: (epsilon, delta)-differential privacy. For the discrete law :math:`p`,
    log-concave and so of monotone likelihood ratio, the worst set is a half-line, and the hockey
    stick of a shift by :math:`s` is :math:`H(s) = \max_c T(c - s) - e^\varepsilon T(c)` with the
    tail :math:`T(c) = \sum_{k \ge c} p(k)`. :math:`T` falls, so :math:`H` rises with :math:`s`:
    the shift by :math:`\Delta` is the worst. *Checked by*
    ``test_exact_worst_case[noise.gaussian]`` on every shift, for vectors by
    ``test_exact_worst_case[noise.gaussian.vector]``. *Claim*: the formula for the
    continuous Gaussian breaks delta on a coarse grid. *Checked by*
    ``test_continuous_sigma_on_a_grid_is_rejected``.

    References
    ----------
    .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
       NeurIPS 2020.
    .. [2] B. Balle, Y.-X. Wang, "Improving the Gaussian mechanism for differential privacy",
       ICML 2018.
    .. [3] Audibert 2024, section 3.2 (a private mean with the classic variance).

    Examples
    --------
    >>> tight = Gaussian(epsilon=1, delta=1e-6, sensitivity=10)
    >>> classic = Gaussian(epsilon=1, delta=1e-6, sensitivity=10, method="classic")
    >>> round(float(tight.variance) ** 0.5, 2), round(float(classic.variance) ** 0.5, 2)
    (42.25, 52.99)
    """

    epsilon: Fraction = field(converter=read.epsilon)
    delta: Fraction = field(converter=read.delta)
    sensitivity: int = field(default=1, converter=read.whole_sensitivity)
    method: Calibration = field(default="tight", converter=_method)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    variance: Fraction = field(init=False, repr=False, eq=False)

    @variance.default
    def _calibrated(self) -> Fraction:
        epsilon, delta, span = self.epsilon, self.delta, self.sensitivity
        read_scale(WIDEST_SIGMA * span / epsilon)
        if self.method == "tight":
            return tight_variance(epsilon, delta, span)
        if self.method == "zcdp":
            return Fraction(span * span) / (2 * Concentrated.rho_for(epsilon, delta))
        variance = classic_variance(epsilon, delta, span)
        if _hockey_stick(variance, epsilon, delta, span) > delta:
            got = f"'classic' at epsilon {float(epsilon):g} and delta {float(delta):g}"
            hint = "Its delta is exceeded there. Use {method}."
            raise ParameterError("method", "be valid on the grid", got, hint, method="tight")
        return variance

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A shift by :math:`\Delta`; of a vector :math:`\Delta^2/(2\sigma^2)`-zCDP.

        *Checked by* ``test_whole_curve[noise.gaussian]`` and ``[noise.gaussian.vector]``.
        """
        if self.method != "zcdp":
            return (Part.gaussian(self.sensitivity, self.variance),)
        return (Part.concentrated(self.sensitivity**2 / (2 * self.variance)),)

    def read(self, x: object) -> Value:
        """Return ticks; vectors are accepted only by the method that covers them."""
        ticks = read_ticks(x)
        if not isinstance(ticks, int) and self.method != "zcdp":
            must = f"be one number under method {self.method!r}"
            hint = "Use {method}, with the L2 sensitivity."
            raise ParameterTypeError("the input", must, "an array", hint, method="zcdp")
        return ticks

    def draw(self, x: Value, size: int | None, source: Source) -> Value:
        if size is None and isinstance(x, int):
            return noise.gaussian_around(x, self.variance, source=source)
        shape = size if isinstance(x, int) else x.shape if size is None else (size, *x.shape)
        return add(x, noise.discrete_gaussian(self.variance, shape, source=source))

    def law(self, x: Value) -> Law | Product:
        reach = _reach(self.delta)
        if isinstance(x, int):
            return gaussian_law(x, self.variance, reach)
        return Product(tuple(gaussian_law(v, self.variance, reach) for v in x.ravel().tolist()))

    def error(self, beta: Number = 0.05) -> float:
        chance = read_beta(beta) / 2 * (1 - 1e-7)
        return float(-gaussian_law(0, self.variance).quantile(chance))

    def neighbours(self, x: Value) -> Iterator[Value]:
        if isinstance(x, int):
            yield from range(x - self.sensitivity, x + self.sensitivity + 1)
        else:
            yield from within(x, self.sensitivity, norm=2)

    def adjacent(self, x: Value, y: Value) -> bool:
        moved = np.atleast_1d(np.asarray(x, object) - np.asarray(y, object))
        return bool((moved * moved).sum() <= self.sensitivity**2)


def _reach(delta: Fraction) -> float:
    """Return how far a law must reach for a rest that is negligible compared with delta."""
    return max(REACH, 60 - log(delta))


def gaussian_law(x: int, variance: Fraction, reach: float = REACH) -> Law:
    r"""Return the discrete Gaussian law around ``x``.

    Cells are listed singly until there are too many; then a run of :math:`L` cells is one piece
    whose chord is off by at most :math:`L^2/(8\sigma^2)`, which enters the law's slack.
    """
    h, sigma = float(1 / (2 * variance)), sqrt(float(variance))
    block = max(1, int(sigma * sqrt(8 * CHORD)))
    half = np.arange(0, ceil(sigma * sqrt(2 * reach)) + 1, block, dtype=np.int64)
    start = np.concatenate((-half[:0:-1] - block + 1, [-block + 1] if block > 1 else [], half))
    start = start.astype(np.int64)
    length = np.append(np.diff(start), block)
    near = start.astype(np.float64)
    slope = np.where(length > 1, -(2 * near + length - 1) * h, 0.0)
    edge = float(half[-1] + block)
    omitted = log(2) - edge * edge * h - log(-expm1(-2 * edge * h))
    slack = block * block * h / 4 if block > 1 else 0.0
    return Law.of(start + x, length, -near * near * h, slope, log_beyond=omitted, slack=slack)


def classic_variance(epsilon: Fraction, delta: Fraction, sensitivity: int) -> Fraction:
    r"""Return :math:`2 \ln(1.25/\delta) \Delta^2/\varepsilon^2`, rounded up."""
    c_squared = 2 * Real.of(Fraction(5, 4) / delta).log()
    return (c_squared * (sensitivity / epsilon) ** 2).above()


def continuous_variance(epsilon: float, delta: float, sensitivity: int) -> float:
    r"""Return the least :math:`\sigma^2` for the *continuous* Gaussian (Balle and Wang).

    It solves :math:`\Phi(\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}) -
    e^\varepsilon \Phi(-\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}) = \delta`.
    On a grid it is only the starting point of the search.
    """
    from scipy.special import log_ndtr

    def log_excess(sigma: float) -> float:
        a, b = 1 / (2 * sigma), epsilon * sigma
        above, below = log_ndtr(a - b), epsilon + log_ndtr(-a - b)
        return float(above + np.log(-np.expm1(min(below - above, -1e-300)))) - log(delta)

    low, high = 1e-9, 1.0
    while log_excess(high) > 0:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_excess(middle) > 0 else (low, middle)
    return (high * sensitivity) ** 2


@lru_cache(256)
def tight_variance(epsilon: Fraction, delta: Fraction, sensitivity: int) -> Fraction:
    r"""Return the least :math:`\sigma^2`, to :math:`2^{-26}`, whose law certifies delta."""

    def certified(variance: Fraction) -> bool:
        return _hockey_stick(variance, epsilon, delta, sensitivity) <= delta

    guess = Fraction(continuous_variance(float(epsilon), float(delta), sensitivity))
    low, high = _bracket(guess, certified)
    while high - low > high * FINE:
        middle = (low + high) / 2
        low, high = (low, middle) if certified(middle) else (middle, high)
    scale = 1 << max(0, 48 - high.numerator.bit_length() + high.denominator.bit_length())
    short = Fraction(ceil(high * scale), scale)
    return short if certified(short) else high


FURTHEST = 1 << 10


def _bracket(guess: Fraction, certified: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Return a variance that is not certified and one that is, next to the guess."""
    step, known, inner = FINE, certified(guess), guess
    while True:
        outer = guess / (1 + step) if known else guess * (1 + step)
        if certified(outer) is not known:
            return (outer, inner) if known else (inner, outer)
        inner, step = outer, 4 * step
        if step > FURTHEST:
            must = "be large enough for the tight noise to be computed in floating point"
            raise ParameterError("delta", must, "", "Use {method}.", method="zcdp")


def _hockey_stick(variance: Fraction, epsilon: Fraction, delta: Fraction, span: int) -> float:
    here, there = (gaussian_law(x, variance, _reach(delta)) for x in (0, span))
    return here.hockey_stick(there, epsilon).upper


register(
    Specimen(
        "noise.gaussian", lambda e: Gaussian(epsilon=e, delta=Fraction(1, 10**6), sensitivity=3),
        (0,), also=("mean.gaussian.known",),
    ),
    Specimen(
        "noise.gaussian.vector",
        lambda e: Gaussian(epsilon=e, delta=Fraction(1, 10**6), sensitivity=2, method="zcdp"),
        ([0, 0], [3, -1]), tight=False, also=("mean.gaussian",),
        weaker=Fraction(11, 10),  # converting concentrated privacy to delta loses 7% of epsilon
    ),
)  # fmt: skip
