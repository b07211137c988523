r"""Intervals for a share, from how many reports support it.

A report supports a category with probability :math:`p` if the person's is that one, else with
:math:`q < p`, and people report independently. So if :math:`j` of the :math:`n` people have it,
the number of supporters is

.. math:: C = \mathrm{Bin}(j, p) + \mathrm{Bin}(n - j, q) \quad\text{or}\quad
          C = \mathrm{Bin}(n, fp + (1 - f)q)

where people are drawn from a population with the share :math:`f`. An interval holds the shares
under which what was seen is not too far in a tail: at least the probability stated, for every
share and every n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["population_ends", "sample_ends", "tail"]

SWITCH = 200.0
"""From this variance of C on, tails are approximated."""
SLACK = 1e-3
"""By so much, relatively, an approximate tail may be wrong: it is taken off the level."""
REACH = 46.0
"""Exact tails leave out summands of total probability exp(-46) at most, to either side."""
DOUBT = 30.0
"""Supports that no survey has but with probability exp(-30) count as the nearest it could have."""
FEW, CLEAR, MOVES = 25.0, 0.25, 16
"""Up to what variance of C, and from what p - q on, a sample's ends move on; by how many people."""
NEAR = 3e-3
"""So near the mean, in standard deviations, the formula is 0/0 and its series is taken."""


def sample_ends(
    support: ArrayLike, n: int, p: ArrayLike, q: ArrayLike, beta: float
) -> tuple[Floats, Floats]:
    r"""Return the ends for the shares among the people who answered.

    The lower end is the least :math:`j/n`, the upper end the greatest, with

    .. math:: P_j(C \ge c) > \tfrac\beta2 \min(1, 2 P_n(C \ge c)), \qquad
              P_j(C \le c) > \tfrac\beta2 \min(1, 2 P_0(C \le c))

    The minimum is 1 unless even a category that nobody has would mostly find more supporters. There
    it keeps an unlucky survey from stating that nobody has the category, for sure. It is a mild
    form of Read's rule [1]_, and can only lengthen an interval. Where supporters are few and the
    minimum is 1, the ends then move towards Blaker's, as in `population_ends`.

    Parameters
    ----------
    support
        How many reports support each category, c; or a row of these for each of many surveys.
    n
        The number of reports.
    p, q
        The chances of supporting, for all categories or one for each.
    beta
        :math:`\beta`, the probability with which an interval may miss.

    Notes
    -----
    *Claim*: intervals miss with at most their probability, for every share. *Checked by*
    ``test_sample_intervals_cover_every_share``. *Claim*: no interval is empty, and if
    :math:`\frac{1-p}{1-q} > \beta` none is a sure 0, whatever was reported: for that is the least
    :math:`P_1(C \le c) / P_0(C \le c)`. *Checked by* ``test_no_survey_is_sure_that_nobody_is``.

    References
    ----------
    .. [1] A. L. Read, "Presentation of search results: the CLs technique", J. Phys. G 28, 2002.

    Examples
    --------
    >>> low, high = sample_ends([60], 100, 0.75, 0.25, 0.05)
    >>> low.tolist(), high.tolist()
    ([0.53], [0.87])
    """
    c = np.asarray(support, np.int64)
    if not n:
        return np.zeros(c.shape), np.ones(c.shape)
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    c, back = _distinct(_possible(c, n, p, q), p, q)
    first = _least(c, n, p, q, beta)
    last = n - _least(n - c, n, 1 - q, 1 - p, beta)
    low, high = np.minimum(first, last) / n, np.maximum(first, last) / n
    return low[back], high[back]


def population_ends(
    support: ArrayLike, n: int, p: ArrayLike, q: ArrayLike, beta: float
) -> tuple[Floats, Floats]:
    r"""Return the ends for the shares in a population the people were drawn from.

    They are Clopper and Pearson's for :math:`r = fp + (1-f)q`, with the minimum of `sample_ends`;
    where supporters are few and it is 1, Blaker's [1]_, which lie within those.

    Notes
    -----
    *Claim*: intervals miss with at most their probability, for every share. *Checked by*
    ``test_population_intervals_cover_every_share``. *Claim*: Blaker's are found exactly. *Checked
    by* ``test_short_ends_are_those_of_blaker``.

    References
    ----------
    .. [1] H. Blaker, "Confidence curves and improved exact confidence intervals for discrete
       distributions", Canadian Journal of Statistics 28, 2000.

    Examples
    --------
    >>> low, high = population_ends([60], 100, 0.75, 0.25, 0.05)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.5], [0.889])
    """
    c = np.asarray(support, np.int64)
    if not n:
        return np.zeros(c.shape), np.ones(c.shape)
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    c, back = _distinct(_possible(c, n, p, q), p, q)
    low = (_rate(c, n, p, beta) - q) / (p - q)
    high = (1 - _rate(n - c, n, 1 - q, beta) - q) / (p - q)
    return np.clip(low, 0, 1)[back], np.clip(high, 0, 1)[back]


