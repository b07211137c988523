"""Pictures of what reports of a number tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.look.figures import (
    BLUE,
    GREY,
    INK,
    PALE,
    RED,
    RULE,
    SOFT,
    canvas,
    finished,
    gaps,
    legend,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sourdine.local.estimators.distribution import DistributionEstimate, QuantileEstimate
    from sourdine.release import Release

__all__ = ["bars", "steps"]


def steps(
    estimate: QuantileEstimate,
    release: Release,
    *,
    truth: ArrayLike | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw quantiles with their intervals, the order upwards.

    Parameters
    ----------
    truth
        Where the data is public: the true quantiles.
    path
        Where to save the picture; the ending says how (png, svg, pdf).
    """
    low, high = release.interval()
    q, x = np.array(estimate.orders), np.asarray(release.value, np.float64)
    figure, axes = canvas()
    axes.hlines(q, low, high, color=PALE, linewidth=7, capstyle="round")
    axes.plot(x, q, "o-", color=BLUE, markersize=6, linewidth=1, label="estimated")
    if truth is not None:
        known = np.asarray(truth, np.float64)
        axes.plot(known, q, "|", color=RED, markersize=14, markeredgewidth=2, label="truth")
        legend(axes)
    axes.set_ylim(-0.03, 1.03)
    axes.set_ylabel("order", color=INK)
    gaps(axes.xaxis)
    axes.grid(color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title or estimate.kind, path=path)


def bars(
    estimate: DistributionEstimate,
    release: Release,
    *,
    truth: ArrayLike | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:  # noqa: ANN401
    """Draw the shares of bins with their intervals; the parameters are those of `steps`."""
    low, high = release.interval()
    edges, share = estimate.edges, np.asarray(release.value, np.float64)
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    if len(width) and width[-1] == 0:  # the last bin is one tick
        width[-1] = width[:-1].max(initial=1.0)
    figure, axes = canvas()
    height = np.maximum(share, 0)
    axes.bar(middle, height, width, color=SOFT, edgecolor="white", linewidth=0.5, label="estimated")
    axes.vlines(middle, low, high, color=GREY, linewidth=1)
    if truth is not None:
        known = np.asarray(truth, np.float64)
        ends = middle - width / 2, middle + width / 2
        axes.hlines(known, *ends, color=RED, linewidth=1.6, label="truth")
        legend(axes)
    axes.set_ylim(0, min(float(high.max()) * 1.05, float(height.max()) * 2.5) or 1)
    axes.set_ylabel("share", color=INK)
    gaps(axes.xaxis)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title or estimate.kind, path=path)
