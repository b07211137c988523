"""Concentration of averages under dependence, and the widths that follow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import inf, isnan, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.adaptive.information import bisected
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, integer, kind, rational

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from sourdine.exact import Number


# ---- How close a sample's average is to the truth when the question was fixed beforehand ---------
#
# All of adaptivity is charged to the transcript; what is left is the ordinary concentration of
# averages of the sample at hand, which depends on how its rows depend on each other. Write
# :math:`q(S)` for the average of a query with values in [0, 1] over the :math:`n` rows,
# :math:`q(P)` for its expectation. A dependence names a width :math:`w` with
#
# .. math:: \Pr\bigl[|q(S) - q(P)| > w(n, t)\bigr] \le e^{-t}
#
# for every single query. Failures are named by :math:`t` since :math:`e^{-t}` of a long transcript
# is below the smallest float.


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
        return bisected(lambda nats: self.width(n, nats) <= halfwidth, low, high)[0]

    def interval(self, average: float, n: int, nats: float) -> tuple[float, float]:
        """Return ends between which the truth lies, but for a chance of exp(-nats)."""
        width = self.width(n, nats)
        return max(0.0, average - width), min(1.0, average + width)

    def statistic_width(self, n: int, nats: float, sensitivity: float) -> float:
        """Return how far a statistic that one row moves by ``sensitivity`` at most may be off."""
        must = "be Iid() or Blocks(...) for a statistic that is no average"
        hint = "Charge averages with charge_value, or declare blocks of rows that are independent."
        raise ParameterError("dependence", must, self.name, hint)

    def facts(self) -> dict[str, Any]:
        """Return the public parameters, as JSON knows them; `dependence_of` reads them."""
        return {"name": self.name}


class _Hoeffding(Dependence):
    """Rows whose averages are as far off as those of a number of times fewer independent rows."""

    inflation: Any

    def width(self, n: int, nats: float) -> float:
        return sqrt(float(self.inflation) * (nats + log(2)) / (2 * n))


class _InBlocks(_Hoeffding):
    """Rows in independent blocks, of which intervals and statistics know more."""

    size: Any

    @property
    def inflation(self) -> Any:
        return self.size

    def interval(self, average: float, n: int, nats: float) -> tuple[float, float]:
        return chernoff(average, self.size * (nats + log(2)) / n)

    def statistic_width(self, n: int, nats: float, sensitivity: float) -> float:
        return mcdiarmid(self.size, n, nats, sensitivity)


def mcdiarmid(size: int, n: int, nats: float, sensitivity: float) -> float:
    r"""Return McDiarmid's width for independent blocks of at most ``size`` of ``n`` rows.

    .. math:: w = \Delta\sqrt{\frac{m n (t + \ln 2)}{2}}

    *Proof*: block :math:`b` of :math:`m_b \le m` rows moves the statistic by :math:`m_b\Delta` at
    most, and :math:`\sum_b (m_b\Delta)^2 \le m n \Delta^2`; McDiarmid's inequality for functions of
    independent blocks [1]_. For a :math:`\Delta` of :math:`1/n` it is the width of an average.
    *Checked by* ``test_statistics_stay_within_their_width``.

    References
    ----------
    .. [1] C. McDiarmid, "On the method of bounded differences", Surveys in Combinatorics, 1989.
    """
    return sensitivity * sqrt(size * n * (nats + log(2)) / 2)


@dataclass(frozen=True, slots=True)
class Iid(_InBlocks):
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

    @property
    def size(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Markov(_Hoeffding):
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
                "eigenvalue", "be at least 0 and below 1", given(self.eigenvalue),
                "Use one minus the absolute spectral gap, such as {eigenvalue}, or "
                "second_eigenvalue(matrix).", eigenvalue=0.5,
            )  # fmt: skip
        object.__setattr__(self, "eigenvalue", value)
        object.__setattr__(self, "inflation", float((1 + value) / (1 - value)))

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "eigenvalue": str(self.eigenvalue)}


@dataclass(frozen=True, slots=True)
class Blocks(_InBlocks):
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

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "size": self.size}


@dataclass(frozen=True, slots=True)
class DependencyGraph(_Hoeffding):
    r"""Rows that are independent unless a declared graph joins them.

    .. math:: w = \sqrt{\frac{\theta\,(t + \ln 2)}{2n}}

    The graph must be such that rows of two sets with no edge between them are independent, whatever
    the rows of each set are to each other: measurements that share an instrument, pairs of people
    that have a person in common, neighbours on a map. :math:`\theta` may be the number of colours
    of any colouring, so one more than the largest number of rows that a row is joined to, or the
    fractional chromatic number. `of` colours the graph from its edges.

    *Proof* (after Janson [1]_). Colours split the rows into sets :math:`A_1, \ldots, A_k` of
    independent rows. Write :math:`Y_j` for the sum of :math:`X_i - E X_i` over :math:`A_j`,
    :math:`T = \sum_j \sqrt{|A_j|}` and :math:`p_j = \sqrt{|A_j|} / T`. By Jensen's inequality and
    Hoeffding's lemma

    .. math:: E e^{\lambda \sum_j Y_j} \le \sum_j p_j\, E e^{\lambda Y_j / p_j}
              \le \sum_j p_j\, e^{\lambda^2 |A_j| / 8 p_j^2} = e^{\lambda^2 T^2 / 8},

    so a sum is off by :math:`nw` with probability :math:`2 e^{-2 n^2 w^2 / T^2}` at most:
    :math:`\theta = T^2 / n` would do for exactly these rows. By Cauchy and Schwarz :math:`T^2 \le
    kn`, and :math:`k` colours colour any part of the rows too: :math:`\theta = k` holds for all of
    them and for any part, as a ledger that grows needs. With weights :math:`w_j` on sets of
    independent rows such that each row has a weight of 1 in all, :math:`T = \sum_j w_j
    \sqrt{|A_j|}` and :math:`T^2 \le n \sum_j w_j` likewise. ∎ *Checked by*
    ``test_dependency_graphs_stay_within_their_width``. For blocks it is never below what `Blocks`
    of their true sizes gives (``test_a_graph_of_blocks_is_no_narrower_than_blocks``).

    Parameters
    ----------
    inflation
        :math:`\theta`, at least 1: by how much the variance that is reckoned with is larger than
        that of independent rows. It must hold for the rows that the ledger has at any time; a
        number of colours of the graph of all rows that are ever added does.

    References
    ----------
    .. [1] S. Janson, "Large deviations for sums of partly dependent random variables", Random
       Structures and Algorithms 24(3), 2004.

    Examples
    --------
    >>> DependencyGraph(2).width(1000, 3.0) == Iid().width(500, 3.0)
    True
    >>> ring = [(i, (i + 1) % 1000) for i in range(1000)]
    >>> DependencyGraph.of(1000, ring)
    DependencyGraph(inflation=Fraction(2, 1))
    >>> star = [(0, i) for i in range(1, 1000)]
    >>> DependencyGraph.of(1000, star)
    DependencyGraph(inflation=Fraction(2, 1))
    """

    inflation: Number
    name: ClassVar[str] = "graph"

    def __post_init__(self) -> None:
        value = rational(self.inflation, "inflation", example=2)
        if value < 1:
            raise ParameterError(
                "inflation", "be at least 1", given(self.inflation),
                "Use the number of colours of the graph, such as {inflation}, or "
                "DependencyGraph.of(n, edges).", inflation=2,
            )  # fmt: skip
        object.__setattr__(self, "inflation", value)

    @classmethod
    def of(cls, n: int, edges: Iterable[tuple[int, int]]) -> DependencyGraph:
        """Return the dependence of ``n`` rows, numbered from 0, that edges join.

        It holds for any part of the rows too. Colours are chosen one after the other, each for as
        many rows as can be found in a pass over those with the fewest uncoloured neighbours.

        Raises
        ------
        ParameterError
            An edge is not a pair of two different rows.
        """
        rows = integer(n, "n", least=1)
        near: list[set[int]] = [set() for _ in range(rows)]
        for edge in edges:
            if not isinstance(edge, (tuple, list)) or len(edge) != 2:
                raise ParameterError("an edge", "be a pair of rows", given(edge), "Use (0, 1).")
            a, b = (integer(row, "a row", least=0) for row in edge)
            if a == b or max(a, b) >= rows:
                must = f"join two different rows from 0 to {rows - 1}"
                raise ParameterError("an edge", must, f"({a}, {b})", "Use (0, 1).")
            near[a].add(b)
            near[b].add(a)
        return cls(len(colour_classes(near)))

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "inflation": str(self.inflation)}


def colour_classes(near: list[set[int]]) -> list[list[int]]:
    """Return sets of rows no two of which are joined, which hold each row once."""
    left, classes = set(range(len(near))), []
    while left:
        free, chosen = set(left), []
        for row in sorted(left, key=lambda i: (len(near[i] & left), i)):
            if row in free:
                chosen.append(row)
                free -= near[row]
        classes.append(chosen)
        left -= set(chosen)
    return classes


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
            must = "be a name and a function of n and t"
            hint = "Use Custom('slow', lambda n, t: ((t + 1) / n) ** 0.25)."
            got = f"{kind(self.name)} and {kind(self.function)}"
            raise ParameterTypeError("a custom dependence", must, got, hint)

    def width(self, n: int, nats: float) -> float:
        """Return what the function says; what is not a number says nothing, as infinity does."""
        width = float(self.function(n, nats))
        return inf if isnan(width) else width

    def facts(self) -> dict[str, Any]:
        """Return the name; a function cannot be written down."""
        return {"name": f"custom {self.name}"}


def chernoff(average: float, nats: float) -> tuple[float, float]:
    r"""Return all :math:`p` with :math:`\mathrm{KL}(\hat p \| p) \le t`, as two ends."""

    def end(far: float) -> float:
        """Return the first number from the average on that does not fit, or the far end."""

        def fits(p: float) -> bool:
            return coin_divergence(average, p) <= nats

        return far if fits(far) else bisected(fits, average, far)[1]

    return end(0.0), end(1.0)


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
    for known in (Iid, Markov, Blocks, DependencyGraph):
        if name == known.name:
            terms = {term: value for term, value in facts.items() if term != "name"}
            read: Any = {k: fraction(v) if isinstance(v, str) else v for k, v in terms.items()}
            return known(**read)
    own = name.removeprefix("custom ")
    raise ParameterError(
        "dependence", f"be given again, as the dependence of the ledger is {name!r}", "",
        "A function cannot be stored in a file. Use TranscriptLedger.open(path, "
        f"dependence=Custom({own!r}, ...)).",
    )  # fmt: skip


# ---- What one number tells of a Markov chain: how fast it forgets --------------------------------
#
# How well averages over a chain concentrate is told by :math:`\lambda`, the norm of the chain's
# operator :math:`(Pf)(x) = E[f(x_2) \mid x_1 = x]` on functions of mean zero: the variance of an
# average is at most :math:`\frac{1 + \lambda}{1 - \lambda}` times that of independent rows.


ROUNDING = 1e-9
"""How far probabilities may be from a sum of one: what decimals typed by hand leave."""


def stationary(matrix: ArrayLike) -> NDArray[np.float64]:
    r"""Return the law :math:`\pi` with :math:`\pi P = \pi`, which a chain never leaves.

    States are eliminated one by one without a subtraction [1]_, so the smallest probabilities are
    as exact as the largest. *Checked by* ``test_stationary_law_of_a_steep_chain``.

    References
    ----------
    .. [1] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions
       for Markov chains", Operations Research 33(5), 1985.

    Examples
    --------
    >>> stationary([[0.9, 0.1], [0.3, 0.7]]).round(9).tolist()
    [0.75, 0.25]
    """
    steps = read_matrix(matrix)
    reach = (steps > 0) | np.eye(len(steps), dtype=bool)
    for _ in range(len(steps).bit_length()):
        reach = reach.astype(np.float32) @ reach.astype(np.float32) > 0
    home = np.flatnonzero((reach <= reach.T).all(axis=1))  # what the chain comes back to for ever
    if not reach[np.ix_(home, home)].all():
        must, got = "have a single stationary distribution", "several closed classes of states"
        hint = "Pass the matrix of the class of states that the chain is in."
        raise ParameterError("matrix", must, got, hint)
    a = steps[np.ix_(home, home)]
    for k in range(len(a) - 1, 0, -1):
        a[:k, k] /= a[k, :k].sum()
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    weights = np.ones(len(a))
    for k in range(1, len(a)):
        weights[k] = weights[:k] @ a[:k, k]
    pi = np.zeros(len(steps))
    pi[home] = weights / weights.sum()
    return pi


def second_eigenvalue(matrix: ArrayLike) -> float:
    r"""Return the number that a ledger asks for: ``Markov(second_eigenvalue(matrix))``.

    It is the norm of the chain's operator on functions of mean zero in :math:`L_2(\pi)`: the second
    singular value of :math:`D^{1/2} P D^{-1/2}` for :math:`D = \operatorname{diag}(\pi)`, whose
    first one is 1, with :math:`\sqrt\pi` on both sides. For a reversible chain
    (:math:`\pi_x P_{xy} = \pi_y P_{yx}`) it is the largest *absolute* value of all eigenvalues but
    the first. Alternation counts as much as rest: a question that changes with the place of the
    row, as a list of predictions is, can undo it. States that are never visited do not count.
    *Checked by* ``test_second_eigenvalue_by_hand``,
    ``test_the_norm_counts_where_all_other_eigenvalues_are_zero`` and
    ``test_variance_is_within_the_inflation``.

    Examples
    --------
    >>> round(second_eigenvalue([[0.9, 0.1], [0.3, 0.7]]), 9)
    0.6
    >>> round(second_eigenvalue([[0.1, 0.9], [0.9, 0.1]]), 9)
    0.8
    """
    steps = read_matrix(matrix)
    pi = stationary(steps)
    visited = pi > 0
    root = np.sqrt(pi[visited])
    moves = root[:, None] * steps[np.ix_(visited, visited)] / root
    rest = moves - np.outer(root, root)
    return float(np.linalg.norm(rest, 2))


def read_matrix(matrix: ArrayLike) -> NDArray[np.float64]:
    """Return the matrix, each of whose rows is a law."""
    steps = np.asarray(matrix, np.float64)
    if (
        steps.ndim != 2
        or steps.shape[0] != steps.shape[1]
        or not np.isfinite(steps).all()
        or (steps < 0).any()
        or (np.abs(steps.sum(axis=1) - 1) > ROUNDING).any()
    ):
        hint = "Use {matrix}, for example: row x holds the transition probabilities from x."
        must, example = "be square, with rows that sum to 1", [[0.9, 0.1], [0.3, 0.7]]
        raise ParameterError("matrix", must, "", hint, matrix=example)
    return np.asarray(steps / steps.sum(axis=1, keepdims=True))
