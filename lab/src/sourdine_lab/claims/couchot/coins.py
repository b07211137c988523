"""L2: two coins: the ratio, the estimator, its bias, its variance, other coins."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

from sourdine.mechanisms import Warner
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.claims.couchot.channel import SLACK, level

if TYPE_CHECKING:
    from collections.abc import Callable

HALF = Fraction(1, 2)
FAIR = Warner(truth=HALF, yes=HALF)
PEOPLE = 12
YES, NO = 1, 0


def chance(x: int, y: int) -> Fraction:
    """Return the chance that somebody whose truth is ``x`` says ``y``."""
    a, b = FAIR.channel
    said_yes = a if x == YES else b
    return said_yes if y == YES else 1 - said_yes


def ratio(inputs: tuple[int, int]) -> Finding:
    """Compare the ratio of two people's chances of yes with the largest of all ratios."""
    found = chance(inputs[0], YES) / chance(inputs[1], YES)
    largest = max(chance(x, y) / chance(1 - x, y) for x in (0, 1) for y in (0, 1))
    words = f"the ratio is {found}, the largest of all {largest}"
    return Finding(found == largest, float(found), words=words)


def private(epsilon: float) -> Finding:
    """Compare the exact loss of two fair coins with a level."""
    loss = level([[float(chance(x, y)) for y in (0, 1)] for x in (0, 1)])
    return Finding(loss <= epsilon + SLACK, loss, words=f"loss {loss:.4f}, level {epsilon:.4f}")


def answers(cheats: int) -> list[Fraction]:
    """Return the law of the number of yes when so many of the people cheated."""
    a, b = FAIR.channel
    law = [Fraction(0)] * (PEOPLE + 1)
    for i in range(cheats + 1):
        for j in range(PEOPLE - cheats + 1):
            law[i + j] += (
                comb(cheats, i) * a**i * (1 - a) ** (cheats - i)
                * comb(PEOPLE - cheats, j) * b**j * (1 - b) ** (PEOPLE - cheats - j)
            )  # fmt: skip
    return law


def moments(estimate: Callable[[Fraction], Fraction], cheats: int) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance of an estimate from the share of yes, exactly."""
    law = list(enumerate(answers(cheats)))
    values = [(estimate(Fraction(yes, PEOPLE)), p) for yes, p in law]
    mean = sum((v * p for v, p in values), Fraction(0))
    return mean, sum((v * v * p for v, p in values), Fraction(0)) - mean**2


def unbiased(estimate: Callable[[Fraction], Fraction]) -> Finding:
    """Find the largest bias over all numbers of cheats."""
    biases = [
        moments(estimate, cheats)[0] - Fraction(cheats, PEOPLE) for cheats in range(PEOPLE + 1)
    ]
    worst = max(biases, key=abs)
    return Finding(worst == 0, float(worst), words=f"largest bias {float(worst):g}, exactly")


def spread(variance: Callable[[Fraction], Fraction]) -> Finding:
    """Compare n times the variance of 2r - 1/2 with a formula in the share of cheats."""
    found = [PEOPLE * moments(lambda r: 2 * r - HALF, c)[1] for c in range(PEOPLE + 1)]
    said = [variance(Fraction(c, PEOPLE)) for c in range(PEOPLE + 1)]
    middle = PEOPLE // 2
    words = f"n times the variance is {found[middle]} at f = 1/2, the form says {said[middle]}"
    return Finding(found == said, float(found[middle]), words=words)


def best(coins: tuple[Fraction, Fraction]) -> Finding:
    """Look for coins that are as private and have a smaller variance at worst."""

    def worst(truth: Fraction, yes: Fraction) -> tuple[float, float]:
        made = Warner(truth=truth, yes=yes)
        return float(made.guarantee.epsilon), float(max(made.variance(f, 1) for f in (0, 1)))

    epsilon, own = worst(*coins)
    others = [
        worst(Fraction(t, 60), Fraction(p, 24)) for t in range(1, 60) for p in range(1, 24)
    ] + [worst(Warner.optimum(epsilon).truth, HALF)]
    least = min(v for e, v in others if e <= epsilon + SLACK)
    words = f"n times the variance {own:.4f} at epsilon {epsilon:.4f}, the least of all {least:.4f}"
    return Finding(own <= least + SLACK, own, words=words)


def reading(share: Callable[[int], Fraction]) -> Finding:
    """Compare the expected share of yes with 1/4 + f/2 for what the form takes f to be."""
    cheats = 3
    expected = moments(lambda r: r, cheats)[0]
    said = Fraction(1, 4) + share(cheats) / 2
    words = f"{cheats} of {PEOPLE} cheat: expected share of yes {expected}, the form says {said}"
    return Finding(expected == said, float(said), words=words)


def scheme(chances: Callable[[float], tuple[float, float]]) -> Finding:
    """Compare a scheme's chances of yes, with fair coins, with the printed 3/4 and 1/4."""
    found = np.array(chances(0.5))
    words = f"yes with chance {found[0]:g} of those who cheated, {found[1]:g} of the others"
    return Finding(bool((found == [0.75, 0.25]).all()), float(found[0]), words=words)


