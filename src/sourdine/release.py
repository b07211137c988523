"""`Release`: a number never travels alone.

It carries what it cost in privacy, what drew it, how far it can be from the truth and what a
reader must know. It holds public facts only: no law, no private value. Tables, pictures and
intervals are made by what drew it, from those facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import rational
from sourdine.privacy import Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.exact.parameters import Number
    from sourdine.grid import Grid

__all__ = ["SHOWN", "Release", "Released", "read_confidence", "readable", "rebuilt"]

SHOWN = 0.95
"""The confidence of the intervals in a table."""

WIDTH = 88


class Released(Protocol):
    """What a release asks of that which drew it: a mechanism or a statistic."""

    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return the ends between which the truth lies with probability ``confidence``."""

    def table(self, release: Release) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the heads and the rows of the release, as texts."""

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw the release."""

    def facts(self) -> dict[str, Any]:
        """Return the public parameters, as JSON knows them, with the ``kind`` to rebuild it."""


def read_confidence(confidence: object) -> float:
    """Return the probability with which an interval may miss the truth."""
    value = rational(confidence, "confidence")
    if not 0 < value <= 1 - rational(1e-12, "confidence"):
        raise ParameterError(
            f"confidence must be above 0 and below 1, got {confidence!s}. "
            f"Type a probability, as confidence=0.95."
        )
    return float(1 - value)


_KINDS: dict[str, Callable[..., Released]] = {}


def readable(kind: str, build: Callable[..., Released]) -> None:
    """Let `Release.from_json` rebuild a kind of statistic from its facts."""
    _KINDS[kind] = build


def rebuilt(facts: Mapping[str, Any]) -> Released:
    """Return the statistic that wrote these facts."""
    for room in ("sourdine.central", "sourdine.central.quantiles", "sourdine.local"):
        import_module(room)
    parameters = dict(facts)
    kind = parameters.pop("kind", None)
    if kind not in _KINDS:
        raise ParameterError(
            f"the JSON must hold the release of a statistic, got the kind {kind!r}. "
            f"Only what sourdine's statistics released can be read back."
        )
    return _KINDS[kind](**parameters)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A published value with its cost, its mechanism and its caveats.

    Parameters
    ----------
    value
        What is published: a number, an array, or one of them for each group.
    cost
        The guarantee under which it was drawn; infinite if the randomness was seeded.
    mechanism
        What drew it, with its public parameters.
    caveats
        Sentences a reader needs, fixed before the data was read.
    drawn
        Every number drawn under the cost, by name: intervals are functions of these.
    grid
        The public lattice the value lies on, where there is one.
    """

    value: Any
    cost: Guarantee
    mechanism: Released
    caveats: tuple[str, ...] = ()
    drawn: Mapping[str, Any] = field(default_factory=dict)
    grid: Grid | None = None

    def interval(self, confidence: Number = SHOWN, *, of: str = "sample") -> Any:  # noqa: ANN401
        """Return the ends between which the truth lies with probability ``confidence``.

        Two numbers, two arrays, or a pair of them for each key.

        Parameters
        ----------
        confidence
            A probability below 1; for several numbers it holds for all of them together, unless
            a caveat says that each holds on its own.
        of
            ``"sample"``: the truth is the statistic of the records at hand.
            ``"population"``: of the law they were drawn from, so sampling error is added.
        """
        if of not in ("sample", "population"):
            raise ParameterError(
                f"of must be 'sample' or 'population', got {of!r}. Type of='sample'."
            )
        return self.mechanism.between(self, confidence, of)

    def plot(self, **options: Any) -> Any:  # noqa: ANN401
        """Draw the release; ``path=`` saves the picture."""
        return self.mechanism.plot(self, **options)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        heads, rows = self.mechanism.table(self)
        columns = [_aligned(head, texts) for head, *texts in zip(heads, *rows, strict=True)]
        table = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        facts = [("cost", str(self.cost)), ("by", str(self.mechanism))]
        facts += [("note", caveat) for caveat in self.caveats]
        notes = [_wrapped(f"{name:<5} {text}") for name, text in facts]
        return "\n".join(table + notes)

    def _repr_html_(self) -> str:
        heads, rows = self.mechanism.table(self)
        head = "".join(f"<th>{escape(text)}</th>" for text in heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        notes = "".join(f"<br>{escape(caveat)}" for caveat in self.caveats)
        caption = f"{escape(str(self.cost))}, by {escape(str(self.mechanism))}{notes}"
        return (
            f"<table><caption style='caption-side:bottom;text-align:left'>{caption}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def to_json(self) -> str:
        """Return everything public as JSON; `from_json` reads it back."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """Return everything public as what JSON knows."""
        return {
            "value": _plain(self.value),
            "cost": self.cost.to_dict(),
            "mechanism": str(self.mechanism),
            "statistic": self.mechanism.facts(),
            "drawn": _plain(self.drawn),
            "caveats": list(self.caveats),
        }

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release of a statistic back; its intervals and tables are those of the first."""
        facts = _facts(text)
        mechanism: Any = rebuilt(facts["statistic"])
        drawn = facts["drawn"]
        return cls(
            value=mechanism.restore(facts["value"], drawn),
            cost=Guarantee.from_dict(facts["cost"]),
            mechanism=mechanism,
            caveats=tuple(facts["caveats"]),
            drawn=drawn,
            grid=getattr(mechanism, "grid", None),
        )


def _aligned(head: str, texts: Sequence[str]) -> list[str]:
    """Return a column of one width: names to the left, numbers to the right."""
    width = max(map(len, (head, *texts)))
    names = any(letter.isalpha() for text in texts for letter in text)
    return [text.ljust(width) if names else text.rjust(width) for text in (head, *texts)]


def _wrapped(text: str) -> str:
    """Return a note in lines of a terminal's width, indented below its name."""
    return fill(text, WIDTH, subsequent_indent=" " * 6, break_long_words=False)


def _facts(text: str) -> dict[str, Any]:
    """Return what the JSON of a release holds, or say that it is none."""
    try:
        facts = json.loads(text)
        complete = {"value", "cost", "statistic", "drawn", "caveats"} <= facts.keys()
    except (ValueError, TypeError, AttributeError):
        complete = False
    if not complete:
        raise ParameterError(
            "the JSON must be that of a release, got something else. "
            "Pass what Release.to_json() wrote."
        )
    return dict(facts)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
