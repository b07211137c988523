"""How long one person's report of twelve questions takes, once the form is loaded.

Beside it: to load the form (to make the mechanisms of the schema), to draw the reports of a
thousand people at once, and to read the lines back. The exit status is 1 if one report takes 10
milliseconds or more.
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from sourdine.local import Aggregator, Choice, Choices, Flag, Number, Schema
from sourdine.local.reports.records import to_lines
from sourdine.local.reports.sources import records

if TYPE_CHECKING:
    from collections.abc import Callable

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


def milliseconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return how long some work takes, the median of several rounds."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        work()
        times.append(1000 * (perf_counter() - start))
    return median(times)


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
    table = Table(title="A report of twelve questions", title_justify="left")
    table.add_column("what")
    for head in ("milliseconds", "times one report"):
        table.add_column(head, justify="right")
    for name, time in rows.items():
        table.add_row(name, f"{time:.3f}", f"{time / one:.3f}")
    console = Console()
    console.print(table)
    console.print(f"one report below {MOST:g} ms: {'met' if one < MOST else 'MISSED'}")
    return int(one >= MOST)


if __name__ == "__main__":
    sys.exit(main())
