"""The columns of a schema: `Flag`, `Choice`, `Choices` and `Number`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import flag, given
from sourdine.frames.cells import BLANK, Codes, Ticked, Ticks
from sourdine.frames.memory import Column
from sourdine.frames.reading import read_text
from sourdine.grid import MISSING, Grid
from sourdine.local.categorical.unary import MOST_CHOICES, FlippedSet
from sourdine.local.table.part import AnyAnswer, Kind, Lattice, Listed, PaidFlag, paid_flag
from sourdine.mechanisms import BoundedLaplace, BoundedStaircase, RandomizedResponse
from sourdine.mechanisms.mechanism import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from sourdine.exact import Number as Numeric
    from sourdine.frames.cells import Cell
    from sourdine.local.table.part import Written
    from sourdine.local.table.schema import Schema
    from sourdine.mechanisms.mechanism import Report
    from sourdine.mechanisms.randomized_response import FrequencyOracle


# ---- The mechanisms of a column by their names ---------------------------------------------------


NUMERIC = (
    *("square-wave", "piecewise", "duchi", "hybrid"),
    *("laplace", "staircase", "truncated-staircase", "design"),
)
CATEGORICAL = ("response", "unary", "symmetric", "hashing", "hadamard", "subset", "auto")


def report(*, epsilon: Fraction, method: str, last: int, channel: str | None = None) -> Report:
    """Return the mechanism of that name for the ticks 0 to ``last``; by ``"auto"`` the best.

    ``channel`` is the text of a design (`sourdine.local.designs.numbers`), which is otherwise the
    known one nearest to epsilon.
    """
    from sourdine.local.numeric.duchi import Duchi, HybridReport
    from sourdine.local.numeric.sliding import piecewise, square_wave

    if method in ("auto", "design"):
        from sourdine.local.designs.numbers import DesignedReport, best, designed

        if channel is not None:
            return DesignedReport(epsilon=epsilon, last=last, channel=channel)
        return best(epsilon, last) if method == "auto" else designed(epsilon, last)
    make: dict[str, Callable[..., Report]] = {
        "laplace": BoundedLaplace, "staircase": BoundedStaircase,
        "truncated-staircase": partial(BoundedStaircase, method="truncated"),
        "duchi": Duchi, "hybrid": HybridReport,
        "piecewise": piecewise, "square-wave": square_wave,
    }  # fmt: skip
    return make[method](epsilon=epsilon, last=last)


def oracle(*, epsilon: Fraction, method: str | None, categories: int) -> FrequencyOracle:
    """Return the frequency oracle of that name; by None or ``"auto"`` the best."""
    if method == "response":
        return RandomizedResponse(epsilon=epsilon, categories=categories)
    from sourdine.local.categorical.choosing import best_oracle
    from sourdine.local.categorical.hashing import HadamardResponse, LocalHashing
    from sourdine.local.categorical.subset import SubsetSelection
    from sourdine.local.categorical.unary import UnaryEncoding

    if method is None or method == "auto":
        return best_oracle(epsilon, categories)
    make: dict[str, Callable[..., FrequencyOracle]] = {
        "unary": UnaryEncoding,
        "symmetric": partial(UnaryEncoding, method="symmetric"),
        "hashing": LocalHashing,
        "hadamard": HadamardResponse,
        "subset": SubsetSelection,
    }
    return make[method](epsilon=epsilon, categories=categories)


def shown_ticks(value: Any, method: str) -> NDArray[np.int64] | range | None:
    r"""Return the tick at which a table shows each report; None if it shows estimates.

    Laplace and staircase report ticks. A cell of Square Wave is shown at its place: the cell in
    the middle of the window of :math:`x` at :math:`x`, so some lie outside the bounds. With
    :math:`S` cells for :math:`m \ge S` steps of the lattice, cell :math:`y` is at the tick nearest
    to :math:`(y - h)m/S`, :math:`h` being half the window; these are :math:`m/S \ge 1` apart, so
    each cell has a tick of its own. The mechanisms for means have estimates instead.
    """
    if method in {"laplace", "staircase", "truncated-staircase"}:
        return range(value.last + 1)
    if method != "square-wave":
        return None
    half, m, slide = value.width // 2, value.last, value.slide
    place = (np.arange(value.codes) - half) * m
    return np.asarray((2 * place + slide) // (2 * slide), np.int64)


def _apart(values: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the values with those that are one float moved to the next ones, in this order.

    Far from 0 floats are wide apart: the estimates of two reports may be one there.

    Examples
    --------
    >>> (_apart(np.array([2.0**60, 2.0**60]), np.array([1, 0])) - 2.0**60).tolist()
    [256.0, 0.0]
    """
    found, least = values.copy(), -np.inf
    for y in order.tolist():
        found[y] = least = max(found[y], np.nextafter(least, np.inf))
    return found


