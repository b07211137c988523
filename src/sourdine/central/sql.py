"""`Sql`: a SELECT statement, answered by statistics under one total.

The statement is never passed on to a database. It is parsed, and each clause becomes a public
parameter of a `Table`:

=======================  ===========================================================================
``SELECT``               the statistics and, of groups, the columns that name them
``FROM``                 the name of the data
``JOIN ... USING (c)``   a public look-up table (`Sql.tables`)
``WHERE``                ``where``, a condition on single rows; of a column of groups, a list of
                         values is also the list of its ``keys``
``GROUP BY``             ``by``
``HAVING``, ``ORDER      what is shown of the released numbers: post-processing, which costs nothing
BY``, ``LIMIT``          and changes no released number
=======================  ===========================================================================

Whatever has no such meaning is refused by name, with what to type instead.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from inspect import cleandoc
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from attrs import field, frozen

from sourdine.central.groups import charts_of_table
from sourdine.central.regression import Correlation, Covariance
from sourdine.central.table import RECORDS, Table
from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError, did_you_mean
from sourdine.exact import given
from sourdine.frames.formulas.lookup import matched
from sourdine.frames.formulas.parsing import AGGREGATES, CHANGING_NAMES, WINDOWS, dialect
from sourdine.frames.formulas.parsing import parsed as formula
from sourdine.frames.reading import read_text
from sourdine.parameters import converters, kinds
from sourdine.parameters.kinds import DATA, WHAT, param
from sourdine.parameters.question import documented, function, parameters
from sourdine.results.release import Release
from sourdine.results.tables import framed, interval_head, interval_text, with_ends

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central.statistic import Statistic
    from sourdine.results.charts import Chart
    from sourdine.results.release import Display
    from sourdine.results.tables import Columns

    Expression = Any  # sqlglot's, whose classes share few declared attributes
    Row = Mapping[str, Any]
    Part = tuple[str, str]
    """A column and the word of a table for a statistic of it."""


# ---- What a statement says -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A column of the result: a statistic, or a column of groups by its place in GROUP BY."""

    name: str
    part: Part | None = None
    place: int = 0


READ = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit")
CALLED = {
    "with_": "WITH", "laterals": "LATERAL", "windows": "WINDOW", "operation_modifiers": "ALL",
    "locks": "FOR UPDATE", "sample": "USING SAMPLE", "groupingsets": "GROUPING SETS",
}  # fmt: skip
"""Clauses whose SQL name differs from the parser's."""
EXAMPLE = "SELECT sex, AVG(age) FROM people WHERE sex IN ('f', 'm') GROUP BY sex"


def _refuse(what: str, hint: str = "") -> NoReturn:
    raise ParameterError("statement", f"not use {what}", "", hint)


