"""Records of text files: how one is read depends on that one alone."""

from __future__ import annotations

import gzip
import itertools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sourdine.frames import text_files
from sourdine.frames.frame import Frame
from sourdine.frames.text_files import Layout, is_plain, rewritten

HEAD = b"id,x,y\n"
NAMES = ("id", "x", "y")
PIECES = [
    *(b",", b",", b'"', b'"', b'""', b"\n", b"\r\n", b"\r", b" ", b"  ", b"\t", b"\0", b"\xff"),
    *(b"\xc3", b"\xc3\xa9", b"\xe2\x82", b"\xef\xbb\xbf", b"a", b"12", b"-1.5", b"'", b"\\", b";"),
    *(b"#", b"\x85", b"\xe2\x80\xa8", b"\x1a", b'"a,b"', b'"a\nb"', b'"a""b"', b',"', b'",', b"|"),
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join)


def reference(body, columns=3):  # noqa: C901 - a machine of five states
    """Read a body character by character, by the table in the module."""
    text = body.decode("utf-8", "replace").replace("\0", "\ufffd")
    text = "".join(
        " " if c == "\r" and text[i + 1 : i + 2] != "\n" else c for i, c in enumerate(text)
    )
    rows, row, cell, state = [], [], "", "begun"

    def finish():
        nonlocal row, cell, state
        plain = cell.removesuffix("\r") if state in {"begun", "plain"} else cell
        if row or plain or state in {"quoted", "closing", "closed"} or columns == 1:
            rows.append([*row, plain])
        row, cell, state = [], "", "begun"

    for c in text:
        if state == "closing":
            state = "quoted" if c == '"' else "closed"
            if c == '"':
                cell += c
                continue
        if state == "quoted":
            if c == '"':
                state = "closing"
            else:
                cell += c
        elif c == ",":
            row, cell, state = [*row, cell], "", "begun"
        elif c == "\n":
            finish()
        elif state == "begun" and c == '"':
            cell, state = "", "quoted"
        elif state != "closed":
            cell += c
            state = "begun" if state == "begun" and c == " " else "plain"
    if text and not (state == "begun" and not row and not cell):
        finish()
    return [[(c or None) for c in (r + [""] * columns)[:columns]] for r in rows]


def rows_of(path, names=NAMES):
    frame = Frame(path)
    columns = [frame.column(name).texts.tolist() for name in names]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.mark.slow
@settings(max_examples=25)
@given(HOSTILE)
@example(b'5" pipe\n6" pipe\n')
@example(b'1, "a,b",c\n')
@example(b'1,"a\r\nb"\r\n"x"y,2\r\n')
@example(b"\n\r\n1\n\n")
@example(b'"')
def test_the_engine_reads_the_same(folder, body):
    path = folder / "rows.csv"
    path.write_bytes(HEAD + body)
    expected = reference(body)
    assert rows_of(path) == expected
    assert len(Frame(path)) == len(expected)
    path.write_bytes(b"x\n" + body)
    expected = reference(body, columns=1)
    assert rows_of(path, ["x"]) == expected
    assert len(Frame(path)) == len(expected)


def is_one_record(body):
    """Whether a body and the line feed after it are one record of its own."""
    with_next = reference(body + b"\nnext,n,n\n")
    return len(with_next) == 2 and with_next[1] == ["next", "n", "n"]


KINDS = ("plain", "rough")
OTHERS = [b"1,2,a", b'2,"3",b', b'3, "4",c', b"4,5,\xe9", b'5,6,"d\nd"', b"6,7,\xc3\xa9", b"7,8"]


