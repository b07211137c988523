"""Faces: functions and methods made from a declaration, with the signatures it states.

A type checker reads them off the statistic's constructor (by a parameter specification), an editor
completes them, and ``help()`` shows them: nothing is written twice.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from sourdine.errors import ParameterTypeError
from sourdine.exact import given
from sourdine.question.question import Question, parameters, plain_parameter, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourdine.release import Release

__all__ = ["Asks", "Face", "documented", "function"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Asks(Protocol[R_co]):
    """What has statistics as methods: it does something with a question that is typed."""

    def _ask(self, cls: type[Question], typed: dict[str, Any]) -> R_co: ...


class Face(Generic[P]):
    """A statistic as a method: the parameters are its own, the result is that of the face."""

    def __init__(self, statistic: Callable[P, Question]) -> None:
        self.statistic: Any = statistic
        self._method: Callable[..., Any] | None = None

    @overload
    def __get__(self, face: None, owner: Any) -> Callable[Concatenate[Any, P], Any]: ...  # noqa: ANN401
    @overload
    def __get__(self, face: Asks[R], owner: Any) -> Callable[P, R]: ...  # noqa: ANN401
    def __get__(self, face: Any, owner: Any) -> Any:
        if self._method is None:
            self._method = _method(self.statistic)
        return self._method if face is None else self._method.__get__(face, owner)


def _method(cls: type[Question]) -> Callable[..., Any]:
    def ask(self: Any, /, *placed: Any, **typed: Any) -> Any:  # noqa: ANN401
        return self._ask(cls, named(cls, placed, typed))

    return documented(ask, cls, "self")


def function(statistic: Callable[P, Question]) -> Callable[Concatenate[object, P], Release]:
    """Return the function that releases this statistic of data."""
    cls: Any = statistic

    def call(x: object, /, *placed: P.args, **typed: P.kwargs) -> Release:
        question: Question = read(cls, named(cls, placed, typed))
        return question.release(x)

    documented(call, cls, "x")
    return call


def named(cls: type[Question], given_: tuple[Any, ...], typed: dict[str, Any]) -> dict[str, Any]:
    """Return what was typed by name, also what was typed by position."""
    if not given_:
        return typed
    places = [p for p in parameters(cls) if p.positional]
    placed = {p.name: x for p, x in zip(places, given_, strict=False)}
    texts = any(isinstance(p.kind.parse(x), str) for p, x in zip(places, given_, strict=False))
    if len(given_) > len(places) or texts:
        raise _named_instead(cls, given_, typed)
    if twice := placed.keys() & typed.keys():
        raise TypeError(f"{cls.kind}() got several values for {', '.join(sorted(twice))}")
    return {**placed, **typed}


def _named_instead(
    cls: type[Question], given_: tuple[Any, ...], typed: dict[str, Any]
) -> ParameterTypeError:
    """Return the refusal of values without a name; it says which name each was probably for."""
    known = {p.name: p for p in parameters(cls)}
    meant: dict[str, Any] = {}
    for x in given_:
        guesses: tuple[str, ...] = ("q", "columns")
        if isinstance(x, str):
            guesses = ("column", "columns")
        elif isinstance(x, (int, float)):
            guesses = ("q", "epsilon")
        elif isinstance(x, (list, tuple)) and len(x) == 2:
            guesses = ("bounds", "q")
        free = [name for name in guesses if name in known and name not in {**meant, **typed}]
        if free:
            meant[free[0]] = [x] if free[0] == "columns" and isinstance(x, str) else x
    first = next(iter(meant), "parameters")
    hint = f"{cls.kind}() knows {', '.join(sorted(known))}."
    if meant:
        hint = f"Type {', '.join(f'{{{name}}}' for name in meant)}."
    got = f"{given(given_[0])} without a name"
    return ParameterTypeError(first, "be given by name", got, hint, **meant)


def documented(call: Callable[..., Any], cls: type[Question], first: str) -> Callable[..., Any]:
    """Give a function the name, the documentation and the signature of a statistic."""
    call.__name__ = call.__qualname__ = cls.kind
    call.__module__ = cls.__module__
    call.__doc__ = _doc(cls)
    lead = inspect.Parameter(first, inspect.Parameter.POSITIONAL_ONLY)
    vars(call)["__signature__"] = inspect.Signature([lead, *_signature(cls)])
    return call


@cache
def _signature(cls: type[Question]) -> tuple[inspect.Parameter, ...]:
    """Return the constructor's parameters, group by group, defaults as a person types them."""
    own = inspect.signature(cls).parameters
    listed = [own[p.name] for p in parameters(cls)]
    shown = [
        p if p.default is p.empty else p.replace(default=plain_parameter(p.default)) for p in listed
    ]
    rest = [own[name] for name in cls.unlisted]
    return tuple(sorted([*shown, *rest], key=lambda p: p.kind))


def _doc(cls: type[Question]) -> str:
    listed = [f"{p.name}\n    {p.help}" for p in parameters(cls)]
    body = "\n".join(("Parameters", "----------", *listed))
    return f"{cls.text}\n\n{body}\n\nSee `{cls.__module__}.{cls.__name__}` for how it is drawn.\n"
