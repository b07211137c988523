"""The exact worst case: every neighbour of every input, by the laws themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.laws import Certified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.mechanisms import Mechanism
    from sourdine.privacy import Guarantee

__all__ = ["TOLERANCE", "Worst", "worst_case"]

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
        return f"{_shown(self.x)} | {_shown(self.y)}"


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
    laws: dict[Any, Any] = {}

    def law(x: Any) -> Any:  # noqa: ANN401
        if _key(x) not in laws:
            laws[_key(x)] = mechanism.law(x)
        return laws[_key(x)]

    worst, compared = None, set()
    for given in inputs:
        x = mechanism.read(given)
        for neighbour in mechanism.neighbours(x):
            for p, q in ((x, neighbour), (neighbour, x)):
                if (_key(p), _key(q)) in compared:
                    continue
                compared.add((_key(p), _key(q)))
                apart = _apart(law(p), law(q), float(claim.delta), worst)
                if worst is None or (apart.upper, apart.value) > (worst.upper, worst.epsilon):
                    worst = Worst(apart.value, apart.upper, p, q, apart.at)
    if worst is None:
        raise ParameterError(
            "inputs", "have neighbours to compare", "none", "Type {inputs}.", inputs=[0, 1]
        )
    return worst


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


def _shown(x: object) -> str:
    """Return a number, or a vector with its runs counted: ``5x40 0``."""
    if isinstance(x, int):
        return str(x)
    if isinstance(x, dict):
        return " ".join(f"{key.strip(chr(0))}:{n}" for key, n in sorted(x.items())) or "none"
    runs = [(value, len(list(run))) for value, run in groupby(np.asarray(x).tolist())]
    return " ".join(f"{n}x{v}" if n > 2 else " ".join([str(v)] * n) for v, n in runs) or "none"
