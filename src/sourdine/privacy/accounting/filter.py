"""Privacy filters: which adaptively chosen charges fit into a total."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.errors import BudgetExceededError, ParameterError
from sourdine.exact import at_least, fraction, given, number, positive
from sourdine.privacy.accounting import parts as prices
from sourdine.privacy.accounting.parts import plain, read_parts
from sourdine.privacy.concentrated import best, ln
from sourdine.privacy.guarantee import on_grid, percent, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine.exact import Number
    from sourdine.privacy.accounting.parts import Part


DIGITS = 6


@dataclass(frozen=True, slots=True)
class Filter:
    r"""A total, and what has been charged to it: pure arithmetic, without files or clocks.

    Two accounts run in parallel, and a charge is admitted if it fits into either. One adds prices
    at a Rényi order that was fixed at the beginning [1]_, up to

    .. math:: R(a) = \varepsilon + \ln\frac{a}{a-1} + \frac{\ln\delta + \ln a}{a-1}.

    The other adds plain epsilons. The whole is :math:`(\varepsilon, \delta)`-private, even if
    every charge, its kind and its size are chosen after seeing the earlier answers. With
    ``rho`` in place of epsilon, prices are in :math:`\rho` and the whole is :math:`\rho`-zCDP.

    Parameters
    ----------
    epsilon, delta
        The total. Filters are made by `of` and `of_rho`.
    order
        The Rényi order; ``None`` if there is none, for delta 0 and for rho.
    allowance
        What prices may sum to.
    reserve
        The part of delta reserved for charges with a delta of their own.
    price, total, own_delta
        What has been charged; ``total`` is ``None`` once a charge had no plain epsilon.

    Notes
    -----
    *Claim*: the worst analyst, who sizes the next charge by the running loss, stays within delta.
    *Checked by* ``test_the_worst_analyst_stays_within_delta``, which rejects the invalid filter
    that composes the curves of adaptively sized charges.

    References
    ----------
    .. [1] V. Feldman, T. Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021.
    .. [2] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy",
       NeurIPS 2020, proposition 12.

    Examples
    --------
    >>> from sourdine.privacy import Part
    >>> session = Filter.of(epsilon=3, delta=1e-6)
    >>> deciles, charged = Part.range(0.06), 0
    >>> while session.admits(deciles):
    ...     session, charged = session.charge(deciles), charged + 1
    >>> charged  # the sum would admit 50
    412
    >>> print(session)
    epsilon 3, delta 1e-06: 0.02% left
    """

    epsilon: Fraction | None
    delta: Fraction
    order: Fraction | None
    allowance: Fraction
    reserve: Fraction = Fraction(0)
    price: Fraction = Fraction(0)
    total: Fraction | None = Fraction(0)
    own_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: Number, delta: Number = 0, reserve: Number = 0) -> Filter:
        """Return an empty filter for a total of epsilon and delta.

        Parameters
        ----------
        epsilon, delta
            The total. With delta 0 only plain epsilons are added.
        reserve
            How much of delta is reserved for charges that have a delta of their own.

        Examples
        --------
        >>> Filter.of(3, 1e-6).order, Filter.of(3).order
        (Fraction(595, 64), None)
        """
        exact = positive(epsilon, "epsilon")
        whole = number(delta, "delta", above=-1, most=1, example=1e-6)
        kept = at_least(reserve, "reserve", 0)
        if not 0 <= whole < 1:
            must = "be at least 0 and below 1"
            raise ParameterError("delta", must, given(delta), "Use {delta}.", delta=1e-6)
        if kept > whole:
            must = "be at most delta"
            raise ParameterError("reserve", must, shown(kept), "Use {reserve}.", reserve=0)
        if kept == whole:
            return cls(exact, whole, None, Fraction(0), kept)
        order = best_order(exact, whole - kept)
        return cls(exact, whole, order, prices.allowance(exact, whole - kept, order), kept)

    @classmethod
    def of_rho(cls, rho: Number) -> Filter:
        """Return an empty filter for a total of zero-concentrated privacy.

        Examples
        --------
        >>> from sourdine.privacy import Part
        >>> Filter.of_rho(0.5).admits(Part.pure(0.1, times=100))
        True
        """
        return cls(None, Fraction(0), None, positive(rho, "rho"))

    def price_of(self, parts: Iterable[Part] | Part) -> Fraction:
        """Return what a charge adds to `price`, rounded up."""
        several = read_parts(parts)
        if self.epsilon is None:
            return sum((part.rho for part in several), Fraction(0))
        if self.order is None:
            return Fraction(0)
        return sum((part.price(self.order) for part in several), Fraction(0))

    def admits(self, parts: Iterable[Part] | Part) -> bool:
        """Whether `charge` would accept the parts now."""
        return self.after(parts).is_within

    def charge(self, parts: Iterable[Part] | Part, label: str = "") -> Filter:
        """Return the filter after a charge, or raise; call it before anything is drawn.

        Raises
        ------
        BudgetExceededError
            The parts fit into neither account, or their own delta exceeds the reserve.

        Examples
        --------
        >>> from sourdine.privacy import Part
        >>> Filter.of(1).charge(Part.pure(2), "mean of age")
        Traceback (most recent call last):
        sourdine.errors.BudgetExceededError: Budget exceeded by 'mean of age': requested 200% of the total, 100% remaining. Ask for less, or use a smaller epsilon.
        """  # noqa: E501
        after = self.after(parts)
        if after.is_within:
            return after
        by = f" by {label!r}" if label else ""
        wanted = shown(after.own_delta - self.own_delta)
        if after.own_delta <= self.reserve:
            share, left = percent(after.share - self.share, up=True), percent(self.remaining)
            must = f"Budget exceeded{by}: requested {share} of the total, {left} remaining."
            hint = "Ask for less, or use a smaller epsilon."
            raise BudgetExceededError("epsilon", must, share, hint)
        if self.epsilon is None:
            must = (
                f"Budget exceeded{by}: requested delta={wanted}, but a total of rho has no delta."
            )
            hint = "Use a method without delta, or create a total of epsilon and delta."
            raise BudgetExceededError("delta", must, wanted, hint)
        left = shown(self.reserve - self.own_delta, up=False)
        must = (
            f"Budget exceeded{by}: requested delta={wanted}, {left} of the reserve of "
            f"{shown(self.reserve)} remaining."
        )
        other = "create a total with a larger reserve, or use a method without delta"
        if typed := Fraction(left):
            hint = f"Use {{delta}} or less; or {other}."
            raise BudgetExceededError("delta", must, wanted, hint, delta=typed)
        raise BudgetExceededError("delta", must, wanted, f"{other.capitalize()}.")

    def after(self, parts: Iterable[Part] | Part) -> Filter:
        """Return the filter after a charge, whether or not it is within the total."""
        parts = read_parts(parts)
        epsilon, delta = plain(parts)
        known = None if self.total is None or epsilon is None else on_grid(self.total + epsilon)
        return replace(
            self,
            price=on_grid(self.price + self.price_of(parts)),
            total=known,
            own_delta=on_grid(self.own_delta + delta),
        )

    @property
    def is_within(self) -> bool:
        """Whether the charges fit into the total."""
        return self.share <= 1 and self.own_delta <= self.reserve

    @property
    def share(self) -> Fraction:
        """The spent share of the total, by the account with more left."""
        spent = [self.price / self.allowance] if self.allowance else []
        if self.total is not None and self.epsilon is not None:
            spent.append(self.total / self.epsilon)
        return min(spent) if spent else Fraction(2)

    @property
    def remaining(self) -> Fraction:
        """The remaining share of the total."""
        return max(1 - self.share, Fraction(0))

    def largest(self, make: Callable[[Fraction], Iterable[Part] | Part]) -> Fraction:
        """Return the largest size, to six digits, whose charge fits now; 0 if none does.

        Parameters
        ----------
        make
            Returns the parts of a charge of a given size, such as epsilon; larger costs more.

        Examples
        --------
        >>> from sourdine.privacy import Part
        >>> session = Filter.of(3, 1e-6).charge(Part.pure(0.06, times=100))
        >>> float(session.largest(Part.pure)), float(session.largest(Part.range))
        (0.184905, 0.334163)
        """

        def fits(size: Fraction) -> bool:
            return self.admits(make(size))

        power = Fraction(10) ** 9
        while power > Fraction(1, 10**30) and not fits(power):
            power /= 10
        if not fits(power):
            return Fraction(0)
        digits = power
        for _ in range(DIGITS):
            low, high = 0, 10  # this many more of this digit: the first fits
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if fits(digits + middle * power) else (low, middle)
            digits += low * power
            power /= 10
        return digits

    def to_dict(self) -> dict[str, Any]:
        """Return the filter as JSON; numbers are exact texts."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: None if value is None else str(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Filter:
        """Return the filter that `to_dict` wrote.

        Examples
        --------
        >>> one = Filter.of(3, 1e-6)
        >>> Filter.from_dict(one.to_dict()) == one
        True
        """
        read: dict[str, Any] = {n: None if x is None else fraction(x) for n, x in record.items()}
        return cls(**read)

    @property
    def exhausted(self) -> Filter:
        """The filter with its whole total charged, as by a batch that uses all of it."""
        return replace(self, price=self.allowance, total=self.epsilon, own_delta=self.reserve)

    @property
    def whole(self) -> str:
        """The total in words."""
        if self.epsilon is None:
            return f"rho {shown(self.allowance)}"
        delta = f", delta {shown(self.delta)}" if self.delta else ""
        return f"epsilon {shown(self.epsilon)}{delta}"

    def __str__(self) -> str:
        return f"{self.whole}: {percent(self.remaining)} left"


def best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the order, on a public grid, at which most charges of epsilon/50, or of 0.1, fit.

    Floats choose it from the total alone; any order is valid.
    """
    loss, whole = -ln(delta), float(epsilon)

    def charges(over: float) -> float:
        """Return how many randomised responses fit, at the order 1 + ``over``."""
        e = min(whole / 50, 0.1)
        allowed = whole + math.log1p(1 / over) - (loss - math.log1p(over)) / over
        each = e + (math.log1p(math.exp(-(2 * over + 1) * e)) - math.log1p(math.exp(-e))) / over
        return allowed / max(each, 1e-300)

    over = best(lambda x: -charges(x), -5.0, math.log(4 + 4 * loss / min(whole, 1.0)))
    return 1 + Fraction(max(round(over * 64), 1), 64)
