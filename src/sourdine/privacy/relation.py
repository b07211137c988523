"""Which two data sets a guarantee calls neighbours."""

from __future__ import annotations

from enum import Enum

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given

__all__ = ["ADD_REMOVE", "ALIKE", "LOCAL", "SUBSTITUTE", "Relation", "protected"]


class Relation(Enum):
    """What may differ between two inputs that a guarantee keeps indistinguishable.

    An epsilon says nothing until it is known between which inputs it holds: the cells of a
    histogram move by 1 in all when a record is added or removed, and by 2 when one is replaced.

    Examples
    --------
    >>> Relation.SUBSTITUTE.description
    'one record replaced'
    """

    SUBSTITUTE = "substitute"
    """One record takes another value; the number of records is fixed and public."""
    ADD_REMOVE = "add_remove"
    """One record is there or is not; the number of records is private."""
    LOCAL = "local"
    """One person's whole input takes any other value."""
    ALIKE = "alike"
    """One person's answers of several rounds take other values that change in the same rounds."""

    @property
    def description(self) -> str:
        """The relation in plain words, to be printed after an epsilon."""
        return self.describe("record")

    def describe(self, whom: str) -> str:
        """Return the relation in plain words, for what takes the place of a record.

        Examples
        --------
        >>> Relation.ADD_REMOVE.describe("patient with all their rows")
        'one patient with all their rows added or removed'
        """
        return _DESCRIPTIONS[self].format(whom=whom)

    @staticmethod
    def read(x: object, name: str = "relation") -> Relation:
        """Return a relation, or the one that a word names.

        Examples
        --------
        >>> Relation.read("local") is LOCAL
        True
        >>> Relation.read("removed")
        Traceback (most recent call last):
        sourdine.errors.ParameterError: relation must be 'substitute', 'add_remove' or 'local', got 'removed'. Type relation='add_remove'.
        """  # noqa: E501
        if isinstance(x, Relation):
            return x
        hint = f"Type {{{name}}}."
        if not isinstance(x, str):
            must = "be a Relation or its name"
            raise ParameterTypeError(name, must, given(x), hint, **{name: "add_remove"})
        if x not in _NAMES:
            must = "be 'substitute', 'add_remove' or 'local'"
            raise ParameterError(name, must, given(x), hint, **{name: "add_remove"})
        return _NAMES[x]


def protected(unit: str | None, rows: int) -> str:
    """Return what takes the place of a record where a person has several.

    Examples
    --------
    >>> protected(None, 1), protected(None, 3), protected("patient", 3)
    ('record', 'person with at most 3 records', 'patient with all their rows')
    """
    if unit is not None:
        return f"{unit} with all their rows"
    return "record" if rows == 1 else f"person with at most {rows} records"


SUBSTITUTE = Relation.SUBSTITUTE
ADD_REMOVE = Relation.ADD_REMOVE
LOCAL = Relation.LOCAL
ALIKE = Relation.ALIKE

_DESCRIPTIONS = {
    SUBSTITUTE: "one {whom} replaced",
    ADD_REMOVE: "one {whom} added or removed",
    LOCAL: "any two inputs of one person",
    ALIKE: "any two histories of one person that change alike",
}

_NAMES = {relation.value: relation for relation in Relation}
