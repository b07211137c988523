"""Randomisers with a memory: a permanent response, and a fresh one in each round."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import exp_neg, given, integer, positive
from sourdine.laws import Law
from sourdine.local.categorical.hashing import LocalHashing, digits_in, primes_for
from sourdine.local.categorical.oracle import Oracle, share
from sourdine.local.table.columns import Choice, Flag, plain
from sourdine.local.table.part import ColumnPart
from sourdine.mechanisms.mechanism import Specimen, register, settle
from sourdine.mechanisms.randomized_response import FrequencyOracle, RandomizedResponse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Number, Real
    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


# ---- What all randomisers with a memory share: a permanent response, and a fresh one on top of it
#
# Randomised response on :math:`g` values is a coin: with chance
# :math:`\lambda(\varepsilon) = \frac{e^\varepsilon - 1}{e^\varepsilon + g - 1}` say the truth, else
# any value, all alike. Two in a row are one with the product of the chances. So a device that keeps
# a response at :math:`\varepsilon_\infty` and tells it with the chance
#
# .. math:: \lambda_2 = \frac{\lambda(\varepsilon_1)}{\lambda(\varepsilon_\infty)}
#
# sends, each single time, a randomised response at exactly :math:`\varepsilon_1`.


ENTRIES = 1 << 20
"""Permanent responses drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptResponses:
    """What the devices of many people keep of one question, a row for each person: a secret.

    It is the hash of each person, the permanent response to each hashed answer, and the category
    that an absent answer is taken for. All is drawn before the first answer, and depends on none.
    """

    keys: NDArray[np.int64]
    kept: NDArray[np.int64]
    absent: NDArray[np.int64]

    def of(self, who: slice | NDArray[np.bool_]) -> KeptResponses:
        """Return what some of the people keep."""
        return KeptResponses(keys=self.keys[who], kept=self.kept[who], absent=self.absent[who])


