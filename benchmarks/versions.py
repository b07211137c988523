"""Two versions side by side: time and memory of the same calls, in turn on the same machine.

``python benchmarks/versions.py ../older/src`` compares another checkout with this one. Each call
runs in processes of its own, which alternate between the versions; a time is the least processor
time of all rounds, a ratio is this version's time over the other's. The exit status is 1 if a ratio
of times or of memory is above 1.05.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

HERE = Path(__file__).parents[1] / "src"
ROUNDS, MOST = 6, 1.05
PREPARE = """
import json, resource, sys
from time import process_time
import numpy as np
import sourdine as sd
from sourdine.local import Choice, Number, Schema
rng = np.random.default_rng(1)
few, many = rng.uniform(0, 100, 1000), rng.uniform(0, 100, 1_000_000)
deciles, grid = [i / 10 for i in range(1, 10)], dict(bounds=(0, 100), step=0.01, epsilon=1)
people = {"age": rng.integers(0, 120, 20_000), "sex": rng.choice(["f", "m"], 20_000)}
groups = dict(by="sex", keys=["f", "m"])
schema = Schema(age=Number(0, 120, step=1, missing=True), sex=Choice("f", "m", missing=True),
                epsilon=2)
"""
CALLS = {
    "import": ("pass", 1),
    "count of 1,000": ("sd.count(few, epsilon=1)", 300),
    "mean of 1,000": ("sd.mean(few, bounds=(0, 100), epsilon=1)", 300),
    "mean of 1,000,000": ("sd.mean(many, bounds=(0, 100), epsilon=1)", 5),
    "histogram of 1,000,000": ("sd.histogram(many, bins=50, bounds=(0, 100), epsilon=1)", 5),
    "deciles of 1,000": ("sd.quantiles(few, deciles, **grid)", 30),
    "deciles of 1,000,000": ("sd.quantiles(many, deciles, **grid)", 3),
    "mean by group": ("sd.mean(people, column='age', bounds=(0, 120), epsilon=1, **groups)", 50),
    "describe": ("sd.describe(people, epsilon=1)", 1),
    "plan": ("sd.plan.mean(bounds=(0, 100), n=1000, error=1)", 30),
    "session": ("sd.Session(few, epsilon=1).mean(bounds=(0, 100), epsilon=1)", 100),
    "sanitise 20,000 rows": ("schema.sanitize(people)", 2),
    "print": ("str(sd.mean(few, bounds=(0, 100), epsilon=1))", 100),
}


def measured(source: Path, call: str, times: int) -> tuple[float, float]:
    """Return the seconds of a call and the megabytes of its process, in a version."""
    code = f"""{PREPARE}
def call():
    {call}
call()
start = process_time()
for _ in range({times}):
    call()
took = (process_time() - start) / {times}
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
    if call == "pass":
        code = (
            "from time import process_time\nstart = process_time()\n"
            + PREPARE
            + (
                "print(json.dumps([process_time() - start, "
                "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))"
            )
        )
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    took, size = json.loads(done.stdout.splitlines()[-1])
    return took, size


def main(other: Path) -> int:
    """Measure every call in both versions, and print the ratios."""
    table = Table("call", "other, ms", "this, ms", "ratio", "memory ratio", title="Two versions")
    worst = 0.0
    for name, (call, times) in track(CALLS.items(), "Measuring"):
        found: dict[Path, list[tuple[float, float]]] = {other: [], HERE: []}
        for i in range(ROUNDS):
            for source in (other, HERE) if i % 2 else (HERE, other):
                found[source].append(measured(source, call, times))
        old, new = (min(took for took, _ in found[source]) for source in (other, HERE))
        sizes = [min(size for _, size in found[source]) for source in (other, HERE)]
        memory = sizes[1] / sizes[0]
        worst = max(worst, new / old, memory)
        table.add_row(name, f"{1e3 * old:.3f}", f"{1e3 * new:.3f}", f"{new / old:.3f}",
                      f"{memory:.3f}")  # fmt: skip
    Console().print(table)
    return int(worst > MOST)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python benchmarks/versions.py OTHER_CHECKOUT/src")
    sys.exit(main(Path(sys.argv[1]).resolve()))
