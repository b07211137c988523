"""`ServerStore`: everything a server keeps, in one database."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Self

from sourdine.errors import ParameterError
from sourdine.server.store.base import Attempts, Grants, Meta, People, Tokens
from sourdine.server.store.checks import DatasetCheck, Witness, checked
from sourdine.server.store.guards import Guards, guard_checked, guards_anew, make_guard_tables
from sourdine.server.store.releases import Datasets, Releases, Surveys
from sourdine.storage import locks
from sourdine.storage.database import Address, SharedDatabase
from sourdine.storage.journal import book_tables, now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from sourdine.storage.database import Transaction


# ---- The tables of a store, made in one place: by a command, never when a server starts ----------


VERSION = 3
"""Of the tables that this library reads and writes."""
READ = "read TEXT NOT NULL DEFAULT '{}'"
TITLE, DESCRIPTION = "title TEXT NOT NULL DEFAULT ''", "description TEXT NOT NULL DEFAULT ''"
ATTEMPTS = (
    "attempts (subject TEXT NOT NULL, since BIGINT NOT NULL, number INTEGER NOT NULL, "
    "PRIMARY KEY (subject, since))"
)


def _to_version_2(transaction: Transaction) -> None:
    """Say how a data set's texts are read, count attempts to log in, and keep guards."""
    transaction.run(f"ALTER TABLE datasets ADD COLUMN {READ}")
    transaction.run(f"CREATE TABLE {ATTEMPTS}")
    guards_anew(transaction)


def _to_version_3(transaction: Transaction) -> None:
    for column in (TITLE, DESCRIPTION):
        transaction.run(f"ALTER TABLE datasets ADD COLUMN {column}")


MIGRATIONS: Mapping[int, Callable[[Transaction], None]] = {1: _to_version_2, 2: _to_version_3}
"""From each earlier version, what makes the next one of it."""

TABLES = f"""
meta (identity TEXT PRIMARY KEY, version INTEGER NOT NULL, opened TEXT NOT NULL);
people (name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL,
    disabled INTEGER NOT NULL);
tokens (sha256 TEXT PRIMARY KEY, who TEXT NOT NULL REFERENCES people (name), kind TEXT NOT NULL,
    until DOUBLE PRECISION NOT NULL, label TEXT NOT NULL, revoked INTEGER NOT NULL);
datasets (name TEXT PRIMARY KEY REFERENCES books (name), source TEXT NOT NULL,
    columns TEXT NOT NULL, n_about BIGINT, state TEXT NOT NULL, opened TEXT NOT NULL,
    {READ}, {TITLE}, {DESCRIPTION});
{ATTEMPTS};
grants (dataset TEXT NOT NULL REFERENCES datasets (name),
    analyst TEXT NOT NULL REFERENCES people (name), epsilon TEXT NOT NULL,
    PRIMARY KEY (dataset, analyst));
releases (analyst TEXT NOT NULL, key TEXT NOT NULL, asked TEXT NOT NULL,
    dataset TEXT NOT NULL REFERENCES datasets (name), number BIGINT NOT NULL,
    count INTEGER NOT NULL, line BIGINT NOT NULL, spent TEXT NOT NULL, state TEXT NOT NULL,
    answer BIGINT, PRIMARY KEY (analyst, key));
surveys (name TEXT PRIMARY KEY, document TEXT NOT NULL, store TEXT NOT NULL,
    public INTEGER NOT NULL, state TEXT NOT NULL, page TEXT NOT NULL)
"""
INDEXES = (
    "UNIQUE INDEX releases_by_number ON releases (dataset, number)",
    "INDEX releases_by_analyst ON releases (dataset, analyst, number)",
    "INDEX tokens_by_person ON tokens (who)",
)


def make_tables(transaction: Transaction) -> None:
    """Make all tables, in a database that has none of them."""
    dialect = transaction.dialect
    statements = [
        *book_tables(dialect),
        *(f"CREATE TABLE {table.strip()}" for table in TABLES.split(";")),
        *(f"CREATE {index}" for index in INDEXES),
        *dialect.forbidding("releases", "UPDATE", "OLD.state <> 'charged'"),
        *dialect.forbidding("releases", "DELETE"),
        *dialect.forbidding("datasets", "UPDATE", "OLD.state <> 'open'"),
        *dialect.forbidding("datasets", "DELETE"),
    ]
    for statement in statements:
        transaction.run(statement)
    make_guard_tables(transaction)
    transaction.run("INSERT INTO meta VALUES (?, ?, ?)", token_hex(16), VERSION, now())


# ---- `ServerStore`: everything a server keeps, in one database -----------------------------------


