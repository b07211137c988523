"""JointExp: all quantiles in one draw, and the sampler of its ranks."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations_with_replacement, pairwise
from math import ceil, exp, expm1, lgamma, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from attrs import frozen

from sourdine import noise
from sourdine.central.quantiles.algorithm import (
    FLOATS,
    Fixed,
    FreeTotal,
    OfRecords,
    QuantileMechanism,
    joint_error,
    narrow_spacing,
    spacing,
)
from sourdine.central.quantiles.chain import (
    LONGEST,
    Chain,
    LongChain,
    OrderedChain,
    RankMasses,
    Targets,
    TooWideError,
    draw_outside,
    heavy,
    slots_of,
)
from sourdine.errors import ParameterError
from sourdine.laws import Law
from sourdine.mechanisms.mechanism import read_beta
from sourdine.noise.selection import by_few_log_weights, by_few_weights
from sourdine.privacy import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central.quantiles.algorithm import Drawn, Totals
    from sourdine.central.quantiles.points import Points
    from sourdine.exact import Number
    from sourdine.noise import Source
    from sourdine.noise.source import Floats, Ints

    Piece = tuple[int, int, int, int]
    Cut = tuple[int, list[int], list[int]]
    Ranked = tuple[int, list[int], Callable[[Source], list[Piece] | None]]
    """A total's number, ranks in order, and what draws their pieces or refuses them."""


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
PLENTY = 200.0
"""Shells end where all cells together would weigh this much less than some tuple."""
PATIENCE = 100
LITTLE = 1e-3
SLACK = 1e-6


def first_reach(m: int) -> float:
    r"""Return the :math:`\Lambda` to read for at first; more is read when it does not suffice."""
    return REST + 35 + 4 * m


