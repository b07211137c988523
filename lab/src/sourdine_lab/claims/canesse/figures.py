"""What the report reads off its figures 4, 5 and 6 (C11), and against which truth (C12)."""

from __future__ import annotations

import operator
from fractions import Fraction
from functools import cache
from math import exp, hypot, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.noise import SeededSource
from sourdine_lab.claims.canesse.above_threshold import monotone_privacy
from sourdine_lab.claims.canesse.local import histogram_away, inverse_sensitivity_away
from sourdine_lab.claims.canesse.simulated import NINTH, SURE, Measured, mean
from sourdine_lab.claims.claim import Claim, Finding, Instead
from sourdine_lab.experiments.canesse import deciles, figure_6, salaries, samples
from sourdine_lab.experiments.canesse.figure_4 import STATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Truth = Callable[[deciles.Floats], deciles.Floats]
    Power = tuple[float, float]
    Noise = tuple[Fraction, bool]

HISTOGRAM, INVERSE = STATED["histogram"], STATED["inverse sensitivity"]
UNIFORM = np.arange(1, 10) / 10
SIZES = range(100, 5001, 100)
"""One data set of each: the reading of "50 data sets" under which the fits come out."""
LISTED, FOR_COUNTS, OF_FIGURE_4 = (NINTH, False), (NINTH, True), (2 * NINTH, False)
NOISES = (LISTED, FOR_COUNTS, OF_FIGURE_4)
"""A search's epsilon, and whether its noise is that for counts."""


def _ratio(above: Measured, below: Measured) -> Measured:
    ratio = above.value / below.value
    return Measured(ratio, ratio * hypot(above.error / above.value, below.error / below.value))


def asymptotically(form: tuple[Power, Power]) -> Finding:
    """Simulate who is better far beyond the crossing of the fits; the form is two powers of n.

    It is decided at n = 1e48, with each of the three noises: that of the listing, that for counts,
    and the one which reproduces figure 4. At 1e12 the last leaves it open.
    """
    (a, p), (b, q) = form
    words, agree = "histogram over inverse sensitivity", []
    for n in (1e12, 1e48):
        ratios, said = [_over_inverse(n, noise) for noise in NOISES], a / b * n ** (p - q)
        words += f" {_shown(ratios)} at n = {n:.0e} (predicted {said:.2f}),"
        agree = [(r.value > 1) == (said > 1) and abs(r.value - 1) > SURE * r.error for r in ratios]
    words += " with the noise of the listing, for counts, of figure 4"
    if p != q:
        words += f"; the fits cross at {(b / a) ** (1 / (p - q)):.1e}"
    return Finding(all(agree), *ratios[0], words)


def _over_inverse(n: float, noise: Noise) -> Measured:
    epsilon, monotone = noise
    return _ratio(histogram_away(n, epsilon=epsilon, monotone=monotone), inverse_sensitivity_away())


def _shown(ratios: list[Measured]) -> str:
    return ", ".join(f"{ratio.value:.2f} ± {ratio.error:.2f}" for ratio in ratios)


def usual_sizes(better: Callable[[float, float], bool]) -> Finding:
    """Simulate who is better up to n = 1e8: the form compares inverse sensitivity, histogram."""
    ratios = [_over_inverse(n, LISTED) for n in (1e3, 1e5, 1e8)]
    words = f"histogram over inverse sensitivity {_shown(ratios)} at n = 1e3, 1e5, 1e8 "
    words += f"with the listing's noise, claimed {'above' if better(0, 1) else 'below'} 1"
    words += f" (with that of figure 4: {_shown([_over_inverse(1e8, OF_FIGURE_4)])} at 1e8)"
    sure = all(abs(r.value - 1) > SURE * r.error for r in ratios)
    return Finding(sure and all(better(1, r.value) for r in ratios), *ratios[-1], words)


def _side(better: Callable[[float, float], bool]) -> str:
    """Say on which side of 1 inverse sensitivity over histogram was claimed."""
    return "below" if better(0, 1) else "above"


def told_apart(tells: Callable[[float, float], bool]) -> Finding:
    """Fit one data set a size, as the report did: how far two exponents differ by chance."""
    exponents = _exponents(0.5, deciles.sample_deciles)
    spread = float(np.std(exponents[:, 0] - exponents[:, 1], ddof=1))
    claimed = abs(HISTOGRAM[1] - INVERSE[1])
    words = (
        f"the exponents differ by {claimed:.2f}, two standard deviations of the difference are "
        f"{2 * spread:.2f}, claimed {'less' if tells(1, 0) else 'more'}"
    )
    return Finding(tells(claimed, 2 * spread), spread, spread / sqrt(2 * len(exponents)), words)


def which_error(power: float) -> Finding:
    """Fit the mean over the deciles of the squares, to a power, to the sample's deciles."""
    return _fits(_exponents(power, deciles.sample_deciles))


