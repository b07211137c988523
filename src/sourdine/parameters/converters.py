"""Converters from typed values to what a formula needs, or a structured error."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sourdine.calendar import ISO, DateFormat, read_date, read_duration, written
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import flag, given, integer, one_of, positive, probability, rational
from sourdine.frames.cells import Codes
from sourdine.frames.reading import Reading, read_text
from sourdine.noise.source import SYSTEM
from sourdine.parameters.kinds import resembles_unknown
from sourdine.privacy import ADD_REMOVE, LOCAL, SUBSTITUTE, Relation
from sourdine.privacy.guarantee import ALIKE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sourdine.calendar import Duration
    from sourdine.exact import Number
    from sourdine.noise import Source

    Ends = tuple[Fraction | None, Fraction | None]


# ---- Dates: bounds and edges, in ISO 8601 or the data's format -----------------------------------


DateBounds = tuple[dt.date, dt.date]
"""Two dates, or two times without a zone."""
EXAMPLE = ("2020-01-01", "2024-12-31")
PLAIN = {int, float, Decimal, Fraction}


def dates(x: Iterable[object], parameter: str) -> tuple[dt.date, ...] | None:
    """Return values as dates, all of them times if one is; None if they are not dates."""
    typed = list(x)
    if all(type(part) in PLAIN for part in typed):
        return None
    read = [read_date(part) for part in typed]
    there = [date for date in read if date is not None]
    if not there:
        return None
    example = EXAMPLE if parameter == "bounds" else list(EXAMPLE)
    if len(there) < len(read):
        number = any(_is_number(part) for part in typed)
        got = "a date and a number" if number else "a date and another value"
        raise ParameterError(
            parameter, "be all dates or all numbers", got,
            f"Use {{{parameter}}}; dates are written as in ISO 8601, or in the declared "
            "date format.",
            **{parameter: example},
        )  # fmt: skip
    found = tuple(there)
    if any(isinstance(date, dt.datetime) for date in there):
        midnight = dt.time()
        found = tuple(
            date if isinstance(date, dt.datetime) else dt.datetime.combine(date, midnight)
            for date in there
        )
    if any(a >= b for a, b in pairwise(found)):
        raise ParameterError(
            parameter, "be dates in order",
            " and ".join(map(written, found)) if len(found) == 2 else f"{len(found)} that are not",
            f"Use the earlier date first, such as {{{parameter}}}.", **{parameter: example},
        )  # fmt: skip
    return found


def duration(x: object, parameter: str) -> dt.timedelta | None:
    """Return a duration above 0; None if the value may be a number."""
    lasting = None if type(x) in PLAIN else read_duration(x)
    if lasting is None and isinstance(x, str) and any(map(str.isalpha, x)):
        lasts = any(map(str.isdigit, x))
        raise (ParameterError if lasts else ParameterTypeError)(
            parameter, "be a number, or for dates a duration in days, h, min, s, ms or us",
            given(x), f"Use {{{parameter}}}.", **{parameter: 1},
        )  # fmt: skip
    if lasting is not None and lasting <= dt.timedelta(0):
        raise ParameterError(parameter, "be above 0", **{parameter: "1 day"})
    return lasting


def _is_number(x: object) -> bool:
    return not isinstance(x, (str, bool)) and isinstance(x, (int, float, np.number))


def in_iso(typed: Mapping[str, Any], read: object) -> dict[str, Any]:
    """Convert dates that were typed in the data's format."""
    if isinstance(read, Mapping):
        form = read.get("date_format")
    else:
        form = read.date_format if isinstance(read, Reading) else None
    if form is None or not any(name in typed for name in ("bounds", "bins")):
        return dict(typed)
    dates, found = Reading.of(read).dates, dict(typed)
    for name in ("bounds", "bins"):
        if isinstance(x := typed.get(name), (list, tuple)):
            found[name] = tuple(_declared(part, dates) for part in x)
    return found


