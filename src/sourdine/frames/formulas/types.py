"""The types of formulas: what each step takes, and how a column that states no type is read."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import evolve, field, frozen

from sourdine.calendar import DAY, ISO, read_duration
from sourdine.calendar import micros as lasting
from sourdine.frames.formulas.parsing import FUNCTIONS, refuse
from sourdine.frames.formulas.tree import (
    BOOLEAN,
    DATE,
    DURATION,
    FLOAT,
    INSTANTS,
    INTEGER,
    NUMBERS,
    SIZES,
    TEXT,
    TIME,
    Formula,
    Type,
)
from sourdine.frames.memory import DATES, WORDS
from sourdine.frames.memory import NUMBERS as OF_NUMBERS
from sourdine.frames.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.frames.memory import Declared
    from sourdine.frames.reading import Reading

    Rule = Callable[[list["Formula"], "ColumnTypes"], Formula]


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
        return TEXT
    if declared.holds == DATES:
        whole = written.startswith("date") and not written.startswith("datetime")
        return DATE if whole or written == "datetime64[d]" else TIME
    if declared.holds == OF_NUMBERS:
        if written.startswith("bool"):
            return BOOLEAN
        return INTEGER if _INTEGERS.fullmatch(written) else FLOAT
    return refuse(
        "name columns of single numbers, texts or dates", f"{column!r} of type {declared.dtype}",
        "Put single values into a separate column.",
    )  # fmt: skip


@frozen
class ColumnTypes:
    """The columns that a formula may name, and how text is read.

    A column without a type is read value by value as the formula needs it; ``added`` are typed
    columns that are looked up in public tables.
    """

    types: Mapping[str, Type | None]
    reading: Reading = STANDARD
    added: Mapping[str, Formula] = field(factory=dict)


# ---- Conversions ---------------------------------------------------------------------------------


CONVERSIONS = {
    INTEGER: "integer({})", FLOAT: "number({})", TEXT: "text({})", DATE: "date({})",
    TIME: "time({})", BOOLEAN: "boolean({})", DURATION: "days({})",
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
    if node.type is not None and node.operation == "column":
        got = f"{got}, which is {node.type.value}"
    hint = f"Convert it with {CONVERSIONS[need].format(named)}."
    if need is DURATION:
        hint = "Write it as interval '7 days', or as the difference of two dates."
    elif node.type is DURATION:
        hint = "Write days(...), hours(...) or seconds(...) of it."
    elif node.operation == "string" and need in NUMBERS:
        hint = "Write numbers without quotes, and names of columns in double quotes."
    elif node.operation == "string" and need in INSTANTS:
        hint = "Write dates as '2024-12-31', and times as '2024-12-31 14:30'."
    refuse(f"have {need.value} there", got, hint)


def _op(operation: str, kind: Type, *arguments: Formula, value: Any = None) -> Formula:
    return Formula(operation, arguments, value, kind)


def _flag(operation: str, *arguments: Formula, value: Any = None) -> Formula:
    return Formula(operation, arguments, value, BOOLEAN)


def _constant(value: Any, kind: Type) -> Formula:
    return Formula("constant", (), value, kind)


def converted(x: Formula, need: Type, columns: ColumnTypes) -> Formula:  # noqa: PLR0911 - a case each
    """Return a step as one of a type; refuse where its type says that it is another."""
    if x.operation == "column" and x.type is None:
        if need is INTEGER:
            return _op("whole", need, evolve(x, type=FLOAT))
        return evolve(x, type=need)
    if x.operation == "null":
        return _constant(None, need)
    if x.operation == "string":
        return _literal(x, need)
    if x.type is need or (need is TIME and x.type is DATE):
        return x
    if need is FLOAT and x.type in {INTEGER, BOOLEAN}:
        if x.operation == "constant":
            return _constant(None if x.value is None else float(x.value), FLOAT)
        return _op("float", FLOAT, x)
    written = columns.reading.writes_numbers if need in NUMBERS else columns.reading.date_format
    if x.operation == "column" and x.type is TEXT and written:
        return evolve(x, type=need) if need in {FLOAT, TIME} else _explicit(x, need, columns)
    return _wrong(x, need)


def _literal(x: Formula, need: Type) -> Formula:
    text: str = x.value
    if need is TEXT:
        if not text:
            refuse("compare with texts that are not empty", "''", "Write is null: it is missing.")
        return _constant(text, TEXT)
    if need in INSTANTS and (instant := ISO.read(text)) is not None:
        return _wrong(x, need) if need is DATE and instant % DAY else _constant(instant, need)
    if need is DURATION and (duration := read_duration(text)) is not None:
        return _constant(lasting(duration), need)
    return _wrong(x, need)


def _explicit(x: Formula, need: Type, columns: ColumnTypes) -> Formula:  # noqa: C901, PLR0911 - a case each
    """Return what a conversion by name gives, of values of any type for which there is one."""
    if x.operation == "string" and need in NUMBERS:
        refuse(f"have {need.value} there", repr(x.value), "Write numbers without quotes.")
    if x.operation in {"null", "string"} or (x.operation == "column" and x.type is None):
        if need is INTEGER:
            return _op("whole", INTEGER, converted(x, FLOAT, columns))
        if need is DATE and x.operation == "column":
            return _op("start", DATE, converted(x, TIME, columns), value="day")
        return converted(x, need, columns)
    if x.type is need:
        return x
    if need is TEXT and x.type is not DURATION:
        return _op("text_of", TEXT, x)
    if need in {FLOAT, TIME} and x.type is TEXT:
        if x.operation == "column":
            return evolve(x, type=need)
        return _op("number_of" if need is FLOAT else "time_of", need, x)
    if need is INTEGER and x.type in {FLOAT, TEXT, BOOLEAN}:
        return _op("whole", INTEGER, _explicit(x, FLOAT, columns))
    if need is DATE and x.type in {TIME, TEXT}:
        return _op("start", DATE, _explicit(x, TIME, columns), value="day")
    return _truth(x, columns) if need is BOOLEAN else converted(x, need, columns)


def _truth(x: Formula, columns: ColumnTypes) -> Formula:
    both: tuple[Any, Any]
    if x.type is TEXT:
        x, both, kind = _op("lower", TEXT, x), ("true", "false"), TEXT
    elif x.type in NUMBERS:
        x, both, kind = converted(x, FLOAT, columns), (1.0, 0.0), FLOAT
    else:
        return _wrong(x, BOOLEAN)
    yes, no = (_flag("equal", x, _constant(value, kind)) for value in both)
    true, false, neither = (_constant(value, BOOLEAN) for value in (True, False, None))
    return _flag("choose", yes, true, no, false, neither)


def _alike(parts: list[Formula], columns: ColumnTypes, what: str) -> list[Formula]:
    """Return steps as ones of a common type."""
    types = {x.type for x in parts if x.type is not None}
    if not types and any(x.operation == "string" for x in parts):
        types = {TEXT}
    if not types:
        names = [x.value for x in parts if x.operation == "column"]
        if not names:
            refuse("name at least one column", what)
        refuse(
            "say how columns without a declared type are read",
            f"{what} of {' and '.join(map(repr, names))}",
            f"Convert them with number(...), text(...) or date(...), such as number({names[0]}).",
        )
    if types == {DATE}:
        read = (ISO.read(x.value) for x in parts if x.operation == "string")
        types = {TIME} if any(instant is not None and instant % DAY for instant in read) else types
    if any(x.type is None and x.operation == "column" for x in parts):
        types = {{INTEGER: FLOAT, DATE: TIME}.get(kind, kind) for kind in types}
    for wide, narrow in ((FLOAT, {FLOAT, INTEGER, BOOLEAN}), (TIME, {DATE, TIME})):
        if len(types) > 1 and types <= narrow:
            types = {wide}
    need = min(types, key=lambda kind: kind.name)
    if len(types) > 1:
        first = next(x for x in parts if x.type is need)
        other, kind = next((x, x.type) for x in parts if x.type not in {None, need})
        refuse(
            f"have values of one type in {what}",
            f"{_shown(first)} ({need.value}) and {_shown(other)} ({kind.value if kind else ''})",
            "Convert one with number(...), text(...) or date(...).",
        )
    return [converted(x, need, columns) for x in parts]


# ---- Operators -----------------------------------------------------------------------------------


def typed(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the tree of a formula with types and conversions; its columns must be there.

    Examples
    --------
    >>> from sourdine.frames.formulas.parsing import parsed
    >>> typed(parsed("age >= 18"), ColumnTypes({"age": INTEGER})).type.name
    'BOOLEAN'
    >>> typed(parsed("age >= 'adult'"), ColumnTypes({"age": INTEGER}))
    Traceback (most recent call last):
    sourdine.errors.ParameterError: formula must have an integer there, got 'adult'. Write numbers without quotes, and names of columns in double quotes.
    """  # noqa: E501
    if x.operation == "column":
        if x.value in columns.added:
            return columns.added[x.value]
        if x.value not in columns.types:
            refuse("name existing columns", repr(x.value))
        return evolve(x, type=columns.types[x.value])
    if x.operation in {"string", "null"}:
        return x
    if x.operation == "constant":
        return _constant(x.value, {bool: BOOLEAN, int: INTEGER, float: FLOAT}[type(x.value)])
    if x.operation == "interval":
        return _constant(x.value, DURATION)
    rule = _RULES[x.value] if x.operation == "call" else _OPERATORS[x.operation]
    return rule([typed(one, columns) for one in x.arguments], columns)


