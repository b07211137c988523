r"""Bits of an answer: how many answers there could have been, weighed by a code.

A code gives every sequence of answers :math:`\pi` a length :math:`L(\pi)` with
:math:`\sum_\pi 2^{-L(\pi)} \le 1`: a short length for what happens often, a long one for surprises.

References
----------
.. [1] R. Krichevsky, V. Trofimov, "The performance of universal encoding", IEEE Transactions on
   Information Theory 27(2), 1981.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, lgamma, log, log2, nextafter, pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Spent", "kt_bits"]

_LN2, _LN_PI = log(2), log(pi)


def kt_bits(yes: int, no: int) -> float:
    r"""Return the length of a sequence of yes and no in the code of Krichevsky and Trofimov.

    .. math:: L = -\log_2 \frac{\Gamma(y + \frac12)\,\Gamma(n + \frac12)}{\pi\,\Gamma(y + n + 1)}

    which is what :math:`-\log_2 \frac{y + 1/2}{y + n + 1}` for each yes, and the like for each no,
    sum up to, in any order. *Checked by* ``test_lengths_of_all_sequences_are_a_code``.

    Examples
    --------
    Five hundred answers of which ten are yes:

    >>> round(kt_bits(10, 490), 1), round(kt_bits(1, 0), 9)
    (75.5, 1.0)
    """
    nats = _LN_PI + lgamma(yes + no + 1) - (lgamma(yes + 0.5) + lgamma(no + 0.5))
    return max(0.0, nats / _LN2)


@dataclass(frozen=True, slots=True)
class Spent:
    r"""What has been told so far: the number of answers and the bits of the whole transcript.

    Yes and no are counted in the code of Krichevsky and Trofimov, values by the logarithm of the
    number of levels: given what came before, these are chances that sum to one, so the lengths
    of all transcripts of any analyst satisfy Kraft's inequality.

    Parameters
    ----------
    answers
        How many answers there were.
    yes, no
        How many of them said yes or no.
    value_bits
        The bits of all others.
    claims
        How many answers came with a claim about the truth, such as an interval.

    Examples
    --------
    >>> round(Spent().bit(True).value(64).bits, 9)
    7.0
    """

    answers: int = 0
    yes: int = 0
    no: int = 0
    value_bits: float = 0.0
    claims: int = 0

    @property
    def bits(self) -> float:
        """Return the length of the transcript, in bits."""
        return kt_bits(self.yes, self.no) + self.value_bits

    def bit(self, answer: bool, *, claim: bool = True) -> Spent:  # noqa: FBT001 - the answer
        """Return what is spent after one more yes or no."""
        yes, no = self.yes + bool(answer), self.no + (not answer)
        return Spent(self.answers + 1, yes, no, self.value_bits, self.claims + claim)

    def value(self, levels: int | Fraction) -> Spent:
        """Return what is spent after one more value, one of ``levels``; 1 if none is to be seen.

        Where values are not equally usual, it is one over the chance of the value.
        """
        total = self.value_bits + log2(levels)
        up = nextafter(total, inf) if levels > 1 else total
        return Spent(self.answers + 1, self.yes, self.no, up, self.claims + 1)
