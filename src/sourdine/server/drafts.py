"""What an owner writes of a survey: drafted, examined, and planned before it is opened.

Records are sent to this very server, so a draft does not say where: that is filled in when it is
examined and opened.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from sourdine.errors import ParameterError
from sourdine.local import Number
from sourdine.server.open_surveys import COLLECTED
from sourdine.survey.document import NAME, parsed
from sourdine.survey.examination import Examination, FieldProblem, examined
from sourdine.survey.precision import FEWEST, precision
from sourdine.survey.words import meaning, sure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.local.table.columns import Attribute
    from sourdine.server.incoming import Incoming

__all__ = [
    "Draft",
    "Drafting",
    "SurveyChecking",
    "consequence",
    "drafted",
    "origin",
    "required_name",
    "wrongs",
]

LONGEST_NAME = 40
MOST_QUESTIONS = 50
COARSE = 0.2
"""The part of all that an interval may reach to each side and still tell something."""
MOST_PEOPLE = 100_000
COST = {"epsilon", "method", "rounds", "once", "round"}


class Drafting(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A survey: as an object with the keys of a survey.toml, or as the text of one."""

    document: dict[str, Any] | None = None
    toml: Annotated[str, msgspec.Meta(max_length=60_000)] | None = None


class SurveyChecking(Drafting, kw_only=True):
    """A survey, and how many people will answer."""

    n: Annotated[int, msgspec.Meta(ge=FEWEST, le=MOST_PEOPLE)] = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an owner wrote.

    Parameters
    ----------
    document
        The keys of a survey.toml.
    """

    document: Mapping[str, Any]

    def examined(self, url: str) -> Examination:
        """Return the survey, sent to a server; or everything that is wrong with it."""
        name = self.document.get("name")
        facts = {**self.document, "send_to": f"{url}{COLLECTED}/{name}/reports"}
        if not isinstance(name, str) or not NAME.fullmatch(name):
            facts["send_to"] = f"{url}{COLLECTED}/survey/reports"
        found = examined(facts)
        more = (*found.problems, *_too_much(name, found))
        small = more == found.problems
        return Examination(
            survey=found.survey if small else None,
            problems=more,
            sketch=found.sketch if small else None,
        )


def drafted(said: Drafting) -> Draft:
    """Return the draft of a request, or refuse it."""
    if (said.document is None) == (said.toml is None):
        raise ParameterError(
            "the body", "hold either document or toml", "both or none", "Write one of them."
        )
    if said.toml is not None:
        found = json.loads(json.dumps(parsed(said.toml), default=str))
        return Draft(document=found)
    return Draft(document=said.document or {})


def required_name(draft: Draft) -> str:
    """Return the survey's name, by which it is kept; or refuse the draft."""
    name = draft.document.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise ParameterError(
            "name",
            f"be small letters, digits and hyphens, at most {LONGEST_NAME}",
            "another one" if name else "none",
            "Type a short one, such as commute.",
        )
    return name


def origin(call: Incoming) -> str:
    """Return where this server is, as whoever asks sees it."""
    scheme = "https" if call.state.settings.behind_proxy else "http"
    return f"{scheme}://{call.headers.get('host', '')}"


def consequence(found: Examination, n: int) -> dict[str, Any]:
    """Return what a survey costs who answers, and what so many people will tell.

    Parameters
    ----------
    found
        The survey, or what there is of it.
    n
        How many people answer.
    """
    told: dict[str, Any] = {
        "problems": wrongs(found),
        "fingerprint": found.survey and found.survey.fingerprint,
        "cost": None,
        "plan": None,
    }
    if found.sketch is None or any(one.field in COST for one in found.problems):
        return told
    schema = found.sketch.schema
    told["cost"] = {"sure": sure(schema.epsilon), "means": meaning(schema.epsilon)}
    plan = precision(schema, n).to_dict()
    for name, line in plan["questions"].items():
        line["coarse"] = line["half"] > COARSE * _span(schema.columns[name])
    return {**told, "plan": plan}


def _span(column: Attribute) -> float:
    """Return how far answers can be apart; of a share, 1."""
    return float(column.grid.upper - column.grid.lower) if isinstance(column, Number) else 1.0


def wrongs(found: Examination) -> list[dict[str, str]]:
    """Return everything that is wrong with a survey, field by field."""
    return [
        {"field": one.field, "must": one.error.must, "got": one.error.got, "said": str(one)}
        for one in found.problems
    ]


def _too_much(name: object, found: Examination) -> Iterator[FieldProblem]:
    """Yield what a server cannot open."""
    schema = found.survey and found.survey.schema
    if schema and schema.rounds and not schema.turn:
        rounds = ParameterError(
            "round", f"be from 1 to {schema.rounds}", "none", "Type {round}.", round=1
        )
        yield FieldProblem(field="round", error=rounds)
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        long = ParameterError(
            "name", f"have at most {LONGEST_NAME} letters", str(len(name)), "Shorten it."
        )
        yield FieldProblem(field="name", error=long)
    asked = len(found.sketch.questions) if found.sketch else 0
    if asked > MOST_QUESTIONS:
        many = ParameterError("questions", f"be at most {MOST_QUESTIONS}", str(asked), "Ask fewer.")
        yield FieldProblem(field="questions", error=many)
