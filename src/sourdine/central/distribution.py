"""A released distribution function and what is read off it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from sourdine.calendar import DATES, DAY, read_date, read_instant, written
from sourdine.central.groups import ByGroup
from sourdine.central.intervals import each
from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, rational
from sourdine.parameters.question import plain_parameter
from sourdine.results.answer import Answer, plain
from sourdine.results.release import SHOWN, Release, flat, holding, read_confidence, shown_ends
from sourdine.results.tables import Columns, with_free_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from sourdine.calendar import DateFormat
    from sourdine.exact import Number
    from sourdine.grid import Grid


# ---- A released distribution function, and what is read off it -----------------------------------


Ends = tuple[Any, Any]
Read = TypeVar("Read", bound="ReadOff")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Distribution(Release):
    """A released distribution function: any number of quantiles and shares are read off it.

    Examples
    --------
    >>> import sourdine as sd
    >>> ages = sd.cdf(list(range(100)) * 200, bounds=(0, 120), step=1, epsilon=1)
    >>> ages.quantile([0.25, 0.75]).value.shape
    (2,)
    """

    def quantile(self, q: Number | Sequence[Number]) -> ReadOff:
        """Return quantiles, with intervals that hold for all that is ever read off.

        Parameters
        ----------
        q
            An order above 0 and below 1, or a list of them.
        """
        orders = read_orders(q)
        one = is_one(q)

        def value(part: Release) -> Any:
            asked: Any = part.mechanism
            found = asked.grid.values(asked.knots(part.drawn).quantiles(orders))
            return found[0].item() if one else found

        def ends(part: Release, beta: float, of: str) -> Ends:
            asked: Any = part.mechanism
            both = asked.knots(part.drawn).quantile_ends(orders, beta, of)
            low, high = (asked.grid.values(ticks) for ticks in both)
            return (low[0].item(), high[0].item()) if one else (low, high)

        labels = {"q": [float(order) for order in orders]}
        asked = {"quantile": q if one else list(read_orders(q))}
        return read_off(self, ReadOff, "quantile", labels, asked, (value, ends))

    def probability(
        self, a: Number | dt.date | str | None = None, b: Number | dt.date | str | None = None
    ) -> ReadOff:
        """Return the share of the records from ``a`` to ``b``, both included.

        Parameters
        ----------
        a, b
            The ends, dates if the bounds are: the whole day, where no time is given. One that is
            left out is a bound.
        """

        def ticks(asked: Any) -> tuple[int, int]:
            return _stretch(asked.grid, a, b, asked.read.dates)

        def value(part: Release) -> float:
            asked: Any = part.mechanism
            knots, (first, last) = asked.knots(part.drawn), ticks(part.mechanism)
            return max(float(knots.share(last) - knots.share(first)), 0.0)

        def ends(part: Release, beta: float, of: str) -> Ends:
            asked: Any = part.mechanism
            knots, (first, last) = asked.knots(part.drawn), ticks(part.mechanism)
            below = knots.share_ends(first, beta, of)
            up_to = knots.share_ends(last, beta, of)
            if first == last:
                return 0.0, 0.0
            return max(up_to[0] - below[1], 0.0), min(up_to[1] - below[0], 1.0)

        said = {"from": ["lowest" if a is None else a], "to": ["highest" if b is None else b]}
        return read_off(self, ReadOff, "share", said, {"probability": [a, b]}, (value, ends))


def read_off(
    release: Release,
    kind: type[Read],
    name: str,
    labels: Mapping[str, Sequence[Any]],
    asked: Mapping[str, Any],
    how: tuple[Callable[[Release], Any], Callable[[Release, float, str], Ends]],
) -> Read:
    """Return what is read off a release, of each group if there are groups.

    Parameters
    ----------
    release
        What it is read off.
    kind
        The class of the answer.
    name, labels, asked
        What the numbers are, what tells them apart, and what was asked.
    how
        The value of a release without groups, and the ends of its interval.
    """
    value, ends = how
    answer = release.answer
    if not isinstance(answer.mechanism, ByGroup):
        return kind(
            name=name, labels=labels, value=value(answer), release=release, asked=asked,
            ends=lambda beta, of: ends(answer, beta, of),
        )  # fmt: skip
    groups = answer.mechanism
    keys, parts = groups.keys(answer.drawn), groups.releases(answer)
    size = len(next(iter(labels.values())))
    repeated = {head: list(column) * len(keys) for head, column in labels.items()}
    listed = [key if isinstance(key, tuple) else (key,) for key in keys for _ in range(size)]
    by = {name: [key[i] for key in listed] for i, name in enumerate(groups.columns_of)}
    named = with_free_names(by, repeated)

    def all_ends(beta: float, of: str) -> dict[Any, Ends]:
        risk = each(beta, len(keys))
        return {key: ends(part, risk, of) for key, part in zip(keys, parts, strict=True)}

    return kind(
        name=name, labels=named, value=dict(zip(keys, map(value, parts), strict=True)),
        release=release, asked=asked, ends=all_ends,
    )  # fmt: skip


def _stretch(grid: Grid, a: object, b: object, form: DateFormat) -> tuple[int, int]:
    """Return the first tick of a stretch, and the one after its last."""
    if grid.points is None:
        low, high = (None if x is None else rational(x, name) for x, name in ((a, "a"), (b, "b")))
    else:
        low, high = _instant(grid, a, "a", form), _instant(grid, b, "b", form)
    if low is not None and high is not None and low > high:
        swapped = (float(high), float(low)) if grid.points is None else (b, a)
        raise ParameterError(
            "b", "be at least a", str(b), "Use the smaller one first: {a}, {b}.",
            **dict(zip("ab", swapped, strict=True)),
        )  # fmt: skip
    first = 0 if low is None else _tick(grid, low, up=True)
    last = grid.size if high is None else _tick(grid, high, up=False) + 1
    return first, max(first, last)


def _instant(grid: Grid, x: object, name: str, form: DateFormat) -> Fraction | None:
    """Return the beginning of a date, or its end as the upper end; of a time on a lattice of dates,
    too.
    """  # noqa: D205 - the sentence does not fit one line
    if x is None:
        return None
    date = read_date(x) or read_date(x, form)
    if date is None:
        raise ParameterTypeError(
            name, "be a date, like the bounds", given(x), f"Use {{{name}}}.",
            **{name: written(grid.value(0))},
        )  # fmt: skip
    instant = read_instant(date) or 0
    if grid.points == DATES or not isinstance(date, dt.datetime):
        instant = instant // DAY * DAY + (DAY - 1 if name == "b" else 0)
    return Fraction(instant)


def _tick(grid: Grid, x: Fraction, *, up: bool) -> int:
    """Return the first tick at or after a value, or the last at or before it."""
    steps = (x - grid.lower) / grid.step
    tick = -(-steps.numerator // steps.denominator) if up else steps.numerator // steps.denominator
    return int(min(max(tick, 0 if up else -1), grid.size if up else grid.last))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadOff(Answer):
    """Numbers read off a distribution function: they cost nothing more.

    Parameters
    ----------
    name
        What the numbers are.
    labels
        What tells them apart.
    value
        A number, an array, or one of them for each group.
    release
        What they were read off.
    asked
        What was asked: an order, or the ends of a stretch.
    ends
        The ends of their intervals, for a risk, of the sample or of the population.
    """

    name: str
    labels: Mapping[str, Sequence[Any]]
    value: Any
    release: Release
    asked: Mapping[str, Any]
    ends: Callable[[float, str], Any] = field(hash=False)

    def interval(self, confidence: Number = SHOWN, *, of: str = "sample") -> Any:
        """Return the ends between which the truth lies, of the sample or of the population.

        They hold together with all that is read off the same release.
        """
        if of not in ("sample", "population"):
            raise ParameterError(
                "of", "be 'sample' or 'population'", repr(of), "Use {of}.", of="sample"
            )
        return holding(self.value, self.ends(read_confidence(confidence), of))

    def columns(self) -> Columns:
        """Return the numbers, with labels and the ends of their intervals."""
        shown = self.release.mechanism.display
        confidence = shown.confidence
        lower, upper = self._ends(confidence, "sample")
        return Columns(
            labels=self.labels,
            name=self.name,
            values=flat(self.value),
            lower=lower,
            upper=upper,
            extra_intervals={of: self._ends(confidence, of) for of in shown.extra_intervals},
            confidence=confidence,
        )

    def _ends(self, confidence: float, of: str) -> tuple[list[Any], list[Any]]:
        """Return the lower and the upper ends, one by one."""
        ends = self.interval(confidence, of=of)
        return shown_ends(list(ends.values()) if isinstance(ends, Mapping) else [ends])

    def notes(self) -> list[tuple[str, str]]:
        source = str(self.release.mechanism)
        return [
            ("from", source),
            ("cost", f"none beyond that of the release: {self.release.price}"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return what was asked, and the release it was read off."""
        asked = {name: plain_parameter(x) for name, x in self.asked.items()}
        return {"value": plain(self.value), "read_off": asked, "release": self.release.to_dict()}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return what is read off the release that `to_dict` wrote."""
        ((name, asked),) = facts["read_off"].items()
        release: Any = Distribution.from_dict(facts["release"])
        found: Self = release.quantile(asked) if name == "quantile" else release.probability(*asked)
        return found
