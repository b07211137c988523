"""Every option of the command line: how it is typed, parsed and named in errors."""

from __future__ import annotations

import datetime as dt
import inspect
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sourdine.cli.output import complain
from sourdine.errors import (
    LEFT_OUT,
    ParameterError,
    PythonWording,
    SourdineError,
    close_matches,
    literal,
)
from sourdine.exact import given
from sourdine.frames.frame import Frame
from sourdine.frames.reading import Reading
from sourdine.parameters import kinds
from sourdine.parameters.kinds import DATA, PRIVACY, WHAT, apart
from sourdine.parameters.question import SYNONYMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        raise ParameterError("engine", "be 'spark'", given(engine), engine=SPARK)
    spark = engine is not None or file.startswith(TABLE)
    if master is not None and not spark:
        raise ParameterError(
            "master", "be omitted without {engine}", given(master),
            "Omit {master}, or use {engine}.", master=LEFT_OUT, engine=SPARK,
        )  # fmt: skip
    return spark


def name_of(file: str) -> str:
    """Return what a ledger calls the data."""
    return "standard input" if file == STDIN else PurePath(file.removeprefix(TABLE)).name


# ---- Every option of the command line, written once ----------------------------------------------


OUTPUT, READ = "Output", "Text format"
SHORT = {"column": "-c", "epsilon": "-e", "q": "-q"}


def argument(metavar: str, text: str) -> Any:
    """Return an argument of a command, for an annotation."""
    return typer.Argument(metavar=metavar, help=text)


def option(metavar: str, text: str, *flags: str, panel: str | None = None) -> Any:
    """Return an option of a command, for an annotation; its flag defaults to its name."""
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=panel)


def flag(name: str, text: str, *, panel: str | None = None) -> Any:
    """Return an option without a value, for an annotation."""
    return typer.Option(name, help=text, rich_help_panel=panel)


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
    """Give ``run`` the signature that the options make."""
    return _signed(run, [option.parameter() for option in options])


def _signed(run: Callable[..., None], own: list[inspect.Parameter]) -> Callable[..., None]:
    vars(run)["__signature__"] = inspect.Signature(own)
    run.__annotations__ = {p.name: p.annotation for p in own}
    return run


def declared(parameter: Parameter) -> Option:
    """Return the option for a parameter that a question declares."""
    name, kind, text = parameter.name, parameter.kind, parameter.help
    if kind is kinds.STATEMENT:
        return Option(name, str, argument(kind.metavar, text), inspect.Parameter.empty)
    flags = filter(None, (f"--{name.replace('_', '-')}", SHORT.get(name)))
    if kind is kinds.FLAG:
        return Option(
            name, bool | None, typer.Option(*flags, help=text, rich_help_panel=parameter.group)
        )
    shape = tuple[str, str] if kind.words == 2 else kind.shape
    return Option(name, shape | None, option(kind.metavar, text, *flags, panel=parameter.group))


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

    return _signed(call, parameters)


def _text(name: str, metavar: str, text: str, *flags: str, panel: str) -> Option:
    return Option(name, str | None, option(metavar, text, *(flags or (f"--{name}",)), panel=panel))


def _flag(name: str, text: str, *, panel: str) -> Option:
    return Option(name, bool, flag(f"--{name}", text, panel=panel), default=False)


