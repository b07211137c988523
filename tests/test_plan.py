"""Planning: errors and epsilons before paying, for one statistic and for several."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from itertools import product

import attrs
import pytest

import sourdine as sd
from sourdine import central, plan, questions
from sourdine.central.statistic import rounded
from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.parameters import question
from sourdine.plan.plans import _down
from sourdine.session import Session

AGE = {"bounds": (0, 120), "step": 1}
PLANS = [
    ("count", {}, 10),
    ("count", {"by": "sex", "keys": ["f", "m"], "relation": "substitute"}, 10),
    ("sum", AGE, 5000),
    ("mean", {**AGE, "n": 1000}, 2),
    ("mean", {**AGE, "n": 1000, "relation": "substitute"}, 2),
    ("mean", {**AGE, "n": 1000, "by": "sex", "keys": ["f", "m"]}, 2),
    ("mean", {**AGE, "n": 1000, "relation": "substitute", "unit": "who", "rows": 2}, 5),
    ("proportion", {"n": 1000, "relation": "substitute", "unit": "who"}, 0.05),
    ("variance", {**AGE, "n": 1000}, 200),
    ("proportion", {"n": 1000}, 0.01),
    ("histogram", {"bins": 10, "bounds": (0, 120)}, 20),
    ("histogram", {"categories": ["a", "b"]}, 20),
    ("quantiles", {**AGE, "q": [0.5], "n": 10_000}, 0.005),
    ("quantiles", {**AGE, "q": [0.25, 0.5, 0.75], "n": 10_000, "relation": "substitute"}, 0.005),
    ("quantiles", {**AGE, "q": [0.5], "n": 10_000, "unit": "who", "rows": 2}, 0.02),
]


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(("kind", "parameters", "error"), PLANS)
def test_planned_epsilon_is_the_least(kind, parameters, error):
    planned = getattr(plan, kind)(**parameters, error=error)
    assert planned.error <= error
    assert planned.epsilon == rounded(planned.epsilon)
    smaller = planned.epsilon * Fraction(9989, 10000)
    assert planned.at(smaller) > error * (1 - 1e-9) or rounded(smaller) == planned.epsilon


@pytest.mark.parametrize(("kind", "parameters", "error"), PLANS)
def test_a_plan_is_for_what_the_function_releases(kind, parameters, error):
    data = {"value": [1, 2, 3], "sex": ["f", "m", "f"], "who": [1, 2, 3]}
    for spend in ({"epsilon": 0.5}, {"error": error}):
        given = {**parameters, **spend, "column": "value"}
        planned = getattr(plan, kind)(**given)
        released = getattr(sd, kind)(data, **given)
        assert planned.question.estimator == released.mechanism
        assert planned.epsilon == released.cost.epsilon
        asked = getattr(released.mechanism, "question", released.mechanism)
        assert planned.question == asked
        assert planned.error == asked.error(0.05, n=given.get("n"))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_confidence_is_kept(confidence):
    planned = plan.mean(n=1000, error=2, confidence=confidence, **AGE)
    assert planned.error <= 2 < planned.at(planned.epsilon * Fraction(99, 100))
    assert planned.confidence == Fraction(str(confidence))
    assert f"({100 * confidence:g}%)" in str(planned)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("total", [0.05, 1, 20])
def test_shared_errors_are_balanced(total):
    wanted = [
        plan.mean(n=10_000, error=1, **AGE),
        plan.variance(n=10_000, error=40, **AGE),
        plan.sum(error=10_000, **AGE),
        plan.proportion(n=10_000, error=0.001),
    ]
    shared = plan.together(wanted, epsilon=total)
    ratios = [e / w for e, w in zip(shared.error, shared.wanted, strict=True)]
    assert shared.epsilon <= Fraction(str(total))
    assert shared.epsilon > Fraction(str(total)) * Fraction(998, 1000)
    assert max(ratios) < 1.02 * min(ratios)
    assert shared.factor == max(ratios)


@pytest.mark.slow
def test_quantiles_are_planned_in_ranks():
    salaries = {"n": 100_000, "bounds": (0, 500_000)}
    planned = plan.quantiles(q=[0.5], error=0.005, **salaries)
    assert planned.error <= 0.005
    assert "rank error (95%)" in str(planned)
    one = plan.median(error=0.005, **salaries)
    same = plan.quantile(0.5, error=0.005, **salaries)
    for other in (same, planned):
        assert (one.epsilon, one.error) == (other.epsilon, other.error)
    deciles = plan.quantiles(q=[k / 10 for k in range(1, 10)], error=0.005, **salaries)
    assert deciles.epsilon > planned.epsilon
    both = plan.together([planned, plan.count(error=50)], epsilon=1)
    assert "error or rank error" in str(both)


def test_no_other_sharing_is_better():
    wanted = [plan.mean(n=10_000, error=1, **AGE), plan.sum(error=3000, **AGE)]
    best = plan.together(wanted, epsilon=1).factor
    for part in range(5, 100, 5):
        shares = (Fraction(part, 100), Fraction(100 - part, 100))
        worst = max(p.at(share) / p.error for p, share in zip(wanted, shares, strict=True))
        assert worst >= best * 0.998


def test_whole_errors_are_shared_too():
    shared = plan.together(
        [plan.count(error=2), plan.histogram(categories=["a"], error=1)], epsilon=50
    )
    assert shared.epsilon <= 50
    assert all(epsilon > 0 for epsilon in (p.epsilon for p in shared))


def test_targets_add_up():
    wanted = [plan.count(error=10), plan.mean(n=1000, error=2, column="age", **AGE)]
    both = plan.together(wanted)
    assert both.epsilon == wanted[0].epsilon + wanted[1].epsilon
    assert [p.error for p in both] == [p.error for p in wanted]
    assert len(both) == 2
    assert both[1] is wanted[1]
    assert both.factor == 1


def test_a_delta_may_cover_all_that_was_planned():
    """At so small an epsilon the first try uses nothing of the total; it is still shared."""
    shared = plan.together([plan.count(epsilon=1e-6)], delta=1e-6, epsilon=1e-6)
    assert 0 < shared.certified.upper <= 1e-6
    assert shared.epsilon > 1e-6


def test_statistics_are_taken_as_they_are():
    both = plan.together([central.Count(epsilon=1, n=7), plan.sum(epsilon=1, **AGE)], epsilon=4)
    assert both[0].n == 7
    assert both[0].question == central.Count(epsilon=both[0].epsilon, n=7)
    assert 3.98 < both.epsilon <= 4


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (plan.count, r"count\(\) missing a required argument: 'epsilon' or 'error'"),
        (lambda: plan.count(epsilon=1, error=1), "epsilon must not be combined with error"),
        (lambda: plan.mean(epsilon=1, n=10), "missing a required argument: 'bounds'"),
        (lambda: plan.mean(epsilon=1, **AGE).error, "n must be given, because the error"),
        (lambda: plan.count(epsilon=1, confidence=1), "confidence must be above 0 and below 1"),
        (
            lambda: plan.count(epsilon=1, bounds=(0, 1)),
            r"count\(\) got an unexpected keyword argument 'bounds'",
        ),
        (lambda: plan.count(epsilon=1, n=0), "n must be at least 1"),
        (lambda: plan.together([]), "plans must hold at least one"),
        (lambda: plan.together(["mean"]), "question must be a question about a column"),
        (
            lambda: plan.together(
                [plan.count(epsilon=1), plan.count(epsilon=1, relation="substitute")]
            ),
            "relation must be the same for all plans, .* got add_remove and substitute",
        ),
        (
            lambda: plan.together([plan.count(epsilon=1), plan.count(epsilon=1, rows=2)]),
            "rows must be the same for all plans, .* got 1 and 2",
        ),
        (lambda: plan.mean(epsilon=1, by="a", keys=[1], missing="middle", **AGE), "is private"),
    ],
)
def test_wrong_plans_say_what_to_type(call, text):
    with pytest.raises((ParameterError, ParameterTypeError), match=text):
        call()


def test_plans_print_and_travel():
    one = plan.mean(n=100_000, column="salary", bounds=(0, 500_000), step=1, epsilon=0.5)
    assert str(one).splitlines()[0].split() == ["statistic", "n", "epsilon", "error", "(95%)"]
    assert "mean of salary  100,000      0.5" in str(one)
    facts = json.loads(one.to_json())
    assert (facts["epsilon"], facts["confidence"], facts["error"]) == (0.5, 0.95, one.error)
    assert facts["question"] == {
        "statistic": "mean", "column": "salary", "bounds": [0, 500_000], "step": 1,
        "epsilon": 0.5, "n": 100_000,
    }  # fmt: skip
    assert questions.read(facts["question"]) == one.question
    assert one._repr_html_().startswith("<table>")
    several = plan.together([one, plan.count(error=5)], epsilon=1)
    assert "total  epsilon" in str(several)
    assert len(json.loads(several.to_json())["plans"]) == 2
    assert several._repr_html_().count("<tr>") == 3


def test_json_of_a_plan_steers_no_terminal():
    column = "e\x9b2J"
    text = plan.count(column=column, epsilon=1).to_json()
    assert "\x9b" not in text
    assert json.loads(text)["question"]["column"] == column


@pytest.mark.slow
def test_the_curve_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    for i, planned in enumerate([plan.count(epsilon=1), plan.mean(n=1000, error=2, **AGE)]):
        planned.plot(path=tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 10_000


def test_errors_fall_with_epsilon_and_rise_with_rows():
    for kind, rows in product(("mean", "variance"), (1, 3)):
        planned = getattr(plan, kind)(n=1000, epsilon=1, rows=rows, **AGE)
        assert planned.at(0.5) > planned.error > planned.at(2)
        more = plan.Plan(question=attrs.evolve(planned.question, rows=rows + 1))
        assert more.error > planned.error


def test_the_plan_of_a_table_says_its_unit_and_shares():
    asked = {"of": {"age": ["mean", "deciles"], "height": ["mean", "variance"], "*": ["count"]}}
    planned = plan.table(**asked, bounds={"age": (0, 120), "height": (0, 250)}, n=1000, epsilon=1)
    text = str(planned)
    assert "relative error (95%)" in text
    assert "deciles of age 0." in text
    assert all(len(line) <= 88 for line in text.splitlines())
    assert len(text.splitlines()[0]) <= 80


def test_a_description_has_no_plan():
    with pytest.raises(ParameterTypeError, match="A plan is not available for a description"):
        plan.describe(epsilon=1)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("name", sorted(questions.STATISTICS))
def test_numbers_that_no_float_can_hold_are_refused_in_words(name):
    """Bounds, errors and epsilons that nobody means: Sourdine's own error, or a plan."""
    takes = {p.name for p in question.parameters(questions.STATISTICS[name])}
    base = {"n": 100, "q": [0.5], "bins": 4, "category": "a", "of": {"x": ["variance"]}}
    if name in ("quantile", "median"):
        base["q"] = 0.5
    for bounds, cost in product(
        ((0, 1e285), (-(10**299), 10**299), (0, 1e-280)),
        ({"error": 1e-30}, {"error": 1e300}, {"epsilon": 10**400}, {"epsilon": "1" * 400}),
    ):
        by_column = {"x": bounds, "y": bounds} if "y" in takes else {"x": bounds}
        several = name == "table" or "y" in takes
        typed = {"x": "x", "y": "y", "bounds": by_column if several else bounds, **base}
        said = {key: x for key, x in {**typed, **cost}.items() if key in takes}
        with suppress(SourdineError):
            assert getattr(plan, name)(**said).epsilon > 0


def test_a_batch_fits_if_all_of_it_does():
    planner = Session([30, 40, 50], epsilon=1).plan
    wanted = [planner.count(epsilon=1), planner.count(epsilon=1)]
    assert planner.together(wanted, epsilon=0.9).fits
    much = planner.together(wanted, epsilon=1.5)
    assert much.epsilon > 1 > max(one.epsilon for one in much)
    assert not much.fits


@pytest.mark.parametrize("share", [0.123456, 0.99996, 1 / 3, 2e-7])
def test_shares_are_rounded_down_to_four_digits(share):
    short = _down(share)
    assert short <= Fraction(share) < short * Fraction(1001, 1000)
    assert Fraction(f"{float(short):.4g}") == short
