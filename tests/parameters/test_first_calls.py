"""What people type first, and what they are told."""

from __future__ import annotations

import inspect
import re

import pandas as pd
import pytest

import sourdine as sd
from sourdine.errors import BudgetExceededError, ParameterError, ParameterTypeError, SourdineError
from sourdine.parameters import converters
from sourdine.parameters.question import parameters
from sourdine.questions import STATISTICS

PEOPLE = pd.DataFrame({"age": [31, 47, 55] * 100, "sex": ["f", "m", "f"] * 100})
OWN = {
    "proportion": {"category": 31},
    "histogram": {"bins": 4},
    "quantiles": {"q": [0.5]},
    "quantile": {"q": 0.5},
    "mode": {"categories": [31, 47]},
}
"""What a statistic needs besides its column, bounds and epsilon."""


def ask(function, *placed, **typed):
    try:
        return function(PEOPLE, *placed, **typed)
    except SourdineError as error:
        return error


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", [*STATISTICS, "describe"])
@pytest.mark.parametrize("placed", [("age",), ("age", (0, 120)), ("age", (0, 120), 1)])
def test_what_stands_without_a_name_is_named_in_the_hint(name, placed):
    """Obeying the hint gives an answer, for every statistic."""
    known = {p.name for p in parameters(STATISTICS.get(name, sd.central.Describe))}
    if name in {"table", "sql"} or (len(placed) > 1 and "bounds" not in known):
        return
    rest = {"bounds": (0, 120)} if "bounds" in known and len(placed) < 2 else {}
    rest |= {"epsilon": 3} if len(placed) < 3 else {}
    rest |= OWN.get(name, {})
    error = ask(getattr(sd, name), *placed, **rest)
    assert isinstance(error, ParameterTypeError)
    named = "y" if "y" in known else "column"  # a statistic of two columns needs more
    said = f"{name}() got an unexpected positional argument: 'age'. Use {named}"
    assert str(error).startswith(said)
    if named == "y":
        return
    assert set(error.tries.values()) >= set(placed) if name != "describe" else error.tries
    assert isinstance(ask(getattr(sd, name), **rest, **error.tries), sd.Release)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: sd.count(x, by="sex", keys=x["odd"], epsilon=1), "keys must be 'unknown' or"),
        (lambda x: sd.histogram(x, column="sex", categories=x["odd"], epsilon=1), "'unknown' or"),
        (lambda x: sd.mode(x, column="sex", categories=x["odd"], epsilon=1), "must be a list"),
    ],
)
def test_a_misspelt_unknown_is_not_taken_for_a_group(call, said):
    with pytest.raises(SourdineError, match=said):
        call({"sex": ["f", "m"] * 9, "odd": "unkown"})


def test_a_key_that_is_listed_twice_is_named():
    with pytest.raises(SourdineError, match="got 'm' twice"):
        sd.count(PEOPLE, by="age", keys=["f", "m", "x", "m"], epsilon=1)


@pytest.mark.slow
def test_orders_have_names():
    typed = {"column": "age", "bounds": (0, 120), "epsilon": 1}
    assert len(sd.quantiles(PEOPLE, "deciles", **typed).value) == 9
    assert len(sd.quantiles(PEOPLE, q="Quartiles", **typed).value) == 3
    with pytest.raises(ParameterError, match="q must be a single order, got 9"):
        sd.quantile(PEOPLE, "deciles", **typed)


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [((0, 120, 5), "(0, 120, 5)"), ("0-120", "'0-120'"), ([0], "0")],
)
def test_bounds_that_are_none_are_shown(bounds, shown):
    error = ask(sd.mean, column="age", bounds=bounds, epsilon=1)
    assert str(error) == f"bounds must be two numbers, got {shown}. Use bounds=(0, 120)."


def test_a_word_for_bounds_is_find():
    error = ask(sd.mean, column="age", bounds="auto", epsilon=1)
    assert "bounds must be two numbers, got 'auto'." in str(error)
    assert "bounds='find' spends part of epsilon on finding them." in str(error)