@lru_cache(64)
def parsed(statement: str) -> Select:
    """Return what a statement says, or refuse what is not private or not supported."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    if len(statement) > LONGEST:
        must, got = f"have at most {LONGEST:,} characters", f"{len(statement):,}"
        hint = "Name fewer values in WHERE, or join a public table."
        raise ParameterError("statement", must, got, hint)
    first = statement.split(None, 1)[0].upper()
    if first.isalpha() and first not in BEGINNINGS:
        _not_a_select(first)
    where = ""
    try:
        return _read(sqlglot.parse(statement, dialect=dialect()))
    except ParameterError:
        raise
    except RecursionError:
        got = "one that is nested too deeply"
        hint = "Write fewer parentheses and operators inside one another."
        raise ParameterError("statement", "be valid SQL", got, hint) from None
    except SqlglotError as error:
        place = (getattr(error, "errors", None) or [{}])[0]
        line, column = place.get("line"), place.get("col")
        if line:
            *above, last = statement.split("\n")[:line]
            begun = CLAUSES.findall("\n".join([*above, last[:column]]))
            clause = f" in {' '.join(begun[-1].upper().split())}" if begun else ""
            where = f" The parser stopped{clause}, at line {line}, column {column}."
    except (LookupError, ValueError, AttributeError, TypeError):
        pass  # what the parser accepts and no engine would, such as MEDIAN() of nothing
    hint = f"Write it like {EXAMPLE!r}.{where}"
    got = repr(statement) if len(statement) <= SHOWN else given(statement)
    raise ParameterError("statement", "be valid SQL", got, hint)


SHOWN = 80
"""The most characters of a statement that an error repeats."""
CLAUSES = re.compile(r"(?i)\b(?:SELECT|FROM|JOIN|WHERE|GROUP\s+BY|HAVING|ORDER\s+BY|LIMIT)\b")
LONGEST = 50_000
BEGINNINGS = ("SELECT", "FROM", "WITH", "VALUES")


def _not_a_select(what: str) -> NoReturn:
    raise ParameterError("statement", "be a SELECT", what, f"Write it like {EXAMPLE!r}.")


def _read(trees: Sequence[Expression | None]) -> Select:
    from sqlglot import exp

    said = [tree for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon)]
    if not said:
        _not_a_select("no statement")
    if len(said) > 1:
        hint = "Ask them one after the other."
        raise ParameterError("statement", "be one statement", f"{len(said)}", hint)
    tree = said[0]
    if not isinstance(tree, exp.Select):
        one = isinstance(tree, (exp.SetOperation, exp.Values))
        _not_a_select(tree.key.upper() if one else "an expression")
    for name, clause in tree.args.items():
        if clause and name not in READ:
            _refuse(CALLED.get(name, name.strip("_").upper()), INSTEAD.get(name, ""))
    return Select(tree)


INSTEAD = {
    "distinct": "Use GROUP BY, with the values in keys.",
    "offset": "Use LIMIT, or take the rows you need from the result.",
    "with_": "Write the condition in WHERE, and derived columns where they are used.",
    "qualify": "Use HAVING.",
    "windows": "Use GROUP BY.",
    "sample": "Ask of all rows: what a statement costs does not fall with their number.",
    "locks": "Omit it: nothing is written.",
    "into": "Omit it: keep the result, or write it with to_frame().",
}


class Select:
    """A SELECT, whose clauses are read."""

    def __init__(self, tree: Expression) -> None:
        self.tree = tree
        self.named: set[str] = set()
        self.people: dict[str, None] = {}  # the columns whose distinct values are counted
        self.joins: dict[str, str] = {}  # the public tables and the column that joins each
        self.inner: list[str] = []  # those of which only rows with a match stay
        self.data = self._tables()
        self._check_nodes()
        aliased = [node for node in tree.expressions if node.key == "alias"]
        self.aliases = {node.alias.lower(): node.this for node in aliased}
        self.by = list(dict.fromkeys(self.text(node, "GROUP BY") for node in self._group()))
        self.outputs = outputs = [self._output(node) for node in tree.expressions]
        if not any(output.part for output in outputs):
            hint = "Rows cannot be published: select COUNT(*), AVG(column) or MEDIAN(column)."
            raise ParameterError("statement", "contain at least one statistic", "", hint)
        if len({output.name for output in outputs}) < len(outputs):
            must = "give each column of the result its own name"
            raise ParameterError("statement", must, "", "Rename one with AS.")
        where, having, limit = (tree.args.get(name) for name in ("where", "having", "limit"))
        if limit is not None and ({name for name, x in limit.args.items() if x} != {"expression"}):
            _refuse(limit.sql().strip(), "Use LIMIT with a whole number.")
        ordered = tree.args.get("order")
        self.where = None if where is None else self.text(where.this, "WHERE")
        self.listed = None if where is None else self._listed(where.this)
        self.having: Callable[[Row], bool] = lambda _: True
        if having is not None:
            self.having = self._condition(having.this)
        self.order = [  # what sorts the result, and whether it is descending; the last sorts first
            (self._order(node.this), bool(node.args.get("desc")))
            for node in reversed(ordered.expressions if ordered else [])
        ]
        self.limit = None if limit is None else _whole(limit.expression, "LIMIT")

    def _tables(self) -> str:
        clause = self.tree.args.get("from_")
        if clause is None:
            hint = f"Write it like {EXAMPLE!r}."
            raise ParameterError("statement", "name the data after FROM", "", hint)
        data = self._table(clause.this)
        for join in self.tree.args.get("joins") or []:
            names = [node.name for node in join.args.get("using") or []]
            usual = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}
            if len(names) != 1 or (join.side, join.kind) not in usual or join.args.get("method"):
                only = "Only JOIN table USING (column) with a public table is available"
                why = "rows of two private tables would depend on each other"
                _refuse(f"this join: {join.sql()}", f"{only}: {why}.")
            table = self._table(join.this)
            self.joins[table] = names[0]
            if not join.side:
                self.inner.append(table)
        return data

    def _table(self, node: Expression) -> str:
        from sqlglot import exp

        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            _refuse("a subquery or a function in FROM", "Name one table.")
        unusual = "joins sample pivots version when partition ordinality only"
        if any(node.args.get(name) for name in unusual.split()):
            _refuse(f"{node.sql()} in FROM", "Name one table.")
        alias = node.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            _refuse(f"{node.sql()} in FROM", "Columns keep their names.")
        self.named |= {node.name.lower(), node.alias_or_name.lower()}
        return str(node.name)

    def _check_nodes(self) -> None:
        """Refuse subqueries and windows anywhere, and drop the tables' names before columns."""
        from sqlglot import exp

        for node in list(self.tree.walk()):
            if node is not self.tree and isinstance(node, (exp.Query, exp.Subquery, exp.Exists)):
                _refuse("a subquery", "A row may only depend on itself and on public tables.")
            if isinstance(node, exp.Window):
                _refuse("a window function (OVER)", "Use GROUP BY.")
            if isinstance(node, exp.Filter):
                _refuse("FILTER", "Use WHERE, or ask for it in a statement of its own.")
            if isinstance(node, (exp.Placeholder, exp.Parameter)):
                _refuse("a placeholder", "Write the value: the statement is public.")
            if not isinstance(node, exp.Column):
                continue
            if node.table:
                if node.table.lower() not in self.named:
                    must, hint = "name columns of its tables", "Omit the name before the dot."
                    raise ParameterError("statement", must, node.sql(), hint)
                node.set("table", None)
            elif node.name.lower() in CHANGING_NAMES and not node.this.args.get("quoted"):
                quoted = "A column of that name is written in double quotes."
                hint = f"Write the value, such as date '2024-12-31'. {quoted}"
                _refuse(f"{node.name}, which is not the same each time", hint)

    def _group(self) -> list[Expression]:
        clause = self.tree.args.get("group")
        if clause is None:
            return []
        for name, value in clause.args.items():
            if value and name != "expressions":
                _refuse(f"GROUP BY {name.upper()}", "List the columns.")
        for node in clause.expressions:
            if node.key in ("rollup", "cube", "groupingsets"):
                hint = "Ask for each grouping in a statement of its own."
                _refuse(CALLED.get(node.key, node.key.upper()), hint)
        return [self.meant(node, "GROUP BY") for node in clause.expressions]

    def meant(self, node: Expression, clause: str) -> Expression:
        """Return what a number or an alias stands for."""
        if node.key == "literal" and not node.is_string:
            place = _whole(node, clause)
            if not 1 <= place <= len(self.tree.expressions):
                must = f"use column numbers from 1 to {len(self.tree.expressions)} in {clause}"
                raise ParameterError("statement", must, str(place), "Use the name of a column.")
            node = self.tree.expressions[place - 1]
        if node.key == "alias":
            return node.this
        if node.key != "column" or node.name.lower() not in self.aliases:
            return node
        inner = self.aliases[node.name.lower()]
        if any(one.name == node.name for one in inner.find_all(type(node))) and inner != node:
            _refuse(f"the alias {node.name!r}, which is a column too", "Choose another.")
        return inner

    def text(self, node: Expression, clause: str = "SELECT") -> str:
        """Return a row expression as text; a column by its bare name."""
        from sqlglot import exp

        if isinstance(node, exp.Column):
            return node.name
        if isinstance(node, exp.Star):
            _refuse("* where a column stands", "Name the column; COUNT(*) counts records.")
        for found in node.find_all(exp.Anonymous):
            if self.statistic(found):
                what = "a condition" if clause == "WHERE" else "an expression"
                hint = "Select statistics one by one, and compute from the released numbers."
                _refuse(f"{found.sql()} in {what} of single rows ({clause})", hint)
        text = str(node.sql(dialect=dialect(), comments=False, normalize_functions=False))
        try:
            formula(text)
        except ParameterError as error:
            must = f"a formula in {clause} must {error.must}"
            raise ParameterError("statement", must, error.got, error.hint, **error.tries) from None
        return text

    def _output(self, node: Expression) -> Output:
        name, inner = node.alias or "", node.this if node.key == "alias" else node
        if inner.key == "star" or (inner.key == "column" and inner.name == "*"):
            _refuse("SELECT *", "Rows cannot be published: select statistics.")
        part = self.statistic(inner)
        if part is not None:
            return Output(name=name or _called(part), part=part)
        if inner.key in ("literal", "null", "boolean"):
            _refuse(f"{inner.sql()} in SELECT", "Omit it: a constant is no statistic.")
        text = self.text(inner)
        if text not in self.by:
            must = "contain only statistics and the columns of GROUP BY"
            hint = f"Add {text!r} to GROUP BY, or select AVG({text})."
            raise ParameterError("statement", must, text, hint)
        return Output(name=name or text, place=self.by.index(text))

    def statistic(self, node: Expression) -> Part | None:  # noqa: C901, PLR0911, PLR0912 - a case each
        """Return the column and the word for an aggregate; None if it is none."""
        from sqlglot import exp

        if isinstance(node, exp.WithinGroup):
            (ordered,) = node.expression.expressions
            if node.this.name.lower() not in QUANTILES:
                _refuse(_said(node), "Use PERCENTILE_CONT.")
            if ordered.args.get("desc"):
                _refuse("DESC in WITHIN GROUP", "Use the complement of the order.")
            return self._quantile(node.this.expressions[0], ordered.this, node)
        if not isinstance(node, exp.Anonymous):
            return None
        name, given_ = node.name.lower(), node.expressions
        if name in QUANTILES:
            if len(given_) != 2:
                is_order = given_ and given_[0].key == "literal" and not given_[0].is_string
                order = given_[0].name if is_order else "0.5"
                hint = f"Write PERCENTILE_CONT({order}) WITHIN GROUP (ORDER BY column)."
                _refuse(_said(node), hint)
            return self._quantile(given_[-1], given_[0], node)
        if name in PAIRS and len(given_) == 2:
            one, other = map(self.text, given_)
            return one, f"{PAIRS[name].kind} with {other}"
        scalar = name in ("min", "max") and len(given_) > 1
        if name not in {*AGGREGATES, *WINDOWS, *HINTS} or scalar:
            return None
        if name == "count":
            return self._count(node)
        if name in WORDS and len(given_) != 1:
            _refuse(_said(node), f"Write {name.upper()}(column).")
        if name in PAIRS:
            _refuse(_said(node), f"Write {name.upper()}(one, other).")
        if name not in WORDS:
            names = {"COUNT", "PERCENTILE_CONT", *map(str.upper, (*WORDS, *PAIRS))}
            _refuse(node.sql(), HINTS.get(name, f"Use one of {', '.join(sorted(names))}."))
        if isinstance(given_[0], exp.Distinct):
            _refuse(f"DISTINCT in {node.sql()}", "Omit DISTINCT.")
        return self.text(given_[0]), WORDS[name]

    def _count(self, node: Expression) -> Part:
        from sqlglot import exp

        if len(node.expressions) > 1:
            _refuse(node.sql(), "Count one column.")
        inner = node.expressions[0] if node.expressions else exp.Star()
        if isinstance(inner, (exp.Star, exp.Literal)):
            return RECORDS, "count"
        if isinstance(inner, exp.Distinct):
            (counted, *more) = inner.expressions
            if more:
                _refuse(node.sql(), "Count the distinct values of one column.")
            self.people[self.text(counted)] = None
            return RECORDS, PEOPLE
        return self.text(inner), "count"

    def _quantile(self, order: Expression, column: Expression, node: Expression) -> Part:
        plain = order.key == "literal" and not order.is_string
        if not (plain and 0 < Decimal(order.name) < 1):
            _refuse(_said(node), "Use one order above 0 and below 1, such as PERCENTILE_CONT(0.9).")
        percent = (Decimal(order.name) * 100).normalize()
        return self.text(column), f"p{percent:f}"

    def _listed(self, condition: Expression) -> dict[str, tuple[Any, ...]] | None:
        """Return the values that a condition leaves to each column of groups, if to all."""
        from sqlglot import exp

        found: dict[str, tuple[Any, ...]] = {}
        parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
        for node in (part.unnest() for part in parts):
            values: list[Any] = []
            if isinstance(node, exp.In):
                values = node.expressions
            elif isinstance(node, exp.EQ):
                values = [node.expression]
            if values and all(isinstance(v, (exp.Literal, exp.Boolean)) for v in values):
                read = {read_text(_constant(v)): _constant(v) for v in values}
                found[self.text(node.this)] = tuple(read.values())  # each once
        named = {name: found[name] for name in self.by if name in found}
        return named if self.by and len(named) == len(self.by) else None

    # ---------------------------------------------------------------- what is shown of the result

    def _condition(self, node: Expression) -> Callable[[Row], bool]:
        """Return the condition of HAVING as a function of a row of the result."""
        if node.key == "paren":
            return self._condition(node.this)
        if node.key == "not":
            inner = self._condition(node.this)
            return lambda row: not inner(row)
        if node.key in ("and", "or"):
            sides = self._condition(node.left), self._condition(node.right)
            decide = all if node.key == "and" else any
            return lambda row: decide(side(row) for side in sides)
        if node.key == "between":
            x, low, high = (self._value(node.args[name]) for name in ("this", "low", "high"))
            return lambda row: (
                _compared("lte", low(row), x(row)) and _compared("lte", x(row), high(row))
            )
        if node.key not in COMPARED:
            _refuse(f"{node.sql()} in HAVING", "Use comparisons, AND, OR, NOT and BETWEEN.")
        one, other = self._value(node.left), self._value(node.right)
        return lambda row: _compared(node.key, one(row), other(row))

    def _value(self, node: Expression, clause: str = "HAVING") -> Callable[[Row], Any]:
        """Return what is compared or sorted by, as a function of a row of the result."""
        while node.key == "paren":
            node = node.this
        negative = node.key == "neg"
        literal = node.this if negative else node
        if literal.key in ("literal", "boolean"):
            constant = -_constant(literal) if negative else _constant(literal)
            return lambda _: constant
        name = self._shown_as(node)
        if name is None:
            must = f"use in {clause} only what it selects"
            hint = f"Add {node.sql()} to SELECT: {clause} acts on released numbers."
            raise ParameterError("statement", must, node.sql(), hint)
        return lambda row: row[name]

    def _order(self, node: Expression) -> Callable[[Row], tuple[bool, Any]]:
        """Return a key that sorts numbers before texts, each in their order."""
        if node.key == "literal" and not node.is_string:
            node = self.meant(node, "ORDER BY")
        value = self._value(node, "ORDER BY")

        def key(row: Row) -> tuple[bool, Any]:
            found = value(row)
            text = isinstance(found, (str, dt.date))
            return text, str(found) if text else found

        return key

    def _shown_as(self, node: Expression) -> str | None:
        """Return the name of the output that a node stands for."""
        if node.key == "column":
            for output in self.outputs:
                if output.name.lower() == node.name.lower():
                    return output.name
        part = self.statistic(node)
        for output in self.outputs:
            if output.part == part and (part or self.by[output.place] == self.text(node)):
                return output.name
        return None


