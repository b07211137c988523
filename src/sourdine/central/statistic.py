"""`Statistic`: a question that plans, draws and explains; the base of every statistic."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from collections.abc import Generator
from fractions import Fraction
from functools import cached_property
from math import floor, inf, isinf
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import attrs
import numpy as np
from attrs import field, frozen

from sourdine.calendar import about, moment, spelled, unit_of
from sourdine.central.groups import ByGroup
from sourdine.central.intervals import each
from sourdine.central.parameters import CommonParameters, rounded, wrong_type
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.frames.cells import Octaves, Ticks
from sourdine.frames.engine import Engine
from sourdine.frames.frame import Frame
from sourdine.frames.memory import ANYTHING, DATES, NUMBERS, TEXTS
from sourdine.frames.people import PLAIN, Reduction, exponent
from sourdine.frames.reading import STANDARD, Reading
from sourdine.grid import Grid
from sourdine.mechanisms.mechanism import read_beta, source_of_keys
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import WHAT, param
from sourdine.privacy import SUBSTITUTE, Guarantee
from sourdine.privacy.accounting.parts import of_promise, widest
from sourdine.privacy.guarantee import protected
from sourdine.results.release import Display
from sourdine.results.tables import brief

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from sourdine.central.finding.bounds import BoundsFirst
    from sourdine.central.finding.two_stage import TwoStage
    from sourdine.central.intervals import SumEvidence
    from sourdine.errors import PythonWording
    from sourdine.exact import Number
    from sourdine.parameters.converters import Bounds
    from sourdine.privacy import Part
    from sourdine.results.release import Estimator, Release
    from sourdine.results.tables import Columns


# ---- Several draws in step, so that what they read can be read in one pass -----------------------
#
# A draw in stages is a generator: it says what it will read
# (`sourdine.frames.frame.Frame.prefetch`) and yields, then reads and draws. Its value is what was
# drawn.


T = TypeVar("T")
Stages = Generator[None, None, T]


def in_step(drawings: Sequence[Stages[T]]) -> Stages[list[T]]:
    """Let draws go on together, a stage of each at a time."""
    drawn: dict[int, T] = {}
    while True:
        for i, drawing in enumerate(drawings):
            if i not in drawn:
                try:
                    next(drawing)
                except StopIteration as end:
                    drawn[i] = end.value
        if len(drawn) == len(drawings):
            return [drawn[i] for i in range(len(drawings))]
        yield


def finished(drawing: Stages[T]) -> T:
    """Go through all stages."""
    while True:
        try:
            next(drawing)
        except StopIteration as end:
            found: T = end.value
            return found


# ---- The epsilon that reaches an accuracy, from public inputs alone ------------------------------


LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)
HUGE = 10**40
"""A number above this is not written out."""


def epsilon_for(question: Statistic) -> Fraction:
    """Return the least epsilon, of four digits, whose planned error is within the target.

    Notes
    -----
    *Claim*: the target is reached, and not with one digit less. *Checked by*
    ``test_a_target_is_reached_and_not_by_less``.
    """
    goal, beta = _goal(question), 1 - question.confidence

    def reached(epsilon: Fraction) -> bool:
        try:
            return question.at(epsilon).error(beta) <= goal
        except ParameterError:  # so small an epsilon that its noise passes 64 bits
            return False

    if question.at(MOST_EPSILON).error(beta) > goal:
        said = about if question.error_lasts else "{:g}".format
        raise ParameterError(
            "error", f"be reachable with epsilon at most {MOST_EPSILON}", said(float(goal)),
            "Use a larger error, or a larger {n} if there are more records.",
        )  # fmt: skip
    if reached(LEAST_EPSILON):
        return LEAST_EPSILON
    high = Fraction(1)
    while not reached(high):
        high *= 10
    while high / 10 > LEAST_EPSILON and reached(high / 10):
        high /= 10
    low = max(high / 10, LEAST_EPSILON)
    while rounded(high) != rounded(low) and high > low * (1 + Fraction(1, 10**6)):
        middle = rounded((low + high) / 2)
        if middle in (low, high):
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return rounded(high)


def _goal(question: Statistic) -> Fraction:
    """Return the target as a number, in microseconds if errors are durations."""
    target, widest, lasts = question.target, question.widest, question.error_lasts
    example: str | float = 10.0
    if lasts:
        _, size = unit_of(widest / 50)
        example = spelled(max(int(widest / 50 // size), 1) * size)
    elif not isinf(widest):
        example = float(f"{widest / 50:.1g}")
    if lasts != isinstance(target, dt.timedelta):
        raise ParameterError(
            "error", "be a duration for dates" if lasts else "be a number",
            "a number" if lasts else "a duration", "Use {error}.", error=example,
        )  # fmt: skip
    micro = dt.timedelta(microseconds=1)
    goal = Fraction(target // micro if isinstance(target, dt.timedelta) else target or 0)
    if goal >= widest:
        said = about if lasts else "{:g}".format
        raise ParameterError(
            "error", f"be below {said(widest)}, the largest possible error",
            given(goal) if goal > HUGE else said(float(goal)), "Use {error}.", error=example,
        )  # fmt: skip
    return goal


# ---- What every statistic is: a question that can plan, draw and explain -------------------------
#
# ``release``    reads a `Frame`, runs the mechanisms once and returns a `Release`
# ``cost``       the total guarantee of the call, fixed before any data is read
# ``error``      what to expect before paying: a bound from public quantities alone
# ``limits``     intervals, from released numbers and public parameters alone
#
# A statistic says how it is drawn from a frame (`draw`), what is published of that (`value`),
# between which ends the truth lies (`limits`), and how far off it will be (`planned`). Groups,
# persons, error targets, tables and pictures are the same for all, here and in `sourdine.results`.


CHECK = "sourdine inspect shows how a file without types, such as CSV, is read"
WHOLE_RANGE = (
    "The interval is the whole range, so the answer says nothing: use a larger {epsilon}. If "
    f"there are many records, the column may not be readable: {CHECK}."
)


REDUCED = {
    "sum": "sum", "mean": "mean", "min": "least", "max": "largest", "last": "last value",
    "count": "number",
}  # fmt: skip
"""What a person's value is of their rows, in words."""


