"""What a report is made of, whichever way it is written: sections of texts, facts and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Block", "Facts", "Picture", "Section", "Subsection", "Text", "TextTable"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A word and a text, line by line."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TextTable:
    """Heads and rows of texts."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, as SVG that only our own palette and letters went into."""

    svg: str
    alt: str


@dataclass(frozen=True, slots=True)
class Subsection:
    """Something of its own within a section, such as one release."""

    title: str
    blocks: Sequence[Text | Facts | TextTable | Picture]
    aside: str = ""


Block = Text | Facts | TextTable | Picture | Subsection


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Block]
