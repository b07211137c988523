from __future__ import annotations

import datetime as dt
import sys
from itertools import combinations

import numpy as np
import pytest

from sourdine import cdf, count, histogram, mean, quantiles
from sourdine.errors import MissingExtraError

TABLE = {"v": [1, 2, 3, 4] * 50, "g": ["a", "b"] * 100}
CASES = {
    "mean": (lambda: mean(TABLE["v"], bounds=(0, 5), epsilon=1), 2.5),
    "count": (lambda: count(TABLE["v"], epsilon=1), None),
    "groups": (
        lambda: mean(TABLE, column="v", bounds=(0, 5), by="g", keys=["a", "b"], epsilon=1),
        {"a": 2, "b": 3},
    ),
    "bins": (lambda: histogram(TABLE["v"], bins=5, bounds=(0, 5), epsilon=1), [0, 50, 50, 50, 50]),
    "categories": (
        lambda: histogram(TABLE, column="g", categories=["a", "b"], missing="count", epsilon=1),
        None,
    ),
    "unknown": (
        lambda: histogram(TABLE, column="g", categories="unknown", delta=0.01, epsilon=1),
        None,
    ),
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("make", "truth"), CASES.values(), ids=CASES)
def test_pictures_are_saved(make, truth, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.png"
    figure = make().plot(path=str(path), truth=truth, title="A title")
    assert path.read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "A title"
    assert (axes.get_legend() is not None) == (truth is not None)


LONG = "Wholesale and retail trade; repair of motor vehicles and of household goods, part"
SAID = ["Strongly disagree with this statement as it is put here", "Neither", "Strongly agree"]
ORDERS = [i / 10 for i in range(1, 10)]


def table_of(m, name="group"):
    """Return records of groups, and the groups' names."""
    names = [f"{name} {i}" for i in range(m)]
    n = 30 * m
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 700) for i in range(n)]
    table = {
        "v": [i % 100 for i in range(n)], "day": days, "said": [SAID[i % 3] for i in range(n)],
        "g": [names[i % m] for i in range(n)], "bin": [names[i % m] for i in range(n)],
        "sex": [("f", "m")[i % 2] for i in range(n)],
    }  # fmt: skip
    return table, names


def by_bins(m, name="group", **options):
    table, keys = table_of(m, name)
    asked = {"column": "v", "bins": 8, "bounds": (0, 100), "by": "g", "keys": keys, **options}
    return histogram(table, epsilon=1, **asked)


def by_deciles(m, name="group", **options):
    table, keys = table_of(m, name)
    asked = {"column": "v", "bounds": (0, 100), "step": 1, "by": "g", "keys": keys, **options}
    return quantiles(table, ORDERS, epsilon=9, **asked)


def by_cdf(m, name="group"):
    table, keys = table_of(m, name)
    return cdf(table, column="v", bounds=(0, 100), step=1, by="g", keys=keys, epsilon=9)


BOTH = {"by": ["sex", "g"], "keys": {"sex": ["f", "m"], "g": [f"{LONG} {i}" for i in range(4)]}}
EDGES = [f"{y}-{m:02}-01" for y in (2020, 2021) for m in (1, 5, 9)]
DATED = {"column": "day", "bounds": ("2020-01-01", "2022-01-01"), "step": None}
PANELS = {
    "histograms of 2": (lambda: by_bins(2), 2),
    "histograms of 5": (lambda: by_bins(5), 5),
    "histograms of 12": (lambda: by_bins(12), 12),
    "histograms of 40": (lambda: by_bins(40), 40),
    "long names": (lambda: by_bins(5, LONG), 5),
    "two columns": (lambda: by_bins(4, LONG, **BOTH), 8),
    "days": (lambda: by_bins(5, column="day", bins=EDGES, bounds=None), 5),
    "long categories": (
        lambda: by_bins(5, LONG, column="said", categories=SAID, bins=None, bounds=None), 5,
    ),
    "missing ones": (lambda: by_bins(3, missing="count"), 3),
    "a column called bin": (lambda: by_bins(3, by="bin"), 3),
    "deciles of 2": (lambda: by_deciles(2), 1),
    "deciles of 5": (lambda: by_deciles(5, LONG), 1),
    "deciles of days": (lambda: by_deciles(5, **DATED), 1),
    "deciles of 12": (lambda: by_deciles(12), 12),
    "deciles of days of 12": (lambda: by_deciles(12, **DATED), 12),
    "functions of 5": (lambda: by_cdf(5, LONG), 1),
    "functions of 12": (lambda: by_cdf(12), 12),
}  # fmt: skip


