"""`Schema`: a table whose every record is randomised before anybody sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import given, integer, kind, one_of, positive
from sourdine.local.table.columns import Attribute
from sourdine.local.table.part import ColumnPart
from sourdine.noise import SYSTEM
from sourdine.privacy import LOCAL, Guarantee
from sourdine.privacy.printing import shown
from sourdine.release import Sheet, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction
    from os import PathLike

    from sourdine.exact.parameters import Number
    from sourdine.local.reports import Records
    from sourdine.local.table.columns import Use
    from sourdine.local.table.estimating.estimates import Estimates
    from sourdine.local.table.sanitizing.blocks import Block
    from sourdine.noise import Source
    from sourdine.tally import Reading

__all__ = ["Schema"]

Method = Literal["split", "sample"]
VERSION = 1
"""Of the format and of what the defaults mean: both stand in the fingerprint."""


class Schema(Shown):
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
    columns
        `Number`, `Choice`, `Choices` or `Flag` by name; `of` takes names that Python cannot.

    Notes
    -----
    *Claim*: a sanitised record is :math:`\varepsilon`-LDP: the shares of the columns are exact
    fractions that add up to epsilon (``test_shares_add_up_exactly``), each column is reported by
    a mechanism of its share, whose output depends on the cell alone
    (``test_replay_of_a_sanitised_table``), and under ``"sample"`` the column is drawn without a
    look at the record. Sanitising the same records again costs epsilon again.

    Examples
    --------
    >>> from sourdine.local.table import Choice, Number
    >>> schema = Schema(age=Number(0, 120, step=1), vote=Choice("yes", "no"), epsilon=2)
    >>> print(schema)
    column  kind    epsilon  method
    age     number        1  SlidingWindow(epsilon=1, last=120, slide=120, width=63)
    vote    choice        1  RandomizedResponse(epsilon=1, categories=2)
    cost  epsilon 2, any two inputs of one person, for all columns of a record
    note  to sanitise the same records again costs epsilon 2 again
    >>> clean = schema.sanitize({"age": [31, 45, None], "vote": ["yes", "no", "?"]})
    >>> len(clean["age"]), set(clean["vote"]) <= {"yes", "no"}
    (3, True)
    """

    __slots__ = ("_parts", "columns", "epsilon", "fingerprint", "method", "weights")

    columns: Mapping[str, Attribute]
    epsilon: Fraction
    method: Method
    weights: Mapping[str, Fraction]
    fingerprint: str
    """The SHA-256 of `canonical`: reports with another one were drawn by another schema."""
    _parts: dict[Use, Mapping[str, ColumnPart]]

    def __init__(
        self,
        *unnamed: object,
        epsilon: Number,
        method: Method = "split",
        weights: Mapping[str, Number] | None = None,
        **columns: Attribute,
    ) -> None:
        if unnamed:
            raise ParameterTypeError(
                "columns",
                "be typed by name",
                "a value without a name",
                "Type Schema(age=Number(0, 120, step=1), epsilon=1), or Schema.of(columns, "
                "epsilon=1) for a dict.",
            )
        self._settle(columns, epsilon, method, weights)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Attribute],
        *,
        epsilon: Number,
        method: Method = "split",
        weights: Mapping[str, Number] | None = None,
    ) -> Schema:
        """Return a schema whose columns may have any names."""
        schema = cls.__new__(cls)
        schema._settle(columns, epsilon, method, weights)  # noqa: SLF001 - its own
        return schema

    def _settle(self, columns: object, epsilon: object, method: object, weights: object) -> None:
        one_of(method, "method", "split", "sample")
        known = _read_columns(columns)
        own = {
            "columns": MappingProxyType(known),
            "epsilon": positive(epsilon, "epsilon"),
            "method": method,
            "weights": MappingProxyType(_read_weights(weights, known)),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)
        digest = sha256(self.canonical().encode()).hexdigest()
        for name, value in {"fingerprint": digest, "_parts": {}}.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise ParameterTypeError(
            "a schema", "stay as it is", f"a new {name}", "Make another schema."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema._again, (dict(self.columns), self.epsilon, self.method, dict(self.weights))

    @staticmethod
    def _again(columns: Any, epsilon: Any, method: Any, weights: Any) -> Schema:  # noqa: ANN401
        return Schema.of(columns, epsilon=epsilon, method=method, weights=weights)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def guarantee(self) -> Guarantee:
        """What one sanitised record costs."""
        return self.cost()

    def cost(self, times: int = 1) -> Guarantee:
        """Return what a record costs that is sanitised ``times`` times.

        Examples
        --------
        >>> from sourdine.local.table import Flag
        >>> print(Schema(smokes=Flag(), epsilon=0.5).cost(times=3))
        epsilon 1.5, any two inputs of one person
        """
        return Guarantee(integer(times, "times", least=1) * self.epsilon, 0, LOCAL)

    def share(self, name: str) -> Fraction:
        """Return what a report of one column costs."""
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
            parts = {
                name: ColumnPart(name=name, column=column, epsilon=self.share(name), use=use)
                for name, column in self.columns.items()
            }
            self._parts[use] = MappingProxyType(parts)
        return self._parts[use]

    def sanitize(  # noqa: PLR0913 - one call does it
        self,
        frame: Any,  # noqa: ANN401
        *,
        to: str | PathLike[str] | None = None,
        drop: Iterable[str] = (),
        read: Reading | Mapping[str, Any] | None = None,
        overwrite: bool = False,
        source: Source = SYSTEM,
        progress: bool | None = None,
    ) -> Any:  # noqa: ANN401
        """Randomise every record; see `sourdine.local.table.sanitizing.sanitize`."""
        from sourdine.local.table.sanitizing.sanitize import sanitize  # noqa: PLC0415

        return sanitize(
            self,
            frame,
            to=to,
            drop=drop,
            read=read,
            overwrite=overwrite,
            source=source,
            progress=progress,
        )

    def randomised(
        self, frame: object, *, use: Use = "report", source: Source = SYSTEM
    ) -> Iterator[Block]:
        """Yield the reports of every record, block by block; see `table.sanitizing.blocks`."""
        from sourdine.local.table.sanitizing.blocks import randomised  # noqa: PLC0415

        return randomised(self, frame, use=use, source=source)

    def reports(self, frame: object, *, source: Source = SYSTEM) -> Iterator[Records]:
        """Draw the reports of every record, to be sent; see `sourdine.local.reports.records`."""
        from sourdine.local.reports import records  # noqa: PLC0415

        return records(self, frame, source=source)

    def estimate(
        self, clean: object, *, pairs: Sequence[tuple[str, str]] = (), unmarked: bool = False
    ) -> Estimates:
        """Estimate from a sanitised table; see `table.estimating.counting`."""
        from sourdine.local.table.estimating.counting import estimate  # noqa: PLC0415

        return estimate(clean, schema=self, pairs=pairs, unmarked=unmarked)

    @staticmethod
    def read(path: str | PathLike[str]) -> Schema:
        """Read a schema from a TOML or JSON file; see `sourdine.local.table.schema_files`."""
        from sourdine.local.table.schema_files import read  # noqa: PLC0415

        return read(path)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a TOML or JSON file."""
        from sourdine.local.table.schema_files import write  # noqa: PLC0415

        write(self, path)

    def to_toml(self) -> str:
        """Return the schema as TOML."""
        from sourdine.local.table.schema_files import to_toml  # noqa: PLC0415

        return to_toml(self)

    def facts(self) -> dict[str, Any]:
        """Return the schema as JSON and TOML know it; `table.schema_files` reads it."""
        from sourdine.local.table.schema_files import facts  # noqa: PLC0415

        return facts(self)

    def canonical(self) -> str:
        """Return the schema as JSON, the same for all ways to write it."""
        total = sum(self.weights.values())
        columns = {
            name: {**column.facts(), "weight": str(self.weights[name] / total)}
            for name, column in self.columns.items()
        }
        whole = {"sourdine": VERSION, "epsilon": str(self.epsilon), "method": self.method}
        return json.dumps({**whole, "columns": columns}, sort_keys=True)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={column!r}" for name, column in self.columns.items())
        uneven = {name: shown(w) for name, w in self.weights.items() if w != 1}
        weights = f", weights={uneven}" if uneven else ""
        own = f"epsilon={shown(self.epsilon)}, method={self.method!r}{weights}"
        return f"Schema({columns}, {own})"

    def sheet(self) -> Sheet:
        """Return what is printed: each column with what it costs and what randomises it."""
        rows, sending = [], self.parts("report")
        for name, part in self.parts().items():
            by, sent = str(part.mechanism), str(sending[name].mechanism)
            by = by if by == sent else f"{by}; sent by {sent}"
            rows.append((name, part.column.kind, shown(part.epsilon), by))
        notes = [("cost", f"{self.guarantee}, for all columns of a record")]
        if self.method == "sample":
            notes.append(("asked", "each person reports one column, drawn at random"))
        again = f"to sanitise the same records again costs epsilon {shown(self.epsilon)} again"
        return Sheet(
            heads=("column", "kind", "epsilon", "method"),
            lines=rows,
            notes=[*notes, ("note", again)],
        )


def _read_columns(columns: object) -> dict[str, Attribute]:
    if not isinstance(columns, Mapping) or not columns:
        got = kind(columns) if columns else "none"
        hint = "Type Schema(age=Number(0, 120, step=1), epsilon=1)."
        raise ParameterError("columns", "be at least one, by name", got, hint)
    for name, column in columns.items():
        if not isinstance(name, str):
            raise ParameterTypeError(
                "the name of a column", "be a text", given(name), f"Type {str(name)!r}."
            )
        if not isinstance(column, Attribute):
            raise ParameterTypeError(
                f"column {name!r}",
                "be a Number, Choice, Choices or Flag",
                kind(column),
                "Type Number(0, 120, step=1).",
            )
    return dict(columns)


def _read_weights(weights: object, columns: Mapping[str, Attribute]) -> dict[str, Fraction]:
    if weights is not None and not isinstance(weights, Mapping):
        raise ParameterTypeError(
            "weights",
            "be a dict of columns",
            given(weights),
            "Type {weights}.",
            weights={next(iter(columns)): 2},
        )
    own = {} if weights is None else dict(weights)
    for name in own:
        if name not in columns:
            listed = ", ".join(map(repr, columns))
            raise ParameterError(
                "weights", "be of columns", repr(name), f"The columns are: {listed}."
            )
    return {name: positive(own.get(name, 1), f"weights[{name!r}]") for name in columns}
