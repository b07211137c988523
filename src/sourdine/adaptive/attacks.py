"""Attacks on sketches, distinct counts and min-cuts, for tests and demonstrations."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import exp, isqrt, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from sourdine.adaptive.graphs import Edge, graph_of
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.adaptive.sketches.f2 import F2Sketch
    from sourdine.adaptive.sketches.keyed import DistinctSketch

    Items = NDArray[np.int64]
    Attack = Callable[..., "F2Attack"]


# ---- The random numbers of attackers and players -------------------------------------------------


def generator(rng: object) -> np.random.Generator:
    """Return a generator as it is; anything else, such as a seed, is refused."""
    if isinstance(rng, np.random.Generator):
        return rng
    must = "be a NumPy generator"
    raise ParameterTypeError("rng", must, kind(rng), "Use np.random.default_rng(1).")


# ---- Attacks on distinct counts: items found at home, and questions about subsets ----------------
#
# Both are played against the sketches of the ``datasketches`` library as it is installed. An attack
# that fails proves nothing; `Keyed.proof` says what is proved.


START = 1_000_000_000
"""The attacker's candidates count up from here."""

PATIENCE = 1000
"""The attacker gives up where fewer than one in this many candidates are overlooked."""

CLIP = 2.0
"""An answer further than this factor from the median one is taken as that far."""


def offline(
    factory: Callable[[], DistinctSketch], *, base: int = 20_000, extra: int = 300_000
) -> Items:
    r"""Return ``base`` ordinary items and ``extra`` more that a public sketch does not see.

    The attacker holds a copy of the victim's sketch with the ``base`` items in it and tries
    candidates: one that leaves the estimate as it was is kept, otherwise the copy is wound back.
    With :math:`m` registers and :math:`n` items a candidate is kept with probability about
    :math:`1 - m/n`, so the search takes a second and no question to the victim [1]_.

    Parameters
    ----------
    factory
        Makes an empty sketch like the victim's: ``lambda: datasketches.hll_sketch(12)``. CPC and
        theta sketches with the default seed fall as well.
    base
        How many items to start from; enough that the sketch no longer takes every new one.
    extra
        How many hidden items to find.

    References
    ----------
    .. [1] K. Paterson, M. Raynal, "HyperLogLog: exponentially bad in adversarial settings",
       IACR ePrint 2021/1139.

    Examples
    --------
    >>> from sourdine.adaptive.sketches.keyed import Keyed, datasketches
    >>> hll = datasketches().hll_sketch
    >>> items = offline(lambda: hll(8), base=2_000, extra=20_000)
    >>> victim, keyed = hll(8), Keyed(hll(8))
    >>> for item in items.tolist():
    ...     victim.update(item)
    >>> keyed.update_many(items)
    >>> len(set(items.tolist())), bool(victim.get_estimate() < 3_000), bool(keyed.query() > 10_000)
    (22000, True, True)
    """
    base = integer(base, "base", least=1)
    extra = integer(extra, "extra", least=0)
    mine = factory()
    for item in range(base):
        mine.update(item)
    known, still = mine.get_estimate(), _wound_back(mine)
    found: list[int] = []
    mine, candidate = still(), START
    while len(found) < extra:
        mine.update(candidate)
        if mine.get_estimate() == known:
            found.append(candidate)
        else:
            mine = still()
        candidate += 1
        if candidate - START > PATIENCE * (len(found) + 10):
            must = "be large enough for the sketch to miss some items"
            raise ParameterError("base", must, given(base), "Use {base}.", base=10 * base)
    return np.array([*range(base), *found], np.int64)


def _wound_back(sketch: Any) -> Callable[[], DistinctSketch]:
    """Return what makes the sketch again as it is now."""
    if hasattr(sketch, "serialize_updatable"):
        image, read = sketch.serialize_updatable(), type(sketch).deserialize
        return lambda: read(image)
    if hasattr(sketch, "__copy__"):
        kept = copy(sketch)
        return lambda: copy(kept)
    hint = "Use offline(lambda: datasketches.hll_sketch(12))."
    raise ParameterTypeError("factory", "return a sketch that can be copied", kind(sketch), hint)


class LowHigh(NamedTuple):
    """Half of the keys that a sketch counts too low, and half that it counts too high."""

    low: Items
    high: Items


