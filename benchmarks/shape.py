"""The size and shape of the library: files, lines, public names, import cycles, suppressed checks.

Prints one table with the most that each may be; the exit status is 1 if one is larger.
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

import sourdine

SOURCE = Path(sourdine.__file__).parent
MOST = {  # lines and code: a little above what there is, so that growth is noticed
    "Python files": 300,
    "lines": 96_000,
    "lines of code": 52_200,
    "public names": 220,
    "import cycles between files": 0,
    "noqa": 250,
}


def code_lines(text: str) -> int:
    """Return how many lines are neither blank, comment, docstring nor import."""
    tree, lines = ast.parse(text), text.split("\n")
    code = {i for i, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(tree):
        plain = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        imported = isinstance(node, (ast.Import, ast.ImportFrom))
        if imported or (plain and isinstance(node.value.value, str)):
            code -= set(range(node.lineno, node.end_lineno + 1))
    return len(code)


def module_of(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name: str, node: ast.AST, modules: set[str]) -> set[str]:
    """Return the modules of the library that a module imports when it is loaded or called.

    What is imported for annotations alone does not count.
    """
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                found.add(full if full in modules else child.module)
        found |= imports(name, child, modules)
    return (found & modules) - {name}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that import each other, directly or not."""
    reach = {name: set(near) for name, near in graph.items()}
    changed = True
    while changed:
        changed = False
        for far in reach.values():
            more = set().union(*(reach[near] for near in far)) - far if far else set()
            changed |= bool(more)
            far.update(more)
    alike = {
        frozenset(other for other in far if name in reach[other]) for name, far in reach.items()
    }
    return sorted((set(one) for one in alike if len(one) > 1), key=len)


def public_names() -> set[int]:
    """Return the distinct objects that packages name in ``__all__``."""
    found = set()
    for path in [SOURCE / "__init__.py", *SOURCE.rglob("*/__init__.py")]:
        try:
            package = import_module(module_of(path))
        except ImportError:  # an extra that is not installed
            continue
        found |= {id(getattr(package, name)) for name in getattr(package, "__all__", ())}
    return found


def main() -> int:
    """Measure, print, and say whether the library is small enough."""
    texts = {module_of(path): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    graph = {name: imports(name, ast.parse(text), set(texts)) for name, text in texts.items()}
    circles = cycles(graph)
    found = {
        "Python files": len(texts),
        "lines": sum(text.count("\n") for text in texts.values()),
        "lines of code": sum(map(code_lines, texts.values())),
        "public names": len(public_names()),
        "import cycles between files": len(circles),
        "noqa": sum(text.count("noqa") for text in texts.values()),
    }
    table = Table(title="src/sourdine", title_justify="left")
    for head in ("", "now", "at most"):
        table.add_column(head, justify="right" if head else "left")
    for name, most in MOST.items():
        table.add_row(name, f"{found[name]:,}", f"{most:,}")
    console = Console()
    console.print(table)
    for circle in circles:
        console.print("cycle:", ", ".join(sorted(circle)), highlight=False)
    missed = [name for name, most in MOST.items() if found[name] > most]
    console.print(f"missed: {', '.join(missed)}" if missed else "all met")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
