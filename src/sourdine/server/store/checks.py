"""Checks of a store, and the witness that notices an older copy."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sourdine.errors import MissingFileError, ParameterError, SourdineError
from sourdine.server.store.base import KeyedRequest
from sourdine.server.store.releases import REQUEST
from sourdine.session.ledger import CHARGES
from sourdine.storage import locks
from sourdine.storage.database import latest
from sourdine.storage.journal import TableTransaction

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from sourdine.server.store.releases import Datasets
    from sourdine.session import Charge
    from sourdine.storage.journal import JournalTransaction


# ---- Whether a store is sound: every check, every sum, every answer ------------------------------


RELEASES = (
    "SELECT analyst, key, asked, number, count, line, spent, state, answer FROM releases "
    "WHERE dataset = ? ORDER BY number"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """What was found in the ledger of one data set.

    ``line`` and ``head`` are its last line and that line's check; ``problems`` says what is wrong,
    in sentences.
    """

    dataset: str
    charges: int = 0
    answers: int = 0
    line: int = 0
    head: str = ""
    problems: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.problems


def checked(datasets: Datasets, name: str) -> DatasetCheck:
    """Read the whole ledger of a data set, and compare it with what releases say of it."""
    try:
        return datasets.ledger(name).reading(partial(_compared, name))
    except SourdineError as error:
        return DatasetCheck(dataset=name, problems=(str(error),))


def _compared(
    name: str, opened: JournalTransaction | TableTransaction, history: list[Charge]
) -> DatasetCheck:
    if not isinstance(opened, TableTransaction):
        raise TypeError(opened)
    lines, last = opened.lines(), opened.head
    where = {
        (table, row["number"]): head.lines
        for table, row, head in lines
        if table in ("charges", "answers")
    }
    digests = {row["number"]: row.get(REQUEST) for row in opened.rows(CHARGES)}
    rows = opened.transaction.all(RELEASES, name)
    problems = (*_problems(rows, history, where), *_strangers(name, rows, digests))
    return DatasetCheck(
        dataset=name, charges=len(history),
        answers=sum(charge.answer is not None for charge in history), line=last.lines,
        head=last.chain.decode(), problems=problems,
    )  # fmt: skip


def _problems(
    rows: list[tuple[Any, ...]], history: list[Charge], where: dict[tuple[str, int], int]
) -> Iterator[str]:
    spent: defaultdict[str, Fraction] = defaultdict(Fraction)
    taken: set[int] = set()
    for analyst, key, _, number, count, line, so_far, state, answer in rows:
        numbers, said = range(number, number + count), f"the request {key} of {analyst}"
        if taken & set(numbers):
            yield f"{said} is charged with another's lines"
        taken |= set(numbers)
        if where.get(("charges", numbers[-1])) != line:
            yield f"{said} has no charge where it says"
            continue
        spent[analyst] += sum((history[n - 1].epsilon for n in numbers), Fraction(0))
        if Fraction(so_far) != spent[analyst]:
            yield f"what {analyst} has spent does not add up at line {line}"
        lines = [where.get(("answers", n)) for n in numbers]
        if state == "answered":
            if lines != [answer + i for i in range(count)]:
                yield f"{said} is answered, and its answer is not there"
        elif any(lines):
            yield f"{said} is {state}, and has an answer"


def _strangers(
    dataset: str, rows: list[tuple[Any, ...]], digests: dict[int, str | None]
) -> Iterator[str]:
    """Yield charges whose request is not there, and requests that are not those of their charges.

    A charge without a request, such as one of a session on the store itself, has no analyst.
    """
    missing = {number for number, digest in digests.items() if digest is not None}
    for analyst, key, asked, number, count, *_ in rows:
        request = KeyedRequest(analyst=analyst, key=key, dataset=dataset, asked=asked)
        numbers = range(number, number + count)
        missing -= set(numbers)
        if any(digests.get(n) not in (None, request.digest) for n in numbers):
            yield f"the request {key} of {analyst} is not the one that was charged"
    if missing:
        yield f"the requests of charges {', '.join(map(str, sorted(missing)))} are not there"


# ---- `Witness`: how far the ledgers of a store have got, remembered on another disk --------------
#
# A store that was put back from an older copy is sound in itself, and lacks what was charged since.
# Anyone who remembers a later line notices. A witness remembers the last line of each ledger, in a
# small file that is written after each commit, and before any answer that is stored is shown: so no
# answer was ever sent whose charge the witness does not know. It detects an older copy, and cannot
# bring back what is lost.
#
# A witness is made by a command, ``serve init --witness`` or ``serve add-witness``, never by a
# server that starts: a file that is missing, as when its disk is not mounted, would be taken for a
# new one.
#
# *Claim*: a store behind its witness is refused. *Checked by* ``test_an_older_copy_is_noticed``.
# *Claim*: no answer leaves that the witness does not know. *Checked by*
# ``test_no_answer_leaves_while_the_witness_cannot_be_written``. *Claim*: a witness that is missing
# is refused. *Checked by* ``test_a_missing_witness_is_refused``.


PATIENCE = 60.0
"""Seconds to wait for another worker that writes."""
RIGHTS = 0o600
"""The file mode: another user who could lock a file could stop the server."""


class Witness:
    """The file that `create` made on another disk than the store, shared by all workers."""

    def __init__(self, path: str | os.PathLike[str], identity: str) -> None:
        self.path, self.identity = Path(path).absolute(), identity
        self._known: dict[str, int] = {}  # lines that are in the file, as far as this process saw
        self.heads()

    @classmethod
    def create(cls, path: str | os.PathLike[str], identity: str) -> Self:
        """Make the file of a store's witness, which must be a new one."""
        where = Path(path).absolute()
        with locks.making("witness", where, "Choose another path."):
            locks.write_new(where, _spelled(identity, {}), RIGHTS)
        return cls(where, identity)

    def __call__(self, heads: Mapping[str, str]) -> None:
        """Remember how far ledgers have got: by name, a line's number and its check."""
        if all(_line(head) <= self._known.get(name, 0) for name, head in heads.items()):
            return
        try:
            lock = self.path.with_name(f"{self.path.name}.lock")
            with locks.open_locked(lock, RIGHTS, PATIENCE):
                known = self._read()
                whole = latest(known, heads)
                if whole != known:
                    self._write(whole)
        except FileNotFoundError:
            raise self._unwritten("no such file") from None
        except BlockingIOError:
            raise self._unwritten(f"another process has held it for {PATIENCE:g} seconds") from None
        except OSError as error:
            raise self._unwritten(str(error.strerror)) from None
        self._known |= {name: _line(head) for name, head in whole.items()}

    def _unwritten(self, why: str) -> SourdineError:
        return SourdineError(
            f"the witness {self.path} could not be written: {why}. "
            "What was charged stays charged; nothing was released."
        )

    def heads(self) -> dict[str, str]:
        """Return the last line of each ledger that was seen."""
        try:
            return self._read()
        except FileNotFoundError:
            hint = (
                "Mount its disk, or copy the file to this path if it was moved. For a store "
                f"that never had a witness, run sourdine serve add-witness {self.path}."
            )
            raise MissingFileError("witness", "exist", str(self.path), hint) from None

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_text("ascii"))
            heads = {str(name): str(head) for name, head in found["heads"].items()}
            identity, _ = found["identity"], [_line(head) for head in heads.values()]
        except (ValueError, LookupError, TypeError, AttributeError):
            what, hint = "be a file written by Sourdine", "or restore it from a copy."
            got = str(self.path)
            raise ParameterError("witness", what, got, f"Choose another path, {hint}") from None
        if identity != self.identity:
            got = f"{self.path}, which belongs to another"
            raise ParameterError("witness", "belong to this store", got, "Choose another path.")
        return heads

    def require(self, check: Callable[[str, int], str | None]) -> None:
        """Refuse a store that lacks a line that was seen, or has another in its place.

        ``check`` returns the check of a line of a ledger; None if it has none.
        """
        for name, head in self.heads().items():
            line, _, seen = head.partition(" ")
            if check(name, int(line)) != seen:
                what = f"hold line {line} of {name}, which the witness {self.path} has seen"
                hint = "Restore the latest copy: the missing lines were charged and released."
                raise ParameterError("store", what, "an older or a different copy", hint)

    def _write(self, heads: Mapping[str, str]) -> None:
        aside = self.path.with_name(f"{self.path.name}.new")
        aside.unlink(missing_ok=True)  # what a crash left
        locks.write_new(aside, _spelled(self.identity, heads), RIGHTS)
        aside.replace(self.path)
        locks.settle_folder(self.path.parent)


def _spelled(identity: str, heads: Mapping[str, str]) -> bytes:
    return json.dumps({"identity": identity, "heads": dict(heads)}, sort_keys=True).encode("ascii")


def _line(head: str) -> int:
    return int(head.partition(" ")[0])
