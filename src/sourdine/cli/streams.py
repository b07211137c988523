"""Standard streams that cannot be written, on a full disk or a closed pipe.

Python flushes them once more at its end, and if that fails exits with a status of its own: so a
stream that has failed gives way to one that takes everything.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from sourdine.errors import SourdineError
from sourdine.presentation.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Terminal", "UnprintedError", "complain", "give_up", "printing", "written"]


def written(text: str) -> str | None:
    """Print on standard output; return why that could not be done, None if it was."""
    try:
        typer.echo(text)
    except OSError as error:
        give_up()
        return error.strerror or type(error).__name__
    return None


class UnprintedError(SourdineError):
    """An answer that was paid for could not be printed."""


class Terminal(Console):
    """Standard output as a person sees it; where nobody reads any more, nothing is printed."""

    def on_broken_pipe(self) -> None:
        """Go on without a reader, as ``| head`` leaves it."""
        give_up()


@contextmanager
def printing() -> Iterator[None]:
    """Print an answer to the end; say so if it cannot be, unless nobody reads any more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        give_up()
    except OSError as error:
        give_up()
        raise UnprintedError(f"the answer could not be printed: {error.strerror}.") from None


def give_up() -> None:
    """Drop what standard output still holds, and whatever comes."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


def complain(text: str) -> None:
    """Print on standard error, if it can be written."""
    try:
        typer.echo(f"sourdine: {printable(text)}", err=True)
    except OSError:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end
