"""JointExp: all quantiles in one draw, and the sampler of its ranks."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from math import ceil, exp, expm1, lgamma, log
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import (
    FLOATS,
    FreeTotal,
    OfRecords,
    QuantileMechanism,
    joint_error,
    spacing,
)
from sourdine.central.quantiles.chain import (
    Chain,
    LongChain,
    OrderedChain,
    TooWideError,
    draw_outside,
    heavy,
    slots_of,
)
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta
from sourdine.privacy import Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import Drawn, Lattice
    from sourdine.central.quantiles.chain import Targets
    from sourdine.central.quantiles.points import Points
    from sourdine.exact import Number
    from sourdine.noise import Source

    Piece = tuple[int, int, int, int]
    Cut = tuple[int, list[int], list[int]]


# ---- Draws ranks from the joint law: windows for almost all, everything else for the rest --------
#
# The measure to draw from is that of `chain` over all totals and ranks. A window holds what weighs
# :math:`e^{-\Lambda}` or more; *shells* bound the rest: tuples with :math:`c\sum|d_j|` in
# :math:`[\Lambda_i, \Lambda_{i+1})` have
# :math:`|i_j - q_j n| \le \max(q_j, 1-q_j)\Lambda_{i+1}/c + u + 1`, the targets being within
# :math:`u` of their parts of the total, so they weigh at most
#
# .. math:: e^{-\Lambda_i} \cdot \#\text{totals} \cdot \prod_j \mu(\text{those ranks}).
#
# The window grows until the rest is below :math:`e^{-30}` of what it holds, and the rest is still
# drawn exactly when its turn comes (`outside`). Nothing that is published depends on the window.
#
# Totals are first weighed with ranks taken in blocks of :math:`B`; the one drawn is weighed again
# rank by rank and kept with probability :math:`Z/(\hat Z e^\beta)`, :math:`\beta = cm(B-1)`, which
# is at most 1.


REST = 30.0
SHELLS = 20.0 * 1.08 ** np.arange(110)
PATIENCE = 100
LITTLE = 1e-3
SLACK = 1e-6


def first_reach(m: int) -> float:
    r"""Return the :math:`\Lambda` to read for at first; more is read when it does not suffice."""
    return REST + 35 + 4 * m


class JointSampler:
    """The joint law of a lattice's totals and of ticks, for some points.

    Parameters
    ----------
    points
        The records.
    lattice
        The totals.
    c
        The decay per rank.
    """

    __slots__ = ("_bounds", "_c", "_half", "_inside", "_lattice", "_points", "_rows", "_shell")

    def __init__(self, points: Points, lattice: Lattice, c: float) -> None:
        self._points, self._lattice, self._c = points, lattice, c
        self._bounds = self._shells()
        self._grow(self._guess(), ordered=False)

    @property
    def _rest(self) -> float:
        """The bound on the log weight of all that lies outside the window."""
        return float(self._bounds[self._shell])

    def _grow(self, inside: float, *, ordered: bool) -> None:
        """Open the first window outside of which little is left, by a guess of what is inside."""
        while True:
            enough = self._bounds <= inside - REST
            self._shell = int(enough.argmax()) if enough.any() else len(SHELLS) - 1
            self._open(float(SHELLS[self._shell]), ordered=ordered)
            if self._rest <= self._rows.log_least - REST or self._shell + 1 == len(SHELLS):
                return
            inside = min(inside, self._rows.log_least) - LITTLE

    def _shells(self) -> NDArray[np.float64]:
        r"""Return, for each :math:`\Lambda_i`, a bound on the log weight of what lies beyond."""
        q = np.array([float(q) for q in self._lattice.orders])
        n, c = self._points.n, self._c
        radius = np.ceil(np.maximum(q, 1 - q) * (SHELLS[:, None] / c) + 3).astype(np.int64)
        radius += self._lattice.stray
        middle = np.rint(q * n).astype(np.int64)
        low, high = middle - radius, middle + radius
        volume = np.log(self._points.span(low.ravel(), high.ravel())).reshape(low.shape).sum(axis=1)
        rows = self._lattice.log_rows(np.asarray(SHELLS / c, np.float64), c)
        shells = -SHELLS[:-1] + volume[1:] + rows[1:]
        last = -SHELLS[-1] + len(q) * log(self._points.cells) + rows[-1]
        return np.asarray(np.logaddexp.accumulate(np.append(shells, last)[::-1])[::-1]) + SLACK

    def _guess(self) -> float:
        """Return about what the window will weigh: the mass near the targets, a total away."""
        near = max(1, int(1 / self._c))
        middle = (round(q * self._points.n) for q in self._lattice.orders)
        masses = (self._points.masses(i - near, i + near + 1).sum() for i in middle)
        return (
            sum(log(max(float(mass), 1e-300)) for mass in masses)
            - 4
            - self._c * self._lattice.away(self._points.n)
        )

    def _open(self, reach: float, *, ordered: bool) -> None:
        distance = reach / self._c
        self._half = ceil(distance / 2) + 2
        first, last = self._lattice.inside(self._points.n, distance)
        self._inside = (first, last)
        targets = self._lattice.targets(self._points.n, range(first, last + 1))
        window = (self._points, targets, self._c, self._half)
        for chain in () if ordered else (Chain, LongChain):
            try:
                self._rows: _Quick | _Ordered = _Quick(*window, first, chain)
            except TooWideError:
                continue
            return
        self._rows = _Ordered(*window, first)

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Draw the number of a total, the ticks, and the ranks at which they cut the records."""
        attempts = 0
        while True:
            attempts += 1
            if attempts == PATIENCE and isinstance(self._rows, _Quick):
                self._points = self._points.complete()
                self._grow(self._rows.log_least, ordered=True)
            parts = np.array([0.0, self._rest - self._rows.log_total])
            if noise.by_log_weight(parts, source=source):
                drawn = self._outside(source)
            else:
                drawn = self._rows.draw(source)
            if drawn is not None:
                return drawn[0], _ticks(drawn[1], source), [piece[0] for piece in drawn[1]]

    def _outside(self, source: Source) -> tuple[int, list[Piece]] | None:
        reach = (*self._inside, self._half)
        whole = self._points.complete()
        drawn = draw_outside(whole, self._lattice, self._c, reach, self._rest, source)
        pieces = None if drawn is None else _ordered_pieces(whole, drawn[1], source)
        return None if drawn is None or pieces is None else (drawn[0], pieces)


