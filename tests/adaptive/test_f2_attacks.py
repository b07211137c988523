"""Attacks break plain sketches of the second moment, and not the robust one in its steps."""

from __future__ import annotations

import importlib.util
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from sourdine.adaptive.attacks import CLIMB, F2Attack, insertion, probe
from sourdine.adaptive.sketches.f2 import AmsSketch, RobustF2
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.noise import SeededSource

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "f2.py"
ROWS = 5000
SEEDS = range(3)


def plain(seed, rows=ROWS):
    return AmsSketch(rows, seed=1000 + seed)


def robust(seed, rows=ROWS):
    return RobustF2(rows, source=SeededSource(seed))


class Exact:
    """A sketch that is none, and counts what it is asked."""

    def __init__(self):
        self.weights, self.queries, self.least = {}, 0, 0

    def update(self, item, weight=1):
        self.weights[item] = self.weights.get(item, 0) + weight
        self.least = min(self.least, weight)

    def query(self):
        self.queries += 1
        return float(sum(w * w for w in self.weights.values()))


@pytest.mark.parametrize("attack", [probe, insertion])
@pytest.mark.parametrize("steps", [1, 2, 50, 60])
def test_the_attacker_knows_the_truth(attack, steps):
    victim = Exact()
    done = attack(victim, steps, rng=np.random.default_rng(1))
    assert done.queries == victim.queries
    assert done.true == victim.query()
    assert done.ratio == 1
    assert done.within(0) == 1


@pytest.mark.parametrize("attack", [probe, insertion])
def test_a_seed_is_no_generator(attack):
    with pytest.raises(ParameterTypeError, match=r"rng must be .* type int. Use np.random"):
        attack(Exact(), 5, rng=3)


def test_insertion_only_inserts():
    victim = Exact()
    insertion(victim, 50, rng=np.random.default_rng(1))
    assert victim.least == 0
    victim = Exact()
    probe(victim, 50, rng=np.random.default_rng(1))
    assert victim.least < 0


@pytest.mark.slow
def test_probes_break_a_plain_sketch():
    for seed in SEEDS:
        small = probe(plain(seed, 200), 1000, rng=np.random.default_rng(seed))
        assert small.ratio < 0.25
        large = probe(plain(seed, 2000), 1000, rng=np.random.default_rng(seed))
        assert large.ratio < 0.5, "20,000 rows and 10,000 probes, a tenth of the size"
        assert large.within(0.25) == 0


def test_probes_drive_it_up_as_well():
    for seed in SEEDS:
        done = probe(plain(seed, 2000), 1000, rng=np.random.default_rng(seed), upward=True)
        assert done.ratio > 1.75


@pytest.mark.slow
def test_small_errors_grow_as_the_theory_says():
    steps, rows = 250, 20_000
    for rounds, gain in ((1, 1.0), (16, 1.276)):
        ratios = [
            probe(plain(s, rows), steps, rng=np.random.default_rng(s), rounds=rounds).ratio
            for s in SEEDS
        ]
        assert 1 - np.mean(ratios) == pytest.approx(gain * sqrt(steps / rows), rel=0.12)


@pytest.mark.slow
def test_insertions_break_a_plain_sketch():
    for seed in SEEDS:
        done = insertion(plain(seed, 500), 2500, rng=np.random.default_rng(seed))
        assert done.ratio < 0.6
        assert insertion(robust(seed, 500), 500, rng=np.random.default_rng(seed)).within(0.25) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("upward", [False, True])
@pytest.mark.parametrize("swing", [(1.0,), CLIMB], ids=["flat", "climb"])
def test_robust_sketch_survives_its_declared_steps(upward, swing):
    steps = robust(0).steps
    assert steps > 600
    done = [
        probe(robust(s), steps, rng=np.random.default_rng(s), swing=swing, upward=upward)
        for s in range(6)
    ]
    assert np.mean([d.within(0.25) for d in done]) >= 0.95
    beaten = [
        probe(plain(s), steps, rng=np.random.default_rng(s), swing=swing, upward=upward)
        for s in SEEDS
    ]
    assert max(d.within(0.25) for d in beaten) == 0
    assert plain(0).memory == robust(0).memory


@pytest.mark.slow
def test_full_size_holds_at_its_declared_steps():
    victim = RobustF2(source=SeededSource(11))
    done = probe(victim, victim.steps, rng=np.random.default_rng(11))
    assert victim.steps >= 10_000
    assert done.within(0.25) >= 0.95


@pytest.mark.slow
def test_robust_sketch_is_broken_well_past_its_steps():
    steps = 25 * robust(0, 2000).steps
    done = probe(robust(1, 2000), steps, rng=np.random.default_rng(1))
    assert done.ratio < 0.75, "steps are not declared out of caution alone"


def test_a_victim_that_says_nothing_is_not_deceived():
    class Deaf(Exact):
        def query(self):
            super().query()
            return 7.0

    done = probe(Deaf(), 100, rng=np.random.default_rng(3))
    assert done.true > 1000**2
    assert done.answers[0] == 7


@pytest.mark.slow
def test_the_picture_shows_every_sketch(tmp_path):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("f2_benchmark", BENCHMARK)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    rows = [[F2Attack(10 * k, 100, (90.0 / k,)), F2Attack(10 * k, 100, (80.0,))] for k in (1, 2)]
    figure = benchmark.draw(
        {"plain": rows, "robust": rows}, steps=15, path=str(tmp_path / "f2.png")
    )
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"plain", "robust", "declared: 15"} <= texts
    assert (tmp_path / "f2.png").stat().st_size > 5000


def test_the_text_of_an_attack():
    assert str(F2Attack(10, 100, (20.0, 30.0, 40.0))) == "0.3 of the truth after 10 questions"


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"height": 0}, {"rounds": 0}], ids=str)
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))} must be"):
        probe(Exact(), **({"steps": 5} | wrong), rng=np.random.default_rng(1))
