"""Hints are obeyed: a call is spoiled, what its error says to type is typed, and then it works.

Every mechanism that is registered, and the functions listed here, get wrong values for one
parameter after the other. Whatever is raised must be an error in parts, and to do what its hint
says must work, or at least lead to another parameter.
"""

from __future__ import annotations

import ast
import dataclasses
import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from sourdine import noise
from sourdine.adaptive import (
    AmsSketch,
    Blocks,
    GuardedHoldout,
    Leaderboard,
    Markov,
    QueryServer,
    Robust,
    RobustF2,
    TranscriptLedger,
    advise,
    privacy_to_validity,
)
from sourdine.adaptive.robust.proof import certified_steps, plan_copies
from sourdine.audit import registered
from sourdine.errors import LEFT_OUT, ParameterError, SourdineError, literal
from sourdine.frames.cells import Codes, Edges
from sourdine.grid import Grid
from sourdine.local import Choice, Number, Schema, shuffled, shuffled_allowance
from sourdine.local.categorical.choosing import best_oracle, oracles
from sourdine.local.densities.bins import Bins
from sourdine.local.densities.call import Wave, protocol
from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.one_bit import OneBit
from sourdine.local.estimators.frequencies import frequencies
from sourdine.local.numeric.sliding import piecewise, square_wave
from sourdine.local.reports.aggregator import Aggregator
from sourdine.mechanisms import RandomizedResponse
from sourdine.privacy import (
    LOCAL,
    SUBSTITUTE,
    Budget,
    Concentrated,
    Guarantee,
    compose_advanced,
    poisson,
)
from sourdine.privacy.composition import without_replacement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Call = tuple[Callable[..., object], dict[str, Any]]

WRONG = (
    None,
    "x",
    "",
    -1,
    0,
    1,
    0.5,
    -0.5,
    math.nan,
    math.inf,
    2**70,
    True,
    [],
    [-1, -2],
    (3, 1),
    ["x", "x"],
    {},
    object(),
    int,
)

MADE_BY_THE_LIBRARY = ("absent.", "quantiles.", "histogram.", "density.dubois")
"""Mechanisms whose parameters a person types elsewhere: into a column, a statistic, a protocol."""

SURVEY = Schema(age=Number(0, 120, step=1), vote=Choice("yes", "no"), epsilon=1)
LABELS = [0, 1] * 500

GROUND: list[Call] = [
    (Grid, {"lower": 0, "upper": 10, "step": 1}),
    (Guarantee, {"epsilon": 1, "delta": 0, "relation": "local"}),
    (Budget, {"epsilon": 1, "delta": 0, "relation": "substitute"}),
    (Concentrated, {"rho": 1, "relation": "substitute"}),
    (Concentrated.gaussian, {"sensitivity": 1, "variance": 2, "relation": "substitute"}),
    (Concentrated.rho_for, {"epsilon": 1, "delta": 1e-6}),
    (Guarantee(1).group, {"size": 2}),
    (compose_advanced, {"guarantee": Guarantee(1), "times": 3, "slack": 1e-6}),
    (poisson, {"guarantee": Guarantee(1, relation="add_remove"), "rate": 0.5}),
    (
        without_replacement,
        {"guarantee": Guarantee(1, relation=SUBSTITUTE), "sample": 2, "n": 10},
    ),
    (noise.bernoulli, {"p": 0.5}),
    (noise.bernoulli_exp, {"multiples": [1, 2], "rate": 0.5}),
    (noise.bounded_laplace, {"x": 3, "top": 5, "decay": 1}),
    (noise.categorical, {"weights": [1, 2]}),
    (noise.choose, {"scores": [1, 2], "decay": 1}),
    (noise.choose_run, {"cells": [1, 2], "distances": [0, 1], "decay": 1}),
    (noise.discrete_gaussian, {"variance": 4}),
    (noise.discrete_laplace, {"scale": 4}),
    (noise.geometric, {"r": 1}),
    (noise.permute_and_flip, {"scores": [1, 2], "decay": 1}),
    (noise.staircase, {"epsilon": 1, "sensitivity": 4, "width": 2}),
    (noise.truncated_geometric, {"r": 1, "top": 5}),
    (noise.uniform_below, {"k": 7}),
    (Codes, {"column": None, "categories": ["a", "b"]}),
    (Edges, {"column": None, "edges": [0, 1, 2]}),
]

LOCALLY: list[Call] = [
    *((make, {"epsilon": 1, "categories": 8}) for make in oracles().values()),
    (best_oracle, {"epsilon": 1, "categories": 8, "most_bits": 8}),
    (square_wave, {"epsilon": 1, "last": 20}),
    (piecewise, {"epsilon": 1, "last": 20}),
    (Number, {"lower": 0, "upper": 10, "step": 1, "method": None, "missing": False}),
    (
        Schema.of,
        {"columns": {"a": Choice(1, 2)}, "epsilon": 1, "method": "split", "weights": None},
    ),
    (Aggregator, {"schema": SURVEY, "pairs": (), "remember": "ids"}),
    (
        frequencies,
        {
            "oracle": RandomizedResponse(epsilon=1, categories=2),
            "tally": [30, 70],
            "reports": 100,
            "labels": None,
            "consistent": None,
            "together": False,
        },
    ),
    (shuffled, {"report": Guarantee(1, relation=LOCAL), "n": 1000, "delta": 1e-6}),
    (
        shuffled_allowance,
        {"guarantee": Guarantee(1, 1e-6, SUBSTITUTE), "n": 1000},
    ),
    (
        Bins,
        {
            "bounds": (0, 1),
            "epsilon": 1,
            "bins": (16, 4),
            "weights": (2, 1),
            "reading": "mixture",
            "wavelet": "db4",
        },
    ),
    (Wave, {"bounds": (0, 1), "epsilon": 1, "cells": 32, "reading": "ems"}),
    (OneBit, {"bounds": (0, 1), "epsilon": 1, "n": 1000}),
    (
        Dubois,
        {
            "bounds": (0, 1),
            "epsilon": 1,
            "n": 1000,
            "wavelet": "db4",
            "constants": "exact",
            "nu": 1.5,
            "gamma": 1,
            "rule": "hard",
            "cap": True,
        },
    ),
    (protocol, {"bounds": (0, 1), "epsilon": 1, "n": 1000, "method": "auto", "loss": "l2"}),
]

