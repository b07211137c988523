"""``sourdine serve`` and the commands that fill a store."""

from __future__ import annotations

import secrets
import tomllib
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sourdine.cli.guard import Blocked, Chained, Confidence, Declared, LossName, read_number, term
from sourdine.cli.options import argument, flag, option, reads_text, worded
from sourdine.cli.output import Terminal, print_table, require_new, say, using
from sourdine.cli.survey import LOOPBACK, Port, read_port, whole
from sourdine.errors import MissingExtraError, ParameterError
from sourdine.exact import one_of

if TYPE_CHECKING:
    from sourdine.server.store.base import Role
    from sourdine.server.store.store import ServerStore


# ---- ``sourdine serve init``, ``add-data``, ``add-person`` and what else fills and keeps a store -


Where = Annotated[str, option(
    "ADDRESS", "The store: sqlite:///file.db, or postgresql://user@host/database.", "--store",
)]  # fmt: skip
Dataset = Annotated[str, argument("DATASET", "The data set's name.")]
Somebody = Annotated[str, argument("NAME", "The user name.")]
HERE = "sqlite:///sourdine.db"
MOST_DAYS = 366


serve = typer.Typer(
    invoke_without_command=True,
    help="Serve private statistics over HTTP: plans, releases and one ledger per data set. The "
    "data stay on this machine. Without options, a demo with public wages is started.",
    epilog="Demo:\n\n$ sourdine serve\n\nDeployment:\n\n"
    "$ sourdine serve init\n\n"
    "$ sourdine serve add-person olga --role owner\n\n"
    "$ sourdine serve add-person anna\n\n"
    "$ sourdine serve add-data people people.csv --epsilon 3 --n 5000\n\n"
    "$ sourdine serve grant people anna --epsilon 2\n\n"
    "$ sourdine serve --store sqlite:///sourdine.db",
)


def _opened(address: str, witness: Path | None = None) -> closing[ServerStore]:
    from sourdine.server.store.store import ServerStore

    return closing(ServerStore.open(address, witness=witness))


@serve.command()
def init(
    *,
    store: Where = HERE,
    witness: Annotated[Path | None, option("PATH", "Also create its witness: a new file on another "
        "disk that detects a rollback of the store.")] = None,
) -> None:  # fmt: skip
    """Create a store: a file, or tables in an empty database."""
    from sourdine.server.store.store import ServerStore

    with closing(ServerStore.create(store)) as made:
        if witness is not None:
            made.add_witness(witness)
    say(f"Made {made.database.address}. Now: sourdine serve add-person NAME --role owner")


@serve.command()
@reads_text
def add_data(
    name: Dataset,
    source: Annotated[str, argument("SOURCE", "A file, a folder of Parquet files, "
        "duckdb:///file.db#table, postgresql://user@host/database#table, or spark:table.")],
    *,
    store: Where = HERE,
    epsilon: Annotated[str | None, option("NUMBER", "The total epsilon of all releases.")] = None,
    delta: Annotated[str | None, option("NUMBER", "The total delta.")] = None,
    rho: Annotated[str | None, option("NUMBER", "The total rho, instead of epsilon and "
        "delta.")] = None,
    relation: Annotated[str, option("WORD", "add_remove or substitute.")] = "add_remove",
    unit: Annotated[str | None, option("COLUMN", "The column that identifies a person.")] = None,
    rows: Annotated[str, option("NUMBER", "The maximum number of rows per person.")] = "1",
    n: Annotated[str | None, option("NUMBER", "The approximate number of records, if public.",
        "--n")] = None,
    columns: Annotated[Path | None, option("PATH", "A TOML file with bounds and step, or keys, of "
        "each column. They must not depend on the data.")] = None,
    title: Annotated[str, option("TEXT", "A short title for the web pages.")] = "",
    description: Annotated[str, option("TEXT", "A description for analysts.")] = "",
    read: Declared,
) -> None:  # fmt: skip
    """Register a data set on this machine. Its total budget cannot be changed later.

    With --columns, analysts may only use these columns, with these bounds and keys.
    """
    from sourdine.server.datasets import Registering, registered
    from sourdine.server.sources import anchored

    said = Registering(
        name=name, source=anchored(source), epsilon=epsilon, delta=delta, rho=rho,
        relation=relation, unit=unit, rows=max(whole(rows, "rows", 1), 1),
        n=None if n is None else max(whole(n, "n", 5000), 1),
        columns={} if columns is None else _facts(columns),
        read={} if read is None else read.to_dict(), title=title, description=description,
    )  # fmt: skip
    with _opened(store) as kept:
        found = kept.datasets.add(registered(said))
    say(f"Added {found.name}: {found.terms.told()}. ")
    say(f"Now: sourdine serve grant {name} ANALYST --epsilon NUMBER")


