r"""Records as JSON, one line for each person.

``{"v":1,"s":"5f0c…","i":"kq3L…","a":[3,17,"q80B"]}``

=======  ======================================================================================
``v``    the version of the format, 1
``s``    the first 16 digits of the schema's fingerprint
``i``    a random id of 128 bits, as 22 letters of base64
``c``    the number of the column answered for, from 0; only if the schema samples one
``a``    the reports, in the schema's order: whole numbers, or bytes as base64
=======  ======================================================================================

Whatever arrives is read: a line is a record of the form, or it has a `Reason`. *Claim*: no line
raises, and none but a record is read as one. *Checked by* ``test_garbage_never_counts``.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.local.reports import texts
from sourdine.local.reports.reasons import Reason
from sourdine.local.reports.records import ID, Records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.local.reports.form import Form

__all__ = ["VERSION", "longest", "read_each", "read_lines", "to_lines"]

VERSION = 1
ROWS = 1 << 16
"""Lines read at once."""

BLANK = " \t\r\n"
LARGEST_INT64 = np.iinfo(np.int64).max
ID_TEXT = texts.pattern(ID.itemsize)
DECODER = json.JSONDecoder(object_pairs_hook=tuple)
"""Objects become tuples of pairs, so a key given twice is seen."""

Row = tuple[str, int, list[Any]]
"""The id, the number of the column and the answers of a record."""


def to_lines(records: Records) -> list[str]:
    """Return the JSON text of each record, without line ends."""
    ids, shown = texts.texts_of(records.id_bytes()), list(map(_shown, records.answers))
    if records.asked is None:
        template = _template(records.form, None)
        return [template % row for row in zip(ids, *shown, strict=True)]
    lines, named = np.empty(len(records), object), np.array(ids, object)
    for column, answers in enumerate(shown):
        rows, template = records.rows(column), _template(records.form, column)
        lines[rows] = [template % row for row in zip(named[rows], answers, strict=True)]
    return list(lines)


def _shown(reports: NDArray[Any]) -> list[Any]:
    return texts.texts_of(reports) if reports.ndim > 1 else reports.tolist()


def _template(form: Form, column: int | None) -> str:
    widths = form.widths if column is None else form.widths[column : column + 1]
    answers = ",".join('"%s"' if width else "%d" for width in widths)
    chosen = "" if column is None else f'"c":{column},'
    return f'{{"v":{VERSION},"s":"{form.mark}","i":"%s",{chosen}"a":[{answers}]}}'


def longest(form: Form) -> int:
    """Return the length beyond which a line is not parsed: twice that of the longest record."""
    letters = sum(4 + (texts.length(width) or len(str(LARGEST_INT64))) for width in form.widths)
    return 2 * (len(_template(form, 0)) + texts.length(ID.itemsize) + letters)


def read_lines(form: Form, lines: Iterable[object]) -> Iterator[tuple[Records, Counter[Reason]]]:
    """Read lines, texts or bytes, in blocks: the records, and how many were dropped and why.

    Blank lines are nobody's report and are passed over.
    """
    parser, rest = _Parser(form), iter(lines)
    while block := list(islice(rest, ROWS)):
        parsed = list(map(parser.parse, block))
        dropped = Counter(row for row in parsed if isinstance(row, Reason))
        yield parser.gather([row for row in parsed if isinstance(row, tuple)]), dropped


def read_each(form: Form, lines: Sequence[object]) -> tuple[Records, list[Reason | None]]:
    """Read lines one for one: the records, and for each line why it is none (None if it is one)."""
    parser = _Parser(form)
    parsed = [parser.parse(line) or Reason.MALFORMED for line in lines]
    records = parser.gather([row for row in parsed if isinstance(row, tuple)])
    valid = records.valid()
    verdicts = iter(valid.tolist())
    reasons = [
        row if isinstance(row, Reason) else (None if next(verdicts) else Reason.DOMAIN)
        for row in parsed
    ]
    return (records if valid.all() else records.keep(valid)), reasons


class _Parser:
    """Reads one line after the other, then turns what it read into arrays."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.longest = longest(form)
        self.keys = {"v", "s", "i", "a", "c"} if form.sampled else {"v", "s", "i", "a"}
        kinds = [str if width else int for width in form.widths]
        self.kinds = [[kind] for kind in kinds] if form.sampled else [kinds]
        matches = [texts.pattern(width).fullmatch if width else None for width in form.widths]
        whole = [(i, match) for i, match in enumerate(matches) if match]
        self.matches = [[(0, m)] if m else [] for m in matches] if form.sampled else [whole]

    def parse(self, line: object) -> Row | Reason | None:
        """Return what a line says, or why it is dropped."""
        if not isinstance(line, (str, bytes)):
            return Reason.MALFORMED
        if len(line) > self.longest:
            return Reason.TOO_LONG
        try:
            text = line if isinstance(line, str) else line.decode()
            if not text.strip(BLANK):
                return None
            pairs = DECODER.decode(text)
        except (ValueError, RecursionError):
            return Reason.MALFORMED
        return self._row(dict(pairs), len(pairs)) if type(pairs) is tuple else Reason.MALFORMED

    def _row(self, record: dict[str, Any], keys: int) -> Row | Reason:
        if type(record.get("v")) is not int or "s" not in record:
            return Reason.MALFORMED
        if record["v"] != VERSION:
            return Reason.VERSION
        if record["s"] != self.form.mark:
            return Reason.FOREIGN
        if keys != len(self.keys) or record.keys() != self.keys:
            return Reason.MALFORMED
        name, column, answers = record["i"], record.get("c", 0), record["a"]
        if type(name) is not str or not ID_TEXT.fullmatch(name) or type(answers) is not list:
            return Reason.MALFORMED
        return self._wrong(column, answers) or (name, column, answers)

    def _wrong(self, column: object, answers: list[Any]) -> Reason | None:
        """Return what is wrong with the answers, if anything is."""
        if type(column) is not int or not 0 <= column < len(self.kinds):
            return Reason.COLUMNS
        if len(answers) != len(self.kinds[column]):
            return Reason.COLUMNS
        if list(map(type, answers)) != self.kinds[column]:
            return Reason.KIND
        for i, match in self.matches[column]:
            if not match(answers[i]):
                return Reason.KIND
        return None

    def gather(self, rows: Sequence[Row]) -> Records:
        """Return parsed lines as records."""
        given: list[list[Any]] = [[] for _ in self.form.names]
        if self.form.sampled:
            for _, column, answers in rows:
                given[column] += answers
        elif rows:
            given = list(map(list, zip(*(answers for _, _, answers in rows), strict=True)))
        filled = tuple(map(_array, given, self.form.widths))
        ids = texts.rows_of([name for name, _, _ in rows], ID.itemsize)
        named = np.ascontiguousarray(ids).view(ID).reshape(len(rows))
        asked = np.array([column for _, column, _ in rows], np.int64)
        return Records(self.form, named, filled, asked if self.form.sampled else None)


def _array(column: Sequence[Any], width: int) -> NDArray[Any]:
    """Return answers as an array; a number too large for one becomes -1, which nobody draws."""
    if width:
        return texts.rows_of(column, width)
    return np.array([x if 0 <= x <= LARGEST_INT64 else -1 for x in column], np.int64)
