"""What a device must know to randomise: epsilon and whole numbers, and no chance.

The form of a schema, as `device.mjs` and `sourdine.survey.device` read it:

==============  ==================================================================================
``v``           the version, 1
``mark``        the first 16 digits of the schema's fingerprint, which every record carries
``epsilon``     what a record costs, a fraction such as ``"3/2"``
``method``      ``"split"`` or ``"sample"``
``columns``     in the order of their names, as a record holds their reports
``rounds``      of a survey of several how many, with ``round``, which one, and ``schema``, the
                fingerprint of all rounds, which a device's memory belongs to
==============  ==================================================================================

A column has ``name``, ``kind``, ``method`` with its whole numbers, ``epsilon``, ``absent`` (what
becomes of an answer that is not given; where it is ``"any"`` or ``"kept"``, the device refuses to
go on without one), where one column is sampled ``weight`` (how often), and
either ``answers``, the texts of its codes, or ``lower`` and ``step`` of its lattice. In a survey of
several rounds ``epsilon`` is what all of them cost.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.local.categorical import (
    FlippedSet,
    HadamardResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)
from sourdine.local.numeric import Duchi, HybridReport, SlidingWindow
from sourdine.local.reports import form_of
from sourdine.local.rounds import MemoisedHashing, PermanentResponse
from sourdine.local.rounds.memoised import Memoised
from sourdine.local.table import Number, Schema
from sourdine.local.table.absence import AnyAnswer, PaidFlag
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.tally.number_or_text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.local.table.columns import Attribute

__all__ = ["MOST_EPSILON", "VERSION", "form_for_device"]

VERSION = 1
MOST_EPSILON = 8
"""Above it a page refuses to send: 3000 to 1 is no protection."""
MOST_WEIGHT = 1 << 40
FLAGS = ("false", "true")


def form_for_device(schema: Schema) -> dict[str, Any]:
    """Return the form of a schema.

    Examples
    --------
    >>> from sourdine.local import Flag, Schema
    >>> form = form_for_device(Schema(smokes=Flag(), epsilon=1))
    >>> form["epsilon"], form["columns"][0]["method"], form["columns"][0]["absent"]
    ('1', 'response', 'any')
    """
    if schema.rounds is not None and schema.turn is None:
        raise ParameterError(
            "round",
            f"be from 1 to {schema.rounds}",
            "none",
            "Type {round}: a page is that of one round.",
            round=1,
        )
    if schema.missing is not None:
        raise ParameterError(
            "missing",
            "be left out in a survey",
            repr(schema.missing),
            "Leave {missing} out; a question that may be left unanswered declares missing itself.",
            missing=LEFT_OUT,
        )
    if schema.epsilon > MOST_EPSILON:
        raise ParameterError(
            "epsilon",
            f"be at most {MOST_EPSILON} in a survey",
            str(schema.epsilon),
            "Type {epsilon} or less: above, the page would refuse to send.",
            epsilon=MOST_EPSILON,
        )
    whole = lcm(*(weight.denominator for weight in schema.weights.values()))
    weights = {name: int(weight * whole) for name, weight in schema.weights.items()}
    if max(weights.values()) > MOST_WEIGHT:
        raise ParameterError(
            "weights", "be in ratios of small whole numbers", "others", "Type whole numbers."
        )
    sampled = schema.method == "sample"
    columns = [
        {
            "name": name,
            **_asked(schema.columns[name]),
            **({"weight": weights[name]} if sampled else {}),
            **_part(mechanism),
        }
        for name, mechanism in form_of(schema).randomisers.items()
    ]
    return {
        "v": VERSION,
        "mark": form_of(schema).mark,
        "epsilon": str(schema.epsilon),
        "method": schema.method,
        **({} if schema.turn is None else _round(schema)),
        "columns": columns,
    }


def _round(schema: Schema) -> dict[str, Any]:
    """Return which round it is, and what the memory of a device belongs to."""
    every = schema.changed(turn=None, missing=schema.missing)
    return {"rounds": schema.rounds, "round": schema.turn, "schema": every.fingerprint}


def _asked(column: Attribute) -> dict[str, Any]:
    """Return what may be answered."""
    if isinstance(column, Number):
        return {
            "kind": column.kind,
            "lower": str(column.grid.lower),
            "step": str(column.grid.step),
            "last": column.grid.last,
        }
    listed = getattr(column, "listed", None)
    return {
        "kind": column.kind,
        "answers": list(FLAGS) if listed is None else [str(read_text(one)) for one in listed],
    }


def _part(mechanism: object) -> dict[str, Any]:
    """Return what randomises a column, absent answers included."""
    match mechanism:
        case AnyAnswer(answer=Memoised()):
            return {"absent": "kept", **_method(mechanism.answer)}
        case AnyAnswer():
            return {"absent": "any", **_method(mechanism.answer)}
        case PaidFlag():
            flag = {"flag": str(Fraction(mechanism.flag.epsilon)), "none": mechanism.none}
            return {"absent": "paid", **flag, **_method(mechanism.answer)}
        case FlippedSet():
            return {"absent": "nothing", **_method(mechanism)}
        case _:
            return {"absent": "category", **_method(mechanism)}


def _method(of: Any) -> dict[str, Any]:  # noqa: ANN401 - any randomiser of an answer
    """Return a randomiser in whole numbers and fractions."""
    if type(of) not in WRITTEN:
        raise ParameterError(
            "method",
            "be one that a device can draw",
            type(of).__name__,
            "Leave {method} out for the best one.",
            method=LEFT_OUT,
        )
    return {"epsilon": str(Fraction(of.epsilon)), **WRITTEN[type(of)](of)}


def _memoised(of: MemoisedHashing | PermanentResponse) -> dict[str, Any]:
    return {
        "method": "memoised",
        "k": of.categories,
        "values": of.answers,
        "digits": of.digits if isinstance(of, MemoisedHashing) else 0,
        "epsilon": str(of.total),
        "permanent": str(Fraction(of.permanent)),
        "once": str(Fraction(of.epsilon)),
    }


def _window(of: SlidingWindow) -> dict[str, int]:
    return {"last": of.last, "slide": of.slide, "width": of.width}


def _hybrid(of: HybridReport) -> dict[str, Any]:
    return (
        {"method": "duchi", "last": of.last}
        if of.always_bit
        else {"method": "hybrid", **_window(of.window)}
    )


def _staircase(of: BoundedStaircase) -> dict[str, Any]:
    own = {"last": of.last, "reach": of.reach}
    if of.method == "window":
        return {"method": "staircase", **own}
    return {"method": "truncated", **own, "level": str(of.level)}


WRITTEN: dict[type, Callable[[Any], dict[str, Any]]] = {
    RandomizedResponse: lambda of: {"method": "response", "k": of.categories},
    UnaryEncoding: lambda of: {
        "method": "unary" if of.method == "optimal" else "symmetric",
        "k": of.categories,
    },
    HadamardResponse: lambda of: {"method": "hadamard", "k": of.categories},
    LocalHashing: lambda of: {
        "method": "hashing",
        "k": of.categories,
        "values": of.values,
        "digits": of.digits,
    },
    SubsetSelection: lambda of: {"method": "subset", "k": of.categories, "size": of.chosen},
    FlippedSet: lambda of: {"method": "flipped", "k": of.categories, "flips": of.likely},
    SlidingWindow: lambda of: {"method": "window", **_window(of)},
    Duchi: lambda of: {"method": "duchi", "last": of.last},
    HybridReport: _hybrid,
    BoundedLaplace: lambda of: {"method": "laplace", "last": of.last},
    BoundedStaircase: _staircase,
    MemoisedHashing: _memoised,
    PermanentResponse: _memoised,
}
"""How a form names each mechanism, and the whole numbers that the device needs."""
