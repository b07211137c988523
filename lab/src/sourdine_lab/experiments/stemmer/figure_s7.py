"""How wide an interval must be for many adaptive questions, and for how many rows it is of use."""

from __future__ import annotations

from math import log, log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.answering import concentrated_accuracy, median_mechanism_n, widths
from sourdine_lab.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

BETA, UNIVERSE, HARD = 0.05, 2**10, 50


def parts(settings: Settings) -> list[Settings]:
    """One part for each panel."""
    many = np.unique(np.geomspace(1, settings["most"], settings["points"]).astype(int))
    rows = [10 ** (3 + 7 * i / (settings["points"] - 1)) for i in range(settings["points"])]
    return [
        {"panel": "questions", "n": settings["n"], "k": many.tolist()},
        {"panel": "rows", "n": [int(n) for n in rows], "k": settings["k"]},
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield half-widths that hold for all questions at once with probability 0.95."""
    if part["panel"] == "questions":
        for k in part["k"]:
            yield _widths(part["n"], k)
        return
    k = part["k"]
    for n in part["n"]:
        exact = concentrated_accuracy(n, k, UNIVERSE, BETA)
        yield {"panel": "rows", "n": n, "k": k, "empirical": exact.empirical, "total": exact.total,
               "printed": printed(n, k, UNIVERSE), "fixed": widths.non_adaptive(n, k, BETA),
               "needed": median_mechanism_n(UNIVERSE, k, 0.1)}  # fmt: skip


def _widths(n: int, k: int) -> Row:
    return {
        "panel": "questions", "n": n, "k": k,
        "fixed": widths.non_adaptive(n, k, BETA),
        "splitting": min(widths.splitting(n, k, BETA), 2.0),
        "noise": widths.gaussian_sharp(n, k, BETA),
        "bits": widths.told(n, k, BETA, 1.0),
        "hard": widths.hard_answers(n, k, BETA, hard=min(HARD, k)),
        "median": concentrated_accuracy(n, k, UNIVERSE, BETA).total,
    }  # fmt: skip


def printed(n: int, k: int, universe: int) -> float:
    r"""Return the lecture's last formula, logarithms to the base 2.

    .. math:: \Bigl(\frac{\ln 4k}{2n}\Bigr)^{1/4} + \sqrt{\frac{\log|X|\,(\log k)^2}{\sqrt n}}
    """
    return float((log(4 * k) / (2 * n)) ** 0.25) + sqrt(log2(universe) * log2(k) ** 2 / sqrt(n))


def draw(table: Table) -> Any:
    """Draw the widths against the number of questions, and the corollary against the rows."""
    figure, (left, right) = look.panels(2, width=13.0, height=4.8, sharey=False)
    _draw_questions(left, table.where(panel="questions"))
    _draw_rows(right, table.where(panel="rows"))
    return figure


def _draw_questions(axes: Any, table: Table) -> None:
    k = table["k"]
    for column, method, words in (
        ("fixed", "no privacy", "fixed beforehand"),
        ("splitting", "splitting", "sample splitting"),
        ("noise", "gaussian", "Gaussian noise"),
        ("bits", "unprotected", "one bit an answer"),
        ("hard", "today", f"{HARD} answers from the data"),
        ("median", "median mechanism", "Median Mechanism"),
    ):
        shown = table[column] <= 1
        if shown.any():
            look.band(axes, k[shown], table[column][shown], method=method, label=words)
    look.logarithmic(axes)
    axes.set_xlim(1, k.max())
    axes.set_ylim(0.004, 1.2)
    look.name_lines(axes)
    look.titled(axes, f"Half-width for all k answers, {int(table['n'][0])} independent rows",
                x="adaptive questions, k", y="half-width")  # fmt: skip


def _draw_rows(axes: Any, table: Table) -> None:
    n, needed = table["n"], float(table["needed"][0])
    look.stated(axes, n, table["printed"], "lecture, last formula")
    look.band(axes, n, table["total"], method="median mechanism", label="with its constants")
    look.band(
        axes,
        n,
        table["empirical"],
        method="median mechanism",
        label=r"$\alpha'$ alone",
        dashed=True,
    )
    look.band(axes, n, table["fixed"], method="no privacy", label="fixed beforehand")
    axes.axhspan(1, 100, color=look.colour("bound"), alpha=0.07, linewidth=0)
    axes.plot(needed, 0.1, "o", color=look.colour("median mechanism"), markersize=5, label="_0.1")
    axes.annotate(f"{needed / 1e8:.1f} · 10⁸ rows", (needed, 0.1), (-2, -13), ha="right",
                  textcoords="offset points", fontsize=9,
                  color=look.colour("median mechanism"))  # fmt: skip
    look.logarithmic(axes)
    axes.set_xlim(n.min(), n.max())
    axes.set_ylim(1e-5, 100)
    look.name_lines(axes)
    look.note(axes, "says nothing", 0.98, 0.82)
    look.titled(axes, f"Corollary 6: k = {int(table['k'][0])}, |X| = {UNIVERSE}",
                x="rows, n", y=r"promised error $\alpha' + \hat{\alpha}$")  # fmt: skip


EXPERIMENT = Experiment(
    name="stemmer-s7",
    ids=("S7", "S8", "S9"),
    title="Half-widths for many adaptive questions",
    question="How far may answers be from the truth, and from how many rows on is that of use?",
    stated="error probability beta' + betahat k 2^b, and for independent rows an error of about "
    "(ln(4k)/2n)^(1/4) + sqrt(log|X| (log k)^2/sqrt n), which falls with n",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"n": 100_000, "most": 100_000, "points": 41, "k": 1000},
    quick={"n": 100_000, "most": 100_000, "points": 13, "k": 1000},
)
