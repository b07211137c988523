"""Audibert 2024, figures 11 to 24 and rows A8 to A17."""

from __future__ import annotations

from math import exp, log2, sinh

import numpy as np
import pytest

from sourdine.audit import worst_case
from sourdine.central.mean_methods import BernoulliMean
from sourdine.noise import SeededSource
from sourdine_lab.claims.audibert import (
    bernoulli,
    dirac,
    grid_mean,
    lower_bound,
    many_risks,
    recursive,
)
from sourdine_lab.claims.audibert import proportion_laws as laws
from sourdine_lab.claims.audibert.joint_passes import all_tuples, passes
from sourdine_lab.claims.audibert.recursive_density import Three, _log_density, telling
from sourdine_lab.claims.verdicts import all_claims
from sourdine_lab.experiments.audibert import (
    figure_11,
    figure_12,
    figure_13,
    figure_14,
    figure_18,
    figure_21,
    figure_22,
    figure_24,
)
from sourdine_lab.experiments.audibert.grid_answers import FINE, answers, chances
from sourdine_lab.experiments.audibert.many_quantiles import AS_DRAWN
from sourdine_lab.experiments.audibert.recexp_unscaled import RecExpUnscaled
from sourdine_lab.table import Table

EXPECTED = {
    "A8": "observed", "A8b": "confirmed", "A8c": "observed",
    "A8d": "observed", "A9": "confirmed", "A9b": "confirmed",
    "A10": "corrected", "A10b": "corrected", "A10c": "observed", "A10d": "observed",
    "A10e": "observed", "A10f": "confirmed",
    "A11": "confirmed", "A11g": "observed", "A11b": "confirmed",
    "A11c": "confirmed", "A11d": "observed", "A11e": "observed", "A11f": "observed",
    "A11h": "observed",
    "A12": "confirmed", "A12b": "observed",
    "A12c": "corrected", "A12d": "confirmed", "A12e": "misprint", "A12f": "corrected",
    "A12g": "confirmed", "A12h": "confirmed", "A12i": "confirmed", "A12j": "misprint",
    "A12k": "confirmed", "A12l": "confirmed", "A12m": "misprint",
    "A12n": "confirmed", "A12o": "observed",
    "A12p": "confirmed",
    "A13": "confirmed", "A13b": "confirmed", "A14": "corrected", "A14b": "corrected",
    "A14c": "corrected", "A14d": "corrected", "A15": "confirmed", "A15b": "confirmed",
    "A16": "corrected", "A16b": "confirmed", "A16c": "corrected", "A16d": "corrected",
    "A16e": "confirmed", "A16f": "confirmed", "A16g": "observed",
    "A16h": "confirmed",
    "A17": "confirmed", "A17b": "confirmed", "A17c": "observed", "A17d": "misprint",
    "A17e": "confirmed",
    "A17f": "confirmed",
}  # fmt: skip
ROWS = [f"A{k}" for k in range(8, 18)]
WITNESSES = {
    "A10": ["0.125, 0.500, 0.875", "0.250, 0.500, 0.750"],
    "A10b": ["said 6.0 calls for 63 quantiles, counted 63"],
    "A10c": ["loss 1.1451 where one of 300 records is replaced", "loss 0.5725 where"],
    "A10d": ["loss 1.934 for 40 records", "loss 1.000 for 40 records"],
    "A10f": ["0.774 is spent on 3"],
    "A10e": ["[24, 50, 75]"],
    "A12c": ["0.12508, exactly 0.00084"],
    "A12f": ["found 0.200; at most 0.50"],
    "A12n": ["0.0200 at ε = 0.1, 0.0025 at ε = 0.8, 0.0006 at ε = 3", "8 of 8"],
    "A13b": ["1.038 times epsilon"],
    "A15": ["bound: 2.01 (one record"],
    "A14": ["n E|M - f| = 1.541, n E|M - 1/n| = 1.328"],
    "A14b": ["found 1.3863"],
    "A14c": ["fails up to 59"],
    "A16": ["3.164, exactly 1.919"],
    "A16b": ["0.0186 at n = 100 and 1.86e-05 at 10⁵", "31.2 at n = 100 and 31.2 at 10⁵"],
    "A16g": ["32.2 at n = 100"],
}


def run(module, **settings):
    """Return the numbers of a tiny run."""
    experiment = module.EXPERIMENT
    parts = experiment.split(experiment.values(settings, quick=True), seed=1)
    return Table([row for part in parts for row in experiment.compute(part)])


@pytest.mark.parametrize("row", EXPECTED)
def test_verdicts(row, judged):
    one = judged(row)
    assert one.verdict.value == EXPECTED[row], one.words
    assert one.minds_swapping
    for words in WITNESSES.get(row, []):
        assert words in one.words


