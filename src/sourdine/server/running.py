"""Starting and stopping workers, and setting up a store."""

from __future__ import annotations

import asyncio
import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

from sourdine.errors import SourdineError
from sourdine.server.auth import Passwords
from sourdine.server.datasets import Registering, registered
from sourdine.server.guards import add_demo_guard
from sourdine.server.sources import WAGES
from sourdine.server.store.base import Person, SurveyEntry
from sourdine.server.store.store import ServerStore
from sourdine.server.surveys import OpenSurveys, examined_at
from sourdine.survey.demo import simulated
from sourdine.survey.document import SKELETON, parsed
from sourdine.survey.serving import TimedProtocol, bound_socket
from sourdine.survey.store import Posted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sourdine.server.state import ServerSettings
    from sourdine.server.store.base import Role


# ---- Starting workers, and stopping them when what is under way is done --------------------------


GRACE = 30
"""Seconds for what is under way when the server stops."""


def serve(
    settings: ServerSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    say: Callable[[str], None] = lambda _: None,
    listening: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish what is under way.

    Port 0 takes a free one. ``say`` is told where the server listens, ``listening`` before anybody
    is answered. A store that cannot be opened, or is behind its witness, and a port that cannot be
    listened on raise a `SourdineError`.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    ServerStore.open(settings.store, witness=settings.witness).close()
    settings.tell_workers()
    bound = bound_socket(host, port)
    config = uvicorn.Config(
        "sourdine.server.app:worker", factory=True, host=host, port=port, workers=workers,
        log_level="warning", access_log=False, server_header=False, date_header=False,
        proxy_headers=settings.behind_proxy, timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30, h11_max_incomplete_event_size=16_384, http=TimedProtocol, ws="none",
    )  # fmt: skip
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{bound.getsockname()[1]}"
    listening(url)
    say(f"Serving {url}/ (API at /api/v1/openapi.json)")
    try:
        if workers > 1:
            Multiprocess(config, sockets=[bound]).run()
        else:
            uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        bound.close()


@contextmanager
def serving(settings: ServerSettings) -> Iterator[str]:
    """Serve in a thread of this process while a block runs; yield the address, on this machine."""
    import uvicorn

    from sourdine.server.app import build

    bound = bound_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        build(settings), log_level="critical", lifespan="on", http=TimedProtocol
    )
    server = uvicorn.Server(config)
    thread = Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise SourdineError("the server could not be started.")
            sleep(0.01)
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(GRACE)
        bound.close()


# ---- What commands put into a store: people, data sets, grants; and a store to look at -----------


ROLES: tuple[Role, ...] = ("owner", "analyst", "auditor")
TOTAL, GRANT = 10, 5
INVENTED = 600
"""People who have answered the survey of a demo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPerson:
    """Somebody of the demo, who may be known to everybody."""

    name: str
    password: str


def add_person(store: ServerStore, name: str, role: Role, password: str) -> Person:
    """Write somebody down, with the hash of a password."""
    return store.people.add(Person(name=name, role=role, password=Passwords().hash(password)))


def demo_store(folder: Path) -> tuple[str, list[DemoPerson]]:
    """Make a store with the wages, a guard and three people; return how to log in."""
    address = f"sqlite:///{folder / 'demo.db'}"
    store = ServerStore.create(address)
    people = [DemoPerson(name=role, password=secrets.token_urlsafe(9)) for role in ROLES]
    for role, one in zip(ROLES, people, strict=True):
        add_person(store, one.name, role, one.password)
    columns = {"wage": {"bounds": [0, 200_000], "step": 1, "text": "Annual wage in dollars."}}
    wages = Registering(name="wages", source=WAGES, epsilon=TOTAL, n=250_000, columns=columns)
    store.datasets.add(registered(wages))
    store.grants.give("wages", "analyst", GRANT)
    add_demo_guard(store, folder, ("analyst", "owner"))
    store.close()
    return address, people


def open_sample(address: str, url: str) -> str:
    """Open a survey in a demo's store, which invented people have answered.

    ``url`` is where the server is; the address of the survey's page comes back.
    """
    document = parsed(SKELETON) | {"epsilon": 2, "method": "sample"}
    survey = examined_at(document, url).survey
    if survey is None:
        raise LookupError("a sample that cannot be read")
    store = ServerStore.open(address)
    try:
        draft = SurveyEntry(name=survey.name, document=json.dumps(document))
        opened = OpenSurveys(store)
        entry, _ = opened.open(store.surveys.add(draft), survey)
        lines, _ = simulated(survey, INVENTED)
        with opened.kept(entry) as kept:
            kept.accept([Posted(lines=[line.encode() for line in lines])])
            kept.fold()
    finally:
        store.close()
    return survey.send_to.removesuffix("reports")