class JointSampler:
    """The joint law of a lattice's totals and of ticks, for some points.

    ``wanted`` says whether ranks may be drawn with a total's number; ``opened`` holds the bounds of
    all shells, the number of one, half the width of its window, and the chain of that.
    """

    __slots__ = (
        *("_bounds", "_c", "_half", "_inside", "_lattice", "_middle", "_points", "_q", "_rows"),
        *("_shell", "_wanted"),
    )

    def __init__(
        self,
        points: Points,
        lattice: Totals,
        c: float,
        wanted: Callable[[int, int, list[int]], bool] | None = None,
        opened: tuple[Floats, int, int, Chain] | None = None,
    ) -> None:
        self._points, self._lattice, self._c, self._wanted = points, lattice, c, wanted
        if opened is not None:
            self._bounds, self._shell, self._half, chain = opened
            self._inside, targets = (0, 0), lattice.targets(points.n, [0])
            self._rows: _Quick | _Ordered = _Quick(
                points, targets, c, self._half, 0, lambda *_: chain
            )
            return
        self._q = np.array(list(map(float, lattice.orders)))
        self._middle = np.rint(self._q * points.n).astype(np.int64)
        self._bounds = self._shells()
        self._grow(self._guess(), ordered=False)

    @property
    def _rest(self) -> float:
        return float(self._bounds[self._shell])

    def _grow(self, inside: float, *, ordered: bool) -> None:
        """Open the first window outside of which little is left, by a guess of what is inside."""
        while True:
            enough = self._bounds <= inside - REST
            self._shell = int(enough.argmax()) if enough.any() else len(enough) - 1
            self._open(float(SHELLS[self._shell]), ordered=ordered)
            if self._rest <= self._rows.log_least - REST or self._shell + 1 == len(enough):
                return
            inside = min(inside, self._rows.log_least) - LITTLE

    def _shells(self) -> Floats:
        r"""Return, for each :math:`\Lambda_i`, a bound on the log weight of what lies beyond.

        They end where all cells together would weigh too little.
        """
        q, c, x = self._q, self._c, self._points
        enough = len(q) * (log(x.cells) + log(x.n + 2)) + c * self._lattice.away(x.n) + PLENTY
        every = SHELLS[: int(SHELLS.searchsorted(enough)) + 1]
        radius = np.ceil(np.maximum(q, 1 - q) * (every[:, None] / c) + 3).astype(np.int64)
        radius += self._lattice.stray
        low, high = self._middle - radius, self._middle + radius
        volume = np.log(x.span(low.ravel(), high.ravel())).reshape(low.shape).sum(axis=1)
        rows = self._lattice.log_rows(np.asarray(every / c, np.float64), c)
        shells = -every[:-1] + volume[1:] + rows[1:]
        last = -every[-1] + len(q) * log(x.cells) + rows[-1]
        return np.asarray(np.logaddexp.accumulate(np.append(shells, last)[::-1])[::-1]) + SLACK

    def _guess(self) -> float:
        """Return about what the window will weigh: the mass near the targets, a total away."""
        inside = _log_mass_near(self._points, self._middle, self._c)
        return inside - 4 - self._c * self._lattice.away(self._points.n)

    def _open(self, reach: float, *, ordered: bool) -> None:
        distance = reach / self._c
        self._half = ceil(distance / 2) + 2
        first, last = self._lattice.inside(self._points.n, distance)
        self._inside = (first, last)
        targets = self._lattice.targets(self._points.n, range(first, last + 1))
        window = (self._points, targets, self._c, self._half)
        for chain in () if ordered else (Chain, LongChain):
            try:
                self._rows = _Quick(*window, first, chain)
            except TooWideError:
                continue
            return
        self._rows = _Ordered(*window, first)

    def draw(self, source: Source) -> tuple[int, list[int], list[int]]:
        """Draw the number of a total, the ticks, and the ranks at which they cut the records."""
        refused = 0
        while True:
            if refused == PATIENCE - 1 and isinstance(self._rows, _Quick):
                self._points = self._points.complete()
                self._grow(self._rows.log_least, ordered=True)
            if by_few_log_weights((0.0, self._rest - self._rows.log_total), source=source):
                drawn = self._outside(source)
            else:
                drawn = self._rows.draw(source)
            if drawn is not None:
                k, ranks, pieces_of = drawn
                if self._wanted is not None and not self._wanted(k, self._points.n, ranks):
                    continue
                pieces = pieces_of(source)
                if pieces is not None:
                    return k, _ticks(pieces, source), ranks
            refused += 1

    def _outside(self, source: Source) -> Ranked | None:
        reach = (*self._inside, self._half)
        whole = self._points.complete()
        drawn = draw_outside(whole, self._lattice, self._c, reach, self._rest, source)
        if drawn is None or _unordered(drawn[1]):
            return None
        return (*drawn, partial(_ordered_pieces, whole, drawn[1]))


class _Quick:
    """The window's rows by the fast chain: draws may be refused.

    ``log_total`` is what the draws are taken from, ``log_least`` bounds the rows' own weight.
    """

    __slots__ = (
        *("_args", "_beta", "_chain", "_coarse", "_exact", "_first"),
        *("log_least", "log_total"),
    )

    def __init__(
        self,
        points: Points,
        targets: Targets,
        c: float,
        half: int,
        first: int,
        chain: Callable[..., Chain],
    ) -> None:
        self._args, self._first, self._chain = (points, targets, c, half), first, chain
        rows = len(targets.T)
        block = 1 + int(1.2 / (c * targets.m)) if rows > 2 else 1
        self._coarse = chain(points, targets, c, half, block)
        self._beta = c * targets.m * (block - 1) * (1 + SLACK)
        self._exact: dict[int, Chain] = {}
        total = float(np.logaddexp.reduce(self._coarse.logs))
        self.log_least, self.log_total = total - self._beta, total + self._beta

    def draw(self, source: Source) -> Ranked | None:
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
        if _unordered(ranks):
            return None
        return self._first + row, ranks, partial(_ordered_pieces, points, ranks)


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

    def draw(self, source: Source) -> Ranked:
        logs = np.array([row.log_total for row in self._rows])
        row = noise.by_log_weight(logs, source=source)
        pieces = self._rows[row].draw(source)

        def shared(source: Source) -> list[Piece] | None:
            return pieces if _shared(pieces, self._heavy, source) else None

        return self._first + row, [piece[0] for piece in pieces], shared


