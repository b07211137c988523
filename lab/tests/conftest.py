"""Properties are drawn the same way in every run; every claim is judged once a run."""

from __future__ import annotations

import os
import pickle
from fcntl import LOCK_EX, flock
from functools import cache

import pytest
from hypothesis import settings

from sourdine_lab.claims.verdicts import all_claims
from worker_exit import end_worker

settings.register_profile("sourdine", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("sourdine")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    end_worker(config)


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    """Judge a claim, its forms exchanged too; what any worker has judged is read from a file."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "judged"
    folder.mkdir(exist_ok=True)

    @cache
    def found(row, data):
        path = folder / f"{row}{'' if data is None else '-table'}"
        with path.open("a+b") as file:
            flock(file, LOCK_EX)
            if not path.stat().st_size:
                one = all_claims()[row].judge(twice=True)
                file.write(pickle.dumps((one.printed, one.instead, one.steady)))
            file.seek(0)
            return pickle.load(file)  # noqa: S301 - written a moment ago, by us

    def judge(row):
        printed, instead, steady = found(row, os.environ.get("SOURDINE_DATA"))
        return all_claims()[row].judged(printed, instead, steady=steady)

    return judge