def _facts(path: Path) -> dict[str, Any]:
    try:
        with using(path, "read"):
            return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ParameterError(
            "columns", "be a valid TOML file", str(path),
            "Write a table for each column, such as [age] with bounds and step.",
        ) from None  # fmt: skip


@serve.command(name="add-person")
def _add_person(
    name: Somebody,
    *,
    store: Where = HERE,
    role: Annotated[str, option("WORD", "owner, analyst or auditor.")] = "analyst",
    password_file: Annotated[Path | None, option("PATH", "A file with the password. By default a "
        "new one is generated and printed.")] = None,
) -> None:  # fmt: skip
    """Add a user. Prints a new password once, unless one is given."""
    from sourdine.server.running import add_person

    one_of(role, "role", "owner", "analyst", "auditor")
    if password_file is None:
        password = secrets.token_urlsafe(12)
    else:
        with using(password_file, "read"):
            password = password_file.read_text("utf-8").strip()
    with _opened(store) as kept:
        add_person(kept, name, cast("Role", role), password)
    say(f"Added {name}, {role}.")
    if password_file is None:
        print(password)


@serve.command()
def grant(
    dataset: Dataset,
    analyst: Annotated[str, argument("ANALYST", "The analyst.")],
    *,
    store: Where = HERE,
    epsilon: Annotated[str, option("NUMBER", "The maximum epsilon the analyst may spend.")],
) -> None:
    """Set how much of a data set's total an analyst may spend."""
    with _opened(store) as kept:
        found = kept.grants.give(dataset, analyst, read_number(epsilon, "epsilon", example=1))
    say(f"{analyst} may spend epsilon {float(found.epsilon):g} of {dataset}.")


@serve.command()
def token(
    name: Somebody,
    *,
    store: Where = HERE,
    days: Annotated[str, option("NUMBER", "The number of days until it expires.")] = "90",
    label: Annotated[str, option("TEXT", "A label for the token.")] = "",
) -> None:
    """Create an access token for scripts and print it once. Only its SHA-256 is stored."""
    from sourdine.server.auth import new_token

    held = whole(days, "days", 90)
    if not 1 <= held <= MOST_DAYS:
        raise ParameterError("days", f"be from 1 to {MOST_DAYS}", days, days=90)
    with _opened(store) as kept:
        if kept.people.get(name) is None:
            raise ParameterError("name", "be the name of a user", repr(name), "Add the user first.")
        print(new_token(kept, name, "api", days=held, label=label))


@serve.command()
def check(
    *,
    store: Where = HERE,
    witness: Annotated[Path | None, option("PATH", "The witness of this store.")] = None,
) -> None:
    """Verify all sums, hashes and answers of a store. Exits with status 1 on failure."""
    with _opened(store, witness) as kept:
        found = kept.check()
    rows = []
    for one in found:
        last, state = f"{one.line} {one.head[:16]}", "sound" if one else "; ".join(one.problems)
        rows.append((one.dataset, str(one.charges), str(one.answers), last, state))
    print_table(Terminal(), ("data set", "charges", "answers", "last line", "found"), rows)
    if not all(found):
        raise typer.Exit(1)


