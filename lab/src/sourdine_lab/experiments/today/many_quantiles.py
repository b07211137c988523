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
from sourdine_lab.settings import (
    DataLaw,
    Setting,
    integer,
    integers,
    number,
    words,
    written,
)
from sourdine_lab.settings import bounds as bounds_kind
from sourdine_lab.settings import law as law_kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

METHODS = ("IndExp", "JointExp", "RecExp", SOURDINE)
COSTLY = 40
"""With more quantiles than this JointExp takes a tenth of a second: it runs a sixth as often."""
SETTINGS = (
    Setting("epsilon", 1, number(above=0), "privacy loss of all quantiles together"),
    Setting("law", "uniform(0,1)", law_kind(), "the law of the first and the last panel",
            split=True),
    Setting("other_law", "beta(2,2)", law_kind(), "the law of the panel between", split=True),
    Setting("n", 100, integer(least=10), "records of the first two panels", split=True),
    Setting("large_n", 10_000, integer(least=10), "records of the last panel", split=True),
    Setting("numbers", [1, 3, 9, 19, 39, 99], integers(least=1), "numbers m of quantiles, equally"
            " spaced", quick=[1, 9, 31], split=True),
    Setting("runs", 60, integer(least=3), "samples for each number", quick=15, split=True),
    Setting("bounds", [0, 1], bounds_kind(), "public bounds of the records"),
    Setting("step", 2**-20, number(above=0), "step of the grid of answers"),
    Setting("methods", list(METHODS), words(*METHODS), "the methods that are compared"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a law, a size and a number of quantiles."""
    first, other = shown(settings["law"]), shown(settings["other_law"])
    n, large = settings["n"], settings["large_n"]
    return [
        {"law": law, "n": size, "m": m, "runs": settings["runs"]}
        for law, size in dict.fromkeys(((first, n), (other, n), (first, large)))
        for m in settings["numbers"]
    ]


def shown(law: str) -> str:
    """Return how a law is written on the figure.

    Examples
    --------
    >>> shown("uniform(0,1)"), shown("beta(2,2)")
    ('U(0, 1)', 'Beta(2, 2)')
    """
    read = DataLaw.read(law)
    name = "U" if read.name == "uniform" else read.name.capitalize()
    return f"{name}({', '.join(map(written, read.parameters))})"


def compute(part: Part) -> Iterator[Row]:
    """Yield the mean and the largest rank error of each method."""
    n, m, rng, source = part["n"], part["m"], part.rng, part.source
    q, runs = spread(m), part["runs"]
    laws = {shown(one): DataLaw.read(one) for one in (part.shared["law"], part["other_law"])}
    samples = [laws[part["law"]].draw(rng, n) for _ in range(runs)]
    common = {name: part[name] for name in ("bounds", "step", "epsilon")}
    for method in part["methods"]:
        few = max(runs // 6, 3) if method == "JointExp" and m > COSTLY else runs
        errors = [
            rank_errors(x, released(method, x, q, **common, source=source), q)
            for x in samples[:few]
        ]
        mean, deviation = mean_and_error([float(e.mean()) for e in errors])
        largest, largest_deviation = mean_and_error([float(e.max()) for e in errors])
        yield {"law": part["law"], "n": n, "m": m, "method": method, "runs": few, "error": mean,
               "deviation": deviation, "largest": largest,
               "largest_deviation": largest_deviation}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the mean rank error against m, a panel a law and size."""
    groups = [rows for _, own in table.by("n") for _, rows in own.by("law")]
    figure, axes = look.panels(len(groups), width=4.5 * len(groups), height=4.6, sharey=False)
    for one, rows in zip(axes, groups, strict=True):
        for method, own in rows.by("method"):
            look.band(
                one, own["m"], own["error"], uncertainty(own), method=colour_name(method),
                label=method,
            )  # fmt: skip
        law, n = rows.rows[0]["law"], rows.rows[0]["n"]
        number = f"{n:,}"
        look.titled(one, f"{law}, {number} records", x="quantiles m", y="")
    axes[0].set_ylabel(f"mean rank error, in records, ε = {settings['epsilon']:g} in all")
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
    settings=SETTINGS,
    figures=(),
)