def which_truth(truth: Truth) -> Finding:
    """Fit the root mean square error to deciles that are said to be the truth."""
    return _fits(_exponents(0.5, truth))


def _fits(exponents: deciles.Floats) -> Finding:
    """Compare both mean exponents with those of the report, within 0.05, its own deviation."""
    found, error = exponents.mean(axis=0), exponents.std(axis=0, ddof=1) / sqrt(len(exponents))
    stated = np.array([HISTOGRAM[1], INVERSE[1]])
    worst = int(np.argmax(np.abs(found - stated)))
    words = (
        f"exponents {found[0]:.2f} ± {error[0]:.2f} and {found[1]:.2f} ± {error[1]:.2f}, "
        f"stated {stated[0]:g} and {stated[1]:g}"
    )
    holds = bool(np.all(np.abs(found - stated) <= 0.05 + 2 * error))
    return Finding(holds, float(found[worst]), float(error[worst]), words)


def _exponents(power: float, truth: Truth) -> deciles.Floats:
    """Return the exponents, histogram and inverse sensitivity, of each repetition."""
    flat = np.ones(len(SIZES))
    return np.array([
        [deciles.Fit(SIZES, squares**power, flat).exponent for squares in one.T]
        for one in _squares(truth)
    ])  # fmt: skip


def _squares(truth: Truth) -> NDArray[np.float64]:
    """Return the mean squares by repetition, size and method."""
    return np.array([
        [[deciles.error(answers, truth(x)) ** 2 for answers in both] for x, both in one]
        for one in _repetitions()
    ])  # fmt: skip


@cache
def _repetitions() -> list[list[tuple[deciles.Floats, tuple[deciles.Floats, ...]]]]:
    """Return one data set a size and both methods' answers, several times."""
    rng, source = np.random.default_rng(4), SeededSource(4)
    methods = (deciles.histogram, deciles.inverse_sensitivity)
    return [
        [(x, tuple(method(x, source) for method in methods)) for x in map(rng.random, SIZES)]
        for _ in range(12)
    ]


def _law(x: deciles.Floats) -> deciles.Floats:  # noqa: ARG001 - the law's deciles are the same
    return UNIFORM


def level(form: Noise) -> Finding:
    """Compare n times the error at n = 1000 with the fit; the form is epsilon and the noise.

    Samples of 1000 are drawn and all nine deciles searched: near the ends of [0, 1] an error has
    less room than in the limit of `usual_sizes`.
    """
    epsilon, monotone = form
    n, rng, source = 1000, np.random.default_rng(11), SeededSource(11)
    squares = np.empty(400)
    for run in range(len(squares)):
        x = rng.random(n)
        found = deciles.histogram(x, source, epsilon=float(9 * epsilon), monotone=monotone)
        squares[run] = deciles.error(found, deciles.sample_deciles(x)) ** 2
    square = mean(squares)
    away = n * sqrt(square.value)
    error = away * square.error / (2 * square.value)
    stated = HISTOGRAM[0] * n ** (1 + HISTOGRAM[1])
    scale = (1 if monotone else 2) * 2 * NINTH / epsilon
    words = (
        f"n times the error is {away:.0f} ± {error:.1f} with Lap({scale}/ε) on the counts, "
        f"stated {stated:.0f}"
    )
    return Finding(abs(away / stated - 1) < 0.25, away, error, words)


def on_normal(better: Callable[[float, float], bool]) -> Finding:
    """Simulate who is better on N(0, 1), n = 3000: inverse sensitivity, or histogram."""
    rng, source = np.random.default_rng(5), SeededSource(5)
    apart = []
    for _ in range(60):
        x = samples.fractions(rng.standard_normal(3000), (-5, 5))
        truth = deciles.sample_deciles(x)
        inverse = deciles.error(deciles.inverse_sensitivity(x, source), truth)
        apart.append(log(inverse / deciles.error(deciles.histogram(x, source), truth)))
    ratio, error = float(np.exp(np.mean(apart))), float(np.std(apart, ddof=1) / sqrt(len(apart)))
    words = f"inverse sensitivity over histogram {ratio:.2f} ± {ratio * error:.2f}, "
    words += f"claimed {_side(better)} 1"
    holds = better(ratio, 1) and abs(log(ratio)) > SURE * error
    return Finding(holds, ratio, ratio * error, words)


def on_salaries(better: Callable[[float, float], bool]) -> Finding:
    """Simulate who is better on the stand-in for the salaries, at three values of epsilon."""
    ratios = [_salaries(epsilon) for epsilon in ("0.1", "1", "5")]
    shown = ", ".join(f"{1 / r.value:.2f}" for r in ratios)
    words = f"inverse sensitivity over histogram {shown} at ε = 0.1, 1, 5, "
    words += f"claimed {_side(better)} 1"
    sure = all(abs(log(r.value)) > SURE * r.error / r.value for r in ratios)
    holds = sure and all(better(1 / r.value, 1) for r in ratios)
    return Finding(holds, 1 / ratios[1].value, ratios[1].error / ratios[1].value ** 2, words)


