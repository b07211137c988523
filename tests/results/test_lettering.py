"""Names in pictures: letters that no font has, long labels, and numbers that lie close together."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

import sourdine as sd

pytest.importorskip("matplotlib")

from sourdine.results import figures
from sourdine.results.figures import FOLD, drawable, families, folded


def ticks(figure, axis="xaxis"):
    figure.savefig(BytesIO(), format="png")
    return [label.get_text() for label in getattr(figure.axes[0], axis).get_ticklabels()]


@pytest.mark.slow
def test_letters_that_no_font_has_are_drawn_as_their_codes(monkeypatch, tmp_path):
    """Warnings are errors here, and matplotlib warns of a letter that it cannot draw."""
    monkeypatch.setattr(figures, "FALLBACKS", ())
    cities = ["東京", "大阪", "Köln"]
    release = sd.histogram(cities * 30, categories=cities, epsilon=1)
    figure = release.plot(path=str(tmp_path / "x.png"))
    assert ticks(figure) == [r"\u6771\u4eac", r"\u5927\u962a", "Köln"]


def test_a_font_that_is_there_is_used(monkeypatch):
    cyrillic = "\N{CYRILLIC CAPITAL LETTER A}"
    usual = {"Latin": frozenset(map(ord, "abc")), "Other": frozenset(map(ord, cyrillic))}
    monkeypatch.setattr(figures, "_fonts", lambda: usual)
    assert families("abc") == []
    assert families(f"a{cyrillic}") == ["Latin", "Other"]
    assert drawable(f"a{cyrillic}\N{EURO SIGN}") == f"a{cyrillic}\\u20ac"


@pytest.mark.slow
def test_long_names_are_folded_not_run_together():
    names = ["Strongly disagree with this statement", "Strongly agree with this statement", "Other"]
    shown = ticks(sd.histogram(names * 30, categories=names, epsilon=1).plot())
    assert shown == ["Strongly disagree with this\nstatement", *map(folded, names[1:])]
    assert all(len(line) <= FOLD for text in shown for line in text.split("\n"))
    assert folded("word " * 60).endswith("…")


@pytest.mark.slow
def test_many_long_names_take_one_line_each():
    names = [f"{i} is the number of this category" for i in range(20)]
    shown = ticks(sd.histogram(names, categories=names, epsilon=1).plot())
    assert not any("\n" in text for text in shown)


def test_numbers_side_by_side_differ_on_an_axis():
    x = np.full(50_000, 1.2e9)
    shown = ticks(sd.mean(x, bounds=(1.2e9 - 2, 1.2e9 + 2), epsilon=1).plot())
    assert len(set(shown)) == len(shown)
    assert len(shown) <= 5


@pytest.mark.slow
def test_a_long_line_above_a_picture_is_broken():
    figure, axes = figures.canvas()
    figures.headed(axes, "Title", "so many words of cost " * 9)
    figure.savefig(BytesIO(), format="png")
    wide = figure.canvas.get_width_height()[0]
    (said,) = axes.texts
    assert said.get_window_extent().x1 < wide
    assert axes.get_window_extent().width > 0.8 * wide
