"""Public data for the demo and the examples; see the README beside this file."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["wages"]


def wages() -> NDArray[np.int64]:
    """Return 247,696 annual US wages in dollars (Current Population Survey, CC0).

    Examples
    --------
    >>> len(wages())
    247696
    """
    packed = files("sourdine.data").joinpath("cps_wages.csv.gz").read_bytes()
    lines = gzip.decompress(packed).split()[1:]
    return np.array(lines, dtype=np.float64).astype(np.int64)
