"""A concordance of each document: where each of its statements, figures and algorithms is here.

One TOML file a document, in the document's own order. An entry::

    [[entry]]
    place = "3.4.1.2"                    # its section
    name = "Théorème 3.4.1.2"            # as the document calls it, or a short name
    also = ["HistogramMethod"]           # further names and numbers it is looked up by
    statement = "The error of HistogramMethod on uniform data, with probability 1 - beta"
    printed = ["sourdine_lab.bounds.histogram_error_printed"]
    corrected = ["sourdine_lab.bounds.histogram_error"]
    use = "sd.quantiles(x, q, method='histogram', ...)"
    figures = ["canesse-2"]              # experiments that show it
    claims = ["C8", "C8b"]               # rows that judge it

``printed`` and ``corrected`` name Python objects, which are there. What a document has a label for
and that is no statement (a title page, a table of contents) is listed under ``[[aside]]`` with its
``label`` and the ``reason``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any
from unicodedata import combining, normalize

from sourdine.errors import ParameterError

__all__ = ["DOCUMENTS", "Aside", "Entry", "asides", "entries", "found", "plain"]

DOCUMENTS = ("canesse", "audibert", "couchot", "dubois", "stemmer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One statement, figure or algorithm of a document."""

    document: str
    place: str
    name: str
    statement: str
    also: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()
    use: str = ""
    figures: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """All it is looked up by."""
        return (self.name, *self.also)


@dataclass(frozen=True, slots=True)
class Aside:
    """A label of a document that is no statement, and why."""

    document: str
    label: str
    reason: str


@cache
def entries(document: str) -> tuple[Entry, ...]:
    """Return the entries of a document, in its order."""
    made = []
    for entry in _read(document).get("entry", []):
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        made.append(Entry(document=document, **fields))
    return tuple(made)


@cache
def asides(document: str) -> tuple[Aside, ...]:
    """Return what a document has a label for and that is no statement."""
    return tuple(Aside(document, **aside) for aside in _read(document).get("aside", []))


def _read(document: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((files(__name__) / f"{document}.toml").read_text("utf-8"))


def plain(label: str) -> str:
    """Return a label without accents, case and punctuation.

    Examples
    --------
    >>> plain("Théorème 3.4.1.2"), plain("§3.2  HistogramMethod")
    ('theoreme 3.4.1.2', '3.2 histogrammethod')
    """
    letters = "".join(c for c in normalize("NFKD", label) if not combining(c)).casefold()
    return " ".join(re.findall(r"[^\W_]+(?:\.[^\W_]+)*", letters))


_ENGLISH = {
    "theorem": "theoreme", "lemma": "lemme", "proposition": "proposition", "fig": "figure",
    "section": "", "appendix": "annexe", "corollary": "corollaire", "remark": "remarque",
}  # fmt: skip


def found(word: str, *, in_text: bool = True) -> list[Entry]:
    """Return the entries that a word means.

    A document, a place (``3.4.1.2``), a row (``C5``), a figure (``canesse-4``), a label
    (``figure 12``, ``Théorème 3.4.1.2``, ``RecExp``), or, if ``in_text``, words that a label or a
    statement has.

    Raises
    ------
    ParameterError
        Nothing is called so.
    """
    wanted = plain(word)
    every = [entry for document in DOCUMENTS for entry in entries(document)]
    for fits in (_is_document, _is_called, _has_words)[: 3 if in_text else 2]:
        hits = [entry for entry in every if wanted and fits(entry, wanted)]
        if hits:
            return hits
    known = {plain(label): label for entry in every for label in entry.labels}
    near = get_close_matches(wanted, known, n=1)
    hint = f"Did you mean {known[near[0]]!r}?" if near else "Use sourdine lab where canesse."
    raise ParameterError(f"no document has anything called {word!r}. {hint}")


def _is_document(entry: Entry, wanted: str) -> bool:
    return entry.document == wanted


def _is_called(entry: Entry, wanted: str) -> bool:
    names = [*entry.labels, entry.place, *entry.claims, *entry.figures]
    names += [row.rstrip("abcdefghijklmnopqrstuvwxyz") for row in entry.claims]
    return bool({wanted, _translated(wanted)} & {plain(name) for name in names})


def _has_words(entry: Entry, wanted: str) -> bool:
    text = f" {plain(' '.join((*entry.labels, entry.place, entry.statement)))} "
    return f" {wanted} " in text or f" {_translated(wanted)} " in text


def _translated(wanted: str) -> str:
    return " ".join(filter(None, (_ENGLISH.get(part, part) for part in wanted.split())))
