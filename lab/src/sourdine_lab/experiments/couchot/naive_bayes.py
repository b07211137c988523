"""Gaussian naive Bayes on many cleanings of one table at once.

It is scikit-learn's GaussianNB to the last digit that matters: tests compare them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sourdine_lab.experiments.couchot.pima import values

if TYPE_CHECKING:
    from sourdine_lab.experiments.couchot.pima import Floats, Pima, Whole

__all__ = ["Scores", "scores", "untouched"]

CHUNK = 200
"""Tables learnt from at once."""


class Scores(NamedTuple):
    """Scores of each cleaning: on its own test rows as on the slides, and on clean ones.

    ``ranked`` is the chance that a clean test row with diabetes is thought likelier to have it than
    one without, 1/2 for guesses; ``constant`` the accuracy of the commoner answer.
    """

    accuracy: Floats
    f1: Floats
    clean_accuracy: Floats
    ranked: Floats
    constant: Floats


def scores(table: Pima, ticks: Whole, y: Whole) -> Scores:
    """Learn from each cleaning and score the answers."""
    parts = [
        _scores(table, ticks[i : i + CHUNK], y[i : i + CHUNK]) for i in range(0, len(y), CHUNK)
    ]
    return Scores(*map(np.concatenate, zip(*parts, strict=True)))


def untouched(table: Pima) -> Scores:
    """Return the scores of the table as it is."""
    return scores(table, table.ticks[None], table.y[None])


def _scores(table: Pima, ticks: Whole, y: Whole) -> Scores:
    x = values(ticks, table.columns)
    clean = values(table.ticks[table.test], table.columns)[None]
    learnt = _classes(x[:, table.train], y[:, table.train])
    truth, test = y[:, table.test], table.y[table.test]
    guess = _odds(x[:, table.test], *learnt) > 0
    odds = _odds(clean, *learnt)
    hits, wrong = np.sum(guess & (truth == 1), axis=1), np.sum(guess != (truth == 1), axis=1)
    return Scores(
        accuracy=1 - wrong / len(test),
        f1=2 * hits / np.maximum(2 * hits + wrong, 1),
        clean_accuracy=np.mean((odds > 0) == (test == 1), axis=1),
        ranked=_ranked(odds, test),
        constant=np.maximum(truth.mean(axis=1), 1 - truth.mean(axis=1)),
    )


def _classes(x: Floats, y: Whole) -> tuple[Floats, Floats, Floats]:
    """Return the share of each class, and the means and variances of its columns."""
    floor = 1e-9 * x.var(axis=1).max(axis=1)[:, None, None]
    member = np.stack([y == 0, y == 1]).astype(float).transpose(1, 0, 2)
    count = np.maximum(member.sum(axis=2), 1)[:, :, None]
    mean = member @ x / count
    variance = member @ (x * x) / count - mean**2
    return count[:, :, 0] / y.shape[1], mean, np.maximum(variance, 0) + floor


def _odds(x: Floats, share: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the log odds of class 1 for each row of each table."""
    zero, one = (
        np.log(share[:, c])[:, None]
        - 0.5 * np.log(variance[:, c]).sum(axis=1)[:, None]
        - 0.5 * ((x - mean[:, None, c]) ** 2 / variance[:, None, c]).sum(axis=2)
        for c in (0, 1)
    )
    return np.asarray(one - zero)


def _ranked(odds: Floats, y: Whole) -> Floats:
    """Return the area under the ROC curve."""
    rank = np.argsort(np.argsort(odds, axis=1), axis=1) + 1
    ones = int(y.sum())
    least = ones * (ones + 1) / 2
    return np.asarray((rank[:, y == 1].sum(axis=1) - least) / (ones * (len(y) - ones)))
