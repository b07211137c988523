"""Settings, and what a worker holds: the store, the open data sets, its log and metrics."""

from __future__ import annotations

import json
import os
import sys
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from dataclasses import asdict, dataclass
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

from starlette.responses import Response

from sourdine.errors import SourdineError
from sourdine.server.auth import Passwords
from sourdine.server.datasets import stored_columns
from sourdine.server.labels import HeldLabels
from sourdine.server.openapi import dataset_document, document
from sourdine.server.requests import (
    OVERSEERS,
    OpenedOnce,
    Operation,
    Operations,
    RefusedError,
    reply,
)
from sourdine.server.sources import opened
from sourdine.server.store.base import Dataset, Guard, NotGrantedError
from sourdine.server.store.releases import NAME
from sourdine.server.store.store import ServerStore
from sourdine.server.surveys import OpenSurveys
from sourdine.session import Session
from sourdine.storage.journal import now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.server.auth import Caller
    from sourdine.server.requests import Incoming


# ---- The log: one JSON object a line, of public facts alone --------------------------------------
#
# A line has the time, the method, the route as it is declared, the data set, who asked, the status
# and the milliseconds. No body, no parameter, no answer, no address of a person is in it. *Checked
# by* ``test_the_log_holds_no_private_value``.


def write_line(event: str, facts: Mapping[str, object], stream: TextIO | None = None) -> None:
    """Write a line of the log.

    Examples
    --------
    >>> write_line("request", {"status": 200}, sys.stdout)  # doctest: +ELLIPSIS
    {"time": "...", "event": "request", "status": 200}
    """
    line = json.dumps({"time": now(), "event": event, **facts}, ensure_ascii=True)
    out = sys.stderr if stream is None else stream
    try:
        out.write(f"{line}\n")
        out.flush()
    except (OSError, ValueError):  # a log that cannot be written stops nobody
        return


# ---- What is counted, as Prometheus reads it: requests, latencies, releases, budgets left --------


EDGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class Metrics:
    """Counts of one worker; no label holds what was asked or answered.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("GET", "/api/v1/datasets", 200, 0.02)
    >>> print(metrics.text({"wages": 0.75}).splitlines()[-1])
    sourdine_remaining{dataset="wages",kind="share"} 0.75
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(EDGES) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request: of which route, with which answer, and how long it took."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[route][bisect_left(EDGES, seconds)] += 1
            self._seconds[route] += seconds

    def text(self, remaining: Mapping[str, float]) -> str:
        """Return everything, and the share that remains of data sets, as Prometheus reads it."""
        worker = os.getpid()
        with self._lock:
            lines = ["# TYPE sourdine_requests_total counter"]
            for (method, route, status), number in sorted(self._requests.items()):
                labels = f'worker="{worker}",method="{method}",route="{route}",status="{status}"'
                lines.append(f"sourdine_requests_total{{{labels}}} {number}")
            name = "sourdine_request_seconds"
            lines.append(f"# TYPE {name} histogram")
            edges = [*(f"{edge:g}" for edge in EDGES), "+Inf"]
            for route, buckets in sorted(self._buckets.items()):
                labels, sums = f'worker="{worker}",route="{route}"', list(accumulate(buckets))
                for edge, number in zip(edges, sums, strict=True):
                    lines.append(f'{name}_bucket{{{labels},le="{edge}"}} {number}')
                lines.append(f"{name}_sum{{{labels}}} {self._seconds[route]:.6f}")
                lines.append(f"{name}_count{{{labels}}} {sums[-1]}")
        lines.append("# TYPE sourdine_remaining gauge")
        lines += [
            f'sourdine_remaining{{dataset="{name}",kind="share"}} {share:g}'
            for name, share in remaining.items()
        ]
        return "\n".join(lines) + "\n"


# ---- For operators: health and metrics -----------------------------------------------------------


OPERATIONS = Operations()


@OPERATIONS.add("GET", "/datasets/{dataset}/openapi.json")
def dataset_openapi(call: Incoming) -> Response:
    """Describe this API for one data set, with its columns and groups."""
    return reply(dataset_document(call.state.operations, call.dataset))


@OPERATIONS.add("GET", "/healthz", roles=())
def health(call: Incoming) -> Response:
    """Return the health of the server."""
    call.state.store.database.read(lambda rows: rows.one("SELECT 1"))
    return reply({"status": "ok"})


@OPERATIONS.add("GET", "/openapi.json", roles=())
def openapi(call: Incoming) -> Response:
    """Describe this API."""
    return reply(document(call.state.operations))


@OPERATIONS.add("GET", "/metrics", roles=OVERSEERS, gives="text/plain")
def metrics(call: Incoming) -> Response:
    """Return metrics in the format of Prometheus."""
    datasets = call.state.store.datasets
    names = (one.name for one in datasets.all())
    left = {name: 1 - float(datasets.ledger(name).account.share) for name in names}
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return Response(call.state.metrics.text(left), 200, media_type=kind)


# ---- What a server is started with, told to its workers through the environment ------------------


VARIABLE = "SOURDINE_SERVER"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server runs."""

    store: str
    """The address of its store."""
    tick: float = 0.25
    """Seconds: answers leave after a whole number of ticks, so that their time tells nothing finer
    of the data. 0 lets them leave at once."""
    witness: str | None = None
    """A file on another disk that remembers how far the ledgers have got; None for none."""
    behind_proxy: bool = False
    """Whether a proxy with TLS stands in front: cookies are then for HTTPS alone."""
    folder: str | None = None
    """The folder below which data must lie that an owner registers over HTTP; without one, none is
    registered so. The command ``serve add-data`` is not bound to it."""

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
    """The store, the sessions, what was counted: one for each worker."""

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
        granted = self.store.grants.get
        if found is None or not (caller.sees_all or granted(name, caller.name)):
            raise NotGrantedError.of("data set")
        return found

    def visible_guard(self, name: str, caller: Caller) -> Guard:
        """Return a guard that somebody may see; who may not hears that there is none."""
        found = self.store.guards.get(name) if NAME.fullmatch(name) else None
        granted = self.store.guards.grant
        if found is None or not (caller.sees_all or granted(name, caller.name)):
            raise NotGrantedError.of("guard")
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
            what = "be readable where its owner registered it"
            hint = "Tell its owner; nothing was charged."
            raise RefusedError(409, "the data set", what, "", hint) from None

    def curve(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return a curve that was computed before, or compute it; the oldest are forgotten."""
        with self._lock:
            found = self._curves.get(key)
        if found is None:
            found = compute()
            with self._lock:
                self._curves[key] = found
                if len(self._curves) > MOST_CURVES:
                    self._curves.popitem(last=False)
        return found

    def close(self) -> None:
        """Count what surveys accepted, and let go of the store."""
        self.surveys.stop()
        self.store.close()
