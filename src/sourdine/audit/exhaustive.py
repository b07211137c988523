"""Exact worst cases, draws against the law, and replay of whole calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.laws import Law, Product
from sourdine.laws.compare import Certified
from sourdine.mechanisms.mechanism import recording
from sourdine.privacy import compose
from sourdine.results.answer import plain
from sourdine.results.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.mechanisms import Mechanism
    from sourdine.mechanisms.mechanism import Step
    from sourdine.privacy import Guarantee

    Floats = NDArray[np.float64]
    Pair = tuple[Any, Any, Any, Any]  # an input, a neighbour, and the law of each


# ---- The exact worst case: every neighbour of every input, by the laws themselves ----------------


FARTHEST = 1e6
TOLERANCE = 1e-9
"""A certified worst case may pass the claim by this much: what the floats of a law cannot tell."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The pair of neighbours that a mechanism tells apart best.

    ``epsilon`` is the loss between them (at the claim's delta, if it has one), ``upper`` an end
    that the true loss cannot pass, ``x`` and ``y`` the pair, ``at`` the output that decides.
    """

    epsilon: float
    upper: float
    x: Any
    y: Any
    at: int | None

    def within(self, claim: Guarantee) -> bool:
        """Return whether the certified loss is at most the claimed one."""
        return self.upper <= float(claim.epsilon) + TOLERANCE

    def pair(self) -> str:
        return f"{shown(self.x)} | {shown(self.y)}"


def worst_case(
    mechanism: Mechanism[Any], inputs: Sequence[Any], claim: Guarantee | None = None
) -> Worst:
    """Compare the laws of all neighbours of these inputs, in both directions.

    Parameters
    ----------
    mechanism, inputs
        What is audited, and on which inputs; all their neighbours join in.
    claim
        The promise to hold it to; its own guarantee if left out.
    """
    claim = mechanism.guarantee if claim is None else claim
    return worst_of(neighbouring(mechanism, inputs), claim)


def worst_of(pairs: Iterable[Pair], claim: Guarantee, *, enough: bool = False) -> Worst:
    """Return the pair of neighbours whose laws lie furthest apart.

    With ``enough`` the search ends at the first pair that breaks the claim.
    """
    worst = None
    for pair in pairs:
        for x, y, p, q in (pair, (pair[1], pair[0], pair[3], pair[2])):
            apart = _apart(p, q, float(claim.delta), worst)
            if worst is None or (apart.upper, apart.value) > (worst.upper, worst.epsilon):
                worst = Worst(apart.value, apart.upper, x, y, apart.at)
                if enough and not worst.within(claim):
                    return worst
    if worst is None:
        raise nothing_compared()
    return worst


def neighbouring(mechanism: Mechanism[Any], inputs: Sequence[Any]) -> Iterator[Pair]:
    """Yield each input with each of its neighbours, and their laws; no pair comes twice."""
    laws: dict[Any, Any] = {}
    compared = set()

    def law(x: Any) -> Any:
        if _key(x) not in laws:
            laws[_key(x)] = mechanism.law(x)
        return laws[_key(x)]

    for given in inputs:
        x = mechanism.read(given)
        for y in mechanism.neighbours(x):
            pair = frozenset((_key(x), _key(y)))
            if pair not in compared:
                compared.add(pair)
                yield x, y, law(x), law(y)


def nothing_compared() -> ParameterError:
    """Return the refusal of inputs without neighbours."""
    return ParameterError("inputs", "have neighbours to compare", inputs=[0, 1])


def _apart(p: Any, q: Any, delta: float, worst: Worst | None) -> Certified:
    """Return the loss between two laws at delta, or some lower one if it is not the worst."""
    if not delta:
        found: Certified = p.divergence(q)
        return found
    least = 0.0 if worst is None else worst.upper
    excess = p.hockey_stick(q, min(least, FARTHEST))
    if worst is not None and excess.upper <= delta:
        return Certified(-np.inf, -np.inf)
    loss = [_loss_at(p, q, delta, end) for end in ("value", "upper")]
    return Certified(loss[0], loss[1], excess.at)


def _key(x: Any) -> Any:
    if isinstance(x, dict):
        return tuple(sorted(x.items()))
    return x if isinstance(x, int) else tuple(x)


def _loss_at(p: Any, q: Any, delta: float, end: str) -> float:
    """Return the least epsilon at which the hockey stick is at most delta, infinite if none is."""
    low, high = 0.0, 1.0
    if getattr(p.hockey_stick(q, low), end) <= delta:
        return low
    while getattr(p.hockey_stick(q, high), end) > delta:
        low, high = high, 2 * high
        if high > FARTHEST:
            return np.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        above = getattr(p.hockey_stick(q, middle), end) > delta
        low, high = (middle, high) if above else (low, middle)
    return high


def shown(x: object) -> str:
    """Return a number, or a vector with its runs counted: ``5x40 0``."""
    if isinstance(x, int):
        return str(x)
    if isinstance(x, dict):
        return " ".join(f"{key.strip(chr(0))}:{n}" for key, n in sorted(x.items())) or "none"
    runs = [(value, len(list(run))) for value, run in groupby(np.asarray(x).tolist())]
    return " ".join(f"{n}x{v}" if n > 2 else " ".join([str(v)] * n) for v, n in runs) or "none"


# ---- Draws against the law, by a chi-square test that can fail in both directions ----------------


ALPHA = 1e-9
"""A correct sampler is rejected about once in a billion runs."""

BINS = 200
FEWEST = 10.0  # expected draws in a bin
PATTERNS = 1 << 12


def p_value(draws: ArrayLike | Sequence[Any], law: Law | Product) -> float:
    """Return how likely draws this far from the law would be if they followed it.

    Cells are gathered in 200 bins of equal probability, and in tails that halve as long as enough
    draws are expected there. A draw where the law has no mass at all gives 0. Of rows each entry
    is tested, and all of them at once by coarse bins, which dependent entries would not fill
    evenly; the least of these p-values is returned, times their number.

    Examples
    --------
    >>> fair = Law.finite([0.0, 0.0])
    >>> p_value([0, 1] * 500, fair), p_value([0, 0, 1] * 500, fair) < 1e-9, p_value([2], fair)
    (1.0, True, 0.0)
    >>> p_value([[0, 0], [1, 1]] * 500, Product((fair, fair))) < 1e-9  # each entry alone is fair
    True
    """
    given: Any = draws
    if not len(given):
        raise ParameterError("draws", "hold at least one", "", "Draw some values first.")
    if isinstance(law, Product):
        if not law.knows(given).all():
            return 0.0
        x = law.rows(given)
        each = [_of_one(column, factor) for column, factor in zip(x.T, law.factors, strict=True)]
        return min(1.0, (len(each) + 1) * min([*each, _at_once(x, law)]))
    return _of_one(np.asarray(given, np.int64), law)


def _of_one(x: NDArray[np.int64], law: Law) -> float:
    if not law.beyond and np.isneginf(law.log_pmf(x)).any():
        return 0.0
    tails = 0.5 ** np.arange(8, 24)
    levels = np.concatenate((tails, np.arange(1, BINS) / BINS, 1 - tails))
    edges, expected = _binned(law, levels)
    bins = np.searchsorted(edges, x, side="left")
    return _fit(bins, expected * len(x))


def _at_once(x: NDArray[np.int64], law: Product) -> float:
    """Test the patterns of all entries, each in few enough bins for the patterns to stay few."""
    count = len(law.factors)
    few = max(2, int(min(PATTERNS, len(x) / FEWEST) ** (1 / max(count, 1))))
    codes, expected = np.zeros(len(x), np.int64), [np.ones(())]
    for column, factor in zip(x.T, law.factors, strict=True):
        edges, chances = _binned(factor, np.arange(1, few) / few)
        codes = codes * len(chances) + np.searchsorted(edges, column, side="left")
        expected.append(chances)
    return _fit(codes, reduce(np.multiply.outer, expected).ravel() * len(x))


def _binned(law: Law, levels: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the last cells of bins, but for that of the last bin, and the chance of each bin."""
    edges = np.unique(law.quantile(levels))
    return edges, np.diff(law.cdf(edges), prepend=0.0, append=1.0)


def _fit(bins: NDArray[np.int64], expected: Floats) -> float:
    """Return the p-value of the chi-square test."""
    from scipy.special import chdtrc

    counts = np.bincount(bins, minlength=len(expected)).astype(np.float64)
    observed, expected = _merged(counts, expected)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chdtrc(len(expected) - 1, statistic)) if len(expected) > 1 else 1.0