def _declared(x: object, form: DateFormat) -> object:
    """Return the date that a text or an integer spells in a format; else the value unchanged."""
    text = str(x) if type(x) is int else x
    if not isinstance(text, str) or ISO.read(text) is not None:
        return x
    found = read_date(text, form)
    return x if found is None else found


# ---- Converters ----------------------------------------------------------------------------------
#
# A converter is named after its parameter, so that its errors can be: it is the only place where
# the parameter is converted. ``None`` means that it was left out.


Bounds = tuple[Fraction, Fraction] | DateBounds
WIDEST = Fraction(10**290)
MOST_SHOWN = 4
"""A longer list is not repeated in an error."""

LARGEST_EPSILON = 10**300
"""The largest epsilon: it fits into a float, and is far beyond any sensible value."""


def epsilon(x: Number | None) -> Fraction:
    """Return the privacy loss; 0 if an error is given instead."""
    if x is None:
        return Fraction(0)
    if (loss := positive(x, "epsilon")) > LARGEST_EPSILON:
        raise ParameterError(
            "epsilon", "be at most 1e300", "", "Use {epsilon} or less.", epsilon=10
        )
    return loss


def error(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the largest acceptable error: a number, or a duration."""
    return None if x is None else duration(x, "error") or positive(x, "error")


def confidence(x: Number) -> Fraction:
    """Return the probability with which an error holds."""
    return between_0_and_1(x, "confidence", 0.95)


def between_0_and_1(x: object, name: str, example: float) -> Fraction:
    """Return a probability that is neither 0 nor 1."""
    chance = rational(x, name, example=example)
    if not 0 < chance <= 1 - Fraction(1, 10**12):
        hint = f"Use a probability, such as {{{name}}}."
        if 1 < chance < 100:
            hint = f"{float(chance):g}% is {float(chance / 100):g}. {hint}"
        raise ParameterError(name, "be above 0 and below 1", given(x), hint, **{name: example})
    return chance


def lookup(x: object) -> tuple[tuple[str, str], ...] | None:
    """Return the paths of public tables and the column that each is joined by."""
    if x is None:
        return None
    pairs = dict(x).items() if isinstance(x, (Mapping, tuple)) else ()
    if not pairs or not all(isinstance(part, str) and part for pair in pairs for part in pair):
        raise ParameterTypeError(
            "lookup", "map the path of each public table to a column", given(x),
            "Name the file of a table, and the column that it shares with the data.",
        )  # fmt: skip
    return tuple(pairs)


def where(x: object) -> str | None:
    """Return a condition on one row; None if there is none."""
    if x is None:
        return None
    if not isinstance(x, str) or not x.strip():
        raise ParameterTypeError("where", "be a condition, as a text", given(x), where="age >= 18")
    from sourdine.frames.formulas.parsing import condition

    condition(x, "where")
    return x.strip()


def read(x: Reading | Mapping[str, Any] | None) -> Reading:
    """Return the declared format of text."""
    return x if isinstance(x, Reading) else Reading.of(x)


def delta(x: Number) -> Fraction:
    """Return the probability with which the loss may exceed epsilon."""
    return probability(x, "delta", example=1e-6)


_RELATIONS = {relation.value for relation in Relation}


def relation(x: Relation | str) -> Relation:
    """Return the neighbouring relation of a curator's data."""
    if x in (LOCAL, LOCAL.value, ALIKE, ALIKE.value) or (
        isinstance(x, str) and x not in _RELATIONS
    ):
        got = repr(x.value if isinstance(x, Relation) else x)
        meant = SUBSTITUTE.value if "repl" in str(x) else ADD_REMOVE.value
        raise ParameterError("relation", "be 'add_remove' or 'substitute'", got, relation=meant)
    return Relation.read(x)


def rows(x: int) -> int:
    """Return the number of records that one person may own."""
    return integer(x, "rows", least=1)


def n(x: int | None) -> int | None:
    """Return the public number of records."""
    return None if x is None else integer(x, "n", least=1)


def name(x: object, parameter: str, example: str) -> str | None:
    if x is None or (isinstance(x, str) and x):
        return x
    hint = f"Use a column name, such as {{{parameter}}}."
    raise ParameterTypeError(parameter, "be a column name", given(x), hint, **{parameter: example})


def column(x: str | None) -> str | None:
    """Return the name of the column that the statistic is about."""
    return name(x, "column", "age")


def unit(x: str | None) -> str | None:
    """Return the name of the column that identifies a person."""
    return name(x, "unit", "patient")


def per_person(x: str | None) -> str | None:
    """Return how the rows of a person become one value."""
    if x is None:
        return None
    words = x.split(maxsplit=2) if isinstance(x, str) else []
    if len(words) == 3 and words[:2] == ["last", "by"]:
        return " ".join(words).rstrip()
    if words[:1] == ["last"]:
        raise ParameterError(
            "per_person", "name the column by which rows are last", given(x),
            per_person="last by date",
        )  # fmt: skip
    return one_of(x, "per_person", "sum", "mean", "min", "max", "count", "last by date")


def listed(x: object, parameter: str, example: list[Any]) -> tuple[Any, ...] | None:
    if x is None:
        return None
    if isinstance(x, str) or not hasattr(x, "__iter__"):
        raise ParameterTypeError(parameter, "be a list", given(x), **{parameter: example})
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in x)
    if not values:
        raise ParameterError(parameter, "hold at least one", **{parameter: example})
    if not _distinct(values):
        alone = all(_distinct([value]) for value in values)
        times = Counter(map(read_text, values)) if alone else {}
        twice = [value for value in values if alone and times[read_text(value)] > 1]
        got = f"{given(twice[0])} twice" if twice else "a missing or other value"
        must = "hold distinct strings, numbers or dates"
        use = list(dict.fromkeys(values)) if twice and len(values) <= MOST_SHOWN else example
        raise ParameterError(parameter, must, got, **{parameter: use})
    return values


