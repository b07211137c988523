"""Formulas as text, parsed by sqlglot; what one row alone does not decide is refused by name."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from attrs import frozen

from sourdine.calendar import DAY, HOUR, MINUTE, SECOND
from sourdine.errors import ParameterError, did_you_mean
from sourdine.frames.formulas.tree import Formula

if TYPE_CHECKING:
    from collections.abc import Callable


# ---- The functions: how they are called, and what they give --------------------------------------


MANY = 100


@frozen
class Function:
    """A function, as the language reference shows it: a call, and what it gives.

    ``arguments`` are the least and the largest number of arguments, and ``names`` other names.
    """

    usage: str
    text: str
    arguments: tuple[int, int]
    names: tuple[str, ...]


def _f(usage: str, text: str, least: int, most: int = 0, *names: str) -> tuple[str, Function]:
    return usage.partition("(")[0], Function(usage, text, (least, most or least), names)


FUNCTIONS: dict[str, Function] = dict([
    # numbers
    _f("abs(x)", "The size of a number or a duration.", 1),
    _f("round(x, digits)",
        "The nearest number with the given decimals, by default 0; halves away from zero.", 1, 2),
    _f("floor(x)", "The largest whole number up to x.", 1),
    _f("ceil(x)", "The smallest whole number from x on.", 1, 1, "ceiling"),
    _f("sign(x)", "-1, 0 or 1.", 1),
    _f("sqrt(x)", "The square root; missing below 0.", 1),
    _f("mod(x, y)", "The remainder, as x % y: it has the sign of x.", 2),
    _f("clamp(x, lower, upper)", "x, moved to the nearest of two ends.", 3, 3, "clip"),
    _f("number(x)",
        "A text or a column as a number, by the reading rules; 1 or 0 for true or false.", 1),
    _f("integer(x)", "A number without its fraction; missing beyond 64 bits.", 1, 1, "int",
        "trunc"),
    # texts
    _f("lower(s)", "Letters in lower case.", 1, 1, "lcase"),
    _f("upper(s)", "Letters in upper case.", 1, 1, "ucase"),
    _f("trim(s)", "Without blanks at both ends.", 1, 1, "strip"),
    _f("ltrim(s)", "Without blanks at the start.", 1, 1, "lstrip"),
    _f("rtrim(s)", "Without blanks at the end.", 1, 1, "rstrip"),
    _f("length(s)", "The number of characters.", 1, 1, "len", "char_length", "character_length"),
    _f("substr(s, start, length)", "Characters from a position on, of which the first is 1.", 2, 3,
        "substring"),
    _f("left(s, n)", "The first n characters.", 2),
    _f("right(s, n)", "The last n characters.", 2),
    _f("concat(a, b, ...)", "Texts one after another; missing ones are skipped.", 1, MANY),
    _f("replace(s, 'old', 'new')", "Every occurrence replaced.", 3),
    _f("starts_with(s, start)", "Whether it starts so.", 2, 2, "startswith"),
    _f("ends_with(s, end)", "Whether it ends so.", 2, 2, "endswith", "suffix"),
    _f("contains(s, part)", "Whether it holds a text.", 2),
    _f("text(x)", "A value as a text, as categories are read.", 1, 1, "string", "str"),
    # dates and times
    _f("date(x)", "A time or a text as a date.", 1, 1, "to_date"),
    _f("time(x)", "A date or a text as a time.", 1, 1, "timestamp", "datetime", "to_timestamp"),
    _f("make_date(year, month, day)", "A date; missing if there is none.", 3, 3, "date_from_parts"),
    _f("year(d)", "The year.", 1),
    _f("quarter(d)", "The quarter, 1 to 4.", 1),
    _f("month(d)", "The month, 1 to 12.", 1),
    _f("day(d)", "The day of the month.", 1, 1, "day_of_month", "dayofmonth"),
    _f("weekday(d)", "The day of the week: 1 for Monday to 7 for Sunday.", 1, 1, "isodow"),
    _f("day_of_year(d)", "1 to 366.", 1, 1, "dayofyear", "doy"),
    _f("hour(d)", "The hour, 0 to 23.", 1),
    _f("minute(d)", "The minute.", 1),
    _f("second(d)", "The second, without its decimals.", 1),
    _f("date_trunc('month', d)",
        "The start of the year, quarter, month, week (Monday), day, hour, minute or second.", 2),
    _f("date_diff('day', a, b)",
        "How many starts of a unit lie after a, up to b; negative if b is earlier.", 3, 3,
        "datediff"),
    _f("weeks(t)", "A duration as a number of weeks.", 1),
    _f("days(t)", "A duration as a number of days.", 1),
    _f("hours(t)", "A duration as a number of hours.", 1),
    _f("minutes(t)", "A duration as a number of minutes.", 1),
    _f("seconds(t)", "A duration as a number of seconds.", 1),
    # values of any type
    _f("coalesce(x, y, ...)", "The first value that is not missing.", 1, MANY, "ifnull", "nvl"),
    _f("nullif(x, y)", "Missing if x equals y, else x.", 2),
    _f("least(x, y, ...)", "The smallest; missing ones are skipped.", 1, MANY, "min"),
    _f("greatest(x, y, ...)", "The largest; missing ones are skipped.", 1, MANY, "max"),
    _f("boolean(x)", "True for 1 or 'true', false for 0 or 'false', else missing.", 1, 1, "bool"),
])  # fmt: skip
"""The functions, by their names in the reference; alternatives are in `NAMES`."""
NAMES = {alias: name for name, function in FUNCTIONS.items() for alias in (name, *function.names)}
"""Every name of a function, and the one under which `FUNCTIONS` has it."""


# ---- Texts to trees ------------------------------------------------------------------------------


LONGEST = 10_000
DEEPEST = 60
CHANGING_NAMES = {
    *("current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"),
    *("current_user", "current_role", "current_catalog", "current_schema", "session_user"),
}
"""Names that SQL reads as functions without parentheses, unless they are quoted."""
EXAMPLE = "age >= 18 and region in ('north', 'south')"
AGGREGATES = {
    *("sum", "avg", "mean", "count", "median", "stddev", "stdev", "std", "variance", "var"),
    *("var_pop", "var_samp", "stddev_pop", "stddev_samp", "quantile", "percentile", "mode"),
    *("percentile_cont", "percentile_disc", "quantile_cont", "approx_quantile", "corr"),
    *("covar_pop", "covar_samp", "array_agg", "string_agg", "listagg", "group_concat", "any"),
    *("list", "first", "last", "any_value", "arg_max", "arg_min", "bool_and", "bool_or", "every"),
    *("approx_count_distinct", "histogram", "product", "total", "kurtosis", "skewness"),
}
WINDOWS = {
    *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"),
    *("first_value", "last_value", "nth_value"),
}
CHANGING = {
    *("random", "rand", "randn", "uuid", "gen_random_uuid", "now", "today", "current_date"),
    *("current_timestamp", "current_time", "localtime", "localtimestamp", "getdate", "sysdate"),
    *("nextval", "currval", "setseed", "age", "clock_timestamp", "rowid", "row_id"),
}
INEXACT = {
    *("exp", "ln", "log", "log2", "log10", "pow", "power", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "atan2", "sinh", "cosh", "tanh", "cbrt", "pi", "log1p", "expm1"),
}
UNITS = {
    "week": 7 * DAY, "day": DAY, "hour": HOUR, "minute": MINUTE, "second": SECOND,
    "millisecond": 1000, "microsecond": 1,
}  # fmt: skip
CASTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INTEGER"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "TEXT", "CHAR", "NVARCHAR"), "text"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME", "TIMESTAMPTZ"), "time"),
    "DATE": "date", "BOOLEAN": "boolean",
}  # fmt: skip


def refuse(must: str, got: str = "", hint: str = "", **tries: Any) -> NoReturn:
    """Raise the error of a formula; callers rename ``formula`` to their parameter."""
    raise ParameterError("formula", must, got, hint, **tries)


@cache
def dialect() -> Any:
    """Return the dialect: DuckDB's operators; every function is a name with arguments."""
    from sqlglot.dialects.duckdb import DuckDB

    kept = ("CAST", "TRY_CAST", "EXTRACT")
    base: Any = DuckDB.Parser
    parsers = {name: own for name, own in base.FUNCTION_PARSERS.items() if name in kept}
    own = {"FUNCTIONS": {}, "FUNCTION_PARSERS": parsers, "NO_PAREN_FUNCTIONS": {}}
    return type("Formulas", (DuckDB,), {"Parser": type("Parser", (base,), own)})


