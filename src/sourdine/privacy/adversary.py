r"""What a guarantee leaves to an adversary who wants to learn about one person.

Let :math:`P` and :math:`Q` be the laws of all that is published on two neighbouring inputs. A test
says :math:`P` with probability :math:`\alpha` where :math:`Q` is true (its *false alarms*) and with
probability :math:`\beta` where :math:`P` is true (its *power*). If what is published is
:math:`(\varepsilon, \delta)`-private,

.. math::
    \beta \le \min\bigl(1,\ \delta + e^\varepsilon \alpha,\
    1 - e^{-\varepsilon}(1 - \delta - \alpha)\bigr),

and a mechanism reaches this for every :math:`\alpha` at once [1]_: with probability :math:`\delta`
it reveals the input, otherwise it answers by randomised response. Every private mechanism is a
random function of that mechanism's output [2]_, and so are :math:`n` such releases, each chosen
after the ones before it, of :math:`n` outputs. So the best test of :math:`n` releases counts the
yeses among :math:`n` randomised responses, if none of them revealed the input.

*Claim*: powers are those of that test, exactly but for :math:`e^\varepsilon`, which is rounded up.
*Checked by* ``test_one_release_has_the_power_of_the_formula``,
``test_no_test_of_randomised_responses_does_better`` and
``test_the_best_test_reaches_its_power``.

References
----------
.. [1] L. Wasserman, S. Zhou, "A statistical framework for differential privacy", Journal of the
   American Statistical Association 105(489), 2010.
.. [2] P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy",
   ICML 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.exact import exp_neg, integer, probability
from sourdine.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.exact import Number


STEEPEST = 700
"""From this epsilon on there is no protection to speak of: no factor is stated."""

MOST = 1000
"""The largest number of releases for which the best test is computed."""

SLACK = Fraction(1, 10)
"""How far odds may exceed e^epsilon before it counts as an accident of delta."""


@dataclass(frozen=True, slots=True)
class Adversary:
    """An adversary who knows everything but one person's record, and sees every release.

    Parameters
    ----------
    guarantee
        The guarantee of each release.
    releases
        The number of releases about the same people.

    Examples
    --------
    >>> seen = Adversary(Guarantee(0.5))
    >>> f"{float(seen.factor):.4f} {float(seen.power(0.05)):.4f}"
    '1.6487 0.0824'
    >>> [f"{float(chance):.3f}" for chance in seen.posterior(0.5)]
    ['0.378', '0.622']
    """

    guarantee: Guarantee
    releases: int = 1

    def __post_init__(self) -> None:
        Guarantee.read(self.guarantee)
        integer(self.releases, "releases", least=1, most=MOST)

    @property
    def epsilon(self) -> Fraction | float:
        """The epsilon of all releases together."""
        return self.releases * self.guarantee.epsilon

    @property
    def told(self) -> Fraction:
        r"""The delta of all releases together, :math:`1 - (1 - \delta)^n`."""
        return 1 - (1 - self.guarantee.delta) ** self.releases

    @property
    def factor(self) -> Fraction | None:
        r"""The factor by which odds can change, either way; None if there is no bound.

        For a pure guarantee it is :math:`e^\varepsilon`, and no answer exceeds it. Otherwise it is
        a tenth more, and answers that exceed it have the probability `passed` at most: the set
        :math:`S` of answers with :math:`P > cQ` has
        :math:`P(S) \le e^\varepsilon P(S)/c + \delta`.
        """
        if (most := self._of(self.epsilon)) is None:
            return None
        return most if self.guarantee.is_pure else (1 + SLACK) * most

    @property
    def passed(self) -> Fraction:
        r"""An upper bound of the probability that odds change by more than the factor, either way.

        With :math:`c = 1.1\,e^\varepsilon`: the odds of what is true rise by more with probability
        :math:`\frac{c}{c - e^\varepsilon}\,\delta = 11\delta` at most, and fall by more with
        :math:`11\delta/c \le 10\delta`. *Checked by* ``test_accidents_are_as_rare_as_stated``.
        """
        return min((1 + 2 / SLACK) * self.told, Fraction(1))

    def power(self, alarms: Number) -> Fraction:
        """Return the power of the best test with this rate of false alarms."""
        wrong = probability(alarms, "alarms", example=0.05)
        silent = 1 - self.told
        steep = self._of(self.guarantee.epsilon)
        if steep is None or wrong >= silent:
            return Fraction(1)
        return 1 - silent * (1 - _counted(wrong / silent, steep, self.releases))

    def corners(self) -> list[tuple[float, float]]:
        """Return false alarms and powers of the best deterministic tests.

        The powers of all other tests lie on the straight lines between them.

        Examples
        --------
        >>> [(round(x, 3), round(y, 3)) for x, y in Adversary(Guarantee(0.5)).corners()]
        [(0.0, 0.0), (0.378, 0.622), (1.0, 1.0)]
        """
        told, steep = self.told, self._of(self.guarantee.epsilon)
        if steep is None or told == 1:
            return [(0.0, 1.0), (1.0, 1.0)]
        whole = (steep.numerator + steep.denominator) ** self.releases
        points, alarms, power = [(0.0, float(told))], 0, 0
        for wrong, right in _counts(steep, self.releases):
            alarms, power = alarms + wrong, power + right
            points.append(
                (float((1 - told) * alarms / whole), float(told + (1 - told) * power / whole))
            )
        return [*points, *([(1.0, 1.0)] if told else [])]

    def posterior(self, prior: Number) -> tuple[Fraction, Fraction]:
        """Return the interval of a probability that was ``prior`` before the releases."""
        before = probability(prior, "prior", example=0.5)
        c = self.factor
        if c is None:
            return Fraction(0), Fraction(1)
        return before / (before + (1 - before) * c), before * c / (before * c + 1 - before)

    def _of(self, epsilon: Fraction | float) -> Fraction | None:
        """Return e^epsilon, rounded up; None if it is too large."""
        if not isinstance(epsilon, Fraction) or epsilon > STEEPEST:
            return None
        return (1 / exp_neg(epsilon)).above() if epsilon else Fraction(1)


def _counted(alarms: Fraction, factor: Fraction, n: int) -> Fraction:
    """Return the power of the best test that counts yes among n randomised responses.

    It says yes for the largest counts, and for one count with a probability that uses up the
    false alarms exactly (the Neyman-Pearson lemma).
    """
    whole: int = (factor.numerator + factor.denominator) ** n
    room, power = alarms * whole, Fraction(0)
    for wrong, right in _counts(factor, n):
        if wrong >= room:
            return (power + right * room / wrong) / whole
        room, power = room - wrong, power + right
    return Fraction(1)


def _counts(factor: Fraction, n: int) -> Iterator[tuple[int, int]]:
    """Yield, for n to 0 times yes, how often that happens where no is true and where yes is true.

    Both are in units of 1 over the n-th power of the factor's numerator plus denominator.
    """
    a, b = factor.numerator, factor.denominator
    wrong, right = b**n, a**n
    for yes in range(n, -1, -1):
        yield wrong, right
        fewer = n - yes + 1
        wrong, right = wrong * yes * a // (fewer * b), right * yes * b // (fewer * a)