@frozen(kw_only=True, slots=False)
class Statistic(CommonParameters):
    """What follows from the parameters that all statistics have."""

    wide: ClassVar[bool] = False
    """Whether groups are printed and drawn as the statistic does it, a line for each."""
    shown: ClassVar[Mapping[str, Any]] = {}
    """How numbers are displayed (`Display`), where that is not the usual way."""
    excerpts: ClassVar[bool] = True
    """Whether the first of many groups can be printed without the others."""

    def __attrs_post_init__(self) -> None:
        self._check_groups()
        if self.per_person is not None:
            self._check_persons()
        if not self.epsilon and self.target is None:
            converters.epsilon(0)
        elif not self.epsilon:
            if self.units:
                must = f"be omitted, as its unit is not known: it is that of {self.units}"
                got, tries = given(self.target), {"error": LEFT_OUT, "epsilon": 1}
                raise ParameterError("error", must, got, "Omit {error} and use {epsilon}.", **tries)
            object.__setattr__(self, "epsilon", epsilon_for(self))
        first = self.first()
        if first is None:
            self.check()
            if self.by is not None:
                ByGroup(question=self).check()
        else:
            first.check()
        _ = self.reduction
        if not (self.finds or self.needs_delta):
            converters.unused(self.delta, "delta", "where nothing needs it")

    def _check_groups(self) -> None:
        """Refuse keys without groups, groups without keys, and found keys without a delta."""
        if self.by is None:
            if self.keys or self.other:
                must = "name the column that holds the keys"
                raise ParameterError("by", must, "", "Use {by}, for example.", by="region")
            return
        if self.keys is None:
            names, listed = converters.columns(self.by), ["a", "b"]
            raise ParameterError(
                "keys", "list the groups", "", "Which groups occur is private, so list the "
                "possible ones from public knowledge. Use {keys}; or {keys:unknown} with {delta}.",
                delta=1e-6, keys=listed if len(names) == 1 else dict.fromkeys(names, listed),
            )  # fmt: skip
        object.__setattr__(self, "keys", converters.matched(self.by, self.keys))
        if self.other:
            converters.require_apart(self.keys)
        if self.finds and not self.delta:
            raise ParameterError(
                "delta", "be above 0 if keys are unknown: naming a key that only one person has "
                "would reveal that person", "0", "List the keys, or use {delta}.", delta=1e-6,
            )  # fmt: skip

    def _check_persons(self) -> None:
        """Refuse what does not go together with one value for each person."""
        hint, tries = "Omit {per_person}.", {"per_person": LEFT_OUT}
        if "per_person" in self.unlisted:
            must = f"be omitted for {self.kind}, which has a value of its own for each column"
            raise ParameterError("per_person", must, "", hint, **tries)
        if self.unit is None:
            must = "name the column that identifies a person, whose rows become one value"
            raise ParameterError("unit", must, "", "Use {unit}.", unit="patient")
        if self.rows != 1:
            raise ParameterError(
                "rows", "be omitted with {per_person}: all rows of a person become one value, so "
                "none has to be dropped", given(self.rows), "Omit {rows}.", rows=LEFT_OUT,
            )  # fmt: skip
        groups = converters.columns(self.by)
        if self.column in groups or (self.column is None and groups and self.kind != "count"):
            raise ParameterError(
                "column", "be named with {by} and {per_person}, and be no column of groups",
                "" if self.column is None else repr(self.column),
                "Name the column whose values are reduced, and other columns for groups.",
            )  # fmt: skip

    def check(self) -> None:
        """Refuse parameters that do not go together; those that are found are settled by then."""

    def check_delta(self, method: str) -> None:
        """Refuse a delta that nothing needs, and none where the method needs one."""
        if method == "gaussian" and not self.delta:
            must = "be above 0 for method 'gaussian'"
            raise ParameterError("delta", must, "0", "Use {delta}.", delta=1e-6)
        if method != "gaussian" and not self.finds:
            converters.unused(self.delta, "delta", f"for method {method!r}, which needs none")

    def first(self) -> TwoStage | None:
        """Return what finds parameters that nobody knows; None if all are settled."""
        if not converters.is_unknown(self.rows):
            return None
        from sourdine.central.finding.two_stage import RowsFirst

        if self.unit is None:
            must = "name the column that identifies a person, to find the rows of each"
            raise ParameterError("unit", must, "", "Use {unit}.", unit="patient")
        return RowsFirst(question=self)

    def bounds_first(self) -> BoundsFirst | None:
        """Return what finds the bounds, if they are sought."""
        if not converters.is_unknown(getattr(self, "bounds", None)):
            return None
        from sourdine.central.finding.bounds import BoundsFirst

        return BoundsFirst(question=self)

    def as_read(self, reading: Reading) -> Self:
        """Return the question with its text read like this, unless it says how itself."""
        same = self.read != STANDARD or reading == STANDARD
        return self if same else self.changed(read=reading)

    def at(self, epsilon: Number) -> Self:
        """Return the question at another epsilon."""
        return self.changed(epsilon=epsilon)

    def changed(self, **parameters: object) -> Self:
        """Return the question with other parameters; its epsilon is settled, whatever asked."""
        typed: dict[str, Any] = parameters
        return attrs.evolve(self, error=None, **typed)

    @cached_property
    def cost(self) -> Guarantee:
        """The total guarantee; none at all if the randomness can be repeated."""
        if not self.source.private:
            return Guarantee.none(self.relation)
        return Guarantee(self.epsilon, self.spare, self.relation)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What the loss of the call is made of, at most, whatever is found on the way.

        Whether a public number of records is taken for private, as in a file that is read as text,
        shows with the data: this holds for both. *Checked by*
        ``test_every_question_says_what_its_loss_is_made_of``.
        """
        if not self.source.private:
            return of_promise(self.cost)
        estimator = self.estimator
        if estimator is not self:
            return estimator.parts
        return widest(self.cost, self.own_parts, self.of_private_number.own_parts)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """What one answer loses, of rows that are no groups: where nothing is proved, `cost`."""
        return of_promise(self.cost)

    @property
    def spare(self) -> Fraction:
        """The delta of the promise: 0 for most."""
        return self.delta

    @property
    def substitutes(self) -> bool:
        return self.relation is SUBSTITUTE

    @property
    def finds(self) -> bool:
        """Whether the keys of groups are found by a private threshold."""
        return isinstance(self.keys, str)

    @property
    def needs_delta(self) -> bool:
        """Whether what draws one answer has a delta of its own."""
        return getattr(self, "method", "") == "gaussian"

    @property
    def known(self) -> bool:
        """Whether the statistic takes the number of records for public."""
        return False

    @property
    def alone(self) -> bool:
        """Whether it is asked of all rows: no groups, and neither a person nor a filter drops any.

        Under `SUBSTITUTE` the number of records is public, but not how many of them a filter
        keeps: a record that is replaced may pass it before and not after. So a statistic with
        ``where`` takes the number of its rows as private, like one of a group (docs/mathematics,
        "Filters").
        """
        return self.by is None and self.unit is None and self.where is None

    @cached_property
    def of_private_number(self) -> Self:
        """The statistic for rows whose number is private."""
        return self

    def one_of(self, m: int) -> Self:
        """Return the statistic as one of m answers whose intervals hold together."""
        return self

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """The caveats: a function of the call alone."""

    @property
    def display(self) -> Display:
        title = self.name[0].upper() + self.name[1:]
        own = {"head": self.kind, "title": title, "protected": protected(self.unit, self.rows)}
        return Display(**{**own, **self.shown})

    @cached_property
    def filtering(self) -> tuple[str, ...]:
        """The caveats that name the condition of rows, and public tables."""
        joined = [f"{path} by {column}" for path, column in self.lookup or ()]
        added = (f"Public columns are looked up in {', '.join(joined)}.",) if joined else ()
        if self.where is None:
            return added
        return (*added, f"Only rows for which this is true are included: {self.where}.")

    def to_dict(self) -> dict[str, Any]:
        said = super().to_dict()
        return {**said, "lookup": dict(said["lookup"])} if "lookup" in said else said

    @property
    def person(self) -> tuple[str, ...]:
        """The caveats on whom the promise is for."""
        if self.per_person is not None:
            how, _, order = self.per_person.partition(" by ")
            value = f"{REDUCED[how]} of all their rows" + (f" by {order}" if order else "")
            guarantee = "and the guarantee is for all of these."
            once = f"Each {self.unit} counts once, with the {value}, {guarantee}"
            several = f"A {self.unit} whose rows name several groups is in none of them."
            return (once, several) if self.by is not None else (once,)
        if self.unit is not None:
            rows = "one row was" if self.rows == 1 else f"at most {self.rows} rows were"
            kept = f"The guarantee is for each {self.unit}, not each row: {rows} kept of each."
            return (f"{kept} Intervals do not cover the rows that were dropped.",)
        if self.rows == 1:
            return ()
        trusted = "this limit is not enforced, because no unit was given."
        return (f"The guarantee is for persons with at most {self.rows} records; {trusted}",)

    def reads(self) -> dict[str, str | None]:
        """Return the columns that must be there, by the parameters that name them."""
        named = {} if self.unit is None else {"unit": self.unit}
        if self.reduction is not None and self.reduction.order is not None:
            named["per_person"] = self.reduction.order
        if self.column is None and self.per_person == "count":
            return {**named}
        return {"column": self.column, **named}

    def asks_about(self, known: Collection[str] = ()) -> list[tuple[str, str | None]]:
        """Return the columns whose values are asked about, each after the parameter naming it.

        The column that names a person is not among them, unless it is asked about as well. Of a
        formula these are the columns that it names.
        """
        found = [
            (parameter, column)
            for parameter, text in self.names()
            if parameter != "unit"
            for column in _columns(text, known)
        ]
        where = () if self.where is None else _columns(self.where, ())
        return [*found, *(("where", column) for column in where)]

    def names(self) -> list[tuple[str, str | None]]:
        """Return the columns and formulas that it names, each after the parameter."""
        return self._columns

    @cached_property
    def _columns(self) -> list[tuple[str, str | None]]:
        return [*self.reads().items(), *(("by", column) for column in converters.columns(self.by))]

    @cached_property
    def _texts(self) -> tuple[tuple[str, str], ...]:
        return tuple((parameter, text) for parameter, text in self.names() if text is not None)

    def selected(self, data: Frame) -> Frame:
        """Return the rows that ``where`` keeps, with the columns that formulas derive.

        The filter comes first, also before rows of a person are dropped: so every record adds or
        removes at most itself, and the rest is as for data that hold only these rows.
        """
        lookup = dict(self.lookup) if self.lookup else None
        return data.derived(self.where, *self._texts, lookup=lookup)

    def needs(self, data: Frame) -> list[str]:
        """Return the columns that it reads: of rows that are kept by contents, these count."""
        return [data.resolve(column) for _, column in self.names()]

    @property
    def needed(self) -> str:
        """What its column must hold (`sourdine.frames.memory`)."""
        return ANYTHING

    @property
    def reading_step(self) -> tuple[Fraction | None, tuple[Fraction, ...]]:
        """The step of the lattice on which values count, and its ends; None if there is none."""
        return None, ()

    @cached_property
    def reduction(self) -> Reduction | None:
        """How the rows of a person become one value; None if they stay rows."""
        if self.per_person is None or self.unit is None:
            return None
        how, _, order = self.per_person.partition(" by ")
        dated = self.needed == DATES
        if dated and how in {"sum", "mean"}:
            must, tries = "be 'min', 'max' or 'last by' a column for dates", {"per_person": "max"}
            raise ParameterError("per_person", must, repr(how), "Use {per_person}.", **tries)
        step, ends = self.reading_step
        return Reduction(
            self.unit, how, self.column,
            exponent=PLAIN if step is None or dated else exponent(step, ends),
            dated=dated, order=order or None, groups=converters.columns(self.by),
        )  # fmt: skip

    def require_columns(self, data: Frame) -> None:
        """Refuse columns that are not there, or whose type cannot hold what is asked for.

        *Claim*: nothing is charged for what is refused. *Checked by*
        ``test_declared_types_are_refused_before_anything_is_charged``.
        """
        for parameter, column in self.names():
            self.require_column(data, column, self.held(parameter, column), parameter)

    def held(self, parameter: str, column: str | None) -> str:
        """Return what a column must hold that a parameter names (`sourdine.frames.memory`)."""
        own = self.needed
        if self.reduction is not None and self.reduction.counts:
            own = TEXTS
        elif self.reduction is not None:
            own = DATES if self.reduction.dated else NUMBERS
        return {"column": own, "weights": NUMBERS}.get(parameter, TEXTS)

    def require_column(
        self, data: Frame, column: str | None, need: str, parameter: str = "column"
    ) -> None:
        """Refuse one column, named by a parameter, that cannot be read as it must be."""
        try:
            name = data.resolve(column)
        except ParameterError as error:
            raise error.renamed(column=parameter) from None
        declared = data.declared(name)
        if declared is not None and not declared.fits(need, data.reading):
            raise wrong_type(self, declared, name, need, parameter)

    @cached_property
    def estimator(self) -> Statistic | ByGroup | TwoStage:
        """What draws and explains the answer: the statistic, or one for each group."""
        return self.first() or (self if self.by is None else ByGroup(question=self))

    def release(self, data: object) -> Release:
        """Draw and publish; what is spent is `cost`."""
        frame = Frame(data, read=self.read)
        if isinstance(data, (Frame, Engine)):  # it may hold answers to an earlier question
            frame = frame.afresh()
        frame, asked = self.selected(frame), self
        self.require_columns(frame)
        frame = frame.computed()
        if frame.parsed:
            asked = self.of_private_number
        if self.reduction is not None:
            frame = frame.reduced(self.reduction)
        elif self.unit is not None and not converters.is_unknown(self.rows):
            needed = frame.only(*self.needs(frame))
            frame = needed.bound(self.unit, self.rows, source=source_of_keys(self.source))
        if getattr(self, "weights", None) is not None:
            frame = self.counted(frame)
        estimator = asked.estimator
        drawn = estimator.draw(frame)
        return estimator.release_kind(
            value=estimator.value(drawn), cost=self.cost, mechanism=estimator,
            caveats=(*self.filtering, *estimator.caveats), drawn=drawn,
            grid=getattr(self, "grid", None),
        )  # fmt: skip

    def counted(self, data: Frame) -> Frame:
        """Return the rows as they are counted."""
        return data

    @property
    def copies(self) -> int:
        """How many rows that are counted alike one person owns at most."""
        return self.rows

    def draw(self, data: Frame) -> dict[str, Any]:
        """Read and draw every number, by name. A class defines this or `draw_all`."""
        return self.draw_all([data])[0]

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        """Read and draw for each of several groups, with noise from one call where that can be."""
        return [self.draw(data) for data in frames]

    def prefetch(self, data: Frame) -> None:
        """Say what will be read first."""

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Draw in stages: what is read next is said, then others may say theirs, then it is read.

        So statistics that are drawn together share passes over the data.
        """
        for data in frames:
            self.prefetch(data)
        yield
        return self.draw_all(frames)

    def arranged(self, columns: Columns) -> Columns:
        """Return the numbers of all groups as they are shown: in which order, and which."""
        return columns

    def evidence(self, drawn: Mapping[str, Any]) -> SumEvidence | None:
        """Return what was drawn of a law on [0, 1], where the statistic is its mean."""
        return None

    @property
    def span(self) -> tuple[Any, Any] | None:
        """The least and the largest answer that there can be, where both are known."""
        return None

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say so where an interval is the whole range: that follows from the release alone."""
        if self.span is None or not self.is_whole_range(*release.interval(self.display.confidence)):
            return ()
        return (WHOLE_RANGE.format(epsilon=words.subject("epsilon")),)

    def is_whole_range(self, low: Any, high: Any) -> bool:
        """Return whether an interval, or each of several, leaves nothing out."""
        least, most = self.span or (-inf, inf)
        return bool(np.all(np.less_equal(low, least)) and np.all(np.greater_equal(high, most)))

    @property
    def widest(self) -> float:
        """The error that every answer stays within, whatever is drawn."""
        return inf

    @abstractmethod
    def planned(self, beta: float, n: int | None) -> float:
        """Return what the error passes with probability ``beta`` at most, for ``n`` records."""

    def error(self, beta: Number = Fraction(1, 20), *, n: int | None = None) -> float:
        """Return what the error passes with probability ``beta`` at most, before paying.

        For groups it holds for all of them together, with ``n`` records in each.
        """
        about, risk = self.n if n is None else converters.n(n), read_beta(beta)
        estimator = self.estimator
        if isinstance(estimator, ByGroup):
            return estimator.part.planned(each(risk, estimator.planned_for), about)
        if isinstance(estimator, Statistic):
            return estimator.planned(risk, about)
        return estimator.planned(Fraction(risk), about)

    @property
    def is_datetime(self) -> bool:
        return False

    @property
    def error_lasts(self) -> bool:
        """Whether errors are durations: they are then in microseconds."""
        return False

    def public_n(self, n: int | None) -> int:
        """Return the public number of records, where an error depends on it."""
        if n is not None:
            return n
        hint = "Use the approximate number of records, from public knowledge, such as {n}."
        must = f"be given, because the error of a {self.kind} depends on the number of records"
        raise ParameterError("n", must, "", hint, n=1000)

    @property
    def units(self) -> str:
        """What an error is counted in, where that is known only once it is found."""
        return "found rows" if converters.is_unknown(self.rows) else ""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Estimator:  # type: ignore[override]
        """Return what drew the answer to the question that `to_dict` wrote."""
        return super().from_dict(facts).estimator

    @property
    def how(self) -> str:
        """The mechanism, in a few words."""
        return "discrete Laplace noise"

    def __str__(self) -> str:
        return f"{self.kind}, {self.how}"

    @property
    def name(self) -> str:
        """The statistic, its column and its groups, in a few words."""
        column = f" of {self.column}" if self.column else ""
        groups = " and ".join(converters.columns(self.by))
        where = "" if self.where is None else f" where {self.where}"
        return f"{self.kind}{column}" + (f" by {groups}" if groups else "") + where


def _columns(text: str | None, known: Collection[str]) -> tuple[str | None, ...]:
    """Return the columns that a name or a formula is about; names of known columns are names."""
    if text is None or text.isidentifier() or text in known:
        return (text,)
    from sourdine.frames.formulas.engine import columns_of

    return columns_of(text)


# ---- Statistics of a column of numbers, or of dates, with public bounds --------------------------


MOST_POINTS = 1 << 42


@frozen(kw_only=True, slots=False)
class Numeric(Statistic):
    """The common part: bounds, step and the lattice they make."""

    required: ClassVar[tuple[str, ...]] = ("bounds",)
    of_dates: ClassVar[bool] = False
    """Whether it is something that dates have, too."""
    searches: ClassVar[bool] = True
    """Whether bounds that nobody knows are searched for; else the lattice of octaves has none."""
    centred: ClassVar[bool] = True
    """Whether bounds are best sought around the data, wherever they lie."""
    shaped: ClassVar[bool] = False
    """Whether the number of ticks decides what is drawn, not only its noise."""
    found_units: ClassVar[str] = "found widths"
    """What an error is counted in where bounds are found."""

    bounds: Bounds = field(default=None, converter=converters.bounds_or_find, metadata=param(
        kinds.BOUNDS, "Public bounds, chosen without looking at the data, such as 0 and 120 for an "
        "age, or two dates. Values outside are clamped. If the bounds are unknown: find, or none "
        "for one of them, or find after a wide range.", group=WHAT, unit="values",
    ))  # fmt: skip
    step: Fraction | dt.timedelta | None = field(
        default=None, converter=converters.step, metadata=param(
            kinds.DISTANCE, "The step of the grid that values are rounded to, such as 1 for "
            "integers or '15 min' for times. Defaults to about a millionth of the range, or a day.",
            group=WHAT, unit="values",
    ))  # fmt: skip

    def check(self) -> None:
        _ = self.grid

    def first(self) -> TwoStage | None:
        return super().first() or (self.bounds_first() if self.searches else None)

    @property
    def needed(self) -> str:
        return DATES if self.is_datetime else NUMBERS

    @property
    def reading_step(self) -> tuple[Fraction | None, tuple[Fraction, ...]]:
        if converters.is_unknown(self.bounds):
            return (self.step, ()) if isinstance(self.step, Fraction) else (None, ())
        return self.grid.step, (self.grid.lower, self.grid.upper)

    @property
    def units(self) -> str:
        """What an error is counted in where bounds or rows are found."""
        own = self.found_units if self.searches and converters.is_unknown(self.bounds) else ""
        return " times ".join(filter(None, (own, super().units)))

    @cached_property
    def grid(self) -> Grid:
        """The lattice; of bounds that are sought there is none yet, unless none are needed."""
        if converters.is_unknown(self.bounds):
            if self.searches:
                raise AttributeError("grid")
            converters.check_step(self.step, self.bounds)
            return Octaves(*converters.ends(self.bounds), cast("Fraction | None", self.step))
        grid = lattice(self.bounds, self.step)
        if grid.points is not None and not self.of_dates:
            must = f"be two numbers, as a {self.kind} is not available for dates"
            hint = "Ask for their mean or quantiles. A duration is a number: use {bounds}."
            raise ParameterError("bounds", must, grid.points, hint, bounds=(0, 120))
        return grid

    @property
    def is_datetime(self) -> bool:
        return isinstance(self.bounds[0], dt.date)

    @cached_property
    def cell(self) -> Ticks:
        return Ticks(self.column, self.grid)

    @cached_property
    def last(self) -> int:
        return self.grid.last

    @cached_property
    def width(self) -> float:
        """The width of the range that the lattice covers."""
        return float(self.last * self.grid.step)

    @cached_property
    def lowest(self) -> float:
        return float(self.grid.lower)

    def place(self, p: float, rounded: Callable[[Fraction], int] = floor) -> Any:
        """Return what lies at a fraction of the range: a number, or a time in microseconds."""
        if not self.is_datetime:
            return self.lowest + p * self.width
        exact = self.grid.lower + Fraction(p) * self.last * self.grid.step
        return moment(rounded(exact), date=False)

    @property
    def clipping(self) -> str:
        changed = "intervals do not cover the resulting error."
        if isinstance(self.grid, Octaves):
            other = "anything else, such as a date, counts as missing"
            return f"Numbers are rounded to a public grid, {self.grid}; {other}; {changed}"
        if self.is_datetime:
            ends, _, step = str(self.grid).partition(" in ")
            return f"Values are clamped to {ends} and rounded to {step}; {changed}"
        step = brief(float(self.grid.step), 2)
        ends = " to ".join(brief(float(x)) for x in (self.grid.lower, self.grid.upper))
        return f"Values are clamped to {ends} and rounded to steps of {step}; {changed}"


def lattice(bounds: Bounds, step: Fraction | dt.timedelta | None) -> Grid:
    grid = Grid(bounds[0], bounds[1], step)
    if grid.last > MOST_POINTS:
        must = "give at most 2**42 grid points within the bounds"
        hint = "Omit {step} for about a million points, or use a larger one."
        raise ParameterError("step", must, given(step), hint, step=LEFT_OUT)
    return grid