# ---- The columns of a schema: what may be answered, and by which mechanism it is randomised ------
#
# Bounds and categories are declared, never read off the data. An answer outside the bounds counts
# as the nearest bound; one that is empty, unreadable or not listed is *absent*
# (`sourdine.local.table.part`). A column declares with ``missing`` that answers may be absent;
# what becomes of absent answers of the others is said in `Schema`.


WORDS = (("false", "no", "f", "n"), ("true", "yes", "t", "y"))
"""How a flag may be written."""


NO_ANSWER = "no answer"
"""What the category for absent answers is called unless a `Choice` names it."""

Use = Literal["table", "report"]
"""What the randomised answers are for: a table that looks like the first, or reports to send."""


class Attribute(ABC):
    """What every column has."""

    __slots__ = ()

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    """The parameters, by which JSON and TOML know them."""
    method: str | None
    missing: bool | str | None

    @abstractmethod
    def cell(self, name: str) -> Cell:
        """Return how answers are read."""

    @abstractmethod
    def mechanism(self, epsilon: Fraction, use: Use) -> Report:
        """Return what randomises the answers; its highest code is an absent answer."""

    @abstractmethod
    def written(self, mechanism: Any) -> Written:
        """Return how reports stand in a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The categories as texts, that of absent answers last; of numbers, none."""
        return ()

    def none(self, mechanism: Report) -> int | None:
        """Return the report that a table shows as a blank, if there is one."""
        return mechanism.none if isinstance(mechanism, PaidFlag) else None

    def settled(self, epsilon: Fraction) -> Attribute:
        """Return the column with all that depends on its share of epsilon."""
        return self

    def facts(self) -> dict[str, Any]:
        """Return the parameters as JSON and TOML know them, without those that are left out."""
        found = {key: getattr(self, key) for key in self.keys}
        return {"kind": self.kind} | {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in found.items()
            if value is not None and value is not False
        }


class Categorical(Attribute):
    """A column of categories."""

    __slots__ = ()

    def mechanism(self, epsilon: Fraction, use: Use) -> Report:
        """Return randomised response for a table, the best oracle for reports."""
        named = "response" if use == "table" else self.method
        value = oracle(epsilon=epsilon, method=named, categories=len(self.names))
        return value if self.missing else AnyAnswer(answer=value)


