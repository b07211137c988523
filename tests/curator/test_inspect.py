"""What the curator is told before anything is published."""

from __future__ import annotations

import shlex

import pytest
from typer.main import get_command

import sourdine as sd
from sourdine.cli.app import app

ROWS = [
    f"José {i};€{i % 9 + 1}.{100 + i},5{i % 10};{150 + i % 40} cm;p{i % 70};"
    f"{20 + i % 60 if i % 20 else 999}"
    for i in range(200)
]
TEXT = "\n".join(["name;pay;height;who;age", *ROWS])
EXPECTED = {"decimal": ",", "thousands": ".", "symbols": ["cm", "€"]}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16", "utf-16-le"])
def test_what_to_declare(encoding, tmp_path, capsys):
    path = tmp_path / "odd file.csv"
    path.write_bytes(TEXT.encode(encoding))
    found = sd.inspect(path, unit="who")
    named = {} if encoding in {"utf-8", "utf-16"} else {"encoding": encoding}
    assert found.reading.to_dict() == {**named, **EXPECTED}
    assert found.rows == 200
    facts = {column.name: column for column in found.columns}
    assert (facts["pay"].unreadable, facts["pay"].after) == (200, 0)
    assert facts["pay"].shapes == ("'€9.999,99' 200 times",)
    assert facts["height"].after == facts["age"].unreadable == 0
    assert facts["name"].after == facts["who"].after == 200
    assert "999 stands 10 times" in facts["age"].suspicious
    text = str(found)
    assert text.startswith("For the curator alone")
    assert "70 in who; 70 have several rows, at most 3" in text
    assert "José" not in text
    words = shlex.split(found.command)
    assert words[0] == "sourdine"
    get_command(app).main([*words[1:], "--json"], "sourdine", standalone_mode=False)
    assert '"statistic": "count"' in capsys.readouterr().out


def test_what_is_in_order_needs_nothing(tmp_path):
    path = tmp_path / "fine.csv"
    path.write_bytes(b"age,vote\n31,yes\n,no\n44,\n")
    found = sd.inspect(path)
    assert found.reading == sd.Reading()
    assert [(c.numbers, c.empty, c.unreadable) for c in found.columns] == [(2, 1, 0), (0, 1, 2)]
    assert "nothing has to be declared" in str(found)
    assert found.command.endswith("fine.csv --epsilon 1")


def test_an_ambiguous_mark_is_said():
    found = sd.inspect({"x": ["1,234", "2,345"]})
    assert found.columns[0].after == 0
    assert "1,234 is 1234. If 1,234 is a little more than 1, declare decimal=','." in " ".join(
        str(found).split()
    )
    found = sd.inspect({"x": ["1.234", "2.345", "7"]})
    assert (found.reading, found.columns[0].unreadable) == (sd.Reading(), 0)
    said = "1.234 is a little more than 1. If 1.234 is 1234, declare decimal=',' and thousands='.'."
    assert said in " ".join(str(found).split())


@pytest.mark.parametrize(
    "other", [{"x": ["1.234", "1.5"]}, {"x": ["1.234", "0.234"]}, {"x": ["1.234"], "y": ["2.5"]}]
)
def test_a_mark_that_another_cell_explains_is_not_ambiguous(other):
    assert "unsure" not in str(sd.inspect(other))
    assert "unsure" not in str(sd.inspect({"x": ["12", "13"]}))


def test_shapes_hide_letters_digits_and_control_characters():
    found = sd.inspect({"pay": ["1,234.50", "\N{EURO SIGN}12", "170 cm", "\x1b[2J"]})
    shown = {text.rsplit("'", 1)[0].strip("'") for text in found.columns[0].shapes}
    assert shown == {"9,999.99", "\N{EURO SIGN}99", "999 aa", "?[9a"}


def test_rare_shapes_are_listed_too():
    rare = ["?", "12-13", "n/a", "1 lb", "#", "~5", "(6)", "<4"]
    found = sd.inspect({"x": ["12 kg"] * 50 + rare})
    shapes = found.columns[0].shapes
    assert shapes[0] == "'99 aa' 50 times"
    assert shapes[1] == "'?' once"
    assert shapes[-1] == "and 3 more in 3 cells"


def test_what_to_type_names_persons_and_a_column_of_numbers(tmp_path):
    path = tmp_path / "pay.csv"
    path.write_text("who;place;pay\np1;Ulm;1,5\np2;Bonn;2,5\n")
    found = sd.inspect(path, unit="who")
    assert found.command == f"sourdine count {path} --unit who --decimal , --epsilon 1"
    assert found.next_command.startswith(f"sourdine mean {path} -c pay --bounds LOWER UPPER --unit")
    assert found.next_command in " ".join(str(found).split())
    path.write_text("who,place\np1,Ulm\n")
    assert sd.inspect(path).next_command is None


