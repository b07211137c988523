"""Whether a server that runs for an hour grows: the memory of its workers, minute by minute.

``sourdine serve`` runs in processes of its own, with the 247,696 wages; plans, counts, means and
deciles are asked in turn, so many a second. The median memory of the last third may be at most 5%
above that of the second third: in the first, caches fill.

Run with ``python benchmarks/server_soak.py --seconds 3600 --rate 10``. Exit status 1 if a request
fails or the memory grows.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from itertools import cycle
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
from rich.progress import Progress

from server import LOADS, made_store, memory, serving

if TYPE_CHECKING:
    import subprocess

ALLOWED = 1.05


async def soaked(
    url: str, token: str, seconds: float, rate: float, process: subprocess.Popen[bytes]
) -> tuple[list[float], int, int]:
    """Ask for so long: the workers' memory once a minute, the answers and the failures."""
    kept: list[float] = []
    answered = failed = 0
    headers = {"authorization": f"Bearer {token}"}
    began = perf_counter()
    async with httpx.AsyncClient(base_url=f"{url}/api/v1", headers=headers, timeout=60) as client:
        with Progress() as progress:
            bar = progress.add_task("soaking", total=seconds)
            for path, body, _ in cycle(LOADS.values()):
                passed = perf_counter() - began
                if passed >= seconds:
                    return kept, answered, failed
                if passed >= seconds * len(kept) / 60:
                    kept.append(sum(memory(process)))
                    progress.update(bar, completed=passed)
                key = {"idempotency-key": uuid4().hex}
                answer = await client.post(f"/datasets/wages/{path}", json=body, headers=key)
                failed += answer.status_code != 200
                answered += 1
                await asyncio.sleep(max(0.0, began + answered / rate - perf_counter()))
    raise AssertionError


def main() -> None:
    """Soak, and print."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--seconds", type=float, default=3600)
    reader.add_argument("--rate", type=float, default=10)
    reader.add_argument("--workers", default="2")
    wanted = reader.parse_args()
    with TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/store.db"
        token = made_store(address)
        with serving(folder, address, wanted.workers) as (url, process):
            kept, answered, failed = asyncio.run(
                soaked(url, token, wanted.seconds, wanted.rate, process)
            )
    third = len(kept) // 3
    middle, last = median(kept[third : 2 * third]), median(kept[2 * third :])
    print(f"{answered} answers in {wanted.seconds:.0f} s, {failed} failed; all workers together: "
          f"{kept[0]:.0f} MB at first, {middle:.0f} in the middle, {last:.0f} at last "
          f"({last / middle:.3f} times, {ALLOWED} allowed)")  # fmt: skip
    sys.exit(failed > 0 or last > ALLOWED * middle)


if __name__ == "__main__":
    main()
