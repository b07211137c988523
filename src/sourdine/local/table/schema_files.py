"""Schemas in TOML and JSON files.

::

    epsilon = 2
    method = "split"

    [columns.age]
    kind = "number"
    lower = 0
    upper = 120
    step = 1
    missing = true

    [columns.vote]
    kind = "choice"
    categories = ["yes", "no"]
    missing = "no answer"
    weight = 2

    [columns.media]
    kind = "choices"
    choices = ["tv", "web", "radio"]

A number that no decimal gives exactly is a text, such as ``epsilon = "1/3"``. Without ``missing``,
everybody answers a column; ``missing = "random"`` beside epsilon says otherwise for all such
columns (`Schema`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from glob import escape, glob
from hashlib import file_digest
from os import PathLike, fspath
from pathlib import Path
from shutil import copymode
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any

from sourdine.errors import MissingFileError, ParameterError, SourdineError, did_you_mean
from sourdine.exact import flag, fraction, given
from sourdine.frames.frame import Frame
from sourdine.local.table.columns import Choice, Choices, Flag, Number
from sourdine.privacy.guarantee import shown
from sourdine.results.tables import STEERING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from sourdine.frames.reading import Reading
    from sourdine.local.table.columns import Attribute
    from sourdine.local.table.schema import Schema

    Make = Callable[[object], Schema]


KINDS: dict[str, Any] = {make.kind: make for make in (Number, Choice, Choices, Flag)}


def read_facts(path: str | PathLike[str]) -> object:
    """Return what the file of a schema holds; its name ends in .toml or .json."""
    file = Path(path)
    if not file.is_file():
        raise MissingFileError("path", "exist", str(path), "Check the path.")
    try:
        text = file.read_text(encoding="utf-8")
        return json.loads(text) if _ending(file) == ".json" else tomllib.loads(text)
    except ValueError as error:
        must, hint = f"be a valid {_ending(file)[1:].upper()} file", f"Correct it: {error}."
        raise ParameterError("a schema", must, repr(str(path)), hint) from None


def write_facts(path: str | PathLike[str], facts: dict[str, Any]) -> None:
    """Write the facts of a schema; the file's name ends in .toml or .json."""
    as_json = _ending(Path(path)) == ".json"
    written = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    Path(path).write_text(written if as_json else toml_of(facts), encoding="utf-8")


