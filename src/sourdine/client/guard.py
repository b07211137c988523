"""A leaderboard whose labels and ledger are on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.leaderboard import Ladder, Standing, Team, board_sheet
from sourdine.adaptive.ledger.dependence import Remaining
from sourdine.exact import fraction
from sourdine.results.tables import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.client.connection import Connection
    from sourdine.results.tables import Sheet


class RemoteGuard(Displayable):
    """A leaderboard on a server, with the answers of `sourdine.adaptive.Leaderboard`.

    A submission that has to be sent again has the same key, and is charged once.

    Parameters
    ----------
    connection
        To the server.
    name
        The guard.
    """

    __slots__ = ("_connection", "name")

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name

    @property
    def facts(self) -> dict[str, Any]:
        """What is public: rows, loss, error, what was told, what is left, your grant."""
        found: dict[str, Any] = self._connection.get("", self._ledger)
        return found

    @property
    def remaining(self) -> Remaining:
        """What can be told before the next half-width is above the guard's ``error``."""
        return Remaining(**self.facts["remaining"])

    @property
    def bar(self) -> float | None:
        """The least score that leads now; None if no score does any more."""
        bar: float | None = self.facts["bar"]
        return bar

    @property
    def teams(self) -> list[Team]:
        """All teams: those that led, the leader first, then the others as they came."""
        return _teams(self._board)

    @property
    def history(self) -> list[Standing]:
        """What you were told, the first answer first; an owner sees what everybody was."""
        found = self._connection.get("/submissions", self._ledger)["submissions"]
        return [_standing(row) for row in found]

    def submit(self, predictions: object) -> Standing:
        """Compare the score of predictions with the leader's; show it if it leads now.

        Parameters
        ----------
        predictions
            One for each label, in their order: any data of one column that `sourdine.Frame` takes,
            a path among them.
        """
        kind = self.facts["kind"]
        labels = Labels.read(predictions, "predictions", kind)
        body = {"predictions": [_plain(value) for value in labels.values.tolist()]}
        found = self._connection.post("/submissions", self._ledger, body, key=uuid4().hex)
        return _standing(found)

    def sheet(self) -> Sheet:
        """Return what is printed: every team, those that led with their best score."""
        board = self._board
        facts = {name: board[name] for name in ("led", "bits", "bar")}
        return board_sheet(_teams(board), Ladder(fraction(board["step"])), **facts)

    def __repr__(self) -> str:
        return f"<RemoteGuard: {self.name}>"

    @property
    def _ledger(self) -> str:
        return f"guard:{self.name}"

    @property
    def _board(self) -> dict[str, Any]:
        found: dict[str, Any] = self._connection.get("/leaderboard", self._ledger)
        return found


def _teams(board: Mapping[str, Any]) -> list[Team]:
    return [Team(row["name"], _score(row), row["tries"]) for row in board["teams"]]


def _plain(value: Any) -> Any:
    return None if value != value else value  # noqa: PLR0124 - not a number


def _standing(row: Mapping[str, Any]) -> Standing:
    return Standing(row["team"], _score(row), row["bits"])


def _score(row: Mapping[str, Any]) -> AdaptiveAnswer | None:
    return None if row["score"] is None else AdaptiveAnswer.from_dict(row["score"])
