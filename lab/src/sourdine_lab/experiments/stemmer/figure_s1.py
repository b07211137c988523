"""OneFromMany: how long samplers survive an adversary who deletes what they name."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.stemmer.coordinates import least_watched
from sourdine_lab.one_from_many import (
    Bitset,
    CoordinateSampler,
    L0Sampler,
    code_size_bits,
    memory_lower_bound,
    one_from_many,
)
from sourdine_lab.one_from_many.lower_bound import deletions
from sourdine_lab.settings import Kind, Setting, integer, integers, number, numbers, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.one_from_many import Sampler
    from sourdine_lab.table import Table

SAMPLERS = ("coordinates", "l0 sampler", "bitset")


def _sizes(given: Any) -> list[str]:
    """Read sizes such as 4x16: levels, and cells of each."""
    found = [
        "x".join(str(int(part)) for part in str(one).lower().split("x"))
        for one in (given.split(",") if isinstance(given, str) else given)
    ]
    if not found or any(len(_pair(one)) != 2 or min(_pair(one)) < 1 for one in found):
        raise ValueError
    return found


def _pair(size: str) -> list[int]:
    return [int(part) for part in size.split("x")]


def _even() -> Kind:
    """Return the kind of a whole number of 20 or more that halves."""
    one = integer(least=20)

    def read(given: Any) -> int:
        value: int = one.read(given)
        if value % 2:
            raise ValueError
        return value

    return Kind("be an even number of 20 or more", read)


def _evens() -> Kind:
    several, one = integers(least=20), _even()
    return Kind("be even numbers of 20 or more, with commas in between",
                lambda given: [one.read(value) for value in several.read(given)])  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a sampler and size for the games, one a universe for the least memory."""
    universe, games = settings["universe"], settings["games"]
    sizes = [("coordinates", [int(universe * f)]) for f in settings["watched"]]
    sizes += [("l0 sampler", _pair(size)) for size in settings["cells"]]
    sizes += [("bitset", [])]
    played = [
        {"panel": "games", "sampler": sampler, "size": size, "universe": universe, "games": games}
        for sampler, size in sizes
        if sampler in settings["samplers"]
    ]
    least = [{"panel": "least", "universe": n, "games": games} for n in settings["universes"]]
    return [*played, *least]


def compute(part: Part) -> Iterator[Row]:
    """Yield the outcome of both games, or the least memory that wins one game in four."""
    return _games(part) if part["panel"] == "games" else _least(part)


def _games(part: Part) -> Iterator[Row]:
    universe, games, rng = part["universe"], part["games"], part.rng
    for game in ("adaptive", "fixed"):
        survived = [
            one_from_many(sampler, universe, rng=rng, adaptive=game == "adaptive").deletions
            for sampler in (
                _made(part["sampler"], universe, part["size"], int(rng.integers(1 << 62)))
                for _ in range(games)
            )
        ]
        words = _made(part["sampler"], universe, part["size"], 0).words
        yield {"panel": "games", "sampler": part["sampler"], "game": game, "universe": universe,
               "bits": part["word"] * words, "survived": float(np.mean(survived)),
               "deviation": float(np.std(survived)) / games**0.5,
               "won": float(np.mean(np.array(survived) == deletions(universe))),
               "games": games}  # fmt: skip


def _made(name: str, universe: int, size: list[int], seed: int) -> Sampler:
    if name == "coordinates":
        return CoordinateSampler(universe, size[0], seed)
    return L0Sampler(universe, size[0], size[1], seed) if size else Bitset(universe)


