"""The call a person makes: choice of method, intervals, JSON, degenerate data, every engine."""

import json
from fractions import Fraction
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import sourdine as sd
from sourdine.central.quantiles.methods import METHODS, chosen
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.errors import ParameterError
from sourdine.frames import duck
from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource

DECILES = [i / 10 for i in range(1, 10)]
GRID = {"bounds": (0, 100), "step": 1}
RELATIONS = ("add_remove", "substitute")

DEGENERATE = {
    "none": [],
    "one": [50],
    "two": [0, 100],
    "equal": [7] * 300,
    "missing": [float("nan")] * 20,
    "infinite": [float("inf")] * 5 + [float("-inf")] * 5,
    "outside": [1e6] * 40,
    "zeros and a one": [0] * 2990 + [1],
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("q", [0.5, DECILES, [i / 40 for i in range(1, 40)]], ids=["1", "9", "39"])
@pytest.mark.parametrize("data", DEGENERATE.values(), ids=DEGENERATE)
def test_there_is_always_an_answer_on_the_grid(data, q, relation):
    release = sd.quantiles(data, q, **GRID, epsilon=1, relation=relation)
    values = np.atleast_1d(release.value)
    assert np.all((values >= 0) & (values <= 100))
    assert np.all(np.diff(values) >= 0)
    low, high = (np.atleast_1d(end) for end in release.interval(0.95))
    assert np.all((low >= 0) & (high <= 100))
    assert np.all((low <= values) & (values <= high))


@pytest.mark.parametrize("seed", [1959, 5910])
def test_quantiles_are_in_order_where_the_noisy_count_is_negative(seed):
    release = sd.quantiles(
        [0, 100], DECILES, **GRID, epsilon=1, relation="substitute", source=SeededSource(seed)
    )
    assert release.drawn["between"].sum() < 0
    assert all(np.all(np.diff(x) >= 0) for x in (release.value, *release.interval(0.95)))
    low, high = release.interval(0.95)
    assert np.all((low <= release.value) & (release.value <= high))


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("auto", "gaussian")])
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_method_can_be_named(method, relation):
    data = list(range(101)) * 30
    q = [0.25, 0.5, 0.75]
    release = sd.quantiles(data, q, **GRID, epsilon=4, relation=relation, method=method)
    assert release.cost.epsilon == 4
    if method != "laplace":
        assert np.abs(release.value - [25, 50, 75]).max() <= 25


def test_gaussian_noise_needs_a_delta():
    release = sd.median([1, 2, 3], **GRID, epsilon=1, delta=1e-6, method="gaussian")
    assert release.cost.delta == pytest.approx(1e-6)
    with pytest.raises(ParameterError, match="delta must be above 0 for method 'gaussian'"):
        sd.median([1, 2, 3], **GRID, epsilon=1, method="gaussian")


@pytest.mark.parametrize(
    ("m", "cells", "epsilon", "records", "name"),
    [
        (1, 10**6, 1, None, "exponential"),
        (1, 10**6, 2, None, "piecewise_laplace"),
        (2, 10**6, 1, None, "nearest"),
        (9, 10**6, 1, 10**5, "nearest"),
        (9, 10**6, 0.1, 1000, "anchors"),
        (40, 10**6, 1, 10**6, "nearest"),
        (41, 10**6, 1, 10**6, "hybrid"),
        (99, 10**6, 1, 500, "anchors"),
        (400, 10**6, 1, 10**6, "hybrid"),
        (401, 10**6, 1, 10**6, "tree"),
        (200, 200_001, 1, 10**6, "hybrid"),
        (201, 200_001, 1, 10**6, "tree"),
        (1000, 1 << 40, 1, 10**6, "hybrid"),
        (1001, 1 << 40, 1, 10**6, "levels"),
        (9, 30, 1, 10**6, "tree"),
        (9, 128, 1, 319, "tree"),
        (9, 128, 1, 320, "nearest"),
        (9, 129, 1, 319, "anchors"),
    ],
)
def test_the_choice_is_made_from_public_quantities(m, cells, epsilon, records, name):
    assert chosen(m, cells, epsilon, records, substitutes=False) == name
    replaced = "jointexp" if name == "nearest" else name
    assert chosen(m, cells, epsilon, records, substitutes=True) == replaced


@pytest.mark.parametrize(
    ("relation", "name"), [("add_remove", "JointNearest"), ("substitute", "JointExp")]
)
def test_a_replaced_record_needs_no_total(relation, name):
    x = np.random.default_rng(1).random(5000)
    release = sd.quantiles(
        x, [0.25, 0.5, 0.75], bounds=(0, 1), epsilon=1, relation=relation, interval=None
    )
    assert release.drawn["method"].startswith(name)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize("m", [2, 3, 9])