def _unordered(ranks: list[int]) -> bool:
    return any(b < a for a, b in pairwise(ranks))


def _ordered_pieces(points: Points, ranks: list[int], source: Source) -> list[Piece] | None:
    r"""Draw what each rank's mass consists of; refuse what is out of order.

    :math:`k` quantiles in one empty run count :math:`\ell^k` times in the chain, in the law
    :math:`\ell^k/k!`.
    """
    if _unordered(ranks):
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
    inner = (noise.uniform_below(p[2], source=source) if p[2] > 1 else 0 for p in pieces)
    return sorted(piece[1] + i for piece, i in zip(pieces, inner, strict=True))


def _coin(p: float, source: Source) -> bool:
    return p >= 1 or by_few_weights((p, 1 - p), source=source) == 0


# ---- Many slices at once: the rows of one chain --------------------------------------------------
#
# Slices with as many quantiles are weighed together, in the widest of their windows: any window is
# right that leaves out little enough. Each is then drawn from its own row.


TOGETHER = 16
"""How many slices are weighed at once."""


def slice_samplers(
    parts: Sequence[Points], goals: Sequence[Sequence[int]], c: float
) -> list[JointSampler]:
    """Return what draws inside each slice, from its records and its cumulative targets."""
    made: dict[int, JointSampler] = {}
    lengths = [len(own) for own in goals]
    for length in set(lengths):
        alike = [i for i, own in enumerate(lengths) if own == length]
        for first in range(0, len(alike), TOGETHER):
            some = alike[first : first + TOGETHER]
            found: list[JointSampler] = []
            if len(some) > 1:
                near = np.array([goals[i] for i in some], np.int64)
                with suppress(TooWideError):
                    found = _weighed_together([parts[i] for i in some], near, c)
            found = found or [JointSampler(parts[i], Fixed.of(goals[i]), c) for i in some]
            made |= zip(some, found, strict=True)
    return [made[i] for i in range(len(parts))]


def _weighed_together(parts: list[Points], goals: Ints, c: float) -> list[JointSampler]:
    n = np.array([part.n for part in parts])
    bounds, inside = _slice_shells(parts, goals, c)
    inside -= 4 + c * np.abs(n - goals[:, -1])
    # Only what the records and the total differ by counts, so this stands for all slices at once.
    targets = Targets(0, np.column_stack((goals[:, :-1], goals[:, -1] - n)))
    while True:
        enough = bounds <= inside[:, None] - REST
        shell = int(np.where(enough.any(axis=1), enough.argmax(axis=1), len(SHELLS) - 1).max())
        half = ceil(float(SHELLS[shell]) / c / 2) + 2
        chain = _SliceChain(parts, targets, c, half)
        if shell + 1 == len(SHELLS) or bool(np.all(bounds[:, shell] <= chain.logs - REST)):
            break
        inside = np.minimum(inside, chain.logs) - LITTLE
    found = []
    for i, part in enumerate(parts):
        opened = bounds[i], shell, half, _SliceRow(chain, i)
        found.append(JointSampler(part, Fixed.of(goals[i].tolist()), c, opened=opened))
    return found