def listed_or_unknown(x: object, parameter: str, example: list[Any]) -> Any:
    """Return a non-empty list, or the word for what cannot be listed."""
    if isinstance(x, str) and x != UNKNOWN and resembles_unknown(x):
        raise ParameterError(
            parameter, f"be {UNKNOWN!r} or a list of several", repr(x),
            f"Use {{{parameter}}} to find them, or list more than one.", **{parameter: UNKNOWN},
        )  # fmt: skip
    return UNKNOWN if isinstance(x, str) and x == UNKNOWN else listed(x, parameter, example)


def label(x: object, parameter: str, example: str) -> Any:
    """Return a value that a column may hold."""
    plain = x.item() if isinstance(x, np.generic) else x
    if plain is not None and not _distinct([plain]):
        raise ParameterTypeError(
            parameter, "be a string, a number or a date", given(x), **{parameter: example}
        )
    return plain


def _distinct(values: Sequence[Any]) -> bool:
    """Return whether values are distinct when read from the data."""
    if any(hasattr(value, "__iter__") and not isinstance(value, str) for value in values):
        return False
    try:
        Codes(None, values)
    except (ParameterError, ParameterTypeError):
        return False
    return True


def bounds(x: Sequence[Number | dt.date | str] | None) -> Bounds:
    """Return public bounds, or raise an error that says why they are needed."""
    if x is None:
        raise ParameterError("bounds", "be two public numbers", "", _WHICH, bounds=(0, 120))
    if isinstance(x, str) or not hasattr(x, "__len__") or len(x) != 2:
        raise ParameterTypeError("bounds", "be two numbers", _several(x), bounds=(0, 120))
    if (typed := dates(x, "bounds")) is not None:
        return typed[0], typed[1]
    texts = any(isinstance(b, str) for b in x)
    must = f"be two finite numbers{', or two dates such as 2020-01-31' if texts else ''}"
    lower, upper = (_bound(b, must) for b in x)
    if max(abs(lower), abs(upper)) > WIDEST or 0 < upper - lower < 1 / WIDEST:
        raise ParameterError(
            "bounds", "be within 1e290 of 0, and more than 1e-290 apart", bounds=(0, 120)
        )
    if lower >= upper:
        short = all(b.denominator == 1 and abs(b) < 10**15 for b in (lower, upper))
        right = tuple(int(b) if short else float(b) for b in (upper, lower))
        hint = "Use the lower bound first, such as {bounds}."
        must, got = "lower must be below upper", f"({lower}, {upper})"
        raise ParameterError("bounds", must, got, hint, bounds=right if lower > upper else (0, 120))
    return lower, upper