@pytest.mark.parametrize("own", [{}, {"interval": None}], ids=["paid", "by ranks"])
def test_an_interval_says_something_whatever_the_relation(relation, m, own):
    x = np.random.default_rng(1).normal(50, 10, 20_000)
    orders = [i / (m + 1) for i in range(1, m + 1)]
    release = sd.quantiles(
        x, orders, bounds=(0, 100), step=0.01, epsilon=1, relation=relation, source=SeededSource(1),
        **own,
    )  # fmt: skip
    low, high = release.interval(0.95)
    assert np.all(low <= np.quantile(x, orders))
    assert np.all(np.quantile(x, orders) <= high)
    assert np.all(low[1:] > 0)
    assert np.all(high[:-1] < 100)


def test_a_stated_number_of_records_is_not_paid_for():
    data = list(range(100)) * 100
    counted = sd.quantiles(data, DECILES, **GRID, epsilon=1)
    stated = sd.quantiles(data, DECILES, **GRID, epsilon=1, n=10_000)
    assert "count" in counted.drawn
    assert any("spent on a count" in caveat for caveat in counted.caveats)
    assert "count" not in stated.drawn
    assert not any("spent on a count" in caveat for caveat in stated.caveats)


@pytest.mark.parametrize(
    ("method", "relation"),
    [
        pytest.param("auto", "add_remove", marks=pytest.mark.simulation),
        pytest.param("auto", "substitute", marks=pytest.mark.simulation),
        pytest.param("joint", "add_remove", marks=pytest.mark.simulation),
        pytest.param("joint", "substitute", marks=pytest.mark.simulation),
        *product(["jointexp", "tree", "recursive"], RELATIONS),
    ],
)
def test_intervals_hold_whatever_n_is_typed(method, relation):
    rng, held = np.random.default_rng(5), []
    truth = np.array([100 * q for q in DECILES])
    for seed in range(40):
        x = rng.integers(0, 1000, 300) / 10
        release = sd.quantiles(
            x, DECILES, bounds=(0, 100), step=0.1, epsilon=0.5, n=10**7, method=method,
            relation=relation, source=SeededSource(seed),
        )  # fmt: skip
        here = np.quantile(x, DECILES, method="inverted_cdf")
        for of, value in (("sample", here), ("population", truth)):
            low, high = release.interval(0.95, of=of)
            held.append((of, bool(np.all((low - 0.05 <= value) & (value <= high + 0.05)))))
    for of in ("sample", "population"):
        assert np.mean([holds for kind, holds in held if kind == of]) >= 0.95


def test_what_n_is_typed_leaves_intervals_as_short():
    x = np.arange(100_000) % 1000 / 10
    for relation in RELATIONS:
        ends = [
            sd.quantiles(
                x, DECILES, bounds=(0, 100), step=0.1, epsilon=1, n=n, relation=relation
            ).interval(0.95)
            for n in (None, 100_000, 10**7)
        ]
        for low, high in ends:
            assert np.all(high - low < 30)


def test_a_release_reads_back():
    for more in ({}, {"interval": 0.9}, {"interval": None}):
        for q in (0.5, [0.1, 0.5]):
            release = sd.quantiles(list(range(100)), q, **GRID, epsilon=1, **more)
            again = sd.Release.from_json(release.to_json())
            assert np.array_equal(again.value, release.value)
            assert str(again) == str(release)
            assert json.loads(again.to_json()) == json.loads(release.to_json())


def test_one_order_gives_numbers_and_a_list_arrays():
    one = sd.quantile(list(range(100)), 0.5, **GRID, epsilon=1)
    several = sd.quantiles(list(range(100)), [0.5], **GRID, epsilon=1)
    assert isinstance(one.value, int)
    assert isinstance(one.interval()[0], int)
    assert several.value.shape == (1,)


def test_intervals_without_brackets_hold_and_use_what_was_released():
    rng = np.random.default_rng(1)
    data = rng.random(20_000)
    percent = [i / 100 for i in range(1, 100)]
    truth = np.quantile(data, percent, method="inverted_cdf")
    for of in ("sample", "population"):
        release = sd.quantiles(data, percent, bounds=(0, 1), epsilon=5, n=20_000, interval=None)
        low, high = release.interval(0.95, of=of)
        assert np.all((low <= truth) & (truth <= high))
        assert np.all(high[20:80] - low[20:80] < 0.5)


