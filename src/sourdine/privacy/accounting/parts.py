"""The parts of a privacy loss, their price at one Rényi order, and lists of parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, comb, floor, gcd
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import Real, exp_neg, fraction, given, integer, number, one_of, positive
from sourdine.privacy.composition import poisson
from sourdine.privacy.guarantee import ADD_REMOVE, SUBSTITUTE, Guarantee, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sourdine.exact import Number


# ---- Prices at one Rényi order, in closed form, rounded up ---------------------------------------
#
# The Rényi divergence of order :math:`a > 1` between the laws :math:`P, Q` of two neighbours,
#
# .. math:: D_a = \frac{1}{a-1}\ln E_P\, e^{(a-1)L}, \qquad L = \ln\frac{dP}{dQ},
#
# adds up over answers, even if each is chosen after the earlier ones. Here it is evaluated on exact
# intervals and rounded up, so a price is never below the truth. *Checked by*
# ``test_prices_are_just_above_the_truth``.


BITS = 64
"""Prices are multiples of 2**-64."""
HIGHEST = 128
"""Moments of samples are summed up to this order; above it, sampling counts for nothing."""
HUGE = 1000
"""Above this epsilon the price is epsilon itself, which is nearly exact for every order."""


def up(x: Real | Fraction) -> Fraction:
    """Return the least multiple of 2**-64 that is certainly no less."""
    ticks = x.bounds(BITS)[1] if isinstance(x, Real) else ceil(x * (1 << BITS))
    return Fraction(ticks, 1 << BITS)


@lru_cache(4096)
def ranged(eta: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of bounded range: the largest over all offsets of the range.

    With :math:`x = e^{-\eta}`, it is

    .. math::
        \ln\frac{(a-1)(1 - x^a)}{a\,(x - x^a)} - \frac{1}{a-1}\ln\frac{a(1 - x)}{1 - x^a}.
    """
    if eta > HUGE:
        return up(eta)
    x, power = exp_neg(eta), exp_neg(a * eta)
    best = (a - 1) * (1 - power) / (a * (x - power))
    return up(best.log() - (a * (1 - x) / (1 - power)).log() / (a - 1))


