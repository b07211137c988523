"""A request as routes see it: limits, parsing, and refusals as problem documents."""

from __future__ import annotations

import json
import re
from concurrent.futures import Future
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from http import HTTPStatus
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec
from starlette.responses import Response

from sourdine.central.sql import parsed
from sourdine.errors import (
    BudgetExceededError,
    ExistingFileError,
    MissingFileError,
    ParameterError,
    ParameterTypeError,
    PythonWording,
    SourdineError,
)
from sourdine.parameters.kinds import spelled
from sourdine.parameters.question import parameters
from sourdine.server.store.base import KeyReusedError, NotGrantedError
from sourdine.server.store.guards import guard_journal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from sourdine.central import Statistic
    from sourdine.server.auth import Caller
    from sourdine.server.state import ServerState
    from sourdine.server.store.base import Dataset, Guard


# ---- Refusals as ``application/problem+json``, made from errors, which are data already ----------
#
# error                      status       type
# `RefusedError`             its own      of the request itself: no token, too long, another site
# `NotGrantedError`          404          no such data set, or none of yours: which is not said
# `KeyReusedError`           422          the key stands for another request
# `BudgetExceededError`      403          more than is left; nothing was charged
# `ParameterError`           422          a parameter: its name, what must hold, what was given
# anything else              500          one fixed body, whatever happened
#
# What an error says depends on public parameters alone.


MEDIA = "application/problem+json"


