"""A table of questions, good and bad, made from what the statistics declare.

A question is a statistic's name and the values typed for its parameters: Python values, or texts,
which mean the same in a call, in a shell and in JSON.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import sourdine as sd
from sourdine.central import Statistic
from sourdine.errors import LEFT_OUT
from sourdine.parameters.question import parameters
from sourdine.questions import STATISTICS

DATA = {
    "age": [20, 31, 47, 55, 62, 38] * 5,
    "region": ["f", "m"] * 15,
    "patient": list(range(15)) * 2,
    "day": ["2020-05-01", "2021-07-31", "2024-02-29T12:00"] * 10,
    "weight": [0.5, 1, 2.25] * 10,
}
SHARED = ("relation", "unit", "rows", "read")
"""What a session fixes when it is opened."""

AGE = {"column": "age", "bounds": (0, 120), "step": 1, "n": 1000, "epsilon": 1}
TWO = {"x": "age", "y": "patient", "bounds": {"age": (0, 120), "patient": (0, 20)}, "n": 1000,
       "epsilon": 1}  # fmt: skip
BASE = {
    "count": {"epsilon": 1},
    "sum": AGE,
    "mean": AGE,
    "variance": AGE,
    "proportion": {"column": "region", "category": "f", "n": 1000, "epsilon": 1},
    "histogram": {"column": "age", "bins": 4, "bounds": (0, 120), "epsilon": 1},
    "mode": {"column": "region", "categories": ["f", "m"], "epsilon": 1},
    "quantiles": {**AGE, "q": [0.25, 0.5, 0.75]},
    "quantile": {**AGE, "q": 0.9},
    "median": AGE,
    "table": {
        "of": {"age": ["mean", "median"], "*": ["count"]}, "bounds": {"age": (0, 120)}, "n": 1000,
        "epsilon": 1,
    },
    "sql": {
        "statement": "SELECT AVG(age), COUNT(*) FROM people", "bounds": {"age": (0, 120)},
        "n": 1000, "epsilon": 1,
    },
    "cdf": AGE,
    "std": AGE,
    **dict.fromkeys(("covariance", "correlation", "regression"), TWO),
}  # fmt: skip
"""A good question of each statistic."""

OUT, FIND = LEFT_OUT, "find"
EDGES = {"bounds": OUT}
LISTED = {"bins": OUT, "bounds": OUT, "column": "region"}
UNKNOWN = {**LISTED, "categories": "unknown", "delta": 1e-6}
GROUPS = {"by": "region", "keys": ["f", "m"]}
GROUPED = {"statement": "SELECT region, AVG(age), COUNT(*) FROM people GROUP BY region"}
BY_DAY = {"by": "day", "keys": ["2020-05-01", "2021-07-31"]}
PAIRS = {"keys": {"region": ["f", "m"], "patient": [1, 2]}}
FOUND = {"keys": "unknown", "delta": 1e-6}
FIXED = {"relation": "substitute"}
GAUSSIAN = {"method": "gaussian", "delta": 1e-6}
WEIGHED = {"weights": "patient"}
STRATA = {**WEIGHED, "weight_bounds": (0, 300), "strata": "region"}
INVERSE = {"method": "inverse_sensitivity"}


DAYS = ("2020-01-01", "2024-12-31")
HOURS = ("2020-01-01T00:00", "2020-02-01T00:00")
GERMAN = {"date_format": "%d.%m.%Y"}
DATED: list[dict[str, Any]] = [
    {"bounds": DAYS},
    {"bounds": " ".join(DAYS)},
    {"bounds": "2020-01-01 00:00, 2020-02-01 00:00"},
    {"bounds": tuple(map(dt.date.fromisoformat, DAYS))},
    {"bounds": np.array(DAYS, "datetime64[D]")},
    {"bounds": DAYS, "step": "2 days"},
    {"bounds": DAYS, "step": dt.timedelta(days=1)},
    {"bounds": HOURS, "step": "15 min"},
    {"bounds": ("2020-01-01", HOURS[1]), "step": "1/2 h"},
    {"bounds": ("01.01.2020", "31.12.2024"), "read": GERMAN},
    {"bounds": ("01.01.2020", "2024-12-31"), "read": sd.Reading(**GERMAN)},
]
"""Bounds that are dates, and steps between them."""


# ---- good values, with what must be typed beside them

NUMBERS = [1, 0.5, "0.5", "1/3", " 2 ", Fraction(1, 3), Decimal("0.25"), np.float64(0.5), "1e-1"]
GOOD: dict[str, list[Any]] = {
    "column": ["age"],
    "where": ["age >= 30", "region = 'f' and patient % 2 = 0", "day is not null"],
    "epsilon": [*NUMBERS, "1_000", np.int64(2)],
    "confidence": [0.9, "0.99", Fraction(2, 3), "4/5"],
    "n": [1000, "1000", "1e3", "2_000", 10**6, np.int64(500)],
    "relation": ["substitute", "add_remove", sd.SUBSTITUTE],
    "unit": ["patient"],
    "read": [{"decimal": ","}, sd.Reading(encoding="cp1252", symbols=("€",))],
    "rows": [2, "3", np.int64(1)],
    "bounds": [
        (0, 240),
        [0, "240"],
        ("-12", "120"),
        (0.0, 120.0),
        "0 120",
        "0,120",
        np.array([0, 240]),
        FIND,
        (0, None),
        "0 none",
        (None, "240"),
        [0, 240, "find"],
    ],
    "step": [2, "0.5", "1/4", 0.125, 2**-10, Fraction(1, 3)],
    "category": ["m", "other"],
    "interval": [0.9, "0.95", None, "none", "auto"],
    "spread": [10, "12.5", Fraction(1, 3)],
    "population": [True, "true"],
    "statement": ["SELECT AVG(age) AS a FROM p HAVING a > 3", "select sum(age) from people"],
    "tables": [{"towns": "towns.csv"}],
    "lookup": [{str(Path(__file__).with_name("regions.csv")): "region"}],
}
ERRORS = {"count": 10, "sum": 5000, "mean": 2, "variance": 500, "proportion": 0.05, "histogram": 20,
          "mode": 20, "quantiles": 0.05, "quantile": 0.05, "median": 0.05, "cdf": 0.05,
          "table": 0.1, "sql": 0.1, "std": 10, "covariance": 20, "correlation": 0.5,
          "regression": 2}  # fmt: skip
OF_A_TABLE: dict[str, list[Any]] = {
    "of": [{"age": ["mean"]}, {"age": ["mean", "deciles", "count"], "*": ["count"]},
           {"age": ("sum", "variance")}],
    "bounds": [{"age": (0, 240)}, {"age": ["0", 120.5]}],
    "steps": [{"age": 1}, {"age": "0.5"}, {"age": Fraction(1, 4)}],
}  # fmt: skip
NOT_OF_A_TABLE: dict[str, list[Any]] = {
    "of": [3, [], {}, {"age": []}, {"age": ["modus"]}, {"*": ["mean"]}, {"age": 3}, "mean"],
    "bounds": [3, [0, 120], {}, {"age": 3}, {"age": (1, 0)}, {"region": (0, 1)}],
    "steps": [3, {"age": "x"}, {"age": 0}, {"age": 0.7}],
}
OF_TWO: dict[str, list[Any]] = {
    "bounds": [
        {"age": (0, 240), "patient": (0, 20)},
        {"age": ["0", 120.5], "patient": (-1, 30)},
        "find",
        {"age": (0, 120), "patient": "find"},
    ],
    "steps": [{"age": 1}, {"age": "0.5", "patient": Fraction(1, 4)}],
    "x": ["age"],
    "y": ["patient"],
}
NOT_OF_TWO: dict[str, list[Any]] = {
    "bounds": [3, [0, 120], {}, {"age": (0, 120)}, {"age": 3}, {"region": (0, 1)}],
    "steps": NOT_OF_A_TABLE["steps"],
    "x": [3, True, "", {"a": 1}, "patient"],
    "y": [3, True, "", ["age"], "age"],
}  # fmt: skip
BY_COLUMN = {
    **dict.fromkeys(("table", "sql"), (OF_A_TABLE, NOT_OF_A_TABLE)),
    **dict.fromkeys(("covariance", "correlation", "regression"), (OF_TWO, NOT_OF_TWO)),
}
"""Good and bad values of parameters that some statistics have in a way of their own."""
ORDERS = [
    [0.1, 0.9],
    "0.1,0.5,0.9",
    np.array([0.1, 0.9]),
    (Fraction(1, 3), 0.5),
    ["1/4", "0.5"],
    [0.5],
]
BESIDE: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "bins": [(7, {}), ("7", {}), ([0, 18, 65, 120], EDGES), ("0,18,65,120", EDGES),
             ([0, "1/3", 0.5], EDGES), (np.linspace(0, 120, 5), EDGES)],
    "categories": [(["f", "m"], LISTED), ("f,m", LISTED), ("unknown", UNKNOWN), (["x"], LISTED),
                   (np.array(["f", "m"]), LISTED)],
    "by": [("region", GROUPS), (["region"], {"keys": ["f", "m"]}), (["region", "patient"], PAIRS)],
    "weights": [("patient", {"weight_bounds": (0, 300)})],
    "weight_bounds": [((0, 300), WEIGHED), ([0, 7.5], WEIGHED), ([0, "1/3"], WEIGHED)],
    "strata": [("region", {**STRATA, "strata_keys": ["f", "m"]})],
    "strata_keys": [(["f", "m"], STRATA), ("f,m", STRATA), ("f", STRATA)],
    "per_person": [("count", {"unit": "patient"}), ("count", {"unit": "patient", **BY_DAY})],
    "other": [(True, GROUPS), (True, {**FOUND, "by": "region"})],
    "steps": [(7, {"method": "histogram"}), ("200", {"method": "histogram"}),
              (np.int64(3), {"method": "HistogramMethod"})],
    "rho": [(2, INVERSE), ("0.5", INVERSE), (0, INVERSE), (Fraction(1, 3), INVERSE)],
    "keys": [(["f", "m"], GROUPS), ("unknown", {**FOUND, "by": "region"}),
             ([("f", 1), ("m", 2)], {"by": ["region", "patient"]}),
             (PAIRS["keys"], {"by": ["region", "patient"]}), ("f,m", {"by": "region"}),
             ("f", {"by": "region"}),
             (np.array(["f", "m"]), {"by": "region"})],
}  # fmt: skip


# ---- bad values

NO_NUMBER = ["much", "", "1.2.3", "1/0", "--", True, [1], {"a": 1}]
NOT_ABOVE_0 = [0, -1, "-0.5", "0", Fraction(-1, 3)]
NOT_FINITE = ["nan", "inf", float("inf"), float("nan"), "-inf"]
BAD: dict[str, list[Any]] = {
    "column": [3, ["age"], True, ""],
    "lookup": ["people.csv", {}, {"people.csv": 3}, [1]],
    "where": [3, ["age"], "", "sum(age) > 3", "age >=", "age + 1", "age > (select 1)", "1 = 1"],
    "epsilon": [*NO_NUMBER, *NOT_ABOVE_0, *NOT_FINITE],
    "error": [*NO_NUMBER[:4], *NOT_ABOVE_0, *NOT_FINITE[:2]],
    "confidence": [*NO_NUMBER[:3], 0, 1, 1.5, "-0.1", "inf"],
    "n": ["nonsense", "", -5, "-5", 0, 1.5, "1.5", True, [3], "inf"],
    "relation": ["local", "swap", "", 3],
    "unit": [3, ["patient"], ""],
    "read": [3, "cp1252", {"decimal": "x"}, {"thousands": "."} | {"decimal": "."}, {"dec": ","}],
    "rows": [0, -1, "two", 1.5, "1.5", "", True],
    "weights": [3, ["patient"], ""],
    "weight_bounds": [(1, 2), (0, 0), (0, -1), 3, "0", ("a", "b"), DAYS, "find", (0, None)],
    "strata": [3, ["region"], ""],
    "strata_keys": [[], 5, [None], ["a", "a"], "", "a,,b"],
    "per_person": ["total", "last", "last by", "", 3, ["sum"], True],
    "by": [3, [3], "", ["region", "region"], [], ["region", ""]],
    "other": ["yes", 3, []],
    "keys": [[], 5, [None], ["a", "a"], "a,,b", "a,a", [["a"]], "", {"age": ["a"]}, {}],
    "bounds": [(1, 0), (0, 0), 3, "0", "a b", (0, 1, 2), (0, "x"), "0 inf", (0, float("nan")),
               "0 120 5", [], {"a": 1}, (0, 1e300), ("9", "-9"), (0, True), (0, "2020-01-01"),
               ("2020-01-02", "2020-01-01"), ("2020-01-01", "soon"), ("2020-02-30", "2021-01-01"),
               "5 find", (None, 1e300), (5, 1, "find"), (0, 1, "found"), (None, "x")],
    "step": [*NO_NUMBER[:4], *NOT_ABOVE_0, "nan", 0.7, "1e-13", 50, "1/7000000000001",
             "1 day", "1 month", dt.timedelta(0)],
    "method": ["magic", "", 3, "Laplace"],
    "missing": ["magic", "", True, 1],
    "category": [[1], "", {"a": 1}],
    "bins": ["x", 0, -1, 10**7, [3, 1], [1], ["a", "b"], True, 1.5, "", "3,1", [0, "inf"], []],
    "categories": [5, [], ["a", "a"], "", [None], "a,,b", [["a"]]],
    "delta": ["much", -0.1, 2, "nan", 0.01],
    "population": ["maybe", 1, "", [True]],
    "interval": [*NO_NUMBER[:2], 0, 1, 2, "-0.5"],
    "spread": [*NO_NUMBER[:4], *NOT_ABOVE_0, "nan", "1 day"],
    "steps": ["x", 0, -1, 1.5, "1.5", "", True, [3], 10**7],
    "statement": [3, "", "nonsense", "SELECT * FROM p", "SELECT MAX(age) FROM p", ["SELECT 1"]],
    "tables": ["towns.csv", ["towns"], {"towns": 3}],
    "rho": [*NO_NUMBER[:4], -1, "-0.5", "nan", "1 day"],
    "q": [0, 1, 2, "-0.5", "x", [0.5, 0.2], [0.5, 0.5], [], "0.5,2", [0.5, "x"], "", True, OUT],
}  # fmt: skip
WITHOUT = {"keys": {"by": "region"}, "by": {"keys": ["f", "m"]}, "error": {"epsilon": OUT},
           "categories": LISTED, "bins": {}, "steps": {"method": "histogram"},
           "rho": INVERSE, "weights": {"weight_bounds": (0, 1)},
           "weight_bounds": WEIGHED, "strata_keys": STRATA,
           "strata": {**STRATA, "strata_keys": ["f", "m"]}}  # fmt: skip
"""What is typed beside a bad value, so that it alone is bad."""

FEW_RECORDS = {"error": 1e-9, "epsilon": OUT, "n": 10}
MANY_ORDERS = [k / 20 for k in range(1, 20)]
COMBINATIONS: list[tuple[str, dict[str, Any]]] = [
    *((name, {"epsilom": 1}) for name in BASE),
    *((name, {"epsilon": OUT}) for name in BASE),
    *((name, {"error": ERRORS[name]}) for name in BASE),
    *((name, {"keys": ["f"]}) for name in BASE),
    *((name, {"by": "region"}) for name in BASE),
    *((name, {"bound": (0, 1)}) for name in BASE),
    *((name, {"bounds": OUT}) for name in BASE if name not in ("count", "proportion", "mode")),
    *((name, {"delta": 0.01}) for name in ("count", "sum", "variance", "proportion")),
    *((name, {"q": 0.5}) for name in ("median", "mean", "count")),
    *((name, FEW_RECORDS) for name in ("mean", "variance", "quantiles", "median")),
    *((name, {"epsilon": "1e-40"}) for name in BASE if name != "mode"),
    *((name, {"error": ERRORS[name], "epsilon": OUT, "n": OUT})
      for name in ("mean", "variance", "proportion", "quantiles", "quantile", "median")),
    *((name, {"method": "gaussian"}) for name in ("mean", "quantiles", "quantile", "median")),
    *((name, {**GAUSSIAN, "delta": delta}) for name in ("mean", "quantiles")
      for delta in ("x", -1, 2, 1, 0)),
    *((name, {"bounds": DAYS}) for name in ("sum", "mean", "variance", "median")),
    *((name, {"bounds": DAYS, "step": step}) for name in ("sum", "mean", "median")
      for step in ("7 days", "1 month", "0 days", 1, "1/7 day", dt.timedelta(-1), "1 us")),
    *((name, {"bounds": DAYS, "step": OUT, "epsilon": OUT, "error": error})
      for name in ("mean", "median") for error in (3, "3000 days", "1 us", "soon")),
    ("histogram", {"bounds": DAYS, "bins": 10_000}),
    ("histogram", {"bounds": OUT, "bins": ["2020-01-01", 3]}),
    ("histogram", {"bounds": OUT, "bins": ["2020-01-01", "2019-01-01"]}),
    ("mean", {"bounds": ("01.01.2020", "31.12.2024"), "read": {"date_format": "%d"}}),
    ("mode", {"categories": OUT}),
    ("mode", {"bins": 3}),
    ("mean", {"missing": "middle"}),
    ("mean", {"population": True, "method": "exponential"}),
    ("mean", {"population": True, **GAUSSIAN}),
    ("mean", {"missing": "middle", **FIXED, **GROUPS}),
    ("mean", {"missing": "middle", **FIXED, "unit": "patient"}),
    ("proportion", {"missing": "no", "n": OUT}),
    ("proportion", {"missing": "no", **GROUPS}),
    ("proportion", {"missing": "no", **FIXED, "unit": "patient"}),
    ("mean", {"per_person": "sum"}),
    ("mean", {"per_person": "sum", "unit": "patient", "by": "age", "keys": [1]}),
    ("mean", {"per_person": "sum", "unit": "patient", "bounds": DAYS, "step": OUT}),
    ("table", {"per_person": "sum", "unit": "patient"}),
    ("histogram", {"bins": OUT, "bounds": OUT}),
    ("histogram", {"bins": OUT}),
    ("histogram", {"categories": ["f"]}),
    ("histogram", {"bins": [0, 50, 120]}),
    ("histogram", {**UNKNOWN, "delta": OUT}),
    ("histogram", {**UNKNOWN, "delta": "x"}),
    ("histogram", {**UNKNOWN, "delta": 1}),
    ("histogram", {**UNKNOWN, "rows": 1001}),
    ("histogram", {**UNKNOWN, "missing": "count"}),
    ("histogram", {**UNKNOWN, **GROUPS}),
    ("histogram", {**LISTED, "categories": ["f"], "bounds": (0, 1)}),
    ("quantiles", {"method": "tree", "interval": 0.95}),
    ("quantiles", {"q": MANY_ORDERS, "interval": 0.95, "method": "joint"}),
    ("quantiles", {"population": True, "method": "tree"}),
    ("quantiles", {"method": "levels", "q": [0.2, 0.5]}),
    ("quantiles", {"steps": 5}),
    ("quantiles", {"steps": 5, **INVERSE}),
    ("quantiles", {"rho": 1, "method": "histogram"}),
    ("quantiles", {"rho": 1}),
    ("quantiles", {"method": "hybrid", "q": [0.5]}),
    ("quantile", {"method": "anchors"}),
    ("quantile", {"q": [0.1, 0.9]}),
    ("quantile", {"q": "0.1,0.9"}),
    ("median", {"method": "hybrid"}),
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What is typed of a statistic."""

    name: str
    typed: dict[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.typed.items())})"

    def with_(self, **typed: Any) -> Asked:
        """Return it with other values; `LEFT_OUT` for what is not typed."""
        both = {**self.typed, **typed}
        return Asked(self.name, {name: x for name, x in both.items() if x is not OUT})

    @property
    def options(self) -> set[str]:
        """The names that are typed as options; a statement is an argument."""
        return self.typed.keys() - {"statement"}

    @property
    def words(self) -> list[str] | None:
        """What is typed in a shell; None where a value has no text."""
        words = []
        for name, x in self.typed.items():
            if name == "statement":
                if not isinstance(x, str):
                    return None
                words.append(x)
                continue
            own = BY_COLUMN.get(self.name, ({}, {}))[0]
            by_column = name in own and name not in ("x", "y")
            if by_column and not (isinstance(x, dict) and x):
                return None
            parts = [Of(*pair) for pair in x.items()] if by_column else _repeated(name, x)
            for part in parts:
                spelled = _spelled(name, part)
                if spelled is None:
                    return None
                words += [f"--{name.replace('_', '-')}", *spelled]
        return words

    @property
    def json(self) -> dict[str, Any] | None:
        """The question as JSON holds it; None where a value has no JSON."""
        try:
            return json.loads(json.dumps({"statistic": self.name, **self.typed}))
        except TypeError:
            return None


