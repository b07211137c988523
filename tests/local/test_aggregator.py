"""Tallies are those of the reports: in any order, in any parts, across crashes and garbage."""

from __future__ import annotations

import json
import os
import pickle
from functools import cache, reduce
from itertools import pairwise
from operator import add
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.local.categorical.hashing import LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.local.reports import aggregator as storing
from sourdine.local.reports.aggregator import Aggregator, influence
from sourdine.local.reports.records import Form, Reason, Receipt, Records, Seen, to_lines
from sourdine.local.reports.sources import records, to_arrow
from sourdine.local.table.columns import Choice, Flag, Number
from sourdine.local.table.schema import Schema
from sourdine.mechanisms import BoundedLaplace, RandomizedResponse, Warner
from sourdine.noise import SeededSource
from sourdine.privacy import LOCAL, Guarantee

PAIRS = [("age", "vote"), ("town", "age"), ("vote", "town"), ("spots", "town")]


def make_form(method="split", fingerprint="0123456789abcdef"):
    randomisers = {
        "age": BoundedLaplace(epsilon=1, last=9),
        "vote": RandomizedResponse(epsilon=1, categories=4),
        "town": UnaryEncoding(epsilon=1, categories=11),
        "spots": SubsetSelection(epsilon=1, categories=6),
    }
    return Form(
        randomisers=randomisers,
        fingerprint=fingerprint,
        method=method,
        guarantee=Guarantee(4, 0, LOCAL),
    )


FORMS = {method: make_form(method) for method in ("split", "sample")}


def make_records(form, n=60, seed=1):
    known = FORMS.get(form.method) is form
    return kept(form.method, n, seed) if known else drawn_records(form, n, seed)


@cache
def kept(method, n, seed):
    return drawn_records(FORMS[method], n, seed)


def drawn_records(form, n, seed):
    source = SeededSource(seed)
    people = np.arange(n)
    asked = people % 4 if form.sampled else None
    answers = {}
    for i, (name, mechanism) in enumerate(form.randomisers.items()):
        mine = people[asked == i] if form.sampled else people
        answers[name] = mechanism.randomise(mine % (mechanism.top + 1), source=source)
    return Records.stamped(form, answers, asked=asked, source=source)


def total_of(form, *batches, **options):
    total = Aggregator(form, **options)
    for batch in batches:
        total.add(batch)
    return total


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


def test_tallies_are_those_of_the_mechanisms(form):
    drawn = make_records(form)
    total = total_of(form, drawn)
    for i, (name, mechanism) in enumerate(form.randomisers.items()):
        assert np.array_equal(total.tally(name), mechanism.tally(drawn.answers[i]))
        assert total.reports(name) == len(drawn.answers[i]) == (15 if form.sampled else 60)
    assert total.receipt == Receipt(accepted=60)
    assert total.doubled == 0


def test_a_tally_given_away_is_a_copy():
    total = total_of(FORMS["split"], make_records(FORMS["split"]))
    total.tally("age")[:] = 0
    assert total.tally("age").sum() == 60


def test_pairs_are_the_sum_of_outer_products():
    form = FORMS["split"]
    drawn = make_records(form)
    total = total_of(form, drawn.keep(np.arange(60) < 25), drawn, pairs=PAIRS)
    for one, other in PAIRS:
        a, b = (form.names.index(name) for name in (one, other))
        ma, mb = form.mechanisms[a], form.mechanisms[b]
        brute = sum(
            np.outer(ma.tally(drawn.answers[a][i : i + 1]), mb.tally(drawn.answers[b][i : i + 1]))
            for i in range(60)
        )
        assert np.array_equal(total.pair(one, other), brute)
        assert np.array_equal(total.pair(other, one), brute.T)


