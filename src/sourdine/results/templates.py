"""Pages made from Jinja templates: all texts are escaped unless they are marked as HTML."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment(package: str) -> Environment:
    """Return the templates in the folder ``web`` of a package.

    Jinja is imported here, since most programs make no page.

    Examples
    --------
    >>> environment("sourdine.reports").from_string("<b>{{ name }}</b>").render(name="<i>")
    '<b>&lt;i&gt;</b>'
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
