"""What several rounds cost a person, and the law of a whole history."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import exp_neg, given, integer, kind, one_of, positive
from sourdine.laws import Law
from sourdine.local.rounds.memoised import Memoised, MemoisedHashing, PermanentResponse
from sourdine.mechanisms.mechanism import (
    Mechanism,
    Specimen,
    read_beta,
    read_ticks,
    register,
    settle,
)
from sourdine.privacy import LOCAL, Guarantee, Relation
from sourdine.privacy.guarantee import ALIKE, shown
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sourdine.exact import Number, Real
    from sourdine.local.table.schema import Schema
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source

    Floats = NDArray[np.float64]


# ---- What the reports of several rounds reveal of one person, for three sets of histories --------
#
# Write :math:`s = r^t` with :math:`r = q_2/p_2` of the response that is drawn anew each round. A
# person whose hashed answer is the same in :math:`t` rounds loses
#
# .. math:: L(t) = \ln \frac{e^{\varepsilon_\infty} + (g-1)s}{1 + (e^{\varepsilon_\infty} + g -
# 2)s},
#           \qquad L(1) = \varepsilon_1, \qquad L(\infty) = \varepsilon_\infty .
#
# between      which histories                     the loss over :math:`T` rounds
# ``stays``    any two answers that never change   :math:`L(T) < \varepsilon_\infty`
# ``alike``    any two that change in the same     the largest :math:`\sum_{c \le g} L(t_c)` with
#              rounds, hashed                      :math:`\sum t_c = T`; below
#                                                  :math:`g\varepsilon_\infty`
# ``any``      any two                             grows with :math:`T`: *when* an answer changes
#                                                  is not hidden
#
# The proofs are in ``docs/mathematics/rounds.md``.


BETWEEN = ("stays", "alike", "any")
MOST_ROUNDS = 520
"""The most rounds for which the loss between any two histories of two values is found exactly."""
UP = Fraction(10**12 + 1, 10**12)
"""Sums of floats are rounded up by this."""


@lru_cache(1024)
def stays(oracle: Memoised, rounds: int) -> Fraction:
    """Return the loss of a person whose answer never changes, rounded up.

    *Checked by* ``test_exact_worst_case[rounds.hashing.stays]``.

    Examples
    --------
    >>> from sourdine.local.rounds.memoised import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(stays(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.694, 0.976, 1.0]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    g, b, left = oracle.answers, exp_neg(Fraction(oracle.permanent)), _power(_drop(oracle), rounds)
    found = ((1 + (g - 1) * b * left) / (b + (1 + (g - 2) * b) * left)).log().above()
    return min(found, Fraction(oracle.permanent))


@lru_cache(256)
def alike(oracle: Memoised, rounds: int) -> Fraction:
    """Return the loss between histories whose hashed answers change in the same rounds.

    *Checked by* ``test_exact_worst_case[rounds.response.alike]``.

    Examples
    --------
    >>> from sourdine.local.rounds.memoised import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(alike(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.8, 1.556, 2.0]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    one = np.array([0.0, *(float(stays(oracle, t)) for t in range(1, rounds + 1))])
    best = one
    for _ in range(min(oracle.answers, rounds) - 1):
        best = np.array([(best[: t + 1] + one[t::-1]).max() for t in range(rounds + 1)])
    return min(Fraction(float(best[rounds])) * UP, oracle.total)


@lru_cache(256)
def any_two(oracle: Memoised, rounds: int) -> Fraction:
    r"""Return the loss between any two histories: exact for two values, else an upper bound.

    A report's law depends on the numbers :math:`m_{cy}` of rounds with the hashed answer :math:`c`
    and the report :math:`y` alone, through :math:`\prod_c \sum_m G_{cm} \prod_y I_{my}^{m_{cy}}`.
    For two values all such numbers are tried. For more, a round tells at most what its own response
    does, :math:`T \ln(p_2/q_2)` in all. *Checked by* ``test_exact_worst_case[rounds.hashing.any]``.

    Examples
    --------
    >>> from sourdine.local.rounds.memoised import MemoisedHashing
    >>> hours = MemoisedHashing(epsilon=0.4, permanent=1, categories=96)
    >>> [round(float(any_two(hours, t)), 3) for t in (1, 2, 5, 52)]
    [0.4, 0.8, 1.893, 23.342]
    """
    if rounds == 1:
        return Fraction(oracle.epsilon)
    if oracle.answers > 2 or rounds > MOST_ROUNDS:
        return rounds * (1 / _drop(oracle)).log().above()
    kept, told = _two(oracle.spared), _two(oracle.told)

    def weight(same: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
        """Return the log chance of reports in the rounds of one answer: it, and the other."""
        true = kept[0] + same * told[0] + other * told[1]
        return np.logaddexp(true, kept[1] + same * told[1] + other * told[0])

    worst = 0.0
    for n0 in range(rounds // 2 + 1):  # how far apart histories are under so many zeros and ones
        n1 = rounds - n0
        a, b = np.arange(n0 + 1)[:, None], np.arange(n1 + 1)
        chance = weight(a, b) + weight(n1 - b, n0 - a)
        worst = max(worst, float(chance.max() - chance.min()))
    return Fraction(worst) * UP


def _two(spared: Real) -> tuple[float, float]:
    """Return the log chances of the truth and of the other of two values."""
    return -float((2 / (1 + spared)).log()), -float((2 / (1 - spared)).log())


def _drop(oracle: Memoised) -> Real:
    """Return the odds r of another value against the permanent response, in one round."""
    told = oracle.told
    return (1 - told) / (1 + (oracle.answers - 1) * told)


def _power(x: Real, n: int) -> Real:
    if n == 1:
        return x
    half = _power(x, n // 2)
    return half * half * x if n % 2 else half * half


# ---- `RoundCosts`: what rounds cost a person, for three sets of histories ------------------------


NOT_HIDDEN = (
    "in which rounds a (hashed) answer changed: between any two histories {rounds} cost up to "
    "epsilon {any}"
)
KEPT = (
    "by the person alone, in secret: a hash and a response for each column. To lose it and begin "
    "anew costs all again"
)
SENT = (
    "each round the hash and one randomised answer for each column; by the hash, reports of one "
    "person may be told to be of one person"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCosts(Displayable):
    """What the rounds of a survey that were answered cost one person, all columns together.

    Parameters
    ----------
    one
        One round: between any two answers.
    stays
        All these rounds, for a person whose answers never change.
    alike
        All these rounds, between two histories whose hashed answers change in the same rounds.
    any
        All these rounds, between any two histories; *when* an answer changes can be seen, so it
        grows with the rounds.
    """

    schema: Schema
    rounds: int
    one: Guarantee
    stays: Guarantee
    alike: Guarantee
    any: Guarantee

    def sheet(self) -> Sheet:
        """Return what is printed: the columns, the costs, what is kept and what is sent."""
        lines = [
            (name, part.column.kind, shown(part.epsilon), str(part.memoised))
            for name, part in self.schema.parts("report").items()
        ]
        rounds, total = f"{self.rounds} rounds", shown(self.schema.epsilon)
        stays, any_ = (shown(cost.exact_epsilon()) for cost in (self.stays, self.any))
        notes = [
            ("one round", f"{self.one}"),
            (rounds, f"{self.alike}; {total} at most, in however many rounds"),
            ("stays", f"epsilon {stays}, if the answers never change"),
            ("not hidden", NOT_HIDDEN.format(rounds=rounds, any=any_)),
            ("kept", KEPT),
            ("sent", SENT),
        ]
        if self.schema.method == "sample":
            asked = "each person reports one column, drawn at random, in every round"
            notes.append(("asked", asked))
        return Sheet(heads=("column", "kind", "one round", "method"), lines=lines, notes=notes)


def costs(schema: Schema, rounds: int | None = None) -> RoundCosts:
    """Return what a number of rounds of a survey cost; all of its own if omitted."""
    most = several(schema).rounds or 1
    t = most if rounds is None else integer(rounds, "rounds", least=1, most=most)
    oracles = [part.memoised for part in schema.parts("report").values() if part.memoised]

    def whole(
        loss: Callable[[Memoised, int], Fraction], times: int, relation: Relation = LOCAL
    ) -> Guarantee:
        each = [loss(oracle, times) for oracle in oracles]
        spent = max(each) if schema.method == "sample" else sum(each, Fraction(0))
        return Guarantee(spent, 0, relation)

    one, lasting, every = whole(stays, 1), whole(stays, t), whole(any_two, t)
    together = whole(alike, t, ALIKE)
    return RoundCosts(schema=schema, rounds=t, one=one, stays=lasting, alike=together, any=every)


def several(schema: Schema) -> Schema:
    """Return a schema if it is that of all rounds of a survey."""
    if getattr(schema, "rounds", None) is None:
        got, hint = "a schema of a single round", "Use Schema(..., {rounds})."
        raise ParameterError("schema", "have several rounds", got, hint, rounds=52)
    return schema


# ---- `Histories`: all reports of one person over several rounds, as one mechanism with one law ---


MOST_OUTCOMES = 1 << 20
"""The law is written down for this many sequences of reports at most, hashes included."""

MOST_LISTED = 20
"""With more rounds even two values have too many."""

History = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories(Mechanism[History]):
    r"""Everything that a memoised oracle sends for one person, in all rounds.

    The input is a history, a category for each round; the output the hash and all reports, as one
    number whose last digits are the reports. It is small, and there for audits: devices answer
    round by round (`sourdine.local.rounds.respondent.Respondent`).

    Parameters
    ----------
    oracle
        What answers each round.
    rounds
        How many.
    between
        Which histories the guarantee compares: two that never change (``"stays"``), two that
        change in the same rounds (``"alike"``, where the oracle does not hash), ``"any"`` two.

    Notes
    -----
    *Claim*: `law` is the law of all reports together. *Checked by*
    ``test_draws_follow_the_law[rounds.hashing.any]``. *Claim*: `guarantee` is the exact worst case.
    *Checked by* ``test_exact_worst_case[rounds.hashing.any]`` and its like.

    Examples
    --------
    >>> week = PermanentResponse(epsilon=0.4, permanent=1, categories=2)
    >>> for between in ("stays", "alike", "any"):
    ...     print(between, round(float(Histories(
    ...         oracle=week, rounds=6, between=between).guarantee.epsilon), 3))
    stays 0.99
    alike 1.723
    any 2.397
    """

    oracle: Memoised
    rounds: int
    between: Literal["stays", "alike", "any"] = "any"
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, Memoised):
            must = "be a randomiser with a memory"
            hint = "Use PermanentResponse(epsilon=0.5, permanent=1, categories=2)."
            raise ParameterTypeError("oracle", must, kind(self.oracle), hint)
        one_of(self.between, "between", *BETWEEN)
        rounds = integer(self.rounds, "rounds", least=1, most=MOST_LISTED)
        if self.oracle.hashes * self.oracle.answers**rounds > MOST_OUTCOMES:
            must, hint = "be small enough that all reports can be listed", "Use {rounds}."
            raise ParameterError("rounds", must, given(rounds), hint, rounds=2)
        if self.between == "alike" and self.oracle.hashes > 1:
            must = "be 'stays' or 'any' if answers are hashed"
            hint = "Use {between}, or a PermanentResponse."
            raise ParameterError("between", must, "'alike'", hint, between="any")
        loss = {"stays": stays, "alike": alike, "any": any_two}[self.between]
        relation = ALIKE if self.between == "alike" else LOCAL
        promise = Guarantee(loss(self.oracle, rounds), 0, relation)
        settle(self, rounds=rounds, guarantee=promise)

    def read(self, x: object) -> History:
        """Return a category for each round; what is not listed counts as the nearest."""
        codes = np.atleast_1d(read_ticks(x))
        if codes.shape != (self.rounds,):
            must = f"hold {self.rounds} categories, one for each round"
            hint = "Pass a code for each round."
            raise ParameterError("a history", must, f"{codes.size}", hint)
        return tuple(np.clip(codes, 0, self.oracle.top).tolist())

    def law(self, x: History) -> Law:
        return Law.finite(np.log(self.chances(x)))

    def chances(self, x: History) -> NDArray[np.float64]:
        r"""Return the probability of every output, a row of all reports for each hash.

        With a hash, the rounds of each hashed answer :math:`c` share its permanent response
        :math:`m`: :math:`\prod_c \sum_m G_{cm} \prod_{t : x_t = c} I_{m y_t}`.
        """
        oracle, g = self.oracle, self.oracle.answers
        kept, told = (_response(float(chance), g) for chance in (oracle.spared, oracle.told))
        every = np.array(list(product(range(g), repeat=self.rounds)))
        keys = np.arange(oracle.hashes)
        rows = []
        for hashed in oracle.hashed(keys[:, None], np.array([x])):
            chance = np.full(len(every), 1 / oracle.hashes)
            for c in set(hashed.tolist()):
                seen = told[:, every[:, hashed == c]].prod(axis=2)
                chance *= kept[c] @ seen
            rows.append(chance)
        return np.concatenate(rows)

    def draw(self, x: History, size: int | None, source: Source) -> Value:
        """Draw memories, then the reports of one round after the other."""
        n, oracle = 1 if size is None else size, self.oracle
        memory = oracle.remember(n, source)
        total = memory.keys
        for code in x:
            report = oracle.again(memory, np.full(n, code), source)
            total = total * oracle.answers + report % oracle.answers
        return int(total[0]) if size is None else total

    def neighbours(self, x: History) -> Iterator[History]:
        every = product(range(self.oracle.categories), repeat=self.rounds)
        if self.between == "stays":
            yield from ((code,) * self.rounds for code in range(self.oracle.categories))
        elif self.between == "alike":
            yield from (y for y in every if pattern(y) == pattern(x))
        else:
            yield from every

    def loss(self, x: History, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return in how many rounds the report does not support the answer."""
        g = self.oracle.answers
        keys, wrong = np.asarray(y) // g**self.rounds, np.zeros(np.shape(y))
        for t, code in enumerate(reversed(x)):
            said = np.asarray(y) // g**t % g
            wrong += self.oracle.hashed(keys, np.full(np.shape(y), code)) != said
        return wrong

    def error(self, beta: Number = 0.05) -> float:
        miss: Any = self.oracle
        most = ceil(self.rounds * miss.miss.above() / read_beta(beta)) - 1
        return float(min(self.rounds, most))


def pattern(x: History) -> History:
    """Return when a history changes: for each round the first one with its answer."""
    return tuple(map(x.index, x))


def _response(spared: float, g: int) -> NDArray[np.float64]:
    return spared * np.eye(g) + (1 - spared) / g


STILL = ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2))
TURNS = ((0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 2), (2, 1, 0, 0))
"""Some histories; all pairs of small ones are compared in ``test_all_pairs_of_histories``."""


def _specimen(make: Any, categories: int, rounds: int, between: Any, epsilon: Any) -> Histories:
    lasting = 2 * positive(epsilon, "epsilon")
    oracle = make(epsilon=epsilon, permanent=lasting, categories=categories)
    return Histories(oracle=oracle, rounds=rounds, between=between)


for _name, _made, _inputs in (
    ("rounds.hashing.stays", (MemoisedHashing, 3, 4, "stays"), STILL),
    ("rounds.hashing.any", (MemoisedHashing, 3, 4, "any"), TURNS),
    ("rounds.response.stays", (PermanentResponse, 3, 4, "stays"), STILL),
    ("rounds.response.alike", (PermanentResponse, 3, 4, "alike"), TURNS),
    (
        "rounds.response.any", (PermanentResponse, 2, 6, "any"),
        ((0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 1), (0, 1, 0, 1, 0, 1)),
    ),
):  # fmt: skip
    register(Specimen(name=_name, make=partial(_specimen, *_made), inputs=_inputs, tight=True))
