"""What only the owner of the data knows, and a report must say: purpose, contact, legal basis."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.session.filing.registry import SECTORS

__all__ = ["NOT_STATED", "About"]

NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a ledger cannot know. Whatever is left out is reported as not stated.

    Parameters
    ----------
    title, description, purpose
        What is published: its name, what it is, and what for.
    curators
        Who publishes it.
    contact, legal_basis
        Whom to ask, and on what grounds the data are processed.
    region, sector, published
        Which region the data describe, which trade, and when the first release went out
        (year-month-day).
    data, collection, retention
        What the data are, how they came about, and how long they are kept.
    data_source
        ``"Static"``, or ``"Dynamic"`` where records are added over time.
    release_type
        ``"One release"`` where all is published at once, or ``"Many releases"``.
    access, actors, security
        Who may ask for statistics, who else takes part and is trusted with what, and what guards
        the raw data.
    access_type
        ``"Interactive"`` where analysts ask for themselves, or ``"Non-interactive"``.
    preprocessing, unprotected, post_processing
        What was done to the data before; what is published without protection; what was done to
        the releases afterwards.
    justification
        Why the total, the unit and the bounds were chosen so.
    sources, notes, authors
        Where to read more, anything else, and who filled this in.

    Examples
    --------
    >>> About.read({"title": "Wages", "curators": "Bureau of Labour"}).curators
    ('Bureau of Labour',)
    >>> About.read({"tittle": "Wages"})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: about must hold known names, got 'tittle'. Type 'title'.
    """

    title: str | None = None
    description: str | None = None
    purpose: str | None = None
    curators: tuple[str, ...] = ()
    contact: str | None = None
    legal_basis: str | None = None
    region: str | None = None
    sector: str | None = None
    published: str | None = None
    data: str | None = None
    collection: str | None = None
    retention: str | None = None
    data_source: str | None = None
    release_type: str | None = None
    access: str | None = None
    access_type: str | None = None
    actors: str | None = None
    security: str | None = None
    preprocessing: str | None = None
    unprotected: str | None = None
    post_processing: str | None = None
    justification: str | None = None
    sources: str | None = None
    notes: str | None = None
    authors: tuple[str, ...] = ()

    @classmethod
    def read(cls, about: About | Mapping[str, Any] | str | os.PathLike[str] | None) -> About:
        """Return what is said by names and texts, or in a TOML file of them."""
        if about is None or isinstance(about, About):
            return about or cls()
        if not isinstance(about, (Mapping, str, bytes, os.PathLike)):
            raise ParameterTypeError(
                "about",
                "be names and texts, or the path of a TOML file",
                given(about),
                "Type {about}.",
                about={"purpose": "Planning"},
            )
        facts = about if isinstance(about, Mapping) else _file(about)
        known = {field.name for field in fields(cls)}
        return cls(**{_known(name, known): _read(name, value) for name, value in facts.items()})

    def said(self, name: str) -> str:
        """Return what is said under a name, or that nothing is."""
        found = getattr(self, name)
        text = ", ".join(found) if isinstance(found, tuple) else found
        return text or NOT_STATED


LISTS = ("curators", "authors")
CHOICES = {
    "data_source": ("Static", "Dynamic"),
    "release_type": ("One release", "Many releases"),
    "access_type": ("Interactive", "Non-interactive"),
    "sector": SECTORS,
}


def _known(name: str, known: set[str]) -> str:
    if name in known:
        return name
    from difflib import get_close_matches  # noqa: PLC0415 - for an error alone

    near = get_close_matches(name, known, 1)
    hint = f"Type {near[0]!r}." if near else f"It knows {', '.join(sorted(known))}."
    raise ParameterError("about", "hold known names", repr(name), hint)


def _read(name: str, value: object) -> Any:  # noqa: ANN401
    if name in LISTS:
        parts = [value] if isinstance(value, str) else value
        if isinstance(parts, (list, tuple)) and all(isinstance(part, str) for part in parts):
            return tuple(part for part in parts if part.strip())
        raise ParameterError(
            "about", f"hold a list of texts as {name}", given(value), "Type ['one', 'two']."
        )
    if name == "published" and (day := _day(value)):
        return day
    if name == "published" or not isinstance(value, str):
        kind, such = ("a day", "2026-01-31") if name == "published" else ("a text", "some words")
        raise ParameterError("about", f"hold {kind} as {name}", given(value), f"Type {such!r}.")
    if name in CHOICES and value not in CHOICES[name]:
        among = ", ".join(CHOICES[name])
        hint = f"Type {CHOICES[name][0]!r}, or another of them."
        raise ParameterError("about", f"hold one of {among} as {name}", given(value), hint)
    return value.strip() or None


def _day(value: object) -> str | None:
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return day.isoformat()[:10] if isinstance(day, date) else None


def _file(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - bytes are paths too
            return tomllib.load(file)
    except OSError as error:
        reason = error.strerror or "unreadable"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        reason = "not TOML"
    raise ParameterError(
        "about",
        "be a TOML file of names and texts",
        f"{os.fsdecode(path)} ({reason})",
        "A line reads purpose = 'Planning'.",
    )
