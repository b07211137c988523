"""Pictures of a plan: the gauge with what it would take, and the curve of error against epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin
from typing import TYPE_CHECKING

from markupsafe import Markup

from sourdine.presentation.drawing import drawing, text
from sourdine.server.pages.rendering import upward

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CurvePicture", "gauge"]

ACROSS, RADIUS, THICK = 200.0, 82.0, 18.0
LEAST, MOST = 0.001, 10.0
TALL, LEFT, BELOW, ABOVE, RIGHT = 250.0, 66.0, 40.0, 24.0, 14.0
STEPS = (1, 2, 5)
NARROW = 520


def gauge(spent: float, planned: float, left: str, total: str) -> Markup:
    """Return a half circle: what is spent, what a plan would take, and what is left as words.

    Parameters
    ----------
    spent, planned
        Shares of the total.
    left, total
        As words.
    """
    after = min(spent + planned, 1.0)
    over = spent + planned > 1
    parts = _arc(0, 1, "track") + _arc(0, spent, "spent")
    parts += _arc(spent, after, "over" if over else "next")
    middle = ACROSS / 2
    parts += text(left, middle, 84, "middle", "gauge-left")
    parts += text(f"left of {total}", middle, 104, "middle", "tick")
    told = f"{left} left of {total}"
    if planned:
        told += "; the plan takes more than that" if over else f"; the plan takes {planned:.2%}"
    return Markup(drawing(parts, ACROSS, 112, told))  # noqa: S704 - every text was escaped


def _arc(begin: float, end: float, kind: str) -> str:
    if end - begin < 1e-6:
        return ""
    x0, y0, x1, y1 = (
        *_place(begin),
        *_place(max(end, begin + 0.004)),
    )
    path = f"M{x0:.2f} {y0:.2f}A{RADIUS:g} {RADIUS:g} 0 0 1 {x1:.2f} {y1:.2f}"
    return f'<path class="arc {kind}" d="{path}" stroke-width="{THICK:g}" fill="none"/>'


def _place(share: float) -> tuple[float, float]:
    angle = pi * (1 - min(share, 1.0))
    return ACROSS / 2 + RADIUS * cos(angle), 100 - RADIUS * sin(angle)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePicture:
    """The error against epsilon, both by powers of ten; what cannot be afforded is shaded.

    Parameters
    ----------
    points
        Epsilons and errors, epsilons ascending; an error of 0 lies on the floor.
    here
        The plan's own.
    afford
        The largest epsilon that can be had.
    wide
        Pixels.
    unit
        What the error is counted in.
    """

    points: Sequence[tuple[float, float]]
    here: tuple[float, float] | None
    afford: float
    wide: float
    unit: str

    def draw(self) -> Markup:
        """Return the picture; nothing where no error is known before."""
        if not any(error > 0 for _, error in self.points):
            return Markup()
        edge = min(max(self._x(self.afford), LEFT), self.wide - RIGHT)
        floor_ = TALL - BELOW
        shade = (
            f'<rect class="beyond" x="{edge:.1f}" y="{ABOVE}" height="{floor_ - ABOVE}" '
            f'width="{self.wide - RIGHT - edge:.1f}"/>'
        )
        if edge < self.wide - RIGHT - 1:
            said = "more than is left" if self._narrow else "shaded: more than is left"
            shade += text(said, self.wide - RIGHT, 14, "end", "beyond-word")
        line = " ".join(f"{self._x(e):.1f},{self._y(error):.1f}" for e, error in self.points)
        parts = shade + self._axes() + f'<polyline class="curve" points="{line}"/>'
        told = f"error against epsilon; up to epsilon {self.afford:g} can be had"
        if self.here is not None:
            parts += self._point(*self.here)
            told += f"; at epsilon {self.here[0]:g} it is {upward(self.here[1])} {self.unit}"
        return Markup(drawing(parts, self.wide, TALL, told))  # noqa: S704 - every text was escaped

    @property
    def _narrow(self) -> bool:
        return self.wide < NARROW

    def _point(self, epsilon: float, error: float) -> str:
        x, y = self._x(min(max(epsilon, LEAST), MOST)), self._y(error)
        kind = "here" if epsilon <= self.afford else "here unaffordable"
        return (
            f'<path class="guide" d="M{LEFT} {y:.1f}H{x:.1f}V{TALL - BELOW}"/>'
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
        )

    def _axes(self) -> str:
        floor_, parts = TALL - BELOW, ""
        for error in self._ticks():
            y = self._y(error)
            parts += f'<path class="rule" d="M{LEFT} {y:.1f}H{self.wide - RIGHT}"/>'
            parts += text(upward(error), LEFT - 8, y + 4, "end")
        for power in range(-3, 2):
            x = self._x(10.0**power)
            parts += text(f"{10.0**power:g}", x, floor_ + 17, "middle")
        if self._narrow:  # beside what is said of the shade
            parts += text(f"error ({self.unit or '95 %'})", 0, 14)
        else:
            parts += text(f"error (95 %{', ' if self.unit else ''}{self.unit})", LEFT, 14)
        return parts + text("epsilon", (LEFT + self.wide - RIGHT) / 2, TALL - 5, "middle")

    def _ticks(self) -> list[float]:
        low, high = self._ends()
        powers = range(floor(low), ceil(high) + 1)
        tens = [10.0**p for p in powers if low <= p <= high]
        if len(tens) > 5:
            return tens[:: ceil(len(tens) / 5)]
        if len(tens) > 2:
            return tens
        fine = [s * 10.0**p for p in range(floor(low) - 1, ceil(high) + 1) for s in STEPS]
        return [v for v in fine if low <= log10(v) <= high]

    def _ends(self) -> tuple[float, float]:
        errors = [log10(error) for _, error in self.points if error > 0]
        low, high = min(errors), max(errors)
        return (low, high) if high - low > 0.1 else (low - 0.5, high + 0.5)

    def _x(self, epsilon: float) -> float:
        low, high = log10(LEAST), log10(MOST)
        share = (log10(max(epsilon, LEAST / 10)) - low) / (high - low)
        return LEFT + (self.wide - LEFT - RIGHT) * share

    def _y(self, error: float) -> float:
        low, high = self._ends()
        share = (min(max(log10(error), low), high) - low) / (high - low) if error > 0 else 0.0
        return TALL - BELOW - (TALL - BELOW - ABOVE) * share
