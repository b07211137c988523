"""What only the owner of the data knows, in the terms of the public registry."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from sourdine.errors import (
    MissingExtraError,
    MissingFileError,
    ParameterError,
    ParameterTypeError,
    did_you_mean,
)
from sourdine.exact import given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# ---- What the registry of deployments of differential privacy asks of an entry -------------------
#
# The registry [1]_ keeps one YAML file for each deployment. Its fields are in three tiers: the
# first says what is published by whom, the second what is promised to whom, the third how.
#
# References
# ----------
# .. [1] OpenDP, "deployments-registry-data", with the fields and their kinds in
#    ``schemas/deployments-schema.yaml``.


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


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under one name, and which of them must be there."""

    fields: Mapping[str, Field | Group]
    required: tuple[str, ...] = ()


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


KINDS: dict[str, Callable[[object], bool]] = {
    "text": lambda x: isinstance(x, str),
    "texts": lambda x: isinstance(x, list) and bool(x) and all(isinstance(t, str) for t in x),
    "day": lambda x: isinstance(x, str) and bool(DAY.fullmatch(x)) and _day(x) is not None,
    "whole number": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": _is_number, "number or text": lambda x: isinstance(x, str) or _is_number(x),
    "anything": lambda _: True,
}  # fmt: skip
WORDS = {
    "text": "a text", "texts": "a list of texts, at least one",
    "day": "a text of year-month-day, such as '2026-01-31'", "whole number": "a whole number",
    "number": "a number", "number or text": "a number or a text",
}  # fmt: skip


def _second(*among: str) -> Field:
    return Field(tier=2, among=among)


FIRST, THIRD, ANY = Field(tier=1), Field(tier=3), Field()
STATUSES = (
    "Converted", "Draft", "Pending", "Changes Required", "Approved",
    "Approved (Update Requested)", "Approved (Pending)",
)  # fmt: skip
PRODUCTS = (
    "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
    "SQL queries",
)  # fmt: skip
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
DEPLOYMENT = Group({
    "basic": Group({
        "name": FIRST, "data_curators": Field("texts", 1), "intended_use": FIRST,
        "data_product_type": Field(tier=1, among=PRODUCTS), "data_product_region": FIRST,
        "description": FIRST, "publication_date": Field("day", 1),
        "data_product_sector": Field(tier=1, among=SECTORS),
    }, (
        "name", "data_curators", "description", "intended_use", "data_product_type",
        "data_product_region", "publication_date",
    )),
    "dp_variant": Group({
        "variant_name": _second(*VARIANTS), "data_domain": THIRD, "unprotected_quantities": THIRD,
    }),
    "privacy_loss": Group({
        "privacy_unit": _second(), "privacy_unit_details": THIRD,
        "privacy_parameters": Group({
            "epsilon": Field("number"), "delta": Field("number or text"), "rho": Field("number"),
        }),
        "privacy_parameters_details": Field("anything", 3),
    }),
    "deployment_model": Group({
        "model_name": _second("Local", "Central", "Shuffle", "Federated", "Varies"),
        "model_name_details": ANY, "actors": THIRD,
        "release_type": _second("One release", "Many releases"), "release_type_details": ANY,
        "data_source_type": _second("Static", "Dynamic"),
        "data_source_type_details": Field("anything"),
        "access_type": _second("Interactive", "Non-interactive"), "access_type_details": ANY,
    }),
    "accounting": Group({"post_processing": THIRD, "composition": THIRD}),
    "implementation": Group({
        "preprocessing_and_hyperparameter_tuning": THIRD, "mechanisms": THIRD,
        "justification": THIRD,
    }),
    "administrative": Group(
        {"sources": FIRST, "notes": ANY, "registry_authors": Field("texts")},
        ("registry_authors",),
    ),
}, ("basic",))  # fmt: skip
RECORD = Group({
    "url_slug": ANY, "status": Field(among=STATUSES), "tier": Field("whole number", among=TIERS),
    "deployment": DEPLOYMENT,
}, ("url_slug", "status", "tier", "deployment"))  # fmt: skip


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
        if not KINDS[kind.kind](value):
            yield f"{where} must be {WORDS[kind.kind]}, got {_got(value)}."
        elif kind.among and value not in kind.among:
            yield f"{where} must be one of {', '.join(map(str, kind.among))}, got {_got(value)}."
        return
    if not isinstance(value, Mapping):
        yield f"{where or 'the entry'} must be names with values, got {_got(value)}."
        return
    inside = f"{where}." if where else ""
    yield from (f"{inside}{name} is required." for name in kind.required if name not in value)
    for name, part in value.items():
        known = kind.fields.get(name) if isinstance(name, str) else None
        if known is None:
            yield f"{inside}{_got(name)} is unknown to the registry."
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
        import yaml
    except ImportError as error:
        raise MissingExtraError.of("registry") from error
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


# ---- What only the owner of the data knows, and a report must say: purpose, contact, legal basis -


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
    sourdine.errors.ParameterError: about must hold known names, got 'tittle'. Did you mean 'title'?
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
                "about", "be a dict of names and strings, or the path of a TOML file", given(about),
                about={"purpose": "Planning"},
            )  # fmt: skip
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
    "data_source": ("Static", "Dynamic"), "release_type": ("One release", "Many releases"),
    "access_type": ("Interactive", "Non-interactive"), "sector": SECTORS,
}  # fmt: skip


def _known(name: str, known: set[str]) -> str:
    if name in known:
        return name
    raise ParameterError("about", "hold known names", repr(name), did_you_mean(name, known))


def _read(name: str, value: object) -> Any:
    if name in LISTS:
        parts = [value] if isinstance(value, str) else value
        if isinstance(parts, (list, tuple)) and all(isinstance(part, str) for part in parts):
            return tuple(part for part in parts if part.strip())
        raise ParameterError(
            "about", f"hold a list of strings as {name}", given(value), "Use ['one', 'two']."
        )
    if name == "published" and (day := _day(value)):
        return day
    if name == "published" or not isinstance(value, str):
        kind, such = ("a day", "2026-01-31") if name == "published" else ("a text", "some words")
        raise ParameterError("about", f"hold {kind} as {name}", given(value), f"Use {such!r}.")
    if name in CHOICES and value not in CHOICES[name]:
        among = ", ".join(CHOICES[name])
        hint = f"Use {CHOICES[name][0]!r}, or another of them."
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
    except FileNotFoundError:
        raise MissingFileError("about", "exist", os.fsdecode(path), "Check the path.") from None
    except OSError as error:
        reason = error.strerror or "unreadable"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        reason = "not TOML"
    raise ParameterError(
        "about", "be a TOML file of names and strings", f"{os.fsdecode(path)} ({reason})",
        "Write lines such as purpose = 'Planning'.",
    )  # fmt: skip