def words_of(figure):
    """Return every text that is seen, with the box it takes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure).draw()
    texts = [figure._suptitle, figure._supxlabel]
    for axes in figure.axes:
        ticks = [*axes.xaxis._update_ticks(), *axes.yaxis._update_ticks()]  # those in view
        texts += [axes.title, axes._left_title, *(tick.label1 for tick in ticks)]
        texts += axes.get_legend().get_texts() if axes.get_legend() else []
    seen = [t for t in texts if t is not None and t.get_visible() and t.get_text().strip()]
    return [(t.get_text(), t.get_window_extent()) for t in seen]


@pytest.mark.slow_cases(6)
@pytest.mark.parametrize(("make", "axes"), PANELS.values(), ids=PANELS)
def test_groups_are_drawn_in_panels_or_lines_that_can_be_read(make, axes):
    pytest.importorskip("matplotlib")
    release = make()
    figure = release.plot()
    assert len(figure.axes) == axes
    words = words_of(figure)
    whole = figure.bbox
    for text, box in words:
        assert whole.x0 - 1 <= box.x0, text
        assert box.x1 <= whole.x1 + 1, text
        assert whole.y0 - 1 <= box.y0, text
        assert box.y1 <= whole.y1 + 1, text
    for (one, a), (two, b) in combinations(words, 2):
        across, down = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across <= 1 or down <= 1, (one, two)
    every = " ".join(text.replace("\n", " ") for text, _ in words)
    for key in release.value:
        first = ", ".join(key) if isinstance(key, tuple) else key
        assert first[:20] in every


def test_true_quantiles_of_groups_have_the_colours_of_their_lines():
    pytest.importorskip("matplotlib")
    release = by_deciles(3)
    truth = {key: [10 * i for i in range(1, 10)] for key in release.value}
    lines = release.plot(truth=truth).axes[0].get_lines()
    dashed = [line for line in lines if line.get_linestyle() == "--"]
    assert len(dashed) == 3
    assert [x.get_color() for x in dashed] == [x.get_color() for x in lines if x not in dashed]


def test_the_true_function_is_drawn_once_for_all_groups():
    pytest.importorskip("matplotlib")
    axes = by_cdf(3).plot(truth=list(range(100)))
    names = [text.get_text() for text in axes.axes[0].get_legend().get_texts()]
    assert names.count("truth") == 1
    assert len(names) == 4


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("m", [2, 12])
def test_panels_share_their_axes_and_hold_the_released_counts(m):
    pytest.importorskip("matplotlib")
    release = by_bins(m)
    figure = release.plot(truth={key: [3] * 8 for key in release.value})
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    for axes, counts in zip(figure.axes, release.value.values(), strict=True):
        heights = [bar.get_height() for bar in axes.containers[0]]
        assert heights == np.maximum(counts, 0).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("m", [3, 9])
def test_every_group_has_a_line_of_its_quantiles(m):
    pytest.importorskip("matplotlib")
    release = by_deciles(m)
    figure = release.plot(truth=[[50] * 9] * m)
    drawn = [line.get_ydata().tolist() for axes in figure.axes for line in axes.get_lines()]
    for values in release.value.values():
        assert np.asarray(values, float).tolist() in drawn
    assert [50.0] * 9 in drawn


@pytest.mark.slow
def test_of_very_many_groups_the_first_are_drawn():
    pytest.importorskip("matplotlib")
    figure = by_bins(70, bins=[0, 50, 100], bounds=None).plot()
    assert len(figure.axes) == 60
    assert "the first 60 of 70 groups" in figure._supxlabel.get_text()


def test_where_no_group_was_found_the_picture_says_so():
    pytest.importorskip("matplotlib")
    table = {"v": [1, 2], "g": ["a", "b"]}
    none = histogram(
        table, column="v", bins=[0, 2, 4], by="g", keys="unknown", epsilon=0.1, delta=1e-9
    )
    assert none.value == {}
    assert [text.get_text() for text in none.plot().axes[0].texts] == ["no group was found"]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"In the checkout, run pip install '\.\[plot\]'"):
        CASES["mean"][0]().plot()
