"""The one suite over all engines that run on one machine."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest

from every_engine import ENGINES, OPTIONAL, UNTYPED
from sourdine.audit import engines
from sourdine.audit.engines import CHECKS, TYPED, covered
from sourdine.frames.cells import Ticks
from sourdine.frames.engine import Engine
from sourdine.frames.frame import Frame
from sourdine.frames.memory import Declared, Memory
from sourdine.grid import Grid

OF_EACH_KIND = {"list", "polars", "polars lazy", "duckdb file", "arrow dataset"}
"""Engines of which each has code of its own; the others bring rows to one of these."""
ALL_CHECKS = [*CHECKS, *TYPED]


def cases():
    """Yield each engine with each check, marked: quick, slow or a simulation.

    Slow are all checks of an engine of each kind, and every fifth of the others', in turns, so that
    each check meets several of them.
    """
    for i, engine in enumerate(ENGINES):
        for j, check in enumerate(ALL_CHECKS):
            tier = "slow" if engine in OF_EACH_KIND or (i + j) % 5 == 0 else "simulation"
            quick = i % len(ALL_CHECKS) == j
            marks = () if quick else getattr(pytest.mark, tier)
            yield pytest.param(engine, check, id=f"{engine}-{check.__name__}", marks=marks)


@pytest.mark.filterwarnings("ignore:.*:FutureWarning", "ignore:.*:DeprecationWarning")
@pytest.mark.parametrize(("engine", "check"), [*cases()])
def test_engine(engine, check, tmp_path):
    needed = OPTIONAL.get(engine)
    if needed and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed: pip install '.[dev]'")
    if check in TYPED and engine in UNTYPED:
        pytest.skip("its columns have no types")
    check(ENGINES[engine](tmp_path))


@pytest.mark.parametrize("engine", sorted({*ENGINES} - {"list", "excel"}))
@pytest.mark.parametrize("name", ["day", "time", "zoned"])
def test_days_that_no_calendar_has_are_missing(engine, name, tmp_path):
    """Infinite ones, as databases write them, the first and last that fit, and those beside.

    A sheet has no rows without any cell.
    """
    day = 86_400_000_000
    days = [-(2**31), 2**31 - 1, 2_135_039_825, -719_163, -719_162, 0, 2_932_896, 2_932_897, None]
    times = [-(2**63), 1 - 2**63, 2**63 - 1, *(None if d is None else d * day for d in days[3:])]
    made = {
        "day": pa.array(days, pa.int32()).cast(pa.date32()),
        "time": pa.array(times, pa.int64()).cast(pa.timestamp("us")),
        "zoned": pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC")),
    }
    frame = ENGINES[engine](tmp_path)(pa.table({name: made[name]}))
    assert frame.present(name) == 3
    assert sorted(frame.distinct(name)[1].tolist()) == [1, 1, 1]
    assert frame.tally(Ticks(name, Grid("0001-01-01", "9999-12-31"))).missing == 6
    assert len(frame.bound(name, 1)) == 4, "those without a name are one person"


def test_every_method_has_a_check():
    """A method that is added to the interface is not done before a check covers it."""
    methods = {name for name in vars(Engine) if not name.startswith("_")}
    assert methods == set(covered())


def without(method, work):
    """Return an engine in memory of which one method is broken."""

    class Broken(Memory):
        pass

    setattr(Broken, method, work)

    def open_broken(table):
        whole = Frame(table).engine
        engine = Broken(whole._readers, whole.rows())
        return Frame(engine)

    return open_broken


BROKEN = {
    "rows": lambda self: self._rows + 1,
    "total": lambda self, *a: 1 + Memory.total(self, *a),
    "moments": lambda self, *a: [0, *Memory.moments(self, *a)[1:]],
    "tally": lambda self, cells: Memory.tally(self, cells) + Memory.tally(self, cells),
    "present": lambda self, _: self._rows,
    "bound": lambda self, *_: self.take(np.arange(0)),
    "weighted": lambda self, cells, _: Memory.groups(self, cells),
    "reduced": lambda self, how: Memory.reduced(self, replace(how, how="max")),
    "split": lambda self, _, keys: [self] * keys.size,
    "between": lambda self, name, cell, ranges: Memory.between(self, name, cell, ranges[:-1]),
    "within": lambda self, cells, _: self.groups(cells),
    "only": lambda self, *_: self,
    "slots": lambda self, cells, _: ([s[::-1] for s in b] for b in Memory.slots(self, cells, 5)),
    "combinations": lambda *_: iter(()),
    "column": lambda self, name, **_: Memory.column(self, name)[::-1],
    "declared": lambda self, name: Declared("numbers" if self._rows else "words", name),
}


@pytest.mark.parametrize("method", BROKEN)
def test_the_suite_finds_what_is_broken(method):
    broken = without(method, BROKEN[method])
    named = [check for check in CHECKS if check.__name__ in covered()[method]]
    assert named

    def fails(check):
        try:
            check(broken)
        except AssertionError:
            return True
        return False

    assert any(map(fails, named))


def test_tables_are_of_arrow():
    assert isinstance(engines.hostile(), pa.Table)