def subset_queries(
    answer: Callable[[Items], float], keys: Items, rounds: int, *, rng: np.random.Generator
) -> LowHigh:
    r"""Return keys that a sketch counts too low and too high, from answers about random subsets.

    Ask for the count of ``rounds`` random halves of the keys. A key is scored by how the answers
    correlate with its presence,

    .. math:: c_x = \sum_i \Bigl(\frac{a_i}{|S_i|} - \bar a\Bigr)
              \bigl(\mathbf 1[x \in S_i] - \tfrac12\bigr),

    and the half with the lowest scores, whose hashes raise no register, goes into one set, the
    half with the highest into another. No hash is known: this works against any key as long as
    all answers use it [1]_.

    Parameters
    ----------
    answer
        Gives the victim's estimate for an array of distinct keys.
    keys
        All keys, several times as many as the sketch has registers.
    rounds
        How many questions to ask; a few times the number of registers suffice.

    References
    ----------
    .. [1] S. Ahmadian, E. Cohen, "Unmasking vulnerabilities: cardinality sketches under adaptive
       inputs", ICML 2024.

    Examples
    --------
    >>> from sourdine.adaptive.sketches.keyed import SubsetCount
    >>> from sourdine.adaptive.sketches.keyed import datasketches
    >>> keys = np.arange(1280)
    >>> victim = SubsetCount(keys, lambda: datasketches().hll_sketch(7), seed=1)
    >>> low, high = subset_queries(victim.count, keys, 256, rng=np.random.default_rng(0))
    >>> bool(victim.count(low) < 0.8 * len(low)), bool(victim.count(high) > 1.2 * len(high))
    (True, True)
    """
    rounds = integer(rounds, "rounds", least=1)
    inside = generator(rng).random((rounds, len(keys))) < 0.5
    rates = np.array([answer(keys[chosen]) / max(chosen.sum(), 1) for chosen in inside])
    middle = float(np.median(rates))
    rates = np.clip(rates, middle / CLIP, middle * CLIP)
    scores = (rates - rates.mean()) @ (inside - 0.5)
    order, half = np.argsort(scores), len(keys) // 2
    low, high = order[:half], order[len(keys) - half :]
    return LowHigh(keys[np.sort(low)], keys[np.sort(high)])


# ---- Attacks on sketches of the second moment ----------------------------------------------------
#
# They use `update` and `query` alone and know nothing of the victim but its answers. Each builds a
# vector of which it knows the true second moment exactly, and drives the answer away from that.


READS = 101
"""The number of times the last vector is read; the median is its estimate."""

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


