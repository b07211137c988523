"""The desk's form, from the one schema of questions and from what the owner says of columns.

A parameter that several statistics describe alike is one field; where they differ in its help, its
choices or its default, each has a field of its own. A choice is offered only if a question with it
would be accepted under the terms of the data set. What is typed is sent as it stands, and read by
the parser that all interfaces share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sourdine import questions
from sourdine.errors import PythonWording, SourdineError, literal
from sourdine.privacy import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sourdine.privacy import Relation
    from sourdine.server.datasets import PublicColumns
    from sourdine.session import Terms


FIXED = ("statistic", "read", "lookup", "tables", "relation", "unit", "rows", "epsilon", "error")
"""What the session says, and what the planner has of its own."""
LONG = ("statement",)
"""What is typed in several lines."""
FURTHER = (
    "interval", "n", "step", "steps", "per_person", "weights", "weight_bounds", "strata",
    "strata_keys",
)  # fmt: skip
"""Rarely typed here: the server knows better than nothing."""
PREFILLED = {"q": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", "bins": "20"}
"""What a newcomer sees first: deciles, and as many bins as a picture shows well."""
SUGGESTED = {
    "q": {"median": "0.5", "quartiles": "0.25,0.5,0.75", "deciles": PREFILLED["q"]},
    "bounds": {"found privately, for part of epsilon": "find"},
    "keys": {"found privately (needs delta)": "unknown"},
    "per_person": {"the sum of all rows": "sum", "how many rows": "count", "the largest": "max"},
}
LABELS = {
    "by": "for each", "q": "orders", "n": "records, about", "other": "one group for the rest",
    "per_person": "one value for each person", "weight_bounds": "bounds of weights",
}  # fmt: skip
OF_NUMBERS = ("bins",)
FIRST = "mean"
EXAMPLE: Mapping[str, Any] = {
    "column": "x", "bounds": (0, 120), "step": 1, "q": PREFILLED["q"], "bins": 20,
    "category": "a", "categories": ("a", "b"), "y": "y",
}  # fmt: skip
"""A question with which choices are tried."""
OF_DELTA = ("unknown",)
"""Suggested values that need a delta."""


class FormWording(PythonWording):
    """How parameters are spelled on a page: as the form names them.

    Examples
    --------
    >>> FORM.subject("by"), FORM.mention("q"), FORM.typed("epsilon", 4.9)
    ('for each', 'orders', '4.9 as epsilon')
    """

    def subject(self, name: str) -> str:
        return LABELS.get(name, name)

    mention = subject

    def typed(self, name: str, value: object) -> str:
        parts = value if isinstance(value, (list, tuple)) else (value,)
        said = ", ".join(part if isinstance(part, str) else literal(part) for part in parts)
        return f"{said} as {LABELS.get(name, name)}"


FORM = FormWording()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A parameter as a form shows it.

    ``statistics`` have it as it is here; ``key`` tells it apart from the fields of the same
    parameter of other statistics; ``suggested`` are values to pick, by what they are called.
    """

    name: str
    text: str
    choices: tuple[str, ...] = ()
    default: str = ""
    flag: bool = False
    statistics: tuple[str, ...] = ()
    key: str = ""
    suggested: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return LABELS.get(self.name, self.name)

    @property
    def value(self) -> str:
        return PREFILLED.get(self.name, "")

    @property
    def further(self) -> bool:
        """Whether it stands among those that few need."""
        return bool(self.default) or self.flag or self.name in FURTHER

    @property
    def long(self) -> bool:
        return self.name in LONG

    @property
    def of_numbers(self) -> bool:
        """Whether it means nothing for a column of categories."""
        return self.name in OF_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class FormStatistic:
    """A statistic as a form offers it.

    ``columns`` says which it is of, ``"number"``, ``"choice"`` or both; ``whole`` whether it needs
    none.
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

    Bounds by column do not: the owner of the data set says them.

    Examples
    --------
    >>> [kind.name for kind in kinds()][:4], kinds()[2].fields[:3]
    (['count', 'sum', 'mean', 'variance'], ('column', 'where', 'bounds'))
    """

    def by_column(facts: Mapping[str, Any]) -> bool:
        own = [name for name in facts["required"] if name != "bounds"]
        return any(facts["properties"][name].get("type") == "object" for name in own)

    known = questions.schema()["$defs"].items()
    return tuple(_kind(name, facts) for name, facts in known if not by_column(facts))


