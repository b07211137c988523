"""A survey of one category: the error of the shares against their number and against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import uncertainty

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

PEOPLE = 10_000
EPSILON, CATEGORIES = 1.0, 32
"""What stays where the other varies."""
WARNER, BEST, MENDED = "Warner, ε/k a question", "Sourdine", "Sourdine, made consistent"
PAIRED = "Warner, ε/2 a question"
ORACLES = {
    PAIRED: "symmetric",
    "GRR": "response",
    "OUE": "unary",
    "OLH": "hashing",
    "subset selection": "subset",
}
COLOURS = {WARNER: "warner", PAIRED: "warner", BEST: "today", MENDED: "today"}


def parts(settings: Settings) -> list[Settings]:
    """One part a number of categories, then one a value of epsilon."""
    numbers = [2**i for i in range(1, settings["doublings"] + 1)]
    epsilons = [round(float(e), 3) for e in np.geomspace(0.25, 6, settings["epsilons"])]
    runs = settings["runs"]
    return [
        *({"axis": "k", "k": k, "epsilon": EPSILON, "runs": runs} for k in numbers),
        *({"axis": "epsilon", "k": CATEGORIES, "epsilon": e, "runs": runs} for e in epsilons),
    ]


def compute(part: Part) -> Iterator[Row]:
    """Yield the root mean square error of a category's share, exactly, and as simulated.

    For the people at hand the variance of a share f is (f p(1-p) + (1-f) q(1-q)) / (n (p-q)^2),
    with the chances p and q of the randomiser. The document's Warner answers one question a
    category with an equal part of epsilon each, as its budgets add up; for two, one question. Half
    of epsilon a question is enough, since two people's true answers differ in two of them.
    """
    from sourdine.local.categorical.choosing import best_oracle, oracles
    from sourdine.mechanisms.randomized_response import Warner

    k, epsilon, rng, source = part["k"], part["epsilon"], part.rng, part.source
    shares = zipf(k)
    made = {name: oracles()[own](epsilon=epsilon, categories=k) for name, own in ORACLES.items()}
    coins = Warner.optimum(epsilon if k == 2 else epsilon / k)
    chances = {WARNER: tuple(float(c[1]) for c in coins.chances)}
    chances |= {name: oracle.chances for name, oracle in made.items()}
    best = best_oracle(epsilon, k)
    chances[BEST] = best.chances
    common = {"axis": part["axis"], "k": k, "epsilon": epsilon, "people": PEOPLE}
    for method, (p, q) in chances.items():
        yield {**common, "method": method, "runs": 0, "error": exact_error(shares, p, q),
               "deviation": 0.0}  # fmt: skip
    people = np.repeat(np.arange(k), rng.multinomial(PEOPLE, shares))
    for method, error, deviation in _simulated(best, people, part["runs"], source):
        yield {**common, "method": method, "runs": part["runs"], "error": error,
               "deviation": deviation}  # fmt: skip


def zipf(k: int) -> Floats:
    """Return shares that fall as 1, 1/2, 1/3 and so on."""
    weights = 1 / np.arange(1, k + 1)
    return np.asarray(weights / weights.sum())


def exact_error(shares: Floats, p: float, q: float) -> float:
    """Return the root of the mean variance of a share."""
    variance = shares * p * (1 - p) + (1 - shares) * q * (1 - q)
    return float(np.sqrt(variance.mean() / PEOPLE) / (p - q))


def _simulated(
    oracle: Any,
    people: NDArray[np.int64],
    runs: int,
    source: Any,
) -> Iterator[tuple[str, float, float]]:
    """Yield the error of real reports, raw and made consistent, with its standard error."""
    from sourdine.local.estimators.frequencies import (
        frequencies,
        norm_sub,
    )

    truth = np.bincount(people, minlength=oracle.categories) / len(people)
    squares = []
    for _ in range(runs):
        tally = oracle.tally(oracle.randomise(people, source=source))
        raw = np.asarray(frequencies(oracle, tally, len(people)).value)
        squares.append([np.mean((told - truth) ** 2) for told in (raw, norm_sub(raw))])
    mean = np.mean(squares, axis=0)
    error = np.std(squares, axis=0, ddof=1) / runs**0.5
    for name, m, e in zip(("Sourdine, simulated", MENDED), mean, error, strict=True):
        yield name, float(m**0.5), float(e / (2 * m**0.5))


def draw(table: Table) -> Any:
    """Draw the error against k and against epsilon."""
    figure, axes = look.panels(2, width=11.5, height=4.6)
    for one, (axis, rows) in zip(axes, table.by("axis"), strict=True):
        for method, own in rows.by("method"):
            if method == "Sourdine, simulated":
                one.errorbar(
                    own[axis], own["error"], 2 * own["deviation"], fmt="o", markersize=4,
                    color=look.colour("today"), label="_dots", linewidth=1,
                )  # fmt: skip
                continue
            look.band(
                one, own[axis], own["error"], uncertainty(own), label=method,
                method=COLOURS.get(method, method.lower()), dashed=method in (PAIRED, MENDED),
            )  # fmt: skip
    look.titled(axes[0], "10,000 people, ε = 1", x="categories k", y="")
    look.titled(axes[1], f"10,000 people, {CATEGORIES} categories", x="ε", y="")
    axes[0].set_ylabel("root mean square error of a share")
    look.note(axes[0], "lines: exact; dots: simulated, two standard errors")
    for one in axes:
        look.logarithmic(one)
    for one in axes:
        look.name_lines(one)
    return figure


EXPERIMENT = Experiment(
    name="today-survey",
    ids=("L2", "L3", "L6"),
    title="Shares of many categories, by today's randomisers",
    question="How long do the document's two randomisers last, as the categories become many?",
    stated="Warner's coins for two answers and GRR for k, which keeps the truth with probability "
    "e^eps/(k-1+e^eps); no errors are given",
    parts=parts,
    compute=compute,
    draw=draw,
    full={"doublings": 10, "epsilons": 9, "runs": 20},
    quick={"doublings": 6, "epsilons": 5, "runs": 4},
    figures=(),
)
