"""What the report reads off its figures 4, 5 and 6 (C11), and against which truth (C12)."""

from __future__ import annotations

import operator
from fractions import Fraction
from functools import cache
from math import exp, hypot, log, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sourdine.central.quantiles.joint import JointExp
from sourdine.central.quantiles.points import Points
from sourdine.noise import SeededSource
from sourdine_lab.claims.canesse import fits
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
ON_UNIFORM = ("uniform(0,1)", (0.0, 1.0))
ON_NORMAL = (("normal(0,1)", (-5.0, 5.0)), ("normal(0,1)", (-10.0, 10.0)))
INVERSELY = "inverse sensitivity"
SIZES = range(100, 5001, 100)
"""One data set of each, several times."""
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


def told_apart(falls: Callable[[float, float], bool]) -> Finding:
    """Fit the expected errors of 50 data sets a size: whose exponent is the lower one.

    The form compares the exponents, histogram and inverse sensitivity. The former is with the noise
    that figure 4 shows.
    """
    ours, other = (fits.line(*ON_UNIFORM, name) for name in ("figure 4", "inverse sensitivity"))
    apart, error = ours.exponent - other.exponent, hypot(ours.deviation, other.deviation)
    listed = fits.line(*ON_UNIFORM, "listed")
    words = (
        f"exponents {ours.exponent:.3f} ± {ours.deviation:.3f} and {other.exponent:.3f} ± "
        f"{other.deviation:.3f}, apart by {apart:.3f} ± {error:.3f}, claimed "
        f"{'below' if falls(0, 1) else 'above'} 0 (with the listing's noise {listed.exponent:.3f})"
    )
    return Finding(falls(apart, 0) and abs(apart) > SURE * error, apart, error, words)


def similar_on_uniform(factor: float) -> Finding:
    """Hold the ratio of the two errors on U(0, 1) to a factor, with the listing's noise."""
    found = [fits.errors(*ON_UNIFORM, n) for n in (350, 1000, 5000)]
    shown = [one["figure 4"].mean() / one[INVERSELY].mean() for one in found]
    ratios = [_ratio(mean(one["listed"]), mean(one[INVERSELY])) for one in found]
    worst = max(ratios)
    words = (
        f"histogram over inverse sensitivity {_shown(ratios)} at n = 350, 1000, 5000 with the "
        f"listing's noise ({', '.join(f'{r:.2f}' for r in shown)} with that of figure 4), claimed "
        f"below {factor:g}"
    )
    return Finding(worst.value + SURE * worst.error < factor, *worst, words)


def bends(more: Callable[[float, float], bool]) -> Finding:
    """Compare how far mean errors on N(0, 1) and on U(0, 1) are from a power of n.

    The report does not say which bounds it takes for the normal law, so two are tried.
    """
    found = [
        (fits.line(*law, name).bend, fits.line(*ON_UNIFORM, name).bend)
        for law in ON_NORMAL
        for name in ("figure 4", INVERSELY)
    ]
    least = min(found, key=lambda pair: pair[0] / pair[1])
    words = "logarithms of the mean errors are off a line by " + ", ".join(
        f"{normal:.3f} (uniform {uniform:.3f})" for normal, uniform in found
    )
    words += " for histogram and inverse sensitivity within 5 deviations, then within 10; "
    words += f"claimed {'more' if more(1, 0) else 'less'} on the normal law"
    holds = all(more(normal, uniform) for normal, uniform in found)
    return Finding(holds, least[0] / least[1], 0.0, words)


def asymptotically_normal(better: Callable[[float, float], bool]) -> Finding:
    """Simulate who is better on N(0, 1) at large n, near the median: inverse, or histogram.

    A cell of [-5, 5] holds 10/√(2π) times as many values there as one of [0, 1] on U(0, 1).
    """
    more = 10 / sqrt(2 * pi)
    words, sure, ratios = "histogram over inverse sensitivity", True, [Measured(1, 0)]
    for n in (1e9, 1e12):
        ratios = [_over_inverse(n**more, noise) for noise in NOISES]
        words += f" {_shown(ratios)} at n = {n:.0e},"
        sure = all(better(r.value, 1) and abs(r.value - 1) > SURE * r.error for r in ratios)
    words += " with the noise of the listing, for counts, of figure 4; claimed "
    return Finding(sure, *ratios[0], words + f"{'below' if better(0, 1) else 'above'} 1")


def best_known(better: Callable[[float, float], bool]) -> Finding:
    """Compare inverse sensitivity with JointExp, published in 2021, on nine deciles of U(0, 1)."""
    n, rng, source = 1000, np.random.default_rng(15), SeededSource(15)
    joint = JointExp(
        epsilon=1, q=deciles.ORDERS, cells=deciles.TICKS, relation="substitute"
    )  # fmt: skip
    logs = []
    for _ in range(60):
        x = rng.random(n)
        points = Points.of((x * deciles.TICKS).astype(np.int64), deciles.TICKS)
        drawn = (np.asarray(joint.published(joint.one(points, source))) + 0.5) / deciles.TICKS
        truth = deciles.sample_deciles(x)
        inverse = deciles.error(deciles.inverse_sensitivity(x, source), truth)
        logs.append(log(inverse / deciles.error(drawn, truth)))
    apart = mean(np.array(logs))
    ratio = exp(apart.value)
    words = f"inverse sensitivity over JointExp (Gillenwater, Joseph, Kulesza 2021) {ratio:.1f} ± "
    words += f"{ratio * apart.error:.1f} (n = {n}, ε = 1), claimed {_side(better)} 1"
    holds = better(ratio, 1) and abs(apart.value) > SURE * apart.error
    return Finding(holds, ratio, ratio * apart.error, words)


