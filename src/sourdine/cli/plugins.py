"""Commands that other distributions add: entry points of the group ``sourdine.commands``.

Each names a Typer app, which becomes ``sourdine NAME``. The library's own commands keep theirs.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

import typer
from typer.main import get_command_name

from sourdine.errors import SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["add_plugins"]

GROUP = "sourdine.commands"
APART = {"lab": "sourdine-lab"}
"""Commands that the manual speaks of, with the distribution that adds each."""


def add_plugins(app: typer.Typer) -> None:
    """Add what installed distributions offer to all commands of the library's own.

    A command that cannot be had says why.
    """
    own = set(_names(app))
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(found.items()):
        if name in own:
            continue
        try:
            app.add_typer(_loaded(entry), name=name)
        except Exception as error:  # noqa: BLE001 - another's code must not stop ours
            why = f"{type(error).__name__}: {error}"
            _add_absent(app, name, f"sourdine {name} cannot be loaded from {entry.value}: {why}.")
    for name, distribution in APART.items():
        if name not in found:
            hint = f"in the checkout, type pip install . ./{name}"
            _add_absent(app, name, f"sourdine {name} comes with {distribution}: {hint}.")


def _names(app: typer.Typer) -> Iterator[str | None]:
    yield from (group.name for group in app.registered_groups)
    for command in app.registered_commands:
        yield command.name or get_command_name(getattr(command.callback, "__name__", ""))


def _loaded(entry: EntryPoint) -> typer.Typer:
    loaded = entry.load()
    if not isinstance(loaded, typer.Typer):
        raise TypeError(f"it must be a typer.Typer, got {type(loaded).__name__}")
    return loaded


def _add_absent(app: typer.Typer, name: str, text: str) -> None:
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, hidden=True, add_help_option=False, context_settings=anything)(_saying(text))


def _saying(text: str) -> Callable[[], None]:
    def say() -> None:
        raise SourdineError(text)

    return say