def test_a_single_quantile_without_a_count_has_the_bounds_for_an_interval():
    release = sd.median(list(range(100)), **GRID, epsilon=1, interval=None)
    assert release.interval(0.95) == (0, 100)


@pytest.mark.slow
def test_a_median_has_a_useful_interval_by_default():
    """Ages of 48,842 people at epsilon 1: one median in 200 may have a wider interval."""
    ages = np.clip(np.random.default_rng(1).normal(38.6, 13.6, 48_842), 17, 90).astype(int)
    truth = np.sort(ages)[48_842 // 2 - 1]
    wide = 0
    for _ in range(60):
        release = sd.median(ages, bounds=(0, 120), step=1, epsilon=1)
        low, high = release.interval()
        assert low <= truth <= high
        wide += high - low > 3
    assert wide <= 4  # five of sixty are one chance in 50,000
    assert "95% CI" in str(release)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("many", [0.5, [0.25, 0.5, 0.75], [i / 20 for i in range(1, 20)]])
def test_intervals_can_be_left_out(many):
    """Then all of epsilon draws the values, and neither tables nor frames have intervals."""
    x = {"x": list(range(100)) * 20, "g": ["a", "b"] * 1000}
    asked = {"column": "x", **GRID, "epsilon": 1, "interval": None}
    session = sd.Session(x, epsilon=1)
    plain = sd.quantiles(x, many, **asked)
    for release in (
        plain,
        sd.quantiles(x, many, **asked, by="g", keys=["a", "b"]),
        session.quantiles(many, **asked),
        sd.ask(x, plain.to_dict()["question"]),
        sd.Release.from_json(plain.to_json()),
    ):
        assert release.to_dict()["question"]["interval"] is None
        assert "CI" not in str(release).splitlines()[0]
        assert {"lower", "upper"}.isdisjoint(release.to_frame().columns)
    planned = sd.plan.quantiles(many, **asked, n=2000)
    assert planned.question.interval is None
    assert planned.error < sd.plan.quantiles(many, **{**asked, "interval": 0.95}, n=2000).error


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("auto", "joint", "gaussian")])
def test_methods_without_counts_have_no_interval_by_default(method):
    release = sd.quantiles([1, 2, 3] * 100, [0.2, 0.5, 0.8], **GRID, epsilon=1, method=method)
    assert release.to_dict()["question"]["interval"] is None
    assert "CI" not in str(release).splitlines()[0]


OLD = {
    "cost": {"epsilon": "1", "delta": "0", "relation": "add_remove"},
    "question": {"statistic": "median", "bounds": [0, 100], "step": 1, "epsilon": 1},
    "caveats": [],
}


def test_releases_that_do_not_say_what_they_paid_for_intervals_keep_theirs():
    """Half of epsilon, when 0.95 was typed; nothing, when nothing was."""
    drawn = {"total": 2016, "method": "Brackets", "ticks": [49], "edges": [49, 52]}
    question = {**OLD["question"], "interval": 0.95}
    for share, ends in (({}, (49, 51)), ({"interval_share": 0.375}, (0, 100))):
        old = {"drawn": {**drawn, "between": [991, 16, 991], **share}, "question": question}
        assert sd.Release.from_dict({**OLD, **old}).interval() == ends
    plain = sd.Release.from_dict({**OLD, "drawn": {"method": "QExp", "ticks": [50]}})
    assert (plain.value, plain.interval()) == (50, (0, 100))
    assert plain.mechanism.interval is None


@pytest.mark.slow
def test_intervals_of_groups_are_as_sure_as_they_must_be():
    """Brackets aim further out where the intervals of several groups hold together."""
    x = np.tile(np.arange(2000), 8)
    frame = {"x": x, "g": np.repeat(list("abcdefgh"), 2000)}
    asked = {"column": "x", "bounds": (0, 2000), "step": 1, "epsilon": 1, "by": "g"}
    whole = 0
    for seed in range(12):
        release = sd.median(frame, **asked, keys=list("abcdefgh"), source=SeededSource(seed))
        ends = release.interval().values()
        whole += sum(low == 0 or high == 2000 for low, high in ends)
        assert all(low <= 999 <= high for low, high in ends)
    assert whole <= 6  # of 96; without it some twenty


@pytest.mark.slow
def test_an_error_target_is_reached_by_the_planned_epsilon():
    statistic = Quantiles(q=DECILES, **GRID, epsilon=1)
    release = sd.quantiles(list(range(101)), DECILES, **GRID, error=0.01, n=10_000)
    planned = Quantiles(q=DECILES, **GRID, epsilon=release.cost.epsilon, n=10_000)
    assert planned.error(0.05, n=10_000) <= 0.01
    assert statistic.error(0.05, n=10_000) < statistic.error(0.05, n=1000)


