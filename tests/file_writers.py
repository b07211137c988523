"""Files byte by byte: Excel with any cell, JSON Lines with any line."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from math import isfinite
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZipFile

__all__ = ["Raw", "values_of", "write_json_lines", "write_xlsx"]

_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_APPLICATION = "application/vnd.openxmlformats"
_STYLES = (0, 14, 22, 21)
"""The formats of cells by their style: a number, a date, a time, a time of day."""


class Raw(str):
    """The XML of a cell, with ``{at}`` for its place."""

    __slots__ = ()


def _cell(value, at):
    if isinstance(value, Raw):
        return value.format(at=at)
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - Excel has no NaN
        return f'<c r="{at}" t="e"><v>#NUM!</v></c>'
    if isinstance(value, dt.datetime | dt.date) and value.year > 1900:
        since = dt.datetime(1899, 12, 30)  # noqa: DTZ001
        moment = value if isinstance(value, dt.datetime) else dt.datetime(*value.timetuple()[:3])  # noqa: DTZ001
        if not moment.microsecond:
            days = (moment.replace(tzinfo=None) - since) / dt.timedelta(days=1)
            style = 2 if isinstance(value, dt.datetime) else 1
            return f'<c r="{at}" s="{style}"><v>{days!r}</v></c>'
    exact = isinstance(value, float) and isfinite(value)
    if exact or (isinstance(value, int) and abs(value) < 2**53):
        return f'<c r="{at}"><v>{value!r}</v></c>'
    if isinstance(value, Decimal):
        value = format(value, "f")
    return (
        f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'
    )


def _place(row, column):
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def _sheet(rows, merged):
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = (
            _cell(v, _place(number, i))
            for i, v in enumerate(row or ())
            if v is not None and v != ""
        )
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    spans = "".join(f'<mergeCell ref="{span}"/>' for span in merged)
    tail = f'<mergeCells count="{len(merged)}">{spans}</mergeCells>' if merged else ""
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData>{tail}</worksheet>'


def write_xlsx(path, sheets, *, merged=()):
    """Write sheets of rows: numbers, texts, dates, `Raw` cells; None and '' are no cells."""
    related = [f"{_RELATED}/worksheet"] * len(sheets)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="{_APPLICATION}-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="{_APPLICATION}-officedocument.spreadsheetml.'
        'sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><sheets>'
        + "".join(
            f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="r{i}"/>'
            for i, name in enumerate(sheets, start=1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{i}" Type="{kind}" Target="worksheets/sheet{i}.xml"/>'
            for i, kind in enumerate(related, start=1)
        )
        + f'<Relationship Id="s" Type="{_RELATED}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="{len(_STYLES)}">'
        + "".join(f'<xf numFmtId="{style}"/>' for style in _STYLES)
        + "</cellXfs></styleSheet>",
        **{
            f"xl/worksheets/sheet{i}.xml": _sheet(rows, merged)
            for i, rows in enumerate(sheets.values(), start=1)
        },
    }
    with ZipFile(path, "w") as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return path


def write_json_lines(path, columns, *, more=()):
    """Write one object for each row, with what JSON has no name for as a text."""
    rows = zip(*columns.values(), strict=True)
    lines = [
        json.dumps({n: _json(v) for n, v in zip(columns, row, strict=True) if v is not None})
        for row in rows
    ]
    path.write_text("".join(f"{line}\n" for line in [*lines, *more]))
    return path


def _json(value):
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value) if isinstance(value, dt.date) else value


def values_of(table):
    """Return the columns of an Arrow table as lists; None for dates that Python does not have."""
    return {name: [_value(v) for v in table.column(name)] for name in table.column_names}


def _value(scalar):
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return None
