"""Requests to a server with retries, and what a client remembers of ledgers."""

from __future__ import annotations

import json
import os
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from sourdine.errors import (
    LEFT_OUT,
    BudgetExceededError,
    ExistingFileError,
    MissingExtraError,
    MissingFileError,
    ParameterError,
    ParameterTypeError,
    SourdineError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import httpx


# ---- What a client remembers of ledgers when its process ends ------------------------------------


Head = tuple[int, str]
HEX = set("0123456789abcdef")


class SeenHeads:
    """The last line of each ledger of a server that was seen, and its head.

    They are kept as long as the process runs, or in a file, if one is named: a JSON object with the
    number of a line and its head for each server and data set. It is replaced as a whole, so
    several processes may share it; of two that write at once the one with the later line wins when
    it writes next.

    Examples
    --------
    >>> seen = SeenHeads("https://statistics.example")
    >>> seen.put("wages", 4, "0f" * 16)
    >>> seen.get("wages")
    (4, '0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f')
    """

    def __init__(self, url: str, path: str | PathLike[str] | None = None) -> None:
        self._url, self._lock = url, Lock()
        self._path = None if path is None else Path(path)
        self._seen: dict[str, Head] = {} if self._path is None else self._read().get(url, {})

    def get(self, dataset: str) -> Head | None:
        """Return the last line of a ledger that was seen, and its head; None if none was."""
        return self._seen.get(dataset)

    def put(self, dataset: str, line: int, head: str) -> None:
        """Remember a line, unless a later one was seen."""
        with self._lock:
            known = self._seen.get(dataset)
            if known is not None and known[0] >= line:
                return
            self._seen[dataset] = line, head
            if self._path is not None:
                self._write(self._path, dataset)

    def _write(self, path: Path, dataset: str) -> None:
        whole = self._read()
        own = whole.setdefault(self._url, {})
        own[dataset] = max(own.get(dataset, (0, "")), self._seen[dataset])
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            new.write_text(json.dumps(whole, indent=1, sort_keys=True), "utf-8")
            new.replace(path)
        except OSError as error:
            raise SourdineError(f"{path} could not be written: {error.strerror}.") from None

    def _read(self) -> dict[str, dict[str, Head]]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            found = json.loads(self._path.read_text("utf-8"))
            return {
                str(url): {str(name): _head(*pair) for name, pair in own.items()}
                for url, own in found.items()
            }
        except OSError as error:
            raise SourdineError(f"{self._path} could not be read: {error.strerror}.") from None
        except (ValueError, TypeError, AttributeError):
            hint = "Choose another name; delete the file only if you know why it is broken."
            what, got = "be a file that a client wrote", repr(str(self._path))
            raise ParameterError("remember", what, got, hint) from None


def _head(line: object, head: object) -> Head:
    if type(line) is not int or type(head) is not str or not set(head) <= HEX:
        raise ValueError
    return line, head


# ---- Requests to a server: sent again when a connection breaks, refused when a ledger goes back --


ATTEMPTS = 6
PAUSE = 0.1
"""Seconds before the second attempt; each further one waits twice as long."""
PATIENCE = 300.0
"""Seconds for an answer."""
AGAIN = {500, 502, 503, 504}
"""What a server or a proxy says when it does not know."""
CLASSES: dict[str, type[SourdineError]] = {
    "BudgetExceededError": BudgetExceededError,
    "ExistingFileError": ExistingFileError,
    "MissingFileError": MissingFileError,
    "ParameterError": ParameterError,
    "ParameterTypeError": ParameterTypeError,
}
LINE, HEAD, SEEN = "ledger-line", "ledger-head", "ledger-seen"


class Connection:
    """Somebody's connection to a server.

    ``token`` stands for whoever asks. The file ``remember`` keeps how far ledgers had got when the
    process ends; ``transport`` sends requests.

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
            import httpx
        except ImportError as error:
            raise MissingExtraError.of("client") from error
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

    def get(self, path: str, dataset: str | None = None) -> Any:
        """Return what is at a path; of a data set, or of a guard (``guard:name``), if named."""
        return self._call("GET", path, dataset, {}, {})

    def post(self, path: str, dataset: str, body: object, key: str | None = None) -> Any:
        """Return the answer to a body; one with a key is charged once, however often it is sent."""
        headers = {} if key is None else {"idempotency-key": key}
        return self._call("POST", path, dataset, {"json": body}, headers)

    def close(self) -> None:
        self._client.close()

    def _call(
        self,
        method: str,
        path: str,
        dataset: str | None,
        content: Mapping[str, Any],
        headers: dict[str, str],
    ) -> Any:
        address = path if dataset is None else _address(dataset) + path
        seen = None if dataset is None else self._seen.get(dataset)
        if seen is not None:
            headers[LINE] = str(seen[0])
        answer = self._sent(method, address, headers, content)
        if not answer.is_success:
            raise _error(answer)
        if dataset is not None and LINE in answer.headers:
            self._require_no_way_back(dataset, seen, answer.headers)
        return answer.json()

    def _sent(
        self, method: str, address: str, headers: Mapping[str, str], content: Mapping[str, Any]
    ) -> httpx.Response:
        """Send a request until there is an answer that says something, or patience ends."""
        may_be_charged = False
        for attempt in range(ATTEMPTS):
            if attempt:
                sleep(PAUSE * 2 ** (attempt - 1))
            try:
                answer = self._client.request(method, address, headers=headers, **content)
            except self._broken as error:
                broken = type(error).__name__
                never_sent = broken in ("ConnectError", "ConnectTimeout")
                may_be_charged |= "idempotency-key" in headers and not never_sent
                continue
            if answer.status_code not in AGAIN:
                return answer
            broken = f"status {answer.status_code}"
            may_be_charged |= "idempotency-key" in headers
        hint = "Nothing was charged. Check the address, and that the server runs."
        if may_be_charged:
            hint = "The request may have been charged: check the history."
        raise SourdineError(
            f"{self.url} could not be reached after {ATTEMPTS} attempts ({broken}). {hint}"
        )

    def _require_no_way_back(
        self, dataset: str, seen: tuple[int, str] | None, headers: Mapping[str, str]
    ) -> None:
        """Refuse a ledger that is behind what was seen before the request was sent."""
        line, head = int(headers[LINE]), headers[HEAD]
        if seen is not None and (line < seen[0] or headers.get(SEEN) != seen[1]):
            what = f"hold line {seen[0]} as it was seen before"
            hint = "Tell its owner: the missing lines were charged and released."
            name, got = f"the ledger of {dataset}", "an older or a different copy"
            raise SourdineError(name, what, got, hint)
        self._seen.put(dataset, line, head)


def _address(ledger: str) -> str:
    """Return where a ledger is: of a data set by its name, of a guard by ``guard:`` before it.

    Examples
    --------
    >>> _address("wages"), _address("guard:eval")
    ('/datasets/wages', '/guards/eval')
    """
    guard = ledger.removeprefix("guard:")
    collection = "datasets" if guard == ledger else "guards"
    return f"/{collection}/{quote(guard, safe='')}"


def _checked(url: str) -> str:
    """Return an address without its end, or refuse one on which a token would be read."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url.rstrip("/")
    if parts.scheme != "http" or not _is_here(parts.hostname or ""):
        what = "begin with https://, unless the server is on this machine"
        one = "https://sourdine.example"
        raise ParameterError("url", what, repr(url), "Use {url}.", url=one)
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


def _tried(name: str, value: Any) -> Any:
    if value is None:
        return LEFT_OUT
    return tuple(value) if name == "bounds" and isinstance(value, list) else value
