r"""What figures 18 to 23 share: a mean chosen among the answers :math:`k/N`, :math:`0 \le k < N`.

Section 5 chooses :math:`o = k/N` with probability
:math:`\propto e^{\varepsilon u(X, o)/(2\Delta u)}`. Its :math:`u = -|o - \frac12|` does not look at
the data; here :math:`u = -|o - \bar X|`, with :math:`\Delta u = 1/n` under substitution, on data
snapped to :math:`2^{-20}` so that scores are whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import Exponential
from sourdine_lab.settings import DataLaw, Setting, integer, law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.noise import Source

    Real = NDArray[np.float64]

__all__ = ["FINE", "N_RECORDS", "answers", "chances", "common", "records"]

N_RECORDS = 1000
"""The records of the report's data sets."""
FINE = 1 << 20
"""The steps of the lattice that the records lie on."""


def common() -> tuple[Setting, ...]:
    """Return the settings that figures 18 to 21 share."""
    return (
        Setting("n", N_RECORDS, integer(least=1), "records in a data set"),
        Setting("law", "uniform(0,1)", law(0, 1), "the law of the records"),
        Setting("smallest", 10, integer(least=2), "the least number of answers N"),
    )


def records(rng: np.random.Generator, of: str, n: int) -> NDArray[np.int64]:
    """Return records of a law on [0, 1], in units of the fine lattice."""
    named = DataLaw.read(of)
    if named == DataLaw("uniform", (0.0, 1.0)):
        return rng.integers(0, FINE, n)
    return np.floor(named.draw(rng, n) * FINE).astype(np.int64)


def answers(x: NDArray[np.int64], epsilon: float, n: int, size: int, source: Source) -> Real:
    """Draw answers among n of them for the mean of the records."""
    scores = -np.abs(len(x) * FINE * np.arange(n) - n * int(x.sum()))
    made = Exponential(
        epsilon=Fraction(str(epsilon)), candidates=n, sensitivity=n * FINE, relation="substitute"
    )
    return made.simulate(scores, size, source=source) / n


def chances(centre: float, epsilon: float, n: int, records: int = N_RECORDS) -> Real:
    """Return the probability of each of n answers where the mean of the records is ``centre``."""
    logs = -records * epsilon / 2 * np.abs(np.arange(n) / n - centre)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
