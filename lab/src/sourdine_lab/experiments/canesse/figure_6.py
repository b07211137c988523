"""Figure 6: the error of nine deciles of salaries against epsilon, as a moving average of 10."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity, Runs
from sourdine.central.quantiles.points import Points
from sourdine.laws import Law
from sourdine_lab import look
from sourdine_lab.bounds import histogram_steps
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import salaries
from sourdine_lab.experiments.canesse.deciles import ORDERS, counts_below, error, first_edges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

AVERAGED = 10
"""The report's moving average."""
OBSERVED = 20.0
"""Dollars: "near 20" is the error that the report observes."""
FAR = 60.0
"""Cells that weigh less than e^-60 of the best are left out of a draw."""
TICKS = salaries.BOUNDS[1] + 1


def parts(settings: Settings) -> list[Settings]:
    """One part ten values of epsilon."""
    values = np.geomspace(0.05, 5, settings["epsilons"]).round(4).tolist()
    return [
        {"epsilons": values[i : i + 10], "runs": settings["runs"], "n": settings["n"]}
        for i in range(0, len(values), 10)
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the errors at each epsilon, to the sample's deciles, in dollars."""
    source, size, deciles = part.source, part["runs"], np.array(salaries.DECILES)
    data = Reading(salaries.salaries(part["n"]))
    for epsilon in part["epsilons"]:
        each = Fraction(str(epsilon)) / len(ORDERS)
        answers = {
            "histogram as listed": data.searched(each, size, source, monotone=False),
            "histogram": data.searched(each, size, source, monotone=True),
            "inverse sensitivity": data.drawn(each, size, source),
        }
        for method, found in answers.items():
            errors = np.array([error(one, deciles) for one in found.T])
            yield {
                "epsilon": epsilon, "method": method, "n": part["n"], "runs": size,
                "error": float(errors.mean()), "one_run": float(errors[0]),
                "standard_error": float(np.std(errors, ddof=1)) / size**0.5,
            }  # fmt: skip


class Reading:
    """What the two methods read of the data, once for all values of epsilon."""

    def __init__(self, x: NDArray[np.int64]) -> None:
        self.n, self.steps = len(x), histogram_steps(len(x))
        self.below = counts_below(x / TICKS, self.steps)
        points, smoothing = Points.of(x, TICKS), round(TICKS / len(x))
        mechanism = InverseSensitivity(
            epsilon=1, q=ORDERS, cells=TICKS, relation="substitute", rho=smoothing
        )
        self.runs = [mechanism.runs(points, j) for j in range(len(ORDERS))]

    def searched(
        self, each: Fraction, size: int, source: Source, *, monotone: bool
    ) -> NDArray[np.float64]:
        """Return edges that the histogram method names, a row a decile."""
        edges = [
            first_edges(
                self.below, self.n, q, source, epsilon=each, monotone=monotone, size=size
            )
            for q in ORDERS
        ]  # fmt: skip
        return np.array(edges) * TICKS / self.steps

    def drawn(self, each: Fraction, size: int, source: Source) -> NDArray[np.float64]:
        """Return draws by the law of the inverse sensitivity mechanism, a row a decile."""
        laws = [_near_law(runs, float(each) / 2) for runs in self.runs]
        return np.array([law.sample(size, source=source) for law in laws], float)


def _near_law(runs: Runs, decay: float) -> Law:
    length = np.diff(runs.start, append=runs.cells)
    near = (length > 0) & (decay * runs.distance < FAR)
    logs = -decay * runs.distance[near]
    return Law.of(runs.start[near], length[near], logs, np.zeros(len(logs)))


NAMES = {
    "histogram": "histogram, Lap(2/ε)", "histogram as listed": "histogram, Lap(4/ε) as listed"
}  # fmt: skip
"""Which noise a search puts on its counts, ε being its ninth of the whole."""


def draw(table: Table) -> Any:
    """Draw the moving averages over one run at each epsilon, and the mean of all runs."""
    figure, (axes,) = look.panels(1, width=8, height=4.6)
    for method, rows in table.by("method"):
        listed = method == "histogram as listed"
        name = "histogram" if listed else method
        epsilon = np.exp(_averaged(np.log(rows["epsilon"])))
        look.band(
            axes, epsilon, _averaged(rows["error"]),
            np.sqrt(_averaged(rows["standard_error"] ** 2) / AVERAGED),
            method=name, label=NAMES.get(method, method), dashed=listed,
        )  # fmt: skip
        shown = (rows["epsilon"] >= epsilon[0]) & (rows["epsilon"] <= epsilon[-1])
        axes.plot(
            rows["epsilon"][shown], rows["one_run"][shown], ".", color=look.colour(name),
            alpha=0.35, markersize=4, label="_one run",
        )  # fmt: skip
    look.stated(axes, epsilon[[0, -1]], [OBSERVED, OBSERVED], "observed: near 20")
    look.titled(
        axes, "Nine deciles of 400,000 salaries: error against ε, moving average of 10",
        x="ε for the nine deciles", y="root mean square error, dollars",
    )  # fmt: skip
    look.note(axes, "dots: one run at each ε", 0.98, 0.97)
    look.logarithmic(axes)
    look.name_lines(axes)
    return figure


def _averaged(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.convolve(values, np.full(AVERAGED, 1 / AVERAGED), "valid")


EXPERIMENT = Experiment(
    name="canesse-6",
    ids=("C11",),
    title="Error of nine deciles of salaries against epsilon",
    question="How do the two methods compare on salaries, as epsilon varies?",
    stated="inverse sensitivity is more precise on the whole, not by an order of magnitude; the "
    "error is near 20 dollars, where the deciles run from 34,902 to 99,637",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"epsilons": 100, "runs": 10, "n": salaries.RECORDS},
    quick={"epsilons": 30, "runs": 2, "n": salaries.RECORDS},
    stand_in=salaries.STAND_IN,
)
