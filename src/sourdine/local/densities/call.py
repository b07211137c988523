"""From what a person types to a density."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from sourdine.exact import one_of, positive
from sourdine.local.densities.auto import best_protocol, finest_bins
from sourdine.local.densities.bins import Bins
from sourdine.local.densities.dubois import Dubois
from sourdine.local.densities.one_bit import OneBit
from sourdine.local.densities.protocol import read_bounds
from sourdine.local.densities.wave import Wave
from sourdine.noise import SYSTEM
from sourdine.tally import Frame, Ticks
from sourdine.tally.opening import is_spark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.local.densities.protocol import DensityProtocol
    from sourdine.local.densities.result import Density
    from sourdine.noise import Source
    from sourdine.tally import Reading

__all__ = ["METHODS", "density", "protocol"]

METHODS = ("auto", "shrinkage", "histogram", "square-wave", "one-bit", "dubois")


def protocol(
    *,
    bounds: tuple[Number, Number],
    epsilon: Number,
    n: int,
    method: str = "auto",
    loss: Literal["l2", "w1"] = "l2",
) -> DensityProtocol:
    """Return the public protocol that a call means, for people and server alike.

    Further parameters are those of the protocols themselves: make a `Dubois`, a `OneBit`, a `Bins`
    or a `Wave`.

    Parameters
    ----------
    bounds, epsilon, method, loss
        As in `density`.
    n
        How many people will answer, about.

    Examples
    --------
    >>> protocol(bounds=(0, 1), epsilon=1, n=50_000, method="one-bit").method
    'one bit a person on haar coefficients, thresholded'
    """
    read_bounds(bounds)
    spent = positive(epsilon, "epsilon")
    one_of(method, "method", *METHODS)
    if method == "auto":
        return best_protocol(bounds=bounds, epsilon=epsilon, n=n, loss=loss)
    if method == "square-wave":
        return Wave(bounds=bounds, epsilon=epsilon)
    if method in ("shrinkage", "histogram"):
        bins = (finest_bins(n, spent),)
        return Bins(bounds=bounds, epsilon=epsilon, bins=bins, reading=cast("Any", method))
    made = OneBit if method == "one-bit" else Dubois
    return made(bounds=bounds, epsilon=epsilon, n=max(n, 1))


def density(  # noqa: PLR0913 - what a person may say of a call
    x: object,
    *,
    bounds: tuple[Number, Number],
    epsilon: Number,
    method: str = "auto",
    loss: Literal["l2", "w1"] = "l2",
    column: str | None = None,
    read: Reading | Mapping[str, Any] | None = None,
    source: Source = SYSTEM,
) -> Density:
    """Estimate a density from values that are each randomised on their own.

    It plays all people and the server on data at hand. Where nobody may hold the data, people call
    `randomise` of a `protocol` and the server `tally` and `estimate`. No ``error`` can be asked
    for: how far a density is off depends on how smooth the truth is, which nobody knows before.

    Parameters
    ----------
    x
        A list, an array, a frame of any library, or the path of a CSV or Parquet file. In a Spark
        frame people are played where their values are: only tallies come here.
    bounds
        The public bounds; values outside are moved to the nearest, missing ones anywhere, all
        places alike.
    epsilon
        What each person spends, once.
    method
        ``"auto"``, or ``"shrinkage"`` or ``"histogram"`` of bins, ``"square-wave"``, ``"one-bit"``,
        or ``"dubois"``.
    loss
        What ``"auto"`` shall make small: ``"l2"``, the squared error of the density, or ``"w1"``,
        the area between the distribution functions.
    column
        The column; may be left out where there is only one.
    read
        How text is read, a `sourdine.Reading` or a dict of its parameters.
    source
        Where the randomness comes from; anything but the default is not private.

    Examples
    --------
    >>> import numpy as np
    >>> from sourdine.noise import SeededSource
    >>> values = np.random.default_rng(1).normal(50, 10, 20_000)
    >>> found = density(values, bounds=(0, 100), epsilon=2, source=SeededSource(1))
    >>> 0.8 < found.integral(30, 70) <= 1, abs(found.mean - 50) < 5
    (True, True)
    """
    protocol(bounds=bounds, epsilon=epsilon, n=1, method=method, loss=loss)  # refuses early
    data = Frame(x, read=read)
    name = data.resolve(column)
    rule = protocol(bounds=bounds, epsilon=epsilon, n=len(data), method=method, loss=loss)
    if is_spark(x):
        from sourdine.local.spark.counting import density_of_frame  # noqa: PLC0415

        return density_of_frame(rule, x, name, data.reading, source)
    return rule.density(_ticks(data, Ticks(name, rule.grid)), source=source)


def _ticks(data: Frame, cell: Ticks) -> Iterator[NDArray[np.int64]]:
    """Yield everybody's ticks, in parts."""
    for (slots,) in data.codes(cell):
        yield slots
