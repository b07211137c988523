"""Schemas: exact shares, files, fingerprints, and refusals that say what to type."""

from __future__ import annotations

import json
import pickle
import tomllib
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.local.table.columns import Choice, Flag, Number
from sourdine.local.table.schema import Schema
from sourdine.privacy import LOCAL, Guarantee

from_facts = Schema.from_facts
MIXED = ("yes", 'n"o', 3, 2.5, date(2024, 2, 29), True)
CHOICE = {"kind": "choice", "categories": "x"}
COLUMNS = {
    "age": Number(0, 120, step=1),
    "the weight, in kg": Number(0, 200, 0.1, method="laplace", missing=True),
    'a "b"\n\\': Choice(*MIXED, missing="é"),
    "epsilon": Flag(method="response"),
    "without a step": Number(0, 0.7),
    "thirds": Number(0, 1, Fraction(1, 3), method="duchi"),
}
SCHEMA = Schema.of(
    COLUMNS, epsilon=Fraction(7, 3), method="split", weights={"age": 0.1, "epsilon": 3}
)


@pytest.mark.slow
@given(
    st.lists(st.fractions(min_value="1/1000", max_value=1000), min_size=1, max_size=9),
    st.fractions(min_value="1/1000", max_value=100),
)
def test_shares_add_up_exactly(weights, epsilon):
    columns = {f"c{i}": Flag() for i in range(len(weights))}
    given_weights = dict(zip(columns, weights, strict=True))
    schema = Schema.of(columns, epsilon=epsilon, weights=given_weights)
    shares = [p.epsilon for p in schema.parts().values()]
    assert sum(shares) == epsilon
    assert shares[0] / weights[0] == shares[-1] / weights[-1]
    assert schema.guarantee == Guarantee(epsilon, 0, LOCAL)
    assert sum(p.mechanism.guarantee.epsilon for p in schema.parts().values()) == epsilon


def test_a_sampled_column_has_the_whole_epsilon():
    schema = Schema(a=Flag(), b=Number(0, 9, 1, missing=True), epsilon=0.7, method="sample")
    costs = {p.mechanism.guarantee.epsilon for p in schema.parts().values()}
    assert costs == {Fraction(7, 10)}
    assert schema.guarantee.epsilon == Fraction(7, 10)


def test_again_costs_again():
    schema = Schema(a=Flag(), epsilon=0.1)
    assert schema.cost(times=10).epsilon == 1
    assert "to sanitise the same records again costs epsilon 0.1 again" in str(schema)
    with pytest.raises(ParameterError, match="times must be at least 1"):
        schema.cost(times=0)


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_files_round_trip(ending, tmp_path):
    path = tmp_path / f"schema.{ending}"
    SCHEMA.write(path)
    again = Schema.read(path)
    assert again == SCHEMA
    assert again.fingerprint == SCHEMA.fingerprint
    assert list(again.columns) == list(SCHEMA.columns)
    assert again.weights == SCHEMA.weights
    assert again.columns["age"] == SCHEMA.columns["age"]


@pytest.mark.slow
@given(st.text(min_size=1).filter(lambda t: t.isprintable()))
def test_any_name_is_written_as_toml(name):
    schema = Schema.of({name: Choice(name, "other " + name)}, epsilon=1)
    assert from_facts(tomllib.loads(schema.to_toml())) == schema


def test_the_example_of_the_guide(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'epsilon = 2\nmethod = "sample"\n[columns.age]\nkind = "number"\nlower = 0\n'
        'upper = 120\nstep = 1\n[columns.vote]\nkind = "choice"\ncategories = ["yes", "no"]\n'
        "weight = 2\n"
    )
    wanted = Schema(
        age=Number(0, 120, 1),
        vote=Choice("yes", "no"),
        epsilon=2,
        method="sample",
        weights={"vote": 2},
    )
    assert Schema.read(path) == wanted


def test_fingerprints_tell_schemas_apart():
    base = {"a": Flag(), "b": Number(0, 9, 1)}
    schema = Schema.of(base, epsilon=1)
    assert len(schema.fingerprint) == 64
    assert schema.fingerprint == Schema.of(base, epsilon=1.0, weights={"a": 2, "b": 2}).fingerprint
    others = [
        Schema.of(base, epsilon=2),
        Schema.of(base, epsilon=1, method="sample"),
        Schema.of(base, epsilon=1, weights={"a": 2}),
        Schema.of(base | {"a": Flag(missing=True)}, epsilon=1),
        Schema.of(base | {"b": Number(0, 9, 1, method="laplace")}, epsilon=1),
        Schema.of(base | {"c": Flag()}, epsilon=1),
        Schema.of({"a": Flag(), "B": Number(0, 9, 1)}, epsilon=1),
    ]
    assert len({schema.fingerprint, *(s.fingerprint for s in others)}) == 8
    order = (
        Schema.of({"a": Choice("x", "y")}, epsilon=1),
        Schema.of({"a": Choice("y", "x")}, epsilon=1),
    )
    assert order[0] != order[1]
    assert json.loads(schema.canonical())["sourdine"] == 1