def source(x: Source) -> Source:
    """Return a source of random bytes, or refuse what is none."""
    if x is SYSTEM or (callable(getattr(x, "bytes", None)) and hasattr(x, "private")):
        return x
    must, hint = "be a source of random bytes", "Omit {source}: releases are drawn securely."
    raise ParameterTypeError("source", must, given(x), hint, source=LEFT_OUT)


def _several(x: Any) -> str:
    """Return what was typed, if it is a few words or numbers."""
    if not isinstance(x, (list, tuple)) or not 0 < len(x) <= MOST_SHOWN:
        return given(x)
    return given(x[0]) if len(x) == 1 else f"({', '.join(map(given, x))})"


def _bound(x: object, must: str) -> Fraction:
    """Return a bound; a text that is not a number may be a date in another format."""
    try:
        return part(x, "bounds", must, (0, 120))
    except (ParameterError, ParameterTypeError) as error:
        if not isinstance(x, str) or not any(map(str.isdigit, x)):
            raise
        raise type(error)(
            "bounds", must, error.got,
            "Use {bounds}; declare the date format of dates that are not ISO 8601.",
            bounds=(0, 120),
        ) from None  # fmt: skip


def part(x: object, parameter: str, must: str, example: object) -> Fraction:
    """Return one number out of several."""
    try:
        return rational(x, parameter)
    except (ParameterError, ParameterTypeError) as error:
        raise type(error)(
            parameter, must, error.got, f"Use {{{parameter}}}.", **{parameter: example}
        ) from None


_WHICH = (
    "The noise is scaled to the bounds, and bounds taken from the data would reveal its extreme "
    "records. Choose them from public knowledge, before looking at the data: an age is within 0 "
    "and 120, a proportion within 0 and 1, a yearly salary within 0 and 500000. Bounds that are "
    "twice too wide double the noise; values outside narrow bounds are clamped. Use {bounds}; if "
    "they are not known, {bounds:find} spends part of epsilon on finding them."
)


