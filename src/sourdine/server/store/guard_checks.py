"""Whether the ledger of a guard is sound: every check, every bit, every answer."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

from sourdine.adaptive.holdout.sealed import ANSWERS, SUBMISSIONS, open_sealed
from sourdine.database import PageBook
from sourdine.errors import SourdineError
from sourdine.server.store.checks import DatasetCheck
from sourdine.server.store.guards import guard_book

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.adaptive.ledger import Line
    from sourdine.append_only.chain import Head, Row
    from sourdine.database import TableBook, TablePage
    from sourdine.server.store.guards import Guards

__all__ = ["guard_checked"]

KEYS = "SELECT team, number, line FROM submissions WHERE guard = ? ORDER BY number"


def guard_checked(guards: Guards, name: str) -> DatasetCheck:
    """Read the whole ledger of a guard, and compare it with what was told under keys."""

    def compared(book: TableBook, page: TablePage) -> DatasetCheck:
        lines = page.lines()
        history = open_sealed(PageBook(book, page)).guard.ledger.history
        keys = page.transaction.all(KEYS, name)
        last = lines[-1][2]
        return DatasetCheck(
            dataset=guard_book(name),
            charges=len(history),
            answers=len(keys),
            line=last.lines,
            head=last.chain.decode(),
            problems=tuple(_problems(lines, list(history), keys)),
        )

    try:
        book = guards.book(name)
        return book.look(lambda page: compared(book, page))
    except SourdineError as error:
        return DatasetCheck(dataset=guard_book(name), problems=(str(error),))


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
