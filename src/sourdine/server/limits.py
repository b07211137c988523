"""What a request may be at most: bytes, letters, numbers, quantiles, bins, groups.

The limits are of the server, not of the privacy: they keep one request from taking a worker. How
large a question is depends on its parameters as they are parsed, however they were spelled.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import msgspec

from sourdine.errors import ParameterError
from sourdine.question import parameters
from sourdine.question.kinds import spelled
from sourdine.server.problems import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from sourdine.central import Statistic

__all__ = [
    "LONGEST_BODY",
    "LONGEST_UPLOAD",
    "MOST_BINS",
    "MOST_NUMBERS",
    "MOST_QUANTILES",
    "MOST_QUESTIONS",
    "NAME",
    "PRINTABLE",
    "checked_key",
    "decoded",
    "read_body",
    "require_small",
    "require_small_answer",
]

LONGEST_BODY = 64 * 1024
LONGEST_UPLOAD = 8 * 1024 * 1024
"""Bytes of predictions, which somebody who is known may send."""
MOST_QUANTILES = 99
MOST_BINS = 500
MOST_QUESTIONS = 50
MOST_NUMBERS = 10_000
"""Numbers in one answer: bins, quantiles, categories or statistics, times groups."""
QUANTILE = 10
"""As how many numbers a quantile counts, which takes longer to draw than a count."""
LONGEST_TEXT = 500
LARGEST, SMALLEST = 10**30, Fraction(1, 10**30)
DEEPEST = 6
KEY = re.compile(r"[!-~]{16,200}")
SPELLED = re.compile(r"\s*[+-]?[0-9_./]*([eE][+-]?([0-9]+))?\s*")
STEEPEST = 30
"""Digits of the power of ten behind a number."""
END = "$(?!\\n)"
"""The end of a text: to Python a dollar sign alone is also the place before a last line break."""
NAME = f"^[a-z0-9][a-z0-9_-]{{0,63}}{END}"
PRINTABLE = f"^[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]*{END}"
"""Patterns of texts that are stored, as Python and JSON Schema read them."""


async def read_body(request: Request, longest: int = LONGEST_BODY) -> bytes:
    """Return the body, and stop reading where it is too long: nothing is decompressed."""
    if request.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise RefusedError(
            415, "the body", "be sent as it is", "a compressed one", "Leave Content-Encoding out."
        )
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > longest:
            raise RefusedError(
                413,
                "the body",
                f"be at most {longest} bytes",
                "more",
                "Rows are never uploaded: ask about data that the server reads.",
            )
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if data and kind != "application/json":
        raise RefusedError(
            415,
            "the body",
            "be JSON",
            "another type of content",
            "Send Content-Type: application/json.",
        )
    return bytes(data)


def decoded(data: bytes, shape: Any = Any) -> Any:  # noqa: ANN401 - whatever the shape is
    """Return what JSON holds, of a shape; or refuse it."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, ValueError) as error:
        said = str(error)[:200] if isinstance(error, msgspec.ValidationError) else "none"
        raise ParameterError(
            "the body", "be JSON of the shape that the API describes", said, "Write an object."
        ) from None


def checked_key(key: str | None) -> str:
    """Return the key of a request, or refuse it."""
    if key is None or KEY.fullmatch(key) is None:
        raise RefusedError(
            400,
            "Idempotency-Key",
            "be 16 to 200 visible letters without blanks",
            "none" if key is None else f"{len(key)} letters",
            "Send a random one, such as a UUID; and the same one when you send a request again.",
        )
    return key


def require_small(asked: Any) -> None:  # noqa: ANN401 - what JSON holds
    """Refuse texts, numbers and nesting that are too large."""
    _require_shallow(asked, DEEPEST)