@dataclass(frozen=True, slots=True, repr=False)
class Number(Attribute):
    """A number between public bounds, snapped to a lattice.

    Parameters
    ----------
    lower, upper, step
        The lattice (`sourdine.Grid`): ``Number(0, 120, step=1)`` for an age.
    method
        ``"design"`` (best for distributions and quantiles, about as good for means as Square Wave;
        on more than 121 ticks quantiles of very many people are known better by the latter),
        ``"square-wave"`` (also by None), ``"piecewise"``, ``"duchi"`` or ``"hybrid"`` (for means),
        ``"laplace"``, ``"staircase"`` or ``"truncated-staircase"`` (reports stay within the
        bounds). ``"auto"``: a design or Square Wave, whichever knows the distribution better by
        the column's epsilon and lattice.
    missing
        True if an answer may be absent: whether there is one is reported too, randomised and
        paid with a quarter of the column's epsilon, and the output is blank where the
        *randomised* flag says so. Means and quantiles are then of those who answered. By default
        everybody answers (see `Schema`).
    channel
        The text of the design (`sourdine.local.designs.channels`), under ``"design"``. A schema
        fills it in from the known designs and its own epsilon: so it is part of the fingerprint
        and travels wherever the schema does.

    Examples
    --------
    >>> Number(0, 120, step=1)
    Number(lower=0, upper=120, step=1)
    >>> Number(0, 120, step=1, method="gauss")
    Traceback (most recent call last):
    sourdine.errors.ParameterError: method must be one of 'square-wave', 'piecewise', 'duchi', 'hybrid', 'laplace', 'staircase', 'truncated-staircase', 'design', 'auto', got 'gauss'. Use method='square-wave', or omit it for the best one.
    """  # noqa: E501

    lower: Numeric
    upper: Numeric
    step: Numeric | None = None
    method: str | None = field(default=None, kw_only=True)
    missing: bool = field(default=False, kw_only=True)
    channel: str | None = field(default=None, kw_only=True)
    grid: Grid = field(init=False, compare=False)
    kind: ClassVar[str] = "number"
    keys: ClassVar = ("lower", "upper", "step", "method", "missing", "channel")

    def __post_init__(self) -> None:
        wanted = Grid(self.lower, self.upper, self.step)
        if wanted.points is not None:
            raise ParameterError(
                "lower", "be a number", "a date",
                "Use the days since a date: {lower} and {upper}.", lower=0, upper=wanted.last,
            )  # fmt: skip
        if self.channel is not None and self.method != "design":
            raise ParameterError(
                "channel", "be omitted unless the method is 'design'",
                f"the method {self.method!r}", "Use {method}, or omit {channel}.",
                method="design", channel=LEFT_OUT,
            )  # fmt: skip
        grid = Grid(wanted.lower, wanted.value(wanted.last), wanted.step)
        settle(
            self, lower=grid.lower, upper=grid.upper, step=grid.step, grid=grid,
            method=_named(self.method, (*NUMERIC, "auto")), missing=flag(self.missing, "missing"),
        )  # fmt: skip

    def cell(self, name: str) -> Cell:
        return Ticks(name, self.grid)

    def mechanism(self, epsilon: Fraction, use: Use) -> AnyAnswer | PaidFlag:
        """Return the mechanism of ``method``; for both uses the same."""
        own: dict[str, Any] = {
            "method": self.method or NUMERIC[0], "last": self.grid.last, "channel": self.channel
        }  # fmt: skip
        if self.missing:
            return paid_flag(report, epsilon=epsilon, **own)
        return AnyAnswer(answer=report(epsilon=epsilon, **own))

    def settled(self, epsilon: Fraction) -> Number:
        """Return the column with the method that ``"auto"`` means, and a design's channel."""
        if self.method not in ("auto", "design"):
            return self
        channel = getattr(self.mechanism(epsilon, "report").answer, "channel", None)
        method = NUMERIC[0] if channel is None else "design"
        return replace(self, method=method, channel=channel)

    def written(self, mechanism: Any) -> Written:
        """Return points of the lattice, or the unbiased estimates of a mechanism for means."""
        value = mechanism.answer
        ticks = shown_ticks(value, self.method or NUMERIC[0])
        if ticks is None:
            estimates = value.values(np.arange(value.codes), self.grid)
            order = value.estimates(np.arange(value.codes)).argsort(kind="stable")
            return Listed(listed=_apart(estimates, order).tolist(), kind="float")
        return Lattice(grid=self.grid, ticks=ticks)

    def facts(self) -> dict[str, Any]:
        return Attribute.facts(self) | {
            key: plain(Fraction(getattr(self, key))) for key in self.keys[:3]
        }

    def __repr__(self) -> str:
        facts = self.facts()
        shown = [f"{key}={facts[key]!r}" for key in self.keys[:-1] if key in facts]
        return f"Number({', '.join(shown)})"


