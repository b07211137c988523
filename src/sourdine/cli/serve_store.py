"""``sourdine serve init``, ``add-data``, ``add-person`` and what else fills and keeps a store."""

from __future__ import annotations

import secrets
import tomllib
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sourdine.cli.collecting import say, whole
from sourdine.cli.guard_options import Declared, read_number
from sourdine.cli.options import reads_text
from sourdine.cli.output import print_table
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.server.store import ServerStore
    from sourdine.server.store.base import Role

__all__ = ["HERE", "Where", "add_store_commands"]

Where = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="The store: sqlite:///file.db, or postgresql://user@host/database.",
    ),
]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The data set's name.")]
Somebody = Annotated[str, typer.Argument(metavar="NAME", help="What they are called.")]
HERE = "sqlite:///sourdine.db"
MOST_DAYS = 366


def add_store_commands(serve: typer.Typer) -> None:
    """Give a group of commands those of the store."""
    commands = (
        _init, _add_data, _add_person, _grant, _token, _check, _backup, _add_witness, _export,
        _migrate,
    )  # fmt: skip
    for command in commands:
        serve.command(name=command.__name__.strip("_").replace("_", "-"))(command)


@contextmanager
def _opened(address: str, witness: Path | None = None) -> Iterator[ServerStore]:
    from sourdine.server.store import ServerStore  # noqa: PLC0415 - commands load what they need

    store = ServerStore.open(address, witness=witness)
    try:
        yield store
    finally:
        store.close()


def _init(
    *,
    store: Where = HERE,
    witness: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Also make its witness: a new file on another disk that notices an older copy.",
        ),
    ] = None,
) -> None:
    """Make a new store: a file, or the tables of an empty database."""
    from sourdine.server.store import ServerStore  # noqa: PLC0415 - commands load what they need

    made = ServerStore.create(store)
    try:
        if witness is not None:
            made.add_witness(witness)
    finally:
        made.close()
    say(f"Made {made.database.address}. Now: sourdine serve add-person NAME --role owner")


@reads_text
def _add_data(  # noqa: PLR0913 - what a person may say of a data set
    name: Dataset,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A path that the server reads, a folder of Parquet, duckdb:///file.db#table, "
            "postgresql://user@host/database#table, or spark:table.",
        ),
    ],
    *,
    store: Where = HERE,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What all releases may cost together.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Its delta.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="A total of rho.")] = None,
    relation: Annotated[
        str, typer.Option(metavar="WORD", help="add_remove or substitute.")
    ] = "add_remove",
    unit: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that names a person.")
    ] = None,
    rows: Annotated[
        str, typer.Option(metavar="NUMBER", help="How many rows of each person are used.")
    ] = "1",
    n: Annotated[
        str | None,
        typer.Option("--n", metavar="NUMBER", help="About how many records, if that is public."),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A TOML file: for each column bounds and step, or keys. Never read off the data.",
        ),
    ] = None,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="What it is, in a few words, for the pages.")
    ] = "",
    description: Annotated[
        str, typer.Option(metavar="TEXT", help="What analysts should know of it.")
    ] = "",
    read: Declared,
) -> None:
    """Register a data set that this machine can read; its total stands from now on.

    With --columns, analysts ask these columns alone, with these bounds and keys.
    """
    from sourdine.server.datasets import Registering, registered  # noqa: PLC0415
    from sourdine.server.sources import anchored  # noqa: PLC0415

    said = Registering(
        name=name,
        source=anchored(source),
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        relation=relation,
        unit=unit,
        rows=max(whole(rows, "rows", 1), 1),
        n=None if n is None else max(whole(n, "n", 5000), 1),
        columns={} if columns is None else _facts(columns),
        read={} if read is None else read.to_dict(),
        title=title,
        description=description,
    )
    with _opened(store) as kept:
        found = kept.datasets.add(registered(said))
    say(f"Added {found.name}: {found.terms.told()}. ")
    say(f"Now: sourdine serve grant {name} ANALYST --epsilon NUMBER")


def _facts(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SourdineError(f"{path} could not be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise ParameterError(
            "columns",
            "be a TOML file",
            str(path),
            "Write a table for each column, such as [age] and below it bounds and step.",
        ) from None


def _add_person(
    name: Somebody,
    *,
    store: Where = HERE,
    role: Annotated[
        str, typer.Option(metavar="WORD", help="owner, analyst or auditor.")
    ] = "analyst",
    password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="A file that holds the password; a new one is printed without it."
        ),
    ] = None,
) -> None:
    """Add somebody who may log in. Prints a new password once, unless one is given."""
    from sourdine.server.setting_up import add_person  # noqa: PLC0415 - an extra

    one_of(role, "role", "owner", "analyst", "auditor")
    if password_file is None:
        password = secrets.token_urlsafe(12)
    else:
        try:
            password = password_file.read_text("utf-8").strip()
        except OSError as error:
            raise SourdineError(f"{password_file} could not be read: {error.strerror}.") from None
    with _opened(store) as kept:
        add_person(kept, name, cast("Role", role), password)
    say(f"Added {name}, {role}.")
    if password_file is None:
        print(password)  # noqa: T201 - the answer


