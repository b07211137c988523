"""Audibert 2024, first half: rows A1 to A7, figures 1 to 10."""

from __future__ import annotations

import operator
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest

from sourdine_lab.bounds import exact_miss
from sourdine_lab.claims.audibert import (
    best_epsilon,
    exponential,
    gaussian_mean,
    laplace_mean,
    mean_risks,
    noise_on_quantile,
    one_quantile,
)
from sourdine_lab.claims.audibert.gaps import Gaps
from sourdine_lab.claims.claim import Verdict
from sourdine_lab.claims.verdicts import all_claims
from sourdine_lab.experiment import Part
from sourdine_lab.experiments.audibert import figure_1, figure_4, figure_7, figure_10
from sourdine_lab.experiments.audibert import one_quantile as risks_of_one
from sourdine_lab.registry import all_experiments
from sourdine_lab.settings import DataLaw
from sourdine_lab.table import Table

MODULES = (
    laplace_mean, gaussian_mean, exponential, mean_risks, one_quantile, best_epsilon,
    noise_on_quantile,
)  # fmt: skip
VERDICTS = {
    "refuted": "A2",
    "corrected": "A2d A5 A6d A6e A6f",
    "misprint": "A1 A2c A4d A5g",
    "confirmed": "A1b A1c A1d A1e A1f A2b A2e A2f A2i A3 A3b A4 A4b A4c A4e A4f A5c A5d A5e A6 A7 "
    "A7e",
    "observed": "A1g A2g A2h A2j A5b A5f A6b A6c A7b A7c A7d",
}
EXPECTED = {row: verdict for verdict, rows in VERDICTS.items() for row in rows.split()}


def rows(name, **settings):
    """Return what the parts of an experiment with these settings computed."""
    experiment = all_experiments()[name]
    found = []
    for part in experiment.split(quick=True, seed=1):
        if all(part[k] == v for k, v in settings.items()):
            found += list(experiment.compute(part))
    return Table(found)


def test_every_row_is_expected():
    ours = {claim.id for module in MODULES for claim in module.CLAIMS}
    assert ours == set(EXPECTED)
    assert {
        row for row in all_claims() if all_claims()[row].row in {f"A{k}" for k in range(1, 8)}
    } == ours


@pytest.mark.parametrize("row", EXPECTED)
def test_verdict(row, judged):
    one = judged(row)
    assert one.verdict == Verdict(EXPECTED[row]), one.words
    assert one.minds_swapping
    assert one.printed.words


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("A2", "6.25 wide"), ("A2", "1.77 wide"), ("A2b", "43.75"), ("A2b", "12.37"),
        ("A2j", "3.5355"), ("A2i", "3.536"), ("A1g", "44.7 deviations"), ("A2d", "epsilon 8.5"),
        ("A2e", "1.032 times"), ("A2h", "c = 3.658"), ("A5", "loss 1.965"),
        ("A5", "1.79 at p = 0.9"), ("A6d", "epsilon 0.990"), ("A6d", "epsilon 0.047"),
        ("A6d", "from 0.094 on"), ("A6f", "epsilon 0.047"), ("A6e", "0.375"),
    ],
)  # fmt: skip
def test_the_witnesses_are_in_the_findings(row, words, judged):
    assert words in judged(row).words


@pytest.mark.parametrize(
    ("check", "form"),
    [
        (laplace_mean.private, lambda s, e: s / e * Fraction(99, 100)),
        (laplace_mean.sensitive, lambda width, n: width / (2 * n)),
        (gaussian_mean.promised, 1e-9),
        (gaussian_mean.classic, 9.0),
        (gaussian_mean.minimal, lambda: 4.845),
        (gaussian_mean.nearly_least, 4.84),
        (gaussian_mean.nearly_least, 5.1),
        (exponential.private, lambda e, s: e / s),
        (mean_risks.laplace, lambda n, v: v / n + 2.001 * (4 / (n * 0.8)) ** 2),
        (laplace_mean.stays_inside, 90.0),
        (gaussian_mean.harmed, lambda before, after: (after / before) ** 2),
        (one_quantile.replaced, 0.53),
        (one_quantile.either, 0.6),
        (one_quantile.flatter, np.linspace(10, 40, 99)),
        (one_quantile.added, lambda p: 1.1 / (2 * max(p, 1 - p))),
        (best_epsilon.bounded, lambda e, psi, beta: log(psi / beta) / e),
        (best_epsilon.smallest, lambda: 0.045),
        (best_epsilon.smallest, lambda: 0.05),
        (noise_on_quantile.nearer, 32.0),
        (noise_on_quantile.level_in_n, (100, 300, 500)),
    ],
)  # fmt: skip
def test_a_form_slightly_wrong_is_found_out(check, form):
    assert not check(form).holds


