"""A stand-in for the New York salaries of Canesse 2022, made from their nine published deciles.

The report's data, about 400,000 salaries of the State of New York's public agents, are not at hand.
The stand-in has exactly their deciles and follows a monotone cubic between them; its least and its
largest salary are ours, and the ties and peaks of real salaries are not in it. Who has the data, or
others, puts them as CSV into the folder that SOURDINE_DATA names, and `read_column` reads them.
"""

from __future__ import annotations

import csv
import gzip
import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sourdine.errors import ParameterError

if TYPE_CHECKING:
    from typing import TextIO

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BOUNDS", "DECILES", "FILE", "RECORDS", "STAND_IN", "column_of", "read_column", "salaries",
    "salary_at",
]  # fmt: skip

FILE = "salaries.csv"
LEAST, MOST = 10, 10**15

DECILES = (34_902, 38_574, 41_848, 46_862, 56_844, 67_121, 75_254, 84_751, 99_637)
"""As published."""
ENDS = (15_000, 250_000)
BOUNDS = (0, 500_000)
"""Public bounds, in dollars."""
RECORDS = 400_000
STAND_IN = "400,000 salaries interpolated from the nine published deciles"


def salaries(n: int = RECORDS) -> NDArray[np.int64]:
    """Return ``n`` salaries in whole dollars, ascending, evenly spread over all orders.

    Examples
    --------
    >>> salaries(10)[:9].tolist() == list(DECILES)
    True
    """
    return salary_at(np.arange(1, n + 1) / n)


def salary_at(order: ArrayLike) -> NDArray[np.int64]:
    """Return the salaries of these orders between 0 and 1; of random ones, a random sample.

    Examples
    --------
    >>> salary_at([0.1, 0.5, 0.9]).tolist()
    [34902, 56844, 99637]
    """
    knots = np.linspace(0, 1, 11)
    values = np.array([ENDS[0], *DECILES, ENDS[1]], float)
    return np.rint(_monotone(np.asarray(order, float), knots, values)).astype(np.int64)


def _monotone(
    x: NDArray[np.float64], knots: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Fritsch and Butland's cubic: its slopes are harmonic means, so it is monotone."""
    width = np.diff(knots)
    slope = np.diff(values) / width
    tangent = np.concatenate((slope[:1], 2 / (1 / slope[1:] + 1 / slope[:-1]), slope[-1:]))
    i = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(width) - 1)
    t = (x - knots[i]) / width[i]
    bent = tangent[i] * (1 - t) ** 2 * t - tangent[i + 1] * t**2 * (1 - t)
    smooth = values[i] + (values[i + 1] - values[i]) * t**2 * (3 - 2 * t)
    return np.asarray(smooth + width[i] * bent)


def column_of(file: str, column: str) -> Path:
    """Return the path of a CSV file in the folder SOURDINE_DATA which has such a column.

    Raises
    ------
    ParameterError
        The folder, the file or the column is not there.
    """
    folder = os.environ.get("SOURDINE_DATA")
    if not folder:
        raise ParameterError(
            f"column={column} needs SOURDINE_DATA, the folder of {file}. "
            f"Type SOURDINE_DATA=FOLDER before the command."
        )
    path = Path(folder) / file
    if Path(file).name != file or not path.is_file():
        raise ParameterError(f"file must be a file in {folder}, got {file!r}. Use file={FILE}.")
    try:
        with _opened(path) as lines:
            names = next(csv.reader(lines), [])
    except (UnicodeDecodeError, OSError, csv.Error):
        raise ParameterError(f"{path} must be a CSV file in UTF-8, or one in gzip.") from None
    if column not in names:
        known = f"It has {', '.join(names)}." if names else "It is empty."
        raise ParameterError(f"{path} has no column {column!r}. {known}")
    return path


def digest(path: Path) -> str:
    """Return a digest of a file, by which results from other contents are told apart."""
    return blake2b(path.read_bytes(), digest_size=8).hexdigest()


def read_column(file: str, column: str) -> NDArray[np.int64]:
    """Return a column in whole dollars; empty cells are left out.

    Raises
    ------
    ParameterError
        The file or the column is not there, or a cell is no number.
    """
    path = column_of(file, column)
    found = []
    with _opened(path) as lines:
        for number, row in enumerate(csv.DictReader(lines), 2):
            cell = (row[column] or "").strip().replace("$", "").replace(",", "")
            try:
                value = round(float(cell)) if cell else None
            except (ValueError, OverflowError):
                value = MOST
            if value is not None and abs(value) >= MOST:
                raise ParameterError(
                    f"{path}, line {number}: {column} must be a number below 10^15."
                )
            found += [] if value is None else [value]
    if len(found) < LEAST:
        raise ParameterError(
            f"{path} must have at least {LEAST} numbers in {column!r}, got {len(found)}."
        )
    return np.array(found, np.int64)


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")
