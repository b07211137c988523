"""What is proved, and apart from it what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind

if TYPE_CHECKING:
    from sourdine.adaptive.server.server import QueryServer

__all__ = ["report"]


def report(server: QueryServer, attacks: Mapping[str, float] | None = None) -> str:
    """Return the certificate, and apart from it the error that each attack achieved.

    Parameters
    ----------
    server
        What was asked.
    attacks
        The largest error of an answer under each attack that was tried. A small one is no proof:
        a better attack may do better, up to what is proved.

    Examples
    --------
    >>> from sourdine.adaptive.server import QueryServer
    >>> server = QueryServer([0, 1, 1, 1], universe=2)
    >>> print(report(server, {"overfitting": 0.013}))
    proved: nothing was asked yet
    tried, which proves nothing: overfitting 0.013
    """
    if not isinstance(getattr(server, "answers", None), int):
        raise ParameterTypeError("server", "be a QueryServer", kind(server), "Type report(server).")
    if attacks is not None and not _errors(attacks):
        raise ParameterTypeError(
            "attacks",
            "be the largest error by name",
            kind(attacks),
            "Type report(server, {'overfitting': 0.013}).",
        )
    proved = str(server.certificate()) if server.answers else "nothing was asked yet"
    lines = [f"proved: {proved}"]
    if attacks:
        tried = ", ".join(f"{name} {error:.4g}" for name, error in attacks.items())
        lines.append(f"tried, which proves nothing: {tried}")
    return "\n".join(lines)


def _errors(attacks: object) -> bool:
    return isinstance(attacks, Mapping) and all(isinstance(x, Real) for x in attacks.values())