CLAIMS = (
    Claim(
        id="L2",
        statement="two coins: the ratio M(yes)/M(yes) is the largest, 3 (the second yes is a no)",
        printed=(YES, YES),
        instead=(YES, NO),
        other=Instead.MEANT,
        check=ratio,
        quote="Pr[M(x1)=y]/Pr[M(x2)=y] ≤ Pr[M(oui)=oui]/Pr[M(oui)=oui] ≤ 3",
    ),
    Claim(
        id="L2b",
        statement="two fair coins are ln 3 private",
        printed=log(3),
        instead=0.9 * log(3),
        other=Instead.RIVAL,
        check=private,
        quote="Mécanisme ln(3)-LDP",
    ),
    Claim(
        id="L2c",
        statement="2r - 1/2 is not biased, as the slides hope (the raw share r is)",
        printed=lambda r: 2 * r - HALF,
        instead=lambda r: r,
        other=Instead.RIVAL,
        check=unbiased,
        quote="L'estimateur est-il biaisé ? On peut espérer que non !",
    ),
    Claim(
        id="L2d",
        statement="the slides' question of the variance: it is 3/(4n) for those who answered,"
        " whatever f"
        " (a sample of a population has 4 r(1-r)/n)",
        printed=lambda _: Fraction(3, 4),
        instead=lambda f: 4 * (f / 2 + Fraction(1, 4)) * (Fraction(3, 4) - f / 2),
        other=Instead.RIVAL,
        check=spread,
        quote="Quid de la variance ?",
        ours=True,
    ),
    Claim(
        id="L2e",
        statement="the slides' question of other coins: at their epsilon no pair beats two fair"
        " ones (a second coin of 1/4 is beaten at its own)",
        printed=(HALF, HALF),
        instead=(HALF, Fraction(1, 4)),
        other=Instead.RIVAL,
        check=best,
        quote="Et si on utilisait d'autres probabilités que 1/2, 1/2 ?",
        ours=True,
    ),
    Claim(
        id="L2f",
        statement="f is the number of cheats among N, and r is about 1/4 + f/2 (f is their share,"
        " as the tree beside it has it)",
        printed=lambda cheats: Fraction(cheats, 1),
        instead=lambda cheats: Fraction(cheats, PEOPLE),
        other=Instead.MEANT,
        check=reading,
        quote="Estimateur pour N personnes et f < N tricheurs ... r ≈ 1/4 + f/2",
    ),
    Claim(
        id="L2g",
        statement="the scheme is Warner's of 1965, who asks the opposite question on tails (it is"
        " that of an unrelated second question)",
        printed=lambda heads: (heads, 1 - heads),
        instead=lambda heads: (heads + (1 - heads) / 2, (1 - heads) / 2),
        other=Instead.CORRECTION,
        check=scheme,
        quote="Bruiter selon Warner ... Ajout de la question Q2 : « Est-ce que t2 est égal à"
        " Pile ? »",
    ),
)
