"""The picture of a leaderboard: each team's best score with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.presentation.figures import BLUE, INK, NOTE, PALE, RULE, canvas, headed, saved

if TYPE_CHECKING:
    from sourdine.adaptive.holdout.leaderboard import Leaderboard

__all__ = ["drawn"]


def drawn(board: Leaderboard, *, path: str | None, title: str | None) -> Any:  # noqa: ANN401
    """Draw every team, the leader on top; those that never led without a score."""
    teams = board.teams
    figure, axes = canvas(7.0, 1.7 + 0.32 * max(len(teams), 1))
    places = range(len(teams) - 1, -1, -1)
    for y, team in zip(places, teams, strict=True):
        if team.score is None:
            axes.annotate(
                "never led", (0, y), (6, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", color=NOTE, fontsize=8, va="center",
            )  # fmt: skip
            continue
        axes.hlines(
            y, team.score.lower, team.score.upper, color=PALE, linewidth=7, capstyle="round"
        )
        axes.plot(team.score.value, y, "o", color=BLUE, markersize=6)
        axes.annotate(
            board.ladder.said(team.score.value), (team.score.value, y), (0, 7),
            textcoords="offset points", ha="center", color=INK, fontsize=8,
        )  # fmt: skip
    names = [f"{team.name} ({team.tries})" for team in teams]
    axes.set_yticks(list(places), names)
    axes.set_ylim(-0.6, max(len(teams), 1) - 0.2)
    axes.margins(x=0.12)
    axes.set_xlabel("score shown, and where the truth lies", color=INK, fontsize=9)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=RULE, linewidth=0.8)
    tries, confidence = sum(team.tries for team in teams), 100 * float(1 - board.guard.ledger.beta)
    said = (
        f"{tries} submissions against {board.guard.n} labels · all intervals hold at once, with "
        f"probability {confidence:g} %"
    )
    headed(axes, title or "Leaderboard", said)
    return saved(figure, path, board)
