"""``sourdine``: the commands of the shell, and those that plugins add."""

from __future__ import annotations

import sys
from copy import copy
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.main import get_command_name

from sourdine.cli import options as own
from sourdine.cli.guard import guard
from sourdine.cli.options import argument, command, declared, flag, option, speaks_shell
from sourdine.cli.output import complain, give_up
from sourdine.cli.serve import serve
from sourdine.cli.survey import survey
from sourdine.errors import BudgetExceededError, SourdineError
from sourdine.parameters.question import parameters
from sourdine.questions import QUESTIONS, STATISTICS
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.models import CommandInfo


# ---- Commands that other distributions add: entry points of the group ``sourdine.commands`` ------
#
# Each names a Typer app, which becomes ``sourdine NAME``. The library's own commands keep theirs.


GROUP = "sourdine.commands"
APART = {"lab": "sourdine-lab"}
"""Commands that the manual speaks of, with the distribution that adds each."""


def add_plugins(app: typer.Typer) -> None:
    """Add what installed distributions offer to all commands of the library's own.

    A command that cannot be had says why.
    """
    taken = {group.name for group in app.registered_groups}
    taken |= set(map(_name, app.registered_commands))
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(found.items()):
        if name in taken:
            continue
        try:
            app.add_typer(_loaded(entry), name=name)
        except Exception as error:  # noqa: BLE001 - another's code must not stop ours
            why = f"{type(error).__name__}: {error}"
            _add_absent(app, name, f"sourdine {name} cannot be loaded from {entry.value}: {why}.")
    for name, distribution in APART.items():
        if name not in found:
            hint = f"in the checkout, run pip install . ./{name}"
            _add_absent(app, name, f"sourdine {name} comes with {distribution}: {hint}.")


def _name(command: CommandInfo) -> str:
    return command.name or get_command_name(getattr(command.callback, "__name__", ""))


def _loaded(entry: EntryPoint) -> typer.Typer:
    loaded = entry.load()
    if not isinstance(loaded, typer.Typer):
        raise TypeError(f"it must be a typer.Typer, got {type(loaded).__name__}")
    return loaded


def _add_absent(app: typer.Typer, name: str, text: str) -> None:
    def say() -> None:
        raise SourdineError(text)

    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, hidden=True, add_help_option=False, context_settings=anything)(say)


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
    *(own.LEDGER, own.TOTAL, own.TOTAL_DELTA, own.TOTAL_RHO, own.RESERVE, own.NAME, own.NO_KEEP),
    *(own.JSON, own.PLOT),
)
PLANNING = (own.JSON, own.PLOT)
SHORTCUTS = {"quantiles": (own.DECILES, own.QUARTILES)}
"""Flags that stand for the values of a parameter."""


def add_statistics(app: typer.Typer, plans: typer.Typer) -> None:
    """Add a command for each statistic, and one that plans it."""
    for name, cls in QUESTIONS.items():
        asked = (
            *SHORTCUTS.get(name, ()),
            *(declared(each) for each in parameters(cls) if each.kind.words),
        )
        release, plan = cls.examples
        release, plan = f"$ sourdine {name} {release}", f"$ sourdine plan {name} {plan}"
        options = (own.FILE, own.ENGINE, own.MASTER, *asked, *own.READING, *RELEASING)
        examples = f"Examples:\n\n{release}" + (f"\n\n{plan}" if cls.examples[1] else "")
        _add(app, name, (cls.text, RELEASED), options, examples, _lazily("statistics", "run", cls))
        if name in STATISTICS:
            options = (*asked, own.PLANNED_LEDGER, *PLANNING)
            examples = f"Examples:\n\n{plan}\n\n{plan} --ledger people.ledger"
            run = _lazily("statistics", "run_plan", cls)
            _add(plans, name, (cls.text, PLANNED), options, examples, run)


def _add(
    app: typer.Typer,
    name: str,
    texts: tuple[str, str],
    options: tuple[own.Option, ...],
    epilog: str,
    run: Callable[..., None],
) -> None:
    """Add a command; the first of its texts is listed, both are its help."""
    add = app.command(name, help="\n\n".join(texts), short_help=texts[0], epilog=epilog)
    add(command(run, options))


def _lazily(module: str, name: str, *first: object) -> Callable[..., None]:
    """Return what runs a command; its module is loaded when it is."""

    def run(**given: Any) -> None:
        getattr(import_module(f"sourdine.cli.{module}"), name)(*first, given)

    return run


class LocalCommand(NamedTuple):
    """A command that reads a table: what it does, what to know, its options and an example."""

    name: str
    text: str
    more: str
    options: tuple[own.Option, ...]
    example: str