FILE = Option("file", str, argument(
    "FILE", "A CSV, Parquet, Excel, SPSS, SAS, Stata, JSON Lines or Arrow file, - for CSV from "
    "standard input, or duckdb:///FILE#TABLE or postgresql://HOST/DATABASE#TABLE. Quote a pattern, "
    "such as 'year-*.parquet'.",
), inspect.Parameter.empty)  # fmt: skip
ENGINE = _text(
    "engine", "NAME", "Set to spark to read a folder of Parquet or CSV files, or spark:TABLE, with "
    "Spark.", panel=DATA,
)  # fmt: skip
MASTER = _text(
    "master", "URL", "The Spark master, such as local[4] or sc://host. Defaults to this machine.",
    panel=DATA,
)  # fmt: skip
LEDGER = _text(
    "ledger", "PATH", "The ledger to charge before anything is released. A release that would "
    "exceed its total is refused.", panel=PRIVACY,
)  # fmt: skip
PLANNED_LEDGER = _text(
    "ledger", "PATH", "Also show the remaining budget of this ledger before and after the release, "
    "and whether it would be refused. Nothing is charged.", panel=PRIVACY,
)  # fmt: skip
TOTAL = _text(
    "total_epsilon", "NUMBER", "The total epsilon of a new ledger.", "--total", panel=PRIVACY
)
TOTAL_DELTA = _text(
    "total_delta", "NUMBER", "The total delta of a new ledger. Defaults to 0; a positive delta "
    "allows far more releases.", "--total-delta", panel=PRIVACY,
)  # fmt: skip
TOTAL_RHO = _text(
    "total_rho", "NUMBER", "Instead of --total: the total rho of a new ledger, for "
    "zero-concentrated privacy.", "--total-rho", panel=PRIVACY,
)  # fmt: skip
RESERVE = _text(
    "reserve", "NUMBER", "The part of --total-delta reserved for releases with a delta of their "
    "own. Defaults to a thousandth.", panel=PRIVACY,
)  # fmt: skip
NAME = _text(
    "name", "NAME", "The name of the data in the ledger. Defaults to the name of the file.",
    panel=PRIVACY,
)  # fmt: skip
NO_KEEP = Option("no_keep", bool, flag(
    "--no-keep", "Do not store the released value in the ledger. Reports will not contain it.",
    panel=PRIVACY,
), default=False)  # fmt: skip
DECILES = _flag("deciles", "The nine deciles, 0.1 to 0.9.", panel=WHAT)
QUARTILES = _flag("quartiles", "The three quartiles, 0.25, 0.5 and 0.75.", panel=WHAT)
COLUMN = _text(
    "column", "NAME", "The column. Not needed if there is only one.", "--column", "-c", panel=DATA
)
UNIT = _text(
    "unit", "NAME", "The column that identifies a person, to see how many rows people have.",
    panel=DATA,
)  # fmt: skip
BOUNDS = Option("bounds", tuple[str, str] | None, option(
    "LOWER UPPER", "Public bounds, chosen without looking at the data.", "--bounds", panel=WHAT,
))  # fmt: skip
EPSILON = _text("epsilon", "NUMBER", "The cost per person.", "--epsilon", "-e", panel=PRIVACY)
METHOD = _text("method", "NAME", "The algorithm. Chosen automatically by default.", panel=WHAT)
SCHEMA = Option("schema", str, option(
    "PATH", "A TOML or JSON file with columns and epsilon; 'sourdine schema' writes a template.",
    "--schema", "-s", panel=PRIVACY,
), inspect.Parameter.empty)  # fmt: skip
SCHEMA_CARRIED = _text(
    "schema", "PATH", "The schema used to sanitise the file. Only needed if the file does not "
    "carry it.", "--schema", "-s", panel=PRIVACY,
)  # fmt: skip
UNMARKED = _flag(
    "unmarked", "Accept a file that carries no schema, or that changed after it was sanitised.",
    panel=DATA,
)  # fmt: skip
OUT = Option("out", str, option(
    "PATH", "The file to write, CSV or Parquet.", "--out", "-o", panel=OUTPUT,
), inspect.Parameter.empty)  # fmt: skip
NEW_SCHEMA = _text(
    "out", "PATH", "The schema to write. Printed by default.", "--out", "-o", panel=OUTPUT
)
DROP = _text(
    "drop", "A,B,...", "Columns to drop. All other columns must be in the schema.", panel=DATA
)
WHERE = _text(
    "where", "CONDITION",
    "Treat everything about records as missing for which a condition is not true.", panel=DATA,
)  # fmt: skip
PAIR = Option("pair", list[str] | None, option(
    "NAME,NAME", "Two columns to cross-tabulate. May be repeated.", "--pair", panel=WHAT,
))  # fmt: skip
ANSWER = Option("answer", list[str] | None, option(
    "NAME=VALUE", "An answer. May be repeated. Without any, standard input is read.", "--answer",
    "-a", panel=DATA,
))  # fmt: skip
REPORTS = Option("files", list[str] | None, argument(
    "FILES", "Files of reports (JSON lines, Arrow or Parquet) or aggregates; - for standard input.",
))  # fmt: skip
AGGREGATE = _text(
    "aggregate", "PATH", "The file that holds the counts. Created if it does not exist.", panel=DATA
)
MEMORY = _text(
    "memory", "PATH", "For surveys of several rounds: the secret file with the person's memoised "
    "responses. Created if it does not exist.", panel=PRIVACY,
)  # fmt: skip
ROUND = Option("round", int | None, option(
    "NUMBER", "The round of a survey with several rounds, starting at 1.", "--round", panel=WHAT,
))  # fmt: skip
LOSS = _text(
    "loss", "NAME", "The loss to minimise: l2, the squared error of the density (default), or w1, "
    "the area between the distribution functions.", panel=WHAT,
)  # fmt: skip
READING = (
    _text("encoding", "NAME", "The encoding of a text file, such as cp1252. Defaults to UTF-8.",
          panel=READ),
    _text("separator", "MARK", "The separator of cells: a comma, semicolon, bar or tab. Defaults "
          "to that of the first line.", panel=READ),
    _text("header", "A,B,...", "The names of the columns, if the file has no header.", panel=READ),
    Option("quotes", bool | None, flag(
        "--quotes/--no-quotes", "Whether cells may be quoted. Without quotes, every line is a "
        "record.", panel=READ)),
    _text("decimal", "MARK", "The decimal mark: a point or a comma.", panel=READ),
    _text("thousands", "MARK", "The thousands separator: a comma, point, space, apostrophe or "
          "underscore.", panel=READ),
    _text("symbols", "A,B,...", "Symbols to remove next to numbers, such as '€,cm,%'.", panel=READ),
    _text("date_format", "FORMAT", "The format of dates, such as '%d.%m.%Y'. Defaults to ISO 8601.",
          "--date-format", panel=READ),
)  # fmt: skip
"""What is declared of text: the parameters of `sourdine.Reading`."""
OVERWRITE = _flag(
    "overwrite", "Overwrite an existing file. The same records then cost epsilon again.",
    panel=OUTPUT,
)  # fmt: skip
JSON = _flag("json", "Print only JSON on standard output.", panel=OUTPUT)
PLOT = _text("plot", "PATH", "Save a plot to this .png, .svg, .pdf or .html file.", panel=OUTPUT)


