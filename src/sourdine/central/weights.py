r"""Records that count with a weight, such as the weights of a survey.

A weight is a number of a column between 0 and a public upper end. It is clamped and rounded to the
points :math:`0, s, 2s, \ldots, Js` of a public lattice, and one that is missing is 0. All that is
drawn of weighted records is made of sums of integers: :math:`\sum w` and :math:`\sum w t`, with
:math:`w` from 0 to J and ticks :math:`t`.

**A record of weight w counts as w records would that are equal to it.** So one record moves what is
drawn by at most what J records may move it, all of which are added, removed or replaced by equal
ones: the noise is J times that of records without weights, in units of s. It need not be more, as a
record may have the largest weight, and less would not cover it. *Checked by*
``test_the_exact_worst_case_of_a_weighted_record``. In detail, for a record that is replaced:

* a count moves by :math:`|w' - w| \le J`;
* a sum of :math:`w v` with values :math:`v` between a and b moves within the range of a record's
  part, from :math:`J\min(a, 0)` to :math:`J\max(b, 0)`;
* the two numbers of a ratio of ticks from 0 to L (`sourdine.central.ratio`),
  :math:`S = \sum w(2t - L)` and :math:`C = L\sum w`, move together by
  :math:`|w'(2t' - L) - w(2t - L)| + L|w' - w| \le L(w + w') + L|w' - w| = 2L\max(w, w') \le 2LJ`;
* the three sums of a variance (`sourdine.central.variance`), of which a record has parts that add
  up to its weight, move by :math:`w + w' \le 2J` together;
* the counts of two bins, and of the nodes on one level of a tree (`sourdine.central.cdf`), move by
  :math:`w + w' \le 2J` together;
* for quantiles it is J records that are replaced, added or removed, some of each if w and w'
  differ: that is one person with J records (`rows`), for which all of their mechanisms are proved.

**Strata.** With the strata of the design a quarter of epsilon pays for the variance that drawing
the survey has (`StrataSums`). Let :math:`v = w/J` and u the value as a fraction of its range,
:math:`a = vu`, :math:`b = v(1-u)` and :math:`c = 1-v`; of a missing value or weight c is 1. Then
:math:`a, b, c \ge 0` add up to 1, so the six terms of :math:`(a+b+c)^2` are never negative and add
up to 1 as well: released for each stratum, they move by 1 in all for a record that is added or
removed and by 2 for one that is replaced, also into another stratum. From them follow, for any
:math:`z = xa + yb`, the number of records :math:`n_h` of a stratum, :math:`\sum z` and
:math:`\sum z^2`, and so the variance of a total under sampling with replacement inside strata,

.. math:: \sum_h \frac{n_h}{n_h-1}\sum_{i\in h}(z_i - \bar z_h)^2.

For a weighted sum x and y are its bounds; for a ratio, whose line at the truth p is
:math:`\sum(1-p)a - pb`, they are :math:`1-p` and :math:`-p`. An upper bound of the variance, which
fails with a tenth of the risk, goes into Fieller's interval, with weighted sums of many records
taken for normal.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from attrs import field, frozen

from sourdine.central.intervals import FINE, KNOTS, accepted, lower_risks
from sourdine.central.moments import noise_quantile
from sourdine.central.ratio import UnitSums
from sourdine.central.statistic import Statistic
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.frames.cells import Ticks
from sourdine.frames.grouped import Partition
from sourdine.grid import Grid
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import WHAT, param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.ratio import Ratio
    from sourdine.exact import Number
    from sourdine.frames.frame import Frame
    from sourdine.frames.grouped import WeightedRows
    from sourdine.parameters.converters import Bounds
    from sourdine.privacy import Part

    Floats = NDArray[np.float64]


def read_weights(x: str | None) -> str | None:
    return converters.name(x, "weights", "weight")


def read_strata(x: str | None) -> str | None:
    return converters.name(x, "strata", "region")


def read_strata_keys(x: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return converters.listed(x, "strata_keys", ["north", "south"])


def read_weight_bounds(x: Sequence[Number] | None) -> Bounds | None:
    if x is None:
        return None
    pair = x if isinstance(x, (list, tuple)) else ()
    numbers = [v for v in pair if isinstance(v, (int, float, Fraction)) or hasattr(v, "as_tuple")]
    if len(pair) != 2 or len(numbers) != 2 or numbers[0] != 0:
        raise ParameterError(
            "weight_bounds", "be 0 and the largest weight",
            " and ".join(map(given, pair)) if len(numbers) == 2 else given(x),
            "A record without a weight counts as 0. Use {weight_bounds}.", weight_bounds=(0, 10),
        )  # fmt: skip
    try:
        return converters.bounds(pair)
    except ParameterError as error:
        raise error.renamed(bounds="weight_bounds") from None


# ---- The variance that the design has, from six sums of each stratum -----------------------------


SHARE = Fraction(1, 4)
"""The part of epsilon that pays for the variance of the design."""
FINEST = 1 << 12
RISK = 0.1
"""The part of the risk that the variance is larger than its bound."""
POWERS = tuple(product(range(3), range(3)))


@frozen(kw_only=True, slots=False)
class StrataSums(UnitSums):
    """The six sums of each stratum, with noise, for highest ticks of weights and of values.

    Notes
    -----
    *Claim*: the sums of all strata move by at most 1, or 2, in all. *Checked by*
    ``test_no_record_moves_the_sums_of_strata_further``.
    """

    heaviest: int
    last: int

    @property
    def whole(self) -> int:
        return (self.heaviest * self.last) ** 2

    @cached_property
    def boost(self) -> int:
        return max(1, -(-FINE // self.whole))

    @cached_property
    def scale(self) -> float:
        """The scale of the noise, in records, a step of its lattice included."""
        return float(self.mechanism.scale / self.filled) * (1 + 1 / FINE)

    def sums(self, records: int, found: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
        """Return the six sums of a stratum, from its number of records and the products found.

        These are of powers of the ticks of weights and values, where both are there.
        """
        j, last = self.heaviest, self.last
        s = {power: self.boost * found[power] for power in POWERS}
        gone = self.boost * records - s[0, 0]
        return (
            last * last * (j * j * (s[0, 0] + gone) - 2 * j * s[1, 0] + s[2, 0]),
            2 * last * (j * s[1, 1] - s[2, 1]),
            2 * last * (j * last * s[1, 0] - j * s[1, 1] - last * s[2, 0] + s[2, 1]),
            s[2, 2],
            2 * (last * s[2, 1] - s[2, 2]),
            last * last * s[2, 0] - 2 * last * s[2, 1] + s[2, 2],
        )

    def variance(self, drawn: Sequence[Sequence[int]], x: float, y: float, beta: float) -> float:
        """Return a bound on the variance of the sum of xa + yb, which fails with ``beta``.

        Where the noise hides the number of records of a stratum, its mean is not subtracted.
        """
        own = np.array(drawn, float) / self.filled
        line = np.array([0, x / 2, y / 2, x, (x + y) / 2, y])
        square = np.array([0, 0, 0, x * x, x * y, y * y])
        n, z, q = own.sum(1), own @ line, own @ square
        noisy = 2 * self.scale**2 * float(line @ line)
        known = n > np.maximum(ENOUGH * self.scale, 1.5)
        there = np.where(known, n, np.inf)
        grown = np.where(known, n / np.where(known, n - 1, 1), 1.0)
        mean = np.where(known, z / there, 0.0)
        least = np.maximum(mean * z - noisy / there, 0.0)
        found = float((grown * (q - least)).sum())
        weights = grown[:, None] * (square - 2 * mean[:, None] * line + mean[:, None] ** 2)
        off = noise_quantile(weights.ravel() * self.scale, 0.0, min(2 * beta, 1.0))
        rest = SECOND * noisy * sqrt(float(((grown / there) ** 2).sum()))
        return max(found + off + rest, 0.0)


ENOUGH = 40.0
"""Records of a stratum, in scales of the noise, from which its mean is known well enough."""
SECOND = 5.0
"""Standard deviations, and more, of what is of second order in the noise of a mean."""


@frozen(kw_only=True, slots=False)
class Weighted(Statistic):
    """A statistic whose records may count with a weight."""

    weights: str | None = field(default=None, converter=read_weights, metadata=param(
        kinds.TEXT, "The column that holds the weight of each record, such as a survey's. Needs "
        "weight_bounds.", group=WHAT,
    ))  # fmt: skip
    weight_bounds: Bounds | None = field(default=None, converter=read_weight_bounds, metadata=param(
        kinds.FROM_0, "0 and the largest weight, from public knowledge. Larger weights are "
        "clamped; a missing or negative weight is 0.", group=WHAT,
    ))  # fmt: skip

    def __attrs_post_init__(self) -> None:
        self._check_weights()
        super().__attrs_post_init__()

    def _check_weights(self) -> None:
        if self.weights is None:
            converters.unused(self.weight_bounds, "weight_bounds", "without weights")
            return
        if self.weight_bounds is None:
            must = "be given with weights, as the largest weight decides the noise"
            hint = "Use {weight_bounds} from public knowledge."
            raise ParameterError("weight_bounds", must, "", hint, weight_bounds=(0, 10))
        for name, why in (
            ("per_person", "a person's rows may have different weights"),
            ("population", "its intervals are of records that count alike"),
        ):
            if getattr(self, name, None):
                must, tries = f"be omitted with weights: {why}", {name: LEFT_OUT}
                raise ParameterError(name, must, "", f"Omit {{{name}}}.", **tries)
        if self.kind == "mean" and getattr(self, "method", "") == "exponential":
            must, got = "be 'laplace' or 'gaussian' with weights", "'exponential'"
            raise ParameterError("method", must, got, "Use {method}.", method="laplace")
        if getattr(self, "missing", "") in {"middle", "no"}:
            must = "be 'exclude' with weights, whose sum is private"
            raise ParameterError("missing", must, "", "Omit {missing}.", missing=LEFT_OUT)
        self._check_found()

    def _check_found(self) -> None:
        """Refuse to find anything: it would be found of records that count alike."""
        words = ["yes", "no"]
        for name, example in (
            ("bounds", (0, 120)), ("rows", 1), ("categories", words), ("keys", words)
        ):  # fmt: skip
            asked = getattr(self, name, None)
            if converters.is_unknown(asked) or asked == converters.UNKNOWN:
                must = "be given with weights, and not found"
                hint = f"Use {{{name}}} from public knowledge."
                raise ParameterError(name, must, given(asked), hint, **{name: example})

    @cached_property
    def weight(self) -> Ticks | None:
        if self.weights is None or self.weight_bounds is None:
            return None
        return Ticks(self.weights, self.weight_grid(*self.weight_bounds))

    @staticmethod
    def weight_grid(lower: Any, upper: Any) -> Grid:
        return Grid(lower, upper)

    @property
    def copies(self) -> int:
        return self.rows if self.weight is None else self.rows * self.weight.grid.last

    def counted(self, data: Frame) -> Frame:
        return data if self.weight is None else data.weighted(self.weight)

    @property
    def weight_step(self) -> Fraction:
        """The step of the lattice of weights; 1 where records count alike."""
        return Fraction(1) if self.weight is None else self.weight.grid.step

    def of_units(self, units: Any) -> Any:
        """Return a number of records as it is, or a sum of weights."""
        return units if self.weight is None else units * float(self.weight_step)

    def in_units(self, n: int) -> int:
        """Return a number of records, or the units of a sum of weights: that is ``n`` then."""
        return n if self.weight is None else max(round(n / self.weight_step), 1)

    def reads(self) -> dict[str, str | None]:
        return super().reads() | ({} if self.weights is None else {"weights": self.weights})

    @property
    def weighing(self) -> tuple[str, ...]:
        if self.weight is None:
            return ()
        clamped = f"clamped to 0 to {float(self.weight.grid.upper):g}"
        counted = f"Records count with their {self.weights}, {clamped}; a missing one is 0."
        return (f"{counted} {self.covering}",)

    @property
    def covering(self) -> str:
        return "Intervals cover the noise alone, not how the survey was drawn."


WEIGHT_STEPS = 100
"""Where ranks are counted in steps of weights, these are a hundredth of the largest."""


@frozen(kw_only=True, slots=False)
class WeightedRanks(Weighted):
    """A statistic of ranks, whose records may count with a weight."""

    @staticmethod
    def weight_grid(lower: Any, upper: Any) -> Grid:
        """Return a coarse lattice: a record is as many equal ones as its weight has steps."""
        return Grid(lower, upper, Fraction(upper) / WEIGHT_STEPS)


@frozen(kw_only=True, slots=False)
class Stratified(Weighted):
    """A weighted statistic whose intervals may hold for the population of a survey with strata."""

    strata: str | None = field(default=None, converter=read_strata, metadata=param(
        kinds.TEXT, "The column that holds the stratum of each record in the survey's design, for "
        "intervals about the population of weighted means, proportions and sums. Needs "
        "strata_keys.", group=WHAT,
    ))  # fmt: skip
    strata_keys: tuple[Any, ...] | None = field(
        default=None, converter=read_strata_keys, metadata=param(
            kinds.KEYS, "The strata, from public knowledge; records of others form one more.",
            group=WHAT,
    ))  # fmt: skip

    def __attrs_post_init__(self) -> None:
        self._check_strata()
        super().__attrs_post_init__()

    def _check_strata(self) -> None:
        if self.strata is None:
            converters.unused(self.strata_keys, "strata_keys", "without strata")
            return
        if not self.designed:
            what = "the weighted mean, proportion or sum by Laplace noise"
            must, got = f"be omitted unless {what} is asked for", given(self.strata)
            raise ParameterError("strata", must, got, "Omit {strata}.", strata=LEFT_OUT)
        for name in ("by", "where"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    name, "be omitted with strata: how a part of the records varies depends on the "
                    "others of its strata", "", f"Omit {{{name}}}, or omit {{strata}}.",
                    **{name: LEFT_OUT, "strata": LEFT_OUT},
                )  # fmt: skip
        if self.strata_keys is None:
            hint, tries = "Use {strata_keys} from public knowledge.", ["north", "south"]
            raise ParameterError("strata_keys", "list the strata", "", hint, strata_keys=tries)

    @property
    def designed(self) -> bool:
        """Whether the variance of a survey's design can be released beside it."""
        return self.weights is not None

    def reads(self) -> dict[str, str | None]:
        return super().reads() | ({} if self.strata is None else {"strata": self.strata})

    @property
    def covering(self) -> str:
        if self.strata is None:
            return super().covering
        spent = f"A quarter of epsilon pays for the variance inside the strata of {self.strata}"
        drawn = "take records for drawn with replacement there, and weighted sums for normal"
        return f"{spent}. Intervals of the population {drawn}."

    @property
    def epsilon_of_answer(self) -> Fraction:
        """What is left of epsilon where strata take their share for the variance of the design."""
        return self.epsilon if self.strata is None else self.epsilon * (1 - SHARE)

    @cached_property
    def design(self) -> Any:
        """The `StrataSums` that release the variance of the design; None without strata."""
        if self.strata is None:
            return None
        weight, value = self._coarse
        return StrataSums(
            heaviest=weight.grid.last, last=1 if value is None else value.grid.last,
            epsilon=self.epsilon * SHARE, relation=self.relation, rows=self.rows,
        )  # fmt: skip

    @property
    def design_parts(self) -> tuple[Part, ...]:
        return () if self.design is None else self.design.mechanism.parts

    @cached_property
    def _coarse(self) -> tuple[Ticks, Ticks | None]:
        """The cells of weights and values in the sums; None for a category."""

        def coarse(cell: Any) -> Any:
            if not isinstance(cell, Ticks) or cell.grid.last <= FINEST:
                return cell if isinstance(cell, Ticks) else None
            lower, upper = cell.grid.lower, cell.grid.upper
            return Ticks(cell.column, Grid(lower, upper, step=(upper - lower) / FINEST))

        asked: Any = self  # a statistic of a column, which has a cell
        return coarse(self.weight), coarse(asked.cell)

    def draw_design(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        if self.design is None:
            return [{} for _ in frames]
        inputs = [self._design_sums(data) for data in frames]
        drawn = self.design.mechanism.release_all(inputs, source=self.source)
        return [{"strata": [list(own[i : i + 6]) for i in range(0, len(own), 6)]} for own in drawn]

    def _design_sums(self, data: Frame) -> tuple[int, ...]:
        rows = cast("WeightedRows", data.engine).unweighted
        weight, value = self._coarse
        stratum = data.resolve(self.strata)
        heavy = (data.resolve(weight.column), weight)
        keys = [(key,) for key in self.strata_keys or ()]
        parts = Partition(rows, [stratum], keys, other=True).parts
        if value is not None:
            cells = [heavy, (data.resolve(value.column), value)]
            sums = [dict(zip(POWERS, part.products(cells, POWERS), strict=True)) for part in parts]
        else:

            def products(part: Any) -> Any:
                return np.array(part.products([heavy], [(0,), (1,), (2,)]), object)

            asked: Any = self
            column, category = data.resolve(self.column), asked.category
            listed = Partition(rows, [stratum, column], [(*k, category) for k in keys], other=True)
            yes = [products(part) for part in listed.parts[:-1]]
            whole = Partition(rows, [column], [(category,)], other=True).parts[0]
            both = zip(map(products, parts), [*yes, products(whole) - sum(yes)], strict=True)
            sums = [
                {(i, k): int(own[i] if k == 0 else said[i]) for i, k in POWERS}
                for own, said in both
            ]
        found = zip(parts, sums, strict=True)
        return tuple(x for part, own in found for x in self.design.sums(part.rows(), own))

    def ends_of_ratio(
        self, ratio: Ratio, drawn: Mapping[str, Any], beta: float
    ) -> tuple[float, float]:
        """Return the ends of a ratio in the population, as a fraction of the range."""
        first, second = (drawn[name] for name in ratio.names)
        weight: Any = self.weight
        unit = ratio.last * ratio.boost * weight.grid.last
        scale = ratio.scale / unit * (1 + 2 / FINE)
        a, b = first / unit, second / unit
        if ratio.replaced:
            a, b = (a + b) / 2, (b - a) / 2

        def passed(p: float, beta: float) -> float:
            """Return what the line at p passes if p is the truth."""
            own = (0.5, abs(0.5 - p)) if ratio.replaced else (1 - p, p)
            variance = self.design.variance(drawn["strata"], 1 - p, -p, RISK * beta)
            return noise_quantile(np.array(own) * scale, variance, (1 - RISK) * beta)

        for risk in lower_risks(beta):
            q = np.array([passed(p, risk) for p in KNOTS.tolist()])
            if inside := accepted(float(a), float(-b), q):
                p = ratio.fraction((first, second))
                return min(inside[0], p), max(inside[1], p)
        return 0.0, 1.0
