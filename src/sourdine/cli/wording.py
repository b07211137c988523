"""Errors in the words of the command line: what Python calls bounds= is --bounds here."""

from __future__ import annotations

import datetime as dt
from contextvars import ContextVar
from shlex import quote
from typing import TYPE_CHECKING, Any

from sourdine.errors import PythonWording, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SPOKEN", "ShellWording"]


class ShellWording(PythonWording):
    """How the parameters of a command are spelled; what is no option of it is left in Python.

    Parameters
    ----------
    options
        The parameters of the command.
    """

    def __init__(self, options: Sequence[Any]) -> None:
        self._options = {o.name: o for o in options if o.param_type_name == "option"}
        words = {o.name: str(o.metavar) for o in options if o.name not in self._options}
        self._arguments = {**{word.lower(): word for word in words.values()}, **words}

    @property
    def names(self) -> set[str]:
        """The parameters that have an option."""
        return set(self._options)

    def subject(self, name: str) -> str:
        """Return the option or argument as what a sentence is about."""
        return self._flag(name) if name in self._options else self._arguments.get(name, name)

    def mention(self, name: str) -> str:
        """Return the option or argument without a value."""
        known = name in self._options or name in self._arguments
        return self.subject(name) if known else super().mention(name)

    def typed(self, name: str, value: object) -> str:
        """Return what to type; an argument has no name."""
        if name in self._arguments:
            return _quoted(_word(value))
        if name == "read" and isinstance(value, dict):  # an option for each part
            return " ".join(self.typed(part, own) for part, own in value.items())
        if name not in self._options:
            return super().typed(name, value)
        if value is True:
            return self._flag(name)
        return " ".join(f"{self._flag(name)} {words}" for words in self._each(name, value))

    def _flag(self, name: str) -> str:
        return str(next(flag for flag in self._options[name].opts if flag.startswith("--")))

    def _each(self, name: str, value: Any) -> list[str]:  # noqa: ANN401
        """Return what follows an option, each time that it is typed."""
        if isinstance(value, dict) and name == "keys":  # a list for each column, in their order
            return [self._words(name, part) for part in value.values()]
        if isinstance(value, dict):
            return [self._of(column, part) for column, part in value.items()]
        several = self._options[name].multiple and name != "keys"
        listed = value if several and isinstance(value, (list, tuple)) else [value]
        return [self._words(name, part) for part in listed]

    @staticmethod
    def _of(column: str, value: Any) -> str:  # noqa: ANN401
        """Return what is said of one column."""
        parts = value if isinstance(value, (list, tuple)) else (value,)
        return quote(f"{column}:{','.join(map(_word, parts))}")

    def _words(self, name: str, value: Any) -> str:  # noqa: ANN401
        if not isinstance(value, (list, tuple)):
            return _quoted(_word(value))
        if self._options[name].nargs > 1:
            return " ".join(quote(_word(part)) for part in value)
        return quote(",".join(map(_word, value)))


def _word(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dt.date):
        return value.isoformat()
    return value if isinstance(value, str) else literal(value).strip("'")


def _quoted(word: str) -> str:
    """Return a word as the shell reads it; a sign alone is set apart from the sentence's end."""
    return quote(word) if any(map(str.isalnum, word)) else f"'{word}'"


SPOKEN: ContextVar[ShellWording | None] = ContextVar("SPOKEN", default=None)
"""How the command that runs words what it prints."""
