"""`Choices`: a question of which a person may tick several answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given
from sourdine.local.categorical.flipped import MOST_CHOICES, FlippedSet
from sourdine.local.table.columns import Attribute
from sourdine.local.table.sanitizing.writing import Listed
from sourdine.mechanisms.mechanism import settle
from sourdine.tally.ticked import Ticked

if TYPE_CHECKING:
    from fractions import Fraction

    from sourdine.local.table.columns import Use
    from sourdine.local.table.sanitizing.writing import Written
    from sourdine.mechanisms.mechanism import Report

__all__ = ["Choices"]


@dataclass(frozen=True, slots=True, init=False)
class Choices(Attribute):
    """Any number of some listed choices, in one cell: ``tv;web``.

    An empty cell ticks nothing, and so does a word that is not listed: nobody's answer is absent,
    and shares are of all people. To tell *none of these* from *no answer*, list a choice for it.

    Parameters
    ----------
    choices
        Texts, from 2 to 16, none of which holds the separator or begins or ends with a blank.
    separator
        What stands between them; blanks around it do not matter.

    Notes
    -----
    All choices of a person together cost the column's epsilon, whatever else could have been
    ticked (`sourdine.local.categorical.flipped`). A sanitised cell is a set in the order listed;
    the empty set is written as the separator alone, so that it is not taken for a blank.

    Examples
    --------
    >>> media = Choices("tv", "web", "radio")
    >>> media.cell("media").codes_of(["web; tv", "", "podcast;radio"])
    [3, 0, 4]
    >>> media.texts()[:5]
    [';', 'tv', 'web', 'tv;web', 'radio']
    """

    choices: tuple[str, ...]
    separator: str
    method: None
    missing: bool
    kind: ClassVar[str] = "choices"

    def __init__(self, *choices: str, separator: str = ";") -> None:
        if len(choices) == 1 and isinstance(choices[0], (list, tuple, set)):
            raise ParameterTypeError(
                "choices", "be typed one by one", "one list", "Type Choices(*choices)."
            )
        if not isinstance(separator, str) or not separator.strip() or "\n" in separator:
            raise ParameterError(
                "separator",
                "be a text that is no blank",
                given(separator),
                "Type {separator}.",
                separator=";",
            )
        settle(self, choices=choices, separator=separator, method=None, missing=True)
        if not 2 <= len(choices) <= MOST_CHOICES:
            raise ParameterError(
                "choices",
                f"be from 2 to {MOST_CHOICES}",
                f"{len(choices)}",
                "Type Choices('tv', 'web', 'radio'); group rare ones.",
            )
        for choice in choices:
            if not isinstance(choice, str) or choice.strip() != choice or not choice:
                raise ParameterTypeError(
                    "choices",
                    "be texts without blanks at their ends",
                    given(choice),
                    "Type Choices('tv', 'web').",
                )
            if set(separator) & set(choice) or set("\r\0") & set(choice):
                raise ParameterError(
                    "choices",
                    f"be without the letters of the separator {separator!r} and control letters",
                    given(choice),
                    "Type {separator}.",
                    separator="|" if separator != "|" else ";",
                )
        if len(set(choices)) < len(choices):
            raise ParameterError("choices", "be different", "one of them twice", "List each once.")

    @property
    def listed(self) -> tuple[str, ...]:
        """The choices."""
        return self.choices

    @property
    def blank(self) -> bool:
        """Never: a person who ticked nothing is written as the separator."""
        return False

    def cell(self, name: str) -> Ticked:
        """Return the sets that were ticked."""
        return Ticked(name, self.choices, self.separator)

    def mechanism(self, epsilon: Fraction, use: Use) -> Report:
        """Return flipped sets, for both uses."""
        del use
        return FlippedSet(epsilon=epsilon, categories=len(self.choices))

    def answer(self, mechanism: Report) -> Report:
        """Return the mechanism."""
        return mechanism

    def none(self, mechanism: Report) -> int | None:
        """Return that there is none."""
        del mechanism
        return None

    def texts(self) -> list[str]:
        """Return how each set is written."""
        found = [""]
        for choice in self.choices:
            found += [f"{one}{self.separator if one else ''}{choice}" for one in found]
        return [self.separator, *found[1:]]

    def written(self, mechanism: Report) -> Written:
        """Return the sets."""
        del mechanism
        return Listed(listed=self.texts(), kind="text")

    def facts(self) -> dict[str, Any]:
        """Return the parameters as JSON and TOML know them."""
        own = {} if self.separator == ";" else {"separator": self.separator}
        return {"kind": self.kind, "choices": list(self.choices), **own}
