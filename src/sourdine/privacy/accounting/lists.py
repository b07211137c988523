"""The parts of one mechanism, taken together: sums, samples, another relation."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, number
from sourdine.privacy.accounting.part import Part
from sourdine.privacy.guarantee import Guarantee
from sourdine.privacy.relation import ADD_REMOVE, SUBSTITUTE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sourdine.exact.parameters import Number

__all__ = ["of_any_shift", "of_promise", "on_sample", "plain", "read_parts", "replaced", "widest"]


def read_parts(parts: Iterable[Part] | Part) -> tuple[Part, ...]:
    """Return parts as a tuple; one part alone will do.

    Examples
    --------
    >>> len(read_parts(Part.pure(1))), len(read_parts([]))
    (1, 0)
    """
    several = (parts,) if isinstance(parts, Part) else tuple(parts)
    for part in several:
        if not isinstance(part, Part):
            hint = "Type {parts}."
            raise ParameterTypeError(
                "parts", "be parts of a loss", given(part), hint, parts=[Part.pure(1)]
            )
    return several


def of_promise(promise: Guarantee) -> tuple[Part, ...]:
    """Return the parts of a promise of which nothing else is known.

    Examples
    --------
    >>> print(*of_promise(Guarantee(1, 1e-6)), sep="; ")
    epsilon 1; delta 1e-06
    """
    epsilon = promise.exact_epsilon()
    pure = (Part.pure(epsilon),) if epsilon else ()
    return (*pure, Part.delta(promise.delta)) if promise.delta else pure


def plain(parts: Iterable[Part] | Part) -> tuple[Fraction | None, Fraction]:
    """Return the sums of plain epsilons (``None`` if one has none) and of own deltas.

    Examples
    --------
    >>> plain([Part.pure(0.1, times=3), Part.delta(1e-6)])
    (Fraction(3, 10), Fraction(1, 1000000))
    >>> plain([Part.gaussian(1, 100)])
    (None, Fraction(0, 1))
    """
    epsilon: Fraction | None = Fraction(0)
    delta = Fraction(0)
    for part in read_parts(parts):
        each = part.epsilon
        epsilon = None if epsilon is None or each is None else epsilon + each
        delta += part.own_delta
    return epsilon, min(delta, Fraction(1))


def widest(promise: Guarantee, *options: tuple[Part, ...]) -> tuple[Part, ...]:
    r"""Return parts that hold whichever of several lists is drawn, by a choice made on the way.

    Lists are gone through part by part. Discrete Laplace noise of one epsilon is widest at the
    greatest common divisor of the shifts, as a shift by :math:`mK` at scale :math:`mb` is a
    post-processing of one by :math:`K` at scale :math:`b`. What else has one epsilon is taken for
    pure, and lists that do not match for the promise. *Checked by*
    ``test_the_widest_of_several_lists``.

    Parameters
    ----------
    promise
        What all of them keep.
    options
        The lists.

    Examples
    --------
    >>> print(*widest(Guarantee(1), (Part.laplace(4, 4),), (Part.laplace(6, 6),)))
    discrete Laplace noise of scale 2, moved by 2
    >>> print(*widest(Guarantee(1), (Part.range(1),), (Part.range(0.5, times=2),)))
    epsilon 1
    """
    if len({len(parts) for parts in options}) > 1:
        return of_promise(promise)
    found = [_wider(column) for column in zip(*options, strict=True)]
    kept = tuple(part for part in found if part is not None)
    return kept if len(kept) == len(found) else of_promise(promise)


def _wider(several: tuple[Part, ...]) -> Part | None:
    """Return a part that is wider than several, None if there is none."""
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
    """Return what holds if all that is known of parts is that their shifts will be others.

    Discrete Laplace noise is then pure, at the same epsilon; with Gaussian noise there is the
    promise alone.

    Examples
    --------
    >>> print(*of_any_shift(Guarantee(1), (Part.laplace(40, 80), Part.range(0.5))), sep="; ")
    epsilon 0.5; a range of 0.5
    """
    if any(part.kind == "gaussian" for part in parts):
        return of_promise(promise)
    return tuple(
        Part.pure(part.count / part.size, part.times) if part.kind == "laplace" else part
        for part in parts
    )


def on_sample(parts: Iterable[Part] | Part, rate: Number) -> tuple[Part, ...]:
    """Return what the parts become when all are run on one Poisson sample of the records.

    One draw keeps its kind. Several share the sample, so they are taken for one pure promise, or
    one of zCDP where no epsilon holds; own deltas shrink with the rate. *Checked by*
    ``test_what_shares_a_sample_is_one_part``.

    Examples
    --------
    >>> [part] = on_sample(Part.laplace(1, 1), 0.1)
    >>> print(part)
    discrete Laplace noise of scale 1, moved by 1, on a sample of rate 0.1
    >>> print(*on_sample([Part.pure(0.5), Part.range(0.5)], 0.1))
    epsilon 1, on a sample of rate 0.1
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

    Epsilons, ranges and shifts double, :math:`\rho` is taken four times. Randomised response and
    what runs on a sample become pure promises. If there is a delta, all becomes one promise of
    :math:`(2\varepsilon, (1 + e^\varepsilon)\delta)`.

    Examples
    --------
    >>> print(*replaced([Part.range(0.1), Part.laplace(1, 10)]), sep="; ")
    a range of 0.2; discrete Laplace noise of scale 10, moved by 2
    >>> print(*replaced([Part.range(1), Part.delta(1e-6)]), sep="; ")
    epsilon 2; delta 3.71829e-06
    """
    several = read_parts(parts)
    epsilon, delta = plain(several)
    if delta:
        if epsilon is None:
            raise _untold("have an epsilon beside its delta")
        twice = Guarantee(epsilon, delta, ADD_REMOVE).under(SUBSTITUTE)
        promised = (Part.pure(twice.exact_epsilon()),) if epsilon else ()
        return (*promised, Part.delta(twice.delta))
    return tuple(map(_twice, several))


def _twice(part: Part) -> Part:
    if part.kind == "range":
        return Part.range(2 * part.size, part.times)
    if part.kind == "laplace":
        return Part.laplace(2 * part.count, part.size, part.times)
    if part.kind == "gaussian":
        return Part.gaussian(2 * part.count, part.size, part.times)
    if part.kind == "concentrated":
        return Part.concentrated(4 * part.size, part.times)
    if part.epsilon is None:
        raise _untold("not be Gaussian noise on a sample")
    return Part.pure(2 * part.epsilon / part.times, part.times)


def _untold(must: str) -> ParameterError:
    return ParameterError(
        "part",
        must,
        "a part that says nothing of one record replaced",
        "Ask the mechanism for its parts under SUBSTITUTE.",
    )
