"""Inspect data before anything is published: unreadable cells, types, formats to declare."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections import Counter
from dataclasses import dataclass, replace
from glob import glob
from itertools import islice, product
from os import PathLike, fspath
from pathlib import Path
from shlex import quote
from sys import float_info
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import given
from sourdine.frames.files import TextFile
from sourdine.frames.formats import ReadstatFile, json_records, worksheets
from sourdine.frames.frame import Frame
from sourdine.frames.paths import (
    CSV,
    EXCEL,
    JSON_LINES,
    LINES,
    READSTAT,
    is_address,
    shown_source,
    split_sheet,
)
from sourdine.frames.reading import Reading
from sourdine.frames.text_files import header, open_bytes, records
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sourdine.frames.text_files import Header


# ---- Columns of dates: how they seem to be written -----------------------------------------------


_DAYS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y%m%dT%H%M%S"),
)
_CLOCKS = ("", " %I:%M %p", " %I:%M:%S %p", ", %H:%M", ", %H:%M:%S")
_FORMATS = tuple(
    f"{day}{clock}" for day, clock in product(_DAYS, _CLOCKS) if not (clock and "%H" in day)
)
_MOST = 0.5
"""A column is meant to hold dates if this part of its cells are some."""


def dates_in(cells: ColumnTexts, reading: Reading) -> int:
    """Return how many cells are dates and no numbers, of a column that is meant to hold dates."""
    form = reading.dates
    found = sum(
        k
        for text, k in cells.texts.items()
        if form.read(text) is not None and reading.number(text) is None
    )
    return found if found >= _MOST * cells.filled else 0


def best_format(reading: Reading, columns: Sequence[ColumnTexts]) -> tuple[str | None, str | None]:
    """Return the format in which most cells are dates, and another that reads as many.

    What is declared stays; None is ISO 8601.
    """
    if reading.date_format is not None:
        return reading.date_format, None
    kept = [cells for cells in columns if cells.texts and 2 * cells.numbers(reading) < cells.filled]
    score = {form: _total(kept, reading, form) for form in (None, *_FORMATS)}
    most = max(score.values())
    best = [form for form, read in score.items() if read == most]
    others = [form for form in best[1:] if best[0] is not None]
    return best[0], others[0] if others and most else None


def _total(columns: Sequence[ColumnTexts], reading: Reading, form: str | None) -> int:
    """Return how many cells a format reads, of columns that it makes columns of dates."""
    read = replace(reading, date_format=form)
    return sum(dates_in(cells, read) for cells in columns)


# ---- Shapes of cells that are no numbers, and what to declare so that they are -------------------


_LONGEST = 24
_MARKS = "+-.,'\N{RIGHT SINGLE QUOTATION MARK}_"
_BEFORE, _AFTER = rf"[^\w\s{_MARKS}]{{1,3}}|[A-Z]{{3}}", rf"[^\d\s{_MARKS}]{{1,8}}"
_BESIDE = re.compile(rf"\s*({_BEFORE})?\s*[+-]?\d[\d\s{_MARKS}]*({_AFTER})?\s*")
"""A number between symbols; letters before it are a currency in capitals, else it is a name."""
_WAYS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"))
"""Decimal marks and marks between thousands, the most common first."""
_OFTEN = 0.01
"""A symbol is declared if it stands beside this part of a column's cells, at least."""
_ZERO = re.compile(r"\D*0+\D")
"""How no number begins whose next three digits are thousands."""


def shape(value: str) -> str:
    r"""Return a text with 9 for digits and a for letters, cut short."""

    def letter(c: str) -> str:
        if c.isdecimal():
            return "9"
        return "a" if c.isalpha() else c

    letters = map(letter, value[:_LONGEST])
    text = "".join(c if c.isprintable() else "?" for c in letters)
    return text + ("..." if len(value) > _LONGEST else "")


