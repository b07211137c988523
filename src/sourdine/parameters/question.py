"""`Question`: the declared parameters of a statistic, and functions made from them."""

from __future__ import annotations

import datetime as dt
import inspect
from abc import abstractmethod
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    overload,
)

import attrs
import numpy as np

from sourdine.calendar import spelled as lasting
from sourdine.errors import (
    LEFT_OUT,
    ParameterError,
    ParameterTypeError,
    SourdineError,
    did_you_mean,
)
from sourdine.exact import given
from sourdine.frames.reading import Reading
from sourdine.parameters.converters import in_iso
from sourdine.parameters.kinds import DATA, GROUPS, PRIVACY, STATEMENT, WHAT, spelled
from sourdine.privacy import Relation
from sourdine.results.release import Estimator, Release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from sourdine.parameters.kinds import Kind


# ---- Questions -----------------------------------------------------------------------------------
#
# A statistic declares its parameters once, as fields of a frozen class: name, type and converter,
# default, and what `sourdine.parameters.kinds.param` adds. One reader makes a question of what was
# typed, in Python, in a shell or as JSON, or raises one structured error. The JSON of a question is
# stored in releases and ledgers, and sent by forms.


ORDER = (DATA, WHAT, GROUPS, PRIVACY)
_SCALAR = (str, int, float, bool, type(None))


Q = TypeVar("Q", bound="Question")


@attrs.frozen(kw_only=True)
class Parameter:
    """A parameter of a question, as declared by its class."""

    name: str
    attribute: str
    kind: Kind
    help: str
    group: str
    unit: str | None
    default: Any
    required: bool
    positional: bool

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema, including what a form shows."""
        about = {"description": self.help, "group": self.group}
        if self.unit is not None:
            about["unit"] = self.unit
        default = {} if self.default is None else {"default": plain_parameter(self.default)}
        return {**self.kind.schema, **about, **default}


@attrs.frozen(kw_only=True, slots=False)
class Question(Estimator):
    """A frozen record of the public parameters of a statistic, which can be released."""

    text: ClassVar[str]
    """A one-sentence description."""
    required: ClassVar[tuple[str, ...]] = ()
    """Parameters that must be given."""
    unlisted: ClassVar[tuple[str, ...]] = ()
    """Parameters that no interface lists."""
    unwritten: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Values of parameters missing in older JSON, where they differ from today's defaults."""
    examples: ClassVar[tuple[str, str]] = ("", "")
    """Examples of shell arguments after its name: to release, and to plan."""

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON: the parameters that differ from the defaults."""
        return {
            name: x if isinstance(x, _SCALAR) else deepcopy(x) for name, x in self._said.items()
        }

    @cached_property
    def _said(self) -> dict[str, Any]:
        said: dict[str, Any] = {"statistic": self.kind}
        for p in parameters(type(self)):
            typed = plain_parameter(getattr(self, p.attribute))
            if typed != plain_parameter(p.default) and p.name not in UNSAID:
                said[p.name] = typed
        return said

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the question that `to_dict` wrote."""
        said = {name: value for name, value in facts.items() if name != "statistic"}
        said = {**cls.unwritten, **said}
        _require_known(cls, said)
        return _read(cls, said)

    @abstractmethod
    def release(self, data: object) -> Release:
        """Draw and publish the answer."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        own = {p.name: p.schema() for p in parameters(cls)}
        return {
            "title": cls.kind, "description": cls.text, "type": "object",
            "properties": {"statistic": {"const": cls.kind}, **own},
            "required": ["statistic", *cls.required],
            "oneOf": [{"required": ["epsilon"]}, {"required": ["error"]}],
            "additionalProperties": False,
        }  # fmt: skip


SYNONYMS = {
    **dict.fromkeys(("groupby", "group_by", "groups"), "by"),
    **dict.fromkeys(("range", "limits", "clip", "lower", "upper"), "bounds"),
    **dict.fromkeys(("col", "variable", "columns"), "column"), "eps": "epsilon",
    **dict.fromkeys(("filter", "query", "condition"), "where"),
}  # fmt: skip
"""Names of parameters in other libraries."""
WEIGHTS = ("weights", "weight_bounds")
HINTS = 3
"""The number of hints that are followed before one is shown."""
UNSAID = ("error",)
"""Parameters dropped once a question is settled: a requested error has become an epsilon."""


@cache
def parameters(cls: type[Question]) -> tuple[Parameter, ...]:
    """Return the parameters that a statistic declares, group by group."""
    declared = [
        Parameter(
            name=f.alias or f.name,
            attribute=f.name,
            default=None if f.default is attrs.NOTHING else f.default,
            required=(f.alias or f.name) in cls.required,
            positional=not f.kw_only,
            **f.metadata,
        )
        for f in attrs.fields(cls)
        if f.init and "kind" in f.metadata and (f.alias or f.name) not in cls.unlisted
    ]
    return tuple(sorted(declared, key=lambda p: ORDER.index(p.group)))


def read(cls: type[Q], typed: Mapping[str, Any]) -> Q:
    """Return the question for typed parameters, or raise one structured error.

    Equal questions are the same object, since they are frozen: derived values are computed once.

    Parameters
    ----------
    cls
        The statistic.
    typed
        Parameters by name, as Python values, as texts or from JSON; None means that one was left
        out, unless its kind is nullable.
    """
    said = {name: _unpacked(value) for name, value in typed_values(cls, typed).items()}
    outer: list[type] = []
    inner: list[type] = []  # tell 1 from True, also in lists
    frozen: list[Any] = []
    for value in said.values():
        kind = type(value)
        outer.append(kind)
        if kind is list or kind is tuple:
            inner.extend(map(type, value))
            frozen.append(tuple(value))
        else:
            inner.append(kind)
            frozen.append(value)
    if not _PLAIN.issuperset(inner):
        return _asked(cls, said)
    asked = _remembered(cls, tuple(said), tuple(outer), tuple(inner), tuple(frozen))
    return cast("Q", asked)


def kept_of(fixed: Mapping[str, Any], per_person: object) -> dict[str, Any]:
    """Return what is fixed for a question: one value for each person takes all of their rows."""
    return {name: own for name, own in fixed.items() if name != "rows" or per_person is None}


def typed_values(cls: type[Question], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given parameters: None means left out, unless the kind is nullable."""
    return {name: x for name, x in typed.items() if x is not None or name in _nullable(cls)}


