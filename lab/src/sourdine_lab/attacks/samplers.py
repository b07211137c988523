"""Delete what you output: the adversary whom no small sampler survives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sourdine_lab.one_from_many.samplers import Sampler

__all__ = ["Deleted", "delete_what_you_output"]


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a sampler named before it failed, and whether it did."""

    named: frozenset[int]
    failed: bool


def delete_what_you_output(
    sampler: Sampler, deletions: int, present: AbstractSet[int] | None = None
) -> Deleted:
    """Ask for an element and delete it, again and again.

    Each answer tells which of its random choices the sampler lives on, and takes just that away.

    Parameters
    ----------
    sampler
        Already filled.
    deletions
        How often.
    present
        The elements that are in; if given, an answer that is not among them is a failure too. An
        element named twice always is.

    Examples
    --------
    >>> from sourdine_lab.one_from_many import CoordinateSampler
    >>> sampler = CoordinateSampler(1000, watched=20, seed=1)
    >>> for x in range(1000):
    ...     sampler.update(x, 1)
    >>> attack = delete_what_you_output(sampler, 490)
    >>> len(attack.named), attack.failed
    (20, True)
    """
    named: set[int] = set()
    for _ in range(deletions):
        x = sampler.query()
        if x is None or x in named or (present is not None and x not in present):
            return Deleted(frozenset(named), failed=True)
        named.add(x)
        sampler.update(x, -1)
    return Deleted(frozenset(named), failed=False)
