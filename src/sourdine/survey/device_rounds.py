"""The device of a survey of several rounds in Python: what ``rounds.mjs`` draws, byte for byte.

It takes the same bytes in the same order as the page's own, and is what the latter is compared
with. A person's device in Python is `sourdine.local.rounds.Respondent`: the same laws, and the same
memory as JSON.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sourdine.local.rounds.memoised import spared
from sourdine.local.rounds.respondent import SECRET, VERSION
from sourdine.noise import SYSTEM
from sourdine.survey.device import Draw, code, demand, encoded, hashed, response, sampled
from sourdine.survey.device_form import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.exact import Real
    from sourdine.noise import Source

__all__ = ["again", "remember"]


def remember(form: Mapping[str, Any], *, source: Source = SYSTEM) -> dict[str, Any]:
    """Return a new memory, which depends on no answer.

    Parameters
    ----------
    form
        What `sourdine.survey.form.form_for_device` returned for a round.
    source
        Where the random bytes come from.

    Examples
    --------
    >>> from sourdine.local import Flag, Schema
    >>> from sourdine.survey.form import form_for_device
    >>> schema = Schema(smokes=Flag(), epsilon=2, rounds=52)
    >>> memory = remember(form_for_device(schema.round(1)))
    >>> schema.respondent(json.dumps(memory)).answered
    0
    """
    read(form)
    by, columns = Draw(source), {}
    for part in form["columns"]:
        g = part["values"]
        kept = {"k": g, "epsilon": part["permanent"]}
        columns[part["name"]] = {
            "hash": by.below(g ** part["digits"]),
            "kept": [response(kept, v, by) for v in range(g)],
            "absent": by.below(part["k"]),
        }
    weights = [part.get("weight", 1) for part in form["columns"]]
    place = sampled(weights, by) if form["method"] == "sample" else None
    return {
        "sourdine": VERSION,
        "secret": SECRET,
        "schema": form["schema"],
        "answered": 0,
        "asked": None if place is None else form["columns"][place]["name"],
        "columns": columns,
    }


def again(
    form: Mapping[str, Any],
    memory: Mapping[str, Any],
    answers: Mapping[str, object],
    *,
    source: Source = SYSTEM,
) -> tuple[str, dict[str, Any]]:
    """Return the line of a round, and the memory that has answered it.

    Parameters
    ----------
    form
        What `sourdine.survey.form.form_for_device` returned for this round.
    memory
        What `remember`, or this for an earlier round, returned.
    answers
        A person's answers by the name of the column; a column left out is an absent answer.
    source
        Where the random bytes come from.
    """
    read(form)
    demand(form, answers)
    by, columns, chosen = Draw(source), form["columns"], {}
    if memory["asked"] is not None:
        chosen = {"c": [part["name"] for part in columns].index(memory["asked"])}
        columns = [columns[chosen["c"]]]
    reports = [
        _report(part, memory["columns"][part["name"]], code(part, answers.get(part["name"])), by)
        for part in columns
    ]
    head = {"v": 1, "s": form["mark"], "i": encoded(source.bytes(16))}
    line = json.dumps({**head, **chosen, "a": reports}, separators=(",", ":"))
    return line, {**memory, "answered": form["round"]}


def _report(part: Mapping[str, Any], kept: Mapping[str, Any], x: int | None, by: Draw) -> int:
    """Tell the permanent response, or any value."""
    g, digits, none = part["values"], part["digits"], part["k"] - 1
    anyone = by.below(g)
    there = (kept["absent"] if part["absent"] == "kept" else none) if x is None else x
    stays = kept["kept"][hashed(kept["hash"], there, g, digits) if digits else there]
    told = by.coin(_told(Fraction(part["once"]), Fraction(part["permanent"]), g))
    return int(kept["hash"] * g + (stays if told else anyone))


@lru_cache(256)
def _told(once: Fraction, permanent: Fraction, g: int) -> Real:
    return spared(once, g) / spared(permanent, g)
