"""The cheapest sound choice for updates that depend on answers."""

from __future__ import annotations

from math import ceil, exp, log
from pathlib import Path

import numpy as np
import pytest

from sourdine.adaptive.attacks import insertion, probe
from sourdine.adaptive.robust import advice as bytes_of
from sourdine.adaptive.robust.advice import BROKEN, CHOICES, PROVED, SURVIVED, advise
from sourdine.adaptive.robust.proof import copies_needed
from sourdine.adaptive.sketches.f2 import AmsSketch, RobustF2, proved_looks
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.results.tables import shown

TASKS = sorted(CHOICES)
MODELS = ("insertions", "subset", "turnstile")


@pytest.mark.quick_cases(2)
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


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(
    ("task", "model", "terms", "best"),
    [
        ("distinct", "insertions", {}, "keyed HyperLogLog"),
        ("distinct", "insertions", {"universe": 1000}, "bitset"),
        ("distinct", "subset", {}, "bitset"),
        ("distinct", "subset", {"universe": 10**10}, "private median of salted HyperLogLogs"),
        ("distinct", "turnstile", {}, "exact table"),
        ("heavy hitters", "insertions", {}, "Misra-Gries"),
        ("heavy hitters", "turnstile", {}, "exact table"),
        ("quantiles", "insertions", {}, "Greenwald-Khanna"),
        ("quantiles", "turnstile", {}, "exact table"),
        ("f2", "insertions", {}, "switching"),
        ("f2", "insertions", {"universe": 10**6}, "exact table"),
        ("f2", "turnstile", {}, "exact table"),
        ("f2", "turnstile", {"steps": 10_000, "universe": 10**9}, "RobustF2, many rows"),
        ("f2", "turnstile", {"error": 0.02, "universe": 10**12}, "switching"),
        ("f2", "turnstile", {"universe": 10**7}, "exact table"),
        ("f2", "turnstile", {"steps": 10, "universe": 10**9}, "switching"),
        ("lipschitz", "turnstile", {}, "lazy exact"),
        ("any element", "insertions", {}, "the first item"),
        ("any element", "turnstile", {}, "bitset"),
    ],
)
def test_the_table_of_advice(task, model, terms, best):
    assert advise(task, model, **terms).best.name == best


def test_memory_is_what_the_formulas_say():
    advice = advise("f2", "turnstile", steps=1000, universe=10**6)
    memory = {c.name: c.memory for c in advice.choices}
    assert memory["exact table"] == 16 * 10**6
    looks = 2 + ceil(log(10.0**12) / log(1.0625**12))  # of a value that leaps from 1 to N^2
    copies = copies_needed(looks * 1000, method="exponential")
    assert memory["private median of AMS sketches"] == copies * bytes_of.ams_bytes(0.1875, 0.01)
    assert any(f"{shown(copies, 1)} copies" in c.note for c in advice.choices)


def test_what_survived_at_one_accuracy_is_not_advised_for_a_finer_one():
    standings = [
        {c.standing for c in advise("f2", "turnstile", error=a, steps=1000).choices}
        for a in (0.25, 0.1)
    ]
    assert SURVIVED in standings[0] - standings[1]


@pytest.mark.parametrize(
    ("task", "model", "name", "most"),
    [
        ("f2", "turnstile", "RobustF2", RobustF2().steps),
        ("f2", "insertions", "200 AMS of 200 rows", 30_000),
        ("distinct", "merge", "32 salted HyperLogLogs", 2048),
        ("lipschitz", "turnstile", "private median of 24 samples", 80),
    ],
)
def test_what_survived_fewer_steps_is_not_listed(task, model, name, most):
    for steps, listed in ((most, True), (most + 1, False)):
        choices = advise(task, model, steps=steps).choices
        assert (name in {c.name for c in choices if c.standing == SURVIVED}) == listed
    assert all(c.standing != SURVIVED for c in advise(task, model).choices)  # 100,000 steps


def test_the_rows_advised_are_proved():
    steps = 1000
    choice = next(c for c in advise("f2", "turnstile", steps=steps).choices if "many" in c.name)
    looks = proved_looks(width=choice.memory // 8, noise=0.013, clip=20, error=0.25, beta=0.05)
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
    assert lines[0].startswith("f2, turnstile: 1000 adaptive steps, 1,000,000 items")
    assert [line[0] for line in lines[2:]].count(">") == 1
    assert any("survived attacks" in line for line in lines)
    assert any("broken" in line for line in lines)
    assert "exact table" in next(line for line in lines if line.startswith(">"))
    assert all(len(line) <= 120 for line in lines)
    assert "<td>" in advise("f2", "turnstile")._repr_html_()


def test_names_are_read_kindly():
    assert advise("Any-Element", "deletions").task == "any element"
    assert advise("heavy_hitters", " Insertions ").model == "insertions"
    for typed, model in (
        ("insertion-only", "insertions"),
        ("insertions_only", "insertions"),
        ("subsets", "subset"),
        ("merge", "subset"),
        ("Merges", "subset"),
        ("turnstile", "turnstile"),
    ):
        assert advise("distinct", typed).model == model


def test_figures_are_those_of_the_guides():
    guides = Path(__file__).parents[2] / "docs/guides"
    distinct, one = (guides / f"{name}.md" for name in ("distinct", "one-from-many"))
    notes = {c.name: c.note for c in advise("distinct", "subset", steps=100).choices}
    assert "| 8,192 | 0.41 | 2.16 |" in distinct.read_text()
    assert "0.41 to 2.16" in notes["keyed HyperLogLog"]
    assert "| 32 | 1.5 |" in distinct.read_text()
    assert "copies=32, epsilon0=1.5" in distinct.read_text()
    assert "epsilon0=1.5" in notes["32 salted HyperLogLogs"]
    assert "| l0, 2 x 8 | 624 | 23 |" in one.read_text()
    assert "23 times" in advise("any element", "turnstile", universe=4096).choices[1].note


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("model", "attack", "share"), [("turnstile", probe, 0.5), ("insertions", insertion, 6)]
)
def test_a_plain_sketch_of_the_size_advised_falls_as_the_note_says(model, attack, share):
    plain = next(c for c in advise("f2", model).choices if c.standing == BROKEN)
    rows = plain.memory // 8
    steps = int(share * rows)
    ratios = [
        attack(AmsSketch(rows, s), steps, rng=np.random.default_rng(s)).ratio for s in range(5)
    ]
    assert plain.note.startswith(f"{steps} {'probes' if attack is probe else 'insertions'}")
    assert 0.3 < np.median(ratios) < 0.5


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({"task": "triangles"}, "task must be one of 'any element', 'distinct', 'f2'"),
        ({"model": "sliding"}, "model must be one of 'insertions', 'subset', 'merge', 'turnstile'"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"universe": 1}, "universe must be at least 2"),
        ({"error": 2}, "error must be above 0 and at most 1"),
        ({"confidence": 1}, "confidence must be above 0"),
    ],
)
def test_bad_parameters(terms, text):
    with pytest.raises(ParameterError, match=text):
        advise(**({"task": "f2", "model": "turnstile"} | terms))


def test_a_task_is_a_name():
    with pytest.raises(ParameterTypeError, match="task must be a name, got a value of type int"):
        advise(3, "turnstile")


def test_a_model_is_a_name():
    with pytest.raises(ParameterTypeError, match="model must be a name, got a value of type int"):
        advise("f2", 3)
