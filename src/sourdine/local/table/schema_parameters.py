"""The parameters of a schema, read: columns, weights, rounds, absent answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, positive
from sourdine.local.table.columns import Attribute

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["Asked", "Missing", "read_columns", "read_missing", "read_rounds", "read_weights"]

Asked = tuple[Any, Any, int | None]
"""How many rounds, what one may cost, and which one it is."""
MOST_ROUNDS = 10_000
Missing = Literal["random"]
"""What becomes of an absent answer to a column that does not declare it."""


def read_columns(columns: object) -> dict[str, Attribute]:
    """Return the columns by name, at least one."""
    if not isinstance(columns, Mapping) or not columns:
        got = kind(columns) if columns else "none"
        hint = "Type Schema(age=Number(0, 120, step=1), epsilon=1)."
        raise ParameterError("columns", "be at least one, by name", got, hint)
    for name, column in columns.items():
        if not isinstance(name, str):
            raise ParameterTypeError(
                "the name of a column", "be a text", given(name), f"Type {str(name)!r}."
            )
        if not isinstance(column, Attribute):
            raise ParameterTypeError(
                f"column {name!r}",
                "be a Number, Choice, Choices or Flag",
                kind(column),
                "Type Number(0, 120, step=1).",
            )
    return dict(columns)


def read_rounds(rounds: object, once: object, turn: int | None) -> dict[str, Any]:
    """Return how many rounds there are, what one may cost, and which one it is."""
    if rounds is None and once is not None:
        raise ParameterError(
            "once",
            "be left out of a survey of one round",
            given(once),
            "Type {rounds}, or leave {once} out.",
            rounds=52,
            once=LEFT_OUT,
        )
    return {
        "rounds": None if rounds is None else integer(rounds, "rounds", least=2, most=MOST_ROUNDS),
        "once": None if once is None else positive(once, "once"),
        "turn": turn,
    }


def read_missing(missing: object) -> Missing | None:
    """Return what becomes of absent answers to columns that do not declare them."""
    if missing is None or missing == "random":
        return missing
    raise ParameterError(
        "missing",
        "be 'random' or left out",
        given(missing),
        "To estimate how many did not answer declare it in each column, such as Choice('yes', "
        "'no', missing='no answer'); a column named missing needs Schema.of.",
    )


def read_weights(weights: object, columns: Mapping[str, Attribute]) -> dict[str, Fraction]:
    """Return the weight of every column."""
    if weights is not None and not isinstance(weights, Mapping):
        raise ParameterTypeError(
            "weights",
            "be a dict of columns",
            given(weights),
            "Type {weights}.",
            weights={next(iter(columns)): 2},
        )
    own = {} if weights is None else dict(weights)
    for name in own:
        if name not in columns:
            listed = ", ".join(map(repr, columns))
            raise ParameterError(
                "weights", "be of columns", repr(name), f"The columns are: {listed}."
            )
    return {name: positive(own.get(name, 1), f"weights[{name!r}]") for name in columns}