@lru_cache(1024)
def parsed(text: str) -> Formula:
    """Return the tree of a text, without types; `sourdine.frames.formulas.types` adds them.

    Examples
    --------
    >>> parsed("income / household_size").columns
    ('income', 'household_size')
    >>> parsed("sum(income) > 3")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: formula must be computed from one row alone, got 'sum', which is computed from several rows. Ask for it as a statistic.
    """  # noqa: E501
    import sqlglot
    from sqlglot.errors import SqlglotError

    if len(text) > LONGEST:
        refuse(f"have at most {LONGEST} characters", f"{len(text)}")
    try:
        found = sqlglot.parse(text, dialect=dialect())
    except (SqlglotError, RecursionError, ValueError):
        found = []
    if len(found) != 1 or found[0] is None:
        refuse(
            "be one expression that can be read", repr(text) if len(text) < 80 else "",
            f"Write it as in SQL: {EXAMPLE}. A column name with spaces or symbols is written in "
            'double quotes: "household size".',
        )  # fmt: skip
    return node(found[0])


def condition(text: str, parameter: str) -> None:
    """Refuse a text that is no condition, whatever the types of its columns are."""
    try:
        tree = parsed(text)
        if not tree.columns:
            refuse("name at least one column", hint=f"Write a condition such as {EXAMPLE}.")
        if tree.operation in _VALUES:
            refuse(
                "be a condition, which is true or false",
                hint=f"Write a comparison such as {EXAMPLE}.",
            )
    except ParameterError as error:
        raise error.renamed(formula=parameter) from None


