"""Densities: always a density, unbiased where it is said, and better than the paper's."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from sourdine.errors import ParameterError, ParameterTypeError, SourdineError
from sourdine.local.densities.bins import (
    Bins,
    Cosines,
    Merged,
    Mixture,
    Shrunk,
    estimated_risks,
    root,
    smoothings,
)
from sourdine.local.densities.call import METHODS, Designed, Wave, best_protocol, density, protocol
from sourdine.local.densities.density import Density
from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.one_bit import OneBit
from sourdine.local.estimators.frequencies import norm_sub
from sourdine.noise import SeededSource
from sourdine.privacy import Guarantee

HOSTILE = ([], [0.5], [None, float("nan"), "text", 10**400, -math.inf, True], [2.0] * 50)


@pytest.mark.grid
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x", HOSTILE, ids=["none", "one", "odd", "outside"])
def test_always_a_density(method, x):
    found = density(x, bounds=(0, 1), epsilon=1, method=method)
    assert found.mass.min() >= 0
    assert found.mass.sum() == pytest.approx(1)
    assert found.reports == len(x)
    assert found.cost.epsilon == 1
    assert found.integral(0, 1) == pytest.approx(1)
    assert (found.spread >= 0).all()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", METHODS)
def test_two_halves_are_the_whole(method):
    rng = np.random.default_rng(1)
    x = 10 * rng.beta(2, 5, 3000)
    rule = protocol(bounds=(0, 10), epsilon=1, n=3000, method=method)
    first = rule.randomise(x[:1000], source=SeededSource(1))
    second = rule.randomise(x[1000:], source=SeededSource(2))
    assert len(first) == 1000
    tally = rule.tally(first) + rule.tally(second)
    assert np.array_equal(tally, rule.tally(np.concatenate([first, second])))
    found = rule.estimate(tally, 3000)
    assert found.bounds == (0, 10)
    assert found.edges[-1] == 10
    assert found.raw.size == found.mass.size == found.spread.size


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_mean_is_near(method):
    x = 50 + 50 * np.random.default_rng(3).beta(2, 5, 20_000)
    found = density(x, bounds=(50, 100), epsilon=4, method=method, source=SeededSource(3))
    assert abs(found.mean - x.mean()) < (8 if method == "dubois" else 2)
    assert not found.cost.is_private


@pytest.mark.parametrize(("method", "terms"), [
    ("dubois", {"wavelet": "db8", "nu": 2, "gamma": 1, "constants": "paper"}),
    ("one-bit", {"wavelet": "db2"}),
    ("shrinkage", {"wavelet": "sym8"}),
])  # fmt: skip
def test_terms_of_wavelets_are_taken(method, terms):
    found = density([0.2, 0.4] * 50, bounds=(0, 1), epsilon=1, method=method, **terms)
    assert terms["wavelet"] in found.method
    assert found.cost.epsilon == 1
    rule = protocol(bounds=(0, 1), epsilon=1, n=100, method=method, **terms)
    assert {name: getattr(rule, name) for name in terms} == terms


def test_frames_and_columns_are_read():
    table = {"wage": [10.0, 20.0, None] * 100, "age": [1] * 300}
    assert density(table, bounds=(0, 50), epsilon=1, column="wage").reports == 300
    with pytest.raises(ParameterError, match="column must be given"):
        density(table, bounds=(0, 50), epsilon=1)


def test_values_are_snapped_to_cells():
    grid = protocol(bounds=(0, 1), epsilon=1, n=100).grid
    assert grid.size == 4096
    assert grid.ticks([0, 1 / 4096 - 1e-9, 1 / 4096 + 1e-9, 1, 7, -3]).tolist() == [
        0, 0, 1, 4095, 4095, 0,
    ]  # fmt: skip


BAD = [
    ({"bounds": (1, 0)}, "bounds: lower must be below upper"),
    ({"bounds": 3}, "bounds must be two numbers"),
    ({"epsilon": 0}, "epsilon must be above 0"),
    ({"method": "magic"}, "method must be 'auto', 'shrinkage', "),
    ({"loss": "l7"}, "loss must be 'l2' or 'w1'"),
    ({"nu": 2}, "nu must be omitted with the method 'auto': it is a parameter of 'dubois'"),
    ({"gamma": 2, "method": "one-bit"}, "gamma must be omitted with the method 'one-bit'"),
    ({"constants": "paper", "method": "histogram"}, "constants must be omitted with"),
    ({"wavelet": "db4", "method": "square-wave"}, "wavelet must be omitted with"),
    ({"wavelet": "db4"}, "wavelet must be omitted with the method 'auto'"),
    ({"nu": 1, "method": "dubois"}, "nu must be above 1"),
    ({"constants": "guess", "method": "dubois"}, "constants must be 'exact' or 'paper'"),
]
BAD_TERMS = [
    (Dubois, {"nu": 1}, "nu must be above 1"),
    (Dubois, {"constants": "guess"}, "constants must be"),
    (Dubois, {"rule": "soft"}, "rule must be"),
    (Dubois, {"wavelet": "bior2.2"}, "wavelet must be"),
    (Bins, {"reading": "shrinkage", "wavelet": "no"}, "wavelet must be"),
    (Bins, {"bins": (10,)}, "bins must be decreasing powers of two"),
    (Wave, {"cells": 100}, "cells must be a power of two"),
    (Wave, {"reading": "ml"}, "reading must be"),
    (OneBit, {"first": 5, "last": 2}, "first must be at most last, and last below"),
]


@pytest.mark.parametrize(("wrong", "said"), BAD)
def test_bad_parameters_are_refused(wrong, said):
    given = {"bounds": (0, 1), "epsilon": 1, **wrong}
    with pytest.raises(SourdineError, match=said):
        density([0.5], **given)


@pytest.mark.parametrize(("made", "wrong", "said"), BAD_TERMS)
def test_bad_terms_of_a_protocol_are_refused(made, wrong, said):
    people = {"n": 100} if made in (Dubois, OneBit) else {}
    with pytest.raises(SourdineError, match=said):
        made(bounds=(0, 1), epsilon=1, **people, **wrong)


def test_all_but_the_data_is_named():
    with pytest.raises(TypeError, match="positional"):
        density([0.5], (0, 1), 1)


def made(mass, **more):
    mass = np.array(mass, float)
    given = {"bounds": (0, 1), "raw": mass * mass.size, "spread": np.full(mass.size, 0.1)}
    cost = Guarantee(1, 0, "local")
    return Density(**given, mass=mass, cost=cost, method="test", reports=7, **more)


def test_quantiles_invert_the_cdf():
    found = made([0, 0.25, 0, 0.5, 0.25, 0, 0, 0])
    q = np.linspace(0, 1, 41)
    assert np.allclose(found.cdf(found.quantile(q)), q)
    assert found.quantile(0) == 0.125
    assert found.quantile(1) == 0.625
    assert found.quantile(0.25) == 0.25
    with pytest.raises(ParameterError, match="q must be from 0 to 1"):
        found.quantile(1.5)


def test_a_density_prints_and_travels():
    found = made([0.1, 0.2, 0.3, 0.4])
    assert "40.0%" not in str(found)
    assert str(found).splitlines()[0].split() == ["from", "to", "share"]
    assert "epsilon 1" in str(found)
    assert "<table>" in found._repr_html_()
    again = Density.from_json(found.to_json())
    assert np.array_equal(again.mass, found.mass)
    assert again.cost == found.cost
    assert again.pdf(0.9) == found.pdf(0.9) == 1.6
    wrong = r"the JSON must be the output of Density.to_json\(\)"
    with pytest.raises(ParameterError, match=wrong):
        Density.from_json("[1, 2]")
    low, high = found.band()
    assert (low >= 0).all()
    assert np.allclose(high - found.heights, 0.196, atol=1e-3)


@pytest.mark.slow
def test_a_density_is_drawn(tmp_path):
    path = tmp_path / "density.png"
    made([0.1, 0.2, 0.3, 0.4]).plot(path=str(path), truth=lambda x: 2 * x)
    assert path.stat().st_size > 5000


def test_projection_is_the_nearest():
    rng = np.random.default_rng(0)
    v = rng.normal(0.1, 0.3, 8)
    nearest = norm_sub(v)
    others = rng.dirichlet(np.ones(8), 5000)
    assert ((others - v) ** 2).sum(axis=1).min() >= ((nearest - v) ** 2).sum()
    assert norm_sub(np.array([-5.0, -5.0])).tolist() == [0.5, 0.5]


def test_shrinkage_knows_its_noise():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(16, 16))
    covariance = a @ a.T / 1e4
    noise = root(covariance)
    assert np.allclose(noise.T @ noise, covariance)
    shares = rng.dirichlet(np.ones(16), 3)
    for wavelet in ("haar", "db4", "sym8"):
        assert np.allclose(Shrunk(wavelet, 0.0)(shares, noise), shares)
    # pure noise is cut but for rare coefficients: hardly anything but the coarse mean is left
    drawn = rng.normal(size=(400, 16)) @ noise
    kept = Shrunk("haar", 1.5)(drawn, noise) - Shrunk("haar", 99.0)(drawn, noise)
    assert (kept**2).sum() < 0.05 * (drawn**2).sum()


def test_smoothings_keep_the_total():
    shares = np.random.default_rng(3).dirichlet(np.ones(32), 4)
    for smooth in (Merged(4), Cosines(5, 2), Cosines(5, math.inf)):
        assert np.allclose(smooth(shares, 0.01 * np.eye(32)).sum(axis=1), 1)


def truth_of(k):
    x = (np.arange(k) + 0.5) / k
    f = x * (1 - x) ** 4
    return f / f.sum()


@pytest.mark.slow
def test_estimated_risks_are_unbiased():
    p, sd = truth_of(32), 0.006
    covariance, used = sd**2 * np.eye(32), smoothings(32)[::4]
    rng = np.random.default_rng(4)
    claimed, real = [], []
    for seed in range(60):
        shares = p + sd * rng.standard_normal(32)
        claimed.append(estimated_risks(shares, covariance, used, seed=seed) + p @ p)
        doubled = p + math.sqrt(2) * sd * rng.standard_normal((50, 32))
        each = [np.array([norm_sub(v) for v in g(doubled, root(2 * covariance))]) for g in used]
        real.append([((e - p) ** 2).sum(axis=1).mean() for e in each])
    claimed, real = np.array(claimed), np.array(real)
    error = np.sqrt((claimed.var(axis=0) + real.var(axis=0)) / 60)
    assert (np.abs(claimed.mean(axis=0) - real.mean(axis=0)) < 5 * error).all()


@pytest.mark.slow
def test_mixture_is_near_the_best():
    p, sd = truth_of(32), 0.006
    covariance, used = sd**2 * np.eye(32), smoothings(32)
    rng, noise = np.random.default_rng(5), root(covariance)
    mixed, single = [], []
    for _ in range(20):
        shares = (p + sd * rng.standard_normal(32))[None]
        mixed.append(((Mixture.of(shares[0], covariance, used)(shares, noise) - p) ** 2).sum())
        single.append([((norm_sub(g(shares, noise)[0]) - p) ** 2).sum() for g in used])
    assert np.mean(mixed) < 1.6 * np.mean(single, axis=0).min()
    assert np.mean(mixed) < 0.5 * np.mean(single, axis=0)[0]


def test_resolutions_do_not_depend_on_values():
    rule = Bins(bounds=(0, 1), epsilon=1, bins=(16, 4), weights=(2, 1))
    drawn = [rule.randomise([v] * 9000, source=SeededSource(8))[:, 0] for v in (0.01, 0.99)]
    assert np.array_equal(*drawn)
    assert abs(np.mean(drawn[0] == 1) - 1 / 3) < 0.03


@pytest.mark.slow
def test_joined_shares_are_unbiased():
    rule = Bins(bounds=(0, 1), epsilon=4, bins=(16, 4), weights=(2, 1))
    p = truth_of(16)
    ticks = np.repeat(np.arange(16) * 256, np.rint(p * 30_000).astype(int))
    exact = np.bincount(ticks // 256, minlength=16) / ticks.size
    z = []
    for seed in range(60):
        shares, covariance = rule.shares(rule.tally(rule.reports(ticks, SeededSource(seed))))
        z.append((shares - exact) / np.sqrt(np.diag(covariance)))
    z = np.array(z)
    assert np.abs(z.mean(axis=0)).max() < 5 / math.sqrt(60)
    assert 0.75 < z.var() < 1.2
    total = rule.shares(rule.tally(rule.reports(ticks, SeededSource(1))))[1].sum()
    alone = Bins(bounds=(0, 1), epsilon=4, bins=(16,))
    assert total < alone.shares(alone.tally(alone.reports(ticks, SeededSource(1))))[1].sum()


@pytest.mark.slow
def test_the_band_holds_the_truth_of_a_smooth_density():
    x = np.random.default_rng(6).beta(2, 2, 50_000)
    covered = []
    for seed in range(6):
        found = density(x, bounds=(0, 1), epsilon=2, source=SeededSource(seed))
        at = (found.edges[:-1] + found.edges[1:]) / 2
        low, high = found.band()
        covered.append(np.mean((low <= 6 * at * (1 - at)) & (6 * at * (1 - at) <= high)))
    assert np.mean(covered) > 0.8


def squared_error(found, f):
    at = (np.arange(4096) + 0.5) / 4096
    return float(((np.repeat(found.heights, 4096 // found.mass.size) - f(at)) ** 2).mean())


@pytest.mark.slow
def test_auto_beats_the_paper():
    def f(x):
        return 30 * x * (1 - x) ** 4

    x = np.random.default_rng(7).beta(2, 5, 50_000)
    auto, paper = [], []
    for seed in range(3):
        auto.append(
            squared_error(density(x, bounds=(0, 1), epsilon=1, source=SeededSource(seed)), f)
        )
        rule = Dubois(bounds=(0, 1), epsilon=1, n=50_000, constants="paper")
        found = rule.density([rule.grid.ticks(x)], source=SeededSource(seed))
        paper.append(squared_error(found, f))
    assert 5 * np.mean(auto) < np.mean(paper)
    assert np.mean(auto) < 0.06


def test_auto_chooses_by_public_numbers():
    assert best_protocol(bounds=(0, 1), epsilon=1, n=0).bins == (4,)
    assert best_protocol(bounds=(0, 1), epsilon=9, n=10**9).bins == (256, 64, 16)
    with pytest.raises(ParameterTypeError, match="n must be a whole number"):
        best_protocol(bounds=(0, 1), epsilon=1, n=1.5)


@pytest.mark.parametrize(
    ("epsilon", "n", "taken"),
    [
        (1, 37_000, Designed),
        (1, 36_000, Wave),
        (3, 3_000, Designed),
        (3.1, 10**6, Wave),
        (Fraction(1, 20), 10**8, Designed),
        (Fraction(1, 21), 10**9, Wave),
        (1, 0, Wave),
        (1000, 10**6, Wave),
    ],
)
def test_auto_takes_a_design_where_reports_tell_models_apart(epsilon, n, taken):
    assert type(best_protocol(bounds=(0, 1), epsilon=epsilon, n=n, loss="w1")) is taken


def area(rule, shares, seed):
    """Return the area between the distribution functions of an estimate and of the truth."""
    ticks = np.repeat((np.arange(256) << rule.bits - 8) + (1 << rule.bits - 9), shares)
    found = rule.density([ticks], source=SeededSource(seed))
    off = np.repeat(found.mass, 256 // found.mass.size) * (found.mass.size / 256)
    return float(np.abs(np.cumsum(off - shares / shares.sum())).mean())


@pytest.mark.simulation
def test_auto_beats_square_wave():
    at = (np.arange(256) + 0.5) / 256
    laws = {
        "beta": at * (1 - at) ** 4,
        "two normals": np.exp(-(((at - 0.3) / 0.08) ** 2) / 2)
        + np.exp(-(((at - 0.7) / 0.1) ** 2) / 2),
        "exponential": np.exp(-5 * at),
        "uniform": np.ones(256),
    }
    unit = {"bounds": (0, 1), "epsilon": 1}
    ratios = []
    for law in laws.values():
        shares = np.floor(40_000 * law / law.sum()).astype(int)
        auto = best_protocol(n=int(shares.sum()), loss="w1", **unit)
        errors = [[area(rule, shares, seed) for seed in range(4)] for rule in (auto, Wave(**unit))]
        ratios.append(np.mean(errors[0]) / np.mean(errors[1]))
    assert np.mean(ratios) < 2 / 3, ratios


WITHOUT_PYWAVELETS = """
import sys
sys.modules["pywt"] = None
import sourdine as sd
from sourdine.errors import MissingExtraError
for method in ("histogram", "square-wave"):
    found = sd.local.density([0.2, 0.4], bounds=(0, 1), epsilon=1, method=method)
    assert found.integral(0, 1) > 0.99
assert sd.local.density([0.2, 0.4], bounds=(0, 1), epsilon=1, loss="w1").integral(0, 1) > 0.99
for method in ("auto", "shrinkage", "one-bit", "dubois"):
    try:
        sd.local.density(iter(()), bounds=(0, 1), epsilon=1, method=method)
    except MissingExtraError as error:
        print(error)
"""


@pytest.mark.slow
def test_without_pywavelets_the_error_says_what_to_install():
    """Before any data is read; methods without wavelets do without it."""
    command = [sys.executable, "-c", WITHOUT_PYWAVELETS]
    told = subprocess.check_output(command, text=True).splitlines()  # noqa: S603
    assert len(told) == 4
    assert set(told) == {
        "This needs the 'density' extra. "
        "In the checkout, run pip install '.[density]', or use method='square-wave'."
    }
