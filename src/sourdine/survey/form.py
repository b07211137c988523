"""The form that a device reads, and what a device refuses."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.frames.reading import read_text
from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
from sourdine.local.categorical.subset import SubsetSelection
from sourdine.local.categorical.unary import FlippedSet, UnaryEncoding
from sourdine.local.designs.numbers import DesignedReport
from sourdine.local.numeric.duchi import Duchi, HybridReport
from sourdine.local.numeric.sliding import SlidingWindow
from sourdine.local.reports.sources import form_of
from sourdine.local.rounds.memoised import Memoised, MemoisedHashing, PermanentResponse
from sourdine.local.table.columns import Number
from sourdine.local.table.part import AnyAnswer, PaidFlag
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.schema import Schema

    Part = Mapping[str, Any]


# ---- What a device must know to randomise: epsilon and whole numbers, and no chance --------------
#
# The form of a schema, as ``device.mjs`` reads it:
#
# ``v``           the version, 1
# ``mark``        the first 16 digits of the schema's fingerprint, which every record carries
# ``epsilon``     what a record costs, a fraction such as ``"3/2"``
# ``method``      ``"split"`` or ``"sample"``
# ``columns``     in the order of their names, as a record holds their reports
# ``rounds``      of a survey of several how many, with ``round``, which one, and ``schema``, the
#                 fingerprint of all rounds, which a device's memory belongs to
#
# A column has ``name``, ``kind``, ``method`` with its whole numbers, ``epsilon``, ``absent`` (what
# becomes of an answer that is not given; where it is ``"any"`` or ``"kept"``, the device refuses to
# go on without one), where one column is sampled ``weight`` (how often), and either ``answers``,
# the texts of its codes, or ``lower`` and ``step`` of its lattice. In a survey of several rounds
# ``epsilon`` is what all of them cost.


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
            "round", f"be from 1 to {schema.rounds}", "",
            "Use {round}: a page belongs to one round.", round=1,
        )  # fmt: skip
    if schema.missing is not None:
        raise ParameterError(
            "missing", "be omitted in a survey", repr(schema.missing),
            "Omit {missing}; declare missing in each question that is optional.", missing=LEFT_OUT,
        )  # fmt: skip
    if schema.epsilon > MOST_EPSILON:
        raise ParameterError(
            "epsilon", f"be at most {MOST_EPSILON} in a survey", str(schema.epsilon),
            "Use {epsilon} or less: the page refuses to send above it.", epsilon=MOST_EPSILON,
        )  # fmt: skip
    whole = lcm(*(weight.denominator for weight in schema.weights.values()))
    weights = {name: int(weight * whole) for name, weight in schema.weights.items()}
    if max(weights.values()) > MOST_WEIGHT:
        raise ParameterError(
            "weights", "be in ratios of small whole numbers", "", "Use whole numbers."
        )
    sampled = schema.method == "sample"
    columns = []
    for name, mechanism in form_of(schema).randomisers.items():
        asked = {"name": name, **_asked(schema.columns[name])}
        asked |= {"weight": weights[name]} if sampled else {}
        columns.append({**asked, **_part(mechanism)})
    turn = {}  # which round it is, and what the memory of a device belongs to
    if schema.turn is not None:
        every = schema.changed(turn=None, missing=schema.missing)
        turn = {"rounds": schema.rounds, "round": schema.turn, "schema": every.fingerprint}
    return {
        "v": VERSION, "mark": form_of(schema).mark, "epsilon": str(schema.epsilon),
        "method": schema.method, **turn, "columns": columns,
    }  # fmt: skip


def _asked(column: Attribute) -> dict[str, Any]:
    if isinstance(column, Number):
        grid = column.grid
        ends = {"lower": str(grid.lower), "step": str(grid.step), "last": grid.last}
        return {"kind": column.kind, **ends}
    listed = getattr(column, "listed", None)
    answers = list(FLAGS) if listed is None else [str(read_text(one)) for one in listed]
    return {"kind": column.kind, "answers": answers}


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


def _method(of: Any) -> dict[str, Any]:
    """Return a randomiser in whole numbers and fractions."""
    if type(of) not in WRITTEN:
        raise ParameterError(
            "method", "be available on a device", type(of).__name__,
            "Omit {method} for the best one.", method=LEFT_OUT,
        )  # fmt: skip
    return {"epsilon": str(Fraction(of.epsilon)), **WRITTEN[type(of)](of)}


def _memoised(of: MemoisedHashing | PermanentResponse) -> dict[str, Any]:
    return {
        "method": "memoised", "k": of.categories, "values": of.answers,
        "digits": of.digits if isinstance(of, MemoisedHashing) else 0, "epsilon": str(of.total),
        "permanent": str(Fraction(of.permanent)), "once": str(Fraction(of.epsilon)),
    }  # fmt: skip


def _window(of: SlidingWindow) -> dict[str, int]:
    return {"last": of.last, "slide": of.slide, "width": of.width}


def _hybrid(of: HybridReport) -> dict[str, Any]:
    if of.always_bit:
        return {"method": "duchi", "last": of.last}
    return {"method": "hybrid", **_window(of.window)}


def _staircase(of: BoundedStaircase) -> dict[str, Any]:
    own = {"last": of.last, "reach": of.reach}
    if of.method == "window":
        return {"method": "staircase", **own}
    return {"method": "truncated", **own, "level": str(of.level)}


WRITTEN: dict[type, Callable[[Any], dict[str, Any]]] = {
    RandomizedResponse: lambda of: {"method": "response", "k": of.categories},
    UnaryEncoding: lambda of: {
        "method": "unary" if of.method == "optimal" else "symmetric", "k": of.categories,
    },
    HadamardResponse: lambda of: {"method": "hadamard", "k": of.categories},
    LocalHashing: lambda of: {
        "method": "hashing", "k": of.categories, "values": of.values, "digits": of.digits,
    },
    SubsetSelection: lambda of: {"method": "subset", "k": of.categories, "size": of.chosen},
    FlippedSet: lambda of: {"method": "flipped", "k": of.categories, "flips": of.likely},
    SlidingWindow: lambda of: {"method": "window", **_window(of)},
    Duchi: lambda of: {"method": "duchi", "last": of.last},
    BoundedLaplace: lambda of: {"method": "laplace", "last": of.last},
    DesignedReport: lambda of: {"method": "design", "last": of.last, "channel": of.channel},
    HybridReport: _hybrid, BoundedStaircase: _staircase,
    MemoisedHashing: _memoised, PermanentResponse: _memoised,
}  # fmt: skip
"""How a form names each mechanism, and the whole numbers that the device needs."""
