"""The picture of a distribution function: a line inside a band of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation import figures
from sourdine.presentation.dates import date_axis, places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.release import Release

__all__ = ["steps"]

PALE = {"sample": 0.3, "population": 0.14}
"""How strongly bands are drawn."""
COLOURS = (figures.BLUE, figures.RED, figures.INK, figures.GREY, figures.SOFT)


def steps(
    release: Release,
    parts: Mapping[str, Release],
    *,
    truth: Any = None,  # noqa: ANN401
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw distribution functions with their bands.

    Parameters
    ----------
    release
        What was published.
    parts
        The distribution function of each group, or one without a name.
    truth
        Where the data is public: the records themselves.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    title
        What is written above; the statistic if left out.
    """
    figure, axes = figures.canvas()
    several = len(parts) > 1
    for i, (name, part) in enumerate(parts.items()):
        _one(axes, part, COLOURS[i % len(COLOURS)], name=name, several=several)
    if truth is not None:
        ranked = np.sort(places(np.asarray(truth).ravel().tolist()))
        share = np.arange(1, len(ranked) + 1) / max(len(ranked), 1)
        axes.step(ranked, share, where="post", color=figures.RED, linewidth=1, label="truth")
    if truth is not None or several or _of_population(release):
        figures.legend(axes)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g} %")
    axes.set_ylabel("records at or below", color=figures.INK)
    dated = any(getattr(part.mechanism, "lasting", False) for part in parts.values())
    (date_axis if dated else figures.gaps)(axes.xaxis)
    axes.grid(axis="y", color=figures.RULE, linewidth=0.8)
    return figures.finished(figure, axes, release, title=title, path=path)


def _one(axes: Any, part: Release, colour: str, *, name: str, several: bool) -> None:  # noqa: ANN401
    """Draw one function, the band of the records and, where it was asked for, of the population."""
    asked: Any = part.mechanism
    lowest = asked.grid.values(np.array([0])).tolist()
    x = np.array(places([*lowest, *asked.labels(part)["at or below"]]))
    value = np.concatenate(([0.0], np.asarray(part.value, float)))
    for of in ("population", "sample") if _of_population(part) else ("sample",):
        low, high = (np.asarray(ends, float) for ends in part.interval(asked.shown, of=of))
        label = None if several else {"sample": "the records", "population": "the population"}[of]
        axes.fill_between(
            x, np.append(0.0, low), np.append(high, 1.0), step="post", label=label, color=colour,
            alpha=PALE[of], linewidth=0,
        )  # fmt: skip
    axes.plot(x, value, color=colour, linewidth=1.4, label=name or "released")


def _of_population(release: Release) -> bool:
    return "population" in release.mechanism.beside
