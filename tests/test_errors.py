"""Errors are data: every one in the library has its parts, and every interface can word them."""

from __future__ import annotations

import ast
import copy
import errno
import gc
import json
import os
import pickle
import re
import sys
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
    ExistingFileError,
    MissingExtraError,
    MissingFileError,
    ParameterError,
    ParameterTypeError,
    PythonWording,
    SourdineError,
    close_matches,
    did_you_mean,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = [
    BudgetExceededError,
    ExistingFileError,
    MissingExtraError,
    MissingFileError,
    ParameterError,
    ParameterTypeError,
]
CLASSES = {kind.__name__ for kind in KINDS}

VERBS = re.compile(
    "(add|be|begin|belong|contain|come|depend|differ|distinguish|divide|end|equal|exist|export|"
    "give|have|hold|identify|include|join|leave|list|map|name|not (be|change|use)|return|satisfy|"
    r"specify|use)\b"
)
"""A requirement begins with one of these, unless it is a clause or a sentence of its own."""

MANNERED = re.compile(
    r"\b([Tt]ype (?!\w+ has\b)|be one that|be there|so many|whoever|nobody|everybody|anew|"
    r"[Ll]eave \S+ out\b|left out)"
)
"""Phrases that plain English has shorter words for."""
VACUOUS = {"none", "another", "another one", "others", "something else", "one", "some", "more"}
"""Descriptions of a given value that say nothing."""

COMPUTED = {
    *(("frames/formulas/parsing.py", part) for part in ("must", "hint")),
    *(("adaptive/query_server/server.py", part) for part in ("must", "hint")),
    ("adaptive/robust/wrapper.py", "must"),
    ("storage/journal.py", "hint"),
    ("storage/locks.py", "hint"),
    ("privacy/accounting/parts.py", "must"),
    ("central/sql.py", "hint"),
    ("frames/formulas/lookup.py", "must"),
    ("frames/formulas/parsing.py", "must"),
    ("frames/formulas/parsing.py", "hint"),
    ("privacy/guarantee.py", "hint"),
    ("survey/form.py", "must"),
    ("audit/discovery.py", "hint"),
    ("cli/guard.py", "hint"),
    ("local/table/blocks.py", "hint"),
    ("frames/frame.py", "hint"),
    ("frames/engine.py", "hint"),
    ("local/table/schema_files.py", "hint"),
    ("parameters/question.py", "hint"),
    ("reports/about.py", "hint"),
    ("survey/document.py", "hint"),
}
"""Parts that are put together elsewhere, and are not read here."""

THINGS = {"aggregators", "description", "estimates", "format", "formula", "pieces", "randomiser"}
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

    @property
    def usual_hint(self) -> str:
        """The hint that an error without one has: to use the values to try."""
        names = (f"{{{keyword.arg or '·'}}}" for keyword in self.call.keywords)
        return f"Use {' and '.join(names)}."

    def part(self, i: int) -> list[str]:
        """Return all texts that an argument may be; a field of an f-string is a dot."""
        if i >= len(self.call.args):
            return [self.usual_hint] if i == 3 else []
        found = _texts(self.call.args[i], self.scopes, frozenset())
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


def _texts(node: ast.expr, scopes: tuple[ast.AST, ...], seen: frozenset[str]) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return ["".join(v.value if isinstance(v, ast.Constant) else "·" for v in node.values)]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, scopes, seen) + _texts(node.orelse, scopes, seen)
    if isinstance(node, ast.BinOp):
        left, right = (_texts(side, scopes, seen) for side in (node.left, node.right))
        return [a + b for a in left for b in right]
    if isinstance(node, ast.Name) and node.id not in seen:
        seen |= {node.id}
        return [text for scope in scopes for text in _assigned(node.id, scope, scopes, seen)]
    return []


def _assigned(
    name: str, scope: ast.AST, scopes: tuple[ast.AST, ...], seen: frozenset[str]
) -> Iterator[str]:
    """Yield the texts that a name is given, each with what the next statement appends to it."""
    for statements in _blocks(scope):
        for node, following in zip(statements, [*statements[1:], None], strict=False):
            if not isinstance(node, ast.Assign):
                continue
            targets, values = node.targets, [node.value]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                targets, values = node.targets[0].elts, node.value.elts
            for target, value in zip(targets, values, strict=False):
                if not _names(target, name):
                    continue
                texts = _texts(value, scopes, seen)
                if isinstance(following, ast.AugAssign) and _names(following.target, name):
                    ends = _texts(following.value, scopes, seen)
                    texts = [a + b for a in texts for b in ends]
                yield from texts