TEXTS = (
    "column",
    "x",
    "y",
    "where",
    "by",
    "keys",
    "unit",
    "weights",
    "strata",
    "strata_keys",
    "per_person",
    "category",
    "categories",
    "method",
    "missing",
    "relation",
)


def _repeated(name: str, x: Any) -> list[Any]:
    """Return what is typed after an option, each time that it is typed."""
    if name == "by" and isinstance(x, list) and x:
        return x
    return list(x.values()) if name == "keys" and isinstance(x, dict) and len(x) > 1 else [x]


@dataclass(frozen=True)
class Of:
    """What is said of a column."""

    column: str
    said: Any


def _spelled(name: str, x: Any) -> list[str] | None:  # noqa: PLR0911 - a case each
    """Return the words for a value; texts are themselves, and readings are options of their own."""
    if name == "read":
        return None
    if name in ("population", "other"):
        return [] if x is True else None
    if isinstance(x, Of):
        if name != "steps" and not isinstance(x.said, (list, tuple)):
            return None
        parts = x.said if isinstance(x.said, (list, tuple)) else [x.said]
        return [f"{x.column}:{','.join(map(str, parts))}"] if parts else None
    if isinstance(x, dict):
        return None
    if name in ("bounds", "weight_bounds"):
        parts = x.replace(",", " ").split() if isinstance(x, str) else x
        found = isinstance(parts, (list, tuple)) and parts[-1:] in (["find"], ("find",))
        pair = isinstance(parts, (list, tuple)) and len(parts) == (3 if found else 2)
        each = [_spelled("", part) for part in parts] if pair or x is FIND else [None]
        return None if None in each else [part[0] for part in each]
    if isinstance(x, (list, tuple)):
        return _listed(name, x)
    if isinstance(x, sd.Relation):
        return [x.value]
    plain = str if name in TEXTS else (str, int, float, Fraction, Decimal, np.number)
    return [str(x)] if isinstance(x, plain) and not isinstance(x, bool) else None


