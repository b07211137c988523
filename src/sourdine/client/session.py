"""`Remote`, and sessions and plans on data held by a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast
from uuid import uuid4

import numpy as np

from sourdine.adaptive.answers import AdaptiveAnswer
from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.leaderboard import Ladder, Standing, Team, board_sheet
from sourdine.adaptive.ledger.ledger import Remaining
from sourdine.answers import Release
from sourdine.client.connection import Connection
from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import fraction
from sourdine.parameters import question as questions
from sourdine.parameters.question import kept_of, plain_parameter, typed_values
from sourdine.plan import Planner
from sourdine.results.tables import Displayable
from sourdine.session.charges import read_charge, read_terms
from sourdine.session.session import AdmissionCheck, Spending, left_to_the_session, typed_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    import httpx

    from sourdine.central import Statistic
    from sourdine.exact import Number
    from sourdine.parameters.question import Question
    from sourdine.plan import Plan
    from sourdine.privacy.accounting import Filter
    from sourdine.results.tables import Sheet
    from sourdine.session import Charge, Terms
    from sourdine.session.charges import Account


# ---- A leaderboard whose labels and ledger are on a server ---------------------------------------


class RemoteGuard(Displayable):
    """A leaderboard on a server, with the answers of `sourdine.adaptive.Leaderboard`.

    A submission that has to be sent again has the same key, and is charged once.
    """

    __slots__ = ("_connection", "name")

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name

    @property
    def facts(self) -> dict[str, Any]:
        """What is public: rows, loss, error, what was told, what is left, your grant."""
        return cast("dict[str, Any]", self._connection.get("", self._ledger))

    @property
    def remaining(self) -> Remaining:
        """What can be told before the next half-width is above the guard's ``error``."""
        return Remaining(**self.facts["remaining"])

    @property
    def bar(self) -> float | None:
        """The least score that leads now; None if no score does any more."""
        return cast("float | None", self.facts["bar"])

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
        labels = Labels.read(predictions, "predictions", self.facts["kind"])
        values = [None if x != x else x for x in labels.values.tolist()]  # noqa: PLR0124 - not a number
        body = {"predictions": values}
        return _standing(self._connection.post("/submissions", self._ledger, body, key=uuid4().hex))

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
        return cast("dict[str, Any]", self._connection.get("/leaderboard", self._ledger))


def _teams(board: Mapping[str, Any]) -> list[Team]:
    return [Team(row["name"], _score(row), row["tries"]) for row in board["teams"]]


def _standing(row: Mapping[str, Any]) -> Standing:
    return Standing(row["team"], _score(row), row["bits"])


def _score(row: Mapping[str, Any]) -> AdaptiveAnswer | None:
    return None if row["score"] is None else AdaptiveAnswer.from_dict(row["score"])


# ---- Plans for a session on a server: it reads the question, the errors are computed here --------


class RemotePlanner(Planner):
    """Every statistic as a method that plans it with what a server's data set has left.

    ``read`` has the server read what was typed, with what its owner says of the columns.
    """

    __slots__ = ("_read",)

    def __init__(
        self,
        remaining: Filter | Number,
        terms: Terms,
        read: Callable[[type[Question], Mapping[str, Any]], Statistic],
    ) -> None:
        super().__init__(remaining, **terms.fixed)
        self._read = read

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Plan:
        return self.ask(self._read(cls, typed))


# ---- A session whose data and ledger are on a server ---------------------------------------------


MOST_LISTED = 1000


