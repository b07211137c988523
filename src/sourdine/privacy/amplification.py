r"""A promise made on a random sample of the records is a stronger promise on all of them.

.. math:: \varepsilon' = \ln\bigl(1 + q(e^\varepsilon - 1)\bigr), \qquad \delta' = q\,\delta

for a sample that holds each record with probability :math:`q` and stays secret [1]_. The form
:math:`(q\varepsilon, q\delta)`, as in Stemmer's lecture 9, is false for every :math:`0 < q < 1`: at
:math:`\varepsilon = 1` and :math:`q = 1/2` it claims 0.5, and randomised response on the sample
loses 0.620. *Checked by* ``test_amplification_is_tight`` and ``test_lecture_form_is_false``.

References
----------
.. [1] B. Balle, G. Barthe, M. Gaboardi, "Privacy amplification by subsampling: tight analyses via
   couplings and divergences", NeurIPS 2018, theorems 8 and 9.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, number
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.relation import ADD_REMOVE, SUBSTITUTE, Relation

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = [
    "poisson",
    "poisson_allowance",
    "without_replacement",
    "without_replacement_allowance",
]


def poisson(guarantee: Guarantee, rate: Number) -> Guarantee:
    """Return what a promise on a Poisson sample is worth on all records, under ADD_REMOVE.

    Each record is in the sample with probability ``rate``, on its own. Epsilon is rounded up.

    Examples
    --------
    >>> print(poisson(Guarantee(1), rate=0.5))
    epsilon 0.620115, one record added or removed
    """
    _require(guarantee, ADD_REMOVE, "poisson", "The size of a Poisson sample is random")
    return _on_all(guarantee, _rate(rate))


def without_replacement(guarantee: Guarantee, sample: int, n: int) -> Guarantee:
    """Return what a promise on ``sample`` of ``n`` records is worth, under SUBSTITUTE.

    Every subset of that size is as likely as another. Epsilon is rounded up.

    Examples
    --------
    >>> print(without_replacement(Guarantee(1, 1e-6, SUBSTITUTE), sample=10, n=1000))
    epsilon 0.0170369, delta 1e-08, one record replaced
    """
    _require(guarantee, SUBSTITUTE, "without_replacement", "The size of such a sample is fixed")
    return _on_all(guarantee, _share(sample, n))


def poisson_allowance(guarantee: Guarantee, rate: Number) -> Guarantee:
    """Return what may be spent on a Poisson sample so that ``guarantee`` holds on all records.

    The inverse of `poisson`, rounded down. *Checked by* ``test_allowance_is_within``.

    Examples
    --------
    >>> g = poisson_allowance(Guarantee(0.5), rate=0.5)
    >>> round(float(g.epsilon), 6), poisson(g, 0.5).epsilon <= Fraction(1, 2)
    (0.831797, True)
    """
    _require(guarantee, ADD_REMOVE, "poisson_allowance", "The size of a Poisson sample is random")
    return _on_sample(guarantee, _rate(rate))


def without_replacement_allowance(guarantee: Guarantee, sample: int, n: int) -> Guarantee:
    """Return what may be spent on ``sample`` of ``n`` records to promise ``guarantee``.

    The inverse of `without_replacement`, rounded down. *Checked by* ``test_allowance_is_within``.

    Examples
    --------
    >>> print(without_replacement_allowance(Guarantee(1, 0, SUBSTITUTE), sample=1, n=1))
    epsilon 1, one record replaced
    """
    name = "without_replacement_allowance"
    _require(guarantee, SUBSTITUTE, name, "The size of such a sample is fixed")
    return _on_sample(guarantee, _share(sample, n))


def _on_all(guarantee: Guarantee, q: Fraction) -> Guarantee:
    if not guarantee.is_finite:
        return guarantee
    epsilon = _amplified(guarantee.exact_epsilon(), q)
    return Guarantee(epsilon, q * guarantee.delta, guarantee.relation)


def _on_sample(guarantee: Guarantee, q: Fraction) -> Guarantee:
    if not guarantee.is_finite:
        return guarantee
    total = guarantee.exact_epsilon()
    epsilon = total if q == 1 or total == 0 else _inverse(total, q).below()
    for _ in range(64):
        if _amplified(epsilon, q) <= total:
            break
        epsilon -= epsilon / (1 << 60)  # the way back rounds up
    else:
        epsilon = total  # sampling never costs more
    return Guarantee(epsilon, min(guarantee.delta / q, Fraction(1)), guarantee.relation)


def _amplified(epsilon: Fraction, q: Fraction) -> Fraction:
    r"""Round :math:`\varepsilon + \ln(q + (1 - q)e^{-\varepsilon})` up, at most epsilon."""
    if q == 1 or epsilon == 0:
        return epsilon
    gain = (1 / (q + (1 - q) * exp_neg(epsilon))).log()
    return min((Real.of(epsilon) - gain).above(), epsilon)


def _inverse(total: Fraction, q: Fraction) -> Real:
    r"""Return :math:`\ln(1 + (e^{\varepsilon'} - 1)/q)`, free of large exponentials."""
    return total + (exp_neg(total) + (1 - exp_neg(total)) / q).log()


def _rate(rate: object) -> Fraction:
    return number(rate, "rate", above=0, most=1)


def _share(sample: object, n: object) -> Fraction:
    most = integer(n, "n", least=1)
    m = integer(sample, "sample", least=1)
    if m > most:
        raise ParameterError(
            "sample",
            f"be at most n ({most})",
            given(m),
            "Type {sample} or less.",
            sample=most,
        )
    return Fraction(m, most)


def _require(guarantee: Guarantee, relation: Relation, name: str, reason: str) -> None:
    if Guarantee.read(guarantee, relation=relation).relation is not relation:
        other = "without_replacement" if relation is ADD_REMOVE else "poisson"
        fits = guarantee.relation in {ADD_REMOVE, SUBSTITUTE}
        other += "_allowance" if name.endswith("allowance") else ""
        raise ParameterError(
            "guarantee",
            f"be for {relation.description}",
            guarantee.relation.name,
            f"{reason}, so {name} speaks of {relation.name} alone. "
            + (f"Type {other}(...)." if fits else "A local promise needs no curator's sample."),
        )
