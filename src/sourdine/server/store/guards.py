"""Guards: their tables, submissions and checks."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isclose
from typing import TYPE_CHECKING, Any, TypeVar

from sourdine.adaptive.holdout.leaderboard import Leaderboard, Standing, open_sealed
from sourdine.adaptive.holdout.store import GUARD, SUBMISSIONS, entry_of
from sourdine.adaptive.ledger.transaction import ANSWERS
from sourdine.errors import BudgetExceededError, ParameterError, SourdineError
from sourdine.server.store.base import (
    Guard,
    KeyedRequest,
    KeyReusedError,
    NamedRecords,
    NotGrantedError,
    Submission,
    TeamGrant,
    require_names,
)
from sourdine.server.store.checks import DatasetCheck
from sourdine.server.store.releases import named
from sourdine.storage.journal import WIDTH, TableJournal, begin_journal, now, row_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sourdine.adaptive.holdout.labels import Labels
    from sourdine.adaptive.ledger.transaction import Line
    from sourdine.storage.database import SharedDatabase, Transaction
    from sourdine.storage.journal import Head, Row, TableTransaction


# ---- The tables of guards, of who may submit to them, and of what was told under which key -------


TABLES = """
guards (name TEXT PRIMARY KEY, source TEXT NOT NULL, label TEXT, secret TEXT NOT NULL,
    text TEXT NOT NULL, state TEXT NOT NULL, opened TEXT NOT NULL);
team_grants (guard TEXT NOT NULL REFERENCES guards (name),
    team TEXT NOT NULL REFERENCES people (name), submissions BIGINT NOT NULL,
    PRIMARY KEY (guard, team));
submissions (guard TEXT NOT NULL REFERENCES guards (name), team TEXT NOT NULL,
    key TEXT NOT NULL, asked TEXT NOT NULL, number BIGINT NOT NULL, line BIGINT NOT NULL,
    told TEXT NOT NULL, PRIMARY KEY (guard, team, key))
"""


def make_guard_tables(transaction: Transaction) -> None:
    """Make the tables of guards, in a store that has none of them."""
    dialect = transaction.dialect
    statements = [
        *(f"CREATE TABLE {table.strip()}" for table in TABLES.split(";")),
        "CREATE UNIQUE INDEX submissions_by_number ON submissions (guard, number)",
        *dialect.forbidding("submissions", "UPDATE"),
        *dialect.forbidding("submissions", "DELETE"),
        *dialect.forbidding("guards", "UPDATE", "OLD.state <> 'open'"),
        *dialect.forbidding("guards", "DELETE"),
    ]
    for statement in statements:
        transaction.run(statement)


def guards_anew(transaction: Transaction) -> None:
    """Make them in a store of version 1, which had two of another shape that nothing filled."""
    for table in ("submissions", "team_grants", "guards"):
        transaction.run(f"DROP TABLE IF EXISTS {table}")
    make_guard_tables(transaction)


# ---- Guards: labels that answer submissions of teams, each charged once and answered once --------
#
# The lines of a guard's ledger are a journal like that of a data set: its terms, a seal of the
# labels, the step of the leaderboard, then every answer with its charge. A submission is one
# transaction: it looks for its key, reads the journal, decides, charges, and writes the answer. So
# there is no charge without an answer, none that another worker does not know, and nothing is shown
# that is not on the disk. The labels are not in the store.
#
# *Claim*: whenever workers are killed, a key is charged once and has one answer. *Checked by*
# ``test_killed_workers_spend_one_question_a_key``. *Claim*: of many that submit at once, through
# several workers, each is answered from what was told to all before it. *Checked by*
# ``test_workers_never_answer_from_a_stale_state``.


T = TypeVar("T")
SENT = (
    "SELECT s.team, s.key, s.guard, s.asked, s.number, s.told, s.line, l.line FROM submissions s "
    "JOIN lines l ON l.book = 'guard:' || s.guard AND l.number = s.line"
)
GRANTED = (
    "SELECT g.guard, g.team, g.submissions, (SELECT count(*) FROM submissions s "
    "WHERE s.guard = g.guard AND s.team = g.team) FROM team_grants g"
)


def guard_journal(name: str) -> str:
    """Return the name of a guard's journal; no data set can have that name."""
    return f"guard:{name}"