def toml_of(facts: dict[str, Any]) -> str:
    """Return the facts of a schema as TOML."""
    lines = [f"{key} = {toml_value(value)}" for key, value in facts.items() if key != "columns"]
    for name, column in facts["columns"].items():
        bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
        lines += ["", f"[columns.{name if bare else toml_value(name)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in column.items()]
    return "\n".join(lines) + "\n"


def parsed(found: object) -> dict[str, Any]:
    """Return the parameters of the schema that a file holds, or say what is wrong with it.

    Examples
    --------
    >>> parsed({"epsilom": 1, "columns": {"smokes": {"kind": "flag"}}})
    Traceback (most recent call last):
    sourdine.errors.ParameterError: a schema must hold known keys, got 'epsilom'. Did you mean 'epsilon'?
    """  # noqa: E501
    own = ("epsilon", "method", "rounds", "once", "missing")
    known = _table(found, "a schema", (*own, "columns"))
    for key in ("epsilon", "columns"):
        if key not in known:
            raise ParameterError("a schema", f"hold {key!r}", "", f"Add {key!r}.")
    columns, weights = {}, {}
    for name, declared in _table(known["columns"], "columns", None).items():
        column = _table(declared, f"column {name!r}", None)
        if "weight" in column:
            weights[name] = _number(column.pop("weight"))
        columns[name] = _column(name, column)
    whole = {key: _number(known[key]) if key in ("epsilon", "once") else known[key]
             for key in own if key in known}  # fmt: skip
    return {**whole, "columns": columns, "weights": weights}


def _column(name: str, found: dict[str, Any]) -> Attribute:
    what, kind = f"column {name!r}", found.pop("kind", None)
    if kind is None:
        _table(found, what, {"kind", *(key for make in KINDS.values() for key in make.keys)})
    if not isinstance(kind, str) or kind not in KINDS:
        must, hint = "be 'number', 'choice', 'choices' or 'flag'", 'Use kind = "number".'
        raise ParameterError(f"the kind of {what}", must, given(kind), hint)
    make = KINDS[kind]
    own, listed = _table(found, what, {*make.keys, "missing"}), []
    if make is Number:
        for key in ("lower", "upper"):
            if key not in own:
                hint = f"Use {key} = 0."
                raise ParameterError(what, "have public bounds", f"no {key!r}", hint)
        own |= {key: _number(own[key]) for key in ("lower", "upper", "step") if key in own}
    elif make is not Flag:
        # to tick nothing is an answer, so a column of several choices always allows for absence
        if make is Choices and own.pop("missing", True) is not True:
            raise ParameterError(f"missing of {what}", "be true or omitted", "", "Omit it.")
        key = make.keys[0]
        listed = own.pop(key, ())
        if not isinstance(listed, list):
            hint = f'Use {key} = ["yes", "no"].'
            raise ParameterError(f"the {key} of {what}", "be a list", given(listed), hint)
    column: Attribute = make(*listed, **own)
    return column


def _table(found: object, what: str, keys: Collection[str] | None) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise ParameterError(what, "be a table", given(found), "Use [columns.age].")
    for key in found:
        if keys is not None and key not in keys:
            hint = did_you_mean(str(key), keys)
            raise ParameterError(what, "hold known keys", repr(key), hint)
    return dict(found)


def _number(value: Any) -> Any:
    """Return a number; a text such as "1/3" is one."""
    try:
        return fraction(value) if isinstance(value, str) else value
    except (ValueError, ZeroDivisionError):
        return value


def toml_value(value: object) -> str:
    """Write a value as TOML; of texts, JSON's form is one of TOML's."""
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return STEERING.sub(lambda found: f"\\U{ord(found[0]):08x}", text)
    return json.dumps(value)


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in {".toml", ".json"}:
        raise ParameterError("path", "end in .toml or .json", repr(str(path)), "Rename the file.")
    return ending


# ---- A schema to be filled in: the names of the columns, and nothing that the rows would tell ----


HEAD = """\
# What may be answered, and what a record may cost. Fill in every "?" from public knowledge:
# bounds and categories read off the rows would give answers away.
#   kind = "number"  with lower, upper, step      kind = "choice"  with categories
#   kind = "flag"    true or false                kind = "choices" with choices, as in "tv;web"
#   missing = true   cells may be empty, unreadable or not listed: estimate how many are
#   weight = 2       twice the share of epsilon
# method = "sample" asks each person for one column only: several times more accurate. In a table
# it needs missing = "random" here, in place of missing = true of a number or flag.
epsilon = "?"
method = "split"
"""

ABSENT = "missing = true"
KNOWN = {
    "boolean": ('kind = "flag"', ABSENT),
    "integer": ('kind = "number"', 'lower = "?"', 'upper = "?"', "step = 1", ABSENT),
    "float": ('kind = "number"', 'lower = "?"', 'upper = "?"', 'step = "?"', ABSENT),
    "text": ('kind = "choice"', 'categories = ["?"]', ABSENT),
}
"""What is written for a column whose type the file itself states."""


def skeleton(data: object, *, read: Reading | Mapping[str, Any] | None = None) -> str:
    """Return a schema in TOML with a gap wherever a person has to decide.

    The types of a Parquet file stand in its head and are used. Those of a CSV file are what its
    values look like, so there every kind is left open.

    Examples
    --------
    >>> print(skeleton({"age": [31]}).split('"split"')[1].strip())
    [columns."age"]
    kind = "?"
    missing = true
    """
    frame, lines = Frame(data, read=read), [HEAD]
    for name in frame.columns:
        known = KNOWN.get(frame.kind(name) or "", ('kind = "?"', ABSENT))
        lines += [f"[columns.{toml_value(name)}]", *known, ""]
    return "\n".join(lines).rstrip() + "\n"


# ---- The schema that a sanitised table carries, so that no other one estimates from it -----------
#
# a Parquet file         in its metadata, under ``sourdine.schema``
# a CSV file             in a file beside it, ``clean.csv.schema.json``, with a digest of the table
# an Arrow table         in the metadata of its schema
# a frame of pandas      in ``attrs``, which pandas also writes to Parquet files
# a frame of Spark       in the metadata of its columns, which Spark writes to Parquet files
# Polars, dicts, DuckDB  nowhere: they have no place for it
#
# A file that carries none, such as the raw one, is refused; so is a table that carries another
# schema than the one it is estimated by. Columns, bounds and epsilon are public, so nothing is
# given away.


KEY = "sourdine.schema"
"""Under which metadata hold the schema."""
PANDAS = "PANDAS_ATTRS"
"""Under which pandas writes ``attrs`` to a Parquet file."""
SPARK = "org.apache.spark.sql.parquet.row.metadata"
"""Under which Spark writes columns and their metadata to a Parquet file."""
PARQUET = (".parquet", ".pq")
LONGEST = 1 << 26
"""A schema file of more bytes is none."""


def mark(schema: Schema) -> str:
    """Return a schema as metadata hold it."""
    return json.dumps(schema.facts(), ensure_ascii=False)


def beside(path: Path) -> Path:
    """Return the file that holds the schema of a CSV file."""
    return path.with_name(f"{path.name}.schema.json")


def write_beside(path: Path, schema: Schema) -> None:
    """Write the schema of a CSV file beside it, with digests of both.

    The file appears whole or not at all, under a name that nobody could have foreseen before.
    """
    facts = {
        "sourdine": 1,
        "table": {"name": path.name, "sha256": _digest(path)},
        "fingerprint": schema.fingerprint,
        "schema": schema.facts(),
    }
    target = beside(path)
    handle, name = mkstemp(prefix=f".{target.name}.", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a handle
            file.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
    copymode(path, target)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def carried(table: Any, make: Make) -> Schema | None:
    """Return the schema that a table carries; None if it has no place for one, or holds none.

    Files that belong together must carry the same. ``make`` is `Schema.from_facts`.
    """
    schemas = [_of_file(path, make) for path in _files(table)] or [_of_frame(table, make)]
    if any(other != schemas[0] for other in schemas[1:]):
        must, hint = "contain the same schema", "Estimate them separately."
        raise ParameterError("the files", must, "different ones", hint)
    return schemas[0]


def check(schema: Schema, table: Any, *, unmarked: bool) -> None:
    """Refuse a table that another schema sanitised, and a file that none did.

    ``unmarked`` says whether a file may carry no schema, or have changed since it was written.
    """
    if not flag(unmarked, "unmarked"):
        for path in _files(table):
            _demand_marked(path, schema.from_facts)
    found = carried(table, schema.from_facts)
    if found is not None and found != schema:
        must = "be the schema that the table was sanitised with"
        hint = "The table contains its schema: omit {schema} in estimate."
        raise ParameterError("schema", must, difference(found, schema), hint)


def difference(found: Schema, given: Schema) -> str:
    """Return in what a schema differs from the one that a table carries."""
    if found.epsilon != given.epsilon:
        return f"one with epsilon {shown(given.epsilon)} in place of {shown(found.epsilon)}"
    if found.method != given.method:
        return f"one with the method {given.method!r} in place of {found.method!r}"
    if found.columns.keys() != given.columns.keys():
        name = min(found.columns.keys() ^ given.columns.keys())
        return f"one {'without' if name in found.columns else 'with'} a column {name!r}"
    for name, column in found.columns.items():
        if column.facts() != given.columns[name].facts():
            return f"one that declares column {name!r} in another way"
    return "one with other weights"


def _files(table: object) -> list[Path]:
    """Return the files that a path or a pattern names; of a frame, none."""
    if not isinstance(table, (str, PathLike)):
        return []
    path = Path(fspath(table))
    return [path] if path.is_file() else sorted(map(Path, glob(str(path), recursive=True)))  # noqa: PTH207


def _demand_marked(path: Path, make: Make) -> None:
    """Refuse a file that carries no schema, or one of another content."""
    got = ""
    if path.name.lower().endswith(PARQUET):
        if _of_file(path, make) is None:
            got = "one without a schema in its metadata"
    elif not beside(path).is_file():
        got = f"one without {beside(path).name!r} beside it"
    elif _read_beside(path)["table"].get("sha256") != _digest(path):
        got = "one that has changed since"
    if got:
        raise ParameterError(
            f"the file {path.name!r}", "be a file that sanitize wrote", got,
            "Estimate from the output of sanitize: a raw file gives meaningless results. "
            "If it was sanitised and then changed or moved, use {unmarked}.", unmarked=True,
        )  # fmt: skip


def _of_file(path: Path, make: Make) -> Schema | None:
    if path.name.lower().endswith(PARQUET):
        return _of_metadata(dict(_kept(path)), make)
    if not beside(path).is_file():
        return None
    facts = _read_beside(path)
    found = _schema(facts.get("schema"), make)
    if facts.get("fingerprint") != found.fingerprint:
        raise _damaged()
    return found


def _read_beside(path: Path) -> dict[str, Any]:
    try:
        with beside(path).open("rb") as file:
            found = json.loads(file.read(LONGEST))
    except (ValueError, RecursionError, OSError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("table"), dict):
        raise _damaged()
    return found


def _kept(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the metadata of a Parquet file; of one that cannot be read, none."""
    import duckdb

    wanted = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?) WHERE key IN (?, ?, ?)"
    keys = [key.encode() for key in (KEY, PANDAS, SPARK)]
    try:
        with duckdb.connect(":memory:") as connection:
            yield from connection.execute(wanted, [escape(str(path)), *keys]).fetchall()
    except duckdb.Error:
        return


def _of_frame(frame: Any, make: Make) -> Schema | None:
    library = type(frame).__module__.split(".")[0]
    metadata: Mapping[Any, Any] = {}
    if library == "pandas":
        metadata = getattr(frame, "attrs", {})
    elif library == "pyspark" and hasattr(frame, "schema"):
        metadata = {SPARK: frame.schema.json()}
    elif library == "pyarrow":  # of other libraries' lazy frames, the schema would be computed
        marks = getattr(getattr(frame, "schema", None), "metadata", None) or {}
        metadata = {k.decode(): v.decode() for k, v in marks.items()}
    return _of_metadata(metadata, make)


def _of_metadata(metadata: Mapping[Any, Any], make: Make) -> Schema | None:
    text = metadata.get(KEY)
    try:
        if text is None and PANDAS in metadata:
            text = json.loads(metadata[PANDAS]).get(KEY)
        if text is None and SPARK in metadata:
            own = [column["metadata"] for column in json.loads(metadata[SPARK])["fields"]]
            text = next((marks[KEY] for marks in own if KEY in marks), None)
        return None if text is None else _schema(json.loads(text), make)
    except SourdineError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _damaged() from None


def _schema(facts: object, make: Make) -> Schema:
    try:
        return make(facts)
    except (SourdineError, TypeError):
        raise _damaged() from None


def _damaged() -> ParameterError:
    what, hint = "the schema that the table carries", "Restore it from a copy."
    return ParameterError(what, "be what sanitize wrote", "damaged data", hint)