def test_pairs_of_coarse_cells():
    fine = BoundedLaplace(epsilon=1, last=9000)
    vote = RandomizedResponse(epsilon=1, categories=2)
    assert fine.block == 3
    form = Form(
        randomisers={"pay": fine, "vote": vote},
        fingerprint="0" * 16,
        method="split",
        guarantee=Guarantee(2, 0, LOCAL),
    )
    pay, votes = np.array([0, 2, 3, 9000]), np.array([0, 1, 1, 0])
    drawn = Records.stamped(form, {"pay": pay, "vote": votes}, source=SeededSource(1))
    joint = total_of(form, drawn, pairs=[("pay", "vote")]).pair("pay", "vote")
    assert joint[0].tolist() == [1, 1]
    assert joint[1].tolist() == [0, 1]
    assert joint[-1].tolist() == [1, 0]
    assert joint.sum() == 4


@pytest.mark.slow
@given(st.data())
def test_order_does_not_matter(data):
    form = FORMS[data.draw(st.sampled_from(["split", "sample"]))]
    lines = to_lines(make_records(form, 12))
    sent = data.draw(st.lists(st.sampled_from([*lines, "{}", "x"]), max_size=30))
    moved = data.draw(st.permutations(sent))
    cut = data.draw(st.integers(0, len(sent)))
    whole = total_of(form, sent)
    assert whole == total_of(form, moved[:cut], moved[cut:])
    assert whole == total_of(form, *([line] for line in moved))
    assert whole.receipt.received == len(sent)
    assert whole.receipt.accepted == len(set(sent) - {"{}", "x"})


@pytest.mark.slow
@given(st.data())
def test_merging_is_adding(data):
    form = FORMS["split"]
    lines = to_lines(make_records(form, 15))
    owner = data.draw(st.lists(st.integers(0, 2), min_size=15, max_size=15))
    shared = data.draw(st.lists(st.sampled_from(lines), max_size=4, unique=True))
    batches = [[x for x, o in zip(lines, owner, strict=True) if o == i] for i in range(3)]
    a, b, c = (total_of(form, batch, pairs=PAIRS[:1]) for batch in batches)
    assert a + b + c == total_of(form, lines, pairs=PAIRS[:1])
    a.add(shared)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b + c).doubled == len(set(shared) - set(batches[0]))
    assert reduce(add, [a, b, c]) == a + b + c


def test_a_sum_leaves_its_parts_alone():
    form = FORMS["split"]
    a, b = total_of(form, make_records(form, 5, 1)), total_of(form, make_records(form, 7, 2))
    total = a + b
    total.add(make_records(form, 3, 3))
    assert (a.receipt.accepted, b.receipt.accepted, total.receipt.accepted) == (5, 7, 15)
    assert a.tally("age").sum() == 5
    assert total.add(make_records(form, 5, 1)).dropped == {Reason.REPLAYED: 5}


def test_what_is_in_two_parts_is_known(form):
    drawn = make_records(form)
    a, b = total_of(form, drawn), total_of(form, drawn.keep(np.arange(60) < 8))
    assert (a + b).doubled == 8
    assert (a + b).receipt.accepted == 68
    assert "8 counted once too often" in str(a + b)
    assert (a + b + b).doubled == 16


@pytest.mark.slow
@given(st.integers(1, 6), st.integers(0, 5))
def test_parts_by_id_find_every_replay(parts, seed):
    form = FORMS["split"]
    drawn = make_records(form, 20, seed)
    totals = [Aggregator(form) for _ in range(parts)]
    for batch in (drawn, drawn.keep(np.arange(20) % 2 == 0), drawn):
        for number, total in enumerate(totals):
            total.add(batch.part(number, parts))
    whole = reduce(add, totals)
    assert whole.doubled == 0
    assert whole == total_of(form, drawn, drawn, drawn.keep(np.arange(20) % 2 == 0))


def test_ids_are_remembered_across_many_batches():
    form = FORMS["split"]
    drawn = make_records(form, 500)
    total = Aggregator(form)
    rng = np.random.default_rng(1)
    for _ in range(200):
        total.add(drawn.keep(rng.random(500) < 0.02))
    total.add(drawn)
    assert total.receipt.accepted == 500
    assert np.array_equal(total.tally("vote"), total_of(form, drawn).tally("vote"))
    assert np.array_equal(total._seen.ids(), np.sort(drawn.ids))


