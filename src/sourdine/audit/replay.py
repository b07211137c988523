"""Replay: a whole public call on two neighbours, step by step.

The call runs on one data set, and every mechanism it uses writes down its input and its answer.
Then it runs on the neighbour, where every mechanism gives the answer of the first run. All that is
public must now be the same, each private input must have moved no further than its mechanism
covers, and the guarantees of the inputs that moved must add up to no more than the call said it
cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.mechanisms import recording
from sourdine.privacy import compose
from sourdine.release import Release
from sourdine.release.answer import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.mechanisms.transcript import Step
    from sourdine.privacy import Guarantee

__all__ = ["Replay", "replay"]


@dataclass(frozen=True, slots=True)
class Replay:
    """What the two runs showed: the steps of both, and every fault found."""

    steps: tuple[tuple[Step, Step], ...]
    faults: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


def replay(call: Callable[[Any], Release], data: object, neighbour: object) -> Replay:
    """Run ``call`` on both data sets and compare what an onlooker could see.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> def careless(people):  # a sum over ages, with the sensitivity of a count
    ...     return Laplace(epsilon=1, sensitivity=1).release(sum(people))
    >>> replay(careless, [30, 40], [30, 90]).faults
    ('step 1: the input moves further than Laplace(epsilon=1, sensitivity=1) covers',)
    """
    with recording() as first:
        one = _ended(call, data)
    with recording(tuple(first.steps)) as second:
        two = _ended(call, neighbour)
    pairs = tuple(zip(first.steps, second.steps, strict=False))
    if isinstance(one, Exception) or isinstance(two, Exception):
        return Replay(pairs, tuple(_raised(one, two)))
    if not isinstance(one, Release) or not isinstance(two, Release):
        raise ParameterTypeError(
            "the call", "return a Release", kind(one), "Return what mechanism.release(...) gives."
        )
    faults = [*_steps(first.steps, second.steps), *_public(one, two), *_spent(pairs, one.cost)]
    return Replay(pairs, tuple(faults))


def _ended(call: Callable[[Any], Release], data: object) -> Release | Exception:
    try:
        return call(data)
    except Exception as error:  # noqa: BLE001 - any failure may depend on the data
        return error


def _raised(one: object, two: object) -> list[str]:
    if repr(one) == repr(two):
        raise one if isinstance(one, Exception) else TypeError("the call failed")
    return [f"the call ends differently: {type(one).__name__} and {type(two).__name__}"]


def _steps(first: list[Step], second: list[Step]) -> list[str]:
    faults = []
    if len(first) != len(second):
        faults.append(f"the number of steps depends on the data: {len(first)} and {len(second)}")
    for i, (a, b) in enumerate(zip(first, second, strict=False), 1):
        if a.mechanism != b.mechanism:
            faults.append(
                f"step {i}: the mechanism depends on the data: {a.mechanism} and {b.mechanism}"
            )
        elif not np.array_equal(a.x, b.x) and not a.mechanism.adjacent(a.x, b.x):
            faults.append(f"step {i}: the input moves further than {a.mechanism} covers")
    return faults


def _public(one: Release, two: Release) -> list[str]:
    parts = ("value", "cost", "caveats", "mechanism")
    differ = [part for part in parts if plain(getattr(one, part)) != plain(getattr(two, part))]
    if one.to_dict()["drawn"] != two.to_dict()["drawn"]:
        differ.append("rest")
    return [f"the {part} depends on the data beyond the mechanisms' answers" for part in differ]


def _spent(pairs: tuple[tuple[Step, Step], ...], claim: Guarantee) -> list[str]:
    moved = [a.mechanism.guarantee for a, b in pairs if not np.array_equal(a.x, b.x)]
    if not moved:
        return []
    spent = compose(*(g.under(claim.relation) for g in moved))
    return [] if spent.covers(claim) else [f"the steps cost {spent}, the call says {claim}"]
