"""Figure 1: the cells of [0, 1], and what the histogram method counts in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part."""
    return [settings]


def compute(part: Part) -> Iterator[Row]:
    """Yield the cells and the number of values below each right edge, then the values."""
    steps, n = part["steps"], part["n"]
    x = np.sort(part.rng.beta(2, 3, n))
    for i in range(1, steps + 1):
        edge = i / steps
        yield {"kind": "edge", "place": edge, "below": int((x < edge).sum()), "n": n}
    for value in x.tolist():
        yield {"kind": "value", "place": round(value, 4), "below": 0, "n": n}


def draw(table: Table) -> Any:
    """Draw the line with its cells, the values, and the count that belongs to each edge."""
    figure, (axes,) = look.panels(1, width=8, height=2.6)
    edges, values = table.where(kind="edge"), table.where(kind="value")
    n, ink = int(table["n"][0]), look.colour("truth")
    axes.plot([0, 1], [0, 0], color=ink, linewidth=1.4, label="_line")
    for place in (0.0, *edges["place"].tolist()):
        axes.plot([place] * 2, [-0.25, 0.25], color=ink, linewidth=1.4, label="_edge")
    axes.plot(values["place"], np.zeros(n), "o", color=look.colour("histogram"), markersize=5)
    for i, (edge, below) in enumerate(zip(edges["place"], edges["below"], strict=True), 1):
        passed = below >= n / 2
        axes.annotate(
            f"$f_{i}$ = {below}", (edge, 0.3), (0, 6), textcoords="offset points", ha="center",
            fontsize=10, color=look.colour("today" if passed else "no privacy"),
        )  # fmt: skip
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-1.1, 1)
    axes.set_yticks([])
    axes.spines[["left"]].set_visible(False)
    look.titled(axes, f"The cells for a = 0, b = 1, steps = {len(edges)}; {n} values", x="", y="")
    axes.grid(visible=False)
    look.note(
        axes,
        f"$f_i$: values below the right edge of cell i. For the median the search stops at the "
        f"first noisy $f_i$\nabove a noisy {n // 2}; without noise at the first blue one. The "
        f"listing answers with the left edge of that cell.",
        0.02,
        0.26,
    )
    return figure


EXPERIMENT = Experiment(
    name="canesse-1",
    ids=("C4",),
    title="The cells of the histogram method",
    question="What does the histogram method count?",
    stated="[a, b] is cut into cells of the same size; for each decile AboveThreshold names the "
    "first edge that passes it",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"steps": 4, "n": 20},
    quick={"steps": 4, "n": 20},
)