def _second(word: str) -> str:
    """Return the other column of a statistic of two; empty for others."""
    return word.partition(" with ")[2]


PEOPLE = "people"
"""Stands for COUNT(DISTINCT unit)."""
WORDS = {
    "sum": "sum", "avg": "mean", "mean": "mean", "median": "median",
    **dict.fromkeys(("variance", "var_pop", "var_samp"), "variance"),
    **dict.fromkeys(("stddev", "stddev_pop", "stddev_samp", "std"), "std"),
}  # fmt: skip
PAIRS: dict[str, type[Covariance | Correlation]] = {
    "corr": Correlation, **dict.fromkeys(("covar_pop", "covar_samp"), Covariance),
}  # fmt: skip
QUANTILES = ("percentile_cont", "percentile_disc", "quantile", "quantile_cont", "quantile_disc")
HINTS = {
    "min": "The least value is one person's: use "
    "PERCENTILE_CONT(0.01) WITHIN GROUP (ORDER BY column).",
    "max": "The largest value is one person's: use "
    "PERCENTILE_CONT(0.99) WITHIN GROUP (ORDER BY column).",
    "approx_count_distinct": "Group by the column and count the groups.",
    "approx_quantile": "Use PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY column).",
    "count_if": "Use COUNT(*) with the condition in WHERE.",
    "countif": "Use COUNT(*) with the condition in WHERE.",
    "regr_slope": "Ask sourdine.regression for slopes and intercepts.",
    "regr_intercept": "Ask sourdine.regression for slopes and intercepts.",
    "entropy": "Group by the column and compute it from the counts.",
}


