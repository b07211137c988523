"""Attacks that once worked."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sourdine as sd
from sourdine.audit import replay
from sourdine.central.quantiles.naive import NaiveGaussian, NaiveLaplace
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.mechanisms import Laplace
from sourdine.noise import SeededSource
from sourdine.results.release import Release


@pytest.mark.slow
def test_naive_noise_grows_with_rows():
    one, five = (NaiveLaplace(epsilon=1, q=[0.9], cells=101, rows=k) for k in (1, 5))
    assert five.scale == 5 * one.scale
    loose, tight = (
        NaiveGaussian(epsilon=1, delta=Fraction(1, 10**6), q=[0.9], cells=101, rows=k)
        for k in (5, 1)
    )
    assert loose.variance == pytest.approx(25 * tight.variance, rel=1e-3)


def test_a_missing_value_moves_nobody_elses_tick():
    step = 8193
    top = 2**53 // step * step
    value = (top // step - 5) * step + 4096
    ask = {"bounds": (0, top), "step": step, "epsilon": 20}
    all_there = sd.median([value] * 100, **ask, source=SeededSource(1)).value
    one_missing = sd.median([value] * 99 + [None], **ask, source=SeededSource(1)).value
    assert all_there == one_missing


@pytest.mark.parametrize("function", [sd.mean, sd.proportion])
def test_the_number_of_rows_of_a_text_file_is_not_public(function, tmp_path):
    path = tmp_path / "people.csv"
    rows = [b"name,x"] + [b"p%d,%d" % (i, i % 2) for i in range(100)]
    path.write_bytes(b"\n".join(rows))
    more = {"bounds": (0, 1), "step": 1} if function is sd.mean else {}
    release = function(path, column="x", epsilon=1, relation="substitute", **more)
    assert "records" not in release.drawn
    in_memory = function([i % 2 for i in range(100)], epsilon=1, relation="substitute", **more)
    assert in_memory.drawn["records"] == 100


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_that_python_cannot_hold_are_missing(unit, capfd):
    times = pl.Series([0, 2**61, -(2**62), None], dtype=pl.Int64).cast(pl.Datetime(unit))
    days = pl.Series([0, 2**30, -(2**30), None], dtype=pl.Int32).cast(pl.Date)
    long = pl.Series([0, 2**62, -(2**62), None], dtype=pl.Int64).cast(pl.Duration(unit))
    frame = pl.DataFrame({"t": times, "d": days, "l": long, "x": [1, 2, 3, 4], "u": [1, 2, 3, 4]})
    for data in (frame, frame.lazy()):
        for column in ("t", "d", "l"):
            sd.histogram(data, column=column, categories=["1970-01-01", "a"], epsilon=1)
        assert 0 <= sd.mean(data, column="x", unit="u", bounds=(0, 9), epsilon=1).value <= 9
    assert capfd.readouterr().err == ""


def test_arrow_texts_that_are_none_are_missing():
    odd = pa.array([b"a", b"\xff", b"b"], pa.binary()).view(pa.string())
    release = sd.histogram(pa.table({"x": odd}), column="x", categories=["a", "b"], epsilon=50)
    assert list(release.value) == [1, 1] or dict(release.value) == {"a": 1, "b": 1}


def test_odd_floats_are_read_in_silence():
    signalling = np.array([0x7FF0000000000001], np.uint64).view(np.float64)
    assert 0 <= sd.mean(np.append(signalling, 3.0), bounds=(0, 9), epsilon=1).value <= 9
    assert 0 <= sd.median(np.append(signalling, 3.0), bounds=(0, 9), epsilon=1).value <= 9


def test_what_a_count_would_choose_is_refused_before_it_is_paid():
    with pytest.raises(sd.ParameterError, match="epsilon must"):
        Quantiles(
            q=[i / 400 for i in range(1, 400)],
            bounds=(0, 1),
            epsilon=Fraction(1, 10**4),
            interval=None,
        )


@pytest.mark.slow
def test_threads_share_a_session_over_a_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "\n".join(map(str, range(500))))
    session = sd.Session(path, epsilon=40)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(session.mean, bounds=(0, 500), epsilon=1) for _ in range(40)]
    assert all(0 <= done.result().value <= 500 for done in asked)
    assert session.remaining.epsilon == 0


def test_replay_looks_at_everything_that_is_published():
    def careless(x):
        release = Laplace(epsilon=1, relation="add_remove").release(len(x))
        return Release(
            value=release.value, cost=release.cost, mechanism=release.mechanism,
            drawn={"records": len(x)},
        )  # fmt: skip

    assert not replay(careless, [1, 2], [1, 2, 3]).holds
