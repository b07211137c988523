"""Properties are drawn the same way in every run; a server of PostgreSQL for who needs one."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from postgres import BINARIES, Cluster
from programs import found, missing
from tiers import assign
from worker_exit import end_worker

settings.register_profile("sourdine", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sourdine")

gc.disable()  # until all tests are collected: what is made before stays until the end


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests that start other programs, and divide the cases of large tests between tiers."""
    for item in items:
        if not {"chromium", "postgres_cluster"}.isdisjoint(item.fixturenames):
            item.add_marker("slow")
    assign(items)


def pytest_collection_finish():
    """Spare the garbage collector thousands of tests and modules, each time it runs."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Let the collector free at the end what it was spared, else DuckDB reports leaks."""
    end_worker(config)
    gc.unfreeze()


def pytest_terminal_summary(terminalreporter):
    """Say in red what was not tested because a program is missing."""
    skipped = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ())}
    for reason in sorted(reason for reason in skipped if "NOT TESTED" in reason):
        terminalreporter.write_line(reason.removeprefix("Skipped: "), red=True, bold=True)


@pytest.fixture(scope="session")
def postgres_cluster():
    """Return a server of PostgreSQL for all tests of this process."""
    what = "PostgreSQL was NOT TESTED (apt-get install postgresql; pip install '.[postgres]')"
    path = found("initdb", "SOURDINE_POSTGRES", what, also=BINARIES)
    if find_spec("psycopg") is None:
        missing(f"psycopg was not found, so {what}", "SOURDINE_POSTGRES")
    cluster = Cluster(Path(path).resolve().parent)
    yield cluster
    cluster.stop()


@pytest.fixture
def postgres(postgres_cluster):
    """Return the address of an empty database; it is deleted after the test."""
    dsn = postgres_cluster.create()
    yield dsn
    postgres_cluster.drop(dsn)
