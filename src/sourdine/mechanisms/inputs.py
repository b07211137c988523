"""Reading private inputs and the parameters that mechanisms share."""

from __future__ import annotations

import numbers
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, kind, one_of, positive
from sourdine.privacy import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.exact import Number

    Value = int | NDArray[np.int64]


# ---- Private inputs: a wrong type is refused, a value never is -----------------------------------
#
# Ticks are integers. Values beyond 64 bits, or outside a public domain, are moved to the nearest
# end; clamping every input to fixed ends moves no two inputs further apart.


ENDS = np.iinfo(np.int64)
HIGHEST_TICK = 1 << 40
REACH = 1 << 61  # vectors stay within, so that differences of two entries stay within 64 bits


def read_ticks(x: object) -> Value:
    """Return an integer, or an array of integers."""
    if type(x) is int:
        return x
    if _whole(x):
        return int(x)
    ticks = np.asarray(x, object) if isinstance(x, (list, tuple)) else np.asarray(x)
    if ticks.dtype.kind == "O" and all(_whole(v) for v in ticks.flat):
        clipped = [min(max(int(v), ENDS.min), ENDS.max) for v in ticks.flat]
        return np.array(clipped, np.int64).reshape(ticks.shape)
    if ticks.dtype.kind not in "iu":
        raise ParameterTypeError(
            "the input",
            "be whole numbers (ticks of a grid)",
            _kind(x),
            "Snap values first: use Grid(0, 100, step=1).ticks(values).",
        )
    return int(ticks) if ticks.ndim == 0 else np.minimum(ticks, ENDS.max).astype(np.int64)


def read_one(x: object) -> int:
    tick = read_ticks(x)
    if not isinstance(tick, int):
        raise ParameterTypeError(
            "the input",
            "be one number",
            "an array",
            "Release the numbers separately, or use Laplace with the L1 sensitivity.",
        )
    return tick


def read_code(x: object, last: int) -> int:
    """Return a code from 0 to ``last``; other values are moved to the nearest end."""
    scalar = np.ndim(x) == 0 if isinstance(x, np.ndarray) else not isinstance(x, (list, tuple))
    if not scalar or isinstance(x, str) or not (_whole(x) or isinstance(x, np.ndarray)):
        raise ParameterTypeError(
            "the input",
            f"be one code from 0 to {last}",
            _kind(x),
            "Code the answers as 0, 1, 2, ... and release them separately.",
        )
    return min(max(int(read_ticks(x)), 0), last)


def read_vector(x: object, length: int, name: str) -> NDArray[np.int64]:
    """Return a vector of integers of a public length, each within 2**61 of zero."""
    vector = np.atleast_1d(np.asarray(read_ticks(x), object))
    if vector.shape != (length,):
        raise ParameterTypeError(
            name,
            f"be a vector of {length} whole numbers",
            f"an array of shape {vector.shape}",
            "Its length is public: construct the mechanism with it.",
        )
    return np.asarray(np.clip(vector, -REACH, REACH), np.int64)


def add(x: Value, k: Value) -> Value:
    """Return x + k; arrays saturate at the ends of int64 instead of wrapping around."""
    if isinstance(x, int) and isinstance(k, int):
        return x + k
    if isinstance(x, int):
        x = min(max(x, ENDS.min), ENDS.max)
    x, k = np.asarray(x, np.int64), np.asarray(k, np.int64)
    with np.errstate(over="ignore"):
        total = x + k
    wrapped = ((x ^ total) & (k ^ total)) < 0
    return np.where(wrapped, np.where(k < 0, ENDS.min, ENDS.max), total)


def _whole(x: object) -> TypeGuard[numbers.Integral]:
    return isinstance(x, numbers.Integral) and not isinstance(x, bool)


def _kind(x: object) -> str:
    return f"an array of {x.dtype}" if isinstance(x, np.ndarray) else kind(x)


# ---- Vectors of scores, answers or numbers, and their neighbours ---------------------------------


def moved(x: NDArray[np.int64], reach: int, *, monotone: bool) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors whose every entry is at most ``reach`` from that of ``x``.

    If monotone, all entries move in one direction.

    Examples
    --------
    >>> [v.tolist() for v in moved(np.array([0, 5]), 1, monotone=True)][:4]
    [[0, 5], [0, 6], [1, 5], [1, 6]]
    """
    up, down = range(reach + 1), range(-reach, 1)
    for steps in (up, down) if monotone else (range(-reach, reach + 1),):
        for step in product(steps, repeat=len(x)):
            yield x + np.array(step)


def within(x: NDArray[np.int64], reach: int, *, norm: int) -> Iterator[NDArray[np.int64]]:
    """Yield all vectors at most ``reach`` from ``x`` in the L1 or the L2 norm.

    Examples
    --------
    >>> [v.tolist() for v in within(np.array([0, 5]), 1, norm=1)]
    [[-1, 5], [0, 4], [0, 5], [0, 6], [1, 5]]
    """
    for step in product(range(-reach, reach + 1), repeat=x.size):
        if sum(abs(k) ** norm for k in step) <= reach**norm:
            yield x + np.array(step).reshape(x.shape)


def may_move(x: NDArray[np.int64], y: NDArray[np.int64], reach: int, *, monotone: bool) -> bool:
    """Return whether ``y`` is one of the vectors that `moved` yields for ``x``."""
    step = y - x
    one_way = not monotone or (step >= 0).all() or (step <= 0).all()
    return bool(one_way and np.abs(step).max() <= reach)


# ---- Converters of shared parameters -------------------------------------------------------------
#
# A converter is named after its parameter, as its errors are. It is the only place where the
# parameter is converted, so a field holds what its annotation says.


LEAST = Fraction(1, 10**100)

Minimise = Literal["l1", "l2"]


def epsilon(x: Number) -> Fraction:
    """Return the privacy loss, above 0."""
    return positive(x, "epsilon")


def delta(x: Number) -> Fraction:
    """Return the probability with which the loss may exceed epsilon, above 0 and below 1."""
    value = positive(x, "delta", example=1e-6)
    if value >= 1:
        hint = "Use a small number, such as {delta}."
        raise ParameterError("delta", "be below 1", given(x), hint, delta=1e-6)
    if value < LEAST:
        hint = "Use {delta}, or use Laplace, which needs no delta."
        raise ParameterError("delta", "be at least 1e-100", given(x), hint, delta=1e-6)
    return value


def read_last(last: object, least: int) -> int:
    """Return the highest tick of an interval, small enough for 64 bits."""
    value = integer(last, "last", least=least)
    if value > HIGHEST_TICK:
        raise ParameterError(
            "last",
            "be at most 2**40",
            given(value),
            "Use the highest tick of a coarser grid, such as {last}.",
            last=1000,
        )
    return value


def sensitivity(x: Number) -> Fraction:
    """Return the most by which an input can change, above 0."""
    return positive(x, "sensitivity")


def whole_sensitivity(x: int) -> int:
    """Return the number of ticks by which an input can change."""
    return integer(x, "sensitivity", least=1)


def relation(x: Relation | str) -> Relation:
    return Relation.read(x)


def rows(x: int) -> int:
    """Return the number of records that one person may own."""
    return integer(x, "rows", least=1)


def monotone(x: bool) -> bool:  # noqa: FBT001 - as it is given
    """Return whether all scores change in one direction between neighbours."""
    return flag(x, "monotone")


def minimise(x: Minimise) -> Minimise:
    """Return which mean loss is minimised."""
    return one_of(x, "minimise", "l1", "l2")
