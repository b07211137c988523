"""Whether the time of an answer tells two neighbouring data sets apart.

Two data sets that differ by one record are asked in turn, as often each as is said. The time from
sending a request to the arrival of its answer is compared. The area under the ROC curve (AUC) is
the probability that a request to the one takes longer than a request to the other: 0.5 says
nothing. Among equals its standard deviation is 0.009 at 2000 requests each.

That the probe can tell anything is seen beside it: a data set of twenty times as many rows,
without ticks and with them.

Run with ``python benchmarks/server_timing.py --requests 2000``; exit status 1 if the AUC of the
neighbours is further than 0.02 from 0.5.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import numpy as np

from server import started
from sourdine.server.auth import new_token
from sourdine.server.datasets import Registering, registered
from sourdine.server.running import add_person
from sourdine.server.store.store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

COLUMNS = {"wage": {"bounds": [0, 200_000], "step": 1}}
ASKED: dict[str, dict[str, Any]] = {
    "mean": {"statistic": "mean", "column": "wage", "epsilon": 0.01},
    "median": {"statistic": "median", "column": "wage", "epsilon": 0.5},
}
FLYING, FEW, ALLOWED = 4, 50, 0.02


def made_store(folder: Path, rows: int) -> tuple[str, str]:
    """Return the address of a store with neighbours and a larger data set, and a token."""
    wages = [(7919 * i) % 200_000 for i in range(20 * rows)]
    data = {"first": wages[:rows], "second": [*wages[: rows - 1], 200_000], "large": wages}
    address = f"sqlite:///{folder}/store.db"
    store = ServerStore.create(address)
    add_person(store, "anna", "analyst", "correct horse battery")
    for name, values in data.items():
        path = folder / f"{name}.csv"
        path.write_text("wage\n" + "\n".join(map(str, values)) + "\n")
        said = Registering(name=name, source=str(path), epsilon=10**6, n=rows, columns=COLUMNS)
        store.datasets.add(registered(said))
        store.grants.give(name, "anna", 10**6)
    token = new_token(store, "anna", "api", days=1)
    store.close()
    return address, token


@contextmanager
def server(address: str, folder: Path, tick: float) -> Iterator[str]:
    """Run a server in a process of its own."""
    words = ["serve", "--store", address, "--port", "0", "--tick", str(tick)]
    log = folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", "from sourdine.cli import main; main()", *words], stderr=stream
        )
    try:
        yield started(log, process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def arrivals(
    url: str, token: str, names: tuple[str, str], asked: dict[str, Any], each: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how long answers took to arrive, of two data sets that are asked in turn."""
    took: dict[str, list[float]] = {name: [] for name in names}
    order = [name for _ in range(each) for name in random.sample(names, 2)]
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=f"{url}/api/v1", headers=headers, timeout=60) as client:

        async def ask(name: str) -> None:
            key = {"idempotency-key": uuid4().hex}
            path, start = f"/datasets/{name}/releases", perf_counter()
            answer = await client.post(path, json=asked, headers=key)
            took[name].append(perf_counter() - start)
            answer.raise_for_status()

        async def some() -> None:
            while order:
                await ask(order.pop())

        for name in (*names, *names):
            await ask(name)
        for each_took in took.values():
            each_took.clear()
        await asyncio.gather(*(some() for _ in range(FLYING)))
    first, second = (np.array(took[name]) for name in names)
    return first, second


def area(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the probability that the second takes longer, ties counted half."""
    ranks = np.sort(first)
    below = np.searchsorted(ranks, second, "left") + np.searchsorted(ranks, second, "right")
    return float(below.mean() / (2 * len(first)))


def main() -> None:
    """Measure, and print."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--requests", type=int, default=2000)
    reader.add_argument("--rows", type=int, default=2000)
    reader.add_argument("--tick", type=float, default=0.25)
    wanted = reader.parse_args()
    near, far = ("first", "second"), ("first", "large")
    failed = False
    with TemporaryDirectory() as place:
        folder = Path(place)
        address, token = made_store(folder, wanted.rows)
        for tick, names, each in (
            (0.0, far, FEW),
            (wanted.tick, far, FEW),
            (wanted.tick, near, wanted.requests),
        ):
            with server(address, folder, tick) as url:
                for what, asked in ASKED.items():
                    both = asyncio.run(arrivals(url, token, names, asked, each))
                    found = area(*both)
                    middle = 1000 * np.median(np.concatenate(both))
                    print(
                        f"{what:<7} {' and '.join(names):<17} tick {tick:g} s: AUC {found:.3f}, "
                        f"{each} requests each, median {middle:.0f} ms",
                        flush=True,
                    )
                    failed |= names == near and abs(found - 0.5) > ALLOWED
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
