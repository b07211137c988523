"""S5 and S6: the game of adaptive questions, on samples whose rows depend on each other."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.adaptive.ledger.dependence import Blocks, Iid, stationary
from sourdine.noise import SeededSource
from sourdine_lab.answering import Empirical, Splitting, widths
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.game import AdaptiveGame, Decoding, Honest, Overfitting
from sourdine_lab.samples import blocks, encoded, failures, iid, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sourdine.adaptive.ledger.dependence import Dependence
    from sourdine_lab.game import Analyst

    Rng = np.random.Generator
    Rows = NDArray[np.int64]

BETA, RUNS = 0.05, 20
WEATHER = np.array([[0.9, 0.1], [0.3, 0.7]])
RAIN = np.array([0.0, 1.0])
LAW = np.full(1000, 1 / 1000)
ROWS, BITS, QUESTIONS = 20_000, 40, 300


def is_the_value(value: Callable[[NDArray[np.float64], int], float]) -> Finding:
    """Compare a value with E q(S), summed over all walks of eight steps from the first state."""
    n = 8
    true = 0.0
    for rest in product((0, 1), repeat=n - 1):
        walk = np.array((0, *rest))
        true += float(WEATHER[walk[:-1], walk[1:]].prod() * RAIN[walk].mean())
    found = value(WEATHER, n)
    return Finding(abs(found - true) < 1e-12, found, 0.0, f"{found:.4f}, all walks give {true:.4f}")


def mean_of_marginals(chain: NDArray[np.float64], n: int) -> float:
    """Return the average, over the rows, of what the query is on the law of a row."""
    powers = [np.linalg.matrix_power(chain, i)[0] @ RAIN for i in range(n)]
    return float(np.mean(powers))


def adaptive_questions(rng: Rng) -> Analyst:
    """Return an analyst whose last question is led to by the answers before."""
    return Overfitting(LAW, QUESTIONS, rng=rng)


def fixed_questions(rng: Rng) -> Analyst:
    """Return an analyst whose questions were fixed beforehand."""
    return Honest.random(len(LAW), QUESTIONS, rng=rng)


def misleads(analyst: Callable[[Rng], Analyst]) -> Finding:
    """Let an analyst ask 300 questions of plain averages, and compare with the fixed width."""
    n, k, errors = 2000, QUESTIONS, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        played = AdaptiveGame(analyst(rng), iid(LAW, n, rng=rng), Empirical, rounds=k).play()
        errors.append(abs(played.errors(LAW)[-1]))
    mean, deviation = _mean(errors)
    width = widths.non_adaptive(n, k, BETA)
    words = f"last answer off by {mean:.3f} ± {deviation:.3f}, fixed questions by {width:.3f}"
    return Finding(mean - 4 * deviation > width, mean, deviation, words)


def nobody_answers(alpha: Fraction) -> Finding:
    """Find the least chance to fail on the worse of P0 and P1, over coins between two answers."""
    answers = [Fraction(i, 16) for i in range(17)]
    chances = [Fraction(i, 8) for i in range(9)]
    least = min(
        max(failures({a: p, b: 1 - p} if a != b else {a: 1}, alpha))
        for a, b, p in product(answers, answers, chances)
    )
    words = f"within {float(alpha):g} the best mechanism fails with probability {float(least):g}"
    return Finding(least >= Fraction(1, 4), float(least), 0.0, words)


@cache
def heads_on_a_walk(n: int, stay: float) -> NDArray[np.float64]:
    """Return the law of the number of heads, where a fair coin is kept or tossed again."""
    heads = np.zeros((2, n + 1))
    heads[0, 0] = heads[1, 1] = 0.5
    leave = (1 - stay) / 2
    for _ in range(n - 1):
        low, high = (heads[x] * (stay + leave) + heads[1 - x] * leave for x in (0, 1))
        heads = np.stack([low, np.concatenate(([0.0], high[:-1]))])
    return np.asarray(heads.sum(axis=0))


def misses(n: int, stay: float, width: float) -> float:
    """Return the chance that the average of a fair coin on a lazy walk is off by more, exactly."""
    off = np.abs(np.arange(n + 1) / n - 0.5) > width + 1e-12
    return float(heads_on_a_walk(n, stay)[off].sum())


def concentrates(stay: Callable[[int], float]) -> Finding:
    """Double the rows, and see whether the chance p to be off by 0.1 falls to p^1.5 at most.

    An exponential in the rows falls to p^2; one that does not fall stays at p.
    """
    sizes = (100, 200, 400, 800)
    chance = [misses(n, stay(n), 0.1) for n in sizes]
    falls = all(late <= early**1.5 for early, late in pairwise(chance))
    words = f"off by 0.1 with probability {chance[0]:.3g} of 100 rows, {chance[-1]:.3g} of 800"
    return Finding(falls, chance[-1], 0.0, words)


def width_holds(factor: float) -> Finding:
    """Compare sqrt(c ln(2/beta)/2n) on the lazy walk with the exact chance to be off by more."""
    worst, chance = max(
        (misses(n, 0.5, sqrt(factor * log(2 / b) / (2 * n))) / b, b)
        for n in (1000, 4000)
        for b in (0.1, 0.01, 1e-4, 1e-15, 1e-30)
    )
    words = (
        f"with {factor:g} times the variance exceeded {worst:.2g} times as often as promised "
        f"(promised {chance:g})"
    )
    return Finding(worst <= 1, worst, 0.0, words)


def codes_fool_splitting(draw: Callable[[Rng], Rows]) -> Finding:
    """Read the code of the sample in one part, ask about it in the other."""
    errors = []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        game = AdaptiveGame(Decoding(BITS), draw(rng), _split(2, seed), rounds=2)
        errors.append(game.play()[-1].answer - 2.0**-BITS)
    mean, deviation = _mean(errors)
    width = widths.splitting(BITS, 2, BETA)
    words = f"the second answer is off by {mean:z.3f} ± {deviation:.3f}, promised {width:.3f}"
    return Finding(mean - 4 * deviation > width, mean, deviation, words)


def copies_fool_splitting(draw: Callable[[int, Rng], Rows]) -> Finding:
    """Overfit to 200 parts, and compare the last answer with the width of a fresh part."""
    k, errors = 200, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        rows, analyst = draw(k, rng), Overfitting(LAW, k, rng=rng)
        played = AdaptiveGame(analyst, rows, _split(k, seed), rounds=k).play()
        errors.append(float(played[-1:].errors(LAW)[0]))
    mean, deviation = _mean(errors)
    width = widths.splitting(ROWS, k, BETA)
    words = f"the last answer is off by {mean:.3f} ± {deviation:.3f}, promised {width:.3f}"
    return Finding(mean - 4 * deviation > width, mean, deviation, words)


def tenfold_rows_stay_within(declared: Dependence) -> Finding:
    """Overfit to rows that come ten times each, by answers of one bit."""
    n, k, errors = 10_000, 100, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        analyst = Overfitting(LAW, k, rng=rng, one_bit=True)
        played = AdaptiveGame(analyst, blocks(LAW, n, size=10, rng=rng), Empirical).play()
        errors.append(float(played[-1:].errors(LAW)[0]))
    width = declared.width(n, log(k / BETA) + (k - 1) * log(2))
    missed = sum(error > width for error in errors)
    mean, deviation = _mean(errors)
    words = f"off by {mean:.3f} ± {deviation:.3f}, half-width {width:.3f}: {missed} of {RUNS} miss"
    return Finding(missed <= BETA * RUNS, mean, deviation, words)


def _mean(errors: list[float]) -> tuple[float, float]:
    return float(np.mean(errors)), float(np.std(errors, ddof=1)) / sqrt(len(errors))


def _split(rounds: int, seed: int) -> Callable[[Rows], Splitting]:
    return lambda sample: Splitting(sample, rounds, source=SeededSource(seed))


CLAIMS = (
    Claim(
        id="S5",
        statement="The value of a query on a law over samples is E q(S), the mean over its rows "
        "(rival: the chain's stationary value)",
        printed=mean_of_marginals,
        instead=lambda chain, n: float(stationary(chain) @ RAIN),  # noqa: ARG005 - of any n
        other=Instead.RIVAL,
        check=is_the_value,
    ),
    Claim(
        id="S5b",
        statement="Observed: in the adaptive game plain averages mislead (rival: an analyst whose "
        "questions are fixed beforehand)",
        printed=adaptive_questions,
        instead=fixed_questions,
        other=Instead.RIVAL,
        check=misleads,
        ours=True,
    ),
    Claim(
        id="S6",
        statement="No mechanism is accurate on both P0 and P1: for every alpha below 1/4 it fails "
        "with probability 1/4 (rival: alpha = 1/4)",
        printed=Fraction(24, 100),
        instead=Fraction(1, 4),
        other=Instead.RIVAL,
        check=nobody_answers,
    ),
    Claim(
        id="S6b",
        statement="Queries are concentrated on the lazy random walk (rival: one that stays but for "
        "one step in n)",
        printed=lambda n: 0.5,  # noqa: ARG005 - of any n
        instead=lambda n: 1 - 1 / n,
        other=Instead.RIVAL,
        check=concentrates,
    ),
    Claim(
        id="S6c",
        statement="Observed: on the lazy walk, for which no width is given, that of independent "
        "rows holds with three times the variance (rival: 10% less)",
        printed=3.0,
        instead=2.7,
        other=Instead.RIVAL,
        check=width_holds,
        ours=True,
    ),
    Claim(
        id="S6d",
        statement="Splitting fails where rows hold the whole sample in their low-order bits "
        "(rival: rows with random low-order bits)",
        printed=lambda rng: encoded(BITS, rng=rng),
        instead=lambda rng: rng.integers(1 << (BITS + 1), size=BITS),
        other=Instead.RIVAL,
        check=codes_fool_splitting,
    ),
    Claim(
        id="S6e",
        statement="Splitting fails where one block is repeated (rival: independent rows)",
        printed=lambda k, rng: repeated(LAW, ROWS, times=k, rng=rng),
        instead=lambda k, rng: iid(LAW, ROWS, rng=rng),  # noqa: ARG005 - however many parts
        other=Instead.RIVAL,
        check=copies_fool_splitting,
    ),
    Claim(
        id="S6f",
        statement="As long as queries are concentrated as the law says, answers hold: rows that "
        "come ten times each, with the width of n/10 (rival: declared independent)",
        printed=Blocks(10),
        instead=Iid(),
        other=Instead.RIVAL,
        check=tenfold_rows_stay_within,
    ),
)