class _Quick:
    """The window's rows by the fast chain: draws may be refused.

    ``log_total`` is what the draws are taken from, ``log_least`` bounds the rows' own weight.
    """

    __slots__ = (
        "_args",
        "_beta",
        "_chain",
        "_coarse",
        "_exact",
        "_first",
        "log_least",
        "log_total",
    )

    def __init__(
        self,
        points: Points,
        targets: Targets,
        c: float,
        half: int,
        first: int,
        chain: type[Chain],
    ) -> None:
        self._args, self._first, self._chain = (points, targets, c, half), first, chain
        rows = len(targets.T)
        block = 1 + int(1.2 / (c * targets.m)) if rows > 2 else 1
        self._coarse = chain(points, targets, c, half, block)
        self._beta = c * targets.m * (block - 1) * (1 + SLACK)
        self._exact: dict[int, Chain] = {}
        total = float(np.logaddexp.reduce(self._coarse.logs))
        self.log_least, self.log_total = total - self._beta, total + self._beta

    def draw(self, source: Source) -> tuple[int, list[Piece]] | None:
        points, targets, c, half = self._args
        logs = self._coarse.logs
        row = noise.by_log_weight(logs, source=source)
        if self._beta == 0:
            ranks = self._coarse.draw(row, source)
        else:
            if row not in self._exact:
                self._exact[row] = self._chain(points, targets.row(row), c, half)
            kept = exp(float(self._exact[row].logs[0]) - float(logs[row]) - self._beta)
            if not _coin(kept, source):
                return None
            ranks = self._exact[row].draw(0, source)
        pieces = _ordered_pieces(points, ranks, source)
        return None if pieces is None else (self._first + row, pieces)


