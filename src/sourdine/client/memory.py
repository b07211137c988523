"""What a client remembers of ledgers when its process ends."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["SeenHeads"]

Head = tuple[int, str]
HEX = set("0123456789abcdef")


class SeenHeads:
    """The last line of each ledger that was seen, and its head; in a file, if one is named.

    The file is a JSON object: for each server and data set the number of a line and its head. It is
    replaced as a whole, so several processes may share it; of two that write at once the one with
    the later line wins when it writes next.

    Parameters
    ----------
    url
        The server.
    path
        The file; None to remember as long as the process runs.

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
            raise ParameterError(
                "remember",
                "be a file that a client wrote",
                repr(str(self._path)),
                "Type another name; delete it only if you know why it is broken.",
            ) from None


def _head(line: object, head: object) -> Head:
    if type(line) is not int or type(head) is not str or not set(head) <= HEX:
        raise ValueError
    return line, head