ADAPTIVE: list[Call] = [
    (TranscriptLedger, {"n": 1000, "confidence": 0.95, "error": None, "dependence": None}),
    (Markov, {"eigenvalue": 0.5}),
    (Blocks, {"size": 5}),
    (
        GuardedHoldout,
        {
            "labels": LABELS,
            "loss": "zero-one",
            "scale": None,
            "baseline": None,
            "ledger": None,
            "confidence": None,
            "dependence": None,
            "error": None,
        },
    ),
    (GuardedHoldout(LABELS).score, {"predictions": LABELS, "step": 0.1}),
    (Leaderboard, {"guard": GuardedHoldout(LABELS), "step": 0.1}),
    (
        QueryServer,
        {
            "data": [0, 1] * 5000,
            "universe": 2,
            "guess": "weights",
            "error": 0.1,
            "confidence": None,
            "dependence": None,
            "ledger": None,
            "prior": None,
            "training": None,
            "groups": None,
            "privacy": None,
            "hard": None,
        },
    ),
    (
        Robust,
        {
            "factory": lambda seed: AmsSketch(20, seed),
            "copies": 12,
            "method": "dp-median",
            "sample": 12,
            "epsilon0": 3,
            "steps": 100,
            "error": 0.25,
            "start": 0,
            "window": 12,
            "least": 1,
            "wrong": 0.01,
            "confidence": 0.95,
            "current": None,
        },
    ),
    (plan_copies, {"steps": 10, "wrong": 0.01, "beta": 0.05, "method": "gaussian"}),
    (
        certified_steps,
        {"copies": 60, "sample": 30, "epsilon0": 1, "wrong": 0.01, "beta": 0.05, "cells": 25},
    ),
    (advise, {"task": "distinct", "model": "insertions"}),
    (AmsSketch, {"width": 20, "seed": 1}),
    (RobustF2, {"width": 100, "noise": 0.06, "clip": 20, "error": 0.25, "confidence": 0.95}),
    (
        privacy_to_validity,
        {"told": Guarantee(1, relation=SUBSTITUTE), "n": 1000, "beta": 0.05},
    ),
]


def public(one: object) -> tuple[Any, ...]:
    kind = type(one)
    return attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(kind)


CALLS: dict[str, Call] = {
    getattr(function, "__qualname__", f"{function}"): (function, typed)
    for function, typed in (*GROUND, *LOCALLY, *ADAPTIVE)
}
for specimen in registered():
    if not specimen.name.startswith(MADE_BY_THE_LIBRARY):
        one = specimen.make(Fraction(specimen.epsilon))
        CALLS[specimen.name] = (
            type(one),
            {f.name: getattr(one, f.name) for f in public(one) if f.init},
        )


@pytest.mark.quick_cases(25)
@pytest.mark.parametrize("name", CALLS)
def test_hints_are_obeyed(name):
    function, typed = CALLS[name]
    function(**typed)
    for parameter, wrong in product(typed, WRONG):
        spoiled = {**typed, parameter: wrong}
        if (name, parameter, wrong) == ("GuardedHoldout", "loss", int):
            continue  # a function of the caller's, which fails by itself
        error = refusal(function, spoiled)
        if error is not None:
            said = f"{parameter}={wrong!r}: {error}"
            assert error.must, said
            assert error.hint, said
            assert obeyed(function, spoiled, error), said
            assert typed_as_meant(error), said


def refusal(function: Callable[..., object], typed: dict[str, Any]) -> SourdineError | None:
    try:
        function(**typed)
    except SourdineError as error:
        return error
    return None


def typed_as_meant(error: SourdineError) -> bool:
    """Return whether the literals that a reader sees have the values that were tried."""
    plain = (bool, int, float, str, tuple, list)
    return all(
        (Fraction if isinstance(value, Fraction) else ast.literal_eval)(literal(value)) == value
        for value in error.tries.values()
        if isinstance(value, (*plain, Fraction))
    )


def obeyed(function: Callable[..., object], typed: dict[str, Any], error: SourdineError) -> bool:
    """Return whether the hint helps: all that it says at once, or each of it alone."""
    alone = [{name: value} for name, value in error.tries.items()]
    return not error.tries or any(
        all(helps(function, typed, change, error) for change in changes)
        for changes in ([error.tries], alone)
    )


def helps(
    function: Callable[..., object],
    typed: dict[str, Any],
    change: Mapping[str, object],
    error: SourdineError,
) -> bool:
    changed = {**typed, **change}
    other = refusal(function, {k: v for k, v in changed.items() if v is not LEFT_OUT})
    return other is None or other.name.partition("[")[0] != error.name.partition("[")[0]


def test_a_hint_that_does_not_help_is_found():
    def double(x: int) -> int:
        if x != 2:
            raise ParameterError("x", "be 2", f"{x}", "Use {x}.", x=3)
        return 2 * x

    with pytest.raises(ParameterError) as refused:
        double(1)
    assert not obeyed(double, {"x": 1}, refused.value)


def test_enough_is_provoked():
    """The harness looks at hundreds of parameters."""
    assert sum(len(typed) for _, typed in CALLS.values()) > 200
