"""Several statistics of several columns in one call, under one epsilon."""

from __future__ import annotations

import datetime as dt
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import attrs
from attrs import field, frozen

from sourdine.central.count import Count
from sourdine.central.groups import across, charts_of_table, multiples
from sourdine.central.intervals import each
from sourdine.central.mean import Mean
from sourdine.central.quantiles.statistic import Median, Quantiles
from sourdine.central.statistic import Statistic, finished, in_step
from sourdine.central.sum import Sum
from sourdine.central.variance import Std, Variance
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import given
from sourdine.frames.memory import ANYTHING, DATES, NUMBERS
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.converters import FIND, is_unknown
from sourdine.parameters.converters import bounds_or_find as sought_bounds
from sourdine.parameters.kinds import WHAT, Kind, param
from sourdine.parameters.question import plain_parameter
from sourdine.privacy.guarantee import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central.finding.two_stage import TwoStage
    from sourdine.central.statistic import Stages
    from sourdine.errors import PythonWording
    from sourdine.frames.frame import Frame
    from sourdine.parameters.converters import Bounds
    from sourdine.privacy import Part
    from sourdine.results.charts import Chart
    from sourdine.results.release import Display, Release

    Asked = tuple[tuple[str, tuple[str, ...]], ...]


# ---- Errors of different statistics made comparable: each over what is large for it --------------


RISK = 0.05


def unit(part: Statistic, n: int) -> float:
    """Return what an error of 1 means, relative to which others are small."""
    match part:
        case Count():
            return float(n)
        case Sum():
            return n * max(abs(part.lowest), abs(part.lowest + part.width))
        case Variance():
            return part.width**2 / 4
        case Mean():
            return part.width
    return part.widest / 2 if part.kind == "covariance" else 1.0


def relative_error(part: Statistic, n: int) -> Callable[[float], float]:
    """Return the relative error at a share; that of a count as if it were no whole number.

    Of a quantile, half of the ranks that its tick would hold if records lay evenly are no error.
    """

    def error(share: float) -> float:
        asked = attrs.evolve(part, epsilon=share, error=None)
        if isinstance(asked, (Count, Sum)):
            scale = float(asked.mechanism.scale) * float(getattr(asked, "tick", 1))
            return scale * log(1 / RISK) / unit(asked, n)
        if isinstance(asked, Std):  # as for its square, whose error does not depend on the data
            return asked.planned(RISK, n) ** 2 / unit(asked, n)
        planned = asked.planned(RISK, n) / unit(asked, n)
        if isinstance(asked, Quantiles):
            return max(planned - 1 / (2 * asked.grid.size), planned / 2)
        return planned

    return error


# ---- One total for several answers ---------------------------------------------------------------


ROUNDS, FULL = 60, 8
"""So many rounds at most, the first of them of full steps."""
EVEN = 1.001
LEAST = 1e-9


def balanced(
    total: Fraction, errors: Sequence[Callable[[float], float]], start: Sequence[float]
) -> list[Fraction]:
    r"""Share a total so that the largest of several errors is as small as it can be.

    With :math:`r_i` the error (over what is wanted) at the share :math:`\varepsilon_i`, the shares

    .. math:: \varepsilon_i \leftarrow \varepsilon\,
              \frac{\varepsilon_i r_i}{\sum_j \varepsilon_j r_j}

    stay as they are where all :math:`r_i` agree, and an error that falls as
    :math:`1/\varepsilon_i` is there after one round. Where another method is chosen an error jumps,
    and full steps may go to and fro across the jump: later ones go half as far,
    :math:`\sqrt{r_i}`. Errors that are whole numbers never agree quite, so the round with the
    smallest worst :math:`r_i` is kept. *Checked by* ``test_shared_errors_are_balanced`` and
    ``test_no_split_beats_the_shares``.
    """

    def scaled(shares: Sequence[float]) -> list[float]:
        return [max(share / sum(shares), LEAST) * float(total) for share in shares]

    shares = scaled(start)
    best, least = shares, float("inf")
    for i in range(ROUNDS):
        ratios = [max(error(share), LEAST) for error, share in zip(errors, shares, strict=True)]
        if max(ratios) < least:
            best, least = shares, max(ratios)
        if max(ratios) < EVEN * min(ratios):
            break
        power = 1 if i < FULL else 0.5
        shares = scaled([s * r**power for s, r in zip(shares, ratios, strict=True)])
    # rounded down to four digits, so that the shares stay within the total
    down = Context(prec=4, rounding=ROUND_FLOOR)
    return [Fraction(down.create_decimal(Decimal(share))) for share in best]