@pytest.mark.parametrize(
    ("check", "form"),
    [
        (laplace_mean.private, lambda s, e: s / e * Fraction(101, 100)),
        (gaussian_mean.promised, 2e-8),
        (gaussian_mean.classic, 8.0),
        (exponential.private, lambda e, s: 0.9 * e / (2 * s)),
        (one_quantile.replaced, 0.4),
        (best_epsilon.bounded, lambda e, psi, beta: 2.2 * log(psi / beta) / e),
        (noise_on_quantile.nearer, 4.0),
    ],
)  # fmt: skip
def test_a_form_on_the_safe_side_holds(check, form):
    assert check(form).holds


@pytest.mark.parametrize("row", ["A7", "A7b", "A7c", "A7d"])
def test_simulated_risks_have_their_errors(row, judged):
    one = judged(row)
    assert all(0 < each.uncertainty < each.number / 2 for each in (one.printed, one.instead))


@pytest.mark.parametrize("row", ["A1", "A2", "A2j", "A5d"])
def test_the_words_tell_the_forms_apart(row, judged):
    one = judged(row)
    assert one.printed.words != one.instead.words
    assert "claimed" in one.printed.words


def test_gaps_are_the_law_of_draws():
    rng = np.random.default_rng(2)
    x, c = np.array([3.0, 4.0, 4.0, 9.0]), 0.7
    gaps = Gaps.of(x, (0, 10), p=0.25)
    weights = np.diff([0, *x, 10]) * np.exp(-c * np.abs(np.arange(5) - 1))
    assert gaps.chances(c) == pytest.approx(weights / weights.sum())
    gap = rng.choice(5, 200_000, p=gaps.chances(c))
    drawn = rng.uniform(gaps.edges[gap], gaps.edges[gap + 1])
    assert gaps.within(2, 5, c) == pytest.approx(((drawn > 2) & (drawn < 5)).mean(), abs=0.006)
    assert gaps.risk(4, c) == pytest.approx(((drawn - 4) ** 2).mean(), rel=0.02)


def test_gaps_agree_with_the_exact_miss():
    x = figure_7.samples(1)[0]
    gaps, middle = Gaps.of(x, (0, 200)), np.median(x)
    missed = 1 - gaps.within(middle - 20, middle + 20, 0.05)
    assert missed == pytest.approx(exact_miss(x, 0.5, (0, 200), epsilon=0.1, error=20))


@pytest.mark.parametrize(("kind", "wide"), [("laplace", sqrt(2)), ("gaussian", 5)])
def test_figure_1_follows_its_law(kind, wide):
    table = rows("audibert-1", kind=kind, epsilon=0.8)
    assert table["deviation"][0] == pytest.approx(wide / 0.8, rel=1e-6)
    assert table["estimates"].sum() == pytest.approx(2000, abs=20)
    assert table["expected"].sum() == pytest.approx(2000, abs=5)
    seen = table["expected"] > 5
    surprise = (table["estimates"] - table["expected"])[seen] ** 2 / table["expected"][seen]
    assert surprise.sum() < seen.sum() + 6 * sqrt(2 * seen.sum())
    assert np.all(np.diff([table["low"][0], *table["high"]]) == pytest.approx(0.5))


def test_the_columns_of_figure_1_are_one_picture():
    """Bins eight times as wide at an eighth of epsilon: the expected heights are the same."""
    heights = [rows("audibert-1", kind="gaussian", epsilon=e)["expected"] for e in (0.8, 0.1)]
    assert heights[0] == pytest.approx(heights[1], rel=2e-3, abs=0.05)
    tight = rows("audibert-1", kind="gaussian", epsilon=0.8)["tight_deviation"][0]
    assert sqrt(2) / 0.8 < tight < 5 / 0.8


def test_figure_4_shows_twice_the_width():
    printed, corrected = (rows("audibert-4", figure=4, form=form) for form in figure_4.SPENT)
    assert corrected["deviation"][0] / printed["deviation"][0] == pytest.approx(2, abs=0.15)
    blind = rows("audibert-4", figure=6, form="corrected")
    assert blind["expected"] == pytest.approx(np.full(40, 12.5), rel=1e-2)
    for table in (printed, corrected, blind):
        assert table["estimates"].sum() == pytest.approx(500, abs=25)
        assert abs(table["estimates"] - table["expected"]).max() < 6 * sqrt(table["expected"].max())


