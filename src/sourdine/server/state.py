"""What a worker holds: the store, and the data sets that it has opened."""

from __future__ import annotations

import json
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

from sourdine.errors import SourdineError
from sourdine.server.columns import stored_columns
from sourdine.server.holdout_labels import HeldLabels
from sourdine.server.metrics import Metrics
from sourdine.server.open_surveys import OpenSurveys
from sourdine.server.opened_once import OpenedOnce
from sourdine.server.passwords import Passwords
from sourdine.server.problems import RefusedError
from sourdine.server.sources import opened
from sourdine.server.store import Dataset, Guard, NotGrantedError, ServerStore
from sourdine.server.store.datasets import NAME
from sourdine.session import Session

if TYPE_CHECKING:
    from sourdine.server.auth import Caller
    from sourdine.server.settings import ServerSettings

__all__ = ["ServerState"]

MOST_CURVES = 512


class ServerState:
    """The store, the sessions, what was counted: one for each worker.

    Parameters
    ----------
    settings
        How the server runs.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
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
                "be where its owner said",
                "no data that can be read",
                "Tell its owner; nothing was charged.",
            ) from None

    def curve(self, key: str) -> Any:  # noqa: ANN401 - what was put there
        """Return a curve that was computed before; None if it was not."""
        with self._lock:
            return self._curves.get(key)

    def keep_curve(self, key: str, curve: Any) -> None:  # noqa: ANN401
        """Keep a curve; of too many, the oldest is forgotten."""
        with self._lock:
            self._curves[key] = curve
            if len(self._curves) > MOST_CURVES:
                self._curves.popitem(last=False)

    def close(self) -> None:
        """Count what surveys accepted, and let go of the store."""
        self.surveys.stop()
        self.store.close()
