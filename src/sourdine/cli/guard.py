"""``sourdine guard``: evaluation data that scripts and agents may ask."""

from __future__ import annotations

import sys
from dataclasses import asdict
from io import StringIO
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.cli import output
from sourdine.cli.options import argument, flag, option, reads_text
from sourdine.errors import LEFT_OUT, ParameterError, SourdineError
from sourdine.exact import fraction
from sourdine.frames.engine import listed_columns
from sourdine.frames.frame import Frame
from sourdine.frames.paths import NAMELESS
from sourdine.parameters import kinds

if TYPE_CHECKING:
    from sourdine.adaptive.answers import AdaptiveAnswer
    from sourdine.adaptive.holdout.guard import GuardedHoldout
    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine.frames.reading import Reading


# ---- Which column of a file ``sourdine guard`` reads; nothing but names is ever printed ----------


def require_columns(column: str | None, *paths: Path | None) -> None:
    """Refuse the name of a column where no file has any."""
    if column is None or any(path and path.suffix.lower() not in NAMELESS for path in paths):
        return
    names = " and ".join(path.name for path in paths if path)
    raise ParameterError(
        "column", "be omitted unless the file is a .csv or .parquet file",
        f"{column} for {names or 'no file'}", column=LEFT_OUT,
    )  # fmt: skip


def one_column(
    path: Path | None, column: str | None, *, lone: bool = False, read: Reading | None = None
) -> Frame | None:
    """Return one column of a file, if there is a file; without a name the only one.

    With ``lone``, an only column may have any name.
    """
    if path is None:
        return None
    frame = Frame(path, read=read)
    if path.suffix.lower() in NAMELESS:
        return frame
    names = {name.strip(): name for name in reversed(frame.columns)}
    if column in names:
        return frame[names[column]]
    named_there = frame.parsed and frame.reading.header is None
    if named_there:
        _require_header([name.strip() for name in frame.columns], path.name)
    if len(frame.columns) > 1 or (column is not None and not lone):
        must = f"be a column that {'the first line of ' if named_there else ''}{path.name} names"
        raise ParameterError("column", must, str(column or ""), listed_columns(frame, column))
    return frame


def _require_header(names: list[str], file: str) -> None:
    """Refuse a first line of values: a header is dropped, and shown in errors."""
    from sourdine.adaptive.holdout.labels import is_gap, is_written

    must = "begin with a header line of column names"
    if not any(names):
        hint = "Write a header, such as y, and a row for each value."
        raise ParameterError(file, must, "an empty file", hint)
    if any(map(is_written, names)) or (len(names) == 1 and is_gap(names[0])):
        hint = "Add a header, such as y; or use a .txt file with one value per line and no header."
        raise ParameterError(file, must, "values", hint)


# ---- What the commands of ``sourdine guard`` have in common --------------------------------------


DATA, TERMS, OUTPUT = "Data", "Terms (cannot be changed later)", "Output"


def of_data(metavar: str, text: str, *names: str) -> Any:
    """Return an option about the data of a call."""
    return option(metavar, text, *names, panel=DATA)


def term(metavar: str, text: str, name: str) -> Any:
    """Return an option that is a term of a guard."""
    return option(metavar, text, name, panel=TERMS)