class _Ordered:
    """The window's rows by the chain that keeps its order."""

    __slots__ = ("_first", "_heavy", "_rows", "log_least", "log_total")

    def __init__(self, points: Points, targets: Targets, c: float, half: int, first: int) -> None:
        slots = slots_of(points, targets, half)
        rows = range(len(targets.T))
        self._rows = [OrderedChain(slots, targets.row(r), c, half) for r in rows]
        self._first, self._heavy = first, heavy(targets.m)
        self.log_total = float(np.logaddexp.reduce([row.log_total for row in self._rows]))
        self.log_least = self.log_total

    def draw(self, source: Source) -> tuple[int, list[Piece]] | None:
        logs = np.array([row.log_total for row in self._rows])
        row = noise.by_log_weight(logs, source=source)
        pieces = self._rows[row].draw(source)
        return (self._first + row, pieces) if _shared(pieces, self._heavy, source) else None


def _ordered_pieces(points: Points, ranks: list[int], source: Source) -> list[Piece] | None:
    r"""Draw what each rank's mass consists of; refuse what is out of order.

    :math:`k` quantiles in one empty run count :math:`\ell^k` times in the chain, in the law
    :math:`\ell^k/k!`.
    """
    if any(b < a for a, b in pairwise(ranks)):
        return None
    pieces = [(rank, *points.piece(rank, source=source)) for rank in ranks]
    if any(b < a for a, b in pairwise(pieces)):
        return None
    runs = Counter(tick for _, tick, _, records in pieces if not records)
    alone = all(_coin(1 / i, source) for k in runs.values() for i in range(2, k + 1))
    return pieces if alone and _shared(pieces, 1, source) else None


def _shared(pieces: list[Piece], least: int, source: Source) -> bool:
    r"""Keep :math:`k` quantiles in an atom by :math:`(f+1)^k f!/(f+k)!`, if it has so many records.

    So many times too often they count where each piece of its cell weighs :math:`1/(f+1)`.
    """
    atoms = Counter((tick, f) for _, tick, _, f in pieces if f >= least)
    chances = ((f + 1) / (f + i) for (_, f), k in atoms.items() for i in range(2, k + 1))
    return all(_coin(chance, source) for chance in chances)


def _ticks(pieces: list[Piece], source: Source) -> list[int]:
    """Draw a cell in each piece."""
    inner = (noise.uniform_below(p[2], source=source) if p[2] > 1 else 0 for p in pieces)
    return sorted(piece[1] + i for piece, i in zip(pieces, inner, strict=True))


def _coin(p: float, source: Source) -> bool:
    return p >= 1 or noise.by_weight(np.array([p, 1 - p]), source=source) == 0


# ---- JointExp: all quantiles in one draw, and its form with a free total -------------------------
#
# The law over ascending ticks :math:`o_1 \le \ldots \le o_m` on a grid with ties. A cell with
# :math:`f` records that receives :math:`k` of the quantiles has :math:`\binom{f+k}{k}` equally
# likely interleavings of them with its records; averaging the weight over these gives
#
# .. math::
#
#     W_D(o) = \prod_{\text{cells}} \frac{f!}{(f+k)!} \;
#              \sum_{r_1 \le \ldots \le r_m} \; \prod_{j=1}^{m+1} e^{-c|r_j - r_{j-1} - t_j|},
#     \qquad r_0 = 0,\; r_{m+1} = n,
#
# the sum running over the ranks :math:`L \le r_j \le L + f` that :math:`o_j`'s cell allows.


T = TypeVar("T", bound="Lattice")


