"""Errors are data: every one in the library has its parts, and every interface can word them."""

from __future__ import annotations

import ast
import copy
import gc
import json
import pickle
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sourdine
from sourdine.cli import options
from sourdine.cli.options import Option
from sourdine.errors import (
    LEFT_OUT,
    BudgetExceededError,
    ParameterError,
    ParameterTypeError,
    PythonWording,
    SourdineError,
)
from sourdine.results.charts import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASSES = {"ParameterError", "ParameterTypeError", "BudgetExceededError", "MissingExtraError"}

VERBS = re.compile(
    "(add|be|begin|carry|come|differ|divide|end|export|give|go|have|hold|include|join|leave|list|"
    "look|make|name|promise|return|share|stay|tell) "
)
"""What must hold begins with one of these."""

COMPUTED = {
    ("adaptive/robust/wrapper.py", "must"),
    ("privacy/accounting/parts.py", "must"),
    ("privacy/budget.py", "hint"),
    ("survey/form.py", "must"),
    ("audit/discovery.py", "hint"),
    ("cli/guard.py", "hint"),
    ("local/table/blocks.py", "hint"),
    ("frames/frame.py", "hint"),
}
"""Parts that are put together elsewhere, and are not read here."""

THINGS = {"aggregators", "estimates", "pieces", "shares"}
"""Plain words that an error may be about, beside parameters."""

LIBRARY = Path(sourdine.__file__).parent


@dataclass(frozen=True, repr=False)
class Spelled:
    """An error as it stands in a file."""

    path: Path
    call: ast.Call
    scopes: tuple[ast.AST, ...]

    @property
    def package(self) -> str:
        return self.path.relative_to(LIBRARY).parts[0]

    def __repr__(self) -> str:
        return f"{self.path.relative_to(LIBRARY)}:{self.call.lineno}"

    def part(self, i: int) -> list[str]:
        """Return all texts that an argument may be; a field of an f-string is a dot."""
        found = _texts(self.call.args[i], self.scopes)
        name = ("name", "must", "got", "hint")[i]
        known = i in (0, 2) or (str(self.path.relative_to(LIBRARY)), name) in COMPUTED
        assert found or known, f"{self}: {name} cannot be read"
        return found


@dataclass(frozen=True)
class Library:
    """All errors of the library, and the names of all parameters."""

    errors: list[Spelled]
    parameters: set[str]

    def of(self, package: str) -> Iterator[Spelled]:
        return (one for one in self.errors if one.package == package)


def spelled(tree: ast.AST, path: Path) -> Iterator[Spelled]:
    left: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, (tree,))]
    while left:
        outer, scopes = left.pop()
        for node in ast.iter_child_nodes(outer):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CLASSES:
                yield Spelled(path, node, scopes)
            left.append((node, (*scopes, node) if isinstance(node, ast.FunctionDef) else scopes))


def _texts(node: ast.expr, scopes: tuple[ast.AST, ...]) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(v.value if isinstance(v, ast.Constant) else "·" for v in node.values)]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, scopes) + _texts(node.orelse, scopes)
    if isinstance(node, ast.BinOp):
        return [a + b for a in _texts(node.left, scopes) for b in _texts(node.right, scopes)]
    if isinstance(node, ast.Name):
        return [text for scope in scopes for text in _assigned(node.id, scope, scopes)]
    return []