@pytest.mark.parametrize(
    ("placed", "tries"),
    [
        ((0, 120, 1), {"bounds": (0, 120), "epsilon": 1}),
        (("age", 0, 120), {"column": "age", "bounds": (0, 120)}),
        ((1,), {"epsilon": 1}),
    ],
)
def test_two_numbers_in_a_row_are_bounds(placed, tries):
    assert ask(sd.mean, *placed).tries == tries


@pytest.mark.parametrize("data", [[31, 47, 55], PEOPLE, PEOPLE["age"].to_numpy(), {"age": [1]}])
def test_data_are_not_given_twice(data):
    session = sd.Session(PEOPLE, epsilon=1)
    for call in (session.mean, sd.plan.mean):
        with pytest.raises(ParameterTypeError, match="a session holds its data, and plans take no"):
            call(data, column="age", bounds=(0, 120), epsilon=1)


def test_a_category_without_its_name():
    assert ask(sd.proportion, "f", column="sex", epsilon=1).tries == {"category": "f"}


def test_no_order_and_no_bins_are_told():
    error = ask(sd.quantiles, [], column="age", bounds=(0, 120), epsilon=1)
    assert str(error).startswith("q must hold at least one order. Use q=")
    error = ask(sd.histogram, column="age", epsilon=1)
    assert "got neither" not in str(error)


@pytest.mark.parametrize(("name", "meant"), [("average", "mean"), ("hist", "histogram")])
def test_statistics_of_other_libraries(name, meant):
    with pytest.raises(AttributeError, match=f"'{name}'. Did you mean '{meant}'"):
        getattr(sd, name)


def test_a_chart_is_saved_where_the_first_argument_says():
    release = sd.mean(PEOPLE, column="age", bounds=(0, 120), epsilon=1)
    with pytest.raises(ParameterError, match=r"path must end in \.png, \.svg, \.pdf or \.html"):
        release.plot("mean.doc")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"filter": "age > 17"}, "Did you mean 'where'"),
        ({"groupby": "sex"}, "Did you mean 'by'?"),
        ({"eps": 1}, "Did you mean 'epsilon'?"),
        ({"epsilom": 1}, "Did you mean 'epsilon'?"),
        ({"bound": (0, 1)}, "Did you mean 'bounds'?"),
        ({"whither": 1}, "'whither'. Known names: 'bounds', 'by', "),
    ],
)
def test_parameters_of_other_libraries(typed, said):
    error = ask(sd.mean, column="age", **typed)
    assert said in str(error)
    assert "other?" not in str(error)


@pytest.mark.parametrize("column", ["aeg", "Age", " age ", "ages"])
def test_a_slip_in_a_name_is_recognised(column):
    error = ask(sd.mean, column=column, bounds=(0, 120), epsilon=1)
    assert "Did you mean 'age'? The columns are: 'age', 'sex'." in str(error)


def test_a_total_without_delta_says_what_to_begin_with():
    with pytest.raises(BudgetExceededError) as refused:
        sd.Session(PEOPLE, epsilon=1).describe(epsilon=1)
    total = dict(re.findall(r"(delta|reserve)=([0-9.e-]+[0-9])", str(refused.value)))
    assert set(total) == {"delta", "reserve"}
    assert sd.Session(PEOPLE, epsilon=1, **total).describe(epsilon=1).value


def test_functions_take_what_their_signature_says():
    """Only orders of quantiles and statements may stand without a name."""
    places = {"quantiles": ["q"], "quantile": ["q"], "sql": ["statement"]}
    for name in [*STATISTICS, "describe"]:
        own = inspect.signature(getattr(sd, name)).parameters.values()
        placed = [p.name for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert placed == places.get(name, []), name


@pytest.mark.parametrize("bounds", [(5, 5), (5, 4), (0.5, 0.5)])
def test_bounds_are_two_different_numbers(bounds):
    with pytest.raises(ParameterError, match="bounds: lower must be below upper"):
        converters.bounds(bounds)
