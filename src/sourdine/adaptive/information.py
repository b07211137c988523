"""From what is told about a sample to how far a chosen query can be off."""

from __future__ import annotations

from math import exp, log, log1p, sqrt
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import at_least, integer, number
from sourdine.privacy import SUBSTITUTE, Concentrated, Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact import Number


# ---- Where something stops to fit, by doubling and halving ---------------------------------------


LIMIT = 1 << 40
"""More than anyone asks for."""


def largest(fits: Callable[[int], bool], limit: int = LIMIT) -> int:
    """Return the largest number up to a limit that fits, where all smaller ones do too; else 0."""
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def bisected(fits: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Return the last number that fits and the next one, for ``low`` that fits and ``high`` not."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low, high


# ---- From what is told about a sample to how far a query chosen by it can be off -----------------
#
# A query is chosen by whatever a mechanism told of :math:`n` independent rows. Were it chosen
# without looking, :math:`|q(S) - q(P)| > w` would have probability :math:`p = 2e^{-2nw^2}` at most.
# Two measures of what was told bound the true probability :math:`b`:
#
# * **Mutual information** of :math:`I` nats: :math:`\mathrm{kl}(b \| p) \le I`, the divergence of
#   coins, by data processing.
# * **A privacy loss** of :math:`\varepsilon`: given the output, row after row, the log likelihood
#   ratio of joint to independent grows by steps that lie in an interval of length
#   :math:`\varepsilon`, as likelihoods of neighbours do, and so have a mean of at most
#   :math:`\varepsilon^2/8` (Hoeffding's lemma, as the inverse ratio has mean one). So
#   :math:`I \le n\varepsilon^2/8`, and but for :math:`\beta'` the ratio stays below :math:`L =
#   n\varepsilon^2/8 + \varepsilon\sqrt{n\ln(1/\beta')/2}` (Azuma): :math:`b \le e^L p + \beta'`.
#
# A mechanism that is :math:`\rho`-zCDP when one row is replaced tells :math:`I \le \rho n` nats:
# :math:`I(S; T) \le \sum_i I(S_i; T \mid S_{-i})` for independent rows, and each term is at most
# the divergence between neighbours, averaged. For Gaussian noise the term is smaller by four: given
# the rest and the answers so far, answer :math:`j` is a Gaussian channel whose input
# :math:`q_j(S_i)/n` has a variance of at most :math:`1/4n^2`, so it tells at most
# :math:`1/8n^2\sigma^2` nats; :math:`k` answers about :math:`n` rows tell :math:`I \le
# k/8n\sigma^2`. Of noise on whole ticks the same is true, since the discrete Gaussian's mass around
# any centre is largest at a tick.
#
# References
# ----------
# .. [1] R. Rogers, A. Roth, A. Smith, N. Srebro, O. Thakkar, B. Woodworth, "Guaranteed validity for
#    empirical approaches to adaptive data analysis", AISTATS 2020.
# .. [2] D. Russo, J. Zou, "Controlling bias in adaptive data analysis using information theory",
#    AISTATS 2016.
# .. [3] C. Dwork et al., "Generalization in adaptive data analysis and holdout reuse", NeurIPS
# 2015.
# .. [4] M. Bun, T. Steinke, "Concentrated differential privacy", TCC 2016.


def informed_width(nats: float, n: int, beta: float) -> float:
    r"""Return the least :math:`w` with :math:`\mathrm{kl}(\beta \| 2e^{-2nw^2}) \ge I`.

    *Checked by* ``test_information_bounds_the_chance``.

    Examples
    --------
    Nothing told is Hoeffding's width:

    >>> round(informed_width(0.0, 10_000, 0.05), 5), round(sqrt(log(40) / 20_000), 5)
    (0.01358, 0.01358)
    """
    goal = at_least(nats, "nats", 0)
    heads, tails = beta * log(beta), log1p(-beta) * (1 - beta) if beta < 1 else 0.0

    def told(t: float) -> float:  # p = e^-t
        rest = (1 - beta) * -log1p(-exp(-t)) if beta < 1 else 0.0
        return heads + tails + beta * t + rest

    low, high = -log(beta), 1 - log(beta)
    while told(high) < goal:
        low, high = high, 2 * high
    _, high = bisected(lambda t: told(t) < goal, low, high)
    return sqrt((high + log(2)) / (2 * n))


def privacy_to_validity(
    told: Number | Concentrated | Guarantee, n: int, beta: Number = 0.05
) -> float:
    r"""Return how far a query chosen by a private computation can be off its truth.

    With probability :math:`1 - \beta`, :math:`|q(S) - q(P)|` is at most the width returned, for a
    query chosen in any way by what the computation told of :math:`n` independent rows. One of many
    queries, picked for being the worst, is such a query too. *Checked by*
    ``test_privacy_covers_an_overfitting_query``.

    Parameters
    ----------
    told
        :math:`\rho` as a number or `Concentrated`, or a pure `Guarantee`; of one row replaced.
    n
        How many rows there are.
    beta
        The chance of failure.

    Examples
    --------
    >>> round(privacy_to_validity(0.001, n=10_000), 3)
    0.101
    >>> round(privacy_to_validity(Guarantee(0.01, relation="substitute"), n=10_000), 3)
    0.017
    """
    rows = integer(n, "n", least=1)
    chance = float(number(beta, "beta", above=0, most=1))
    if not isinstance(told, (Guarantee, Concentrated)):
        told = Concentrated(at_least(told, "told", 0), SUBSTITUTE)
    if told.relation is not SUBSTITUTE:
        must, hint = "hold for the replacement of one record", "Use told.under('substitute')."
        raise ParameterError("told", must, told.relation.name, hint)
    if isinstance(told, Concentrated):
        return informed_width(rows * float(told.rho), rows, chance)
    if not told.is_pure:
        must = "be a Concentrated, or a Guarantee with delta 0"
        hint = "Use Concentrated(rho, 'substitute'), which Gaussian noise satisfies."
        raise ParameterTypeError("told", must, "a Guarantee with delta above 0", hint)
    epsilon = float(told.exact_epsilon())

    def by_loss(share: float) -> float:
        loss = likely_loss(epsilon, rows, share * chance)
        return sqrt((loss + log(2 / (chance * (1 - share)))) / (2 * rows))

    by_information = informed_width(rows * epsilon**2 / 8, rows, chance)
    return min(by_information, *(by_loss(i / 64) for i in range(1, 64)))


def likely_loss(epsilon: float, n: int, beta: float) -> float:
    r"""Return what the log likelihood ratio of joint to independent stays below, but for beta.

    *Checked by* ``test_likely_loss_of_randomised_response``.
    """
    return n * epsilon**2 / 8 + epsilon * sqrt(n * log(1 / beta) / 2)
