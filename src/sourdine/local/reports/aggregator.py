"""`Aggregator`: adds up reports as they arrive."""

from __future__ import annotations

import json
import os
import tempfile
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError, ParameterTypeError
from sourdine.exact import given, kind, listed, one_of
from sourdine.frames.frame import is_spark
from sourdine.local.reports.records import Form, Reason, Receipt, Seen, Sieve
from sourdine.local.reports.sources import form_of, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sourdine.local.reports.records import Records
    from sourdine.local.table.estimates import Estimates
    from sourdine.local.table.schema import Schema
    from sourdine.mechanisms.mechanism import Report
    from sourdine.mechanisms.randomized_response import FrequencyOracle


# ---- Arrays on the disk: written whole or not at all, and checked when they are read -------------
#
# A file is a line that names the format, a line with the SHA-256 of the rest, and a NumPy archive.
# It is written under another name, forced to the disk and then renamed, so an interrupted process
# leaves the old file or the new one. *Checked by* ``test_a_failed_save_leaves_the_old_file``.


HEAD = b"sourdine aggregate 1\n"
DIGITS = 64
FACTS = "facts"


def write(path: str | os.PathLike[str], facts: object, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put facts, as JSON knows them, and arrays into a file that replaces the one there."""
    target = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            start = file.write(HEAD + b"0" * DIGITS + b"\n")
            text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
            np.savez(file, **{FACTS: text}, **arrays)  # type: ignore[arg-type]
            file.seek(start)
            digest = file_digest(file, "sha256").hexdigest().encode()
            file.seek(len(HEAD))
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the new name too
        finally:
            os.close(folder)


def read_arrays(path: str | os.PathLike[str]) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the facts and the arrays of a file, or say that it is damaged."""
    with Path(path).open("rb") as file:
        head = file.read(len(HEAD))
        if not head.startswith(HEAD[: HEAD.rindex(b" ")]):
            raise refused("another kind of file")
        if head != HEAD:
            raise refused("one of a version that is not known here")
        written = file.read(DIGITS + 1).strip()
        start = file.tell()
        if file_digest(file, "sha256").hexdigest().encode() != written:
            raise refused("a damaged file")
        file.seek(start)
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
            return json.loads(arrays.pop(FACTS).tobytes()), arrays
        except (ValueError, KeyError, BadZipFile, OSError) as error:
            raise refused("a damaged file") from error


def refused(got: str) -> ParameterError:
    """Return the error for a file that cannot be used."""
    hint = "Restore it from a copy, or add the reports again."
    return ParameterError("path", "be a file that Aggregator.save wrote", got, hint)


# ---- Joint tallies of two columns that the same people answered for ------------------------------
#
# A report :math:`r` of a mechanism adds 1 to some cells of its tally, :math:`t(r)`; the joint tally
# of two columns is :math:`\sum_i t(r_i)\,t(s_i)^\top` over the people. An estimator that is a
# linear function of each tally is then one of the joint tally.


LARGEST = 1 << 24
"""A joint tally has at most this many cells."""

FINEST = 1 << 20
"""The first column has at most this many different reports."""


def read_pairs(
    pairs: object, names: Sequence[str], *, sampled: bool
) -> tuple[tuple[str, str], ...]:
    """Return pairs of different columns among these names."""
    example, found = [(names[0], names[-1])], []
    for pair in listed(pairs, "pairs", pairs=example):
        two = isinstance(pair, (tuple, list)) and len(pair) == 2 and pair[0] != pair[1]
        if not two or not all(isinstance(x, str) and x in names for x in pair):
            must = "hold two different columns of the schema"
            got = repr(pair) if isinstance(pair, tuple) else given(pair)
            columns = f"The columns are: {', '.join(map(repr, names))}."
            tries, do = (example, "Use") if len(names) > 1 else (LEFT_OUT, "Omit")
            raise ParameterError("pairs", must, got, f"{columns} {do} {{pairs}}.", pairs=tries)
        found.append((pair[0], pair[1]))
    if found and sampled:
        must = "be omitted for the method 'sample', as each person answers for one column"
        hint = "Omit {pairs}, or create the schema with the method 'split'."
        raise ParameterError("pairs", must, f"{len(found)} pairs", hint, pairs=LEFT_OUT)
    return tuple(found)


def joint_tally(
    one: Report, reports: NDArray[Any], other: Report, others: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the joint tally of two columns, a row for each cell of the first."""
    counts = np.zeros((one.cells, other.cells), np.int64)
    for cell, rows in _members(one, reports):
        counts[cell] += other.tally(others[rows])
    return counts


def _members(mechanism: Report, reports: NDArray[Any]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each cell that some of the reports count in, with the rows of those."""
    if reports.ndim > 1:
        for cell in range(mechanism.cells):
            rows = np.flatnonzero(reports[:, cell >> 3] & (1 << (cell & 7)))
            if rows.size:
                yield cell, rows
        return
    sizes = mechanism.tally(np.arange(mechanism.codes))
    cells = np.searchsorted(np.cumsum(sizes), reports, side="right")
    order = np.argsort(cells, kind="stable")
    found, starts = np.unique(cells[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


# ---- What one invented report can do -------------------------------------------------------------


def influence(oracle: FrequencyOracle) -> float:
    r"""Return how many people's answers one invented report can outweigh, for one category.

    A report that is well formed counts, from any source. It supports a category or not, so in
    place of an honest one it moves the share of a category by

    .. math:: \frac{1}{n\,(p - q)}

    at most: as much as if :math:`1/(p - q)` of the :math:`n` people had answered otherwise. A
    fraction :math:`\beta` of invented reports moves it by :math:`\beta/(p - q)` at most
    (``test_influence_is_the_largest_move``).

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy",
       IEEE S&P 2021.

    Examples
    --------
    >>> from sourdine.mechanisms import RandomizedResponse
    >>> round(influence(RandomizedResponse(epsilon=1, categories=10)), 2)
    6.82
    """
    p, q = oracle.chances
    return float(np.max(1 / (np.asarray(p) - np.asarray(q))))


# ---- `Aggregator`: adds up reports as they arrive ------------------------------------------------


class Aggregator:  # noqa: PLW1641 - it changes, so it has no hash
    """Tallies of the reports of a form, and nothing else of them but their ids.

    Reports that are malformed, foreign, replayed or out of domain are counted and dropped with a
    `Reason`. A report with one bad answer is dropped as a whole: to keep its other answers would
    let the authors of reports choose for which columns they count, and the columns of a joint
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
    >>> from sourdine.local.reports.records import Form, Records, to_lines
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
        *("_counts", "_joint", "_seen", "_tallies"),
        *("form", "receipt", "remember", "schema"),
    )
    remember: str
    """What is kept of single reports."""

    def __init__(
        self, schema: Schema | Form, *, pairs: Sequence[tuple[str, str]] = (), remember: str = "ids"
    ) -> None:
        one_of(remember, "remember", "ids", "none", "frame")
        self.schema = schema
        self.remember = remember
        self.form = form = form_of(schema)
        self.receipt = Receipt()
        sizes = {name: m.cells for name, m in form.randomisers.items()}
        read = read_pairs(pairs, form.names, sampled=form.sampled)
        for a, b in read:
            finest = 0 if form.widths[form.names.index(a)] else form.randomisers[a].codes
            if sizes[a] * sizes[b] > LARGEST or finest > FINEST:
                must = "have at most 2**24 cells, and at most 2**20 for the first column"
                got = f"{(a, b)!r} with {sizes[a]} x {sizes[b]} cells"
                hint = "Use a coarser step, or fewer categories."
                raise ParameterError("pairs", must, got, hint)
        self._counts = np.zeros(len(sizes), np.int64)
        self._tallies = {name: np.zeros(n, np.int64) for name, n in sizes.items()}
        self._joint = {(a, b): np.zeros((sizes[a], sizes[b]), np.int64) for a, b in read}
        self._seen = Seen() if remember == "ids" else None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The columns that are tallied jointly."""
        return tuple(self._joint)

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
        received, hint = Receipt(), "Use {remember} when creating the aggregator."
        if is_spark(reports):
            from sourdine.local.spark.counting import count_reports

            if self.remember == "ids":
                must = "be 'frame' or 'none' for a Spark frame, whose ids are not collected"
                raise ParameterError("remember", must, "'ids'", hint, remember="frame")
            received = count_reports(self, reports)
            self.receipt += received
            return received
        if self.remember == "frame":
            must = "be a Spark frame if replays are found in each frame"
            raise ParameterTypeError("reports", must, kind(reports), hint, remember="ids")
        for records, dropped in read(self.form, reports):
            added = Receipt(dropped=dropped) + self._count(records)
            self.receipt += added
            received += added
        return received

    @property
    def numbers(self) -> list[NDArray[np.int64]]:
        """All that is counted, to be added to: reports, tallies, joint tallies."""
        return [self._counts, *self._tallies.values(), *self._joint.values()]

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
        known = self.form.randomisers
        answers = dict(zip(known, records.answers, strict=True))
        tallies = [m.tally(answers[name]) for name, m in known.items()]
        joint = [joint_tally(known[a], answers[a], known[b], answers[b]) for a, b in self._joint]
        for total, new in zip(self.numbers, [records.counts(), *tallies, *joint], strict=True):
            np.add(total, new, out=total)
        if self._seen is not None:
            self._seen.remember(records.ids)

    def tally(self, column: str) -> NDArray[np.int64]:
        """Return the tally of a column's reports."""
        self._number(column)
        return self._tallies[column].copy()

    def reports(self, column: str) -> int:
        """Return how many reports the tally of a column is of."""
        return int(self._counts[self._number(column)])

    def pair(self, one: str, other: str) -> NDArray[np.int64]:
        """Return the joint tally of two columns, a row for each cell of the first."""
        self._number(one)
        self._number(other)
        if (one, other) in self._joint:
            return self._joint[one, other].copy()
        if (other, one) in self._joint:
            return self._joint[other, one].T.copy()
        must, hint = f"be one of {list(self.pairs)}", "Use {pairs} when creating the aggregator."
        tries = [(one, other)]
        raise ParameterError("the pair", must, repr((one, other)), hint, pairs=tries)

    def _number(self, column: str) -> int:
        names = self.form.names
        if column in names:
            return names.index(column)
        must, hint = f"be one of {', '.join(names)}", "Use {column}."
        raise ParameterError("column", must, repr(column), hint, column=names[0])

    def __add__(self, other: Aggregator) -> Aggregator:
        if not isinstance(other, Aggregator):
            return NotImplemented
        mine, theirs = self._terms(), other._terms()
        if mine != theirs:
            name = next(key for key in mine if mine[key] != theirs[key])
            must, got = f"have the same {name} to be added", f"{mine[name]} and {theirs[name]}"
            hint = "Create both from the same schema, with the same pairs and remember."
            raise ParameterError("aggregators", must, got, hint)
        total = Aggregator(self.schema, pairs=self.pairs, remember=self.remember)
        total.receipt = self.receipt + other.receipt
        for whole, one, more in zip(total.numbers, self.numbers, other.numbers, strict=True):
            np.add(one, more, out=whole)
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
        arrays |= {f"tally{i}": tally for i, tally in enumerate(self._tallies.values())}
        arrays |= {f"joint{i}": tally for i, tally in enumerate(self._joint.values())}
        return arrays if self._seen is None else arrays | {"ids": self._seen.ids()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, whole or not at all; `load` continues from there.

        Reports that came after the last save are added again after a crash: those that were
        saved are found by their ids and dropped, so nothing is lost and nothing counts twice
        (``test_resuming_after_a_crash_is_exact``).
        """
        dropped = {reason.name: n for reason, n in self.receipt.dropped.items()}
        facts = self._terms() | {"accepted": self.receipt.accepted, "dropped": dropped}
        write(path, facts, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str], schema: Schema | Form) -> Aggregator:
        """Return what `save` wrote; the schema must be the one that it was made for."""
        facts, arrays = read_arrays(path)
        try:
            return cls._restored(facts, arrays, schema)
        except ParameterError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError):
            raise refused("facts that no aggregator wrote") from None

    @classmethod
    def _restored(
        cls, facts: Any, arrays: dict[str, NDArray[Any]], schema: Schema | Form
    ) -> Aggregator:
        pairs, empty = [(a, b) for a, b in facts["pairs"]], cls(form_of(schema))
        for name in ("fingerprint", "randomisers"):
            if facts[name] != empty._terms()[name]:
                must = "be the schema that the file was written for"
                got = f"a schema with a different {name.rstrip('s')}"
                hint = "Pass the schema that the aggregator was created with."
                raise ParameterError("schema", must, got, hint)
        total = cls(schema, pairs=pairs, remember=facts["remember"])
        dropped = {Reason[name]: n for name, n in facts["dropped"].items()}
        total.receipt = Receipt(accepted=facts["accepted"], dropped=dropped)
        if list(total.pairs) != pairs:
            raise refused("facts that no aggregator wrote")
        for key, new in total._arrays().items():
            found, ids = arrays[key], key == "ids"
            same = found.dtype == new.dtype and (ids or found.shape == new.shape)
            if not same or (not ids and (found < 0).any()):
                raise refused("tallies that no aggregator wrote")
            if ids:
                total._seen = Seen(found)
            else:
                new[...] = found
        return total

    @classmethod
    def of_tallies(
        cls, schema: Schema | Form, tallies: Mapping[str, NDArray[np.int64]],
        counts: Mapping[str, int], ids: NDArray[Any],
    ) -> Aggregator:  # fmt: skip
        """Return the aggregator of reports that were counted and kept elsewhere, with their ids."""
        total = cls(schema)
        total.receipt = Receipt(accepted=int(ids.size))
        total._counts = np.array([counts[name] for name in total.form.names], np.int64)
        total._tallies = {n: np.array(tallies[n], np.int64) for n in total.form.names}
        total._seen = Seen(ids)
        return total

    def estimate(self) -> Estimates:
        """Estimate the columns of the schema; see `sourdine.local.Estimates`."""
        from sourdine.local.table.estimates import Estimates

        if isinstance(self.schema, Form):
            must = "Estimates need a schema, and the aggregator has a form only."
            hint = "Use Aggregator(schema), or pass its tallies to an estimator."
            raise ParameterTypeError("estimates", must, "", hint)
        doubled = (f"{self.doubled} reports counted twice by merging.",) if self.doubled else ()
        return Estimates(
            schema=self.schema, use="report", notes=doubled,
            tallies={name: tally.copy() for name, tally in self._tallies.items()},
            counts=dict(zip(self.form.names, self._counts.tolist(), strict=True)),
            joint={names: tally.copy() for names, tally in self._joint.items()},
        )  # fmt: skip

    def __str__(self) -> str:
        doubled = f"\n{self.doubled} counted once too often by merging" if self.doubled else ""
        return f"{self.receipt}{doubled}"

    def __repr__(self) -> str:
        return f"Aggregator({', '.join(self.form.names)}): {self.receipt}"
