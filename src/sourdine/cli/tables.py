"""``sourdine inspect``, ``schema``, ``sanitize``, ``estimate``, ``report`` and ``collect``."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from sourdine.cli import output
from sourdine.cli.options import STDIN, by_spark, read_options, records, standard_input
from sourdine.cli.output import (
    Terminal,
    print_sheet,
    printing,
    progress_bar,
    require_new,
    say,
    show,
    using,
)
from sourdine.cli.statistics import typed as said
from sourdine.errors import (
    LEFT_OUT,
    MissingFileError,
    ParameterError,
    SourdineError,
)
from sourdine.frames.paths import CSV, PARQUET, shown_source
from sourdine.frames.reading import read_number
from sourdine.parameters import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sourdine.local.reports.aggregator import Aggregator
    from sourdine.local.table.schema import Schema


# ---- Tables in a terminal: ``sourdine inspect``, ``schema``, ``sanitize``, ``estimate`` ------


def inspect(given: dict[str, Any]) -> None:
    """Print what a file holds, for the person who holds the data."""
    from sourdine.curator import inspect as inspected

    declared, file = read_options(given), given["file"]
    data = standard_input(declared, anyway=True) if file == STDIN else file
    print_sheet(Terminal(), inspected(data, unit=given["unit"], read=declared).sheet())


def schema(given: dict[str, Any]) -> None:
    """Write a schema with gaps to fill in."""
    from sourdine.local.table.schema_files import skeleton

    file, out, read = given["file"], given["out"], read_options(given)
    text = skeleton(standard_input(read) if file == STDIN else file, read=read)
    if out is None:
        print(text, end="")
        return
    require_new(Path(out))
    with using(out):
        Path(out).write_text(text, encoding="utf-8")
    ending = next((one for one in (*CSV, *PARQUET) if file.lower().endswith(one)), ".csv")
    then = f"sourdine sanitize {quote(shown_source(file))} --schema {out} -o clean{ending}"
    say(f'Wrote {out}. Fill in every "?", then: {then}')


def read_schema(path: str) -> Schema:
    """Return the schema that was named."""
    from sourdine.local.table.schema import Schema

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
        with progress_bar(given["file"], spark=True) if spark else nullcontext():
            data, read = records(given["file"], engine, declared)
            own = {"drop": drop, "where": given["where"], "read": read}
            plan.sanitize(data, to=out, overwrite=given["overwrite"], **own)
    except SourdineError as error:
        raise error.renamed(to="out", frame="file") from None
    print_sheet(Terminal(stderr=True), plan.sheet())
    say(f"Wrote {out}")


def estimate(given: dict[str, Any]) -> None:
    """Estimate every column of a sanitised file."""
    from sourdine.local.table.schema import estimate as estimated

    typed = said(given)
    plan = read_schema(typed["schema"]) if "schema" in typed else None
    pairs = [tuple(kinds.KEYS.parse(pair)) for pair in typed.get("pair", ())]
    output.check(typed.get("plot"))
    unmarked = typed.get("unmarked", False)
    with in_pairs():
        found = estimated(typed["file"], schema=plan, pairs=pairs, unmarked=unmarked)
    show(found, as_json=typed.get("json", False))
    output.draw(found, typed.get("plot"), title=Path(typed["file"]).name)


def density(given: dict[str, Any]) -> None:
    """Estimate a density from values that are each randomised on their own."""
    from sourdine.local import density as estimated

    declared = read_options(given)
    typed = said(given)
    file, as_json, plot = typed.pop("file"), typed.pop("json", False), typed.pop("plot", None)
    output.check(plot)
    for name in ("bounds", "epsilon"):
        if name not in typed:
            raise ParameterError(f"--{name}", "be given", "", "Use --bounds 0 200000 --epsilon 1.")
    read = {"bounds": kinds.BOUNDS.parse, "epsilon": kinds.NUMBER.parse}
    asked = {name: read.get(name, str)(x) for name, x in typed.items()}
    found = estimated(file, **asked, read=declared)
    show(found, as_json=as_json)
    column = f" of {typed['column']}" if "column" in typed else ""
    output.draw(found, plot, title=f"Density{column}")


# ---- A survey of several rounds in the shell: the memory's file, and which round is meant --------


def of_round(schema: Schema, number: int | None) -> Schema:
    """Return the schema of one round, where there are several; else itself."""
    if schema.rounds is None and number is None:
        return schema
    if schema.rounds is None:
        raise _no_rounds("round")
    if number is None:
        raise ParameterError("round", f"be from 1 to {schema.rounds}", round=1)
    return schema.round(number)


def report_with_memory(
    schema: Schema, people: list[dict[str, Any]], path: str | None, number: int | None
) -> None:
    """Answer a round from the memory in a file, which is kept before anything is printed."""
    if schema.rounds is None:
        raise _no_rounds("round" if path is None else "memory")
    if path is None:
        raise ParameterError("memory", "name the respondent's file", memory="memory.json")
    if len(people) > 1:
        raise ParameterError(
            "memory", "belong to one respondent", f"{len(people)} people",
            "Answer for each respondent separately.",
        )  # fmt: skip
    device = schema.respondent(_kept(Path(path)))
    line = device.answer(people[0], round=number)
    _keep(Path(path), device.to_json())
    with printing():
        print(line)
    say(
        f"round {device.answered} of {schema.rounds}: {schema.costs().one}; all rounds: "
        f"{schema.guarantee}. {path} is a secret: keep it on this device, and do not lose it"
    )


def _kept(path: Path) -> str | None:
    """Return what a file holds; None if there is none yet."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else None
    except (OSError, ValueError):
        raise SourdineError(f"{path} could not be read.") from None


