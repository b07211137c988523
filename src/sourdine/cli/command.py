"""Running a command: streams, the wording of errors, exit status."""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup

from sourdine.errors import ParameterError, PythonWording, SourdineError, literal
from sourdine.exact import given
from sourdine.parameters.kinds import apart
from sourdine.results.tables import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


# ---- Standard streams that cannot be written, on a full disk or a closed pipe --------------------
#
# Python flushes them once more at its end, and if that fails exits with a status of its own: so a
# stream that has failed gives way to one that takes everything.


def written(text: str) -> str | None:
    """Print on standard output; return why that could not be done, None if it was."""
    try:
        typer.echo(text)
    except OSError as error:
        give_up()
        return error.strerror or type(error).__name__
    return None


class UnprintedError(SourdineError):
    """An answer that was paid for could not be printed."""


class Terminal(Console):
    """Standard output as a person sees it; where nobody reads any more, nothing is printed."""

    def on_broken_pipe(self) -> None:
        """Go on without a reader, as ``| head`` leaves it."""
        give_up()


@contextmanager
def printing() -> Iterator[None]:
    """Print an answer to the end; say so if it cannot be, unless nobody reads any more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        give_up()
    except OSError as error:
        give_up()
        raise UnprintedError(f"the answer could not be printed: {error.strerror}.") from None


def give_up() -> None:
    """Drop what standard output still holds, and whatever comes."""
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


def complain(text: str) -> None:
    """Print on standard error, if it can be written."""
    try:
        typer.echo(f"sourdine: {printable(text)}", err=True)
    except OSError:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the end


# ---- Errors in the words of the command line: what Python calls bounds= is --bounds here ---------


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

    def _each(self, name: str, value: Any) -> list[str]:
        """Return what follows an option, each time that it is typed."""
        if isinstance(value, dict) and name == "keys":  # a list for each column, in their order
            return [self._words(name, part) for part in value.values()]
        if isinstance(value, dict):
            return [self._of(column, part) for column, part in value.items()]
        several = self._options[name].multiple and name != "keys"
        listed = value if several and isinstance(value, (list, tuple)) else [value]
        return [self._words(name, part) for part in listed]

    @staticmethod
    def _of(column: str, value: Any) -> str:
        """Return what is said of one column."""
        parts = value if isinstance(value, (list, tuple)) else (value,)
        return quote(f"{column}:{','.join(map(_word, parts))}")

    def _words(self, name: str, value: Any) -> str:
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


# ---- A command of the shell: how its words are read, its errors worded and its help printed ------


FLAG = re.compile("--?[A-Za-z]")
FIND = "find"
"""The word for bounds that nobody knows, in place of two numbers or behind them."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class ShellGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters; a flag stands alone."""
        return _bare(super().get_params(ctx))


class ShellCommand(TyperCommand):
    """A command whose errors know how its parameters are spelled."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters; a flag stands alone."""
        return _bare(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, without braces around arguments."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words; two numbers may be joined by a comma."""
        pairs = {flag: p.name for p in self.params if p.nargs == 2 for flag in p.opts}
        try:
            words = spread(args, pairs)
            self._require_once(words)
            return super().parse_args(ctx, words)
        except SourdineError as error:
            raise self._worded(error) from None

    def invoke(self, ctx: Any) -> Any:
        """Run; an error is worded for the shell, and Ctrl-C is not one."""
        spoken = SPOKEN.set(ShellWording(self.params))
        try:
            return super().invoke(ctx)
        except SourdineError as error:
            raise self._worded(error) from None
        except KeyboardInterrupt:
            complain("stopped.")
            raise typer.Exit(INTERRUPTED) from None
        finally:
            SPOKEN.reset(spoken)

    def _require_once(self, words: list[str]) -> None:
        """Refuse an option that is given again and would replace the first."""
        single = {
            flag: p.name
            for p in self.params
            if p.param_type_name == "option" and not p.multiple and not getattr(p, "is_flag", False)
            for flag in p.opts
        }
        typed = [
            single[word.partition("=")[0]] for word in words if word.partition("=")[0] in single
        ]
        for name in typed:
            if typed.count(name) > 1:
                raise ParameterError(
                    str(name),
                    "be given once",
                    f"{typed.count(name)} times",
                    f"Use {{{name}}} once.",
                )

    def _worded(self, error: SourdineError) -> SourdineError:
        error.wording = ShellWording(self.params)
        return error


def _bare(parameters: list[Any]) -> list[Any]:
    """Return parameters whose flags and arguments are printed without a type: FILE says enough."""
    for each in parameters:
        if getattr(each, "is_flag", False) and each.metavar is None:
            each.metavar = ""
        if each.param_type_name == "argument":
            each.display_type_rich = _no_type
    return parameters


def _no_type(ctx: object) -> None:
    """Return nothing to print for the type of an argument."""


def spread(words: Sequence[str], pairs: dict[str, str]) -> list[str]:
    """Return the words of a command with the two numbers or dates after each of these flags apart.

    Parameters
    ----------
    words
        As they were typed.
    pairs
        The parameters that take two numbers, by their flags.

    Examples
    --------
    >>> spread(["--bounds=0,120", "-e", "1"], {"--bounds": "bounds"})
    ['--bounds', '0', '120', '-e', '1']
    >>> spread(["--bounds", "-5", "5"], {"--bounds": "bounds"})
    ['--bounds', '-5', '5']
    >>> spread(["--bounds", "2020-01-01 00:00", "2020-02-01 00:00"], {"--bounds": "bounds"})
    ['--bounds', '2020-01-01 00:00', '2020-02-01 00:00']
    >>> spread(["--bounds", "find"], {"--bounds": "bounds"})
    ['--bounds', 'find', 'find']
    >>> spread(["--bounds", "0", "1e9", "find"], {"--bounds": "bounds"})
    ['--bounds', '0', '1e9 find']
    """
    left, found = list(words), list[str]()
    while left:
        word = left.pop(0)
        flag, joined, value = word.partition("=")
        if flag not in pairs:
            found.append(word)
            continue
        numbers = (apart(value) or [value]) if joined else []
        while len(numbers) < 2 and FIND not in numbers and left and not _is_flag(left[0]):
            numbers += apart(left[0]) or [left[0]]
            left.pop(0)
        numbers = _with_find(numbers, left)
        if len(numbers) != 2:
            raise _not_two(pairs[flag], numbers)
        found += [flag, *numbers]
    return found


def _with_find(numbers: list[str], left: list[str]) -> list[str]:
    """Return two words: that bounds are to be found is written in both, or behind the second."""
    if numbers == [FIND]:
        return [FIND, FIND]
    if len(numbers) == 2 and left and left[0] == FIND:
        numbers.append(left.pop(0))
    if len(numbers) == 3 and numbers[2] == FIND:
        return [numbers[0], f"{numbers[1]} {FIND}"]
    return numbers


def _is_flag(word: str) -> bool:
    return FLAG.match(word) is not None


def _not_two(name: str, numbers: Collection[str]) -> ParameterError:
    got = given(" ".join(numbers)) if numbers else ""
    return ParameterError(
        name,
        "be two numbers, the lower first, or find",
        got,
        f"Use {{{name}}}.",
        **{name: (0, 120)},
    )


def speaks_shell(app: typer.Typer) -> None:
    """Let all commands have the manners of the shell."""
    app.info.cls = ShellGroup
    for command in app.registered_commands:
        command.cls = ShellCommand
    for group in app.registered_groups:
        if group.typer_instance is not None:
            speaks_shell(group.typer_instance)