@frozen(kw_only=True)
class _Joint(QuantileMechanism, Generic[T]):
    """What the two forms share: a lattice of totals and the decay."""

    @property
    @abstractmethod
    def lattice(self) -> T:
        """What the draw aims at."""

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """The greatest decay that keeps the promise, for one row a person."""

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A draw of range :math:`\varepsilon`: the proof moves weights, and their sum cancels.

        *Checked by* ``test_whole_curve[quantiles.joint.add_remove]`` and
        ``[quantiles.jointexp.substitute]``.
        """
        return (Part.range(self.epsilon),)

    @cached_property
    def c(self) -> float:
        """The decay, a little below its bound, so that rounding is paid for."""
        return float(self.bound * (1 - FLOATS) / self.rows)

    def check(self) -> None:
        """Refuse an epsilon that does not pay for the rounding of so many aims."""
        m = self.lattice.m
        rounding = 4 * m * (3 * 700 / self.c + 2200) * 2.0**-53
        if rounding > float(FLOATS * self.epsilon):
            raise ParameterError(
                "epsilon",
                f"be large enough for the rounding of {m} quantiles",
                str(self.epsilon),
                "Use 0.001 or more for each row of a person, such as {epsilon}.",
                epsilon=self.rows,
            )

    def windows(self, n: int) -> list[tuple[int, int]]:
        distance = first_reach(len(self.orders)) / self.c
        far = [(round(q * n), int(max(q, 1 - q) * distance) + 8) for q in self.orders]
        return [(middle - half, middle + half) for middle, half in far]

    def cut(self, x: Points, source: Source) -> Cut:
        """Draw the total's number, the ticks, and the ranks at which these cut the records."""
        return JointSampler(x, self.lattice, self.c).draw(source)

    def one(self, x: Points, source: Source) -> list[int]:
        return self.kept(self.cut(x, source))

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        sampler = JointSampler(x, self.lattice, self.c)
        return [self.kept(sampler.draw(source)) for _ in range(size)]

    @abstractmethod
    def kept(self, cut: Cut) -> list[int]:
        """Return what a draw tells: the ranks are never told."""

    def error(self, beta: Number = 0.05, n: int | None = None) -> float:
        r"""Return a bound that all rank errors keep for n records; for any number without n.

        Aiming at the nearest total, some tuple has distances :math:`\sum|d_j| \le h/2 + m` and, the
        records of a cell being spread, a weight of at least :math:`(n+1)^{-m}` of its volume; all
        tuples whose distances pass that by :math:`x` weigh at most `far` times :math:`B^m e^{-cx}`
        (``test_joint_far_tuples_weigh_no_more``). No rank errs by more than the distances' sum and
        1/2, by which a target is rounded; m covers it, since distances from the targets themselves
        are h/2.
        """
        m, h = self.lattice.m, getattr(self.lattice, "h", 0)
        most = 1 << 62 if n is None else n + 1
        logs = m * (log(self.cells) + log(most)) - log(read_beta(beta))
        x = logs / self.c
        while logs + log(self.far(x)) > self.c * x:
            x *= 2
        for _ in range(4):
            x = (logs + log(self.far(x))) / self.c
        return h / 2 + m + x

    def far(self, x: float) -> float:
        r"""Return how many totals count where the distances pass :math:`h/2 + m` by ``x``.

        .. math:: \frac{2x + 2m}{h} + 2 + \frac{2}{1 - e^{-ch}}

        Distances of :math:`s = x + h/2 + m` weigh :math:`e^{-cs}` for each of the at most
        :math:`2s/h + 1` totals within :math:`s` of n; the distances are no less than that of the
        total, so those beyond weigh a geometric series on each side. Without totals it is 1.
        """
        h = getattr(self.lattice, "h", 0)
        if not h:
            return 1.0
        return 2 * (x + self.lattice.m) / h + 2 - 2 / expm1(-self.c * h)

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        del n
        return joint_error(self.lattice.orders, read_beta(beta)) / self.c