@serve.command()
def backup(
    path: Annotated[Path, argument("PATH", "The new file.")], *, store: Where = HERE
) -> None:
    """Write a backup of a store to a file, while servers run. For PostgreSQL use pg_dump.

    Survey records are copied to the folder with the same name and the suffix .surveys.
    """
    from sourdine.server.surveys import OpenSurveys

    with _opened(store) as kept:
        kept.backup(path)
        OpenSurveys(kept).backup(path)
    say(f"Wrote {path}. Keep a witness: an older copy forgets what was charged since.")


@serve.command()
def add_witness(
    path: Annotated[Path, argument("PATH", "The new file, on another disk.")],
    *,
    store: Where = HERE,
) -> None:
    """Create a witness for a store: a file that detects a rollback of the store.

    It records the current state of the ledgers. To move a witness, stop all servers, copy the file,
    and restart them with the new path.
    """
    with _opened(store) as kept:
        kept.add_witness(path)
    say(f"Wrote {path}. Now: sourdine serve --store {kept.database.address} --witness {path}")


@serve.command()
def export(
    dataset: Dataset,
    *,
    store: Where = HERE,
    out: Annotated[Path | None, option("PATH", "The new file. Printed by default.", "--out",
        "-o")] = None,
) -> None:  # fmt: skip
    """Export every line of a ledger with its hash as JSON. The ledger of a guard is guard:NAME."""
    from sourdine.server.releases import lines_text

    guard = dataset.removeprefix("guard:")
    with _opened(store) as kept:
        if (kept.datasets if guard == dataset else kept.guards).get(guard) is None:
            raise ParameterError(
                "dataset", "be a data set of this store", repr(dataset), "Choose another name."
            )
        journal = kept.datasets.journal(dataset) if guard == dataset else kept.guards.journal(guard)
        text = lines_text(journal)
    if out is None:
        print(text, end="")
        return
    require_new(out)
    out.write_text(text, "utf-8")
    say(f"Wrote {out}: {text.count(chr(10))} lines.")


@serve.command()
def migrate(*, store: Where = HERE) -> None:
    """Migrate the tables of a store to this version. Stop all servers and make a backup first."""
    from sourdine.server.store.store import ServerStore

    before, after = ServerStore.migrate(store)
    say(f"Version {before} to {after}." if before != after else f"Version {after} already.")


# ---- ``sourdine serve add-guard`` and ``grant-team``: labels under guard on a server -------------


GuardName = Annotated[str, argument("GUARD", "The guard's name.")]


@serve.command()
def add_guard(
    name: GuardName,
    source: Annotated[str, argument("SOURCE", "The path of the labels on the server.")],
    *,
    store: Where = HERE,
    column: Annotated[str | None, option("NAME", "The column of the labels.", "--column",
        "-c")] = None,
    error: Annotated[str, term("NUMBER", "The maximum error of a score that is shown.", "--error")],
    loss: LossName = "zero-one",
    scale: Annotated[str | None, term("NUMBER", "The distance that counts as a loss of 1.",
        "--scale")] = None,
    confidence: Confidence = "0.95",
    step: Annotated[str | None, term("NUMBER", "The step of the scores.", "--step")] = None,
    blocks: Blocked = None,
    markov: Chained = None,
    text: Annotated[str, option("TEXT", "A description of the task for the teams.")] = "",
) -> None:  # fmt: skip
    """Create a guard for labels on this machine. Its terms cannot be changed later."""
    from sourdine.server.guards import RegisteringGuard, registered_guard
    from sourdine.server.sources import anchored

    said = RegisteringGuard(
        name=name, source=anchored(source), column=column, error=error,
        loss=one_of(loss, "loss", "zero-one", "absolute"), scale=scale, confidence=confidence,
        step=step, blocks=None if blocks is None else max(whole(blocks, "blocks", 10), 1),
        markov=markov, text=text,
    )  # fmt: skip
    with _opened(store) as kept:
        made = kept.guards.add(*registered_guard(said))
        n = kept.guards.look(made.name, lambda board: board.guard.n)
    say(f"Added {made.name}: {n} labels, none of which is in the store.")
    say(f"Now: sourdine serve grant-team {name} ANALYST --submissions NUMBER")


