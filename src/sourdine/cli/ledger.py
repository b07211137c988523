"""``sourdine ledger``: what was spent, on what, and what is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sourdine.cli.output import notes, print_table
from sourdine.cli.streams import Terminal
from sourdine.privacy import Guarantee
from sourdine.privacy.budget import remaining
from sourdine.privacy.printing import shown
from sourdine.session import FileLedger

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run"]


def run(path: Path, *, as_json: bool) -> None:
    """Print every charge of a ledger."""
    ledger = FileLedger(path, None)
    history, total = ledger.history, ledger.terms.total
    spent = history[-1].spent if history else Guarantee(0, 0, total.relation)
    left = remaining(total, spent)
    if as_json:
        print(json.dumps(_facts(ledger, left), ensure_ascii=False))  # noqa: T201 - the answer
        return
    console = Terminal()
    rows = [
        (str(c.number), c.when[:19].replace("T", " "), c.what, shown(c.cost.exact_epsilon()))
        for c in history
    ]
    print_table(console, ("", "when (UTC)", "what", "epsilon"), rows)
    unit = ledger.terms.unit
    persons = [("unit", f"{unit}, {ledger.terms.rows} records of each")] if unit else []
    named = [("data", ledger.terms.name)] if ledger.terms.name else []
    notes(console, [*named, *persons, ("total", str(total)), ("left", str(left))])


def _facts(ledger: FileLedger, left: Guarantee) -> dict[str, Any]:
    terms = ledger.terms
    return {
        "total": terms.total.to_dict(),
        "remaining": left.to_dict(),
        "unit": terms.unit,
        "rows": terms.rows,
        "name": terms.name,
        "charges": [
            {
                "number": charge.number,
                "when": charge.when,
                "what": charge.what,
                "cost": charge.cost.to_dict(),
                "mechanism": charge.mechanism,
                "question": json.loads(charge.parameters),
            }
            for charge in ledger.history
        ],
    }
