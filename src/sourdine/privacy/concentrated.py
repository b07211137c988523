"""Zero-concentrated differential privacy: how Gaussian noise adds up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, integer, positive, probability
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.printing import shown
from sourdine.privacy.relation import ADD_REMOVE, SUBSTITUTE, Relation
from sourdine.privacy.renyi import delta_of, epsilon_of, rho_of

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["Concentrated"]


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
        r"""Return :math:`\rho = \varepsilon^2/2`, which every pure promise implies.

        *Checked by* ``test_from_pure_bounds_randomised_response`` ([1]_, proposition 1.4).

        Examples
        --------
        >>> Concentrated.from_pure(Guarantee(1)).rho
        Fraction(1, 2)
        """
        epsilon = Guarantee.read(guarantee).exact_epsilon()
        if not guarantee.is_pure:
            raise ParameterError(
                "guarantee",
                "have delta 0",
                f"delta {shown(guarantee.delta)}",
                "Type compose_advanced(guarantee, times, slack) to compose such promises.",
            )
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
        return rho_of(positive(epsilon, "epsilon"), _inner(delta))

    def at(self, delta: Number) -> Guarantee:
        """Return the epsilon at ``delta``, optimised over all orders and rounded up.

        *Checked by* ``test_epsilon_is_optimal_and_rounded_up``.
        """
        d = _inner(delta)
        return Guarantee(epsilon_of(self.rho, d) if self.rho else 0, d, self.relation)

    def delta_at(self, epsilon: Number) -> Fraction:
        """Return the delta at ``epsilon``, optimised over all orders and rounded up.

        *Checked by* ``test_delta_is_above_the_gaussian``.
        """
        e = at_least(epsilon, "epsilon", 0)
        return delta_of(self.rho, e) if self.rho else Fraction(0)

    def __add__(self, other: Concentrated) -> Concentrated:
        if not isinstance(other, Concentrated):
            raise ParameterTypeError(
                "other",
                "be a Concentrated",
                given(other),
                "Type Concentrated.from_pure(guarantee) for a pure promise.",
            )
        if self.relation is not other.relation:
            raise ParameterError(
                "relation",
                f"be {self.relation.name}",
                other.relation.name,
                "Type other.under(SUBSTITUTE) for a promise under ADD_REMOVE.",
            )
        return Concentrated(self.rho + other.rho, self.relation)

    def times(self, runs: int) -> Concentrated:
        """Return what ``runs`` such computations promise together."""
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
        raise ParameterError(
            "delta",
            "be above 0 and below 1",
            given(delta),
            "Type {delta}, or less than one over the number of records.",
            delta=1e-6,
        )
    return value