class ServerStore:
    """The store of a server: a file of SQLite, or a database of PostgreSQL.

    All workers share it. Whatever changes it is one transaction, on the disk when the call
    returns; calls that wait together, from threads of one process, share a commit. Every method
    may be called from any thread, and blocks: a server calls them in its pool of threads.

    Parameters
    ----------
    database
        One that `create` filled.

    Attributes
    ----------
    people, tokens, grants
        Who may log in, by what, and how much they may spend.
    datasets
        What may be asked, and the ledger of each.
    releases
        What was charged and answered.
    guards, surveys
        The other things on the same server.
    attempts
        How often somebody tried to log in.

    Examples
    --------
    >>> import tempfile
    >>> from sourdine.server.store.base import Dataset, KeyedRequest, Person, fingerprint
    >>> from sourdine.session import Session, Terms
    >>> from sourdine.privacy import Guarantee
    >>> from sourdine import questions
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = ServerStore.create(f"sqlite:///{folder.name}/store.db")
    >>> dataset = Dataset(name="ages", terms=Terms(total=Guarantee(1)), source="ages.csv")
    >>> dataset = store.datasets.add(dataset)
    >>> anna = store.people.add(Person(name="anna", role="analyst"))
    >>> grant = store.grants.give("ages", "anna", 0.5)

    A server keeps one session for each data set; a request is charged once under its key:

    >>> session = Session({"age": [20, 30, 40] * 100}, ledger=store.datasets.ledger("ages"))
    >>> body = {"statistic": "count", "epsilon": 0.25}
    >>> request = KeyedRequest(
    ...     analyst="anna", key="first", dataset="ages", asked=fingerprint(str(body))
    ... )
    >>> asked = session.prepare([questions.read(body)])
    >>> first = store.releases.draw_once(request, asked)()
    >>> again = store.releases.draw_once(request, asked)()
    >>> first.state, first.answers == again.answers, (first.fresh, again.fresh)
    ('answered', True, (True, False))
    >>> print(session.remaining)
    epsilon 0.75, one record added or removed
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, database: SharedDatabase) -> None:
        self.database = database
        self.people, self.tokens = People(database), Tokens(database)
        self.grants, self.datasets = Grants(database), Datasets(database)
        self.releases = Releases(database, self.datasets, self.grants)
        self.guards, self.surveys = Guards(database), Surveys(database)
        self.attempts = Attempts(database)

    @classmethod
    def create(cls, address: str) -> Self:
        """Make the tables of a new store: a new file, or an empty database."""
        where = Address.read(address)
        if where.is_file:
            with locks.making("store", where.path):
                where.path.touch(mode=0o600, exist_ok=False)
        database = SharedDatabase(where)
        database.write(make_tables)
        return cls(database)

    @classmethod
    def open(cls, address: str, *, witness: str | PathLike[str] | None = None) -> Self:
        """Open a store that `create` made, of this version.

        A witness is a file on another disk that remembers how far the ledgers have got (`Witness`):
        a store that is behind it is refused, and so is a file that is missing (`add_witness`).
        """
        database = SharedDatabase(address)
        version = _meta(database).version
        if version != VERSION:
            database.close()
            older = "Stop all servers, make a copy, and migrate it."
            hint = older if version < VERSION else "Install a later version of Sourdine."
            what = f"have tables of version {VERSION}"
            raise ParameterError("store", what, f"version {version}", hint)
        store = cls(database)
        if witness is not None:
            store.watch(Witness(witness, store.meta.identity))
        return store

    @classmethod
    def migrate(cls, address: str) -> tuple[int, int]:
        """Bring the tables of a store to this version; return the version before and after."""
        database = SharedDatabase(address)

        def job(transaction: Transaction) -> tuple[int, int]:
            before = int((transaction.one("SELECT version FROM meta") or (0,))[0])
            for version in range(before, VERSION):
                MIGRATIONS[version](transaction)
                transaction.run("UPDATE meta SET version = ?", version + 1)
            return before, max(before, VERSION)

        try:
            return database.write(job)
        finally:
            database.close()

    @property
    def meta(self) -> Meta:
        return _meta(self.database)

    def watch(self, witness: Witness) -> None:
        """Refuse to be behind a witness, and tell it of every commit from now on."""
        witness.require(lambda name, line: (self.datasets.head(name, line) or (0, None))[1])
        names = self.database.read(lambda t: t.all("SELECT name FROM books"))
        heads = {name: self.datasets.head(name) for (name,) in names}
        witness({name: f"{head[0]} {head[1]}" for name, head in heads.items() if head})
        self.database.witness = witness

    def add_witness(self, path: str | PathLike[str]) -> Witness:
        """Make a witness of the store as it is now, in a new file on another disk."""
        witness = Witness.create(path, self.meta.identity)
        self.watch(witness)
        return witness

    def check(self) -> list[DatasetCheck]:
        """Read everything, and return for each ledger what is wrong with it, if anything is."""
        found = [checked(self.datasets, name) for name in sorted(self.datasets.names())]
        return found + [guard_checked(self.guards, guard.name) for guard in self.guards.all()]

    def backup(self, path: str | PathLike[str]) -> None:
        """Write a copy of a file of SQLite to a new one, while workers go on.

        The copy is a store; for PostgreSQL there is ``pg_dump``. To put an older copy back is to
        forget what was charged since: keep a witness.
        """
        self.database.backup(path)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()


def _meta(database: SharedDatabase) -> Meta:
    found = database.read(lambda t: t.one("SELECT identity, version, opened FROM meta"))
    if found is None:
        raise ParameterError(
            "store", "be a store created by Sourdine", str(database.address), "Create it first."
        )
    identity, version, opened = found
    return Meta(identity=identity, version=version, opened=opened)
