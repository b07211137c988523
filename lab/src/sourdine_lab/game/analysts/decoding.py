"""An analyst who reads in the low-order bits of one row what the others are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sourdine.exact import integer
from sourdine_lab.samples.unsplittable import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from sourdine.adaptive.queries import Query
    from sourdine_lab.game.transcript import Transcript

__all__ = ["Decoding"]

SMALL = 2.0**-4
"""By how much the first query may differ between samples."""


class Decoding:
    r"""Ask two concentrated queries about rows of :func:`~sourdine_lab.samples.encoded`.

    With :math:`c(x) = x \bmod 2^n`, the code of the whole sample that every row holds:

    .. math:: q_1(x) = \tfrac12 + 2^{-4}\,c(x)/2^n, \qquad q_2(x) = 1[c(x) = c]

    for the :math:`c` read off the first answer. The first is within :math:`2^{-5}` of its truth on
    every sample, the second within :math:`2^{-n}` on all but a share :math:`2^{-n}` of them.
    *Checked by* ``test_queries_of_the_decoder_are_concentrated``.

    Parameters
    ----------
    n
        How many rows the sample has.
    """

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = min(integer(n, "n", least=1), LONGEST)

    def ask(self, transcript: Transcript) -> Query | None:
        """Return the query that reads, then the query that tells."""
        if len(transcript) == 0:
            return self.reading
        if len(transcript) == 1:
            return self.telling(round((transcript[0].answer - 0.5) / SMALL * 2**self.n))
        return None

    def reading(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the first query's values: a half and a little, by the code."""
        return np.asarray(0.5 + SMALL * ((rows % 2**self.n) / 2**self.n))

    def telling(self, code: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """Return the second query: whether a row has the code."""
        return lambda rows: rows % 2**self.n == code
