r"""Attacks on sketches of the second moment.

They use `update` and `query` alone and know nothing of the victim but its answers. Each builds a
vector of which it knows the true second moment exactly, and drives the answer away from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isqrt, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.attacks.generator import generator
from sourdine.exact import flag, integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.adaptive.sketches.ams import F2Sketch

    Attack = Callable[..., "F2Attack"]

__all__ = ["CLIMB", "F2Attack", "curve", "insertion", "probe"]

READS = 101
"""The last vector is read so often; the median is its estimate."""

GROWTH = exp(1.2564)
r"""By how much the second moment grows in all: :math:`(1 - e^{-y})/\sqrt{y}` peaks there."""

CLIMB = (0.62, 0.77, 0.96, 1.2, 1.5)
"""A swing whose second moments grow by less than a quarter from one probe to the next."""

ITEMS = 1 << 48
FAR = 3.0


@dataclass(frozen=True, slots=True)
class F2Attack:
    """How far an attack drove a sketch from the truth.

    Parameters
    ----------
    queries
        How many answers it used.
    true
        The second moment of the vector that the sketch was left with.
    answers
        What the sketch answered about that vector, several times.
    """

    queries: int
    true: int
    answers: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median answer over the truth; 1 is a sketch that was not deceived."""
        return float(np.median(self.answers)) / self.true

    def within(self, alpha: float) -> float:
        """Return the share of the answers with a relative error up to ``alpha``."""
        off = np.abs(np.asarray(self.answers) / self.true - 1)
        return float(np.mean(off <= alpha))

    def __str__(self) -> str:
        return f"{self.ratio:.3g} of the truth after {self.queries} questions"


