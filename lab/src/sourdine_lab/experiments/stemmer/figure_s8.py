"""The Median Mechanism: how far its answers are from the sample, and how few bits they tell."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.answering import MedianPlan
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.stemmer.hardest import ask_hardest, skewed
from sourdine_lab.settings import Setting, integer, integers, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table


def parts(settings: Settings) -> list[Settings]:
    """One part a number of rows, one a number of questions."""
    runs = settings["runs"]
    by_rows = [
        {"panel": "rows", "n": n, "k": settings["k"], "runs": runs} for n in settings["rows"]
    ]
    by_questions = [
        {"panel": "questions", "n": settings["n"], "k": k, "runs": runs}
        for k in settings["questions"]
    ]
    return [*by_rows, *by_questions]


def compute(part: Part) -> Iterator[Row]:
    """Yield the worst distance and the bits told, against an analyst who peeks."""
    n, k, runs, rng = part["n"], part["k"], part["runs"], part.rng
    universe, often = part["universe"], part["often"]
    played = [ask_hardest(skewed(universe, n, rng, often=often), universe=universe, rounds=k)
              for _ in range(runs)]  # fmt: skip
    plan = MedianPlan(n, k, universe)
    worst = [asked.worst for asked in played]
    hard = [asked.mechanism.hard for asked in played]
    bits = [asked.mechanism.compression_bits for asked in played]
    yield {"panel": part["panel"], "n": n, "k": k, "runs": runs, "promised": plan.accuracy,
           "worst": max(worst), "mean": float(np.mean(worst)), "hard": float(np.mean(hard)),
           "most_hard": plan.hard, "bits": float(np.mean(bits)),
           "deviation": float(np.std(bits, ddof=1)) / runs**0.5, "lecture": plan.bits,
           "rounding": k * log2(played[0].mechanism.levels)}  # fmt: skip


def draw(table: Table, settings: Settings) -> Any:
    """Draw the accuracy against the rows, and the bits against the questions."""
    figure, (left, right) = look.panels(2, width=12.5, height=4.6, sharey=False)
    own = table.where(panel="rows")
    look.stated(left, own["n"], own["promised"], r"$(\ln 4k\,/\,2n)^{1/4}$")
    look.band(left, own["n"], own["worst"], method="median mechanism", label="worst answer")
    look.logarithmic(left)
    left.set_xlim(own["n"].min(), own["n"].max())
    left.set_ylim(own["worst"].min() / 1.5, own["promised"].max() * 1.4)
    look.name_lines(left)
    k, runs = int(own["k"][0]), int(own["runs"][0])
    look.note(left, f"hardest of all yes-or-no queries, {k} times over; {runs} samples", 0.98)
    look.titled(left, f"Distance from the sample's averages, |X| = {settings['universe']}",
                x="rows, n", y="largest |answer - average|")  # fmt: skip
    own = table.where(panel="questions")
    look.stated(
        right, own["k"], own["lecture"], r"the lecture's order: $m \log|X|\,\log(k/\alpha')$"
    )
    look.band(right, own["k"], own["rounding"], method="no privacy", label="rounding alone")
    look.band(right, own["k"], own["bits"], own["deviation"], method="median mechanism",
              label="told, hardest queries")  # fmt: skip
    look.logarithmic(right)
    right.set_xlim(own["k"].min(), own["k"].max())
    look.name_lines(right)
    look.titled(right, f"Bits of the transcript, n = {int(own['n'][0])}",
                x="questions, k", y="bits")  # fmt: skip
    return figure


EXPERIMENT = Experiment(
    name="stemmer-s8",
    ids=("S8",),
    title="The Median Mechanism, literally",
    question="How close to the sample does it answer, and how much does its transcript tell?",
    stated="every answer within (ln(4k)/2n)^(1/4) of the sample's average, transcripts of "
    "O~(sqrt n log|X| (log k)^(3/2)) bits",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=(
        Setting("rows", [50, 100, 200, 500, 1000, 2000, 5000], integers(least=20),
                "rows of the samples, left", quick=[50, 200, 1000], split=True),
        Setting("k", 50, integer(least=2), "questions, left", quick=20, split=True),
        Setting("n", 1000, integer(least=20), "rows of the samples, right", split=True),
        Setting("questions", [5, 10, 20, 50, 100, 200, 500, 1000], integers(least=2),
                "numbers of questions, right", quick=[5, 20, 80, 320], split=True),
        Setting("runs", 20, integer(least=2), "samples", quick=5, split=True),
        Setting("universe", 3, integer(least=2, most=4), "size of the universe, |X|"),
        Setting("often", 0.9, number(least=0, most=1), "share of the most frequent kind of row"),
    ),
)  # fmt: skip
