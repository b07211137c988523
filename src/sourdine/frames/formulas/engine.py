"""Rows with a filter and derived columns, on any engine."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from sourdine.errors import ParameterError
from sourdine.frames.engine import Engine, cut, listed_columns, read_like
from sourdine.frames.formulas.arrays import Arrays
from sourdine.frames.formulas.lookup import looked_up
from sourdine.frames.formulas.parsing import parsed
from sourdine.frames.formulas.tree import Type
from sourdine.frames.formulas.types import ColumnTypes, condition, derived, type_of
from sourdine.frames.memory import DATES, NUMBERS, WORDS, Column, Declared, Memory, in_memory
from sourdine.frames.reading import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sourdine.frames.cells import Codes, Whole
    from sourdine.frames.engine import Named
    from sourdine.frames.formulas.lookup import Lookup
    from sourdine.frames.formulas.tree import Formula


DECLARED: dict[Type | None, Declared] = {
    Type.INTEGER: Declared(NUMBERS, "BIGINT"), Type.FLOAT: Declared(NUMBERS, "DOUBLE"),
    Type.BOOLEAN: Declared(NUMBERS, "BOOLEAN"), Type.TEXT: Declared(WORDS, "VARCHAR"),
    Type.DATE: Declared(DATES, "DATE"), Type.TIME: Declared(DATES, "TIMESTAMP"),
}  # fmt: skip
KINDS: dict[Type | None, str] = {
    Type.INTEGER: "integer", Type.FLOAT: "float", Type.BOOLEAN: "boolean", Type.TEXT: "text",
    Type.DATE: "date", Type.TIME: "timestamp",
}  # fmt: skip


# ---- What is computed of each row ----------------------------------------------------------------


@frozen
class Formulas:
    """The typed formulas of a query: the condition of rows that stay, and the derived columns."""

    where: Formula | None
    columns: Mapping[str, Formula]

    @property
    def nodes(self) -> list[Formula]:
        return [*self.columns.values(), *([] if self.where is None else [self.where])]

    def needed(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the data that some columns, and the filter, are computed of."""
        found = [] if self.where is None else list(self.where.columns)
        for name in names:
            found += self.columns[name].columns if name in self.columns else (name,)
        return list(dict.fromkeys(found))


def read_formulas(
    engine: Engine,
    where: str | None,
    named: Sequence[tuple[str, str]],
    tables: Sequence[Lookup] = (),
) -> Formulas:
    """Return the formulas of a question; the names of existing columns are none.

    Only the types of columns are read. ``named`` are texts that name columns, each after the
    parameter that holds it.
    """
    added, found = looked_up(engine, tables) if tables else {}, {}
    for parameter, text in named:
        if text in engine.columns or text in found:
            continue
        if text in added:
            found[text] = added[text]
        elif is_formula(text):
            found[text] = _read(engine, added, text, parameter, derived)
    kept = None if where is None else _read(engine, added, where, "where", condition)
    return Formulas(kept, found)


def is_formula(text: str) -> bool:
    """Return whether a text that is no column's name is to be read as a formula.

    Examples
    --------
    >>> [is_formula(text) for text in ("age", "household size", "age // 10", "lower(city)", "a-b")]
    [False, False, True, True, True]
    """
    try:
        tree = parsed(text)
    except ParameterError:
        return any(mark in text for mark in "()+*/=<>'|%")
    return tree.operation not in {"column", "constant", "string", "null"}


def columns_of(text: str) -> tuple[str, ...]:
    """Return the columns that a text names: those of a formula, or the text itself.

    Examples
    --------
    >>> columns_of("income / household_size"), columns_of("income")
    (('income', 'household_size'), ('income',))
    """
    try:
        return parsed(text).columns if is_formula(text) else (text,)
    except ParameterError:  # it can only be the name of a column
        return (text,)


def _read(
    engine: Engine,
    added: Mapping[str, Formula],
    text: str,
    parameter: str,
    typed: Callable[[Formula, ColumnTypes], Formula],
) -> Formula:
    try:
        tree = parsed(text)
        own = [name for name in tree.columns if name not in added]
        for name in own:
            if name not in engine.columns:
                raise _unknown(engine, name)
        types = {name: type_of(engine.declared(name), name) for name in own}
        return typed(tree, ColumnTypes(types, engine.reading, added))
    except ParameterError as error:
        raise error.renamed(formula=parameter) from None


def _unknown(engine: Engine, name: str) -> ParameterError:
    return ParameterError(
        "formula", "name existing columns", repr(name),
        f"{listed_columns(engine, name)} Write text values in single quotes: 'a'.",
    )  # fmt: skip


# ---- The engine ----------------------------------------------------------------------------------
#
# It reads the columns that are needed as values and their counts (`Engine.combinations`), and
# computes formulas of these: so every engine gives the same rows by construction. Where an engine
# computes formulas itself, `computed` asks it to. Nothing is read before that.


