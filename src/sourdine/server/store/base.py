"""What a server keeps: the records of its store, and what a release needs of a question.

=================  ================================================================================
`Meta`             who the store is, and the version of its tables
`Dataset`          a data set: its total, how it is read, its public columns
`Person`           somebody who may log in: owner, analyst or auditor
`Grant`            how much of a data set's total an analyst may spend
`Token`            a session of a browser, or a key of a script; the store knows its SHA-256
`KeyedRequest`     who asks what of which data set, under which key
`StoredRelease`    what became of it: its charge, its head, its state, its answers
`Guard`            labels under guard; `TeamGrant` who may submit, `Submission` what was told
`SurveyEntry`      a survey on the same server
=================  ================================================================================

Names are what things are called in addresses and people log in with; times are in UTC, as ISO 8601.
Texts named JSON are what the server's interfaces understand; the store keeps them as they are.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import at_least, one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.adaptive.holdout.leaderboard import Standing
    from sourdine.exact import Number
    from sourdine.session import Call, Terms
    from sourdine.storage.database import SharedDatabase, Transaction


T = TypeVar("T")
R = TypeVar("R")
Role = Literal["owner", "analyst", "auditor"]
State = Literal["charged", "answered", "failed"]


class KeyReusedError(ParameterError):
    """A key came again with another request."""


class NotGrantedError(SourdineError):
    """There is no such data set, or none that this person may ask; which of both is not said."""

    @classmethod
    def of(cls, what: str) -> Self:
        """Return the refusal of a data set or a guard."""
        return cls(f"No such {what}, or no access to it. Ask its owner for a grant.")


def fingerprint(text: str | bytes) -> str:
    """Return the SHA-256 of a text: of a request's body, or of a token."""
    return sha256(text.encode() if isinstance(text, str) else text).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Who a store is: 32 letters that no other has, its tables' version, when it was made."""

    identity: str
    version: int
    opened: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set that may be asked; only its state ever changes, and ``"closed"`` is for good.

    The ``terms`` (total, relation, unit and its rows) stand in the first line of its ledger, and
    nowhere else. ``source`` is a path or an address that the server reads the data from; an address
    may hold a password, so no interface shows it. ``columns`` is what is public about them, as
    JSON: names, kinds, bounds, keys; ``read`` how texts are read (`sourdine.Reading`), as JSON.
    ``n_about`` is about how many records there are, as the owner says it; None if that is not
    public. ``title`` and ``description`` are for the people who use it.
    """

    name: str
    terms: Terms
    source: str
    columns: str = "{}"
    n_about: int | None = None
    state: Literal["open", "closed"] = "open"
    opened: str = ""
    read: str = "{}"
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who may log in, unless disabled.

    ``password`` is its hash by argon2id; empty for somebody who has none.
    """

    name: str
    role: Role
    password: str = ""
    disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """How much an analyst may spend of a data set, within its total.

    ``epsilon`` is what the epsilons of the analyst's releases may sum to. It is a ceiling, not a
    share that is set aside: the data set's own total is what binds all analysts together.
    ``spent`` is what they sum to.
    """

    dataset: str
    analyst: str
    epsilon: Fraction
    spent: Fraction = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What is left of the grant; nothing where it was lowered below what is spent."""
        return max(self.epsilon - self.spent, Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What stands for a person until a moment, in seconds since 1970, UTC.

    The token itself is shown once and not kept: ``sha256`` is its `fingerprint`. It is a
    ``"session"`` of a browser, or ``"api"``; a ``"device"`` is a browser that logged in before
    (`sourdine.server.auth`), and stands for nobody.
    """

    sha256: str
    who: str
    kind: Literal["session", "api", "device"]
    until: float
    label: str = ""
    revoked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedRequest:
    """A request that is charged once, however often it is sent.

    Who asks and the key that they chose name it; ``asked`` is the `fingerprint` of its body: the
    same key with another one is refused.
    """

    analyst: str
    key: str
    dataset: str
    asked: str

    @property
    def digest(self) -> str:
        """The `fingerprint` of all of it, which the ledger stores with its charges."""
        return fingerprint(json.dumps([self.analyst, self.key, self.dataset, self.asked]))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRelease:
    """What became of a request.

    It is ``"charged"``: nothing was answered yet, and nothing was seen; ``"answered"``: the answers
    stand, one for each charge, as JSON; or ``"failed"``: the draw raised, and is never made again.
    ``number`` is the first of its charges. ``line`` and ``head`` are the line of its last charge
    in the data set's ledger, and that line's check: anyone who remembers both notices a ledger
    that was put back or rewritten. ``fresh`` is whether this very call charged it.
    """

    request: KeyedRequest
    state: State
    number: int
    count: int
    line: int
    head: str
    answers: tuple[str, ...] = ()
    fresh: bool = False


