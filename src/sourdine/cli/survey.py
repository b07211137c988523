"""``sourdine survey``: write, check, open, serve and close a survey."""

from __future__ import annotations

from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from sourdine.cli.guard import read_number
from sourdine.cli.options import argument, flag, option
from sourdine.cli.output import Terminal, print_sheet, require_new, save, say, show, using
from sourdine.errors import ParameterError
from sourdine.exact import integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.survey import Survey
    from sourdine.survey.store import SurveyStore


# ---- ``sourdine survey open``, ``serve``, ``close`` and what was collected -----------------------


Kept = Annotated[
    str, argument("STORE", "The file or postgresql:// address that 'sourdine survey open' created.")
]
Document = Annotated[Path, argument("SURVEY", "The survey, a .toml file.")]
Overwrite = Annotated[bool, flag("--overwrite", "Overwrite an existing file.")]
Json = Annotated[bool, flag("--json", "Print only JSON.")]
Port = Annotated[str, option("NUMBER", "The port; 0 for any free port.")]
Round = Annotated[
    str | None, option("NUMBER", "The round of a survey with several rounds.", "--round")
]
LAST_PORT = 65_535
LOOPBACK = ("127.0.0.1", "::1", "localhost")


survey = typer.Typer(
    no_args_is_help=True,
    help="Run a survey whose answers are randomised in the respondent's browser before they are "
    "sent: one file of questions, one HTML page, one collector.",
    epilog="Examples:\n\n"
    "$ sourdine survey new survey.toml\n\n"
    "$ sourdine survey check survey.toml\n\n"
    "$ sourdine survey plan survey.toml --n 2000\n\n"
    "$ sourdine survey page survey.toml --out commute.html\n\n"
    "$ sourdine survey open survey.toml\n\n"
    "$ sourdine survey serve commute.db\n\n"
    "Or run a demo:\n\n"
    "$ sourdine survey demo",
)


@survey.command()
def new(
    path: Annotated[Path, argument("PATH", "The new file.")] = Path("survey.toml"),
    *,
    overwrite: Overwrite = False,
) -> None:
    """Write an example survey, to be edited."""
    from sourdine.survey.document import SKELETON

    if path.suffix != ".toml":
        hint = "Use {path}."
        raise ParameterError(
            "path", "end in .toml", str(path), hint, path=str(path.with_suffix(".toml"))
        )
    save(path, SKELETON, "path", overwrite=overwrite)
    say(f"Wrote {path}. Change it, then: sourdine survey check {path}")


@survey.command()
def check(path: Document) -> None:
    """Check a survey, and print its questions, its cost and its guarantee."""
    from sourdine.survey import Survey
    from sourdine.survey.precision import summary

    print_sheet(Terminal(), summary(Survey.read(path)))


@survey.command()
def plan(
    path: Document,
    *,
    n: Annotated[str, option("NUMBER", "The number of respondents.", "--n")],
    confidence: Annotated[str, option("NUMBER", "The confidence level of the intervals.")] = "0.95",
    json: Json = False,
) -> None:
    """Compute the accuracy for a number of respondents, and the effect of 1% invented records."""
    from sourdine.survey import Survey
    from sourdine.survey.precision import precision

    people = read_number(n, "n", example=2000)
    found = precision(
        Survey.read(path).schema,
        people.numerator if people.denominator == 1 else people,
        confidence=read_number(confidence, "confidence", example=0.95),
    )
    show(found, as_json=json)


@survey.command()
def page(
    path: Document,
    *,
    out: Annotated[Path | None, option("PATH", "The page. Defaults to the survey's name.", "--out",
        "-o")] = None,
    round: Round = None,  # noqa: A002 - as it is typed
    overwrite: Overwrite = False,
) -> None:  # fmt: skip
    """Write the survey page, one HTML file, and print its SHA-256.

    The file is the same for all respondents. Host it on any web server, and publish the SHA-256 in
    a trusted place.
    """
    from sourdine.survey import Survey
    from sourdine.survey import page as built

    found, name = of_round(Survey.read(path), round)
    file, html = out or Path(f"{name}.html"), built(found)
    save(file, html, overwrite=overwrite)
    print(f"{sha256(html).hexdigest()}  {file}")
    say(f"{len(html) / 1000:.1f} kB; survey {found.fingerprint[:16]}")


