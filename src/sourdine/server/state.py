"""Settings, and what a worker holds: the store and the open data sets."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from dataclasses import asdict, dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from sourdine.errors import SourdineError
from sourdine.server.auth import Passwords
from sourdine.server.datasets import stored_columns
from sourdine.server.labels import HeldLabels
from sourdine.server.monitoring import Metrics
from sourdine.server.opened_once import OpenedOnce
from sourdine.server.requests import RefusedError
from sourdine.server.sources import opened
from sourdine.server.store.base import Dataset, Guard, NotGrantedError
from sourdine.server.store.datasets import NAME
from sourdine.server.store.store import ServerStore
from sourdine.server.surveys import OpenSurveys
from sourdine.session import Session

if TYPE_CHECKING:
    from sourdine.server.auth import Caller
    from sourdine.server.requests import Operation


# ---- What a server is started with, told to its workers through the environment ------------------


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


# ---- What a worker holds: the store, and the data sets that it has opened ------------------------


MOST_CURVES = 512


class ServerState:
    """The store, the sessions, what was counted: one for each worker.

    Parameters
    ----------
    settings
        How the server runs.
    operations
        All operations of the API, which it describes.
    """

    def __init__(self, settings: ServerSettings, operations: tuple[Operation, ...] = ()) -> None:
        self.settings, self.operations = settings, operations
        self.store = ServerStore.open(settings.store, witness=settings.witness)
        self.passwords, self.metrics = Passwords(), Metrics()
        self.labels = HeldLabels(self.store)
        self.surveys = OpenSurveys(self.store)
        self._sessions: OpenedOnce[Session] = OpenedOnce()
        self._curves: OrderedDict[str, Any] = OrderedDict()
        self._lock = Lock()

    def visible(self, name: str, caller: Caller) -> Dataset:
        """Return a data set that somebody may see; who may not hears that there is none."""
        found = self.store.datasets.get(name) if NAME.fullmatch(name) else None
        if found is None or not (caller.sees_all or self.store.grants.get(name, caller.name)):
            raise NotGrantedError(
                "No such data set, or no access to it. Ask its owner for a grant."
            )
        return found

    def visible_guard(self, name: str, caller: Caller) -> Guard:
        """Return a guard that somebody may see; who may not hears that there is none."""
        found = self.store.guards.get(name) if NAME.fullmatch(name) else None
        if found is None or not (caller.sees_all or self.store.guards.grant(name, caller.name)):
            raise NotGrantedError("No such guard, or no access to it. Ask its owner for a grant.")
        return found

    def session(self, dataset: Dataset) -> Session:
        """Return the session of a data set, opened once in this worker."""
        return self._sessions.get(dataset.name, lambda: self._opened(dataset))

    def _opened(self, dataset: Dataset) -> Session:
        ledger = self.store.datasets.ledger(dataset.name)
        try:
            data = opened(dataset.source, json.loads(dataset.read))
            if listed := stored_columns(dataset.columns):
                # What the owner did not list is not there to be asked, however it is asked.
                data = data.only(*listed, *filter(None, [dataset.terms.unit]))
            return Session(data, ledger=ledger, name=dataset.terms.name)
        except (SourdineError, OSError):
            raise RefusedError(
                409,
                "the data set",
                "be readable where its owner registered it",
                "",
                "Tell its owner; nothing was charged.",
            ) from None

    def curve(self, key: str) -> Any:
        """Return a curve that was computed before; None if it was not."""
        with self._lock:
            return self._curves.get(key)

    def keep_curve(self, key: str, curve: Any) -> None:
        """Keep a curve; of too many, the oldest is forgotten."""
        with self._lock:
            self._curves[key] = curve
            if len(self._curves) > MOST_CURVES:
                self._curves.popitem(last=False)

    def close(self) -> None:
        """Count what surveys accepted, and let go of the store."""
        self.surveys.stop()
        self.store.close()
