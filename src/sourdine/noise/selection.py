"""Weighted draws, and one of many candidates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from math import exp, frexp, lcm
from typing import TYPE_CHECKING, overload

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import Number, Real, at_least, exp_neg, listed
from sourdine.noise.coins import float_rate, toss_exp
from sourdine.noise.source import (
    SYSTEM,
    LazyUniform,
    Shape,
    Size,
    Source,
    draw_words,
    int64_array,
    lanes,
    uniform_below,
)
from sourdine.noise.steps import Steps, identity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise.source import Bools, Floats, Ints, Words


# ---- Draws from float weights --------------------------------------------------------------------
#
# Where weights must be floats (sums over ranks), the draw itself is still exact: the law is the one
# that the floats state as binary numbers; their errors are bounded where they are computed.


DEEP = 600.0
"""Log weights this far below the largest are held back until the draw falls among them."""
_LARGEST_WORD = (1 << 64) - 1


def by_weight(weights: Floats, *, source: Source = SYSTEM) -> int:
    r"""Draw the index :math:`i` with probability exactly :math:`w_i / \sum_j w_j`.

    Parameters
    ----------
    weights
        Floats, zero or more, not all zero, whose sum is finite.
    source
        The source of random bits.

    Notes
    -----
    64 bits of a uniform :math:`W` are compared with the floats' running sums. The :math:`k`-th sum
    of non-negative floats errs by at most :math:`k 2^{-53}` of the total, so unless :math:`W` lies
    within a band of that size around a boundary the index is decided; else the same bits, and more
    if needed, are compared with the exact sums as integers. *Checked by*
    ``test_by_weight_is_the_exact_law`` and ``test_by_weight_decides_like_integers``.

    Examples
    --------
    >>> by_weight(np.array([0.0, 2.5, 0.0]))
    1
    """
    sums = np.add.accumulate(weights)
    return by_running_sums(sums, lambda: weights, source=source)


def by_running_sums(
    sums: Floats, weights: Callable[[], Floats], *, from_last: bool = False, source: Source = SYSTEM
) -> int:
    """Return what `by_weight` returns, from running sums that are there already.

    Each sum was added to the one before. ``weights`` returns the weights, which are rarely looked
    at. With ``from_last`` the bits are those of :math:`1 - W`: then the same bits give the place,
    counted from the last, that they give in the same weights in reverse order, unless `by_weight`
    has to look at more than 64 of them.
    """
    total = float(sums[-1])
    word = int.from_bytes(source.bytes(8), "little")
    if from_last:
        word = _LARGEST_WORD - word
    at = word * 2.0**-64 * total
    band = (len(sums) + 8) * 2.0**-52 * total
    i = int(sums.searchsorted(at, side="right"))
    above = i < len(sums) and float(sums[i]) - at > band
    if above and (i == 0 or at - float(sums[i - 1]) > band):
        return i
    return _exactly(weights(), LazyUniform(source, word, 64))


def by_few_weights(weights: Sequence[float], *, source: Source = SYSTEM) -> int:
    """Return what `by_weight` returns from the same bits, for a few weights and without arrays.

    Examples
    --------
    >>> by_few_weights((0.0, 2.5, 0.0))
    1
    """
    sums = list(accumulate(weights))
    total = sums[-1]
    word = int.from_bytes(source.bytes(8), "little")
    at = word * 2.0**-64 * total
    band = (len(sums) + 8) * 2.0**-52 * total
    i = bisect_right(sums, at)
    above = i < len(sums) and sums[i] - at > band
    if above and (i == 0 or at - sums[i - 1] > band):
        return i
    return _exactly(np.array(weights, np.float64), LazyUniform(source, word, 64))


def _exactly(weights: Floats, uniform: LazyUniform) -> int:
    mantissas, exponents = np.frexp(weights)
    whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
    lowest = int(exponents[weights > 0].min())
    shifts = np.maximum(exponents - lowest, 0).tolist()
    sums = list(accumulate(w << shift for w, shift in zip(whole, shifts, strict=True)))
    while True:
        word, bits = uniform.reading()
        first = bisect_right(sums, word * sums[-1] >> bits)
        last = bisect_right(sums, ((word + 1) * sums[-1] - 1) >> bits)
        if first == last:
            return first
        uniform.extend()


def by_log_weight(logs: Floats, *, source: Source = SYSTEM) -> int:
    r"""Draw the index :math:`i` with probability proportional to :math:`e^{l_i}`.

    However far apart the logarithms are, none gets probability 0: those more than `DEEP` below the
    largest are held back together, under a bound of their total, and are examined, layer by layer,
    only when the draw falls there. A draw in the part of the bound that they do not fill starts
    again, so the law is the stated one.

    Parameters
    ----------
    logs
        Natural logarithms of the weights; minus infinity for weight 0, not all.
    source
        The source of random bits.

    Notes
    -----
    *Checked by* ``test_by_log_weight_is_the_law`` and ``test_by_log_weight_reaches_every_layer``.

    Examples
    --------
    >>> by_log_weight(np.array([-np.inf, -5000.0]))
    1
    """
    depth = (logs.max() - logs) / DEEP
    if depth.max() < 1:  # nothing is held back
        return by_weight(np.exp(-DEEP * depth), source=source)
    possible = np.flatnonzero(logs > -np.inf)
    depth = depth[possible]
    layers = np.floor(depth)
    while True:
        layer, held = 0.0, 0.0
        while True:
            here = layers == layer
            weights = np.exp(-DEEP * (depth[here] - layer))
            below = np.count_nonzero(layers > layer) * np.exp(-DEEP)
            gap = max(held - float(weights.sum()) - below, 0.0)  # to the bound of all held back
            drawn = by_weight(np.concatenate((weights, (below, gap))), source=source)
            if drawn < len(weights):
                return int(possible[np.flatnonzero(here)[drawn]])
            if drawn > len(weights):
                break
            layer, held = layer + 1, float(np.count_nonzero(layers > layer))


def by_few_log_weights(logs: Sequence[float], *, source: Source = SYSTEM) -> int:
    """Return what `by_log_weight` returns from the same bits, for a few weights."""
    most = max(logs)
    if most - min(logs) < DEEP:
        return by_few_weights([exp(log - most) for log in logs], source=source)
    return by_log_weight(np.array(logs), source=source)


# ---- Draws from a finite list of weights ---------------------------------------------------------


Weights = Sequence[Real | Number]
_FINEST = 1 << 14


@overload
def categorical(weights: Weights, size: None = None, *, source: Source = ...) -> int: ...
@overload
def categorical(weights: Weights, size: Shape, *, source: Source = ...) -> Ints: ...
def categorical(weights: Weights, size: Size = None, *, source: Source = SYSTEM) -> int | Ints:
    r"""Draw the code :math:`i` with probability exactly :math:`w_i / \sum_j w_j`.

    Parameters
    ----------
    weights
        Numbers or `Real`\ s, zero or more, not all zero.
    size, source
        As in `discrete_laplace`.

    Notes
    -----
    Rational weights become integers over their common denominator: a uniform whole number below the
    total falls into one of them. Other weights use `sourdine.noise.steps`. Exact:
    ``tests/noise/test_weighted.py``.

    Examples
    --------
    >>> categorical([0, 5, 0], 3).tolist()
    [1, 1, 1]
    """
    given = listed(weights, "weights", weights=[1, 1])
    if not given:
        raise _too_little("number")
    count, shape = lanes(1 if size is None else size)
    rationals = [
        w if isinstance(w, Real) else at_least(w, f"weights[{i}]", 0) for i, w in enumerate(given)
    ]
    exact = [w for w in rationals if isinstance(w, Fraction)]
    if len(exact) == len(rationals):
        out = _from_integers(exact, count, source)
    else:
        out = np.empty(count, np.int64)
        ladder = partial(_ladder, [Real.of(w) for w in rationals])
        Steps(ladder, identity, finite=True).fill(out, source)
    return int(out[0]) if size is None else out.reshape(shape)


def _from_integers(weights: list[Fraction], count: int, source: Source) -> Ints:
    denominator = lcm(*(w.denominator for w in weights))
    sums = list(accumulate(w.numerator * (denominator // w.denominator) for w in weights))
    if sums[-1] == 0:
        raise _too_little("above 0", "only zeros")
    if sums[-1] <= 1 << 63:
        steps = np.array(sums, np.uint64)
        drawn = uniform_below(sums[-1], count, source=source).astype(np.uint64)
        return steps.searchsorted(drawn, side="right").astype(np.int64, copy=False)
    codes = [bisect_right(sums, uniform_below(sums[-1], source=source)) for _ in range(count)]
    return np.array(codes, np.int64)


def _ladder(weights: list[Real], bits: int) -> tuple[list[int], list[int]]:
    """Return the bounds of the cumulative law of real weights, for `Steps`."""
    precision = bits + 64
    while True:
        bounds = [weight.enclosure(precision) for weight in weights]
        low_sums, high_sums = (list(accumulate(ends)) for ends in zip(*bounds, strict=True))
        least, most = low_sums.pop(), high_sums.pop()
        if 0 < most <= least + (least >> bits + 2):
            break
        if precision > _FINEST + bits:
            raise _too_little("distinguishable from 0")
        precision *= 2
    low = [(partial_sum << bits) // most for partial_sum in low_sums]
    return low, [-((-partial_sum << bits) // least) for partial_sum in high_sums]


def _too_little(what: str, got: str = "") -> ParameterError:
    must = f"hold at least one {what}"
    return ParameterError("weights", must, got, "Use {weights}.", weights=[1, 1])


# ---- The exponential mechanism and permute-and-flip ----------------------------------------------
#
# *Runs.* `choose_run` draws the index :math:`i` with probability proportional to
# :math:`w_i = c_i e^{-\lambda (d_i - d)}`, where :math:`d` is the least distance of a non-empty
# run. It never sums the weights, which would be exact only at great cost, but integers above them:
#
# .. math:: U_i = \lfloor f_i (1 + 2^{-30}) \rfloor + 1, \qquad f_i \approx 2^s w_i
#           \text{ in floating point}, \qquad U_i = 0 \text{ where } c_i = 0.
#
# 1. Draw :math:`i` with probability :math:`U_i / \sum_j U_j`: a uniform whole number among exact
#    cumulative sums.
# 2. Keep it with probability :math:`2^s w_i / U_i`, decided exactly; else go to 1.
#
# Each trial ends at :math:`i` with probability proportional to
# :math:`U_i \cdot 2^s w_i / U_i \propto w_i`. So the law is exact for any :math:`U_i`,
# provided only that :math:`2^s w_i \le U_i`, and this holds: if :math:`\lambda(d_i - d) < 700`, the
# relative error of :math:`f_i` is below :math:`2^{-40}` (``tests/noise/test_filters.py``), a
# thousandth of what :math:`1 + 2^{-30}` leaves; otherwise
# :math:`2^s w_i \le 2^{61} e^{-\lambda(d_i - d)} c_i < 1 \le U_i`, since :math:`s \le 61` and
# :math:`c_i < 2^{63}`.
#
# The scale :math:`s` puts :math:`\sum_i f_i` between :math:`2^{61}` and :math:`2^{62}`, so the sums
# stay below :math:`2^{63}` and a trial fails with probability below :math:`2^{-29} + n 2^{-61}`. A
# run of tiny :math:`U_i` may well be refused, but is drawn as rarely as its :math:`U_i` is small.
# Where :math:`U_i > 2^{32}` the chance to be kept exceeds :math:`1 - 2^{-28}`, so the leading bits
# of the coin nearly always keep it; the rest is computed with integers, for the one lane concerned.


_ROOM = 62
_SURE_BOUND = 1 << 32
_SURE_COIN = (1 << 64) - (1 << 36)
_LANES = 1 << 18


@overload
def choose_run(
    cells: object, distances: object, decay: Number, size: None = None, *, source: Source = ...
) -> int: ...
@overload
def choose_run(
    cells: object, distances: object, decay: Number, size: Shape, *, source: Source = ...
) -> Ints: ...
def choose_run(
    cells: object, distances: object, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw the index :math:`i` with probability proportional to :math:`c_i e^{-\lambda d_i}`.

    The exponential mechanism over runs of candidates that share a score.

    Parameters
    ----------
    cells
        The number of candidates of each run: zero or more, not all zero.
    distances
        Whole numbers of 64 bits; only their differences matter.
    decay
        :math:`\lambda`, zero or more; a float means the decimal it prints.
    size
        ``None`` for one Python int, a length or a shape for that many independent draws.
    source
        The source of random bits.

    Notes
    -----
    Exact for any number of runs: ``tests/noise/test_selection.py`` compares the bounds with the
    weights as rationals, and the draws with the law.

    Examples
    --------
    >>> choose_run([0, 7, 0], [1, 2, 3], 1)
    1
    """
    counts = int64_array(cells, "cells", least=0)
    whole = int64_array(distances, "distances")
    if counts.shape != whole.shape or counts.ndim != 1:
        raise ParameterError(
            "cells",
            "be a list as long as distances",
            f"arrays of shapes {counts.shape} and {whole.shape}",
            "Pass the number of cells and the distance of each run.",
        )
    filled = counts > 0
    if not filled.any():
        raise ParameterError("cells", "hold at least one above 0", "", "Add a candidate.")
    least = whole[filled].min()
    offsets = np.where(filled, whole.view(np.uint64) - least.view(np.uint64), np.uint64(0))
    return _Runs(counts, offsets, at_least(decay, "decay", 0)).choose(size, source)


