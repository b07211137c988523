"""Sourdine is on no package index: whatever says how to install it names a checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SELF = Path(__file__).relative_to(ROOT)
ENDS = {".py", ".md", ".toml", ".mjs", ".js", ".html", ".txt", ".sh", ".ipynb", ".service", ""}
INSTALL = r"\b(?:pip3?|pipx|uv|conda|mamba)\s+(?:pip\s+|tool\s+)?(?:install|add)"
BY_NAME = re.compile(rf"{INSTALL}(?:\s+(?:-\S+|\S+\.txt))*\s+[`'\"]*sourdine", re.IGNORECASE)
EXTRAS = re.compile(rf"{INSTALL}[^`\n]*?\.\[([\w,]+)\]")


def documents():
    """Return the text files of the repository, and what each holds on one line."""
    left_out = {"_build", "dist", "build", "__pycache__", "node_modules"}
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        hidden = any(part in left_out or part.startswith(".") for part in inside.parts)
        if hidden or inside == SELF or path.suffix not in ENDS or not path.is_file():
            continue
        joined = re.sub(r"[\"']\s*\n\s*f?[\"']", "", path.read_text("utf-8", "replace"))
        yield inside, re.sub(r"\s+", " ", joined)


@pytest.mark.slow
def test_nothing_is_installed_by_its_name_from_an_index():
    found = [f"{name}: {hit[0]}" for name, text in documents() for hit in BY_NAME.finditer(text)]
    assert not found


@pytest.mark.slow
def test_every_extra_that_is_named_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {
        (extra, str(name))
        for name, text in documents()
        for hit in EXTRAS.finditer(text)
        for extra in hit[1].split(",")
    }
    assert len({extra for extra, _ in named}) > 8
    known = set(project["optional-dependencies"])
    assert not {(extra, name) for extra, name in named if extra not in known}


@pytest.mark.parametrize(
    "line",
    [
        "pip install sourdine-lab",
        "pip install 'sourdine[server]'",
        'bin/pip install --upgrade -c constraints.txt "sourdine[plot]"',
        "uv pip install sourdine",
        "conda install sourdine",
    ],
)
def test_the_search_finds_its_like(line):
    assert BY_NAME.search(line)


@pytest.mark.parametrize("line", ["pip install '.[server]'; sourdine serve", "pip install . ./lab"])
def test_the_search_leaves_checkouts_alone(line):
    assert not BY_NAME.search(line)


@pytest.mark.slow
def test_the_demo_needs_no_more_than_it_installs(tmp_path):
    """It installs neither the tools of developers nor the packages that it does not import."""
    words = ["make", "--dry-run", "--what-if=pyproject.toml", "demo"]
    shown = subprocess.run(  # noqa: S603 - make, which prints what it would do
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    (installed,) = re.findall(r"pip .*install .*? constraints.txt (.*)", shown)
    assert "PYTHONPATH=src .venv-demo/bin/python -m sourdine demo" in shown
    wanted = {word for word in installed.split() if not word.startswith("-")}
    known = {
        re.match(r"[\w-]+", each)[0].lower().replace("pyyaml", "yaml").replace("-", "_")
        for each in re.findall(r'"([A-Za-z][\w-]*)[>=\[<]', (ROOT / "pyproject.toml").read_text())
    }
    assert wanted < known
    others = sorted(known - {name.lower() for name in wanted})
    code = (
        "import sys\n"
        f"for name in {others!r}: sys.modules[name] = None\n"
        "from sourdine.cli import main\n"
        f"sys.argv = ['sourdine', 'demo', '--out', {str(tmp_path)!r}]\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("*.png"))
