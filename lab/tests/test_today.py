"""Facts that the figures of today's methods must show, on small settings."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from sourdine.errors import ParameterError
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase
from sourdine.mechanisms.mechanism import settle
from sourdine.noise import SeededSource
from sourdine_lab.experiments.couchot.pima import read, values
from sourdine_lab.experiments.today import (
    adaptive,
    deciles_normal,
    deciles_uniform,
    density,
    errors,
    many_quantiles,
    mean,
    one_number,
    one_quantile,
    pima,
    quantile_methods,
    salaries,
    survey,
)
from sourdine_lab.table import Table


def computed(module, seed=1, **settings):
    return Table(list(module.EXPERIMENT.compute(module.EXPERIMENT.part(seed=seed, **settings))))


def by(table, column, **given):
    rows = table.where(**given)
    return dict(zip(rows["method"].tolist(), rows[column].tolist(), strict=True))


def test_deciles_of_all_methods_in_their_order():
    table = computed(deciles_uniform, n=1000, runs=30)
    sample, law = by(table, "error"), by(table, "law_error")
    assert sample["no privacy"] == 0
    assert sample["histogram"] > 1.3 * sample["inverse sensitivity"]
    assert sample["inverse sensitivity"] > 2 * sample["Sourdine"]
    assert sample["RecExp"] > 1.2 * sample["JointExp"]
    assert 0.7 < sample["IndExp"] / sample["inverse sensitivity"] < 1.4
    # the level of research: n times the error is 22 for inverse sensitivity, 7.3 for JointExp
    assert sample["inverse sensitivity"] * 1000 == pytest.approx(22.3, rel=0.25)
    assert sample["JointExp"] * 1000 == pytest.approx(7.3, rel=0.3)
    assert all(law[method] >= law["no privacy"] * 0.95 for method in law)


def test_loose_bounds_hurt_the_documents_methods_more():
    table = computed(deciles_normal, n=300, runs=10)
    sample = by(table, "error")
    assert sample["inverse sensitivity"] > 4 * sample["Sourdine"]


def test_the_histogram_has_the_documents_cells():
    x = np.random.default_rng(1).random(1000)
    told = quantile_methods.released(
        "histogram", x, [0.5], bounds=(0, 1), step=2**-20, epsilon=5, source=SeededSource(1)
    )
    cells = told[0] * round(1.5 * 1000 / log(1000))
    assert abs(cells - round(cells)) < 1e-3


def test_rank_errors_are_0_inside_a_tie():
    x = np.array([1.0, 2, 2, 2, 5])
    found = quantile_methods.rank_errors(x, np.array([2.0, 5.0, 0.0]), [0.5, 0.5, 0.5])
    assert found.tolist() == [0.0, 1.5, 2.5]
    assert quantile_methods.sample_quantiles(x, [0.2, 0.21, 0.81]).tolist() == [1, 2, 5]


def test_the_mean_and_the_error_of_it():
    assert errors.mean_and_error([1.0, 2.0, 3.0]) == (2.0, pytest.approx(1 / sqrt(3)))
    rows = Table([{"error": 1.0, "deviation": 0.1}, {"error": 1.0, "deviation": 5.0}])
    assert errors.uncertainty(rows).tolist() == [0.1, 0.4]


def test_one_quartile_noise_on_the_value_is_useless():
    table = computed(one_quantile, axis="n", n=1000, range=200, epsilon=0.2, runs=60)
    risk = by(table, "risk")
    assert min(risk["Laplace noise"], risk["Gaussian noise"]) > 500 * risk["QExp"]
    # Laplace(2/epsilon) in ranks, a fifth of a unit apart
    assert risk["QExp"] == pytest.approx(2 * (2 / 0.2) ** 2 * 0.2**2, rel=0.6)


def test_one_quartile_sourdine_changes_its_law_at_a_large_epsilon():
    table = computed(one_quantile, axis="epsilon", n=10, range=200, epsilon=20.0, runs=60)
    risk = by(table, "risk")
    assert risk["Sourdine"] < 0.7 * risk["QExp"]
    assert risk["Sourdine"] == pytest.approx(risk["piecewise Laplace"], rel=0.9)


def test_many_quantiles_lose_the_ranks_that_research_measured():
    table = computed(many_quantiles, law="U(0, 1)", n=10_000, m=9, runs=30)
    error = by(table, "error")
    for method, expected in (("IndExp", 18.7), ("RecExp", 12.3), ("JointExp", 6.1)):
        assert error[method] == pytest.approx(expected, rel=0.3)
    assert error["Sourdine"] == pytest.approx(6.3, rel=0.3)


def test_many_quantiles_joint_draws_are_rarer_where_they_are_slow():
    table = computed(many_quantiles, law="Beta(2, 2)", n=100, m=41, runs=4)
    assert by(table, "runs") == {"IndExp": 4, "JointExp": 3, "RecExp": 4, "Sourdine": 4}


def test_mean_risks_are_those_of_the_formulas():
    table = computed(mean, epsilons=[0.5, 5.0, 10.0])
    for epsilon in (0.5, 5.0, 10.0):
        noise = by(table, "noise", epsilon=epsilon)
        decay = exp(-epsilon / 100)
        discrete = 2 * decay / (1 - decay) ** 2 * 1e-4
        assert noise["Laplace"] == pytest.approx(discrete, rel=1e-9)
        assert noise["Laplace"] == pytest.approx(2 / epsilon**2, rel=2e-3)
        assert noise["staircase"] <= noise["Laplace"]
        assert noise["Gaussian, tight"] > noise["Laplace"]
    classic = 2 * log(1.25 / 1e-5)
    assert by(table, "noise", epsilon=0.5)["Gaussian, classic"] == pytest.approx(
        classic / 0.25, rel=1e-6
    )
    assert "Gaussian, classic" not in by(table, "noise", epsilon=10.0)
    risk = by(table, "risk", epsilon=0.5)
    assert risk["Laplace"] - by(table, "noise", epsilon=0.5)["Laplace"] == pytest.approx(1e3 / 12)


def test_survey_lines_are_exact_and_dots_lie_on_them():
    table = computed(survey, axis="k", k=8, epsilon=1.0, runs=40)
    error = by(table, "error")
    spread = by(table, "deviation")["Sourdine, simulated"]
    assert abs(error["Sourdine, simulated"] - error["Sourdine"]) < 5 * spread
    assert error["Sourdine, made consistent"] <= error["Sourdine, simulated"] * (1 + 1e-9)
    p, q = exp(1) / (7 + exp(1)), 1 / (7 + exp(1))
    f = survey.zipf(8)
    variance = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (1e4 * (p - q) ** 2)
    assert error["GRR"] == pytest.approx(sqrt(variance.mean()))
    best = min(error[m] for m in ("GRR", "OUE", "OLH", "subset selection"))
    assert error["Sourdine"] <= 1.1 * best
    assert error[survey.WARNER] > error[survey.PAIRED] > best


def test_survey_consistency_helps_where_most_shares_are_small():
    error = by(computed(survey, axis="epsilon", k=32, epsilon=0.5, runs=4), "error")
    assert error["Sourdine, made consistent"] < 0.8 * error["Sourdine, simulated"]


def test_survey_two_answers_are_warners():
    error = by(computed(survey, axis="k", k=2, epsilon=1.0, runs=2), "error")
    assert error[survey.WARNER] == pytest.approx(error["GRR"], rel=1e-9)


def test_redrawn_staircase_spends_what_its_line_says():
    for epsilon in (0.5, 1.3318, 4.0):
        report = BoundedStaircase(epsilon=one_number.nominal(epsilon), last=1000)
        settle(report, method="truncated")
        first, middle = report.law(0), report.law(500)
        spent = max(first.divergence(middle).value, middle.divergence(first).value)
        assert spent == pytest.approx(epsilon, abs=0.02)


def test_means_of_numbers_bias_and_noise():
    table = computed(one_number, epsilons=[1.0])
    bias, error = by(table, "bias"), by(table, "error")
    for method in ("Duchi", "piecewise", "hybrid", "square wave (Sourdine)"):
        assert abs(bias[method]) < 1e-9
        assert error[method] < 1.5
    assert bias[one_number.LAPLACE] > 10  # towards the middle, 50
    assert error[one_number.LAPLACE] > 10 * error["square wave (Sourdine)"]
    assert error["bounded Laplace, corrected"] < error[one_number.LAPLACE] / 4


def test_means_of_numbers_agree_with_simulation():
    report, rng, source = (
        BoundedLaplace(epsilon=2, last=100), np.random.default_rng(3), SeededSource(3)
    )  # fmt: skip
    bias, deviation = one_number.errors_of_mean(report, one_number.ages(), 10_000, averaged=True)
    ages = rng.choice(101, size=200_000, p=one_number.ages())
    drawn = report.randomise(ages, source=source)
    off = (drawn - ages).mean() - bias
    assert abs(off) < 5 * np.std(drawn - ages) / sqrt(len(ages))
    alike = report.randomise(np.full(200_000, 35), source=source)
    law = report.law(35)
    assert np.var(alike) == pytest.approx(law.variance(), rel=0.03)
    assert deviation == pytest.approx(np.std(drawn) / 100, rel=0.2)


def test_pima_the_learner_that_knows_is_not_worse(monkeypatch):
    monkeypatch.delenv("SOURDINE_DATA", raising=False)
    table = computed(pima, epsilon=2.0, cleanings=5)
    assert set(table["data"]) == {"stand-in"}
    found = {(r["way"], r["learning"]): r["accuracy"] for r in table.rows}
    assert found["bounded laplace", "knows"] > found["bounded laplace", "naive"]
    assert ("staircase", "knows") not in found
    own = read()
    x = values(own.ticks)
    plain = GaussianNB().fit(x[own.train], own.y[own.train])
    clean = np.mean(plain.predict(x[own.test]) == own.y[own.test])
    assert table["clean"][0] == pytest.approx(clean)
    assert pima._schema("window", 0.5).epsilon == 4.5


def test_densities_are_densities_and_sourdine_beats_the_paper():
    for shape in ("triangle", "two humps"):
        assert density.heights(shape).mean() == pytest.approx(1)
    error = by(computed(density, shape="triangle", n=4000, runs=3), "error")
    assert error["paper's noise on coarser levels"] > 5 * error["Sourdine"]
    assert error["no privacy"] < error["Sourdine"]


def test_adaptive_widths_hold_and_the_server_wins_in_the_end():
    told = computed(adaptive, kind="formulas", numbers=[10, 20_000])
    width = {(r["way"], r["queries"]): r["width"] for r in told.rows}
    assert width["splitting", 10] == pytest.approx(sqrt(log(400) / 20_000))
    assert width["fixed beforehand", 10] < width["splitting", 10]
    assert width["Gaussian noise, sharp", 10] < width["Gaussian noise, published", 10]
    attacked = computed(adaptive, kind="server", numbers=[5, 300])
    for k in (5, 300):
        rows = {r["way"]: r["width"] for r in attacked.where(queries=k).rows}
        assert rows[adaptive.SEEN] <= rows[adaptive.SERVER]
    assert width["splitting", 20_000] == 1


def test_salaries_small():
    table = computed(salaries, epsilon=0.5, runs=4, records=20_000)
    error = by(table, "error")
    assert error["histogram"] > error["inverse sensitivity"] > error["Sourdine"]


@pytest.mark.parametrize(
    "module",
    [adaptive, deciles_normal, deciles_uniform, density, many_quantiles, mean, one_number,
     one_quantile, pima, salaries, survey],
)  # fmt: skip
def test_quick_settings_are_a_part_of_the_work(module):
    experiment = module.EXPERIMENT
    assert experiment.name.startswith("today-")
    quick, full = (experiment.split(quick=q, seed=1) for q in (True, False))
    assert len(quick) <= len(full)


OTHER = [
    (adaptive, {"n": 5000, "cells": 50, "queries": [2, 20], "beta": 0.1}),
    (deciles_uniform, {"law": "beta(2,5)", "orders": [0.5], "sizes": [50, 100], "runs": 3}),
    (deciles_normal, {"bounds": [-20, 20], "sizes": [50, 100], "runs": 3, "methods": ["IndExp"]}),
    (density, {"epsilon": 2, "shapes": ["two humps"], "sizes": [500, 1000], "runs": 2}),
    (many_quantiles, {"law": "beta(2,2)", "numbers": [1, 3], "runs": 3, "large_n": 100}),
    (mean, {"bounds": [0, 120], "step": 1, "n": 50, "epsilons": [0.5, 1], "methods": ["Laplace"]}),
    (one_number, {"last": 50, "n": 500, "epsilons": [1, 2], "hump": [20, 5]}),
    (one_quantile, {"order": 0.5, "law": "beta(2,5)", "sizes": [50], "ranges": [20],
                    "epsilons": [1], "runs": 3}),
    (pima, {"columns": ["BMI", "Age"], "epsilons": [2, 4], "runs": 2}),
    (salaries, {"orders": [0.5], "n": 1000, "epsilons": [1, 2], "runs": 2}),
    (survey, {"n": 500, "categories": [3, 5], "epsilons": [1], "methods": ["GRR"]}),
]  # fmt: skip


@pytest.mark.parametrize(("module", "given"), OTHER)
def test_figures_can_be_drawn_with_other_settings(module, given):
    experiment = module.EXPERIMENT
    settings = experiment.values(given)
    parts = experiment.split(settings, seed=1)
    table = Table([row for part in parts for row in experiment.compute(part)])
    figure = experiment.figure(table, settings)
    assert "Other settings than the document's" in figure.get_supxlabel()
    assert len(figure.axes) >= 1


def test_the_documents_fits_belong_to_its_settings():
    def labels(**given):
        settings = deciles_uniform.EXPERIMENT.values({"sizes": [50, 100], "runs": 2, **given})
        parts = deciles_uniform.EXPERIMENT.split(settings, seed=1)
        table = Table([r for part in parts for r in deciles_uniform.EXPERIMENT.compute(part)])
        figure = deciles_uniform.EXPERIMENT.figure(table, settings)
        return [line.get_label() for line in figure.axes[0].get_lines()]

    assert any(label.startswith("stated") for label in labels())
    assert not any(label.startswith("stated") for label in labels(epsilon=2))


def test_cells_must_be_a_power_of_two():
    with pytest.raises(ParameterError, match="cells must be a power of two"):
        density.EXPERIMENT.values({"cells": "5000"})
