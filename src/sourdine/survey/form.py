"""The form that a device reads, and what a device refuses."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import TYPE_CHECKING, Any, NoReturn

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.exact import exp_neg
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
# The form of a schema, as `device.mjs` and `sourdine.survey.device` read it:
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
    columns = [
        {
            "name": name,
            **_asked(schema.columns[name]),
            **({"weight": weights[name]} if sampled else {}),
            **_part(mechanism),
        }
        for name, mechanism in form_of(schema).randomisers.items()
    ]
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


# ---- What a device refuses: a form whose records would cost more than it says, or that it cannot
# draw
#
# The twin of ``read`` in ``device.mjs``, written a second time. Both refuse the same forms
# (*checked by* ``test_both_devices_refuse_the_same_forms``), and no form that they read costs more
# than it says (*checked by* ``test_no_form_that_is_read_costs_more_than_it_says``).


MOST = 2**53 - 1
"""The largest whole number that a browser counts exactly."""
FRACTION = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400})?")
ABSENT = ("any", "category", "kept", "nothing", "paid")
BITS, MOST_BITS = 64, 1 << 12


def read(form: Mapping[str, Any]) -> list[int]:
    """Return the last code of each column, or refuse the form.

    The last code is that of an absent answer where a column has one for it. A form may be made by
    somebody else than `form_for_device`.
    """
    if _count(form.get("v"), 1, MOST) != VERSION:
        _refuse("be of a known version")
    if form.get("method") not in ("split", "sample"):
        _refuse("split epsilon or sample a column")
    columns = form.get("columns")
    if not isinstance(columns, list) or not columns:
        _refuse("have a column")
    if not all(isinstance(column, dict) for column in columns):
        _refuse("have tables for columns")
    rounds = "rounds" in form
    if rounds:
        _count(form.get("round"), 1, _count(form["rounds"], 1, 2**40))
    if any((column.get("method") == "memoised") != rounds for column in columns):
        _refuse("be memoised in all columns if there are rounds, and in none if not")
    if form["method"] == "sample":
        for column in columns:
            _count(column.get("weight"), 1, 2**40)
    tops = [_fitting(column) for column in columns]
    costs = [
        _epsilon(column, "epsilon")
        + (_epsilon(column, "flag") if column["absent"] == "paid" else 0)
        for column in columns
    ]
    if (max(costs) if form["method"] == "sample" else sum(costs)) > _epsilon(form, "epsilon"):
        _refuse("cost no more than it says")
    return tops


def _fitting(column: Part) -> int:
    """Return the last code of a column, if its answers have all codes but that of an absent one."""
    top, absent = _top(column), column["absent"]
    more = top + 1 - _codes(column)
    if more != 1 and (more != 0 or absent not in ("category", "nothing")):
        _refuse("have the answers that its methods draw from")
    return top


def _top(column: Part) -> int:
    """Return the last code that the randomiser of a column knows."""
    method, absent = column.get("method"), column.get("absent")
    if not isinstance(method, str) or method not in TOPS or absent not in ABSENT:
        _refuse("name known methods")
    top = TOPS[method](column)
    if absent == "paid":
        _epsilon(column, "flag")
        _count(column.get("none"), 2, MOST)
    return top + (absent in ("any", "paid"))


def _codes(column: Part) -> int:
    """Return how many codes the answers to a column have."""
    kind, answers = column.get("kind"), column.get("answers")
    if kind == "number":
        _fraction(column.get("lower"))
        if _fraction(column.get("step")) <= 0:
            _refuse("have a step above 0")
        return _ticks(column) + 1
    if kind not in ("flag", "choice", "choices") or not isinstance(answers, list):
        _refuse("ask for a flag, a choice, choices or a number")
    return 1 << len(answers) if kind == "choices" else len(answers)


def _categories(part: Part, most: int = 2**30 - 1) -> int:
    return _count(part.get("k"), 2, most) - 1


def _ticks(part: Part) -> int:
    return _count(part.get("last"), 1, 2**40)


def _read_window(part: Part) -> int:
    _epsilon(part, "epsilon")
    for key in ("slide", "width"):
        _count(part.get(key), 1, 2**11)
    return _ticks(part)


def _hashing(part: Part) -> int:
    g, digits = _count(part.get("values"), 2, 2**12), _count(part.get("digits"), 1, 24)
    return _categories(part, _count(g ** (digits + 1), 4, 2**24) // g)


def _subset(part: Part) -> int:
    top = _categories(part, 2**16)
    _count(part.get("size"), 1, top)
    return top


def _flipped(part: Part) -> int:
    top = _categories(part, 16)
    _count(part.get("flips"), 0, top)
    return (2 << top) - 1


def _read_staircase(part: Part) -> int:
    last = _ticks(part)
    _count(part.get("reach"), 1, (last + 1) // 2)
    return last


def _truncated(part: Part) -> int:
    last = _read_staircase(part)
    level, epsilon = _epsilon(part, "level"), _epsilon(part, "epsilon")
    if not _within(level, epsilon, part["reach"], last + 1):
        _refuse("cost no more than it says")
    return last


@lru_cache(1 << 8)
def _within(level: Fraction, epsilon: Fraction, reach: int, size: int) -> bool:
    """Return whether near, at an end, is at most exp(epsilon) times as likely as far, elsewhere."""
    far = exp_neg(level)
    middle = (2 * reach - 1 + (size - 2 * reach + 1) * far) * exp_neg(epsilon)
    ratio, bits = middle / ((reach + (size - reach) * far) * far), BITS
    while bits < MOST_BITS:
        low, high = ratio.enclosure(bits)
        if high <= 1 << bits or low > 1 << bits:
            return high <= 1 << bits
        bits *= 2
    return False


UNITS = 1 << 40
CHANNEL = re.compile(r"[1-9][0-9]{0,2}( [0-9a-f]{1,64}:[0-9a-f]{1,8}){1,4095}")


def _read_design(part: Part) -> int:
    last, channel = _ticks(part), part.get("channel")
    if not isinstance(channel, str) or not CHANNEL.fullmatch(channel):
        _refuse("have a design that can be read")
    _count(outputs_of(channel, _epsilon(part, "epsilon"))[0], 2, last + 1)
    return last


@lru_cache(1 << 6)
def outputs_of(text: str, epsilon: Fraction) -> tuple[int, list[tuple[int, int, int]]]:
    """Return how many nodes a design has, and the subset and both weights of each output.

    What is left of the units of each node is one more output: it must keep epsilon too.
    """
    b, (head, *pairs) = exp_neg(epsilon).ends(80)[1], text.split(" ")
    nodes, outputs = _count(int(head), 2, 256), []
    for pair in pairs:
        subset, low = (int(digits, 16) for digits in pair.split(":"))
        if not low or not 0 < subset < 2**nodes - 1:
            _refuse("have a design that can be read")
        mirror = sum(1 << nodes - 1 - v for v in range(nodes) if subset >> v & 1)
        low <<= 8
        outputs += [
            (one, low, (low << 80) // b) for one in sorted({subset, mirror}, key=subset.__ne__)
        ]
    rests = [
        UNITS - sum(high if s >> v & 1 else low for s, low, high in outputs) for v in range(nodes)
    ]
    if min(rests) < 1 or max(rests) * b > min(rests) << 80:
        _refuse("cost no more than it says")
    return nodes, outputs


def _read_memoised(part: Part) -> int:
    g, digits = _count(part.get("values"), 2, 2**12), _count(part.get("digits"), 0, 24)
    if part["absent"] not in ("kept", "category"):
        _refuse("keep absent answers, or count them")
    top = _hashing(part) if digits else _categories(part, g)
    if digits == 0 and top + 1 != g:
        _refuse("keep a response for each category")
    permanent, once = _epsilon(part, "permanent"), _epsilon(part, "once")
    if g * permanent > _epsilon(part, "epsilon") or once >= permanent:
        _refuse("cost no more than it says")
    return top + int(part["absent"] == "kept")


TOPS: Mapping[str, Callable[[Part], int]] = {
    "response": _categories, "unary": lambda part: _categories(part, 2**16),
    "symmetric": lambda part: _categories(part, 2**16), "hadamard": _categories,
    "hashing": _hashing, "subset": _subset, "flipped": _flipped, "window": _read_window,
    "duchi": _ticks, "hybrid": _read_window, "laplace": _ticks, "staircase": _read_staircase,
    "truncated": _truncated, "design": _read_design, "memoised": _read_memoised,
}  # fmt: skip
"""The last code of a present answer; each refuses numbers that its method cannot draw with."""


def _count(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= min(most, MOST):
        _refuse(f"have whole numbers from {least} to {most} there")
    return value


def _fraction(value: object) -> Fraction:
    if not isinstance(value, str) or not FRACTION.fullmatch(value):
        _refuse("have fractions such as 3/2")
    return Fraction(value)


def _epsilon(part: Part, key: str) -> Fraction:
    epsilon = _fraction(part.get(key))
    if not 0 < epsilon <= MOST_EPSILON:
        _refuse(f"have an epsilon above 0 and at most {MOST_EPSILON}")
    return epsilon


def _refuse(must: str) -> NoReturn:
    raise ParameterError("form", must, "", "Use the result of form_for_device(schema).")