def _slice_shells(parts: list[Points], goals: Ints, c: float) -> tuple[Floats, Floats]:
    """Return the bounds of `JointSampler` for each slice, and about the mass near its targets."""
    m = goals.shape[1] - 1
    q = goals[:, :-1] / np.maximum(goals[:, -1:], 1)
    n = np.array([part.n for part in parts])
    far = np.maximum(q, 1 - q)[:, None, :] * (SHELLS[:, None] / c)
    radius = np.ceil(far + 3).astype(np.int64)
    radius = np.concatenate((np.full((len(parts), 1, m), max(1, int(1 / c))), radius), axis=1)
    middle = np.rint(q * n[:, None]).astype(np.int64)
    low, high = middle[:, None, :] - radius, middle[:, None, :] + radius
    spans = [part.span(low[i].ravel(), high[i].ravel()) for i, part in enumerate(parts)]
    volume = np.log(np.array(spans)).reshape(radius.shape).sum(axis=2)
    cells = np.array([[float(part.cells)] for part in parts])
    shells = np.concatenate((volume[:, 2:] - SHELLS[:-1], m * np.log(cells) - SHELLS[-1]), axis=1)
    beyond = np.logaddexp.accumulate(shells[:, ::-1], axis=1)[:, ::-1] + SLACK
    near = [  # an outline is too coarse to guess by
        volume[i, 0] if part.whole else _log_mass_near(part, middle[i], c)
        for i, part in enumerate(parts)
    ]
    return np.asarray(beyond), np.array(near)


def _log_mass_near(points: Points, ranks: Ints, c: float) -> float:
    """Return the log of the mass within 1/c of some ranks, multiplied."""
    near = max(1, int(1 / c))
    masses = (points.masses(i - near, i + near + 1).sum() for i in ranks.tolist())
    return sum(log(max(float(mass), 1e-300)) for mass in masses)


class _SliceChain(Chain):
    """A chain whose rows are slices, each with its own records."""

    __slots__ = ()

    def __init__(self, parts: list[Points], targets: Targets, c: float, half: int) -> None:
        self._targets, self._c, self._half, self._block = targets, c, half, 1
        self._a = np.arange(2 * half + 1) - float(half)
        begin = targets.T[:, :-1] + targets.S[:, None] - half
        masses = np.empty((targets.m, len(parts), 2 * half + 1))
        inside = np.arange(2 * half + 1)
        for i, part in enumerate(parts):
            low, high = int(begin[i, 0]), int(begin[i, -1]) + 2 * half + 1
            if part.whole:
                masses[:, i] = part.masses(low, high)[begin[i, :, None] - low + inside]
                continue
            for j, first in enumerate(begin[i].tolist()):
                masses[j, i] = part.masses(first, first + 2 * half + 1)
        most, least = float(masses.max()), float(masses.min(where=masses > 0, initial=np.inf))
        if not most or self.DEPTH * c * half + log(most / least) > LONGEST:
            raise TooWideError
        self._kept = []
        every = [RankMasses(partial(np.asarray, rows), 0.0) for rows in masses]
        self.logs = self._forward(every, keep=True)


class _SliceRow(Chain):
    """One row of a chain of slices."""

    __slots__ = ("_all", "_row")

    def __init__(self, every: _SliceChain, row: int) -> None:
        self._all, self._row = every, row
        self.logs = every.logs[row : row + 1]

    def draw(self, row: int, source: Source) -> list[int]:
        return self._all.draw(self._row, source)


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


