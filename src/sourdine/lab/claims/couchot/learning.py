"""L7 and L8: learning from the cleaned table; on its stand-in where it is not at hand.

The verdicts are the same on both. The slides' words are read so: "more useful" is one more of 154
test rows right, on average; "about random" is a mean within one deviation of 1/2, as its bar shows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sourdine.lab.claims.claim import Claim, Finding, Instead
from sourdine.lab.experiments.couchot.naive_bayes import Scores, scores, untouched
from sourdine.lab.experiments.couchot.pima import STATED, Pima, cleaned, read
from sourdine.noise import SeededSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 7
ONE_ROW = 1 / 154
GRID = tuple(round(float(e), 4) for e in np.geomspace(0.01, 10, 16))
"""The epsilons of the curve, as many as the slides' picture can show."""


@cache
def table() -> Pima:
    """Return the table, read once."""
    return read()


def learnt(way: str, epsilon: float, runs: int) -> Scores:
    """Return the scores of so many cleanings; labels are the same for all ways."""
    return scores(table(), *cleaned(table(), way, epsilon, runs, SeededSource(SEED)))


def mean(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)


def typical(accuracy: float) -> Finding:
    """Compare an accuracy with the mean of 600 cleanings at epsilon 1: half a deviation, 0.02."""
    found, error = mean(learnt("bounded laplace", 1.0, 600).accuracy)
    words = f"accuracy {found:.4f} ± {error:.4f} on average ({table().data}), said {accuracy:.4f}"
    return Finding(abs(found - accuracy) <= 0.02, found, error, words)


def typical_f1(f1: float) -> Finding:
    """Compare an F1 score with the mean of 600 cleanings: half a deviation, 0.05."""
    found, error = mean(learnt("bounded laplace", 1.0, 600).f1)
    words = f"F1 {found:.4f} ± {error:.4f} on average ({table().data}), said {f1:.4f}"
    return Finding(abs(found - f1) <= 0.05, found, error, words)


def counted(tested: int) -> Finding:
    """Look for whole numbers of test rows that give the four printed scores."""
    rows = []
    for accuracy, f1 in zip(STATED["accuracy"], STATED["F1"], strict=True):
        wrong = (1 - accuracy) * tested
        hits = f1 * wrong / (2 * (1 - f1))
        rows += [wrong, hits]
    off = max(abs(r - round(r)) for r in rows)
    found = ", ".join(f"{r:.2f}" for r in rows)
    words = f"of {tested} test rows the scores need wrong and rightly positive ones: {found}"
    return Finding(off < 1e-6, off, words=words)


def clean(accuracy: float) -> Finding:
    """Compare an accuracy with that of the clean table: one deviation of 154 rows."""
    found = float(untouched(table()).accuracy[0])
    deviation = (accuracy * (1 - accuracy) / 154) ** 0.5
    words = f"the clean table gives {found:.4f} ({table().data}), said {accuracy:.4f}"
    return Finding(abs(found - accuracy) <= deviation, found, deviation, words)


def like_guesses(end: float) -> Finding:
    """Compare the curves below an epsilon with 1/2: the mean may be off by one deviation."""
    off = {}
    for epsilon in (e for e in GRID if e < end):
        for way in ("bounded laplace", "staircase"):
            found = learnt(way, epsilon, 400 if epsilon > 0.3 else 60).accuracy
            off[epsilon, way] = float(abs(found.mean() - 0.5) / found.std(ddof=1))
    worst = max(off, key=lambda key: off[key])
    words = (
        f"below {end:g} the mean accuracy is {off[worst]:.2f} deviations from 1/2 at worst"
        f" ({worst[1]} at {worst[0]:g}, {table().data})"
    )
    return Finding(off[worst] <= 1, off[worst], 400**-0.5, words)


def no_signal(between: tuple[float, float]) -> Finding:
    """Ask how often a sick person's clean row ranks above a healthy one's, at epsilon 0.8."""
    found, error = mean(learnt("bounded laplace", 0.8, 600).ranked)
    inside = between[0] <= found - 4 * error and found + 4 * error <= between[1]
    words = (
        f"the model ranks a sick person higher with chance {found:.3f} ± {error:.3f}"
        f" ({table().data}), said between {between[0]:g} and {between[1]:g}"
    )
    return Finding(inside, found, error, words)


def gain(way: str, start: float) -> Finding:
    """Compare a staircase with bounded Laplace at the start of a range, within it, at its end."""
    worst, number, error = float("inf"), 0.0, 0.0
    for epsilon, runs in ((start, 1500), (2.5 * start, 150), (10.0, 150)):
        more = learnt(way, epsilon, runs).accuracy - (
            learnt("bounded laplace", epsilon, runs).accuracy
        )
        if more.mean() < worst:
            (number, error), worst, where = mean(more), float(more.mean()), epsilon
    words = (
        f"on [{start:g}, 10] it gains {number:+.4f} ± {error:.4f} at worst (epsilon {where:g},"
        f" {table().data}); one of 154 test rows is {ONE_ROW:.4f}"
    )
    return Finding(number >= ONE_ROW, number, error, words)


def gain_as_said(start: float) -> Finding:
    """Take the staircase as the slides do, at the epsilon that it says."""
    return gain("staircase", start)


def gain_as_spent(start: float) -> Finding:
    """Take the staircase at the level that spends as much as bounded Laplace."""
    return gain("staircase kept", start)


CLAIMS = (
    Claim(
        id="L7",
        statement="at eps = 1 a column the learner is right on .604 (one lucky draw)",
        printed=STATED["accuracy"][1],
        instead=0.56,
        other=Instead.CORRECTION,
        check=typical,
    ),
    Claim(
        id="L7b",
        statement="at eps = 1 a column the learner's F1 is .116 (one unlucky draw)",
        printed=STATED["F1"][1],
        instead=0.23,
        other=Instead.CORRECTION,
        check=typical_f1,
    ),
    Claim(
        id="L7c",
        statement=".786, .637 and .604, .116 are scores on the 154 rows of an 80/20 split (rival:"
        " the 192 rows of the usual 75/25)",
        printed=154,
        instead=192,
        other=Instead.RIVAL,
        check=counted,
    ),
    Claim(
        id="L7d",
        statement="the clean table gives .786 (rival: 10 % more)",
        printed=STATED["accuracy"][0],
        instead=1.1 * STATED["accuracy"][0],
        other=Instead.RIVAL,
        check=clean,
    ),
    Claim(
        id="L8",
        statement="below eps = 1 both curves are those of guesses, within their bars (rival: below"
        " 2)",
        printed=1.0,
        instead=2.0,
        other=Instead.RIVAL,
        check=like_guesses,
    ),
    Claim(
        id="L8b",
        statement="on [1, 10] the staircase is more useful than bounded Laplace, each at the eps"
        " that it says (it is from 2 on)",
        printed=1.0,
        instead=2.0,
        other=Instead.CORRECTION,
        check=gain_as_said,
    ),
    Claim(
        id="L8c",
        statement="on [1, 10] the staircase is more useful at equal privacy (it is from 3 on)",
        printed=1.0,
        instead=3.0,
        other=Instead.CORRECTION,
        check=gain_as_spent,
    ),
    Claim(
        id="L8d",
        statement="below eps = 1 the answers are random in the strict sense: nothing was learnt",
        printed=(0.45, 0.55),
        instead=(0.55, 1.0),
        other=Instead.OPPOSITE,
        check=no_signal,
    ),
)
