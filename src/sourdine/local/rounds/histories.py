"""`Histories`: all reports of one person over several rounds, as one mechanism with one law."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, one_of, positive
from sourdine.laws import Law
from sourdine.local.rounds.hashing import MemoisedHashing
from sourdine.local.rounds.losses import BETWEEN, alike, any_two, stays
from sourdine.local.rounds.memoised import Memoised
from sourdine.local.rounds.response import PermanentResponse
from sourdine.mechanisms.inputs import read_ticks
from sourdine.mechanisms.mechanism import Mechanism, read_beta, settle
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import ALIKE, LOCAL, Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.mechanisms.inputs import Value
    from sourdine.noise import Source

__all__ = ["Histories", "pattern"]

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
    round by round (`sourdine.local.rounds.Respondent`).

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
            raise ParameterTypeError(
                "oracle",
                "be a randomiser with a memory",
                kind(self.oracle),
                "Type PermanentResponse(epsilon=0.5, permanent=1, categories=2).",
            )
        one_of(self.between, "between", *BETWEEN)
        rounds = integer(self.rounds, "rounds", least=1, most=MOST_LISTED)
        if self.oracle.hashes * self.oracle.answers**rounds > MOST_OUTCOMES:
            raise ParameterError(
                "rounds",
                "be so few that all reports can be listed",
                given(rounds),
                "Type {rounds}.",
                rounds=2,
            )
        if self.between == "alike" and self.oracle.hashes > 1:
            raise ParameterError(
                "between",
                "be 'stays' or 'any' where answers are hashed",
                "'alike'",
                "Hashed answers are those of a PermanentResponse, or type {between}.",
                between="any",
            )
        loss = {"stays": stays, "alike": alike, "any": any_two}[self.between]
        relation = ALIKE if self.between == "alike" else LOCAL
        promise = Guarantee(loss(self.oracle, rounds), 0, relation)
        settle(self, rounds=rounds, guarantee=promise)

    def read(self, x: object) -> History:
        """Return a category for each round; what is not listed counts as the nearest."""
        codes = np.atleast_1d(read_ticks(x))
        if codes.shape != (self.rounds,):
            raise ParameterError(
                "a history",
                f"hold {self.rounds} categories, one for each round",
                f"{codes.size}",
                "Type a code for each round.",
            )
        return tuple(np.clip(codes, 0, self.oracle.top).tolist())

    def law(self, x: History) -> Law:
        """Return the law over all hashes and reports."""
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
        """Yield the histories that the guarantee compares."""
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
        """Return in how many rounds at most, by Markov's inequality."""
        miss: Any = self.oracle
        most = ceil(self.rounds * miss.miss.above() / read_beta(beta)) - 1
        return float(min(self.rounds, most))


def pattern(x: History) -> History:
    """Return when a history changes: for each round the first one with its answer.

    Examples
    --------
    >>> pattern((5, 2, 5, 1)), pattern((0, 1, 0, 7))
    ((0, 1, 0, 3), (0, 1, 0, 3))
    """
    return tuple(map(x.index, x))


def _response(spared: float, g: int) -> NDArray[np.float64]:
    return spared * np.eye(g) + (1 - spared) / g


def _hashing(epsilon: Any) -> MemoisedHashing:  # noqa: ANN401
    lasting = 2 * positive(epsilon, "epsilon")
    return MemoisedHashing(epsilon=epsilon, permanent=lasting, categories=3)


def _response_of(epsilon: Any, categories: int = 2) -> PermanentResponse:  # noqa: ANN401
    lasting = 2 * positive(epsilon, "epsilon")
    return PermanentResponse(epsilon=epsilon, permanent=lasting, categories=categories)


STILL = ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2))
TURNS = ((0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 2), (2, 1, 0, 0))
"""Some histories; all pairs of small ones are compared in ``test_all_pairs_of_histories``."""

register(
    Specimen(
        name="rounds.hashing.stays",
        make=lambda epsilon: Histories(oracle=_hashing(epsilon), rounds=4, between="stays"),
        inputs=STILL,
        tight=True,
    )
)
register(
    Specimen(
        name="rounds.hashing.any",
        make=lambda epsilon: Histories(oracle=_hashing(epsilon), rounds=4, between="any"),
        inputs=TURNS,
        tight=True,
    )
)
register(
    Specimen(
        name="rounds.response.stays",
        make=lambda epsilon: Histories(oracle=_response_of(epsilon, 3), rounds=4, between="stays"),
        inputs=STILL,
        tight=True,
    )
)
register(
    Specimen(
        name="rounds.response.alike",
        make=lambda epsilon: Histories(oracle=_response_of(epsilon, 3), rounds=4, between="alike"),
        inputs=TURNS,
        tight=True,
    )
)
register(
    Specimen(
        name="rounds.response.any",
        make=lambda epsilon: Histories(oracle=_response_of(epsilon), rounds=6, between="any"),
        inputs=((0, 0, 0, 0, 0, 0), (0, 0, 0, 1, 1, 1), (0, 1, 0, 1, 0, 1)),
        tight=True,
    )
)
