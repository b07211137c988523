"""Tables in a terminal: ``sourdine check``, ``schema``, ``sanitize``, ``estimate``, ``density``."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.cli.engines import by_spark, records
from sourdine.cli.options import read_options
from sourdine.cli.output import picture, print_sheet
from sourdine.cli.patience import patience
from sourdine.cli.statistics import typed as said
from sourdine.cli.streams import Terminal
from sourdine.errors import ParameterError, SourdineError
from sourdine.question import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.local.table import Schema

__all__ = ["check", "density", "estimate", "in_pairs", "read_schema", "sanitize", "schema"]


def check(given: dict[str, Any]) -> None:
    """Say what stands in a file, to whoever holds it."""
    from sourdine.curator import check as checked  # noqa: PLC0415 - commands load what they need

    declared = read_options(given)
    print_sheet(Terminal(), checked(given["file"], unit=given["unit"], read=declared).sheet())


def schema(given: dict[str, Any]) -> None:
    """Write a schema with gaps to fill in."""
    from sourdine.local.table.skeleton import skeleton  # noqa: PLC0415 - commands load what they need

    file, out = given["file"], given["out"]
    text = skeleton(file, read=read_options(given))
    if out is None:
        print(text, end="")  # noqa: T201 - the answer
        return
    if Path(out).exists():
        raise ParameterError(
            "--out", "be a new file", f"{out!r}, which exists", "Type another name."
        )
    _write(out, text)
    then = f"sourdine sanitize {file} --schema {out} -o clean{Path(file).suffix}"
    Terminal(stderr=True).print(
        f'Wrote {out}. Fill in every "?", then: {then}', markup=False, soft_wrap=True
    )


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def read_schema(path: str) -> Schema:
    """Return the schema that was named."""
    from sourdine.local.table import Schema  # noqa: PLC0415 - commands load what they need

    try:
        return Schema.read(path)
    except SourdineError as error:
        raise error.renamed(path="schema") from None


@contextmanager
def in_pairs() -> Iterator[None]:
    """Word errors of pairs as they are typed here, one by one."""
    try:
        yield
    except SourdineError as error:
        raise error.renamed(pairs="pair") from None


def sanitize(given: dict[str, Any]) -> None:
    """Randomise every record of a file, and say what it cost."""
    plan, out = read_schema(given["schema"]), given["out"]
    declared, drop = read_options(given), kinds.KEYS.parse(given["drop"] or ())
    engine = {name: given[name] for name in ("engine", "master")}
    try:
        spark = by_spark(given["file"], engine)
        with patience(given["file"], spark=True) if spark else nullcontext():
            data, read = records(given["file"], engine, declared)
            plan.sanitize(data, to=out, drop=drop, read=read, overwrite=given["overwrite"])
    except SourdineError as error:
        raise error.renamed(to="out", frame="file") from None
    console = Terminal(stderr=True)
    print_sheet(console, plan.sheet())
    console.print(f"Wrote {out}", highlight=False, markup=False)


def estimate(given: dict[str, Any]) -> None:
    """Estimate every column of a sanitised file."""
    from sourdine.local.table import estimate as estimated  # noqa: PLC0415 - commands load what they need

    typed = said(given)
    plan = read_schema(typed["schema"]) if "schema" in typed else None
    pairs = [tuple(kinds.KEYS.parse(pair)) for pair in typed.get("pair", ())]
    picture.check(typed.get("plot"))
    unmarked = typed.get("unmarked", False)
    with in_pairs():
        found = estimated(typed["file"], schema=plan, pairs=pairs, unmarked=unmarked)
    if typed.get("json"):
        print(found.to_json())  # noqa: T201 - the answer
    else:
        for sheet in found.sheets():
            print_sheet(Terminal(), sheet)
    if "plot" in typed:
        picture.draw(found, typed["plot"], title=Path(typed["file"]).name)


def density(given: dict[str, Any]) -> None:
    """Estimate a density from values that are each randomised on their own."""
    from sourdine.local import density as estimated  # noqa: PLC0415 - commands load what they need

    declared = read_options(given)
    typed = said(given)
    file, as_json, plot = typed.pop("file"), typed.pop("json", False), typed.pop("plot", None)
    picture.check(plot)
    for name in ("bounds", "epsilon"):
        if name not in typed:
            raise ParameterError(
                f"--{name}", "be given", "none", "Type --bounds 0 200000 --epsilon 1."
            )
    read = {"bounds": kinds.BOUNDS.parse, "epsilon": kinds.NUMBER.parse}
    asked = {name: read.get(name, str)(x) for name, x in typed.items()}
    found = estimated(file, **asked, read=declared)
    if as_json:
        print(found.to_json())  # noqa: T201 - the answer
    else:
        print_sheet(Terminal(), found.sheet())
    if plot is not None:
        column = f" of {typed['column']}" if "column" in typed else ""
        picture.draw(found, plot, title=f"Density{column}")
