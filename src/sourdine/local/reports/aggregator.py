"""`Aggregator`: adds up reports as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind, one_of
from sourdine.local.reports import storing
from sourdine.local.reports.form import Form
from sourdine.local.reports.pairs import joint_tally, read_pairs
from sourdine.local.reports.reasons import Reason, Sieve
from sourdine.local.reports.receipts import Receipt
from sourdine.local.reports.schemas import form_of
from sourdine.local.reports.seen import Seen
from sourdine.local.reports.sources import read
from sourdine.tally.opening import is_spark

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.local.reports.records import Records
    from sourdine.local.table import Schema
    from sourdine.local.table.estimating.estimates import Estimates

__all__ = ["Aggregator"]


class Aggregator:  # noqa: PLW1641 - it changes, so it has no hash
    """Tallies of the reports of a form, and nothing else of them but their ids.

    Reports that are malformed, foreign, replayed or out of domain are counted and dropped with a
    `Reason`. A report with one bad answer is dropped as a whole: to keep its other answers would
    let whoever writes reports choose for which columns they count, and the columns of a joint
    tally would no longer be answered by the same people.

    Parameters
    ----------
    schema
        A schema, or the `Form` of its records.
    pairs
        Columns to tally jointly, two by two; only under the method ``"split"``.
    remember
        ``"ids"``: replays are found by the ids of all reports counted, at 16 bytes for each.
        ``"none"``: memory does not grow, and a report sent twice counts twice. ``"frame"``: only
        Spark frames are added; replays are found among the reports of each, where they lie, and
        their ids stay there. Add frames that may hold the same reports as one, by ``union``.

    Notes
    -----
    *Claim*: the order of reports, and their division into batches and files, does not matter.
    *Checked by* ``test_order_does_not_matter``. Only of two *different* reports under one id, which
    no honest sender makes, the first one counts.

    *Claim*: ``+`` is associative and commutative, and the sum of the parts is the whole if no
    report is in two of them. *Checked by* ``test_merging_is_adding``. What is in two parts cannot
    be taken out of a sum of tallies: it counts in both, and `doubled` says how many there are.
    Where that may happen, give each aggregator the part of the records that falls to it by id
    (`Records.part`); then replays meet in one place, wherever they arrive, and nothing counts
    twice (``test_parts_by_id_find_every_replay``).

    *Claim*: garbage changes no tally and raises nothing. *Checked by*
    ``test_garbage_never_counts``.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> from sourdine.noise import SeededSource
    >>> from sourdine.local.reports import Form, Records, to_lines
    >>> vote = RandomizedResponse(epsilon=1, categories=3)
    >>> form = Form(
    ...     randomisers={"vote": vote},
    ...     fingerprint="0123456789abcdef",
    ...     method="split",
    ...     guarantee=vote.guarantee,
    ... )
    >>> drawn = vote.randomise([0] * 60 + [1] * 40, source=SeededSource(1))
    >>> lines = to_lines(Records.stamped(form, {"vote": drawn}, source=SeededSource(2)))
    >>> total = Aggregator(form)
    >>> print(total.add(lines))
    100 accepted, 0 dropped
    >>> print(total.add([*lines[:2], "{}", lines[2].replace("[", "[1,")]))
    0 accepted, 4 dropped (1 malformed, 1 wrong columns, 2 replayed)
    >>> int(total.tally("vote").sum())
    100
    """

    __slots__ = (
        *("_counts", "_joint", "_pairs", "_seen", "_tallies"),
        *("form", "receipt", "remember", "schema"),
    )
    remember: str
    """What is kept of single reports."""

    def __init__(
        self,
        schema: Schema | Form,
        *,
        pairs: Sequence[tuple[str, str]] = (),
        remember: str = "ids",
    ) -> None:
        one_of(remember, "remember", "ids", "none", "frame")
        self.schema = schema
        self.remember = remember
        self.form = form_of(schema)
        self.receipt = Receipt()
        self._pairs = read_pairs(self.form, pairs)
        mechanisms = self.form.mechanisms
        self._counts = np.zeros(len(mechanisms), np.int64)
        self._tallies: list[NDArray[np.int64]] = [np.zeros(m.cells, np.int64) for m in mechanisms]
        self._joint: list[NDArray[np.int64]] = [
            np.zeros((mechanisms[a].cells, mechanisms[b].cells), np.int64) for a, b in self._pairs
        ]
        self._seen = Seen() if remember == "ids" else None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The columns that are tallied jointly."""
        return tuple((self.form.names[a], self.form.names[b]) for a, b in self._pairs)

    @property
    def doubled(self) -> int | None:
        """How many reports counted once too often by merging; None if ids are not remembered."""
        return None if self._seen is None else self.receipt.accepted - len(self._seen)

    def add(self, reports: object) -> Receipt:
        """Count reports, and return what became of them.

        Whatever cannot be counted is dropped with a reason; nothing that arrives raises.

        Parameters
        ----------
        reports
            `Records`; lines of JSON as an iterable of texts or bytes; bytes, of lines or of an
            Arrow or Parquet file; an Arrow table or stream; the path of a file of any of these. A
            text is always a path: pass what people sent as bytes, or as a list of lines. A Spark
            frame of one column: texts are lines (``spark.read.text``), bytes are whole files
            (``spark.read.format("binaryFile")``); they are counted where they lie.
        """
        if is_spark(reports):
            return self._add_frame(reports)
        if self.remember == "frame":
            raise ParameterTypeError(
                "reports",
                "be a Spark frame where replays are found in each frame",
                kind(reports),
                "Type {remember} where the aggregator is made.",
                remember="ids",
            )
        received = Receipt()
        for records, dropped in read(self.form, reports):
            added = Receipt(dropped=dropped) + self._count(records)
            self.receipt += added
            received += added
        return received

    def _add_frame(self, frame: object) -> Receipt:
        """Count the reports of a Spark frame: only tallies come here."""
        from sourdine.local.spark.counting import count_reports  # noqa: PLC0415

        if self.remember == "ids":
            raise ParameterError(
                "remember",
                "be 'frame' or 'none' for a Spark frame, whose ids stay where they are",
                "'ids'",
                "Type {remember} where the aggregator is made.",
                remember="frame",
            )
        received = count_reports(self, frame)
        self.receipt += received
        return received

    @property
    def numbers(self) -> list[NDArray[np.int64]]:
        """All that is counted, to be added to: reports, tallies, joint tallies."""
        return [self._counts, *self._tallies, *self._joint]

    def _count(self, records: Records) -> Receipt:
        """Count the records that are valid and new."""
        sieve = Sieve(len(records))
        sieve.drop(records.form != self.form, Reason.FOREIGN)
        if sieve.kept.any():
            sieve.drop(~records.valid(), Reason.DOMAIN)
        if self._seen is not None:
            new = np.zeros(len(records), np.bool_)
            new[sieve.kept] = self._seen.fresh(records.ids[sieve.kept])
            sieve.drop(~new, Reason.REPLAYED)
        if sieve.kept.any():
            self._tally(records if sieve.kept.all() else records.keep(sieve.kept))
        accepted = int(np.count_nonzero(sieve.kept))
        return Receipt(accepted=accepted, dropped=dict(sieve.dropped))

    def _tally(self, records: Records) -> None:
        mechanisms, answers = self.form.mechanisms, records.answers
        tallies = [m.tally(part) for m, part in zip(mechanisms, answers, strict=True)]
        joint = [
            joint_tally(mechanisms[a], answers[a], mechanisms[b], answers[b])
            for a, b in self._pairs
        ]
        self._tallies = list(map(np.add, self._tallies, tallies))
        self._joint = list(map(np.add, self._joint, joint))
        self._counts += records.counts()
        if self._seen is not None:
            self._seen.remember(records.ids)

    def tally(self, column: str) -> NDArray[np.int64]:
        """Return the tally of a column's reports."""
        return self._tallies[self._number(column)].copy()

    def reports(self, column: str) -> int:
        """Return how many reports the tally of a column is of."""
        return int(self._counts[self._number(column)])

    def pair(self, one: str, other: str) -> NDArray[np.int64]:
        """Return the joint tally of two columns, a row for each cell of the first."""
        wanted = (self._number(one), self._number(other))
        if wanted in self._pairs:
            return self._joint[self._pairs.index(wanted)].copy()
        if wanted[::-1] in self._pairs:
            return self._joint[self._pairs.index(wanted[::-1])].T.copy()
        raise ParameterError(
            "the pair",
            f"be one of {list(self.pairs)}",
            repr((one, other)),
            "Type {pairs} where the aggregator is made.",
            pairs=[(one, other)],
        )

    def _number(self, column: str) -> int:
        if column in self.form.randomisers:
            return self.form.names.index(column)
        raise ParameterError(
            "column",
            f"be one of {', '.join(self.form.names)}",
            repr(column),
            "Type {column}.",
            column=self.form.names[0],
        )

    def __add__(self, other: Aggregator) -> Aggregator:
        if not isinstance(other, Aggregator):
            return NotImplemented
        mine, theirs = self._terms(), other._terms()
        if mine != theirs:
            name = next(key for key in mine if mine[key] != theirs[key])
            raise ParameterError(
                "aggregators",
                f"have the same {name} to be added",
                f"{mine[name]} and {theirs[name]}",
                "Make both from one schema, with the same pairs and remember.",
            )
        total = Aggregator(self.schema, pairs=self.pairs, remember=self.remember)
        total.receipt = self.receipt + other.receipt
        total._counts = self._counts + other._counts
        total._tallies = list(map(np.add, self._tallies, other._tallies))
        total._joint = list(map(np.add, self._joint, other._joint))
        if self._seen is not None and other._seen is not None:
            total._seen = self._seen | other._seen
        return total

    def __radd__(self, other: object) -> Aggregator:
        return self if other == 0 else NotImplemented

    def _terms(self) -> dict[str, Any]:
        """Return what must agree for tallies to be added."""
        return {
            "fingerprint": self.form.fingerprint,
            "randomisers": [[name, str(m)] for name, m in self.form.randomisers.items()],
            "pairs": [list(pair) for pair in self.pairs],
            "remember": self.remember,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
        return (
            (self._terms(), self.receipt) == (other._terms(), other.receipt)
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[key], theirs[key]) for key in mine)
        )

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that is counted, by name."""
        arrays: dict[str, NDArray[Any]] = {"counts": self._counts}
        arrays |= {f"tally{i}": tally for i, tally in enumerate(self._tallies)}
        arrays |= {f"joint{i}": tally for i, tally in enumerate(self._joint)}
        return arrays if self._seen is None else arrays | {"ids": self._seen.ids()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, whole or not at all; `load` continues from there.

        Reports that came after the last save are added again after a crash: those that were
        saved are found by their ids and dropped, so nothing is lost and nothing counts twice
        (``test_resuming_after_a_crash_is_exact``).
        """
        dropped = {reason.name: n for reason, n in self.receipt.dropped.items()}
        facts = self._terms() | {"accepted": self.receipt.accepted, "dropped": dropped}
        storing.write(path, facts, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str], schema: Schema | Form) -> Aggregator:
        """Return what `save` wrote; the schema must be the one that it was made for."""
        facts, arrays = storing.read(path)
        try:
            return cls._restored(facts, arrays, schema)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise storing.refused("facts that no aggregator wrote") from None

    @classmethod
    def _restored(
        cls,
        facts: Any,  # noqa: ANN401
        arrays: dict[str, NDArray[Any]],
        schema: Schema | Form,
    ) -> Aggregator:
        pairs = [(a, b) for a, b in facts["pairs"]]
        empty = cls(form_of(schema))
        for name in ("fingerprint", "randomisers"):
            if facts[name] != empty._terms()[name]:
                raise ParameterError(
                    "schema",
                    "be the one that the file is for",
                    f"one with another {name.rstrip('s')}",
                    "Pass the schema that the aggregator was made for.",
                )
        total = cls(schema, pairs=pairs, remember=facts["remember"])
        dropped = {Reason[name]: n for name, n in facts["dropped"].items()}
        total.receipt = Receipt(accepted=facts["accepted"], dropped=dropped)
        for key, new in total._arrays().items():
            found = arrays[key]
            same = found.dtype == new.dtype and (key == "ids" or found.shape == new.shape)
            if not same or (key != "ids" and (found < 0).any()):
                raise storing.refused("tallies that no aggregator wrote")
        total._counts = arrays["counts"]
        total._tallies = [arrays[f"tally{i}"] for i in range(len(total._tallies))]
        total._joint = [arrays[f"joint{i}"] for i in range(len(total._joint))]
        if total._seen is not None:
            total._seen = Seen(arrays["ids"])
        return total

    @classmethod
    def of_tallies(
        cls,
        schema: Schema | Form,
        tallies: Mapping[str, NDArray[np.int64]],
        counts: Mapping[str, int],
        ids: NDArray[Any],
    ) -> Aggregator:
        """Return the aggregator of reports that were counted and kept elsewhere.

        Parameters
        ----------
        schema
            A schema, or the `Form` of its records.
        tallies, counts
            For each column the tally of its reports, and how many there are.
        ids
            The ids of all reports, 16 bytes each.
        """
        total = cls(schema)
        total.receipt = Receipt(accepted=int(ids.size))
        total._counts = np.array([counts[name] for name in total.form.names], np.int64)
        total._tallies = [np.array(tallies[name], np.int64) for name in total.form.names]
        total._seen = Seen(ids)
        return total

    def estimate(self) -> Estimates:
        """Estimate the columns of the schema; see `sourdine.local.Estimates`."""
        from sourdine.local.table.estimating.estimates import Estimates  # noqa: PLC0415

        if isinstance(self.schema, Form):
            raise ParameterTypeError(
                "estimates",
                "be of a schema",
                "a form alone",
                "Type Aggregator(schema), or pass tally(column) and reports(column) to an "
                "estimator.",
            )
        return Estimates(
            schema=self.schema,
            use="report",
            tallies={name: self.tally(name) for name in self.form.names},
            counts={name: self.reports(name) for name in self.form.names},
            joint={names: self.pair(*names) for names in self.pairs},
            notes=(f"{self.doubled} reports counted twice by merging.",) if self.doubled else (),
        )

    def __str__(self) -> str:
        doubled = f"\n{self.doubled} counted once too often by merging" if self.doubled else ""
        return f"{self.receipt}{doubled}"

    def __repr__(self) -> str:
        return f"Aggregator({', '.join(self.form.names)}): {self.receipt}"
