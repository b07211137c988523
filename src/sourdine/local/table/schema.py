"""`Schema`: a table whose every record is randomised on its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, one_of, positive
from sourdine.frames.frame import Frame
from sourdine.local.table.columns import Attribute, plain
from sourdine.local.table.part import ColumnPart
from sourdine.local.table.schema_files import carried, parsed, read_facts, toml_of, write_facts
from sourdine.mechanisms.mechanism import settle
from sourdine.noise import SYSTEM
from sourdine.privacy import LOCAL, Guarantee
from sourdine.privacy.guarantee import ALIKE, shown
from sourdine.results.tables import Displayable, Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from fractions import Fraction
    from os import PathLike

    from sourdine.exact import Number
    from sourdine.frames.reading import Reading
    from sourdine.local.reports.records import Records
    from sourdine.local.rounds.histories import RoundCosts
    from sourdine.local.rounds.respondent import Respondent
    from sourdine.local.table.blocks import Block
    from sourdine.local.table.columns import Use
    from sourdine.local.table.estimates import Estimates
    from sourdine.noise import Source


# ---- The parameters of a schema, read: columns, weights, rounds, absent answers ------------------


MOST_ROUNDS = 10_000
Missing = Literal["random"]
"""What becomes of an absent answer to a column that does not declare it."""


def read_columns(columns: object) -> dict[str, Attribute]:
    """Return the columns by name, at least one."""
    if not isinstance(columns, Mapping) or not columns:
        got = "" if columns == {} else kind(columns)
        hint = "Use Schema(age=Number(0, 120, step=1), epsilon=1)."
        raise ParameterError("columns", "be a dict of at least one column", got, hint)
    for name, column in columns.items():
        if not isinstance(name, str):
            hint = f"Use {str(name)!r}."
            raise ParameterTypeError("the name of a column", "be a string", given(name), hint)
        if not isinstance(column, Attribute):
            must, hint = "be a Number, Choice, Choices or Flag", f"Use {_declaration(column)}."
            raise ParameterTypeError(f"column {name!r}", must, kind(column), hint)
    return dict(columns)


def _declaration(typed: object) -> str:
    """Return the declaration that was probably meant: two numbers are bounds, texts categories."""
    if isinstance(typed, (list, tuple, set)) and typed:
        if all(isinstance(part, str) for part in typed) and len(typed) > 1:
            return f"Choice({', '.join(map(given, typed))})"
        if len(typed) == 2 and all(isinstance(part, (int, float)) for part in typed):
            return f"Number({', '.join(map(given, typed))}, step=1)"
    if typed is bool:
        return "Flag()"
    return "Choice('yes', 'no')" if typed is str else "Number(0, 120, step=1)"


def read_missing(missing: object) -> Missing | None:
    """Return what becomes of absent answers to columns that do not declare them."""
    if missing is None or missing == "random":
        return missing
    hint = (
        "To estimate how many did not answer, declare it in each column, such as Choice('yes', "
        "'no', missing='no answer'); a column named missing needs Schema.of."
    )
    raise ParameterError("missing", "be 'random' or omitted", given(missing), hint)


def read_weights(weights: object, columns: Mapping[str, Attribute]) -> dict[str, Fraction]:
    own = {} if weights is None else weights
    if not isinstance(own, Mapping):
        tries = {next(iter(columns)): 2}
        must, hint = "be a dict of columns", "Use {weights}."
        raise ParameterTypeError("weights", must, given(weights), hint, weights=tries)
    for name in own:
        if name not in columns:
            hint = f"The columns are: {', '.join(map(repr, columns))}."
            raise ParameterError("weights", "name columns of the schema", repr(name), hint)
    return {name: positive(own.get(name, 1), f"weights[{name!r}]") for name in columns}


# ---- `Schema`: a table whose every record is randomised before anybody sees it -------------------


Method = Literal["split", "sample"]
VERSION = 1
"""Of the format and of what the defaults mean: both stand in the fingerprint."""


class Schema(Displayable):
    r"""Columns, and the privacy that one record costs as a whole.

    Parameters
    ----------
    epsilon
        What a record costs, all its columns together.
    method
        ``"split"``: every column is reported with its share of epsilon. ``"sample"``: each person
        reports one column, drawn at random, with the whole epsilon; other cells are blank. For
        estimates of single columns that is several times more accurate; a table whose columns
        are looked at together needs ``"split"``.
    weights
        For some columns a number other than 1: epsilon is divided, or the column drawn, in
        proportion. Under ``"split"`` the column :math:`j` gets
        :math:`\varepsilon w_j / \sum_i w_i`.
    rounds
        For a survey that asks the same people again and again: how many times. Epsilon is then
        the total of all rounds, answers come from a memory (`respondent`), and columns are
        `Choice` or `Flag`; see ``docs/guides/rounds.md``.
    once
        What one round may cost, all its columns together; half of what an answer that stays costs
        in all, if left out.
    missing
        What becomes of absent answers to columns that do not declare ``missing`` themselves. If
        left out, everybody answers: the device of one person refuses an absent answer, and a
        table, whose cells may always be empty, is refused before it is read. ``"random"``: each is
        replaced by a random answer, which pulls all estimates towards equal shares.
    columns
        `Number`, `Choice`, `Choices` or `Flag` by name; `of` takes names that Python cannot.

    Notes
    -----
    *Claim*: a sanitised record is :math:`\varepsilon`-LDP: the shares of the columns are exact
    fractions that add up to epsilon (``test_shares_add_up_exactly``), each column is reported by
    a mechanism of its share, whose output depends on the cell alone
    (``test_replay_of_a_sanitised_table``), and under ``"sample"`` the column is drawn without a
    look at the record. Sanitising the same records again costs epsilon again.

    References
    ----------
    .. [1] J.-F. Couchot, slides on local privacy of tables, 2023 (row L6: a column after the other,
       bounded Laplace or staircase for numbers and GRR for categories; there bounds, categories and
       medians are read off the data, here they are declared).

    Examples
    --------
    >>> from sourdine.local.table.columns import Choice, Flag
    >>> vote = Choice("yes", "no", missing="no answer")
    >>> schema = Schema(smokes=Flag(missing=True), vote=vote, epsilon=2)
    >>> print(schema)
    column  kind    epsilon  method
    smokes  flag          1  RandomizedResponse(epsilon=1, categories=3)
    vote    choice        1  RandomizedResponse(epsilon=1, categories=3)
    cost  epsilon 2, any two inputs of one person, for all columns of a record
    note  to sanitise the same records again costs epsilon 2 again
    >>> clean = schema.sanitize({"smokes": [True, False, None], "vote": ["yes", "no", "?"]})
    >>> len(clean["smokes"]), set(clean["vote"]) <= {"yes", "no", "no answer"}
    (3, True)
    """

    __slots__ = (
        *("_parts", "columns", "epsilon", "fingerprint", "method", "weights"),
        *("missing", "once", "rounds", "turn"),
    )

    columns: Mapping[str, Attribute]
    epsilon: Fraction
    method: Method
    weights: Mapping[str, Fraction]
    rounds: int | None
    once: Fraction | None
    missing: Missing | None
    turn: int | None
    """Which round this is the schema of, from 1; None for all of them, or where there is one."""
    fingerprint: str
    """The SHA-256 of `canonical`: reports with another one were drawn by another schema."""
    _parts: dict[Use, Mapping[str, ColumnPart]]

    def __init__(
        self,
        *unnamed: object,
        epsilon: Number,
        method: Method = "split",
        weights: Mapping[str, Number] | None = None,
        rounds: int | None = None,
        once: Number | None = None,
        missing: Missing | None = None,
        **columns: Attribute,
    ) -> None:
        if unnamed:
            raise ParameterTypeError(
                "columns", "be keyword arguments", "a positional argument",
                "Use Schema(age=Number(0, 120, step=1), epsilon=1), or Schema.of(columns, "
                "epsilon=1) for a dict.",
            )  # fmt: skip
        self._settle(columns, epsilon, method, weights, rounds, once, missing)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Attribute],
        *,
        epsilon: Number,
        method: Method = "split",
        weights: Mapping[str, Number] | None = None,
        rounds: int | None = None,
        once: Number | None = None,
        missing: Missing | None = None,
    ) -> Schema:
        """Return a schema whose columns may have any names."""
        return cls._again(columns, epsilon, method, weights, rounds, once, missing)

    def _settle(
        self, columns: object, epsilon: object, method: object, weights: object,
        rounds: object, once: object, missing: object, turn: int | None = None,
    ) -> None:  # fmt: skip
        one_of(method, "method", "split", "sample")
        if rounds is None and once is not None:
            raise ParameterError(
                "once", "be omitted for a survey of one round", given(once),
                "Use {rounds}, or omit {once}.", rounds=52, once=LEFT_OUT,
            )  # fmt: skip
        known, most = read_columns(columns), MOST_ROUNDS
        settle(
            self, columns=MappingProxyType(known), epsilon=positive(epsilon, "epsilon"),
            method=method, weights=MappingProxyType(read_weights(weights, known)),
            rounds=None if rounds is None else integer(rounds, "rounds", least=2, most=most),
            once=None if once is None else positive(once, "once"), turn=turn,
            missing=read_missing(missing), _parts={},
        )  # fmt: skip
        if self.rounds is None:
            settled = {name: column.settled(self.share(name)) for name, column in known.items()}
            settle(self, columns=MappingProxyType(settled))
        settle(self, fingerprint=sha256(self.canonical().encode()).hexdigest())
        if self.rounds is not None:
            self.parts("report")

    def __setattr__(self, name: str, value: object) -> None:
        must, hint = "A schema cannot be changed.", "Create another schema."
        raise ParameterTypeError("a schema", must, f"a new {name}", hint)

    def __reduce__(self) -> tuple[Any, ...]:
        own = (dict(self.columns), self.epsilon, self.method, dict(self.weights))
        return Schema._again, (*own, self.rounds, self.once, self.missing, self.turn)

    @staticmethod
    def _again(*parts: Any) -> Schema:
        schema = Schema.__new__(Schema)
        schema._settle(*parts)  # noqa: SLF001 - its own
        return schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def guarantee(self) -> Guarantee:
        """What one sanitised record costs; of a survey of several rounds, what all of them do."""
        if self.rounds is None:
            return self.cost()
        return Guarantee(self.epsilon, 0, ALIKE) if self.turn is None else self.costs().one

    def round(self, number: int) -> Schema:
        """Return the schema of one round, from 1, for the `Aggregator` of its reports.

        Examples
        --------
        >>> from sourdine.local.table.columns import Flag
        >>> print(Schema(smokes=Flag(), epsilon=2, rounds=52).round(3).guarantee)
        epsilon 0.5, any two inputs of one person
        """
        turn = integer(number, "round", least=1)
        if self.rounds is None or turn > self.rounds:
            must = f"be from 1 to {self.rounds}" if self.rounds else "be of a survey of several"
            hint = "Use {round}, or create a schema with more rounds."
            raise ParameterError("round", must, given(turn), hint, round=1)
        return self.changed(turn=turn, missing=self.missing)

    def changed(self, *, turn: int | None, missing: Missing | None) -> Schema:
        """Return the schema of a round (None for all rounds), with this meaning of absence."""
        whole = (self.columns, self.epsilon, self.method, self.weights, self.rounds, self.once)
        return Schema._again(*whole, missing, turn)

    def costs(self, rounds: int | None = None) -> RoundCosts:
        """Return what rounds cost, all of them by default."""
        from sourdine.local.rounds.histories import costs

        return costs(self, rounds)

    def respondent(self, memory: str | None = None, *, source: Source = SYSTEM) -> Respondent:
        """Return what answers for one person; see `sourdine.local.rounds.respondent`."""
        from sourdine.local.rounds.respondent import Respondent

        return Respondent(self, memory, source=source)

    def cost(self, times: int = 1) -> Guarantee:
        """Return what a record costs that is sanitised ``times`` times, or asked in as many rounds.

        Examples
        --------
        >>> from sourdine.local.table.columns import Flag
        >>> print(Schema(smokes=Flag(), epsilon=0.5).cost(times=3))
        epsilon 1.5, any two inputs of one person
        """
        if self.rounds is not None:
            return self.costs(times).alike
        return Guarantee(integer(times, "times", least=1) * self.epsilon, 0, LOCAL)

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns for which nothing says what an absent answer becomes.

        Examples
        --------
        >>> from sourdine.local.table.columns import Flag
        >>> Schema(smokes=Flag(), drinks=Flag(missing=True), epsilon=1).undeclared
        ('smokes',)
        """
        if self.missing is not None:
            return ()
        return tuple(name for name, column in self.columns.items() if not column.missing)

    def share(self, name: str) -> Fraction:
        """Return what a report of one column costs; in several rounds, all reports of it."""
        if self.method == "sample":
            return self.epsilon
        return self.epsilon * self.weights[name] / sum(self.weights.values())

    def parts(self, use: Use = "table") -> Mapping[str, ColumnPart]:
        """Return each column with its share of epsilon and its mechanism, made once.

        Parameters
        ----------
        use
            ``"table"``: a report is a value of the column. ``"report"``: whatever estimates best.
        """
        one_of(use, "use", "table", "report")
        if use not in self._parts:
            if self.rounds is None:
                parts = {
                    name: ColumnPart(name=name, column=column, epsilon=self.share(name), use=use)
                    for name, column in self.columns.items()
                }
            else:
                from sourdine.local.rounds.memoised import memoised_part

                parts = {name: memoised_part(self, name) for name in self.columns}
            self._parts[use] = MappingProxyType(parts)
        return self._parts[use]

    def _once_only(self, what: str) -> None:
        """Refuse what draws without a memory."""
        if self.rounds is not None:
            must = f"A survey of several rounds needs a memory for {what}."
            hint = "Use schema.respondent().answer(...), or omit {rounds}."
            raise ParameterError("a survey of several rounds", must, "", hint, rounds=LEFT_OUT)

    def sanitize(
        self,
        frame: Any,
        *,
        to: str | PathLike[str] | None = None,
        drop: Iterable[str] = (),
        where: str | None = None,
        read: Reading | Mapping[str, Any] | None = None,
        overwrite: bool = False,
        source: Source = SYSTEM,
        progress: bool | None = None,
    ) -> Any:
        """Randomise every record; see `sourdine.local.table.sanitize`."""
        from sourdine.local.table.sanitize import sanitize

        self._once_only("sanitize")
        return sanitize(
            self, frame, to=to, drop=drop, where=where, read=read, overwrite=overwrite,
            source=source, progress=progress,
        )  # fmt: skip

    def randomised(
        self, frame: object, *, use: Use = "report", source: Source = SYSTEM
    ) -> Iterator[Block]:
        """Yield the reports of every record, block by block; see `sourdine.local.table.blocks`."""
        from sourdine.local.table.blocks import randomised

        self._once_only("reports")
        return randomised(self, frame, use=use, source=source)

    def reports(self, frame: object, *, source: Source = SYSTEM) -> Iterator[Records]:
        """Draw the reports of every record, to be sent; see `sourdine.local.reports.records`."""
        from sourdine.local.reports.sources import records

        return records(self, frame, source=source)

    def estimate(
        self, clean: object, *, pairs: Sequence[tuple[str, str]] = (), unmarked: bool = False
    ) -> Estimates:
        """Estimate from a sanitised table; see `sourdine.local.estimate`."""
        from sourdine.local.table.counting import counted

        return counted(self, clean, pairs=pairs, unmarked=unmarked)

    @staticmethod
    def from_facts(found: object) -> Schema:
        """Return the schema that `facts` wrote as JSON or TOML."""
        return Schema.of(**parsed(found))

    @staticmethod
    def read(path: str | PathLike[str]) -> Schema:
        """Read a schema from a TOML or JSON file; see `sourdine.local.table.schema_files`."""
        return Schema.from_facts(read_facts(path))

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a TOML or JSON file."""
        write_facts(path, self.facts())

    def to_toml(self) -> str:
        """Return the schema as TOML."""
        return toml_of(self.facts())

    def facts(self) -> dict[str, Any]:
        """Return the schema as JSON and TOML know it; `from_facts` reads it.

        Examples
        --------
        >>> from sourdine.local.table.columns import Flag
        >>> Schema(smokes=Flag(), epsilon=0.5).facts()
        {'epsilon': 0.5, 'method': 'split', 'columns': {'smokes': {'kind': 'flag'}}}
        """
        columns = {name: column.facts() for name, column in self.columns.items()}
        for name, weight in self.weights.items():
            if weight != 1:
                columns[name]["weight"] = plain(weight)
        return {**self._facts(plain), "columns": columns}

    def _facts(self, number: Callable[[Fraction], object]) -> dict[str, Any]:
        """Return what is not of a column, without what was left out."""
        once = None if self.once is None else number(self.once)
        whole = {"epsilon": number(self.epsilon), "method": self.method, "rounds": self.rounds}
        every = {**whole, "once": once, "missing": self.missing}
        return {name: value for name, value in every.items() if value is not None}

    def canonical(self) -> str:
        """Return the schema as JSON, the same for all ways to write it."""
        total = sum(self.weights.values())
        columns = {
            name: {**column.facts(), "weight": str(self.weights[name] / total)}
            for name, column in self.columns.items()
        }
        turn = {} if self.turn is None else {"round": self.turn}
        whole = {"sourdine": VERSION, **self._facts(str), **turn, "columns": columns}
        return json.dumps(whole, sort_keys=True)

    def __repr__(self) -> str:
        own = [f"{name}={column!r}" for name, column in self.columns.items()]
        own += [f"epsilon={shown(self.epsilon)}", f"method={self.method!r}"]
        uneven = {name: shown(w) for name, w in self.weights.items() if w != 1}
        several = {"weights": uneven, "rounds": self.rounds, "once": self.once and shown(self.once)}
        several["missing"] = self.missing and repr(self.missing)
        own += [f"{name}={value}" for name, value in several.items() if value]
        return f"Schema({', '.join(own)})"

    def sheet(self) -> Sheet:
        """Return what is printed: each column with what it costs and what randomises it."""
        if self.rounds is not None:
            return self.costs().sheet()
        rows, sending = [], self.parts("report")
        for name, part in self.parts().items():
            by, sent = str(part.mechanism), str(sending[name].mechanism)
            by = by if by == sent else f"{by}; sent by {sent}"
            rows.append((name, part.column.kind, shown(part.epsilon), by))
        notes = [("cost", f"{self.guarantee}, for all columns of a record")]
        if self.method == "sample":
            notes.append(("asked", "each person reports one column, drawn at random"))
        again = f"to sanitise the same records again costs epsilon {shown(self.epsilon)} again"
        heads = ("column", "kind", "epsilon", "method")
        return Sheet(heads=heads, lines=rows, notes=[*notes, ("note", again)])


def estimate(
    clean: object,
    *,
    schema: Schema | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    unmarked: bool = False,
) -> Estimates:
    """Estimate every column of a sanitised table.

    Parameters
    ----------
    clean
        What `sanitize` returned, or the path of the file it wrote; also another's, if it was
        written by the same schema. A Spark frame is counted where it is: only tallies come here.
    schema
        The schema of `sanitize`; needed if the table carries none.
    pairs
        Columns to be looked at together; only under ``method="split"``.
    unmarked
        Whether to take a file for sanitised that carries no schema, or has changed since.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sourdine.local import Choice, Schema
    >>> vote = Choice("yes", "no", missing=True)
    >>> schema = Schema(vote=vote, epsilon=2)
    >>> clean = schema.sanitize(pa.table({"vote": ["yes"] * 70 + ["no"] * 30}))
    >>> estimate(clean).reports("vote")
    100
    >>> estimate(clean, schema=Schema(vote=vote, epsilon=4))
    Traceback (most recent call last):
    sourdine.errors.ParameterError: schema must be the schema that the table was sanitised with, got one with epsilon 4 in place of 2. The table contains its schema: omit schema= in estimate.
    """  # noqa: E501
    schema = carried(clean, Schema.from_facts) if schema is None else schema
    if schema is None:
        Frame(clean)  # refuses what is no table
        must = "be given, as the table contains no schema"
        hint = "Estimate from the output of sanitize, or pass the schema that sanitised the table."
        raise ParameterError("schema", must, "", hint)
    return schema.estimate(clean, pairs=pairs, unmarked=unmarked)
