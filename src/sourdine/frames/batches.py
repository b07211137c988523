"""Data that comes in batches: Arrow datasets, Dask frames and files, one batch in memory at a time.

The engine for data in memory counts each batch, so the counts agree with it by construction. Only
the requested columns of a batch are read.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sourdine.frames.engine import Engine, cut, guarded, read_like, require_different
from sourdine.frames.memory import Memory, declared_by_series, memory_of_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sourdine.frames.cells import Codes, Whole
    from sourdine.frames.engine import Groups, Named, Occurring, Types
    from sourdine.frames.memory import Column, Declared


class Batches(Engine):
    """Rows that are read batch by batch, in order.

    From names of columns ``each`` and ``whole`` make frames or engines, batch by batch or all in
    one; ``count`` returns the number of rows.
    """

    def __init__(
        self,
        types: Types,
        each: Callable[[list[str]], Iterator[Any]],
        whole: Callable[[list[str]], Any],
        count: Callable[[], int],
    ) -> None:
        self.columns, self._types = tuple(types), types
        self._each, self._whole, self._count = each, whole, count

    def declared(self, name: str) -> Declared | None:
        return self._types[name]

    def rows(self) -> int:
        return sum(p.rows() for p in self._parts(())) if self._cuts else _guarded(self._count)

    def _parts(self, names: Sequence[str]) -> Iterator[Engine]:
        batches = _guarded(lambda: iter(self._each(self._needed(names))))
        while (frame := _guarded(lambda: next(batches, None))) is not None:
            yield self._memory(frame)

    def _needed(self, names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys((*names, *(name for name, _, _ in self._cuts))))

    def _in_memory(self, names: Sequence[str]) -> Engine:
        whole = self._memory(_guarded(lambda: self._whole(self._needed(names))))
        return whole.only(*names)

    def _memory(self, frame: Any) -> Engine:
        import narwhals as nw

        whole = isinstance(frame, Memory)
        engine = frame if whole else memory_of_frame(nw.from_native(frame, eager_only=True))
        read_like(engine, self)
        for name, keys, code in self._cuts:
            engine = engine.split(name, keys)[code]
        return engine

    def groups(self, cells: Named) -> Iterator[Groups]:
        for part in self._parts([name for name, _ in cells]):
            yield from part.groups(cells)

    def slots(self, cells: Named, rows: int) -> Iterator[list[Whole]]:
        for part in self._parts([name for name, _ in cells]):
            yield from part.slots(cells, rows)

    def combinations(self, names: Sequence[str]) -> Iterator[Occurring]:
        for part in self._parts(names):
            yield from part.combinations(names)

    def column(self, name: str, *, strict: bool = False) -> Column:
        return self._in_memory([name]).column(name, strict=strict)

    def split(self, name: str, keys: Codes) -> list[Engine]:
        return cut(self, name, keys)


_guarded = partial(
    guarded,
    got="batches that cannot be read",
    hint="Check that the files exist, are complete and have the same schema.",
)


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
        for batch in data.to_batches(columns=columns or names[:1]):
            if len(batch):
                yield pa.Table.from_batches([batch])

    types = declared_types(data.schema.empty_table())
    return Batches(types, each, lambda columns: data.to_table(columns=columns), data.count_rows)


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

    types = declared_types(data._meta)  # noqa: SLF001 - an empty frame of its types
    return Batches(types, each, lambda columns: some(columns).compute(), lambda: len(data))


def declared_types(empty: Any) -> dict[str, Declared | None]:
    """Return the declared types of a native frame."""
    import narwhals as nw

    frame = nw.from_native(empty, eager_only=True)
    return {str(name): declared_by_series(frame.get_column(name)) for name in frame.columns}
