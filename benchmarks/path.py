"""The way of a value: how many files of the library one call enters, and how often it changes.

Second calls with all imports done: of functions on an array of 30,000 floats, of `Schema.sanitize`
on a dict, of a command on a CSV file, and of a request to a server in this process. A reader who
follows a number from what was typed to what is published opens these files. The exit status is 1 if
a target is missed.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from rich.console import Console
from rich.table import Table

import sourdine as sd
from sourdine.cli import main as command_line
from sourdine.local import Choice, Number, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

LIBRARY = Path(sd.__file__).parent
X = np.random.default_rng(1).uniform(0, 100, 30_000)
DECILES = [k / 10 for k in range(1, 10)]
ANSWERS = {"age": [31, 17, 64], "vote": ["yes", "no", None]}


def sanitize() -> object:
    """Make a schema, and randomise a dict of columns with it."""
    age, vote = Number(0, 120, step=1, missing=True), Choice("yes", "no", missing=True)
    return Schema(age=age, vote=vote, epsilon=2).sanitize(ANSWERS)


def typed(*words: str) -> Callable[[], object]:
    """Return what runs a command in this process; it must succeed."""

    def call() -> object:
        out, before = TextIOWrapper(BytesIO(), "utf-8"), sys.argv
        sys.argv = ["sourdine", *words]
        ended: Any = None
        try:
            with redirect_stdout(out):
                command_line()
        except SystemExit as end:
            ended = end.code
        finally:
            sys.argv = before
        if ended:
            raise RuntimeError(words)
        return out

    return call


@contextmanager
def asked(folder: Path) -> Iterator[Callable[[], object]]:
    """Give what asks the server's application for a release over HTTP; it must answer."""
    import httpx

    from sourdine.server.auth import new_token
    from sourdine.server.datasets import Registering, registered
    from sourdine.server.running import add_person, serving
    from sourdine.server.sources import WAGES
    from sourdine.server.state import ServerSettings
    from sourdine.server.store.store import ServerStore

    address = f"sqlite:///{folder / 'store.db'}"
    store = ServerStore.create(address)
    add_person(store, "anna", "analyst", "correct horse battery")
    columns = {"wage": {"bounds": [0, 500_000], "step": 1}}
    said = Registering(name="wages", source=WAGES, epsilon=10**6, n=250_000, columns=columns)
    store.datasets.add(registered(said))
    store.grants.give("wages", "anna", 10**5)
    headers = {"authorization": f"Bearer {new_token(store, 'anna', 'api', days=1)}"}
    body = {"statistic": "mean", "column": "wage", "epsilon": 0.001}
    with serving(ServerSettings(store=address, tick=0)) as url, httpx.Client() as client:

        def call() -> object:
            own = {**headers, "idempotency-key": uuid4().hex}
            answer = client.post(f"{url}/api/v1/datasets/wages/releases", json=body, headers=own)
            return answer.raise_for_status()

        yield call


STEPS: list[str] | None = None
"""The files that are entered, while a call is walked."""


def enter(frame: FrameType, event: str, arg: object) -> None:
    """Write down the file of a function that is called, if it is one of the library."""
    del arg
    path = frame.f_code.co_filename
    if STEPS is not None and event == "call" and path.startswith(str(LIBRARY)):
        STEPS.append(str(Path(path).relative_to(LIBRARY)))


def walked(call: Callable[[], object]) -> list[str]:
    """Return the files of the library in the order in which a call enters them."""
    global STEPS  # noqa: PLW0603 - threads write to it too
    STEPS = steps = []
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
        STEPS = None
    return steps


@contextmanager
def calls() -> Iterator[dict[str, tuple[Callable[[], object], int | None]]]:
    """Give what is called, and how many files it may enter."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        np.savetxt(folder / "f.csv", X, header="x", comments="")
        words = ("--column", "x", "--bounds", "0,100", "--epsilon", "1")
        found: dict[str, tuple[Callable[[], object], int | None]] = {
            "count": (lambda: sd.count(X, epsilon=1), 11),
            "mean": (lambda: sd.mean(X, bounds=(0, 100), epsilon=1), 12),
            "median": (lambda: sd.median(X, bounds=(0, 100), epsilon=1), None),
            "deciles": (lambda: sd.quantiles(X, DECILES, bounds=(0, 100), epsilon=1), 18),
            "sanitize": (sanitize, 18),
            "sourdine mean": (typed("mean", str(folder / "f.csv"), *words), 28),
        }
        with suppress(ImportError):  # the extra "server"
            found["HTTP release"] = (stack.enter_context(asked(folder)), 38)
        yield found


def main() -> int:
    """Walk, print, and say whether the targets are met."""
    threading.setprofile(enter)  # before the server's threads start
    os.environ.setdefault("COLUMNS", "100")
    console, missed = Console(), False
    table = Table(title="Files entered by a second call", title_justify="left")
    for head in ("call", "files", "at most", "switches", "calls"):
        table.add_column(head, justify="left" if head == "call" else "right")
    ways = {}
    with calls() as found:
        for name, (call, most) in found.items():
            call()
            steps = walked(call)
            ways[name] = list(dict.fromkeys(steps))
            switches = sum(a != b for a, b in pairwise(steps))
            numbers = (len(ways[name]), most or "", switches, len(steps))
            table.add_row(name, *map(str, numbers))
            missed |= most is not None and len(ways[name]) > most
    console.print(table)
    for name, files in ways.items():
        console.print(f"{name}: {', '.join(files)}", highlight=False)
    console.print(f"targets {'MISSED' if missed else 'met'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