def _grant(
    dataset: Dataset,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="Who may ask.")],
    *,
    store: Where = HERE,
    epsilon: Annotated[
        str, typer.Option(metavar="NUMBER", help="What they may spend, within the total.")
    ],
) -> None:
    """Say how much an analyst may spend of a data set: a ceiling below its total."""
    with _opened(store) as kept:
        found = kept.grants.give(dataset, analyst, read_number(epsilon, "epsilon", example=1))
    say(f"{analyst} may spend epsilon {float(found.epsilon):g} of {dataset}.")


def _token(
    name: Somebody,
    *,
    store: Where = HERE,
    days: Annotated[str, typer.Option(metavar="NUMBER", help="How long it holds.")] = "90",
    label: Annotated[str, typer.Option(metavar="TEXT", help="What to call it.")] = "",
) -> None:
    """Make a token for somebody's scripts, and print it once: the store keeps its SHA-256."""
    from sourdine.server.auth import new_token  # noqa: PLC0415 - an extra

    held = whole(days, "days", 90)
    if not 1 <= held <= MOST_DAYS:
        raise ParameterError("days", f"be from 1 to {MOST_DAYS}", days, "Type {days}.", days=90)
    with _opened(store) as kept:
        if kept.people.get(name) is None:
            raise ParameterError("name", "be that of a person", repr(name), "Add them first.")
        print(new_token(kept, name, "api", days=held, label=label))  # noqa: T201 - the answer


def _check(
    *,
    store: Where = HERE,
    witness: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The witness of this store.")
    ] = None,
) -> None:
    """Check every sum, every head and every answer. Exits with status 1 if something is wrong."""
    with _opened(store, witness) as kept:
        found = kept.check()
    rows = [
        (
            one.dataset,
            str(one.charges),
            str(one.answers),
            f"{one.line} {one.head[:16]}",
            "sound" if one else "; ".join(one.problems),
        )
        for one in found
    ]
    print_table(Terminal(), ("data set", "charges", "answers", "last line", "found"), rows)
    if not all(found):
        raise typer.Exit(1)


def _backup(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The new file.")],
    *,
    store: Where = HERE,
) -> None:
    """Write a copy of a store in a file, while servers go on; for PostgreSQL there is pg_dump.

    The records of surveys are copied to the folder of the same name that ends in .surveys.
    """
    from sourdine.server.open_surveys import OpenSurveys  # noqa: PLC0415 - an extra

    with _opened(store) as kept:
        kept.backup(path)
        OpenSurveys(kept).backup(path)
    say(f"Wrote {path}. Keep a witness: an older copy forgets what was charged since.")


def _add_witness(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The new file, on another disk.")],
    *,
    store: Where = HERE,
) -> None:
    """Make a witness of a store that has none: a file that notices an older copy of the store.

    It knows the ledgers as they are now. To move a witness, stop all servers, copy its file, and
    start them with the new path.
    """
    with _opened(store) as kept:
        kept.add_witness(path)
    say(f"Wrote {path}. Now: sourdine serve --store {kept.database.address} --witness {path}")


def _export(
    dataset: Dataset,
    *,
    store: Where = HERE,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="PATH", help="The new file; printed if left out."),
    ] = None,
) -> None:
    """Write every line of a ledger with its head as JSON; that of a guard is guard:NAME."""
    from sourdine.server.ledgers import lines_text  # noqa: PLC0415 - an extra

    guard = dataset.removeprefix("guard:")
    with _opened(store) as kept:
        if (kept.datasets if guard == dataset else kept.guards).get(guard) is None:
            raise ParameterError(
                "dataset", "be one of this store", repr(dataset), "Type another name."
            )
        book = kept.datasets.book(dataset) if guard == dataset else kept.guards.book(guard)
        text = lines_text(book)
    if out is None:
        print(text, end="")  # noqa: T201 - the answer
        return
    if out.exists():
        raise ParameterError(
            "out", "be a new file", f"{str(out)!r}, which exists", "Type another name."
        )
    out.write_text(text, "utf-8")
    say(f"Wrote {out}: {text.count(chr(10))} lines.")


def _migrate(*, store: Where = HERE) -> None:
    """Bring the tables of a store to this version. Stop all servers and make a copy before."""
    from sourdine.server.store import ServerStore  # noqa: PLC0415 - commands load what they need

    before, after = ServerStore.migrate(store)
    say(f"Version {before} to {after}." if before != after else f"Version {after} already.")
