"""Every example in a docstring does what it shows."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import sourdine_lab

MODULES = sorted(m.name for m in walk_packages(sourdine_lab.__path__, "sourdine_lab."))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(import_module(name)).failed == 0
