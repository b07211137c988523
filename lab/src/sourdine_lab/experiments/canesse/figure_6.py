"""Figure 6: the error of nine deciles of salaries against epsilon, as a moving average of 10."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity, Runs
from sourdine.central.quantiles.points import Points
from sourdine.data import wages
from sourdine.laws import Law
from sourdine_lab import look
from sourdine_lab.bounds import histogram_steps
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import salaries
from sourdine_lab.experiments.canesse.deciles import (
    ORDERS,
    counts_below,
    error,
    first_edges,
    sample_deciles,
)
from sourdine_lab.settings import Setting, integer, text, words
from sourdine_lab.settings import bounds as bounds_kind
from sourdine_lab.settings import orders as orders_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

OBSERVED = 20.0
"""Dollars: "near 20" is the error that the report observes."""
FAR = 60.0
"""Cells that weigh less than e^-60 of the best are left out of a draw."""
METHODS = ("histogram as listed", "histogram", "inverse sensitivity")
DATA = ("salaries", "wages")


def parts(settings: Settings) -> list[Settings]:
    """One part ten values of epsilon, for each of the data."""
    own: dict[str, dict[str, Any]] = {
        "salaries": {"n": settings["n"]},
        "wages": {"data": "wages"},
    }
    if settings["column"]:
        path = salaries.column_of(settings["file"], settings["column"])
        own["salaries"]["digest"] = salaries.digest(path)
    least, most = settings["epsilons"]
    values = np.geomspace(least, most, settings["points"]).round(4).tolist()
    runs = settings["runs"]
    tens = [values[i : i + 10] for i in range(0, len(values), 10)]
    return [
        {"epsilons": ten, "runs": runs, **own[data]} for data in settings["data"] for ten in tens
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the errors at each epsilon, to the sample's deciles, in dollars."""
    source, size, (low, high) = part.source, part["runs"], part["bounds"]
    orders = [Fraction(str(q)) for q in part["orders"]]
    data, x = _data(part)
    truth = sample_deciles(np.clip(x, low, high), orders)
    read = Reading(x, (low, high), orders)
    for epsilon in part["epsilons"]:
        each = Fraction(str(epsilon)) / len(orders)
        for method in part["methods"]:
            found = read.answers(method, each, size, source)
            errors = np.array([error(one, truth) for one in found.T])
            yield {
                "epsilon": epsilon, "method": method, "n": len(x), "runs": size,
                "error": float(errors.mean()), "one_run": float(errors[0]),
                "standard_error": float(np.std(errors, ddof=1)) / size**0.5, "data": data,
            }  # fmt: skip


def _data(part: Part) -> tuple[str, NDArray[np.int64]]:
    """Return what the data are, in a word, and the data."""
    if part.settings.get("data") == "wages":
        return "wages", wages()
    if part["column"]:
        return "file", salaries.read_column(part["file"], part["column"])
    return "stand-in", salaries.salaries(part["n"])


class Reading:
    """What the two methods read of the data, once for all values of epsilon.

    Parameters
    ----------
    x
        Whole dollars.
    bounds
        The public bounds, at which the data are cut off.
    orders
        The orders of the quantiles.
    """

    def __init__(
        self,
        x: NDArray[np.int64],
        bounds: tuple[int, int] = salaries.BOUNDS,
        orders: Sequence[Fraction] = ORDERS,
    ) -> None:
        self.low, self.ticks, self.orders = bounds[0], bounds[1] - bounds[0] + 1, orders
        ticks = np.clip(x, *bounds) - self.low
        self.n, self.steps = len(x), histogram_steps(len(x))
        self.below = counts_below(ticks / self.ticks, self.steps)
        points, smoothing = Points.of(ticks, self.ticks), round(self.ticks / len(x))
        mechanism = InverseSensitivity(
            epsilon=1, q=orders, cells=self.ticks, relation="substitute", rho=smoothing
        )
        self.runs = [mechanism.runs(points, j) for j in range(len(orders))]

    def answers(
        self, method: str, each: Fraction, size: int, source: Source
    ) -> NDArray[np.float64]:
        """Return answers by a method in dollars, a row an order."""
        if method == "inverse sensitivity":
            return self.drawn(each, size, source)
        return self.searched(each, size, source, monotone=method == "histogram")

    def searched(
        self, each: Fraction, size: int, source: Source, *, monotone: bool
    ) -> NDArray[np.float64]:
        """Return edges that the histogram method names, a row an order."""
        edges = [
            first_edges(
                self.below, self.n, q, source, epsilon=each, monotone=monotone, size=size
            )
            for q in self.orders
        ]  # fmt: skip
        return np.asarray(self.low + np.array(edges) * self.ticks / self.steps)

    def drawn(self, each: Fraction, size: int, source: Source) -> NDArray[np.float64]:
        """Return draws by the law of the inverse sensitivity mechanism, a row an order."""
        laws = [_near_law(runs, float(each) / 2) for runs in self.runs]
        return self.low + np.array([law.sample(size, source=source) for law in laws], float)


