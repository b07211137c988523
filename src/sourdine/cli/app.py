"""``sourdine``: what a person types in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sourdine import __version__
from sourdine.errors import SourdineError

__all__ = ["main"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Private statistics that say what they cost and how far they can be from the truth.",
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        typer.echo(f"sourdine {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command()
def audit(
    names: Annotated[
        list[str] | None, typer.Argument(help="Mechanisms to audit; all of them if left out.")
    ] = None,
) -> None:
    """Check every mechanism: exact worst case over all neighbours, and draws against the law.

    Exits with status 1 if any mechanism breaks its claim.
    """
    from sourdine.cli.audit import run  # noqa: PLC0415 - commands load what they need

    raise typer.Exit(0 if run(names or []) else 1)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
) -> None:
    """Release a private mean of 247 696 wages, and draw the law beside 100 000 draws."""
    from sourdine.cli.demo import run  # noqa: PLC0415 - commands load what they need

    run(out)


def main() -> None:
    """Run the command line; an error of ours is a sentence, not a traceback."""
    try:
        app()
    except SourdineError as error:
        typer.echo(f"sourdine: {error}", err=True)
        raise SystemExit(2) from None
