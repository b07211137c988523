"""One task under both models: k queries to a curator, or to a table that everybody randomised.

Everybody has one of some categories; a query asks for the share of people in a random set of them,
each category being in it with chance 1/2. Neighbours differ by one person's category replaced, so
the privacy loss of a person is the same for all: a curator's count moves by at most 1.

A curator who gives each of k queries noise of its own splits epsilon among them. A randomised
table is one release: whatever is computed from it costs nothing more, so its error does not grow
with k. A curator, too, can release one noisy table; that is drawn for comparison, and so is an
answer without any data.
"""

from __future__ import annotations

from math import exp, expm1
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.mechanisms import Laplace
from sourdine_lab import look
from sourdine_lab.experiment import Experiment
from sourdine_lab.settings import DataLaw, Setting, integer, integers, numbers, words
from sourdine_lab.settings import law as law_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sourdine.noise import Source
    from sourdine_lab.experiment import Part, Row, Settings
    from sourdine_lab.table import Table

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["EXPERIMENT", "crossing", "exact_error", "shares_of"]

SPLIT, WHOLE = "curator, ε/k a query", "curator, one noisy table"
GRR, SUBSET = "local, GRR", "local, subset selection"
BLIND = "1/2, whatever is asked"
LOOKS = {
    SPLIT: ("laplace", False),
    GRR: ("warner", False),
    SUBSET: ("today", False),
    WHOLE: ("laplace", True),
    BLIND: ("no privacy", True),
}
"""The colour of each method, and whether its line is dashed."""
ORACLES = {GRR: "response", SUBSET: "subset"}
LOCAL = tuple(ORACLES)
SETTINGS = (
    Setting("epsilons", [0.5, 1, 4], numbers(above=0, most=20), "privacy loss of a person, a column"
            " of panels each", split=True),
    Setting("sizes", [1_000, 100_000], integers(least=10), "people n, a row of panels each",
            split=True),
    Setting("queries", [4**i for i in range(7)], integers(least=1, most=100_000),
            "numbers k of queries"),
    Setting("categories", 16, integer(least=2, most=1000), "categories that a person may be in"),
    Setting("law", "beta(2,5)", law_kind(0, 1), "the law on [0, 1] whose equal cells are the"
            " categories"),
    Setting("runs", 40, integer(least=2), "simulated releases", quick=8, split=True),
    Setting("methods", list(LOOKS), words(*LOOKS), "the ways to answer that are compared"),
)  # fmt: skip


def parts(settings: Settings) -> list[Settings]:
    """One part a number of people and an epsilon."""
    return [
        {"n": n, "epsilon": float(e), "runs": settings["runs"]}
        for n in settings["sizes"]
        for e in settings["epsilons"]
    ]


def shares_of(law: str, categories: int) -> Floats:
    """Return the chances of equal cells of [0, 1]."""
    return np.diff(DataLaw.read(law).cdf(np.linspace(0, 1, categories + 1)))


def compute(part: Part) -> Iterator[Row]:
    """Yield the root mean square error of each way, exactly and as simulated."""
    n, epsilon, runs, d = part["n"], part["epsilon"], part["runs"], part["categories"]
    rng, source, ks = part.rng, part.source, sorted(part["queries"])
    counts = rng.multinomial(n, shares_of(part["law"], d))
    squares: dict[str, list[list[float]]] = {method: [] for method in part["methods"]}
    for _ in range(runs):
        asked = rng.random((ks[-1], d)) < 0.5
        for method, seen in squares.items():
            seen.append(_simulated(method, counts, asked, ks, epsilon, source))
    for method, seen in squares.items():
        mean = np.mean(seen, axis=0)
        deviation = np.std(seen, axis=0, ddof=1) / runs**0.5
        first = crossing(method, counts, epsilon) if method in LOCAL else 0
        for k, square, wide in zip(ks, mean, deviation, strict=True):
            yield {
                "n": n, "epsilon": epsilon, "k": k, "method": method, "runs": runs,
                "error": exact_error(method, counts, epsilon, k), "found": float(square**0.5),
                "deviation": float(wide / (2 * square**0.5)), "crossing": first,
            }  # fmt: skip


def _simulated(
    method: str, counts: Whole, asked: Any, ks: Sequence[int], epsilon: float, source: Source
) -> list[float]:
    """Return the mean squared error of the first k queries, for each k."""
    n, d = int(counts.sum()), len(counts)
    if method == SPLIT:
        truth = asked @ counts
        return [
            float(np.mean(((_curator(truth[:k], epsilon, k, source) - truth[:k]) / n) ** 2))
            for k in ks
        ]
    if method == BLIND:
        squares = np.cumsum((asked @ counts / n - 0.5) ** 2)
        return [float(squares[k - 1] / k) for k in ks]
    if method == WHOLE:
        off = (_curator(counts, epsilon, 2, source) - counts) / n
    else:
        oracle = _oracle(method, epsilon, d)
        p, q = oracle.chances
        tally = oracle.tally(oracle.randomise(np.repeat(np.arange(d), counts), source=source))
        off = (np.asarray(tally) / n - q) / (p - q) - counts / n
    squares = np.cumsum((asked @ off) ** 2)
    return [float(squares[k - 1] / k) for k in ks]


