"""``sourdine survey``: write, check, open, serve and close a survey."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sourdine.cli.command import Terminal
from sourdine.cli.guard import read_number
from sourdine.cli.output import print_sheet
from sourdine.errors import ExistingFileError, ParameterError, SourdineError
from sourdine.exact import integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.survey import Survey
    from sourdine.survey.store import SurveyStore


# ---- ``sourdine survey open``, ``serve``, ``close`` and what was collected -----------------------


Kept = Annotated[
    str,
    typer.Argument(
        metavar="STORE", help="The file, or the postgresql:// address, of 'sourdine survey open'."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Port = Annotated[str, typer.Option(metavar="NUMBER", help="The port; 0 for a free one.")]
Round = Annotated[
    str | None,
    typer.Option("--round", metavar="NUMBER", help="Which round, of a survey of several."),
]
LAST_PORT = 65_535
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def add_collector(survey: typer.Typer) -> None:
    """Give a group of commands those of the collector."""
    for command in (_open, _serve, _close, _estimate, _results, _export, _demo):
        survey.command(name=command.__name__.strip("_"))(command)


def _open(
    path: Annotated[Path, typer.Argument(metavar="SURVEY", help="The survey, a .toml file.")],
    *,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="A new file, or postgresql:// and a database; commute.db for a survey "
            "named commute if left out.",
        ),
    ] = None,
    tickets: Annotated[
        str,
        typer.Option(metavar="NUMBER", help="How many people may answer, each with a ticket."),
    ] = "0",
    round: Round = None,  # noqa: A002 - as it is typed
) -> None:
    """Freeze a survey and make the file, or the tables, that its records are counted in.

    With --tickets it prints one link for each, with a code that works once. The codes stand
    nowhere else: hand them out in any order, and do not write down who got which.
    """
    from sourdine.survey import Survey
    from sourdine.survey.store import SurveyStore

    found, name = of_round(Survey.read(path), round)
    place = store or f"{name}.db"
    made, codes = SurveyStore.create(place, found, tickets=whole(tickets, "tickets", 500))
    made.close()
    for code in codes:
        print(f"{_place(found)}#ticket={code}")  # noqa: T201 - the answer
    say(f"Opened {found.name}, survey {found.fingerprint}")
    if urlsplit(found.send_to).hostname in LOOPBACK:
        say("The page sends answers to this machine, so it can only be used on this machine.")
    say(f"Now: sourdine survey serve {made.shown}")


def of_round(survey: Survey, turn: str | None) -> tuple[Survey, str]:
    """Return the survey of the round that was asked for, and the name of its files."""
    if turn is None:
        return survey, survey.name
    number = whole(turn, "round", 1)
    return survey.round(number), f"{survey.name}-{number}"


def _place(survey: Survey) -> str:
    """Return the address of the page, if the collector serves it."""
    return survey.send_to.split("?")[0].rpartition("/")[0] + "/"


def _serve(
    store: Kept,
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; this machine if left out.")
    ] = "127.0.0.1",
    port: Port = "8000",
    hide: Annotated[bool, typer.Option("--hide", help="Show results to nobody.")] = False,
) -> None:
    """Serve the page, collect records, show results; until Ctrl-C or SIGTERM.

    A record is on the disk before its sender hears that it is accepted. No address, time, cookie
    or order is kept, and there is no log. Put a proxy with TLS in front, and turn off its log.
    """
    import asyncio

    from sourdine.survey.collector import (
        Collector,
        WebServer,
    )

    async def run() -> int:
        collector = Collector(store, public=not hide)
        server = WebServer(collector, host=host, port=read_port(port))
        base = urlsplit(collector.survey.send_to).path.rpartition("/")[0]

        def ready() -> None:
            origin = f"http://{f'[{host}]' if ':' in host else host}:{server.port}"
            collector.send_to_own(origin)
            place = f"{origin}{base}/"
            say(f"Page     {place}")
            say("Results  hidden" if hide else f"Results  {place}results")
            say(f"Records  are sent to {collector.survey.send_to}")
            if host not in LOOPBACK:
                say("This is not encrypted: put a proxy with TLS in front.")

        try:
            await server.serve(ready)
        except OSError as error:
            raise SourdineError(
                f"{host}:{port} could not be listened on: {error.strerror}."
            ) from None
        finally:
            collector.stop()
        return collector.people

    say(f"Stopped: {asyncio.run(run())} people are counted")


def whole(text: str, name: str, example: int) -> int:
    """Return the whole number that a person typed."""
    number = read_number(text, name, example=example)
    return integer(number.numerator if number.denominator == 1 else number, name, least=0)


def read_port(text: str) -> int:
    """Return the port that a person typed."""
    number = whole(text, "port", 8000)
    if number > LAST_PORT:
        raise ParameterError("port", f"be at most {LAST_PORT}", text, "Use {port}.", port=8000)
    return number


def _close(store: Kept) -> None:
    """Close a survey for good: what was accepted is counted, nothing more is accepted."""
    for kept in _opened(store):
        kept.end()
        say(f"Closed {kept.survey.name}: {kept.people} people are counted")


def _estimate(store: Kept, *, json: Json = False) -> None:
    """Estimate every question: shares, means and quartiles with intervals."""
    for kept in _opened(store):
        found = kept.estimates()
        if json:
            print(found.to_json())  # noqa: T201 - the answer
        else:
            for sheet in found.sheets():
                print_sheet(Terminal(), sheet)


def _results(
    store: Kept,
    *,
    json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="PATH", help="Write the page of results.")
    ] = None,
) -> None:
    """Say what the page of results shows: consistent shares, means, nothing below 50 answers."""
    from sourdine.survey.results import (
        results,
        results_page,
    )

    for kept in _opened(store):
        found = results(kept)
        if out is not None:
            _written(out, results_page(found, paused=True))
        if json:
            print(found.to_json())  # noqa: T201 - the answer
        elif out is None:
            print_sheet(Terminal(), found.sheet())


def _export(
    store: Kept,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PATH", help="The new file.")],
) -> None:
    """Write everything counted as a file of 'sourdine collect', which can be added to others."""
    if out.exists():
        raise ExistingFileError("out", "be a new file", str(out), "Choose another name.")
    for kept in _opened(store):
        try:
            kept.aggregator().save(out)
        except OSError as error:
            raise SourdineError(f"{out} could not be written: {error.strerror}.") from None
        say(f"Wrote {out}: {kept.people} people")


def _demo(
    *,
    n: Annotated[str, typer.Option("--n", metavar="NUMBER", help="How many browsers.")] = "500",
    seconds: Annotated[
        str, typer.Option(metavar="NUMBER", help="After how long it stops by itself.")
    ] = "120",
    port: Port = "0",
) -> None:
    """Run a survey on this machine, with simulated browsers that answer it: look at its results."""
    from sourdine.survey.demo import demo

    found = demo(
        n=whole(n, "n", 500),
        seconds=float(read_number(seconds, "seconds", example=120)),
        port=read_port(port),
        say=say,
    )
    print_sheet(Terminal(), found.sheet())


def _opened(place: str) -> Iterator[SurveyStore]:
    """Yield the store, with everything counted that was accepted; then let go of it."""
    from sourdine.survey.store import SurveyStore

    store = SurveyStore(place)
    try:
        store.fold()
        yield store
    finally:
        store.close()


def _written(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def say(text: str) -> None:
    """Print on standard error, for whoever watches."""
    Terminal(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


# ---- ``sourdine survey``: a survey whose answers are randomised in the respondent's own browser --


survey = typer.Typer(
    no_args_is_help=True,
    help="A survey whose answers are randomised in the respondent's own browser, before anything "
    "is sent: one file of questions, one HTML page, one collector.",
    epilog="Begin here:\n\n"
    "$ sourdine survey new survey.toml\n\n"
    "$ sourdine survey check survey.toml\n\n"
    "$ sourdine survey plan survey.toml --n 2000\n\n"
    "$ sourdine survey page survey.toml --out commute.html\n\n"
    "$ sourdine survey open survey.toml\n\n"
    "$ sourdine survey serve commute.db\n\n"
    "Or look at one that runs:\n\n"
    "$ sourdine survey demo",
)

Document = Annotated[Path, typer.Argument(metavar="SURVEY", help="The survey, a .toml file.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]


@survey.command()
def new(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The new file.")] = Path(
        "survey.toml"
    ),
    *,
    overwrite: Overwrite = False,
) -> None:
    """Write a survey to begin with: it is whole, and made to be changed."""
    from sourdine.survey.document import SKELETON

    _write(path, SKELETON.encode(), "path", overwrite=overwrite)
    _say(f"Wrote {path}. Change it, then: sourdine survey check {path}")


@survey.command()
def check(path: Document) -> None:
    """Say what is wrong with a survey, or what it asks, costs and means."""
    from sourdine.survey.precision import summary

    print_sheet(Terminal(), summary(_read(path)))


@survey.command()
def plan(
    path: Document,
    *,
    n: Annotated[str, typer.Option("--n", metavar="NUMBER", help="How many people answer.")],
    confidence: Annotated[
        str, typer.Option(metavar="NUMBER", help="With which probability intervals hold.")
    ] = "0.95",
    json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Say what so many people will tell, and what one invented record in a hundred can do."""
    from sourdine.survey.precision import precision

    people = read_number(n, "n", example=2000)
    found = precision(
        _read(path).schema,
        people.numerator if people.denominator == 1 else people,
        confidence=read_number(confidence, "confidence", example=0.95),
    )
    if json:
        print(found.to_json())  # noqa: T201 - the answer
    else:
        print_sheet(Terminal(), found.sheet())


@survey.command()
def page(
    path: Document,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH", help="The page; the survey's name if left out."
        ),
    ] = None,
    round: Round = None,  # noqa: A002 - as it is typed
    overwrite: Overwrite = False,
) -> None:
    """Write the page: one HTML file, the same bytes for everybody. Prints its SHA-256.

    Put it on any web server, or hand it out on a disk. Publish the SHA-256 where people trust you.
    """
    from sourdine.survey import page as built

    found, name = of_round(_read(path), round)
    file, html = out or Path(f"{name}.html"), built(found)
    _write(file, html, "out", overwrite=overwrite)
    print(f"{sha256(html).hexdigest()}  {file}")  # noqa: T201 - the answer, as sha256sum prints it
    _say(f"{len(html) / 1000:.1f} kB; survey {found.fingerprint[:16]}")


def _read(path: Path) -> Survey:
    from sourdine.survey import Survey

    return Survey.read(path)


def _write(path: Path, content: bytes, name: str, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise ExistingFileError(
            name,
            "be a new file",
            str(path),
            "Choose another name, or use {overwrite}.",
            overwrite=True,
        )
    try:
        path.write_bytes(content)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _say(text: str) -> None:
    Terminal(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


add_collector(survey)
