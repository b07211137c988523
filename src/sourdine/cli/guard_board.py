"""``sourdine guard leaderboard`` and ``sourdine guard plan``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

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
    opened,
    read_dependence,
    read_number,
)
from sourdine.cli.guard_output import say_board, say_plan, say_standing
from sourdine.cli.options import reads_text
from sourdine.errors import ParameterError

__all__ = ["leaderboard", "plan"]

leaderboard = typer.Typer(
    no_args_is_help=True,
    help="A leaderboard of all teams: only who reaches a higher step than the leader sees a score, "
    "with an interval that holds for all submissions at once.",
)

Step = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="The spacing of the scores, such as 0.01, fixed by the first submission.",
        rich_help_panel=DATA,
    ),
]


@leaderboard.command()
@reads_text
def submit(  # noqa: PLR0913 - a command's options
    path: GuardFile,
    name: Annotated[str, typer.Argument(metavar="TEAM", help="Whose predictions they are.")],
    predictions: Predictions,
    *,
    column: ColumnName = None,
    step: Step = None,
    json: Json = False,
    read: Declared,
) -> None:
    """Submit predictions; their score is shown if they lead now.

    Exits with status 0 if they lead, 1 if not.
    """
    from sourdine.adaptive.holdout import Leaderboard  # noqa: PLC0415 - loaded when needed
    from sourdine.cli.label_files import one_column, require_columns  # noqa: PLC0415

    require_columns(column, predictions)
    board = Leaderboard(opened(path), _step(step))
    standing = board.submit(name, one_column(predictions, column, lone=True, read=read))
    say_standing(board, standing, as_json=json)
    raise typer.Exit(0 if standing else 1)


@leaderboard.command()
def show(
    path: GuardFile,
    *,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Also draw it: a .png, .svg or .html file.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show all teams with the best scores that they were shown; costs nothing."""
    from sourdine.adaptive.holdout import Leaderboard  # noqa: PLC0415 - loaded when needed
    from sourdine.cli import picture  # noqa: PLC0415

    picture.check(plot)
    board = Leaderboard(opened(path))
    say_board(board, as_json=json)
    if plot is not None:
        picture.draw(board, plot, title="Leaderboard")


def plan(  # noqa: PLR0913 - what will be asked
    *,
    n: Annotated[
        int, typer.Option("--n", metavar="NUMBER", help="How many labels.", rich_help_panel=DATA)
    ],
    answers: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="How often 'confirm' will be asked.", rich_help_panel=DATA
        ),
    ] = None,
    yes: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="How many of these answers are yes.", rich_help_panel=DATA
        ),
    ] = None,
    scores: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="How many scores besides.", rich_help_panel=DATA),
    ] = 0,
    submissions: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Plan a leaderboard of this many submissions instead.",
            rich_help_panel=DATA,
        ),
    ] = None,
    leads: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="How many submissions take the lead.", rich_help_panel=DATA
        ),
    ] = 10,
    step: Step = None,
    error: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="Plan how many rows to add, so that the last answer is within this.",
            rich_help_panel=DATA,
        ),
    ] = None,
    confidence: Confidence = "0.95",
    blocks: Blocked = None,
    markov: Chained = None,
    json: Json = False,
) -> None:
    """Say how far scores may be from the truth after these answers; reads nothing."""
    from sourdine.adaptive.holdout import plan_guard, plan_leaderboard  # noqa: PLC0415

    given = {
        "confidence": read_number(confidence, "confidence", example=0.95),
        "dependence": read_dependence(blocks, markov),
        "error": read_number(error, "error"),
    }
    spacing = read_number(step, "step", example=0.01)
    if submissions is not None:
        if answers is not None or yes is not None or scores:
            raise ParameterError(
                "submissions", "be planned alone", "answers besides", "Plan one of the two."
            )
        planned = plan_leaderboard(n, submissions=submissions, leads=leads, step=spacing, **given)
    elif answers is None:
        raise ParameterError(
            "answers",
            "be given, or {submissions}",
            "none",
            "Type {answers}.",
            answers=300,
        )
    else:
        grid = {} if spacing is None else {"step": spacing}
        planned = plan_guard(n, answers=answers, yes=yes, scores=scores, **grid, **given)
    say_plan(planned, as_json=json)


def _step(text: str | None) -> Any:  # noqa: ANN401 - a number, or 'auto'
    return "auto" if text is None else read_number(text, "step", example=0.01)
