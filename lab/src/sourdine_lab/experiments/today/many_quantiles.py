"""Up to 99 quantiles at once: the rank error of each method as their number grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import mean_and_error, uncertainty
from sourdine_lab.experiments.today.quantile_methods import (
    SOURDINE,
    colour_name,
    rank_errors,
    released,
    spread,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = ("IndExp", "JointExp", "RecExp", SOURDINE)
COSTLY = 40
"""With more quantiles than this JointExp takes a tenth of a second: it runs a sixth as often."""


def parts(settings: Settings) -> list[Settings]:
    """One part a law, a size and a number of quantiles."""
    return [
        {"law": law, "n": n, "m": m, "runs": settings["runs"]}
        for law, n in (("U(0, 1)", 100), ("Beta(2, 2)", 100), ("U(0, 1)", 10_000))
        for m in settings["numbers"]
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the mean and the largest rank error of each method at epsilon 1."""
    n, m, rng, source = part["n"], part["m"], part.rng, part.source
    q, runs = spread(m), part["runs"]
    samples = [
        rng.random(n) if part["law"] == "U(0, 1)" else rng.beta(2, 2, n) for _ in range(runs)
    ]
    for method in METHODS:
        few = max(runs // 6, 3) if method == "JointExp" and m > COSTLY else runs
        errors = [
            rank_errors(
                x,
                released(method, x, q, bounds=(0, 1), step=2**-20, epsilon=1, source=source),
                q,
            )
            for x in samples[:few]
        ]
        mean, deviation = mean_and_error([float(e.mean()) for e in errors])
        largest, largest_deviation = mean_and_error([float(e.max()) for e in errors])
        yield {"law": part["law"], "n": n, "m": m, "method": method, "runs": few, "error": mean,
               "deviation": deviation, "largest": largest,
               "largest_deviation": largest_deviation}  # fmt: skip


def draw(table: Table) -> Any:
    """Draw the mean rank error against m, a panel a law and size."""
    figure, axes = look.panels(3, width=13.5, height=4.6, sharey=False)
    groups = [rows for _, own in table.by("n") for _, rows in own.by("law")]
    for one, rows in zip(axes, groups, strict=True):
        for method, own in rows.by("method"):
            look.band(
                one, own["m"], own["error"], uncertainty(own), method=colour_name(method),
                label=method,
            )  # fmt: skip
        law, n = rows.rows[0]["law"], rows.rows[0]["n"]
        number = f"{n:,}"
        look.titled(one, f"{law}, {number} records", x="quantiles m", y="")
    axes[0].set_ylabel("mean rank error, in records, ε = 1 in all")
    for one in axes:
        look.logarithmic(one)
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="today-many-quantiles",
    ids=("A8", "A9", "A10", "A11"),
    title="Many quantiles at once, by today's methods",
    question="Which method loses the fewest ranks as the number of quantiles grows?",
    stated="with 100 records RecExp is above IndExp in squared error and below it in the largest "
    "error",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"numbers": [1, 3, 9, 19, 39, 99], "runs": 60},
    quick={"numbers": [1, 9, 31], "runs": 15},
    figures=(),
)
