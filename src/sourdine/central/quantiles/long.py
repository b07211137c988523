r"""The chain for windows whose :math:`e^{\pm ca}` no float holds.

The kernel's sums are run segment by segment, each with its own scale, so only the messages
themselves must fit: divided by its largest, one is at least :math:`e^{-2cA}` times the ratio of the
least to the largest mass, half as far down as in `chain`. Again only non-negative floats are added
and multiplied, with the same bound on the error. Draws are by logarithms.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from sourdine import noise
from sourdine.central.quantiles.chain import Chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.chain import RankMasses
    from sourdine.noise import Source

    Floats = NDArray[np.float64]

__all__ = ["LongChain"]

SEGMENT = 30.0
"""The range of exponents inside a segment."""


class LongChain(Chain):
    """A `Chain` that is slower and reaches twice as far."""

    __slots__ = ("_messages",)

    DEPTH = 2

    def _forward(self, masses: list[RankMasses], *, keep: bool) -> Floats:
        first, last = self._ends()
        a, c = self._a, self._c
        log_scale = np.zeros(len(first))
        self._messages: list[Floats] = []
        x = np.exp(-c * np.abs(first + a)) * masses[0].get()
        for j in range(1, self._targets.m + 1):
            highest = x.max(axis=1, keepdims=True)
            x /= highest
            log_scale += np.log(highest[:, 0])
            if keep:
                self._messages.append(x)
            if j < self._targets.m:
                x = self._arriving(x, j) * masses[j].get()
        with np.errstate(divide="ignore"):
            ends = np.log(x) - c * np.abs(last - a)
        highest = ends.max(axis=1, keepdims=True)
        return np.asarray(log_scale + highest[:, 0] + np.log(np.exp(ends - highest).sum(axis=1)))

    def _arriving(self, x: Floats, j: int) -> Floats:
        r"""Return :math:`\sum_a x(a) e^{-c|a'-a-\delta_j|}`."""
        from_below, at, from_above = self._factors(j)
        decay = exp(-self._c * self._block)
        out = at * x
        out[:, 1:] += from_below * decay * self._decayed(x)[:, :-1]
        out[:, :-1] += from_above * decay * self._decayed(x[:, ::-1])[:, ::-1][:, 1:]
        return out

    def _decayed(self, x: Floats) -> Floats:
        r"""Return :math:`\sum_{a \le a'} x(a) e^{-c(a'-a)}`."""
        step = self._c * self._block
        length = max(1, int(SEGMENT / step))
        up = np.exp(step * np.arange(length))
        out, carry = np.empty_like(x), np.zeros((len(x), 1))
        for start in range(0, x.shape[1], length):
            part = x[:, start : start + length]
            scale = up[: part.shape[1]]
            sums = np.add.accumulate(part * scale, axis=1)
            sums += carry
            sums /= scale
            out[:, start : start + length] = sums
            carry = sums[:, -1:] * exp(-step)
        return out

    def _offsets(self, row: int, source: Source) -> list[int]:
        _, last = self._ends()
        goal, offsets = float(last[row, 0]), []
        for j in range(self._targets.m - 1, -1, -1):
            with np.errstate(divide="ignore"):
                logs = np.log(self._messages[j][row]) - self._c * np.abs(goal - self._a)
            i = noise.by_log_weight(logs, source=source)
            offsets.append(i)
            shift = self._targets.shift
            goal = float(self._a[i]) - (0.0 if shift is None else float(shift[j]))
        return offsets