LOCAL = (
    LocalCommand(
        "inspect",
        "Inspect a file for unreadable cells and formats to declare (for the curator only).",
        "The output is not private and must not be published. It costs no privacy budget and is "
        "not recorded in any ledger.",
        (own.FILE, own.UNIT, *own.READING),
        "people.csv --unit patient",
    ),
    LocalCommand(
        "schema",
        "Write a schema template with the names of a table's columns.",
        "The types of a Parquet file are used. The types of a CSV file would have to be guessed "
        "from its values, so they are left for you to fill in.",
        (own.FILE, own.NEW_SCHEMA, *own.READING),
        "survey.csv -o schema.toml",
    ),
    LocalCommand(
        "sanitize",
        "Randomise every record of a table independently, according to a schema.",
        "The output has the same columns and may be shared. Sanitising the same records again "
        "costs epsilon again.",
        (*(own.FILE, own.SCHEMA, own.OUT, own.OVERWRITE, own.DROP, own.WHERE, own.ENGINE),
         own.MASTER, *own.READING),
        "survey.csv --schema schema.toml -o clean.csv",
    ),
    LocalCommand(
        "estimate",
        "Estimate shares, means and quartiles from a sanitised table, with intervals.",
        "This costs no further epsilon. The schema is read from the file itself or from a file "
        "next to it; a file that was not sanitised is refused.",
        (own.FILE, own.SCHEMA_CARRIED, own.PAIR, own.UNMARKED, own.JSON, own.PLOT),
        "clean.csv --pair age,vote --plot survey.png",
    ),
    LocalCommand(
        "report",
        "Randomise one person's answers and print the report to send.",
        "Run this on the person's own device. Answers are given as options, or as JSON objects on "
        "standard input, one per line and person. An omitted question counts as unanswered.",
        (own.ANSWER, own.SCHEMA, own.MEMORY, own.ROUND),
        "--schema schema.toml --answer age=31 --answer vote=yes",
    ),
    LocalCommand(
        "collect",
        "Aggregate reports, and estimate from all of them.",
        "Malformed, foreign and duplicate reports are dropped and counted. With --aggregate the "
        "counts are kept in a file, to which later reports are added.",
        (own.REPORTS, own.SCHEMA, own.ROUND, own.AGGREGATE, own.PAIR, own.JSON, own.PLOT),
        "monday.jsonl --schema schema.toml --aggregate total.aggregate",
    ),
    LocalCommand(
        "density",
        "Estimate the density of a column under local privacy.",
        "Every value is randomised independently before it is used; epsilon is the cost per "
        "person.",
        (*(own.FILE, own.COLUMN, own.BOUNDS, own.EPSILON, own.METHOD, own.LOSS), *own.READING,
         *PLANNING),
        "people.csv -c salary --bounds 0 200000 --epsilon 1 --plot density.png",
    ),
)  # fmt: skip


def add_local(app: typer.Typer) -> None:
    """Add the commands of local privacy."""
    for each in LOCAL:
        example = f"Example:\n\n$ sourdine {each.name} {each.example}"
        run = _lazily("tables", each.name)
        _add(app, each.name, (each.text, each.more), each.options, example, run)


# ---- ``sourdine``: what a person types in a terminal ---------------------------------------------


UNFORESEEN = 70
"""The exit status of an error that nobody foresaw: 1 would be a verdict."""

Releases = Annotated[list[int], option("NUMBER", "The number of releases. May be repeated.")]
ABOUT = option(
    "PATH",
    "A TOML file with further facts for the report: purpose, contact, legal basis and so on.",
)

app = typer.Typer(
    no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False,
    help="Differentially private statistics, each with its privacy cost and a confidence interval.",
    epilog="Examples:\n\n$ sourdine demo\n\n"
    "$ sourdine plan mean --bounds 0 120 --n 5000 --error 1\n\n"
    "$ sourdine mean people.csv -c age --bounds 0 120 --step 1 --epsilon 0.5",
)  # fmt: skip
plan = typer.Typer(
    no_args_is_help=True,
    help="Compute the cost or the error of a statistic in advance. Spends nothing, reads no data.",
)
add_statistics(app, plan)
add_local(app)
app.add_typer(plan, name="plan")
app.add_typer(guard, name="guard")
app.add_typer(survey, name="survey")
app.add_typer(serve, name="serve")


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        typer.echo(f"sourdine {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
        help="Print the version.")] = False,
) -> None:  # fmt: skip
    del version


@app.command()
def ledger(
    path: Annotated[Path, argument("LEDGER", "The ledger file.")],
    *,
    json: Annotated[bool, flag("--json", "Print only JSON.")] = False,
    report: Annotated[Path | None, option("PATH", "Write a report to this .html, .md or .json "
        "file.")] = None,
    about: Annotated[Path | None, ABOUT] = None,
) -> None:  # fmt: skip
    """Show the charges, the total and the remaining budget of a ledger.

    A report lists every release with its value, interval and cost, explains the guarantee for one
    person, and states what was checked, under the headings of NIST SP 800-226.
    """
    from sourdine.cli.ledger import run_ledger as run

    run(path, as_json=json, report=report, about=about)