# ---- Errors in the words of the command line: what Python calls bounds= is --bounds here ---------


class ShellWording(PythonWording):
    """How the parameters of a command are spelled; what is no option of it is left in Python."""

    def __init__(self, options: Sequence[Any]) -> None:
        self._options = {o.name: o for o in options if o.param_type_name == "option"}
        words = {o.name: str(o.metavar) for o in options if o.name not in self._options}
        self._arguments = {**{word.lower(): word for word in words.values()}, **words}

    @property
    def names(self) -> set[str]:
        """The parameters that have an option."""
        return set(self._options)

    def subject(self, name: str) -> str:
        """Return the option or argument as what a sentence is about."""
        return self._flag(name) if name in self._options else self._arguments.get(name, name)

    def mention(self, name: str) -> str:
        """Return the option or argument without a value."""
        known = name in self._options or name in self._arguments
        return self.subject(name) if known else super().mention(name)

    def typed(self, name: str, value: object) -> str:
        """Return what to type; an argument has no name."""
        if name in self._arguments:
            return _quoted(_word(value))
        if name == "read" and isinstance(value, dict):  # an option for each part
            return " ".join(self.typed(part, own) for part, own in value.items())
        if name not in self._options:
            return super().typed(name, value)
        if value is True:
            return self._flag(name)
        return " ".join(f"{self._flag(name)} {words}" for words in self._each(name, value))

    def _flag(self, name: str) -> str:
        return str(next(flag for flag in self._options[name].opts if flag.startswith("--")))

    def _each(self, name: str, value: Any) -> list[str]:
        """Return what follows an option, each time that it is typed."""
        if isinstance(value, dict) and name != "keys":
            several = ((c, x if isinstance(x, (list, tuple)) else (x,)) for c, x in value.items())
            return [quote(f"{column}:{','.join(map(_word, parts))}") for column, parts in several]
        listed = [value]
        if isinstance(value, dict):  # a list for each column, in their order
            listed = list(value.values())
        elif self._options[name].multiple and name != "keys" and isinstance(value, (list, tuple)):
            listed = list(value)
        return [self._words(name, part) for part in listed]

    def _words(self, name: str, value: Any) -> str:
        if not isinstance(value, (list, tuple)):
            return _quoted(_word(value))
        if self._options[name].nargs > 1:
            return " ".join(quote(_word(part)) for part in value)
        return quote(",".join(map(_word, value)))


