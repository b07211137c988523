"""What a server is started with, told to its workers through the environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

__all__ = ["ServerSettings"]

VARIABLE = "SOURDINE_SERVER"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server runs.

    Parameters
    ----------
    store
        The address of its store.
    tick
        Seconds: answers leave after a whole number of ticks, so that their time tells nothing finer
        of the data. 0 lets them leave at once.
    witness
        A file on another disk that remembers how far the ledgers have got; None for none.
    behind_proxy
        Whether a proxy with TLS stands in front: cookies are then for HTTPS alone.
    folder
        The folder below which data must lie that an owner registers over HTTP; without one, none
        is registered so. The command ``serve add-data`` is not bound to it.

    Examples
    --------
    >>> ServerSettings(store="sqlite:///store.db").tick
    0.25
    """

    store: str
    tick: float = 0.25
    witness: str | None = None
    behind_proxy: bool = False
    folder: str | None = None

    def tell_workers(self) -> None:
        """Put the settings where a worker that is started next reads them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def told(cls) -> ServerSettings:
        """Return the settings of the server that started this worker."""
        return cls(**json.loads(os.environ[VARIABLE]))
