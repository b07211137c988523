"""A command of the shell: how its words are read, its errors worded and its help printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sourdine.cli.streams import complain
from sourdine.cli.wording import SPOKEN, ShellWording
from sourdine.errors import ParameterError, SourdineError
from sourdine.exact import given
from sourdine.question.kinds import apart

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["ShellCommand", "ShellGroup", "speaks_shell", "spread"]

FLAG = re.compile("--?[A-Za-z]")
FIND = "find"
"""The word for bounds that nobody knows, in place of two numbers or behind them."""
INTERRUPTED = 130
"""The exit status after Ctrl-C."""


class ShellGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """Return the parameters; a flag stands alone."""
        return _bare(super().get_params(ctx))


class ShellCommand(TyperCommand):
    """A command whose errors know how its parameters are spelled."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        """Return the parameters; a flag stands alone."""
        return _bare(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return the words of the usage line, without braces around arguments."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Read the words; two numbers may be joined by a comma."""
        pairs = {flag: p.name for p in self.params if p.nargs == 2 for flag in p.opts}
        try:
            return super().parse_args(ctx, spread(args, pairs))
        except SourdineError as error:
            raise self._worded(error) from None

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
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
    got = given(" ".join(numbers)) if numbers else "none"
    return ParameterError(
        name,
        "be two numbers, the lower first, or find",
        got,
        f"Type {{{name}}}.",
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
