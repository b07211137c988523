"""Several statistics of several columns in one call, under one epsilon."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from attrs import field, frozen

from sourdine.central.count import Count
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
    if isinstance(part, Count):
        return float(n)
    if isinstance(part, Sum):
        return n * max(abs(part.lowest), abs(part.lowest + part.width))
    if isinstance(part, Variance):
        return part.width**2 / 4
    if part.kind == "covariance":
        return part.widest / 2
    return part.width if isinstance(part, Mean) else 1.0


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

    Parameters
    ----------
    total
        What all may spend together.
    errors
        Of each, the error at a share, over the error that is wanted.
    start
        Shares to begin with.

    Examples
    --------
    >>> shares = balanced(Fraction(1), [lambda e: 3 / e, lambda e: 1 / e], [1, 1])
    >>> [float(share) for share in shares]
    [0.75, 0.25]
    """
    shares = _scaled(start, float(total))
    best, least = shares, float("inf")
    for i in range(ROUNDS):
        ratios = [max(error(share), LEAST) for error, share in zip(errors, shares, strict=True)]
        if max(ratios) < least:
            best, least = shares, max(ratios)
        if max(ratios) < EVEN * min(ratios):
            break
        power = 1 if i < FULL else 0.5
        shares = _scaled([s * r**power for s, r in zip(shares, ratios, strict=True)], float(total))
    return [_down(share) for share in best]


def _scaled(shares: Sequence[float], total: float) -> list[float]:
    most = sum(shares)
    return [max(share / most, LEAST) * total for share in shares]


def _down(share: float) -> Fraction:
    """Round down to four digits, so that the shares stay within the total."""
    return Fraction(Context(prec=4, rounding=ROUND_FLOOR).create_decimal(Decimal(share)))


# ---- What is typed of a table: statistics, bounds and steps by column ----------------------------


RECORDS = "*"
"""Stands for no column: what is asked of records."""
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
            if not known or (column == RECORDS and word != "count"):
                must = (
                    "name only the count if no column is named"
                    if column == RECORDS
                    else f"hold only {', '.join(WORDS)}, or a percentile such as p90"
                )
                raise ParameterError("of", must, given(word), "Use {of}.", of=EXAMPLE)
        if len(set(words)) < len(words):
            raise ParameterError("of", "list each statistic once", "", "Use {of}.", of=EXAMPLE)
    return asked


def statistic_of(word: str) -> type[Statistic] | None:
    """Return the statistic of numbers that a word names; None for another word."""
    return Quantiles if orders_of(word) else NUMERIC.get(word)


def orders_of(word: str) -> tuple[Fraction, ...]:
    """Return the orders of the quantiles that a word names.

    Examples
    --------
    >>> orders_of("p99.9")
    (Fraction(999, 1000),)
    """
    found = PERCENTILE.fullmatch(word)
    named = ORDERS.get(word, ())
    return (Fraction(found[1]) / 100,) if found and Fraction(found[1]) else named


def _words(x: object) -> tuple[str, ...]:
    if isinstance(x, str):
        return (x,)
    if not isinstance(x, (list, tuple)) or not all(isinstance(word, str) for word in x):
        raise ParameterTypeError(
            "of", "hold lists of statistics", given(x), "Use {of}.", of=EXAMPLE
        )
    return tuple(x)


def read_bounds(
    x: Mapping[str, Any] | Literal["find"] | None,
) -> tuple[tuple[str, Bounds], ...]:
    """Return the bounds of each column; find alone is for all columns that are not named."""
    own = _by_column({RECORDS: x} if x == FIND else x, "bounds", {"age": (0, 120)})
    return tuple((column, sought_bounds(pair)) for column, pair in own.items())


def for_the_rest(
    bounds: tuple[tuple[str, Bounds], ...], columns: Sequence[str]
) -> tuple[tuple[str, Bounds], ...]:
    """Return bounds with those that are sought for all other columns written out."""
    own = dict(bounds)
    if RECORDS not in own or not is_unknown(own[RECORDS]):
        return bounds
    rest = own.pop(RECORDS)
    return (*own.items(), *((column, rest) for column in columns if column not in own))