@cache
def _nullable(cls: type[Question]) -> frozenset[str]:
    return frozenset(p.name for p in parameters(cls) if p.kind.nullable)


def _unpacked(value: Any) -> Any:
    """Return the numbers of an array as a list, or its only one."""
    if not isinstance(value, np.ndarray):
        return value
    return list(value) if value.ndim else value[()]


_PLAIN = frozenset(
    {str, int, float, bool, Fraction, Decimal, Relation, np.float64, np.int64, type(None)}
)
"""Types whose values are identified by type and value alone."""


@lru_cache(256)
def _remembered(
    cls: type[Question],
    names: tuple[str, ...],
    outer: tuple[type, ...],
    inner: tuple[type, ...],
    frozen: tuple[Any, ...],
) -> Question:
    """Return the same question for the same parameters: questions are frozen."""
    del inner  # part of the key
    given = zip(names, outer, frozen, strict=True)
    return _asked(cls, {name: kind(x) if kind is list else x for name, kind, x in given})


def _asked(cls: type[Q], said: Mapping[str, Any]) -> Q:
    try:
        return _built(cls, said)
    except SourdineError as error:
        raise _with_a_hint_that_works(error, cls, said) from None


def _with_a_hint_that_works(
    error: SourdineError, cls: type[Question], said: Mapping[str, Any]
) -> SourdineError:
    """Return the error; if its hint leads to another error of the parameter, with that one's hint.

    The value to type for a parameter may depend on others, which its converter does not know.
    """
    for _ in range(HINTS):
        said = obeyed(said, error.tries)
        try:
            _built(cls, said)
        except SourdineError as next_one:
            if next_one.name != error.name:
                return error
            error = error.hinting(next_one.hint, {**error.tries, **next_one.tries})
        else:
            return error
    return error