class AskedQuestions(Protocol):
    """Questions as a session asks them (`sourdine.session.session.Prepared`)."""

    def charged(self, charge: Callable[[Sequence[Call]], T]) -> T:
        """Charge one call for each question; refusals use the words of the caller's interface."""

    def draw(self) -> Sequence[str]:
        """Read the data, draw, and return one answer for each call, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Labels under guard; only its state ever changes, and ``"closed"`` is for good.

    ``source`` is where the server reads the labels from, and ``column`` theirs there, None if there
    is only one: the store holds no label. ``secret`` is the key of their seal, in hexadecimal
    digits; it is shown to nobody. ``text`` says what is to be predicted, for those who do.
    """

    name: str
    source: str
    column: str | None = None
    secret: str = field(default="", repr=False)
    text: str = ""
    state: Literal["open", "closed"] = "open"
    opened: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamGrant:
    """How many submissions to a guard a team may send, and how many were ``sent``."""

    guard: str
    team: str
    submissions: int
    sent: int = 0

    @property
    def left(self) -> int:
        """How many more there may be."""
        return max(self.submissions - self.sent, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a team sent to a guard, and when it was told which standing.

    The predictions are not kept. ``number`` counts the submissions of all teams; ``line`` and
    ``head`` are the line of the guard's ledger that holds the answer, and that line's check;
    ``fresh`` is whether this very call charged it.
    """

    request: KeyedRequest
    number: int
    told: str
    line: int
    head: str
    standing: Standing
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyEntry:
    """A survey on this server, whose records are in a store of their own.

    Its document, as JSON, changes while it is a draft alone; the address of its store
    (`sourdine.survey.store.SurveyStore`) and the SHA-256 of its page are empty then. ``public`` is
    whether anybody may see its results; ``"closed"`` is for good.
    """

    name: str
    document: str
    store: str = ""
    public: bool = False
    state: Literal["draft", "open", "closed"] = "draft"
    page: str = ""


# ---- Attempts to log in, counted for all workers together ----------------------------------------


class Stored:
    """A part of a store, in its database."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database


class Attempts(Stored):
    """How often something was tried in the stretch of time that runs now."""

    def count(self, most: Mapping[str, int], since: int) -> bool:
        """Count an attempt for each subject, unless one of them has none left; say whether it was.

        ``most`` is how many each has in a stretch of time; what was counted before is forgotten.
        """

        def job(transaction: Transaction) -> bool:
            transaction.run("DELETE FROM attempts WHERE since < ?", since)
            find = "SELECT number FROM attempts WHERE subject = ? AND since = ?"
            for subject, limit in most.items():
                found = transaction.one(find, subject, since)
                if found is not None and found[0] >= limit:
                    return False
            count = (
                "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT (subject, since) "
                "DO UPDATE SET number = attempts.number + 1"
            )
            transaction.each(count, [(subject, since) for subject in most])
            return True

        return self._database.write(job)

    def forgive(self, subjects: tuple[str, ...], since: int) -> None:
        """Take an attempt back that went well."""
        less = "UPDATE attempts SET number = number - 1 WHERE subject = ? AND since = ?"
        self._database.write(lambda t: t.each(less, [(subject, since) for subject in subjects]))


# ---- Tables of records that are told apart by their names ----------------------------------------


class NamedRecords(Stored, Generic[R]):
    """The records of a table whose key is their name."""

    table: ClassVar[str]
    columns: ClassVar[str]
    """In the order of the values of a record."""

    @abstractmethod
    def _record(self, row: tuple[Any, ...]) -> R:
        """Return the record of a row."""

    def get(self, name: str) -> R | None:
        """Return the record of a name; None if there is no such name."""
        found = self._database.read(lambda t: self._row(t, name))
        return None if found is None else self._record(found)

    def all(self) -> list[R]:
        """Return all records, by name."""
        find = f"{self._select} ORDER BY name"
        return [self._record(row) for row in self._database.read(lambda t: t.all(find))]

    def close(self, name: str) -> None:
        """Close it for good: it answers nothing more, and can still be read and checked."""
        end = f"UPDATE {self.table} SET state = 'closed' WHERE name = ? AND state = 'open'"  # noqa: S608
        self._database.write(lambda t: t.run(end, name))

    @property
    def _select(self) -> str:
        return f"SELECT {self.columns} FROM {self.table}"  # noqa: S608 - names of columns

    def _row(self, transaction: Transaction, name: str) -> tuple[Any, ...] | None:
        return transaction.one(f"{self._select} WHERE name = ?", name)

    def _require_new(self, transaction: Transaction, name: str) -> None:
        if self._row(transaction, name) is not None:
            raise ParameterError("name", "be new", repr(name), "Choose another name.")

    def _insert(self, transaction: Transaction, *values: object) -> None:
        """Write a record down, or refuse a name that is taken."""
        self._require_new(transaction, str(values[0]))
        places = ", ".join("?" * len(values))
        transaction.run(f"INSERT INTO {self.table} ({self.columns}) VALUES ({places})", *values)  # noqa: S608


def require_names(transaction: Transaction, tables: Mapping[str, tuple[str, str]]) -> None:
    """Refuse a grant of what is not there: for each table, a parameter and the name it says."""
    for table, (parameter, name) in tables.items():
        if transaction.one(f"SELECT 1 FROM {table} WHERE name = ?", name) is None:  # noqa: S608
            raise ParameterError(parameter, "exist in this store", repr(name), "Add it first.")


# ---- People, their tokens, and what analysts may spend -------------------------------------------


TOKEN = "SELECT sha256, who, kind, until, label, revoked FROM tokens"  # noqa: S105 - a query
SPENT = "SELECT spent FROM releases WHERE dataset = ? AND analyst = ? ORDER BY number DESC LIMIT 1"


class People(NamedRecords[Person]):
    """Everybody who may log in."""

    table, columns = "people", "name, role, password, disabled"

    def add(self, person: Person) -> Person:
        """Write somebody down, or refuse a name that is taken."""
        one_of(person.role, "role", "owner", "analyst", "auditor")
        values = (person.name, person.role, person.password, int(person.disabled))
        self._database.write(lambda t: self._insert(t, *values))
        return person

    def change(
        self, name: str, *, password: str | None = None, disabled: bool | None = None
    ) -> Person:
        """Give somebody another password's hash, or lock them out; their tokens end with it."""

        def job(transaction: Transaction) -> Person:
            found = self._row(transaction, name)
            if found is None:
                what = "be the name of a user"
                raise ParameterError("name", what, repr(name), "Choose another name.")
            new = self._record(found)
            new = new if password is None else replace(new, password=password)
            new = new if disabled is None else replace(new, disabled=disabled)
            transaction.run(
                "UPDATE people SET password = ?, disabled = ? WHERE name = ?",
                *(new.password, int(new.disabled), name),
            )
            if password is not None or disabled:
                transaction.run("UPDATE tokens SET revoked = 1 WHERE who = ?", name)
            return new

        return self._database.write(job)

    def _record(self, row: tuple[Any, ...]) -> Person:
        return _person(row)


def _person(row: tuple[Any, ...]) -> Person:
    name, role, password, disabled = row
    return Person(name=name, role=role, password=password, disabled=bool(disabled))


class Tokens(Stored):
    """What stands for people."""

    def add(self, token: Token) -> Token:
        """Write a token's SHA-256 down."""
        one_of(token.kind, "kind", "session", "api", "device")
        values = (token.sha256, token.who, token.kind, token.until, token.label, 0)
        self._database.write(
            lambda t: t.run("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)", *values)
        )
        return token

    def find(self, sha256: str, now: float | None = None) -> tuple[Token, Person] | None:
        """Return a token that holds, and who it stands for; None for all others alike."""
        moment = time() if now is None else now

        def job(transaction: Transaction) -> tuple[Token, Person] | None:
            found = transaction.one(f"{TOKEN} WHERE sha256 = ?", sha256)
            if found is None:
                return None
            token = _token(found)
            find = f"SELECT {People.columns} FROM people WHERE name = ?"  # noqa: S608 - columns
            owner = transaction.one(find, token.who)
            if owner is None or token.revoked or token.until <= moment or owner[3]:
                return None
            return token, _person(owner)

        return self._database.read(job)

    def of(self, who: str) -> list[Token]:
        """Return somebody's tokens, those that ended too."""
        order = f"{TOKEN} WHERE who = ? ORDER BY until, sha256"
        return [_token(row) for row in self._database.read(lambda t: t.all(order, who))]

    def revoke(self, who: str, sha256: str) -> bool:
        """End a token of somebody; return whether there was one."""
        end = "UPDATE tokens SET revoked = 1 WHERE who = ? AND sha256 = ? AND revoked = 0"
        return self._database.write(lambda t: t.run(end, who, sha256)) == 1


def _token(row: tuple[Any, ...]) -> Token:
    sha256, who, kind, until, label, ended = row
    return Token(sha256=sha256, who=who, kind=kind, until=until, label=label, revoked=bool(ended))


class Grants(Stored):
    """What analysts may spend."""

    def give(self, dataset: str, analyst: str, epsilon: Number) -> Grant:
        """Say how much an analyst may spend of a data set: a new ceiling in place of the old."""
        most = at_least(epsilon, "epsilon", 0)

        def job(transaction: Transaction) -> Grant:
            require_names(
                transaction, {"datasets": ("dataset", dataset), "people": ("analyst", analyst)}
            )
            transaction.run(
                "INSERT INTO grants VALUES (?, ?, ?) "
                "ON CONFLICT (dataset, analyst) DO UPDATE SET epsilon = excluded.epsilon",
                *(dataset, analyst, str(most)),
            )
            return self._grant(transaction, dataset, analyst, most)

        return self._database.write(job)

    def get(self, dataset: str, analyst: str) -> Grant | None:
        """Return what an analyst may spend of a data set; None if they may not ask it."""
        return self._database.read(lambda t: self.look(t, dataset, analyst))

    def look(self, transaction: Transaction, dataset: str, analyst: str) -> Grant | None:
        find = "SELECT epsilon FROM grants WHERE dataset = ? AND analyst = ?"
        found = transaction.one(find, dataset, analyst)
        if found is None:
            return None
        return self._grant(transaction, dataset, analyst, Fraction(found[0]))

    def all(self, *, dataset: str | None = None, analyst: str | None = None) -> list[Grant]:
        """Return the grants of a data set, or of an analyst, or all."""

        def job(transaction: Transaction) -> list[Grant]:
            rows = transaction.all("SELECT * FROM grants ORDER BY dataset, analyst")
            return [
                self._grant(transaction, of, who, Fraction(most))
                for of, who, most in rows
                if dataset in (None, of) and analyst in (None, who)
            ]

        return self._database.read(job)

    def _grant(self, transaction: Transaction, dataset: str, analyst: str, most: Fraction) -> Grant:
        spent = transaction.one(SPENT, dataset, analyst) or ("0",)
        return Grant(dataset=dataset, analyst=analyst, epsilon=most, spent=Fraction(spent[0]))
