"""What is counted, as Prometheus reads it: requests, latencies, releases, budgets left."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter, defaultdict
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Metrics"]

EDGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


class Metrics:
    """Counts of one worker; no label holds what was asked or answered.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.count("GET", "/api/v1/datasets", 200, 0.02)
    >>> print(metrics.text([("wages", {"epsilon": 0.75})]).splitlines()[-1])
    sourdine_remaining{dataset="wages",kind="epsilon"} 0.75
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(EDGES) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request: of which route, with which answer, and how long it took."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[route][bisect_left(EDGES, seconds)] += 1
            self._seconds[route] += seconds

    def text(self, remaining: Iterable[tuple[str, Mapping[str, float]]]) -> str:
        """Return everything in the text format of Prometheus.

        Parameters
        ----------
        remaining
            What is left of each data set, by kind.
        """
        worker = os.getpid()
        with self._lock:
            lines = ["# TYPE sourdine_requests_total counter"]
            for (method, route, status), number in sorted(self._requests.items()):
                labels = f'worker="{worker}",method="{method}",route="{route}",status="{status}"'
                lines.append(f"sourdine_requests_total{{{labels}}} {number}")
            lines.append("# TYPE sourdine_request_seconds histogram")
            for route, buckets in sorted(self._buckets.items()):
                lines += self._histogram(route, buckets, worker)
        lines.append("# TYPE sourdine_remaining gauge")
        lines += [
            f'sourdine_remaining{{dataset="{name}",kind="{kind}"}} {value:g}'
            for name, kinds in remaining
            for kind, value in kinds.items()
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, buckets: list[int], worker: int) -> list[str]:
        labels = f'worker="{worker}",route="{route}"'
        sums = list(accumulate(buckets))
        edges = [*(f"{edge:g}" for edge in EDGES), "+Inf"]
        return [
            *(
                f'sourdine_request_seconds_bucket{{{labels},le="{edge}"}} {number}'
                for edge, number in zip(edges, sums, strict=True)
            ),
            f"sourdine_request_seconds_sum{{{labels}}} {self._seconds[route]:.6f}",
            f"sourdine_request_seconds_count{{{labels}}} {sums[-1]}",
        ]
