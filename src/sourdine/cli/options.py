"""Every option of the command line, written once."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.question import DATA, PRIVACY, WHAT, kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.question import Parameter
    from sourdine.tally import Reading

__all__ = ["Option", "command", "declared", "read_options", "reads_text"]

OUTPUT, READ = "Output", "How text is read"
SHORT = {"column": "-c", "epsilon": "-e", "q": "-q"}


@dataclass(frozen=True, slots=True)
class Option:
    """A parameter of a command: its name in Python, its kind and how a person types it."""

    name: str
    kind: Any
    info: Any
    default: Any = None

    def parameter(self) -> inspect.Parameter:
        """Return the parameter that typer reads."""
        kind = Annotated[self.kind, self.info]  # type: ignore[name-defined]
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=kind
        )


def command(run: Callable[..., None], options: Sequence[Option]) -> Callable[..., None]:
    """Return ``run`` with the signature that the options make."""

    def call(**given: Any) -> None:  # noqa: ANN401
        run(**given)

    parameters = [option.parameter() for option in options]
    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def declared(parameter: Parameter) -> Option:
    """Return the option for a parameter that a question declares."""
    flags = [f"--{parameter.name}", *([SHORT[parameter.name]] if parameter.name in SHORT else [])]
    if parameter.kind is kinds.FLAG:
        info = typer.Option(*flags, help=parameter.help, rich_help_panel=parameter.group)
        return Option(parameter.name, bool | None, info)
    kind = tuple[str, str] if parameter.kind.words == 2 else parameter.kind.shape
    info = typer.Option(
        *flags, help=parameter.help, metavar=parameter.kind.metavar, rich_help_panel=parameter.group
    )
    return Option(parameter.name, kind | None, info)


def read_options(given: dict[str, Any]) -> Reading | None:
    """Take out what was declared of text; None if nothing was."""
    from sourdine.tally import Reading  # noqa: PLC0415 - commands load what they need

    taken = {option.name: given.pop(option.name, None) for option in READING}
    said = {name: value for name, value in taken.items() if value is not None}
    return Reading(**said) if said else None


def reads_text(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how text is read; it gets them as ``read``."""
    own = inspect.signature(run, eval_str=True).parameters.values()
    parameters = [p for p in own if p.name != "read"] + [o.parameter() for o in READING]

    @wraps(run)
    def call(**given: Any) -> None:  # noqa: ANN401
        read = read_options(given)
        run(**given, read=read)

    vars(call)["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    return call


def _text(name: str, *flags: str, panel: str, metavar: str, text: str) -> Option:
    info = typer.Option(
        *(flags or (f"--{name}",)), help=text, metavar=metavar, rich_help_panel=panel
    )
    return Option(name, str | None, info)


def _flag(name: str, *, panel: str, text: str) -> Option:
    return Option(name, bool, typer.Option(f"--{name}", help=text, rich_help_panel=panel), False)  # noqa: FBT003


FILE = Option(
    "file",
    str,
    typer.Argument(
        help="A CSV or Parquet file; quote a pattern, such as 'year-*.parquet'.", metavar="FILE"
    ),
    inspect.Parameter.empty,
)
ENGINE = _text(
    "engine", panel=DATA, metavar="NAME",
    text="spark for a folder of Parquet or CSV, or for spark:TABLE, that Spark shall read.",
)  # fmt: skip
MASTER = _text(
    "master", panel=DATA, metavar="URL",
    text="Where Spark runs, such as local[4] or sc://host; this machine if left out.",
)  # fmt: skip
LEDGER = _text(
    "ledger",
    panel=PRIVACY,
    metavar="PATH",
    text="Charge this ledger before anything is drawn; what would pass its total is refused.",
)
PLANNED_LEDGER = _text(
    "ledger",
    panel=PRIVACY,
    metavar="PATH",
    text="Also say what this ledger has left, before and after, and whether the release would be "
    "refused; nothing is charged.",
)
TOTAL = _text(
    "total_epsilon",
    "--total",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The ledger's total epsilon, to be given when it is opened first.",
)
TOTAL_DELTA = _text(
    "total_delta",
    "--total-delta",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The ledger's total delta; 0 if left out. With one, far more answers fit.",
)
TOTAL_RHO = _text(
    "total_rho",
    "--total-rho",
    panel=PRIVACY,
    metavar="NUMBER",
    text="Instead of --total: the ledger's total rho, of zero-concentrated privacy.",
)
RESERVE = _text(
    "reserve",
    panel=PRIVACY,
    metavar="NUMBER",
    text="How much of --total-delta is kept for answers with a delta of their own; a thousandth "
    "if left out.",
)
NAME = _text(
    "name",
    panel=PRIVACY,
    metavar="NAME",
    text="What the ledger calls the data; the file's name if left out.",
)
NO_KEEP = Option(
    "no_keep",
    bool,
    typer.Option(
        "--no-keep",
        help="Charge the ledger, but keep no answer in it; a report will lack the value.",
        rich_help_panel=PRIVACY,
    ),
    False,  # noqa: FBT003
)
DECILES = _flag("deciles", panel=WHAT, text="The nine orders 0.1 to 0.9.")
QUARTILES = _flag("quartiles", panel=WHAT, text="The three orders 0.25, 0.5 and 0.75.")
COLUMN = _text(
    "column", "--column", "-c", panel=DATA, metavar="NAME",
    text="The column; not needed if there is only one.",
)  # fmt: skip
UNIT = _text(
    "unit", panel=DATA, metavar="NAME",
    text="The column that names a person, to see how many rows people have.",
)  # fmt: skip
BOUNDS = Option(
    "bounds",
    tuple[str, str] | None,
    typer.Option(
        "--bounds",
        help="Public bounds, chosen without looking at the data.",
        metavar="LOWER UPPER",
        rich_help_panel=WHAT,
    ),
)
EPSILON = _text(
    "epsilon", "--epsilon", "-e", panel=PRIVACY, metavar="NUMBER",
    text="What each person spends.",
)  # fmt: skip
METHOD = _text(
    "method", panel=WHAT, metavar="NAME", text="The algorithm; chosen for you if left out."
)
SCHEMA = Option(
    "schema",
    str,
    typer.Option(
        "--schema",
        "-s",
        help="A TOML or JSON file: columns and epsilon; 'sourdine schema' begins one.",
        metavar="PATH",
        rich_help_panel=PRIVACY,
    ),
    inspect.Parameter.empty,
)
SCHEMA_CARRIED = _text(
    "schema",
    "--schema",
    "-s",
    panel=PRIVACY,
    metavar="PATH",
    text="The schema it was sanitised by; only for a file that carries none.",
)
UNMARKED = _flag(
    "unmarked",
    panel=DATA,
    text="Take a file for sanitised that carries no schema, or has changed since.",
)
OUT = Option(
    "out",
    str,
    typer.Option(
        "--out",
        "-o",
        help="The file to write, CSV or Parquet.",
        metavar="PATH",
        rich_help_panel=OUTPUT,
    ),
    inspect.Parameter.empty,
)
NEW_SCHEMA = _text(
    "out",
    "--out",
    "-o",
    panel=OUTPUT,
    metavar="PATH",
    text="The schema to write; else it is printed.",
)
DROP = _text(
    "drop",
    panel=DATA,
    metavar="A,B,...",
    text="Columns to leave out; every other one must be in the schema.",
)
PAIR = Option(
    "pair",
    list[str] | None,
    typer.Option(
        "--pair",
        help="Two columns to be looked at together; may be typed several times.",
        metavar="NAME,NAME",
        rich_help_panel=WHAT,
    ),
)
ANSWER = Option(
    "answer",
    list[str] | None,
    typer.Option(
        "--answer",
        "-a",
        help="An answer; may be typed several times. Without any, standard input is read.",
        metavar="NAME=VALUE",
        rich_help_panel=DATA,
    ),
)
REPORTS = Option(
    "files",
    list[str] | None,
    typer.Argument(
        help="Files of reports (JSON lines, Arrow, Parquet) or aggregates; - for standard input.",
        metavar="FILES",
    ),
)
AGGREGATE = _text(
    "aggregate",
    panel=DATA,
    metavar="PATH",
    text="The file that keeps the counts: begun if it is not there, else added to.",
)
MEMORY = _text(
    "memory",
    panel=PRIVACY,
    metavar="PATH",
    text="In a survey of several rounds: the file that keeps the person's memory, a secret; begun "
    "if it is not there.",
)
ROUND = Option(
    "round",
    int | None,
    typer.Option(
        "--round",
        help="Which round of a survey of several, from 1.",
        metavar="NUMBER",
        rich_help_panel=WHAT,
    ),
)
LOSS = _text(
    "loss",
    panel=WHAT,
    metavar="NAME",
    text="What shall be small: l2, the squared error of the density (the default), or w1, the area "
    "between the distribution functions.",
)
READING = (
    _text(
        "encoding", panel=READ, metavar="NAME",
        text="How a text file writes its characters, such as cp1252; UTF-8 if left out.",
    ),
    _text(
        "separator", panel=READ, metavar="MARK",
        text="Between cells: a comma, semicolon, bar or tab; as in the first line if left out.",
    ),
    _text(
        "header", panel=READ, metavar="A,B,...",
        text="The names of the columns, where the first line is a record already.",
    ),
    Option(
        "quotes",
        bool | None,
        typer.Option(
            "--quotes/--no-quotes",
            help="Whether cells may stand in quotes; without, every line is a record.",
            rich_help_panel=READ,
        ),
    ),
    _text(
        "decimal", panel=READ, metavar="MARK",
        text="Before the decimals of a number: a point, or a comma.",
    ),
    _text(
        "thousands", panel=READ, metavar="MARK",
        text="Between groups of three digits: a comma, point, blank, apostrophe or underscore.",
    ),
    _text(
        "symbols", panel=READ, metavar="A,B,...",
        text="What may stand beside a number, such as '€,cm,%'; it is dropped.",
    ),
    _text(
        "date_format", "--date-format", panel=READ, metavar="FORMAT",
        text="How dates are written, such as '%d.%m.%Y'; ISO 8601 if left out.",
    ),
)  # fmt: skip
"""What is declared of text: the parameters of `sourdine.Reading`."""
OVERWRITE = _flag(
    "overwrite",
    panel=OUTPUT,
    text="Write over a file that exists: the same records then cost epsilon once more.",
)
JSON = _flag("json", panel=OUTPUT, text="Print JSON, and nothing else, on standard output.")
PLOT = _text(
    "plot",
    panel=OUTPUT,
    metavar="PATH",
    text="Draw a picture: a file that ends in png, svg or html.",
)
