"""The collector of a survey: killed while records arrive, and under load.

python benchmarks/collector.py kills --times 100 [--store postgres]
python benchmarks/collector.py load --seconds 10 [--store postgres]

With ``--store postgres`` a server of PostgreSQL is made for it and thrown away, one that waits for
the disk; ``--store postgresql://...`` takes an empty database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import time
import tomllib
from base64 import urlsafe_b64decode
from collections import Counter
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from sourdine.local import Aggregator
from sourdine.local.reports.records import to_lines
from sourdine.survey import Survey
from sourdine.survey.demo import WAYS
from sourdine.survey.document import SKELETON
from sourdine.survey.serving import Collector, WebServer
from sourdine.survey.store import SurveyStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

FORKS = get_context("forkserver")
CONFIDENCE = 0.95


def made(n: int, rng: np.random.Generator, **changes: object) -> tuple[Survey, dict, list[str]]:
    """Return a survey, the answers of people, and their records."""
    survey = Survey.from_facts(tomllib.loads(SKELETON) | changes)
    answers = {
        "way": rng.choice([*WAYS], n, p=[*WAYS.values()]),
        "minutes": np.minimum(120, rng.gamma(4, 8, n)).round(),
        "late": rng.random(n) < 0.3,
        "wishes": np.array(["seats;times", "shade", "times", ""])[rng.integers(0, 4, n)],
    }
    table = {name: column.tolist() for name, column in answers.items()}
    lines = [line for part in survey.schema.reports(table) for line in to_lines(part)]
    return survey, answers, lines


def _serve(place: str, port: int, told: Connection) -> None:
    async def run() -> None:
        collector = Collector(place)
        server = WebServer(collector, port=port)
        await server.serve(lambda: told.send(server.port))
        collector.stop()

    asyncio.run(run())


class Served:
    """A collector in a process of its own."""

    def __init__(self, store: str) -> None:
        self.store, self.port = store, 0
        self.process: BaseProcess | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        FORKS.set_forkserver_preload(["sourdine.survey.serving", "sourdine.local"])
        here, there = FORKS.Pipe()
        self.process = FORKS.Process(target=_serve, args=(self.store, self.port, there))
        self.process.start()
        there.close()
        self.port = here.recv()
        here.close()

    def end(self, number: int = signal.SIGTERM) -> int | None:
        """End it by a signal; return its exit status."""
        os.kill(self.process.pid, number)
        self.process.join()
        return self.process.exitcode


async def post(port: int, body: str) -> int:
    """Post a body over a connection of its own; return the status, 0 if there was none."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    try:
        head = f"POST /reports HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n{body}".encode())
        answer = await reader.read()
        return int(answer[9:12]) if answer else 0
    except OSError:
        return 0
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def kills(times: int, place: str, *, every: float = 0.4) -> dict[str, int]:
    """Kill a collector so many times while records arrive; every record must count once."""
    rng = random.Random(1)  # noqa: S311
    survey, _, lines = made(400 * times, np.random.default_rng(1))
    store, _ = SurveyStore.create(place, survey)
    served = Served(store.place)
    told: Counter[str] = Counter()
    waiting, accepted = lines[::-1], []

    async def sender() -> None:
        while waiting and not told["done"]:
            line = waiting.pop()
            while not told["done"]:
                told["sent"] += 1
                status = await post(served.port, line)
                if status == 202:
                    accepted.append(line)
                    break
                told["lost"] += 1
                await asyncio.sleep(0.05)
            if rng.random() < 0.1 and not told["done"]:  # once more, as people do
                told["again"] += await post(served.port, line) == 202

    async def killer() -> None:
        for _ in range(times):
            await asyncio.sleep(every * (0.5 + rng.random()))
            served.end(signal.SIGKILL)
            await asyncio.to_thread(served.start)
        await asyncio.sleep(every)
        told["done"] = 1

    async def run() -> None:
        await asyncio.gather(killer(), *(sender() for _ in range(16)))

    asyncio.run(run())
    status = served.end()
    counted = _checked(store, lines, set(accepted))
    store.close()
    return {"kills": times, "accepted": len(accepted), "counted": counted, "status": status, **told}


def _checked(store: SurveyStore, lines: list[str], accepted: set[str]) -> int:
    """Return how many records counted; each that was accepted must, and all of them once."""
    store.fold()
    schema, counted = store.survey.schema, store.aggregator()
    known = {row.tobytes() for row in _ids(counted)}
    there = []
    for line in lines:
        if urlsafe_b64decode(json.loads(line)["i"] + "==") in known:
            there.append(line)
        elif line in accepted:
            raise AssertionError("an accepted record was lost")
    total = Aggregator(schema)
    total.add(there)
    if counted != total or store.people != len(there):
        raise AssertionError("a record did not count once")
    return len(there)


def _ids(counted: Aggregator) -> np.ndarray:
    ids = np.ascontiguousarray(counted._arrays()["ids"])  # noqa: SLF001
    return ids.view(np.uint8).reshape(-1, 16)


async def _flood(port: int, bodies: list[str], flight: int, seconds: float) -> list[float]:
    taken, rest, stop = [], iter(bodies), time.monotonic() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in rest:
            began = time.perf_counter()
            head = f"POST /reports HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
            writer.write(f"{head}{body}".encode())
            top = await reader.readuntil(b"\r\n\r\n")
            size = int(top.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(size)
            if not top.startswith(b"HTTP/1.1 202"):
                raise AssertionError(top)
            taken.append(time.perf_counter() - began)
            if time.monotonic() > stop:
                break
        writer.close()

    await asyncio.gather(*(one() for _ in range(flight)))
    return taken


def load(seconds: float, place: str) -> None:
    """Print how many records a second are accepted, one by one and in batches."""
    survey, _, lines = made(200_000, np.random.default_rng(2))
    store, _ = SurveyStore.create(place, survey)
    served = Served(store.place)
    half = len(lines) // 2
    batches = ["\n".join(lines[i : i + 400]) for i in range(half, len(lines), 400)]
    for what, bodies, flight, each in (("single", lines[:half], 64, 1), ("batch", batches, 8, 400)):
        began = time.monotonic()
        taken = np.array(asyncio.run(_flood(served.port, bodies, flight, seconds)))
        rate = each * taken.size / (time.monotonic() - began)
        p50, p99 = 1000 * np.quantile(taken, [0.5, 0.99])
        print(f"{what:7s} {flight} in flight: {rate:7.0f} records/s, {p50:.0f} and {p99:.0f} ms")
    served.end()
    store.close()


@contextmanager
def placed(store: str, folder: Path) -> Iterator[str]:
    """Yield where a new store can be."""
    if store != "postgres":
        yield str(folder / "survey.db") if store == "sqlite" else store
        return
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from postgres import BINARIES, Cluster

    program = shutil.which("initdb") or shutil.which("initdb", path=BINARIES)
    if program is None:
        sys.exit("PostgreSQL was not found: apt-get install postgresql")
    cluster = Cluster(Path(program).resolve().parent, durable=True)
    try:
        yield cluster.create()
    finally:
        cluster.stop()


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("kills", "load"))
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder, placed(asked.store, Path(folder)) as place:
        if asked.what == "kills":
            print(kills(asked.times, place))
        else:
            load(asked.seconds, place)


if __name__ == "__main__":
    main()
