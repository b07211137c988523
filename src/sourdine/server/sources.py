"""Where a data set's rows are: a path, a folder of Parquet, or the address of a database.

==========================  =====================================================================
``/srv/wages.parquet``      a file or a folder that the server reads, as a session does
``duckdb:////srv/w.db#t``   a table of a DuckDB file, opened to be read only
``sourdine:wages``          the public wages that the library ships
==========================  =====================================================================

Rows are never uploaded.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sourdine.errors import ParameterError

__all__ = ["WAGES", "opened", "require_below", "source_name"]

WAGES = "sourdine:wages"
DUCKDB = re.compile(r"duckdb:///(?P<path>[^#]+)#(?P<table>[^#\"]+)")
ADDRESS = re.compile(r"[a-z]+:")


def opened(source: str) -> Any:  # noqa: ANN401 - whatever a session takes
    """Return the data at a source, as a session takes it.

    Examples
    --------
    >>> len(opened("sourdine:wages")["wage"])
    247696
    """
    if source == WAGES:
        from sourdine.data import wages  # noqa: PLC0415 - loaded when asked for

        return {"wage": wages()}
    found = DUCKDB.fullmatch(source)
    if found is not None:
        return _table(Path(unquote(found["path"])).absolute(), found["table"])
    if not ADDRESS.match(source) and not _is_there(source):
        raise _not_there()
    return source


def require_below(source: str, folder: str) -> None:
    """Refuse data that do not lie below a folder; they are as if there were none."""
    found = DUCKDB.fullmatch(source)
    path = unquote(found["path"]) if found is not None else source
    if ADDRESS.match(path) or not Path(path).resolve().is_relative_to(Path(folder).resolve()):
        raise _not_there()


def _table(path: Path, table: str) -> Any:  # noqa: ANN401 - a relation of DuckDB's
    import duckdb  # noqa: PLC0415 - loaded when asked for

    try:
        return duckdb.connect(str(path), read_only=True).table(f'"{table}"')
    except duckdb.Error:
        raise _not_there() from None


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long
        return False


def _not_there() -> ParameterError:
    return ParameterError(
        "source", "be data on the server that can be read", "none", "Type another path."
    )


def source_name(source: str) -> str:
    """Return what a ledger calls the data at a source; no password is in it.

    Examples
    --------
    >>> source_name("/srv/wages.parquet"), source_name("duckdb:////srv/w.db#people")
    ('wages.parquet', 'people')
    """
    return re.split(r"[/#?:]", source.rstrip("/"))[-1] or "data"
