"""Write one table and one picture of all measurements with peers, for each type of machine.

``make bench`` runs the benchmarks, then this. The figures go to ``docs/benchmarks/x86_64.json`` or
that of another type of machine, the picture to ``docs/images/benchmarks-x86_64.png``, and
``docs/benchmarks.md`` is written from all types that were measured; of a quick run everything goes
to ``benchmarks/out``.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import groupby
from platform import machine
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from record import OUT, Beside, read
from sourdine.results.figures import GREY, INK, RULE, canvas
from sourdine_lab.look import colour

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("accuracy", "speed", "quantiles", "noise", "local", "startup")
TITLES = {
    "error": "Error at the same epsilon",
    "speed": "Time of a call",
    "quantiles": "Time of private quantiles",
    "noise": "Time to draw noise",
    "local privacy": "Time to randomise an answer",
    "start": "Import time",
}
PEERS = {
    "NumPy": "no privacy",
    "pandas": "today",
    "OpenDP": "jointexp",
    "diffprivlib": "staircase",
    "pure-ldp": "inverse sensitivity",
    "multi-freq-ldpy": "exponential",
}
"""Each peer with the method whose colour it borrows."""
DOCS = OUT.parent.parent / "docs"
HEAD = """# Benchmarks

Sourdine compared with similar libraries. Each topic runs in one process, one library after the
other, on the same data. Lower is better in every row; the ratio is the peer's figure divided by
Sourdine's. A peer that lacks the same function runs its closest equivalent, which is named at the
top of each script under `benchmarks/`. The last column says whether a target set beforehand is met.
`make bench` repeats all measurements and writes this page. Types of machines are measured and
reported apart.
"""


def peer_of(row: Beside) -> str:
    """Return the library behind the name of a peer."""
    return "NumPy" if row.peer.startswith(("np.", "NumPy")) else row.peer


def jobs(rows: list[Beside]) -> Iterator[tuple[str, list[tuple[str, list[Beside]]]]]:
    """Yield each topic with its jobs and the rows of each."""
    for topic in TITLES:
        mine = [row for row in rows if row.topic == topic]
        names = list(dict.fromkeys(row.job for row in mine))
        yield topic, [(name, [row for row in mine if row.job == name]) for name in names]


def draw(rows: list[Beside], path: Path) -> None:
    """Draw how many times ours the peers' figures are, on a logarithmic axis."""
    lines = [(topic, name, found) for topic, group in jobs(rows) for name, found in group]
    figure, axes = canvas(8.0, 1.6 + 0.235 * (len(lines) + len(TITLES)))
    figure.trusted = True  # the names are our own: each stays on one line
    y, ticks, names = 0.0, [], []
    for topic, group in groupby(lines, lambda line: line[0]):
        axes.text(
            0.0, y, TITLES[topic], transform=axes.get_yaxis_transform(), color=INK,
            fontsize=9, fontweight="bold", va="center", ha="right",
        )  # fmt: skip
        y += 1
        for _, name, found in group:
            ticks.append(y)
            names.append(name)
            for row, shift in zip(found, shifts([row.ratio for row in found]), strict=True):
                method = colour(PEERS[peer_of(row)])
                axes.plot(row.ratio, y + shift, "o", color=method, markersize=6, zorder=3)
            y += 1
        y += 0.4
    finish(axes, ticks, names, y)
    figure.savefig(path)


def shifts(ratios: list[float]) -> list[float]:
    """Return how far each dot of a line is moved up or down so that no dot hides another.

    Dots whose ratios differ by less than a fifth stand above one another.
    """
    order = sorted(range(len(ratios)), key=ratios.__getitem__)
    runs: list[list[int]] = []
    for i in order:
        near = bool(runs) and ratios[i] < 1.2 * ratios[runs[-1][-1]]
        runs[-1].append(i) if near else runs.append([i])
    moved = {i: 0.34 * (k - (len(run) - 1) / 2) for run in runs for k, i in enumerate(run)}
    return [moved[i] for i in range(len(ratios))]


def finish(axes: Any, ticks: list[float], names: list[str], last: float) -> None:
    """Set the axes, their words and a key of the peers."""
    from matplotlib.ticker import FuncFormatter

    axes.set(ylim=(last, -0.8), xscale="log")
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_yticks(ticks, names, fontsize=8)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(
        "peer's figure as a multiple of Sourdine's (below 1x: the peer is better)", fontsize=9
    )
    handles = [
        axes.plot([], [], "o", color=colour(method), label=_said(peer))[0]
        for peer, method in PEERS.items()
    ]
    axes.legend(
        handles=handles, frameon=False, fontsize=8, ncols=len(handles), labelcolor=INK,
        loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1, handletextpad=0.1,
    )  # fmt: skip
    axes.tick_params(axis="x", color=GREY)


def _said(peer: str) -> str:
    return f"{peer} (not private)" if peer == "NumPy" else peer


HEADER = ("job", "Sourdine", "peer", "peer's", "unit", "ratio", "target")


def cells(row: Beside) -> tuple[str, ...]:
    """Return the texts of a row."""
    target = {True: "met", False: "**missed**", None: ""}[row.met]
    ours, theirs = f"{row.ours:,.3g}", f"{row.theirs:,.3g}"
    ratio = f"{row.ratio:,.0f}x" if row.ratio >= 10 else f"{row.ratio:.2g}x"
    return (row.job, _whole(ours), row.peer, _whole(theirs), row.unit, ratio, target)


def _whole(text: str) -> str:
    return f"{float(text):,.0f}" if "e" in text else text


def page(measured: dict[str, tuple[dict[str, str], list[Beside]]]) -> str:
    """Return the page, from the facts and rows of each type of machine."""
    pieces = [HEAD]
    for kind, (facts, rows) in measured.items():
        pieces += [
            f"\n## Measured on {kind}\n",
            f"![Figures of the peers as multiples of Sourdine's](images/benchmarks-{kind}.png)\n",
            "| measured with | |\n| --- | --- |",
            *(f"| {name} | {fact} |" for name, fact in facts.items()),
        ]
        for topic, group in jobs(rows):
            pieces += [f"\n### {TITLES[topic]}\n", _line(HEADER), _line(("---",) * len(HEADER))]
            pieces += [_line(cells(row)) for _, found in group for row in found]
    return "\n".join(pieces) + "\n"


def _line(texts: tuple[str, ...]) -> str:
    return "| " + " | ".join(texts) + " |"


def main() -> int:
    """Read what was measured, print it, write it."""
    kept = [read(name) for name in NAMES]
    rows = [row for _, _, found in kept for row in found]
    quick = any(rough for rough, _, _ in kept)
    folder = OUT if quick else DOCS
    for name in ("images", "benchmarks"):
        (folder / name).mkdir(exist_ok=True)
    draw(rows, folder / "images" / f"benchmarks-{machine()}.png")
    facts = {"facts": kept[0][1], "rows": [asdict(row) for row in rows]}
    own = folder / "benchmarks" / f"{machine()}.json"
    own.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    measured = {}
    for path in sorted((folder / "benchmarks").glob("*.json"), reverse=True):
        found = json.loads(path.read_text("utf-8"))
        measured[path.stem] = found["facts"], [Beside(**row) for row in found["rows"]]
    (folder / "benchmarks.md").write_text(page(measured), "utf-8")
    table = Table(*HEADER, title="Sourdine and its peers")
    for row in rows:
        table.add_row(*(text.strip("*") for text in cells(row)))
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    missed = [f"{row.job}, {row.peer}" for row in rows if row.met is False]
    print(f"{len(rows)} rows in {folder.name}/benchmarks.md; targets missed: {missed or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