@frozen(kw_only=True)
class _Joint(QuantileMechanism):
    """What the forms share: a lattice of totals and the decay."""

    steps: ClassVar[int] = 4
    """How often the rounding of one pass over all quantiles may count."""
    looks: ClassVar[float] = 1.0
    """How many times as far as usual a draw looks."""

    @property
    @abstractmethod
    def lattice(self) -> Totals:
        """What the draw aims at."""

    @property
    def bound(self) -> Fraction:
        """The greatest decay that keeps the promise, for one row a person."""
        return self.epsilon / (4 if self.substitutes else 2)

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
        rounding = self.steps * m * (3 * 700 / self.c + 2200) * 2.0**-53
        if rounding > float(FLOATS * self.epsilon):
            raise ParameterError(
                "epsilon", f"be large enough for the rounding of {m} quantiles", str(self.epsilon),
                "Use 0.001 or more for each row of a person, such as {epsilon}.", epsilon=self.rows,
            )  # fmt: skip

    def windows(self, n: int) -> list[tuple[int, int]]:
        distance = self.looks * first_reach(self.lattice.m) / self.c
        q = np.array(list(map(float, self.lattice.orders)))
        middle = np.rint(q * n).astype(np.int64) + np.array(self.offsets or 0, np.int64)
        half = (np.maximum(q, 1 - q) * distance).astype(np.int64) + 8
        return list(zip((middle - half).tolist(), (middle + half).tolist(), strict=True))

    @property
    def offsets(self) -> tuple[int, ...]:
        """How many ranks from its part of the total each aim lies, if they are moved."""
        return getattr(self.lattice, "offsets", ())

    def sampler(self, x: Points) -> JointSampler:
        return JointSampler(x, self.lattice, self.c)

    def one(self, x: Points, source: Source) -> list[int]:
        return self.kept(self.sampler(x).draw(source))

    def many(self, x: Points, size: int, source: Source) -> list[Drawn]:
        sampler = self.sampler(x)
        return [self.kept(sampler.draw(source)) for _ in range(size)]

    def kept(self, cut: Cut) -> list[int]:
        """Return what a draw tells, here the ticks: the ranks are never told."""
        return cut[1]

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
        return joint_error(self.lattice.orders, read_beta(beta)) / self.c


@frozen(kw_only=True)
class JointFree(_Joint):
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

    @cached_property
    def lattice(self) -> FreeTotal:
        h = max(1, round(spacing(len(self.orders)) * self.rows / self.bound))
        return FreeTotal(self.orders, h)

    def kept(self, cut: Cut) -> list[int]:
        return [cut[0], *cut[1]]

    def published(self, drawn: Drawn) -> Ints:
        return np.asarray(drawn[1:], np.int64)

    def total(self, drawn: Drawn) -> int:
        return int(self.lattice.h * drawn[0])

    def support(self) -> Ints:
        """Return all ascending ticks for each total; the last stands for all from it on."""
        tuples = combinations_with_replacement(range(self.cells), self.lattice.m)
        return with_totals(self._all(tuples), self.totals)

    @property
    def totals(self) -> int:
        """How many totals the law tells apart: enough for a few dozen records."""
        return int((80 / self.c + 64) / self.lattice.h) + 3

    @property
    def log_volume(self) -> float:
        m = self.lattice.m
        return m * log(self.cells) - lgamma(m + 1)

    def law(self, x: Points) -> Law:
        logs = joint_log_weights(x, self.lattice.targets(x.n, range(self.totals)), self.c)
        return free_law(logs, x.n, self.lattice, self.c, self.log_volume)