def _word(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if isinstance(value, str) else literal(value).strip("'")


def _quoted(word: str) -> str:
    """Return a word as the shell reads it; a sign alone is set apart from the sentence's end."""
    return quote(word) if any(map(str.isalnum, word)) else f"'{word}'"


SPOKEN: ContextVar[ShellWording | None] = ContextVar("SPOKEN", default=None)
"""How the command that runs words what it prints."""


# ---- A command of the shell: how its words are read, its errors worded and its help printed ------


FLAG = re.compile("--?[A-Za-z]")
FIND = "find"
"""The word for bounds that nobody knows, in place of two numbers or behind them."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class ShellGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> Any:
        return _bare(super().get_params(ctx))


class ShellCommand(TyperCommand):
    """A command whose errors know how its parameters are spelled."""

    def get_params(self, ctx: Any) -> Any:
        return _bare(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, without braces around arguments."""
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; two numbers may be joined by a comma."""
        pairs = {flag: p.name for p in self.params if p.nargs == 2 for flag in p.opts}
        try:
            with worded(self.params):
                words = spread(args, pairs)
                self._require_once(words)
                return super().parse_args(ctx, words)
        except Exception as error:
            unknown: Any = error
            if hasattr(unknown, "possibilities"):  # of an option that there is not
                unknown.possibilities = self._resembling(unknown.option_name)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run; an error is worded for the shell, and Ctrl-C is not one."""
        spoken = SPOKEN.set(ShellWording(self.params))
        try:
            with worded(self.params):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            complain("stopped.")
            raise typer.Exit(INTERRUPTED) from None
        finally:
            SPOKEN.reset(spoken)

    def _resembling(self, typed: str) -> list[str]:
        """Return the options that begin like an unknown one, or else resemble it."""
        known = {flag.lstrip("-"): flag for p in self.params for flag in p.opts if flag[:2] == "--"}
        bare = typed.lstrip("-")
        near = [name for name in known if name.startswith(bare)]
        synonym = SYNONYMS.get(bare.replace("-", "_"), "")
        if not near:
            near = [synonym] if synonym in known else close_matches(bare, known)
        return [known[name] for name in near]

    def _require_once(self, words: list[str]) -> None:
        """Refuse an option that is given again and would replace the first."""
        single = {
            flag: p.name
            for p in self.params
            if p.param_type_name == "option" and not p.multiple and not getattr(p, "is_flag", False)
            for flag in p.opts
        }
        flags = (word.partition("=")[0] for word in words)
        typed = [single[flag] for flag in flags if flag in single]
        for name in typed:
            if typed.count(name) > 1:
                raise ParameterError(
                    str(name), "be given once", f"{typed.count(name)} times",
                    f"Use {{{name}}} once.",
                )  # fmt: skip


@contextmanager
def worded(parameters: Sequence[Any]) -> Iterator[None]:
    """Word errors with the options of a command."""
    try:
        yield
    except SourdineError as error:
        error.wording = ShellWording(parameters)
        raise


def _bare(parameters: list[Any]) -> list[Any]:
    """Return parameters whose flags and arguments are printed without a type: FILE says enough."""
    for each in parameters:
        if getattr(each, "is_flag", False) and each.metavar is None:
            each.metavar = ""
        if each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: None  # noqa: ARG005 - typer calls it
    return parameters


def spread(words: Sequence[str], pairs: dict[str, str]) -> list[str]:
    """Return the words of a command with the two numbers or dates after each of these flags apart.

    ``pairs`` are the parameters that take two numbers, by their flags.

    Examples
    --------
    >>> spread(["--bounds=0,120", "-e", "1"], {"--bounds": "bounds"})
    ['--bounds', '0', '120', '-e', '1']
    >>> spread(["--bounds", "-5", "5"], {"--bounds": "bounds"})
    ['--bounds', '-5', '5']
    >>> spread(["--bounds", "2020-01-01 00:00", "2020-02-01 00:00"], {"--bounds": "bounds"})
    ['--bounds', '2020-01-01 00:00', '2020-02-01 00:00']
    >>> spread(["--bounds", "find"], {"--bounds": "bounds"})
    ['--bounds', 'find', 'find']
    >>> spread(["--bounds", "0", "1e9", "find"], {"--bounds": "bounds"})
    ['--bounds', '0', '1e9 find']
    """
    left, found = list(words), list[str]()
    while left:
        word = left.pop(0)
        flag, joined, value = word.partition("=")
        if flag not in pairs:
            found.append(word)
            continue
        numbers = (apart(value) or [value]) if joined else []
        while len(numbers) < 2 and FIND not in numbers and left and not FLAG.match(left[0]):
            word = left.pop(0)
            numbers += apart(word) or [word]
        if len(numbers) == 2 and left and left[0] == FIND:
            numbers.append(left.pop(0))
        # that bounds are to be found is written in both words, or behind the second
        if numbers == [FIND]:
            numbers = [FIND, FIND]
        elif len(numbers) == 3 and numbers[2] == FIND:
            numbers = [numbers[0], f"{numbers[1]} {FIND}"]
        if len(numbers) != 2:
            must, got = "be two numbers, the lower first, or find", given(" ".join(numbers))
            name = pairs[flag]
            raise ParameterError(name, must, got if numbers else "", **{name: (0, 120)})
        found += [flag, *numbers]
    return found


def speaks_shell(app: typer.Typer) -> None:
    """Let all commands have the manners of the shell."""
    app.info.cls = ShellGroup
    for command in app.registered_commands:
        command.cls = ShellCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            speaks_shell(group.typer_instance)
