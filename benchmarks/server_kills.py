"""Kill the workers of a server's store at every stage, and count charges, answers and draws.

    python benchmarks/server_kills.py --kills 200
    python benchmarks/server_kills.py --kills 200 --store postgresql://user@host/empty

Eight processes with two threads each send the same requests of two analysts, in much the same order
so that they race for each key, for more than the total allows. They are killed (``SIGKILL``) at a
stage of a release, or at any moment, and others take their place. Each draw is marked, so that one
that is seen and was not stored, or is stored twice, shows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import cycle
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.errors import BudgetExceededError
from sourdine.privacy import Guarantee
from sourdine.server.store.base import Dataset, KeyedRequest, Person, fingerprint
from sourdine.server.store.store import ServerStore
from sourdine.session import Session, Terms
from sourdine.storage.journal import TableTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.session import Call
    from sourdine.session.session import Prepared

WORKERS, THREADS = 8, 2
LONGEST = 0.5
"""Seconds that a worker lives that is killed at any moment."""
ANY = "at any moment"
STAGES = ("writing", "charged", "drawn", "stored", "answered", ANY)
ANALYSTS = ("anna", "ben")
NEAR, SLOW = 2, 0.02
"""How far workers' orders differ, in keys, and seconds that a draw takes at most."""
GRANT = Fraction(3, 5)
"""Of the total, to each analyst."""
DATA = {"age": [20, 30, 40] * 100}


@dataclass(slots=True)
class Doom:
    """Where in its life a worker dies: at the third time it is at a stage, say."""

    stage: str
    left: int

    def at(self, stage: str) -> None:
        """Die, if it is time."""
        if stage == self.stage:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)


@dataclass(frozen=True, slots=True)
class Marked:
    """A question whose draws are marked and can be cut short."""

    asked: Prepared
    doom: Doom

    def charged(self, charge: Callable[[Sequence[Call]], Any]) -> Any:
        """Charge it."""
        return self.asked.charged(charge)

    def draw(self) -> list[str]:
        """Draw it, and mark the draw."""
        self.doom.at("charged")
        (answer,) = self.asked.draw()
        time.sleep(random.uniform(0, SLOW))  # noqa: S311 - so that draws of one key race
        self.doom.at("drawn")
        return [json.dumps({"mark": token_hex(16), "release": json.loads(answer)})]


