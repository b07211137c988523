"""``sourdine ledger`` and ``sourdine disclose``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sourdine.cli.output import Terminal, complain, notes, print_table, save, say, using
from sourdine.errors import MissingFileError, ParameterError
from sourdine.privacy import Concentrated
from sourdine.privacy.guarantee import percent, shown
from sourdine.reports.about import About, check_text, lacking
from sourdine.reports.deployment import entry, to_yaml
from sourdine.reports.report import FiledReport, ending
from sourdine.results.tables import json_text, printable
from sourdine.session.charges import KINDS, RemainingBudget, SumAccount
from sourdine.session.ledger import FileLedger

if TYPE_CHECKING:
    from pathlib import Path

    from sourdine.privacy import Guarantee
    from sourdine.session import Charge


# ---- ``sourdine ledger``: what was spent, on what, and what is left ------------------------------


def opened(path: Path) -> FileLedger:
    """Return the ledger in a file that must be there."""
    if not path.exists():
        raise MissingFileError("ledger", "exist", str(path), "Use the path given to --ledger.")
    return FileLedger(path, None)


def run_ledger(path: Path, *, as_json: bool, report: Path | None, about: Path | None) -> None:
    """Print every charge of a ledger, or write a report of it."""
    ledger = opened(path)
    if report is not None:
        ending(report)
        if report.exists() and any(
            other is not None and report.samefile(other) for other in (path, about)
        ):
            raise ParameterError(
                "report", "differ from the ledger", str(report),
                report="report.html")  # fmt: skip
        FiledReport.of(ledger, About.read(about)).write(report)
        say(f"Report: {report}")
        return
    if about is not None:
        raise ParameterError(
            "about", "be omitted without {report}", str(about),
            report="report.html")  # fmt: skip
    history, account = ledger.history, ledger.account
    if as_json:
        print(json_text(_facts(ledger, history)))
        return
    console = Terminal()
    adds = isinstance(account, SumAccount)
    rows = []
    for c in history:
        spent = shown(c.spent.exact_epsilon()) if adds else percent(c.share, up=True)
        when, cost = c.when[:19].replace("T", " "), (shown(c.epsilon), shown(c.delta))
        rows.append((str(c.number), when, c.what, *cost, spent, c.value))
    so_far = "epsilon so far" if adds else "spent so far"
    heads = ("", "when (UTC)", "what", "epsilon", "delta", so_far, "answer")
    print_table(console, heads, rows)
    terms, room = ledger.terms, account.remaining
    kept = "one row" if terms.rows == 1 else f"at most {terms.rows} rows"
    facts = [("data", terms.name)] if terms.name else []
    facts += [("unit", f"{terms.unit}, {kept} of each")] if terms.unit else []
    facts += [("total", terms.told()), ("remaining", room.told(terms.protected))]
    if isinstance(room, RemainingBudget):
        fits = (f"{shown(room.largest(kind), up=False)} for {KINDS[kind][0]}" for kind in KINDS)
        facts.append(("fits", f"epsilon {', '.join(fits)}"))
    notes(console, facts)


def _facts(ledger: FileLedger, history: list[Charge]) -> dict[str, Any]:
    terms, account = ledger.terms, ledger.account
    return {
        "total": _numbers(terms.total), "remaining": _numbers(account.remaining),
        "account": terms.account, "unit": terms.unit, "rows": terms.rows, "name": terms.name,
        "charges": [_charge(charge) for charge in history],
    }  # fmt: skip


def _charge(charge: Charge) -> dict[str, Any]:
    facts = {
        "number": charge.number, "when": charge.when, "what": charge.what,
        "cost": _numbers(charge.cost), "spent": _numbers(charge.spent),
        "share": float(charge.share), "parts": [part.to_dict() for part in charge.parts],
        "mechanism": charge.mechanism, "question": json.loads(charge.parameters),
        "answer": None if charge.answer is None else json.loads(charge.answer),
    }  # fmt: skip
    return facts if charge.price is None else {**facts, "price": str(charge.price)}


def _numbers(guarantee: Guarantee | Concentrated | RemainingBudget) -> dict[str, Any]:
    """Return a promise as numbers that other programs read, and as the texts that are exact."""
    if isinstance(guarantee, RemainingBudget):
        return guarantee.to_dict()
    if isinstance(guarantee, Concentrated):
        rho, relation = guarantee.rho, guarantee.relation.value
        return {"rho": float(rho), "relation": relation, "exact": {"rho": str(rho)}}
    exact = guarantee.to_dict()
    return {
        "epsilon": float(guarantee.exact_epsilon()),
        "delta": float(guarantee.delta),
        "relation": exact["relation"],
        "exact": {"epsilon": exact["epsilon"], "delta": exact["delta"]},
    }


# ---- ``sourdine disclose``: an entry for the registry of deployments, written or checked ---------


def run_disclose(
    path: Path | None, *, out: Path | None, about: Path | None, check: Path | None, overwrite: bool
) -> bool:
    """Write an entry, or check one; return whether the registry would take it."""
    if (path is None) == (check is None):
        must = "be the path of a ledger, or be omitted if {check} names an entry"
        hint = "Run sourdine disclose wages.ledger, or sourdine disclose {check}."
        got = "neither" if path is None else "both"
        raise ParameterError("ledger", must, got, hint, check="deployment.yaml")
    if check is not None:
        return _checked(check)
    if path is not None:
        _write(FiledReport.of(opened(path), About.read(about)), out, overwrite=overwrite)
    return True


def _checked(path: Path) -> bool:
    try:
        with using(path, "read"):
            faults = check_text(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        faults = ["the entry must be text in UTF-8, got something else."]
    for fault in faults:
        complain(fault)
    if not faults:
        print(f"{printable(str(path))}: the registry's fields are as they must be.")
    return not faults


def _write(report: FiledReport, out: Path | None, *, overwrite: bool) -> None:
    filled = entry(report)
    text = to_yaml(filled)
    if out is None:
        print(text, end="")
    else:
        save(out, text, overwrite=overwrite)
    if empty := lacking(filled, 3):
        said = f"Still to be said, in --about or in the entry: {', '.join(empty)}."
        say(f"Tier {filled['tier']}. {said}", wraps=True)
