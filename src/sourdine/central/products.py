r"""Noisy sums of products of several columns, drawn together: what a regression is computed from.

Column j has ticks :math:`t` from 0 to :math:`L_j`; :math:`u = t/L_j` and :math:`U = 2u - 1`. Wanted
are the sums over all complete records of 1, :math:`U_j`, :math:`U_j U_k` and, if asked for,
:math:`U_j^2`. What noise is added to decides how much of it they get.

*Cells* (Laplace noise, up to three columns). Released are the sums of

.. math:: \prod_j B_{k_j}(u_j), \qquad B_0 = (1-u)^2,\quad B_1 = 2u(1-u),\quad B_2 = u^2,

one for each combination of the :math:`k_j` (without squares :math:`1-u` and :math:`u`). They are
never negative, and those of one record add up to :math:`\prod_j (B_0+B_1+B_2) = 1`. So a record
that is added or removed moves all of them by 1 in total, in the L1 norm, wherever it lies, and all
of epsilon covers each; a replaced one moves them by 2 at most. The wanted sums are theirs with
signs: :math:`1 = B_0+B_1+B_2`, :math:`U = B_2-B_0` and :math:`U^2 = B_0-B_1+B_2`.

*Centred sums* (Gaussian noise, or more columns). Released are the sums of 1, :math:`U_j`,
:math:`U_jU_k` and :math:`1-U_j^2`. With d columns one record moves them by

.. math:: F(a) = 1 + \sum_j a_j + \sum_{j<k} a_j a_k + \sum_j (1-a_j^2), \qquad a_j = |U_j|,

in the L1 norm. It is largest where every :math:`a_j` is 1, so that the squares cost nothing: with
:math:`b_j = 1-a_j`,

.. math:: F(1)-F(a) = (d-2)\sum_j b_j + \sum_j b_j^2 - \sum_{j<k} b_jb_k \ge 0,

since :math:`\sum_{j<k} b_jb_k \le \frac{d-1}{2}\sum_j b_j^2` and :math:`\sum_j b_j^2 \le
\sum_j b_j`. So :math:`F \le 1 + d + d(d-1)/2`. The squared L2 norm is a convex function of the
:math:`a_j^2`, so it is largest at a corner; with m of the :math:`a_j` equal to 1 and the others 0
it is :math:`1 + d + m(m-1)/2`: again at most :math:`1 + d + d(d-1)/2`.

All sums are taken on a lattice of :math:`1/F`, F a public whole number. If F is a multiple of every
denominator they are on it already; otherwise each is rounded down, which moves it by less than a
step more, and the sensitivity has room for that.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import ceil, isqrt, lcm, prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from sourdine.central.ratio import Together
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer, kind
from sourdine.mechanisms import Gaussian
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import Mechanism, Specimen, register
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE, Guarantee, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.exact import Number
    from sourdine.laws import Law, Product
    from sourdine.noise import Source
    from sourdine.privacy import Part

    Whole = tuple[int, ...]
    Powers = tuple[Whole, ...]


LATTICE = 1 << 20
"""A record is at least this many steps of the lattice."""
SMALL = 64
"""Up to this common denominator all sums lie on the lattice, however coarse it may be."""
MOST_CELLS = 3
"""Columns up to which cells have less noise than centred sums, and their products fit 64 bits."""


def _lasts(x: Sequence[int]) -> Whole:
    if not isinstance(x, (tuple, list)) or not x:
        must = "hold the highest tick of each column"
        raise ParameterTypeError("lasts", must, kind(x), "Use {lasts}.", lasts=(4, 4))
    try:
        return tuple(integer(last, "lasts", least=1) for last in x)
    except (ParameterError, ParameterTypeError) as error:
        raise error.hinting("Use {lasts}.", {"lasts": (4, 4)}) from None


def _fineness(x: int) -> int:
    return integer(x, "fineness", least=1)


def _delta(x: Number) -> Fraction:
    return Fraction(0) if x == 0 else read.delta(x)


@frozen(kw_only=True)
class ProductSums(Mechanism["Whole"]):
    r"""Release sums of products of columns with noise on all of them at once.

    Parameters
    ----------
    epsilon, delta
        The promise; with a delta above 0 the noise is Gaussian, otherwise Laplace.
    lasts
        The highest tick of each column.
    squares
        Whether sums of squares are wanted too.
    relation, rows
        Which data sets are neighbours, and how many records one person may own.
    fineness
        A record is at least this many steps of the lattice.

    Notes
    -----
    The input holds the exact sums of products of powers of ticks that `powers` lists. *Claim*:
    (epsilon, delta)-differential privacy: no record moves the sums by more than `moves`, and a data
    set whose records lie at the worst places is moved that far. *Checked by*
    ``test_no_record_moves_the_sums_further`` for every record and every pair of records of small
    grids and ``test_exact_worst_case[regression.laplace]``.

    Examples
    --------
    >>> sums = ProductSums(epsilon=1, lasts=(4, 4), squares=False)
    >>> sums.powers, sums.exact
    (((0, 0), (0, 1), (1, 0), (1, 1)), True)
    >>> one = (1, 4, 0, 0)  # a record with the ticks 0 and 4
    >>> [x // sums.lattice for x in sums.numbers(one)]  # it is in one of the four corners
    [0, 1, 0, 0]
    """

    epsilon: Fraction = field(converter=read.epsilon)
    lasts: Whole = field(converter=_lasts)
    delta: Fraction = field(default=Fraction(0), converter=_delta)
    squares: bool = True
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    rows: int = field(default=1, converter=read.rows)
    fineness: int = field(default=LATTICE, converter=_fineness)

    # ---------------------------------------------------------------- what is released

    @property
    def cells(self) -> bool:
        """Whether cells are released, not centred sums."""
        return not self.delta and len(self.lasts) <= MOST_CELLS

    @cached_property
    def powers(self) -> Powers:
        d, degree = len(self.lasts), 2 if self.squares else 1
        every = product(range(degree + 1), repeat=d)
        return tuple(own for own in every if self.cells or sum(own) <= 2)

    @cached_property
    def _released(self) -> tuple[tuple[int, tuple[tuple[Whole, int], ...]], ...]:
        """For each sum its denominator, and the powers of ticks that its numerator is made of."""
        wanted = {"cells": self.cells, "squares": self.squares}
        columns, found = [_polynomials(last, **wanted) for last in self.lasts], []
        for own in self.powers:  # of the cell, or of each centred column
            parts = [columns[j][k] for j, k in enumerate(own)]
            numerator = [  # each product of powers occurs once
                (tuple(power for power, _ in terms), prod(c for _, c in terms))
                for terms in product(*(enumerate(part[1]) for part in parts))
                if all(c for _, c in terms)
            ]
            found.append((prod(part[0] for part in parts), tuple(numerator)))
        return tuple(found)

    @cached_property
    def lattice(self) -> int:
        """F, the number of steps that one record is."""
        least = self.fineness * max(1, ceil(self.epsilon / 1024))
        common = lcm(*(denominator for denominator, _ in self._released))
        return common * -(-least // common) if common <= max(least, SMALL) else least

    @property
    def exact(self) -> bool:
        """Whether every sum lies on the lattice, so that none is rounded."""
        return all(self.lattice % denominator == 0 for denominator, _ in self._released)

    def numbers(self, x: Whole) -> Whole:
        """Return the sums beneath the noise, in steps of the lattice."""
        sums = dict(zip(self.powers, x, strict=True))
        return tuple(
            self.lattice * sum(c * sums[own] for own, c in numerator) // denominator
            for denominator, numerator in self._released
        )

    # ---------------------------------------------------------------- the noise

    @property
    def moves(self) -> int:
        """How far one record moves the sums: in the L1 norm, or squared in the L2 norm."""
        d = len(self.lasts)
        return 1 if self.cells else 1 + d + d * (d - 1) // 2

    @cached_property
    def noise(self) -> Together | Gaussian:
        """What adds the noise.

        A replaced record is one removed and one added. Of centred sums it does not move the first,
        the number of records, so the others move by twice the rest; one that becomes missing moves
        all, by less than that.
        """
        replaced, rounded = self.relation is SUBSTITUTE, 0 if self.exact else len(self.powers)
        own: dict[str, Any] = {"epsilon": self.epsilon, "relation": self.relation}
        steps = self.rows * self.lattice
        if not self.delta:
            least = self.moves if self.cells else self.moves - 1
            moves = (2 * least if replaced else self.moves) * steps
            return Together(sensitivity=moves + rounded, **own)
        squared = (4 * (self.moves - 1) if replaced else self.moves) * steps**2
        sensitivity = _root(squared) + _root(rounded)
        return Gaussian(delta=self.delta, sensitivity=sensitivity, method="zcdp", **own)

    @cached_property
    def scale(self) -> float:
        own = self.noise
        steps = sqrt(float(own.variance)) if isinstance(own, Gaussian) else float(own.scale)
        return steps / self.lattice

    @cached_property
    def guarantee(self) -> Guarantee:
        return self.noise.guarantee

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.noise.parts

    def read(self, x: object) -> Whole:
        size = len(self.powers)
        if isinstance(x, tuple) and len(x) == size and all(type(v) is int for v in x):
            return x
        must, hint = f"be a tuple of {size} whole numbers", "Pass the sums that powers lists."
        raise ParameterTypeError("the input", must, kind(x), hint)

    def _input(self, x: Whole) -> Any:
        numbers = self.numbers(x)
        return numbers if isinstance(self.noise, Together) else np.array(numbers, np.int64)

    def draw(self, x: Whole, size: int | None, source: Source) -> Any:
        drawn = self.noise.draw(self._input(x), size, source)
        return drawn if size is not None else tuple(int(v) for v in np.ravel(drawn))

    def draw_all(self, xs: Sequence[Whole], source: Source) -> list[Any]:
        drawn = self.noise.draw_all([self._input(x) for x in xs], source)
        return [tuple(int(v) for v in own) for own in drawn]

    def outcome(self, release: Any) -> Any:
        return np.array(release.value, object)

    def law(self, x: Whole) -> Law | Product:
        return self.noise.law(self._input(x))

    def loss(self, x: Whole, y: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(np.abs(np.asarray(y) - np.array(self.numbers(x), object)), np.float64)

    def error(self, beta: Number = 0.05) -> float:
        return self.noise.error(beta)

    # ---------------------------------------------------------------- neighbours

    def record(self, ticks: Sequence[int]) -> Whole:
        """Return the input of a single record."""
        return tuple(prod(map(pow, ticks, own)) for own in self.powers)

    def neighbours(self, x: Whole) -> Iterator[Whole]:
        """Yield what the records of one person can make of the sums, on a small grid."""
        found = {x}
        for _ in range(self.rows):
            found |= {moved for own in found for moved in self._moved(own)}
        yield from sorted(found)

    def _moved(self, x: Whole) -> Iterator[Whole]:
        records = [self.record(t) for t in product(*(range(last + 1) for last in self.lasts))]
        pairs = [((0,) * len(x), own) for own in records]
        if self.relation is SUBSTITUTE:
            pairs += combinations(records, 2)
        for one, two in pairs:
            for sign in (1, -1):
                yield tuple(a + sign * (b - c) for a, b, c in zip(x, one, two, strict=True))

    def adjacent(self, x: Whole, y: Whole) -> bool:
        return self.noise.adjacent(self._input(x), self._input(y))

    # ---------------------------------------------------------------- what is read off it

    def loads(self) -> NDArray[np.float64]:
        r"""Return the matrix of sums of :math:`Z_iZ_j`, :math:`Z = (1, U_1, \ldots, U_d)`.

        The last axis holds what each released sum, in records, weighs in an entry. Without squares
        the diagonal beyond the first entry is not known, and is zero.
        """
        d, places = len(self.lasts), {own: i for i, own in enumerate(self.powers)}
        found = np.zeros((d + 1, d + 1, len(self.powers)))
        for i, j in product(range(d + 1), repeat=2):
            power = tuple((i == k) + (j == k) for k in range(1, d + 1))
            if 2 in power and not self.squares:
                continue
            if self.cells:
                signs = [SIGNS[self.squares][p] for p in power]
                for own, place in places.items():
                    found[i, j, place] = prod(signs[j_][k] for j_, k in enumerate(own))
            else:
                found[i, j, places[power]] = -1 if 2 in power else 1
                if 2 in power:  # its square is 1 less what is released
                    found[i, j, places[(0,) * d]] = 1
        return found


SIGNS = {True: ((1, 1, 1), (-1, 0, 1), (1, -1, 1)), False: ((1, 1), (-1, 1))}
"""What the cells of one column weigh in the powers 0, 1 and 2 of U."""


def _polynomials(last: int, *, cells: bool, squares: bool) -> list[tuple[int, Whole]]:
    """Return for each index a denominator and the coefficients of the powers of t above it."""
    if cells and squares:
        top = last * last
        return [(top, (top, -2 * last, 1)), (top, (0, 2 * last, -2)), (top, (0, 0, 1))]
    if cells:
        return [(last, (last, -1)), (last, (0, 1))]
    one = (1, (1,)), (last, (-last, 2))
    return [*one, (last * last, (0, 4 * last, -4))] if squares else list(one)


def _root(x: int) -> int:
    return isqrt(x - 1) + 1 if x else 0


register(Specimen(
    name="regression.laplace", tight=True, draws=20_000, also=("correlation.laplace",),
    make=lambda epsilon: ProductSums(epsilon=epsilon, lasts=(1, 2), fineness=1),
    inputs=((0,) * 9, ProductSums(epsilon=1, lasts=(1, 2)).record((1, 1))),
))  # fmt: skip
register(Specimen(
    name="regression.laplace.centred", tight=True, draws=10_000, inputs=((0,) * 15,),
    make=lambda epsilon: ProductSums(epsilon=epsilon, lasts=(1, 1, 1, 1), fineness=1),
))  # fmt: skip
register(Specimen(
    name="regression.gaussian", tight=False, draws=10_000, inputs=((0, 0),),
    also=("covariance.gaussian", "correlation.gaussian"),
    make=lambda epsilon: ProductSums(
        epsilon=epsilon, delta=Fraction(1, 10**6), lasts=(1,), squares=False, fineness=1
    ),
    # A lattice this coarse rounds the sensitivity up, from 1.41 to 2 steps, and converting
    # concentrated privacy to delta loses 7% of epsilon.
    weaker=Fraction(8, 5),
))  # fmt: skip
register(Specimen(
    name="covariance.laplace", tight=True, draws=20_000, inputs=((0,) * 4,),
    make=lambda epsilon: ProductSums(
        epsilon=epsilon, lasts=(2, 3), squares=False, relation=SUBSTITUTE, fineness=1
    ),
))  # fmt: skip
