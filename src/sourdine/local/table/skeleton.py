"""A schema to be filled in: the names of the columns, and nothing that the rows would tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.local.table.schema_files import toml_value
from sourdine.tally import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sourdine.tally import Reading

__all__ = ["skeleton"]

HEAD = """\
# What may be answered, and what a record may cost. Fill in every "?" from public knowledge:
# bounds and categories read off the rows would give answers away.
#   kind = "number"  with lower, upper, step      kind = "choice"  with categories
#   kind = "flag"    true or false                kind = "choices" with choices, as in "tv;web"
#   missing = true   cells may be empty, unreadable or not listed: estimate how many are
#   weight = 2       twice the share of epsilon
# method = "sample" asks each person for one column only: several times more accurate. In a table
# it needs missing = "random" here, in place of missing = true of a number or flag.
epsilon = "?"
method = "split"
"""

ABSENT = "missing = true"
KNOWN = {
    "boolean": ('kind = "flag"', ABSENT),
    "integer": ('kind = "number"', 'lower = "?"', 'upper = "?"', "step = 1", ABSENT),
    "float": ('kind = "number"', 'lower = "?"', 'upper = "?"', 'step = "?"', ABSENT),
    "text": ('kind = "choice"', 'categories = ["?"]', ABSENT),
}
"""What is written for a column whose type the file itself states."""


def skeleton(data: object, *, read: Reading | Mapping[str, Any] | None = None) -> str:
    """Return a schema in TOML with a gap wherever a person has to decide.

    The types of a Parquet file stand in its head and are used. Those of a CSV file are what its
    values look like, so there every kind is left open.

    Parameters
    ----------
    data
        A frame, or the path of a CSV or Parquet file.
    read
        How text is read, a `sourdine.Reading` or a dict of its parameters.

    Examples
    --------
    >>> print(skeleton({"age": [31], "vote": ["yes"]}).split('"split"')[1].strip())
    [columns."age"]
    kind = "?"
    missing = true
    <BLANKLINE>
    [columns."vote"]
    kind = "?"
    missing = true
    """
    return "\n".join([HEAD, *_columns(Frame(data, read=read))]).rstrip() + "\n"


def _columns(frame: Frame) -> Iterator[str]:
    for name in frame.columns:
        yield f"[columns.{toml_value(name)}]"
        yield from KNOWN.get(frame.kind(name) or "", ('kind = "?"', ABSENT))
        yield ""