def obeyed(said: Mapping[str, Any], tries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters after following a hint."""
    return {name: x for name, x in {**said, **tries}.items() if x is not LEFT_OUT}


def _built(cls: type[Q], said: Mapping[str, Any]) -> Q:
    _require_known(cls, said)
    missing = f"{cls.kind}() missing a required argument: "
    if "epsilon" not in said and "error" not in {p.name for p in parameters(cls)}:
        raise ParameterTypeError("epsilon", f"{missing}'epsilon'.", epsilon=1)
    if "epsilon" not in said and "error" not in said:
        hint = "Use {epsilon}, or {error} with the largest acceptable error."
        raise ParameterTypeError("epsilon", f"{missing}'epsilon' or 'error'.", "", hint, epsilon=1)
    if "epsilon" in said and "error" in said:
        raise ParameterError(
            "epsilon", "not be combined with {error}", "", "Use {epsilon} and omit {error}.",
            error=LEFT_OUT, epsilon=spelled(said["epsilon"]),
        )  # fmt: skip
    return _read(cls, said)


def _read(cls: type[Q], said: Mapping[str, Any]) -> Q:
    known = {p.name: p for p in parameters(cls)}
    values = {k: known[k].kind.parse(v) if k in known else v for k, v in said.items()}
    values = in_iso(values, said.get("read"))
    lacking = [name for name in cls.required if name not in values]
    values.update(dict.fromkeys(lacking))
    try:
        return cls(**values)
    except (ParameterError, ParameterTypeError) as error:
        if error.name not in lacking:
            raise
        must = f"{cls.kind}() missing a required argument: {error.name!r}."
        raise ParameterTypeError(error.name, must, "", error.hint, **error.tries) from None


def _require_known(cls: type[Question], said: Mapping[str, Any]) -> None:
    """Refuse a parameter that the statistic does not declare."""
    known = [p.name for p in parameters(cls)]
    for name in said:
        if name in known or name in cls.unlisted:
            continue
        meant = did_you_mean(name, known)
        if SYNONYMS.get(name) in known:
            meant = f"Did you mean {SYNONYMS[name]!r}?"
        if name in WEIGHTS:
            meant = (
                "Only count, sum, mean, variance, std, proportion, histogram, median, quantile, "
                "quantiles and cdf take weights."
            )
        must = f"{cls.kind}() got an unexpected keyword argument {name!r}."
        raise ParameterTypeError(name, must, "", meant, **{name: LEFT_OUT})


def schema(classes: Mapping[str, type[Question]]) -> dict[str, Any]:
    """Return one JSON Schema of all these questions."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A question to private data",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in classes],
        "$defs": {kind: cls.schema() for kind, cls in classes.items()},
    }


def plain_parameter(value: Any) -> Any:
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, Relation):
        return value.value
    if isinstance(value, (list, tuple)):
        return [plain_parameter(part) for part in value]
    if isinstance(value, Reading):
        return value.to_dict()
    if isinstance(value, (dt.date, dt.timedelta)):
        return value.isoformat() if isinstance(value, dt.date) else lasting(value)
    plain = value.item() if hasattr(value, "item") else value
    return plain if plain is None or isinstance(plain, (bool, int, float, str)) else str(plain)


def _number(x: Fraction) -> int | float | str:
    """Return the number that prints as ``x``, or ``x`` as a text."""
    if x.denominator == 1:
        return int(x)
    return float(x) if Fraction(repr(float(x))) == x else str(x)


# ---- Functions and methods made from declarations ------------------------------------------------
#
# A type checker takes their signatures from the statistic's constructor (by a parameter
# specification), an editor completes them, and ``help()`` shows them: nothing is written twice.


P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Asks(Protocol[R_co]):
    """An object with statistics as methods, which acts on a typed question."""

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> R_co: ...


class QuestionMethod(Generic[P]):
    """A statistic as a method: it has the statistic's parameters and its owner's result."""

    def __init__(self, statistic: Callable[P, Question]) -> None:
        self.statistic: Any = statistic
        self._method: Callable[..., Any] | None = None

    @overload
    def __get__(self, instance: None, owner: Any) -> Callable[Concatenate[Any, P], Any]: ...
    @overload
    def __get__(self, instance: Asks[R], owner: Any) -> Callable[P, R]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        if self._method is None:
            self._method = _method(self.statistic)
        return self._method if instance is None else self._method.__get__(instance, owner)


def _method(cls: type[Question]) -> Callable[..., Any]:
    def ask(self: Any, /, *placed: Any, **typed: Any) -> Any:
        return self._ask(cls, named(cls, placed, typed))

    return documented(ask, cls, "self")


