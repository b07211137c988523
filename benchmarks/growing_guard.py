"""Whether a guard whose rows grow covers analysts who overfit, and who ask for rows when it suits.

Labels are fair coins, so that the truth of every list of predictions is 1/2. Five analysts ask a
guard and decide from its answers *when* rows are added, and how many:

* *climber*: flips a few predictions, keeps what is confirmed; more rows after a run of no.
* *voter*: scores random lists, lets the good ones vote; more rows where the vote disappoints.
* *gambler*: asks for one score again and again; more rows until it looks far from the truth.
* *hoarder*: asks nothing but scores of what won before, and grows by as many rows as it was lucky.
* *team*: climbs a leaderboard; more rows after submissions that do not lead.

A run *misses* if any interval that was given, the final one included, does not hold 1/2, or if a
certified confirmation was given at all: no list is better than another. Beside it, the same
answers with the interval of a single question fixed beforehand (Hoeffding's, at the number of rows
of the answer), which shows that the attacks are real.

Usage: python benchmarks/growing_guard.py [--runs 200] [--seed 1], so many runs of each analyst. The
exit status is 1 if the guard misses in more than 5% of the runs of any, or if the climber does not
mislead the plain intervals.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.answers import AdaptiveAnswer

    Coins = NDArray[np.int64]

BETA = 0.05
FIRST, MOST = 200, 2000
"""The rows at first, and the most there may be."""
VISIBLE = 0.9
"""Of the climber's runs, so many must mislead plain intervals."""


@dataclass
class Season:
    """One analyst's time with one guard, and what was said that is not true."""

    rng: np.random.Generator
    missed: bool = False
    plain_missed: bool = False
    growths: int = 0
    guard: GuardedHoldout = field(init=False)

    def __post_init__(self) -> None:
        self.guard = GuardedHoldout(self.coins(FIRST), baseline=self.coins(FIRST))

    def coins(self, n: int) -> Coins:
        """Return fair coins."""
        return self.rng.integers(0, 2, n)

    def more(self, rows: int, held: Coins) -> Coins:
        """Add rows if there may be more; return a list that goes on over them."""
        rows = min(rows, MOST - self.guard.n)
        if rows < 1:
            return held
        told = self.coins(rows)
        self.guard.extend(self.coins(rows), confirmed=told if self.guard.confirmed else None)
        self.growths += 1
        return np.concatenate([held, told])

    def checked(self, answer: AdaptiveAnswer | None, step: float = 0.0) -> float:
        """Return a score, after comparing its intervals with the truth."""
        if answer is None:
            return 0.0
        self.missed |= not answer.lower <= 0.5 <= answer.upper
        plain = sqrt(log(2 / BETA) / (2 * self.guard.n)) + step
        self.plain_missed |= abs(answer.value - 0.5) > plain
        return answer.value

    def score(self, predictions: Coins, step: float = 0.01) -> float:
        """Ask for a score."""
        return self.checked(self.guard.score(predictions, step=step), step)

    def better(self, new: Coins, old: Coins | None = None, *, certified: bool = False) -> bool:
        """Ask whether new predictions are better."""
        verdict = bool(self.guard.confirm(new, old, margin=0, certified=certified))
        self.missed |= verdict and certified
        return verdict


def climber(season: Season) -> None:
    """Flip a few predictions; keep what is confirmed; ask for rows after five times no."""
    held, failures = season.coins(FIRST), 0
    season.better(held)
    held = np.array(season.guard.confirmed)
    for turn in range(300):
        new = held ^ (season.rng.random(len(held)) < 0.03)
        yes = season.better(new, certified=turn % 10 == 9)
        held, failures = (new, 0) if yes else (held, failures + 1)
        if failures == 5:
            held, failures = season.more(int(season.rng.integers(1, 60)), held), 0
        if turn % 50 == 49:
            season.score(held)


def voter(season: Season) -> None:
    """Score random lists and let the good ones vote; ask for rows where the vote disappoints."""
    lists: list[tuple[float, Coins]] = []
    best = 0.0
    for turn in range(60):
        one = season.coins(season.guard.n)
        lists.append((season.score(one, 0.02) - 0.5, one))
        if turn % 10 == 9:
            n = season.guard.n
            votes = sum(gain * (2 * _long(old, n, season) - 1) for gain, old in lists)
            vote = (np.asarray(votes) > 0).astype(np.int64)
            value = season.score(vote)
            if value <= best:
                season.more(200, vote)
            best = max(best, value)


def gambler(season: Season) -> None:
    """Ask for one score until it looks far from the truth; ask for rows until it does."""
    held = season.coins(FIRST)
    for _ in range(40):
        value = season.score(held)
        if abs(value - 0.5) > 2.5 / sqrt(4 * len(held)):
            return
        held = season.more(int(season.rng.integers(1, 80)), held)


def hoarder(season: Season) -> None:
    """Score changes of the best list so far; take as many rows as it was lucky."""
    held = season.coins(FIRST)
    best = season.score(held)
    for _ in range(60):
        new = held ^ (season.rng.random(len(held)) < 0.1)
        value = season.score(new)
        if value > best:
            held = season.more(int(1000 * (value - best)), new)
            best = value


def team(season: Season) -> None:
    """Climb a leaderboard; ask for rows after ten submissions that do not lead."""
    board = Leaderboard(season.guard)
    held, failures = season.coins(FIRST), 0
    for _ in range(150):
        new = held ^ (season.rng.random(len(held)) < 0.1)
        standing = board.submit("team", new)
        season.checked(standing.score, float(board.step))
        held, failures = (new, 0) if standing else (held, failures + 1)
        if failures == 10:
            held, failures = season.more(100, held), 0


def _long(coins: Coins, n: int, season: Season) -> Coins:
    """Return a list that goes on at random over rows that were added since."""
    return np.concatenate([coins, season.coins(n - len(coins))])


ANALYSTS: tuple[Callable[[Season], None], ...] = (climber, voter, gambler, hoarder, team)


def played(analyst: Callable[[Season], None], seed: int) -> Season:
    """Return one season of an analyst, to the final answer."""
    season = Season(np.random.default_rng([seed, ANALYSTS.index(analyst)]))
    analyst(season)
    season.checked(season.guard.final(season.guard.confirmed or season.coins(season.guard.n)))
    return season


def main() -> int:
    """Run, print, and say whether the intervals held."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--runs", type=int, default=200, help="of each analyst")
    reader.add_argument("--seed", type=int, default=1)
    given = reader.parse_args()
    table = Table(title=f"{given.runs} runs each, {FIRST} rows at first", title_justify="left")
    for head in ("analyst", "grew", "rows at the end", "guard misses", "plain misses", ""):
        table.add_column(head, justify="left" if head == "analyst" else "right")
    right = True
    for analyst in ANALYSTS:
        seeds = range(given.seed, given.seed + given.runs)
        name = analyst.__name__
        hidden = Console(stderr=True)
        seasons = [
            played(analyst, seed) for seed in track(seeds, name, console=hidden, transient=True)
        ]
        missed, plain = (
            np.mean([getattr(s, what) for s in seasons]) for what in ("missed", "plain_missed")
        )
        holds = bool(missed <= BETA and (analyst is not climber or plain >= VISIBLE))
        grew, rows = (
            np.mean([get(s) for s in seasons]) for get in (lambda s: s.growths, lambda s: s.guard.n)
        )
        said = "[green]holds[/]" if holds else "[bold red]BROKEN[/]"
        table.add_row(name, f"{grew:.1f}", f"{rows:.0f}", f"{missed:.1%}", f"{plain:.1%}", said)
        right &= holds
    Console().print(table)
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