def _possible(c: Ints, n: int, p: Floats, q: Floats) -> Ints:
    """Return the supports, none of them below or above what any share could cause."""
    least = np.ceil(n * q - _reach(n * q * (1 - q), DOUBT))
    most = np.floor(n * p + _reach(n * p * (1 - p), DOUBT))
    return np.clip(c, np.maximum(least, 0), np.minimum(most, n)).astype(np.int64)


def _distinct(c: Ints, p: Floats, q: Floats) -> tuple[Ints, Any]:
    """Return the supports that occur, and where each is: the same ones have the same ends."""
    return np.unique(c, return_inverse=True) if p.ndim == q.ndim == 0 else (c, ...)


def _reach(variance: Floats, unlikely: float) -> Floats:
    r"""Return what a sum of coins passes its mean by with :math:`e^{-u}` at most: Bernstein's."""
    return np.asarray(unlikely / 3 + np.sqrt((unlikely / 3) ** 2 + 2 * unlikely * variance))


def _rate(c: Ints, n: int, most: Floats, beta: float) -> Floats:
    """Return the least chance at which c or more of n are not too rare, against the most."""
    from scipy.special import betainc, betaincinv  # noqa: PLC0415 - late, as everywhere

    some = np.maximum(c, 1)
    level = beta / 2 * np.minimum(1, 2 * betainc(some, n - some + 1, most))
    least = np.where(c > 0, betaincinv(some, n - some + 1, level), 0.0)
    few = (c > 0) & (level == beta / 2) & (c * (n - c) < SWITCH * n)
    least[few] = _greater(c[few], n, least[few], beta)
    return least


def _greater(c: Ints, n: int, least: Floats, beta: float) -> Floats:
    r"""Return Blaker's end, which spends what the other tail leaves, from Clopper and Pearson's.

    The chance :math:`r` is held unlikely if :math:`h_m(r) = P_r(C \ge c) + P_r(C \le m) \le \beta`,
    where :math:`m` is the greatest with :math:`P_r(C \le m) \le P_r(C \ge c)` and grows with
    :math:`r`. For a fixed :math:`m` it falls, then rises; where the next :math:`m` begins it is
    twice the first tail and thus too large. So the end is there, or where the first of them rises
    through :math:`\beta`. Bisection keeps to the safe side.
    """
    from scipy.special import betainc  # noqa: PLC0415

    def above(r: Floats) -> Floats:
        return np.asarray(betainc(c, n - c + 1, r))

    def below(m: Ints, r: Floats) -> Floats:
        return np.where(m < 0, 0.0, betainc(n - np.maximum(m, 0), np.maximum(m, 0) + 1, 1 - r))

    m, over = np.full(c.shape, -1), c.copy()
    while (over - m).max(initial=0) > 1:
        middle = (m + over) // 2
        rare = below(middle, least) <= beta / 2
        m, over = np.where(rare, middle, m), np.where(rare, over, middle)
    begins = _last(lambda r: below(m + 1, r) > above(r), least, np.ones(c.shape))
    return _last(lambda r: above(r) + below(m, r) <= beta, least, begins)


def _last(holds: Callable[[Floats], NDArray[np.bool_]], start: Floats, end: Floats) -> Floats:
    """Return up to where something holds that holds first and then no more, by bisection."""
    for _ in range(50):
        middle = (start + end) / 2
        held = holds(middle)
        start, end = np.where(held, middle, start), np.where(held, end, middle)
    return start


