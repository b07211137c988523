"""The log: one JSON object a line, of public facts alone.

A line has the time, the method, the route as it is declared, the data set, who asked, the status
and the milliseconds. No body, no parameter, no answer, no address of a person is in it. *Checked
by* ``test_the_log_holds_no_private_value``.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TextIO

from sourdine.append_only import now

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["write_line"]


def write_line(event: str, facts: Mapping[str, object], stream: TextIO | None = None) -> None:
    """Write a line of the log.

    Examples
    --------
    >>> write_line("request", {"status": 200}, sys.stdout)  # doctest: +ELLIPSIS
    {"time": "...", "event": "request", "status": 200}
    """
    line = json.dumps({"time": now(), "event": event, **facts}, ensure_ascii=True)
    out = sys.stderr if stream is None else stream
    try:
        out.write(f"{line}\n")
        out.flush()
    except (OSError, ValueError):  # a log that cannot be written stops nobody
        return
