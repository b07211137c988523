r"""How far two groups are apart, from what was released of them: nothing more is paid.

The groups' answers are independent. *Sample*: the interval from :math:`l_1 - u_2` to
:math:`u_1 - l_2`, with half of the risk for each group. *Population*, any law, of means and shares:
`sourdine.central.two_populations`. *Normal*: the
distances of each group's own ends from its value are added as standard errors are,

.. math:: d - \sqrt{(v_1 - l_1)^2 + (u_2 - v_2)^2}
          \quad\text{to}\quad d + \sqrt{(u_1 - v_1)^2 + (v_2 - l_2)^2},

each at the whole risk: G. Y. Zou, A. Donner, "Construction of confidence limits about effect
measures: a general approach", Statistics in Medicine 27, 2008.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from math import ceil, floor, hypot
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sourdine.central.groups import ByGroup, each
from sourdine.central.two_populations import proved_apart
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.release import Drawer, Release
from sourdine.release.release import read_drawer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Difference", "difference"]

MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Difference(Drawer):
    """One group's number minus another's.

    Parameters
    ----------
    groups
        What drew the groups' numbers.
    pair
        The keys of the two.

    Notes
    -----
    *Claim*: intervals hold with at least their confidence, the normal ones about. *Checked by*
    ``test_intervals_of_differences_cover``.
    """

    kind: ClassVar[str] = "difference"

    groups: ByGroup
    pair: tuple[Any, Any]

    def __str__(self) -> str:
        first, second = self.pair
        return f"{self.groups.question.name}, {_shown(first)} minus {_shown(second)}"

    @property
    def title(self) -> str:
        """What stands above a picture."""
        return str(self)[0].upper() + str(self)[1:]

    @property
    def protected(self) -> str:
        """What the promise is for."""
        return self.groups.protected

    @property
    def populations(self) -> bool:
        """Whether there are intervals for the population too."""
        return self.groups.populations

    @property
    def beside(self) -> tuple[str, ...]:
        """Which intervals are printed beside those of the sample."""
        return self.groups.beside

    @property
    def shown(self) -> float:
        """The confidence of the intervals that are shown."""
        return self.groups.shown

    def value(self, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the difference of the two."""
        first, second = map(self.groups.part.value, drawn["groups"])
        return first - second

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        """Return the ends of the difference; that of dates is a duration."""
        part = self.groups.part
        parts = [
            replace(release, value=part.value(drawn), mechanism=part, drawn=drawn)
            for drawn in release.drawn["groups"]
        ]
        if of == "population" and None not in (seen := [part.evidence(x.drawn) for x in parts]):
            return self._proved(seen, beta)
        risk = beta if of == "normal" else each(beta, 2)
        if of != "normal":
            (low, high), (low_2, high_2) = (part.limits(one, risk, of) for one in parts)
            return low - high_2, high - low_2
        (low, high), (low_2, high_2) = (part.widened_limits(one, risk, of) for one in parts)
        v, w = (one.value for one in parts)
        d = v - w
        return d - _hypot(v - low, high_2 - w), d + _hypot(high - v, w - low_2)

    def _proved(self, seen: Sequence[Any], beta: float) -> tuple[Any, Any]:
        width = getattr(self.groups.part, "width", 1.0)
        low, high = proved_apart(seen[0], seen[1], beta)
        if self.groups.part.lasting:
            return floor(low * width) * MICROSECOND, ceil(high * width) * MICROSECOND
        return low * width, high * width

    def labels(self, release: Release) -> dict[str, Sequence[Any]]:
        """Return which two are compared."""
        del release
        first, second = self.pair
        return {" and ".join(self.groups.columns_of): [f"{_shown(first)} minus {_shown(second)}"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the groups' question and the pair."""
        return {"statistic": self.kind, "of": self.groups.to_dict(), "pair": list(self.pair)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote."""
        groups = read_drawer(facts["of"])
        if not isinstance(groups, ByGroup):
            raise TypeError(facts["of"])
        first, second = (tuple(key) if isinstance(key, list) else key for key in facts["pair"])
        return cls(groups=groups, pair=(first, second))


def _hypot(a: Any, b: Any) -> Any:  # noqa: ANN401 - of numbers or durations
    if isinstance(a, dt.timedelta):
        return ceil(hypot(a / MICROSECOND, b / MICROSECOND)) * MICROSECOND
    return hypot(a, b)


def _shown(key: object) -> str:
    """Return a key as a person reads it."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def difference(release: Release, first: object, second: object) -> Release:
    """Return how far the first group is above the second, with an interval; it costs nothing.

    Parameters
    ----------
    release
        A release by groups, of one number each: means, shares, counts, sums.
    first, second
        Two keys of it.

    Examples
    --------
    >>> from sourdine.central import Mean
    >>> ages = Mean(column="age", bounds=(0, 100), epsilon=8, by="sex", keys=["f", "m"])
    >>> data = {"age": [60] * 500 + [40] * 500, "sex": ["f"] * 500 + ["m"] * 500}
    >>> apart = difference(ages.release(data), "f", "m")
    >>> low, high = apart.interval()
    >>> low < 20 < high < 22
    True
    """
    groups = release.mechanism
    if not isinstance(groups, ByGroup):
        raise TypeError(groups)
    several = groups.part.wide or any(getattr(v, "shape", ()) for v in release.value.values())
    if not groups.intervals or several:
        raise ParameterTypeError(
            "the release", "be of one number for each group", str(groups), "Ask for one number."
        )
    keys = groups.keys(release.drawn)
    drawn = dict(zip(keys, release.drawn["groups"], strict=True))
    for key in (first, second):
        if key not in drawn:
            raise ParameterError(
                "the key", "be one of the groups", given(key), f"The groups are {keys}."
            )
    made = Difference(groups=groups, pair=(first, second))
    parts = {"groups": [drawn[first], drawn[second]]}
    note = "The difference is read off what was released: it costs nothing more."
    return replace(
        release, value=made.value(parts), mechanism=made, drawn=parts,
        caveats=(*groups.part.caveats, note),
    )  # fmt: skip
