"""What the tests of the statistics share: simulations, and how far a record moves a sum."""

from __future__ import annotations

from itertools import combinations_with_replacement

import attrs
import numpy as np
import pytest

from sourdine.frames.frame import Frame
from sourdine.noise import SeededSource
from sourdine.privacy import SUBSTITUTE

LAST = 3
"""The highest tick of small inputs."""
RNG = np.random.default_rng(8)
SAMPLES = {
    "uniform": RNG.uniform(0, 1000, 200),
    "skewed": np.round(np.exp(RNG.normal(4, 1, 200)), -1),
    "one value": np.where(RNG.uniform(size=200) < 0.9, 100.0, RNG.uniform(0, 1000, 200)),
    "at a bound": np.zeros(200),
}


@pytest.fixture(params=["add_remove", "substitute"])
def relation(request):
    return request.param


@pytest.fixture(params=SAMPLES.values(), ids=SAMPLES)
def sample(request):
    """200 values between 0 and 1000."""
    return request.param


@pytest.fixture
def uniform():
    """200 values between 0 and 1000, uniform."""
    return SAMPLES["uniform"]


@pytest.fixture
def simulated():
    """Values and ends of seeded releases."""

    def run(statistic, x, runs=150, of="sample"):
        data, seeded = Frame(x), attrs.evolve(statistic, source=SeededSource(5))
        releases = [seeded.release(data) for _ in range(runs)]
        ends = np.array([r.interval(of=of) for r in releases], float)
        return np.array([r.value for r in releases], float), ends[:, 0], ends[:, 1]

    return run


@pytest.fixture
def shortest():
    """The width of the shortest interval around a value that would cover 95% of runs."""

    def width(values, truth):
        return 2 * np.quantile(np.abs(values - truth), 0.95)

    return width


def inputs(most=3):
    return [x for n in range(most + 1) for x in combinations_with_replacement(range(LAST + 1), n)]


def neighbours(x, relation):
    """Under substitution a value may also become missing, or a missing one appear."""
    fewer = [x[:i] + x[i + 1 :] for i in range(len(x))]
    more = [(*x, t) for t in range(LAST + 1)]
    replaced = [(*y, t) for y in fewer for t in range(LAST + 1)] if relation is SUBSTITUTE else []
    return fewer + more + replaced


@pytest.fixture
def furthest():
    """The longest L1 way from what small inputs add up to, to that of their neighbours."""

    def way(of, relation):
        return max(
            sum(abs(a - b) for a, b in zip(of(x), of(y), strict=True))
            for x in inputs()
            for y in neighbours(x, relation)
        )

    return way


@pytest.fixture
def refused():
    """A call is refused, with a sentence that holds these words."""
    from sourdine.errors import ParameterError, ParameterTypeError

    def check(call, text):
        with pytest.raises((ParameterError, ParameterTypeError)) as caught:
            call()
        assert text in str(caught.value)

    return check
