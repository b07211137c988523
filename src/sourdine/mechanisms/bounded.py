"""Bounded Laplace and bounded staircase: noise that stays in an interval."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.exact import Real, exp_neg, one_of
from sourdine.laws import Law
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import (
    Specimen,
    TickReport,
    minimise,
    read_beta,
    read_last,
    register,
)
from sourdine.mechanisms.staircase import gamma_l1, gamma_l2
from sourdine.noise.coins import SLACK, unit_floats
from sourdine.noise.source import LazyUniform, draw_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Minimise
    from sourdine.noise import Source


# ---- Bounded Laplace -----------------------------------------------------------------------------


@frozen(kw_only=True)
class BoundedLaplace(TickReport):
    r"""Report a tick :math:`y` of 0 to :math:`m`, :math:`P(y) \propto e^{-\varepsilon|y-x|/m}`.

    It is drawn by its inverse law, with the same work for every input: redrawing until the result
    is inside, as is often done, takes a time that depends on the input.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        :math:`m`, the highest tick; inputs outside 0 to m count as the nearest end.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, no less. The normaliser :math:`Z(x)` is not
    constant, but :math:`-\varepsilon|y-x|/m - \ln Z(x)` rises in :math:`x` up to :math:`y` and
    falls after, so the worst pair is the two ends, where :math:`Z(0) = Z(m)`. *Checked by*
    ``test_exact_worst_case[number.laplace]``.

    The output is biased towards the middle: it is not an unbiased report (`bias`).

    References
    ----------
    .. [1] N. Holohan, S. Antonatos, S. Braghin, P. Mac Aonghusa, "The bounded Laplace mechanism in
       differential privacy", J. Privacy and Confidentiality 10(1), 2020.
    .. [2] J.-F. Couchot, slides on local privacy of tables, 2023 (row L4).

    Examples
    --------
    >>> report = BoundedLaplace(epsilon=1, last=100)
    >>> round(report.bias(0), 1), abs(report.bias(50)) < 1e-9
    (41.6, True)
    """

    @cached_property
    def decay(self) -> Fraction:
        """The rate at which the law falls, per tick."""
        return self.epsilon / self.last

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        return noise.bounded_laplace(codes, self.last, self.decay, source=source)

    def law(self, x: int) -> Law:
        a = float(self.decay)
        start, length, log_weight, slope = [x], [self.last + 1 - x], [0.0], [-a]
        if x > 0:
            start, length = [0, *start], [x, *length]
            log_weight, slope = [-float(self.decay * x), *log_weight], [a, *slope]
        return Law.of(start, length, log_weight, slope)

    def error(self, beta: Number = 0.05) -> float:
        """Return the unbounded Laplace's error, which the bounds can only reduce."""
        return min(float(self.last), laplace_error(1 / self.decay, read_beta(beta)))

    def bias(self, x: int) -> float:
        """Return the difference between the mean report and ``x``."""
        return self.law(self.read(x)).mean() - x


# ---- Bounded staircase, in two forms -------------------------------------------------------------


Method = Literal["window", "truncated"]

CHUNK = 1 << 17  # people processed at once: few enough for the cache


def _last(x: int) -> int:
    return read_last(x, least=2)


def _method(x: Method) -> Method:
    return one_of(x, "method", "window", "truncated")


