"""What is proved, and apart from it what was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.adaptive.server.server import QueryServer

__all__ = ["report"]


def report(server: QueryServer, attacks: Mapping[str, float] | None = None) -> str:
    """Return the certificate, and apart from it the error that each attack achieved.

    Parameters
    ----------
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
    proved = str(server.certificate()) if server.answers else "nothing was asked yet"
    lines = [f"proved: {proved}"]
    if attacks:
        tried = ", ".join(f"{name} {error:.4g}" for name, error in attacks.items())
        lines.append(f"tried, which proves nothing: {tried}")
    return "\n".join(lines)
