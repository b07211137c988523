"""``sourdine audit``: one row a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from sourdine.audit import ALPHA, audit_row, chosen
from sourdine.cli.command import Terminal
from sourdine.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.audit import Row
    from sourdine.mechanisms import Specimen


USUAL = 1.05
SLOW = 1.0
"""Seconds from which on a row says how long it took."""


def run(names: Sequence[str]) -> bool:
    """Audit the mechanisms at these addresses, print the table, and return whether all pass."""
    console = Terminal()
    rows, missing = _audited(chosen(names))
    console.print(_table(rows))
    failed = [row.name for row in rows if not row.passes]
    if failed:
        console.print(f"[bold red]Broken:[/] {', '.join(failed)}")
    else:
        console.print(
            f"All {len(rows)} keep their promise: no pair of neighbours is told apart by more than "
            f"the claim, whole curves lie under those of the parts of the loss, a copy 5% too "
            f"weak is caught on the same inputs, and the draws follow the law "
            f"(p at least {ALPHA:g})."
        )
    late = [f"{row.name} ({float(row.factor - 1):.0%})" for row in rows if row.factor > USUAL]
    if late:
        console.print(f"On so small a domain only weaker copies are caught of: {', '.join(late)}.")
    for name, reason in missing:
        console.print(f"[yellow]Not audited:[/] {name}. {escape(reason)}")
    return not failed


def _audited(specimens: Sequence[Specimen]) -> tuple[list[Row], list[tuple[str, str]]]:
    """Return a row for each, and what could not be audited for want of an extra."""
    rows, missing = [], []
    columns = (
        TextColumn("auditing {task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(specimens))
        for specimen in specimens:
            progress.update(task, description=f"{specimen.name:<38}")
            try:
                rows.append(audit_row(specimen))
            except MissingExtraError as error:
                missing.append((specimen.name, str(error)))
            progress.advance(task)
    return rows, missing


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    named = [row.name + _delta(row) for row in rows]
    table.add_column("mechanism", no_wrap=True, min_width=max(map(len, named), default=0))
    for name, width in (("claim", 6), ("worst", 8), ("p", 5), ("s", 2)):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    table.add_column("verdict", no_wrap=True, min_width=7)
    table.add_column("worst pair", no_wrap=True)
    for row, name in zip(rows, named, strict=True):
        table.add_row(
            name,
            f"{float(row.claim.epsilon):.4g}",
            f"{row.worst.epsilon:.6f}",
            f"{row.p_value:.1g}",
            f"{row.seconds:.0f}" if row.seconds >= SLOW else "",
            "[green]holds[/]" if row.passes else "[bold red]BROKEN[/]",
            row.worst.pair(),
        )
    return table


def _delta(row: Row) -> str:
    return f" δ={float(row.claim.delta):g}" if row.claim.delta else ""
