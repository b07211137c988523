"""What pandas' ``describe`` is to data that may be seen, for data that may not."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
from attrs import field, frozen

from sourdine.central.count import Count
from sourdine.central.describing.parts import CATEGORY, DATE, KINDS, NUMBER, WHOLE, Described
from sourdine.central.describing.sheet import cells, leaves_many_out
from sourdine.central.statistic import Statistic
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.privacy import Part
from sourdine.question import DATA, PRIVACY, WHAT, converters, kinds, says, sought
from sourdine.question.question import plain_parameter
from sourdine.release import Columns, Release
from sourdine.release.release import holding, read_confidence
from sourdine.tally.column import DATES, NUMBERS, WORDS
from sourdine.tally.types import TEXTS

if TYPE_CHECKING:
    from sourdine.errors import PythonWording
    from sourdine.tally import Frame, Reading

__all__ = ["Describe"]

EACH = "Each number is followed by how far off it may be; each holds with a probability of 95 %."
ASSUMED = (
    "Nothing was assumed but the names of the columns and the kinds that types state or you "
    "declared. Bounds were found: about as many records as stand beside 'beyond' may lie beyond "
    "each, and were moved in to it; intervals do not cover that."
)
LEFT_OUT = (
    "What cannot be read as a number counts as missing in a column of numbers. Categories that few "
    "records have are not named. Dates are only counted: ask for quantiles "
    "with two dates as bounds."
)
ROWS = Fraction(1, 50)
"""The part of epsilon that pays for the number of rows."""
STATED = {WORDS: CATEGORY, DATES: DATE}
"""The kind of a column whose type is declared and not one of numbers."""


def read_columns(x: object) -> tuple[str, ...] | None:
    """Return the names of columns."""
    names = converters.listed(x, "columns", ["age", "sex"])
    if names is not None and not all(isinstance(name, str) for name in names):
        raise ParameterTypeError(
            "columns", "be names", given(x), "Type {columns}.", columns=["age", "sex"]
        )
    return names


def read_kinds(x: object) -> tuple[tuple[str, str], ...]:
    """Return the kinds that are declared, by the names of columns."""
    if x is None:
        return ()
    pairs: Any = tuple(x.items()) if isinstance(x, Mapping) else x
    listed = isinstance(pairs, (list, tuple))
    if wrong := [pair for pair in pairs if not _is_kind(pair)] if listed else [x]:
        typed = wrong[0][1] if isinstance(wrong[0], tuple) and len(wrong[0]) == 2 else wrong[0]
        raise ParameterError(
            "kinds",
            "be 'number', 'whole', 'category' or 'date' for each column",
            given(typed),
            "Type {kinds}.",
            kinds={"zip": CATEGORY},
        )
    return tuple((str(name), str(kind)) for name, kind in pairs)


def _is_kind(pair: object) -> bool:
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and all(pair) and pair[1] in KINDS


@frozen(kw_only=True, slots=False)
class Describe(Statistic):
    r"""Of each column: how many values, which share is missing, bounds, mean, spread, deciles.

    Of a column of categories the most common ones. Nothing has to be public but the names of the
    columns: their kinds are chosen privately, unless they are declared or stated by the types of a
    frame or of a Parquet file, and bounds are found.

    Notes
    -----
    *Claim*: everything together costs what the question says: :math:`\varepsilon/50` for the number
    of rows and an equal share of the rest for each column, of which the parts are in
    `sourdine.central.describing.parts`; sequential composition adds them up. *Checked by*
    ``test_a_description_costs_what_it_says`` and ``test_neighbours_see_the_same[describe]``.
    *Claim*: each interval holds on its own. *Checked by* ``test_intervals_of_descriptions_cover``.

    Examples
    --------
    >>> table = {"age": list(range(20, 70)) * 100, "sex": ["f", "m"] * 2500}
    >>> found = Describe(epsilon=4).release(table).value
    >>> abs(found["age"]["mean"] - 44.5) < 2, found["sex"]["= f"] > 0.4
    (True, True)
    """

    kind: ClassVar[str] = "describe"
    populations: ClassVar[bool] = False
    text: ClassVar[str] = "The shape of a table that nobody described, column by column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv --epsilon 1 --plot people.png",
        "",
    )

    columns_: tuple[str, ...] | None = field(
        default=None, converter=read_columns, alias="columns",
        metadata=says(kinds.KEYS, "The columns; all if left out.", group=DATA),
    )  # fmt: skip
    declared: tuple[tuple[str, str], ...] = field(
        default=(), converter=read_kinds, alias="kinds",
        metadata=says(
            kinds.KINDS,
            "What is known of columns: number, whole (numbers), category or date. Else a frame's "
            "types say it, or it is chosen privately.",
            group=WHAT,
        ),
    )  # fmt: skip
    delta: Fraction = field(
        default=Fraction(1, 10**6), converter=converters.delta,
        metadata=says(
            kinds.PROBABILITY,
            "The probability with which the loss may pass epsilon, for naming categories.",
            group=PRIVACY,
        ),
    )  # fmt: skip
    column: None = field(init=False, default=None)
    target: None = field(init=False, default=None, eq=False, repr=False)
    confidence: Fraction = field(init=False, default=Fraction(19, 20), eq=False, repr=False)
    n: None = field(init=False, default=None)
    by: None = field(init=False, default=None)
    keys: None = field(init=False, default=None)
    other: bool = field(init=False, default=False)

    def check(self) -> None:
        """Refuse early what would be refused later."""
        if not self.delta:
            raise ParameterError(
                "delta", "be above 0: categories are named by a threshold", "0", "Type {delta}.",
                delta=1e-6,
            )  # fmt: skip
        self._require_enough(len(self.columns_ or "1"))

    def _require_enough(self, columns: int) -> None:
        """Refuse an epsilon too small to draw the noise of one of these columns."""
        try:
            self._check_parts(self.epsilon, columns)
        except ParameterError:
            tenfold = (self.epsilon * 10**k for k in range(1, 400))
            enough = next((x for x in tenfold if self._is_enough(x, columns)), None)
            if enough is None:  # something else is wrong
                raise
            raise ParameterError(
                "epsilon",
                f"be larger for a description of {columns} column{'s' * (columns > 1)}",
                given(plain_parameter(self.epsilon)),
                "Type {epsilon} or more" + (", or name fewer columns." if columns > 1 else "."),
                epsilon=enough,
            ) from None

    def _is_enough(self, epsilon: Fraction, columns: int) -> bool:
        try:
            self._check_parts(epsilon, columns)
        except ParameterError:
            return False
        return True

    def _check_parts(self, epsilon: Fraction, columns: int) -> None:
        self.part("value", None, columns, 1, epsilon).check()
        Count(epsilon=epsilon * ROWS, **self.common)

    def as_read(self, reading: Reading) -> Self:
        """Return the question with its text read like this."""
        return self.changed(read=reading)

    def changed(self, **parameters: object) -> Self:
        """Return the question with other parameters."""
        typed: dict[str, Any] = parameters
        return attrs.evolve(self, **typed)

    @property
    def needs_delta(self) -> bool:
        """Categories are named by a threshold."""
        return True

    @cached_property
    def common(self) -> dict[str, Any]:
        """What all parts have."""
        return {"relation": self.relation, "rows": self.rows, "source": self.source}

    @cached_property
    def counting(self) -> Count:
        """What counts the rows."""
        return Count(epsilon=self.epsilon * ROWS, **self.common)

    def part(
        self, name: str, declared: str | None, of: int, rows: int, epsilon: Fraction | None = None
    ) -> Described:
        """Return what is drawn of a column, one of so many, of about so many rows."""
        return Described(
            name=name,
            declared=declared,
            epsilon=(epsilon or self.epsilon) * (1 - ROWS) / of,
            delta=self.delta / of,
            rows=max(rows, 1),
            common=self.common,
        )

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """What the count of rows loses, and the promise of each listed column, or of all."""
        columns = len(self.columns_) if self.columns_ else 1
        each = Part.pure(self.epsilon * (1 - ROWS) / columns, columns)
        return (*self.counting.own_parts, each, Part.delta(self.delta / columns, columns))

    def reads(self) -> dict[str, str | None]:
        """Return the columns that must be there."""
        return {} if self.unit is None else {"unit": self.unit}

    def asks_about(self) -> list[tuple[str, str | None]]:
        """Return the columns that are named."""
        named = (*(self.columns_ or ()), *dict(self.declared))
        return [("columns", name) for name in named]

    def needs(self, data: Frame) -> list[str]:
        """Return the columns that it reads: all, unless some are named."""
        return [*super().needs(data), *(self.columns_ or data.columns)]

    def require_columns(self, data: Frame) -> None:
        """Refuse columns that are not there, or whose type cannot hold what is declared."""
        super().require_columns(data)
        declared, names = dict(self.declared), self._described(data)
        if not sought.is_sought(self.rows):  # else once they are found
            self._require_enough(len(names))
        for name in dict.fromkeys((*names, *declared)):
            need = NUMBERS if declared.get(name) in {NUMBER, WHOLE} else TEXTS
            self.require_column(data, name, need, "columns")

    def _described(self, data: Frame) -> tuple[str, ...]:
        """Return the columns that are described."""
        return self.columns_ or tuple(name for name in data.columns if name != self.unit)

    def draw(self, data: Frame) -> dict[str, Any]:
        """Draw the number of rows, then column by column."""
        names, declared = self._described(data), dict(self.declared)
        counted, drawn = self.counting.draw(data), {}
        rows = self.counting.value(counted)
        for name in names:
            stated = declared.get(name) or _stated(data, name)
            drawn[name] = self.part(name, stated, len(names), rows).draw(data)
        return {"rows": counted, "columns": drawn}

    def numbers(self, drawn: Mapping[str, Any], beta: float) -> dict[str, dict[str, Any]]:
        """Return every number with its ends, by column."""
        rows = _counted(self.counting, drawn["rows"], beta / 2)
        found = {}
        for name, own in drawn["columns"].items():
            part = self.part(name, own["kind"], len(drawn["columns"]), rows[0])
            numbers = part.numbers(own, beta)
            count = part.numbers(own, beta / 2)["count"]
            first, *rest = numbers.items()
            ordered = [first, ("missing", _missing(count, rows)), *rest]
            found[name] = {what: (v, *holding(v, ends)) for what, (v, *ends) in ordered}
        return found

    def value(self, drawn: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the numbers of each column, by name."""
        found = self.numbers(drawn, 0.05)
        return {
            name: {what: value for what, (value, _, _) in numbers.items()}
            for name, numbers in found.items()
        }

    def limits(self, release: Release, beta: float, of: str) -> dict[str, Any]:
        """Return the ends of each number on its own."""
        del of
        found = self.numbers(release.drawn, beta)
        return {
            name: {what: (low, high) for what, (_, low, high) in numbers.items()}
            for name, numbers in found.items()
        }

    def columns(self, release: Release) -> Columns:
        """Return one row for each number."""
        found = self.numbers(release.drawn, read_confidence(self.shown))
        rows = [(name, what, *x) for name, numbers in found.items() for what, x in numbers.items()]
        names, what, values, lower, upper = zip(*rows, strict=True)
        labels = {"column": list(names), "statistic": list(what)}
        return Columns(labels=labels, name="value", values=values, lower=lower, upper=upper)

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return columns side by side, as many as a terminal is wide."""
        found = self.numbers(release.drawn, read_confidence(self.shown))
        kinds_ = {name: own["kind"] for name, own in release.drawn["columns"].items()}
        return cells(found, kinds_)

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say of which columns the bounds that were found may leave many records out."""
        rough = [name for name, numbers in release.value.items() if leaves_many_out(numbers)]
        if not rough:
            return ()
        more = f"fewer {words.subject('columns')}, or a larger {words.subject('epsilon')}"
        text = (
            f"Of {', '.join(rough)} more than a tenth of the records may lie beyond each bound: "
            f"these numbers say little. Type {more}; or ask for each with bounds that you know."
        )
        return (text,)

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        return (EACH, ASSUMED, LEFT_OUT, *self.person)

    @property
    def how(self) -> str:
        """What draws it."""
        return "an equal share of epsilon for each column"

    @property
    def name(self) -> str:
        """What it is."""
        return "describe"

    def planned(self, beta: float, n: int | None) -> float:  # noqa: ARG002
        """Refuse: a description has many errors, in the units of its columns."""
        raise ParameterTypeError(
            "the error",
            "be of one statistic",
            "a description, which has many",
            "Plan a mean or a quantile at its share of epsilon.",
        )

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw a small picture of each column."""
        from sourdine.central.describing import figure  # noqa: PLC0415 - matplotlib is loaded there

        return figure.panels(self, release, **options)


def _counted(counting: Count, drawn: Mapping[str, Any], beta: float) -> tuple[int, int, int]:
    value = counting.value(drawn)
    release = Release(value=value, cost=counting.cost, mechanism=counting, drawn=drawn)
    return value, *counting.limits(release, beta, "sample")


def _missing(count: tuple[Any, Any, Any], rows: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return the share of rows that have no value, between the ends of both counts."""
    n, least, most = (max(float(x), 1.0) for x in rows)

    def share(there: float, of: float) -> float:
        return min(max(1 - float(there) / of, 0.0), 1.0)

    return share(count[0], n), share(count[2], least), share(count[1], most)


def _stated(data: Frame, name: str) -> str | None:
    """Return the kind that a column's type states: values are not looked at."""
    known = data.declared(name)
    if known is None or known.holds != NUMBERS:
        return None if known is None else STATED.get(known.holds)
    dtype = known.dtype.lower()  # such as int64, BIGINT, integer; bool, BOOLEAN
    return CATEGORY if dtype.startswith("bool") else WHOLE if "int" in dtype else NUMBER
