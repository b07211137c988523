"""Standard streams, progress, tables and charts in a terminal, and ``sourdine plot``."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from glob import glob
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Protocol

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from sourdine.errors import ExistingFileError, MissingExtraError, ParameterError, SourdineError
from sourdine.exact import given
from sourdine.results.figures import write_page
from sourdine.results.tables import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sourdine.results.tables import Sheet


# ---- Standard streams that cannot be written, on a full disk or a closed pipe --------------------
#
# Python flushes them once more at its end, and if that fails exits with a status of its own: so a
# stream that has failed gives way to one that takes everything.


class UnprintedError(SourdineError):
    """An answer that was paid for could not be printed."""


class Terminal(Console):
    """Standard output as a person sees it; where nobody reads any more, nothing is printed."""

    def on_broken_pipe(self) -> None:
        give_up()


def say(text: str, *, wraps: bool = False) -> None:
    """Print a sentence on standard error; one with a path in it stays on one line."""
    Terminal(stderr=True).print(text, highlight=False, markup=False, soft_wrap=not wraps)


@contextmanager
def printing() -> Iterator[None]:
    """Print an answer to the end; say so if it cannot be, unless nobody reads any more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        give_up()
    except OSError as error:
        give_up()
        raise UnprintedError(f"the answer could not be printed: {error.strerror}.") from None


def give_up() -> None:
    """Drop what standard output still holds, and whatever comes."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


def complain(text: str) -> None:
    """Print on standard error, if it can be written."""
    try:
        typer.echo(f"sourdine: {printable(text)}", err=True)
    except OSError:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


# ---- Files that are read and written -------------------------------------------------------------


@contextmanager
def using(path: object, done: str = "written") -> Iterator[None]:
    """Say which file could not be written, or read."""
    try:
        yield
    except OSError as error:
        raise SourdineError(f"{path} could not be {done}: {error.strerror}.") from None


def require_new(path: Path) -> None:
    """Refuse to overwrite a file."""
    if path.exists():
        raise ExistingFileError("out", "be a new file", str(path), "Choose another name.")


def save(path: Path, content: bytes | str, name: str = "out", *, overwrite: bool) -> None:
    """Write a file, which may exist only if it is to be overwritten."""
    if path.exists() and not overwrite:
        raise ExistingFileError(
            name, "be a new file", str(path), "Choose another name, or use {overwrite}.",
            overwrite=True,
        )  # fmt: skip
    with using(path):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


# ---- A bar for a person who waits while a large file is read -------------------------------------


LARGE = 20_000_000
"""A bar is drawn for files of at least this many bytes."""
EVERY = 0.2
"""Seconds between two looks at what is done."""


@contextmanager
def progress_bar(file: str, *, spark: bool = False) -> Iterator[None]:
    """Draw which part of a large file has been read, or of Spark's work, if a person watches."""
    terminal = Terminal(stderr=True)
    size = sum(Path(path).stat().st_size for path in glob(file))  # noqa: PTH207 - it may be absolute
    if not terminal.is_terminal or (size < LARGE and not spark):
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=terminal, transient=True) as bar:
        stop = Event()
        reading = "Spark" if spark else f"reading {size / 1e6:,.0f} MB"
        watcher = Thread(target=_watch, args=(bar, reading, stop))
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


def _watch(bar: Progress, text: str, stop: Event) -> None:
    from sourdine.frames.duck import progress

    task = bar.add_task(text, total=None)
    while not stop.wait(EVERY):
        spark = sys.modules.get("sourdine.frames.spark.opening")
        seen = None if spark is None else spark.progress()
        part = progress() if seen is None else seen[1]
        if part is not None:
            said = text if seen is None else f"Spark: {seen[0]}"
            bar.update(task, total=1.0, completed=part, description=said)


# ---- Pictures of releases and plans: png, svg, or a page that needs no network -------------------


ENDINGS = (".png", ".svg", ".pdf", ".html")


class Drawn(Protocol):
    """What can be drawn: a release or a plan."""

    def plot(self, *, path: str | None = None, title: str | None = None) -> Any:
        """Return a figure."""

    def _repr_html_(self) -> str: ...


