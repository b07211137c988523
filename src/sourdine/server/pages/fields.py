"""The desk's form, from the one schema of questions and from what the owner says of columns.

Every parameter is a field once; a statistic names the fields that it has. What is typed is sent as
it stands, and read by the reader that all faces share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sourdine import questions
from sourdine.errors import PythonWording, literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sourdine.server.columns import PublicColumns

__all__ = ["FORM", "FormField", "FormStatistic", "FormWording", "column_kinds", "fields", "kinds"]

FIXED = ("statistic", "read", "relation", "unit", "rows", "epsilon", "error")
"""What the session says, and what the planner has of its own."""
FURTHER = ("interval", "n", "step")
"""Rarely typed here: the server knows better than nothing."""
PREFILLED = {"q": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", "bins": "20"}
"""What a newcomer sees first: deciles, and as many bins as a picture shows well."""
SUGGESTED = {
    "q": {"median": "0.5", "quartiles": "0.25,0.5,0.75", "deciles": PREFILLED["q"]},
    "bounds": {"found privately, for part of epsilon": "find"},
    "keys": {"found privately (needs delta)": "unknown"},
}
LABELS = {"by": "for each", "q": "orders", "n": "records, about", "other": "one group for the rest"}
OF_NUMBERS = ("bins",)
FIRST = "mean"


class FormWording(PythonWording):
    """How parameters are spelled on a page: as the form names them.

    Examples
    --------
    >>> FORM.subject("by"), FORM.mention("q"), FORM.typed("epsilon", 4.9)
    ('for each', 'orders', '4.9 as epsilon')
    """

    def subject(self, name: str) -> str:
        """Return what a sentence about the parameter begins with."""
        return LABELS.get(name, name)

    def mention(self, name: str) -> str:
        """Return the parameter without a value."""
        return LABELS.get(name, name)

    def typed(self, name: str, value: object) -> str:
        """Return what to type, and where."""
        parts = value if isinstance(value, (list, tuple)) else (value,)
        said = ", ".join(part if isinstance(part, str) else literal(part) for part in parts)
        return f"{said} as {LABELS.get(name, name)}"


FORM = FormWording()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A parameter as a form shows it.

    Parameters
    ----------
    name
        Of the parameter.
    text
        What the schema says of it.
    choices
        Its values, where there are few.
    default
        What holds if nothing is typed.
    flag
        Whether it is yes or no.
    """

    name: str
    text: str
    choices: tuple[str, ...] = ()
    default: str = ""
    flag: bool = False

    @property
    def label(self) -> str:
        """What stands beside it."""
        return LABELS.get(self.name, self.name)

    @property
    def value(self) -> str:
        """What it holds at first."""
        return PREFILLED.get(self.name, "")

    @property
    def suggested(self) -> Mapping[str, str]:
        """Values to pick, by what they are called."""
        return SUGGESTED.get(self.name, {})

    @property
    def further(self) -> bool:
        """Whether it stands among those that few need."""
        return bool(self.default) or self.flag or self.name in FURTHER

    @property
    def of_numbers(self) -> bool:
        """Whether it means nothing for a column of categories."""
        return self.name in OF_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class FormStatistic:
    """A statistic as a form offers it.

    Parameters
    ----------
    name, text
        What it is called, and what it is.
    fields
        The names of its parameters.
    columns
        Which columns it is of: ``"number"``, ``"choice"`` or both.
    whole
        Whether it needs no column.
    """

    name: str
    text: str
    fields: tuple[str, ...]
    columns: tuple[str, ...]
    whole: bool

    @property
    def first(self) -> bool:
        """Whether a newcomer sees it first."""
        return self.name == FIRST


@cache
def kinds() -> tuple[FormStatistic, ...]:
    """Return the statistics that a form can ask: all whose parameters fit into one line each.

    Examples
    --------
    >>> [kind.name for kind in kinds()][:4], kinds()[2].fields[:3]
    (['count', 'sum', 'mean', 'variance'], ('column', 'bounds', 'step'))
    """
    return tuple(
        _kind(name, facts)
        for name, facts in questions.schema()["$defs"].items()
        if not any(facts["properties"][one].get("type") == "object" for one in facts["required"])
    )


def _kind(name: str, facts: Mapping[str, Any]) -> FormStatistic:
    own = tuple(one for one in facts["properties"] if one not in FIXED)
    numbers = "bounds" in own or "category" in own or "categories" not in own
    choices = "categories" in own or "category" in own or "bounds" not in own
    of = tuple(kind for kind, fits in (("number", numbers), ("choice", choices)) if fits)
    whole = not {"bounds", "category", "categories"} & set(own)
    return FormStatistic(name=name, text=facts["description"], fields=own, columns=of, whole=whole)


@cache
def fields() -> tuple[FormField, ...]:
    """Return every parameter of the statistics that a form can ask, once."""
    found: dict[str, FormField] = {}
    for kind in kinds():
        properties = questions.schema()["$defs"][kind.name]["properties"]
        for name in kind.fields:
            if name not in found or len(properties[name].get("enum", ())) > len(
                found[name].choices
            ):
                found[name] = _field(name, properties[name])
    return tuple(found.values())


def _field(name: str, facts: Mapping[str, Any]) -> FormField:
    default = facts.get("default")
    return FormField(
        name=name,
        text=facts["description"],
        choices=tuple(facts.get("enum", ())),
        default="" if default is None or default is False else str(default),
        flag=facts.get("type") == "boolean",
    )


def column_kinds(columns: PublicColumns) -> Iterable[tuple[str, str, str]]:
    """Yield for each column its name, of which kind it is, and what the owner says of it.

    Examples
    --------
    >>> list(column_kinds({"age": {"bounds": [0, 120]}, "sex": {"keys": ["f", "m"]}}))
    [('age', 'number', 'bounds'), ('sex', 'choice', 'keys')]
    """
    for name, facts in columns.items():
        said = [one for one in ("bounds", "step", "keys") if one in facts]
        yield name, "choice" if "keys" in facts else "number", " ".join(said)