def _assigned(name: str, scope: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[str]:
    for node in ast.walk(scope):
        if not isinstance(node, ast.Assign):
            continue
        targets, values = node.targets, [node.value]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            targets, values = node.targets[0].elts, node.value.elts
        for target, value in zip(targets, values, strict=False):
            if isinstance(target, ast.Name) and target.id == name:
                yield from _texts(value, scopes)


FILES = sorted(LIBRARY.rglob("*.py"))
PACKAGES = sorted({path.relative_to(LIBRARY).parts[0] for path in FILES})


@pytest.fixture(scope="module")
def library() -> Library:
    gc.disable()  # half a million nodes that stay make it look at everything again and again
    trees = {path: ast.parse(path.read_text("utf-8")) for path in FILES}
    gc.enable()
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.target.id
        for node in nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    parameters |= {option.name for option in vars(options).values() if isinstance(option, Option)}
    errors = [one for path, tree in trees.items() for one in spelled(tree, path)]
    return Library(errors, parameters)


def test_the_library_is_found(library):
    assert len(library.errors) > 300
    packages = {one.package for one in library.errors}
    assert packages >= {"adaptive", "local", "frames", "mechanisms", "privacy"}
    assert packages <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_an_error_has_its_parts(package, library):
    for one in library.of(package):
        assert len(one.call.args) == 4, f"{one}: a name, what must hold, what was given, a hint"
        for name in one.part(0):
            assert 0 < len(name) <= 40, one
            assert " must" not in name, one
            if name.isidentifier() and one.call.func.id != "MissingExtraError":
                assert name in library.parameters | THINGS, one
        for must in one.part(1):
            assert VERBS.match(must), one
            assert not must.endswith("."), one
        for hint in one.part(3):
            assert re.match(r"[A-Z·]", hint), one
            assert hint.endswith("."), one


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_typed_stands_in_a_sentence(package, library):
    """A value to try is named by the hint, and no parameter is spelled by hand."""
    for one in library.of(package):
        texts = one.part(1) + one.part(3)
        named = {name for text in texts for name in re.findall(r"\{([\w·]+)\}", text)}
        assert named <= library.parameters | {"·"}, one
        for keyword in one.call.keywords:
            if keyword.arg is not None:
                assert keyword.arg in named, one
            elif isinstance(keyword.value, ast.Dict):
                assert any("·" in text for text in one.part(3)), one
        for text in texts:
            assert not re.search(r"[\w·]=(?!=)", _outside(text)), one


def _outside(text: str) -> str:
    """Return a text without its placeholders and whatever stands in brackets."""
    text = re.sub(r"\{[\w·]+\}", "", text)
    inner = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return text if inner == text else _outside(inner)


# ---- said, stored, sent


class Shell(PythonWording):
    """Options, as a shell knows them."""

    def subject(self, name: str) -> str:
        return f"--{name}"

    def mention(self, name: str) -> str:
        return f"--{name}"

    def typed(self, name: str, value: object) -> str:
        parts = value if isinstance(value, tuple) else (value,)
        return " ".join([f"--{name}", *map(str, parts)])


def example(kind: type[SourdineError] = ParameterError) -> SourdineError:
    return kind(
        "bounds",
        "be two numbers with {step}",
        "None",
        "Type {bounds}, and leave {unit} out.",
        bounds=(0, 120),
        unit=LEFT_OUT,
    )


def test_each_face_says_an_error_in_its_own_words():
    error = example()
    python = "bounds must be two numbers with step=, got None. Type bounds=(0, 120), and leave unit"
    shell = (
        "--bounds must be two numbers with --step, got None. Type --bounds 0 120, and leave --un"
    )
    assert str(error) == error.said() == f"{python} out."
    assert error.said(Shell()).startswith(shell)
    error.wording = Shell()
    assert str(error).startswith(shell)


def test_one_more_sentence():
    error = example().also("Then ask again.")
    assert isinstance(error, ParameterError)
    assert str(error) == f"{example()} Then ask again."
    assert error.tries == example().tries


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        (1, "1"),
        (0.5, "0.5"),
        (1e-6, "1e-6"),
        (Fraction(1, 4), "0.25"),
        (Fraction(120), "120"),
        (Fraction(10**30 + 1), str(10**30 + 1)),
        ("it's", '"it\'s"'),
        ((0, Fraction(1, 2)), "(0, 0.5)"),
        ([1e-9], "[1e-9]"),
        ((7,), "(7,)"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_values_are_spelled_as_they_are_typed(value, typed):
    assert str(ParameterError("x", "be", "y", "Type {x}.", x=value)).endswith(f"Type x={typed}.")
    assert ast.literal_eval(typed) == value


@pytest.mark.parametrize(
    "kind", [ParameterError, ParameterTypeError, BudgetExceededError, MissingExtraError]
)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])  # noqa: S301
def test_errors_survive_the_way_to_another_process(kind, again):
    error = example(kind)
    other = again(error)
    assert type(other) is kind
    assert str(other) == str(error)
    assert other.to_dict() == error.to_dict()
    assert other.tries["unit"] is LEFT_OUT


def test_errors_are_json():
    facts = json.loads(json.dumps(example().to_dict()))
    assert facts == {
        "error": "ParameterError",
        "name": "bounds",
        "must": "be two numbers with {step}",
        "got": "None",
        "hint": "Type {bounds}, and leave {unit} out.",
        "tries": {"bounds": [0, 120], "unit": None},
        "text": str(example()),
    }
