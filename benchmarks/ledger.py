"""Kill processes in the middle of Session calls, let writers race, and look for every charge.

Each process asks for counts in a loop and says so after each answer; it is killed (SIGKILL) at a
random moment while others write to the same ledger. Its column names it in the ledger. Then:

* every answer has a charge, and a killed process has at most one charge more than answers;
* the writers that are left spend exactly what remains of the total;
* eight writers that open a new ledger at the same moment are answered as often as fits.

Usage: python benchmarks/ledger.py [--kills 200] [--fits 3000] [--delta 1e-6] [--store ADDRESS].
With delta, prices at a Rényi order are charged, and about as many fit. The ledgers are files, or
stand in a server's store that is there. The exit status is 1 on failure.
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
from dataclasses import dataclass
from fractions import Fraction

from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourdine.central import Count
from sourdine.errors import BudgetExceededError
from sourdine.session import Session
from sourdine.session.ledger import opened_ledger
from sourdine.storage.database import SharedDatabase, is_address

WRITERS = 8
ALIVE = 4
LONGEST, LONGEST_CONNECTED = 0.3, 1.5
"""Seconds until a process is killed, at most: with a file, and with a store."""


@dataclass(frozen=True, slots=True)
class Load:
    """A total of 1, with or without delta, and counts of which so many fit into it."""

    fits: int
    each: Fraction
    delta: str

    @classmethod
    def of(cls, fits: int, delta: str) -> Load:
        """Return counts of which that many fit, or a few more."""
        decides = Session([1], epsilon=1, delta=delta).terms.filter
        if decides is None:
            return cls(fits, Fraction(1, fits), delta)
        for k in range(1, fits + 1):  # pragma: no branch
            room = decides.allowance // decides.price_of(Count(epsilon=Fraction(1, k)).parts)
            if max(room, k) >= fits:
                return cls(max(room, k), Fraction(1, k), delta)
        raise AssertionError(fits)


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that asks until it is refused or killed."""

    column: str
    process: int
    pipe: int

    @classmethod
    def start(cls, column: str, ledger: str, load: Load, at: float = 0) -> Writer:
        """Fork it; it begins at the time ``at``."""
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            try:
                _ask(column, ledger, load, at, writing)
            except BaseException as error:  # noqa: BLE001 - a child must never return
                os.write(2, f"{column}: {error!r}\n".encode())
                os._exit(1)
            os._exit(0)
        os.close(writing)
        return cls(column, process, reading)

    def end(self, *, kill: bool) -> tuple[int, bool]:
        """Return how many answers it had, and whether it ended well (or by our hand)."""
        if kill:
            os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        os.set_blocking(self.pipe, False)
        answers = b""
        try:
            while part := os.read(self.pipe, 1 << 16):
                answers += part
        except BlockingIOError:
            pass  # a later child still holds the other end
        os.close(self.pipe)
        return len(answers), status in (0, signal.SIGKILL)


def _ask(column: str, ledger: str, load: Load, at: float, pipe: int) -> None:
    time.sleep(max(at - time.time(), 0))
    session = Session({column: [1, 2, 3]}, epsilon=1, delta=load.delta, ledger=ledger)
    while True:
        try:
            session.count(column=column, epsilon=load.each)
        except BudgetExceededError:
            return
        os.write(pipe, b".")


@dataclass(slots=True)
class Tally:
    """What was seen."""

    answers: Counter[str]
    between: int = 0
    ended: bool = True

    def add(self, writer: Writer, *, kill: bool) -> None:
        """End a writer and keep what it had."""
        answers, well = writer.end(kill=kill)
        self.answers[writer.column] += answers
        self.ended &= well


