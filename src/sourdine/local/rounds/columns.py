"""Which randomiser with a memory answers a question of a survey of several rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.local.rounds.hashing import MemoisedHashing
from sourdine.local.rounds.response import PermanentResponse
from sourdine.local.table.columns import Choice, Flag, plain
from sourdine.local.table.part import ColumnPart

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.schema import Schema

    Oracle = MemoisedHashing | PermanentResponse

__all__ = ["memoised", "memoised_part"]

HASHED = 2
"""To how many values answers are hashed: fewer would be none, and more cost more in all."""


def memoised_part(schema: Schema, name: str) -> ColumnPart:
    """Return a column with its share of the total, to be answered in every round."""
    column, total = schema.columns[name], schema.share(name)
    once = None if schema.once is None else schema.once * total / schema.epsilon
    oracle = memoised(name, column, total, once)
    epsilon = oracle.guarantee.exact_epsilon()
    return ColumnPart(name=name, column=column, epsilon=epsilon, use="report", memoised=oracle)


def memoised(name: str, column: Attribute, total: Fraction, once: Fraction | None) -> Oracle:
    r"""Return what answers a question in all rounds for a total of :math:`g\varepsilon_\infty`.

    Of the two, the one whose single rounds estimate a rare category best.

    Parameters
    ----------
    name, column
        The question.
    total
        What all rounds may cost between histories that change alike.
    once
        What one round costs; if left out, half of what all rounds cost where an answer stays.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(memoised("smokes", Flag(), Fraction(2), None))
    PermanentResponse(epsilon=0.5, categories=2, permanent=1)
    >>> print(memoised("hour", Choice(*range(24)), Fraction(2), Fraction(2, 5)))
    MemoisedHashing(epsilon=0.4, categories=24, values=2, permanent=1)
    """
    k, methods = _categories(name, column), _methods(name, column)
    lasting = {"response": total / k, "hashing": total / HASHED}
    enough = {m: lasting[m] for m in methods if once is None or once < lasting[m]}
    if k > PermanentResponse.most and len(enough) > 1:
        enough.pop("response", None)
    if not enough:
        most = max(lasting[m] for m in methods)
        raise ParameterError(
            "once",
            f"leave column {name!r} less than an answer that stays costs ({plain(most)})",
            f"{plain(once) if once else once} of it",
            "Type a smaller one, or leave {once} out.",
            once=LEFT_OUT,
        )
    made = [_made(m, once or permanent / 2, permanent, k) for m, permanent in enough.items()]
    return min(made, key=lambda oracle: oracle.noise_variance)


def _made(method: str, epsilon: Fraction, permanent: Fraction, k: int) -> Oracle:
    own: dict[str, Any] = {"epsilon": epsilon, "permanent": permanent, "categories": k}
    return PermanentResponse(**own) if method == "response" else MemoisedHashing(**own)


def _categories(name: str, column: Attribute) -> int:
    if isinstance(column, Choice):
        return len(column.listed)
    if isinstance(column, Flag):
        return 3 if column.missing else 2
    raise ParameterError(
        f"column {name!r}",
        "be a Choice or a Flag in a survey of several rounds",
        f"a column of {column.kind if column.kind == 'choices' else 'numbers'}",
        "Ask for a range: type Choice('under 20', '20 to 40', 'over 40').",
    )


def _methods(name: str, column: Attribute) -> tuple[str, ...]:
    if column.method in (None, "auto"):
        return "response", "hashing"
    if column.method in ("response", "hashing"):
        return (column.method,)
    raise ParameterError(
        f"the method of column {name!r}",
        "be 'response' or 'hashing' in a survey of several rounds",
        repr(column.method),
        "Leave {method} out for the best one.",
        method=LEFT_OUT,
    )
