"""Processes of tests end at once."""

from __future__ import annotations

import pytest

from worker_exit import end_worker


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    end_worker(config)