def similar(factor: float) -> Finding:
    """Hold the ratio of the two errors on the stand-in for the salaries to a factor."""
    ratio = max((_salaries(epsilon) for epsilon in ("0.1", "1", "5")), key=lambda r: r.value)
    words = f"histogram over inverse sensitivity up to {ratio.value:.1f} ± {ratio.error:.1f}, "
    words += f"claimed below {factor:g}"
    return Finding(ratio.value + SURE * ratio.error < factor, *ratio, words)


@cache
def _salaries(epsilon: str) -> Measured:
    """Return the ratio of the typical errors of 40 runs, histogram over inverse sensitivity."""
    source, each = SeededSource(6), Fraction(epsilon) * NINTH
    read, truth = _read(), np.array(salaries.DECILES)
    both = (read.searched(each, 40, source, monotone=True), read.drawn(each, 40, source))
    logs = [mean(np.log([deciles.error(one, truth) for one in found.T])) for found in both]
    ratio = exp(logs[0].value - logs[1].value)
    return Measured(ratio, ratio * hypot(logs[0].error, logs[1].error))


@cache
def _read() -> figure_6.Reading:
    return figure_6.Reading(salaries.salaries())


def sampling(form: float) -> Finding:
    """Compare the two mean squares: the difference was to be so much over n."""
    large = np.array(SIZES) >= 2500
    apart = (_squares(_law) - _squares(deciles.sample_deciles))[:, large].mean(axis=2)
    found = mean((apart * np.array(SIZES)[large]).ravel())
    words = (
        f"n times the difference of the mean squares is {found.value:.2f} ± {found.error:.2f}, "
        f"claimed {form:.2f}"
    )
    return Finding(abs(found.value - form) <= SURE * found.error, *found, words)


CLAIMS = (
    Claim(
        id="C11",
        statement='By its fits the histogram method is asymptotically better ("not in practice")',
        printed=(HISTOGRAM, INVERSE),
        instead=((HISTOGRAM[0], -1.0), (INVERSE[0], -1.0)),
        other=Instead.OPPOSITE,
        check=asymptotically,
    ),
    Claim(
        id="C11b",
        statement='Inverse sensitivity "seems" better for usual n, up to 1e8, here than the '
        "histogram method with the listing's noise [rival: the histogram method is]",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.RIVAL,
        check=usual_sizes,
    ),
    Claim(
        id="C11c",
        statement="The fits tell the exponents -1.015 and -0.995 apart, as C11 supposes",
        printed=operator.gt,
        instead=operator.lt,
        other=Instead.OPPOSITE,
        check=told_apart,
    ),
    Claim(
        id="C11d",
        statement='Figure 4 shows the "écart quadratique moyen", the root of the mean square '
        "[rival: the mean square itself]",
        printed=0.5,
        instead=1.0,
        other=Instead.RIVAL,
        check=which_error,
    ),
    Claim(
        id="C11e",
        statement="35 n^-1.015 is the error of the listing, with Lap(4/ε) on the counts",
        printed=LISTED,
        instead=OF_FIGURE_4,
        other=Instead.CORRECTION,
        check=level,
    ),
    Claim(
        id="C11f",
        statement="The noise that gives 35 n^-1.015, Lap(1/ε) and Lap(2/ε), is ε-private",
        printed=(Fraction(1), Fraction(2)),
        instead=(Fraction(2), Fraction(2)),
        other=Instead.CORRECTION,
        check=monotone_privacy,
    ),
    Claim(
        id="C11g",
        statement="On the normal law inverse sensitivity is better (figure 5) "
        "[rival: the histogram method is]",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.RIVAL,
        check=on_normal,
    ),
    Claim(
        id="C11h",
        statement="On salaries inverse sensitivity is more precise (figure 6; here a stand-in) "
        "[rival: the histogram method is]",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.RIVAL,
        check=on_salaries,
    ),
    Claim(
        id="C11i",
        statement="... and not by an order of magnitude (here a stand-in) [rival: a factor of 2]",
        printed=10.0,
        instead=2.0,
        other=Instead.RIVAL,
        check=similar,
    ),
    Claim(
        id="C12",
        statement="Figure 4 shows errors to the law's deciles, the truth that section 3.4 chooses",
        printed=_law,
        instead=deciles.sample_deciles,
        other=Instead.CORRECTION,
        check=which_truth,
    ),
    Claim(
        id="C12b",
        statement="The two truths, sample and law, differ by the error of sampling, q(1 - q)/n "
        "[rival: no difference]",
        printed=float(np.mean(UNIFORM * (1 - UNIFORM))),
        instead=0.0,
        other=Instead.RIVAL,
        check=sampling,
    ),
)
