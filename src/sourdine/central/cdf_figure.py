"""The picture of a distribution function: a line inside a band of steps, or one for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation import figures
from sourdine.presentation.dates import date_axis, places
from sourdine.presentation.small_multiples import (
    FEW,
    SERIES,
    DrawnGroup,
    Panels,
    beside_lines,
    groups_of,
)

if TYPE_CHECKING:
    from sourdine.central.cdf import Cdf
    from sourdine.release import Release

__all__ = ["steps"]

PALE = {"sample": 0.3, "population": 0.14}
"""How strongly bands are drawn."""


def steps(
    statistic: Cdf,
    release: Release,
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw a distribution function with its band; of groups, one for each.

    Parameters
    ----------
    statistic, release
        What was asked for, and what was published.
    truth
        Where the data is public: the records themselves.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    title
        What is written above; the statistic if left out.
    """
    columns = release.columns()
    groups = (
        groups_of(columns) if columns.by else [DrawnGroup("", list(range(len(columns.values))))]
    )
    if len(groups) > FEW:
        return _panels(statistic, release, groups, path=path, title=title)
    figure, axes = figures.canvas()
    for group, colour in zip(groups, SERIES, strict=False):
        _one(axes, statistic, release, group, colour)
    if truth is not None:
        ranked = np.sort(places(np.asarray(truth).ravel().tolist()))
        share = np.arange(1, len(ranked) + 1) / max(len(ranked), 1)
        axes.step(ranked, share, where="post", color=figures.RED, linewidth=1, label="truth")
    if columns.by:
        beside_lines(axes)
    elif truth is not None or columns.beside:
        figures.legend(axes)
    _dress(axes, statistic)
    axes.set_ylabel("records at or below", color=figures.INK)
    return figures.finished(figure, axes, release, title=title, path=path)


def _panels(
    statistic: Cdf,
    release: Release,
    groups: list[DrawnGroup],
    *,
    path: str | None,
    title: str | None,
) -> Any:  # noqa: ANN401
    """Draw a panel for each group, all on the same axes."""
    panels = Panels(groups)
    for axes, group in zip(panels.axes, panels.groups, strict=True):
        _one(axes, statistic, release, group, figures.BLUE)
        axes.grid(axis="y", color=figures.RULE, linewidth=0.8)
    for axes in panels.axes[:1]:  # they share their axes
        _dress(axes, statistic, small=True)
        axes.set_yticks([0, 0.5, 1])
    return panels.finished(release, title=title, path=path, axis="upwards: records at or below")


def _dress(axes: Any, statistic: Cdf, *, small: bool = False) -> None:  # noqa: ANN401
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g} %")
    if statistic.lasting:
        date_axis(axes.xaxis, small=small)
    else:
        if small:
            axes.locator_params(axis="x", nbins=4)
        figures.gaps(axes.xaxis)
    axes.grid(axis="y", color=figures.RULE, linewidth=0.8)


def _one(axes: Any, statistic: Cdf, release: Release, group: DrawnGroup, colour: str) -> None:  # noqa: ANN401
    """Draw one function, the band of the records and, where it was asked for, of the population."""
    columns = release.columns()
    lowest = statistic.grid.values(np.array([0])).tolist()
    x = np.array(places([*lowest, *group.of(columns.labels["at or below"])]))
    value = np.append(0.0, group.of(columns.values))
    bands = {of: ends for of, ends in columns.beside.items() if of == "population"}
    for of, ends in (bands | {"sample": (columns.lower or (), columns.upper or ())}).items():
        low, high = (np.array(group.of(end), float) for end in ends)
        label = (
            None if columns.by else {"sample": "the records", "population": "the population"}[of]
        )
        axes.fill_between(
            x, np.append(0.0, low), np.append(high, 1.0), step="post", label=label, color=colour,
            alpha=PALE[of], linewidth=0,
        )  # fmt: skip
    axes.plot(x, value, color=colour, linewidth=1.4, label=figures.folded(group.name) or "released")
