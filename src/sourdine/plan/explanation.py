"""What an epsilon means to one person: odds, tests and chances."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import given, integer
from sourdine.privacy import ADD_REMOVE, Guarantee
from sourdine.privacy.composition import MOST, Adversary
from sourdine.privacy.guarantee import shown
from sourdine.results.figures import BLUE, GREY, INK, NOTE, RED, RULE, SOFT, canvas, saved
from sourdine.results.tables import JsonDisplayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.exact import Number


# ---- What an epsilon means to one person, in numbers: odds, tests and chances --------------------
#
# Every number is exact or rounded against the promise: factors, powers and upper ends up, lower
# ends down. *Checked by* ``test_nothing_is_rounded_to_reassure``.


ALARMS = Fraction(1, 20)
"""The false alarms of the test that is spoken of."""

PRIORS = {"1/2": Fraction(1, 2), "1/1000": Fraction(1, 1000)}
"""What somebody may think before looking."""

FINEST = 4
"""The most decimals of a percentage."""


@dataclass(frozen=True, slots=True)
class Explanation(JsonDisplayable):
    """What a promise means to one person; it prints as a table with sentences."""

    guarantee: Guarantee
    """The promise of one release."""
    releases: tuple[int, ...] = (1, 10, 100)
    """For how many releases to say so, a line of the table each."""
    seen: str | None = None
    """What the first line is about, in words; the number of releases if omitted."""

    @property
    def adversaries(self) -> list[Adversary]:
        """Who sees one release, and who sees more of them."""
        return [Adversary(self.guarantee, n) for n in self.releases]

    def sheet(self) -> Sheet:
        return Sheet(
            title=str(self.guarantee),
            heads=("releases", "epsilon", "odds times", "found", *(f"{p} becomes" for p in PRIORS)),
            lines=[_line(adversary) for adversary in self.adversaries],
            notes=self.sentences(),
        )

    def sentences(self) -> list[tuple[str, str]]:
        """Return what the first line of the table says, in words."""
        one = self.adversaries[0]
        often = self.seen or ("one release" if one.releases == 1 else f"{one.releases} releases")
        what, there, gone = _worlds(self.guarantee)
        even = _span(*one.posterior(PRIORS["1/2"]))
        most = "by any factor"
        if one.factor is not None:
            most = f"by a factor of at most {_times(one.factor)}"
        rare = f", except with probability {shown(one.passed)}" if 0 < one.passed < 1 else ""
        found, alarms = percent(one.power(ALARMS), up=True), percent(ALARMS, up=True)
        odds = (
            f"Seeing {often} changes the odds {what} {most}, up or down{rare}. A prior probability "
            f"of 1/2 becomes {even}."
        )
        test = (
            f"The best test with a false positive rate of {alarms} for people {gone} detects "
            f"{found} of those {there}. Guessing detects {alarms}."
        )
        notes = [("odds", odds), ("detection", test)]
        if self.guarantee.delta:
            told = f"With probability up to {shown(one.told)} a record may be revealed."
            notes.append(("delta", told))
        worst = (
            "These are worst cases, for an adversary who knows all other records; usually less is "
            "learned. Epsilon counts once for each record of a person."
        )
        return [*notes, ("note", worst)]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict for JSON; null where there is no bound."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "false_alarms": float(ALARMS),
            "releases": [_facts(adversary) for adversary in self.adversaries],
            "sentences": [text for _, text in self.sentences()],
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Explanation:
        """Return the explanation that `to_dict` wrote."""
        return cls(
            Guarantee.from_dict(facts["guarantee"]),
            tuple(line["releases"] for line in facts["releases"]),
        )

    def plot(self, path: str | None = None, *, title: str | None = None) -> Any:
        """Draw how many are found against false alarms; ``path=`` saves the picture."""
        figure, axes = canvas(5.6, 5.2)
        axes.plot([0, 100], [0, 100], "--", color=GREY, linewidth=1.2)
        first, *more = self.adversaries
        written = [_test(axes, first, BLUE, 2.2)]
        for adversary in more:
            height = _test(axes, adversary, SOFT, 1.2)
            if all(abs(height - other) > APART for other in written):
                written.append(height)
                _label(axes, adversary, height, NOTE)
        _label(axes, first, written[0], RED)
        axes.plot(100 * float(ALARMS), written[0], "o", color=RED, markersize=6, clip_on=False)
        axes.axvline(100 * float(ALARMS), color=RED, linewidth=0.8)
        axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
        axes.set_xlabel("false alarms, %", color=INK, fontsize=9)
        axes.set_ylabel("found, %", color=INK, fontsize=9)
        axes.grid(color=RULE, linewidth=0.8)
        axes.set_title(title or str(self.guarantee), loc="left", color=INK, fontsize=11, pad=22)
        axes.annotate(
            "the best test of all that is published; dashed: a blind guess",
            (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color=NOTE,
            fontsize=8, va="bottom",
        )  # fmt: skip
        return saved(figure, path)


def explain(
    epsilon: Number | Guarantee, delta: Number = 0, *, releases: Sequence[int] = (1, 10, 100)
) -> Explanation:
    """Say what an epsilon, and a delta, mean to one person.

    Parameters
    ----------
    epsilon
        What one release costs; or its whole guarantee, such as ``release.cost``.
    delta
        From 0 to 1; 0 is pure differential privacy.
    releases
        For how many releases to say so.

    Examples
    --------
    >>> print(explain(0.5, releases=[1, 10]))
    epsilon 0.5, one record added or removed
    releases  epsilon  odds times  found  1/2 becomes       1/1000 becomes
           1      0.5        1.65  8.25%  37.7 to 62.3%     0.0606 to 0.165%
          10        5         149  46.8%  0.669 to 99.331%  0.0006 to 13%
    odds       Seeing one release changes the odds that a person is in the data by a
               factor of at most 1.65, up or down. A prior probability of 1/2
               becomes 37.7 to 62.3%.
    detection  The best test with a false positive rate of 5% for people who are not
               in the data detects 8.25% of those who are in the data. Guessing
               detects 5%.
    note       These are worst cases, for an adversary who knows all other records;
               usually less is learned. Epsilon counts once for each record of a
               person.
    """
    promise = epsilon if isinstance(epsilon, Guarantee) else Guarantee(epsilon, delta)
    if promise is epsilon and delta:
        hint = "The guarantee has its own delta: omit {delta}."
        what = "be omitted if a guarantee is given"
        raise ParameterError("delta", what, given(delta), hint, delta=LEFT_OUT)
    if not (many := tuple(integer(n, "releases", least=1, most=MOST) for n in releases)):
        what, hint = "hold at least one number", "Use {releases}."
        raise ParameterError("releases", what, "", hint, releases=[1, 10])
    return Explanation(promise, many)


def _worlds(guarantee: Guarantee) -> tuple[str, str, str]:
    """Return what odds are about, and who is on either side."""
    if guarantee.relation is ADD_REMOVE:
        return "that a person is in the data", "who are in the data", "who are not in the data"
    return "between two values of a person", "who have the one value", "who have the other value"


def _line(adversary: Adversary) -> tuple[str, ...]:
    spans = [_span(*adversary.posterior(prior)) for prior in PRIORS.values()]
    epsilon = adversary.epsilon
    cost = shown(epsilon) if isinstance(epsilon, Fraction) else "inf"
    found = percent(adversary.power(ALARMS), up=True)
    return (str(adversary.releases), cost, _times(adversary.factor), found, *spans)


def _facts(adversary: Adversary) -> dict[str, Any]:
    ends = {name: adversary.posterior(prior) for name, prior in PRIORS.items()}
    factor = adversary.factor
    return {
        "releases": adversary.releases,
        "factor": None if factor is None else _float_above(factor),
        "passed": _float_above(adversary.passed),
        "found": _float_above(adversary.power(ALARMS)),
        "posterior": {
            name: [-_float_above(-low), _float_above(high)] for name, (low, high) in ends.items()
        },
    }


def _times(factor: Fraction | None) -> str:
    """Return a factor with three digits, rounded up."""
    if factor is None:
        return "any"
    parts = Decimal(factor.numerator), Decimal(factor.denominator)
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).divide(*parts)):g}"


def _span(low: Fraction, high: Fraction) -> str:
    return f"{percent(low, up=False).removesuffix('%')} to {percent(high, up=True)}"


def percent(x: Fraction, *, up: bool) -> str:
    """Return a chance in percent, with three digits of it or of what it lacks, rounded one way."""
    near = 100 * min(x, 1 - x)
    places = next((d for d in range(1, FINEST) if near * 10**d >= 100), FINEST)
    whole = (ceil if up else floor)(100 * x * 10**places)
    return f"{float(Fraction(whole, 10**places)):.{places}f}".rstrip("0").rstrip(".") + "%"


def _float_above(x: Fraction) -> float:
    """Return the least float that is not below a number."""
    near = float(x)
    return near if near >= x else nextafter(near, inf)


# ---- The picture of an explanation: who is found, against false alarms ---------------------------


APART = 6.0
"""Labels that are nearer to each other than this, in percent, would be written on each other."""


def _test(axes: Any, adversary: Adversary, color: str, width: float) -> float:
    """Draw the best tests of one adversary; return what is found at the usual false alarms."""
    alarms, found = zip(*adversary.corners(), strict=True)
    axes.plot([100 * x for x in alarms], [100 * y for y in found], color=color, linewidth=width)
    return 100 * float(adversary.power(ALARMS))


def _label(axes: Any, adversary: Adversary, height: float, color: str) -> None:
    n = adversary.releases
    seen = "1 release" if n == 1 else f"{n} releases"
    axes.annotate(
        f"{seen}: finds {percent(adversary.power(ALARMS), up=True)} with "
        f"{percent(ALARMS, up=True)} false alarms",
        (100 * float(ALARMS), height), (9, -3), textcoords="offset points", color=color,
        fontsize=8, va="top", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )  # fmt: skip
