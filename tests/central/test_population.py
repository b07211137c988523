"""Intervals for a population: what they rest on, and that they cover."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats

import sourdine as sd
from sourdine.central import Mean, Proportion
from sourdine.central.differences import proved_apart
from sourdine.central.intervals import (
    ShareEvidence,
    _bennett,
    _chernoff,
    _normal_tail,
    laplace_parts,
    normal_reach,
    passed,
    proved_reach,
)
from sourdine.central.mean import OfPublicNumber
from sourdine.central.proportion import _reached, exact_ends
from sourdine.errors import SourdineError
from sourdine.noise import SeededSource
from sourdine.privacy import SUBSTITUTE

LAST = 3
RUNS = 250


def test_two_sums_move_together():
    """Under substitution a value may also become missing, which leaves the number of records."""
    made = OfPublicNumber(last=LAST, epsilon=1, relation=SUBSTITUTE)

    def sums(x):
        there = [t for t in x if t is not None]
        drawn = made.sums(len(x), len(there), sum(there), sum(t * t for t in there))
        u = [0.5 if t is None else t / LAST for t in x]
        assert drawn == pytest.approx(
            (made.filled * sum(u), made.filled * sum(v * (1 - v) for v in u))
        )
        return drawn

    values = (None, *range(LAST + 1))
    moves = [
        sum(abs(a - b) for a, b in zip(sums((t, s)), sums((t, r)), strict=True))
        for t in values
        for s in values
        for r in values
    ]
    assert max(moves) == made.mechanism.sensitivity


@pytest.mark.slow
def test_the_tail_of_a_normal_with_noises():
    rng = np.random.default_rng(1)
    for sd_, scales in ((1.0, [2.0, 0.5, 1.0]), (5.0, [0.01, 0.02, 0.03]), (0.1, [1.0, 1.0, 1.0])):
        x = rng.normal(0, sd_, 10**6) + sum(rng.laplace(0, a, 10**6) for a in scales)
        a, c = laplace_parts(scales)
        for t in np.quantile(x, [0.6, 0.9, 0.99]):
            claimed = float(_normal_tail(np.array(t), np.array(sd_), a, c))
            assert claimed == pytest.approx((x > t).mean(), abs=0.003)
        t = float(passed(np.array([sd_**2]), np.array([scales]), np.array([0.05]))[0])
        assert (x > t).mean() == pytest.approx(0.05, abs=0.002)


@pytest.mark.parametrize("p", [0.01, 0.3])
def test_bounds_on_sums_follow_from_exact_tails(p):
    """A sum of ones and zeros passes what Bennett and Chernoff say seldom enough."""
    n, beta = 500, 0.02
    v, far = np.array([n * p * (1 - p)]), np.array([1 - p])
    t = float(_bennett(v, far, beta)[0])
    assert 0.02 * beta < stats.binom.sf(np.ceil(n * p + t) - 1, n, p) <= beta
    scale = np.array([[3.0]])
    u = float(_chernoff(v, far, scale, beta)[0])
    rng = np.random.default_rng(2)
    noisy = rng.binomial(n, p, 10**6) - n * p + rng.laplace(0, 3.0, 10**6)
    assert 0.02 * beta < (noisy >= u).mean() <= beta


@pytest.mark.slow
def test_a_noisy_binomial_is_summed_exactly():
    n, p, scale = 30, 0.2, 1.7
    q = np.exp(-1 / scale)
    noise = {j: (1 - q) / (1 + q) * q ** abs(j) for j in range(-60, 61)}
    for k in (-3, 0, 6, 15, 33):
        brute = sum(
            stats.binom.pmf(f, n, p) * w
            for f in range(n + 1)
            for j, w in noise.items()
            if f + j >= k
        )
        assert _reached(k, n, p, scale) == pytest.approx(brute, rel=1e-9)


def test_noise_that_no_share_explains_leaves_an_interval():
    low, high = exact_ends(-9, 30, 1.7, 0.1)
    assert low == 0
    assert 0 < high < 0.2


@pytest.mark.parametrize("ones", [-3, 0, 7, 30, 33])
def test_exact_ends_leave_out_what_is_too_unlikely(ones):
    low, high = exact_ends(ones, 30, 1.7, 0.1)
    assert 0 <= low <= high <= 1
    if low:
        assert _reached(ones, 30, low, 1.7) == pytest.approx(0.05, abs=1e-9)
    if high < 1:
        assert 1 - _reached(ones + 1, 30, high, 1.7) == pytest.approx(0.05, abs=1e-9)


def mixture(rng, n):
    """Mostly 0, a few far out: where normal intervals have the hardest time."""
    return np.where(rng.random(n) < 0.05, rng.uniform(0.5, 1.0, n), 0.0)


REACHES = (normal_reach, proved_reach)


def holds(seen, truth, reach):
    """Return the part of runs in which the truth is within reach of the line."""
    at = np.array([truth])
    drawn = [(one.line(at), *reach(one, at, at, 0.05)) for one in seen]
    z, down, up = np.array(drawn)[..., 0].T
    return ((-down <= z) & (z <= up)).mean()


LAWS = {
    "beta": (lambda rng, n: rng.beta(2, 5, n), 2 / 7),
    "few": (mixture, 0.05 * 0.75),
    "coins": (lambda rng, n: (rng.random(n) < 0.5) * 1.0, 0.5),
}


@pytest.mark.grid(quick=0)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [0.2, 2])
def test_population_intervals_cover(law, epsilon, relation):
    """The truth is kept if the line is within reach of it, and then the interval holds it."""
    draw, truth = LAWS[law]
    rng = np.random.default_rng(7)
    asked = Mean(
        bounds=(0, 1), epsilon=epsilon, relation=relation, population=True, source=SeededSource(7)
    )
    seen = [asked.evidence(asked.release(draw(rng, 400)).drawn) for _ in range(RUNS)]
    held = [holds([one for one in seen if one], truth, reach) for reach in REACHES]
    assert held[0] >= 0.95 - 6 * sqrt(0.0475 / RUNS)
    assert held[1] >= 0.97  # it holds for any law, so it is wider here


@pytest.mark.slow
def test_an_interval_holds_what_is_within_reach(relation):
    """Cells are excluded as a whole only if every candidate in them is out of reach."""
    rng = np.random.default_rng(3)
    asked = Mean(
        bounds=(0, 1), epsilon=1, relation=relation, population=True, source=SeededSource(3)
    )
    for _ in range(5):
        release = asked.release(rng.beta(2, 5, 300))
        seen = asked.evidence(release.drawn)
        mu = np.linspace(0, 1, 2001)
        for of, reach in (("normal", normal_reach), ("population", proved_reach)):
            z, (down, up) = seen.line(mu), reach(seen, mu, mu, 0.05)
            kept = mu[(-down <= z) & (z <= up)]
            assume = "normal" if of == "normal" else None
            low, high = release.interval(of="population", assume=assume)
            assert low <= kept[0] <= low + 2e-3
            assert high - 2e-3 <= kept[-1] <= high


@pytest.mark.slow_cases(2)
@pytest.mark.parametrize("share", [0.01, 0.4])
def test_intervals_of_shares_cover(share, relation):
    rng = np.random.default_rng(9)
    asked = Proportion(epsilon=1, relation=relation, population=True, source=SeededSource(9))
    releases = [asked.release((rng.random(500) < share) * 1) for _ in range(RUNS)]
    if asked.known:
        low, high = np.array([r.interval(of="population") for r in releases[:150]]).T
        held = [((low <= share) & (share <= high)).mean()]
    else:
        held = [holds([asked.evidence(r.drawn) for r in releases], share, r) for r in REACHES]
    assert min(held) >= 0.95 - 6 * sqrt(0.0475 / (150 if asked.known else RUNS))


@pytest.mark.slow
def test_intervals_of_differences_cover():
    rng = np.random.default_rng(5)
    n, runs, truth = 1500, 60, 0.3 - 2 / 7
    asked = Mean(
        column="x", by="g", keys=["a", "b"], bounds=(0, 1), epsilon=1, population=True,
        source=SeededSource(5),
    )  # fmt: skip
    held = {"sample": 0, "normal": 0, "population": 0}
    widths = []
    for _ in range(runs):
        a, b = rng.beta(3, 7, n), rng.beta(2, 5, n)
        release = asked.release({"x": [*a, *b], "g": ["a"] * n + ["b"] * n}).difference("a", "b")
        for of in held:
            low, high = release.mechanism.limits(release, 0.05, of)
            held[of] += low <= (a.mean() - b.mean() if of == "sample" else truth) <= high
            if of == "normal":
                widths.append(high - low)
    assert min(held.values()) / runs >= 0.95 - 6 * sqrt(0.0475 / runs)
    welch = 2 * 1.96 * sqrt((0.21 / 11 + 10 / 392) / n)
    assert np.mean(widths) <= 1.1 * welch


def test_a_difference_reaches_as_far_as_each_group_s_records_do():
    """Of rare events many are further above their mean than none are below it."""
    rare, sure = (ShareEvidence.of_public(k, n, 1e-3) for k, n in ((60, 2000), (0, 10**12)))
    down, up = (0.03 - x for x in proved_apart(rare, sure, 0.2))
    assert down > 1.02 * -up
    low, high = proved_apart(sure, rare, 0.2)
    assert (low, high) == pytest.approx((up - 0.03, down - 0.03), abs=1e-9)


def test_a_difference_of_nothing_is_not_endless_but_wide():
    empty = Mean(bounds=(0, 1), epsilon=1, population=True, source=SeededSource(1)).release([])
    seen = empty.mechanism.evidence(empty.drawn)
    if seen is not None:
        low, high = proved_apart(seen, seen, 0.05)
        assert -1 <= low <= high <= 1


def test_what_a_difference_says(tmp_path):
    data = {"x": [1, 0] * 400, "g": ["f", "m"] * 400}
    release = sd.mean(data, column="x", bounds=(0, 1), epsilon=9, by="g", keys=["f", "m"])
    apart = release.difference("f", "m")
    assert apart.value == release.value["f"] - release.value["m"]
    assert "f minus m" in str(apart)
    assert sd.Release.from_json(apart.to_json()) == apart
    assert apart.cost == release.cost
    apart.plot(path=tmp_path / "apart.png")
    low, high = apart.interval()
    assert low <= 1 <= high


WRONG = [
    (lambda r: r.difference("f", "x"), "the key must be one of the groups, got 'x'"),
    (
        lambda r: r.difference("f", "m").difference("f", "m"),
        r"difference\(\) is only available for a release by group",
    ),
    (lambda r: r.interval(assume="normal"), "assume must be 'normal', with of='population'"),
    (lambda r: r.interval(of="population", assume="normal"), "assume must be omitted"),
]


@pytest.mark.parametrize(("call", "text"), WRONG, ids=[text for _, text in WRONG])
def test_wrong_questions_about_groups_say_what_to_type(call, text):
    release = sd.count({"g": ["f"] * 9}, column="g", epsilon=1, by="g", keys=["f", "m"])
    means = sd.mean(
        {"x": [1], "g": ["f"]}, column="x", bounds=(0, 1), epsilon=1, by="g", keys=["f"]
    )
    asked = means if "assume" in text else release
    with pytest.raises(SourdineError, match=text):
        call(asked)


def test_gaussian_means_have_no_spread(refused):
    refused(
        lambda: sd.mean(
            [1], bounds=(0, 1), epsilon=1, delta=1e-6, method="gaussian", population=True
        ),
        "population must be omitted for method 'gaussian'",
    )
    refused(lambda: sd.mean([1], bounds=(0, 1), epsilon=1, population="x"), "population must be")


def test_a_picture_shows_the_interval_of_the_population():
    values = np.random.default_rng(3).uniform(0, 100, 500)
    release = sd.mean(values, bounds=(0, 100), epsilon=1, population=True)
    (axes,) = release.plot().axes
    (line,) = [lines for lines in axes.collections if lines.get_label() == "population"]
    (low, high) = line.get_segments()[0][:, 0]
    assert (low, high) == pytest.approx(release.interval(0.95, of="population", assume="normal"))