def step(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the lattice's step; a float that is not a short decimal means its exact value."""
    if x is None:
        return None
    if (lasting := duration(x, "step")) is not None:
        return lasting
    typed = positive(x, "step")
    return binary(float(x)) or typed if isinstance(x, float) else typed


def binary(x: float) -> Fraction | None:
    """Return a float exactly if it is a power of two times an integer of few bits.

    ``2**-40`` prints as 9.094947017729282e-13, which divides no range: it means :math:`2^{-40}`.
    """
    exact = Fraction(x)
    return exact if exact.numerator.bit_length() <= 16 else None


def unused(x: object, parameter: str, why: str) -> None:
    """Refuse a parameter that would have no effect."""
    if x:
        raise ParameterError(
            parameter, f"be omitted {why}", given(x),
            **{parameter: LEFT_OUT})  # fmt: skip


# ---- Unknown parameters, found privately for part of epsilon -------------------------------------
#
# ``bounds="find"`` leaves both sides open, ``bounds=(0, None)`` the upper one, and
# ``bounds=(0, 1e9, "find")`` searches within a public range; ``rows="find"`` asks how many rows of
# a person to keep. An unknown parameter is stored as it is typed, with exact numbers, and is
# determined before anything is computed from it.


FIND = "find"
FURTHEST = Fraction(2) ** 63
"""The furthest from 0 that a bound of a search range may be."""
FINEST, COARSEST = Fraction(1, 1 << 100), Fraction(1 << 40)


def bounds_or_find(x: Sequence[Number | str | None] | Literal["find"] | None) -> Bounds:
    """Return public bounds, or unknown ones as typed.

    Examples
    --------
    >>> bounds_or_find((0, 120)), bounds_or_find("find"), bounds_or_find((None, 5))
    ((Fraction(0, 1), Fraction(120, 1)), 'find', (None, Fraction(5, 1)))
    """
    parts = x if isinstance(x, (list, tuple)) else ()
    open_end = len(parts) == 2 and any(part is None for part in parts)
    within = len(parts) == 3 and isinstance(parts[2], str) and parts[2] == FIND
    if (isinstance(x, str) and x == FIND) or open_end or within:
        return cast("Bounds", _found(x))
    word = x[0] if isinstance(x, (list, tuple)) and len(x) == 1 else x
    if isinstance(word, str) and not any(map(str.isdigit, word)):
        raise ParameterTypeError(
            "bounds", "be two numbers", given(word),
            "Use {bounds}; if they are not known, {bounds:find} spends part of epsilon on finding "
            "them.",
            bounds=(0, 120),
        )  # fmt: skip
    return bounds(cast("Any", x))


def rows_or_find(x: int | Literal["find"]) -> int:
    """Return the number of records that one person may own, or the word for finding it."""
    return cast("int", FIND if x == FIND else rows(cast("int", x)))


def is_unknown(x: object) -> bool:
    """Return whether a parameter is unknown and must be found."""
    return x == FIND or (isinstance(x, tuple) and (None in x or FIND in x))


def ends(x: object) -> Ends:
    """Return the ends of the range in which bounds are searched; None for no end."""
    return (None, None) if x == FIND else cast("Ends", cast("tuple[Any, ...]", x)[:2])


def _found(x: Any) -> Any:
    if x == FIND or all(part is None for part in x[:2]):
        return FIND
    ends: list[Fraction | None] = []
    for typed in x[:2]:
        wanted, end = "be finite numbers, or None where nobody knows", None
        if typed is not None and abs(end := part(typed, "bounds", wanted, (0, None))) > FURTHEST:
            must = "be within 2**63 of 0 to be found"
            raise ParameterError("bounds", must, given(typed), bounds=(0, None))
        ends.append(end)
    return tuple(ends) if None in ends else (*bounds(cast("Any", ends)), FIND)


def check_step(x: Fraction | timedelta | None, typed: object) -> None:
    """Refuse a step from which no search for these bounds can start."""
    low, high = ends(typed)
    if isinstance(x, timedelta):
        must = "be a number if bounds are found, as the bounds of dates cannot be found"
        raise ParameterError("step", must, "a duration", step=LEFT_OUT)
    most = COARSEST if low is None or high is None else min(COARSEST, high - low)
    if x is not None and not FINEST <= x <= most:
        must = "be from 2**-100 to 2**40 if bounds are found, and within their range"
        raise ParameterError("step", must, f"{float(x):g}", step=LEFT_OUT)


# ---- Columns and keys of groups ------------------------------------------------------------------
#
# ``by="sex", keys=["f", "m"]``                       one column, its keys
# ``by=["sex", "age"], keys=[("f", 30), ("m", 31)]``  several columns, a tuple of values for each
#                                                     key
# ``keys={"sex": ["f", "m"], "age": [30, 31]}``       all combinations of these values
# ``keys="unknown"``                                  those that many records have, found privately


UNKNOWN = "unknown"
"""The word for keys that cannot be listed."""
OTHER = "other"
"""The key of the rows without a listed key."""
MOST = 1_000_000
"""The maximum number of groups."""
KEYS_EXAMPLE = ["a", "b"]


def by(x: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """Return the column of groups, or several columns."""
    if x is None or isinstance(x, str) or not isinstance(x, (list, tuple)):
        return name(x, "by", "region")
    columns = tuple(str(name(part, "by", "region") or "") for part in x)
    if not all(columns) or len(set(columns)) < len(columns):
        raise ParameterError(
            "by", "be distinct column names", "" if not columns else "a duplicate or another value",
            by=["sex", "region"],
        )  # fmt: skip
    if not columns:
        raise ParameterError("by", "name a column", by="region")
    return columns[0] if len(columns) == 1 else columns


def columns(x: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the columns of groups, empty if there are no groups."""
    if x is None:
        return ()
    return (x,) if isinstance(x, str) else x


def keys(x: Sequence[Any] | Mapping[str, Sequence[Any]] | str | None) -> Any:
    """Convert the keys as far as possible without the columns: see `matched`."""
    if isinstance(x, Mapping):
        return {str(column): listed(values, "keys", KEYS_EXAMPLE) for column, values in x.items()}
    if isinstance(x, (list, tuple)) and x and all(isinstance(key, (list, tuple)) for key in x):
        return tuple(tuple(_plain(part) for part in key) for key in x)
    return listed_or_unknown(x, "keys", KEYS_EXAMPLE)


def other(x: bool) -> bool:  # noqa: FBT001
    """Return whether rows without a listed key form a group of their own."""
    return flag(x, "other")


def population(x: bool) -> bool:  # noqa: FBT001
    """Return whether the population is asked about."""
    return flag(x, "population")


def matched(by: str | tuple[str, ...], keys: Any) -> tuple[Any, ...] | str:
    """Return the keys as the columns need them: values of one, tuples of several."""
    names = columns(by)
    if isinstance(keys, str):
        return keys
    if isinstance(keys, dict):
        keys = _product(names, keys)
    pairs = any(isinstance(key, tuple) for key in keys)
    if len(names) == 1:
        if not pairs:
            return tuple(keys)
        raise ParameterError(
            "keys", "hold single values for a single column", "tuples", keys=KEYS_EXAMPLE
        )
    every, hint = dict.fromkeys(names, KEYS_EXAMPLE), "Use {keys} for all combinations."
    if not all(isinstance(key, tuple) and len(key) == len(names) for key in keys):
        must = f"hold a value for each of the {len(names)} columns"
        raise ParameterError("keys", must, "", hint, keys=every)
    texts = [tuple(map(read_text, key)) for key in keys]
    if len(set(texts)) < len(texts) or any(None in text for text in texts):
        must = "hold distinct combinations of strings, numbers or dates"
        raise ParameterError("keys", must, "", hint, keys=every)
    return tuple(keys)


def _product(names: tuple[str, ...], values: dict[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return all combinations of the values of each column."""
    if set(values) != set(names):
        must = f"hold values of {', '.join(map(repr, names))} and of no other column"
        got = f"values of {', '.join(map(repr, values)) or 'no column'}"
        example = dict.fromkeys(names, KEYS_EXAMPLE) if len(names) > 1 else KEYS_EXAMPLE
        raise ParameterError("keys", must, got, keys=example)
    if np.prod([float(len(values[column])) for column in names]) > MOST:
        raise ParameterError(
            "keys", f"be at most {MOST} combinations", "", "List the possible ones, or use {keys}.",
            keys=dict.fromkeys(names, KEYS_EXAMPLE),
        )  # fmt: skip
    every = tuple(product(*(values[column] for column in names)))
    return tuple(key[0] for key in every) if len(names) == 1 else every


def require_apart(keys: tuple[Any, ...] | str | None) -> None:
    """Refuse a listed key with the same text as the key of all other rows."""
    if isinstance(keys, str) or keys is None:
        return
    parts = (part for key in keys for part in (key if isinstance(key, tuple) else (key,)))
    if any(read_text(part) == OTHER for part in parts):
        raise ParameterError("other", f"be omitted if a key is named {OTHER!r}", other=LEFT_OUT)


def _plain(part: Any) -> Any:
    value = part.item() if isinstance(part, np.generic) else part
    if isinstance(value, (list, tuple, dict, set)):
        raise ParameterTypeError(
            "keys", "hold strings, numbers or dates", given(part), keys=KEYS_EXAMPLE
        )
    return value
