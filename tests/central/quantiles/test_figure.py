"""Pictures of quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from sourdine.central.quantiles.statistic import Quantiles
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

pytest.importorskip("matplotlib")
X = np.round(np.random.default_rng(1).lognormal(3, 1, 500))


def released(orders, **options):
    seeded = {"source": SeededSource(1), **options}
    return Quantiles(q=orders, bounds=(0, 500), step=1, epsilon=1, **seeded).release(Frame(X))


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2, 9, 40])
def test_curves_are_saved(m, tmp_path):
    orders = [i / (m + 1) for i in range(1, m + 1)]
    path = tmp_path / "curve.png"
    figure = released(orders).plot(path=str(path), truth=np.quantile(X, orders), title="A title")
    assert path.read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "A title"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["released", "truth"]


def test_every_quantile_has_a_dot_at_its_order():
    release = released([0.1, 0.5, 0.9], interval=0.95)
    axes = release.plot().axes[0]
    line = axes.get_lines()[0]
    assert line.get_xdata().tolist() == pytest.approx([10, 50, 90])
    assert line.get_ydata().tolist() == np.asarray(release.value, float).tolist()
    assert axes.get_legend() is None
    assert axes.get_xlim() == (0, 100)
    low, high = axes.get_ylim()
    assert low <= min(release.value) <= max(release.value) <= high


def test_one_quantile_is_a_dot_with_its_name():
    assert released([0.5]).plot().axes[0].get_yticklabels()[0].get_text() == "median"
    assert released([0.9]).plot().axes[0].get_yticklabels()[0].get_text() == "90% quantile"
