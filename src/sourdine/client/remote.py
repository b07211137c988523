"""`Remote`: a server, by its address and a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sourdine.client.connection import Connection
from sourdine.client.guard import RemoteGuard
from sourdine.client.session import RemoteSession
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from os import PathLike

    import httpx

__all__ = ["Remote"]


class Remote:
    """A server that answers questions about data that it holds (``sourdine serve``).

    Parameters
    ----------
    url
        Where it is, such as ``"https://statistics.example"``.
    token
        Your token: ``sourdine serve token`` and the server's pages make one.
    remember
        The path of a file that keeps how far the server's ledgers had got, so that an old copy that
        was put back is noticed when another process asks. Without one, while this object lives.
    transport
        What sends requests; the usual one if left out.

    Examples
    --------
    >>> import sourdine as sd
    >>> server = sd.Remote("http://127.0.0.1:8000", "sourdine-...")  # sends nothing yet
    >>> wages = server.session("wages")  # doctest: +SKIP
    >>> wages.mean(column="wage", epsilon=0.1).interval(0.95)  # doctest: +SKIP
    (31170.9, 31292.3)
    >>> server.close()
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        remember: str | PathLike[str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not token or not token.isascii() or not token.isprintable():
            raise ParameterError(
                "token", "be what the server showed once", "another text", "Make a new one there."
            )
        self._connection = Connection(url, token, remember=remember, transport=transport)

    @property
    def datasets(self) -> list[dict[str, Any]]:
        """The data sets that you may see: names, totals, what was spent, your grants."""
        found: list[dict[str, Any]] = self._connection.get("/datasets")
        return found

    def session(self, name: str) -> RemoteSession:
        """Return a session on a data set."""
        return RemoteSession(self._connection, name)

    @property
    def guards(self) -> list[dict[str, Any]]:
        """The guards that you may see: names, terms, what was told, your grants."""
        found: list[dict[str, Any]] = self._connection.get("/guards")
        return found

    def guard(self, name: str) -> RemoteGuard:
        """Return the leaderboard of a guard, to submit predictions to."""
        return RemoteGuard(self._connection, name)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Remote: {self._connection.url}>"
