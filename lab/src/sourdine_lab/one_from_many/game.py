"""The game of OneFromMany, adaptive and oblivious, for samplers of several sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.adaptive.attacks import generator
from sourdine.errors import ParameterError
from sourdine.results.figures import BLUE, GREY, INK, RED, RULE, canvas, legend
from sourdine_lab.attacks.samplers import delete_what_you_output
from sourdine_lab.one_from_many.lower_bound import deletions, memory_lower_bound
from sourdine_lab.one_from_many.samplers import Bitset, CoordinateSampler, L0Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine_lab.one_from_many.samplers import Sampler

__all__ = ["Contest", "Outcome", "contests", "one_from_many", "plot"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: deletions survived, whether the sampler failed, how many there were."""

    deletions: int
    failed: bool
    of: int

    def __str__(self) -> str:
        if not self.failed:
            return f"survived all {self.of} deletions"
        return f"failed after {self.deletions} of {self.of} deletions"


def one_from_many(
    sampler: Sampler, universe: int, *, rng: np.random.Generator, adaptive: bool = True
) -> Outcome:
    """Put half the universe in, then ask for an element and delete one, :math:`49|X|/100` times.

    *Checked by* ``test_small_samplers_fall_to_an_adaptive_adversary_only``.

    Parameters
    ----------
    sampler
        Empty, and made for this universe.
    universe
        :math:`|X|`, an even number.
    rng
        Chooses the half, and the deletions of an oblivious adversary.
    adaptive
        Delete the element that was named; if False, an element of a list fixed beforehand.

    Examples
    --------
    >>> print(one_from_many(Bitset(1000), 1000, rng=np.random.default_rng(1)))
    survived all 490 deletions
    >>> small = CoordinateSampler(1000, watched=20, seed=1)
    >>> one_from_many(small, 1000, rng=np.random.default_rng(1)).failed
    True
    """
    of = deletions(universe)
    _check_universe(sampler, universe)
    chosen = generator(rng).permutation(universe)[: universe // 2].tolist()
    _fill(sampler, chosen)
    if adaptive:
        attack = delete_what_you_output(sampler, of, set(chosen))
        return Outcome(len(attack.named), attack.failed, of)
    return _oblivious(sampler, chosen, of)


def _check_universe(sampler: Sampler, universe: int) -> None:
    own = getattr(sampler, "universe", universe)
    if own != universe:
        raise ParameterError(
            f"sampler must be made for the universe of the game, {universe}, got one for {own}. "
            f"Type {type(sampler).__name__}({universe}, ...)."
        )


def _fill(sampler: Sampler, chosen: list[int]) -> None:
    if isinstance(sampler, L0Sampler):
        sampler.update_many(chosen, len(chosen) * [1])
        return
    for x in chosen:
        sampler.update(x, 1)


def _oblivious(sampler: Sampler, chosen: list[int], of: int) -> Outcome:
    present = set(chosen)
    for i, gone in enumerate(chosen[:of]):
        if sampler.query() not in present:
            return Outcome(i, failed=True, of=of)
        present.discard(gone)
        sampler.update(gone, -1)
    return Outcome(of, failed=False, of=of)


@dataclass(frozen=True, slots=True)
class Contest:
    """One sampler in both games, several times over."""

    name: str
    words: int
    adaptive: tuple[Outcome, ...]
    oblivious: tuple[Outcome, ...]

    @property
    def survived(self) -> float:
        """The mean number of adaptive deletions survived."""
        return float(np.mean([outcome.deletions for outcome in self.adaptive]))

    @property
    def failures(self) -> int:
        """In how many oblivious games the sampler failed."""
        return sum(outcome.failed for outcome in self.oblivious)


def contests(
    universe: int = 4096, *, rng: np.random.Generator, games: int = 3
) -> tuple[Contest, ...]:
    """Let samplers of several sizes play both games.

    Examples
    --------
    >>> rows = contests(200, rng=np.random.default_rng(1), games=1)
    >>> rows[-1].name, rows[-1].survived
    ('bitset', 98.0)
    """
    sizes = [m for m in (64, 256) if m <= universe]
    makers: dict[str, Callable[[int], Sampler]] = {
        **{f"{m} coordinates": _coordinates(universe, m) for m in sizes},
        **{f"l0, {r} x {c}": _l0(universe, r, c) for r, c in ((2, 8), (4, 16), (4, 64))},
        "bitset": lambda _: Bitset(universe),
    }
    return tuple(_contest(name, make, universe, rng, games) for name, make in makers.items())


def _contest(
    name: str,
    make: Callable[[int], Sampler],
    universe: int,
    rng: np.random.Generator,
    games: int,
) -> Contest:
    def play(*, adaptive: bool) -> tuple[Outcome, ...]:
        seeds = generator(rng).integers(1 << 62, size=games).tolist()
        return tuple(one_from_many(make(s), universe, rng=rng, adaptive=adaptive) for s in seeds)

    return Contest(name, make(0).words, play(adaptive=True), play(adaptive=False))


def _coordinates(universe: int, watched: int) -> Callable[[int], Sampler]:
    return lambda seed: CoordinateSampler(universe, watched, seed)


def _l0(universe: int, rows: int, columns: int) -> Callable[[int], Sampler]:
    return lambda seed: L0Sampler(universe, rows, columns, seed)


def plot(rows: Sequence[Contest], universe: int, *, path: str | None = None) -> Any:
    """Draw the deletions survived against memory, and the memory below which none survives all.

    Parameters
    ----------
    rows
        What `contests` returned.
    universe
        Of which size.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    """
    figure, axes = canvas(7.0, 4.2)
    goal, least = deletions(universe), memory_lower_bound(universe) / 64
    axes.axhline(goal, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
    axes.axvline(least, color=RED, linewidth=1.5, label=f"lower bound, {least:.0f} words")
    for adaptive, colour, label in (
        (False, GREY, "deletions fixed beforehand"),
        (True, BLUE, "what was named is deleted"),
    ):
        played = [row.adaptive if adaptive else row.oblivious for row in rows]
        survived = [np.mean([o.deletions for o in outcomes]) for outcomes in played]
        words = [row.words for row in rows]
        axes.plot(words, survived, "o", color=colour, markersize=8, label=label)
    for row in rows:
        high = row.survived > goal / 3  # beside the line of all deletions, so beneath it
        axes.annotate(
            row.name, (row.words, row.survived), (8, -4) if high else (0, 9),
            textcoords="offset points", ha="left" if high else "center",
            va="top" if high else "bottom", color=INK, fontsize=8,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", ylim=(5, 2.2 * goal))
    axes.set_xlabel("memory, words of 64 bits", color=INK)
    axes.set_ylabel("deletions survived", color=INK)
    axes.grid(color=RULE, linewidth=0.8, which="major")
    axes.margins(x=0.12)
    legend(axes)
    axes.set_title(f"One from many of {universe}", loc="left", color=INK, fontsize=11, pad=22)
    if path is not None:
        figure.savefig(path)
    return figure