@dataclass(frozen=True, slots=True, init=False)
class Choice(Categorical):
    """One of some listed categories.

    Parameters
    ----------
    categories
        Texts, numbers, booleans or dates, at least two with the one for absent answers; the
        column of a table keeps their type if they have one. Read as in
        `sourdine.frames.cells.Codes`.
    method
        In a table always ``"response"``, randomised response. In reports also ``"unary"``,
        ``"symmetric"``, ``"hashing"``, ``"hadamard"`` or ``"subset"``; by None (or ``"auto"``)
        whichever estimates best.
    missing
        True, or the name of a category of its own, if an answer may be absent: answers that are
        absent or not listed are randomised as that category, and shares are estimated of all
        people and of those who answered. By default everybody answers (see `Schema`).

    Examples
    --------
    >>> Choice("yes", "no", missing=True).listed
    ('yes', 'no', 'no answer')
    """

    categories: tuple[Any, ...]
    method: str | None
    missing: str | None
    kind: ClassVar[str] = "choice"
    keys: ClassVar = ("categories", "method", "missing")

    def __init__(
        self, *categories: Any, method: str | None = None, missing: bool | str | None = None
    ) -> None:
        missing = {True: NO_ANSWER, False: None}[missing] if isinstance(missing, bool) else missing
        if missing is not None and (not isinstance(missing, str) or not missing):
            raise ParameterTypeError(
                "missing", "be True or the name of a category", given(missing),
                "Use {missing}, or omit it.", missing=NO_ANSWER,
            )  # fmt: skip
        _demand_separate("categories", categories, "Choice")
        plain = tuple(map(_category, categories))
        if missing is not None and missing in map(str, plain):
            must, hint = "differ from the categories", "Use {missing}."
            raise ParameterError("missing", must, given(missing), hint, missing=NO_ANSWER)
        settle(self, categories=plain, method=_named(method, CATEGORICAL), missing=missing)
        Codes(None, self.listed)
        if any(set("\r\0") & set(name) for name in self.names):
            must = "be strings without carriage returns and NUL"
            raise ParameterError("categories", must, "", "Remove these characters.")
        if len(self.listed) < 2:
            hint = "Use Choice('yes', 'no')."
            raise ParameterError("categories", "hold at least two", f"{len(self.listed)}", hint)

    @property
    def listed(self) -> tuple[Any, ...]:
        """The categories, the one for absent answers last."""
        return self.categories if self.missing is None else (*self.categories, self.missing)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, self.listed))

    def cell(self, name: str) -> Cell:
        return Codes(name, self.listed)

    def written(self, mechanism: Report) -> Written:
        kind = _kind(self.listed)
        listed = self.listed if kind != "text" else tuple(map(read_text, self.listed))
        return Listed(listed=listed, kind=kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Categorical):
    """True or false; read from booleans, 0 and 1, and the words true, yes, t, y and opposites.

    The words may be written in small letters, in capitals or with one capital.

    Parameters
    ----------
    method
        As in `Choice`.
    missing
        True if an answer may be absent: *no answer* is a third one, which a table shows as a
        blank. By default everybody answers (see `Schema`).

    Examples
    --------
    >>> codes = Flag().cell("smokes").codes
    >>> codes["1"], codes["TRUE"], codes["Yes"], codes["n"]
    (1, 1, 1, 0)
    """

    method: str | None = None
    missing: bool = False
    kind: ClassVar[str] = "flag"
    keys: ClassVar = ("method", "missing")

    def __post_init__(self) -> None:
        settle(self, method=_named(self.method, CATEGORICAL), missing=flag(self.missing, "missing"))

    @property
    def names(self) -> tuple[str, ...]:
        return ("false", "true", NO_ANSWER) if self.missing else ("false", "true")

    def cell(self, name: str) -> Cell:
        cell = Codes(name, (False, True))
        cell.codes.update({"0": 0, "1": 1})
        for code, words in enumerate(WORDS):
            spelt = (s for word in words for s in (word, word.upper(), word.capitalize()))
            cell.codes.update(dict.fromkeys(spelt, code))
        return cell

    def none(self, mechanism: Report) -> int | None:
        return 2 if self.missing else None

    def written(self, mechanism: Report) -> Written:
        return Listed(listed=(False, True), kind="flag")


