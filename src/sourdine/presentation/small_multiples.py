"""Pictures of groups: a few share one pair of axes, many have a small panel each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation.figures import (
    BLUE,
    GREY,
    INK,
    NOTE,
    RED,
    canvas,
    folded,
    intervals_shown,
    saved,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    Columns = Any
    Release = Any

__all__ = ["FEW", "SERIES", "DrawnGroup", "Panels", "beside_lines", "groups_of", "lines", "true_of"]

SERIES = (BLUE, RED, "#3d8361", "#b7892b", "#7d5ba6", "#66727e")
"""The colours of groups that share axes."""
FEW = len(SERIES)
"""Up to this number of groups share axes."""
MOST = 60
"""The largest number of panels in a picture."""
MANY_PANELS = 9
"""Of more panels, four stand side by side."""


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """A group's name, and which rows of a release are its own."""

    name: str
    rows: list[int]

    def of(self, column: Sequence[Any]) -> list[Any]:
        """Return what a column says of this group."""
        return [column[i] for i in self.rows]


def groups_of(columns: Columns) -> list[DrawnGroup]:
    """Return the groups of a release in their order.

    Examples
    --------
    >>> from sourdine.release import Columns
    >>> both = {"sex": ["f", "f", "m", "m"], "q": [0.25, 0.75, 0.25, 0.75]}
    >>> columns = Columns(labels=both, name="q", values=[1] * 4, by=["sex"])
    >>> [(group.name, group.rows) for group in groups_of(columns)]
    [('f', [0, 1]), ('m', [2, 3])]
    """
    rows: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(zip(*(columns.labels[name] for name in columns.by), strict=True)):
        rows.setdefault(key, []).append(i)
    return [DrawnGroup(", ".join(map(str, key)), own) for key, own in rows.items()]


def true_of(
    truth: Any,  # noqa: ANN401
    groups: Sequence[DrawnGroup],
    keys: Sequence[Any],
) -> list[list[Any] | None]:
    """Return the true numbers of each group: from a mapping by key, or one list of all."""
    if truth is None:
        return [None] * len(groups)
    if isinstance(truth, Mapping):
        return [list(truth[key]) if key in truth else None for key in keys]
    every = np.ravel(np.asarray(truth)).tolist()
    return [group.of(every) for group in groups]


class Panels:
    """A grid of small panels that share their axes, one for each group.

    Parameters
    ----------
    groups
        The groups; of more than 60 the first are drawn.
    high
        How high a panel is, in inches.
    names
        How many letters the names at the left take, where categories stand there.
    """

    def __init__(self, groups: Sequence[DrawnGroup], high: float = 1.35, names: int = 0) -> None:
        self.groups, self.all = list(groups)[:MOST], len(groups)
        m = len(self.groups)
        self.across = 2 if m in {2, 4} else min(m, 3 if m <= MANY_PANELS else 4)
        down = ceil(m / max(self.across, 1))
        wide = max(7.0, 2.3 * self.across + 0.075 * min(names, 28))
        self.figure, first = canvas(wide, 0.9 + (high + 0.25) * max(down, 1))
        first.remove()
        self.figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
        grid = self.figure.subplots(
            max(down, 1), max(self.across, 1), sharex=True, sharey=True, squeeze=False
        ).ravel()
        if not m:
            grid[0].text(0.5, 0.5, "no group was found", ha="center", color=NOTE, fontsize=9)
            grid[0].set_axis_off()
        for axes in grid[max(m, 1) :]:
            axes.remove()
        self.axes = grid[:m].tolist()
        for i, (axes, group) in enumerate(zip(self.axes, self.groups, strict=True)):
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            for side in ("left", "bottom"):
                axes.spines[side].set_color(GREY)
            axes.tick_params(colors=INK, labelcolor=INK, labelsize=7, length=2)
            below = i + self.across >= m  # no panel stands under this one
            axes.tick_params(labelbottom=below, labelleft=i % self.across == 0)
            axes.set_title(folded(group.name), loc="left", fontsize=8, color=INK)
            axes.set_axisbelow(True)

    def finished(
        self, release: Release, *, title: str | None, path: str | None, axis: str, more: str = ""
    ) -> Any:  # noqa: ANN401
        """Write title, cost and what the axes are, save if there is a path, return the figure."""
        drawn = len(self.groups)
        left = f"the first {drawn} of {self.all} groups" if drawn < self.all else ""
        shown = intervals_shown(release.mechanism)
        shown += " of all groups together" if shown else ""
        said = " · ".join(filter(None, (axis, release.price, shown, left, more)))
        self.figure.suptitle(
            title or release.mechanism.title, x=0.01, ha="left", color=INK, fontsize=11
        )
        self.figure.supxlabel(said, x=0.01, ha="left", color=NOTE, fontsize=8)
        return saved(self.figure, path, release)


def lines(axes: Any, x: Any, numbers: Mapping[str, Any], colour: str, *, label: str) -> None:  # noqa: ANN401
    """Draw a group's numbers as a line in the band of their intervals.

    Parameters
    ----------
    axes
        Where to draw.
    x
        Where the numbers are.
    numbers
        The ``value`` and the ends of the intervals, ``low`` and ``high``.
    colour, label
        Of the line.
    """
    axes.fill_between(x, numbers["low"], numbers["high"], color=colour, alpha=0.16, linewidth=0)
    dots = "-o" if len(x) <= 25 else "-"
    axes.plot(
        x, numbers["value"], dots, color=colour, linewidth=1.5, markersize=3.5, label=folded(label)
    )


def beside_lines(axes: Any, order: Sequence[int] | None = None) -> None:  # noqa: ANN401
    """Write the names of lines at the right of the axes, each in its line's colour."""
    handles, names = axes.get_legend_handles_labels()
    order = range(len(names)) if order is None else order
    axes.legend(
        [handles[i] for i in order], [names[i] for i in order], frameon=False, fontsize=8,
        labelcolor="linecolor", loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2,
        labelspacing=0.7,
    )  # fmt: skip
