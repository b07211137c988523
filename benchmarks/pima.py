"""Learning from a randomised table: Pima diabetes, naive Bayes, epsilon from 0.01 to 10.

Run ``python benchmarks/pima.py`` (``--repeats 30``) for the curve of the slides on local privacy,
``--knows`` for naive training beside `NoisyGaussianNB`. Tables go to ``benchmarks/out/pima.md`` and
``benchmarks/out/pima_knows.md``, the picture to ``benchmarks/out/pima.png``.

The data is read from ``../shared/data/diabetes.csv`` beside the repository, or from the folder that
SOURDINE_DATA names. As on the slides, zeros of five columns are replaced by the median and the
bounds are the least and the largest value: both are read off the data, and are taken as public
here. Somebody who holds no data must declare them.

Every column is randomised with the same epsilon, so a record of nine columns spends nine times as
much. The slides' staircase, redrawn until it falls inside the bounds, spends more than it says;
it is drawn here to be compared, at its true level.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from sourdine.local.learn import NoisyGaussianNB
from sourdine.local.table.columns import Choice, Number
from sourdine.local.table.schema import Schema
from sourdine.mechanisms import BoundedStaircase
from sourdine.mechanisms.mechanism import settle
from sourdine.noise import SeededSource
from sourdine.results.figures import BLUE, GREY, INK, RED, RULE, canvas

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
LABEL = "Outcome"
BOUNDS: dict[str, tuple[str, str, str]] = {
    "Pregnancies": ("0", "17", "1"),
    "Glucose": ("44", "199", "1"),
    "BloodPressure": ("24", "122", "1"),
    "SkinThickness": ("7", "99", "1"),
    "Insulin": ("14", "846", "1"),
    "BMI": ("18.2", "67.1", "0.1"),
    "DiabetesPedigreeFunction": ("0.078", "2.42", "0.001"),
    "Age": ("21", "81", "1"),
}
ZERO_IS_MISSING = ("Glucose", "BloodPressure", "SkinThickness", "BMI", "Insulin")
REDRAWN = "redrawn staircase"
MECHANISMS = {
    "bounded Laplace": "laplace",
    REDRAWN: "staircase",
    "truncated staircase": "truncated-staircase",
    "window": "staircase",
    "square wave": "square-wave",
    "piecewise": "piecewise",
}
CURVE = tuple(round(float(e), 4) for e in np.geomspace(0.01, 10, 16))
NOTED = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
KNOWN = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)


@dataclass(frozen=True)
class Pima:
    """The table, and the rows that are trained on and tested on."""

    x: Floats
    y: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @staticmethod
    def read() -> Pima:
        """Read the table, replace zeros by the median, split 80 to 20 with seed 0."""
        folder = Path(os.environ.get("SOURDINE_DATA", HERE.parents[1] / "shared" / "data"))
        with (folder / "diabetes.csv").open() as lines:
            names = next(lines).strip().split(",")
            rows = np.loadtxt(lines, delimiter=",")
        for name in ZERO_IS_MISSING:
            column = rows[:, names.index(name)]
            column[column == 0] = np.median(column[column > 0])
        x = rows[:, [names.index(name) for name in BOUNDS]]
        y = rows[:, names.index(LABEL)].astype(np.int64)
        train, test = train_test_split(np.arange(len(y)), random_state=0, test_size=0.2)
        return Pima(x, y, train, test)


def schema(by: str, epsilon: float) -> Schema:
    """Return the schema with the same epsilon for each of the nine columns."""
    numbers = {name: Number(*map(Fraction, ends), method=by) for name, ends in BOUNDS.items()}
    return Schema.of({**numbers, LABEL: Choice(0, 1)}, epsilon=9 * Fraction(str(epsilon)))


def true_level(mechanism: str, epsilon: float) -> float:
    """Return what a record really costs, nine columns together."""
    excess = log(2 - exp(-epsilon / 2)) if mechanism == REDRAWN else 0.0
    return 9 * epsilon + 8 * excess


def cleanings(
    pima: Pima, mechanism: str, epsilon: float, repeats: int, source: SeededSource
) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """Yield the table, randomised so many times: features and labels."""
    parts = schema(MECHANISMS[mechanism], epsilon).parts()
    columns = {**dict(zip(BOUNDS, pima.x.T, strict=True)), LABEL: pima.y}
    drawn = {}
    for name, part in parts.items():
        report, column = part.answer, columns[name]
        ticks = part.column.grid.ticks(column) if isinstance(part.column, Number) else column
        if mechanism == REDRAWN and isinstance(report, BoundedStaircase):
            report = BoundedStaircase(epsilon=report.epsilon, last=report.last)
            settle(
                report, method="truncated"
            )  # the level stays the nominal one: the slides' mistake
        values = part.written.values(report.randomise(np.tile(ticks, repeats), source=source))
        drawn[name] = values.reshape(repeats, -1)
    for i in range(repeats):
        yield np.column_stack([drawn[name][i] for name in BOUNDS]).astype(float), drawn[LABEL][i]


def scores(pima: Pima, x: Floats, y: NDArray[np.int64]) -> list[float]:
    """Return accuracy and F1 on randomised test rows, and on clean ones."""
    model = GaussianNB().fit(x[pima.train], y[pima.train])
    found: list[float] = []
    for rows, labels in ((x, y), (pima.x, pima.y)):
        guess, truth = model.predict(rows[pima.test]), labels[pima.test]
        found += [accuracy_score(truth, guess), f1_score(truth, guess, zero_division=0)]
    ones = float(np.mean(y[pima.test]))
    return [*found, max(ones, 1 - ones)]


def curve(pima: Pima, epsilons: tuple[float, ...], repeats: int, seed: int) -> dict[Any, Floats]:
    """Return the scores of all cleanings, by mechanism and epsilon."""
    cells = [(name, epsilon) for epsilon in epsilons for name in MECHANISMS]
    found = {}
    for name, epsilon in track(cells, description="cleaning and learning"):
        tables = cleanings(pima, name, epsilon, repeats, SeededSource(seed))
        found[name, epsilon] = np.array([scores(pima, x, y) for x, y in tables])
    return found


def curve_table(found: dict[Any, Floats], epsilons: tuple[float, ...], column: int) -> Table:
    """Return mean and standard deviation of one score, and the true level of a record."""
    where = {0: "randomised test rows, as on the slides", 2: "clean test rows"}[column]
    table = Table(title=f"Accuracy on {where}: mean ± standard deviation")
    table.add_column("epsilon a column", justify="right")
    table.add_column("a record", justify="right")
    table.add_column("redrawn: truly", justify="right")
    for name in MECHANISMS:
        table.add_column(name, justify="right")
    table.add_column("majority class", justify="right")
    for e in epsilons:
        cells = [found[name, e][:, column] for name in MECHANISMS]
        shown = [f"{c.mean():.4f} ± {c.std(ddof=1):.4f}" for c in cells]
        majority = found["bounded Laplace", e][:, 4].mean() if column == 0 else MAJORITY
        levels = [f"{true_level(name, e):.2f}" for name in ("window", REDRAWN)]
        table.add_row(f"{e:g}", *levels, *shown, f"{majority:.4f}")
    return table


MAJORITY = 107 / 154
"""The share of the larger class among the clean test rows."""
CLEAN = 121 / 154
"""The accuracy of a model that is trained and tested on clean rows."""
COLOURS = {
    "bounded Laplace": INK,
    REDRAWN: RED,
    "truncated staircase": "#d9a441",
    "window": BLUE,
    "square wave": "#5b8c5a",
    "piecewise": "#8a6fb0",
}


def known(pima: Pima, repeats: int, seed: int) -> Table:
    """Return naive training beside training that knows the noise, on clean test rows."""
    table = Table(title=f"Accuracy on clean test rows, {repeats} cleanings: naive, knows the noise")
    for name in ("mechanism", "epsilon a column", "naive", "knows", "difference", "its s.e."):
        table.add_column(name, justify="left" if name == "mechanism" else "right")
    cells = [(name, e) for name in MECHANISMS if name != REDRAWN for e in KNOWN]
    for name, epsilon in track(cells, description="learning twice"):
        truth, rows = pima.y[pima.test], pima.x[pima.test]
        known_noise = NoisyGaussianNB(schema=schema(MECHANISMS[name], epsilon), label=LABEL)
        both = []
        for x, y in cleanings(pima, name, epsilon, repeats, SeededSource(seed)):
            models = (GaussianNB(), known_noise)
            both.append(
                [
                    float(np.mean(m.fit(x[pima.train], y[pima.train]).predict(rows) == truth))
                    for m in models
                ]
            )
        naive, knows = np.array(both).T
        gain = knows - naive
        error = gain.std(ddof=1) / np.sqrt(repeats)
        numbers = (naive.mean(), knows.mean(), gain.mean(), error)
        table.add_row(name, f"{epsilon:g}", *(f"{v:.4f}" for v in numbers))
    return table


def picture(found: dict[Any, Floats], epsilons: tuple[float, ...], path: Path) -> None:
    """Draw the curves on randomised and on clean test rows, side by side."""
    figure, first = canvas(10, 4.8)
    first.remove()
    panels = figure.subplots(1, 2, sharey=True)
    for axes, column, title in zip(panels, (0, 2), ("randomised", "clean"), strict=True):
        for name, colour in COLOURS.items():
            runs = np.array([found[name, e][:, column] for e in epsilons])
            mean, deviation = runs.mean(axis=1), runs.std(axis=1, ddof=1)
            style = "--" if name == REDRAWN else "-"
            axes.plot(epsilons, mean, style, color=colour, lw=1.6, label=name)
            if name in ("bounded Laplace", "window"):
                low, high = mean - deviation, mean + deviation
                axes.fill_between(epsilons, low, high, color=colour, alpha=0.12, lw=0)
        shares = [found["bounded Laplace", e][:, 4].mean() for e in epsilons]
        line = shares if column == 0 else [MAJORITY] * len(epsilons)
        axes.plot(epsilons, line, ":", color=GREY, lw=1.6, label="majority class")
        axes.axhline(CLEAN, color=RULE, lw=1, zorder=0)
        _dress(axes, f"Tested on {title} rows", epsilons)
    panels[0].set_ylabel("accuracy", color=INK)
    panels[0].text(1.1 * epsilons[0], CLEAN + 0.004, "no noise at all", color=GREY, fontsize=8)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=7, frameon=False, fontsize=8)
    figure.savefig(path)


def _dress(axes: Any, title: str, epsilons: tuple[float, ...]) -> None:
    """Give a panel its scales and its titles."""
    axes.set_xscale("log")
    axes.set_xlim(epsilons[0], epsilons[-1])
    ticks = [e for e in (0.01, 0.1, 0.5, 1, 2, 4, 10) if epsilons[0] <= e <= epsilons[-1]]
    axes.set_xticks(ticks, [f"{e:g}\n{9 * e:g}" for e in ticks])
    axes.minorticks_off()
    axes.set_xlabel("epsilon of a column, and of a record", color=INK)
    axes.set_title(title, loc="left", color=INK, fontsize=11)
    axes.tick_params(colors=INK, length=3, width=0.8, labelleft=True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)


def write(tables: list[Table], path: Path) -> None:
    """Print tables, and write them down as Markdown."""
    Console(width=200).print(*tables, sep="\n")
    path.parent.mkdir(exist_ok=True)
    lines = []
    for table in tables:
        heads = [str(column.header) for column in table.columns]
        cells = zip(*(list(column.cells) for column in table.columns), strict=True)
        lines += [f"## {table.title}", "", *(f"| {' | '.join(map(str, r))} |" for r in (
            heads, ["---"] * len(heads), *cells)), ""]  # fmt: skip
    path.write_text("\n".join(lines))


def main() -> None:
    """Read the options and run."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--repeats", type=int, default=30)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--knows", action="store_true", help="naive training beside NoisyGaussianNB"
    )
    options.add_argument("--noted", action="store_true", help="epsilon .5, 1, 1.5, ... instead")
    asked = options.parse_args()
    pima = Pima.read()
    out = HERE / "out"
    if asked.knows:
        write([known(pima, asked.repeats, asked.seed)], out / "pima_knows.md")
        return
    epsilons = NOTED if asked.noted else CURVE
    found = curve(pima, epsilons, asked.repeats, asked.seed)
    name = "pima_noted" if asked.noted else "pima"
    write([curve_table(found, epsilons, column) for column in (0, 2)], out / f"{name}.md")
    picture(found, epsilons, out / f"{name}.png")


if __name__ == "__main__":
    main()
