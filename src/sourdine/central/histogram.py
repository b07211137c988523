"""Counts over bins or categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import expm1, log1p
from numbers import Number as AnyNumber
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sourdine.central.keys import NamedCounts
from sourdine.central.lattice import read_grid
from sourdine.central.statistic import END_HEADS, Statistic, charged, no_population
from sourdine.errors import ParameterError, ParameterTypeError
from sourdine.exact import flag, integer
from sourdine.look.numbers import row, shown
from sourdine.mechanisms import Laplace
from sourdine.mechanisms.laplace import laplace_error
from sourdine.mechanisms.mechanism import read_beta
from sourdine.noise import SYSTEM
from sourdine.release import SHOWN, Release, read_confidence
from sourdine.tally import Codes, Edges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source
    from sourdine.tally import Frame

__all__ = ["UNKNOWN", "Histogram"]

UNKNOWN = "unknown"
MOST = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Histogram(Statistic):
    r"""Count the records in each bin, or in each category.

    Parameters
    ----------
    bins
        How many equal bins there are between the bounds; or their edges, as rising numbers; or the
        categories, as a list of texts.
    bounds
        Public bounds, with a number of bins; values outside are in the first or the last bin.
    keys
        The categories, where they are numbers. ``"unknown"``: name those that many records have,
        by a private threshold; needs a delta.
    missing
        Count in one bin more what is missing, or is none of the categories.

    Notes
    -----
    One record added or removed moves one count by 1; one replaced moves two. With the L1
    sensitivity each count gets discrete Laplace noise of scale ``rows``:math:`/\varepsilon`, or
    twice that. Released counts are whole numbers and may be negative: their sums stay unbiased.
    *Claim*: intervals and the planned error are for all bins together. *Checked by*
    ``test_histogram_intervals_hold_together``.

    Examples
    --------
    >>> Histogram(bins=10, bounds=(0, 100), epsilon=1).error(0.05)
    5.0
    """

    kind: ClassVar[str] = "histogram"

    bins: int | Sequence[Any] | None = None
    bounds: tuple[Number, Number] | None = None
    keys: Sequence[Any] | str | None = None
    missing: bool = False
    cell: Edges | Codes | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "missing", flag(self.missing, "missing"))
        for name in ("bins", "keys", "bounds"):
            given = getattr(self, name)
            if hasattr(given, "__iter__") and not isinstance(given, str):
                object.__setattr__(self, name, tuple(given))
        self._check_delta()
        object.__setattr__(self, "cell", None if self.unknown else self._read_cell())
        if self.size > MOST:
            raise ParameterError(
                f"bins must be at most {MOST}, got {self.size}. Type fewer, as bins=100."
            )
        _ = self.mechanism  # refuses early

    def _check_delta(self) -> None:
        if self.unknown and not self.delta:
            raise ParameterError(
                "delta must be above 0 where keys are unknown, got 0. To name a key that only one "
                "person has would give that person away, and under pure epsilon no key could be "
                "named that might be such. List the keys, or type delta=1e-6."
            )
        if self.unknown and (self.bins is not None or self.missing):
            raise ParameterError(
                "bins and missing must be left out where keys are unknown, got one of them. "
                "Type keys='unknown' alone."
            )
        if self.delta and not self.unknown:
            raise ParameterError(
                f"delta must be 0 where keys are known, got {float(self.delta):g}. Leave it out."
            )

    def _read_cell(self) -> Edges | Codes:
        if self.keys is not None:
            if isinstance(self.keys, str) or self.bins is not None:
                raise ParameterError(
                    "keys must be a list or 'unknown', without bins, got other. "
                    "Type keys=['yes', 'no']."
                )
            return self._codes(self.keys)
        if self.bins is None:
            raise ParameterError(
                "bins must be a number, edges or categories, got None: what is counted must be "
                "public. Type bins=10 with bounds=(0, 100), bins=[0, 18, 65, 120], or "
                "keys=['yes', 'no']; for keys nobody can list, keys='unknown' with a delta."
            )
        listed = hasattr(self.bins, "__iter__") and not isinstance(self.bins, str)
        if not listed and not _is_number(self.bins):
            raise ParameterTypeError(
                f"bins must be a number or a list, got something of type "
                f"{type(self.bins).__name__}. Type bins=10, or bins=[0, 10, 20]."
            )
        if _is_number(self.bins):
            return self._equal(integer(self.bins, "bins", least=1))
        if self.bounds is not None:
            raise ParameterError(
                "bounds must be left out where bins are listed, got both. The edges are the bounds."
            )
        bins = tuple(self.bins)  # type: ignore[arg-type]
        return Edges(self.column, bins) if all(map(_is_number, bins)) else self._codes(bins)

    def _codes(self, listed: Sequence[Any]) -> Codes:
        if not len(listed):
            raise ParameterError("keys must hold at least one, got none. Type keys=['yes', 'no'].")
        return Codes(self.column, listed)

    def _equal(self, m: int) -> Edges:
        if m >= MOST:
            raise ParameterError(f"bins must be at most {MOST}, got {m}. Type fewer, as bins=100.")
        grid = read_grid(self.bounds, None)
        low, high = Fraction(grid.lower), Fraction(grid.upper)
        return Edges(self.column, [low + (high - low) * i / m for i in range(m + 1)])

    @property
    def unknown(self) -> bool:
        """Whether the keys are found by a private threshold."""
        return isinstance(self.keys, str) and self.keys == UNKNOWN

    @cached_property
    def mechanism(self) -> Laplace | NamedCounts:
        """What draws the counts."""
        if self.cell is None:
            return NamedCounts(
                epsilon=self.epsilon, delta=self.delta, rows=self.rows, relation=self.relation
            )
        moved = 2 if self.substitutes and self.size > 1 else 1
        return Laplace(epsilon=self.epsilon, sensitivity=moved * self.rows, relation=self.relation)

    @property
    def size(self) -> int:
        """How many known bins there are."""
        return 0 if self.cell is None else self.cell.size + self.missing

    @property
    def how(self) -> str:
        """What draws it."""
        noisy = "discrete Laplace noise"
        return f"{noisy} above a private threshold" if self.unknown else noisy

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader must know."""
        together = "The intervals hold for all bins together; counts may be negative, by noise."
        if isinstance(self.mechanism, NamedCounts):
            named = f"Keys are named if their noisy count is at least {self.mechanism.threshold}."
            return (named, "The intervals hold for all named keys together.", *self.person)
        if isinstance(self.cell, Edges):
            first, last = (float(self.cell.edges[i]) for i in (0, -1))
            outside = f"Values outside {first:g} to {last:g} are in the first or the last bin."
        else:
            counted = "counts as missing" if self.missing else "is not counted"
            outside = f"What is none of the keys {counted}."
        return (outside, together, *self.person)

    def release(self, data: Frame, *, source: Source = SYSTEM) -> Release:
        """Count and add the noise."""
        if self.cell is None:
            keys, counts = data.distinct(self.column)
            found = dict(zip(keys, counts.tolist(), strict=True))
            named = self.mechanism.release(found, source=source).value
            drawn: dict[str, Any] = {"keys": list(named), "counts": list(named.values())}
            value: Any = dict(named)
        else:
            counts = data.tally(self.cell).counts
            given = counts if self.missing else counts[:-1]
            value = self.mechanism.release(given, source=source).value
            drawn = {"counts": value}
        return Release(
            value=value,
            cost=charged(self, source),
            mechanism=self,
            caveats=self.caveats,
            drawn=drawn,
        )

    def restore(self, value: Any, drawn: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return an array of counts, or a count for each key."""
        del drawn
        return value if self.unknown else np.array(value, np.int64)

    def error(self, beta: Number = 0.05, *, n: int | None = None) -> float:
        """Return what no bin's noise passes, but with probability ``beta``."""
        del n
        return self._half(read_beta(beta), max(self.size, 1))

    def _half(self, beta: float, m: int) -> float:
        """Return what none of ``m`` independent noises passes, but with probability ``beta``."""
        return laplace_error(self.mechanism.scale, _each(beta, m))

    def between(self, release: Release, confidence: Number, of: str) -> Any:  # noqa: ANN401
        """Return the counts plus and minus the noise, for all bins together."""
        no_population(self.kind, of)
        beta = read_confidence(confidence)
        counts = np.array(release.drawn["counts"], np.int64)
        if not isinstance(self.mechanism, NamedCounts):
            half = int(self._half(beta, self.size))
            return np.maximum(counts - half, 0), np.maximum(counts + half, 0)
        half = int(self.mechanism.half(_each(beta, max(len(counts), 1))))
        low = np.where(counts - half > self.mechanism.threshold, counts - half, 1)
        high, keys = counts + half, list(release.drawn["keys"])
        return dict(zip(keys, zip(low.tolist(), high.tolist(), strict=True), strict=True))

    def labels(self, release: Release) -> list[str]:
        """Return the names of the bins."""
        if self.cell is None:
            return [str(key) for key in release.drawn["keys"]]
        if isinstance(self.cell, Codes):
            names = [str(c) for c in self.cell.categories]
        else:
            edges = [float(e) for e in self.cell.edges]
            width = min(b - a for a, b in pairwise(edges))
            texts = [shown(int(e) if e.is_integer() else e, width) for e in edges]
            names = [f"{a} to {b}" for a, b in pairwise(texts)]
        return names + ["missing"] * self.missing

    def table(
        self, release: Release, confidence: Number = SHOWN
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return a row for each bin."""
        ends = self.between(release, confidence, "sample")
        pairs = list(ends.values()) if self.unknown else list(zip(*ends, strict=True))
        counts = [int(c) for c in release.drawn["counts"]]
        lines = [
            (name, *row(count, [int(end) for end in pair]))
            for name, count, pair in zip(self.labels(release), counts, pairs, strict=True)
        ]
        return ("bin" if isinstance(self.cell, Edges) else "key", "count", *END_HEADS), lines

    def plot(self, release: Release, **options: Any) -> Any:  # noqa: ANN401
        """Draw bars with their intervals."""
        from sourdine.central import figures  # noqa: PLC0415 - matplotlib is loaded there, late

        return figures.bars(self, release, **options)


def _each(beta: float, m: int) -> float:
    """Return the risk of each of ``m`` independent noises that adds up to ``beta``."""
    return -expm1(log1p(-beta) / m) if beta < 1 else 1.0


def _is_number(x: object) -> bool:
    return isinstance(x, AnyNumber) and not isinstance(x, (bool, np.bool_))
