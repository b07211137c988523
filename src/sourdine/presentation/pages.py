"""A picture and its table as one page that needs no network."""

from __future__ import annotations

from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

__all__ = ["write_page"]


def write_page(figure: Any, path: str, *, what: Any = None, title: str | None = None) -> None:  # noqa: ANN401
    """Write a page that holds a figure, and the table of what it shows.

    Parameters
    ----------
    figure
        The figure.
    path
        Where to.
    what
        What is drawn: its table stands below.
    title
        What the page is called; what stands above the figure if left out.
    """
    drawing = StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :]
    table = "" if what is None else what._repr_html_()
    page = PAGE.format(title=escape(title or _above(figure)), svg=svg, table=table)
    Path(path).write_text(page, encoding="utf-8")


def _above(figure: Any) -> str:  # noqa: ANN401
    """Return what stands above a figure."""
    titles = [figure.get_suptitle(), *(axes.get_title(loc="left") for axes in figure.axes)]
    return next(filter(None, titles), "Sourdine")


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
