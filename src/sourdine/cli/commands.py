"""The commands that publish or plan a statistic: their words, options and examples."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sourdine.central import Describe
from sourdine.cli import options as o
from sourdine.cli.options import Option, command
from sourdine.question import parameters
from sourdine.questions import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

    from sourdine.central import Statistic

__all__ = ["add_local", "add_plans", "add_statistics"]

RELEASED = (
    "The file never leaves this machine. What is printed may be published: one person's data "
    "changes the odds of any answer by a factor of at most e^epsilon."
)
PLANNED = (
    "Nothing is spent and no data is read: give --epsilon or --error and read the other. With "
    "--ledger and neither of them, the plan is for everything that is left."
)


RELEASING = (
    *(o.LEDGER, o.TOTAL, o.TOTAL_DELTA, o.TOTAL_RHO, o.RESERVE, o.NAME, o.NO_KEEP),
    *(o.JSON, o.PLOT),
)
PLANNING = (o.JSON, o.PLOT)
SHORTCUTS = {"quantiles": (o.DECILES, o.QUARTILES)}
"""Flags that stand for the values of a parameter."""


def add_statistics(app: typer.Typer) -> None:
    """Add a command for each statistic."""
    every: dict[str, type[Statistic]] = {**STATISTICS, Describe.kind: Describe}
    for name, cls in every.items():
        options = (o.FILE, o.ENGINE, o.MASTER, *_declared(cls), *o.READING, *RELEASING)
        release, plan = cls.examples
        planned = (f"sourdine plan {name} {plan}",) if plan else ()
        examples = (f"sourdine {name} {release}", *planned)
        _add(app, cls, RELEASED, options, examples, _lazily("statistics", cls))


def add_plans(app: typer.Typer) -> None:
    """Add a command that plans each statistic."""
    for name, cls in STATISTICS.items():
        example = f"sourdine plan {name} {cls.examples[1]}"
        examples = (example, f"{example} --ledger people.ledger")
        options = (*_declared(cls), o.PLANNED_LEDGER, *PLANNING)
        _add(app, cls, PLANNED, options, examples, _lazily("plan", cls))


def _declared(cls: type[Statistic]) -> tuple[Option, ...]:
    return (*SHORTCUTS.get(cls.kind, ()), *(o.declared(p) for p in parameters(cls) if p.kind.words))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCommand:
    """A command that reads a table: what it does, what to know, its options and an example."""

    name: str
    text: str
    more: str
    options: tuple[Option, ...]
    example: str
    module: str = "tables"


LOCAL = (
    LocalCommand(
        name="check",
        text="For the curator alone: what is unreadable in a file, and what to declare.",
        more="What it prints is read off the data and must not be published. It costs nothing and "
        "no ledger hears of it.",
        options=(o.FILE, o.UNIT, *o.READING),
        example="people.csv --unit patient",
    ),
    LocalCommand(
        name="schema",
        text="Begin a schema: the names of a table's columns, with gaps to fill in.",
        more="The types of a Parquet file are used. Those of a CSV file would have to be guessed "
        "from its values, so there every kind is left open.",
        options=(o.FILE, o.NEW_SCHEMA, *o.READING),
        example="survey.csv -o schema.toml",
    ),
    LocalCommand(
        name="sanitize",
        text="Randomise every record of a table on its own, under a schema.",
        more="The output has the same columns and may be given away; each time the same records "
        "are sanitised, they cost epsilon again.",
        options=(o.FILE, o.SCHEMA, o.OUT, o.OVERWRITE, o.DROP, o.ENGINE, o.MASTER, *o.READING),
        example="survey.csv --schema schema.toml -o clean.csv",
    ),
    LocalCommand(
        name="estimate",
        text="Shares, means and quartiles from a sanitised table, with intervals.",
        more="Costs nothing: the table was paid for when it was sanitised. The file carries its "
        "schema, or has it beside it; one that was not sanitised is refused.",
        options=(o.FILE, o.SCHEMA_CARRIED, o.PAIR, o.UNMARKED, o.JSON, o.PLOT),
        example="clean.csv --pair age,vote --plot survey.png",
    ),
    LocalCommand(
        name="report",
        text="Randomise one person's answers, and print the report to be sent.",
        more="Run it where the person is. Answers are typed, or come as a JSON object on standard "
        "input (of several people, one in each line); a question left out is an absent answer.",
        options=(o.ANSWER, o.SCHEMA, o.MEMORY, o.ROUND),
        example="--schema schema.toml --answer age=31 --answer vote=yes",
        module="reporting",
    ),
    LocalCommand(
        name="collect",
        text="Count reports as they come, and estimate from all of them.",
        more="Whatever is malformed, foreign or sent twice is dropped and said. With --aggregate "
        "the counts are kept in a file, and the next reports are added to them.",
        options=(o.REPORTS, o.SCHEMA, o.ROUND, o.AGGREGATE, o.PAIR, o.JSON, o.PLOT),
        example="monday.jsonl --schema schema.toml --aggregate total.aggregate",
        module="reporting",
    ),
    LocalCommand(
        name="density",
        text="The density of a column whose values are each randomised on their own.",
        more="Every value is randomised before it is looked at; epsilon is what each person "
        "spends.",
        options=(o.FILE, o.COLUMN, o.BOUNDS, o.EPSILON, o.METHOD, o.LOSS, *o.READING, *PLANNING),
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
    def run(**given: Any) -> None:  # noqa: ANN401
        getattr(import_module(f"sourdine.cli.{each.module}"), each.name)(given)

    return run


def _add(  # noqa: PLR0913, PLR0917 - one call of typer's
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


def _lazily(module: str, cls: type[Statistic]) -> Callable[..., None]:
    """Return what runs a command; its module is loaded when it is."""

    def run(**given: Any) -> None:  # noqa: ANN401
        import_module(f"sourdine.cli.{module}").run(cls, given)

    return run
