"""``sourdine disclose``: an entry for the registry of deployments, written or checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourdine.cli.ledger import opened
from sourdine.cli.streams import Terminal, complain
from sourdine.errors import ParameterError, SourdineError
from sourdine.presentation.texts import printable
from sourdine.session.filing import About, FiledReport
from sourdine.session.filing.deployment import entry, to_yaml
from sourdine.session.filing.registry import check_text, lacking

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["run"]


def run(
    path: Path | None, *, out: Path | None, about: Path | None, check: Path | None, overwrite: bool
) -> bool:
    """Write an entry, or check one; return whether the registry would take it."""
    if (path is None) == (check is None):
        raise ParameterError(
            "ledger",
            "be the path of a ledger, or be left out where {check} names an entry",
            "none" if path is None else "both",
            "Type sourdine disclose wages.ledger, or sourdine disclose {check}.",
            check="deployment.yaml",
        )
    if check is not None:
        return _checked(check)
    if path is not None:
        _write(FiledReport.of(opened(path), About.read(about)), out, overwrite=overwrite)
    return True


def _checked(path: Path) -> bool:
    try:
        faults = check_text(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourdineError(f"{path} could not be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        faults = ["the entry must be text in UTF-8, got something else."]
    for fault in faults:
        complain(fault)
    if not faults:
        print(f"{printable(str(path))}: the registry's fields are as they must be.")  # noqa: T201
    return not faults


def _write(report: FiledReport, out: Path | None, *, overwrite: bool) -> None:
    filled = entry(report)
    text = to_yaml(filled)
    if out is None:
        print(text, end="")  # noqa: T201 - the answer
    else:
        _save(text, out, overwrite=overwrite)
    if empty := lacking(filled, 3):
        said = f"Still to be said, in --about or in the entry: {', '.join(empty)}."
        console = Terminal(stderr=True)
        console.print(f"Tier {filled['tier']}. {said}", highlight=False, markup=False)


def _save(text: str, out: Path, *, overwrite: bool) -> None:
    if out.exists() and not overwrite:
        raise ParameterError(
            "out",
            "be a new file, or one that may be lost",
            f"{out} (it exists)",
            "Type another path, or {overwrite}.",
            overwrite=True,
        )
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourdineError(f"{out} could not be written: {error.strerror}.") from None
