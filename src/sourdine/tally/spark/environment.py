"""Functions on Spark's executors, and the Python that runs them there.

Spark starts ``python3`` on every executor unless ``PYSPARK_PYTHON`` names another, and that Python
need not have what the driver has. Three cases:

* Spark runs on this machine and ``PYSPARK_PYTHON`` is not set: our functions run under the
  interpreter of the driver.
* The executors' Python has NumPy and pyarrow, which functions over Arrow need: packages of plain
  Python that it lacks, Sourdine itself included, are sent along once a session.
* Anything else is refused before a row is read, with the Python that was found and what to type.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import WeakSet
from zipfile import ZIP_DEFLATED, ZipFile

from sourdine.errors import ParameterError
from sourdine.tally.spark.frames import functions, is_remote, unlogged
from sourdine.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["mapped"]

_COMPILED = ("numpy", "pyarrow")
"""What the executors must have."""
_PLAIN = ("sourdine", "narwhals", "attr", "attrs")
"""What is sent to them if they lack it."""
_PYTHON = "PYSPARK_PYTHON"
_OTHER_VERSION = re.compile(r"different version: (\d+\.\d+)")

_prepared: WeakSet[Any] = WeakSet()
"""The Spark contexts, and the sessions of Connect, whose executors have all they need."""
_sent: list[TemporaryDirectory[str]] = []
"""Executors that start later fetch what was sent, so it stays until this process ends."""


def mapped(rows: Any, work: Callable[[Iterator[Any]], Iterator[Any]], types: Any) -> Any:  # noqa: ANN401
    """Return the frame of what a function makes of batches of rows, on the executors.

    Parameters
    ----------
    rows
        A data frame of Spark's.
    work
        A function from batches of Arrow to batches of Arrow.
    types
        The columns that it yields.
    """
    with _python_of_the_driver(rows.sparkSession) as same:
        if not same:
            _prepare(rows)
        return rows.mapInArrow(work, types)


@contextmanager
def _python_of_the_driver(session: Any) -> Iterator[bool]:  # noqa: ANN401
    """Let a local Spark run the next functions under this interpreter, unless another is set.

    Yields whether it will. Functions of the user's own keep theirs.
    """
    if not _is_local(session) or _PYTHON in os.environ or not sys.executable:
        yield False
        return
    context = session.sparkContext
    before = context.pythonExec
    context.pythonExec = sys.executable
    try:
        yield True
    finally:
        context.pythonExec = before


def _is_local(session: Any) -> bool:  # noqa: ANN401
    """Return whether Spark runs on this machine, and was started by this process."""
    return not is_remote(session) and session.sparkContext.master.startswith("local")


def _prepare(rows: Any) -> None:  # noqa: ANN401
    """Ask the executors, once a session, what their Python lacks, and send what can be sent."""
    session = rows.sparkSession
    owner = session if is_remote(session) else session.sparkContext
    if owner in _prepared:
        return
    lacking = _lacking(rows)
    if lacking:
        _send(session, lacking)
    _prepared.add(owner)


def _lacking(rows: Any) -> list[str]:  # noqa: ANN401
    """Return which packages of plain Python the executors lack; refuse if they lack others.

    The query reads no data, so its error may be looked at.
    """
    session, names, version = rows.sparkSession, (*_COMPILED, *_PLAIN), __version__

    def look() -> str:  # sent by value: it must use nothing of this module
        import json  # noqa: PLC0415
        import sys  # noqa: PLC0415
        from importlib.util import find_spec  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        lacks = [name for name in names if find_spec(name) is None]
        own = find_spec("sourdine")
        if own is not None and own.origin is not None:
            written = Path(own.origin).with_name("version.py").read_text(encoding="utf-8")
            if f'"{version}"' not in written:
                lacks.append("sourdine")
        return json.dumps([sys.executable, lacks])

    f = functions(rows)
    try:
        with unlogged():
            asked = session.range(1).select(f.udf(look, "string", useArrow=False)().alias("told"))
            found, lacks = json.loads(asked.collect()[0]["told"])
    except Exception as error:  # noqa: BLE001 - Spark has many kinds of errors
        other = _OTHER_VERSION.search(str(error))
        raise _refusal(
            session, f"Python {other[1]}" if other else "one that does not start"
        ) from None
    compiled = [name for name in _COMPILED if name in lacks]
    if compiled:
        raise _refusal(session, f"{found} without {' and '.join(compiled)}", found, compiled)
    return [name for name in lacks if name in _PLAIN]


def _refusal(
    session: Any,  # noqa: ANN401
    found: str,
    python: str = "",
    lacks: Sequence[str] = (),
) -> ParameterError:
    """Return the error that says which Python the executors run, and what to type."""
    version = ".".join(map(str, sys.version_info[:2]))
    if _is_local(session):
        hint = f"Before Spark starts, type os.environ[{_PYTHON!r}] = {sys.executable!r}."
    elif lacks:
        hint = f"On every executor, type {python} -m pip install {' '.join(lacks)}."
    else:
        hint = f"Set {_PYTHON} to python{version} where Spark is started."
    return ParameterError(
        "the Python of Spark's executors",
        f"be Python {version} with {' and '.join(_COMPILED)}",
        found,
        hint,
    )


def _send(session: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    """Send packages to the executors, whose Python then finds them before others."""
    folder = TemporaryDirectory(prefix="sourdine-")
    _sent.append(folder)
    archive = Path(folder.name) / f"sourdine-{__version__}-packages.zip"
    with ZipFile(archive, "w", ZIP_DEFLATED) as packed:
        for name in dict.fromkeys(names):
            spec = find_spec(name)
            for place in (spec and spec.submodule_search_locations) or ():
                for file in sorted(Path(place).rglob("*.py")):
                    packed.write(file, Path(name) / file.relative_to(place))
    if is_remote(session):
        session.addArtifacts(str(archive), pyfile=True)
        return
    paths = list(sys.path)
    session.sparkContext.addPyFile(str(archive))
    sys.path[:] = paths  # it puts the archive on the driver's path too