def _named(method: object, names: tuple[str, ...]) -> str | None:
    if method is None or (isinstance(method, str) and method in names):
        return method
    listed = ", ".join(map(repr, names))
    hint = "Use {method}, or omit it for the best one."
    raise ParameterError("method", f"be one of {listed}", given(method), hint, method=names[0])


def _demand_separate(name: str, listed: tuple[Any, ...], kind: str) -> None:
    """Refuse a list in place of its elements."""
    if len(listed) == 1 and isinstance(listed[0], (list, tuple, set)):
        hint = f"Use {kind}(*{name})."
        raise ParameterTypeError(name, "be separate arguments", "a list", hint)


def _category(value: object) -> Any:
    """Return a category as JSON knows it; what JSON does not know, as its text."""
    value = value.item() if isinstance(value, np.generic) else value
    known = isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value))
    return value if known else read_text(value)


def _kind(listed: tuple[Any, ...]) -> Kind:
    kinds = {type(v) for v in listed}
    if kinds == {bool}:
        return "flag"
    if kinds == {int} and all(-(1 << 63) <= v < 1 << 63 for v in listed):
        return "whole"
    return "float" if kinds <= {int, float} and float in kinds else "text"


def plain(x: Fraction) -> int | float | str:
    """Return a number that reads back as the same: whole, as a decimal, or as a text."""
    if x.denominator == 1:
        return int(x)
    return float(x) if Fraction(str(float(x))) == x else str(x)


# ---- `Choices`: a question of which a person may tick several answers ----------------------------


@dataclass(frozen=True, slots=True, init=False)
class Choices(Attribute):
    """Any number of some listed choices, in one cell: ``tv;web``.

    An empty cell ticks nothing, and so does a word that is not listed: nobody's answer is absent,
    and shares are of all people. To tell *none of these* from *no answer*, list a choice for it.

    Parameters
    ----------
    choices
        Texts, from 2 to 16, none of which holds the separator or begins or ends with a blank.
    separator
        What stands between them; blanks around it do not matter.

    Notes
    -----
    All choices of a person together cost the column's epsilon, whatever else could have been
    ticked (`sourdine.local.categorical.unary`). A sanitised cell is a set in the order listed;
    the empty set is written as the separator alone, so that it is not taken for a blank.

    Examples
    --------
    >>> media = Choices("tv", "web", "radio")
    >>> media.cell("media").codes_of(["web; tv", "", "podcast;radio"])
    [3, 0, 4]
    >>> media.texts()[:5]
    [';', 'tv', 'web', 'tv;web', 'radio']
    """

    choices: tuple[str, ...]
    separator: str
    method: None
    missing: bool
    kind: ClassVar[str] = "choices"
    keys: ClassVar = ("choices", "separator")

    def __init__(self, *choices: str, separator: str = ";") -> None:
        _demand_separate("choices", choices, "Choices")
        if not isinstance(separator, str) or not separator.strip() or "\n" in separator:
            must, hint = "be a string that is not blank", "Use {separator}."
            raise ParameterError("separator", must, given(separator), hint, separator=";")
        settle(self, choices=choices, separator=separator, method=None, missing=True)
        if not 2 <= len(choices) <= MOST_CHOICES:
            hint = "Use Choices('tv', 'web', 'radio'); group rare ones."
            raise ParameterError("choices", f"be from 2 to {MOST_CHOICES}", f"{len(choices)}", hint)
        for choice in choices:
            if not isinstance(choice, str) or choice.strip() != choice or not choice:
                must = "be strings without leading or trailing blanks"
                hint = "Use Choices('tv', 'web')."
                raise ParameterTypeError("choices", must, given(choice), hint)
            if set(separator) & set(choice) or set("\r\0") & set(choice):
                must = f"contain neither the separator {separator!r} nor control characters"
                other = "|" if separator != "|" else ";"
                raise ParameterError(
                    "choices", must, given(choice), "Use {separator}.", separator=other
                )
        if len(set(choices)) < len(choices):
            raise ParameterError("choices", "be distinct", "a duplicate", "List each once.")

    @property
    def names(self) -> tuple[str, ...]:
        return self.choices

    listed = names

    def cell(self, name: str) -> Ticked:
        return Ticked(name, self.choices, self.separator)

    def mechanism(self, epsilon: Fraction, use: Use) -> Report:
        return FlippedSet(epsilon=epsilon, categories=len(self.choices))

    def texts(self) -> list[str]:
        """Return how each set is written."""
        found = [""]
        for choice in self.choices:
            found += [f"{one}{self.separator if one else ''}{choice}" for one in found]
        return [self.separator, *found[1:]]

    def written(self, mechanism: Report) -> Written:
        return Listed(listed=self.texts(), kind="text")

    def facts(self) -> dict[str, Any]:
        found = Attribute.facts(self)
        return found if self.separator != ";" else {k: found[k] for k in ("kind", "choices")}


