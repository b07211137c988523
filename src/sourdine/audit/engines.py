r"""One suite for every engine: the counts are those of the values read one by one.

Each check takes a function that puts an Arrow table into an engine, and compares what the engine
gives out with what is found here for each value alone, in plain Python. `CHECKS` lists them, with
the methods of `Engine` that each one covers; ``test_every_method_has_a_check`` fails for a method
that none does. An engine outside this repository runs the same ones: see the guide *Add an engine*.

Examples
--------
>>> from sourdine.frames.frame import Frame
>>> for check in CHECKS:
...     check(Frame)
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import product
from math import floor, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.calendar import read_instant
from sourdine.errors import ParameterError
from sourdine.frames.cells import Codes, Edges, Octaves, Present, Ticked, Ticks
from sourdine.frames.engine import Asked
from sourdine.frames.grouped import Partition, between_each
from sourdine.frames.memory import DATES, NUMBERS, WORDS
from sourdine.frames.people import Reduction
from sourdine.frames.reading import read_number, read_text
from sourdine.grid import MISSING, Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

    from sourdine.frames.cells import Cell
    from sourdine.frames.engine import Engine
    from sourdine.frames.frame import Frame

    Open = Callable[[pa.Table], Frame]
    Rows = dict[str, list[Any]]


CHECKS: list[Callable[[Open], None]] = []
"""What must hold for every engine."""
TYPED: list[Callable[[Open], None]] = []
"""What must hold besides where columns have types; a text file has none."""
_COVERED: dict[str, list[str]] = {}

_INF, _NAN = float("inf"), float("nan")
_DAY, _MICROS = dt.date(2024, 2, 29), dt.datetime(1999, 1, 1, 0, 0, 0, 5)  # noqa: DTZ001
NAME = "a \"select\" 'x' column"
"""A column's name that must be quoted."""
GRIDS = (
    Grid(0, 10, step=1), Grid(-5, 5, step=0.1), Grid(2**53 - 4, 2**53 + 4, step=1),
    Grid(-(2**63), 2**64, step=2**20), Octaves(-5, None, bits=4),
    Octaves(step=Fraction(1, 4), bits=5, centre=2.5),
)  # fmt: skip
NUMERIC = ("float", "whole", "unsigned", "small", "text", "decimal")


def _covers(*methods: str, typed: bool = False) -> Callable[[Any], Any]:
    def register(check: Callable[[Open], None]) -> Callable[[Open], None]:
        (TYPED if typed else CHECKS).append(check)
        for method in methods:
            _COVERED.setdefault(method, []).append(check.__name__)
        return check

    return register


def covered() -> dict[str, list[str]]:
    """Return the checks that cover each method of an engine."""
    return dict(_COVERED)


def hostile() -> pa.Table:
    """Return the table that all checks use: values that engines read differently if they can."""
    import pyarrow as pa

    floats = [0.5, None, _NAN, _INF, -_INF, -0.0, 0.0, 1e308, 5e-324, 0.49999999999999994, 2.5, 1.0]
    whole = [0, None, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 7, 7, 3]
    unsigned = [0, None, 1, 2**64 - 1, 2**63, 2**63 + 1, 2**53 + 1, 5, 5, 2**62, 7, 3]
    texts = [*("1", None, " 2 ", "abc", "1e3", "nan", "-Infinity", "1_0", "9007199254740993")]
    texts += ["0x1", "3.0", "٣"]
    decimals = [Decimal("1E-7"), None, Decimal("0E-7"), Decimal(9007199254740993), Decimal(-3)]
    return pa.table(
        {
            "float": pa.array(floats, pa.float64()),
            "whole": pa.array(whole, pa.int64()),
            "unsigned": pa.array(unsigned, pa.uint64()),
            "small": pa.array([*range(-5, 6), None], pa.int8()),
            "text": pa.array(texts),
            "decimal": pa.array([*decimals, *[Decimal("0.5")] * 7], pa.decimal128(38, 7)),
            "date": pa.array([_DAY, None, *[dt.date(1, 1, 1)] * 10]),
            "moment": pa.array([_MICROS, None, *[_MICROS.replace(year=2024)] * 10]),
            "nothing": pa.array([None] * 12, pa.float64()),
            "who": pa.array(["ann", "bob", None, "", "ann", "ann", "bob", "ann", *["çelik"] * 4]),
            NAME: pa.array([*"abcabca", "é", "'", '"', None, ""]),
        }
    )


