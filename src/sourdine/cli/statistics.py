"""``sourdine mean`` and the other statistics, ``plan`` and ``explain``."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from sourdine.cli import output
from sourdine.cli.guard import read_number
from sourdine.cli.options import SPOKEN, TABLE, name_of, opened, read_options
from sourdine.cli.output import (
    Terminal,
    UnprintedError,
    complain,
    print_sheet,
    printing,
    progress_bar,
)
from sourdine.errors import LEFT_OUT, MissingFileError, ParameterError, SourdineError
from sourdine.exact import given
from sourdine.parameters import converters
from sourdine.parameters.kinds import names, spelled
from sourdine.parameters.question import read
from sourdine.plan import Plan, Planner
from sourdine.plan.explanation import explain
from sourdine.plan.plans import error_text
from sourdine.privacy import Guarantee
from sourdine.privacy.guarantee import shown
from sourdine.results.tables import Sheet, json_text
from sourdine.session.charges import RemainingBudget, read_budget
from sourdine.session.ledger import opened_ledger
from sourdine.session.session import Admission
from sourdine.storage.database import is_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.central import Statistic
    from sourdine.frames.frame import Frame
    from sourdine.results.release import Release
    from sourdine.session import Session
    from sourdine.session.charges import Terms
    from sourdine.session.ledger import StoredLedger


# ---- ``sourdine mean`` and its kin: from a file to a table, JSON or a picture --------------------


ORDERS = {"deciles": [f"{k}/10" for k in range(1, 10)], "quartiles": ["1/4", "1/2", "3/4"]}
"""Orders that have a flag of their own."""
SHARED = ("relation", "unit", "rows")
"""What a session fixes for all that is asked of it."""
BY_COLUMN = ("of", "bounds", "steps")
"""What a table is told of each column."""
SEVERAL = ("by", "x")
"""What may name several columns: between commas, or again and again."""
OF_A_LEDGER = ("total_epsilon", "total_delta", "total_rho", "reserve", "name", "no_keep")
"""What is said of a ledger alone."""


def run(cls: type[Statistic], options: dict[str, Any]) -> None:
    """Release a statistic of a file, and show it."""
    declared = read_options(options)
    asked = typed(options)
    file, as_json, plot = asked.pop("file"), asked.pop("json", False), asked.pop("plot", None)
    ledger = asked.pop("ledger", None)
    own = {name: asked.pop(name, None) for name in OF_A_LEDGER}
    engine = {name: asked.pop(name, None) for name in ("engine", "master")}
    output.check(plot)
    spark = engine["engine"] is not None or file.startswith(TABLE)
    with progress_bar(file, spark=spark):
        data = opened(file, engine, declared)
        if data is not file and ledger is not None:
            own["name"] = own["name"] or name_of(file)
        session = _session(cls, data, ledger, asked, {**own, "read": declared})
    with _accounted(session):
        with progress_bar(file, spark=spark):
            release = (
                getattr(session, cls.kind)(**asked)
                if session
                else read(cls, {**asked, "read": declared}).release(data)
            )
        with printing():
            if as_json:
                print(json_text(_facts(release, session)))
            else:
                print_sheet(Terminal(), _sheet(release, session))
    output.draw(release, plot)  # last: what was paid for is shown, whatever becomes of the picture


@contextmanager
def _accounted(session: Session | None) -> Iterator[None]:
    """Say what was charged, where there is no answer for it."""
    if session is None:
        yield
        return
    before = session.spent.exact_epsilon()
    try:
        yield
    except (KeyboardInterrupt, UnprintedError):
        charged = session.spent.exact_epsilon() - before
        paid = f"epsilon {shown(charged)} was" if charged else "nothing was"
        complain(f"{paid} charged to the ledger.")
        raise


def typed(options: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed; what was left out is left out, and shortcuts are spelled out."""
    said = {name: value for name, value in options.items() if value not in (None, False, [])}
    asked = [name for name in ("q", *ORDERS) if name in said]
    if len(asked) > 1:
        kept, extra = asked[:2]
        raise ParameterError(extra, f"not be combined with {{{kept}}}", **{extra: LEFT_OUT})
    for name in asked:
        said["q"] = ORDERS.get(name, said.pop(name))
    for name in BY_COLUMN:  # what is said of each column is put together
        if isinstance(said.get(name), list):
            said[name] = _by_column(said[name])
    for name in SEVERAL:
        if isinstance(said.get(name), list):
            said[name] = [column for text in said[name] for column in names(text)]
    by, keys = said.get("by"), said.get("keys")
    if isinstance(by, list) and len(by) == 1:
        said["by"] = by[0]
    if isinstance(keys, list):
        columns = by or ()
        paired = isinstance(by, list) and len(columns) == len(keys) > 1
        said["keys"] = dict(zip(columns, keys, strict=True)) if paired else keys[0]
        if not paired and len(keys) > 1:
            example = ["a", "b"]
            raise ParameterError(
                "keys", "be given once for each {by}", f"{len(keys)} times for {len(columns)}",
                keys=example if len(columns) < 2 else dict.fromkeys(columns, example),
            )  # fmt: skip
    return said


