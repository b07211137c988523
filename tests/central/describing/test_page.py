"""Descriptions on a page: they fit 80 letters, and say where found bounds leave records out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sourdine as sd
from sourdine.noise import SeededSource

RNG = np.random.default_rng(4)
WIDE = pd.DataFrame(
    {
        "a name of a column": RNG.lognormal(16, 1, 3000),
        "insulin": np.where(RNG.random(3000) < 0.5, 0.0, 3e-5 * RNG.random(3000)),
        "debts": -1e9 * RNG.random(3000),
        "occupation": RNG.choice(["Professional-specialty", "Machine-operator-inspector"], 3000),
        "sex": RNG.choice(["f", "m"], 3000),
        "country": RNG.choice(["United-States-of-America", "Holand-Netherlands"], 3000),
    }
)


def table(release):
    """Return the lines above the notes."""
    return str(release).split("\ncost ")[0].splitlines()


@pytest.mark.slow
def test_a_description_fits_a_terminal():
    release = sd.describe(WIDE, epsilon=1)
    edges, further = 2, 3  # what a shell's table has besides, for each of three columns
    assert max(map(len, table(release))) + edges + further <= 80


@pytest.mark.slow
def test_it_says_how_many_records_bounds_may_leave_out():
    few = sd.describe(WIDE.head(300), columns=["debts", "sex"], epsilon=1)
    assert 10 * few.value["debts"]["beyond"] > 300
    assert "Of debts more than a tenth of the records may lie beyond" in str(few).replace(
        "\n      ", " "
    )
    many = sd.describe(WIDE, columns=["debts", "sex"], epsilon=50)
    assert "more than a tenth" not in str(many)


def test_a_picture_says_that_dates_are_only_counted():
    dates = pd.DataFrame({"admitted": pd.to_datetime(["2020-01-01", "2021-01-01"] * 500)})
    figure = sd.describe(dates, epsilon=1).plot()
    (axes,) = figure.axes
    assert "dates are only counted" in {text.get_text() for text in axes.texts}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("values", [[], [None] * 300, [float("nan")] * 300])
@pytest.mark.parametrize("kind", ["number", "whole", "category"])
def test_columns_without_values_have_no_bars(values, kind):
    pytest.importorskip("matplotlib")
    release = sd.describe({"gone": values}, kinds={"gone": kind}, epsilon=4, source=SeededSource(1))
    (axes,) = release.plot().axes
    assert len(axes.patches) == 0
    assert axes.texts[0].get_text() in {"too few values to show", "no category is common enough"}
