"""``sourdine serve``: statistics over HTTP, of data that stay where they are."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from sourdine.cli.collecting import LOOPBACK, Port, read_port, say, whole
from sourdine.cli.guard_options import read_number
from sourdine.cli.serve_guards import add_guard_commands
from sourdine.cli.serve_store import add_store_commands
from sourdine.cli.wording import ShellWording
from sourdine.errors import ParameterError, SourdineError
from sourdine.presentation.figures import MissingExtraError

__all__ = ["serve"]

serve = typer.Typer(
    invoke_without_command=True,
    help="Answer questions about data that stay on this machine: plans, releases, one ledger for "
    "each data set. Alone, it is a demo with public wages.",
    epilog="Look at it:\n\n$ sourdine serve\n\nFor real use:\n\n"
    "$ sourdine serve init\n\n"
    "$ sourdine serve add-person olga --role owner\n\n"
    "$ sourdine serve add-person anna\n\n"
    "$ sourdine serve add-data people people.csv --epsilon 3 --n 5000\n\n"
    "$ sourdine serve grant people anna --epsilon 2\n\n"
    "$ sourdine serve --store sqlite:///sourdine.db",
)


@serve.callback()
def _serve(  # noqa: PLR0913 - what a person may say of a server
    ctx: typer.Context,
    *,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="The store that 'serve init' made; a demo if left out."
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; this machine if left out.")
    ] = "127.0.0.1",
    port: Port = "8000",
    workers: Annotated[
        str, typer.Option(metavar="NUMBER", help="How many processes answer.")
    ] = "1",
    tick: Annotated[
        str,
        typer.Option(
            metavar="SECONDS",
            help="Answers leave after a whole number of ticks, so that their time tells nothing.",
        ),
    ] = "0.25",
    witness: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A file on another disk that notices an older copy of the store; 'serve "
            "add-witness' makes one.",
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Owners may register data below this folder over HTTP."),
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy with TLS stands in front.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is not None:
        return
    try:
        _run(
            store,
            host=host,
            port=port,
            workers=workers,
            tick=tick,
            witness=witness,
            folder=folder,
            behind_proxy=behind_proxy,
        )
    except SourdineError as error:
        error.wording = ShellWording(ctx.command.params)
        raise


def _run(  # noqa: PLR0913 - what a person may say of a server
    store: str | None,
    *,
    host: str,
    port: str,
    workers: str,
    tick: str,
    witness: Path | None,
    folder: Path | None,
    behind_proxy: bool,
) -> None:
    try:
        from sourdine.server.running import serve as start  # noqa: PLC0415 - an extra
        from sourdine.server.setting_up import demo_store, open_sample  # noqa: PLC0415
        from sourdine.server.settings import ServerSettings  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "the server", "be installed", "none", "In the checkout, type pip install '.[server]'."
        ) from error
    listening, processes = read_port(port), max(whole(workers, "workers", 2), 1)
    seconds = float(read_number(tick, "tick", example=0.25))
    if not 0 <= seconds <= 60:
        raise ParameterError("tick", "be from 0 to 60", tick, "Type {tick}.", tick=0.25)
    if store is None and host not in LOOPBACK:
        raise ParameterError(
            "host",
            "be this machine for a demo, whose passwords are printed",
            host,
            "Leave {host} out, or type {store}.",
            store="sqlite:///sourdine.db",
        )
    with TemporaryDirectory(prefix="sourdine-") as place:
        address = store
        if address is None:
            address, people = demo_store(Path(place))
            say("A demo: 247 696 public wages, gone when it stops.")
            for one in people:
                say(f"  {one.name:<8} password {one.password}")
        elif host not in LOOPBACK and not behind_proxy:
            say("This is not encrypted: put a proxy with TLS in front, and type --behind-proxy.")
        settings = ServerSettings(
            store=address,
            tick=seconds,
            witness=None if witness is None else str(witness.absolute()),
            behind_proxy=behind_proxy,
            folder=None if folder is None else str(folder.absolute()),
        )

        def ready(url: str) -> None:
            if store is None:
                say(f"A survey that anybody may answer: {open_sample(settings.store, url)}")

        start(settings, host=host, port=listening, workers=processes, say=say, listening=ready)
    say("Stopped.")


add_store_commands(serve)
add_guard_commands(serve)