def killed(kills: int, load: Load, ledger: str, seen: Tally) -> None:
    """Kill processes at random moments, a few of them being alive at any time."""
    longest = LONGEST_CONNECTED if is_address(ledger) else LONGEST
    chance = random.Random(20_261_115)  # noqa: S311 - when to kill is no secret
    alive: list[Writer] = []
    for i in track(range(kills), "killing", transient=True, console=Console(stderr=True)):
        while len(alive) < ALIVE:
            alive.append(Writer.start(f"w{i}-{len(alive)}", ledger, load))
        time.sleep(chance.uniform(0, longest) / ALIVE)
        seen.add(alive.pop(chance.randrange(len(alive))), kill=True)
    for writer in alive:
        seen.add(writer, kill=True)


def raced(names: str, load: Load, ledger: str, seen: Tally) -> None:
    """Let eight writers begin at the same moment and go on until they are refused."""
    begin = time.time() + 0.2
    writers = [Writer.start(f"{names}{i}", ledger, load, begin) for i in range(WRITERS)]
    for writer in writers:
        seen.add(writer, kill=False)


def main() -> int:
    """Run, print, and say whether every charge was there."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--kills", type=int, default=200)
    reader.add_argument("--fits", type=int, default=3000, help="how many answers the total allows")
    reader.add_argument("--delta", default="0", help="the delta of the total")
    reader.add_argument("--store", help="the address of a server's store, such as sqlite:///a.db")
    given = reader.parse_args()
    all_of_it, eighth = (Load.of(fits, given.delta) for fits in (given.fits, given.fits // 8))
    if given.store:
        SharedDatabase(given.store).close()  # what it needs is loaded before processes are forked
    with tempfile.TemporaryDirectory() as folder:
        names = ("killed", "raced")
        one, two = (
            f"{given.store}#{name}" if given.store else f"{folder}/{name}.ledger" for name in names
        )
        seen, race = Tally(Counter()), Tally(Counter())
        killed(given.kills, all_of_it, one, seen)
        before = sum(seen.answers.values())
        raced("rest", all_of_it, one, seen)
        raced("race", eighth, two, race)
        verdicts = [*_verdicts(one, all_of_it, seen, before), *_raced(two, eighth.fits, race)]
    table = Table(title=f"{given.kills} kills, {WRITERS} writers", title_justify="left")
    for head in ("what", "seen", "must be", ""):
        table.add_column(head, justify="left" if head == "what" else "right")
    for what, figure, must, holds in verdicts:
        table.add_row(what, figure, must, "[green]holds[/]" if holds else "[bold red]BROKEN[/]")
    Console().print(table)
    return int(not all(holds for *_, holds in verdicts))


def _verdicts(path: str, load: Load, seen: Tally, before: int) -> list[tuple[str, str, str, bool]]:
    history = opened_ledger(path, None).history
    charges = Counter(charge.what.removeprefix("count of ") for charge in history)
    columns = charges.keys() | seen.answers.keys()
    more = [charges[column] - seen.answers[column] for column in columns]
    of_rest = [charges[c] - seen.answers[c] for c in columns if c.startswith("rest")]
    total, all_spent = sum(charges.values()), load.fits * load.each
    spent = sum(charge.cost.exact_epsilon() for charge in history)
    return [
        ("answers before the last kill", str(before), "above 0", before > 0),
        ("answers without a charge", str(-sum(min(m, 0) for m in more)), "0", min(more) >= 0),
        ("charges doubled", str(sum(max(m - 1, 0) for m in more)), "0", max(more) <= 1),
        ("killed between charge and answer", str(sum(more)), "any", not any(of_rest)),
        ("charges in all", str(total), str(load.fits), total == load.fits),
        ("epsilons added up", str(spent), str(all_spent), spent == all_spent),
        ("processes that failed", str(int(not seen.ended)), "0", seen.ended),
    ]


def _raced(path: str, fits: int, race: Tally) -> list[tuple[str, str, str, bool]]:
    answers = sum(race.answers.values())
    charges = len(opened_ledger(path, None).history)
    return [
        ("answers of a race from nothing", str(answers), str(fits), answers == fits),
        ("charges of it", str(charges), str(fits), charges == fits),
        ("its processes that failed", str(int(not race.ended)), "0", race.ended),
    ]


if __name__ == "__main__":
    sys.exit(main())
