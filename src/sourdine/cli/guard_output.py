"""What ``sourdine guard`` prints: verdicts, scores, and what is left."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from io import StringIO
from typing import TYPE_CHECKING, Any

import typer

from sourdine.cli.streams import Terminal, complain, written

if TYPE_CHECKING:
    from sourdine.adaptive.answers import AdaptiveAnswer
    from sourdine.adaptive.holdout import GuardedHoldout, Leaderboard, Standing, WidthPlan
    from sourdine.adaptive.ledger import Growth
    from sourdine.release import Sheet

__all__ = ["say", "say_answer", "say_board", "say_plan", "say_standing", "say_status"]

UNWRITTEN = 74
"""The exit status where standard output cannot be written: 1 would be a verdict."""


def say(opened: GuardedHoldout, said: str, facts: dict[str, Any], *, as_json: bool) -> None:
    """Print an answer and what is left."""
    if as_json:
        told = {**facts, "bits": _figure(facts["bits"]), **_balance(opened)}
        _print(json.dumps(told))
    else:
        _print(f"{said}\nleft: {_left_in_words(opened)}")


def say_answer(opened: GuardedHoldout, answer: AdaptiveAnswer, *, as_json: bool) -> None:
    """Print a score with its interval."""
    said = f"{answer.value:.6g} (between {answer.lower:.4g} and {answer.upper:.4g})"
    facts = {name: getattr(answer, name) for name in ("value", "lower", "upper", "bits")}
    say(opened, said, facts, as_json=as_json)


def say_status(opened: GuardedHoldout, *, as_json: bool) -> None:
    """Print the terms of a guard, what was told and what is left."""
    if as_json:
        _print(json.dumps(_known(opened), ensure_ascii=False))
        return

    from sourdine.adaptive.answers import counted  # noqa: PLC0415
    from sourdine.cli.output import notes  # noqa: PLC0415

    ledger, spent = opened.ledger, opened.ledger.spent
    labels = counted(opened.n, "whole number" if opened.whole else opened.kind)
    lines = [
        ("data", ledger.name),
        ("labels", f"{labels}, {opened.loss} loss"),
        ("rows", " ".join(map(str, ledger.dependence.facts().values()))),
        *(("added", _added_in_words(grown)) for grown in opened.growth),
        ("error", None if ledger.error is None else f"half-width {float(ledger.error):g} at most"),
        ("told", f"{counted(spent.answers, 'answer')}, {counted(f'{spent.bits:.4g}', 'bit')}"),
        ("left", _left_in_words(opened)),
    ]
    page = StringIO()
    console = Terminal(file=page, force_terminal=_for_a_person())
    notes(console, [(word, text) for word, text in lines if text is not None])
    _print(page.getvalue().rstrip("\n"))


def say_standing(board: Leaderboard, standing: Standing, *, as_json: bool) -> None:
    """Print whether a submission leads, and its score if so."""
    score = standing.score
    if as_json:
        ends = {name: score and getattr(score, name) for name in ("value", "lower", "upper")}
        facts = {"name": standing.name, "leads": bool(standing), **ends}
        _print(json.dumps({**facts, "bits": _figure(standing.bits), "bar": board.bar}))
        return
    next_lead = board.bar
    bar = "nothing" if next_lead is None else f"{board.ladder.said(next_lead)} or more"
    said = f"not better than the leader\nleads now: {bar}"
    if score is not None:
        said = f"leads with {score.value:.6g} (between {score.lower:.4g} and {score.upper:.4g})"
    _print(said)


def say_board(board: Leaderboard, *, as_json: bool) -> None:
    """Print all teams."""
    _print(json.dumps(board.to_dict(), ensure_ascii=False) if as_json else _sheet(board.sheet()))


def say_plan(planned: WidthPlan, *, as_json: bool) -> None:
    """Print how wide answers will be."""
    _print(planned.to_json() if as_json else _sheet(planned.sheet()))


def _sheet(sheet: Sheet) -> str:
    from sourdine.cli.output import print_sheet  # noqa: PLC0415 - loaded when needed

    page = StringIO()
    print_sheet(Terminal(file=page, force_terminal=_for_a_person()), sheet)
    return page.getvalue().rstrip("\n")


def _for_a_person() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _known(opened: GuardedHoldout) -> dict[str, Any]:
    ledger, spent = opened.ledger, opened.ledger.spent
    return {
        "name": ledger.name,
        "labels": opened.n,
        "kind": opened.kind,
        "whole": opened.whole,
        "loss": opened.loss,
        "confidence": float(1 - ledger.beta),
        "dependence": ledger.dependence.facts(),
        "error": None if ledger.error is None else float(ledger.error),
        "answers": spent.answers,
        "bits": _figure(spent.bits),
        "growth": [asdict(grown) for grown in opened.growth],
        **_balance(opened),
    }


def _balance(opened: GuardedHoldout) -> dict[str, Any]:
    left = opened.remaining
    return {
        "remaining": left
        and {"bits": _figure(left.bits), "answers": left.answers, "noes": left.noes},
        "halfwidth": opened.ledger.halfwidth(),
        "closed": opened.closed,
    }


def _added_in_words(grown: Growth) -> str:
    from sourdine.adaptive.answers import counted  # noqa: PLC0415 - loaded when needed

    when = grown.when[:16].replace("T", " ")
    return f"{counted(grown.added, 'row')} on {when} UTC, after {counted(grown.answers, 'answer')}"


def _left_in_words(opened: GuardedHoldout) -> str:
    from sourdine.adaptive.answers import counted  # noqa: PLC0415 - loaded when needed

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
    if (trouble := written(text)) is not None:
        complain(
            f"standard output must take what is printed, got {trouble}. What was answered is "
            "charged: type 'sourdine guard status GUARD' with the guard's file for what is left."
        )
        raise typer.Exit(UNWRITTEN)
