"""Plans: what an error costs, what an epsilon buys, and the curve of one against the other."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError, SourdineError
from sourdine.plan.errors import as_error
from sourdine.question.question import plain_parameter
from sourdine.server.incoming import Operation, reply
from sourdine.server.reading import asked_of, listed, single

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from sourdine.central import Statistic
    from sourdine.plan import Plan, Planner, Plans
    from sourdine.server.incoming import Incoming
    from sourdine.server.store import Dataset
    from sourdine.session import Session

__all__ = ["OPERATIONS"]

POINTS = 25
LEAST, MOST = -3, 1
"""Powers of ten between which epsilons of a curve lie."""


def plan(call: Incoming) -> Response:
    """Answer with the plan of one question, or of several together."""
    dataset = call.dataset
    session, body = call.state.session(dataset), call.body()
    planner = session.plan
    plans = [_planned(planner, asked, dataset, body) for asked in listed(body)]
    heads = call.heads(dataset.name)
    if "questions" not in body:
        return reply(_facts(plans[0], dataset, session), headers=heads)
    whole = planner.together(plans, epsilon=body.get("epsilon"), delta=body.get("delta"))
    return reply(_together(whole, dataset, session), headers=heads)


def _planned(
    planner: Planner, asked: Mapping[str, Any], dataset: Dataset, body: Mapping[str, Any]
) -> Plan:
    """Return a plan; where a total is shared by errors, the owner's number of records is used."""
    found = asked_of(planner, asked, dataset)
    if "questions" not in body or not found.unknown:
        return found
    records = _records(found.question, dataset)
    return found if records is None else asked_of(planner, {**asked, "n": records}, dataset)


def _facts(plan: Plan, dataset: Dataset, session: Session) -> dict[str, Any]:
    return {
        "question": plan.question.to_dict(),
        "confidence": float(plan.confidence),
        "epsilon": str(plan.epsilon),
        "error": plain_parameter(_error(plan, plan.epsilon, dataset)),
        "target": plain_parameter(plan.target),
        "ranks": plan.ranks,
        "fits": plan.fits,
        "remaining": session.remaining.to_dict(),
        "mechanism": str(plan.question.drawer),
        "text": plan.name,
    }


def _together(whole: Plans, dataset: Dataset, session: Session) -> dict[str, Any]:
    facts = {"epsilon": str(whole.epsilon), "fits": whole.fits}
    if whole.delta:
        facts |= {name: whole.to_dict()[name] for name in ("delta", "certified")}
    return {**facts, "plans": [_facts(one, dataset, session) for one in whole]}


def _error(plan: Plan, epsilon: Fraction, dataset: Dataset) -> Any:  # noqa: ANN401 - a number or a duration
    """Return the error at an epsilon, with the owner's number of records where one is needed."""
    question = plan.question if epsilon == plan.epsilon else plan.question.at(epsilon)
    beta = 1 - plan.confidence
    try:
        return as_error(question.error(beta), question)
    except ParameterError as refusal:
        records = _records(question, dataset)
        if refusal.name != "n" or records is None:
            return None
    return as_error(question.error(beta, n=records), question)


def _records(question: Statistic, dataset: Dataset) -> int | None:
    """Return about how many records there are, in each group; None where nobody knows."""
    keys = [] if question.by is None else question.to_dict().get("keys", [])
    if dataset.n_about is None or isinstance(keys, str):
        return None
    lists = keys.values() if isinstance(keys, dict) else [keys]
    return max(dataset.n_about // prod(len(part) or 1 for part in lists), 1)


def could(call: Incoming) -> Response:
    """Answer whether a question would be admitted now, and what would be left."""
    dataset = call.dataset
    found = asked_of(call.state.session(dataset).could, single(call.body()), dataset)
    facts = {
        **found.to_dict(),
        "question": found.question.to_dict(),
        "target": plain_parameter(found.question.target),
    }
    return reply(facts, headers=call.heads(dataset.name))


def curve(call: Incoming) -> Response:
    """Answer with the error of a question at 25 epsilons, and what is left."""
    dataset = call.dataset
    session, asked = call.state.session(dataset), single(call.body())
    said = {name: x for name, x in asked.items() if name not in ("epsilon", "error")}
    key = f"{dataset.name} {json.dumps(said, sort_keys=True)}"
    points = call.state.curve(key)
    if points is None:
        points = _points(session, said, dataset)
        call.state.keep_curve(key, points)
    facts = {"points": points, "remaining": session.remaining.to_dict()}
    return reply(facts, headers=call.heads(dataset.name))


def _points(session: Session, said: Mapping[str, Any], dataset: Dataset) -> list[list[Any]]:
    planned = asked_of(session.plan, {**said, "epsilon": 1}, dataset)
    width = Fraction(MOST - LEAST, POINTS - 1)
    epsilons = [Fraction(f"{10 ** float(LEAST + i * width):.4g}") for i in range(POINTS)]
    return [[str(e), plain_parameter(_or_none(planned, e, dataset))] for e in epsilons]


def _or_none(plan: Plan, epsilon: Fraction, dataset: Dataset) -> Any:  # noqa: ANN401 - a number or a duration
    """Return the error at an epsilon; None where the question cannot be asked with it."""
    try:
        return _error(plan, epsilon, dataset)
    except SourdineError:
        return None


OPERATIONS = (
    Operation(
        method="POST",
        path="/datasets/{dataset}/plan",
        does=plan,
        text="What a question will cost, or how far off it will be; several under one total.",
        takes="PlanRequest",
        gives="Plan",
    ),
    Operation(
        method="POST",
        path="/datasets/{dataset}/could",
        does=could,
        text="Whether a question would be admitted now; charges nothing.",
        takes="Question",
        gives="Could",
    ),
    Operation(
        method="POST",
        path="/datasets/{dataset}/curve",
        does=curve,
        text="The error of a question at 25 epsilons.",
        takes="PlanRequest",
        gives="Curve",
    ),
)
