r"""Rows that grow with the mean of those before them: a sample that does not forget its start.

.. math:: x_1 \sim U[0, 100], \qquad x_i \sim U[m_{i-1}, 2 m_{i-1}], \quad
          m_i = \tfrac1i(x_1 + \dots + x_i)

With :math:`U_i \sim U[0, 1]`, :math:`x_i = m_{i-1}(1 + U_i)` and :math:`m_i = m_{i-1}(1 + U_i/i)`,
so the mean grows as :math:`\sqrt i` and :math:`\ln (m_i/\sqrt i)` converges to
:math:`\ln x_1 + Z` for a :math:`Z` of its own: the scale of the first few rows is the scale of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["even_octave", "growing_mean"]


def growing_mean(n: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    r"""Return ``n`` rows, each between the mean of those before it and twice that.

    A query with a fixed threshold, as "above 1000", is concentrated in the end, and says nothing:
    all but a vanishing share of the rows pass any threshold. A query that looks at the scale, as
    :func:`even_octave`, never is: its average over :math:`10^4` rows spreads as much as over 100.
    *Checked by* ``test_growing_rows_do_not_concentrate``.

    Parameters
    ----------
    n
        How many rows.
    rng
        Where chance comes from.

    Examples
    --------
    >>> rows = growing_mean(1000, rng=np.random.default_rng(1))
    >>> mean = np.cumsum(rows)[:-1] / np.arange(1, 1000)
    >>> bool((mean <= rows[1:]).all() and (rows[1:] <= 2 * mean).all())
    True
    """
    n = integer(n, "n", least=1)
    u = rng.random(n)
    first = 100 * u[0]
    growth = np.cumprod(1 + u[1:] / np.arange(2, n + 1))
    before = first * np.concatenate(([1.0], growth))[: n - 1]
    return np.concatenate(([first], before * (1 + u[1:])))


def even_octave(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether a row is from 1 to 2, 4 to 8, 16 to 32, ...: a query about its scale.

    Examples
    --------
    >>> even_octave(np.array([1.5, 3.0, 5.0, 0.3])).tolist()
    [True, False, True, True]
    """
    return np.asarray(np.frexp(rows)[1] % 2 == 1)
