"""The choices that `sourdine.adaptive.robust.advise` compares, with their memory and standing.

A standing is *proved* (a theorem), *survived attacks* (those of `sourdine.adaptive.attacks`, and no
theorem), or *broken* (one of them succeeds).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import TYPE_CHECKING

from sourdine.adaptive.robust import sizes
from sourdine.adaptive.robust.planning import copies_needed
from sourdine.errors import ParameterError
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BROKEN", "CHOICES", "PROVED", "SURVIVED", "Candidate", "Need"]

PROVED, SURVIVED, BROKEN = "proved", "survived attacks", "broken"
WRONG = 0.01
WINDOW = 12
"""Cells to each side of a window, as `Robust` has them."""

STEADY = 2
"""Looks for each answer where the value only grows: few of its answers need a third one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The numbers that a memory is computed for."""

    steps: int
    universe: int
    error: float
    beta: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One algorithm: its memory in bytes, its standing, and why."""

    name: str
    memory: int
    standing: str
    note: str

    @property
    def proved(self) -> bool:
        """Whether there is a theorem."""
        return self.standing == PROVED


def _table(need: Need, note: str = "no randomness, nothing to find out") -> Candidate:
    return Candidate("exact table", sizes.table_bytes(need.universe), PROVED, note)


def _looks(largest: float, factor: float) -> int:
    """Return the looks of an answer whose value may have leapt from one end to the other."""
    return 2 + ceil(log(largest) / log(factor))


def _median(
    need: Need, one: Callable[[float, float], int], what: str, leap: float = 1
) -> Candidate:
    """Return the private median with as many copies as its proof needs."""
    looks = max(STEADY, _looks(leap, (1 + need.error / 4) ** WINDOW))
    copies = copies_needed(looks * need.steps, wrong=WRONG, beta=need.beta, method="exponential")
    memory = copies * one(0.75 * need.error, WRONG)
    note = f"Robust, dp-median: {shown(copies, 1)} copies, {looks} looks for each answer"
    return Candidate(f"private median of {what}", memory, PROVED, note)


def _survived(need: Need, answers: int, choice: Candidate) -> list[Candidate]:
    """Return a choice that was attacked for ``answers`` answers, where those are enough."""
    return [choice] if need.steps <= answers else []


def _distinct_insertions(need: Need) -> list[Candidate]:
    one = sizes.hll_bytes(need.error, need.beta / need.steps)
    return [
        Candidate("bitset", sizes.bitset_bytes(need.universe), PROVED, "exact"),
        Candidate(
            "keyed HyperLogLog",
            one,
            PROVED,
            "repeated items change nothing, new ones hash afresh: Keyed, with a secret key",
        ),
        Candidate("HyperLogLog", one, BROKEN, "known hash: 320 000 chosen items read as 20 138"),
    ]


def _distinct_subsets(need: Need) -> list[Candidate]:
    one = sizes.hll_bytes(need.error, need.beta / need.steps)
    few = 32 * sizes.hll_bytes(0.75 * need.error, WRONG)
    note = "Robust, epsilon0=1.5: 2048 subset queries"
    return [
        Candidate("bitset", sizes.bitset_bytes(need.universe), PROVED, "exact"),
        _median(need, sizes.hll_bytes, "salted HyperLogLogs", need.universe),
        *_survived(need, 2048, Candidate("32 salted HyperLogLogs", few, SURVIVED, note)),
        Candidate(
            "keyed HyperLogLog", one, BROKEN, "8192 subset queries: 0.41 to 2.16 of the truth"
        ),
    ]


def _distinct_turnstile(need: Need) -> list[Candidate]:
    return [_table(need, "HyperLogLog cannot delete; nothing smaller is promised here")]


def _heavy_insertions(need: Need) -> list[Candidate]:
    counters = sizes.misra_gries_bytes(need.error)
    return [
        _table(need),
        Candidate("Misra-Gries", counters, PROVED, "deterministic; Space-Saving likewise"),
        Candidate("CountSketch", 8 * counters, BROKEN, "as many adaptive queries as counters"),
    ]


def _heavy_turnstile(need: Need) -> list[Candidate]:
    counters = sizes.misra_gries_bytes(need.error)
    return [
        _table(need, "nothing smaller is promised here"),
        Candidate("CountSketch", 8 * counters, BROKEN, "as many adaptive queries as counters"),
    ]


def _quantiles_insertions(need: Need) -> list[Candidate]:
    gk = sizes.gk_bytes(need.error, need.steps)
    sample = sizes.reservoir_bytes(need.error, need.beta / need.steps, need.universe)
    return [
        _table(need),
        Candidate("Greenwald-Khanna", gk, PROVED, "deterministic"),
        Candidate("reservoir sample", sample, PROVED, "even if the sample is in sight"),
    ]


def _quantiles_turnstile(need: Need) -> list[Candidate]:
    return [_table(need, "nothing smaller is promised here")]


