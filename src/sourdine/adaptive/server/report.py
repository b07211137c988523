"""What is proved, and apart from it what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.adaptive.answers import Certificate
    from sourdine.adaptive.server.server import QueryServer

__all__ = ["ServerReport", "report"]


@dataclass(frozen=True, slots=True)
class ServerReport(Shown):
    """What is proved of a server's answers, and apart from it what was tried.

    Parameters
    ----------
    certificate
        What is proved; None before anything was asked.
    attacks
        The largest error of an answer under each attack.
    """

    certificate: Certificate | None
    attacks: Mapping[str, float]

    def sheet(self) -> Sheet:
        """Return what is printed."""
        proved: Sequence[tuple[str, str]] = [("proved", "nothing was asked yet")]
        if self.certificate is not None:
            proved = self.certificate.sheet().notes
        tried = ", ".join(f"{name} {error:.4g}" for name, error in self.attacks.items())
        return Sheet(
            notes=[*proved, *([("tried", f"{tried}; this proves nothing")] if tried else [])]
        )


def report(server: QueryServer, attacks: Mapping[str, float] | None = None) -> ServerReport:
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
    proved  nothing was asked yet
    tried   overfitting 0.013; this proves nothing
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
    return ServerReport(server.certificate() if server.answers else None, attacks or {})


def _errors(attacks: object) -> bool:
    return isinstance(attacks, Mapping) and all(isinstance(x, Real) for x in attacks.values())
