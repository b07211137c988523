"""Pictures of releases and plans: png, svg, or a page that needs no network."""

from __future__ import annotations

from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import given

if TYPE_CHECKING:
    from collections.abc import Callable

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
            "a picture needs matplotlib, which is not installed. Type pip install 'sourdine[plot]'."
        ) from None


def draw(what: Drawn, path: str, **options: Any) -> None:  # noqa: ANN401
    """Draw to a file; its ending says how."""
    figure = what.plot(**options)
    ending = Path(path).suffix.lower()
    writers: dict[str, Callable[[], None]] = {
        ".png": lambda: figure.savefig(path, dpi=150),
        ".svg": lambda: figure.savefig(path, format="svg"),
        ".html": lambda: _page(figure, what, path, options.get("title")),
    }
    try:
        writers[ending]()
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _page(figure: Any, what: Drawn, path: str, title: str | None) -> None:  # noqa: ANN401
    drawing = StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :]
    drew = getattr(what, "mechanism", None)
    named = title or (drew.title if drew else str(getattr(what, "question", "Sourdine")))
    page = PAGE.format(title=escape(named), svg=svg, table=what._repr_html_())
    Path(path).write_text(page, encoding="utf-8")


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 56rem; margin: 2rem auto;
       padding: 0 1rem; }}
svg {{ width: 100%; height: auto; }}
table {{ border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: right; padding: .25rem .9rem; border-bottom: 1px solid #e4e7eb; }}
caption {{ color: #52606d; font-size: .85rem; padding-top: .6rem; }}
</style>
</head>
<body>
{svg}
{table}
</body>
</html>
"""
