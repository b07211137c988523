"""Pictures on the server's pages of what was released by group."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from xml.etree import ElementTree as ET

import pytest

import sourdine as sd
from sourdine.questions import STATISTICS
from sourdine.server.pages import analyst
from sourdine.server.pages.analyst import as_png, formats
from sourdine.server.pages.pictures import release_picture
from sourdine.server.requests import RefusedError

ORDERS = [i / 10 for i in range(1, 10)]
LONG = "Wholesale and retail trade; repair of motor vehicles <b>&"


@cache
def by_group(m, kind):
    """Return a release of so many groups with long names."""
    keys = [f"{LONG} {i}" for i in range(m)]
    n = 30 * m
    table = {
        "v": [i % 100 for i in range(n)],
        "g": [keys[i % m] for i in range(n)],
        "said": [("yes", "a long way of saying no to this")[i % 2] for i in range(n)],
        "day": [f"20{20 + i % 3}-0{1 + i % 9}-01" for i in range(n)],
    }
    by = {"by": "g", "keys": keys, "epsilon": 9}
    grid = {"column": "v", "bounds": (0, 100), "step": 1}
    days = {"column": "day", "bounds": ("2020-01-01", "2022-12-31")}
    calls = {
        "bins": lambda: sd.histogram(table, column="v", bins=6, bounds=(0, 100), **by),
        "days": lambda: sd.histogram(table, column="day", bins=["2020-01-01", "2021-06-01",
                                     "2023-01-01"], **by),
        "categories": lambda: sd.histogram(
            table, column="said", categories=["yes", "a long way of saying no to this"], **by
        ),
        "missing": lambda: sd.histogram(
            table, column="v", bins=3, bounds=(0, 100), missing="count", **by
        ),
        "deciles": lambda: sd.quantiles(table, ORDERS, **grid, **by),
        "deciles of days": lambda: sd.quantiles(table, ORDERS, **days, **by),
        "functions": lambda: sd.cdf(table, **grid, **by),
        "functions of days": lambda: sd.cdf(table, **days, **by),
    }  # fmt: skip
    return calls[kind]()


KINDS = (
    "bins", "days", "categories", "missing", "deciles", "deciles of days", "functions",
    "functions of days",
)  # fmt: skip


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [2, 12])
@pytest.mark.parametrize("wide", [350, 900])
def test_groups_have_panels_or_lines_within_the_picture(kind, m, wide):
    release = by_group(m, kind)
    root = ET.fromstring(str(release_picture(release, wide)))  # noqa: S314 - our own
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width == wide
    marks = [part.tag for part in root]
    if kind.startswith(("deciles", "functions")):
        assert marks.count("polyline") == marks.count("polygon") == m
    else:
        assert marks.count("rect") == sum(len(counts) for counts in release.value.values())
    assert "circle" not in marks
    texts = [part for part in root if part.tag == "text"]
    assert sum(part.text.startswith("Wholesale") for part in texts) == m
    for part in root:
        for name in ("x", "x1", "x2"):
            assert -1 <= float(part.attrib.get(name, 0)) <= width + 1, ET.tostring(part)
        for name in ("y", "y1", "y2"):
            assert -1 <= float(part.attrib.get(name, 0)) <= height + 1, ET.tostring(part)
        points = re.findall(r"[-\d.]+", part.attrib.get("points", ""))
        for x, y in zip(points[::2], points[1::2], strict=True):
            assert -1 <= float(x) <= width + 1
            assert -1 <= float(y) <= height + 1


def test_short_names_of_categories_are_written_whole():
    names = ["north", "south", "by the sea"]
    release = sd.histogram({"g": names * 9}, column="g", categories=names, epsilon=1)
    root = ET.fromstring(str(release_picture(release, 560)))  # noqa: S314 - our own
    assert set(names) <= {part.text for part in root}


def test_one_number_for_each_group_is_a_row():
    table = {"v": [1, 2] * 40, "g": ["a", "b"] * 40}
    release = sd.median(
        table, column="v", bounds=(0, 9), step=1, by="g", keys=["a", "b"], epsilon=1
    )
    root = ET.fromstring(str(release_picture(release, 900)))  # noqa: S314 - our own
    assert [part.tag for part in root].count("circle") == 2
    assert {"a", "b"} <= {part.text for part in root}


@pytest.mark.slow
def test_a_description_has_a_table_and_no_picture():
    release = sd.describe({"v": [1, 2] * 40}, epsilon=4)
    heads, rows = release.columns().cells()
    assert len(heads) == 4
    assert len(rows) == len(release.columns().values)
    assert release_picture(release, 900) == ""


def test_of_very_many_groups_the_first_have_a_panel():
    release = by_group(70, "bins")
    root = ET.fromstring(str(release_picture(release, 900)))  # noqa: S314 - our own
    assert [part.text for part in root][-1] == "and 10 groups more"
    assert sum((part.text or "").startswith("Wholesale") for part in root) == 60


PNG = b"\x89PNG"
NUMBERS = {"column": "v", "bounds": (0, 9), "step": 1}
OF_KINDS = {
    "count": {},
    "histogram": {"column": "v", "bins": [0, 3, 9]},
    "proportion": {"column": "g", "category": "$a"},
    "distinct": {"column": "g"},
    "mode": {"column": "g", "categories": ["$a", "$"]},
    "quantiles": {**NUMBERS, "q": [0.25, 0.5]},
    "quantile": {**NUMBERS, "q": 0.5},
    "cdf": NUMBERS,
    "table": {"of": {"v": ["mean"]}, "bounds": {"v": (0, 9)}, "steps": {"v": 1}},
    **{
        name: {"x": "v", "y": "w", "bounds": {"v": (0, 9), "w": (0, 9)}}
        for name in ("covariance", "correlation", "regression")
    },
    "sql": {"statement": "SELECT AVG(v), COUNT(*) FROM t", "bounds": {"v": (0, 9)}},
}


@pytest.mark.grid
@pytest.mark.parametrize("rows", [0, 1, 80])
@pytest.mark.parametrize("kind", STATISTICS)
def test_a_release_has_a_png_where_it_has_an_svg(kind, rows):
    pytest.importorskip("matplotlib")
    table = {
        "v": [1, 2] * rows or [None],
        "w": [3, 1] * rows or [None],
        "g": ["$a", "$"] * rows or [None],
    }
    asked = {"statistic": kind, **OF_KINDS.get(kind, NUMBERS), "epsilon": 1}
    release = sd.ask(table, asked)
    drawn = bool(release_picture(release, 900))
    assert as_png(release).startswith(PNG) == drawn
    assert ("png" in formats(release, drawn=drawn)) == drawn


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_png_of_groups(kind):
    pytest.importorskip("matplotlib")
    assert as_png(by_group(2, kind)).startswith(PNG)


def test_pictures_that_take_long_have_no_png():
    release = by_group(analyst.MOST_GROUPS_DRAWN + 1, "bins")
    assert formats(release, drawn=True) == ["csv", "svg", "json"]
    assert as_png(release) == b""


def test_without_matplotlib_there_is_no_png(monkeypatch):
    release = sd.count(["a"] * 9, epsilon=1)
    monkeypatch.setattr(analyst, "find_spec", lambda _: None)
    assert formats(release, drawn=True) == ["csv", "svg", "json"]
    assert as_png(release) == b""


@pytest.mark.slow
def test_one_thread_draws_at_a_time(monkeypatch):
    pytest.importorskip("matplotlib")
    release = sd.mean({"v": [1, 2] * 40, "g": ["$a_", "$b^"] * 40}, **NUMBERS, by="g",
                      keys=["$a_", "$b^"], epsilon=1)  # fmt: skip
    monkeypatch.setattr(analyst, "PATIENCE", 300.0)  # a busy machine draws slowly
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(lambda _: as_png(release), range(8)))
    assert len(set(drawn)) == 1
    monkeypatch.setattr(analyst, "PATIENCE", 0.01)
    with analyst.DRAWING, pytest.raises(RefusedError, match="in a moment"):
        as_png(release)
