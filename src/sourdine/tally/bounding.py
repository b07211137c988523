r"""Unit bounding in DuckDB: the rows that `sourdine.tally.keyed` keeps, without sorting them.

Rows of people who own few stay as they are. Of the others, rows that are written alike are counted
by one aggregate: a row that occurs :math:`n` times has the hashes of :math:`j = 0, \ldots, n - 1`.
A second aggregate keeps the smallest hashes of each person, so that memory holds the different rows
of people who own too many, once, and nothing of the rest. The first 60 bits of a hash decide: the
last row of a person to stay and the first to go share them with probability
:math:`n \, 2^{-60}` at most, for :math:`n` rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.tally import sql

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["bounded"]

MOST = 1000
"""Up to so many rows of a person are kept by an aggregate; more are ranked by a window."""
_ALIKE = {"integer", "float", "boolean", "date"}
"""Kinds whose values are written alike if and only if they are equal."""


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
    alike = [kind in _ALIKE for kind in kinds.values()]
    values = [f"{sql.name(c)} AS v{i}" for i, c in enumerate(kinds)]
    texts = [f"{sql.text(c, k)} AS c{i}" for i, (c, k) in enumerate(kinds.items()) if not alike[i]]
    person = f"{sql.person(unit, kinds[unit])} AS person"
    base = relation.project(", ".join([person, *values, *texts]))
    many = base.aggregate("person AS owner, count(*) AS owned", "person")
    many = many.filter(f"owned > {rows}").project("owner").set_alias("many")
    same = "own.person IS NOT DISTINCT FROM many.owner"
    few = base.set_alias("own").join(many, same, how="anti")
    crowd = base.set_alias("own").join(many, same, how="semi")

    keys = ["person", *(f"v{i}" if same else f"c{i}" for i, same in enumerate(alike))]
    first = [f"any_value(v{i}) AS v{i}" for i, same in enumerate(alike) if not same]
    counted = crowd.aggregate(", ".join([*keys, *first, "count(*) AS n"]), ", ".join(keys))
    numbered = counted.project("*, unnest(range(n)) AS j")
    written = [
        sql.text(f"v{i}", kind) if same else f"c{i}"
        for i, (kind, same) in enumerate(zip(kinds.values(), alike, strict=True))
    ]
    row = ", ".join(map(sql.framed, written))
    digest = f"sha256(concat('{key.hex()}', {row}, '#', j))"
    row_of = "struct_pack(" + ", ".join(f"v{i} := v{i}" for i in range(len(kinds))) + ")"
    hashed = numbered.project(
        f"person, {row_of} AS held, CAST('0x' || left({digest}, 15) AS BIGINT) AS h"
    )
    if rows <= MOST:
        kept = hashed.aggregate(f"min_by(held, h, {rows}) AS held", "person")
        kept = kept.project("unnest(held) AS held")
    else:
        ranked = hashed.project("*, row_number() OVER (PARTITION BY person ORDER BY h) AS place")
        kept = ranked.filter(f"place <= {rows}")
    names = list(enumerate(kinds))
    stay = few.project(", ".join(f"v{i} AS {sql.name(c)}" for i, c in names))
    return stay.union(kept.project(", ".join(f"held.v{i} AS {sql.name(c)}" for i, c in names)))
