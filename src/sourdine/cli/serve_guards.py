"""``sourdine serve add-guard`` and ``grant-team``: labels under guard on a server."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from sourdine.cli.collecting import say, whole
from sourdine.cli.guard_options import Blocked, Chained, Confidence, term
from sourdine.cli.serve_store import HERE, Where

__all__ = ["add_guard_commands"]

GuardName = Annotated[str, typer.Argument(metavar="GUARD", help="The guard's name.")]


def add_guard_commands(serve: typer.Typer) -> None:
    """Give a group of commands those of guards."""
    serve.command(name="add-guard")(_add_guard)
    serve.command(name="grant-team")(_grant_team)


def _add_guard(  # noqa: PLR0913 - the terms of a guard
    name: GuardName,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A path with the labels that the server reads.")
    ],
    *,
    store: Where = HERE,
    column: Annotated[
        str | None,
        typer.Option("--column", "-c", metavar="NAME", help="The column of the labels."),
    ] = None,
    error: Annotated[
        str,
        term("--error", metavar="NUMBER", text="How far a score that is shown may be off."),
    ],
    loss: Annotated[
        str, term("--loss", metavar="NAME", text="zero-one (mistakes) or absolute (distances).")
    ] = "zero-one",
    scale: Annotated[
        str | None,
        term("--scale", metavar="NUMBER", text="The distance that counts as wholly wrong."),
    ] = None,
    confidence: Confidence = "0.95",
    step: Annotated[
        str | None, term("--step", metavar="NUMBER", text="The spacing of the scores.")
    ] = None,
    blocks: Blocked = None,
    markov: Chained = None,
    text: Annotated[
        str, typer.Option(metavar="TEXT", help="What is to be predicted, for the teams.")
    ] = "",
) -> None:
    """Put labels that lie on this machine under guard; its terms stand from now on."""
    from sourdine.exact import one_of  # noqa: PLC0415 - commands load what they need
    from sourdine.server.holdouts import RegisteringGuard, registered_guard  # noqa: PLC0415
    from sourdine.server.sources import anchored  # noqa: PLC0415
    from sourdine.server.store import ServerStore  # noqa: PLC0415

    said = RegisteringGuard(
        name=name,
        source=anchored(source),
        column=column,
        error=error,
        loss=one_of(loss, "loss", "zero-one", "absolute"),
        scale=scale,
        confidence=confidence,
        step=step,
        blocks=None if blocks is None else max(whole(blocks, "blocks", 10), 1),
        markov=markov,
        text=text,
    )
    with closing(ServerStore.open(store)) as kept:
        made = kept.guards.add(*registered_guard(said))
        n = kept.guards.look(made.name, lambda board: board.guard.n)
    say(f"Added {made.name}: {n} labels, none of which is in the store.")
    say(f"Now: sourdine serve grant-team {name} ANALYST --submissions NUMBER")


def _grant_team(
    guard: GuardName,
    team: Annotated[str, typer.Argument(metavar="ANALYST", help="Who may submit.")],
    *,
    store: Where = HERE,
    submissions: Annotated[str, typer.Option(metavar="NUMBER", help="How often, in all.")],
) -> None:
    """Say how often a team may submit predictions to a guard."""
    from sourdine.server.store import ServerStore  # noqa: PLC0415 - commands load what they need

    many = max(whole(submissions, "submissions", 20), 0)
    with closing(ServerStore.open(store)) as kept:
        found = kept.guards.give(guard, team, many)
    say(f"{team} may submit to {guard} {found.submissions} times, of which {found.left} are left.")