def _kind(name: str, facts: Mapping[str, Any]) -> FormStatistic:
    own = tuple(one for one in facts["properties"] if one not in FIXED)
    numbers = "bounds" in own or "category" in own or "categories" not in own
    choices = "categories" in own or "category" in own or "bounds" not in own
    of = tuple(kind for kind, fits in (("number", numbers), ("choice", choices)) if fits)
    whole = "column" not in own or not {"bounds", "category", "categories"} & set(own)
    return FormStatistic(name=name, text=facts["description"], fields=own, columns=of, whole=whole)


def fields_under(terms: Terms) -> tuple[FormField, ...]:
    """Return the fields of the statistics that can be asked of a data set with these terms."""
    delta = terms.filter is not None or terms.reserve > 0
    return fields(terms.total.relation, unit=terms.unit is not None, delta=delta)


@cache
def fields(
    relation: Relation = ADD_REMOVE, *, unit: bool = False, delta: bool = False
) -> tuple[FormField, ...]:
    """Return the fields of all statistics that a form can ask.

    ``unit`` is whether a column of the data set names a person; ``delta`` whether its total has a
    delta, so that a question may have one.

    Examples
    --------
    >>> [(one.statistics, one.choices) for one in fields() if one.name == "method"][0]
    (('mean',), ('laplace', 'exponential'))
    """
    session = {"relation": relation, "epsilon": 1, **({"unit": "who"} if unit else {})}
    found: dict[str, list[FormField]] = {}
    for kind in kinds():
        properties = questions.schema()["$defs"][kind.name]["properties"]
        asked = {name: x for name, x in EXAMPLE.items() if name in kind.fields} | session
        if kind.name == "quantile":
            asked["q"] = 0.5
        if "y" in kind.fields:
            asked |= {"x": "x", "bounds": {"x": (0, 120), "y": (0, 120)}}
        if "bins" in asked:
            del asked["categories"]  # of numbers or of categories, not of both
        for name in kind.fields:
            if (name == "delta" and not delta) or (name == "per_person" and not unit):
                continue
            one = _field(name, properties[name], kind.name, asked, delta=delta)
            variants = found.setdefault(name, [])
            alike = [i for i, was in enumerate(variants) if _shape(was) == _shape(one)]
            if alike:
                was = variants[alike[0]]
                variants[alike[0]] = replace(was, statistics=(*was.statistics, kind.name))
            elif not one.flag or _accepted({**asked, "statistic": kind.name}, name, value=True):
                variants.append(replace(one, key=f"{name}-{kind.name}" if variants else name))
    return tuple(one for variants in found.values() for one in variants)


def _shape(field: FormField) -> FormField:
    return replace(field, statistics=(), key="")


def _field(
    name: str, facts: Mapping[str, Any], statistic: str, asked: Mapping[str, Any], *, delta: bool
) -> FormField:
    default = facts.get("default")
    whole = {**asked, "statistic": statistic}
    found = facts.get("enum", ())
    suggested = SUGGESTED.get(name, {}).items()
    return FormField(
        name=name,
        text=facts["description"],
        choices=tuple(one for one in found if _accepted(whole, name, one, delta=delta)),
        default="" if default is None or default is False else str(default),
        flag=facts.get("type") == "boolean",
        statistics=(statistic,),
        suggested=tuple(one for one in suggested if delta or one[1] not in OF_DELTA),
    )


def _accepted(asked: Mapping[str, Any], name: str, value: object, *, delta: bool = False) -> bool:
    """Return whether a question with a value would be read."""
    more = {"by": "g", "keys": ("a", "b")} if name == "other" else {}
    for small in ({}, {"delta": 1e-6}) if delta else ({},):
        try:
            read = questions.read({**asked, **more, name: value, **small})
        except SourdineError:
            continue
        # A word that is read as another, which is in the list too, is no choice of its own.
        return not isinstance(value, str) or str(read.to_dict().get(name, value)) == value
    return False


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
