"""Formulas as SQL: of DuckDB, and of PostgreSQL.

In DuckDB a missing value is NULL, or NaN where it is a float: operations on floats pass NaN on, and
every comparison sorts it out. Integers are computed with 128 bits and cast back to 64, where an
overflow is NULL. Dates and times are microseconds. Nothing raises, also where DuckDB computes an
expression for rows that a CASE leaves out.

PostgreSQL raises where a float overflows, so it gets what cannot: comparisons, logic, choices, and
arithmetic of integers. There a missing value is NULL, NaN included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.calendar import DAY
from sourdine.frames import sql
from sourdine.frames.formulas.tree import (
    BLANKS,
    BOOLEAN,
    CLOCK,
    DATE,
    FLOAT,
    INSTANTS,
    INTEGER,
    LOWER,
    SIZES,
    TEXT,
    TIME,
    UPPER,
    WHOLE,
    NotExactError,
    Writer,
    cases,
)
from sourdine.frames.reading import WRITTEN
from sourdine.frames.sql import TIMES, double, string

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.frames.formulas.tree import Formula, Step, Type
    from sourdine.frames.reading import Reading


MANY = 1000
"""Larger tables are looked up by NumPy."""
LONGEST = 200_000
"""Longer expressions are left to NumPy."""
_TEXTS: dict[Type | None, str] = {
    **dict.fromkeys(WHOLE, "BIGINT"), FLOAT: "DOUBLE", BOOLEAN: "BOOLEAN", TEXT: "VARCHAR"
}  # fmt: skip
_PARTS = {"weekday": "isodow", "day_of_year": "dayofyear"}
_INT64 = double(2.0**63)


class SqlWriter(Writer):
    """Writes formulas as text."""

    longest: int

    def write(self, node: Formula) -> str:
        found: str = super().write(node)
        if len(found) > self.longest:
            raise NotExactError
        return found


class SqlOf(SqlWriter):
    """Writes typed formulas over the columns of one relation of DuckDB.

    ``reading`` says how the texts of a column are read, and ``collated`` whether a connection's
    collation may change how texts are compared.
    """

    def __init__(
        self, kinds: Mapping[str, str], reading: Callable[[str], Reading], *, collated: bool
    ) -> None:
        self._kinds, self._reading, self._collated = kinds, reading, collated
        self.steps, self.longest = _STEPS, LONGEST

    def column(self, node: Formula) -> tuple[str, str]:
        """Return the expression of a derived column, and its DuckDB type."""
        x = self.write(node)
        if node.type is DATE:
            return f"CAST(make_timestamp({x}) AS DATE)", "DATE"
        if node.type is TIME:
            return f"make_timestamp({x})", "TIMESTAMP"
        kind = _TEXTS[node.type]
        return f"CAST({x} AS {kind})", kind

    def named(self, column: str, need: Type | None) -> str:
        kind, c = self._kinds[column], sql.name(column)
        if need is FLOAT and kind not in {*TIMES, "date", "other"}:
            return sql.number(column, kind, self._reading(column))
        if need is INTEGER and kind == "integer":
            return f"TRY_CAST({c} AS BIGINT)"
        if need is BOOLEAN and kind == "boolean":
            return c
        if need is BOOLEAN and kind == "text":
            word = f"lower(CAST({c} AS VARCHAR))"
            no = f"WHEN {word} IN ('false', '0') THEN false END"
            return f"CASE WHEN {word} IN ('true', '1') THEN true {no}"
        if need is TEXT and kind == "text":
            return sql.raw(column, kind)
        if need in INSTANTS and kind in {*TIMES, "date"}:
            return f"({sql.known(sql.instant(column, kind))})"
        raise NotExactError

    def constant(self, value: Any, kind: Type | None) -> str:
        if value is None:
            return f"CAST(NULL AS {_TEXTS[kind]})" if kind else "NULL"
        if kind is BOOLEAN:
            return "true" if value else "false"
        if kind is TEXT:
            return string(value)
        return double(value) if kind is FLOAT else sql.integer(value, "BIGINT")

    def compared(self, x: str, node: Formula) -> str:
        """Return a value as it is compared."""
        return f"encode({x})" if node.type is TEXT and self._collated else x


def _wide(x: str) -> str:
    return f"CAST({x} AS HUGEINT)"


def _narrow(x: str) -> str:
    return f"TRY_CAST({x} AS BIGINT)"


def _arithmetic(operator: str) -> Step:
    def step(_: SqlOf, node: Formula, own: list[str]) -> str:
        if node.of_floats:
            return f"({own[0]} {operator} {own[1]})"
        return _narrow(f"{_wide(own[0])} {operator} {_wide(own[1])}")

    return step


def _quotient(_: SqlOf, node: Formula, own: list[str]) -> str:
    a, b = own
    if node.of_floats:
        return f"floor({a} / {_divisor(b)})"
    rest = _rest(_wide(a), f"nullif({_wide(b)}, 0)")
    return _narrow(f"({_wide(a)} - {rest}) // nullif({_wide(b)}, 0)")


def _remainder(_: SqlOf, node: Formula, own: list[str]) -> str:
    a, b = own
    if node.of_floats:
        return f"({a} - {b} * trunc({a} / {_divisor(b)}))"
    return _narrow(f"{_wide(a)} % nullif({_wide(b)}, 0)")


def _rest(a: str, b: str) -> str:
    """Write the remainder of a division that rounds down."""
    return f"(({a} % {b} + {b}) % {b})"


def _divisor(b: str) -> str:
    return f"nullif({b}, {double(0.0)})"


def _sized(function: str, form: str) -> Step:
    def step(_: SqlOf, node: Formula, own: list[str]) -> str:
        return f"{function}({own[0]})" if node.of_floats else _narrow(form.format(_wide(own[0])))

    return step


def _sqrt(_: SqlOf, __: Formula, own: list[str]) -> str:
    (x,) = own
    zero = double(0.0)
    return f"CASE WHEN {x} >= {zero} THEN sqrt(greatest({x}, {zero})) END"


def _whole(_: SqlOf, __: Formula, own: list[str]) -> str:
    (x,) = own
    return f"CASE WHEN {x} >= -{_INT64} AND {x} < {_INT64} THEN TRY_CAST(trunc({x}) AS BIGINT) END"


def _compare(operator: str) -> Step:
    def step(to: SqlOf, node: Formula, own: list[str]) -> str:
        both = [to.compared(x, one) for x, one in zip(own, node.arguments, strict=True)]
        found = f"({both[0]} {operator} {both[1]})"
        nan = [
            f"isnan({x})"
            for x, one in zip(own, node.arguments, strict=True)
            if one.type is FLOAT and one.operation not in {"constant", "float"}
        ]
        return f"CASE WHEN {' OR '.join(nan)} THEN NULL ELSE {found} END" if nan else found

    return step


def _among(to: SqlOf, node: Formula, own: list[str]) -> str:
    x, *listed = (to.compared(x, one) for x, one in zip(own, node.arguments, strict=True))
    found = f"({x} IN ({', '.join(listed)}))"
    return f"CASE WHEN isnan({x}) THEN NULL ELSE {found} END" if node.of_floats else found


def _between(operator: str) -> Step:
    return lambda _, __, own: f"({own[0]} {operator} {own[1]})"


def _missing(_: SqlOf, node: Formula, own: list[str]) -> str:
    (x,) = own
    return f"({x} IS NULL OR isnan({x}))" if node.of_floats else f"({x} IS NULL)"


def _choose(_: SqlWriter, __: Formula, own: list[str]) -> str:
    written = " ".join(f"WHEN {condition} THEN {value}" for condition, value in cases(own))
    return f"CASE {written} ELSE {own[-1]} END"


def _coalesce(_: SqlOf, node: Formula, own: list[str]) -> str:
    if node.of_floats:
        own = [f"CASE WHEN NOT isnan({x}) THEN {x} END" for x in own]
    return f"coalesce({', '.join(own)})"


def _cased(function: str, letters: Mapping[str, str]) -> Step:
    old, new = string("".join(letters)), string("".join(letters.values()))

    def step(_: SqlOf, __: Formula, own: list[str]) -> str:
        (x,) = own
        plain = f"regexp_full_match({x}, '[\\x00-\\x7F]*')"
        return f"CASE WHEN {plain} THEN {function}({x}) ELSE translate({x}, {old}, {new}) END"

    return step


def _trim(_: SqlOf, node: Formula, own: list[str]) -> str:
    function = {"both": "trim", "left": "ltrim", "right": "rtrim"}[node.value]
    return f"nullif({function}({own[0]}, {string(BLANKS)}), '')"


def _substring(_: SqlOf, node: Formula, own: list[str]) -> str:
    first, long = node.value
    many = "" if long is None else f", {long}"
    return f"nullif(substring({own[0]}, {first}{many}), '')"


def _replace(_: SqlOf, node: Formula, own: list[str]) -> str:
    old, new = map(string, node.value)
    return f"nullif(replace({own[0]}, {old}, {new}), '')"


def _call(function: str) -> Step:
    return lambda _, __, own: f"{function}({', '.join(own)})"


def _number_of(_: SqlOf, __: Formula, own: list[str]) -> str:
    (x,) = own
    return f"CASE WHEN regexp_full_match({x}, {string(WRITTEN)}) THEN TRY_CAST({x} AS DOUBLE) END"


def _text_of(_: SqlOf, node: Formula, own: list[str]) -> str:
    if node.arguments[0].type not in {INTEGER, BOOLEAN}:
        raise NotExactError
    return f"CAST({own[0]} AS VARCHAR)"


def _part(_: SqlOf, node: Formula, own: list[str]) -> str:
    (t,) = own
    if node.value in CLOCK:
        unit, most = CLOCK[node.value]
        return f"({_rest(t, str(DAY))} // {unit} % {most})"
    function = _PARTS.get(node.value, node.value)
    return f"CAST({function}(make_timestamp({t})) AS BIGINT)"


def _start(_: SqlOf, node: Formula, own: list[str]) -> str:
    (t,) = own
    if node.value in SIZES:
        return f"({t} - {_rest(t, str(SIZES[node.value]))})"
    start = f"date_trunc({string(node.value)}, make_timestamp({t}))"
    return f"epoch_us(CAST({start} AS TIMESTAMP))"


def _looked_up(to: SqlOf, node: Formula, own: list[str]) -> str:
    """Write a look-up: the place of a text among listed ones, and the value at that place."""
    if len(node.value) > MANY or not node.value:
        raise NotExactError
    listed = ", ".join(string(text) for text, _ in node.value)
    if "\0" in listed:
        raise NotExactError
    place = f"enum_code(TRY_CAST({own[0]} AS ENUM({listed})))"
    kind = _TEXTS[node.type]
    values = ", ".join(to.constant(value, node.type) for _, value in node.value)
    return f"list_extract(CAST([{values}] AS {kind}[]), CAST({place} AS BIGINT) + 1)"


_STEPS: dict[str, Step] = {
    "add": _arithmetic("+"), "subtract": _arithmetic("-"), "multiply": _arithmetic("*"),
    "divide": lambda _, __, own: f"({own[0]} / {_divisor(own[1])})",
    "quotient": _quotient, "remainder": _remainder,
    "negate": _sized("-", "0 - {}"), "abs": _sized("abs", "abs({})"),
    "float": lambda _, __, own: f"CAST({own[0]} AS DOUBLE)", "whole": _whole, "sqrt": _sqrt,
    "round": _call("round"), "floor": _call("floor"), "ceil": _call("ceil"),
    "equal": _compare("="), "less": _compare("<"), "at_most": _compare("<="), "among": _among,
    "and": _between("AND"), "or": _between("OR"), "not": lambda _, __, own: f"(NOT {own[0]})",
    "missing": _missing, "choose": _choose, "coalesce": _coalesce,
    "lower": _cased("lower", LOWER), "upper": _cased("upper", UPPER),
    "trim": _trim, "substring": _substring, "replace": _replace,
    "right": lambda _, node, own: f"right({own[0]}, {node.value})",
    "length": _call("length"), "join": _between("||"),
    "starts": _call("starts_with"), "ends": _call("suffix"), "contains": _call("contains"),
    "like": lambda _, node, own: f"({own[0]} LIKE {string(node.value)})",
    "number_of": _number_of, "text_of": _text_of,
    "instant": lambda _, __, own: f"({sql.known(own[0])})",
    "part": _part, "start": _start, "looked_up": _looked_up,
}  # fmt: skip


# ---- PostgreSQL ----------------------------------------------------------------------------------


_SHORT = 20_000
"""Longer expressions are left to NumPy: each check of 64 bits writes its number twice."""
_POSTGRES: dict[Type | None, tuple[str, int]] = {
    **dict.fromkeys(WHOLE, ("bigint", 20)), FLOAT: ("float8", 701), BOOLEAN: ("boolean", 16),
    TEXT: ("text", 25),
}  # fmt: skip
"""The names of types, and their OIDs."""


class PostgresOf(SqlWriter):
    """Writes typed formulas over the columns of a table of PostgreSQL, whose OIDs these are."""

    def __init__(self, types: Mapping[str, int]) -> None:
        self.steps, self.longest, self._types = _POSTGRES_STEPS, _SHORT, types

    def column(self, node: Formula) -> tuple[str, str, int]:
        """Return the expression of a derived column, its type, and the OID of that."""
        if node.type is None or node.type in INSTANTS:
            raise NotExactError
        kind, number = _POSTGRES[node.type]
        return f"({self.write(node)})::{kind}", kind, number

    def named(self, name: str, need: Type | None) -> str:
        number, c = self._types[name], sql.name(name)
        if need is INTEGER and number in {20, 21, 23}:
            return f"{c}::bigint"
        if need is FLOAT and number in {700, 701}:
            return f"nullif({c}::float8, 'NaN'::float8)"
        if need is BOOLEAN and number == 16:
            return c
        if need is TEXT and number in {25, 1043}:
            return f"nullif({c}::text COLLATE \"C\", '')"
        if need in INSTANTS and number in {1082, 1114}:
            there = "between '0001-01-01' and '9999-12-31 23:59:59.999999'::timestamp"
            micros = f"(extract(epoch FROM {c}::timestamp) * 1000000)::bigint"
            return f"CASE WHEN {c} {there} THEN {micros} END"
        raise NotExactError

    def constant(self, value: Any, kind: Type | None) -> str:
        written = _POSTGRES[kind or TEXT][0]
        if value is None:
            return f"NULL::{written}"
        if kind is TEXT:
            if not value.isascii() or "\\" in value or "\0" in value:
                raise NotExactError  # a database may have an encoding without it
            return f"{string(value)}::text"
        if kind is BOOLEAN:
            return "true" if value else "false"
        return f"'{value!r}'::{written}"


def _whole_numbers(form: str) -> Step:
    """Write arithmetic of integers, exactly: as decimals of any length; NULL beyond 64 bits."""

    def step(_: PostgresOf, node: Formula, own: list[str]) -> str:
        if node.of_floats:
            raise NotExactError
        x = form.format(*(f"({x})::numeric" for x in own))
        return f"CASE WHEN {x} BETWEEN {-(1 << 63)} AND {(1 << 63) - 1} THEN ({x})::bigint END"

    return step


def _ordered(operator: str) -> Step:
    def step(_: PostgresOf, node: Formula, own: list[str]) -> str:
        if node.arguments[0].type is TEXT:
            raise NotExactError  # the order of bytes is that of characters in some encodings only
        return f"({own[0]} {operator} {own[1]})"

    return step


def _postgres_float(_: PostgresOf, node: Formula, own: list[str]) -> str:
    through = "::int" if node.arguments[0].type is BOOLEAN else ""
    return f"({own[0]}){through}::float8"


_REST = "mod(mod({0}, nullif({1}, 0)) + {1}, nullif({1}, 0))"
_POSTGRES_STEPS: dict[str, Step] = {
    "add": _whole_numbers("({0} + {1})"), "subtract": _whole_numbers("({0} - {1})"),
    "multiply": _whole_numbers("({0} * {1})"), "negate": _whole_numbers("(0 - {0})"),
    "abs": _whole_numbers("abs({0})"), "remainder": _whole_numbers("mod({0}, nullif({1}, 0))"),
    "quotient": _whole_numbers(f"div({{0}} - {_REST}, nullif({{1}}, 0))"),
    "float": _postgres_float,
    "equal": _between("="), "less": _ordered("<"), "at_most": _ordered("<="),
    "among": lambda _, __, own: f"({own[0]} IN ({', '.join(own[1:])}))",
    "missing": lambda _, __, own: f"({own[0]} IS NULL)", "coalesce": _call("coalesce"),
    **{name: _STEPS[name] for name in ("and", "or", "not", "choose", "instant")},
}  # fmt: skip
