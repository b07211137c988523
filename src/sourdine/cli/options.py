"""Every option of the command line, and the commands of the statistics."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.central import Describe
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading
from sourdine.parameters import kinds
from sourdine.parameters.kinds import DATA, PRIVACY, WHAT
from sourdine.parameters.question import parameters
from sourdine.questions import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.parameters.question import Parameter


# ---- Which engine reads the file of a command ----------------------------------------------------


SPARK = "spark"
TABLE = "spark:"


def opened(file: str, asked: Mapping[str, Any], read: Reading | None) -> str | Frame:
    """Return the data: the path itself, or a frame in Spark where that was asked for."""
    if not by_spark(file, asked):
        return file
    from sourdine.frames.spark.opening import open_stored

    return Frame(open_stored(file, asked.get("master"), read or Reading()))


def records(
    file: str, asked: Mapping[str, Any], read: Reading | None
) -> tuple[Any, Reading | None]:
    """Return the path itself, or the data frame of Spark's; and how its text is read."""
    if not by_spark(file, asked):
        return file, read
    from sourdine.frames.spark.opening import is_text, stored_frame

    reading = read or Reading()
    frame = stored_frame(file, asked.get("master"), reading)
    if is_text(file):  # its types are Spark's, not the file's: any text may be a number
        reading = replace(reading, decimal=reading.point)
    return frame, reading


def by_spark(file: str, asked: Mapping[str, Any]) -> bool:
    """Return whether Spark shall read a file."""
    engine, master = asked.get("engine"), asked.get("master")
    if engine not in {None, SPARK}:
        raise ParameterError("engine", "be 'spark'", given(engine), "Use {engine}.", engine=SPARK)
    if engine is None and not file.startswith(TABLE):
        if master is not None:
            raise ParameterError(
                "master",
                "be omitted without {engine}",
                given(master),
                "Omit {master}, or use {engine}.",
                master=LEFT_OUT,
                engine=SPARK,
            )
        return False
    return True


def name_of(file: str) -> str:
    """Return what a ledger calls the data."""
    return PurePath(file.removeprefix(TABLE)).name


# ---- Every option of the command line, written once ----------------------------------------------


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

    def call(**given: Any) -> None:
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
    from sourdine.frames.reading import Reading

    taken = {option.name: given.pop(option.name, None) for option in READING}
    said = {name: value for name, value in taken.items() if value is not None}
    return Reading(**said) if said else None