def negligible(part: float) -> Finding:
    """Hold the errors on the stand-in for the salaries at ε = 1 to a part of the lowest decile."""
    source, read, truth = SeededSource(7), _read(), np.array(salaries.DECILES)
    found = {}
    for method in figure_6.METHODS:
        answers = read.answers(method, NINTH, 40, source)
        found[method] = mean(np.array([deciles.error(one, truth) for one in answers.T]))
    worst = max(found.values())
    words = ", ".join(f"{one.value:.0f} ± {one.error:.0f} ({name})" for name, one in found.items())
    words = f"errors {words} dollars at ε = 1, claimed below {part * truth[0]:.3g}"
    return Finding(worst.value + SURE * worst.error < part * truth[0], *worst, words)


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
        statement="The histogram method is asymptotically better, as its fit says, not in practice",
        printed=(HISTOGRAM, INVERSE),
        instead=((HISTOGRAM[0], -1.0), (INVERSE[0], -1.0)),
        other=Instead.OPPOSITE,
        check=asymptotically,
        quote="notre méthode est asymptotiquement meilleure même si cela ne sera pas le cas en "
        "pratique",
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
        statement="On n from 100 to 5000 the histogram method's exponent is the lower one, -1.015 "
        "against -0.995 (here with figure 4's noise, C11e) [rival: inverse sensitivity's is]",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.RIVAL,
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
        quote="l'écart quadratique semble être d'espérance 35n^-1.015 pour la méthode des "
        "histogrammes",
    ),
    Claim(
        id="C11f",
        statement="Observed: Lap(1/ε) and Lap(2/ε), the noise that gives 35 n^-1.015 (the report "
        "does not say which it took), is ε-private for counts",
        printed=(Fraction(1), Fraction(2)),
        instead=(Fraction(2), Fraction(2)),
        other=Instead.CORRECTION,
        check=monotone_privacy,
        ours=True,
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
        id="C11j",
        statement='On U(0, 1) the two perform "really similarly", in the sense of section 5.2.3: '
        "no order of magnitude apart [rival: within a factor of 2]",
        printed=10.0,
        instead=2.0,
        other=Instead.RIVAL,
        check=similar_on_uniform,
    ),
    Claim(
        id="C11k",
        statement="On the normal law the errors follow a power of n less closely than on the "
        "uniform one (5.2.2) [rival: more closely]",
        printed=operator.gt,
        instead=operator.lt,
        other=Instead.RIVAL,
        check=bends,
    ),
    Claim(
        id="C11l",
        statement="On the normal law, too, the histogram method seems asymptotically better "
        "(5.2.2; its cells hold ever more values)",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.OPPOSITE,
        check=asymptotically_normal,
        quote="cet écart semble asymptotiquement meilleur par rapport à celui obtenue avec le "
        "mécanisme de sensibilité inverse",
    ),
    Claim(
        id="C11m",
        statement="On salaries an error near 20 dollars is negligible: both methods, at ε = 1, err "
        "by less than a thousandth of the lowest decile (here a stand-in) [rival: a "
        "ten-thousandth]",
        printed=0.001,
        instead=0.0001,
        other=Instead.RIVAL,
        check=negligible,
    ),
    Claim(
        id="C11n",
        statement="Inverse sensitivity is, to the author's knowledge, the best algorithm known for "
        "quantiles (1.1.4, 3); for nine deciles JointExp of 2021 errs less",
        printed=operator.lt,
        instead=operator.gt,
        other=Instead.OPPOSITE,
        check=best_known,
        quote="à notre connaissance, le meilleur algorithme d'estimation de quantiles connue à ce "
        "jour",
    ),
    Claim(
        id="C12",
        statement="Our reading: figure 4 shows errors to the law's deciles, the truth that section "
        "3.4 chooses for its bounds (the sample's give the stated powers)",
        printed=_law,
        instead=deciles.sample_deciles,
        other=Instead.CORRECTION,
        check=which_truth,
        quote="Nous avons donc choisi de réaliser les calculs sur la seconde option",
        ours=True,
    ),
    Claim(
        id="C12b",
        statement="Observed: the two truths, sample and law, differ by the error of sampling, "
        "q(1 - q)/n "
        "[rival: no difference]",
        printed=float(np.mean(UNIFORM * (1 - UNIFORM))),
        instead=0.0,
        other=Instead.RIVAL,
        check=sampling,
        ours=True,
    ),
)
