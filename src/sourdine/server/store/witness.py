"""`Witness`: how far the ledgers of a store have got, remembered on another disk.

A store that was put back from an older copy is sound in itself, and lacks what was charged since.
Whoever remembers a later line notices. A witness remembers the last line of each ledger, in a small
file that is written after each commit and before anybody hears of it: so no answer was ever sent
whose charge the witness does not know. It detects an older copy, and cannot bring back what is
lost.

*Claim*: a store behind its witness is refused. *Checked by* ``test_an_older_copy_is_noticed``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sourdine.append_only import disk
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

__all__ = ["Witness"]

PATIENCE = 60.0
"""Seconds to wait for another worker that writes."""


class Witness:
    """The file that remembers, shared by all workers.

    Parameters
    ----------
    path
        The file, on another disk than the store; it is made if it is not there.
    identity
        Who the store is.

    Raises
    ------
    ParameterError
        The file is not a witness, or one of another store.
    """

    def __init__(self, path: str | os.PathLike[str], identity: str) -> None:
        self.path, self.identity = Path(path).absolute(), identity
        self.heads()

    def __call__(self, heads: Mapping[str, str]) -> None:
        """Remember how far ledgers have got: by name, a line's number and its check."""
        try:
            with self.path.with_name(f"{self.path.name}.lock").open("ab", buffering=0) as lock:
                disk.hold(lock, PATIENCE)
                known = self.heads()
                later = {
                    name: head
                    for name, head in heads.items()
                    if name not in known or _line(known[name]) < _line(head)
                }
                if later:
                    self._write({**known, **later})
        except OSError as error:
            raise SourdineError(
                f"the witness {self.path} could not be written: {error.strerror}. "
                "What was charged stays charged; nothing was released."
            ) from None

    def heads(self) -> dict[str, str]:
        """Return the last line of each ledger that was seen."""
        try:
            found = json.loads(self.path.read_text("ascii"))
            heads = {str(name): str(head) for name, head in found["heads"].items()}
            identity, _ = found["identity"], [_line(head) for head in heads.values()]
        except FileNotFoundError:
            return {}
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ParameterError(
                "witness",
                "be a file that Sourdine wrote",
                str(self.path),
                "Type another path, or restore it from a copy.",
            ) from None
        if identity != self.identity:
            raise ParameterError(
                "witness",
                "be that of this store",
                f"{self.path}, which is another's",
                "Type another path.",
            )
        return heads

    def require(self, check: Callable[[str, int], str | None]) -> None:
        """Refuse a store that lacks a line that was seen, or has another in its place.

        Parameters
        ----------
        check
            Returns the check of a line of a ledger; None if it has none.
        """
        for name, head in self.heads().items():
            line, _, seen = head.partition(" ")
            if check(name, int(line)) != seen:
                raise ParameterError(
                    "store",
                    f"hold line {line} of {name}, which the witness {self.path} has seen",
                    "an older or another copy",
                    "Put the latest copy back: what this one lacks was charged, and released.",
                )

    def _write(self, heads: Mapping[str, str]) -> None:
        aside = self.path.with_name(f"{self.path.name}.new")
        with aside.open("wb", buffering=0) as file:
            text = json.dumps({"identity": self.identity, "heads": heads}, sort_keys=True)
            disk.put(file, 0, text.encode("ascii"))
            disk.settle(file)
        aside.replace(self.path)
        disk.settle_folder(self.path.parent)


def _line(head: str) -> int:
    return int(head.partition(" ")[0])