GuardFile = Annotated[Path, argument("GUARD", "The file that 'sourdine guard init' made.")]
Predictions = Annotated[Path, argument(
    "PREDICTIONS", "One prediction per label, in the same order: a .csv file with a header, "
    ".parquet, .npy, or .txt with one per line.",
)]  # fmt: skip
ColumnName = Annotated[str | None, of_data(
    "NAME", "The column of a .csv or .parquet file; not needed if there is only one.",
    "--column", "-c",
)]  # fmt: skip
Declared = Any
"""A `Reading` or None, as `reads_text` passes it on; its module is loaded when needed."""
Json = Annotated[bool, flag("--json", "Print only JSON on standard output.", panel=OUTPUT)]
Confidence = Annotated[str, term(
    "NUMBER", "The probability with which all intervals hold simultaneously.", "--confidence",
)]  # fmt: skip
Blocked = Annotated[str | None, term(
    "ROWS", "Rows come in independent blocks of at most this many, such as households or copies.",
    "--blocks",
)]  # fmt: skip
Chained = Annotated[str | None, term(
    "NUMBER", "Rows are a stationary Markov chain with this second eigenvalue, such as 0.5.",
    "--markov",
)]  # fmt: skip
LossName = Annotated[
    str, term("NAME", "zero-one (misclassifications) or absolute (distances).", "--loss")
]
Step = Annotated[
    str | None,
    of_data("NUMBER", "The step of the scores, such as 0.01; fixed by the first submission."),
]
Queries = Annotated[int | None, of_data(
    "NUMBER", "Plan a QueryServer with this many queries instead; --error is then the server's "
    "own, 0.05 if left out.",
)]  # fmt: skip
AddedRowsError = Annotated[str | None, of_data(
    "NUMBER", "Plan how many rows to add to keep the error of the last answer below this.",
)]  # fmt: skip
MostError = Annotated[str | None, term(
    "NUMBER", "Refuse answers whose half-width would exceed this, such as 0.05.", "--error",
)]  # fmt: skip
LossScale = Annotated[str | None, term(
    "NUMBER", "The distance that counts as a loss of 1, with --loss absolute.", "--scale",
)]  # fmt: skip
Classes = Annotated[str | None, term(
    "A,B,...", "What labels can be, from public knowledge. Other predictions are refused, at no "
    "charge, with --loss zero-one.", "--classes",
)]  # fmt: skip
Margin = Annotated[
    str, of_data("NUMBER", "The required number of standard errors of the paired difference.")
]


def open_guard(path: Path) -> GuardedHoldout:
    """Return the guard that a file keeps."""
    from sourdine.adaptive.holdout.guard import GuardedHoldout

    return GuardedHoldout.open(path)


def read_number(text: str | None, name: str, *, example: float = 0.05) -> Any:
    """Return the number that a person typed, exactly."""
    try:
        return None if text is None else fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(name, "be a number", str(text), **{name: example}) from None


def read_dependence(blocks: str | None, markov: str | None) -> Dependence | None:
    """Return how rows depend on each other."""
    from sourdine.adaptive.ledger.dependence import Blocks, Markov

    if blocks is not None and markov is not None:
        raise ParameterError("blocks", "not be combined with {markov}", "", "Use one of them.")
    if blocks is None:
        return None if markov is None else Markov(read_number(markov, "markov"))
    if not blocks.isdecimal():
        raise ParameterError("blocks", "be a whole number", str(blocks), blocks=10)
    return Blocks(int(blocks))


# ---- What ``sourdine guard`` prints: verdicts, scores, and what is left --------------------------


UNWRITTEN = 74
"""The exit status where standard output cannot be written: 1 would be a verdict."""


def say(opened: GuardedHoldout, said: str, facts: dict[str, Any], *, as_json: bool) -> None:
    """Print an answer and what is left."""
    if as_json:
        _print(dumps({**facts, "bits": _figure(facts["bits"]), **_balance(opened)}))
    else:
        _print(f"{said}\nremaining: {_left_in_words(opened)}")


def say_answer(opened: GuardedHoldout, answer: AdaptiveAnswer, *, as_json: bool) -> None:
    """Print a score with its interval."""
    said = f"{answer.value:.6g} (between {answer.lower:.4g} and {answer.upper:.4g})"
    facts = {name: getattr(answer, name) for name in ("value", "lower", "upper", "bits")}
    say(opened, said, facts, as_json=as_json)


def say_status(opened: GuardedHoldout, *, as_json: bool) -> None:
    """Print the terms of a guard, what was told and what is left."""
    ledger, spent, growth = opened.ledger, opened.ledger.spent, opened.growth
    error = None if ledger.error is None else float(ledger.error)
    if as_json:
        known = {
            "name": ledger.name, "labels": opened.n, "kind": opened.kind, "whole": opened.whole,
            "loss": opened.loss, "confidence": float(1 - ledger.beta),
            "dependence": ledger.dependence.facts(), "error": error, "answers": spent.answers,
            "bits": _figure(spent.bits), "growth": [asdict(grown) for grown in growth],
        }  # fmt: skip
        _print(dumps({**known, **_balance(opened)}, ensure_ascii=False))
        return

    from sourdine.adaptive.answers import counted

    labels = counted(opened.n, "whole number" if opened.whole else opened.kind)
    added = (
        f"{counted(grown.added, 'row')} on {grown.when[:16].replace('T', ' ')} UTC, "
        f"after {counted(grown.answers, 'answer')}"
        for grown in growth
    )
    lines = [
        ("data", ledger.name),
        ("labels", f"{labels}, {opened.loss} loss"),
        ("rows", " ".join(map(str, ledger.dependence.facts().values()))),
        *(("added", text) for text in added),
        ("error", None if error is None else f"half-width {error:g} at most"),
        ("spent", f"{counted(spent.answers, 'answer')}, {counted(f'{spent.bits:.4g}', 'bit')}"),
        ("remaining", _left_in_words(opened)),
    ]
    _print(_drawn(output.notes, [(word, text) for word, text in lines if text is not None]))


