"""Attacks on implementations that are private on paper: precision, fork, time."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


class Precision(NamedTuple):
    """Share of outputs off the coarse lattice, for the inputs 0 and 1."""

    at_zero: float
    at_one: float

    @property
    def succeeds(self) -> bool:
        """Whether some outputs are possible for one input only: infinite privacy loss."""
        return (self.at_zero == 0) != (self.at_one == 0)


def precision_attack(release: Callable[[float, int], ArrayLike], draws: int = 100_000) -> Precision:
    r"""Tell the inputs 0.0 and 1.0 apart by the last bits of the outputs.

    Of the outputs in (1/4, 1/2), :math:`0 + z` with float noise may be any float, while :math:`1 +
    z` is always a multiple of :math:`2^{-53}`: one output off that lattice betrays the input.
    Noise on a public grid gives the same lattice for both.

    References
    ----------
    .. [1] S. Haney, D. Desfontaines, L. Hartman, R. Shrestha, M. Hay, "Precision-based attacks and
       interval refining: how to break, then fix, differential privacy on finite computers", 2022.
    """

    def off_lattice(x: float) -> float:
        y = np.asarray(release(x, draws), np.float64)
        multiple = np.ldexp(y[(y > 0.25) & (y < 0.5)], 53)
        return float((multiple != np.floor(multiple)).mean()) if len(multiple) else 0.0

    return Precision(off_lattice(0.0), off_lattice(1.0))


def repeats_after_fork(draw: Callable[[], bytes]) -> bool:
    """Return whether a forked child draws the same noise as its parent."""
    draw()  # whatever is buffered is buffered now
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child does nothing but draw
        child = os.fork()
    if child == 0:
        os.write(write, draw())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    return draw() == theirs


def timing_leak(release: Callable[[], int], centre: int = 0, calls: int = 20_000) -> float:
    """Return the rank correlation of a release's CPU time with the size of its noise.

    References
    ----------
    .. [1] J. Jin, E. McMurtry, B. Rubinstein, O. Ohrimenko, "Are we there yet? Timing and
       floating-point attacks on differential privacy systems", IEEE S&P 2022.
    """
    for _ in range(100):
        release()
    spent, size = np.empty(calls), np.empty(calls)
    for i in range(calls):
        begin = time.thread_time_ns()
        y = release()
        spent[i] = time.thread_time_ns() - begin
        size[i] = abs(y - centre)
    return rank_correlation(spent, size)


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Return Spearman's rho, ties sharing their mean rank.

    Examples
    --------
    >>> rank_correlation([1, 2, 3, 4], [10, 20, 20, 90]).__round__(4)
    0.9487
    """
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: ArrayLike) -> NDArray[np.float64]:
    _, which, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[which], np.float64)