@overload
def choose(scores: object, decay: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def choose(scores: object, decay: Number, size: Shape, *, source: Source = ...) -> Ints: ...
def choose(
    scores: object, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw the index :math:`i` with probability proportional to :math:`e^{\lambda s_i}`.

    The exponential mechanism [1]_ over whole-number scores, exactly.

    Parameters
    ----------
    scores
        Whole numbers of 64 bits, at least one.
    decay, size, source
        As in `choose_run`.

    References
    ----------
    .. [1] F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007.

    Examples
    --------
    >>> choose([0, 1000, 0], 1)
    1
    """
    offsets = _below_best(scores)
    ones = np.ones(offsets.size, np.int64)
    return _Runs(ones, offsets, at_least(decay, "decay", 0)).choose(size, source)


@overload
def permute_and_flip(
    scores: object, decay: Number, size: None = None, *, source: Source = ...
) -> int: ...
@overload
def permute_and_flip(
    scores: object, decay: Number, size: Shape, *, source: Source = ...
) -> Ints: ...
def permute_and_flip(
    scores: object, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | Ints:
    r"""Draw an index by permute-and-flip, exactly.

    McKenna and Sheldon [1]_ visit the candidates in random order and stop at the first whose coin
    of probability :math:`e^{\lambda(s_i - \max_j s_j)}` shows heads. Which candidates show heads
    does not depend on the order, and the first of them in a random order is uniform among them:
    so all coins are tossed at once and one of the heads is drawn uniformly.

    Parameters
    ----------
    scores
        Whole numbers of 64 bits, at least one.
    decay, size, source
        As in `choose_run`.

    References
    ----------
    .. [1] R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private
       selection", NeurIPS 2020.

    Examples
    --------
    >>> permute_and_flip([0, 1000, 0], 1)
    1
    """
    offsets = _below_best(scores)
    rate = at_least(decay, "decay", 0)
    count, shape = lanes(1 if size is None else size)
    rows = max(1, _LANES // offsets.size)
    out = np.empty(count, np.int64)
    for start in range(0, count, rows):
        part = out[start : start + rows]
        coins = toss_exp(np.tile(offsets, part.size), rate, source)
        heads = coins.reshape(part.size, offsets.size)
        how_many = np.count_nonzero(heads, axis=1)
        first = np.cumsum(how_many) - how_many
        chosen = np.flatnonzero(heads)[first + uniform_below(how_many, source=source)]
        part[:] = chosen % offsets.size
    return int(out[0]) if size is None else out.reshape(shape)


def _below_best(scores: object) -> Words:
    whole = int64_array(scores, "scores")
    if whole.ndim != 1 or whole.size == 0:
        raise ParameterError(
            "scores", "be a list of at least one", f"an array of shape {whole.shape}",
            "Use {scores}.", scores=[0, 1],
        )  # fmt: skip
    best: Words = whole.max().view(np.uint64) - np.ascontiguousarray(whole).view(np.uint64)
    return best


class _Runs:
    """The integers above the weights, their sums, and the coin of each."""

    __slots__ = ("_bounds", "_cells", "_decay", "_offsets", "_scale", "_sums")

    def __init__(self, cells: Ints, offsets: Words, decay: Fraction) -> None:
        self._cells, self._offsets, self._decay = cells, offsets, decay
        with np.errstate(under="ignore"):
            weights = np.exp(offsets * -float_rate(decay))
            weights *= cells
        self._scale = _ROOM - frexp(float(weights.sum()))[1]
        with np.errstate(under="ignore"):
            weights *= 2.0**self._scale * (1 + 2.0**-30)
        self._bounds = weights.astype(np.int64)
        self._bounds += 1
        self._bounds[cells == 0] = 0
        self._sums = np.cumsum(self._bounds)

    def choose(self, size: Size, source: Source) -> int | Ints:
        count, shape = lanes(1 if size is None else size)
        out = np.empty(count, np.int64)
        lane = np.arange(count)
        while lane.size:
            drawn = uniform_below(int(self._sums[-1]), lane.size, source=source)
            index = self._sums.searchsorted(drawn, side="right")
            out[lane] = index
            lane = lane[~self._kept(index, source)]
        return int(out[0]) if size is None else out.reshape(shape)

    def _kept(self, index: NDArray[np.intp], source: Source) -> Bools:
        words = draw_words(source, index.size)
        kept: Bools = (self._bounds[index] > _SURE_BOUND) & (words < _SURE_COIN)
        for lane in np.flatnonzero(~kept).tolist():
            uniform = LazyUniform(source, int(words[lane]), 64)
            kept[lane] = uniform.below(self._chance(int(index[lane])))
        return kept

    def _chance(self, i: int) -> Real:
        r"""Return :math:`2^s w_i / U_i`."""
        factor = Fraction(2) ** self._scale * int(self._cells[i]) / int(self._bounds[i])
        return factor * exp_neg(int(self._offsets[i]) * self._decay)
