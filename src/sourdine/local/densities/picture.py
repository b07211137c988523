"""The picture of a density."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.presentation.figures import BLUE, INK, PALE, RED, canvas, gaps, headed, saved
from sourdine.presentation.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sourdine.local.densities.result import Density

__all__ = ["picture"]

POINTS = 2000


def picture(
    density: Density,
    *,
    path: str | None,
    truth: Callable[[NDArray[np.float64]], ArrayLike] | None,
    title: str | None,
) -> Any:  # noqa: ANN401
    """Draw a density with its pointwise band, and the truth beside it where it is known."""
    figure, axes = canvas()
    low, high = density.band()
    stairs = {"step": "post", "linewidth": 0}
    axes.fill_between(
        density.edges, np.append(low, low[-1]), np.append(high, high[-1]), color=PALE,
        label="95 % band of the noise, pointwise", **stairs,
    )  # fmt: skip
    axes.stairs(
        density.heights, density.edges, baseline=None, color=BLUE, linewidth=1.6, label="estimate"
    )
    if truth is not None:
        x = np.linspace(*density.ends, POINTS)
        axes.plot(x, np.asarray(truth(x)), color=RED, linewidth=1, label="truth")
    axes.set_xlim(*density.ends)
    axes.set_ylim(bottom=0)
    unit = 10.0 ** round(log10((density.ends[1] - density.ends[0]) / 50))
    each = shown(round(unit), 1.0) if unit >= 1 else f"{unit:g}"
    axes.set_ylabel(f"share of people for each {each}", color=INK)
    axes.locator_params(axis="x", nbins=6)
    gaps(axes.xaxis)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y * unit:.3g} %")
    said = f"{density.cost} · {density.method}, {shown(density.reports, 1.0)} reports"
    headed(axes, title or "Density", said)
    figure.legend(
        loc="outside lower right", ncols=3, frameon=False, fontsize=8, labelcolor=INK,
        handlelength=1.2,
    )  # fmt: skip
    return saved(figure, path, density)
