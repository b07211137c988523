"""The picture of a leaderboard: each team's best score with its interval, and what leads next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from sourdine.adaptive.holdout.leaderboard import team_cells
from sourdine.presentation.drawing import drawing, text
from sourdine.presentation.texts import printable
from sourdine.server.pages.release_pictures import HIGH, LETTER, NARROW, scale, ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.adaptive.holdout import Team
    from sourdine.adaptive.holdout.ladder import Ladder

__all__ = ["BoardPicture"]

ABOVE = 22.0
"""Pixels for what is said of the bar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPicture:
    """All teams, the leader on top; those that never led without a score.

    Parameters
    ----------
    teams, ladder
        In their order; and the grid of their scores.
    bar
        The least score that leads now; None if none does any more.
    own
        The team that looks at it.
    wide
        Pixels.
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
            parts += self._row(team, ABOVE + HIGH * (i + 0.5), place)
        return Markup(drawing(parts, self.wide, self._floor + 26, self._told()))  # noqa: S704 - escaped

    @property
    def _narrow(self) -> bool:
        return self.wide < NARROW

    @property
    def _left(self) -> float:
        longest = max(len(_named(team)) for team in self.teams)
        share = 0.42 if self._narrow else 0.35
        return min(max(LETTER * longest + 16, 60.0), self.wide * share)

    @property
    def _right(self) -> float:
        return 12.0 if self._narrow else LETTER * len("0.0000  (0.0000 to 0.0000)")

    @property
    def _floor(self) -> float:
        return ABOVE + HIGH * len(self.teams)

    def _scale(self, low: float, high: float) -> Callable[[float], float]:
        return scale(low, high, self._left, self.wide - self._right)

    def _axis(self, low: float, high: float) -> str:
        """Return the lines of round scores, and that of the bar."""
        place, floor, parts = self._scale(low, high), self._floor, ""
        for value, words in ticks(low, high, 3 if self._narrow else 5):
            x = place(value)
            parts += f'<path class="rule" d="M{x:.1f} {ABOVE}V{floor + 4}"/>'
            parts += text(words, x, floor + 20, "middle")
        if self.bar is None:
            return parts
        said = f"{self.ladder.said(self.bar)} or more leads"
        x, room = place(self.bar), LETTER * len(said) / 2
        middle = min(max(x, self._left + room), self.wide - room)
        parts += f'<path class="guide" d="M{x:.1f} {ABOVE - 4}V{floor + 4}"/>'
        return parts + text(said, middle, 12, "middle", "bar-word")

    def _row(self, team: Team, y: float, place: Callable[[float], float]) -> str:
        """Return a team: its name, its interval, its score."""
        left, kind = self._left, "name own" if team.name == self.own else "name"
        parts = text(_named(team, int((left - 12) / LETTER)), left - 12, y + 4.5, "end", kind)
        if team.score is None:
            return parts + text("has not led", left + 4, y + 4.5)
        x1, x2, x = map(place, (team.score.lower, team.score.upper, team.score.value))
        parts += f'<line class="span" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}"/>'
        parts += f'<circle class="dot" cx="{x:.1f}" cy="{y}" r="6"/>'
        if self._narrow:
            return parts
        said = "{}  ({} to {})".format(*team_cells(team, self.ladder))
        return parts + text(said, self.wide - self._right + 14, y + 4.5, kind="name")

    def _told(self) -> str:
        said = [
            f"{team.name} has not led"
            if team.score is None
            else "{}: {} ({} to {})".format(team.name, *team_cells(team, self.ladder))
            for team in self.teams
        ]
        return "; ".join(said)


def _named(team: Team, fits: int = 1000) -> str:
    """Return a team and how often it has tried, in so many letters."""
    name, tries = printable(team.name), f" ({team.tries})"
    room = max(fits - len(tries), 2)
    return (name if len(name) <= room else f"{name[: room - 1]}…") + tries
