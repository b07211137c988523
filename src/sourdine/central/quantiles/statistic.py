"""`Quantiles`, `Quantile` and `Median`: the statistics that a person asks for."""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import ceil, log, sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
from attrs import field, frozen

from sourdine.central.intervals import each
from sourdine.central.quantiles.algorithm import (
    FEW,
    demand_floats,
    draw_from,
    is_one,
    prefetch,
    read_orders,
    read_windows,
)
from sourdine.central.quantiles.intervals import (
    INDEPENDENT,
    OF_NUMBER,
    Brackets,
    certified,
    most_records,
    noise_reach,
    population_reach,
)
from sourdine.central.quantiles.methods import (
    COUNTING,
    METHODS,
    MOST_STEPS,
    PUBLISHED,
    STEPS,
    chosen,
    count_share,
    made,
    named,
    needs_count,
    steps_for,
)
from sourdine.central.quantiles.points import Reader
from sourdine.central.quantiles.tree import Curve
from sourdine.central.statistic import CHECK, Numeric, finished
from sourdine.central.weights import WeightedRanks
from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import at_least, given, integer, one_of, positive
from sourdine.mechanisms import Laplace
from sourdine.parameters import converters as read
from sourdine.parameters import kinds
from sourdine.parameters.converters import duration
from sourdine.parameters.kinds import WHAT, param
from sourdine.parameters.question import plain_parameter
from sourdine.privacy import Guarantee
from sourdine.privacy.accounting.parts import widest
from sourdine.results import charts
from sourdine.results.release import SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.calendar import Duration
    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.central.statistic import Stages
    from sourdine.errors import PythonWording
    from sourdine.exact import Number
    from sourdine.frames.frame import Frame
    from sourdine.noise.source import Ints
    from sourdine.privacy import Part
    from sourdine.results.charts import Chart
    from sourdine.results.release import Display, Estimator, Release


# ---- What a person may type for quantiles, and what it means -------------------------------------


AUTO = "auto"
"""The default of interval: 0.95, where the method has intervals that hold for any data."""


def read_q(x: Number | Sequence[Number] | None) -> Fraction | tuple[Fraction, ...]:
    """Return the orders, ascending; of a single one, not in a list, the order itself."""
    if x is None:
        raise ParameterError(
            "q", "be an order, or several", "", "Use {q}; 50% is 0.5.", q=[0.25, 0.5, 0.75]
        )
    orders = read_orders(x)
    return orders[0] if is_one(x) else orders


def read_method(x: str) -> str:
    return str(one_of(named(x), "method", *METHODS))


def read_interval(x: Number | Literal["auto", "none"] | None) -> Fraction | str | None:
    """Return the confidence of intervals that are paid for, None without, or the word auto."""
    if x is None or (isinstance(x, str) and x == AUTO):
        return x
    return read.between_0_and_1(x, "interval", 0.95)


