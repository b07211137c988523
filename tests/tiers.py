"""Which tier a test belongs to.

A test without a mark is quick: ``make test`` runs it. ``slow`` tests run in ``make test-all`` only,
and ``simulation`` tests in ``make simulate`` only. Tests that start a browser or PostgreSQL are
always slow. Three more marks divide the cases of one test:

``grid``
    For tests over several parameters. Quick are as few cases as hold every value of every
    parameter, slow as few more as hold every pair of values, and the rest are simulations.
    ``grid(quick=2)`` makes all pairs quick, ``grid(quick=0)`` none of the cases;
    ``grid(slow=1)`` makes simulations of all cases beyond those that hold every value.
``quick_cases(n)``
    At most ``n`` cases, spread evenly over all, are quick and the others are slow; with
    ``slow=m``, at most ``m`` of the others are slow and the rest are simulations.
``slow_cases(n)``
    At most ``n`` cases, spread evenly over all, are slow and the others are simulations.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

__all__ = ["assign", "covering", "spread"]


def assign(items):
    """Mark the cases of every test that a ``grid`` or ``quick_cases`` mark divides."""
    tests = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        if mark := cases[0].get_closest_marker("grid"):
            _divide(cases, **mark.kwargs)
        if mark := cases[0].get_closest_marker("quick_cases"):
            quick = spread(len(cases), *mark.args)
            others = [case for i, case in enumerate(cases) if i not in quick]
            kept = spread(len(others), mark.kwargs.get("slow", len(others)))
            _mark(others, kept, "slow", "simulation")
        if mark := cases[0].get_closest_marker("slow_cases"):
            _mark(cases, spread(len(cases), *mark.args), "slow", "simulation")


def _mark(cases, kept, tier, rest):
    for i, case in enumerate(cases):
        if mark := tier if i in kept else rest:
            case.add_marker(mark)


def _divide(cases, quick=1, slow=2):
    values = [_values(case) for case in cases]
    first = covering(values, quick)
    second = covering(values, slow, first)
    for i, case in enumerate(cases):
        if i not in first:
            case.add_marker("slow" if i in second else "simulation")


def _values(case):
    """Return what stands for the value of each parameter; those of one decorator are one."""
    given = case.callspec.params
    named = [mark.args[0] for mark in case.iter_markers("parametrize")]
    together = [
        tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
        for names in named
    ]
    alone = [(name,) for name in sorted(given) if not any(name in names for names in together)]
    return tuple(tuple(id(given[name]) for name in names) for names in (*together, *alone))


def covering(cases, strength, start=frozenset()):
    """Return positions of cases that hold every combination of values that any case holds.

    Parameters
    ----------
    cases
        The values of every case, one for each parameter.
    strength
        How many values a combination has: 2 for all pairs, 0 for no case beside `start`.
    start
        Positions that are chosen already.
    """
    if not strength:
        return set(start)
    held = [
        set(combinations(enumerate(case), min(strength, len(case)))) if case else {()}
        for case in cases
    ]
    chosen = set(start)
    missing = set().union(*held) - set().union(*(held[i] for i in chosen))
    while missing:
        best = max(range(len(cases)), key=lambda i: len(held[i] & missing))
        chosen.add(best)
        missing -= held[best]
    return chosen


def spread(total, most):
    """Return at most `most` positions of `total`, evenly spread, both ends included."""
    if total <= most:
        return set(range(total))
    if most == 1:
        return {0}
    return {round(i * (total - 1) / (most - 1)) for i in range(most)}
