"""The guard of the demo: who of some people in the public wages earns more than so much."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from sourdine.data import wages
from sourdine.server.holdouts import RegisteringGuard, registered_guard

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from sourdine.server.store import ServerStore

__all__ = ["add_demo_guard"]

ROWS, MORE_THAN, ERROR, SUBMISSIONS = 4000, 30_000, "0.06", 50


def add_demo_guard(store: ServerStore, folder: Path, teams: Iterable[str]) -> None:
    """Put labels of the public wages under guard, which lie in a folder; let teams submit."""
    drawn = random.Random(1).sample(wages().tolist(), ROWS)  # noqa: S311 - the wages are public
    path = folder / "labels.csv"
    rows = "".join(f"{int(wage > MORE_THAN)}\n" for wage in drawn)
    path.write_text(f"more\n{rows}", "utf-8")
    said = RegisteringGuard(
        name=f"over-{MORE_THAN}",
        source=str(path),
        error=ERROR,
        text=f"Does somebody earn more than $ {MORE_THAN} a year? 1 for yes, 0 for no. Begin with "
        "a baseline: the same in every row.",
    )
    guard = store.guards.add(*registered_guard(said))
    for team in teams:
        store.guards.give(guard.name, team, SUBMISSIONS)
