"""L1: a curator's noise for each query, or one individual noise for all: the slide "DP vs LDP"."""

from __future__ import annotations

from math import comb, exp
from typing import TYPE_CHECKING

import numpy as np

from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level, response
from sourdine_lab.experiments.couchot import dp_ldp
from sourdine_lab.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EPSILON = 1.0
PEOPLE = 10
"""People whose yes are counted."""
CATEGORIES = 3
QUESTIONS = tuple(np.array(bits) for bits in np.ndindex(2, 2, 2))
"""All sets of three categories."""
SURE = 4.0


# ---- The best noise for one query ----------------------------------------------------------------


def geometric() -> Floats:
    """Return the law of a count with geometric noise, moved to the nearest possible count."""
    b, x = exp(-EPSILON), np.arange(PEOPLE + 1)
    rows = (1 - b) / (1 + b) * b ** np.abs(x[:, None] - x)
    rows[:, 0], rows[:, -1] = b**x / (1 + b), b ** (PEOPLE - x) / (1 + b)
    return np.asarray(rows)


def individual() -> Floats:
    """Return the law of the number of yes when each person randomises the answer."""
    a = exp(EPSILON) / (1 + exp(EPSILON))

    def said(people: int, chance: float) -> Floats:
        return np.array([comb(people, i) * chance**i * (1 - chance) ** (people - i)
                         for i in range(people + 1)])  # fmt: skip

    return np.stack([np.convolve(said(x, a), said(PEOPLE - x, 1 - a)) for x in range(PEOPLE + 1)])


