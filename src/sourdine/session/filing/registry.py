"""What the registry of deployments of differential privacy asks of an entry.

The registry [1]_ keeps one YAML file for each deployment. Its fields are in three tiers: the first
says what is published by whom, the second what is promised to whom, the third how.

References
----------
.. [1] OpenDP, "deployments-registry-data", with the fields and their kinds in
   ``schemas/deployments-schema.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from sourdine.exact import given
from sourdine.presentation.figures import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["UNSAID", "Field", "Group", "check", "check_text", "lacking"]

UNSAID = "Not stated"
"""What stands in a field that must be there, and of which nothing was said."""

DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
TIERS = (1, 2, 3)
EMPTY = (None, "", UNSAID, [UNSAID])


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its kind, its tier, and what it may be."""

    kind: str = "text"
    tier: int | None = None
    among: tuple[Any, ...] = ()

    def fault(self, value: object) -> str | None:
        """Return what must hold and does not; None if all is well."""
        if not KINDS[self.kind](value):
            return f"be {WORDS[self.kind]}"
        if self.among and value not in self.among:
            return f"be one of {', '.join(map(str, self.among))}"
        return None


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under one name, and which of them must be there."""

    fields: Mapping[str, Field | Group]
    required: tuple[str, ...] = ()


def _is_day(value: object) -> bool:
    if not isinstance(value, str) or not DAY.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


KINDS: dict[str, Callable[[object], bool]] = {
    "text": lambda x: isinstance(x, str),
    "texts": lambda x: isinstance(x, list) and bool(x) and all(isinstance(t, str) for t in x),
    "day": _is_day,
    "whole number": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": _is_number,
    "number or text": lambda x: isinstance(x, str) or _is_number(x),
    "anything": lambda _: True,
}
WORDS = {
    "text": "a text",
    "texts": "a list of texts, at least one",
    "day": "a text of year-month-day, such as '2026-01-31'",
    "whole number": "a whole number",
    "number": "a number",
    "number or text": "a number or a text",
}


def _second(*among: str) -> Field:
    return Field(tier=2, among=among)


FIRST, THIRD = Field(tier=1), Field(tier=3)
STATUSES = (
    "Converted", "Draft", "Pending", "Changes Required", "Approved",
    "Approved (Update Requested)", "Approved (Pending)",
)  # fmt: skip
PRODUCTS = (
    "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
    "SQL queries",
)  # fmt: skip
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")

BASIC = Group(
    {
        "name": FIRST,
        "data_curators": Field("texts", 1),
        "intended_use": FIRST,
        "data_product_type": Field(tier=1, among=PRODUCTS),
        "data_product_region": FIRST,
        "description": FIRST,
        "publication_date": Field("day", 1),
        "data_product_sector": Field(tier=1, among=SECTORS),
    },
    (
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "publication_date",
    ),
)  # fmt: skip
VARIANT = Group(
    {
        "variant_name": _second(
            "Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"
        ),
        "data_domain": THIRD,
        "unprotected_quantities": THIRD,
    }
)
LOSS = Group(
    {
        "privacy_unit": _second(),
        "privacy_unit_details": THIRD,
        "privacy_parameters": Group(
            {"epsilon": Field("number"), "delta": Field("number or text"), "rho": Field("number")}
        ),
        "privacy_parameters_details": Field("anything", 3),
    }
)
MODEL = Group(
    {
        "model_name": _second("Local", "Central", "Shuffle", "Federated", "Varies"),
        "model_name_details": Field(),
        "actors": THIRD,
        "release_type": _second("One release", "Many releases"),
        "release_type_details": Field(),
        "data_source_type": _second("Static", "Dynamic"),
        "data_source_type_details": Field("anything"),
        "access_type": _second("Interactive", "Non-interactive"),
        "access_type_details": Field(),
    }
)
ADMINISTRATIVE = Group(
    {"sources": FIRST, "notes": Field(), "registry_authors": Field("texts")},
    ("registry_authors",),
)
DEPLOYMENT = Group(
    {
        "basic": BASIC,
        "dp_variant": VARIANT,
        "privacy_loss": LOSS,
        "deployment_model": MODEL,
        "accounting": Group({"post_processing": THIRD, "composition": THIRD}),
        "implementation": Group(
            {
                "preprocessing_and_hyperparameter_tuning": THIRD,
                "mechanisms": THIRD,
                "justification": THIRD,
            }
        ),
        "administrative": ADMINISTRATIVE,
    },
    ("basic",),
)
RECORD = Group(
    {
        "url_slug": Field(),
        "status": Field(among=STATUSES),
        "tier": Field("whole number", among=TIERS),
        "deployment": DEPLOYMENT,
    },
    ("url_slug", "status", "tier", "deployment"),
)


def check(record: object) -> list[str]:
    """Return what the registry would refuse in an entry, a sentence each.

    Examples
    --------
    >>> check({"url_slug": "a", "status": "Draft", "tier": 9, "deployment": {"basic": 7}})
    ['tier must be one of 1, 2, 3, got 9.', 'deployment.basic must be names with values, got 7.']
    """
    return list(_faults(record, RECORD, ""))


def _faults(value: object, kind: Field | Group, where: str) -> Iterator[str]:
    if isinstance(kind, Field):
        if (must := kind.fault(value)) is not None:
            yield f"{where} must {must}, got {_got(value)}."
        return
    if not isinstance(value, Mapping):
        yield f"{where or 'the entry'} must be names with values, got {_got(value)}."
        return
    inside = f"{where}." if where else ""
    yield from (f"{inside}{name} must be there." for name in kind.required if name not in value)
    for name, part in value.items():
        known = kind.fields.get(name) if isinstance(name, str) else None
        if known is None:
            yield f"{inside}{_got(name)} must not be there: the registry does not know it."
        else:
            yield from _faults(part, known, f"{inside}{name}")


def _got(value: object) -> str:
    """Return what was given; what holds others is only named, however large it is."""
    simple = value is None or isinstance(value, (str, int, float, bool))
    return given(value) if simple else f"a {type(value).__name__}"


def lacking(record: Mapping[str, Any], tier: int) -> list[str]:
    """Return the fields of a tier, and of those below it, that an entry leaves empty."""
    return list(_empty(record["deployment"], DEPLOYMENT, tier, "deployment"))


def _empty(value: Mapping[str, Any], kind: Group, tier: int, where: str) -> Iterator[str]:
    for name, part in kind.fields.items():
        path, found = f"{where}.{name}", value.get(name)
        if isinstance(part, Group):
            yield from _empty(found or {}, part, tier, path)
        elif part.tier is not None and part.tier <= tier and found in EMPTY:
            yield path


def check_text(text: str) -> list[str]:
    """Return what the registry would refuse in the text of an entry, a sentence each.

    Notes
    -----
    *Claim*: entries that the registry takes pass, and those that it refuses fail. *Checked by*
    ``test_the_registrys_samples_are_judged_as_it_does``.
    """
    try:
        import yaml  # noqa: PLC0415 - an extra, loaded late
    except ImportError as error:
        raise MissingExtraError(
            "PyYAML",
            "be installed to read an entry",
            "none",
            "In the checkout, type pip install '.[registry]'.",
        ) from error
    try:
        events = list(yaml.parse(text, yaml.SafeLoader))
        record = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        place = getattr(error, "problem_mark", None)
        return [f"the entry must be YAML, got a mistake in line {place.line + 1 if place else 1}."]
    folded = [e.start_mark.line + 1 for e in events if getattr(e, "style", None) == ">"]
    return [
        *(f"line {n} must write its text with | in place of >: that keeps lines." for n in folded),
        *check(record),
    ]
