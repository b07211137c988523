from __future__ import annotations

import sys

import pytest

from sourdine.central import count, histogram, mean
from sourdine.errors import ParameterTypeError
from sourdine.look.figures import MissingExtraError

TABLE = {"v": [1, 2, 3, 4] * 50, "g": ["a", "b"] * 100}
CASES = {
    "mean": (lambda: mean(TABLE["v"], bounds=(0, 5), epsilon=1), 2.5),
    "count": (lambda: count(TABLE["v"], epsilon=1), None),
    "groups": (
        lambda: mean(TABLE, column="v", bounds=(0, 5), by="g", keys=["a", "b"], epsilon=1),
        {"a": 2, "b": 3},
    ),
    "bins": (lambda: histogram(TABLE["v"], bins=5, bounds=(0, 5), epsilon=1), [0, 50, 50, 50, 50]),
    "keys": (lambda: histogram(TABLE, column="g", bins=["a", "b"], missing=True, epsilon=1), None),
    "unknown": (lambda: histogram(TABLE, column="g", keys="unknown", delta=0.01, epsilon=1), None),
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


def test_histograms_by_group_have_no_common_picture():
    split = histogram(TABLE, column="v", bins=[0, 2, 5], by="g", keys=["a", "b"], epsilon=1)
    with pytest.raises(ParameterTypeError, match="a picture must be of one number for each group"):
        split.plot()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"sourdine\[plot\]"):
        CASES["mean"][0]().plot()