# ---- One person's own answers: whether they can be read, and what they should be -----------------
#
# These checks are for a person's own device, where a refused answer can be corrected. Cells of a
# table are never refused: that would tell somebody about them.


def demand_answers(schema: Schema, answers: Mapping[str, Any], whose: str = "") -> None:
    """Refuse a person's answers if one is absent, or cannot be read, that the schema needs.

    ``whose`` is what an error calls the person, after a blank.

    Examples
    --------
    >>> from sourdine.local.table.schema import Schema
    >>> schema = Schema(vote=Choice("yes", "no"), age=Choice("old", "young", missing=True), epsilon=1)
    >>> demand_answers(schema, {"vote": "yes"})
    >>> demand_answers(schema, {"age": "old"})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: the answer to 'vote' must be one of 'yes', 'no', got no answer. Answer it; the schema declares which questions are optional.
    """  # noqa: E501
    for name in schema.undeclared:
        question, answer = schema.columns[name], answers.get(name)
        if answer is None or answer == "" or not is_readable(question, answer):
            raise ParameterError(
                f"the answer to {name!r}{whose}", f"be {wanted(question)}",
                "no answer" if answer is None or answer == "" else "another value",
                "Answer it; the schema declares which questions are optional.",
            )  # fmt: skip


def is_readable(question: Attribute, answer: str | float) -> bool:
    """Return whether an answer is one of those asked for; a number may be beyond the bounds.

    Examples
    --------
    >>> [is_readable(Choices("tv", "web"), answer) for answer in ("web; tv", ";", "tv;radio")]
    [True, True, False]
    """
    cell = question.cell("answer")
    if isinstance(cell, Ticked):
        words = {word.strip(BLANK) for word in str(answer).split(cell.separator)}
        return words <= {*cell.words, ""}
    return bool(cell.slots(Column.of([answer]))[0] != MISSING)


def wanted(question: Attribute) -> str:
    """Return what an answer should be, in words."""
    if isinstance(question, Choice):
        return f"one of {', '.join(map(repr, question.listed))}"
    if isinstance(question, Choices):
        return f"some of {', '.join(map(repr, question.choices))}"
    return "yes or no" if isinstance(question, Flag) else f"a {question.kind}"