def test_a_schema_stays_as_it_is():
    with pytest.raises(ParameterTypeError, match="A schema cannot be changed"):
        SCHEMA.epsilon = 3
    with pytest.raises(TypeError):
        SCHEMA.columns["new"] = Flag()
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA  # noqa: S301
    assert hash(SCHEMA) == hash(from_facts(SCHEMA.facts()))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Schema(epsilon=1), "columns must be a dict of at least one column"),
        (lambda: Schema(a=Flag(), epsilon=0), "epsilon must be above 0"),
        (lambda: Schema(a=3, epsilon=1), "column 'a' must be a Number, Choice, Choices or Flag"),
        (lambda: Schema(a=["x", "y"], epsilon=1), r"Use Choice\('x', 'y'\)\."),
        (lambda: Schema(a=(0, 9), epsilon=1), r"Use Number\(0, 9, step=1\)\."),
        (lambda: Schema(a=bool, epsilon=1), r"Use Flag\(\)\."),
        (lambda: Choice("x", "y", missing="x"), "missing must differ from the categories, got 'x'"),
        (lambda: Schema.of({1: Flag()}, epsilon=1), "must be a string, got 1"),
        (lambda: Schema(a=Flag(), epsilon=1, method="all"), "method must be 'split' or"),
        (lambda: Schema(a=Flag(), epsilon=1, weights={"b": 1}), "weights must name columns"),
        (lambda: Schema(a=Flag(), epsilon=1, weights={"a": 0}), r"weights\['a'\] must be above 0"),
        (lambda: Schema(a=Flag(), epsilon=1, weights=[1]), "weights must be a dict"),
        (lambda: from_facts([]), "a schema must be a table"),
        (lambda: from_facts({"epsilon": 1}), "must hold 'columns'"),
        (lambda: from_facts({"columns": {}}), "must hold 'epsilon'"),
        (lambda: from_facts({"epsilon": "x/y", "columns": {"a": {"kind": "flag"}}}), "epsilon mus"),
        (lambda: from_facts({"epsilon": 1, "columns": {"a": {"kind": "flag", "mising": True}}}),
         "got 'mising'. Did you mean 'missing'"),
        (lambda: from_facts({"epsilon": 1, "columns": {"a": {"kind": "flags"}}}), "the kind of"),
        (lambda: from_facts({"epsilon": 1, "columns": {"a": {"kind": "number", "lower": 0}}}),
         "must have public bounds, got no 'upper'"),
        (lambda: from_facts({"epsilon": 1, "columns": {"a": CHOICE}}),
         "must be a list"),
        (lambda: from_facts({"epsilon": 1, "columns": {"a": 3}}), "column 'a' must be a table"),
        (lambda: SCHEMA.parts("wire"), "use must be 'table' or 'report'"),
        (lambda: Schema.read("nowhere.toml"), "No such file: 'nowhere.toml'"),
        (lambda: SCHEMA.write("schema.yaml"), "path must end in .toml or .json"),
    ],
)  # fmt: skip
def test_bad_schemas_are_refused(make, said):
    with pytest.raises(SourdineError, match=said):
        make()


def test_a_number_of_a_billion_digits_is_refused_at_once(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('epsilon = "1e999999999"\n[columns.a]\nkind = "flag"\n')
    with pytest.raises(ParameterTypeError, match="epsilon must be a number, got '1e999999999'"):
        Schema.read(path)


def test_a_broken_file_says_where(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("epsilon = \n")
    with pytest.raises(ParameterError, match=r"a schema must be a valid TOML file.*line 1"):
        Schema.read(path)


@pytest.mark.parametrize("weights", [None, {"age": 3}])
def test_the_columns_share_epsilon_and_a_sampled_one_has_it_all(weights):
    columns = {"age": Number(0, 120, step=1), "vote": Choice("yes", "no"), "smokes": Flag()}
    split = Schema.of(columns, epsilon=2, weights=weights)
    shares = [split.share(name) for name in columns]
    assert sum(shares) == 2
    assert shares[0] == (3 if weights else 1) * shares[1]
    spent = [part.mechanism.guarantee.exact_epsilon() for part in split.parts().values()]
    assert sum(spent) == 2
    sampled = Schema.of(columns, epsilon=2, weights=weights, method="sample")
    assert [sampled.share(name) for name in columns] == [2, 2, 2]
