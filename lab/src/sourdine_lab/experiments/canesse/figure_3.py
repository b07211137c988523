"""Figure 3: the bound on the expected error of inverse sensitivity, and the error itself."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.central.quantiles.independent import InverseSensitivity
from sourdine.central.quantiles.points import Points
from sourdine_lab import look
from sourdine_lab.bounds import inverse_sensitivity_error, inverse_sensitivity_error_printed
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.canesse import uniform
from sourdine_lab.experiments.canesse.deciles import TICKS
from sourdine_lab.settings import Setting, integer, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.experiments.canesse.deciles import Floats
    from sourdine_lab.table import Table

NAMES = ("root", "fine")
"""The two smoothings, in the order of the setting."""
FAR = 60
"""What weighs e^-60 of the best is left out."""


def parts(settings: Settings) -> list[Settings]:
    """One part a size of the sample."""
    return [{"n": n, "sets": settings["runs"]} for n in settings["sizes"]]


def compute(part: Part) -> Iterator[Row]:
    """Yield the printed bound, the corrected one, and the mean error by the law of the draw.

    Of each data set the draw's expected distance from the quantile is computed, not sampled.
    """
    n, rng, q = part["n"], part.rng, Fraction(str(part["order"]))
    each, powers = uniform.share(part), dict(zip(NAMES, part["powers"], strict=True))
    row: Row = {"n": n, "sets": part["sets"], **bounds(n, part)}
    reach = ceil(FAR * 2 / each)
    middle = ceil(q * n) - 1
    whole = min(middle, n - 1 - middle) <= reach
    mechanisms = {
        name: InverseSensitivity(
            epsilon=each, q=[q if whole else 0.5], cells=TICKS, relation="substitute",
            rho=round(TICKS * n**power),
        )
        for name, power in powers.items()
    }  # fmt: skip
    found: dict[str, list[float]] = {name: [] for name in powers}
    for _ in range(part["sets"]):
        drawn = rng.random(n)
        near = drawn if whole else _window(drawn, middle, reach)
        x = Points.of((near * TICKS).astype(np.int64), TICKS)
        for name, mechanism in mechanisms.items():
            law = mechanism.single_law(x, 0)
            found[name].append(law.expectation_abs(round(q * TICKS)) / TICKS)
    for name, away in found.items():
        row[name] = float(np.mean(away))
        row[f"{name}_deviation"] = float(np.std(away, ddof=1)) / len(away) ** 0.5
    yield row


def bounds(n: int, part: Part | Settings) -> dict[str, float]:
    """Return both bounds with the first smoothing, the report's 1/√n by default."""
    q, power = part["order"], part["powers"][0]
    rho = None if power == -0.5 else n**power
    inside = None if rho is None else min(rho, 0.75 * min(q, 1 - q))
    epsilon = part["epsilon"]
    return {
        "printed": inverse_sensitivity_error_printed(n, epsilon=epsilon, rho=rho),
        "corrected": inverse_sensitivity_error(
            n, q, epsilon=epsilon, rho=inside, calls=part["quantiles"]
        ),
    }


def _window(x: Floats, middle: int, reach: int) -> Floats:
    """Return the values within ``reach`` ranks of one, which is the median of what is returned."""
    low, high = middle - reach, middle + reach
    return np.partition(x, (low, high))[low : high + 1]


def power_of_n(power: float) -> str:
    r"""Return a power of n as a formula.

    Examples
    --------
    >>> power_of_n(-0.5), power_of_n(-1), power_of_n(-0.75)
    ('1/\\sqrt{n}', '1/n', 'n^{-0.75}')
    """
    return {-0.5: r"1/\sqrt{n}", -1.0: "1/n"}.get(float(power), f"n^{{{power:g}}}")


def draw(table: Table, settings: Settings) -> Any:
    """Draw the bounds and the errors against n."""
    figure, (axes,) = look.panels(1, width=8)
    n = table["n"]
    look.stated(axes, n, table["printed"], "bound as printed")
    look.band(axes, n, table["corrected"], method="bound", label="bound, corrected")
    for name, power in zip(NAMES, settings["powers"], strict=True):
        look.band(
            axes, n, table[name], table[f"{name}_deviation"], method="inverse sensitivity",
            label=rf"error, $\rho={power_of_n(power)}$", dashed=name == "fine",
        )  # fmt: skip
    look.titled(
        axes, f"Expected error of inverse sensitivity: {uniform.what(settings)}",
        x="records n", y=f"mean distance from the law's {uniform.quantile(settings)}",
    )  # fmt: skip
    look.note(axes, uniform.note(settings), 0.02, 0.14)
    look.logarithmic(axes)
    look.name_lines(axes)
    return figure


EXPERIMENT = Experiment(
    name="canesse-3",
    ids=("C9", "C10"),
    title="Expected error of inverse sensitivity",
    question="How does the bound of theorem 4.3.0.2 with rho = 1/√n compare with the error itself?",
    stated="5/√n and terms that vanish, as all of epsilon went to one decile and the sample's "
    "decile were the law's",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        *uniform.settings(),
        Setting("powers", [-0.5, -1], numbers(count=2, most=0),
                "rho as a power of n, of the bounds and of the second error that is drawn"),
        uniform.sizes(100, 200_000, 16, quick=(100, 20_000, 6)),
        Setting("runs", 400, integer(least=2), "data sets for each size", quick=40, split=True),
    ),
)  # fmt: skip
