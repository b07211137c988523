"""The types of formulas: what each step takes, and how a column that states no type is read."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import field, frozen

from sourdine.calendar import DAY, HOUR, ISO, MINUTE, SECOND, read_duration
from sourdine.calendar import micros as lasting
from sourdine.frames.formulas.parsing import FUNCTIONS, refuse
from sourdine.frames.formulas.tree import INSTANTS, NUMBERS, WHOLE, Formula, Type
from sourdine.frames.memory import DATES, WORDS
from sourdine.frames.memory import NUMBERS as OF_NUMBERS
from sourdine.frames.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.frames.memory import Declared
    from sourdine.frames.reading import Reading


# ---- Columns -------------------------------------------------------------------------------------


_INTEGERS = re.compile(
    r"(?:u?(?:tiny|small|big|byte|short|long)?int(?:eger)?(?:8|16|32|64)?|tinyint|int[248])"
    r"(?:\[pyarrow\])?|long|short"
)


def type_of(declared: Declared | None, column: str = "") -> Type | None:
    """Return the type of the values of a column; None if it states none.

    Numbers that are not integers of at most 64 bits, such as decimals, are read as floats.

    Examples
    --------
    >>> from sourdine.frames.memory import Declared
    >>> [type_of(Declared("numbers", t)).name for t in ("Int64", "BIGINT", "uint8", "double")]
    ['INTEGER', 'INTEGER', 'INTEGER', 'FLOAT']
    >>> [type_of(Declared("numbers", t)).name for t in ("boolean", "HUGEINT", "decimal(9,2)")]
    ['BOOLEAN', 'FLOAT', 'FLOAT']
    """
    if declared is None:
        return None
    written = declared.dtype.lower()
    if declared.holds == WORDS:
        return Type.TEXT
    if declared.holds == DATES:
        whole = written.startswith("date") and not written.startswith("datetime")
        return Type.DATE if whole or written == "datetime64[d]" else Type.TIME
    if declared.holds == OF_NUMBERS:
        if written.startswith("bool"):
            return Type.BOOLEAN
        return Type.INTEGER if _INTEGERS.fullmatch(written) else Type.FLOAT
    return refuse(
        "name columns of single numbers, texts or dates",
        f"{column!r} of type {declared.dtype}",
        "Put single values into a separate column.",
    )


@frozen
class ColumnTypes:
    """The columns that a formula may name.

    Parameters
    ----------
    types
        The type of each; None if it states none, and each value is read as the formula needs it.
    reading
        How text is read.
    added
        Typed columns that are looked up in public tables.
    """

    types: Mapping[str, Type | None]
    reading: Reading = STANDARD
    added: Mapping[str, Formula] = field(factory=dict)


# ---- Conversions ---------------------------------------------------------------------------------


OPEN = ("column", "null")
CONVERSIONS = {
    Type.INTEGER: "integer({})", Type.FLOAT: "number({})", Type.TEXT: "text({})",
    Type.DATE: "date({})", Type.TIME: "time({})", Type.BOOLEAN: "boolean({})",
    Type.DURATION: "days({})",
}  # fmt: skip


def _shown(node: Formula) -> str:
    """Return a few words for a step, for errors."""
    if node.operation == "column":
        return f"the column {node.value!r}"
    if node.operation in {"string", "constant"} and len(str(node.value)) < 40:
        return repr(node.value)
    return "an expression" if node.type is None else node.type.value


def _wrong(node: Formula, need: Type) -> NoReturn:
    named = node.value if node.operation == "column" else "..."
    got = _shown(node)
    if node.type is not None and node.operation != "string":
        got = f"{got}, which is {node.type.value}" if node.operation == "column" else got
    hint = f"Convert it with {CONVERSIONS[need].format(named)}."
    if need is Type.DURATION:
        hint = "Write it as interval '7 days', or as the difference of two dates."
    elif node.type is Type.DURATION:
        hint = "Write days(...), hours(...) or seconds(...) of it."
    elif node.operation == "string" and need in NUMBERS:
        hint = "Write numbers without quotes, and names of columns in double quotes."
    elif node.operation == "string" and need in INSTANTS:
        hint = "Write dates as '2024-12-31', and times as '2024-12-31 14:30'."
    refuse(f"have {need.value} there", got, hint)


def _op(operation: str, kind: Type, *arguments: Formula, value: Any = None) -> Formula:
    return Formula(operation, arguments, value, kind)


def _constant(value: Any, kind: Type) -> Formula:
    return Formula("constant", (), value, kind)


def converted(x: Formula, need: Type, columns: ColumnTypes) -> Formula:  # noqa: PLR0911 - a case each
    """Return a step as one of a type; refuse where its type says that it is another."""
    if x.operation == "column" and x.type is None:
        if need is Type.INTEGER:
            return _op("whole", need, Formula("column", (), x.value, Type.FLOAT))
        return Formula("column", (), x.value, need)
    if x.operation == "null":
        return _constant(None, need)
    if x.operation == "string":
        return _literal(x, need)
    if x.type is need or (need is Type.TIME and x.type is Type.DATE):
        return x
    if need is Type.FLOAT and x.type in {Type.INTEGER, Type.BOOLEAN}:
        return _as_float(x)
    written = columns.reading.writes_numbers if need in NUMBERS else columns.reading.date_format
    if x.operation == "column" and x.type is Type.TEXT and written:
        if need is Type.FLOAT or need is Type.TIME:
            return Formula("column", (), x.value, need)
        return _explicit(x, need, columns)
    return _wrong(x, need)


def _as_float(x: Formula) -> Formula:
    if x.operation == "constant":
        return _constant(None if x.value is None else float(x.value), Type.FLOAT)
    return _op("float", Type.FLOAT, x)


def _literal(x: Formula, need: Type) -> Formula:
    text: str = x.value
    if need is Type.TEXT:
        if not text:
            refuse("compare with texts that are not empty", "''", "Write is null: it is missing.")
        return _constant(text, Type.TEXT)
    if need in INSTANTS and (instant := ISO.read(text)) is not None:
        if need is Type.DATE and instant % DAY:
            _wrong(x, need)
        return _constant(instant, need)
    if need is Type.DURATION and (duration := read_duration(text)) is not None:
        return _constant(lasting(duration), need)
    return _wrong(x, need)


def _explicit(x: Formula, need: Type, columns: ColumnTypes) -> Formula:  # noqa: C901, PLR0911, PLR0912 - a case each
    """Return what a conversion by name gives, of values of any type for which there is one."""
    if x.operation == "string" and need in NUMBERS:
        refuse(f"have {need.value} there", repr(x.value), "Write numbers without quotes.")
    if x.operation in {"null", "string"} or (x.operation == "column" and x.type is None):
        if need is Type.INTEGER:
            return _op("whole", Type.INTEGER, converted(x, Type.FLOAT, columns))
        if need is Type.DATE and x.operation == "column":
            return _op("start", Type.DATE, converted(x, Type.TIME, columns), value="day")
        return converted(x, need, columns)
    if x.type is need:
        return x
    if need is Type.TEXT and x.type is not Type.DURATION:
        return _op("text_of", Type.TEXT, x)
    if need is Type.FLOAT and x.type is Type.TEXT:
        if x.operation == "column":
            return Formula("column", (), x.value, Type.FLOAT)
        return _op("number_of", Type.FLOAT, x)
    if need is Type.INTEGER and x.type in {Type.FLOAT, Type.TEXT, Type.BOOLEAN}:
        return _op("whole", Type.INTEGER, _explicit(x, Type.FLOAT, columns))
    if need is Type.TIME and x.type is Type.TEXT:
        if x.operation == "column":
            return Formula("column", (), x.value, Type.TIME)
        return _op("time_of", Type.TIME, x)
    if need is Type.DATE and x.type in {Type.TIME, Type.TEXT}:
        return _op("start", Type.DATE, _explicit(x, Type.TIME, columns), value="day")
    if need is Type.BOOLEAN:
        return _truth(x, columns)
    return converted(x, need, columns)


def _truth(x: Formula, columns: ColumnTypes) -> Formula:
    if x.type is Type.TEXT:
        low = _op("lower", Type.TEXT, x)
        yes, no = (_op("equal", Type.BOOLEAN, low, _constant(w, Type.TEXT)) for w in _BOTH)
    elif x.type in NUMBERS:
        x = converted(x, Type.FLOAT, columns)
        yes, no = (_op("equal", Type.BOOLEAN, x, _constant(n, Type.FLOAT)) for n in (1.0, 0.0))
    else:
        return _wrong(x, Type.BOOLEAN)
    true, false, neither = (_constant(value, Type.BOOLEAN) for value in (True, False, None))
    return _op("choose", Type.BOOLEAN, yes, true, no, false, neither)


_BOTH = ("true", "false")


def _is_open(x: Formula) -> bool:
    return x.type is None and x.operation in OPEN


def _alike(parts: list[Formula], columns: ColumnTypes, what: str) -> list[Formula]:
    """Return steps as ones of a common type."""
    types = {x.type for x in parts if x.type is not None}
    if not types and any(x.operation == "string" for x in parts):
        types = {Type.TEXT}
    if not types:
        names = [x.value for x in parts if x.operation == "column"]
        if not names:
            refuse("name at least one column", what)
        refuse(
            "say how columns without a declared type are read",
            f"{what} of {' and '.join(map(repr, names))}",
            f"Convert them with number(...), text(...) or date(...), such as number({names[0]}).",
        )
    if types == {Type.DATE} and any(_is_time(x) for x in parts):
        types = {Type.TIME}
    if any(x.type is None and x.operation == "column" for x in parts):
        types = {
            Type.FLOAT if t is Type.INTEGER else Type.TIME if t is Type.DATE else t for t in types
        }
    for wide, narrow in (
        (Type.FLOAT, {Type.FLOAT, Type.INTEGER, Type.BOOLEAN}),
        (Type.TIME, {Type.DATE, Type.TIME}),
    ):
        if len(types) > 1 and types <= narrow:
            types = {wide}
    need = min(types, key=lambda t: t.name)
    if len(types) > 1:
        other = next(x for x in parts if x.type is not None and x.type is not need)
        first = next(x for x in parts if x.type is need)
        refuse(
            f"have values of one type in {what}",
            f"{_shown(first)} ({need.value}) and {_shown(other)} ({other.type.value})"
            if other.type
            else "",
            "Convert one with number(...), text(...) or date(...).",
        )
    return [converted(x, need, columns) for x in parts]


def _is_time(x: Formula) -> bool:
    instant = ISO.read(x.value) if x.operation == "string" else None
    return instant is not None and instant % DAY != 0


# ---- Operators -----------------------------------------------------------------------------------


def typed(x: Formula, columns: ColumnTypes) -> Formula:  # noqa: PLR0911 - a case each
    """Return the tree of a formula with types and conversions; its columns must be there.

    Parameters
    ----------
    x
        What `sourdine.frames.formulas.parsing.parsed` returns.
    columns
        The columns, and how text is read.

    Examples
    --------
    >>> from sourdine.frames.formulas.parsing import parsed
    >>> typed(parsed("age >= 18"), ColumnTypes({"age": Type.INTEGER})).type.name
    'BOOLEAN'
    >>> typed(parsed("age >= 'adult'"), ColumnTypes({"age": Type.INTEGER}))
    Traceback (most recent call last):
    sourdine.errors.ParameterError: formula must have an integer there, got 'adult'. Write numbers without quotes, and names of columns in double quotes.
    """  # noqa: E501
    if x.operation == "column":
        if x.value in columns.added:
            return columns.added[x.value]
        if x.value not in columns.types:
            refuse("name existing columns", repr(x.value))
        return Formula("column", (), x.value, columns.types[x.value])
    if x.operation in {"string", "null"}:
        return x
    if x.operation == "constant":
        kinds = {bool: Type.BOOLEAN, int: Type.INTEGER, float: Type.FLOAT}
        return _constant(x.value, kinds[type(x.value)])
    if x.operation == "interval":
        return _constant(x.value, Type.DURATION)
    below = [typed(one, columns) for one in x.arguments]
    if x.operation == "call":
        return _RULES[x.value](below, columns)
    return _OPERATORS[x.operation](below, columns)


def text_of_column(name: str, columns: ColumnTypes) -> Formula:
    """Return the text of a column, as categories are read."""
    return _explicit(Formula("column", (), name, columns.types[name]), Type.TEXT, columns)


def condition(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the typed tree of a filter."""
    return converted(typed(x, columns), Type.BOOLEAN, columns)