@pytest.mark.slow
@given(st.lists(st.lists(st.binary(min_size=16, max_size=16), max_size=20), max_size=12))
def test_seen_is_a_set(batches):
    seen, known = Seen(), set()
    for batch in batches:
        ids = np.frombuffer(b"".join(batch), "S16")
        new = seen.fresh(ids)
        for name, fresh in zip(batch, new, strict=True):
            assert fresh == (name not in known)
            known.add(name)
        seen.remember(ids[new])
    assert len(seen) == len(known)
    assert seen.ids().tobytes() == b"".join(sorted(known))
    lengths = [run.size for run in seen._runs]
    assert all(a >= 2 * b for a, b in pairwise(lengths))


def test_without_memory_replays_count():
    form = FORMS["split"]
    drawn = make_records(form)
    total = total_of(form, drawn, drawn, remember="none")
    assert total.receipt.accepted == 120
    assert total.doubled is None
    assert (total + total).receipt.accepted == 240


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("vsiacx"), inner, max_size=5)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.data())
def test_garbage_never_counts(data):
    form = FORMS[data.draw(st.sampled_from(["split", "sample"]))]
    lines = to_lines(make_records(form, 6))
    good = json.loads(lines[0])
    hurt = st.dictionaries(st.sampled_from([*good, "x"]), JSON, min_size=1, max_size=2).map(
        lambda values: json.dumps(good | values)
    )
    cut = st.integers(0, len(lines[0]) - 1).map(lambda i: lines[0][:i])
    garbage = st.one_of(st.binary(max_size=200), st.text(max_size=200), JSON.map(json.dumps), cut)
    sent = data.draw(st.lists(garbage | hurt | JSON, max_size=12))
    total = total_of(form, lines)
    before = total._arrays()
    receipt = total.add(sent)
    assert receipt.accepted == 0
    assert receipt.received <= len(sent)
    after = total._arrays()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_one_bad_answer_drops_the_report():
    form = FORMS["split"]
    drawn = make_records(form, 3)
    ages = drawn.answers[0].copy()
    ages[1] = 10
    total = total_of(form, Records(form, drawn.ids, (ages, *drawn.answers[1:])))
    assert total.receipt == Receipt(accepted=2, dropped={Reason.DOMAIN: 1})
    assert [total.reports(name) for name in form.names] == [2] * 4
    assert total.tally("vote").sum() == 2
    assert total.add(drawn.keep(np.arange(3) == 1)).accepted == 1, "its id was not used up"
    both = Records(form, drawn.ids[[1, 1]], tuple(part[[1, 1]] for part in drawn.answers))
    both.answers[0][0] = 10
    assert total_of(form, both).receipt == Receipt(accepted=1, dropped={Reason.DOMAIN: 1})


def test_foreign_records_are_dropped():
    other = make_form(fingerprint="f" * 16)
    total = total_of(FORMS["split"], make_records(other, 4), to_arrow(make_records(other, 3)))
    assert total.receipt == Receipt(dropped={Reason.FOREIGN: 7})
    vote = RandomizedResponse(epsilon=1, categories=4)
    forged = Form(
        randomisers={"vote": vote},
        fingerprint=FORMS["split"].fingerprint,
        method="split",
        guarantee=vote.guarantee,
    )
    assert total.add(make_records(forged, 2)).dropped == {Reason.FOREIGN: 2}


def test_a_total_travels_between_processes():
    total = total_of(FORMS["split"], make_records(FORMS["split"]), pairs=PAIRS)
    again = pickle.loads(pickle.dumps(total))  # noqa: S301
    assert again == total
    assert (again + total).doubled == 60


