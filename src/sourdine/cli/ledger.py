"""``sourdine ledger``: what was spent, on what, and what is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sourdine.cli.output import notes, print_table
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError
from sourdine.privacy import Guarantee
from sourdine.privacy.budget import remaining
from sourdine.privacy.printing import shown
from sourdine.session import FileLedger
from sourdine.session.filing import About, FiledReport
from sourdine.session.filing.report import ending

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["opened", "run"]


def opened(path: Path) -> FileLedger:
    """Return the ledger in a file that must be there."""
    if not path.exists():
        raise SourdineError(
            f"LEDGER must be a file that exists, got {path} (no such file). Type the path "
            "that --ledger named."
        )
    return FileLedger(path, None)


def run(path: Path, *, as_json: bool, report: Path | None, about: Path | None) -> None:
    """Print every charge of a ledger, or write a report of it."""
    ledger = opened(path)
    if report is not None:
        ending(report)
        FiledReport.of(ledger, About.read(about)).write(report)
        Terminal(stderr=True).print(f"Report: {report}", highlight=False, markup=False)
        return
    if about is not None:
        raise ParameterError(
            "about", "be left out without {report}", str(about), "Type {report}.",
            report="report.html",
        )  # fmt: skip
    history, total = ledger.history, ledger.terms.total
    spent = history[-1].spent if history else Guarantee(0, 0, total.relation)
    left = remaining(total, spent)
    if as_json:
        print(json.dumps(_facts(ledger, left), ensure_ascii=False))  # noqa: T201 - the answer
        return
    console = Terminal()
    rows = [
        (
            str(c.number),
            c.when[:19].replace("T", " "),
            c.what,
            shown(c.epsilon),
            shown(c.delta),
            shown(c.spent.exact_epsilon()),
            c.value,
        )
        for c in history
    ]
    heads = ("", "when (UTC)", "what", "epsilon", "delta", "epsilon so far", "answer")
    print_table(console, heads, rows)
    unit = ledger.terms.unit
    whom, rows_of_each = ledger.terms.protected, ledger.terms.rows
    kept = "one row" if rows_of_each == 1 else f"at most {rows_of_each} rows"
    persons = [("unit", f"{unit}, {kept} of each")] if unit else []
    named = [("data", ledger.terms.name)] if ledger.terms.name else []
    notes(console, [*named, *persons, ("total", total.told(whom)), ("left", left.told(whom))])


def _facts(ledger: FileLedger, left: Guarantee) -> dict[str, Any]:
    terms = ledger.terms
    return {
        "total": _numbers(terms.total),
        "remaining": _numbers(left),
        "unit": terms.unit,
        "rows": terms.rows,
        "name": terms.name,
        "charges": [
            {
                "number": charge.number,
                "when": charge.when,
                "what": charge.what,
                "cost": _numbers(charge.cost),
                "spent": _numbers(charge.spent),
                "mechanism": charge.mechanism,
                "question": json.loads(charge.parameters),
                "answer": None if charge.answer is None else json.loads(charge.answer),
            }
            for charge in ledger.history
        ],
    }


def _numbers(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as numbers that other programs read, and as the texts that are exact."""
    exact = guarantee.to_dict()
    return {
        "epsilon": float(guarantee.exact_epsilon()),
        "delta": float(guarantee.delta),
        "relation": exact["relation"],
        "exact": {"epsilon": exact["epsilon"], "delta": exact["delta"]},
    }
