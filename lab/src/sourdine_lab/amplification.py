r"""Amplification by sampling: what is printed, what is true, and what a mechanism really loses.

Stemmer's lecture 9 runs a :math:`(1, \delta)`-private mechanism on a sample that keeps each record
with probability :math:`q`, and states that the whole is :math:`(q, q\delta)`-private. Its proof
reaches :math:`2q`; the truth is

.. math:: \varepsilon' = \ln\bigl(1 + q(e^\varepsilon - 1)\bigr), \qquad \delta' = q\,\delta,

above :math:`q\varepsilon` at every rate between 0 and 1, and attained by randomised response, whose
loss is computed here from its exact laws, over all neighbours of all small data sets. Where a
record is there that would raise the odds, its absence lowers them by less:
:math:`-\ln(1 - q(1 - e^{-\varepsilon}))`. *Checked by*
``test_randomised_response_loses_the_tight_epsilon``.

References
----------
.. [1] B. Balle, G. Barthe, M. Gaboardi, "Privacy amplification by subsampling: tight analyses via
   couplings and divergences", NeurIPS 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, expm1, log1p
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.audit.exhaustive import worst_case
from sourdine.exact import number, positive
from sourdine.laws import Law
from sourdine.mechanisms import RandomizedResponse, Subsample
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation
from sourdine.results.figures import BLUE, GREY, INK, RED, RULE, canvas, legend

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number

__all__ = [
    "Amplified",
    "SampledResponse",
    "comparison",
    "fixed_size",
    "leak",
    "plot",
    "sampled_response",
]

RECORDS = ((), (0,), (1,), (0, 0), (0, 1), (1, 1), (0, 0, 1))
"""Data sets all of whose neighbours are compared."""


@frozen(kw_only=True)
class SampledResponse(RandomizedResponse):
    r"""Randomised response of a curator to the question whether any record is 1.

    The answer is true with probability :math:`e^\varepsilon/(1 + e^\varepsilon)`.
    """

    categories: int = field(init=False, repr=False, eq=False, default=2)
    relation: Relation = ADD_REMOVE

    @cached_property
    def guarantee(self) -> Guarantee:
        """The promise of the curator."""
        return Guarantee(self.epsilon, 0, self.relation)


def any_one(records: NDArray[np.int64]) -> int:
    """Return 1 if any record is, else 0."""
    return int((records == 1).any())


def sampled_response(
    epsilon: Number, *, rate: Number | None = None, sample: int | None = None, of: int | None = None
) -> Subsample:
    """Return randomised response on a sample of the records: of a rate, or of a fixed size.

    Examples
    --------
    >>> part = sampled_response(1, rate=0.5)
    >>> round(float(part.guarantee.epsilon), 6)
    0.620115
    """
    relation = ADD_REMOVE if sample is None else SUBSTITUTE
    response = SampledResponse(epsilon=epsilon, relation=relation)
    return Subsample(
        mechanism=response,
        values=(0, 1),
        statistic=any_one,
        rate=rate,
        sample=sample,
        n=of,
    )


@dataclass(frozen=True, slots=True)
class Amplified:
    r"""What sampling at a rate makes of a mechanism's epsilon.

    Parameters
    ----------
    rate
        :math:`q`.
    printed
        :math:`q\varepsilon`, which is the lecture's claim at :math:`\varepsilon = 1`.
    proof
        :math:`2q\varepsilon`, which its proof reaches at :math:`\varepsilon = 1`; false for small
        rates at :math:`\varepsilon = 2`.
    tight
        :math:`\ln(1 + q(e^\varepsilon - 1))`.
    exact
        What randomised response on the sample loses, by its laws.
    other
        :math:`-\ln(1 - q(1 - e^{-\varepsilon}))`, the loss of the other direction.
    other_exact
        The same of randomised response, by its laws.
    """

    rate: float
    printed: float
    proof: float
    tight: float
    exact: float
    other: float
    other_exact: float

    @property
    def printed_holds(self) -> bool:
        """Whether the printed claim covers what is really lost."""
        return self.exact <= self.printed * (1 + 1e-12)


def comparison(rates: Iterable[Number], epsilon: Number = 1) -> list[Amplified]:
    """Return a row for each rate, for samples that keep each record with that probability.

    Examples
    --------
    >>> (row,) = comparison([0.5])
    >>> row.printed, row.proof, round(row.tight, 4), abs(row.exact - row.tight) < 1e-12
    (0.5, 1.0, 0.6201, True)
    >>> row.printed_holds
    False
    """
    whole = positive(epsilon, "epsilon")
    kept = [number(rate, "rate", above=0, most=1) for rate in rates]
    return [_row(q, whole, sampled_response(whole, rate=q), RECORDS) for q in kept]


def fixed_size(sample: int, of: int, epsilon: Number = 1) -> Amplified:
    """Return the row of samples of a fixed size, where one record is replaced: q = s/k.

    The lecture's robust algorithms sample so many of their copies; the formula is the same.
    *Checked by* ``test_samples_of_fixed_size_lose_the_same``.

    Examples
    --------
    >>> row = fixed_size(sample=2, of=4)
    >>> round(row.exact, 4), abs(row.exact - row.tight) < 1e-12
    (0.6201, True)
    """
    whole, part = positive(epsilon, "epsilon"), sampled_response(epsilon, sample=sample, of=of)
    inputs = (of * (0,), (*((of - 1) * (0,)), 1))
    return _row(Fraction(sample, of), whole, part, inputs)


def _row(
    rate: Fraction, epsilon: Fraction, mechanism: Subsample, inputs: Sequence[tuple[int, ...]]
) -> Amplified:
    q, e = float(rate), float(epsilon)
    replaced = mechanism.rate is None
    pair = inputs if replaced else ((), (1,))
    without, holding = (mechanism.law(mechanism.read(np.array(x, int))) for x in pair)
    return Amplified(
        rate=q,
        printed=q * e,
        proof=2 * q * e,
        tight=log1p(q * expm1(e)),
        exact=worst_case(mechanism, [np.array(x, int) for x in inputs]).epsilon,
        other=-log1p(q * expm1(-e)),
        other_exact=without.divergence(holding).value,
    )


def leak(rate: Number, epsilon: Number = 1, delta: Number = 0.01) -> tuple[float, float]:
    r"""Return the exact delta on a sample, in both directions, of a response that may tell all.

    With probability delta the truth is told, marked as such; else randomised response answers. At
    :math:`\varepsilon'` of the sample what is left is :math:`q\delta` where the record is there,
    and less where it is not. *Checked by* ``test_delta_shrinks_by_the_rate``.

    Examples
    --------
    >>> [round(x, 6) for x in leak(0.5, 1, 0.01)]
    [0.005, 0.000704]
    """
    q = float(number(rate, "rate", above=0, most=1))
    e, d = float(positive(epsilon, "epsilon")), float(number(delta, "delta", above=0, most=1))
    lie = 1 / (1 + exp(e))
    with np.errstate(divide="ignore"):
        no = Law.finite(np.log([d, (1 - d) * (1 - lie), (1 - d) * lie, 0.0]))
        yes = Law.finite(np.log([0.0, (1 - d) * lie, (1 - d) * (1 - lie), d]))
    holding = Law.mixture([1 - q, q], [no, yes])
    tight = log1p(q * expm1(e))
    return holding.hockey_stick(no, tight).value, no.hockey_stick(holding, tight).value


def plot(rows: Sequence[Amplified], *, path: str | None = None) -> Any:
    """Draw what is printed, proved and true against the rate, and what is really lost as dots.

    Parameters
    ----------
    rows
        What `comparison` returned.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    """
    figure, axes = canvas(6.4, 4.2)
    q = [row.rate for row in rows]
    for name, colour, style, label in (
        ("proof", GREY, (0, (4, 3)), "proved there: 2q"),
        ("printed", RED, "solid", "printed: q"),
        ("tight", BLUE, "solid", "true: ln(1 + q(e - 1))"),
    ):
        values = [getattr(row, name) for row in rows]
        axes.plot(q, values, color=colour, linestyle=style, linewidth=1.8, label=label)
    exact = [row.exact for row in rows]
    axes.plot(q, exact, "o", color=INK, markersize=5, label="randomised response, exactly")
    axes.set_xlabel("part of the records sampled, q", color=INK)
    axes.set_ylabel("epsilon on all records", color=INK)
    axes.set_ylim(0, 1.15 * max(exact))
    axes.set_xlim(0, None)
    axes.grid(color=RULE, linewidth=0.8)
    legend(axes)
    axes.set_title("Privacy of a sample", loc="left", color=INK, fontsize=11, pad=22)
    if path is not None:
        figure.savefig(path)
    return figure