def _keep(path: Path, text: str) -> None:
    """Write a memory whole or not at all, for its owner's eyes alone."""
    near = path.with_name(f".{path.name}.new")
    with using(path):
        near.unlink(missing_ok=True)
        handle = os.open(near, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        near.replace(path)


def _no_rounds(name: str) -> ParameterError:
    return ParameterError(
        name, "be omitted, as the schema has one round", "",
        f"Omit {{{name}}}, or set rounds = 52 in the schema.", **{name: LEFT_OUT},
    )  # fmt: skip


# ---- ``sourdine report`` and ``collect``: one person's report, and what many of them say together


EXAMPLE = """'{"age": 31, "vote": "yes"}'"""


def report(given: dict[str, Any]) -> None:
    """Randomise one person's answers, or those of each line, and print a report for each."""
    from sourdine.local.reports.records import to_lines
    from sourdine.local.reports.sources import records

    typed = said(given)
    schema = read_schema(typed["schema"])
    people = [_pairs(typed["answer"])] if "answer" in typed else _piped()
    if not people:
        raise ParameterError("answer", "be given", "", f"Use {{answer}}, or pipe {EXAMPLE}.",
                             answer=f"{next(iter(schema.columns))}=...")  # fmt: skip
    alone = len(people) == 1
    rows = [
        _row(schema, person, "" if alone else f" of person {i}")
        for i, person in enumerate(people, 1)
    ]
    if schema.rounds is not None or "memory" in typed or "round" in typed:
        report_with_memory(schema, rows, typed.get("memory"), typed.get("round"))
        return
    # a table may lack answers that the schema needs; these people were asked for them above
    table = {name: [row[name] for row in rows] for name in schema.columns}
    with printing():
        for block in rows if schema.undeclared else [table]:
            for sent in records(schema, block):
                print("\n".join(to_lines(sent)))
    each = "" if alone else " each"
    say(f"{schema.guarantee}{each}; to report the same answers again costs it again")


class _Pairs(tuple[tuple[str, Any], ...]):
    """Names and answers in their order, before any of them is lost because another follows."""

    __slots__ = ()

    def answers(self) -> dict[str, Any]:
        """Return the answer to each question, or refuse two to the same one."""
        found = dict(self)
        for name in found:
            if sum(name == other for other, _ in self) > 1:
                raise ParameterError(
                    f"the question {name!r}", "be answered once", "two answers", "Omit one of them."
                )
        return found


def _pairs(words: Iterable[str]) -> dict[str, Any]:
    """Return what was typed as NAME=VALUE."""
    pairs = [word.partition("=") for word in words]
    if not all(mark for _, mark, _ in pairs):
        raise ParameterError(
            "answer", "be a name, '=' and a value", "a word without '='",
            answer="age=31")  # fmt: skip
    return _Pairs((name, value) for name, _, value in pairs).answers()


def _piped() -> list[dict[str, Any]]:
    """Return the answers of one person, or of one in each line; none if a person is typing."""
    if sys.stdin.isatty():
        return []
    try:
        text = sys.stdin.buffer.read().decode()
        try:
            people: list[Any] = [_object(text)] if text.strip() else []
        except (ValueError, RecursionError):
            people = [_object(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        people = [None]
    if not all(isinstance(person, _Pairs) for person in people):
        raise ParameterError(
            "standard input", "be a JSON object, or one per line", "", f"Pipe {EXAMPLE}."
        )
    return [person.answers() for person in people]


def _object(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Pairs, parse_int=read_number)


def _row(schema: Schema, answers: dict[str, Any], whose: str) -> dict[str, Any]:
    """Return a person's answer to every question; None where there is none.

    These are a person's own answers on their own device: what cannot be read, and what is absent
    although the schema needs it, is refused here, where they can correct it.
    """
    from sourdine.local.table.columns import demand_answers

    for name in answers:
        if name not in schema.columns:
            listed = f"The questions are: {', '.join(map(repr, schema.columns))}."
            raise ParameterError("answer", "name questions of the schema", repr(name), listed)
    row = {
        name: _cell(name, column, answers.get(name), whose)
        for name, column in schema.columns.items()
    }
    demand_answers(schema, row, whose)
    return row


def _cell(name: str, column: Any, answer: Any, whose: str) -> Any:
    """Return an answer as a cell of a table holds it: several choices as one text."""
    from sourdine.local.table.columns import is_readable, wanted

    if answer is None or answer == "":
        return None
    if type(answer) is list and column.kind == "choices":
        answer = column.separator.join(map(str, answer))
    if not isinstance(answer, (str, int, float, bool)) or not is_readable(column, answer):
        raise ParameterError(
            f"the answer to {name!r}{whose}", f"be {wanted(column)}", "",
            "Correct it, or omit it if there is none.",
        )  # fmt: skip
    return answer


def collect(given: dict[str, Any]) -> None:
    """Count reports, keep the aggregate if it has a name, and estimate from it."""
    typed = said(given)
    files, kept, as_json = typed.get("files", []), typed.get("aggregate"), typed.get("json", False)
    output.check(typed.get("plot"))
    schema = of_round(read_schema(typed["schema"]), typed.get("round"))
    pairs = [tuple(kinds.KEYS.parse(pair)) for pair in typed.get("pair", ())]
    with in_pairs():
        total = _begun(schema, kept, pairs)
    if not files and total.receipt.received == 0:
        hint = "Name a file of reports, or use - for standard input."
        raise ParameterError("files", "name files of reports", "", hint)
    for file in files:
        if file != STDIN and not Path(file).is_file():
            raise MissingFileError("files", "exist", file, "Check the path; - is standard input.")
    for file in files:
        total = _added(total, schema, file)
    if kept is not None and files:
        with using(kept):
            total.save(kept)
    where = f", kept in {kept}" if kept and files else ""
    say(f"{total.receipt}{where}")
    if total.receipt.accepted == 0:
        raise ParameterError(
            "files", "hold reports of this schema", f"none among {total.receipt.received} lines",
            "Use the output of sourdine report under the same schema.",
        )  # fmt: skip
    found = total.estimate()
    with printing():
        show(found, as_json=as_json)
    output.draw(found, typed.get("plot"), title=Path(kept or typed["schema"]).stem)


def _begun(schema: Schema, kept: str | None, pairs: list[Any]) -> Aggregator:
    from sourdine.local.reports.aggregator import Aggregator

    if kept is None or not Path(kept).exists():
        return Aggregator(schema, pairs=pairs)
    try:
        total = Aggregator.load(kept, schema)
    except SourdineError as error:
        raise error.renamed(path="aggregate") from None
    if pairs and set(total.pairs) != set(pairs):
        raise ParameterError(
            "pair", "be the pairs that the aggregate was created with", f"{len(pairs)} other pairs",
            "Omit {pair}, or create a new aggregate: pairs that were not counted together "
            "are lost.",
            pair=LEFT_OUT,
        )  # fmt: skip
    return total


def _added(total: Aggregator, schema: Schema, file: str) -> Aggregator:
    """Return the total with the reports of a file, or with another total."""
    from sourdine.local.reports import aggregator
    from sourdine.local.reports.aggregator import Aggregator
    from sourdine.local.reports.sources import lines_of

    if file == STDIN:
        total.add(lines_of(sys.stdin.buffer, total.form))
        return total
    with Path(file).open("rb") as opened:
        saved = opened.read(len(aggregator.HEAD)) == aggregator.HEAD
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
            "hold no report that was already counted",
            f"{whole.doubled} of them",
            "Counts cannot be separated: collect the reports themselves, which have ids.",
        )
    return whole
