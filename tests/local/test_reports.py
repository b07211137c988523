"""Records survive the wire, and whatever else arrives is dropped for the right reason."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.reports.aggregator import Aggregator
from sourdine.local.reports.records import (
    Form,
    Reason,
    Records,
    length,
    longest,
    read_lines,
    rows_of,
    texts_of,
    to_lines,
)
from sourdine.local.reports.sources import from_arrow, read, to_arrow, to_ipc, to_parquet
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee

MARK = "0123456789abcdef"
STRATEGIES = ("split", "sample")


def make_form(method="split", fingerprint=MARK):
    randomisers = {
        "age": BoundedLaplace(epsilon=1, last=120),
        "vote": RandomizedResponse(epsilon=1, categories=4),
        "town": UnaryEncoding(epsilon=1, categories=21),
    }
    return Form(
        randomisers=randomisers,
        fingerprint=fingerprint,
        method=method,
        guarantee=Guarantee(3, 0, LOCAL),
    )


def make_records(form, n=40, seed=1):
    source = SeededSource(seed)
    people = np.arange(n)
    asked = people % 3 if form.sampled else None
    answers = {}
    for i, (name, mechanism) in enumerate(form.randomisers.items()):
        mine = people[asked == i] if form.sampled else people
        answers[name] = mechanism.randomise(mine % (mechanism.top + 1), source=source)
    return Records.stamped(form, answers, asked=asked, source=source)


def same(a, b):
    assert np.array_equal(a.id_bytes(), b.id_bytes())
    assert (a.asked is None) == (b.asked is None)
    assert a.asked is None or np.array_equal(a.asked, b.asked)
    for x, y in zip(a.answers, b.answers, strict=True):
        assert x.dtype == y.dtype
        assert np.array_equal(x, y)


def one(blocks):
    [(records, dropped)] = blocks
    return records, dropped


@pytest.fixture(params=STRATEGIES)
def form(request):
    return make_form(request.param)


def test_a_line_is_what_the_page_says():
    record = make_records(make_form(), 1)
    line = to_lines(record)[0]
    assert " " not in line
    assert "\n" not in line
    assert list(json.loads(line)) == ["v", "s", "i", "a"]
    assert json.loads(line)["s"] == MARK
    assert [type(x) for x in json.loads(line)["a"]] == [int, int, str]
    sampled = [json.loads(text) for text in to_lines(make_records(make_form("sample"), 3))]
    assert [list(record) for record in sampled] == [["v", "s", "i", "c", "a"]] * 3
    assert [record["c"] for record in sampled] == [0, 1, 2]


def test_lines_round_trip(form):
    records = make_records(form)
    for lines in (to_lines(records), [text.encode() for text in to_lines(records)]):
        back, dropped = one(read_lines(form, lines))
        same(records, back)
        assert not dropped


def test_arrow_round_trip(form):
    records = make_records(form)
    table = to_arrow(records)
    assert table.schema.field("a0").type == pa.uint8()
    assert table.schema.field("a2").type == pa.binary(3)
    for data in (table, to_ipc(records), to_parquet(records), table.slice(0), table.to_reader()):
        back, dropped = one(read(form, data))
        same(records, back)
        assert not dropped
    pieces = pa.concat_tables([table.slice(0, 7), table.slice(7)])
    same(records, from_arrow(form, pieces)[0])
    same(make_records(form).keep(np.arange(40) >= 7), from_arrow(form, table.slice(7))[0])


def test_files_round_trip(form, tmp_path):
    records = make_records(form)
    lines = "\n".join(to_lines(records))
    contents = {
        "plain.jsonl": lines.encode(),
        "ended.jsonl": f"{lines}\n".encode(),
        "blank.jsonl": f"\n{lines}\n\n  \n".replace("\n", "\r\n").encode(),
        "a.arrow": to_ipc(records),
        "a.parquet": to_parquet(records),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        for data in (tmp_path / name, str(tmp_path / name), content, bytearray(content)):
            back, dropped = one(read(form, data))
            same(records, back)
            assert not dropped


def test_nothing_is_read_as_nothing(form, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    empty = make_records(form, 0)
    for data in ([], b"", tmp_path / "empty", to_arrow(empty), to_ipc(empty), empty, [" "]):
        assert Aggregator(form).add(data).received == 0
    assert to_lines(empty) == []


def test_ids_are_fresh_and_keep_their_zeros():
    form = make_form()
    a, b = make_records(form, 100, seed=1), make_records(form, 100, seed=2)
    assert np.unique(np.concatenate((a.ids, b.ids))).size == 200
    raw = np.zeros((256, 16), np.uint8)
    raw[:, 0] = np.arange(256)
    records = make_records(form, 256)
    zeros = Records(form, raw.view("S16")[:, 0], records.answers)
    same(zeros, one(read_lines(form, to_lines(zeros)))[0])
    same(zeros, from_arrow(form, to_arrow(zeros))[0])
    assert Aggregator(form).add(to_lines(zeros)).accepted == 256


def test_an_id_in_other_letters_is_the_same_id():
    form = make_form()
    record = json.loads(to_lines(make_records(form, 1))[0])
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = letters.index(record["i"][-1])
    twins = [record | {"i": record["i"][:-1] + letters[last // 16 * 16 + j]} for j in range(16)]
    receipt = Aggregator(form).add(map(json.dumps, twins))
    assert (receipt.accepted, receipt.dropped) == (1, {Reason.REPLAYED: 15})


def test_open_files_are_read(form, tmp_path):
    lines = to_lines(make_records(form))
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    for mode in ("r", "rb"):
        with (tmp_path / "lines").open(mode) as file:
            assert Aggregator(form).add(file).accepted == 40


@pytest.mark.slow
@given(st.integers(1, 40), st.integers(0, 9), st.integers(0, 1000))
def test_bytes_as_text(width, rows, seed):
    data = np.frombuffer(SeededSource(seed).bytes(width * rows), np.uint8).reshape(rows, width)
    written = texts_of(data)
    assert all(len(text) == length(width) and "=" not in text for text in written)
    assert np.array_equal(rows_of(written, width), data)


def changed(form, **values):
    """Return a good line with some of its parts changed."""
    record = json.loads(to_lines(make_records(form, 1))[0]) | values
    return json.dumps({key: value for key, value in record.items() if value is not ...})


BAD = {
    Reason.MALFORMED: [
        {"v": "1"},
        {"v": True},
        {"v": 1.0},
        {"v": ...},
        {"s": ...},
        {"i": ...},
        {"a": ...},
        {"x": 1},
        {"c": 0},
        {"i": 5},
        {"i": "short"},
        {"i": "é" * 22},
        {"i": "A" * 23},
        {"a": "[]"},
        {"a": {"0": 1}},
        {"a": None},
    ],
    Reason.VERSION: [{"v": 2}, {"v": 0}, {"v": -1}, {"v": 10**30}, {"v": 2, "a": ..., "z": []}],
    Reason.FOREIGN: [{"s": "f" * 16}, {"s": MARK.upper()}, {"s": 0}, {"s": None}, {"s": [MARK]}],
    Reason.COLUMNS: [{"a": []}, {"a": [1, 2]}, {"a": [1, 2, "AAAA", 1]}],
    Reason.KIND: [
        {"a": [1.0, 2, "AAAA"]},
        {"a": [True, 2, "AAAA"]},
        {"a": [None, 2, "AAAA"]},
        {"a": ["1", 2, "AAAA"]},
        {"a": [[1], 2, "AAAA"]},
        {"a": [{}, 2, "AAAA"]},
        {"a": [float("nan"), 2, "AAAA"]},
        {"a": [float("inf"), 2, "AAAA"]},
        {"a": [1, 2, 3]},
        {"a": [1, 2, "AAA"]},
        {"a": [1, 2, "AAAAA"]},
        {"a": [1, 2, "AA=="]},
        {"a": [1, 2, "AA\n-"]},
        {"a": [1, 2, "ÀÀÀÀ"]},
    ],
    Reason.DOMAIN: [
        {"a": [121, 2, "AAAA"]},
        {"a": [-1, 2, "AAAA"]},
        {"a": [1, 4, "AAAA"]},
        {"a": [2**63, 2, "AAAA"]},
        {"a": [-(2**63) - 1, 2, "AAAA"]},
        {"a": [2**64 + 1, 2, "AAAA"]},
        {"a": [10**40, 2, "AAAA"]},
        {"a": [1, 2, "____"]},
    ],
}


@pytest.mark.parametrize("reason", BAD, ids=lambda r: r.name)
def test_bad_records_have_their_reason(reason):
    form = make_form()
    good = to_lines(make_records(form, 5, seed=9))
    for values in BAD[reason]:
        total = Aggregator(form)
        receipt = total.add([*good, changed(form, **values)])
        assert receipt.dropped == {reason: 1}, values
        assert receipt.accepted == 5
        assert total.reports("age") == 5


def test_bad_samples_have_their_reason():
    form = make_form("sample")
    for values, reason in (
        ({"c": ...}, Reason.MALFORMED),
        ({"c": 3}, Reason.COLUMNS),
        ({"c": -1}, Reason.COLUMNS),
        ({"c": True}, Reason.COLUMNS),
        ({"c": 0.0}, Reason.COLUMNS),
        ({"c": "0"}, Reason.COLUMNS),
        ({"c": 10**30}, Reason.COLUMNS),
        ({"a": []}, Reason.COLUMNS),
        ({"a": [1, 1]}, Reason.COLUMNS),
        ({"a": ["AAAA"]}, Reason.KIND),
        ({"c": 2}, Reason.KIND),
        ({"c": 2, "a": ["AAAAA"]}, Reason.KIND),
        ({"a": [121]}, Reason.DOMAIN),
        ({"c": 2, "a": ["____"]}, Reason.DOMAIN),
    ):
        assert Aggregator(form).add([changed(form, **values)]).dropped == {reason: 1}, values


def test_a_key_given_twice_is_malformed():
    line = to_lines(make_records(make_form(), 1))[0]
    twice = line.replace('"a":', '"a":[1,2,"AAAA"],"a":')
    assert Aggregator(make_form()).add([twice]).dropped == {Reason.MALFORMED: 1}
    moved = json.dumps(dict(reversed(json.loads(line).items())), indent=1)
    assert Aggregator(make_form()).add([moved]).accepted == 1


def test_things_that_are_no_records_are_malformed():
    lines = [
        *("null", "1", "[]", "{}", '"text"', "NaN", "{", "}", "\x00", "true", "[{}]"),
        *("[" * 200, '{"a":' * 40, "9" * 200, "\ud800", '{"v":1', "﻿{}"),
        *(
            "\u2003",
            "\u2003".encode(),
            b"\xff\xfe",
            b"\x80",
            "{}".encode("utf-16"),
            None,
            5,
            {"v": 1},
            [],
            object(),
        ),
    ]
    assert Aggregator(make_form()).add(lines).dropped == {Reason.MALFORMED: len(lines)}


def test_deep_nesting_in_a_long_form_is_malformed():
    wide = UnaryEncoding(epsilon=1, categories=200_000)
    form = Form(
        randomisers={"url": wide},
        fingerprint=MARK,
        method="split",
        guarantee=wide.guarantee,
    )
    lines = ["[" * 60_000, '{"a":' * 12_000, "9" * 60_000]
    assert Aggregator(form).add(lines).dropped == {Reason.MALFORMED: 3}


@pytest.mark.slow
def test_a_long_line_is_never_held(tmp_path):
    form = make_form()
    good = to_lines(make_records(form, 3))
    most = longest(form)
    path = tmp_path / "long.jsonl"
    size = 100 << 20
    with path.open("wb") as file:
        file.write(f"{good[0]}\n".encode())
        for _ in range(size >> 20):
            file.write(b"[" * (1 << 20))
        file.write(f"\n{good[1]}\n{good[2]}{' ' * (most - len(good[2]))}\n".encode())
        file.write(b" " * (most + 1) + b"\n" + b" " * (most + 2))
    tracemalloc.start()
    receipt = Aggregator(form).add(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert receipt.accepted == 3
    assert receipt.dropped == {Reason.TOO_LONG: 3}
    assert peak < size / 10


def test_good_lines_are_never_too_long(form):
    assert max(map(len, to_lines(make_records(form)))) < longest(form) / 2


def test_bad_tables_have_their_reason(form):
    table = to_arrow(make_records(form, 12))
    here = 4 if form.sampled else 12
    marks = table.schema.metadata

    def put(name, column):
        return table.set_column(table.column_names.index(name), name, column)

    texts = pa.array(["x"] * 12)
    for bad, dropped in (
        (table.replace_schema_metadata(None), {Reason.MALFORMED: 12}),
        (table.replace_schema_metadata({b"sourdine.version": b"1"}), {Reason.MALFORMED: 12}),
        (table.replace_schema_metadata(marks | {b"sourdine.version": b"2"}), {Reason.VERSION: 12}),
        (table.replace_schema_metadata(marks | {b"sourdine.schema": b"x"}), {Reason.FOREIGN: 12}),
        (table.drop_columns(["a1"]), {Reason.COLUMNS: 12}),
        (table.append_column("a3", texts), {Reason.COLUMNS: 12}),
        (table.append_column("id", texts), {Reason.COLUMNS: 12}),
        (put("id", texts), {Reason.MALFORMED: 12}),
        (put("id", pa.array([b"short"] * 12)), {Reason.MALFORMED: 12}),
        (put("id", pa.nulls(12, pa.binary(16))), {Reason.MALFORMED: 12}),
        (put("a0", pa.nulls(12, pa.int64())), {Reason.COLUMNS: here}),
        (put("a0", table["a0"].cast(pa.float64())), {Reason.KIND: here}),
        (put("a1", table["a1"].cast(pa.string())), {Reason.KIND: here}),
        (put("a2", table["a0"]), None),
    ):
        total = Aggregator(form)
        receipt = total.add(bad)
        assert receipt.received == 12
        if dropped is not None:
            assert receipt.dropped == dropped
    if form.sampled:
        for asked in (3, -1, None, "0", 0.0):
            receipt = Aggregator(form).add(put("c", pa.array([asked] * 12)))
            assert receipt.dropped == {Reason.COLUMNS: 12}
        assert Aggregator(form).add(put("c", pa.array([0] * 12))).dropped == {Reason.COLUMNS: 8}


def test_table_cells_out_of_domain_are_dropped_alone():
    form = make_form()
    table = to_arrow(make_records(form, 4))
    ages = pa.array([2**64 - 1, 121, 5, 2**63], pa.uint64())
    receipt = Aggregator(form).add(table.set_column(1, "a0", ages))
    assert (receipt.accepted, receipt.dropped) == (1, {Reason.DOMAIN: 3})
    ages = pa.array([-1, 120, 0, None], pa.int16())
    receipt = Aggregator(form).add(table.set_column(1, "a0", ages))
    assert receipt.dropped == {Reason.DOMAIN: 1, Reason.COLUMNS: 1}
    wide = pa.array([b"\0\0\0", b"\0\0", None, b"\0\0\x20"], pa.binary())
    receipt = Aggregator(form).add(table.set_column(3, "a2", wide))
    assert receipt.dropped == {Reason.KIND: 1, Reason.COLUMNS: 1, Reason.DOMAIN: 1}


@pytest.mark.slow
@given(st.binary(max_size=300), st.integers(0, 1000))
def test_damaged_files_are_malformed_once(noise, cut):
    form = make_form()
    records = make_records(form, 20)
    for whole in (to_ipc(records), to_parquet(records)):
        broken = whole[: cut % len(whole)] + noise
        receipt = Aggregator(form).add(broken)
        assert receipt.accepted + sum(receipt.dropped.values()) >= 0
    for head in (b"PAR1", b"ARROW1"):
        assert Aggregator(form).add(head + noise).dropped == {Reason.MALFORMED: 1}


def written(table):
    out = BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_batch(table)
    return out.getvalue()


def test_tables_that_lie_about_their_memory_are_malformed():
    form = make_form()
    [good] = to_arrow(make_records(form, 3)).to_batches()
    plain = good.set_column(0, "id", good["id"].cast(pa.large_binary()))
    content = written(plain)
    assert Aggregator(form).add(content).accepted == 3
    honest, lie = (np.array([0, 16, 32, end], np.int64).tobytes() for end in (48, 1 << 40))
    assert content.count(honest) == 1
    lying = content.replace(honest, lie)
    batch = pa.ipc.open_file(lying).get_batch(0)
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch])
    for data in (lying, batch, pa.Table.from_batches([batch]), reader):
        receipt = Aggregator(form).add(data)
        assert (receipt.accepted, receipt.dropped) == (0, {Reason.MALFORMED: 1})


def test_a_stream_that_breaks_is_malformed_once():
    form = make_form()
    table, out = to_arrow(make_records(form, 30)), BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    cut = out.getvalue()[: -len(out.getvalue()) // 5]
    receipt = Aggregator(form).add(pa.ipc.open_stream(cut))
    assert (receipt.accepted, receipt.dropped) == (20, {Reason.MALFORMED: 1})


def test_rows_for_nothing_cost_nothing():
    form = make_form()
    marks = to_arrow(make_records(form, 1)).schema.metadata
    many = 1 << 50
    for kind in (pa.null(), pa.binary(0)):
        buffers = [None] if kind == pa.null() else [None, pa.py_buffer(b"")]
        empty = pa.Array.from_buffers(kind, many, buffers)
        names = ["id", "a0", "a1", "a2"]
        batch = pa.record_batch([empty] * 4, names=names).replace_schema_metadata(marks)
        assert Aggregator(form).add(batch).accepted == 0


def test_a_large_file_is_read_in_blocks(tmp_path):
    form = make_form()
    records = make_records(form, 200)
    pq.write_table(to_arrow(records), tmp_path / "x.parquet", row_group_size=64)
    assert Aggregator(form).add(tmp_path / "x.parquet").accepted == 200


def test_records_of_another_shape_are_refused():
    form = make_form()
    ages, votes, towns = make_records(form, 5).answers
    for answers, asked in (
        ({"age": ages, "vote": votes}, None),
        ({"age": ages, "vote": votes[:4], "town": towns}, None),
        ({"age": ages, "vote": votes, "town": towns[:, :2]}, None),
        ({"age": ages, "vote": votes, "town": towns}, [0] * 5),
    ):
        with pytest.raises(ParameterError, match="answers must hold one report"):
            Records.stamped(form, answers, asked=asked)
    for asked in ([0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, -1]):
        with pytest.raises(ParameterError, match="answers must hold one report"):
            Records.stamped(make_form("sample"), {"age": ages}, asked=asked)
    assert len(Records.stamped(make_form("sample"), {"age": ages}, asked=[0] * 5)) == 5


def test_bad_forms_are_refused():
    vote = RandomizedResponse(epsilon=1, categories=2)
    good = {
        "randomisers": {"vote": vote},
        "fingerprint": MARK,
        "method": "split",
        "guarantee": vote.guarantee,
    }
    for wrong in ({"method": "both"}, {"randomisers": {}}, {"fingerprint": "xyz"}):
        with pytest.raises(ParameterError, match=r"must (be|hold)"):
            Form(**(good | wrong))


def test_subsets_travel_and_are_checked():
    towns = SubsetSelection(epsilon=1, categories=12)
    form = Form(
        randomisers={"town": towns},
        fingerprint=MARK,
        method="split",
        guarantee=towns.guarantee,
    )
    drawn = towns.randomise(np.arange(12), source=SeededSource(3))
    records = Records.stamped(form, {"town": drawn}, source=SeededSource(4))
    same(records, one(read_lines(form, to_lines(records)))[0])
    forged = Records.stamped(form, {"town": np.zeros((2, 2), np.uint8)}, source=SeededSource(5))
    assert Aggregator(form).add(to_lines(forged)).dropped == {Reason.DOMAIN: 2}


def test_dropped_counts_are_of_reasons_alone(form):
    dropped = one(read_lines(form, ["x", "{}", "y" * 10_000]))[1]
    assert dropped == Counter({Reason.MALFORMED: 2, Reason.TOO_LONG: 1})
