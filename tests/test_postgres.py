"""The server of PostgreSQL that tests use is theirs alone and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

psycopg = pytest.importorskip("psycopg")

HERE = Path(__file__).parent
MADE = """
import sys, time
sys.path.insert(0, {here!r})
from postgres import Cluster
cluster = Cluster({programs!r})
print(cluster.folder, (cluster.folder / "data/postmaster.pid").read_text().split()[0], flush=True)
time.sleep(60)
"""


def runs(process):
    """Return whether a process runs."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", process], capture_output=True, check=False)  # noqa: S603, S607
    return said.stdout.strip()[:1] not in {b"", b"Z"}


@pytest.mark.slow
def test_every_test_has_an_empty_database(postgres, postgres_cluster):
    with psycopg.connect(postgres) as db:
        db.execute("CREATE TABLE mine (x int)")
    other = postgres_cluster.create()
    with psycopg.connect(other) as db:
        found = db.execute("SELECT 1 FROM pg_tables WHERE tablename = 'mine'").fetchall()
    assert not found
    postgres_cluster.drop(other)


@pytest.mark.slow
def test_it_ends_when_its_maker_is_killed(postgres_cluster):
    made = MADE.format(here=str(HERE), programs=str(postgres_cluster._programs))
    with subprocess.Popen([sys.executable, "-c", made], stdout=subprocess.PIPE, text=True) as maker:  # noqa: S603
        folder, server = maker.stdout.readline().split()
        assert runs(server)
        maker.kill()
    patience = time.monotonic() + 20
    while Path(folder).exists() and time.monotonic() < patience:
        time.sleep(0.05)
    assert not Path(folder).exists()
    assert not runs(server)