# ---- What is typed of a table: statistics, bounds and steps by column ----------------------------


RECORDS = "*"
"""Stands for no column: what is asked of records."""
MAPPINGS = {"of", "bounds", "steps", "tables"}
ORDERS = kinds.NAMED_ORDERS
WORDS = ("count", "sum", "mean", "variance", "std", "median", *ORDERS)
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d+)?)")
"""Matches the word for one quantile, such as p90 or p99.9."""
EXAMPLE = {"age": ["mean", "deciles"], RECORDS: ["count"]}


def read_of(x: Mapping[str, Sequence[str] | str] | None) -> Asked:
    x = _read_before(x)
    if x is None or not isinstance(x, Mapping):
        raise ParameterTypeError(
            "of", "map each column to its statistics", given(x) if x is not None else "",
            f"{RECORDS!r} stands for the records. Use {{of}}.", of=EXAMPLE,
        )  # fmt: skip
    asked = tuple((str(column), _words(words)) for column, words in x.items())
    if not asked or not all(column and words for column, words in asked):
        raise ParameterError("of", "name columns and statistics", "", "Use {of}.", of=EXAMPLE)
    for column, words in asked:
        for word in words:
            known = word == "count" or statistic_of(word) is not None
            if column == RECORDS and word != "count":
                must = "name only the count if no column is named"
                raise ParameterError("of", must, given(word), "Use {of}.", of=EXAMPLE)
            if not known:
                must = f"hold only {', '.join(WORDS)}, or a percentile such as p90"
                raise ParameterError("of", must, given(word), "Use {of}.", of=EXAMPLE)
        if len(set(words)) < len(words):
            raise ParameterError("of", "list each statistic once", "", "Use {of}.", of=EXAMPLE)
    return asked


def statistic_of(word: str) -> type[Statistic] | None:
    """Return the statistic of numbers that a word names; None for another word."""
    return Quantiles if orders_of(word) else NUMERIC.get(word)


def orders_of(word: str) -> tuple[Fraction, ...]:
    """Return the orders of the quantiles that a word names."""
    found = PERCENTILE.fullmatch(word)
    named = ORDERS.get(word, ())
    return (Fraction(found[1]) / 100,) if found and Fraction(found[1]) else named


def _words(x: object) -> tuple[str, ...]:
    if isinstance(x, str):
        return (x,)
    if not isinstance(x, (list, tuple)) or not all(isinstance(word, str) for word in x):
        must = "hold lists of statistics"
        raise ParameterTypeError("of", must, given(x), "Use {of}.", of=EXAMPLE)
    return tuple(x)


def read_bounds(x: Mapping[str, Any] | Literal["find"] | None) -> tuple[tuple[str, Bounds], ...]:
    """Return the bounds of each column; find alone is for all columns that are not named."""
    own = _by_column({RECORDS: x} if x == FIND else x, "bounds", {"age": (0, 120)})
    return tuple((column, sought_bounds(pair)) for column, pair in own.items())


