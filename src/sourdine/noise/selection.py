r"""One of many candidates: the exponential mechanism, and permute-and-flip.

*Runs.* `choose_run` draws the index :math:`i` with probability proportional to
:math:`w_i = c_i e^{-\lambda (d_i - d)}`, where :math:`d` is the least distance of a run that is not
empty. It never sums the weights, which would be exact only at great cost, but integers above them:

.. math:: U_i = \lfloor f_i (1 + 2^{-30}) \rfloor + 1, \qquad f_i \approx 2^s w_i
          \text{ in floating point}, \qquad U_i = 0 \text{ where } c_i = 0.

1. Draw :math:`i` with probability :math:`U_i / \sum_j U_j`: a uniform whole number among exact
   cumulative sums.
2. Keep it with probability :math:`2^s w_i / U_i`, decided exactly; else go to 1.

Each trial ends at :math:`i` with probability proportional to
:math:`U_i \cdot 2^s w_i / U_i \propto w_i`. So the law is exact whatever the :math:`U_i` are,
provided only that :math:`2^s w_i \le U_i`, and this holds: if :math:`\lambda(d_i - d) < 700`, the
relative error of :math:`f_i` is below :math:`2^{-40}` (``tests/noise/test_filters.py``), a
thousandth of what :math:`1 + 2^{-30}` leaves; otherwise
:math:`2^s w_i \le 2^{61} e^{-\lambda(d_i - d)} c_i < 1 \le U_i`, since :math:`s \le 61` and
:math:`c_i < 2^{63}`.

The scale :math:`s` puts :math:`\sum_i f_i` between :math:`2^{61}` and :math:`2^{62}`, so the sums
stay below :math:`2^{63}` and a trial fails with probability below :math:`2^{-29} + n 2^{-61}`. A
run of tiny :math:`U_i` may well be refused, but is drawn as rarely as its :math:`U_i` is small.
Where :math:`U_i > 2^{32}` the chance to be kept exceeds :math:`1 - 2^{-28}`, so the leading bits
of the coin nearly always keep it; the rest is computed with integers, for the one lane concerned.
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from sourdine.errors import ParameterError
from sourdine.exact import Real, at_least, exp_neg
from sourdine.noise.arrays import int64_array
from sourdine.noise.exp_coins import toss_exp
from sourdine.noise.filters import float_rate
from sourdine.noise.lazy import LazyUniform
from sourdine.noise.sizes import Shape, Size, lanes
from sourdine.noise.source import SYSTEM, Source, draw_words
from sourdine.noise.uniform import uniform_below

if TYPE_CHECKING:
    from sourdine.exact.parameters import Number

__all__ = ["choose", "choose_run", "permute_and_flip"]

Offsets = NDArray[np.uint64]
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
) -> NDArray[np.int64]: ...
def choose_run(
    cells: object,
    distances: object,
    decay: Number,
    size: Size = None,
    *,
    source: Source = SYSTEM,
) -> int | NDArray[np.int64]:
    r"""Draw the index :math:`i` with probability proportional to :math:`c_i e^{-\lambda d_i}`.

    The exponential mechanism over runs of candidates that share a score.

    Parameters
    ----------
    cells
        How many candidates each run holds: whole numbers, zero or more, not all zero.
    distances
        Whole numbers of 64 bits; only their differences matter.
    decay
        :math:`\lambda`, zero or more; a float means the decimal it prints.
    size
        ``None`` for one Python int, a length or a shape for that many independent draws.
    source
        Where the bits come from.

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
            f"the shapes {counts.shape} and {whole.shape}",
            "Give each run its number of cells and its distance.",
        )
    filled = counts > 0
    if not filled.any():
        raise ParameterError("cells", "hold at least one above 0", "none", "Add a candidate.")
    least = whole[filled].min()
    offsets = np.where(filled, whole.view(np.uint64) - least.view(np.uint64), np.uint64(0))
    return _Runs(counts, offsets, at_least(decay, "decay", 0)).choose(size, source)


@overload
def choose(scores: object, decay: Number, size: None = None, *, source: Source = ...) -> int: ...
@overload
def choose(
    scores: object, decay: Number, size: Shape, *, source: Source = ...
) -> NDArray[np.int64]: ...
def choose(
    scores: object, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
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
) -> NDArray[np.int64]: ...
def permute_and_flip(
    scores: object, decay: Number, size: Size = None, *, source: Source = SYSTEM
) -> int | NDArray[np.int64]:
    r"""Draw an index by permute-and-flip, exactly.

    McKenna and Sheldon [1]_ visit the candidates in random order and stop at the first whose coin
    of probability :math:`e^{\lambda(s_i - \max_j s_j)}` shows heads. The candidates that show heads
    do not depend on the order, and the first of them in a random order is any of them alike:
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
    parts = [_flip_rows(offsets, rate, min(rows, count - i), source) for i in range(0, count, rows)]
    if size is None:
        return int(parts[0][0])
    return np.concatenate([np.empty(0, np.int64), *parts]).reshape(shape)


def _flip_rows(offsets: Offsets, rate: Fraction, rows: int, source: Source) -> NDArray[np.int64]:
    heads = toss_exp(np.tile(offsets, rows), rate, source).reshape(rows, offsets.size)
    flat = np.flatnonzero(heads)
    how_many = np.count_nonzero(heads, axis=1)
    first = np.cumsum(how_many) - how_many
    chosen: NDArray[np.int64] = flat[first + uniform_below(how_many, source=source)]
    return chosen % offsets.size


def _below_best(scores: object) -> Offsets:
    whole = int64_array(scores, "scores")
    if whole.ndim != 1 or whole.size == 0:
        raise ParameterError(
            "scores",
            "be a list of at least one",
            f"the shape {whole.shape}",
            "Type {scores}.",
            scores=[0, 1],
        )
    best: Offsets = whole.max().view(np.uint64) - np.ascontiguousarray(whole).view(np.uint64)
    return best


class _Runs:
    """The integers above the weights, their sums, and the coin of each."""

    __slots__ = ("_bounds", "_cells", "_decay", "_offsets", "_scale", "_sums")

    def __init__(self, cells: NDArray[np.int64], offsets: Offsets, decay: Fraction) -> None:
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

    def choose(self, size: Size, source: Source) -> int | NDArray[np.int64]:
        count, shape = lanes(1 if size is None else size)
        out = np.empty(count, np.int64)
        lane = np.arange(count)
        while lane.size:
            drawn = uniform_below(int(self._sums[-1]), lane.size, source=source)
            index = self._sums.searchsorted(drawn, side="right")
            out[lane] = index
            lane = lane[~self._kept(index, source)]
        return int(out[0]) if size is None else out.reshape(shape)

    def _kept(self, index: NDArray[np.intp], source: Source) -> NDArray[np.bool_]:
        words = draw_words(source, index.size)
        kept: NDArray[np.bool_] = (self._bounds[index] > _SURE_BOUND) & (words < _SURE_COIN)
        for lane in np.flatnonzero(~kept).tolist():
            uniform = LazyUniform(source, int(words[lane]), 64)
            kept[lane] = uniform.below(self._chance(int(index[lane])))
        return kept

    def _chance(self, i: int) -> Real:
        r"""Return :math:`2^s w_i / U_i`."""
        factor = Fraction(2) ** self._scale * int(self._cells[i]) / int(self._bounds[i])
        return factor * exp_neg(int(self._offsets[i]) * self._decay)
