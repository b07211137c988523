"""From the body of a request to questions, by the reader that all faces have.

What the owner says of columns is filled in before (`columns`). Two things are the server's own:
quantiles have an interval of 0.95 unless another is asked for, as an order statistic without one
tells little; and where an error cannot be known without the number of records, the owner's is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sourdine.central import Describe
from sourdine.errors import ParameterError, SourdineError
from sourdine.question import parameters
from sourdine.questions import STATISTICS
from sourdine.server.columns import completed, stored_columns
from sourdine.server.limits import MOST_QUESTIONS, require_small

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.questions import Statistics
    from sourdine.server.store import Dataset

__all__ = ["asked_of", "listed", "single"]

R = TypeVar("R")
INTERVAL = 0.95
WITH_INTERVALS = ("quantiles", "quantile", "median")
CLASSES: dict[str, type[Statistic]] = {**STATISTICS, Describe.kind: Describe}


def listed(body: object) -> Sequence[Mapping[str, Any]]:
    """Return the questions of a body: one, or several as ``"questions"``."""
    if isinstance(body, dict) and isinstance(body.get("questions"), list):
        found = body["questions"]
        if not 0 < len(found) <= MOST_QUESTIONS:
            raise ParameterError(
                "questions", f"be 1 to {MOST_QUESTIONS}", f"{len(found)}", "Ask in parts."
            )
        return [single(one) for one in found]
    return [single(body)]


def single(body: object) -> Mapping[str, Any]:
    """Return the one question of a body."""
    if not isinstance(body, dict):
        raise ParameterError(
            "the question", "be an object of parameters", "something else", "Write an object."
        )
    require_small(body)
    return body


def asked_of(face: Statistics[R], asked: Mapping[str, Any], dataset: Dataset) -> R:
    """Return what a face of a session makes of a question about a data set.

    Parameters
    ----------
    face
        What plans it, or says whether it could be asked.
    asked
        The question, as JSON holds it.
    dataset
        What it is about.
    """
    cls = CLASSES.get(str(asked.get("statistic")))
    takes = {p.name for p in parameters(cls)} if cls is not None else set()
    said = completed(asked, takes, stored_columns(dataset.columns))
    if said.get("statistic") in WITH_INTERVALS and "interval" not in asked:
        try:
            return _read(face, {**said, "interval": INTERVAL}, takes, dataset)
        except SourdineError:
            pass  # a method that has none: what is wrong, if anything, is said without it
    return _read(face, said, takes, dataset)


def _read(face: Statistics[R], said: Mapping[str, Any], takes: set[str], dataset: Dataset) -> R:
    about = dataset.n_about
    try:
        return face.of(said)
    except SourdineError as error:
        if error.name != "n" or about is None or "n" in said or "n" not in takes:
            raise
    return face.of({**said, "n": about})
