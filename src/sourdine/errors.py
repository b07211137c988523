"""What Sourdine raises: errors are data, and each face says them in its own words.

::

    SourdineError
     ├── ParameterError      (also a ValueError)   a parameter has a value that cannot be
     ├── ParameterTypeError  (also a TypeError)    a parameter is of a kind that cannot be
     └── BudgetExceededError                       a request would spend more than is left

An error knows the parameter's name, what must hold, what was given, and what to type instead; in
Python it reads "X must C, got V. Hint". Errors speak of parameters only: no text ever holds a value
of the private data, and no condition of the data raises.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class _LeftOut:
    """The only value of its kind: the parameter is not to be typed at all."""

    def __repr__(self) -> str:
        return "LEFT_OUT"

    def __reduce__(self) -> str:
        return "LEFT_OUT"


LEFT_OUT: Final = _LeftOut()
"""In a hint: the parameter is to be left out."""


class PythonWording:
    """How parameters are spelled in Python; other faces have a class with the same methods.

    Examples
    --------
    >>> words = PythonWording()
    >>> words.subject("bounds"), words.mention("bounds"), words.typed("bounds", (0, 120))
    ('bounds', 'bounds=', 'bounds=(0, 120)')
    """

    def subject(self, name: str) -> str:
        """Return the parameter as what a sentence is about."""
        return name

    def mention(self, name: str) -> str:
        """Return the parameter without a value."""
        return f"{name}="

    def typed(self, name: str, value: object) -> str:
        """Return what to type."""
        return f"{name}={literal(value)}"


_PYTHON = PythonWording()

PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
"""Where a sentence names a parameter."""


class SourdineError(Exception):
    """The root of the tree: what must hold, what was given, what to type instead.

    Parameters
    ----------
    name
        The parameter, as Python calls it, or what else the sentence is about.
    must
        What must hold, beginning with a verb: ``"be above 0"``.
    got
        What was given, as a text; nothing larger than a word or a number is quoted.
    hint
        Sentences that say what to do. In ``must`` and ``hint``, ``{epsilon}`` stands for a
        parameter: with a value in ``tries`` for what to type, without one for its bare name.
        ``{bounds:find}`` stands for it with that word.
    tries
        Values to type instead, by parameter; `LEFT_OUT` for one that should not be typed.

    Examples
    --------
    >>> error = ParameterError("epsilon", "be above 0", "0", "Type {epsilon}.", epsilon=1)
    >>> print(error)
    epsilon must be above 0, got 0. Type epsilon=1.
    >>> error.tries
    {'epsilon': 1}
    """

    def __init__(
        self, name: str, must: str = "", got: str = "", hint: str = "", /, **tries: object
    ) -> None:
        super().__init__(name, must, got, hint)
        self.name, self.must, self.got, self.hint = name, must, got, hint
        self.tries = tries
        self.wording = _PYTHON

    def said(self, wording: PythonWording | None = None) -> str:
        """Return the sentence in the words of a face: of that which raised it, if none is named."""
        words = self.wording if wording is None else wording
        if not self.must:
            return self.name

        def spelled(found: re.Match[str]) -> str:
            name, word = found[1], found[2]
            if word is not None:
                return words.typed(name, word)
            if name not in self.tries:
                return words.mention(name)
            if self.tries[name] is LEFT_OUT:
                return words.subject(name)
            return words.typed(name, self.tries[name])

        must, hint = (PLACE.sub(spelled, text) for text in (self.must, self.hint))
        return f"{words.subject(self.name)} must {must}, got {self.got}. {hint}".rstrip()

    def also(self, sentence: str) -> Self:
        """Return the error with one more sentence in its hint.

        Examples
        --------
        >>> print(SourdineError("the disk is full.").also("Nothing was charged."))
        the disk is full. Nothing was charged.
        """
        if not self.must:
            return self.hinting("", self.tries, f"{self.name} {sentence}")
        return self.hinting(f"{self.hint} {sentence}".strip(), self.tries)

    def hinting(self, hint: str, tries: Mapping[str, object], name: str | None = None) -> Self:
        """Return the error with another hint, about something else if that is named."""
        about = self.name if name is None else name
        other = type(self)(about, self.must, self.got, hint, **tries)
        other.wording = self.wording
        return other

    def renamed(self, **names: str) -> Self:
        """Return the error where parameters have other names.

        Examples
        --------
        >>> error = ParameterError("epsilon", "be above 0", "0", "Type {epsilon}.", epsilon=1)
        >>> print(error.renamed(epsilon="total"))
        total must be above 0, got 0. Type total=1.
        """

        def again(text: str) -> str:
            return re.sub(r"\{(\w+)", lambda found: f"{{{names.get(found[1], found[1])}", text)

        other = type(self)(
            names.get(self.name, self.name), again(self.must), self.got, again(self.hint),
            **{names.get(name, name): value for name, value in self.tries.items()},
        )  # fmt: skip
        other.wording = self.wording
        return other

    def to_dict(self) -> dict[str, Any]:
        """Return the error as JSON knows it; in ``tries``, None is for what is to be left out."""
        tries = {k: None if v is LEFT_OUT else _plain(v) for k, v in self.tries.items()}
        parts = {"name": self.name, "must": self.must, "got": self.got, "hint": self.hint}
        return {"error": type(self).__name__, **parts, "tries": tries, "text": str(self)}

    def __str__(self) -> str:
        return self.said()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, {"tries": self.tries}


class ParameterError(SourdineError, ValueError):
    """A parameter has a value that cannot be."""


class ParameterTypeError(SourdineError, TypeError):
    """A parameter is of a kind that cannot be."""


class BudgetExceededError(SourdineError):
    """A request would spend more than the budget has left; nothing was spent."""


def _plain(value: object) -> Any:
    """Return a value as JSON knows it."""
    if isinstance(value, Fraction):
        plain = int(value) if value.denominator == 1 else float(value)
        return plain if Fraction(repr(plain)) == value else str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def literal(value: object) -> str:
    """Return what to type for a value: a fraction as its decimal, where it has one.

    Examples
    --------
    >>> literal((Fraction(1, 4), 1e-6)), literal(Fraction(120))
    ('(0.25, 1e-6)', '120')
    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return repr(value.numerator)
        decimal = literal(float(value))
        return decimal if Fraction(decimal) == value else repr(str(value))
    if isinstance(value, float):
        return repr(value).replace("e-0", "e-")
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
