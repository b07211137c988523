"""One person's bin at a resolution drawn by chance: what `Bins` asks people for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sourdine import noise
from sourdine.errors import ParameterError
from sourdine.exact import integer, listed, positive
from sourdine.laws import Law
from sourdine.local.categorical.unary import UnaryEncoding
from sourdine.mechanisms.mechanism import Report, settle
from sourdine.mechanisms.registry import Specimen, register
from sourdine.privacy import LOCAL, Guarantee

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sourdine.exact.parameters import Number
    from sourdine.noise import Source

__all__ = ["BinReport"]

MOST = 1 << 12
EXAMPLE = {"bins": (64, 16, 4), "weights": (12, 5, 3)}


@dataclass(frozen=True, kw_only=True)
class BinReport(Report):
    r"""Draw a resolution, whatever the value, and report its bin there by unary encoding.

    A report is a row of bytes: the number of the resolution, then the bits of its bins.

    Parameters
    ----------
    epsilon
        The privacy loss of one report, above 0.
    bins
        The numbers of bins, powers of two from the finest, 4 at least, to the coarsest. The input
        is one of the finest.
    weights
        How often each resolution is drawn, as whole numbers.

    Notes
    -----
    *Claim*: :math:`\varepsilon`-LDP, no less: the resolution does not depend on the value, and
    given it the report is that of a unary encoding. *Checked by*
    ``test_exact_worst_case[density.histogram]`` and ``test_resolutions_do_not_depend_on_values``.

    References
    ----------
    .. [1] T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for
       frequency estimation", USENIX Security 2017.

    Examples
    --------
    >>> report = BinReport(epsilon=2, bins=(16, 4), weights=(2, 1))
    >>> report.randomise([3, 3, 15]).shape, report.law(3).pmf([0]).shape
    ((3, 3), (1,))
    """

    epsilon: Number
    bins: Sequence[int]
    weights: Sequence[int] = (1,)
    guarantee: Guarantee = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive(self.epsilon, "epsilon")
        every = listed(self.bins, "bins", **EXAMPLE)
        parts = listed(self.weights, "weights", **EXAMPLE)
        bins = tuple(integer(k, f"bins[{i}]", least=4) for i, k in enumerate(every))
        weights = tuple(integer(w, f"weights[{i}]", least=1) for i, w in enumerate(parts))
        dyadic = all(k & (k - 1) == 0 for k in bins) and bins == tuple(sorted(set(bins))[::-1])
        if not bins or not dyadic or bins[0] > MOST or len(weights) != len(bins):
            raise ParameterError(
                "bins",
                f"be falling powers of two from 4 to {MOST}, with a weight for each",
                f"{bins} and {weights}",
                "Type {bins} and {weights}.",
                **EXAMPLE,
            )
        guarantee = Guarantee(epsilon, 0, LOCAL)
        settle(self, epsilon=epsilon, bins=bins, weights=weights, guarantee=guarantee)

    @cached_property
    def oracles(self) -> tuple[UnaryEncoding, ...]:
        """What draws the report at each resolution."""
        return tuple(UnaryEncoding(epsilon=self.epsilon, categories=k) for k in self.bins)

    @property
    def top(self) -> int:
        """The last of the finest bins."""
        return self.bins[0] - 1

    @property
    def starts(self) -> list[int]:
        """The number of the first outcome of each resolution, and that of all of them."""
        starts = [0]
        for k in self.bins:
            starts.append(starts[-1] + (1 << k))
        return starts

    @property
    def codes(self) -> int:
        """How many different rows there could be."""
        return self.starts[-1]

    @property
    def cells(self) -> int:
        """The length of a tally: for each resolution the reports, and those of each bin."""
        return sum(1 + k for k in self.bins)

    def bin(self, codes: NDArray[np.int64], r: int) -> NDArray[np.int64]:
        """Return the bins of a resolution that hold these finest ones."""
        return codes // (self.bins[0] // self.bins[r])

    def reports(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.uint8]:
        """Draw a resolution and the bits of its bins, a row of bytes for each person."""
        ends = np.cumsum(self.weights)
        point = noise.uniform_below(int(ends[-1]), codes.size, source=source)
        which = np.searchsorted(ends, point, side="right")
        rows = np.zeros((codes.size, 1 + self.oracles[0].width), np.uint8)
        rows[:, 0] = which
        for r, oracle in enumerate(self.oracles):
            (mine,) = np.nonzero(which == r)
            bits = oracle.randomise(self.bin(codes[mine], r), source=source)
            rows[mine, 1 : 1 + oracle.width] = bits
        return rows

    def _of(self, reports: NDArray[Any], r: int) -> NDArray[np.uint8]:
        """Return the rows of bits of those who drew a resolution."""
        mine = reports[reports[:, 0] == r, 1 : 1 + self.oracles[r].width]
        return np.ascontiguousarray(mine)

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count, for each resolution, the reports and those that support each bin."""
        parts = []
        for r, oracle in enumerate(self.oracles):
            mine = self._of(reports, r)
            parts += [np.array([len(mine)]), oracle.support(oracle.tally(mine))]
        return np.concatenate(parts).astype(np.int64)

    def valid(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows, whoever wrote them, hold a resolution and bits of its bins."""
        fits = np.zeros(len(reports), np.bool_)
        if reports.dtype != np.uint8 or reports.shape[1:] != (1 + self.oracles[0].width,):
            return fits
        for r, oracle in enumerate(self.oracles):
            mine = reports[:, 0] == r
            empty = (reports[mine, 1 + oracle.width :] == 0).all(axis=1)
            fits[mine] = oracle.valid(self._of(reports, r)) & empty
        return fits

    def outcomes(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Return where reports stand in `law`."""
        found = np.zeros(len(reports), np.int64)
        for r, oracle in enumerate(self.oracles):
            mine = reports[:, 0] == r
            found[mine] = self.starts[r] + oracle.outcomes(self._of(reports, r))
        return found

    def law(self, x: int) -> Law:
        """Return the laws of the resolutions, one after the other, by their weights."""
        logs = []
        for r, oracle in enumerate(self.oracles):
            inside = oracle.law(int(self.bin(np.array(x), r))).log_pmf(np.arange(1 << self.bins[r]))
            logs.append(np.log(self.weights[r] / sum(self.weights)) + inside)
        return Law.finite(np.concatenate(logs))

    def loss(self, x: int, y: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return 1 for a report that does not support the bin of the truth, 0 for one that does."""
        wrong = np.zeros(np.shape(y))
        for r, oracle in enumerate(self.oracles):
            here = (y >= self.starts[r]) & (y < self.starts[r + 1])
            own = int(self.bin(np.array(x), r))
            wrong[here] = oracle.loss(own, np.asarray(y)[here] - self.starts[r])
        return wrong

    def error(self, beta: Number = 0.05) -> float:
        """Return that of the unary encoding, which has the same at every resolution."""
        return self.oracles[0].error(beta)


register(
    Specimen(
        name="density.histogram",
        make=lambda epsilon: BinReport(epsilon=epsilon, bins=(8, 4), weights=(2, 1)),
        inputs=tuple(range(8)),
        tight=True,
        draws=50_000,
        also=("density.shrinkage",),
    )
)