_VALUES = {"+", "-", "*", "/", "//", "%", "||", "neg", "string", "interval", "null"}
"""Operations whose value is neither true nor false."""


def node(tree: Any, depth: int = 0) -> Formula:
    """Return the tree of an expression of sqlglot."""
    if depth > DEEPEST:
        refuse(f"have at most {DEEPEST} steps inside one another")
    kind = type(tree).__name__
    if kind in _BINARY:
        if kind in COMPARISONS:
            _require_a_pair(tree)
        left, right = (node(one, depth + 1) for one in (tree.this, tree.expression))
        return Formula(_BINARY[kind], (left, right))
    if kind in _READERS:
        return _READERS[kind](tree, depth + 1)
    return _refused(tree, kind)


_BINARY = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "//", "Mod": "%", "EQ": "=",
    "NEQ": "<>", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<=", "And": "and", "Or": "or",
    "DPipe": "||", "NullSafeEQ": "same", "NullSafeNEQ": "distinct",
}  # fmt: skip


COMPARISONS = {"EQ", "NEQ", "GT", "GTE", "LT", "LTE"}


def _require_a_pair(tree: Any) -> None:
    """Refuse comparisons that mean something else than they seem to: in a row, or with null."""
    if type(tree.this).__name__ in COMPARISONS:
        refuse(
            "compare two values at a time", repr(str(tree.sql())),
            "Join two comparisons with and: age > 10 and age < 30.",
        )  # fmt: skip
    if "Null" in {type(tree.this).__name__, type(tree.expression).__name__}:
        refuse(
            "not compare with null, which is never true", repr(str(tree.sql())),
            "Write is null, or is not null.",
        )  # fmt: skip


def _below(tree: Any, depth: int) -> tuple[Formula, ...]:
    return tuple(node(one, depth) for one in tree)