def probe(  # noqa: PLR0913 - a victim, a size, and how to go about it
    sketch: F2Sketch,
    steps: int,
    *,
    rng: np.random.Generator,
    height: int = 1000,
    rounds: int = 16,
    swing: Sequence[float] = (1.0,),
    upward: bool = False,
) -> F2Attack:
    r"""Insert an item, read, delete it again; keep a little of those that read low.

    Hold a vector :math:`v`, at first ``height`` times one item. Insert a fresh item with weight
    :math:`|v|`: the answer is off by twice the mean of :math:`z_i s_i(x)` over the rows, and tells,
    through whatever noise there is, on which side. After a round of probes, add the items to
    :math:`v` with weights proportional to how low they read (high, if ``upward``), and go on with
    the longer :math:`v`. Of :math:`T` probes on :math:`r` plain rows that makes about
    :math:`1.276\sqrt{T/r}` of error while it is small; one round alone, the attack of the
    literature on linear sketches [1]_, makes :math:`\sqrt{T/r}`.

    Parameters
    ----------
    sketch
        The victim; it is left with the vector that deceives it. Anything it held is in the way.
    steps
        How many probes.
    rng
        Chooses the items.
    height
        The first weight. For a victim that rounds its answers, move it: a probe tells most where
        its value lies on the edge between two.
    rounds
        How often the vector grows.
    swing
        Multiples of :math:`|v|` that the probes' weights go through in turn. A victim whose noise
        follows its last answer is best probed by `CLIMB`, each probe larger than the one before.
    upward
        Make the answer too high instead of too low.

    References
    ----------
    .. [1] M. Hardt, D. Woodruff, "How robust are linear sketches to adaptive inputs?", STOC 2013.

    Examples
    --------
    >>> from sourdine.adaptive.sketches import AmsSketch
    >>> attack = probe(AmsSketch(200, seed=5), 1000, rng=np.random.default_rng(5))
    >>> attack.queries, attack.ratio < 0.3
    (1101, True)
    """
    count = integer(steps, "steps", least=1)
    length = integer(height, "height", least=1)
    turns = min(integer(rounds, "rounds", least=1), -(-count // (4 * len(swing))))
    way = 1 if flag(upward, "upward") else -1
    growth = 2.0 if turns == 1 else GROWTH ** (1 / turns)
    first, items = _items(count, rng)
    sketch.update(first, length)
    true = length**2
    for arms in np.array_split(items, turns):
        heights = np.rint(np.resize(swing, len(arms)) * sqrt(true)).astype(np.int64)
        off = _probed(sketch, arms, heights) / (true + heights**2)
        weights = way * _lean(off, len(swing), rng) * sqrt((growth - 1) * true / len(arms))
        true += _keep(sketch, arms, weights)
    return F2Attack(count + READS, true, tuple(sketch.query() for _ in range(READS)))


def _items(count: int, rng: np.random.Generator) -> tuple[int, NDArray[np.int64]]:
    first = int(generator(rng).integers(ITEMS))
    return first, first + 1 + np.arange(count)


def _probed(
    sketch: F2Sketch, arms: NDArray[np.int64], heights: NDArray[np.int64]
) -> NDArray[np.float64]:
    answers = np.empty(len(arms))
    for i, (item, weight) in enumerate(zip(arms.tolist(), heights.tolist(), strict=True)):
        sketch.update(item, weight)
        answers[i] = sketch.query()
        sketch.update(item, -weight)
    return answers


def _lean(
    answers: NDArray[np.float64], kinds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the answers, each kind centred, without outliers, at a mean square of 1."""
    middle = float(np.median(answers))
    lean = np.clip(answers, middle / 2, 2 * middle)
    for kind in range(min(kinds, len(lean))):
        lean[kind::kinds] -= lean[kind::kinds].mean()
    spread = float(lean.std())
    if spread == 0:
        return rng.choice([-1.0, 1.0], len(lean))
    lean = np.clip(lean / spread, -FAR, FAR)
    return np.asarray(lean / sqrt(float(np.mean(lean**2))))


def _keep(sketch: F2Sketch, arms: NDArray[np.int64], weights: NDArray[np.float64]) -> int:
    """Add the items to the vector, with whole weights, and return their second moment."""
    whole = np.rint(weights).astype(np.int64)
    for item, weight in zip(arms.tolist(), whole.tolist(), strict=True):
        if weight:
            sketch.update(item, weight)
    return int(whole @ whole)


def insertion(
    sketch: F2Sketch,
    steps: int,
    *,
    rng: np.random.Generator,
    height: int | None = None,
) -> F2Attack:
    r"""Insert an item; where the answer rose by less than 1, insert it once more.

    No weight is ever negative. An item that reads low pulls against the rest, and twice of it pulls
    twice; so all that follow are chosen to pull in one direction, and the answer falls behind by
    about :math:`\tfrac14\sqrt{T/r}` of the truth while that is small [1]_.

    Parameters
    ----------
    sketch
        The victim; it is left with the vector that deceives it. Anything it held is in the way.
    steps
        How many items.
    rng
        Chooses the items, and decides where an answer rose by 1 exactly.
    height
        The weight of the first item; :math:`\sqrt{5T/2}` if left out, which is about the best.

    References
    ----------
    .. [1] O. Ben-Eliezer, R. Jayaram, D. Woodruff, E. Yogev, "A framework for adversarially robust
       streaming algorithms", PODS 2020 (section 9).

    Examples
    --------
    >>> from sourdine.adaptive.sketches import AmsSketch
    >>> insertion(AmsSketch(100, seed=3), 1000, rng=np.random.default_rng(3)).ratio < 0.6
    True
    """
    count = integer(steps, "steps", least=1)
    length = isqrt(5 * count // 2) if height is None else integer(height, "height", least=1)
    first, items = _items(count, rng)
    sketch.update(first, length)
    before, true, queries = sketch.query(), length**2, 1
    for item in items.tolist():
        sketch.update(item, 1)
        after = sketch.query()
        queries += 1
        rise = after - before
        if rise < 1 or (rise == 1 and rng.random() < 1 / 2):
            sketch.update(item, 1)
            after = sketch.query()
            queries += 1
            true += 3
        true += 1
        before = after
    return F2Attack(queries + READS, true, tuple(sketch.query() for _ in range(READS)))


def curve(
    attack: Attack,
    make: Callable[[int], F2Sketch],
    sizes: Sequence[int],
    *,
    seeds: Iterable[int] = range(5),
) -> list[list[F2Attack]]:
    """Attack fresh sketches, one for each size and seed; ``make(seed)`` makes a victim."""
    every = list(seeds)
    return [
        [attack(make(seed), size, rng=np.random.default_rng(seed)) for seed in every]
        for size in sizes
    ]
