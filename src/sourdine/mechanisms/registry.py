"""The list of all mechanisms, each with a specimen small enough to audit completely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from sourdine.mechanisms.mechanism import Mechanism

__all__ = ["Specimen", "register", "registered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A mechanism at one setting, and inputs whose neighbours include a worst case.

    Parameters
    ----------
    name
        How the audit's table calls it.
    make
        Builds the mechanism for an epsilon: the audit also builds one 5 % too weak, which must
        be rejected on the same inputs.
    inputs
        The inputs whose every neighbour is compared.
    tight
        Does the worst pair reach the claim, to 1e-9?
    draws
        How many draws are compared with the law: fewer where a draw takes long.
    """

    name: str
    make: Callable[[Fraction], Mechanism[Any]]
    inputs: Sequence[Any]
    tight: bool
    draws: int = 100_000


_SPECIMENS: dict[str, Specimen] = {}


def register(specimen: Specimen) -> None:
    """Enter a mechanism; from then on it is audited with the rest."""
    if specimen.name in _SPECIMENS:
        raise ParameterError(
            "name", "be new", given(specimen.name), "Choose another name for the specimen."
        )
    _SPECIMENS[specimen.name] = specimen


def registered() -> tuple[Specimen, ...]:
    """Return all specimens, in the order they were entered."""
    return tuple(_SPECIMENS.values())
