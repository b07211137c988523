"""``sourdine plan``: what a statistic will cost, or how far off it will be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sourdine.cli.output import picture, print_sheet
from sourdine.cli.statistics import SHARED, typed
from sourdine.cli.streams import Terminal
from sourdine.cli.wording import SPOKEN
from sourdine.database import is_address
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.plan import Plan, Planner
from sourdine.plan.errors import error_text
from sourdine.privacy.printing import shown
from sourdine.question import converters, read
from sourdine.question.kinds import spelled
from sourdine.release import Sheet
from sourdine.session.could import Could
from sourdine.session.kept_ledgers import opened_ledger
from sourdine.session.room import Room
from sourdine.session.totals import read_budget

if TYPE_CHECKING:
    from sourdine.central import Statistic
    from sourdine.session.charges import Terms
    from sourdine.session.kept_ledgers import BookLedger

__all__ = ["run"]


def run(cls: type[Statistic], given: dict[str, Any]) -> None:
    """Plan a statistic, and show the plan."""
    asked = typed(given)
    as_json, plot = asked.pop("json", False), asked.pop("plot", None)
    where = asked.pop("ledger", None)
    picture.check(plot)
    ledger = None if where is None else _existing(where)
    planned = Plan(question=read(cls, asked)) if ledger is None else _within(cls, asked, ledger)
    could = None if ledger is None else Could(planned.question, ledger.account)
    if as_json:
        facts = planned.to_dict() | ({} if could is None else {"ledger": _facts(could)})
        print(json.dumps(facts, ensure_ascii=False))  # noqa: T201 - the answer
    else:
        sheet = _sheet(planned)
        if ledger is not None and could is not None:
            notes = [*sheet.notes, *_left(could, ledger.terms.protected)]
            sheet = replace(sheet, notes=notes)
        print_sheet(Terminal(), sheet)
    if plot is not None:
        picture.draw(planned, plot)


def _existing(where: str) -> BookLedger:
    if not is_address(where) and not Path(where).exists():
        raise ParameterError(
            "ledger",
            "be a file that exists",
            f"{where} (no such file)",
            "Leave {ledger} out, or type the path of a ledger that was charged.",
            ledger=LEFT_OUT,
        )
    return opened_ledger(where, None)


def _within(cls: type[Statistic], asked: dict[str, Any], ledger: BookLedger) -> Plan:
    """Plan under the terms of a ledger; without epsilon and error, for all that is left."""
    terms = ledger.terms
    own = {name: asked.pop(name) for name in SHARED if name in asked}
    if own:
        terms.require(_terms(terms, own), f"the ledger {ledger.book.name}")
    left = ledger.account.remaining
    planner = Planner(
        remaining=left.filter if isinstance(left, Room) else left.exact_epsilon(),
        relation=terms.total.relation,
        unit=terms.unit,
        rows=terms.rows,
    )
    planned: Plan = getattr(planner, cls.kind)(**asked)
    return evolve(planned, remaining=None, room=None)  # what is left is said of the ledger


def _terms(own: Terms, said: dict[str, Any]) -> Terms:
    """Return the terms of a ledger with what was typed of them."""
    relation = converters.relation(said.get("relation", own.total.relation))
    total, decides = read_budget(*own.numbers, None, relation)
    return replace(
        own,
        total=total,
        filter=decides,
        unit=converters.unit(said.get("unit", own.unit)),
        rows=converters.rows(spelled(said.get("rows", own.rows))),
        open_account=True,
    )


def _facts(could: Could) -> dict[str, Any]:
    after = could.after
    return {
        "remaining": could.account.remaining.to_dict(),
        "after": None if after is None else after.remaining.to_dict(),
        **could.to_dict(),
    }


def _left(could: Could, whom: str) -> list[tuple[str, str]]:
    """Return what a ledger has left before and after a plan, or why it would refuse it."""
    left = ("left", could.account.remaining.told(whom))
    after, refusal = could.after, could.refusal
    if after is None or refusal is not None:
        said = "" if refusal is None else refusal.said(SPOKEN.get())
        return [left, ("after", f"The ledger would refuse this release: {said}")]
    return [left, ("after", after.remaining.told(whom))]


def _sheet(planned: Plan) -> Sheet:
    sheet = planned.sheet()
    units = f"{planned.units} " if planned.units else ""
    error = f"{error_text(planned.error)} {units}"
    if planned.ranks and not planned.units:
        error = f"{100 * planned.error:.4g} percentage points of rank "
    promise = (
        f"With epsilon {shown(planned.epsilon)} the error stays within {error}with probability "
        f"{float(planned.confidence):g}. "
        "Nothing was spent."
    )
    return Sheet(heads=sheet.heads, lines=sheet.lines, notes=[*sheet.notes, ("note", promise)])