def _column(tree: Any, _: int) -> Formula:
    name = tree.name
    quoted = tree.this.args.get("quoted")
    if any(tree.args.get(part) for part in ("table", "db", "catalog")):
        refuse(
            "name columns without a table", repr(".".join(part.name for part in tree.parts)),
            "A column whose name has a dot is written in double quotes.",
        )  # fmt: skip
    if not quoted and name.lower() in CHANGING_NAMES:
        _changing(name)
    return Formula("column", value=name)


def _literal(tree: Any, _: int) -> Formula:
    if tree.is_string:
        if "\0" in tree.this:
            refuse("have no NUL character in a text")
        return Formula("string", value=tree.this)
    try:
        number: float = int(tree.this)
    except ValueError:
        number = float(tree.this)
    if isinstance(number, int) and number >= 1 << 63:
        number = float(tree.this)  # infinite where float(number) would raise
    if number == float("inf"):
        refuse("have numbers of 64 bits", "one that is larger")
    return Formula("constant", value=number)


def _boolean(tree: Any, _: int) -> Formula:
    return Formula("constant", value=bool(tree.this))


def _case(tree: Any, depth: int) -> Formula:
    """Read ``case``, and ``if``, which is one with a single condition."""
    parts: list[Formula] = []
    whole = type(tree).__name__ == "Case"
    for one in tree.args["ifs"] if whole else [tree]:
        condition = node(one.this, depth)
        if whole and tree.this is not None:
            condition = Formula("=", (node(tree.this, depth), condition))
        parts += [condition, node(one.args["true"], depth)]
    otherwise = tree.args.get("default" if whole else "false")
    parts.append(Formula("null") if otherwise is None else node(otherwise, depth))
    return Formula("case", tuple(parts))


def _in(tree: Any, depth: int) -> Formula:
    if tree.args.get("query") is not None:
        return _refused(tree.args["query"], "Subquery")
    if tree.args.get("unnest") is not None or tree.args.get("field") is not None:
        refuse("list the values of in", hint="Write region in ('north', 'south').")
    return Formula("in", _below((tree.this, *tree.expressions), depth))


def _between(tree: Any, depth: int) -> Formula:
    if tree.args.get("symmetric"):
        refuse("have between with the lower end first", "between symmetric")
    return Formula("between", _below((tree.this, tree.args["low"], tree.args["high"]), depth))


def _is(tree: Any, depth: int) -> Formula:
    kind = type(tree.expression).__name__
    if kind == "Null":
        return Formula("is null", _below([tree.this], depth))
    if kind == "Boolean":
        wanted = Formula("constant", value=bool(tree.expression.this))
        return Formula("same", (node(tree.this, depth), wanted))
    return refuse("compare with is only null, true or false", hint="Use = for other values.")


def _like(tree: Any, depth: int) -> Formula:
    return Formula("like", _below((tree.this, tree.expression), depth))


def _cast(tree: Any, depth: int) -> Formula:
    written = tree.args["to"].this
    name = getattr(written, "value", str(written))
    if name not in CASTS or tree.args["to"].expressions:  # a length or a scale
        refuse(
            "convert to integer, double, varchar, date, timestamp or boolean only",
            repr(name.lower()),
        )
    if CASTS[name] == "integer":
        return Formula("to integer", _below([tree.this], depth))
    return Formula("call", _below([tree.this], depth), CASTS[name])


def _interval(tree: Any, _: int) -> Formula:
    unit = tree.args.get("unit")
    name = "" if unit is None else unit.name.lower().removesuffix("s")
    written = tree.this.this if type(tree.this).__name__ == "Literal" else None
    if name in {"month", "quarter", "year", "decade", "century"}:
        refuse(
            "have intervals of a fixed length", f"interval in {name}s",
            "Use weeks, days, hours, minutes or seconds; or compare year(d) and month(d).",
        )  # fmt: skip
    try:
        micros = float(str(written)) * UNITS[name]
    except (ValueError, KeyError):
        refuse("have intervals such as interval '7 days'", hint="Units are week to microsecond.")
    if not float(micros).is_integer() or abs(micros) >= 1 << 53:
        refuse("have intervals of whole microseconds", hint="Use a shorter interval.")
    return Formula("interval", value=int(micros))


