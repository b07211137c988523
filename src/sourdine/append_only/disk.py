"""What the operating system does for a book: locks, the disk's word, a name given once."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from errno import ENOSPC
from secrets import token_hex
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO
    from pathlib import Path

__all__ = ["get", "hold", "open_locked", "put", "settle", "settle_folder", "write_new"]

PAUSE = 0.002
"""Seconds between two looks at a lock."""

if sys.platform == "win32":  # pragma: no cover - another system
    import msvcrt

    FAR = 2**40
    """A byte beyond the end, so that a lock does not stop readers."""

    def _taken(file: FileIO) -> None:
        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error

    def _flush(file: FileIO) -> None:
        os.fsync(file.fileno())
else:
    import fcntl

    def _taken(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _flush(file: FileIO) -> None:
        fcntl.fcntl(file, FULL) if FULL else os.fsync(file.fileno())

    FULL: int = getattr(fcntl, "F_FULLFSYNC", 0)
    """Where a plain fsync does not reach the disk."""


def hold(file: FileIO, patience: float) -> None:
    """Lock a file until it is closed; raise `BlockingIOError` after so many seconds."""
    deadline = monotonic() + patience
    while True:
        try:
            return _taken(file)
        except BlockingIOError:
            if monotonic() > deadline:
                raise
        sleep(PAUSE)


def open_locked(path: Path, rights: int, patience: float) -> FileIO:
    """Return a file that is locked until it is closed; it is made if it is not there.

    Whoever may open a file may lock it, and stop everybody who waits for it: so its rights are
    those that are asked for.
    """
    file = open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, rights))  # noqa: SIM115 - the caller closes it
    try:
        with suppress(OSError):  # of a file of somebody else, who may let others in
            path.chmod(rights)
        hold(file, patience)
    except BaseException:
        file.close()
        raise
    return file


def settle(file: FileIO) -> None:
    """Wait until what was written is on the disk."""
    _flush(file)


def get(file: FileIO, start: int, most: int = -1) -> bytes:
    """Return what a file holds from a place on."""
    file.seek(start)
    return file.read(most)


def put(file: FileIO, start: int, text: bytes) -> None:
    """Write a text at a place, whole, or raise."""
    file.seek(start)
    if file.write(text) != len(text):
        raise OSError(ENOSPC, os.strerror(ENOSPC))


def write_new(path: Path, text: bytes, rights: int) -> None:
    """Write a new file, which appears whole or not at all; raise `FileExistsError` if it is there.

    It is written under a random name and gets its own by a hard link, which fails where the name
    is taken; where there are no hard links, it is made under its own name alone.
    """
    aside = path.with_name(f".{token_hex(8)}.new")
    try:
        _write(aside, text, rights)
        try:
            os.link(aside, path)
        except FileExistsError:
            raise
        except OSError:
            _write(path, text, rights)
    finally:
        with suppress(FileNotFoundError):
            aside.unlink()
    settle_folder(path.parent)


def _write(path: Path, text: bytes, rights: int) -> None:
    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, rights)

    with open(path, "xb", buffering=0, opener=opener) as file:
        put(file, 0, text)
        settle(file)


def settle_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    with suppress(OSError):  # where a folder cannot be opened
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)
