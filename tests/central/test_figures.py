from __future__ import annotations

import sys

import pytest

from sourdine.central import count, histogram, mean
from sourdine.presentation.figures import MissingExtraError

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


@pytest.mark.parametrize(("make", "truth"), CASES.values(), ids=CASES)
def test_pictures_are_saved(make, truth, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.png"
    figure = make().plot(path=str(path), truth=truth, title="A title")
    assert path.read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "A title"
    assert (axes.get_legend() is not None) == (truth is not None)


def test_histograms_by_group_have_a_dot_for_each_bin_of_each_group():
    pytest.importorskip("matplotlib")
    split = histogram(TABLE, column="v", bins=[0, 2, 5], by="g", keys=["a", "b"], epsilon=1)
    names = [text.get_text() for text in split.plot().axes[0].get_yticklabels()]
    assert names == ["a, 0 to 2", "a, 2 to 5", "b, 0 to 2", "b, 2 to 5"]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"In the checkout, type pip install '\.\[plot\]'"):
        CASES["mean"][0]().plot()