def _near_law(runs: Runs, decay: float) -> Law:
    length = np.diff(runs.start, append=runs.cells)
    near = (length > 0) & (decay * runs.distance < FAR)
    logs = -decay * runs.distance[near]
    return Law.of(runs.start[near], length[near], logs, np.zeros(len(logs)))


NAMES = {
    "histogram": "histogram, Lap(2/ε)", "histogram as listed": "histogram, Lap(4/ε) as listed"
}  # fmt: skip
"""Which noise a search puts on its counts, ε being its share of the whole."""


def draw(table: Table, settings: Settings) -> Any:
    """Draw the moving averages over one run at each epsilon, and the mean of all runs."""
    shown = list(table.by("data"))
    figure, panels = look.panels(len(shown), width=8 if len(shown) == 1 else 12.5, height=4.6)
    m, width = len(settings["orders"]), min(settings["averaged"], settings["points"])
    quantiles = "nine deciles" if m == 9 else f"{m} quantile{'s' * (m > 1)}"
    for axes, (data, rows) in zip(panels, shown, strict=True):
        ends = _draw_data(axes, rows, width)
        if data != "wages" and settings["orders"] == EXPERIMENT.values()["orders"]:
            look.stated(axes, ends, [OBSERVED, OBSERVED], "the report: near 20")
        y = "root mean square error, dollars" if axes is panels[0] else ""
        look.titled(axes, f"{quantiles.capitalize()} of {_said(data, rows, settings)}",
                    x=f"ε for the {quantiles}", y=y)  # fmt: skip
        look.note(axes, f"lines: moving averages of {width}\ndots: one run at each ε", 0.98, 0.97)
    for axes in panels:
        look.logarithmic(axes)
        look.name_lines(axes)
    return figure


def _draw_data(axes: Any, table: Table, width: int) -> NDArray[np.float64]:
    """Draw the methods on one of the data; return the ends of the lines."""
    for method, rows in table.by("method"):
        name = "histogram" if method.startswith("histogram") else method
        epsilon = np.exp(_averaged(np.log(rows["epsilon"]), width))
        look.band(
            axes, epsilon, _averaged(rows["error"], width),
            np.sqrt(_averaged(rows["standard_error"] ** 2, width) / width),
            method=name, label=NAMES.get(method, method), dashed=method == "histogram as listed",
        )  # fmt: skip
        shown = (rows["epsilon"] >= epsilon[0]) & (rows["epsilon"] <= epsilon[-1])
        axes.plot(
            rows["epsilon"][shown], rows["one_run"][shown], ".", color=look.colour(name),
            alpha=0.35, markersize=4, label="_one run",
        )  # fmt: skip
    return np.asarray(epsilon[[0, -1]])


def _said(data: str, rows: Table, settings: Settings) -> str:
    """Return what the data of a panel are."""
    n = f"{int(rows['n'][0]):,}"
    return {
        "stand-in": f"a stand-in for {n} salaries",
        "wages": f"{n} wages of a survey",
        "file": f"{n} values of {settings['column']}",
    }[data]


def _averaged(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    return np.convolve(values, np.full(width, 1 / width), "valid")


EXPERIMENT = Experiment(
    name="canesse-6",
    ids=("C11",),
    title="Error of nine deciles of salaries against epsilon",
    question="How do the two methods compare on salaries, as epsilon varies?",
    stated="inverse sensitivity is more precise on the whole, not by an order of magnitude; the "
    "error is near 20 dollars, where the deciles run from 34,902 to 99,637. The report's salaries "
    f"are not at hand; the stand-in is {salaries.STAND_IN}; the wages are real, with ties",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("epsilons", [0.05, 5], bounds_kind(above=0),
                "the least and the largest privacy loss of all quantiles together", split=True),
        Setting("points", 100, integer(least=2), "values of epsilon, evenly apart by their "
                "logarithms", quick=30, split=True),
        Setting("orders", [k / 10 for k in range(1, 10)], orders_kind(),
                "orders of the quantiles"),
        Setting("bounds", list(salaries.BOUNDS), bounds_kind(whole=True),
                "public bounds in whole dollars, at which the data are cut off"),
        Setting("runs", 10, integer(least=2), "runs at each epsilon", quick=2, split=True),
        Setting("averaged", 10, integer(least=1), "values of epsilon in a moving average"),
        Setting("methods", list(METHODS), words(*METHODS), "the methods that are compared"),
        Setting("data", list(DATA), words(*DATA), "the salaries, or real wages of a survey",
                split=True),
        Setting("n", salaries.RECORDS, integer(least=10), "salaries of the stand-in", split=True),
        Setting("column", "", text("be the name of a column"),
                "the column that is read in place of the stand-in, from the CSV file"),
        Setting("file", salaries.FILE, text("be the name of a file"),
                "a CSV file in the folder that SOURDINE_DATA names"),
    ),
)  # fmt: skip
