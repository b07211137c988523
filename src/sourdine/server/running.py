"""Starting workers, and stopping them when what is under way is done."""

from __future__ import annotations

import asyncio
import socket
from contextlib import contextmanager
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

from sourdine.errors import SourdineError
from sourdine.server.store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sourdine.server.settings import ServerSettings

__all__ = ["serve", "serving"]

GRACE = 30
"""Seconds for what is under way when the server stops."""


def serve(  # noqa: PLR0913 - what a person may say of a server
    settings: ServerSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    say: Callable[[str], None] = lambda _: None,
    listening: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C; then finish what is under way.

    Parameters
    ----------
    settings
        How the server runs.
    host, port
        Where it listens; port 0 takes a free one.
    workers
        How many processes answer.
    say
        Told where it listens.
    listening
        Given the address before anybody is answered.

    Raises
    ------
    SourdineError
        The store cannot be opened, is behind its witness, or the port cannot be listened on.
    """
    import uvicorn  # noqa: PLC0415 - an extra, loaded late
    from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

    from sourdine.server.connections import HurriedProtocol  # noqa: PLC0415

    ServerStore.open(settings.store, witness=settings.witness).close()
    settings.tell_workers()
    bound = _bound(host, port)
    config = uvicorn.Config(
        "sourdine.server.app:worker",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=settings.behind_proxy,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=16_384,
        http=HurriedProtocol,
        ws="none",
    )
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
    """Serve in a thread of this process while a block runs; yield the address, on this machine.

    Parameters
    ----------
    settings
        How the server runs.
    """
    import uvicorn  # noqa: PLC0415 - an extra, loaded late

    from sourdine.server.app import build  # noqa: PLC0415
    from sourdine.server.connections import HurriedProtocol  # noqa: PLC0415

    bound = _bound("127.0.0.1", 0)
    config = uvicorn.Config(
        build(settings), log_level="critical", lifespan="on", http=HurriedProtocol
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


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Where the protocol is named, asyncio sends without delay (TCP_NODELAY); otherwise an answer
    # waits 40 ms for an acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SourdineError(f"{host}:{port} could not be listened on: {error.strerror}.") from None
    bound.set_inheritable(True)
    return bound