def least(prior: Floats, losses: Floats) -> float:
    """Return the least mean loss of all epsilon private answers, by linear programming."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    size = PEOPLE + 1
    steps = [(x, z) for x in range(size) for z in (x - 1, x + 1) if 0 <= z < size]
    limits = lil_matrix((len(steps) * size, size * size))
    for i, (x, z) in enumerate(steps):
        for y in range(size):
            limits[i * size + y, x * size + y] = 1
            limits[i * size + y, z * size + y] = -exp(EPSILON)
    whole = np.kron(np.eye(size), np.ones(size))
    found = linprog(
        (prior[:, None] * losses).ravel(), A_ub=limits.tocsr(), b_ub=np.zeros(limits.shape[0]),
        A_eq=whole, b_eq=np.ones(size), bounds=(0, 1), method="highs",
    )  # fmt: skip
    return float(found.fun)


def optimal(noise: Callable[[], Floats]) -> Finding:
    """Compare the mean loss of a noisy count, read off as well as can be, with the least of all."""
    x = np.arange(PEOPLE + 1)
    flat = np.full(PEOPLE + 1, 1 / (PEOPLE + 1))
    rare = np.array([comb(PEOPLE, i) * 0.2**i * 0.8 ** (PEOPLE - i) for i in x])
    over = []
    for prior in (flat, rare):
        for power in (1, 2):
            losses = np.abs(x[:, None] - x) ** float(power)
            own = float((losses.T @ (prior[:, None] * noise())).min(axis=0).sum())
            over.append(own / least(prior, losses) - 1)
    words = f"the mean loss of a count of {PEOPLE} is {max(over):.2%} above the least at worst"
    return Finding(max(over) <= 1e-6, max(over), words=words)


# ---- One noise for all later processing ----------------------------------------------------------


def once(report: Floats) -> Floats:
    """Return the law of the answers to all questions about one report."""
    told = np.array(QUESTIONS).T
    _, group = np.unique(told, axis=0, return_inverse=True)
    return np.asarray(report @ np.eye(int(group.max()) + 1)[group.ravel()])


def each(report: Floats) -> Floats:
    """Return the law of the answers when each question has a report of its own."""
    joint = np.ones((CATEGORIES, 1))
    for asked in QUESTIONS:
        yes = report @ asked
        own = np.stack([yes, 1 - yes], axis=1)
        joint = (joint[:, :, None] * own[:, None, :]).reshape(CATEGORIES, -1)
    return joint


def serves(answers: Callable[[Floats], Floats]) -> Finding:
    """Compare the exact loss of all answers together with that of one report."""
    report = response(exp(EPSILON) / (CATEGORIES - 1 + exp(EPSILON)), CATEGORIES)
    loss = level(answers(report))
    words = f"{len(QUESTIONS)} answers lose {loss:.4f} together, one report {level(report):.4f}"
    return Finding(loss <= level(report) + SLACK, loss, words=words)


def held(database: Floats) -> Finding:
    """Find what a record of the database itself tells of its owner."""
    loss = level(database)
    words = f"a record of the database loses {loss:.4f}, epsilon is {EPSILON:g}"
    return Finding(loss <= EPSILON + SLACK, loss, words=words)


# ---- Both on one task ----------------------------------------------------------------------------


def simulated(k: int, *methods: str) -> dict[str, tuple[float, float]]:
    """Return the error of k answers of each way, with its standard error."""
    part = dp_ldp.EXPERIMENT.split(
        dp_ldp.EXPERIMENT.values(
            {"sizes": [1000], "epsilons": [EPSILON], "queries": [k], "runs": 60,
             "methods": list(methods)}
        ),
        seed=1,
    )[0]  # fmt: skip
    rows = Table(list(dp_ldp.EXPERIMENT.compute(part)))
    return {str(r["method"]): (float(r["found"]), float(r["deviation"])) for r in rows.rows}


def nearer(ways: tuple[str, str], k: int) -> tuple[bool, dict[str, tuple[float, float]]]:
    """Return whether one way is surely nearer than the other at k queries, and both errors."""
    found = simulated(k, *ways)
    (one, less), (other, more) = (found[way] for way in ways)
    return other - one > SURE * np.hypot(less, more), found


def overtaken(k: int) -> Finding:
    """Ask whether a table of GRR is nearer than a curator who splits epsilon among k queries."""
    yes, found = nearer((dp_ldp.GRR, dp_ldp.SPLIT), k)
    counts = np.rint(1000 * dp_ldp.shares_of("beta(2,5)", 16)).astype(np.int64)
    first = dp_ldp.crossing(dp_ldp.GRR, counts, EPSILON)
    (table, more), (split, less) = found[dp_ldp.GRR], found[dp_ldp.SPLIT]
    words = (
        f"{k} queries: error {table:.3f} ± {more:.3f} from the table, {split:.3f} ± {less:.3f}"
        f" from the curator; exactly, they cross at {first} queries"
    )
    return Finding(yes, float(first), words=words)


def one_table(ways: tuple[str, str]) -> Finding:
    """Ask whether one way is nearer than the other for few queries and for many."""
    yes, ratios = [], []
    for k in (4, 64, 1024):
        surely, found = nearer(ways, k)
        yes.append(surely)
        ratios.append(found[dp_ldp.GRR][0] / found[dp_ldp.WHOLE][0])
    words = (
        "a randomised table's error is "
        f"{', '.join(f'{r:.1f}' for r in ratios)} times that of a curator's noisy table, for 4,"
        " 64 and 1024 queries"
    )
    return Finding(all(yes), min(ratios), words=words)


CLAIMS = (
    Claim(
        id="L1c",
        statement="a curator's noise is the best for a query: geometric noise on one count has the"
        " least mean loss of all eps private answers (rival: individual noise)",
        printed=geometric,
        instead=individual,
        other=Instead.RIVAL,
        check=optimal,
        quote="Bruit optimal par requête",
    ),
    Claim(
        id="L1d",
        statement="individual noise serves all later processing: all questions to one report lose"
        " eps together (rival: noise afresh for each question)",
        printed=once,
        instead=each,
        other=Instead.RIVAL,
        check=serves,
        quote="Bruit individuel pour tous les post-traitements (ML p.ex)",
    ),
    Claim(
        id="L1e",
        statement="the database need not be trusted with individual noise: what it holds is eps"
        " private itself (rival: a curator's database, which holds the truth)",
        printed=response(exp(EPSILON) / (CATEGORIES - 1 + exp(EPSILON)), CATEGORIES),
        instead=np.eye(CATEGORIES),
        other=Instead.RIVAL,
        check=held,
        quote="Confiance superflue envers le SGBD",
    ),
    Claim(
        id="L1f",
        statement="Observed: of 1000 people in 16 categories at eps = 1, a randomised table is"
        " nearer than a curator who splits eps among 256 queries (rival: 16 queries)",
        printed=256,
        instead=16,
        other=Instead.RIVAL,
        check=overtaken,
        ours=True,
    ),
    Claim(
        id="L1g",
        statement="Observed: a curator can serve all later processing from one noisy table too, and"
        " is nearer than individual noise whatever the number of queries (rival: farther)",
        printed=(dp_ldp.WHOLE, dp_ldp.GRR),
        instead=(dp_ldp.GRR, dp_ldp.WHOLE),
        other=Instead.RIVAL,
        check=one_table,
        ours=True,
    ),
)
