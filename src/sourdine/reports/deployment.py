"""An entry for the registry of deployments, filled from a report."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from sourdine.privacy import ADD_REMOVE, Guarantee
from sourdine.privacy.guarantee import percent, shown
from sourdine.reports import sections
from sourdine.reports.about import TIERS, UNSAID, lacking
from sourdine.reports.sections import algorithms
from sourdine.results.tables import STEERING, printable
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.reports.report import FiledReport


MARKS = re.compile(r"([\\`*_{}\[\]<>|#~$&])")
UNFIT = re.compile(
    f'{STEERING.pattern}|[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\\\\"]'
)
"""What a quoted text of YAML must escape."""


def entry(report: FiledReport) -> dict[str, Any]:
    """Return what a report says, in the fields of the registry.

    The parameters are those of the total: they hold whatever is asked until it is used up. The
    tier is the highest whose fields are all filled in.

    Examples
    --------
    >>> import sourdine as sd
    >>> session = sd.Session({"age": [20, 30, 40] * 1000}, epsilon=1)
    >>> filled = entry(session.report(about={"title": "Ages", "purpose": "Planning"}))
    >>> filled["tier"], filled["deployment"]["privacy_loss"]["privacy_parameters"]
    (1, {'epsilon': 1.0})
    """
    about, charges, total = report.about, report.charges, report.terms.total
    first = charges[0].when if charges else report.when
    variant, parameters = "Zero-concentrated DP", {}
    if isinstance(total, Guarantee):
        variant = "Pure DP" if total.is_pure else "Approximate DP"
        parameters = {"epsilon": _float_above(total.exact_epsilon())}
        parameters |= {"delta": _float_above(total.delta)} if total.delta else {}
    else:
        parameters = {"rho": _float_above(total.rho)}
    record: dict[str, Any] = {
        "url_slug": _slug(report), "status": "Draft", "tier": 1,
        "deployment": {
            "basic": {
                "name": about.title or _plain(report.title),
                "data_curators": list(about.curators) or [UNSAID],
                "intended_use": about.purpose or UNSAID, "data_product_type": "Summary statistics",
                "data_product_region": about.region or UNSAID,
                "description": about.description or UNSAID,
                "publication_date": about.published or first[:10],
                "data_product_sector": about.sector,
            },
            "dp_variant": {
                "variant_name": variant, "data_domain": about.data,
                "unprotected_quantities": about.unprotected,
            },
            "privacy_loss": _loss(report, parameters),
            "deployment_model": _model(report),
            "accounting": {
                "post_processing": about.post_processing, "composition": report.composition,
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": about.preprocessing,
                "mechanisms": _mechanisms(report), "justification": about.justification,
            },
            "administrative": {
                "sources": about.sources, "notes": about.notes,
                "registry_authors": list(about.authors or about.curators) or [UNSAID],
            },
        },
    }  # fmt: skip
    whole: dict[str, Any] = _filled(record)
    whole["tier"] = max([1, *(tier for tier in TIERS if not lacking(whole, tier))])
    return whole


def _loss(report: FiledReport, parameters: dict[str, float]) -> dict[str, Any]:
    terms, spent = report.terms, report.spent
    whom, total = _plain(terms.protected), terms.total
    more, less = ("added or removed", "is protected too")
    if total.relation is not ADD_REMOVE:
        more, less = ("replaced", "is public")
    releases = "1 release" if len(report.charges) == 1 else f"{len(report.charges)} releases"
    paid = percent(report.account.share, up=True)
    if isinstance(spent, Guarantee):
        paid = f"epsilon {shown(spent.exact_epsilon())}"
        paid += f", delta {shown(spent.delta)}" if spent.delta else ""
    return {
        "privacy_unit": f"One {whom}",
        "privacy_unit_details": f"Data sets are adjacent if one {whom} is {more}; the number of "
        f"records {less}.",
        "privacy_parameters": parameters,
        "privacy_parameters_details": "The parameters are those of the fixed total for everything "
        f"released under this ledger. Spent when this was written: {paid}, in {releases}.",
    }


def _model(report: FiledReport) -> dict[str, Any]:
    about = report.about
    days = {charge.when[:10] for charge in report.charges}
    return {
        "model_name": "Central",
        "model_name_details": "The data holder runs the library; noise is added to exact counts "
        "in its process.",
        "actors": about.actors,
        "release_type": about.release_type or ("Many releases" if len(days) > 1 else "One release"),
        "release_type_details": "A ledger charges every release before it is drawn and refuses "
        "releases that would exceed the total. The total is never reset.",
        "data_source_type": about.data_source,
        "access_type": about.access_type,
        "access_type_details": about.access,
    }


def _mechanisms(report: FiledReport) -> str:
    facts = {
        "Library": f"Sourdine {__version__} (Python).",
        **sections.IMPLEMENTED,
        "Security of the raw data": report.about.security or UNSAID,
    }
    drawn = [f"- {_plain(how)}" for how, _, _ in algorithms(report)]
    return "\n".join([*drawn, *(f"- {name}: {text}" for name, text in facts.items())])


def _slug(report: FiledReport) -> str:
    year = (report.about.published or report.when)[:4]
    words = " ".join([report.title, *report.about.curators, year])
    return "-".join(re.findall(r"[a-z0-9]+", words.lower()))[:100].strip("-")


def _filled(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    inner = {name: _filled(value) for name, value in part.items()}
    return {name: value for name, value in inner.items() if value not in (None, {})}


def _plain(text: str) -> str:
    """Return a name that a stranger chose, as Markdown that shows it."""
    return MARKS.sub(r"\\\1", printable(text))


def _float_above(x: Fraction) -> float:
    """Return the least float whose decimal is not below a number."""
    near = float(x)
    return near if Fraction(repr(near)) >= x else nextafter(near, inf)


def to_yaml(record: Mapping[str, Any]) -> str:
    r"""Return an entry as YAML: names, texts, numbers and lists of texts.

    *Claim*: what is read back is what was written, whatever the texts hold. *Checked by*
    ``test_yaml_is_read_back_as_it_was_written``.

    Examples
    --------
    >>> print(to_yaml({"tier": 1, "basic": {"name": "Ages: all", "use": "- a\n- b"}}), end="")
    tier: 1
    basic:
      name: "Ages: all"
      use: |-
        - a
        - b
    """
    return "".join(f"{line}\n" for line in _lines(record, ""))


def _lines(record: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in record.items():
        if value in ({}, []):
            yield f"{indent}{name}: {value}"
        elif isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_quoted(text)}" for text in value)
        elif isinstance(value, str):
            lines = value.split("\n")
            plain = not any(found not in '\\"' for line in lines for found in UNFIT.findall(line))
            if len(lines) > 1 and plain and lines[0][:1].strip() and lines[-1].strip():
                yield f"{indent}{name}: |-"
                yield from (f"{indent}  {line}" if line else "" for line in lines)
            else:
                yield f"{indent}{name}: {_quoted(value)}"
        else:
            number = repr(value)
            if "e" in number and "." not in number:
                number = number.replace("e", ".0e")
            yield f"{indent}{name}: {number}"


def _quoted(text: str) -> str:
    return f'"{UNFIT.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    letter, code = found[0], ord(found[0])
    if letter in '\\"':
        return f"\\{letter}"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"
