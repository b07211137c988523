"""A survey of several rounds in the shell: the memory's file, and which round is meant."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.cli.streams import Terminal, printing
from sourdine.errors import LEFT_OUT, ParameterError, SourdineError

if TYPE_CHECKING:
    from sourdine.local.table import Schema

__all__ = ["of_round", "report"]


def of_round(schema: Schema, number: int | None) -> Schema:
    """Return the schema of one round, where there are several; else itself."""
    if schema.rounds is None and number is None:
        return schema
    if schema.rounds is None:
        raise _no_rounds("round")
    if number is None:
        raise ParameterError(
            "round", f"be from 1 to {schema.rounds}", "none", "Type {round}.", round=1
        )
    return schema.round(number)


def report(
    schema: Schema, people: list[dict[str, Any]], path: str | None, number: int | None
) -> None:
    """Answer a round from the memory in a file, which is kept before anything is printed."""
    if schema.rounds is None:
        raise _no_rounds("round" if path is None else "memory")
    if path is None:
        raise ParameterError(
            "memory", "name the person's file", "none", "Type {memory}.", memory="memory.json"
        )
    if len(people) > 1:
        raise ParameterError(
            "memory", "be of one person", f"{len(people)} people", "Answer for them one by one."
        )
    device = schema.respondent(_kept(Path(path)))
    line = device.answer(people[0], round=number)
    _keep(Path(path), device.to_json())
    with printing():
        print(line)  # noqa: T201 - the answer
    note = (
        f"round {device.answered} of {schema.rounds}: {schema.costs().one}; all rounds: "
        f"{schema.guarantee}. {path} is a secret: keep it on this device, and do not lose it"
    )
    Terminal(stderr=True).print(note, highlight=False, markup=False, soft_wrap=True)


def _kept(path: Path) -> str | None:
    """Return what a file holds; None if there is none yet."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, ValueError):
        raise SourdineError(f"{path} could not be read.") from None


def _keep(path: Path, text: str) -> None:
    """Write a memory whole or not at all, for its owner's eyes alone."""
    near = path.with_name(f".{path.name}.new")
    try:
        near.unlink(missing_ok=True)
        handle = os.open(near, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        near.replace(path)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _no_rounds(name: str) -> ParameterError:
    return ParameterError(
        name,
        "be left out: the schema is of one round",
        "one",
        f"Leave {{{name}}} out, or write rounds = 52 into the schema.",
        **{name: LEFT_OUT},
    )