Rule = "Callable[[list[Formula], ColumnTypes], Formula]"


def _sum(  # noqa: C901 - a case each
    operation: str, sign: int
) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        left, right = parts
        kinds = {left.type, right.type}
        if kinds & {*INSTANTS, Type.DURATION}:
            return dated(left, right, columns)
        if "string" in {left.operation, right.operation}:
            _wrong(left if left.operation == "string" else right, Type.FLOAT)
        return _numeric(operation)(parts, columns)

    def dated(left: Formula, right: Formula, columns: ColumnTypes) -> Formula:
        if right.type is Type.DURATION and left.type is not Type.DURATION:
            return moved(converted(left, Type.TIME, columns), right)
        if left.type is Type.DURATION and (right.type in INSTANTS or _is_open(right)) and sign > 0:
            return moved(converted(right, Type.TIME, columns), left)
        if Type.DURATION in {left.type, right.type}:
            both = (converted(one, Type.DURATION, columns) for one in (left, right))
            return _op(operation, Type.DURATION, *both)
        if sign > 0:
            refuse(
                "add durations to dates", "a date plus another value",
                "Write d + interval '7 days'.",
            )  # fmt: skip
        if right.type in NUMBERS:
            refuse(
                "take durations from dates", "a date less a number",
                "Write d - interval '7 days'.",
            )  # fmt: skip
        both = (converted(one, Type.TIME, columns) for one in (left, right))
        return _op("subtract", Type.DURATION, *both)

    def moved(instant: Formula, by: Formula) -> Formula:
        return _op("instant", Type.TIME, _op(operation, Type.INTEGER, instant, by))

    return rule


