"""Labels under guard in a server's store, models of any accuracy, and who submits them."""

from __future__ import annotations

import numpy as np

from sourdine.adaptive.holdout.guard import GuardedHoldout
from sourdine.adaptive.holdout.leaderboard import Leaderboard, open_sealed
from sourdine.server.guards import RegisteringGuard, registered_guard
from sourdine.server.store.base import KeyedRequest, fingerprint

__all__ = [
    "LABELS",
    "as_text",
    "guarded",
    "label_file",
    "model",
    "replayed",
    "sent",
    "submission",
]

N = 2000
LABELS = np.random.default_rng(1).integers(0, 2, N)


def model(right, seed=0, labels=LABELS):
    """Return predictions of which so many are right."""
    draws = np.random.default_rng([seed, round(1000 * right)]).random(len(labels))
    return np.where(draws < right, labels, 1 - labels).tolist()


def as_text(predictions):
    """Return predictions as people save them."""
    return "\n".join(["y", *map(str, predictions), ""])


def label_file(folder, labels=LABELS, name="labels.csv"):
    """Return the path of labels in a file with another column."""
    path = folder / name
    rows = [f"{i},{y}" for i, y in enumerate(labels)]
    path.write_text("\n".join(["row,y", *rows]) + "\n")
    return path


def guarded(store, path, name="eval", *, teams=("anna", "ben"), submissions=100, **terms):
    """Register labels, and grant teams submissions."""
    facts = {"column": "y", "error": 0.08, **terms}
    said = RegisteringGuard(name=name, source=str(path), **facts)
    store.guards.add(*registered_guard(said))
    for team in teams:
        store.guards.give(name, team, submissions)
    return name


def sent(key, team, predictions, guard="eval"):
    """Return a request."""
    asked = fingerprint(str(predictions))
    return KeyedRequest(analyst=team, key=key, dataset=guard, asked=asked)


def submission(store, labels, key, team, predictions, *, guard="eval"):
    """Submit to a guard of a store, as the server does."""
    request = sent(key, team, predictions, guard)
    return store.guards.submit_once(
        request, lambda journal: open_sealed(journal, labels).submit(team, predictions)
    )


def replayed(told, predictions, labels=LABELS, error=0.08):
    """Assert that answers are those that a board in memory gives, one after the other."""
    board = Leaderboard(GuardedHoldout(labels, error=error))
    for number, one in enumerate(told, 1):
        assert one.number == number
        own = board.submit(one.request.analyst, predictions[one.request.asked])
        assert (own.name, own.score, own.bits) == (
            one.standing.name,
            one.standing.score,
            one.standing.bits,
        )
    return board