def _f2_insertions(need: Need) -> list[Candidate]:
    largest = max(need.steps, need.universe)
    flips = sizes.flips_needed(float(largest) ** 2, need.error)
    one = sizes.ams_bytes(need.error / 5, need.beta / (flips * need.steps))
    return [
        *_f2_sketches(need),
        _f2_plain(need, 12, "insertions, six for each row"),
        Candidate(
            "switching",
            flips * one,
            PROVED,
            f"Robust, switching: {shown(flips, 1)} copies, F2 only grows",
        ),
    ]


def _noisy_rows(need: Need, leap: float) -> list[Candidate]:
    """Return `RobustF2` with as many rows as its proof needs, where it has one."""
    from sourdine.adaptive.sketches.f2_steps import width_to_prove  # noqa: PLC0415 - it imports us

    alpha = min(need.error, 0.25)
    looks = max(STEADY, _looks(leap, 4))
    try:
        rows = width_to_prove(looks * need.steps, noise=0.052 * alpha, error=alpha, beta=need.beta)
    except ParameterError:
        return []
    note = f"RobustF2({shown(rows, 1)}, noise={0.052 * alpha:.3g}), {looks} looks for each answer"
    return [Candidate("RobustF2, many rows", 8 * rows, PROVED, note)]


def _f2_survived(need: Need) -> list[Candidate]:
    """Return what was attacked at an error of 0.25, where that is enough."""
    from sourdine.adaptive.sketches.f2_steps import survived_answers  # noqa: PLC0415 - it imports us

    if need.error < 0.25:
        return []
    answers = survived_answers(width=20_000, noise=0.06, error=0.25)
    noisy = f"RobustF2(), noisy rows: {shown(answers, 1)} answers"
    copies = "Robust, sample=25, epsilon0=2: 30 000 probes"
    return [
        *_survived(need, answers, Candidate("RobustF2", 8 * 20_000, SURVIVED, noisy)),
        *_survived(need, 30_000, Candidate("200 AMS of 200 rows", 8 * 40_000, SURVIVED, copies)),
    ]


def _f2_plain(need: Need, halves: int, updates: str) -> Candidate:
    """Return a sketch as it is, and what breaks it: ``halves`` / 2 updates for each row."""
    memory = sizes.ams_bytes(need.error, need.beta)
    note = f"{shown(halves * memory // 16, 1)} {updates}: 0.4 of the truth"
    return Candidate("plain AMS", memory, BROKEN, note)


def _f2_sketches(need: Need, leap: float = 1) -> list[Candidate]:
    return [
        _table(need),
        *_noisy_rows(need, leap),
        _median(need, sizes.ams_bytes, "AMS sketches", leap),
        *_f2_survived(need),
    ]


def _f2_turnstile(need: Need) -> list[Candidate]:
    every = sizes.ams_bytes(need.error / 4, need.beta / need.steps**2)
    copies = shown(need.steps, 1)
    leap = float(max(need.steps, need.universe)) ** 2
    return [
        *_f2_sketches(need, leap),
        _f2_plain(need, 1, "probes, half as many as rows"),
        Candidate("switching", need.steps * every, PROVED, f"Robust, switching: {copies} copies"),
    ]


def _lipschitz(need: Need) -> list[Candidate]:
    whole = sizes.table_bytes(need.universe)
    return [
        Candidate("lazy exact", whole, PROVED, "Lazy: deterministic, and recomputes least"),
        *_survived(
            need,
            80,
            Candidate("private median of 24 samples", 6 * whole, SURVIVED, "and slower than exact"),
        ),
    ]


def _any_insertions(need: Need) -> list[Candidate]:
    return [
        Candidate("the first item", 8, PROVED, "it is never deleted"),
        Candidate("bitset", sizes.bitset_bytes(need.universe), PROVED, "all of them"),
    ]


def _any_turnstile(need: Need) -> list[Candidate]:
    return [
        Candidate(
            "bitset",
            sizes.bitset_bytes(need.universe),
            PROVED,
            "linear memory is necessary: 0.85 bits for each item there can be",
        ),
        Candidate("l0-sampler 2 x 8", 8 * 624, BROKEN, "delete what it names: 23 times do"),
    ]


CHOICES: dict[tuple[str, str], Callable[[Need], list[Candidate]]] = {
    ("distinct", "insertions"): _distinct_insertions,
    ("distinct", "subset"): _distinct_subsets,
    ("distinct", "turnstile"): _distinct_turnstile,
    ("heavy hitters", "insertions"): _heavy_insertions,
    ("heavy hitters", "turnstile"): _heavy_turnstile,
    ("quantiles", "insertions"): _quantiles_insertions,
    ("quantiles", "turnstile"): _quantiles_turnstile,
    ("f2", "insertions"): _f2_insertions,
    ("f2", "turnstile"): _f2_turnstile,
    ("lipschitz", "insertions"): _lipschitz,
    ("lipschitz", "turnstile"): _lipschitz,
    ("any element", "insertions"): _any_insertions,
    ("any element", "turnstile"): _any_turnstile,
}
"""For each task and model, its choices."""