def _by_column(words: list[str]) -> dict[str, str]:
    """Return what was typed of each column; what names none is of the records."""
    found: dict[str, str] = {}
    for word in words:
        column, _, own = word.rpartition(":")
        column = column or "*"
        found[column] = f"{found[column]},{own}" if column in found else own
    return found


def _session(
    cls: type[Statistic],
    data: str | Frame,
    ledger: str | None,
    asked: dict[str, Any],
    terms: dict[str, Any],
) -> Session | None:
    """Open the ledger, if one is named; what can be refused leaves none behind."""
    from sourdine.session import Session

    if ledger is None:
        for name in OF_A_LEDGER:
            if terms[name] is not None:
                raise ParameterError(
                    name, "be omitted without {ledger}", given(terms[name]),
                    f"Omit {{{name}}}, or name a ledger.", **{name: LEFT_OUT},
                )  # fmt: skip
        return None
    terms |= {name: asked.pop(name, None) for name in SHARED}
    has_total = terms["total_epsilon"] is not None or terms["total_rho"] is not None
    may_be_new = not Path(ledger).exists()
    if may_be_new and not has_total and not is_address(ledger):
        raise ParameterError(
            "total_epsilon", "be given for a new ledger", f"none for {ledger}",
            "Use the epsilon that all releases of these data may cost together, such as "
            "{total_epsilon}.",
            total_epsilon=3,
        )  # fmt: skip
    totals = {name: terms.pop(f"total_{name}") for name in ("epsilon", "delta", "rho")}
    keep = not terms.pop("no_keep")

    def begun(**where: Any) -> Session:
        try:
            return Session(data, **where, **totals, **terms)
        except SourdineError as error:
            named = {name: f"total_{name}" for name in totals}
            raise error.renamed(**named) from None

    if may_be_new and has_total and (refusal := begun().can_release(cls.kind, **asked).refusal):
        if refusal.name == "delta" and totals["delta"] is None:
            hint = (
                "Create the ledger with {total_delta} and {reserve}, or use a method without delta."
            )
            refusal = refusal.hinting(hint, dict.fromkeys(("total_delta", "reserve"), refusal.got))
        raise refusal
    return begun(ledger=ledger, keep=keep)


def _facts(release: Release, session: Session | None) -> dict[str, Any]:
    facts = {**release.to_dict(), **release.derived()}
    if session is not None:
        facts["ledger"] = {"remaining": session.remaining.to_dict()}
    return facts


def _sheet(release: Release, session: Session | None) -> Sheet:
    sheet = release.sheet(SPOKEN.get())
    if session is None:
        return sheet
    left = session.remaining.told(session.terms.protected)
    if isinstance(session.total, Guarantee) and isinstance(session.remaining, Guarantee):
        left = f"{left}; the total is {shown(session.total.exact_epsilon())}"
    return replace(sheet, notes=[*sheet.notes, ("remaining", left)])


# ---- ``sourdine plan``: what a statistic will cost, or how far off it will be --------------------


