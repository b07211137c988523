"""Kinds of parameters: how they are spelled as text, and their JSON Schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.errors import close_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


DATA, WHAT, GROUPS, PRIVACY = "Data", "Statistic", "Groups", "Privacy"
"""The panels in which parameters are listed, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a parameter is spelled and parsed."""

    metavar: str
    """The placeholder in a command's help."""
    schema: Mapping[str, Any]
    """Its JSON Schema."""
    parse: Callable[[Any], Any]
    """Converts text to a value; invalid text is left for the converter to refuse."""
    words: int = 1
    """The number of words on a command line; 0 if it has options of its own."""
    shape: Any = str
    """The type on a command line: a text, or a list of texts."""
    nullable: bool = False
    """Whether None is a value to type, which differs from leaving the parameter out."""


def param(kind: Kind, text: str, *, group: str, unit: str | None = None) -> dict[str, Any]:
    """Return the metadata of a field besides its name, type, converter and default.

    ``text`` is one sentence of help. The unit of a number is given where it is not obvious:
    records, ranks, values.
    """
    return {"kind": kind, "help": text, "group": group, "unit": unit}


QUOTIENT = re.compile("-?[0-9]+/[0-9]+")
LONGEST = 4000
"""A quotient with more characters than this is not accepted as a number."""


def spelled(x: object) -> Any:
    """Return the number that a text spells, exactly; anything else unchanged.

    Examples
    --------
    >>> spelled("0.5"), spelled("1_000"), spelled("1/3"), spelled("1e6"), spelled("much")
    (Decimal('0.5'), 1000, Fraction(1, 3), 1000000, 'much')
    """
    if not isinstance(x, str):
        return x
    text = x.replace("_", "").strip()
    top, bar, bottom = text.partition("/")
    if bar and len(text) <= LONGEST and QUOTIENT.fullmatch(text) and int(bottom):
        return Fraction(int(top), int(bottom))
    try:
        value = Decimal(text)
    except InvalidOperation:
        return x
    if not value.is_finite():
        return float(value)
    whole = value == value.to_integral_value() and abs(value.adjusted()) < 30
    return int(value) if whole else value


def _listed(x: object) -> Any:
    """Return the parts between commas."""
    return tuple(part.strip() for part in x.split(",")) if isinstance(x, str) else x


_PART = re.compile(r""""(?:[^"]|"")*"|'(?:[^']|'')*'|[(]|[)]|,|[^"'(),]+|.""", re.DOTALL)


def names(text: str) -> tuple[str, ...]:
    """Return the columns, or formulas, between the commas of a text.

    Commas inside brackets and quotes belong to a formula; a name that holds one is written in
    double quotes.

    Examples
    --------
    >>> names("age, least(hours, 80)"), names('"name, first",sex')
    (('age', 'least(hours, 80)'), ('name, first', 'sex'))
    """
    found, depth = [""], 0
    for part in _PART.findall(text):
        depth += (part == "(") - (part == ")")
        if part == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += part
    quoted = re.compile('"(?:[^"]|"")*"')
    return tuple(
        one[1:-1].replace('""', '"') if quoted.fullmatch(one) else one
        for one in map(str.strip, found)
    )


def _named(x: object) -> Any:
    return names(x) if isinstance(x, str) else x


def _numbers(x: object) -> Any:
    """Return a number, or those between commas or in a list."""
    if isinstance(x, str) and "," not in x:
        return spelled(x)
    return _each(_listed(x))


def _orders(x: object) -> Any:
    """Return orders of quantiles: numbers, or a word for several."""
    return NAMED_ORDERS.get(x.strip().lower()) or _numbers(x) if isinstance(x, str) else _numbers(x)


def _tables(text: str) -> Any:
    """Return the paths of tables and the columns after each colon; other texts unchanged."""
    parts = [part.rpartition(":") for part in text.split(",")]
    named = {path.strip(): column.strip() for path, _, column in parts}
    return named if all(named) and len(named) == len(parts) else text