@app.command()
def disclose(
    path: Annotated[Path | None, argument("LEDGER", "The ledger file.")] = None,
    *,
    out: Annotated[Path | None, option("PATH", "The entry, a YAML file. Printed by default.",
        "--out", "-o")] = None,
    about: Annotated[Path | None, ABOUT] = None,
    check: Annotated[Path | None, option("PATH", "Check an entry instead of writing one.")] = None,
    overwrite: Annotated[bool, flag("--overwrite", "Overwrite an existing file.")] = False,
) -> None:  # fmt: skip
    """Write or check an entry for the registry of deployments of differential privacy.

    Exits with status 1 if the checked entry would be refused.
    """
    from sourdine.cli.ledger import run_disclose as run

    raise typer.Exit(0 if run(path, out=out, about=about, check=check, overwrite=overwrite) else 1)


@app.command()
def explain(
    epsilon: Annotated[str, argument("EPSILON", "The epsilon of one release.")],
    *,
    delta: Annotated[str, option("NUMBER", "The delta of one release.")] = "0",
    releases: Releases = [1, 10, 100],  # noqa: B006 - typer copies it
    plot: Annotated[str | None, option("PATH", "Save a plot to this .png, .svg, .pdf or .html "
        "file.")] = None,
    json: Annotated[bool, flag("--json", "Print only JSON.")] = False,
) -> None:  # fmt: skip
    """Explain what an epsilon means for one person, in odds and probabilities. Reads no data."""
    from sourdine.cli.statistics import run_explain as run

    run(epsilon, delta, releases, plot=plot, as_json=json)


@app.command()
def plot(
    file: Annotated[Path, argument("FILE", "A file saved with --json: a release, a plan, estimates "
        "or a density.")],
    *,
    out: Annotated[Path | None, option("PATH", "The plot: a .png, .svg, .pdf or .html file.",
        "--out", "-o")] = None,
) -> None:  # fmt: skip
    """Plot a saved result. This costs no further epsilon."""
    from sourdine.cli.output import run

    run(file, out or file.with_suffix(".png"))


@app.command()
def audit(
    names: Annotated[list[str] | None, argument("NAMES", "The mechanisms to audit. Defaults to "
        "all.")] = None,
    *,
    thorough: Annotated[bool, flag("--thorough", "Run the whole conformance suite as well: draws "
        "for all inputs, releases one by one, error bounds. Takes several times as long.")] = False,
) -> None:  # fmt: skip
    """Audit every mechanism: exact worst case over all neighbours, and draws against the law.

    Prints a row for each as soon as it is judged, and uses all cores. Exits with status 1 if any
    mechanism breaks its claim.
    """
    from sourdine.cli.audit import run

    raise typer.Exit(0 if run(names or [], thorough=thorough) else 1)


@app.command()
def demo(out: Annotated[Path, option("FOLDER", "The folder for the plot.")] = Path("demo")) -> None:
    """Release the mean, deciles and a histogram of 247,696 wages under one epsilon, with a plot."""
    from sourdine.cli.demo import run

    run(out)


add_plugins(app)
speaks_shell(app)


def narrowed(app: typer.Typer, words: list[str]) -> typer.Typer:
    """Return an app with only the command that the words begin with; if none, the app itself.

    Typer reads the signature of every command it has, which takes longer than most commands.
    """
    name = words[0] if words else None
    own = copy(app)
    own.registered_commands = [one for one in app.registered_commands if _name(one) == name]
    own.registered_groups = [copy(one) for one in app.registered_groups if one.name == name]
    if not own.registered_commands and not own.registered_groups:
        return app
    for group in own.registered_groups:
        if group.typer_instance is not None:
            group.typer_instance = narrowed(group.typer_instance, words[1:])
    return own


def main() -> None:
    """Run the command line; an error is a sentence, not a traceback.

    The exit status is 2 for input that is refused, 3 where a ledger has too little left, 130 after
    Ctrl-C, and 70 for an error that nobody foresaw, whose text might hold a value of the data and
    is not shown.
    """
    try:
        narrowed(app, sys.argv[1:])()
    except SourdineError as error:
        complain(str(error))
        raise SystemExit(3 if isinstance(error, BudgetExceededError) else 2) from None
    except OSError as error:
        if error.filename is None:  # standard output itself
            give_up()
        complain(f"{error.filename or 'standard output'} could not be used: {error.strerror}.")
        raise SystemExit(2) from None
    except Exception as error:  # noqa: BLE001 - its text may hold a value
        complain(
            f"{type(error).__name__} at {_place(error)}, a bug in Sourdine. What was spent is "
            "in the ledger or the guard: look there before you ask again."
        )
        raise SystemExit(UNFORESEEN) from None


def _place(error: Exception) -> str:
    """Return file and line of the innermost frame of ours."""
    library = Path(__file__).parents[1]
    frames = [(Path(frame.filename), frame.lineno) for frame in extract_tb(error.__traceback__)]
    path, line = [frame for frame in frames if frame[0].is_relative_to(library)][-1]
    return f"{path.relative_to(library.parent)}:{line}"
