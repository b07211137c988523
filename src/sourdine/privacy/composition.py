"""Composition of guarantees: basic, parallel, advanced, and amplification by sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg, given, integer, number, probability
from sourdine.privacy.guarantee import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.exact import Number


# ---- Basic, parallel and group composition -------------------------------------------------------


def compose(*guarantees: Guarantee) -> Guarantee:
    r"""Compose guarantees on the same data, each chosen after seeing the others.

    .. math:: \left(\sum_i \varepsilon_i,\ \min\Bigl(1, \sum_i \delta_i\Bigr)\right)

    Notes
    -----
    The sums are exact, so the order never matters. *Checked by*
    ``test_compose_is_associative_and_commutative``; *tight* for randomised response, by
    ``test_compose_is_tight``.

    References
    ----------
    .. [1] C. Dwork, A. Roth, "The algorithmic foundations of differential privacy", 2014,
       theorem 3.16 and appendix B.

    Examples
    --------
    >>> print(compose(*[Guarantee(0.1)] * 10))
    epsilon 1, one record added or removed
    """
    relation = _one_relation(guarantees, "compose")
    if not all(g.is_finite for g in guarantees):
        return Guarantee.none(relation)
    return Guarantee(
        sum((g.exact_epsilon() for g in guarantees), Fraction(0)),
        min(sum((g.delta for g in guarantees), Fraction(0)), Fraction(1)),
        relation,
    )


def parallel(*guarantees: Guarantee, relation: Relation | None = None) -> Guarantee:
    r"""Compose guarantees on disjoint groups of records.

    A record added or removed touches one group, so the largest epsilon and the largest delta hold.
    A record replaced may stay in group :math:`i`, which is two steps there, or leave :math:`i` for
    :math:`j`, one step in each:

    .. math::
        \max_i\,(2\varepsilon_i,\ (1 + e^{\varepsilon_i})\delta_i)
        \quad\text{and}\quad
        \max_{i \ne j}\,(\varepsilon_i + \varepsilon_j,\ \delta_i + \delta_j)

    The first is never the smaller, so it is the result. *Checked by*
    ``test_parallel_covers_every_move``.

    Parameters
    ----------
    *guarantees
        One for each group, under ADD_REMOVE, or all under LOCAL with groups that are public.
    relation
        ``None`` for the relation of the guarantees, or SUBSTITUTE for what they are worth there.

    References
    ----------
    .. [1] F. McSherry, "Privacy integrated queries", SIGMOD 2009, theorem 4.

    Examples
    --------
    >>> print(parallel(Guarantee(1, relation=ADD_REMOVE), Guarantee(0.5, relation=ADD_REMOVE)))
    epsilon 1, one record added or removed
    >>> print(parallel(Guarantee(1, relation=ADD_REMOVE), relation=SUBSTITUTE))
    epsilon 2, one record replaced
    """
    given = _one_relation(guarantees, "parallel")
    if given is SUBSTITUTE:
        raise ParameterError(
            "guarantees", "hold for one record added or removed", "SUBSTITUTE",
            "A replaced record may change its group, and so the sizes of two groups. Use "
            "Guarantee(1, relation=ADD_REMOVE) for each group, then parallel(..., "
            "relation=SUBSTITUTE).",
        )  # fmt: skip
    moved = [g.under(given if relation is None else relation) for g in guarantees]
    if not all(g.is_finite for g in moved):
        return Guarantee.none(moved[0].relation)
    return Guarantee(
        max(g.exact_epsilon() for g in moved), max(g.delta for g in moved), moved[0].relation
    )


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """Return what holds for ``size`` records at once, such as those of a household.

    Examples
    --------
    >>> print(group(Guarantee(0.5), 4))
    epsilon 2, one record added or removed
    """
    return Guarantee.read(guarantee).group(size)


def _one_relation(guarantees: tuple[Guarantee, ...], name: str) -> Relation:
    if not guarantees:
        raise ParameterError("guarantees", "hold at least one", "", f"Use {name}(Guarantee(1)).")
    relations = {Guarantee.read(g).relation for g in guarantees}
    if len(relations) > 1:
        names = " and ".join(sorted(r.name for r in relations))
        hint = "Account for local and central guarantees separately."
        if relations == {ADD_REMOVE, SUBSTITUTE}:
            hint = "Use guarantee.under(SUBSTITUTE) for those under ADD_REMOVE."
        raise ParameterError("guarantees", "have the same relation", names, hint)
    return relations.pop()


# ---- Advanced composition of equal guarantees ----------------------------------------------------


_MOST = 10_000


def compose_advanced(guarantee: Guarantee, times: int, slack: Number) -> Guarantee:
    r"""Compose ``times`` equal guarantees, for a little more delta.

    Of all :math:`\varepsilon`-private mechanisms randomised response composes worst [1]_, and its
    privacy loss after :math:`k` runs is :math:`(k - 2l)\varepsilon` with probability
    :math:`P_l = \binom{k}{l} e^{(k-l)\varepsilon} / (1 + e^\varepsilon)^k`. With
    :math:`Q_l = P_{k-l}` and the slack :math:`s`, the least epsilon is

    .. math::
        e^{\varepsilon'} = \max_i \frac{\sum_{l<i} P_l - s}{\sum_{l<i} Q_l},
        \qquad \delta' = 1 - (1 - k\delta)(1 - s),

    rounded up, and never above :math:`k\varepsilon`. The paper's :math:`(1-\delta)^k` is replaced
    by the smaller :math:`1 - k\delta`. The runs may be adaptive; they must not differ in epsilon.

    Parameters
    ----------
    guarantee
        The guarantee of each run.
    times
        The number :math:`k` of runs, at most 10000: the work grows as its square.
    slack
        The probability :math:`s`, from 0 to 1, added to delta.

    Notes
    -----
    *Claim*: no smaller epsilon holds for randomised response. *Checked by*
    ``test_advanced_is_optimal``. *Claim*: rounding is up. *Checked by*
    ``test_advanced_rounds_up``.

    References
    ----------
    .. [1] P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy",
       IEEE Transactions on Information Theory 63(6), 2017, theorem 3.3.

    Examples
    --------
    >>> print(compose_advanced(Guarantee(0.1), times=100, slack=1e-6))
    epsilon 4.77457, delta 1e-06, one record added or removed
    """
    k, s = integer(times, "times", least=1), probability(slack, "slack")
    if k > _MOST:
        hint = "Use {times}, or Concentrated.from_pure(guarantee).times(k).at(delta) for more."
        raise ParameterError("times", f"be at most {_MOST}", given(k), hint, times=_MOST)
    if not Guarantee.read(guarantee).is_finite:
        return guarantee
    total = k * guarantee.exact_epsilon()
    delta = 1 - (1 - min(k * guarantee.delta, Fraction(1))) * (1 - s)
    if s == 1 or total == 0:
        return Guarantee(0, delta, guarantee.relation)
    ratio = _largest_ratio(guarantee.exact_epsilon(), k, s)
    saved = Real.of(1 / ratio).log()
    return Guarantee(min(total, (total - saved).above()), delta, guarantee.relation)


def _largest_ratio(epsilon: Fraction, k: int, s: Fraction) -> Fraction:
    r"""Bound :math:`\max_i (\sum_{l<i} w_l - sN) / \sum_{l<i} v_l` from above, at most 1.

    The weights are :math:`w_l = \binom{k}{l} e^{-l\varepsilon}` and
    :math:`v_l = \binom{k}{l} e^{l\varepsilon}`, their sum
    :math:`N = (1 + e^{-\varepsilon})^k`; the ratio is :math:`e^{\varepsilon' - k\varepsilon}`.
    All are integers over :math:`2^{256}`, each rounded in its own direction. The ratio rises to its
    maximum and falls, so half of the best is far enough to stop.
    """
    one = 1 << 256
    q_lo, q_hi = exp_neg(epsilon).bounds(256)
    w, v = one, one
    a, b = -math.floor(s * ((one + q_lo) ** k >> 256 * (k - 1))), 0
    best = Fraction(0)
    for i in range(1, k + 2):
        a, b = a + w, b + v
        size = 128 + max(b.bit_length() - a.bit_length(), 0)
        ratio = Fraction(-((-a << size) // b), 1 << size)
        if 0 < 2 * ratio < best:
            break
        best = max(best, ratio)
        w = -(-w * (k - i + 1) * q_hi // i >> 256)
        v = v * (k - i + 1) * one // (i * q_hi)
    return min(best, Fraction(1))


# ---- Amplification by sampling -------------------------------------------------------------------
#
# .. math:: \varepsilon' = \ln\bigl(1 + q(e^\varepsilon - 1)\bigr), \qquad \delta' = q\,\delta
#
# for a sample that holds each record with probability :math:`q` and stays secret [1]_. The form
# :math:`(q\varepsilon, q\delta)`, as in Stemmer's lecture 9, is false for every :math:`0 < q < 1`:
# at :math:`\varepsilon = 1` and :math:`q = 1/2` it claims 0.5, and randomised response on the
# sample loses 0.620. *Checked by* ``test_amplification_is_tight`` and
# ``test_lecture_form_is_false``.
#
# References
# ----------
# .. [1] B. Balle, G. Barthe, M. Gaboardi, "Privacy amplification by subsampling: tight analyses via
#    couplings and divergences", NeurIPS 2018, theorems 8 and 9.


def poisson(guarantee: Guarantee, rate: Number) -> Guarantee:
    """Return what a guarantee on a Poisson sample is worth on all records, under ADD_REMOVE.

    Each record is in the sample independently with probability ``rate``. Epsilon is rounded up.

    Examples
    --------
    >>> print(poisson(Guarantee(1), rate=0.5))
    epsilon 0.620115, one record added or removed
    """
    return _on_all(_under(guarantee, ADD_REMOVE), number(rate, "rate", above=0, most=1))


def without_replacement(guarantee: Guarantee, sample: int, n: int) -> Guarantee:
    """Return what a guarantee on ``sample`` of ``n`` records is worth, under SUBSTITUTE.

    Every subset of that size is equally likely. Epsilon is rounded up.

    Examples
    --------
    >>> print(without_replacement(Guarantee(1, 1e-6, SUBSTITUTE), sample=10, n=1000))
    epsilon 0.0170369, delta 1e-08, one record replaced
    """
    return _on_all(_under(guarantee, SUBSTITUTE), _share(sample, n))


def _on_all(guarantee: Guarantee, q: Fraction) -> Guarantee:
    if not guarantee.is_finite:
        return guarantee
    epsilon = _amplified(guarantee.exact_epsilon(), q)
    return Guarantee(epsilon, q * guarantee.delta, guarantee.relation)


def _amplified(epsilon: Fraction, q: Fraction) -> Fraction:
    r"""Round :math:`\varepsilon + \ln(q + (1 - q)e^{-\varepsilon})` up, at most epsilon."""
    if q == 1 or epsilon == 0:
        return epsilon
    gain = (1 / (q + (1 - q) * exp_neg(epsilon))).log()
    return min((Real.of(epsilon) - gain).above(), epsilon)


def _share(sample: object, n: object) -> Fraction:
    most = integer(n, "n", least=1)
    m = integer(sample, "sample", least=1)
    if m > most:
        must = f"be at most n ({most})"
        raise ParameterError("sample", must, given(m), "Use {sample} or less.", sample=most)
    return Fraction(m, most)


_SAMPLES = {
    ADD_REMOVE: ("poisson", "The size of a Poisson sample is random"),
    SUBSTITUTE: ("without_replacement", "The size of such a sample is fixed"),
}


def _under(guarantee: Guarantee, relation: Relation) -> Guarantee:
    """Return a guarantee under the relation of a sample, or name the function for the other one."""
    given = Guarantee.read(guarantee, relation=relation).relation
    if given is relation:
        return guarantee
    name, reason = _SAMPLES[relation]
    hint = "A local guarantee needs no sample of a curator."
    if given in _SAMPLES:
        hint = f"Use {_SAMPLES[given][0]}(...)."
    needs = f"{reason}, so {name} needs a guarantee under {relation.name}."
    must = f"hold for {relation.description}"
    raise ParameterError("guarantee", must, given.name, f"{needs} {hint}")


# ---- What a guarantee leaves to an adversary who wants to learn about one person -----------------


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
            corner = (1 - told) * alarms / whole, told + (1 - told) * power / whole
            points.append((float(corner[0]), float(corner[1])))
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
