from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser

import pytest

from sourdine_lab import look
from sourdine_lab import page as module
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiment import Experiment
from sourdine_lab.page import DOCUMENTS, ShownFigure, document, page
from sourdine_lab.settings import Setting, number
from sourdine_lab.table import Table

EPSILON = Setting("epsilon", 1, number(above=0), "a < b & loss")


def draw(table, settings):
    assert settings["epsilon"]
    figure, (axes,) = look.panels(1)
    look.band(axes, table["n"], table["n"], method="today")
    look.name_lines(axes)
    return figure


def experiment(name="canesse-2", **more):
    given = {"title": "Errors & <n>", "question": "Is a < b?", "stated": "a < b & c"}
    given |= {"ids": ("C6", "A3"), "settings": (EPSILON,), **more}
    return Experiment(name=name, parts=lambda _: [], compute=lambda _: [], draw=draw, **given)


def shown(*args, epsilon=1, **more):
    one = experiment(*args, **more)
    settings = {"epsilon": epsilon}
    return ShownFigure(one, one.figure(Table([{"n": 1}, {"n": 2}]), settings), settings)


def check(form):
    return Finding(form, 1.0, 0.1, "1 < 2 & 3")


def judged(row="C6"):
    claim = Claim(
        id=row, statement="<b>bold</b>", printed=False, instead=True, check=check,
        other=Instead.CORRECTION,
    )  # fmt: skip
    return claim.judge()


class Reader(HTMLParser):
    """Reads ids and addresses, and whether all that is opened is closed."""

    void = frozenset({"meta", "img", "br", "link", "input", "hr"})

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.sources, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.sources += [given["src"]] if "src" in given else []
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    figures = [shown(), shown("today-mean", stand_in="drawn <numbers>")]
    return page(figures, [judged(), judged("A3")], quick=True, seed=7)


def test_the_page_is_whole_and_needs_no_network(text):
    read = Reader(text)
    assert read.open == []
    assert len(read.sources) == 2
    assert all(source.startswith("data:image/svg+xml;base64,") for source in read.sources)
    assert not re.search(r"(src|href)=\"(https?:)?//|@import|url\(", text)


def test_every_link_leads_somewhere(text):
    read = Reader(text)
    assert len(read.ids) == len(set(read.ids))
    inner = {link[1:] for link in read.links if link.startswith("#")}
    assert inner <= set(read.ids)
    assert {"canesse-2", "today-mean", "claims", "claim-C6", "claim-A3"} <= set(read.ids)
    assert set(read.links) - {f"#{i}" for i in read.ids} == {
        "numbers/canesse-2.csv", "numbers/today-mean.csv"
    }  # fmt: skip


def test_what_people_wrote_is_escaped(text):
    for written in (
        "Errors &amp; &lt;n&gt;",
        "Is a &lt; b?",
        "a &lt; b &amp; c.",
        "1 &lt; 2",
        "a &lt; b &amp; loss",
    ):
        assert written in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>bold" not in text


def test_the_page_tells_its_run_and_counts_verdicts(text):
    assert "quick run, seed 7" in text
    assert "2 corrected" in text
    assert text.count('class="corrected"') == 2
    assert "test_page.py:" in text
    assert "def check(form):" in text


def test_documents_come_in_their_order(text):
    assert text.index('<h2 id="canesse"') < text.index('<h2 id="today"')
    assert '<h2 id="audibert"' not in text
    assert [document(experiment(f"{key}-1")) for key in DOCUMENTS] == list(DOCUMENTS)


def test_a_large_drawing_becomes_an_image_of_points(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 100)
    kind, code = re.search(r"data:image/([a-z+]*);base64,([^\"]*)", shown().picture()).groups()
    assert kind == "png"
    assert b64decode(code).startswith(b"\x89PNG")


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    shown().save(tmp_path)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    shown().save(tmp_path)
    assert first == {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert sorted(first) == ["canesse-2.png", "canesse-2.svg"]


def test_the_stand_in_is_named_on_the_figure():
    drawing = shown(stand_in="drawn numbers").drawn("svg").decode()
    assert "Stand-in for the data: drawn numbers" in re.sub(r"<!--|-->", "", drawing)
    assert "Stand-in" not in shown().drawn("svg").decode()


def test_other_settings_are_named_on_the_figure_and_on_the_page():
    other = shown(epsilon=0.1)
    drawing = re.sub(r"<!--|-->", "", other.drawn("svg").decode())
    assert "Other settings than the document's: epsilon=0.1" in drawing
    text = page([other], [], quick=False, seed=1)
    assert "epsilon=0.1 (the document: 1)" in text
    assert "Not the document's settings" in text
    assert "Not the document's settings" not in page([shown()], [], quick=False, seed=1)


def test_an_empty_page_is_a_page():
    text = page([], [], quick=False, seed=1)
    assert Reader(text).open == []
    assert "full run, seed 1" in text
    assert "(0 claims)" in text


def test_a_page_without_claims_has_no_empty_table_and_no_dead_links():
    text = page([shown("canesse-2")], [], quick=True, seed=7)
    assert "<table" not in text
    assert "#claim" not in text