def _blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements of a function or module, without those of functions in it."""
    left = [scope]
    while left:
        node = left.pop()
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value
        inner = ast.iter_child_nodes(node)
        left += [one for one in inner if not isinstance(one, (ast.FunctionDef, ast.Lambda))]


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


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
    parameters |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
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
        whole = len(one.call.args) == 4 or (len(one.call.args) > 1 and one.call.keywords)
        assert whole, f"{one}: a name, what must hold, what was given, a hint or a value to try"
        for name in one.part(0):
            assert 0 < len(name) <= 40, one
            assert " must" not in name, one
            if name.isidentifier() and one.call.func.id != "MissingExtraError":
                assert name in library.parameters | THINGS, one
        for must in one.part(1):
            assert VERBS.match(must) or " must " in must or must.endswith("."), one
            assert not (VERBS.match(must) and must.endswith(".")), one
        for hint in one.part(3):
            assert re.match(r"[A-Z·]", hint) or hint.startswith("guess(query)"), one
            assert hint.endswith((".", "?", "·")), one


@pytest.mark.parametrize("package", PACKAGES)
def test_an_error_is_in_plain_english(package, library):
    for one in library.of(package):
        for text in one.part(1) + one.part(3):
            assert not MANNERED.search(text), one
        assert not VACUOUS & set(one.part(2)), one


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_typed_stands_in_a_sentence(package, library):
    """A value to try is named by the hint, and no parameter is spelled by hand."""
    for one in library.of(package):
        texts = one.part(1) + one.part(3)
        named = {name for text in texts for name in re.findall(r"\{([\w·]+)\}", text)}
        assert named <= library.parameters | {"·"}, one
        for keyword in one.call.keywords:
            if keyword.arg is not None:
                assert keyword.arg in named or not one.part(3), one
            elif isinstance(keyword.value, ast.Dict):
                assert any("·" in text for text in one.part(3)), one
        for text in texts:
            if not text.startswith("Budget exceeded"):  # it quotes what was requested
                assert not re.search(r"[\w·]=(?!=)", _outside(text)), one


def _outside(text: str) -> str:
    """Return a text without its placeholders and whatever stands in brackets."""
    text = re.sub(r"\{[\w·]+\}", "", text)
    inner = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text)
    return text if inner == text else _outside(inner)


# ---- the class and the sentence that a Python user expects


def plotted_without_matplotlib():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        sourdine.mean([1], bounds=(0, 1), epsilon=1).plot()


def session_spent():
    sourdine.Session([1], epsilon=1).count(epsilon=2)


@pytest.mark.parametrize(
    ("call", "kind", "base", "text"),
    [
        (
            lambda: sourdine.mean("nofile.csv", bounds=(0, 1), epsilon=1),
            MissingFileError,
            FileNotFoundError,
            "No such file: 'nofile.csv'. Check the path; the current folder is ",
        ),
        (
            lambda: sourdine.mean([1], bounds=(0, 1), eps=1),
            ParameterTypeError,
            TypeError,
            "mean() got an unexpected keyword argument 'eps'. Did you mean 'epsilon'?",
        ),
        (
            lambda: sourdine.mean([1], bound=(0, 1), epsilon=1),
            ParameterTypeError,
            TypeError,
            "mean() got an unexpected keyword argument 'bound'. Did you mean 'bounds'?",
        ),
        (
            lambda: sourdine.mean([1], bounds=(0, 1), wobble=1, epsilon=1),
            ParameterTypeError,
            TypeError,
            "mean() got an unexpected keyword argument 'wobble'. Known names: 'bounds', 'by', ",
        ),
        (
            lambda: sourdine.mean([1], epsilon=1),
            ParameterTypeError,
            TypeError,
            "mean() missing a required argument: 'bounds'. ",
        ),
        (
            lambda: sourdine.mean([1], bounds=(0, 1)),
            ParameterTypeError,
            TypeError,
            "mean() missing a required argument: 'epsilon' or 'error'. Use epsilon=1, or ",
        ),
        (
            lambda: sourdine.mean([1], (0, 1), epsilon=1),
            ParameterTypeError,
            TypeError,
            "mean() got an unexpected positional argument: a value of type tuple. Use bounds",
        ),
        (
            lambda: sourdine.Session([1]),
            ParameterTypeError,
            TypeError,
            "Session() missing a required argument: 'epsilon'. ",
        ),
        (
            session_spent,
            BudgetExceededError,
            SourdineError,
            "Budget exceeded: requested epsilon=2, 1 of 1 remaining. Use epsilon=1 or less.",
        ),
        (
            lambda: sourdine.mode(["a"], categories=["a", "b"], epsilon=1).interval(),
            ParameterTypeError,
            TypeError,
            "interval() is not available for a mode. Use release.mechanism.error(0.05).",
        ),
        (
            plotted_without_matplotlib,
            MissingExtraError,
            ImportError,
            "This needs the 'plot' extra. In the checkout, run pip install '.[plot]'.",
        ),
        (
            lambda: sourdine.mean([1], bounds=(10, 0), epsilon=1),
            ParameterError,
            ValueError,
            "bounds: lower must be below upper, got (10, 0). Use the lower bound first, such as ",
        ),
        (
            lambda: sourdine.mean([1], bounds=(0, 1), epsilon=0),
            ParameterError,
            ValueError,
            "epsilon must be above 0, got 0. Use ",
        ),
    ],
)
def test_the_class_and_the_sentence(call, kind, base, text):
    with pytest.raises(base) as caught:
        call()
    assert type(caught.value) is kind
    assert isinstance(caught.value, SourdineError)
    assert str(caught.value).startswith(text)


def test_a_file_is_not_overwritten(tmp_path):
    table, clean = tmp_path / "table.csv", tmp_path / "clean.csv"
    table.write_text("smokes\nyes\n", "utf-8")
    clean.write_text("", "utf-8")
    schema = sourdine.local.Schema(smokes=sourdine.local.Flag(), epsilon=1, missing="random")
    with pytest.raises(FileExistsError) as caught:
        schema.sanitize(table, to=clean)
    assert isinstance(caught.value, SourdineError)
    assert str(caught.value).startswith(f"File already exists: {str(clean)!r}. ")
    assert caught.value.filename == str(clean)


@pytest.mark.parametrize(
    ("kind", "number"), [(MissingFileError, errno.ENOENT), (ExistingFileError, errno.EEXIST)]
)
def test_a_file_error_is_that_of_the_system(kind, number):
    error = pickle.loads(pickle.dumps(kind("path", "exist", "a.csv", "Check it.")))  # noqa: S301
    assert (error.errno, error.strerror, error.filename) == (number, os.strerror(number), "a.csv")
    assert error.renamed(path="schema").filename == "a.csv"


@pytest.mark.parametrize(
    ("must", "got", "text"),
    [
        ("be above 0", "-1", "x must be above 0, got -1. Do so."),
        ("be above 0", "", "x must be above 0. Do so."),
        ("lower must be below upper", "(1, 0)", "x: lower must be below upper, got (1, 0). Do so."),
        ("lower must be below upper", "", "x: lower must be below upper. Do so."),
        ("x is not available.", "3", "x is not available. Do so."),
    ],
)
def test_a_requirement_is_a_phrase_a_clause_or_a_sentence(must, got, text):
    assert str(ParameterError("x", must, got, "Do so.")) == text


def test_names_that_resemble_another():
    assert close_matches(" AGE", ["age", "wage", "sex"]) == ["age", "wage"]
    assert close_matches("height", ["age", "sex"]) == []
    assert did_you_mean("Steps", ["step", "bounds"]) == "Did you mean 'step'?"
    assert did_you_mean("size", ["step", "bounds"]) == "Known names: 'bounds', 'step'."


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
        "Use {bounds}, and leave {unit} out.",
        bounds=(0, 120),
        unit=LEFT_OUT,
    )


def test_each_face_says_an_error_in_its_own_words():
    error = example()
    python = "bounds must be two numbers with step=, got None. Use bounds=(0, 120), and leave unit"
    shell = "--bounds must be two numbers with --step, got None. Use --bounds 0 120, and leave --un"
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
    assert str(ParameterError("x", "be", "y", "Use {x}.", x=value)).endswith(f"Use x={typed}.")
    assert ast.literal_eval(typed) == value


@pytest.mark.parametrize("kind", KINDS)
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
        "hint": "Use {bounds}, and leave {unit} out.",
        "tries": {"bounds": [0, 120], "unit": None},
        "text": str(example()),
    }
