"""``import sourdine`` is quick because it loads none of the large libraries."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sourdine as sd

LATE = ("scipy", "duckdb", "narwhals", "matplotlib", "typer", "rich", "pandas", "pywt", "jinja2")


def _loaded(code):
    script = f"import sys; {code}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())  # noqa: S603


def test_import_loads_no_late_library():
    assert not _loaded("import sourdine") & {"attr", "attrs", "numpy", *LATE}


@pytest.mark.slow
def test_mechanisms_release_without_late_libraries():
    release = "from sourdine.mechanisms import Laplace; Laplace(epsilon=1).release(3)"
    assert not _loaded(release) & set(LATE)


@pytest.mark.slow
def test_the_command_line_starts_without_what_most_commands_do_not_use():
    unused = {"sourdine.adaptive", "sourdine.local", "sourdine.server", "sourdine_lab.runner"}
    script = f"import sourdine.cli.app, sys; print(*{unused} & set(sys.modules))"
    assert not subprocess.check_output([sys.executable, "-c", script], text=True).split()  # noqa: S603


def test_rooms_are_reached_from_the_package():
    assert sd.mechanisms.Laplace(epsilon=1).release(5).cost == sd.Guarantee(1)
    assert set(sd.__all__) <= set(dir(sd))
    assert all(hasattr(sd, name) for name in sd.__all__)
