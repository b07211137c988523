"""Kill processes in the middle of `confirm`, let writers race, and look for every charge.

A process opens the guard's file and confirms in a loop. It reports where it is: before the turn of
a charge, inside it, at its end, after it, in the second one that keeps the predictions; and every
verdict that it was given. It is killed (SIGKILL) at a random moment. Then the file must open and
add up, every verdict that was given must stand in it, in order, and there may be one charge more
only where the process died in or after the turn. Predictions are kept for
every yes that was given, and never without a charged yes. Writers that race must leave exactly one
line for each verdict.

Usage: python benchmarks/guard.py [--kills 200] [--writers 8] [--confirms 25]. The exit status is 1
on failure.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.store import GUARD
from sourdine.adaptive.ledger.ledger import TranscriptLedger
from sourdine.adaptive.ledger.transaction import kt_bits
from sourdine.storage.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.adaptive.ledger.transaction import Turn

    Row = tuple[str, str, str, bool]

T = TypeVar("T")
N = 500
GOOD, BAD = [1] * N, [0] * N
PLACES = {
    "b": "before its turn",
    "(": "inside its turn",
    "c": "at the end of its turn",
    ")": "after its turn, before the verdict",
}
"""Where in a confirm a process was, by the last word that it reported; else it was between two."""

KEEPING = "in its second turn, which keeps predictions"

MORE = {"(": {0, 1}, "c": {1}, ")": {1}}
"""How many charges there may be beyond the verdicts, by the last place reported."""


def place_of(said: str) -> tuple[str, set[int]]:
    """Return where a process was, and how many charges there may be beyond its verdicts."""
    last = max(said.rfind(word) for word in "ryn")
    if said[last + 1 :].count("(") > 1:
        return KEEPING, {1}
    return PLACES.get(said[-1], "between two"), MORE.get(said[-1], {0})


def watched(say: Callable[[str], None]) -> None:
    """Let every turn of this process report where it is."""
    plain = TranscriptLedger.turn

    def turn(self: TranscriptLedger, work: Callable[[Turn], T]) -> T:
        def said(held: Turn) -> T:
            say("(")
            result = work(held)
            say("c")
            return result

        result = plain(self, said)
        say(")")
        return result

    TranscriptLedger.turn = turn  # type: ignore[method-assign, assignment]


def confirming(path: Path, seed: int, say: Callable[[str], None], times: int) -> None:
    """Confirm what is better and what is not, in random order."""
    chance = random.Random(seed)  # noqa: S311 - what is asked is no secret
    guard = GuardedHoldout.open(path)
    watched(say)
    say("r")
    for _ in range(times):
        pair = (GOOD, BAD) if chance.random() < 0.5 else (BAD, GOOD)
        say("b")
        say("y" if guard.confirm(*pair) else "n")


def forked(work: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """Start a process; return its number and the pipe on which it reports."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            work(lambda word: void(os.write(writing, word.encode())))
        except BaseException as error:  # noqa: BLE001 - a child must never return
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    return process, reading


def void(_: object) -> None:
    """Return nothing."""


def reported(pipe: int) -> str:
    """Return all that a process reported until it ended."""
    said = b""
    while part := os.read(pipe, 1 << 16):
        said += part
    os.close(pipe)
    return said.decode()


def answers_in(path: Path) -> str:
    """Return the verdicts that the file holds; it must open and add up."""
    history = GuardedHoldout.open(path).ledger.history
    yes = [0, *(line.spent.yes for line in history)]
    return "".join("y" if b > a else "n" for a, b in pairwise(yes))


def kept_in(path: Path) -> list[int]:
    """Return which answers confirmed predictions that the file keeps."""
    rows = Journal(path, GUARD).turn(lambda page: page.rows("confirmed"))
    return [row["answer"] for row in rows]


