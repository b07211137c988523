"""Draw the picture of the guide: the released sums of octaves of one mean.

Run ``python benchmarks/octave_picture.py``; it writes ``docs/images/octaves.png``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import sourdine as sd
from sourdine.noise import SeededSource

BLUE, RED, PALE, INK = "#1f5f99", "#b5442e", "#c9d3dc", "#22303c"


def main() -> None:
    """Release the mean wage, and draw the noisy number of records of each octave."""
    wages = sd.data.wages()
    release = sd.mean(wages, bounds="find", method="octaves", epsilon=0.1, source=SeededSource(2))
    seen = release.mechanism.octaves.believed(release.drawn)
    _, u, v = seen.parts
    counts, tops = u + v, np.log2(seen.table.tops)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3), sharey=True)
    for side, (axis, title) in enumerate(zip(axes, ("above", "below"), strict=True)):
        kept = seen.weights[2][side] > 0
        axis.bar(tops[kept], counts[side][kept], color=BLUE, width=0.8, label="believed")
        axis.bar(tops[~kept], counts[side][~kept], color=PALE, width=0.8, label="left out")
        axis.axhline(5 * seen.table.scale, color=RED, lw=1)
        axis.set_title(f"{title} the centre {seen.table.centre:,.0f}", fontsize=10, color=INK)
        axis.set_xlabel("distance up to 2 to the ...", fontsize=9, color=INK)
        axis.set_yscale("symlog", linthresh=100)
        axis.tick_params(labelsize=8)
        for name in ("top", "right"):
            axis.spines[name].set_visible(False)
    axes[0].set_ylabel("records, with noise", fontsize=9, color=INK)
    axes[0].annotate(
        "5 scales of the noise", (60, 5 * seen.table.scale), (60, 160), ha="right",
        fontsize=8, color=RED,
    )  # fmt: skip
    axes[1].legend(frameon=False, fontsize=8, loc="upper right")
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "images" / "octaves.png", dpi=130)


if __name__ == "__main__":
    main()
