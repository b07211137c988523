"""Arrays on the disk: written whole or not at all, and checked when they are read.

A file is a line that names the format, a line with the SHA-256 of the rest, and a NumPy archive.
It is written under another name, forced to the disk and then renamed, so whoever is interrupted
leaves the old file or the new one. *Checked by* ``test_a_failed_save_leaves_the_old_file``.
"""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedRandom

    from numpy.typing import NDArray

__all__ = ["read", "refused", "write"]

HEAD = b"sourdine aggregate 1\n"
DIGITS = 64
FACTS = "facts"


def write(path: str | os.PathLike[str], facts: object, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put facts, as JSON knows them, and arrays into a file that replaces the one there."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            _fill(file, facts, arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name == "posix":
        _settle(target.parent)


def _fill(file: BufferedRandom, facts: object, arrays: Mapping[str, NDArray[Any]]) -> None:
    file.write(HEAD + b"0" * DIGITS + b"\n")
    text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    np.savez(file, **{FACTS: text}, **arrays)  # type: ignore[arg-type]
    file.seek(len(HEAD) + DIGITS + 1)
    digest = file_digest(file, "sha256").hexdigest().encode()
    file.seek(len(HEAD))
    file.write(digest)


def _settle(folder: Path) -> None:
    """Force the new name to the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: str | os.PathLike[str]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the facts and the arrays of a file, or say that it is damaged."""
    with Path(path).open("rb") as file:
        head = file.read(len(HEAD))
        if not head.startswith(HEAD[: HEAD.rindex(b" ")]):
            raise refused("another kind of file")
        if head != HEAD:
            raise refused("one of a version that is not known here")
        written = file.read(DIGITS + 1).strip()
        start = file.tell()
        if file_digest(file, "sha256").hexdigest().encode() != written:
            raise refused("a damaged file")
        file.seek(start)
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            return json.loads(arrays.pop(FACTS).tobytes()), arrays
        except (ValueError, KeyError, BadZipFile, OSError) as error:
            raise refused("a damaged file") from error


def refused(got: str) -> ParameterError:
    """Return the error for a file that cannot be used."""
    return ParameterError(
        "path",
        "be a file that Aggregator.save wrote",
        got,
        "Restore it from a copy, or add the reports again.",
    )
