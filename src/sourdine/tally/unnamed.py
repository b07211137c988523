"""Files without a name: they are gone with the process that wrote them, however it ends."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryFile, mkdtemp
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Copy"]


class Copy:
    """A copy of private data that another library reads by its path, as long as this object lives.

    On Linux the file has no name, so that nothing is left of it if the process is killed. On other
    systems it is in a folder that only the user may read and that goes with this object.

    Parameters
    ----------
    parts
        What is written.

    Attributes
    ----------
    path
        What to open.
    """

    def __init__(self, parts: Iterable[bytes]) -> None:
        if sys.platform == "linux":
            file = TemporaryFile()  # noqa: SIM115 - open as long as the object lives
            finalize(self, file.close)
            file.writelines(parts)
            file.flush()
            self.path = f"/proc/self/fd/{file.fileno()}"
            return
        folder = Path(mkdtemp(prefix="sourdine-"))
        finalize(self, rmtree, folder, ignore_errors=True)
        self.path = str(folder / "copy.csv")
        with Path(self.path).open("wb") as named:
            named.writelines(parts)