def _least(part: Part) -> Iterator[Row]:
    universe, games, rng = part["universe"], part["games"], part.rng
    for game in ("adaptive", "fixed"):
        adaptive = game == "adaptive"
        watched = least_watched(universe, adaptive=adaptive, chance=Fraction(str(part["chance"])))
        won = [
            not one_from_many(
                CoordinateSampler(universe, watched, int(rng.integers(1 << 62))),
                universe, rng=rng, adaptive=adaptive,
            ).failed
            for _ in range(games)
        ]  # fmt: skip
        share = float(np.mean(won))
        yield {"panel": "least", "sampler": "coordinates", "game": game, "universe": universe,
               "bits": 2 * part["word"] * watched, "won": share,
               "deviation": (share * (1 - share) / games) ** 0.5, "games": games,
               "lower": memory_lower_bound(universe), "lecture": _lecture(universe),
               "bitset": universe}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the deletions survived against memory, and the least memory against the universe."""
    figure, (left, right) = look.panels(2, width=12.0, height=4.6, sharey=False)
    _draw_games(left, table.where(panel="games"))
    _draw_least(right, table.where(panel="least"), settings["chance"])
    return figure


def _draw_games(axes: Any, table: Table) -> None:
    universe = int(table["universe"][0])
    goal, least, lecture = deletions(universe), memory_lower_bound(universe), _lecture(universe)
    for name, own in table.by("sampler"):
        one, fixed = own.where(game="adaptive"), own.where(game="fixed")
        axes.errorbar(one["bits"], one["survived"], 2 * one["deviation"], fmt="o-", markersize=5,
                      color=look.colour(name), linewidth=1.4)  # fmt: skip
        axes.plot(fixed["bits"], fixed["survived"], "o", color=look.colour(name), markersize=8,
                  fillstyle="none")  # fmt: skip
        place, side = ((0, 16), "center") if name == "bitset" else ((-9, 9), "right")
        last = -1 if name == "bitset" else -2
        axes.annotate(name, (one["bits"][last], one["survived"][last]), place, va="center", ha=side,
                      textcoords="offset points", color=look.colour(name), fontsize=9)  # fmt: skip
    axes.axvspan(1, least, color=look.colour("bound"), alpha=0.07, linewidth=0)
    axes.axvline(lecture, linestyle=":", color=look.colour("stated"), linewidth=1.3)
    look.logarithmic(axes)
    axes.set_xlim(lecture / 3, table["bits"].max() * 1.5)
    axes.set_ylim(5, 4 * goal)
    for x, text in ((lecture, "lecture: at least |X|/5"), (least, "no sampler below this wins")):
        axes.annotate(text, (x, 6), (-4, 0), textcoords="offset points", rotation=90, ha="right",
                      va="bottom", fontsize=8, color=look.colour("stated"))  # fmt: skip
    look.note(axes, "dots: what was named is deleted\nrings: deletions fixed beforehand", 0.98)
    look.titled(axes, f"Deletions survived, of {goal}; |X| = {universe}",
                x="memory, bits", y="deletions survived")  # fmt: skip


def _lecture(universe: int) -> float:
    """Return the lecture's bound on the bits of memory."""
    return code_size_bits(universe) - 2


def _draw_least(axes: Any, table: Table, chance: float) -> None:
    adaptive, fixed = table.where(game="adaptive"), table.where(game="fixed")
    n = adaptive["universe"]
    look.band(axes, n, adaptive["bits"], method="coordinates", label="coordinates, adaptive")
    look.band(axes, n, fixed["bits"], method="coordinates", label="coordinates, fixed", dashed=True)
    look.band(axes, n, adaptive["bitset"], method="bitset", label="bitset: |X| bits")
    look.band(axes, n, adaptive["lower"], method="bound", label="lower bound, 0.86 |X|")
    look.stated(axes, n, adaptive["lecture"], "lecture: at least |X|/5")
    look.logarithmic(axes)
    axes.set_xlim(n.min(), n.max())
    look.name_lines(axes)
    often = "one game in four" if chance == 0.25 else f"{chance:.0%} of the games"
    look.titled(axes, f"Least memory that wins {often}",
                x="size of the universe, |X|", y="memory, bits")  # fmt: skip


EXPERIMENT = Experiment(
    name="stemmer-s1",
    ids=("S1",),
    title="OneFromMany against whoever deletes what is named",
    question="How much memory does it take to name an element of a set that others change?",
    stated="memory linear in |X|, at least log2(|B|/4) bits with |B| >= 2^(|X|/5)/sqrt(2|X|)",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("universe", 4096, _even(), "size of the universe of the games", quick=1024,
                split=True),
        Setting("watched", [1 / 128, 1 / 32, 1 / 8, 1 / 2, 1], numbers(above=0, most=1),
                "shares of the universe that the sampler of coordinates watches",
                quick=[1 / 64, 1 / 16, 1 / 4, 1], split=True),
        Setting("cells", ["2x8", "4x16", "4x64", "4x256"],
                Kind("be sizes such as 4x16, with commas in between", _sizes),
                "levels and cells of the l0 sampler", quick=["2x8", "4x16", "4x64"], split=True),
        Setting("samplers", list(SAMPLERS), words(*SAMPLERS), "the samplers of the games",
                split=True),
        Setting("universes", [128, 256, 512, 1024, 2048, 4096], _evens(),
                "sizes of the universe for the least memory", quick=[128, 256, 512, 1024],
                split=True),
        Setting("games", 10, integer(least=2), "games for each sampler", quick=6, split=True),
        Setting("chance", 0.25, number(above=0, below=1),
                "share of the games that the least memory wins"),
        Setting("word", 64, integer(least=1), "bits of a word of memory"),
    ),
)  # fmt: skip
