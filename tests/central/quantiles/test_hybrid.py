from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sourdine.audit import worst_case
from sourdine.central.quantiles import joint, levels
from sourdine.central.quantiles.algorithm import Fixed
from sourdine.central.quantiles.chain import Targets
from sourdine.central.quantiles.joint import JointSampler, joint_log_weights, slice_samplers
from sourdine.central.quantiles.levels import Hybrid
from sourdine.central.quantiles.points import Points
from sourdine.errors import ParameterError
from sourdine.noise import SeededSource

RELATIONS = ("add_remove", "substitute")
QUARTERS = [0.25, 0.5, 0.75]


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
def test_hybrid_law_keeps_the_claim(relation, holds):
    holds(Hybrid(epsilon=1, q=QUARTERS, cells=5, relation=relation, stride=2), 4)
    holds(Hybrid(epsilon=12, q=[0.1, 0.5, 0.9], cells=4, relation=relation, stride=2), 3)


@pytest.mark.slow
def test_hybrid_law_keeps_the_claim_with_deeper_slices(holds):
    holds(Hybrid(epsilon=2, q=[0.2, 0.4, 0.6, 0.8], cells=4, stride=3), 2)
    holds(Hybrid(epsilon=2, q=[0.2, 0.4, 0.6, 0.8], cells=3, stride=2), 2)


@pytest.mark.slow
def test_hybrid_constant_cannot_be_raised(rejects):
    """The added record comes nearer in both levels, and both levels' best move away."""
    q = [Fraction(1, 16), Fraction(1, 2)]
    rejects(lambda epsilon: Hybrid(epsilon=epsilon, q=q, cells=120, stride=2), 1, [0, 2], [2])


def log_probability(made, x, drawn):
    """Of one output whose first level falls into an empty cell, so that there is one cut."""
    x, (k, middle, *inner) = made.read(x), drawn
    total = made.first.law(x).log_pmf(made.first.indices([[k, middle]]))[0]
    cuts, places = pairwise((0, x.below(middle), x.n)), pairwise((0, middle, made.cells - 1))
    for goals, ranks, ticks, o in zip(made.goals(k), cuts, places, inner, strict=True):
        part = x.cut(ranks, ticks)
        logs = joint_log_weights(part, Targets(part.n, np.array([goals])), made.first.c)[0]
        total += logs[o - ticks[0]] - np.logaddexp.reduce(logs)
    return total