@pytest.mark.slow
def test_one_seed_gives_one_answer_on_every_engine(tmp_path):
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(50, 20, 4000), 2)
    values[::17] = np.nan
    frame = pl.DataFrame({"x": values}).with_columns(pl.col("x").fill_nan(None))
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_csv(tmp_path / "x.csv")
    everything = (
        values,
        values.tolist(),
        pd.DataFrame({"x": values}),
        frame,
        frame.lazy(),
        frame.to_arrow(),
        duckdb.read_parquet(str(tmp_path / "x.parquet")),
        tmp_path / "x.parquet",
        tmp_path / "x.csv",
    )
    answers = [
        sd.quantiles(
            data, [0.2, 0.5, 0.9], bounds=(0, 100), step=step, epsilon=1, source=SeededSource(5)
        ).value.tolist()
        for step in (1, None)
        for data in everything
    ]
    assert all(answer == answers[0] for answer in answers[: len(everything)])
    assert all(answer == answers[-1] for answer in answers[len(everything) :])


def test_what_cannot_be_asked_is_refused_with_what_to_type():
    cases = {
        "q must be above 0 and below 1": {"q": [0.5, 0.2]},
        "above 0 and below 1": {"q": [0.5, 1]},
        "method must be 'auto', 'joint'": {"q": [0.5], "method": "best"},
        "interval must be omitted for method": {"q": [0.5], "method": "tree", "interval": 0.9},
        "interval must be omitted for method 'joint'": {
            "q": [i / 50 for i in range(1, 50)],
            "method": "joint",
            "interval": 0.9,
        },
    }
    for text, asked in cases.items():
        with pytest.raises(ParameterError, match=text):
            sd.quantiles([1, 2, 3], **asked, **GRID, epsilon=1)
    with pytest.raises(TypeError, match="missing a required argument: 'bounds'"):
        sd.median([1, 2, 3], epsilon=1)


@pytest.mark.parametrize("q", [0.5, [0.1, 0.5]])
@pytest.mark.parametrize("name", ["epsilon", "rows"])
def test_numbers_that_no_float_holds_are_refused(q, name):
    people = {"x": [1, 2, 3], "who": [1, 2, 3]}
    given = {"epsilon": 1, "rows": 1, "column": "x", "unit": "who", **GRID}
    for value in ("1e400", "1e308") if name == "epsilon" else (10**400, 10**308):
        with pytest.raises(
            ParameterError, match=f"{name} must be (from .* to 1e\\+30|at most 1e300)"
        ):
            sd.quantiles(people, q, **{**given, name: value})
    with pytest.raises(ParameterError, match="epsilon must be from 1e-30 to"):
        sd.quantiles(people, q, **{**given, "epsilon": "1e-400"})


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"interval": None}, {"n": 4000}])
def test_windows_of_all_groups_are_planned_before_they_are_read(options, monkeypatch):
    """An outline and the windows: two queries, however many groups there are."""
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"x": rng.normal(50, 10, 80_000), "g": np.arange(80_000) % 20})
    frame = Frame(duckdb.connect().from_arrow(rows.to_arrow()))
    asked = []
    guarded = duck.guarded
    monkeypatch.setattr(duck, "guarded", lambda work: asked.append(work) or guarded(work))
    deciles = Quantiles(
        [i / 10 for i in range(1, 10)], column="x", bounds=(0, 100), step=1e-9, epsilon=20,
        by="g", keys=range(20), **options,
    )  # fmt: skip
    found = deciles.release(frame).value
    assert len(asked) == 2
    assert all(abs(own[4] - 50) < 2 for own in found.values())


# names under which algorithms were published, and what belongs to one algorithm alone ------------


@pytest.mark.parametrize(
    ("typed", "own", "name"),
    [
        ("QExp", "exponential", "IndExp"),
        ("qexp", "exponential", "IndExp"),
        ("INDEXP", "exponential", "IndExp"),
        ("RecExp", "recursive", "RecExp"),
        ("JointExp", "jointexp", "JointExp"),
        ("histogrammethod", "histogram", "HistogramMethod"),
    ],
)
def test_published_names_are_accepted_in_any_case(typed, own, name):
    given = {"bounds": (0, 100), "step": 1, "epsilon": 1, "method": typed}
    asked = Quantiles([0.25, 0.75], **given)
    assert asked.method == own
    assert asked.to_dict()["method"] == own
    assert type(asked.mechanism(None)).__name__ == name
    released = sd.Session([1, 2, 3] * 50, epsilon=2).quantiles([0.25, 0.75], **given)
    assert released.drawn["method"] == name
    assert sd.plan.quantiles([0.25, 0.75], n=1000, **given).question.method == own
    read = sd.questions.read({"statistic": "quantiles", "q": [0.25, 0.75], **given})
    assert read.method == own