@pytest.mark.parametrize(
    ("check", "form"),
    [
        (bernoulli.private, lambda epsilon: 1.06 * epsilon / 2),
        (recursive.levels, lambda m: log2(m) + 0.99),
        (grid_mean.quicker, (0.8, 0.1, 3.0)),
        (grid_mean.limit_quicker, (0.8, 3.0, 0.1)),
        (lower_bound.over_bound, lambda _: 32.0),
        (lower_bound.never_below, 6.4),
        (dirac.meets_bound, (10**6, 10**6 + 1, 10**12)),
        (dirac.unbiased, lambda n, e: laws.weighed(n, 1.3 * e / 2)),
        (grid_mean.keeps_privacy, 0.52),
        (many_risks.slower, (("jointexp",), ("indexp",), ("recexp",))),
        (many_risks.above_indexp, ((20, 10), (50, 10))),
        (many_risks.above_indexp, ((10, 10), (10, 1))),
    ],
)
def test_a_form_slightly_wrong_is_found_out(check, form):
    assert not check(form).holds


@pytest.mark.parametrize(
    "row", ["A8b", "A8c", "A8d", "A11", "A11b", "A11c", "A11d", "A11e", "A11f"]
)
def test_simulated_leads_have_their_errors(row, judged):
    claim = judged(row)
    assert claim.steady
    for one in (claim.printed, claim.instead):
        assert one.uncertainty > 0
        assert f"{one.number:.3f} ± {one.uncertainty:.3f}" in one.words


def test_a_lead_is_of_the_better():
    lead = many_risks.lead(np.array([1.0, 2.0, 3.0]), np.array([3.0, 3.0, 4.0]))
    assert lead == (pytest.approx(4 / 3), pytest.approx(1 / 3))
    assert lead.margin == pytest.approx(4)


def test_one_record_errs_least_at_half_of_its_odds():
    """Of all unbiased pairs on the grid, none errs less than e^-epsilon/2."""
    for epsilon in (0.1, 1.0):
        errs = [
            laws.losses(one).min()
            for one in laws.one_record(epsilon)
            if laws.is_unbiased(one) and laws.privacy(one) <= epsilon + 1e-9
        ]
        assert min(errs) == pytest.approx(exp(-epsilon) / 2)


def test_every_row_has_its_claims():
    rows = {row for row, claim in all_claims().items() if claim.row in ROWS}
    assert rows == set(EXPECTED)
    assert set(ROWS) <= rows


def test_risks_against_epsilon():
    """Orders that are not rescaled are biased by 1/8 twice; the others come to the sample's."""
    table = run(figure_11, epsilons=[0.1, 20], runs=60)
    far, near = (dict(zip(t["method"], t["risk"], strict=True)) for _, t in table.by("epsilon"))
    assert near["recexp unscaled"] == pytest.approx(2 / 64, rel=0.3)
    assert near["recexp"] < 0.4 * near["recexp unscaled"]
    for method in ("jointexp", "recexp", "today"):
        assert near[method] == pytest.approx(near["no privacy"], rel=0.2)
        assert far[method] > 5 * near[method]


@pytest.mark.parametrize("module", [figure_12, figure_13])
def test_risks_against_m(module):
    table = run(module, ms=[10, 30], runs=15, data="fresh")
    assert sorted(set(table["m"])) == [10, 30]
    many = table.where(m=30, epsilon=1)
    risk = dict(zip(many["method"], many["risk"], strict=True))
    assert risk["recexp"] < 0.6 * risk[AS_DRAWN]
    assert risk["no privacy"] < risk["indexp"] < risk[AS_DRAWN]


@pytest.mark.parametrize("module", [figure_12, figure_13])
def test_one_data_set_is_kept_for_all_m_and_epsilons(module):
    table = run(module, ms=[10, 20], runs=3, methods=["recexp"])
    own = table.where(method="no privacy")
    assert own["deviation"].max() < 1e-12
    for _, rows in own.by("m"):
        assert len(set(rows["risk"])) == 1
    assert (table.where(method="recexp")["deviation"] > 0).all()
    other = run(module, ms=[10, 20], runs=3, methods=["recexp"], data_seed=2)
    assert other.where(method="no privacy")["risk"][0] != own["risk"][0]


def test_run_times():
    table = run(figure_14, runs=3)
    assert [len(rows) for _, rows in table.by("method")] == [3] * 4
    assert (table["milliseconds"] > 0).all()


def test_estimates_settle_at_a_width():
    """90% of the law is ln(10) scales to each side, at every epsilon."""
    table = run(figure_18, largest=20_000, points=8)
    for epsilon, rows in table.by("epsilon"):
        wide = rows["high"][-1] - rows["low"][-1]
        assert wide == pytest.approx(2 * np.log(10) * 2 / (1000 * epsilon), rel=0.1)
        assert abs(rows["mean"][0] - 0.5) > 1e-4


