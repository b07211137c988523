"""Specimens: each mechanism at a setting small enough to audit completely.

A specimen has the address ``family.method``, or ``family.method.variant``, where the method is what
a person types: quantiles by ``method="hybrid"`` are audited as ``quantiles.hybrid``, a number
reported by ``"hybrid"`` as ``number.hybrid``. A beginning of an address means all that have it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError
from sourdine.exact import given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.mechanisms.mechanism import Mechanism

__all__ = ["FAMILIES", "Specimen", "entered", "register"]

FAMILIES = {
    "noise": "noise added to numbers",
    "choice": "one of several candidates",
    "sample": "a mechanism on a part of the records",
    "count": "sourdine.count",
    "sum": "sourdine.sum",
    "mean": "sourdine.mean",
    "variance": "sourdine.variance",
    "proportion": "sourdine.proportion",
    "histogram": "sourdine.histogram",
    "mode": "sourdine.mode",
    "table": "sourdine.table",
    "quantiles": "sourdine.quantiles, by its methods",
    "category": "one person's category",
    "number": "one person's number",
    "rounds": "one person's answers in several rounds",
    "absent": "one person's answer that may be absent",
    "density": "one person's value, for a density",
}
"""The first part of every address, in the order of the audit's table."""

ADDRESS = re.compile(r"[a-z]+(\.[a-z0-9_-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A mechanism at one setting, and inputs whose neighbours include a worst case.

    Parameters
    ----------
    name
        Its address.
    make
        Builds the mechanism for an epsilon: the audit also builds one that is too weak, which must
        be rejected on the same inputs.
    inputs
        The inputs whose every neighbour is compared.
    tight
        Does the worst pair reach the claim, to 1e-9?
    draws
        How many draws are compared with the law: fewer where a draw takes long.
    epsilon
        What it is audited at. The worst case of some comes near the claim at a large epsilon only.
    weaker
        A copy that spends so many times what it says must be caught. Above 1.05 only where no
        input of a small domain comes near the claim; the file says why.
    also
        Further addresses: statistics and methods that draw by it.
    """

    name: str
    make: Callable[[Any], Mechanism[Any]]
    inputs: Sequence[Any]
    tight: bool
    draws: int = 100_000
    epsilon: Fraction | int = 1
    weaker: Fraction = Fraction(21, 20)
    also: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, its own first."""
        return (self.name, *self.also)


_SPECIMENS: dict[str, Specimen] = {}


def register(specimen: Specimen) -> None:
    """Enter a mechanism; from then on it is audited with the rest.

    Examples
    --------
    >>> from sourdine.mechanisms import Laplace
    >>> register(Specimen(name="laplace", make=Laplace, inputs=(0,), tight=True))
    Traceback (most recent call last):
    ...
    sourdine.errors.ParameterError: name must be an address, got 'laplace'. Type one, such as 'noise.mine'.
    """  # noqa: E501
    for address in specimen.addresses:
        if not ADDRESS.fullmatch(address) or address.partition(".")[0] not in FAMILIES:
            raise ParameterError(
                "name", "be an address", repr(address), "Type one, such as 'noise.mine'."
            )
    if specimen.name in _SPECIMENS:
        raise ParameterError(
            "name", "be new", given(specimen.name), "Choose another name for the specimen."
        )
    _SPECIMENS[specimen.name] = specimen


def entered() -> tuple[Specimen, ...]:
    """Return what was entered so far: all that is imported, in the order of the families."""
    order = list(FAMILIES)
    return tuple(
        sorted(_SPECIMENS.values(), key=lambda s: (order.index(s.name.split(".")[0]), s.name))
    )
