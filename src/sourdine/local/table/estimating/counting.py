"""A sanitised table back to tallies: all that estimates need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import LEFT_OUT, ParameterError
from sourdine.local.reports.pairs import joint_tally
from sourdine.local.table.carried import carried, check
from sourdine.local.table.estimating.estimates import Estimates
from sourdine.local.table.sanitizing.blocks import ROWS, matched
from sourdine.tally import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.local.table.schema import Schema

__all__ = ["estimate"]


def estimate(
    clean: object,
    *,
    schema: Schema | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    unmarked: bool = False,
) -> Estimates:
    """Estimate every column of a sanitised table.

    Parameters
    ----------
    clean
        What `sanitize` returned, or the path of the file it wrote; also another's, if it was
        written by the same schema.
    schema
        The schema of `sanitize`; needed if the table carries none.
    pairs
        Columns to be looked at together; only under ``method="split"``.
    unmarked
        Whether to take a file for sanitised that carries no schema, or has changed since.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sourdine.local import Choice, Schema
    >>> schema = Schema(vote=Choice("yes", "no"), epsilon=2)
    >>> clean = schema.sanitize(pa.table({"vote": ["yes"] * 70 + ["no"] * 30}))
    >>> estimate(clean).reports("vote")
    100
    >>> estimate(clean, schema=Schema(vote=Choice("yes", "no"), epsilon=4))
    Traceback (most recent call last):
    sourdine.errors.ParameterError: schema must be the one that the table was sanitised by, got one with epsilon 4 in place of 2. The table carries its own: leave schema= out of estimate.
    """  # noqa: E501
    data = Frame(clean)
    if schema is None:
        schema = _carried(clean)
    check(schema, clean, unmarked=unmarked)
    wanted = _read_pairs(schema, pairs)
    parts = schema.parts()
    frame = matched(schema, data, drop=None)
    tallies = {name: np.zeros(part.mechanism.cells, np.int64) for name, part in parts.items()}
    joint = {(a, b): np.zeros((len(tallies[a]), len(tallies[b])), np.int64) for a, b in wanted}
    counts, dropped = dict.fromkeys(parts, 0), dict.fromkeys(parts, 0)
    unanswered = 0
    for slots in frame.codes(*(part.written_cell for part in parts.values()), chunk=ROWS):
        read = zip(parts.items(), slots, strict=True)
        codes = {name: part.read_back(column) for (name, part), column in read}
        if schema.method == "sample":
            answers = sum((c >= 0).astype(np.int64) for c in codes.values())
            unanswered += int(np.count_nonzero(answers == 0))
        for name, part in parts.items():
            there = codes[name] >= 0
            lost = ~there
            if schema.method == "sample":
                there, lost = there & (answers == 1), there & (answers > 1)
            tallies[name] += part.mechanism.tally(codes[name][there])
            counts[name] += int(np.count_nonzero(there))
            dropped[name] += int(np.count_nonzero(lost))
        for a, b in wanted:
            both = (codes[a] >= 0) & (codes[b] >= 0)
            one, other = parts[a].mechanism, parts[b].mechanism
            joint[a, b] += joint_tally(one, codes[a][both], other, codes[b][both])
    note = f"{unanswered} people with no answer that this schema could have written were left out."
    return Estimates(
        schema=schema, use="table", tallies=tallies, counts=counts, joint=joint, dropped=dropped,
        notes=(note,) if unanswered else (),
    )  # fmt: skip


def _carried(clean: object) -> Schema:
    found = carried(clean)
    if found is None:
        raise ParameterError(
            "schema",
            "be given: the table carries no schema",
            "none",
            "Estimate from what sanitize wrote, or name the schema that it was sanitised by.",
        )
    return found


def _read_pairs(schema: Schema, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    for names in pairs:
        if len(names) != 2 or names[0] == names[1] or not set(names) <= schema.columns.keys():
            listed = ", ".join(map(repr, schema.columns))
            raise ParameterError(
                "pairs", "be of two different columns", repr(names), f"The columns are: {listed}."
            )
    if pairs and schema.method == "sample":
        raise ParameterError(
            "pairs",
            "be left out under the method 'sample', where nobody answers for two columns",
            f"{len(pairs)}",
            "Leave {pairs} out, or make the schema with the method 'split'.",
            pairs=LEFT_OUT,
        )
    return [(a, b) for a, b in pairs]
