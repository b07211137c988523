"""What a device refuses: a form whose records would cost more than it says, or that it cannot draw.

The twin of ``read`` in ``device.mjs``, written a second time. Both refuse the same forms (*checked
by* ``test_both_devices_refuse_the_same_forms``), and no form that they read costs more than it says
(*checked by* ``test_no_form_that_is_read_costs_more_than_it_says``).
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from sourdine.errors import ParameterError
from sourdine.exact import exp_neg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Part = Mapping[str, Any]

__all__ = ["read"]

VERSION = 1
MOST_EPSILON = 8
MOST = 2**53 - 1
"""The largest whole number that a browser counts exactly."""
FRACTION = re.compile(r"-?[0-9]{1,400}(/[1-9][0-9]{0,400})?")
ABSENT = ("any", "category", "kept", "nothing", "paid")
BITS, MOST_BITS = 64, 1 << 12


def read(form: Mapping[str, Any]) -> list[int]:
    """Return the last code of each column, or refuse the form.

    The last code is that of an absent answer where a column has one for it.

    Parameters
    ----------
    form
        What `sourdine.survey.form.form_for_device` returned, or what somebody else made.
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


def _window(part: Part) -> int:
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


def _staircase(part: Part) -> int:
    last = _ticks(part)
    _count(part.get("reach"), 1, (last + 1) // 2)
    return last


def _truncated(part: Part) -> int:
    last = _staircase(part)
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


def _memoised(part: Part) -> int:
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
    "response": _categories,
    "unary": lambda part: _categories(part, 2**16),
    "symmetric": lambda part: _categories(part, 2**16),
    "hadamard": _categories,
    "hashing": _hashing,
    "subset": _subset,
    "flipped": _flipped,
    "window": _window,
    "duchi": _ticks,
    "hybrid": _window,
    "laplace": _ticks,
    "staircase": _staircase,
    "truncated": _truncated,
    "memoised": _memoised,
}
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
    raise ParameterError(
        "form", must, "another one", "Take the form that form_for_device(schema) makes."
    )
