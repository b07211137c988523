"""The tree of a formula: steps with types, which every back end computes alike.

A value is an integer of 64 bits, a float of 64 bits, true or false, a text, a date, a time or a
duration; or it is missing. Dates, times and durations are integers, of microseconds. Every step is
total: where it has no value, as in a division by zero, the value is missing. NaN and the empty text
are missing, so no step has to tell them from other values.

A step without a special rule is missing if one of its arguments is. The steps:

``column``, ``constant``             the value of a column, read as the type of the node; a constant
``add``, ``subtract``, ``multiply``  of two integers, missing beyond 64 bits; of two floats, by IEEE
``negate``, ``abs``                  of an integer or a float
``divide``                           of two floats; missing if the second is 0
``quotient``                         of two integers or floats, rounded down; missing if the second
                                     is 0
``remainder``                        of x and y: x less y times the quotient without its fraction,
                                     with the sign of x, as in SQL; missing if y is 0
``round``, ``floor``, ``ceil``,      of a float; halves are rounded away from zero
``sqrt``                             of a float; missing below 0
``float``                            the float nearest to an integer, 1 and 0 for true and false
``whole``                            the integer part of a float; missing beyond 64 bits
``equal``, ``less``, ``at_most``     of two values of one type, texts by code points
``among``                            whether a value equals one of the constants that follow
``and``, ``or``, ``not``             in the three-valued logic of SQL
``missing``                          whether a value is missing: true or false
``choose``                           condition, value, condition, value, ..., value otherwise
``coalesce``                         the first value that is not missing
``lower``, ``upper``                 letters replaced one by one (`LOWER`, `UPPER`)
``trim``                             without blanks at both, the left or the right side
``length``, ``substring``            in code points; from a position of at least 1, and how many
``right``                            the last code points
``join``                             one text after another
``replace``                          every occurrence of a text by another
``starts``, ``ends``, ``contains``   whether a text holds another at its start, end, or anywhere
``like``                             whether a text has a form, with % and _
``number_of``, ``time_of``           what a text says, by the reading rules
``text_of``                          the text of a value, by the reading rules
``instant``                          an integer as a time; missing outside the years 1 to 9999
``part``                             year, month, day, weekday (1 is Monday) ... of a time
``start``                            the start of the day, month, ... that a time lies in
``looked_up``                        what a public table says of a text, in pairs of both
``date_of``                          the date of a year, a month and a day; missing if there is none
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from functools import reduce
from operator import and_, eq, inv, le, lt, or_
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from sourdine.calendar import DAY, HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Step = Callable[[Any, "Formula", list[Any]], Any]


class Type(Enum):
    """The type of a value."""

    INTEGER = "an integer"
    FLOAT = "a number"
    BOOLEAN = "true or false"
    TEXT = "a text"
    DATE = "a date"
    TIME = "a time"
    DURATION = "a duration"


INTEGER, FLOAT, BOOLEAN, TEXT, DATE, TIME, DURATION = Type
NUMBERS = (INTEGER, FLOAT)
INSTANTS = (DATE, TIME)
WHOLE = (INTEGER, DATE, TIME, DURATION)
BLANKS = " \t\n\r\f\v"
SIZES = {"day": DAY, "hour": HOUR, "minute": MINUTE, "second": SECOND}
CLOCK = {"hour": (HOUR, 24), "minute": (MINUTE, 60), "second": (SECOND, 60)}
"""The length of a part of the time of day, and how many there are."""


@frozen
class Formula:
    """A step of a formula; before `types` has read it, its type is None.

    ``value`` is what it needs besides the steps whose values it takes: a constant, the name of a
    column, a pattern.
    """

    operation: str
    arguments: tuple[Formula, ...] = ()
    value: Any = None
    type: Type | None = None
    _hash: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        parts = (self.operation, self.arguments, self.value, self.type)
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        """Return the hash, which is computed once: trees are looked up at each step."""
        return self._hash

    def __iter__(self) -> Iterator[Formula]:
        """Yield the step and all below it."""
        yield self
        for one in self.arguments:
            yield from one

    @property
    def of_floats(self) -> bool:
        """Whether its first argument is a float."""
        return self.arguments[0].type is FLOAT

    def size(self, repeated: Mapping[str, int]) -> int:
        """Return how many steps it is written with, if some write their arguments several times.

        Examples
        --------
        >>> x = Formula("column", value="x")
        >>> Formula("abs", (Formula("negate", (x,)),)).size({"abs": 3})
        7
        """
        below = sum(one.size(repeated) for one in self.arguments)
        return 1 + repeated.get(self.operation, 1) * below

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once, in the order of the text."""
        return tuple(dict.fromkeys(n.value for n in self if n.operation == "column"))


# ---- Back ends of engines ------------------------------------------------------------------------


class NotExactError(Exception):
    """An operation that an engine does not compute exactly as NumPy, which then computes it."""


class Writer(ABC):
    """Writes typed formulas over the columns of a table, in the language of an engine."""

    steps: Mapping[str, Step]
    """How each operation is written, of what its arguments are; others are left to NumPy."""

    @abstractmethod
    def named(self, name: str, need: Type | None) -> Any:
        """Write a column that is read as a type."""

    @abstractmethod
    def constant(self, value: Any, kind: Type | None) -> Any:
        """Write a constant."""

    def write(self, node: Formula) -> Any:
        """Write a formula; raise `NotExactError` if it would not be exact, or too long."""
        if node.operation == "column":
            return self.named(node.value, node.type)
        if node.operation == "constant":
            return self.constant(node.value, node.type)
        if node.operation not in self.steps or self.is_long(node):
            raise NotExactError
        return self.steps[node.operation](self, node, list(map(self.write, node.arguments)))

    def is_long(self, node: Formula) -> bool:
        """Return whether a formula is written with more steps than the engine plans quickly."""
        return False


def cases(own: list[Any]) -> list[tuple[Any, Any]]:
    """Return the conditions and values of a choice; the last value is for all other cases."""
    return list(zip(own[:-1:2], own[1:-1:2], strict=True))


def _of(function: Callable[..., Any]) -> Step:
    return lambda _, __, own: function(*own)


COLUMN_STEPS: dict[str, Step] = {
    "equal": _of(eq), "less": _of(lt), "at_most": _of(le), "and": _of(and_), "or": _of(or_),
    "not": _of(inv), "among": _of(lambda x, *listed: reduce(or_, (x == one for one in listed))),
}  # fmt: skip
"""Steps of engines whose columns are objects with Python's operators."""


# ---- Letters -------------------------------------------------------------------------------------


def _letters() -> tuple[dict[str, str], dict[str, str]]:
    spans = ((0x41, 0x590), (0x1E00, 0x2000), (0xFF21, 0xFF5B))
    pairs = [(chr(i), chr(i).lower()) for first, end in spans for i in range(first, end)]
    both = [(a, b) for a, b in pairs if a != b and len(b) == 1 and b.upper() == a]
    return dict(both), {b: a for a, b in both}


LOWER, UPPER = _letters()
"""Letters that have exactly one counterpart in the other case: Latin, Greek, Cyrillic, Armenian.

Unicode has others, and some that become two letters. Libraries disagree about them, so they stay.
"""
