r"""Unit bounding in DuckDB: the rows that `sourdine.tally.keyed` keeps, by one window.

One aggregate counts the rows of each person, whose name is hashed once; one window numbers the rows
in their order; a join brings both together. Columns of numbers are sorted as they are. DuckDB sorts
on disk what memory does not hold. Places are multiplied in 64 bits if few rows are kept, and in 128
otherwise, where :math:`rk + o < 2^{63} \cdot 2^{63}` fits whatever a person owns
(``test_many_rows_kept_do_not_overflow``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.tally import sql
from sourdine.tally.keyed import DIGITS, MOST, NARROW

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["bounded", "stays"]


def bounded(relation: Any, kinds: Mapping[str, str], unit: str, rows: int, key: bytes) -> Any:  # noqa: ANN401
    """Return at most so many rows of each person, with the columns of ``kinds``.

    Parameters
    ----------
    relation
        The rows.
    kinds
        The kind of each column that is needed, by its name.
    unit
        The column that names the person.
    rows
        How many may stay.
    key
        What keys the hash.
    """
    rows = min(rows, MOST)
    values = [f"{sql.name(c)} AS v{i}" for i, c in enumerate(kinds)]
    places = [sql.ordered(c, k) for c, k in kinds.items() if c != unit]
    terms = ", ".join(f"{term} ASC NULLS FIRST" for own in places for term in own)
    whole = kinds[unit] in {"integer", "boolean"}
    person = sql.person(unit, kinds[unit])
    person = person if whole else f"encode({person})"
    over = f"PARTITION BY {person}" + (f" ORDER BY {terms}" if terms else "")
    place = f"row_number() OVER ({over}) - 1 AS place"
    ranked = relation.project(", ".join([f"{person} AS person", *values, place]))

    owners = relation.project(f"{person} AS owner")
    counted = owners.aggregate("owner, count(*) AS owned", "owner")
    name = "encode(CAST(owner AS VARCHAR))" if whole else "owner"
    digest = f"sha256(CAST('{key.hex()}' AS BLOB) || coalesce({name}, CAST('' AS BLOB)))"
    number = f"CAST('0x' || left({digest}, {DIGITS}) AS BIGINT)"
    people = counted.project(f"owner, owned, {number} % owned AS first")

    same = "own.person IS NOT DISTINCT FROM people.owner"
    joined = ranked.set_alias("own").join(people.set_alias("people"), same)
    kept = joined.filter(stays(rows))
    return kept.project(", ".join(f"v{i} AS {sql.name(c)}" for i, c in enumerate(kinds)))


def stays(rows: int) -> str:
    """Return whether a row stays, by its ``place`` and by the rows ``owned`` and the ``first``."""
    wide = "BIGINT" if rows < NARROW else "HUGEINT"
    chosen = f"(CAST(place AS {wide}) * {rows} + first) % owned < {rows}"
    return f"CASE WHEN owned <= {rows} THEN true ELSE {chosen} END"
