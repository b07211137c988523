"""The Laplace mechanism on integers."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from attrs import field, frozen

from sourdine import noise
from sourdine.laws import Law, Product
from sourdine.laws.compare import Tail
from sourdine.mechanisms import mechanism as read
from sourdine.mechanisms.mechanism import (
    Additive,
    Specimen,
    add,
    read_beta,
    read_scale,
    read_ticks,
    register,
    within,
)
from sourdine.noise.laplace import laplace_bits
from sourdine.privacy import ADD_REMOVE, Guarantee, Part, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.exact import Number
    from sourdine.mechanisms.mechanism import Value
    from sourdine.noise import Source
    from sourdine.noise.laplace import LaplaceBits


X = TypeVar("X")


@frozen(kw_only=True)
class LaplaceNoise(Additive[X]):
    """The parameters of discrete Laplace noise, for any kind of input."""

    epsilon: Fraction = field(converter=read.epsilon)
    sensitivity: Fraction = field(default=Fraction(1), converter=read.sensitivity)
    relation: Relation = field(default=ADD_REMOVE, converter=read.relation)
    scale: Fraction = field(init=False, repr=False, eq=False)

    @scale.default
    def _scaled(self) -> Fraction:  # here epsilon meets the noise: a scale of Delta / epsilon
        return read_scale(self.sensitivity / self.epsilon)

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0, self.relation)

    @property
    def parts(self) -> tuple[Part, ...]:
        r"""A shift by :math:`\Delta` in total over all numbers; if it is whole, as ticks are.

        *Checked by* ``test_whole_curve[noise.laplace]`` and ``[noise.laplace.vector]``.
        """
        whole = self.sensitivity.denominator == 1
        return (Part.laplace(int(self.sensitivity), self.scale),) if whole else super().parts

    @cached_property
    def sampler(self) -> LaplaceBits:
        return laplace_bits(self.scale)

    def error(self, beta: Number = 0.05) -> float:
        r"""Return the least :math:`e` with :math:`P(|k| > e) = 2 q^{e+1}/(1+q) \le \beta`."""
        return laplace_error(self.scale, read_beta(beta))

    def adjacent(self, x: X, y: X) -> bool:
        exact = np.asarray(x, object) - np.asarray(y, object)
        return bool(np.abs(exact).sum() <= self.sensitivity)


@frozen(kw_only=True)
class Laplace(LaplaceNoise["Value"]):
    r"""Add discrete Laplace noise of scale :math:`t = \Delta/\varepsilon`.

    .. math:: P(x + k) = \tanh\!\left(\tfrac{1}{2t}\right) e^{-|k|/t}, \qquad k \in \mathbb{Z}

    The noise is drawn exactly, with :math:`t` a rational number, so nothing is lost to rounding.
    A vector may be released at once if the sensitivity is that of its L1 norm.

    Parameters
    ----------
    epsilon
        The privacy loss of the release, above 0.
    sensitivity
        :math:`\Delta`, the number of ticks by which the input can change between neighbours.
    relation
        Which data sets are neighbours; the sensitivity is the caller's claim about them.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-differential privacy, and no less: a shift by :math:`\Delta`
    changes :math:`|k|/t` by at most :math:`\Delta/t = \varepsilon`, and shifts of several numbers
    add up. *Checked by* ``test_exact_worst_case[noise.laplace]`` and ``[noise.laplace.vector]``.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private
       data analysis", TCC 2006.
    .. [2] A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy
       mechanisms", STOC 2009 (the discrete form).
    .. [3] Audibert 2024, section 3.1 (a private mean).

    Examples
    --------
    >>> mechanism = Laplace(epsilon=1, sensitivity=10)
    >>> mechanism.scale
    Fraction(10, 1)
    >>> mechanism.error(0.05)
    30.0
    >>> print(mechanism.release(1000).cost)
    epsilon 1, one record added or removed
    """

    def read(self, x: object) -> Value:
        return x if type(x) is int else read_ticks(x)

    def draw(self, x: Value, size: int | None, source: Source) -> Value:
        if size is None and isinstance(x, int):
            return self.sampler.one(source, x)
        shape = size if isinstance(x, int) else x.shape if size is None else (size, *x.shape)
        return add(x, noise.discrete_laplace(self.scale, shape, source=source))

    def draw_all(self, xs: Sequence[Value], source: Source) -> list[Value]:
        """Add noise from one block of bits, where all inputs are numbers."""
        numbers = [x for x in xs if isinstance(x, int)]
        if len(numbers) < len(xs):
            return super().draw_all(xs, source)
        return list(self.sampler.around(numbers, source))

    def law(self, x: Value) -> Law | Product:
        if isinstance(x, int):
            return laplace_law(x, self.scale)
        return Product(tuple(laplace_law(v, self.scale) for v in x.ravel().tolist()))

    def neighbours(self, x: Value) -> Iterator[Value]:
        reach = int(self.sensitivity)
        if isinstance(x, int):
            yield from range(x - reach, x + reach + 1)
        else:
            yield from within(x, reach, norm=1)


def laplace_law(x: int, scale: Fraction) -> Law:
    """Return the discrete Laplace law around ``x``."""
    tail = Tail.geometric(-float(1 / scale), 1 / scale)
    return Law.of([x], [1], [0.0], [0.0], left=tail, right=tail)


def laplace_error(scale: Fraction, beta: float) -> float:
    """Return the least integer that the noise exceeds with probability at most ``beta``."""
    # For a scale below 1/1000 it is 0 as a float, and the quotient may overflow a float.
    q = exp(-float(1 / scale)) if scale * 1000 > 1 else 0.0
    passed = float(scale) * log(2 / ((1 + q) * beta))
    return float(max(0, ceil(passed * (1 + 1e-12)) - 1))


def _specimen(name: str, reach: int, inputs: Sequence[Any], *also: str) -> Specimen:
    return Specimen(name, lambda e: Laplace(epsilon=e, sensitivity=reach), inputs, also=also)


register(
    _specimen("noise.laplace", 3, (0, 7), "count.laplace", "sum.laplace", "mean.laplace.known"),
    _specimen("noise.laplace.vector", 2, ([0, 0], [3, -1]), "histogram.laplace"),
)
