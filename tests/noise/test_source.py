from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SYSTEM, SeededSource, discrete_laplace
from sourdine.noise import source as source_module


def test_system_source_is_private_and_gives_what_is_asked():
    assert SYSTEM.private
    assert [len(SYSTEM.bytes(n)) for n in (0, 1, 1000)] == [0, 1, 1000]
    assert SYSTEM.bytes(32) != SYSTEM.bytes(32)


def test_system_source_draws_long_requests_in_parts(monkeypatch):
    monkeypatch.setattr(source_module, "_LONGEST", 10)
    asked = []
    monkeypatch.setattr(source_module, "_system_bytes", lambda n: asked.append(n) or bytes(n))
    assert len(SYSTEM.bytes(25)) == 25
    assert asked == [10, 10, 5]


def test_what_is_read_ahead_is_given_once(monkeypatch):
    stream, told = SeededSource(1), []

    def block(_, count):
        told.append(stream.bytes(count))
        return told[-1]

    monkeypatch.setattr(source_module.SystemSource, "bytes", block)
    ahead = source_module.for_one_draw(SYSTEM)
    given = [ahead.bytes(n) for n in (1, 500, 8, 600, 2000, 424)]
    assert ahead.private
    assert list(map(len, told)) == [1024, 1024, 2000]
    assert b"".join(given[:3]) == told[0][:509]
    assert given[3] + given[5] == told[1]
    assert given[4] == told[2]
    assert source_module.for_one_draw(SYSTEM) is not ahead
    assert source_module.for_one_draw(stream) is stream


def test_keyed_source_repeats_itself_and_gives_every_call_its_own_bytes():
    one, other = (source_module.KeyedSource(bytes(32)) for _ in range(2))
    drawn = [one.bytes(16) for _ in range(50)]
    assert drawn == [other.bytes(16) for _ in range(50)]
    assert len(set(drawn)) == 50
    assert one.private


def test_what_a_key_is_derived_for_is_told_with_its_lengths():
    parts = [(b"ab", b"c"), (b"a", b"bc"), (b"abc",), (b"", b"abc")]
    assert len({source_module.derived(bytes(32), told).bytes(16) for told in parts}) == 4


def test_seeded_source_repeats_itself_on_every_platform():
    assert SeededSource(1).bytes(16).hex() == "3acec06bbdef19117ecf792cdf313a14"
    first, second = SeededSource(5), SeededSource(5)
    assert [first.bytes(n) for n in (3, 8, 100)] == [second.bytes(n) for n in (3, 8, 100)]
    assert SeededSource(5).bytes(64) != SeededSource(6).bytes(64)
    draws = [discrete_laplace(3, 40_000, source=SeededSource(7)) for _ in range(2)]
    assert np.array_equal(*draws)


def test_seeded_source_says_it_protects_nobody():
    assert not SeededSource(1).private
    assert "NOT PRIVATE" in repr(SeededSource(1))


def test_seed_is_read_as_a_parameter():
    with pytest.raises(ParameterError, match="seed must be at least 0, got -1"):
        SeededSource(-1)
    with pytest.raises(ParameterTypeError, match="seed must be a whole number, got 'x'"):
        SeededSource("x")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_parent_and_child_draw_different_noise_after_a_fork():
    discrete_laplace(10**6, 50)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, discrete_laplace(10**6, 50).tobytes())
        os._exit(0)
    theirs = np.frombuffer(os.read(reader, 400), np.int64)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    assert theirs.size == 50
    assert not np.array_equal(theirs, discrete_laplace(10**6, 50))


def test_threads_draw_different_noise():
    with ThreadPoolExecutor(8) as pool:
        draws = list(pool.map(lambda _: tuple(discrete_laplace(10**6, 30_000)[:8]), range(16)))
    assert len(set(draws)) == 16
