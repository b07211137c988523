r"""Ranges and whole curves: what a mechanism says of its loss, held against its exact laws.

For the laws P, Q of two neighbours the curve is :math:`\delta(y) = \sum (P - yQ)_+`,
:math:`y = e^x \ge 1`: a maximum of lines :math:`P(S) - yQ(S)`, one for each set :math:`S` of
outputs whose loss is above some bound. So a claimed curve holds at every epsilon if it holds where
it decides:

==================  ===============================================================================
pairs of laws       the claimed curve is made of lines too: the kinks of both decide
a range             the claimed curve is smooth; each line is held against it where both have the
                    same slope
several draws, of   a recursion gives the claimed curve at one epsilon after the other: 128 of them,
which some ranges   and the sum of the epsilons, beyond which nothing may be left
==================  ===============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import exp, expm1, inf, prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.audit.exhaustive import TOLERANCE, neighbouring, nothing_compared, shown
from sourdine.laws.compare import Losses
from sourdine.privacy.accounting import Part, compose
from sourdine.privacy.accounting.losses import dominating
from sourdine.privacy.accounting.parts import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.audit.exhaustive import Pair
    from sourdine.mechanisms import Mechanism

    Floats = NDArray[np.float64]


POINTS = 128
"""The number of epsilons at which a curve without kinks is claimed."""
RAREST = 1e-30
"""Losses that are rarer are not looked at."""
MOST = 1 << 12
"""So many losses the pair of several draws has, at most; beyond, it is composed."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The pair of neighbours whose losses lie furthest apart.

    ``range`` is how far, ``upper`` an end that it cannot pass, ``claim`` what the parts allow.
    """

    range: float
    upper: float
    claim: float
    x: Any
    y: Any

    @property
    def holds(self) -> bool:
        """Whether the certified range is within the claim."""
        return self.upper <= self.claim + TOLERANCE


@dataclass(frozen=True, slots=True)
class Passed:
    """The pair of neighbours whose curve comes highest over the claimed one.

    ``excess`` is by how much delta passes the claim at the worst epsilon, at most, as a part of the
    probability of a loss above that epsilon: below 0 where it never does.
    """

    excess: float
    x: Any
    y: Any

    @property
    def holds(self) -> bool:
        """Whether the whole curve is within the claim."""
        return self.excess <= TOLERANCE

    def pair(self) -> str:
        return f"{shown(self.x)} | {shown(self.y)}"


def range_of_losses(
    mechanism: Mechanism[Any], inputs: Sequence[Any], parts: tuple[Part, ...] | None = None
) -> Spread:
    """Compare the largest and the least loss between all neighbours of these inputs.

    One draw of bounded range claims its range; all else that has an epsilon claims twice that.

    Parameters
    ----------
    mechanism, inputs
        What is audited, and on which inputs; all their neighbours join in.
    parts
        What its loss is said to be made of; its own parts if left out.

    Examples
    --------
    >>> from sourdine.mechanisms import Exponential, PermuteAndFlip
    >>> vote = Exponential(epsilon=1, candidates=3)
    >>> round(range_of_losses(vote, [[0, 0, 0]]).range, 6)
    1.0
    >>> flip = PermuteAndFlip(epsilon=1, candidates=3)
    >>> range_of_losses(flip, [[0, 0, 0]], parts=vote.parts).holds
    False
    """
    return held(mechanism, inputs, parts)[0]


def curve(
    mechanism: Mechanism[Any], inputs: Sequence[Any], parts: tuple[Part, ...] | None = None
) -> Passed:
    """Hold the whole curves of all neighbours of these inputs against the claimed one.

    The parameters are those of `sourdine.audit.range`.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> noisy = Laplace(epsilon=1, sensitivity=3)
    >>> curve(noisy, [0]).holds
    True
    >>> curve(noisy, [0], parts=(Part.laplace(3, scale=3.15),)).holds
    False
    """
    return held(mechanism, inputs, parts)[1]


def held(
    mechanism: Mechanism[Any], inputs: Sequence[Any], parts: tuple[Part, ...] | None = None
) -> tuple[Spread, Passed]:
    """Return both of the above, from laws that are found once."""
    parts = mechanism.parts if parts is None else parts
    return held_by(neighbouring(mechanism, inputs), parts)


def held_by(pairs: Iterable[Pair], parts: tuple[Part, ...]) -> tuple[Spread, Passed]:
    """Return the largest range of the losses and the largest excess over the claimed curve."""
    widest, highest = None, None
    for spread, passed in _each(pairs, parts):
        widest = spread if widest is None or spread.upper > widest.upper else widest
        highest = passed if highest is None or passed.excess > highest.excess else highest
    if widest is None or highest is None:
        raise nothing_compared()
    return widest, highest


def rejected(mechanism: Mechanism[Any], inputs: Sequence[Any], parts: tuple[Part, ...]) -> bool:
    """Return whether some pair of neighbours passes the claimed curve."""
    pairs = neighbouring(mechanism, inputs)
    return any(not passed.holds for _, passed in _each(pairs, parts))


def over(parts: tuple[Part, ...], losses: Losses) -> float:
    """Return by how much the curve of two laws passes the claimed one, at most, either way.

    It is a part of the probability of a loss above the worst epsilon.
    """
    claim = _claimed(parts)
    sure = 2 * min(losses.slack, 1.0)  # what the floats of the losses may add
    return max(claim.excess(one) for one in (losses, losses.swapped)) + sure


def _each(pairs: Iterable[Pair], parts: tuple[Part, ...]) -> Iterator[tuple[Spread, Passed]]:
    epsilon, delta = plain(parts)
    one = len(parts) == 1 and parts[0].kind == "range" and parts[0].times == 1
    claim = inf
    if epsilon is not None and not delta:
        claim = float(epsilon) if one else 2 * float(epsilon)
    for x, y, p, q in pairs:
        losses = p.losses(q)
        width = float(losses.loss.max() - losses.loss.min())
        upper = inf if losses.beyond else width + 2 * losses.slack
        yield Spread(width, upper, claim, x, y), Passed(over(parts, losses), x, y)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a curve: losses from the largest on, and the masses of all above each."""

    loss: Floats
    p: Floats
    q: Floats
    beyond: float

    @classmethod
    def of(cls, losses: Losses) -> _Lines:
        order = np.argsort(-losses.loss)
        p, q = (np.concatenate(([0.0], np.cumsum(side[order]))) for side in (losses.p, losses.q))
        return cls(losses.loss[order], p, q, losses.beyond)

    def at(self, x: Floats) -> Floats:
        i = self._above(x)
        return self.p[i] - np.exp(x) * self.q[i] + self.beyond

    def _above(self, x: Floats) -> NDArray[np.intp]:
        return len(self.loss) - self.loss[::-1].searchsorted(x, side="right")

    def over(self, x: Floats, claimed: Floats) -> float:
        """Return the largest excess over what is claimed at some epsilons."""
        likely = np.maximum(self.p[self._above(x - TOLERANCE)], RAREST)
        return float(((self.at(x) - claimed) / likely).max())

    @classmethod
    def near(cls, losses: Losses, x: Floats) -> _Lines:
        """Return few lines, the same at some epsilons in order, and a tolerance before them."""
        ends = np.sort(np.concatenate((x - TOLERANCE, x)))
        i = ends.searchsorted(losses.loss, side="left")
        p, q = (
            np.asarray(np.bincount(i, side, len(ends) + 1), np.float64)
            for side in (losses.p, losses.q)
        )
        loss = np.append(np.append(-inf, ends[:-1] + np.diff(ends) / 2), inf)
        return cls.of(Losses(loss, p, q, losses.slack, losses.beyond))


