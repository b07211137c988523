"""The suite of all engines, on Spark: it counts what they count, whatever stands in the data."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sourdine.audit.engines import CHECKS, TYPED
from sourdine.frames.frame import Frame

ENGINE = "spark"


@pytest.fixture
def as_engine(spark, as_spark):
    """Put a table into Spark, as the suite asks for it."""

    def make(engine, table, read=None):
        assert engine == ENGINE
        return Frame(as_spark(spark, table), read=read)

    return make


def cases():
    """Yield every check for the classic session; for Connect every third, others as simulations.

    Both sessions send Spark the same plans.
    """
    for i, check in enumerate([*CHECKS, *TYPED]):
        yield pytest.param("classic", check, id=f"classic-{check.__name__}")
        marks = [pytest.mark.simulation] if i % 3 else []
        yield pytest.param("connect", check, id=f"connect-{check.__name__}", marks=marks)


@pytest.mark.parametrize(("session", "check"), [*cases()])
def test_engine(session, check, sparks, as_spark):
    check(lambda table: Frame(as_spark(getattr(sparks, session), table)))


@pytest.mark.parametrize(
    "name",
    [
        "engines_keep_the_same_rows",
        "rows_without_a_name_are_one_person",
        "identical_rows_are_counted_one_by_one",
    ],
)
def test_bounds(name, as_engine, suite):
    getattr(suite("test_bound"), f"test_{name}")(ENGINE, as_engine)


@pytest.mark.parametrize("name", ["some", "many ages", "both"])
def test_parts_count_what_the_split_rows_hold(name, spark, as_spark, suite):
    shared = suite("test_grouped")
    frames = {ENGINE: Frame(as_spark(spark, pa.table(shared.DATA)))}
    shared.test_parts_count_what_the_split_rows_hold(name, True, frames)  # noqa: FBT003


def test_engines_agree_on_declared_numbers(as_engine):
    """Texts with decimal commas and symbols are read by Python where they are."""
    from sourdine.frames.cells import Ticks
    from sourdine.grid import Grid

    texts = ["1.234,50 €", "-€12", "170 cm", "1.5", None, "3"]
    read = {"decimal": ",", "thousands": ".", "symbols": ["€", "cm"]}
    table = pa.table({"x": texts})
    cell = Ticks("x", Grid(-100, 2000, step=0.5))
    found, want = (f.tally(cell) for f in (as_engine(ENGINE, table, read), Frame(table, read=read)))
    assert (found.counts == want.counts).all()
    assert want.missing == 2
