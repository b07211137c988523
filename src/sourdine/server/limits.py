"""What a request may be at most: bytes, letters, quantiles, bins.

The limits are of the server, not of the privacy: they keep one request from taking a worker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from sourdine.errors import ParameterError
from sourdine.server.problems import RefusedError

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = [
    "LONGEST_BODY",
    "LONGEST_UPLOAD",
    "MOST_BINS",
    "MOST_QUANTILES",
    "MOST_QUESTIONS",
    "checked_key",
    "decoded",
    "read_body",
    "require_small",
]

LONGEST_BODY = 64 * 1024
LONGEST_UPLOAD = 8 * 1024 * 1024
"""Bytes of predictions, which somebody who is known may send."""
MOST_QUANTILES = 99
MOST_BINS = 500
MOST_QUESTIONS = 50
LONGEST_TEXT = 500
LARGEST = 10**30
DEEPEST = 6
KEY = re.compile(r"[!-~]{16,200}")
NUMBER = re.compile(r"\s*[+-]?[0-9_.]*([eE][+-]?([0-9]+))?\s*")
STEEPEST = 30
"""Digits of the power of ten behind a number."""


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
    """Refuse a question that would take a worker too long."""
    _require_shallow(asked, DEEPEST)
    if not isinstance(asked, dict):
        return
    q, bins = asked.get("q"), asked.get("bins")
    quantiles = len(q) if isinstance(q, list) else str(q).count(",") + 1
    if quantiles > MOST_QUANTILES:
        raise ParameterError(
            "q", f"have at most {MOST_QUANTILES} orders", f"{quantiles}", "Ask for fewer."
        )
    number = len(bins) - 1 if isinstance(bins, list) else bins
    if isinstance(bins, str):
        number = bins.count(",") or (int(bins) if bins.isdecimal() else 0)
    if isinstance(number, (int, float)) and number > MOST_BINS:
        raise ParameterError(
            "bins", f"be at most {MOST_BINS}", "more", "Type {bins}.", bins=MOST_BINS
        )


def _require_shallow(part: Any, depth: int) -> None:  # noqa: ANN401
    """Refuse texts and numbers of a size that nobody means."""
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
        found = NUMBER.fullmatch(part)
        steep = found is not None and found[2] is not None and int(found[2][:9]) > STEEPEST
        if len(part) > LONGEST_TEXT or steep or not part.isprintable():
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


def _is_usual(number: float) -> bool:
    return number == 0 or 1 / LARGEST <= abs(number) <= LARGEST