def require_small_answer(cls: type[Statistic], said: Mapping[str, Any]) -> None:
    """Refuse a question whose answer would take a worker too long.

    Parameters
    ----------
    cls
        The statistic.
    said
        Its parameters, with those that the owner of the data says.
    """
    sizes = {
        p.name: SIZES[p.name](p.kind.parse(said[p.name]))
        for p in parameters(cls)
        if p.name in SIZES and said.get(p.name) is not None
    }
    most = {"q": MOST_QUANTILES, "bins": MOST_BINS}
    for name, size in sizes.items():
        limit = most.get(name, MOST_NUMBERS)
        if size > limit:
            what = {"q": "orders", "bins": "bins"}.get(name, "entries")
            raise ParameterError(
                name, f"have at most {limit} {what}", f"{size:.6g}", "Ask for fewer."
            )
    each = QUANTILE if cls.kind in ("quantiles", "quantile", "median") else 1
    if prod(sizes.values()) * each > MOST_NUMBERS:
        raise ParameterError(
            "the answer",
            f"hold at most {MOST_NUMBERS // each} numbers, those of all groups together",
            f"{prod(sizes.values()):.6g}",
            "Ask for fewer groups, or in parts.",
        )


def _many(parsed: Any) -> int:  # noqa: ANN401 - what a parameter's own reader returns
    return len(parsed) if isinstance(parsed, (list, tuple, dict)) else 1


def _bins(parsed: Any) -> int:  # noqa: ANN401
    """Return how many bins a number of them, or their edges, make."""
    if isinstance(parsed, (list, tuple)):
        return max(len(parsed) - 1, 1)
    return int(parsed) if _is_number(parsed) and abs(parsed) <= LARGEST else 1


def _combinations(parsed: Any) -> int:  # noqa: ANN401
    """Return how many groups there are: of values by column, all combinations."""
    return prod(map(_many, parsed.values())) if isinstance(parsed, dict) else _many(parsed)


def _words(parsed: Any) -> int:  # noqa: ANN401
    """Return how many statistics there are, of all columns together."""
    return sum(map(_many, parsed.values())) if isinstance(parsed, dict) else 1


SIZES: dict[str, Callable[[Any], int]] = {
    "q": _many,
    "bins": _bins,
    "categories": _many,
    "keys": _combinations,
    "columns": _many,
    "kinds": _many,
    "of": _words,
}
"""The parameters that say how many numbers an answer has, and how many each of them says."""


def _require_shallow(part: Any, depth: int) -> None:  # noqa: ANN401
    if isinstance(part, (dict, list)) and depth == 0:
        raise ParameterError("the question", "be flat", "a deep one", "Write an object.")
    if isinstance(part, dict):
        for name, value in part.items():
            _require_shallow(name, depth - 1)
            _require_shallow(value, depth - 1)
    elif isinstance(part, list):
        for value in part:
            _require_shallow(value, depth - 1)
    elif isinstance(part, str):
        if len(part) > LONGEST_TEXT or not part.isprintable() or not _is_usual_text(part):
            raise ParameterError(
                "a text",
                f"have at most {LONGEST_TEXT} letters that can be printed, or be a usual number",
                "another one",
                "Shorten it.",
            )
    elif isinstance(part, (int, float)) and not _is_usual(part):
        raise ParameterError(
            "a number",
            "be 0, or between 1e-30 and 1e30 in size",
            "another one",
            "Write a smaller one.",
        )


def _is_usual_text(text: str) -> bool:
    """Whether a text that spells a number, or several, spells usual ones."""
    for part in re.split(r"[,\s]+", text.strip()):
        found = SPELLED.fullmatch(part)
        if found is None:
            continue
        if found[2] is not None and int(found[2][:9]) > STEEPEST:
            return False
        value = spelled(part)
        if _is_number(value) and not _is_usual(value):
            return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, Fraction, Decimal)) and not isinstance(value, bool)


def _is_usual(number: Any) -> bool:  # noqa: ANN401 - of any of these types
    return number == 0 or bool(SMALLEST <= abs(number) <= LARGEST)
