"""What is typed of a table: statistics, bounds and steps by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.exact import given
from sourdine.question import Kind, kinds
from sourdine.question import converters as read
from sourdine.question.sought import FIND, is_sought
from sourdine.question.sought import bounds as sought_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.question.converters import Bounds

    Asked = tuple[tuple[str, tuple[str, ...]], ...]

__all__ = [
    "BOUNDS", "OF", "ORDERS", "RECORDS", "STEPS", "for_the_rest", "of_steps", "read_bounds",
    "read_of", "read_steps",
]  # fmt: skip

RECORDS = "*"
"""Stands for no column: what is asked of records."""
ORDERS = kinds.NAMED_ORDERS
WORDS = ("count", "sum", "mean", "variance", "median", *ORDERS)
EXAMPLE = {"age": ["mean", "deciles"], RECORDS: ["count"]}


def read_of(x: Mapping[str, Sequence[str] | str] | None) -> Asked:
    """Return what is asked of each column."""
    x = _read_before(x)
    if x is None or not isinstance(x, Mapping):
        raise ParameterTypeError(
            "of", "tell what is asked of each column", given(x) if x is not None else "none",
            f"{RECORDS!r} stands for the records. Type {{of}}.", of=EXAMPLE,
        )  # fmt: skip
    asked = tuple((str(column), _words(words)) for column, words in x.items())
    if not asked or not all(column and words for column, words in asked):
        raise ParameterError("of", "name columns and statistics", "none", "Type {of}.", of=EXAMPLE)
    for column, words in asked:
        for word in words:
            if word not in WORDS or (column == RECORDS and word != "count"):
                must = (
                    "name the count alone where no column is named"
                    if column == RECORDS
                    else f"hold words of {', '.join(WORDS)}"
                )
                raise ParameterError("of", must, given(word), "Type {of}.", of=EXAMPLE)
        if len(set(words)) < len(words):
            raise ParameterError("of", "hold each once", "one twice", "Type {of}.", of=EXAMPLE)
    return asked


def _words(x: object) -> tuple[str, ...]:
    if isinstance(x, str):
        return (x,)
    if not isinstance(x, (list, tuple)) or not all(isinstance(word, str) for word in x):
        raise ParameterTypeError(
            "of", "hold lists of statistics", given(x), "Type {of}.", of=EXAMPLE
        )
    return tuple(x)


def read_bounds(
    x: Mapping[str, Any] | Literal["find"] | None,
) -> tuple[tuple[str, Bounds], ...]:
    """Return the bounds of each column; find alone is for all columns that are not named."""
    own = _by_column({RECORDS: x} if x == FIND else x, "bounds", {"age": (0, 120)})
    return tuple((column, sought_bounds(pair)) for column, pair in own.items())


def for_the_rest(
    bounds: tuple[tuple[str, Bounds], ...], columns: Sequence[str]
) -> tuple[tuple[str, Bounds], ...]:
    """Return bounds with those that are sought for all other columns written out."""
    own = dict(bounds)
    if RECORDS not in own or not is_sought(own[RECORDS]):
        return bounds
    rest = own.pop(RECORDS)
    return (*own.items(), *((column, rest) for column in columns if column not in own))


def read_steps(x: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    """Return the steps of columns' lattices."""
    own = _by_column(x, "steps", {"age": 1})
    try:
        return tuple((c, step) for c, s in own.items() if (step := read.step(s)) is not None)
    except (ParameterError, ParameterTypeError) as error:
        raise of_steps(error) from None


def _read_before(x: Any) -> Any:  # noqa: ANN401
    """Return a dict of what a question holds already, as pairs; anything else as it is."""
    return dict(x) if type(x) is tuple and all(type(p) is tuple and len(p) == 2 for p in x) else x


def of_steps(error: SourdineError) -> SourdineError:
    """Return what was refused of one step as said of the steps by column."""
    return error.renamed(step="steps").hinting("Leave {steps} out.", {"steps": LEFT_OUT})


def _by_column(x: object, name: str, example: dict[str, Any]) -> dict[str, Any]:
    x = _read_before(x)
    if x is None:
        return {}
    if not isinstance(x, Mapping):
        raise ParameterTypeError(
            name, "be given by column", given(x), f"Type {{{name}}}.", **{name: example}
        )
    return {str(column): value for column, value in x.items()}


def _parsed(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what reads the words of each column."""
    return lambda x: (
        {column: parse(words) for column, words in x.items()} if isinstance(x, Mapping) else x
    )


def _object(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": part, "minProperties": 1}


OF = Kind(
    metavar="COLUMN:WORD,WORD",
    schema=_object({"type": "array", "items": {"enum": list(WORDS)}, "minItems": 1}),
    parse=_parsed(kinds.KEYS.parse),
    shape=list[str],
)
BOUNDS = Kind(
    metavar="COLUMN:LOWER,UPPER",
    schema={"anyOf": [{"const": "find"}, _object(kinds.BOUNDS.schema)]},
    parse=_parsed(kinds.BOUNDS.parse),
    shape=list[str],
)
STEPS = Kind(
    metavar="COLUMN:STEP",
    schema=_object(kinds.NUMBER.schema),
    parse=_parsed(kinds.NUMBER.parse),
    shape=list[str],
)
