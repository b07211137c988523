"""Where guesses come from: a hypothesis by multiplicative weights, or split rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.adaptive.ledger.dependence import Blocks, Iid
from sourdine.adaptive.queries import ROUNDING
from sourdine.adaptive.query_server.evidence import Cells, Rows, Universe
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.adaptive.queries import Values
    from sourdine.noise import Source

    Groups = Sequence[object] | NDArray[np.generic] | None


# ---- A hypothesis about the sample, moved as little as its answers demand ------------------------
#
# *Theorem*. Let :math:`S` be the law of a row of the sample, :math:`w` the hypothesis, :math:`q` a
# query with :math:`q(S) \ge a > q(w)`. Among all laws that give :math:`q` the value :math:`a` or
# more, the one nearest to :math:`w` is the tilted :math:`w_\eta \propto w e^{\eta q}` with
# :math:`q(w_\eta) = a`, and
#
# .. math:: \mathrm{KL}(S \| w) - \mathrm{KL}(S \| w_\eta) \ge \mathrm{KL}(w_\eta \| w)
#           \ge 2 (a - q(w))^2.
#
# *Proof*. With :math:`\psi(\eta) = \ln \sum_x w(x) e^{\eta q(x)}` the left side is
# :math:`\eta\,q(S) - \psi(\eta)`, at least :math:`\eta a - \psi(\eta) = \mathrm{KL}(w_\eta \| w)`
# since :math:`\eta > 0`; the last step is Pinsker's inequality. Likewise below. So an answer that
# is further than :math:`\alpha` from the hypothesis can bring it nearer by :math:`2\alpha^2`, and
# since :math:`0 \le \mathrm{KL}(S \| w) \le \ln|X|` for a uniform start, this happens at most
# :math:`\ln|X| / 2\alpha^2` times. *Checked by* ``test_a_tilt_brings_the_sample_nearer``.
#
# References
# ----------
# .. [1] I. Csiszár, "I-divergence geometry of probability distributions and minimization problems",
#    Annals of Probability 3(1), 1975.
# .. [2] M. Hardt, G. Rothblum, "A multiplicative weights mechanism for privacy-preserving data
#    analysis", FOCS 2010.


STEPS = 200
CLOSE = 1e-12
LARGE = 1e300


@dataclass(frozen=True, slots=True)
class Tilt:
    r"""A tilted hypothesis: :math:`\eta`, :math:`\psi(\eta)` and the logarithms of its weights."""

    eta: float
    psi: float
    log: Values

    def gain(self, average: float) -> float:
        r"""Return :math:`\eta\,q(S) - \psi(\eta)`, by how much nearer the sample is."""
        return self.eta * average - self.psi


class Weights:
    """A law over the cells of a universe.

    It starts from a public, positive ``prior``; equal weights if left out.

    Attributes
    ----------
    law
        The weights, which sum to one.
    stock
        The most that the divergence of any sample from the prior can be.
    """

    __slots__ = ("law", "logs", "stock")

    def __init__(self, size: int, prior: ArrayLike | None = None) -> None:
        self.law = _prior(size, prior)
        self.logs = np.log(self.law)
        self.stock = -float(self.logs.min())

    def guess(self, query: Values) -> float:
        """Return the query's average under the hypothesis."""
        return min(max(float(query @ self.law), 0.0), 1.0)

    def move(self, tilt: Tilt) -> None:
        """Take a tilted hypothesis for the hypothesis."""
        self.logs = tilt.log
        self.law = np.exp(tilt.log)

    def take(self, law: Values) -> None:
        """Take a positive law for the hypothesis."""
        self.logs, self.law = np.log(law), law

    def tilt(self, query: Values, target: float) -> Tilt:
        """Return the nearest hypothesis that gives the query the value ``target``.

        Newton's steps, halvings where one would leave the bracket. The first is exact for queries
        of 0 and 1.
        """
        guess = self.guess(query)
        low, high = (0.0, inf) if target > guess else (-inf, 0.0)
        eta = _logit(target) - _logit(guess)
        for _ in range(STEPS):
            log_weights = self.logs + eta * query
            peak = float(log_weights.max())
            law = np.exp(log_weights - peak)
            total = float(law.sum())
            mean = float(query @ law) / total
            if abs(mean - target) <= CLOSE:
                break
            low, high = (eta, high) if mean < target else (low, eta)
            variance, gap = float((query - mean) ** 2 @ law) / total, target - mean
            step = gap / variance if variance > abs(gap) / LARGE else copysign(LARGE, gap)
            # no more than about twice the last one while an end is open
            step = min(step, eta + 1) if high == inf else step
            step = max(step, eta - 1) if low == -inf else step
            eta = eta + step if low < eta + step < high else (low + high) / 2
        psi = peak + log(total)
        return Tilt(eta, psi, log_weights - psi)


def _logit(p: float) -> float:
    inner = min(max(p, exp(-40)), 1 - 1e-15)
    return log(inner) - log1p(-inner)


def _prior(size: int, prior: ArrayLike | None) -> Values:
    if prior is None:
        return np.full(size, 1 / size)
    try:
        weights = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (size,) or not (np.isfinite(weights).all() and (weights > 0).all()):
        hint = "Add a small weight everywhere: a cell of weight 0 can never be learned."
        raise ParameterError("prior", f"be {size} positive weights, one for each cell", "", hint)
    return np.asarray(weights / weights.sum())