def reads_text(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how text is read; it gets them as ``read``."""
    own = inspect.signature(run, eval_str=True).parameters.values()
    parameters = [p for p in own if p.name != "read"] + [o.parameter() for o in READING]

    @wraps(run)
    def call(**given: Any) -> None:
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


# ---- The commands that publish or plan a statistic: their words, options and examples ------------


RELEASED = (
    "The file never leaves this machine. What is printed may be published: one person's data "
    "changes the odds of any answer by a factor of at most e^epsilon."
)
PLANNED = (
    "Nothing is spent and no data is read: give --epsilon or --error and read the other. With "
    "--ledger and neither of them, the plan is for everything that is left."
)


RELEASING = (
    *(LEDGER, TOTAL, TOTAL_DELTA, TOTAL_RHO, RESERVE, NAME, NO_KEEP),
    *(JSON, PLOT),
)
PLANNING = (JSON, PLOT)
SHORTCUTS = {"quantiles": (DECILES, QUARTILES)}
"""Flags that stand for the values of a parameter."""


def add_statistics(app: typer.Typer) -> None:
    """Add a command for each statistic."""
    every: dict[str, type[Statistic]] = {**STATISTICS, Describe.kind: Describe}
    for name, cls in every.items():
        options = (FILE, ENGINE, MASTER, *_declared(cls), *READING, *RELEASING)
        release, plan = cls.examples
        planned = (f"sourdine plan {name} {plan}",) if plan else ()
        examples = (f"sourdine {name} {release}", *planned)
        _add(app, cls, RELEASED, options, examples, _lazily("run", cls))


def add_plans(app: typer.Typer) -> None:
    """Add a command that plans each statistic."""
    for name, cls in STATISTICS.items():
        example = f"sourdine plan {name} {cls.examples[1]}"
        examples = (example, f"{example} --ledger people.ledger")
        options = (*_declared(cls), PLANNED_LEDGER, *PLANNING)
        _add(app, cls, PLANNED, options, examples, _lazily("run_plan", cls))


def _declared(cls: type[Statistic]) -> tuple[Option, ...]:
    return (*SHORTCUTS.get(cls.kind, ()), *(declared(p) for p in parameters(cls) if p.kind.words))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCommand:
    """A command that reads a table: what it does, what to know, its options and an example."""

    name: str
    text: str
    more: str
    options: tuple[Option, ...]
    example: str


LOCAL = (
    LocalCommand(
        name="check",
        text="For the curator alone: what is unreadable in a file, and what to declare.",
        more="What it prints is read off the data and must not be published. It costs nothing and "
        "no ledger hears of it.",
        options=(FILE, UNIT, *READING),
        example="people.csv --unit patient",
    ),
    LocalCommand(
        name="schema",
        text="Begin a schema: the names of a table's columns, with gaps to fill in.",
        more="The types of a Parquet file are used. Those of a CSV file would have to be guessed "
        "from its values, so there every kind is left open.",
        options=(FILE, NEW_SCHEMA, *READING),
        example="survey.csv -o schema.toml",
    ),
    LocalCommand(
        name="sanitize",
        text="Randomise every record of a table on its own, under a schema.",
        more="The output has the same columns and may be given away; each time the same records "
        "are sanitised, they cost epsilon again.",
        options=(FILE, SCHEMA, OUT, OVERWRITE, DROP, ENGINE, MASTER, *READING),
        example="survey.csv --schema schema.toml -o clean.csv",
    ),
    LocalCommand(
        name="estimate",
        text="Shares, means and quartiles from a sanitised table, with intervals.",
        more="Costs nothing: the table was paid for when it was sanitised. The file carries its "
        "schema, or has it beside it; one that was not sanitised is refused.",
        options=(FILE, SCHEMA_CARRIED, PAIR, UNMARKED, JSON, PLOT),
        example="clean.csv --pair age,vote --plot survey.png",
    ),
    LocalCommand(
        name="report",
        text="Randomise one person's answers, and print the report to be sent.",
        more="Run it where the person is. Answers are typed, or come as a JSON object on standard "
        "input (of several people, one in each line); a question left out is an absent answer.",
        options=(ANSWER, SCHEMA, MEMORY, ROUND),
        example="--schema schema.toml --answer age=31 --answer vote=yes",
    ),
    LocalCommand(
        name="collect",
        text="Count reports as they come, and estimate from all of them.",
        more="Whatever is malformed, foreign or sent twice is dropped and said. With --aggregate "
        "the counts are kept in a file, and the next reports are added to them.",
        options=(REPORTS, SCHEMA, ROUND, AGGREGATE, PAIR, JSON, PLOT),
        example="monday.jsonl --schema schema.toml --aggregate total.aggregate",
    ),
    LocalCommand(
        name="density",
        text="The density of a column whose values are each randomised on their own.",
        more="Every value is randomised before it is looked at; epsilon is what each person "
        "spends.",
        options=(FILE, COLUMN, BOUNDS, EPSILON, METHOD, LOSS, *READING, *PLANNING),
        example="people.csv -c salary --bounds 0 200000 --epsilon 1 --plot density.png",
    ),
)


def add_local(app: typer.Typer) -> None:
    """Add the commands of local privacy."""
    for each in LOCAL:
        epilog = f"Example:\n\n$ sourdine {each.name} {each.example}"
        app.command(
            each.name, help=f"{each.text}\n\n{each.more}", short_help=each.text, epilog=epilog
        )(command(_local(each), each.options))


def _local(each: LocalCommand) -> Callable[..., None]:
    def run(**given: Any) -> None:
        getattr(import_module("sourdine.cli.tables"), each.name)(given)

    return run


def _add(
    app: typer.Typer,
    cls: type[Statistic],
    promise: str,
    options: tuple[Option, ...],
    examples: tuple[str, ...],
    run: Callable[..., None],
) -> None:
    epilog = "Examples:\n\n" + "\n\n".join(f"$ {line}" for line in examples)
    app.command(
        cls.kind, help=f"{cls.text}\n\n{promise}", short_help=cls.text, epilog=epilog
    )(command(run, options))  # fmt: skip


def _lazily(name: str, cls: type[Statistic]) -> Callable[..., None]:
    """Return what runs a command; its module is loaded when it is."""

    def run(**given: Any) -> None:
        getattr(import_module("sourdine.cli.statistics"), name)(cls, given)

    return run