@frozen(kw_only=True)
class JointFree(_Joint[FreeTotal]):
    r"""JointExp whose total is a coordinate of the draw.

    Drawn is a pair :math:`(k, o)` with weight :math:`W_D(o)` for the targets of the total
    :math:`N = hk`: :math:`T_j = \lfloor q_j N + \tfrac12 \rfloor`.

    Notes
    -----
    *Claim*: :math:`2c`-private under ``ADD_REMOVE`` and :math:`4c`-private under ``SUBSTITUTE``.
    *Proof*. Fix :math:`(k, o)`: the targets do not depend on the data. Let :math:`D'` be :math:`D`
    with one more record, in cell :math:`v`. Spread the records of every cell uniformly and
    independently over it: :math:`W_D(o)` is, up to a factor that depends on :math:`o` alone, the
    mean of :math:`\prod_j e^{-c|n_j - t_j|}` over the spreads and over the positions of the
    quantiles in their cells, :math:`n_j` being the records between neighbouring quantiles. Give the
    common records of :math:`D` and :math:`D'` the same positions: the new record adds 1 to exactly
    one :math:`n_j`, so every term moves by a factor within :math:`e^{\pm c}`, and so does the mean.
    The normaliser, a sum of such weights over a space that does not depend on the data, moves by
    as much again. A replaced record is one removed and one added. Several rows of one person: so
    many steps. *Checked by* ``test_joint_laws_keep_the_claim`` and
    ``test_joint_constants_cannot_be_raised``.

    *Claim*: not knowing the number of records costs next to nothing: the gaps' errors are
    :math:`m + 1` free Laplace variables, and the ranks err like a bridge.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021.

    Examples
    --------
    >>> deciles = JointFree(epsilon=1, q=[i / 10 for i in range(1, 10)], cells=1000)
    >>> deciles.lattice.h
    20
    """

    @property
    def bound(self) -> Fraction:
        """The greatest decay that keeps the promise, for one row a person."""
        return self.epsilon / (4 if self.substitutes else 2)

    @cached_property
    def lattice(self) -> FreeTotal:
        h = max(1, round(spacing(len(self.orders)) * self.rows / self.bound))
        return FreeTotal(self.orders, h)

    def kept(self, cut: Cut) -> list[int]:
        return [cut[0], *cut[1]]

    def published(self, drawn: Drawn) -> NDArray[np.int64]:
        """Return the ticks; the total is left out."""
        return np.asarray(drawn[1:], np.int64)

    def total(self, drawn: Drawn) -> int:
        return int(self.lattice.h * drawn[0])

    def support(self) -> NDArray[np.int64]:
        """Return all ascending ticks for each total; the last stands for all from it on."""
        tuples = self._all(combinations_with_replacement(range(self.cells), self.lattice.m))
        ks = np.repeat(np.arange(self.totals), len(tuples))
        return np.column_stack((ks, np.tile(tuples, (self.totals, 1))))

    @property
    def totals(self) -> int:
        """How many totals the law tells apart: enough for a few dozen records."""
        return int((80 / self.c + 64) / self.lattice.h) + 3

    @property
    def log_volume(self) -> float:
        r"""The logarithm of :math:`B^m/m!`, the volume of all ascending tuples."""
        m = self.lattice.m
        return m * log(self.cells) - lgamma(m + 1)

    def law(self, x: Points) -> Law:
        """Return the law of the total's number and the ticks, as rows of `support`."""
        logs = joint_log_weights(x, self.lattice.targets(x.n, range(self.totals)), self.c)
        return free_law(logs, x.n, self.lattice, self.c, self.log_volume)


