"""Fuzz a server by its own description: no answer of 5xx, and hundreds of accepted releases.

A server runs in this process, on loopback, with a data set whose total never ends. All cases are
drawn by schemathesis: a third from ``/api/v1/openapi.json``, where most questions are refused, and
the rest from the description of the one data set, which names its columns: of these enough must be
accepted that draws themselves are met by odd parameters.

Run with ``python benchmarks/server_fuzz.py --cases 5000 --accepted 500``; exit status 1 if an
answer was of 5xx, or too few releases were accepted.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from sourdine.server.auth import new_token
from sourdine.server.datasets import Registering, registered
from sourdine.server.running import add_person, serving
from sourdine.server.state import ServerSettings
from sourdine.server.store.store import ServerStore

OPERATIONS = {
    "login": 4, "make_token": 4, "listing": 1, "reading": 1, "plan": 20, "could": 20, "curve": 4,
    "release": 30, "history": 2, "one_release": 2, "grants": 1, "grant": 3, "register": 4, "me": 1,
    "tokens": 1, "check": 1, "report": 1, "health": 1, "dataset_openapi": 1,
}  # fmt: skip
"""How often each is tried, in parts."""
MOST = {"report": 3, "check": 10}
"""What reads and draws all that was released before takes long here."""
COLUMNS: dict[str, Any] = {
    "age": {"bounds": [0, 120], "step": 1},
    "size": {"bounds": ["-1/3", "20/3"], "step": "1/3"},
    "day": {"bounds": ["2020-01-01", "2020-02-01"]},
    "sex": {"keys": ["f", "m"]},
}


def made_store(folder: Path) -> tuple[str, str]:
    """Return the address of a store, and the token of an owner who may also ask."""
    data = folder / "people.csv"
    rows = [f"{20 + i % 60},{'fm'[i % 2]},{i % 7},2020-01-{1 + i % 28:02d}" for i in range(3000)]
    data.write_text("\n".join(["age,sex,size,day", *rows]) + "\n")
    address = f"sqlite:///{folder}/store.db"
    store = ServerStore.create(address)
    add_person(store, "olga", "owner", "correct horse battery")
    said = Registering(
        name="people",
        source=str(data),
        epsilon=10**9,
        delta=0.5,
        reserve=0.5,
        n=3000,
        columns=COLUMNS,
    )
    store.datasets.add(registered(said))
    store.grants.give("people", "olga", 10**9)
    token = new_token(store, "olga", "api", days=1)
    store.close()
    return address, token


class Fuzz:
    """Sends cases and counts what comes back."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=600
        )
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.broken: list[str] = []
        self.failed: list[str] = []
        self.accepted = 0

    def send(self, name: str, method: str, path: str, **parts: Any) -> None:
        """Send a case."""
        headers = {k: v for k, v in parts.pop("headers", {}).items() if str(v).isascii()}
        try:
            answer = self.client.request(method, path, headers=headers, **parts)
        except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError, ValueError):
            return  # no request that could be sent
        self.statuses[name, answer.status_code] += 1
        if name == "release" and answer.status_code == 200:
            self.accepted += 1
            if answer.json()["state"] != "answered":
                self.failed.append(f"{path} {str(parts)[:400]}")
        if answer.status_code >= 500:
            self.broken.append(f"{name} {path} {str(parts)[:400]}")

    def described(self, path: str, cases: int) -> None:
        """Send cases drawn from a description that the server gives."""
        schema = schemathesis.openapi.from_dict(self.client.get(path).json())
        there = {str(one.ok().definition.raw["operationId"]) for one in schema.get_all_operations()}
        whole = sum(share for name, share in OPERATIONS.items() if name in there)
        for found in schema.get_all_operations():
            operation = found.ok()
            name = str(operation.definition.raw["operationId"])
            if name not in OPERATIONS:
                continue
            share = max(cases * OPERATIONS[name] // whole, 1)
            share = min(share, MOST.get(name, share))
            self._tried(name, operation, share)

    def _tried(self, name: str, operation: Any, cases: int) -> None:
        base = str(self.client.base_url).rstrip("/")

        @given(case=operation.as_strategy())
        @settings(
            max_examples=cases, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        def tried(case: Any) -> None:
            parts = case.as_transport_kwargs(base_url=base)
            if random.random() < 0.9:  # noqa: S311 - the data set that is there
                parts["url"] = _at_people(case, base)
            kept = {k: parts[k] for k in ("json", "params") if parts.get(k) is not None}
            headers = dict(parts.get("headers") or {})
            if random.random() < 0.95:  # noqa: S311 - somebody who is known
                headers = {k: v for k, v in headers.items() if k.lower() != "authorization"}
            self.send(name, parts["method"], parts["url"], headers=headers, **kept)

        tried()


def _at_people(case: Any, base: str) -> str:
    path = case.path.replace("{dataset}", "people")
    for name, value in (case.path_parameters or {}).items():
        path = path.replace(f"{{{name}}}", str(value).replace("/", "-"))
    return f"{base.rstrip('/')}{path}"


def main() -> None:
    """Fuzz, and say what was found."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--cases", type=int, default=5000)
    reader.add_argument("--accepted", type=int, default=500)
    wanted = reader.parse_args()
    began = perf_counter()
    with TemporaryDirectory() as folder:
        address, token = made_store(Path(folder))
        with serving(ServerSettings(store=address, tick=0, folder=folder)) as url:
            fuzz = Fuzz(url, token)
            fuzz.described("/api/v1/openapi.json", wanted.cases // 3)
            fuzz.described("/api/v1/datasets/people/openapi.json", wanted.cases * 2 // 3 + 10)
            fuzz.client.close()
        store = ServerStore.open(address)
        sound = all(store.check())
        store.close()
    sent = sum(fuzz.statuses.values())
    for (name, status), number in sorted(fuzz.statuses.items()):
        print(f"{name:<12} {status}  {number}")
    print(f"{sent} cases, {fuzz.accepted} accepted releases, {len(fuzz.broken)} answers of 5xx, "
          f"{len(fuzz.failed)} not drawn, "
          f"ledger {'sound' if sound else 'BROKEN'}, {perf_counter() - began:.0f} s")  # fmt: skip
    for text in fuzz.broken[:20]:
        print("BROKEN", text)
    for text in fuzz.failed[:20]:
        print("charged, and not drawn:", text)
    if fuzz.broken or fuzz.accepted < wanted.accepted or not sound:
        sys.exit(1)


if __name__ == "__main__":
    main()
