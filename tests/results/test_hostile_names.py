"""Names that strangers chose reach no terminal, page or picture as anything but letters."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from io import BytesIO
from xml.etree import ElementTree as ET

import pytest

import sourdine as sd
from every_kind import designed
from sourdine.answers import Release
from sourdine.errors import ParameterTypeError
from sourdine.local import Choice, Number, Schema
from sourdine.local.table.schema_files import skeleton
from sourdine.results.release import Estimator
from sourdine.results.tables import Sheet, printable

EVIL = "<script>alert(1)</script>\x1b[2J\r\ncost  epsilon 0\u202e$x_{&\"'"
OTHER = "b<i>\x07\x9b"
HELD = EVIL.replace("\r", "")  # a category of a table must be one that a file can hold
N = 400
AGES = list(range(100)) * (N // 100)
KEYS = [EVIL, OTHER] * (N // 2)
TABLE = {EVIL: AGES, OTHER: KEYS}
OF = {"column": EVIL, "epsilon": 40}
GRID = {"bounds": (0, 100), "step": 1}
BOTH = {EVIL: AGES, OTHER: [2 * age for age in AGES]}
TWO = {"y": OTHER, "bounds": {EVIL: (0, 100), OTHER: (0, 200)}, "epsilon": 40}
BY = {"by": OTHER, "keys": [EVIL, OTHER]}


@cache
def estimates():
    columns = {
        EVIL: Choice(HELD, OTHER),
        "age" + OTHER: Number(0, 99, step=1),
        "income" + OTHER: Number(0, 99, step=1, missing=True),
        "left" + OTHER: Choice(HELD, OTHER, missing=True),
    }
    schema = Schema.of(columns, epsilon=16, missing="random")
    held = [HELD, OTHER] * (N // 2)
    clean = schema.sanitize(dict(zip(columns, (held, AGES, AGES, held), strict=True)))
    return schema.estimate(clean, pairs=[(EVIL, "age" + OTHER)])


def within(release):
    facts = release.to_dict()
    return Release.from_dict({**facts, "question": release.mechanism.estimate.to_dict()})


ANSWERS = {
    "count": lambda: sd.count(TABLE, **OF),
    "describe": lambda: sd.describe(TABLE, epsilon=40),
    "sum": lambda: sd.sum(TABLE, **OF, **GRID),
    "mean": lambda: sd.mean(TABLE, **OF, **GRID),
    "variance": lambda: sd.variance(TABLE, **OF, **GRID),
    "std": lambda: sd.std(TABLE, **OF, **GRID),
    "covariance": lambda: sd.covariance(BOTH, x=EVIL, **TWO),
    "correlation": lambda: sd.correlation(BOTH, x=EVIL, **TWO),
    "regression": lambda: sd.regression(BOTH, x=[EVIL], **TWO),
    "difference": lambda: sd.mean(TABLE, **OF, **GRID, **BY).difference(EVIL, OTHER),
    "proportion": lambda: sd.proportion(TABLE, column=OTHER, category=EVIL, epsilon=1),
    "histogram": lambda: sd.histogram(TABLE, column=OTHER, categories=[EVIL, OTHER], epsilon=1),
    "quantiles": lambda: sd.quantiles(TABLE, [0.25, 0.5], **OF, **GRID),
    "quantile": lambda: sd.quantile(TABLE, 0.9, **OF, **GRID),
    "median": lambda: sd.median(TABLE, **OF, **GRID),
    "mode": lambda: sd.mode(TABLE, column=OTHER, categories=[EVIL, OTHER], epsilon=1),
    "cdf": lambda: sd.cdf(TABLE, **OF, **GRID),
    "frequencies": lambda: within(estimates().shares(EVIL)),
    "mean of reports": lambda: within(estimates().mean("age" + OTHER)),
    "quantiles of reports": lambda: within(estimates().quantiles("age" + OTHER, [0.5])),
    "distribution of reports": lambda: within(estimates().distribution("age" + OTHER)),
    "mean of answers": lambda: within(estimates().mean("income" + OTHER)),
    "quantiles of answers": lambda: within(estimates().quantiles("income" + OTHER, [0.5])),
    "pair of columns": lambda: estimates().pair(EVIL, "age" + OTHER, bins=2),
    "shares within rows": lambda: estimates().within("age" + OTHER, EVIL, bins=2),
    "column": lambda: estimates()[EVIL],
    "shares of answers": lambda: within(estimates().shares("left" + OTHER, of="answered")),
    "answers of a design": lambda: designed([0, 1, 2] * 9, epsilon=1),  # it has no names
    "table": lambda: sd.table(
        TABLE, of={OF["column"]: ["mean", "median"]}, bounds={OF["column"]: GRID["bounds"]},
        epsilon=4, **BY,
    ),
    "sql": lambda: sd.sql(
        TABLE, "SELECT AVG({0}) AS {0} FROM people".format(_quoted(OF["column"])),  # noqa: S608
        bounds={OF["column"]: GRID["bounds"]}, epsilon=4,
    ),
}  # fmt: skip


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


MORE = {
    "means by group": lambda: sd.mean(TABLE, **OF, **GRID, **BY),
    "quantiles by group": lambda: sd.quantiles(TABLE, [0.5], **OF, **GRID, **BY),
    "histograms by group": lambda: sd.histogram(
        TABLE, column=OTHER, categories=[EVIL, OTHER], epsilon=1, **BY
    ),
    "keys from the data": lambda: sd.histogram(
        TABLE, column=OTHER, categories="unknown", epsilon=4, delta=1e-6
    ),
    "density": lambda: sd.local.density(TABLE, column=EVIL, bounds=(0, 100), epsilon=1),
    "estimates": estimates,
    "schema": lambda: estimates().schema,
}  # fmt: skip
ALL = ANSWERS | MORE


@cache
def made(name):
    return ALL[name]()


def test_there_is_one_of_every_kind():
    assert set(ANSWERS) == set(Estimator.kinds)


def test_a_key_of_the_data_is_named_but_steers_nothing():
    assert "\\x1b[2J\\r\\ncost" in str(made("keys from the data"))


@pytest.mark.parametrize("name", ALL)
def test_nothing_steers_a_terminal(name):
    for letter in str(made(name)).replace("\n", ""):
        assert printable(letter) == letter
    assert not any(re.match(r"cost +epsilon 0", line) for line in str(made(name)).splitlines())


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", [name for name in ALL if name != "schema"])
def test_json_holds_no_order(name):
    text = made(name).to_json()
    assert printable(text) == text


def test_a_schema_to_be_filled_in_holds_no_order():
    text = skeleton({EVIL: [1], OTHER: [2]})
    assert printable(text.replace("\n", "")) == text.replace("\n", "")
    assert list(tomllib.loads(text)["columns"]) == [EVIL, OTHER]


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_a_mark_of_a_page(name):
    page = made(name)._repr_html_()
    for mark in ("<script", "<i>", "\x1b", "\u202e"):
        assert mark not in page


@pytest.mark.quick_cases(2, slow=16)
@pytest.mark.parametrize("name", ALL)
def test_pictures_are_drawn_and_hold_no_script(name):
    what, page = made(name), BytesIO()
    if name == "schema":
        return
    try:
        figure = what.plot(title=EVIL)
    except ParameterTypeError:  # it has no picture
        return
    figure.savefig(page, format="svg")
    marks = {part.tag.rpartition("}")[2] for part in ET.fromstring(page.getvalue()).iter()}  # noqa: S314 - our own
    assert "script" not in marks


def test_the_shell_prints_no_order_of_a_key():
    from rich.console import Console

    from sourdine.cli.output import print_sheet

    sheet = Sheet(
        heads=[EVIL, "b"], lines=[[EVIL, "1"]], notes=[(EVIL, EVIL), ("[red]", "2")], title=EVIL
    )
    console = Console(width=400, record=True, force_terminal=False)
    print_sheet(console, sheet)
    text = console.export_text()
    for letter in text.replace("\n", ""):
        assert printable(letter) == letter
    assert "[red]" in text