@frozen(kw_only=True)
class JointExp(_Joint[OfRecords]):
    r"""The published JointExp: targets :math:`t_j = w_j n`, :math:`w_j = q_j - q_{j-1}`.

    Notes
    -----
    *Claim*: with :math:`c = \varepsilon / (4(1 - \min w))` private under ``ADD_REMOVE``: one record
    more raises :math:`n`, so :math:`\sum_j|n_j - w_j n|` moves by at most
    :math:`2(1 - w_j)`. Under ``SUBSTITUTE`` :math:`c = \varepsilon/4`: a replaced record moves two
    gaps by 1, one that goes missing moves as above, less than 2. The targets are not rounded:
    rounding them would let several move at once. *Checked by* ``test_joint_laws_keep_the_claim``.

    References
    ----------
    .. [1] J. Gillenwater, M. Joseph, A. Kulesza, "Differentially private quantiles", ICML 2021.
    """

    @property
    def bound(self) -> Fraction:
        """The greatest decay that keeps the promise, for one row a person."""
        ends = (Fraction(0), *self.orders, Fraction(1))
        least = min(b - a for a, b in pairwise(ends))
        return self.epsilon / (4 if self.substitutes else 4 * (1 - least))

    @cached_property
    def lattice(self) -> OfRecords:
        return OfRecords(self.orders)

    def kept(self, cut: Cut) -> list[int]:
        return cut[1]

    def law(self, x: Points) -> Law:
        """Return the law of the ticks, as rows of `support`."""
        logs = joint_log_weights(x, self.lattice.targets(x.n, [0]), self.c)
        return Law.finite(logs[0], slack=1e-11)


def joint_log_weights(x: Points, rows: Targets, c: float) -> NDArray[np.float64]:
    r"""Return :math:`\ln W_D(o)` for all ascending tuples, by going through all ranks.

    The definition itself, written apart from the sampler it judges: for small inputs. A row of the
    result for each row of targets.
    """
    return np.asarray(np.logaddexp.reduce(by_ranks(x, rows, c)[1], axis=-1))


def free_law(
    logs: NDArray[np.float64], n: int, lattice: FreeTotal, c: float, log_volume: float = 0.0
) -> Law:
    r"""Return the law of a total and what is drawn with it, from a row of log weights for each.

    The last row stands for all totals from it on. Far enough out these are geometric, each total
    weighing :math:`e^{-ch}` times the one before, so the law is exact. Where the rows do not reach
    as far, what they leave out is bounded: for the total :math:`hk` everything together weighs
    :math:`e^{-c|hk - n|}` times the volume.
    """
    last, beyond = len(logs) - 1, -np.inf
    if lattice.beyond(n, -1) <= last:
        logs = logs.copy()
        logs[last] += lattice.log_tail(c)
    else:
        missed = lattice.h * (last + 1) - n
        before = ceil(max(-missed, 0) / lattice.h)
        beyond = log_volume - c * max(missed, 0) + log(before + exp(lattice.log_tail(c)))
    return Law.of(
        np.arange(logs.size),
        np.ones(logs.size, np.int64),
        logs.ravel(),
        np.zeros(logs.size),
        log_beyond=beyond,
        slack=1e-11,
    )


def by_ranks(
    x: Points, rows: Targets, c: float
) -> tuple[list[tuple[int, ...]], NDArray[np.float64]]:
    r"""Return all ascending rank tuples, and :math:`\ln W_D(o)` by the ranks at which o cuts.

    The logarithms are an array by rows of targets, ticks o and ranks.
    """
    counts = np.bincount(list(x), minlength=x.cells)
    below = np.concatenate(([0], np.cumsum(counts)))
    shift = np.zeros(rows.m + 1) if rows.shift is None else rows.shift
    t = np.diff(rows.T, prepend=0) + shift
    ranks = list(combinations_with_replacement(range(x.n + 1), rows.m))
    r = np.array(ranks)
    gaps = np.diff(r, axis=1, prepend=0, append=x.n)
    logs = -c * np.abs(gaps - t[:, None, :]).sum(axis=-1)
    o = np.array(list(combinations_with_replacement(range(x.cells), rows.m)))[:, None, :]
    allowed = ((below[o] <= r) & (r <= below[o + 1])).all(axis=-1)
    cells = np.where(allowed, _cells(o[:, 0, :], counts)[:, None], -np.inf)
    return ranks, logs[:, None, :] + cells


def _cells(o: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Return :math:`\sum_{\text{cells}} \ln f!/(f+k)!` for each tuple of ticks."""
    earlier = np.array([(o[:, :j] == o[:, j : j + 1]).sum(axis=1) for j in range(o.shape[1])])
    return np.asarray(-np.log(counts[o] + earlier.T + 1.0).sum(axis=1))
