"""The picture of an explanation: who is found, against false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.plan.explanation import ALARMS, percent
from sourdine.presentation.figures import BLUE, GREY, INK, NOTE, RED, RULE, SOFT, canvas, saved

if TYPE_CHECKING:
    from sourdine.plan.explanation import Explanation
    from sourdine.privacy import Adversary

__all__ = ["drawn"]

APART = 6.0
"""Labels that are nearer to each other than this, in percent, would be written on each other."""


def drawn(said: Explanation, *, path: str | None, title: str | None) -> Any:  # noqa: ANN401
    """Draw the best tests of one release and of more, beside a blind guess."""
    figure, axes = canvas(5.6, 5.2)
    axes.plot([0, 100], [0, 100], "--", color=GREY, linewidth=1.2)
    first, *more = said.adversaries
    written = [_test(axes, first, BLUE, 2.2)]
    for adversary in more:
        height = _test(axes, adversary, SOFT, 1.2)
        if all(abs(height - other) > APART for other in written):
            written.append(height)
            _label(axes, adversary, height, NOTE)
    _label(axes, first, written[0], RED)
    axes.plot(100 * float(ALARMS), written[0], "o", color=RED, markersize=6, clip_on=False)
    axes.axvline(100 * float(ALARMS), color=RED, linewidth=0.8)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_aspect("equal")
    axes.set_xlabel("false alarms, %", color=INK, fontsize=9)
    axes.set_ylabel("found, %", color=INK, fontsize=9)
    axes.grid(color=RULE, linewidth=0.8)
    axes.set_title(title or str(said.guarantee), loc="left", color=INK, fontsize=11, pad=22)
    axes.annotate(
        "the best test of all that is published; dashed: a blind guess",
        (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color=NOTE,
        fontsize=8, va="bottom",
    )  # fmt: skip
    return saved(figure, path)


def _test(axes: Any, adversary: Adversary, color: str, width: float) -> float:  # noqa: ANN401
    """Draw the best tests of one adversary; return what is found at the usual false alarms."""
    alarms, found = zip(*adversary.corners(), strict=True)
    axes.plot([100 * x for x in alarms], [100 * y for y in found], color=color, linewidth=width)
    return 100 * float(adversary.power(ALARMS))


def _label(axes: Any, adversary: Adversary, height: float, color: str) -> None:  # noqa: ANN401
    n = adversary.releases
    axes.annotate(
        f"{n} release{'s' * (n > 1)}: finds {percent(adversary.power(ALARMS), up=True)} with "
        f"{percent(ALARMS, up=True)} false alarms",
        (100 * float(ALARMS), height), (9, -3), textcoords="offset points", color=color,
        fontsize=8, va="top", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )  # fmt: skip
