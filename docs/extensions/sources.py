"""Source code on pages of the manual: links to files lead there, and from there to the API.

In Markdown a link such as ``../../src/sourdine/noise/coins.py`` works in a folder of files. In the
manual it leads to the page of that module, made by ``sphinx.ext.viewcode`` if the API documents
something of it, and otherwise here. Other files of the repository get pages too if a page of the
manual links to them.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from reference import homes, public_object
from sphinx.addnodes import download_reference, pending_xref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SHOWN = {
    ".py": "python",
    ".md": "markdown",
    ".toml": "toml",
    ".json": "json",
    ".txt": "text",
    "": "text",
}
"""Files that are shown, by their ending; others are downloads."""
HOME = "lab/src/sourdine_lab/"
LAB = (f"{HOME}experiments/", f"{HOME}claims/")
"""Code that has its pages beside the lab's."""
SOURCES = ("src/", "lab/src/")
CODE = ("_modules/", "lab/code/", "files/")
"""Pages of code."""
LINKED = "files"
"""Where the environment keeps which files a page links to."""
BACK = re.compile(r'(id="([^"]+)">\n)<a class="viewcode-back"[^>]*>([^<]*)</a>')


def code_page(app: Sphinx, file: Path, page: str, title: str) -> tuple[str, dict[str, Any], str]:
    """Return a file as a page, with an anchor a line."""
    body = app.builder.highlighter.highlight_block(  # type: ignore[attr-defined]
        file.read_text("utf-8"), SHOWN[file.suffix], linenos="inline", lineanchors="line"
    )
    context = {"title": title, "body": f"<h1><code>{escape(title)}</code></h1>{body}"}
    return page, context, "page.html"


def page_of(path: str) -> str:
    """Return the page that shows a file, named from the root of the repository.

    Examples
    --------
    >>> page_of("src/sourdine/noise/coins.py")
    '_modules/sourdine/noise/coins'
    >>> page_of("CONTRIBUTING.md")
    'files/CONTRIBUTING.md'
    """
    if path.startswith(LAB):
        return f"lab/code/{path.removeprefix(HOME).removesuffix('.py')}"
    for source in SOURCES:
        if path.startswith(source) and path.endswith(".py"):
            module = path.removeprefix(source).removesuffix(".py")
            return f"_modules/{module.removesuffix('/__init__')}"
    return f"files/{path}"


def _show_files(app: Sphinx, tree: nodes.document) -> None:
    """Turn links to the repository's files into links to their pages."""
    here = app.env.docname
    pages = (node for node in tree.findall(pending_xref) if node["refdomain"] == "doc")
    for node in [*tree.findall(download_reference), *pages]:
        file = _file(app, node)
        outside = file.is_relative_to(ROOT) and not file.is_relative_to(app.env.srcdir)
        if outside and file.is_file() and file.suffix in SHOWN:
            path = file.relative_to(ROOT).as_posix()
            app.env.metadata[here].setdefault(LINKED, []).append(path)
            target = app.builder.get_relative_uri(here, page_of(path))
            words = [word for child in node.children for word in child.children]
            node.replace_self(nodes.reference("", "", *words, refuri=target, internal=True))


def _file(app: Sphinx, node: nodes.Element) -> Path:
    """Return the file that a link in Markdown means; one to Markdown comes without its ending."""
    ending = ".md" if node["refdomain"] == "doc" else ""
    folder = Path(app.env.srcdir, app.env.docname).parent
    return folder.joinpath(f"{node['reftarget']}{ending}").resolve()


def _file_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the linked files that nothing else shows."""
    linked = {path for facts in app.env.metadata.values() for path in facts.get(LINKED, ())}
    modules = getattr(app.env, "_viewcode_modules", {})
    for path in sorted(linked):
        page = page_of(path)
        module = page.removeprefix("_modules/").replace("/", ".")
        if not path.startswith(LAB) and not modules.get(module):
            yield code_page(app, ROOT / path, page, path)


@cache
def _described() -> dict[tuple[str, str], str]:
    """Return the public path of what a module defines under a name."""
    found = ((public_object(home), home) for home in set(homes().values()))
    return {
        (getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")): home
        for thing, home in found
    }


def _lead_back(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Let the code of a name lead to where the API describes it, by whatever path."""
    if not page.startswith("_modules/sourdine"):
        return
    module = page.removeprefix("_modules/").replace("/", ".")
    objects = app.env.domains.python_domain.objects

    def link(found: re.Match[str]) -> str:
        first, dot, rest = found[2].partition(".")
        entry = objects.get(f"{_described().get((module, first))}{dot}{rest}")
        if entry is None:
            return found[1]
        target = f"{app.builder.get_relative_uri(page, entry.docname)}#{entry.node_id}"
        return f'{found[1]}<a class="viewcode-back" href="{target}">{found[3]}</a>'

    context["body"] = BACK.sub(link, context["body"])


def _without_contents(_: Sphinx, page: str, __: str, context: dict[str, Any], ___: object) -> None:
    """Leave the table of contents off pages of code, which takes a quarter of the build there."""
    if page.startswith(CODE):
        context["toctree"] = lambda **_: ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Show files before Sphinx collects downloads, and mend the pages of modules."""
    app.connect("doctree-read", _show_files, priority=400)
    app.connect("html-collect-pages", _file_pages)
    app.connect("html-page-context", _lead_back)
    app.connect(
        "html-page-context", _without_contents, priority=400
    )  # before the theme asks for it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
