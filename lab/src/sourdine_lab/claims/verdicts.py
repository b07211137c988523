"""All claims, found by looking into the folder; their verdicts, and those recorded before."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from concurrent.futures import as_completed
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, TypeAlias

import sourdine
import sourdine_lab
from sourdine.errors import ParameterError
from sourdine_lab import claims, concordance
from sourdine_lab.claims.claim import Finding, Verdict
from sourdine_lab.runner import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine_lab.claims.claim import Claim, Judged

__all__ = ["ROWS", "all_claims", "chosen", "counted", "judge", "record", "recorded", "troubles"]

ROWS = tuple(
    f"{letter}{number}"
    for letter, last in (("C", 12), ("A", 17), ("L", 8), ("W", 4), ("S", 9))
    for number in range(1, last + 1)
)
"""Every row of the five documents: Canesse, Audibert, Couchot, Dubois et al., Stemmer."""
Found: TypeAlias = tuple[Finding, Finding, bool]
"""What was found of the printed form and of the other, and whether it was found twice."""
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
    """Return the claims that words name; all of them for no words.

    A word is a row (``C5``), one claim (``C5b``), or anything that the concordance knows: a
    document, a section, a theorem, a figure, an algorithm.

    Raises
    ------
    ParameterError
        Nothing is called so, or nothing that is called so has a claim.
    """
    wanted: set[str] = set()
    for word in words:
        rows = {
            row for row, claim in all_claims().items() if word.upper() in {row.upper(), claim.row}
        }
        if not rows:
            rows = {row for entry in concordance.found(word) for row in entry.claims}
        if not rows:
            raise ParameterError(
                f"nothing that is called {word!r} has a claim. Run sourdine lab where {word!r}."
            )
        wanted |= rows
    return [claim for row, claim in all_claims().items() if not wanted or row in wanted]


def judge(
    these: Iterable[Claim[Any]],
    done: Callable[[Judged], None] = lambda _: None,
    *,
    workers: int | None = None,
    quick: bool = False,
    folder: Path | None = None,
) -> list[Judged]:
    """Return the claims with their verdicts, computed on all cores.

    Parameters
    ----------
    these
        The claims.
    done
        Called with each claim as it is judged.
    workers
        The number of processes. Defaults to one per core.
    quick
        Run each check once on either form. Otherwise once more with the forms exchanged, to see
        that it looks at its form and at nothing else.
    folder
        Where findings are kept. One is reused as long as no code has changed.
    """
    claims = list(these)
    found: dict[str, Judged] = {}

    def judged(claim: Claim[Any], finding: Found) -> None:
        printed, instead, steady = finding
        found[claim.id] = one = claim.judged(printed, instead, steady=steady)
        done(one)

    kept = _Kept(folder, quick=quick)
    for claim in claims:
        if (finding := kept.get(claim.id)) is not None:
            judged(claim, finding)
    with pool(workers) as processes:
        waiting = {
            processes.submit(_find, claim.id, twice=not quick): claim
            for claim in claims
            if claim.id not in found
        }
        for future in as_completed(waiting):
            claim, finding = waiting[future], future.result()
            kept.put(claim.id, finding)
            judged(claim, finding)
    return [found[claim.id] for claim in claims]


class _Kept:
    """Findings in a folder, each under a name that changes with the code of lab and library."""

    def __init__(self, folder: Path | None, *, quick: bool) -> None:
        self._folder, self._quick = folder, quick

    def get(self, row: str) -> Found | None:
        path = self._path(row)
        if path is None or not path.exists():
            return None
        facts = json.loads(path.read_text("utf-8"))
        return Finding(**facts["printed"]), Finding(**facts["instead"]), facts["steady"]

    def put(self, row: str, finding: Found) -> None:
        path = self._path(row)
        if path is None:
            return
        printed, instead, steady = finding
        facts = {"printed": asdict(printed), "instead": asdict(instead), "steady": steady}
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(facts, default=_plain), "utf-8")
        fresh.replace(path)

    def _path(self, row: str) -> Path | None:
        if self._folder is None:
            return None
        known = [row, self._quick, _code(), os.environ.get("SOURDINE_DATA")]
        name = blake2b(json.dumps(known).encode(), digest_size=8).hexdigest()
        return self._folder / f"{row}-{name}.json"


def _plain(value: Any) -> Any:
    return value.item()  # of NumPy


@cache
def _code() -> str:
    """Return a digest of all code of the lab and of the library."""
    digest = blake2b(digest_size=16)
    for package in (sourdine, sourdine_lab):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def counted(judged: Iterable[Judged]) -> str:
    """Return how many claims there are, and how many of each verdict.

    Examples
    --------
    >>> counted([])
    '0 claims'
    """
    counts = Counter(one.verdict for one in judged)
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict])
    total = sum(counts.values())
    return f"{total} {'claim' if total == 1 else 'claims'}" + (f": {said}" if said else "")


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


def _find(row: str, *, twice: bool) -> Found:
    judged = all_claims()[row].judge(twice=twice)
    return judged.printed, judged.instead, judged.steady


def _place(row: str) -> tuple[int, int, str]:
    letter, number, more = re.fullmatch(r"([CALWS])(\d+)([a-z]?)", row).groups()  # type: ignore[union-attr]
    return "CALWS".index(letter), int(number), more
