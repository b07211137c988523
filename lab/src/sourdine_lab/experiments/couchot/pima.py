"""The table of the slides, or its stand-in, and how it is cleaned.

The Pima diabetes table is not shipped: it is read from ``diabetes.csv`` in the folder that
SOURDINE_DATA names, with zeros of five columns replaced by the median, as on the slides. Elsewhere
a stand-in takes its place: columns normal within each class, with round means and deviations, three
pairs of them correlated by one half. The bounds are the slides' too: the least and the
largest value, taken as public here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, log
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.mechanisms.mechanism import settle
from sourdine_lab.settings import Setting, integer, number, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sourdine.mechanisms.mechanism import Report
    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Settings

    Floats: TypeAlias = NDArray[np.float64]
    Whole: TypeAlias = NDArray[np.int64]

__all__ = [
    "COLUMNS", "METHODS", "STATED", "Pima", "as_on_the_slides", "at_hand", "cleaned", "excess",
    "read", "settings", "table_of", "values",
]  # fmt: skip

STATED = {"accuracy": (121 / 154, 93 / 154), "F1": (58 / 91, 8 / 69)}
"""What the slides print: on the clean table, and for one cleaning at epsilon 1 a column."""
METHODS = ("bounded laplace", "staircase", "staircase kept", "window")
"""The ways to clean a column of numbers."""


class Column(NamedTuple):
    """A column's public bounds and step; the stand-in's mean and deviation in each class."""

    name: str
    low: Fraction
    high: Fraction
    step: Fraction
    means: tuple[float, float]
    deviations: tuple[float, float]

    @property
    def last(self) -> int:
        """The highest tick."""
        return int((self.high - self.low) / self.step)


def _column(
    name: str, ends: str, means: tuple[float, float], deviations: tuple[float, float]
) -> Column:
    low, high, step = map(Fraction, ends.split())
    return Column(name, low, high, step, means, deviations)


COLUMNS = (
    _column("Pregnancies", "0 17 1", (3.5, 5), (3, 3.5)),
    _column("Glucose", "44 199 1", (110, 140), (25, 30)),
    _column("BloodPressure", "24 122 1", (70, 75), (12, 12)),
    _column("SkinThickness", "7 99 1", (28, 32), (9, 9)),
    _column("Insulin", "14 846 1", (130, 165), (75, 100)),
    _column("BMI", "18.2 67.1 0.1", (31, 35), (6.5, 6.5)),
    _column("DiabetesPedigreeFunction", "0.078 2.42 0.001", (0.45, 0.55), (0.3, 0.35)),
    _column("Age", "21 81 1", (31, 37), (11, 11)),
)
ZERO_IS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")
CLASSES = (500, 268)
TOGETHER = (0, 1, 2, 3, 1, 3, 4, 0)
"""Columns of the stand-in with the same number share half of their variance."""


def settings() -> tuple[Setting, ...]:
    """Return the settings of every figure on this table."""
    names = [column.name for column in COLUMNS]
    return (
        Setting("columns", names, words(*names), "columns that are cleaned and learnt from"),
        Setting("test_share", 0.2, number(least=0.05, most=0.9), "share of the rows to test on"),
        Setting("split_seed", 0, integer(least=0), "seed of the split into rows to learn from and"
                " rows to test on"),
    )  # fmt: skip


def as_on_the_slides(given: Settings, *further: Setting) -> bool:
    """Return whether the table, and some further settings, are those of the slides' numbers."""
    return all(given[one.name] == one.default for one in (*settings(), *further))


@dataclass(frozen=True, slots=True)
class Pima:
    """A table of ticks with its labels, the rows to learn from and those to test on."""

    data: str
    ticks: Whole
    y: Whole
    train: Whole
    test: Whole
    columns: tuple[Column, ...] = COLUMNS


def at_hand() -> str:
    """Return what `read` will read: ``Pima`` or ``stand-in``."""
    return "Pima" if os.environ.get("SOURDINE_DATA") and _path().exists() else "stand-in"


def _path() -> Path:
    return Path(os.environ["SOURDINE_DATA"]) / "diabetes.csv"