def _extract(tree: Any, depth: int) -> Formula:
    return _called(tree.this.name.lower(), _below([tree.expression], depth))


def _call(tree: Any, depth: int) -> Formula:
    name = str(tree.this).lower()
    if any(type(one).__name__ == "Star" for one in tree.expressions):
        _aggregate(name)
    if name in AGGREGATES or (name in {"min", "max"} and len(tree.expressions) == 1):
        _aggregate(name)
    if name in WINDOWS:
        refuse("be computed from one row alone", f"{name!r}, which looks at other rows", "Omit it.")
    if name in CHANGING:
        _changing(name)
    return _called(name, _below(tree.expressions, depth))


def _called(name: str, arguments: tuple[Formula, ...]) -> Formula:
    known = NAMES.get(name)
    if known is None and name in INEXACT:
        refuse(
            "use functions that every engine computes alike", repr(name),
            "Its last digits differ between engines: compute it before, as a column.",
        )  # fmt: skip
    if known is None:
        meant = did_you_mean(name, list(NAMES))
        listed = f"Known functions: {', '.join(sorted(FUNCTIONS))}."
        refuse("use known functions", repr(name), meant if "Did you mean" in meant else listed)
    least, most = FUNCTIONS[known].arguments
    if not least <= len(arguments) <= most:
        refuse(f"call {FUNCTIONS[known].usage}", f"{name} with {len(arguments)} arguments")
    return Formula("call", arguments, known)


def _aggregate(name: str) -> NoReturn:
    refuse(
        "be computed from one row alone", f"{name!r}, which is computed from several rows",
        "Ask for it as a statistic.",
    )  # fmt: skip


def _changing(name: str) -> NoReturn:
    refuse(
        "give the same value each time", f"{name!r}, which does not",
        "Write the value, such as date '2024-12-31'. A column of that name is written in double "
        "quotes.",
    )  # fmt: skip


def _one(operation: str) -> Callable[[Any, int], Formula]:
    return lambda tree, depth: Formula(operation, _below([tree.this], depth))


_READERS: dict[str, Callable[[Any, int], Formula]] = {
    "Column": _column, "Literal": _literal, "Boolean": _boolean, "Case": _case, "If": _case,
    "In": _in, "Between": _between, "Is": _is, "Like": _like, "Cast": _cast, "TryCast": _cast,
    "Interval": _interval, "Extract": _extract, "Anonymous": _call, "Neg": _one("neg"),
    "Not": _one("not"), "Paren": lambda tree, depth: node(tree.this, depth),
    "Null": lambda _, __: Formula("null"),
}  # fmt: skip


def _refused(tree: Any, kind: str) -> NoReturn:
    if kind in {"Subquery", "Select", "Exists", "Union", "With", "Table"}:
        refuse(
            "be computed from one row alone", "a query inside",
            "Ask for what it selects as a statistic of its own; columns of a public table are "
            "added by {lookup}.",
        )  # fmt: skip
    if kind in {"Window", "WithinGroup", "Filter", "IgnoreNulls"}:
        refuse("be computed from one row alone", "a window over several rows", "Omit over (...).")
    if kind in {"Any", "All"}:
        _aggregate(kind.lower())
    if kind in {"Pow", "Placeholder", "Parameter"}:
        if kind == "Pow":
            refuse("have no powers", hint="Write a product, such as age * age.")
        refuse("have no placeholders", hint="Write the value: a formula is public.")
    words = tree.sql() if hasattr(tree, "sql") else kind
    refuse(
        "use only supported operators",
        repr(words) if len(words) < 40 else kind.lower(),
        f"The operators are + - * / // % || = <> < <= > >= and or not in between like is null "
        f"case; an example is {EXAMPLE}.",
    )
