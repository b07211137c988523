"""One word for one thing: the tables of CONTRIBUTING hold in every public signature."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

import sourdine
from sourdine.cli.app import app
from sourdine.parameters.question import QuestionMethod
from sourdine.privacy import ADD_REMOVE, SUBSTITUTE

CONTRIBUTING = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")

KINDS = {
    "anything": None,
    "number": {"Number", "Numeric", "Fraction", "float", "int", "None", "object"},
    "number or text": {"Number", "Numeric", "Fraction", "str", "None", "object"},
    "number or duration": {
        *("Number", "Numeric", "Fraction", "float", "int", "str", "None", "object"),
        *("Duration", "dt.timedelta"),
    },
    "numbers": {
        *("Number", "Sequence[Number]", "Iterable[Number]", "Sequence[Numeric]"),
        *("ArrayLike", "tuple[float, ...]", "None"),
    },
    "relation": {"Relation", "str", "None", "object"},
    "text": {"str", "None"},
    "texts": {"str", "Sequence[str]", "tuple[str, ...]", "None"},
    "whole number": {"int", "None", "object"},
    "true or false": {"bool"},
    "word": {"str", "None", "Method", "Calibration"},
}
"""The parts of annotations that are of each kind; a reader of parameters takes any object."""

DEFAULTS = {
    "confidence": {Fraction("0.95"), None},
    "beta": {Fraction("0.05")},
    "relation": {ADD_REMOVE, "add_remove", None},
    "rows": {1, None},
}


@dataclass(frozen=True)
class Word:
    name: str
    kind: str
    never: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A parameter, and the address of what takes it."""

    where: str
    made: bool
    parameter: inspect.Parameter

    @property
    def name(self):
        return self.parameter.name

    def __str__(self):
        return f"{self.where}({self.parameter})"


def table(heads):
    """Yield the cells of the table under these heads."""
    lines = CONTRIBUTING.split(f"| {' | '.join(heads)} |\n", 1)[1].splitlines()[1:]
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def quoted(cell):
    return tuple(re.findall(r"`([\w.]+)`", cell))


WORDS = [
    Word(*quoted(word), kind, quoted(never))
    for word, _, kind, never in table(["word", "what it says", "kind", "never"])
]
EXCEPTIONS = [
    (f"sourdine.{quoted(where)[0]}", *quoted(name))
    for where, name, _ in table(["where", "name", "why"])
]


def is_excepted(place):
    return any(
        place.name == name and f"{place.where}.".startswith(f"{where}.")
        for where, name in EXCEPTIONS
    )


def packages():
    """Yield every package of the library, and every module at its top."""
    yield sourdine
    for found in walk_packages(sourdine.__path__, "sourdine."):
        if found.ispkg or found.name.count(".") == 1:
            yield import_module(found.name)


def callables(package):
    """Yield the address of everything public in a package that can be called, and what it is."""
    for name in getattr(package, "__all__", ()):
        thing, where = getattr(package, name), f"{package.__name__}.{name}"
        if isinstance(thing, ModuleType) or not callable(thing):
            continue
        yield where, inspect.isclass(thing), thing
        if inspect.isclass(thing):
            for own in filter(lambda own: not own.startswith("_"), dir(thing)):
                method, raw = getattr(thing, own, None), inspect.getattr_static(thing, own)
                ours = str(getattr(method, "__module__", "")).startswith("sourdine")
                if isinstance(raw, QuestionMethod) or (ours and inspect.isroutine(method)):
                    yield f"{where}.{own}", False, method


def places(things):
    for where, made, thing in things:
        if getattr(thing, "_is_protocol", False):
            continue
        try:
            parameters = inspect.signature(thing).parameters.values()
        except ValueError:  # an enumeration, or a class of C
            continue
        yield from (Place(where, made, p) for p in parameters if p.name not in {"self", "cls"})


