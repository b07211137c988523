"""The exact law of every randomiser of the device: all its paths, walked.

With :math:`e^{-u}` replaced by a rational :math:`t`, every chance is a fraction: the laws sum to 1
exactly, and no ratio of two codes passes :math:`e^\\varepsilon = t^{-\\varepsilon/u}`.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod

import numpy as np
import pytest

import survey_device as device
from sourdine.exact import exp_neg
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import FlippedSet, UnaryEncoding
from sourdine.local.designs.channels import NUMBERS, nearest, written
from sourdine.local.designs.numbers import DesignedReport
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow, square_wave
from sourdine.local.rounds.histories import Histories
from sourdine.local.rounds.memoised import MemoisedHashing, PermanentResponse
from sourdine.local.table.part import AnyAnswer, paid_flag
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.survey.form import _part

EPSILON = Fraction(4, 5)


def hybrid():
    """Return a hybrid whose window is small enough to walk."""
    made = HybridReport(epsilon=EPSILON, last=3)
    object.__setattr__(made, "window", SlidingWindow(epsilon=EPSILON, last=3, slide=5, width=3))
    return made


def design_of(nodes, last, epsilon=EPSILON):
    """Return a report by a design of few nodes."""
    channel = written(*nearest(nodes, Fraction(epsilon), NUMBERS))
    return DesignedReport(epsilon=epsilon, last=last, channel=channel)


CASES = {
    "response": RandomizedResponse(epsilon=EPSILON, categories=5),
    "response, absent": AnyAnswer(answer=RandomizedResponse(epsilon=EPSILON, categories=4)),
    "unary": UnaryEncoding(epsilon=EPSILON, categories=4),
    "unary, absent": AnyAnswer(answer=UnaryEncoding(epsilon=EPSILON, categories=4)),
    "symmetric": UnaryEncoding(epsilon=EPSILON, categories=4, method="symmetric"),
    "hadamard": HadamardResponse(epsilon=EPSILON, categories=6),
    "hashing": LocalHashing(epsilon=EPSILON, categories=7),
    "subset": SubsetSelection(epsilon=EPSILON, categories=5, size=2),
    "flipped": FlippedSet(epsilon=EPSILON, categories=4),
    "square wave": square_wave(EPSILON, 12),
    "window, rounded": SlidingWindow(epsilon=EPSILON, last=5, slide=12, width=7),
    "window, paid": paid_flag(SlidingWindow, epsilon=EPSILON, last=4, slide=3, width=2),
    "duchi": Duchi(epsilon=EPSILON, last=5),
    "duchi, paid": paid_flag(Duchi, epsilon=EPSILON, last=5),
    "hybrid": hybrid(),
    "laplace": BoundedLaplace(epsilon=EPSILON, last=9),
    "laplace, absent": AnyAnswer(answer=BoundedLaplace(epsilon=EPSILON, last=4)),
    "staircase": BoundedStaircase(epsilon=EPSILON, last=11),
    "staircase, wide": BoundedStaircase(epsilon=EPSILON, last=5, minimise="l2"),
    "truncated": BoundedStaircase(epsilon=EPSILON, last=11, method="truncated"),
    "design": design_of(4, 3),
    "design, rounded and paid": paid_flag(design_of, epsilon=EPSILON, nodes=3, last=4),
}
LASTING = {"permanent": 2 * EPSILON, "epsilon": EPSILON}
HISTORIES = {
    "response, one round": (PermanentResponse(**LASTING, categories=3), 1),
    "response, three rounds": (PermanentResponse(**LASTING, categories=2), 3),
    "hashing, one round": (MemoisedHashing(**LASTING, categories=4), 1),
    "hashing, two rounds": (MemoisedHashing(**LASTING, categories=3), 2),
}
REAL = ("truncated", "design", "design, rounded and paid")
"""Cases whose claim holds for the real base alone."""
REAL_BITS = 200


@pytest.fixture(scope="module")
def remembered(node):
    given = [{**_part(oracle), "walked": rounds} for oracle, rounds in HISTORIES.values()]
    return dict(zip(HISTORIES, node("laws.mjs", given), strict=True))


@pytest.fixture(scope="module")
def walked(node):
    return dict(zip(CASES, node("laws.mjs", [_part(m) for m in CASES.values()]), strict=True))


def rates(laws):
    """Return every r of an exp(-r) that occurs."""
    keys = {key for law in laws for paths in law.values() for path in paths
            for factor in json.loads(path) for key in factor if key.startswith("[")}  # fmt: skip
    for key in keys:
        top, bottom, m = json.loads(key)
        yield from (Fraction(int(n), int(m)) for _, n in top + bottom if n != "0")


def evaluated(laws, power):
    """Return the chance of each report for each code, with ``power(r)`` for exp(-r)."""
    known = {}

    def real(key):
        if key not in known:
            if key.startswith("["):
                top, bottom, m = json.loads(key)
                sums = [sum(int(c) * power(Fraction(int(n), int(m))) for c, n in terms)
                        for terms in (top, bottom)]  # fmt: skip
                known[key] = sums[0] / sums[1]
            else:
                known[key] = Fraction(key)
        return known[key]

    def chance(paths):
        return sum(
            ways * prod((real(f) - real(g) for f, g in json.loads(path)), start=Fraction(1))
            for path, ways in paths.items()
        )

    return [{int(y): chance(paths) for y, paths in law.items()} for law in laws]


def worst(laws):
    """Return the largest ratio of the chances of one report under two codes."""
    reports = {y for law in laws for y in law}
    assert all(set(law) == reports for law in laws)
    return max(max(law[y] for law in laws) / min(law[y] for law in laws) for y in reports)


def test_every_method_of_the_device_is_walked():
    assert {_part(m)["method"] for m in CASES.values()} == set(device.METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in REAL])
def test_the_law_keeps_the_claim_whatever_the_base(walked, name):
    laws, whole = walked[name], [EPSILON, *rates(walked[name])]
    denominator = lcm(*(r.denominator for r in whole))
    unit = Fraction(gcd(*(int(r * denominator) for r in whole)), denominator)
    for t in (Fraction(1, 2), Fraction(9, 10), Fraction(2, 7)):
        found = evaluated(laws, lambda r, t=t: t ** int(r / unit))
        assert all(sum(law.values()) == 1 for law in found)
        assert worst(found) <= t ** -int(EPSILON / unit)


def exp_near(r):
    return exp_neg(r).below(REAL_BITS) if r else Fraction(1)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_weights_that_are_rounded_keep_the_claim(walked, name):
    """A level is no simple fraction, nor is a weight: the real laws are compared, to 200 bits."""
    found = evaluated(walked[name], exp_near)
    assert all(sum(law.values()) == 1 for law in found)
    ratio, slack = worst(found) * exp_near(EPSILON), Fraction(1, 1 << REAL_BITS - 20)
    tight = EPSILON / 2**20 if name == "design" else 1 if "paid" in name else EPSILON / 2**40
    assert 1 - tight < ratio < 1 - slack


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_that_of_the_mechanism(walked, name):
    for x, law in enumerate(evaluated(walked[name], exp_near)):
        reports = np.array(list(law))
        expected = CASES[name].law(x).pmf(reports)
        assert np.abs(expected - np.array([float(p) for p in law.values()])).max() < 1e-14
        assert abs(expected.sum() - 1) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", HISTORIES)
def test_the_law_of_all_rounds_is_that_of_the_histories(remembered, name):
    """A new memory, and reports from it: for each history the law that is audited."""
    oracle, rounds = HISTORIES[name]
    every = Histories(oracle=oracle, rounds=rounds)
    histories = list(product(range(oracle.categories), repeat=rounds))
    for x, law in zip(histories, evaluated(remembered[name], exp_near), strict=True):
        found = np.array([float(law.get(y, 0)) for y in range(max(law) + 1)])
        expected = every.chances(x)
        assert sum(law.values()) == 1
        assert np.abs(found - expected).max() < 1e-14
    if rounds == 1:
        assert worst(evaluated(remembered[name], exp_near)) * exp_near(EPSILON) <= 1 + Fraction(
            1, 1 << REAL_BITS - 20
        )
