"""`Records`: randomised answers of many people, as arrays and as JSON lines."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, integer, one_of
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sourdine.mechanisms.mechanism import Report
    from sourdine.noise import Source
    from sourdine.privacy import Guarantee


# ---- Why a report is dropped: one of few reasons, counted, and nothing of the report is kept -----


class Reason(Enum):
    """Why a report is dropped; the first that applies, in this order."""

    TOO_LONG = "too long"
    """More than twice the longest line that the form can fill; it is not even parsed."""
    MALFORMED = "malformed"
    """Not UTF-8, not JSON, not an object of the right keys, no readable id."""
    VERSION = "unknown version"
    """Written in a format that this reader does not know."""
    FOREIGN = "foreign schema"
    """Made for another schema."""
    COLUMNS = "wrong columns"
    """An answer too few or too many."""
    KIND = "wrong type"
    """A fraction, a truth value or a text where a whole number belongs, or the wrong width."""
    DOMAIN = "out of domain"
    """A report that its randomiser never draws."""
    REPLAYED = "replayed"
    """A report with this id was counted before."""


class Sieve:
    """Which of some rows remain, and why the others went."""

    __slots__ = ("dropped", "kept")

    def __init__(self, rows: int) -> None:
        self.kept: NDArray[np.bool_] = np.ones(rows, np.bool_)
        self.dropped: Counter[Reason] = Counter()

    def drop(self, bad: NDArray[np.bool_] | bool, reason: Reason) -> None:  # noqa: FBT001
        """Take out the bad rows among those that remain."""
        gone = self.kept & bad
        if gone.any():
            self.dropped[reason] += int(np.count_nonzero(gone))
            self.kept &= ~gone


# ---- `Form`: what a record must look like, as the sender and the reader both know it -------------


MARK = 16
METHODS = ("split", "sample")


@dataclass(frozen=True, kw_only=True)
class Form:
    """The public facts that sender and reader share.

    Parameters
    ----------
    randomisers
        The mechanism of each column, in the order in which a record holds the answers.
    fingerprint
        In hexadecimal; records carry its first 16 digits.
    method
        ``"split"``: a person answers for every column; ``"sample"``: for one, drawn at random.
    guarantee
        The privacy loss of one record.
    """

    randomisers: Mapping[str, Report]
    fingerprint: str
    method: str
    guarantee: Guarantee

    def __post_init__(self) -> None:
        one_of(self.method, "method", *METHODS)
        if not self.randomisers:
            must, hint = "hold at least one randomiser", "Add a column to the form."
            raise ParameterError("randomisers", must, "", hint)
        if not re.fullmatch(r"[0-9a-f]{16,}", self.fingerprint):
            must, hint = "be 16 or more hexadecimal digits", "Pass the fingerprint of a schema."
            raise ParameterError("fingerprint", must, given(self.fingerprint), hint)

    @property
    def mark(self) -> str:
        """The part of the fingerprint that a record carries."""
        return self.fingerprint[:MARK]

    @property
    def sampled(self) -> bool:
        """Whether a person answers for one column only."""
        return self.method == "sample"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.randomisers)

    @cached_property
    def mechanisms(self) -> tuple[Report, ...]:
        return tuple(self.randomisers.values())

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """For each column how many bytes a report has; 0 if reports are whole numbers."""
        drawn = (m.reports(np.zeros(1, np.int64), SYSTEM) for m in self.mechanisms)
        return tuple(one.shape[1] if one.ndim > 1 else 0 for one in drawn)

    def empty(self, column: int) -> NDArray[Any]:
        """Return no reports of a column, in the right shape."""
        width = self.widths[column]
        return np.zeros((0, width), np.uint8) if width else np.zeros(0, np.int64)


# ---- `Records`: the randomised answers of many people, as arrays ---------------------------------


ID = np.dtype("S16")
"""An id is 16 bytes; as a text of fixed length NumPy can sort and search it."""


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The records of many people, a row for each.

    Parameters
    ----------
    form
        What they answer.
    ids
        A random id for each record, to find replays by; it says nothing of the person.
    answers
        For each column the reports of those who answered for it, in the order of rows.
    asked
        Under ``"sample"`` the number of the one column that each person answered for.
    """

    form: Form
    ids: NDArray[Any]
    answers: tuple[NDArray[Any], ...]
    asked: NDArray[np.int64] | None = None

    @classmethod
    def stamped(
        cls, form: Form, answers: Mapping[str, ArrayLike],
        *, asked: ArrayLike | None = None, source: Source = SYSTEM,
    ) -> Records:  # fmt: skip
        """Return randomised answers as records, each with a fresh random id from ``source``.

        The parameters are those of the class, the answers by the names of the columns; those that
        do not fill the form are refused.
        """
        who = None if asked is None else np.asarray(asked, np.int64)
        given = tuple(
            np.asarray(answers.get(name, form.empty(i)), np.uint8 if form.widths[i] else np.int64)
            for i, name in enumerate(form.names)
        )
        rows = len(given[0]) if who is None else who.size
        records = cls(form, np.frombuffer(source.bytes(16 * rows), ID), given, who)
        if form.sampled is (who is None) or not records.complete():
            must = f"hold one report of the right width for each person ({form.method!r})"
            got = f"{len(answers)} columns of different shapes"
            hint = "Pass the output of the form's randomisers."
            raise ParameterError("answers", must, got, hint)
        return records

    @classmethod
    def none(cls, form: Form) -> Records:
        asked = np.zeros(0, np.int64) if form.sampled else None
        return cls(form, np.zeros(0, ID), tuple(map(form.empty, range(len(form.names)))), asked)

    def __len__(self) -> int:
        return int(self.ids.size)

    def complete(self) -> bool:
        """Return whether all answer for known columns, and with reports of the right width."""
        counts = self.counts()
        if self.asked is not None and counts.sum() != len(self):
            return False
        shapes = [
            (count, width) if width else (count,)
            for count, width in zip(counts, self.form.widths, strict=True)
        ]
        return [part.shape for part in self.answers] == shapes

    def counts(self) -> NDArray[np.int64]:
        """Return how many people answered for each column."""
        columns = len(self.form.names)
        if self.asked is None:
            return np.full(columns, len(self))
        inside = (self.asked >= 0) & (self.asked < columns)
        return np.bincount(self.asked[inside], minlength=columns)

    def rows(self, column: int) -> slice | NDArray[np.bool_]:
        return slice(None) if self.asked is None else self.asked == column

    def keep(self, mask: NDArray[np.bool_]) -> Records:
        answers = tuple(part[mask[self.rows(i)]] for i, part in enumerate(self.answers))
        asked = None if self.asked is None else self.asked[mask]
        return Records(self.form, self.ids[mask], answers, asked)

    def valid(self) -> NDArray[np.bool_]:
        """Return which rows hold only reports that their randomisers could have drawn."""
        good = np.ones(len(self), np.bool_)
        for i, (part, mechanism) in enumerate(zip(self.answers, self.form.mechanisms, strict=True)):
            good[self.rows(i)] &= mechanism.valid(part)
        return good

    def part(self, number: int, parts: int) -> Records:
        """Return the rows whose id falls into part ``number``, from 0, of ``parts``.

        A replayed record falls into the part of the first one. So aggregators that each take one
        part find every replay, and their sum counts no record twice.
        """
        total = integer(parts, "parts", least=1)
        chosen, last = integer(number, "number", least=0), total - 1
        if chosen > last:
            must = f"be below the number of parts ({total})"
            hint = "Parts are counted from 0: use {number} or less."
            raise ParameterError("number", must, given(chosen), hint, number=last)
        words = np.ascontiguousarray(self.id_bytes()[:, :8]).view("<u8")[:, 0]
        return self.keep(words % np.uint64(total) == chosen)

    def id_bytes(self) -> NDArray[np.uint8]:
        """Return the ids as rows of 16 bytes."""
        return np.ascontiguousarray(self.ids).view(np.uint8).reshape(len(self), ID.itemsize)


