"""A request as routes see it, and what a route is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from sourdine.errors import ParameterError
from sourdine.server.limits import LONGEST_BODY, decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.server.auth import Caller
    from sourdine.server.state import ServerState
    from sourdine.server.store import Dataset, Guard

__all__ = ["Incoming", "Operation", "reply"]

EVERYBODY = ("owner", "analyst", "auditor")
OVERSEERS = ("owner", "auditor")
LINE, HEAD, SEEN = "ledger-line", "ledger-head", "ledger-seen"
"""Headers: how far a ledger has got, and the check of a line that a client remembers."""
MOST_LINES = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request that was read, of somebody who is known.

    Parameters
    ----------
    state
        What the worker holds.
    caller
        Who asks; None where anybody may.
    path, query, headers, cookies
        Their parts by name.
    data
        The body.
    address
        Where it comes from; empty where nobody asks.
    """

    state: ServerState
    caller: Caller | None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    data: bytes = b""
    address: str = ""

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

    def body(self, shape: Any = Any) -> Any:  # noqa: ANN401 - whatever the shape is
        """Return what the body holds, of a shape."""
        return decoded(self.data, shape)

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number of the query."""
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdecimal() or len(text) > 15 or int(text) > most:
            raise ParameterError(
                "the query",
                f"have a whole number of at most {most} as {name}",
                "another one",
                "Leave it out.",
            )
        return int(text)

    def heads(self, dataset: str) -> dict[str, str]:
        """Return headers that say how far a ledger has got; a client refuses to go back."""
        found = self.state.store.datasets.head(dataset)
        heads = {LINE: str(found[0]), HEAD: found[1]} if found else {}
        seen = self.headers.get(LINE, "")
        if seen.isascii() and seen.isdecimal() and len(seen) <= 15:
            known = self.state.store.datasets.head(dataset, int(seen))
            heads[SEEN] = known[1] if known else "none"
        return heads


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A route: what it does, who may use it, and what OpenAPI says of it.

    Parameters
    ----------
    method, path
        The path is below ``/api/v1``.
    does
        From a request to an answer; it runs in a thread. What was drawn from data is stored, and
        leaves, on a tick: then it returns a function, which is called on that tick.
    text
        What it does, in a sentence.
    roles
        Who may use it; nobody need be known if it is empty.
    takes
        The type of its body, or the name of a schema; None if it has none.
    gives
        The name of the schema of its answer, or a type of content that is not JSON.
    keyed
        Whether it needs an ``Idempotency-Key``.
    query
        The names of whole numbers and words in its query.
    longest
        How many bytes its body may have.
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


def reply(
    facts: Any,  # noqa: ANN401 - what JSON knows
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer of JSON."""
    return Response(msgspec.json.encode(facts), status, headers, "application/json")
