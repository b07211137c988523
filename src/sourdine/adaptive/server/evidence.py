"""What the server holds: the rows, of which it gives out one average at a time."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sourdine.adaptive.queries import ROUNDING, clipped, vector_of
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import kind
from sourdine.tally import Frame
from sourdine.tally.memory import UNNAMED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query, Values
    from sourdine.adaptive.server.universe import Universe

__all__ = ["Cells", "Evidence", "Rows"]


class Evidence(Protocol):
    """Rows that queries are asked of."""

    @property
    def n(self) -> int:
        """How many rows there are."""

    def read(self, query: Query) -> Any:  # noqa: ANN401
        """Return a query in standard form; touches no row."""

    def span(self, query: Any) -> tuple[float, float]:  # noqa: ANN401
        """Return the least and the largest value a row may have, public."""

    def average(self, query: Any) -> float:  # noqa: ANN401
        """Return the average over the rows, private."""

    def take(self, index: NDArray[np.int64]) -> Evidence:
        """Return some of the rows."""


class Cells:
    """Rows counted in the cells of a universe; queries are vectors over the cells.

    Examples
    --------
    >>> from sourdine.adaptive.server.universe import Universe
    >>> rows = Cells(Universe.read(4), np.array([0, 1, 1, 3]))
    >>> rows.average(rows.read(lambda code: code > 0))
    0.75
    """

    __slots__ = ("_codes", "counts", "law", "universe")

    def __init__(self, universe: Universe, codes: NDArray[np.int64]) -> None:
        self.universe = universe
        self._codes = codes
        self.counts = np.bincount(codes, minlength=universe.size)
        self.law: Values = self.counts / max(len(codes), 1)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self._codes)

    def read(self, query: Query) -> Values:
        """Return the query's value in each cell."""
        return self.universe.vector(query)

    def span(self, query: Values) -> tuple[float, float]:
        """Return the least and the largest value of any cell."""
        return float(query.min()), float(query.max())

    def average(self, query: Values) -> float:
        """Return the average over the rows."""
        return float(query @ self.law)

    def take(self, index: NDArray[np.int64]) -> Cells:
        """Return some of the rows."""
        return Cells(self.universe, self._codes[index])


class Rows:
    """Rows of any kind; a query is a function of them that returns one value for each.

    A query is given what the rows are: an array, or a frame of pandas, Polars or PyArrow. Any
    other data are given as a dict of arrays, by column; those of a text file hold texts.

    The value of a row may depend on that row alone: an average of anything else is no average of
    independent values, and no interval holds for it. On private rows that cannot be seen; on rows
    that are public it is tried out.

    A query that raises, warns or returns the wrong shape on private rows counts as 0 for all of
    them, and values beyond 0 and 1 are clipped: its failure would tell about them, and say so to
    nobody. *Checked by* ``test_a_query_that_fails_on_private_rows_says_nothing``.

    Examples
    --------
    >>> ages = Rows(np.array([38, 41, 65]))
    >>> round(ages.average(lambda age: age > 40), 3), ages.average(lambda age: 1 / 0)
    (0.667, 0.0)
    """

    __slots__ = ("_rows", "n")

    def __init__(self, rows: object) -> None:
        self._rows = _standard(rows)
        self.n = _length(self._rows)

    def read(self, query: Query) -> Query:
        """Return the query if it is a function."""
        if not callable(query):
            raise ParameterTypeError(
                "query",
                "be a function of the rows",
                kind(query),
                "Type a function such as lambda rows: rows > 40, or give a universe.",
            )
        return query

    def span(self, query: Query) -> tuple[float, float]:  # noqa: ARG002 - nothing is known of it
        """Return 0 and 1."""
        return 0.0, 1.0

    def values(self, query: Any) -> Values:  # noqa: ANN401
        """Return the values of rows that are public: what is wrong with them raises."""
        values = vector_of(np.asarray(query(self.handed())), self.n)
        halves = (self.take(part) for part in np.array_split(np.arange(self.n), 2))
        apart = [np.asarray(query(half.handed())) for half in halves if half.n]
        if not np.allclose(np.concatenate(apart), values, rtol=0, atol=ROUNDING):
            raise ParameterError(
                "a query",
                "look at one row at a time",
                "one whose values change with the rows around",
                "Type a function such as lambda rows: rows > 40.",
            )
        return values

    def average(self, query: Any) -> float:  # noqa: ANN401
        """Return the average over the rows, of values clipped; 0 for a query that fails."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(clipped(np.asarray(query(self.handed())), self.n).mean())
        except Exception:  # noqa: BLE001 - a failure may depend on the rows
            return 0.0

    def handed(self) -> Any:  # noqa: ANN401
        """Return the rows so that a query does not change them by mistake."""
        if isinstance(self._rows, dict):
            return dict(self._rows)
        if isinstance(self._rows, np.ndarray):
            return self._rows
        return _eager(self._rows).clone().to_native()

    def take(self, index: NDArray[np.int64]) -> Rows:
        """Return some of the rows."""
        if isinstance(self._rows, dict):
            return Rows({name: column[index] for name, column in self._rows.items()})
        if isinstance(self._rows, np.ndarray):
            return Rows(self._rows[index])
        return Rows(_eager(self._rows)[index.tolist(), :].to_native())


def _standard(rows: object) -> Any:  # noqa: ANN401
    """Return an array or a frame in memory as it is, any other data as arrays, by column."""
    if isinstance(rows, np.ndarray):
        return _frozen(rows)
    if _eager(rows) is not None:
        return rows
    frame = Frame(rows)
    columns = {name: _frozen(frame.column(name).values) for name in frame.columns}
    return columns[UNNAMED] if isinstance(rows, (list, tuple, range)) else columns


def _frozen(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array that no query can write to."""
    view = values.view()
    view.setflags(write=False)
    return view


def _eager(rows: object) -> Any:  # noqa: ANN401
    """Return narwhals' view of a frame in memory; None for anything else."""
    from narwhals import DataFrame, from_native  # noqa: PLC0415 - costs time to import

    frame = from_native(rows, eager_only=True, pass_through=True)
    return frame if isinstance(frame, DataFrame) else None


def _length(rows: Any) -> int:  # noqa: ANN401
    return len(next(iter(rows.values()))) if isinstance(rows, dict) else len(rows)
