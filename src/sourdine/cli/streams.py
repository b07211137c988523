"""Standard streams that cannot be written, on a full disk or a closed pipe.

Python flushes them once more at its end, and if that fails exits with a status of its own: so a
stream that has failed gives way to one that takes everything.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

__all__ = ["complain", "give_up", "written"]


def written(text: str) -> str | None:
    """Print on standard output; return why that could not be done, None if it was."""
    try:
        typer.echo(text)
    except OSError as error:
        give_up()
        return error.strerror or type(error).__name__
    return None


def give_up() -> None:
    """Drop what standard output still holds, and whatever comes."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


def complain(text: str) -> None:
    """Print on standard error, if it can be written."""
    try:
        typer.echo(f"sourdine: {text}", err=True)
    except OSError:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end