def text_of_column(name: str, columns: ColumnTypes) -> Formula:
    """Return the text of a column, as categories are read."""
    return _explicit(Formula("column", (), name, columns.types[name]), TEXT, columns)


def condition(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the typed tree of a filter."""
    return converted(typed(x, columns), BOOLEAN, columns)


def _sum(operation: str) -> Rule:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        left, right = parts
        kinds = {left.type, right.type}
        if DURATION in kinds:
            if left.type is not DURATION:
                return moved(left, right, columns)
            open_ = right.type is None and right.operation in {"column", "null"}
            if operation == "add" and (right.type in INSTANTS or open_):
                return moved(right, left, columns)
            return _op(operation, DURATION, *(converted(x, DURATION, columns) for x in parts))
        if not kinds & {*INSTANTS}:
            if "string" in {left.operation, right.operation}:
                _wrong(left if left.operation == "string" else right, FLOAT)
            return _numeric(operation)(parts, columns)
        if operation == "add":
            refuse(
                "add durations to dates", "a date plus another value",
                "Write d + interval '7 days'.",
            )  # fmt: skip
        if right.type in NUMBERS:
            refuse(
                "take durations from dates", "a date less a number",
                "Write d - interval '7 days'.",
            )  # fmt: skip
        return _op("subtract", DURATION, *(converted(x, TIME, columns) for x in parts))

    def moved(instant: Formula, by: Formula, columns: ColumnTypes) -> Formula:
        there = _op(operation, INTEGER, converted(instant, TIME, columns), by)
        return _op("instant", TIME, there)

    return rule


def _numbers(parts: list[Formula], columns: ColumnTypes) -> list[Formula]:
    """Return numbers of one type: integers if all are, else floats."""
    if all(x.type is INTEGER for x in parts):
        return parts
    return [converted(x, FLOAT, columns) for x in parts]


def _numeric(operation: str) -> Rule:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        numbers = _numbers(parts, columns)
        return Formula(operation, tuple(numbers), None, numbers[0].type)

    return rule


def _product(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if DURATION in {x.type for x in parts}:
        lasts, times = sorted(parts, key=lambda x: x.type is not DURATION)
        return _op("multiply", DURATION, lasts, converted(times, INTEGER, columns))
    return _numeric("multiply")(parts, columns)


def _divide(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if {x.type for x in parts} == {DURATION}:
        return _op("divide", FLOAT, *(_op("float", FLOAT, x) for x in parts))
    return _op("divide", FLOAT, *(converted(x, FLOAT, columns) for x in parts))


def _negate(parts: list[Formula], columns: ColumnTypes) -> Formula:
    (x,) = parts
    if x.operation == "constant" and x.type in {*NUMBERS, DURATION}:
        return _constant(-x.value, x.type)
    return _sized("negate")([x], columns)


def _sized(operation: str) -> Rule:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        if parts[0].type is DURATION:
            return _op(operation, DURATION, parts[0])
        return _numeric(operation)(parts, columns)

    return rule


def _compare(operation: str, *, swapped: bool = False) -> Rule:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        both = _alike(parts, columns, "a comparison")
        if both[0].type is BOOLEAN and operation != "equal":
            _wrong(both[0], FLOAT)
        return _flag(operation, *(reversed(both) if swapped else both))

    return rule


def _not(rule: Rule) -> Rule:
    return lambda p, c: _flag("not", rule(p, c))


def _missing(x: Formula) -> Formula:
    if x.operation in {"null", "string"}:
        refuse("name at least one column", "is null of a constant")
    open_ = x.type is None and x.operation == "column"
    return _flag("missing", evolve(x, type=TEXT) if open_ else x)


def _same(parts: list[Formula], columns: ColumnTypes) -> Formula:
    """Equal, where missing values are equal to each other: true or false."""
    a, b = _alike(parts, columns, "a comparison")
    known = b.operation == "constant" and b.value is not None
    gone = _flag("and", _missing(a), _missing(b))
    both = _constant(value=False, kind=BOOLEAN) if known else gone
    return _flag("coalesce", _flag("equal", a, b), both)


def _each(operation: str, kind: Type, need: Type) -> Rule:
    """Return the rule of a step whose arguments all have one type."""
    return lambda p, c: _op(operation, kind, *(converted(x, need, c) for x in p))


def _of_first(operation: str, kind: Type, need: Type, value: Any = None) -> Rule:
    return lambda p, c: _op(operation, kind, converted(p[0], need, c), value=value)


def _nearest(parts: list[Formula], columns: ColumnTypes) -> Formula:
    """Return the nearest integer, halves away from zero: what a cast gives in SQL."""
    (x,) = parts
    if x.type is INTEGER:
        return x
    return _op("whole", INTEGER, _op("round", FLOAT, _explicit(x, FLOAT, columns)))


def _among(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, *listed = _alike(parts, columns, "in")
    if x.type is not None and all(one.operation == "constant" for one in listed):
        if any(one.value is None for one in listed):
            refuse("list values that are not null in in", "null", "Write ... or x is null.")
        return _flag("among", x, *listed)
    return reduce(lambda a, b: _flag("or", a, b), (_flag("equal", x, one) for one in listed))


def _between(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, low, high = _alike(parts, columns, "between")
    return _flag("and", _flag("at_most", low, x), _flag("at_most", x, high))


def _case(parts: list[Formula], columns: ColumnTypes) -> Formula:
    conditions = [converted(x, BOOLEAN, columns) for x in parts[:-1:2]]
    values = _alike([*parts[1::2], parts[-1]], columns, "case")
    chosen = [one for pair in zip(conditions, values[:-1], strict=True) for one in pair]
    return Formula("choose", (*chosen, values[-1]), None, _wider(*values))


def _wider(*values: Formula) -> Type | None:
    """Return the type of a choice: a time, if a date is chosen from dates and times."""
    return TIME if any(x.type is TIME for x in values) else values[0].type


def _pattern(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, form = parts
    if form.operation != "string" or "\\" in form.value:
        refuse("have like with a text of %, _ and other characters, without \\")
    return _flag("like", converted(x, TEXT, columns), value=form.value)


def _join(parts: list[Formula], columns: ColumnTypes) -> Formula:
    texts = (converted(x, TEXT, columns) for x in parts)
    return reduce(lambda a, b: _op("join", TEXT, a, b), texts)


_OPERATORS: dict[str, Rule] = {
    "+": _sum("add"), "-": _sum("subtract"), "*": _product, "/": _divide,
    "//": _numeric("quotient"), "%": _numeric("remainder"), "neg": _negate,
    "=": _compare("equal"), "<>": _not(_compare("equal")),
    "<": _compare("less"), "<=": _compare("at_most"),
    ">": _compare("less", swapped=True), ">=": _compare("at_most", swapped=True),
    "same": _same, "distinct": _not(_same), "and": _each("and", BOOLEAN, BOOLEAN),
    "or": _each("or", BOOLEAN, BOOLEAN), "not": _each("not", BOOLEAN, BOOLEAN),
    "is null": lambda p, _: _missing(p[0]), "in": _among, "between": _between, "case": _case,
    "like": _pattern, "||": _join, "to integer": _nearest,
}  # fmt: skip


# ---- Functions -----------------------------------------------------------------------------------


PARTS = ("year", "quarter", "month", "day", "weekday", "day_of_year", "hour", "minute", "second")
STARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_SIZES = {"week": 7 * DAY, **SIZES}


def _rounded(operation: str) -> Rule:
    def rule(parts: list[Formula], columns: ColumnTypes) -> Formula:
        if parts[0].type is INTEGER and len(parts) == 1:
            return parts[0]
        return _op(operation, FLOAT, converted(parts[0], FLOAT, columns))

    return rule


def _round(parts: list[Formula], columns: ColumnTypes) -> Formula:
    if len(parts) == 1:
        return _rounded("round")(parts, columns)
    digits = _count(parts[1], "round(x, digits)", -15, 15)
    x, size = converted(parts[0], FLOAT, columns), _constant(10.0 ** abs(digits), FLOAT)
    there, back = ("multiply", "divide") if digits >= 0 else ("divide", "multiply")
    return _op(back, FLOAT, _op("round", FLOAT, _op(there, FLOAT, x, size)), size)


def _count(x: Formula, usage: str, least: int = 1, most: int = 10**6) -> int:
    """Return an integer that is written out."""
    if x.operation != "constant" or x.type is not INTEGER or not least <= x.value <= most:
        refuse(f"have a whole number from {least} to {most} in {usage}", _shown(x))
    return int(x.value)


def _sign(parts: list[Formula], columns: ColumnTypes) -> Formula:
    (x,) = _numbers(parts, columns)
    kind = x.type or FLOAT
    zero = _constant(0 if kind is INTEGER else 0.0, kind)
    below, above, missing = _flag("less", x, zero), _flag("less", zero, x), _flag("missing", x)
    one, none, less, gone = (_constant(v, INTEGER) for v in (1, 0, -1, None))
    return _op("choose", INTEGER, below, less, above, one, missing, gone, none)


def _extreme(operation: str) -> Rule:
    """Take the smallest or largest of the values that are not missing."""

    def chosen(a: Formula, b: Formula) -> Formula:
        better = _flag("less", *((b, a) if operation == "least" else (a, b)))
        return Formula("choose", (better, b, _missing(a), b, a), None, _wider(a, b))

    return lambda p, c: reduce(chosen, _alike(p, c, "least or greatest"))


def _clamp(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, low, high = _alike(parts, columns, "clamp")
    chosen = (_flag("less", x, low), low, _flag("less", high, x), high, x)
    return Formula("choose", chosen, None, _wider(x, low, high))


def _coalesce(parts: list[Formula], columns: ColumnTypes) -> Formula:
    values = _alike(parts, columns, "coalesce")
    return Formula("coalesce", tuple(values), None, _wider(*values))


def _nullif(parts: list[Formula], columns: ColumnTypes) -> Formula:
    a, b = _alike(parts, columns, "nullif")
    kind = a.type or TEXT
    return _op("choose", kind, _flag("equal", a, b), _constant(None, kind), a)


def _substring(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, first = converted(parts[0], TEXT, columns), _count(parts[1], "substr")
    long = _count(parts[2], "substr") if len(parts) > 2 else None
    return _op("substring", TEXT, x, value=(first, long))


def _left(parts: list[Formula], columns: ColumnTypes) -> Formula:
    long = _count(parts[1], "left")
    return _op("substring", TEXT, converted(parts[0], TEXT, columns), value=(1, long))


def _right(parts: list[Formula], columns: ColumnTypes) -> Formula:
    long = _count(parts[1], "right")
    return _op("right", TEXT, converted(parts[0], TEXT, columns), value=long)


def _concat(parts: list[Formula], columns: ColumnTypes) -> Formula:
    """Join texts and skip missing ones."""
    texts = (converted(x, TEXT, columns) for x in parts)
    return reduce(lambda a, b: _op("coalesce", TEXT, _op("join", TEXT, a, b), a, b), texts)


def _replace(parts: list[Formula], columns: ColumnTypes) -> Formula:
    x, old, new = parts
    if old.operation != "string" or new.operation != "string" or not old.value:
        refuse("write the texts of replace out", hint="Write replace(s, 'old', 'new').")
    return _op("replace", TEXT, converted(x, TEXT, columns), value=(old.value, new.value))


def _explicitly(need: Type) -> Rule:
    return lambda p, c: _explicit(p[0], need, c)


def _unit(x: Formula, usage: str) -> str:
    unit = str(x.value).lower().removesuffix("s") if x.operation == "string" else ""
    if unit not in STARTS:
        refuse(f"have one of {', '.join(STARTS)} in {usage}", _shown(x))
    return unit


def _start(parts: list[Formula], columns: ColumnTypes) -> Formula:
    unit = _unit(parts[0], "date_trunc")
    kind = TIME if unit in {"hour", "minute", "second"} else DATE
    return _op("start", kind, converted(parts[1], TIME, columns), value=unit)


def _difference(parts: list[Formula], columns: ColumnTypes) -> Formula:
    unit = _unit(parts[0], "date_diff")
    a, b = (converted(x, TIME, columns) for x in parts[1:])

    def counted(x: Formula) -> Formula:
        """Return how many years, quarters or months lie before a time."""
        years = _op("part", INTEGER, x, value="year")
        if unit == "year":
            return years
        each = _constant(4 if unit == "quarter" else 12, INTEGER)
        own = _op("part", INTEGER, x, value=unit)
        return _op("add", INTEGER, _op("multiply", INTEGER, years, each), own)

    if unit in {"year", "quarter", "month"}:
        return _op("subtract", INTEGER, counted(b), counted(a))
    apart = _op("subtract", INTEGER, *(_op("start", TIME, x, value=unit) for x in (b, a)))
    return _op("quotient", INTEGER, apart, _constant(_SIZES[unit], INTEGER))


def in_units(x: Formula, size: int = DAY) -> Formula:
    """Return a duration as a number of units, by default days."""
    return _op("divide", FLOAT, _op("float", FLOAT, x), _constant(float(size), FLOAT))


def _lasting(size: int) -> Rule:
    return lambda p, c: in_units(converted(p[0], DURATION, c), size)


_RULES: dict[str, Rule] = {
    "abs": _sized("abs"), "round": _round, "floor": _rounded("floor"), "ceil": _rounded("ceil"),
    "sign": _sign, "sqrt": _of_first("sqrt", FLOAT, FLOAT), "mod": _numeric("remainder"),
    "clamp": _clamp, "number": _explicitly(FLOAT), "integer": _explicitly(INTEGER),
    "lower": _of_first("lower", TEXT, TEXT), "upper": _of_first("upper", TEXT, TEXT),
    "trim": _of_first("trim", TEXT, TEXT, "both"), "ltrim": _of_first("trim", TEXT, TEXT, "left"),
    "rtrim": _of_first("trim", TEXT, TEXT, "right"), "length": _of_first("length", INTEGER, TEXT),
    "substr": _substring, "left": _left, "right": _right, "concat": _concat, "replace": _replace,
    "starts_with": _each("starts", BOOLEAN, TEXT), "ends_with": _each("ends", BOOLEAN, TEXT),
    "contains": _each("contains", BOOLEAN, TEXT), "text": _explicitly(TEXT),
    "date": _explicitly(DATE), "time": _explicitly(TIME), "boolean": _explicitly(BOOLEAN),
    "make_date": lambda p, c: _op("date_of", DATE, *(_explicit(x, INTEGER, c) for x in p)),
    **{name: _of_first("part", INTEGER, TIME, name) for name in PARTS},
    "date_trunc": _start, "date_diff": _difference,
    **{f"{name}s": _lasting(size) for name, size in _SIZES.items()},
    "coalesce": _coalesce, "nullif": _nullif, "least": _extreme("least"),
    "greatest": _extreme("greatest"),
}  # fmt: skip
assert _RULES.keys() == FUNCTIONS.keys()  # noqa: S101 - one table, in two parts


# ---- Derived columns -----------------------------------------------------------------------------


def derived(x: Formula, columns: ColumnTypes) -> Formula:
    """Return the typed tree of a derived column; a duration is a number of days."""
    found = typed(x, columns)
    if found.type is None or not found.columns:
        refuse("name at least one column and compute something of it")
    return in_units(found) if found.type is DURATION else found
