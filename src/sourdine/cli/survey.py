"""``sourdine survey``: a survey whose answers are randomised in the respondent's own browser."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sourdine.cli.collecting import Round, add_collector, of_round
from sourdine.cli.guard_options import read_number
from sourdine.cli.output import print_sheet
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from sourdine.survey import Survey

__all__ = ["survey"]

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
    from sourdine.survey.skeleton import SKELETON  # noqa: PLC0415 - commands load what they need

    _write(path, SKELETON.encode(), "path", overwrite=overwrite)
    _say(f"Wrote {path}. Change it, then: sourdine survey check {path}")


@survey.command()
def check(path: Document) -> None:
    """Say what is wrong with a survey, or what it asks, costs and means."""
    from sourdine.survey.summary import summary  # noqa: PLC0415 - commands load what they need

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
    from sourdine.survey.precision import precision  # noqa: PLC0415 - commands load what they need

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
    from sourdine.survey import page as built  # noqa: PLC0415 - commands load what they need

    found, name = of_round(_read(path), round)
    file, html = out or Path(f"{name}.html"), built(found)
    _write(file, html, "out", overwrite=overwrite)
    print(f"{sha256(html).hexdigest()}  {file}")  # noqa: T201 - the answer, as sha256sum prints it
    _say(f"{len(html) / 1000:.1f} kB; survey {found.fingerprint[:16]}")


def _read(path: Path) -> Survey:
    from sourdine.survey import Survey  # noqa: PLC0415 - commands load what they need

    return Survey.read(path)


def _write(path: Path, content: bytes, name: str, *, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise ParameterError(
            name,
            "be a new file",
            f"{str(path)!r}, which exists",
            "Type another name, or {overwrite}.",
            overwrite=True,
        )
    try:
        path.write_bytes(content)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _say(text: str) -> None:
    Terminal(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


add_collector(survey)
