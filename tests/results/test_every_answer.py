"""What every answer can do, checked on one of each kind that there is."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from every_kind import ALL, GROUPED, KINDS, OTHERS, designed, within
from sourdine.adaptive import AdaptiveAnswer
from sourdine.answers import Release
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local import Choice, Number, Schema
from sourdine.local.densities.density import Density
from sourdine.mechanisms import Laplace
from sourdine.results.answer import Answer
from sourdine.results.release import Estimator
from sourdine.results.tables import Columns, framed


@cache
def made(name):
    return ALL[name]()


OWN = {"mode", "describe"}
"""No numbers, or numbers some of which have no interval: their own tests ask what can be asked."""


def test_there_is_one_of_every_kind():
    assert {*KINDS, *OWN} == set(Estimator.kinds)
    classes = {cls.__name__ for cls in Answer.__subclasses__()}
    assert {type(made(name)).__name__ for name in OTHERS} == classes - {"Release"}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", KINDS)
def test_each_is_of_its_kind(name):
    assert made(name).mechanism.kind == name
    assert made(name).to_dict()["question"]["statistic"] == name


@pytest.mark.parametrize("name", ALL)
def test_a_plain_repr_shows_the_number(name):
    """A notebook without HTML, a debugger or a log shows what the answer is."""
    answer = made(name)
    columns, shown = answer.columns(), repr(answer)
    assert len(shown) < 500
    assert "\n" not in shown
    first = columns.texts()[0]
    assert first[0] in shown
    if columns.bounded:
        assert f"[{first[1]}, {first[2]}]" in shown
    cost = [text for word, text in answer.notes() if word == "cost"]
    assert not cost or cost[0] in shown


def test_every_kind_of_answer_has_that_repr():
    kinds = [Answer, *Answer.__subclasses__()]
    kinds += [kind for one in kinds[1:] for kind in one.__subclasses__()]
    assert {kind.__repr__ for kind in kinds} == {Answer.__repr__}


@pytest.mark.parametrize("name", ALL)
def test_json_gives_back_an_equal_answer(name):
    answer = made(name)
    again = type(answer).from_json(answer.to_json())
    assert again == answer
    assert hash(again) == hash(answer)
    assert str(again) == str(answer)
    assert again.to_json() == answer.to_json()
    assert type(np.asarray(again)[0]) is type(np.asarray(answer)[0])
    if isinstance(answer, Release):
        assert type(again.value) is type(answer.value)
        for confidence in (0.5, 0.99):
            assert repr(again.interval(confidence)) == repr(answer.interval(confidence))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ALL)
def test_another_answer_is_another(name):
    others = [made(other) for other in ALL if other != name]
    assert made(name) not in others
    assert made(name) != made(name).to_dict()
    with pytest.raises(ParameterError, match=r"the JSON must (be the output|hold)"):
        type(made(name)).from_json('{"value": 3}')


@pytest.mark.parametrize("name", ALL)
def test_numbers_arrays_and_formats(name):
    answer = made(name)
    values = np.asarray(answer)
    assert values.dtype.kind in "if"
    assert np.asarray(answer, np.float64).dtype == np.float64
    if len(values) == 1:
        assert float(answer) == values[0]
        assert int(answer) == int(values[0])
        assert f"{answer:.2f}" == f"{values[0]:.2f}"
        x = values[0].item()
        assert (answer > x - 1, answer >= x, answer < x, answer <= x) == (True, True, False, True)
        assert (x + 1 > answer, answer <= answer) == (True, True)  # noqa: PLR0124
        assert (answer + 1, 1 - answer, answer * 2, answer - answer) == (x + 1, 1 - x, x * 2, 0)
        assert (answer / 4, 3 // (answer * 0 + 2), answer % 3, answer**2) == (x / 4, 1, x % 3, x**2)
        assert (round(answer), round(answer, 1), abs(-answer)) == (round(x), round(x, 1), abs(x))
        assert sum([answer, answer]) == x + x
        assert (answer + np.array([1.0, 2.0])).tolist() == [x + 1, x + 2]
        with pytest.raises(TypeError):
            answer + "1"
    else:
        for act in (lambda r: r > 3, lambda r: 1 + r, round, abs, lambda r: r / r):
            with pytest.raises(ParameterTypeError, match=r"Use .value, or numpy.asarray\(answer\)"):
                act(answer)
        with pytest.raises(
            ParameterTypeError, match="An answer of several numbers cannot be converted"
        ):
            float(answer)
        with pytest.raises(ParameterTypeError, match="cannot be converted to one"):
            f"{answer:.2f}"
    assert f"{answer}" == str(answer)


@pytest.mark.parametrize("name", ALL)
def test_frames_hold_labels_values_and_ends(name):
    answer, columns = made(name), made(name).columns()
    expected = columns.to_dict()
    assert {len(column) for column in expected.values()} == {len(np.asarray(answer))}
    own = [name for name in expected if name not in {**columns.labels, **columns.further}]
    assert own[:3] == [columns.name, "lower", "upper"]
    assert own[3:] == [
        f"{of}_{end}" for of in columns.extra_intervals for end in ("lower", "upper")
    ]
    for library, kind in (
        ("pandas", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("pyarrow", pa.Table),
    ):
        frame = answer.to_frame(library)
        assert isinstance(frame, kind)
        assert list(getattr(frame, "column_names", frame.columns)) == list(expected)
    assert answer.to_frame("polars").to_dict(as_series=False) == expected
    assert isinstance(answer.to_frame(), pd.DataFrame)
    frame = answer.to_frame("polars")
    assert (frame["lower"] <= frame["upper"]).all()


@pytest.mark.parametrize("name", ALL)
def test_arrow_takes_an_answer_as_it_is(name):
    answer = made(name)
    expected = answer.columns().to_dict()
    assert pa.table(answer).to_pydict() == expected
    assert pl.DataFrame(answer).to_dict(as_series=False) == expected
    rows = duckdb.sql("SELECT count(*) AS n FROM answer").fetchall()
    assert rows == [(len(np.asarray(answer)),)]


@pytest.mark.parametrize("name", ALL)
def test_text_and_html_say_the_same(name):
    answer = made(name)
    sheet, html = answer.sheet(), answer._repr_html_()
    filled = 1 + sum(any(line) for line in sheet.lines)
    assert html.count("<td>") + html.count("<th>") == filled * len(sheet.heads)
    assert "cost" in dict(sheet.notes)
    assert str(answer) == sheet.text()
    assert repr(answer).count("\n") == 0
    assert len(repr(answer)) < 300


@pytest.mark.slow
@pytest.mark.parametrize("name", [*KINDS, *GROUPED, "density"])
def test_every_release_is_drawn(name, tmp_path):
    path = tmp_path / "answer.png"
    figure = made(name).plot(path=str(path))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert figure.axes


@pytest.mark.slow
def test_a_new_process_reads_everything_back(tmp_path):
    for number, name in enumerate(KINDS):
        (tmp_path / f"{number}.json").write_text(made(name).to_json(), encoding="utf-8")
    read = (
        "import sys, pathlib, sourdine as sd\n"
        "for path in pathlib.Path(sys.argv[1]).iterdir():\n"
        "    sd.Release.from_json(path.read_text(encoding='utf-8'))\n"
        "    print(path.stem)\n"
    )
    ran = [sys.executable, "-c", read, str(tmp_path)]
    done = subprocess.run(ran, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    assert len(done.stdout.split()) == len(KINDS)


def test_what_is_no_library_is_refused():
    with pytest.raises(ParameterError, match="library must be 'pandas', 'polars' or 'pyarrow'"):
        made("count").to_frame("numpy")


def test_labels_of_several_types_become_texts():
    mixed = Columns(labels={"key": [1, "a", None]}, name="count", values=[3, 4, 5])
    assert mixed.to_frame("polars")["key"].to_list() == ["1", "a", "None"]
    assert framed({"q": [1, 2]}, "polars")["q"].to_list() == [1, 2]


def test_of_many_categories_the_largest_are_printed():
    codes = np.repeat(np.arange(60), np.arange(1, 61))
    schema = Schema(word=Choice(*(f"w{i}" for i in range(60))), epsilon=20, missing="random")
    found = schema.estimate(schema.sanitize({"word": [f"w{c}" for c in codes]}))["word"]
    *rows, last = found.sheet().lines
    assert [row[0] for row in rows] == [f"w{i}" for i in range(20, 60)]
    assert last == ("and 20 smaller", "", "")
    assert len(found.to_frame("polars")) == len(np.asarray(found)) == 60


def test_a_mechanisms_numbers_are_an_array():
    release = Laplace(epsilon=1).release(np.array([5, 6]))
    assert np.asarray(release).tolist() == release.value.tolist()
    assert release.sheet().heads == ("value",)
    assert len(release.sheet().lines) == 2


@pytest.mark.slow
def test_the_head_of_intervals_is_written_in_one_place():
    source = Path(sd.__file__).parent
    found = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr) and ast.unparse(node).endswith("% CI'")
    ]
    assert set(found) == {"results/tables.py"}
    literal = [p.name for p in source.rglob("*.py") if '"95% CI"' in p.read_text(encoding="utf-8")]
    assert literal == []


def test_no_two_public_classes_are_called_answer():
    assert not hasattr(sd.adaptive, "Answer")
    assert issubclass(AdaptiveAnswer, Answer)
    assert issubclass(Density, Answer)


@pytest.mark.slow
def test_a_picture_is_saved_as_its_ending_says(tmp_path):
    """A page holds the picture and its table; what cannot be written is refused before it is."""
    schema = Schema(
        vote=Choice("yes", "no"), age=Number(0, 90, step=1), epsilon=9, missing="random"
    )
    table = {"vote": ["yes", "no"] * 50, "age": [30, 40] * 50}
    found = schema.estimate(schema.sanitize(table), pairs=[("vote", "age")])
    drawn = {
        "Mean": sd.mean([3, 5] * 50, bounds=(0, 9), epsilon=1),
        "Estimates": found,
        "vote and age": found.pair("vote", "age"),
        "Mean: the error that an epsilon buys": sd.plan.mean(bounds=(0, 9), n=50, epsilon=1),
    }
    for title, each in drawn.items():
        for ending in ("png", "svg", "pdf", "html"):
            each.plot(path=str(tmp_path / f"x.{ending}"))
            assert (tmp_path / f"x.{ending}").stat().st_size > 1000
        page = (tmp_path / "x.html").read_text()
        assert f"<title>{title}</title>" in page
        assert "<svg" in page
        assert "<table" in page
        with pytest.raises(
            ParameterError, match=r"path must end in .png, .svg, .pdf or .html, got"
        ):
            each.plot(path=str(tmp_path / "x.xlsx"))


@cache
def few_reports():
    """Return estimates from so few and so noisy reports that most of them are impossible."""
    schema = Schema(
        age=Number(0, 100, step=1),
        income=Number(0, 100, step=1, missing=True),
        vote=Choice("yes", "no", "none", "other", "unknown"),
        left=Choice("yes", "no", missing=True),
        epsilon=2,
        missing="random",
    )
    some = {
        "age": [0, 100] * 6,
        "income": [0, None] * 6,
        "vote": ["yes"] * 12,
        "left": ["yes", None] * 6,
    }
    tables = ({name: column[:m] for name, column in some.items()} for m in (1, 2, 4, 12, 12, 12))
    return [schema.estimate(schema.sanitize(t), pairs=[("age", "vote")]) for t in tables]


FEW_REPORTS = {
    "frequencies": lambda e: [
        within(e.shares("vote", consistent=how)) for how in (None, "norm-sub", "em")
    ],
    "mean of reports": lambda e: [within(e.mean("age"))],
    "quantiles of reports": lambda e: [within(e.quantiles("age", [0.1, 0.5]))],
    "distribution of reports": lambda e: [within(e.distribution("age", bins=8))],
    "mean of answers": lambda e: [within(e.mean("income"))],
    "quantiles of answers": lambda e: [within(e.quantiles("income", [0.5]))],
    "pair of columns": lambda e: [e.pair("age", "vote", bins=2)],
    "shares within rows": lambda e: [e.within("age", "vote", bins=2)],
    "column": lambda e: [e["vote"], e["age"], e["income"], e["left"]],
    "shares of answers": lambda e: [within(e.shares("left", of="answered"))],
    "answers of a design": lambda _: [designed([4, 0] * n, epsilon=1) for n in (1, 2, 6, 6, 6)],
}


def test_there_are_few_reports_of_every_kind_of_estimate():
    estimated = {
        k for k, cls in Estimator.kinds.items() if cls.__module__.startswith("sourdine.local")
    }
    assert set(FEW_REPORTS) == estimated


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", FEW_REPORTS)
def test_no_estimate_lies_outside_its_own_interval(name):
    for release in (release for e in few_reports() for release in FEW_REPORTS[name](e)):
        for of in ("sample", "population"):
            low, high = (np.asarray(end, float) for end in release.interval(0.5, of=of))
            value = np.asarray(release.value, float)
            assert (low <= value).all()
            assert (value <= high).all()
        columns = release.columns()
        for v, a, b in zip(columns.values, columns.lower, columns.upper, strict=True):
            assert a <= v <= b
