"""The lab on Couchot 2023: the table, its learner, the figures' numbers and the verdicts."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sourdine.errors import ParameterError
from sourdine.mechanisms import Laplace
from sourdine.noise import SeededSource
from sourdine_lab.claims.couchot import (
    categories,
    coins,
    definition,
    laplace,
    learning,
    models,
    staircase,
    table,
)
from sourdine_lab.claims.couchot.channel import level, response
from sourdine_lab.experiments.couchot import coins as coins_figure
from sourdine_lab.experiments.couchot import curve, dp_ldp, laws, naive_bayes, one_draw, pima
from sourdine_lab.table import Table

FOLDER = Path(os.environ.get("SOURDINE_DATA") or Path(__file__).parents[3] / "shared" / "data")
HERE = (FOLDER / "diabetes.csv").exists()
VERDICTS = {
    "L1": "confirmed", "L1b": "confirmed", "L1c": "confirmed", "L1d": "confirmed",
    "L1e": "confirmed", "L1f": "observed", "L1g": "observed",
    "L2": "misprint", "L2b": "confirmed", "L2c": "confirmed", "L2d": "observed",
    "L2e": "observed", "L2f": "misprint", "L2g": "corrected",
    "L3": "confirmed", "L3b": "observed",
    "L4": "confirmed", "L4b": "observed",
    "L5": "corrected", "L5b": "observed", "L5c": "misprint", "L5d": "confirmed",
    "L5e": "confirmed",
    "L6": "observed", "L6b": "corrected", "L6c": "confirmed", "L6d": "corrected",
    "L6e": "corrected",
}  # fmt: skip
LEARNT_VERDICTS = {
    "L7": "confirmed", "L7b": "confirmed", "L7c": "confirmed", "L7d": "confirmed",
    "L8": "confirmed", "L8b": "confirmed", "L8c": "observed", "L8d": "observed",
}  # fmt: skip
EXACT = {
    claim.id: claim
    for module in (definition, models, coins, categories, laplace, staircase, table)
    for claim in module.CLAIMS
}
LEARNT = {claim.id: claim for claim in learning.CLAIMS}


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.delenv("SOURDINE_DATA", raising=False)
    learning.table.cache_clear()
    yield pima.read()
    learning.table.cache_clear()


@pytest.fixture
def real(monkeypatch):
    monkeypatch.setenv("SOURDINE_DATA", str(FOLDER))
    learning.table.cache_clear()
    yield pima.read()
    learning.table.cache_clear()


def ran(experiment, **settings):
    parts = experiment.split(experiment.values(settings), seed=1)
    return Table([row for part in parts for row in experiment.compute(part)])


def test_every_exact_claim_has_a_verdict_by_hand():
    assert set(EXACT) == set(VERDICTS)


@pytest.mark.parametrize("row", VERDICTS)
def test_verdict(row, judged):
    assert judged(row).verdict == VERDICTS[row]
    assert judged(row).minds_swapping


@pytest.mark.parametrize(
    ("row", "witness"),
    [
        ("L2", lambda one: one.instead.number == 3),
        ("L5", lambda one: round(one.printed.number, 4) == 1.3318),
        ("L5b", lambda one: round(one.printed.number, 4) == 1.3487),
        ("L5c", lambda one: round(one.printed.number, 2) == 2.04),
        ("L6c", lambda one: one.printed.number == pytest.approx(1 - 1 / 34)),
        ("L6", lambda one: 8.9 < one.printed.number < 9),
    ],
)
def test_witnesses(row, witness, judged):
    assert witness(judged(row)), judged(row).words


@pytest.mark.parametrize(("row", "verdict"), LEARNT_VERDICTS.items())
def test_verdicts_on_learning_are_those_of_the_stand_in(row, verdict, stand_in, judged):
    assert stand_in.data == "stand-in"
    assert judged(row).verdict == verdict


@pytest.mark.skipif(not HERE, reason="the Pima table is not here; SOURDINE_DATA names its folder")
@pytest.mark.parametrize("row", ["L7", "L7d", "L8", "L8b", "L8c"])
def test_verdicts_on_learning_are_those_of_the_table(row, real, judged):
    assert real.data == "Pima"
    assert judged(row).verdict == LEARNT_VERDICTS[row]


def test_a_score_among_others():
    values = np.arange(1, 101) / 100
    assert learning.among(0.03, values, "score").holds
    assert not learning.among(0.02, values, "score").holds
    assert learning.among(0.98, values, "score").holds
    assert not learning.among(0.99, values, "score").holds
    assert learning.among(0.9, values, "score").number == pytest.approx(0.11)


@pytest.mark.skipif(not HERE, reason="the Pima table is not here; SOURDINE_DATA names its folder")
def test_one_row_more_is_not_the_score_of_the_clean_table(real):
    assert real.data == "Pima"
    assert learning.clean(121 / 154).holds
    assert not learning.clean(122 / 154).holds


def test_just_below_1_the_commoner_answer_alone_is_right_more_often(stand_in):
    assert stand_in.data == "stand-in"
    found = learning.learnt("bounded laplace", 0.9, 200)
    assert found.accuracy.mean() - 0.5 > found.accuracy.std()
    assert found.constant.mean() > found.accuracy.mean()


@pytest.mark.skipif(not HERE, reason="the Pima table is not here; SOURDINE_DATA names its folder")
def test_the_clean_table_gives_the_scores_of_the_slides(real):
    found = naive_bayes.untouched(real)
    assert found.accuracy[0] == pytest.approx(pima.STATED["accuracy"][0], abs=1e-12)
    assert found.f1[0] == pytest.approx(pima.STATED["F1"][0], abs=1e-12)


@pytest.mark.parametrize(("way", "epsilon"), [("bounded laplace", 1.0), ("staircase", 4.0)])
def test_learner_is_that_of_scikit_learn(way, epsilon, stand_in):
    ticks, y = pima.cleaned(stand_in, way, epsilon, 3, SeededSource(4))
    found = naive_bayes.scores(stand_in, ticks, y)
    rows = np.arange(len(stand_in.y))
    train, test = train_test_split(rows, random_state=0, test_size=0.2)
    clean = pima.values(stand_in.ticks)
    for i in range(3):
        x = pima.values(ticks[i])
        model = GaussianNB().fit(x[train], y[i][train])
        guess = model.predict(x[test])
        assert found.accuracy[i] == pytest.approx(accuracy_score(y[i][test], guess))
        assert found.f1[i] == pytest.approx(f1_score(y[i][test], guess, zero_division=0))
        on_clean = model.predict(clean[test])
        assert found.clean_accuracy[i] == pytest.approx(accuracy_score(stand_in.y[test], on_clean))
        odds = np.diff(model.predict_joint_log_proba(clean[test]), axis=1)[:, 0]
        assert found.ranked[i] == pytest.approx(roc_auc_score(stand_in.y[test], odds))


def test_table_is_read_with_zeros_replaced(tmp_path, monkeypatch):
    names = [c.name for c in pima.COLUMNS]
    rows = ["1,100,70,20,100,30.0,0.5,30,0", "2,0,72,20,100,31.0,0.5,40,1"] * 5
    rows.append("3,120,0,20,100,31.0,0.5,40,1")
    (tmp_path / "diabetes.csv").write_text("\n".join([",".join([*names, "Outcome"]), *rows]))
    monkeypatch.setenv("SOURDINE_DATA", str(tmp_path))
    read = pima.read()
    x = pima.values(read.ticks)
    assert read.data == "Pima"
    assert sorted(set(x[:, names.index("Glucose")])) == [100, 120]
    assert set(x[:, names.index("BloodPressure")]) == {70, 71, 72}
    assert x[:, names.index("Pregnancies")].min() == 1
    assert (len(read.test), len(read.train)) == (3, 8)


def test_parts_differ_with_the_data(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURDINE_DATA", raising=False)
    without = curve.parts(curve.EXPERIMENT.values(quick=True))
    (tmp_path / "diabetes.csv").touch()
    monkeypatch.setenv("SOURDINE_DATA", str(tmp_path))
    assert curve.parts(curve.EXPERIMENT.values(quick=True)) != without
    monkeypatch.setenv("SOURDINE_DATA", str(tmp_path / "nowhere"))
    assert curve.parts(curve.EXPERIMENT.values(quick=True)) == without


@pytest.mark.parametrize(
    ("way", "spent"),
    [("bounded laplace", 1.0), ("staircase", 1 + pima.excess(1)), ("staircase kept", 1.0),
     ("window", 1.0)],
)  # fmt: skip
def test_what_each_way_spends(way, spent):
    report = pima._report(way, 1.0, 499)
    laws = np.stack([report.law(x).pmf(np.arange(500)) for x in range(0, 500, 1)])
    assert level(laws) == pytest.approx(spent, abs=3e-3)


def test_curve_rises_and_the_staircase_wins_at_the_end(stand_in):
    assert stand_in.data == "stand-in"
    rows = ran(curve.EXPERIMENT, epsilons=curve.epsilons(3), runs=60)
    for way, one in rows.by("mechanism"):
        assert one["accuracy"][0] == pytest.approx(0.5, abs=0.04), way
        assert one["accuracy"][-1] > 0.7
    last = {row["mechanism"]: row for row in rows.rows if row["epsilon"] == 10}
    assert last["staircase"]["accuracy"] > last["bounded laplace"]["accuracy"] + 0.02
    assert last["staircase"]["spent"] == pytest.approx(10.6899, abs=1e-3)


def test_one_draw_counts_every_cleaning(stand_in):
    assert stand_in.data == "stand-in"
    rows = ran(one_draw.EXPERIMENT, runs=200)
    for measure, one in rows.by("measure"):
        assert one["count"].sum() == 200
        middles = (one["low"] + one["high"]) / 2
        assert (one["count"] @ middles) / 200 == pytest.approx(one["mean"][0], abs=0.01)
        stated = pima.STATED[measure][1]
        surely = one["count"][one["high"] <= stated].sum()
        assert (
            surely <= 200 * one["below"][0] + 1e-9 <= 200 - one["count"][one["low"] > stated].sum()
        )
    assert rows.where(measure="accuracy")["below"][0] > 0.5 > rows.where(measure="F1")["below"][0]


def test_coins_and_categories_vary_as_the_formulas_say():
    rows = ran(coins_figure.EXPERIMENT, runs=4000)
    for panel in ("estimate", "categories"):
        one = rows.where(panel=panel)
        assert np.all(np.abs(one["found"] - one["theory"]) < 6 * one["error"])
    estimate = rows.where(panel="estimate")
    assert np.all(np.abs(estimate["bias"]) < 6 * estimate["bias_error"])
    coin = {s: one for s, one in rows.where(panel="coins").by("second")}  # noqa: C416
    best = np.interp(2.0, coin[0.5]["x"], coin[0.5]["theory"])
    assert best < np.interp(2.0, coin[0.25]["x"], coin[0.25]["theory"]) / 2


def test_level_and_response():
    assert level(response(0.75, 2)) == pytest.approx(np.log(3))
    assert level([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]) == np.inf
    assert response(0.4, 5).sum(axis=1) == pytest.approx(np.ones(5))


def test_laws_are_those_of_the_slides():
    rows = ran(laws.EXPERIMENT, cells=200)
    grr = rows.where(law="grr")
    c = 1 / (8 + np.e)
    assert grr["density"] == pytest.approx(np.where(grr["y"] == 6, c * np.e, c))
    for law, most in (("laplace", 1.0), ("staircase", 1.3318)):
        own = rows.where(law=law)
        for _, line in own.by("x"):
            assert line["density"].sum() == pytest.approx(200)
        assert 0.8 * most < laws._loss(own) <= most + 1e-9


def test_a_curator_is_overtaken_where_the_formulas_say():
    rows = ran(dp_ldp.EXPERIMENT, sizes=[1000], epsilons=[1], queries=[1, 16, 256], runs=60)
    assert np.all(np.abs(rows["found"] - rows["error"]) < 6 * rows["deviation"])
    error = {(r["method"], r["k"]): r["error"] for r in rows.rows}
    for method in (dp_ldp.GRR, dp_ldp.SUBSET):
        k = int(rows.where(method=method)["crossing"][0])
        assert 16 < k < 256
        assert error[dp_ldp.SPLIT, 16] < error[method, 16] == error[method, 256]
        assert error[dp_ldp.SPLIT, 256] > error[method, 256]
        assert error[dp_ldp.WHOLE, 256] < error[method, 256] / 10
    counts = np.full(16, 1000)
    k = dp_ldp.crossing(dp_ldp.GRR, counts, 1.0)
    before, at = (dp_ldp.exact_error(dp_ldp.SPLIT, counts, 1.0, i) for i in (k - 1, k))
    assert before < dp_ldp.exact_error(dp_ldp.GRR, counts, 1.0, 1) <= at


def test_the_curators_noise_is_that_of_the_library():
    noise = Laplace(epsilon=1, sensitivity=16).law(0).variance() ** 0.5
    assert dp_ldp.exact_error(dp_ldp.SPLIT, np.full(4, 250), 1.0, 16) == pytest.approx(noise / 1000)


def test_the_way_without_a_crossing_is_not_marked():
    settings = dp_ldp.EXPERIMENT.values(
        {"sizes": [100_000], "epsilons": [1], "queries": [1, 4], "runs": 2}
    )
    parts = dp_ldp.EXPERIMENT.split(settings, seed=1)
    table = Table([row for part in parts for row in dp_ldp.EXPERIMENT.compute(part)])
    (axes,) = dp_ldp.EXPERIMENT.figure(table, settings).axes
    assert any("not up to k = 4" in text.get_text() for text in axes.texts)


def test_a_part_of_the_table(stand_in):
    few = pima.read(["Glucose", "Age"], test_share=0.5, split_seed=3)
    assert few.ticks.shape == (768, 2)
    assert len(few.test) == 384
    whole = [column.name for column in stand_in.columns]
    for i, name in enumerate(("Glucose", "Age")):
        assert np.array_equal(few.ticks[:, i], stand_in.ticks[:, whole.index(name)])


@pytest.mark.parametrize(
    ("module", "given"),
    [
        (coins_figure, {"truth": 0.6, "yes": 0.3, "runs": 500, "categories": [3, 7, 20, 50]}),
        (laws, {"epsilon": 3, "categories": 20, "inputs": [0.5], "minimise": "l2"}),
        (curve, {"columns": ["BMI"], "epsilons": [2, 4], "runs": 5, "methods": ["window"]}),
        (one_draw, {"epsilon": 4, "runs": 20, "test_share": 0.5}),
    ],
)
def test_figures_can_be_drawn_with_other_settings(module, given, stand_in):
    assert stand_in.data == "stand-in"
    experiment = module.EXPERIMENT
    figure = experiment.figure(ran(experiment, **given), experiment.values(given))
    assert "Other settings than the document's" in figure.get_supxlabel()


def test_what_is_kept_must_be_a_category():
    with pytest.raises(ParameterError, match="kept must be at most categories, 3"):
        ran(laws.EXPERIMENT, categories=3)
