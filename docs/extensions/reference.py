"""The API reference: ``.. package:: sourdine.local`` documents every public name of a package.

Public are the names in ``__all__``; of a package without it, the classes and functions of its
modules whose docstrings say more than one line. A name that several modules offer is documented
once, where its path is shortest; elsewhere it stands in the table and leads there. References in
docstrings become plain numbered lists, so that many docstrings fit on one page.
"""

from __future__ import annotations

import inspect
import re
from functools import cache, cached_property
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.domains.python import ObjectEntry
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import find_pending_xref_condition

import sourdine
import sourdine_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

PACKAGES = (sourdine, sourdine_lab)
NAMED = {
    name
    for page in (Path(__file__).parents[1] / "api").glob("*.rst")
    for name in re.findall(r"(?m)^\.\. package:: (\S+)", page.read_text("utf-8"))
}
"""The modules that the pages name."""
UNLINKED = ("Number",)
"""In an annotation the type of an exact parameter, not the column of a table."""


def documented() -> Iterator[str]:
    """Yield the modules that offer names: packages, what they list, and the lab's modules."""
    yield from ("sourdine", "sourdine_lab")
    for name in _modules():
        module = import_module(name)
        parent, _, last = name.rpartition(".")
        above = import_module(parent)
        listed = last in getattr(above, "__all__", ()) and getattr(above, last) is module
        ground = parent in ("sourdine", "sourdine_lab", "sourdine_lab.claims")
        package = hasattr(module, "__path__") or not hasattr(above, "__all__")
        if names_of(name) and (package or listed or ground or name in NAMED):
            yield name


@cache
def names_of(name: str) -> tuple[str, ...]:
    """Return the public names of a module."""
    module = import_module(name)
    if hasattr(module, "__all__"):
        return tuple(module.__all__)
    return tuple(
        own
        for own, thing in vars(module).items()
        if not own.startswith("_")
        and (inspect.isclass(thing) or inspect.isfunction(thing))
        and thing.__module__ == name
        and "\n" in (thing.__doc__ or "").strip()
    )


@cache
def homes() -> dict[str, str]:
    """Return for every public path the shortest path of the same object."""
    paths = sorted(
        (f"{module}.{name}" for module in documented() for name in names_of(module)),
        key=lambda path: (path.count("."), path),
    )
    first: dict[tuple[str, int], str] = {}
    return {path: first.setdefault(_same(path), path) for path in paths}


def _same(path: str) -> tuple[str, int]:
    return path.rpartition(".")[2], id(public_object(path))


def public_object(path: str) -> Any:
    """Return what a public path names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


class Package(SphinxDirective):
    """The docstring of a module, a table of its names, and each name in full."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the module as nodes; of a package that lists no names, its modules too."""
        (name,) = self.arguments
        module, lines = import_module(name), _listed(name)
        if name.startswith("sourdine.") and names_of(name) == () and hasattr(module, "__path__"):
            for below in iter_modules(module.__path__, f"{name}."):
                if below.name not in NAMED and names_of(below.name):
                    lines += _listed(below.name)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _listed(module: str) -> list[str]:
    """Return the lines of one module."""
    home, names = homes(), [f"{module}.{name}" for name in names_of(module)]
    lines = [f".. automodule:: {module}", ""]
    if names:
        lines += [".. autosummary::", "", *(f"   {path[len(module) + 1 :]}" for path in names), ""]
    for path in names:
        if home[path] == path and not isinstance(public_object(path), ModuleType):
            lines += _described(path)
    return lines


def _described(path: str) -> list[str]:
    thing = public_object(path)
    if inspect.isclass(thing):
        return [f".. autoclass:: {path}", f"   :members: {', '.join(_members(thing))}", ""]
    if inspect.isroutine(thing):
        return [f".. autofunction:: {path}", ""]
    return [f".. autodata:: {path}", "   :no-value:", "", *_told(path), ""]


def _members(kind: type) -> list[str]:
    """Return what a class and its bases in Sourdine offer and explain, in the order of writing."""
    found: dict[str, None] = {}
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in {package.__name__ for package in PACKAGES}:
            docs = ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
            told = {name for owner, name in docs if owner == base.__qualname__}
            found |= {
                name: None
                for name, member in vars(base).items()
                if not name.startswith("_") and (name in told or _explained(member))
            }
    return list(found)


def _explained(member: object) -> bool:
    kinds = (property, cached_property, classmethod, staticmethod)
    return (inspect.isfunction(member) or isinstance(member, kinds)) and bool(member.__doc__)


def _told(path: str) -> list[str]:
    """Return what stands below the assignment of a constant."""
    module, _, name = path.rpartition(".")
    for found in [module, *(m for m in sorted(_modules()) if m.startswith(module))]:
        docs = ModuleAnalyzer.for_module(found).find_attr_docs()
        if ("", name) in docs:
            return [f"   {line}" for line in docs["", name]]
    return []


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        yield from (m.name for m in walk_packages(package.__path__, f"{package.__name__}."))


def _plain_references(*told: Any) -> None:
    lines: list[str] = told[-1]
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"\[(\d+)\]_", r"[\1]", re.sub(r"^\.\. \[(\d+)\]", r"\1.", line))


def _nearest(_: Sphinx, tree: nodes.document) -> None:
    """Let a bare name in an annotation mean the object of that name in the nearest module.

    What has no module is not ours: Sphinx would look through all objects for it.
    """
    for node in list(tree.findall(pending_xref)):
        here = node.get("py:module")
        if node["reftarget"] in UNLINKED and node["reftype"] == "class":
            node.replace_self(nodes.Text(node["reftarget"]))
        elif here and node["reftype"] == "class" and "." not in node["reftarget"]:
            ends = f".{node['reftarget']}"
            fits = {home for home in homes().values() if home.endswith(ends)}
            if fits:
                node["reftarget"] = max(fits, key=lambda home: _shared(home, here))
            else:
                node.replace_self((find_pending_xref_condition(node, "*") or node).children)


def _shared(path: str, other: str) -> int:
    """Return how many first words two paths share."""
    pairs = zip(path.split("."), other.split("."), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _enter_aliases(_: Sphinx, env: BuildEnvironment) -> None:
    objects = env.domains.python_domain.objects
    for path, home in homes().items():
        if path not in objects and home in objects:
            found = objects[home]
            objects[path] = ObjectEntry(found.docname, found.node_id, found.objtype, aliased=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive ``package``."""
    app.add_directive("package", Package)
    app.connect("autodoc-process-docstring", _plain_references)
    app.connect("doctree-read", _nearest)
    app.connect("env-updated", _enter_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
