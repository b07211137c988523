"""Every option of the command line, and the commands of the statistics."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading
from sourdine.parameters import kinds
from sourdine.parameters.kinds import DATA, PRIVACY, WHAT
from sourdine.parameters.question import parameters
from sourdine.questions import QUESTIONS, STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.parameters.question import Parameter


# ---- Which engine reads the file of a command ----------------------------------------------------


SPARK = "spark"
TABLE = "spark:"
STDIN = "-"


def opened(file: str, asked: Mapping[str, Any], read: Reading | None) -> str | Frame:
    """Return the data: the path itself, or a frame of Spark's or of standard input."""
    if not by_spark(file, asked):
        return standard_input(read) if file == STDIN else file
    from sourdine.frames.spark.opening import open_stored

    return Frame(open_stored(file, asked.get("master"), read or Reading()))


def records(
    file: str, asked: Mapping[str, Any], read: Reading | None
) -> tuple[Any, Reading | None]:
    """Return the path itself, or the data frame of Spark's; and how its text is read."""
    if not by_spark(file, asked):
        return (standard_input(read) if file == STDIN else file), read
    from sourdine.frames.spark.opening import is_text, stored_frame

    reading = read or Reading()
    frame = stored_frame(file, asked.get("master"), reading)
    if is_text(file):  # its types are Spark's, not the file's: any text may be a number
        reading = replace(reading, decimal=reading.point)
    return frame, reading


def standard_input(read: Reading | None, *, anyway: bool = False) -> Frame:
    """Return the CSV that is piped into the command; for a curator, also with a name twice."""
    from sourdine.frames.files import open_standard_input

    return Frame(open_standard_input(read or Reading(), anyway=anyway))


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
    return "standard input" if file == STDIN else PurePath(file.removeprefix(TABLE)).name


# ---- Every option of the command line, written once ----------------------------------------------


OUTPUT, READ = "Output", "Text format"
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
    flags = [
        f"--{parameter.name.replace('_', '-')}",
        *([SHORT[parameter.name]] if parameter.name in SHORT else []),
    ]
    if parameter.kind is kinds.FLAG:
        info = typer.Option(*flags, help=parameter.help, rich_help_panel=parameter.group)
        return Option(parameter.name, bool | None, info)
    if parameter.kind is kinds.STATEMENT:
        said = typer.Argument(help=parameter.help, metavar=parameter.kind.metavar)
        return Option(parameter.name, str, said, inspect.Parameter.empty)
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
    info = typer.Option(f"--{name}", help=text, rich_help_panel=panel)
    return Option(name, bool, info, default=False)