class _Claim(Protocol):
    """A claimed curve."""

    def excess(self, losses: Losses) -> float:
        """Return by how much a curve passes it, at the worst epsilon from 0 on."""


@dataclass(frozen=True, slots=True)
class _Kinked:
    """Curves of pairs of laws, of which the higher counts; with an own delta."""

    pairs: tuple[_Lines, ...]
    own: float

    def excess(self, losses: Losses) -> float:
        lines = _Lines.of(losses)
        kinks = np.concatenate([lines.loss, *(pair.loss for pair in self.pairs)])
        x = np.append(kinks[(kinks > 0) & np.isfinite(kinks)], 0.0)
        claimed = reduce(np.maximum, (pair.at(x) for pair in self.pairs))
        return lines.over(x, self.own + (1 - self.own) * np.maximum(claimed, 0.0))


@dataclass(frozen=True, slots=True)
class _Ranged:
    r"""The curve of a range, :math:`(e^{\eta/2} - \sqrt y)^2/(e^\eta - 1)`; with an own delta."""

    eta: float
    own: float

    def excess(self, losses: Losses) -> float:
        lines = _Lines.of(losses)
        most = exp(self.eta)
        slope = lines.q / (1 - self.own)
        y = np.clip(most / (1 + slope * expm1(self.eta)) ** 2, 1.0, most)
        claimed = (np.sqrt(most) - np.sqrt(y)) ** 2 / expm1(self.eta)
        over = lines.p - y * lines.q + lines.beyond - self.own - (1 - self.own) * claimed
        return float((over / np.maximum(lines.p, RAREST)).max())


@dataclass(frozen=True, slots=True)
class _Composed:
    """A curve at some epsilons."""

    x: Floats
    delta: Floats

    def excess(self, losses: Losses) -> float:
        return _Lines.near(losses, self.x).over(self.x, self.delta)


@lru_cache(64)
def _claimed(parts: tuple[Part, ...]) -> _Claim:
    own = 1 - prod(float(1 - part.size) ** part.times for part in parts if part.kind == "delta")
    draws = [
        replace(part, times=1) for part in parts if part.kind != "delta" for _ in range(part.times)
    ]
    ranged = [part for part in draws if part.kind == "range"]
    if len(draws) == len(ranged) == 1:
        return _Ranged(float(draws[0].size), own)
    if not ranged:
        both = [_pair(draws, present=present) for present in (True, False)]
        found = [_Lines.of(losses) for losses in both if losses is not None]
        if len(found) == len(both):
            return _Kinked(tuple(found), own)
    whole, _ = plain(parts)
    batch = compose(parts)
    end = float(whole) if whole is not None else batch.epsilon(TOLERANCE).upper
    x = np.linspace(0.0, end, POINTS + 1)
    exact = [*x[:-1].tolist(), whole if whole is not None else end]
    return _Composed(x, np.array([batch.delta(epsilon).upper for epsilon in exact]))


def _pair(draws: list[Part], *, present: bool) -> Losses | None:
    """Return the pair of laws that dominates draws; None if it has too many losses."""
    one = np.ones(1)
    whole = Losses(np.zeros(1), one, one, 0.0, 0.0)
    for part in draws:
        pair = dominating(part, present=present)
        if len(whole.loss) > 1 and len(whole.loss) * len(pair.loss) > MOST:
            return None
        without = pair.mass * np.exp(-pair.loss)
        whole = whole.beside(Losses(pair.loss, pair.mass, without, pair.slack, pair.beyond))
    return whole
