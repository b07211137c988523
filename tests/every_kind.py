"""One answer of every kind that there is, grouped ones and those that are no releases included."""

from __future__ import annotations

from functools import cache

import numpy as np

import sourdine as sd
from sourdine.adaptive import GuardedHoldout
from sourdine.answers import Release
from sourdine.local import Choice, Number, Schema

N = 2000
RNG = np.random.default_rng(7)
AGES = RNG.integers(0, 100, N).tolist()
SEX = RNG.choice(["f", "m"], N).tolist()
VOTE = RNG.choice(["yes", "no", "none"], N).tolist()
BOUNDS = {"bounds": (0, 100), "step": 1, "epsilon": 4}
TWICE = {"age": AGES, "twice": [2 * age for age in AGES]}
TWO = {"x": "age", "y": "twice", "bounds": {"age": (0, 100), "twice": (0, 200)}, "epsilon": 4}
TABLE = {"age": AGES, "sex": SEX, "vote": VOTE}


@cache
def estimates():
    schema = Schema(
        age=Number(0, 100, step=1),
        income=Number(0, 100, step=1, missing=True),
        vote=Choice("yes", "no", "none"),
        left=Choice("yes", "no", missing=True),
        epsilon=16,
        missing="random",
    )
    clean = schema.sanitize({"age": AGES, "income": AGES, "vote": VOTE, "left": VOTE})
    return schema.estimate(clean, pairs=[("age", "vote")])


def designed(answers, epsilon):
    """Return a distribution estimated from answers, of five, under a design."""
    design = sd.local.design("distribution", epsilon=epsilon, categories=5)
    return design.estimate(design.tally(design.randomise(answers)))


def within(release):
    """Return an estimate without the column it is of."""
    return Release.from_dict(
        {**release.to_dict(), "question": release.mechanism.estimate.to_dict()}
    )


KINDS = {
    "count": lambda: sd.count(AGES, epsilon=1),
    "sum": lambda: sd.sum(AGES, **BOUNDS),
    "mean": lambda: sd.mean(AGES, **BOUNDS),
    "variance": lambda: sd.variance(AGES, **BOUNDS),
    "std": lambda: sd.std(AGES, **BOUNDS),
    "covariance": lambda: sd.covariance(TWICE, **TWO),
    "correlation": lambda: sd.correlation(TWICE, **TWO),
    "regression": lambda: sd.regression(TWICE, **TWO),
    "difference": lambda: sd.mean(
        TABLE, column="age", by="sex", keys=["f", "m"], population=True, **BOUNDS
    ).difference("f", "m"),
    "proportion": lambda: sd.proportion(VOTE, category="yes", epsilon=1),
    "histogram": lambda: sd.histogram(AGES, bins=5, bounds=(0, 100), epsilon=1),
    "quantiles": lambda: sd.quantiles(AGES, [0.25, 0.5], **BOUNDS),
    "quantile": lambda: sd.quantile(AGES, 0.9, **BOUNDS),
    "median": lambda: sd.median(AGES, **BOUNDS),
    "cdf": lambda: sd.cdf(AGES, **BOUNDS),
    "frequencies": lambda: within(estimates().shares("vote", consistent="norm-sub")),
    "mean of reports": lambda: within(estimates().mean("age")),
    "quantiles of reports": lambda: within(estimates().quantiles("age", [0.1, 0.5])),
    "distribution of reports": lambda: within(estimates().distribution("age", bins=8)),
    "mean of answers": lambda: within(estimates().mean("income")),
    "quantiles of answers": lambda: within(estimates().quantiles("income", [0.5])),
    "pair of columns": lambda: estimates().pair("age", "vote", bins=2),
    "shares within rows": lambda: estimates().within("age", "vote", bins=2),
    "column": lambda: estimates()["vote"],
    "shares of answers": lambda: within(estimates().shares("left", of="answered")),
    "answers of a design": lambda: designed([age // 20 for age in AGES], epsilon=4),
    "table": lambda: sd.table(
        TABLE, of={"age": ["mean", "quartiles"], "*": ["count"]}, bounds={"age": (0, 100)},
        steps={"age": 1}, epsilon=4,
    ),
    "sql": lambda: sd.sql(
        TABLE, "SELECT AVG(age) AS mean_age, COUNT(*) FROM people WHERE age >= 0",
        bounds={"age": (0, 100)}, epsilon=4,
    ),
}  # fmt: skip
GROUPED = {
    "means by group": lambda: sd.mean(TABLE, column="age", by="sex", keys=["f", "m"], **BOUNDS),
    "histograms by group": lambda: sd.histogram(
        TABLE, column="vote", categories=["yes", "no"], by="sex", keys=["f", "m"], epsilon=1
    ),
    "tables by group": lambda: sd.table(
        TABLE, of={"age": ["mean"], "*": ["count"]}, bounds={"age": (0, 100)}, epsilon=4,
        by=["sex", "vote"], keys={"sex": ["f", "m"], "vote": ["yes", "no"]}, other=True,
    ),
    "statements by group": lambda: sd.sql(
        TABLE, "SELECT sex, AVG(age) FROM people WHERE sex IN ('f', 'm') GROUP BY sex",
        bounds={"age": (0, 100)}, epsilon=4,
    ),
    "found groups": lambda: sd.count(
        TABLE, by=["sex", "vote"], keys="unknown", delta=1e-6, epsilon=4
    ),
    "unknown categories": lambda: sd.histogram(
        VOTE, categories="unknown", epsilon=1, delta=1e-6
    ),
}  # fmt: skip
OTHERS = {
    "density": lambda: sd.local.density(AGES, bounds=(0, 100), epsilon=1),
    "read off": lambda: sd.cdf(AGES, **BOUNDS).quantile([0.25, 0.5]),
    "adaptive": lambda: GuardedHoldout([0, 1] * 100).score([0, 1] * 100),
}
ALL = KINDS | GROUPED | OTHERS
