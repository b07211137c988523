"""Data that comes in batches: Arrow datasets, Dask frames and files, one batch in memory at a time.

The engine for data in memory counts each batch, so the counts agree with it by construction. Only
the requested columns of a batch are read.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sourdine.errors import ParameterError, SourdineError
from sourdine.frames.engine import Engine, require_different
from sourdine.frames.memory import Memory, declared_by_series, memory_of_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sourdine.frames.cells import Cell, Codes
    from sourdine.frames.memory import Column, Declared
    from sourdine.frames.people import Reduction


@dataclass(frozen=True, slots=True)
class BatchSource:
    """Readers from column names to frames or engines: batch by batch, or all in one."""

    each: Callable[[list[str]], Iterator[Any]]
    whole: Callable[[list[str]], Any]
    rows: Callable[[], int]


class Batches(Engine):
    """Rows that are read batch by batch, in order.

    Parameters
    ----------
    names
        The names of the columns.
    source
        The functions that read them.
    types
        Their declared types.
    """

    def __init__(
        self, names: Sequence[str], source: BatchSource, types: Mapping[str, Declared | None]
    ) -> None:
        require_different(names)
        self._names, self._source, self._types = tuple(names), source, types
        self._cut: tuple[str, Codes, int] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self._names

    def declared(self, name: str) -> Declared | None:
        return self._types[name]

    def rows(self) -> int:
        if self._cut is None:
            return int(_guarded(self._source.rows))
        return sum(part.rows() for part in self._parts(()))

    def _parts(self, names: Sequence[str]) -> Iterator[Engine]:
        batches = _guarded(lambda: iter(self._source.each(self._needed(names))))
        while (frame := _guarded(lambda: next(batches, None))) is not None:
            yield self._memory(frame)

    def _needed(self, names: Sequence[str]) -> list[str]:
        key = () if self._cut is None else (self._cut[0],)
        return list(dict.fromkeys((*names, *key)))

    def _whole(self, names: Sequence[str]) -> Engine:
        """Read some columns into memory."""
        return self._memory(_guarded(lambda: self._source.whole(self._needed(names))))

    def _memory(self, frame: Any) -> Engine:
        import narwhals as nw

        engine: Memory = (
            frame
            if isinstance(frame, Memory)
            else memory_of_frame(nw.from_native(frame, eager_only=True))
        )
        engine.parsed, engine.reading = self.parsed, self.reading
        if self._cut is None:
            return engine
        name, keys, code = self._cut
        return engine.split(name, keys)[code]

    def groups(
        self, cells: Sequence[tuple[str, Cell]]
    ) -> Iterator[tuple[list[NDArray[np.int64]], NDArray[np.int64] | None]]:
        for part in self._parts([name for name, _ in cells]):
            yield from part.groups(cells)

    def slots(
        self, cells: Sequence[tuple[str, Cell]], rows: int
    ) -> Iterator[list[NDArray[np.int64]]]:
        for part in self._parts([name for name, _ in cells]):
            yield from part.slots(cells, rows)

    def combinations(
        self, names: Sequence[str]
    ) -> Iterator[tuple[list[Column], NDArray[np.int64] | None]]:
        for part in self._parts(names):
            yield from part.combinations(names)

    def column(self, name: str, *, strict: bool = False) -> Column:
        return self._whole([name]).column(name, strict=strict)

    def only(self, *names: str) -> Engine:
        engine = copy(self)
        engine._names = names  # noqa: SLF001
        return engine

    def split(self, name: str, keys: Codes) -> list[Engine]:
        """Return the rows of each key; rows that are already split are read into memory."""
        if self._cut is not None:
            return self._whole(self._names).split(name, keys)
        parts: list[Engine] = []
        for code in range(keys.size):
            part = copy(self)
            part._cut = name, keys, code  # noqa: SLF001
            parts.append(part)
        return parts

    def bound(self, unit: str, rows: int, key: bytes) -> Engine:
        return self._whole(self._names).only(*self._names).bound(unit, rows, key)

    def reduced(self, how: Reduction) -> Engine:
        return self._whole(how.needed).reduced(how)


def _guarded(work: Callable[[], Any]) -> Any:
    """Read; on failure, raise an error without the library's message, which may hold data."""
    try:
        return work()
    except SourdineError:
        raise
    except Exception:  # noqa: BLE001 - every library has its own errors
        raise ParameterError(
            "data",
            "be readable to the end",
            "batches that cannot be read",
            "Check that the files exist, are complete and have the same schema.",
        ) from None


def is_dataset(data: object) -> bool:
    if type(data).__module__.split(".")[0] != "pyarrow":
        return False
    from pyarrow.dataset import Dataset

    return isinstance(data, Dataset)


def batches_of_dataset(data: Any) -> Batches:
    """Return the engine of an Arrow dataset, which streams its files."""
    import pyarrow as pa

    names = list(data.schema.names)
    require_different(names)

    def each(columns: list[str]) -> Iterator[Any]:
        wanted = columns or names[:1]
        for batch in data.to_batches(columns=wanted):
            if len(batch):
                yield pa.Table.from_batches([batch])

    source = BatchSource(each, lambda columns: data.to_table(columns=columns), data.count_rows)
    return Batches(names, source, declared_types(data.schema.empty_table()))


def batches_of_dask(data: Any) -> Batches:
    """Return the engine of a Dask frame: its partitions one after the other."""
    names = [str(name) for name in data.columns]
    require_different(names)
    native = dict(zip(names, data.columns, strict=True))

    def some(columns: list[str]) -> Any:
        return data[[native[name] for name in columns or names[:1]]]

    def each(columns: list[str]) -> Iterator[Any]:
        for part in some(columns).to_delayed():
            yield part.compute()

    source = BatchSource(each, lambda columns: some(columns).compute(), lambda: len(data))
    return Batches(names, source, declared_types(data._meta))  # noqa: SLF001 - an empty frame of its types


def declared_types(empty: Any) -> dict[str, Declared | None]:
    """Return the declared types of a native frame."""
    import narwhals as nw

    frame = nw.from_native(empty, eager_only=True)
    return {str(name): declared_by_series(frame.get_column(name)) for name in frame.columns}