def run_plan(cls: type[Statistic], given: dict[str, Any]) -> None:
    """Plan a statistic, and show the plan."""
    asked = typed(given)
    as_json, plot = asked.pop("json", False), asked.pop("plot", None)
    where = asked.pop("ledger", None)
    output.check(plot)
    ledger = None if where is None else _existing(where)
    planned = Plan(question=read(cls, asked)) if ledger is None else _within(cls, asked, ledger)
    could = None if ledger is None else Admission(planned.question, ledger.account)
    if as_json:
        facts = planned.to_dict()
        if could is not None:
            left, after = could.account.remaining.to_dict(), could.after
            then = {"after": None if after is None else after.remaining.to_dict()}
            facts["ledger"] = {"remaining": left, **then, **could.to_dict()}
        print(json_text(facts))
    else:
        sheet = planned.sheet()
        notes = [*sheet.notes, ("note", _promise(planned))]
        if ledger is not None and could is not None:
            notes += _left(could, ledger.terms.protected)
        print_sheet(Terminal(), Sheet(heads=sheet.heads, lines=sheet.lines, notes=notes))
    output.draw(planned, plot)


def _existing(where: str) -> StoredLedger:
    if not is_address(where) and not Path(where).exists():
        raise MissingFileError(
            "ledger", "exist", str(where), "Omit {ledger}, or use the path of an existing ledger.",
            ledger=LEFT_OUT,
        )  # fmt: skip
    return opened_ledger(where, None)


def _within(cls: type[Statistic], asked: dict[str, Any], ledger: StoredLedger) -> Plan:
    """Plan under the terms of a ledger; without epsilon and error, for all that is left."""
    terms = ledger.terms
    own = {name: asked.pop(name) for name in SHARED if name in asked}
    if own:
        terms.require(_terms(terms, own), f"the ledger {ledger.journal.name}")
    left = ledger.account.remaining
    planner = Planner(
        remaining=left.filter if isinstance(left, RemainingBudget) else left.exact_epsilon(),
        relation=terms.total.relation, unit=terms.unit, rows=terms.rows,
    )  # fmt: skip
    planned: Plan = getattr(planner, cls.kind)(**asked)
    return evolve(planned, remaining=None, room=None)  # what is left is said of the ledger


def _terms(own: Terms, said: dict[str, Any]) -> Terms:
    """Return the terms of a ledger with what was typed of them."""
    relation = converters.relation(said.get("relation", own.total.relation))
    total, decides = read_budget(*own.numbers, None, relation)
    return replace(
        own, total=total, filter=decides, unit=converters.unit(said.get("unit", own.unit)),
        rows=converters.rows(spelled(said.get("rows", own.rows))), open_account=True,
    )  # fmt: skip


def _left(could: Admission, whom: str) -> list[tuple[str, str]]:
    """Return what a ledger has left before and after a plan, or why it would refuse it."""
    left = ("remaining", could.account.remaining.told(whom))
    after, refusal = could.after, could.refusal
    if after is None or refusal is not None:
        said = "" if refusal is None else refusal.said(SPOKEN.get())
        return [left, ("after", f"The ledger would refuse this release: {said}")]
    return [left, ("after", after.remaining.told(whom))]


def _promise(planned: Plan) -> str:
    error = error_text(planned.error)
    if planned.units:
        error = f"{error} {planned.units}"
    elif planned.ranks:
        error = f"{100 * planned.error:.4g} percentage points of rank"
    return (
        f"With epsilon {shown(planned.epsilon)} the error stays within {error} with probability "
        f"{float(planned.confidence):g}. Nothing was spent."
    )


# ---- ``sourdine explain``: what an epsilon means to one person -----------------------------------


def run_explain(
    epsilon: str, delta: str, releases: Sequence[int], *, plot: str | None, as_json: bool
) -> None:
    """Print the explanation, and draw it if so asked."""
    output.check(plot)
    said = explain(
        read_number(epsilon, "epsilon", example=0.5),
        read_number(delta, "delta", example=1e-6),
        releases=releases,
    )
    output.show(said, as_json=as_json)
    output.draw(said, plot, title=str(said.guarantee))
