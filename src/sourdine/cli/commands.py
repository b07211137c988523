"""The commands that publish or plan a statistic: their words, options and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.cli import options as o
from sourdine.cli.options import Option, command

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

__all__ = ["add_local", "add_plans", "add_statistics"]

GROUPS = (o.BY, o.KEYS)
NUMBERS = (o.COLUMN, o.BOUNDS, o.STEP)
SPENDING = (o.EPSILON, o.ERROR, o.N)
PERSONS = (o.RELATION, o.UNIT, o.ROWS)
RELEASING = (*SPENDING, *PERSONS, o.LEDGER, o.TOTAL, o.TOTAL_DELTA, o.JSON, o.PLOT)
PLANNING = (o.N, o.EPSILON, o.ERROR, o.CONFIDENCE, *PERSONS, o.JSON, o.PLOT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A statistic as a person types it."""

    name: str
    text: str
    own: tuple[Option, ...]
    data: str
    plan: str


COMMANDS = (
    Command(
        name="count",
        text="How many records there are, or how many have a value in a column.",
        own=(o.COLUMN, *GROUPS),
        data="people.csv --epsilon 0.1",
        plan="--error 100",
    ),
    Command(
        name="sum",
        text="The sum of a column.",
        own=(*NUMBERS, *GROUPS),
        data="visits.parquet -c cost --bounds 0 5000 --step 1 --unit patient --rows 3 --epsilon 1",
        plan="--bounds 0 5000 --step 1 --epsilon 1",
    ),
    Command(
        name="mean",
        text="The mean of a column.",
        own=(*NUMBERS, *GROUPS, o.METHOD, o.DELTA),
        data="people.csv -c salary --bounds 0 500000 --step 1 --epsilon 0.5",
        plan="--bounds 0 500000 --n 100000 --error 100",
    ),
    Command(
        name="variance",
        text="The variance of a column.",
        own=(*NUMBERS, *GROUPS),
        data="people.csv -c age --bounds 0 120 --step 1 --epsilon 0.5",
        plan="--bounds 0 120 --n 100000 --epsilon 0.5",
    ),
    Command(
        name="proportion",
        text="The share of ones in a column, or of records in a category.",
        own=(o.COLUMN, o.CATEGORY, *GROUPS),
        data="survey.csv -c vote --category yes --epsilon 0.2",
        plan="--n 5000 --error 0.01",
    ),
    Command(
        name="histogram",
        text="Counts by bins of numbers, or by categories.",
        own=(o.COLUMN, o.BINS, o.BOUNDS, o.CATEGORIES, *GROUPS, o.DELTA),
        data="people.csv -c age --bins 12 --bounds 0 120 --epsilon 0.5 --plot ages.png",
        plan="--bins 12 --bounds 0 120 --error 20",
    ),
    Command(
        name="quantiles",
        text="Quantiles of a column: medians, quartiles, deciles, or any orders.",
        own=(*NUMBERS, o.QUANTILES, o.DECILES, o.QUARTILES, *GROUPS, o.INTERVAL, o.METHOD),
        data="people.csv -c salary --bounds 0 500000 --step 1 --deciles --epsilon 1",
        plan="--bounds 0 500000 --q 0.5 --n 100000 --error 0.005",
    ),
)

RELEASED = (
    "The file never leaves this machine. What is printed may be published: one person's data "
    "changes the odds of any answer by a factor of at most e^epsilon."
)
PLANNED = "Nothing is spent and no data is read: give --epsilon or --error and read the other."


def add_statistics(app: typer.Typer) -> None:
    """Add a command for each statistic."""
    for each in COMMANDS:
        examples = (f"sourdine {each.name} {each.data}", f"sourdine plan {each.name} {each.plan}")
        _add(app, each, RELEASED, (o.FILE, *each.own, *RELEASING), examples, _releasing(each.name))


def add_plans(app: typer.Typer) -> None:
    """Add a command that plans each statistic."""
    for each in COMMANDS:
        own = tuple(option for option in each.own if option is not o.COLUMN)
        examples = (f"sourdine plan {each.name} {each.plan}",)
        _add(app, each, PLANNED, (*own, *PLANNING), examples, _planning(each.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCommand:
    """A command of local privacy: what it does, what to know, its options and an example."""

    name: str
    text: str
    more: str
    options: tuple[Option, ...]
    example: str


LOCAL = (
    LocalCommand(
        name="schema",
        text="Begin a schema: the names of a table's columns, with gaps to fill in.",
        more="The types of a Parquet file are used. Those of a CSV file would have to be guessed "
        "from its values, so there every kind is left open.",
        options=(o.FILE, o.NEW_SCHEMA),
        example="survey.csv -o schema.toml",
    ),
    LocalCommand(
        name="sanitize",
        text="Randomise every record of a table on its own, under a schema.",
        more="The output has the same columns and may be given away; each time the same records "
        "are sanitised, they cost epsilon again.",
        options=(o.FILE, o.SCHEMA, o.OUT, o.DROP),
        example="survey.csv --schema schema.toml -o clean.csv",
    ),
    LocalCommand(
        name="estimate",
        text="Shares, means and quartiles from a sanitised table, with intervals.",
        more="Costs nothing: the table was paid for when it was sanitised.",
        options=(o.FILE, o.SCHEMA, o.PAIR, o.JSON, o.PLOT),
        example="clean.csv --schema schema.toml --pair age,vote --plot survey.png",
    ),
    LocalCommand(
        name="density",
        text="The density of a column whose values are each randomised on their own.",
        more="Every value is randomised before it is looked at; epsilon is what each person "
        "spends.",
        options=(o.FILE, o.COLUMN, o.BOUNDS, o.EPSILON, o.METHOD, o.LOSS, o.JSON, o.PLOT),
        example="people.csv -c salary --bounds 0 200000 --epsilon 1 --plot density.png",
    ),
)


def add_local(app: typer.Typer) -> None:
    """Add the commands of local privacy."""
    for each in LOCAL:
        epilog = f"Example:\n\n$ sourdine {each.name} {each.example}"
        app.command(
            each.name, help=f"{each.text}\n\n{each.more}", short_help=each.text, epilog=epilog
        )(command(_local(each.name), each.options))


def _local(name: str) -> Callable[..., None]:
    def run(**given: Any) -> None:  # noqa: ANN401
        from sourdine.cli import tables  # noqa: PLC0415 - commands load what they need

        getattr(tables, name)(given)

    return run


def _add(  # noqa: PLR0913, PLR0917 - one call of typer's
    app: typer.Typer,
    each: Command,
    promise: str,
    options: tuple[Option, ...],
    examples: tuple[str, ...],
    run: Callable[..., None],
) -> None:
    epilog = "Examples:\n\n" + "\n\n".join(f"$ {line}" for line in examples)
    app.command(
        each.name, help=f"{each.text}\n\n{promise}", short_help=each.text, epilog=epilog
    )(command(run, options))  # fmt: skip


def _releasing(name: str) -> Callable[..., None]:
    def run(**given: Any) -> None:  # noqa: ANN401
        from sourdine.cli.statistics import run  # noqa: PLC0415 - commands load what they need

        run(name, given)

    return run


def _planning(name: str) -> Callable[..., None]:
    def run(**given: Any) -> None:  # noqa: ANN401
        from sourdine.cli.plan import run  # noqa: PLC0415 - commands load what they need

        run(name, given)

    return run
