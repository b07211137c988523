"""What is proved of many copies and a private median, and the copies it takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, expm1, inf, log, log1p, sinh, sqrt, tanh
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.information import LIMIT, largest
from sourdine.adaptive.ledger.dependence import coin_divergence
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import at_least, given, integer, kind, number, one_of, positive, rational
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from sourdine.exact import Number

    Floats = NDArray[np.float64]


# ---- How many copies a proof needs, and what a step then costs -----------------------------------
#
# *Copies.* Let each of :math:`T` looks be a count of copies above a threshold with Gaussian noise
# of deviation :math:`\sigma`, or a choice of the exponential mechanism among 20 cells. With
# :math:`\rho = T/2\sigma^2` or :math:`T\varepsilon_0^2/8`, the looks say :math:`\rho k` nats of the
# seeds, and half of :math:`\beta` each goes to
#
# .. math:: \frac{\rho k + \ln 2}{k\,\mathrm{kl}(a \,\|\, p_0) - \ln T} \le \frac{\beta}{2}, \qquad
#           \sigma z_{\beta/2T} \le \bigl(\tfrac12 - a\bigr) k \quad\text{or}\quad
#           \frac{2}{\varepsilon_0} \ln\frac{20\,T}{\beta/2} \le \bigl(\tfrac12 - a\bigr) k,
#
# that at some step a share :math:`a` of the copies is wrong, and that noise hides the rest. This is
# :math:`k \approx 75 \text{ to } 105 \sqrt T` with counts: the lecture's :math:`\sqrt T` times a
# hundred. Switching takes a copy for each change of the answer, so it is cheaper up to about
# 11,000 changes. *Checked by* ``test_copies_needed_are_those_of_the_research`` and
# ``test_privacy_pays_from_eleven_thousand_changes_on``.


CELLS = 20
MOST_STEPS = 10**15
_SHARES = tuple(np.linspace(0.02, 0.48, 93).tolist())


@dataclass(frozen=True, slots=True)
class Copies:
    r"""How many copies, and the noise that goes with them.

    Parameters
    ----------
    copies
        :math:`k`.
    noise
        :math:`\sigma` of the counts, or :math:`\varepsilon_0` of the exponential mechanism.
    share
        :math:`a`, the share of wrong copies that is withstood.
    """

    copies: int
    noise: float
    share: float


def plan_copies(
    steps: int, *, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian"
) -> Copies:
    r"""Return the fewest copies for which :math:`T` adaptive looks are proved right.

    Parameters
    ----------
    steps
        :math:`T`.
    wrong
        :math:`p_0`, the chance that a copy is wrong at a step fixed in advance.
    beta
        The chance, at most, that any answer is wrong.
    method
        ``"gaussian"`` counts or ``"exponential"``, the median of
        `sourdine.adaptive.robust.wrapper.Robust`, whose `certificate` confirms the plan.

    Examples
    --------
    >>> plan = plan_copies(100, method="exponential")
    >>> plan.copies, round(plan.noise, 4)
    (2598, 0.0305)
    """
    from scipy.special import ndtri

    t = integer(steps, "steps", least=1, most=MOST_STEPS)
    p0 = float(number(wrong, "wrong", above=0, most=1, example=0.01))
    failure = float(number(beta, "beta", above=0, most=1))
    one_of(method, "method", "gaussian", "exponential")
    gaussian = method == "gaussian"

    def noise_of(k: int, a: float) -> float:
        """Return the least sigma, or largest epsilon0, that is quiet enough: inf or 0 for none."""
        apart = k * coin_divergence(a, p0) - log(t)
        rho = (failure / 2 * apart - log(2)) / k
        if gaussian:
            return sqrt(t / (2 * rho)) if rho > 0 else inf
        return sqrt(8 * rho / t) if rho > 0 else 0.0

    def enough(k: int, a: float) -> bool:
        noise, room = noise_of(k, a), (0.5 - a) * k
        if gaussian:
            return noise * -float(ndtri(failure / 2 / t)) <= room
        return noise > 0 and 2 / noise * log(CELLS * t / (failure / 2)) <= room

    def share_of(k: int) -> float:
        """Return the least share of wrong copies for which ``k`` copies are enough; 0 for none."""
        return next((a for a in _SHARES if a > p0 and enough(k, a)), 0.0)

    copies = 1 + largest(lambda k: not share_of(k))
    if copies > LIMIT:
        must = "be well below 1/2"
        raise ParameterError("wrong", must, given(wrong), "Use {wrong}.", wrong=0.01)
    share = share_of(copies)
    return Copies(copies, noise_of(copies, share), share)


def copies_needed(
    steps: int, *, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian"
) -> int:
    """Return the number of copies of `plan_copies`.

    Examples
    --------
    >>> [copies_needed(10**i) for i in (2, 3, 4)]
    [825, 2949, 10405]
    """
    return plan_copies(steps, wrong=wrong, beta=beta, method=method).copies


def crossover(*, wrong: Number = 0.01, beta: Number = 0.05, method: str = "gaussian") -> int:
    """Return the number of changes from which on privacy needs fewer copies than switching.

    Examples
    --------
    >>> crossover()
    10912
    """

    def dearer(changes: int) -> bool:
        return copies_needed(changes, wrong=wrong, beta=beta, method=method) > changes

    low, high = 1, 2
    while dearer(high):
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if dearer(middle) else (low, middle)
    return high


def cost(
    steps: int, *, t_init: Number, t_update: Number, t_query: Number, copies: int, sample: int
) -> float:
    r"""Return the time of a step, averaged over a phase: :math:`k t_i/T + k t_u + s t_q`.

    A phase of :math:`T` steps makes :math:`k` copies, hands each update to all of them and asks
    :math:`s` in each step.

    Examples
    --------
    >>> cost(10_000, t_init=1.0, t_update=1e-6, t_query=1e-6, copies=100, sample=25)
    0.010125
    """
    times = {"t_init": t_init, "t_update": t_update, "t_query": t_query}
    t_i, t_u, t_q = (float(at_least(t, name, 0)) for name, t in times.items())
    k, s = integer(copies, "copies", least=1), integer(sample, "sample", least=1)
    return k * t_i / integer(steps, "steps", least=1) + k * t_u + s * t_q


# ---- What is proved of many copies and a private median: a number of adaptive steps --------------
#
# The setting is that of Stemmer's lecture 9, part (c). There are :math:`k` copies with independent
# seeds, each wrong with probability :math:`p_0` at most at any step of a sequence of updates that
# was *fixed in advance*. In each of :math:`T` steps, which are *looks*, :math:`s` copies are drawn
# and the exponential mechanism with :math:`\varepsilon_0` picks one of :math:`m` public cells. A
# cell with two edges is an answer; after one without, the window moves to it and the copies, on the
# same input, are looked at again. The chooser of the updates has seen all cells so far.
#
# *Theorem.* With probability :math:`1 - \beta` all answers given in :math:`T` looks are right,
# however far the value moves between them, if for some number :math:`w` of wrong copies, with
# :math:`a = w/k > p_0`,
#
# .. math:: b = \beta - T\,\mathrm{E}\min\bigl(1, (m - 1)\,e^{-\varepsilon_0 (s/2 - W)/2}\bigr),
#           \qquad \mathrm{kl}(b \,\|\, Q) \ge k T \varrho, \qquad
#           b \ge Q = T e^{-k\,\mathrm{kl}(a \,\|\, p_0)},
#
# where :math:`W` is hypergeometric (:math:`s` drawn of :math:`k`, of which :math:`w - 1` are
# wrong), :math:`\mathrm{kl}` is the divergence of two coins, and :math:`\varrho` that of one step
# (`step_divergence`).
#
# *Proof.* Let the adversary be deterministic: condition on its coins. Replace the seed of one copy:
# the law of the whole transcript moves by a divergence of :math:`T \varrho` at most, by the chain
# rule; the transcript is the cells of all looks, and says when updates come and the next window.
# The seeds are independent, so :math:`I(\text{seeds}; \text{transcript}) \le k T \varrho`. Were
# transcript and seeds independent, the inputs would be fixed for the seeds, and some step would
# have :math:`w` wrong copies with probability :math:`Q` at most, by Chernoff's bound. The true
# probability :math:`p` satisfies :math:`\mathrm{kl}(p \,\|\, Q) \le I` by data processing; so
# :math:`p \le b`. In a step with fewer wrong copies the sample, which is drawn afresh, holds
# :math:`W` of them. Cells tile the line, so one has score 0, and but for the chance in :math:`b`
# the cell picked has a score above :math:`-(s/2 - W)`. It then has a right value on either side
# and, if it is an answer, is a right one; where the window lies does not matter
# (`sourdine.adaptive.robust.wrapper`, which also says when looks end). Sum over the steps. Since
# :math:`\mathrm{kl}(b \,\|\, Q) \ge b \ln(1/Q) - \ln 2`, this is sharper than the form :math:`p \le
# (k T \varrho + \ln 2) / (k\,\mathrm{kl}(a \,\|\, p_0) - \ln T)`. *Checked by*
# ``test_the_sharper_form_implies_the_printed_one``. ∎
#
# References
# ----------
# .. [1] A. Beimel, H. Kaplan, Y. Mansour, K. Nissim, T. Saranurak, U. Stemmer, "Dynamic algorithms
#    against an adaptive adversary: generic constructions and lower bounds", STOC 2022.
# .. [2] M. Bun, T. Steinke, "Concentrated differential privacy: simplifications, extensions, and
#    lower bounds", TCC 2016 (mutual information under independent records).


ENDLESS = (1 << 63) - 1
"""The number of steps where no step is one too many."""

_PROOF_SHARES = 96
_SLACK = 1e-6
_LOUD = 50.0


@dataclass(frozen=True, slots=True)
class Proof(Displayable):
    """How many adaptive steps are proved, and on which grounds; never what survived attacks.

    Parameters
    ----------
    steps
        All answers given in this many steps of a phase are right; 0 where nothing is proved,
        `ENDLESS` where no number of steps is too large.
    beta
        But for this chance, over the seeds of the phase.
    grounds
        The theorem and its assumptions, in a sentence.

    Examples
    --------
    >>> int(Proof(120, 0.05, "sketch switching")), bool(Proof(0, 0.05, "too few copies"))
    (120, False)
    """

    steps: int
    beta: float
    grounds: str

    def __int__(self) -> int:
        return self.steps

    def __bool__(self) -> bool:
        return self.steps > 0

    def sheet(self) -> Sheet:
        steps = "any number of" if self.steps == ENDLESS else str(self.steps)
        chance = "always" if not self.beta else f"with probability {1 - self.beta:g}"
        claim = f"{steps} adaptive steps right {chance}" if self.steps else "nothing"
        return Sheet(notes=[("proved", claim), ("grounds", self.grounds)])


def step_divergence(sample: int, copies: int, epsilon0: float) -> float:
    r"""Return :math:`\varrho`: what one answer says of one seed, as a divergence in nats.

    The smallest of three bounds, with :math:`q = s/k` and
    :math:`\varepsilon' = \ln(1 + q(e^{\varepsilon_0} - 1))`:

    .. math:: \varepsilon' \tanh\frac{\varepsilon'}{2}, \qquad
              \frac{\varepsilon_0^2}{8} \text{ if } q = 1, \qquad
              \frac{h(\delta)\, q^2 \sinh^2(\varepsilon_0/2)}{(1 - q) e^{-\varepsilon_0} + q},

    where :math:`h(\delta) = ((1 - \delta)\ln(1 - \delta) + \delta)/\delta^2` and
    :math:`\delta = 1 - e^{-\varepsilon'}`.

    Notes
    -----
    *Proof.* The first is the divergence of randomised response, the largest under pure privacy.
    The second is Hoeffding's lemma: the logarithm of the ratio of two neighbours' laws stays, for
    the exponential mechanism, in an interval of length :math:`\varepsilon_0`. For the third, let
    :math:`U` be the other :math:`s - 1` copies of a sample and :math:`l` one more, all drawn
    without the copy whose seed is replaced: the two laws are averages over :math:`(U, l)` of
    :math:`P = (1 - q) A + q B` and :math:`P' = (1 - q) A + q B'`, where :math:`A`, :math:`B` and
    :math:`B'` are the mechanism's on :math:`U` and :math:`l`, the copy, or its replacement. Any two
    of them are neighbours, and the divergence is convex in the pair. Now
    :math:`D(P \| P') = \mathrm{E}_{P'} \varphi(P/P' - 1)` with :math:`\varphi(t) = (1 + t)\ln(1 +
    t) - t`, and :math:`\varphi(t)/t^2` falls in :math:`t \ge -\delta`, so :math:`D \le h(\delta)
    \chi^2(P, P')`. Here :math:`P' \ge ((1 - q) e^{-\varepsilon_0} + q) B'`, and the ratio
    :math:`B/B'` lies between :math:`u` and :math:`u e^{\varepsilon_0}` with mean 1, so its variance
    is :math:`(u e^{\varepsilon_0} - 1)(1 - u) \le \sinh^2(\varepsilon_0/2)` at most. ∎
    *Checked by* ``test_one_step_says_no_more_than_the_bound``.
    """
    if epsilon0 > _LOUD:
        return epsilon0
    q = sample / copies
    amplified = log1p(q * expm1(epsilon0))
    pure = amplified * tanh(amplified / 2)
    delta = -expm1(-amplified)
    curve = (delta - (1 - delta) * amplified) / delta**2 if delta > 1e-4 else 0.5 + delta / 3
    sampled = curve * q**2 * sinh(epsilon0 / 2) ** 2 / ((1 - q) * exp(-epsilon0) + q)
    return min(pure, sampled, epsilon0**2 / 8 if sample == copies else inf)


def stray(sample: int, copies: int, wrong_copies: int, epsilon0: float, *, cells: int) -> float:
    r"""Return the chance, at most, that a step with some wrong copies ends in a wrong cell.

    .. math:: \mathrm{E}\min\bigl(1, (m - 1) e^{-\varepsilon_0(s/2 - W)/2}\bigr)
    """
    from scipy.special import gammaln

    def ways(n: int, r: Floats) -> Floats:
        return np.asarray(gammaln(n + 1.0) - gammaln(r + 1.0) - gammaln(n - r + 1.0))

    least, most = max(0, sample - copies + wrong_copies), min(sample, wrong_copies)
    drawn = np.arange(least, most + 1, dtype=np.float64)
    chance = np.exp(
        ways(wrong_copies, drawn)
        + ways(copies - wrong_copies, sample - drawn)
        - ways(copies, np.asarray(float(sample)))
    )
    miss = log(max(cells - 1, 1)) - epsilon0 * (sample / 2 - drawn) / 2
    return float(chance @ np.exp(np.minimum(miss, 0.0))) * (1 + _SLACK)


def certified_steps(
    copies: int,
    *,
    sample: int,
    epsilon0: Number,
    cells: int = 25,
    wrong: Number = 0.01,
    beta: Number = 0.05,
    limit: int = 1 << 40,
) -> int:
    r"""Return the largest number of adaptive steps that the theorem proves; 0 if there is none.

    Parameters
    ----------
    copies, sample, epsilon0, cells
        :math:`k`, :math:`s`, :math:`\varepsilon_0` and :math:`m`.
    wrong
        :math:`p_0`, the chance that a copy is wrong at a step fixed in advance.
    beta
        The chance, at most, that any answer is wrong.
    limit
        No more steps than this are of interest.

    Notes
    -----
    *Claim*: all answers given in this many steps, which are looks, are right but for ``beta``.
    *Checked by* ``test_certified_answers_are_right`` and
    ``test_certified_answers_after_leaps_are_right``. A hundred copies prove nothing, whatever the
    sample and epsilon0: ``test_a_hundred_copies_prove_nothing``.

    Examples
    --------
    >>> certified_steps(100, sample=25, epsilon0=2)
    0
    >>> certified_steps(3000, sample=3000, epsilon0=0.03)
    169
    """
    k = integer(copies, "copies", least=1, most=10**12)
    s = integer(sample, "sample", least=1)
    if s > k:
        must = f"be at most the number of copies ({k})"
        raise ParameterError("sample", must, given(s), "Use {sample}.", sample=k)
    eps, p0 = float(positive(epsilon0, "epsilon0")), float(number(wrong, "wrong", above=0, most=1))
    failure = float(number(beta, "beta", above=0, most=1))
    m = integer(cells, "cells", least=1)
    said = k * step_divergence(s, k, eps)
    least, most = ceil(p0 * k) + 1, (k + 1) // 2
    if least > most:
        return 0
    shares = np.unique(np.linspace(least, most, _PROOF_SHARES).round().astype(int)).tolist()
    terms = [(stray(s, k, w - 1, eps, cells=m), k * coin_divergence(w / k, p0)) for w in shares]

    def proved(steps: int) -> bool:
        return any(_holds(steps, failure - steps * lost, said, rate) for lost, rate in terms)

    return largest(proved, integer(limit, "limit", least=1))


def _holds(steps: int, b: float, said: float, rate: float) -> bool:
    """Return whether the chance of many wrong copies at some step is at most ``b``."""
    log_q = log(steps) - rate
    if b <= 0 or log_q > log(b):
        return False
    return b >= 1 or divergence_from(b, log_q) >= steps * said * (1 + _SLACK)


def divergence_from(p: float, log_q: float) -> float:
    """Return the divergence of two coins, of which the second is too rare for a float."""
    return p * (log(p) - log_q) + (1 - p) * (log1p(-p) - log1p(-exp(log_q)))


# ---- Exact recomputation, put off for as long as the last value is still good --------------------


class Lazy:
    r"""The value of a Lipschitz function of a changing input, recomputed only when it must be.

    Parameters
    ----------
    exact
        Returns the value for the current input.
    state
        Has ``update(*change)`` and is told of every change; left out if whoever changes the input
        does so itself and calls `update` once for each change.
    lipschitz
        :math:`\ell`, by how much one update can change the value.
    error
        :math:`\alpha`, above 0 and at most 1.

    Attributes
    ----------
    recomputations
        How often ``exact`` ran.

    Notes
    -----
    *Claim*: an answer is within ``error``, relatively, of the exact value. *Checked by*
    ``test_lazy_answers_are_always_right``.

    Examples
    --------
    >>> members = set()
    >>> size = Lazy(lambda: len(members), error=0.25)
    >>> answers = []
    >>> for person in range(1000):
    ...     members.add(person)
    ...     size.update()
    ...     answers.append(size.query())
    >>> size.recomputations, answers[-1], size.interval()
    (31, 921.0, (842.0, 1000.0))
    """

    __slots__ = ("_exact", "_since", "_state", "_value", "error", "lipschitz", "recomputations")

    def __init__(
        self,
        exact: Callable[[], float],
        state: Any = None,
        *,
        lipschitz: Number = 1,
        error: Number = 0.25,
    ) -> None:
        if not callable(exact):
            hint = "Use Lazy(lambda: graph.mincut())."
            raise ParameterTypeError("exact", "be a function", kind(exact), hint)
        if state is not None and not callable(getattr(state, "update", None)):
            must = "have a method update(*change)"
            hint = "Omit {state} and call update() once for each change."
            raise ParameterTypeError("state", must, kind(state), hint, state=LEFT_OUT)
        self._exact, self._state = exact, state
        self.lipschitz = positive(lipschitz, "lipschitz")
        self.error = number(error, "error", above=0, most=1)
        self.recomputations = 0
        self._since = 0
        self._value: Fraction | None = None

    def update(self, *change: Any) -> None:
        """Hand a change to the state and count it."""
        if self._state is not None:
            self._state.update(*change)
        self._since += 1

    def query(self) -> float:
        """Return a value within ``error`` of the exact one."""
        v = self._value
        if v is None or self._drift > self.error * abs(v) / (1 + self.error):
            v = self._value = rational(self._exact(), "exact()")
            self._since = 0
            self.recomputations += 1
        return float(v)

    def interval(self) -> tuple[float, float]:
        """Return the ends between which the exact value lies, for sure."""
        v = rational(self.query(), "exact()")
        return float(v - self._drift), float(v + self._drift)

    def certificate(self) -> int:
        """Return how many adaptive steps are proved: more than anyone takes."""
        return self.proof().steps

    def proof(self) -> Proof:
        """Return what is proved and on which grounds."""
        grounds = f"one update changes the value by {float(self.lipschitz):g} at most"
        return Proof(ENDLESS, 0.0, f"deterministic, if {grounds}")

    def __repr__(self) -> str:
        return (
            f"Lazy(lipschitz={float(self.lipschitz):g}, error={float(self.error):g}): "
            f"recomputations={self.recomputations}"
        )

    @property
    def _drift(self) -> Fraction:
        return self.lipschitz * self._since
