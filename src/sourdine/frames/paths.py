"""Paths of files, and addresses of tables: which texts are meant to be one, and its parts."""

from __future__ import annotations

import re
from urllib.parse import unquote

# ---- Files that are read, by the ends of their names ---------------------------------------------


CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET = (".parquet", ".pq")
LINES = ".txt"
NAMELESS = (LINES, ".npy")
"""Files without column names: their one column is called ``value``."""
EXCEL = (".xlsx", ".xlsm")
READSTAT = (".sav", ".zsav", ".sas7bdat", ".xpt", ".dta")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
ARROW = (".arrow", ".arrows", ".feather", ".ipc")
_SHEET = re.compile(r"(?P<path>.+\.xls[xm])#(?P<sheet>.+)", re.IGNORECASE | re.DOTALL)


def is_path(text: str) -> bool:
    """Return whether a text ends like the path of a file that can be read."""
    endings = (*CSV, *PARQUET, *NAMELESS, *EXCEL, *READSTAT, *JSON_LINES, *ARROW)
    return split_sheet(text)[0].lower().endswith(endings)


def split_sheet(path: str) -> tuple[str, str | None]:
    """Return the path of an Excel file and the name of its sheet; None if no sheet is named.

    Examples
    --------
    >>> split_sheet("people.xlsx#Sheet2"), split_sheet("people.xlsx"), split_sheet("a#b.csv")
    (('people.xlsx', 'Sheet2'), ('people.xlsx', None), ('a#b.csv', None))
    """
    found = _SHEET.fullmatch(path)
    return (path, None) if found is None else (found["path"], found["sheet"])


# ---- Tables of databases, by their addresses (`sourdine.frames.databases`) -----------------------


DATABASE = re.compile(
    r"(?P<kind>duckdb|postgres|postgresql|spark|sc)://(?P<where>[^#]*)#(?P<table>[^#\"]+)"
)
TABLE = re.compile(r"spark:(?P<table>[^/#\"]+)")
_SCHEME = re.compile(r"(?:duckdb|postgres|postgresql|spark|sc):/|spark:[^/]", re.IGNORECASE)
"""One slash is enough: a path that was made of an address has no more."""
_SECRET = re.compile(r"(:/{1,2})[^/]*@")


def is_address(source: str) -> bool:
    """Return whether a text is meant to be the address of a table, and not a path.

    Examples
    --------
    >>> is_address("duckdb:///w.db#wages"), is_address("postgresql://host/db"), is_address("w.csv")
    (True, True, False)
    """
    return _SCHEME.match(source) is not None


def source_name(source: str) -> str:
    """Return what a ledger calls the data at a path or an address; no password is in it.

    Examples
    --------
    >>> source_name("/srv/wages.parquet"), source_name("duckdb:////srv/w.db#people")
    ('wages.parquet', 'people')
    >>> source_name("postgresql://anna:secret@host/db#public.people"), source_name("spark:people")
    ('public.people', 'people')
    """
    found = DATABASE.fullmatch(source) or TABLE.fullmatch(source)
    if found is not None:
        return unquote(found["table"])
    if "://" in source:
        return "data"
    return re.split(r"[/:]", source.rstrip("/"))[-1] or "data"


def shown_source(source: str) -> str:
    """Return a path or an address as it may be printed, without what a password may be in.

    Examples
    --------
    >>> shown_source("postgresql://anna:secret@host/db#people"), shown_source("w.csv")
    ('postgresql://...#people', 'w.csv')
    >>> shown_source("mysql://anna:secret@host/db")
    'mysql://...@host/db'
    """
    found = DATABASE.fullmatch(source)
    if found is not None and found["kind"] != "duckdb":
        return f"{found['kind']}://...#{found['table']}"
    return "data" if found is None and is_address(source) else _SECRET.sub(r"\1...@", source)