def kind_of(annotation):
    """Return the parts of an annotation, as it is written."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return {part for part in text.split(" | ") if not part.startswith("Literal[")}


def faults(found):
    """Yield what a parameter does against the tables."""
    words = {word.name: word for word in WORDS}
    instead = {name: word.name for word in WORDS for name in word.never}
    for place in found:
        p, excepted = place.parameter, is_excepted(place)
        if place.name in instead and not excepted:
            yield f"{place}: say {instead[place.name]}"
        if place.name in words and not excepted:
            allowed = KINDS[words[place.name].kind]
            if allowed is not None and not kind_of(p.annotation) <= allowed:
                yield f"{place}: {place.name} is a {words[place.name].kind}"
            if p.default is not p.empty and not is_usual(place.name, p.default):
                yield f"{place}: another default"
        if place.name == "beta" and place.made:
            yield f"{place}: say confidence where something is made"
        if p.kind is p.VAR_KEYWORD and not is_typed(place):
            yield f"{place}: name the parameters, or give them a type"


def is_usual(name, default):
    exact = Fraction(str(default)) if isinstance(default, (float, Fraction)) else default
    return name not in DEFAULTS or exact in DEFAULTS[name]


def is_typed(place):
    """Pictures alone hand on what they are given: each kind of answer has options of its own."""
    return place.parameter.annotation not in {"Any", Any, place.parameter.empty} or (
        place.where.endswith(".plot") and place.name == "options"
    )


PACKAGES = list(packages())
EVERYTHING = [place for package in PACKAGES for place in places(callables(package))]


def test_every_public_signature_keeps_to_the_words():
    assert list(faults(EVERYTHING)) == []


def test_every_option_of_the_command_line_keeps_to_the_words():
    def options(command, path):
        for name, sub in getattr(command, "commands", {}).items():
            if path or name != "lab":
                yield from options(sub, f"{path} {name}")
        yield from ((path, p.name) for p in command.params)

    never = {name for word in WORDS for name in word.never}
    typed = list(options(get_command(app), ""))
    assert {"confidence", "error", "method", "by", "rows", "q"} <= {name for _, name in typed}
    assert [(path, name) for path, name in typed if name in never] == []


def test_what_remains_is_never_a_method():
    for package in PACKAGES:
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if inspect.isclass(thing) and hasattr(thing, "remaining"):
                assert not inspect.isroutine(inspect.getattr_static(thing, "remaining")), name


def test_the_tables_are_about_what_is_there():
    """Signatures are found in every package, and no word, exception or reason is out of use."""
    names = {place.name for place in EVERYTHING}
    assert len(EVERYTHING) > 1500
    assert {word.name for word in WORDS} <= names
    assert len({name for word in WORDS for name in (word.name, *word.never)}) == sum(
        1 + len(word.never) for word in WORDS
    )
    for where, name in EXCEPTIONS:
        assert any(
            place.name == name and f"{place.where}.".startswith(f"{where}.") for place in EVERYTHING
        ), (where, name)
    assert BERNOULLI.default is SUBSTITUTE


BERNOULLI = inspect.signature(sourdine.central.BernoulliMean).parameters["relation"]


def level(x, level: float):
    """Take a word that is not in the table."""


def grouped(x, by: int):
    """Take a word for another thing."""


def risky(x, confidence: Number = 0.9):  # noqa: F821
    """Take another default."""


def replaced(x, relation: Relation | str = "substitute"):  # noqa: F821
    """Take another relation."""


def anything(x, **options: Any):
    """Take whatever is given."""


class Risk:
    def __init__(self, beta: Number = 0.05):  # noqa: F821
        pass


@pytest.mark.parametrize("wrong", [level, grouped, risky, replaced, anything, Risk])
def test_a_signature_that_does_not_keep_to_them_is_found(wrong):
    package = SimpleNamespace(__name__="sourdine.package", __all__=["wrong"], wrong=wrong)
    assert len(list(faults(places(callables(package))))) == 1
