"""From what a person types to a release.

All parameters are read before the data is looked at, so an error about them never depends on it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sourdine.central.count import Count
from sourdine.central.groups import by_group
from sourdine.central.histogram import Histogram
from sourdine.central.mean import Mean
from sourdine.central.proportion import Proportion
from sourdine.central.sum import Sum
from sourdine.central.target import epsilon_for
from sourdine.central.variance import Variance
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import integer
from sourdine.noise import SYSTEM
from sourdine.tally import Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sourdine.central.lattice import Bounds
    from sourdine.central.statistic import Statistic
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.privacy import Relation
    from sourdine.release import Release

TRUSTED = "That nobody owns more is taken on trust: unit= was not given."

__all__ = ["ask", "build", "count", "histogram", "mean", "proportion", "sum", "variance"]


def build(  # noqa: PLR0913 - what a person may say of a call
    make: Callable[..., Statistic],
    *,
    epsilon: Number | None = None,
    error: Number | None = None,
    n: int | None = None,
    by: str | None = None,
    groups: Sequence[Any] | None = None,
    **parameters: Any,  # noqa: ANN401
) -> Statistic:
    """Return the statistic that a call means, before any data is read.

    Parameters
    ----------
    make
        Builds the statistic from its parameters and an epsilon.
    epsilon, error
        One of the two: the privacy loss, or the error to reach with probability 0.95.
    n
        The public number of records (in a group), where the error depends on it.
    by, groups
        The column of groups and their keys.
    parameters
        Those of the statistic.
    """
    if (epsilon is None) == (error is None):
        given = "neither" if epsilon is None else "both"
        raise ParameterError(
            f"epsilon or error must be given, one of the two, got {given}. Type epsilon=1, or the "
            f"error you can live with, as error=10."
        )
    if groups is not None and by is None:
        raise ParameterError(
            "by must be the column that holds the keys, got None. Type it, as by='region'."
        )

    def at(epsilon: Number) -> Statistic:
        statistic = _made(make, {"epsilon": epsilon, **parameters})
        return statistic if by is None else by_group(statistic, by, groups)

    return at(epsilon if epsilon is not None else epsilon_for(at, error, n=n))


def ask(
    statistic: Statistic, x: object, *, unit: str | None = None, source: Source = SYSTEM
) -> Release:
    """Release a statistic of data, each person's rows bounded first if ``unit`` names them."""
    if unit is not None and not isinstance(unit, str):
        raise ParameterTypeError(
            f"unit must be a column's name, got something of type {type(unit).__name__}. "
            f"Type the column that names a person, as unit='patient'."
        )
    data = Frame(x)
    for column in _columns(statistic):
        data.resolve(column)
    if unit is None:
        counted = statistic.known and getattr(statistic, "n", None) is None
        asked = statistic.of_private_number() if data.parsed and counted else statistic
        release = asked.release(data, source=source)
        return release if statistic.rows == 1 else _noting(release, TRUSTED)
    kept = data.bound(unit, statistic.rows, source=source)
    release = statistic.of_private_number().release(kept, source=source)
    rows = "one row was" if statistic.rows == 1 else f"at most {statistic.rows} rows were"
    promise = f"The promise is for each {unit}, not for each row: of each {rows} kept."
    return _noting(release, promise)


def _noting(release: Release, caveat: str) -> Release:
    return replace(release, caveats=(*release.caveats, caveat))


def _columns(statistic: Statistic) -> list[str | None]:
    """Return the columns that must exist; a count of all records needs none."""
    groups = [statistic.by] if hasattr(statistic, "by") else []
    counted = getattr(statistic, "of", statistic)
    if counted.kind == "count" and statistic.column is None:
        return groups
    return [statistic.column, *groups]


def _policy(missing: str, *, private: bool) -> str:
    """Return what is done with missing values where the number of records may be private."""
    if private and missing == "auto":
        return "exclude"
    if private and missing in ("middle", "no"):
        raise ParameterError(
            f"missing must be 'exclude' with unit= or by=, got {missing!r}: how many rows are "
            f"left, or are in a group, is private. Leave it out."
        )
    return missing


