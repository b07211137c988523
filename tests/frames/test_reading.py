"""What is declared of text holds for files and frames alike."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sourdine as sd
from sourdine.errors import ParameterError
from sourdine.frames.cells import Edges, Ticks
from sourdine.frames.frame import Frame
from sourdine.frames.reading import _WIDE, Reading
from sourdine.grid import Grid

GERMAN = Reading(decimal=",", thousands=".", symbols=("€", "cm", "%"))
FRENCH = Reading(decimal=",", thousands=" ", symbols=("€",))
ENGLISH = Reading(thousands=",", symbols=("$", "USD"))
SWISS = Reading(thousands="'")
READINGS = (Reading(), GERMAN, FRENCH, ENGLISH, SWISS)
TEXTS = [
    *("1.234,50 €", "€1.234", "-€12", "€-12", "170 cm", "12%", "1.5", "1,5", "1,234.50", "$1,234"),
    *("1 234,5", "1\u202f234,5 €", "1\xa0234", "1'234", "1\u2019234.5", "USD 12", "12USD"),
    "12,34,567",
    *("9007199254740993", "9.007.199.254.740.993", "inf", "-INF €", "1e3", "1,5e-1", "€", "", " "),
    *("12 kg", "€€1", "1..5", ".5", ",5", "5,", "5.", "+7", "--7", "1.23", "12.34", "nan", "1_000"),
]  # fmt: skip
ENGINES = ("list", "pandas", "polars", "polars-lazy", "arrow", "duckdb", "parquet", "csv")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("reading", READINGS)
def test_engines_agree_on_declared_numbers(engine, reading, as_engine):
    table = pa.table({"x": TEXTS, "y": ["a", "b"] * (len(TEXTS) // 2)})
    frame = as_engine(engine, table, reading)
    expected = [reading.number(text) for text in TEXTS]
    for cell in (
        Ticks("x", Grid(-100, 2000, step=0.5)),
        Ticks("x", Grid(2**53 - 4, 2**53 + 4, step=1)),
        Edges("x", [0, 1, 2.5, 10, 1000]),
    ):
        own = cell.slots(Frame([*expected, object()]).engine.column("value"))[:-1].tolist()
        (found,) = zip(*frame.codes(cell), strict=True)
        assert list(itertools.chain(*(part.tolist() for part in found))) == own
        counts = frame.tally(cell).counts
        assert counts.tolist() == Frame({"x": expected}).tally(cell).counts.tolist()
        halves = frame.split("y", ["a", "b"])
        assert sum(half.tally(cell).counts for half in halves).tolist() == counts.tolist()


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.text(st.sampled_from("0123456789.,' +-e€cm%\xa0")),
    st.sampled_from(READINGS[1:]),
)
def test_python_and_the_engine_read_the_same_text(text, reading):
    frame = Frame(duckdb.sql("SELECT $1 AS x", params=[text]), read=reading)
    cell = Ticks("x", Grid(-1000, 1000, step=0.25))
    expected = cell.slots(Frame([reading.number(text), None]).engine.column("value"))[0]
    assert next(frame.codes(cell))[0].tolist() == [expected]


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-32", "latin-1"])
@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_declared_encodings_are_read_whole(encoding, ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    names = ["José", "Zoë", 'a"b', "x\ny", "Ann"] if ending == "csv" else ["José", "Zoë", "Ann"]
    frame = pd.DataFrame({"name": names})
    frame.to_csv(path, index=False, encoding=encoding, header=ending == "csv")
    read = Frame(path, read={"encoding": encoding})
    assert read.distinct()[0] == sorted(names)
    named = ending == "csv" and encoding == "utf-16"  # the mark before a header names it
    assert len(Frame(path)) == len(read) or (encoding.startswith("utf-") and not named)


def test_without_an_encoding_every_row_counts(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("name,age\nJosé,30\nAnn,40\n".encode("cp1252"))
    assert len(Frame(path)) == 2
    assert Frame(path).total(Ticks("age", Grid(0, 99, step=1))) == 70
    assert round(sd.count(path, epsilon=99).value) == 2


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_order_of_bytes_that_nothing_states_is_asked_for(encoding, tmp_path):
    path = tmp_path / "x.csv"
    for order in ("le", "be"):
        path.write_bytes("x\n1\n2\n".encode(f"{encoding}-{order}"))
        with pytest.raises(
            ParameterError,
            match="encoding must specify the byte order, as the file begins without a byte "
            "order mark",
        ) as error:
            len(Frame(path, read={"encoding": encoding}))
        assert error.value.tries == {"encoding": f"{encoding}-le"}
        assert len(Frame(path, read={"encoding": f"{encoding}-{order}"})) == 2


@pytest.mark.slow
def test_an_encoding_reads_each_line_alone():
    """Whatever stands before a line feed, what follows it is read as if alone."""
    for encoding in _WIDE - {e for e in _WIDE if e.startswith(("utf-16", "utf-32"))}:
        for junk in itertools.product(range(128, 256), [*range(9), *range(11, 256)]):
            text = (bytes(junk) + b"\nab,1\n").decode(encoding, "replace")
            assert text.endswith("\nab,1\n"), (encoding, junk)
    for stateful in ("iso2022_jp", "hz", "utf-7", "unicode_escape", "rot13", "no such", 3):
        with pytest.raises(ParameterError, match="encoding must be a Python encoding"):
            Reading(encoding=stateful)


def test_a_declared_header(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"1;a\n2;b\n")
    frame = Frame(path, read={"header": "age,vote", "separator": ";"})
    assert (frame.columns, len(frame)) == (("age", "vote"), 2)
    assert frame.distinct("vote")[0] == ["a", "b"]


def test_without_quotes_every_line_is_a_record(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b'x,y\n"open,1\n2,"3"\n4,5\n')
    assert len(Frame(path)) == 2
    frame = Frame(path, read={"quotes": False})
    assert len(frame) == 3
    assert frame.distinct("x")[0] == ['"open', "2", "4"]


def test_files_are_matched_by_name(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,10\n2,20\n")
    (tmp_path / "b.csv").write_bytes(b"y;x\r\n30;3\r\n")
    frame = Frame(tmp_path / "*.csv")
    assert [frame.total(Ticks(c, Grid(0, 99, step=1))) for c in ("x", "y")] == [6, 60]
    assert frame.column("y").texts.tolist() == ["10", "20", "30"]
    (tmp_path / "c.csv").write_bytes(b"x,z\n1,10\n")
    with pytest.raises(ParameterError, match="the files must have the same columns"):
        Frame(tmp_path / "*.csv")


def test_a_first_line_that_may_be_a_record_is_not_shown(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"34,Bob Smith\n35,Ann\n")
    schema = sd.local.Schema(age=sd.local.Number(0, 99, 1), epsilon=1, missing="random")
    for ask in (
        lambda: sd.count(path, by="age", keys=["a"], epsilon=1),
        lambda: schema.sanitize(path, to=tmp_path / "clean.csv"),
    ):
        with pytest.raises(ParameterError, match="first line of the file holds numbers") as caught:
            ask()
        assert "Bob" not in str(caught.value)


@pytest.mark.slow
def test_of_a_first_line_without_numbers_only_what_was_typed_is_shown(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"Age,Bob Smith\nx,Ann\n")
    asked = {
        "name": "Look at the columns with sourdine inspect",
        "age": r"Did you mean 'Age'\?",
        None: "Look at the columns with sourdine inspect",
    }
    for column, said in asked.items():
        with pytest.raises(ParameterError, match=said) as caught:
            sd.mean(path, column=column, bounds=(0, 1), epsilon=1)
        assert "Bob" not in str(caught.value)
    with pytest.raises(ParameterError, match=r"The columns are: 'age', 'name'\."):
        sd.count(path, column="x", epsilon=1, read={"header": ["age", "name"]})
    assert "Bob Smith" in str(sd.inspect(path))


def test_a_frame_has_one_reading():
    frame = Frame(["1,5"], read=GERMAN)
    with pytest.raises(
        ParameterError, match="be omitted for a frame, which was opened with its own"
    ):
        Frame(frame, read=FRENCH)
    assert Frame(frame, read=GERMAN).reading is Frame(frame).reading is GERMAN


def test_a_session_reads_as_it_was_opened():
    session = sd.Session({"pay": ["1,5", "2,5"] * 50}, epsilon=200, read={"decimal": ","})
    release = session.mean(column="pay", bounds=(0, 10), step=0.5, epsilon=99)
    assert abs(release.value - 2) < 0.1
    facts = release.to_dict()
    assert facts["question"]["read"] == {"decimal": ","}
    assert sd.Release.from_json(release.to_json()) == release
    asked = sd.questions.read({"statistic": "count", "epsilon": 1})
    assert session.ask(asked).to_dict()["question"]["read"] == {"decimal": ","}
    spent = session.spent
    with pytest.raises(
        ParameterError, match="read must be omitted: the session was opened with its own"
    ):
        session.count(epsilon=1, read={"decimal": "."})
    assert session.spent == spent
    assert session.plan.count(epsilon=1).error > 0


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"decimal": "x"}, r"read: decimal must be '\.' or ','"),
        ({"thousands": ",", "decimal": ","}, "differ from the decimal separator"),
        ({"separator": "x"}, "separator"),
        ({"symbols": ["1"]}, "contain no characters of numbers and no leading or trailing blanks"),
        ({"header": ["a", "a"]}, "be different strings"),
        ({"quotes": 1}, "quotes"),
        (
            {"dec": ","},
            "read must hold only encoding, separator, header, quotes, decimal, thousands,"
            " symbols, date_format",
        ),
        (3, "read must be a dict or a Reading"),
    ],
)
def test_what_cannot_be_declared(bad, text):
    with pytest.raises((ParameterError, TypeError), match=text):
        Frame([1], read=bad)


def test_polars_and_pandas_texts():
    for data in (pl.DataFrame({"x": ["1,5"]}), pd.DataFrame({"x": ["1,5"]})):
        assert Frame(data, read=GERMAN).array().tolist() == [1.5]
        assert Frame(data, read=GERMAN).bound("x", 1).array("x").tolist() == [1.5]


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf"])
def test_the_bytes_of_a_first_record_name_no_encoding(tmp_path, mark):
    """Where there is no header the first line is one person's, and nobody else's is read by it."""
    people = tmp_path / "people.csv"
    people.write_bytes(mark + b"Ann,yes\n" + b"Bob,yes\n" * 50)
    assert len(sd.Frame(str(people), read={"header": ("name", "vote")})) == 51
    values = tmp_path / "values.txt"
    values.write_bytes(mark + b"1\n" + b"1\n" * 50)
    assert len(sd.Frame(str(values))) == 51


def test_numbers_of_thousands_of_digits_are_clamped_by_all_engines(tmp_path):
    """Python itself refuses to read or write whole numbers of more than 4300 digits."""
    long = "9" * 5000
    cells = ["1", long, f"-{long}", f"{long}.5", f"0.{long}", f"1e{long}", f"1e-{long}"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["x", *cells, ""]))
    ways = {
        "csv": path,
        "list": {"x": cells},
        "polars": pl.DataFrame({"x": cells}),
        "lazy": pl.DataFrame({"x": cells}).lazy(),
        "pandas": pd.DataFrame({"x": cells}),
        "arrow": pa.table({"x": cells}),
        "ints": {"x": [1, 10**5000, -(10**5000), 10**5000, 1, 10**400, Fraction(1, 10**5000)]},
        "decimals": {"x": [Decimal(cell) for cell in cells[:5]] + [Decimal("1e99999"), 0]},
    }
    for name, data in ways.items():
        counts = Frame(data).tally(Ticks("x", Grid(0, 2, step=1))).counts.tolist()
        assert counts == [2, 2, 3, 0], name
