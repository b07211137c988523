"""The reference of ``device.mjs`` and ``rounds.mjs`` in Python: what a device refuses and draws."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, floor
from typing import TYPE_CHECKING, Any, NoReturn

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import Real, exp_neg
from sourdine.local.rounds.memoised import spared
from sourdine.local.rounds.respondent import SECRET, VERSION
from sourdine.noise import SYSTEM
from sourdine.survey.form import FLAGS, MOST_EPSILON
from sourdine.survey.form import VERSION as FORM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sourdine.noise import Source

    Part = Mapping[str, Any]


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
    if _count(form.get("v"), 1, MOST) != FORM:
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


def _read_hashing(part: Part) -> int:
    g, digits = _count(part.get("values"), 2, 2**12), _count(part.get("digits"), 1, 24)
    return _categories(part, _count(g ** (digits + 1), 4, 2**24) // g)


def _read_subset(part: Part) -> int:
    top = _categories(part, 2**16)
    _count(part.get("size"), 1, top)
    return top


def _read_flipped(part: Part) -> int:
    top = _categories(part, 16)
    _count(part.get("flips"), 0, top)
    return (2 << top) - 1


def _read_staircase(part: Part) -> int:
    last = _ticks(part)
    _count(part.get("reach"), 1, (last + 1) // 2)
    return last


def _read_truncated(part: Part) -> int:
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
    top = _read_hashing(part) if digits else _categories(part, g)
    if digits == 0 and top + 1 != g:
        _refuse("keep a response for each category")
    permanent, once = _epsilon(part, "permanent"), _epsilon(part, "once")
    if g * permanent > _epsilon(part, "epsilon") or once >= permanent:
        _refuse("cost no more than it says")
    return top + int(part["absent"] == "kept")


TOPS: Mapping[str, Callable[[Part], int]] = {
    "response": _categories, "unary": lambda part: _categories(part, 2**16),
    "symmetric": lambda part: _categories(part, 2**16), "hadamard": _categories,
    "hashing": _read_hashing, "subset": _read_subset, "flipped": _read_flipped,
    "window": _read_window, "duchi": _ticks, "hybrid": _read_window, "laplace": _ticks,
    "staircase": _read_staircase, "truncated": _read_truncated,
    "design": _read_design, "memoised": _read_memoised,
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


# ---- The reference of ``device.mjs``: the same record from the same random bytes, in Python ------
#
# Every draw is one of three of `Draw`. Thresholds are `sourdine.exact.Real`, which shares no code
# with the device, and the randomisers are written a second time: what they agree on, letter for
# letter over thousands of records, neither got wrong alone. *Checked by*
# ``test_records_are_the_same_in_three_engines``; laws by ``test_the_law_is_that_of_the_mechanism``.


HALF = Real.of(Fraction(1, 2))
NEEDED = ("any", "kept")
"""The values of ``absent`` for columns that need an answer."""
DECIMAL = re.compile(r"[-+]?[0-9]{1,40}(?:[.,][0-9]{0,40})?")
"""A number as a person types it."""


class Draw:
    """Exact draws over random bytes.

    Parameters
    ----------
    source
        Where the bytes come from.
    """

    __slots__ = ("source",)

    def __init__(self, source: Source = SYSTEM) -> None:
        self.source = source

    def find(self, last: int, cumulative: Callable[[int], Real]) -> int:
        """Draw a uniform, and return the least y of 0 to last whose cumulative chance is above."""
        word, bits, low, high = self._word(), 64, -1, last
        while high - low > 1:
            middle = (low + high) // 2
            chance = cumulative(middle)
            while (ends := chance.ends(bits))[0] <= word < ends[1]:
                word, bits = word << 64 | self._word(), bits + 64
            low, high = (low, middle) if word < ends[0] else (middle, high)
        return high

    def coin(self, chance: Real) -> bool:
        return self.find(1, lambda _: chance) == 0

    def below(self, k: int) -> int:
        return noise.uniform_below(k, source=self.source)

    def _word(self) -> int:
        return int.from_bytes(self.source.bytes(8), "little")


@lru_cache(1 << 10)
def _share(weight: int, other: int, drop: Fraction) -> Real:
    """Return the chance of things of weight exp(-drop) beside others of weight 1."""
    rare = weight * exp_neg(drop)
    return rare / (other + rare)


@lru_cache(1 << 8)
def _kept(weight: int, others: int, epsilon: Fraction) -> Real:
    rare = exp_neg(epsilon)
    return weight * (1 - rare) / (weight + others * rare)


def response(part: Part, x: int, by: Draw) -> int:
    """Draw the category itself, or any."""
    anyone = by.below(part["k"])
    return x if by.coin(_kept(1, part["k"] - 1, Fraction(part["epsilon"]))) else anyone


def _rows(part: Part, x: int, by: Draw) -> bytes:
    epsilon, optimal = Fraction(part["epsilon"]), part["method"] == "unary"
    stray = _share(1, 1, epsilon if optimal else epsilon / 2)
    miss = HALF if optimal else stray
    return _packed([by.coin(stray) if v != x else not by.coin(miss) for v in range(part["k"])])


def _hadamard(part: Part, x: int, by: Draw) -> int:
    odd = by.coin(_share(1, 1, Fraction(part["epsilon"])))
    word, row = by.below(1 << part["k"].bit_length()), x + 1
    return word if (row & word).bit_count() % 2 == odd else word ^ (row & -row)


def _hashing(part: Part, x: int, by: Draw) -> int:
    g, digits = part["values"], part["digits"]
    key = by.below(g**digits)
    return int(key * g + response({**part, "k": g}, hashed(key, x, g, digits), by))


def hashed(key: int, x: int, g: int, digits: int) -> int:
    """Return the hash of a category: both in digits of base g, multiplied digit by digit."""
    return int(sum(key // g**i % g * (x // g**i % g) for i in range(digits)) % g)


def _subset(part: Part, x: int, by: Draw) -> bytes:
    k, size = part["k"], part["size"]
    special = x if by.coin(_kept(size, k - size, Fraction(part["epsilon"]))) else None
    row, lacking, left = [False] * k, size, k
    if special is not None:
        row[special], lacking, left = True, size - 1, k - 1
    for v in range(k):
        if v != special:
            row[v] = by.below(left) < lacking
            lacking, left = lacking - row[v], left - 1
    return _packed(row)


def _flipped(part: Part, x: int, by: Draw) -> int:
    k = part["k"]
    few = sum(comb(k, a) for a in range(part["flips"] + 1))
    many = 2**k - few
    rare = by.coin(_share(many, few, Fraction(part["epsilon"])))
    beyond, within = few + by.below(many), by.below(few)
    return x ^ _sets(k)[beyond if rare else within]


@lru_cache(16)
def _sets(k: int) -> list[int]:
    """Return all sets of k choices, small ones first."""
    return sorted(range(1 << k), key=lambda choices: (choices.bit_count(), choices))


def _window(part: Part, x: int, by: Draw) -> int:
    last, slide, width = part["last"], part["slide"], part["width"]
    start = x * slide // last if slide % last == 0 else (x * slide + by.below(last)) // last
    return _near_or_far(start, width, slide, Fraction(part["epsilon"]), by)


def _near_or_far(first: int, width: int, others: int, level: Fraction, by: Draw) -> int:
    """Draw a cell of a window, or, less likely, one of the others."""
    far, near = by.below(others), by.below(width)
    if by.coin(_share(others, width, level)):
        return far + width * (far >= first)
    return first + near


def _duchi(part: Part, x: int, by: Draw) -> int:
    above = by.below(part["last"]) < x
    return int(above != by.coin(_share(1, 1, Fraction(part["epsilon"]))))


def _hybrid(part: Part, x: int, by: Draw) -> int:
    bit, cell = _duchi(part, x, by), _window(part, x, by)
    return bit if by.coin(exp_neg(Fraction(part["epsilon"]) / 2)) else cell + 2


def _laplace(part: Part, x: int, by: Draw) -> int:
    last = part["last"]
    decay = Fraction(part["epsilon"]) / last
    left, right = exp_neg(decay * (x + 1)), exp_neg(decay * (last - x + 1))
    whole = 1 - left + (exp_neg(decay) - right)

    def cumulative(y: int) -> Real:
        if y <= x:
            return (exp_neg(decay * (x - y)) - left) / whole
        return (1 - left + (exp_neg(decay) - exp_neg(decay * (y - x + 1)))) / whole

    return by.find(last, cumulative)


def _staircase(part: Part, x: int, by: Draw) -> int:
    reach, size = part["reach"], part["last"] + 1
    width = 2 * reach - 1
    first = min(max(x - reach + 1, 0), size - width)
    return _near_or_far(first, width, size - width, Fraction(part["epsilon"]), by)


def _truncated(part: Part, x: int, by: Draw) -> int:
    reach, size = part["reach"], part["last"] + 1
    first, end = max(x - reach + 1, 0), min(x + reach, size)
    return _near_or_far(first, end - first, size - end + first, Fraction(part["level"]), by)


def _design(part: Part, x: int, by: Draw) -> int:
    nodes, outputs = outputs_of(part["channel"], Fraction(part["epsilon"]))
    last, steps = part["last"], nodes - 1
    node = x if steps == last else (x * steps + by.below(last)) // last
    sums = list(accumulate(high if s >> node & 1 else low for s, low, high in outputs))
    return by.find(len(sums), lambda y: Real.of(Fraction(sums[y], UNITS)))


METHODS: dict[str, Callable[[Part, int, Draw], int | bytes]] = {
    "response": response, "unary": _rows, "symmetric": _rows, "hadamard": _hadamard,
    "hashing": _hashing, "subset": _subset, "flipped": _flipped, "window": _window, "duchi": _duchi,
    "hybrid": _hybrid, "laplace": _laplace, "staircase": _staircase, "truncated": _truncated,
    "design": _design,
}  # fmt: skip


def report(part: Part, x: int | None, top: int, by: Draw) -> int | bytes:
    """Draw the report of a column from the code of an answer, None if there is none.

    ``top`` is the column's last code, as `read` returns it.
    """
    draw = METHODS[part["method"]]
    if x is not None and not 0 <= x <= top:
        raise ParameterError("answer", "have a code of its column", "", "Check the answer.")
    match part["absent"]:
        case "nothing":
            return draw(part, x or 0, by)
        case "category" | "kept":
            return draw(part, top if x is None else x, by)
        case "any":
            return draw(part, by.below(top) if x is None else x, by)
    flag = {"k": 2, "epsilon": part["flag"]}
    absent = response(flag, int(x is None), by)
    answer = draw(part, by.below(top) if x is None else x, by)
    return int(part["none"]) if absent else answer


def record(
    form: Mapping[str, Any], answers: Mapping[str, object], *, source: Source = SYSTEM
) -> str:
    """Return the line to be sent of one person's answers.

    Parameters
    ----------
    form
        What `sourdine.survey.form.form_for_device` returned.
    answers
        Their answers by the name of the column; a column left out is an absent answer, which is
        refused where the form does not provide for it.
    source
        Where the random bytes come from.

    Examples
    --------
    >>> from sourdine.local import Flag, Schema
    >>> from sourdine.survey.form import form_for_device
    >>> schema = Schema(smokes=Flag(), epsilon=1)
    >>> line = record(form_for_device(schema), {"smokes": True})
    >>> line.startswith('{"v":1,"s":"' + schema.fingerprint[:16])
    True
    """
    demand(form, answers)
    by, asked, chosen = Draw(source), list(zip(form["columns"], read(form), strict=True)), {}
    if form["method"] == "sample":
        chosen = {"c": sampled([column["weight"] for column in form["columns"]], by)}
        asked = [asked[chosen["c"]]]
    reports = [report(part, code(part, answers.get(part["name"])), top, by) for part, top in asked]
    head = {"v": 1, "s": form["mark"], "i": encoded(source.bytes(16))}
    shown = [encoded(one) if isinstance(one, bytes) else one for one in reports]
    return json.dumps({**head, **chosen, "a": shown}, separators=(",", ":"))


def demand(form: Mapping[str, Any], answers: Mapping[str, object]) -> None:
    """Refuse answers if one is absent that the form needs, before anything is drawn."""
    for column in form["columns"]:
        needed = column["absent"] in NEEDED
        if needed and code(column, answers.get(column["name"])) is None:
            raise ParameterError(
                f"the answer to {column['name']!r}", "be given", "", "Answer this question."
            )


def sampled(weights: Sequence[int], by: Draw) -> int:
    """Draw the place of the one column that a person reports."""
    left, chosen = by.below(sum(weights)), 0
    while (left := left - weights[chosen]) >= 0:
        chosen += 1
    return chosen


def code(column: Part, answer: object) -> int | None:
    if answer is None or answer == "":
        return None
    if column["kind"] == "number":
        found = [tick(str(answer), column)]
    else:
        listed = column["answers"]
        several = answer if isinstance(answer, (list, tuple)) else [answer]
        texts = [FLAGS[one] if isinstance(one, bool) else str(one) for one in several]
        found = [listed.index(one) if one in listed else None for one in texts]
    if None in found:
        raise ParameterError(
            f"the answer to {column['name']!r}", "be a valid answer", "",
            "Correct it, or omit it if there is none.",
        )  # fmt: skip
    if column["kind"] == "choices":
        return sum({1 << place for place in found if place is not None})
    return found[0]


def tick(text: str, column: Part) -> int | None:
    """Return the tick nearest to a decimal number, halves going up; None for what is none."""
    found = DECIMAL.fullmatch(text.strip())
    if found is None:
        return None
    value = Fraction(found[0].replace(",", "."))
    near = floor((value - Fraction(column["lower"])) / Fraction(column["step"]) + Fraction(1, 2))
    return min(max(near, 0), int(column["last"]))


def _packed(bits: Sequence[bool]) -> bytes:
    """Return bits as bytes, the first of them the lowest of the first byte."""
    whole = sum(1 << v for v, bit in enumerate(bits) if bit)
    return whole.to_bytes(-(-len(bits) // 8), "little")


def encoded(data: bytes) -> str:
    """Return bytes as a record holds them."""
    return urlsafe_b64encode(data).decode().rstrip("=")


# ---- The device of a survey of several rounds in Python: what ``rounds.mjs`` draws, byte for byte
#
# It takes the same bytes in the same order as the page's own, and is what the latter is compared
# with. A person's device in Python is `sourdine.local.rounds.respondent.Respondent`: the same
# laws, and the same memory as JSON.


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
        "sourdine": VERSION, "secret": SECRET, "schema": form["schema"], "answered": 0,
        "asked": None if place is None else form["columns"][place]["name"], "columns": columns,
    }  # fmt: skip


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