def _merged(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Join bins from the left until each expects enough draws; the rest joins the last."""
    group = np.zeros(len(expected), np.int64)
    filled, current, left = 0.0, 0, float(expected.sum())
    for i, e in enumerate(expected.tolist()):
        group[i] = current
        filled, left = filled + e, left - e
        if filled >= FEWEST and left >= FEWEST:
            filled, current = 0.0, current + 1
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return np.add.reduceat(observed, starts), np.add.reduceat(expected, starts)


# ---- Replay: a whole public call on two neighbours, step by step ---------------------------------
#
# The call runs on one data set, and every mechanism it uses writes down its input and its answer.
# Then it runs on the neighbour, where every mechanism gives the answer of the first run, and which
# rows of a person are kept is decided by the keys of the first run. All that is public must now be
# the same, each private input must have moved no further than its mechanism covers, and the
# guarantees of the inputs that moved must add up to no more than the call said it cost.


@dataclass(frozen=True, slots=True)
class Replay:
    """What the two runs showed: the steps of both, and every fault found."""

    steps: tuple[tuple[Step, Step], ...]
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


def replay(call: Callable[[Any], Release], data: object, neighbour: object) -> Replay:
    """Run ``call`` on both data sets and compare what an onlooker could see.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> def careless(people):  # a sum over ages, with the sensitivity of a count
    ...     return Laplace(epsilon=1, sensitivity=1).release(sum(people))
    >>> replay(careless, [30, 40], [30, 90]).faults
    ('step 1: the input moves further than Laplace(epsilon=1, sensitivity=1) covers',)
    """
    with recording() as first:
        one = _ended(call, data)
    with recording(first) as second:
        two = _ended(call, neighbour)
    pairs = tuple(zip(first.steps, second.steps, strict=False))
    if isinstance(one, Exception) or isinstance(two, Exception):
        if repr(one) == repr(two):
            raise one if isinstance(one, Exception) else TypeError("the call failed")
        ended = f"{type(one).__name__} and {type(two).__name__}"
        return Replay(pairs, (f"the call ends differently: {ended}",))
    if not isinstance(one, Release) or not isinstance(two, Release):
        raise ParameterTypeError(
            "call", "return a Release", kind(one), "Return the result of mechanism.release(...)."
        )
    faults = [*_steps(first.steps, second.steps), *_public(one, two), *_spent(pairs, one.cost)]
    return Replay(pairs, tuple(faults))


def _ended(call: Callable[[Any], Release], data: object) -> Release | Exception:
    try:
        return call(data)
    except Exception as error:  # noqa: BLE001 - any failure may depend on the data
        return error


def _steps(first: list[Step], second: list[Step]) -> list[str]:
    faults = []
    if len(first) != len(second):
        faults.append(f"the number of steps depends on the data: {len(first)} and {len(second)}")
    for i, (a, b) in enumerate(zip(first, second, strict=False), 1):
        if a.mechanism != b.mechanism:
            faults.append(
                f"step {i}: the mechanism depends on the data: {a.mechanism} and {b.mechanism}"
            )
        elif not np.array_equal(a.x, b.x) and not a.mechanism.adjacent(a.x, b.x):
            faults.append(f"step {i}: the input moves further than {a.mechanism} covers")
    return faults


def _public(one: Release, two: Release) -> list[str]:
    parts = ("value", "cost", "caveats", "mechanism")
    differ = [part for part in parts if plain(getattr(one, part)) != plain(getattr(two, part))]
    if one.to_dict()["drawn"] != two.to_dict()["drawn"]:
        differ.append("rest")
    return [f"the {part} depends on the data beyond the mechanisms' answers" for part in differ]


def _spent(pairs: tuple[tuple[Step, Step], ...], claim: Guarantee) -> list[str]:
    moved = [a.mechanism.guarantee for a, b in pairs if not np.array_equal(a.x, b.x)]
    if not moved:
        return []
    spent = compose(*(g.under(claim.relation) for g in moved))
    return [] if spent.covers(claim) else [f"the steps cost {spent}, the call says {claim}"]