@dataclass(slots=True)
class Trial:
    """A store, its requests, and what workers have seen."""

    address: str
    folder: Path
    fits: int
    deaths: Counter[str] = field(default_factory=Counter)
    failures: int = 0

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Everybody's requests, for a third more than fits."""
        return [(name, f"{i}") for name in ANALYSTS for i in range(self.fits * 2 // 3)]

    @property
    def witness(self) -> Path:
        """What remembers the last line."""
        return self.folder / "witness"

    @property
    def seen(self) -> Path:
        """What was answered: analyst, key, mark."""
        return self.folder / "seen"

    def make(self) -> None:
        """Make the store."""
        store = ServerStore.create(self.address)
        store.add_witness(self.witness)
        terms = Terms(total=Guarantee(1), name="ages.csv")
        store.datasets.add(Dataset(name="ages", terms=terms, source="ages.csv"))
        for name in ANALYSTS:
            store.people.add(Person(name=name, role="analyst"))
            store.grants.give("ages", name, GRANT)
        store.close()

    def start(self, doom: Doom, seed: int) -> int:
        """Fork a worker."""
        process = os.fork()
        if process == 0:
            try:
                self._work(doom, random.Random(seed))  # noqa: S311 - an order is no secret
            except BaseException as error:  # noqa: BLE001 - a child must never return
                os.write(2, f"{error!r}\n".encode())
                os._exit(1)
            os._exit(0)
        return process

    def _work(self, doom: Doom, chance: random.Random) -> None:
        write = TableTransaction.write

        def dying(*args: Any) -> int:
            doom.at("writing")
            return write(*args)

        TableTransaction.write = dying  # type: ignore[method-assign]
        store = ServerStore.open(self.address, witness=self.witness)
        session = Session(DATA, ledger=store.datasets.ledger("ages"))
        question = session.plan.count(epsilon=Fraction(1, self.fits))
        keys = sorted(self.keys, key=lambda one: int(one[1]) + chance.uniform(0, NEAR))
        with self.seen.open("ab", buffering=0) as seen, ThreadPoolExecutor(THREADS) as pool:

            def ask(one: tuple[str, str]) -> None:
                analyst, key = one
                asked = fingerprint(f"count {key}")
                request = KeyedRequest(analyst=analyst, key=key, dataset="ages", asked=asked)
                try:
                    marked = Marked(session.prepare([question]), doom)
                    stored = store.releases.draw_once(request, marked)()
                except BudgetExceededError:
                    return
                doom.at("stored")
                mark = json.loads(stored.answers[0])["mark"]
                seen.write(f"{analyst} {key} {mark}\n".encode())
                doom.at("answered")

            for done in [pool.submit(ask, key) for key in keys]:
                done.result()

    def kill(self, kills: int) -> None:
        """Let workers die until so many are dead, then let the last ones finish."""
        chance = random.Random(20_261_116)  # noqa: S311 - when to kill is no secret
        stages = cycle(STAGES)
        alive: dict[int, Doom] = {}
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("killing", total=kills)
            while self.deaths.total() < kills and not self.failures:
                while len(alive) < WORKERS:
                    doom = Doom(next(stages), chance.randint(1, 3))
                    alive[self.start(doom, chance.getrandbits(32))] = doom
                victim = next((p for p, d in alive.items() if d.stage == ANY), None)
                if victim is not None:
                    time.sleep(chance.uniform(0, LONGEST))
                    os.kill(victim, signal.SIGKILL)
                self._buried(alive)
                progress.update(task, completed=self.deaths.total())
        for process in alive:
            alive[process] = Doom(ANY, 0)
            os.kill(process, signal.SIGKILL)
        while alive:
            self._buried(alive)
        last = {self.start(Doom("never", 0), i): Doom("never", 0) for i in range(WORKERS)}
        while last:
            self._buried(last)

    def _buried(self, alive: dict[int, Doom]) -> None:
        process, status = os.wait()
        doom = alive.pop(process)
        if status == signal.SIGKILL:
            self.deaths[doom.stage] += 1
        else:
            self.failures += status != 0

    def verdicts(self) -> list[tuple[str, str, str, bool]]:
        """Compare what stands in the store with what was seen."""
        store = ServerStore.open(self.address, witness=self.witness)
        releases = store.releases.of("ages", most=len(self.keys))
        ledger = store.datasets.ledger("ages")
        charges = len(ledger.history)
        spent = sum(charge.cost.exact_epsilon() for charge in ledger.history)
        stored = {(r.request.analyst, r.request.key): r.answers for r in releases}
        marks = {key: json.loads(answers[0])["mark"] for key, answers in stored.items() if answers}
        seen = defaultdict(set)
        for line in self.seen.read_text().splitlines():
            analyst, key, mark = line.split()
            seen[analyst, key].add(mark)
        lost, twice = marks.keys() - seen.keys(), len(marks) - len(set(marks.values()))
        other = sum(marks.get(key) not in found or len(found) > 1 for key, found in seen.items())
        most = max(store.grants.get("ages", name).spent for name in ANALYSTS)  # type: ignore[union-attr]
        problems = [problem for check in store.check() for problem in check.problems]
        store.close()
        return [
            ("charges", str(charges), str(self.fits), charges == self.fits),
            ("sum of the charges", str(spent), "1", spent == 1),
            ("requests charged", str(len(stored)), str(self.fits), len(stored) == self.fits),
            ("requests answered", str(len(marks)), str(self.fits), len(marks) == self.fits),
            ("answers lost", str(len(lost)), "0", not lost),
            ("draws seen and not stored", str(other), "0", other == 0),
            ("draws stored twice", str(twice), "0", not twice),
            ("most of one analyst", str(float(most)), f"{float(GRANT)} or less", most <= GRANT),
            ("problems of the store", str(len(problems)), "0", not problems),
            ("workers that failed", str(self.failures), "0", not self.failures),
        ]


def main() -> int:
    """Run, print, and say whether everything held."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--kills", type=int, default=200)
    reader.add_argument("--fits", type=int, default=600, help="how many releases the total allows")
    reader.add_argument("--store", help="an empty database; a file of SQLite if left out")
    given = reader.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(given.store or f"sqlite:///{folder}/store.db", Path(folder), given.fits)
        trial.make()
        trial.kill(given.kills)
        verdicts = trial.verdicts()
    deaths = ", ".join(f"{trial.deaths[stage]} {stage}" for stage in STAGES)
    kind = "PostgreSQL" if given.store else "SQLite"
    seconds = time.monotonic() - begun
    title = f"{trial.deaths.total()} kills ({deaths}), {WORKERS} workers, {kind}, {seconds:.0f} s"
    table = Table(title=title, title_justify="left")
    for head in ("what", "seen", "must be", ""):
        table.add_column(head, justify="left" if head == "what" else "right")
    for what, figure, must, holds in verdicts:
        table.add_row(what, figure, must, "holds" if holds else "BROKEN")
    Console(width=120).print(table)
    return int(not all(holds for *_, holds in verdicts))


if __name__ == "__main__":
    sys.exit(main())