# ---- `Receipt`: how many reports counted, and why the others did not -----------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of some reports.

    Parameters
    ----------
    accepted
        How many were counted.
    dropped
        How many were not, for each reason that occurred.

    Examples
    --------
    >>> print(Receipt(accepted=7, dropped={Reason.REPLAYED: 2, Reason.MALFORMED: 1}))
    7 accepted, 3 dropped (1 malformed, 2 replayed)
    """

    accepted: int = 0
    dropped: Mapping[Reason, int] = field(default_factory=dict)

    @property
    def received(self) -> int:
        return self.accepted + sum(self.dropped.values())

    def __add__(self, other: Receipt) -> Receipt:
        dropped = Counter(self.dropped) + Counter(other.dropped)
        return Receipt(accepted=self.accepted + other.accepted, dropped=dict(dropped))

    def __str__(self) -> str:
        reasons = [f"{self.dropped[r]} {r.value}" for r in Reason if self.dropped.get(r)]
        why = f" ({', '.join(reasons)})" if reasons else ""
        return f"{self.accepted} accepted, {sum(self.dropped.values())} dropped{why}"


# ---- `Seen`: the ids of all records counted so far, 16 bytes each --------------------------------


class Seen:
    """A set of ids as sorted runs, each at least twice as long as the next.

    So there are few runs to search, and an id is moved a number of times that grows with the
    logarithm of how many there are.
    """

    __slots__ = ("_runs",)

    def __init__(self, ids: NDArray[Any] | None = None) -> None:
        self._runs: list[NDArray[Any]] = []
        if ids is not None and ids.size:
            self._runs.append(np.unique(ids))

    def __len__(self) -> int:
        return sum(run.size for run in self._runs)

    def fresh(self, ids: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which ids are new; of equal ones the first."""
        new = np.zeros(ids.size, np.bool_)
        new[np.unique(ids, return_index=True)[1]] = True
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, ids), run.size - 1)
            new &= run[at] != ids
        return new

    def remember(self, ids: NDArray[Any]) -> None:
        """Add ids that are new and differ from each other."""
        if not ids.size:
            return
        self._runs.append(np.sort(ids))
        while len(self._runs) > 1 and self._runs[-2].size < 2 * self._runs[-1].size:
            merged = np.concatenate((self._runs.pop(), self._runs.pop()))
            merged.sort(kind="stable")
            self._runs.append(merged)

    def ids(self) -> NDArray[Any]:
        return np.sort(np.concatenate([np.zeros(0, ID), *self._runs]))

    def __or__(self, other: Seen) -> Seen:
        return Seen(np.concatenate((self.ids(), other.ids())))


