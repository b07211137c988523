"""Numbers with labels and ends: what tables, frames and pictures are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sourdine.errors import ParameterError
from sourdine.look.numbers import row, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Columns"]

LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Columns of one length: labels, values and, where they are known, the ends of intervals.

    Parameters
    ----------
    labels
        What tells the rows apart, by name; may be empty for a single number.
    name
        What the values are.
    values
        The numbers.
    lower, upper
        The ends of their intervals; None where a value has none.
    confidence
        The probability with which the intervals hold.

    Examples
    --------
    >>> ages = Columns(labels={"sex": ["f", "m"]}, name="mean", values=[41.2, 39.9])
    >>> ages.cells()
    (('sex', 'mean'), [('f', '41.2'), ('m', '39.9')])
    """

    labels: Mapping[str, Sequence[Any]]
    name: str
    values: Sequence[Any]
    lower: Sequence[Any] | None = None
    upper: Sequence[Any] | None = None
    confidence: float = 0.95

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows as texts, each number with the digits its interval supports."""
        names = [[_label(v) for v in column] for column in self.labels.values()]
        if self.lower is None or self.upper is None:
            texts = [(str(v),) for v in self.values]
            heads: tuple[str, ...] = (*self.labels, self.name)
        else:
            ends = zip(self.lower, self.upper, strict=True)
            texts = [row(v, pair) for v, pair in zip(self.values, ends, strict=True)]  # type: ignore[misc]
            heads = (*self.labels, self.name, *end_heads(self.confidence))
        return heads, [(*label, *text) for *label, text in zip(*names, texts, strict=True)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name, as a frame holds them."""
        columns = {name: list(column) for name, column in self.labels.items()}
        columns[self.name] = list(self.values)
        if self.lower is not None and self.upper is not None:
            columns |= {"lower": list(self.lower), "upper": list(self.upper)}
        return columns

    def to_frame(self, library: str) -> Any:  # noqa: ANN401
        """Return a frame of the library named: pandas, polars or pyarrow."""
        if library not in LIBRARIES:
            raise ParameterError(
                "library",
                "be 'pandas', 'polars' or 'pyarrow'",
                repr(library),
                "Type {library}.",
                library="pandas",
            )
        import narwhals  # noqa: PLC0415 - loaded when a frame is asked for

        try:
            return narwhals.from_dict(self.to_dict(), backend=cast("Any", library)).to_native()
        except ImportError:
            raise ParameterError(
                "library",
                "be one that is installed",
                repr(library),
                f"Install it with pip install {library}.",
            ) from None


def end_heads(confidence: float) -> tuple[str, str]:
    """Return what the ends of intervals are called.

    Examples
    --------
    >>> end_heads(0.95)
    ('from (95 %)', 'to (95 %)')
    """
    return f"from ({100 * confidence:g} %)", f"to ({100 * confidence:g} %)"


def _label(x: object) -> str:
    """Return a label as a person reads it: numbers with few digits."""
    return shown(x, 1e-6 * abs(x)).rstrip("0").rstrip(".") if isinstance(x, float) and x else str(x)
