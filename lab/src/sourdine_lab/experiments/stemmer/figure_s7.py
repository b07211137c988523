"""How wide an interval must be for many adaptive questions, and for how many rows it is of use."""

from __future__ import annotations

from math import log, log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.answering import concentrated_accuracy, median_mechanism_n, widths
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.stemmer.numerals import powers
from sourdine_lab.settings import Setting, integer, number, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part for each panel."""
    many = np.unique(np.geomspace(1, settings["most"], settings["points"]).astype(int))
    least, most = settings["decades"]
    last = settings["points"] - 1
    rows = [10 ** (least + (most - least) * i / last) for i in range(last + 1)]
    return [
        {"panel": "questions", "n": settings["n"], "k": many.tolist()},
        {"panel": "rows", "n": [int(n) for n in rows], "k": settings["k"]},
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield half-widths that hold for all questions at once with probability 1 - beta."""
    universe, beta = part["universe"], part["beta"]
    if part["panel"] == "questions":
        for k in part["k"]:
            yield _widths(part, k)
        return
    k = part["k"]
    for n in part["n"]:
        exact = concentrated_accuracy(n, k, universe, beta)
        yield {"panel": "rows", "n": n, "k": k, "empirical": exact.empirical, "total": exact.total,
               "printed": printed(n, k, universe), "fixed": widths.non_adaptive(n, k, beta),
               "needed": median_mechanism_n(universe, k, part["error"], beta)}  # fmt: skip


def _widths(part: Part, k: int) -> Row:
    n, beta = part["n"], part["beta"]
    return {
        "panel": "questions", "n": n, "k": k,
        "fixed": widths.non_adaptive(n, k, beta),
        "splitting": min(widths.splitting(n, k, beta), 2.0),
        "noise": widths.gaussian_sharp(n, k, beta),
        "bits": widths.told(n, k, beta, part["bits"]),
        "hard": widths.hard_answers(
            n, k, beta, hard=min(part["hard"], k), levels=part["levels"]
        ),
        "median": concentrated_accuracy(n, k, part["universe"], beta).total,
    }  # fmt: skip


def printed(n: int, k: int, universe: int) -> float:
    r"""Return the lecture's last formula, logarithms to the base 2.

    .. math:: \Bigl(\frac{\ln 4k}{2n}\Bigr)^{1/4} + \sqrt{\frac{\log|X|\,(\log k)^2}{\sqrt n}}
    """
    return float((log(4 * k) / (2 * n)) ** 0.25) + sqrt(log2(universe) * log2(k) ** 2 / sqrt(n))


def draw(table: Table, settings: Settings) -> Any:
    """Draw the widths against the number of questions, and the corollary against the rows."""
    figure, (left, right) = look.panels(2, width=13.0, height=4.8, sharey=False)
    _draw_questions(left, table.where(panel="questions"), settings)
    _draw_rows(right, table.where(panel="rows"), settings)
    return figure


def _draw_questions(axes: Any, table: Table, settings: Settings) -> None:
    bits = settings["bits"]
    k = table["k"]
    for column, method, words in (
        ("fixed", "no privacy", "fixed beforehand"),
        ("splitting", "splitting", "sample splitting"),
        ("noise", "gaussian", "Gaussian noise"),
        ("bits", "unprotected", "one bit an answer" if bits == 1 else f"{bits:g} bits an answer"),
        ("hard", "today", f"{settings['hard']} answers from the data"),
        ("median", "median mechanism", "Median Mechanism"),
    ):
        shown = table[column] <= 1
        if shown.any():
            look.band(axes, k[shown], table[column][shown], method=method, label=words)
    look.logarithmic(axes)
    axes.set_xlim(1, k.max())
    axes.set_ylim(min(0.004, 0.8 * table["fixed"].min()), 1.2)
    look.name_lines(axes)
    look.titled(axes, f"Half-width for all k answers, {int(table['n'][0])} independent rows, "
                f"β = {settings['beta']:g}",
                x="adaptive questions, k", y="half-width")  # fmt: skip


def _draw_rows(axes: Any, table: Table, settings: Settings) -> None:
    n, needed, goal = table["n"], float(table["needed"][0]), settings["error"]
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
    axes.plot(needed, goal, "o", color=look.colour("median mechanism"), markersize=5, label="_goal")
    axes.annotate(f"{powers(needed)} rows", (needed, goal), (-2, -13), ha="right",
                  annotation_clip=True,
                  textcoords="offset points", fontsize=9,
                  color=look.colour("median mechanism"))  # fmt: skip
    look.logarithmic(axes)
    axes.set_xlim(n.min(), n.max())
    axes.set_ylim(1e-5, 100)
    look.name_lines(axes)
    look.note(axes, "says nothing", 0.98, 0.82)
    look.titled(axes, f"Corollary 6: k = {int(table['k'][0])}, |X| = {settings['universe']}",
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
    settings=(
        Setting("n", 100_000, integer(least=2), "rows of the sample, left", split=True),
        Setting("most", 100_000, integer(least=10), "largest number of questions, left",
                split=True),
        Setting("k", 1000, integer(least=1), "questions, right", split=True),
        Setting("decades", [3, 10], numbers(count=2, above=0, most=15),
                "least and largest power of ten of the rows, right", split=True),
        Setting("points", 41, integer(least=3), "points of each line", quick=13, split=True),
        Setting("beta", 0.05, number(above=0, below=1), "chance that some answer is farther off"),
        Setting("universe", 2**10, integer(least=2), "size of the universe, |X|"),
        Setting("bits", 1, number(above=0), "bits of an answer that is told"),
        Setting("hard", 50, integer(least=1), "answers that are taken from the data"),
        Setting("levels", 64, integer(least=2), "levels of such an answer"),
        Setting("error", 0.1, number(above=0, below=1), "error whose rows are marked, right"),
    ),
)  # fmt: skip
