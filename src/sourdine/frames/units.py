r"""Which rows of a person are kept: systematic sampling from a secret random start.

The rows of a person who owns :math:`n` are ordered, :math:`r = 0, \ldots, n - 1`. If
:math:`n \le k`, all are kept. Otherwise those are kept with

.. math::

    (r k + o) \bmod n < k, \qquad o = \mathrm{SHA256}(\text{key} \,\|\, \text{person}) \bmod n,

with a key of 256 bits, fresh for every call, the person's text, and the first 60 bits of the hash.
It is systematic sampling with a random start, one hash for each person.

**Exactly k rows are kept.** As :math:`k < n`, a row is kept if and only if
:math:`\lfloor (rk + o)/n \rfloor - \lfloor (rk + o - k)/n \rfloor` is 1, and it is 0 otherwise. The
sum over all :math:`r` telescopes to
:math:`\lfloor k + (o - k)/n \rfloor - \lfloor (o - k)/n \rfloor = k`
(``test_so_many_rows_stay_for_every_start``).

**Every row is kept with the same probability.** For each :math:`r` the map
:math:`o \mapsto (rk + o) \bmod n` permutes :math:`0, \ldots, n - 1`, so :math:`k` of the :math:`n`
starts keep the row. A start is the remainder of 60 bits and has probability :math:`1/n` up to
:math:`2^{-60}`. A row is kept with probability :math:`k/n` up to :math:`k \, 2^{-60}`, if the hash
is uniform (``test_every_row_is_kept_equally_often``).

**No person changes the rows of another.** The order depends on the content of the rows only, and
rows that it leaves equal are identical. So the rows that are kept are a function of the key and of
that person's rows: not of their position, of partitions, or of other people
(``test_others_do_not_change_what_is_kept``). A person who is added or removed adds or removes at
most :math:`k` rows, for every key, and without the key cannot arrange which.

The order goes column by column, by the text of each value (`sourdine.frames.reading`): first
missing values, then texts that are not numbers, then numbers. Numbers are compared as floats, then
as integers, those not written as one first; finally texts are compared by code points. So columns
of numbers are in the order of their numbers, and none of them has to be written as text.

Rows hold only the columns that a query reads. That changes no guarantee: the answer is a function
of the table of these columns alone, in which a person owns the same number of rows, and everything
above holds for that table (``test_columns_that_are_not_asked_for_do_not_matter``,
``test_only_needed_columns_are_read``).
"""

from __future__ import annotations

from hashlib import sha256
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.frames.reading import read_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.frames.cells import Whole
    from sourdine.frames.memory import Column


DIGITS = 15
NARROW = 1 << 16
"""Below this many rows kept, 64 bits are enough while a person owns less than 2**46."""
MOST = (1 << 63) - 1
_SIGN = 1 << 63
_SQUARED = 1 << 31
"""Below this many rows of a person, places are multiplied in 64 bits."""


def start(key: bytes, person: str | None) -> int:
    """Return the number of a person, of 60 bits."""
    text = (key.hex() + (person or "")).encode("utf-8", "surrogatepass")
    return int(sha256(text).hexdigest()[:DIGITS], 16)


def chosen(place: Any, owned: Any, number: Any, rows: int) -> Any:
    """Return which places, from 0, of people who own more than ``rows`` are kept.

    ``number`` is that of the person, who owns ``owned`` rows.

    Examples
    --------
    >>> chosen(np.arange(5), 5, 1, 2).tolist()
    [True, False, True, False, False]
    """
    return (place * rows + number % owned) % owned < rows


def sort_key(text: str | None) -> bytes:
    """Return bytes in the order of values; those of several columns may be concatenated.

    Examples
    --------
    >>> texts = ["b", "10", None, "9", "9.0", "-3", "B", "1e400", "9007199254740993"]
    >>> sorted(texts, key=sort_key)
    [None, 'B', 'b', '-3', '9.0', '9', '10', '9007199254740993', '1e400']
    """
    if text is None:
        return b"\0"
    written = text.encode("utf-8", "surrogatepass").replace(b"\0", b"\0\1") + b"\0\0"
    number = read_number(text)
    if number is None:
        return b"\1" + written
    bits = int.from_bytes(pack(">d", float(number) + 0.0), "big")
    bits = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    whole = b"\1" + (number + (1 << 127)).to_bytes(16, "big") if type(number) is int else b"\0"
    return b"\2" + bits.to_bytes(8, "big") + whole + written


def kept(unit: Column, columns: Sequence[Column], rows: int, key: bytes) -> Whole:
    """Return the rows that are kept, in their old order."""
    people = _numbered(unit)
    owned = np.bincount(people) if len(people) else people
    stay = owned[people] <= rows
    crowded = np.flatnonzero(~stay)
    if len(crowded):
        who = people[crowded]
        order = np.lexsort([*(_ranks(c[crowded]) for c in reversed(columns)), who])
        crowded, who = crowded[order], who[order]
        first, which = np.unique(who, return_index=True, return_inverse=True)[1:]
        names = unit[crowded[first]].texts
        n = owned[who]
        wide = np.int64 if int(owned.max()) < _SQUARED else object
        place = (np.arange(len(who)) - first[which]).astype(wide)
        numbers = np.array([start(key, name) for name in names], np.int64)[which]
        stay[crowded[chosen(place, n, numbers, rows).astype(bool)]] = True
    return np.flatnonzero(stay)


def _ranks(column: Column) -> Whole:
    """Return integers in the order of values."""
    if column.kind == "O":
        rank = {text: i for i, text in enumerate(sorted(column.occurring(), key=sort_key))}
        return column.by_text(lambda text: rank.get(text, 0))
    ranks = np.unique(column.data, return_inverse=True)[1] + 1
    gone = np.isnan(column.data) if column.data.dtype.kind == "f" else column.gone
    return ranks if gone is None else np.where(gone, 0, ranks)


def _numbered(unit: Column) -> Whole:
    """Give each person a number; rows without a name belong to one person."""
    if unit.kind in "biu" and unit.gone is None:
        return np.unique(unit.data, return_inverse=True)[1]
    numbers: dict[str | None, int] = {}
    return unit.by_text(lambda text: numbers.setdefault(text, len(numbers)))
