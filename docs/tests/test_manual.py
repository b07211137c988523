"""The manual is built without a warning, holds every public name, and needs no network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from html import unescape
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from typer.main import get_command

import sourdine
import sourdine_lab
from sourdine.cli.app import app
from sourdine_lab.registry import all_experiments

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = re.compile(
    r"<(?:script|img|iframe|video|audio|source|embed)\b[^>]*\bsrc=[\"']?(?P<src>[^\"'\s>]+)"
    r"|<link\b(?![^>]*\brel=[\"']?(?:index|search|next|prev))[^>]*\bhref=[\"']?(?P<href>[^\"'\s>]+)"
    r"|url\([\"']?(?P<url>[^\"')]+)|@import\s+[\"'](?P<sheet>[^\"']+)"
)
"""What a browser loads by itself when it shows a page."""


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    """The built pages, built by the command of ``make docs``.

    Built once: ``make test-docs`` gives all tests of a file to one worker.
    """
    out = tmp_path_factory.mktemp("manual")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(  # noqa: S603 - Sphinx on our own pages
        [*build, "-d", str(out / "trees"), str(DOCS), str(out / "html")],
        capture_output=True, text=True, check=False, timeout=1200,
    )  # fmt: skip
    pages = {p: p.read_text("utf-8") for p in (out / "html").rglob("*.html")}
    return SimpleNamespace(folder=out / "html", pages=pages, done=done)


def public_names():
    yield from (f"sourdine.{name}" for name in sourdine.__all__)
    for package in (sourdine, sourdine_lab):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if found.ispkg:
                names = getattr(import_module(found.name), "__all__", ())
                yield from (f"{found.name}.{name}" for name in names)


def inventory(file):
    _, _, _, _, body = file.read_bytes().split(b"\n", 4)
    lines = zlib.decompress(body).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


def loaded(text):
    return [next(filter(None, m.groups())) for m in LOADED.finditer(text)]


def abroad(target):
    return re.match(r"(?:\w+:)?//|https?:", target) is not None


def links(text):
    found = re.findall(r"<a\b[^>]*?\bhref=\"([^\"]*)\"", text)
    return {unescape(target) for target in found if not re.match(r"\w+:|//", target)}


def broken_links(pages):
    ids = {p: set(map(unescape, re.findall(r"\sid=\"([^\"]*)\"", t))) for p, t in pages.items()}
    for page, text in pages.items():
        for target in links(text):
            path, _, anchor = target.partition("#")
            file = (page.parent / unquote(path)).resolve() if path else page
            if not file.is_file() or (anchor and unquote(anchor) not in ids.get(file, ())):
                yield page.name, target


def commands(command, path):
    yield path, command
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{path} {name}")


def test_no_warnings(manual):
    assert manual.done.returncode == 0, manual.done.stderr


def test_every_public_name_is_there(manual):
    missing = set(public_names()) - inventory(manual.folder / "objects.inv")
    assert not missing, sorted(missing)


def test_pages_load_nothing_from_a_network(manual):
    pages = manual.pages | {p: p.read_text("utf-8") for p in manual.folder.rglob("*.css")}
    found = {(p.name, target) for p, text in pages.items() for target in loaded(text)}
    assert len(pages) > 100
    assert not [one for one in found if abroad(one[1])]


def test_what_pages_load_is_there(manual):
    for page, text in manual.pages.items():
        for target in loaded(text):
            if not target.startswith(("data:", "#")):
                assert (page.parent / re.split(r"[?#]", target)[0]).exists(), (page, target)


def test_links_lead_somewhere(manual):
    pages = {page.resolve(): text for page, text in manual.pages.items()}
    assert len(links(pages[manual.folder.resolve() / "genindex.html"])) > 1000
    assert not sorted(broken_links(pages))


def test_a_broken_link_would_be_seen(tmp_path):
    page = tmp_path.resolve() / "page.html"
    page.write_text('<a href="#here">', "utf-8")
    for text in ('<a href="#here">', '<a href="gone.html">', '<a class="x" href="page.html#here">'):
        assert list(broken_links({page: text}))
        assert not list(broken_links({page: f'{text.replace("gone", "page")}<p id="here">'}))


def test_links_to_code_show_it(manual):
    for text in manual.pages.values():
        assert not re.search(r"href=\"[^\"]*\.py\"", text)
    for source in (DOCS / "mathematics").glob("*.md"):
        text = (manual.folder / "mathematics" / f"{source.stem}.html").read_text("utf-8")
        for module in re.findall(r"\]\(../../src/([^)]*)\.py\)", source.read_text("utf-8")):
            assert f'href="../_modules/{module}.html"' in text


def test_every_option_is_described(manual):
    text = (manual.folder / "api" / "cli.html").read_text("utf-8")
    bare = unescape(re.sub(r"<[^>]*>", "", text))
    sections = dict(re.findall(r'(?s)<section id="(sourdine-[\w-]+)">(.*?)(?=<section|$)', text))
    assert "Its text might hold a value of the data" in bare
    for path, command in commands(get_command(app), "sourdine"):
        section = unescape(re.sub(r"<[^>]*>", "", sections.get(path.replace(" ", "-"), text)))
        assert path in section
        for option in command.params:
            assert all(name in section for name in option.opts if name.startswith("-")), path


def test_every_row_has_its_document(manual):
    for name in ("index", "claims"):
        text = (manual.folder / "lab" / f"{name}.html").read_text("utf-8")
        for words in ("Arbitrages statistiques", "Rapport de stage", "26 November 2023",
                      "Adaptation sur des espaces de Besov", "Aaron Roth"):  # fmt: skip
            assert words in text
        for letter in "calws":
            assert f'#rows-{letter}"' in text


def test_formulas_are_mathml(manual):
    text = (manual.folder / "api" / "mechanisms.html").read_text("utf-8")
    assert text.count("<math ") > 50
    assert (manual.folder / "_static" / "STIXTwoMath-Regular.ttf").exists()
    for page, html in manual.pages.items():
        prose = re.sub(r"<(pre|code|title)\b.*?</\1>", "", html, flags=re.DOTALL)
        assert not re.search(r"\\(?:frac|varepsilon|sum|ln|le)\b|:math:", prose), page


def test_every_page_can_be_reached(manual):
    front = (manual.folder / "index.html").read_text("utf-8")
    for section in ("start", "guides/quantiles", "how-private", "mathematics/index", "comparison",
                    "lab/index", "api/index"):  # fmt: skip
        assert f'href="{section}.html"' in front


def test_the_side_bar_is_short(manual):
    """Groups of pages are folded; every one of them is still there."""
    front = (manual.folder / "index.html").read_text("utf-8")
    side = front[front.index('class="sidebar-tree"') : front.index("</aside>")]
    assert 10 <= side.count('class="toctree-l1') <= 20
    for page in (*DOCS.glob("guides/*.md"), *DOCS.glob("tasks/*.md"), *DOCS.glob("mathematics/*")):
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        assert f'href="{name}"' in side, name


@pytest.mark.parametrize("word", ["excel", "conda", "window", "sas", "spss", "pypi", "epsilon"])
def test_a_search_finds(word, manual):
    """Sphinx looks for stems: that of Windows is window."""
    index = (manual.folder / "searchindex.js").read_text("utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    pages = set()
    for kind in ("terms", "titleterms"):
        hits = found[kind].get(word, [])
        pages |= {found["docnames"][i] for i in ([hits] if isinstance(hits, int) else hits)}
    assert "faq" in pages


def test_the_comparison_knows_what_there_is():
    """What the library has by now is not said to be missing."""
    rows = {
        cells[1].strip(): cells[2].strip()
        for line in (DOCS / "comparison.md").read_text("utf-8").splitlines()
        if (cells := line.split("|"))[1:]
    }
    there = {
        "privacy loss distributions": "sourdine.privacy.accounting",
        "local privacy: repeated collection": "sourdine.local.rounds",
        "clusters (Spark, Beam)": "sourdine.frames.spark",
        "budget kept in a file across processes": "sourdine.session",
    }
    for row, module in there.items():
        assert import_module(module)
        assert rows[row].startswith("yes"), row


def test_every_experiment_is_in_the_gallery(manual):
    front = (manual.folder / "lab" / "index.html").read_text("utf-8")
    for name in all_experiments():
        page = manual.folder / "lab" / f"{name.partition('-')[0]}.html"
        assert f'{page.name}#{name}"' in front
        assert f'id="{name}"' in page.read_text("utf-8")


@pytest.mark.skipif(not (DOCS / "lab" / "figures").exists(), reason="no figures were drawn yet")
def test_every_experiment_has_its_figure():
    there = {path.stem for path in (DOCS / "lab" / "figures").glob("*.png")}
    assert there == set(all_experiments())


@pytest.mark.skipif(not (DOCS / "lab" / "claims.json").exists(), reason="no claims were judged yet")
def test_every_claim_leads_to_its_code(manual):
    text = (manual.folder / "lab" / "claims.html").read_text("utf-8")
    for claim in json.loads((DOCS / "lab" / "claims.json").read_text("utf-8")):
        path, _, line = claim["where"].removeprefix("lab/src/sourdine_lab/").partition(":")
        target = f"code/{path.removesuffix('.py')}.html"
        assert f'id="claim-{claim["id"].lower()}"' in text
        assert f'href="{target}#line-{line}"' in text
        assert f'id="line-{line}"' in (manual.folder / "lab" / target).read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js">',
        "<link rel=stylesheet href=//fonts.example/a.css>",
        '<img alt="" src="http://example/a.png">',
        "@font-face{src:url('https://example/a.woff')}",
        '@import "https://example/a.css"',
    ],
)
def test_a_network_would_be_seen(text):
    assert [target for target in loaded(text) if abroad(target)]