def _numbers(parts: list[Formula], columns: ColumnTypes) -> list[Formula]:
    """Return numbers of one type: integers if all are, else floats."""
    if all(x.type is Type.INTEGER for x in parts):
        return parts
    return [converted(x, Type.FLOAT, columns) for x in parts]


def _numeric(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        numbers = _numbers(parts, columns)
        return Formula(operation, tuple(numbers), None, numbers[0].type)

    return rule


def _product(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if Type.DURATION in {x.type for x in parts}:
        lasts, times = sorted(parts, key=lambda x: x.type is not Type.DURATION)
        return _op("multiply", Type.DURATION, lasts, converted(times, Type.INTEGER, columns))
    return _numeric("multiply")(parts, columns)


def _divide(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if {x.type for x in parts} == {Type.DURATION}:
        return _op("divide", Type.FLOAT, *(_op("float", Type.FLOAT, x) for x in parts))
    return _op("divide", Type.FLOAT, *(converted(x, Type.FLOAT, columns) for x in parts))


def _negate(parts: list[Formula], columns: ColumnTypes) -> Formula:
    (x,) = parts
    if x.operation == "constant" and x.type in {*NUMBERS, Type.DURATION}:
        return _constant(-x.value, x.type)
    return _sized("negate")([x], columns)


def _sized(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        if parts[0].type is Type.DURATION:
            return _op(operation, Type.DURATION, parts[0])
        return _numeric(operation)(parts, columns)

    return rule


def _compare(
    operation: str, *, swapped: bool = False
) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        both = _alike(parts, columns, "a comparison")
        if both[0].type is Type.BOOLEAN and operation != "equal":
            _wrong(both[0], Type.FLOAT)
        return _op(operation, Type.BOOLEAN, *(reversed(both) if swapped else both))

    return rule


def _not(x: Formula) -> Formula:
    return _op("not", Type.BOOLEAN, x)


def _missing(x: Formula) -> Formula:
    if x.type is None:
        x = Formula("column", (), x.value, Type.TEXT) if x.operation == "column" else x
    if x.operation in {"null", "string"}:
        refuse("name at least one column", "is null of a constant")
    return _op("missing", Type.BOOLEAN, x)


def _same(parts: list[Formula], columns: ColumnTypes) -> Formula:
    """Equal, where missing values are equal to each other: true or false."""
    a, b = _alike(parts, columns, "a comparison")
    equal = _op("equal", Type.BOOLEAN, a, b)
    if b.operation == "constant" and b.value is not None:
        return _op("coalesce", Type.BOOLEAN, equal, _constant(value=False, kind=Type.BOOLEAN))
    both = _op("and", Type.BOOLEAN, _missing(a), _missing(b))
    return _op("coalesce", Type.BOOLEAN, equal, both)


def _logic(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        return _op(operation, Type.BOOLEAN, *(converted(x, Type.BOOLEAN, columns) for x in parts))

    return rule


def _nearest(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the nearest integer, halves away from zero: what a cast gives in SQL."""
    if x.type is Type.INTEGER:
        return x
    number = _explicit(x, Type.FLOAT, columns)
    return _op("whole", Type.INTEGER, _op("round", Type.FLOAT, number))


def _among(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, *listed = _alike(parts, columns, "in")
    if x.type is not None and all(one.operation == "constant" for one in listed):
        if any(one.value is None for one in listed):
            refuse("list values that are not null in in", "null", "Write ... or x is null.")
        return _op("among", Type.BOOLEAN, x, *listed)
    equal = [_op("equal", Type.BOOLEAN, x, one) for one in listed]
    return reduce(lambda a, b: _op("or", Type.BOOLEAN, a, b), equal)


def _between(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, low, high = _alike(parts, columns, "between")
    above = _op("at_most", Type.BOOLEAN, low, x)
    return _op("and", Type.BOOLEAN, above, _op("at_most", Type.BOOLEAN, x, high))


def _case(parts: list[Formula], columns: ColumnTypes) -> Formula:
    conditions = [converted(x, Type.BOOLEAN, columns) for x in parts[:-1:2]]
    values = _alike([*parts[1::2], parts[-1]], columns, "case")
    chosen = [one for pair in zip(conditions, values[:-1], strict=True) for one in pair]
    return Formula("choose", (*chosen, values[-1]), None, _wider(*values))


def _wider(*values: Formula) -> Type | None:
    """Return the type of a choice: a time, if a date is chosen from dates and times."""
    return Type.TIME if any(x.type is Type.TIME for x in values) else values[0].type


def _pattern(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, form = parts
    if form.operation != "string" or "\\" in form.value:
        refuse("have like with a text of %, _ and other characters, without \\")
    return _op("like", Type.BOOLEAN, converted(x, Type.TEXT, columns), value=form.value)


def _join(parts: list[Formula], columns: ColumnTypes) -> Formula:
    return reduce(lambda a, b: _op("join", Type.TEXT, a, b), _texts(parts, columns))


def _texts(parts: list[Formula], columns: ColumnTypes) -> list[Formula]:
    return [converted(x, Type.TEXT, columns) for x in parts]


_OPERATORS: dict[str, Callable[[list[Formula], ColumnTypes], Formula]] = {
    "+": _sum("add", 1), "-": _sum("subtract", -1), "*": _product, "/": _divide,
    "//": _numeric("quotient"), "%": _numeric("remainder"), "neg": _negate,
    "=": _compare("equal"), "<>": lambda p, c: _not(_compare("equal")(p, c)),
    "<": _compare("less"), "<=": _compare("at_most"),
    ">": _compare("less", swapped=True), ">=": _compare("at_most", swapped=True),
    "same": _same, "distinct": lambda p, c: _not(_same(p, c)),
    "and": _logic("and"), "or": _logic("or"), "not": _logic("not"),
    "is null": lambda p, _: _missing(p[0]), "in": _among, "between": _between, "case": _case,
    "like": _pattern, "||": _join, "to integer": lambda p, c: _nearest(p[0], c),
}  # fmt: skip


# ---- Functions -----------------------------------------------------------------------------------


PARTS = ("year", "quarter", "month", "day", "weekday", "day_of_year", "hour", "minute", "second")
STARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_LASTING = {
    "weeks": 7 * DAY, "days": DAY, "hours": HOUR, "minutes": MINUTE, "seconds": SECOND
}  # fmt: skip


def _float(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    return lambda p, c: _op(operation, Type.FLOAT, converted(p[0], Type.FLOAT, c))


def _rounded(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        if parts[0].type is Type.INTEGER and len(parts) == 1:
            return parts[0]
        return _float(operation)(parts, columns)

    return rule


def _round(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if len(parts) == 1:
        return _rounded("round")(parts, columns)
    digits = _count(parts[1], "round(x, digits)", -15, 15)
    x, size = converted(parts[0], Type.FLOAT, columns), _constant(10.0 ** abs(digits), Type.FLOAT)
    there, back = ("multiply", "divide") if digits >= 0 else ("divide", "multiply")
    scaled = _op(there, Type.FLOAT, x, size)
    return _op(back, Type.FLOAT, _op("round", Type.FLOAT, scaled), size)


def _count(x: Formula, usage: str, least: int, most: int) -> int:
    """Return an integer that is written out."""
    if x.operation != "constant" or x.type is not Type.INTEGER or not least <= x.value <= most:
        refuse(f"have a whole number from {least} to {most} in {usage}", _shown(x))
    return int(x.value)


def _sign(parts: list[Formula], columns: ColumnTypes) -> Formula:
    (x,) = _numbers(parts, columns)
    kind = x.type or Type.FLOAT
    zero = _constant(0 if kind is Type.INTEGER else 0.0, kind)
    below, above = (_op("less", Type.BOOLEAN, *pair) for pair in ((x, zero), (zero, x)))
    missing = _op("missing", Type.BOOLEAN, x)
    one, none, less, gone = (_constant(v, Type.INTEGER) for v in (1, 0, -1, None))
    return _op("choose", Type.INTEGER, below, less, above, one, missing, gone, none)


def _extreme(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    """Take the smallest or largest of the values that are not missing."""

    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        return reduce(chosen, _alike(parts, columns, "least or greatest"))

    def chosen(a: Formula, b: Formula) -> Formula:
        pair = (b, a) if operation == "least" else (a, b)
        better = _op("less", Type.BOOLEAN, *pair)
        return Formula("choose", (better, b, _missing(a), b, a), None, _wider(a, b))

    return rule


def _clamp(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, low, high = _alike(parts, columns, "clamp")
    below, above = _op("less", Type.BOOLEAN, x, low), _op("less", Type.BOOLEAN, high, x)
    return Formula("choose", (below, low, above, high, x), None, _wider(x, low, high))


def _coalesce(parts: list[Formula], columns: ColumnTypes) -> Formula:
    values = _alike(parts, columns, "coalesce")
    return Formula("coalesce", tuple(values), None, _wider(*values))


def _nullif(parts: list[Formula], columns: ColumnTypes) -> Formula:
    a, b = _alike(parts, columns, "nullif")
    kind = a.type or Type.TEXT
    return _op("choose", kind, _op("equal", Type.BOOLEAN, a, b), _constant(None, kind), a)


def _text(operation: str, value: Any = None) -> Callable[[list[Formula], ColumnTypes], Formula]:
    return lambda p, c: _op(operation, Type.TEXT, converted(p[0], Type.TEXT, c), value=value)


def _substring(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, first = converted(parts[0], Type.TEXT, columns), _count(parts[1], "substr", 1, 10**6)
    long = _count(parts[2], "substr", 1, 10**6) if len(parts) > 2 else None
    return _op("substring", Type.TEXT, x, value=(first, long))


def _left(parts: list[Formula], columns: ColumnTypes) -> Formula:
    long = _count(parts[1], "left", 1, 10**6)
    return _op("substring", Type.TEXT, converted(parts[0], Type.TEXT, columns), value=(1, long))


def _right(parts: list[Formula], columns: ColumnTypes) -> Formula:
    long = _count(parts[1], "right", 1, 10**6)
    return _op("right", Type.TEXT, converted(parts[0], Type.TEXT, columns), value=long)


def _concat(parts: list[Formula], columns: ColumnTypes) -> Formula:
    """Join texts and skip missing ones."""

    def joined(a: Formula, b: Formula) -> Formula:
        return _op("coalesce", Type.TEXT, _op("join", Type.TEXT, a, b), a, b)

    return reduce(joined, _texts(parts, columns))


def _replace(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, old, new = parts
    if old.operation != "string" or new.operation != "string" or not old.value:
        refuse("write the texts of replace out", hint="Write replace(s, 'old', 'new').")
    return _op("replace", Type.TEXT, converted(x, Type.TEXT, columns), value=(old.value, new.value))


def _holds(operation: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    return lambda p, c: _op(operation, Type.BOOLEAN, *_texts(p, c))


def _explicitly(need: Type) -> Callable[[list[Formula], ColumnTypes], Formula]:
    return lambda p, c: _explicit(p[0], need, c)


def _part(name: str) -> Callable[[list[Formula], ColumnTypes], Formula]:
    return lambda p, c: _op("part", Type.INTEGER, converted(p[0], Type.TIME, c), value=name)


def _unit(x: Formula, usage: str) -> str:
    unit = str(x.value).lower().removesuffix("s") if x.operation == "string" else ""
    if unit not in STARTS:
        refuse(f"have one of {', '.join(STARTS)} in {usage}", _shown(x))
    return unit


def _start(parts: list[Formula], columns: ColumnTypes) -> Formula:
    unit = _unit(parts[0], "date_trunc")
    whole = unit in {"year", "quarter", "month", "week", "day"}
    x = converted(parts[1], Type.TIME, columns)
    return _op("start", Type.DATE if whole else Type.TIME, x, value=unit)


def _difference(parts: list[Formula], columns: ColumnTypes) -> Formula:
    unit = _unit(parts[0], "date_diff")
    a, b = (converted(x, Type.TIME, columns) for x in parts[1:])

    def part(x: Formula, name: str) -> Formula:
        return _op("part", Type.INTEGER, x, value=name)

    def months(x: Formula, name: str, each: int) -> Formula:
        years = _op("multiply", Type.INTEGER, part(x, "year"), _constant(each, Type.INTEGER))
        return _op("add", Type.INTEGER, years, part(x, name))

    if unit == "year":
        return _op("subtract", Type.INTEGER, part(b, "year"), part(a, "year"))
    if unit in {"quarter", "month"}:
        each = 4 if unit == "quarter" else 12
        ends = (months(x, unit, each) for x in (b, a))
        return _op("subtract", Type.INTEGER, *ends)
    size = {"week": 7 * DAY, "day": DAY, "hour": HOUR, "minute": MINUTE, "second": SECOND}[unit]
    ends = (_op("start", Type.TIME, x, value=unit) for x in (b, a))
    apart = _op("subtract", Type.INTEGER, *ends)
    return _op("quotient", Type.INTEGER, apart, _constant(size, Type.INTEGER))


def _lasting(size: int) -> Callable[[list[Formula], ColumnTypes], Formula]:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        return in_units(converted(parts[0], Type.DURATION, columns), size)

    return rule


def in_units(x: Formula, size: int = DAY) -> Formula:
    """Return a duration as a number of units, by default days."""
    micros = _op("float", Type.FLOAT, x)
    return _op("divide", Type.FLOAT, micros, _constant(float(size), Type.FLOAT))


_RULES: dict[str, Callable[[list[Formula], ColumnTypes], Formula]] = {
    "abs": _sized("abs"), "round": _round, "floor": _rounded("floor"), "ceil": _rounded("ceil"),
    "sign": _sign, "sqrt": _float("sqrt"), "mod": _numeric("remainder"), "clamp": _clamp,
    "number": _explicitly(Type.FLOAT), "integer": _explicitly(Type.INTEGER),
    "lower": _text("lower"), "upper": _text("upper"), "trim": _text("trim", "both"),
    "ltrim": _text("trim", "left"), "rtrim": _text("trim", "right"),
    "length": lambda p, c: _op("length", Type.INTEGER, converted(p[0], Type.TEXT, c)),
    "substr": _substring, "left": _left, "right": _right, "concat": _concat, "replace": _replace,
    "starts_with": _holds("starts"), "ends_with": _holds("ends"), "contains": _holds("contains"),
    "text": _explicitly(Type.TEXT), "date": _explicitly(Type.DATE), "time": _explicitly(Type.TIME),
    "make_date": lambda p, c: _op(
        "date_of", Type.DATE, *(_explicit(x, Type.INTEGER, c) for x in p)
    ),
    **{name: _part(name) for name in PARTS},
    "date_trunc": _start, "date_diff": _difference,
    **{name: _lasting(size) for name, size in _LASTING.items()},
    "coalesce": _coalesce, "nullif": _nullif, "least": _extreme("least"),
    "greatest": _extreme("greatest"), "boolean": _explicitly(Type.BOOLEAN),
}  # fmt: skip
assert _RULES.keys() == FUNCTIONS.keys()  # noqa: S101 - one table, in two parts


# ---- Derived columns -----------------------------------------------------------------------------


def derived(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the typed tree of a derived column; a duration is a number of days."""
    found = typed(x, columns)
    if found.type is None or not found.columns:
        refuse("name at least one column and compute something of it")
    return in_units(found) if found.type is Type.DURATION else found


__all__ = ["PARTS", "STARTS", "WHOLE", "ColumnTypes", "condition", "derived", "type_of", "typed"]
