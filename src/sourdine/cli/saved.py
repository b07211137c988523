"""``sourdine plot``: a picture of what was saved as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sourdine.answers import Release
from sourdine.cli import picture
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["run"]


def run(file: Path, out: Path) -> None:
    """Draw what a file holds as JSON."""
    picture.check(str(out), "--out")
    found, title = _saved(file)
    picture.draw(found, str(out), **({"title": title} if title else {}))
    Terminal(stderr=True).print(f"Picture: {out}", highlight=False, markup=False)


def _saved(file: Path) -> tuple[Any, str | None]:
    """Return what can be drawn, and a title where it has none of its own."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        kind = next((kind for kind in KINDS if KINDS[kind][0] <= facts.keys()), None)
        if kind is not None:
            return KINDS[kind][1](facts), file.stem if kind == "estimates" else None
    except OSError as error:
        raise SourdineError(f"{file} could not be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ParameterError(
        "file",
        f"hold {', '.join([*KINDS][:-1])} or {[*KINDS][-1]}, as --json printed it",
        str(file),
        "Save one with sourdine mean ... --json > release.json.",
    )


def _plan(facts: Mapping[str, Any]) -> Any:  # noqa: ANN401
    from sourdine.plan import Plan  # noqa: PLC0415 - commands load what they need
    from sourdine.questions import read  # noqa: PLC0415

    return Plan(question=read({**facts["question"], "confidence": facts["confidence"]}))


def _estimates(facts: Mapping[str, Any]) -> Any:  # noqa: ANN401
    from sourdine.local.table.estimating.sheets import SavedEstimates  # noqa: PLC0415

    return SavedEstimates.from_dict(facts)


def _density(facts: Mapping[str, Any]) -> Any:  # noqa: ANN401
    from sourdine.local.densities import Density  # noqa: PLC0415 - commands load what they need

    return Density.from_dict(facts)


KINDS: dict[str, tuple[set[str], Callable[[Mapping[str, Any]], Any]]] = {
    "a release": ({"value", "cost", "question", "drawn"}, Release.from_dict),
    "a plan": ({"question", "confidence", "error"}, _plan),
    "estimates": ({"estimates", "cost"}, _estimates),
    "a density": ({"mass", "spread", "bounds"}, _density),
}
"""What can be drawn: what its JSON has, and what reads it."""
