"""A survey of one category: the error of the shares against their number and against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.experiments.today.errors import uncertainty
from sourdine_lab.settings import Setting, integer, integers, number, numbers, spaced, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]

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
METHODS = (WARNER, *ORACLES, BEST)


def doubled(times: int) -> list[int]:
    """Return 2, 4, 8 and so on.

    Examples
    --------
    >>> doubled(3)
    [2, 4, 8]
    """
    return [2**i for i in range(1, times + 1)]


SETTINGS = (
    Setting("n", 10_000, integer(least=1), "people"),
    Setting("epsilon", 1.0, number(above=0), "privacy loss where the categories vary", split=True),
    Setting("k", 32, integer(least=2), "categories where epsilon varies", split=True),
    Setting("categories", doubled(10), integers(least=2), "numbers k of categories along the first"
            " panel", quick=doubled(6), split=True),
    Setting("epsilons", spaced(0.25, 6, 9, digits=3), numbers(above=0),
            "privacy losses along the second panel", quick=spaced(0.25, 6, 5, digits=3),
            split=True),
    Setting("exponent", 1, number(least=0), "the i-th share is in proportion to i to minus this"),
    Setting("runs", 20, integer(least=2), "simulated surveys", quick=4, split=True),
    Setting("methods", list(METHODS), words(*METHODS), "the randomisers that are compared;"
            " Sourdine's is simulated too"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a number of categories, then one a value of epsilon."""
    runs, epsilon = settings["runs"], float(settings["epsilon"])
    return [
        *({"axis": "k", "k": k, "epsilon": epsilon, "runs": runs} for k in settings["categories"]),
        *(
            {"axis": "epsilon", "k": settings["k"], "epsilon": float(e), "runs": runs}
            for e in settings["epsilons"]
        ),
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
    n, shares = part["n"], zipf(k, part["exponent"])
    made = {name: oracles()[own](epsilon=epsilon, categories=k) for name, own in ORACLES.items()}
    coins = Warner.optimum(epsilon if k == 2 else epsilon / k)
    chances = {WARNER: tuple(float(c[1]) for c in coins.chances)}
    chances |= {name: oracle.chances for name, oracle in made.items()}
    best = best_oracle(epsilon, k)
    chances[BEST] = best.chances
    common = {"axis": part["axis"], "k": k, "epsilon": epsilon, "people": n}
    for method in part["methods"]:
        p, q = chances[method]
        yield {**common, "method": method, "runs": 0, "error": exact_error(shares, p, q, n),
               "deviation": 0.0}  # fmt: skip
    if BEST not in part["methods"]:
        return
    people = np.repeat(np.arange(k), rng.multinomial(n, shares))
    for method, error, deviation in _simulated(best, people, part["runs"], source):
        yield {**common, "method": method, "runs": part["runs"], "error": error,
               "deviation": deviation}  # fmt: skip


def zipf(k: int, exponent: float = 1) -> Floats:
    """Return shares that fall as 1, 1/2, 1/3 and so on, or as powers of these."""
    weights = 1 / np.arange(1, k + 1) ** exponent
    return np.asarray(weights / weights.sum())


def exact_error(shares: Floats, p: float, q: float, people: int) -> float:
    """Return the root of the mean variance of a share."""
    variance = shares * p * (1 - p) + (1 - shares) * q * (1 - q)
    return float(np.sqrt(variance.mean() / people) / (p - q))


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


def draw(table: Table, settings: Settings) -> Any:
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
    people = f"{settings['n']:,} people"
    look.titled(axes[0], f"{people}, ε = {settings['epsilon']:g}", x="categories k", y="")
    look.titled(axes[1], f"{people}, {settings['k']} categories", x="ε", y="")
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
    settings=SETTINGS,
    figures=(),
)