def test_hybrid_constant_cannot_be_raised_under_substitution():
    """A record goes from the left end to the right: both slices and the first level lose by it."""
    run, q = 500, [Fraction(1, 16), Fraction(1, 2), Fraction(15, 16)]
    a, b, c = run + 1, 2 * run + 4, 3 * run + 7  # after each run a record, an output, the others
    x = [0] * 2 + [a] + [a + 2] * 13 + [b] + [b + 2] * 13 + [c] + [c + 2]
    y = [*x[1:], c + 3]
    loss = []
    for factor in (1, 1.1):
        made = Hybrid(epsilon=1, q=q, cells=c + 4, stride=2, relation="substitute")
        object.__setattr__(made.first, "c", factor * made.first.c)
        drawn = (1, b + 1, a + 1, c + 1)
        assert made.adjacent(made.read(x), made.read(y))
        loss.append(log_probability(made, y, drawn) - log_probability(made, x, drawn))
    assert loss[0] <= 1
    assert loss[1] > 1.001
    small = Hybrid(epsilon=3, q=QUARTERS, cells=5, stride=2)
    x = small.read([0, 0, 3, 4])
    at = small.law(x).log_pmf(small.indices([[1, 2, 1, 4]]))[0]
    assert log_probability(small, [0, 0, 3, 4], (1, 2, 1, 4)) == pytest.approx(at, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("x", [[], [2], [1, 1, 1, 3], [2] * 7])
def test_hybrid_draws_follow_the_law(x, fits):
    fits(Hybrid(epsilon=3, q=QUARTERS, cells=4, stride=2), x, draws=700)


@pytest.mark.slow
def test_ordered_hybrid_draws_follow_the_law(fits, monkeypatch):
    monkeypatch.setattr(joint, "PATIENCE", 1)
    fits(Hybrid(epsilon=3, q=[0.2, 0.4, 0.6, 0.8], cells=3, stride=3), [1, 1, 1, 2], draws=500)


def test_support_and_law_agree():
    made = Hybrid(epsilon=1, q=[0.2, 0.4, 0.6, 0.8], cells=4, stride=2)
    support = made.support()
    assert made.law(made.read([1, 1])).pieces.start.shape == (len(support),)
    assert support.shape[1] == 5
    assert len(np.unique(support, axis=0)) == len(support)
    for row in support[:500]:
        _, a, b, first, second = row
        assert first <= a <= second <= b


@pytest.mark.slow
def test_ties_cut_wrongly_are_private_too_but_tell_less(monkeypatch, inputs):
    """All ties to the right of a cut: a function of what was drawn, so it composes."""
    made = Hybrid(epsilon=8, q=QUARTERS, cells=4, stride=2)
    rightly = levels.slices_logs

    def wrongly(x, cut, goals, inside):
        return rightly(x, (cut[0], tuple(x.below(v) for v in cut[0])), goals, inside)

    x = made.read([1] * 12)
    rows = np.arange(len(made.support()))
    right = made.law(x).pmf(rows) @ made.loss(x, rows)
    monkeypatch.setattr(levels, "slices_logs", wrongly)
    assert worst_case(made, inputs(4, 3)).within(made.guarantee)
    assert made.law(x).pmf(rows) @ made.loss(x, rows) > right


@pytest.mark.parametrize("m", [9, 99])
def test_windows_do_not_change_a_draw(m, windowed):
    made = Hybrid(epsilon=1, q=[Fraction(j, m + 1) for j in range(1, m + 1)], cells=1 << 20)
    ticks = np.random.default_rng(5).integers(0, 1 << 20, 40_000)
    part, _ = windowed(ticks, 1 << 20, made.windows(40_000))
    whole = Points.of(ticks, 1 << 20)
    for seed in range(2):
        assert made.one(part, SeededSource(seed)) == made.one(whole, SeededSource(seed))


@pytest.mark.parametrize("relation", RELATIONS)
def test_hybrid_survives(relation, survives):
    survives(Hybrid(epsilon=1, q=[0.1, 0.5, 0.6], cells=6, relation=relation), seeds=3)
    survives(Hybrid(epsilon=50, q=[0.1, 0.5, 0.6], cells=6, relation=relation), seeds=3)


def test_slices_far_from_their_targets():
    """An empty slice with a large target, and one with far too many records."""
    made = Hybrid(epsilon=40, q=[Fraction(j, 10) for j in range(1, 10)], cells=1 << 20)
    for ticks in ([0] * 500, [0] * 500 + [(1 << 20) - 1] * 500, [5] * 3 + list(range(400, 700))):
        value = made.release(made.read(ticks), source=SeededSource(1)).value
        assert (np.diff(value) >= 0).all()


def test_hybrid_goals_are_those_of_one_level():
    made = Hybrid(epsilon=1, q=[0.2, 0.4, 0.6, 0.8], cells=4, stride=2)
    goals = made.goals(3)
    flat, at = [], 0
    for part in goals:
        flat += [at + g for g in part]
        at = flat[-1]
    total = 3 * made.first.lattice.h
    assert flat == [int(q * total + Fraction(1, 2)) for q in (*made.orders, Fraction(1))]


@pytest.mark.parametrize("x", [[], [3], [0] * 3 + [3] * 3])
def test_hybrid_error_bounds_the_loss(x, bounded):
    bounded(Hybrid(epsilon=4, q=QUARTERS, cells=4, stride=2), x, 0.05, n=len(x))


def test_bad_strides_are_refused():
    for q, stride in (([0.5], None), ([0.2, 0.5], 3), (QUARTERS, 1)):
        with pytest.raises(ParameterError, match="stride must be"):
            Hybrid(epsilon=1, q=q, cells=4, stride=stride)


@pytest.mark.parametrize("c", [0.01, 0.125, 3.0])
def test_slices_weighed_together_are_drawn_as_each_alone(c):
    rng = np.random.default_rng(3)
    sizes = ((300, 1 << 20), (320, 1 << 16), (290, 40), (0, 1000), (1, 1), (305, 1 << 40))
    parts = [Points.of(rng.integers(0, cells, n), cells) for n, cells in sizes]
    goals = [(100, 200, 300), (90, 180, 330), (300, 300, 301), (3, 5, 8), (0, 0, 0), (150, 300)]
    together, alone = SeededSource(1), SeededSource(1)
    for sampler, part, own in zip(slice_samplers(parts, goals, c), parts, goals, strict=True):
        one = JointSampler(part, Fixed.of(own), c)
        for _ in range(5):
            assert sampler.draw(together) == one.draw(alone)


def test_slices_weighed_together_bound_what_lies_outside():
    rng, c = np.random.default_rng(3), 0.125
    parts = [Points.of(rng.integers(0, 1 << 20, n), 1 << 20) for n in (300, 1, 5000)]
    goals = [(100, 200, 300), (0, 1, 1), (1000, 2000, 4500)]
    for sampler, part, own in zip(slice_samplers(parts, goals, c), parts, goals, strict=True):
        one = JointSampler(part, Fixed.of(own), c)
        shells = min(len(one._bounds), len(sampler._bounds)) - 1  # the last stands for all beyond
        assert sampler._bounds[:shells] == pytest.approx(one._bounds[:shells])
        assert sampler._shell >= one._shell
        assert sampler._rows.log_total == pytest.approx(one._rows.log_total)
