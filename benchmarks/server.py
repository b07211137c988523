"""How much a server does: plans, counts, means and deciles a second, and the memory of a worker.

``sourdine serve`` runs in processes of its own, with the 247,696 wages; as many requests as are
said are in flight at a time. Answers leave at once (``--tick 0``).

Run with ``python benchmarks/server.py --seconds 10 --workers 2``; ``--store postgresql://...`` asks
a database that ``sourdine serve init`` has not touched yet. Exit status 1 if a request fails.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from sourdine.server.auth import new_token
from sourdine.server.datasets import Registering, registered
from sourdine.server.running import add_person
from sourdine.server.sources import WAGES
from sourdine.server.store.store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Iterator

WAGE = {"column": "wage"}
DECILES = [i / 10 for i in range(1, 10)]
LOADS: dict[str, tuple[str, dict[str, Any], int]] = {
    "plans": ("plan", {"statistic": "mean", "epsilon": 0.1, **WAGE}, 16),
    "counts": ("releases", {"statistic": "count", "epsilon": 0.001}, 16),
    "means": ("releases", {"statistic": "mean", "epsilon": 0.001, **WAGE}, 16),
    "deciles": ("releases", {"statistic": "quantiles", "q": DECILES, "epsilon": 0.1, **WAGE}, 4),
}
"""What is asked, and how many requests are in flight."""


@dataclass
class Measured:
    """How long requests took, in seconds."""

    name: str
    seconds: float = 0.0
    took: list[float] = field(default_factory=list)
    failed: int = 0

    def row(self) -> tuple[str, ...]:
        """Return what is printed."""
        times = sorted(self.took) or [0.0]
        at = [1000 * times[min(int(p * len(times)), len(times) - 1)] for p in (0.5, 0.99)]
        rate = len(self.took) / self.seconds
        return self.name, f"{rate:.0f}", *(f"{ms:.0f}" for ms in at), str(self.failed)


def made_store(address: str) -> str:
    """Fill a new store with the wages, and return the token of an analyst."""
    store = ServerStore.create(address)
    add_person(store, "anna", "analyst", "correct horse battery")
    columns = {"wage": {"bounds": [0, 200_000], "step": 1}}
    said = Registering(name="wages", source=WAGES, epsilon=10**6, n=250_000, columns=columns)
    store.datasets.add(registered(said))
    store.grants.give("wages", "anna", 10**6)
    token = new_token(store, "anna", "api", days=1)
    store.close()
    return token


class Caller:
    """A connection that is kept open; httpx would take as long to ask as the server to answer."""

    def __init__(self, url: str, token: str, path: str, body: dict[str, Any]) -> None:
        self._host, port = url.removeprefix("http://").rsplit(":", 1)
        self._port, self._body = int(port), json.dumps(body).encode()
        self._head = (
            f"POST /api/v1/datasets/wages/{path} HTTP/1.1\r\nhost: {self._host}\r\n"
            f"authorization: Bearer {token}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(self._body)}\r\nidempotency-key: "
        )

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def ask(self) -> int:
        """Ask once, under a new key, and return the status."""
        self._writer.write(f"{self._head}{uuid4().hex}\r\n\r\n".encode() + self._body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        await self._reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
        return int(head.split()[1])


async def load(url: str, token: str, name: str, seconds: float) -> Measured:
    """Ask one thing again and again for some seconds."""
    path, body, flying = LOADS[name]
    found = Measured(name)

    async def one(i: int) -> None:
        await asyncio.sleep(i / 50)  # as people come: at once, one worker would take them all
        async with Caller(url, token, path, body) as caller:
            for _ in range(4):  # before the clock runs, so that every worker has opened the data
                await caller.ask()
            await ready.wait()
            began = perf_counter()
            while perf_counter() - began < seconds:
                start = perf_counter()
                found.failed += await caller.ask() != 200
                found.took.append(perf_counter() - start)

    ready = asyncio.Barrier(flying)
    await asyncio.gather(*map(one, range(flying)))
    found.seconds = seconds
    return found


def started(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Return the address of a server that has come up."""
    while process.poll() is None:
        found = re.search(r"Serving (http://\S+?)/ ", log.read_text())
        try:
            if found and httpx.get(f"{found[1]}/api/v1/healthz").status_code == 200:
                return found[1]
        except httpx.TransportError:
            pass
        sleep(0.1)
    sys.exit(log.read_text())


@contextmanager
def serving(
    folder: str, address: str, workers: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield the address and the process of a server that stops at the end."""
    log = Path(folder) / "log"
    words = ["serve", "--store", address, "--port", "0", "--tick", "0", "--workers", workers]
    command = [sys.executable, "-c", "from sourdine.cli import main; main()", *words]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stderr=stream)  # noqa: S603
    try:
        yield started(log, process), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def memory(process: subprocess.Popen[bytes]) -> Iterator[float]:
    """Yield what each worker keeps in memory, in megabytes."""
    whole = psutil.Process(process.pid)
    for one in whole.children() or [whole]:
        if "resource_tracker" not in " ".join(one.cmdline()):
            yield one.memory_info().rss / 1e6


def main() -> None:
    """Measure, and print."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seconds", type=float, default=10)
    reader.add_argument("--workers", default="2")
    reader.add_argument("--store")
    reader.add_argument("--only", choices=list(LOADS), nargs="*", default=list(LOADS))
    wanted = reader.parse_args()
    with TemporaryDirectory() as folder:
        address = wanted.store or f"sqlite:///{folder}/store.db"
        token = made_store(address)
        with serving(folder, address, wanted.workers) as (url, process):
            found = [asyncio.run(load(url, token, name, wanted.seconds)) for name in wanted.only]
            kept = list(memory(process))
    table = Table("", "a second", "p50 ms", "p99 ms", "failed")
    for one in found:
        table.add_row(*one.row())
    console = Console()
    console.print(table)
    print(f"memory of a worker: {', '.join(f'{mb:.0f} MB' for mb in kept)}; "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}")  # fmt: skip
    if any(one.failed for one in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
