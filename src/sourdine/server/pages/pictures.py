"""SVG charts of plans, releases and leaderboards."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, floor, log10, pi, sin
from typing import TYPE_CHECKING

from markupsafe import Markup

from sourdine.adaptive.holdout.leaderboard import team_cells
from sourdine.results import svg
from sourdine.results.svg import LETTER, NARROW, ROW, drawing, scaled, text, ticks
from sourdine.results.tables import printable
from sourdine.server.pages.rendering import upward

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.adaptive.holdout.leaderboard import Ladder, Team
    from sourdine.answers import Release


# ---- Pictures of a plan: the gauge with what it would take, and the curve of error against epsilon


ACROSS, RADIUS, THICK = 200.0, 82.0, 18.0
LEAST, MOST = 0.001, 10.0
TALL, LEFT, BELOW, ABOVE, RIGHT = 250.0, 66.0, 40.0, 24.0, 14.0
STEPS = (1, 2, 5)


def gauge(spent: float, planned: float, left: str, total: str) -> Markup:
    """Return a half circle: shares of the total that are spent and planned, and what is left."""
    after = min(spent + planned, 1.0)
    over = spent + planned > 1
    parts = _arc(0, 1, "track") + _arc(0, spent, "spent")
    parts += _arc(spent, after, "over" if over else "next")
    middle = ACROSS / 2
    parts += text(left, middle, 84, "middle", "gauge-left")
    parts += text(f"of {total} left", middle, 104, "middle", "tick")
    told = f"{left} of {total} left"
    if planned:
        told += "; the plan takes more than that" if over else f"; the plan takes {planned:.2%}"
    return Markup(drawing(parts, ACROSS, 112, told))  # noqa: S704 - every text was escaped


def _arc(begin: float, end: float, kind: str) -> str:
    if end - begin < 1e-6:
        return ""
    x0, y0, x1, y1 = (*_place(begin), *_place(max(end, begin + 0.004)))
    path = f"M{x0:.2f} {y0:.2f}A{RADIUS:g} {RADIUS:g} 0 0 1 {x1:.2f} {y1:.2f}"
    return f'<path class="arc {kind}" d="{path}" stroke-width="{THICK:g}" fill="none"/>'


def _place(share: float) -> tuple[float, float]:
    angle = pi * (1 - min(share, 1.0))
    return ACROSS / 2 + RADIUS * cos(angle), 100 - RADIUS * sin(angle)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePicture:
    """The error against epsilon, both by powers of ten; what cannot be afforded is shaded.

    ``points`` are epsilons and errors, epsilons ascending; an error of 0 lies on the floor.
    ``here`` is the plan's own, ``afford`` the largest epsilon that can be had, ``wide`` in pixels.
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
            said = "over budget" if self._narrow else "shaded: over budget"
            shade += text(said, self.wide - RIGHT, 14, "end", "beyond-word")
        line = " ".join(f"{self._x(e):.1f},{self._y(error):.1f}" for e, error in self.points)
        parts = shade + self._axes() + f'<polyline class="curve" points="{line}"/>'
        told = f"error against epsilon; up to epsilon {self.afford:g} is available"
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
            parts += text(f"{10.0**power:g}", self._x(10.0**power), floor_ + 17, "middle")
        if self._narrow:  # beside what is said of the shade
            parts += text(f"error ({self.unit or '95%'})", 0, 14)
        else:
            parts += text(f"error (95%{', ' if self.unit else ''}{self.unit})", LEFT, 14)
        return parts + text("epsilon", (LEFT + self.wide - RIGHT) / 2, TALL - 5, "middle")

    def _ticks(self) -> list[float]:
        low, high = self._ends()
        tens = [10.0**p for p in range(floor(low), ceil(high) + 1) if low <= p <= high]
        if len(tens) > 2:
            return tens[:: ceil(len(tens) / 5)]
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


# ---- The picture of a release --------------------------------------------------------------------


MOST_ROWS = 60


def release_picture(release: Release, wide: int) -> Markup:
    """Return the picture of a release, ``wide`` pixels wide; empty if it has none."""
    ends = release.columns().lower or ()
    if not ends or None in ends:  # such as a description, whose bounds have no interval
        return Markup()
    charts = release.charts()
    if any(chart.mark == "dots" and len(chart.x.names) > MOST_ROWS for chart in charts.values()):
        return Markup()
    return Markup(svg.draw_all(charts, wide))  # noqa: S704 - every text was escaped


