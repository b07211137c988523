"""From the body of a request to questions, by the reader that all faces have.

What the owner says of columns is filled in before (`columns`). Where an error cannot be known
without the number of records, the owner's is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from sourdine.central import Describe
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, SourdineError
from sourdine.question import parameters
from sourdine.question.question import given
from sourdine.questions import STATISTICS
from sourdine.server.columns import completed, require_listed, stored_columns
from sourdine.server.limits import MOST_QUESTIONS, require_small, require_small_answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.central import Statistic
    from sourdine.questions import Statistics
    from sourdine.server.store import Dataset

__all__ = ["asked_of", "listed", "single"]


class _OfQuestion(Protocol):
    """A plan, or whether a question could be asked."""

    @property
    def question(self) -> Statistic: ...


R = TypeVar("R", bound=_OfQuestion)
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
    columns = stored_columns(dataset.columns)
    takes = {p.name for p in parameters(cls)} if cls is not None else set()
    said = completed(dict(asked) if cls is None else given(cls, asked), takes, columns)
    if cls is not None:
        _require_from_outside(cls, said)
        require_small_answer(cls, said)
    found = _read(face, said, takes, dataset)
    require_listed(found.question, columns)
    return found


def _require_from_outside(cls: type[Statistic], said: Mapping[str, Any]) -> None:
    """Refuse parameters that are for Python alone, such as a source of randomness."""
    for name in cls.unlisted:
        if name in said:
            raise ParameterTypeError(
                name,
                f"be a parameter of {cls.kind}",
                "one that it does not have",
                f"Leave {{{name}}} out.",
                **{name: LEFT_OUT},
            )


def _read(face: Statistics[R], said: Mapping[str, Any], takes: set[str], dataset: Dataset) -> R:
    about = dataset.n_about
    try:
        return face.of(said)
    except SourdineError as error:
        if error.name != "n" or about is None or "n" in said or "n" not in takes:
            raise
    return face.of({**said, "n": about})
