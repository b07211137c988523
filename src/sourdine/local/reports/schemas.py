"""From a schema to the form of its records, and from a table to records."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterTypeError
from sourdine.exact import kind
from sourdine.local.reports.form import Form
from sourdine.local.reports.records import Records
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sourdine.local.table import Schema
    from sourdine.noise import Source

__all__ = ["form_of", "records"]


def form_of(schema: Schema | Form) -> Form:
    """Return the form of a schema's records.

    Columns stand in the order of their names: two schemas that list the same columns in another
    order have one fingerprint, so their records must mean the same
    (``test_the_order_of_columns_does_not_matter``).
    """
    if isinstance(schema, Form):
        return schema
    if not callable(getattr(schema, "parts", None)):
        raise ParameterTypeError(
            "schema",
            "be a Schema or a Form",
            kind(schema),
            "Type Schema(age=Number(0, 120, step=1), epsilon=1).",
        )
    return _form(schema)


@lru_cache(64)
def _form(schema: Schema) -> Form:
    parts = schema.parts("report")
    return Form(
        randomisers={name: parts[name].mechanism for name in sorted(parts)},
        fingerprint=schema.fingerprint,
        method=schema.method,
        guarantee=schema.guarantee,
    )


def records(schema: Schema, frame: object, *, source: Source = SYSTEM) -> Iterator[Records]:
    """Randomise a table, block by block, and yield the records to be sent.

    Parameters
    ----------
    schema
        The columns and what a record costs. To randomise the same people again costs it again.
    frame
        Anything that `sourdine.tally.Frame` takes; on a person's own device, their answers by name.
        A table needs a schema that says what becomes of absent answers; a person is refused an
        absent answer to a column that does not declare ``missing``.
    source
        Where the random bits come from, those of the ids among them.

    Examples
    --------
    >>> from sourdine.local.reports import to_lines
    >>> from sourdine.local.table import Flag, Schema
    >>> schema = Schema(smokes=Flag(), epsilon=1)
    >>> [mine] = records(schema, {"smokes": True})
    >>> line = to_lines(mine)[0]
    >>> line.startswith('{"v":1,"s":"' + schema.fingerprint[:16])
    True
    """
    form = form_of(schema)
    places = np.array([form.names.index(name) for name in schema.columns])
    for block in schema.randomised(frame, use="report", source=source):
        asked = None if block.asked is None else places[block.asked]
        yield Records.stamped(form, block.reports, asked=asked, source=source)
