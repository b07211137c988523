"""Where guesses come from: a hypothesis by multiplicative weights, or split rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, exp, inf, log, log1p
from typing import TYPE_CHECKING, Any, Protocol

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

    Parameters
    ----------
    size
        How many cells there are.
    prior
        What is believed beforehand, public: a positive weight for each cell; equal if left out.

    Attributes
    ----------
    law
        The weights, which sum to one.
    stock
        The most that the divergence of any sample from the prior can be.
    """

    __slots__ = ("_log", "law", "stock")

    def __init__(self, size: int, prior: ArrayLike | None = None) -> None:
        self.law = _prior(size, prior)
        self._log = np.log(self.law)
        self.stock = -float(self._log.min())

    @property
    def logs(self) -> Values:
        return self._log

    def guess(self, query: Values) -> float:
        """Return the query's average under the hypothesis."""
        return min(max(float(query @ self.law), 0.0), 1.0)

    def move(self, tilt: Tilt) -> None:
        """Take a tilted hypothesis for the hypothesis."""
        self._log = tilt.log
        self.law = np.exp(tilt.log)

    def take(self, law: Values) -> None:
        """Take a positive law for the hypothesis."""
        self._log, self.law = np.log(law), law

    def tilt(self, query: Values, target: float) -> Tilt:
        """Return the nearest hypothesis that gives the query the value ``target``.

        Newton's steps, halvings where one would leave the bracket. The first is exact for queries
        of 0 and 1.
        """
        guess = self.guess(query)
        low, high = (0.0, inf) if target > guess else (-inf, 0.0)
        eta = _logit(target) - _logit(guess)
        for _ in range(STEPS):
            log_weights = self._log + eta * query
            peak = float(log_weights.max())
            law = np.exp(log_weights - peak)
            total = float(law.sum())
            mean = float(query @ law) / total
            if abs(mean - target) <= CLOSE:
                break
            low, high = (eta, high) if mean < target else (low, eta)
            variance = float((query - mean) ** 2 @ law) / total
            eta = _next(eta, _newton(target - mean, variance), low, high)
        psi = peak + log(total)
        return Tilt(eta, psi, log_weights - psi)


def _newton(gap: float, variance: float) -> float:
    return gap / variance if variance > abs(gap) / LARGE else copysign(LARGE, gap)


def _next(eta: float, step: float, low: float, high: float) -> float:
    """Return the next eta: no more than about twice the last one while an end is open."""
    if high == inf:
        step = min(step, eta + 1)
    elif low == -inf:
        step = max(step, eta - 1)
    return eta + step if low < eta + step < high else (low + high) / 2


def _logit(p: float) -> float:
    inner = min(max(p, exp(-40)), 1 - 1e-15)
    return log(inner) - log1p(-inner)


def _floats(prior: ArrayLike) -> Values:
    try:
        return np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def _prior(size: int, prior: ArrayLike | None) -> Values:
    if prior is None:
        return np.full(size, 1 / size)
    weights = _floats(prior)
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
    n: int,
    dependence: Dependence,
    *,
    groups: Sequence[object] | NDArray[np.generic] | None = None,
    source: Source = noise.SYSTEM,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the rows that guess and the rows that check, whole blocks together."""
    if isinstance(dependence, Iid) and groups is None:
        block = np.arange(n)
    elif isinstance(dependence, (Iid, Blocks)):
        block = _blocks(n, dependence, groups)
    else:
        hint = (
            "A random half would depend on the other half. Use {training} with rows far from the "
            "others."
        )
        raise ParameterError("training", f"be given for {dependence.name} rows", "", hint)
    many = int(block.max()) + 1 if n else 0
    if many < 2:
        must = "hold at least 2 independent blocks to be split"
        raise ParameterError("data", must, f"{many}", "Use {training} with rows of their own.")
    chosen = np.zeros(many, bool)
    chosen[_shuffled(many, source)[: many // 2]] = True
    return np.flatnonzero(chosen[block]), np.flatnonzero(~chosen[block])


def _blocks(
    n: int, dependence: Dependence, groups: Sequence[object] | NDArray[np.generic] | None
) -> NDArray[np.int64]:
    if groups is None:
        return np.arange(n) // (dependence.size if isinstance(dependence, Blocks) else 1)
    labels = np.asarray(groups)
    if labels.shape != (n,):
        must = f"name the block of each of {n} rows"
        hint = "Use {groups} with one label for each row."
        raise ParameterError("groups", must, f"an array of shape {labels.shape}", hint)
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)


def _shuffled(many: int, source: Source) -> NDArray[np.int64]:
    """Return the numbers below ``many`` in an order of chance."""
    keys = np.frombuffer(source.bytes(16 * many), "<u8").reshape(2, many)
    return np.lexsort((keys[0], keys[1]))


# ---- Where guesses come from, and the rows that check them ---------------------------------------


class Guesser(Protocol):
    """Guesses a query's average without a look at the rows that check."""

    def guess(self, query: Any, /) -> float:
        """Return a number from 0 to 1."""


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
    """The rows that check, and what guesses."""

    evidence: Cells | Rows
    guesser: Guesser

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
        groups: Sequence[object] | NDArray[np.generic] | None,
        source: Source,
    ) -> Parts:
        cells = None if universe is None else Universe.read(universe)
        _consistent(guess, universe, prior, training, groups)
        evidence = _evidence(data, cells)
        if callable(guess):
            return cls(evidence, ByFunction(guess))
        if guess == "weights" and cells is not None:
            return cls(evidence, Weights(cells.size, prior))
        if training is not None:
            return cls(evidence, Trained(_some(_evidence(training, cells))))
        train, check = halves(evidence.n, dependence, groups=groups, source=source)
        return cls(evidence.take(check), Trained(evidence.take(train)))


def read_guess(guess: float) -> float:
    try:
        value = float(guess)
    except (TypeError, ValueError) as error:
        raise ParameterTypeError(
            "guess", "be a number", kind(guess), "Use {guess}.", guess=0.3
        ) from error
    if not -ROUNDING <= value <= 1 + ROUNDING:
        raise ParameterError("guess", "be between 0 and 1", f"{value:g}", "Use {guess}.", guess=0.3)
    return min(max(value, 0.0), 1.0)


def _evidence(data: object, universe: Universe | None) -> Cells | Rows:
    return Rows(data) if universe is None else Cells(universe, universe.codes(data))


def _some(training: Cells | Rows) -> Cells | Rows:
    if training.n:
        return training
    raise ParameterError(
        "training", "have at least one row", "an empty table", "Omit {training}.", training=LEFT_OUT
    )


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
        must = "be omitted unless the guess is 'split'"
        hint = f"Omit {{{name}}}, or use {{guess}}."
        raise ParameterError(name, must, "", hint, **{name: LEFT_OUT}, guess="split")
