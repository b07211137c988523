"""The devices of a survey of several rounds: they keep memories, and answer from them.

A memory is drawn before the first answer and depends on none. It is a secret: its holder can
tell from what was sent nearly what was answered. It never leaves the device; what is sent each
round is a record as any other (`sourdine.local.reports.records`), made for that round alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind
from sourdine.frames.frame import Frame
from sourdine.local.reports.records import Records, to_lines
from sourdine.local.reports.sources import form_of
from sourdine.local.rounds.histories import several
from sourdine.local.rounds.memoised import KeptResponses
from sourdine.local.table.blocks import ROWS, demand_missing, demand_types, matched
from sourdine.local.table.columns import demand_answers
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sourdine.local.rounds.memoised import Memoised
    from sourdine.local.table.schema import Schema
    from sourdine.noise import Source


VERSION = 1
MOST_PEOPLE = 1 << 27
"""A panel has no more."""
SECRET = "never send this: with it, what you sent says what you answered"  # noqa: S105


class Panel:
    """The memories of many people, each of whom answers at most once in every round.

    It stands for as many devices: to try a survey out, or for a kiosk. One person's own device is
    a `Respondent`.

    Parameters
    ----------
    schema
        What is asked, with its ``rounds``.
    people
        How many there are.
    source
        Where the random bits come from.

    Notes
    -----
    *Claim*: the records of all rounds follow the law of `Histories`. *Checked by*
    ``test_the_whole_call_follows_the_law``. *Claim*: nothing else that can be seen depends on the
    answers. *Checked by* ``test_only_the_reports_depend_on_the_answers``.

    Examples
    --------
    >>> from sourdine.local.table.columns import Choice
    >>> from sourdine.local.table.schema import Schema
    >>> survey = Schema(vote=Choice("yes", "no", missing=True), epsilon=2, rounds=3)
    >>> people = Panel(survey, 4)
    >>> sent = people.reports({"vote": ["yes", "no", "no", None]})
    >>> len(sent), people.answered
    (4, 1)
    """

    __slots__ = ("answered", "asked", "memories", "people", "schema")

    def __init__(self, schema: Schema, people: int, *, source: Source = SYSTEM) -> None:
        self.schema = several(schema)
        self.people = integer(people, "people", least=1, most=MOST_PEOPLE)
        self.answered = 0
        """The last round that was answered."""
        self.memories = {
            name: oracle.remember(self.people, source) for name, oracle in _oracles(schema).items()
        }
        self.asked: NDArray[np.int64] | None = None
        if schema.method == "sample":
            weights = list(schema.weights.values())
            self.asked = noise.categorical(weights, self.people, source=source)

    def reports(
        self,
        frame: object,
        *,
        round: int | None = None,  # noqa: A002 - what it is
        source: Source = SYSTEM,
    ) -> Records:
        """Draw everybody's reports of a round, the next one if left out.

        Parameters
        ----------
        frame
            A row for each person, in the order of the panel; anything that
            `sourdine.frames.frame.Frame` takes.
        round
            Which round, later than all that were answered. Rounds may be left out.
        source
            Where the random bits come from, those of the ids among them.
        """
        demand_missing(self.schema)
        return self._reports(frame, round, source)

    def _reports(self, frame: object, round: int | None, source: Source) -> Records:  # noqa: A002
        schema, turn = self.schema, self._turn(round)
        form = form_of(schema.round(turn))
        parts = schema.parts("report")
        data = matched(schema, Frame(frame), drop=None)
        demand_types(schema, data, readable=False)
        blocks = list(data.codes(*(part.cell for part in parts.values()), chunk=ROWS))
        slots = [np.concatenate(column) for column in zip(*blocks, strict=True)]
        if len(slots[0]) != self.people:
            must, got = f"have a row for each of the {self.people} people", f"{len(slots[0])} rows"
            hint = "Leave the cells of people who do not answer blank."
            raise ParameterError("frame", must, got, hint)
        drawn = {}
        for j, (name, oracle) in enumerate(_oracles(schema).items()):
            who = slice(None) if self.asked is None else self.asked == j
            absent = parts[name].mechanism.top if parts[name].column.missing else -1
            there = np.where(slots[j] < 0, absent, slots[j])
            drawn[name] = oracle.again(self.memories[name].of(who), there[who], source)
        places = np.array([form.names.index(name) for name in schema.columns])
        asked = None if self.asked is None else places[self.asked]
        self.answered = turn
        return Records.stamped(form, drawn, asked=asked, source=source)

    def _turn(self, wanted: int | None) -> int:
        last, following = self.schema.rounds or 1, self.answered + 1
        if self.answered == last:
            must = f"be at most {last}, the last round of the survey"
            hint = "The total is spent: use a new schema, which has its own cost."
            raise ParameterError("round", must, "a later round", hint)
        turn = following if wanted is None else integer(wanted, "round", least=1)
        if not self.answered < turn <= last:
            raise ParameterError(
                "round", f"be from {following} to {last}", given(turn),
                "Use {round}; send the record of an earlier round again instead of drawing it "
                "again.", round=following,
            )  # fmt: skip
        return turn


class Respondent:
    """One person's device: it keeps a memory, and answers round by round.

    Parameters
    ----------
    schema
        What is asked, with its ``rounds``.
    memory
        What `to_json` returned; a new memory is drawn if left out, and costs the total anew.
    source
        Where the random bits of a new memory come from.

    Examples
    --------
    >>> from sourdine.local.table.columns import Flag
    >>> from sourdine.local.table.schema import Schema
    >>> survey = Schema(smokes=Flag(), epsilon=2, rounds=52)
    >>> me = Respondent(survey)
    >>> line = me.answer(smokes=True)            # to be sent
    >>> kept = me.to_json()                      # to be kept, on the device alone
    >>> later = Respondent(survey, kept)
    >>> line = later.answer(smokes=False)
    >>> later.answered
    2
    """

    __slots__ = ("_panel",)

    def __init__(
        self, schema: Schema, memory: str | None = None, *, source: Source = SYSTEM
    ) -> None:
        self._panel = Panel(schema, 1, source=source)
        if memory is not None:
            _recall(self._panel, memory)

    @property
    def schema(self) -> Schema:
        return self._panel.schema

    @property
    def answered(self) -> int:
        """The last round that was answered; 0 before the first."""
        return self._panel.answered

    def answer(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        round: int | None = None,  # noqa: A002 - what it is
        source: Source = SYSTEM,
        **named: str | float | None,
    ) -> str:
        """Return the record of a round, a line of JSON: all that is sent.

        Parameters
        ----------
        answers
            The answers by name, or typed as ``name=answer``. One left out is absent, which only
            a column may be that declares ``missing``.
        round
            Which round, the next one if left out. Each is drawn once: to send it again, send the
            same line.
        source
            Where the random bits come from.
        """
        said, columns = {**(answers or {}), **named}, self.schema.columns
        for name in said:
            if name not in columns:
                hint = f"The questions are: {', '.join(map(repr, columns))}."
                raise ParameterError("answers", "name questions of the schema", repr(name), hint)
        demand_answers(self.schema, said)
        row = {name: [said.get(name)] for name in columns}
        return to_lines(self._panel._reports(row, round, source))[0]  # noqa: SLF001 - one person's

    def to_json(self) -> str:
        """Return the memory: a secret, to be kept on the device, and before the line is sent."""
        panel = self._panel
        columns = {
            name: {
                "hash": int(memory.keys[0]),
                "kept": memory.kept[0].tolist(),
                "absent": int(memory.absent[0]),
            }
            for name, memory in panel.memories.items()
        }
        asked = None if panel.asked is None else list(self.schema.columns)[int(panel.asked[0])]
        facts = {"sourdine": VERSION, "secret": SECRET, "schema": self.schema.fingerprint}
        facts |= {"answered": self.answered, "asked": asked, "columns": columns}
        return json.dumps(facts, ensure_ascii=False)

    def __repr__(self) -> str:
        return f"Respondent({self.answered} of {self.schema.rounds} rounds answered)"


def _oracles(schema: Schema) -> dict[str, Memoised]:
    parts = schema.parts("report").items()
    return {name: part.memoised for name, part in parts if part.memoised is not None}


def _recall(panel: Panel, text: object) -> None:
    """Put what `Respondent.to_json` wrote into a panel of one, or say what is wrong with it."""
    if not isinstance(text, str):
        hint = "Pass the result of Respondent.to_json."
        raise ParameterTypeError("memory", "be a string", kind(text), hint)
    try:
        facts = json.loads(text)
        known = facts["sourdine"] == VERSION and isinstance(facts["schema"], str)
        foreign = known and facts["schema"] != panel.schema.fingerprint
        fits = known and not foreign and _fits(panel, facts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fits = foreign = False
    if foreign:
        must, got = "belong to this schema", "a memory of another schema"
        hint = "Pass the schema that it was created with; for another survey omit {memory}."
        raise ParameterError("memory", must, got, hint, memory=LEFT_OUT)
    if not fits:
        hint = "Restore it from a copy; a new memory costs the total again."
        raise ParameterError("memory", "be what Respondent.to_json wrote", "damaged data", hint)
    names = list(panel.schema.columns)
    for name, own in facts["columns"].items():
        panel.memories[name] = KeptResponses(
            keys=np.array([own["hash"]]),
            kept=np.array([own["kept"]]),
            absent=np.array([own["absent"]]),
        )
    if panel.asked is not None:
        panel.asked = np.array([names.index(facts["asked"])])
    panel.answered = facts["answered"]


def _fits(panel: Panel, facts: dict[str, Any]) -> bool:
    """Return whether a memory is one of the panel's schema."""

    def below(end: int, *numbers: object) -> bool:
        return all(type(x) is int and 0 <= x < end for x in numbers)

    columns, oracles = facts["columns"], _oracles(panel.schema)
    asked = facts["asked"] in oracles if panel.asked is not None else facts["asked"] is None
    if not asked or columns.keys() != oracles.keys():
        return False
    if not below((panel.schema.rounds or 0) + 1, facts["answered"]):
        return False
    for name, oracle in oracles.items():
        key, absent, kept = (columns[name][part] for part in ("hash", "absent", "kept"))
        if not below(oracle.hashes, key) or not below(oracle.categories, absent):
            return False
        if not isinstance(kept, list) or len(kept) != oracle.answers:
            return False
        if not below(oracle.answers, *kept):
            return False
    return True