@pytest.mark.slow
@settings(max_examples=25)
@given(HOSTILE.filter(is_one_record), st.integers(0, len(OTHERS)), st.sampled_from(KINDS))
@example(b"Jos\xe9,1,2", 3, "plain")
@example(b"x" * 3_000_000, 0, "rough")
@example(b'"' + b"7\n" * 1_500_000 + b'",1,2', 2, "rough")
@example(b",".join([b"1"] * 1_200_000), 2, "rough")
@example(b"a\rb\rc\rd,1,2", 2, "plain")
@example(b"a\0,1,2", 1, "plain")
@example(b'", ""yes""",1,2', 1, "plain")
def test_a_record_is_read_alone(folder, hostile, place, kind):
    """Whatever its bytes, the others are read as they were, and there is one record more."""
    others = [o for o in OTHERS if kind == "rough" or o in {b"1,2,a", b'2,"3",b', b"7,8"}]
    place = min(place, len(others))
    without, full = folder / "without.csv", folder / "with.csv"
    without.write_bytes(HEAD + b"\n".join(others) + b"\n")
    full.write_bytes(HEAD + b"\n".join([*others[:place], hostile, *others[place:]]) + b"\n")
    before, after = rows_of(without), rows_of(full)
    assert len(after) == len(before) + 1 == len(Frame(full))
    assert after[:place] + after[place + 1 :] == before


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("seed", range(3))
def test_many_hostile_records_beside_each_other(folder, seed):
    """All pairs of pieces and many longer rows of them, each a record of its own if it can be."""
    choose = random.Random(seed)  # noqa: S311 - test data
    longer = [b"".join(choose.choices(PIECES, k=choose.randint(3, 15))) for _ in range(4000)]
    pairs = [a + b for a, b in itertools.product(PIECES, repeat=2)]
    hostile = [body for body in (*pairs, *longer) if is_one_record(body)]
    choose.shuffle(hostile)
    assert len(hostile) > 1000
    path = folder / "many.csv"
    path.write_bytes(HEAD + b"".join(b"n,1,1\n" + body + b"\n" for body in hostile))
    rows = rows_of(path)
    assert rows[::2] == [["n", "1", "1"]] * len(hostile)
    assert rows[1::2] == [reference(body + b"\n")[0] for body in hostile]


@pytest.mark.slow
@settings(max_examples=100)
@given(HOSTILE, st.sampled_from([(3, 5), (1, 4), (7, 100), (64, 9)]))
def test_blocks_do_not_matter(folder, body, sizes):
    """Wherever a file is cut into blocks, it is rewritten to the same records."""
    path = folder / "cut.csv"
    path.write_bytes(HEAD + body)
    layout = Layout(separator=",", columns=3)
    whole = reference(b"".join(rewritten(str(path), layout)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "_BLOCK", sizes[0])
        patch.setattr(text_files, "_WINDOW", sizes[1])
        cut = reference(b"".join(rewritten(str(path), layout)))
    assert cut == whole == reference(HEAD + body)


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        *((b"1,2,a\n", True), (b"1,2,a\r\n2,3,b", True), (b'1,"a\r\n""b""",""\n', True)),
        *(("1,é,a\n".encode(), True), (b"1,2\n1,2,3,4\n", True), (b"1,2,a\n" * 1_000_000, True)),
        *((b'1,"b",a\n' * 700_000 + b"1", True), (b'1, "b",a\n', False), (b"1,\xe9,a\n", False)),
        *((b"1,\0,a\n", False), (b"1,a\rb,a\n", False), (b"1,%s,a\n" % (b"x" * 1_050_000), False)),
        *((b'1,5" pipe,a\n', False), (b'1,"a"b,a\n', False), (b'1,"a\n', False)),
        *((b"1,2\n\n1,2,3,4\n", True), (b"1,2\r\n\r\n", True)),
    ],
    ids=range(17),
)
def test_what_the_engine_reads_as_it_is(body, plain, folder):
    """No plain file is copied: nothing is lost to its speed."""
    path = folder / "plain.csv"
    for head in (HEAD, b"\xef\xbb\xbf" + HEAD, b'"id","x","y"\n'):
        path.write_bytes(head + body)
        assert is_plain(str(path), Layout(separator=",", columns=3)) is plain


def test_long_records(folder):
    """A cell beyond its share of a long record is unreadable, and the rest is what it was."""
    path = folder / "long.csv"
    path.write_bytes(HEAD + b"1," + b"7" * 3_000_000 + b",a\n2," + b"9" * 900_000 + b",b\n")
    assert rows_of(path) == [["1", "\ufffd", "a"], ["2", "9" * 900_000, "b"]]


def test_lines_of_an_old_mac(folder):
    """The end of the first line says so, and no record can."""
    path = folder / "mac.csv"
    path.write_bytes(b'id,x,y\r1,2,a\r2,"b\rc",d\n\r3,4\r')
    assert rows_of(path) == [["1", "2", "a"], ["2", "b\nc", "d "], ["3", "4", None]]
    path.write_bytes(b"id,x,y\n1,2,a\r2,3,b\n")
    assert rows_of(path) == [["1", "2", "a 2"]]


def test_compressed(folder):
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(HEAD + b"1,\xe9,a\n2,3,b\n"))
    assert rows_of(path) == [["1", "\ufffd", "a"], ["2", "3", "b"]]
