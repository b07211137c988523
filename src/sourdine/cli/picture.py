"""Pictures of releases and plans: png, svg, or a page that needs no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import given
from sourdine.presentation.pages import write_page

__all__ = ["check", "draw"]

ENDINGS = (".png", ".svg", ".html")


class Drawn(Protocol):
    """What can be drawn: a release or a plan."""

    def plot(self, *, path: str | None = None, title: str | None = None) -> Any:  # noqa: ANN401
        """Return a figure."""

    def _repr_html_(self) -> str: ...


def check(path: str | None, option: str = "--plot") -> None:
    """Refuse a path that cannot be drawn to, before anything is spent."""
    if path is None:
        return
    if Path(path).suffix.lower() not in ENDINGS:
        raise ParameterError(
            option, "end in png, svg or html", given(path), f"Type {option} picture.png."
        )
    if not Path(path).absolute().parent.is_dir():
        raise ParameterError(
            option, "be in a folder that exists", given(path), "Make the folder first."
        )
    try:
        import matplotlib  # noqa: F401, ICN001, PLC0415 - an extra
    except ImportError:
        raise SourdineError(
            "a picture needs matplotlib, which is not installed. "
            "In the checkout, type pip install '.[plot]'."
        ) from None


def draw(what: Drawn, path: str, **options: Any) -> None:  # noqa: ANN401
    """Draw to a file; its ending says how."""
    try:
        figure = what.plot(**options)
        if Path(path).suffix.lower() == ".html":
            write_page(figure, path, what=what, title=options.get("title"))
        else:
            figure.savefig(path)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None
