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
* the counts of two bins move by :math:`w + w' \le 2J` together;
* for quantiles it is J records that are replaced, added or removed, some of each if w and w'
  differ: that is one person with J records (`rows`), for which all of their mechanisms are proved.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sourdine.central.statistic import Statistic
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.frames.cells import Ticks
from sourdine.grid import Grid
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import WHAT, param

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.exact import Number
    from sourdine.frames.frame import Frame
    from sourdine.parameters.converters import Bounds


def read_weights(x: str | None) -> str | None:
    """Return the name of the column of weights."""
    return converters.name(x, "weights", "weight")


def read_weight_bounds(x: Sequence[Number] | None) -> Bounds | None:
    """Return 0 and the largest weight."""
    if x is None:
        return None
    pair = x if isinstance(x, (list, tuple)) else ()
    numbers = [v for v in pair if isinstance(v, (int, float, Fraction)) or hasattr(v, "as_tuple")]
    if len(pair) != 2 or len(numbers) != 2 or numbers[0] != 0:
        raise ParameterError(
            "weight_bounds",
            "be 0 and the largest weight",
            " and ".join(map(given, pair)) if len(numbers) == 2 else given(x),
            "A record without a weight counts as 0. Use {weight_bounds}.",
            weight_bounds=(0, 10),
        )
    try:
        return converters.bounds(pair)
    except ParameterError as error:
        raise error.renamed(bounds="weight_bounds") from None


@frozen(kw_only=True, slots=False)
class Weighted(Statistic):
    """A statistic whose records may count with a weight."""

    weights: str | None = field(
        default=None, converter=read_weights,
        metadata=param(
            kinds.TEXT,
            "The column that holds the weight of each record, such as a survey's. Needs "
            "weight_bounds.",
            group=WHAT,
        ),
    )  # fmt: skip
    weight_bounds: Bounds | None = field(
        default=None, converter=read_weight_bounds,
        metadata=param(
            kinds.FROM_0,
            "0 and the largest weight, from public knowledge. Larger weights are clamped; a "
            "missing or negative weight is 0.",
            group=WHAT,
        ),
    )  # fmt: skip

    def __attrs_post_init__(self) -> None:
        self._check_weights()
        super().__attrs_post_init__()

    def _check_weights(self) -> None:
        if self.weights is None:
            converters.unused(self.weight_bounds, "weight_bounds", "without weights")
            return
        if self.weight_bounds is None:
            raise ParameterError(
                "weight_bounds",
                "be given with weights, as the largest weight decides the noise",
                "",
                "Use {weight_bounds} from public knowledge.",
                weight_bounds=(0, 10),
            )
        for name, why in (
            ("per_person", "a person's rows may have different weights"),
            ("population", "its intervals are of records that count alike"),
        ):
            if getattr(self, name, None):
                raise ParameterError(
                    name, f"be omitted with weights: {why}", "", f"Omit {{{name}}}.",
                    **{name: LEFT_OUT},
                )  # fmt: skip
        if self.kind == "mean" and getattr(self, "method", "") == "exponential":
            raise ParameterError(
                "method", "be 'laplace' or 'gaussian' with weights", "'exponential'",
                "Use {method}.", method="laplace",
            )  # fmt: skip
        if getattr(self, "missing", "") in {"middle", "no"}:
            raise ParameterError(
                "missing", "be 'exclude' with weights, whose sum is private", "", "Omit {missing}.",
                missing=LEFT_OUT,
            )  # fmt: skip
        self._check_found()

    def _check_found(self) -> None:
        """Refuse to find anything: it would be found of records that count alike."""
        examples = {
            "bounds": (0, 120), "rows": 1, "categories": ["yes", "no"], "keys": ["yes", "no"]
        }  # fmt: skip
        for name, example in examples.items():
            asked = getattr(self, name, None)
            if converters.is_unknown(asked) or asked == converters.UNKNOWN:
                raise ParameterError(
                    name, "be given with weights, and not found", given(asked),
                    f"Use {{{name}}} from public knowledge.", **{name: example},
                )  # fmt: skip

    @cached_property
    def weight(self) -> Ticks | None:
        """The column of weights and its lattice."""
        if self.weights is None or self.weight_bounds is None:
            return None
        return Ticks(self.weights, self.weight_grid(*self.weight_bounds))

    @staticmethod
    def weight_grid(lower: Any, upper: Any) -> Grid:
        """Return the lattice of weights."""
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
        own = {} if self.weights is None else {"weights": self.weights}
        return {**super().reads(), **own}

    @property
    def weighing(self) -> tuple[str, ...]:
        """The caveat on weights."""
        if self.weight is None:
            return ()
        clamped = f"clamped to 0 to {float(self.weight.grid.upper):g}"
        counted = f"Records count with their {self.weights}, {clamped}; a missing one is 0."
        return (f"{counted} Intervals cover the noise alone, not how the survey was drawn.",)
