from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine_lab import look


@given(st.lists(st.floats(-500, 500), max_size=12))
def test_no_two_names_are_closer_than_apart(heights):
    places = look._apart(heights)
    gaps = np.diff(np.sort(places))
    assert np.all(gaps >= look.APART - 1e-9)
    assert np.argsort(places, kind="stable").tolist() == np.argsort(heights, kind="stable").tolist()


@given(st.lists(st.floats(-500, 500), min_size=1, max_size=12))
def test_names_stay_about_their_lines(heights):
    assert np.isclose(np.mean(look._apart(heights)), np.mean(heights))


@given(st.integers(1, 8), st.floats(-100, 100))
def test_names_that_are_apart_stay_where_they_are(count, start):
    heights = [start + 1.01 * look.APART * i for i in range(count)]
    assert np.allclose(look._apart(heights), heights)


def heights_of_names(axes):
    axes.figure.canvas.draw()
    dots = 72 / axes.figure.dpi
    return [(t.get_text(), t.get_window_extent().y0 * dots) for t in axes.texts if t.get_text()]


@pytest.mark.parametrize("scale", ["", "xy"])
def test_every_line_is_named_at_its_end_and_no_names_touch(scale):
    figure, (axes,) = look.panels(1)
    x = np.array([1.0, 10.0, 100.0])
    for method, slope in (("laplace", 1.0), ("gaussian", 1.001), ("qexp", 1.002), ("today", 3)):
        look.band(axes, x, slope * x, 0.1 * x, method=method)
    look.stated(axes, x, x, "stated")
    axes.plot(x, 2 * x, label="_hidden")
    look.logarithmic(axes, scale)
    look.name_lines(axes)
    named = heights_of_names(axes)
    assert sorted(n for n, _ in named) == ["gaussian", "laplace", "qexp", "stated", "today"]
    assert np.diff(sorted(h for _, h in named)).min() >= look.APART - 0.5
    assert figure is axes.figure


def test_names_that_are_moved_far_are_led_back_to_their_lines():
    _, (axes,) = look.panels(1)
    for method in ("laplace", "gaussian", "qexp"):
        look.band(axes, [0, 1], [0, 1], method=method)
    look.band(axes, [0, 1], [0, 3], method="today")
    look.name_lines(axes)
    leads = [t for t in axes.texts if not t.get_text()]
    assert len(leads) == 2  # the middle one of three stays, and so does the one above
    assert {t.xy for t in leads} == {(1.0, 1.0)}


def test_what_is_said_without_a_place_is_marked_on_the_axis_alone():
    _, (axes,) = look.panels(1)
    look.band(axes, [1, 100], [1, 100], method="today")
    look.said(axes, 50, "stated")
    mark = axes.get_lines()[-1]
    assert list(mark.get_ydata()) == [50, 50]
    assert max(mark.get_xdata()) < 0.05  # a share of the axis, not a range of values
    look.name_lines(axes)
    assert [t.get_text() for t in axes.texts] == ["stated", "today"]


def test_a_band_is_two_standard_errors_wide():
    _, (axes,) = look.panels(1)
    look.band(axes, [0, 1], [5, 5], [1, 2], method="today", label="a")
    (drawn,) = axes.collections
    heights = drawn.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (1, 9)
    assert axes.get_lines()[0].get_label() == "a"


def test_no_uncertainty_no_band():
    _, (axes,) = look.panels(1)
    look.band(axes, [0, 1], [5, 5], method="today", dashed=True)
    assert not axes.collections
    assert axes.get_lines()[0].get_linestyle() == "--"


def test_a_method_has_one_colour_and_an_unknown_one_none():
    assert look.colour("today") == look.COLOURS["today"]
    with pytest.raises(KeyError):
        look.colour("no such method")


def test_colours_are_those_of_the_palette():
    palette = {
        look.BLACK, look.ORANGE, look.SKY, look.GREEN, look.YELLOW, look.BLUE, look.RED,
        look.PINK, look.SLATE,
    }  # fmt: skip
    assert set(look.COLOURS.values()) <= palette
    assert all(re.fullmatch("#[0-9a-f]{6}", c) for c in palette)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (0.5, "0.5"), (0.001, "0.001"), (20_000, "20,000"), (1e6, "$10^{6}$"),
     (1e-5, "$10^{-5}$"), (2e7, "2e+07")],
)  # fmt: skip
def test_numbers_on_an_axis_are_plain(value, text):
    assert look._plain(value) == text


def test_panels_fill_their_rows():
    assert len(look.panels(6, rows=2)[1]) == 6
    with pytest.raises(ParameterError, match="Give rows=1"):
        look.panels(5, rows=2)


def test_titles_have_units_and_notes_their_side():
    _, (axes,) = look.panels(1)
    look.titled(axes, "a title", x="records", y="dollars")
    look.note(axes, "left", 0.1)
    look.note(axes, "right", 0.9)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("records", "dollars")
    assert [t.get_ha() for t in axes.texts] == ["left", "right"]
