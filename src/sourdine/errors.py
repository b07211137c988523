"""The exceptions that Sourdine raises; each interface can word them in its own way.

::

    SourdineError
        ├── ParameterError       (also a ValueError)         a parameter has an invalid value
        ├── ParameterTypeError   (also a TypeError)          an argument has an invalid type, is
        │                                                    unknown or is missing
        ├── MissingFileError     (also a FileNotFoundError)  a file does not exist
        ├── ExistingFileError    (also a FileExistsError)    a file would be overwritten
        ├── MissingExtraError    (also an ImportError)       an optional library is not installed
        └── BudgetExceededError                              more is requested than remains

An error holds the parameter's name, the requirement, the given value, and a hint. Errors are about
parameters only: no message ever holds a value of the private data, and no condition of the data
raises.
"""

from __future__ import annotations

import errno
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class _LeftOut:
    """Singleton: the parameter should not be given at all."""

    def __repr__(self) -> str:
        return "LEFT_OUT"

    def __reduce__(self) -> str:
        return "LEFT_OUT"


LEFT_OUT: Final = _LeftOut()
"""In a hint: the parameter should be left out."""


class PythonWording:
    """Spells parameters as in Python; other interfaces have a class with the same methods.

    Examples
    --------
    >>> words = PythonWording()
    >>> words.subject("bounds"), words.mention("bounds"), words.typed("bounds", (0, 120))
    ('bounds', 'bounds=', 'bounds=(0, 120)')
    """

    def subject(self, name: str) -> str:
        """Return the parameter as the subject of a sentence."""
        return name

    def mention(self, name: str) -> str:
        """Return the parameter without a value."""
        return f"{name}="

    def typed(self, name: str, value: object) -> str:
        return f"{name}={literal(value)}"


_PYTHON = PythonWording()

PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")
"""Matches the place of a parameter in a sentence."""