def table_of(part: Part) -> Pima:
    """Return the table with the settings of a part."""
    return read(part["columns"], test_share=part["test_share"], split_seed=part["split_seed"])


def read(
    names: Iterable[str] | None = None, *, test_share: float = 0.2, split_seed: int = 0
) -> Pima:
    """Return the Pima table, or its stand-in; it is split as scikit-learn splits with that seed."""
    data = at_hand()
    columns = COLUMNS if names is None else tuple(c for c in COLUMNS if c.name in set(names))
    x, y = _table(_path()) if data == "Pima" else _stand_in()
    low, step = _ends()
    last = np.array([c.last for c in COLUMNS])
    ticks = np.clip(np.rint((x - low) / step), 0, last).astype(np.int64)
    order = np.random.RandomState(split_seed).permutation(len(y))
    tested = ceil(test_share * len(y))
    kept = [i for i, column in enumerate(COLUMNS) if column in columns]
    return Pima(data, ticks[:, kept], y, order[tested:], order[:tested], columns)


def _table(path: Path) -> tuple[Floats, Whole]:
    with path.open(encoding="utf-8") as lines:
        names = next(lines).strip().split(",")
        rows = np.loadtxt(lines, delimiter=",")
    for name in ZERO_IS_MISSING:
        column = rows[:, names.index(name)]
        column[column == 0] = np.median(column[column > 0])
    x = rows[:, [names.index(c.name) for c in COLUMNS]]
    return x, rows[:, names.index("Outcome")].astype(np.int64)


def _stand_in() -> tuple[Floats, Whole]:
    rng = np.random.default_rng(2023)
    y = rng.permutation(np.repeat([0, 1], CLASSES))
    mean, deviation = (
        np.array([getattr(c, field) for c in COLUMNS])[:, y].T for field in ("means", "deviations")
    )
    shared, own = rng.standard_normal((5, len(y))), rng.standard_normal((len(COLUMNS), len(y)))
    return mean + deviation * ((shared[list(TOGETHER)] + own) / 2**0.5).T, y


def excess(epsilon: float) -> float:
    r"""Return :math:`\ln(2 - e^{-\varepsilon/2})`, what redrawing a staircase costs on top."""
    return log(2 - exp(-epsilon / 2))


def _report(way: str, epsilon: float, last: int) -> Report:
    """Return the mechanism of a column.

    ``staircase`` is redrawn until it falls inside, as on the slides: its level is the nominal
    epsilon, which is less than it spends. ``staircase kept`` is the same at a level that spends
    epsilon, ``window`` the form that needs no such correction.
    """
    if way == "bounded laplace":
        return BoundedLaplace(epsilon=epsilon, last=last)
    if way == "staircase kept":
        return BoundedStaircase(epsilon=epsilon, last=last, method="truncated")
    made = BoundedStaircase(epsilon=epsilon, last=last)
    if way == "staircase":
        settle(made, method="truncated")
    return made


def cleaned(
    table: Pima, way: str, epsilon: float, repeats: int, source: Source
) -> tuple[Whole, Whole]:
    """Return the ticks and the labels of so many cleanings, epsilon a column.

    The labels are drawn first: with the same source they are the same for every ``way``.
    """
    answer = RandomizedResponse(epsilon=epsilon, categories=2)
    y = answer.reports(np.tile(table.y, repeats), source).reshape(repeats, -1)
    ticks = np.empty((repeats, *table.ticks.shape), np.int64)
    for i, column in enumerate(table.columns):
        report = _report(way, epsilon, column.last)
        drawn = report.reports(np.tile(table.ticks[:, i], repeats), source)
        ticks[:, :, i] = drawn.reshape(repeats, -1)
    return ticks, y


def _ends(columns: Sequence[Column] = COLUMNS) -> tuple[Floats, Floats]:
    return np.array([float(c.low) for c in columns]), np.array([float(c.step) for c in columns])


def values(ticks: Whole, columns: Sequence[Column] = COLUMNS) -> Floats:
    """Return the values of ticks, a column each."""
    low, step = _ends(columns)
    return np.asarray(low + ticks * step)