def _listed(name: str, x: Any) -> list[str] | None:
    lists = name in ("keys", "categories")
    nested = any(isinstance(part, (list, tuple)) for part in x)
    each = [] if nested else [_spelled(name if lists else "", part) for part in x]
    enough = each and (lists or len(each) > 1)
    return [",".join(part[0] for part in each)] if enough and None not in each else None


def _base(name: str) -> Asked:
    return Asked(name, BASE[name])


def _good() -> list[Asked]:
    table = [_base(name) for name in BASE]
    for name, cls in STATISTICS.items():
        base, listed = _base(name), {p.name for p in parameters(cls)}
        for p in parameters(cls):
            special = BY_COLUMN.get(name, ({}, {}))[0]
            own = special if p.name in special else GOOD
            beside = [] if own is special else BESIDE.get(p.name, [])
            for value, more in [(value, {}) for value in own.get(p.name, ())] + beside:
                known = {k: x for k, x in more.items() if x is OUT or k in listed}
                if name == "sql" and p.name in ("keys", "other"):
                    if "by" not in more or isinstance(more["by"], list):
                        continue  # the statement groups by one column
                    known |= GROUPED
                if name == "mode" and p.name == "categories":
                    known.pop("delta", None)  # its categories are always listed
                table.append(base.with_(**{**known, p.name: value}))
        table += [base.with_(error=typed, epsilon=OUT) for typed in _as_texts(ERRORS[name])]
        groups = GROUPS if "by" in listed else {}
        table.append(base.with_(**groups, **FIXED))
        table.append(base.with_(unit="patient", rows=2, **groups))
    people = ("sum", "mean", "min", "max", "count", "last by day")
    table += [_base("mean").with_(unit="patient", per_person=how) for how in people]
    table += [_base("quantiles").with_(q=q) for q in ORDERS]
    table += [_base("quantile").with_(q=q) for q in (0.5, "1/3", Fraction(1, 7), "0.99")]
    for name in (
        "mean",
        "quantiles",
        "quantile",
        "median",
        "covariance",
        "correlation",
        "regression",
    ):
        table += [_base(name).with_(**more) for more in _methods(name)]
    table.append(_base("regression").with_(x=["age"]))
    table += [_base("mean").with_(missing=m, **FIXED) for m in ("auto", "exclude", "middle")]
    table += [_base("proportion").with_(missing=m) for m in ("auto", "exclude", "no")]
    for name in ("mean", "quantiles", "quantile", "median"):
        dated = _base(name).with_(column="day", step=OUT)
        table += [dated.with_(**more) for more in DATED]
    table.append(
        _base("mean").with_(column="day", bounds=DAYS, step=OUT, epsilon=OUT, error="9 days")
    )
    counted = _base("histogram").with_(column="day", bins=12)
    table += [counted.with_(**more) for more in DATED if "step" not in more]
    table.append(counted.with_(bounds=OUT, bins=["2020-01-01", "2021-01-01", "2024-12-31"]))
    table.append(counted.with_(bounds=OUT, bins="2020-01-01,2021-01-01"))
    table.append(_base("proportion").with_(category=OUT, column="age"))
    table.append(_base("histogram").with_(missing="count"))
    return table