def test_an_error_lists_the_names_of_today():
    with pytest.raises(ParameterError, match="'recursive', 'inverse_sensitivity'") as caught:
        Quantiles([0.5], bounds=(0, 1), epsilon=1, method="RecExpp")
    assert "'RecExp'" not in str(caught.value)


def histogram(n=None, steps=None, relation="substitute", upper=10_000):
    asked = Quantiles(
        [0.5], bounds=(0, upper), step=1, epsilon=1, method="histogram", n=n, steps=steps,
        relation=relation,
    )  # fmt: skip
    return asked.mechanism(None).steps


def test_bins_follow_a_public_number_of_records():
    assert histogram(n=1000) == 217  # 1.5 n / ln n
    assert histogram(n=1000, relation="add_remove") == histogram() == 1000
    assert histogram(n=1000, steps=50) == histogram(steps=50) == 50
    assert histogram(steps=5000, upper=100) == histogram(n=10**6, upper=100) == 101
    assert histogram(n=1) == 4
    assert histogram(n=10**12, upper=2**22) == 2**20


def test_bins_are_written_and_older_questions_keep_theirs():
    """Before there were steps, there were a thousand of them whatever n was."""
    asked = Quantiles([0.5], bounds=(0, 10_000), step=1, epsilon=1, method="histogram", n=1000,
                      relation="substitute")  # fmt: skip
    facts = asked.to_dict()
    assert facts["steps"] == 217
    assert Quantiles.from_dict(facts) == asked
    older = {name: value for name, value in facts.items() if name != "steps"}
    assert Quantiles.from_dict(older).mechanism(None).steps == 1000
    assert sd.questions.read(older).mechanism(None).steps == 217  # typed today


def smoothing(rho, **more):
    given = {"bounds": (0, 100), "step": 1, "epsilon": 1, **more}
    return Quantiles([0.5], method="inverse_sensitivity", rho=rho, **given).mechanism(None).rho


def test_smoothing_is_a_distance_between_values():
    assert smoothing(None) == smoothing(0) == smoothing(0.9) == 0
    assert smoothing(2.5) == 2
    assert smoothing(Fraction(1, 3), bounds=(0, 1), step=Fraction(1, 12)) == 4
    assert smoothing(10**9) == 101  # the whole grid
    dates = {"bounds": ("2020-01-01", "2020-12-31"), "step": None}
    assert smoothing("3 days", **dates) == 3
    assert smoothing("71 h", **dates) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": 5}, "steps must be omitted for method 'auto', got 5. Use method='histogram'"),
        ({"steps": 5, "method": "tree"}, "steps must be omitted for method 'tree'"),
        ({"rho": 1, "method": "histogram"}, "Use method='inverse_sensitivity', or omit rho"),
        ({"steps": 0, "method": "histogram"}, "steps must be at least 1, got 0"),
        ({"steps": 2**20 + 1, "method": "histogram"}, "steps must be at most 1048576"),
        ({"rho": -1, "method": "inverse_sensitivity"}, "rho must be at least 0, got -1"),
        ({"rho": "1 day", "method": "inverse_sensitivity"}, "rho must be a duration for dates"),
    ],
)
def test_what_belongs_to_one_method_is_refused_for_others(given, said):
    with pytest.raises(ParameterError) as caught:
        Quantiles([0.5], bounds=(0, 100), step=1, epsilon=1, **given)
    assert said in str(caught.value)


@pytest.mark.grid
@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
@pytest.mark.parametrize(
    "own", [{"method": "histogram", "steps": 4}, {"method": "inverse_sensitivity", "rho": 2}]
)
def test_worst_case_with_other_bins_and_smoothing(relation, own, holds):
    """What a person asks for, on a grid of six values, over all small data sets and neighbours."""
    asked = Quantiles([0.5], bounds=(0, 5), step=1, epsilon=1, relation=relation, **own)
    mechanism = asked.mechanism(None)
    assert getattr(mechanism, "steps", 4) == 4
    assert getattr(mechanism, "rho", 2) == 2
    assert 0.3 < holds(mechanism).epsilon <= 1 + 1e-9
