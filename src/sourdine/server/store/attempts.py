"""Attempts to log in, counted for all workers together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourdine.database import SharedDatabase, Transaction

__all__ = ["Attempts"]


class Attempts:
    """How often something was tried in the stretch of time that runs now.

    Parameters
    ----------
    database
        Where they are counted.
    """

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def count(self, most: Mapping[str, int], since: int) -> bool:
        """Count an attempt for each subject, unless one of them has none left; say whether it was.

        Parameters
        ----------
        most
            For each subject, how many attempts it has.
        since
            The stretch of time that runs now; what was counted before it is forgotten.
        """

        def job(transaction: Transaction) -> bool:
            transaction.run("DELETE FROM attempts WHERE since < ?", since)
            find = "SELECT number FROM attempts WHERE subject = ? AND since = ?"
            for subject, limit in most.items():
                found = transaction.one(find, subject, since)
                if found is not None and found[0] >= limit:
                    return False
            for subject in most:
                transaction.run(
                    "INSERT INTO attempts VALUES (?, ?, 1) ON CONFLICT (subject, since) "
                    "DO UPDATE SET number = attempts.number + 1",
                    *(subject, since),
                )
            return True

        return self._database.write(job)

    def forgive(self, subjects: tuple[str, ...], since: int) -> None:
        """Take an attempt back that went well."""

        def job(transaction: Transaction) -> None:
            for subject in subjects:
                transaction.run(
                    "UPDATE attempts SET number = number - 1 WHERE subject = ? AND since = ?",
                    *(subject, since),
                )

        self._database.write(job)
