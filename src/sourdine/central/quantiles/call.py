"""What a person types for quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sourdine.central.call import ask, build
from sourdine.central.quantiles.algorithm import is_one, read_orders
from sourdine.central.quantiles.statistic import Quantiles
from sourdine.noise import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourdine.central.lattice import Bounds
    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.privacy import Relation
    from sourdine.release import Release

__all__ = ["median", "quantile", "quantiles"]


def quantiles(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    q: Number | Sequence[Number],
    *,
    bounds: Bounds | None = None,
    step: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    delta: Number = 0,
    relation: Relation | str = "add_remove",
    method: str = "auto",
    interval: Number | None = None,
    column: str | None = None,
    unit: str | None = None,
    rows: int | None = None,
    by: str | None = None,
    keys: Sequence[Any] | None = None,
    n: int | None = None,
    source: Source = SYSTEM,
) -> Release:
    """Return quantiles of a column, all within one epsilon.

    Parameters
    ----------
    x, epsilon, relation, column, unit, rows, by, keys, source
        As in `sourdine.count`.
    q
        The orders, ascending, above 0 and below 1; for a single one, not in a list, the value is a
        number.
    bounds, step
        As in `sourdine.mean`: public bounds, and the step of the lattice that is published on.
    error
        In place of epsilon: the rank error to reach with probability 0.95, as a fraction of ``n``.
    delta
        For ``method="gaussian"`` only.
    method
        The algorithm (`sourdine.central.quantiles.methods`); ``"auto"`` chooses.
    interval
        A confidence, as 0.95: narrow intervals are then paid for within epsilon.
    n
        About how many records have a value, where that is public; intervals rely on it.

    Examples
    --------
    >>> ages = list(range(100)) * 50
    >>> release = quantiles(ages, [0.25, 0.5, 0.75], bounds=(0, 120), step=1, epsilon=1)
    >>> [abs(a - b) <= 2 for a, b in zip(release.value.tolist(), [25, 50, 75])]
    [True, True, True]
    """
    statistic = build(
        Quantiles, epsilon=epsilon, error=error, n=n, by=by, groups=keys,
        q=q if is_one(q) else read_orders(q), bounds=bounds, step=step, delta=delta,
        relation=relation, method=method, interval=interval, about=n, column=column,
        rows=1 if rows is None else rows,
    )  # fmt: skip
    return ask(statistic, x, unit=unit, source=source)


def quantile(x: object, q: Number, **options: Any) -> Release:  # noqa: ANN401
    """Return one quantile; the options are those of `quantiles`.

    Examples
    --------
    >>> release = quantile(list(range(1000)), 0.9, bounds=(0, 1000), step=1, epsilon=1)
    >>> abs(release.value - 900) < 40
    True
    """
    return quantiles(x, q, **options)


def median(x: object, **options: Any) -> Release:  # noqa: ANN401
    """Return the median; the options are those of `quantiles`.

    Examples
    --------
    >>> release = median(list(range(1000)), bounds=(0, 1000), step=1, epsilon=1)
    >>> abs(release.value - 500) < 40
    True
    """
    return quantiles(x, 0.5, **options)
