"""Zero-concentrated differential privacy, and its conversion to epsilon and delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, at_least, exp_neg, given, integer, positive, probability
from sourdine.privacy.guarantee import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact import Number


# ---- Conversion between :math:`\rho`-zCDP and :math:`(\varepsilon, \delta)` ----------------------
#
# For every :math:`\alpha > 1`, a :math:`\rho`-zCDP mechanism is :math:`(\varepsilon, \delta)`-DP
# with
#
# .. math::
#     \varepsilon = \alpha\rho - \ln\frac{\alpha}{\alpha - 1}
#         + \frac{\ln(1/\delta) - \ln\alpha}{\alpha - 1}
#
# [1]_. Any order is valid, so floats choose it and exact arithmetic evaluates the formula there: a
# poor choice can only make the result looser, never false.
#
# References
# ----------
# .. [1] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
#    NeurIPS 2020, proposition 12.
# .. [2] M. Bun, T. Steinke, "Concentrated differential privacy", TCC 2016, proposition 1.3.


_LEAST = Fraction(5000)
"""Deltas below exp(-5000) are not distinguished."""


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    r"""Return epsilon at ``delta``, rounded up, at most :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}`.

    *Checked by* ``test_epsilon_is_optimal_and_rounded_up``.
    """
    loss, r = -ln(delta), _float(rho)

    def epsilon(x: float) -> float:
        return (1 + x) * r - math.log1p(1 / x) + (loss - math.log1p(x)) / x

    centre = (math.log(max(loss, 1e-9)) - ln(rho)) / 2
    alpha = 1 + best(epsilon, centre - 10, centre + 10)
    optimised = _certified_epsilon(rho, delta, alpha)
    classical = rho + 2 * (rho * Real.of(1 / delta).log()).sqrt()
    return min(optimised.above(), classical.above())


def _certified_epsilon(rho: Fraction, delta: Fraction, alpha: Fraction) -> Real:
    gained = Real.of(alpha / (alpha - 1)).log()
    if delta * alpha <= 1:
        return alpha * rho + Real.of(1 / (delta * alpha)).log() / (alpha - 1) - gained
    return alpha * rho - (gained + Real.of(delta * alpha).log() / (alpha - 1))


def best(f: Callable[[float], float], lo: float, hi: float) -> Fraction:
    """Return the x > 0, as a Fraction, that minimises f; f falls, then rises, in ln x."""
    ratio = (math.sqrt(5) - 1) / 2
    lo, hi = max(min(lo, 300), -300), max(min(hi, 300), -300)
    for _ in range(80):
        a, b = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        lo, hi = (lo, b) if f(math.exp(a)) < f(math.exp(b)) else (a, hi)
    return Fraction(math.exp((lo + hi) / 2))


def ln(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def _float(x: Fraction) -> float:
    return float(min(x, Fraction(10) ** 300))


# ---- Zero-concentrated differential privacy ------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False)
class Concentrated:
    r"""A computation :math:`M` is :math:`\rho`-zero-concentrated differentially private.

    .. math:: D_\alpha(M(x) \| M(x')) \le \rho\,\alpha \quad\text{for all } \alpha > 1

    for all neighbours :math:`x, x'` of the relation, with :math:`D_\alpha` the Rényi divergence
    [1]_. Rho adds up exactly over adaptive runs, and turns into epsilon once, at the end.

    Parameters
    ----------
    rho
        0 or more. A float means the decimal it prints, and is kept exactly.
    relation
        Which inputs are neighbours.

    References
    ----------
    .. [1] M. Bun, T. Steinke, "Concentrated differential privacy", TCC 2016.
    .. [2] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
       NeurIPS 2020.

    Examples
    --------
    >>> each = Concentrated.gaussian(sensitivity=1, variance=100)
    >>> print(each.times(100).at(1e-6))
    epsilon 5.22154, delta 1e-06, one record added or removed
    """

    rho: Fraction
    relation: Relation

    def __init__(self, rho: Number, relation: Relation | str = ADD_REMOVE) -> None:
        object.__setattr__(self, "rho", at_least(rho, "rho", 0))
        object.__setattr__(self, "relation", Relation.read(relation))

    @classmethod
    def from_pure(cls, guarantee: Guarantee) -> Concentrated:
        r"""Return :math:`\rho = \varepsilon^2/2`, which every pure guarantee implies.

        *Checked by* ``test_from_pure_bounds_randomised_response`` ([1]_, proposition 1.4).

        Examples
        --------
        >>> Concentrated.from_pure(Guarantee(1)).rho
        Fraction(1, 2)
        """
        epsilon = Guarantee.read(guarantee).exact_epsilon()
        if not guarantee.is_pure:
            must = "have delta 0"
            hint = "Use compose_advanced(guarantee, times, slack) to compose such guarantees."
            raise ParameterError("guarantee", must, f"delta {shown(guarantee.delta)}", hint)
        return cls(epsilon**2 / 2, guarantee.relation)

    @classmethod
    def gaussian(
        cls, sensitivity: Number, variance: Number, relation: Relation | str = ADD_REMOVE
    ) -> Concentrated:
        r"""Return :math:`\rho = \Delta^2 / (2\sigma^2)` of Gaussian noise, discrete or continuous.

        *Checked by* ``test_gaussian_divergence_is_rho_alpha`` ([2]_, theorem 4).
        """
        delta, sigma2 = positive(sensitivity, "sensitivity"), positive(variance, "variance")
        return cls(delta**2 / (2 * sigma2), relation)

    @staticmethod
    def rho_for(epsilon: Number, delta: Number) -> Fraction:
        """Return the rho to spend for ``epsilon`` at ``delta``, rounded down.

        *Checked by* ``test_rho_is_within``.

        Examples
        --------
        >>> rho = Concentrated.rho_for(1, 1e-6)
        >>> round(float(rho), 5), Concentrated(rho).at(1e-6).epsilon <= 1
        (0.02436, True)
        """
        whole, small = positive(epsilon, "epsilon"), _inner(delta)
        loss, e = -ln(small), _float(whole)

        def minus_rho(x: float) -> float:
            return ((loss - math.log1p(x)) / x - math.log1p(1 / x) - e) / (1 + x)

        far = math.log(max(loss, 1e-9)) - ln(whole)
        x = best(minus_rho, min(far, far / 2) - 10, max(far, far / 2) + 10)
        most = Fraction(max(-minus_rho(float(x)), 0.0))
        shrink = Fraction(1, 1 << 54)
        while most > 0 and shrink < 1:
            rho = most * (1 - shrink)
            if epsilon_of(rho, small) <= whole:
                return rho
            shrink *= 2
        return Fraction(0)

    def at(self, delta: Number) -> Guarantee:
        """Return the epsilon at ``delta``, optimised over all orders and rounded up.

        *Checked by* ``test_epsilon_is_optimal_and_rounded_up``.
        """
        d = _inner(delta)
        return Guarantee(epsilon_of(self.rho, d) if self.rho else 0, d, self.relation)

    def delta_at(self, epsilon: Number) -> Fraction:
        r"""Return the delta at ``epsilon``, optimised over all orders and rounded up.

        .. math:: \delta = \frac{e^{(\alpha-1)(\alpha\rho-\varepsilon)}}{\alpha-1}
                  \left(1 - \frac1\alpha\right)^\alpha

        *Checked by* ``test_delta_is_above_the_gaussian``.
        """
        exact, rho = at_least(epsilon, "epsilon", 0), self.rho
        if not rho:
            return Fraction(0)
        r, e = _float(rho), _float(exact)

        def log_delta(x: float) -> float:
            return x * ((1 + x) * r - e) - math.log(x) - (1 + x) * math.log1p(1 / x)

        least = max(min(e - r, 0), -40) - 5
        x = best(log_delta, least, max(ln(exact + rho) - ln(rho), -ln(rho) / 2, 0) + 5)
        alpha = 1 + x
        plus, minus = alpha * Real.of(alpha).log(), Real.of(0)
        if x >= 1:
            minus += x * Real.of(x).log()
        else:
            plus += x * Real.of(1 / x).log()
        drift = x * (exact - alpha * rho)
        loss = plus + drift - minus if drift >= 0 else plus - (minus + -drift)
        return min(exp_neg(min(loss.below(), _LEAST)).above(), Fraction(1))

    def __add__(self, other: Concentrated) -> Concentrated:
        if not isinstance(other, Concentrated):
            hint = "Use Concentrated.from_pure(guarantee) for a pure guarantee."
            raise ParameterTypeError("other", "be a Concentrated", given(other), hint)
        if self.relation is not other.relation:
            hint = "Use other.under(SUBSTITUTE) for a guarantee under ADD_REMOVE."
            raise ParameterError("relation", f"be {self.relation.name}", other.relation.name, hint)
        return Concentrated(self.rho + other.rho, self.relation)

    def times(self, runs: int) -> Concentrated:
        """Return the composition of ``runs`` such computations."""
        return Concentrated(integer(runs, "runs", least=0) * self.rho, self.relation)

    def group(self, size: int) -> Concentrated:
        r"""Return what holds between inputs ``size`` steps apart: :math:`k^2\rho`.

        *Checked by* ``test_concentrated_group`` ([1]_, proposition 1.9).
        """
        return Concentrated(integer(size, "size", least=1) ** 2 * self.rho, self.relation)

    def under(self, relation: Relation | str) -> Concentrated:
        """Return what this is worth under another relation: 4 rho from ADD_REMOVE to SUBSTITUTE."""
        if (self.relation, Relation.read(relation)) == (ADD_REMOVE, SUBSTITUTE):
            return Concentrated(self.group(2).rho, relation)
        Guarantee(0, relation=self.relation).under(relation)
        return self

    def __str__(self) -> str:
        return f"rho {shown(self.rho)}, {self.relation.description}"


def _inner(delta: object) -> Fraction:
    value = probability(delta, "delta", example=1e-6)
    if not 0 < value < 1:
        hint = "Use {delta}, or less than one over the number of records."
        raise ParameterError("delta", "be above 0 and below 1", given(delta), hint, delta=1e-6)
    return value
