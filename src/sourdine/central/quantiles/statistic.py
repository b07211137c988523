"""Quantiles of a column: the statistic that a person asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.central.lattice import Numeric
from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.central.quantiles.anchors import Anchors
from sourdine.central.quantiles.brackets import Brackets
from sourdine.central.quantiles.certificates import certified, noise_reach
from sourdine.central.quantiles.expected import joint_error, one_error, two_level_error
from sourdine.central.quantiles.exponential import QExp
from sourdine.central.quantiles.histogram import HistogramMethod
from sourdine.central.quantiles.hybrid import Hybrid
from sourdine.central.quantiles.joint import JointExp, JointFree
from sourdine.central.quantiles.methods import METHODS, chosen, made, needs_count
from sourdine.central.quantiles.reading import Reader
from sourdine.central.quantiles.tree import Tree
from sourdine.central.statistic import END_HEADS, charged, public_n
from sourdine.errors import ParameterError
from sourdine.exact import integer, rational
from sourdine.look.numbers import row
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.mechanism import read_beta, read_level
from sourdine.noise import SYSTEM
from sourdine.release import SHOWN, Release, read_confidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.central.quantiles.algorithm import QuantileMechanism
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["Quantiles"]

COUNTING = Fraction(1, 50)
"""This part of epsilon pays for a count, where the choice of method gains from one."""
CERTIFYING = Fraction(1, 2)
"""This part of epsilon pays for counts between brackets, which make intervals certain."""
FURTHER = 1.5
"""Brackets lie so many times the reach of that noise further out, so that mostly they are told."""
MOST_BRACKETED = 13


@dataclass(frozen=True, kw_only=True)
class Quantiles(Numeric):
    r"""Quantiles of a column's present values, by one of many algorithms.

    The ``q``-quantile of ``n`` records is the record of number :math:`\lceil qn \rceil` in order.

    Parameters
    ----------
    q
        The orders, ascending, above 0 and below 1; for a single one, not in a list, values are
        numbers and not arrays.
    method
        One of `sourdine.central.quantiles.methods`; ``"auto"`` chooses from public quantities.
    interval
        A confidence: half of epsilon then pays for brackets beside each quantile and counts
        between them, so that intervals are narrow and hold for all data. Without it they follow
        from worst-case bounds.
    about
        About how many records there are, if that is public; else, where the choice gains from it,
        a fiftieth of epsilon pays for a count.
    """

    kind: ClassVar[str] = "quantiles"

    q: Number | Sequence[Number] = field(kw_only=True)
    method: str = "auto"
    interval: Number | None = None
    about: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        orders = read_orders(self.q)
        object.__setattr__(self, "q", orders[0] if is_one(self.q) else orders)
        if self.method not in METHODS:
            raise ParameterError(
                f"method must be one of {', '.join(METHODS)}, got {self.method!r}. "
                f"Type method='auto'."
            )
        if bool(self.delta) != (self.method == "gaussian"):
            raise ParameterError(
                f"delta must be above 0 for method 'gaussian' and 0 for all others, got "
                f"{float(self.delta):g} for {self.method!r}. Leave it out."
            )
        if self.interval is not None:
            chance = rational(self.interval, "interval")
            if not 0 < chance < 1:
                raise ParameterError(
                    f"interval must be a confidence above 0 and below 1, got {self.interval}. "
                    f"Type interval=0.95."
                )
            object.__setattr__(self, "interval", read_level(chance))
            self._check_brackets()
        if self.about is not None:
            object.__setattr__(self, "about", integer(self.about, "n", least=1))
        for records in (0.0, 1e4, 1e18) if self.counts else (self.about,):
            self.mechanism(records)  # refuses early

    def _check_brackets(self) -> None:
        if self.method not in ("auto", "joint"):
            raise ParameterError(
                f"interval must be left out for method {self.method!r}, got one: brackets are "
                f"drawn jointly. Type method='auto'."
            )
        if len(self.orders) > MOST_BRACKETED:
            raise ParameterError(
                f"interval must be left out for more than {MOST_BRACKETED} quantiles, got "
                f"{len(self.orders)}: their neighbours bracket each other. Type fewer orders."
            )

    @cached_property
    def orders(self) -> tuple[Fraction, ...]:
        """The orders, exactly."""
        return read_orders(self.q)

    def _shown(self, ticks: NDArray[np.int64]) -> Any:  # noqa: ANN401
        """Return the lattice points of ticks: an array, or a number where one order was given."""
        values = self.grid.values(ticks)
        return values[0].item() if isinstance(self.q, Fraction) else values

    @property
    def per_record(self) -> float:
        """The privacy loss per record added or removed."""
        return float(self.epsilon) / self.rows / (2 if self.substitutes else 1)

    @property
    def counts(self) -> bool:
        """Whether part of epsilon pays for a count."""
        needed = needs_count(self.method, len(self.orders), substitutes=self.substitutes)
        return needed and self.about is None

    @cached_property
    def counting(self) -> Laplace:
        """What draws the count."""
        epsilon = Fraction(self.epsilon) * COUNTING
        return Laplace(epsilon=epsilon, sensitivity=self.rows, relation=self.relation)

    @cached_property
    def certifying(self) -> Laplace:
        """What draws the counts between brackets: a record lies in one stretch, or moves to one."""
        moves = self.rows * (2 if self.substitutes else 1)
        epsilon = Fraction(self.epsilon) * CERTIFYING
        return Laplace(epsilon=epsilon, sensitivity=moves, relation=self.relation)

    @property
    def _scale(self) -> float:
        return float(self.certifying.scale)

    @property
    def _risk(self) -> float:
        return 1 - float(self.interval or 0)

    def mechanism(self, records: float | None) -> QuantileMechanism:
        """Return the algorithm for about so many records; those that do not ask are built once."""
        method = self.method
        if method == "auto":
            method = chosen(
                len(self.orders), self.grid.size, self.per_record, records,
                substitutes=self.substitutes,
            )  # fmt: skip
        if self.interval is not None or method == "anchors":
            return self._build(method, records)
        return self._built.get(method) or self._built.setdefault(method, self._build(method, None))

    @cached_property
    def _built(self) -> dict[str, QuantileMechanism]:
        return {}

    def _build(self, method: str, records: float | None) -> QuantileMechanism:
        share = 1 - COUNTING if self.counts else 1
        common = {
            "epsilon": Fraction(self.epsilon) * share,
            "q": self.orders,
            "cells": self.grid.size,
            "relation": self.relation,
            "rows": self.rows,
        }
        if self.interval is not None:
            common["epsilon"] = Fraction(self.epsilon) * (share - CERTIFYING)
            usual = noise_reach(2 * len(self.orders), self.orders, self._scale, self._risk)
            return Brackets(slack=ceil(FURTHER * usual), records=records, **common)  # type: ignore[arg-type]
        return made(method, common, delta=Fraction(self.delta), records=records)

    @property
    def how(self) -> str:
        """What draws it."""
        return f"method {self.method}" + ("" if self.interval is None else ", with brackets")

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        width = (
            "Intervals follow from worst-case bounds on ranks; interval=0.95 in the call narrows "
            "them."
            if self.interval is None
            else "Half of epsilon pays for intervals that hold for all data."
        )
        number = ("A part of epsilon paid for a count.",) if self.counts else ()
        return (self.clipping, width, *number, *self.person)

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Count if that helps, choose, read what is needed, and draw."""
        reader = Reader(data, data.resolve(self.column), self.grid)
        drawn: dict[str, Any] = {}
        if self.counts:
            drawn["count"] = int(self.counting.release(reader.n, source=source))
        mechanism = self.mechanism(drawn.get("count", self.about))
        out = reader.released(mechanism, source)
        total = mechanism.total(out.drawn["drawn"])
        if total is not None:
            drawn["total"] = total
        drawn["method"], drawn["ticks"] = type(mechanism).__name__, out.value
        if isinstance(mechanism, Brackets):
            self._certify(reader, mechanism, out.drawn["drawn"], drawn, source)
        return Release(
            value=self._shown(drawn["ticks"]),
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn=drawn,
            grid=self.grid,
        )

    def _certify(
        self,
        reader: Reader,
        mechanism: Brackets,
        aims: Sequence[int],
        drawn: dict[str, Any],
        source: Source,
    ) -> None:
        """Count between the brackets, and move quantiles into the intervals that follow."""
        edges = mechanism.edges(aims)
        counts = self.certifying.release(reader.between(edges), source=source).value
        drawn["edges"], drawn["between"] = np.array(edges, np.int64), counts
        low, high = self._certified(drawn, self._risk, "sample")
        own = np.asarray(aims[1:], np.int64)[mechanism.own(aims[0])]
        drawn["ticks"] = np.clip(own, low, high)

    def _certified(
        self, drawn: Mapping[str, Any], beta: float, of: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what the counts say for sure, the error of sampling included if that is asked."""
        edges, between = (np.asarray(drawn[name], np.int64) for name in ("edges", "between"))
        noise = beta if of == "sample" else beta / 2
        z: float = noise_reach(len(edges), self.orders, self._scale, noise)
        if of == "population":
            most = max(float(between.sum()) + z, 1.0)
            z += sqrt(most * log(4 / beta) / 2)
        return certified(edges, between, self.orders, z, self.grid.last)

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return the values as they were."""
        del value
        return self._shown(np.asarray(drawn["ticks"], np.int64))

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return the largest rank error to expect, as a fraction of n, where data lies densely."""
        n = public_n(self.about if n is None else n, "quantile")
        return min(self._ranks(self.mechanism(n), read_beta(beta), n) / n, 1.0)

    def _ranks(self, mechanism: QuantileMechanism, beta: float, n: int) -> float:
        """Return the error to expect of a mechanism, in ranks; its bound where none is known."""
        if isinstance(mechanism, Anchors):
            mechanism = mechanism.drawn
        if isinstance(mechanism, Hybrid):
            stride = int(mechanism.stride or 2)
            return two_level_error(self.orders, stride, beta) / mechanism.first.c
        if isinstance(mechanism, (JointFree, JointExp)):
            return joint_error(mechanism.lattice.orders, beta) / mechanism.c
        if isinstance(mechanism, QExp):
            return one_error(beta) / mechanism.c + 0.5
        if isinstance(mechanism, (Tree, HistogramMethod)):
            return mechanism.bin_error(beta)
        return mechanism.error(beta, n=n)

    def between(self, release: Release, confidence: Number, of: str) -> tuple[Any, Any]:
        """Return the ends of all quantiles together."""
        beta = read_confidence(confidence)
        if self.interval is None:
            ticks = np.asarray(release.drawn["ticks"], np.int64)
            low, high = self._by_ranks(ticks, release.drawn, beta, of)
        else:
            low, high = self._certified(release.drawn, beta, of)
        return self._shown(low), self._shown(high)

    def _by_ranks(
        self,
        ticks: NDArray[np.int64],
        drawn: Mapping[str, Any],
        beta: float,
        of: str,
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

        A total differs from their number by no more than the rank errors' bound.
        """
        if self.about is not None:
            return self.about
        if "count" in drawn:
            return max(int(drawn["count"]) - ceil(self.counting.error(min(2 * beta, 1))), 0)
        if "total" in drawn:
            bound = self.mechanism(None).error(beta, n=2 * drawn["total"] + 1)
            return max(drawn["total"] - ceil(bound), 0) if bound < drawn["total"] else 0
        return 0

    def table(
        self, release: Release, confidence: Number = SHOWN
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return a row for each quantile."""
        paid = confidence if self.interval is None else self.interval
        ends = self.between(release, paid, "sample")
        heads = END_HEADS if self.interval is None else _heads(float(self.interval))
        columns = (np.atleast_1d(column) for column in (release.value, *ends))
        lines = zip(self.orders, *columns, strict=True)
        rows = [
            (f"{float(q):g}", *row(value.item(), (a.item(), b.item()))) for q, value, a, b in lines
        ]
        return ("q", "quantile", *heads), rows

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the quantiles over their orders, with intervals."""
        from sourdine.central.quantiles import figure  # noqa: PLC0415 - matplotlib is loaded there

        return figure.curve(self, release, **options)


def _heads(confidence: float) -> tuple[str, str]:
    return f"from ({100 * confidence:g} %)", f"to ({100 * confidence:g} %)"
