"""Several statistics under one total, composed."""

from __future__ import annotations

import json
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sourdine.errors import BudgetExceededError
from sourdine.parameters.question import plain_parameter
from sourdine.plan.plans import Plan, left_after, number, table
from sourdine.privacy.accounting import Ends, compose
from sourdine.privacy.guarantee import shown
from sourdine.results.figures import BLUE, GREY, INK, NOTE, PALE, RED, RULE, canvas, saved
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.plan.plans import Error
    from sourdine.privacy import Part
    from sourdine.privacy.accounting import Composition, Filter


# ---- The picture of a batch: delta against epsilon, of all answers together ----------------------


POINTS = 33
LEAST = 1e-12
"""Deltas below this are not drawn."""


def drawn(batch: Plans, *, path: str | None, title: str | None) -> Any:
    """Draw both certified ends, the delta that is meant, and the sum of epsilons."""
    figure, axes = canvas()
    deltas = [10 ** (-12 * k / (POINTS - 1)) for k in range(1, POINTS)]
    ends = [batch.composition.epsilon(delta) for delta in deltas]
    known = [(e, d) for e, d in zip(ends, deltas, strict=True) if e.upper < inf]
    deltas = [delta for _, delta in known]
    lower, upper = ([getattr(e, side) for e, _ in known] for side in ("lower", "upper"))
    axes.fill_betweenx(deltas, lower, upper, color=PALE, linewidth=0)
    axes.plot(upper, deltas, color=BLUE, linewidth=1.8)
    axes.axvline(float(batch.epsilon), color=GREY, linewidth=1.2, linestyle="--")
    axes.annotate(
        f"the sum, {shown(batch.epsilon)}", (float(batch.epsilon), 1), (-4, -2),
        xycoords=("data", "axes fraction"), textcoords="offset points", color=NOTE, fontsize=8,
        ha="right", va="top",
    )  # fmt: skip
    if batch.delta and batch.certified.upper < inf:
        epsilon = batch.certified.upper
        axes.plot(epsilon, float(batch.delta), "o", color=RED, markersize=7)
        axes.annotate(
            f"epsilon {shown(Fraction(repr(epsilon)))}\ndelta {shown(batch.delta)}",
            (epsilon, float(batch.delta)), (8, 8),
            textcoords="offset points", color=INK, fontsize=9,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 1)
    axes.set_xlim(0, None)
    axes.set_xlabel("epsilon", color=INK)
    axes.set_ylabel("delta", color=INK)
    axes.grid(color=RULE, linewidth=0.8)
    answers = "1 answer" if len(batch) == 1 else f"{len(batch)} answers"
    axes.set_title(title or f"{answers}, declared ahead", loc="left", color=INK, fontsize=11)
    return saved(figure, path, batch)


# ---- Several statistics under one total, and what they cost together if they are declared ahead --


STEPS = 40
CLOSE = 0.9995
"""Of a total, at least so much is used."""
MARGIN = 1e-9
"""How far below all of it, so that no rounding passes it."""


@frozen(kw_only=True, slots=False)
class Plans(Displayable):
    """Several statistics under one total. They print as a table.

    Parameters
    ----------
    plans
        A plan for each statistic.
    wanted
        The error that each was wanted with.
    delta
        The delta at which they are composed, if there is one.
    room
        What a session with delta has left, if the plans are for one.
    """

    plans: tuple[Plan, ...]
    wanted: tuple[Error, ...] = ()
    delta: Fraction = Fraction(0)
    room: Filter | None = None

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
        """Whether a session has so much left: epsilon, or with delta by the sum of the prices."""
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
        ratios = [e / w for e, w in pairs if w > 0]
        return max(ratios, default=1.0)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as what JSON knows."""
        facts = {
            "epsilon": float(self.epsilon),
            "plans": [plan.to_dict() for plan in self.plans],
            "wanted": [plain_parameter(w) for w in self.wanted],
        }
        if not self.delta:
            return facts
        ends = [None if end == inf else end for end in self.certified]
        return {**facts, "delta": float(self.delta), "certified": ends}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

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

    def plot(self, *, path: str | None = None, title: str | None = None) -> Any:
        """Draw delta against epsilon, of all together; ``path=`` saves the picture."""
        return drawn(self, path=path, title=title)


def fitted(
    plans: Sequence[Plan], shares: Sequence[Fraction], used: Callable[[tuple[Part, ...]], float]
) -> list[Fraction]:
    """Return shares of epsilon, all grown or shrunk alike, that just use up a total.

    Parameters
    ----------
    plans
        What the shares are for.
    shares
        Shares to begin with.
    used
        How much of the total parts use: 1 for all of it. It grows with every share.
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
            ratio = 0.9998 / got if got else inf
            factor *= min(max(ratio, 1e-3), 1e3) ** (1 / slope)
    if not low:
        raise BudgetExceededError(
            "plans",
            "Budget exceeded: the plans cost more than remains.",
            "",
            "Plan fewer of them, or use another total.",
        )
    return at(low)


def alike_key(plan: Plan) -> tuple[str, Fraction]:
    """Return what plans that behave alike have in common."""
    return json.dumps(plan.question.to_dict(), sort_keys=True), plan.confidence


def _down(share: float) -> Fraction:
    """Return a share rounded down to four digits."""
    return Fraction(Context(prec=4, rounding=ROUND_FLOOR).create_decimal(Decimal(share)))