@frozen(kw_only=True)
class JointNearest(_Joint):
    r"""JointExp whose ranks are weighed by the total that they are nearest to.

    Ranks :math:`r_1 \le \ldots \le r_m` have the distance

    .. math:: S(r) = \min_{k \ge 0} \sum_j |r_j - r_{j-1} - t_j(hk)|

    and the ticks the weight :math:`W_D(o)` of JointExp with :math:`e^{-cS(r)}` in place of
    :math:`e^{-c\sum|n_j - t_j|}`. No total is drawn or told.

    Notes
    -----
    *Claim*: :math:`2c`-private under ``ADD_REMOVE`` and :math:`4c`-private under ``SUBSTITUTE``.
    *Proof*. As for `JointFree`: where the common records keep their positions, a record more adds 1
    to exactly one gap, so each of the sums moves by 1 at most, and so does the least of them: every
    term of the mean moves by a factor within :math:`e^{\pm c}`. *Checked by*
    ``test_joint_laws_keep_the_claim`` and ``test_joint_constants_cannot_be_raised``.

    *Claim*: ranks err less than with a total that is drawn: on average, where records lie densely,
    by 10% for two or three quantiles and by 2% for nine. *Checked by*
    ``test_the_nearest_total_errs_less``.

    *Claim*: the draw has this law. A total and ranks are drawn as for `JointFree`, until the total
    is the first of those nearest to the ranks, which sums of whole numbers decide. What is drawn
    then has a probability that is a quotient of two of `JointFree`, so twice the rounding is paid
    for. *Checked by* ``test_mechanisms_draw_what_the_law_says``.

    References
    ----------
    .. [1] M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010.

    Examples
    --------
    >>> quartiles = JointNearest(epsilon=1, q=[0.25, 0.5, 0.75], cells=1000)
    >>> quartiles.lattice.h
    6
    """

    steps: ClassVar[int] = 8

    @cached_property
    def lattice(self) -> FreeTotal:
        apart = Fraction(narrow_spacing(len(self.orders)))
        return FreeTotal(self.orders, max(1, round(apart * self.rows / self.bound)))

    def sampler(self, x: Points) -> JointSampler:
        # A total and ranks are drawn together until the total is the first of those nearest to the
        # ranks: what is left is one weight for each tuple of ranks, that of its nearest total.
        return JointSampler(x, self.lattice, self.c, self.lattice.is_nearest)

    def law(self, x: Points) -> Law:
        # The total 0 is at a distance of n, so totals beyond 2n are nearest to nothing.
        totals = range(2 * x.n // self.lattice.h + 2)
        logs = by_ranks(x, self.lattice.targets(x.n, totals), self.c)[1].max(axis=0)
        return Law.finite(np.logaddexp.reduce(logs, axis=-1), slack=1e-11)

    def far(self, x: float) -> float:
        return 1.0

    def expected(self, beta: Number = 0.05, n: int | None = None) -> float:
        return joint_error(self.lattice.orders, read_beta(beta), nearest=True) / self.c


@frozen(kw_only=True)
class JointExp(_Joint):
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
        ends = (Fraction(0), *self.orders, Fraction(1))
        least = min(b - a for a, b in pairwise(ends))
        return self.epsilon / (4 if self.substitutes else 4 * (1 - least))

    @cached_property
    def lattice(self) -> OfRecords:
        return OfRecords(self.orders)

    def law(self, x: Points) -> Law:
        logs = joint_log_weights(x, self.lattice.targets(x.n, [0]), self.c)
        return Law.finite(logs[0], slack=1e-11)


def with_totals(ticks: Ints, totals: int) -> Ints:
    """Return all rows of ticks with each total's number before them."""
    ks = np.repeat(np.arange(totals), len(ticks))
    return np.column_stack((ks, np.tile(ticks, (totals, 1))))


def joint_log_weights(x: Points, rows: Targets, c: float) -> Floats:
    r"""Return :math:`\ln W_D(o)` for all ascending tuples, by going through all ranks.

    The definition itself, written apart from the sampler it judges: for small inputs. A row of the
    result for each row of targets.
    """
    return np.asarray(np.logaddexp.reduce(by_ranks(x, rows, c)[1], axis=-1))


def free_law(logs: Floats, n: int, lattice: FreeTotal, c: float, log_volume: float = 0.0) -> Law:
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
        np.arange(logs.size), np.ones(logs.size, np.int64), logs.ravel(), np.zeros(logs.size),
        log_beyond=beyond, slack=1e-11,
    )  # fmt: skip


def by_ranks(x: Points, rows: Targets, c: float) -> tuple[list[tuple[int, ...]], Floats]:
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


def _cells(o: Ints, counts: Ints) -> Floats:
    r"""Return :math:`\sum_{\text{cells}} \ln f!/(f+k)!` for each tuple of ticks."""
    earlier = np.array([(o[:, :j] == o[:, j : j + 1]).sum(axis=1) for j in range(o.shape[1])])
    return np.asarray(-np.log(counts[o] + earlier.T + 1.0).sum(axis=1))