def _pair(x: object) -> Any:
    """Return the numbers or dates between blanks or commas, or in a list; none and find are words.

    On a command line, find is written after the second of two numbers.
    """
    if isinstance(x, str):
        x = apart(x)
    if isinstance(x, (list, tuple)) and len(x) == 2 and str(x[1]).endswith(" find"):
        x = [x[0], *str(x[1]).split()]
    if not isinstance(x, (list, tuple)):
        return x
    if x and all(isinstance(part, str) and part == "find" for part in x):
        return "find"
    return tuple(None if _is_none(part) else spelled(part) for part in x)


def _is_none(part: object) -> bool:
    return isinstance(part, str) and part.strip().lower() == "none"


CLOCK = re.compile("[0-9]:[0-9]{2}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
"""Matches a time, or the name of a month, next to which blanks do not separate values."""


def apart(text: str) -> list[str]:
    """Return the numbers or dates of a text, between commas or blanks."""
    if not CLOCK.search(text):
        return text.replace(",", " ").split()
    return [part.strip() for part in text.split(",") if part.strip()]


def _each(x: object) -> Any:
    return tuple(map(spelled, x)) if isinstance(x, (list, tuple)) else x


def _declared(x: object) -> Any:
    """Parse ``a:b,c:d`` to a value for each name; ``a=b`` means the same."""
    if not isinstance(x, str):
        return x
    said = (part.rpartition("=" if "=" in part else ":") for part in x.split(","))
    return tuple((name.strip(), what.strip()) for name, _, what in said)


def resembles_unknown(x: str) -> bool:
    """Return whether a text was probably meant as the word for what cannot be listed."""
    return x in {"find", "auto"} or bool(close_matches(x, ["unknown"], 1, 0.7))


def _categories(x: object) -> Any:
    """Return names between commas, for each column; ``unknown`` stays a word."""
    if isinstance(x, dict):
        return {column: _listed(values) for column, values in x.items()}
    # A single name that resembles the word is not taken for a list of one: `listed` refuses it.
    return x if isinstance(x, str) and resembles_unknown(x) else _listed(x)


_DECIMAL = r"[+-]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)([eE][+-]?[0-9]+)?"
_FRACTION = "-?[0-9_]+/[0-9_]*[1-9][0-9_]*"
_SPELLED = {"type": "string", "pattern": rf"^\s*({_DECIMAL}|{_FRACTION})\s*$"}
_NUMBER: Mapping[str, Any] = {"anyOf": [{"type": "number"}, _SPELLED]}
_DATE = {"type": "string", "pattern": "[0-9]", "description": "A date: ISO 8601, or as read says."}
_WORDS = "weeks?|d|days?|h|hours?|min|minutes?|s|seconds?|ms|milliseconds?|us|microseconds?"
_LASTING = rf"^\s*([0-9]+(\.[0-9]+)?|[0-9]+/[0-9]+)?\s*({_WORDS})\s*$"
_DURATION = {"type": "string", "pattern": _LASTING}
_POINT: Mapping[str, Any] = {"anyOf": [*_NUMBER["anyOf"], _DATE]}
_OR_NONE: Mapping[str, Any] = {"anyOf": [*_NUMBER["anyOf"], {"type": "null"}]}
_STRING = {"type": "string"}
_LABEL = {"type": ["string", "number", "boolean"], "minLength": 1}
_LABELS: Mapping[str, Any] = {"type": "array", "items": _LABEL, "minItems": 1}

NUMBER = Kind(metavar="NUMBER", schema=_NUMBER, parse=spelled)
PROBABILITY = Kind(metavar="PROBABILITY", schema=_NUMBER, parse=spelled)
PROBABILITY_OR_NONE = Kind(
    metavar="PROBABILITY", schema={"anyOf": [*_NUMBER["anyOf"], {"enum": ["auto", "none", None]}]},
    parse=lambda x: None if _is_none(x) else spelled(x), nullable=True,
)  # fmt: skip
DISTANCE = Kind(metavar="NUMBER", schema={"anyOf": [*_NUMBER["anyOf"], _DURATION]}, parse=spelled)
COUNT = Kind(metavar="COUNT", schema={"type": "integer", "minimum": 1}, parse=spelled)
ROWS = Kind(metavar="COUNT", schema={"anyOf": [COUNT.schema, {"const": "find"}]}, parse=spelled)
TEXT = Kind(metavar="NAME", schema={"type": "string", "minLength": 1}, parse=lambda x: x)
STATEMENT = Kind(metavar="STATEMENT", schema=TEXT.schema, parse=lambda x: x)
"""A text that may be given by position, in Python and on the command line."""
_LAST = {"type": "string", "pattern": r"^\s*last\s+by\s+\S"}
PER_PERSON = Kind(
    metavar="NAME", parse=lambda x: x,
    schema={"anyOf": [{"enum": ["sum", "mean", "min", "max", "count"]}, _LAST]},
)  # fmt: skip
VALUE = Kind(metavar="VALUE", schema=_LABEL, parse=lambda x: x)
FLAG = Kind(
    metavar="", schema={"type": "boolean"},
    parse=lambda x: {"true": True, "false": False}.get(x.lower(), x) if isinstance(x, str) else x,
)  # fmt: skip


def _two(items: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "array", "items": items, "minItems": 2, "maxItems": 2}


_FIND = {"const": "find"}
_WITHIN = {"type": "array", "prefixItems": [_OR_NONE, _OR_NONE, _FIND]}
BOUNDS = Kind(
    metavar="LOWER UPPER", parse=_pair, words=2,
    schema={"anyOf": [
        _FIND, _two(_POINT), _two(_OR_NONE),
        {**_WITHIN, "minItems": 3, "maxItems": 3},
    ]},
)  # fmt: skip
FROM_0 = Kind(
    metavar="0 UPPER", schema=_two(_NUMBER),
    parse=_pair, words=2,
)  # fmt: skip
NAMED_ORDERS = {
    "quartiles": tuple(Fraction(k, 4) for k in range(1, 4)),
    "deciles": tuple(Fraction(k, 10) for k in range(1, 10)),
}
"""Orders of quantiles that have a name."""
_SEVERAL = {"type": "array", "items": _NUMBER, "minItems": 1}
ORDERS = Kind(
    metavar="Q,Q,...", parse=_orders,
    schema={"anyOf": [*_NUMBER["anyOf"], _SEVERAL, {"enum": list(NAMED_ORDERS)}]},
)  # fmt: skip
BINS = Kind(
    metavar="COUNT",
    schema={"anyOf": [COUNT.schema, {"type": "array", "items": _POINT, "minItems": 2}]},
    parse=_numbers,
)
_TEXTS = ("encoding", "separator", "decimal", "thousands", "date_format")
_READING = {
    **dict.fromkeys(_TEXTS, _STRING),
    **{x: {"type": "array", "items": _STRING} for x in ("header", "symbols")},
    "quotes": {"type": "boolean"},
}
READING = Kind(
    metavar="OPTIONS", parse=lambda x: x, words=0,
    schema={"type": "object", "properties": _READING, "additionalProperties": False},
)  # fmt: skip
KEYS = Kind(metavar="A,B,...", schema=_LABELS, parse=_listed)
CONDITION = replace(TEXT, metavar="CONDITION")
LOOKUP = Kind(
    metavar="PATH:COLUMN",
    schema={"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
    parse=lambda x: _tables(x) if isinstance(x, str) else x,
)
_KIND = {"enum": ["number", "whole", "category", "date"]}
KINDS = Kind(
    metavar="A:KIND,...", schema={"type": "object", "additionalProperties": _KIND}, parse=_declared
)
CATEGORIES = Kind(
    metavar="A,B,...", schema={"anyOf": [_LABELS, {"const": "unknown"}]}, parse=_categories
)
_NAMES = {"type": "array", "items": TEXT.schema, "minItems": 1, "uniqueItems": True}
BY = Kind(
    metavar="NAME,...", schema={"anyOf": [TEXT.schema, _NAMES]}, parse=lambda x: x, shape=list[str]
)
NAMES = Kind(metavar="NAME,...", schema=BY.schema, parse=_named, shape=list[str])
GROUP_KEYS = Kind(
    metavar="A,B,...", parse=_categories, shape=list[str],
    schema={"anyOf": [
        _LABELS, {"type": "array", "items": _LABELS, "minItems": 1},
        {"type": "object", "additionalProperties": _LABELS, "minProperties": 1},
        {"const": "unknown"},
    ]},
)  # fmt: skip


def one_of(*names: str) -> Kind:
    """Return the kind of a word out of a list."""
    return Kind(metavar="NAME", schema={"enum": list(names)}, parse=lambda x: x)
