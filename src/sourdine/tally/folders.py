"""Folders of files: those of one kind below it, and columns that the names of folders hold.

Names that begin with a point or an underscore (``_SUCCESS``, ``.crc``) are passed over. In a folder
``year=2024`` every row of every file has the text ``2024`` in the column ``year``: it is read as
text, so that no folder changes how another is read.
"""

from __future__ import annotations

from glob import has_magic
from os import sep, walk
from pathlib import Path
from typing import TYPE_CHECKING

from sourdine.errors import ParameterError
from sourdine.tally import sql

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PATH", "files_below", "folder_columns", "root_of"]

NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""What writers put in the place of a value that is missing."""
PATH = "path_of_sourdine"
"""The column that holds a file's path while folders are read."""
_HIDDEN = (".", "_")


def files_below(folder: str, kinds: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the files below a folder, in order; all must be of one kind.

    Parameters
    ----------
    folder
        Its path.
    kinds
        The endings of each kind.
    """
    found: list[list[str]] = [[] for _ in kinds]
    for place, inner, names in walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith(_HIDDEN))
        for name in sorted(names):
            path = str(Path(place) / name)
            for own, endings in zip(found, kinds, strict=True):
                if not name.startswith(_HIDDEN) and name.lower().endswith(endings):
                    own.append(path)
    some = [own for own in found if own]
    if len(some) != 1:
        raise ParameterError(
            "the folder",
            "hold Parquet files, or CSV files, and nothing else that can be read",
            f"{folder!r} with {'files of several kinds' if some else 'none'}",
            "Type a pattern, such as 'folder/*.parquet', for those that are meant.",
        )
    return some[0]


def root_of(path: str) -> str:
    """Return the folder from which on the names of folders may hold columns.

    Examples
    --------
    >>> root_of("sales/*/*.parquet")
    'sales'
    """
    parts = Path(path).parts
    magic = next((i for i, part in enumerate(parts) if has_magic(part)), len(parts))
    return path if Path(path).is_dir() else str(Path(*parts[:magic])) if magic < len(parts) else ""


def folder_columns(root: str, files: Sequence[str]) -> dict[str, str]:
    """Return the columns that folders below a root name, as expressions of a file's `PATH`.

    All files must have the same ones.
    """
    keys = [_keys(root, path) for path in files] if root else []
    if not keys or not any(keys):
        return {}
    if any(set(own) != set(keys[0]) for own in keys) or len(set(keys[0])) < len(keys[0]):
        raise ParameterError(
            "the folders",
            "name the same columns for all files, each once",
            "others",
            "Read those of one kind, by a pattern such as 'folder/*/*.parquet'.",
        )
    below = f"substr({PATH}, {len(root.rstrip(sep)) + 1})"
    return {key: _value(below, key) for key in keys[0]}


def _keys(root: str, path: str) -> list[str]:
    folders = Path(path).relative_to(root).parts[:-1]
    return [part.split("=", 1)[0] for part in folders if part.partition("=")[0] != part]


def _value(below: str, key: str) -> str:
    start = sql.string(f"/{key}=")
    rest = f"substr({below}, strpos({below}, {start}) + {len(key) + 2})"
    text = f"url_decode(split_part({rest}, '/', 1))"
    return f"nullif(nullif({text}, {sql.string(NOTHING)}), '')"