def function(statistic: Callable[P, Question]) -> Callable[Concatenate[object, P], Release]:
    """Return the function that releases this statistic of data."""
    cls: Any = statistic

    def call(x: object, /, *placed: P.args, **typed: P.kwargs) -> Release:
        question: Question = read(cls, named(cls, placed, typed))
        return question.release(x)

    documented(call, cls, "data" if "x" in {p.name for p in parameters(cls)} else "x")
    return call


def named(cls: type[Question], given_: tuple[Any, ...], typed: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters by name, including those given by position."""
    if not given_:
        return typed
    places = [p for p in parameters(cls) if p.positional]
    placed = {p.name: x for p, x in zip(places, given_, strict=False)}
    both = zip(places, given_, strict=False)
    texts = any(
        isinstance(x, str) and isinstance(p.kind.parse(x), str) and p.kind is not STATEMENT
        for p, x in both
    )
    if len(given_) > len(places) or texts:
        raise _named_instead(cls, given_, typed)
    if twice := placed.keys() & typed.keys():
        raise TypeError(f"{cls.kind}() got multiple values for argument {min(twice)!r}")
    return {**placed, **typed}


def _named_instead(
    cls: type[Question], given_: tuple[Any, ...], typed: dict[str, Any]
) -> ParameterTypeError:
    """Return the error for positional values; it says which name each was probably for."""
    known = {p.name: p for p in parameters(cls)}
    meant: dict[str, Any] = {}
    for x in () if _is_data(given_[0]) else _paired(given_):
        guesses: tuple[str, ...] = ("q", "columns")
        if isinstance(x, str):
            guesses = ("column", "columns", "y", "x", "category")
        elif isinstance(x, (int, float)):
            guesses = ("q", "epsilon") if x > 0 else ()
        elif isinstance(x, (list, tuple)) and len(x) == 2:
            guesses = ("bounds", "q")
        free = [name for name in guesses if name in known and name not in {**meant, **typed}]
        if free:
            meant[free[0]] = [x] if free[0] == "columns" and isinstance(x, str) else x
    first = next(iter(meant), "parameters")
    hint = f"Known names: {', '.join(sorted(known))}."
    if _is_data(given_[0]):
        hint = "Functions take the data once, first; a session holds its data, and plans take none."
    if meant:
        hint = f"Use {', '.join(f'{{{name}}}' for name in meant)}."
    must = f"{cls.kind}() got an unexpected positional argument: {given(given_[0])}."
    return ParameterTypeError(first, must, given(given_[0]), hint, **meant)


def _is_data(x: Any) -> bool:
    """Return whether a value looks like data: a table, an array or a list of more than orders."""
    if isinstance(x, (list, tuple)):
        numbers = all(isinstance(part, (int, float)) for part in x)
        return len(x) > 2 and numbers and not all(0 < part < 1 for part in x)
    return isinstance(x, (dict, range, np.ndarray)) or hasattr(x, "columns")


def _paired(values: tuple[Any, ...]) -> list[Any]:
    """Return positional values; two numbers in a row, the lower first, are meant as bounds."""
    found = list(values)
    for i in range(len(found) - 1):
        low, high = found[i : i + 2]
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low < high:
            found[i : i + 2] = [(low, high)]
            break
    return found


def documented(call: Callable[..., Any], cls: type[Question], first: str) -> Callable[..., Any]:
    """Give a function the name, the documentation and the signature of a statistic."""
    call.__name__ = call.__qualname__ = cls.kind
    call.__module__ = cls.__module__
    body = "\n".join(f"{p.name}\n    {p.help}" for p in parameters(cls))
    call.__doc__ = (
        f"{cls.text}\n\nParameters\n----------\n{body}\n\n"
        f"See `{cls.__module__}.{cls.__name__}` for how it is drawn.\n"
    )
    lead = inspect.Parameter(first, inspect.Parameter.POSITIONAL_ONLY)
    vars(call)["__signature__"] = inspect.Signature([lead, *_signature(cls)])
    return call


@cache
def _signature(cls: type[Question]) -> tuple[inspect.Parameter, ...]:
    """Return the constructor's parameters, group by group, with defaults as typed."""
    own = inspect.signature(cls).parameters
    listed = [own[p.name] for p in parameters(cls)]
    shown = [
        p if p.default is p.empty else p.replace(default=plain_parameter(p.default)) for p in listed
    ]
    rest = [own[name] for name in cls.unlisted]
    return tuple(sorted([*shown, *rest], key=lambda p: p.kind))
