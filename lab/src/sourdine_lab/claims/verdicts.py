"""All claims, found by looking into the folder; their verdicts, and those recorded before."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine_lab import claims
from sourdine_lab.claims.claim import Verdict
from sourdine_lab.runner import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine_lab.claims.claim import Claim, Finding, Judged

__all__ = ["ROWS", "all_claims", "chosen", "judge", "record", "recorded", "troubles"]

ROWS = tuple(
    f"{letter}{number}"
    for letter, last in (("C", 12), ("A", 17), ("L", 8), ("W", 4), ("S", 9))
    for number in range(1, last + 1)
)
"""Every row of the five documents: Canesse, Audibert, Couchot, Dubois et al., Stemmer."""
RECORDED = Path(__file__).with_name("recorded.json")


@cache
def all_claims() -> dict[str, Claim[Any]]:
    """Return every claim by its row, in the order of the documents.

    A row may hold several: ``C3``, ``C3b``, ``C3c``.
    """
    found: dict[str, Claim[Any]] = {}
    for module in walk_packages(claims.__path__, f"{claims.__name__}."):
        for claim in getattr(import_module(module.name), "CLAIMS", ()):
            if claim.id in found:
                raise ParameterError(f"a claim's row must be its own, got {claim.id} twice.")
            found[claim.id] = claim
    return dict(sorted(found.items(), key=lambda item: _place(item[0])))


def chosen(words: Iterable[str]) -> list[Claim[Any]]:
    """Return the claims of some rows; all of them for no words."""
    wanted = [word.upper() for word in words]
    known = all_claims()
    for word in wanted:
        if word not in ROWS:
            raise ParameterError(
                f"a row must be one of C1 to C12, A1 to A17, L1 to L8, W1 to W4, S1 to S9, "
                f"got {word}. Run sourdine lab claims C5."
            )
    return [c for c in known.values() if not wanted or c.row in wanted]


def judge(
    these: Iterable[Claim[Any]],
    done: Callable[[Claim[Any]], None] = lambda _: None,
    *,
    workers: int | None = None,
) -> list[Judged]:
    """Return the claims with their verdicts, computed on all cores."""
    with pool(workers) as processes:
        waiting = [(claim, processes.submit(_find, claim.id)) for claim in these]
        judged = []
        for claim, future in waiting:
            printed, instead, steady = future.result()
            judged.append(claim.judged(printed, instead, steady=steady))
            done(claim)
    return judged


def recorded() -> dict[str, str]:
    """Return the verdicts that were recorded, by row."""
    return dict(json.loads(RECORDED.read_text("utf-8")))


def record(judged: Iterable[Judged]) -> None:
    """Record these verdicts beside those of other rows; rows that are no more are dropped."""
    fresh = {one.claim.id: one.verdict.value for one in judged}
    kept = {row: verdict for row, verdict in recorded().items() if row in all_claims()}
    verdicts = dict(sorted((kept | fresh).items(), key=lambda item: _place(item[0])))
    RECORDED.write_text(json.dumps(verdicts, indent=1) + "\n", "utf-8")


def troubles(judged: Iterable[Judged]) -> list[str]:
    """Return what is wrong.

    A verdict unlike the recorded one, none at all, one that stays when the two forms are exchanged,
    or one that was recorded of a claim that is no more.
    """
    before = recorded()
    found = [f"{row}: recorded, but claimed no more" for row in before if row not in all_claims()]
    for one in judged:
        row, verdict = one.claim.id, one.verdict.value
        if verdict != before.get(row):
            found.append(f"{row}: {verdict} now, recorded as {before.get(row, 'nothing')}")
        if one.verdict is Verdict.UNDECIDED:
            found.append(f"{row}: undecided is no verdict")
        if not one.minds_swapping:
            found.append(f"{row}: the verdict stays when the two forms are swapped")
    return found


def _find(row: str) -> tuple[Finding, Finding, bool]:
    judged = all_claims()[row].judge(twice=True)
    return judged.printed, judged.instead, judged.steady


def _place(row: str) -> tuple[int, int, str]:
    letter, number, more = re.fullmatch(r"([CALWS])(\d+)([a-z]?)", row).groups()  # type: ignore[union-attr]
    return "CALWS".index(letter), int(number), more
