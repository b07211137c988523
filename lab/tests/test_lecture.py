"""The lecture's orders, and what they leave out."""

from __future__ import annotations

from math import sqrt

import pytest

from sourdine.adaptive.robust.proof import copies_needed, cost
from sourdine_lab.lecture import balanced, lecture_copies, lecture_cost


def test_the_lectures_phase_balances_the_cost():
    vertices, edges = 4096, 10**6
    phase = balanced(vertices, edges)

    def total(steps):
        return lecture_cost(steps, t_init=edges, t_update=vertices**0.5, t_query=1)

    best = min(total(round(phase.steps * factor)) for factor in (0.25, 0.5, 1, 2, 4))
    assert best == total(round(phase.steps))
    assert best == pytest.approx(2 * phase.cost + 1, rel=1e-3)
    assert phase.cost < edges / 100


def test_the_lecture_hides_a_factor_of_a_hundred():
    assert [lecture_copies(t) for t in (100, 10_000, 10**6)] == [10, 100, 1000]
    ratios = [copies_needed(t) / lecture_copies(t) for t in (100, 10_000, 10**6)]
    assert all(75 < ratio < 130 for ratio in ratios)


def test_cost_of_a_step():
    times = {"t_init": 5.0, "t_update": 0.25, "t_query": 0.5}
    assert lecture_cost(100, **times) == 5 / 10 + 10 * 0.25 + 0.5
    assert cost(100, copies=lecture_copies(100), sample=1, **times) == lecture_cost(100, **times)
    # the minimum cut: initialise |E|, update sqrt|V|; T = |E|/sqrt|V| gives sqrt|E| |V|^{1/4}
    edges, root = 10_000, 16.0
    steps = int(edges / root)
    best = lecture_cost(steps, t_init=edges, t_update=root, t_query=0)
    assert best == pytest.approx(2 * sqrt(edges) * sqrt(root))
