"""The min-cut of a changing graph: exact, sampled, robust and lazy."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

from sourdine.adaptive.attacks import toggle, weak_vertex
from sourdine.adaptive.graphs import (
    DynamicMinCut,
    ExactMinCut,
    RobustMinCut,
    SkeletonMinCut,
    lazy_mincut,
    least_cut,
    mincut,
    proved_strength,
)
from sourdine.adaptive.robust.proof import ENDLESS, cost
from sourdine.errors import MissingExtraError, ParameterError, ParameterTypeError
from sourdine.noise import SeededSource

igraph = pytest.importorskip("igraph")

N, DEGREE = 60, 24
"""A graph small enough for tests: the min-cut is the degree of vertex 0."""


MAKERS = (
    mincut,
    ExactMinCut,
    lambda *given: SkeletonMinCut(*given, keep=1, seed=1),
    lambda *given: RobustMinCut(*given, keep=1, copies=30, epsilon0=8, steps=100),
    lambda *given: DynamicMinCut(*given, error=0.25, seed=1),
    lambda *given: RobustMinCut(*given, copies=30, epsilon0=8, steps=100),
    lazy_mincut,
)


def graph(seed):
    return weak_vertex(N, DEGREE, density=1.0, rng=np.random.default_rng(seed))


def by_hand(n, edges):
    """Return the least cut over all subsets of the vertices that hold vertex 0."""
    sides = ({0, *rest} for size in range(n - 1) for rest in combinations(range(1, n), size))
    return min(sum((u in side) != (v in side) for u, v in edges) for side in sides)


@pytest.mark.parametrize("seed", range(20))
def test_mincut_is_the_least_of_all_cuts(seed):
    rng = np.random.default_rng(seed)
    edges = [e for e in combinations(range(7), 2) if rng.random() < 0.6]
    assert mincut(7, edges) == by_hand(7, edges)


def test_exact_follows_every_change():
    rng = np.random.default_rng(3)
    present, exact = set(), ExactMinCut(7)
    for _ in range(200):
        u, v = (int(x) for x in rng.choice(7, 2, replace=False))
        add = bool(rng.random() < 0.6)
        exact.update(u, v, add)
        (present.add if add else present.discard)((min(u, v), max(u, v)))
        assert exact.query() == mincut(7, present)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [0.1, 0.25, 0.5, 1])
def test_a_skeleton_keeps_its_share(keep):
    edges = list(combinations(range(200), 2))
    kept = [len(SkeletonMinCut(200, edges, keep=keep, seed=s).edges) for s in range(5)]
    deviation = np.sqrt(len(edges) * keep * (1 - keep))
    assert all(abs(k - keep * len(edges)) <= 5 * deviation for k in kept)
    assert keep == 1 or len(set(kept)) > 1


def test_a_skeleton_fed_and_a_skeleton_given_are_the_same():
    edges = graph(1)
    fed = SkeletonMinCut(N, keep=0.3, seed=1 << 100)
    for u, v in edges:
        fed.update(v, u, True)  # noqa: FBT003
    given = SkeletonMinCut(N, edges, keep=0.3, seed=1 << 100)
    assert fed.edges == given.edges
    assert given.edges < edges
    for u, v in edges:
        given.update(u, v, False)  # noqa: FBT003
    assert given.edges == set()
    assert given.query() == 0


def test_a_skeleton_is_about_right_on_a_fixed_graph():
    edges = list(combinations(range(80), 2))
    answers = [SkeletonMinCut(80, edges, keep=0.5, seed=s).query() for s in range(10)]
    assert all(0.6 * 79 < a < 1.05 * 79 for a in answers)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("seed", range(5))
def test_toggling_fools_a_skeleton(seed):
    edges = graph(seed)
    end = toggle(SkeletonMinCut(N, edges, keep=0.5, seed=seed), N, edges, least=6)
    assert end.answer == 0
    assert mincut(N, end.edges) >= 6


@pytest.mark.slow
def test_toggling_at_the_sizes_of_the_guide_fools_a_skeleton():
    edges = weak_vertex(120, 40, rng=np.random.default_rng(0))
    end = toggle(SkeletonMinCut(120, edges, keep=0.25, seed=1), 120, edges)
    assert end.answer == 0
    assert 24 <= mincut(120, end.edges) <= 36
    assert end.queries < 90


@pytest.mark.slow
def test_toggling_does_not_fool_many_skeletons():
    edges = graph(0)
    victim = RobustMinCut(
        N, edges, keep=0.5, copies=24, epsilon0=2, steps=200, source=SeededSource(0)
    )
    end = toggle(victim, N, edges, least=6)
    answer, truth = np.median([victim.query() for _ in range(5)]), mincut(N, end.edges)
    assert victim.edges == end.edges
    assert abs(answer / truth - 1) < 0.35


def test_robust_cuts_begin_a_new_phase_on_the_current_graph():
    complete = list(combinations(range(16), 2))
    victim = RobustMinCut(
        16, complete, keep=1, copies=20, sample=10, epsilon0=8, steps=3, source=SeededSource(1)
    )
    answers = []
    for v in range(1, 9):
        victim.update(0, v, False)  # noqa: FBT003
        answers.append(victim.query())
    assert victim._robust.resets == 2
    assert all(abs(a / (15 - v) - 1) < 0.25 for v, a in enumerate(answers, start=1))


def test_few_copies_prove_nothing():
    victim = RobustMinCut(16, combinations(range(16), 2), keep=1, copies=24, epsilon0=2, steps=100)
    assert victim.certificate() == 0
    assert "proved   nothing" in str(victim.proof())


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.1, 0.25, 1])
def test_lazy_cuts_are_always_right(error):
    rng = np.random.default_rng(4)
    edges = graph(2)
    lazy, exact = lazy_mincut(N, edges, error=error), ExactMinCut(N, edges)
    hung = sorted(e for e in edges if e[0] == 0)
    for _ in range(120):
        u, v = hung[rng.integers(len(hung))]
        add = bool(rng.random() < 0.4)
        lazy.update(u, v, add)
        exact.update(u, v, add)
        truth = exact.query()
        assert abs(lazy.query() - truth) <= error * truth
    assert lazy.recomputations < 120
    assert lazy.certificate() == ENDLESS


def test_toggling_does_not_fool_lazy_cuts():
    edges = graph(0)
    end = toggle(lazy_mincut(N, edges), N, edges, least=6)
    assert abs(end.answer / mincut(N, end.edges) - 1) <= 0.25


def test_the_corrected_cost_has_the_factors():
    times = {"t_init": 5.0, "t_update": 0.01, "t_query": 8.0}
    assert cost(100, **times, copies=24, sample=12) == pytest.approx(
        24 * 5.0 / 100 + 24 * 0.01 + 12 * 8.0
    )


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="two different vertices from 0 to 3"):
        ExactMinCut(4, [(0, 4)])
    with pytest.raises(ParameterError, match="two different vertices"):
        ExactMinCut(4).update(2, 2, True)  # noqa: FBT003
    with pytest.raises(ParameterError, match="graph must be at least 2"):
        ExactMinCut(1)
    with pytest.raises(ParameterError, match="keep must be above 0"):
        SkeletonMinCut(4, keep=0, seed=1)
    with pytest.raises(ParameterError, match="degree must be at most"):
        weak_vertex(5, 5, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ((3, [(0, 5)]), ParameterError, r"from 0 to 2, got \(0, 5\)"),
        ((3, [(-1, 0)]), ParameterError, r"from 0 to 2, got \(-1, 0\)"),
        ((3, [(1, 1)]), ParameterError, "two different vertices"),
        ((1,), ParameterError, "graph must be at least 2"),
        ((3, [("a", "b")]), ParameterTypeError, "a vertex must be a whole number .* type str"),
        ((3, [(0, 1.0)]), ParameterTypeError, "a vertex must be a whole number .* type float"),
        ((3, [(0, 1, 2.5)]), ParameterTypeError, "a pair of vertices, without a weight"),
        ((3, [4]), ParameterTypeError, "a pair of vertices"),
        ((3, 4), ParameterTypeError, "edges must be a list of pairs"),
        ((3, "ab"), ParameterTypeError, "edges must be a list of pairs"),
        (("three",), ParameterTypeError, "graph must be a whole number"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_graphs_are_checked_everywhere(make, given, kind, text):
    with pytest.raises(kind, match=text):
        make(*given)


@pytest.mark.parametrize("make", MAKERS[1:])
@pytest.mark.parametrize(
    ("change", "text"), [(("a", 1, True), "vertex"), ((0, 1, 2.5), "present must be True or False")]
)
def test_changes_are_checked_everywhere(make, change, text):
    cut = make(3, [(0, 1)])
    with pytest.raises(ParameterTypeError, match=text):
        cut.update(*change)
    assert cut.query() == 0


@pytest.mark.parametrize("make", MAKERS)
def test_graphs_of_igraph_are_taken(make):
    ring = igraph.Graph.Ring(9)
    cut = make(ring)
    assert (cut if make is mincut else cut.query()) == pytest.approx(2, rel=0.04)
    weighted = igraph.Graph.Ring(9)
    weighted.es["weight"] = 1.0
    for other in (igraph.Graph.Ring(9, directed=True), igraph.Graph([(0, 1), (0, 1)]), weighted):
        with pytest.raises(ParameterError, match="undirected, without loops"):
            make(other)
    with pytest.raises(ParameterTypeError, match="edges must be omitted"):
        make(ring, [(0, 1)])


def test_a_pair_named_twice_is_one_edge():
    assert mincut(2, [(0, 1), (1, 0)]) == 1


def test_a_graph_that_falls_apart_is_answered_so():
    complete = list(combinations(range(16), 2))
    cut = RobustMinCut(16, complete, keep=1, copies=30, epsilon0=8, steps=100)
    for v in range(1, 16):
        cut.update(0, v, False)  # noqa: FBT003
    assert cut.query() == 0
    for v in range(1, 16):
        cut.update(0, v, True)  # noqa: FBT003
    assert abs(cut.query() / 15 - 1) <= 0.25
    assert cut._robust.looks > 5


def test_exact_cuts_are_proved_for_any_number_of_steps():
    exact = ExactMinCut(3, [(0, 1)])
    assert exact.certificate() == ENDLESS
    assert str(exact.proof()).startswith("proved   any number of adaptive steps right always")


def test_texts_tell_what_is_public():
    edges = [(0, 1), (1, 2)]
    assert repr(ExactMinCut(3, edges)) == "ExactMinCut(n=3): edges=2"
    assert repr(SkeletonMinCut(3, edges, keep=0.5, seed=9)) == "SkeletonMinCut(n=3, keep=0.5)"
    robust = RobustMinCut(3, edges, keep=1, copies=30, epsilon0=4, steps=9)
    assert repr(robust).startswith(
        "RobustMinCut(n=3): edges=2, by Robust(method='dp-median', copies"
    )


def test_without_the_extra_a_person_learns_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"In the checkout, run pip install '\.\[graphs\]'"):
        mincut(2, [(0, 1)])


# A sample that is kept up to date.


def random_graph(n, density, rng):
    return {e for e in combinations(range(n), 2) if rng.random() < density}


@pytest.mark.parametrize("seed", range(20))
def test_least_cut_is_that_of_all_cuts(seed):
    rng = np.random.default_rng(seed)
    for n in (2, 3, 7, 30):
        edges = random_graph(n, rng.random(), rng)
        cut, scans = least_cut(n, edges)
        assert cut == mincut(n, edges)
        assert scans <= 2 * len(edges) * n
    for _ in range(200):
        group, inside, across = rng.integers(0, 3, 12), rng.uniform(0.4, 0.9), rng.uniform(0, 0.3)
        edges = {(u, v) for u, v in combinations(range(12), 2)
                 if rng.random() < (inside if group[u] == group[v] else across)}  # fmt: skip
        assert least_cut(12, edges)[0] == mincut(12, edges)
    halves = [e for e in combinations(range(20), 2) if (e[0] < 10) == (e[1] < 10)]
    assert least_cut(20, [*halves, (0, 10), (1, 11), (2, 12)])[0] == 3


def changed(victim, edges, rng, steps):
    """Change random edges that do not touch vertex 0; yield the graph after each."""
    present = set(edges)
    for _ in range(steps):
        u, v = sorted(int(x) for x in rng.choice(victim.n - 1, 2, replace=False) + 1)
        there = (u, v) in present
        victim.update(v, u, not there)
        (present.discard if there else present.add)((u, v))
        yield present


@pytest.mark.parametrize("strength", [None, 10**6])
def test_a_kept_sample_is_right_at_the_strength_that_is_proved(strength):
    """All edges are in use: right but for the lag, always."""
    rng = np.random.default_rng(4)
    edges = random_graph(12, 0.6, rng)
    victim = DynamicMinCut(12, edges, error=0.5, strength=strength, seed=3)
    for present in changed(victim, edges, rng, 150):
        truth = mincut(12, present)
        assert abs(victim.query() - truth) <= 0.125 * truth
    assert victim.level == 0
    assert proved_strength(12, 0.5) > 100


def test_a_kept_sample_spreads_as_its_strength_says():
    """Where one vertex has few edges, its degree in the sample is binomial."""
    edges = weak_vertex(80, 32, density=1.0, rng=np.random.default_rng(1))
    made = [DynamicMinCut(80, edges, error=0.25, strength=10, seed=s) for s in range(60)]
    share = [m.query() / 32 for m in made if m.level == 1]
    assert len(share) > 40
    assert abs(np.mean(share) - 1) < 4 * np.sqrt(1 / 32 / len(share)) + 0.02
    assert np.std(share) == pytest.approx(np.sqrt(1 / 32), rel=0.4)


@pytest.mark.slow
def test_a_kept_sample_fed_and_one_given_answer_alike():
    edges = graph(1)
    fed = DynamicMinCut(N, error=0.25, strength=6, seed=1 << 100)
    for u, v in sorted(edges):
        fed.update(v, u, True)  # noqa: FBT003
    given = DynamicMinCut(N, edges, error=0.25, strength=6, seed=1 << 100)
    assert fed._samples == given._samples
    assert fed.level == given.level
    assert abs(fed.query() / given.query() - 1) <= 0.0625
    computed = given.computations
    given.update(*min(edges), True)  # noqa: FBT003 - it is there already
    assert given.computations == computed
    for u, v in sorted(edges):
        given.update(u, v, False)  # noqa: FBT003
    assert given.query() == given.level == 0


def test_changes_of_a_kept_sample_are_cheap():
    """A change of a small sample costs far less than one of all edges; a question nothing."""
    rng = np.random.default_rng(2)
    edges = weak_vertex(120, 64, density=0.9, rng=rng)
    costs = {}
    for strength in (8, 10**6):
        victim = DynamicMinCut(120, edges, error=0.375, strength=strength, seed=5)
        before = victim.operations
        for _ in changed(victim, edges, np.random.default_rng(3), 300):
            pass
        costs[strength] = (victim.operations - before) / 300
        before = victim.operations
        assert victim.query() > 0
        assert victim.operations == before
    assert costs[8] < costs[10**6] / 3


@pytest.mark.slow
def test_toggling_fools_a_kept_sample_and_not_many():
    """It falls back on a larger sample in the end, so the attacker stops before."""
    off = []
    for seed in range(6):
        edges = graph(seed)
        victim = DynamicMinCut(N, edges, error=0.25, strength=4, seed=seed)
        end = toggle(victim, N, edges, least=17, rounds=6)
        off.append(1 - victim.query() / mincut(N, end.edges))
    assert np.mean(off) > 0.25
    edges = graph(0)
    many = RobustMinCut(
        N, edges, strength=4, copies=24, epsilon0=4, steps=400, error=0.5, source=SeededSource(1)
    )
    end = toggle(many, N, edges, least=17)
    answer, truth = np.median([many.query() for _ in range(5)]), mincut(N, end.edges)
    assert abs(answer / truth - 1) < 0.25


def test_what_a_kept_sample_refuses():
    with pytest.raises(ParameterError, match="error must be"):
        DynamicMinCut(5, error=0.6, seed=1)
    with pytest.raises((ParameterError, ParameterTypeError), match="strength must be"):
        DynamicMinCut(5, error=0.25, strength=0, seed=1)
    with pytest.raises(ParameterTypeError, match="strength must be omitted when keep is given"):
        RobustMinCut(5, keep=0.5, strength=4, copies=30, epsilon0=8, steps=9)
    assert repr(DynamicMinCut(5, error=0.25, seed=1)).startswith("DynamicMinCut(n=5, strength=")
