r"""How close a sample's average is to the truth when the question was fixed beforehand.

All of adaptivity is charged to the transcript; what is left is the ordinary concentration of
averages of the sample at hand, which depends on how its rows depend on each other. Write
:math:`q(S)` for the average of a query with values in [0, 1] over the :math:`n` rows,
:math:`q(P)` for its expectation. A dependence names a width :math:`w` with

.. math:: \Pr\bigl[|q(S) - q(P)| > w(n, t)\bigr] \le e^{-t}

for every single query. Failures are named by :math:`t` since :math:`e^{-t}` of a long transcript
is below the smallest float.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import inf, isnan, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, integer, kind, rational

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact.parameters import Number

__all__ = [
    "Blocks",
    "Custom",
    "Dependence",
    "Iid",
    "Markov",
    "chernoff",
    "coin_divergence",
    "dependence_of",
]

STEPS = 200
"""Halvings of a search: more than the digits of a float."""


class Dependence(ABC):
    """How the rows of a sample depend on each other."""

    name: ClassVar[str]

    @abstractmethod
    def width(self, n: int, nats: float) -> float:
        """Return how far the average of ``n`` rows may be off, but for a chance of exp(-nats)."""

    def nats(self, n: int, halfwidth: float) -> float:
        """Return the largest ``nats`` whose half-width is at most this; -inf if none is."""
        if self.width(n, 0.0) > halfwidth:
            return -inf
        low, high = 0.0, 1.0
        while self.width(n, high) <= halfwidth:
            low, high = high, 2 * high
            if high > 1e300:  # a concentration that does not end
                return high
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.width(n, middle) <= halfwidth else (low, middle)
        return low

    def interval(self, average: float, n: int, nats: float) -> tuple[float, float]:
        """Return ends between which the truth lies, but for a chance of exp(-nats)."""
        width = self.width(n, nats)
        return max(0.0, average - width), min(1.0, average + width)

    def facts(self) -> dict[str, Any]:
        """Return the public parameters, as JSON knows them."""
        return {"name": self.name}


@dataclass(frozen=True, slots=True)
class Iid(Dependence):
    r"""Rows drawn one by one from one law: Hoeffding's :math:`w = \sqrt{(t + \ln 2)/2n}`.

    Intervals use Chernoff's bound, which is never longer and much shorter near 0 and 1.

    Examples
    --------
    >>> round(Iid().width(10_000, 3.0), 5)
    0.01359
    >>> [round(x, 4) for x in Iid().interval(0.01, 10_000, 3.0)]
    [0.0075, 0.013]
    """

    name: ClassVar[str] = "iid"

    def width(self, n: int, nats: float) -> float:
        """Return Hoeffding's width."""
        return sqrt((nats + log(2)) / (2 * n))

    def interval(self, average: float, n: int, nats: float) -> tuple[float, float]:
        """Return Chernoff's ends."""
        return chernoff(average, (nats + log(2)) / n)


@dataclass(frozen=True, slots=True)
class Markov(Dependence):
    r"""States of a stationary Markov chain that forgets by a factor lambda a step.

    .. math:: w = \sqrt{\frac{1 + \lambda}{1 - \lambda}\cdot\frac{t + \ln 2}{2n}}

    for :math:`\lambda` the norm of the chain's operator on functions of mean zero, one minus its
    absolute spectral gap [2]_; `second_eigenvalue` computes it from the chain's matrix. For
    reversible chains it is the largest absolute value of the other eigenvalues. Where one and the
    same question is asked of every row their largest value, or 0, would do [1]_; predictions differ
    from row to row, and undo an alternation that helps (``test_alternation_can_be_undone``). The
    norm of a non-reversible chain may be 1 where its eigenvalues are 0: then nothing is known.
    *Checked by* ``test_chains_stay_within_their_width``, for questions that change with the row
    too. The lazy random walk, which stays where it is with probability one half, has
    :math:`\lambda = 1/2`: threefold variance.

    References
    ----------
    .. [1] C. León, F. Perron, "Optimal Hoeffding bounds for discrete reversible Markov chains",
       Annals of Applied Probability 14(2), 2004.
    .. [2] J. Fan, B. Jiang, Q. Sun, "Hoeffding's inequality for general Markov chains and its
       applications to statistical learning", JMLR 22, 2021.

    Examples
    --------
    >>> Markov(0.5).inflation
    3.0
    """

    eigenvalue: Number
    inflation: float = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "markov"

    def __post_init__(self) -> None:
        value = rational(self.eigenvalue, "eigenvalue", example=0.5)
        if not 0 <= value < 1:
            raise ParameterError(
                "eigenvalue",
                "be 0 or more and below 1",
                given(self.eigenvalue),
                "Type one minus the absolute spectral gap, such as {eigenvalue}, or "
                "second_eigenvalue(matrix).",
                eigenvalue=0.5,
            )
        object.__setattr__(self, "eigenvalue", value)
        object.__setattr__(self, "inflation", float((1 + value) / (1 - value)))

    def width(self, n: int, nats: float) -> float:
        """Return the width of a chain's average."""
        return sqrt(self.inflation * (nats + log(2)) / (2 * n))

    def facts(self) -> dict[str, Any]:
        """Return the name and the eigenvalue."""
        return {"name": self.name, "eigenvalue": str(self.eigenvalue)}