@survey.command(name="open")
def _open(
    path: Document,
    *,
    store: Annotated[str | None, option("PLACE", "A new file, or a postgresql:// address. Defaults "
        "to commute.db for a survey named commute.")] = None,
    tickets: Annotated[str, option("NUMBER", "The number of tickets; each allows one person to "
        "answer.")] = "0",
    round: Round = None,  # noqa: A002 - as it is typed
) -> None:  # fmt: skip
    """Open a survey: freeze its document and create its store.

    With --tickets, one link with a single-use code is printed per ticket. The codes are not stored:
    distribute them in any order, and do not record who received which.
    """
    from sourdine.survey import Survey
    from sourdine.survey.store import SurveyStore

    found, name = of_round(Survey.read(path), round)
    tickets_made = whole(tickets, "tickets", 500)
    made, codes = SurveyStore.create(store or f"{name}.db", found, tickets=tickets_made)
    made.close()
    page, _, _ = found.send_to.split("?")[0].rpartition("/")  # if the collector serves it
    for code in codes:
        print(f"{page}/#ticket={code}")
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


@survey.command()
def serve(
    store: Kept,
    *,
    host: Annotated[str, option("ADDRESS", "The address to listen on.")] = "127.0.0.1",
    port: Port = "8000",
    hide: Annotated[bool, flag("--hide", "Do not show the results page.")] = False,
) -> None:
    """Serve the page, collect records and show results until interrupted.

    A record is written to disk before it is acknowledged. No address, time, cookie or order is
    stored, and there is no log. Put a TLS proxy in front, and disable its log.
    """
    import asyncio

    from sourdine.survey.serving import Collector, WebServer

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
        raise ParameterError("port", f"be at most {LAST_PORT}", text, port=8000)
    return number


@survey.command()
def close(store: Kept) -> None:
    """Close a survey permanently. Accepted records are counted; no more are accepted."""
    with _opened(store) as kept:
        kept.end()
        say(f"Closed {kept.survey.name}: {kept.people} people are counted")


@survey.command()
def estimate(store: Kept, *, json: Json = False) -> None:
    """Estimate every question: shares, means and quartiles with intervals."""
    with _opened(store) as kept:
        show(kept.estimates(), as_json=json)


@survey.command(name="results")
def _results(
    store: Kept,
    *,
    json: Json = False,
    out: Annotated[Path | None, option("PATH", "Write the results page to this file.", "--out",
        "-o")] = None,
) -> None:  # fmt: skip
    """Print the results page: consistent shares and means, for at least 50 answers."""
    from sourdine.survey.results import results, results_page

    with _opened(store) as kept:
        found = results(kept)
        if out is not None:
            save(out, results_page(found, paused=True), overwrite=True)
    if json or out is None:
        show(found, as_json=json)


@survey.command()
def export(
    store: Kept, *, out: Annotated[Path, option("PATH", "The new file.", "--out", "-o")]
) -> None:
    """Export all counts as an aggregate for 'sourdine collect'."""
    require_new(out)
    with _opened(store) as kept:
        with using(out):
            kept.aggregator().save(out)
        say(f"Wrote {out}: {kept.people} people")


@survey.command(name="demo")
def _demo(
    *,
    n: Annotated[str, option("NUMBER", "The number of simulated browsers.", "--n")] = "500",
    seconds: Annotated[str, option("NUMBER", "Stop after this many seconds.")] = "120",
    port: Port = "0",
) -> None:
    """Run a demo survey on this machine, answered by simulated browsers."""
    from sourdine.survey.demo import demo

    found = demo(
        n=whole(n, "n", 500), seconds=float(read_number(seconds, "seconds", example=120)),
        port=read_port(port), say=say,
    )  # fmt: skip
    print_sheet(Terminal(), found.sheet())


@contextmanager
def _opened(place: str) -> Iterator[SurveyStore]:
    """Open a store, with everything counted that was accepted."""
    from sourdine.survey.store import SurveyStore

    with closing(SurveyStore(place)) as store:
        store.fold()
        yield store