class Derived(Engine):
    """The rows of an engine that a filter keeps, with derived columns."""

    def __init__(self, base: Engine, formulas: Formulas) -> None:
        self.base, self.formulas, self.away = base, formulas, base.away
        self.columns = (*base.columns, *formulas.columns)
        read_like(self, base)

    def kind(self, name: str) -> str | None:
        own = self.formulas.columns.get(name)
        return self.base.kind(name) if own is None else KINDS[own.type]

    def declared(self, name: str) -> Declared | None:
        own = self.formulas.columns.get(name)
        return self.base.declared(name) if own is None else DECLARED[own.type]

    def afresh(self) -> Derived:
        engine = copy(self)
        engine.base = self.base.afresh()
        return engine

    def computed(self) -> Engine:
        """Return the rows from an engine that computes the formulas itself, where there is one.

        Where it computes the filter alone, NumPy computes the columns of the rows that stay.
        """
        where, columns = self.formulas.where, self.formulas.columns
        if self._cuts:
            return self
        if isinstance(self.base, Memory):
            arrays = _arrays(self.base, self.formulas)  # derived columns are computed when read
            engine = self.base.with_columns(
                {name: partial(arrays.column, node) for name, node in columns.items()},
                {name: DECLARED[node.type] for name, node in columns.items()},
            )
            engine = engine if where is None else engine.take(arrays.kept(where))
            return engine.only(*self.columns)
        found = self.base.derived(self.formulas)
        if found is not None:
            return found.only(*self.columns)
        kept = None if where is None else self.base.derived(Formulas(where, {}))
        return self if kept is None else Derived(kept, Formulas(None, columns)).only(*self.columns)

    def rows(self) -> int:
        return sum(int(counts.sum()) for _, counts in self.combinations(()))

    def _wanted(self, names: Iterable[str]) -> list[str]:
        return list(dict.fromkeys([*names, *(name for name, _, _ in self._cuts)]))

    def combinations(self, names: Sequence[str]) -> Iterator[tuple[list[Column], Whole]]:
        """Yield values of columns and how many of the rows that stay have them."""
        wanted = self._wanted(names)
        needed = self.formulas.needed(wanted)
        if not needed:
            yield [], np.array([self.base.rows()], np.int64)
            return
        for columns, own in self.base.combinations(needed):
            read = dict(zip(needed, columns, strict=True))
            values, stay = self._computed(read, wanted, len(columns[0]))
            counts = np.ones(len(columns[0]), np.int64) if own is None else own
            yield [values[name][stay] for name in names], counts[stay]

    def _computed(
        self, read: Mapping[str, Column], wanted: Sequence[str], rows: int
    ) -> tuple[dict[str, Column], Whole]:
        """Return columns, and the places of the rows that stay."""
        for name, column in read.items():  # decimals and the like are no texts
            stated = self.base.declared(name)
            texts = stated is None or stated.holds == WORDS
            column.reading = self.base.reading if texts else STANDARD
        arrays, formulas = Arrays(read, rows), self.formulas
        values = {
            name: arrays.column(formulas.columns[name]) if name in formulas.columns else read[name]
            for name in wanted
        }
        stay = np.arange(rows) if formulas.where is None else arrays.kept(formulas.where)
        for name, keys, code in self._cuts:
            stay = stay[keys.slots(values[name])[stay] == code]
        return values, stay

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        """Yield the slots of the rows that stay, in their order."""
        names = self._wanted(name for name, _ in cells)
        columns = dict(zip(names, self._in_order(names), strict=True))
        found = [cell.slots(columns[name]) for name, cell in cells]
        for start in range(0, len(found[0]), rows):
            yield [slots[start : start + rows] for slots in found]

    def column(self, name: str, *, strict: bool = False) -> Column:
        """Return the values of a column in the rows that stay, in their order."""
        return self._in_order([name], strict=strict)[0]

    def _in_order(self, names: Sequence[str], *, strict: bool = False) -> list[Column]:
        wanted = self._wanted(names)
        needed = self.formulas.needed(wanted)
        read = {name: self.base.column(name, strict=strict) for name in needed}
        values, stay = self._computed(read, wanted, len(next(iter(read.values()))))
        return [values[name][stay] for name in names]

    def _in_memory(self, names: Sequence[str]) -> Engine:
        return in_memory(self, names)

    def split(self, name: str, keys: Codes) -> list[Engine]:
        return cut(self, name, keys)


def _arrays(base: Memory, formulas: Formulas) -> Arrays:
    read = {name: base.column(name) for node in formulas.nodes for name in node.columns}
    return Arrays(read, base.rows())


def computed_in(base: Memory, formulas: Formulas) -> tuple[dict[str, Column], Whole | None]:
    """Return derived columns of all rows in memory, and the places of those that stay."""
    arrays = _arrays(base, formulas)
    kept = None if formulas.where is None else arrays.kept(formulas.where)
    return {name: arrays.column(node) for name, node in formulas.columns.items()}, kept


def with_formulas(
    engine: Engine,
    where: str | None,
    named: Sequence[tuple[str, str]],
    tables: Sequence[Lookup] = (),
    mark: str | None = None,
) -> Engine:
    """Return the rows that a filter keeps, with the derived columns that a question names.

    With ``mark`` all rows stay, and a column of this name is true for those that the filter keeps.
    See `Frame.derived`.
    """
    formulas = read_formulas(engine, where, named, tables)
    if mark is not None and formulas.where is not None:
        formulas = Formulas(None, {**formulas.columns, mark: formulas.where})
    if formulas.where is None and not formulas.columns:
        return engine
    if isinstance(engine, Derived):
        return _nested(engine, formulas)
    return Derived(engine, formulas)


def _nested(engine: Derived, formulas: Formulas) -> Derived:
    """Add formulas to those of an engine, whose derived columns they may not name."""
    own = engine.formulas
    both = [node for node in (own.where, formulas.where) if node is not None]
    twice = [name for node in formulas.nodes for name in node.columns if name in own.columns]
    if twice:
        raise ParameterError(
            "column", "be computed from columns of the data", repr(twice[0]), "Write it out."
        )
    where = both[0] if both else None
    if len(both) == 2:
        where = evolve(both[0], operation="and", arguments=tuple(both), value=None)
    found = Derived(engine.base, Formulas(where, {**own.columns, **formulas.columns}))
    found.columns = (*engine.columns, *formulas.columns)
    found._cuts = engine._cuts  # noqa: SLF001
    return found