@dataclass(frozen=True, slots=True)
class Blocks(Dependence):
    r"""Independent blocks of at most ``size`` rows: households, patients or repeated rows.

    .. math:: w = \sqrt{\frac{m\,(t + \ln 2)}{2n}}

    Within a block anything goes: the rows may be copies. *Proof*: the average is
    :math:`\sum_b w_b X_b` with weights :math:`w_b \le m/n` that sum to one and block averages
    :math:`X_b \in [0, 1]`. :math:`\frac1w \ln(1 - \mu + \mu e^{\lambda w})` grows with :math:`w`,
    so :math:`\ln E e^{\lambda \sum w_b X_b} \le \frac{n}{m} \ln(1 - \mu + \mu e^{\lambda m / n})`:
    Chernoff's bound for :math:`n/m` rows.

    Examples
    --------
    >>> Blocks(10).width(1000, 3.0) == Iid().width(100, 3.0)
    True
    """

    size: int
    name: ClassVar[str] = "blocks"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", integer(self.size, "size", least=1))

    def width(self, n: int, nats: float) -> float:
        """Return Hoeffding's width of n/m rows."""
        return sqrt(self.size * (nats + log(2)) / (2 * n))

    def interval(self, average: float, n: int, nats: float) -> tuple[float, float]:
        """Return Chernoff's ends of n/m rows."""
        return chernoff(average, self.size * (nats + log(2)) / n)

    def facts(self) -> dict[str, Any]:
        """Return the name and the size of a block."""
        return {"name": self.name, "size": self.size}


@dataclass(frozen=True, slots=True)
class Custom(Dependence):
    r"""Your own concentration: a function of :math:`n` and :math:`t` that returns :math:`w(n, t)`.

    It must hold for every query that any analyst might ask, those of other runs included; it must
    not fall in :math:`t`.

    Examples
    --------
    >>> slow = Custom("slow", lambda n, t: ((t + 1) / n) ** 0.25)
    >>> slow.width(10_000, 0.0)
    0.1
    """

    name: str  # type: ignore[misc]
    function: Callable[[int, float], float]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not callable(self.function):
            raise ParameterTypeError(
                "a custom dependence",
                "be a name and a function of n and t",
                f"{kind(self.name)} and {kind(self.function)}",
                "Type Custom('slow', lambda n, t: ((t + 1) / n) ** 0.25).",
            )

    def width(self, n: int, nats: float) -> float:
        """Return what the function says; what is not a number says nothing, as infinity does."""
        width = float(self.function(n, nats))
        return inf if isnan(width) else width

    def facts(self) -> dict[str, Any]:
        """Return the name; a function cannot be written down."""
        return {"name": f"custom {self.name}"}


def chernoff(average: float, nats: float) -> tuple[float, float]:
    r"""Return all :math:`p` with :math:`\mathrm{KL}(\hat p \| p) \le t`, as two ends.

    Examples
    --------
    >>> [round(x, 3) for x in chernoff(0.5, 0.02)]
    [0.401, 0.599]
    >>> [round(x, 6) for x in chernoff(0.0, 0.0)]
    [0.0, 0.0]
    """
    return _end(average, 0.0, nats), _end(average, 1.0, nats)


def _end(average: float, far: float, nats: float) -> float:
    inside, outside = average, far
    if coin_divergence(average, outside) <= nats:
        return outside
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if coin_divergence(average, middle) <= nats:
            inside = middle
        else:
            outside = middle
    return outside


def coin_divergence(a: float, b: float) -> float:
    r"""Return :math:`\mathrm{kl}(a \,\|\, b)`, the divergence of two coins, in nats.

    Examples
    --------
    >>> round(coin_divergence(0.3, 0.01), 3), coin_divergence(0.2, 0.2), coin_divergence(0.2, 0)
    (0.778, 0.0, inf)
    """
    if a == b:
        return 0.0
    if (b <= 0 and a > 0) or (b >= 1 and a < 1):
        return inf
    heads = a * log(a / b) if a else 0.0
    tails = (1 - a) * (log1p(-a) - log1p(-b)) if a < 1 else 0.0
    return heads + tails


def dependence_of(facts: dict[str, Any], custom: Dependence | None) -> Dependence:
    """Return the dependence that a file names; a custom one must be given again."""
    if custom is not None and custom.facts() == facts:
        return custom
    name = str(facts.get("name"))
    if name == "iid":
        return Iid()
    if name == "markov":
        return Markov(fraction(facts["eigenvalue"]))
    if name == "blocks":
        return Blocks(int(facts["size"]))
    own = name.removeprefix("custom ")
    raise ParameterError(
        "dependence",
        f"be given again, since the ledger's is {name!r}",
        "none",
        "A function cannot be kept in a file. "
        f"Type TranscriptLedger.open(path, dependence=Custom({own!r}, ...)).",
    )
