"""A server in a process of its own: commands, the client, broken connections, a gentle stop."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from fractions import Fraction
from io import StringIO
from shutil import copy
from threading import Thread
from time import monotonic, sleep
from types import SimpleNamespace

import httpx
import pytest

from serving import Api, data_file, served
from session_calls import AGES
from sourdine import Remote
from sourdine.cli import main
from sourdine.client.connection import SeenHeads
from sourdine.errors import ParameterError, SourdineError
from sourdine.server.store.store import ServerStore
from sourdine.survey.serving import bound_socket

COMMAND = [sys.executable, "-c", "from sourdine.cli import main; main()"]
TERMS = ["--epsilon", "3", "--n", "600", "--columns", "columns.toml"]
COLUMNS = '[age]\nbounds = [0, 120]\nstep = 1\n\n[sex]\nkeys = ["f", "m"]\n'


def run(folder, *words):
    """Run a command in this process: its status, and what it printed."""
    out, err, status = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "argv", ["sourdine", "serve", *words])
        try:
            main()
        except SystemExit as ended:
            status = ended.code or 0
    return SimpleNamespace(returncode=status, stdout=out.getvalue(), stderr=err.getvalue())


@contextmanager
def running(folder, *words):
    """Yield the address of a server, and its process."""
    log = (folder / "server.log").open("w+")
    process = subprocess.Popen(  # noqa: S603
        [*COMMAND, "serve", "--port", "0", *words],
        cwd=folder,
        stderr=log,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    try:
        yield wait_for(folder / "server.log", process), process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
        log.close()


def wait_for(log, process):
    end = monotonic() + 120
    while monotonic() < end:
        assert process.poll() is None, log.read_text()
        found = re.search(r"Serving (http://\S+?)/ ", log.read_text())
        if found is not None:
            try:
                if httpx.get(f"{found[1]}/api/v1/healthz").status_code == 200:
                    return found[1]
            except httpx.TransportError:
                pass
        sleep(0.05)
    pytest.fail(log.read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a store that commands made, and a token of an analyst."""
    place = tmp_path_factory.mktemp("serve")
    data_file(place, AGES)
    (place / "columns.toml").write_text(COLUMNS)
    (place / "password").write_text("correct horse battery\n")
    for words in (
        ["init"],
        ["add-person", "olga", "--role", "owner", "--password-file", "password"],
        ["add-person", "anna"],
        ["add-data", "people", "people.csv", *TERMS],
        ["grant", "people", "anna", "--epsilon", "2"],
    ):
        done = run(place, *words)
        assert done.returncode == 0, done.stderr
    done = run(place, "token", "anna", "--label", "tests")
    (place / "token").write_text(done.stdout)
    return place


@pytest.mark.slow
def test_commands_keep_a_store(folder):
    assert "sound" in run(folder, "check").stdout
    lines = run(folder, "export", "people").stdout.splitlines()
    assert [json.loads(line)["table"] for line in lines][:2] == ["book", "terms"]
    assert run(folder, "backup", "copy.db").returncode == 0
    assert run(folder, "check", "--store", "sqlite:///copy.db").returncode == 0
    for words, said in {
        ("add-person", "anna"): "NAME must be new",
        ("add-person", "x", "--role", "king"): "--role must be",
        (
            "add-data",
            "x",
            "nowhere.csv",
            "--epsilon",
            "1",
        ): "SOURCE must name readable data",
        (
            "add-data",
            "x",
            "people.csv",
        ): "--epsilon must be given: the total that all releases may cost together",
        ("grant", "people", "nobody", "--epsilon", "1"): "ANALYST must exist in this store",
        ("token", "nobody"): "NAME must be the name of a user",
        ("export", "nothing"): "DATASET must be a data set of this store",
        ("--tick", "100"): "--tick must be from 0 to 60",
        ("--host", "0.0.0.0"): "--host must be this machine for a demo",  # noqa: S104
        ("--store", "sqlite:///none.db"): "no such file",
        ("init",): "File already exists",
    }.items():
        done = run(folder, *words)
        assert done.returncode == 2, (words, done.stderr)
        assert said in done.stderr


