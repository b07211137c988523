"""Random formulas of every type, as text, and a table of values that engines treat differently."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

MAX = 2**63 - 1
INF, NAN = float("inf"), float("nan")
QUOTED = 'a "select" column'
COLUMNS = {
    "integer": ["whole", "small", "unsigned"],
    "float": ["amount", "decimal"],
    "text": ["city", "digits", f'"{QUOTED.replace(chr(34), chr(34) * 2)}"'],
    "date": ["day"],
    "time": ["moment"],
    "boolean": ["flag"],
}
WHOLES = ["0", "1", "-1", "7", "10", "-3", "2147483648", str(MAX), "-9223372036854775807", "1000"]
FLOATS = ["0.0", "0.5", "-2.5", "1e308", "3.7", "1e-320", "9007199254740993.0", "0.1", "-0.0"]
TEXTS = ["'a'", "'Paris'", "' '", "'é'", "'1'", "'😀'", "'%'", "'it''s'"]
DATES = ["date '2024-02-29'", "date '0001-01-01'", "date '9999-12-31'", "date '1969-12-31'"]
TIMES = ["timestamp '2024-02-29 12:30:00'", "timestamp '1970-01-01 00:00:00'"]
SPANS = ["interval '7 days'", "interval '36 hours'", "interval '1 second'", "interval '0 days'"]
UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
PARTS = [*("year", "quarter", "month", "day", "weekday", "day_of_year"), "hour", "minute", "second"]


def hostile() -> pa.Table:
    """Return rows in which every value is an edge, and which are not aligned with each other."""
    rng = np.random.default_rng(7)
    whole = [0, None, 1, -1, 2**53, 2**53 + 1, MAX, -(2**63), MAX - 1, 7, -7, 3, 10, -10, 2**32]
    small = [*range(-5, 6), None, 127, -128, 0]
    unsigned = [0, None, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**53 + 1, 5, 7, 3, 10, 2, 4, 6, 8]
    amount = [0.5, None, NAN, INF, -INF, -0.0, 0.0, 1e308, 5e-324, 0.49999999999999994, 2.5, -2.5]
    amount += [9.223372036854775807e18, -9.3e18, 1e-5]
    decimal = [Decimal("0.5"), None, Decimal("1E-7"), Decimal(9007199254740993), Decimal(-3)] * 3
    city = [
        "Paris",
        "paris ",
        " LYON",
        None,
        "",
        "Évry",
        "straße",
        "İzmir",
        "ΣΊΣΥΦΟΣ",
        "😀 a",
        "a\0b",
    ]
    city += ["\tx\n", "ДОМ", "e\u0301", "a%b_c"]
    digits = ["1", " 2 ", "1e3", "nan", "-Infinity", "1_0", "9007199254740993", "0x1", "3.0", None]
    digits += ["true", "FALSE", "1e400", "1e-400", "2024-02-29"]
    quoted = ["a", "b", "", None, "'", '"', "%", "_", "\\", "x" * 300, "é", "A", "aa", "ab", "1"]
    day = [
        dt.date(1, 1, 1),
        None,
        dt.date(9999, 12, 31),
        dt.date(2024, 2, 29),
        dt.date(1969, 12, 31),
    ]
    day += [dt.date(1900, 3, 1), dt.date(2000, 1, 1), dt.date(2023, 12, 31), dt.date(1970, 1, 1)]
    day += [dt.date(2024, 12, 30), dt.date(4, 2, 29), dt.date(1582, 10, 10), dt.date(100, 1, 1)]
    day += [dt.date(2021, 1, 3), dt.date(2038, 1, 19)]
    moment = [None if d is None else dt.datetime(d.year, d.month, d.day) for d in reversed(day)]  # noqa: DTZ001
    moment[0] = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
    moment[3] = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
    moment[5] = dt.datetime(1, 1, 1, 0, 0, 0, 1)  # noqa: DTZ001
    flag = [True, False, None] * 5
    made = {
        "whole": (whole, pa.int64()), "small": (small, pa.int8()),
        "unsigned": (unsigned, pa.uint64()), "amount": (amount, pa.float64()),
        "decimal": (decimal, pa.decimal128(38, 7)), "city": (city, pa.string()),
        "digits": (digits, pa.string()), QUOTED: (quoted, pa.string()),
        "day": (day, pa.date32()), "moment": (moment, pa.timestamp("us")),
        "flag": (flag, pa.bool_()),
    }  # fmt: skip
    order = {name: np.concatenate([rng.permutation(15) for _ in range(4)]) for name in made}
    return pa.table(
        {
            name: pa.array([values[i] for i in order[name]], kind)
            for name, (values, kind) in made.items()
        }
    )


class Writer:
    """Writes random formulas of a type, as text."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def one(self, of: list[str]) -> str:
        return of[int(self._rng.integers(len(of)))]

    def column(self, kind: str) -> str:
        return self.one(COLUMNS[kind])

    def formula(self, kind: str, depth: int) -> str:
        """Return a formula with a column in it."""
        for _ in range(50):
            found = getattr(self, f"_{kind}")(depth)
            if any(name in found for names in COLUMNS.values() for name in names):
                return found
        return self.column(kind)

    def _leaf(self, kind: str, constants: list[str]) -> str:
        return self.column(kind) if self._rng.random() < 0.7 else self.one(constants)

    def _any(self, depth: int) -> tuple[str, str]:
        kind = self.one(["integer", "float", "text", "date", "time", "boolean"])
        return kind, self._make(kind, depth)

    def _make(self, kind: str, depth: int) -> str:
        return getattr(self, f"_{kind}")(depth - 1)

    def _common(self, kind: str, depth: int) -> str:
        a, b, c = (self._make(kind, depth) for _ in range(3))
        no = self._make("boolean", depth)
        forms = [
            f"coalesce({a}, {b})", f"case when {no} then {a} else {b} end", f"nullif({a}, {b})",
            f"case when {no} then {a} when {self._make('boolean', depth)} then {b} end",
        ]  # fmt: skip
        if kind != "boolean":
            forms += [f"least({a}, {b}, {c})", f"greatest({a}, {b})", f"clamp({a}, {b}, {c})"]
        return self.one(forms)

    def _integer(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("integer", WHOLES)
        a, b = self._make("integer", depth), self._make("integer", depth)
        t, u = self._make("text", depth), self.one(UNITS)
        d = self._make(self.one(["date", "time"]), depth)
        e = self._make("time", depth)
        return self.one(
            [
                *(f"({a} {op} {b})" for op in ("+", "-", "*", "//", "%")), f"-({a})", f"abs({a})",
                f"sign({a})", f"integer({self._make('float', depth)})", f"length({t})",
                f"{self.one(PARTS)}({d})", f"date_diff('{u}', {d}, {e})", f"integer({t})",
                f"cast({self._make('float', depth)} as integer)", f"{t}::integer",
                self._common("integer", depth),
            ]
        )  # fmt: skip

    def _float(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("float", FLOATS)
        a, b = self._make("float", depth), self._make("float", depth)
        i = self._make("integer", depth)
        return self.one(
            [
                *(f"({a} {op} {b})" for op in ("+", "-", "*", "/", "//", "%")),
                *(f"({a} {op} {i})" for op in ("+", "*", "/", "%")), f"({i} / {i})", f"-({a})",
                f"abs({a})", f"round({a})", f"round({a}, 2)", f"round({a}, -2)", f"floor({a})",
                f"ceil({a})", f"sqrt({a})", f"number({self._make('text', depth)})", f"number({i})",
                f"days({self._span(depth)})", f"sign({a})", self._common("float", depth),
                f"number({self._make('boolean', depth)})",
            ]
        )  # fmt: skip

    def _span(self, depth: int) -> str:
        if depth <= 0:
            return self.one(SPANS)
        a, b = self._make("time", depth), self._make("date", depth)
        return self.one([f"({a} - {b})", f"({b} - {a})", f"abs({a} - {b})", self.one(SPANS)])

    def _text(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("text", TEXTS)
        a, b = self._make("text", depth), self._make("text", depth)
        n, m = (str(int(k)) for k in self._rng.integers(1, 4, 2))
        return self.one(
            [
                f"lower({a})", f"upper({a})", f"trim({a})", f"ltrim({a})", f"rtrim({a})",
                f"substr({a}, {n}, {m})", f"substr({a}, {n})", f"left({a}, {n})",
                f"right({a}, {n})", f"concat({a}, {b})", f"({a} || {b})",
                f"replace({a}, {self.one(TEXTS)}, {self.one([*TEXTS, chr(39) * 2])})",
                f"text({self._any(depth)[1]})", self._common("text", depth),
            ]
        )  # fmt: skip

    def _date(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("date", DATES)
        a, u = self._make("time", depth), self.one(UNITS[:5])
        i = [self._make("integer", depth) for _ in range(2)]
        return self.one(
            [
                f"date({a})", f"date_trunc('{u}', {a})", self._common("date", depth),
                f"make_date(2023 + {i[0]} % 3, {i[1]} % 13, 29)",
                f"date({self._make('text', depth)})",
            ]
        )  # fmt: skip

    def _time(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("time", TIMES)
        a, d = self._make("time", depth), self._make("date", depth)
        s = self._span(depth - 1)
        return self.one(
            [
                f"({a} + {s})", f"({d} - {s})", f"date_trunc('{self.one(UNITS[5:])}', {a})",
                f"time({d})", f"time({self._make('text', depth)})", self._common("time", depth),
            ]
        )  # fmt: skip

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self._leaf("boolean", ["true", "false"])
        p, q = self._make("boolean", depth), self._make("boolean", depth)
        kind = self.one(["integer", "float", "text", "date", "time"])
        a, b, c = (self._make(kind, depth) for _ in range(3))
        t, s = self._make("text", depth), self._make("text", depth)
        constants = {
            "integer": WHOLES,
            "float": FLOATS,
            "text": TEXTS,
            "date": DATES,
            "time": TIMES,
        }
        listed = ", ".join(self.one(constants[kind]) for _ in range(3))
        return self.one(
            [
                *(f"({a} {op} {b})" for op in ("=", "<>", "<", "<=", ">", ">=")),
                f"({p} and {q})", f"({p} or {q})", f"(not {p})", f"({self.column(kind)} is null)",
                f"({a} in ({listed}))", f"({a} not in ({b}, {c}))", f"({a} between {b} and {c})",
                f"({a} is distinct from {b})", f"starts_with({t}, {s})", f"ends_with({t}, {s})",
                f"contains({t}, {s})", f"({t} like '%a_')", f"({t} like 'P%')",
                f"({p} is true)", f"({p} is not false)", f"boolean({t})",
                f"boolean({self._make('float', depth)})", self._common("boolean", depth),
            ]
        )  # fmt: skip


KINDS = ("integer", "float", "text", "date", "time", "boolean")


def formulas(n: int, seed: int = 1) -> list[tuple[str, str]]:
    """Return random formulas, each with its type."""
    writer = Writer(seed)
    kinds = [KINDS[i % len(KINDS)] for i in range(n)]
    return [(kind, writer.formula(kind, 1 + i // 6 % 3)) for i, kind in enumerate(kinds)]