def killed(path: Path, kills: int) -> Iterator[Row]:
    """Kill one process after the other and compare what it was told with what the file holds."""
    chance = random.Random(20_261_115)  # noqa: S311 - when to kill is no secret
    begin = time.perf_counter()
    confirming(path, 0, void, 20)
    longest = 4 * (time.perf_counter() - begin) / 20
    places: Counter[str] = Counter()
    lost = doubled = apart = unpaid = 0
    bar = Progress(transient=True, console=Console(stderr=True))
    task = bar.add_task("killing", total=kills)
    bar.start()
    for seed in count():
        before = answers_in(path)
        process, pipe = forked(lambda say, seed=seed: confirming(path, seed, say, 1 << 30))
        said = os.read(pipe, 1).decode()
        time.sleep(chance.uniform(0, longest))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        said += reported(pipe)
        told = "".join(word for word in said if word in "yn")
        after = answers_in(path)
        more = len(after) - len(before) - len(told)
        place, allowed = place_of(said)
        lost += not after.startswith(before + told) or more < min(allowed)
        doubled += more > max(allowed)
        kept = set(kept_in(path))
        unpaid += not kept <= {i for i, a in enumerate(after, 1) if a == "y"}
        apart += not {i for i, a in enumerate(told, len(before) + 1) if a == "y"} <= kept
        if place == PLACES["c"]:
            place += ", charged" if more else ", not charged"
        places[place] += 1
        if place != "between two":
            bar.advance(task)
        if seed - places["between two"] + 1 >= kills:
            break
    bar.stop()
    yield "verdicts and charges in the file", str(len(after)), "above 0", bool(after)
    yield "kills after which a verdict was lost", str(lost), "0", not lost
    yield "kills after which one was doubled", str(doubled), "0", not doubled
    yield "kills after which a given yes was not kept", str(apart), "0", not apart
    yield "kills after which predictions were kept unpaid", str(unpaid), "0", not unpaid
    for place in sorted(places):
        yield f"kills {place}", str(places[place]), "any", True
    held = sum(places[place] for place in places if "its" in place)
    yield "kills in the middle of a confirm", str(held), str(kills), held == kills


def raced(path: Path, writers: int, confirms: int) -> Iterator[Row]:
    """Let writers confirm at the same time."""
    begin = time.time() + 0.2

    def work(say: Callable[[str], None], seed: int) -> None:
        time.sleep(max(begin - time.time(), 0))
        confirming(path, seed, say, confirms)

    started = [forked(lambda say, seed=seed: work(say, seed)) for seed in range(writers)]
    said = "".join(reported(pipe) for _, pipe in started)
    failed = sum(os.waitpid(process, 0)[1] != 0 for process, _ in started)
    ledger = GuardedHoldout.open(path).ledger
    lines, spent, must = len(ledger.history), ledger.spent, writers * confirms
    yes, no = said.count("y"), said.count("n")
    right = (spent.yes, spent.no, spent.bits) == (yes, no, kt_bits(yes, no))
    yield "writers that failed", str(failed), "0", not failed
    yield "verdicts of all writers", str(yes + no), str(must), yes + no == must
    yield "lines in the file", str(lines), str(must), lines == must
    yield "yes and no counted", f"{spent.yes} + {spent.no}", f"{yes} + {no}", right


def main() -> int:
    """Run, print, and say whether every charge was there."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--kills", type=int, default=200)
    reader.add_argument("--writers", type=int, default=8)
    reader.add_argument("--confirms", type=int, default=25, help="of each writer")
    given = reader.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "killed.guard", Path(folder) / "raced.guard"
        for path in (one, two):
            GuardedHoldout.create(path, [1] * N)
        if given.kills:
            watched_turn = TranscriptLedger.turn
            rows += killed(one, given.kills)
            TranscriptLedger.turn = watched_turn  # type: ignore[method-assign]
        if given.writers:
            rows += raced(two, given.writers, given.confirms)
    title = f"{given.kills} kills, {given.writers} writers"
    table = Table(title=title, title_justify="left")
    for head in ("what", "seen", "must be", ""):
        table.add_column(head, justify="left" if head == "what" else "right")
    for what, figure, must, holds in rows:
        table.add_row(what, figure, must, "[green]holds[/]" if holds else "[bold red]BROKEN[/]")
    Console().print(table)
    return int(not all(holds for *_, holds in rows))


if __name__ == "__main__":
    sys.exit(main())