def read_spread(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the guess of a standard deviation: a number, or how long dates lie apart."""
    return None if x is None else duration(x, "spread") or positive(x, "spread")


def read_steps(x: int | None) -> int | None:
    return None if x is None else integer(x, "steps", least=1, most=MOST_STEPS, example=100)


def read_rho(x: Number | Duration | None) -> Fraction | dt.timedelta | None:
    """Return the smoothing: a number, 0 for none, or for dates a duration."""
    return None if x is None else duration(x, "rho") or at_least(x, "rho", 0)


# ---- What quantiles and distribution functions have in common: a count first, where it helps -----


FEWEST, MOST = 0.0, 1e18
"""So many records lead to each of the two algorithms between which a count chooses."""


@frozen(slots=False)
class Ranked(WeightedRanks, Numeric):
    """A statistic of the ranks of a column's present values."""

    @property
    @abstractmethod
    def counts(self) -> bool:
        """Whether part of epsilon pays for a count: what n says is for planning alone."""

    @property
    @abstractmethod
    def count_share(self) -> Fraction:
        """The part of epsilon that pays for the count."""

    @abstractmethod
    def drawing_for(self, records: float | None) -> Any:
        """Return what draws of about ``n`` records: a `Curve`, or a `QuantileMechanism`."""

    @abstractmethod
    def drawn(self, reader: Reader, draws: Any, counted: dict[str, Any]) -> dict[str, Any]:
        """Draw, once everything that is needed was read; what was counted is kept with it."""

    @cached_property
    def counting(self) -> Laplace:
        epsilon = self.epsilon * self.count_share
        return Laplace(epsilon=epsilon, sensitivity=self.copies, relation=self.relation)

    @property
    def about(self) -> int | None:
        """About how many records there are, or steps of their weights together."""
        return None if self.n is None else self.in_units(self.n)

    @property
    def extremes(self) -> tuple[float | None, ...]:
        """The numbers of records that lead to whatever may be drawn."""
        return (FEWEST, MOST) if self.counts else (self.about,)

    def draw_all(self, frames: Sequence[Frame]) -> list[dict[str, Any]]:
        """Count each group and choose for it, read what all need together, and draw."""
        return finished(self.drawing(frames))

    def drawing(self, frames: Sequence[Frame]) -> Stages[list[dict[str, Any]]]:
        """Count and choose, then draw, each when others know what they will read too."""
        readers = [Reader(data, data.resolve(self.column), self.grid) for data in frames]
        prefetch(readers)
        yield
        counted: list[dict[str, Any]] = [{} for _ in readers]
        if self.counts:
            for own, reader in zip(counted, readers, strict=True):
                own["count"] = int(self.counting.release(reader.n, source=self.source).value)
        draws = [self.drawing_for(own.get("count", self.about)) for own in counted]
        first = [each.reads if isinstance(each, Curve) else each for each in draws]
        prefetch(readers, first)
        yield
        read_windows(readers, first)
        return [self.drawn(*own) for own in zip(readers, draws, counted, strict=True)]


# ---- Quantiles of a column: the statistic that a person asks for ---------------------------------


CERTIFYING = Fraction(3, 8)
r"""The part of epsilon that pays for the counts between brackets, on which intervals rest.

With the part :math:`s` spent on counts, the largest error of the values is :math:`a/(1-s)` and the
half width of the intervals :math:`b/(1-s) + d/s`, all in ranks times epsilon. Their sum is least at
:math:`s = \sqrt d / (\sqrt{a+b} + \sqrt d)`, between 0.36 for one quantile and 0.42 for nine or
more; 3/8 is within one percent of the least sum for each number of quantiles that has brackets.
*Checked by* ``test_no_other_price_is_much_better``.
"""
CERTIFIED_ONCE = Fraction(1, 2)
"""The part that releases paid which do not say what they paid."""
FURTHER = 1.5
"""How much further out brackets lie, in reaches of that noise: mostly they are published."""
MOST_BRACKETED = 13
"""More quantiles than this have intervals from a whole distribution function."""
BEYOND = (14, 30)
"""How many times 1/epsilon brackets for a population aim further out, at least and at most."""
KEPT = 8
"""So many brackets, for different numbers of records, are kept for the next draw."""
MICROSECOND = dt.timedelta(microseconds=1)
TELL_TOTALS = ("joint", "hybrid", "levels", "anchors")
"""Algorithms that draw about how many records there are beside the quantiles."""
AT_LEAST = {"hybrid": 2, "anchors": 2, "levels": 3}
"""How many quantiles an algorithm draws at least."""
OWN_METHOD = {"steps": "histogram", "rho": "inverse_sensitivity"}
"""Parameters of one algorithm alone."""


@frozen(slots=False)
class Quantiles(Ranked):
    r"""Quantiles of a column's present values, by one of many algorithms.

    The ``q``-quantile of ``n`` records is the record of number :math:`\lceil qn \rceil` in order.

    Examples
    --------
    >>> asked = Quantiles([0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1)
    >>> release = asked.release(list(range(100)) * 50)
    >>> [abs(a - b) <= 2 for a, b in zip(release.value.tolist(), [25, 50, 75])]
    [True, True, True]
    """

    kind: ClassVar[str] = "quantiles"
    required: ClassVar[tuple[str, ...]] = ("q", "bounds")
    of_dates: ClassVar[bool] = True
    searches: ClassVar[bool] = False
    unwritten: ClassVar[Mapping[str, Any]] = MappingProxyType({"interval": None})
    text: ClassVar[str] = "Compute quantiles of a column: quartiles, deciles, or any orders."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --deciles --epsilon 1",
        "--bounds 0 500000 --q 0.5 --n 100000 --error 0.005",
    )

    q: Fraction | tuple[Fraction, ...] = field(
        converter=read_q,
        metadata=param(
            kinds.ORDERS, "The orders of the quantiles, ascending, between 0 and 1, such as 0.5 or "
            "0.1,0.5,0.9.", group=WHAT,
        ),
    )  # fmt: skip
    method: str = field(
        default="auto", converter=read_method, kw_only=True,
        metadata=param(
            kinds.one_of(*METHODS, *PUBLISHED), "The algorithm. auto chooses one. The published "
            "names QExp, IndExp, RecExp, JointExp and HistogramMethod are accepted too, in any "
            "case.", group=WHAT,
        ),
    )  # fmt: skip
    interval: Fraction | str | None = field(
        default=AUTO, converter=read_interval, kw_only=True,
        metadata=param(
            kinds.PROBABILITY_OR_NONE, "The confidence level of the intervals, which hold for any "
            "data. Defaults to 0.95 if the method supports intervals. They take 3/8 of epsilon; "
            "none omits them and spends all of epsilon on the values.", group=WHAT,
        ),
    )  # fmt: skip
    population: bool = field(
        default=False, converter=read.population, kw_only=True,
        metadata=param(
            kinds.FLAG, "Also print confidence intervals for the quantiles of the population, at "
            "the level of interval (95% by default).", group=WHAT,
        ),
    )  # fmt: skip
    spread: Fraction | dt.timedelta | None = field(
        default=None, converter=read_spread, kw_only=True,
        metadata=param(
            kinds.DISTANCE, "For plans: the approximate standard deviation of the values, from "
            "public knowledge. With n, a plan then includes the width of the intervals.",
            group=WHAT, unit="values",
        ),
    )  # fmt: skip

    steps: int | None = field(
        default=None, converter=read_steps, kw_only=True,
        metadata=param(
            kinds.COUNT, "The number of bins for the histogram method, at most one for each point "
            "of the grid. Defaults to 1.5 n / ln n if records are substituted and n is given, "
            "otherwise to 1000.", group=WHAT,
        ),
    )  # fmt: skip
    rho: Fraction | dt.timedelta | None = field(
        default=None, converter=read_rho, kw_only=True,
        metadata=param(
            kinds.DISTANCE, "The smoothing for the inverse_sensitivity method: values within this "
            "distance of a good answer are as good. Defaults to 0.", group=WHAT, unit="values",
        ),
    )  # fmt: skip

    together: int = field(default=1, kw_only=True)
    """How many answers have intervals that hold together, this one among them."""

    def __attrs_post_init__(self) -> None:
        if self.interval == AUTO:
            bought = Fraction(19, 20) if self.method in self._certifiable else None
            object.__setattr__(self, "interval", bought)
        if self.steps is None and self.method == "histogram" and self.substitutes and self.n:
            n = self.in_units(self.n)  # it is typed, so it is public
            object.__setattr__(self, "steps", steps_for(n))
        super().__attrs_post_init__()

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON knows it; the interval is always there."""
        return {**super().to_dict(), "interval": plain_parameter(self.interval)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Estimator:  # type: ignore[override]
        """Return the question that `to_dict` wrote; without steps, one from before there were."""
        ruled = facts.get("method") == "histogram" and facts.get("relation") == "substitute"
        before = ruled and "n" in facts and "steps" not in facts
        return super().from_dict({**facts, "steps": STEPS} if before else facts)

    def check(self) -> None:
        self.check_delta(self.method)
        demand_floats(self.epsilon, self.copies)
        if len(self.orders) < AT_LEAST.get(self.method, 1):
            few = "a single quantile" if len(self.orders) == 1 else "two quantiles"
            raise ParameterError(
                "method", f"not be {self.method!r} for {few}", "", "Use {method}.",
                method="auto",
            )  # fmt: skip
        if self.level is not None and self.method not in self._certifiable:
            bought, name = self.interval, "population" if self.interval is None else "interval"
            raise ParameterError(
                name, f"be omitted for method {self.method!r}, which releases no counts",
                "True" if bought is None else str(float(bought)),
                f"Use {{method}}, or omit {{{name}}}.", **{"method": "auto", name: LEFT_OUT},
            )  # fmt: skip
        for name, own in OWN_METHOD.items():
            if getattr(self, name) is not None and self.method != own:
                raise ParameterError(
                    name, f"be omitted for method {self.method!r}", given(getattr(self, name)),
                    f"Use {{method}}, or omit {{{name}}}.", **{"method": own, name: LEFT_OUT},
                )  # fmt: skip
        for name, number, lasting in (("spread", 10, "30 days"), ("rho", 1, "1 day")):
            apart = getattr(self, name)
            if apart is not None and self.is_datetime != isinstance(apart, dt.timedelta):
                raise ParameterError(
                    name, "be a duration for dates and a number for numbers", given(apart),
                    f"Use {{{name}}}.", **{name: lasting if self.is_datetime else number},
                )  # fmt: skip
        for records in (0.0, 1e4, 1e18) if self.counts else (self.about,):
            self.mechanism(records)  # refuses early

    @property
    def _certifiable(self) -> tuple[str, ...]:
        """The methods that leave room for counts."""
        return ("auto",) if len(self.orders) > MOST_BRACKETED else ("auto", "joint")

    @property
    def level(self) -> Fraction | None:
        """The confidence of intervals that are paid for."""
        if self.interval is None and self.population:
            return Fraction(19, 20)
        return cast("Fraction | None", self.interval)  # the word auto was replaced

    @property
    def curved(self) -> bool:
        """Whether quantiles and intervals are read off a whole distribution function."""
        return self.level is not None and len(self.orders) > MOST_BRACKETED

    @cached_property
    def orders(self) -> tuple[Fraction, ...]:
        return (self.q,) if isinstance(self.q, Fraction) else self.q

    def _shown(self, ticks: Ints) -> Any:
        """Return the lattice points of ticks: an array, or a number where one order was given."""
        values = self.grid.values(ticks)
        return values[0].item() if isinstance(self.q, Fraction) else values

    @property
    def per_record(self) -> float:
        """The privacy loss per record added or removed."""
        return float(self.epsilon) / self.copies / (2 if self.substitutes else 1)

    @cached_property
    def counts(self) -> bool:
        bracketed = self.level is not None and not self.substitutes
        needed = needs_count(self.method, len(self.orders), total=bracketed)
        if self.n is None:
            return needed or self.curved or self.population
        return needed and self.level is None and self._named(self.about) not in TELL_TOTALS

    @property
    def count_share(self) -> Fraction:
        """The part of epsilon that pays for the count: less where it chooses the method alone."""
        if not self.counts:
            return Fraction(0)
        return count_share(len(self.orders)) if self.level is None else COUNTING

    @cached_property
    def certifying(self) -> Laplace:
        """What draws the counts between brackets."""
        # A record lies in one stretch between brackets; one that is replaced may leave one stretch
        # and enter another.
        moves = self.copies * (2 if self.substitutes else 1)
        epsilon = self.epsilon * CERTIFYING
        return Laplace(epsilon=epsilon, sensitivity=moves, relation=self.relation)

    @cached_property
    def _risk(self) -> float:
        """The risk of this answer's intervals, which decides how far out their brackets aim."""
        return each(1 - float(self.level or 0), self.together)

    def one_of(self, m: int) -> Self:
        """Return the quantiles as one of m answers whose intervals hold together."""
        return self if m == 1 else self.changed(together=m * self.together)

    def mechanism(self, records: float | None) -> QuantileMechanism:
        """Return the algorithm for about ``n`` records; those that ignore it are built once."""
        if self.level is not None and not self.curved:
            return self._bracketed(records)
        method = self._named(records)
        if method != "anchors":
            records = None
            if method in self._built:
                return self._built[method]
        own = self.rho or 0
        distance = Fraction(own // MICROSECOND) if isinstance(own, dt.timedelta) else own
        built = made(
            method, self._common(), delta=self.delta, records=records, steps=self.steps or STEPS,
            rho=int(distance // self.grid.step),
        )  # fmt: skip
        if method != "anchors":
            self._built[method] = built
        return built

    def _named(self, records: float | None) -> str:
        if self.method != "auto":
            return self.method
        return chosen(
            len(self.orders), self.grid.size, self.per_record, records,
            substitutes=self.substitutes,
        )  # fmt: skip

    def _bracketed(self, records: float | None) -> QuantileMechanism:
        """Return brackets for about ``n`` records; they are kept for others with the same aims.

        For a population every number of records has its own.
        """
        if not self.population:
            for brackets in self._brackets:
                if brackets.fit(records):
                    return brackets
        common = self._common(CERTIFYING)
        built = Brackets(slack=self._slack(records), records=records, **common)
        self._brackets.append(built)
        del self._brackets[:-KEPT]
        return built

    @cached_property
    def _brackets(self) -> list[Brackets]:
        return []

    @cached_property
    def _built(self) -> dict[str, QuantileMechanism]:
        return {}

    def _common(self, spent: Fraction | int = 0) -> dict[str, Any]:
        """Return what all algorithms take, with what counts, and a further part, leave."""
        return {
            "epsilon": self.epsilon * (1 - self.count_share - spent), "q": self.orders,
            "cells": self.grid.size, "relation": self.relation, "rows": self.copies,
        }  # fmt: skip

    def _slack(self, records: float | None) -> int:
        """Return how many ranks further out brackets aim, for the errors of what follows."""
        edges = 2 * len(self.orders)
        scale = float(self.certifying.scale)
        usual = noise_reach(edges, self.orders, scale, self._risk)
        if not self.population:
            return ceil(FURTHER * usual)
        n = max(records or 0.0, 1.0)
        if self.counts:
            n += self.counting.error(2 * OF_NUMBER)
        side = self._risk / (2 * len(self.orders))
        both = max(max(population_reach(edges, q, scale, n, side)) for q in self.orders)
        least, most = (times / self.per_record for times in BEYOND)
        return ceil(both + min(max((both - usual) / 10, least), most))

    def curve(self, records: float | None) -> Curve:
        common = self._common()
        del common["q"]
        return Curve(records=records or 0.0, **common)

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """What the count loses, and whatever it chooses; and what intervals are paid with."""
        counted = self.counting.parts if self.counts else ()
        left = Guarantee(self.epsilon * (1 - self.count_share), self.delta, self.relation)
        bought = () if self.level is None or self.curved else self.certifying.parts
        draws = map(self.drawing_for, self.extremes)
        return (*counted, *widest(left, *((*draw.parts, *bought) for draw in draws)))

    @property
    def how(self) -> str:
        bought = "" if self.level is None else f", with {100 * float(self.level):g}% intervals"
        chosen = "method chosen automatically" if self.method == AUTO else f"method {self.method}"
        return f"{chosen}{bought}"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        said = [self.clipping]
        if self.level is not None:
            said.append("Part of epsilon is spent on the intervals, which hold for any data.")
        if self.counts:
            few = self.level is None and len(self.orders) <= FEW
            use = "on which bounds of the ranks rest" if few else "which selects the method"
            said.append(f"Part of epsilon is spent on a count of the records, {use}.")
        if self.population:
            said.append(INDEPENDENT)
        return (*said, *self.weighing, *self.person)

    def draw(self, data: Frame) -> dict[str, Any]:
        """Count if that helps, choose, read what is needed, and draw."""
        return self.draw_all([data])[0]

    def drawing_for(self, records: float | None) -> QuantileMechanism | Curve:
        return self.curve(records) if self.curved else self.mechanism(records)

    def drawn(
        self, reader: Reader, draws: QuantileMechanism | Curve, counted: dict[str, Any]
    ) -> dict[str, Any]:
        """Draw ticks, or a whole distribution function that the quantiles are read off."""
        drawn = dict(counted)
        if isinstance(draws, Curve):
            drawn |= {"method": "Curve", **draws.draw(reader, self.source)}
            return {**drawn, "ticks": draws.knots(drawn).quantiles(self.orders)}
        aims = draw_from(reader, draws, self.source)
        total = draws.total(aims)
        if total is not None:
            drawn["total"] = total
        drawn["method"], drawn["ticks"] = type(draws).__name__, draws.published(aims)
        if isinstance(draws, Brackets):  # move quantiles into the intervals that counts tell
            edges = draws.edges(aims)
            counts = self.certifying.release(reader.between(edges), source=self.source).value
            drawn["edges"], drawn["between"] = np.array(edges, np.int64), counts
            drawn["interval_share"] = float(CERTIFYING)
            low, high = self._certified(drawn, self._risk, "sample")
            drawn["ticks"] = np.clip(drawn["ticks"], low, high)
        return drawn

    def value(self, drawn: Mapping[str, Any]) -> Any:
        return self._shown(np.asarray(drawn["ticks"], np.int64))

    def _certified(self, drawn: Mapping[str, Any], beta: float, of: str) -> tuple[Ints, Ints]:
        """Return what the counts say for sure, the error of sampling included if that is asked."""
        edges, between = (np.asarray(drawn[name], np.int64) for name in ("edges", "between"))
        share = Fraction(drawn.get("interval_share", CERTIFIED_ONCE))
        scale = float(self.certifying.scale * CERTIFYING / share)
        if of == "sample":
            z = noise_reach(len(edges), self.orders, scale, beta)
            return certified(edges, between, self.orders, z, self.grid.last)
        n = most_records(float(between.sum()), len(between), scale, OF_NUMBER * beta)
        side = (1 - OF_NUMBER) * beta / (2 * len(self.orders))
        both = [population_reach(len(edges), q, scale, n, side) for q in self.orders]
        return certified(edges, between, self.orders, both, self.grid.last)

    @property
    def widest(self) -> float:
        return 1.0

    def planned(self, beta: float, n: int | None) -> float:
        """Return the largest rank error to expect, as a part of n, where data lies densely."""
        n = self.in_units(self.public_n(n))
        drawn = self.curve(n) if self.curved else self.mechanism(n)
        ranks = drawn.expected(beta) if isinstance(drawn, Curve) else drawn.expected(beta, n)
        return min(ranks / n, 1.0)

    def planned_interval(self, n: int | None) -> float | None:
        """Return the half width of the widest interval to expect, in ranks as a part of n.

        None where intervals are not paid for; 1 where one will be as wide as the range.
        """
        if self.level is None:
            return None
        n = self.in_units(self.public_n(n))
        if self.curved:
            return min(self.curve(n).expected(self._risk) / n, 1.0)
        mechanism = cast("Brackets", self.mechanism(n))
        lattice, u = mechanism.lattice, mechanism.offset
        aims = zip(lattice.orders, lattice.offsets, strict=True)
        places = np.sort([float(q) * n + offset for q, offset in aims])
        own = np.array([float(q) * n for q in self.orders])
        # An aim serves as an end if it is u ranks away; targets are rounded to whole ranks.
        below = places.searchsorted(own - u + 1, side="right") - 1
        above = places.searchsorted(own + u - 1)
        if below.min() < 0 or above.max() == len(places):
            return 1.0
        return min(float((places[above] - places[below]).max()) / 2 / n, 1.0)

    def planned_width(self, n: int | None) -> float | None:
        r"""Return the width of the widest interval to expect, in the column's units.

        It is that of normal values with the standard deviation `spread`, between the ranks that
        the interval is expected to reach: :math:`\sigma(\Phi^{-1}(q+t) - \Phi^{-1}(q-t))`, or the
        width of the bounds if that is less. None without a spread or an interval; a number of
        microseconds for dates. *Checked by* ``test_planned_widths_are_those_of_draws``.
        """
        half = None if self.spread is None else self.planned_interval(n)
        if half is None or self.spread is None:
            return None
        from scipy.special import ndtri

        q = np.array([float(order) for order in self.orders])
        ends = ndtri(np.clip(q + half, 0, 1)) - ndtri(np.clip(q - half, 0, 1))
        own = self.spread
        deviation = own / MICROSECOND if isinstance(own, dt.timedelta) else float(own)
        return min(float(ends.max()) * deviation, self.width)

    def limits(self, release: Release, beta: float, of: str) -> tuple[Any, Any]:
        if self.level is None:
            ticks = np.asarray(release.drawn["ticks"], np.int64)
            low, high = self._by_ranks(ticks, release.drawn, beta, of)
        elif self.curved:
            knots = self.curve(release.drawn.get("count", self.about)).knots(release.drawn)
            low, high = knots.quantile_ends(self.orders, beta, of)
        else:
            low, high = self._certified(release.drawn, beta, of)
        return self._shown(low), self._shown(high)

    def _by_ranks(
        self, ticks: Ints, drawn: Mapping[str, Any], beta: float, of: str
    ) -> tuple[Any, Any]:
        """Bracket each quantile by released ones whose orders lie far enough away."""
        n = self._records(drawn, beta / 4)
        mechanism = self.mechanism(drawn.get("count", self.about))
        noise = mechanism.error(beta * 3 / 4 if of == "sample" else beta / 4, n=n)
        sampling = 0.0 if of == "sample" else sqrt(log(4 / beta) / (2 * max(n, 1)))
        apart = min(noise / max(n, 1) + sampling, 1.0)
        q = np.array([float(order) for order in self.orders])
        known = np.concatenate(([0], ticks, [self.grid.last]))
        below = np.searchsorted(q, q - apart, side="right")
        above = np.searchsorted(q, q + apart, side="left")
        return known[below], known[above + 1]

    def _records(self, drawn: Mapping[str, Any], beta: float) -> int:
        """Return at least how many records there are, with probability ``1 - beta``; 0 if unknown.

        A total differs from their number by no more than the rank errors' bound. The n that was
        typed may be wrong, and values may be missing: nothing follows from it.
        """
        if "count" in drawn:
            return max(int(drawn["count"]) - ceil(self.counting.error(min(2 * beta, 1))), 0)
        if "total" in drawn:
            bound = self.mechanism(self.about).error(beta, n=2 * drawn["total"] + 1)
            return max(drawn["total"] - ceil(bound), 0) if bound < drawn["total"] else 0
        return 0

    @property
    def display(self) -> Display:
        return replace(
            super().display, head="quantile", confidence=float(self.level or SHOWN),
            intervals=self.level is not None, populations=self.weights is None,
            extra_intervals=("population",) if self.population else (),
        )  # fmt: skip

    def remarks(self, release: Release, words: PythonWording) -> tuple[str, ...]:
        if self.level is None:
            return ()
        low, high = (np.atleast_1d(ends) for ends in release.interval(self.display.confidence))
        least, most = self.grid.values(np.array([0, self.grid.last])).tolist()
        if not bool(((low == least) & (high == most)).any()):
            return ()
        more, without = words.subject("epsilon"), words.typed("interval", None)
        few = "An interval is the whole range: there are too few records for this epsilon."
        typed = f"Use a larger {more}; or {without}, to spend all of it on the values."
        unread = f"If there are many records, the column may not be readable: {CHECK}."
        return (f"{few} {typed} {unread}",)

    def labels(self, release: Release) -> dict[str, Sequence[float]]:
        return {"q": [float(q) for q in self.orders]}

    def chart(self, release: Release, truth: Any = None) -> Chart:
        """Return lines over the orders, one for each group; of one order, a dot for each."""
        columns = release.columns()
        if len(self.orders) == 1:
            order = float(self.orders[0])
            called = "median" if order == 0.5 else f"{100 * order:g}% quantile"
            return charts.dots(columns, truth, names=None if columns.by else [called])
        return charts.quantiles(columns, truth)


# ---- One quantile, and the median: `Quantiles` with a single order -------------------------------


@frozen(slots=False)
class Quantile(Quantiles):
    """One quantile; everything else as in `Quantiles`.

    Examples
    --------
    >>> release = Quantile(0.9, bounds=(0, 1000), step=1, epsilon=1).release(list(range(1000)))
    >>> abs(release.value - 900) < 40
    True
    """

    kind: ClassVar[str] = "quantile"
    text: ClassVar[str] = "Compute one quantile of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --q 0.9 --epsilon 0.5",
        "--bounds 0 500000 --q 0.9 --n 100000 --error 0.005",
    )

    def check(self) -> None:
        if not isinstance(self.q, Fraction):
            raise ParameterError(
                "q", "be a single order", f"{len(self.q)} orders", "Use {q}.", q=0.9
            )
        super().check()


@frozen(slots=False)
class Median(Quantiles):
    """The median; everything else as in `Quantiles`.

    Examples
    --------
    >>> release = Median(bounds=(0, 1000), step=1, epsilon=1).release(list(range(1000)))
    >>> abs(release.value - 500) < 40
    True
    """

    kind: ClassVar[str] = "median"
    required: ClassVar[tuple[str, ...]] = ("bounds",)
    text: ClassVar[str] = "Compute the median of a column."
    examples: ClassVar[tuple[str, str]] = (
        "people.csv -c salary --bounds 0 500000 --step 1 --epsilon 0.5",
        "--bounds 0 500000 --n 100000 --error 0.005",
    )

    q: Fraction | tuple[Fraction, ...] = field(init=False, default=Fraction(1, 2))