def _said(node: Expression) -> str:
    """Return a function as it was written; the parser adds where missing values stand."""
    return str(node.sql().replace(" NULLS LAST", ""))


def _called(part: Part) -> str:
    """Return the name of a column of the result that has no alias, such as AVG(age)."""
    column, word = part
    if word == PEOPLE:
        return "COUNT(DISTINCT)"
    word, _, other = word.partition(" with ")
    column = f"{column}, {other}" if other else column
    return f"{NAMES.get(word, word)}({column})"


NAMES = {
    "count": "COUNT", "sum": "SUM", "mean": "AVG", "median": "MEDIAN", "variance": "VARIANCE",
    "std": "STDDEV", "correlation": "CORR", "covariance": "COVAR_POP",
}  # fmt: skip


def _whole(node: Expression, clause: str) -> int:
    if node.key != "literal" or node.is_string or not node.name.isdigit():
        _refuse(f"{node.sql()} in {clause}", f"Write a whole number, such as {clause} 1.")
    return int(node.name)


def _constant(node: Expression) -> Any:
    if node.key == "boolean":
        return bool(node.this)
    if node.is_string:
        return str(node.this)
    return int(node.name) if node.name.isdigit() else float(node.name)


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le,
    "eq": operator.eq, "neq": operator.ne,
}  # fmt: skip