@serve.command()
def grant_team(
    guard: GuardName,
    team: Annotated[str, argument("ANALYST", "The team that may submit.")],
    *,
    store: Where = HERE,
    submissions: Annotated[str, option("NUMBER", "The total number of submissions.")],
) -> None:
    """Set how often a team may submit predictions to a guard."""
    many = max(whole(submissions, "submissions", 20), 0)
    with _opened(store) as kept:
        found = kept.guards.give(guard, team, many)
    say(f"{team} may submit to {guard} {found.submissions} times, of which {found.left} are left.")


# ---- ``sourdine serve``: statistics over HTTP, of data that stay where they are ------------------


@serve.callback()
def _serve(
    ctx: typer.Context,
    *,
    store: Annotated[str | None, option("ADDRESS", "The store that 'serve init' created. Without "
        "it, a demo is started.")] = None,
    host: Annotated[str, option("ADDRESS", "The address to listen on.")] = "127.0.0.1",
    port: Port = "8000",
    workers: Annotated[str, option("NUMBER", "The number of worker processes.")] = "1",
    tick: Annotated[str, option("SECONDS", "Send responses at multiples of this interval, so that "
        "their timing reveals nothing.")] = "0.25",
    witness: Annotated[Path | None, option("PATH", "A file on another disk that detects a rollback "
        "of the store; 'serve add-witness' creates one.")] = None,
    folder: Annotated[Path | None, option("PATH", "Owners may register data below this folder over "
        "HTTP.")] = None,
    behind_proxy: Annotated[bool, flag("--behind-proxy", "The server runs behind a TLS "
        "proxy.")] = False,
) -> None:  # fmt: skip
    if ctx.invoked_subcommand is not None:
        return
    with worded(ctx.command.params):
        try:
            from sourdine.server.running import demo_store, open_sample
            from sourdine.server.running import serve as start
            from sourdine.server.state import ServerSettings
        except ImportError as error:
            raise MissingExtraError.of("server") from error
        listening, processes = read_port(port), max(whole(workers, "workers", 2), 1)
        seconds = float(read_number(tick, "tick", example=0.25))
        if not 0 <= seconds <= 60:
            raise ParameterError("tick", "be from 0 to 60", tick, tick=0.25)
        if store is None and host not in LOOPBACK:
            raise ParameterError(
                "host", "be this machine for a demo, whose passwords are printed", host,
                "Omit {host}, or use {store}.", store="sqlite:///sourdine.db",
            )  # fmt: skip
        with TemporaryDirectory(prefix="sourdine-") as place:
            address = store
            if address is None:
                address, people = demo_store(Path(place))
                say("Demo with 247,696 public wages. Its data are deleted when it stops.")
                for one in people:
                    say(f"  {one.name:<8} password {one.password}")
            elif host not in LOOPBACK and not behind_proxy:
                say(
                    "This is not encrypted: put a proxy with TLS in front, and type --behind-proxy."
                )
            settings = ServerSettings(
                store=address, tick=seconds, behind_proxy=behind_proxy,
                witness=None if witness is None else str(witness.absolute()),
                folder=None if folder is None else str(folder.absolute()),
            )  # fmt: skip

            def ready(url: str) -> None:
                if store is None:
                    say(f"A public survey: {open_sample(settings.store, url)}")

            start(settings, host=host, port=listening, workers=processes, say=say, listening=ready)
        say("Stopped.")