class SourdineError(Exception):
    """The base class: the requirement, the given value, and what to use instead.

    Parameters
    ----------
    name
        The parameter, as Python calls it, or another subject of the sentence.
    must
        The requirement, in one of three forms. A phrase that begins with a verb, such as
        ``"be above 0"``, is printed after "epsilon must". A clause with a subject of its own,
        such as ``"lower must be below upper"``, is printed after "bounds:". A sentence that ends
        with a full stop is printed as it is.
    got
        The given value, as a text, or nothing; a sentence of its own does not print it.
    hint
        Sentences that say what to do; by default, to use what is in ``tries``. In ``must`` and
        ``hint``, ``{epsilon}`` stands for a parameter: with the value in ``tries`` to use, or else
        its bare name. ``{bounds:find}`` stands for it with that word.
    tries
        Values to use instead, by parameter; `LEFT_OUT` for one that should be omitted.

    Examples
    --------
    >>> error = ParameterError("epsilon", "be above 0", "0", epsilon=1)
    >>> print(error)
    epsilon must be above 0, got 0. Use epsilon=1.
    >>> error.tries
    {'epsilon': 1}
    >>> print(ParameterError("bounds", "lower must be below upper", "(10, 0)"))
    bounds: lower must be below upper, got (10, 0).
    >>> print(ParameterTypeError("interval", "interval() is not available for a mode."))
    interval() is not available for a mode.
    """

    def __init__(
        self, name: str, must: str = "", got: str = "", hint: str | None = None, /, **tries: object
    ) -> None:
        if hint is None:
            left_out = all(value is LEFT_OUT for value in tries.values())
            places = " and ".join(f"{{{each}}}" for each in tries)
            hint = f"{'Omit' if left_out else 'Use'} {places}." if tries else ""
        super().__init__(name, must, got, hint)
        self.name, self.must, self.got, self.hint = name, must, got, hint
        self.tries = tries
        self.wording = _PYTHON

    def said(self, wording: PythonWording | None = None) -> str:
        """Return the message in an interface's wording, by default that of the one which raised."""
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
        return f"{self.sentence(words.subject(self.name), must)} {hint}".rstrip()

    def sentence(self, subject: str, must: str) -> str:
        """Return the first sentence, of the subject and the requirement as they are spelled."""
        if must.endswith("."):
            return must
        clause = f"{subject}: {must}" if " must " in must else f"{subject} must {must}"
        return f"{clause}, got {self.got}." if self.got else f"{clause}."

    def also(self, sentence: str) -> Self:
        """Return the error with one more sentence in its hint."""
        if not self.must:
            return self.hinting("", self.tries, f"{self.name} {sentence}")
        return self.hinting(f"{self.hint} {sentence}".strip(), self.tries)

    def hinting(self, hint: str, tries: Mapping[str, object], name: str | None = None) -> Self:
        """Return the error with another hint, and another subject if ``name`` is given."""
        about = self.name if name is None else name
        other = type(self)(about, self.must, self.got, hint, **tries)
        other.wording = self.wording
        return other

    def renamed(self, **names: str) -> Self:
        """Return the error with other names for its parameters.

        Examples
        --------
        >>> error = ParameterError("epsilon", "be above 0", "0", "Use {epsilon}.", epsilon=1)
        >>> print(error.renamed(epsilon="total"))
        total must be above 0, got 0. Use total=1.
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
        """Return the error as JSON; in ``tries``, None stands for a parameter to leave out."""
        tries = {k: None if v is LEFT_OUT else _plain(v) for k, v in self.tries.items()}
        parts = {"name": self.name, "must": self.must, "got": self.got, "hint": self.hint}
        return {"error": type(self).__name__, **parts, "tries": tries, "text": str(self)}

    def __str__(self) -> str:
        return self.said()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.must, self.got, self.hint), {"tries": self.tries}


class ParameterError(SourdineError, ValueError):
    """A parameter has an invalid value."""


class ParameterTypeError(SourdineError, TypeError):
    """An argument has an invalid type, is unknown, or is missing."""


class BudgetExceededError(SourdineError):
    """A request would spend more than remains of the budget; nothing was spent."""


class _FileError(SourdineError, OSError):
    """What is wrong with a file; ``got`` is its path."""

    number: ClassVar[int]
    said_of: ClassVar[str]

    def __init__(
        self, name: str, must: str = "", got: str = "", hint: str | None = None, /, **tries: object
    ) -> None:
        super().__init__(name, must, got, hint, **tries)
        self.errno, self.strerror = self.number, os.strerror(self.number)
        self.filename = got

    def sentence(self, subject: str, must: str) -> str:
        return f"{self.said_of}: {self.got!r}."


class MissingFileError(_FileError, FileNotFoundError):
    """A file does not exist; ``got`` is its path.

    Examples
    --------
    >>> print(MissingFileError("path", "exist", "nofile.csv", "Check the path."))
    No such file: 'nofile.csv'. Check the path.
    """

    number, said_of = errno.ENOENT, "No such file"


class ExistingFileError(_FileError, FileExistsError):
    """A file that would be overwritten exists; ``got`` is its path.

    Examples
    --------
    >>> print(ExistingFileError("out", "be a new file", "out.csv", "Choose another name."))
    File already exists: 'out.csv'. Choose another name.
    """

    number, said_of = errno.EEXIST, "File already exists"


class MissingExtraError(SourdineError, ImportError):  # type: ignore[misc]
    """An optional library is not installed; ``name`` is the extra that installs it.

    Examples
    --------
    >>> print(MissingExtraError.of("plot"))
    This needs the 'plot' extra. In the checkout, run pip install '.[plot]'.
    """

    @classmethod
    def of(cls, extra: str, more: str = "", **tries: object) -> Self:
        """Return the error for an extra; the hint says how to install it, and ``more``."""
        hint = f"In the checkout, run pip install '.[{extra}]'{more}."
        return cls(extra, "be installed", "", hint, **tries)

    def sentence(self, subject: str, must: str) -> str:
        return f"This needs the {self.name!r} extra."


def close_matches(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the known names that resemble another, ignoring case and surrounding blanks."""
    from difflib import get_close_matches  # imported here: few calls are misspelt

    plain = {each.strip().casefold(): each for each in reversed([*known])}
    near = get_close_matches(name.strip().casefold(), plain, most, cutoff)
    return [plain[each] for each in near]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question whether the closest known name is meant, or else a list of them all."""
    listed = sorted(known)
    if near := close_matches(name, listed, 1, 0.7):
        return f"Did you mean {near[0]!r}?"
    return f"Known names: {', '.join(map(repr, listed))}."


def _plain(value: object) -> Any:
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
