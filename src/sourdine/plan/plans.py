"""`Plan`: what would be released, what it costs, and its error."""

from __future__ import annotations

import datetime as dt
import json
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sourdine.calendar import LAST, about, unit_of
from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.parameters.question import plain_parameter
from sourdine.privacy.accounting import compose
from sourdine.privacy.guarantee import percent, shown
from sourdine.results import tables
from sourdine.results.figures import BLUE, GREY, INK, NOTE, PALE, RED, RULE, canvas, saved
from sourdine.results.tables import JsonDisplayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.exact import Number
    from sourdine.privacy import Part
    from sourdine.privacy.accounting import Composition, Filter
    from sourdine.privacy.accounting.composition import Ends


# ---- Errors of a plan: numbers, or durations where the answer is a mean of dates -----------------


Error = float | dt.timedelta
"""How far off an answer may be."""
_MICROSECOND = dt.timedelta(microseconds=1)


def as_error(error: float, question: Statistic) -> Error:
    """Return the error of a question: a duration for dates, else a number."""
    return ceil(min(error, LAST)) * _MICROSECOND if question.error_lasts else error


def number(error: Error) -> float:
    """Return an error as a number, in microseconds if it is a duration.

    Examples
    --------
    >>> number(dt.timedelta(seconds=2)), number(0.5)
    (2000000.0, 0.5)
    """
    return float(error // _MICROSECOND) if isinstance(error, dt.timedelta) else error


def error_text(error: Error) -> str:
    """Return an error in four digits.

    Examples
    --------
    >>> error_text(dt.timedelta(hours=55)), error_text(1 / 3)
    ('2.292 days', '0.3333')
    """
    return about(number(error)) if isinstance(error, dt.timedelta) else f"{error:.4g}"


# ---- A plan: what would be released, what it costs, and its error --------------------------------


UNKNOWN = "needs n"
"""In place of an error that nobody can know."""

LONGEST = 36
"""Longer names of statistics are cut, so that a plan fits 80 columns."""
RELATIVE = (
    "relative: of a count or a sum over the most that it can be, of a mean over the width of its "
    "bounds, of a quantile in ranks over n"
)


@frozen(kw_only=True, slots=False)
class Plan(JsonDisplayable):
    """A question with its epsilon, and the error its answer will have. It prints as a table.

    Parameters
    ----------
    question
        What would be released.
    remaining
        The epsilon that a session has left, if the plan is for one.
    room
        What a session with delta has left.
    """

    question: Statistic
    remaining: Fraction | None = None
    room: Filter | None = None

    @property
    def n(self) -> int | None:
        """The public number of records (in each group) that the error is for."""
        return self.question.n

    @property
    def confidence(self) -> Fraction:
        """The probability with which the error holds."""
        return self.question.confidence

    @property
    def target(self) -> Error | None:
        """The error that was asked for, if one was."""
        target = self.question.target
        return target if target is None or isinstance(target, dt.timedelta) else float(target)

    @property
    def epsilon(self) -> Fraction:
        """What it will cost."""
        return self.question.epsilon

    @cached_property
    def error(self) -> Any:
        """What the answer will be off by at most, with probability `confidence`.

        A number; a duration if the answer is a mean of dates.
        """
        return self.at(self.epsilon)

    @property
    def unknown(self) -> bool:
        """Whether the error depends on a number of records that was not said."""
        try:
            return self.error is None
        except ParameterError as refusal:
            if refusal.name != "n":
                raise
            return True

    @property
    def fits(self) -> bool:
        """Whether a session has enough left."""
        if self.room is not None:
            return self.room.admits(self.question.parts)
        return self.remaining is None or self.epsilon <= self.remaining

    def at(self, epsilon: Number) -> Any:
        """Return the error at another epsilon."""
        question = self.question if epsilon == self.epsilon else self.question.at(epsilon)
        return as_error(question.error(1 - self.confidence), self.question)

    @property
    def name(self) -> str:
        """The statistic, its column and its groups, in a few words."""
        return self.question.name

    @property
    def units(self) -> str:
        """What the error is counted in, where that is known only once it is found."""
        return self.question.units

    @property
    def ranks(self) -> bool:
        """Whether the error is that of a rank, as a part of n."""
        return self.question.display.head == "quantile"

    @property
    def _part(self) -> Any:
        """What draws one answer: that of each group, if there are groups."""
        estimator = self.question.estimator
        return getattr(estimator, "part", estimator)

    @property
    def width(self) -> Any:
        """How wide the widest interval will be, in the column's units; None if it is not known.

        It is known for quantiles of about n records with a public guess of their ``spread``.
        """
        planned = getattr(self._part, "planned_width", None)
        width = None if planned is None or self.unknown else planned(self.n)
        if width is None or not self.question.is_datetime:
            return width
        return dt.timedelta(microseconds=round(width))

    @property
    def _points(self) -> str:
        """What an error of ranks means."""
        orders: tuple[Fraction, ...] = getattr(self.question, "orders", ())
        one = f"the {ordinal(100 * float(orders[0]))} percentile" if len(orders) == 1 else ""
        return f"within {100 * self.error:.2g} percentage points of {one or 'each order'}"

    @property
    def _interval(self) -> list[tuple[str, str]]:
        """What intervals to expect, in words."""
        planned = getattr(self._part, "planned_interval", None)
        half = None if planned is None or self.unknown else planned(self.n)
        if half is None:
            return []
        sure = f"{100 * self.question.display.confidence:g}%"
        if self.width is not None:
            return [("width", f"{sure} intervals about {error_text(self.width)} wide")]
        if half >= 1:
            return [("width", f"{sure} intervals as wide as the bounds: n is too small")]
        points = f"{100 * half:.2g} percentage points"
        return [("width", f"{sure} intervals reach about {points} of rank to each side")]

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """What each statistic of a table will cost, by its name."""
        parts = getattr(self.question, "statistics", {})
        return {name: part.epsilon for name, part in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        facts = {
            "question": self.question.to_dict(),
            "confidence": float(self.confidence),
            "epsilon": float(self.epsilon),
            "error": None if self.unknown else plain_parameter(self.error),
        }
        return facts if self.width is None else {**facts, "width": plain_parameter(self.width)}

    def sheet(self) -> Sheet:
        notes = [("method", str(self.question.estimator))]
        if self.ranks and not self.unknown and not self.units:
            notes.append(("error", self._points))
        notes += self._interval
        first = self.question.first()
        if first is not None:
            notes.append(("spent", f"epsilon: {first.shares(self.n)}"))
        if self.shares:
            told = ", ".join(f"{name} {shown(share)}" for name, share in self.shares.items())
            notes += [("spent", f"epsilon: {told}"), ("error", RELATIVE)]
        if self.remaining is not None:
            misfit = "" if self.fits else ", too little for this"
            notes.append(("remaining", f"epsilon {shown(self.remaining, up=False)}{misfit}"))
        if self.room is not None:
            notes.append(("remaining", left_after(self.room, self.question.parts)))
        heads, rows = table((self,), ())
        return Sheet(heads=heads, lines=rows, notes=notes)

    def plot(self, path: str | None = None, *, title: str | None = None) -> Any:
        """Draw the error against epsilon, and this plan as a dot; ``path=`` saves the picture."""
        figure, axes = canvas()
        curve = [float(self.epsilon) * 10 ** (k / 12) for k in range(-12, 13)]
        unit, size = unit_of(number(self.error)) if self.question.error_lasts else ("", 1)
        errors = [number(self.at(epsilon)) / size for epsilon in curve]
        axes.plot(curve, errors, color=BLUE, lw=1.8)
        axes.plot(float(self.epsilon), number(self.error) / size, "o", color=RED, ms=7)
        axes.annotate(
            f"epsilon {shown(self.epsilon)}\nerror {error_text(self.error)}",
            *((float(self.epsilon), number(self.error) / size), (8, 8)),
            textcoords="offset points", color=INK, fontsize=9,
        )  # fmt: skip
        axes.set(xscale="log", yscale="symlog" if errors[-1] == 0 else "log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("epsilon", color=INK)
        axes.set_ylabel(_head(self) + (f", {unit}" if unit else ""), color=INK)
        axes.grid(color="#e4e7eb", lw=0.8, which="both")
        above = title or f"{self.name.capitalize()}: the error that an epsilon buys"
        axes.set_title(above, loc="left", color=INK, fontsize=11)
        return saved(figure, path, self)


def left_after(room: Filter, parts: tuple[Part, ...]) -> str:
    """Return what a session has left, and would have left, in words."""
    left = f"{percent(room.remaining)} of {room.whole}"
    if not room.admits(parts):
        return f"{left}, too little for this"
    return f"{left}; {percent(room.after(parts).remaining)} after this"


def table(
    plans: tuple[Plan, ...], wanted: tuple[Error, ...]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return heads and rows, without columns that would be empty."""
    names = [
        name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip(", ") + "…"
        for name in (plan.name for plan in plans)
    ]
    columns = {
        "statistic": names,
        "n": ["" if plan.n is None else tables.shown(plan.n, 1.0) for plan in plans],
        "epsilon": [shown(plan.epsilon) for plan in plans],
        _head(*plans): [UNKNOWN if plan.unknown else _off(plan, plan.error) for plan in plans],
        "wanted": [_off(plan, w) for plan, w in zip(plans, wanted, strict=False)],
    }
    kept = {head: cells for head, cells in columns.items() if any(cells)}
    return list(kept), list(zip(*kept.values(), strict=True))


def _off(plan: Plan, error: Error) -> str:
    """Return an error in four digits; of a rank in percentage points."""
    ranks = plan.ranks and isinstance(error, float) and not plan.units
    return f"{100 * error:.4g} pp" if ranks else error_text(error)


def ordinal(percent: float) -> str:
    """Return a percentile's number in English.

    Examples
    --------
    >>> ordinal(50), ordinal(1), ordinal(12), ordinal(93), ordinal(2.5)
    ('50th', '1st', '12th', '93rd', '2.5th')
    """
    last = percent % 10 if percent % 100 // 10 != 1 else 0.0
    return f"{percent:g}" + {1.0: "st", 2.0: "nd", 3.0: "rd"}.get(last, "th")


def _head(*plans: Plan) -> str:
    """Return what the errors are called: those of ranks are parts of n."""
    ranks, units = {plan.ranks for plan in plans}, {plan.units for plan in plans}
    confidence = {float(100 * plan.confidence) for plan in plans}
    sure = f" ({min(confidence):g}%)" if len(confidence) == 1 else ""
    if len(units) == 1 and plans[0].units:
        return f"error in {plans[0].units}{sure}"
    if all(plan.shares for plan in plans):
        return f"relative error{sure}"
    if len(ranks) > 1:
        return f"error or rank error{sure}"
    return f"rank error{sure}" if plans[0].ranks else f"error{sure}"


# ---- Several statistics under one total, and what they cost together if they are declared ahead --


POINTS = 33
LEAST = 1e-12
"""Deltas below this are not drawn."""
STEPS = 40
CLOSE = 0.9995
"""The least share of a total that is used."""
MARGIN = 1e-9
"""How far below all of it, so that no rounding passes it."""


@frozen(kw_only=True, slots=False)
class Plans(JsonDisplayable):
    """Several statistics under one total. They print as a table."""

    plans: tuple[Plan, ...]
    """A plan for each statistic."""
    wanted: tuple[Error, ...] = ()
    """The error that each was wanted with."""
    delta: Fraction = Fraction(0)
    """The delta at which they are composed, if there is one."""
    room: Filter | None = None
    """What a session with delta has left, if the plans are for one."""

    @property
    def epsilon(self) -> Fraction:
        """What all will cost together, by the sum."""
        return sum((plan.epsilon for plan in self.plans), Fraction(0))

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the loss of all together is made of, at most."""
        return tuple(part for plan in self.plans for part in plan.question.parts)

    @cached_property
    def composition(self) -> Composition:
        """The curve of all together, if they are declared before the first answer."""
        return compose(self.parts)

    @cached_property
    def certified(self) -> Ends:
        """Both ends of what all cost together at `delta`, if they are declared ahead.

        The upper one may be promised; some mechanism with these parts loses the lower one.
        """
        return self.composition.epsilon(self.delta)

    @property
    def fits(self) -> bool:
        """Whether a session has enough left: epsilon, or with delta by the sum of the prices."""
        if self.room is not None:
            return self.room.admits(self.parts)
        left = self.plans[0].remaining
        return left is None or self.epsilon <= left

    @property
    def error(self) -> tuple[Error, ...]:
        return tuple(plan.error for plan in self.plans)

    @property
    def factor(self) -> float:
        """How many times its wanted error the worst of them has."""
        pairs = zip(map(number, self.error), map(number, self.wanted), strict=True)
        return max((e / w for e, w in pairs if w > 0), default=1.0)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def to_dict(self) -> dict[str, Any]:
        facts = {
            "epsilon": float(self.epsilon),
            "plans": [plan.to_dict() for plan in self.plans],
            "wanted": [plain_parameter(w) for w in self.wanted],
        }
        if not self.delta:
            return facts
        ends = [None if end == inf else end for end in self.certified]
        return {**facts, "delta": float(self.delta), "certified": ends}

    def sheet(self) -> Sheet:
        heads, rows = table(self.plans, self.wanted)
        notes = [("total", f"epsilon {shown(self.epsilon)}")]
        if self.delta:
            upper = self.certified.upper
            certified = "no" if upper == inf else shown(Fraction(repr(upper)))
            ahead = f"epsilon {certified} at delta {shown(self.delta)}, if declared ahead"
            notes = [("total", f"{ahead}; {shown(self.epsilon)} by the sum")]
        if self.room is not None:
            notes.append(("remaining", left_after(self.room, self.parts)))
        return Sheet(heads=heads, lines=rows, notes=notes)

    def plot(self, path: str | None = None, *, title: str | None = None) -> Any:
        """Draw delta against epsilon, of all together; ``path=`` saves the picture."""
        figure, axes = canvas()
        deltas = [10 ** (-12 * k / (POINTS - 1)) for k in range(1, POINTS)]
        ends = [self.composition.epsilon(delta) for delta in deltas]
        known = [(e, d) for e, d in zip(ends, deltas, strict=True) if e.upper < inf]
        deltas = [delta for _, delta in known]
        lower, upper = ([getattr(e, side) for e, _ in known] for side in ("lower", "upper"))
        axes.fill_betweenx(deltas, lower, upper, color=PALE, linewidth=0)
        axes.plot(upper, deltas, color=BLUE, linewidth=1.8)
        axes.axvline(float(self.epsilon), color=GREY, linewidth=1.2, linestyle="--")
        axes.annotate(
            f"the sum, {shown(self.epsilon)}", (float(self.epsilon), 1), (-4, -2),
            xycoords=("data", "axes fraction"), textcoords="offset points", color=NOTE, fontsize=8,
            ha="right", va="top",
        )  # fmt: skip
        if self.delta and self.certified.upper < inf:
            epsilon = self.certified.upper
            axes.plot(epsilon, float(self.delta), "o", color=RED, markersize=7)
            axes.annotate(
                f"epsilon {shown(Fraction(repr(epsilon)))}\ndelta {shown(self.delta)}",
                (epsilon, float(self.delta)), (8, 8),
                textcoords="offset points", color=INK, fontsize=9,
            )  # fmt: skip
        axes.set(yscale="log", ylim=(LEAST, 1), xlim=(0, None))
        axes.set_xlabel("epsilon", color=INK)
        axes.set_ylabel("delta", color=INK)
        axes.grid(color=RULE, linewidth=0.8)
        answers = "1 answer" if len(self) == 1 else f"{len(self)} answers"
        axes.set_title(title or f"{answers}, declared ahead", loc="left", color=INK, fontsize=11)
        return saved(figure, path, self)


def fitted(
    plans: Sequence[Plan], shares: Sequence[Fraction], used: Callable[[tuple[Part, ...]], float]
) -> list[Fraction]:
    """Return shares of epsilon, all grown or shrunk alike, that just use up a total.

    ``used`` is how much of the total parts use: 1 for all of it. It grows with every share.
    """

    def at(factor: float) -> list[Fraction]:
        return [_down(factor * float(share)) for share in shares]

    keys = list(map(alike_key, plans))

    def need(factor: float) -> float:
        known: dict[object, tuple[Part, ...]] = {}
        parts: list[Part] = []
        for key, plan, share in zip(keys, plans, at(factor), strict=True):
            if (key, share) not in known:
                known[key, share] = plan.question.at(share).parts
            parts += known[key, share]
        return used(tuple(parts))

    low, high, factor, slope = 0.0, inf, 1.0, 1.5
    for _ in range(STEPS):
        got = need(factor)
        if got <= 1 - MARGIN:
            low = factor
            if got >= CLOSE or high / factor < 1 / CLOSE:
                break
        else:
            high = factor
        if low and high < inf:
            factor = (low * high) ** 0.5
        else:
            factor *= min(max(0.9998 / got if got else inf, 1e-3), 1e3) ** (1 / slope)
    if not low:
        what = "Budget exceeded: the plans cost more than remains."
        hint = "Plan fewer of them, or use another total."
        raise BudgetExceededError("plans", what, "", hint)
    return at(low)


def alike_key(plan: Plan) -> tuple[str, Fraction]:
    """Return what plans that behave alike have in common."""
    return json.dumps(plan.question.to_dict(), sort_keys=True), plan.confidence


def _down(share: float) -> Fraction:
    """Return a share rounded down to four digits."""
    return Fraction(Context(prec=4, rounding=ROUND_FLOOR).create_decimal(Decimal(share)))