# ---- Guess and check: one part of the rows guesses, the other nods or corrects -------------------
#
# The training part may be known to everybody. Only what is told about the checking part is charged,
# and only its rows carry the certificate.
#
# References
# ----------
# .. [1] R. Rogers, A. Roth, A. Smith, N. Srebro, O. Thakkar, B. Woodworth, "Guaranteed validity for
#    empirical approaches to adaptive data analysis", AISTATS 2020.


def halves(
    n: int, dependence: Dependence, *, groups: Groups = None, source: Source = noise.SYSTEM
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the rows that guess and the rows that check, whole blocks together.

    Rows must be independent, or come in blocks: the public ``groups``, or runs of equal length.
    Half of a Markov chain's rows know the other half, and are no chain of the same eigenvalue: such
    parts must be given, far enough apart that the checking rows concentrate whatever the training
    rows are.
    """
    if not isinstance(dependence, (Iid, Blocks)):
        raise ParameterError(
            "training", f"be given for {dependence.name} rows", "",
            "A random half would depend on the other half. Use {training} with rows far from the "
            "others.",
        )  # fmt: skip
    block = np.arange(n) // dependence.size
    if groups is not None:
        labels = np.asarray(groups)
        if labels.shape != (n,):
            must, got = f"name the block of each of {n} rows", f"an array of shape {labels.shape}"
            raise ParameterError("groups", must, got, "Use {groups} with one label for each row.")
        block = np.unique(labels, return_inverse=True)[1]
    many = int(block.max()) + 1 if n else 0
    if many < 2:
        must = "hold at least 2 independent blocks to be split"
        raise ParameterError("data", must, f"{many}", "Use {training} with rows of their own.")
    chosen = np.zeros(many, bool)
    keys = np.frombuffer(source.bytes(16 * many), "<u8").reshape(2, many)
    chosen[np.lexsort((keys[0], keys[1]))[: many // 2]] = True
    return np.flatnonzero(chosen[block]), np.flatnonzero(~chosen[block])


# ---- Where guesses come from, and the rows that check them ---------------------------------------


@dataclass(frozen=True, slots=True)
class Trained:
    """Guesses from rows of its own, which are public: what is wrong with a query there raises."""

    rows: Cells | Rows

    def guess(self, query: Any) -> float:
        """Return the average over the training rows."""
        if isinstance(self.rows, Cells):
            return self.rows.average(query)
        return float(self.rows.values(query).mean())


@dataclass(frozen=True, slots=True)
class ByFunction:
    """Guesses from a function."""

    function: Callable[[Any], float]

    def guess(self, query: Any) -> float:
        return read_guess(self.function(query))


@dataclass(frozen=True, slots=True)
class Parts:
    """The rows that check, and what guesses without a look at them."""

    evidence: Cells | Rows
    guesser: Weights | Trained | ByFunction

    @classmethod
    def read(
        cls,
        data: object,
        universe: object,
        guess: object,
        *,
        dependence: Dependence,
        prior: ArrayLike | None,
        training: object,
        groups: Groups,
        source: Source,
    ) -> Parts:
        cells = None if universe is None else Universe.read(universe)
        _consistent(guess, universe, prior, training, groups)

        def rows_of(data: object) -> Cells | Rows:
            return Rows(data) if cells is None else Cells(cells, cells.codes(data))

        evidence = rows_of(data)
        if callable(guess):
            return cls(evidence, ByFunction(guess))
        if guess == "weights" and cells is not None:
            return cls(evidence, Weights(cells.size, prior))
        if training is None:
            train, check = halves(evidence.n, dependence, groups=groups, source=source)
            return cls(evidence.take(check), Trained(evidence.take(train)))
        trained = Trained(rows_of(training))
        if not trained.rows.n:
            must, hint = "have at least one row", "Omit {training}."
            raise ParameterError("training", must, "an empty table", hint, training=LEFT_OUT)
        return cls(evidence, trained)


def read_guess(guess: float) -> float:
    try:
        value = float(guess)
    except (TypeError, ValueError) as error:
        must = "be a number"
        raise ParameterTypeError("guess", must, kind(guess), "Use {guess}.", guess=0.3) from error
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise ParameterError("guess", "be between 0 and 1", f"{value:g}", "Use {guess}.", guess=0.3)
    return min(max(value, 0.0), 1.0)


def _consistent(
    guess: object, universe: object, prior: object, training: object, groups: object
) -> None:
    if not callable(guess) and guess not in ("weights", "split"):
        must = "be 'weights', 'split' or a function"
        raise ParameterError("guess", must, given(guess), "Use {guess}.", guess="split")
    if guess == "weights" and universe is None:
        must = "be given for the guess 'weights'"
        hint = "Use {universe} for codes below 1000, a dict of categories for columns, or {guess}."
        raise ParameterError("universe", must, "", hint, universe=1000, guess="split")
    if guess != "weights" and prior is not None:
        must = "be omitted unless the guess is 'weights'"
        raise ParameterError("prior", must, "", "Omit {prior}.", prior=LEFT_OUT)
    if guess != "split" and (training is not None or groups is not None):
        name = "training" if groups is None else "groups"
        must, hint = "be omitted unless the guess is 'split'", f"Omit {{{name}}}, or use {{guess}}."
        raise ParameterError(name, must, "", hint, **{name: LEFT_OUT}, guess="split")
