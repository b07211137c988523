"""The staircase mechanism on integers: less noise than Laplace at large epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, expm1
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, integer
from sourdine.laws import Law
from sourdine.laws.compare import Pieces, Tail
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import (
    Additive,
    Specimen,
    add,
    read_beta,
    read_one,
    read_scale,
    register,
    settle,
)
from sourdine.privacy import ADD_REMOVE, Guarantee, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Minimise, Value
    from sourdine.noise import Source


def gamma_l1(epsilon: float) -> float:
    r"""Return :math:`\gamma = 1/(1 + e^{\varepsilon/2})`, which minimises the mean distance."""
    root = exp(-epsilon / 2)
    return root / (1 + root)


def gamma_l2(epsilon: float) -> float:
    r"""Return the :math:`\gamma` that minimises the variance, with :math:`b = e^{-\varepsilon}`.

    .. math:: \gamma = -\frac{b}{1-b} + \frac{(b - 2b^2 + 2b^4 - b^5)^{1/3}}{2^{1/3}(1-b)^2}
              = \frac{(b(1+b)/2)^{1/3} - b}{1-b}

    The second form is the paper's with :math:`(1-b)^3` taken out of the root.
    """
    b = exp(-epsilon)
    return float((b * (1 + b) / 2) ** (1 / 3) - b) / -expm1(-epsilon)


def _width(x: int | None) -> int:
    """Return the inner step; 0 if it was left out."""
    return 0 if x is None else integer(x, "width", least=1)


@frozen(kw_only=True)
class Staircase(Additive["Value"]):
    r"""Add staircase noise: constant on steps, :math:`e^{-\varepsilon}` lower every :math:`\Delta`.

    With :math:`b = e^{-\varepsilon}` and an inner step of :math:`r` ticks,
    :math:`\gamma = r/\Delta`, the noise :math:`k` has

    .. math:: P(k) \propto b^{j + [|k| - j\Delta \ge r]}, \qquad j = \lfloor |k|/\Delta \rfloor .

    In words: :math:`b^j` on the inner step and :math:`b^{j+1}` on the outer one. The slides print
    :math:`b^j` on both, and that density has mass 2, not 1 [2]_ (*checked by*
    ``test_printed_staircase_density_has_mass_two``).

    Parameters
    ----------
    epsilon
        The privacy loss of the release, above 0.
    sensitivity
        :math:`\Delta`, a whole number of ticks.
    minimise
        ``"l1"`` or ``"l2"``: which mean loss the inner step minimises on this grid.
    width
        The inner step :math:`r` in ticks, from 1 to the sensitivity; overrides ``minimise``.
    relation
        Which data sets are neighbours.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy: a shift by at most :math:`\Delta` changes the
    exponent by at most one. *Checked by* ``test_exact_worst_case[noise.staircase]``. *Claim*: no
    other width has a smaller mean loss. *Checked by* ``test_staircase_width_is_optimal``.

    References
    ----------
    .. [1] Q. Geng, P. Kairouz, S. Oh, P. Viswanath, "The staircase mechanism in differential
       privacy", IEEE J. Sel. Topics Signal Processing 9(7), 2015.
    .. [2] J.-F. Couchot, slides on local privacy of tables, 2023 (row L5).

    Examples
    --------
    >>> Staircase(epsilon=2, sensitivity=100).width
    27
    >>> Staircase(epsilon=4, sensitivity=100).error(0.05) < 100
    True
    """

    epsilon: Fraction = field(converter=read.epsilon)
    sensitivity: int = field(default=1, converter=read.whole_sensitivity)
    minimise: Minimise = field(default="l1", converter=read.minimise)
    width: int = field(default=None, converter=_width)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)

    def __attrs_post_init__(self) -> None:
        span = self.sensitivity
        read_scale(span / self.epsilon)
        if self.width > span:
            must, hint = f"be at most the sensitivity ({span})", "Omit {width} for the best value."
            raise ParameterError("width", must, given(self.width), hint, width=LEFT_OUT)
        if not self.width:  # the least mean loss lies next to the continuous optimum
            epsilon, kind = float(self.epsilon), self.minimise
            near = ceil((gamma_l1 if kind == "l1" else gamma_l2)(epsilon) * span)
            widths = range(max(1, near - 2), min(span, near + 2) + 1)
            best = min(widths, key=lambda width: _Stairs(epsilon, span, width).mean_loss(kind))
            settle(self, width=best)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    def read(self, x: object) -> Value:
        """Return one tick; the noise of several would cost epsilon each."""
        return read_one(x)

    def draw(self, x: Value, size: int | None, source: Source) -> Value:
        k = noise.staircase(self.epsilon, self.sensitivity, self.width, size, source=source)
        return add(x, k)

    def law(self, x: Value) -> Law:
        return staircase_law(read_one(x), self.epsilon, self.sensitivity, self.width)

    def error(self, beta: Number = 0.05) -> float:
        chance = read_beta(beta) * (1 - 1e-9)
        stairs = _Stairs(float(self.epsilon), self.sensitivity, self.width)
        low, high = -1, self.sensitivity
        while stairs.beyond(high) > chance:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if stairs.beyond(middle) > chance else (low, middle)
        return float(high)

    def neighbours(self, x: Value) -> Iterator[Value]:
        yield from range(int(x) - self.sensitivity, int(x) + self.sensitivity + 1)

    def adjacent(self, x: Value, y: Value) -> bool:
        return abs(int(x) - int(y)) <= self.sensitivity


def staircase_law(x: int, epsilon: Fraction, span: int, inner: int) -> Law:
    """Return the law of ``x`` plus staircase noise."""
    steps = _steps(inner, span, float(epsilon))
    right = Tail(steps, epsilon)
    # To the left the first period lacks cell 0, which belongs to the right: begin with the rest of
    # that period, then whole ones.
    rest = _steps(inner - 1, span - 1, float(epsilon)).mirrored(x)
    begin, left = rest.where(rest.length > 0), right.scaled(-float(epsilon))
    if not len(begin.start):
        return Law.of([x], [1], [0.0], [0.0], left=left, right=left)
    first, whole = right.unrolled(1)
    pieces = Pieces.joined(begin, first._replace(start=first.start + x))
    return Law.of(*pieces, left=left, right=whole)


def _steps(inner: int, span: int, epsilon: float) -> Pieces:
    """Return one period: the inner step, and the outer step if there is one."""
    steps = [(0, inner, 0.0), (inner, span - inner, -epsilon)] if inner < span else [(0, span, 0.0)]
    start, length, level = (np.array(side) for side in zip(*steps, strict=True))
    return Pieces(start, length, level, np.zeros(len(steps)))


@dataclass(frozen=True, slots=True)
class _Stairs:
    r"""Sums over the staircase in closed form: :math:`w(k) = b^{j + [i \ge r]}`, :math:`k = jD+i`.

    One period has the sums :math:`A, B, C` of :math:`w, iw, i^2 w`, and
    :math:`\sum_j b^j, \sum_j j b^j, \sum_j j^2 b^j` are geometric.
    """

    epsilon: float
    span: int
    inner: int

    def _period(self) -> list[float]:
        b = exp(-self.epsilon)
        ends = (self.inner, self.span)  # the sums of 1, i and i^2 for i < n
        near, whole = ((float(n), n * (n - 1) / 2, (n - 1) * n * (2 * n - 1) / 6) for n in ends)
        return [x + b * (y - x) for x, y in zip(near, whole, strict=True)]

    @property
    def mass(self) -> float:
        return 2 * self._period()[0] / -expm1(-self.epsilon) - 1

    def beyond(self, distance: int) -> float:
        """Return the probability that the noise is further than ``distance`` from 0."""
        j, i = divmod(distance + 1, self.span)
        rest = max(self.inner - i, 0) + exp(-self.epsilon) * (self.span - max(i, self.inner))
        later = exp(-self.epsilon) * self._period()[0] / -expm1(-self.epsilon)
        return 2 * exp(-self.epsilon * j) * (rest + later) / self.mass

    def mean_loss(self, kind: Minimise) -> float:
        b, gap, d = exp(-self.epsilon), -expm1(-self.epsilon), self.span
        a, first, second = self._period()
        once, twice = b / gap**2, b * (1 + b) / gap**3
        if kind == "l1":
            return 2 * (d * a * once + first / gap) / self.mass
        return 2 * (d * d * a * twice + 2 * d * first * once + second / gap) / self.mass


register(Specimen("noise.staircase", lambda e: Staircase(epsilon=e, sensitivity=5), (0, 4)))
