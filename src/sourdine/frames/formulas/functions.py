"""The functions of formulas: how they are called, and what they give."""

from __future__ import annotations

from attrs import frozen

MANY = 100


@frozen
class Function:
    """A function, as the language reference shows it.

    Parameters
    ----------
    usage
        A call.
    text
        What it gives.
    group
        What it is about: numbers, texts, dates or values of any type.
    arguments
        The least and the largest number of arguments.
    names
        Other names of it.
    """

    usage: str
    text: str
    group: str
    arguments: tuple[int, int]
    names: tuple[str, ...] = ()


def _f(usage: str, text: str, group: str, least: int, most: int = 0, *names: str) -> Function:
    return Function(usage, text, group, (least, most or least), names)


NUMERIC, TEXTS, DATES, ANY = "Numbers", "Texts", "Dates and times", "Values of any type"
FUNCTIONS: dict[str, Function] = {
    "abs": _f("abs(x)", "The size of a number or a duration.", NUMERIC, 1),
    "round": _f(
        "round(x, digits)",
        "The nearest number with so many decimals, by default 0; halves away from zero.",
        NUMERIC, 1, 2,
    ),
    "floor": _f("floor(x)", "The largest whole number up to x.", NUMERIC, 1),
    "ceil": _f("ceil(x)", "The smallest whole number from x on.", NUMERIC, 1, 1, "ceiling"),
    "sign": _f("sign(x)", "-1, 0 or 1.", NUMERIC, 1),
    "sqrt": _f("sqrt(x)", "The square root; missing below 0.", NUMERIC, 1),
    "mod": _f("mod(x, y)", "The remainder, as x % y.", NUMERIC, 2),
    "clamp": _f(
        "clamp(x, lower, upper)", "x, moved to the nearest of two ends.", NUMERIC, 3, 3, "clip"
    ),
    "number": _f(
        "number(x)",
        "A text or a column as a number, by the reading rules; 1 or 0 for true or false.",
        NUMERIC, 1,
    ),
    "integer": _f(
        "integer(x)",
        "The whole part of a number; missing beyond 64 bits.",
        NUMERIC, 1, 1, "int", "trunc",
    ),
    "lower": _f("lower(s)", "Letters in lower case.", TEXTS, 1, 1, "lcase"),
    "upper": _f("upper(s)", "Letters in upper case.", TEXTS, 1, 1, "ucase"),
    "trim": _f("trim(s)", "Without blanks at both ends.", TEXTS, 1, 1, "strip"),
    "ltrim": _f("ltrim(s)", "Without blanks at the start.", TEXTS, 1, 1, "lstrip"),
    "rtrim": _f("rtrim(s)", "Without blanks at the end.", TEXTS, 1, 1, "rstrip"),
    "length": _f(
        "length(s)", "The number of characters.", TEXTS, 1, 1,
        "len", "char_length", "character_length",
    ),
    "substr": _f(
        "substr(s, start, length)",
        "Characters from a position on, of which the first is 1.",
        TEXTS, 2, 3, "substring",
    ),
    "left": _f("left(s, n)", "The first n characters.", TEXTS, 2),
    "right": _f("right(s, n)", "The last n characters.", TEXTS, 2),
    "concat": _f(
        "concat(a, b, ...)", "Texts one after another; missing ones are skipped.", TEXTS, 1, MANY
    ),
    "replace": _f("replace(s, 'old', 'new')", "Every occurrence replaced.", TEXTS, 3),
    "starts_with": _f(
        "starts_with(s, start)", "Whether it starts so.", TEXTS, 2, 2, "startswith"
    ),
    "ends_with": _f(
        "ends_with(s, end)", "Whether it ends so.", TEXTS, 2, 2, "endswith", "suffix"
    ),
    "contains": _f("contains(s, part)", "Whether it holds a text.", TEXTS, 2),
    "text": _f(
        "text(x)", "A value as a text, as categories are read.", TEXTS, 1, 1, "string", "str"
    ),
    "date": _f("date(x)", "A time or a text as a date.", DATES, 1, 1, "to_date"),
    "time": _f(
        "time(x)", "A date or a text as a time.", DATES, 1, 1,
        "timestamp", "datetime", "to_timestamp",
    ),
    "make_date": _f(
        "make_date(year, month, day)", "A date; missing if there is none.", DATES, 3, 3,
        "date_from_parts",
    ),
    "year": _f("year(d)", "The year.", DATES, 1),
    "quarter": _f("quarter(d)", "The quarter, 1 to 4.", DATES, 1),
    "month": _f("month(d)", "The month, 1 to 12.", DATES, 1),
    "day": _f("day(d)", "The day of the month.", DATES, 1, 1, "day_of_month", "dayofmonth"),
    "weekday": _f(
        "weekday(d)", "The day of the week: 1 for Monday to 7 for Sunday.", DATES, 1, 1, "isodow"
    ),
    "day_of_year": _f("day_of_year(d)", "1 to 366.", DATES, 1, 1, "dayofyear", "doy"),
    "hour": _f("hour(d)", "The hour, 0 to 23.", DATES, 1),
    "minute": _f("minute(d)", "The minute.", DATES, 1),
    "second": _f("second(d)", "The second, without its decimals.", DATES, 1),
    "date_trunc": _f(
        "date_trunc('month', d)",
        "The start of the year, quarter, month, week (Monday), day, hour, minute or second.",
        DATES, 2,
    ),
    "date_diff": _f(
        "date_diff('day', a, b)",
        "How many starts of a unit lie after a, up to b; negative if b is earlier.",
        DATES, 3, 3, "datediff",
    ),
    "weeks": _f("weeks(t)", "A duration as a number of weeks.", DATES, 1),
    "days": _f("days(t)", "A duration as a number of days.", DATES, 1),
    "hours": _f("hours(t)", "A duration as a number of hours.", DATES, 1),
    "minutes": _f("minutes(t)", "A duration as a number of minutes.", DATES, 1),
    "seconds": _f("seconds(t)", "A duration as a number of seconds.", DATES, 1),
    "coalesce": _f(
        "coalesce(x, y, ...)", "The first value that is not missing.", ANY, 1, MANY, "ifnull", "nvl"
    ),
    "nullif": _f("nullif(x, y)", "Missing if x equals y, else x.", ANY, 2),
    "least": _f(
        "least(x, y, ...)", "The smallest; missing ones are skipped.", ANY, 1, MANY, "min"
    ),
    "greatest": _f(
        "greatest(x, y, ...)", "The largest; missing ones are skipped.", ANY, 1, MANY, "max"
    ),
    "boolean": _f(
        "boolean(x)", "True for 1 or 'true', false for 0 or 'false', else missing.",
        ANY, 1, 1, "bool",
    ),
}  # fmt: skip
"""The functions, by their names in the reference; alternatives are in `NAMES`."""
NAMES = {alias: name for name, function in FUNCTIONS.items() for alias in (name, *function.names)}
"""Every name of a function, and the one under which `FUNCTIONS` has it."""