def _curator(counts: Whole, epsilon: float, most: int, source: Source) -> Whole:
    """Return counts with noise, one person moving them by ``most`` in total."""
    made = Laplace(epsilon=epsilon, sensitivity=most, relation="substitute")
    return np.asarray(made.release(counts, source=source).value)


def _oracle(method: str, epsilon: float, categories: int) -> Any:
    from sourdine.local.categorical.choosing import oracles

    return oracles()[ORACLES[method]](epsilon=epsilon, categories=categories)


def exact_error(method: str, counts: Whole, epsilon: float, k: int) -> float:
    r"""Return the root of the mean squared error of a query, over noise and random queries.

    A query's error is :math:`s^\top e` with independent fair bits :math:`s`, so its mean square is
    :math:`(\mathbf 1^\top \Sigma \mathbf 1 + \operatorname{tr} \Sigma)/4` for errors of covariance
    :math:`\Sigma`. Both local randomisers report a fixed number of categories, so their first
    term is 0.
    """
    n, d = int(counts.sum()), len(counts)
    if method == SPLIT:
        return float(_laplace_variance(epsilon / k) ** 0.5 / n)
    if method == BLIND:
        return float(((counts / n) ** 2).sum() ** 0.5 / 2)
    if method == WHOLE:
        return float((d / 2 * _laplace_variance(epsilon / 2)) ** 0.5 / n)
    p, q = _oracle(method, epsilon, d).chances
    variances = (counts * p * (1 - p) + (n - counts) * q * (1 - q)) / (n * (p - q)) ** 2
    return float((variances.sum() / 4) ** 0.5)


def _laplace_variance(epsilon: float) -> float:
    """Return the variance of discrete Laplace noise of scale 1/epsilon."""
    return 2 * exp(-epsilon) / expm1(-epsilon) ** 2


def crossing(method: str, counts: Whole, epsilon: float) -> int:
    """Return the least k at which the local table is nearer than a curator who splits epsilon."""
    goal = exact_error(method, counts, epsilon, 1)
    low, high = 0, 1
    while exact_error(SPLIT, counts, epsilon, high) < goal:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if exact_error(SPLIT, counts, epsilon, middle) < goal:
            low = middle
        else:
            high = middle
    return high


def draw(table: Table, settings: Settings) -> Any:
    """Draw the errors against k, a panel for each n and epsilon."""
    rows, columns = len(settings["sizes"]), len(settings["epsilons"])
    figure, axes = look.panels(
        rows * columns, rows=rows, width=4.6 * columns + 1, height=3.9 * rows, sharey=False
    )
    panels = [own for _, line in table.by("n") for _, own in line.by("epsilon")]
    for one, own in zip(axes, panels, strict=True):
        for method, line in own.by("method"):
            colour, dashed = LOOKS[method]
            look.band(one, line["k"], line["error"], method=colour, label=method, dashed=dashed)
            wide = np.minimum(2 * line["deviation"], 0.8 * line["found"])  # a logarithmic axis
            one.errorbar(
                line["k"], line["found"], wide, fmt="o", markersize=3,
                linewidth=1, color=look.colour(colour), label="_dots",
            )  # fmt: skip
        look.logarithmic(one)
        _mark(one, own)
        n, epsilon = own.rows[0]["n"], own.rows[0]["epsilon"]
        look.titled(one, f"{n:,} people, ε = {epsilon:g}", x="queries k", y="")
    for i in range(rows):
        axes[i * columns].set_ylabel("root mean square error of a share")
    look.note(axes[0], "lines exact, dots simulated")
    for one in axes:
        look.name_lines(one)
    return figure


def _mark(axes: Any, table: Table) -> None:
    """Mark where a local table overtakes the curator who splits epsilon, within the figure."""
    if SPLIT not in set(table["method"]):
        return
    told = []
    for method, rows in table.by("method"):
        if method not in LOCAL:
            continue
        k, height = int(rows["crossing"][0]), float(rows["error"][0])
        if rows["k"].min() <= k <= rows["k"].max():
            axes.plot([k], [height], "o", markersize=8, markerfacecolor="none",
                      color=look.colour("truth"), label="_crossing")  # fmt: skip
            told.append(f"{method.removeprefix('local, ')} nearer from k = {k:,}")
        else:
            told.append(f"{method.removeprefix('local, ')}: not up to k = {rows['k'].max():,}")
    if told:
        look.note(axes, "\n".join(told), 0.98, 0.14)


EXPERIMENT = Experiment(
    name="couchot-dp-ldp",
    ids=("L1",),
    title="DP against LDP: k queries to a curator, or to a randomised table",
    question="From how many queries on is a table that everybody randomised once nearer than a"
    " curator who splits epsilon among the queries?",
    stated="DP needs trust in the database and has the best noise for each query; LDP needs no"
    " trust and has one individual noise for all later processing; no figures are given",
    parts=parts,
    compute=compute,
    draw=draw,
    settings=SETTINGS,
    figures=(),
)
