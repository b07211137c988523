"""How long one person's report takes, and a filed report of 660 releases.

One person reports on twelve questions, once the form is loaded. Beside it: to load the form (to
make the mechanisms of the schema), to draw the reports of a thousand people at once, and to read
the lines back. The filed report is a page of releases of all kinds, with a picture of each that has
several numbers; beside it, the same without pictures, and the answers read back alone. The exit
status is 1 if one person's report takes 10 milliseconds or more, or the page 3 seconds.
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table

from sourdine import Session
from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
from sourdine.local.reports.records import to_lines
from sourdine.local.reports.sources import records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.reports.report import FiledReport

ROUNDS = 200
PEOPLE = 1000
MOST = 10.0
COLUMNS: dict[str, Any] = {
    **{f"choice {i}": Choice(*"abcde") for i in range(4)},
    **{f"number {i}": Number(0, 100, step=1) for i in range(4)},
    **{f"flag {i}": Flag(missing=bool(i)) for i in range(2)},
    **{f"several {i}": Choices("tv", "web", "radio", "print") for i in range(2)},
}
ANSWERS = {"c": "a", "n": 30, "f": True, "s": "tv;web"}
RELEASES = 660
LONGEST = 3.0
WAGE = {"column": "wage", "bounds": (0, 200_000), "step": 100}
REGIONS = list("abcdef")
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("count", {}),
    ("count", {"by": "region", "keys": REGIONS}),
    ("sum", WAGE),
    ("mean", WAGE),
    ("mean", {**WAGE, "by": "region", "keys": REGIONS}),
    ("variance", WAGE),
    ("proportion", {"column": "region", "category": "a"}),
    ("median", WAGE),
    ("quantiles", {**WAGE, "q": [0.1, 0.25, 0.5, 0.75, 0.9]}),
    ("quantiles", {**WAGE, "q": [0.25, 0.5, 0.75], "by": "region", "keys": REGIONS}),
    ("histogram", {"column": "age", "bounds": (18, 80), "bins": 10}),
    ("histogram", {"column": "region", "categories": REGIONS}),
    ("mode", {"column": "region", "categories": REGIONS}),
    ("cdf", WAGE),
    (
        "table",
        {
            "of": {"wage": ["mean", "median"], "age": ["mean"]},
            "bounds": {"wage": (0, 200_000), "age": (0, 100)},
            "steps": {"wage": 100, "age": 1},
        },
    ),
)


def milliseconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return how long some work takes, the median of several rounds."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        times.append(1000 * (perf_counter() - start))
    return median(times)


def _filed() -> FiledReport:
    """Return the report of a session that asked every question many times."""
    rng = np.random.default_rng(0)
    people = {
        "wage": rng.lognormal(10, 0.6, 2000),
        "age": rng.integers(18, 80, 2000),
        "region": rng.choice(REGIONS, 2000),
    }
    session = Session(people, epsilon=RELEASES)
    for _ in range(RELEASES // len(QUESTIONS)):
        for name, asked in QUESTIONS:
            getattr(session, name)(**asked, epsilon=0.5)
    return session.report()


def _cpu_milliseconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return 1000 * (process_time() - start)


def _print_times(title: str, rows: Mapping[str, float], unit: str) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for head in ("milliseconds", f"times {unit}"):
        table.add_column(head, justify="right")
    first = next(iter(rows.values()))
    for name, time in rows.items():
        table.add_row(name, f"{time:.3f}", f"{time / first:.3f}")
    Console().print(table)


def main() -> int:
    """Measure, print, and say whether the target is met."""
    person = {name: ANSWERS[name[0]] for name in COLUMNS}
    crowd = {name: [answer] * PEOPLE for name, answer in person.items()}
    schema = Schema.of(COLUMNS, epsilon=12, missing="random")

    def drawn(answers: dict[str, Any], form: Schema = schema) -> list[str]:
        return [line for sent in records(form, answers) for line in to_lines(sent)]

    def loaded() -> list[str]:
        return drawn(person, Schema.of(COLUMNS, epsilon=12))

    first = milliseconds(loaded, 9)
    one = milliseconds(lambda: drawn(person))
    lines = drawn(crowd)
    rows = {
        "one report, the form being loaded": one,
        "one report and its form": first,
        f"one of {PEOPLE} reports drawn together": milliseconds(lambda: drawn(crowd), 9) / PEOPLE,
        "one report read and counted": milliseconds(lambda: Aggregator(schema).add(lines), 9)
        / PEOPLE,
    }
    _print_times("A report of twelve questions", rows, "one report")
    page, report = _filed(), _filed()
    whole = {
        "a page with pictures": _cpu_milliseconds(page.to_html),
        "the answers read back": _cpu_milliseconds(lambda: report.filed),
        "Markdown, without pictures, of answers read back": _cpu_milliseconds(report.to_markdown),
    }
    _print_times(f"A filed report of {RELEASES} releases, CPU time", whole, "the page")
    met = one < MOST, whole["a page with pictures"] < 1000 * LONGEST
    console = Console()
    console.print(f"one report below {MOST:g} ms: {'met' if met[0] else 'MISSED'}")
    console.print(f"the page below {LONGEST:g} s: {'met' if met[1] else 'MISSED'}")
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
