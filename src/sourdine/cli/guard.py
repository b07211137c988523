"""``sourdine guard``: evaluation data that scripts and agents may ask, and what is left of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.cli.guard_output import say, say_answer, say_status
from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from sourdine.adaptive.holdout import GuardedHoldout
    from sourdine.adaptive.ledger import Dependence

__all__ = ["guard"]

DATA, TERMS, OUTPUT = "Data", "Terms, fixed for good", "Output"

guard = typer.Typer(
    no_args_is_help=True,
    help="Evaluation data that may be used again and again: the labels stay in the guard's file, "
    "every answer is counted, and what is said stays true for all tries at once.\n\n"
    "The exit status says the verdict: 0 confirmed or answered, 1 not confirmed, 2 for what "
    "cannot be, 3 where too little is left, 74 where the answer could not be printed.",
    epilog="Begin here:\n\n"
    "$ sourdine guard init labels.csv -c y --out eval.guard --baseline old.csv --error 0.05\n\n"
    "$ sourdine guard confirm eval.guard new.csv\n\n"
    "$ sourdine guard status eval.guard",
)

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
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, and nothing else, on standard output.", rich_help_panel=OUTPUT
    ),
]


def _term(*flags: str, metavar: str, text: str) -> Any:  # noqa: ANN401 - typer's own
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=TERMS)


@guard.command()
def init(  # noqa: PLR0913 - the terms of a guard
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", help="The true labels, in a .csv, .parquet, .txt or .npy file."
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="The guard's file, a new one.",
            rich_help_panel=OUTPUT,
        ),
    ],
    column: ColumnName = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Predictions that the first new ones must beat.",
            rich_help_panel=DATA,
        ),
    ] = None,
    error: Annotated[
        str | None,
        _term(
            "--error",
            metavar="NUMBER",
            text="Refuse what would take the half-width of the next answer above this, as 0.05.",
        ),
    ] = None,
    confidence: Annotated[
        str,
        _term(
            "--confidence",
            metavar="NUMBER",
            text="The probability with which all intervals ever given hold.",
        ),
    ] = "0.95",
    blocks: Annotated[
        str | None,
        _term(
            "--blocks",
            metavar="ROWS",
            text="Rows come in independent blocks of at most so many, as households or copies.",
        ),
    ] = None,
    markov: Annotated[
        str | None,
        _term(
            "--markov",
            metavar="NUMBER",
            text="Rows are a stationary Markov chain with this second eigenvalue, as 0.5.",
        ),
    ] = None,
    loss: Annotated[
        str, _term("--loss", metavar="NAME", text="zero-one (mistakes) or absolute (distances).")
    ] = "zero-one",
    scale: Annotated[
        str | None,
        _term(
            "--scale",
            metavar="NUMBER",
            text="The distance that counts as wholly wrong, with --loss absolute.",
        ),
    ] = None,
    name: Annotated[
        str | None, _term("--name", metavar="TEXT", text="What the data are called.")
    ] = None,
    json: Json = False,
) -> None:
    """Put labels under guard: make the file that holds them and counts what is told.

    Only you may read the file. Keep the labels away from whoever asks; the guard is all they need.
    """
    from sourdine.adaptive.holdout import GuardedHoldout  # noqa: PLC0415 - loaded when needed
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, labels, baseline)
    made = GuardedHoldout.create(
        out,
        one_column(labels, column),
        loss=loss,
        scale=_number(scale, "scale"),
        baseline=None if baseline is None else one_column(baseline, column, lone=True),
        confidence=_number(confidence, "confidence"),
        dependence=_dependence(blocks, markov),
        error=_number(error, "error"),
        name=name,
    )
    say_status(made, as_json=json)


@guard.command()
def confirm(  # noqa: PLR0913 - a command's options
    path: GuardFile,
    new: Predictions,
    *,
    old: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="What must be beaten; the predictions confirmed last if left out.",
            rich_help_panel=DATA,
        ),
    ] = None,
    column: ColumnName = None,
    margin: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="How many standard errors of the paired difference are needed.",
            rich_help_panel=DATA,
        ),
    ] = "1",
    certified: Annotated[
        bool,
        typer.Option(
            "--certified", help="Confirm only what is proved to be better.", rich_help_panel=DATA
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Ask for one bit: are the new predictions better? If so they are the ones to beat.

    Exits with status 0 if confirmed, 1 if not.
    """
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, new, old)
    opened = _opened(path)
    verdict = opened.confirm(
        one_column(new, column, lone=True),
        None if old is None else one_column(old, column, lone=True),
        margin=_number(margin, "margin"),
        certified=certified,
    )
    said = "confirmed" if verdict else "not confirmed"
    facts = {"confirmed": verdict.confirmed, "bits": verdict.bits}
    say(opened, said, facts, as_json=json)
    raise typer.Exit(0 if verdict else 1)


@guard.command()
def score(
    path: GuardFile,
    predictions: Predictions,
    *,
    column: ColumnName = None,
    step: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The spacing of the score's grid; the coarser, the cheaper.",
            rich_help_panel=DATA,
        ),
    ] = "0.01",
    json: Json = False,
) -> None:
    """Ask for the accuracy (one minus the average loss) on a grid, with an interval."""
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, predictions)
    opened = _opened(path)
    values = one_column(predictions, column, lone=True)
    answer = opened.score(values, step=_number(step, "step"))
    say_answer(opened, answer, as_json=json)


@guard.command()
def final(
    path: GuardFile,
    predictions: Annotated[
        Path | None,
        typer.Argument(
            metavar="PREDICTIONS", help="Those to score; the confirmed ones if left out."
        ),
    ] = None,
    *,
    column: ColumnName = None,
    json: Json = False,
) -> None:
    """Ask for the exact accuracy with an interval, and close the guard for good."""
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, predictions)
    opened = _opened(path)
    values = None if predictions is None else one_column(predictions, column, lone=True)
    answer = opened.final(values)
    say_answer(opened, answer, as_json=json)


@guard.command()
def status(path: GuardFile, *, json: Json = False) -> None:
    """Show the terms of a guard, what was told and what is left; costs nothing."""
    say_status(_opened(path), as_json=json)


def _opened(path: Path) -> GuardedHoldout:
    from sourdine.adaptive.holdout import GuardedHoldout  # noqa: PLC0415 - loaded when needed

    return GuardedHoldout.open(path)


def _number(text: str | None, name: str) -> Any:  # noqa: ANN401 - None only where None was given
    """Return the number that a person typed, exactly."""
    from sourdine.exact import fraction  # noqa: PLC0415 - loaded when needed

    if text is None:
        return None
    try:
        return fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(
            name, "be a number", str(text), f"Type {{{name}}}.", **{name: 0.05}
        ) from None


def _dependence(blocks: str | None, markov: str | None) -> Dependence | None:
    from sourdine.adaptive.ledger import Blocks, Markov  # noqa: PLC0415 - loaded when needed

    if blocks is not None and markov is not None:
        raise ParameterError("blocks", "be left out with {markov}", "both", "Type one of them.")
    if blocks is not None:
        if not blocks.isdecimal():
            raise ParameterError(
                "blocks", "be a whole number", str(blocks), "Type {blocks}.", blocks=10
            )
        return Blocks(int(blocks))
    return None if markov is None else Markov(_number(markov, "markov"))