def test_figure_7_picks_three_epsilons():
    sets = figure_7.samples(100)
    assert np.median(figure_7.by_the_formula(sets)) == pytest.approx(0.375, abs=0.01)
    assert figure_7.by_law(100) == pytest.approx(0.094, abs=0.002)
    part = figure_7.EXPERIMENT.part(way="curve", sets=20, runs=1)
    curve = Table(list(figure_7.compute(part)))
    assert np.all(np.diff(curve["missed"]) < 0)
    assert np.all(curve["printed"] < curve["missed"])
    law = rows("audibert-7", way="law")
    assert law["missed"][0] == pytest.approx(0.01, rel=1e-3)
    assert law["epsilon"][0] == figure_7.by_law(100)


def test_risks_by_theory():
    """The sample's quartile, noise of known variance, and QExp's two-sided geometric ranks."""
    settings = {"n": 1000, "top": 200, "epsilon": 0.2, "runs": 1500}
    table = Table(list(risks_of_one.risks(Part("test", settings, 1, risks_of_one.DEFAULTS))))
    found = {row["method"]: row for row in table.rows}
    q, n, c = 0.25, 1000, 0.1
    sample = 200**2 * q * (1 - q) / (n + 2)
    assert abs(found["no privacy"]["risk"] - sample) < 5 * found["no privacy"]["error"]
    assert found["laplace"]["risk"] == pytest.approx(2 * (200 / 0.2) ** 2, rel=1e-3)
    for name, rate in (("qexp", c), ("qexp as printed", 2 * c)):
        ranks = exp(-rate) * 2 / (1 - exp(-rate)) ** 2
        theory = ranks * (200 / n) ** 2
        row = found[name]
        assert abs(row["sample_risk"] - theory) < 5 * row["sample_error"] + 0.1 * theory
    assert found["laplace clamped"]["risk"] < found["laplace"]["risk"] / 100
    assert found["qexp"]["risk"] > found["qexp as printed"]["risk"]
    assert found["no privacy"]["sample_risk"] == 0


def test_figure_10_has_sourdine_from_epsilon_4():
    for quick in (False, True):
        parts = figure_10.EXPERIMENT.split(quick=quick, seed=1)
        assert risks_of_one.LARGE in [part["epsilon"] for part in parts]
    assert "today" not in risks_of_one.made(3.9)
    assert "today" in risks_of_one.made(risks_of_one.LARGE)
    assert "today" in risks_of_one.made(risks_of_one.LARGE / 2, relation="add_remove")


def test_which_way_the_scale_moves_is_computed():
    assert laplace_mean.raised(operator.lt).holds
    assert not laplace_mean.raised(operator.gt).holds
    assert laplace_mean.raised(operator.lt).number == pytest.approx(0.5)


def test_figure_1_has_the_variance_of_the_document():
    part = figure_1.EXPERIMENT.part(kind="gaussian", epsilon=0.8, runs=1)
    assert figure_1._variance(part, Fraction(4, 5)) == (5 * 1000 / Fraction(4, 5)) ** 2


def test_normal_values_are_whole_and_cut_off():
    law, rng = DataLaw.read("normal(500,125)"), np.random.default_rng(1)
    values = figure_1.whole_values(law, 10_000, (300, 700), rng)
    assert values.dtype == np.int64
    assert (values.min(), values.max()) == (300, 700)


@pytest.mark.parametrize("form", [1.0, 0.5])
def test_both_relations_are_tried(form):
    found = one_quantile.either(form)
    assert found.holds == (one_quantile.replaced(form).holds or form < 0.55)
    assert "added or removed" in found.words


def test_fixed_data_are_kept_in_all_runs_of_a_point():
    own = {"n": 100, "top": 200, "epsilon": 0.2, "runs": 30}
    defaults = risks_of_one.DEFAULTS
    kept, fresh = (
        Table(list(risks_of_one.risks(Part("test", own, 1, {**defaults, "data": data}))))
        for data in ("fixed", "fresh")
    )
    assert kept.where(method="no privacy")["error"][0] == 0
    assert fresh.where(method="no privacy")["error"][0] > 0