def test_tallies_of_other_lengths_are_refused(tmp_path):
    form = FORMS["split"]
    total = Aggregator(form)
    total._tallies[form.names[0]] = np.zeros(3, np.int64)
    total.save(tmp_path / "total")
    with pytest.raises(ParameterError, match="tallies that no aggregator wrote"):
        Aggregator.load(tmp_path / "total", form)


def test_saving_and_loading(form, tmp_path):
    pairs = () if form.sampled else PAIRS
    for remember in ("ids", "none"):
        total = total_of(form, make_records(form), ["x"], pairs=pairs, remember=remember)
        total.save(tmp_path / "total")
        again = Aggregator.load(tmp_path / "total", form)
        assert again == total
        more = make_records(form, 10, seed=5)
        assert again.add(more) == total.add(more)
        assert again == total
    empty = Aggregator(form)
    empty.save(tmp_path / "empty")
    assert Aggregator.load(tmp_path / "empty", form) == empty
    assert {p.name for p in tmp_path.iterdir()} == {"total", "empty"}


def test_resuming_after_a_crash_is_exact(tmp_path):
    form = FORMS["split"]
    batches = [make_records(form, 9, seed) for seed in range(6)]
    total = Aggregator(form)
    for number, batch in enumerate(batches[:4]):
        total.add(batch)
        if number == 1:
            total.save(tmp_path / "total")
    del total
    resumed = Aggregator.load(tmp_path / "total", form)
    for batch in batches:
        resumed.add(batch)
    whole = total_of(form, *batches)
    assert resumed.receipt == Receipt(accepted=54, dropped={Reason.REPLAYED: 18})
    assert all(np.array_equal(resumed.tally(n), whole.tally(n)) for n in form.names)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    form = FORMS["split"]
    total = total_of(form, make_records(form))
    total.save(tmp_path / "total")
    before = (tmp_path / "total").read_bytes()
    total.add(make_records(form, 5, seed=2))

    def fail(*_):
        raise OSError

    for owner, name in ((os, "fsync"), (storing.np, "savez"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises((OSError, TypeError)):
                total.save(tmp_path / "total")
        assert (tmp_path / "total").read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["total"]


def test_the_bytes_are_on_the_disk_before_the_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("fsync"), fsync(fd))[1])
    monkeypatch.setattr(Path, "replace", lambda a, b: (done.append("name"), replace(a, b))[1])
    Aggregator(FORMS["split"]).save(tmp_path / "total")
    assert done[:2] == ["fsync", "name"]


@pytest.mark.slow
@given(data=st.data())
def test_damage_is_noticed(data, tmp_path_factory):
    form = FORMS["split"]
    path = tmp_path_factory.getbasetemp() / "damaged"
    total_of(form, make_records(form, 4)).save(path)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = bytes([whole[at] ^ data.draw(st.integers(1, 255))])
    kinds = [whole[:at], whole[:at] + flipped + whole[at + 1 :], whole + b"x"]
    path.write_bytes(data.draw(st.sampled_from(kinds)))
    with pytest.raises(ParameterError, match="a file that Aggregator"):
        Aggregator.load(path, form)


def test_a_file_of_another_schema_is_refused(tmp_path):
    Aggregator(FORMS["split"]).save(tmp_path / "total")
    with pytest.raises(ParameterError, match="the schema that the file was written for"):
        Aggregator.load(tmp_path / "total", make_form(fingerprint="f" * 16))
    vote = RandomizedResponse(epsilon=1, categories=4)
    other = Form(
        randomisers={"vote": vote},
        fingerprint="0123456789abcdef",
        method="split",
        guarantee=vote.guarantee,
    )
    with pytest.raises(ParameterError, match="a different randomiser"):
        Aggregator.load(tmp_path / "total", other)
    with pytest.raises(FileNotFoundError):
        Aggregator.load(tmp_path / "none", other)


def test_several_records_and_sums():
    form = FORMS["split"]
    parts = [make_records(form, 20 + i, seed=10 + i) for i in range(3)]
    whole = Aggregator(form)
    assert whole.add(iter(parts)).accepted == sum(map(len, parts))
    each = [Aggregator(form) for _ in parts]
    for total, sent in zip(each, parts, strict=True):
        total.add(sent)
    assert sum(each) == whole


