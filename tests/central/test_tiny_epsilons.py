"""What is accepted is drawn: no epsilon, however small or large, is charged for nothing."""

from __future__ import annotations

from contextlib import suppress

import pytest

import sourdine as sd
from sourdine.errors import ParameterError, SourdineError
from sourdine.questions import STATISTICS

ROWS = 60
PEOPLE = {
    "age": [20 + i % 50 for i in range(ROWS)],
    "sex": ["f", "m"] * (ROWS // 2),
    **{f"c{i}": [j / (i + 1) for j in range(ROWS)] for i in range(4)},
}
BETWEEN, FOUND = {"column": "age", "bounds": (0, 120)}, {"column": "age", "bounds": "find"}
TWO = {"x": "age", "y": "c0", "bounds": {"age": (0, 120), "c0": (0, 60)}}
GAUSSIAN = {"method": "gaussian", "delta": 1e-6}
ASKED = {
    "count": [{}],
    "sum": [BETWEEN, FOUND],
    "mean": [BETWEEN, FOUND, {**FOUND, "population": True}, {**BETWEEN, "method": "exponential"}],
    "variance": [BETWEEN, FOUND],
    "std": [BETWEEN, FOUND],
    **{name: [TWO, {**TWO, **GAUSSIAN}] for name in ("covariance", "correlation", "regression")},
    "proportion": [{"column": "sex", "category": "f"}],
    "histogram": [
        {**BETWEEN, "bins": 5},
        {"column": "sex", "categories": "unknown", "delta": 1e-6},
    ],
    "quantiles": [{**BETWEEN, "q": [0.1, 0.9]}, {**FOUND, "q": [0.1, 0.9]}],
    "quantile": [{**BETWEEN, "q": 0.9}],
    "median": [{**BETWEEN, "interval": 0.95}, FOUND],
    "cdf": [BETWEEN, FOUND],
    "mode": [{"column": "sex", "categories": ["f", "m"]}],
    "table": [{"of": {"age": ["mean", "deciles"], "*": ["count"]}, "bounds": "find"}],
    "describe": [{}, {"columns": ["age"]}, {"columns": ["sex", "age"]}],
}
TINY = ["1e-12", "1e-4", "0.003", "0.01", "1e9"]


def test_every_statistic_is_asked():
    assert set(ASKED) == {*STATISTICS, "describe"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_what_is_charged_is_drawn(name):
    drawn = 0
    for own in ASKED[name]:
        for epsilon in TINY:
            for relation in ("add_remove", "substitute"):
                session = sd.Session(PEOPLE, epsilon=10**10, delta=0.5, relation=relation)
                with suppress(SourdineError):
                    getattr(session, name)(**own, epsilon=epsilon)
                    drawn += 1
                    continue
                assert not session.charges, (own, epsilon, relation)
    assert drawn


@pytest.mark.slow
def test_a_description_says_which_epsilon_is_enough():
    """Of one column before the columns are known, then of all of them."""
    epsilon = "0.001"
    for columns in (1, 6):
        refused = f"epsilon must be larger to describe {columns} column"
        with pytest.raises(ParameterError, match=refused) as no:
            sd.describe(PEOPLE, epsilon=epsilon)
        epsilon = no.value.tries["epsilon"]
    assert sd.describe(PEOPLE, epsilon=epsilon).value