@lru_cache(4096)
def laplace(shift: int, scale: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of discrete Laplace noise of a scale, shifted by an integer.

    The losses are :math:`\varepsilon(1 - 2k/\Delta)`, a geometric sum. With
    :math:`\varepsilon = \Delta/b`, :math:`z = e^{-1/b}` and :math:`y = e^{-(2a-1)/b}`:

    .. math::
        \varepsilon - \frac{1}{a-1}\ln\frac{1 + z}{1 + (1 - z)\frac{y - y^\Delta}{1-y} + y^\Delta}
    """
    epsilon, rate = shift / scale, (2 * a - 1) / scale
    if epsilon > HUGE:
        return up(epsilon)
    z, y, last = exp_neg(1 / scale), exp_neg(rate), exp_neg(rate * shift)
    kept = 1 + (1 - z) * ((y - last) / (1 - y)) + last
    return up(epsilon - ((1 + z) / kept).log() / (a - 1))


@lru_cache(4096)
def response(epsilon: Fraction, categories: int, a: Fraction) -> Fraction:
    r"""Return the price of generalised randomised response among :math:`k` categories.

    Among two it is the price of a pure guarantee.

    .. math::
        \varepsilon - \frac{1}{a-1}\ln
        \frac{1 + (k-1)e^{-\varepsilon}}{1 + e^{-(2a-1)\varepsilon} + (k-2)e^{-a\varepsilon}}
    """
    if epsilon > HUGE:
        return up(epsilon)
    all_ = 1 + (categories - 1) * exp_neg(epsilon)
    kept = 1 + exp_neg((2 * a - 1) * epsilon) + (categories - 2) * exp_neg(a * epsilon)
    return up(epsilon - (all_ / kept).log() / (a - 1))


def sampled(
    inner: Callable[[Fraction], Fraction], epsilon: Fraction | None, q: Fraction, a: Fraction
) -> Fraction:
    r"""Return the price of a mechanism that runs on a Poisson sample of rate ``q``.

    Its own price goes by order, and its largest loss is ``epsilon``; ``None`` if there is none.

    Without the record the law is :math:`Q`, with it :math:`(1-q)Q + qP`. In one direction, for
    whole orders,

    .. math:: E_Q(1 - q + qe^L)^n = \sum_k \binom nk (1-q)^{n-k} q^k e^{(k-1)D_k(P\|Q)},

    and its logarithm is convex in the order, so chords bound the others. In the other, with
    :math:`Z = e^L - 1 \ge e^{-\varepsilon} - 1`,

    .. math::
        E_Q(1 + qZ)^{1-a} \le
        1 + \frac{a(a-1)q^2}{2}\,\frac{e^{D_2} - 1}{(1 - q + qe^{-\varepsilon})^{a+1}},

    by Taylor; and :math:`D_a(Q \| (1-q)Q + qP) \le q D_a(Q \| P)`, by convexity.
    """
    whole = floor(a)
    if whole > HIGHEST:
        return inner(a)
    over = a - whole
    with_it = (1 - over) * _log_moment(inner, q, whole)
    if over:
        with_it += over * _log_moment(inner, q, whole + 1)
    without = q * inner(a)
    least = 1 - q + (0 if epsilon is None else (q * exp_neg(epsilon)).below())
    if least > 0:
        spread = (1 / exp_neg(inner(Fraction(2))) - 1) * (a * (a - 1) * q * q / 2)
        grown = (1 + spread / least ** ceil(a + 1)).log() / (a - 1)
        without = min(without, up(grown))
    return min(inner(a), max(up(with_it / (a - 1)), up(without)))


@lru_cache(4096)
def sampled_pure(epsilon: Fraction, q: Fraction, a: Fraction) -> Fraction:
    r"""Return the price of a pure guarantee on a Poisson sample: the larger of two directions.

    For randomised response both are sums of two terms, with :math:`z = e^{-\varepsilon}`:

    .. math::
        \frac{z\,(1-q+q/z)^a + (1-q+qz)^a}{1+z}, \qquad
        \frac{z\,(1-q+q/z)^{1-a} + (1-q+qz)^{1-a}}{1+z}.
    """
    if epsilon > HUGE:
        return up(epsilon)
    z = exp_neg(epsilon)
    high, low = 1 - q + q / z, 1 - q + q * z
    rise, fall = high.log(), (1 / low).log()
    with_it = z / exp_neg((a * rise).above(128)) + exp_neg((a * fall).below(128))
    without = z * exp_neg(((a - 1) * rise).below(128)) + 1 / exp_neg(((a - 1) * fall).above(128))
    return max(up((sum_ / (1 + z)).log() / (a - 1)) for sum_ in (with_it, without))


def _log_moment(inner: Callable[[Fraction], Fraction], q: Fraction, n: int) -> Fraction:
    r"""Return :math:`\ln E_Q(1 - q + qe^L)^n`, rounded up."""
    total = Real.of((1 - q) ** n + n * q * (1 - q) ** (n - 1)) if n > 1 else Real.of(1)
    for k in range(2, n + 1):
        weight = comb(n, k) * (1 - q) ** (n - k) * q**k
        total += weight / exp_neg((k - 1) * inner(Fraction(k)))
    return up(total.log())


@lru_cache(256)
def allowance(epsilon: Fraction, delta: Fraction, a: Fraction) -> Fraction:
    r"""Return what prices at order :math:`a` may sum to, rounded down, at least 0.

    .. math:: R(a) = \varepsilon + \ln\frac{a}{a-1} - \frac{1}{a-1}\ln\frac{1}{a\delta}
    """
    gained, odds = epsilon + Real.of(a / (a - 1)).log(), a * delta
    if odds <= 1:
        left = gained - Real.of(1 / odds).log() / (a - 1)
    else:
        left = gained + Real.of(odds).log() / (a - 1)
    return Fraction(left.bounds(BITS)[0], 1 << BITS)


# ---- Parts of a privacy loss ---------------------------------------------------------------------


Kind = Literal[
    "pure", "range", "laplace", "gaussian", "concentrated", "response", "sampled", "delta"
]


@dataclass(frozen=True, slots=True)
class Part:
    r"""One draw, or several equal ones, and its possible losses: a kind with exact parameters.

    A guarantee of epsilon alone composes poorly. A part says which losses are possible and how
    likely they are, for any data. Parts are made by the class methods below.

    ================  ==========================================================================
    `pure`            :math:`|L| \le \varepsilon`, and nothing else is known
    `range`           all losses lie in some interval of length :math:`\eta`
    `laplace`         discrete Laplace noise on integers that move by an integer shift in total
    `gaussian`        discrete Gaussian noise on one number that moves by an integer shift
    `concentrated`    :math:`\rho`-zCDP, and nothing else is known
    `response`        randomised response among :math:`k` categories
    `sampled`         another part, run on a Poisson sample of the records
    `delta`           a probability :math:`\delta` that everything is lost
    ================  ==========================================================================

    Parameters
    ----------
    kind
        A word of the table.
    size
        Epsilon, eta, the scale, the variance, rho, the rate or delta.
    count
        The shift in ticks, or the number of categories; 1 elsewhere.
    times
        The number of such draws.
    of
        The part that runs on the sample.

    Examples
    --------
    >>> mean = Part.laplace(shift=1000, scale=10_000)
    >>> print(mean)
    discrete Laplace noise of scale 10000, moved by 1000
    >>> mean.epsilon, Part.range(0.1, times=9).epsilon
    (Fraction(1, 10), Fraction(9, 10))
    >>> Part.from_dict(mean.to_dict()) == mean
    True
    """

    kind: Kind
    size: Fraction
    count: int = 1
    times: int = 1
    of: Part | None = None

    @classmethod
    def pure(cls, epsilon: Number, times: int = 1) -> Self:
        """Return the part of a guarantee of epsilon of which nothing else is known."""
        return cls._made("pure", positive(epsilon, "epsilon"), times=times)

    @classmethod
    def range(cls, eta: Number, times: int = 1) -> Self:
        r"""Return the part of a draw whose losses differ by at most :math:`\eta`.

        The same holds for every law with weights that move by :math:`e^{\pm\eta/2}`.
        """
        return cls._made("range", positive(eta, "eta"), times=times)

    @classmethod
    def laplace(cls, shift: int, scale: Number, times: int = 1) -> Self:
        """Return the part of discrete Laplace noise on numbers that move by ``shift`` in L1."""
        moved = integer(shift, "shift", least=1)
        return cls._made("laplace", positive(scale, "scale"), moved, times)

    @classmethod
    def gaussian(cls, shift: int, variance: Number, times: int = 1) -> Self:
        """Return the part of discrete Gaussian noise on one number that moves by ``shift``."""
        moved = integer(shift, "shift", least=1)
        return cls._made("gaussian", positive(variance, "variance"), moved, times)

    @classmethod
    def concentrated(cls, rho: Number, times: int = 1) -> Self:
        """Return the part of zero-concentrated privacy, as of Gaussian noise on many numbers."""
        return cls._made("concentrated", positive(rho, "rho"), times=times)

    @classmethod
    def response(cls, epsilon: Number, categories: int, times: int = 1) -> Self:
        """Return the part of randomised response among this many categories."""
        several = integer(categories, "categories", least=2)
        return cls._made("response", positive(epsilon, "epsilon"), several, times)

    @classmethod
    def delta(cls, delta: Number, times: int = 1) -> Self:
        """Return the part of a probability ``delta`` that everything is lost."""
        return cls._made("delta", number(delta, "delta", above=0, most=1, example=1e-6), 1, times)

    @classmethod
    def sampled(cls, part: Part, rate: Number, times: int = 1) -> Part:
        """Return a part run on a Poisson sample: each record is in it with probability ``rate``.

        It is about a record added or removed. A part that stands for several draws becomes one part
        for all of them on the same sample: see `on_sample`.
        """
        q = number(rate, "rate", above=0, most=1)
        if not isinstance(part, Part) or part.times != 1:
            hint = "Use on_sample(parts, rate) for several draws on one sample."
            raise ParameterTypeError("part", "be a Part of a single draw", given(part), hint)
        if part.kind == "delta":
            return cls.delta(q * part.size, times)
        if part.of is not None:
            return cls.sampled(part.of, q * part.size, times)
        return cls._made("sampled", q, times=times, of=part) if q < 1 else part.repeated(times)

    @classmethod
    def _made(
        cls, kind: Kind, size: Fraction, count: int = 1, times: int = 1, of: Part | None = None
    ) -> Self:
        return cls(kind, size, count, integer(times, "times", least=1), of)

    @property
    def epsilon(self) -> Fraction | None:
        """The plain epsilon of all draws together; ``None`` if no epsilon holds with delta 0."""
        each = self._each_epsilon()
        return None if each is None else self.times * each

    def _each_epsilon(self) -> Fraction | None:
        if self.kind in {"gaussian", "concentrated"}:
            return None
        if self.kind in {"delta", "laplace"}:
            return Fraction(0) if self.kind == "delta" else self.count / self.size
        if self.of is None:
            return self.size
        whole = self.of.epsilon
        return None if whole is None else poisson(Guarantee(whole), self.size).exact_epsilon()

    @property
    def own_delta(self) -> Fraction:
        """The delta that the part adds to any composition."""
        return min(self.times * self.size, Fraction(1)) if self.kind == "delta" else Fraction(0)

    @property
    def rho(self) -> Fraction:
        r"""A zCDP bound of all draws together, without the part's own delta.

        :math:`\varepsilon^2/2` for a pure guarantee, :math:`\eta^2/8` for a range,
        :math:`\Delta^2/(2\sigma^2)` for Gaussian noise.

        Examples
        --------
        >>> Part.pure(1).rho, Part.range(1).rho, Part.gaussian(3, 9).rho
        (Fraction(1, 2), Fraction(1, 8), Fraction(1, 2))
        """
        bounds: list[Fraction] = []
        if (epsilon := self._each_epsilon()) is not None:
            bounds.append(epsilon**2 / (8 if self.kind == "range" else 2))
        if self.kind == "gaussian":
            bounds.append(self.count**2 / (2 * self.size))
        if self.kind == "concentrated":
            bounds.append(self.size)
        if self.of is not None:
            bounds.append(self.of.rho)
        return self.times * min(bounds)

    def price(self, order: Number) -> Fraction:
        """Return an upper bound of the Rényi divergence of an order above 1, without own delta.

        *Claim*: it is no less than the truth, and a multiple of 2**-64. *Checked by*
        ``test_prices_are_just_above_the_truth``.

        Examples
        --------
        >>> round(float(Part.pure(0.1, times=100).price(5)), 4)
        2.4189
        """
        a = number(order, "order", above=1, most=10**24, example=8)
        return self.times * _price(replace(self, times=1), a)

    def repeated(self, times: int) -> Self:
        """Return the part repeated ``times`` times."""
        return replace(self, times=self.times * integer(times, "times", least=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the part as JSON; numbers are exact texts.

        Examples
        --------
        >>> Part.sampled(Part.laplace(1, 10), 0.5).to_dict()
        {'kind': 'sampled', 'rate': '1/2', 'of': {'kind': 'laplace', 'scale': '10', 'shift': 1}}
        """
        size, count, _, _ = KINDS[self.kind]
        record: dict[str, Any] = {"kind": self.kind, size: str(self.size)}
        if count:
            record[count] = self.count
        if self.of is not None:
            record["of"] = self.of.to_dict()
        return record if self.times == 1 else {**record, "times": self.times}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Part:
        """Return the part that `to_dict` wrote; anything else is refused.

        Examples
        --------
        >>> Part.from_dict({"kind": "pure", "epsilon": "1/10", "times": 3}).epsilon
        Fraction(3, 10)
        """
        kind = one_of(record.get("kind"), "kind", *get_args(Kind))
        size, count, _, _ = KINDS[kind]
        known = {"kind", "times", size, count, "of" if kind == "sampled" else size}
        if set(record) - known or not isinstance(record.get(size), str):
            must = f"hold {size} as a string and only the fields of a {kind} part"
            hint = "Pass the result of to_dict()."
            raise ParameterError("record", must, f"{len(record)} entries", hint)
        exact, times = fraction(record[size]), record.get("times", 1)
        if kind == "sampled":
            return cls.sampled(cls.from_dict(record["of"]), exact, times)
        named = {size: exact, "times": times} | ({count: record.get(count)} if count else {})
        part: Part = getattr(cls, kind)(**named)
        return part

    def __str__(self) -> str:
        text = KINDS[self.kind].text.format(shown(self.size), self.count, self.of)
        return text if self.times == 1 else f"{self.times} times {text}"


class _Words(NamedTuple):
    """The names of ``size`` and ``count`` in a record, a part in words, and its price."""

    exact: str
    whole: str
    text: str
    price: Callable[[Part, Fraction], Fraction]


def _sampled(part: Part, a: Fraction) -> Fraction:
    if part.of is None:
        raise ArithmeticError("a sampled part is of another part")
    inner, epsilon = part.of, part.of.epsilon
    found = None if epsilon is None else sampled_pure(epsilon, part.size, a)
    if found is not None and inner.kind in {"pure", "laplace"} and inner.count == 1:
        return found
    by_moments = sampled(partial(_price, inner), epsilon, part.size, a)
    return by_moments if found is None else min(found, by_moments)


KINDS = {
    "pure": _Words("epsilon", "", "epsilon {}", lambda part, a: response(part.size, 2, a)),
    "range": _Words("eta", "", "a range of {}", lambda part, a: ranged(part.size, a)),
    "laplace": _Words(
        "scale", "shift", "discrete Laplace noise of scale {}, moved by {}",
        lambda part, a: laplace(part.count, part.size, a),
    ),
    "gaussian": _Words(
        "variance", "shift", "discrete Gaussian noise of variance {}, moved by {}",
        lambda part, a: up(a * part.rho),
    ),
    "concentrated": _Words("rho", "", "rho {}", lambda part, a: up(a * part.rho)),
    "response": _Words(
        "epsilon", "categories", "epsilon {} among {} categories",
        lambda part, a: response(part.size, part.count, a),
    ),
    "sampled": _Words("rate", "", "{2}, on a sample of rate {0}", _sampled),
    "delta": _Words("delta", "", "delta {}", lambda _part, _a: Fraction(0)),
}  # fmt: skip


@lru_cache(4096)
def _price(part: Part, a: Fraction) -> Fraction:
    return KINDS[part.kind].price(part, a)


# ---- Lists of parts: sums, samples, another relation ---------------------------------------------


def read_parts(parts: Iterable[Part] | Part) -> tuple[Part, ...]:
    """Return parts as a tuple; a single part is accepted."""
    several = (parts,) if isinstance(parts, Part) else tuple(parts)
    for part in several:
        if not isinstance(part, Part):
            must, example = "be parts of a privacy loss", [Part.pure(1)]
            raise ParameterTypeError("parts", must, given(part), "Use {parts}.", parts=example)
    return several


def of_promise(promise: Guarantee) -> tuple[Part, ...]:
    """Return the parts of a guarantee of which nothing else is known."""
    epsilon = promise.exact_epsilon()
    pure = (Part.pure(epsilon),) if epsilon else ()
    return (*pure, Part.delta(promise.delta)) if promise.delta else pure


def plain(parts: Iterable[Part] | Part) -> tuple[Fraction | None, Fraction]:
    """Return the sums of plain epsilons (``None`` if one has none) and of own deltas."""
    epsilon: Fraction | None = Fraction(0)
    delta = Fraction(0)
    for part in read_parts(parts):
        each = part.epsilon
        epsilon = None if epsilon is None or each is None else epsilon + each
        delta += part.own_delta
    return epsilon, min(delta, Fraction(1))


def widest(promise: Guarantee, *options: tuple[Part, ...]) -> tuple[Part, ...]:
    r"""Return parts that hold whichever of several lists is drawn by an adaptive choice.

    Lists are compared part by part. Discrete Laplace noise of one epsilon is widest at the
    greatest common divisor of the shifts, as a shift by :math:`mK` at scale :math:`mb` is a
    post-processing of one by :math:`K` at scale :math:`b`. Other parts of one epsilon are replaced
    by a pure guarantee, and lists that do not match by ``promise``. *Checked by*
    ``test_the_widest_of_several_lists``.
    """
    if len({len(parts) for parts in options}) > 1:
        return of_promise(promise)
    found = [_wider(column) for column in zip(*options, strict=True)]
    kept = tuple(part for part in found if part is not None)
    return kept if len(kept) == len(found) else of_promise(promise)


def _wider(several: tuple[Part, ...]) -> Part | None:
    first, times = several[0], {part.times for part in several}
    if len(set(several)) == 1:
        return first
    if first.epsilon is None or len({part.epsilon for part in several}) > 1:
        return None
    draws = first.times if len(times) == 1 else 1
    each = first.epsilon / draws
    if not each:
        return None
    if len(times) == 1 and all(part.kind == "laplace" for part in several):
        shift = gcd(*(part.count for part in several))
        return Part.laplace(shift, shift / each, draws)
    return Part.pure(each, draws)


def of_any_shift(promise: Guarantee, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return what holds if the shifts of the parts are unknown.

    Discrete Laplace noise is then pure, at the same epsilon; with Gaussian noise only the
    guarantee itself remains.
    """
    if any(part.kind == "gaussian" for part in parts):
        return of_promise(promise)
    return tuple(
        Part.pure(part.count / part.size, part.times) if part.kind == "laplace" else part
        for part in parts
    )


def on_sample(parts: Iterable[Part] | Part, rate: Number) -> tuple[Part, ...]:
    """Return what the parts become when all run on one Poisson sample of the records.

    A single draw keeps its kind. Several share the sample, so they become one pure guarantee, or
    one of zCDP where no epsilon holds; own deltas shrink with the rate. *Checked by*
    ``test_what_shares_a_sample_is_one_part``.
    """
    q, several = number(rate, "rate", above=0, most=1), read_parts(parts)
    drawn = [part for part in several if part.kind != "delta"]
    epsilon, delta = plain(several)
    escaped = (Part.delta(q * delta),) if delta else ()
    if not drawn:
        return escaped
    if len(drawn) == drawn[0].times == 1:
        return (Part.sampled(drawn[0], q), *escaped)
    rho = sum((part.rho for part in drawn), Fraction(0))
    whole = Part.concentrated(rho) if epsilon is None else Part.pure(epsilon)
    return (Part.sampled(whole, q), *escaped)


def replaced(parts: Iterable[Part] | Part) -> tuple[Part, ...]:
    r"""Return what parts under ADD_REMOVE are under SUBSTITUTE: everything doubles.

    Epsilons, ranges and shifts double, :math:`\rho` is multiplied by four. Randomised response and
    parts on a sample become pure guarantees. If there is a delta, all becomes one guarantee of
    :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)`.
    """
    several = read_parts(parts)
    epsilon, delta = plain(several)
    if delta:
        if epsilon is None:
            raise _untold("have an epsilon beside its delta")
        return of_promise(Guarantee(epsilon, delta, ADD_REMOVE).under(SUBSTITUTE))
    return tuple(map(_twice, several))


def _twice(part: Part) -> Part:
    if part.kind == "range":
        return replace(part, size=2 * part.size)
    if part.kind in {"laplace", "gaussian"}:
        return replace(part, count=2 * part.count)
    if part.kind == "concentrated":
        return replace(part, size=4 * part.size)
    if part.epsilon is None:
        raise _untold("not be Gaussian noise on a sample")
    return Part.pure(2 * part.epsilon / part.times, part.times)


def _untold(must: str) -> ParameterError:
    hint = "Use the parts of the mechanism under SUBSTITUTE."
    return ParameterError("part", must, "a part without a bound for replacing one record", hint)
