"""Refusals as ``application/problem+json``, made from errors, which are data already.

=========================  ===========  ==========================================================
error                      status       type
=========================  ===========  ==========================================================
`RefusedError`             its own      of the request itself: no token, too long, another site
`NotGrantedError`          404          no such data set, or none of yours: which is not said
`KeyReusedError`           422          the key stands for another request
`BudgetExceededError`      403          more than is left; nothing was charged
`ParameterError`           422          a parameter: its name, what must hold, what was given
anything else              500          one fixed body, whatever happened
=========================  ===========  ==========================================================

What an error says depends on public parameters alone.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from sourdine.errors import (
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    PythonWording,
    SourdineError,
)
from sourdine.server.store import KeyReusedError, NotGrantedError

__all__ = ["JsonWording", "RefusedError", "problem", "unforeseen"]

MEDIA = "application/problem+json"


class RefusedError(ParameterError):
    """A request that is refused before anything is asked.

    Parameters
    ----------
    status
        The status of the answer.
    name, must, got, hint
        As every error has them.
    wait
        Seconds after which it may be sent again; None where that changes nothing.
    """

    def __init__(  # noqa: PLR0913 - an error and its answer
        self, status: int, name: str, must: str, got: str, hint: str, *, wait: int | None = None
    ) -> None:
        super().__init__(name, must, got, hint)
        self.status, self.wait = status, wait


class JsonWording(PythonWording):
    """How parameters are spelled in the body of a request.

    Examples
    --------
    >>> words = JsonWording()
    >>> words.subject("bounds"), words.mention("bounds"), words.typed("bounds", (0, 120))
    ('bounds', '"bounds"', '"bounds": [0, 120]')
    """

    def mention(self, name: str) -> str:
        """Return the parameter without a value."""
        return json.dumps(name)

    def typed(self, name: str, value: object) -> str:
        """Return what to write."""
        plain = SourdineError("", "", "", "", **{name: value}).to_dict()["tries"][name]
        return f"{json.dumps(name)}: {json.dumps(plain, ensure_ascii=False)}"


KINDS: tuple[tuple[type[SourdineError], int, str], ...] = (
    (NotGrantedError, 404, "unknown"),
    (KeyReusedError, 422, "key-reused"),
    (BudgetExceededError, 403, "budget"),
    (ParameterError, 422, "parameter"),
    (ParameterTypeError, 422, "parameter"),
)
OWN = {
    401: "unauthorized",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    409: "conflict",
    413: "too-long",
    415: "unsupported",
    429: "too-often",
    503: "unavailable",
}
"""What is wrong with a request itself, by the status of the answer."""
WORDS = JsonWording()


def problem(error: Exception) -> Response:
    """Return the answer to a request that raised."""
    if isinstance(error, RefusedError):
        answer = _said(error, error.status, OWN.get(error.status, "request"))
        if error.wait is not None:
            answer.headers["retry-after"] = str(error.wait)
        return answer
    for cls, status, kind in KINDS:
        if isinstance(error, cls):
            return _said(error, status, kind)
    return unforeseen()


def unforeseen() -> Response:
    """Return the answer to whatever should not be: always the same."""
    return _response(
        500,
        {
            "type": "urn:sourdine:unforeseen",
            "title": "Unforeseen",
            "status": 500,
            "detail": "Something went wrong. Send the same request again, under the same key.",
        },
    )


def _said(error: SourdineError, status: int, kind: str) -> Response:
    facts = error.to_dict()
    parts = {name: facts[name] for name in ("error", "name", "must", "got", "hint", "tries")}
    known = "ParameterError" if isinstance(error, ParameterError) else facts["error"]
    return _response(
        status,
        {
            "type": f"urn:sourdine:{kind}",
            "title": kind.replace("-", " ").capitalize(),
            "status": status,
            "detail": error.said(WORDS),
            **parts,
            "error": known,
        },
    )


def _response(status: int, facts: dict[str, Any]) -> Response:
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return Response(msgspec.json.encode(facts), status, headers, MEDIA)
