"""``sourdine guard``: evaluation data that scripts and agents may ask, and what is left of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from sourdine.cli.guard_board import leaderboard, plan
from sourdine.cli.guard_options import (
    DATA,
    OUTPUT,
    Blocked,
    Chained,
    ColumnName,
    Confidence,
    Declared,
    GuardFile,
    Json,
    Predictions,
    read_dependence,
    read_number,
    term,
)
from sourdine.cli.guard_options import opened as open_guard
from sourdine.cli.guard_output import say, say_answer, say_status
from sourdine.cli.options import reads_text
from sourdine.errors import SourdineError

__all__ = ["guard"]

guard = typer.Typer(
    no_args_is_help=True,
    help="Evaluation data that may be used again and again: the labels stay in the guard's file, "
    "every answer is counted, and what is said stays true for all tries at once.\n\n"
    "The exit status says the verdict: 0 confirmed or answered, 1 not confirmed, 2 for a "
    "wrong command or file, 3 where too little is left, 74 where the answer could not be printed.",
    epilog="Begin here:\n\n"
    "$ sourdine guard init labels.csv -c y --out eval.guard --baseline old.csv --error 0.05\n\n"
    "$ sourdine guard confirm eval.guard new.csv\n\n"
    "$ sourdine guard status eval.guard\n\n"
    "$ sourdine guard extend eval.guard more.csv -c y\n\n"
    "$ sourdine guard leaderboard submit eval.guard anna predictions.csv\n\n"
    "$ sourdine guard plan --n 5000 --answers 300 --yes 10",
)

guard.add_typer(leaderboard, name="leaderboard")
guard.command()(plan)


@guard.command()
@reads_text
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
        term(
            "--error",
            metavar="NUMBER",
            text="Refuse what would take the next half-width above this, such as 0.05.",
        ),
    ] = None,
    confidence: Confidence = "0.95",
    blocks: Blocked = None,
    markov: Chained = None,
    loss: Annotated[
        str, term("--loss", metavar="NAME", text="zero-one (mistakes) or absolute (distances).")
    ] = "zero-one",
    scale: Annotated[
        str | None,
        term(
            "--scale",
            metavar="NUMBER",
            text="The distance that counts as wholly wrong, with --loss absolute.",
        ),
    ] = None,
    name: Annotated[
        str | None, term("--name", metavar="TEXT", text="What the data are called.")
    ] = None,
    json: Json = False,
    read: Declared,
) -> None:
    """Put labels under guard: make the file that holds them and counts what is told.

    Only you may read the file. Keep the labels away from those who ask; the guard is all they need.
    """
    from sourdine.adaptive.holdout import GuardedHoldout  # noqa: PLC0415 - loaded when needed
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, labels, baseline)
    old = None if baseline is None else one_column(baseline, column, lone=True, read=read)
    try:
        made = GuardedHoldout.create(
            out,
            one_column(labels, column, read=read),
            loss=loss,
            scale=read_number(scale, "scale"),
            baseline=old,
            confidence=read_number(confidence, "confidence"),
            dependence=read_dependence(blocks, markov),
            error=read_number(error, "error"),
            name=name,
        )
    except SourdineError as refusal:
        raise refusal.renamed(path="out") from None
    say_status(made, as_json=json)


@guard.command()
@reads_text
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
    read: Declared,
) -> None:
    """Ask for one bit: are the new predictions better? If so they are the ones to beat.

    Exits with status 0 if confirmed, 1 if not.
    """
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, new, old)
    opened = open_guard(path)
    verdict = opened.confirm(
        one_column(new, column, lone=True, read=read),
        None if old is None else one_column(old, column, lone=True, read=read),
        margin=read_number(margin, "margin"),
        certified=certified,
    )
    said = "confirmed" if verdict else "not confirmed"
    facts = {"confirmed": verdict.confirmed, "bits": verdict.bits}
    say(opened, said, facts, as_json=json)
    raise typer.Exit(0 if verdict else 1)


@guard.command()
@reads_text
def score(  # noqa: PLR0913 - a command's options
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
    read: Declared,
) -> None:
    """Ask for the accuracy (one minus the average loss) on a grid, with an interval."""
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, predictions)
    opened = open_guard(path)
    values = one_column(predictions, column, lone=True, read=read)
    answer = opened.score(values, step=read_number(step, "step"))
    say_answer(opened, answer, as_json=json)


@guard.command()
@reads_text
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
    read: Declared,
) -> None:
    """Ask for the exact accuracy with an interval, and close the guard for good."""
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, predictions)
    opened = open_guard(path)
    values = None if predictions is None else one_column(predictions, column, lone=True, read=read)
    answer = opened.final(values)
    say_answer(opened, answer, as_json=json)


@guard.command()
@reads_text
def extend(  # noqa: PLR0913 - a command's options
    path: GuardFile,
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="The true labels of the new rows, a file as before."),
    ],
    *,
    column: ColumnName = None,
    confirmed: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="What the predictions confirmed last say on the new rows.",
            rich_help_panel=DATA,
        ),
    ] = None,
    json: Json = False,
    read: Declared,
) -> None:
    """Add rows, drawn as the first ones were: later answers are as narrow as all rows allow.

    They must not be chosen by looking at answers. Predictions are of all rows from then on, the new
    ones last.
    """
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, labels, confirmed)
    opened = open_guard(path)
    opened.extend(
        one_column(labels, column, read=read),
        None if confirmed is None else one_column(confirmed, column, lone=True, read=read),
    )
    say_status(opened, as_json=json)


@guard.command()
def status(path: GuardFile, *, json: Json = False) -> None:
    """Show the terms of a guard, what was told and what is left; costs nothing."""
    say_status(open_guard(path), as_json=json)
