"""Processes of pytest-xdist end as soon as all is reported, without clearing their modules.

That takes seconds in a process that holds every package, and some extension modules then print
that they leak. What is registered with `atexit` still runs, such as what saves a coverage.
"""

from __future__ import annotations

import atexit
import os
import sys

__all__ = ["end_worker"]


def end_worker(config):
    """End this process if it is a worker, whose results the main process has by now.

    The main process decides by these how it exits itself; it takes a worker that sent no results
    for one that crashed.
    """
    if hasattr(config, "workerinput"):
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
