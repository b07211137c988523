"""A server in this process, on loopback, for tests that speak HTTP to it."""

from __future__ import annotations

import json
import ssl
from uuid import uuid4

import httpx
from starlette.responses import Response

from sourdine.server.auth import COOKIE, Caller, new_token
from sourdine.server.datasets import read_columns
from sourdine.server.requests import Incoming
from sourdine.server.running import add_person, serving
from sourdine.server.state import ServerSettings
from sourdine.server.store.base import Dataset, Person, Token
from sourdine.server.store.store import ServerStore

__all__ = [
    "COLUMNS",
    "COUNT",
    "KEY",
    "MEAN",
    "NO_TRUST",
    "PASSWORD",
    "Api",
    "called",
    "data_file",
    "filled_store",
    "problem",
    "served",
]

PASSWORD = "correct horse battery"  # noqa: S105 - of a test
COLUMNS = {"age": {"bounds": [0, 120], "step": 1}, "sex": {"keys": ["f", "m"]}}
MEAN = {"statistic": "mean", "column": "age", "epsilon": 0.01}
COUNT = {"statistic": "count", "epsilon": 0.01}
KEY = "0123456789abcdef"
NO_TRUST = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Of a client on loopback, which speaks no TLS: to read the usual certificates takes longer."""


def served(address, **settings):
    """Serve a store while a block runs; without ticks, and owners reach all files."""
    return serving(ServerSettings(store=address, **{"tick": 0, "folder": "/", **settings}))


def data_file(folder, data):
    """Return the path of a CSV file of columns."""
    path = folder / "people.csv"
    rows = zip(*data.values(), strict=True)
    lines = [",".join(data), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def filled_store(address, path, terms, columns=None):
    """Return a store with data sets, people who may log in, and a token for each."""
    store = ServerStore.create(address)
    for name in ("people", "others"):
        facts = json.dumps(read_columns(columns or {}))
        dataset = Dataset(name=name, terms=terms, source=str(path), columns=facts, n_about=600)
        store.datasets.add(dataset)
    add_person(store, "olga", "owner", PASSWORD)
    for name, role in {"anna": "analyst", "ben": "analyst", "udo": "auditor"}.items():
        store.people.add(Person(name=name, role=role))
    store.grants.give("people", "anna", 1000)
    store.grants.give("others", "ben", 1000)
    tokens = {
        name: new_token(store, name, "api", days=1) for name in ("olga", "anna", "ben", "udo")
    }
    return store, tokens


class Api:
    """Calls of the API by one person."""

    def __init__(self, url, token=None):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        alone = httpx.Limits(max_keepalive_connections=0)  # so no test has to close it
        self.client = httpx.Client(
            base_url=f"{url}/api/v1", headers=headers, timeout=30, limits=alone, verify=NO_TRUST
        )

    @classmethod
    def logged_in(cls, url, store, name):
        """Return the calls of somebody's browser."""
        api, cookie = cls(url), new_token(store, name, "session", days=1)
        own = {"cookie": f"{COOKIE}={cookie}", "sec-fetch-site": "same-origin"}
        api.client.headers.update(own)
        return api

    def get(self, path, **more):
        return self.client.get(path, **more)

    def post(self, path, body=None, *, key=None, **more):
        headers = {**({"idempotency-key": key} if key else {}), **more.pop("headers", {})}
        return self.client.post(path, json=body, headers=headers, **more)

    def release(self, body, dataset="people", key=None):
        key = key or f"key-{uuid4().hex}"
        return self.post(f"/datasets/{dataset}/releases", body, key=key)


def called(state, name, operation, body, dataset="people"):
    """Return what an operation answers to somebody, without HTTP; what it raises is raised."""
    person = state.store.people.get(name)
    token = Token(sha256="", who=name, kind="api", until=0)
    call = Incoming(
        state=state,
        caller=Caller(person=person, token=token),
        path={"dataset": dataset},
        headers={"idempotency-key": f"key-{uuid4().hex}"},
        data=json.dumps(body).encode(),
    )
    answer = operation(call)
    return json.loads(bytes((answer if isinstance(answer, Response) else answer()).body))


def problem(answer, status, kind):
    """Return what a refusal says, once it is known to be one."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    facts = answer.json()
    assert facts["type"] == f"urn:sourdine:{kind}"
    assert facts["status"] == status
    return facts
