"""What every statistic is: a question that can plan, draw and explain.

=============  ==================================================================================
``release``    reads a `Frame`, runs the mechanisms once and returns a `Release`
``cost``       the total guarantee of the call, fixed before any data is read
``error``      what to expect before paying: a bound from public quantities alone
``limits``     intervals, from released numbers and public parameters alone
=============  ==================================================================================

A statistic says how it is drawn from a frame (`draw`), what is published of that (`value`), between
which ends the truth lies (`limits`), and how far off it will be (`planned`). Groups, persons, error
targets, tables and pictures are the same for all, here and in `sourdine.release`.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
from attrs import frozen

from sourdine.central.column_types import require_type
from sourdine.central.groups import ByGroup, each
from sourdine.central.parameters import CommonParameters
from sourdine.central.target import epsilon_for
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.mechanisms.mechanism import read_beta
from sourdine.privacy import SUBSTITUTE, Guarantee, protected
from sourdine.privacy.accounting import of_promise, widest
from sourdine.question import converters, sought
from sourdine.question import keys as grouping
from sourdine.release import Release
from sourdine.tally import Frame, Reading
from sourdine.tally.reading import STANDARD
from sourdine.tally.types import ANYTHING, TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central.finding.first import FoundFirst
    from sourdine.central.population import SumEvidence
    from sourdine.central.stages import Stages
    from sourdine.errors import PythonWording
    from sourdine.exact.parameters import Number
    from sourdine.privacy import Part
    from sourdine.release import Drawer, Release

__all__ = ["Statistic"]


CHECK = "sourdine check shows how a file without types, such as CSV, is read"
WHOLE_RANGE = (
    "The interval is the whole range, so the answer says nothing: type a larger {epsilon}. If "
    f"there are many records, the column may not be readable: {CHECK}."
)


@frozen(kw_only=True, slots=False)
class Statistic(CommonParameters):
    """What follows from the parameters that all statistics have."""

    wide: ClassVar[bool] = False
    """Whether groups are printed and drawn as the statistic does it, a line for each."""

    def __attrs_post_init__(self) -> None:
        self.check_groups()
        if not self.epsilon and self.target is not None:
            self._check_unit_of_error()
            object.__setattr__(self, "epsilon", epsilon_for(self))
        elif not self.epsilon:
            converters.epsilon(0)
        first = self.first()
        if first is None:
            self.check()
            if self.by is not None:
                ByGroup(question=self).check()
        else:
            first.check()
        if not (self.finds or self.needs_delta):
            converters.unused(self.delta, "delta", "where nothing needs it")

    def _check_unit_of_error(self) -> None:
        if self.units:
            raise ParameterError(
                "error",
                f"be left out, as its unit is not known: it is that of {self.units}",
                given(self.target),
                "Leave {error} out and type {epsilon}.",
                error=LEFT_OUT, epsilon=1,
            )  # fmt: skip

    def check(self) -> None:
        """Refuse parameters that do not go together; those that are found are settled by then."""

    def first(self) -> FoundFirst | None:
        """Return what finds parameters that nobody knows; None if all are settled."""
        if not sought.is_sought(self.rows):
            return None
        from sourdine.central.finding.rows import RowsFirst  # noqa: PLC0415 - asks statistics

        if self.unit is None:
            raise ParameterError(
                "unit",
                "be the column that names a person, where rows of each are to be found",
                "none",
                "Type {unit}.",
                unit="patient",
            )
        return RowsFirst(question=self)

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
        drawer = self.drawer
        if drawer is not self:
            return drawer.parts
        return widest(self.cost, self.own_parts, self.of_private_number().own_parts)

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
        """Whether the number of records is fixed."""
        return self.relation is SUBSTITUTE

    @property
    def known(self) -> bool:
        """Whether the statistic takes the number of records for public."""
        return False

    @property
    def alone(self) -> bool:
        """Whether it is asked of all rows: no groups, and no person's rows are dropped."""
        return self.by is None and self.unit is None

    def of_private_number(self) -> Self:
        """Return the statistic for rows whose number is private."""
        return self

    def one_of(self, m: int) -> Self:  # noqa: ARG002
        """Return the statistic as one of m answers whose intervals hold together."""
        return self

    @property
    @abstractmethod
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know: a function of the call alone."""

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return protected(self.unit, self.rows)

    @property
    def person(self) -> tuple[str, ...]:
        """The caveats on whom the promise is for."""
        if self.unit is not None:
            rows = "one row was" if self.rows == 1 else f"at most {self.rows} rows were"
            kept = f"The promise is for each {self.unit}, not for each row: of each {rows} kept."
            return (f"{kept} Intervals do not cover what that leaves out.",)
        if self.rows == 1:
            return ()
        trusted = "that nobody owns more is taken on trust, for no unit was named."
        return (f"The promise is for a person, with at most {self.rows} records; {trusted}",)

    def reads(self) -> dict[str, str | None]:
        """Return the columns that must be there, by the parameters that name them."""
        unit = {} if self.unit is None else {"unit": self.unit}
        return {"column": self.column, **unit}

    @cached_property
    def _columns(self) -> list[tuple[str, str | None]]:
        """The columns that it reads, those of groups too, each after the parameter naming it."""
        return [*self.reads().items(), *(("by", column) for column in grouping.columns(self.by))]

    def asks_about(self) -> list[tuple[str, str | None]]:
        """Return the columns whose values are asked about, each after the parameter naming it.

        The column that names a person is not among them, unless it is asked about as well.
        """
        return [(parameter, column) for parameter, column in self._columns if parameter != "unit"]

    def needs(self, data: Frame) -> list[str]:
        """Return the columns that it reads: of rows that are kept by contents, these count."""
        return [data.resolve(column) for _, column in self._columns]

    @property
    def needed(self) -> str:
        """What its column must hold (`sourdine.tally.types`)."""
        return ANYTHING

    def require_columns(self, data: Frame) -> None:
        """Refuse columns that are not there, or whose type cannot hold what is asked for.

        *Claim*: nothing is charged for what is refused. *Checked by*
        ``test_declared_types_are_refused_before_anything_is_charged``.
        """
        for parameter, column in self._columns:
            need = self.needed if parameter == "column" else TEXTS
            self.require_column(data, column, need, parameter)

    def require_column(
        self, data: Frame, column: str | None, need: str, parameter: str = "column"
    ) -> None:
        """Refuse one column, named by a parameter, that cannot be read as it must be."""
        try:
            name = data.resolve(column)
        except ParameterError as error:
            raise error.renamed(column=parameter) from None
        require_type(self, data, name, need, parameter)

    @cached_property
    def drawer(self) -> Statistic | ByGroup | FoundFirst:
        """What draws and explains the answer: the statistic, or one for each group."""
        first = self.first()
        if first is not None:
            return first
        return self if self.by is None else ByGroup(question=self)

    def release(self, data: object) -> Release:
        """Draw and publish; what is spent is `cost`."""
        frame, asked = Frame(data, read=self.read).afresh(), self
        self.require_columns(frame)
        if frame.parsed:
            asked = self.of_private_number()
        if self.unit is not None and not sought.is_sought(self.rows):
            needed = frame.only(*self.needs(frame))
            frame = needed.bound(self.unit, self.rows, source=self.source)
        drawer = asked.drawer
        drawn = drawer.draw(frame)
        return drawer.release_kind(
            value=drawer.value(drawn),
            cost=self.cost,
            mechanism=drawer,
            caveats=drawer.caveats,
            drawn=drawn,
            grid=getattr(self, "grid", None),
        )

    @abstractmethod
    def draw(self, data: Frame) -> dict[str, Any]:
        """Read and draw: every number that is drawn, by name."""

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        """Read and draw for each of several groups, with noise from one call where that can be."""
        return [self.draw(data) for data in frames]

    def foresee(self, data: Frame) -> None:
        """Say what will be read first."""

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Draw in stages: what is read next is said, then others may say theirs, then it is read.

        So statistics that are drawn together share passes over the data.
        """
        for data in frames:
            self.foresee(data)
        yield
        return self.draw_all(frames)

    def evidence(self, drawn: Mapping[str, Any]) -> SumEvidence | None:  # noqa: ARG002
        """Return what was drawn of a law on [0, 1], where the statistic is its mean."""
        return None

    @property
    def span(self) -> tuple[Any, Any] | None:
        """The least and the largest answer that there can be, where both are known."""
        return None

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        """Say so where an interval is the whole range: that follows from the release alone."""
        if self.span is None or not self.is_whole_range(*release.interval(self.shown)):
            return ()
        return (WHOLE_RANGE.format(epsilon=words.subject("epsilon")),)

    def is_whole_range(self, low: Any, high: Any) -> bool:  # noqa: ANN401
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
        about = self.n if n is None else converters.n(n)
        first = self.first()
        if first is not None:
            return first.planned(Fraction(read_beta(beta)), about)
        if self.by is None:
            return self.planned(read_beta(beta), about)
        groups = ByGroup(question=self)
        return groups.part.planned(each(read_beta(beta), groups.planned_for), about)

    @property
    def lasting(self) -> bool:
        """Whether values are dates or times, so that their differences are durations."""
        return False

    @property
    def error_lasts(self) -> bool:
        """Whether errors are durations: they are then in microseconds."""
        return False

    def public_n(self, n: int | None) -> int:
        """Return the public number of records, where an error depends on it."""
        if n is None:
            raise ParameterError(
                "n",
                f"be a number for the error of a {self.kind}",
                "none",
                "Type about how many records you expect, from public knowledge, such as {n}.",
                n=1000,
            )
        return n

    @property
    def units(self) -> str:
        """What an error is counted in, where that is known only once it is found."""
        return "found rows" if sought.is_sought(self.rows) else ""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Drawer:  # type: ignore[override]
        """Return what drew the answer to the question that `to_dict` wrote."""
        return super().from_dict(facts).drawer

    @property
    def how(self) -> str:
        """What draws it, in a few words."""
        return "discrete Laplace noise"

    def __str__(self) -> str:
        return f"{self.kind}, {self.how}"

    @property
    def name(self) -> str:
        """The statistic, its column and its groups, in a few words."""
        column = f" of {self.column}" if self.column else ""
        groups = " and ".join(grouping.columns(self.by))
        return f"{self.kind}{column}" + (f" by {groups}" if groups else "")

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return self.name[0].upper() + self.name[1:]
