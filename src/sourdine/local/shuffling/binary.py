r"""Two answers, shuffled: all that is left is the number of ones.

Let :math:`a` and :math:`b` be the chances that a one and a zero are reported as one. Of the others
:math:`j` have a one; :math:`f_j` is the law of their ones, and

.. math:: \delta_j(\varepsilon) = \max_N\ \alpha f_j(N-1) - (\beta - \alpha) F_j(N), \qquad
          \alpha = a - e^\varepsilon b,\quad \beta = e^\varepsilon(1-b) - (1-a)

with :math:`F_j(N)` the chance of :math:`N` or more: :math:`f_j` is log-concave, so the outcomes
that tell more than :math:`\varepsilon` are those from some :math:`N` on. The worst of all
:math:`\delta_j` counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local.shuffling.binomial import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Ones", "others"]

BLOCKS = 64
MANY = 10**7
DIRECT = 1 << 22
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ones:
    """The law of the ones that others report: how well it hides one person's, from above.

    ``at`` are upper bounds of its chances from the likeliest count on, ``past`` lower bounds of the
    chances of more. Counts below the likeliest never decide: there the maximum's terms still rise.
    """

    a: float
    b: float
    at: Floats
    past: Floats

    @classmethod
    def of(cls, a: float, b: float, law: Floats, doubt: float) -> Ones:
        """Return the bounds for a law whose chances are known but for ``doubt``."""
        right = law[max(int(law.argmax()) - 1, 0) :]
        past = np.append(np.cumsum(right[:0:-1])[::-1], 0.0)
        sure = np.maximum(past * (1 - ROUNDING) - right.size * doubt, 0)
        return cls(a, b, right * (1 + ROUNDING) + doubt, sure)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at this epsilon, for a person who has a one."""
        fall = expm1(epsilon)
        rise = self.a - self.b - self.b * fall
        return max(float((rise * self.at - fall * self.past).max()), 0.0) if rise > 0 else 0.0


def others(a: float, b: float, n: int) -> Iterator[Ones]:
    """Yield laws of which one is at least as bad as each number j of ones among n - 1 others.

    If n is large, one law serves a block of j: the people who differ within it are left out, and
    fewer people hide less. *Checked by* ``test_leaving_people_out_is_worse``.
    """
    size = -(-n // (BLOCKS if n <= MANY else BLOCKS // 4))
    for last in range(n - 1, -1, -size):
        yield _ones(a, b, max(last - size + 1, 0), n - 1 - last)


def _ones(a: float, b: float, ones: int, zeros: int) -> Ones:
    """Return the law of the ones reported by those who have a one and those who have not."""
    (_, f), (_, g) = run(ones, a), run(zeros, b)
    if f.size * g.size <= DIRECT:
        return Ones.of(a, b, np.convolve(f, g), 1e-18)
    size = f.size + g.size - 1
    unit = 1 << max(size.bit_length() - 4, 0)
    length = -(-size // unit) * unit
    law = np.fft.irfft(np.fft.rfft(f, length) * np.fft.rfft(g, length), length)[:size]
    doubt = 64 * np.finfo(float).eps * float(np.sqrt((f @ f) * (g @ g)))
    return Ones.of(a, b, np.maximum(law, 0), doubt + 1e-18)
