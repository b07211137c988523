"""What was measured beside a peer, kept as JSON in ``benchmarks/out`` for the table of them all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count, getloadavg
from pathlib import Path
from platform import machine, python_version, system

__all__ = ["OUT", "Beside", "machine_facts", "read", "write"]

OUT = Path(__file__).parent / "out"
PACKAGES = ("sourdine", "numpy", "pandas", "opendp", "diffprivlib", "pure-ldp", "multi-freq-ldpy")


@dataclass(frozen=True)
class Beside:
    """One job done by Sourdine and by a peer; of both numbers less is better.

    ``met`` is None where nothing was promised.
    """

    topic: str
    job: str
    peer: str
    ours: float
    theirs: float
    unit: str
    met: bool | None = None

    @property
    def ratio(self) -> float:
        """How many times ours theirs is."""
        return self.theirs / self.ours


def machine_facts() -> dict[str, str]:
    """Return what the figures were measured on and with."""
    facts = {"machine": f"{_processor()}, {cpu_count()} cores, {system()}"}
    facts["date"] = f"{datetime.now(UTC):%Y-%m-%d}"
    facts["load"] = f"{getloadavg()[0]:.0f} programs running, the benchmark among them"
    facts["Python"] = python_version()
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} ({machine()})" if names else machine()


def write(name: str, rows: list[Beside], *, quick: bool) -> None:
    """Keep the rows of a benchmark."""
    OUT.mkdir(exist_ok=True)
    facts = {"quick": quick, "facts": machine_facts(), "rows": [asdict(row) for row in rows]}
    (OUT / f"{name}.json").write_text(json.dumps(facts, indent=1), "utf-8")


def read(name: str) -> tuple[bool, dict[str, str], list[Beside]]:
    """Return whether a benchmark was a quick one, what it was measured on, and its rows."""
    kept = json.loads((OUT / f"{name}.json").read_text("utf-8"))
    return kept["quick"], kept["facts"], [Beside(**row) for row in kept["rows"]]
