"""Every option of the command line, written once."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Option", "command"]

DATA, WHAT, PRIVACY, OUTPUT = "Data", "What to publish", "Privacy", "Output"


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
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
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
        help="A CSV or Parquet file; quote a pattern, as 'year-*.parquet'.", metavar="FILE"
    ),
    inspect.Parameter.empty,
)
COLUMN = _text(
    "column",
    "--column",
    "-c",
    panel=DATA,
    metavar="NAME",
    text="The column; not needed if there is only one.",
)
BOUNDS = Option(
    "bounds",
    tuple[str, str] | None,
    typer.Option(
        "--bounds",
        help="Public bounds, chosen without looking at the data: values outside count as the "
        "nearest bound. An age is within 0 and 120.",
        metavar="LOWER UPPER",
        rich_help_panel=WHAT,
    ),
)
STEP = _text(
    "step",
    panel=WHAT,
    metavar="NUMBER",
    text="The lattice of values, as 1 for whole numbers; about a millionth of the bounds if left "
    "out.",
)
EPSILON = _text(
    "epsilon",
    "--epsilon",
    "-e",
    panel=PRIVACY,
    metavar="NUMBER",
    text="What everything printed may cost in privacy, in total. Smaller is safer and less exact; "
    "0.1 to 1 is common.",
)
ERROR = _text(
    "error",
    panel=PRIVACY,
    metavar="NUMBER",
    text="Instead of --epsilon: the error to stay within (95 %); the smallest epsilon that reaches "
    "it is spent. Needs --n where the error depends on the number of records.",
)
N = _text(
    "n",
    panel=PRIVACY,
    metavar="COUNT",
    text="About how many records there are, from public knowledge.",
)
DELTA = _text(
    "delta",
    panel=PRIVACY,
    metavar="NUMBER",
    text="The probability with which the loss may pass epsilon; 0 for most methods.",
)
RELATION = _text(
    "relation",
    panel=PRIVACY,
    metavar="NAME",
    text="add_remove (the number of records is private too; the default) or substitute.",
)
UNIT = _text(
    "unit",
    panel=PRIVACY,
    metavar="NAME",
    text="The column that names a person, so that the promise is for persons, not records.",
)
ROWS = _text(
    "rows",
    panel=PRIVACY,
    metavar="COUNT",
    text="How many records of each person are used, with --unit; 1 if left out.",
)
BY = _text("by", panel=WHAT, metavar="NAME", text="One answer for each group of this column.")
KEYS = _text(
    "keys",
    panel=WHAT,
    metavar="A,B,...",
    text="The groups of --by: listed by you, for which groups occur is private.",
)
METHOD = _text(
    "method", panel=WHAT, metavar="NAME", text="The algorithm; chosen for you if left out."
)
QUANTILES = _text(
    "q", "--q", "-q", panel=WHAT, metavar="Q,Q,...", text="The orders, as 0.5 or 0.1,0.5,0.9."
)
DECILES = _flag("deciles", panel=WHAT, text="The nine orders 0.1 to 0.9.")
QUARTILES = _flag("quartiles", panel=WHAT, text="The three orders 0.25, 0.5 and 0.75.")
INTERVAL = _text(
    "interval",
    panel=WHAT,
    metavar="PROBABILITY",
    text="Spend part of epsilon on intervals of this confidence, as 0.95.",
)
BINS = _text(
    "bins",
    panel=WHAT,
    metavar="COUNT",
    text="How many bins of one width between the bounds; or their edges, as 0,18,65,120.",
)
CATEGORIES = _text(
    "categories",
    panel=WHAT,
    metavar="A,B,...",
    text="Count these values; or 'unknown' to name those that many records have (needs --delta).",
)
CATEGORY = _text(
    "category",
    panel=WHAT,
    metavar="VALUE",
    text="The value whose share is asked; without it the column holds zeros and ones.",
)
LEDGER = _text(
    "ledger",
    panel=PRIVACY,
    metavar="PATH",
    text="Charge this ledger before anything is drawn; what would pass its total is refused.",
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
    text="The ledger's total delta; 0 if left out.",
)
CONFIDENCE = _text(
    "confidence",
    panel=PRIVACY,
    metavar="PROBABILITY",
    text="With which probability the error holds; 0.95 if left out.",
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
LOSS = _text(
    "loss",
    panel=WHAT,
    metavar="NAME",
    text="What shall be small: l2, the squared error of the density (the default), or w1, the area "
    "between the distribution functions.",
)
JSON = _flag("json", panel=OUTPUT, text="Print JSON, and nothing else, on standard output.")
PLOT = _text(
    "plot",
    panel=OUTPUT,
    metavar="PATH",
    text="Draw a picture: a file that ends in png, svg or html.",
)
