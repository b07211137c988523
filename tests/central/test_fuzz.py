"""Thousands of random calls on random neighbours: an onlooker sees no difference.

``SOURDINE_FUZZ`` sets how many; ``make simulate`` runs ten thousand.
"""

import json
import logging
import os
import random
import warnings

import numpy as np
import pytest

import sourdine as sd
from sourdine.audit import replay

CALLS = int(os.environ.get("SOURDINE_FUZZ", "240"))
BATCH = 60

NUMBERS = (0, 1, -1, 5, 9.5, 10, 3.25, 1e9, -1e9, float("nan"), float("inf"), float("-inf"), None)
ODD = (*NUMBERS, "7", "text", "", True, 2**70)
GRIDS = ({"bounds": (0, 10), "step": 1}, {"bounds": (0, 10)}, {"bounds": (-3, 9), "step": 0.5},
         {"bounds": (100, 101)})  # fmt: skip
METHODS = ("auto", "joint", "nearest", "exponential", "recursive", "inverse_sensitivity",
           "histogram", "tree", "jointexp", "laplace", "piecewise_laplace", "hybrid", "levels",
           "anchors")  # fmt: skip


def statistic(rng):
    """Return a random public call."""
    grid = rng.choice(GRIDS)
    epsilon = rng.choice((0.05, 0.5, 1, 4))
    relation = rng.choice(("add_remove", "substitute"))
    common = {"epsilon": epsilon, "relation": relation}
    kind = rng.choice(("count", "sum", "mean", "variance", "histogram", "keys", "quantiles"))
    if kind == "count":
        return relation, lambda x: sd.count(x, **common)
    if kind == "histogram":
        bins = rng.choice((3, [0, 2, 5, 10]))
        bounds = {"bounds": (0, 10)} if isinstance(bins, int) else {}
        return relation, lambda x: sd.histogram(x, bins=bins, **bounds, **common)
    if kind == "keys":
        return relation, lambda x: sd.histogram(x, categories=["5", "7", "text"], **common)
    if kind == "quantiles":
        q = rng.choice(([0.5], [0.1, 0.9], [0.25, 0.5, 0.75], [i / 10 for i in range(1, 10)]))
        method = rng.choice(METHODS)
        if method in ("hybrid", "levels", "anchors") and len(q) < 3:
            method = "auto"
        more = {"interval": 0.9} if method == "auto" and rng.random() < 0.3 else {}
        return relation, lambda x: sd.quantiles(x, q, method=method, **more, **grid, **common)
    function = {"sum": sd.sum, "mean": sd.mean, "variance": sd.variance}[kind]
    return relation, lambda x: function(x, **grid, **common)


def neighbours(rng, relation):
    values = rng.choice((NUMBERS, ODD, NUMBERS[:6]))
    data = [rng.choice(values) for _ in range(rng.choice((0, 1, 2, 3, 8, 30)))]
    other = list(data)
    at = rng.randrange(len(data)) if data else None
    if relation == "substitute" and at is not None:
        other[at] = rng.choice(values)
    elif relation == "add_remove" and at is not None and rng.random() < 0.5:
        del other[at]
    elif relation == "add_remove":
        other.insert(rng.randint(0, len(data)), rng.choice(values))
    return data, other


def arrays(rng, pair):
    """Sometimes hand over NumPy arrays of floats instead of lists of anything."""
    plain = all(v is None or isinstance(v, (int, float)) for v in (*pair[0], *pair[1]))
    if not plain or rng.random() < 0.5:
        return pair
    return tuple(np.array([np.nan if v is None else float(v) for v in part]) for part in pair)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(CALLS // BATCH))
def test_neighbours_look_alike(batch, caplog):
    caplog.set_level(logging.DEBUG)
    for number in range(BATCH):
        seed = batch * BATCH + number
        rng = random.Random(seed)  # noqa: S311 - a test
        relation, call = statistic(rng)
        pair = arrays(rng, neighbours(rng, relation))
        written = []

        def seen(x, call=call, written=written):
            release = call(x)
            written.append(release.to_json())
            json.loads(written[-1])
            release.interval(0.9)
            return release

        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = replay(seen, *pair)
        assert result.holds, (seed, result.faults)
        assert len(written) == 2
        assert written[0] == written[1], seed
        assert not warned, (seed, [str(w.message) for w in warned])
        assert not caplog.records, seed
