"""One name, one class: no two public classes of the library share a name."""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module
from inspect import isclass
from pkgutil import walk_packages

import pytest

import sourdine


def public_classes():
    for found in walk_packages(sourdine.__path__, "sourdine."):
        module = import_module(found.name)
        for name, thing in vars(module).items():
            if isclass(thing) and thing.__module__ == module.__name__ and not name.startswith("_"):
                yield thing


def shared(classes):
    places = defaultdict(set)
    for one in classes:
        places[one.__name__].add(one.__module__)
    return {name: sorted(modules) for name, modules in places.items() if len(modules) > 1}


@pytest.mark.slow
def test_no_two_public_classes_share_a_name():
    classes = list(public_classes())
    assert len(classes) > 200
    assert not shared(classes)


def test_a_shared_name_is_found():
    namesake = type("Laplace", (), {"__module__": "sourdine.elsewhere"})
    assert shared([*public_classes(), namesake])["Laplace"] == [
        "sourdine.elsewhere",
        "sourdine.mechanisms.laplace",
    ]