def test_what_is_declared_stays():
    found = sd.inspect({"x": ["1,234", "2,345"]}, read={"decimal": ","})
    assert found.reading.decimal == ","
    assert found.columns[0].unreadable == 0


def test_the_command(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"34,Bob\n35,\x1b[2J\n")
    get_command(app).main(["inspect", str(path)], "sourdine", standalone_mode=False)
    shown = capsys.readouterr().out
    assert shown.startswith("For the curator alone")
    assert "\x1b" not in shown
    assert "the first line holds numbers" in shown
    assert list(tmp_path.iterdir()) == [path]


def test_a_reading_is_judged_by_all_cells():
    """A mark that helps one cell and harms the others is not advised."""
    found = sd.inspect({"x": ["1.5", "2.25", "3.75", "1,234.50"]})
    assert found.reading.to_dict() == {"thousands": ","}
    found = sd.inspect({"x": ["1.234,50", "980", "2.100"]})
    assert found.reading.to_dict() == {"decimal": ",", "thousands": "."}
    assert (found.columns[0].unreadable, found.columns[0].after) == (1, 0)
    found = sd.inspect({"x": ["1.5"] * 9 + ["1,5"]})
    assert (found.reading, found.columns[0].after) == (sd.Reading(), 1)


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["31.12.2023", "01.02.2024 10:15"], "%d.%m.%Y"),
        (["12/31/2023", "02/13/2024"], "%m/%d/%Y"),
        (["31 Dec 2023", "1 Feb 2024"], "%d %b %Y"),
        (["12/31/23 10:15 PM"], "%m/%d/%y %I:%M %p"),
        (["2023-12-31", "2024-02-01T10:15Z"], None),
        (["yes", "no"], None),
        (["20231231", "20240201"], None),
    ],
)
def test_columns_of_dates(texts, form):
    found = sd.inspect({"day": texts, "x": list(range(len(texts)))})
    assert found.reading.date_format == form
    dates = 0 if texts[0] in {"yes", "20231231"} else len(texts)
    assert [column.dates for column in found.columns] == [dates, 0]
    assert found.columns[0].after == (len(texts) if texts[0] == "yes" else 0)
    assert ("dates if declared" in str(found)) == bool(dates)


def test_days_and_months_that_may_be_either_are_said():
    found = sd.inspect({"day": ["01/02/2024", "03/04/2024"]})
    assert "the dates can be read in several ways: '%d/%m/%Y' or '%m/%d/%Y'" in str(found)
    declared = sd.inspect({"day": ["01/02/2024"]}, read={"date_format": "%m/%d/%Y"})
    assert declared.reading.date_format == "%m/%d/%Y"


def test_a_number_of_thousands_of_digits_is_looked_at():
    long = 10**5000
    for values in ([1, 2, 3, 4, long, -long], ["1", "2", "3", "4", "9" * 5000]):
        assert "infinite numbers" in " ".join(str(sd.inspect(values)).split())


def test_mixed_units_are_not_declared():
    people = {"height": ["170 cm", "1.80 m", "165 cm", "1.60 m"] * 50, "heat": ["36 °C"] * 200}
    found = sd.inspect(people)
    assert found.reading.symbols == ("°C",)
    assert "in height, numbers come with 'cm', 'm'." in " ".join(str(found).split())
    assert "units" not in str(sd.inspect({"height": ["170 cm", "165 CM", "180"] * 50}))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_ragged_rows_are_counted(quoted, encoding, tmp_path):
    path = tmp_path / "ragged.csv"
    first = '"a,1",2,3' if quoted else "a,2,3"
    rows = ["x,y,z", first, "1,2", "", "1,2,3,4", "1,2,3"] + ["1"] * 4
    path.write_text("\n".join(rows), encoding=encoding)
    text = " ".join(str(sd.inspect(path)).split())
    assert "5 records have fewer cells than the first line, and 1 have more" in text
    assert "record 2 has 2 of 3" in text
    path.write_text("x,y,z\n1,2,3\n\n4,,\n", encoding=encoding)
    assert "ragged" not in dict(sd.inspect(path).remarks)


def test_names_that_stand_twice_are_said(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("age,sex,age\n31,f,32\n", encoding="utf-8")
    found = sd.inspect(path)
    assert "'age' stands twice in the first line: rename one." in " ".join(str(found).split())
    assert found.rows == 1


def test_an_encoding_that_changes_categories_is_said(tmp_path):
    path = tmp_path / "regions.csv"
    for written, declared in (("cp1252", "utf-8"), ("utf-8", "cp1252")):
        path.write_text("region\n" + "Nord\nSüd\n" * 5, encoding=written)
        text = " ".join(str(sd.inspect(path, read={"encoding": declared})).split())
        assert f"read as {declared}, letters that are not ASCII would be other ones" in text
        assert f"the file seems to be {written}." in text
        same = sd.inspect(path, read={"encoding": written})
        assert "would be other ones" not in str(same)