class Breaking(httpx.HTTPTransport):
    """Loses the answers to the first requests that charge."""

    def __init__(self, times):
        super().__init__()
        self.left, self.sent = times, []

    def handle_request(self, request):
        answer = super().handle_request(request)
        if request.method == "POST":
            self.sent.append(request.headers["idempotency-key"])
            if self.left:
                self.left -= 1
                answer.read()
                answer.close()
                raise httpx.RemoteProtocolError("the connection broke")
        return answer


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
def test_a_connection_that_breaks_twice_is_one_charge(folder):
    token = (folder / "token").read_text().strip()
    with running(folder, "--store", "sqlite:///sourdine.db", "--workers", "2", "--tick", "0") as (
        url,
        process,
    ):
        transport = Breaking(2)
        with Remote(url, token, transport=transport) as remote:
            session = remote.session("people")
            before = len(session.history)
            release = session.mean(column="age", epsilon=0.25)
            assert release.mechanism.bounds == (0, 120)
            assert len(transport.sent) == 3
            assert len(set(transport.sent)) == 1
            history = session.history
            assert len(history) == before + 1
            assert history[-1].release == release
            assert session.spent.epsilon == Fraction(1, 4)
        stopped_gently(url, token, process)


def stopped_gently(url, token, process):
    """Check that what is under way when a server is stopped is answered."""
    answers = []
    asked = {"statistic": "median", "column": "age", "epsilon": 0.1}
    waiting = Thread(target=lambda: answers.append(Api(url, token).release(asked)))
    waiting.start()
    sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    waiting.join(30)
    assert [answer.status_code for answer in answers] == [200]


@pytest.mark.slow
def test_a_ledger_that_went_back_is_refused(tmp_path, folder):
    for name in ("people.csv", "sourdine.db", "token"):
        copy(folder / name, tmp_path / name)
    token = (tmp_path / "token").read_text().strip()
    store = ServerStore.open(f"sqlite:///{tmp_path}/sourdine.db")
    store.backup(tmp_path / "older.db")
    store.close()
    witness = str(tmp_path / "witness")
    address = f"sqlite:///{tmp_path}/sourdine.db"
    assert run(tmp_path, "add-witness", witness, "--store", address).returncode == 0
    with served(address, witness=witness) as url, Remote(url, token) as remote:
        session = remote.session("people")
        session.count(epsilon=0.01)
        session.count(epsilon=0.01)
        seen = remote._connection._seen
    older = f"sqlite:///{tmp_path}/older.db"
    with served(older) as url, Remote(url, token) as again:
        again._connection._seen = seen
        with pytest.raises(SourdineError, match=r"people must hold line .* as it was seen"):
            again.session("people")
        again._connection._seen = other = SeenHeads(url)
        other.put("people", 1, "0" * 32)
        with pytest.raises(SourdineError, match="an older or a different copy"):
            again.session("people")
        assert other.get("people") == (1, "0" * 32)
    with pytest.raises(ParameterError, match=r"which the witness .* has seen"):
        ServerStore.open(older, witness=witness)
    assert run(tmp_path, "check", "--store", older, "--witness", witness).returncode == 2


def test_tokens_do_not_travel_in_the_clear():
    for url in ("http://statistics.example", "ftp://127.0.0.1", "statistics.example", ""):
        with pytest.raises(ParameterError, match="url must begin with https://"):
            Remote(url, "sourdine-x")
    for url in ("https://statistics.example/", "http://localhost:1", "http://127.0.0.1:1"):
        Remote(url, "sourdine-x").close()
    with pytest.raises(ParameterError, match="token must be a token issued by the server"):
        Remote("http://127.0.0.1:1", "")


def test_a_server_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr("sourdine.client.connection.PAUSE", 0)
    refused = pytest.raises(SourdineError, match=r"Nothing was charged\. Check the")
    with Remote("http://127.0.0.1:9", "sourdine-x") as remote, refused:
        remote.session("people")


def test_answers_do_not_wait_for_acknowledgements():
    """The protocol must be named, or asyncio leaves an answer's second packet to wait 40 ms."""
    for host in ("127.0.0.1", "::1"):
        with bound_socket(host, 0) as bound:
            assert bound.proto == socket.IPPROTO_TCP


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
def test_alone_it_is_a_demo(tmp_path):
    with running(tmp_path, "--tick", "0") as (url, process):
        assert len(list(tmp_path.glob("sourdine-*/demo.db"))) == 1
        log = (tmp_path / "server.log").read_text()
        password = re.search(r"analyst +password (\S+)", log)[1]
        own = {"headers": {"sec-fetch-site": "same-origin"}}
        api = Api(url)
        assert api.post("/login", {"name": "analyst", "password": password}).status_code == 200
        token = api.post("/tokens", {}, **own).json()["token"]
        with Remote(url, token) as remote:
            wages = remote.session("wages")
            assert 10_000 < wages.mean(column="wage", epsilon=1).value < 100_000
            assert wages.facts["columns"]["wage"]["bounds"] == [0, 200_000]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert list(tmp_path.glob("sourdine-*")) == []
