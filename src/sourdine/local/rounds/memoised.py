r"""What all randomisers with a memory share: a permanent response, and a fresh one on top of it.

Randomised response on :math:`g` values is a coin: with chance
:math:`\lambda(\varepsilon) = \frac{e^\varepsilon - 1}{e^\varepsilon + g - 1}` say the truth, else
any value, all alike. Two in a row are one with the product of the chances. So a device that keeps
a response at :math:`\varepsilon_\infty` and tells it with the chance

.. math:: \lambda_2 = \frac{\lambda(\varepsilon_1)}{\lambda(\varepsilon_\infty)}

sends, each single time, a randomised response at exactly :math:`\varepsilon_1`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import exp_neg, given, positive
from sourdine.mechanisms.frequency_oracle import FrequencyOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact import Real
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["KeptResponses", "Memoised", "read_permanent"]

ENTRIES = 1 << 20
"""Permanent responses drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeptResponses:
    """What the devices of many people keep of one question, a row for each person: a secret.

    Nothing in it depends on an answer: all is drawn before the first one.

    Parameters
    ----------
    keys
        The hash of each person.
    kept
        The permanent response to each hashed answer, a row for each person.
    absent
        The category that an absent answer is taken for.
    """

    keys: NDArray[np.int64]
    kept: NDArray[np.int64]
    absent: NDArray[np.int64]

    def __len__(self) -> int:
        return self.keys.size


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
        """Draw the memories of so many people, whatever they will answer."""
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
    lasting = positive(permanent, "permanent", example=2 * epsilon)
    if lasting <= epsilon:
        raise ParameterError(
            "permanent",
            f"be above epsilon ({epsilon})",
            given(permanent),
            "Type {permanent}, or a smaller epsilon.",
            permanent=2 * epsilon,
        )
    return lasting
