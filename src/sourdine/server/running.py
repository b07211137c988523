"""Starting workers, and stopping them when what is under way is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourdine.server.settings import ServerSettings

__all__ = ["serve"]

GRACE = 30
"""Seconds for what is under way when the server stops."""


def serve(
    settings: ServerSettings, *, host: str = "127.0.0.1", port: int = 8000, workers: int = 1
) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Parameters
    ----------
    settings
        How the server runs.
    host, port
        Where it listens.
    workers
        How many processes answer.
    """
    import uvicorn  # noqa: PLC0415 - an extra, loaded late

    settings.tell_workers()
    uvicorn.run(
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
        limit_concurrency=512,
        h11_max_incomplete_event_size=16_384,
    )