def _least(c: Ints, n: int, p: Floats, q: Floats, beta: float) -> Ints:
    """Return the least j at which c supporters or more are not too rare, by bisection."""
    below, least = np.full(c.shape, -1), np.full(c.shape, n)
    most = np.minimum(1, 2 * tail(c, least, n, p, q))
    level = (1 - SLACK) * beta / 2 * most
    while (least - below).max(initial=0) > 1:
        middle = np.maximum((below + least) // 2, 0)
        enough = tail(c, middle, n, p, q) > level
        below, least = np.where(enough, below, middle), np.where(enough, middle, least)
    few = (most == 1) & (c > 0) & (c * (n - c) < FEW * n) & (p - q > CLEAR)
    if few.any():
        p, q = np.broadcast_to(p, c.shape), np.broadcast_to(q, c.shape)
        least[few] = _moved(c[few], n, least[few], (p[few], q[few]), beta)
    return least


def _moved(c: Ints, n: int, j: Ints, chances: tuple[Floats, Floats], beta: float) -> Ints:
    """Move on while both tails together are too rare, as in `_greater`, by some people at most."""
    p, q = chances
    for _ in range(MOVES):
        upper = tail(c, j, n, p, q)
        m, over = np.full(c.shape, -1), c
        while (over - m).max() > 1:
            middle = np.maximum((m + over) // 2, 0)
            rare = tail(n - middle, n - j, n, 1 - q, 1 - p) <= upper
            m, over = np.where(rare, middle, m), np.where(rare, over, middle)
        rare = upper + tail(n - m, n - j, n, 1 - q, 1 - p) <= (1 - SLACK) * beta
        if not rare.any():
            break
        j = j + rare
    return j


def tail(c: Ints, j: Ints, n: int, p: ArrayLike, q: ArrayLike) -> Floats:
    r"""Return :math:`P(\mathrm{Bin}(j, p) + \mathrm{Bin}(n - j, q) \ge c)`.

    Up to a variance of 200 the two binomials are convolved; beyond, Lugannani and Rice's
    saddlepoint formula [1]_ with Daniels' second continuity correction is off by less than a
    thousandth of the tail. *Checked by* ``test_the_two_tails_agree_at_the_switch``.

    References
    ----------
    .. [1] H. E. Daniels, "Tail probability approximations", International Statistical Review 55,
       1987.
    """
    c, j, p, q = np.broadcast_arrays(c, j, np.asarray(p, float), np.asarray(q, float))
    out = np.where(c > 0, 0.0, 1.0)
    inside = (c > 0) & (c <= n)
    smooth = inside & (j * p * (1 - p) + (n - j) * q * (1 - q) >= SWITCH)
    for which, rule in ((inside & ~smooth, _convolved), (smooth, _saddlepoint)):
        if which.any():
            out[which] = rule(c[which], j[which], n, p[which], q[which])
    return out


def _convolved(c: Ints, j: Ints, n: int, p: Floats, q: Floats) -> Floats:
    """Sum over the supporters among the j, as far as they are not out of the question."""
    from scipy.special import betainc, gammaln, xlog1py, xlogy  # noqa: PLC0415

    half = _reach(j * p * (1 - p), REACH)
    start = np.maximum(np.floor(j * p - half), 0)[:, None]
    i = start + np.arange(min(int(2 * half.max()) + 2, int(j.max()) + 1))
    have, others, p, q = j[:, None], n - j[:, None], p[:, None], q[:, None]
    real = i <= have
    i = np.where(real, i, 0.0)
    ways = gammaln(have + 1.0) - gammaln(i + 1) - gammaln(have - i + 1)
    pmf = np.where(real, np.exp(ways + xlogy(i, p) + xlog1py(have - i, -p)), 0.0)
    need = c[:, None] - i
    in_doubt = (need >= 1) & (need <= others)
    a, b = np.where(in_doubt, need, 1.0), np.where(in_doubt, others - need + 1, 1.0)
    return np.asarray((pmf * np.where(in_doubt, betainc(a, b, q), need <= 0)).sum(axis=1))


def _saddlepoint(c: Ints, j: Ints, n: int, p: Floats, q: Floats) -> Floats:
    r"""Tilt by :math:`z = e^s`, the root of a quadratic, so that the mean is at the lattice gap."""
    from scipy.special import ndtr  # noqa: PLC0415

    x, a, b = c - 0.5, p / (1 - p), q / (1 - q)
    two, one = a * b * (n - x), j * a + (n - j) * b - x * (a + b)
    root = np.sqrt(one**2 + 4 * two * x)
    z = np.where(one > 0, 2 * x / (one + root), (root - one) / (2 * two))
    s, u, v = np.log(z), a * z / (1 + a * z), b * z / (1 + b * z)
    cumulant = j * np.log1p(p * (z - 1)) + (n - j) * np.log1p(q * (z - 1))
    spread = np.sqrt(j * u * (1 - u) + (n - j) * v * (1 - v))
    third = j * u * (1 - u) * (1 - 2 * u) + (n - j) * v * (1 - v) * (1 - 2 * v)
    skew, t = third / spread**3 / 6, s * spread
    near = np.abs(t) < NEAR
    w = np.sign(s) * np.sqrt(2 * np.maximum(s * x - cumulant, 0))
    far_w, far_s = np.where(near, 1.0, w), np.where(near, 1.0, s)
    bulge = np.where(near, -skew, 1 / (2 * np.sinh(far_s / 2) * spread) - 1 / far_w)
    w = np.where(near, t * (1 - t * skew), w)
    return np.asarray(ndtr(-w) + np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi) * bulge)
