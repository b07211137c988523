"""The exact worst case: every neighbour of every input, by the laws themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import Certified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sourdine.mechanisms import Mechanism
    from sourdine.privacy import Guarantee

__all__ = ["TOLERANCE", "Worst", "neighbouring", "nothing_compared", "shown", "worst_case"]

FARTHEST = 1e6
TOLERANCE = 1e-9
"""A certified worst case may pass the claim by this much: what the floats of a law cannot tell."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The pair of neighbours that a mechanism tells apart best.

    ``epsilon`` is the loss between them (at the claim's delta, if it has one), ``upper`` an end
    that the true loss cannot pass, ``x`` and ``y`` the pair, ``at`` the output that decides.
    """

    epsilon: float
    upper: float
    x: Any
    y: Any
    at: int | None

    def within(self, claim: Guarantee) -> bool:
        """Return whether the certified loss is at most the claimed one."""
        return self.upper <= float(claim.epsilon) + TOLERANCE

    def pair(self) -> str:
        """Return the pair, for a table."""
        return f"{shown(self.x)} | {shown(self.y)}"


def worst_case(
    mechanism: Mechanism[Any], inputs: Sequence[Any], claim: Guarantee | None = None
) -> Worst:
    """Compare the laws of all neighbours of these inputs, in both directions.

    Parameters
    ----------
    mechanism
        What is audited.
    inputs
        Inputs; all their neighbours join in.
    claim
        The promise to hold it to; its own guarantee if left out.
    """
    claim = mechanism.guarantee if claim is None else claim
    worst = None
    for pair in neighbouring(mechanism, inputs):
        for x, y, p, q in (pair, (pair[1], pair[0], pair[3], pair[2])):
            apart = _apart(p, q, float(claim.delta), worst)
            if worst is None or (apart.upper, apart.value) > (worst.upper, worst.epsilon):
                worst = Worst(apart.value, apart.upper, x, y, apart.at)
    if worst is None:
        raise nothing_compared()
    return worst


def neighbouring(
    mechanism: Mechanism[Any], inputs: Sequence[Any]
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Yield each input with each of its neighbours, and their laws; no pair comes twice."""
    laws: dict[Any, Any] = {}
    compared = set()

    def law(x: Any) -> Any:  # noqa: ANN401
        if _key(x) not in laws:
            laws[_key(x)] = mechanism.law(x)
        return laws[_key(x)]

    for given in inputs:
        x = mechanism.read(given)
        for y in mechanism.neighbours(x):
            pair = frozenset((_key(x), _key(y)))
            if pair not in compared:
                compared.add(pair)
                yield x, y, law(x), law(y)


def nothing_compared() -> ParameterError:
    """Return the refusal of inputs without neighbours."""
    return ParameterError(
        "inputs", "have neighbours to compare", "none", "Type {inputs}.", inputs=[0, 1]
    )


def _apart(p: Any, q: Any, delta: float, worst: Worst | None) -> Certified:  # noqa: ANN401
    """Return the loss between two laws at delta, or some lower one if it is not the worst."""
    if not delta:
        found: Certified = p.divergence(q)
        return found
    least = 0.0 if worst is None else worst.upper
    excess = p.hockey_stick(q, min(least, FARTHEST))
    if worst is not None and excess.upper <= delta:
        return Certified(-np.inf, -np.inf)
    loss = [_loss_at(p, q, delta, end) for end in ("value", "upper")]
    return Certified(loss[0], loss[1], excess.at)


def _key(x: Any) -> Any:  # noqa: ANN401
    if isinstance(x, dict):
        return tuple(sorted(x.items()))
    return x if isinstance(x, int) else tuple(x)


def _loss_at(p: Any, q: Any, delta: float, end: str) -> float:  # noqa: ANN401
    """Return the least epsilon at which the hockey stick is at most delta, infinite if none is."""
    low, high = 0.0, 1.0
    if getattr(p.hockey_stick(q, low), end) <= delta:
        return low
    while getattr(p.hockey_stick(q, high), end) > delta:
        low, high = high, 2 * high
        if high > FARTHEST:
            return np.inf
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (
            (middle, high) if getattr(p.hockey_stick(q, middle), end) > delta else (low, middle)
        )
    return high


def shown(x: object) -> str:
    """Return a number, or a vector with its runs counted: ``5x40 0``."""
    if isinstance(x, int):
        return str(x)
    if isinstance(x, dict):
        return " ".join(f"{key.strip(chr(0))}:{n}" for key, n in sorted(x.items())) or "none"
    runs = [(value, len(list(run))) for value, run in groupby(np.asarray(x).tolist())]
    return " ".join(f"{n}x{v}" if n > 2 else " ".join([str(v)] * n) for v, n in runs) or "none"
