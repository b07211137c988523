"""A real sketch that counts 20,000 of 320,000 visitors, and the same one behind a key.

Run ``python examples/fooled_sketch.py`` (needs ``pip install '.[sketches,plot]'``). An
attacker who knows the hash of Apache DataSketches, as everybody does, looks at home for items that
leave a sketch as it is, then sends them. The picture goes to ``examples/out/fooled_sketch.png``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import datasketches as ds
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from sourdine.adaptive.attacks import offline
from sourdine.adaptive.sketches.keyed import Keyed
from sourdine.results.charts import BLUE, GREY, INK, PALE, RED, RULE, canvas, gaps
from sourdine.results.tables import shown

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURE = Path(__file__).parent / "out" / "fooled_sketch.png"
BASE, EXTRA = 20_000, 300_000
MOMENTS = 160
SKETCHES: dict[str, Callable[[], ds.hll_sketch]] = {
    "HyperLogLog": lambda: ds.hll_sketch(12),
    "CPC": lambda: ds.cpc_sketch(12),
    "theta": lambda: ds.update_theta_sketch(12),
}


class Run(NamedTuple):
    """Estimates as the items arrive, of a sketch as it is and of one behind a key."""

    seen: list[int]
    plain: list[float]
    keyed: list[float]


def run(make: Callable[[], ds.hll_sketch], progress: Progress, name: str) -> Run:
    """Search for hidden items, then send all to both sketches."""
    task = progress.add_task(f"{name}: search", total=MOMENTS + 20)
    items = offline(make, base=BASE, extra=EXTRA)
    progress.update(task, advance=20, description=f"{name}: arrivals")
    plain, keyed, result = make(), Keyed(make()), Run([], [], [])
    for part in np.array_split(items, MOMENTS):
        for item in part.tolist():
            plain.update(item)
        keyed.update_many(part)
        result.seen.append(len(part) + (result.seen[-1] if result.seen else 0))
        result.plain.append(plain.get_estimate())
        result.keyed.append(keyed.query())
        progress.advance(task)
    return result


def draw(result: Run) -> None:
    """Draw the estimates over the number of different items that came."""
    figure, axes = canvas(7.2, 4.2)
    axes.plot(result.seen, result.seen, color=PALE, linewidth=7, solid_capstyle="round")
    axes.plot(result.seen, result.keyed, color=BLUE, linewidth=1.6)
    axes.plot(result.seen, result.plain, color=RED, linewidth=2)
    axes.axvline(BASE, color=GREY, linewidth=0.8, linestyle=(0, (3, 3)))
    axes.annotate(
        "from here on, items found at home", (BASE, 1), (6, -2),
        xycoords=("data", "axes fraction"), textcoords="offset points",
        color=GREY, fontsize=8, va="top",
    )  # fmt: skip
    end = result.seen[-1]
    for value, text, colour in (
        (result.keyed[-1], f"behind a key\n{shown(result.keyed[-1], 10)}", BLUE),
        (result.plain[-1], f"as installed\n{shown(result.plain[-1], 10)}", RED),
    ):
        axes.annotate(
            text, (end, value), (8, 0), textcoords="offset points",
            color=colour, fontsize=9, va="center", annotation_clip=False,
        )  # fmt: skip
    axes.annotate(
        "truth", (end * 0.62, end * 0.62), (-10, 10), textcoords="offset points",
        color=GREY, fontsize=9, ha="right",
    )  # fmt: skip
    axes.set_title(
        f"A HyperLogLog sketch of {shown(end, 1)} different items",
        loc="left", color=INK, fontsize=11,
    )  # fmt: skip
    axes.set_xlabel("different items so far", color=INK, fontsize=9)
    axes.set_ylabel("estimate", color=INK, fontsize=9)
    axes.set_xlim(0, end * 1.2)
    axes.set_xticks(range(0, end, 100_000))
    axes.set_ylim(0, end * 1.06)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    for axis in (axes.xaxis, axes.yaxis):
        gaps(axis)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE)


def main() -> None:
    """Attack three kinds of sketches; print a table and draw a picture."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        runs = {name: run(make, progress, name) for name, make in SKETCHES.items()}
    table = Table(title="different items: what came, what sketches of 4096 registers counted")
    for column in ("sketch", "true", "as installed", "ratio", "behind a key", "ratio"):
        table.add_column(column, justify="left" if column == "sketch" else "right")
    for name, result in runs.items():
        true, plain, keyed = result.seen[-1], result.plain[-1], result.keyed[-1]
        table.add_row(
            name, shown(true, 1), shown(plain, 10), f"{plain / true:.3f}",
            shown(keyed, 10), f"{keyed / true:.3f}",
        )  # fmt: skip
    console = Console()
    console.print(table)
    draw(next(iter(runs.values())))
    console.print(f"picture: {PICTURE.relative_to(Path(__file__).parents[1])}")


if __name__ == "__main__":
    main()
