r"""Which rows of a person are kept: a keyed hash of what stands in them.

.. math:: h = \mathrm{SHA256}(k \,\|\, \text{row} \,\|\, j)

with a secret key :math:`k` of 256 bits, fresh for every call, and :math:`j` the number of the row
among identical rows of the same person, from 0. The smallest hashes of a person are kept, as many
as allowed. The choice depends on that person's rows alone, not on their place in the file nor on
anybody else (``test_others_do_not_change_what_is_kept``), so adding a person adds no more rows than
that, and nobody who lacks the key can arrange which.

A row is written as its texts (`sourdine.tally.number_or_text`), each with its length in front, so
that no two different rows are written alike. It holds the columns that a question reads, and no
others. That changes no promise: the answer is one of the table of these columns alone, in which a
person owns the same number of rows, and everything above holds for that table
(``test_columns_that_are_not_asked_for_do_not_matter``, ``test_only_needed_columns_are_read``).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.tally.column import Column

__all__ = ["kept", "row_text"]


def row_text(texts: Sequence[str | None]) -> str:
    """Write a row so that it can be read back in one way only.

    Examples
    --------
    >>> row_text(["a", None, "12"])
    '1:a-2:12'
    """
    return "".join("-" if t is None else f"{len(t)}:{t}" for t in texts)


def kept(unit: Column, columns: Sequence[Column], rows: int, key: bytes) -> NDArray[np.int64]:
    """Return the rows that stay, in their old order."""
    people = _numbered(unit)
    owned = np.bincount(people) if len(people) else people
    crowded = np.flatnonzero(owned[people] > rows) if len(people) else people
    stay = np.ones(len(people), bool)
    stay[crowded] = False
    texts = [c[crowded].texts for c in columns]
    seen: dict[tuple[int, str], int] = {}
    ranked: dict[int, list[tuple[bytes, int]]] = {}
    prefix = key.hex()
    for i, row in enumerate(crowded.tolist()):
        person = int(people[row])
        written = row_text([t[i] for t in texts])
        again = seen.get((person, written), 0)
        seen[person, written] = again + 1
        h = sha256(f"{prefix}{written}#{again}".encode("utf-8", "surrogatepass")).digest()
        ranked.setdefault(person, []).append((h, row))
    for own in ranked.values():
        stay[[row for _, row in sorted(own)[:rows]]] = True
    return np.flatnonzero(stay)


def _numbered(unit: Column) -> NDArray[np.int64]:
    """Give each person a number; who has no name is one person."""
    if unit.data.dtype.kind in "biu" and unit.gone is None:
        return np.unique(unit.data, return_inverse=True)[1]
    numbers: dict[str | None, int] = {}
    return np.array([numbers.setdefault(t, len(numbers)) for t in unit.texts], np.int64)
