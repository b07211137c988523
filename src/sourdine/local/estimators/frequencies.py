"""Shares of categories from reports, with intervals, projected on the simplex."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, kind, listed, number
from sourdine.local.estimators.distribution import em
from sourdine.local.estimators.means import Estimate
from sourdine.mechanisms.mechanism import settle
from sourdine.mechanisms.randomized_response import FrequencyOracle
from sourdine.results import charts
from sourdine.results.answer import plain
from sourdine.results.release import Display
from sourdine.results.tables import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number
    from sourdine.privacy import Guarantee
    from sourdine.results.charts import Chart
    from sourdine.results.release import Release

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


# ---- Shares that could be true: not negative, and with the sum 1 or the noise cut off ------------


def norm_sub(raw: ArrayLike) -> NDArray[np.float64]:
    r"""Return the nearest shares that are not negative and sum to 1.

    They are :math:`\max(f_v - \theta, 0)` with one :math:`\theta` for all, which is the projection
    on the simplex in the Euclidean norm: a proof is in [1]_. As the truth lies in the simplex,
    which is convex, the squared error summed over all categories never grows. Small shares become
    0, so each of them is biased.

    Notes
    -----
    *Claim*: no point of the simplex is nearer. *Checked by* ``test_norm_sub_is_the_projection``.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the
       l1-ball for learning in high dimensions", ICML 2008.
    .. [2] T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li, "Locally differentially private
       frequency estimation with consistency", NDSS 2020 (Norm-Sub).

    Examples
    --------
    >>> norm_sub([0.75, 0.5, -0.125]).tolist()
    [0.625, 0.375, 0.0]
    """
    f = np.asarray(raw, np.float64)
    down = np.sort(f)[::-1]
    theta = (np.cumsum(down) - 1) / np.arange(1, f.size + 1)
    kept = np.flatnonzero(down > theta)[-1]
    return np.asarray(np.maximum(f - theta[kept], 0))


def base_cut(raw: ArrayLike, sd: ArrayLike, *, beta: Number = 0.05) -> NDArray[np.float64]:
    r"""Return the shares that stand out of the noise; the others become 0.

    Cut is what lies below :math:`z\,\sigma_v`, where among :math:`k` categories that nobody has
    any noise passes :math:`z = \Phi^{-1}(1 - \beta/k)` with probability :math:`\beta` at most,
    by Bonferroni. Where few of many categories are common this errs least of all; the sum is
    that of what is left.

    Parameters
    ----------
    raw, sd
        The unbiased shares and their standard deviations where nobody has the category.
    beta
        :math:`\beta`, above 0 and at most 1.

    Notes
    -----
    *Claim*: of categories that nobody has, none is left but with probability :math:`\beta`.
    *Checked by* ``test_base_cut_keeps_no_noise``.

    References
    ----------
    .. [1] T. Wang, M. Lopuhaä-Zwakenberg, Z. Li, B. Škorić, N. Li, "Locally differentially private
       frequency estimation with consistency", NDSS 2020 (Base-Cut).

    Examples
    --------
    >>> base_cut([0.5, 0.02, -0.04], 0.02).tolist()
    [0.5, 0.0, 0.0]
    """
    from scipy.special import ndtri

    f, chance = np.asarray(raw, np.float64), float(number(beta, "beta", above=0, most=1))
    z = -ndtri(chance / max(f.size, 2))
    return np.where(f > z * np.asarray(sd, np.float64), f, 0.0)


# ---- Intervals for a share, from how many reports support it -------------------------------------
#
# A report supports a category with probability :math:`p` if the person's is that one, else with
# :math:`q < p`, and people report independently. So if :math:`j` of the :math:`n` people have it,
# the number of supporters is
#
# .. math:: C = \mathrm{Bin}(j, p) + \mathrm{Bin}(n - j, q) \quad\text{or}\quad
#           C = \mathrm{Bin}(n, fp + (1 - f)q)
#
# where people are drawn from a population with the share :math:`f`. An interval holds the shares
# under which what was seen is not too far in a tail: at least the probability stated, for every
# share and every n.


SWITCH = 200.0  # from this variance of C on, tails are approximated
SLACK = 1e-3  # by so much, relatively, an approximate tail may be wrong: it is taken off the level
REACH = 46.0  # exact tails leave out summands of total probability exp(-46) at most, to either side
DOUBT = 30.0
"""Supports that no survey has but with probability exp(-30) count as the nearest it could have."""
FEW, CLEAR, MOVES = 25.0, 0.25, 16
"""Up to what variance of C, and from what p - q on, a sample's ends move on; by how many people."""
NEAR = 3e-3  # so near the mean, in standard deviations, the formula is 0/0 and its series is taken


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

    def ends(c: Ints, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        first = _least(c, n, p, q, beta)
        last = n - _least(n - c, n, 1 - q, 1 - p, beta)
        return np.minimum(first, last) / n, np.maximum(first, last) / n

    return _of_distinct(support, n, p, q, ends)


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

    def ends(c: Ints, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        low = (_rate(c, n, p, beta) - q) / (p - q)
        high = (1 - _rate(n - c, n, 1 - q, beta) - q) / (p - q)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    return _of_distinct(support, n, p, q, ends)


def _of_distinct(
    support: ArrayLike,
    n: int,
    p: ArrayLike,
    q: ArrayLike,
    ends: Callable[[Ints, Floats, Floats], tuple[Floats, Floats]],
) -> tuple[Floats, Floats]:
    """Return the ends for all supports: the same ones have the same ends.

    None counts as below or above what any share could cause.
    """
    c, p, q = np.asarray(support, np.int64), np.asarray(p, float), np.asarray(q, float)
    if not n:
        return np.zeros(c.shape), np.ones(c.shape)
    least = np.maximum(np.ceil(n * q - _reach(n * q * (1 - q), DOUBT)), 0)
    most = np.minimum(np.floor(n * p + _reach(n * p * (1 - p), DOUBT)), n)
    c, back = np.clip(c, least, most).astype(np.int64), cast("Any", ...)
    if p.ndim == q.ndim == 0:
        c, back = np.unique(c, return_inverse=True)
    low, high = ends(c, p, q)
    return low[back], high[back]


def _reach(variance: Floats, unlikely: float) -> Floats:
    r"""Return what a sum of coins passes its mean by with :math:`e^{-u}` at most: Bernstein's."""
    return np.asarray(unlikely / 3 + np.sqrt((unlikely / 3) ** 2 + 2 * unlikely * variance))


def _rate(c: Ints, n: int, most: Floats, beta: float) -> Floats:
    """Return the least chance at which c or more of n are not too rare, against the most."""
    from scipy.special import betainc, betaincinv

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
    from scipy.special import betainc

    def above(r: Floats) -> Floats:
        return np.asarray(betainc(c, n - c + 1, r))

    def below(m: Ints, r: Floats) -> Floats:
        return np.where(m < 0, 0.0, betainc(n - np.maximum(m, 0), np.maximum(m, 0) + 1, 1 - r))

    m, _ = _halved(np.full(c.shape, -1), c, lambda m: below(m, least) <= beta / 2)
    begins = _last(lambda r: below(m + 1, r) > above(r), least, np.ones(c.shape))
    return _last(lambda r: above(r) + below(m, r) <= beta, least, begins)


def _halved(
    holding: Ints, failing: Ints, holds: Callable[[Ints], NDArray[np.bool_]]
) -> tuple[Ints, Ints]:
    """Return the last whole number at which something holds, and the first at which it fails."""
    while (failing - holding).max(initial=0) > 1:
        middle = np.maximum((holding + failing) // 2, 0)
        held = holds(middle)
        holding, failing = np.where(held, middle, holding), np.where(held, failing, middle)
    return holding, failing


def _last(holds: Callable[[Floats], NDArray[np.bool_]], start: Floats, end: Floats) -> Floats:
    """Return up to where something holds that holds first and then no more, by bisection."""
    for _ in range(50):
        middle = (start + end) / 2
        held = holds(middle)
        start, end = np.where(held, middle, start), np.where(held, end, middle)
    return start


def _least(c: Ints, n: int, p: Floats, q: Floats, beta: float) -> Ints:
    """Return the least j at which c supporters or more are not too rare, by bisection."""
    everyone = np.full(c.shape, n)
    most = np.minimum(1, 2 * tail(c, everyone, n, p, q))
    level = (1 - SLACK) * beta / 2 * most
    _, least = _halved(np.full(c.shape, -1), everyone, lambda j: tail(c, j, n, p, q) <= level)
    few = (most == 1) & (c > 0) & (c * (n - c) < FEW * n) & (p - q > CLEAR)
    if few.any():
        p, q = np.broadcast_to(p, c.shape), np.broadcast_to(q, c.shape)
        least[few] = _moved(c[few], n, least[few], (p[few], q[few]), beta)
    return least


def _moved(c: Ints, n: int, j: Ints, chances: tuple[Floats, Floats], beta: float) -> Ints:
    """Move on while both tails together are too rare, as in `_greater`, by some people at most."""
    p, q = chances

    def lower(j: Ints, m: Ints) -> Floats:
        return tail(n - m, n - j, n, 1 - q, 1 - p)

    def likelier(upper: Floats, j: Ints, m: Ints) -> NDArray[np.bool_]:
        return lower(j, m) <= upper

    for _ in range(MOVES):
        upper = tail(c, j, n, p, q)
        m = _halved(np.full(c.shape, -1), c, partial(likelier, upper, j))[0]
        rare = upper + lower(j, m) <= (1 - SLACK) * beta
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
    from scipy.special import betainc, gammaln, xlog1py, xlogy

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
    from scipy.special import ndtr

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


# ---- What share of the people has each category, from what their reports support -----------------


MANY = 40  # how many categories are shown; of more, the largest

WHOLE = 1 << 18  # iterative Bayes works on a matrix of this many entries at most

FINE, STEPS = 1e-4, 2000
"""Iterative Bayes stops once a step raises the log likelihood by less, or after this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies(Estimate):
    """Public facts of a survey: all that shares and their intervals need beside the supports.

    ``p`` and ``q`` are the chances that a report supports the person's category, and another; the
    others are the arguments of `frequencies`.
    """

    kind: ClassVar[str] = "frequencies"
    display: ClassVar[Display] = Display(head="share", even=True, most=MANY)

    randomiser: str
    p: float | Sequence[float] | Floats
    q: float | Sequence[float] | Floats
    categories: int
    reports: int
    names: Sequence[Any] | None = None
    consistent: str | None = None
    together: bool = False
    several: bool = False

    def __post_init__(self) -> None:
        p, q = _plain(self.p), _plain(self.q)
        if not np.all(np.subtract(p, q) > 0):
            got = "probabilities that are equal in double precision"
            hint = "Use a larger epsilon, such as {epsilon}."
            raise ParameterError("randomiser", "distinguish categories", got, hint, epsilon=1)
        if self.consistent not in (None, "norm-sub", "em"):
            must, got = "be None, 'norm-sub' or 'em'", given(self.consistent)
            hint = "Omit {consistent} for unbiased shares."
            raise ParameterError("consistent", must, got, hint, consistent=LEFT_OUT)
        names = _names(self.names, self.categories)
        flags = {name: flag(getattr(self, name), name) for name in ("together", "several")}
        settle(self, p=p, q=q, names=names, **flags)

    def shares(self, support: ArrayLike) -> Floats:
        r"""Return :math:`\hat f = \frac{c/n - q}{p - q}`, unbiased; equal ones without reports."""
        if not self.reports:
            return np.full(self.categories, 1 / self.categories)
        p, q = np.asarray(self.p), np.asarray(self.q)
        return np.asarray((np.asarray(support) / self.reports - q) / (p - q))

    def variance(self, shares: ArrayLike) -> Floats:
        r"""Return :math:`\frac{f p(1-p) + (1-f) q(1-q)}{n(p-q)^2}` at shares cut to [0, 1].

        It is that of `shares` for the people who reported; without reports it is 1/4, which no
        number in [0, 1] passes.
        """
        f, p, q = np.clip(shares, 0, 1), np.asarray(self.p), np.asarray(self.q)
        if not self.reports:
            return np.full(self.categories, 0.25)
        return np.asarray((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (self.reports * (p - q) ** 2))

    def limits(self, release: Release, beta: float, of: str) -> tuple[Floats, Floats]:
        each = beta / (self.categories if self.together else 1)
        ends = population_ends if of == "population" else sample_ends
        support = np.asarray(release.drawn["support"], np.int64)
        return ends(support, self.reports, self.p, self.q, each)

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        return {"category": self.names or range(self.categories)}

    def value(self, drawn: Mapping[str, Any]) -> Floats:
        return np.asarray(drawn["consistent" if self.consistent else "raw"], np.float64)

    @property
    def caveats(self) -> tuple[str, ...]:
        nobody = () if self.reports else ("Nobody reported: nothing is known.",)
        several = (SEVERAL,) if self.several else ()
        return (*nobody, MADE[self.consistent], *several, ALL if self.together else EACH)

    def chart(self, release: Release, truth: Any = None) -> Chart:
        return charts.shares(release.columns(), self.reports, truth)

    def to_dict(self) -> dict[str, Any]:
        public = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"statistic": self.kind, **plain(public)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Frequencies:
        return cls(**{name: x for name, x in facts.items() if name != "statistic"})

    def __str__(self) -> str:
        people = "1 report" if self.reports == 1 else f"{grouped(str(self.reports))} reports"
        return f"frequencies, {people} by {self.randomiser}"


MADE = {
    None: "Shares are unbiased; noise may take them below 0 or above 1.",
    "norm-sub": "Shares are projected to be non-negative and sum to 1, so small ones are biased. "
    "Intervals are for the unbiased shares.",
    "em": "Shares are the maximum likelihood estimate, which is non-negative and sums to 1; small "
    "ones are biased. Intervals are for the unbiased shares.",
}
SEVERAL = "People may choose several categories, so shares need not sum to 1."
EACH = "Each interval holds individually, not simultaneously for all categories."
ALL = "The intervals hold simultaneously for all categories."


def frequencies(
    oracle: FrequencyOracle,
    tally: ArrayLike,
    reports: int,
    *,
    labels: Sequence[Any] | None = None,
    consistent: str | None = None,
    together: bool = False,
    several: bool = False,
    cost: Guarantee | None = None,
) -> Release:
    r"""Estimate the share of each category from a tally of reports.

    .. math:: \hat f_v = \frac{c_v/n - q}{p - q}, \qquad
              \mathrm{Var} \hat f_v = \frac{f_v p(1-p) + (1-f_v) q(1-q)}{n(p-q)^2}

    where :math:`c_v` of :math:`n` reports support :math:`v`.

    Parameters
    ----------
    oracle
        What randomised the answers.
    tally
        ``oracle.tally(reports)``; tallies of several batches may be added.
    reports
        How many reports were tallied, n.
    labels
        The names of the categories.
    consistent
        None: unbiased shares. ``"norm-sub"``: the nearest that are not negative and sum to 1.
        ``"em"``: the most likely such, for randomisers whose tally counts single reports.
    together
        Whether intervals hold for all categories together, by Bonferroni.
    several
        Whether a person may have several categories.
    cost
        What a person's report cost, where it is not ``oracle.guarantee``: for instance
        ``Guarantee.none(LOCAL)`` if the reports were drawn from a seeded source.

    Returns
    -------
    Release
        ``value`` holds the shares. ``drawn`` always keeps the unbiased ones (``raw``), their
        ``variance``, the ``support`` of each category and the number of ``reports``; intervals
        follow from the supports, whatever made the shares consistent.

    Notes
    -----
    *Claim*: raw shares are unbiased and have the variance given. *Checked by*
    ``test_shares_are_unbiased``. *Claim*: intervals hold as `supports` says. *Checked by*
    ``test_intervals_cover_in_surveys``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> survey = RandomizedResponse(epsilon=2, categories=3)
    >>> print(frequencies(survey, [600, 250, 150], 1000, labels=["bus", "car", "foot"]))
    category  share          95% CI
    bus       0.725  [0.690, 0.761]
    car       0.211  [0.180, 0.241]
    foot      0.064  [0.035, 0.093]
    cost    epsilon 2, any two inputs of one person
    method  frequencies, 1000 reports by RandomizedResponse(epsilon=2, categories=3)
    note    Shares are unbiased; noise may take them below 0 or above 1.
    note    Each interval holds individually, not simultaneously for all categories.
    """
    if not isinstance(oracle, FrequencyOracle):
        hint = "Use RandomizedResponse(epsilon=1, categories=4)."
        raise ParameterTypeError("oracle", "be a randomiser of categories", kind(oracle), hint)
    counts = np.asarray(tally)
    if counts.shape != (oracle.cells,) or counts.dtype.kind not in "iu":
        got = f"{counts.dtype} values of shape {counts.shape}"
        must, hint = f"be {oracle.cells} whole numbers", "Use oracle.tally(reports)."
        raise ParameterError("tally", must, got, hint)
    counts = counts.astype(np.int64, copy=False)
    n = integer(reports, "reports", least=0, most=1 << 62, example=int(counts.sum()))
    p, q = oracle.chances
    survey = Frequencies(
        randomiser=str(oracle), p=p, q=q, categories=oracle.categories, reports=n, names=labels,
        consistent=consistent, together=together, several=several,
    )  # fmt: skip
    support = oracle.support(counts)
    if support.size and not (support.min() >= 0 and support.max() <= n):
        must = "be the number of reports that were tallied"
        hint = "One category has more: count all reports of the tally."
        raise ParameterError("reports", must, f"{n}", hint)
    raw = survey.shares(support)
    drawn = {"raw": raw, "variance": survey.variance(raw), "support": support, "reports": n}
    if consistent == "norm-sub":
        drawn["consistent"] = norm_sub(raw)
    if consistent == "em":
        likely = em(_channel(oracle, counts, n), counts, change=FINE, most=STEPS)
        drawn["consistent"] = likely
    return survey.release(oracle.guarantee if cost is None else cost, drawn)


def _channel(oracle: FrequencyOracle, counts: NDArray[np.int64], n: int) -> Floats:
    """Return the chance of each report, a row, for each category."""
    single = oracle.cells == oracle.codes and counts.sum() == n
    if not single or oracle.codes * oracle.categories > WHOLE:
        needs = f"counts of single reports, at most {WHOLE} with all categories"
        hint = f"The other method needs {needs}. Use {{consistent}}."
        must = f"be 'norm-sub' for {oracle}"
        raise ParameterError("consistent", must, "'em'", hint, consistent="norm-sub")
    every = np.arange(oracle.codes)
    return np.stack([oracle.law(v).pmf(every) for v in range(oracle.categories)], axis=1)


def _plain(chance: Any) -> float | tuple[float, ...]:
    return tuple(map(float, chance)) if np.ndim(chance) else float(chance)


def _names(labels: Sequence[Any] | None, k: int) -> tuple[Any, ...] | None:
    """Return the labels as JSON can hold them."""
    if labels is None:
        return None
    names = listed(labels, "labels", labels=[f"category {i}" for i in range(k)])
    plain = [x.item() if isinstance(x, np.generic) else x for x in names]
    if len(plain) != k:
        must, got = f"name each of the {k} categories", f"{len(plain)} names"
        hint = "Pass a name for each code from 0 on, or omit {labels}."
        raise ParameterError("labels", must, got, hint, labels=LEFT_OUT)
    known = (str, int, float, bool, type(None))
    return tuple(x if isinstance(x, known) else str(x) for x in plain)
