"""`Records`: the randomised answers of many people, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError
from sourdine.exact import given, integer
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from sourdine.local.reports.form import Form
    from sourdine.noise import Source

__all__ = ["ID", "Records"]

ID = np.dtype("S16")
"""An id is 16 bytes; as a text of fixed length NumPy can sort and search it."""


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The records of many people, a row for each.

    Parameters
    ----------
    form
        What they answer.
    ids
        A random id for each record, to find replays by; it says nothing of the person.
    answers
        For each column the reports of those who answered for it, in the order of rows.
    asked
        Under ``"sample"`` the number of the one column that each person answered for.
    """

    form: Form
    ids: NDArray[Any]
    answers: tuple[NDArray[Any], ...]
    asked: NDArray[np.int64] | None = None

    @classmethod
    def stamped(
        cls,
        form: Form,
        answers: Mapping[str, ArrayLike],
        *,
        asked: ArrayLike | None = None,
        source: Source = SYSTEM,
    ) -> Records:
        """Return randomised answers as records, each with a fresh random id.

        Parameters
        ----------
        form
            What they answer.
        answers
            For each column the reports of those who answered for it, in the order of rows.
        asked
            Under ``"sample"`` the number of the one column that each person answered for.
        source
            Where the ids come from.

        Raises
        ------
        ParameterError
            The answers do not fill the form.
        """
        who = None if asked is None else np.asarray(asked, np.int64)
        given = tuple(
            np.asarray(answers.get(name, form.empty(i)), np.uint8 if form.widths[i] else np.int64)
            for i, name in enumerate(form.names)
        )
        rows = len(given[0]) if who is None else who.size
        records = cls(form, np.frombuffer(source.bytes(16 * rows), ID), given, who)
        if form.sampled is (who is None) or not records.complete():
            raise ParameterError(
                "answers",
                f"hold one report of the right width for each person ({form.method!r})",
                f"{len(answers)} columns of other shapes",
                "Pass what the randomisers of the form drew.",
            )
        return records

    @classmethod
    def none(cls, form: Form) -> Records:
        """Return no records."""
        asked = np.zeros(0, np.int64) if form.sampled else None
        return cls(form, np.zeros(0, ID), tuple(map(form.empty, range(len(form.names)))), asked)

    def __len__(self) -> int:
        return int(self.ids.size)

    def complete(self) -> bool:
        """Return whether all answer for known columns, and with reports of the right width."""
        counts = self.counts()
        return (self.asked is None or counts.sum() == len(self)) and all(
            part.shape == ((count, width) if width else (count,))
            for part, count, width in zip(self.answers, counts, self.form.widths, strict=True)
        )

    def counts(self) -> NDArray[np.int64]:
        """Return how many people answered for each column."""
        columns = len(self.form.names)
        if self.asked is None:
            return np.full(columns, len(self))
        inside = (self.asked >= 0) & (self.asked < columns)
        return np.bincount(self.asked[inside], minlength=columns)

    def rows(self, column: int) -> slice | NDArray[np.bool_]:
        """Return which rows answer for a column."""
        return slice(None) if self.asked is None else self.asked == column

    def keep(self, mask: NDArray[np.bool_]) -> Records:
        """Return the rows of a mask."""
        answers = tuple(part[mask[self.rows(i)]] for i, part in enumerate(self.answers))
        asked = None if self.asked is None else self.asked[mask]
        return Records(self.form, self.ids[mask], answers, asked)

    def valid(self) -> NDArray[np.bool_]:
        """Return which rows hold only reports that their randomisers could have drawn."""
        good = np.ones(len(self), np.bool_)
        for i, (part, mechanism) in enumerate(zip(self.answers, self.form.mechanisms, strict=True)):
            good[self.rows(i)] &= mechanism.valid(part)
        return good

    def part(self, number: int, parts: int) -> Records:
        """Return the rows whose id falls into part ``number``, from 0, of ``parts``.

        A replayed record falls into the part of the first one. So aggregators that each take one
        part find every replay, and their sum counts no record twice.
        """
        total = integer(parts, "parts", least=1)
        chosen = integer(number, "number", least=0)
        if chosen >= total:
            raise ParameterError(
                "number",
                f"be below the number of parts ({total})",
                given(chosen),
                "Parts are counted from 0: type {number} or less.",
                number=total - 1,
            )
        words = np.ascontiguousarray(self.id_bytes()[:, :8]).view("<u8")[:, 0]
        return self.keep(words % np.uint64(total) == chosen)

    def id_bytes(self) -> NDArray[np.uint8]:
        """Return the ids as rows of 16 bytes."""
        return np.ascontiguousarray(self.ids).view(np.uint8).reshape(len(self), ID.itemsize)