class Memoised(FrequencyOracle):
    r"""A frequency oracle that answers again and again, from a memory.

    `reports` draws as any oracle does, once and without a memory to keep. `remember` draws the
    memories of many people, `again` their reports of one more round.
    """

    __slots__ = ()

    epsilon: Number
    permanent: Number

    @property
    @abstractmethod
    def answers(self) -> int:
        """How many permanent responses a person has, g: one for each hashed answer."""

    @property
    @abstractmethod
    def hashes(self) -> int:
        """How many different hashes there are."""

    @abstractmethod
    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the hashed answers, 0 to g - 1, of keys and categories."""

    @property
    def spared(self) -> Real:
        r"""The chance :math:`\lambda(\varepsilon_\infty)` that a permanent response is the truth.

        Else it is any value, the truth among them.
        """
        return spared(Fraction(self.permanent), self.answers)

    @property
    def told(self) -> Real:
        r"""The chance :math:`\lambda_2` that a round tells the permanent response.

        Else it tells any value, that one among them.
        """
        return _told(Fraction(self.epsilon), Fraction(self.permanent), self.answers)

    @property
    def total(self) -> Fraction:
        r"""What all rounds cost together, :math:`g\varepsilon_\infty`, under the relation ALIKE."""
        return self.answers * Fraction(self.permanent)

    def remember(self, people: int, source: Source) -> KeptResponses:
        """Draw the memories of a number of people, whatever they will answer."""
        g = self.answers
        keys = noise.uniform_below(self.hashes, people, source=source)
        every = np.tile(np.arange(g), people)
        kept = _responses(every, self.spared, g, source).reshape(people, g)
        absent = noise.uniform_below(self.categories, people, source=source)
        return KeptResponses(keys=np.asarray(keys), kept=kept, absent=np.asarray(absent))

    def again(
        self, memory: KeptResponses, codes: NDArray[np.int64], source: Source
    ) -> NDArray[np.int64]:
        """Draw the reports of one round; a code below 0 or above k - 1 is an absent answer."""
        there = (codes >= 0) & (codes < self.categories)
        hashed = self.hashed(memory.keys, np.where(there, codes, memory.absent))
        lasting = np.take_along_axis(memory.kept, hashed[:, None], axis=1)[:, 0]
        return memory.keys * self.answers + _responses(lasting, self.told, self.answers, source)

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[Any]:
        """Draw the first reports of people with new memories, which are thrown away."""
        drawn, at_once = np.empty(codes.size, np.int64), max(1, ENTRIES // self.answers)
        for start in range(0, codes.size, at_once):
            part = codes[start : start + at_once]
            drawn[start : start + at_once] = self.again(
                self.remember(part.size, source), part, source
            )
        return drawn


def _responses(x: NDArray[np.int64], truth: Real, g: int, source: Source) -> NDArray[np.int64]:
    """Return each value with the chance ``truth``, else any."""
    anyone = noise.uniform_below(g, x.size, source=source)
    return np.where(noise.bernoulli(truth, x.size, source=source), x, anyone)


@lru_cache(256)
def spared(epsilon: Fraction, g: int) -> Real:
    """Return the chance with which randomised response does not even toss for another value."""
    b = exp_neg(epsilon)
    return (1 - b) / (1 + (g - 1) * b)


@lru_cache(256)
def _told(epsilon: Fraction, permanent: Fraction, g: int) -> Real:
    return spared(epsilon, g) / spared(permanent, g)


def read_permanent(permanent: object, epsilon: Fraction) -> Fraction:
    r"""Return :math:`\varepsilon_\infty`, which is above the cost of one report."""
    lasting, tries = positive(permanent, "permanent", example=2 * epsilon), 2 * epsilon
    if lasting <= epsilon:
        must, hint = f"be above epsilon ({epsilon})", "Use {permanent}, or a smaller epsilon."
        raise ParameterError("permanent", must, given(permanent), hint, permanent=tries)
    return lasting


# ---- Permanent randomised response: one response to each category, kept and told again and again -


@dataclass(frozen=True, slots=True, kw_only=True)
class PermanentResponse(Memoised, Oracle):
    r"""Keep a response to each category at :math:`\varepsilon_\infty`, tell it at another.

    RAPPOR's two steps, a permanent and an instantaneous response [1]_, on categories instead of
    bits. One report is a `RandomizedResponse` at :math:`\varepsilon_1`.

    Parameters
    ----------
    epsilon
        :math:`\varepsilon_1`, the privacy loss of one report, above 0.
    permanent
        :math:`\varepsilon_\infty`, what any number of rounds costs a person whose answer stays;
        above ``epsilon``.
    categories
        :math:`k`, from 2 to 256. All rounds together cost :math:`k\varepsilon_\infty` between
        histories that change alike.

    Notes
    -----
    *Claim*: one report is :math:`\varepsilon_1`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.permanent]``; rounds by ``[rounds.response.stays]``,
    ``[rounds.response.alike]`` and ``[rounds.response.any]``.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable
       privacy-preserving ordinal response", CCS 2014.
    .. [2] H. H. Arcolezi, J.-F. Couchot, B. Al Bouna, X. Xiao, "Improving the utility of locally
       differentially private protocols for longitudinal and multidimensional frequency
       estimates", Digital Communications and Networks, 2022 (L-GRR).

    Examples
    --------
    >>> smokes = PermanentResponse(epsilon=0.5, permanent=1, categories=2)
    >>> smokes.law(1).pmf([0, 1]).round(3).tolist()
    [0.378, 0.622]
    """

    most: ClassVar[int] = 256

    permanent: Number

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        settle(self, permanent=read_permanent(self.permanent, Fraction(self.epsilon)))

    @property
    def answers(self) -> int:
        return self.categories

    @property
    def hashes(self) -> int:
        """One: the answer is its own hash."""
        return 1

    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        return x + key

    @property
    def response(self) -> RandomizedResponse:
        return RandomizedResponse(epsilon=self.epsilon, categories=self.categories)

    @property
    def miss(self) -> Real:
        """The chance of another category than the truth, to any precision."""
        return share(self.categories - 1, 1, Fraction(self.epsilon))

    @property
    def chances(self) -> tuple[float, float]:
        return self.response.chances

    @property
    def noise_variance(self) -> float:
        return self.response.noise_variance

    def supports(self, y: NDArray[np.int64], x: int) -> NDArray[np.bool_]:
        return np.equal(y, x)

    def law(self, x: int) -> Law:
        return Law.two_levels(x, 1, self.categories, float(self.epsilon))


register(Specimen(
    name="category.permanent", inputs=tuple(range(4)), tight=True,
    make=lambda epsilon: PermanentResponse(
        epsilon=epsilon, permanent=2 * positive(epsilon, "epsilon"), categories=4
    ),
))  # fmt: skip


# ---- Memoised local hashing: a few permanent responses, however many categories there are --------


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoisedHashing(Memoised, LocalHashing):
    r"""LOLOHA: hash the category once and for all, keep a response to each of its :math:`g` values.

    A person draws a hash (that of `LocalHashing`), and for each hashed value a randomised response
    at :math:`\varepsilon_\infty`; both are kept. Each round sends the hash, and the response to the
    hashed answer of that round by another randomised response, so that one report is
    :math:`\varepsilon_1`-LDP. A report looks like one of `LocalHashing` at :math:`\varepsilon_1`
    and :math:`g`, and is estimated like one:

    .. math:: p = \frac{e^{\varepsilon_1}}{e^{\varepsilon_1} + g - 1}, \qquad q = \frac1g, \qquad
              \frac{q(1-q)}{(p-q)^2} =
              \frac{(e^{\varepsilon_1} + g - 1)^2}{(g - 1)(e^{\varepsilon_1} - 1)^2}

    Parameters
    ----------
    epsilon
        :math:`\varepsilon_1`, the privacy loss of one report, above 0.
    permanent
        :math:`\varepsilon_\infty`, what any number of rounds costs a person whose answer stays;
        above ``epsilon``.
    categories
        :math:`k`, at least 2.
    values
        :math:`g`, a prime. All rounds together cost :math:`g\varepsilon_\infty` between histories
        that change alike (`sourdine.local.rounds.histories`), so 2 is mostly best.

    Notes
    -----
    *Claim*: one report is :math:`\varepsilon_1`-LDP, no less. *Checked by*
    ``test_exact_worst_case[category.memoised]``; rounds by ``[rounds.hashing.stays]`` and
    ``[rounds.hashing.any]``. For :math:`g = 2` the second response is that of the paper. For more
    values the paper's formula [1]_ is cautious: it leaves one report below :math:`\varepsilon_1`
    (``test_the_second_response_of_the_paper``); here it is exact.

    References
    ----------
    .. [1] H. H. Arcolezi, C. Pinzón, C. Palamidessi, S. Gambs, "Frequency estimation of evolving
       data under local differential privacy", EDBT 2023.

    Examples
    --------
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> hours.total, round(hours.noise_variance, 2)
    (Fraction(2, 1), 25.67)
    >>> print(hours.guarantee)
    epsilon 0.4, any two inputs of one person
    """

    permanent: Number
    values: int = 2

    def __post_init__(self) -> None:
        Oracle.__post_init__(self)
        k, g = self.categories, integer(self.values, "values", least=2)
        if g not in primes_for(k):
            must = f"be a prime for which reports of {k} categories can be tallied"
            raise ParameterError("values", must, given(self.values), "Use {values}.", values=2)
        permanent = read_permanent(self.permanent, Fraction(self.epsilon))
        settle(self, permanent=permanent, values=g, digits=digits_in(k, g))

    @property
    def answers(self) -> int:
        return self.values

    @property
    def hashes(self) -> int:
        return int(self.values**self.digits)

    def hashed(self, key: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
        return LocalHashing.hashed(self, key, x)


register(Specimen(
    name="category.memoised", inputs=tuple(range(5)), tight=True,
    make=lambda epsilon: MemoisedHashing(
        epsilon=epsilon, permanent=2 * positive(epsilon, "epsilon"), categories=5, values=3
    ),
))  # fmt: skip


# ---- Which randomiser with a memory answers a question of a survey of several rounds -------------


HASHED = 2
"""To how many values answers are hashed: fewer would be none, and more cost more in all."""


def memoised_part(schema: Schema, name: str) -> ColumnPart:
    """Return a column with its share of the total, to be answered in every round."""
    column, total = schema.columns[name], schema.share(name)
    once = None if schema.once is None else schema.once * total / schema.epsilon
    oracle = memoised(name, column, total, once)
    epsilon = oracle.guarantee.exact_epsilon()
    return ColumnPart(name=name, column=column, epsilon=epsilon, use="report", memoised=oracle)


def memoised(
    name: str, column: Attribute, total: Fraction, once: Fraction | None
) -> MemoisedHashing | PermanentResponse:
    r"""Return what answers a question in all rounds for a total of :math:`g\varepsilon_\infty`.

    Of the two, the one whose single rounds estimate a rare category best. The ``total`` is what all
    rounds may cost between histories that change alike, and ``once`` what one round costs; if left
    out, half of what all rounds cost where an answer stays.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(memoised("smokes", Flag(), Fraction(2), None))
    PermanentResponse(epsilon=0.5, categories=2, permanent=1)
    >>> print(memoised("hour", Choice(*range(24)), Fraction(2), Fraction(2, 5)))
    MemoisedHashing(epsilon=0.4, categories=24, values=2, permanent=1)
    """
    if not isinstance(column, (Choice, Flag)):
        must = "be a Choice or a Flag in a survey of several rounds"
        got = f"a column of {column.kind if column.kind == 'choices' else 'numbers'}"
        hint = "Ask for a range: use Choice('under 20', '20 to 40', 'over 40')."
        raise ParameterError(f"column {name!r}", must, got, hint)
    if column.method not in (None, "auto", "response", "hashing"):
        what, got = f"the method of column {name!r}", repr(column.method)
        must = "be 'response' or 'hashing' in a survey of several rounds"
        hint = "Omit {method} for the best one."
        raise ParameterError(what, must, got, hint, method=LEFT_OUT)
    k = len(column.names)
    lasting = {"response": total / k, "hashing": total / HASHED}
    if column.method in lasting:
        lasting = {column.method: lasting[column.method]}
    enough = {m: cost for m, cost in lasting.items() if once is None or once < cost}
    if k > PermanentResponse.most and len(enough) > 1:
        del enough["response"]
    if not enough:
        most = plain(max(lasting.values()))
        must = f"leave column {name!r} less than a permanent answer costs ({most})"
        got, hint = str(plain(once) if once else once), "Use a smaller value, or omit {once}."
        raise ParameterError("once", must, got, hint, once=LEFT_OUT)
    made = [
        make(epsilon=once or enough[m] / 2, permanent=enough[m], categories=k)
        for m, make in (("response", PermanentResponse), ("hashing", MemoisedHashing))
        if m in enough
    ]
    return min(made, key=lambda oracle: oracle.noise_variance)
