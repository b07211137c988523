"""The cheapest sound choice for updates that depend on answers."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from sourdine.adaptive.robust import advise, copies_needed
from sourdine.adaptive.robust import sizes as bytes_of
from sourdine.adaptive.robust.choices import BROKEN, CHOICES, PROVED, SURVIVED
from sourdine.adaptive.sketches.f2_steps import proved_looks
from sourdine.errors import ParameterError, ParameterTypeError

TASKS = sorted({task for task, _ in CHOICES})
MODELS = ("insertion-only", "subset", "turnstile")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", TASKS)
def test_only_what_is_proved_is_recommended(task, model):
    for steps, universe in ((100, 1000), (10_000, 10**6), (10**6, 10**10)):
        advice = advise(task, model, steps=steps, universe=universe)
        proved = [c for c in advice.choices if c.standing == PROVED]
        assert advice.best in proved
        assert advice.best.memory == min(c.memory for c in proved)
        assert {c.standing for c in advice.choices} <= {PROVED, SURVIVED, BROKEN}
        memory = [c.memory for c in advice.choices]
        assert memory == sorted(memory)
        assert memory[0] > 0


@pytest.mark.parametrize(
    ("task", "model", "terms", "best"),
    [
        ("distinct", "insertion-only", {}, "keyed HyperLogLog"),
        ("distinct", "insertion-only", {"universe": 1000}, "bitset"),
        ("distinct", "subset", {}, "bitset"),
        ("distinct", "subset", {"universe": 10**10}, "private median of salted HyperLogLogs"),
        ("distinct", "turnstile", {}, "exact table"),
        ("heavy hitters", "insertion-only", {}, "Misra-Gries"),
        ("heavy hitters", "turnstile", {}, "exact table"),
        ("quantiles", "insertion-only", {}, "Greenwald-Khanna"),
        ("quantiles", "turnstile", {}, "exact table"),
        ("f2", "insertion-only", {}, "switching"),
        ("f2", "insertion-only", {"universe": 10**6}, "exact table"),
        ("f2", "turnstile", {}, "RobustF2, many rows"),
        (
            "f2",
            "turnstile",
            {"accuracy": 0.02, "universe": 10**12},
            "private median of AMS sketches",
        ),
        ("f2", "turnstile", {"universe": 10**7}, "exact table"),
        ("f2", "turnstile", {"steps": 10, "universe": 10**9}, "switching"),
        ("lipschitz", "turnstile", {}, "lazy exact"),
        ("any element", "insertion-only", {}, "the first item"),
        ("any element", "turnstile", {}, "bitset"),
    ],
)
def test_the_table_of_advice(task, model, terms, best):
    assert advise(task, model, **terms).best.name == best


def test_memory_is_what_the_formulas_say():
    advice = advise("f2", "turnstile", steps=1000, universe=10**6)
    memory = {c.name: c.memory for c in advice.choices}
    assert memory["exact table"] == 16 * 10**6
    copies = copies_needed(1000, release="exponential")
    assert memory["private median of AMS sketches"] == copies * bytes_of.ams_bytes(0.1875, 0.01)
    assert any(f"{copies} copies" in c.note for c in advice.choices)


def test_what_survived_at_one_accuracy_is_not_advised_for_a_finer_one():
    standings = [
        {c.standing for c in advise("f2", "turnstile", accuracy=a).choices} for a in (0.25, 0.1)
    ]
    assert SURVIVED in standings[0] - standings[1]


def test_the_rows_advised_are_proved():
    steps = 1000
    choice = next(c for c in advise("f2", "turnstile", steps=steps).choices if "many" in c.name)
    looks = proved_looks(rows=choice.memory // 8, noise=0.013, clip=20, alpha=0.25, beta=0.05)
    assert looks >= 2 * steps


def test_ams_and_hyperloglog_sizes():
    e = 0.1875
    rows = bytes_of.ams_bytes(e, 0.01) / 8
    assert 2 * exp(-rows * (e**2 / 4 - e**3 / 6)) <= 0.01
    assert 2 * exp(-(rows - 1) * (e**2 / 4 - e**3 / 6)) > 0.01
    assert bytes_of.hll_bytes(0.25, 0.05) == 128  # (1.04 * 1.96 / 0.25)^2 = 66.5
    assert bytes_of.bitset_bytes(17) == 3
    assert bytes_of.misra_gries_bytes(0.3) == 64
    assert bytes_of.gk_bytes(0.5, 1000) == 24 * np.ceil(11 * np.log2(1000))


def test_a_robust_sample_has_the_size_of_its_bound():
    # a threshold's count in a reservoir is a martingale; Freedman: 2 exp(-k a^2 / (1 + 2a/3))
    alpha, failure, thresholds = 0.25, 0.01, 1000
    k = bytes_of.reservoir_bytes(alpha, failure, thresholds) / 8
    assert thresholds * 2 * exp(-k * alpha**2 / (1 + 2 * alpha / 3)) <= failure
    assert k == pytest.approx(2 * log(2 * thresholds / failure) / alpha**2, abs=1)


def test_advice_reads_as_a_table():
    text = str(advise("f2", "turnstile", steps=1000, universe=10**6))
    lines = text.splitlines()
    assert lines[0].startswith("f2, turnstile: 1000 adaptive steps, 1 000 000 items")
    assert [line[0] for line in lines[2:]].count(">") == 1
    assert any("survived attacks" in line for line in lines)
    assert any("broken" in line for line in lines)
    assert "exact table" in next(line for line in lines if line.startswith(">"))
    assert all(len(line) <= 120 for line in lines)
    assert "<td>" in advise("f2", "turnstile")._repr_html_()


def test_names_are_read_kindly():
    assert advise("Any-Element", "deletions").task == "any element"
    assert advise("heavy_hitters", " Insertions ").model == "insertion-only"


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"task": "triangles"}, "task must be one of 'any element', 'distinct', 'f2'"),
        ({"model": "sliding"}, "model must be one of 'insertion-only'"),
        ({"model": 3}, "model must be one of .*, got a int"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"universe": 1}, "universe must be at least 2"),
        ({"accuracy": 2}, "accuracy must be above 0 and at most 1"),
        ({"beta": 0}, "beta must be above 0"),
    ],
)
def test_bad_parameters(terms, text):
    with pytest.raises(ParameterError, match=text):
        advise(**({"task": "f2", "model": "turnstile"} | terms))


def test_a_task_is_a_name():
    with pytest.raises(ParameterTypeError, match="task must be a name, got something of type int"):
        advise(3, "turnstile")
