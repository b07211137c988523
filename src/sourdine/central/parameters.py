"""The parameters that statistics share, and the column types that they accept."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from sourdine.errors import ParameterError
from sourdine.frames.memory import DATES, NESTED, NUMBERS, WORDS
from sourdine.frames.reading import STANDARD
from sourdine.noise import SYSTEM
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import DATA, GROUPS, PRIVACY, param
from sourdine.parameters.question import Question
from sourdine.privacy import ADD_REMOVE, Relation

if TYPE_CHECKING:
    import datetime as dt

    from sourdine.central.statistic import Statistic
    from sourdine.frames.memory import Declared
    from sourdine.frames.reading import Reading
    from sourdine.noise import Source


# ---- The parameters that every statistic has, each declared once ---------------------------------


@frozen(kw_only=True, slots=False)
class CommonParameters(Question):
    """What may be said of every statistic: the column, the cost, the person and the groups."""

    unlisted: ClassVar[tuple[str, ...]] = ("source",)

    column: str | None = field(default=None, converter=converters.column, metadata=param(
        kinds.TEXT, "The column, or a formula of columns, such as income / household_size. Not "
        "needed if there is only one.", group=DATA,
    ))  # fmt: skip
    where: str | None = field(default=None, converter=converters.where, metadata=param(
        kinds.CONDITION, "Only rows for which this condition is true, such as age >= 18 and region "
        "in ('north', 'south').", group=DATA,
    ))  # fmt: skip
    read: Reading = field(default=STANDARD, converter=converters.read, metadata=param(
        kinds.READING, "How text is read: encoding, separator, header, quotes, decimal, thousands, "
        "symbols, date_format.", group=DATA,
    ))  # fmt: skip
    lookup: tuple[tuple[str, str], ...] | None = field(
        default=None, converter=converters.lookup, metadata=param(
            kinds.LOOKUP, "Public tables, each a file, whose columns are added to the rows with "
            "the same value in a column, such as regions.csv:region_code.", group=DATA,
    ))  # fmt: skip
    epsilon: Fraction = field(default=None, converter=converters.epsilon, metadata=param(
        kinds.NUMBER, "The total privacy cost of the release. Smaller values protect more and are "
        "less accurate; 0.1 to 1 is common.", group=PRIVACY,
    ))  # fmt: skip
    target: Fraction | dt.timedelta | None = field(
        default=None, converter=converters.error, alias="error", eq=False, repr=False,
        metadata=param(
            kinds.DISTANCE, "Instead of epsilon: the error to reach ('3 days' for a mean of "
            "dates), at the smallest possible epsilon. Needs n if the error depends on the number "
            "of records.", group=PRIVACY,
    ))  # fmt: skip
    confidence: Fraction = field(
        default=Fraction(19, 20), converter=converters.confidence, eq=False, repr=False,
        metadata=param(
            kinds.PROBABILITY, "The confidence level of the requested or planned error.",
            group=PRIVACY,
    ))  # fmt: skip
    n: int | None = field(default=None, converter=converters.n, metadata=param(
        kinds.COUNT, "The approximate number of records (per group), from public knowledge.",
        group=PRIVACY, unit="records",
    ))  # fmt: skip
    relation: Relation = field(default=ADD_REMOVE, converter=converters.relation, metadata=param(
        kinds.one_of("add_remove", "substitute"), "The neighbouring relation: add_remove (a record "
        "is added or removed, and the number of records is private) or substitute (a record is "
        "replaced).", group=PRIVACY,
    ))  # fmt: skip
    unit: str | None = field(default=None, converter=converters.unit, metadata=param(
        kinds.TEXT, "The column that identifies a person, so that the guarantee holds for persons "
        "instead of records.", group=PRIVACY,
    ))  # fmt: skip
    rows: int = field(default=1, converter=converters.rows_or_find, metadata=param(
        kinds.ROWS, "The maximum number of records per person; or find, to choose it privately for "
        "part of epsilon.", group=PRIVACY, unit="records",
    ))  # fmt: skip
    per_person: str | None = field(default=None, converter=converters.per_person, metadata=param(
        kinds.PER_PERSON, "First make one value of all rows of a person (needs unit): sum, mean, "
        "min, max, count, or 'last by' and a column, such as 'last by date'. The statistic is then "
        "about persons, and no rows are dropped.", group=PRIVACY,
    ))  # fmt: skip
    delta: Fraction = field(default=Fraction(0), converter=converters.delta, metadata=param(
        kinds.PROBABILITY, "The probability with which the privacy loss may exceed epsilon. "
        "Defaults to 0, unless another parameter needs a delta.", group=PRIVACY,
    ))  # fmt: skip
    by: str | tuple[str, ...] | None = field(default=None, converter=converters.by, metadata=param(
        kinds.BY, "Compute the statistic for each group of these columns.", group=GROUPS,
    ))  # fmt: skip
    keys: Any = field(default=None, converter=converters.keys, metadata=param(
        kinds.GROUP_KEYS, "The groups of by. List them yourself, because which groups occur is "
        "private; or unknown, to find the groups with many records by a private threshold (needs "
        "delta).", group=GROUPS,
    ))  # fmt: skip
    other: bool = field(default=False, converter=converters.other, metadata=param(
        kinds.FLAG, "Add a group for rows with none of the keys.", group=GROUPS,
    ))  # fmt: skip
    source: Source = field(default=SYSTEM, converter=converters.source, eq=False, repr=False)


# ---- An epsilon that is found, not typed ---------------------------------------------------------


DIGITS = 4


def rounded(epsilon: Fraction) -> Fraction:
    """Return epsilon, rounded up to four significant digits."""
    top = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
    place = Decimal(1).scaleb(top.adjusted() - DIGITS + 1)
    up = Fraction(top.quantize(place, rounding=ROUND_CEILING))
    return up if up >= epsilon else up + Fraction(place)


# ---- Columns whose declared type cannot hold what a statistic reads in them ----------------------
#
# Types are public, so such a column is refused, before anything is charged. What declares no type,
# such as a text file, is read as it is: there every value that cannot be read is missing.


EXAMPLES: dict[str, tuple[Any, Any]] = {NUMBERS: (0, 100), DATES: ("2020-01-01", "2024-12-31")}
DATELESS = ("sum", "variance", "std", "covariance", "correlation", "regression")
WRITTEN = {NUMBERS: {"decimal": "."}, DATES: {"date_format": "%Y-%m-%d"}}


def wrong_type(
    asked: Statistic, declared: Declared, column: str, need: str, parameter: str
) -> ParameterError:
    """Return the error for a column whose type cannot be read as a statistic needs it.

    ``need`` is what the statistic reads in it (`sourdine.frames.memory`), ``parameter`` names it.
    """
    bounds: Any = getattr(asked, "bounds", None)
    by_column = parameter in ("of", "statement")
    own = dict(bounds).get(column) if by_column else bounds
    tries: dict[str, Any] = {}
    dateless = asked.kind in DATELESS
    if declared.holds == DATES and converters.is_unknown(own) and not dateless:
        name, got = "bounds", "find"
        must = (
            f"be two dates for {column!r}, which holds dates: only bounds of numbers can be found"
        )
    else:
        what = "single values" if declared.holds == NESTED else need
        name, must = parameter, f"hold {what} for this {asked.kind}"
        got = f"{column!r} of type {declared.dtype}"
    if declared.holds == NESTED:
        hint = "Put single values into a separate column."
    elif declared.holds == WORDS and asked.kind == "proportion":
        tries, hint = {"category": "yes"}, "Use {category}, the string whose share is requested."
    elif declared.holds == WORDS:
        tries = {"read": WRITTEN[need]}
        hint = f"Convert it to {need}; or, if its strings are {need}, use {{read}}."
    elif parameter == "weights":
        hint = "Name another column."
    elif own is not None and declared.holds in EXAMPLES and not dateless:
        example = EXAMPLES[declared.holds]
        tries = {"bounds": {column: example} if by_column else example}
        hint = f"Use two {declared.holds}: {{bounds}}."
    else:
        hint = f"Convert it to {need}, or name another column."
    return ParameterError(name, must, got, hint, **tries)