def _drawn(draw: Any, shown: object) -> str:
    """Return what is printed on a terminal, as a text."""
    page = StringIO()
    for_a_person = sys.stdout is not None and sys.stdout.isatty()
    draw(output.Terminal(file=page, force_terminal=for_a_person), shown)
    return page.getvalue().rstrip("\n")


def _balance(opened: GuardedHoldout) -> dict[str, Any]:
    left = opened.remaining
    rest = left and {"bits": _figure(left.bits), "answers": left.answers, "noes": left.noes}
    return {"remaining": rest, "halfwidth": opened.ledger.halfwidth(), "closed": opened.closed}


def _left_in_words(opened: GuardedHoldout) -> str:
    from sourdine.adaptive.answers import counted

    if opened.closed:
        return "nothing: the final answer was given"
    within = f"next answer within {opened.ledger.halfwidth():.4g} of the truth"
    if (left := opened.remaining) is None:
        return within
    score = f"one score of up to {left.bits:.4g} bits"
    if left.answers:
        rare = "" if left.answers == left.noes else f" ({left.noes} if all are no)"
        return f"{counted(left.answers, 'yes-or-no answer')}{rare}, or {score}; {within}"
    rest = f"{score} or the final answer" if left.bits >= 1 else "the final answer"
    return f"only {rest}; {within}"


def _figure(bits: float) -> float:
    """Return bits without what the arithmetic of floats left behind: 2, not 2.0000000000000004."""
    return round(bits, 9)


def _print(text: str) -> None:
    try:
        typer.echo(text)
    except OSError as error:
        output.give_up()
        trouble = error.strerror or type(error).__name__
        output.complain(
            f"standard output must take what is printed, got {trouble}. "
            "What was answered is charged: type 'sourdine guard status GUARD' with the guard's "
            "file for what is left."
        )
        raise typer.Exit(UNWRITTEN) from None


# ---- ``sourdine guard leaderboard`` and ``sourdine guard plan`` ----------------------------------


leaderboard = typer.Typer(
    no_args_is_help=True,
    help="Run a leaderboard. A score is shown only if it beats the leader by a step, with an "
    "interval that holds simultaneously for all submissions.",
)


@leaderboard.command()
@reads_text
def submit(
    path: GuardFile,
    name: Annotated[str, argument("TEAM", "The name of the team.")],
    predictions: Predictions,
    *,
    column: ColumnName = None,
    step: Step = None,
    json: Json = False,
    read: Declared,
) -> None:
    """Submit predictions. The score is shown if they take the lead.

    Exits with status 0 if the submission leads, 1 if not.
    """
    from sourdine.adaptive.holdout.leaderboard import Leaderboard

    require_columns(column, predictions)
    spacing = "auto" if step is None else read_number(step, "step", example=0.01)
    board = Leaderboard(open_guard(path), spacing)
    standing = board.submit(name, one_column(predictions, column, lone=True, read=read))
    score = standing.score
    if json:
        ends = {end: score and getattr(score, end) for end in ("value", "lower", "upper")}
        facts = {"name": standing.name, "leads": bool(standing), **ends}
        _print(dumps({**facts, "bits": _figure(standing.bits), "bar": board.bar}))
    elif score is None:
        bar = "no score" if board.bar is None else f"{board.ladder.said(board.bar)} or more"
        _print(f"not better than the leader\nscore to lead: {bar}")
    else:
        _print(f"leads with {score.value:.6g} (between {score.lower:.4g} and {score.upper:.4g})")
    raise typer.Exit(0 if standing else 1)