class Guards(NamedRecords[Guard]):
    """The guards of a store, who may submit to them, and what was told."""

    table, columns = "guards", "name, source, label, secret, text, state, opened"

    def __init__(self, database: SharedDatabase) -> None:
        super().__init__(database)
        self._journals: dict[str, TableJournal] = {}

    def add(self, guard: Guard, begin: Iterable[tuple[str, Row]]) -> Guard:
        """Register a guard, and begin its ledger with lines; or refuse a name that is taken."""
        new = replace(guard, name=named(guard.name), state="open", opened=now())

        def job(transaction: Transaction) -> None:
            self._require_new(transaction, new.name)
            begin_journal(transaction, guard_journal(new.name), GUARD, begin)
            own = (new.name, new.source, new.column, new.secret, new.text, new.state, new.opened)
            self._insert(transaction, *own)

        self._database.write(job)
        return new

    def journal(self, name: str) -> TableJournal:
        """Return the lines of a guard's ledger."""
        if name not in self._journals:
            self._journals[name] = TableJournal(self._database, guard_journal(name), GUARD)
        return self._journals[name]

    def look(self, name: str, work: Callable[[Leaderboard], T], labels: Labels | None = None) -> T:
        """Run a function on what a guard has told until now; what it asks is not kept."""
        return self.journal(name).look(lambda opened: work(open_sealed(opened, labels)))

    def give(self, guard: str, team: str, submissions: int) -> TeamGrant:
        """Say how often a team may submit: a new ceiling in place of the old."""

        def job(transaction: Transaction) -> TeamGrant:
            require_names(transaction, {"guards": ("guard", guard), "people": ("team", team)})
            transaction.run(
                "INSERT INTO team_grants VALUES (?, ?, ?) "
                "ON CONFLICT (guard, team) DO UPDATE SET submissions = excluded.submissions",
                *(guard, team, submissions),
            )
            (grant,) = _granted(transaction, guard=guard, team=team)
            return grant

        return self._database.write(job)

    def grant(self, guard: str, team: str) -> TeamGrant | None:
        """Return how often a team may submit to a guard; None if it may not."""
        return next(iter(self.grants(guard=guard, team=team)), None)

    def grants(self, *, guard: str | None = None, team: str | None = None) -> list[TeamGrant]:
        return self._database.read(lambda t: _granted(t, guard=guard, team=team))

    def _record(self, row: tuple[Any, ...]) -> Guard:
        return Guard(**dict(zip((f.name for f in fields(Guard)), row, strict=True)))

    def submit_once(
        self, request: KeyedRequest, ask: Callable[[TableTransaction], object]
    ) -> Submission:
        """Ask a guard (the ``dataset`` of the request) once under a key; return what is stored.

        ``ask`` submits to the leaderboard whose journal a transaction shows.

        Raises
        ------
        BudgetExceededError
            The team has no submission left, or the guard no room; nothing was charged.
        KeyReusedError, NotGrantedError, ParameterError
            The key stands for other predictions; there is no such guard, or this team has no grant;
            the guard is closed.
        """
        journal = self.journal(request.dataset)

        def job(transaction: Transaction) -> tuple[Submission, TableTransaction | None]:
            found = self._found(transaction, request)
            if found is not None:
                return found, None
            _require_open(transaction, request)
            opened = journal.opened(transaction)
            ask(opened)
            line, number = opened.head.lines, len(opened.rows(SUBMISSIONS))
            transaction.run(
                "INSERT INTO submissions VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(request.dataset, request.analyst, request.key, request.asked),
                *(number, line, now()),
            )
            stored = self._found(transaction, request)
            if stored is None:
                raise LookupError
            return replace(stored, fresh=True), opened

        stored, opened = self._database.write(job)
        if opened is not None:
            journal.remember(opened)
        return stored

    def found(self, request: KeyedRequest) -> Submission | None:
        """Return what became of a request; None if it was never charged."""
        return self._database.read(lambda t: self._found(t, request))

    def submissions(self, guard: str, team: str | None = None) -> list[Submission]:
        """Return what was told by a guard, to everybody or to one team, the first one first."""
        whose, values = ("AND s.team = ? ", (team,)) if team is not None else ("", ())
        where = f"{SENT} WHERE s.guard = ? {whose}ORDER BY s.number"
        return self._database.read(
            lambda t: [_submission(t, row) for row in t.all(where, guard, *values)]
        )

    def _found(self, transaction: Transaction, request: KeyedRequest) -> Submission | None:
        where = f"{SENT} WHERE s.guard = ? AND s.team = ? AND s.key = ?"
        found = transaction.one(where, request.dataset, request.analyst, request.key)
        if found is None:
            return None
        if found[3] != request.asked:
            hint = "Send a new key for a new submission; nothing was charged."
            got = "other predictions with the same key"
            raise KeyReusedError("key", "identify one submission", got, hint)
        return _submission(transaction, found)


