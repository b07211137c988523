"""A CSV file is text, however dirty."""

from __future__ import annotations

import gc
import gzip
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

HEAD = b'id,x,"na ""me"\n'
GRID = Grid(0, 10, step=1)


@pytest.fixture
def csv(tmp_path):
    def write(content, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return Frame(path)

    return write


@pytest.mark.slow
def test_one_text_cell_changes_nothing_else(csv):
    clean = b"".join(b"%d,%d,a\n" % (i, i % 10) for i in range(30_000))
    before = csv(HEAD + clean).tally(Ticks("x", GRID)).counts
    after = csv(HEAD + clean + b"1,none of your business,a\n").tally(Ticks("x", GRID)).counts
    assert (after - before).tolist() == [0] * 11 + [1]


def test_rows_of_the_wrong_length(csv):
    frame = csv(HEAD + b"1,2,a\n2,3\n3,4,b,extra,more\n4\n\n5,5,c\n")
    assert frame.columns == ("id", "x", 'na "me')
    assert frame.tally(Ticks("x", GRID)).counts.tolist() == [0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
    assert frame.tally(Codes('na "me', ["a", "b", "c"])).counts.tolist() == [1, 1, 1, 2]


def test_quotes_and_blanks(csv):
    frame = csv(HEAD + b'1," 2 ",a\n2,"3"z,d"x\n3,"",""\n4,4,"a, ""b""\nc"\n')
    assert frame.tally(Ticks("x", GRID)).counts.tolist()[2:5] == [1, 1, 1]
    assert frame.distinct('na "me')[0] == ["a", 'a, "b"\nc', 'd"x']


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"\n\n\n", b"1", b'"', b'1,"2,a\n2,3,b\n', b"1,\xff\xfe,a\n2,3,b\n", b"\x00,\x00\n"),
        *(b"1,2,a\r2,3,b\r\n3,4,c\n", b"1," + b"7" * 3_000_000 + b",a\n", b",,,,,,\n", b"1;2;a\n"),
        *(b'1,2,"a"b"c"\n', b'"""\n', b"1,2,\xc3\x28\n", b"'1','2'\n", b"1,2,a\n" * 5 + b'"'),
    ],
)
def test_a_dirty_csv_never_raises(body, csv):
    for content in (HEAD + body, b"\xef\xbb\xbf" + HEAD + body):
        frame = csv(content)
        n = len(frame)
        assert frame.tally(Ticks("x", GRID)).counts.sum() == n
        assert frame.total(Ticks("x", GRID)) >= 0
        assert len(frame.bound("id", 1)) <= n
        frame.distinct('na "me')


@pytest.mark.slow
@settings(max_examples=25)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_body(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_bytes(HEAD + body)
    frame = Frame(path)
    assert frame.tally(Ticks("x", GRID)).counts.sum() == len(frame)


@pytest.mark.slow
def test_a_bad_row_leaves_the_others_alone(csv):
    good = b"1,2,a\n2,3,b\n"
    for bad in (b"9,\xff,z\n", b"9\n", b"9,9,9,9,9\n", b'9,x"y,z\n', b"9,,\n"):
        counts = csv(HEAD + good + bad + good).tally(Ticks("x", GRID)).counts
        assert (counts[2], counts[3]) == (2, 2), bad


@pytest.mark.parametrize("separator", [b";", b"\t", b"|", b","])
def test_the_header_names_the_separator(separator, csv):
    lines = [b"a", b"b c", b"d"], [b"1", b"2", b"3"]
    frame = csv(b"\n".join(separator.join(line) for line in lines))
    assert frame.columns == ("a", "b c", "d")
    assert frame.total(Ticks("b c", GRID)) == 2


def test_names_that_are_empty_or_differ_in_case(csv):
    assert csv(b"a,,A,\n1,2,3,4\n").columns == ("a", "column1", "A_2", "column3")


def test_names_that_stand_twice_are_not_shown(csv):
    """The first line may be somebody's record."""
    with pytest.raises(
        ParameterError, match="have distinct column names in its header line"
    ) as error:
        csv(b"4711,x,4711\n1,2,3\n")
    assert "4711" not in str(error.value)


@pytest.mark.slow
def test_compressed_and_several_files(csv, tmp_path):
    zipped = csv(gzip.compress(HEAD + b"1,2,a\n"), "rows.csv.gz")
    assert zipped.total(Ticks("x", GRID)) == 2
    csv(HEAD + b"1,3,a\n", "part-1.csv")
    csv(HEAD + b"1,4,a\n", "part-2.csv")
    assert Frame(tmp_path / "part-*.csv").total(Ticks("x", GRID)) == 7
    csv(HEAD + b"1,5,a\n", "part[1]*'.csv")
    assert Frame(tmp_path / "part[1]*'.csv").total(Ticks("x", GRID)) == 5


def test_what_is_no_file(tmp_path, csv):
    with pytest.raises(FileNotFoundError, match=r"No such file: '.*no\.csv'"):
        Frame(tmp_path / "no.csv")
    with pytest.raises(ParameterError, match=r"the file must end in \.csv, \.tsv, \.parquet"):
        Frame(str(tmp_path / "rows.xls"))
    with pytest.raises(ParameterError, match="must begin with a header line of column names"):
        csv(b"")
    broken = tmp_path / "rows.parquet"
    broken.write_bytes(b"PAR1 secret PAR1")
    with pytest.raises(ParameterError, match="must be readable to the end") as caught:
        Frame(broken)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.slow
def test_what_is_spilled_is_private_and_goes(csv, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = csv(HEAD + b"1,2,a\n")
    (folder,) = tmp_path.glob("sourdine-*")
    assert folder.stat().st_mode & 0o077 == 0
    part = frame.bound("id", 1)
    del frame
    assert len(part) == 1
    assert folder.exists()
    del part
    gc.collect()
    assert not folder.exists()
