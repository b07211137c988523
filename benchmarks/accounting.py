"""What hundreds of answers cost together: every account, and dp-accounting beside ours.

Run ``python benchmarks/accounting.py``; the last table needs the bench environment. The exit status
is 1 if a promise is missed. dp-accounting asks for an older attrs than Sourdine, though it runs
with a newer one: ``make bench`` installs it without its dependencies.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import e, exp
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from sourdine import plan
from sourdine.central import Count, Histogram, Mean, Quantiles
from sourdine.errors import BudgetExceededError
from sourdine.privacy import Concentrated
from sourdine.privacy.accounting import Filter, Part, compose
from sourdine.privacy.accounting.parts import plain
from sourdine.session import Session

DELTA = Fraction(1, 10**6)
F = Fraction
MEAN, COUNT = Part.laplace(1000, 10**4), Part.laplace(1, 10)
DECILES = (Part.pure(F(1, 500)), Part.range(F(49, 500)))


@dataclass(frozen=True)
class Batch:
    """A batch, and what it may cost at most: by the filter, and declared."""

    name: str
    parts: tuple[Part, ...]
    by_filter: float
    declared: float


BATCHES = (
    Batch("100 counts at 0.1", (COUNT.repeated(100),), 5.08, 4.775),
    Batch("100 means at 0.1", (MEAN.repeated(100),), 4.99, 4.693),
    Batch("100 decile calls at 0.1", tuple(p.repeated(100) for p in DECILES), 2.36, 2.22),
    Batch(
        "50 means, 50 deciles, 20 histograms",
        (MEAN.repeated(50), COUNT.repeated(20), *(p.repeated(50) for p in DECILES)),
        4.49,
        4.25,
    ),
    Batch("1000 counts at 0.01", (Part.laplace(1, 100, times=1000),), 1.47, 1.3655),
    Batch("50 responses at 1, 4 categories", (Part.response(1, 4, times=50),), 39.2, 37.405),
    Batch("100 samples of a tenth at 1", (Part.sampled(Part.pure(1), F(1, 10), 100),), 6, 5.296),
    Batch("100 Gaussian counts, variance 100", (Part.gaussian(1, 100, times=100),), 5.23, 4.887),
)


def least_total(parts: tuple[Part, ...]) -> float:
    """Return the least epsilon, to four digits, whose filter admits the parts."""
    low, high = 0, 10**6
    while high - low > 1:
        middle = (low + high) // 2
        fits = Filter.of(F(middle, 10**4), DELTA).admits(parts)
        low, high = (low, middle) if fits else (middle, high)
    return high / 10**4


def accounts(console: Console) -> bool:
    """Print every account of every batch; return whether the promises are met."""
    table = Table(title="epsilon at delta 1e-6", title_justify="left")
    for head in ("batch", "sum", "zCDP", "filter", "declared, lower", "upper", "s"):
        table.add_column(head, justify="left" if head == "batch" else "right")
    met = True
    for batch in BATCHES:
        whole, _ = plain(batch.parts)
        rho = sum((part.rho for part in batch.parts), F(0))
        one = least_total(batch.parts)
        started = perf_counter()
        ends = compose(batch.parts).epsilon(DELTA)
        took = perf_counter() - started
        met = met and one <= batch.by_filter and ends.upper <= batch.declared
        table.add_row(
            batch.name,
            "-" if whole is None else f"{float(whole):.4g}",
            f"{float(Concentrated(rho).at(DELTA).exact_epsilon()):.3f}",
            f"{one:.3f}",
            f"{ends.lower:.5f}",
            f"{ends.upper:.6f}",
            f"{took:.2f}",
        )
    console.print(table)
    return met


def sessions(console: Console) -> bool:
    """Print how many charges of a fiftieth of epsilon fit into a session."""
    table = Table(title="charges of epsilon/50 that fit (the sum: 50)", title_justify="left")
    for head in ("session", "pure", "range"):
        table.add_column(head, justify="right")
    met = True
    for epsilon, delta in ((1, 1e-6), (3, 1e-6), (3, 1e-9), (8, 1e-6)):
        session, each = Filter.of(epsilon, delta), F(epsilon, 50)
        pure, ranged = (
            session.allowance // session.price_of(part)
            for part in (Part.pure(each), Part.range(each))
        )
        met = met and ((epsilon, delta) != (3, 1e-6) or (pure >= 107 and ranged >= 412))
        table.add_row(f"({epsilon}, {delta:g})", str(pure), str(ranged))
    console.print(table)
    return met


def speed(console: Console) -> bool:
    """Print how long charges take."""
    session = Filter.of(3, DELTA)
    parts = [Part.pure(F(1 + i % 97, 10**5 + i)) for i in range(1000)]
    started = perf_counter()
    for part in parts:
        session = session.charge(part)
    many = perf_counter() - started
    started = perf_counter()
    session.admits(Part.laplace(12345, 10**7))
    one = perf_counter() - started
    console.print(f"1000 pure charges {many:.2f} s, one more {1000 * one:.1f} ms")
    return many <= 1 and one <= 0.05


PEOPLE = {"age": [20, 30, 40] * 100, "pay": [100 * k for k in range(300)]}
DECILE = {"column": "age", "bounds": (0, 120), "step": 0.5, "q": [k / 10 for k in range(1, 10)]}
TENTH = {
    "count": Count(epsilon=0.1),
    "mean": Mean(column="pay", bounds=(0, 100_000), step=100, epsilon=0.1),
    "deciles": Quantiles(**DECILE, epsilon=0.1),
    "histogram": Histogram(column="age", bins=6, bounds=(0, 120), epsilon=0.1),
}
REAL = (
    ("100 counts at 0.1", [TENTH["count"]] * 100, 5.08, 4.775),
    ("100 means at 0.1", [TENTH["mean"]] * 100, 4.99, 4.693),
    ("100 decile calls at 0.1", [TENTH["deciles"]] * 100, 2.36, 2.22),
    (
        "50 means, 50 deciles, 20 histograms",
        [TENTH["mean"]] * 50 + [TENTH["deciles"]] * 50 + [TENTH["histogram"]] * 20,
        4.49,
        4.25,
    ),
    ("1000 counts at 0.01", [Count(epsilon=0.01)] * 1000, 1.47, 1.3655),
)
"""Questions, the total of a session that answers all of them, and what they cost if declared."""
CHARGE = 0.05
"""Seconds within which one more charge is decided."""


def real_sessions(console: Console) -> bool:
    """Ask real sessions, one question after another; then declare the same as a batch."""
    table = Table(title="real sessions with delta 1e-6", title_justify="left")
    heads = (
        "questions",
        "session",
        "answered",
        "left, %",
        "slowest charge, ms",
        "declared",
        "all of",
    )
    for head in heads:
        table.add_column(head, justify="left" if head == "questions" else "right")
    met = True
    for name, questions, epsilon, declared in REAL:
        session = Session(PEOPLE, epsilon=epsilon, delta=DELTA)
        slowest, answered = 0.0, 0
        for question in questions:
            started = perf_counter()
            admitted = session.can_release(question)
            slowest = max(slowest, perf_counter() - started if bool(admitted) else 1.0)
            try:
                session.ask(question)
            except BudgetExceededError:
                break
            answered += 1
        batch = plan.together(questions, delta=DELTA)
        whole = Session(PEOPLE, epsilon=declared, delta=DELTA)
        released = len(whole.ask_all(batch))
        met = met and answered == released == len(questions)
        met = met and batch.certified.upper <= declared and slowest <= CHARGE
        table.add_row(
            name,
            f"{epsilon:g}",
            f"{answered} of {len(questions)}",
            f"{100 * float(session.remaining.share):.2f}",
            f"{1000 * slowest:.1f}",
            f"{batch.certified.upper:.6f}",
            f"{declared:g}",
        )
    console.print(table)
    return met


def charges_that_fit(console: Console) -> bool:
    """Ask sessions of (3, 1e-6) at 0.06 until they refuse; the sum would admit 50."""
    kinds = {"counts": Count(epsilon=0.06), "decile calls": Quantiles(**DECILE, epsilon=0.06)}
    least, met = {"counts": 107, "decile calls": 412}, True
    for name, question in kinds.items():
        session, answered = Session(PEOPLE, epsilon=3, delta=DELTA), 0
        while session.can_release(question):
            session.ask(question)
            answered += 1
        met = met and answered >= least[name]
        console.print(f"a session of (3, 1e-6) answers {answered} {name} at 0.06")
    return met


def beside(console: Console, pld: Any) -> bool:
    """Print dp-accounting's figures beside ours: never below the truth, equal where it is exact."""
    fine = {"value_discretization_interval": 1e-4}
    sizes = Counter(np.random.default_rng(1).integers(1, 30, 1000).tolist())
    mixed = None
    for size, times in sizes.items():
        chance = 2 / (1 + exp(size / 1000))
        one = pld.from_randomized_response(chance, 2, value_discretization_interval=2e-5)
        one = one.self_compose(times)
        mixed = one if mixed is None else mixed.compose(one)
    p = e / (e + 3)
    rows = (
        (
            "100 counts at 0.1",
            [COUNT.repeated(100)],
            pld.from_discrete_laplace_mechanism(0.1, 1, **fine).self_compose(100),
            True,
        ),
        (
            "1000 counts at 0.01",
            [Part.laplace(1, 100, times=1000)],
            pld.from_discrete_laplace_mechanism(0.01, 1, **fine).self_compose(1000),
            True,
        ),
        (
            "100 counts of variance 100",
            [Part.gaussian(1, 100, times=100)],
            pld.from_discrete_gaussian_mechanism(10, 1, **fine).self_compose(100),
            False,
        ),
        (
            "50 responses, 4 categories",
            [Part.response(1, 4, times=50)],
            pld.from_randomized_response(1 - (p - 0.25) / 0.75, 4, **fine).self_compose(50),
            False,
        ),
        (
            "100 samples of a tenth at 1",
            [Part.sampled(Part.laplace(1, 1), F(1, 10), 100)],
            pld.from_discrete_laplace_mechanism(1, 1, sampling_prob=0.1, **fine).self_compose(100),
            False,
        ),
        (
            "1000 charges of 0.001 to 0.029",
            [Part.pure(F(size, 1000), times) for size, times in sizes.items()],
            mixed,
            False,
        ),
    )
    table = Table(title="beside dp-accounting, epsilon at delta 1e-6", title_justify="left")
    for head in ("batch", "ours, lower", "ours, upper", "dp-accounting", "theirs - ours"):
        table.add_column(head, justify="left" if head == "batch" else "right")
    met = True
    for name, parts, theirs, exact in rows:
        ends, other = compose(parts).epsilon(DELTA), theirs.get_epsilon_for_delta(1e-6)
        met = met and other >= ends.lower - 1e-8
        met = met and (not exact or abs(other - ends.upper) <= 1e-8)
        table.add_row(
            name,
            f"{ends.lower:.8f}",
            f"{ends.upper:.8f}",
            f"{other:.8f}",
            f"{other - ends.upper:.1e}",
        )
    console.print(table)
    return met


def main() -> int:
    """Print the tables, and say whether the promises are met."""
    console = Console(width=110)
    met = [accounts(console), sessions(console), speed(console)]
    met += [real_sessions(console), charges_that_fit(console)]
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        console.print("dp-accounting is not installed")
    else:
        met.append(beside(console, privacy_loss_distribution))
    console.print("all promises met" if all(met) else "a promise was MISSED")
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