def _compared(how: str, one: Any, other: Any) -> bool:
    """Compare released numbers, dates and keys; values of different kinds are unequal."""
    if isinstance(one, dt.date) or isinstance(other, dt.date):
        one, other = str(one), str(other)  # of one form: 2026-01-31, 2026-01-31 12:00:00
    if isinstance(one, str) is not isinstance(other, str):
        return how == "neq"
    return bool(COMPARED[how](one, other))


# ---- The statistic -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCell:
    """A cell of the result: a value, the texts of it and of its ends, and the ends."""

    value: Any
    texts: tuple[str, ...]
    ends: tuple[Any, ...] = ()


def read_statement(x: object) -> str:
    if not isinstance(x, str) or not x.strip():
        must, got = "be a SELECT statement", "" if x is None else given(x)
        raise ParameterTypeError("statement", must, got, "Use {statement}.", statement=EXAMPLE)
    return x


def read_tables(x: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return the files of public tables by their names."""
    if isinstance(x, tuple):
        return x
    example = {"regions": "regions.csv"}
    if not isinstance(x, Mapping) and x is not None:
        must = "be a dict of files by name"
        raise ParameterTypeError("tables", must, given(x), "Use {tables}.", tables=example)
    for path in (x or {}).values():
        if not isinstance(path, (str, PathLike)):
            must = "name the path of each table"
            raise ParameterTypeError("tables", must, given(path), "Use {tables}.", tables=example)
    return tuple((str(name), fspath(path)) for name, path in (x or {}).items())


def _named(x: object) -> Any:
    """Return the paths of tables by their names, as typed in a shell; anything else unchanged."""
    parts = [part.partition(":") for part in x.split(",")] if isinstance(x, str) else []
    found = {name.strip(): path.strip() for name, _, path in parts}
    return found if found and all(found) and all(found.values()) else x


TABLES = replace(kinds.LOOKUP, metavar="NAME:PATH,...", parse=_named)


@frozen(slots=False)
class Sql(Table):
    """The statistics that a SELECT statement asks for, under one total.

    Notes
    -----
    *Claim*: the statement costs what it says, and as much as the same `Table`. *Checked by*
    ``test_statements_are_tables``.

    Examples
    --------
    >>> asked = Sql(
    ...     statement="SELECT sex, AVG(age) FROM people WHERE sex IN ('f', 'm') GROUP BY sex",
    ...     bounds={"age": (0, 120)},
    ...     epsilon=1,
    ... )
    >>> asked.by, asked.keys, asked.of
    ('sex', ('f', 'm'), (('age', ('mean',)),))
    """

    kind: ClassVar[str] = "sql"
    required: ClassVar[tuple[str, ...]] = ("statement",)
    text: ClassVar[str] = "Answer a SELECT statement: several statistics under one total epsilon."
    examples: ClassVar[tuple[str, str]] = (
        (
            "people.csv \"SELECT sex, AVG(age) FROM people WHERE sex IN ('f', 'm') GROUP BY sex\" "
            "--bounds age:0,120 --epsilon 1"
        ),
        '"SELECT AVG(age), COUNT(*) FROM people" --bounds age:0,120 --n 1000 --epsilon 1',
    )

    excerpts: ClassVar[bool] = False
    naming: ClassVar[str] = "statement"
    asking: ClassVar[str] = "Select a statistic of it"

    statement: str = field(default=None, converter=read_statement, metadata=param(
        kinds.STATEMENT, "A SELECT statement, such as SELECT sex, AVG(age) FROM people WHERE sex "
        "IN ('f', 'm') GROUP BY sex.", group=WHAT,
    ))  # fmt: skip
    tables: tuple[tuple[str, str], ...] = field(
        default=None, converter=read_tables, kw_only=True, metadata=param(
            TABLES, "The files of the public tables that the statement joins, by name.", group=DATA,
    ))  # fmt: skip
    # What follows is read from the statement; a statistic of one group has it changed.
    of: Any = field(default=(), kw_only=True)
    by: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    where: Any = field(default=None, kw_only=True)
    lookup: Any = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not self.of:
            self._translate()
        super().__attrs_post_init__()

    def _translate(self) -> None:
        """Set the parameters that the statement says, or refuse what the others do not allow."""
        said, files = self.select, dict(self.tables)
        for column in said.people:
            if column != self.unit:
                raise ParameterError(
                    "statement", "use COUNT(DISTINCT) only of the column that identifies a person",
                    given(column), "If it does, use {unit}; for the values of another column, "
                    "group by it and count the groups.", unit=column,
                )  # fmt: skip
        for name in ("keys", "other"):
            if getattr(self, name) and not said.by:
                must, tries = "be omitted without GROUP BY", {name: LEFT_OUT}
                raise ParameterError(name, must, "", f"Omit {{{name}}}.", **tries)
        found: dict[str, dict[str, None]] = {}
        for column, word in (output.part for output in said.outputs if output.part):
            found.setdefault(column, {})[word] = None
            if other := _second(word):
                found.setdefault(other, {})
        if missing := [name for name in said.joins if name not in files]:
            raise ParameterError(
                "tables",
                f"name the file of the public table {missing[0]!r}, which the statement joins", "",
                "Use {tables}. Joins of two private tables are not available.",
                tables={missing[0]: f"{missing[0]}.csv"},
            )  # fmt: skip
        matches = [f'"{matched(files[name])}"' for name in said.inner]
        where = [f"({said.where})"] if said.where and matches else [said.where or ""]
        own: dict[str, Any] = {
            "of": tuple((column, tuple(words)) for column, words in found.items()),
            "by": (said.by[0] if len(said.by) == 1 else said.by) or None,
            "where": " AND ".join(filter(None, (*where, *matches))) or None,
            "lookup": tuple((files[name], c) for name, c in said.joins.items()) or None,
        }
        if said.listed is not None and self.keys is None:
            own["keys"] = said.listed if len(said.by) > 1 else said.listed[said.by[0]]
        for name, value in own.items():
            read = getattr(converters, name) if name != "of" else tuple
            object.__setattr__(self, name, read(value))

    @cached_property
    def select(self) -> Select:
        return parsed(self.statement)

    @property
    def bounded(self) -> Sequence[str]:
        """The columns that need bounds: also both of a correlation."""
        return list(dict.fromkeys([*super().bounded, *self._paired]))

    @cached_property
    def _paired(self) -> list[str]:
        return [c for one, word in self.words if (other := _second(word)) for c in (one, other)]

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The columns whose bounds are searched for."""
        needed = {*super().searched, *self._paired}
        return tuple(c for c, pair in self.bounds if c in needed and converters.is_unknown(pair))

    def used(self, column: str) -> int:
        """Return how many statistics a column is needed for, as the second of two columns too."""
        return super().used(column) + [_second(word) for _, word in self.words].count(column)

    def _one(self, column: str, word: str) -> Statistic:
        if other := _second(word):
            pair = {column, other}
            statistic = next(cls for cls in PAIRS.values() if word.startswith(cls.kind))
            return statistic(
                x=column, y=other, bounds={c: own for c, own in self.bounds if c in pair},
                steps={c: own for c, own in self.steps if c in pair}, **self.common,
            )  # fmt: skip
        if word != PEOPLE:
            return super()._one(column, word)
        if self.rows != 1:
            must = "be 1 for COUNT(DISTINCT), which counts one row of each person"
            hint = "Use {rows}, or ask for it in a statement of its own."
            raise ParameterError("rows", must, given(self.rows), hint, rows=1)
        return super()._one(column, "count")

    @property
    def display(self) -> Display:
        return replace(super().display, title=" ".join(self.statement.split()))

    @property
    def name(self) -> str:
        return f"the statement {' '.join(self.statement.split())!r}"

    def arranged(self, columns: Columns) -> Columns:
        """Return what HAVING and LIMIT leave, in the order of ORDER BY."""
        said, per = self.select, len(self.statistics)
        rows = [{name: cell.value for name, cell in row.items()} for row in self.result(columns)]
        kept = [i for i, row in enumerate(rows) if said.having(row)]
        for key, down in said.order:
            kept.sort(key=lambda i: key(rows[i]), reverse=down)
        return columns.picked([i * per + k for i in kept[: said.limit] for k in range(per)])

    def columns(self, release: Release) -> Columns:
        return self.arranged(super().columns(release))

    def charts(self, release: Release) -> Mapping[str, Chart]:
        return charts_of_table(release.columns(), self._aliases)

    @property
    def _aliases(self) -> list[str]:
        names = {output.part: output.name for output in self.select.outputs}
        return [names[part] for part in self.words]

    def plot(self, release: Release, **options: Any) -> Any:
        return super().plot(release, names=self._aliases, **options)

    def result(self, columns: Columns) -> list[dict[str, ResultCell]]:
        """Return the cells of each row, by the outputs' names."""
        parts, texts = self.words, columns.texts()
        none: list[Any] = [None] * len(columns.values)
        ends = list(zip(columns.lower or none, columns.upper or none, strict=True))

        def cell(output: Output, start: int) -> ResultCell:
            if output.part is None:
                key = list(columns.labels.values())[output.place][start]
                return ResultCell(value=key, texts=(str(key),))
            at = start + parts.index(output.part)
            return ResultCell(value=columns.values[at], texts=texts[at], ends=ends[at])

        starts = range(0, len(columns.values), len(parts))
        return [{output.name: cell(output, i) for output in self.select.outputs} for i in starts]

    def printed(self, release: Release) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the result as a table; without groups a line for each number."""
        columns = release.columns()
        rows = self.result(columns)
        if self.select.by:
            heads = tuple(output.name for output in self.select.outputs)
            return heads, [tuple(with_ends(*x.texts) for x in row.values()) for row in rows]
        cells = [(name, *cell.texts) for row in rows for name, cell in row.items()]
        top = ("column", "value", interval_head(columns.confidence))
        return top, [(name, text, interval_text(*ends)) for name, text, *ends in cells]

    @property
    def release_kind(self) -> type[Release]:
        return QueryResult


class QueryResult(Release):
    """The released result of a statement.

    Examples
    --------
    >>> import sourdine as sd
    >>> r = sd.sql(
    ...     "SELECT AVG(age) AS mean_age, COUNT(*) FROM people",
    ...     people={"age": [20, 30, 40] * 1000}, bounds={"age": (0, 120)}, epsilon=1,
    ... )
    >>> [sorted(row) for row in r.rows()]
    [['COUNT(*)', 'mean_age']]
    """

    __slots__ = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the result, after HAVING, ORDER BY and LIMIT: values by name."""
        return [{name: cell.value for name, cell in row.items()} for row in self._result()]

    def table(self, library: str = "pandas") -> Any:
        """Return the rows of the result as a frame, with the ends of the intervals.

        `to_frame` returns what it does for all releases: a row for each number.

        Parameters
        ----------
        library
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        frame: dict[str, list[Any]] = {}
        for row in self._result():
            for name, cell in row.items():
                frame.setdefault(name, []).append(cell.value)
                for end, value in zip(("lower", "upper"), cell.ends, strict=False):
                    frame.setdefault(f"{name} {end}", []).append(value)
        return framed(frame, library)

    def _result(self) -> list[dict[str, ResultCell]]:
        asked: Any = self.answer.mechanism
        return list(getattr(asked, "question", asked).result(self.columns()))


_function = function(Sql)


def sql(x: object, /, *placed: Any, **typed: Any) -> Release:
    """``sql(data, statement, ...)``, or ``sql(statement, people=data, regions=file, ...)`` with the
    data and the files of public tables by the names that the statement gives them.

    Examples
    --------
    >>> people = {"sex": ["f", "m"] * 1000, "age": [30, 40] * 1000}
    >>> r = sql(
    ...     "SELECT sex, AVG(age) FROM people WHERE sex IN ('f', 'm') GROUP BY sex",
    ...     people=people, bounds={"age": (0, 120)}, epsilon=1,
    ... )
    >>> [row["sex"] for row in r.rows()]
    ['f', 'm']
    """  # noqa: D205 - follows the text made from the declaration
    if placed or "statement" in typed:
        return _function(x, *placed, **typed)
    statement = read_statement(x)
    said = parsed(statement)
    known = {p.name for p in parameters(Sql)} | set(Sql.unlisted)
    own = {name: value for name, value in typed.items() if name in known}
    named = {name: value for name, value in typed.items() if name not in known}
    if said.data not in named:
        must = f"sql() is missing the data: the statement says FROM {said.data}."
        hint = "Pass a frame or the path of a file by that name."
        raise ParameterTypeError(said.data, must, "", hint)
    data = named.pop(said.data)
    files = {name: named.pop(name) for name in said.joins if name in named}
    if named:
        name = next(iter(named))
        must = f"sql() got an unexpected keyword argument {name!r}."
        hint = did_you_mean(name, [*known, said.data, *said.joins])
        raise ParameterTypeError(name, must, "", hint)
    tables = {**own.pop("tables", {}), **files} or None
    return _function(data, statement, tables=tables, **own)


_TEXT, _, _EXAMPLES = cleandoc(sql.__doc__ or "").partition("\n\n")
documented(sql, Sql, "x")
_HEAD, _, _REST = (sql.__doc__ or "").partition("\n\n")
sql.__doc__ = f"{_HEAD}\n\n{_TEXT}\n\n{_REST}\n{_EXAMPLES}\n"