def _require_open(transaction: Transaction, request: KeyedRequest) -> None:
    """Refuse a team that may not submit now."""
    granted = _granted(transaction, guard=request.dataset, team=request.analyst)
    state = transaction.one("SELECT state FROM guards WHERE name = ?", request.dataset)
    if not granted or state is None:
        raise NotGrantedError.of("guard")
    if state[0] != "open":
        got = f"{request.dataset}, which is closed"
        raise ParameterError("guard", "be open", got, "Use another guard.")
    (grant,) = granted
    if grant.left == 0:
        used = f"{request.analyst} has used all submissions that were granted"
        what = f"Budget exceeded: {used} ({grant.submissions})."
        hint = "Nothing was charged. Ask the owner of the guard for more."
        raise BudgetExceededError("submissions", what, f"{grant.sent + 1}", hint)


def _granted(transaction: Transaction, **of: str | None) -> list[TeamGrant]:
    """Return the grants of a guard, or of a team, or of both, or all."""
    wanted = {name: value for name, value in of.items() if value is not None}
    where = " AND ".join(["TRUE", *(f"g.{name} = ?" for name in wanted)])
    rows = transaction.all(f"{GRANTED} WHERE {where} ORDER BY g.guard, g.team", *wanted.values())
    names = ("guard", "team", "submissions", "sent")
    return [TeamGrant(**dict(zip(names, row, strict=True))) for row in rows]


def _submission(transaction: Transaction, row: tuple[Any, ...]) -> Submission:
    team, key, guard, asked, number, told, line, text = row
    transaction.note(guard_journal(guard), line, text[:WIDTH])
    entry = entry_of(row_of(text))
    request = KeyedRequest(analyst=team, key=key, dataset=guard, asked=asked)
    standing = Standing(entry.name, entry.score, entry.bits)
    return Submission(
        request=request, number=number, told=told, line=line, head=text[:WIDTH], standing=standing
    )


# ---- Whether the ledger of a guard is sound: every check, every bit, every answer ----------------


KEYS = "SELECT team, number, line FROM submissions WHERE guard = ? ORDER BY number"


def guard_checked(guards: Guards, name: str) -> DatasetCheck:
    """Read the whole ledger of a guard, and compare it with what was told under keys."""

    def compared(opened: TableTransaction) -> DatasetCheck:
        lines, last = opened.lines(), opened.head
        history = open_sealed(opened).guard.ledger.history
        keys = opened.transaction.all(KEYS, name)
        return DatasetCheck(
            dataset=guard_journal(name), charges=len(history), answers=len(keys), line=last.lines,
            head=last.chain.decode(), problems=tuple(_problems(lines, list(history), keys)),
        )  # fmt: skip

    try:
        return guards.journal(name).look(compared)
    except SourdineError as error:
        return DatasetCheck(dataset=guard_journal(name), problems=(str(error),))


def _problems(
    lines: Sequence[tuple[str, Row, Head]],
    history: Sequence[Line],
    keys: Sequence[tuple[object, ...]],
) -> Iterator[str]:
    told, charged, rung, number = 0.0, 0, -1, 0
    where: list[tuple[object, ...]] = []
    for table, row, head in lines:
        if table == ANSWERS:
            charged += 1
        if table != SUBMISSIONS:
            continue
        number += 1
        where.append((row["name"], number, head.lines))
        bits = history[charged - 1].bits if charged else 0.0
        if not isclose(row["bits"], bits - told, abs_tol=1e-9):
            yield f"submission {number} does not cost what it says"
        told = bits
        if row["rung"] is not None:
            if row["rung"] <= rung:
                yield f"submission {number} leads, and is no better than the leader"
            rung = row["rung"]
    if where != list(map(tuple, keys)):
        yield "what was told under keys is not what the lines say"
    if charged and not isclose(history[-1].bits, told, abs_tol=1e-9):
        yield "something was charged that no submission was told"
