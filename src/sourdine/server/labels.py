"""The labels of guards, which stay in the server; and predictions, as teams send them.

Labels are read from their source once in each worker, and must be those that were registered. What
is said of predictions depends on the predictions, and on how many labels there are and whether
they are numbers or texts, which is public. *Checked by*
``test_refusals_do_not_depend_on_the_labels``.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from sourdine.adaptive.holdout.labels import Labels
from sourdine.adaptive.holdout.leaderboard import is_sealed
from sourdine.errors import ParameterError, SourdineError
from sourdine.server.requests import OpenedOnce, RefusedError
from sourdine.server.sources import ADDRESS, opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.server.store.base import Guard
    from sourdine.server.store.store import ServerStore

    Sent = Sequence[int | float | str | bool | None] | str

MOST_LABELS = 1_000_000


def labels_at(source: str, column: str | None) -> Labels:
    """Return the labels at a source, or refuse them; to the owner's eyes alone."""
    if ADDRESS.match(source) and not source.startswith("duckdb:"):
        what = "be a file, as the order of rows matters"
        hint = "Use the path of a CSV or Parquet file."
        raise ParameterError("source", what, "a database", hint)
    frame = opened(source)
    if column is None and len(frame.columns) != 1:
        hint = "Use {column} if the labels are named y."
        raise ParameterError("column", "be given if there are several", "", hint, column="y")
    try:
        labels = Labels.read(frame if column is None else frame[column], "labels")
    except SourdineError as error:
        if error.name != "labels":
            raise
        raise error.hinting("Name another column.", {}, "column") from None
    if not 1 <= len(labels) <= MOST_LABELS:
        raise ParameterError(
            "source", f"hold 1 to {MOST_LABELS} labels", f"{len(labels)}", "Use other rows."
        )
    return labels


class HeldLabels:
    """The labels that a worker has read."""

    def __init__(self, store: ServerStore) -> None:
        self._store = store
        self._held: OpenedOnce[Labels] = OpenedOnce()

    def of(self, guard: Guard) -> Labels:
        """Return the labels of a guard, which must be those that were registered."""
        return self._held.get(guard.name, lambda: self._read(guard))

    def _read(self, guard: Guard) -> Labels:
        try:
            labels = labels_at(guard.source, guard.column)
        except (SourdineError, OSError):
            raise _moved("no labels that can be read") from None
        journal = self._store.guards.journal(guard.name)
        secret = bytes.fromhex(guard.secret)
        if not journal.look(lambda transaction: is_sealed(transaction, labels, secret)):
            raise _moved("different labels")
        return labels


def _moved(got: str) -> RefusedError:
    hint = "Tell their owner; nothing was charged."
    return RefusedError(409, "the labels", "be unchanged and readable", got, hint)


def read_predictions(given: Sent, kind: str, n: int) -> Labels:
    r"""Return predictions that were sent as a list, or as a text with one a line.

    A text may be a file of one column; a line before those of the rows is its header.

    Examples
    --------
    >>> read_predictions("y\n1\n0\n1\n", "number", 3).values.tolist()
    [1, 0, 1]
    >>> read_predictions([1, 0], "number", 3)
    Traceback (most recent call last):
    sourdine.errors.ParameterError: predictions must hold a prediction for each of the 3 labels, got 2. Predict all rows, in the same order.
    """  # noqa: E501
    rows = _lines(given, n) if isinstance(given, str) else given
    if len(rows) != n:
        what = f"hold a prediction for each of the {n} labels"
        hint = "Predict all rows, in the same order."
        raise ParameterError("predictions", what, f"{len(rows)}", hint)
    if isinstance(given, str):
        return Labels.written(_cells(list(map(str, rows))), "predictions", kind)
    return Labels.read(rows, "predictions", kind)


def _lines(text: str, n: int) -> list[str]:
    """Return the lines of the rows, without a header and what is empty at the end."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines[1:] if len(lines) == n + 1 else lines


def _cells(lines: Sequence[str]) -> list[str]:
    """Return the cell of each line; one may stand in quotes."""
    cells = []
    for number, line in enumerate(lines, start=1):
        try:
            found = next(csv.reader([line]), [""]) if '"' in line or "," in line else [line]
        except csv.Error:
            got, hint = f"another text in row {number}", "Close its quotes, and shorten it."
            raise ParameterError("predictions", "be valid CSV", got, hint) from None
        if len(found) != 1:
            got, hint = f"{len(found)} in row {number}", "Send only the column of the predictions."
            raise ParameterError("predictions", "hold one value per row", got, hint)
        cells += found
    return cells