FILE = Option(
    "file",
    str,
    typer.Argument(
        help="A CSV, Parquet, Excel, SPSS, SAS, Stata, JSON Lines or Arrow file, - for CSV from "
        "standard input, or duckdb:///FILE#TABLE or postgresql://HOST/DATABASE#TABLE. Quote a "
        "pattern, such as 'year-*.parquet'.",
        metavar="FILE",
    ),
    inspect.Parameter.empty,
)
ENGINE = _text(
    "engine", panel=DATA, metavar="NAME",
    text="Set to spark to read a folder of Parquet or CSV files, or spark:TABLE, with Spark.",
)  # fmt: skip
MASTER = _text(
    "master", panel=DATA, metavar="URL",
    text="The Spark master, such as local[4] or sc://host. Defaults to this machine.",
)  # fmt: skip
LEDGER = _text(
    "ledger",
    panel=PRIVACY,
    metavar="PATH",
    text="The ledger to charge before anything is released. A release that would exceed its "
    "total is refused.",
)
PLANNED_LEDGER = _text(
    "ledger",
    panel=PRIVACY,
    metavar="PATH",
    text="Also show the remaining budget of this ledger before and after the release, and "
    "whether it would be refused. Nothing is charged.",
)
TOTAL = _text(
    "total_epsilon",
    "--total",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The total epsilon of a new ledger.",
)
TOTAL_DELTA = _text(
    "total_delta",
    "--total-delta",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The total delta of a new ledger. Defaults to 0; a positive delta allows far more "
    "releases.",
)
TOTAL_RHO = _text(
    "total_rho",
    "--total-rho",
    panel=PRIVACY,
    metavar="NUMBER",
    text="Instead of --total: the total rho of a new ledger, for zero-concentrated privacy.",
)
RESERVE = _text(
    "reserve",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The part of --total-delta reserved for releases with a delta of their own. Defaults to "
    "a thousandth.",
)
NAME = _text(
    "name",
    panel=PRIVACY,
    metavar="NAME",
    text="The name of the data in the ledger. Defaults to the name of the file.",
)
NO_KEEP = Option(
    "no_keep",
    bool,
    typer.Option(
        "--no-keep",
        help="Do not store the released value in the ledger. Reports will not contain it.",
        rich_help_panel=PRIVACY,
    ),
    default=False,
)
DECILES = _flag("deciles", panel=WHAT, text="The nine deciles, 0.1 to 0.9.")
QUARTILES = _flag("quartiles", panel=WHAT, text="The three quartiles, 0.25, 0.5 and 0.75.")
COLUMN = _text(
    "column", "--column", "-c", panel=DATA, metavar="NAME",
    text="The column. Not needed if there is only one.",
)  # fmt: skip
UNIT = _text(
    "unit", panel=DATA, metavar="NAME",
    text="The column that identifies a person, to see how many rows people have.",
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
    text="The cost per person.",
)  # fmt: skip
METHOD = _text(
    "method", panel=WHAT, metavar="NAME", text="The algorithm. Chosen automatically by default."
)
SCHEMA = Option(
    "schema",
    str,
    typer.Option(
        "--schema",
        "-s",
        help="A TOML or JSON file with columns and epsilon; 'sourdine schema' writes a template.",
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
    text="The schema used to sanitise the file. Only needed if the file does not carry it.",
)
UNMARKED = _flag(
    "unmarked",
    panel=DATA,
    text="Accept a file that carries no schema, or that changed after it was sanitised.",
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
    text="The schema to write. Printed by default.",
)
DROP = _text(
    "drop",
    panel=DATA,
    metavar="A,B,...",
    text="Columns to drop. All other columns must be in the schema.",
)
WHERE = _text(
    "where",
    panel=DATA,
    metavar="CONDITION",
    text="Treat everything about records as missing for which a condition is not true.",
)
PAIR = Option(
    "pair",
    list[str] | None,
    typer.Option(
        "--pair",
        help="Two columns to cross-tabulate. May be repeated.",
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
        help="An answer. May be repeated. Without any, standard input is read.",
        metavar="NAME=VALUE",
        rich_help_panel=DATA,
    ),
)
REPORTS = Option(
    "files",
    list[str] | None,
    typer.Argument(
        help="Files of reports (JSON lines, Arrow or Parquet) or aggregates; - for standard input.",
        metavar="FILES",
    ),
)
AGGREGATE = _text(
    "aggregate",
    panel=DATA,
    metavar="PATH",
    text="The file that holds the counts. Created if it does not exist.",
)
MEMORY = _text(
    "memory",
    panel=PRIVACY,
    metavar="PATH",
    text="For surveys of several rounds: the secret file with the person's memoised responses. "
    "Created if it does not exist.",
)
ROUND = Option(
    "round",
    int | None,
    typer.Option(
        "--round",
        help="The round of a survey with several rounds, starting at 1.",
        metavar="NUMBER",
        rich_help_panel=WHAT,
    ),
)
LOSS = _text(
    "loss",
    panel=WHAT,
    metavar="NAME",
    text="The loss to minimise: l2, the squared error of the density (default), or w1, the area "
    "between the distribution functions.",
)
READING = (
    _text(
        "encoding", panel=READ, metavar="NAME",
        text="The encoding of a text file, such as cp1252. Defaults to UTF-8.",
    ),
    _text(
        "separator", panel=READ, metavar="MARK",
        text="The separator of cells: a comma, semicolon, bar or tab. Defaults to that of the "
             "first line.",
    ),
    _text(
        "header", panel=READ, metavar="A,B,...",
        text="The names of the columns, if the file has no header.",
    ),
    Option(
        "quotes",
        bool | None,
        typer.Option(
            "--quotes/--no-quotes",
            help="Whether cells may be quoted. Without quotes, every line is a record.",
            rich_help_panel=READ,
        ),
    ),
    _text(
        "decimal", panel=READ, metavar="MARK",
        text="The decimal mark: a point or a comma.",
    ),
    _text(
        "thousands", panel=READ, metavar="MARK",
        text="The thousands separator: a comma, point, space, apostrophe or underscore.",
    ),
    _text(
        "symbols", panel=READ, metavar="A,B,...",
        text="Symbols to remove next to numbers, such as '€,cm,%'.",
    ),
    _text(
        "date_format", "--date-format", panel=READ, metavar="FORMAT",
        text="The format of dates, such as '%d.%m.%Y'. Defaults to ISO 8601.",
    ),
)  # fmt: skip
"""What is declared of text: the parameters of `sourdine.Reading`."""
OVERWRITE = _flag(
    "overwrite",
    panel=OUTPUT,
    text="Overwrite an existing file. The same records then cost epsilon again.",
)
JSON = _flag("json", panel=OUTPUT, text="Print only JSON on standard output.")
PLOT = _text(
    "plot",
    panel=OUTPUT,
    metavar="PATH",
    text="Save a plot to this .png, .svg or .html file.",
)


# ---- The commands that publish or plan a statistic: their words, options and examples ------------


RELEASED = (
    "The file is read on this machine. The output may be published: the data of one person "
    "change the odds of any output by a factor of at most e^epsilon."
)
PLANNED = (
    "Computes the error for --epsilon, or the epsilon for --error. With --ledger and neither of "
    "them, the plan is for the whole remaining budget. Spends nothing and reads no data."
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
    for name, cls in QUESTIONS.items():
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
        name="inspect",
        text="Inspect a file for unreadable cells and formats to declare (for the curator only).",
        more="The output is not private and must not be published. It costs no privacy budget "
        "and is not recorded in any ledger.",
        options=(FILE, UNIT, *READING),
        example="people.csv --unit patient",
    ),
    LocalCommand(
        name="schema",
        text="Write a schema template with the names of a table's columns.",
        more="The types of a Parquet file are used. The types of a CSV file would have to be "
        "guessed from its values, so they are left for you to fill in.",
        options=(FILE, NEW_SCHEMA, *READING),
        example="survey.csv -o schema.toml",
    ),
    LocalCommand(
        name="sanitize",
        text="Randomise every record of a table independently, according to a schema.",
        more="The output has the same columns and may be shared. Sanitising the same records "
        "again costs epsilon again.",
        options=(FILE, SCHEMA, OUT, OVERWRITE, DROP, WHERE, ENGINE, MASTER, *READING),
        example="survey.csv --schema schema.toml -o clean.csv",
    ),
    LocalCommand(
        name="estimate",
        text="Estimate shares, means and quartiles from a sanitised table, with intervals.",
        more="This costs no further epsilon. The schema is read from the file itself or from a "
        "file next to it; a file that was not sanitised is refused.",
        options=(FILE, SCHEMA_CARRIED, PAIR, UNMARKED, JSON, PLOT),
        example="clean.csv --pair age,vote --plot survey.png",
    ),
    LocalCommand(
        name="report",
        text="Randomise one person's answers and print the report to send.",
        more="Run this on the person's own device. Answers are given as options, or as JSON "
        "objects on standard input, one per line and person. An omitted question counts as "
        "unanswered.",
        options=(ANSWER, SCHEMA, MEMORY, ROUND),
        example="--schema schema.toml --answer age=31 --answer vote=yes",
    ),
    LocalCommand(
        name="collect",
        text="Aggregate reports, and estimate from all of them.",
        more="Malformed, foreign and duplicate reports are dropped and counted. With --aggregate "
        "the counts are kept in a file, to which later reports are added.",
        options=(REPORTS, SCHEMA, ROUND, AGGREGATE, PAIR, JSON, PLOT),
        example="monday.jsonl --schema schema.toml --aggregate total.aggregate",
    ),
    LocalCommand(
        name="density",
        text="Estimate the density of a column under local privacy.",
        more="Every value is randomised independently before it is used; epsilon is the cost per "
        "person.",
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