def probe(
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
    >>> from sourdine.adaptive.sketches.f2 import AmsSketch
    >>> attack = probe(AmsSketch(200, seed=5), 1000, rng=np.random.default_rng(5))
    >>> attack.queries, attack.ratio < 0.3
    (1101, True)
    """
    count = integer(steps, "steps", least=1)
    length = integer(height, "height", least=1)
    turns = min(integer(rounds, "rounds", least=1), -(-count // (4 * len(swing))))
    way = 1 if flag(upward, "upward") else -1
    growth = 2.0 if turns == 1 else GROWTH ** (1 / turns)
    first = int(generator(rng).integers(ITEMS))
    sketch.update(first, length)
    true = length**2
    for arms in np.array_split(first + 1 + np.arange(count), turns):
        heights = np.rint(np.resize(swing, len(arms)) * sqrt(true)).astype(np.int64)
        answers = np.empty(len(arms))
        for i, (item, weight) in enumerate(zip(arms.tolist(), heights.tolist(), strict=True)):
            sketch.update(item, weight)
            answers[i] = sketch.query()
            sketch.update(item, -weight)
        lean = _lean(answers / (true + heights**2), len(swing), rng)
        whole = np.rint(way * lean * sqrt((growth - 1) * true / len(arms))).astype(np.int64)
        for item, weight in zip(arms.tolist(), whole.tolist(), strict=True):
            if weight:
                sketch.update(item, weight)
        true += int(whole @ whole)
    return F2Attack(count + READS, true, tuple(sketch.query() for _ in range(READS)))


def _lean(
    answers: NDArray[np.float64], kinds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the answers, each kind centred, without outliers, at a mean square of 1."""
    middle = float(np.median(answers))
    lean = np.clip(answers, middle / 2, 2 * middle)
    for first in range(min(kinds, len(lean))):
        lean[first::kinds] -= lean[first::kinds].mean()
    spread = float(lean.std())
    if spread == 0:
        return rng.choice([-1.0, 1.0], len(lean))
    lean = np.clip(lean / spread, -FAR, FAR)
    return np.asarray(lean / sqrt(float(np.mean(lean**2))))


def insertion(
    sketch: F2Sketch, steps: int, *, rng: np.random.Generator, height: int | None = None
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
    >>> from sourdine.adaptive.sketches.f2 import AmsSketch
    >>> insertion(AmsSketch(100, seed=3), 1000, rng=np.random.default_rng(3)).ratio < 0.6
    True
    """
    count = integer(steps, "steps", least=1)
    length = isqrt(5 * count // 2) if height is None else integer(height, "height", least=1)
    first = int(generator(rng).integers(ITEMS))
    sketch.update(first, length)
    before, true, queries = sketch.query(), length**2, 1
    for item in range(first + 1, first + 1 + count):
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


# ---- An attack on min-cuts that are estimated from a sample of the edges -------------------------


class MinCutEstimator(Protocol):
    """What is attacked: a dynamic algorithm on edges."""

    def update(self, u: int, v: int, present: bool, /) -> None:  # noqa: FBT001 - a change of state
        """Put an edge into the graph or take it out."""

    def query(self) -> float:
        """Return the min-cut, or about it."""


class Toggled(NamedTuple):
    """How an attack ended: the graph's edges, the last answer, and the number of questions."""

    edges: frozenset[Edge]
    answer: float
    queries: int


def weak_vertex(
    n: int, degree: int, *, rng: np.random.Generator, density: float = 0.9
) -> frozenset[Edge]:
    """Return a dense graph on the vertices 1, ..., n - 1 with vertex 0 hung on by few edges.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> graph = weak_vertex(30, 8, rng=default_rng(0))
    >>> sum(u == 0 for u, _ in graph)
    8
    """
    n = integer(n, "n", least=3)
    degree = integer(degree, "degree", least=1)
    if degree >= n:
        must = f"be at most the number of other vertices ({n - 1})"
        raise ParameterError("degree", must, given(degree), "Use {degree}.", degree=n // 3)
    generator(rng)
    core = {(u, v) for u in range(1, n) for v in range(u + 1, n) if rng.random() < density}
    hung = rng.choice(n - 1, degree, replace=False) + 1
    return frozenset(core | {(0, int(v)) for v in hung})


def toggle(
    victim: MinCutEstimator,
    n: int,
    edges: Iterable[tuple[int, int]],
    *,
    vertex: int = 0,
    rounds: int = 2,
    least: int = 12,
) -> Toggled:
    """Take away each edge of a vertex in turn, and give it back if the answer did not fall.

    An edge whose removal lowers the answer was in the sample. What is left in the end are the
    edges that were not: a sample that has none of them answers 0, whatever the vertex still has.

    Parameters
    ----------
    victim
        A dynamic algorithm that holds the graph already.
    n, edges
        The graph.
    vertex
        The vertex whose edges make the min-cut.
    rounds
        How often to go round the edges.
    least
        Stop when this many edges of the vertex are left.

    Examples
    --------
    >>> from numpy.random import default_rng
    >>> from sourdine.adaptive.graphs import SkeletonMinCut, mincut
    >>> graph = weak_vertex(50, 20, density=1.0, rng=default_rng(1))
    >>> victim = SkeletonMinCut(50, graph, keep=0.5, seed=2**90)
    >>> end = toggle(victim, 50, graph, least=4)
    >>> end.answer, mincut(50, end.edges)
    (0.0, 6)
    """
    _, present = graph_of(n, edges)
    around = sorted(edge for edge in present if vertex in edge)
    left, queries, shown = len(around), 1, victim.query()
    for _ in range(rounds):
        for edge in around:
            if left <= least:
                break
            if edge not in present:
                continue
            victim.update(*(*edge, False))
            answer = victim.query()
            queries += 1
            if answer < shown:
                shown, left = answer, left - 1
                present.discard(edge)
            else:
                victim.update(*(*edge, True))
        shown = victim.query()
        queries += 1
    return Toggled(frozenset(present), shown, queries)