@dataclass(frozen=True, slots=True)
class ColumnTexts:
    """The texts of a column, and how many cells are numbers by their type."""

    texts: Counter[str]
    typed: int

    @property
    def filled(self) -> int:
        """How many cells hold anything."""
        return self.typed + self.texts.total()

    def numbers(self, reading: Reading) -> int:
        """Return how many cells a reading reads as numbers."""
        read = (k for text, k in self.texts.items() if reading.number(text) is not None)
        return self.typed + sum(read)

    def symbols(self) -> set[str]:
        """Return what often stands beside numbers."""
        beside: Counter[str] = Counter()
        for text, k in self.texts.items():
            if (found := _BESIDE.fullmatch(text)) is not None:
                beside.update(dict.fromkeys(filter(None, found.groups()), k))
        least = max(2, _OFTEN * self.filled)
        return {symbol for symbol, k in beside.items() if k >= least}

    def mixed(self) -> list[str]:
        """Return the symbols of a column that has several: units that are not to be added up."""
        symbols = sorted(self.symbols())
        return symbols if len(set(map(str.casefold, symbols))) > 1 else []


def best_reading(
    declared: Reading, columns: Iterable[ColumnTexts]
) -> tuple[Reading, Reading | None]:
    """Return the reading that makes numbers of most cells, and another that reads as many.

    Columns that hold words under a reading do not count for it, and what was declared stays. The
    symbols of a column that has several are not declared.
    """
    kept = [cells for cells in columns if cells.texts]
    of_one_unit = (cells.symbols() for cells in kept if not cells.mixed())
    beside = set(declared.symbols).union(*of_one_unit)
    symbols = _declarable(sorted(beside))
    ways = [
        replace(declared, decimal=declared.decimal if d == "." else d, thousands=t, symbols=each)
        for (d, t), each in product(_WAYS, (declared.symbols, symbols))
        if declared.decimal in {None, d} and declared.thousands in {"", t}
    ]
    score = {way: sum(_read_shape(cells, way) for cells in kept) for way in (declared, *ways)}
    best = [way for way, read in score.items() if read == max(score.values())]
    first = best[0]
    for way in best[1:]:
        changed = [text for cells in kept for text in read_differently(cells, first, way)]
        if changed and way.symbols == first.symbols and not any(map(_ZERO.match, changed)):
            return first, way
    return first, None


def read_differently(cells: ColumnTexts, one: Reading, other: Reading) -> list[str]:
    """Return the texts that are other numbers under another reading."""
    pairs = ((text, one.number(text), other.number(text)) for text in cells.texts)
    return [text for text, x, y in pairs if x is not None and y is not None and x != y]


