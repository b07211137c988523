"""Pictures of what reports tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.results.charts import BLUE, INK, MANY, PALE, RED, RULE, canvas, finished, gaps, legend
from sourdine.results.formatting import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sourdine.local.estimators.distribution import DistributionEstimate, QuantileEstimate
    from sourdine.local.estimators.frequencies import Frequencies
    from sourdine.results.release import Release


def steps(
    estimate: QuantileEstimate,
    release: Release,
    *,
    truth: ArrayLike | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw quantiles with their intervals, the order upwards.

    Parameters
    ----------
    truth
        Where the data is public: the true quantiles.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    """
    low, high = release.interval()
    q, x = np.array(estimate.q), np.asarray(release.value, np.float64)
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
) -> Any:
    """Draw the shares of bins with their intervals; the parameters are those of `steps`."""
    low, high = release.interval()
    edges, share = estimate.edges, np.asarray(release.value, np.float64)
    width = np.diff(edges)
    if len(width) and width[-1] == 0:  # the last bin is one tick
        width[-1] = width[:-1].max(initial=1.0)
    figure, axes = canvas()
    even = width.mean() / width  # so that a bin of two ticks is drawn as high as one of four
    share, low, high = share * even, low * even, high * even
    height = np.maximum(share, 0)
    ends = np.append(edges[:-1], edges[-2] + width[-1])
    axes.stairs(high, ends, baseline=np.maximum(low, 0), fill=True, color=PALE, linewidth=0)
    axes.stairs(height, ends, color=BLUE, linewidth=1.6, label="estimated")
    if truth is not None:
        known = np.asarray(truth, np.float64) * even
        axes.hlines(known, ends[:-1], ends[1:], color=RED, linewidth=1.6, label="truth")
        legend(axes)
    axes.set_ylim(0, min(float(high.max()) * 1.05, float(height.max()) * 2.5) or 1)
    axes.set_xlim(ends[0], ends[-1])
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
    axes.set_ylabel("share of a bin of even width", color=INK)
    gaps(axes.xaxis)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title or estimate.kind, path=path)


def shares(
    survey: Frequencies,
    release: Release,
    *,
    truth: ArrayLike | None = None,
    path: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw the shares in the order given; of more than 40, the largest.

    Parameters
    ----------
    truth
        Where the answers are public: the true shares.
    path
        Where to save the picture; the ending says how (png, svg, pdf, html).
    title
        What to write above it.
    """
    columns = release.columns()
    kept = columns.largest(columns.most)
    drawn = len(kept.values)
    low, high = np.array(kept.lower, float), np.array(kept.upper, float)
    x, y = np.array(kept.values, float), np.arange(drawn)[::-1]
    figure, axes = canvas(7.0, 1.3 + (0.3 if drawn <= MANY else 0.2) * drawn)
    axes.hlines(y, low, high, color=PALE, linewidth=7, capstyle="round")
    axes.axvline(0, color=RULE, linewidth=1.6)
    axes.plot(x, y, "o", color=BLUE, markersize=6, label="estimated")
    for (text, *_), at, yi in zip(kept.texts(), np.maximum(x, high), y, strict=True):
        axes.annotate(
            text, (at, yi), (9, 0), textcoords="offset points", va="center", color=INK, fontsize=8
        )
    if truth is not None:
        known = dict(zip(columns.labels["category"], np.asarray(truth, np.float64), strict=True))
        seen = [known[name] for name in kept.labels["category"]]
        axes.plot(seen, y, "|", color=RED, markersize=13, markeredgewidth=2, label="truth")
        legend(axes)
    axes.set_yticks(y, list(map(str, kept.labels["category"])))
    axes.set_ylim(-0.6, drawn - 0.4)
    axes.margins(x=0.14)
    axes.set_xlabel(_below(survey, drawn), color=INK)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    return finished(figure, axes, release, title=title, path=path)


def _below(survey: Frequencies, drawn: int) -> str:
    people = f"share of {shown(survey.reports, 1.0)} people"
    whole = drawn == survey.categories
    return people if whole else f"{people}, the {drawn} largest of {survey.categories} categories"