def check(path: str | None, option: str = "--plot") -> None:
    """Refuse a path that cannot be drawn to, before anything is spent."""
    if path is None:
        return
    if Path(path).suffix.lower() not in ENDINGS:
        raise ParameterError(
            option, "end in .png, .svg, .pdf or .html", given(path), f"Use {option} picture.png."
        )
    if not Path(path).absolute().parent.is_dir():
        raise ParameterError(
            option, "be in an existing folder", given(path), "Create the folder first."
        )
    try:
        import matplotlib  # noqa: F401, ICN001 - a broken one is noticed before anything is charged
    except ImportError:
        raise MissingExtraError.of("plot") from None


def draw(what: Drawn, path: str | None, **options: Any) -> None:
    """Draw to a file, if there is one; its ending says how."""
    if path is None:
        return
    with using(path):
        figure = what.plot(**options)
        if Path(path).suffix.lower() == ".html":
            write_page(figure, path, what=what, title=options.get("title"))
        else:
            figure.savefig(path)


# ---- What the commands print and draw ------------------------------------------------------------


TYPE = "type"
"""The note that says what to type."""


class Printed(Protocol):
    """An answer: JSON for programs, and a sheet for people."""

    def to_json(self) -> str:
        """Return the answer as JSON."""

    def sheet(self) -> Sheet:
        """Return the answer as a table with notes."""


def show(found: Printed, *, as_json: bool) -> None:
    """Print an answer; estimates have a sheet for each column."""
    if as_json:
        print(found.to_json())
        return
    for sheet in found.sheets() if hasattr(found, "sheets") else [found.sheet()]:
        print_sheet(Terminal(), sheet)


def print_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of texts; numbers keep their digits whole."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        table.add_column(Text(printable(head)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    wide = 2 + sum(max(map(len, texts)) + 3 for texts in zip(heads, *rows, strict=True))
    narrow = console.width
    console.width = max(narrow, wide)
    console.print(table, crop=False)
    console.width = narrow


def print_sheet(console: Console, sheet: Sheet) -> None:
    """Print a sheet: its table and its notes."""
    if sheet.title is not None:
        console.print(sheet.title, style="bold", highlight=False, markup=False)
    for part in sheet.pages(gap=3):
        lines = [[line[i] for i in part] for line in sheet.lines]
        print_table(console, [sheet.heads[i] for i in part], lines)
    notes(console, sheet.notes)


def notes(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print what is known of the answer, a line each."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in facts:
        if name != TYPE:
            table.add_row(Text(name), Text(printable(text)))
    console.print(table)
    for name, text in facts:
        if name == TYPE:  # to be copied, so it stays one line
            console.print(Text.assemble((f"{name}  ", "dim"), text), soft_wrap=True)


# ---- ``sourdine plot``: a picture of what was saved as JSON --------------------------------------


def run(file: Path, out: Path) -> None:
    """Draw what a file holds as JSON."""
    check(str(out), "--out")
    found, title = _saved(file)
    draw(found, str(out), **({"title": title} if title else {}))
    say(f"Plot: {out}")


def _saved(file: Path) -> tuple[Any, str | None]:
    """Return what can be drawn, and a title where it has none of its own."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        with using(file, "read"):
            facts = json.loads(file.read_text(encoding="utf-8"))
        for kind, parts in KINDS.items():
            if parts <= facts.keys():
                return _rebuilt(kind, facts), file.stem if kind == "estimates" else None
    *first, last = KINDS
    must = f"hold {', '.join(first)} or {last}, as --json printed it"
    hint = "Save one with sourdine mean ... --json > release.json."
    raise ParameterError("file", must, str(file), hint)


def _rebuilt(kind: str, facts: Mapping[str, Any]) -> Any:
    if kind == "a plan":
        from sourdine.plan import Plan
        from sourdine.questions import read

        return Plan(question=read({**facts["question"], "confidence": facts["confidence"]}))
    module, name = READERS[kind]
    return getattr(import_module(f"sourdine.{module}"), name).from_dict(facts)


KINDS = {
    "a release": {"value", "cost", "question", "drawn"},
    "a plan": {"question", "confidence", "error"},
    "estimates": {"estimates", "cost"},
    "a density": {"mass", "spread", "bounds"},
}
"""What can be drawn, and what its JSON has."""
READERS = {
    "a release": ("answers", "Release"),
    "estimates": ("local.table.estimates", "SavedEstimates"),
    "a density": ("local.densities.density", "Density"),
}
"""The class that reads it."""