def _declarable(symbols: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols that a reading takes."""

    def taken(symbol: str) -> bool:
        try:
            Reading(symbols=(symbol,))
        except ValueError:
            return False
        return True

    return tuple(filter(taken, symbols))


def _read_shape(cells: ColumnTexts, reading: Reading) -> int:
    """Return how many cells a reading reads, of a column that it makes one of numbers."""
    numbers = cells.numbers(reading)
    return numbers if numbers >= _MOST * cells.filled else 0


def options(reading: Reading) -> dict[str, Any]:
    """Return what to declare, as a command line takes it."""
    said = reading.to_dict()
    return {name: ",".join(x) if isinstance(x, list) else x for name, x in said.items()}


# ---- What the columns of data hold, to fill in a form for the curator, who has the last word -----
#
# A Parquet file or a database states types. A text file does not: its first records are looked at,
# so what is found is for the curator alone.


_FIRST = 200
"""Records of a text file that are looked at."""


def column_types(frame: Frame, source: str) -> dict[str, str | None]:
    """Return the type of each column by name; None where there is nothing to tell it from.

    Parameters
    ----------
    frame
        The data, opened.
    source
        Where they are: of a text file, the first records are looked at.
    """
    stated = {name: frame.kind(name) for name in frame.columns}
    if not (Path(source).is_file() and source.lower().endswith(CSV)):
        return stated
    head = header(source, frame.reading)
    first = list(islice(records(source, head), 0 if head.declared else 1, _FIRST))
    looks = {  # a record may have more cells than the header, or fewer
        name: _look([record[i] for record in first if i < len(record)], frame.reading)
        for i, name in enumerate(head.names)
    }
    return {**stated, **looks}


def _look(cells: Iterable[str], reading: Reading) -> str | None:
    """Return what most cells that hold anything look like."""
    filled = [cell for cell in cells if cell.strip()]
    if not filled:
        return None
    numbers = sum(reading.number(cell) is not None for cell in filled)
    dates = sum(reading.dates.read(cell) is not None for cell in filled)
    if 2 * numbers > len(filled):
        return "number"
    return "date" if 2 * dates > len(filled) else "text"


# ---- Look through data before anything is published: what is unreadable, and what to declare -----
#
# Everything here is read off the rows, so it is for the curator alone and is never published. It
# costs nothing, for nobody else learns it, and no ledger hears of it.


HEADS = ("column", "numbers", "empty", "others", "dates if declared", "others if declared")
_SHAPES = 6
"""How many shapes are listed; of more, how many there are."""
_LABELS = 10
"""How many labels of a column are listed."""
_FEW = 3
_BLOCK = 1 << 22
_LARGEST = float_info.max
"""A whole number beyond it counts as infinite."""
_CODES = {sign * (10**k - 1) for k in range(1, 7) for sign in (1, -1)} | {-1}
"""Numbers that often stand for an answer that is missing."""
_OTHER_LETTERS = (
    "read as {}, letters that are not ASCII would be other ones, and a category such as 'Süd' "
    "would not be found: the file seems to be {}."
)
_UNDEFINED = frozenset(b"\x81\x8d\x8f\x90\x9d")
"""Bytes that Windows' Western encoding does not have."""


Seen = tuple[ColumnTexts, Counter[float], int]
"""The texts of a column, its numbers, and how many cells are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """What stands in a column."""

    name: str
    numbers: int
    empty: int
    unreadable: int
    dates: int
    after: int
    shapes: tuple[str, ...]
    suspicious: str | None

    @property
    def mostly_numbers(self) -> bool:
        """Whether most of what stands there is a number, as declared best."""
        filled = self.numbers + self.unreadable
        return filled > 0 and 2 * (filled - self.after - self.dates) > filled


@dataclass(frozen=True, kw_only=True)
class Inspection(Displayable):
    """What `inspect` found: for the curator alone.

    It is read off the data, so nothing of it may be published.
    """

    source: str | None
    """The file, if it is one."""
    rows: int
    columns: tuple[ColumnFacts, ...]
    reading: Reading
    """What to declare."""
    remarks: tuple[tuple[str, str], ...]
    """What else was seen, a word and a sentence each."""
    unit: str | None = None
    """The column that names a person, if one was said."""

    @property
    def command(self) -> str | None:
        """A command line that counts the rows with the options that read the file best."""
        return self._typed("count")

    @property
    def next_command(self) -> str | None:
        """How to ask for a mean: the bounds are for the curator to fill in, from what is public."""
        numeric = (c.name for c in self.columns if c.name != self.unit and c.mostly_numbers)
        column = next(numeric, None)
        if column is None:
            return None
        return self._typed("mean", f"-c {quote(column)}", "--bounds LOWER UPPER")

    def _typed(self, statistic: str, *words: str) -> str | None:
        if self.source is None:
            return None
        said = options(self.reading).items()
        own = [f"--{name.replace('_', '-')} {quote(str(x))}" for name, x in said]
        flags = [w.replace("--quotes False", "--no-quotes") for w in own]
        unit = [f"--unit {quote(self.unit)}"] if self.unit else []
        words = (statistic, quote(self.source), *words, *unit, *flags)
        return f"sourdine {' '.join(words)} --epsilon 1"

    def sheet(self) -> Sheet:
        lines = [
            (printable(c.name), *map(str, (c.numbers, c.empty, c.unreadable, c.dates, c.after)))
            for c in self.columns
        ]
        kept = [i for i in range(6) if i != 4 or any(c.dates for c in self.columns)]
        shaped = [c for c in self.columns if c.shapes]
        others = [("shapes", f"{printable(c.name)}: {', '.join(c.shapes)}") for c in shaped]
        odd = [("look", c.suspicious) for c in self.columns if c.suspicious]
        declared = self.reading.to_dict()
        say = f"read={declared}" if declared else "nothing has to be declared"
        typed = [("type", line) for line in (self.command, self.next_command) if line]
        notes = [("rows", str(self.rows)), *self.remarks, *others, *odd, ("declare", say), *typed]
        return Sheet(
            title="For the curator alone: this is read off the data. Do not publish it.",
            heads=[HEADS[i] for i in kept], lines=[[line[i] for i in kept] for line in lines],
            notes=notes,
        )  # fmt: skip


def inspect(
    data: object, *, unit: str | None = None, read: Reading | Mapping[str, Any] | None = None
) -> Inspection:
    """Look through data: what is no number, what seems to be a date, and what to declare.

    For the curator alone: what it says is read off the rows. It costs nothing and is in no ledger.

    Parameters
    ----------
    data
        Anything that `sourdine.Frame` takes.
    unit
        The column that names a person, to see how many rows people have.
    read
        What is declared already, a `sourdine.Reading` or a dict of its parameters.

    Examples
    --------
    >>> found = inspect({"pay": ["1,234.50", "€12", "900", "€7", "1,100"]})
    >>> found.reading.to_dict()
    {'thousands': ',', 'symbols': ['€']}
    >>> found.columns[0].unreadable, found.columns[0].after
    (4, 0)
    >>> inspect({"admitted": ["31.12.2023", "01.02.2024"]}).reading.to_dict()
    {'date_format': '%d.%m.%Y'}
    """
    reading = Reading.of(read)
    remarks: list[tuple[str, str]] = []
    source = fspath(data) if isinstance(data, (str, PathLike)) else None
    if source is not None:
        reading, remarks = _of_file(source, reading)
    elif isinstance(data, Frame) and isinstance(data.engine, TextFile):
        reading, remarks = _of_text(data.engine.files, reading, named=True)
    frame = _opened(data, source, reading)
    if source is not None:
        remarks += _types(frame)
    seen = {name: _seen(frame, name, reading) for name in frame.columns}
    best, other = best_reading(reading, [cells for cells, _, _ in seen.values()])
    remarks += [_mixed(name, units) for name, (cells, _, _) in seen.items()
                if (units := cells.mixed())]  # fmt: skip
    if other is not None:
        remarks.append(_unsure(seen, best, other))
    form, other_form = best_format(best, [cells for cells, _, _ in seen.values()])
    best = replace(best, date_format=form)
    if other_form is not None:
        ways = f"{form!r} or {other_form!r}"
        remarks.append(("unsure", f"the dates can be read in several ways: {ways}."))
    facts = tuple(_facts(name, found, reading, best) for name, found in seen.items())
    if unit is not None:
        remarks.append(("persons", _persons(frame, unit)))
    return Inspection(
        source=None if source is None else shown_source(source), rows=len(frame), columns=facts,
        reading=best, remarks=tuple(remarks), unit=unit,
    )  # fmt: skip


def _opened(data: object, source: str | None, reading: Reading) -> Frame:
    """Open data, even a CSV file with a name twice, which statistics refuse."""
    if source is not None and source.lower().endswith(CSV) and Path(source).is_file():
        return Frame(TextFile([source], reading, anyway=True))
    if isinstance(data, Frame) and isinstance(data.engine, TextFile):
        return Frame(TextFile(data.engine.files, reading, anyway=True, copies=[data.engine]))
    return Frame(data, read=None if isinstance(data, Frame) else reading)


def _mixed(name: str, symbols: list[str]) -> tuple[str, str]:
    """Return a remark on numbers with several symbols."""
    listed = ", ".join(map(repr, map(printable, symbols[:_SHAPES])))
    return "units", (
        f"in {printable(name)}, numbers come with {listed}. If these are units, convert all "
        "numbers to one of them: read together they would be added up as they are."
    )


def _seen(frame: Frame, name: str, reading: Reading) -> Seen:
    """Return the texts of a column, its numbers, and how many cells are empty."""
    texts: Counter[str] = Counter()
    numbers: Counter[float] = Counter()
    empty = typed = 0
    for column, counts in frame.engine.values(name):
        column.reading = reading
        n = [1] * len(column) if counts is None else counts.tolist()
        written = column.data.dtype.kind == "O"
        for number, text, k in zip(column.numbers.tolist(), column.texts, n, strict=True):
            is_number = number is not None and number == number  # noqa: PLR0124 - not NaN
            if text is None:
                empty += k
                continue
            numbers.update({number: k} if is_number else {})
            if written or not is_number:
                texts[text] += k
            else:
                typed += k
    return ColumnTexts(texts, typed), numbers, empty


def _facts(name: str, seen: Seen, declared: Reading, best: Reading) -> ColumnFacts:
    cells, numbers, empty = seen
    shapes: Counter[str] = Counter()
    for text, k in cells.texts.items():
        if declared.number(text) is None and declared.instant(text) is None:
            shapes[shape(text)] += k
    dates = dates_in(cells, best)
    return ColumnFacts(
        name=name, numbers=numbers.total(), empty=empty, unreadable=cells.filled - numbers.total(),
        dates=dates, after=cells.filled - cells.numbers(best) - dates, shapes=_listed(shapes),
        suspicious=_suspicious(name, numbers),
    )  # fmt: skip


def _listed(shapes: Counter[str]) -> tuple[str, ...]:
    """Return the commonest shapes, and how many others there are."""
    common = shapes.most_common(_SHAPES)
    listed = [f"{text!r} {'once' if k == 1 else f'{k} times'}" for text, k in common]
    if others := len(shapes) - len(common):
        cells = shapes.total() - sum(k for _, k in common)
        listed.append(f"and {others} more in {cells} cells")
    return tuple(listed)


def _unsure(seen: Mapping[str, Seen], best: Reading, other: Reading) -> tuple[str, str]:
    """Return a remark on numbers that can be read in two ways."""
    differing = ((name, read_differently(own[0], best, other)) for name, own in seen.items())
    name, cells = next((name, texts) for name, texts in differing if texts)
    mark = best.point if best.point in shape(cells[0]) else best.thousands
    large, small = f"1{mark}234 is 1234", f"1{mark}234 is a little more than 1"
    way, instead = (large, small) if mark == best.thousands else (small, large)
    rest = other.to_dict()
    parts = [f"{part}={rest[part]!r}" for part in ("decimal", "thousands") if part in rest]
    where = f"{shape(cells[0])!r} in {printable(name)}"
    return "unsure", (
        f"cells such as {where} hold thousands or decimals: they are read so that {way}. "
        f"If {instead}, declare {' and '.join(parts) or 'nothing'}."
    )


def _suspicious(name: str, numbers: Counter[float]) -> str | None:
    """Return a remark on an extreme number that stands often and far from all others."""
    values = sorted(v for v in numbers if abs(v) <= _LARGEST)
    if len(values) < len(numbers):
        return f"{printable(name)} holds infinite numbers, which count as its bounds."
    if len(values) <= _FEW:
        return None
    for end, near, far in ((values[-1], values[-2], values[0]), (values[0], values[1], values[-1])):
        if end in _CODES and numbers[end] > 1 and abs(end - near) > abs(near - far):
            code = f"{end:g} stands {numbers[end]} times, far from all others"
            return f"in {printable(name)}, {code}: a code for what is missing?"
    return None


def _persons(frame: Frame, unit: str) -> str:
    if unit not in frame.columns:
        listed = ", ".join(map(repr, frame.columns))
        raise ParameterError(
            "unit", "be one of the columns", given(unit), f"The columns are: {listed}."
        )
    names, owned = frame.distinct(unit)
    nameless = len(frame) - int(owned.sum())
    if not names:
        return f"nobody is named in {printable(unit)}."
    several, most = int((owned > 1).sum()), int(owned.max())
    lost = f", and {nameless} rows without a name count as one person" if nameless else ""
    named = f"{len(names)} in {printable(unit)}"
    return f"{named}; {several} have several rows, at most {most}{lost}."


def printable(name: str) -> str:
    """Return a column's name as it may be printed."""
    return "".join(c if c.isprintable() else "?" for c in name)


def _of_file(source: str, declared: Reading) -> tuple[Reading, list[tuple[str, str]]]:
    """Return how a file seems to be written, and what is to be said of its form."""
    if is_address(source) or Path(source).is_dir():
        return declared, []
    path, sheet = split_sheet(source)
    lowered = path.lower()
    files = [path] if Path(path).is_file() else sorted(glob(path, recursive=True))  # noqa: PTH207
    if lowered.endswith((*CSV, LINES)):
        return _of_text(files, declared, named=lowered.endswith(CSV))
    if lowered.endswith(JSON_LINES):
        return _of_json_lines(files, declared)
    if lowered.endswith(EXCEL):
        return declared, [_of_sheets(file, sheet) for file in files[:1]]
    if lowered.endswith(READSTAT):
        return declared, [note for file in files[:1] for note in _of_readstat(file, declared)]
    return declared, []


def _of_sheets(path: str, sheet: str | None) -> tuple[str, str]:
    """Say which sheet is read, and how to name another."""
    names = [printable(name) for name in worksheets(path)]
    shown = sheet or next(iter(names), "")
    others = [name for name in names if name != shown]
    if not others:
        return "sheet", shown
    typed = quote(f"{Path(path).name}#{others[0]}")
    return "sheet", f"{shown}; the others are {', '.join(others)}: type {typed}"


def _of_readstat(path: str, reading: Reading) -> Iterator[tuple[str, str]]:
    """Say what a file of SPSS, SAS or Stata states."""
    file = ReadstatFile(path, reading)
    yield "encoding", file.encoding
    for name, texts in file.labels.items():
        listed = ", ".join(f"{code:g} = {text}" for code, text in list(texts.items())[:_LABELS])
        more = f" and {len(texts) - _LABELS} more" if len(texts) > _LABELS else ""
        yield "labels", f"{printable(name)}: {printable(listed)}{more}. The numbers are read."


def _of_json_lines(
    files: Sequence[str], declared: Reading
) -> tuple[Reading, list[tuple[str, str]]]:
    """Return a reading with all keys as columns, and a remark on lines that are no objects."""
    keys: Counter[str] = Counter()
    records = broken = 0
    for record in (record for path in files for record in json_records(path, declared)):
        records, broken = records + 1, broken + (not record)
        keys.update(record)
    remarks = []
    if broken:
        remarks.append(("broken", f"{broken} of {records} lines hold no cells: they are missing."))
    if declared.header is not None or not keys:
        return declared, remarks
    usable = [key for key in keys if key.strip() == key and key and "," not in key]
    remarks.append(("header", "the columns of JSON Lines must be declared."))
    return replace(declared, header=tuple(usable)), remarks


def _types(frame: Frame) -> list[tuple[str, str]]:
    """Return a remark on the types that columns have."""
    stated = [(name, frame.declared(name)) for name in frame.columns]
    listed = [f"{printable(name)} {own.dtype}" for name, own in stated if own is not None]
    return [("types", ", ".join(listed))] if listed else []


def _of_text(
    files: Sequence[str], declared: Reading, *, named: bool
) -> tuple[Reading, list[tuple[str, str]]]:
    """Return the encoding that text files seem to have, and what is to be said of their form."""
    reading = declared
    if declared.encoding == "utf-8":
        guesses = Counter(map(_guessed, files))
        reading = replace(declared, encoding=guesses.most_common(1)[0][0]) if guesses else declared
    remarks = [("encoding", reading.encoding)]
    if reading.encoding != declared.encoding:
        remarks.append(("look", _OTHER_LETTERS.format(declared.encoding, reading.encoding)))
    elif declared.encoding not in {"utf-8", "ascii"} and all(map(_is_utf_8, files)):
        remarks.append(("look", _OTHER_LETTERS.format(declared.encoding, "utf-8")))
    if named and files:
        head = header(files[0], reading)
        marks = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
        remarks[0] = ("encoding", head.encoding)
        remarks.append(("separator", marks[head.separator]))
        if head.twice:
            listed = ", ".join(map(repr, map(printable, head.twice)))
            twice = f"{listed} stands twice in the first line: rename one. Statistics refuse it."
            remarks.append(("header", twice))
        remarks += _ragged(files, reading)
        if not head.declared and any(_is_value(name) for name in head.names):
            remarks.append(
                ("header", "the first line holds numbers: if it is a record, declare a header.")
            )
    return reading, remarks


def _ragged(files: Sequence[str], reading: Reading) -> list[tuple[str, str]]:
    """Return a remark on records that have fewer or more cells than the first line."""
    fewer = more = 0
    first = ""
    for path in files:
        head = header(path, reading)
        for number, cells in enumerate(_widths(path, head), start=1):
            if cells != len(head.names):
                fewer, more = fewer + (cells < len(head.names)), more + (cells > len(head.names))
                first = first or f"record {number} has {cells} of {len(head.names)}"
    if not first:
        return []
    text = (
        f"{fewer} records have fewer cells than the first line, and {more} have more; {first}. "
        "Cells that are not there are missing, and those beyond are dropped: quote cells that "
        "hold the separator."
    )
    return [("ragged", text)]


def _widths(path: str, head: Header) -> Iterator[int]:
    """Yield how many cells each record has; a blank line is none."""
    one = len(head.names) == 1
    if not head.mac and head.encoding in {"utf-8", "ascii", "cp1252", "iso8859-1"}:
        mark = head.separator.encode()
        with open_bytes(path) as file:
            if not (head.quotes and any(b'"' in line for line in file)):
                file.seek(0)
                lines = (line for line in file if one or line.strip(b"\r\n"))
                yield from (line.count(mark) + 1 for line in islice(lines, not head.declared, None))
                return
    rows = islice(records(path, head), not head.declared, None)
    yield from (len(row) for row in rows if one or row != [""])


def _is_utf_8(path: str) -> bool:
    """Return whether a file is UTF-8, and not merely ASCII."""
    with open_bytes(path) as file:
        return not file.read(_BLOCK).isascii() and _guessed(path) == "utf-8"


def _is_value(name: str) -> bool:
    return not name or Reading().number(name) is not None


def _guessed(path: str) -> str:
    """Return UTF-8 if a file is that, else what its bytes look like."""
    decoder = getincrementaldecoder("utf-8")()
    odd: set[int] = set()
    try:
        with open_bytes(path) as file:
            first = file.read(_BLOCK)
            if first.startswith((b"\xff\xfe", b"\xfe\xff")):
                return "utf-8"  # the mark names the encoding by itself
            if first[:1000].count(0) * 4 > len(first[:1000]):
                return "utf-16-le" if first[1:2] == b"\0" else "utf-16-be"
            block, plain = first, True
            while block:
                odd |= _UNDEFINED.intersection(block)
                try:
                    decoder.decode(block) if plain else None
                except UnicodeDecodeError:
                    plain = False
                block = file.read(_BLOCK)
    except (OSError, EOFError):
        return "utf-8"
    if plain:
        return "utf-8"
    return "iso8859-1" if odd else "cp1252"
