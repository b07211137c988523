"""What figures 12 and 13 share: IndExp and RecExp for m - 1 quantiles, against m.

The report does not state its epsilon: 1 and 10 are drawn side by side. It keeps one data set for
all m, and so does the picture, unless ``data=fresh``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine_lab import look
from sourdine_lab.experiments.audibert.many_quantiles import AS_DRAWN, NORMS, common, orders, risks
from sourdine_lab.settings import Setting, integer, integers, numbers, word, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

__all__ = ["METHODS", "compute", "draw", "parts", "settings"]

METHODS = ("indexp", AS_DRAWN, "recexp", "recexp unscaled", "today")
NAMES = {
    "no privacy": "the sample's",
    "indexp": "IndExp, sorted",
    AS_DRAWN: "IndExp as drawn",
    "recexp": "RecExp",
    "recexp unscaled": "RecExp as printed",
    "today": "Sourdine",
    "jointexp": "JointExp",
}
DISTANCES = {
    "squares": "squared distance, summed over quantiles",
    "largest": "greatest distance of all quantiles",
}


def settings(of: str, norm: str) -> tuple[Setting, ...]:
    """Return the settings of figure 12 or 13, which differ in the law and in the norm."""
    return (
        Setting("epsilons", [1, 10], numbers(above=0), "of all quantiles together, a panel each",
                split=True),
        Setting("ms", list(range(10, 101, 10)), integers(least=2), "m, for m - 1 quantiles",
                quick=[10, 40, 70, 100], split=True),
        Setting("norm", norm, word(*NORMS), "how far quantiles are from the law's"),
        Setting("data", "fixed", word("fixed", "fresh"),
                "one data set for all m, as in the report, or a fresh one in each run"),
        Setting("data_seed", 1, integer(least=0), "seed of the data set that is kept"),
        Setting("runs", 100, integer(least=2), "runs for each m; the report has 50", quick=12,
                split=True),
        Setting("methods", list(METHODS), words(*METHODS, "jointexp"),
                "the methods that are compared"),
        *common(of),
    )  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part an epsilon and an m."""
    return [
        {"epsilon": e, "m": m, "runs": settings["runs"]}
        for e in settings["epsilons"]
        for m in settings["ms"]
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the risk of each method."""
    for row in risks(part, orders(part["m"]), NORMS[part["norm"]]):
        yield {"epsilon": part["epsilon"], "m": part["m"], **row}


def draw(table: Table, settings: Settings) -> Any:
    """Draw the risks against m, a panel an epsilon."""
    epsilons = settings["epsilons"]
    figure, axes = look.panels(len(epsilons), width=max(5.5 * len(epsilons), 7.5), height=4.4)
    kept = "one data set" if settings["data"] == "fixed" else "fresh data in each run"
    for one, (epsilon, part) in zip(axes, table.by("epsilon"), strict=True):
        for method, rows in part.by("method"):
            look.band(
                one, rows["m"], rows["risk"], rows["deviation"],
                method="indexp" if method == AS_DRAWN else method,
                label=NAMES[method], dashed=method in (AS_DRAWN, "no privacy"),
            )  # fmt: skip
        look.titled(
            one, f"{settings['law']}, n = {settings['n']}, {kept}, ε = {epsilon:g}",
            x="m, for m - 1 quantiles", y=DISTANCES[settings["norm"]] if one is axes[0] else "",
        )  # fmt: skip
    look.logarithmic(axes[0], "y")
    for one in axes:
        look.name_lines(one)
    return figure