def searching(
    question: Any, column: str, share: Fraction, kind: type[Mean | Sum] = Mean
) -> Mean | Sum:
    """Return the question whose bounds are found, for one column of several."""
    names = ("n", "relation", "unit", "rows", "by", "keys", "other", "where", "source")
    own: dict[str, Any] = {name: getattr(question, name) for name in names}
    own |= {"bounds": dict(question.bounds)[column], "step": dict(question.steps).get(column)}
    if question.finds:
        own["delta"] = question.delta
    return kind(column=column, epsilon=question.epsilon * share, **own).of_private_number


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
    x = _read_before(x)
    if x is None:
        return {}
    if not isinstance(x, Mapping):
        raise ParameterTypeError(
            name, "be a dict of columns", given(x), f"Use {{{name}}}.", **{name: example}
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


OF = Kind(
    metavar="COLUMN:WORD,WORD",
    schema=_object(
        {
            "type": "array",
            "items": {"anyOf": [{"enum": list(WORDS)}, {"pattern": f"^{PERCENTILE.pattern}$"}]},
            "minItems": 1,
        }
    ),
    parse=_parsed(kinds.KEYS.parse),
    shape=list[str],
)


BOUNDS = Kind(
    metavar="COLUMN:LOWER,UPPER",
    schema={"anyOf": [{"const": "find"}, _object(kinds.BOUNDS.schema)]},
    parse=_parsed(kinds.BOUNDS.parse),
    shape=list[str],
)
STEPS = Kind(
    metavar="COLUMN:STEP",
    schema=_object(kinds.NUMBER.schema),
    parse=_parsed(kinds.NUMBER.parse),
    shape=list[str],
)


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
class Table(Statistic):
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
    unlisted: ClassVar[tuple[str, ...]] = ("source", "per_person")
    required: ClassVar[tuple[str, ...]] = ("of",)
    text: ClassVar[str] = "Compute several statistics of several columns under one total epsilon."
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
    """The parameter that names the columns."""

    column: str | None = field(init=False, default=None)
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

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "bounds", for_the_rest(self.bounds, self._numeric))
        super().__attrs_post_init__()

    @property
    def _numeric(self) -> list[str]:
        """The columns that need bounds."""
        return [c for c, words in self.of if any(statistic_of(word) for word in words)]

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The columns whose bounds are searched for; quantiles alone need none."""
        asked = dict(self.of)
        return tuple(
            column
            for column, bounds in self.bounds
            if is_unknown(bounds) and any(word in SEARCHED for word in asked.get(column, ()))
        )

    def first(self) -> TwoStage | None:
        first = super().first()
        if first is not None or not self.searched:
            return first
        from sourdine.central.finding.bounds import ColumnsFirst

        return ColumnsFirst(question=self)

    def searching(self, column: str) -> Mean | Sum:
        """Return the question whose bounds are found: that of the statistic which needs most."""
        kind = Sum if "sum" in dict(self.of)[column] else Mean
        every = sum(self.used(own) for own, _ in self.of)
        return searching(self, column, Fraction(self.used(column), every), kind)

    def used(self, column: str) -> int:
        """Return how many statistics a column is needed for."""
        return len(dict(self.of)[column])

    def check(self) -> None:
        self.check_columns()
        _ = self.statistics

    def check_columns(self) -> None:
        """Refuse columns without bounds, and bounds of columns that are not asked about."""
        bounds, named, needed = dict(self.bounds), dict(self.of), self._numeric
        whole: dict[str, Any] = {c: bounds.get(c, (0, 120)) for c in needed}
        if missing := [c for c in needed if c not in bounds]:
            raise ParameterError(
                "bounds", f"be given for {', '.join(map(repr, missing))}", "",
                "Choose them from public knowledge, before looking at the data. Use {bounds}; or "
                "find, for a column without known bounds.", bounds=whole,
            )  # fmt: skip
        for name, given_for in (("bounds", bounds), ("steps", dict(self.steps))):
            if extra := [c for c in given_for if c not in needed]:
                raise ParameterError(
                    name,
                    "hold only columns whose numbers are requested",
                    given(extra[0]),
                    f"Remove {extra[0]!r} from {{{name}}}." if extra[0] in named
                    else f"{self.asking}, or remove it from {{{name}}}.",
                )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        said = super().to_dict()
        for name in ("of", "bounds", "steps", "tables"):
            if name in said:
                said[name] = dict(said[name])
                if not said[name]:
                    del said[name]
        return said

    @cached_property
    def _asked(self) -> dict[str, Statistic]:
        """The statistics by name, each with the whole epsilon."""
        return {
            word if column == RECORDS else f"{word} of {column}": self._one(column, word)
            for column, words in self.of
            for word in words
        }

    @property
    def common(self) -> dict[str, Any]:
        """What all statistics have."""
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
            asked = Quantiles(orders, column=column, **own)
            return asked.one_of(sum(len(words) for _, words in self.of))
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
        shared = "Epsilon is divided to minimise the largest relative error: "
        several = [f"{shared}{self.spending}."] if len(self.statistics) > 1 else []
        return (*several, *self.explained(set()))

    @property
    def spending(self) -> str:
        """What each statistic spends."""
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

    def reads(self) -> dict[str, str | None]:
        """Return the columns that must be there, by the parameters that name them."""
        return {name: column for name, column in super().reads().items() if column is not None}

    def names(self) -> list[tuple[str, str | None]]:
        named = [(self.naming, column) for column, _ in self.of if column != RECORDS]
        return [*super().names(), *named]

    def needs(self, data: Frame) -> list[str]:
        return [*super().needs(data), *(column for column, _ in self.of if column != RECORDS)]

    def require_columns(self, data: Frame) -> None:
        """Refuse columns that are not there, or whose type cannot hold what is asked for."""
        super().require_columns(data)
        bounds = dict(self.bounds)
        for column, _ in self.of:
            if column != RECORDS:
                dated = column in bounds and isinstance(bounds[column][0], dt.date)
                need = DATES if dated else NUMBERS if column in bounds else ANYTHING
                self.require_column(data, column, need, self.naming)

    def draw(self, data: Frame) -> dict[str, Any]:
        return self.draw_all([data])[0]

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        return finished(self.drawing(frames))

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Draw all statistics in step, so that they share passes over the data."""
        drawn = yield from in_step([part.drawing(frames) for part in self.statistics.values()])
        return [dict(zip(self.statistics, own, strict=True)) for own in zip(*drawn, strict=True)]

    def value(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        return {name: part.value(drawn[name]) for name, part in self.statistics.items()}

    def _releases(self, release: Release) -> dict[str, Release]:
        return {
            name: replace(
                release, value=release.value[name], mechanism=part, drawn=release.drawn[name]
            )
            for name, part in self.statistics.items()
        }

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        own = self._releases(release).items()
        ranged = [(self.statistics[name], name, part) for name, part in own]
        said = [(name, one.remarks(part, words)) for one, name, part in ranged if one.span]
        return tuple(f"{name}: {text}" for name, texts in said for text in texts)

    def limits(self, release: Release, beta: float, of: str) -> dict[str, Any]:
        """Return the ends of each statistic; they hold for all together.

        Noises are independent. What the statistics say of a population is not, as they are of the
        same records: risks are then added up.
        """
        m = len(self.statistics)
        risk = each(beta, m) if of == "sample" else beta / m
        own = self._releases(release).items()
        return {name: self.statistics[name].limits(part, risk, of) for name, part in own}

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return the column and the statistic of each number, and the order of a quantile."""
        del release
        columns: list[str] = []
        words: list[str] = []
        orders: list[float | None] = []
        for name, part in self.statistics.items():
            own: list[float | None] = [float(q) for q in getattr(part, "orders", ())] or [None]
            columns += [part.column or ""] * len(own)
            words += [name.partition(" of ")[0]] * len(own)
            orders += own
        q = {"q": orders} if any(orders) else {}
        return {"column": columns, "statistic": words, **q}

    @property
    def widest(self) -> float:
        return 1.0

    def planned(self, beta: float, n: int | None) -> float:
        about, risk = self.public_n(n), each(beta, len(self.statistics))
        errors = [
            part.planned(risk, about) ** (2 if isinstance(part, Std) else 1) / unit(part, about)
            for part in self.statistics.values()
        ]
        return min(max(errors), 1.0)

    def printed(self, release: Release) -> Any:
        """Return a table with a row for each group and a column for each number."""
        from sourdine.central.groups import across

        return across(release.columns())

    def charts(self, release: Release) -> Mapping[str, Chart]:
        from sourdine.central.groups import charts_of_table

        return charts_of_table(release.columns())

    def plot(self, release: Release, **options: Any) -> Any:
        from sourdine.central.groups import multiples

        return multiples(release, **options)


@lru_cache(64)
def _shared(asked: tuple[Statistic, ...], epsilon: Fraction, n: int | None) -> tuple[Fraction, ...]:
    """Return what each of several statistics spends; a table that is settled anew asks again."""
    errors = [relative_error(part, n or NOMINAL) for part in asked]
    return tuple(balanced(epsilon, errors, [1.0] * len(asked)))
