"""``sourdine report`` and ``collect``: one person's report, and what many of them say together."""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sourdine.cli import memory
from sourdine.cli.output import picture, print_sheet
from sourdine.cli.statistics import typed as said
from sourdine.cli.streams import Terminal, printing
from sourdine.cli.tables import in_pairs, read_schema
from sourdine.errors import LEFT_OUT, ParameterError, SourdineError
from sourdine.question import kinds
from sourdine.tally.number_or_text import read_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sourdine.local.reports import Aggregator
    from sourdine.local.table import Schema

__all__ = ["collect", "report"]

STDIN = "-"
EXAMPLE = """'{"age": 31, "vote": "yes"}'"""


def report(given: dict[str, Any]) -> None:
    """Randomise one person's answers, or those of each line, and print a report for each."""
    from sourdine.local.reports import records, to_lines  # noqa: PLC0415 - commands load what they need

    typed = said(given)
    schema = read_schema(typed["schema"])
    people = [_pairs(typed["answer"])] if "answer" in typed else list(_objects(_piped()))
    if not people:
        raise ParameterError("answer", "be given", "none", f"Type {{answer}}, or pipe {EXAMPLE}.",
                             answer=f"{next(iter(schema.columns))}=...")  # fmt: skip
    alone = len(people) == 1
    rows = [
        _row(schema, person, "" if alone else f" of person {i}")
        for i, person in enumerate(people, 1)
    ]
    if schema.rounds is not None or "memory" in typed or "round" in typed:
        memory.report(schema, rows, typed.get("memory"), typed.get("round"))
        return
    # a table may lack answers that the schema needs; these people were asked for them above
    table = {name: [row[name] for row in rows] for name in schema.columns}
    with printing():
        for sent in chain.from_iterable(
            records(schema, one) for one in (rows if schema.undeclared else [table])
        ):
            print("\n".join(to_lines(sent)))  # noqa: T201 - the answer
    each = "" if alone else " each"
    note = f"{schema.guarantee}{each}; to report the same answers again costs it again"
    Terminal(stderr=True).print(note, highlight=False, markup=False, soft_wrap=True)


def _piped() -> str:
    """Return what standard input holds; nothing if a person is typing there."""
    if sys.stdin.isatty():
        return ""
    try:
        return sys.stdin.buffer.read().decode()
    except ValueError:
        raise _unreadable() from None


class _Pairs(tuple[tuple[str, Any], ...]):
    """Names and answers in their order, before any of them is lost because another follows."""

    __slots__ = ()

    def answers(self) -> dict[str, Any]:
        """Return the answer to each question, or refuse two to the same one."""
        found = dict(self)
        for name in found:
            if sum(name == other for other, _ in self) > 1:
                raise ParameterError(
                    f"the question {name!r}", "be answered once", "two answers", "Leave one out."
                )
        return found