def read_steps(x: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    """Return the steps of columns' lattices."""
    own = _by_column(x, "steps", {"age": 1})
    try:
        return tuple((c, step) for c, s in own.items() if (step := read.step(s)) is not None)
    except (ParameterError, ParameterTypeError) as error:
        raise of_steps(error) from None


def _read_before(x: Any) -> Any:
    """Return a dict of what a question holds already, as pairs; anything else as it is."""
    return dict(x) if type(x) is tuple and all(type(p) is tuple and len(p) == 2 for p in x) else x


def of_steps(error: SourdineError) -> SourdineError:
    """Return what was refused of one step as said of the steps by column."""
    return error.renamed(step="steps").hinting("Omit {steps}.", {"steps": LEFT_OUT})


def _by_column(x: object, name: str, example: dict[str, Any]) -> dict[str, Any]:
    x = _read_before({} if x is None else x)
    if not isinstance(x, Mapping):
        tries = {name: example}
        raise ParameterTypeError(
            name, "be a dict of columns", given(x), f"Use {{{name}}}.", **tries
        )
    return {str(column): value for column, value in x.items()}


def _parsed(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what reads the words of each column, also from a text: age:0,120; pay:find."""

    def read_all(x: object) -> Any:
        if isinstance(x, str) and ":" in x:
            x = {c.strip(): own for c, _, own in (part.rpartition(":") for part in x.split(";"))}
        return {c: parse(words) for c, words in x.items()} if isinstance(x, Mapping) else x

    return read_all


def _object(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": part, "minProperties": 1}


def _kind(metavar: str, schema: Mapping[str, Any], of: Kind) -> Kind:
    return Kind(metavar=metavar, schema=schema, parse=_parsed(of.parse), shape=list[str])


_WORD = {"anyOf": [{"enum": list(WORDS)}, {"pattern": f"^{PERCENTILE.pattern}$"}]}
OF = _kind(
    "COLUMN:WORD,WORD", _object({"type": "array", "items": _WORD, "minItems": 1}), kinds.KEYS
)
BOUNDS = _kind(
    "COLUMN:LOWER,UPPER", {"anyOf": [{"const": "find"}, _object(kinds.BOUNDS.schema)]}, kinds.BOUNDS
)
STEPS = _kind("COLUMN:STEP", _object(kinds.NUMBER.schema), kinds.NUMBER)


# ---- Statistics whose bounds and steps are given by column ---------------------------------------


@frozen(kw_only=True, slots=False)
class ByColumn(Statistic):
    """A statistic of several columns."""

    unlisted: ClassVar[tuple[str, ...]] = ("source", "per_person")
    holding: ClassVar[str] = "the columns of {x} and {y}"
    """The columns that bounds and steps may be given for, in words."""
    asking: ClassVar[str] = ""
    """How to ask about another column, in words."""

    column: str | None = field(init=False, default=None)
    bounds: tuple[tuple[str, Bounds], ...] = ()
    steps: tuple[tuple[str, Any], ...] = ()

    def __attrs_post_init__(self) -> None:
        own = dict(self.bounds)
        if is_unknown(own.get(RECORDS)):  # sought for all other columns
            rest = own.pop(RECORDS)
            own |= {column: rest for column in self.bounded if column not in own}
            object.__setattr__(self, "bounds", tuple(own.items()))
        super().__attrs_post_init__()

    @property
    @abstractmethod
    def bounded(self) -> Sequence[str]:
        """The columns that need bounds."""

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The columns whose bounds are searched for."""
        return tuple(column for column, pair in self.bounds if is_unknown(pair))

    def first(self) -> TwoStage | None:
        first, question = super().first(), cast("Table", self)
        if first is not None or not self.searched:
            return first
        from sourdine.central.finding.bounds import ColumnsFirst

        return ColumnsFirst(question=question)

    def sought(self, column: str) -> tuple[type[Mean | Sum], Fraction]:
        """Return the statistic whose bounds are found, and its share of epsilon."""
        return Mean, Fraction(1, len(self.bounded))

    def searching(self, column: str) -> Mean | Sum:
        """Return the question whose bounds are found, for one of the columns."""
        names = ("n", "relation", "unit", "rows", "by", "keys", "other", "where", "source")
        own: dict[str, Any] = {name: getattr(self, name) for name in names}
        own |= {"bounds": dict(self.bounds)[column], "step": dict(self.steps).get(column)}
        if self.finds:
            own["delta"] = self.delta
        kind, share = self.sought(column)
        return kind(column=column, epsilon=self.epsilon * share, **own).of_private_number

    def check_columns(self) -> None:
        """Refuse columns without bounds, and bounds of columns that are not asked about."""
        own, needed = dict(self.bounds), self.bounded
        if missing := [c for c in needed if c not in own]:
            typed = {c: own.get(c, (0, 120)) for c in needed}
            raise ParameterError(
                "bounds", f"be given for {', '.join(map(repr, missing))}", "",
                "Choose them from public knowledge, before looking at the data. Use {bounds}; or "
                "'find' in place of the two numbers, if they are not known.",
                bounds={
                    c: x if is_unknown(x) else tuple(map(plain_parameter, x))
                    for c, x in typed.items()
                },
            )  # fmt: skip
        for name, said in (("bounds", own), ("steps", dict(self.steps))):
            if extra := [c for c in said if c not in needed]:
                hint = f"Remove {extra[0]!r} from {{{name}}}."
                if self.asking and extra[0] not in {column for _, column in self.names()}:
                    hint = f"{self.asking}, or remove it from {{{name}}}."
                raise ParameterError(name, f"hold only {self.holding}", given(extra[0]), hint)

    def to_dict(self) -> dict[str, Any]:
        said = super().to_dict()
        said |= {name: dict(said[name]) for name in MAPPINGS & set(said)}
        return {name: x for name, x in said.items() if x != {}}

    def reads(self) -> dict[str, str | None]:
        return {name: column for name, column in super().reads().items() if name != "column"}


# ---- Several statistics of several columns in one call, under one total --------------------------
#
# Each statistic i gets a share :math:`\varepsilon_i` of epsilon, and the shares add up to it. They
# are chosen so that the largest *relative* error is as small as can be
# (`sourdine.central.table.balanced`), from public numbers alone: bounds, orders, and n if it is
# typed. Relative means
#
# ``count``                over n
# ``sum``                  over n times the larger bound
# ``mean``                 over the width of the bounds
# ``variance``             over a quarter of the squared width, the most that it can be
# ``std``                  that of its variance
# ``median`` and the like  of the rank, over n
#
# All of these fall as :math:`1/(n\varepsilon_i)`, so the shares hardly depend on n: without one
# they are those of a thousand records.


NOMINAL = 1000
"""Records that shares are chosen for, where no number is typed."""
NUMERIC: dict[str, type[Statistic]] = {
    "sum": Sum, "mean": Mean, "variance": Variance, "std": Std, "median": Median,
}  # fmt: skip
SEARCHED = ("sum", "mean", "variance", "std")
"""What needs bounds that are near; quantiles are drawn from a lattice that has none."""


@frozen(kw_only=True, slots=False)
class Table(ByColumn):
    r"""Several statistics, each with its share of epsilon.

    Notes
    -----
    *Claim*: the whole costs what the question says: the shares add up to no more than epsilon.
    *Checked by* ``test_tables_cost_what_they_say``. *Claim*: the largest relative error that is
    planned is within a hundredth of the smallest that any split reaches. *Checked by*
    ``test_no_split_beats_the_shares``. *Claim*: all intervals hold together. *Checked by*
    ``test_intervals_of_tables_cover``.

    Examples
    --------
    >>> asked = Table(
    ...     of={"age": ["mean", "median"], "*": ["count"]}, bounds={"age": (0, 120)}, epsilon=1
    ... )
    >>> {name: float(part.epsilon) for name, part in asked.statistics.items()}
    {'mean of age': 0.1475, 'median of age': 0.6836, 'count': 0.1687}
    >>> release = asked.release({"age": [20, 30, 40] * 1000})
    >>> abs(release.value["mean of age"] - 30) < 5
    True
    """

    kind: ClassVar[str] = "table"
    widest = 1.0
    required: ClassVar[tuple[str, ...]] = ("of",)
    text: ClassVar[str] = "Compute several statistics of several columns under one total epsilon."
    holding: ClassVar[str] = "columns whose numbers are requested"
    asking: ClassVar[str] = "Name it in {of}"
    wide: ClassVar[bool] = True
    examples: ClassVar[tuple[str, str]] = (
        (
            "people.csv --by sex --keys f,m --of age:mean,deciles --of count --bounds age:0,120 "
            "--epsilon 1"
        ),
        "--of age:mean --of count --bounds age:0,120 --n 1000 --epsilon 1",
    )

    naming: ClassVar[str] = "of"

    of: Asked = field(default=None, converter=read_of, metadata=param(
        OF, "The statistics of each column, such as age:mean,deciles,p99; * stands for records, of "
        "which only the count is available.", group=WHAT,
    ))  # fmt: skip
    bounds: tuple[tuple[str, Bounds], ...] = field(
        default=None, converter=read_bounds, metadata=param(
            BOUNDS, "Public bounds of each numeric column, chosen without looking at the data; "
            "find if they are unknown.", group=WHAT, unit="values",
    ))  # fmt: skip
    steps: tuple[tuple[str, Any], ...] = field(default=None, converter=read_steps, metadata=param(
        STEPS, "The step of each column's grid. Defaults to about a millionth of the range.",
        group=WHAT, unit="values",
    ))  # fmt: skip

    @cached_property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The column and the word of each statistic."""
        return tuple((column, word) for column, words in self.of for word in words)

    @property
    def bounded(self) -> Sequence[str]:
        return list(dict.fromkeys(column for column, word in self.words if statistic_of(word)))

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The columns whose bounds are searched for; quantiles alone need none."""
        needed = {column for column, word in self.words if word in SEARCHED}
        return tuple(column for column in super().searched if column in needed)

    def sought(self, column: str) -> tuple[type[Mean | Sum], Fraction]:
        """Return the statistic that needs most, with a share for each that needs the column."""
        every = sum(self.used(own) for own, _ in self.of)
        return Sum if (column, "sum") in self.words else Mean, Fraction(self.used(column), every)

    def used(self, column: str) -> int:
        """Return how many statistics a column is needed for."""
        return len(dict(self.of)[column])

    def check(self) -> None:
        self.check_columns()
        _ = self.statistics

    @cached_property
    def _asked(self) -> dict[str, Statistic]:
        """The statistics by name, each with the whole epsilon."""
        return {
            word if column == RECORDS else f"{word} of {column}": self._one(column, word)
            for column, word in self.words
        }

    @property
    def common(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon, "relation": self.relation, "rows": self.rows,
            "unit": self.unit, "n": self.n, "where": self.where, "source": self.source,
        }  # fmt: skip

    def _one(self, column: str, word: str) -> Statistic:
        own: dict[str, Any] = {**self.common}
        if word == "count":
            return Count(column=None if column == RECORDS else column, **own)
        own |= {"bounds": dict(self.bounds)[column], "step": dict(self.steps).get(column)}
        if orders := orders_of(word):
            return Quantiles(orders, column=column, **own).one_of(len(self.words))
        try:
            return NUMERIC[word](column=column, **own).of_private_number
        except ParameterError as error:
            if error.name != "step":
                raise
            raise of_steps(error) from None

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """What each statistic spends; together epsilon, or a little less by rounding."""
        asked = tuple(self._asked.values())
        return (self.epsilon,) if len(asked) == 1 else _shared(asked, self.epsilon, self.n)

    @cached_property
    def statistics(self) -> dict[str, Statistic]:
        """The statistics, each with its share of epsilon."""
        pairs = zip(self._asked.items(), self.shares, strict=True)
        return {name: part.at(share) for (name, part), share in pairs}

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """What all statistics lose: by the rounding of the shares a little less than is said."""
        return tuple(part for own in self.statistics.values() for part in own.own_parts)

    @property
    def display(self) -> Display:
        return replace(
            super().display, head="value", title=super().name.capitalize(),
            populations=all(part.display.populations for part in self._asked.values()), lead=0,
        )  # fmt: skip

    @property
    def how(self) -> str:
        many = len(self._asked)
        return f"{many} statistics, each with a share of epsilon" if many > 1 else "one statistic"

    @property
    def name(self) -> str:
        return super().name.replace("table", f"table of {', '.join(self._asked)}", 1)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        several = f"Epsilon is divided to minimise the largest relative error: {self.spending}."
        return (*([several] if len(self.statistics) > 1 else []), *self.explained(set()))

    @property
    def spending(self) -> str:
        return ", ".join(f"{name} {shown(x.epsilon)}" for name, x in self.statistics.items())

    def explained(self, found: set[str]) -> tuple[str, ...]:
        """Return the caveats on values, but not on bounds that were found."""
        clipped = {
            part.column: f"{part.column}: {part.clipping}"
            for part in self.statistics.values()
            if hasattr(part, "clipping") and part.column not in found
        }
        together = "Intervals hold simultaneously for all statistics."
        columns = [column for column, _ in self.of]
        if set(columns) > {RECORDS}:
            together = f"Missing values are excluded, but all records are counted. {together}"
        elif columns != [RECORDS]:
            together = f"Missing values are excluded. {together}"
        return (*clipped.values(), together, *self.person)

    def names(self) -> list[tuple[str, str | None]]:
        named = [(self.naming, column) for column, _ in self.of if column != RECORDS]
        return [*super().names(), *named]

    def held(self, parameter: str, column: str | None) -> str:
        if parameter != self.naming:
            return super().held(parameter, column)
        bounds = dict(self.bounds).get(column or "")
        if bounds is None:
            return ANYTHING
        return DATES if isinstance(bounds[0], dt.date) else NUMBERS

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        return finished(self.drawing(frames))

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Draw all statistics in step, so that they share passes over the data."""
        drawn = yield from in_step([part.drawing(frames) for part in self.statistics.values()])
        return [dict(zip(self.statistics, own, strict=True)) for own in zip(*drawn, strict=True)]

    def value(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        return {name: part.value(drawn[name]) for name, part in self.statistics.items()}

    def _releases(self, release: Release) -> dict[str, tuple[Statistic, Release]]:
        """Return each statistic with its part of a release."""
        value, drawn = release.value, release.drawn
        return {
            name: (part, replace(release, value=value[name], mechanism=part, drawn=drawn[name]))
            for name, part in self.statistics.items()
        }

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        return tuple(
            f"{name}: {text}"
            for name, (part, own) in self._releases(release).items()
            if part.span
            for text in part.remarks(own, words)
        )

    def limits(self, release: Release, beta: float, of: str) -> dict[str, Any]:
        """Return the ends of each statistic; they hold for all together.

        Noises are independent. What the statistics say of a population is not, as they are of the
        same records: risks are then added up.
        """
        m = len(self.statistics)
        risk = each(beta, m) if of == "sample" else beta / m
        parts = self._releases(release).items()
        return {name: part.limits(own, risk, of) for name, (part, own) in parts}

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        numbers: list[tuple[str, str, float | None]] = [
            (part.column or "", name.partition(" of ")[0], q and float(q))
            for name, part in self.statistics.items()
            for q in getattr(part, "orders", (None,))
        ]
        columns, words, orders = map(list, zip(*numbers, strict=True))
        return {"column": columns, "statistic": words} | ({"q": orders} if any(orders) else {})

    def planned(self, beta: float, n: int | None) -> float:
        about, risk = self.public_n(n), each(beta, len(self.statistics))
        errors = [
            part.planned(risk, about) ** (2 if isinstance(part, Std) else 1) / unit(part, about)
            for part in self.statistics.values()
        ]
        return min(max(errors), 1.0)

    def printed(self, release: Release) -> Any:
        return across(release.columns())

    def charts(self, release: Release) -> Mapping[str, Chart]:
        return charts_of_table(release.columns())

    def plot(self, release: Release, **options: Any) -> Any:
        return multiples(release, **options)


@lru_cache(64)
def _shared(asked: tuple[Statistic, ...], epsilon: Fraction, n: int | None) -> tuple[Fraction, ...]:
    """Return what each of several statistics spends; a table that is settled anew asks again."""
    errors = [relative_error(part, n or NOMINAL) for part in asked]
    return tuple(balanced(epsilon, errors, [1.0] * len(asked)))