# ---- Bytes as text: rows of one width, in the URL-safe alphabet of base64 without padding --------


def length(width: int) -> int:
    """Return how many letters hold a number of bytes."""
    return -(-4 * width // 3)


def pattern(width: int) -> re.Pattern[str]:
    """Return what the text of a number of bytes looks like."""
    return re.compile(rf"[A-Za-z0-9_-]{{{length(width)}}}")


def texts_of(rows: NDArray[np.uint8]) -> list[str]:
    """Return the text of each row."""
    n, width = rows.shape
    groups, letters = -(-width // 3), length(width)
    filled = np.zeros((n, 3 * groups), np.uint8)
    filled[:, :width] = rows
    text = np.frombuffer(urlsafe_b64encode(filled.tobytes()), np.uint8).reshape(n, 4 * groups)
    cut = np.ascontiguousarray(text[:, :letters]).view(f"S{letters}")[:, 0]
    return list(cut.astype("U").tolist())


def rows_of(texts: Sequence[str], width: int) -> NDArray[np.uint8]:
    """Return the bytes of texts that match `pattern`; bits beyond the width are ignored."""
    n, groups, letters = len(texts), -(-width // 3), length(width)
    filled = np.full((n, 4 * groups), ord("A"), np.uint8)
    filled[:, :letters] = np.array(texts, f"S{letters}").view(np.uint8).reshape(n, letters)
    rows = np.frombuffer(urlsafe_b64decode(filled.tobytes()), np.uint8)
    return rows.reshape(n, 3 * groups)[:, :width]


# ---- Records as JSON, one line for each person ---------------------------------------------------
#
# ``{"v":1,"s":"5f0c…","i":"kq3L…","a":[3,17,"q80B"]}``
#
# ``v``    the version of the format, 1
# ``s``    the first 16 digits of the schema's fingerprint
# ``i``    a random id of 128 bits, as 22 letters of base64
# ``c``    the number of the column answered for, from 0; only if the schema samples one
# ``a``    the reports, in the schema's order: whole numbers, or bytes as base64
#
# Whatever arrives is read: a line is a record of the form, or it has a `Reason`. *Claim*: no line
# raises, and none but a record is read as one. *Checked by* ``test_garbage_never_counts``.


VERSION = 1
ROWS = 1 << 16
"""Lines read at once."""

BLANK = " \t\r\n"
LARGEST_INT64 = np.iinfo(np.int64).max
ID_TEXT = pattern(ID.itemsize)
DECODER = json.JSONDecoder(object_pairs_hook=tuple)
"""Objects become tuples of pairs, so a key given twice is seen."""

Row = tuple[str, int, list[Any]]
"""The id, the number of the column and the answers of a record."""


def to_lines(records: Records) -> list[str]:
    """Return the JSON text of each record, without line ends."""
    ids = texts_of(records.id_bytes())
    shown = [texts_of(part) if part.ndim > 1 else part.tolist() for part in records.answers]
    if records.asked is None:
        template = _template(records.form, None)
        return [template % row for row in zip(ids, *shown, strict=True)]
    lines, named = np.empty(len(records), object), np.array(ids, object)
    for column, answers in enumerate(shown):
        rows, template = records.rows(column), _template(records.form, column)
        lines[rows] = [template % row for row in zip(named[rows], answers, strict=True)]
    return list(lines)


def _template(form: Form, column: int | None) -> str:
    widths = form.widths if column is None else form.widths[column : column + 1]
    answers = ",".join('"%s"' if width else "%d" for width in widths)
    chosen = "" if column is None else f'"c":{column},'
    return f'{{"v":{VERSION},"s":"{form.mark}","i":"%s",{chosen}"a":[{answers}]}}'


def longest(form: Form) -> int:
    """Return the length beyond which a line is not parsed: twice that of the longest record."""
    letters = sum(4 + (length(width) or len(str(LARGEST_INT64))) for width in form.widths)
    return 2 * (len(_template(form, 0)) + length(ID.itemsize) + letters)


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
    verdicts = iter(None if good else Reason.DOMAIN for good in valid.tolist())
    reasons = [row if isinstance(row, Reason) else next(verdicts) for row in parsed]
    return (records if valid.all() else records.keep(valid)), reasons


class _Parser:
    """Reads one line after the other, then turns what it read into arrays."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.longest = longest(form)
        self.keys = {"v", "s", "i", "a", "c"} if form.sampled else {"v", "s", "i", "a"}
        lines = [[width] for width in form.widths] if form.sampled else [form.widths]
        self.kinds = [[str if width else int for width in line] for line in lines]
        self.matches = [
            [(i, pattern(w).fullmatch) for i, w in enumerate(line) if w] for line in lines
        ]

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
        fits = all(match(answers[i]) for i, match in self.matches[column])
        return None if fits else Reason.KIND

    def gather(self, rows: Sequence[Row]) -> Records:
        given: list[list[Any]] = [[] for _ in self.form.names]
        if self.form.sampled:
            for _, column, answers in rows:
                given[column] += answers
        elif rows:
            given = list(map(list, zip(*(answers for _, _, answers in rows), strict=True)))

        def filled(column: list[Any], width: int) -> NDArray[Any]:
            if width:
                return rows_of(column, width)
            # a number too large for an array becomes -1, which nobody draws
            return np.array([x if 0 <= x <= LARGEST_INT64 else -1 for x in column], np.int64)

        ids = rows_of([name for name, _, _ in rows], ID.itemsize)
        named = np.ascontiguousarray(ids).view(ID).reshape(len(rows))
        asked = np.array([column for _, column, _ in rows], np.int64)
        columns = tuple(map(filled, given, self.form.widths))
        return Records(self.form, named, columns, asked if self.form.sampled else None)
