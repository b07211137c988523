"""What a privacy loss is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import fraction, given, integer, number, one_of, positive
from sourdine.privacy.accounting import prices
from sourdine.privacy.amplification import poisson
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.printing import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.exact.parameters import Number

__all__ = ["Part"]

Kind = Literal[
    "pure", "range", "laplace", "gaussian", "concentrated", "response", "sampled", "delta"
]

NAMES: dict[str, tuple[str, str]] = {
    "pure": ("epsilon", ""),
    "range": ("eta", ""),
    "laplace": ("scale", "shift"),
    "gaussian": ("variance", "shift"),
    "concentrated": ("rho", ""),
    "response": ("epsilon", "categories"),
    "sampled": ("rate", ""),
    "delta": ("delta", ""),
}
"""What ``size`` and ``count`` stand for, by kind: the names in a record."""


@dataclass(frozen=True, slots=True)
class Part:
    r"""One draw, or several alike, and what it can lose at most: a kind with exact parameters.

    A promise of epsilon says too little to be composed well. A part says which losses are possible
    and how likely they are, whatever the data. Parts come from the class methods below.

    ================  ==========================================================================
    `pure`            :math:`|L| \le \varepsilon`, and nothing else is known
    `range`           all losses lie in some interval of length :math:`\eta`
    `laplace`         discrete Laplace noise on whole numbers that move by a whole shift in all
    `gaussian`        discrete Gaussian noise on one number that moves by a whole shift
    `concentrated`    :math:`\rho`-zCDP, and nothing else is known
    `response`        randomised response among :math:`k` categories
    `sampled`         another part, run on a Poisson sample of the records
    `delta`           a chance :math:`\delta` that everything is lost
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
        How many such draws.
    of
        What is run on the sample.

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
        """Return the part of a promise of epsilon of which nothing else is known."""
        return cls._made("pure", positive(epsilon, "epsilon"), times=times)

    @classmethod
    def range(cls, eta: Number, times: int = 1) -> Self:
        r"""Return the part of a draw whose losses differ by at most :math:`\eta`.

        So do those of every law with weights that move by :math:`e^{\pm\eta/2}`.
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
        """Return the part of randomised response among so many categories."""
        several = integer(categories, "categories", least=2)
        return cls._made("response", positive(epsilon, "epsilon"), several, times)

    @classmethod
    def delta(cls, delta: Number, times: int = 1) -> Self:
        """Return the part of a chance ``delta`` that everything is lost."""
        return cls._made("delta", number(delta, "delta", above=0, most=1, example=1e-6), 1, times)

    @classmethod
    def sampled(cls, part: Part, rate: Number, times: int = 1) -> Part:
        """Return a part run on a Poisson sample: each record is in it with probability ``rate``.

        It is about a record added or removed. What stands for several draws is one part of them
        all on the same sample: see `on_sample`.
        """
        q = number(rate, "rate", above=0, most=1)
        if not isinstance(part, Part) or part.times != 1:
            raise ParameterTypeError(
                "part",
                "be one Part of one draw",
                given(part),
                "Type on_sample(parts, rate) for several draws on one sample.",
            )
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
        if self.kind == "delta":
            return Fraction(0)
        if self.kind == "laplace":
            return self.count / self.size
        if self.of is None:
            return self.size
        whole = self.of.epsilon
        return None if whole is None else poisson(Guarantee(whole), self.size).exact_epsilon()

    @property
    def own_delta(self) -> Fraction:
        """What the part takes from delta, whatever else is done."""
        return min(self.times * self.size, Fraction(1)) if self.kind == "delta" else Fraction(0)

    @property
    def rho(self) -> Fraction:
        r"""A zCDP bound of all draws together, the own delta aside.

        :math:`\varepsilon^2/2` of a pure promise, :math:`\eta^2/8` of a range,
        :math:`\Delta^2/(2\sigma^2)` of Gaussian noise.

        Examples
        --------
        >>> Part.pure(1).rho, Part.range(1).rho, Part.gaussian(3, 9).rho
        (Fraction(1, 2), Fraction(1, 8), Fraction(1, 2))
        """
        epsilon = self._each_epsilon()
        bounds = [] if epsilon is None else [epsilon**2 / (8 if self.kind == "range" else 2)]
        if self.kind == "gaussian":
            bounds.append(self.count**2 / (2 * self.size))
        if self.kind == "concentrated":
            bounds.append(self.size)
        if self.of is not None:
            bounds.append(self.of.rho)
        return self.times * min(bounds)

    def price(self, order: Number) -> Fraction:
        """Return the Rényi divergence of an order above 1 at most, the own delta aside.

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
        """Return so many times the same."""
        return replace(self, times=self.times * integer(times, "times", least=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the part as JSON takes it; numbers are exact texts.

        Examples
        --------
        >>> Part.sampled(Part.laplace(1, 10), 0.5).to_dict()
        {'kind': 'sampled', 'rate': '1/2', 'of': {'kind': 'laplace', 'scale': '10', 'shift': 1}}
        """
        size, count = NAMES[self.kind]
        record: dict[str, Any] = {"kind": self.kind, size: str(self.size)}
        if count:
            record[count] = self.count
        if self.of is not None:
            record["of"] = self.of.to_dict()
        return record if self.times == 1 else {**record, "times": self.times}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Part:
        """Return the part that `to_dict` wrote; whatever else a record holds is refused.

        Examples
        --------
        >>> Part.from_dict({"kind": "pure", "epsilon": "1/10", "times": 3}).epsilon
        Fraction(3, 10)
        """
        kind = one_of(record.get("kind"), "kind", *get_args(Kind))
        size, count = NAMES[kind]
        known = {"kind", "times", size, count, "of" if kind == "sampled" else size}
        if set(record) - known or not isinstance(record.get(size), str):
            raise ParameterError(
                "record",
                f"hold {size} as a text and nothing that a {kind} part has not",
                f"{len(record)} entries",
                "Type what to_dict() returned.",
            )
        exact, times = fraction(record[size]), record.get("times", 1)
        if kind == "sampled":
            return cls.sampled(cls.from_dict(record["of"]), exact, times)
        named = {size: exact, "times": times} | ({count: record.get(count)} if count else {})
        part: Part = getattr(cls, kind)(**named)
        return part

    def __str__(self) -> str:
        size = shown(self.size)
        text = {
            "pure": f"epsilon {size}",
            "range": f"a range of {size}",
            "laplace": f"discrete Laplace noise of scale {size}, moved by {self.count}",
            "gaussian": f"discrete Gaussian noise of variance {size}, moved by {self.count}",
            "concentrated": f"rho {size}",
            "response": f"epsilon {size} among {self.count} categories",
            "sampled": f"{self.of}, on a sample of rate {size}",
            "delta": f"delta {size}",
        }[self.kind]
        return text if self.times == 1 else f"{self.times} times {text}"


@lru_cache(4096)
def _price(part: Part, a: Fraction) -> Fraction:
    """Return the price of one draw."""
    formulas: dict[str, Callable[[], Fraction]] = {
        "pure": lambda: prices.pure(part.size, a),
        "range": lambda: prices.ranged(part.size, a),
        "laplace": lambda: prices.laplace(part.count, part.size, a),
        "gaussian": lambda: prices.up(a * part.rho),
        "concentrated": lambda: prices.up(a * part.rho),
        "response": lambda: prices.response(part.size, part.count, a),
        "sampled": lambda: _sampled(part, a),
        "delta": lambda: Fraction(0),
    }
    return formulas[part.kind]()


def _sampled(part: Part, a: Fraction) -> Fraction:
    if part.of is None:
        raise ArithmeticError("a sampled part is of another part")
    inner, epsilon = part.of, part.of.epsilon
    found = None if epsilon is None else prices.sampled_pure(epsilon, part.size, a)
    if found is not None and inner.kind in {"pure", "laplace"} and inner.count == 1:
        return found
    by_moments = prices.sampled(partial(_price, inner), epsilon, part.size, a)
    return by_moments if found is None else min(found, by_moments)