def test_distance_ends_at_the_limit():
    table = run(figure_21, sets=4, points=3, largest=20_000, estimates=5)
    for epsilon, rows in table.where(panel="distance").by("epsilon"):
        assert rows["distance"][-1] == pytest.approx(2 / (1000 * epsilon), rel=0.02)
        assert rows["distance"][0] > 0.005
    drawn = table.where(panel="estimates").where(epsilon=10)
    assert np.abs(drawn["estimate"] - drawn["mean"])[-1] < 0.01


def test_densities_near_the_limit():
    table = run(figure_22, draws=100_000)
    peak = {n: rows["density"].max() for n, rows in table.by("answers")}
    assert peak[100] < peak[200] < peak[1000] < 200
    assert peak[1000] == pytest.approx(1000 * (1 - exp(-0.4)) / (1 + exp(-0.4)))
    assert 170 < peak[0] < 195


def test_loss_of_a_proportion():
    table = run(figure_24, sizes=[4, 10, 40, 100, 300, 600], runs=300)
    n, last = table["n"], table.rows[-1]
    assert (n % 2 == 0).all()
    assert len(set(n)) == len(n)
    assert last["n"] * last["exact"] == pytest.approx(1 / sinh(0.5))
    assert abs(last["simulated"] - last["exact"]) < 5 * last["deviation"]
    assert (table["bound"] < table["geometric"]).all()
    assert (table["geometric"] < table["laplace"]).all()
    assert (table["corrected"] < table["printed"]).all()


@pytest.mark.parametrize("relation", ["substitute", "add_remove"])
def test_unscaled_recexp_is_private(relation):
    made = RecExpUnscaled(epsilon=1, q=[0.25, 0.5, 0.75], cells=4, relation=relation, dither=1)
    worst = worst_case(made, [[], [0, 3], [1, 1, 3], [0, 0, 3, 3]])
    assert worst.within(made.guarantee)
    assert worst.epsilon > 0.25


def test_passes_sum_all_tuples():
    rng = np.random.default_rng(1)
    for m in (1, 2, 4):
        widths = np.diff(np.sort(rng.random(6)), prepend=0.0, append=1.0)
        t = rng.random(m + 1) * 4
        assert passes(widths, t, 0.7)[0] == pytest.approx(all_tuples(widths, t, 0.7)[0], rel=1e-12)


def test_recursive_density_is_one():
    x = np.array([2_000, 5_000, 5_500, 9_000])
    v = np.arange(10_000)
    for p in (0.5, 0.1):
        density = np.exp(_log_density(x, (0, 10_000), p, 0.3, v))
        assert density.sum() == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize(
    ("orders", "decays"), [((0.5, 0.5, 0.5), 4), ((0.5, 0.25, 0.75), 5), ((0.5, 0.02, 0.98), 5.92)]
)
def test_three_draws_lose_no_more_than_their_sensitivities(orders, decays):
    """2c for the first draw, and 2c max(p, 1 - p) for the slice that a record leaves or enters."""
    rng = np.random.default_rng(2)
    c = 1 / (log2(3) + 1)
    draws = Three(orders, c, c)
    for _ in range(10):
        x = np.sort(rng.integers(1, 10**6, 7))
        y = np.sort(np.append(np.delete(x, rng.integers(7)), rng.integers(1, 10**6)))
        loss, back = (draws.loss(*pair, 10**6) for pair in ((x, y), (y, x)))
        assert 0 < loss <= decays * c
        assert loss == pytest.approx(back)
    x, y, top = telling(300, 285) if orders[1] < 0.1 else telling(40, 30)
    weak = Three(orders, c / 2, c / 2)
    assert weak.loss(x, y, top) == pytest.approx(decays * c / 2, rel=1e-3)


def test_answers_follow_their_chances():
    x = np.full(1000, FINE // 3)
    p = chances(FINE // 3 / FINE, 0.1, 50)
    drawn = answers(x, 0.1, 50, 20_000, SeededSource(1))
    found = np.bincount(np.rint(drawn * 50).astype(int), minlength=50) / 20_000
    assert np.abs(found - p).max() < 6 * (0.25 / 20_000) ** 0.5
    assert p.argmax() == 17


def test_laws_of_a_proportion():
    n = 12
    printed = BernoulliMean(epsilon=1, n=n, method="printed")
    assert laws.weighed(n, 0.5)[3] == pytest.approx(printed.law(3).pmf(range(n + 1)))
    noise = laws.clamped_geometric(n, 1.0)
    assert noise.sum(axis=1) == pytest.approx(np.ones(n + 1))
    assert laws.privacy(noise) == pytest.approx(1)
    assert laws.is_unbiased(noise)
    assert laws.is_unbiased(laws.two_ends(n, 1.0))
    assert not laws.is_unbiased(laws.weighed(n, 0.5))
    assert laws.losses(noise)[6] == pytest.approx(1 / sinh(1), rel=0.01)
