"""Whether a store is sound: every check, every sum, every answer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sourdine.database import TablePage
from sourdine.errors import SourdineError
from sourdine.server.store.base import KeyedRequest
from sourdine.server.store.releases import REQUEST
from sourdine.session.kept_ledgers import CHARGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.append_only import Page
    from sourdine.server.store.datasets import Datasets
    from sourdine.session import Charge

__all__ = ["DatasetCheck", "checked"]

RELEASES = (
    "SELECT analyst, key, asked, number, count, line, spent, state, answer FROM releases "
    "WHERE dataset = ? ORDER BY number"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetCheck:
    """What was found in the ledger of one data set.

    Parameters
    ----------
    dataset
        Its name.
    charges, answers
        How many there are.
    line, head
        Its last line, and that line's check.
    problems
        What is wrong, in sentences; empty if nothing is.
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
        return datasets.ledger(name).reading(lambda page, history: _compared(name, history, page))
    except SourdineError as error:
        return DatasetCheck(dataset=name, problems=(str(error),))


def _compared(name: str, history: list[Charge], page: Page | TablePage) -> DatasetCheck:
    if not isinstance(page, TablePage):
        raise TypeError(page)
    lines = page.lines()
    where = {
        (table, row["number"]): head.lines
        for table, row, head in lines
        if table in ("charges", "answers")
    }
    asked = {row["number"]: row.get(REQUEST) for row in page.rows(CHARGES)}
    rows = page.transaction.all(RELEASES, name)
    problems = (*_problems(rows, history, where), *_strangers(name, rows, asked))
    last = lines[-1][2]
    return DatasetCheck(
        dataset=name,
        charges=len(history),
        answers=sum(charge.answer is not None for charge in history),
        line=last.lines,
        head=last.chain.decode(),
        problems=problems,
    )


def _problems(
    rows: list[tuple[object, ...]], history: list[Charge], where: dict[tuple[str, int], int]
) -> Iterator[str]:
    spent: defaultdict[object, Fraction] = defaultdict(Fraction)
    taken: set[int] = set()
    for analyst, key, _, number, count, line, so_far, state, answer in rows:
        numbers = range(int(str(number)), int(str(number)) + int(str(count)))
        said = f"the request {key} of {analyst}"
        if taken & set(numbers):
            yield f"{said} is charged with another's lines"
        taken |= set(numbers)
        if where.get(("charges", numbers[-1])) != line:
            yield f"{said} has no charge where it says"
            continue
        spent[analyst] += sum((history[n - 1].epsilon for n in numbers), Fraction(0))
        if Fraction(str(so_far)) != spent[analyst]:
            yield f"what {analyst} has spent does not add up at line {line}"
        if state == "answered":
            lines = [where.get(("answers", n)) for n in numbers]
            if lines != [int(str(answer)) + i for i in range(len(numbers))]:
                yield f"{said} is answered, and its answer is not there"
        elif any(("answers", n) in where for n in numbers):
            yield f"{said} is {state}, and has an answer"


def _strangers(
    dataset: str, rows: list[tuple[object, ...]], asked: dict[int, str | None]
) -> Iterator[str]:
    """Yield charges whose request is not there, and requests that are not those of their charges.

    A charge without a request, such as one of a session on the store itself, has no analyst.
    """
    missing = {number for number, digest in asked.items() if digest is not None}
    for analyst, key, body, number, count, *_ in rows:
        request = KeyedRequest(analyst=str(analyst), key=str(key), dataset=dataset, asked=str(body))
        numbers = range(int(str(number)), int(str(number)) + int(str(count)))
        missing -= set(numbers)
        if any(asked.get(n) not in (None, request.digest) for n in numbers):
            yield f"the request {key} of {analyst} is not the one that was charged"
    if missing:
        yield f"the requests of charges {', '.join(map(str, sorted(missing)))} are not there"
