"""What the commands of ``sourdine guard`` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from sourdine.adaptive.holdout import GuardedHoldout
    from sourdine.adaptive.ledger import Dependence

__all__ = [
    "DATA",
    "OUTPUT",
    "TERMS",
    "Blocked",
    "Chained",
    "ColumnName",
    "Confidence",
    "Declared",
    "GuardFile",
    "Json",
    "Predictions",
    "opened",
    "read_dependence",
    "read_number",
    "term",
]

DATA, TERMS, OUTPUT = "Data", "Terms, fixed for good", "Output"


def term(*flags: str, metavar: str, text: str) -> Any:  # noqa: ANN401 - typer's own
    """Return an option that is a term of a guard."""
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=TERMS)


GuardFile = Annotated[
    Path, typer.Argument(metavar="GUARD", help="The file that 'sourdine guard init' made.")
]
Predictions = Annotated[
    Path,
    typer.Argument(
        metavar="PREDICTIONS",
        help="One for each label, in their order: .csv with a header, .parquet, .npy, or .txt with "
        "one a line.",
    ),
]
ColumnName = Annotated[
    str | None,
    typer.Option(
        "--column",
        "-c",
        metavar="NAME",
        help="The column of a .csv or .parquet file; not needed if there is only one.",
        rich_help_panel=DATA,
    ),
]
Declared = Any
"""A `Reading` or None, as `reads_text` passes it on; its module is loaded when needed."""
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, and nothing else, on standard output.", rich_help_panel=OUTPUT
    ),
]
Confidence = Annotated[
    str,
    term(
        "--confidence",
        metavar="NUMBER",
        text="The probability with which all intervals ever given hold.",
    ),
]
Blocked = Annotated[
    str | None,
    term(
        "--blocks",
        metavar="ROWS",
        text="Rows come in independent blocks of at most this many, such as households or copies.",
    ),
]
Chained = Annotated[
    str | None,
    term(
        "--markov",
        metavar="NUMBER",
        text="Rows are a stationary Markov chain with this second eigenvalue, such as 0.5.",
    ),
]


def opened(path: Path) -> GuardedHoldout:
    """Return the guard that a file keeps."""
    from sourdine.adaptive.holdout import GuardedHoldout  # noqa: PLC0415 - loaded when needed

    return GuardedHoldout.open(path)


def read_number(text: str | None, name: str, *, example: float = 0.05) -> Any:  # noqa: ANN401 - None only where None was given
    """Return the number that a person typed, exactly."""
    from sourdine.exact import fraction  # noqa: PLC0415 - loaded when needed

    if text is None:
        return None
    try:
        return fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(
            name, "be a number", str(text), f"Type {{{name}}}.", **{name: example}
        ) from None


def read_dependence(blocks: str | None, markov: str | None) -> Dependence | None:
    """Return how rows depend on each other."""
    from sourdine.adaptive.ledger import Blocks, Markov  # noqa: PLC0415 - loaded when needed

    if blocks is not None and markov is not None:
        raise ParameterError("blocks", "be left out with {markov}", "both", "Type one of them.")
    if blocks is not None:
        if not blocks.isdecimal():
            raise ParameterError(
                "blocks", "be a whole number", str(blocks), "Type {blocks}.", blocks=10
            )
        return Blocks(int(blocks))
    return None if markov is None else Markov(read_number(markov, "markov"))
