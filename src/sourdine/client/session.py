"""A session whose data and ledger are on a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import numpy as np

from sourdine import question as questions
from sourdine.answers import Release
from sourdine.client.planner import RemotePlanner
from sourdine.errors import SourdineError
from sourdine.question.question import given, plain_parameter
from sourdine.session import Room
from sourdine.session.could import Asking
from sourdine.session.lines import read_charge, read_terms
from sourdine.session.session import left_to_the_session, typed_question
from sourdine.session.spending import Spending

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.central import Statistic
    from sourdine.client.connection import Connection
    from sourdine.plan import Plan
    from sourdine.question import Question
    from sourdine.session import Charge, Terms
    from sourdine.session.accounts import Account

__all__ = ["RemoteSession"]

MOST_LISTED = 1000


class RemoteSession(Spending):
    """Many statistics of one data set under one total, on a server.

    It has the methods of `sourdine.Session`. A question goes to the server as it was typed, and is
    read there, with the bounds and keys that the owner of the data says. What comes back is a
    `Release`. A request that has to be sent again has the same key, and is charged once.

    Parameters
    ----------
    connection
        To the server.
    name
        The data set.
    """

    __slots__ = ("_connection", "_terms", "name")

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self.name = connection, name
        self._terms: Terms = read_terms(self.facts["terms"])

    @property
    def facts(self) -> dict[str, Any]:
        """What is public of the data set: columns, bounds, keys, what was spent, your grant."""
        found: dict[str, Any] = self._connection.get("", self.name)
        return found

    @property
    def terms(self) -> Terms:
        """The total, the relation, the unit and the name of the data."""
        return self._terms

    @property
    def account(self) -> Account:
        """What was spent until now, by everybody, by the way in which the ledger counts."""
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
        left = self.remaining
        room = left.filter if isinstance(left, Room) else left.exact_epsilon()
        return RemotePlanner(room, self._terms, lambda cls, typed: self._read("/plan", cls, typed))

    @property
    def could(self) -> Asking:
        """Whether a question would be admitted now, and what would be left; charges nothing."""
        return Asking(
            lambda cls, typed: self._read("/could", cls, typed),
            lambda question: self._checked(typed_question(question)),
            self.account,
        )

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
            raise SourdineError(
                "the answer could not be drawn. What it costs was charged before anything was read."
            )
        return [Release.from_dict(answer) for answer in found["answers"]]

    def _read(self, path: str, cls: type[Question], typed: Mapping[str, Any]) -> Statistic:
        """Return the question that the server reads of what was typed."""
        found = self._connection.post(path, self.name, _typed(cls, typed))
        said = {name: x for name, x in found["question"].items() if name != "statistic"}
        if found["target"] is not None:
            said = {**said, "error": found["target"]}
            del said["epsilon"]
        return cast("Statistic", questions.read(cls, {**said, **self._fixed}))

    @property
    def _fixed(self) -> dict[str, Any]:
        terms = self._terms
        return {"relation": terms.total.relation, "unit": terms.unit, "rows": terms.rows}

    def _checked(self, question: Statistic) -> Statistic:
        """Return a question that agrees with what the session fixes, or refuse it."""
        for name, own in self._fixed.items():
            if getattr(question, name) != own:
                raise left_to_the_session(name)
        if not question.source.private:
            raise left_to_the_session("source")
        return question

    def _said(self, asked: Statistic | Plan) -> dict[str, Any]:
        """Return a question as the server takes it: all is said but what the session fixes."""
        question = self._checked(typed_question(asked))
        fixed = {*self._fixed, "read"}
        return {name: x for name, x in question.to_dict().items() if name not in fixed}


def _typed(cls: type[Question], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed as JSON knows it; it is read by the server."""
    if typed.get("source") is not None:
        raise left_to_the_session("source")
    said = {name: _plain(value) for name, value in given(cls, typed).items()}
    return {"statistic": cls.kind, **said}


def _plain(value: Any) -> Any:  # noqa: ANN401 - what JSON knows
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return plain_parameter(value)
