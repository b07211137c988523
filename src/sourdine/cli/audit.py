"""``sourdine audit``: one row a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

import sourdine.local  # noqa: F401 - registers its mechanisms
from sourdine.audit import ALPHA, audit_row
from sourdine.central import quantiles  # noqa: F401 - as above
from sourdine.errors import ParameterError
from sourdine.exact import given
from sourdine.mechanisms import registered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.audit import Row
    from sourdine.mechanisms import Specimen

__all__ = ["run"]


def run(names: Sequence[str]) -> bool:
    """Audit the mechanisms named, print the table, and return whether all pass."""
    specimens = _chosen(names)
    console = Console()
    rows = []
    columns = (TextColumn("auditing {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(specimens))
        for specimen in specimens:
            progress.update(task, description=f"{specimen.name:<28}")
            rows.append(audit_row(specimen))
            progress.advance(task)
    console.print(_table(rows))
    failed = [row.name for row in rows if not row.passes]
    if failed:
        console.print(f"[bold red]Broken:[/] {', '.join(failed)}")
    else:
        console.print(
            f"All {len(rows)} keep their promise: no pair of neighbours is told apart by more than "
            f"the claim, a copy 5 % too weak is caught on the same inputs, and the draws "
            f"follow the law (p at least {ALPHA:g})."
        )
    return not failed


def _chosen(names: Sequence[str]) -> list[Specimen]:
    known = {specimen.name: specimen for specimen in registered()}
    for name in names:
        if name not in known:
            raise ParameterError(
                "mechanism",
                f"be one of {', '.join(known)}",
                given(name),
                "Type sourdine audit for all of them.",
            )
    return [known[name] for name in dict.fromkeys(names)] or list(known.values())


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("mechanism", no_wrap=True)
    for name, width in (("claim", 6), ("worst", 8), ("p", 5)):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    table.add_column("verdict", no_wrap=True)
    table.add_column("worst pair", no_wrap=True)
    for row in rows:
        delta = f" δ={float(row.claim.delta):g}" if row.claim.delta else ""
        table.add_row(
            row.name + delta,
            f"{float(row.claim.epsilon):.4g}",
            f"{row.worst.epsilon:.6f}",
            f"{row.p_value:.1g}",
            "[green]holds[/]" if row.passes else "[bold red]BROKEN[/]",
            row.worst.pair(),
        )
    return table
