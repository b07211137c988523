"""Every mechanism of the library, found by looking, not by a list kept by hand.

All modules of the packages below are imported and searched for concrete mechanisms. Each must have
a specimen, so `unaudited` is empty: ``test_every_mechanism_is_audited``. A module of these packages
that draws noise without being part of an audited mechanism needs a reason:
``test_whoever_draws_is_audited_or_has_a_reason``.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from inspect import isabstract, isclass
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from sourdine import adaptive, central, local, mechanisms
from sourdine.errors import MissingExtraError, ParameterError, close_matches
from sourdine.mechanisms.mechanism import FAMILIES, Mechanism, entered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from sourdine.mechanisms import Specimen


SAME = {"quantile": "quantiles", "median": "quantiles", "cdf": "quantiles"}
"""Statistics that draw by the mechanisms of another one."""
PACKAGES = (mechanisms, central, local, adaptive)


def registered() -> tuple[Specimen, ...]:
    """Return all specimens of the library, the same whatever was imported before.

    Examples
    --------
    >>> [specimen.name for specimen in registered()][:3]
    ['noise.gaussian', 'noise.gaussian.vector', 'noise.laplace']
    """
    _modules()
    return entered()


def every_mechanism() -> tuple[type[Mechanism[Any]], ...]:
    """Return every concrete mechanism of the library."""
    found = {
        thing
        for module in _modules()
        for thing in vars(module).values()
        if isclass(thing) and thing.__module__ == module.__name__
    }
    kinds = (c for c in found if issubclass(c, Mechanism) and not isabstract(c))
    return tuple(sorted(kinds, key=lambda c: (c.__module__, c.__name__)))


def unaudited() -> tuple[type[Mechanism[Any]], ...]:
    """Return the mechanisms that no specimen is of."""
    audited = {type(specimen.make(specimen.epsilon)) for specimen in registered()}
    return tuple(found for found in every_mechanism() if found not in audited)


def chosen(names: Sequence[str]) -> tuple[Specimen, ...]:
    """Return the specimens at these addresses or below them; all, if there are none.

    Parameters
    ----------
    names
        Addresses or beginnings of addresses. A hyphen and an underscore are the same.

    Examples
    --------
    >>> [specimen.name for specimen in chosen(["quantiles.hybrid", "variance.laplace"])]
    ['noise.laplace.together', 'quantiles.hybrid.add_remove', 'quantiles.hybrid.substitute']
    >>> chosen(["hybrid"])
    Traceback (most recent call last):
    ...
    sourdine.errors.ParameterError: mechanism must be an address in the audit's table, \
got 'hybrid'. Did you mean quantiles.hybrid or number.hybrid?
    """
    every = registered()
    kept = set()
    for name in names:
        found = {s.name for s in every if any(_below(a, name) for a in s.addresses)}
        if not found:
            raise ParameterError(
                "mechanism", "be an address in the audit's table", repr(name), _meant(name, every)
            )
        kept |= found
    return tuple(specimen for specimen in every if not names or specimen.name in kept)


def _below(address: str, name: str) -> bool:
    parts, wanted = (text.lower().replace("-", "_").split(".") for text in (address, name))
    wanted[0] = SAME.get(wanted[0], wanted[0])
    return parts[: len(wanted)] == wanted


def _meant(name: str, every: Iterable[Specimen]) -> str:
    """Return the question which address is meant, of those similar to a name in any part."""
    addresses = [a for specimen in every for a in specimen.addresses]
    stems = list(dict.fromkeys(".".join(a.split(".")[:2]) for a in addresses))
    last = name.lower().replace("-", "_").split(".")[-1]
    ends = {stem: stem.split(".")[1].replace("-", "_") for stem in stems}
    like = [stem for stem, end in ends.items() if last in end.split("_") or last == end]
    like += [stem for stem in close_matches(name, stems) if stem not in like]
    near = close_matches(last, list(ends.values()))
    like += [stem for stem, end in ends.items() if end in near and stem not in like]
    known = {stem.split(".")[0] for stem in stems}
    families = [family for family in FAMILIES if family in known]
    like += [family for family in close_matches(name, families) if family not in like]
    if like:
        return f"Did you mean {' or '.join(like[:4])}?"
    return f"Addresses begin with {', '.join(families)}."


@lru_cache(1)
def _modules() -> tuple[ModuleType, ...]:
    """Import all modules of the packages; those of an extra that is not installed are left out."""
    found = []
    for package in PACKAGES:
        found.append(package)
        for info in walk_packages(package.__path__, f"{package.__name__}."):
            try:
                found.append(import_module(info.name))
            except MissingExtraError:
                continue
    return tuple(found)
