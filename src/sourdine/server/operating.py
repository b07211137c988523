"""For whoever runs the server: whether it is well, and what it counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from sourdine.server.dataset_schema import dataset_document
from sourdine.server.incoming import OVERSEERS, Operation, reply
from sourdine.server.openapi import document

if TYPE_CHECKING:
    from sourdine.server.incoming import Incoming

__all__ = ["OPERATIONS"]


def health(call: Incoming) -> Response:
    """Answer that the worker runs and the store can be read; nothing of what is in it."""
    call.state.store.database.read(lambda rows: rows.one("SELECT 1"))
    return reply({"status": "ok"})


def metrics(call: Incoming) -> Response:
    """Answer with what was counted, as Prometheus reads it."""
    datasets = call.state.store.datasets
    left = [
        (one.name, {"share": 1 - float(datasets.ledger(one.name).account.share)})
        for one in datasets.all()
    ]
    return Response(
        call.state.metrics.text(left), 200, media_type="text/plain; version=0.0.4; charset=utf-8"
    )


def openapi(call: Incoming) -> Response:
    """Answer with this API, described."""
    del call
    from sourdine.server.routes import API  # noqa: PLC0415 - it holds this very route

    return reply(document(API))


def dataset_openapi(call: Incoming) -> Response:
    """Answer with this API, described for one data set."""
    from sourdine.server.routes import API  # noqa: PLC0415 - it holds this very route

    return reply(dataset_document(API, call.dataset))


OPERATIONS = (
    Operation(
        method="GET",
        path="/datasets/{dataset}/openapi.json",
        does=dataset_openapi,
        text="This API, described for one data set: its columns and groups.",
    ),
    Operation(
        method="GET",
        path="/healthz",
        does=health,
        text="Whether the server is well.",
        roles=(),
    ),
    Operation(
        method="GET",
        path="/openapi.json",
        does=openapi,
        text="This API, described.",
        roles=(),
    ),
    Operation(
        method="GET",
        path="/metrics",
        does=metrics,
        text="What was counted, as Prometheus reads it.",
        roles=OVERSEERS,
        gives="text/plain",
    ),
)
