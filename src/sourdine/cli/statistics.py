"""``sourdine mean`` and its kin: from a file to a table, JSON or a picture."""

from __future__ import annotations

import json
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sourdine.cli.output import notes, picture, print_table
from sourdine.cli.reading import parameters, statistic_parameters
from sourdine.cli.wording import as_typed
from sourdine.errors import ParameterError
from sourdine.privacy.printing import shown
from sourdine.release import SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.release import Release
    from sourdine.session import Session

__all__ = ["run"]

SPENT = ("epsilon", "delta")
LARGE = 50_000_000
"""A spinner turns for files of so many bytes or more."""


def run(name: str, given: dict[str, Any]) -> None:
    """Release a statistic of a file, and show it."""
    typed = parameters(given)
    file, as_json = typed.pop("file"), typed.pop("json", False)
    ledger, plot = typed.pop("ledger", None), typed.pop("plot", None)
    total = {word: typed.pop(f"total_{word}") for word in SPENT if f"total_{word}" in typed}
    asked = statistic_parameters(name, typed)
    picture.check(plot)
    with _patience(file):
        session = _session(file, ledger, total, asked) if ledger is not None else None
        release = _release(name, file, session, asked)
    if as_json:
        print(json.dumps(_facts(release, session), ensure_ascii=False))  # noqa: T201 - the answer
    else:
        console = Console()
        print_table(console, *release.mechanism.table(release))
        notes(console, _notes(release, session))
    if plot is not None:  # last: what was paid for is shown, whatever becomes of the picture
        column = f" of {asked['column']}" if "column" in asked else ""
        picture.draw(release, plot, title=f"{name}{column}".capitalize())


def _release(name: str, file: str, session: Session | None, asked: dict[str, Any]) -> Release:
    if session is not None:
        own = {k: v for k, v in asked.items() if k not in ("relation", "unit", "rows")}
        released: Release = getattr(session, name)(**own)
        return released
    from sourdine.central import ask  # noqa: PLC0415 - commands load what they need
    from sourdine.plan import statistic  # noqa: PLC0415

    return ask(statistic(name, **asked), file, unit=asked.get("unit"))


def _session(file: str, ledger: str, total: dict[str, Any], asked: dict[str, Any]) -> Session:
    from sourdine.session import Session  # noqa: PLC0415 - commands load what they need

    if "epsilon" not in total and not Path(ledger).exists():
        raise ParameterError(
            f"--total must be given for a new ledger, got none for {ledger}. Type what everything "
            f"that is ever published of these data may cost together, as --total 3."
        )
    shape = {word: asked[word] for word in ("relation", "unit", "rows") if word in asked}
    return Session(file, ledger=ledger, **total, **shape)


@contextmanager
def _patience(file: str) -> Iterator[None]:
    """Turn a spinner while a large file is read, if a person is watching."""
    console = Console(stderr=True)
    size = sum(Path(path).stat().st_size for path in glob(file))  # noqa: PTH207 - the pattern may be absolute
    if not console.is_terminal or size < LARGE:
        yield
        return
    with console.status(f"reading {file} ({size / 1e9:.2g} GB)"):
        yield


def _facts(release: Release, session: Session | None) -> dict[str, Any]:
    facts = release.to_dict()
    facts["interval"] = {"confidence": SHOWN, "ends": _ends(release.interval(SHOWN))}
    if session is not None:
        facts["ledger"] = {"remaining": session.remaining.to_dict()}
    return facts


def _ends(ends: Any) -> Any:  # noqa: ANN401
    if isinstance(ends, dict):
        return {str(key): _ends(part) for key, part in ends.items()}
    if isinstance(ends, (tuple, list)):
        return [_ends(end) for end in ends]
    return ends.tolist() if hasattr(ends, "tolist") else ends


def _notes(release: Release, session: Session | None) -> list[tuple[str, str]]:
    facts = [("cost", str(release.cost)), ("by", str(release.mechanism))]
    if session is not None:
        total = shown(session.total.exact_epsilon())
        facts.append(("left", f"{session.remaining}; the total is {total}"))
    return facts + [("note", as_typed(caveat)) for caveat in release.caveats]