def _opened(open_: Open) -> tuple[Frame, Rows]:
    table = hostile()
    return open_(table), {name: table.column(name).to_pylist() for name in table.column_names}


def _same(got: object, want: object, *what: object) -> None:
    if got != want:
        raise AssertionError(f"{what}: got {got}, want {want}")


def _true(holds: object, *what: object) -> None:
    if not holds:
        raise AssertionError(what)


def _slot(cell: Cell, v: object) -> int:
    """Return the slot of one value, found without the code that is tested."""
    if isinstance(cell, Codes):
        return cell.codes.get(read_text(v) or "", MISSING)
    if isinstance(cell, Present):
        return MISSING if read_text(v) is None else 0
    if isinstance(cell, Ticked):
        return cell.codes_of([read_text(v)])[0]
    number = read_number(v)
    if isinstance(cell, Edges):
        return MISSING if number is None else sum(number >= e for e in cell.inner)
    tick = int(cell.grid.ticks(np.array([number], object), missing=MISSING)[0])
    return tick if tick < 0 else tick // cell.block


def _refuses(work: Callable[[], object]) -> None:
    try:
        work()
    except ParameterError:
        return
    raise AssertionError("rows that are away were shown")


def _pairs(groups: Iterable[tuple[list[Any], Any]]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for slots, counts in groups:
        n = [1] * len(slots[0]) if counts is None else counts.tolist()
        for key, k in zip(zip(*(s.tolist() for s in slots), strict=True), n, strict=True):
            found[key] += k
    return +found


def _cells(name: str) -> list[Cell]:
    listed = [0, 1, "abc", " 2 ", 7, 0.5, "é", "'", "a", 2**63 - 1, 2**63, "nan", "inf", _DAY]
    cells: list[Cell] = [Ticks(name, grid) for grid in GRIDS]
    cells += [Ticks(name, GRIDS[0], block=3), Edges(name, [0, 0.5, 2**53 + 1, 2**64])]
    cells += [Codes(name, [*listed, _MICROS, "0.0000001"]), Present(name)]
    return [*cells, Ticked(name, ("a", "b", "1"), ";")]


@_covers("rows", "columns", "reading", "parsed", "kind")
def shape(open_: Open) -> None:
    """Check that columns have their names in order, and that missing values are rows too."""
    frame, rows = _opened(open_)
    _same(frame.columns, tuple(rows))
    _same(len(frame), 12)
    _true(frame.reading.is_standard)
    for name in rows:
        kind = frame.engine.kind(name)
        _true(kind is None or (isinstance(kind, str) and not frame.parsed), name)


@_covers("declared")
def types(open_: Open) -> None:
    """Check that what is declared of a column is true, and does not depend on its rows."""
    table = hostile()
    frame, empty = open_(table), open_(table.slice(0, 0))
    for name in table.column_names:
        declared = frame.declared(name)
        if declared is not None:
            _true(not frame.parsed, name)
            kind = WORDS if name in {"text", "who", NAME} else NUMBERS
            _same(declared.holds, DATES if name in {"date", "moment"} else kind, name)
        _same(empty.declared(name), declared, name)
        _same(frame.only(name).declared(name), declared, name)


@_covers("groups", "tally", "prefetch", "in_one_pass")
def groups(open_: Open) -> None:
    """Check that every value falls into the slot that it falls into alone, for every cell."""
    frame, rows = _opened(open_)
    for name in rows:
        for cell in _cells(name):
            frame.engine.prefetch(Asked(((name, cell),)))
    for i, (name, values) in enumerate(rows.items()):
        cells = _cells(name)
        slots_of = [[_slot(cell, v) for v in values] for cell in cells]
        if not frame.engine.away:  # one query for many cells: in which of each a row falls
            joint = Counter(zip(*slots_of, strict=True))
            _same(_pairs(frame.engine.groups([(name, cell) for cell in cells])), joint, name)
        for j, (cell, own) in enumerate(zip(cells, slots_of, strict=True)):
            want = Counter((slot,) for slot in own)
            if frame.engine.away or (i + j) % 3 == 0:  # the tallies count all of them alone
                _same(_pairs(frame.engine.groups([(name, cell)])), want, name, cell)
            if isinstance(cell, Ticks) and frame.engine.in_one_pass(name, cell):
                _same(frame.engine.tally([(name, cell)]).sizes, (cell.size,))
            tally = frame.engine.tally([(name, cell)])
            slots = np.append(np.asarray(tally.ticks), MISSING)
            counts = np.append(np.asarray(tally.tallied), tally.missing)
            _same(_pairs([([slots[counts > 0]], counts[counts > 0])]), want, name, cell)
    ticks, codes = Ticks("float", GRIDS[0]), Codes(NAME, ["a", "b"])
    both = zip(rows["float"], rows[NAME], strict=True)
    pairs = Counter((_slot(ticks, x), _slot(codes, v)) for x, v in both)
    _same(_pairs(frame.engine.groups([("float", ticks), (NAME, codes)])), pairs, "both")


@_covers("slots", "away")
def slots(open_: Open) -> None:
    """Check that slots come in the order of the rows, in blocks no larger than asked.

    An engine whose rows are away refuses that, and to show a column.
    """
    frame, rows = _opened(open_)
    if frame.engine.away:
        _refuses(lambda: next(iter(frame.engine.slots([("whole", Ticks("whole", GRIDS[0]))], 5))))
        _refuses(lambda: frame.engine.column("whole"))
        return
    for name in ("whole", "text", NAME):
        for cell in (Ticks(name, GRIDS[0]), Codes(name, ["a", 7, "abc"])):
            blocks = [block[0].tolist() for block in frame.engine.slots([(name, cell)], 5)]
            _true(max(map(len, blocks)) <= 5, name)
            _same([s for b in blocks for s in b], [_slot(cell, v) for v in rows[name]], name, cell)


@_covers("total", "moments", "sums")
def sums(open_: Open) -> None:
    """Check that sums of powers are exact, however large."""
    frame, rows = _opened(open_)
    for name, grid in product(NUMERIC, GRIDS):
        for most in (2, 3):
            frame.engine.prefetch(Asked(((name, Ticks(name, grid)),), most))
    for i, (name, grid) in enumerate(product(NUMERIC, GRIDS)):
        cell = Ticks(name, grid)
        ticks = [t for t in (_slot(cell, v) for v in rows[name]) if t >= 0]
        want = [sum(t**power for t in ticks) for power in range(4)]
        _same(frame.engine.moments(name, cell, 3), want, name, grid)
        power = 1 + (i + i // len(GRIDS)) % 2  # each power of each column and on each grid
        _same(frame.engine.total(name, cell, power), want[power], name, grid)
    axes = [("who", Codes("who", ["ann", "bob"]))]
    found = frame.engine.sums(axes, ("small", Ticks("small", GRIDS[0])), 1)
    if found is not None:
        own: Counter[int] = Counter()
        for code, (n, *_) in zip(found[0][0].tolist(), found[1], strict=True):
            own[code] += n
        _same(+own, Counter(_slot(axes[0][1], v) for v in rows["who"]))


@_covers("products")
def products(open_: Open) -> None:
    """Check that sums of products are exact, of rows with no missing value, and by group."""
    frame, rows = _opened(open_)
    powers = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (1, 0, 1), (2, 2, 1)]
    columns_ = [("float", "small", "whole"), ("text", "unsigned", "decimal")]
    parts = Partition(frame.engine, ["who"], [("ann",), ("nobody",)], other=True).parts
    groups = [[v == "ann" for v in rows["who"]], [False] * 12, [v != "ann" for v in rows["who"]]]
    for names, of in product(columns_, (GRIDS[0], GRIDS[1], GRIDS[3], GRIDS[4])):
        cells = [(name, Ticks(name, of)) for name in names]
        ticks = list(zip(*([_slot(c, v) for v in rows[n]] for n, c in cells), strict=True))
        complete = [min(own) >= 0 for own in ticks]

        def want(there: Sequence[bool], ticks: Any = ticks) -> list[int]:
            kept = [own for own, some in zip(ticks, there, strict=True) if some]
            return [sum(prod(map(pow, own, each)) for own in kept) for each in powers]

        _same(frame.engine.products(cells, powers), want(complete), names, of)
        for part, own in zip(parts, groups, strict=True):
            both = [a and b for a, b in zip(complete, own, strict=True)]
            _same(part.products(cells, powers), want(both), names, of, own)


@_covers("within", "between")
def windows(open_: Open) -> None:
    """Check that ticks within ranges are counted, of all and by group, and no others."""
    frame, rows = _opened(open_)
    who = Codes("who", ["ann", "bob", "nobody"])
    codes = [_slot(who, v) for v in rows["who"]]
    for i, (name, grid) in enumerate(product(NUMERIC, GRIDS)):
        of = (name, Ticks(name, grid))
        frame.engine.prefetch(Asked((of,), within=_ranges(grid)))
        if _grouped(i):
            frame.engine.prefetch(Asked((("who", who), of), within=_ranges(grid)))
    for i, (name, grid) in enumerate(product(NUMERIC, GRIDS)):
        cell, ranges = Ticks(name, grid), _ranges(grid)
        ticks = [_slot(cell, v) for v in rows[name]]
        inside = [any(a <= t < b for a, b in ranges) for t in ticks]
        want = Counter(t for t, some in zip(ticks, inside, strict=True) if some)
        found, counts = frame.engine.between(name, cell, ranges)
        _same(dict(zip(found.tolist(), counts.tolist(), strict=True)), dict(want), name, grid)
        _same(found.tolist(), sorted(want), name, grid)
        if not _grouped(i):
            continue
        pairs = _pairs(frame.engine.within([("who", who), (name, cell)], ranges))
        both = zip(codes, ticks, inside, strict=True)
        _same(pairs, Counter((c, t) for c, t, some in both if some), name, grid)
    _same([len(part) for part in frame.engine.between("float", cell, [])], [0, 0])
    _by_group(frame.engine, rows, codes)


def _grouped(i: int) -> bool:
    """Return whether a pair of a column and a grid is counted by group: every other one is."""
    return (i + i // len(GRIDS)) % 2 == 0


def _ranges(grid: Any) -> tuple[tuple[int, int], ...]:
    last = grid.last
    return (0, 2), (last // 2, last // 2 + 5), (last, last + 1)


def _by_group(engine: Engine, rows: Rows, codes: Sequence[int]) -> None:
    parts = Partition(engine, ["who"], [("ann",), ("bob",), ("nobody",)], other=True).parts
    cell = Ticks("small", GRIDS[1])
    ranges = [[(0, 60)], [(60, 101)], [(0, 101)], [(50, 51)]]
    found = between_each(parts, "small", cell, ranges)
    for i, ((ticks, counts), own) in enumerate(zip(found, ranges, strict=True)):
        mine = [_slot(cell, v) for v, c in zip(rows["small"], codes, strict=True) if c % 4 == i]
        want = Counter(t for t in mine if own[0][0] <= t < own[0][1])
        _same(dict(zip(ticks.tolist(), counts.tolist(), strict=True)), dict(want), i)


@_covers("column", "only", "array")
def columns(open_: Open) -> None:
    """Check that a column has its values in order, and that some columns alone are the same."""
    frame, rows = _opened(open_)
    engine = frame.engine
    for name, values in rows.items():
        if not engine.away:
            _same(engine.column(name).texts.tolist(), [read_text(v) for v in values], name)
    some = engine.only("who", "small")
    _same(some.columns, ("who", "small"))
    _same(some.rows(), 12)
    cell = Ticks("small", GRIDS[0])
    _same(_pairs(some.groups([("small", cell)])), _pairs(engine.groups([("small", cell)])))
    array = engine.array("float")
    if array is not None:
        want = [_NAN if v is None else v for v in rows["float"]]
        _true(np.array_equal(array, want, equal_nan=True))


@_covers("values", "combinations", "present")
def texts(open_: Open) -> None:
    """Check that values that occur are named by their texts; what is missing has none."""
    frame, rows = _opened(open_)
    for name, values in rows.items():
        want = Counter(t for t in map(read_text, values) if t is not None)
        keys, counts = frame.distinct(name)
        _same(dict(zip(keys, counts.tolist(), strict=True)), dict(want), name)
        _same(frame.engine.present(name), want.total(), name)
    both = zip(map(read_text, rows["who"]), map(read_text, rows["small"]), strict=True)
    pairs = Counter(key for key in both if None not in key)
    _same(frame.combinations(["who", "small"]), dict(pairs))


@_covers("derived", "rows", "bound", "only")
def formulas(open_: Open) -> None:
    """Check that filters keep the right rows, and that derived columns hold the right values."""
    frame, rows = _opened(open_)
    small, who = rows["small"], rows["who"]
    kept = [i for i, v in enumerate(small) if v is not None and v > -3 and read_text(who[i])]
    named = (("column", "small * 2 + 1"), ("by", "lower(who)"))
    found = frame.derived("small > -3 and who is not null", *named).computed()
    _same(len(found), len(kept))
    twice = Counter(str(2 * small[i] + 1) for i in kept)
    keys, counts = found.distinct("small * 2 + 1")
    _same(dict(zip(keys, counts.tolist(), strict=True)), dict(twice))
    keys, counts = found.distinct("lower(who)")
    _same(dict(zip(keys, counts.tolist(), strict=True)), dict(Counter(who[i] for i in kept)))
    pairs = found.combinations(["who", "small * 2 + 1"])
    _same(sum(pairs.values()), len(kept))
    one = found.only("who", "small * 2 + 1").bound("who", 1)
    _same(len(one), len({who[i] for i in kept}))
    _same(len(frame.derived("small > 100").computed()), 0)


@_covers("split")
def split(open_: Open) -> None:
    """Check that each key has its rows, and that rows of no key are in no part."""
    frame, rows = _opened(open_)
    for name, values in rows.items():
        want = Counter(t for t in map(read_text, values) if t is not None)
        some = 2 if frame.engine.away else None  # each part is a query of its own
        keys = [*sorted(want)[:some], "no such key"]
        parts = frame.split(name, keys)
        _same([len(part) for part in parts], [want[key] for key in keys], name)
    first = frame.split("who", ["ann"])[0]
    small = [v for v, who in zip(rows["small"], rows["who"], strict=True) if who == "ann"]
    _same(first.distinct("small")[0], sorted(read_text(v) or "" for v in small))
    _same(len(first.split("small", [small[0]])[0]), 1)


@_covers("bound")
def bound(open_: Open) -> None:
    """Check that the rows stay that the definition keeps, and that each kind has its order."""
    frame, rows = _opened(open_)
    twice = {name: values * 2 for name, values in rows.items()}
    double = open_(hostile().take([*range(12), *range(12)]))
    key = bytes(range(32))
    cases = [(frame, rows, "who", 1), (frame, rows, "who", 3), (double, twice, "who", 2)]
    for name in ("float", "whole", "unsigned", "text", "decimal", "moment", NAME):
        own = {n: rows[n] for n in rows if n in {name, "nothing"}}
        cases.append((frame.only(*own), own, "nothing", 5))
    for opened, table, unit, most in cases:
        stay = opened.engine.bound(unit, most, key)
        want = _kept(table, unit, most, key)
        texts = {name: [read_text(values[i]) for i in want] for name, values in table.items()}
        _same(_written(stay, tuple(table)), Counter(zip(*texts.values(), strict=True)), *table)
        _same(stay.rows(), len(want), most)


def _written(engine: Engine, names: Sequence[str]) -> Counter[tuple[Any, ...]]:
    found = engine.combinations(names)
    return _pairs(([column.texts for column in columns_], counts) for columns_, counts in found)


def _kept(rows: Rows, unit: str, most: int, key: bytes) -> list[int]:
    """Return the rows that stay, by the definition."""
    texts = {name: [read_text(v) for v in values] for name, values in rows.items()}
    owned: dict[str | None, list[int]] = {}
    for i, who in enumerate(texts[unit]):
        owned.setdefault(who, []).append(i)
    stay: list[int] = []
    for who, own in owned.items():
        own.sort(key=lambda i: [_place(column[i]) for column in texts.values()])
        number, n = int(sha256(f"{key.hex()}{who or ''}".encode()).hexdigest(), 16) >> 196, len(own)
        stay += [i for r, i in enumerate(own) if n <= most or (r * most + number) % n < most]
    return stay


def _place(text: str | None) -> tuple[Any, ...]:
    """Return what values are put in order by."""
    number = None if text is None else read_number(text)
    if number is None:
        return (text is not None, text)
    return (2, float(number), (number,) if type(number) is int else (), text)


@_covers("weighted")
def weighted(open_: Open) -> None:
    """Check that weights are added up exactly, whichever rows are missing something."""
    frame, rows = _opened(open_)
    engine, codes = frame.engine, Codes(NAME, ["a", "b", "é"])
    named = [_slot(codes, v) for v in rows[NAME]]
    cases = [(w, of) for w in NUMERIC for of in ("float", "small", "text", "who")]
    for name, of in cases[:: 23 if engine.away else 5]:
        weight = Ticks(name, Grid(0, 8, step=0.5))
        ticks = [max(_slot(weight, v), 0) for v in rows[name]]
        for cell in (Ticks(of, GRIDS[1]), Codes(of, ["ann", 1, -3]), Present(of)):
            slots = [_slot(cell, v) for v in rows[of]]
            got = _pairs(engine.weighted([(of, cell)], (name, weight)))
            _same(got, _weighed([(s,) for s in slots], ticks), name, of, cell)
        got = _pairs(engine.weighted([(NAME, codes), (of, cell)], (name, weight)))
        _same(got, _weighed(list(zip(named, slots, strict=True)), ticks), name, of)
        _weighted_rows(frame.weighted(weight), of, rows, ticks)


def _weighted_rows(frame: Frame, of: str, rows: Rows, ticks: Sequence[int]) -> None:
    """Check what is counted of weighted rows, of all and by group."""
    cell = Ticks(of, GRIDS[0])
    both = [(_slot(cell, v), w) for v, w in zip(rows[of], ticks, strict=True)]

    def moments(part: Sequence[tuple[int, int]]) -> list[int]:
        return [sum(w * t**power for t, w in part if t >= 0) for power in range(4)]

    _same(len(frame), sum(ticks), of)
    _same(frame.moments(cell, 3), moments(both), of)
    near = [(t, w) for t, w in both if t in {0, 1, 2, 9, 10}]
    found, counts = frame.between(cell, [(0, 3), (9, 11)])
    got = {(t,): w for t, w in zip(found.tolist(), counts.tolist(), strict=True) if w}
    _same(got, dict(_weighed([(t,) for t, _ in near], [w for _, w in near])), of)
    keys = {"a": 0, "é": 1}
    own = [keys.get(read_text(v) or "", 2) for v in rows[NAME]]
    parts = frame.groups([NAME], [(key,) for key in keys], other=True)
    for i, part in enumerate(parts):
        mine = [pair for pair, group in zip(both, own, strict=True) if group == i]
        _same(part.moments(cell, 3), moments(mine), of, i)
        _same(len(part), sum(w for _, w in mine), of, i)


def _weighed(slots: Sequence[tuple[int, ...]], ticks: Sequence[int]) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for slot, w in zip(slots, ticks, strict=True):
        found[slot] += w
    return +found


@_covers("reduced")
def reduced(open_: Open) -> None:
    """Check that each person has the value and the groups that the definition gives them."""
    order = [*range(12), *reversed(range(12)), *range(5)]
    table = hostile().take(order)
    twice = {name: table.column(name).to_pylist() for name in table.column_names}
    double, groups, cases = open_(table), ("small", NAME, "whole"), []
    for i, name in enumerate((*NUMERIC, "nothing", "who")):
        for j, word in enumerate(("sum", "mean", "min", "max", "count")):
            unit = ("who", "small", "float", NAME)[(i + j) % 4]
            own = tuple(g for g in groups[: i % 3] if g != name)
            cases.append(Reduction(unit, word, name, (-6, 0, 3, -12)[j % 4], groups=own))
        by = ("small", "float", "date", "moment", "whole")[i % 5]
        cases.append(Reduction("who", "last", name, -3, order=by))
    for name, word in product(("date", "moment"), ("min", "max", "last", "count")):
        last = "small" if word == "last" else None
        cases.append(Reduction("who", word, name, 0, dated=True, order=last))
    cases += [Reduction(unit, "count") for unit in ("nothing", "moment", "unsigned", "decimal")]
    for g in ("float", "text", "unsigned", "decimal", "date", "moment", "nothing"):
        cases.append(Reduction("who", "max", "small", groups=(g, "who")))
    for how in cases[:: 11 if double.engine.away else 1]:  # each is a query of its own
        _reduced(double, twice, how)


def _reduced(opened: Frame, rows: Rows, how: Reduction) -> None:
    """Compare one reduction with its definition."""
    got = opened.reduced(how)
    want: Counter[tuple[str | None, ...]] = Counter()
    owned: dict[str | None, list[int]] = {}
    for i, who in enumerate(rows[how.unit]):
        owned.setdefault(read_text(who), []).append(i)
    for own in owned.values():
        shared = [{read_text(rows[name][i]) for i in own} - {None} for name in how.groups]
        texts = [next(iter(some)) if len(some) == 1 else None for some in shared]
        want[read_text(_of_person(rows, own, how)), *texts] += 1
    _same(got.columns, how.names, how)
    _same(len(got), len(owned), how)
    _same(_written(got.engine, how.names), want, how)


def _of_person(rows: Rows, own: Sequence[int], how: Reduction) -> object:
    """Return the value of the person who owns some rows, by the definition."""
    if how.column is None:
        return len(own)
    if how.counts:
        return sum(read_text(rows[how.column][i]) is not None for i in own)
    power = 10.0 ** abs(how.exponent)
    read = {i: _whole(rows[how.column][i], how, power) for i in own}
    found = [(i, r) for i, r in read.items() if r is not None]
    numbers = [r for _, r in found]
    if not found:
        return None
    if how.how == "sum":
        k = min(max(sum(numbers), -(2**61)), 2**61)
    elif how.how == "mean":
        k = floor(Fraction(sum(numbers), len(numbers)) + Fraction(1, 2))
    elif how.order is not None:
        k = max((_late(rows[how.order][i]), r) for i, r in found)[1]
    else:
        k = min(numbers) if how.how == "min" else max(numbers)
    if how.dated:
        return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=k)  # noqa: DTZ001
    return float(k) / power if how.exponent <= 0 else float(k) * power


def _whole(v: object, how: Reduction, power: float) -> int | None:
    """Return the whole number of a row."""
    if how.dated:
        return read_instant(v) if isinstance(v, dt.date) else None
    number = read_number(v)
    if number is None:
        return None
    limit = float(2**61 * Fraction(10) ** how.exponent)
    near = min(max(float(number), -limit), limit)
    return floor((near * power if how.exponent <= 0 else near / power) + 0.5)


def _late(v: object) -> tuple[int, float]:
    """Return what tells how late a row is: a date, or else a number."""
    if isinstance(v, dt.date):
        return 2, read_instant(v) or 0
    number = read_number(v)
    return (0, 0.0) if number is None else (1, float(number))


@_covers("owned", "afresh")
def people(open_: Open) -> None:
    """Check how many people own one row, two, three or more; rows of nobody are one person's."""
    frame, rows = _opened(open_)
    frame.engine.prefetch(Asked(()))
    sizes = Counter(map(read_text, rows["who"])).values()
    _same(frame.engine.afresh().owned("who", 3), dict(Counter(min(n, 3) for n in sizes)))
    _same(frame.engine.rows(), 12)


@_covers("groups", "total", "split", "bound", "rows")
def no_rows(open_: Open) -> None:
    """Check that a table without rows counts nothing, and raises nothing."""
    frame = open_(hostile().slice(0, 0))
    _same(len(frame), 0)
    for name in ("float", "whole", "who"):
        cell = Ticks(name, GRIDS[0])
        _same(_pairs(frame.engine.groups([(name, cell)])), Counter())
        _same(frame.engine.total(name, cell, 2), 0)
        _same(frame.engine.moments(name, cell, 1), [0, 0])
        _same(frame.engine.products([(name, cell)] * 2, [(0, 0), (1, 1)]), [0, 0])
        _same([len(part) for part in frame.split(name, ["a", 1])], [0, 0])
        _same(frame.engine.bound("who", 1, bytes(32)).rows(), 0)
        _same(len(frame.engine.between(name, cell, [(0, 5)])[0]), 0)


@_covers("groups", "split", typed=True)
def truth(open_: Open) -> None:
    """Check that true and false are 1 and 0, and the texts true and false."""
    import pyarrow as pa

    frame = open_(pa.table({"b": pa.array([True, False, None, True])}))
    _same(frame.tally(Ticks("b", Grid(0, 2, step=1))).counts.tolist(), [1, 2, 0, 1])
    _same(frame.tally(Codes("b", [True, "false"])).counts.tolist(), [2, 1, 1])
    _same([len(part) for part in frame.split("b", ["true", False, "x"])], [2, 1, 0])