def test_only_like_can_be_added():
    form = FORMS["split"]
    for other in (
        Aggregator(make_form(fingerprint="f" * 16)),
        Aggregator(form, pairs=PAIRS[:1]),
        Aggregator(form, remember="none"),
    ):
        with pytest.raises(ParameterError, match="must have the same"):
            Aggregator(form) + other
    with pytest.raises(TypeError):
        Aggregator(form) + 1


def test_bad_parameters_are_refused():
    form = FORMS["split"]
    for options in (
        {"remember": "all"},
        {"pairs": [("age", "age")]},
        {"pairs": [("age", "hat")]},
        {"pairs": [("age",)]},
    ):
        with pytest.raises(ParameterError, match=r"must (be|hold)"):
            Aggregator(form, **options)
    with pytest.raises(ParameterError, match="omitted for the method 'sample'"):
        Aggregator(FORMS["sample"], pairs=PAIRS[:1])
    total = Aggregator(form)
    for ask in (lambda: total.tally("hat"), lambda: total.pair("age", "vote")):
        with pytest.raises(ParameterError, match="must be one of"):
            ask()
    with pytest.raises(ParameterTypeError, match="reports must be"):
        total.add(5)
    with pytest.raises(ParameterTypeError, match="Estimates need a schema"):
        total.estimate()
    with pytest.raises(ParameterError, match="as a list of lines"):
        total.add("there is no such file")
    with pytest.raises(ParameterError, match="below the number of parts"):
        make_records(form, 2).part(2, 2)


def test_influence_is_the_largest_move():
    warner = Warner(truth=0.5, yes=0.25)
    for oracle, largest in (
        (RandomizedResponse(epsilon=1, categories=10), (np.e + 9) / (np.e - 1)),
        (UnaryEncoding(epsilon=1, categories=5), 1 / (0.5 - 1 / (np.e + 1))),
        (LocalHashing(epsilon=1, categories=20), None),
        (SubsetSelection(epsilon=1, categories=20), None),
        (warner, 2.0),
    ):
        p, q = (np.broadcast_to(c, oracle.categories) for c in oracle.chances)
        n = 1000
        honest = np.full(oracle.categories, 300)
        moved = ((honest + 1) / n - q) / (p - q) - (honest / n - q) / (p - q)
        assert influence(oracle) == pytest.approx(n * moved.max(), rel=1e-9)
        assert largest is None or influence(oracle) == pytest.approx(largest)


COLUMNS = {
    "vote": Choice("yes", "no", "none", method="response"),
    "age": Number(0, 120, step=1, method="duchi"),
    "smokes": Flag(),
    "pay": Number(0, 100, step=1, missing=True),
}
N = 400