def _pairs(words: Iterable[str]) -> dict[str, Any]:
    """Return what was typed as NAME=VALUE."""
    pairs = [word.partition("=") for word in words]
    if not all(mark for _, mark, _ in pairs):
        raise ParameterError(
            "answer", "be a name, '=' and a value", "a word without '='", "Type {answer}.",
            answer="age=31",
        )  # fmt: skip
    return _Pairs((name, value) for name, _, value in pairs).answers()


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the answers of one person, or of one in each line."""
    try:
        whole = [_object(text)] if text.strip() else []
    except (ValueError, RecursionError):
        whole = [_line(line) for line in text.splitlines() if line.strip()]
    for found in whole:
        if not isinstance(found, _Pairs):
            raise _unreadable()
        yield found.answers()


def _object(text: str) -> Any:  # noqa: ANN401
    return json.loads(text, object_pairs_hook=_Pairs, parse_int=read_number)


def _line(line: str) -> Any:  # noqa: ANN401
    try:
        return _object(line)
    except (ValueError, RecursionError):
        raise _unreadable() from None


def _unreadable() -> ParameterError:
    return ParameterError(
        "standard input", "be a JSON object, or one in each line", "other text", f"Pipe {EXAMPLE}."
    )


def _row(schema: Schema, answers: dict[str, Any], whose: str) -> dict[str, Any]:
    """Return a person's answer to every question; None where there is none.

    These are a person's own answers on their own device: what cannot be read, and what is absent
    although the schema needs it, is refused here, where they can correct it.
    """
    from sourdine.local.table.answers import demand_answers  # noqa: PLC0415

    for name in answers:
        if name not in schema.columns:
            listed = ", ".join(map(repr, schema.columns))
            raise ParameterError(
                "answer", "be to a question of the schema", repr(name), f"They are: {listed}."
            )
    row = {
        name: _cell(name, column, answers.get(name), whose)
        for name, column in schema.columns.items()
    }
    demand_answers(schema, row, whose)
    return row


def _cell(name: str, column: Any, answer: Any, whose: str) -> Any:  # noqa: ANN401
    """Return an answer as a cell of a table holds it: several choices as one text."""
    from sourdine.local.table.answers import is_readable, wanted  # noqa: PLC0415

    if answer is None or answer == "":
        return None
    if type(answer) is list and column.kind == "choices":
        answer = column.separator.join(map(str, answer))
    if not isinstance(answer, (str, int, float, bool)) or not is_readable(column, answer):
        raise ParameterError(
            f"the answer to {name!r}{whose}",
            f"be {wanted(column)}",
            "something else",
            "Correct it, or leave it out if there is none.",
        )
    return answer


def collect(given: dict[str, Any]) -> None:
    """Count reports, keep the aggregate if it has a name, and estimate from it."""
    typed = said(given)
    files, kept, as_json = typed.get("files", []), typed.get("aggregate"), typed.get("json", False)
    picture.check(typed.get("plot"))
    schema = memory.of_round(read_schema(typed["schema"]), typed.get("round"))
    pairs = [tuple(kinds.KEYS.parse(pair)) for pair in typed.get("pair", ())]
    with in_pairs():
        total = _begun(schema, kept, pairs)
    if not files and total.receipt.received == 0:
        raise ParameterError(
            "files", "name reports to count", "none", "Name a file of reports, or type - to read "
            "standard input.",
        )  # fmt: skip
    _check(files)
    for file in files:
        total = _added(total, schema, file)
    if kept is not None and files:
        _save(total, kept)
    _tell(total, kept if files else None)
    if total.receipt.accepted == 0:
        raise ParameterError(
            "files",
            "hold reports of this schema",
            f"none among {total.receipt.received} lines",
            "Collect what sourdine report printed under the same schema.",
        )
    found = total.estimate()
    with printing():
        if as_json:
            print(found.to_json())  # noqa: T201 - the answer
        else:
            for sheet in found.sheets():
                print_sheet(Terminal(), sheet)
    if "plot" in typed:
        picture.draw(found, typed["plot"], title=Path(kept or typed["schema"]).stem)


def _begun(schema: Schema, kept: str | None, pairs: list[Any]) -> Aggregator:
    from sourdine.local.reports import Aggregator  # noqa: PLC0415 - commands load what they need

    if kept is None or not Path(kept).exists():
        return Aggregator(schema, pairs=pairs)
    try:
        total = Aggregator.load(kept, schema)
    except SourdineError as error:
        raise error.renamed(path="aggregate") from None
    if pairs and list(total.pairs) != pairs:
        raise ParameterError(
            "pair",
            "be what the aggregate was begun with",
            f"{len(pairs)} others",
            "Leave {pair} out, or begin a new aggregate: what was not counted together is lost.",
            pair=LEFT_OUT,
        )
    return total


def _check(files: list[str]) -> None:
    for file in files:
        if file != STDIN and not Path(file).is_file():
            raise ParameterError(
                "files",
                "be files that exist",
                repr(file),
                "Check the name and the folder; - is standard input.",
            )


def _added(total: Aggregator, schema: Schema, file: str) -> Aggregator:
    """Return the total with the reports of a file, or with another total."""
    from sourdine.local.reports import Aggregator, lines_of, storing  # noqa: PLC0415

    if file == STDIN:
        total.add(lines_of(sys.stdin.buffer, total.form))
        return total
    with Path(file).open("rb") as opened:
        saved = opened.read(len(storing.HEAD)) == storing.HEAD
    if not saved:
        total.add(file)
        return total
    other = Aggregator.load(file, schema)
    if not (total.receipt.received or total.pairs):
        return other
    whole = total + other
    if whole.doubled:
        raise ParameterError(
            f"the aggregate {file!r}",
            "hold no report that was counted already",
            f"{whole.doubled} of them",
            "Counts cannot be taken apart: collect the reports themselves, which are known by "
            "their ids.",
        )
    return whole


def _save(total: Aggregator, path: str) -> None:
    try:
        total.save(path)
    except OSError as error:
        raise SourdineError(f"{path} could not be written: {error.strerror}.") from None


def _tell(total: Aggregator, kept: str | None) -> None:
    console = Terminal(stderr=True)
    place = f", kept in {kept}" if kept else ""
    console.print(f"{total.receipt}{place}", highlight=False, markup=False, soft_wrap=True)
