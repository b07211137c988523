"""A table of PostgreSQL counts as every other engine does, and says nothing of its address."""

from __future__ import annotations

from collections import Counter
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

from formula_reference import text as expected
from random_formulas import formulas, hostile
from sourdine.audit.engines import CHECKS, TYPED
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Ticks
from sourdine.frames.databases import Postgres, open_table
from sourdine.frames.formulas.engine import read_formulas
from sourdine.frames.formulas.tree import Type
from sourdine.frames.frame import Frame
from sourdine.grid import Grid

psycopg = pytest.importorskip("psycopg")

TYPES = {
    "double": "float8",
    "int64": "int8",
    "int8": "int2",
    "uint64": "numeric",
    "bool": "boolean",
    "string": "text",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}
NAMES = count()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def written(dsn, table):
    """Write an Arrow table to a new one in the database, and return its name."""
    name = f"rows{next(NAMES)}"
    kinds = [TYPES.get(str(t), "numeric") for t in table.schema.types]
    columns = [f"{quoted(c)} {k}" for c, k in zip(table.column_names, kinds, strict=True)]
    rows = list(zip(*(c.to_pylist() for c in table.columns), strict=True))
    with psycopg.connect(dsn) as db:
        db.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        marks = ", ".join(["%s"] * len(columns))
        db.cursor().executemany(f"INSERT INTO {name} VALUES ({marks})", rows)  # noqa: S608
    return name


def made(dsn, statements):
    """Run statements in the database."""
    with psycopg.connect(dsn, autocommit=True) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.slow
@pytest.mark.parametrize("check", [*CHECKS, *TYPED], ids=lambda c: c.__name__)
def test_postgres_is_an_engine(postgres, check):
    check(lambda table: Frame(open_table(postgres, written(postgres, table))))


def test_postgres_agrees_on_formulas(postgres):
    """Each is computed there, or from the values that occur, as from those of any engine."""
    table = hostile()
    cities = [
        None if city is None else city.replace("\0", "") for city in table["city"].to_pylist()
    ]
    table = table.set_column(table.column_names.index("city"), "city", pa.array(cities))
    frame, rows = Frame(open_table(postgres, written(postgres, table))), table.to_pylist()
    compared = own = 0
    for _, text in formulas(900):
        try:
            tree = read_formulas(frame.engine, None, [("column", text)]).columns[text]
        except (ParameterError, KeyError):  # constants alone, and literals of another type
            continue
        derived = frame.derived(None, ("column", text)).computed()
        there = isinstance(derived.engine, Postgres)
        if not there and compared - own >= 60:
            continue
        want = Counter(expected(tree, row) for row in rows)
        del want[None]
        keys, counts = derived.distinct(text)
        assert dict(zip(keys, counts.tolist(), strict=True)) == dict(want), text
        compared += 1
        own += there
        if tree.type is Type.BOOLEAN:
            assert len(frame.derived(text).computed()) == want["true"], text
    assert compared > own + 50
    assert own > 60


def test_no_value_of_postgres_raises(postgres):
    """Dates without an end, decimals of any size, numbers that are none: each is read alone."""
    made(
        postgres,
        [
            "CREATE TABLE odd (d date, t timestamptz, n numeric, f real, j jsonb, b bytea)",
            """INSERT INTO odd VALUES
               ('infinity', '-infinity', 'NaN', 'NaN', '{"a": 1}', '\\x00ff'),
               ('0044-03-15 BC', '294276-01-01', 1e1000, 'Infinity', 'null', NULL),
               ('2024-02-29', '2024-02-29 23:30:00-01', 1.10, 1.1, '"x"', ''),
               (NULL, NULL, 'Infinity', -0.0, NULL, NULL)""",
        ],
    )
    frame = Frame(open_table(postgres, "public.odd"))
    numbers = Grid(0, 10, step=1)
    assert frame.tally(Ticks("n", numbers)).counts[[0, 1, 10, -1]].tolist() == [0, 1, 2, 1]
    assert frame.tally(Ticks("f", numbers)).counts[[0, 1, 10, -1]].tolist() == [1, 1, 1, 1]
    assert frame.tally(Codes("d", ["2024-02-29"])).counts.tolist() == [1, 3]
    assert frame.tally(Codes("t", ["2024-03-01 00:30:00"])).counts.tolist() == [1, 3]
    assert frame.distinct("f")[0] == ["0", str(float(np.float32(1.1))), "inf"]
    assert frame.distinct("n")[0] == ["1.10", f"1{1000 * chr(48)}", "Infinity"]


def test_texts_of_other_tables_are_read_as_declared(postgres):
    made(
        postgres,
        [
            "CREATE TABLE texts (x text, y numeric)",
            "INSERT INTO texts VALUES ('1.234,5 €', 1.5), ('7', 2)",
        ],
    )
    declared = Frame({"x": ["1"]}, read={"decimal": ",", "thousands": ".", "symbols": ["€"]})
    frame = Frame(open_table(postgres, "texts", declared.reading))
    grid = Grid(0, 2000, step=0.5)
    assert frame.total(Ticks("x", grid)) == 2 * (1234.5 + 7)
    assert frame.total(Ticks("y", grid)) == 2 * 3.5


def test_a_question_sees_one_moment(postgres):
    made(postgres, ["CREATE TABLE live (x int)", "INSERT INTO live VALUES (1), (2)"])
    frame = Frame(open_table(postgres, "live"))
    asked = frame.afresh()
    assert len(asked) == 2
    made(postgres, ["INSERT INTO live VALUES (3)"])
    assert len(asked.only("x")) == 2
    assert len(frame.afresh()) == len(frame) == 3


def test_what_postgres_says_is_not_repeated(postgres):
    address = postgres.replace("postgres@", "postgres:hidden-word@")
    made(postgres, ["CREATE VIEW bad AS SELECT 1 / (x - 41) AS y FROM (VALUES (41)) v(x)"])
    for work in (
        lambda: open_table(address, "none"),
        lambda: open_table("postgresql://u:hidden-word@127.0.0.1:1/none", "none"),
        lambda: len(Frame(open_table(address, "bad")).distinct("y")),
    ):
        with pytest.raises(ParameterError) as refused:
            work()
        said = str(refused.value)
        assert "hidden-word" not in said
        assert "41" not in said
        assert refused.value.__cause__ is None


def test_an_empty_table_is_one(postgres):
    name = written(postgres, pa.table({"x": pa.array([], pa.int64())}))
    frame = Frame(open_table(postgres, name))
    assert (len(frame), frame.kind("x")) == (0, "integer")