def table():
    return {
        "age": [i % 100 for i in range(N)],
        "vote": ["yes", "no"] * (N // 2),
        "smokes": [True, None] * (N // 2),
        "pay": [None, 50] * (N // 2),
    }


@pytest.mark.parametrize("method", ["split", "sample"])
def test_a_schema_from_table_to_estimate(method):
    schema = Schema(epsilon=8, method=method, missing="random", **COLUMNS)
    total = Aggregator(schema)
    for block in records(schema, table(), source=SeededSource(7)):
        assert total.add(to_lines(block)).dropped == {}
    assert total.receipt.accepted == N
    found = total.estimate()
    assert set(found) == set(COLUMNS)
    of = "population" if method == "sample" else "sample"
    low, high = found["age"].interval(0.999999, of=of)
    assert low <= 49.5 <= high
    low, high = found["vote"].interval(0.999999, of=of)
    assert (low <= [0.5, 0.5, 0]).all()
    assert (high >= [0.5, 0.5, 0]).all()
    assert "yes" in str(found["vote"])
    assert found.reports("age") == total.reports("age")


def test_pairs_of_a_schema_are_estimated():
    columns = {"vote": Choice("yes", "no", method="response"), "smokes": Flag(method="response")}
    schema = Schema(epsilon=8, missing="random", **columns)
    people = {"vote": ["yes", "no"] * 500, "smokes": [True, True, True, False] * 250}
    total = Aggregator(schema, pairs=[("vote", "smokes")])
    for block in records(schema, people, source=SeededSource(7)):
        total.add(block)
    low, high = total.estimate().pair("vote", "smokes").interval(0.999999)
    assert (low <= [[0, 0.5], [0.25, 0.25]]).all()
    assert (high >= [[0, 0.5], [0.25, 0.25]]).all()


@pytest.mark.parametrize("method", ["split", "sample"])
def test_the_order_of_columns_does_not_matter(method):
    one = Schema(epsilon=8, method=method, missing="random", **COLUMNS)
    other = Schema(epsilon=8, method=method, missing="random", **dict(reversed(COLUMNS.items())))
    assert one.fingerprint == other.fingerprint
    lines = [line for block in records(one, table()) for line in to_lines(block)]
    a, b = total_of(one, lines), total_of(other, lines)
    assert a.receipt == b.receipt == Receipt(accepted=N)
    assert a == b


def test_drawn_records_have_the_laws_of_the_schema():
    schema = Schema(epsilon=40, missing="random", **COLUMNS)
    total = Aggregator(schema)
    for block in records(schema, table(), source=SeededSource(3)):
        total.add(block)
    assert abs(total.tally("vote")[0] - N / 2) < 10
    assert total.tally("vote")[2] < 10


def test_forged_files_are_refused(tmp_path):
    form = FORMS["split"]
    total = Aggregator(form, pairs=PAIRS[:1])
    total.add(make_records(form))
    total.save(tmp_path / "total")
    facts, arrays = storing.read_arrays(tmp_path / "total")
    forged = [
        (facts, {k: v for k, v in arrays.items() if k != "tally0"}),
        ({**facts, "dropped": {"NONSENSE": 1}}, arrays),
        ({**facts, "dropped": 3}, arrays),
        ({**facts, "pairs": [1]}, arrays),
        ({**facts, "pairs": 2 * facts["pairs"]}, {**arrays, "joint1": arrays["joint0"]}),
        (facts, {**arrays, "tally0": -arrays["tally0"]}),
        (facts, {**arrays, "tally0": arrays["tally0"].astype(float)}),
        (facts, {**arrays, "ids": np.arange(3)}),
        ([], arrays),
    ]
    for told, kept in forged:
        storing.write(tmp_path / "forged", told, kept)
        with pytest.raises(ParameterError, match="no aggregator wrote"):
            Aggregator.load(tmp_path / "forged", form)


def test_a_saved_total_whose_check_does_not_fit_is_refused(tmp_path):
    form, path = FORMS["split"], tmp_path / "total"
    total = Aggregator(form)
    total.add(make_records(form))
    total.save(path)
    whole = path.read_bytes()
    check = whole.index(b"\n") + 1
    other = b"1" if whole[check : check + 1] == b"0" else b"0"
    path.write_bytes(whole[:check] + other + whole[check + 1 :])
    with pytest.raises(ParameterError, match="a damaged file"):
        Aggregator.load(path, form)


def test_a_cell_of_any_length_is_not_read(tmp_path, monkeypatch):
    """A Parquet file of some kilobytes may hold an id of 300 megabytes."""
    form = FORMS["split"]
    table = to_arrow(make_records(form, 2))
    huge = pa.array([b"\0" * 5_000_000] * 2, pa.binary())
    field = table.schema.field("id").with_type(pa.binary())
    pq.write_table(table.set_column(0, field, huge), tmp_path / "bomb", compression="zstd")
    assert (tmp_path / "bomb").stat().st_size < 50_000
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("it is read"))
    assert Aggregator(form).add(tmp_path / "bomb").dropped == {Reason.MALFORMED: 1}
