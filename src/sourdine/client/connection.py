"""Requests to a server: sent again when a connection breaks, refused when a ledger goes back."""

from __future__ import annotations

from ipaddress import ip_address
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from sourdine.client.memory import SeenHeads
from sourdine.errors import (
    LEFT_OUT,
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)
from sourdine.presentation.figures import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import httpx

__all__ = ["Connection"]

ATTEMPTS = 6
PAUSE = 0.1
"""Seconds before the second attempt; each further one waits twice as long."""
PATIENCE = 300.0
"""Seconds for an answer."""
AGAIN = {500, 502, 503, 504}
"""What a server or a proxy says when it does not know."""
CLASSES: dict[str, type[SourdineError]] = {
    cls.__name__: cls for cls in (BudgetExceededError, ParameterError, ParameterTypeError)
}
LINE, HEAD, SEEN = "ledger-line", "ledger-head", "ledger-seen"


class Connection:
    """Somebody's connection to a server.

    Parameters
    ----------
    url
        Where the server is; https, unless it is this very machine.
    token
        What stands for whoever asks.
    remember
        A file that keeps how far ledgers had got when the process ends; None for none.
    transport
        What sends requests; the usual one if left out.

    Notes
    -----
    *Claim*: a request that is sent again is charged once. *Checked by*
    ``test_a_connection_that_breaks_twice_is_one_charge``. *Claim*: a server whose ledger lacks a
    line that was seen, or has another in its place, is refused. *Checked by*
    ``test_a_ledger_that_went_back_is_refused``; with ``remember`` by a later process, too, *checked
    by* ``test_an_old_copy_is_noticed_by_a_later_process``. *Claim*: a token for this very machine
    reaches no proxy. *Checked by* ``test_a_proxy_sees_no_token_for_this_machine``.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        remember: str | PathLike[str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        try:
            import httpx  # noqa: PLC0415 - an extra, loaded late
        except ImportError as error:
            raise MissingExtraError(
                "httpx",
                "be installed to ask a server",
                "none",
                "In the checkout, type pip install '.[client]'.",
            ) from error
        self.url = _checked(url)
        self._broken = httpx.TransportError
        self._client = httpx.Client(
            base_url=f"{self.url}/api/v1",
            headers={"authorization": f"Bearer {token}"},
            timeout=PATIENCE,
            transport=transport,
            # A proxy of the environment would see the token of a server on this very machine, in
            # the clear: it is not asked.
            trust_env=not _is_here(urlsplit(self.url).hostname or ""),
        )
        self._seen = SeenHeads(self.url, remember)

    def get(self, path: str, dataset: str | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return what is at a path; of a data set, or of a guard (``guard:name``), if named."""
        return self._call("GET", path, dataset, None, {})

    def post(self, path: str, dataset: str, body: object, key: str | None = None) -> Any:  # noqa: ANN401
        """Return the answer to a body; one with a key is charged once, however often it is sent."""
        headers = {} if key is None else {"idempotency-key": key}
        return self._call("POST", path, dataset, body, headers)

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def _call(
        self, method: str, path: str, dataset: str | None, body: object, headers: dict[str, str]
    ) -> Any:  # noqa: ANN401 - JSON
        address = path if dataset is None else _address(dataset) + path
        seen = None if dataset is None else self._seen.get(dataset)
        if seen is not None:
            headers[LINE] = str(seen[0])
        content = None if method == "GET" else {"json": body}
        answer = self._sent(method, address, headers, content or {})
        if answer.is_success and dataset is not None:
            self._require_no_way_back(dataset, seen, answer.headers)
        if answer.is_success:
            return answer.json()
        raise _error(answer)

    def _sent(
        self, method: str, address: str, headers: Mapping[str, str], content: Mapping[str, Any]
    ) -> httpx.Response:
        """Send a request until there is an answer that says something, or patience ends."""
        for attempt in range(ATTEMPTS):
            if attempt:
                sleep(PAUSE * 2 ** (attempt - 1))
            try:
                answer = self._client.request(method, address, headers=headers, **content)
            except self._broken as error:
                broken = type(error).__name__
                continue
            if answer.status_code not in AGAIN:
                return answer
            broken = f"status {answer.status_code}"
        raise SourdineError(
            f"{self.url} could not be reached, {ATTEMPTS} times ({broken}). Whether it was charged "
            "is not known: the history says."
        )

    def _require_no_way_back(
        self, dataset: str, seen: tuple[int, str] | None, headers: Mapping[str, str]
    ) -> None:
        """Refuse a ledger that is behind what was seen before the request was sent."""
        if LINE not in headers:
            return
        line, head = int(headers[LINE]), headers[HEAD]
        if seen is not None and (line < seen[0] or headers.get(SEEN) != seen[1]):
            raise SourdineError(
                f"the ledger of {dataset}",
                f"hold line {seen[0]} as it was seen",
                "an older or another copy",
                "Tell its owner: what it lacks was charged, and released.",
            )
        self._seen.put(dataset, line, head)


def _address(ledger: str) -> str:
    """Return where a ledger is: of a data set by its name, of a guard by ``guard:`` before it.

    Examples
    --------
    >>> _address("wages"), _address("guard:eval")
    ('/datasets/wages', '/guards/eval')
    """
    guard = ledger.removeprefix("guard:")
    room = "datasets" if guard == ledger else "guards"
    return f"/{room}/{quote(guard, safe='')}"


def _checked(url: str) -> str:
    """Return an address without its end, or refuse one on which a token would be read."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url.rstrip("/")
    if parts.scheme != "http" or not _is_here(parts.hostname or ""):
        raise ParameterError(
            "url",
            "begin with https://, unless the server is on this machine",
            repr(url),
            "Type {url}.",
            url="https://sourdine.example",
        )
    return url.rstrip("/")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _error(answer: httpx.Response) -> SourdineError:
    """Return the error that a server raised, as Python says it."""
    try:
        facts = answer.json()
        parts = [str(facts[name]) for name in ("name", "must", "got", "hint")]
        tries = {name: _tried(name, value) for name, value in facts["tries"].items()}
        return CLASSES.get(facts["error"], SourdineError)(*parts, **tries)
    except (ValueError, LookupError, TypeError, AttributeError):
        return SourdineError(f"the server refused the request, status {answer.status_code}.")


def _tried(name: str, value: Any) -> Any:  # noqa: ANN401 - what JSON knows
    if value is None:
        return LEFT_OUT
    return tuple(value) if name == "bounds" and isinstance(value, list) else value