# ---- The picture of a leaderboard: each team's best score with its interval, and what leads next -


BOARD_ABOVE = 22.0
"""Pixels for what is said of the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPicture:
    """All teams, the leader on top; those that never led without a score.

    ``ladder`` is the grid of scores, ``bar`` the least that leads now, None if none does any more;
    ``own`` the team that looks at it, ``wide`` in pixels.
    """

    teams: Sequence[Team]
    ladder: Ladder
    bar: float | None
    own: str
    wide: float

    def draw(self) -> Markup:
        """Return the picture; nothing before the first submission."""
        scored = [team.score for team in self.teams if team.score is not None]
        if not scored:
            return Markup()
        ends = [end for one in scored for end in (one.lower, one.upper)]
        low, high = min(ends), max([*ends, *([] if self.bar is None else [self.bar])])
        pad = 0.04 * (high - low) or 0.01
        parts = self._axis(low - pad, high + pad)
        place = self._scale(low - pad, high + pad)
        for i, team in enumerate(self.teams):
            parts += self._row(team, BOARD_ABOVE + ROW * (i + 0.5), place)
        return Markup(drawing(parts, self.wide, self._floor + 26, self._told()))  # noqa: S704 - escaped

    @property
    def _narrow(self) -> bool:
        return self.wide < NARROW

    @property
    def _left(self) -> float:
        longest = max(len(_named(team)) for team in self.teams)
        most = self.wide * (0.42 if self._narrow else 0.35)
        return min(max(LETTER * longest + 16, 60.0), most)

    @property
    def _right(self) -> float:
        return 12.0 if self._narrow else LETTER * len("0.0000  (0.0000 to 0.0000)")

    @property
    def _floor(self) -> float:
        return BOARD_ABOVE + ROW * len(self.teams)

    def _scale(self, low: float, high: float) -> Callable[[float], float]:
        return scaled(low, high, self._left, self.wide - self._right)

    def _axis(self, low: float, high: float) -> str:
        """Return the lines of round scores, and that of the bar."""
        place, floor, parts = self._scale(low, high), self._floor, ""
        for value, words in ticks(low, high, 3 if self._narrow else 5):
            x = place(value)
            parts += f'<path class="rule" d="M{x:.1f} {BOARD_ABOVE}V{floor + 4}"/>'
            parts += text(words, x, floor + 20, "middle")
        if self.bar is None:
            return parts
        said = f"{self.ladder.said(self.bar)} or more takes the lead"
        x, room = place(self.bar), LETTER * len(said) / 2
        middle = min(max(x, self._left + room), self.wide - room)
        parts += f'<path class="guide" d="M{x:.1f} {BOARD_ABOVE - 4}V{floor + 4}"/>'
        return parts + text(said, middle, 12, "middle", "bar-word")

    def _row(self, team: Team, y: float, place: Callable[[float], float]) -> str:
        """Return a team: its name, its interval, its score."""
        left, kind = self._left, "name own" if team.name == self.own else "name"
        parts = text(_named(team, int((left - 12) / LETTER)), left - 12, y + 4.5, "end", kind)
        if team.score is None:
            return parts + text("no lead yet", left + 4, y + 4.5)
        x1, x2, x = map(place, (team.score.lower, team.score.upper, team.score.value))
        parts += f'<line class="span" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}"/>'
        parts += f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="6"/>'
        if self._narrow:
            return parts
        said = "{}  {}".format(*team_cells(team, self.ladder))
        return parts + text(said, self.wide - self._right + 14, y + 4.5, kind="name")

    def _told(self) -> str:
        cells = ((team, *team_cells(team, self.ladder)) for team in self.teams)
        return "; ".join(
            f"{team.name} has not led" if team.score is None else f"{team.name}: {score} {ends}"
            for team, score, ends in cells
        )


def _named(team: Team, fits: int = 1000) -> str:
    """Return a team and its number of attempts, in a limited number of letters."""
    name, tries = printable(team.name), f" ({team.tries})"
    room = max(fits - len(tries), 2)
    return (name if len(name) <= room else f"{name[: room - 1]}…") + tries
