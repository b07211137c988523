"""``sourdine audit``: one row a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from sourdine.audit import Row, chosen
from sourdine.audit.checks import audit_rows
from sourdine.audit.exhaustive import ALPHA
from sourdine.cli.output import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence


USUAL = 1.05
SLOW = 1.0
"""Seconds from which on a row says how long it took."""
HEADS = ("mechanism", "claim", "worst", "p", "s", "verdict", "worst pair")
LINE = "{:<{wide}}  {:>9} {:>9} {:>6} {:>3}  {:<7}  {}"
LEFT = (
    "Left to --thorough: the draws for all inputs but one, releases made one by one, error bounds, "
    "and the curves of weaker copies."
)


def run(names: Sequence[str], *, thorough: bool = False, workers: int | None = None) -> bool:
    """Audit the mechanisms at these addresses, print a row for each, and return if all pass."""
    specimens = chosen(names)
    wide = max(len(specimen.name) for specimen in specimens)
    console = Terminal()
    rows: list[Row] = []
    missing: list[tuple[str, str]] = []
    with _progress(console) as progress:
        task = progress.add_task("auditing", total=len(specimens))
        _print_row(console, HEADS, wide, "bold")
        for name, found in audit_rows(specimens, thorough=thorough, workers=workers):
            if isinstance(found, Row):
                rows.append(found)
                _print_row(console, _cells(found), wide)
            else:
                missing.append((name, found))
            progress.advance(task)
    console.print()
    return _judgement(console, rows, missing, thorough=thorough)


def _progress(console: Terminal) -> Progress:
    """Return a bar below the rows, or on standard error where the rows go to a file or a pipe."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    below = console if console.is_terminal else Terminal(stderr=True)
    return Progress(*columns, console=below, transient=True, redirect_stdout=console.is_terminal)


def _judgement(
    console: Terminal, rows: list[Row], missing: list[tuple[str, str]], *, thorough: bool
) -> bool:
    """Print what all rows show together, and return whether all pass."""
    rows.sort(key=lambda row: row.name)
    failed = [row for row in rows if not row.passes]
    if failed:
        console.print(f"[bold red]Broken:[/] {', '.join(row.name for row in failed)}")
        for row in failed:
            for fault in row.faults:
                console.print(f"  {row.name}: {escape(fault)}")
    else:
        console.print(
            f"All {len(rows)} keep their promise: no pair of neighbours is told apart by more than "
            f"the claim, whole curves lie under those of the parts of the loss, a copy 5% too "
            f"weak is caught on the same inputs, and the draws follow the law (p at least "
            f"{ALPHA:g}), so many that 30% more or less noise is rejected."
        )
    late = [f"{row.name} ({float(row.factor - 1):.0%})" for row in rows if row.factor > USUAL]
    if late:
        console.print(f"On so small a domain only weaker copies are caught of: {', '.join(late)}.")
    blunt = [row.name for row in rows if row.power >= ALPHA]
    if blunt:
        console.print(f"Of these, the draws do not reject it: {', '.join(blunt)}.")
    console.print("Every check of the conformance suite was run." if thorough else LEFT)
    for name, reason in missing:
        console.print(f"[yellow]Not audited:[/] {name}. {escape(reason)}")
    return not failed


def _print_row(console: Terminal, cells: Sequence[str], wide: int, style: str = "") -> None:
    """Print a row in one line, cut at the width of a terminal."""
    line = Text(LINE.format(*cells, wide=wide), style)
    line.highlight_regex(r"\bholds\b", "green")
    line.highlight_regex(r"\bBROKEN\b", "bold red")
    if console.is_terminal:
        console.print(line, no_wrap=True, overflow="ellipsis")
    else:
        console.print(line, soft_wrap=True)


def _cells(row: Row) -> tuple[str, ...]:
    delta = f" δ={float(row.claim.delta):g}" if row.claim.delta else ""
    return (
        row.name, f"{float(row.claim.epsilon):.4g}{delta}", f"{row.worst.epsilon:.6f}",
        f"{row.p_value:.1g}", f"{row.seconds:.0f}" if row.seconds >= SLOW else "",
        "holds" if row.passes else "BROKEN", row.worst.pair(),
    )  # fmt: skip
