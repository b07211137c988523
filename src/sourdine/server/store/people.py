"""People, tokens, grants, and counted attempts to log in."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from time import time
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import at_least, one_of
from sourdine.server.store.base import Grant, Person, Token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.exact import Number
    from sourdine.storage.database import SharedDatabase, Transaction


# ---- Attempts to log in, counted for all workers together ----------------------------------------


class Attempts:
    """How often something was tried in the stretch of time that runs now.

    Parameters
    ----------
    database
        Where they are counted.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def count(self, most: Mapping[str, int], since: int) -> bool:
        """Count an attempt for each subject, unless one of them has none left; say whether it was.

        Parameters
        ----------
        most
            For each subject, how many attempts it has.
        since
            The stretch of time that runs now; what was counted before it is forgotten.
        """

        def job(transaction: Transaction) -> bool:
            transaction.run("DELETE FROM attempts WHERE since < ?", since)
            find = "SELECT number FROM attempts WHERE subject = ? AND since = ?"
            for subject, limit in most.items():
                found = transaction.one(find, subject, since)
                if found is not None and found[0] >= limit:
                    return False
            for subject in most:
                transaction.run(
                    "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT (subject, since) "
                    "DO UPDATE SET number = attempts.number + 1",
                    *(subject, since),
                )
            return True

        return self._database.write(job)

    def forgive(self, subjects: tuple[str, ...], since: int) -> None:
        """Take an attempt back that went well."""

        def job(transaction: Transaction) -> None:
            for subject in subjects:
                transaction.run(
                    "UPDATE attempts SET number = number - 1 WHERE subject = ? AND since = ?",
                    *(subject, since),
                )

        self._database.write(job)


# ---- People, their tokens, and what analysts may spend -------------------------------------------


PERSON = "SELECT name, role, password, disabled FROM people"
TOKEN = "SELECT sha256, who, kind, until, label, revoked FROM tokens"  # noqa: S105 - a query
SPENT = "SELECT spent FROM releases WHERE dataset = ? AND analyst = ? ORDER BY number DESC LIMIT 1"


class People:
    """Everybody who may log in."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def add(self, person: Person) -> Person:
        """Write somebody down, or refuse a name that is taken."""
        one_of(person.role, "role", "owner", "analyst", "auditor")
        values = (person.name, person.role, person.password, int(person.disabled))

        def job(transaction: Transaction) -> None:
            if transaction.one(f"{PERSON} WHERE name = ?", person.name) is not None:
                raise ParameterError("name", "be new", repr(person.name), "Choose another name.")
            transaction.run("INSERT INTO people VALUES (?, ?, ?, ?)", *values)

        self._database.write(job)
        return person

    def get(self, name: str) -> Person | None:
        """Return somebody; None if there is no such name."""
        found = self._database.read(lambda t: t.one(f"{PERSON} WHERE name = ?", name))
        return None if found is None else _person(found)

    def all(self) -> list[Person]:
        found = self._database.read(lambda t: t.all(f"{PERSON} ORDER BY name"))
        return [_person(row) for row in found]

    def change(
        self, name: str, *, password: str | None = None, disabled: bool | None = None
    ) -> Person:
        """Give somebody another password's hash, or lock them out; their tokens end with it."""

        def job(transaction: Transaction) -> Person:
            found = transaction.one(f"{PERSON} WHERE name = ?", name)
            if found is None:
                raise ParameterError(
                    "name", "be the name of a user", repr(name), "Choose another name."
                )
            was = _person(found)
            new = replace(
                was,
                password=was.password if password is None else password,
                disabled=was.disabled if disabled is None else disabled,
            )
            transaction.run(
                "UPDATE people SET password = ?, disabled = ? WHERE name = ?",
                *(new.password, int(new.disabled), name),
            )
            if password is not None or disabled:
                transaction.run("UPDATE tokens SET revoked = 1 WHERE who = ?", name)
            return new

        return self._database.write(job)


class Tokens:
    """What stands for people."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

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
            owner = transaction.one(f"{PERSON} WHERE name = ?", token.who)
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

    def sweep(self, before: float) -> int:
        """Forget tokens that ended before a time; return how many."""
        return self._database.write(lambda t: t.run("DELETE FROM tokens WHERE until < ?", before))


class Grants:
    """What analysts may spend."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def give(self, dataset: str, analyst: str, epsilon: Number) -> Grant:
        """Say how much an analyst may spend of a data set: a new ceiling in place of the old."""
        most = at_least(epsilon, "epsilon", 0)

        def job(transaction: Transaction) -> Grant:
            names = {"datasets": ("dataset", dataset), "people": ("analyst", analyst)}
            for table, (parameter, name) in names.items():
                if transaction.one(f"SELECT 1 FROM {table} WHERE name = ?", name) is None:  # noqa: S608
                    raise ParameterError(
                        parameter, "exist in this store", repr(name), "Add it first."
                    )
            transaction.run(
                "INSERT INTO grants VALUES (?, ?, ?) "
                "ON CONFLICT (dataset, analyst) DO UPDATE SET epsilon = excluded.epsilon",
                *(dataset, analyst, str(most)),
            )
            return _required(self.look(transaction, dataset, analyst))

        return self._database.write(job)

    def get(self, dataset: str, analyst: str) -> Grant | None:
        """Return what an analyst may spend of a data set; None if they may not ask it."""
        return self._database.read(lambda t: self.look(t, dataset, analyst))

    def look(self, transaction: Transaction, dataset: str, analyst: str) -> Grant | None:
        find = "SELECT epsilon FROM grants WHERE dataset = ? AND analyst = ?"
        found = transaction.one(find, dataset, analyst)
        if found is None:
            return None
        spent = transaction.one(SPENT, dataset, analyst) or ("0",)
        most, used = Fraction(found[0]), Fraction(spent[0])
        return Grant(dataset=dataset, analyst=analyst, epsilon=most, spent=used)

    def all(self, *, dataset: str | None = None, analyst: str | None = None) -> list[Grant]:
        """Return the grants of a data set, or of an analyst, or all."""

        def job(transaction: Transaction) -> list[Grant]:
            pairs = transaction.all("SELECT dataset, analyst FROM grants ORDER BY dataset, analyst")
            return [
                _required(self.look(transaction, *pair))
                for pair in pairs
                if dataset in (None, pair[0]) and analyst in (None, pair[1])
            ]

        return self._database.read(job)


def _required(grant: Grant | None) -> Grant:
    if grant is None:
        raise LookupError
    return grant


def _person(row: tuple[Any, ...]) -> Person:
    name, role, password, disabled = row
    return Person(name=name, role=role, password=password, disabled=bool(disabled))


def _token(row: tuple[Any, ...]) -> Token:
    sha256, who, kind, until, label, revoked = row
    return Token(
        sha256=sha256,
        who=who,
        kind=kind,
        until=until,
        label=label,
        revoked=bool(revoked),
    )