def _as_texts(x: Any) -> list[Any]:
    return [x, str(x), f"{x}e0"]


def _methods(name: str) -> list[dict[str, Any]]:
    (method,) = (p for p in parameters(STATISTICS[name]) if p.name == "method")
    names = method.kind.schema["enum"]
    of_one = name in ("quantile", "median")
    kept = [m for m in names if not (of_one and m in ("hybrid", "levels", "anchors"))]
    needed = {"gaussian": GAUSSIAN, "octaves": {"method": "octaves", "bounds": "find"}}
    return [needed.get(m, {"method": m}) for m in kept]


def _bad() -> list[Asked]:
    """Return every bad value of every parameter; of one that all have, some for each statistic."""
    table = []
    common = {p.name for p in parameters(Statistic)}
    for name, cls in STATISTICS.items():
        for p in parameters(cls):
            special = BY_COLUMN.get(name, ({}, {}))[1]
            own = special if p.name in special else BAD
            more, values = {} if own is special else WITHOUT.get(p.name, {}), own[p.name]
            if name == "sql" and "by" in more:
                more = GROUPED
            some = values if name in ("count", "mean") or p.name not in common else values[:3]
            table += [_base(name).with_(**{**more, p.name: value}) for value in some]
    table += [_base(name).with_(**more) for name, more in COMBINATIONS]
    return table


def distinct(table: list[Asked]) -> list[Asked]:
    return list({str(asked): asked for asked in table}.values())


QUESTIONS, MISTAKES = distinct(_good()), distinct(_bad())
