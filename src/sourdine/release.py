"""`Release`: a number never travels alone.

It carries what it cost in privacy, which mechanism drew it, how far it can be from the truth and
what a reader must know. It holds public facts only: no law, no private value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.privacy import Guarantee

    Value = int | NDArray[np.int64]

__all__ = ["Release"]


class Released(Protocol):
    """What a release asks of the mechanism that drew it."""

    def interval(self, value: Value, level: Number) -> tuple[Value, Value]:
        """Return the ends between which the truth lies with probability ``level``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A published value with its cost, its mechanism and its caveats.

    Parameters
    ----------
    value
        What was drawn: a whole number or an array of them.
    cost
        The guarantee under which it was drawn; infinite if the randomness was seeded.
    mechanism
        The mechanism, with its public parameters.
    caveats
        Sentences a reader needs, fixed before the data was read.
    """

    value: Value
    cost: Guarantee
    mechanism: Released
    caveats: tuple[str, ...] = ()

    def interval(self, level: Number = 0.95) -> tuple[Value, Value]:
        """Return the ends between which the truth lies with probability ``level``."""
        return self.mechanism.interval(self.value, level)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        rows = [("value", str(self.value)), ("cost", str(self.cost)), ("by", str(self.mechanism))]
        rows += [("note", caveat) for caveat in self.caveats]
        return "\n".join(f"{name:<6} {text}" for name, text in rows)

    def to_json(self) -> str:
        """Return everything public as JSON."""
        facts = {
            "value": np.asarray(self.value).tolist(),
            "cost": self.cost.to_dict(),
            "mechanism": str(self.mechanism),
            "caveats": list(self.caveats),
        }
        return json.dumps(facts, ensure_ascii=False)