class RemoteSession(Spending):
    """Many statistics of one data set under one total, on a server.

    It has the methods of `sourdine.Session`. A question goes to the server as it was typed, and is
    read there, with the bounds and keys that the owner of the data says. What comes back is a
    `Release`. A request that has to be sent again has the same key, and is charged once.
    """

    __slots__ = ("_connection", "_terms", "name")

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name
        self._terms: Terms = read_terms(self.facts["terms"])

    @property
    def facts(self) -> dict[str, Any]:
        """What is public of the data set: columns, bounds, keys, what was spent, your grant."""
        return cast("dict[str, Any]", self._connection.get("", self.name))

    @property
    def terms(self) -> Terms:
        return self._terms

    @property
    def account(self) -> Account:
        """What was spent until now, by everybody."""
        last = self.facts["last"]
        return self._terms.start if last is None else read_charge(last, self._terms).account

    @property
    def charges(self) -> list[Charge]:
        """Every charge of everybody, the first one first; answers are there to your own."""
        found: list[Charge] = []
        while True:
            path = f"/releases?after={len(found)}&most={MOST_LISTED}"
            rows = self._connection.get(path, self.name)["charges"]
            found += [self._charge(row) for row in rows]
            if len(rows) < MOST_LISTED:
                return found

    def _charge(self, row: dict[str, Any]) -> Charge:
        answer = row.pop("answer")
        if answer is not None:
            answer["cost"].pop("decimal", None)  # as it is stored, exact numbers alone
        text = None if answer is None else json.dumps(answer, ensure_ascii=False)
        return replace(read_charge(row, self._terms), answer=text)

    @property
    def plan(self) -> RemotePlanner:
        """`sourdine.plan` for this data set: what an epsilon buys, what an error costs."""
        return RemotePlanner(self.account.room, self._terms, partial(self._read, "/plan"))

    @property
    def can_release(self) -> AdmissionCheck:
        """Whether a question would be admitted now, and what would be left; charges nothing."""

        def checked(asked: Statistic | Plan) -> Statistic:
            return self._agreeing(typed_question(asked))

        return AdmissionCheck(partial(self._read, "/can-release"), checked, self.account)

    def ask(self, question: Statistic | Plan) -> Release:
        """Charge a question, or that of a plan, and return its answer."""
        return self._released(self._said(question))[0]

    def ask_all(self, batch: Iterable[Statistic | Plan]) -> list[Release]:
        """Charge several questions at once and return their answers, or refuse all of them."""
        return self._released({"questions": [self._said(one) for one in batch]})

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> Release:
        return self._released(_typed(cls, typed))[0]

    def _released(self, body: Mapping[str, Any]) -> list[Release]:
        found = self._connection.post("/releases", self.name, body, key=uuid4().hex)
        if found["state"] != "answered":
            said = "Its cost was charged before any data were read."
            raise SourdineError(f"The answer could not be drawn. {said}")
        return [Release.from_dict(answer) for answer in found["answers"]]

    def _read(self, path: str, cls: type[Question], typed: Mapping[str, Any]) -> Statistic:
        """Return the question that the server reads of what was typed."""
        found = self._connection.post(path, self.name, _typed(cls, typed))
        said = {name: x for name, x in found["question"].items() if name != "statistic"}
        if found["target"] is not None:
            said = {**said, "error": found["target"]}
            del said["epsilon"]
        fixed = kept_of(self._terms.fixed, said.get("per_person"))
        return cast("Statistic", questions.read(cls, {**said, **fixed}))

    def _said(self, asked: Statistic | Plan) -> dict[str, Any]:
        """Return a question as the server takes it: all is said but what the session fixes."""
        question = self._agreeing(typed_question(asked))
        fixed = {*self._terms.fixed, "read"}
        return {name: x for name, x in question.to_dict().items() if name not in fixed}


def _typed(cls: type[Question], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed as JSON knows it; it is read by the server."""
    if typed.get("source") is not None:
        raise left_to_the_session("source")
    said = {name: _plain(value) for name, value in typed_values(cls, typed).items()}
    return {"statistic": cls.kind, **said}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return plain_parameter(value)


# ---- `Remote`: a server, by its address and a token ----------------------------------------------


class Remote:
    """A server that answers questions about data that it holds (``sourdine serve``).

    Parameters
    ----------
    url
        Where it is, such as ``"https://statistics.example"``.
    token
        Your token: ``sourdine serve token`` and the server's pages make one.
    remember
        The path of a file that keeps how far the server's ledgers had got, so that an old copy that
        was put back is noticed when another process asks. Without one, while this object lives.
    transport
        What sends requests; the usual one if left out.

    Examples
    --------
    >>> import sourdine as sd
    >>> server = sd.Remote("http://127.0.0.1:8000", "sourdine-...")  # sends nothing yet
    >>> wages = server.session("wages")  # doctest: +SKIP
    >>> wages.mean(column="wage", epsilon=0.1).interval(0.95)  # doctest: +SKIP
    (31170.9, 31292.3)
    >>> server.close()
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        remember: str | PathLike[str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not token or not token.isascii() or not token.isprintable():
            what = "be a token issued by the server"
            raise ParameterError("token", what, "", "Create a new one there.")
        self._connection = Connection(url, token, remember=remember, transport=transport)

    @property
    def datasets(self) -> list[dict[str, Any]]:
        """The data sets that you may see: names, totals, what was spent, your grants."""
        return cast("list[dict[str, Any]]", self._connection.get("/datasets"))

    def session(self, name: str) -> RemoteSession:
        """Return a session on a data set."""
        return RemoteSession(self._connection, name)

    @property
    def guards(self) -> list[dict[str, Any]]:
        """The guards that you may see: names, terms, what was told, your grants."""
        return cast("list[dict[str, Any]]", self._connection.get("/guards"))

    def guard(self, name: str) -> RemoteGuard:
        """Return the leaderboard of a guard, to submit predictions to."""
        return RemoteGuard(self._connection, name)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Remote: {self._connection.url}>"