@frozen(kw_only=True)
class BoundedStaircase(TickReport):
    r"""Report a tick near the truth with weight 1, any other with weight :math:`e^{-\eta}`.

    ==============  ============================================================================
    ``window``      *near* is a window of fixed width that holds the truth and slides inside the
                    interval: the normaliser is constant, and :math:`\eta = \varepsilon`
    ``truncated``   *near* is within :math:`r` of the truth, cut off at the ends: the normaliser
                    depends on the input, and :math:`\eta < \varepsilon` compensates for it
    ==============  ============================================================================

    The slides redraw staircase noise until the result is inside, which is ``truncated`` with
    :math:`\eta = \varepsilon`. That is not :math:`\varepsilon`-LDP: its true level is
    :math:`\varepsilon + \ln(2 - e^{-\varepsilon/2})` on the continuum, 1.3318 at 1 (row L5).

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    last
        The highest tick :math:`m`, at least 2; inputs outside 0 to m count as the nearest end.
    method
        ``"window"`` or ``"truncated"``.
    minimise
        ``"l1"`` or ``"l2"``: which optimal :math:`\gamma` sets the width.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, exactly so for the window. *Checked by*
    ``test_exact_worst_case[number.staircase]`` and ``[number.truncated-staircase]``.
    *Claim*: redrawing breaks the promise. *Checked by* ``test_rejection_staircase_is_rejected``.

    References
    ----------
    .. [1] Q. Geng, P. Kairouz, S. Oh, P. Viswanath, "The staircase mechanism in differential
       privacy", IEEE J. Sel. Topics Signal Processing 9(7), 2015.
    .. [2] J.-F. Couchot, slides on local privacy of tables, 2023 (row L5).

    Examples
    --------
    >>> BoundedStaircase(epsilon=1, last=999).level
    Fraction(1, 1)
    >>> recalibrated = BoundedStaircase(epsilon=1, last=999, method="truncated")
    >>> round(float(recalibrated.level), 3)
    0.733
    """

    last: int = field(converter=_last)
    method: Method = field(default="window", converter=_method)
    minimise: Minimise = field(default="l1", converter=minimise)
    reach: int = field(init=False, repr=False, eq=False)
    level: Fraction = field(init=False, repr=False, eq=False)

    @reach.default
    def _reach(self) -> int:
        spent, cells = float(self.epsilon), self.last + 1
        if self.method == "truncated":  # 2 ln((1 + sqrt(1 + 8 e^epsilon)) / 4), on the continuum
            spent += 2 * log((exp(-spent / 2) + sqrt(exp(-spent) + 8)) / 4)
        gamma = gamma_l1 if self.minimise == "l1" else gamma_l2
        return min(max(1, round(gamma(spent) * cells)), cells // 2)

    @level.default
    def _level(self) -> Fraction:
        """Return the largest level, to 2**-50, whose true epsilon is certainly at most epsilon."""
        if self.method == "window":
            return self.epsilon
        low, high = Fraction(0), self.epsilon
        while high - low > self.epsilon / (1 << 50):
            middle = (low + high) / 2
            fits = rejection_level(middle, self.last + 1, self.reach).above() <= self.epsilon
            low, high = (middle, high) if fits else (low, middle)
        return low

    def near(self, x: int) -> tuple[int, int]:
        """Return the first tick of weight 1 and the number of such ticks."""
        first, width = self._near(np.array([x]))
        return int(first[0]), int(width[0])

    def _near(self, x: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self.method == "window":
            width = np.full(x.shape, 2 * self.reach - 1)
            return np.clip(x - self.reach + 1, 0, self.last + 1 - width), width
        first = np.maximum(x - self.reach + 1, 0)
        return first, np.minimum(x + self.reach, self.last + 1) - first

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        draw = self._slid if self.method == "window" else self._cut
        drawn = np.empty(codes.size, np.int64)
        for start in range(0, codes.size, CHUNK):
            drawn[start : start + CHUNK] = draw(codes[start : start + CHUNK], source)
        return drawn

    def _slid(self, x: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Draw with a window of one width: one coin, and two uniforms of which one is used."""
        width = 2 * self.reach - 1
        first = np.clip(x - (self.reach - 1), 0, self.last + 1 - width)
        tick = noise.uniform_below(self.last + 1 - width, x.size, source=source)
        tick += (tick >= first) * width
        first += noise.uniform_below(width, x.size, source=source)
        np.copyto(first, tick, where=noise.bernoulli(self._far(width), x.size, source=source))
        return first

    def _cut(self, x: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Draw with *near* cut off at the ends: its width decides the coin and the uniform."""
        first, width = self._near(x)
        far = self._tossed(width, source).astype(np.int64)
        among = width + far * (self.last + 1 - 2 * width)
        tick = noise.uniform_below(np.maximum(among, 1), source=source)
        beyond = far * (tick >= first)
        tick += (1 - far) * first + beyond * width
        return tick

    def _tossed(self, width: NDArray[np.int64], source: Source) -> NDArray[np.bool_]:
        r"""Toss each lane's coin: by floats, and exactly where they are not certain.

        The float of a probability is a few roundings away from it, and
        :math:`\eta e^{-\eta} < 1/2` bounds what the rounding of the level adds: far below the slack
        of :math:`2^{-30}`.
        """
        words = draw_words(source, width.size)
        mass = (self.last + 1 - width) * exp(-float(self.level))
        margin = mass / (width + mass) - unit_floats(words)
        far = np.asarray(margin > 0)
        for lane in np.flatnonzero(np.abs(margin) <= SLACK).tolist():
            uniform = LazyUniform(source, int(words[lane]), 64)
            far[lane] = uniform.below(self._far(int(width[lane])))
        return far

    def _far(self, width: int) -> Real:
        mass = (self.last + 1 - width) * exp_neg(self.level)
        return mass / (width + mass)

    def law(self, x: int) -> Law:
        return Law.two_levels(*self.near(x), self.last + 1, float(self.level))

    def error(self, beta: Number = 0.05) -> float:
        """Return the width of *near* if far reports have probability ``beta`` at most, else m.

        In between, far reports are spread evenly over the rest, and the bound follows them.
        """
        chance = read_beta(beta) * (1 - 1e-9)
        widest = 2 * self.reach - 1
        narrowest = widest if self.method == "window" else self.reach
        others = self.last + 1 - narrowest
        each = exp(-float(self.level)) / (narrowest + others * exp(-float(self.level)))
        beyond = int(min(chance / each, float(self.last)))  # this many far ticks may be exceeded
        return float(max(self.last - beyond, min(widest, self.last)))


def rejection_level(level: Fraction, cells: int, reach: int) -> Real:
    r"""Return the true epsilon of redrawing until inside, at nominal level :math:`\eta`.

    .. math:: \eta + \ln\frac{n + (e^\eta - 1)(2r - 1)}{n + (e^\eta - 1)\,r}

    on :math:`n` ticks with weight 1 within :math:`r` ticks: the inputs in the middle keep
    :math:`2r - 1` of them, those at the ends :math:`r`.
    """
    b = exp_neg(level)
    middle, end = (cells * b + (1 - b) * near for near in (2 * reach - 1, reach))
    return level + (middle / end).log()


register(
    Specimen("number.laplace", lambda e: BoundedLaplace(epsilon=e, last=12), range(13)),
    Specimen("number.staircase", lambda e: BoundedStaircase(epsilon=e, last=19), range(20)),
    Specimen(
        "number.truncated-staircase",
        lambda e: BoundedStaircase(epsilon=e, last=19, method="truncated"), range(20),
    ),
)  # fmt: skip
