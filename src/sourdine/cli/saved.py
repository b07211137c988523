"""``sourdine plot``: a picture of a release that was saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.answers import Release
from sourdine.cli import picture
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run"]


def run(file: Path, out: Path) -> None:
    """Draw a release that a file holds as JSON."""
    picture.check(str(out), "--out")
    picture.draw(_saved(file), str(out))
    Terminal(stderr=True).print(f"Picture: {out}", highlight=False, markup=False)


def _saved(file: Path) -> Release:
    try:
        return Release.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourdineError(f"{file} could not be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise ParameterError(
            "file",
            "hold a release as JSON",
            str(file),
            "Save one with sourdine mean ... --json > release.json.",
        ) from None