class RefusedError(ParameterError):
    """A request that is refused before anything is asked.

    ``wait`` is after how many seconds it may be sent again; None where that changes nothing.
    """

    def __init__(
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
        return json.dumps(name)

    def typed(self, name: str, value: object) -> str:
        plain = SourdineError("", "", "", "", **{name: value}).to_dict()["tries"][name]
        return f"{json.dumps(name)}: {json.dumps(plain, ensure_ascii=False)}"


KINDS: tuple[tuple[type[SourdineError] | tuple[type[SourdineError], ...], int, str], ...] = (
    (NotGrantedError, 404, "unknown"),
    (KeyReusedError, 422, "key-reused"),
    (BudgetExceededError, 403, "budget"),
    ((ParameterError, ParameterTypeError, MissingFileError, ExistingFileError), 422, "parameter"),
)
OWN = {
    401: "unauthorized", 403: "forbidden", 404: "not-found", 405: "method-not-allowed",
    409: "conflict", 413: "too-long", 415: "unsupported", 429: "too-often", 503: "unavailable",
}  # fmt: skip
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
    detail = "Something went wrong. Send the same request again, under the same key."
    return _response(500, "unforeseen", {"detail": detail})


def _said(error: SourdineError, status: int, kind: str) -> Response:
    facts = error.to_dict()
    parts = {name: facts[name] for name in ("error", "name", "must", "got", "hint", "tries")}
    if isinstance(error, ParameterError):
        parts["error"] = "ParameterError"
    return _response(status, kind, {"detail": error.said(WORDS), **parts})


def _response(status: int, kind: str, facts: dict[str, Any]) -> Response:
    title = kind.replace("-", " ").capitalize()
    whole = {"type": f"urn:sourdine:{kind}", "title": title, "status": status, **facts}
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return Response(msgspec.json.encode(whole), status, headers, MEDIA)


# ---- What a request may be at most: bytes, letters, numbers, quantiles, bins, groups -------------
#
# The limits are of the server, not of the privacy: they keep one request from taking a worker. How
# large a question is depends on its parameters as they are parsed, however they were spelled.


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
LONGEST_TEXT = 2000
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
        raise RefusedError(415, "the body", "not be compressed", "", "Omit Content-Encoding.")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > longest:
            hint = "Rows are never uploaded: ask about data that the server reads."
            raise RefusedError(413, "the body", f"be at most {longest} bytes", "", hint)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if data and kind != "application/json":
        hint = "Send Content-Type: application/json."
        raise RefusedError(415, "the body", "be JSON", "another content type", hint)
    return bytes(data)


def decoded(data: bytes, shape: Any = Any) -> Any:
    """Return what JSON holds, of a shape; or refuse it."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, ValueError) as error:
        said = str(error)[:200] if isinstance(error, msgspec.ValidationError) else ""
        what = "be JSON as described by the API"
        raise ParameterError("the body", what, said, "Write an object.") from None


def checked_key(key: str | None) -> str:
    """Return the key of a request, or refuse it."""
    if key is None or KEY.fullmatch(key) is None:
        what = "be 16 to 200 visible characters without blanks"
        got = "" if key is None else f"{len(key)} characters"
        hint = "Send a random key, such as a UUID, and the same one when repeating a request."
        raise RefusedError(400, "Idempotency-Key", what, got, hint)
    return key


def whole_number(text: str) -> int | None:
    """Return the number that a text of at most 15 digits spells; None for other texts."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 15 else None


def require_small_answer(cls: type[Statistic], said: Mapping[str, Any]) -> None:
    """Refuse a question whose answer would take a worker too long; ``said`` is all of it."""
    sizes = {
        p.name: SIZES[p.name](p.kind.parse(said[p.name]))
        for p in parameters(cls)
        if p.name in SIZES and said.get(p.name) is not None
    }
    most = {"q": (MOST_QUANTILES, "orders"), "bins": (MOST_BINS, "bins")}
    for name, size in sizes.items():
        limit, what = most.get(name, (MOST_NUMBERS, "entries"))
        if size > limit:
            must = f"have at most {limit} {what}"
            raise ParameterError(name, must, f"{size:.6g}", "Ask for fewer.")
    each = QUANTILE if cls.kind in ("quantiles", "quantile", "median") else 1
    if prod(sizes.values()) * each > MOST_NUMBERS:
        what = f"hold at most {MOST_NUMBERS // each} numbers in all groups together"
        hint = "Ask for fewer groups, or split the request."
        raise ParameterError("the answer", what, f"{prod(sizes.values()):.6g}", hint)


def _many(parsed: Any) -> int:
    return len(parsed) if isinstance(parsed, (list, tuple, dict)) else 1


def _bins(parsed: Any) -> int:
    """Return how many bins a number of them, or their edges, make."""
    if isinstance(parsed, (list, tuple)):
        return max(len(parsed) - 1, 1)
    return int(parsed) if _is_number(parsed) and abs(parsed) <= LARGEST else 1


def _selected(statement: Any) -> int:
    """Return how many numbers a statement selects, of all the groups that it lists."""
    if not isinstance(statement, str):
        return 1
    try:
        said = parsed(statement)
    except ParameterError:  # the question says what is wrong with it
        return 1
    groups = prod(map(len, said.listed.values())) if said.listed else 1
    return groups * sum(output.part is not None for output in said.outputs)


SIZES: dict[str, Callable[[Any], int]] = {
    "q": _many,
    "bins": _bins,
    "categories": _many,
    "keys": lambda keys: prod(map(_many, keys.values())) if isinstance(keys, dict) else _many(keys),
    "strata_keys": _many,
    "columns": _many,
    "kinds": _many,
    "of": lambda of: sum(map(_many, of.values())) if isinstance(of, dict) else 1,
    "statement": _selected,
}
"""The parameters that say how many numbers an answer has, and how many each of them says."""


def require_small(part: Any, depth: int = DEEPEST) -> None:
    """Refuse texts, numbers and nesting that are too large."""
    if isinstance(part, (dict, list)):
        if depth == 0:
            raise ParameterError("the question", "not be nested so deeply", "", "Write an object.")
        values = part.values() if isinstance(part, dict) else ()
        for inner in (*part, *values):
            require_small(inner, depth - 1)
    elif isinstance(part, str):
        if len(part) > LONGEST_TEXT or not part.isprintable() or not _is_usual_text(part):
            what = f"have at most {LONGEST_TEXT} printable characters, or be an ordinary number"
            raise ParameterError("a text", what, "", "Shorten it.")
    elif isinstance(part, (int, float)) and not _is_usual(part):
        what = "be 0, or between 1e-30 and 1e30 in magnitude"
        raise ParameterError("a number", what, "", "Use a smaller one.")


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


def _is_usual(number: Any) -> bool:
    return number == 0 or bool(SMALLEST <= abs(number) <= LARGEST)


# ---- A request as routes see it, and what a route is ---------------------------------------------


EVERYBODY = ("owner", "analyst", "auditor")
OVERSEERS = ("owner", "auditor")
LINE, HEAD, SEEN = "ledger-line", "ledger-head", "ledger-seen"
"""Headers: how far a ledger has got, and the check of a line that a client remembers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request that was read: what the worker holds, who asks it, and its parts.

    ``caller`` is None where anybody may ask; ``data`` is the body.
    """

    state: ServerState
    caller: Caller | None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    address: str = ""

    @classmethod
    def of(cls, request: Request, caller: Caller | None, data: bytes, address: str = "") -> Self:
        """Return a request of somebody, of which the body was read."""
        return cls(
            state=request.app.state.server, caller=caller, data=data, address=address,
            path=request.path_params, query=request.query_params, headers=request.headers,
            cookies=request.cookies,
        )  # fmt: skip

    @property
    def who(self) -> Caller:
        """Who asks, where somebody must be known."""
        if self.caller is None:
            raise LookupError("a route that forgot to ask who it is")
        return self.caller

    @property
    def dataset(self) -> Dataset:
        """The data set in the path, if the caller may see it."""
        return self.state.visible(self.path["dataset"], self.who)

    @property
    def guard(self) -> Guard:
        """The guard in the path, if the caller may see it."""
        return self.state.visible_guard(self.path["guard"], self.who)

    def body(self, shape: Any = Any) -> Any:
        return decoded(self.data, shape)

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number of the query."""
        found = whole_number(self.query.get(name, str(default)))
        if found is None or found > most:
            what = f"have a whole number of at most {most} as {name}"
            raise ParameterError("the query", what, "", "Omit it.")
        return found

    def reply(self, facts: Any, headers: Mapping[str, str] | None = None) -> Response:
        """Return an answer of JSON that says how far the ledger in the path has got."""
        return reply(facts, headers={**self.heads, **(headers or {})})

    @property
    def heads(self) -> dict[str, str]:
        """Headers that say how far the ledger in the path has got; a client refuses to go back.

        An operation reads `dataset` or `guard` first, which refuse people who may not see it.
        """
        head, path = self.state.store.datasets.head, self.path
        ledger = path["dataset"] if "dataset" in path else guard_journal(path["guard"])
        found, seen = head(ledger), whole_number(self.headers.get(LINE, ""))
        heads = {LINE: str(found[0]), HEAD: found[1]} if found else {}
        if seen is not None:
            known = head(ledger, seen)
            heads[SEEN] = known[1] if known else "none"
        return heads


Does = TypeVar("Does", bound="Callable[[Incoming], Response | Callable[[], Response]]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A route: what it does, who may use it, and what OpenAPI says of it.

    ``does`` makes an answer of a request, in a thread. What was drawn from data is stored, and
    leaves, on a tick: then it returns a function, which is called on that tick. Without ``roles``
    nobody need be known. ``takes`` is the type of its body, or the name of a schema; ``gives`` the
    schema of its answer, or a type of content that is not JSON. A ``keyed`` one needs an
    ``Idempotency-Key``; ``query`` names whole numbers and words, ``longest`` the bytes of a body.
    """

    method: str
    path: str
    does: Callable[[Incoming], Response | Callable[[], Response]]
    text: str
    roles: tuple[str, ...] = EVERYBODY
    takes: Any = None
    gives: str = "Facts"
    keyed: bool = False
    query: tuple[str, ...] = ()
    longest: int = LONGEST_BODY


class Operations(list[Operation]):
    """The operations of a module, in the order of their definition.

    Examples
    --------
    >>> operations = Operations()
    >>> @operations.add("GET", "/ping", roles=())
    ... def ping(call):
    ...     'Answer.'
    ...     return reply("pong")
    >>> operations[0].text
    'Answer.'
    """

    def add(self, method: str, path: str, **facts: Any) -> Callable[[Does], Does]:
        """Return what registers a function; its docstring begins with what OpenAPI says of it."""

        def registered(does: Does) -> Does:
            text = (does.__doc__ or "").partition("\n")[0]
            self.append(Operation(method=method, path=path, does=does, text=text, **facts))
            return does

        return registered


def reply(facts: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer of JSON."""
    return Response(msgspec.json.encode(facts), status, headers, "application/json")


# ---- What a worker opens when it is first asked for, such as the data of a data set --------------


T = TypeVar("T")
PATIENCE = 5.0
"""Seconds to wait for another thread that is opening the same."""


class OpenedOnce(Generic[T]):
    """Things by name, each opened by the first thread that asks for it.

    No lock is held while one is opened: a database that cannot be reached delays those who ask for
    its data, and nobody else. They wait for a few seconds at most, so that they do not take all
    threads of a worker. What could not be opened is tried again by the next one who asks.

    Examples
    --------
    >>> things = OpenedOnce()
    >>> things.get("a", lambda: 7), things.get("a", lambda: 8)
    (7, 7)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[str, Future[T]] = {}

    def get(self, name: str, open_it: Callable[[], T]) -> T:
        """Return what has a name; open it if it is not open.

        Raises
        ------
        RefusedError
            Another thread is still opening it: 503, to be sent again.
        """
        with self._lock:
            known = self._found.get(name)
            found: Future[T] = known or Future()
            self._found[name] = found
        if known is not None:
            return self._awaited(known)
        try:
            found.set_result(open_it())
        except BaseException as error:
            with self._lock:
                del self._found[name]
            found.set_exception(error)
            raise
        return found.result()

    def _awaited(self, found: Future[T]) -> T:
        try:
            return found.result(PATIENCE)
        except TimeoutError:
            if found.done():  # it is what opening raised
                raise
            hint = "Send the same request again in a moment; nothing was charged."
            raise RefusedError(
                503, "the data", "The data are being opened.", "", hint, wait=5
            ) from None