@leaderboard.command()
def show(
    path: GuardFile,
    *,
    plot: Annotated[str | None, option("PATH", "Save a plot to this .png, .svg, .pdf or .html "
        "file.", panel=OUTPUT)] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Show all teams with their best scores. Costs nothing."""
    from sourdine.adaptive.holdout.leaderboard import Leaderboard

    output.check(plot)
    board = Leaderboard(open_guard(path))
    if json:
        _print(dumps(board.to_dict(), ensure_ascii=False))
    else:
        _print(_drawn(output.print_sheet, board.sheet()))
    output.draw(board, plot, title="Leaderboard")


guard = typer.Typer(
    no_args_is_help=True,
    help="Reuse evaluation data safely: the labels stay in the guard's file, every answer is "
    "accounted for, and all intervals hold simultaneously.\n\n"
    "Exit status: 0 if confirmed or answered, 1 if not confirmed, 2 for a wrong command or file, "
    "3 if the budget is exhausted, 74 if the answer could not be printed.",
    epilog="Examples:\n\n"
    "$ sourdine guard init labels.csv -c y --out eval.guard --baseline old.csv --error 0.05\n\n"
    "$ sourdine guard confirm eval.guard new.csv\n\n"
    "$ sourdine guard status eval.guard\n\n"
    "$ sourdine guard extend eval.guard more.csv -c y\n\n"
    "$ sourdine guard leaderboard submit eval.guard anna predictions.csv\n\n"
    "$ sourdine guard plan --n 5000 --answers 300 --yes 10\n\n"
    "$ sourdine guard plan --n 100000 --queries 10000 --surprises 5 --volunteer 500 --error 0.03",
)
guard.add_typer(leaderboard, name="leaderboard")


@guard.command()
def plan(
    *,
    n: Annotated[int, of_data("NUMBER", "The number of labels.", "--n")],
    answers: Annotated[int | None, of_data("NUMBER", "The number of calls of 'confirm'.")] = None,
    yes: Annotated[int | None, of_data("NUMBER", "How many of these calls confirm the "
        "predictions.")] = None,
    scores: Annotated[int, of_data("NUMBER", "The number of additional scores.")] = 0,
    submissions: Annotated[int | None, of_data("NUMBER", "Plan a leaderboard with this many "
        "submissions instead.")] = None,
    leads: Annotated[int, of_data("NUMBER", "The number of submissions that take the lead.")] = 10,
    queries: Queries = None,
    surprises: Annotated[int, of_data("NUMBER", "How many answers to queries come from the "
        "data.")] = 0,
    volunteer: Annotated[str, of_data("BITS", "The bits that the server may spend on facts before "
        "the first query.")] = "0",
    step: Step = None,
    error: AddedRowsError = None,
    confidence: Confidence = "0.95",
    blocks: Blocked = None,
    markov: Chained = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Compute how far scores may be from the truth after a number of answers. Reads no data."""
    from sourdine.adaptive.holdout.planning import plan_guard, plan_leaderboard, plan_queries

    given = {
        "confidence": read_number(confidence, "confidence", example=0.95),
        "dependence": read_dependence(blocks, markov),
        "error": read_number(error, "error"),
    }
    spacing = read_number(step, "step", example=0.01)
    one = "Plan one of the two."
    if queries is not None:
        if answers is not None or submissions is not None:
            raise ParameterError("queries", "not be combined with {answers}", "", one)
        given["error"] = 0.05 if given["error"] is None else given["error"]
        bits = read_number(volunteer, "volunteer", example=500)
        planned = plan_queries(n, queries=queries, surprises=surprises, volunteer=bits, **given)
    elif surprises or volunteer != "0":
        name = "surprises" if surprises else "volunteer"
        raise ParameterError(
            name, "be omitted without {queries}", "", f"Use {{queries}}, or omit {{{name}}}.",
            **{"queries": 10_000, name: LEFT_OUT},
        )  # fmt: skip
    elif submissions is not None:
        if answers is not None or yes is not None or scores:
            raise ParameterError("submissions", "not be combined with {answers}", "", one)
        planned = plan_leaderboard(n, submissions=submissions, leads=leads, step=spacing, **given)
    elif answers is None:
        raise ParameterError("answers", "be given, or {submissions}", answers=300)
    else:
        grid = {} if spacing is None else {"step": spacing}
        planned = plan_guard(n, answers=answers, yes=yes, scores=scores, **grid, **given)
    _print(planned.to_json() if json else _drawn(output.print_sheet, planned.sheet()))


@guard.command()
@reads_text
def init(
    labels: Annotated[Path, argument("LABELS", "The true labels, a .csv, .parquet, .txt or .npy "
        "file.")],
    *,
    out: Annotated[Path, option("PATH", "The new file of the guard.", "--out", "-o", panel=OUTPUT)],
    column: ColumnName = None,
    baseline: Annotated[Path | None, of_data("PATH", "The predictions to beat first.")] = None,
    error: MostError = None,
    confidence: Confidence = "0.95",
    blocks: Blocked = None,
    markov: Chained = None,
    loss: LossName = "zero-one",
    scale: LossScale = None,
    classes: Classes = None,
    name: Annotated[str | None, term("TEXT", "The name of the data.", "--name")] = None,
    json: Json = False,
    read: Declared,
) -> None:  # fmt: skip
    """Create a guard: a file that holds the labels and accounts for every answer.

    The file is readable by you only. Do not give the labels to the people who submit predictions.
    """
    from sourdine.adaptive.holdout.guard import GuardedHoldout

    require_columns(column, labels, baseline)
    old = one_column(baseline, column, lone=True, read=read)
    try:
        made = GuardedHoldout.create(
            out, one_column(labels, column, read=read), loss=loss,
            scale=read_number(scale, "scale"),
            classes=None if classes is None else kinds.KEYS.parse(classes), baseline=old,
            confidence=read_number(confidence, "confidence"),
            dependence=read_dependence(blocks, markov), error=read_number(error, "error"),
            name=name,
        )  # fmt: skip
    except SourdineError as refusal:
        raise refusal.renamed(path="out") from None
    say_status(made, as_json=json)


@guard.command()
@reads_text
def confirm(
    path: GuardFile,
    new: Predictions,
    *,
    old: Annotated[Path | None, of_data("PATH", "The predictions to beat. Defaults to those "
        "confirmed last.")] = None,
    column: ColumnName = None,
    margin: Margin = "1",
    certified: Annotated[bool, flag("--certified", "Confirm only if the improvement is certified.",
        panel=DATA)] = False,
    json: Json = False,
    read: Declared,
) -> None:  # fmt: skip
    """Test whether new predictions are better. If so, they become the baseline.

    Exits with status 0 if confirmed, 1 if not.
    """
    require_columns(column, new, old)
    opened = open_guard(path)
    both = (one_column(file, column, lone=True, read=read) for file in (new, old))
    verdict = opened.confirm(*both, margin=read_number(margin, "margin"), certified=certified)
    said = "confirmed" if verdict else "not confirmed"
    facts = {"confirmed": verdict.confirmed, "bits": verdict.bits}
    say(opened, said, facts, as_json=json)
    raise typer.Exit(0 if verdict else 1)


@guard.command()
@reads_text
def score(
    path: GuardFile,
    predictions: Predictions,
    *,
    column: ColumnName = None,
    step: Annotated[str, of_data("NUMBER", "The step of the score's grid. A coarser grid costs "
        "less.")] = "0.01",
    json: Json = False,
    read: Declared,
) -> None:  # fmt: skip
    """Release the accuracy (one minus the mean loss), rounded to a grid, with an interval."""
    require_columns(column, predictions)
    opened = open_guard(path)
    values = one_column(predictions, column, lone=True, read=read)
    say_answer(opened, opened.score(values, step=read_number(step, "step")), as_json=json)


@guard.command()
@reads_text
def final(
    path: GuardFile,
    predictions: Annotated[Path | None, argument("PREDICTIONS", "The predictions to score. "
        "Defaults to the confirmed ones.")] = None,
    *,
    column: ColumnName = None,
    json: Json = False,
    read: Declared,
) -> None:  # fmt: skip
    """Release the exact accuracy with an interval, and close the guard permanently."""
    require_columns(column, predictions)
    opened = open_guard(path)
    answer = opened.final(one_column(predictions, column, lone=True, read=read))
    say_answer(opened, answer, as_json=json)


@guard.command()
@reads_text
def extend(
    path: GuardFile,
    labels: Annotated[Path, argument("LABELS", "The true labels of the new rows, a file in the "
        "same format.")],
    *,
    column: ColumnName = None,
    confirmed: Annotated[Path | None, of_data("PATH", "The confirmed predictions for the new "
        "rows.")] = None,
    json: Json = False,
    read: Declared,
) -> None:  # fmt: skip
    """Add labels of new rows from the same distribution, to narrow later intervals.

    The rows must not depend on earlier answers. From then on predictions must cover all rows, the
    new ones last.
    """
    require_columns(column, labels, confirmed)
    opened = open_guard(path)
    own = one_column(labels, column, read=read)
    opened.extend(own, one_column(confirmed, column, lone=True, read=read))
    say_status(opened, as_json=json)


@guard.command()
def status(path: GuardFile, *, json: Json = False) -> None:
    """Show the terms, the answers and the remaining budget of a guard. Costs nothing."""
    say_status(open_guard(path), as_json=json)