def count(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    epsilon: Number | None = None,
    error: Number | None = None,
    relation: Relation | str = "add_remove",
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Count records, or the values of ``column`` that are not missing.

    Parameters
    ----------
    x
        A list, an array, a frame of any library, or the path of a CSV or Parquet file.
    epsilon, error
        One of the two: the privacy loss, or the error to reach with probability 0.95.
    relation
        ``"add_remove"``: a person is in the data or is not. ``"substitute"``: a person's records
        take other values, their number is public.
    column
        The column; may be left out where there is only one.
    unit, rows
        The column that names a person, and how many rows of each person are kept (1).
    by, keys
        A column of groups and the list of their keys: an answer for each.
    n
        The public number of records, for statistics whose error depends on it.
    source
        Where the randomness comes from; anything but the default is not private.

    Examples
    --------
    >>> release = count(["a", "b", "c"] * 1000, epsilon=1)
    >>> abs(release.value - 3000) < 50
    True
    """
    del n
    statistic = build(
        Count, epsilon=epsilon, error=error, by=by, groups=keys,
        relation=relation, column=column, rows=_rows(rows),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def sum(  # noqa: A001, PLR0913 - what a person may say of a call
    x: object,
    *,
    bounds: Bounds | None = None,
    step: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    relation: Relation | str = "add_remove",
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Add up the values of a column; the parameters are those of `count` and `mean`.

    Examples
    --------
    >>> release = sum([1, 2, 3] * 1000, bounds=(0, 10), step=1, epsilon=1)
    >>> abs(release.value - 6000) < 500
    True
    """
    del n
    statistic = build(
        Sum, epsilon=epsilon, error=error, by=by, groups=keys, bounds=bounds, step=step,
        relation=relation, column=column, rows=_rows(rows),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def mean(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    bounds: Bounds | None = None,
    step: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    delta: Number = 0,
    relation: Relation | str = "add_remove",
    method: str = "laplace",
    missing: str = "auto",
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Return the mean of a column.

    Parameters
    ----------
    x, epsilon, error, relation, column, unit, rows, by, keys, n, source
        As in `count`.
    bounds
        Public bounds of the values; those outside count as the nearest bound.
    step
        The step of the lattice that values are snapped to; 1 for whole numbers.
    delta
        For ``method="gaussian"``: the probability with which the loss may pass epsilon.
    method
        ``"laplace"``, ``"gaussian"`` or ``"exponential"`` (see `Mean`).
    missing
        ``"exclude"`` or, under substitution, ``"middle"`` (see `Mean`).

    Examples
    --------
    >>> release = mean([20, 30, 40] * 1000, bounds=(0, 120), step=1, epsilon=1)
    >>> abs(release.value - 30) < 2
    True
    """
    statistic = build(
        Mean, epsilon=epsilon, error=error, n=n, by=by, groups=keys, bounds=bounds, step=step,
        delta=delta, relation=relation, method=method, column=column, rows=_rows(rows),
        missing=_policy(missing, private=unit is not None or by is not None),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def variance(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    bounds: Bounds | None = None,
    step: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    relation: Relation | str = "add_remove",
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Return the variance of a column; the parameters are those of `count` and `mean`.

    Examples
    --------
    >>> release = variance([20, 30, 40] * 1000, bounds=(0, 60), step=1, epsilon=1)
    >>> 40 < release.value < 90
    True
    """
    statistic = build(
        Variance, epsilon=epsilon, error=error, n=n, by=by, groups=keys, bounds=bounds, step=step,
        relation=relation, column=column, rows=_rows(rows),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def proportion(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    category: object = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    relation: Relation | str = "add_remove",
    missing: str = "auto",
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Return the share of ones, or of records in ``category``.

    Parameters
    ----------
    x, epsilon, error, relation, column, unit, rows, by, keys, source
        As in `count`.
    category
        The category that counts as yes; without it the values are zeros and ones.
    missing
        ``"exclude"`` or, with a public number of records, ``"no"`` (see `Proportion`).
    n
        The public number of records. Where records are added or removed it makes the share one of
        ``n`` records, which needs less noise; with ``error``, ``unit`` or ``by`` it only plans.

    Examples
    --------
    >>> release = proportion([0, 0, 0, 1] * 1000, epsilon=1, relation="substitute")
    >>> abs(release.value - 0.25) < 0.02
    True
    """
    private = unit is not None or by is not None
    public = None if private or error is not None else n

    def make(**parameters: Any) -> Proportion:  # noqa: ANN401
        return Proportion(n=public, **parameters)

    statistic = build(
        make, epsilon=epsilon, error=error, n=n, by=by, groups=keys, category=category,
        relation=relation, column=column, rows=_rows(rows),
        missing=_policy(missing, private=private),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def histogram(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    bins: int | Sequence[Any] | None = None,
    bounds: Bounds | None = None,
    keys: Sequence[Any] | str | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    delta: Number = 0,
    relation: Relation | str = "add_remove",
    missing: bool = False,
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Count the records in each bin, or in each category.

    Parameters
    ----------
    x, epsilon, error, relation, column, unit, rows, by, n, source
        As in `count`.
    bins
        A number of equal bins between the bounds, a list of edges, or a list of categories.
    bounds
        Public bounds, with a number of bins.
    keys
        The categories, or ``"unknown"`` (see `Histogram`); with ``by``, the keys of the groups.
    delta
        For unknown keys: the probability with which the loss may pass epsilon.
    missing
        Count in one bin more what is missing or in no category.

    Examples
    --------
    >>> release = histogram([1, 2, 2, 3] * 1000, bins=[0, 2, 4], epsilon=1)
    >>> bool(abs(release.value[0] - 1000) < 50)
    True
    """
    del n
    listed, groups = (keys, None) if by is None else (None, keys)
    statistic = build(
        Histogram, epsilon=epsilon, error=error, by=by, groups=groups, keys=listed,
        bins=bins, bounds=bounds, delta=delta, relation=relation, missing=missing, column=column,
        rows=_rows(rows),
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def _made(make: Callable[..., Statistic], parameters: dict[str, Any]) -> Statistic:
    """Return a statistic, the same one for the same parameters: they are frozen."""
    given = parameters.values()
    kinds = tuple(tuple(map(type, v)) if isinstance(v, tuple) else type(v) for v in given)
    try:
        return _cached(make, kinds, tuple(parameters.items()))
    except TypeError:  # a parameter that cannot be hashed, or is of a wrong type
        return make(**parameters)


@lru_cache(256)
def _cached(
    make: Callable[..., Statistic], kinds: tuple[Any, ...], items: tuple[tuple[str, Any], ...]
) -> Statistic:
    del kinds  # 1 and True are equal, but not the same
    return make(**dict(items))


def _rows(rows: int | None) -> int:
    """Return how many rows of a person are kept."""
    return 1 if rows is None else integer(rows, "rows", least=1)
