"""``sourdine lab``: figures of the documents redrawn, claims judged."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sourdine.cli.output import complain
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.progress import Progress

    from sourdine_lab.claims.claim import Claim, Judged
    from sourdine_lab.concordance import Entry
    from sourdine_lab.experiment import Experiment
    from sourdine_lab.page import ShownFigure
    from sourdine_lab.runner import Runner

__all__ = ["lab"]

lab = typer.Typer(
    no_args_is_help=True,
    help="Reproduce the figures and check the claims of the papers behind Sourdine.\n\n"
    "Claims are identified by a letter and a number: C Canesse 2022, A Audibert 2024, L Couchot "
    "2023, W Dubois, Butucea, Kroll and Saumard 2019, S Stemmer's lecture 9.",
    epilog="Examples:\n\n$ sourdine lab list\n\n$ sourdine lab run canesse-4 --quick\n\n"
    "$ sourdine lab run canesse-4 --set epsilon=0.1 --set 'law=beta(2,5)'\n\n"
    "$ sourdine lab where RecExp\n\n$ sourdine lab claims canesse",
)

Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The output folder. Defaults to lab-report, or lab-report-quick.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Use small settings that run in seconds.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another value of a setting; sourdine lab list NAME shows them. May be repeated.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", help="The random seed.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="NUMBER",
        min=1,
        help="The number of processes. Defaults to one per core.",
    ),
]


@lab.command(name="list")
def list_all(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An experiment, to list its settings.")
    ] = None,
) -> None:
    """List all experiments, or the settings of one."""
    from sourdine_lab.registry import all_experiments, chosen

    if name is not None:
        for experiment in chosen([name]):
            _print_settings(experiment)
        return
    rows = [(e.name, " ".join(e.ids), e.title) for e in all_experiments().values()]
    _print_words(("experiment", "rows", "what it shows"), rows)


def _print_settings(experiment: Experiment) -> None:
    from sourdine_lab.settings import values, written

    quick = values(experiment.settings, quick=True)
    typer.echo(f"{experiment.name}: {experiment.title}. {experiment.question}\n")
    rows = [
        (
            one.name,
            written(one.default),
            "" if quick[one.name] == one.default else written(quick[one.name]),
            one.meaning,
            f"must {one.kind.must}",
        )
        for one in experiment.settings
    ]
    _print_words(("setting", "default", "with --quick", "meaning", "values"), rows)
    if rows:
        name, default, *_ = rows[0]
        typer.echo(f"Change one: sourdine lab run {experiment.name} --set '{name}={default}'")


@lab.command()
def run(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAMES", help="Experiments, claims, or words of a document."),
    ],
    *,
    quick: Quick = False,
    settings: Set = None,
    out: Out = None,
    seed: Seed = 1,
    workers: Workers = None,
) -> None:
    """Run experiments by name, claim (C11) or word ('figure 12'), and write run.html.

    Claims given by number are checked too. Earlier results are reused. A run with --set or
    --seed writes to a folder of its own inside the output folder.
    """
    from sourdine_lab.claims import verdicts
    from sourdine_lab.registry import chosen

    experiments = chosen(names, rows=verdicts.ROWS)
    rows = {name.upper() for name in names} & set(verdicts.ROWS)
    claims = verdicts.chosen(rows) if rows else []
    given = _given(settings or [], experiments)
    folder = _written(
        experiments, claims, "run", out, quick=quick, seed=seed, workers=workers, given=given
    )
    for row in sorted(rows - {row for e in experiments for row in e.ids}):
        typer.echo(f"No figure shows {row}; its claims are in {folder / 'run.html'}.")


@lab.command(name="all")
def run_all(
    *, quick: Quick = False, out: Out = None, seed: Seed = 1, workers: Workers = None
) -> None:
    """Run all experiments, check all claims, and write lab.html.

    An interrupted run resumes.
    """
    from sourdine_lab.claims import verdicts
    from sourdine_lab.registry import all_experiments

    experiments, claims = list(all_experiments().values()), verdicts.chosen([])
    _written(experiments, claims, "lab", out, quick=quick, seed=seed, workers=workers)


@lab.command()
def claims(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORDS",
            help="Claims (C5, C5b), documents (canesse), sections, theorems, figures or "
            "algorithms. Defaults to all.",
        ),
    ] = None,
    *,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Run each check once, not twice with the forms exchanged."),
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Record the verdicts for comparison in later runs.")
    ] = False,
    out: Out = None,
    workers: Workers = None,
) -> None:
    """Check the claims of the papers against computed results.

    Rows appear as they are judged. An interrupted run resumes. Exits with status 1 if a verdict
    differs from the recorded one, or if it does not change when the printed and the alternative
    form of a claim are exchanged.
    """
    from sourdine_lab.claims import verdicts

    chosen = verdicts.chosen(words or [])
    folder = _folder(out or Path("lab-report"), "claims") / "claims"
    try:
        with _bar() as bar:
            judged = _judged(chosen, bar, workers, quick=quick, folder=folder, show=True)
    except KeyboardInterrupt:
        complain("stopped. The same command goes on with what is missing.")
        raise typer.Exit(130) from None
    if record:
        verdicts.record(judged)
    typer.echo(f"\n{verdicts.counted(judged)}.")
    troubles = verdicts.troubles(judged)
    for trouble in troubles:
        typer.echo(trouble, err=True)
    if troubles:
        raise typer.Exit(1)


@lab.command()
def where(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORDS",
            help="A section (3.4.1.2), theorem, figure ('figure 12'), algorithm (RecExp), row (C5) "
            "or document (canesse).",
        ),
    ],
) -> None:
    """Show where the statements, figures and algorithms of the papers are in Sourdine."""
    from sourdine_lab import concordance
    from sourdine_lab.claims import verdicts

    known = verdicts.recorded()
    for word in words:
        for entry in concordance.found(word):
            _print_entry(entry, known)


def _print_entry(entry: Entry, verdicts: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    place = f", {entry.place}" if entry.place else ""
    console.print(Text(f"{entry.document.capitalize()}{place}: {entry.name}", "bold"))
    pairs = (
        ("says", entry.statement),
        ("as printed", ", ".join(entry.printed)),
        ("corrected", ", ".join(entry.corrected)),
        ("use", entry.use),
        ("figures", ", ".join(f"sourdine lab run {name}" for name in entry.figures)),
        ("verdicts", ", ".join(f"{row} {verdicts.get(row, 'not judged')}" for row in entry.claims)),
    )
    grid = Table.grid(padding=(0, 2, 0, 2))
    for name, value in pairs:
        if value:
            grid.add_row(Text(name, "dim"), Text(value))
    console.print(grid)
    console.print()


def _print_words(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of sentences, which may run over several lines; the first column may not."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for i, head in enumerate(heads):
        table.add_column(Text(head), no_wrap=i == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def _given(settings: list[str], experiments: list[Experiment]) -> dict[str, object]:
    """Return the settings that were typed, each checked with every experiment."""
    given: dict[str, object] = {}
    for one in settings:
        name, equals, value = one.partition("=")
        if not (name.strip() and equals):
            raise ParameterError(
                f"--set must be like epsilon=0.1, got {one!r}. Use --set epsilon=0.1."
            )
        if name.strip() in given:
            raise ParameterError(f"--set {name.strip()} is given twice. Use it once.")
        given[name.strip()] = value.strip()
    for experiment in experiments:
        experiment.values(given)
    return given


def _short(where: str) -> str:
    return where.removeprefix("lab/src/sourdine_lab/")


def _written(
    experiments: list[Experiment],
    claims: list[Claim[Any]],
    name: str,
    out: Path | None,
    *,
    quick: bool,
    seed: int,
    workers: int | None,
    given: dict[str, object] | None = None,
) -> Path:
    """Run, judge and write a page of that name; return the folder."""
    from json import dumps

    from sourdine_lab.page import page
    from sourdine_lab.runner import Runner, folder_of

    whole = out or Path("lab-report-quick" if quick else "lab-report")
    marks = ({"quick": "yes"} if quick else {}) | ({"seed": seed} if seed != 1 else {})
    own = whole / folder_of({**(given or {}), **marks}) if given or seed != 1 else whole
    folder = _folder(own, "figures", "numbers")
    runner = Runner(whole / "parts", quick=quick, seed=seed, workers=workers, given=given or {})
    try:
        with _bar() as bar:
            shown = _drawn(experiments, runner, folder, bar) if experiments else []
            kept = whole / "claims"
            judged = _judged(claims, bar, workers, quick=quick, folder=kept) if claims else []
    except KeyboardInterrupt:
        complain("stopped. The same command goes on with what is missing.")
        raise typer.Exit(130) from None
    if name == "lab":
        facts = [one.facts for one in judged]
        text = dumps(facts, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "claims.json").write_text(f"{text}\n", "utf-8")
    path = folder / f"{name}.html"
    path.write_text(page(shown, judged, quick=quick, seed=seed), "utf-8")
    parts = {"figure": len(shown), "claim": len(judged)}
    made = ", ".join(_count(number, name) for name, number in parts.items() if number)
    typer.echo(f"{made}: open {path}")
    return folder


def _folder(out: Path, *inside: str) -> Path:
    """Return the folder, made and ready; refuse before anything is computed."""
    needed = {"matplotlib": "matplotlib", "igraph": "igraph", "sklearn": "scikit-learn"}
    missing = [name for module, name in needed.items() if find_spec(module) is None]
    if missing:
        raise SourdineError(
            f"the lab needs {' and '.join(missing)}, which must be installed. "
            "In the checkout, type pip install . ./lab."
        )
    try:
        for name in inside:
            (out / name).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=out):
            return out
    except OSError as error:
        raise ParameterError(
            f"--out must be a folder that can be written, got {str(out)!r}: {error.strerror}. "
            "Type --out lab-report."
        ) from None


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _drawn(
    experiments: list[Experiment],
    runner: Runner,
    out: Path,
    bar: Progress,
) -> list[ShownFigure]:
    from sourdine_lab.page import ShownFigure

    sizes = {e.name: len(runner.parts(e)) for e in experiments}
    task = bar.add_task("figures", total=sum(sizes.values()))
    there: dict[str, int] = {}

    def done(experiment: Experiment, parts: int, _: int) -> None:
        there[experiment.name] = parts
        bar.update(task, description=experiment.name, completed=sum(there.values()))

    shown = {}
    for experiment, table in runner.run(experiments, done):
        table.save(out / "numbers" / f"{experiment.name}.csv")
        settings = runner.settings(experiment)
        one = ShownFigure(experiment, experiment.figure(table, settings), settings)
        shown[experiment.name] = one
        one.save(out / "figures")
    bar.update(task, description="figures")
    return [shown[e.name] for e in experiments]


def _judged(
    claims: list[Claim[Any]],
    bar: Progress,
    workers: int | None,
    *,
    quick: bool = False,
    folder: Path | None = None,
    show: bool = False,
) -> list[Judged]:
    """Judge claims; ``show`` prints each, in their order, as soon as those before it are judged."""
    from sourdine_lab.claims import verdicts

    task = bar.add_task("claims", total=len(claims))
    ready: dict[str, Judged] = {}
    order = iter(claims)
    next_one = next(order, None)

    def done(one: Judged) -> None:
        nonlocal next_one
        bar.advance(task)
        ready[one.claim.id] = one
        while show and next_one is not None and next_one.id in ready:
            _print_judged(ready[next_one.id])
            next_one = next(order, None)

    return verdicts.judge(claims, done, workers=workers, quick=quick, folder=folder)


def _print_judged(one: Judged) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(width=5)
    row.add_column(width=10)
    row.add_column(overflow="fold")
    row.add_row(one.claim.id, one.verdict.value, Text(one.claim.statement, "bold"))
    if one.claim.quote:
        row.add_row("", "", Text(f"«{one.claim.quote}»", "italic"))
    row.add_row("", "", Text(one.words))
    row.add_row("", "", Text(_short(one.where), "dim"))
    Console().print(row)


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    words = TextColumn("{task.description:<24}")
    counted = (MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(words, BarColumn(), *counted, console=Console(stderr=True))
