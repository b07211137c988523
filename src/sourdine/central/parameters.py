"""The parameters that statistics share, and the column types that they accept."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from sourdine.errors import ParameterError
from sourdine.frames.memory import DATES, NESTED, NUMBERS, WORDS
from sourdine.frames.reading import STANDARD
from sourdine.noise import SYSTEM
from sourdine.parameters import converters, kinds
from sourdine.parameters import converters as grouping
from sourdine.parameters.kinds import DATA, GROUPS, PRIVACY, param
from sourdine.parameters.question import Question
from sourdine.privacy import ADD_REMOVE, Relation

if TYPE_CHECKING:
    import datetime as dt

    from sourdine.central.statistic import Statistic
    from sourdine.frames.frame import Frame
    from sourdine.frames.reading import Reading
    from sourdine.noise import Source


# ---- The parameters that every statistic has, each declared once, and how groups go with keys ----


@frozen(kw_only=True, slots=False)
class CommonParameters(Question):
    """What may be said of every statistic: the column, the cost, the person and the groups."""

    unlisted: ClassVar[tuple[str, ...]] = ("source",)

    column: str | None = field(
        default=None, converter=converters.column,
        metadata=param(kinds.TEXT, "The column; not needed if there is only one.", group=DATA),
    )  # fmt: skip
    read: Reading = field(
        default=STANDARD, converter=converters.read,
        metadata=param(
            kinds.READING,
            "How text is read: encoding, separator, header, quotes, decimal, thousands, symbols, "
            "date_format.",
            group=DATA,
        ),
    )  # fmt: skip
    epsilon: Fraction = field(
        default=None, converter=converters.epsilon,
        metadata=param(
            kinds.NUMBER,
            "What everything released may cost in privacy, in total. Smaller is safer and less "
            "exact; 0.1 to 1 is common.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    target: Fraction | dt.timedelta | None = field(
        default=None, converter=converters.error, alias="error", eq=False, repr=False,
        metadata=param(
            kinds.DISTANCE,
            "Instead of epsilon: the error to stay within ('3 days' for a mean of dates); the "
            "least epsilon that reaches it is spent. Needs n where the error depends on the number "
            "of records.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    confidence: Fraction = field(
        default=Fraction(19, 20), converter=converters.confidence, eq=False, repr=False,
        metadata=param(
            kinds.PROBABILITY,
            "The probability with which an error that is asked for or planned holds.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    n: int | None = field(
        default=None, converter=converters.n,
        metadata=param(
            kinds.COUNT,
            "About how many records there are (in each group), from public knowledge.",
            group=PRIVACY, unit="records",
        ),
    )  # fmt: skip
    relation: Relation = field(
        default=ADD_REMOVE, converter=converters.relation,
        metadata=param(
            kinds.one_of("add_remove", "substitute"),
            "Which data sets are neighbours: add_remove (a record is there or not, and the number "
            "of records is private) or substitute (a record takes another value).",
            group=PRIVACY,
        ),
    )  # fmt: skip
    unit: str | None = field(
        default=None, converter=converters.unit,
        metadata=param(
            kinds.TEXT,
            "The column that names a person, so that the promise is for persons, not records.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    rows: int = field(
        default=1, converter=converters.rows_or_find,
        metadata=param(
            kinds.ROWS,
            "How many records of each person are used; find, to have that found for part of "
            "epsilon.",
            group=PRIVACY, unit="records",
        ),
    )  # fmt: skip
    delta: Fraction = field(
        default=Fraction(0), converter=converters.delta,
        metadata=param(
            kinds.PROBABILITY,
            "The probability with which the loss may pass epsilon; 0 unless another parameter "
            "needs a delta.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    by: str | tuple[str, ...] | None = field(
        default=None, converter=grouping.by,
        metadata=param(
            kinds.BY, "One answer for each group of this column, or of these columns.", group=GROUPS
        ),
    )  # fmt: skip
    keys: Any = field(
        default=None, converter=grouping.keys,
        metadata=param(
            kinds.GROUP_KEYS,
            "The groups of by. List them yourself: which groups occur is private. Or unknown, to "
            "find those that many records have by a private threshold (needs delta).",
            group=GROUPS,
        ),
    )  # fmt: skip
    other: bool = field(
        default=False, converter=grouping.other,
        metadata=param(kinds.FLAG, "One more group, for the rows of no such key.", group=GROUPS),
    )  # fmt: skip
    source: Source = field(default=SYSTEM, eq=False, repr=False)

    def check_groups(self) -> None:
        """Refuse keys without groups, groups without keys, and found keys without a delta."""
        if self.by is None:
            for name in ("keys", "other"):
                if getattr(self, name):
                    raise ParameterError(
                        "by",
                        "name the column that holds the keys",
                        "",
                        "Use {by}, for example.",
                        by="region",
                    )
            return
        if self.keys is None:
            names = grouping.columns(self.by)
            listed = ["a", "b"]
            raise ParameterError(
                "keys",
                "list the groups",
                "",
                "Which groups occur is private, so list the possible ones from public "
                "knowledge. Use {keys}; or unknown, with a delta.",
                keys=listed if len(names) == 1 else dict.fromkeys(names, listed),
            )
        object.__setattr__(self, "keys", grouping.matched(self.by, self.keys))
        if self.other:
            grouping.require_apart(self.keys)
        if self.finds and not self.delta:
            raise ParameterError(
                "delta",
                "be above 0 if keys are unknown: naming a key that only one person has would "
                "reveal that person",
                "0",
                "List the keys, or use {delta}.",
                delta=1e-6,
            )

    @property
    def finds(self) -> bool:
        """Whether the keys of groups are found by a private threshold."""
        return isinstance(self.keys, str)

    @property
    def needs_delta(self) -> bool:
        """Whether what draws one answer has a delta of its own."""
        return False


# ---- Columns whose declared type cannot hold what a statistic reads in them ----------------------
#
# Types are public, so such a column is refused, before anything is charged. What declares no type,
# such as a text file, is read as it is: there every value that cannot be read is missing.


EXAMPLES: dict[str, tuple[Any, Any]] = {
    NUMBERS: (0, 100),
    DATES: ("2020-01-01", "2024-12-31"),
}
DATELESS = ("sum", "variance")
"""What dates do not have."""
WRITTEN = {NUMBERS: {"decimal": "."}, DATES: {"date_format": "%Y-%m-%d"}}


def require_type(
    asked: Statistic, data: Frame, column: str, need: str, parameter: str = "column"
) -> None:
    """Refuse a column whose type cannot be read as a statistic needs it.

    Parameters
    ----------
    asked
        The statistic.
    data
        The data.
    column
        A column that is there.
    need
        What the statistic reads in it (`sourdine.frames.memory`).
    parameter
        What names the column.
    """
    declared = data.declared(column)
    if declared is None or declared.fits(need, data.reading):
        return
    bounds: Any = getattr(asked, "bounds", None)
    own = dict(bounds).get(column) if parameter == "of" else bounds
    tries: dict[str, Any] = {}
    dateless = asked.kind in DATELESS
    if declared.holds == DATES and converters.is_sought(own) and not dateless:
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
    elif own is not None and declared.holds in EXAMPLES and not dateless:
        example = EXAMPLES[declared.holds]
        tries = {"bounds": {column: example} if parameter == "of" else example}
        hint = f"Use two {declared.holds}: {{bounds}}."
    else:
        hint = f"Convert it to {need}, or name another column."
    raise ParameterError(name, must, got, hint, **tries)
